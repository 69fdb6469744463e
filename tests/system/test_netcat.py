# SPDX-License-Identifier: MIT
"""The netcat sessions that PROTOCOL.md shows, typed into a real hilld."""
import re
import struct
import zlib

import pytest

from conftest import TOP

SESSIONS = re.findall(r"^```netcat (\S+)([^\n]*)\n(.*?)^```$",
                      (TOP / "proto/PROTOCOL.md").read_text(), re.M | re.S)


def one_red_pixel():
    """A white picture of 20 x 20 with one red pixel, as PNG."""
    rows = [b"\0" + b"".join(b"\xff\0\0" if (x, y) == (3, 3) else b"\xff\xff\xff"
                             for x in range(20)) for y in range(20)]

    def chunk(kind, data):
        return (struct.pack(">I", len(data)) + kind + data +
                struct.pack(">I", zlib.crc32(kind + data)))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 20, 20, 8, 2, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(b"".join(rows))) + chunk(b"IEND", b""))


MAPS = {
    "rabbit-runner": b"#######\n#s   e#\n#######\n",
    "image-battle": one_red_pixel(),
    "lambda-mining": b"#####\n#R\\L#\n#####\n",
}


def matches(pattern, line):
    """Whether LINE is what PATTERN shows, each ellipsis standing for anything."""
    return re.fullmatch(".*".join(map(re.escape, pattern.split("…"))), line) is not None


def is_next_match(line, names):
    """Who waits on a ladder may be offered the next match before the last one's result."""
    return line.startswith("@match ") and "4711" in names


def play(peer, session, names):
    """Say and expect what SESSION shows; NAMES replaces its placeholders."""
    skips = False
    for shown in session.splitlines():
        for old, new in names.items():
            shown = re.sub(rf"\b{old}\b", new, shown)
        if shown == "…":
            skips = True
        elif shown.startswith(">"):
            peer.say(shown[2:])
        else:
            assert shown.startswith("< "), shown
            line = peer.line()
            while line is not None and (
                    skips and not matches(shown[2:], line) or is_next_match(line, names)):
                line = peer.line()
            skips = False
            assert line is not None, f"the link ended before {shown}"
            number = re.match(r"@match (\d+) ", line)
            if number:
                names["4711"] = number.group(1)
                shown = shown.replace("4711", number.group(1))
            assert matches(shown[2:], line), f"{line!r} is not {shown!r}"


def test_there_is_a_session_for_each_game():
    assert sorted(game for game, _, _ in SESSIONS) == sorted(MAPS)


@pytest.mark.parametrize("game,params,session", SESSIONS, ids=[s[0] for s in SESSIONS])
def test_session_of_the_protocol(hilld, game, params, session):
    token = hilld.add_bot("crazy")
    hilld.add_map("netcat.map", game, MAPS[game])
    hilld.admin("ladder add", name=game, game=game, maps=["netcat.map"], seats=1,
                params=params.strip(), turn_ms=60000)
    play(hilld.peer(), session, {"TOKEN": token})
