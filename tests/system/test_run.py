# SPDX-License-Identifier: MIT
"""hill-run with small bots of its own, the reference bots, and contestants'."""
import glob
import json
import os
import pathlib
import pty
import re
import shutil
import signal
import subprocess
import time

import pytest

TOP = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("HILL_BUILD", TOP / "build"))
RUN = BUILD / "clients/run/hill-run"
BOTS = BUILD / "clients/bots"
BOT_SOURCES = TOP / "clients/bots"
GOLDEN = TOP / "tests/golden/rabbit-runner"
PYTHON = "/usr/bin/python3"
IS_LONG = bool(os.environ.get("HILL_LONG"))
REFERENCE = pathlib.Path(os.environ.get("HILL_REFERENCE")
                         or TOP.parent / "shared")
CONTESTANTS = REFERENCE / "contests/bots"

# Six turns take a rabbit to the exit every second one, whatever the seed.
MAP = "#####\n#s e#\n#####\n"
MINE = "######\n#R\\\\L#\n######\n"
PASSER = "import sys\nfor line in sys.stdin:\n" \
    "    if line.startswith('rabbits'):\n        print('move', flush=True)\n"

needs_contestants = pytest.mark.skipif(
    not CONTESTANTS.is_dir(),
    reason="no contestants' bots (HILL_REFERENCE, ../shared)")
takes_long = pytest.mark.skipif(not IS_LONG, reason="long: needs HILL_LONG")


@pytest.fixture
def room(tmp_path, monkeypatch):
    """A folder to work in, with a map, a mine, and a TMPDIR beside it."""
    work = tmp_path / "work"
    work.mkdir()
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.chdir(work)
    (work / "s.map").write_text(MAP)
    (work / "m.map").write_text(MINE)
    (work / "pass.py").write_text(PASSER)
    yield work
    assert not list((tmp_path / "tmp").iterdir()), "a private folder is left"


