#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""How fast the API answers on a large ladder: a database of BOTS bots and MATCHES matches, made
by SQL; CLIENTS clients that ask for standings, page by page, without pause.

    tests/bench/web.py [--bots 5000] [--matches 1000000] [--clients 50] [--seconds 10]

Prints the percentiles and the bytes a match.
"""
import argparse
import http.client
import os
import pathlib
import signal
import sqlite3
import subprocess
import tempfile
import threading
import time

TOP = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("HILL_BUILD", TOP / "build/release"))

FILL = """
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :bots)
INSERT INTO owner (id, name, name_key, created_us) SELECT i, 'o' || i, 'o' || i, 1 FROM n;
INSERT INTO bot (id, owner_id, name, name_key, max_connections, created_us)
    SELECT id, id, 'bot-' || id, 'bot-' || id, 4, 1 FROM owner;
INSERT INTO bot_version (id, bot_id, number, label, state, created_us, active_us)
    SELECT id, id, 1, '1', 'active', 1, 1 FROM bot;
INSERT INTO map (id, game_id, name, created_us, hash, size_bytes, data)
    SELECT 1, id, 'm.map', 0, zeroblob(32), 7, CAST('#R\\L#\n#' AS BLOB) FROM game
    WHERE name = 'lambda-mining';
INSERT INTO ladder (id, name, name_key, game_id, seats, params, turn_ms, init_ms, grace_ms, bank_ms,
    bank_step_ms, lag_cap_ms, ready_ms, file_ms, bot_seed, is_rated, created_us)
    SELECT 1, 'large', 'large', game_id, 1, '', 150000, 0, 0, 0, 0, 0, 10000, 10000, 'own', 1, 0
    FROM map;
INSERT INTO instance (id, map_id, params, seats, seed)
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :matches / 8)
    SELECT i, 1, '', 1, i FROM n;
INSERT INTO match (id, ladder_id, instance_id, status, engine_version, bot_seed, is_rated, turn_ms,
    init_ms, grace_ms, bank_ms, bank_step_ms, bank_spend_ms, lag_cap_ms, started_us, ended_us,
    stall_us, inputs, digest)
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :matches)
    SELECT i, 1, (i - 1) / 8 % (:matches / 8) + 1, 'stored', 1, i, 1, 500, 0, 0, 0, 0, 0, 0,
    i * 1000000, i * 1000000 + 5, 0, 1, i FROM n;
INSERT INTO seat (match_id, number, bot_version_id, points, rank, score, reason, requests, late,
    invalid, overlong, overfull, early, banked, max_us, total_us, lag_us)
    SELECT id, 1, id * 7919 % :bots + 1, id % 1000, 1, id % 1000, 'finished', 1, 0, 0, 0, 0, 0, 0,
    100, 100, 0 FROM match;
INSERT INTO transcript (match_id, samples, transcript, notes)
    SELECT id, zeroblob(16), randomblob(60), randomblob(30) FROM match;
INSERT INTO rating (ladder_id, bot_version_id, mu, sigma, rounds, sequence, changed_us)
    SELECT 1, id, 15 + abs(random() % 2000) / 100.0, 1 + abs(random() % 500) / 100.0, 25, id,
    CAST(strftime('%s') AS INTEGER) * 1000000 FROM bot_version;
"""


def fill(path, bots, matches):
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA synchronous = OFF")
    connection.execute("BEGIN")
    for statement in FILL.split(";\n"):
        if statement.strip():
            connection.execute(statement, {name: value for name, value in
                                           (("bots", bots), ("matches", matches))
                                           if f":{name}" in statement})
    connection.execute("COMMIT")
    connection.close()


class Server:
    def __init__(self, folder, *flags):
        files = [folder / "port", folder / "http"]
        for file in files:
            file.unlink(missing_ok=True)
        self.process = subprocess.Popen(
            [BUILD / "server/hilld", "--listen", "127.0.0.1:0", "--database", folder / "hill.db",
             "--port-file", files[0], "--log", folder / "log", *flags,
             "--http-port-file", files[1], "--http", "127.0.0.1:0",
             "--set", "http-connections-per-address=1000"])
        while not files[0].exists():
            assert self.process.poll() is None, "hilld has ended"
            time.sleep(0.05)
        self.http = int(files[1].read_text())

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()


def ask(port, paths, until, times, size):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    at = 0
    while time.monotonic() < until:
        begun = time.perf_counter()
        connection.request("GET", paths[at % len(paths)])
        reply = connection.getresponse()
        body = reply.read()
        times.append(time.perf_counter() - begun)
        assert reply.status == 200, body
        size[0] += len(body)
        at += 7
        time.sleep(0.05)


def measure(port, what, paths, clients, seconds):
    times, size = [], [0]
    until = time.monotonic() + seconds
    threads = [threading.Thread(target=ask, args=(port, paths[i % len(paths):] + paths, until,
                                                  times, size)) for i in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    times.sort()
    print(f"{what}: {len(times)} replies by {clients} clients in {seconds} s; "
          f"p50 {times[len(times) // 2] * 1e3:.2f} ms, p99 {times[len(times) * 99 // 100] * 1e3:.2f}"
          f" ms, most {times[-1] * 1e3:.2f} ms", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bots", type=int, default=5000)
    parser.add_argument("--matches", type=int, default=1_000_000)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=10)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="hill-web-") as name:
        folder = pathlib.Path(name)
        Server(folder).stop()
        begun = time.monotonic()
        fill(folder / "hill.db", options.bots, options.matches)
        size = (folder / "hill.db").stat().st_size
        print(f"{options.matches} matches of {options.bots} bots made in "
              f"{time.monotonic() - begun:.0f} s: {size / options.matches:.0f} bytes a match, "
              "90 of them transcript and notes", flush=True)
        server = Server(folder)
        try:
            api = "/api/v1"
            pages = [f"{api}/ladders/large/standings?after={after}&limit=100"
                     for after in range(0, options.bots, 100)]
            measure(server.http, "standings, a page", pages, options.clients, options.seconds)
            bots = [f"{api}/bots/bot-{i}" for i in range(1, options.bots, 37)]
            measure(server.http, "bots", bots, options.clients, options.seconds)
            lists = [f"{api}/matches?bot=bot-{i}&limit=20" for i in range(1, options.bots, 37)]
            measure(server.http, "a bot's matches", lists, 10, options.seconds)
        finally:
            server.stop()


main()
