# SPDX-License-Identifier: MIT
"""hillctl: its command line, what the host does with it, beside a running hilld."""
import fcntl
import hashlib
import json
import os
import re
import shutil
import socket
import stat
import subprocess
import tempfile
import threading

import pytest

from hillctl import HILLCTL, RABBIT_MAP, add_maps, png


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
    (("bot", "enble", "x"), ("'enble'", "'bot enable'")),
    (("bott",), ("'bott'", "'bot'")),
    (("rep", "1"), ("'rep'", "'replay'")),
    (("bot",), ("bot: COMMAND is missing",)),
    (("map", "change", "x", "--hidden", "--public"), ("one of --visibility, --hidden",)),
    ((), ("COMMAND is missing",)),
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
    # For programs the same, be it that --json comes behind what is wrong.
    behind = [] if words[-1:] == ("--owner",) else [(*words, "--json")]  # not its value
    for line in [("--json", *words), *behind]:
        asked = subprocess.run([HILLCTL, "--database", ctl.database, *line],
                               capture_output=True, check=False)
        assert asked.returncode == 2
        document = json.loads(asked.stdout)
        assert sorted(document) == ["error", "ok"] and document["ok"] is False
        if b"\\x" not in asked.stderr:
            assert f"hillctl: {document['error']}\n" in asked.stderr.decode()


@pytest.mark.parametrize("words", [("foo",), ("xyz", "add", "a"), ("bot", "paint", "x"),
                                   ("help", "foo"), ("bot", "list", "--colour"),
                                   ("bot", "list", "-x")])
def test_only_what_is_near_is_offered(ctl, words):
    told = ctl.wrong(*words)
    assert "there is no " in told and "nearest" not in told


