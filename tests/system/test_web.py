# SPDX-License-Identifier: MIT
"""The HTTP API as its document has it, on a hilld with matches of all kinds."""
import base64
import gzip
import json
import re
import socket
import subprocess
import time

import pytest

from arena import MINE, RABBITS, add_battle, add_rabbits
from conftest import BUILD, wait_until
from memory import Peak
from web import (API, SECRETS, add_instance, add_match, check_shape, insert, open_database,
                 start_web)

MAKE_MATCHES = BUILD / "tests/system/make-matches"
HIDDEN_BYTES = b"########\n#s   #e#\n########\n"
CONTEST = '{"seats": 1, "group": 1, "sets": 1, "rounds": 1, "maps": []}'
OPEN_MAP = "drawn-1-4711-kept.map"
HIDDEN_MAP = "veiled.map"


def fill(server):
    """Two ladders with real matches, then rounds, ratings and what is hidden."""
    for bot in ("ant", "bee", "cow", "secretive"):
        server.add_bot(bot, owner=f"owner-{bot}")
    add_rabbits(server, "rabbits", data=RABBITS)
    add_battle(server, "battle", seats=2)
    server.add_map(HIDDEN_MAP, "rabbit-runner", HIDDEN_BYTES, visibility="hidden")
    server.add_map(OPEN_MAP, "rabbit-runner", b"#####\n#s e#\n#####\n")


