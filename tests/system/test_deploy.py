# SPDX-License-Identifier: MIT
"""deploy/: what a host runs first."""
import pathlib
import shutil
import sqlite3
import subprocess

import pytest

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


def test_install_deps_refuses_an_unknown_option():
    done = install_deps("--tset")
    assert done.returncode == 2
    assert "--tset" in done.stderr


def test_backup_copies_a_database_in_use_and_overwrites_nothing(tmp_path):
    live = tmp_path / "hill's.db"
    writer = sqlite3.connect(live, isolation_level=None)
    writer.execute("PRAGMA journal_mode=WAL")
    writer.execute("CREATE TABLE match (id INTEGER PRIMARY KEY)")
    writer.execute("INSERT INTO match VALUES (7)")
    writer.execute("BEGIN IMMEDIATE")
    writer.execute("INSERT INTO match VALUES (8)")
    copy = tmp_path / "it's a copy.db"
    command = [TOP / "deploy/backup", live, copy]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert sqlite3.connect(copy).execute("SELECT id FROM match").fetchall() \
        == [(7,)]
    again = subprocess.run(command, capture_output=True, text=True,
                           check=False)
    assert again.returncode == 1
    assert "is there already" in again.stderr
    writer.close()


def test_the_unit_file_is_valid_and_tight():
    if shutil.which("systemd-analyze") is None:
        pytest.skip("no systemd-analyze here")
    done = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", "--threshold=20",
         TOP / "deploy/hilld.service"],
        capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-300:]
