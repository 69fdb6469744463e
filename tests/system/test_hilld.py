# SPDX-License-Identifier: MIT
"""hilld as its host sees it: matches, disk, signals, limits."""
import concurrent.futures
import fcntl
import json
import os
import re
import resource
import signal
import socket
import sqlite3
import subprocess
import threading
import time

from conftest import HILLD, TOP, wait_until
from web import API, start_web

MAP = b"#######\n#s   e#\n#######\n"


def add_rabbits(server, turns=3, **fields):
    server.add_map("t.map", "rabbit-runner", MAP)
    server.admin("ladder add", name="rabbit-runner", game="rabbit-runner", maps=["t.map"],
                 params=f"turns={turns}", turn_ms=20000, **fields)


def play_out(peer, turns=3):
    for left in range(turns, 0, -1):
        peer.expect(f"turnsleft {left}")
        peer.say("move")
    peer.expect("@end ")


def test_a_match_is_on_disk_before_it_is_told(hilld):
    add_rabbits(hilld)
    peer = hilld.peer().login("crazy", hilld.add_bot("crazy"))
    match = peer.ready("rabbit-runner")
    play_out(peer)
    peer.expect(f"@result {match} ")
    with sqlite3.connect(hilld.database) as database:
        rows = database.execute(
            "SELECT m.status, s.reason, b.name FROM match m JOIN seat s ON s.match_id = m.id"
            " JOIN bot_version v ON v.id = s.bot_version_id JOIN bot b ON b.id = v.bot_id"
            " WHERE m.id = ?", (match,)).fetchall()
    assert rows == [("stored", "finished", "crazy")]


def test_ids_are_never_given_again_after_kill(start_hilld):
    server = start_hilld()
    add_rabbits(server)
    token = server.add_bot("crazy")
    told = []
    for _ in range(3):
        peer = server.peer().login("crazy", token)
        match = peer.ready("rabbit-runner")
        play_out(peer)
        peer.expect(f"@result {match} ")
        # The next one may be offered before or after the result.
        if len(peer.offered) < 2:
            peer.expect("@match ")
        told += peer.offered
        server.stop(signal.SIGKILL)
        server = start_hilld()
    assert len(set(told)) == len(told)
    with sqlite3.connect(server.database) as database:
        stored = [row[0] for row in database.execute("SELECT id FROM match ORDER BY id")]
    assert stored == told[::2]


def test_sigterm_lets_a_match_finish(start_hilld):
    server = start_hilld("--drain-seconds", "60")
    add_rabbits(server)
    peer = server.peer().login("crazy", server.add_bot("crazy"))
    match = peer.ready("rabbit-runner")
    peer.expect("turnsleft 3")
    server.process.send_signal(signal.SIGTERM)
    wait_until("draining", lambda: server.logged("event=draining"))
    peer.say("move")
    for left in (2, 1):
        peer.expect(f"turnsleft {left}")
        peer.say("move")
    peer.expect(f"@result {match} ")
    peer.rest()
    assert server.process.wait(30) == 0


def test_second_sigterm_ends_at_once(start_hilld):
    server = start_hilld("--drain-seconds", "3600")
    add_rabbits(server)
    peer = server.peer().login("crazy", server.add_bot("crazy"))
    peer.ready("rabbit-runner")
    server.process.send_signal(signal.SIGTERM)
    wait_until("draining", lambda: server.logged("event=draining"))
    assert server.process.poll() is None
    server.process.send_signal(signal.SIGTERM)
    assert server.process.wait(30) == 0


