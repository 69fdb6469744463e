# SPDX-License-Identifier: MIT
"""hill-run's leagues, and stored matches played again."""
import json
import re
import shutil
import signal
import subprocess

import pytest

from season import HILLCTL, IS_LONG, PYTHON, REFERENCE, Bridge
from test_contestants import fixture_built, fixture_painters, python2  # noqa: F401
from referee import BOT_SOURCES, BOTS, PASSER, RUN, TOP, alive, play, png, script, wait_until

CONTESTANTS = REFERENCE / "contests/bots"
ARENAS = TOP / "deploy/maps/image-battle"
MAPS = TOP / "deploy/maps/rabbit-runner"
CALM = ("--limit", 60000, "--quiet")

# Moves the first rabbit by the map's seed, so that seeds have scores of their own.
WALKER = """import random, sys
draw = random.Random(int(sys.argv[-1]) + int(sys.argv[1]))
for line in sys.stdin:
    if line.startswith("rabbits"):
        x, y = map(int, line.split()[1].split(",")) if line.split()[1:] else (1, 1)
        print(f"move {x},{y} to {x + draw.choice((0, 1))},{y}", flush=True)
"""

# Takes one white neighbour of its own pixels a turn; the path is its memory.
PAINTER = """import sys
from PIL import Image
image = Image.open(sys.argv[1]).convert("RGB")
own = tuple(map(int, sys.argv[2].strip("()").split(",")))
wide, high = image.size
pixels = image.load()
def white(p):
    return 0 <= p[0] < wide and 0 <= p[1] < high and pixels[p] == (255, 255, 255)
mine = [(x, y) for y in range(high) for x in range(wide) if pixels[x, y] == own]
for line in sys.stdin:
    if line.startswith("exit"):
        break
    if line.startswith("colour"):
        words = line.split()
        colour = tuple(map(int, words[1].strip("()").split(",")))
        for word in words[3:]:
            p = tuple(map(int, word.split(",")))
            if white(p):
                pixels[p] = colour
                if colour == own:
                    mine.append(p)
    if line.startswith("pick"):
        near = [q for x, y in mine for q in ((x + 1, y), (x, y + 1), (x - 1, y), (x, y - 1)) if white(q)]
        print(*(f"{x},{y}" for x, y in dict.fromkeys(near[:STEP])), flush=True)
"""


def league(*words, code=0, timeout=300):
    return play("league", *words, code=code, timeout=timeout)


def walkers(*numbers):
    return [word for n in numbers for word in ("--bot", f"w{n}={PYTHON} walk.py {n}")]


@pytest.fixture(name="walk")
def fixture_walk(room):  # noqa: F811
    script(room, WALKER, "walk.py")
    return room


def without_times(table):
    """Slowest replies are another each time."""
    return re.sub(r" +[\d.]+ ms$", "", table, flags=re.M)


