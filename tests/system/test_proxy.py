# SPDX-License-Identifier: MIT
"""Matches through lines that have faults: late, cut, split, narrow, silent."""
import base64
import os
import random
import re
import struct
import subprocess
import threading
import time
import zlib

import pytest

from arena import (Stopwatch, add_battle, add_mine, add_rabbits, notes_of,
                   record_of, rows, seats_of, slack_ms, start_battle)
from conftest import Peer, wait_until
from lines import PROXY, FarLink, Proxy

IS_LONG = bool(os.environ.get("HILL_LONG"))
DEFAULT_BANK = {"bank_ms": 2000, "bank_step_ms": 2, "lag_cap_ms": 250,
                "turn_ms": 1000, "init_ms": 1000}
THOUGHTS_MS = (5, 30, 60)
# The least of so many is a link's lag, whatever else the machine does.
LAG_TURNS = 200 if IS_LONG else 60


@pytest.fixture
def proxied():
    """proxied(server, option=value...): a proxy to it; ended afterwards."""
    started = []

    def start(server, **options):
        started.append(Proxy(server.port, **options))
        return started[-1]

    yield start
    for proxy in started:
        proxy.stop()


@pytest.fixture
def far(start_hilld):
    """far(rtt_ms, flags...): a network and a hilld in it."""
    links = []

    def start(rtt_ms, *flags):
        try:
            links.append(FarLink(rtt_ms))
        except OSError as why:
            pytest.skip(f"no TUN device in a namespace of its own: {why}")
        server = start_hilld("--listen", "10.9.0.1:0", *flags,
                             limits=links[-1].enter)
        return links[-1], server

    yield start
    for link in links:
        link.stop()


def peer_of(server, proxy):
    server.peers.append(Peer(proxy.port))
    return server.peers[-1]


def lags_ms(server, match):
    """{bot: what the match has forgiven its link}."""
    found = rows(server, "SELECT b.name, lag_us FROM seat s "
                 "JOIN bot_version v ON v.id = s.bot_version_id "
                 "JOIN bot b ON b.id = v.bot_id WHERE match_id = ?", match)
    return {name: lag_us / 1000 for name, lag_us in found}


def snake(seat):
    """Cells of a picture 1000 high, each beside the one before: the seats go
    apart from their first pixels."""
    cells = []
    columns = (3, 2, 1, 0) if seat == 0 else (7, 8, 9, 10)
    for number, column in enumerate(columns):
        column_cells = [(column, row) for row in range(3, 1000)]
        cells += column_cells if number % 2 == 0 else column_cells[::-1]
    return [f"{x},{y}" for x, y in cells[1:]]


def think_and_paint(fighter, thought_s):
    """Answer each request after THOUGHT_S till the battle ends. A cell that
    came too late is said again."""
    cells = iter(snake(0 if fighter.colour == "(255,0,0)" else 1))
    cell = next(cells)
    painted = f"colour {fighter.colour} chose "
    while True:
        line = fighter.peer.expect(("pick pixels", "exit", painted))
        if line == "exit":
            break
        if line.startswith(painted):
            cell = next(cells)
            continue
        time.sleep(thought_s)
        fighter.peer.say(cell)
    fighter.peer.expect(f"@result {fighter.match}")


