# SPDX-License-Identifier: MIT
"""Tables over HTTP: pages, the whole of them, and the same figures as the host's."""
import csv
import gzip
import io
import itertools
import json
import random
import subprocess
import time

import pytest

from arena import Fighter, add_battle, add_rabbits
from conftest import wait_until
from crowd import Crowd
from season import HILLCTL, hillctl
from web import API, insert, open_database, start_web

BOTS = 450


def fill(connection):
    """A ladder of BOTS rated bots; each third one has an older version, too."""
    game = connection.execute("SELECT id FROM game WHERE name = 'rabbit-runner'").fetchone()[0]
    ladder = insert(connection, "ladder", name="wide", name_key="wide", game_id=game, seats=1,
                    params="", turn_ms=500, init_ms=0, grace_ms=0, bank_ms=0, bank_step_ms=0,
                    lag_cap_ms=0, ready_ms=10000, file_ms=10000, bot_seed="own", is_rated=1,
                    created_us=1)
    now = int(time.time() * 1e6)
    for number in range(BOTS):
        owner = insert(connection, "owner", name=f"o{number}", name_key=f"o{number}", created_us=1)
        bot = insert(connection, "bot", owner_id=owner, name=f"bot-{number}",
                     name_key=f"bot-{number}", max_connections=4, created_us=1)
        for age, state in enumerate(("active", "retired")[:1 + (number % 3 == 0)]):
            version = insert(connection, "bot_version", bot_id=bot, number=2 - age,
                             label=f"v{2 - age}", state=state, created_us=1, active_us=1)
            insert(connection, "rating", ladder_id=ladder, bot_version_id=version,
                   mu=20 + number * 7 % 101 / 10, sigma=2.5, rounds=12, sequence=0,
                   changed_us=now)


@pytest.fixture
def wide(start_hilld, tmp_path):
    server = start_hilld()
    server.stop()
    with open_database(server.database) as connection:
        fill(connection)
    return start_web(start_hilld, tmp_path)


def walk(web, query=""):
    """All lines, page by page, and the pages' sizes."""
    rows, sizes, after = [], [], 0
    while after is not None:
        page = web.get(f"/ladders/wide/standings?after={after}{query}")
        rows += page["standings"]
        sizes.append(len(page["standings"]))
        after = page["next"]
    return rows, sizes


def test_a_page_is_bounded_and_the_export_is_whole(wide):
    _, web = wide
    rows, sizes = walk(web)
    assert len(rows) == BOTS + BOTS // 3 and sizes == [100] * 6
    assert [row["rank"] for row in rows] == sorted(row["rank"] for row in rows)
    assert walk(web, "&limit=77")[0] == walk(web, "&limit=1000")[0] == rows
    active = [row for row in rows if row["active"]]
    assert walk(web, "&versions=active") == (active, [100] * 4 + [50])
    assert walk(web, "&versions=active&limit=33")[0] == active
    lines = web.ask(f"{API}/export/standings/wide/all.jsonl")[2].splitlines()
    assert [json.loads(line) for line in lines] == rows
    table = list(csv.DictReader(io.StringIO(
        web.ask(f"{API}/export/standings/wide/all.csv")[2].decode(), newline="")))
    assert [(line["bot"], float(line["mu"]), int(line["rank"])) for line in table] == [
        (row["bot"], row["mu"], row["rank"]) for row in rows]
    web.get("/export/standings/none/all.csv", 404)


@pytest.mark.parametrize("is_rated", [True, False], ids=["rated", "contest"])
def test_bc91_tied_ranks_go_on_over_the_page(start_hilld, tmp_path, is_rated):
    server, _ = start_web(start_hilld, tmp_path)
    add_rabbits(server, "wide", **({} if is_rated else {"seeds": "5..5"}))
    places = 70
    for number in range(places):
        server.add_bot(f"bot-{number}")
    server.stop()
    with open_database(server.database) as c:
        for number in range(places):
            level = 44 if 44 <= number < 60 else number  # ranks 45 to 60 are one
            if is_rated:
                insert(c, "rating", ladder_id=1, bot_version_id=number + 1, mu=60 - level / 2,
                       sigma=2.5, rounds=12, sequence=0, changed_us=int(time.time() * 1e6))
            else:
                insert(c, "tally", ladder_id=1, bot_version_id=number + 1, matches=2,
                       score=1000.0 - level, last_us=1)
    _, web = start_web(start_hilld, tmp_path)
    wanted = [*range(1, 45), *[45] * 16, *range(61, places + 1)]
    for query in ("&limit=50", "&limit=50&versions=active", "&limit=45", "&limit=7", ""):
        rows, sizes = walk(web, query)
        assert [row["rank"] for row in rows] == wanted, query
        assert len({row["bot"] for row in rows}) == places
        if "50" in query:
            assert sizes == [50, 20]
    second = web.get("/ladders/wide/standings?after=50&limit=50")["standings"]
    assert [row["rank"] for row in second] == wanted[50:]
    table = csv.DictReader(io.StringIO(
        web.ask(f"{API}/export/standings/wide/all.csv")[2].decode(), newline=""))
    assert [int(line["rank"]) for line in table] == wanted


