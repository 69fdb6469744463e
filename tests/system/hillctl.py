# SPDX-License-Identifier: MIT
"""hillctl as a fixture: on a database of its own, empty or with matches."""
import json
import os
import pathlib
import shutil
import sqlite3
import struct
import subprocess
import zlib

import pytest

TOP = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("HILL_BUILD", TOP / "build"))
HILLCTL = BUILD / "clients/ctl/hillctl"
MAKE_MATCHES = BUILD / "tests/system/make-matches"
IS_LONG = bool(os.environ.get("HILL_LONG"))

RABBIT_MAP = b"""###############
#s    c      e#
# #### #### # #
#s          c #
###############
"""
MINE_MAP = b"######\n#. *R#\n#  \\.#\n#\\ * #\nL  .\\#\n######\n"
GAMES = {"rabbit-runner": 1, "image-battle": 2, "lambda-mining": 1}

# pylint: disable=redefined-outer-name


def png(side=20):
    """A white picture with a pixel each for two seats."""
    rows = [bytearray(b"\xff" * (3 * side)) for _ in range(side)]
    rows[2][6:9] = b"\xff\x00\x00"
    rows[17][51:54] = b"\x00\x00\xff"

    def chunk(name, data):
        return (struct.pack(">I", len(data)) + name + data +
                struct.pack(">I", zlib.crc32(name + data)))

    return (b"\x89PNG\r\n\x1a\n" +
            chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(b"".join(b"\0" + bytes(row) for row in rows))) +
            chunk(b"IEND", b""))


class Ctl:
    """hillctl on one database."""

    def __init__(self, folder):
        self.folder = folder
        self.database = folder / "hill.db"

    def run(self, *words, status=0):
        done = subprocess.run([HILLCTL, "--database", self.database, *map(str, words)],
                              cwd=self.folder, capture_output=True, check=False)
        done.out = done.stdout.decode(errors="replace")
        done.err = done.stderr.decode()
        assert "Sanitizer" not in done.err, done.err
        assert done.returncode == status, (words, done.out, done.err)
        return done

    def json(self, *words, status=0):
        document = json.loads(self.run("--json", *words, status=status).stdout)
        if "ok" in document:
            assert document["ok"] == (status == 0)
        return document

    def refused(self, *words):
        """What the refusal says; the same on stderr and as JSON."""
        error = self.json(*words, status=1)["error"]
        assert self.run(*words, status=1).err == f"hillctl: {error}\n"
        return error

    def wrong(self, *words):
        """What a command line that makes no sense is told."""
        return self.run(*words, status=2).err

    def sql(self, text, *values):
        with sqlite3.connect(self.database) as database:
            rows = database.execute(text, values).fetchall()
        database.close()
        return rows

    def dump(self):
        with sqlite3.connect(self.database) as database:
            lines = list(database.iterdump())
        database.close()
        return lines


@pytest.fixture
def ctl(tmp_path):
    return Ctl(tmp_path)


def add_maps(ctl):
    for name, game, data in (("small.map", "rabbit-runner", RABBIT_MAP),
                             ("arena.png", "image-battle", png()),
                             ("mine.map", "lambda-mining", MINE_MAP)):
        (ctl.folder / name).write_bytes(data)
        ctl.run("map", "add", name, "--game", game)


def add_ladders(ctl):
    add_maps(ctl)
    ctl.run("ladder", "add", "rabbits", "--game", "rabbit-runner", "--map", "small.map",
            "--params", "turns=60")
    ctl.run("ladder", "add", "battle", "--game", "image-battle", "--map", "arena.png",
            "--seats", 2)
    ctl.run("ladder", "add", "mine", "--game", "lambda-mining", "--map", "mine.map")
    for bot in ("crazy", "digger"):
        ctl.run("bot", "add", bot, "--token-file", f"{bot}.token")


def make_matches(ctl, ladder, count, seed, *bots):
    done = subprocess.run([MAKE_MATCHES, ctl.database, ladder, str(count), str(seed), *bots],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [int(line) for line in done.stdout.split()]


@pytest.fixture(scope="session")
def laddered_once(tmp_path_factory):
    ctl = Ctl(tmp_path_factory.mktemp("laddered"))
    add_ladders(ctl)
    return ctl


@pytest.fixture
def laddered(laddered_once, tmp_path):
    """A copy of a database with maps, ladders and bots of all three games."""
    shutil.copytree(laddered_once.folder, tmp_path / "laddered")
    return Ctl(tmp_path / "laddered")


@pytest.fixture(scope="session")
def played_once(tmp_path_factory):
    ctl = Ctl(tmp_path_factory.mktemp("played"))
    add_ladders(ctl)
    count = 100 if IS_LONG else 8
    # Three runs of a server, with two kinds of match side by side.
    for start in range(3):
        make_matches(ctl, "rabbits", count, 100 * start, "crazy")
        make_matches(ctl, "battle", count, 100 * start, "digger", "crazy")
        make_matches(ctl, "mine", count, 100 * start, "digger")
    return ctl


@pytest.fixture
def played(played_once, tmp_path):
    """A copy of a database with matches of all three games."""
    shutil.copytree(played_once.folder, tmp_path / "copy")
    return Ctl(tmp_path / "copy")
