# SPDX-License-Identifier: MIT
"""Nothing of an embargoed result leaves hilld before the host reveals it."""
import json
import re
import sqlite3
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from arena import BARE, RABBITS, picture
from conftest import BUILD, wait_until
from crowd import Crowd, Player
from web import API, open_database, start_web

BOTS = ("ann", "bob", "cid")
TELLING = re.compile(r"\b(score|rank|place|points|wins?|late|early|banked|max-ms)\b")


class Recorder(Player):
    """Keeps every line that it was sent, and takes results without a score."""

    def __init__(self, *args):
        super().__init__(*args)
        self.heard = []
        self.told = {}

    def take(self, line, came_ns):
        self.heard.append(line)
        super().take(line, came_ns)

    def on_result(self, parts, keys):
        self.told[int(parts[0])] = keys
        self.crowd.nresults += 1


class Cup:
    def __init__(self, server):
        self.server = server
        self.crowd = Crowd(server.port)
        server.add_map("arena.png", "image-battle", picture(2))
        server.admin("ladder add", name="battle", game="image-battle", seats=2, rated=True,
                     maps=["arena.png"], params="batch=10 maxturns=4", turn_ms=60000, **BARE)

    def enter(self, bot, ladder="battle"):
        token = self.server.add_bot(bot)
        self.crowd.players.append(Recorder(self.crowd, bot, token, ladder, (0, 0)))

    def play(self, **fields):
        self.server.admin("tournament create", name="cup", entrants=list(BOTS),
                          **{"ladder": "battle", "format": "round-robin", **fields})
        self.server.admin("tournament start", name="cup")
        self.crowd.start()
        wait_until("the end of the cup", lambda: self.row()["state"] == "finished")

    def row(self):
        rows = self.server.admin("tournament list")["tournaments"]
        return next(row for row in rows if row["name"] == "cup")

    def ctl(self, *words):
        done = subprocess.run([BUILD / "clients/ctl/hillctl", "--database", self.server.database,
                               *words], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done

    def matches(self, name="cup"):
        """Those of the cup, as everybody who has the database sees them."""
        played = self.server.admin("tournament show", name=name)["played"]
        numbers = {row["match"] for row in played}
        listed = json.loads(self.ctl("--json", "match", "list", "--limit", "1000").stdout)
        return [row for row in listed["matches"] if row["id"] in numbers]


@pytest.fixture
def cup(hilld):
    return Cup(hilld)


def control_words(line):
    return line.startswith("@") and not line.startswith("@@")


def test_no_line_to_a_bot_tells_a_result(cup):
    for bot in BOTS:
        cup.enter(bot)
    cup.play(embargo=True)
    numbers = {row["id"] for row in cup.matches()}
    assert len(numbers) == 3
    wait_until("all results", lambda: sum(len(numbers & player.told.keys())
                                          for player in cup.crowd.players) == 6)
    cup.crowd.stop()
    for player in cup.crowd.players:
        match, told = None, 0
        for line in player.heard:
            if line.startswith("@match "):
                match = int(line.split()[1])
            of = re.match(r"@(result|place|end|fault|banked) (\d+)", line)
            number = int(of[2]) if of else match
            if number not in numbers:
                continue
            told += 1
            if line.startswith("@match "):
                assert " rated=0" in line
            if line.startswith("@result "):
                assert re.fullmatch(r"@result \d+ embargo=1 reason=\w+", line)
            elif control_words(line):
                assert not line.startswith("@place ")
                assert not TELLING.search(line.split(" : ")[0]), line
            else:
                assert not re.search("score|rank|won|lost", line), line
        assert told > 10
    log = cup.server.log.read_text()
    assert "event=finished" in log
    assert not re.search("score|rank=|points", log)


def test_the_host_sees_results_marked_until_they_are_revealed(cup):
    for bot in BOTS:
        cup.enter(bot)
    cup.play(embargo=True)
    assert {row["embargo"] for row in cup.matches()} == {True}
    assert cup.ctl("match", "list", "--limit", "1000").stdout.count("[under embargo]") == 3
    number = str(cup.matches()[0]["id"])
    assert "under embargo" in cup.ctl("match", "show", number).stdout
    assert "under embargo" in cup.ctl("summary").stdout
    assert "Under embargo" in cup.ctl("tournament", "table", "cup").stdout
    assert "under embargo" in cup.ctl("tournament", "export", "cup").stderr
    with pytest.raises(AssertionError, match="under embargo"):
        cup.server.admin("rematch", id=int(number))
    cup.server.admin("tournament reveal", name="cup")
    assert {row["embargo"] for row in cup.matches()} == {False}
    for words in (("match", "list"), ("match", "show", number), ("summary",),
                  ("tournament", "table", "cup"), ("tournament", "show", "cup")):
        assert "nder embargo" not in cup.ctl(*words).stdout, words
    table = cup.server.admin("tournament table", name="cup")
    assert sum(row["points"] for row in table["standings"]) == 3
    cup.crowd.stop()


def test_no_rematch_shows_an_instance_that_others_have_to_play(cup):
    """The store alone knows which, where seeds are drawn; no embargo, and not its own match."""
    cup.server.admin("ladder add", name="mine", game="lambda-mining", generate="small",
                     turn_ms=20000, **BARE)
    cup.enter("ann", "mine")
    cup.server.add_bot("bob")
    cup.server.admin("tournament create", name="cup", ladder="mine", format="contest", maps=1,
                     entrants=["ann", "bob"], grace_s=600)
    cup.server.admin("tournament start", name="cup")
    cup.crowd.start()
    wait_until("ann's match", lambda: len(cup.matches()) == 1)
    with pytest.raises(AssertionError, match="a tournament plays its instance"):
        cup.server.admin("rematch", id=cup.matches()[0]["id"])
    cup.server.admin("tournament cancel", name="cup")
    assert cup.server.admin("rematch", id=cup.matches()[0]["id"])["ladder"] == "mine"
    cup.crowd.stop()


def seats_over(web):
    """How many seats /metrics says have ended somehow."""
    text = web.ask("/metrics")[2].decode()
    return sum(int(number) for number in re.findall(r"^hill_seats_total{.*} (\d+)$", text, re.M))


def test_the_api_and_the_metrics_know_nothing_of_it(start_hilld, tmp_path):
    server, web = start_web(start_hilld, tmp_path)
    cup = Cup(server)
    for bot in BOTS:
        cup.enter(bot)
    cup.play(embargo=True)
    cup.crowd.stop()
    numbers = [row["id"] for row in cup.matches()]
    everything = {row["id"] for row in web.get("/matches?limit=200")["matches"]}
    assert not everything & set(numbers)
    exported = web.ask(f"{API}/export/matches.jsonl")[2].decode()
    for number in numbers:
        for part in ("", "/transcript", "/notes", "/grids", "/record"):
            web.get(f"/matches/{number}{part}", status=404)
        assert f'"id":{number},' not in exported.replace(" ", "")
    for part in ("", "/matches", "/table"):
        told = web.ask(f"{API}/tournaments/cup{part}")[2].decode()
        assert not re.search('"(score|rank|points|winner)"', told), told
    time.sleep(2.5)  # figures are handed over once a second
    played = len([row for row in json.loads(cup.ctl("--json", "match", "list", "--limit",
                                                    "1000").stdout)["matches"]])
    assert seats_over(web) == 2 * (played - len(numbers))
    with open_database(server.database) as c:
        turns = c.execute("SELECT coalesce(sum(s.requests), 0) FROM seat s JOIN match m "
                          "ON m.id = s.match_id WHERE m.purpose <> 'tournament'").fetchone()[0]
    text = web.ask("/metrics")[2].decode()
    assert int(re.search(r"^hill_turns_total (\d+)$", text, re.M)[1]) == turns
    for part in ("matches", "table"):
        assert web.get(f"/tournaments/cup/{part}", 403)["code"] == "under-embargo"
    server.admin("tournament reveal", name="cup")
    assert sum(row["points"] for row in web.get("/tournaments/cup/table")["standings"]) == 3
    assert web.get(f"/matches/{numbers[0]}")["id"] == numbers[0]
    assert '"score"' in json.dumps(web.get(f"/matches/{numbers[0]}"))
    shown = json.dumps(web.get("/tournaments/cup/matches"))
    assert all(str(number) in shown for number in numbers)


def same_as_the_hosts(cup, table):
    """TABLE is the host's, but for versions and what only the host may know."""
    mine = json.loads(cup.ctl("--json", "tournament", "table", "cup").stdout)
    assert (table["cross"], table["finished"]) == (mine["cross"], mine["finished"])
    assert [{**row, "version": None} for row in table["standings"]] == [
        {**row, "version": None} for row in mine["standings"]]
    rows = json.loads(cup.ctl("--json", "tournament", "export", "cup").stdout)["standings"]
    assert [row["version"] for row in table["standings"]] == [row["label"] for row in rows]
    assert "draw_seed" not in table["tournament"]


def test_the_apis_table_is_the_hosts(start_hilld, tmp_path):
    server, web = start_web(start_hilld, tmp_path)
    cup = Cup(server)
    for bot in BOTS:
        cup.enter(bot)
    web.get("/tournaments/cup/table", 404)
    cup.play()
    cup.crowd.stop()
    wait_until("the last match is in it",
               lambda: web.get("/tournaments/cup/table")["finished"])
    table = web.get("/tournaments/cup/table")
    assert [len(row) for row in table["cross"]] == [3] * 3
    assert [table["cross"][i][i] for i in range(3)] == [None] * 3
    assert sum(row["points"] for row in table["standings"]) == 3
    assert "Sonneborn-Berger" in table["standings"][0]["tie_breaks"]
    same_as_the_hosts(cup, table)
    with ThreadPoolExecutor(8) as many:
        told = set(many.map(lambda _: web.ask(f"{API}/tournaments/cup/table")[2], range(40)))
    assert [json.loads(body) for body in told] == [table]
    server.admin("match void", ids=[cup.matches()[0]["id"]], reason="a test")
    wait_until("it counts no more",
               lambda: web.get("/tournaments/cup/table")["undecided"] == 1)
    same_as_the_hosts(cup, web.get("/tournaments/cup/table"))


def test_a_tournament_on_drawn_maps_hides_them_until_its_end(cup):
    cup.server.admin("ladder add", name="mine", game="lambda-mining", generate="small,flood",
                     turn_ms=20000)
    for bot in BOTS:
        cup.enter(bot, "mine")
    cup.server.admin("tournament create", name="early", ladder="mine", format="contest", maps=2,
                     entrants=list(BOTS), starts="2099-01-01")
    cup.play(ladder="mine", format="contest", maps=2)
    cup.crowd.stop()
    maps = {row["map"] for row in cup.matches("cup")}
    assert len(cup.matches("cup")) == 6 and len(maps) == 2
    with sqlite3.connect(cup.server.database) as database:
        shown = dict(database.execute("SELECT name, visibility FROM map"))
        early = [row[0] for row in database.execute(
            "SELECT map.visibility FROM map, tournament t, json_each(t.options, '$.maps') m "
            "WHERE t.name = 'early' AND map.id = m.value")]
    database.close()
    assert {shown[name] for name in maps} == {"public"}
    assert early == ["hidden", "hidden"]


def test_no_match_of_a_tournament_is_rated(cup):
    for bot in BOTS:
        cup.enter(bot)
    cup.play()
    assert {row["rated"] for row in cup.matches()} == {False}
    cup.crowd.stop()


def test_versions_after_the_deadline_play_unrated_and_are_told(hilld):
    hilld.add_map("run.map", "rabbit-runner", RABBITS)
    hilld.admin("ladder add", name="run", game="rabbit-runner", maps=["run.map"],
                params="turns=1", **BARE)
    tokens = {bot: hilld.add_bot(bot) for bot in ("old", "new")}
    time.sleep(1.1)  # a deadline is a whole second: the first versions are before it
    hilld.admin("deadline", ladder="run", time=time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime()))

    def offered(bot, *more):
        peer = hilld.peer()
        peer.expect("@hill 1 ")
        peer.say(" ".join(("@login", bot, tokens[bot], *more)))
        peer.expect(f"@welcome {bot}")
        peer.say("@play run")
        return peer.expect("@queued "), peer.expect("@match ")

    queued, match = offered("old")
    assert "unrated" not in queued and "rated=1" in match
    queued, match = offered("new", "version=2")
    assert "unrated=deadline" in queued and "rated=0" in match
    hilld.admin("deadline", ladder="run", time="none")
    queued, match = offered("new", "version=2")
    assert "unrated" not in queued