def play(database):
    for ladder, bots in (("rabbits", ["ant"]), ("battle", ["ant", "bee"])):
        done = subprocess.run([str(MAKE_MATCHES), str(database), ladder, "12", "1", *bots, "-"],
                              capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


def reopen(database):
    """A server closes rounds that it finds at its start and knows nothing of."""
    with open_database(database) as c:
        c.execute("UPDATE round SET state = 'open', closed_us = NULL WHERE id = 900")


def one(connection, query, *values):
    return connection.execute(query, values).fetchone()[0]


def add_hidden(database):
    """Matches of which the public may know little or nothing; their numbers."""
    with open_database(database) as c:
        version = {name: one(c, "SELECT v.id FROM bot_version v JOIN bot b ON b.id = v.bot_id "
                             "WHERE b.name = ?", name) for name in ("ant", "bee", "cow", "secretive")}
        rabbits = one(c, "SELECT id FROM ladder WHERE name = 'rabbits'")
        maps = {name: one(c, "SELECT id FROM map WHERE name = ?", name)
                for name in (HIDDEN_MAP, OPEN_MAP, "rabbits.map")}
        c.execute("UPDATE map SET generator = 'walls/1/4711' WHERE id = ?", (maps[OPEN_MAP],))
        c.execute("UPDATE bot SET is_hidden = 1 WHERE name = 'secretive'")
        c.execute("UPDATE owner SET external_id = 'mat-9911337-' || id, note = 'owes-us-a-beer'")
        # An open round, on a map drawn for it.
        instance = add_instance(c, maps[OPEN_MAP], SECRETS["open-seed"])
        insert(c, "round", id=900, ladder_id=rabbits, instance_id=instance, kind="open",
               state="open", matches_wanted=8, opened_us=int(time.time() * 1e6))
        now = int(time.time() * 1e6)
        add_match(c, rabbits, instance, [version["ant"]], 900, round_id=900, started_us=now,
                  ended_us=now)
        # A map that the host hides.
        instance = add_instance(c, maps[HIDDEN_MAP], SECRETS["hidden-seed"])
        add_match(c, rabbits, instance, [version["bee"]], 901)
        # A tournament under embargo, and one without.
        instance = add_instance(c, maps["rabbits.map"], SECRETS["embargo-seed"])
        for number, name, embargo in ((902, "final", 1), (903, "warm-up", 0)):
            cup = insert(c, "tournament", name=name, name_key=name, ladder_id=rabbits,
                         format="contest", options=CONTEST, seed=SECRETS["tournament-seed"],
                         state="finished", grace_s=0, is_embargo=embargo, created_us=1,
                         started_us=1, ended_us=2)
            for place, bot in ((1, "cow"), (2, "secretive")):
                insert(c, "tournament_entrant", tournament_id=cup, number=place, bot_id=one(
                    c, "SELECT id FROM bot WHERE name = ?", bot), bot_version_id=version[bot])
            add_match(c, rabbits, instance, [version["cow"]], number, purpose="tournament",
                      scores=(987654.25 if embargo else 5.0,), is_rated=0)
            insert(c, "tournament_match", tournament_id=cup, pairing=1, number=1, match_id=number,
                   entrants="1", absent=0, decided_us=1)
        add_match(c, rabbits, instance, [version["secretive"]], 904, status="void",
                  void_reason="stall: a test")
        # A closed round that was rated.
        instance = add_instance(c, maps["rabbits.map"], 42)
        insert(c, "round", id=905, ladder_id=rabbits, instance_id=instance, kind="open",
               state="rated", matches_wanted=2, opened_us=1, closed_us=2)
        for number, name in ((905, "ant"), (906, "bee")):
            add_match(c, rabbits, instance, [version[name]], number, round_id=905)
        insert(c, "rating_event", sequence=1, ladder_id=rabbits, round_id=905, rated_us=5)
        for rank, name in ((1, "ant"), (2, "bee")):
            mu, sigma = 25 + 3 * (1.5 - rank), 8.1
            insert(c, "rating_change", sequence=1, bot_version_id=version[name], rank=rank,
                   mu_before=25, sigma_before=25 / 3, mu_after=mu, sigma_after=sigma)
            insert(c, "rating", ladder_id=rabbits, bot_version_id=version[name], mu=mu,
                   sigma=sigma, rounds=1, sequence=1, changed_us=int(time.time() * 1e6))


@pytest.fixture
def site(start_hilld, tmp_path):
    server = start_hilld()
    fill(server)
    server.stop()
    play(server.database)
    add_hidden(server.database)
    server, web = start_web(start_hilld, tmp_path)
    reopen(server.database)
    wait_until("standings", lambda: web.get("/ladders/rabbits/standings")["count"] == 2)
    return server, web


def addresses(web, document):
    """Every GET of the document with arguments that exist."""
    arguments = {"ladder": ["rabbits", "battle"], "bot": ["ant", "bee", "cow", "secretive"],
                 "match": [row["id"] for row in web.get("/matches?limit=200")["matches"]] +
                          [900, 901, 902, 904],
                 "game": ["rabbit-runner"], "map": ["rabbits.map", HIDDEN_MAP, OPEN_MAP],
                 "tournament": ["final", "warm-up"]}
    for path, operations in document["paths"].items():
        if "get" not in operations or "/events/" in path:
            continue
        found = [path]
        for name in re.findall(r"{(\w+)}", path):
            found = [each.replace("{%s}" % name, str(value))
                     for each in found for value in arguments[name]]
        for address in found:
            yield path, operations["get"], address


def test_every_route_keeps_what_the_document_promises(site):
    _, web = site
    document = web.get("/openapi.json")
    assert document["openapi"].startswith("3.1")
    answered = set()
    for path, operation, address in addresses(web, document):
        status, headers, body = web.ask(address)
        if status == 200:
            kind, content = next(iter(operation["responses"]["200"]["content"].items()))
            assert headers["Content-Type"].split(";")[0] == kind, address
            if path == f"{API}/health":
                assert json.loads(body)["reason"] is None
            answered.add(path)
            if kind == "application/json":
                check_shape(document, content["schema"], json.loads(body), address)
        else:
            assert status in (403, 404, 422), (address, status, body)
            assert headers["Content-Type"] == "application/problem+json"
            check_shape(document, document["components"]["schemas"]["Problem"], json.loads(body))
    wanted = {path for path, _, _ in addresses(web, document)}
    assert answered == wanted


def test_no_route_tells_what_is_hidden(site):
    """Seeds, maps, bytes and results that the public may not have."""
    _, web = site
    document = web.get("/openapi.json")
    secrets = [str(seed) for seed in SECRETS.values() if seed != SECRETS["embargo-seed"]]
    secrets += [OPEN_MAP, HIDDEN_MAP, "walls/1/4711", "987654", "mat-9911337", "owes-us-a-beer",
                "77000900", "77000901", "77000902"]
    raw = [HIDDEN_BYTES, b"#s e#"]
    seen = 0
    extra = [f"{API}/matches?map={OPEN_MAP}", f"{API}/matches?map={HIDDEN_MAP}",
             f"{API}/matches?ladder=rabbits&limit=200", f"{API}/matches?bot=cow",
             f"{API}/matches?bot=secretive", f"{API}/maps?game=rabbit-runner",
             f"{API}/export/matches.csv?bot=ant"]
    for address in [row[2] for row in addresses(web, document)] + extra:
        for method in ("GET", "HEAD"):
            _, headers, body = web.ask(address, method)
            seen += 1
            text = body.decode("utf-8", "replace") + str(headers)
            for secret in secrets:
                # What was asked for may be named in the refusal of it.
                assert secret not in text.replace(address, "") or \
                    f"there is no map {secret}" in text or f"there is no {secret}" in text, (
                        address, secret)
            for secret in raw:
                assert secret not in body, address
    assert seen > 150
    listed = {row["id"]: row for row in web.get("/matches?limit=200")["matches"]}
    assert 902 not in listed and 903 in listed
    assert web.get("/matches/902", 404)["code"] == "not-found"
    for number in (900, 901):
        assert listed[number]["whole"] is False
        assert listed[number]["seed"] is listed[number]["map"] is None
        for part in ("transcript", "notes", "grids", "record"):
            assert web.get(f"/matches/{number}/{part}", 403)["code"] == "not-yet"
    assert listed[904]["seats"][0]["bot"] is None
    assert web.get("/bots/secretive", 404)
    refusals = [web.get(f"/tournaments/final/{part}", 403) for part in ("matches", "table")]
    assert refusals[0] == refusals[1] and refusals[0]["code"] == "under-embargo"
    assert len(web.get("/tournaments/warm-up/matches")["matches"]) == 1
    table = web.get("/tournaments/warm-up/table")["standings"]
    assert [(row["rank"], row["number"], row["bot"], row["version"]) for row in table] == [
        (1, 1, "cow", "1"), (2, 2, None, None)]


def test_events_tell_nothing_of_what_is_hidden(site):
    server, web = site
    link = socket.create_connection(("127.0.0.1", web.port), timeout=30)
    link.sendall(b"GET /api/v1/events/matches HTTP/1.1\r\nHost: x\r\nLast-Event-ID: 901\r\n\r\n")
    found = b""
    while found.count(b"event: match") < 25:
        found += link.recv(65536)
    link.close()
    assert b"id: 903\n" in found and b"id: 902\n" not in found
    assert str(SECRETS["open-seed"]).encode() not in found


def test_bc59_every_page_shows_the_same_rating(site):
    _, web = site
    table = web.get("/ladders/rabbits/standings")["standings"]
    assert [row["bot"] for row in table] == ["ant", "bee"]
    for row in table:
        page = web.get(f"/bots/{row['bot']}")["standings"]
        mine = next(each for each in page if each["ladder"] == "rabbits")
        change = web.get(f"/bots/{row['bot']}/history?ladder=rabbits")["changes"][0]
        assert {name: mine[name] for name in row} == row
        assert (change["mu_after"], change["sigma_after"]) == (row["mu"], row["sigma"])
        assert abs(row["rating"] - (row["mu"] - 3 * row["sigma"])) <= 0.051
        assert abs(row["interval"][1] - row["mu"] - 1.96 * row["sigma"]) < 0.01
        assert row["provisional"] is True
    rival = web.get("/bots/ant/head-to-head")["opponents"]
    assert [(row["opponent"], row["ahead"], row["behind"]) for row in rival] == [("bee", 1, 0)]


def test_pages_go_through_all_matches_once(site):
    _, web = site
    whole = [row["id"] for row in web.get("/matches?limit=200")["matches"]]
    assert whole == sorted(whole, reverse=True) and len(whole) == len(set(whole)) > 25
    seen, before = [], ""
    while True:
        page = web.get(f"/matches?limit=7{before}")
        seen += [row["id"] for row in page["matches"]]
        if page["next"] is None:
            break
        before = f"&before={page['next']}"
    assert seen == whole
    lines = web.ask(f"{API}/export/matches.jsonl")[2].splitlines()
    assert [json.loads(line)["id"] for line in lines] == whole
    csv = web.ask(f"{API}/export/matches.csv?ladder=battle")[2].decode().split("\r\n")
    battles = [row for row in web.get("/matches?ladder=battle&limit=200")["matches"]]
    assert len(csv) == 2 * len(battles) + 2 and csv[0].startswith("id,ladder,")


def test_filters_leave_what_they_say(site):
    _, web = site
    rows = web.get("/matches?limit=200")["matches"]

    def ids(query):
        return [row["id"] for row in web.get(f"/matches?limit=200&{query}")["matches"]]

    def bots(row):
        return [seat["bot"] for seat in row["seats"]]
    assert ids("bot=bee") == [r["id"] for r in rows if "bee" in bots(r)]
    assert ids("bot=bee&opponent=ant") == [r["id"] for r in rows if {"ant", "bee"} == set(bots(r))]
    assert ids("bot=ant&version=1&ladder=rabbits") == [
        r["id"] for r in rows if bots(r) == ["ant"] and r["ladder"] == "rabbits"]
    assert ids("map=rabbits.map") == [r["id"] for r in rows if r["map"] == "rabbits.map"]
    assert ids("status=void") == [r["id"] for r in rows if r["status"] == "void"] != []
    assert ids("reason=gone") == [r["id"] for r in rows
                                  if any(s["reason"] == "gone" for s in r["seats"])]
    since = rows[3]["ended"]
    assert ids(f"since={since}") and rows[3]["id"] in ids(f"since={since}")
    assert rows[3]["id"] not in ids(f"until={since}")
    web.get("/matches?bot=nobody", 404)
    web.get("/matches?version=1", 400)
    for bad in ("limit=0", "limit=201", "limit=x", "before=-1", "since=yesterday", "status=lost",
                "bot=", "x=1", "limit=1&limit=2", "before=9223372036854775808"):
        assert web.get(f"/matches?{bad}", 400)["status"] == 400


def test_matches_are_found_by_a_drawn_map_when_it_is_shown(start_hilld, tmp_path):
    """Neither before its round has closed nor while it waits in stock."""
    server, web = start_web(start_hilld, tmp_path)
    server.admin("ladder add", name="mine", game="lambda-mining", generate="small,flood",
                 round_runs=2)
    played = []
    for name in ("ann", "bob", "cid"):
        peer = server.peer().login(name, server.add_bot(name))
        played.append(peer.ready("mine"))
        peer.say("A", "@leave")
        peer.expect(f"@result {played[-1]} ")

    def maps():
        return {row["name"] for row in web.get("/maps")["maps"]}
    shown = wait_until("the first round is closed", maps)
    assert len(shown) == 1
    for query in ("", "&game=lambda-mining", "&ladder=mine"):
        found = web.get(f"/matches?map={min(shown)}{query}")["matches"]
        assert [row["id"] for row in found] == played[1::-1], query
    assert web.ask(f"{API}/maps/lambda-mining/{min(shown)}")[0] == 200
    with open_database(server.database) as c:
        drawn = {name for name, in c.execute("SELECT name FROM map")}
    assert len(drawn) >= 2
    for name in drawn - shown:
        assert web.get(f"/matches?map={name}", 404)["code"] == "not-found"
        assert web.ask(f"{API}/maps/lambda-mining/{name}")[0] == 404


def test_a_map_of_two_games_is_told_apart_by_the_game(start_hilld, tmp_path):
    server, web = start_web(start_hilld, tmp_path)
    add_rabbits(server, "same")
    server.admin("map add", name="same.map", game="lambda-mining",
                 data=base64.b64encode(MINE).decode())
    server.admin("ladder add", name="mine", game="lambda-mining", maps=["same.map"])
    server.add_bot("ant")
    with open_database(server.database) as c:
        for number, ladder in ((1, "same"), (2, "mine")):
            add_match(c, one(c, "SELECT id FROM ladder WHERE name = ?", ladder),
                      add_instance(c, number, 1), [1], number)
    for number, game in ((1, "rabbit-runner"), (2, "lambda-mining")):
        found = web.get(f"/matches?map=same.map&game={game}")["matches"]
        assert [row["id"] for row in found] == [number]
    web.get("/matches?map=same.map&game=image-battle", 404)
    web.get("/matches?map=same.map&game=chess", 404)


def test_a_match_is_seen_turn_by_turn(site):
    _, web = site
    match = max((row for row in web.get("/matches?ladder=battle&limit=200")["matches"]
                 if row["status"] == "stored"), key=lambda row: row["inputs"])
    lines = web.ask(f"{API}/matches/{match['id']}/transcript")[2].splitlines()
    assert len(lines) == match["inputs"]
    assert {json.loads(line)["kind"] for line in lines} <= {"reply", "late", "gone"}
    notes = [json.loads(line) for line in
             web.ask(f"{API}/matches/{match['id']}/notes")[2].splitlines()]
    assert len([note for note in notes if note["kind"] == "late"]) == sum(
        seat["faults"]["late"] for seat in match["seats"])
    for seat in match["seats"]:
        turns = [note["turn"] for note in notes
                 if note["seat"] == seat["seat"] and note["kind"] in ("reply", "late")]
        assert turns == list(range(1, len(turns) + 1)) and turns
    first = web.get(f"/matches/{match['id']}/grids")
    last = web.get(f"/matches/{match['id']}/grids?turn={first['turns'] - 1}")
    again = web.get(f"/matches/{match['id']}/grids?turn={first['turns'] - 1}")
    assert last == again and last["grids"][0]["turn"] == first["turns"] - 1 > 0
    for grid in (first["grids"][0], last["grids"][0]):
        cells = base64.b64decode(grid["cells"])
        assert len(cells) == grid["width"] * grid["height"] == 400
        assert max(cells) == len(grid["palette"]) - 1 > 0
    assert web.get(f"/matches/{match['id']}/grids?turn={first['turns']}", 404)
    some = web.get(f"/matches/{match['id']}/grids?turn=1&count=5")["grids"]
    assert [grid["turn"] for grid in some] == list(range(1, min(6, first["turns"])))


def test_a_picture_that_was_kept_goes_with_its_map(site):
    server, web = site
    match = next(row["id"] for row in web.get("/matches?ladder=battle&limit=200")["matches"]
                 if row["status"] == "stored")
    paths = [f"/matches/{match}/grids", f"/matches/{match}/grids?turn=1"]
    seen = [web.get(path) for path in paths]
    name = web.get(f"/matches/{match}")["map"]
    server.admin("map change", name=name, visibility="hidden")
    assert not web.get(f"/matches/{match}")["whole"]
    for path in paths + [f"/matches/{match}/grids?turn=2"]:
        assert web.get(path, 403)["code"]
    server.admin("map change", name=name, visibility="public")
    assert [web.get(path) for path in paths] == seen


def test_a_map_is_hidden_until_its_time(start_hilld, tmp_path):
    server, web = start_web(start_hilld, tmp_path)
    server.add_map("exam.map", "rabbit-runner", b"#####\n#s e#\n#####\n", visibility="hidden")
    server.admin("ladder add", name="exam", game="rabbit-runner", maps=["exam.map"],
                 params="turns=3", turn_ms=20000)
    peer = server.peer().login("crazy", server.add_bot("crazy"))
    at = time.time() + 3
    until = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at))
    server.admin("map change", name="exam.map", hidden_until=until)
    assert web.get("/maps")["maps"] == []
    peer.say("@play exam unrated map=exam.map")
    peer.expect("@error unknown-map ")
    assert time.time() < int(at), "too slow to see it hidden"
    wait_until("it is shown", lambda: web.get("/maps")["maps"])
    assert time.time() >= int(at)
    wait_until("players may choose it", lambda: [
        row["visibility"] for row in server.admin("map list")["maps"]] == ["public"])
    peer.say("@play exam unrated map=exam.map")
    peer.expect("@match ")


