# SPDX-License-Identifier: MIT
"""Cases from the field that need a whole server: small stacks, NULs, slow readers, and such as
go away."""
import csv
import json
import math
import re
import resource
import socket
import sqlite3
import struct
import subprocess
import sys
import time

import pytest

from arena import MINE, RABBITS, add_battle, add_mine, add_rabbits
from conftest import HILLD, WAIT_S, wait_until
from crowd import Crowd
from memory import Peak
from season import HILLCTL, IS_LONG
from web import (API, CROWDED_MAP, add_crowded, add_instance, add_match, insert, open_database,
                 start_web)

WAL_MOST = 64 * 1024 * 1024
RESULTS = 20_000 if IS_LONG else 1000
ROWS = 10_000
# As much before its first request as the rabbits' and the battle's seats say.
REPLIES = {"rabbits": b"move 1,1 to \x001,2", "battle": b"3,4\x00 3,5", "mine": b"LR\x00DA"}


def small_stack():
    resource.setrlimit(resource.RLIMIT_STACK, (512 * 1024, 512 * 1024))


@pytest.mark.parametrize("line", [b"[" * 100_000, b'{"a":' * 5000, b'{"command":' * 5000,
                                  b'{"command":"bot list","a":' + b"[" * 60_000],
                         ids=lambda value: repr(value)[:20])
def test_bc76_deep_nesting_on_the_control_socket(start_hilld, line):
    server = start_hilld(limits=small_stack)
    with socket.socket(socket.AF_UNIX) as control:
        control.settimeout(WAIT_S)
        control.connect(f"{server.short}/sock")
        control.sendall(line + b"\n")
        reply = json.loads(control.makefile("rb").readline())
    assert reply["ok"] is False and reply["error"]
    assert server.admin("bot list")["bots"] == []


def test_bc76_deep_nesting_on_the_wire(start_hilld):
    server = start_hilld(limits=small_stack)
    for line in (b"[" * 100_000, b'{"a":' * 5000):
        peer = server.peer()
        peer.socket.sendall(line + b"\n")
        assert any(each.startswith("@error line-too-long") for each in peer.rest())
    token = server.add_bot("ann")
    server.peer().login("ann", token)


def test_bc77_no_login_is_cut_at_a_nul(hilld):
    token = hilld.add_bot("abc")
    for name in ("abc\0def", "abc\\u0000def", "abc%00"):
        peer = hilld.peer()
        peer.expect("@hill 1 ")
        peer.say(f"@login {name} {token}")
        assert peer.line().split()[1] in ("bad-text", "login-failed", "bad-arguments")
    peer = hilld.peer()
    peer.expect("@hill 1 ")
    peer.say(f"@register abc\0def invite={token}")
    peer.expect("@error bad-text")
    peer.say(f"@login abc {token}")
    peer.expect("@welcome abc")
    peer.say("@play none\0such")
    peer.expect("@error bad-text")
    peer.say("@help")
    assert peer.line()
    assert [row["name"] for row in hilld.admin("bot list")["bots"]] == ["abc"]


@pytest.mark.parametrize("ladder", REPLIES)
def test_bc77_a_nul_in_a_games_line_is_kept_whole(start_hilld, tmp_path, ladder):
    server, web = start_web(start_hilld, tmp_path)
    limits = {"turn_ms": 20000, "init_ms": 20000, "rated": False}
    if ladder == "rabbits":
        add_rabbits(server, ladder, data=RABBITS, turns=2, **limits)
    elif ladder == "battle":
        add_battle(server, ladder, maxturns=2)
    else:
        add_mine(server, ladder, MINE, **limits)
    peer = server.peer()
    peer.login("ann", server.add_bot("ann"))
    peer.say(f"@play {ladder}")
    match = peer.expect("@match ").split()[1]
    peer.say(f"@ready {match}")
    peer.expect("@start ")
    peer.socket.sendall(REPLIES[ladder] + b"\n")
    if ladder != "mine":
        peer.say("move", "move") if ladder == "rabbits" else peer.say("", "")
    peer.expect(f"@result {match}")
    wait_until("it is stored", lambda: web.ask(f"{API}/matches/{match}")[0] == 200)
    first = json.loads(web.ask(f"{API}/matches/{match}/transcript")[2].splitlines()[0])
    assert first["text"] == {"hex": REPLIES[ladder].hex()}
    peer.say("@help")
    assert peer.line()


