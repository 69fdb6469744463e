# SPDX-License-Identifier: MIT
"""Links to a real hilld that break, stall and come back, and bridges on them."""
import json
import os
import random
import re
import resource
import signal
import socket
import struct
import time

import pytest

from arena import (IS_SANITIZED, Fighter, Painting, Stopwatch, add_battle,
                   add_mine, add_rabbits, check_calm, cpu_seconds, rows,
                   seats_of, slack_ms, start_battle, wait_stored)
from bridges import script
from conftest import Peer, wait_until
from lines import FarPeer, Proxy
from memory import Peak
from season import IS_LONG, PYTHON, Bridge, check_whole, hillctl
from test_kill import programs_of

# A battle's program: paints its column downwards; FIRST is run at first.
PAINTER = """
import sys
column = {{"255": 3, "0": 7}}[sys.argv[2].strip("()").split(",")[0]]
row = 3
{first}
for line in sys.stdin:
    if line.startswith("exit"):
        break
    if line.startswith("pick"):
        row += 1
        {reply}
"""
PAINT = 'print(f"{column},{row}", flush=True)'


def reset(peer):
    """End PEER's link by a RST."""
    peer.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                           struct.pack("ii", 1, 0))
    peer.close()


@pytest.fixture
def bridge(tmp_path):
    """start(server, bot, token, ladder, program words...): a Bridge."""
    started = []

    def start(server, bot, token, ladder, *program, options=()):
        started.append(Bridge(server, tmp_path / f"bridge-{len(started)}",
                              bot, token, [ladder], program, options))
        return started[-1]

    yield start
    for one in started:
        one.stop()


# ---- links that end ----

def test_bc31_a_silent_link_is_given_up_when_its_match_is_over(hilld):
    # The host at the other end has gone without a word: for the server that
    # is a bot which thinks.
    add_battle(hilld, turn_ms=150)
    token = hilld.admin("bot add", name="crazy", owner="one",
                        max_connections=1)["token"]
    start_battle([hilld.peer().login("crazy", token)])
    refused = hilld.peer()
    refused.say(f"@login crazy {token}")
    assert "@error bot-busy retry-after=" in refused.rest()[-1]
    hilld.peers[0].say("@leave")
    watch = Stopwatch()

    def comes_in():
        peer = Peer(hilld.port)
        peer.expect("@hill ")
        peer.say(f"@login crazy {token}")
        answer = peer.line()
        peer.close()
        return answer == "@welcome crazy"
    wait_until("the name is free again", comes_in, hilld.process)
    assert watch.ms() < 5 * 2 * 150 + 1000
    assert hilld.peers[0].rest()[-1].startswith("@error evicted")


@pytest.mark.parametrize("how", ["reset", "close", "quit"])
def test_bc34_a_lost_link_is_stored_as_gone(hilld, how):
    add_battle(hilld, seats=2)
    lost, left = start_battle([hilld.peer().login(name, hilld.add_bot(name))
                               for name in ("lost", "left")])
    if how == "reset":
        reset(lost.peer)
    elif how == "close":
        lost.peer.close()
    else:
        lost.peer.say("@quit")
    left.peer.say(left.pixel(), "")
    left.peer.expect(f"@result {left.match} ")
    found = {seat["bot"]: seat for seat in seats_of(hilld, left.match)}
    assert found["lost"]["reason"] == "gone"
    assert found["lost"]["how"] in ("link", "eof", "quit")
    assert (found["lost"]["rank"], found["left"]["rank"]) == (2, 1)


def test_bc35_who_comes_back_gets_a_new_match_and_not_the_rest(hilld):
    add_battle(hilld, turn_ms=3000)
    token = hilld.add_bot("crazy")
    [fighter] = start_battle([hilld.peer().login("crazy", token)])
    fighter.picked()
    reset(fighter.peer)
    [again] = start_battle([hilld.peer().login("crazy", token)])
    assert again.match != fighter.match
    again.picked()
    time.sleep(1)  # all of its time is there
    again.peer.say(again.pixel())
    again.peer.expect("colour ")
    assert seats_of(hilld, fighter.match)[0]["reason"] == "gone"