def test_replies_are_conditional_compressed_and_headless(site):
    _, web = site
    address = f"{API}/matches?limit=200"
    status, headers, body = web.ask(address)
    tag = headers["ETag"]
    status, headers, empty = web.ask(address, If_None_Match=tag)
    assert (status, empty, headers["ETag"]) == (304, b"", tag)
    assert web.ask(address, If_None_Match='"other", ' + tag)[0] == 304
    assert web.ask(address, If_None_Match='"other"')[0] == 200
    status, headers, packed = web.ask(address, Accept_Encoding="br, gzip")
    assert headers["Content-Encoding"] == "gzip" and gzip.decompress(packed) == body
    assert len(packed) < len(body) / 3
    for refusal in ("gzip;q=0", "br, GZIP ; q=0.000", "gzip; q=0.0, br", "x-gzip", "br"):
        assert "Content-Encoding" not in web.ask(address, Accept_Encoding=refusal)[1], refusal
    assert "Content-Encoding" in web.ask(address, Accept_Encoding="br;q=0,gzip; q=0.5")[1]
    status, headers, empty = web.ask(address, "HEAD")
    assert (status, empty, int(headers["Content-Length"])) == (200, b"", len(body))
    # What is made as it is taken has a length that nobody knows before.
    match = web.get("/matches?ladder=rabbits")["matches"][0]["id"]
    for address in (f"{API}/matches/{match}/notes", f"{API}/export/matches.csv",
                    f"{API}/export/standings/rabbits/all.csv", f"{API}/events/matches",
                    f"{API}/events/standings"):
        found = web.raw(f"HEAD {address} HTTP/1.1\r\nHost: x\r\n\r\n"
                        f"HEAD {address} HTTP/1.0\r\n\r\n".encode()).decode()
        first, second, rest = found.split("\r\n\r\n")
        assert rest == "" and "content-length" not in found.lower(), found
        assert "ETag" not in found, found
        assert first.startswith("HTTP/1.1 200 ") and "Transfer-Encoding: chunked" in first
        assert second.startswith("HTTP/1.1 200 ") and "Transfer-Encoding" not in second
    for method in ("PUT", "DELETE", "TRACE", "OPTIONS", "BREW"):
        status, headers, body = web.ask(f"{API}/matches", method)
        assert status == 405 and headers["Allow"] == "GET, HEAD"
        assert json.loads(body)["status"] == 405
    assert web.ask(f"{API}/bots", "PUT")[1]["Allow"] == "GET, HEAD, POST"


