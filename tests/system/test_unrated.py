# SPDX-License-Identifier: MIT
"""Unrated play and guests, over real sockets."""
import re
import socket
import subprocess
import sys
import threading
import time

import pytest

from arena import Fighter, add_battle, add_mine, add_rabbits, rows
from conftest import BUILD, TOP, wait_until


def hillctl(server, *words):
    done = subprocess.run([BUILD / "clients/ctl/hillctl", "--database", server.database, "--socket",
                           f"{server.short}/sock", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def guested(start_hilld):
    return start_hilld("--set", "guests=on")


def guest(server, name="ada"):
    peer = server.peer()
    peer.say(f"@guest {name}")
    peer.expect(f"@welcome guest:{name}")
    return peer


def refused(peer, line, code):
    peer.say(line)
    assert peer.line().startswith(f"@error {code} ")


def test_a_person_plays_by_hand_in_netcat(guested):
    add_rabbits(guested, "rabbit-runner", turns=2, turn_ms=100)
    nc = subprocess.Popen(["nc", "127.0.0.1", str(guested.port)], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True, bufsize=1)

    def expect(start):
        seen = ""
        while not seen.startswith(start):
            seen = nc.stdout.readline()
            assert seen, start
        return seen

    def say(line):
        nc.stdin.write(line + "\n")

    try:
        expect("@hill 1 ")
        say("@guest ada")
        expect("@welcome guest:ada")
        say("@play rabbit-runner unrated turn-ms=60000 matches=1")
        expect("@queued rabbit-runner waiting=1 unrated=asked")
        match = expect("@match ")
        assert " turn-ms=60000 " in match and " rated=0" in match
        number = match.split()[1]
        say(f"@ready {number}")
        for move in ("move 1,1 to 2,1", "move 2,1 to 3,1"):
            expect("rabbits ")
            time.sleep(2.5)  # longer than the ladder and its first turn give
            say(move)
        assert " reason=finished" in expect(f"@end {number}")
        expect(f"@place {number} seat=1 bot=guest:ada score=0 rank=1")
        assert " late=0 " in expect(f"@result {number}")
        expect("@left rabbit-runner")
    finally:
        nc.kill()
        nc.wait()
    assert rows(guested, "SELECT m.purpose, m.is_rated, m.turn_ms, s.guest FROM match m "
                "JOIN seat s ON s.match_id = m.id") == [("unrated", 0, 60000, "ada")]
    assert "guest:ada" in hillctl(guested, "match", "show", number)
    assert "guest:" not in hillctl(guested, "bot", "list")
    assert "guest:" not in hillctl(guested, "owner", "list")


def test_a_guest_plays_a_house_bot_in_image_battle(guested):
    add_battle(guested, "image-battle", seats=2, maxturns=3, rated=True)
    token = guested.add_bot("house-image", owner="house")
    hillctl(guested, "owner", "house", "house")
    house = Fighter(guested.peer().login("house-image", token))
    house.peer.say("@play image-battle")
    ada = Fighter(guest(guested))
    ada.peer.say("@play image-battle unrated against=house-image turn-ms=600000 matches=1")
    for fighter in (ada, house):
        match = fighter.peer.expect("@match ")
        assert " turn-ms=600000 " in match and " rated=0" in match
        fighter.peer.say("@ready " + match.split()[1])
    ada.peer.say("@resign " + match.split()[1])
    house.peer.say("@resign " + match.split()[1])
    places = [ada.peer.expect("@place ") for _ in range(2)]
    assert ["guest:ada" in place for place in places] == [True, False]
    assert "bot=house-image " in places[1]
    ada.peer.expect("@left image-battle")
    listed = hillctl(guested, "match", "list")
    assert "guest:ada" in listed and "house-image" in listed
    assert rows(guested, "SELECT count(*) FROM rating") == [(0,)]


def test_refusals_are_told_by_name(guested):
    add_rabbits(guested, "contest", seeds="100..199")
    add_mine(guested)
    add_battle(guested, "battle", seats=2)
    guested.add_map("secret.map", "lambda-mining", b"#####\n#R \\L\n#####\n", visibility="hidden")
    crazy = guested.peer().login("crazy", guested.add_bot("crazy"))
    refused(crazy, "@play mine unrated map=secret.map", "unknown-map")
    refused(crazy, "@play mine unrated map=none.map", "unknown-map")
    refused(crazy, "@play contest unrated seed=150", "contest-seed")
    refused(crazy, "@play battle unrated against=nobody-there", "unknown-opponent")
    refused(crazy, "@play mine unrated turn-ms=600001", "bad-arguments")
    ada = guest(guested)
    refused(ada, "@play mine", "guest-unrated")
    refused(ada, "@rotate", "guest-unrated")


def test_a_guest_plays_where_maps_are_drawn(guested):
    hillctl(guested, "ladder", "add", "mine", "--game", "lambda-mining", "--generate", "small")
    ada = guest(guested)
    ada.say("@play mine unrated matches=2")
    for _ in range(2):
        match = ada.expect("@match ")
        assert " rated=0" in match
        ada.say("@ready " + match.split()[1])
        ada.expect("@input ")
        ada.say("A")
        ada.expect("@result " + match.split()[1])
    ada.expect("@left mine")
    # Each had a map of its own, and it is no secret any more.
    played = rows(guested, "SELECT DISTINCT p.id, p.visibility FROM match m JOIN instance i ON "
                  "i.id = m.instance_id JOIN map p ON p.id = i.map_id WHERE m.purpose = 'unrated'")
    assert [seen for _, seen in played] == ["public"] * 2
    # The next one, which a worker draws, is for what counts.
    wait_until("a map is drawn", lambda: rows(
        guested, "SELECT count(*) FROM map WHERE visibility = 'hidden'") == [(1,)], guested.process)
    refused(ada, "@play mine unrated map=none.map", "unknown-map")


def test_an_open_round_is_not_shown(guested):
    add_mine(guested, rated=True)
    crazy = guested.peer().login("crazy", guested.add_bot("crazy"))
    crazy.say("@play mine")
    number = crazy.expect("@match ").split()[1]
    crazy.say(f"@ready {number}", f"@resign {number}")
    crazy.expect(f"@result {number}")
    (seed,), = rows(guested, "SELECT i.seed FROM match m JOIN instance i "
                    f"ON i.id = m.instance_id WHERE m.id = {number}")
    refused(guest(guested), f"@play mine unrated seed={seed}", "open-instance")


def test_matches_end_by_themselves(guested):
    add_mine(guested)
    ada = guest(guested)
    ada.say("@play mine unrated matches=3")
    for _ in range(3):
        number = ada.expect("@match ").split()[1]
        ada.say(f"@ready {number}", f"@resign {number}")
    ada.expect("@left mine")
    ada.say("@ping")
    assert ada.line() == "@pong"
    assert rows(guested, "SELECT count(*) FROM match") == [(3,)]


def test_guests_are_off_unless_the_host_has_them(hilld):
    peer = hilld.peer()
    peer.say("@guest ada")
    peer.expect("@error guests-off ")
    assert peer.line() is None


def test_guests_of_one_address_are_few(start_hilld):
    server = start_hilld("--set", "guests=on", "--set", "guests-per-address=2")
    first, second = guest(server, "ada"), guest(server, "bob")
    third = server.peer()
    third.say("@guest eve")
    third.expect("@error address-limit retry-after=")
    assert third.line() is None
    first.say("@quit")
    assert first.line() is None
    guest(server, "eve")
    second.socket.shutdown(socket.SHUT_RDWR)


BRIDGES = {
    "c": [BUILD / "clients/bridge/hill-bridge"],
    "python": [sys.executable, TOP / "clients/bridge/hill_bridge.py"],
}


def run_bridge(kind, server, folder, play):
    token = folder / "crazy.token"
    token.write_text(server.add_bot("crazy") + "\n")
    token.chmod(0o600)
    return subprocess.run([*BRIDGES[kind], "--server", f"127.0.0.1:{server.port}", "--bot", "crazy",
                           "--token-file", token, "--no-log", "--play", play, "--",
                           "sh", "-c", "cat >/dev/null; echo A"],
                          capture_output=True, text=True, timeout=60, check=False, cwd=folder)


@pytest.mark.parametrize("kind", BRIDGES)
def test_a_bridge_plays_unrated_and_ends(hilld, tmp_path, kind):
    add_mine(hilld, rated=True)
    done = run_bridge(kind, hilld, tmp_path, "mine unrated map=mine.map seed=5 matches=2")
    assert done.returncode == 0, done.stderr
    assert rows(hilld, "SELECT m.purpose, i.seed FROM match m JOIN instance i "
                "ON i.id = m.instance_id") == [("unrated", 5)] * 2


@pytest.mark.parametrize("kind", BRIDGES)
def test_a_bridge_ends_where_the_wish_is_refused(hilld, tmp_path, kind):
    add_mine(hilld)
    done = run_bridge(kind, hilld, tmp_path, "mine unrated map=other.map")
    assert done.returncode == 1
    assert "unknown-map" in done.stderr


def keep_playing(peer, reply, heard):
    """Answer each match on PEER with REPLY; what it is told goes to HEARD."""
    try:
        while (line := peer.line()) is not None:
            if line.startswith("@match "):
                peer.say("@ready " + line.split()[1])
            elif line.startswith("@start "):
                peer.say(reply)
            elif line.startswith("@notice "):
                heard.append(line)
    except (OSError, ValueError):
        pass  # the test is over


def test_a_candidate_is_compared_with_its_predecessor(hilld):
    add_mine(hilld, rated=True)
    token = hilld.add_bot("crazy")
    old, new = hilld.peer().login("crazy", token), hilld.peer()
    new.say(f"@login crazy {token} version=v2 candidate=1")
    new.expect("@welcome crazy version=v2")
    heard, silent = [], []
    players = [threading.Thread(target=keep_playing, args=args, daemon=True)
               for args in ((old, "A", silent), (new, "RR", heard))]
    for player in players:
        player.start()
    old.say("@play mine")
    new.say("@play mine")
    wait_until("two duels", lambda: len(heard) >= 2)
    assert re.fullmatch(r"@notice : mine: version v2 against 1: \+\d+ points a match, "
                        r"no interval yet, 1 instance", heard[0])
    assert " 95 % interval " in heard[1] and heard[1].endswith(", 2 instances")
    assert silent == []
    pairs = rows(hilld, "SELECT m.instance_id, group_concat(v.label) FROM match m JOIN seat s "
                 "ON s.match_id = m.id JOIN bot_version v ON v.id = s.bot_version_id "
                 "WHERE m.purpose = 'candidate' GROUP BY m.instance_id ORDER BY min(m.id)")
    assert [labels for _, labels in pairs[:2]] == ["v2,1", "v2,1"]
    table = hillctl(hilld, "bot", "candidate", "crazy").splitlines()
    assert re.match(r"mine +v2 +1 +[2-9]\d* +[1-9]", table[-1])
    hilld.stop()
    for player in players:
        player.join(20)
