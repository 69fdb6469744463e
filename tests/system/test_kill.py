# SPDX-License-Identifier: MIT
"""hilld and hill-bridge die at any moment, or are stopped; what was told stands."""
import os
import pathlib
import random
import shutil
import signal
import time

import pytest

from bridges import gone_within, script
from conftest import WAIT_S, wait_until
from crowd import Crowd
from season import BOTS, IS_LONG, Bridge, check_whole, png, seats, verify_all

KILLS = int(os.environ.get("HILL_KILLS") or (20 if IS_LONG else 5))
RABBITS = b"##########\n#s   #  e#\n#    #   #\n#  c     #\n##########\n"
MINE = b"######\n#. *R#\n#  \\.#\n#\\ * #\nL  .\\#\n######\n"
PYTHON_BOT = "import sys\nfor line in sys.stdin:\n    if line.startswith('rabbits'):\n" \
             "        print('move', flush=True)\n"


def programs_of(path):
    """Pids of the Pythons that run the script PATH."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if words[1:2] == [str(path).encode()]:
            found.append(int(entry.name))
    return found


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

    FLAGS = "--set", "retry-after-seconds=1", "--drain-seconds", "5"

    def __init__(self, start_hilld, folder):
        self.start_hilld, self.folder = start_hilld, folder
        self.server = start_hilld(*self.FLAGS)
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

    def again(self):
        """Start hilld once more, on the port that its bots know."""
        self.crowd.life += 1
        self.server = self.start_hilld("--listen", f"127.0.0.1:{self.port}", *self.FLAGS)

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
            season.crowd.add(bot, season.token(bot), ladder, dice.choice(((0, 0.01), (0, 0.06))))
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


def test_sigterm_in_mid_season_goes_on_where_it_was(season, tmp_path):
    add_ladders(season.server)
    season.server.admin("ladder add", name="road", game="rabbit-runner", maps=["field.map"],
                        params="turns=15", seeds="1..100000", turn_ms=60000)
    season.server.admin("ladder add", name="duels", game="image-battle", maps=["arena.png"],
                        seats=2, params="batch=10 maxturns=10", seeds="1..100000", turn_ms=60000)
    for bot in ("alice", "bob", "carol"):
        season.crowd.add(bot, season.token(bot), "road")
        season.crowd.add(bot, season.token(bot), "duels")
    season.bridge("c-rabbit", "road", BOTS / "rabbit-greedy", options=("--slots", "3"))
    season.crowd.start()
    standings = {}
    for _ in range(5):
        before = season.crowd.nresults
        bridged = len(season.bridges[0].results())
        wait_until("they play", lambda: season.crowd.nresults > before + 60 and
                   len(season.bridges[0].results()) > bridged, season.server.process)
        season.server.process.send_signal(signal.SIGTERM)
        assert season.server.process.wait(WAIT_S) == 0
        season.server.stop()
        season.check_told(season.server.database)
        # Standings continue: each only grows, by what was told meanwhile.
        counts = {}
        for row in seats(season.server.database):
            counts[row["bot"], row["ladder"]] = counts.get((row["bot"], row["ladder"]), 0) + 1
        assert all(counts[key] >= count for key, count in standings.items())
        standings = counts
        season.again()
    before = season.crowd.nresults
    wait_until("they play on", lambda: season.crowd.nresults > before + 30, season.server.process)
    season.bridges[0].stop()
    season.crowd.stop()
    assert season.server.stop() == 0
    season.check_ids()
    rows = seats(season.server.database)
    for bot in ("alice", "bob", "carol", "c-rabbit"):
        seeds = sorted(row["seed"] for row in rows if (row["bot"], row["ladder"]) == (bot, "road"))
        print(bot, len(seeds), "seeds", seeds[0], "to", seeds[-1])
        assert len(set(seeds)) == len(seeds), f"{bot} plays a seed twice"
        # Only what ran at the very end may be missing.
        assert set(range(1, seeds[-1] + 1)) - set(seeds) <= set(range(seeds[-1] - 4, seeds[-1]))
    duels = [row["seed"] for row in rows if row["ladder"] == "duels" and row["number"] == 1]
    print("duels", len(duels), "seeds", min(duels), "to", max(duels))
    assert len(set(duels)) == len(duels), "a shared seed is used twice"
    verify_all(season.server.database)


def test_impatient_sigterms_end_it_well(season):
    add_ladders(season.server)
    for number in range(4):
        season.crowd.add(f"rabbit-{number}", season.token(f"rabbit-{number}"), "rabbits")
    season.crowd.start()
    for _ in range(5):
        before = season.crowd.nresults
        wait_until("they play", lambda: season.crowd.nresults > before + 10, season.server.process)
        while season.server.process.poll() is None:
            season.server.process.send_signal(signal.SIGTERM)
        assert season.server.process.returncode == 0
        season.server.stop()
        season.check_told(season.server.database)
        season.again()


def test_bc33_a_killed_bridge_comes_back_at_once(season, tmp_path):
    add_ladders(season.server)
    server = season.server
    bot = script(tmp_path, "import sys, time\nprint('started', file=sys.stderr, flush=True)\n"
                 "for line in sys.stdin:\n    if line.startswith('rabbits'):\n"
                 "        time.sleep(0.005)\n        print('move', flush=True)\n", "slow.py")
    season.token("rabbit", max_connections=1)
    # Load beside it.
    for number in range(8):
        name = f"other-{number}"
        season.crowd.add(name, season.token(name), ("marathon", "battles")[number % 2])
    season.crowd.start()
    bridge = season.bridge("rabbit", "marathon", "/usr/bin/python3", bot)
    left = []
    for _ in range(20):
        wait_until("in a match", lambda: programs_of(bot), bridge.process)
        running = programs_of(bot)
        bridge.process.send_signal(signal.SIGKILL)
        bridge.process.wait()
        begun = time.monotonic()
        bridge.start()
        wait_until("the old program is gone", lambda: gone_within(running, 5), bridge.process)
        wait_until("a new match", lambda: set(programs_of(bot)) - set(running),
                   bridge.process, 20)
        left.append(time.monotonic() - begun)
        status = server.admin("status")["server"]
        assert status["logged_in"] <= 9, status
    played = len(bridge.results())
    wait_until("it plays on", lambda: len(bridge.results()) > played, bridge.process)
    bridge.stop()
    season.crowd.stop()
    assert server.stop() == 0
    rows = [row for row in seats(server.database) if row["bot"] == "rabbit"]
    gone = [row for row in rows if row["reason"] == "gone"]
    print(f"back in play after {min(left):.2f} to {max(left):.2f} s;"
          f" {len(gone)} of {len(rows)} matches ended by the kills")
    assert 20 <= len(gone) <= 21
    assert len({row["match"] for row in rows}) == len(rows)
    verify_all(server.database)