def all_at_once(*works):
    """Run WORKS, (function, arguments...), in threads; none may fail."""
    failures = []

    def run(function, *arguments):
        try:
            function(*arguments)
        except Exception as failure:  # told below
            failures.append(failure)
            raise
    threads = [threading.Thread(target=run, args=work) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


# ---- the line itself ----

def test_a_seed_chooses_what_is_lost(hilld, proxied):
    lost = []
    for seed in (1, 1, 2):
        proxy = proxied(hilld, loss=20, rto=0.5, seed=seed)
        peer = peer_of(hilld, proxy)
        peer.expect("@hill ")
        late = []
        for number in range(300):
            watch = Stopwatch()
            before = proxy.stats()["lost"]
            peer.say(f"@ping {number}")
            assert peer.line() == f"@pong {number}"
            if proxy.stats()["lost"] > before:
                late.append(number)
                assert watch.ms() >= 0.5
        peer.close()
        lost.append(late)
    assert lost[0] == lost[1] != lost[2]
    assert 60 < len(lost[0]) < 160  # of 300, two chunks each


def test_help_names_every_option():
    told = subprocess.run([PROXY, "--help"], capture_output=True, text=True,
                          check=True).stdout
    for name in ("delay", "jitter", "segment", "split", "gap", "rate",
                 "buffer", "loss", "rto", "cut-after", "reset-after",
                 "silence-after", "seed", "listen", "target"):
        assert f"--{name} " in told


# ---- time ----

@pytest.mark.parametrize("seats", [1, 2])
def test_a_battle_through_a_line_that_loses_segments_is_finished(
        hilld, proxied, seats):
    # A seat alone has a chunk up and one down a turn; of two, each hears of
    # the other's answer too. Of three chunks 1 % are lost, each 105 ms past
    # the limit: 3.2 ms a turn, and the bank grows by 4.
    turns = 3000 if IS_LONG else 300
    proxy = proxied(hilld, loss=1, seed=7, delay=1)
    hilld.add_map("tall.png", "image-battle", tall_picture())
    hilld.admin("ladder add", name="battle", game="image-battle", seats=seats,
                maps=["tall.png"], params=f"batch=10 maxturns={turns}")
    fighters = start_battle(
        [peer_of(hilld, proxy).login(name, hilld.add_bot(name))
         for name in ("quick", "brisk")[:seats]])
    all_at_once(*((think_and_paint, fighter, 0.005) for fighter in fighters))
    lost = proxy.stats()["lost"]
    assert lost >= turns * seats * 2 * 0.01 / 2
    for seat in seats_of(hilld, fighters[0].match):
        told = f"{lost} lost, {seat}"
        assert seat["reason"] == "finished", told
        assert seat["requests"] == turns, told
        assert seat["invalid"] == 0, told


def tall_picture(width=20, height=1000, colour_at=lambda x, y: None):
    """A PNG of WIDTH x HEIGHT, white but for two homes and COLOUR_AT."""
    homes = {(3, 3): b"\xff\0\0", (7, 3): b"\0\0\xff"}
    data = b"".join(
        b"\0" + b"".join(homes.get((x, y)) or colour_at(x, y) or
                         b"\xff\xff\xff" for x in range(width))
        for y in range(height))

    def chunk(kind, body):
        return (struct.pack(">I", len(body)) + kind + body +
                struct.pack(">I", zlib.crc32(kind + body)))
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) +
            chunk(b"IDAT", zlib.compress(data, 1)) + chunk(b"IEND", b""))


def lags_of_thinkers(server, connect, turns):
    """Bots that think for different times; {bot: its lag in ms}."""
    works, fighters = [], []
    for thought_ms in THOUGHTS_MS:
        name = f"thinks-{thought_ms}"
        add_battle(server, name, size=(20, 1000),
                   **{**DEFAULT_BANK, "maxturns": turns})
        [fighter] = start_battle(
            [connect().login(name, server.add_bot(name))], name)
        fighters.append(fighter)
        works.append((think_and_paint, fighter, thought_ms / 1000))
    all_at_once(*works)
    found = {}
    for fighter in fighters:
        found.update(lags_ms(server, fighter.match))
        assert seats_of(server, fighter.match)[0]["late"] == 0
    return found


@pytest.mark.alone
def test_thought_on_loopback_is_no_lag(hilld):
    lags = lags_of_thinkers(hilld, hilld.peer, LAG_TURNS)
    assert len(lags) == len(THOUGHTS_MS)
    assert 0 < min(lags.values()) <= max(lags.values()) < 1, lags


@pytest.mark.alone
def test_the_lag_is_what_the_packets_take_and_no_thought(far):
    link, server = far(20)
    lags = lags_of_thinkers(server, lambda: link.peer(server),
                            LAG_TURNS)
    assert len(lags) == len(THOUGHTS_MS)
    for lag in lags.values():
        assert 20 <= lag < 21, lags
    assert max(lags.values()) - min(lags.values()) < 1


def test_a_distance_past_the_cap_is_forgiven_up_to_it(far):
    link, server = far(60)
    add_battle(server, maxturns=3, **{**DEFAULT_BANK, "lag_cap_ms": 25})
    [fighter] = start_battle([link.peer(server).login(
        "crazy", server.add_bot("crazy"))])
    for _ in range(2):
        fighter.paint()
    fighter.peer.say("")
    fighter.peer.expect(f"@result {fighter.match}")
    assert lags_ms(server, fighter.match) == {"crazy": 25}


# ---- how bytes are cut ----

def play_rabbits(peer, ladder):
    peer.say(f"@play {ladder}")
    match = int(peer.expect("@match ").split()[1])
    peer.say(f"@ready {match}", "@leave")
    while True:
        line = peer.expect(("rabbits ", "@end "))
        if line.startswith("@end"):
            break
        # The oldest rabbit runs to the right, as far as it goes.
        cells = re.findall(r"(\d+),1", line)
        last = int(cells[-1])
        peer.say(f"move {last},1 to {last + 1},1")
    peer.expect(f"@result {match}")
    return match


