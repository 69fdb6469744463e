# SPDX-License-Identifier: MIT
"""deploy/: what a host runs first."""
import contextlib
import fcntl
import fnmatch
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import urllib.request

import pytest

from bridges import BUILD, IS_LONG, gone_within
from conftest import wait_until

TOP = pathlib.Path(__file__).resolve().parents[2]


def install_deps(*options, **env):
    return subprocess.run([TOP / "deploy/install-deps", *options],
                          capture_output=True, text=True, check=False,
                          env={"PATH": "/usr/bin:/bin", **env})


def test_install_deps_finds_everything_once_installed():
    done = install_deps("--test")
    assert done.returncode == 0
    assert done.stdout == "install-deps: everything is there\n"


def test_install_deps_says_what_it_would_do(tmp_path):
    # A dpkg-query that knows nothing stands for the bare machine.
    fake = tmp_path / "dpkg-query"
    fake.write_text("#!/bin/sh\nexit 1\n")
    fake.chmod(0o755)
    done = install_deps("--dry-run", PATH=f"{tmp_path}:/usr/bin:/bin")
    assert done.returncode == 0
    for package in ("gcc", "libc6-dev", "meson", "libevent-dev"):
        assert f" {package}" in done.stdout
    assert "libcmocka-dev" not in done.stdout


def stand_in(folder, name, text):
    """A program NAME in FOLDER for the real one, a script of sh."""
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def test_install_deps_takes_a_package_of_two_architectures_as_there(tmp_path):
    # What dpkg-query prints of one is its format, once for each.
    stand_in(tmp_path, "dpkg-query",
             """format=$(printf %s "$3" | sed 's/${db:Status-Status}/'"$STATUS/")\n"""
             'for architecture in amd64 i386; do printf "$format"; done')
    path = f"{tmp_path}:/usr/bin:/bin"
    done = install_deps("--test", PATH=path, STATUS="installed")
    assert done.stdout == "install-deps: everything is there\n", done.stderr
    done = install_deps("--dry-run", PATH=path, STATUS="config-files")
    assert " gcc" in done.stdout


@pytest.fixture
def bare_machine(tmp_path):
    """install_deps(text): on a machine that has nothing, and TEXT for `apt-get update`."""
    def install(update):
        calls = tmp_path / "calls"
        calls.write_text("")
        stand_in(tmp_path, "dpkg-query", "exit 1")
        stand_in(tmp_path, "id", "echo 0")
        # Time passes by a minute whenever somebody sleeps.
        stand_in(tmp_path, "sleep", "echo sleep >>$CALLS")
        stand_in(tmp_path, "date", "echo $((1000 + 60 * $(grep -c sleep $CALLS)))")
        stand_in(tmp_path, "apt-get",
                 'case "$*" in *update*) what=update ;; *) what=install ;; esac\n'
                 'echo "$what" >>$CALLS\n[ $what = install ] || {\n' + update + "\n}")
        done = install_deps(PATH=f"{tmp_path}:/usr/bin:/bin", CALLS=str(calls))
        return done, calls.read_text().split()

    return install


LOCKED = ("echo 'E: Could not get lock /var/lib/apt/lists/lock. It is held by process 7' >&2\n"
          "echo 'E: Unable to lock directory /var/lib/apt/lists/' >&2\nexit 100")


def test_install_deps_waits_for_the_lock_of_the_lists(bare_machine):
    done, calls = bare_machine(f"[ $(grep -c update $CALLS) -gt 3 ] || {{ {LOCKED}; }}")
    assert done.returncode == 0, done.stderr
    assert calls == ["update", "sleep"] * 3 + ["update", "install"]
    assert done.stderr == ""
    # Not for ever.
    done, calls = bare_machine(LOCKED)
    assert done.returncode == 1
    assert calls == ["update", "sleep"] * 5 + ["update"]
    assert "held by process 7" in done.stderr


def test_install_deps_tells_at_once_what_else_is_wrong(bare_machine):
    done, calls = bare_machine("echo 'E: no mirror' >&2; exit 100")
    assert done.returncode == 1 and calls == ["update"]
    assert "E: no mirror" in done.stderr