# What a double can be, and what is read of each in what we write.
NUMBERS = [(1.8e-308, 1.8e-308), (0.0, 0.0), (-0.0, -0.0), (0.1, 0.1), (math.inf, None),
           (-math.inf, None), (sys.float_info.max, 1.79769313486231e308),
           (-sys.float_info.max, -1.79769313486231e308)]


def strict(text):
    """JSON as other readers have it: no NaN, no number past a double."""
    def real(digits):
        assert math.isfinite(float(digits)), digits
        return float(digits)
    return json.loads(text, parse_float=real, parse_constant=lambda word: pytest.fail(word))


def test_bc78_whatever_a_score_is_our_numbers_are_read_again(start_hilld, tmp_path):
    server = start_hilld()
    add_rabbits(server, "rabbits", data=RABBITS, seeds="5..5")
    for number in range(len(NUMBERS)):
        server.add_bot(f"bot-{number}")
    server.stop()
    with open_database(server.database) as c:
        instance = add_instance(c, 1, 5)
        for at, (value, _) in enumerate(NUMBERS):
            add_match(c, 1, instance, [at + 1], at + 1, scores=(value,))
            insert(c, "tally", ladder_id=1, bot_version_id=at + 1, matches=1, score=value,
                   last_us=1)
        c.execute("UPDATE seat SET columns = '[1.7976931348623157e308, 1.8e-308, -0.0, 7]' "
                  "WHERE match_id = 1")
    server, web = start_web(start_hilld, tmp_path)

    def told(path):
        status, _, body = web.ask(API + path)
        assert status == 200, (path, body)
        return body.decode()
    listed = {row["id"]: row["seats"][0] for row in strict(told("/matches"))["matches"]}
    lines = {row["id"]: row["seats"][0]
             for row in map(strict, told("/export/matches.jsonl").splitlines())}
    cells = {int(row["id"]): row["score"]
             for row in csv.DictReader(told("/export/matches.csv").splitlines())}
    for at, (value, wanted) in enumerate(NUMBERS):
        number = at + 1
        one = strict(told(f"/matches/{number}"))["seats"][0]["score"]
        for found in (one, listed[number]["score"], lines[number]["score"]):
            assert (found, type(found)) == (wanted, type(wanted))
        assert cells[number] == "" if wanted is None else float(cells[number]) == wanted
        exported = subprocess.run([HILLCTL, "--database", server.database, "export", str(number)],
                                  check=True, timeout=WAIT_S, stdout=subprocess.PIPE).stdout
        assert told(f"/matches/{number}/record").encode() == exported
        score = strict(exported)["match"]["seats"][0]["score"]
        assert score == (None if wanted is None else value)
    assert repr(listed[1]["columns"]) == "[1.79769313486231e+308, 1.8e-308, -0.0, 7]"
    table = {row["bot"]: row["mean_score"]
             for row in strict(told("/ladders/rabbits/standings"))["standings"]}
    assert table == {f"bot-{at}": wanted for at, (_, wanted) in enumerate(NUMBERS)}
    strict(told("/bots/bot-4"))


@pytest.mark.parametrize("number", ["1e400", "-1e400", "NaN", "Infinity"])
def test_bc78_a_number_past_a_double_is_an_error(start_hilld, tmp_path, number):
    server, web = start_web(start_hilld, tmp_path)
    assert web.post("/bots", f'{{"name": {number}}}', 400)["code"] == "bad-json"
    with socket.socket(socket.AF_UNIX) as control:
        control.settimeout(WAIT_S)
        control.connect(f"{server.short}/sock")
        control.sendall(f'{{"command": "bot list", "limit": {number}}}\n'.encode())
        reply = strict(control.makefile("rb").readline())
    assert reply["ok"] is False and reply["error"]
    config = tmp_path / "hilld.json"
    config.write_text(f'{{"workers": {number}}}')
    done = subprocess.run([HILLD, "--check-config", "--config", config], check=False,
                          timeout=WAIT_S, capture_output=True, text=True)
    assert done.returncode == 2 and str(config) in done.stderr
    assert web.get("/health")["status"] == "ok"


def fill(server):
    """ROWS old matches of one bot."""
    with open_database(server.database) as c:
        ladder = c.execute("SELECT id FROM ladder").fetchone()[0]
        game_map = c.execute("SELECT id FROM map").fetchone()[0]
        instance = add_instance(c, game_map, 5)
        for number in range(1, ROWS + 1):
            add_match(c, ladder, instance, [1], 1_000_000 + number)


def wal_bytes(server):
    path = server.database.with_name(server.database.name + "-wal")
    return path.stat().st_size if path.exists() else 0