def test_pages_made_ready_are_conditional_and_compressed(wide):
    _, web = wide
    for query in ("", "?after=100", "?versions=active", "?after=3&limit=50"):
        address = f"{API}/ladders/wide/standings{query}"
        _, headers, body = web.ask(address)
        status, again, packed = web.ask(address, Accept_Encoding="gzip")
        assert status == 200 and gzip.decompress(packed) == body
        assert again["Content-Encoding"] == "gzip" and "Content-Encoding" not in headers
        assert again["ETag"] == headers["ETag"] and len(packed) < len(body) / 4
        assert web.ask(address, If_None_Match=headers["ETag"], Accept_Encoding="gzip")[::2] == (
            304, b"")
        status, head, empty = web.ask(address, "HEAD")
        assert (status, empty, int(head["Content-Length"])) == (200, b"", len(body))


def test_bc59_the_api_and_hillctl_tell_the_same_after_real_rounds(start_hilld, tmp_path):
    server, web = start_web(start_hilld, tmp_path, "--set", "connections-per-address=100",
                            "--set", "logins-pending-per-address=100")
    limits = {"turn_ms": 20000, "bank_ms": 0}
    add_rabbits(server, "rabbits", **limits)
    add_battle(server, "battle", seats=2, rated=True, maxturns=4, **limits)
    crowd = Crowd(server.port)
    for ladder in ("rabbits", "battle"):
        for number in range(8 if ladder == "rabbits" else 4):  # a round of runs takes 8
            name = f"{ladder}-{number}"
            crowd.add(name, server.add_bot(name, "the-house" if number == 3 else None), ladder)
    server.admin("owner house", name="the-house")
    crowd.start()
    for ladder in ("rabbits", "battle"):
        wait_until("the new table is there",
                   lambda table=ladder: web.ask(f"{API}/ladders/{table}/standings")[0] == 200)
        wait_until("rounds are rated", lambda table=ladder: [
            row["rounds"] >= 3 for row in web.get(f"/ladders/{table}/standings")["standings"]
        ].count(True) >= 3, server.process)
    crowd.stop()
    wait_until("all have left", lambda: server.admin("status")["server"]["connections"] == 0)
    for ladder in ("rabbits", "battle"):
        def of_host(name=ladder):
            told = json.loads(subprocess.run(
                [HILLCTL, "--json", "--database", server.database, "standings", name],
                check=True, stdout=subprocess.PIPE, timeout=60).stdout)["standings"]
            return [{key: row[key] for key in row if key != "number"} for row in told]

        def of_api(name=ladder):
            return [{**{key: row[key] for key in ("rank", "bot", "owner", "version", "house", "mu",
                                                  "sigma", "rounds", "provisional", "inactive")},
                     "rating": row["rating"], "low": row["interval"][0],
                     "high": row["interval"][1]}
                    for row in web.get(f"/ladders/{name}/standings")["standings"]]

        # The last rounds may close after the last bot has left: ask both anew.
        wait_until("the same table",
                   lambda api=of_api, host=of_host: close(api(), host()))
        wanted = of_host()
        assert len(wanted) >= 3 and any(row["sigma"] < 25 / 3 - 0.2 for row in wanted)

        def counted(name=ladder):
            return {row["bot"]: row["matches"]
                    for row in web.get(f"/ladders/{name}/standings")["standings"]}

        def stored(name=ladder):
            with open_database(server.database) as c:
                return dict(c.execute(
                    "SELECT b.name, count(*) FROM seat s JOIN match m ON m.id = s.match_id "
                    "JOIN bot_version v ON v.id = s.bot_version_id JOIN bot b ON b.id = v.bot_id "
                    "JOIN ladder l ON l.id = m.ladder_id WHERE l.name = ? AND m.status = 'stored' "
                    "GROUP BY b.id", (name,)))

        wait_until("as many matches told as stored",
                   lambda api=counted, host=stored: api().items() <= host().items())


# Pixels of the two in the first and the second match of a round.
ROUNDS = {"ahead": [(3, 1), (2, 1)], "behind": [(1, 3), (1, 2)], "level": [(2, 2), (1, 1)],
          "split": [(3, 1), (1, 3)]}


