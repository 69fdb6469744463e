# SPDX-License-Identifier: MIT
"""What a real hilld leaves behind: results, whatever happens to it."""
import ctypes
import json
import os
import pathlib
import resource
import shutil
import signal
import subprocess

import pytest

from arena import (Fighter, add_battle, add_rabbits, record_of, rows,
                   seats_of, start_battle, wait_stored)
from conftest import wait_until
from hillctl import HILLCTL
from season import check_whole, hillctl, verify_all
from web import API, check_shape, start_web

CLONE_NEWNS, CLONE_NEWUSER = 0x00020000, 0x10000000
MS_REC, MS_PRIVATE = 1 << 14, 1 << 18
IS_LONG = bool(os.environ.get("HILL_LONG"))
# Three rabbits that may meet in one cell; two crushers that come up to where
# each has a rabbit on its left and one on its right.
MEETING = (b"###################\n"
           b"#e  s s   s s #s s#\n"
           b"##### ##### ####s##\n"
           b"#####c#####c#######\n"
           b"###################\n")
# Replies, and what the original controller says before each, for seed 5.
MEETINGS = [
    ("move 15,1 to 16,1; 17,1 to 16,1",
     "crusher 11,3 movesto 11,2; 5,3 movesto 5,2",
     "rabbits 4,1 6,1 10,1 12,1 15,1 17,1 16,2"),
    ("move",
     "crusher 11,2 movesto 11,1; 5,2 movesto 5,1",
     "rabbits 4,1 6,1 10,1 12,1 15,1 17,1 16,2"),
    # One crusher turns right, one left. Of three that meet one is left.
    ("move 15,1 to 16,1; 17,1 to 16,1; 16,2 to 16,1",
     "crusher 5,1 crushes 6,1; 11,1 crushes 10,1",
     "rabbits 4,1 12,1 15,1 17,1 16,2"),
    ("move 16,1 to 16,2; 15,1 to 16,1",
     "crusher 6,1 movesto 5,1; 10,1 movesto 11,1",
     "rabbits 4,1 12,1 15,1 16,1 17,1 16,2"),
    ("move",
     "crusher 5,1 crushes 4,1; 11,1 crushes 12,1",
     "rabbits 15,1 16,1 17,1 16,2"),
    ("move",
     "crusher 4,1 movesto 3,1; 12,1 movesto 13,1",
     "rabbits 15,1 16,1 17,1 16,2"),
]


def play_battle(fighters, turns):
    """TURNS turns and then a pass; what each seat placed, from the first."""
    seen = []
    for turn in range(turns):
        for fighter in fighters:
            fighter.peer.say(fighter.pixel())
        for _ in fighters:
            seen.append(fighters[0].peer.expect("colour "))
        for fighter in fighters[1:]:
            for _ in fighters:
                assert fighter.peer.expect("colour ") in seen[-len(fighters):]
    for fighter in fighters:
        fighter.peer.say("")
    return seen


def test_bc50_a_killed_servers_match_is_no_result(start_hilld):
    server = start_hilld()
    add_battle(server)
    token = server.add_bot("crazy")
    [fighter] = start_battle([server.peer().login("crazy", token)])
    fighter.paint()
    server.process.kill()  # before its links end
    server.process.wait()
    server.stop()
    server = start_hilld()
    assert rows(server, "SELECT * FROM match") == []
    [again] = start_battle([server.peer().login("crazy", token)])
    assert again.match > fighter.match
    play_battle([again], 2)
    again.peer.expect(f"@result {again.match} ")
    assert [row[0] for row in rows(server, "SELECT id FROM match")] == [
        again.match]


def test_bc50_a_map_that_is_taken_away_starts_nothing_more(hilld):
    add_battle(hilld, maxturns=4)
    peer = hilld.peer().login("crazy", hilld.add_bot("crazy"))
    [fighter] = start_battle([peer])
    fighter.paint()
    [name] = [row["name"] for row in hilld.admin("map list")["maps"]]
    hilld.admin("map disable", name=name)
    fighter.paint()  # what runs goes on
    fighter.picked()
    peer.say("")
    # Nothing can be played there any more.
    told = [peer.line() for _ in range(5)]
    assert any(line.startswith(f"@result {fighter.match} ") for line in told)
    peer.say("@ping x")
    while (line := peer.line()) != "@pong x":
        assert not line.startswith("@match ")