def metric(web, name):
    return int(re.search(rf"\n{name} (\d+)\n", web.ask("/metrics")[2].decode())[1])


def count_replies(web):
    told = web.ask("/metrics")[2].decode()
    return sum(map(int, re.findall(r"\nhill_http_replies_total{.*} (\d+)", told)))


@pytest.mark.parametrize("seconds", [10, 1])
def test_bc83_clients_that_go_away_do_no_harm(little_quarantine, start_hilld, tmp_path, seconds):
    """Half of them by a reset, many of them while a worker makes their answer."""
    server = start_hilld()
    add_rabbits(server, "rabbits", data=CROWDED_MAP)
    server.add_bot("ant")
    server.stop()
    add_crowded(server, [20, *(500 * 2 ** number for number in range(8))])
    server, web = start_web(start_hilld, tmp_path, "--set", f"http-request-seconds={seconds}")
    begun = time.monotonic()
    web.get("/matches/2/grids")
    took = time.monotonic() - begun
    # One that stays waits for longer than it has for a request in the second run.
    slow = next((number for number in range(3, 10) if took * 2 ** (number - 2) > 1.5), 9)
    stays = socket.create_connection(("127.0.0.1", web.port), timeout=WAIT_S)
    stays.sendall(f"GET {API}/matches/{slow}/grids HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    paths = ["/matches?limit=200", "/matches/1/grids?turn=%d", "/matches/2/transcript",
             "/matches/1/grids?turn=%d&count=2", "/matches/1/record", "/events/matches",
             "/export/matches.jsonl", "/matches/2/notes"]
    requests, replies = metric(web, "hill_http_requests_total"), count_replies(web)
    peak = Peak(server.process)
    for number in range(2000):
        # Each address has a share of the worker.
        link = socket.create_connection(("127.0.0.1", web.port),
                                        source_address=(f"127.0.0.{2 + number % 99}", 0))
        path = paths[number % len(paths)].replace("%d", str(number % 20))
        link.sendall(f"GET {API}{path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        if number // len(paths) % 2:
            link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        link.close()
    assert stays.recv(1000).startswith(b"HTTP/1.1 200 ")
    stays.close()
    wait_until("all are answered", lambda: metric(web, "hill_http_jobs") == 0, server.process)
    wait_until("all are gone", lambda: metric(web, "hill_http_connections") == 1, server.process)
    # Whose client was gone when it was made: a half of those that queued behind that one, and more.
    asked = metric(web, "hill_http_requests_total") - requests
    assert asked - (count_replies(web) - replies) > 30
    assert peak.growth_kib() < 60_000
    assert web.get("/health")["status"] == "ok"


def test_bc67_a_slow_client_does_not_hold_the_log(start_hilld, tmp_path):
    """It takes 1 KB a second of a page of 10,000 rows while results are written."""
    server = start_hilld()
    add_rabbits(server, "rabbits", data=RABBITS, turns=3, seeds="1..1000000", turn_ms=20000)
    tokens = [server.add_bot(f"bot-{i}") for i in range(8)]
    server.stop()
    fill(server)
    server, web = start_web(start_hilld, tmp_path, "--set", "connections-per-address=1000",
                            "--set", "logins-pending-per-address=1000")
    slow = socket.socket()
    slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    slow.connect(("127.0.0.1", web.port))
    slow.sendall(f"GET {API}/export/matches.jsonl HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    crowd = Crowd(server.port)
    for number, token in enumerate(tokens):
        crowd.add(f"bot-{number}", token, "rabbits")
    crowd.start()
    most, taken, begun = 0, 0, time.monotonic()
    try:
        while crowd.nresults < RESULTS or taken < 6 * 1024:
            assert time.monotonic() < begun + 300, f"{crowd.nresults} results"
            taken += len(slow.recv(1024, socket.MSG_WAITALL))
            most = max(most, wal_bytes(server))
            time.sleep(1)  # 1 KB a second is what this client is about
    finally:
        crowd.stop()
    wait_until("all are written",
               lambda: server.admin("status")["server"]["connections"] == 0, server.process)
    assert most < WAL_MOST
    outside = sqlite3.connect(server.database, timeout=60)
    assert outside.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0  # nobody is busy
    outside.close()
    assert wal_bytes(server) == 0
    assert slow.recv(1024)  # it is still served
    slow.close()
    print(f"{crowd.nresults} results, {taken} bytes taken; a log of at most {most >> 10} KiB")
    assert server.stop() == 0
