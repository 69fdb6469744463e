# SPDX-License-Identifier: MIT
"""Tables over HTTP: pages, the whole of them, and the same figures as the host's."""
import csv
import gzip
import io
import json
import time

import pytest

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
