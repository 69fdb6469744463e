# SPDX-License-Identifier: MIT
"""Maps, matches and records for tests that play on a real hilld."""
import collections
import os
import pathlib
import re
import sqlite3
import struct
import threading
import time
import zlib

from conftest import HILLD, WAIT_S, wait_until

COLOURS = [(255, 0, 0), (0, 0, 255), (0, 128, 0), (200, 0, 200)]
IS_SANITIZED = b"__asan_init" in HILLD.read_bytes()
# Every reply has turn-ms and nothing else.
BARE = {"bank_ms": 0, "bank_step_ms": 0, "lag_cap_ms": 0, "init_ms": 0}
RABBITS = b"#######\n#s   e#\n#######\n"
MINE = b"#####\n#R\\L#\n#####\n"
NOTE_KINDS = ["reply", "late", "gone", "thrown", "skipped", "invalid", "cut"]
# Seat from 0; milliseconds on the turn clock, and those that the server lost
# meanwhile and gave back.
Note = collections.namedtuple("Note", "kind seat ms stall_ms")


def home(seat):
    """The first pixel of a seat: a column of its own, row 3."""
    return 3 + 4 * seat, 3


def picture(seats=1, width=20, height=20):
    """A white picture with one pixel for each seat, as PNG."""
    homes = {home(seat): bytes(COLOURS[seat]) for seat in range(seats)}
    rows = b"".join(
        b"\0" + b"".join(homes.get((x, y), b"\xff\xff\xff")
                         for x in range(width)) for y in range(height))

    def chunk(kind, data):
        return (struct.pack(">I", len(data)) + kind + data +
                struct.pack(">I", zlib.crc32(kind + data)))
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) +
            chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def add_battle(server, ladder="battle", seats=1, maxturns=50, batch=10,
               size=(20, 20), **fields):
    """A ladder of image-battle; unrated and without a bank unless FIELDS say so.

    There who comes first plays first, and a match is one.
    """
    fields.setdefault("rated", False)
    file = f"arena-{seats}-{size[0]}x{size[1]}.png"
    known = server.admin("map list", game="image-battle")["maps"]
    if file not in [row["name"] for row in known]:
        server.add_map(file, "image-battle", picture(seats, *size))
    if "original" not in fields:
        fields = {"turn_ms": 20000, **BARE, **fields}
    server.admin("ladder add", name=ladder, game="image-battle", seats=seats,
                 maps=[file],
                 params=f"batch={batch} maxturns={maxturns}", **fields)


def add_rabbits(server, ladder="rabbits", turns=3, data=RABBITS, **fields):
    server.add_map(f"{ladder}.map", "rabbit-runner", data)
    server.admin("ladder add", name=ladder, game="rabbit-runner",
                 maps=[f"{ladder}.map"], params=f"turns={turns}", **fields)


def add_mine(server, ladder="mine", data=MINE, **fields):
    server.add_map(f"{ladder}.map", "lambda-mining", data)
    server.admin("ladder add", name=ladder, game="lambda-mining",
                 maps=[f"{ladder}.map"], **fields)


class Fighter:
    """A seat of a battle that paints its own column downwards."""

    def __init__(self, peer):
        self.peer = peer
        self.seat = self.match = self.colour = None
        self.row = 3

    def offered(self):
        line = self.peer.expect("@match ")
        self.match = int(line.split()[1])
        self.seat = int(re.search(r" seat=(\d+)", line)[1]) - 1
        self.row = 3
        return self

    def ready(self):
        self.peer.say(f"@ready {self.match}")

    def started(self):
        red_green_blue = self.peer.expect("@args ").split()[2]
        # Which colour a seat has is the map's: theirs are in reading order.
        self.colour = red_green_blue
        self.peer.expect(f"@start {self.match}")
        return self

    def pixel(self):
        """The next one that it may paint, as text."""
        self.row += 1
        index = [str(c).replace(" ", "") for c in COLOURS].index(self.colour)
        return f"{home(index)[0]},{self.row}"

    def picked(self):
        self.peer.expect("pick pixels")

    def paint(self):
        """Answer a request with one good pixel."""
        self.picked()
        pixel = self.pixel()
        self.peer.say(pixel)
        self.peer.expect(f"colour {self.colour} chose {pixel}")


