# SPDX-License-Identifier: MIT
"""hill-run's words, its programs, and rabbit-runner by it."""
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

from referee import (BOTS, BOT_SOURCES, GOLDEN, MAP, PASSER, PYTHON, RUN,
                     alive, play, png, scores, script, wait_until)


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
    (["rabbit-runner", "--here", "s.map", "5", "1", "1", "p"],
     "--here does nothing in rabbit-runner"),
    (["--bot", "a=p", "lambda-mining", "m.map", "--", "p"],
     "--bot does nothing in lambda-mining"),
    (["rabbit-runner", "--match", "x.json", "s.map", "5", "1", "1", "p"],
     "--match does nothing in rabbit-runner"),
    (["rabbit-runner", "--generate", "small", "7", "--log", "l"],
     "--log does nothing with --generate"),
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
    ("read a; sleep 60", "nothing was printed yet: is it still starting, or does it not flush its output?"),
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


def test_crowd_that_fills_a_megabyte_a_turn_is_played(room):
    """As the original did: only a peer's output has a bound that a map may reach."""
    inside = ["#" + "c " * 349 + "#", "#" + " " * 698 + "#"] * 349
    (room / "s.map").write_text("\n".join(
        ["#" * 700, "#s" + " " * 696 + "e#", *inside, "#" * 700]) + "\n")
    script(room, "import sys\n"
           "for line in sys.stdin:\n"
           "    print(len(line), file=open('lengths', 'a'))\n"
           "    if line.startswith('rabbits'):\n        print('move', flush=True)\n")
    out, err = play("rabbit-runner", "--limit", "none", "--json", "s.map", 2, 1, 1, PYTHON, "bot.py",
                    timeout=300)
    run = json.loads(out)["runs"][0]
    assert run["turns"] == 2 and run["seats"][0]["reason"] == "finished", err
    lengths = [int(line) for line in (room / "lengths").read_text().split()]
    assert len(lengths) == 6 and min(lengths[1], lengths[4]) > 1 << 20


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


def test_log_ends_a_row_where_the_map_does(room):
    (room / "s.map").write_text("#######\n#s\n#######\n#e#\n")
    script(room, "import sys\nmoves = iter(('1,1 to 2,1', '2,1 to 3,1', ''))\n"
           "for line in sys.stdin:\n    if line.startswith('rabbits'):\n"
           "        print(next(moves), flush=True)\n")
    play("rabbit-runner", "--limit", 20000, "--log", "run.log", "s.map", 3, 1, 1, PYTHON, "bot.py")
    log = (room / "run.log").read_bytes()
    rows = [grid.split(b"\n") for grid in log.split(b"\n\n", 1)[1][:-3].split(b"\n\n\n")]
    assert [row[1] for row in rows] == [b"#o", b"#oo", b"#o o", b"#o o"]
    assert {(row[0], row[2], row[3]) for row in rows} == {(b"#######", b"#######", b"#e#")}


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