def test_keep_alive_pipelines_and_half_closed_links_are_served(site):
    _, web = site
    one_request = b"GET /api/v1/health HTTP/1.1\r\nHost: x\r\n\r\n"
    with socket.create_connection(("127.0.0.1", web.port), timeout=30) as link:
        link.sendall(one_request * 5)
        link.shutdown(socket.SHUT_WR)
        found = b""
        while chunk := link.recv(65536):
            found += chunk
    assert found.count(b"HTTP/1.1 200 OK") == 5
    assert web.raw(b"GET /api/v1/health HTTP/1.0\r\n\r\n").startswith(b"HTTP/1.1 200")
    # So is what is made as it is taken.
    whole = web.ask(f"{API}/export/matches.csv")[2]
    for _ in range(10):
        with socket.create_connection(("127.0.0.1", web.port), timeout=30) as link:
            link.sendall(b"GET /api/v1/export/matches.csv HTTP/1.0\r\n\r\n")
            link.shutdown(socket.SHUT_WR)
            found = b""
            while chunk := link.recv(65536):
                found += chunk
        assert found.split(b"\r\n\r\n", 1)[1] == whole


def test_metrics_count_what_happened(site):
    server, web = site
    peer = server.peer()
    peer.say("@login ant wrong")
    peer.expect("@error login-failed")

    def count():
        text = web.ask("/metrics")[2].decode()
        found = re.search(r'hill_refusals_total\{code="login-failed"\} (\d+)', text)
        return found and int(found[1]) == 1 and text
    text = wait_until("the refusal is counted", count)
    for line in text.splitlines():
        assert re.fullmatch(r'#.*|[a-z_]+(\{[a-z_]+="[^"]*"\})? [0-9.]+', line), line
    for name in ("hill_loop_lag_seconds_bucket", "hill_turn_seconds_bucket", "hill_connections",
                 "hill_store_queue", "hill_store_commit_seconds_count", "hill_faults_total"):
        assert name in text