def test_bc40_links_reset_together_in_every_phase(hilld):
    add_battle(hilld, seats=2, turn_ms=5000, maxturns=3)
    tokens = {name: hilld.admin("bot add", name=name, owner=name,
                                max_connections=50)["token"]
              for name in ("left", "right")}
    started, ready = [], []
    phases = ["connect", "login", "play", "offered", "ready", "start",
              "turn", "end"]
    draw = random.Random(40)
    for number in range(2000 if IS_LONG else 80):
        phase = phases[number % len(phases)]
        peers = [hilld.peer() for _ in tokens]
        if phase != "connect":
            for peer, (name, token) in zip(peers, tokens.items()):
                peer.say(f"@login {name} {token}")
                if phase != "login":
                    peer.say("@play battle")
        if phase in phases[3:]:
            fighters = [Fighter(peer).offered() for peer in peers]
            fighters[0].ready()
            if phase != "offered":
                fighters[1].ready()
                ready.append(fighters[0].match)
        if phase in phases[5:]:
            started.append(fighters[0].match)
            for fighter in fighters:
                fighter.started()
                if phase == "turn":
                    fighter.peer.say(fighter.pixel())
                elif phase == "end":
                    fighter.peer.say("", "")
        draw.shuffle(peers)
        for peer in peers:
            reset(peer)
        hilld.peers.clear()
        wait_until("both are gone", lambda: hilld.admin(
            "status")["server"]["logged_in"] == 0, hilld.process)
    wait_until("all matches are over", lambda: hilld.admin(
        "status")["server"]["matches"] == 0, hilld.process)
    for match in started:
        assert wait_stored(hilld, match)[0] == "stored"
    # Those that were ready and gone may have begun: all else was no match.
    ids = {row[0] for row in rows(hilld, "SELECT id FROM match")}
    assert set(started) <= ids <= set(started + ready)
    check_whole(hilld.database)


def test_bc49_a_match_that_was_broken_off_is_played_once_more(hilld):
    add_battle(hilld, seats=2, turn_ms=5000, maxturns=2)
    tokens = {name: hilld.add_bot(name) for name in ("stays", "breaks")}
    stays = hilld.peer().login("stays", tokens["stays"])
    stays.say("@play battle")
    started = []
    for _ in range(200 if IS_LONG else 15):
        breaks = hilld.peer().login("breaks", tokens["breaks"])
        breaks.say("@play battle")
        fighters = [Fighter(peer).offered() for peer in (stays, breaks)]
        fighters[0].ready()
        reset(breaks)  # while the other has promised to play
        stays.expect(f"@cancel {fighters[0].match} reason=")
        # Again, while the old link is closing.
        breaks = hilld.peer().login("breaks", tokens["breaks"])
        breaks.say("@play battle")
        again = [Fighter(peer).offered() for peer in (stays, breaks)]
        for fighter in again:
            fighter.ready()
        started.append(again[0].match)
        for fighter in again:
            fighter.started().peer.say(fighter.pixel(), "")
        breaks.say("@leave")
        breaks.expect("@left")
        for fighter in again:
            fighter.peer.expect(f"@result {fighter.match} ")
        breaks.close()
    assert [row[0] for row in rows(
        hilld, "SELECT id FROM match ORDER BY id")] == started


# ---- links that stall, and too many of them ----

PING = b"@ping " + b"x" * 4000 + b"\n"


def flood(link, data):
    """Send DATA again and again until the server has ended LINK; it does."""
    sent = 0
    link.settimeout(10)
    # A time-out would be an OSError as well: that is none of these.
    with pytest.raises((BrokenPipeError, ConnectionResetError)):
        while sent < 200 << 20:
            link.sendall(data)
            sent += len(data)