class Painting:
    """A fighter that paints in a thread for as long as the `with` lasts."""

    def __init__(self, fighter, pause_s=0.02):
        self.fighter, self.pause_s = fighter, pause_s
        self.seconds = []  # that the server took, turn by turn
        self.has_ended, self.failure = False, None
        self.thread = threading.Thread(target=self.run, daemon=True)

    def run(self):
        try:
            self.fighter.picked()
            while not self.has_ended:
                begun = time.monotonic()
                pixel = self.fighter.pixel()
                self.fighter.peer.say(pixel)
                self.fighter.peer.expect(
                    f"colour {self.fighter.colour} chose {pixel}")
                self.fighter.picked()
                self.seconds.append(time.monotonic() - begun)
                time.sleep(self.pause_s)
        except Exception as failure:  # told by whoever waits for it
            self.failure = failure

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.has_ended = True
        self.thread.join(WAIT_S)
        assert self.failure is None, repr(self.failure)


def check_calm(painting, server):
    """Nothing that went on beside PAINTING was felt; its match is ended."""
    fighter = painting.fighter
    assert len(painting.seconds) > 10
    assert max(painting.seconds) < 1 + slack_ms() / 1000
    fighter.peer.say("@leave", f"@resign {fighter.match}")
    fighter.peer.expect(f"@result {fighter.match} ")
    [seat] = [seat for number, seat in enumerate(
        seats_of(server, fighter.match)) if number == fighter.seat]
    assert seat["late"] == 0
    assert seat["max_us"] < 1_000_000 + slack_ms() * 1000


def start_battle(peers, ladder="battle"):
    """Seat PEERS (logged in, waiting for nothing) on LADDER; Fighters."""
    for peer in peers:
        peer.say(f"@play {ladder}")
    fighters = [Fighter(peer).offered() for peer in peers]
    for fighter in fighters:
        fighter.ready()
    return [fighter.started() for fighter in fighters]


def rows(server, query, *values):
    database = sqlite3.connect(server.database)
    try:
        return database.execute(query, values).fetchall()
    finally:
        database.close()


def wait_stored(server, match):
    """The match's row, once it is there."""
    found = wait_until(
        f"match {match} on disk",
        lambda: rows(server, "SELECT status, void_reason FROM match "
                     "WHERE id = ?", match))
    return found[0]


def seats_of(server, match):
    """The rows of a stored match's seats, in order, as dictionaries."""
    wait_stored(server, match)
    names = ("bot", "rank", "score", "reason", "requests", "late", "invalid",
             "overlong", "early", "banked", "max_us", "total_us", "how")
    found = rows(server, f"SELECT b.name, {', '.join(names[1:])} FROM seat s "
                 "JOIN bot_version v ON v.id = s.bot_version_id "
                 "JOIN bot b ON b.id = v.bot_id WHERE match_id = ? "
                 "ORDER BY s.number", match)
    return [dict(zip(names, row)) for row in found]


def notes_of(server, match):
    """The notes of a stored match."""
    wait_stored(server, match)
    [[blob]] = rows(server, "SELECT notes FROM transcript WHERE match_id = ?",
                    match)
    data = zlib.decompress(blob)
    assert data[0] == 1
    at, found = 1, []

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
    while at < len(data):
        head = data[at]
        at += 1
        kind = NOTE_KINDS[head >> 3 & 7]
        ms = varint() / 10 if kind in ("reply", "late", "thrown") else None
        stall_ms, flags = 0, varint() if head & 64 else 0
        if flags & 2:  # banked
            varint()
        if flags & 8:
            stall_ms = varint() / 10
        if kind in ("gone", "invalid"):
            length = varint()
            at += length
        found.append(Note(kind, head & 7, ms, stall_ms))
    return found


def record_of(server, match):
    """What makes a game the same game: all but ids and times."""
    wait_stored(server, match)
    [[digest, inputs, transcript]] = rows(
        server, "SELECT digest, inputs, transcript FROM match JOIN transcript "
        "ON match_id = id WHERE id = ?", match)
    scores = [(s["score"], s["rank"], s["reason"])
              for s in seats_of(server, match)]
    return digest, inputs, zlib.decompress(transcript), scores


def cpu_seconds(process):
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text()
    fields = fields.rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / 100


def slack_ms():
    """How late things may be seen: more on a machine that is busy."""
    return 60 + 25 * os.getloadavg()[0]


class Stopwatch:
    def __init__(self):
        self.begun = time.monotonic()

    def ms(self):
        return (time.monotonic() - self.begun) * 1000