def test_live_matches_name_no_hidden_bot(start_hilld, tmp_path):
    server, web = start_web(start_hilld, tmp_path)
    add_battle(server, "battle", seats=2)
    for bot in ("ann", "bob"):
        peer = server.peer()
        peer.login(bot, server.add_bot(bot))
        if bot == "bob":
            server.admin("bot hide", name="bob")
        peer.say("@play battle")
    live = wait_until("it is live", lambda: web.get("/live")["matches"])
    assert sorted(live[0]["bots"], key=str) == [None, "ann"]
    assert "bob" not in web.ask(f"{API}/live")[2].decode()


# ---- field cases --------------------------------------------------------------

def test_bc82_no_path_leads_elsewhere(site):
    _, web = site
    for path in ("/replay/12%00.txt", "/bot/Blob%00x", "/static/%2e%2e/%2e%2e/etc/passwd",
                 "/%2e%2e%2f", "/api/v1/matches/1%00", "/api/v1/maps/rabbit-runner/..%2frabbits.map",
                 "/../../etc/passwd", "//etc/passwd"):
        reply = web.raw(f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
        assert reply.split()[1] in (b"400", b"404"), (path, reply)


def test_bc85_too_large_a_body_is_told(site, tmp_path):
    _, web = site
    big = tmp_path / "big"
    big.write_bytes(b"x" * 50_000_000)
    url = f"http://127.0.0.1:{web.port}"
    for path, wanted in (("/", "413"), ("/api/v1/bots", "413")):
        done = subprocess.run(
            ["curl", "-s", "-o", tmp_path / "reply", "-w", "%{http_code}", "-H", "Expect:",
             "--data-binary", f"@{big}", url + path], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (0, wanted), done
        assert json.loads((tmp_path / "reply").read_text())["status"] == 413
    for method in ("PUT", "DELETE", "TRACE", "GIBBERISH"):
        reply = web.raw(f"{method} /api/v1/bots HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
                        "\r\n".encode())
        assert reply.startswith(b"HTTP/1.1 405 "), reply


def test_bc86_heads_are_bounded(little_quarantine, site):
    server, web = site
    web.ask(f"{API}/matches?limit=200")
    peak = Peak(server.process)
    many = b"GET / HTTP/1.1\r\nHost: x\r\n" + b"a: b\r\n" * 100_000 + b"\r\n"
    long = b"GET / HTTP/1.1\r\nHost: x\r\na: " + b"b" * 10_000_000 + b"\r\n\r\n"
    for data in (many, long):
        for _ in range(5):
            reply = web.raw(data)
            assert reply.startswith(b"HTTP/1.1 431 "), reply[:200]
    assert peak.growth_kib() < 20_000


def test_slow_heads_are_bounded_in_time(start_hilld, tmp_path):
    """One byte at a time keeps nobody's connection."""
    _, web = start_web(start_hilld, tmp_path, "--set", "http-request-seconds=1")
    begun = time.monotonic()
    with socket.create_connection(("127.0.0.1", web.port), timeout=30) as link:
        link.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n")
        link.settimeout(0.1)
        found = b""
        while time.monotonic() - begun < 20:
            try:
                link.sendall(b"a")
                chunk = link.recv(1000)
                found += chunk
                if not chunk:
                    break
            except TimeoutError:
                continue
            except OSError:
                break
    assert found.startswith(b"HTTP/1.1 408 ")
    assert time.monotonic() - begun < 10


def test_connections_are_bounded_by_address_and_in_all(start_hilld, tmp_path):
    _, web = start_web(start_hilld, tmp_path, "--set", "http-connections-per-address=3")
    links = [socket.create_connection(("127.0.0.1", web.port)) for _ in range(3)]
    wait_until("the fourth is refused",
               lambda: web.raw(b"").startswith(b"HTTP/1.1 503 "))
    for link in links:
        link.close()
    wait_until("there is room again", lambda: web.ask(f"{API}/health")[0] == 200)


@pytest.mark.parametrize("body, code", [
    (b"[" * 100_000, "bad-request"), (b'{"a":' * 5000, "bad-json"), (b"[" * 60_000, "bad-json"),
    (b'{"name":"ab\\u0000cd"}', "bad-json"), (b'{"name":"ab\0cd"}', "bad-json"),
    (b'{"name":"abc","name":"abd"}', "bad-json"), (b'{"name":"abc"}xyz', "bad-json"),
    (b'{"a\\u0000":1}', "bad-json"), (b'{"name":"abc"} {"name":"abd"}', "bad-json"),
    (b'{"name":1}', "bad-field"), (b'{"name":"abc","x":"y"}', "bad-field"), (b"[]", "bad-json"),
    (b"{}", "bad-field"), (b"", "bad-json"), (b'{"name":"\xff"}', "bad-json"),
], ids=lambda value: repr(value)[:30])
def test_bc76_bc77_bc80_only_good_json_registers(start_hilld, tmp_path, body, code):
    """Deep nesting, NULs, doubled keys, what follows the value; a small stack."""
    import resource

    def small_stack():
        resource.setrlimit(resource.RLIMIT_STACK, (512 * 1024, 512 * 1024))
    _, web = start_web(start_hilld, tmp_path, limits=small_stack)
    status, headers, reply = web.ask(f"{API}/bots", "POST", body, Content_Type="application/json")
    assert 400 <= status < 500 and json.loads(reply)["code"] == code, reply
    assert web.get("/bots")["bots"] == []
    assert web.get("/health")["status"] == "ok"


def test_bc81_numbers_at_the_edge_are_exact(start_hilld, tmp_path):
    server = start_hilld()
    fill(server)
    server.stop()
    edges = [9223372036854775807, 9007199254740993, 0]
    with open_database(server.database) as c:
        for at, seed in enumerate(edges):
            instance = add_instance(c, one(c, "SELECT id FROM map WHERE name = 'rabbits.map'"), seed)
            add_match(c, one(c, "SELECT id FROM ladder WHERE name = 'rabbits'"), instance,
                      [1], 9007199254740993 + at)
    _, web = start_web(start_hilld, tmp_path)
    for at, seed in enumerate(edges):
        match = web.get(f"/matches/{9007199254740993 + at}")
        assert (match["id"], match["seed"]) == (9007199254740993 + at, str(seed))
    for bad in ("9223372036854775808", "-1", "1.0", "%221%22", "0", "1e3", "+1"):
        assert web.get(f"/matches/{bad}", 404)


def test_registrations_by_hour_are_those_of_the_wire(start_hilld, tmp_path):
    server, web = start_web(start_hilld, tmp_path, "--set", "registration=open",
                            "--set", "registrations-per-hour=3")
    web.post("/bots", {"name": "first"})
    peer = server.peer()
    peer.say("@register second")
    peer.expect("@registered second")
    web.post("/bots", {"name": "first"}, 409)  # a try counts, too
    status, headers, reply = web.ask(f"{API}/bots", "POST", b'{"name":"third"}',
                                     Content_Type="application/json")
    refusal = json.loads(reply)
    assert status == 429 and refusal["code"] == "address-limit"
    # Two an hour: the program is told what the person is told.
    assert refusal["detail"].endswith(f" in {headers['Retry-After']} s")
    assert 1000 < int(headers["Retry-After"]) <= 1800
    peer = server.peer()
    peer.say("@register fourth")
    peer.expect("@error address-limit")
    assert [row["name"] for row in web.get("/bots")["bots"]] == ["first", "second"]


def test_register_and_rotate(start_hilld, tmp_path):
    server, web = start_web(start_hilld, tmp_path)
    token = server.add_bot("first", owner="someone")
    refused = web.post("/bots", {"name": "second"}, 403)
    assert refused["code"] == "registration-closed"
    made = web.post("/bots", {"name": "second"}, Authorization=f"Bearer {token}")
    assert made["bot"] == "second"
    server.peer().login("second", made["token"])
    assert web.post("/bots", {"name": "second"}, 409,
                    Authorization=f"Bearer {token}")["code"] == "name-taken"
    assert web.post("/bots", "name=x", 415, **{"Content-Type": "text/plain"})
    web.post("/bots/second/token", "", 401)
    web.post("/bots/second/token", "", 401, Authorization="Bearer hill_wrong")
    web.post("/bots/first/token", "", 401, Authorization=f"Bearer {made['token']}")
    new = web.post("/bots/second/token", "", Authorization=f"Bearer {made['token']}")
    server.peer().login("second", new["token"])
    web.post("/bots/second/token", "", 401, Authorization=f"Bearer {made['token']}")
    assert token not in server.log.read_text() and new["token"] not in server.log.read_text()