def interrupt(words, state, rows):
    """Play a league until its state file has ROWS rows, then Ctrl-C."""
    process = subprocess.Popen([str(word) for word in (RUN, "league", *words)],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_until(lambda: state.exists() and state.read_text().count("\n") > rows
               or process.poll() is not None, 300)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err


# ---- leagues ----

@pytest.mark.parametrize("words,says", [
    ([], "league wants a game"),
    (["chess"], "league wants a game"),
    (["rabbit-runner", "s.map"], "league wants bots"),
    (["rabbit-runner", "--bot", "a=p"], "league wants 1 to 1000 maps"),
    (["rabbit-runner", "--bot", "a", "s.map"], "'a' is no NAME=COMMAND"),
    (["rabbit-runner", "--bot", "a b=p", "s.map"], "is no NAME=COMMAND"),
    (["rabbit-runner", "--bot", "a=", "s.map"], "--bot a: the command is missing"),
    (["rabbit-runner", "--bot", "a=p", "--bot", "a=q", "s.map"], "two are called a"),
    (["rabbit-runner", "--bot", "a=p", "--against", "b", "s.map"], "no bot is called b"),
    (["rabbit-runner", "--bot", "a=p", "s.map", "--max-turns", "5"], "--max-turns does nothing in a league"),
    (["rabbit-runner", "--route-limit", "--bot", "a=p", "s.map"], "--route-limit does nothing in a league"),
    (["image-battle", "--here", "--bot", "a=p", "a.png"], "--here does nothing in a league"),
    (["image-battle", "--cfg", "c.py", "--bot", "a=p", "a.png"], "--cfg does nothing in a league"),
    (["rabbit-runner", "--seed", "7", "--bot", "a=p", "s.map"], "--seed does nothing in a league"),
    (["rabbit-runner", "--log", "l", "--bot", "a=p", "s.map"], "--log does nothing in a league"),
    (["rabbit-runner", "--bot", "a=p", "s.map", "--generate"], "--generate does nothing in a league"),
    (["rabbit-runner", "--bot", "a=p", "--seeds", "5..4", "s.map"], "'5..4' is no A..B"),
    (["rabbit-runner", "--bot", "a=p", "--seeds", "1..200000", "s.map"], "more than 100000"),
    (["rabbit-runner", "--bot", "a=p", "--params", "x=1", "s.map"], "--params: "),
    (["rabbit-runner", "--bot", "a=p", "--seats", "2", "s.map"], "--seats: rabbit-runner has 1"),
    (["image-battle", "--bot", "a=p", "s.map"], "2 seats, but there are only 1 bots"),
    (["rabbit-runner", "--bot", "a=p", "no.map"], "cannot read no.map"),
    (["rabbit-runner", "--bot", "a=p", "--state", "no/s", "s.map"], "cannot open no/s"),
    (["rabbit-runner", "--bot", "a=p", "--state", "pass.py", "s.map"],
     "pass.py: it is no league's file"),
])
def test_names_what_is_wrong_with_a_league(room, words, says):  # noqa: F811
    assert says in league(*words, code=2)[1]


def test_plays_every_bot_on_every_instance(walk):
    words = ["rabbit-runner", *CALM, "--seeds", "1..3", "-j", 2, "--params", "turns=8",
             "--bot", f"walker={PYTHON} walk.py 1", "--bot", f"passer={PYTHON} pass.py",
             "--maps", "s.map", MAPS / "small.map"]
    out, _ = league(*words)
    assert "12 of 12 matches on 6 instances" in out
    assert re.search(r"^walker +6 .* - +0 +\d+ +0 +0", out, re.M)
    assert re.search(r"^passer +6 .* [-+][\d.]+ \[[-+].*\] +0 +0 +0 +0", out, re.M)
    document = json.loads(league(*words, "--json")[0])
    assert document["played"] == document["matches"] == len(document["rows"]) == 12
    seen = {(row["map"], row["seed"], row["seats"][0]["bot"]) for row in document["rows"]}
    assert seen == {(name, seed, bot) for name in ("s.map", "small.map") for seed in (1, 2, 3)
                    for bot in ("walker", "passer")}
    # The table's figures are the rows'.
    scores = {bot: [row["seats"][0]["score"] for row in document["rows"]
                    if row["seats"][0]["bot"] == bot] for bot in ("walker", "passer")}
    for bot in document["bots"]:
        assert bot["mean"] == pytest.approx(sum(scores[bot["bot"]]) / 6)
    versus = document["bots"][0]["against"]["passer"]
    assert versus["won"] == sum(a > b for a, b in zip(scores["walker"], scores["passer"]))
    assert sum(versus.values()) == 6


def test_gives_the_seed_to_game_and_bot_alike(walk):
    out, _ = play("rabbit-runner", "--limit", 60000, "s.map", 8, "1..3", 3, PYTHON, "walk.py", 1)
    single = [int(row.split()[2]) for row in out.splitlines() if re.match(r" +\d+ +\d+ +\d+$", row)]
    rows = json.loads(league("rabbit-runner", *CALM, "--seeds", "1..3", "--params", "turns=8",
                             *walkers(1), "s.map", "--json")[0])["rows"]
    assert [row["seats"][0]["points"] for row in rows] == single


def test_shows_the_same_table_after_interrupt_and_resume(walk):
    words = ["rabbit-runner", *CALM, "--seeds", "1..12", "-j", 2, "--params", "turns=8",
             *walkers(1, 2, 3), "s.map"]
    whole, _ = league(*words, "--state", "whole.jsonl")
    state = walk / "part.jsonl"
    code, out, err = interrupt([*words, "--state", state], state, 5)
    assert code == 130 and "the same command goes on from" in err
    done = state.read_text().count("\n") - 1
    assert 5 <= done < 36 and f"{done} of 36 matches" in out
    head = state.read_bytes()
    # As if it had been killed while it wrote a line.
    state.write_bytes(head + b'{"match":35,"map":"s.m')
    out, err = league(*words, "--state", state)
    assert "its last line is torn" in err and f"has {done} of 36 matches" in err
    assert without_times(out) == without_times(whole)
    assert state.read_bytes().startswith(head)
    assert state.read_text().count("\n") == 37
    # Again: nothing is left to play, and even the times are the same.
    assert league(*words, "--state", state)[0] == out
    assert not alive(str(walk))


def test_a_resumed_league_keeps_the_files_of_the_session_before(walk):
    words = ["rabbit-runner", *CALM, "--seeds", "1..3", "--params", "turns=4", "s.map",
             "--bot", f"loud={PYTHON} loud.py", "--state", "s.jsonl", "--stderr", "err", "--frames", "see",
             "--max-frames", 2]
    script(walk, PASSER.replace("import sys\n", "import sys\nprint('seed', sys.argv[-1], file=sys.stderr)\n"),
           "loud.py")
    league(*words)
    logs = {name: (walk / "err" / name).read_text() for name in ("0001-1.log", "0002-1.log", "0003-1.log")}
    assert [text.split()[:2] for text in logs.values()] == [["seed", "1"], ["seed", "2"], ["seed", "3"]]
    # As if it had been stopped before the last match.
    kept = (walk / "s.jsonl").read_text().splitlines(keepends=True)
    (walk / "s.jsonl").write_text("".join(kept[:-1]))
    for name in ("0003-1.log", "0001-1.log"):
        (walk / "err" / name).unlink()
    shutil.rmtree(walk / "see")
    league(*words)
    assert sorted(path.name for path in (walk / "err").iterdir()) == ["0002-1.log", "0003-1.log"]
    assert (walk / "err/0003-1.log").read_text() == logs["0003-1.log"]
    assert [path.name for path in (walk / "see").iterdir()] == ["0003"]


def test_refuses_another_leagues_file_and_names_what_differs(walk):
    words = ["rabbit-runner", *CALM, "--state", "s.jsonl", "--seeds", "1..2", "--params", "turns=8"]
    league(*words, *walkers(1), "s.map")
    before = (walk / "s.jsonl").read_bytes()
    for others, says in [
            ([*words, *walkers(2), "s.map"], 'bot 1 is "w1='),
            ([*words, *walkers(1), "s.map", "--params", "turns=9"],
             'params is "turns=8" there, "turns=9" here'),
            ([*words, *walkers(1), "s.map", "--seeds", "1..3"], "last_seed is 2 there, 3 here"),
            ([*words, *walkers(1), MAPS / "small.map"], 'map 1 is "s.map '),
            ([*words, *walkers(1), "s.map", "--limit", "50"], "turn_ms is 60000 there, 50 here")]:
        assert says in league(*others, code=2)[1]
    (walk / "s.map").write_text("#####\n#s e#\n#   #\n#####\n")
    assert 'map 1 is "s.map ' in league(*words, *walkers(1), "s.map", code=2)[1]
    assert (walk / "s.jsonl").read_bytes() == before


def test_keeps_nothing_of_a_command_that_cannot_run(walk):
    words = ["rabbit-runner", *CALM, "--state", "s.jsonl", "--params", "turns=8", "s.map"]
    _, err = league(*words, "--bot", "a=./no-such-program", code=2)
    assert "cannot run ./no-such-program" in err
    assert (walk / "s.jsonl").read_text().count("\n") == 1


def test_counts_faults_and_ends(walk):
    script(walk, "import sys, time\nsys.stdin.readline()\ntime.sleep(60)\n", "sleep.py")
    script(walk, "raise SystemExit(3)\n", "die.py")
    words = ["rabbit-runner", "--quiet", "--limit", 1500, "--init", 4000, "--params", "turns=8", "s.map",
             "--bot", f"walker={PYTHON} walk.py 1", "--bot", f"sleeper={PYTHON} sleep.py",
             "--bot", f"dier={PYTHON} die.py", "--json"]
    bots = {bot["bot"]: bot for bot in json.loads(league(*words, code=1)[0])["bots"]}
    assert (bots["sleeper"]["late"], bots["sleeper"]["gone"]) == (1, 0)
    assert (bots["dier"]["late"], bots["dier"]["gone"]) == (0, 1)
    assert bots["walker"]["gone"] == 0


def test_rotates_the_seats_of_a_shared_game(room):  # noqa: F811
    pytest.importorskip("PIL")
    for step in (1, 2, 3):
        script(room, PAINTER.replace("STEP", str(step)), f"paint{step}.py")
    bots = [word for step in (1, 2, 3)
            for word in ("--bot", f"p{step}={PYTHON} paint{step}.py")]
    words = ["image-battle", *CALM, "-j", 2, "--params", "batch=3 maxturns=6", *bots,
             ARENAS / "open100.png"]
    document = json.loads(league(*words, "--json")[0])
    seats = sorted(tuple(seat["bot"] for seat in row["seats"]) for row in document["rows"])
    assert seats == sorted((a, b) for a in ("p1", "p2", "p3") for b in ("p1", "p2", "p3") if a != b)
    # Who may take more pixels has more.
    assert document["bots"][2]["against"] == {
        "p1": {"won": 2, "drawn": 0, "lost": 0}, "p2": {"won": 2, "drawn": 0, "lost": 0}}
    play("image-battle", "--generate", "tiny", 7, "--seats", 3, "-o", "three.png")
    words[-1] = "three.png"
    document = json.loads(league(*words, "--seats", 3, "--against", "best", "--json")[0])
    assert document["played"] == 3 and document["reference"] == "p3"
    assert {row["seats"][0]["bot"] for row in document["rows"]} == {"p1", "p2", "p3"}


def colours_told(words, room):  # noqa: F811
    """The colours that a league's bots are given, by its matches' seats."""
    script(room, "import sys\nprint(sys.argv[2], file=open(sys.argv[4], 'a'))\n"
           "for line in sys.stdin:\n    if line.startswith('pick'):\n        print(flush=True)\n"
           "    elif line.startswith('exit'):\n        break\n", "say.py")
    (room / "told").unlink(missing_ok=True)
    seats = words[words.index("--seats") + 1]
    bots = [word for n in range(seats) for word in
            ("--bot", f"b{n}=sh -c 'exec {PYTHON} {room}/say.py $1 $2 $3 {room}/told' sh")]
    _, err = league("image-battle", *CALM, "--params", "maxturns=1", "--state", "s.jsonl", *bots, *words)
    (room / "s.jsonl").unlink()
    return set((room / "told").read_text().splitlines()), err


@pytest.mark.parametrize("seats", [2, 4, 6, 7, 8])
def test_seats_of_a_league_have_the_arenas_own_colours(room, seats):  # noqa: F811
    play("image-battle", "--generate", "open", 5, "--seats", seats, "-o", "a.png")
    told, err = colours_told(["--seats", seats, "a.png"], room)
    assert len(told) == seats and not err
    assert told <= {"(0,255,0)", "(255,0,0)", "(0,0,255)", "(255,192,0)", "(255,0,255)", "(0,192,255)",
                    "(128,64,0)", "(128,128,128)"}


def test_no_seat_of_a_league_is_without_a_pixel(room):  # noqa: F811
    (room / "two.png").write_bytes(png(20, 20, {(1, 1): (255, 0, 0), (9, 9): (0, 255, 0)}))
    blots = {(x, y): colour for at, colour in
             ((1, (0, 255, 0)), (5, (255, 0, 0)), (9, (255, 255, 0)), (13, (0, 0, 255)))
             for x in (at, at + 1) for y in (at, at + 1)}
    (room / "blots.png").write_bytes(png(20, 20, blots))
    bots = [word for n in range(3) for word in ("--bot", f"b{n}=true")]
    _, err = league("image-battle", *bots, "--seats", 3, "two.png", code=2)
    assert "two.png: too few colours own one pixel each" in err
    assert "colour 0,0,255 of seat 3 owns no pixel: give 3 that it has with --colours" in err
    # The contest's own arenas.
    told, err = colours_told(["--seats", 4, "blots.png"], room)
    assert told == {"(255,0,0)", "(0,255,0)", "(0,0,255)", "(255,255,0)"} and not err
    # What is asked for is played.
    told, err = colours_told(["--seats", 2, "--colours", "0,255,0;1,2,3", "two.png"], room)
    assert told == {"(0,255,0)", "(1,2,3)"}
    assert "a ladder would refuse this: colour 1,2,3 of seat 2 owns no pixel" in err


def test_reference_bots_go_down_mines_in_a_league(room):  # noqa: F811
    out, _ = league("lambda-mining", *CALM, "-j", 2, "--bot", f"greedy={BOTS / 'lambda-greedy'}",
                    "--bot", f"careful={PYTHON} {BOT_SOURCES / 'lambda_careful.py'}", "m.map")
    assert "2 of 2 matches on 1 instances" in out and "greedy" in out


# ---- stored matches ----

def export_match(hilld, folder, bots, game, map_path, seats=1, params="", options=""):
    """Let BOTS (name -> words) play a match over the bridge; what export writes of it."""
    hilld.add_map(map_path.name, game, map_path.read_bytes(), options=options)
    hilld.admin("ladder add", name="ladder", game=game, seats=seats, maps=[map_path.name],
                params=params, turn_ms=60000, bank_ms=0, seeds="7..7")
    bridges = [Bridge(hilld, folder / name, name, hilld.add_bot(name), ["ladder"], words,
                      ("--matches", "1")) for name, words in bots.items()]
    for bridge in bridges:
        assert bridge.wait(600) == 0, bridge.err()
    match = bridges[0].results()[0][0]
    path = folder / "match.json"
    with open(path, "wb") as out:
        subprocess.run([HILLCTL, "--database", hilld.database, "export", str(match)], stdout=out,
                       check=True, timeout=60)
    return path


def rehearse(path, *words, code=0):
    return play("--match", path, *words, code=code, timeout=600)


def test_plays_a_stored_run_again(walk, hilld):
    path = export_match(hilld, walk, {"walker": [PYTHON, walk / "walk.py", 1]}, "rabbit-runner",
                        MAPS / "small.map", params="turns=12")
    bot = [PYTHON, "walk.py"]
    out, _ = rehearse(path, "--seat", 1, "--", *bot, 1)
    assert "All 12 replies are as they were." in out
    document = json.loads(path.read_text())
    assert document["match"]["bot_seed"] != document["match"]["seed"]
    replies = [entry["text"] for entry in document["transcript"]]

    # Another draw: the first reply that is another is named, with both.
    out, _ = rehearse(path, "--seat", 1, "--", *bot, 2, code=1)
    turn = int(re.search(r"^Turn (\d+) is the first whose reply differs", out, re.M)[1])
    assert f"stored: {replies[turn - 1]} (" in out and "live:   move" in out
    first = json.loads(rehearse(path, "--seat", 1, "--json", "--", *bot, 2, code=1)[0])["first"]
    assert first["turn"] == turn and first["stored"]["text"] == replies[turn - 1]
    assert first["live"]["text"] != replies[turn - 1]

    # From the end on nothing of it is used, and the score is the stored one.
    late = json.loads(rehearse(path, "--seat", 1, "--from-turn", 13, "--json", "--", *bot, 2,
                              code=1)[0])
    assert late["own_from"] == 0 and late["first"]["turn"] == turn
    assert late["seats"][0]["now"] == late["seats"][0]["stored"]

    # Bots that end, are late, or cannot be started.
    script(walk, "raise SystemExit(3)\n", "die.py")
    out, err = rehearse(path, "--seat", 1, "--", PYTHON, "die.py", code=1)
    assert "Turn 1 is the first" in out and "live:   (gone" in out and "exit status 3" in err
    script(walk, "import time\ntime.sleep(60)\n", "sleep.py")
    out, _ = rehearse(path, "--seat", 1, "--limit", 300, "--init", 0, "--", PYTHON, "sleep.py",
                     code=1)
    assert "live:   (late)" in out
    assert "cannot run ./no" in rehearse(path, "--seat", 1, "--", "./no", code=2)[1]
    assert "it has only 1 seats" in rehearse(path, "--seat", 2, "--", *bot, 1, code=2)[1]


@pytest.mark.parametrize("words", [["--frames", "f"], ["--animation", "a.png"], ["--log", "l"], ["-j", "2"],
                                   ["--picture", "p.png"], ["--every", "2"], ["--seeds", "1..2"]])
def test_refuses_options_that_do_nothing_when_a_match_is_played_again(words):
    _, err = play("--match", "no.json", "--seat", 1, *words, "--", "true", code=2)
    assert err.startswith(f"hill-run: {words[0]} does nothing with --match\n")


def test_says_what_cannot_be_played_again(walk):
    for words, says in [(["--match", "no.json", "--seat", 1, "--", "p"], "cannot read no.json"),
                        (["--match", "s.map", "--seat", 1, "--", "p"], "s.map: line 1"),
                        (["--match", "s.map", "--", "p"], "wants --seat S, and -- PROG"),
                        (["--match", "s.map", "--seat", 1], "wants --seat S, and -- PROG"),
                        (["--match", "s.map", "--seat", 9, "--", "p"], "a number from 1 to 8"),
                        (["--match", "s.map", "--from-turn", 0], "from 1 on")]:
        assert says in play(*words, code=2)[1]


def test_plays_one_seat_of_a_stored_battle_again(room, hilld):  # noqa: F811
    pytest.importorskip("PIL")
    for step in (2, 3):
        script(room, PAINTER.replace("STEP", str(step)), f"paint{step}.py")
    paths = {step: room / f"paint{step}.py" for step in (2, 3)}
    path = export_match(hilld, room, {"two": [PYTHON, paths[2]], "three": [PYTHON, paths[3]]},
                        "image-battle", ARENAS / "open100.png", seats=2,
                        params="batch=3 maxturns=8", options="colours=255,0,0;0,255,0")
    seats = [seat["bot"] for seat in json.loads(path.read_text())["match"]["seats"]]
    for name, step in (("two", 2), ("three", 3)):
        seat = seats.index(name) + 1
        out, _ = rehearse(path, "--seat", seat, "--", PYTHON, paths[step])
        assert "All 8 replies are as they were." in out
        document = json.loads(rehearse(path, "--seat", seat, "--from-turn", 4, "--json", "--",
                                      PYTHON, paths[5 - step], code=1)[0])
        assert document["first"]["turn"] == 1 and document["own_from"] >= 4


def test_plays_a_stored_mine_again(room, hilld):  # noqa: F811
    path = export_match(hilld, room, {"greedy": [BOTS / "lambda-greedy"]}, "lambda-mining",
                        room / "m.map")
    assert "All 1 replies" in rehearse(path, "--seat", 1, "--", BOTS / "lambda-greedy")[0]
    script(room, "print('A')\n", "abort.py")
    out, _ = rehearse(path, "--seat", 1, "--", PYTHON, "abort.py", code=1)
    assert "live:   A (1 bytes)" in out


# ---- contestants ----

def test_finds_where_crazy3_leaves_crazys_way(tmp_path, hilld):
    crazy = CONTESTANTS / "rabbit-runner/run/crazy.py"
    if not crazy.exists():
        pytest.skip("no contestants' bots (HILL_REFERENCE, ../shared)")
    path = export_match(hilld, tmp_path, {"crazy": [python2(), crazy]}, "rabbit-runner",
                        CONTESTANTS / "rabbit-runner/maps/test.map",
                        params=f"turns={500 if IS_LONG else 60}")
    calm = ("--limit", 60000, "--seat", 1)
    out, _ = rehearse(path, *calm, "--", python2(), crazy)
    print(out)
    assert "replies are as they were" in out
    out, _ = rehearse(path, *calm, "--", PYTHON, crazy.with_name("crazy3.py"), code=1)
    print(out)
    turn = int(re.search(r"^Turn (\d+) is the first whose reply differs", out, re.M)[1])
    replies = [entry["text"] for entry in json.loads(path.read_text())["transcript"]]
    first = json.loads(rehearse(path, *calm, "--json", "--", PYTHON, crazy.with_name("crazy3.py"),
                               code=1)[0])["first"]
    assert (first["turn"], first["stored"]["text"]) == (turn, replies[turn - 1])
    assert first["live"]["text"] != replies[turn - 1]


@pytest.mark.skipif(not IS_LONG, reason="long: needs HILL_LONG")
def test_four_contestants_play_a_league_of_battles(room, painters):  # noqa: F811
    arenas = ",".join(str(CONTESTANTS / f"image-battle/arenas/{name}.png")
                      for name in ("open100", "walls120x80", "rooms300"))
    state = room / "four.jsonl"
    words = ["image-battle", *CALM, "--seats", 4, "--seeds", "1..4", "-j", 2, "--params",
             "batch=200 maxturns=400", "--maps", arenas, "--state", state]
    for name, program in painters.items():
        words += ["--bot", f"{name}={' '.join(map(str, program))}"]
    code, out, err = interrupt(words, state, 12)
    print(out)
    assert code == 130, err
    kept = state.read_bytes()
    out, _ = league(*words, timeout=3000)
    print(out)
    assert "48 of 48 matches on 12 instances" in out
    # Swallower plays another game each time: what was kept must be in there.
    assert state.read_bytes().startswith(kept)
    assert league(*words)[0] == out
    rows = json.loads(league(*words, "--json")[0])["rows"]
    for name in painters:
        assert [sum(row["seats"][seat]["bot"] == name for row in rows)
                for seat in range(4)] == [12] * 4
