# SPDX-License-Identifier: MIT
"""What nobody should do to hilld, and what then must not happen."""
import json
import os
import pathlib
import resource
import socket
import time

from conftest import WAIT_S, wait_until


def cpu_s(process):
    """Seconds of CPU that PROCESS has used."""
    stat = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK")


def control(server):
    link = socket.socket(socket.AF_UNIX)
    link.settimeout(WAIT_S)
    link.connect(f"{server.short}/sock")
    return link


def answers(server):
    try:
        return server.admin("status")["ok"]
    except (OSError, ValueError):
        return False


def test_control_answers_a_client_that_has_said_all(hilld):
    with control(hilld) as link:
        link.sendall(b'{"command": "bot list"}\n' * 3)
        link.shutdown(socket.SHUT_WR)
        replies = link.makefile("rb").readlines()
    assert [json.loads(reply)["ok"] for reply in replies] == [True] * 3


def test_control_survives_many_commands_at_once(hilld):
    with control(hilld) as link:
        try:
            # They pile up while a worker has the first one.
            link.sendall(b'{"command":"bot list","x":"' + b"A" * 10000000 + b'"}\n'
                         + b'{"command":"drain"}\n' * 500000)
        except OSError:
            pass  # it has ended before all was said
        assert hilld.process.wait(WAIT_S) == 0


def test_control_reads_a_long_line_only_once(hilld):
    before = cpu_s(hilld.process)
    with control(hilld) as link:
        link.sendall(b"A" * 40000000 + b"\n")
        assert not json.loads(link.makefile("rb").readline())["ok"]
    assert cpu_s(hilld.process) - before < 8


def test_control_rests_without_descriptors(start_hilld, tmp_path):
    def limit():
        resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))

    server = start_hilld(limits=limit)
    crowd = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(100)]
    wait_until("the listener rests", lambda: server.logged("event=accept_rests"), server.process)
    hosts = []
    try:
        while len(hosts) < 24:
            hosts.append(control(server))
    except BlockingIOError:
        pass  # the queue is full: so many wait already
    wait_until("the control socket rests", lambda: server.logged("event=control_rests"),
               server.process)
    time.sleep(2)
    assert server.log.read_text().count("event=control_rests") <= 4
    assert (tmp_path / "hilld.stderr").read_text() == ""
    for link in crowd + hosts:
        link.close()
    # Who still stands behind those that left is not taken.
    wait_until("an answer", lambda: answers(server), server.process)