def test_install_deps_refuses_an_unknown_option():
    done = install_deps("--tset")
    assert done.returncode == 2
    assert "--tset" in done.stderr


UNITS = ["hilld.service", "hill-house.service"]


@pytest.mark.parametrize("unit", UNITS)
def test_the_unit_file_is_valid_and_tight(unit):
    if shutil.which("systemd-analyze") is None:
        pytest.skip("no systemd-analyze here")
    done = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", "--threshold=20",
         TOP / "deploy" / unit],
        capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-300:]


def test_nobody_is_killed_while_it_drains():
    drain = {"hilld.service": json.loads((TOP / "deploy/hilld.json").read_text())["drain-seconds"],
             "hill-house.service": int(re.search(r"\ndrain_s=(\d+)\n",
                                                 (TOP / "deploy/house").read_text())[1])}
    for unit in UNITS:
        stop = re.search(r"\nTimeoutStopSec=(\d+)\n", (TOP / "deploy" / unit).read_text())
        assert int(stop[1]) >= drain[unit] + 15
    stop = re.search(r"--stop-timeout (\d+)", (TOP / "deploy/Containerfile").read_text())
    assert int(stop[1]) >= drain["hilld.service"] + 15


def is_in_the_container(path):
    """Whether PATH of the checkout gets there: the last line that names it or its folder says."""
    answer = True
    for line in (TOP / ".dockerignore").read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        pattern = line.lstrip("!")
        parts = path.split("/")
        for index in range(len(parts)):
            head = "/".join(parts[:index + 1])
            if pattern == head or pattern == "*" and index == 0 or (
                    pattern.startswith("**/") and fnmatch.fnmatch(parts[index], pattern[3:])):
                answer = line.startswith("!")
    return answer


def test_no_layer_of_the_container_holds_a_token_or_a_database():
    for path in ("var/hill.db", "var/tokens/yours", "hill.db", "hill.db-wal", "mybot.token",
                 "house-tokens/house-rabbit", "clients/bots/mybot.token", "deploy/hill.db-wal",
                 "build/server/hilld", ".git/config"):
        assert not is_in_the_container(path), path


def test_the_container_builds_of_what_it_gets_with_any_linker(tmp_path):
    source = tmp_path / "source"
    shutil.copytree(TOP, source, ignore=lambda folder, names: [
        name for name in names
        if not is_in_the_container(str((pathlib.Path(folder) / name).relative_to(TOP)))])
    # A linker that has never heard of what GNU's can do.
    stand_in(tmp_path, "cc", 'case "$*" in *--gc-sections*)\n'
             'echo "ld: unknown option" >&2; exit 1 ;; esac\nexec /usr/bin/cc "$@"')
    build = tmp_path / "build"
    done = subprocess.run(["meson", "setup", "--buildtype=release", "-Dtests=disabled", build],
                          cwd=source, capture_output=True, text=True, check=False,
                          env={**os.environ, "CC": str(tmp_path / "cc")})
    assert done.returncode == 0, done.stdout[-2000:]
    assert "--gc-sections" not in (build / "build.ninja").read_text()
    if (BUILD / "build.ninja").exists():
        assert "--gc-sections" in (BUILD / "build.ninja").read_text()