def play_battle(peer, ladder):
    peer.say(f"@play {ladder}")
    match = int(peer.expect("@match ").split()[1])
    peer.say(f"@ready {match}", "@leave")
    cells = iter(snake(0))
    while peer.expect(("pick pixels", "exit")) != "exit":
        peer.say(f"{next(cells)} {next(cells)} 900,900 {next(cells)}")
    peer.expect(f"@result {match}")
    return match


def play_mine(peer, ladder):
    peer.say(f"@play {ladder}")
    match = int(peer.expect("@match ").split()[1])
    peer.say(f"@ready {match}", "@leave")
    peer.expect(f"@start {match}")
    peer.say("RR")
    peer.expect(f"@result {match}")
    return match


def add_ladders(server, count):
    """The same instances, COUNT times, of all three games."""
    row = b"#" * 40
    data = row + b"\n#s" + b" " * 36 + b"e#\n" + row + b"\n"
    for number in range(count):
        add_battle(server, f"battle-{number}", size=(20, 1000), seeds="7..7",
                   maxturns=60)
        if number == 0:
            add_rabbits(server, "rabbits-0", turns=25, data=data,
                        seeds="7..7", turn_ms=20000)
            add_mine(server, "mine-0", seeds="7..7", turn_ms=20000)
            continue
        server.admin("ladder add", name=f"rabbits-{number}",
                     game="rabbit-runner", maps=["rabbits-0.map"],
                     params="turns=25", seeds="7..7", turn_ms=20000)
        server.admin("ladder add", name=f"mine-{number}",
                     game="lambda-mining", maps=["mine-0.map"],
                     seeds="7..7", turn_ms=20000)


def test_no_way_of_cutting_bytes_changes_a_match(hilld, proxied):
    # Each answer is cut at each of its points, one after the other.
    ways = [{}, {"segment": 1}, {"split": "walk", "gap": "up:3"},
            {"segment": 7, "jitter": 1, "delay": 1}]
    if IS_LONG:
        ways += [{"split": point, "gap": "up:2"} for point in range(1, 24)]
    add_ladders(hilld, len(ways))
    token = hilld.add_bot("crazy")
    # A bot's seed is drawn for each match: it is not in the record.
    records = []
    for number, way in enumerate(ways):
        proxy = proxied(hilld, **way)
        peer = peer_of(hilld, proxy).login("crazy", token)
        records.append([
            record_of(hilld, play_rabbits(peer, f"rabbits-{number}")),
            record_of(hilld, play_battle(peer, f"battle-{number}")),
            record_of(hilld, play_mine(peer, f"mine-{number}"))])
        peer.close()
        assert records[number] == records[0], way
    assert [len(scores) for _, _, _, scores in records[0]] == [1, 1, 1]


# ---- links that end ----

PHASES = ["new", "idle", "queued", "offered", "ready", "playing", "ended"]


def bring_to(phase, server, proxy, token, ladder):
    """A peer through PROXY in PHASE; (peer, match or None)."""
    peer = peer_of(server, proxy)
    if phase == "new":
        peer.expect("@hill ")
        return peer, None
    peer.login("crazy", token)
    if phase == "idle":
        return peer, None
    peer.say(f"@play {ladder}")
    peer.expect("@queued ")
    if phase == "queued":
        return peer, None
    other = server.peer().login("other", server.other_token)
    other.say(f"@play {ladder}")
    match = int(peer.expect("@match ").split()[1])
    if phase == "offered":
        return peer, match
    peer.say(f"@ready {match}", "@ping ready")
    peer.expect("@pong ready")
    if phase == "ready":
        return peer, match
    other.say(f"@ready {match}", "0,0")  # whoever is asked first
    peer.expect("pick pixels")
    if phase == "playing":
        return peer, match
    peer.say(f"@resign {match}")
    peer.expect("@end ")
    return peer, match