def test_what_cannot_all_be_printed_is_an_error(laddered):
    for words in (("--json", "ladder", "list"), ("help", "ladder", "add"), ("map", "list")):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([HILLCTL, "--database", laddered.database, *words], stdout=full,
                                  stderr=subprocess.PIPE, text=True, check=False)
        assert (done.returncode, done.stderr) == (
            1, "hillctl: cannot write all to standard output\n"), words
    done = subprocess.run(["sh", "-c", 'exec "$@" >&-', "sh", HILLCTL, "--database",
                           laddered.database, "owner", "add", "zoe"],
                          stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "hillctl: standard output is closed\n")
    assert "zoe" not in laddered.run("owner", "list").out


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
    done = subprocess.run([HILLCTL, "owner", "add", "alice"], cwd=ctl.folder,
                          capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("made hill.db\nowner alice: added\n", "")
    assert stat.S_IMODE(ctl.database.stat().st_mode) == 0o600
    assert ctl.run("owner", "add", "bob").out == "owner bob: added\n"
    assert ctl.json("--database", "other.db", "owner", "add", "alice")["ok"]


def test_a_missing_folder_is_named(ctl):
    for words in (("owner", "add", "alice"), ("bot", "disable", "x"), ("match", "list")):
        error = ctl.refused("--database", "var/hill.db", *words)
        assert error == "var/hill.db: the folder var does not exist"


def test_the_database_of_quickstart_is_thought_of(tmp_path):
    """In a checkout hill.db is seldom meant: quickstart's lies below var/."""
    def told(*words):
        return subprocess.run([HILLCTL, *words], cwd=tmp_path, capture_output=True, text=True,
                              check=False).stderr

    assert told("standings") == \
        "hillctl: hill.db: there is no such file here: --database FILE names another\n"
    (tmp_path / "var").mkdir()
    (tmp_path / "var/hill.db").touch()
    for words in (["standings"], ["bot", "disable", "ann"]):
        assert told(*words) == ("hillctl: hill.db: there is no such file; is it --database "
                                "var/hill.db that you mean?\n")
    assert "mean" not in told("--database", "other.db", "standings")


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


def test_what_is_disabled_is_enabled_again(laddered):
    ctl = laddered
    ctl.run("owner", "add", "alice")
    for group, name in (("owner", "alice"), ("bot", "crazy"), ("ladder", "mine"),
                        ("map", "mine.map")):
        for back in (("enable", name), ("disable", name, "--undo")):
            rows = {}
            for words in (("disable", name), back):
                done = ctl.run(group, *words)
                row = next(row for row in ctl.json(group, "list")[f"{group}s"]
                           if row["name"] == name)
                rows[done.out] = row["disabled"]
            assert rows == {f"{group} {name}: disabled\n": True,
                            f"{group} {name}: enabled\n": False}
        assert f"no {group}" in ctl.refused(group, "enable", "nobody")
    ctl.run("map", "disable", "mine.map")
    assert "no map" in ctl.refused("map", "enable", "mine.map", "--game", "rabbit-runner")
    assert ctl.json("map", "enable", "mine.map", "--game", "lambda-mining")["ok"]


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


def test_a_rotated_token_replaces_the_file_once_it_is_valid(ctl):
    ctl.run("bot", "add", "crazy", "--token-file", "token")
    path = ctl.folder / "token"
    old = path.read_text()
    path.chmod(0o644)
    before = sorted(os.listdir(ctl.folder))
    assert "no bot" in ctl.refused("token", "rotate", "nobody", "--token-file", "token")
    assert path.read_text() == old and sorted(os.listdir(ctl.folder)) == before
    with path.open(encoding="ascii") as opened:
        done = ctl.run("token", "rotate", "crazy", "--token-file", "token")
        assert opened.read() == old
    assert done.out == "token crazy: rotated\ntoken in token\n"
    new = path.read_text()
    assert re.fullmatch(r"hill_[A-Za-z0-9_-]{40,}\n", new) and new != old
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert sorted(os.listdir(ctl.folder)) == before
    digests = {row[0].hex() for row in ctl.sql("SELECT hash FROM token WHERE revoked_us IS NULL")}
    assert digests == {hashlib.sha256(new.strip().encode()).hexdigest()}
    # Only rotate replaces, and only a file.
    assert "exists" in ctl.refused("token", "add", "crazy", "--token-file", "token")
    os.symlink("token", ctl.folder / "link")
    for name, told in (("link", "symbolic link"), (".", "directory")):
        assert told in ctl.refused("token", "rotate", "crazy", "--token-file", name)
    assert path.read_text() == new
    assert len(ctl.json("token", "list")["tokens"]) == 2


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


def test_a_list_of_somebody_unknown_is_an_error(ctl):
    ctl.run("owner", "add", "alice")
    for words, what in ((("bot", "list", "--owner", "alise"), "owner"),
                        (("token", "list", "--bot", "crasy"), "bot"),
                        (("map", "list", "--game", "rabbits"), "game")):
        assert f"'{words[-1]}': there is no {what} of that name" in ctl.refused(*words)
    # Who is there and has nothing is none.
    assert ctl.json("bot", "list", "--owner", "alice")["bots"] == []
    assert ctl.json("map", "list", "--game", "rabbit-runner")["maps"] == []


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
    again = ctl.json("map", "add", "small.map", "--game", "rabbit-runner")["maps"][0]
    assert (again["added"], again["id"]) == (False, maps["small.map"]["id"])
    assert document["maps"][0]["added"] is True
    assert ctl.run("map", "add", "small.map", "--game", "rabbit-runner").out == (
        "map small.map: the same map is there already\n")
    assert "taken" in ctl.refused("map", "add", "two.map", "--name", "small.map", "--game",
                                  "rabbit-runner")
    assert ctl.run("map", "add", "two.map", "--name", "hidden.map", "--game",
                   "rabbit-runner").out == (
        "map hidden.map: the same map is there already, disabled\n")
    for words, shown in ((("--hidden",), "hidden"), (("--public",), "public"),
                         (("--visibility", "hidden"), "hidden")):
        assert ctl.run("map", "change", "small.map", *words).out == "map small.map: changed\n"
        rows = ctl.json("map", "list", "--game", "rabbit-runner")["maps"]
        assert [m["visibility"] for m in rows] == ["public", shown]
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
    assert done.out == f"made {ctl.database}\nmap a.map: added\n"
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
    rounds = ("round_runs", "round_seconds", "house_wait_ms")
    assert [original[name] for name in rounds] == [8, 3600, 10000]
    ctl.run("ladder", "change", "original", "--round-runs", 2, "--round-seconds", 1,
            "--house-wait", 0)
    assert (original["bot_seed"], original["bank_ms"], original["lag_cap_ms"]) == ("match", 0, 0)
    ctl.run("ladder", "change", "rabbits", "--map", "two.map", "--seeds", "random")
    ctl.run("ladder", "disable", "original")
    ladders = {x["name"]: x for x in ctl.json("ladder", "list")["ladders"]}
    assert ladders["rabbits"]["maps"] == ["two.map"]
    assert ladders["rabbits"]["seeds"] == "random"
    assert ladders["original"]["disabled"]
    assert [ladders["original"][name] for name in rounds] == [2, 1, 0]
    assert [ladders["rabbits"][name] for name in rounds] == [8, 3600, 10000]
    table = ctl.run("ladder", "list").out
    assert "two.map" in table and "turns=7" in table


@pytest.mark.parametrize("words, told", [
    (("--seeds", "9223372036854775808..9223372036854775809"), "seeds"),
    (("--seeds", "-1..3"), "seeds"),
    (("--seeds", "1.0..3"), "seeds"),
    (("--seeds", "5..1"), "seeds"),
    (("--turn-ms", "-1"), "turn_ms"),
    (("--round-runs", "1"), "round_runs"),
    (("--round-runs", "65"), "round_runs"),
    (("--round-seconds", "0"), "round_seconds"),
    (("--house-wait", "-1"), "house_wait_ms"),
    (("--turn-ms", "9223372036854775807"), "turn_ms"),
    (("--params", "turns=0"), "turns"),
    (("--params", "trns=5"), "trns"),
    (("--bot-seed", "mine"), "bot_seed"),
    (("--seats", "2"), "seats"),
    (("--map", "nowhere.map"), "nowhere.map"),
])
def test_a_bad_ladder_changes_nothing(laddered, words, told):
    """BC78, BC81 on the way in"""
    ctl = laddered
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
    assert [row["rated"] for row in rows] == [False] * 4
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
