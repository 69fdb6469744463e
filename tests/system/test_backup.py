# SPDX-License-Identifier: MIT
"""deploy/backup and deploy/restore: a database copied while in use, and put back."""
import fcntl
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess

import pytest

from arena import add_rabbits
from conftest import TOP, wait_until
from hillctl import Ctl


def deploy(script, *words, status=0, env=None):
    """What deploy/SCRIPT says."""
    done = subprocess.run([TOP / "deploy" / script, *words], capture_output=True, text=True,
                          check=False, env={**os.environ, **(env or {})})
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout + done.stderr


def files(folder):
    """What lies there, byte by byte; but for the locks, in which is who had them."""
    return {path.name: path.read_bytes() for path in folder.iterdir()
            if path.is_file() and path.suffix != ".lock"}


def names(path):
    database = sqlite3.connect(path)
    try:
        return {row[0] for row in database.execute("SELECT name FROM bot")}
    finally:
        database.close()


def test_backup_copies_a_database_in_use_and_overwrites_nothing(tmp_path):
    live = tmp_path / "hill's.db"
    writer = sqlite3.connect(live, isolation_level=None)
    writer.execute("PRAGMA journal_mode=WAL")
    writer.execute("CREATE TABLE match (id INTEGER PRIMARY KEY)")
    writer.execute("INSERT INTO match VALUES (7)")
    writer.execute("BEGIN IMMEDIATE")
    writer.execute("INSERT INTO match VALUES (8)")
    copy = tmp_path / "it's a copy.db"
    assert deploy("backup", live, copy) == f"backup: {copy}, 1 matches\n"
    assert sqlite3.connect(copy).execute("SELECT id FROM match").fetchall() == [(7,)]
    assert copy.stat().st_mode & 0o777 == 0o600
    assert "is there already" in deploy("backup", live, copy, status=1)
    writer.close()


@pytest.mark.parametrize("fault", ["no table", "full disk", "killed"])
def test_backup_leaves_no_half_of_a_copy(tmp_path, fault):
    live = tmp_path / "hill.db"
    database = sqlite3.connect(live)
    if fault != "no table":
        database.execute("CREATE TABLE match (id INTEGER PRIMARY KEY)")
    database.commit()
    database.close()
    # sqlite3 fails when it has begun to write, or we are ended meanwhile.
    stand_in = tmp_path / "bin/sqlite3"
    stand_in.parent.mkdir()
    stand_in.write_text('#!/bin/sh\ncase "$*" in *VACUUM*) echo half >$COPY.part; '
                        'echo half >$COPY.part-journal; eval "$FAIL"; esac\n')
    stand_in.chmod(0o755)
    env = {"COPY": str(tmp_path / "copy.db"), "PATH": f"{tmp_path}/bin:{os.environ['PATH']}",
           "FAIL": "exit 1" if fault == "full disk" else "kill -TERM $PPID"}
    deploy("backup", live, tmp_path / "copy.db", status=1, env=None if fault == "no table" else env)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bin", "hill.db"]


def test_a_backup_is_restored_beside_the_log_of_a_killed_hilld(start_hilld, played, tmp_path):
    hilld = start_hilld(database=played.database)
    hilld.add_bot("early")
    before = played.sql("SELECT count(*) FROM match")
    copy = tmp_path / "copy.db"
    said = deploy("backup", played.database, copy)
    assert f", {before[0][0]} matches" in said
    add_rabbits(hilld, ladder="later")
    for number in range(40):
        hilld.add_bot(f"late-{number}")
    # Not beneath somebody's feet.
    said = deploy("restore", copy, played.database, status=1)
    assert f"in use by another hill program, process {hilld.process.pid}" in said
    hilld.process.send_signal(signal.SIGKILL)
    hilld.process.wait(60)
    log = pathlib.Path(f"{played.database}-wal")
    assert log.stat().st_size > 0

    # A copy that is put beside that log by hand is no good any more.
    trap = tmp_path / "trap"
    trap.mkdir()
    shutil.copy(copy, trap / "hill.db")
    shutil.copy(log, trap / "hill.db-wal")
    with pytest.raises((sqlite3.DatabaseError, AssertionError)):
        assert names(trap / "hill.db") == names(copy)

    shutil.copytree(played.folder, tmp_path / "killed")
    said = deploy("restore", copy, played.database)
    kept = pathlib.Path(said.split("what was there is ")[1].split("\n")[0])
    assert f"restore: {played.database}, {before[0][0]} matches; " in said
    assert kept.read_bytes() == (tmp_path / "killed/hill.db").read_bytes()
    assert pathlib.Path(f"{kept}-wal").read_bytes() == (tmp_path / "killed/hill.db-wal").read_bytes()
    assert not log.exists() and not pathlib.Path(f"{played.database}-shm").exists()
    assert played.database.stat().st_mode & 0o777 == 0o600
    # What it says to do next.
    command = said.split("then: hillctl ")[1].split()
    assert command[:2] == ["--database", str(played.database)]
    again = start_hilld(database=played.database)
    document = played.json("--socket", f"{again.short}/sock", *command[2:])
    assert document["ok"], document
    assert played.sql("SELECT count(*) FROM match") == before
    assert names(played.database) == names(copy) >= {"early"}
    again.add_bot("late-1")
    # Nothing is lost of what was there.
    assert names(kept) >= {"early", "late-0", "late-39"}


def test_a_restore_changes_nothing_when_it_cannot(played, tmp_path):
    copy = tmp_path / "copy.db"
    deploy("backup", played.database, copy)
    damaged = tmp_path / "damaged.db"
    damaged.write_bytes(copy.read_bytes()[:-5000])
    other = tmp_path / "other.db"
    database = sqlite3.connect(other)
    database.execute("CREATE TABLE t (x)")
    database.commit()
    database.close()
    before = files(played.folder)
    for wrong, what in ((damaged, "cannot be used; nothing changed"),
                        (other, "cannot be used; nothing changed"),
                        (played.database, "is the database itself"),
                        (tmp_path / "none", "no copy")):
        assert what in deploy("restore", wrong, played.database, status=1)
        assert files(played.folder) == before
    assert "is a folder" in deploy("restore", copy, played.folder, status=1)
    with open(f"{played.database}.lock", "r", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert "in use by another hill program" in deploy("restore", copy, played.database,
                                                          status=1)
    assert files(played.folder) == before


def test_a_backup_is_restored_where_nothing_is_left(played, tmp_path):
    copy = tmp_path / "copy.db"
    deploy("backup", played.database, copy)
    new = tmp_path / "new"
    new.mkdir()
    if os.geteuid() == 0:
        os.chown(new, 12345, 12346)
    said = deploy("restore", copy, new / "hill.db")
    assert "what was there" not in said
    # All belongs to who runs hilld there, whoever restores.
    assert {(path.name, path.stat().st_uid) for path in new.iterdir()} == {
        (name, new.stat().st_uid) for name in ("hill.db", "hill.db.lock")}
    assert Ctl(new).json("verify", "--all")["ok"]