def test_bc38_a_peer_that_does_not_read_is_dropped_at_its_bound(hilld):
    add_battle(hilld, turn_ms=20000)
    token = hilld.add_bot("crazy")
    [player] = start_battle([hilld.peer().login("crazy", token)])
    player.paint()
    peak = Peak(hilld.process)
    deaf = socket.socket()
    deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    deaf.connect(("127.0.0.1", hilld.port))
    deaf.sendall(f"@login crazy {token}\n".encode())
    flood(deaf, PING * 16)
    deaf.close()
    assert peak.growth_kib() < (32768 if IS_SANITIZED else 4096)
    player.paint()


def test_bc38_a_player_that_does_not_read_is_dropped_and_not_felt(hilld):
    add_battle(hilld, seats=2, turn_ms=20000, maxturns=100000,
               size=(20, 1000))
    link = socket.socket()
    link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    link.connect(("127.0.0.1", hilld.port))
    hilld.peers.append(FarPeer(link))
    deaf, awake = start_battle(
        [peer.login(name, hilld.add_bot(name)) for name, peer in
         (("deaf", hilld.peers[0]), ("awake", hilld.peer()))])
    peak = Peak(hilld.process)
    with Painting(awake) as painting:
        # It answers as well, so the turns go on beside it; what it has said
        # counts when it is gone, too: 16 lines ahead at most.
        flood(link, deaf.pixel().encode() + b"\n" + PING * 16)
        turns = len(painting.seconds)
        wait_until("the battle goes on without it", lambda: painting.failure or
                   len(painting.seconds) > turns + 30)
    assert peak.growth_kib() < (32768 if IS_SANITIZED else 8192)
    check_calm(painting, hilld)
    found = {seat["bot"]: seat for seat in seats_of(hilld, awake.match)}
    assert (found["deaf"]["reason"], found["deaf"]["how"]) == ("gone", "link")


def test_bc42_without_descriptors_the_server_is_calm(start_hilld):
    def limit():
        resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))

    server = start_hilld("--set", "login-seconds=60", limits=limit)
    add_battle(server, turn_ms=5000, maxturns=100000, size=(20, 900))
    token = server.add_bot("crazy")
    [player] = start_battle([server.peer().login("crazy", token)])
    crowd = [socket.create_connection(("127.0.0.1", server.port))
             for _ in range(200)]
    wait_until("the listener rests",
               lambda: server.logged("event=accept_rests"), server.process)
    seconds = 30 if IS_LONG else 4
    cpu, lines = cpu_seconds(server.process), server.log.read_text()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        player.paint()
        time.sleep(0.05)
    assert cpu_seconds(server.process) - cpu < 0.2 * seconds
    more = server.log.read_text()[len(lines):]
    # Who is refused for lack of room takes a place for 2 s, and a line is told
    # of all of them, and one of the rest.
    assert more.count("\n") <= seconds + 3
    for other in crowd:
        other.close()

    def logs_in():
        peer = Peer(server.port)
        try:
            peer.say(f"@login crazy {token}")
            return (peer.line() or "").startswith("@hill") and \
                (peer.line() or "").startswith("@welcome")
        except OSError:
            return False
        finally:
            peer.close()
    wait_until("room again", logs_in, server.process)
    player.peer.say("@leave", f"@resign {player.match}")
    player.peer.expect(f"@result {player.match} ")
    [seat] = seats_of(server, player.match)
    assert seat["late"] == 0
    assert seat["max_us"] < 1_000_000 + slack_ms() * 1000


# ---- bridges ----

