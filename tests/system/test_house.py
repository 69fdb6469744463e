# SPDX-License-Identifier: MIT
"""deploy/house: the host's own bots, and how they end."""
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

from arena import add_rabbits, rows
from bridges import gone_within
from conftest import BUILD, TOP, wait_until

# A program that notes what it is told. As a bridge does, it plays on after
# the first SIGINT (until a file says that its match is over) and ends at the
# second one, or at SIGTERM.
BRIDGE = """
import os, pathlib, signal, sys, time
folder = pathlib.Path(os.environ["FOLDER"])
told = []
def note(number, _):
    told.append(signal.Signals(number).name)
    # By another name first: whoever looks finds whole lines.
    (folder / f"{os.getpid()}.part").write_text(" ".join(map(str, [os.getpid(), *told])))
    os.rename(folder / f"{os.getpid()}.part", folder / f"{os.getpid()}.told")
for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
    signal.signal(number, note)
TOUCH
while told.count("SIGINT") < 2 and "SIGTERM" not in told:
    if told and (folder / "over").exists():
        break
    time.sleep(0.02)
"""
TOUCH = """
import os, pathlib
(pathlib.Path(os.environ["FOLDER"]) / f"{os.getpid()}.runs").touch()
"""


class House:
    """deploy/house with bridges that play until they are told that it is over.

    Two for each of two ladders; a third one is closed.
    """

    def __init__(self, folder, *words, bridge=BRIDGE):
        self.folder = folder
        programs = {"ctl/hillctl": ("sh", """
case "$*" in
*"ladder list"*) echo '{"ok": true, "ladders": [
	{"name": "rabbit-runner", "disabled": false},
	{"disabled": true, "name": "image-battle"},
	{"name": "lambda-mining", "disabled": false}]}' ;;
*"bot add"*) while [ $# -gt 1 ]; do shift; done; echo token >"$1" ;;
esac
"""), "bridge/hill-bridge": (sys.executable, bridge.replace("TOUCH", TOUCH))}
        for name, (interpreter, text) in programs.items():
            path = folder / "build/clients" / name
            path.parent.mkdir(parents=True)
            path.write_text(f"#!/usr/bin/env {interpreter}\n{text}")
            path.chmod(0o755)
        self.process = subprocess.Popen(
            [TOP / "deploy/house", "--database", "hill.db", "--build", folder / "build", *words],
            cwd=folder, stderr=subprocess.PIPE, text=True, start_new_session=True,
            env={**os.environ, "FOLDER": str(folder)})
        wait_until("four house bots", lambda: len(list(folder.glob("*.runs"))) == 4, self.process)

    def tell(self, number):
        """What a terminal does: its whole group hears it."""
        os.killpg(self.process.pid, number)

    def told(self):
        """What each bridge was told."""
        return [path.read_text().split()[1:] for path in self.folder.glob("*.told")]

    def group(self):
        """All processes of its group, those that have ended too."""
        found = subprocess.run(["pgrep", "-g", str(self.process.pid)], capture_output=True,
                               text=True, check=False)
        return list(map(int, found.stdout.split()))

    def end(self):
        assert self.process.wait(60) == 0, self.process.stderr.read()
        # A nap that was ended may still be ending; one that goes on does so
        # for longer.
        assert gone_within(self.group(), 0.2)
        assert gone_within([int(path.stem) for path in self.folder.glob("*.runs")], 2)


@pytest.fixture
def house(tmp_path):
    started = []

    def start(*words, **options):
        started.append(House(tmp_path, *words, **options))
        return started[-1]

    yield start
    for one in started:
        for path in one.folder.glob("*.runs"):
            if pathlib.Path(f"/proc/{path.stem}").exists():
                os.kill(int(path.stem), signal.SIGTERM)
        if one.process.poll() is None:
            one.process.kill()
        one.process.communicate(timeout=60)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_the_house_lets_its_bots_finish(house, number):
    one = house()
    one.tell(number)
    wait_until("all are told to finish", lambda: one.told() == [["SIGINT"]] * 4, one.process)
    (one.folder / "over").touch()
    one.end()
    assert one.told() == [["SIGINT"]] * 4