def test_a_port_file_that_cannot_be_written_is_told_to_who_starts(tmp_path):
    run = subprocess.run([HILLD, "--listen", "127.0.0.1:0", "--database", tmp_path / "a.db",
                          "--log", tmp_path / "log", "--port-file", tmp_path / "no/port"],
                         cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert run.returncode == 1
    assert run.stderr == f"hilld: {tmp_path}/no/port: No such file or directory\n"


class Asked:
    """REQUEST is sent on LINK: what comes back is the first line of it, or all."""

    def __init__(self, link, request):
        self.link = link
        self.link.settimeout(30)
        self.link.sendall(request)

    def line(self):
        return json.loads(self.link.makefile("rb").readline())

    def rest(self):
        with self.link:
            return b"".join(iter(lambda: self.link.recv(65536), b""))


def asked_control(server, **request):
    link = socket.socket(socket.AF_UNIX)
    link.connect(f"{server.short}/sock")
    return Asked(link, (json.dumps(request) + "\n").encode())


def asked_web(web, path, token):
    return Asked(socket.create_connection(("127.0.0.1", web.port)),
                 f"POST {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 0\r\n"
                 f"Authorization: Bearer {token}\r\n\r\n".encode())


def bots(server):
    with sqlite3.connect(server.database) as database:
        return {name for name, in database.execute("SELECT name FROM bot")}


def test_what_is_being_written_at_sigterm_is_answered(start_hilld, tmp_path):
    server, web = start_web(start_hilld, tmp_path, "--drain-seconds", "0")
    tokens = {name: server.add_bot(name) for name in ("crazy", "lazy")}
    peer = server.peer().login("crazy", tokens["crazy"])
    other = sqlite3.connect(server.database, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        # Each waits behind the one before it, and is there when what follows it is answered.
        peer.say("@rotate")
        added = asked_control(server, command="bot add", name="late", owner="o")
        server.admin("status")
        posted = asked_web(web, f"{API}/bots/lazy/token", tokens["lazy"])
        web.get("/health")
        server.admin("status")
        server.process.send_signal(signal.SIGTERM)
        wait_until("draining", lambda: server.logged("event=draining"))
    finally:
        other.execute("ROLLBACK")
        other.close()
    fresh = {"crazy": peer.expect("@token ").split()[1]}
    peer.expect("@error shutdown ")
    head, body = posted.rest().split(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 201 "), head
    fresh["lazy"] = json.loads(body)["token"]
    assert added.line()["ok"]
    assert server.process.wait(30) == 0
    server = start_hilld()
    for name, token in fresh.items():
        server.peer().login(name, token)
    assert "late" in bots(server)


def test_what_waits_to_be_written_at_a_second_sigterm_is_not_done(start_hilld):
    server = start_hilld("--drain-seconds", "0")
    other = sqlite3.connect(server.database, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        first = asked_control(server, command="bot add", name="first", owner="o")
        server.admin("status")
        second = asked_control(server, command="bot add", name="second", owner="o")
        server.admin("status")
        server.process.send_signal(signal.SIGTERM)
        wait_until("draining", lambda: server.logged("event=draining"))
        server.process.send_signal(signal.SIGTERM)
        wait_until("stopped", lambda: server.logged("event=stopped"))
    finally:
        other.execute("ROLLBACK")
        other.close()
    assert first.line()["ok"]
    assert second.line() == {"ok": False, "error": "hilld is about to end: nothing was done"}
    assert server.process.wait(30) == 0
    assert bots(server) == {"first"}


def test_drain_abandons_what_does_not_finish(start_hilld):
    server = start_hilld("--drain-seconds", "0")
    add_rabbits(server)
    peer = server.peer().login("crazy", server.add_bot("crazy"))
    match = peer.ready("rabbit-runner")
    server.process.send_signal(signal.SIGTERM)
    assert "reason=abandoned" in peer.expect(f"@end {match} ")
    peer.expect(f"@void {match}")
    assert server.process.wait(30) == 0
    with sqlite3.connect(server.database) as database:
        assert database.execute("SELECT count(*) FROM match").fetchone() == (0,)


def test_sighup_reopens_the_log_and_rereads_the_config(start_hilld, tmp_path):
    config = tmp_path / "hilld.json"
    config.write_text('{"workers": 1, "drain-seconds": 5}')
    server = start_hilld("--config", config)
    server.log.rename(tmp_path / "old.log")
    config.write_text('{"workers": 2, "drain-seconds": 6}')
    server.process.send_signal(signal.SIGHUP)
    wait_until("a new log", server.log.exists, server.process)
    wait_until("reread", lambda: server.logged("event=config_reread"), server.process)
    assert "workers" in server.logged("event=config_needs_restart")
    config.write_text('{"workers": "many"}')
    server.process.send_signal(signal.SIGHUP)
    wait_until("refused", lambda: server.logged("event=config_refused"), server.process)
    peer = server.peer()
    peer.expect("@hill 1 ")


def test_each_sighup_is_held_against_the_start(start_hilld, tmp_path):
    config = tmp_path / "hilld.json"
    config.write_text('{"workers": 1}')
    server = start_hilld("--config", config)
    for number, (workers, wanted) in enumerate(((2, 1), (2, 2), (1, 2)), 1):
        config.write_text(f'{{"workers": {workers}}}')
        server.process.send_signal(signal.SIGHUP)
        wait_until("reread", lambda: server.log.read_text().count("event=config_reread") == number,
                   server.process)
        assert server.log.read_text().count("event=config_needs_restart") == wanted


def test_a_log_that_cannot_be_opened_is_tried_again(tmp_path):
    config, log, other = tmp_path / "hilld.json", tmp_path / "log", tmp_path / "new/log"
    config.write_text(json.dumps({"log": str(log), "listen": "127.0.0.1:0"}))
    with subprocess.Popen([HILLD, "--config", config, "--database", "a.db"],
                          cwd=tmp_path) as process:
        try:
            wait_until("it listens", lambda: log.exists() and "event=ready" in log.read_text(),
                       process)
            config.write_text(json.dumps({"log": str(other), "listen": "127.0.0.1:0"}))
            process.send_signal(signal.SIGHUP)
            wait_until("told", lambda: f"log={other} reason=\"No such file" in log.read_text(),
                       process)
            other.parent.mkdir()
            process.send_signal(signal.SIGHUP)
            wait_until("the log moves", other.exists, process)
        finally:
            process.terminate()


def test_bad_config_names_file_key_and_value(tmp_path):
    config = tmp_path / "hilld.json"
    for text, words in (('{"wrokers": 1}', ["wrokers", "1"]), ('{"workers": 0}', ["workers", "0"]),
                        ('{"listen": "nowhere"}', ["listen", "nowhere"])):
        config.write_text(text)
        done = subprocess.run([HILLD, "--config", config, "--database", tmp_path / "x.db"],
                              capture_output=True, text=True, timeout=60)
        assert done.returncode == 2
        for word in [str(config), *words]:
            assert word in done.stderr
        assert not (tmp_path / "x.db").exists()


def test_sample_config_is_good():
    done = subprocess.run([HILLD, "--check-config", "--config", TOP / "deploy/hilld.json"],
                          capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


def test_taken_port_and_locked_file_are_told(hilld, tmp_path):
    for flags, words in ((["--listen", f"127.0.0.1:{hilld.port}", "--database", tmp_path / "b.db"],
                          [str(hilld.port), "in use"]),
                         (["--listen", "127.0.0.1:0", "--database", hilld.database],
                          [str(hilld.database)])):
        done = subprocess.run([HILLD, *map(str, flags)], capture_output=True, text=True, timeout=60)
        assert done.returncode == 1
        for word in words:
            assert word in done.stderr


def test_a_start_waits_for_who_writes_the_database(start_hilld, tmp_path):
    server = start_hilld()
    server.add_bot("crazy")
    server.stop()
    lock = tmp_path / "hill.db.lock"
    with open(lock, "r+", encoding="ascii") as holder:
        fcntl.flock(holder, fcntl.LOCK_EX)
        holder.truncate()
        holder.write("4711 (hillctl)\n")
        holder.flush()
        # Whoever holds it longer than ten seconds is named, and that is all.
        begun = time.monotonic()
        done = subprocess.run([HILLD, "--listen", "127.0.0.1:0", "--database", server.database],
                              capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 1 and 9 < time.monotonic() - begun < 40, done
        held = r"in use by another hill program, process 4711 \(hillctl\)"
        assert re.search(rf"event=database_locked seconds=10 reason=\".*{held}\"", done.stderr)
        assert done.stderr.count("database_locked") == 1
        assert re.search(rf"event=start_failed reason=\".*{held}\"", done.stderr)
        # Whoever is done sooner is waited for.
        server.log.unlink()
        with concurrent.futures.ThreadPoolExecutor() as pool:
            starting = pool.submit(start_hilld)
            wait_until("it waits", lambda: server.log.exists() and
                       "event=database_locked" in server.log.read_text())
            fcntl.flock(holder, fcntl.LOCK_UN)
            again = starting.result()
    assert f"{again.process.pid} (hilld)" in lock.read_text()
    again.add_bot("lazy")


def test_control_socket_is_the_owners_alone(hilld):
    mode = os.stat(f"{hilld.short}/sock").st_mode
    assert mode & 0o077 == 0


def test_a_token_is_in_no_log(hilld):
    add_rabbits(hilld)
    token = hilld.add_bot("crazy")
    hilld.peer().login("crazy", token)
    wrong = hilld.peer()
    wrong.expect("@hill")
    wrong.say(f"@login crazy {token}x", f"@login {token} {token}", token)
    wrong.expect("@error ")
    hilld.admin("status")
    assert token not in hilld.log.read_text()


def test_without_descriptors_matches_go_on(start_hilld):
    def limit():
        resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))

    server = start_hilld(limits=limit)
    add_rabbits(server, turns=50)
    token = server.add_bot("crazy")
    player = server.peer().login("crazy", token)
    player.ready("rabbit-runner")
    player.expect("turnsleft 50")
    crowd = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(200)]
    wait_until("the listener rests", lambda: server.logged("event=accept_rests"), server.process)
    for left in range(49, 0, -1):
        player.say("move")
        player.expect(f"turnsleft {left}")
    rests = server.log.read_text().count("event=accept_rests")
    assert rests <= 10
    for other in crowd:
        other.close()

    def logs_in():
        """Who still stands behind the crowd that left is told to come again."""
        try:
            return server.peer().login("crazy", token)
        except AssertionError:
            return None

    wait_until("a login", logs_in, server.process)


def test_status_tells_what_goes_on(hilld):
    add_rabbits(hilld)
    peer = hilld.peer().login("crazy", hilld.add_bot("crazy"))
    peer.ready("rabbit-runner")
    status = hilld.admin("status")["server"]
    assert status["matches"] == 1
    assert status["logged_in"] == 1
    assert status["listen"] == [f"127.0.0.1:{hilld.port}"]
    json.dumps(status)


def test_writes_that_wait_keep_no_reader_and_no_match_waiting(hilld):
    add_rabbits(hilld)
    peer = hilld.peer().login("crazy", hilld.add_bot("crazy"))
    peer.ready("rabbit-runner")  # numbers for matches are reserved now
    play_out(peer)
    peer.say("@leave")
    # This one's map is not in memory yet.
    hilld.add_map("u.map", "rabbit-runner", MAP + b"\n")
    hilld.admin("ladder add", name="unread", game="rabbit-runner", maps=["u.map"],
                params="turns=3", turn_ms=20000, rated=False)
    replies = []
    other = sqlite3.connect(hilld.database, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    waiting = [threading.Thread(target=lambda name=name: replies.append(hilld.add_bot(name)))
               for name in ("one", "two", "three")]
    for thread in waiting:
        thread.start()
    try:
        hilld.admin("status")
        peer.ready("unread")
        play_out(peer)
        assert not replies
    finally:
        other.execute("ROLLBACK")
        for thread in waiting:
            thread.join()
        other.close()
    assert len(replies) == 3