def test_bc55_every_replay_is_of_its_own_match(start_hilld, tmp_path):
    server = start_hilld()
    add_battle(server, seats=2, maxturns=1000,
               size=(20, 400 if IS_LONG else 40))
    tokens = {name: server.add_bot(name) for name in "abc def ghi jkl".split()}
    seen = {}
    for _ in range(3):
        for _ in range(50 if IS_LONG else 3):
            peers = [server.peer().login(name, token)
                     for name, token in tokens.items()]
            # Two at a time.
            pairs = [start_battle(peers[:2]), start_battle(peers[2:])]
            # No two matches have as many turns.
            for names, pair in zip(("abc def", "ghi jkl"), pairs):
                seats = {fighter.seat + 1: name
                         for name, fighter in zip(names.split(), pair)}
                seen[pair[0].match] = seats, play_battle(pair, len(seen) + 1)
            for fighter in pairs[0] + pairs[1]:
                fighter.peer.say("@leave")
                fighter.peer.expect(f"@result {fighter.match} ")
                fighter.peer.close()
        assert server.stop(signal.SIGTERM) == 0
        server = start_hilld()
    assert len(seen) == 3 * 2 * (50 if IS_LONG else 3)
    for match, (names, lines) in seen.items():
        done = hillctl(server.database, "--json", "replay", match, "--socket",
                       f"{server.short}/sock")
        assert done.returncode == 0, done.stderr
        shown = json.loads(done.stdout)
        assert {seat["seat"]: seat["bot"]
                for seat in shown["match"]["seats"]} == names
        for seat in names:  # each hears every line
            assert [line["text"] for line in shown["lines"]
                    if line["seat"] == seat and line["dir"] == "saw" and
                    line["text"].startswith("colour ")] == lines
    server.stop()
    verify_all(server.database)


def test_bc56_what_runs_is_played_under_the_limits_it_began_with(hilld):
    add_battle(hilld, turn_ms=20000, maxturns=3)
    [fighter] = start_battle(
        [hilld.peer().login("crazy", hilld.add_bot("crazy"))])
    hilld.admin("ladder change", name="battle", turn_ms=30000,
                params="batch=10 maxturns=2")
    for _ in range(3):
        fighter.paint()
    fighter.peer.expect(f"@result {fighter.match} ")
    assert rows(hilld, "SELECT turn_ms FROM match") == [(20000,)]


def test_bc57_seeds_and_numbers_go_on_after_a_restart(start_hilld):
    server = start_hilld()
    add_battle(server, seats=2, seeds="100..199", maxturns=2)
    tokens = {name: server.add_bot(name) for name in ("abc", "def")}
    matches = []
    for _ in range(5):
        peers = [server.peer().login(name, token)
                 for name, token in tokens.items()]
        for peer in peers:
            peer.say("@play battle")
        for _ in range(3):
            fighters = [Fighter(peer).offered() for peer in peers]
            for fighter in fighters:
                fighter.ready()
            for fighter in fighters:
                fighter.started().peer.say(fighter.pixel(), "")
            matches.append(fighters[0].match)
            wait_stored(server, matches[-1])
        assert server.stop(signal.SIGTERM) == 0
        server = start_hilld()
    assert sorted(matches) == matches and len(set(matches)) == 15
    seeds = [row[0] for row in rows(
        server, "SELECT seed FROM match JOIN instance i ON i.id = instance_id "
        "ORDER BY match.id")]
    assert len(set(seeds)) == 15
    assert seeds == sorted(seeds) and seeds[0] == 100


def fill_disk(server):
    """The database of SERVER does not grow any more; its log, which is short, does."""
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (65536, resource.RLIM_INFINITY))