def play(*words, code=0, timeout=60):
    """Run hill-run with WORDS; its stdout and stderr."""
    done = subprocess.run([RUN, *map(str, words)], text=True, timeout=timeout,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout, done.stderr


def scores(table):
    """The last column of the rows of a printed table."""
    return [int(row.split()[-1]) for row in table.splitlines()
            if re.match(r" +\d+ +-?\d+ +\d+$", row)]


def script(room, text, name="bot.py"):
    path = room / name
    path.write_text(text)
    return path


def alive(marker):
    """Pids of all processes but hill-run with MARKER on their command line."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            words = (entry / "cmdline").read_bytes()
        except OSError:
            continue
        if marker.encode() in words and b"hill-run" not in words:
            found.append(int(entry.name))
    return found


def wait_until(condition, seconds=10):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return
        time.sleep(0.02)
    raise AssertionError("it did not come about")


# ---- what is said of wrong words ----

@pytest.mark.parametrize("words,says", [
    ([], "wants a contest: rabbit-runner, image-battle or lambda-mining"),
    (["chess"], "'chess' is no contest"),
    (["rabbit-runner"], "wants MAP TURNS SEED RUNS PROG"),
    (["rabbit-runner", "s.map", "5", "1", "1"], "wants MAP TURNS SEED RUNS"),
    (["rabbit-runner", "s.map", "x", "1", "1", "p"], "TURNS: 'x' is no number"),
    (["rabbit-runner", "s.map", "0", "1", "1", "p"], "from 1 to 100000"),
    (["rabbit-runner", "s.map", "5", "1", "0", "p"], "RUNS: '0' is no number"),
    (["rabbit-runner", "s.map", "5", "a", "1", "p"], "SEED: 'a' is no whole"),
    (["rabbit-runner", "s.map", "5", "5..4", "1", "p"], "SEED: '5..4'"),
    (["rabbit-runner", "no.map", "5", "1", "1", "p"],
     "cannot read no.map: No such file"),
    (["rabbit-runner", "--limit", "0", "s.map", "5", "1", "1", "p"],
     "--limit wants milliseconds, or none, not '0'"),
    (["rabbit-runner", "-j", "65", "s.map"], "-j wants a number from 1 to 64"),
    (["rabbit-runner", "--seed", "x", "s.map"], "--seed wants a whole number"),
    (["rabbit-runner", "--bogus", "s.map"], "unknown option --bogus"),
    (["rabbit-runner", "--log"], "--log wants a value"),
    (["rabbit-runner", "--log", "no/l", "s.map", "5", "1", "1", "p"],
     "cannot write no/l"),
    (["image-battle"], "wants ARENA BATCH SEED COLOUR=COMMAND"),
    (["image-battle", "s.map", "x", "1", "1,2,3=p"], "BATCH: 'x' is no number"),
    (["image-battle", "s.map", "9", "x", "1,2,3=p"], "SEED: 'x' is no whole"),
    (["image-battle", "s.map", "9", "1", "red=p"],
     "'red=p' is no COLOUR=COMMAND"),
    (["image-battle", "s.map", "9", "1", "1,2,3="], "the command is missing"),
    (["image-battle", "s.map", "9", "1", "1,2,3='p"], "a quote is not closed"),
    (["image-battle", "s.map", "9", "1", "1,2,3=p"], "s.map: "),
    (["image-battle", "--cfg", "no.py"], "cannot read no.py"),
    (["image-battle", "--cfg", "pass.py"],
     "pass.py: line 1: cannot read 'import sys'"),
    (["image-battle", "s.map", "9", "1", "1,2,3=p", "4,5,6=q", "1,02,3=r"],
     "bots 1 and 3 have one colour, 1,2,3"),
    (["rabbit-runner", "walls.map", "5", "1", "1", "p"],
     "walls.map: the map has neither a start (s) nor an exit (e)"),
    (["rabbit-runner", "a.png", "5", "1", "1", "p"],
     "a.png: a picture (PNG) is no map"),
    (["lambda-mining", "m.map"], "wants MAP... -- PROG"),
    (["lambda-mining", "m.map", "--"], "wants MAP... -- PROG"),
    (["lambda-mining", "s.map", "--", "p"], "s.map: "),
])
def test_names_what_is_wrong(room, words, says):
    (room / "walls.map").write_text("#####\n#   #\n#####\n")
    (room / "a.png").write_bytes(png(2, 2, {}))
    _, err = play(*words, code=2)
    assert says in err


def test_shows_help_and_version(room):
    out, err = play("--help")
    assert "usage: hill-run" in out and "Exit status" in out and not err
    assert re.match(r"hill-run \d+\.\d+", play("--version")[0])
    assert play("rabbit-runner", "--help")[0] == out


# ---- rabbit-runner ----

REPLAYER = """import pathlib, sys
case, seed = pathlib.Path(sys.argv[1]), sys.argv[-1]
run = next(path for path in sorted(case.glob("run*")) or [case]
           if not (path / "seed.txt").exists()
           or (path / "seed.txt").read_text() == seed)
for reply in (run / "replies.txt").read_text().splitlines():
    for _ in range(3):
        sys.stdin.readline()
    print(reply, flush=True)
sys.stdin.read()
"""


def test_prints_the_controllers_table_of_a_chain(room):
    case = shutil.copytree(GOLDEN / "test-chain-3", room / "case")
    expected = (case / "stdout.txt").read_text().splitlines()
    for number, row in enumerate(expected[2:-1], 1):
        (case / f"run{number}/seed.txt").write_text(row.split()[1])
    script(room, REPLAYER)
    words = [case / "map.txt", 80, 0, 3, PYTHON, "bot.py", case]
    out, err = play("rabbit-runner", "--limit", 20000, "--seed", 12345, *words)
    assert out.splitlines()[1:] == expected[1:], err
    assert out.splitlines()[0] == \
        "Running: hill-run rabbit-runner " + " ".join(map(str, words))


@pytest.mark.parametrize("case", ["nearstart-bfs-40", "small-bfs-322",
                                  "crowd2-bfs-34", "small-half-neg",
                                  "small-half-big"])
def test_prints_the_controllers_table_of_a_run(room, case):
    folder = GOLDEN / case
    params = dict(line.split(None, 1) for line in
                  (folder / "params.txt").read_text().splitlines())
    script(room, REPLAYER)
    out, err = play("rabbit-runner", "--limit", 20000, folder / "map.txt",
                    params["turns"], params["seed"], 1, PYTHON, "bot.py",
                    folder)
    expected = (folder / "stdout.txt").read_text().splitlines()
    assert out.splitlines()[1:] == expected[1:], err


def test_reference_bots_save_rabbits(room):
    out, err = play("rabbit-runner", "--limit", 20000, "s.map", 6, 1, 2,
                    BOTS / "rabbit-greedy")
    assert scores(out) == [5, 5] and not err
    out, _ = play("rabbit-runner", "--limit", 20000, "s.map", 6, 1, 1, PYTHON,
                  BOT_SOURCES / "rabbit_careful.py")
    assert scores(out)[0] > 0


def test_prints_rows_in_order_whatever_ends_first(room):
    script(room, "import sys, time\n"
           "time.sleep(0.6 if sys.argv[-1] == '7' else 0)\n" + PASSER)
    out, _ = play("rabbit-runner", "-j", 3, "--limit", 20000, "s.map", 3,
                  "7..9", 4, PYTHON, "bot.py")
    assert [row.split()[:2] for row in out.splitlines()[2:-1]] == \
        [["1", "7"], ["2", "8"], ["3", "9"], ["4", "7"]]


def test_seed_0_draws_another_chain_each_time(room):
    outs = {play("rabbit-runner", "--limit", 20000, "s.map", 2, 0, 3,
                 PYTHON, "pass.py")[0] for _ in range(3)}
    assert len(outs) > 1


def test_late_answer_ends_the_run_and_is_told(room):
    script(room, "import time\ntime.sleep(60)\n")
    out, err = play("rabbit-runner", "--limit", 100, "--init", 50, "s.map", 5,
                    1, 1, PYTHON, "bot.py")
    assert out.splitlines()[2] == "Move timeout"
    found = re.search(r"run 1 \(seed 1\): late \(1/1\) at turn 1: "
                      r"(\d+)\.\d ms of 100 and 50 to start", err)
    assert found and 150 <= int(found[1]) < 1000, err


def test_none_waits_for_ever(room):
    script(room, PASSER.replace("print", "__import__('time').sleep(1.2);print"))
    out, err = play("rabbit-runner", "--limit", "none", "--init", 0, "s.map", 3,
                    1, 1, PYTHON, "bot.py")
    assert "Move timeout" not in out and not err


def test_program_that_dies_is_told_with_its_last_words(room):
    script(room, "import sys\nsys.stdin.readline()\nraise SystemError('oh')\n")
    out, err = play("rabbit-runner", "s.map", 5, 1, 1, PYTHON, "bot.py", code=1)
    assert "Total Score: 0" in out
    assert "ended with exit status 1 at turn 1" in err
    assert "SystemError: oh" in err


def test_program_that_is_killed_is_told(room):
    script(room, "import os\nos.kill(os.getpid(), 11)\n")
    _, err = play("rabbit-runner", "s.map", 5, 1, 1, PYTHON, "bot.py", code=1)
    assert "ended by signal 11 (Segmentation fault) at turn 1" in err


def test_program_that_is_missing_is_told(room):
    out, err = play("rabbit-runner", "s.map", 5, 1, 2, "./none", code=1)
    assert err.count("cannot run ./none: No such file or directory") == 2
    assert scores(out) == [0, 0]


def test_closed_output_is_told(room):
    script(room, "import os, sys, time\nos.close(1)\ntime.sleep(60)\n")
    _, err = play("rabbit-runner", "s.map", 5, 1, 1, PYTHON, "bot.py", code=1)
    assert "closed its output" in err


def test_answers_ahead_wait_for_their_request(room):
    script(room, "import sys\nprint('move\\n' * 300, end='', flush=True)\n"
           "sys.stdin.read()\n")
    out, err = play("rabbit-runner", "--json", "s.map", 300, 1, 1, PYTHON,
                    "bot.py")
    seat = json.loads(out)["runs"][0]["seats"][0]
    assert seat["reason"] == "finished" and seat["requests"] == 300, err


@pytest.mark.parametrize("body,says", [
    ("print('hello i am garbage', flush=True)",
     'invalid at turn 1: no move in "hello i am garbage"'),
    # One write: print() would make two, and the second may come in time.
    ("sys.stdout.write('debug\\nmove\\n'); sys.stdout.flush()",
     " replies came before they were asked for: does it print more than one "
     "line a turn?"),
    ("print('', flush=True)", None),
])
def test_odd_replies_are_explained(room, body, says):
    script(room, PASSER.replace("print('move', flush=True)", body))
    _, err = play("rabbit-runner", "--limit", 20000, "s.map", 10, 1, 1, PYTHON,
                  "bot.py")
    assert says in err if says else not err


@pytest.mark.parametrize("program,says", [
    ("read a; sleep 60", "nothing was printed yet: does it flush its output?"),
    ("read a; printf move; sleep 60", "4 bytes came without a line end"),
])
def test_late_answer_is_explained(room, program, says):
    _, err = play("rabbit-runner", "--limit", 300, "--init", 0, "s.map", 5, 1,
                  1, "sh", "-c", program)
    assert f"run 1 (seed 1): {says}\n" in err


def test_map_that_a_ladder_refuses_is_played_with_a_warning(room):
    (room / "s.map").write_text("####\n#s #\n####\n")
    _, err = play("rabbit-runner", "--limit", 20000, "s.map", 2, 1, 3, PYTHON,
                  "pass.py")
    assert err == "hill-run: s.map: a ladder would refuse this: the map has " \
        "no exit (e)\n"


def test_flood_ends_with_the_run(room):
    script(room, "while True:\n    print('move ' * 1000)\n")
    out, _ = play("rabbit-runner", "s.map", 200, 1, 1, PYTHON, "bot.py")
    assert "Move timeout" not in out


def test_over_long_line_is_a_fault_and_the_run_goes_on(room):
    script(room, PASSER.replace("'move'", "'move' + ' ' * 70000"))
    out, err = play("rabbit-runner", "--limit", 20000, "--json", "s.map", 4, 1,
                    1, PYTHON, "bot.py")
    seat = json.loads(out)["runs"][0]["seats"][0]
    assert (seat["long"], seat["reason"]) == (4, "finished"), err
    assert "long at turn 1" in err


def test_log_holds_a_grid_a_turn_in_order(room):
    play("rabbit-runner", "--limit", 20000, "--log", "run.log", "-j", 2,
         "s.map", 4, "1..3", 3, PYTHON, "pass.py")
    log = (room / "run.log").read_text()
    assert re.findall(r"Run (\d), seed (\d)", log) == \
        [("1", "1"), ("2", "2"), ("3", "3")]
    assert log.count("#####\n#o e#\n#####\n\n\n") == 3 * (4 + 1)


def test_standard_error_is_kept_where_told(room):
    script(room, "import sys\nprint('hello', file=sys.stderr)\n" + PASSER)
    words = ["s.map", 2, 1, 2, PYTHON, "bot.py"]
    _, err = play("rabbit-runner", "--limit", 20000, "--stderr", "errs", *words)
    assert not err
    assert [path.read_text() for path in sorted((room / "errs").iterdir())] == \
        ["hello\n"] * 2
    _, err = play("rabbit-runner", "--limit", 20000, "--stderr", "inherit",
                  *words)
    assert err == "hello\n" * 2


def test_json_is_one_document(room):
    out, _ = play("rabbit-runner", "--limit", 20000, "--json", "s.map", 6, 3, 2,
                  BOTS / "rabbit-greedy")
    result = json.loads(out)
    assert (result["game"], result["total"]) == ("rabbit-runner", 10)
    run = result["runs"][1]
    assert (run["number"], run["seed"], run["turns"]) == (2, "3", 6)
    assert run["seats"][0]["score"] == 5


def read_all(fd):
    """What a terminal shows, up to its end, which reads as an error."""
    shown = b""
    while True:
        try:
            part = os.read(fd, 65536)
        except OSError:
            part = b""
        if not part:
            return shown
        shown += part


def test_progress_is_for_terminals_only(room):
    words = ["rabbit-runner", "--limit", "20000", "s.map", "3", "1", "1",
             PYTHON, "bot.py"]
    script(room, "import time\ntime.sleep(0.7)\n" + PASSER)
    assert not play(*words)[1]
    ours, theirs = pty.openpty()
    subprocess.run([RUN, *words], stdout=subprocess.PIPE, stderr=theirs,
                   check=True)
    os.close(theirs)
    shown = read_all(ours).decode()
    os.close(ours)
    assert "0 of 1 done; run 1 (seed 1): turn 1" in shown
    assert shown.endswith("\r\x1b[K")


@pytest.mark.parametrize("number,code", [(signal.SIGINT, 130),
                                         (signal.SIGTERM, 143)])
def test_stopped_prints_the_table_so_far_and_leaves_no_process(room, number,
                                                               code):
    marker = f"hill-run-test-{os.getpid()}-{number}"
    script(room, "import signal, subprocess, sys, time\n"
           "if sys.argv[-1] == '2':\n"
           "    signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
           "    subprocess.Popen(['sleep', '1000'], start_new_session=True)\n"
           "    open('here', 'w').close()\n"
           "    time.sleep(1000)\n" + PASSER, f"{marker}.py")
    process = subprocess.Popen(
        [RUN, "rabbit-runner", "--limit", "none", "s.map", "3", "1..3", "3",
         PYTHON, f"{marker}.py"], stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True)
    wait_until(lambda: (room / "here").exists())
    process.send_signal(number)
    out, err = process.communicate(timeout=10)
    assert process.returncode == code, err
    assert scores(out) == [0] and out.endswith("Total Score: 0\n")
    assert not alive(marker)


def test_nothing_outlives_a_killed_referee(room):
    marker = f"hill-run-test-{os.getpid()}-kill"
    script(room, "import time\nopen('here', 'w').close()\ntime.sleep(1000)\n",
           f"{marker}.py")
    process = subprocess.Popen([RUN, "rabbit-runner", "--limit", "none",
                                "s.map", "3", "1", "1", PYTHON,
                                f"{marker}.py"], stdout=subprocess.DEVNULL)
    wait_until(lambda: (room / "here").exists())
    process.kill()
    process.wait(10)
    wait_until(lambda: not alive(marker))
    wait_until(lambda: not list(pathlib.Path(os.environ["TMPDIR"]).iterdir()))


def test_nothing_outlives_a_run(room):
    marker = f"{os.getpid()}.125"
    # It leaves the group, and its parent lives on for a while: what the
    # portable build finds, too.
    script(room, "import subprocess, time\nsubprocess.Popen(['sleep', "
           f"'{marker}'], start_new_session=True)\ntime.sleep(0.5)\n" + PASSER)
    play("rabbit-runner", "--limit", 20000, "s.map", 2, 1, 1, PYTHON, "bot.py")
    assert not alive(marker)


# ---- image-battle ----

def png(width, height, pixels):
    """A PNG of white with PIXELS {(x, y): (r, g, b)}."""
    import struct
    import zlib

    def chunk(kind, data):
        body = kind + data
        return struct.pack(">I", len(data)) + body + \
            struct.pack(">I", zlib.crc32(body))

    rows = b"".join(
        b"\0" + b"".join(bytes(pixels.get((x, y), (255, 255, 255)))
                         for x in range(width)) for y in range(height))
    return b"\x89PNG\r\n\x1a\n" + \
        chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) \
        + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


PAINTER = """import os, sys
arena, colour, batch = sys.argv[-3:]
assert colour in ('(0,255,0)', '(255,0,0)') and batch == '10'
if os.path.basename(os.getcwd()).startswith('hill-run-'):
    assert sorted(os.listdir('.')) == sorted({arena, *FILES}), os.listdir('.')
x, y = (0, 0) if colour == '(0,255,0)' else (19, 19)
row = iter(range(1, 19))
for line in sys.stdin:
    if line == 'exit\\n':
        open('last.png', 'w').close()
        break
    if line.startswith('pick'):
        k = next(row, None)
        print('' if k is None else '%d,%d' % (x, abs(y - k)), flush=True)
"""


@pytest.fixture
def arena(room):
    path = room / "the arena.png"
    path.write_bytes(png(20, 20, {(0, 0): (0, 255, 0), (19, 19): (255, 0, 0)}))
    script(room, PAINTER.replace("*FILES", ""), "paint.py")
    return path


BATTLE_LINES = ["Bot paint.py with colour (0, 255, 0) scored 9.5",
                "Bot paint.py with colour (255, 0, 0) scored 9.5"]


def test_battle_prints_the_judges_lines_and_writes_the_picture(room, arena):
    before = set(room.iterdir())
    words = [arena, 10, 1, f"0,255,0={PYTHON} paint.py",
             f"255,0,0='{PYTHON}' \"paint.py\""]
    out, err = play("image-battle", "--limit", 20000, *words)
    assert sorted(out.splitlines()) == BATTLE_LINES, err
    assert set(room.iterdir()) - before == {room / "battle.png"}
    assert (room / "battle.png").read_bytes().startswith(b"\x89PNG")
    again, _ = play("image-battle", "--limit", 20000, "--picture", "p.png",
                    *words)
    assert again == out
    assert (room / "p.png").read_bytes() == (room / "battle.png").read_bytes()


def test_battle_here_runs_in_the_current_folder(room, arena):
    play("image-battle", "--limit", 20000, "--here", "--picture", "none", arena,
         10, 1, f"0,255,0={PYTHON} paint.py", f"255,0,0={PYTHON} paint.py")
    assert (room / "last.png").exists() and not (room / "battle.png").exists()


def test_battle_reads_the_judges_cfg(room, arena):
    folder = room / "battles"
    folder.mkdir()
    shutil.copy(arena, folder)
    script(folder, PAINTER.replace("*FILES", "'one.py', 'err.log'")
           .replace("sorted(os.listdir('.'))",
                    "sorted({*os.listdir('.'), 'err.log'})"), "one.py")
    two = script(folder, f"#!{PYTHON}\n" +
                 PAINTER.replace("*FILES", "'two', 'x', 'err.log'").replace(
                     "sorted(os.listdir('.'))",
                     "sorted({*os.listdir('.'), 'err.log'})"), "two")
    two.chmod(0o755)
    (folder / "x").touch()
    script(folder, f"""# A battle
BATTLE = 'One vs Two'   # names the picture
MAXTURNS = 20000
PIXELBATCH = 10
INITTIME = 20.0
TIMELIMIT = 10.0
FAULTLIMIT = 5
imagename = 'the arena.png'
colourspec = (0,255,0), (255,0,0)
botspec = [
    ('one.py', '{PYTHON}'),
    (['two', 'x'], ['./two']),
    ]
""", "cfg.py")
    out, err = play("image-battle", "--cfg", "battles/cfg.py", "--seed", 1)
    assert err == "hill-run: ended at turn 19: nobody had anything valid\n"
    assert sorted(out.splitlines()) == \
        [BATTLE_LINES[0].replace("paint.py", "one.py"),
         BATTLE_LINES[1].replace("paint.py", "two")]
    assert (room / "One vs Two.png").exists()


SNAKE = """import sys
cells = ((x if y % 2 == 0 else 19 - x, y) for y in range(20)
         for x in range(20))
next(cells)
for line in sys.stdin:
    if line.startswith('pick'):
        print('%d,%d' % next(cells, (0, 0)), flush=True)
"""


def test_battle_tells_progress_and_logs_every_hundred_turns(room, arena):
    script(room, SNAKE, "snake.py")
    script(room, SNAKE.replace("'%d,%d' % next(cells, (0, 0))", "''"),
           "idle.py")
    words = [arena, 10, 1, f"0,255,0={PYTHON} snake.py",
             f"255,0,0={PYTHON} idle.py"]
    out, err = play("image-battle", "--limit", 20000, "--log", "log", *words)
    lines = out.splitlines()
    assert lines[:3] == [f"Turn {n} done {n} pixels" for n in (100, 200, 300)]
    # The last row begins with the red pixel: a turn in which nobody paints.
    assert sorted(lines[3:]) == [
        "Bot idle.py with colour (255, 0, 0) scored 0.5",
        "Bot snake.py with colour (0, 255, 0) scored 190.0"], err
    # Before the first turn, after each hundred, at the end.
    grids = (room / "log").read_text().split("\n\n\n")[:-1]
    assert [grid.count("1") for grid in grids] == [1, 101, 201, 301, 380]
    out, _ = play("image-battle", "--limit", 20000, "--max-turns", 100, *words)
    assert out.startswith("Turn 100 done 100 pixels\nBot ")


def test_stopped_battle_prints_where_it_stands(room, arena):
    script(room, SNAKE.replace("        print", "        if next(left, 0) == 0:\n"
                               f"            open('{room}/here', 'w').close()\n"
                               "            sys.stdin.read()\n        print")
           .replace("next(cells)\n", "next(cells)\nleft = iter([1] * 9)\n"),
           "snake.py")
    process = subprocess.Popen(
        [RUN, "image-battle", "--limit", "none", arena, "10", "1",
         f"0,255,0={PYTHON} snake.py"], stdout=subprocess.PIPE, text=True)
    wait_until(lambda: (room / "here").exists())
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=10)
    assert process.returncode == 130
    assert out == "Bot snake.py with colour (0, 255, 0) scored 2.5\n"
    assert (room / "battle.png").exists()


def test_battle_says_why_it_ended(room, arena):
    words = [arena, 10, 1, f"0,255,0={PYTHON} paint.py"]
    _, err = play("image-battle", "--limit", 20000, "--max-turns", 3, *words)
    assert err == "hill-run: ended at turn 3: maxturns\n"
    out, err = play("image-battle", "--limit", 20000, "--json", *words)
    assert not err
    assert json.loads(out)["battles"][0]["ended"] == \
        "nobody had anything valid"


def test_battle_of_a_cfg_may_give_one_colour_twice(room, arena):
    script(room, f"""imagename = 'the arena.png'
colourspec = (0,255,0), (0,255,0)
INITTIME = 20.0
TIMELIMIT = 20.0
PIXELBATCH = 10
botspec = [('paint.py', '{PYTHON}'), ('paint.py', '{PYTHON}')]
""", "cfg.py")
    script(room, PAINTER.replace("*FILES", "'paint.py', 'err.log'").replace(
        "sorted(os.listdir('.'))", "sorted({*os.listdir('.'), 'err.log'})"),
        "paint.py")
    _, err = play("image-battle", "--cfg", "cfg.py", "--seed", 1)
    assert "a ladder would refuse this: colour 0,255,0 of seat 2 is another " \
        "seat's too" in err


def test_battle_goes_on_without_a_bot_that_dies(room, arena):
    script(room, "import sys\nsys.exit(7)\n", "dies.py")
    out, err = play("image-battle", "--limit", 20000, "--json", arena, 10, 1,
                    f"0,255,0={PYTHON} paint.py", f"255,0,0={PYTHON} dies.py",
                    code=1)
    assert "bot 2 (dies.py): the program ended with exit status 7" in err
    seats = json.loads(out)["battles"][0]["seats"]
    assert [seat["pixels"] for seat in seats] == [19, 1]
    assert (seats[1]["reason"], seats[1]["exit"]) == ("gone", 7)


def test_battle_suspends_a_bot_after_five_late_answers(room, arena):
    script(room, PAINTER.replace("*FILES", "").replace(
        "        k = next", "        import time; time.sleep(9)\n        k = next"),
        "late.py")
    _, err = play("image-battle", "--limit", 150, "--init", 0, arena, 10, 1,
                  f"0,255,0={PYTHON} late.py", f"255,0,0={PYTHON} late.py")
    assert "bot 1 (late.py): late (5/5) at turn 5" in err


def test_reference_bots_battle(room, arena):
    out, err = play("image-battle", "--limit", 20000, arena, 10, 1,
                    f"0,255,0={BOTS / 'image-blob'}",
                    f"255,0,0={PYTHON} {BOT_SOURCES / 'image_front.py'}")
    total = sum(float(line.split()[-1]) for line in out.splitlines())
    assert abs(total - 200) < 0.01, out + err


# ---- lambda-mining ----

def test_mines_print_score_status_and_total(room):
    script(room, "import sys\nmap = sys.stdin.read()\n"
           "assert map == open('m.map').read()\nprint('RR\\nR!')\n")
    out, err = play("lambda-mining", "m.map", "m.map", "--", PYTHON, "bot.py")
    rows = [line.split() for line in out.splitlines()]
    assert rows[1] == rows[2] == ["m.map", "147", "win", "2", "3"], err
    assert out.splitlines()[-1] == "Total Score: 294"


def test_mine_counts_commands_whatever_the_exit_status(room):
    out, err = play("lambda-mining", "m.map", "--", "sh", "-c",
                    "cat > /dev/null; echo RRR; exit 4")
    assert "147 win" in out and "ended with exit status 4" in err
    out, _ = play("lambda-mining", "m.map", "--", "sh", "-c",
                  "cat > /dev/null; exit 4", code=1)
    assert "0 gone" in out


@pytest.mark.parametrize("printed,says", [
    ("hello", 'no command in 6 bytes (first: "hello")'),
    ("RR ok?", 'dropped 3 bytes that are no command (first: "ok?")'),
])
def test_mine_tells_what_is_no_command(room, printed, says):
    _, err = play("lambda-mining", "m.map", "--", "sh", "-c",
                  f"cat > /dev/null; echo '{printed}'")
    assert err == f"hill-run: m.map: {says}\n"


def test_mine_interrupts_and_takes_the_answer(room):
    script(room, "import signal, time\n"
           "signal.signal(signal.SIGINT, lambda *_: (print('RR'), exit()))\n"
           "time.sleep(100)\n")
    out, err = play("lambda-mining", "--limit", 1500, "m.map", "--", PYTHON,
                    "bot.py")
    assert "m.map: its time is up, interrupting it" in err
    assert re.search(r"m.map +98 ongoing +2 +2", out), out


def test_reference_bots_mine(room):
    for bot in ([BOTS / "lambda-greedy"],
                [PYTHON, BOT_SOURCES / "lambda_careful.py"]):
        out, _ = play("lambda-mining", "--json", "m.map", "--", *bot)
        assert json.loads(out)["total"] >= 90


# ---- the contestants' bots ----

def first_that_runs(*candidates):
    for program in candidates:
        try:
            if subprocess.run([program, "--version"], check=False,
                              stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL).returncode == 0:
                return program
        except OSError:
            pass
    return None


def python2():
    found = first_that_runs(
        *filter(None, [os.environ.get("HILL_PYTHON2"), "python2.7"]),
        *glob.glob(os.path.expanduser(
            "~/.pyenv/versions/2.7*/bin/python2.7")))
    return found or pytest.skip("no Python 2.7 that runs")


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    """Build a contestants' bot: its folder."""
    folder = tmp_path_factory.mktemp("bots")

    def build(command, needs, result):
        if first_that_runs(needs) is None:
            pytest.skip(f"no {needs}")
        if not (folder / result).exists() and subprocess.run(
                command, cwd=folder, stderr=subprocess.PIPE,
                check=False).returncode != 0:
            pytest.skip(f"{result} does not build here")
        return folder

    return build


def check_on_test_map(bot, figures):
    wanted = figures if IS_LONG else figures[:2]
    out, err = play("rabbit-runner", "-j", 2, "--limit", 20000,
                    CONTESTANTS / "rabbit-runner/maps/test.map", 500,
                    f"1..{len(wanted)}", len(wanted), *bot, timeout=600)
    assert scores(out) == wanted, err
    assert out.endswith(f"Total Score: {sum(wanted)}\n")


@needs_contestants
def test_crazy_scores_as_under_the_controller(room):
    check_on_test_map([python2(), CONTESTANTS / "rabbit-runner/run/crazy.py"],
                      [2, 6, 6, 3, 2])


@needs_contestants
def test_java_bot_scores_as_under_the_controller(room, built):
    source = CONTESTANTS / "rabbit-runner/run/Main.java"
    folder = built(["javac", "-d", ".", source], "javac", "Main.class")
    check_on_test_map(["java", "-cp", folder, "Main"], [22, 9, 0, 6, 4])


BATTLES = CONTESTANTS / "image-battle"


def contestant(name, built):
    """The command of NAME."""
    run = BATTLES / "run"
    if name == "colorfighter":
        folder = built(["g++", "-O2", "-std=c++11", "-Wno-narrowing", "-o",
                        name, run / "colorfighter.cpp", "-llodepng"], "g++",
                       name)
        return str(folder / name)
    if subprocess.run([PYTHON, "-c", "import PIL"], check=False,
                      stderr=subprocess.DEVNULL).returncode != 0:
        pytest.skip("no python3-pil")
    return f"{PYTHON} {run / name}.py"


# Limit 10 s. The published figures come from other shuffles than ours: all of
# the white is shared out as there, and each gets about as much. Who cuts off
# whom between dfblob and colorfighter in the open hangs on the first turns.
@takes_long
@needs_contestants
@pytest.mark.parametrize("first,second,arena_name,figures", [
    ("blob", "dfblob", "open100", (47.84, 152.00)),
    ("blob", "dfblob", "walls120x80", (30.85, 150.19)),
    ("blob", "dfblob", "rooms300", (28.51, 163.18)),
    ("blob", "colorfighter", "open100", (5.58, 194.26)),
    ("blob", "colorfighter", "walls120x80", (6.25, 174.79)),
    ("blob", "colorfighter", "rooms300", (1.49, 190.20)),
    ("dfblob", "colorfighter", "open100", (33.82, 166.02)),
    ("dfblob", "colorfighter", "walls120x80", (28.46, 152.58)),
    ("dfblob", "colorfighter", "rooms300", (6.09, 185.60)),
])
def test_contestants_battle_as_published(room, built, first, second, arena_name,
                                         figures):
    out, err = play("image-battle", "--limit", 10000,
                    BATTLES / f"arenas/{arena_name}.png", 10, 1,
                    f"0,255,0={contestant(first, built)}",
                    f"255,0,0={contestant(second, built)}", timeout=1200)
    green, red = (float(re.search(rf"colour \({colour}\) scored (\S+)",
                                  out)[1])
                  for colour in ("0, 255, 0", "255, 0, 0"))
    apart = 30 if (first, arena_name) == ("dfblob", "open100") else 4
    assert green + red == pytest.approx(sum(figures), abs=0.3), err
    assert green == pytest.approx(figures[0], abs=apart), err


@needs_contestants
def test_blob_battles_colorfighter_in_a_short_form(room, built):
    out, err = play("image-battle", "--limit", 10000,
                    BATTLES / "arenas/open100.png", 10, 1,
                    f"0,255,0={contestant('blob', built)}",
                    f"255,0,0={contestant('colorfighter', built)}", timeout=120)
    assert float(re.search(r"colour \(255, 0, 0\) scored (\S+)", out)[1]) == \
        pytest.approx(194.26, abs=2), err
