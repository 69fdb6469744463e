# SPDX-License-Identifier: MIT
"""Tables over HTTP: pages, the whole of them, and the same figures as the host's."""
import csv
import gzip
import io
import json
import subprocess
import time

import pytest

from arena import add_battle, add_rabbits
from conftest import wait_until
from crowd import Crowd
from season import HILLCTL
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


def close(rows, others):
    """The same rows; numbers to 12 digits."""
    return len(rows) == len(others) and all(
        row.keys() == other.keys() and all(
            row[key] == pytest.approx(other[key], rel=1e-12)
            if isinstance(row[key], float) else row[key] == other[key] for key in row)
        for row, other in zip(rows, others))
