# SPDX-License-Identifier: MIT
"""A tournament is played by a hilld that dies again and again: nothing lost, nothing twice."""
import collections
import os
import random
import signal
import sqlite3
import time

import pytest

from arena import picture
from conftest import wait_until
from crowd import Crowd

KILLS = int(os.environ.get("HILL_KILLS") or 3)


class Cup:
    """A hilld on one file, a crowd of bots, and one tournament of all of them."""

    def __init__(self, start_hilld, nbots):
        self.start_hilld = start_hilld
        self.server = start_hilld()
        self.port = self.server.port
        self.crowd = Crowd(self.port)
        self.bots = [f"bot-{i:02}" for i in range(1, nbots + 1)]
        self.server.add_map("arena.png", "image-battle", picture(2))
        self.server.admin("ladder add", name="battle", game="image-battle", seats=2,
                          maps=["arena.png"], params="batch=10 maxturns=4", turn_ms=60000)
        for bot in self.bots:
            self.crowd.add(bot, self.server.add_bot(bot), "battle", (0.01, 0.1))

    def begin(self, **fields):
        self.server.admin("tournament create", name="cup", ladder="battle", entrants=self.bots,
                          **fields)
        self.server.admin("tournament start", name="cup")
        self.crowd.start()

    def query(self, text):
        with sqlite3.connect(f"file:{self.server.database}?mode=ro", uri=True) as database:
            rows = database.execute(text).fetchall()
        database.close()
        return rows

    def ndecided(self):
        return self.query("SELECT count(*) FROM tournament_match")[0][0]

    def is_finished(self):
        return self.query("SELECT state FROM tournament")[0][0] == "finished"

    def kill(self):
        self.server.stop(signal.SIGKILL)
        self.crowd.life += 1
        self.server = self.start_hilld("--listen", f"127.0.0.1:{self.port}")

    def play(self, nmatches):
        """To the end, with KILLS deaths on the way."""
        chance = random.Random(nmatches)
        decided = [0]
        for step in range(KILLS):
            # Each life has to get on, and none may see the end.
            wanted = max(decided[-1] + 1, nmatches * (step + 1) // (KILLS + 2))
            wait_until(f"{wanted} matches", lambda n=wanted: self.ndecided() >= n, seconds=120)
            time.sleep(chance.uniform(0, 0.05))
            self.kill()
            decided.append(self.ndecided())
        print(f"matches decided at each kill: {decided[1:]} of {nmatches}")
        assert decided == sorted(set(decided)) and decided[-1] < nmatches
        wait_until("the end of the tournament", self.is_finished, seconds=120)
        shown = self.server.admin("tournament show", name="cup")
        table = self.server.admin("tournament table", name="cup")
        self.crowd.stop()
        return shown, table

    def check_matches(self, nmatches):
        rows = self.query("SELECT count(*), count(DISTINCT match_id), sum(absent) "
                          "FROM tournament_match")
        assert rows == [(nmatches, nmatches, 0)]
        # What was played for it counts, and no match was played for nothing.
        assert self.query("SELECT count(*) FROM match WHERE purpose = 'tournament' "
                          "AND status = 'stored'") == [(nmatches,)]

    def points(self):
        """From the seats' ranks alone."""
        points = collections.Counter()
        for bot, rank, other in self.query(
                "SELECT b.name, a.rank, o.rank FROM tournament_match t "
                "JOIN seat a ON a.match_id = t.match_id "
                "JOIN seat o ON o.match_id = t.match_id AND o.number <> a.number "
                "JOIN bot_version v ON v.id = a.bot_version_id JOIN bot b ON b.id = v.bot_id"):
            points[bot] += 1 if rank < other else 0.5 if rank == other else 0
        return points


def pairs(shown):
    return collections.Counter(tuple(sorted(pairing["bots"])) for pairing in shown["pairings"])


@pytest.fixture
def cup(start_hilld, request):
    return Cup(start_hilld, request.param)


@pytest.mark.parametrize("cup", [8], indirect=True)
def test_round_robin_survives_kills(cup):
    cup.begin(format="round-robin")
    shown, table = cup.play(28)
    cup.check_matches(28)
    assert set(pairs(shown).values()) == {1} and len(pairs(shown)) == 28
    assert {row["bot"]: row["points"] for row in table["standings"]} == {
        bot: cup.points()[bot] for bot in cup.bots}


@pytest.mark.parametrize("cup", [16], indirect=True)
def test_swiss_survives_kills(cup):
    cup.begin(format="swiss", rounds=4)
    shown, table = cup.play(32)
    cup.check_matches(32)
    assert set(pairs(shown).values()) == {1}
    for number in range(1, 5):
        bots = [bot for pairing in shown["pairings"] if pairing["round"] == number
                for bot in pairing["bots"]]
        assert sorted(bots) == cup.bots
    points = cup.points()
    assert {row["bot"]: row["points"] for row in table["standings"]} == {
        bot: points[bot] for bot in cup.bots}
    for row in table["standings"]:
        rivals = [bot for pairing in shown["pairings"] if row["bot"] in pairing["bots"]
                  for bot in pairing["bots"] if bot != row["bot"]]
        assert row["tie_breaks"]["Buchholz"] == sum(points[bot] for bot in rivals)
