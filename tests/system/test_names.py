# SPDX-License-Identifier: MIT
"""What a bot cannot be called, by each of the three ways to make one."""
import os
import subprocess

import pytest

from arena import rows
from conftest import BUILD
from web import API, start_web

# BC88: nothing of it can be told from another name, or seen at all.
INVISIBLE = {
    "zero-width": "\u200b" * 15, "zero-width-end": "blob\u200b", "override": "\u202ebolb",
    "byte-order-mark": "\ufeffblob", "combining": "a" + "\u0301" * 50, "blanks": "     ",
    "empty": "", "long": "a" * 10240, "no-utf-8": b"bl\xffob", "no-break-space": "bl\u00a0ob",
    "tag": "blob\U000e0061", "soft-hyphen": "bl\u00adob", "filler": "\u3164\u3164\u3164"}
# BC72: they differ from a-b by a blank, an underscore or a capital letter.
SPELLINGS = ("a_b", "A_B", "a b", "a  b", "A-B", "a-B")
NAMES = [*INVISIBLE.items(), *((f"spelling-{name}", name) for name in SPELLINGS)]


@pytest.fixture
def house(start_hilld, tmp_path):
    """An open server on which a-b is taken, and its API."""
    server, web = start_web(start_hilld, tmp_path, "--set", "registration=open", "--set",
                            "registrations-per-hour=1000", "--set", "bots-per-owner=1000")
    server.add_bot("a-b", owner="me")
    return server, web


def as_bytes(name):
    return name if isinstance(name, bytes) else name.encode()


def test_register_refuses_what_is_not_to_be_told_apart(house):
    """BC72, BC88"""
    server, _ = house
    for kind, name in NAMES:
        peer = server.peer()
        peer.expect("@hill 1 ")
        peer.socket.sendall(b"@register " + as_bytes(name) + b"\n")
        answer = peer.line()
        assert answer.startswith("@error ") and " : " in answer, (kind, answer)
        # What it said of the name, it said in letters that everybody can see.
        assert answer.isprintable() and len(answer) < 400, (kind, answer)
        peer.close()
    assert rows(server, "SELECT name FROM bot") == [("a-b",)]


def test_http_refuses_what_is_not_to_be_told_apart(house):
    """BC72, BC88"""
    server, web = house
    for kind, name in NAMES:
        body = b'{"name": "' + as_bytes(name) + b'"}'
        status, headers, reply = web.ask(f"{API}/bots", "POST", body,
                                         Content_Type="application/json")
        assert 400 <= status < 500, (kind, status, reply)
        assert headers["Content-Type"] == "application/problem+json"
        assert b'"detail"' in reply and len(reply) < 600, (kind, reply)
    assert rows(server, "SELECT name FROM bot") == [("a-b",)]


def test_hillctl_refuses_what_is_not_to_be_told_apart(house):
    """BC72, BC88"""
    server, web = house

    def hillctl(*words):
        return subprocess.run([BUILD / "clients/ctl/hillctl", "--database", server.database,
                               "--socket", f"{server.short}/sock", *words],
                              capture_output=True, check=False)

    for kind, name in NAMES:
        done = hillctl("bot", "add", os.fsdecode(as_bytes(name)), "--owner", "me")
        assert done.returncode in (1, 2) and done.stdout == b"", (kind, done)
        said = done.stderr.decode()
        assert said.startswith("hillctl: ") and said.count("\n") <= 2, (kind, said)
        assert said.replace("\n", "").isprintable() and len(said) < 600, (kind, said)
        # Nor is one of them taken for the one that is there.
        if name != "":
            assert hillctl("bot", "disable", os.fsdecode(as_bytes(name))).returncode != 0, kind
    assert rows(server, "SELECT name, is_disabled FROM bot") == [("a-b", 0)]
    # The table of bots has the one row that it should.
    assert len(hillctl("bot", "list").stdout.splitlines()) == 2
    assert [bot["name"] for bot in web.get("/bots")["bots"]] == ["a-b"]
    # Only the named one is retired.
    assert hillctl("bot", "disable", "a-b").returncode == 0
    assert rows(server, "SELECT name, is_disabled FROM bot") == [("a-b", 1)]