def test_bc04_the_other_program_of_a_bridge_plays_on(hilld, bridge, tmp_path):
    add_battle(hilld, turn_ms=5000, maxturns=15)
    token = hilld.admin("bot add", name="crazy", owner="one",
                        max_connections=2)["token"]
    bot = script(tmp_path, PAINTER.format(
        first="import time", reply="time.sleep(0.1); " + PAINT), "bot.py")
    one = bridge(hilld, "crazy", token, "battle", PYTHON, bot,
                 options=("--slots", "2", "--matches", "3"))
    both = wait_until("both play", lambda: len(programs_of(bot)) == 2 and
                      programs_of(bot), one.process)
    os.kill(both[0], signal.SIGKILL)
    # It has a match more, in that one's place.
    assert one.wait(60) == 0, one.err()
    found = [seats_of(hilld, match)[0] for match, *_ in one.results()]
    assert sorted((seat["reason"], seat["how"]) for seat in found
                  if seat["reason"] != "finished") == [("gone", "signal=9")]
    whole = [seat for seat in found if seat["reason"] == "finished"]
    assert [(seat["requests"], seat["late"], seat["invalid"])
            for seat in whole] == [(15, 0, 0)] * 2
    assert hilld.log.read_text().count(" event=login") == 2


def test_bc05_a_program_that_dies_while_it_thinks_ends_its_match(
        hilld, bridge, tmp_path):
    add_mine(hilld, original=True)
    bot = script(tmp_path, "import sys, time\nsys.stdin.read()\n"
                 "time.sleep(1)\nsys.exit(1)\n", "dies.py")
    one = bridge(hilld, "crazy", hilld.add_bot("crazy"), "mine", PYTHON, bot,
                 options=("--matches", "1"))
    assert one.wait(30) == 0
    [[match, reason]] = [(row[0], row[4]) for row in one.results()]
    assert reason == "gone"
    [seat] = seats_of(hilld, match)
    assert (seat["reason"], seat["how"]) == ("gone", "exit=1")
    [[took_us]] = rows(hilld, "SELECT ended_us - started_us FROM match")
    assert took_us < 3_000_000 + slack_ms() * 1000


def test_bc31_a_silent_link_of_a_bridge_does_not_keep_its_name(
        start_hilld, bridge, tmp_path):
    config = tmp_path / "hilld.json"
    config.write_text('{"retry-after-seconds": 1}')
    hilld = start_hilld("--config", config)
    # The first bridge's network swallows everything, both ways.
    add_battle(hilld, turn_ms=150, ready_ms=2000)
    token = hilld.admin("bot add", name="crazy", owner="one",
                        max_connections=1)["token"]
    bot = script(tmp_path, PAINTER.format(
        first="", reply="import time; time.sleep(0.05); " + PAINT), "bot.py")
    proxy = Proxy(hilld.port)
    first = bridge(proxy, "crazy", token, "battle", PYTHON, bot)
    wait_until("it plays", lambda: programs_of(bot), first.process)
    assert proxy.tell("silence") == "ok 1"
    watch = Stopwatch()
    second = bridge(hilld, "crazy", token, "battle", PYTHON, bot)
    wait_until("the other bridge plays",
               lambda: len(re.findall("event=login", hilld.log.read_text()))
               == 2, second.process)
    # Five turns without an answer end its match, an offer that it does not
    # take up the next; then it is in the way.
    assert watch.ms() < 30_000
    first.process.kill()
    first.process.wait()
    proxy.stop()


def test_bc35_a_bridge_comes_back_to_a_whole_turn_and_leaves_no_program(
        hilld, bridge, tmp_path):
    add_battle(hilld, turn_ms=3000, maxturns=5000, size=(20, 900))
    bot = script(tmp_path, PAINTER.format(
        first="", reply="import time; time.sleep(0.2); " + PAINT), "bot.py")
    proxy = Proxy(hilld.port)
    one = bridge(proxy, "crazy", hilld.add_bot("crazy"), "battle", PYTHON,
                 bot)
    wait_until("it plays", lambda: programs_of(bot), one.process)
    [first] = programs_of(bot)
    time.sleep(0.3)  # it is its turn
    assert proxy.tell("reset") == "ok 1"
    wait_until("its program is gone", lambda: first not in programs_of(bot),
               one.process)
    wait_until("it plays again", lambda: programs_of(bot), one.process)
    time.sleep(1)
    assert len(programs_of(bot)) == 1
    [[status, reason, how]] = rows(
        hilld, "SELECT status, reason, how FROM match JOIN seat ON "
        "match_id = id")
    assert (status, reason) == ("stored", "gone")
    assert how == "link"
    # Nobody was late: each request had its whole time.
    assert "late" not in one.out() + one.err()
    one.stop()
    assert not programs_of(bot)
    proxy.stop()


