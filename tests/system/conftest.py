# SPDX-License-Identifier: MIT
"""hilld as a fixture: on a port that the kernel chose, with a database of its own."""
import base64
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time

import pytest

# Fixtures for all tests of these programs.
from bridges import bridge, hill, kind, odd, token  # noqa: F401
from hillctl import (ctl, laddered, laddered_once, played,  # noqa: F401
                     played_once)
from referee import room  # noqa: F401

TOP = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("HILL_BUILD", TOP / "build"))
HILLD = BUILD / "server/hilld"
WAIT_S = 60


def pytest_configure(config):
    config.addinivalue_line("markers", "alone: it measures, and runs beside nothing else")


def wait_until(what, check, process=None, seconds=WAIT_S):
    """The first true value of CHECK(); fails when it takes too long."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = check()
        if value:
            return value
        if process is not None and process.poll() is not None:
            raise AssertionError(f"{what}: the process has ended, status {process.returncode}")
        time.sleep(0.01)
    raise AssertionError(f"{what}: not within {seconds} s")


class Peer:
    """A bot's connection, typed by hand."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=WAIT_S)
        self.lines = self.socket.makefile("rb")
        self.offered = []  # numbers of matches, also of lines that expect() dropped

    def say(self, *lines):
        self.socket.sendall("".join(line + "\n" for line in lines).encode())

    def line(self):
        """The next line without its LF; None at the end of the link."""
        line = self.lines.readline()
        if line.startswith(b"@match "):
            self.offered.append(int(line.split()[1]))
        return line.decode().rstrip("\n") if line else None

    def expect(self, start):
        """The next line that begins with START; lines before it are dropped."""
        seen = []
        while True:
            line = self.line()
            assert line is not None, f"the link ended before {start!r}: {seen}"
            if line.startswith(start):
                return line
            seen.append(line)

    def rest(self):
        """All lines until the server ends the link."""
        return [line.decode().rstrip("\n") for line in self.lines.readlines()]

    def login(self, bot, token):
        self.expect("@hill 1 ")
        self.say(f"@login {bot} {token}")
        self.expect(f"@welcome {bot}")
        return self

    def ready(self, ladder=None):
        """Play LADDER, accept the match; its number."""
        if ladder is not None:
            self.say(f"@play {ladder}")
        match = int(self.expect("@match ").split()[1])
        self.say(f"@ready {match}")
        self.expect(f"@start {match}")
        return match

    def close(self):
        self.lines.close()
        self.socket.close()


class Hilld:
    def __init__(self, folder, *flags, database=None, limits=None):
        # The path of a socket is short: not below pytest's long names.
        self.short = tempfile.mkdtemp(prefix="hill-")
        self.folder = folder
        self.database = database or folder / "hill.db"
        self.log = folder / "hilld.log"
        port_file = pathlib.Path(self.short) / "port"
        self.command = [HILLD, "--listen", "127.0.0.1:0", "--database", self.database, "--control",
                        f"{self.short}/sock", "--port-file", port_file, "--log", self.log, *flags]
        self.stderr = open(folder / "hilld.stderr", "ab")
        self.process = subprocess.Popen([str(word) for word in self.command], stderr=self.stderr,
                                        preexec_fn=limits)
        self.peers = []
        wait_until(f"hilld starts ({self.log})", port_file.exists, self.process)
        self.port = int(port_file.read_text())

    def peer(self):
        self.peers.append(Peer(self.port))
        return self.peers[-1]

    def admin(self, command, **fields):
        """A command of the control socket; its reply, which must be ok."""
        with socket.socket(socket.AF_UNIX) as control:
            control.settimeout(WAIT_S)
            control.connect(f"{self.short}/sock")
            control.sendall((json.dumps({"command": command, **fields}) + "\n").encode())
            reply = json.loads(control.makefile("rb").readline())
        assert reply["ok"], reply
        return reply

    def add_bot(self, name, owner=None):
        """Make a bot; its token."""
        return self.admin("bot add", name=name, owner=owner or f"owner-of-{name}")["token"]

    def add_map(self, name, game, data, **fields):
        self.admin("map add", name=name, game=game, data=base64.b64encode(data).decode(), **fields)

    def logged(self, pattern):
        """The first line of the log that PATTERN is found in, or None."""
        found = re.search(f".*(?:{pattern}).*", self.log.read_text())
        return found and found.group()

    def stop(self, *signals):
        """End it; its exit status."""
        for peer in self.peers:
            peer.close()
        self.peers = []
        if self.process.poll() is None:
            for number in signals or (signal.SIGTERM, signal.SIGTERM):
                self.process.send_signal(number)
                time.sleep(0.05)
        status = self.process.wait(WAIT_S)
        self.stderr.close()
        shutil.rmtree(self.short, ignore_errors=True)
        return status


@pytest.fixture(scope="session")
def unused_database(tmp_path_factory):
    """A database that holds nothing: to make it takes a third of hilld's start."""
    path = tmp_path_factory.mktemp("unused") / "hill.db"
    refused = subprocess.run([BUILD / "clients/ctl/hillctl", "--database", path, "owner", "add", "!"],
                             capture_output=True, check=False)
    assert refused.returncode == 1 and path.exists(), refused
    return path


@pytest.fixture
def start_hilld(tmp_path, unused_database):
    """start(flags...): a running hilld; ended afterwards, without a sanitizer's report."""
    started = []

    def start(*flags, database=None, **options):
        if database is None and not started and not (tmp_path / "hill.db").exists():
            shutil.copy(unused_database, tmp_path / "hill.db")
        started.append(Hilld(tmp_path, *flags, database=database, **options))
        return started[-1]

    yield start
    for server in started:
        server.stop()
    report = (tmp_path / "hilld.stderr")
    if report.exists():
        assert "Sanitizer" not in report.read_text(), report.read_text()


@pytest.fixture
def little_quarantine(monkeypatch):
    """A sanitizer keeps what was freed, and stacks; here growth is to be seen."""
    monkeypatch.setenv("ASAN_OPTIONS", os.environ.get("ASAN_OPTIONS", "") +
                       ":quarantine_size_mb=2:thread_local_quarantine_size_kb=64"
                       ":detect_stack_use_after_return=0")


@pytest.fixture
def hilld(start_hilld):
    return start_hilld()
