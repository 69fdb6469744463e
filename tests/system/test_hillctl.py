# SPDX-License-Identifier: MIT
"""hillctl: on a file of its own, beside a running hilld, on damaged matches."""
import base64
import fcntl
import json
import os
import pathlib
import pty
import re
import shutil
import socket
import sqlite3
import stat
import struct
import subprocess
import tempfile
import threading
import time
import zlib

import pytest

TOP = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("HILL_BUILD", TOP / "build"))
HILLCTL = BUILD / "clients/ctl/hillctl"
MAKE_MATCHES = BUILD / "tests/system/make-matches"
IS_LONG = bool(os.environ.get("HILL_LONG"))

RABBIT_MAP = b"""###############
#s    c      e#
# #### #### # #
#s          c #
###############
"""
MINE_MAP = b"######\n#. *R#\n#  \\.#\n#\\ * #\nL  .\\#\n######\n"
GAMES = {"rabbit-runner": 1, "image-battle": 2, "lambda-mining": 1}


def png(side=20):
    """A white picture with a pixel each for two seats."""
    rows = [bytearray(b"\xff" * (3 * side)) for _ in range(side)]
    rows[2][6:9] = b"\xff\x00\x00"
    rows[17][51:54] = b"\x00\x00\xff"

    def chunk(name, data):
        return (struct.pack(">I", len(data)) + name + data +
                struct.pack(">I", zlib.crc32(name + data)))

    return (b"\x89PNG\r\n\x1a\n" +
            chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(b"".join(b"\0" + bytes(row) for row in rows))) +
            chunk(b"IEND", b""))


class Ctl:
    """hillctl on one database."""

    def __init__(self, folder):
        self.folder = folder
        self.database = folder / "hill.db"

    def run(self, *words, status=0):
        done = subprocess.run([HILLCTL, "--database", self.database, *map(str, words)],
                              cwd=self.folder, capture_output=True, check=False)
        done.out = done.stdout.decode(errors="replace")
        done.err = done.stderr.decode()
        assert "Sanitizer" not in done.err, done.err
        assert done.returncode == status, (words, done.out, done.err)
        return done

    def json(self, *words, status=0):
        document = json.loads(self.run("--json", *words, status=status).stdout)
        if "ok" in document:
            assert document["ok"] == (status == 0)
        return document

    def refused(self, *words):
        """What the refusal says; the same on stderr and as JSON."""
        error = self.json(*words, status=1)["error"]
        assert self.run(*words, status=1).err == f"hillctl: {error}\n"
        return error

    def wrong(self, *words):
        """What a command line that makes no sense is told."""
        return self.run(*words, status=2).err

    def sql(self, text, *values):
        with sqlite3.connect(self.database) as database:
            rows = database.execute(text, values).fetchall()
        database.close()
        return rows

    def dump(self):
        with sqlite3.connect(self.database) as database:
            lines = list(database.iterdump())
        database.close()
        return lines


@pytest.fixture
def ctl(tmp_path):
    return Ctl(tmp_path)


def add_maps(ctl):
    for name, game, data in (("small.map", "rabbit-runner", RABBIT_MAP),
                             ("arena.png", "image-battle", png()),
                             ("mine.map", "lambda-mining", MINE_MAP)):
        (ctl.folder / name).write_bytes(data)
        ctl.run("map", "add", name, "--game", game)


def add_ladders(ctl):
    add_maps(ctl)
    ctl.run("ladder", "add", "rabbits", "--game", "rabbit-runner", "--map", "small.map",
            "--params", "turns=60")
    ctl.run("ladder", "add", "battle", "--game", "image-battle", "--map", "arena.png",
            "--seats", 2)
    ctl.run("ladder", "add", "mine", "--game", "lambda-mining", "--map", "mine.map")
    for bot in ("crazy", "digger"):
        ctl.run("bot", "add", bot, "--token-file", f"{bot}.token")


