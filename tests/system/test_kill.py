# SPDX-License-Identifier: MIT
"""hilld and hill-bridge die at any moment, or are stopped; what was told stands."""
import json
import os
import random
import shutil
import signal
import sqlite3
import time

import pytest

from conftest import wait_until
from crowd import Crowd
from season import BOTS, IS_LONG, Bridge, check_whole, png, seats, verify_all
from test_bridge import gone_within, processes_of, script

KILLS = 20 if IS_LONG else 5
RABBITS = b"##########\n#s   #  e#\n#    #   #\n#  c     #\n##########\n"
MINE = b"######\n#. *R#\n#  \\.#\n#\\ * #\nL  .\\#\n######\n"
PYTHON_BOT = "import sys\nfor line in sys.stdin:\n    if line.startswith('rabbits'):\n" \
             "        print('move', flush=True)\n"


def add_ladders(server):
    server.add_map("field.map", "rabbit-runner", RABBITS)
    server.add_map("mine.map", "lambda-mining", MINE)
    server.add_map("arena.png", "image-battle", png(24, 24, {(2, 2): b"\xff\0\0", (21, 21): b"\0\xff\0"}))
    for name, game, seats_wanted, maps, params in (
            ("rabbits", "rabbit-runner", 1, "field.map", "turns=15"),
            ("marathon", "rabbit-runner", 1, "field.map", "turns=60"),
            ("mines", "lambda-mining", 1, "mine.map", ""),
            ("battles", "image-battle", 2, "arena.png", "batch=10 maxturns=20")):
        server.admin("ladder add", name=name, game=game, seats=seats_wanted, maps=[maps],
                     params=params, turn_ms=60000)


class Season:
    """A hilld that is started again and again on one file, and who plays there."""

    def __init__(self, start_hilld, folder):
        self.start_hilld, self.folder = start_hilld, folder
        self.server = start_hilld()
        self.port = self.server.port
        self.bridges, self.tokens = [], {}
        self.crowd = Crowd(self.port)

    def token(self, bot, **fields):
        if bot not in self.tokens:
            self.tokens[bot] = self.server.admin("bot add", name=bot, owner=f"owner-of-{bot}",
                                                 **fields)["token"]
        return self.tokens[bot]

    def bridge(self, bot, ladder, *program, options=()):
        self.bridges.append(Bridge(self.server, self.folder / bot, bot, self.token(bot), [ladder],
                                   program, options))
        return self.bridges[-1]

    def again(self, *flags):
        """Start hilld once more, on the port that its bots know."""
        self.crowd.life += 1
        self.server = self.start_hilld("--listen", f"127.0.0.1:{self.port}", *flags)

    def nresults(self):
        return self.crowd.nresults + sum(len(bridge.results()) for bridge in self.bridges)

    def close(self):
        for bridge in self.bridges:
            bridge.stop()
        if self.crowd.thread.ident is not None:
            self.crowd.stop()

    def check_told(self, database):
        """All results that anybody was told are in DATABASE, and the same."""
        rows = {(row["match"], row["bot"]): row for row in seats(database)}
        told = self.crowd.results()
        for (match, bot), score in told.items():
            assert rows[match, bot]["score"] == pytest.approx(score, abs=1e-3)
        for player in self.crowd.players:
            for match, places in list(player.places.items()):
                for number, (bot, score, rank) in list(places.items()):
                    row = rows[match, bot]
                    assert (row["number"], row["rank"]) == (number, rank)
                    assert row["score"] == pytest.approx(score, abs=1e-3)
        for bridge in self.bridges:
            results = bridge.results()
            assert len({result[0] for result in results}) == len(results)
            for match, ladder, rank, score, reason in results:
                row = rows[match, bridge.bot]
                assert (row["ladder"], row["rank"], row["reason"]) == (ladder, rank, reason)
                assert row["score"] == pytest.approx(score, abs=1e-3)
        return len(told) + sum(len(bridge.results()) for bridge in self.bridges)

    def check_ids(self):
        """No match's number was given twice, in one life of the server or in two."""
        lives, given = {}, set()
        for player in self.crowd.players:
            for match, seat, life in list(player.matches):
                assert lives.setdefault(match, life) == life, f"match {match} is there again"
                assert (match, seat) not in given, f"seat {seat} of match {match} is given twice"
                given.add((match, seat))
        ids = sorted(lives.items())
        assert ids == sorted(ids, key=lambda pair: (pair[1], pair[0])), "ids went back"


@pytest.fixture(name="season")
def fixture_season(start_hilld, tmp_path):
    season = Season(start_hilld, tmp_path)
    yield season
    season.close()


def copy_database(database, folder):
    """The file and its log as a kill left them, to look at."""
    folder.mkdir()
    for path in database.parent.glob(f"{database.name}*"):
        if not path.name.endswith((".sock", "-shm", "-lock", ".lock")):
            shutil.copy(path, folder)
    return folder / database.name


def test_killed_hilld_keeps_all_that_it_told(season, tmp_path):
    seed = int(os.environ.get("HILL_SEED", time.time_ns() % 1000000))
    print(f"HILL_SEED={seed}")
    dice = random.Random(seed)
    add_ladders(season.server)
    for ladder, bots in (("rabbits", 6), ("marathon", 6), ("mines", 4), ("battles", 6)):
        for number in range(bots):
            bot = f"{ladder}-{number}"
            season.crowd.add(bot, season.token(bot), ladder, dice.choice((0, 0.001)))
    season.bridge("c-rabbit", "rabbits", BOTS / "rabbit-greedy", options=("--slots", "2"))
    season.bridge("c-blob", "battles", BOTS / "image-blob")
    season.bridge("c-mine", "mines", BOTS / "lambda-greedy")
    season.bridge("py-rabbit", "marathon", "/usr/bin/python3", script(tmp_path, PYTHON_BOT))
    season.crowd.start()
    told = []
    for kill in range(KILLS):
        before = {bridge.bot: len(bridge.results()) for bridge in season.bridges}
        crowd = season.crowd.nresults
        wait_until("everybody plays", lambda: season.crowd.nresults > crowd + 30 and all(
            len(bridge.results()) > before[bridge.bot] for bridge in season.bridges),
            season.server.process)
        time.sleep(dice.uniform(0, 0.5))
        season.server.stop(signal.SIGKILL)
        copy = copy_database(season.server.database, tmp_path / f"kill-{kill}")
        check_whole(copy)
        told.append(season.check_told(copy))
        verify_all(copy)
        shutil.rmtree(copy.parent)
        season.again()
    before = season.nresults()
    wait_until("they play on", lambda: season.nresults() > before + 30, season.server.process)
    for bridge in season.bridges:
        bridge.stop()
    season.crowd.stop()
    assert season.server.stop() == 0
    check_whole(season.server.database)
    total = season.check_told(season.server.database)
    season.check_ids()
    verify_all(season.server.database)
    rows = seats(season.server.database)
    print(f"{KILLS} kills; results told by each: {told}, in all {total};"
          f" {len({row['match'] for row in rows})} matches stored, all verified")
    assert all(row["late"] == 0 for row in rows)
