# SPDX-License-Identifier: MIT
"""hill-run --generate: fresh maps, the same for everybody, and playable."""
import hashlib
import os
import pathlib
import pty
import subprocess

import pytest

from conftest import wait_until

TOP = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("HILL_BUILD", TOP / "build"))
RUN = BUILD / "clients/run/hill-run"
BOTS = BUILD / "clients/bots"
PINNED = TOP / "tests/data/generated.txt"
GAMES = ["rabbit-runner", "image-battle", "lambda-mining"]


def run(*words, code=0, **options):
    """hill-run with WORDS; its stdout, as bytes, and stderr."""
    done = subprocess.run([RUN, *map(str, words)], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=60, check=False, **options)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout, done.stderr.decode()


@pytest.mark.parametrize("game", GAMES)
def test_lists_the_presets_of_a_game(game):
    listed, _ = run(game, "--generate", "list")
    assert run(game, "--generate")[0] == listed
    named = [line.split()[0] for line in listed.decode().splitlines()]
    pinned = {line.split()[1].split("/")[0]
              for line in PINNED.read_text().splitlines()
              if line.startswith(game)}
    assert len(named) >= 6 and set(named) == pinned


def test_writes_the_maps_that_are_pinned(tmp_path):
    for line in PINNED.read_text().splitlines()[::7]:
        game, origin, digest = line.split()
        preset, _, seed, *seats = origin.split("/")
        words = [game, "--generate", preset, "0x" + seed]
        if seats:
            words += ["--seats", seats[0]]
        written = tmp_path / "map"
        printed, _ = run(*words)
        run(*words, "-o", written)
        assert written.read_bytes() == printed
        assert hashlib.sha256(printed).hexdigest() == digest, line


def test_seeds_are_decimal_or_hexadecimal():
    assert run("rabbit-runner", "--generate", "small", "255")[0] == \
        run("rabbit-runner", "--generate", "small", "0xFf")[0] != \
        run("rabbit-runner", "--generate", "small", "254")[0]


@pytest.mark.parametrize("words, why", [
    (["rabbit-runner", "--generate", "smal", "1"],
     "rabbit-runner has no preset 'smal', only small open"),
    (["rabbit-runner", "--generate", "small"], "wants a SEED"),
    (["rabbit-runner", "--generate", "small", "x"], "not 'x'"),
    (["rabbit-runner", "--generate", "small", "-1"], "unknown option -1"),
    (["rabbit-runner", "--generate", "small", "0x"], "not '0x'"),
    (["rabbit-runner", "--generate", "small", "18446744073709551616"],
     "wants a SEED from 0 to"),
    (["rabbit-runner", "--generate", "small", "1", "2"], "'2' behind"),
    (["rabbit-runner", "--generate", "small", "1", "--seats", "2"],
     "preset small makes maps for 1, not 2"),
    (["rabbit-runner", "--generate", "small", "1", "-o", "/no/such/x"],
     "/no/such/x"),
    (["league", "--generate", "small", "1"], "go with a game's name"),
    (["rabbit-runner", "-o", "x", "s.map"], "go with a game's name"),
])
def test_says_what_is_wrong(words, why):
    printed, told = run(*words, code=2)
    assert why in told and printed == b""


def test_keeps_pictures_off_a_terminal():
    leader, follower = pty.openpty()
    done = subprocess.run([RUN, "image-battle", "--generate", "tiny", "1"],
                          stdin=subprocess.DEVNULL, stdout=follower,
                          stderr=subprocess.PIPE, timeout=60, check=False)
    os.close(follower)
    os.close(leader)
    assert done.returncode == 2 and b"-o FILE" in done.stderr


def test_bots_play_on_generated_maps(tmp_path):
    run("rabbit-runner", "--generate", "small", 3, "-o", "s.map", cwd=tmp_path)
    run("lambda-mining", "--generate", "medium", 3, "-o", "m.map",
        cwd=tmp_path)
    _, told = run("image-battle", "--generate", "tiny", 3, "-o", "a.png",
                  cwd=tmp_path)
    assert "colours=0,255,0;255,0,0" in told
    run("rabbit-runner", "s.map", 20, 1, 1, BOTS / "rabbit-greedy",
        cwd=tmp_path)
    played, _ = run("lambda-mining", "m.map", "--", BOTS / "lambda-greedy",
                    cwd=tmp_path)
    assert b"m.map" in played
    run("image-battle", "--max-turns", 5, "--picture", "none", "a.png", 10, 1,
        f"0,255,0={BOTS / 'image-blob'}", f"255,0,0={BOTS / 'image-blob'}",
        cwd=tmp_path)


def test_a_ladder_draws_a_fresh_map_for_each_match(hilld):
    # Unrated: a rated one hides each map until its round closes.
    hilld.admin("ladder add", name="mine", game="lambda-mining", generate="small,flood",
                rated=False)
    peer = hilld.peer().login("crazy", hilld.add_bot("crazy"))
    mines = set()
    for number in range(4):
        match = peer.ready("mine" if number == 0 else None)
        lines = int(peer.expect("@input ").split("lines=")[1].split()[0])
        mine = "\n".join(peer.line() for _ in range(lines))
        assert "R" in mine and "\\" in mine
        mines.add(mine)
        # Of this one and of the next one in stock no bot may know; the others
        # are shown as soon as their matches are on disk.
        def seen():
            rows = hilld.admin("map list", generated=True)["maps"]
            return {row["sha256"]: row["visibility"] for row in rows}
        digest = hashlib.sha256((mine + "\n").encode()).hexdigest()
        assert seen()[digest] == "hidden"
        wait_until("the maps played are shown",
                   lambda seen=seen: list(seen().values()).count("hidden") <= 2)
        assert seen()[digest] == "hidden"
        peer.say("A")
        peer.expect(f"@end {match} ")
    assert len(mines) == 4
    peer.expect(f"@result {match} ")

    def stocked():
        rows = hilld.admin("map list", generated=True)["maps"]
        return rows if len(rows) >= 5 else None  # the fifth is in the making
    listed = wait_until("the next one is in stock", stocked)
    assert hilld.admin("map list")["maps"] == []
    for row in listed:
        preset, version, seed = row["generator"].split("/")
        made, _ = run("lambda-mining", "--generate", preset, "0x" + seed)
        assert version == "1" and row["name"] == f"{preset}-{seed}.map"
        assert hashlib.sha256(made).hexdigest() == row["sha256"]
    assert sum(row["visibility"] == "public" for row in listed) >= 4


def test_a_drawn_map_outlives_the_server(start_hilld):
    server = start_hilld()
    server.admin("ladder add", name="mine", game="lambda-mining", generate="small")
    token = server.add_bot("crazy")
    peer = server.peer().login("crazy", token)
    match = peer.ready("mine")
    peer.say("A")
    peer.expect(f"@result {match} ")
    peer.close()

    def drawn():
        return {row["name"] for row in server.admin("map list", generated=True)["maps"]}
    wait_until("another is in stock", lambda: len(drawn()) >= 2)
    server.stop()
    server = start_hilld()
    assert len(drawn()) == 1  # nobody has seen the others: they are gone
    peer = server.peer().login("crazy", token)
    peer.say("@play mine")
    peer.expect("@match ")
    peer.say("@leave")
    # the map of the first is read anew, by its row
    done = subprocess.run([BUILD / "clients/ctl/hillctl", "--database", server.database,
                           "verify", "--all"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