def empty_disk(server):
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE,
                     (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


def test_bc70_a_full_disk_delays_results_and_loses_none(start_hilld, tmp_path):
    server, web = start_web(start_hilld, tmp_path)
    document = web.get("/openapi.json")
    add_rabbits(server, turn_ms=60000)
    peer = server.peer().login("crazy", server.add_bot("crazy"))
    match = peer.ready("rabbits")
    other = server.peer().login("other", server.add_bot("other"))
    fill_disk(server)
    for _ in range(3):
        peer.expect("rabbits ")
        peer.say("move")
    peer.expect(f"@end {match} ")
    wait_until("the server knows", lambda: server.admin(
        "status")["server"]["store_trouble"], server.process)
    other.say("@play rabbits")
    other.expect("@error no-new-matches")
    # Whoever watches the server sees it, by status and by reason.
    wait_until("health tells", lambda: web.ask(f"{API}/health")[0] == 503, server.process)
    health = web.get("/health", 503)
    check_shape(document, document["components"]["schemas"]["Health"], health)
    assert health["status"] == "failing" and not health["store"] and health["database"]
    assert health["reason"].startswith("results cannot be stored: ")
    assert str(server.database) not in health["reason"]
    assert b"\nhill_store_trouble 1\n" in web.ask("/metrics")[2]
    # No result yet, and the link is alive.
    peer.say("@ping x")
    while (line := peer.line()) != "@pong x":
        assert not line.startswith(("@result", "@place"))
    empty_disk(server)
    peer.expect(f"@result {match} ")
    other.expect("@match ")
    wait_stored(server, match)
    wait_until("health tells", lambda: web.ask(f"{API}/health")[0] == 200, server.process)
    health = web.get("/health")
    assert (health["status"], health["reason"], health["store"]) == ("ok", None, True)
    assert b"\nhill_store_trouble 0\n" in web.ask("/metrics")[2]
    assert server.stop() == 0
    assert server.logged("event=ended status=ok")
    check_whole(server.database)


def test_bc70_a_stop_that_drops_results_says_so(start_hilld):
    server = start_hilld()
    add_rabbits(server, turn_ms=60000)
    peers = [server.peer().login(name, server.add_bot(name)) for name in ("crazy", "lazy")]
    matches = [peer.ready("rabbits") for peer in peers]
    fill_disk(server)
    for peer, match in zip(peers, matches):
        for _ in range(3):
            peer.expect("rabbits ")
            peer.say("move")
        peer.expect(f"@end {match} ")
    wait_until("the server knows", lambda: server.logged("event=store_trouble"), server.process)
    assert server.stop(signal.SIGTERM, signal.SIGTERM) == 3
    assert server.logged("event=results_lost count=2 .*nobody was told")
    assert server.logged("event=ended status=results_lost")
    # What was not told is not there either.
    assert rows(server, "SELECT count(*) FROM match") == [(0,)]
    check_whole(server.database)


def own_disk(folder):
    """For a process that is about to become hilld: FOLDER is a disk of 2 MB."""
    libc = ctypes.CDLL(None, use_errno=True)
    uid, gid = os.getuid(), os.getgid()
    if libc.unshare(CLONE_NEWNS | (CLONE_NEWUSER if uid else 0)) < 0:
        raise OSError(ctypes.get_errno(), "unshare")
    if uid:
        pathlib.Path("/proc/self/setgroups").write_text("deny")
        pathlib.Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1")
        pathlib.Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1")
    if libc.mount(None, b"/", None, MS_REC | MS_PRIVATE, None) < 0 or \
            libc.mount(b"none", os.fsencode(folder), b"tmpfs", 0,
                       b"size=2m") < 0:
        raise OSError(ctypes.get_errno(), "mount")


def test_bc70_a_small_disk_is_played_full_and_freed(start_hilld, tmp_path):
    # As the one above, but on a real file system without room; where no
    # namespace can be made, that one has to do.
    disk = tmp_path / "disk"
    disk.mkdir()
    try:
        server = start_hilld(database=disk / "hill.db",
                             limits=lambda: own_disk(disk))
    except subprocess.SubprocessError as why:
        pytest.skip(f"no mount namespace: {why}")
    seen = pathlib.Path(f"/proc/{server.process.pid}/root{disk}")
    assert (seen / "hill.db").exists() and not (disk / "hill.db").exists()
    add_rabbits(server, turn_ms=60000)
    peer = server.peer().login("crazy", server.add_bot("crazy"))
    room = os.statvfs(seen)
    # A file of somebody else leaves it a hundred KB.
    filler = seen / "filler"
    filler.write_bytes(bytes(room.f_bavail * room.f_frsize - 100_000))
    def stored():
        return server.admin("status")["status"]["matches"]

    def is_troubled():
        return server.admin("status")["server"]["store_trouble"]

    played = 0
    peer.say("@play rabbits")
    while not is_troubled():
        match = peer.ready()
        peer.say("move", "move", "move")
        peer.expect(f"@end {match} ")
        played += 1
        assert played < 500
        wait_until("stored, or in trouble",
                   lambda: stored() == played or is_troubled(), server.process)
    assert server.logged("event=store_trouble waiting=.* reason=.*full")
    assert stored() == played - 1 > 0
    # What is offered before it is known is not begun, or waits as well.
    filler.unlink()
    peer.expect(f"@result {match} ")
    assert stored() == played
    # Out of its namespace, where no library would find it.
    for file in seen.glob("hill.db*"):
        shutil.copy(file, tmp_path / file.name)
    check_whole(tmp_path / "hill.db")


def test_bc73_replays_are_the_same_wherever_memory_lies(played):
    # Compilers and their options: each build verifies the golden games.
    newest = [played.json("match", "list", "--ladder", ladder, "--limit", 1)
              ["matches"][0]["id"] for ladder in ("rabbits", "battle", "mine")]
    for match in newest:
        command = [HILLCTL, "--database", played.database, "replay",
                   str(match)]
        plain = subprocess.run(command, capture_output=True, check=True)
        for number in range(20):
            fixed = ["setarch", "-R"] if number % 2 else []
            if fixed and subprocess.run([*fixed, "true"], check=False,
                                        capture_output=True).returncode != 0:
                continue
            done = subprocess.run([*fixed, *command], capture_output=True,
                                  check=True)
            assert done.stdout == plain.stdout


def test_bc73_the_same_answers_make_the_same_game(hilld):
    records = []
    for number in range(3):
        add_battle(hilld, f"battle-{number}", seats=2, seeds="42..42",
                   maxturns=100, rated=False)
    tokens = {name: hilld.add_bot(name) for name in ("abc", "def")}
    for number in range(3):
        peers = [hilld.peer().login(name, token)
                 for name, token in tokens.items()]
        fighters = sorted(start_battle(peers, f"battle-{number}"),
                          key=lambda fighter: fighter.seat)
        play_battle(fighters, 6)
        for fighter in fighters:
            fighter.peer.say("@leave")
            fighter.peer.expect(f"@result {fighter.match} ")
        records.append(record_of(hilld, fighters[0].match))
    # Who answers first may differ where nobody waits; here all are asked in
    # turn, so that even the order of the answers is the same.
    assert records[0] == records[1] == records[2]


def test_bc75_rabbits_that_meet_are_replayed_alike(hilld):
    records = []
    token = hilld.add_bot("crazy")
    for number in range(3):
        if number == 0:
            add_rabbits(hilld, "rabbits-0", 6, MEETING, turn_ms=20000,
                        seeds="5..5", bot_seed="match")
        else:
            hilld.admin("ladder add", name=f"rabbits-{number}",
                        game="rabbit-runner", maps=["rabbits-0.map"],
                        params="turns=6", turn_ms=20000, seeds="5..5",
                        bot_seed="match")
        peer = hilld.peer().login("crazy", token)
        match = peer.ready(f"rabbits-{number}")
        for turn, (move, *lines) in enumerate(MEETINGS):
            assert [peer.line() for _ in range(3)] == [
                f"turnsleft {len(MEETINGS) - turn}", *lines]
            peer.say(move)
        peer.expect(f"@result {match} ")
        records.append(record_of(hilld, match))
    assert records[0] == records[1] == records[2]
    done = hillctl(hilld.database, "verify", "--all", "--socket",
                   f"{hilld.short}/sock")
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_result_is_told_to_every_seat_and_equals_its_row(hilld):
    add_battle(hilld, seats=3, maxturns=5)
    fighters = start_battle([hilld.peer().login(name, hilld.add_bot(name))
                             for name in ("one", "two-", "three")])
    for number, fighter in enumerate(fighters, 1):
        cells = " ".join(fighter.pixel() for _ in range(number))
        fighter.peer.say("@leave", cells, "")
    places = set()
    for fighter in fighters:
        fighter.peer.expect(f"@end {fighter.match} ")
        places.add(tuple(fighter.peer.line() for _ in fighters))
        assert fighter.peer.line().startswith(f"@result {fighter.match} ")
    [told] = places  # all hear the same
    for seat, (row, line) in enumerate(zip(
            seats_of(hilld, fighters[0].match), told), 1):
        words = dict(word.split("=") for word in line.split()[2:])
        assert words["seat"] == str(seat)
        assert words["bot"] == row["bot"]
        assert words["rank"] == str(row["rank"])
        assert float(words["score"]) == pytest.approx(row["score"], abs=1e-9)
    shown = hillctl(hilld.database, "match", "show", fighters[0].match,
                    "--json", "--socket", f"{hilld.short}/sock")
    assert shown.returncode == 0, shown.stderr
    assert json.dumps(json.loads(shown.stdout)).count('"bot"') >= 3