@pytest.mark.parametrize("how", ["cut", "reset"])
def test_a_link_may_end_in_every_phase(hilld, proxied, how):
    add_battle(hilld, seats=2, size=(20, 1000), ready_ms=20000)
    token = hilld.add_bot("crazy")
    hilld.other_token = hilld.add_bot("other")
    before = settled_links(hilld)
    for phase in PHASES:
        proxy = proxied(hilld)
        _, match = bring_to(phase, hilld, proxy, token, "battle")
        assert proxy.tell(how) == "ok 1"
        # What the other is told depends on the phase.
        other = hilld.peers[-1]
        if phase in ("offered", "ready"):
            assert re.match(rf"@cancel {match} reason=\w+ queued=1",
                            other.expect("@cancel "))
        elif phase in ("playing", "ended"):
            other.expect("pick pixels")
            other.say(f"@resign {match}")
            other.expect(f"@result {match}")
            found = {seat["bot"]: seat for seat in seats_of(hilld, match)}
            assert found["crazy"]["reason"] == "gone"
            assert found["crazy"]["rank"] >= found["other"]["rank"]
        else:
            assert match is None
        for peer in hilld.peers:
            peer.close()
        hilld.peers.clear()
        wait_until(f"links closed ({phase})",
                   lambda: open_links(hilld) == before, hilld.process)


def test_a_link_may_end_at_every_byte(hilld, proxied):
    # Unrated: a rated one pauses who often breaks off.
    add_mine(hilld, "mine", turn_ms=20000, rated=False)
    token = hilld.add_bot("crazy")
    said = f"@login crazy {token}\n@play mine\n@ready 1\nRR\n"
    step = 1 if IS_LONG else 7
    before = settled_links(hilld)
    for way in ("cut", "reset"):
        for count in range(1, len(said) + 10, step):
            proxy = proxied(hilld, **{f"{way}_after": f"up:{count}"})
            peer = peer_of(hilld, proxy)
            try:
                peer.login("crazy", token)
                play_mine(peer, "mine")
            except (AssertionError, OSError):
                pass  # the link has ended, as it had to
            peer.close()
            hilld.peers.remove(peer)
            proxy.tell("cut")
    wait_until("links closed", lambda: open_links(hilld) == before,
               hilld.process)
    peer = hilld.peer().login("crazy", token)
    play_mine(peer, "mine")
    assert hilld.process.poll() is None


def settled_links(server):
    """open_links, once control connections of before are closed."""
    counts = [open_links(server)]
    for _ in range(20):
        time.sleep(0.01)
        counts.append(open_links(server))
    return min(counts)


def open_links(server):
    """Sockets that SERVER holds, whoever is at the other end."""
    folder = f"/proc/{server.process.pid}/fd"
    count = 0
    for fd in os.listdir(folder):
        try:
            count += os.readlink(f"{folder}/{fd}").startswith("socket:")
        except FileNotFoundError:
            pass  # closed meanwhile
    return count


def test_a_silent_line_loses_its_seat_by_the_clock(hilld, proxied):
    add_battle(hilld, seats=2, turn_ms=300, size=(20, 1000), maxturns=30)
    proxy = proxied(hilld)
    quiet, awake = start_battle(
        [peer_of(hilld, proxy).login("quiet", hilld.add_bot("quiet")),
         hilld.peer().login("awake", hilld.add_bot("awake"))])
    awake.peer.say(*(awake.pixel() for _ in range(12)))  # whoever is first
    quiet.paint()
    assert proxy.tell("silence") == "ok 1"
    quiet.peer.say("3,5")  # and nobody hears it
    for _ in range(13):
        awake.picked()
    awake.peer.say(f"@resign {awake.match}")
    awake.peer.expect(f"@result {awake.match}")
    found = {seat["bot"]: seat for seat in seats_of(hilld, awake.match)}
    assert found["quiet"]["reason"] == "suspended"
    assert found["quiet"]["late"] == 5
    assert found["awake"]["late"] == 0


def test_a_dead_line_gives_its_descriptor_back(far):
    link, server = far(2, "--set", "dead-peer-seconds=5")
    add_battle(server, turn_ms=300000)
    before = settled_links(server)
    token = server.add_bot("crazy")
    idle = link.peer(server).login("crazy", token)
    [fighter] = start_battle([link.peer(server).login("crazy", token)])
    assert idle
    fighter.paint()
    watch = Stopwatch()
    link.tell("silence")
    # One link has nothing to say (keepalive), the other waits for an answer.
    wait_until("dead links are given up", lambda: open_links(server) == before,
               server.process)
    assert 3000 < watch.ms() < 5000 + 5000 + 5 * slack_ms()
    [seat] = seats_of(server, fighter.match)
    assert seat["reason"] == "gone"