def test_the_house_does_not_wait_for_ever(house):
    one = house("--drain-seconds", "1")
    one.tell(signal.SIGTERM)
    one.end()
    assert one.told() == [["SIGINT", "SIGTERM"]] * 4


def test_told_twice_the_house_ends_at_once(house):
    one = house("--drain-seconds", "86400")
    one.tell(signal.SIGTERM)
    wait_until("all are told to finish", lambda: one.told() == [["SIGINT"]] * 4, one.process)
    one.tell(signal.SIGTERM)
    one.end()
    assert one.told() == [["SIGINT", "SIGTERM"]] * 4


def test_the_house_tells_again_who_has_not_heard(house):
    one = house("--drain-seconds", "0", bridge=BRIDGE.replace(
        '"SIGTERM" not in told', 'told.count("SIGTERM") < 3'))
    one.tell(signal.SIGTERM)
    one.end()


def test_a_house_told_alone_leaves_no_process(house):
    # As deploy/quickstart ends it: nobody else of its group hears of it.
    one = house("--drain-seconds", "0")
    time.sleep(1.5)  # In the middle of one of its naps of a second.
    one.process.send_signal(signal.SIGTERM)
    one.end()


def test_a_house_bot_that_has_not_started_yet_ends(house):
    # Not one of them catches any signal.
    one = house(bridge="import time\nTOUCH\ntime.sleep(600)\n")
    one.tell(signal.SIGTERM)
    one.end()


def test_the_house_keeps_what_its_bots_said_within_bounds(house, tmp_path):
    (tmp_path / "house-logs").mkdir()
    for name, size in (("house-rabbit", 2), ("house-lambda", 1)):
        (tmp_path / f"house-logs/{name}.out").write_bytes(b"x" * (size << 20))
    one = house("--drain-seconds", "0")
    one.tell(signal.SIGTERM)
    one.end()
    assert {path.name: path.stat().st_size >> 20
            for path in (tmp_path / "house-logs").glob("house-[rl]*[bta].out*")} == {
        "house-rabbit.out": 0, "house-rabbit.out.1": 2, "house-lambda.out": 1}


def test_the_house_refuses_a_time_that_is_none(tmp_path):
    done = subprocess.run([TOP / "deploy/house", "--drain-seconds", "1m"], cwd=tmp_path,
                          capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "'1m' is no number" in done.stderr


def test_house_bots_are_made_marked_and_finish_what_they_play(start_hilld, tmp_path):
    hilld = start_hilld()
    os.symlink(f"{hilld.short}/sock", f"{hilld.database}.sock")
    add_rabbits(hilld, ladder="rabbit-runner")
    process = subprocess.Popen(
        [TOP / "deploy/house", "--server", f"127.0.0.1:{hilld.port}", "--database", hilld.database,
         "--tokens", tmp_path / "tokens", "--logs", tmp_path / "logs", "--build", BUILD],
        stderr=subprocess.PIPE, text=True)
    try:
        wait_until("a house bot plays", lambda: rows(hilld, "SELECT 1 FROM match"))
        # The bots rest for a second when a match has begun: it is young.
        wait_until("another match runs", lambda: hilld.admin("status")["server"]["matches"])
    finally:
        process.terminate()
    assert process.wait(60) == 0, process.stderr.read()
    assert hilld.admin("status")["server"]["matches"] == 0
    assert set(rows(hilld, "SELECT how FROM seat")) == {("",)}
    assert set(rows(hilld, "SELECT status FROM match")) == {("stored",)}
    assert rows(hilld, "SELECT is_house FROM owner") == [(1,)]
    assert (tmp_path / "tokens/house-rabbit").stat().st_mode & 0o777 == 0o600
