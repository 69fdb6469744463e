# SPDX-License-Identifier: MIT
"""What takes long: who has how much of the HTTP API's worker, what is dropped, and
in which order events come."""
import json
import re
import socket
import struct
import time

import pytest

from arena import add_rabbits
from conftest import wait_until
from web import API, start_slow_pictures, start_web

SHARE = 8  # jobs of one address that may wait


@pytest.fixture
def slow(start_hilld, tmp_path):
    return start_slow_pictures(start_hilld, tmp_path)


def ask_pictures(web, number, address, turns):
    """Connections of ADDRESS that each wait for another picture."""
    links = []
    for turn in turns:
        links.append(socket.create_connection(("127.0.0.1", web.port), timeout=60,
                                              source_address=(address, 0)))
        links[-1].sendall(f"GET {API}/matches/{number}/grids?turn={turn} HTTP/1.1\r\nHost: x\r\n"
                          "\r\n".encode())
    return links


def jobs(web):
    return int(re.search(r"hill_http_jobs (\d+)\n", web.ask("/metrics")[2].decode())[1])


def test_a_stop_does_not_wait_for_pictures(slow):
    """Requests that queue for long replays are dropped; the one in work ends at a turn."""
    server, web, number, _ = slow
    links = [link for host in range(2, 9)
             for link in ask_pictures(web, number, f"127.0.0.{host}",
                                      range(host * SHARE, host * SHARE + SHARE))]
    wait_until("they wait", lambda: jobs(web) >= 40)
    begun = time.monotonic()
    assert server.stop() == 0
    assert time.monotonic() - begun < 10
    for link in links:
        link.close()


def test_an_address_has_a_share_of_the_worker(slow):
    _, web, number, _ = slow
    links = ask_pictures(web, number, "127.0.0.2", range(1, SHARE + 5))
    # Other long work counts as pictures do.
    links.append(socket.create_connection(("127.0.0.1", web.port), timeout=60,
                                          source_address=("127.0.0.2", 0)))
    links[-1].sendall(f"GET {API}/bots/ant/head-to-head HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    # What is refused is refused at once, before any picture is made.
    for link in links[SHARE:]:
        reply = link.recv(65536)
        assert reply.startswith(b"HTTP/1.1 503 ") and b"\r\nRetry-After: 5\r\n" in reply
        assert b"requests of your address wait already" in reply
    [other] = ask_pictures(web, number, "127.0.0.3", [SHARE + 10])
    assert other.recv(65536).startswith(b"HTTP/1.1 200 ")
    assert links[0].recv(65536).startswith(b"HTTP/1.1 200 ")
    for link in [*links, other]:
        link.close()


def test_what_nobody_waits_for_is_not_made(slow):
    _, web, number, seconds = slow
    links = ask_pictures(web, number, "127.0.0.2", range(1, SHARE + 1))
    wait_until("they wait", lambda: jobs(web) == SHARE)
    for link in links:
        link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        link.close()
    begun = time.monotonic()
    wait_until("they are dropped", lambda: jobs(web) == 0)
    assert time.monotonic() - begun < SHARE / 2 * seconds


def test_a_map_is_packed_once_and_asked_for_by_its_tag(start_hilld, tmp_path):
    server, web = start_web(start_hilld, tmp_path)
    data = b"#" * 1000 + b"\n#s" + b" " * 996 + b"e#\n" + b"#" * 1000 + b"\n"
    add_rabbits(server, data=data, seeds="1..1")
    path = f"{API}/maps/rabbit-runner/rabbits.map"
    status, headers, body = web.ask(path)
    assert (status, body) == (200, data) and "Content-Encoding" not in headers
    status, packed, body = web.ask(path, Accept_Encoding="gzip")
    assert status == 200 and packed["Content-Encoding"] == "gzip" and len(body) < 200
    assert packed["ETag"] == headers["ETag"]
    assert web.ask(path, If_None_Match=headers["ETag"])[::2] == (304, b"")
    assert web.ask(f"{API}/maps/rabbit-runner/other.map")[0] == 404


# ---- events ----

def play_on(peer, turns):
    """To the stored end of the match that PEER is in."""
    for _ in range(turns):
        peer.expect("turnsleft ")
        peer.say("move")
    peer.expect("@result ")


def listen(web, last=None):
    link = socket.create_connection(("127.0.0.1", web.port), timeout=30)
    after = "" if last is None else f"Last-Event-ID: {last}\r\n"
    link.sendall(f"GET {API}/events/matches HTTP/1.1\r\nHost: x\r\n{after}\r\n".encode())
    return link


def next_events(link, count):
    """The ids of the next COUNT matches."""
    found = b""
    while len(re.findall(rb"\nevent: match\ndata: .*\n\n", found)) < count:
        chunk = link.recv(65536)
        assert chunk, found
        found += chunk
    ids = [int(number) for number in re.findall(rb"id: (\d+)\n", found)]
    assert ids == [json.loads(data)["id"] for data in re.findall(rb"data: (.*)\n", found)]
    return ids


def test_no_match_is_missed_by_who_comes_again(start_hilld, tmp_path):
    """A long match is stored after a short one that began later."""
    server, web = start_web(start_hilld, tmp_path)
    add_rabbits(server, turns=3, turn_ms=60000)
    slow, quick = [server.peer().login(bot, server.add_bot(bot)) for bot in ("ant", "bee")]
    first = slow.ready("rabbits")
    slow.say("@leave")
    second = quick.ready("rabbits")
    quick.say("@leave")
    assert second > first
    link = listen(web)
    play_on(quick, 3)
    assert next_events(link, 1) == [second]
    link.close()
    play_on(slow, 3)
    link = listen(web, second)
    assert next_events(link, 1) == [first]
    link.close()
    # Who has heard the last one hears nothing twice, but for a new server.
    third = quick.ready("rabbits")
    quick.say("@leave")
    link = listen(web, first)
    play_on(quick, 3)
    assert next_events(link, 1) == [third]
    link.close()
    server.stop()
    _, web = start_web(start_hilld, tmp_path)
    link = listen(web, second)
    assert next_events(link, 2) == [first, third]
    link.close()