def test_a_link_that_dies_under_output_gives_its_descriptor_back(far):
    link, server = far(2, "--set", "dead-peer-seconds=5")
    add_battle(server, turn_ms=1000, maxturns=1000)
    before = settled_links(server)
    token = server.add_bot("crazy")
    [fighter] = start_battle([link.peer(server).login("crazy", token)])
    fighter.paint()
    link.tell("silence")
    # Faults and requests go out and are never acknowledged.
    wait_until("the dead link is given up",
               lambda: open_links(server) == before, server.process)
    [seat] = seats_of(server, fighter.match)
    assert seat["reason"] in ("gone", "suspended")


# ---- narrow lines ----

def noisy_picture(side):
    """A picture whose PNG is large: its grey points are noise."""
    noise = random.Random(1).randbytes(side * side)

    def colour_at(x, y):
        value = noise[y * side + x] & 254
        return bytes((value, value, 1 + (value >> 1)))
    return tall_picture(side, side, colour_at)


def test_the_first_answer_has_its_time_once_the_map_has_come(hilld, proxied):
    # 2 MB take 4 s here, and the first answer has 1 s.
    data = noisy_picture(1000)
    seconds = 4
    hilld.admin("map add", name="noisy.png", game="image-battle",
                data=base64.b64encode(data).decode(),
                options="colours=255,0,0;0,0,255")
    wire_bytes = len(data) * 4 // 3 + len(data) // 57
    proxy = proxied(hilld, rate=f"down:{wire_bytes // seconds}",
                    buffer="down:8192")
    hilld.admin("ladder add", name="noisy", game="image-battle", seats=1,
                maps=["noisy.png"], params="batch=10 maxturns=3",
                turn_ms=500, init_ms=500, bank_ms=0, bank_step_ms=0,
                lag_cap_ms=0, file_ms=60000)
    peer = peer_of(hilld, proxy).login("crazy", hilld.add_bot("crazy"))
    watch = Stopwatch()
    match = peer.ready("noisy")
    assert watch.ms() > 2000 * seconds / 4
    peer.expect("pick pixels")
    time.sleep(0.2)
    peer.say("3,4")
    peer.say("", "")
    peer.expect(f"@result {match}")
    [seat] = seats_of(hilld, match)
    assert seat["late"] == 0, notes_of(hilld, match)


def test_a_line_too_narrow_for_the_map_has_file_ms_and_no_more(
        hilld, proxied):
    data = noisy_picture(1000)
    hilld.admin("map add", name="noisy.png", game="image-battle",
                data=base64.b64encode(data).decode(),
                options="colours=255,0,0;0,0,255")
    proxy = proxied(hilld, rate="down:20000", buffer="down:8192")
    hilld.admin("ladder add", name="noisy", game="image-battle", seats=2,
                maps=["noisy.png"], params="batch=10 maxturns=3",
                turn_ms=300, init_ms=300, bank_ms=0, bank_step_ms=0,
                lag_cap_ms=0, file_ms=2000)
    narrow = peer_of(hilld, proxy).login("narrow", hilld.add_bot("narrow"))
    wide = hilld.peer().login("wide", hilld.add_bot("wide"))
    matches = []
    for peer in (narrow, wide):
        peer.say("@play noisy")
    for peer in (narrow, wide):
        matches.append(int(peer.expect("@match ").split()[1]))
        peer.say(f"@ready {matches[0]}")
    watch = Stopwatch()
    wide.say("0,0", "0,0", "0,0")
    wide.expect(f"@result {matches[0]}")
    # The first request waits file-ms for the map, and then has 600 ms; each
    # of the other two is due after one turn for the answer that is owed, and
    # one for its own.
    assert 2600 - 50 < watch.ms() < 2600 + 2 * 600 + 5 * slack_ms()
    assert matches[0] == matches[1]
    late = [note for note in notes_of(hilld, matches[0])
            if note.kind == "late"]
    assert 600 <= late[0].ms < 600 + slack_ms()


# ---- many at once ----

def test_many_links_through_one_bad_line_all_finish(hilld, proxied):
    count = 40 if IS_LONG else 12
    add_battle(hilld, size=(20, 1000), maxturns=25, **{
        **DEFAULT_BANK, "turn_ms": 2000})
    token = hilld.admin("bot add", name="many", owner="one",
                        max_connections=count)["token"]
    proxy = proxied(hilld, loss=2, delay=2, jitter=1, segment=5,
                    rate=200000, seed=3)
    peers = [peer_of(hilld, proxy).login("many", token) for _ in range(count)]
    matches = []

    def play(peer):
        matches.append(play_battle(peer, "battle"))

    all_at_once(*((play, peer) for peer in peers))
    assert len(set(matches)) == count
    for match in matches:
        [seat] = seats_of(hilld, match)
        assert seat["reason"] == "finished"
    assert proxy.stats()["links"] == count
