# SPDX-License-Identifier: MIT
"""What a season of matches is made of: bridges with programs, and the checks
of what was stored and told."""
import os
import pathlib
import re
import signal
import sqlite3
import struct
import subprocess
import zlib

from bridges import environment
from conftest import BUILD, TOP, WAIT_S

BRIDGE = BUILD / "clients/bridge/hill-bridge"
HILLCTL = BUILD / "clients/ctl/hillctl"
BOTS = BUILD / "clients/bots"
PYTHON = "/usr/bin/python3"
IS_LONG = bool(os.environ.get("HILL_LONG"))
REFERENCE = pathlib.Path(os.environ.get("HILL_REFERENCE") or TOP.parent / "shared")

# What the bridge says of a match, and of a late fault.
OVER = re.compile(r"match (\d+) (\S+): (?:rank (\d+) of (\d+), )?score (\S+), (\w+)"
                  r"(?:, \d+ [a-z]+)*(?:, (?:un)?rated)?(?:, against (.*?))?; "
                  r"(?:slowest reply ([\d.]+) ms|no reply)")
LATE = re.compile(r"match (\d+): .*late .*turn=(\d+) .*;"
                  r" (?:no answer after|the answer took) ([\d.]+) ms here")


class Bridge:
    """hill-bridge with PROGRAM; what it says goes to files in FOLDER."""

    def __init__(self, server, folder, bot, token, ladders, program, options=()):
        self.bot = bot
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        token_file = folder / "token"
        token_file.write_text(token)
        token_file.chmod(0o600)
        self.out_path, self.err_path = folder / "bridge.out", folder / "bridge.err"
        plays = [word for ladder in ladders for word in ("--play", ladder)]
        self.command = [BRIDGE, "--server", f"127.0.0.1:{server.port}", "--bot", bot,
                        "--token-file", token_file, *plays, *options, "--", *program]
        self.start()

    def start(self):
        (self.folder / "tmp").mkdir(exist_ok=True)
        with open(self.out_path, "ab") as out, open(self.err_path, "ab") as err:
            self.process = subprocess.Popen(
                [str(word) for word in self.command], cwd=self.folder, stdin=subprocess.DEVNULL,
                stdout=out, stderr=err, env=environment(self.folder / "tmp"))

    def out(self):
        return self.out_path.read_text(errors="replace")

    def err(self):
        return self.err_path.read_text(errors="replace")

    def wait(self, seconds):
        """Its exit status, when it has played its matches."""
        return self.process.wait(seconds)

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(WAIT_S)

    def results(self):
        """[(match, ladder, rank, score, reason)] that it was told; alone it is the first."""
        return [(int(found[1]), found[2], int(found[3] or 1), float(found[5]), found[6])
                for found in OVER.finditer(self.out())]

    def late(self):
        """{match: [milliseconds that it measured at each late fault]}."""
        ret = {}
        for found in LATE.finditer(self.err()):
            ret.setdefault(int(found[1]), []).append(float(found[3]))
        return ret


def hillctl(database, *words, seconds=600):
    """Run hillctl on a file or on the hilld that holds it."""
    return subprocess.run([str(HILLCTL), "--database", str(database), *map(str, words)],
                          capture_output=True, text=True, timeout=seconds, check=False)


def verify_all(database, jobs=2):
    """Every stored match, played again, comes out as it is stored."""
    done = hillctl(database, "verify", "--all", "--jobs", jobs)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


def seats(database):
    """Every seat of every stored match, by match and number."""
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as connection:
        connection.row_factory = sqlite3.Row
        return [dict(row) for row in connection.execute(
            "SELECT m.id AS match, l.name AS ladder, m.status, m.turn_ms, i.seed, s.number,"
            " b.name AS bot, s.points, s.rank, s.score, s.reason, s.requests, s.late, s.invalid,"
            " s.overlong, s.overfull, s.banked, s.max_us, s.lag_us, s.how FROM match m"
            " JOIN ladder l ON l.id = m.ladder_id JOIN instance i ON i.id = m.instance_id"
            " JOIN seat s ON s.match_id = m.id JOIN bot_version v ON v.id = s.bot_version_id"
            " JOIN bot b ON b.id = v.bot_id ORDER BY m.id, s.number")]


def check_whole(database):
    """The file is sound, and every match in it has all that belongs to it."""
    with sqlite3.connect(database) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        assert connection.execute(
            "SELECT m.id FROM match m JOIN instance i ON i.id = m.instance_id"
            " LEFT JOIN transcript t ON t.match_id = m.id WHERE t.match_id IS NULL OR i.seats <>"
            " (SELECT count(*) FROM seat s WHERE s.match_id = m.id)").fetchall() == []


def png(width, height, pixels):
    """A white picture with some PIXELS {(x, y): RGB}, as PNG."""
    rows = [b"\0" + b"".join(pixels.get((x, y), b"\xff\xff\xff") for x in range(width))
            for y in range(height)]

    def chunk(kind, data):
        return (struct.pack(">I", len(data)) + kind + data +
                struct.pack(">I", zlib.crc32(kind + data)))
    return (b"\x89PNG\r\n\x1a\n" +
            chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(b"".join(rows))) + chunk(b"IEND", b""))
