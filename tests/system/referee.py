# SPDX-License-Identifier: MIT
"""What the tests of hill-run share: a folder to play in, and how to play."""
import os
import pathlib
import re
import struct
import subprocess
import time
import zlib

import pytest

TOP = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("HILL_BUILD", TOP / "build"))
RUN = BUILD / "clients/run/hill-run"
BOTS = BUILD / "clients/bots"
BOT_SOURCES = TOP / "clients/bots"
GOLDEN = TOP / "tests/golden/rabbit-runner"
PYTHON = "/usr/bin/python3"
IS_LONG = bool(os.environ.get("HILL_LONG"))
REFERENCE = pathlib.Path(os.environ.get("HILL_REFERENCE")
                         or TOP.parent / "shared")
CONTESTANTS = REFERENCE / "contests/bots"

# Six turns take a rabbit to the exit every second one, whatever the seed.
MAP = "#####\n#s e#\n#####\n"
MINE = "######\n#R\\\\L#\n######\n"
PASSER = "import sys\nfor line in sys.stdin:\n" \
    "    if line.startswith('rabbits'):\n        print('move', flush=True)\n"

needs_contestants = pytest.mark.skipif(
    not CONTESTANTS.is_dir(),
    reason="no contestants' bots (HILL_REFERENCE, ../shared)")
takes_long = pytest.mark.skipif(not IS_LONG, reason="long: needs HILL_LONG")


@pytest.fixture
def room(tmp_path, monkeypatch):
    """A folder to work in, with a map, a mine, and a TMPDIR beside it."""
    work = tmp_path / "work"
    work.mkdir()
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.chdir(work)
    (work / "s.map").write_text(MAP)
    (work / "m.map").write_text(MINE)
    (work / "pass.py").write_text(PASSER)
    yield work
    assert not list((tmp_path / "tmp").iterdir()), "a private folder is left"


def play(*words, code=0, timeout=60):
    """Run hill-run with WORDS; its stdout and stderr."""
    done = subprocess.run([RUN, *map(str, words)], text=True, timeout=timeout,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout, done.stderr


def scores(table):
    """The last column of the rows of a printed table."""
    return [int(row.split()[-1]) for row in table.splitlines()
            if re.match(r" +\d+ +-?\d+ +\d+$", row)]


def script(room, text, name="bot.py"):
    path = room / name
    path.write_text(text)
    return path


def alive(marker):
    """Pids of all processes but hill-run with MARKER on their command line."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            words = (entry / "cmdline").read_bytes()
        except OSError:
            continue
        if marker.encode() in words and b"hill-run" not in words:
            found.append(int(entry.name))
    return found


def wait_until(condition, seconds=10):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return
        time.sleep(0.02)
    raise AssertionError("it did not come about")


def png(width, height, pixels):
    """A PNG of white with PIXELS {(x, y): (r, g, b)}."""
    def chunk(kind, data):
        body = kind + data
        return struct.pack(">I", len(data)) + body + \
            struct.pack(">I", zlib.crc32(body))

    rows = b"".join(
        b"\0" + b"".join(bytes(pixels.get((x, y), (255, 255, 255)))
                         for x in range(width)) for y in range(height))
    return b"\x89PNG\r\n\x1a\n" + \
        chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) \
        + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