class Quickstart:
    """deploy/quickstart on the programs that are tested, with a folder of its own."""

    def __init__(self, var, *words):
        self.var = var
        build = var.parent / "build"  # the script writes a log beside it
        if not build.is_symlink():
            build.symlink_to(BUILD.resolve())
        self.process = subprocess.Popen(
            [TOP / "deploy/quickstart", "--build", build, "--var", var, *map(str, words)],
            cwd=TOP, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.said = []

    def hear(self, pattern):
        """The first line from here on in which PATTERN is found."""
        for line in self.process.stdout:
            self.said.append(line)
            found = re.search(pattern, line)
            if found:
                return found
        raise AssertionError(f"{pattern} is not in {''.join(self.said)}")

    def commands(self):
        """{pid: command line} of those that name its folder."""
        found = {}
        for entry in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(OSError):
                line = entry.read_bytes()
                if str(self.var).encode() in line:
                    found[int(entry.parent.name)] = line.replace(b"\0", b" ").decode()
        return found

    def pids(self):
        return list(self.commands())

    def end(self, status=0):
        """All that it said, once it has ended and nothing of it is left."""
        self.said.append(self.process.communicate(timeout=180)[0])
        said = "".join(self.said)
        assert self.process.returncode == status, said
        left = self.commands()
        assert gone_within(left, 2), left
        assert "Sanitizer" not in said + (self.var / "hilld.out").read_text()
        return said


@pytest.fixture
def quickstart(tmp_path):
    if not (BUILD / "build.ninja").exists() or not (BUILD / "server/hilld").exists():
        pytest.skip("the clients alone, or programs without their build")
    started = []

    def start(*words):
        started.append(Quickstart(tmp_path / "var", *words))
        return started[-1]

    yield start
    for one in started:
        if one.process.poll() is None:
            one.process.send_signal(signal.SIGTERM)
            one.process.communicate(timeout=60)
        for pid in one.pids():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)


def test_quickstart_ranks_bots_and_goes_on_with_its_file(quickstart, tmp_path):
    ladders = ("rabbit-runner", "image-battle", "lambda-mining")
    stored = []
    # One that was killed while it made the file leaves none: it is made anew.
    run = quickstart("--port", 0, "--http-port", 0)
    run.hear("making")
    wait_until("half a database", (tmp_path / "var/quickstart.new/hill.db").exists, run.process)
    run.process.kill()
    run.process.communicate(timeout=60)
    assert gone_within(run.pids(), 60)
    assert not (tmp_path / "var/hill.db").exists()
    for matches in (3, 12) if IS_LONG else (3,):
        run = quickstart("--port", 0, "--http-port", 0, "--matches", matches)
        url = run.hear(r"HTTP API at (http://127\.0\.0\.1:\d+/\S+)")[1]
        with urllib.request.urlopen(url, timeout=30) as answer:
            assert {one["name"] for one in json.load(answer)["ladders"]} == set(ladders)
        said = run.end()
        assert ("making" if not stored else "going on with") in said
        for ladder in ladders:
            assert re.search(f"standings of {ladder}\n(?:.+\n)+", said), said
        stored.append(sqlite3.connect(tmp_path / "var/hill.db").execute(
            "SELECT count(*) FROM match").fetchone()[0])
        assert stored[-1] >= matches + sum(stored[:-1])
    done = subprocess.run([BUILD / "clients/ctl/hillctl", "--database", tmp_path / "var/hill.db",
                           "--json", "rating", "check"], capture_output=True, text=True,
                          check=False)
    assert done.returncode == 0 and json.loads(done.stdout)["ok"], done.stdout + done.stderr
    for path in (tmp_path / "var/tokens").iterdir():
        assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("name", ["hill.db", "hill.db-wal", "tokens/house-rabbit"])
def test_quickstart_leaves_what_it_did_not_make(quickstart, tmp_path, name):
    var = tmp_path / "var"
    (var / "tokens").mkdir(parents=True)
    (var / name).write_text("somebody's")
    run = quickstart("--port", 0, "--http-port", 0)
    said, _ = run.process.communicate(timeout=180)
    assert run.process.returncode == 1
    assert f"{var / name} is there and not of quickstart's making" in said
    assert (var / name).read_text() == "somebody's"
    assert not (var / "ready").exists() and (var / "hill.db").exists() == (name == "hill.db")


def test_quickstart_makes_a_database_in_place_of_its_own_that_is_gone(quickstart, tmp_path):
    var = tmp_path / "var"
    (var / "tokens").mkdir(parents=True)
    old = [var / "hill.db-wal", var / "tokens/yours", var / "tokens/house-rabbit"]
    for path in [var / "ready", *old]:
        path.write_text("old")
    run = quickstart("--port", 0, "--http-port", 0)
    run.hear("making")
    run.hear("playing; Ctrl-C ends it")
    # None of it is taken for the new one's.
    for path in old:
        wait_until(f"a {path.name} of this database", lambda: path.exists() and
                   path.read_bytes() != b"old", run.process)  # pylint: disable=cell-var-from-loop
    assert not (var / "quickstart.new").exists()
    run.process.send_signal(signal.SIGINT)
    run.end()