def test_bc34_a_killed_server_is_no_end_of_a_match(start_hilld, bridge,
                                                   tmp_path):
    server = start_hilld()
    add_battle(server)
    bot = script(tmp_path, PAINTER.format(
        first="import os, time", reply="time.sleep(60)"), "thinks.py")
    one = bridge(server, "crazy", server.add_bot("crazy"), "battle", PYTHON,
                 bot)
    wait_until("it plays", lambda: programs_of(bot), one.process)
    server.stop(signal.SIGKILL)
    wait_until("its program is gone", lambda: not programs_of(bot),
               one.process)
    wait_until("it says so", lambda: "is lost" in one.err(), one.process)
    assert one.results() == []


def test_bc37_a_suspended_program_is_told_and_reaped_at_once(
        hilld, bridge, tmp_path):
    add_battle(hilld, seats=2, turn_ms=400, maxturns=5000,
               size=(20, 900))
    bot = script(tmp_path, PAINTER.format(
        first="import time", reply="time.sleep(10)"), "sleeps.py")
    one = bridge(hilld, "sleeps", hilld.add_bot("sleeps"), "battle", PYTHON,
                 bot, options=("--matches", "1"))
    peer = hilld.peer().login("awake", hilld.add_bot("awake"))
    [awake] = start_battle([peer])
    was_there, turns = False, 0

    def is_reaped():  # while the battle goes on
        nonlocal was_there, turns
        awake.paint()
        turns += 1
        was_there = was_there or programs_of(bot) != []
        return turns > 10 and was_there and not programs_of(bot)
    wait_until("it is reaped", is_reaped)
    assert turns < 700
    for _ in range(100):
        awake.paint()
    awake.peer.say("@leave", f"@resign {awake.match}")
    awake.peer.expect(f"@result {awake.match} ")
    found = {seat["bot"]: seat for seat in seats_of(hilld, awake.match)}
    assert found["sleeps"]["reason"] == "suspended"
    assert one.wait(20) == 0


def test_bc41_an_endless_answer_costs_one_turn(hilld, bridge, tmp_path):
    add_battle(hilld, seats=2, maxturns=5)
    bot = script(tmp_path, PAINTER.format(first="", reply=(
        'print("1,1 " * 500000 if row == 4 else f"{column},{row - 1}", '
        'flush=True)')), "talks.py")
    one = bridge(hilld, "talks", hilld.add_bot("talks"), "battle", PYTHON,
                 bot, options=("--matches", "1"))
    peer = hilld.peer().login("calm", hilld.add_bot("calm"))
    [calm] = start_battle([peer])
    calm.peer.say("@leave", *(calm.pixel() for _ in range(5)))
    calm.peer.expect(f"@result {calm.match} ")
    found = {seat["bot"]: seat for seat in seats_of(hilld, calm.match)}
    assert found["talks"]["overlong"] == 1
    assert found["talks"]["invalid"] == found["talks"]["late"] == 0
    assert found["talks"]["requests"] == 5
    assert one.wait(20) == 0


