# SPDX-License-Identifier: MIT
"""Authors join by themselves: invites, tokens, versions, over real sockets."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest

from arena import add_mine, add_rabbits, rows
from bridges import COMMANDS, TOKEN
from conftest import BUILD, TOP, wait_until
from web import start_web


C_BRIDGE = [BUILD / "clients/bridge/hill-bridge"]
PYTHON_BRIDGE = [sys.executable, TOP / "clients/bridge/hill_bridge.py"]
both_bridges = pytest.mark.parametrize("program", [C_BRIDGE, PYTHON_BRIDGE], ids=["c", "python"])


def bridge(program, *words, status=0, **options):
    done = subprocess.run([*program, *map(str, words)],
                          capture_output=True, text=True, timeout=60, **options)
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout + done.stderr


def register(peer, line):
    """Say `@register LINE`; the first two words and the keys of the answer."""
    peer.say(f"@register {line}")
    return peer.line()


def token_of(line):
    assert line.startswith("@registered "), line
    return line.split("token=")[1]


def test_open_registration_then_login(start_hilld):
    hilld = start_hilld("--set", "registration=open")
    peer = hilld.peer()
    peer.expect("@hill 1 ")
    token = token_of(register(peer, "New_One"))
    peer.say(f"@login new_one {token} version=v1")
    assert peer.line() == "@welcome new_one version=v1"
    assert rows(hilld, "SELECT label, state FROM bot_version ORDER BY number") == [
        ("1", "retired"), ("v1", "active")]
    # Nothing but its hash is kept, and the log holds no token.
    hilld.stop()
    assert token.encode() not in hilld.database.read_bytes()
    assert token not in hilld.log.read_text()


def test_look_alikes_and_reserved_words_are_refused(start_hilld):
    """BC89."""
    hilld = start_hilld("--set", "registration=open")
    peer = hilld.peer()
    peer.expect("@hill 1 ")
    assert register(peer, "limes").startswith("@registered limes ")
    assert register(peer, "Limes").startswith("@error name-taken ")
    assert register(peer, "root").startswith("@error name-refused ")
    peer = hilld.peer()
    peer.expect("@hill 1 ")
    assert register(peer, "cr\u0430zy").startswith("@error name-refused ")
    assert register(peer, "Iimes").startswith("@registered iimes ")
    assert rows(hilld, "SELECT name FROM bot ORDER BY name") == [("iimes",), ("limes",)]


def test_a_raw_nul_in_a_name_registers_nothing(start_hilld):
    """BC77, at the word that makes names."""
    hilld = start_hilld("--set", "registration=open")
    peer = hilld.peer()
    peer.expect("@hill 1 ")
    peer.socket.sendall(b"@register ab\0cd\n")
    assert peer.line().startswith("@error bad-text ")
    assert rows(hilld, "SELECT name FROM bot") == []
    assert register(peer, "abcd").startswith("@registered abcd ")


def test_who_has_a_bot_registers_the_next_by_its_token(start_hilld):
    hilld = start_hilld("--set", "bots-per-owner=2")
    token = hilld.add_bot("crazy", owner="ann")
    peer = hilld.peer()
    peer.expect("@hill 1 ")
    assert register(peer, "other").startswith("@error registration-closed ")
    assert register(peer, f"other token={token}").startswith("@registered other ")
    assert register(peer, f"third token={token}").startswith("@error too-many-bots ")
    assert rows(hilld, "SELECT o.name FROM bot b JOIN owner o ON o.id = b.owner_id "
                 "WHERE b.name = 'other'") == [("ann",)]


def test_a_host_with_enough_bots_takes_only_invites_and_its_own(start_hilld, tmp_path):
    hilld, web = start_web(start_hilld, tmp_path, "--set", "bots-max=2",
                           "--set", "registration=open")
    peer = hilld.peer()
    peer.expect("@hill 1 ")
    assert register(peer, "first").startswith("@registered first ")
    assert web.post("/bots", {"name": "second"})["bot"] == "second"
    told = register(peer, "third")
    assert told.startswith("@error too-many-bots : there are 2 bots here"), told
    assert web.post("/bots", {"name": "third"}, 403)["code"] == "too-many"
    assert hilld.add_bot("third")
    code = hilld.admin("invite new")["invite"]
    assert register(peer, f"fourth invite={code}").startswith("@registered fourth ")
    assert web.post("/bots", {"name": "fifth"}, 403)["code"] == "too-many"


def test_a_new_token_replaces_the_old_one_at_once(start_hilld):
    hilld = start_hilld()
    token = hilld.add_bot("crazy")
    first, second = hilld.peer().login("crazy", token), hilld.peer().login("crazy", token)
    first.say("@rotate")
    fresh = first.expect("@token ").split()[1]
    refused = hilld.peer()
    refused.expect("@hill 1 ")
    refused.say(f"@login crazy {token}")
    assert refused.line().startswith("@error login-failed ")
    hilld.peer().login("crazy", fresh)
    second.say("@ping still-here")
    assert second.line() == "@pong still-here"


def test_a_result_belongs_to_the_version_of_its_login(start_hilld):
    """BC56."""
    hilld = start_hilld()
    add_rabbits(hilld)
    token = hilld.add_bot("crazy")
    old = hilld.peer().login("crazy", token)
    match = old.ready("rabbits")
    new = hilld.peer()
    new.expect("@hill 1 ")
    new.say(f"@login crazy {token} version=v2")
    new.expect("@welcome crazy version=v2")
    old.say(f"@resign {match}")
    old.expect(f"@result {match} ")
    assert rows(hilld, "SELECT v.label, (SELECT count(*) FROM seat s WHERE s.bot_version_id = v.id)"
                 " FROM bot_version v ORDER BY v.number") == [("1", 1), ("v2", 0)]


def test_a_retired_version_is_told_of(start_hilld):
    hilld = start_hilld()
    token = hilld.add_bot("crazy")
    for label, answer in (("v2", "@welcome crazy version=v2"), ("1", "@error version-retired ")):
        peer = hilld.peer()
        peer.expect("@hill 1 ")
        peer.say(f"@login crazy {token} version={label}")
        assert peer.line().startswith(answer)


def hillctl(hilld, *words, status=0):
    done = subprocess.run([BUILD / "clients/ctl/hillctl", "--database", hilld.database, "--socket",
                           f"{hilld.short}/sock", *words], capture_output=True, text=True)
    assert done.returncode == status, done.stderr
    return done.stdout


def test_an_invite_registers_one_bot(start_hilld):
    hilld = start_hilld()
    code = hillctl(hilld, "invite", "new", "--owner", "ann", "--days", "3").split()[-1]
    peer = hilld.peer()
    peer.expect("@hill 1 ")
    assert register(peer, f"crazy invite={code}").startswith("@registered crazy ")
    assert register(peer, f"other invite={code}").startswith("@error invite-refused ")
    [line] = hillctl(hilld, "invite", "list").splitlines()[1:]
    assert "ann" in line and "crazy" in line
    assert code not in hillctl(hilld, "audit")


def test_a_roster_makes_owners_with_an_invite_each(start_hilld, tmp_path):
    hilld = start_hilld()
    roster = tmp_path / "roster.csv"
    roster.write_text('\ufeffexternal_id,owner,"note"\r\n4711,ann,"Ann, ""A"" B"\r\n4712,bob,'
                      '"two\nlines"\n',
                      encoding="utf-8")
    out = tmp_path / "invites.csv"
    hillctl(hilld, "owner", "import", roster, "--output", out)
    assert out.stat().st_mode & 0o777 == 0o600
    head, ann, bob = out.read_text().splitlines()
    assert head == "owner,invite" and ann.startswith("ann,join_") and bob.startswith("bob,join_")
    assert rows(hilld, "SELECT name, external_id, note FROM owner ORDER BY name") == [
        ("ann", "4711", 'Ann, "A" B'), ("bob", "4712", "two\nlines")]
    peer = hilld.peer()
    peer.expect("@hill 1 ")
    token_of(register(peer, f"crazy invite={ann.split(',')[1]}"))
    assert rows(hilld, "SELECT o.name FROM bot b JOIN owner o ON o.id = b.owner_id") == [("ann",)]
    # What the host may read is in no audit line.
    assert "4711" not in hillctl(hilld, "audit") and "Ann" not in hillctl(hilld, "audit")


@pytest.mark.parametrize("text,told", [
    ("owner,mail\nann,a@b\n", "there is no column 'mail'"),
    ("owner,note\nann,1\nbob,2\nann,3\n", "line 4: owner 'ann' stands in line 2 already"),
    ("note\nann\n", "its first line must name the columns"),
    ('owner,note\nann,"1"x\n', "line 2 has more cells than the first one has columns, or one that"),
    ('owner,note\nbob,1\nann,"1\n2\n', "line 5 has more cells than the first one has columns, or"),
    ("owner,note\nbob,1\nann,1,2\n", "line 3 has more cells than the first one has columns, or"),
    ("owner,note,owner\nann,1,bob\n", "line 1: column 'owner' stands there twice"),
    ("owner,note\nbob,1\nann,a\0b\n", "line 3 is no UTF-8 text"),
])
def test_a_roster_that_is_wrong_makes_nobody(ctl, text, told):
    roster = ctl.folder / "roster.csv"
    roster.write_text(text)
    ctl.run("owner", "add", "zoe")
    out = ctl.folder / "invites.csv"
    assert told in ctl.run("owner", "import", roster, "--output", out, status=1).err
    assert [owner["name"] for owner in ctl.json("owner", "list")["owners"]] == ["zoe"]
    assert not out.exists()


def test_an_erased_owner_is_a_number_and_keeps_his_results(start_hilld):
    hilld = start_hilld()
    add_rabbits(hilld)
    hilld.admin("owner add", name="ann-smith", external_id="4711", note="tall")
    token = hilld.add_bot("crazy", owner="ann-smith")
    hilld.add_bot("annsbot", owner="ann-smith")
    hillctl(hilld, "bot", "ban", "annsbot", "--reason", "copied by Smith, A.")
    hillctl(hilld, "bot", "rename", "annsbot", "digger")
    peer = hilld.peer().login("crazy", token)
    match = peer.ready("rabbits")
    peer.say(f"@resign {match}")
    peer.expect(f"@result {match} ")
    hillctl(hilld, "owner", "erase", "ann-smith")
    peer.expect("@error bot-disabled ")
    assert rows(hilld, "SELECT name, external_id, note FROM owner") == [("erased-1", None, "")]
    assert rows(hilld, "SELECT count(*) FROM seat") == [(1,)]
    hilld.stop()
    for suffix in ("", "-wal"):
        path = hilld.database.with_name(hilld.database.name + suffix)
        assert not path.exists() or b"4711" not in path.read_bytes()
    assert rows(hilld, "SELECT count(*) FROM audit WHERE arguments LIKE '%ann-smith%'"
                " OR arguments LIKE '%Smith, A.%'") == [(0,)]
    assert rows(hilld, "SELECT name, ban_reason FROM bot WHERE name <> 'guest:' ORDER BY name") == [
        ("crazy", ""), ("digger", "erased")]


def test_a_ban_ends_links_and_is_taken_back(start_hilld):
    hilld = start_hilld()
    token = hilld.add_bot("crazy", owner="ann")
    for ban, name in (("bot", "crazy"), ("owner", "ann")):
        peer = hilld.peer().login("crazy", token)
        hillctl(hilld, ban, "ban", name, "--reason", f"spam by {name}")
        told = f"@error bot-disabled : the host has disabled this bot: spam by {name}"
        assert peer.expect("@error bot-disabled ") == told
        peer = hilld.peer()
        peer.expect("@hill 1 ")
        peer.say(f"@login crazy {token}")
        assert peer.line() == told
        hillctl(hilld, ban, "unban", name)
        hillctl(hilld, ban, "unban", name, status=1)
    hilld.peer().login("crazy", token)


@both_bridges
def test_a_bridge_prints_why_its_bot_is_banned(start_hilld, tmp_path, program):
    hilld = start_hilld()
    (tmp_path / "token").write_text(hilld.add_bot("crazy"))
    (tmp_path / "token").chmod(0o600)
    reason = "plays for two; " + 484 * "x" + "."
    hilld.admin("bot ban", name="crazy", reason=reason)
    out = bridge(program, "--server", f"127.0.0.1:{hilld.port}", "--bot", "crazy", "--token-file",
                 "token", "--play", "rabbits", "--", "cat", cwd=tmp_path, status=1)
    assert out == "hill-bridge: the server says: bot-disabled : the host has disabled this bot: " \
        f"{reason}\n"


def test_the_host_goes_back_to_a_version_and_renames(start_hilld):
    hilld = start_hilld()
    token = hilld.add_bot("crazy")
    peer = hilld.peer()
    peer.expect("@hill 1 ")
    peer.say(f"@login crazy {token} version=v2")
    peer.expect("@welcome crazy version=v2")
    assert hillctl(hilld, "bot", "activate", "crazy", "1") == \
        "bot crazy: version 1 is active, v2 is retired\n"
    hillctl(hilld, "bot", "activate", "crazy", "v3", status=1)
    assert [line.split()[:3] for line in hillctl(hilld, "bot", "versions", "crazy").splitlines()[1:]] == [
        ["1", "1", "active"], ["2", "v2", "retired"]]
    hillctl(hilld, "bot", "rename", "crazy", "lazy")
    hilld.peer().login("lazy", token)
    hillctl(hilld, "bot", "hide", "lazy")
    assert rows(hilld, "SELECT is_hidden FROM bot") == [(1,)]
    hillctl(hilld, "bot", "show", "lazy")
    hillctl(hilld, "owner", "house", "owner-of-crazy")
    assert rows(hilld, "SELECT is_hidden, is_house FROM bot JOIN owner o ON o.id = owner_id") == [(0, 1)]
    commands = [line.split("  ")[3].strip() for line in hillctl(hilld, "audit").splitlines()[1:]]
    assert len(commands) == 6


def test_what_was_refused_leaves_no_trace_in_the_audit(start_hilld):
    hilld = start_hilld()
    hillctl(hilld, "bot", "ban", "nobody", "--reason", "x", status=1)
    assert rows(hilld, "SELECT count(*) FROM audit") == [(0,)]


@both_bridges
def test_join_registers_and_prints_the_line_to_run(start_hilld, tmp_path, program):
    hilld = start_hilld()
    add_rabbits(hilld, turns=20)
    code = hilld.admin("invite new")["invite"]
    out = bridge(program, "join", f"127.0.0.1:{hilld.port}", code, "--name", "Newcomer",
                 "--token-file", "it's new.token", cwd=tmp_path)
    token = tmp_path / "it's new.token"
    assert token.stat().st_mode & 0o777 == 0o600 and token.read_text().startswith("hill_")
    [line] = [line for line in out.splitlines() if "--play rabbits" in line]
    assert token.read_text().strip() not in out
    start, kit = line.split(" -- ")
    done = subprocess.run(f"{start} --matches 1 --version v1 -- {kit}", shell=True,
                          cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert rows(hilld, "SELECT b.name, v.label FROM seat s JOIN bot_version v ON v.id = "
                "s.bot_version_id JOIN bot b ON b.id = v.bot_id") == [("newcomer", "v1")]


@both_bridges
def test_an_invite_may_be_typed(start_hilld, tmp_path, program):
    hilld = start_hilld()
    code = hilld.admin("invite new")["invite"]
    line = [*program, "join", f"127.0.0.1:{hilld.port}", "-", "--name", "abc"]
    for typed, status in (("\n", 2), (code + "\n", 0)):
        done = subprocess.run(line, cwd=tmp_path, input=typed, capture_output=True, text=True,
                              timeout=60, check=False)
        assert done.returncode == status, done.stderr
    assert (tmp_path / "abc.token").read_text().startswith("hill_")


def test_both_bridges_print_the_same_when_a_bot_has_joined(start_hilld, tmp_path):
    hilld = start_hilld()
    add_rabbits(hilld, turns=20)
    add_mine(hilld)
    told = []
    for name, program, shown in (("first", C_BRIDGE, f"{C_BRIDGE[0]} "),
                                 ("other", PYTHON_BRIDGE, f"python3 {PYTHON_BRIDGE[1]} ")):
        code = hilld.admin("invite new")["invite"]
        out = bridge(program, "join", f"127.0.0.1:{hilld.port}", code, "--name", name,
                     cwd=tmp_path)
        assert shown in out
        told.append(out.replace(shown, "PROGRAM ").replace(name, "NAME").splitlines())
    assert told[0] == told[1]
    line = f"  PROGRAM --server 127.0.0.1:{hilld.port} --bot NAME --token-file NAME.token --play "
    assert told[0] == [
        "NAME is registered; its token is in NAME.token",
        "play with a starter kit, or your own program in its place:",
        f"{line}mine -- python3 {TOP}/clients/bots/lambda_start.py",
        f"{line}rabbits -- python3 {TOP}/clients/bots/rabbit_start.py"]


def serve_join(hill, ladders):
    hill.accept()
    hill.say("@hill 1 here")
    hill.expect("@register abc")
    hill.say(f"@registered abc token={TOKEN}")
    hill.expect("@ladders")
    hill.say(f"@ladders {len(ladders)}", *ladders)


def test_a_kit_that_is_not_here_is_named_and_where_it_is(kind, hill, tmp_path):
    ladders = ["@ladder \x1b game=chess-king", "@ladder odd game=$(reboot)", "@ladder bare",
               *(f"@ladder l{number} game=chess-king" for number in range(9))]
    thread = threading.Thread(target=serve_join, args=(hill, ladders), daemon=True)
    thread.start()
    out = bridge(COMMANDS[kind], "join", f"127.0.0.1:{hill.port}", "--name", "abc", cwd=tmp_path)
    thread.join(10)
    lines = out.splitlines()
    assert lines[2] == "  (the *_start.py are in clients/bots of hill's sources: fetch the one " \
        "you want)"
    assert [line.split("--play ")[1] for line in lines[3:]] == [
        f"l{number} -- python3 chess_start.py" for number in range(8)]


def test_who_has_joined_where_no_ladder_is_told_has_joined(kind, hill, tmp_path):
    thread = threading.Thread(target=serve_join, args=(hill, []), daemon=True)
    thread.start()
    out = bridge(COMMANDS[kind], "join", f"127.0.0.1:{hill.port}", "--name", "abc", cwd=tmp_path)
    thread.join(10)
    assert out == "abc is registered; its token is in abc.token\n"


@both_bridges
def test_a_refused_join_leaves_no_file(start_hilld, tmp_path, program):
    hilld = start_hilld()
    server = f"127.0.0.1:{hilld.port}"
    assert "unknown, used up" in bridge(program, "join", server, "wrong", "--name", "abc", status=1,
                                        cwd=tmp_path)
    assert not (tmp_path / "abc.token").exists()
    # Nor does one that was broken off before a server had answered.
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        process = subprocess.Popen(
            [*program, "join", f"127.0.0.1:{deaf.getsockname()[1]}", "--name", "abc"],
            cwd=tmp_path, stderr=subprocess.DEVNULL)
        link, _ = deaf.accept()
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        process.wait(30)
        link.close()
    assert not (tmp_path / "abc.token").exists()
    (tmp_path / "abc.token").write_text("precious")
    bridge(program, "join", server, "wrong", "--name", "abc", status=1, cwd=tmp_path)
    assert (tmp_path / "abc.token").read_text() == "precious"
    assert "abc.token: is there already: use another --name or --token-file" in bridge(
        program, "join", server, "wrong", "--name", "abc", status=1, cwd=tmp_path)
    nobody = {key: value for key, value in os.environ.items() if key not in ("USER", "USERNAME")}
    assert "say --name NAME" in bridge(program, "rotate", server, status=2, env=nobody)
    assert "join" in bridge(program, "join", status=2)
    assert bridge(program, "join", "--help").startswith("usage: hill-bridge")
    assert "--candidate wants" in bridge(
        program, "--server", server, "--bot", "abc", "--token-file", "abc.token", "--play", "x",
        "--candidate", "--", "true", status=2)


@both_bridges
@pytest.mark.parametrize("server, told", [
    ("127.0.0.1", "127.0.0.1:4455"), ("[::1]", "::1:4455"), ("127.0.0.1:1", "127.0.0.1:1"),
    ("127.0.0.1:", None), ("", None)])
def test_a_server_without_a_port_is_at_hills_own(program, server, told):
    done = subprocess.run([*program, "--check", server, "--seconds", "1"], capture_output=True,
                          text=True, timeout=60)
    if told is None:
        assert done.returncode == 2 and "wants HOST[:PORT]" in done.stderr
    else:
        assert done.returncode == 0 or f"cannot check {told}: " in done.stderr


@both_bridges
def test_a_candidate_is_told_that_it_is_not_rated(start_hilld, tmp_path, program):
    hilld = start_hilld()
    add_rabbits(hilld, turns=20)
    (tmp_path / "token").write_text(hilld.add_bot("crazy"))
    (tmp_path / "token").chmod(0o600)
    words = ["--server", f"127.0.0.1:{hilld.port}", "--bot", "crazy", "--token-file", "token",
             "--play", "rabbits", "--matches", "1"]
    told = "not rated on rabbits: candidate"
    for more, is_told in (([], False), (["--version", "v2", "--candidate"], True),
                          (["--version", "v2"], True)):
        out = bridge(program, *words, *more, "--", "cat", cwd=tmp_path)
        assert out.count(told) == is_told, out


def test_the_line_of_a_fetched_bridge_runs(start_hilld, tmp_path):
    hilld = start_hilld()
    add_rabbits(hilld, turns=20)
    code = hilld.admin("invite new")["invite"]
    fetched = tmp_path / "hill_bridge.py"
    shutil.copy(TOP / "clients/bridge/hill_bridge.py", fetched)
    out = bridge([sys.executable, fetched.name], "join", f"127.0.0.1:{hilld.port}", code, "--name",
                 "newcomer", cwd=tmp_path)
    [line] = [line for line in out.splitlines() if "--play rabbits" in line]
    assert line.startswith("  python3 hill_bridge.py --server ")
    assert "clients/bots" in out