def make_matches(ctl, ladder, count, seed, *bots):
    done = subprocess.run([MAKE_MATCHES, ctl.database, ladder, str(count), str(seed), *bots],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [int(line) for line in done.stdout.split()]


@pytest.fixture(scope="module")
def played_once(tmp_path_factory):
    ctl = Ctl(tmp_path_factory.mktemp("played"))
    add_ladders(ctl)
    count = 100 if IS_LONG else 8
    # Three runs of a server, with two kinds of match side by side.
    for start in range(3):
        make_matches(ctl, "rabbits", count, 100 * start, "crazy")
        make_matches(ctl, "battle", count, 100 * start, "digger", "crazy")
        make_matches(ctl, "mine", count, 100 * start, "digger")
    return ctl


@pytest.fixture
def played(played_once, tmp_path):
    """A copy of a database with matches of all three games."""
    shutil.copytree(played_once.folder, tmp_path / "copy")
    return Ctl(tmp_path / "copy")


# ---- the command line ----

def commands():
    text = subprocess.run([HILLCTL, "--help"], capture_output=True, text=True, check=True).stdout
    rows = re.findall(r"^  ([a-z]+(?: [a-z]+)?)(?: [A-Z\[\].]+)? {1,}\S", text, re.M)
    return [row for row in rows if not row.startswith("-")]


def test_help_is_there_for_every_command(ctl):
    names = commands()
    for name in ("owner add", "bot list", "token rotate", "ladder change", "map disable",
                 "match list", "match show", "replay", "verify", "export", "summary",
                 "status", "drain"):
        assert name in names
    for name in names:
        text = ctl.run("help", *name.split()).out
        assert text.startswith(f"usage: hillctl {name}")
        assert ctl.run(*name.split(), "--help").out == text
    assert not ctl.database.exists()
    assert ctl.run("--version").out.startswith("hillctl ")


@pytest.mark.parametrize("words, told", [
    (("bto", "add", "x"), ("'bto'", "'bot add'")),
    (("bot", "ad", "x"), ("'ad'", "'bot add'")),
    (("verifi", "1"), ("'verifi'", "'verify'")),
    (("bot", "add", "crazy", "--ownre", "a"), ("'--ownre'", "--owner")),
    (("bot", "add", "crazy", "-x"), ("'-x'",)),
    (("bot", "add"), ("NAME is missing",)),
    (("bot", "add", "crazy", "digger"), ("'digger'", "one word too many")),
    (("bot", "add", "crazy", "--owner"), ("--owner needs a value",)),
    (("bot", "add", "crazy", "--owner", "a", "--owner", "b"), ("--owner", "twice")),
    (("bot", "disable", "crazy", "--undo=yes"), ("--undo takes no value", "'yes'")),
    (("bot", "add", "crazy", "--max-connections", "1.0"), ("--max-connections", "'1.0'")),
    (("bot", "add", "crazy", "--max-connections", "9223372036854775808"), ("9223372036854775808",)),
    (("ladder", "add", "x", "--map", "m"), ("--game", "missing")),
    (("ladder", "add", "x", "--game", "g", "--map", "m", "--rated", "maybe"), ("'maybe'",)),
    (("token", "revoke", "one"), ("'one'",)),
    (("match", "show", "1x"), ("'1x'",)),
    (("match", "list", "--limit", "0"), ("--limit", "0")),
    (("replay",), ("ID is missing",)),
    (("replay", "1", "--seed", "2"), ("either",)),
    (("replay", "1", "--said"), ("--said needs --seat",)),
    (("replay", "1", "--ladder", "x"), ("--seed",)),
    (("verify",), ("either an ID or --all",)),
    (("verify", "--all", "-j", "0"), ("--jobs", "0")),
    (("bot", "add", b"\xff\xfe\xfd"), ("UTF-8", "\\xff\\xfe\\xfd")),
    (("bot", "add", "\x1b[2Jcrazy", "extra"), ("'extra'",)),
])
def test_wrong_usage_names_the_wrong_word(ctl, words, told):
    done = subprocess.run([HILLCTL, "--database", ctl.database, *words],
                          capture_output=True, check=False)
    assert done.returncode == 2, done.stderr
    assert done.stdout == b""
    for word in told:
        assert word in done.stderr.decode()
    assert not ctl.database.exists()


def test_options_stand_before_or_behind_and_may_be_joined(ctl):
    ctl.run("owner", "add", "alice", "--note=a = b")
    done = subprocess.run([HILLCTL, "owner", "list", "--json", f"--database={ctl.database}"],
                          capture_output=True, check=True)
    assert json.loads(done.stdout)["owners"][0]["note"] == "a = b"


def test_only_add_makes_a_database(ctl):
    for words in (("owner", "list"), ("bot", "change", "x"), ("summary",), ("status",),
                  ("verify", "--all"), ("token", "add", "x"), ("match", "list")):
        assert "no such file" in ctl.refused(*words)
        assert os.listdir(ctl.folder) in ([], ["hill.db.lock"])
    ctl.run("owner", "add", "alice")
    assert stat.S_IMODE(ctl.database.stat().st_mode) == 0o600


def test_what_is_no_database_is_refused_and_left_alone(ctl):
    ctl.database.write_text("certainly not SQLite, " * 100)
    before = ctl.database.read_bytes()
    assert "database" in ctl.refused("owner", "add", "alice")
    assert "database" in ctl.refused("match", "list")
    assert ctl.database.read_bytes() == before


# ---- the host's commands on a file ----

def test_owners(ctl):
    assert ctl.json("owner", "add", "alice", "--external-id", "gh:1", "--note", "\x1b[31mred")[
        "owner"]["name"] == "alice"
    ctl.run("owner", "add", "bob")
    assert "taken" in ctl.refused("owner", "add", "alice")
    assert "is that of alice" in ctl.refused("owner", "add", "carol", "--external-id", "gh:1")
    assert ctl.run("owner", "change", "bob", "--new-name", "rob").out == "owner bob: changed\n"
    ctl.run("owner", "disable", "rob")
    owners = {o["name"]: o for o in ctl.json("owner", "list")["owners"]}
    assert sorted(owners) == ["alice", "rob"]
    assert owners["rob"]["disabled"] and not owners["alice"]["disabled"]
    table = ctl.run("owner", "list").out
    assert "\\x1b[31mred" in table and "\x1b" not in table
    ctl.run("owner", "disable", "rob", "--undo")
    assert not any(o["disabled"] for o in ctl.json("owner", "list")["owners"])
    assert "no owner" in ctl.refused("owner", "disable", "nobody")


def test_two_spellings_of_a_name_are_not_mixed_up(ctl):
    """BC72"""
    ctl.run("bot", "add", "a-b", "--owner", "me")
    for name in ("a_b", "A_B", "a b", "a  b"):
        assert "name" in ctl.refused("bot", "add", name, "--owner", "me")
        assert "no bot" in ctl.refused("bot", "disable", name)
    bots = ctl.json("bot", "list")["bots"]
    assert [(b["name"], b["disabled"]) for b in bots] == [("a-b", False)]
    ctl.run("bot", "disable", "a-b")
    assert ctl.json("bot", "list")["bots"][0]["disabled"]


def test_tables_are_aligned_by_what_is_seen(ctl):
    ctl.run("owner", "add", "alice", "--external-id", "名前")
    ctl.run("owner", "add", "bob", "--external-id", "plain")
    lines = ctl.run("owner", "list").out.splitlines()
    at = lines[0].index("since")
    assert lines[1].index("20") == at - 2  # two characters of two columns each
    assert lines[2].index("20") == at


def test_a_token_goes_into_a_new_private_file(ctl):
    done = ctl.run("bot", "add", "crazy", "--owner", "alice", "--token-file", "token")
    path = ctl.folder / "token"
    token = path.read_text()
    assert re.fullmatch(r"hill_[A-Za-z0-9_-]{40,}\n", token)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert token.strip() not in done.out + done.err
    assert not any(token.strip() in line for line in ctl.dump())

    # A file that is there is never written over, and then no bot is made.
    assert "token" in ctl.refused("bot", "add", "digger", "--token-file", "token")
    assert path.read_text() == token
    os.symlink("elsewhere", ctl.folder / "link")
    ctl.refused("bot", "add", "digger", "--token-file", "link")
    assert [b["name"] for b in ctl.json("bot", "list")["bots"]] == ["crazy"]

    # A refusal leaves no file behind.
    ctl.refused("bot", "add", "crazy", "--token-file", "other")
    assert not (ctl.folder / "other").exists()


def test_tokens(ctl):
    first = ctl.json("bot", "add", "crazy", "--owner", "alice")
    assert first["token"].startswith("hill_")
    second = ctl.json("token", "add", "crazy", "--token-file", "second")
    assert "token" not in second and second["token_file"] == "second"
    ids = [t["id"] for t in ctl.json("token", "list", "--bot", "crazy")["tokens"]]
    assert len(ids) == 2
    assert ctl.run("token", "revoke", ids[0]).out == f"token {ids[0]}: revoked\n"
    assert "no valid token" in ctl.refused("token", "revoke", ids[0])
    ctl.run("token", "rotate", "crazy", "--token-file", "third")
    tokens = ctl.json("token", "list")["tokens"]
    assert [t["revoked"] for t in tokens] == [True, True, False]
    assert "token, shown only now: hill_" in ctl.run("token", "add", "crazy").out


def test_bots(ctl):
    ctl.run("bot", "add", "crazy")
    assert ctl.json("bot", "list")["bots"][0]["owner"] == "crazy"
    ctl.run("bot", "change", "crazy", "--owner", "alice", "--max-connections", 3)
    bot = ctl.json("bot", "list", "--owner", "alice")["bots"][0]
    assert bot["max_connections"] == 3 and bot["tokens"] == 1
    assert ctl.json("bot", "list", "--owner", "crazy")["bots"] == []
    assert "max_connections" in ctl.refused("bot", "change", "crazy", "--max-connections", -1)
    assert "--owner" in ctl.wrong("bot", "add", "_x_")


def test_maps(ctl):
    add_maps(ctl)
    (ctl.folder / "two.map").write_bytes(RABBIT_MAP.replace(b"c #", b"  #"))
    document = ctl.json("map", "add", "two.map", "--name", "hidden.map", "--game",
                        "rabbit-runner", "--hidden")
    assert document["maps"][0]["name"] == "hidden.map"
    maps = {m["name"]: m for m in ctl.json("map", "list")["maps"]}
    assert sorted(maps) == ["arena.png", "hidden.map", "mine.map", "small.map"]
    assert maps["hidden.map"]["visibility"] == "hidden"
    assert maps["small.map"]["bytes"] == len(RABBIT_MAP)
    ctl.run("map", "change", "hidden.map", "--visibility", "public")
    ctl.run("map", "disable", "hidden.map")
    rabbit = ctl.json("map", "list", "--game", "rabbit-runner")["maps"]
    assert [(m["name"], m["disabled"], m["visibility"]) for m in rabbit] == [
        ("hidden.map", True, "public"), ("small.map", False, "public")]
    assert "the same map" in ctl.refused("map", "add", "two.map", "--game", "rabbit-runner")
    assert "taken" in ctl.refused("map", "add", "small.map", "--game", "rabbit-runner")
    assert "No such file" in ctl.refused("map", "add", "three.map", "--game", "rabbit-runner")
    (ctl.folder / "bad.png").write_bytes(png()[:60])
    assert "data" in ctl.refused("map", "add", "bad.png", "--game", "image-battle")
    ctl.run("map", "add", "arena.png", "--name", "red.png", "--game", "image-battle",
            "--colours", "255,0,0;1,2,3")
    options = {m["name"]: m["options"] for m in ctl.json("map", "list")["maps"]}
    assert options["red.png"] == "colours=255,0,0;1,2,3"
    assert "colours" in ctl.refused("map", "add", "arena.png", "--name", "x.png", "--game",
                                    "image-battle", "--colours", "255,0")


def test_several_maps_at_once_stop_at_a_bad_one(ctl):
    (ctl.folder / "a.map").write_bytes(RABBIT_MAP)
    (ctl.folder / "c.map").write_bytes(RABBIT_MAP + b"#####\n")
    done = ctl.run("map", "add", "a.map", "b.map", "c.map", "--game", "rabbit-runner", status=1)
    assert done.out == "map a.map: added\n"
    assert done.err == "hillctl: b.map: No such file or directory\n"
    assert "--name" in ctl.wrong("map", "add", "a.map", "c.map", "--name", "x", "--game",
                                 "rabbit-runner")


def test_ladders(ctl):
    add_maps(ctl)
    (ctl.folder / "two.map").write_bytes(RABBIT_MAP.replace(b"c #", b"  #"))
    ctl.run("map", "add", "two.map", "--game", "rabbit-runner")
    ctl.run("ladder", "add", "rabbits", "--game", "rabbit-runner", "--map", "small.map,two.map",
            "--params", "turns=7", "--turn-ms", 400, "--seeds", "1..9007199254740993",
            "--rated", "no")
    ctl.run("ladder", "add", "original", "--game", "rabbit-runner", "--map", "small.map",
            "--map", "two.map", "--original")
    assert "original" in ctl.refused("ladder", "add", "x", "--game", "rabbit-runner", "--map",
                                     "small.map", "--original", "--bot-seed", "match")
    ladders = {x["name"]: x for x in ctl.json("ladder", "list")["ladders"]}
    rabbits, original = ladders["rabbits"], ladders["original"]
    assert rabbits["maps"] == original["maps"] == ["small.map", "two.map"]
    assert (rabbits["params"], rabbits["turn_ms"], rabbits["rated"]) == ("turns=7", 400, False)
    assert rabbits["seeds"] == "1..9007199254740993"
    assert (original["bot_seed"], original["bank_ms"], original["lag_cap_ms"]) == ("match", 0, 0)
    ctl.run("ladder", "change", "rabbits", "--map", "two.map", "--seeds", "random")
    ctl.run("ladder", "disable", "original")
    ladders = {x["name"]: x for x in ctl.json("ladder", "list")["ladders"]}
    assert ladders["rabbits"]["maps"] == ["two.map"]
    assert ladders["rabbits"]["seeds"] == "random"
    assert ladders["original"]["disabled"]
    table = ctl.run("ladder", "list").out
    assert "two.map" in table and "turns=7" in table


@pytest.mark.parametrize("words, told", [
    (("--seeds", "9223372036854775808..9223372036854775809"), "seeds"),
    (("--seeds", "-1..3"), "seeds"),
    (("--seeds", "1.0..3"), "seeds"),
    (("--seeds", "5..1"), "seeds"),
    (("--turn-ms", "-1"), "turn_ms"),
    (("--turn-ms", "9223372036854775807"), "turn_ms"),
    (("--params", "turns=0"), "turns"),
    (("--params", "trns=5"), "trns"),
    (("--bot-seed", "mine"), "bot_seed"),
    (("--seats", "2"), "seats"),
    (("--map", "nowhere.map"), "nowhere.map"),
])
def test_a_bad_ladder_changes_nothing(ctl, words, told):
    """BC78, BC81 on the way in"""
    add_maps(ctl)
    before = ctl.dump()
    options = () if "--map" in words else ("--map", "small.map")
    assert told in ctl.refused("ladder", "add", "x", "--game", "rabbit-runner", *options, *words)
    assert ctl.dump() == before


# ---- a lock, and who holds it ----

def hold_lock(ctl):
    ctl.run("owner", "add", "alice")
    lock = open(f"{ctl.database}.lock", "r+", encoding="ascii")
    fcntl.flock(lock, fcntl.LOCK_EX)
    return lock


def test_a_locked_file_without_hilld_is_a_clear_error(ctl):
    with hold_lock(ctl):
        error = ctl.run("owner", "add", "bob", status=1).err
        assert "in use" in error and f"{ctl.database}.sock" in error
        # Readers do not mind.
        assert len(ctl.json("owner", "list")["owners"]) == 1
        assert ctl.json("status")["running"] is False
    ctl.run("owner", "add", "bob")


class FakeControl:
    """A control socket that answers each line with one REPLY."""

    def __init__(self, replies):
        self.folder = tempfile.mkdtemp(prefix="hill-")
        self.path = f"{self.folder}/sock"
        self.replies = list(replies)
        self.seen = []
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(self.path)
        self.socket.listen(4)
        self.thread = threading.Thread(target=self.serve)
        self.thread.start()

    def serve(self):
        for reply in self.replies:
            link, _ = self.socket.accept()
            with link, link.makefile("rb") as lines:
                self.seen.append(json.loads(lines.readline()))
                if reply is not None:
                    link.sendall(reply)

    def close(self):
        self.thread.join(30)
        self.socket.close()
        shutil.rmtree(self.folder)


def test_requests_go_through_hilld_when_it_holds_the_file(ctl):
    control = FakeControl([
        b'{"ok": true, "bot": {"name": "crazy"}, "token": "hill_secret"}\n',
        b'{"ok": false, "field": "name", "error": "name: \\u001b[2J is taken"}\n',
        b'{"ok": true} garbage\n',
        b'{"ok": true, "ok": false}\n',
        b'["ok"]\n',
        None,
    ])
    with hold_lock(ctl):
        ctl.run("--socket", control.path, "bot", "add", "crazy", "--token-file", "token")
        assert (ctl.folder / "token").read_text() == "hill_secret\n"
        assert control.seen == [{"command": "bot add", "name": "crazy", "owner": "crazy"}]
        error = ctl.run("--socket", control.path, "owner", "add", "x", status=1).err
        assert error == "hillctl: name: \\x1b[2J is taken\n"
        for _ in range(3):
            error = ctl.run("--socket", control.path, "owner", "add", "x", status=1).err
            assert "no JSON" in error
        error = ctl.run("--socket", control.path, "bot", "add", "y", "--token-file", "gone",
                        status=1).err
        assert "gave no answer" in error
        assert not (ctl.folder / "gone").exists()
    control.close()


def test_beside_a_running_hilld(start_hilld, ctl):
    hilld = start_hilld(database=ctl.database)
    reach = ("--socket", f"{hilld.short}/sock")
    add = ("map", "add", "small.map", "--game", "rabbit-runner")
    (ctl.folder / "small.map").write_bytes(RABBIT_MAP)
    ctl.run(*reach, *add)
    ctl.run(*reach, "ladder", "add", "rabbits", "--game", "rabbit-runner", "--map", "small.map",
            "--params", "turns=3")
    ctl.run(*reach, "bot", "add", "crazy", "--token-file", "token")
    bot = hilld.peer().login("crazy", (ctl.folder / "token").read_text().strip())
    match = bot.ready("rabbits")
    bot.say("move", "move", "move")
    bot.expect(f"@result {match} ")
    assert ctl.json("match", "show", match)["match"]["seats"][0]["bot"] == "crazy"
    assert ctl.run("verify", "--all").out == "1 verified, 0 failed\n"
    assert ctl.run("replay", match, "--seat", 1, "--said").out == "move\n" * 3
    status = ctl.json(*reach, "status")
    assert status["running"] and status["server"]["logged_in"] == 1
    assert "hilld runs" in ctl.run(*reach, "status").out
    # Disabled while it is connected: hilld knows at once.
    ctl.run(*reach, "bot", "disable", "crazy")
    assert ctl.json("bot", "list")["bots"][0]["disabled"]
    ctl.run(*reach, "drain")
    assert hilld.process.wait(30) == 0
    assert "cannot be reached" in ctl.run(*reach, "drain", status=1).err
    assert ctl.json("status")["running"] is False


def test_a_match_is_played_once_more(start_hilld, ctl):
    hilld = start_hilld(database=ctl.database)
    reach = ("--socket", f"{hilld.short}/sock")
    hilld.add_map("small.map", "rabbit-runner", RABBIT_MAP)
    hilld.admin("ladder add", name="rabbits", game="rabbit-runner", maps=["small.map"],
                params="turns=3", seeds="5..9")
    bot = hilld.peer().login("crazy", hilld.add_bot("crazy"))
    first = bot.ready("rabbits")
    bot.say("move", "move", "move")
    bot.expect(f"@result {first} ")
    # It has the offer of its next match already; the rematch comes behind it.
    assert ctl.run(*reach, "rematch", first).out == (
        f"match {first} is played again as soon as its bots are free on rabbits\n")
    numbers = []
    for _ in range(3):
        # An offer may come before the last result, or behind it.
        if bot.offered[-1] in (first, *numbers):
            bot.expect("@match ")
        numbers.append(bot.offered[-1])
        bot.say(f"@ready {numbers[-1]}")
        bot.expect(f"@start {numbers[-1]}")
        bot.say("move", "move", "move")
        bot.expect(f"@result {numbers[-1]} ")
    bot.say("@leave")
    bot.expect("@left")
    rows = [ctl.json("match", "show", n)["match"] for n in (first, *numbers)]
    assert [row["seed"] for row in rows] == ["5", "6", "5", "7"]
    assert [row["rated"] for row in rows] == [True, True, False, True]
    same = ("ladder", "map", "params", "bot_seed", "digest", "inputs")
    assert [rows[2][key] for key in same] == [rows[0][key] for key in same]
    assert ctl.run("verify", "--all").out.endswith(" 0 failed\n")
    assert "not waiting on rabbits: crazy" in ctl.run(*reach, "rematch", first, status=1).err
    assert "999" in ctl.run(*reach, "rematch", 999, status=1).err
    assert hilld.logged(f"ladder=rabbits event=rematch of={first}")
    hilld.admin("map disable", name="small.map")
    assert "small.map is disabled" in ctl.run(*reach, "rematch", first, status=1).err
    hilld.admin("map disable", name="small.map", disabled=False)
    # A restart counts no rematch as a step on the seeds.
    hilld.stop()
    hilld = start_hilld(database=ctl.database)
    token = hilld.admin("token add", bot="crazy")["token"]
    bot = hilld.peer().login("crazy", token)
    last = bot.ready("rabbits")
    bot.say("move", "move", "move")
    bot.expect(f"@result {last} ")
    assert ctl.json("match", "show", last)["match"]["seed"] == "8"
    assert "cannot be reached" in ctl.run("rematch", first, status=1).err


# ---- matches ----

def test_lists_filter_and_page(played):
    everything = played.json("match", "list", "--limit", 1000)["matches"]
    ids = [m["id"] for m in everything]
    assert ids == sorted(ids, reverse=True) and len(ids) >= 72
    for option, member in (("--ladder", "ladder"), ("--game", "game"), ("--map", "map"),
                           ("--seed", "seed")):
        value = everything[0][member]
        found = played.json("match", "list", option, value, "--limit", 1000)["matches"]
        assert [m["id"] for m in found] == [m["id"] for m in everything if m[member] == value]
    found = played.json("match", "list", "--bot", "crazy", "--limit", 1000)["matches"]
    assert [m["id"] for m in found] == [
        m["id"] for m in everything if "crazy" in [s["bot"] for s in m["seats"]]]
    found = played.json("match", "list", "--reason", "late", "--limit", 1000)["matches"]
    assert [m["id"] for m in found] == [
        m["id"] for m in everything if "late" in [s["reason"] for s in m["seats"]]]
    found = played.json("match", "list", "--bot", "crazy", "--opponent", "digger",
                        "--limit", 1000)["matches"]
    assert found and [m["id"] for m in found] == [
        m["id"] for m in everything
        if {"crazy", "digger"} <= {s["bot"] for s in m["seats"]}]
    assert not played.json("match", "list", "--bot", "crazy", "--opponent", "crazy")["matches"]
    played.sql("UPDATE match SET ended_us = ended_us - 86400000000 * 365 WHERE id <= ?1", ids[30])
    times = sorted(t for t, in played.sql("SELECT ended_us FROM match"))
    cut = next(t for t in times if t > times[0] + 86400000000)
    for text in ("%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"):
        when = time.strftime(text, time.gmtime(cut // 1000000))
        new = played.json("match", "list", "--since", when, "--limit", 1000)["matches"]
        old = played.json("match", "list", "--until", when, "--limit", 1000)["matches"]
        assert [m["id"] for m in new] == ids[:30] and [m["id"] for m in old] == ids[30:]
    assert "--opponent needs --bot" in played.wrong("match", "list", "--opponent", "crazy")
    assert "'yesterday' is no time" in played.wrong("match", "list", "--since", "yesterday")
    page = played.json("match", "list", "--limit", 5, "--before", ids[4])["matches"]
    assert [m["id"] for m in page] == ids[5:10]
    assert len(played.run("match", "list").out.splitlines()) == 51
    assert played.json("match", "list", "--bot", "nobody")["matches"] == []


@pytest.mark.parametrize("seed", ["1.0", "x", "9223372036854775808", ""])
def test_a_seed_that_is_no_seed_finds_nothing(played, seed):
    """BC81"""
    assert "seed" in played.refused("match", "list", "--seed", seed)


def test_large_seeds_are_shown_unrounded(ctl):
    """BC81"""
    add_ladders(ctl)
    for seed in (9007199254740993, 2**63 - 1):
        number = make_matches(ctl, "rabbits", 1, seed, "crazy")[0]
        assert ctl.json("match", "list", "--seed", seed)["matches"][0]["seed"] == str(seed)
        assert f" {seed} " in ctl.run("match", "list").out
        assert f"seed {seed}," in ctl.run("match", "show", number).out
        assert ctl.run("replay", "--seed", seed).out == ctl.run("replay", number).out
        assert ctl.json("export", number)["match"]["seed"] == str(seed)
    assert "no match of seed" in ctl.run("replay", "--seed", 5, status=1).err


def test_every_replay_is_of_its_row(played):
    """BC55"""
    rows = played.json("match", "list", "--limit", 1000)["matches"]
    assert "void" in {row["status"] for row in rows}
    void = [row for row in rows if row["status"] == "void"]
    for row in rows if IS_LONG else rows[::4] + void[:2]:
        replay = played.json("replay", row["id"])
        assert replay["match"] == row
        assert row == played.json("match", "show", row["id"])["match"]
        for seat, score in zip(row["seats"], replay["scores"]):
            if row["status"] == "void":
                assert (seat["rank"], row["void_reason"]) == (0, "stall: the host slept")
                seat["rank"] = score["rank"]
            assert {k: seat[k] for k in ("seat", "score", "rank", "reason")} == score
        said = [line for line in replay["lines"] if line["dir"] == "said"]
        assert len(said) == row["inputs"]
        head = played.run("replay", row["id"]).out.splitlines()[0]
        assert head.startswith(f"match {row['id']}, {row['game']} on {row['map']}, "
                               f"seed {row['seed']}")


def test_a_replay_shows_times_and_faults(played):
    for row in played.json("match", "list", "--limit", 1000)["matches"][::2]:
        replay = played.json("replay", row["id"])
        for seat in row["seats"]:
            said = [line for line in replay["lines"]
                    if line["dir"] == "said" and line["seat"] == seat["seat"]]
            assert [line["request"] for line in said if line["kind"] != "gone"] == list(
                range(1, len([x for x in said if x["kind"] != "gone"]) + 1))
            assert len([x for x in said if x["kind"] == "late"]) == seat["late"]
            slowest = max([x["ms"] for x in said if x["kind"] == "reply"], default=0)
            assert abs(slowest - seat["max_us"] / 1000) <= 0.1
            invalid = [line for line in replay["lines"]
                       if line["dir"] == "note" and line["seat"] == seat["seat"] and
                       line["text"].startswith("invalid: ")]
            assert len(invalid) == seat["invalid"]


def test_one_seats_lines_are_byte_for_byte(played):
    row = played.json("match", "list", "--ladder", "battle")["matches"][0]
    exported = played.json("export", row["id"])
    for seat in (1, 2):
        said = [base64.b64decode(x["text_base64"]) if "text_base64" in x else x["text"].encode()
                for x in exported["transcript"] if x["seat"] == seat and x["kind"] == "reply"]
        done = played.run("replay", row["id"], "--seat", seat, "--said")
        assert done.stdout == b"".join(line + b"\n" for line in said)
        saw = [x["text"] for x in played.json("replay", row["id"])["lines"]
               if x["seat"] == seat and x["dir"] == "saw"]
        assert played.run("replay", row["id"], "--seat", seat, "--saw").out.splitlines() == saw
    assert "has 2 seats" in played.run("replay", row["id"], "--seat", 3, status=1).err


def test_hostile_lines_cannot_steer_the_terminal(played):
    for row in played.json("match", "list", "--limit", 1000)["matches"]:
        said = played.run("replay", row["id"], "--seat", 1, "--said").stdout
        if b"\x1b" not in said:
            continue
        text = played.run("replay", row["id"]).stdout
        assert b"\\x1b[2J\\\\ \\xff\\xc3 " in text
        assert b"\x1b" not in text and b"\xff" not in text
        break
    else:
        pytest.fail("no program said anything hostile")


def test_an_export_always_parses_and_is_complete(played):
    """BC77, BC78"""
    for row in played.json("match", "list", "--limit", 1000)["matches"][::3]:
        text = played.run("export", row["id"]).stdout
        exported = json.loads(text, parse_constant=pytest.fail)
        assert exported["format"] == "hill match 1"
        assert exported["match"] == row
        assert len(exported["transcript"]) == row["inputs"]
        fed = [x for x in exported["notes"] if x["kind"] in ("reply", "late", "gone")]
        assert [(x["seat"], x["kind"]) for x in fed] == [
            (x["seat"], x["kind"]) for x in exported["transcript"]]
        if row["game"] == "rabbit-runner":
            assert exported["map"]["data"].encode() == RABBIT_MAP
        if row["game"] == "image-battle":
            assert base64.b64decode(exported["map"]["data_base64"]).startswith(b"\x89PNG")


def test_numbers_that_json_has_not_are_null(played):
    """BC78"""
    number = played.json("match", "list", "--limit", 1)["matches"][0]["id"]
    played.sql("UPDATE seat SET score = 9e999, columns = '[1e999, 1.8e-308, -0.0]' "
               "WHERE match_id = ?1", number)
    for words in (("export", number), ("match", "list"), ("match", "show", number), ("summary",)):
        text = played.run("--json", *words).stdout
        json.loads(text, parse_constant=pytest.fail)


def test_a_nul_in_a_line_is_kept(played):
    """BC77"""
    number = played.json("match", "list", "--ladder", "mine")["matches"][0]["id"]
    pack(played, number, [(0, b"ab\0cd")])
    exported = played.json("export", number)
    assert base64.b64decode(exported["transcript"][0]["text_base64"]) == b"ab\0cd"


# ---- verify ----

def pack(ctl, number, replies):
    """Put another transcript into the database."""
    data = bytes([1]) + b"".join(bytes([seat << 2, len(text)]) + text for seat, text in replies)
    ctl.sql("UPDATE transcript SET transcript = ?2 WHERE match_id = ?1", number,
            zlib.compress(data))


def of_ladder(ctl, ladder):
    """A long match of LADDER."""
    rows = ctl.json("match", "list", "--ladder", ladder, "--limit", 1000)["matches"]
    return max(rows, key=lambda row: row["inputs"])


def test_all_matches_verify(played):
    count = len(played.json("match", "list", "--limit", 1000)["matches"])
    before = played.dump()
    assert played.run("verify", "--all").out == f"{count} verified, 0 failed\n"
    assert played.json("verify", "--all", "-j", 4) == {
        "ok": True, "verified": count, "failed": 0, "failures": []}
    assert played.run("verify", of_ladder(played, "battle")["id"]).out == (
        "1 verified, 0 failed\n")
    assert played.dump() == before


def failure(ctl, number):
    """What verify says of the only bad match."""
    assert ctl.run("verify", number, status=1).out.endswith("0 verified, 1 failed\n")
    count = len(ctl.json("match", "list", "--limit", 1000)["matches"])
    document = ctl.json("verify", "--all", "-j", 3, status=1)
    assert (document["verified"], document["failed"]) == (count - 1, 1)
    [entry] = document["failures"]
    assert entry["id"] == number
    text = ctl.run("verify", "--all", status=1).out
    assert f"match {number} {entry['verdict']}: {entry['text']}\n" in text
    return entry


def test_a_damaged_transcript_is_told_with_its_place(played):
    number = of_ladder(played, "battle")["id"]
    [(blob,)] = played.sql("SELECT transcript FROM transcript WHERE match_id = ?1", number)
    for cut in (blob[:len(blob) // 2], blob[:20] + b"\xff" * 20 + blob[40:], b"\0" * 30, b"x"):
        played.sql("UPDATE transcript SET transcript = ?2 WHERE match_id = ?1", number, cut)
        entry = failure(played, number)
        assert entry["verdict"] == "damaged"
        assert re.search(r"damaged behind input \d+", entry["text"])
        assert "damaged" in played.run("replay", number, status=1).err
        done = played.run("export", number, status=1)
        assert "damaged" in done.err and json.loads(done.stdout)["match"]["id"] == number


def rabbit_move(lines):
    """A request beyond the 20th, and a move that changes what is seen next."""
    rows = RABBIT_MAP.decode().splitlines()
    seen = []
    for line in lines:
        if line["dir"] == "saw" and line["text"].startswith("rabbits"):
            seen = line["text"].split()[1:]
        if line["dir"] != "said" or line["request"] <= 20:
            continue
        for rabbit in seen:
            x, y = map(int, rabbit.split(","))
            for to_x, to_y in ((x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)):
                if rows[to_y][to_x] == " ":
                    return line["request"], f"move {x},{y} to {to_x},{to_y}".encode()
    return None, None


def test_another_reply_is_told_with_the_requests_between_which_it_parts(ctl):
    add_ladders(ctl)
    for number in make_matches(ctl, "rabbits", 30, 0, "crazy"):
        entries = ctl.json("export", number)["transcript"]
        at, text = rabbit_move(ctl.json("replay", number)["lines"])
        if at is not None and at + 2 < len(entries):
            break
    else:
        pytest.fail("no match is long enough")
    data = bytearray([1])
    for request, entry in enumerate(entries, 1):
        data.append(("reply", "late", "gone").index(entry["kind"]))
        if entry["kind"] == "reply":
            said = (base64.b64decode(entry["text_base64"]) if "text_base64" in entry
                    else entry["text"].encode())
            said = text if request == at else said
            data += bytes([len(said)]) + said
    ctl.sql("UPDATE transcript SET transcript = ?2 WHERE match_id = ?1", number,
            zlib.compress(bytes(data)))
    entry = failure(ctl, number)
    assert entry["verdict"] == "differs"
    before, behind = entry["agree_to"], entry["part_by"]
    assert before["input"] < at <= behind["input"]
    assert (before["request"], behind["request"]) == (before["input"], behind["input"])
    assert behind["input"] - before["input"] <= 4
    assert f"part by input {behind['input']} (seat 1's request {behind['request']})" in (
        entry["text"])


@pytest.mark.parametrize("change, verdict, told", [
    ("UPDATE match SET digest = digest + 1 WHERE id = ?1", "differs", "other lines"),
    ("UPDATE match SET inputs = inputs + 1 WHERE id = ?1", "differs", "inputs"),
    ("UPDATE match SET engine_version = 99 WHERE id = ?1", "unplayable", "version 99"),
    ("UPDATE seat SET points = points + 1 WHERE match_id = ?1 AND number = 1", "differs",
     "seat 1"),
    ("UPDATE seat SET score = score + 0.25 WHERE match_id = ?1 AND number = 2", "differs",
     "seat 2"),
    ("UPDATE seat SET reason = 'gone' WHERE match_id = ?1 AND number = 1", "differs", "gone"),
    ("UPDATE transcript SET notes = x'00' WHERE match_id = ?1", "damaged", "notes"),
    ("UPDATE transcript SET samples = zeroblob(16) WHERE match_id = ?1", "damaged", "samples"),
])
def test_a_changed_row_is_found(played, change, verdict, told):
    rows = played.json("match", "list", "--ladder", "battle", "--limit", 1000)["matches"]
    number = next(row["id"] for row in rows if row["seats"][0]["reason"] != "gone" and row["status"] == "stored")
    played.sql(change, number)
    entry = failure(played, number)
    assert entry["verdict"] == verdict
    assert told in entry["text"]


def test_another_map_is_found(played):
    rows = played.json("match", "list", "--map", "small.map", "--limit", 1000)["matches"]
    played.sql("UPDATE map SET data = CAST(replace(data, 'c', ' ') AS BLOB), size_bytes = length(data) "
               "WHERE name = 'small.map'")
    document = played.json("verify", "--all", status=1)
    assert sorted(f["id"] for f in document["failures"]) == sorted(row["id"] for row in rows)


def test_notes_that_are_damaged_cost_only_the_times(played):
    row = of_ladder(played, "rabbits")
    whole = played.json("replay", row["id"])
    played.sql("UPDATE transcript SET notes = x'00' WHERE match_id = ?1", row["id"])
    done = played.run("--json", "replay", row["id"])
    assert "not complete" in done.err
    saw = [x for x in whole["lines"] if x["dir"] == "saw"]
    assert [x for x in json.loads(done.stdout)["lines"] if x["dir"] == "saw"] == saw


def test_progress_is_shown_on_a_terminal_only(played):
    leader, follower = pty.openpty()
    done = subprocess.run([HILLCTL, "--database", played.database, "verify", "--all"],
                          stdout=subprocess.PIPE, stderr=follower, check=True)
    os.close(follower)
    shown = os.read(leader, 65536)
    os.close(leader)
    assert b"verified" in shown and b"\r" in shown
    assert b"\r" not in done.stdout
    assert played.run("verify", "--all").err == ""


def test_unknown_matches(played):
    for words in (("match", "show", 99999), ("replay", 99999), ("verify", 99999),
                  ("export", 99999)):
        assert "99999" in played.run(*words, status=1).err


# ---- summary ----

def test_the_summary_counts_what_the_list_shows(played):
    rows = played.json("match", "list", "--limit", 1000)["matches"]
    assert "void" in {row["status"] for row in rows}
    rows = [row for row in rows if row["status"] == "stored"]
    for standing in played.json("summary")["summary"]:
        seats = [(row, seat) for row in rows for seat in row["seats"]
                 if row["game"] == standing["game"] and seat["bot"] == standing["bot"]]
        assert standing["matches"] == len(seats)
        scores = [seat["score"] for _, seat in seats]
        assert standing["best_score"] == max(scores)
        assert abs(standing["mean_score"] - sum(scores) / len(scores)) < 1e-9
        if GAMES[standing["game"]] == 1:
            assert standing["wins"] is None
        else:
            assert standing["wins"] == sum(seat["rank"] == 1 for _, seat in seats)
    lines = played.run("summary").out.splitlines()
    assert lines[0].split() == ["game", "bot", "matches", "mean", "score", "best", "score", "wins"]
    assert len(lines) == 1 + len(played.json("summary")["summary"])
