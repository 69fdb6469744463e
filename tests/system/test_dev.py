# SPDX-License-Identifier: MIT
"""hilld --dev: one command for one author at one desk."""
import os
import pathlib
import re
import signal
import subprocess
import time

import pytest

TOP = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("HILL_BUILD", TOP / "build"))


@pytest.fixture
def dev(tmp_path):
    process = subprocess.Popen(
        [BUILD / "server/hilld", "--dev"], stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, start_new_session=True,
        env={**os.environ, "TMPDIR": str(tmp_path)})
    yield process
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=20)


def greeting(process):
    """What it prints at the start, joined."""
    lines = []
    while not lines or not lines[-1].startswith("  look"):
        line = process.stdout.readline()
        assert line, process.stderr.read()
        lines.append(line)
    return "".join(lines)


def test_a_guest_meets_the_house_with_the_printed_line(dev, tmp_path):
    text = greeting(dev)
    assert "house bots: 3" in text
    words = re.search(r"play +(.*?) -- YOUR PROGRAM", text, re.S)[1]
    words = words.replace("\\\n", " ").replace("rabbit-runner", "image-battle")
    done = subprocess.run(
        [*words.split(), "--no-log", "--matches", "1", "--",
         BUILD / "clients/bots/image-blob"],
        capture_output=True, text=True, cwd=tmp_path, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert "against house-image" in done.stdout
    # The other line holds as it stands, too: nothing of hill need be on the path.
    words = re.search(r"look +(.*)", text)[1].split()
    assert "(UTC)" in subprocess.run(words, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_at_its_start_leaves_nothing(dev, tmp_path, number):
    until = time.monotonic() + 20
    while not list(tmp_path.iterdir()):
        assert time.monotonic() < until and dev.poll() is None
        time.sleep(0.001)
    dev.send_signal(number)
    dev.communicate(timeout=20)
    assert dev.returncode == 0
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_nothing_is_left_of_it(dev, tmp_path, number):
    greeting(dev)
    assert len(list(tmp_path.glob("hill-dev-*/*.token"))) == 7
    time.sleep(1.5)  # the house bots' programs are under way
    # As a terminal's Ctrl-C: everybody in the group gets it.
    os.killpg(dev.pid, number)
    _, err = dev.communicate(timeout=20)
    assert dev.returncode == 0, err
    assert list(tmp_path.iterdir()) == []
    end = time.monotonic() + 4
    while time.monotonic() < end:
        left = [entry for entry in pathlib.Path("/proc").glob("[0-9]*/environ")
                if reads(entry, str(tmp_path))]
        if not left:
            return
        time.sleep(0.05)
    assert left == []


def reads(path, text):
    """Whether the file at PATH holds TEXT; a process may be gone by now."""
    try:
        return text.encode() in path.read_bytes() and \
            int(path.parent.name) != os.getpid()
    except OSError:
        return False