def test_quickstart_takes_another_port_for_one_that_is_taken(quickstart):
    with socket.create_server(("127.0.0.1", 0)) as bots, \
            socket.create_server(("127.0.0.1", 0)) as web:
        taken = bots.getsockname()[1], web.getsockname()[1]
        run = quickstart("--port", taken[0], "--http-port", taken[1])
        run.hear(f"quickstart: port {taken[0]} is taken; using another one")
        run.hear(f"quickstart: HTTP port {taken[1]} is taken; using another one")
        assert int(run.hear(r"HTTP API at http://127\.0\.0\.1:(\d+)/")[1]) not in taken
        assert int(run.hear(r"hilld listens on 127\.0\.0\.1:(\d+)")[1]) not in taken
        # So its terminal ends it; hilld would take that for itself as "read again".
        run.process.send_signal(signal.SIGHUP)
        assert "quickstart: stopped" in run.end()
    if IS_LONG:
        # Free again, they are what was asked for.
        run = quickstart("--port", taken[0], "--http-port", taken[1])
        assert int(run.hear(r"HTTP API at http://127\.0\.0\.1:(\d+)/")[1]) == taken[1]
        assert int(run.hear(r"hilld listens on 127\.0\.0\.1:(\d+)")[1]) == taken[0]
        run.process.send_signal(signal.SIGINT)
        run.end()


def test_quickstart_tells_what_else_keeps_hilld_from_starting(quickstart, tmp_path):
    first = quickstart("--port", 0, "--http-port", 0)
    first.hear("HTTP API at")
    before = (tmp_path / "var/port").read_text()
    second = Quickstart(tmp_path / "var", "--port", 0, "--http-port", 0)
    said, _ = second.process.communicate(timeout=60)
    assert second.process.returncode == 1, said
    # The one that runs is named, and keeps its files.
    assert f"process {first.process.pid} runs on {tmp_path / 'var'} already" in said
    assert "building" not in said and "making" not in said and "is taken" not in said
    assert (tmp_path / "var/port").read_text() == before
    names = {path.name for path in (tmp_path / "var").iterdir()}
    assert {"port", "http-port", "hilld.out"} <= names and not [
        name for name in names if name.endswith(f".{second.process.pid}")]
    # So it is when nobody can clean up behind it: the lock is nobody's then.
    pids = first.pids()
    first.process.kill()
    first.process.communicate(timeout=60)
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
    assert gone_within(pids, 60)
    third = quickstart("--port", 0, "--http-port", 0)
    third.hear("going on with")
    third.hear("HTTP API at")  # before that a Ctrl-C ends the shell alone
    third.process.send_signal(signal.SIGINT)
    third.end()


def test_quickstart_deletes_nothing_that_another_one_fills(quickstart, tmp_path):
    var = tmp_path / "var"
    database = var / "quickstart.new/hill.db"
    database.parent.mkdir(parents=True)
    database.write_bytes(b"half of it")
    with open(var / "quickstart.lock", "w", encoding="ascii") as holder:
        fcntl.flock(holder, fcntl.LOCK_EX)
        holder.write("4711\n")
        holder.flush()
        run = quickstart("--port", 0, "--http-port", 0)
        said, _ = run.process.communicate(timeout=180)
    assert run.process.returncode == 1 and f"process 4711 runs on {var} already" in said, said
    assert database.read_bytes() == b"half of it"


def test_quickstart_names_who_has_its_database(quickstart, tmp_path):
    var = tmp_path / "var"
    var.mkdir()
    for name in ("ready", "hill.db"):
        (var / name).touch()
    with open(var / "hill.db.lock", "w", encoding="ascii") as holder:
        fcntl.flock(holder, fcntl.LOCK_EX)
        holder.write("4711 (hilld)\n")
        holder.flush()
        run = quickstart("--port", 0, "--http-port", 0)
        out, _ = run.process.communicate(timeout=180)
    assert run.process.returncode == 1 and "is taken" not in out
    assert "in use by another hill program, process 4711 (hilld)" in out
    assert "quickstart: stop that one, or use another --var" in out
