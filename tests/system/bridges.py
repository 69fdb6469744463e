# SPDX-License-Identifier: MIT
"""Both bridges as a fixture: on a server that does nothing by itself."""
import os
import pathlib
import signal
import subprocess
import time

import pytest

from fake_hill import FakeHill

TOP = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("HILL_BUILD", TOP / "build"))
BRIDGE = BUILD / "clients/bridge/hill-bridge"
PYTHON = "/usr/bin/python3"
SCRIPT = TOP / "clients/bridge/hill_bridge.py"
# By kind: how each bridge is started.
COMMANDS = {"c": [BRIDGE], "python": [PYTHON, SCRIPT]}
TOKEN = "hill_" + "s3cret" * 5
ECHO = "import sys\nfor line in sys.stdin:\n    print('got', line.strip())\n"
IS_LONG = bool(os.environ.get("HILL_LONG"))

# pylint: disable=redefined-outer-name


@pytest.fixture
def odd(tmp_path, monkeypatch):
    """Bridges that are started from now on live in an odd_system.c: its files by name."""
    preload = tmp_path / "odd_system.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", preload,
                    pathlib.Path(__file__).with_name("odd_system.c"), "-ldl"], check=True)
    files = {name: tmp_path / f"odd-{name}" for name in ("clock", "hosts")}
    for name, path in files.items():
        monkeypatch.setenv(f"ODD_{name.upper()}", str(path))
    monkeypatch.setenv("LD_PRELOAD", str(preload))
    monkeypatch.setenv("ASAN_OPTIONS", "verify_asan_link_order=0:" +
                       os.environ.get("ASAN_OPTIONS", ""))
    return files


@pytest.fixture
def hill():
    server = FakeHill()
    yield server
    server.close()


@pytest.fixture
def token(tmp_path):
    path = tmp_path / "token"
    path.write_text(TOKEN + "\n")
    path.chmod(0o600)
    return path


@pytest.fixture(params=COMMANDS)
def kind(request):
    """Which bridge a test is about: "c" or "python"."""
    if request.param == "python" and is_portable():
        pytest.skip("the Python bridge is tested beside the full build")
    return request.param


@pytest.fixture
def bridge(kind, hill, token, tmp_path):
    """start(program words, options, more environment): a running bridge."""
    started = []

    def start(*program, options=(), env=()):
        process = subprocess.Popen(
            [*COMMANDS[kind], "--server", f"127.0.0.1:{hill.port}", "--bot",
             "crazy", "--token-file", token, "--play", "ladder", *options,
             "--", *map(str, program)],
            cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, env={**environment(tmp_path), **dict(env)})
        started.append(process)
        return process

    yield start
    for process in started:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            process.wait(10)
        process.stdout.close()
        process.stderr.close()


def environment(folder):
    """What a bridge runs in. That Python does not buffer is its own doing."""
    return {**{name: value for name, value in os.environ.items()
               if name != "PYTHONUNBUFFERED"}, "TMPDIR": str(folder)}


def script(tmp_path, text, name="bot.py"):
    path = tmp_path / name
    path.write_text(text)
    return path


def is_portable():
    """Whether the bridge was built without the calls that only Linux has."""
    done = subprocess.run([BRIDGE, "--version"], capture_output=True,
                          text=True, check=True)
    return done.stdout.endswith(" portable\n")


def alive(pid):
    """Whether process PID runs (a zombie does not)."""
    try:
        state = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return state.rsplit(")", 1)[1].split()[0] != "Z"


def gone_within(pids, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if not any(map(alive, pids)):
            return True
        time.sleep(0.02)
    return False


def appears(path, seconds=10):
    """Whether the file PATH is there within SECONDS: a program has come so far."""
    end = time.monotonic() + seconds
    while not path.exists() and time.monotonic() < end:
        time.sleep(0.02)
    return path.exists()


def processes_of(marker):
    """Pids of all processes with MARKER on their command line."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            words = (entry / "cmdline").read_bytes()
        except OSError:
            continue
        is_bridge = any(str(name).encode() in words
                        for name in (BRIDGE, SCRIPT))
        if marker.encode() in words and not is_bridge:
            found.append(int(entry.name))
    return found


def finish(process, code=0):
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=10)
    assert process.returncode == code, err
    return out, err