def test_a_flood_and_then_a_second_match_on_the_same_link(
        hilld, bridge, tmp_path):
    add_battle(hilld, seats=2, maxturns=10)
    flag = tmp_path / "flooded"
    bot = script(tmp_path, PAINTER.format(first=f"""
import pathlib
if not pathlib.Path({str(flag)!r}).exists():
    pathlib.Path({str(flag)!r}).touch()
    while True:
        print("99,99\\n" * 1000, flush=True)
""", reply=PAINT), "floods.py")
    one = bridge(hilld, "floods", hilld.add_bot("floods"), "battle", PYTHON,
                 bot, options=("--matches", "2"))
    peer = hilld.peer().login("calm", hilld.add_bot("calm"))
    peer.say("@play battle")
    matches = []
    for _ in range(2):
        calm = Fighter(peer).offered()
        calm.ready()
        calm.started().peer.say(*(calm.pixel() for _ in range(10)))
        matches.append(calm.match)
        peer.expect(f"@end {calm.match} ")
    assert one.wait(30) == 0
    first, second = ({seat["bot"]: seat for seat in seats_of(hilld, match)}
                     for match in matches)
    assert first["floods"]["invalid"] == first["floods"]["requests"] == 10
    assert second["floods"]["invalid"] == second["floods"]["late"] == 0
    assert second["floods"]["requests"] == 10
    for name in ("floods", "calm"):
        assert second[name]["rank"] == 1
    assert "event=login" in hilld.log.read_text()
    assert hilld.log.read_text().count("bot=floods event=login") == 1


def test_bc51_nobody_wins_when_no_program_starts(hilld, bridge, tmp_path):
    add_battle(hilld, seats=2)
    # Found and executable, but its interpreter is not there.
    broken = script(tmp_path, "#!/no/such/interpreter\n", "broken")
    broken.chmod(0o755)
    both = [bridge(hilld, name, hilld.add_bot(name), "battle",
                   broken, options=("--matches", "1"))
            for name in ("first", "second")]
    for one in both:
        assert one.wait(30) == 0
    found = seats_of(hilld, both[0].results()[0][0])
    assert [seat["how"] for seat in found] == ["exit=127"] * 2
    assert [seat["rank"] for seat in found] == [1, 1]


@pytest.mark.parametrize("answers", [0, 1, 3])
def test_bc52_a_program_that_ends_early_leaves_a_whole_result(
        hilld, bridge, tmp_path, answers):
    add_battle(hilld, seats=2, maxturns=3)
    bot = script(tmp_path, PAINTER.format(
        first="", reply=f"if row > 3 + {answers}: sys.exit(7)\n"
        f"        {PAINT}\n"
        f"        if row == 6: sys.exit(7)"), "leaves.py")
    one = bridge(hilld, "leaves", hilld.add_bot("leaves"), "battle", PYTHON,
                 bot, options=("--matches", "1"))
    peer = hilld.peer().login("stays", hilld.add_bot("stays"))
    [stays] = start_battle([peer])
    stays.peer.say("@leave", *(f"{stays.pixel()} {stays.pixel()}"
                               for _ in range(3)))
    stays.peer.expect(f"@result {stays.match} ")
    found = {seat["bot"]: seat for seat in seats_of(hilld, stays.match)}
    assert (found["stays"]["rank"], found["leaves"]["rank"]) == (1, 2)
    if answers < 3:
        assert found["leaves"]["reason"] == "gone"
        assert found["leaves"]["how"] == "exit=7"
    else:  # its end may be seen before the match's
        assert found["leaves"]["reason"] in ("finished", "gone")
    assert found["stays"]["reason"] == "finished"
    for bot in ("leaves", "stays"):
        listed = hillctl(hilld.database, "--json", "match", "list", "--bot",
                         bot, "--socket", f"{hilld.short}/sock").stdout
        assert [row["id"] for row in json.loads(listed)["matches"]] == [
            stays.match]
    assert one.wait(20) == 0


def test_a_rabbit_program_that_prints_nothing_is_late(hilld, bridge, tmp_path):
    add_rabbits(hilld, original=True)
    bot = script(tmp_path, "import sys\nfor line in sys.stdin: pass\n",
                 "dumb.py")
    one = bridge(hilld, "dumb", hilld.add_bot("dumb"), "rabbits", PYTHON, bot,
                 options=("--matches", "1"))
    assert one.wait(30) == 0
    assert [row[4] for row in one.results()] == ["late"]