def play_rounds(server, names, tokens, outcomes):
    """Rated rounds of two bots who have the ladder for themselves."""
    peers = [server.peer().login(name, tokens[name]) for name in names]
    for peer in peers:
        peer.say("@play battle")
    for number, outcome in enumerate(outcomes, 1):
        for pixels in ROUNDS[outcome]:
            fighters = [Fighter(peer).offered() for peer in peers]
            for fighter in fighters:
                fighter.ready()
            for fighter, count in zip(fighters, pixels):
                fighter.started()
                if number == len(outcomes) and pixels is ROUNDS[outcome][-1]:
                    fighter.peer.say("@leave")
                fighter.peer.say(" ".join(fighter.pixel() for _ in range(count)))
            for fighter in fighters:  # the next offer may come before the result
                fighter.peer.expect(f"@end {fighter.match} ")
    for peer in peers:
        peer.expect(f"@result {fighters[0].match} ")
        peer.close()


def test_bc92_head_to_head_and_its_list_agree(start_hilld, tmp_path):
    """Three bots, 20 rated rounds a pair: the totals, the list behind them and the database."""
    server, web = start_web(start_hilld, tmp_path)
    add_battle(server, "battle", seats=2, rated=True, maxturns=1)
    bots = ("ann", "bob", "cid")
    tokens = {name: server.add_bot(name) for name in bots}
    draw = random.Random(92)
    for names in itertools.combinations(bots, 2):
        # Each kind at least twice, and no two pairs alike.
        play_rounds(server, names, tokens,
                    [*ROUNDS, *ROUNDS, *draw.choices(list(ROUNDS), k=12)])
    wait_until("the table is there",
               lambda: web.ask(f"{API}/ladders/battle/standings")[0] == 200)
    wait_until("all are rated", lambda: [
        row["rounds"] for row in web.get("/ladders/battle/standings")["standings"]] == [40] * 3)
    with open_database(server.database) as c:
        places = c.execute(
            "SELECT m.round_id, m.id, b.name, s.rank FROM match m JOIN seat s ON s.match_id = m.id "
            "JOIN bot_version v ON v.id = s.bot_version_id JOIN bot b ON b.id = v.bot_id "
            "WHERE m.status = 'stored' AND m.is_rated ORDER BY m.id DESC").fetchall()
    rounds = {}  # {round: {bot: sum of its places}}
    for number, _, bot, rank in places:
        sums = rounds.setdefault(number, {})
        sums[bot] = sums.get(bot, 0) + rank
    totals = {}
    for bot in bots:
        found = web.get(f"/bots/{bot}/head-to-head?ladder=battle")
        assert found == web.get(f"/bots/{bot}/head-to-head")
        assert found["rounds"] == 40
        for row in found["opponents"]:
            totals[bot, row["opponent"]] = [row[key] for key in ("ahead", "level", "behind")]
            assert row["rounds"] == 20
    assert totals.keys() == set(itertools.permutations(bots, 2))
    for (bot, other), told in totals.items():
        both = [sums for sums in rounds.values() if sums.keys() == {bot, other}]
        assert told == [sum(sums[bot] < sums[other] for sums in both),
                        sum(sums[bot] == sums[other] for sums in both),
                        sum(sums[bot] > sums[other] for sums in both)], (bot, other)
        assert told == totals[other, bot][::-1] and sum(told) == len(both) == 20
        assert min(told) >= 2
        # Behind the link: these rounds, and no other match.
        wanted = [match for number, match, name, _ in places
                  if name == bot and other in rounds[number]]
        query = f"bot={bot}&opponent={other}"
        page = web.get(f"/matches?{query}&ladder=battle&limit=200")["matches"]
        assert [row["id"] for row in page] == wanted and len(wanted) == 2 * sum(told)
        assert len({row["round"] for row in page}) == sum(told)
        assert all({seat["bot"] for seat in row["seats"]} == {bot, other} for row in page)
        lines = web.ask(f"{API}/export/matches.jsonl?{query}")[2].splitlines()
        assert [json.loads(line)["id"] for line in lines] == wanted
        listed = json.loads(hillctl(
            server.database, "--json", "match", "list", "--bot", bot, "--opponent", other,
            "--ladder", "battle", "--limit", 1000).stdout)
        assert [row["id"] for row in listed["matches"]] == wanted


def close(rows, others):
    """The same rows; numbers to 12 digits."""
    return len(rows) == len(others) and all(
        row.keys() == other.keys() and all(
            row[key] == pytest.approx(other[key], rel=1e-12)
            if isinstance(row[key], float) else row[key] == other[key] for key in row)
        for row, other in zip(rows, others))
