#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The API on a large ladder, beside matches in play: what it takes to answer, and what the bots
notice of it.

    tests/bench/web.py [--full] [--bots N] [--matches N] [--clients N] [--live N] [--seconds S]

Makes a database of BOTS bots and MATCHES matches by SQL, starts LIVE solo matches of bots that
think 100 to 300 ms with 500 to go, and lets CLIENTS clients ask for standings page by page, each
on one connection, 20 times a second. Rounds of matches alone and of matches with clients take
turns; a late reply is *the server's* when by the bot's own clock it was in time. --full: 5,000 bots,
1,000,000 matches, rounds of 15 s.
"""
import argparse
import base64
import json
import multiprocessing
import os
import pathlib
import selectors
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time

TOP = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("HILL_BUILD", TOP / "build/release"))
sys.path.insert(0, str(TOP / "tests/system"))
from crowd import Crowd  # noqa: E402  (another folder's)

API = "/api/v1"
TURN_MS = 500
THINK_S = (0.1, 0.3)
PAUSE_S = 0.05  # of a client between a reply and its next question
FIELD = b"##########\n#s   #  e#\n#    #   #\n#  c     #\n##########\n"
GZIP = "Accept-Encoding: gzip\r\n"

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
INSERT INTO tally (ladder_id, bot_version_id, matches, score, last_us)
    SELECT 1, bot_version_id, count(*), sum(score), max(match_id) FROM seat GROUP BY bot_version_id;
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
    def __init__(self, folder):
        files = [folder / "port", folder / "http"]
        for file in files:
            file.unlink(missing_ok=True)
        self.control = folder / "sock"
        many = [word for name in ("connections-per-address", "logins-pending-per-address",
                                  "http-connections-per-address")
                for word in ("--set", f"{name}=10000")]
        self.process = subprocess.Popen(
            [BUILD / "server/hilld", "--listen", "127.0.0.1:0", "--database", folder / "hill.db",
             "--port-file", files[0], "--log", folder / "log", "--control", self.control,
             "--http-port-file", files[1], "--http", "127.0.0.1:0", *many])
        while not files[0].exists():
            assert self.process.poll() is None, "hilld has ended"
            time.sleep(0.05)
        self.port, self.http = (int(file.read_text()) for file in files)

    def admin(self, command, **fields):
        with socket.socket(socket.AF_UNIX) as control:
            control.connect(str(self.control))
            control.sendall((json.dumps({"command": command, **fields}) + "\n").encode())
            reply = json.loads(control.makefile("rb").readline())
        assert reply["ok"], reply
        return reply

    def cpu_s(self):
        """{thread: seconds}; the first is the bots' loop."""
        ret = {}
        for task in sorted(pathlib.Path(f"/proc/{self.process.pid}/task").iterdir()):
            words = (task / "stat").read_text().rsplit(") ", 1)[1].split()
            ret[task.name] = (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")
        return ret

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()


# ---- bots, in a process of their own ----

def live_figures(crowd):
    """(matches in play, replies, late ones, of these the server's)."""
    replies = late = wrong = playing = 0
    for player in list(crowd.players):
        playing += player.match is not None
        replies += sum(map(len, list(player.replies.values())))
        for times in list(player.late.values()):
            late += len(times)
            wrong += sum(ms < TURN_MS - 10 for ms in times)
    return playing, replies, late, wrong


def run_bots(pipe, port, tokens):
    crowd = Crowd(port)
    for bot, token in tokens:
        crowd.add(bot, token, "rabbits", THINK_S)
    crowd.start()
    while pipe.recv() != "end":
        pipe.send(live_figures(crowd))
    crowd.stop()


class Bots:
    def __init__(self, server, count):
        server.admin("map add", name="field.map", game="rabbit-runner",
                     data=base64.b64encode(FIELD).decode())
        server.admin("ladder add", name="rabbits", game="rabbit-runner", maps=["field.map"],
                     params="turns=40", turn_ms=TURN_MS, init_ms=2000, bank_ms=0, bank_step_ms=0,
                     lag_cap_ms=0)
        tokens = [(f"live-{i}", server.admin("bot add", name=f"live-{i}",
                                             owner=f"of-live-{i}")["token"]) for i in range(count)]
        self.pipe, theirs = multiprocessing.Pipe()
        self.process = multiprocessing.Process(target=run_bots, args=(theirs, server.port, tokens))
        self.process.start()

    def figures(self):
        self.pipe.send("figures")
        return self.pipe.recv()

    def wait_for(self, count):
        end = time.monotonic() + 60
        while self.figures()[0] < count:
            assert time.monotonic() < end, "the matches do not begin"
            time.sleep(0.2)

    def stop(self):
        self.pipe.send("end")
        self.process.join()


# ---- clients, in one loop, so that they do not wait for each other ----

class Client:
    def __init__(self, port, paths, at):
        self.link = socket.create_connection(("127.0.0.1", port))
        self.link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.paths, self.at = paths, at
        self.data, self.wanted, self.asked = b"", None, None
        self.due = time.perf_counter() + at % 50 * PAUSE_S / 50

    def ask(self):
        path = self.paths[self.at % len(self.paths)]
        self.at += 7
        self.data, self.wanted = b"", None
        self.asked = time.perf_counter()
        self.link.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n{GZIP}\r\n".encode())

    def read(self):
        """The seconds that the reply took, when it is there whole."""
        chunk = self.link.recv(262144)
        assert chunk, "the server has closed the connection"
        self.data += chunk
        if self.wanted is None and b"\r\n\r\n" in self.data:
            head = self.data.partition(b"\r\n\r\n")[0]
            assert head.startswith(b"HTTP/1.1 200 "), head
            length = head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
            self.wanted = len(head) + 4 + int(length)
        if self.wanted is None or len(self.data) < self.wanted:
            return None
        now = time.perf_counter()
        took, self.asked, self.due = now - self.asked, None, now + PAUSE_S
        return took


def run_clients(pipe, port, paths, count, seconds):
    selector = selectors.DefaultSelector()
    clients = [Client(port, paths, 7919 * i) for i in range(count)]
    for client in clients:
        selector.register(client.link, selectors.EVENT_READ, client)
    times, size = [], 0
    end = time.perf_counter() + seconds
    while (now := time.perf_counter()) < end:
        for client in clients:
            if client.asked is None and client.due <= now:
                client.ask()
        for key, _ in selector.select(0.001):
            took = key.data.read()
            if took is not None:
                times.append(took)
                size += key.data.wanted
    pipe.send((sorted(times), size))


def measure(port, paths, clients, seconds):
    """(sorted seconds of all replies, bytes)"""
    mine, theirs = multiprocessing.Pipe()
    process = multiprocessing.Process(target=run_clients,
                                      args=(theirs, port, paths, clients, seconds))
    process.start()
    ret = mine.recv()
    process.join()
    return ret


def show(what, clients, seconds, times, size):
    print(f"{what}: {len(times)} replies to {clients} clients in {seconds:g} s, "
          f"{size / max(1, len(times)):.0f} bytes each; "
          f"p50 {times[len(times) // 2] * 1e3:.2f} ms, p99 {times[len(times) * 99 // 100] * 1e3:.2f}"
          f" ms, most {times[-1] * 1e3:.2f} ms", flush=True)


def side_by_side(server, bots, options, paths):
    rounds = {"alone": [0, 0, 0], "with clients": [0, 0, 0]}
    all_times, all_size, least = [], 0, options.live
    for number in range(4):
        what = ("alone", "with clients")[number % 2]
        before = bots.figures()
        if number % 2:
            times, size = measure(server.http, paths, options.clients, options.seconds)
            all_times += times
            all_size += size
        else:
            time.sleep(options.seconds)
        after = bots.figures()
        least = min(least, after[0])
        rounds[what] = [old + new - was for old, new, was in
                        zip(rounds[what], after[1:], before[1:])]
    show(f"standings, a page, beside {options.live} matches", options.clients, 2 * options.seconds,
         sorted(all_times), all_size)
    for what, (replies, late, wrong) in rounds.items():
        print(f"matches {what}: {replies} replies of bots in {2 * options.seconds:g} s, {late} late,"
              f" of these {wrong} the server's", flush=True)
    return least


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--full", action="store_true", help="5,000 bots, 1,000,000 matches, 15 s")
    parser.add_argument("--bots", type=int)
    parser.add_argument("--matches", type=int)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--live", type=int, default=200)
    parser.add_argument("--seconds", type=float)
    options = parser.parse_args()
    options.bots = options.bots or (5000 if options.full else 500)
    options.matches = options.matches or (1_000_000 if options.full else 20_000)
    options.seconds = options.seconds or (15 if options.full else 3)
    with tempfile.TemporaryDirectory(prefix="hill-web-") as name:
        folder = pathlib.Path(name)
        Server(folder).stop()
        empty = (folder / "hill.db").stat().st_size
        begun = time.monotonic()
        fill(folder / "hill.db", options.bots, options.matches)
        size = (folder / "hill.db").stat().st_size - empty
        print(f"{options.matches} matches of {options.bots} bots made in "
              f"{time.monotonic() - begun:.0f} s: {size / options.matches:.0f} bytes a match, "
              "90 of them transcript and notes", flush=True)
        begun = time.monotonic()
        server = Server(folder)
        print(f"hilld is there after {time.monotonic() - begun:.1f} s", flush=True)
        bots = Bots(server, options.live)
        try:
            bots.wait_for(options.live * 9 // 10)
            pages = [f"{API}/ladders/large/standings?after={after}&limit=100"
                     for after in range(0, options.bots, 100)]
            cpu = server.cpu_s()
            begun = time.monotonic()
            least = side_by_side(server, bots, options, pages)
            seconds = time.monotonic() - begun
            print(f"at least {least} matches in play; CPU by thread: " + ", ".join(
                f"{(after - cpu.get(task, 0)) / seconds:.0%}"
                for task, after in server.cpu_s().items()), flush=True)
            names = [f"{API}/bots/bot-{i}" for i in range(1, options.bots, 37)]
            show("bots", 50, options.seconds, *measure(server.http, names, 50, options.seconds))
            lists = [f"{API}/matches?bot=bot-{i}&limit=20" for i in range(1, options.bots, 37)]
            show("a bot's matches", 10, options.seconds,
                 *measure(server.http, lists, 10, options.seconds))
        finally:
            bots.stop()
            server.stop()


if __name__ == "__main__":
    main()
