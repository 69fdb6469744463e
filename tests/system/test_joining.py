# SPDX-License-Identifier: MIT
"""Authors join by themselves: invites, tokens, versions, over real sockets."""

from arena import add_rabbits, rows


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
