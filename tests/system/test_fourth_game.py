# SPDX-License-Identifier: MIT
"""A game of one file and one build line, through every program."""
import json
import os
import subprocess
import sys

import pytest

import conftest
from conftest import BUILD, TOP, WAIT_S, Hilld

TOY = BUILD / "tests/toy"
BRIDGE = BUILD / "clients/bridge/hill-bridge"
MAP = "3\n"
TURNS = 5
# Grazes the fat field and those named; says so in two writes and several
# lines, as a program does that flushes when it likes.
BOT = """\
import sys
for line in sys.stdin:
    word, fat = line.split()
    assert word == "fat"
    sys.stdout.write(fat + "\\n")
    sys.stdout.flush()
    for field in sys.argv[1:]:
        print(field)
    print("done", flush=True)
"""


def run(program, *words, status=0):
    done = subprocess.run([TOY / program, *map(str, words)], capture_output=True, text=True,
                          timeout=WAIT_S, check=False)
    assert done.returncode == status, done.stderr
    return done.stdout


@pytest.fixture
def table(tmp_path):
    """A folder with the map and the bot; the words that start the bot."""
    (tmp_path / "three").write_text(MAP)
    (tmp_path / "bot.py").write_text(BOT)
    return tmp_path


def bot(table, *fields):
    return [sys.executable, table / "bot.py", *map(str, fields)]


def test_it_is_one_file_under_200_lines_and_one_build_line():
    folder = TOP / "tests/toy"
    assert [path.name for path in folder.glob("*.[ch]")] == ["grazing.c"]
    assert len((folder / "grazing.c").read_text().splitlines()) < 200
    build = (folder / "meson.build").read_text()
    assert [line.strip() for line in build.splitlines() if "['grazing'" in line] \
        == ["['grazing', files('grazing.c')],"]
    assert build.count("grazing.c") == 1


def test_nobody_else_names_a_game():
    """Engines, hill-run's tables and the house bots may; so may examples in texts."""
    found = []
    for room in ("proto", "server", "clients/bridge", "clients/ctl", "clients/program"):
        for path in sorted((TOP / room).rglob("*.[ch]")):
            if "server/games" in str(path) or path == TOP / "server/dev.c":
                continue
            for number, line in enumerate(path.read_text().splitlines(), 1):
                for word in ('"rabbit-runner"', '"image-battle"', '"lambda-mining"', "game_rabbit",
                             "game_image", "game_lambda", "games/rabbit", "games/image",
                             "games/lambda"):
                    if word in line:
                        found.append(f"{path}:{number}: {line}")
    assert not found, "\n".join(found)


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_hill_run_plays_it(table, seats):
    (table / "map").write_text("4\n")
    words = []
    for seat in range(seats):
        words += ["--", *bot(table, seat + 1)]
    printed = run("hill-run-toy", "grazing", "--limit", "none", table / "map", 7, f"turns={TURNS}",
                  *words)
    lines = printed.splitlines()
    assert lines[0].split() == ["Seat", "Rank", "Score", "End", "Program"]
    assert [line.split()[0] for line in lines[1:]] == [str(n + 1) for n in range(seats)]
    assert all("finished" in line for line in lines[1:])


def test_hill_run_wants_as_many_programs_as_seats(table):
    for count in (1, 5):
        words = ["--", *bot(table)] * count
        run("hill-run-toy", "grazing", table / "three", 7, *words, status=2)
    run("hill-run-toy", "grazing", table / "three", 7, "turn=3", "--", "x", "--", "y", status=2)


@pytest.fixture
def toy_hilld(table, monkeypatch):
    monkeypatch.setattr(conftest, "HILLD", TOY / "hilld-toy")
    server = Hilld(table)
    server.add_map("three", "grazing", MAP.encode())
    server.admin("ladder add", name="grazing", game="grazing", maps=["three"], seats=3,
                 params=f"turns={TURNS}", turn_ms=20000)
    yield server
    server.stop()
    assert "Sanitizer" not in (table / "hilld.stderr").read_text()


def start_bridge(server, table, name, *fields):
    token = table / f"{name}.token"
    token.write_text(server.add_bot(name) + "\n")
    token.chmod(0o600)
    return subprocess.Popen(
        [str(word) for word in
         (BRIDGE, "--server", f"127.0.0.1:{server.port}", "--bot", name, "--token-file", token,
          "--play", "grazing", "--matches", 1, "--", *bot(table, *fields))],
        cwd=table, env={**os.environ, "TMPDIR": str(table)}, stdout=subprocess.DEVNULL,
        stderr=open(table / f"{name}.stderr", "w"))


def test_through_hilld_bridge_verify_and_export(toy_hilld, table):
    bridges = [start_bridge(toy_hilld, table, name, *fields)
               for name, fields in (("ann", ()), ("bob", (1,)))]
    # The third types by hand, and cuts its replies where it likes.
    hand = toy_hilld.peer().login("cid", toy_hilld.add_bot("cid"))
    match = hand.ready("grazing")
    fats = []
    for turn in range(TURNS):
        fats.append(int(hand.expect("fat ").split()[1]))
        if turn == 0:
            hand.say("2", "")
            hand.say("done")
            hand.expect("@fault invalid 1/- turn=1 ")
        else:
            hand.socket.sendall(b"2\ndo")
            hand.socket.sendall(b"ne\n")
    assert "reason=finished" in hand.expect(f"@end {match} ")
    hand.expect(f"@result {match} ")
    for bridge in bridges:
        assert bridge.wait(WAIT_S) == 0

    database = ["--database", toy_hilld.database]
    run("hillctl-toy", *database, "verify", match)
    document = json.loads(run("hillctl-toy", *database, "export", match))
    said = {seat["bot"]: seat for seat in document["match"]["seats"]}
    expected = {"ann": [], "bob": [1], "cid": [2]}
    texts = [entry["text"] for entry in document["transcript"]]
    assert len(texts) == 3 * TURNS
    assert all(text.endswith("\ndone") for text in texts)
    assert "2\n\ndone" in texts
    scores = dict.fromkeys(expected, 0)
    for fat in fats:
        claims = {name: {*fields, *([fat] if name != "cid" else [])}
                  for name, fields in expected.items()}
        for name, claim in claims.items():
            for field in claim:
                if sum(field in other for other in claims.values()) == 1:
                    scores[name] += 3 if field == fat else 1
    assert {name: seat["points"] for name, seat in said.items()} == scores
