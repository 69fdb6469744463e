# SPDX-License-Identifier: MIT
"""What one address may have of the HTTP API, and whose address it is behind a proxy."""
import http.client
import json
import os
import re
import socket
import zlib

import pytest

from arena import IS_SANITIZED, add_rabbits
from conftest import wait_until
from memory import Peak
from season import IS_LONG
from web import API, Web, add_instance, add_match, insert, open_database, start_web

BIG = 12 * 1024 * 1024  # more than an address's share, and than sockets take in
PROXY = "127.0.0.9"
HEADERS = {"X-Content-Type-Options": "nosniff", "Content-Security-Policy": "default-src 'none'"}


class From(Web):
    """A client at ADDRESS of the loopback."""

    def __init__(self, web, address):
        super().__init__(web.port)
        self.address = address

    def ask(self, path, method="GET", body=None, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60,
                                                source_address=(self.address, 0))
        try:
            connection.request(method, path, body,
                               {name.replace("_", "-"): value for name, value in headers.items()})
            reply = connection.getresponse()
            return reply.status, reply.headers, reply.read()
        finally:
            connection.close()

    def link(self, path=None, *lines):
        """A connection that takes next to nothing, and what it asks for at once."""
        link = socket.socket()
        link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        # What the other side's socket takes in goes by the size of segments.
        link.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 1000)
        link.settimeout(60)
        link.bind((self.address, 0))
        link.connect(("127.0.0.1", self.port))
        if path is not None:
            ask(link, path, *lines)
        return link


def ask(link, path, *lines):
    link.sendall("\r\n".join((f"GET {API}{path} HTTP/1.1", "Host: x", *lines, "", "")).encode())


def head(link):
    """Status and headers of a reply, and no byte behind them."""
    found = b""
    while not found.endswith(b"\r\n\r\n"):
        byte = link.recv(1)
        assert byte, found
        found += byte
    first, *lines = found.decode().strip().split("\r\n")
    return int(first.split()[1]), dict(line.split(": ", 1) for line in lines)


def read_reply(link):
    """Status and headers of a short reply, which is read whole."""
    status, headers = head(link)
    left = int(headers["Content-Length"])
    while left > 0:
        left -= len(link.recv(left))
    return status, headers


@pytest.fixture
def big_map(start_hilld, tmp_path):
    """A hilld with a map whose bytes are long; its client."""
    server = start_hilld()
    server.stop()
    with open_database(server.database) as c:
        game = c.execute("SELECT id FROM game WHERE name = 'rabbit-runner'").fetchone()[0]
        insert(c, "map", game_id=game, name="big.map", created_us=1, hash=b"\7" * 32,
               size_bytes=BIG, data=os.urandom(BIG), is_disabled=1)
    return start_web(start_hilld, tmp_path, "--set", f"http-trusted-proxy={PROXY}")[1]


@pytest.mark.parametrize("kind", ["direct", "proxied", "network"])
def test_slow_readers_of_one_address_leave_room_for_others(big_map, kind):
    def somebody(number, host=0):
        """A client and the header line that tells who it is."""
        if kind == "direct":
            return From(big_map, f"127.0.0.{number}"), ()
        address = f"2001:db8:0:{number}::{host}" if kind == "network" else f"192.0.2.{number}"
        return From(big_map, PROXY), (f"X-Forwarded-For: {address}",)

    links = []
    for host in range(8):
        greedy, name = somebody(2, host)
        links.append(greedy.link("/maps/rabbit-runner/big.map", *name))
    replies = [head(link) for link in links]
    served = [link for link, reply in zip(links, replies) if reply[0] == 200]
    refused = [headers for status, headers in replies if status != 200]
    assert len(served) == 1 and len(refused) == 7
    for headers in refused:
        assert headers["Retry-After"] == "5" and headers["Connection"] == "close"
        assert headers["Content-Type"] == "application/problem+json"
    # What is small is refused, too, where that much waits; but nobody else's.
    last = greedy.link("/health", *name)
    assert head(last)[0] == 503
    for number in (3, 4):
        other, name_of_other = somebody(number)
        link = other.link("/maps/rabbit-runner/big.map", *name_of_other)
        assert head(link)[0] == 200
        links.append(link)
        # They can wait for their own as well, and all of it comes.
        if number == 3:
            left = BIG
            while left > 0:
                left -= len(link.recv(min(left, 1 << 20)))
    for link in [*links, last]:
        link.close()

    def is_served_again():
        link = greedy.link("/health", *name)
        status = head(link)[0]
        link.close()
        return status == 200
    wait_until("its share is free again", is_served_again)


def test_transcripts_that_are_told_slowly_count(start_hilld, tmp_path):
    """What is kept to tell the rest from is bounded as what waits for the client."""
    server = start_hilld()
    add_rabbits(server)
    server.add_bot("ant")
    server.stop()
    with open_database(server.database) as c:
        instance = insert(c, "instance", map_id=1, params="turns=3", seats=1, seed=1)
        add_match(c, 1, instance, [1], 1)
        replies = b"".join(b"\0\x64" + os.urandom(100) for _ in range(50_000))
        c.execute("UPDATE transcript SET transcript = ?", (zlib.compress(b"\1" + replies, 1),))
    _, web = start_web(start_hilld, tmp_path)
    path = "/matches/1/transcript"
    first = From(web, "127.0.0.2").link(path)
    assert head(first)[0] == 200
    second = From(web, "127.0.0.2").link(path)
    status, headers = read_reply(second)
    assert status == 503 and headers["Retry-After"] == "5"
    other = From(web, "127.0.0.3").link(path)
    assert head(other)[0] == 200
    # The notes are few, and what is small may wait as well.
    ask(second, "/matches/1/notes")
    assert head(second)[0] == 200
    for link in (second, other):
        link.close()
    left = b""
    while not left.endswith(b"0\r\n\r\n"):
        left = left[-8:] + first.recv(1 << 20)
    # All is told: nothing is kept any more, on the same link.
    ask(first, path)
    assert head(first)[0] == 200
    first.close()


def test_a_client_behind_a_proxy_is_bounded_by_itself(start_hilld, tmp_path):
    _, web = start_web(start_hilld, tmp_path, "--set", f"http-trusted-proxy={PROXY},::1", "--set",
                       "http-connections-per-address=3")
    proxy = From(web, PROXY)
    idle = [proxy.link() for _ in range(8)]  # as many as it likes
    watching = [proxy.link("/events/matches", f"X-Forwarded-For: {made_up}192.0.2.1")
                for made_up in ("", "10.0.0.1, ", "192.0.2.2, junk, ")]
    assert [head(link)[0] for link in watching] == [200] * 3
    fourth = proxy.link("/health", "X-Forwarded-For: 192.0.2.1")
    status, headers = read_reply(fourth)
    assert status == 503 and headers["Retry-After"] and HEADERS.items() <= headers.items()
    # A network of IPv6 is one client, as on the bots' port; the next one is another.
    network = [proxy.link("/events/matches", f"X-Forwarded-For: 2001:db8:0:1::{number}")
               for number in range(3)]
    assert [head(link)[0] for link in network] == [200] * 3
    for address, status in (("2001:db8:0:1:ffff::4", 503), ("2001:db8:0:2::4", 200)):
        network.append(proxy.link("/health", f"X-Forwarded-For: {address}"))
        assert read_reply(network[-1])[0] == status
    # One connection of the proxy's, many clients'.
    for number in (2, 3, 2, 4, 5):
        ask(idle[0], "/health", f"X-Forwarded-For: 192.0.2.{number}")
        assert read_reply(idle[0])[0] == 200
    for link in [*idle, *watching, fourth, *network]:
        link.close()
    # Elsewhere the header says nothing.
    stranger = From(web, "127.0.0.3")
    links = [stranger.link("/events/matches", f"X-Forwarded-For: 192.0.2.{number}")
             for number in range(3)]
    assert [head(link)[0] for link in links] == [200] * 3
    last = stranger.link("/health", "X-Forwarded-For: 192.0.2.9")
    assert head(last)[0] == 503
    for link in [*links, last]:
        link.close()


def test_registrations_count_for_who_is_behind_the_proxy(start_hilld, tmp_path):
    _, web = start_web(start_hilld, tmp_path, "--set", f"http-trusted-proxy={PROXY}", "--set",
                       "registration=open", "--set", "registrations-per-hour=2")
    made = []

    def register(address, **headers):
        made.append(f"bot-{len(made)}")
        return From(web, address).ask(f"{API}/bots", "POST", json.dumps({"name": made[-1]}),
                                      Content_Type="application/json", **headers)[0]

    def thrice(address, *forwarded):
        return [register(address, **({"X_Forwarded_For": each} if each else {}))
                for each in forwarded]

    ann, bob = "192.0.2.1", "2001:db8::7"  # and all of his network is Bob
    assert thrice(PROXY, ann, f"{bob}, {ann}", f"1.2.3.4,{ann}:80, {PROXY}") == [201, 201, 429]
    assert thrice(PROXY, bob, "2001:DB8:0::8", f"[{bob}]:80") == [201, 201, 429]
    # What is malformed is the proxy's own.
    assert thrice(PROXY, None, "junk", f"{ann}, unknown") == [201, 201, 429]
    # Nobody else's word is taken for it.
    assert thrice("127.0.0.3", "192.0.2.31", "192.0.2.32", "192.0.2.33") == [201, 201, 429]


@pytest.mark.parametrize("value", ["localhost", "127.0.0.1:80", "10.0.0.0/8", "::1,"])
def test_a_proxy_that_is_no_address_is_refused(start_hilld, value):
    with pytest.raises(AssertionError, match="has ended, status 2"):
        start_hilld("--set", f"http-trusted-proxy={value}")


def test_bc38_a_spectator_that_takes_no_events_is_dropped(
        little_quarantine, start_hilld, tmp_path):
    server = start_hilld()
    add_rabbits(server, "rabbits", turns=1, turn_ms=20000, seeds="1..1000000")
    token = server.add_bot("ann")
    server.stop()
    with open_database(server.database) as c:
        instance = add_instance(c, 1, 5)
        for number in range(1_000_000, 1_000_101):
            add_match(c, 1, instance, [1], number)
        if not IS_LONG:  # what it has missed takes half the room of 256 KiB
            c.execute("UPDATE seat SET columns = ?", (json.dumps(["x" * 1700]),))
    server, web = start_web(start_hilld, tmp_path, "--set", "http-stall-seconds=300")
    peak = Peak(server.process)
    deaf = [From(web, "127.0.0.2").link("/events/matches", "Last-Event-ID: 1000000")
            for _ in range(20 if IS_LONG else 5)]
    hears = socket.create_connection(("127.0.0.1", web.port), timeout=60)
    ask(hears, "/events/matches")
    assert head(hears)[0] == 200

    def ndropped():
        told = web.ask("/metrics")[2].decode()
        return int(re.search(r"\nhill_http_subscribers_dropped_total (\d+)\n", told)[1])
    assert ndropped() == 0
    peer = server.peer().login("ann", token)
    peer.say("@play rabbits")
    played, heard = [], b""
    for _ in range(1000 if IS_LONG else 500):
        played.append(peer.ready())
        peer.say("move")
        peer.expect(f"@end {played[-1]} ")  # the next offer may come before the result
    wait_until("they are dropped", lambda: ndropped() == len(deaf), server.process)
    assert peak.growth_kib() < len(deaf) * 1024 + (24576 if IS_SANITIZED else 8192)
    # Who listens was not dropped; who was is told so behind what waited.
    while f"id: {played[-1]}\n".encode() not in heard:
        heard += hears.recv(65536)
    assert [int(number) for number in re.findall(rb"id: (\d+)\n", heard)] == played
    hears.close()
    told = b""
    deaf[0].setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
    while not told.endswith(b"\r\n0\r\n\r\n"):
        told += deaf[0].recv(65536)
    assert b"event: dropped\ndata: {\"reason\":\"slow\"" in told[-200:]
    for link in deaf:
        link.close()
    assert "\nhill_http_subscribers 0\n" in web.ask("/metrics")[2].decode()


def memory_of(process):
    """All that PROCESS can write to, part by part."""
    try:
        memory = open(f"/proc/{process.pid}/mem", "rb", 0)
    except PermissionError as why:
        pytest.skip(f"its memory may not be read: {why}")
    with memory, open(f"/proc/{process.pid}/maps", encoding="ascii") as maps:
        for line in maps:
            start, end, rights = re.match(r"(\w+)-(\w+) (\S+)", line).groups()
            if not rights.startswith("rw"):
                continue
            at, end = int(start, 16), int(end, 16)
            if end - at > 1 << 30:
                continue  # a sanitizer's own
            while at < end:
                size = min(1 << 24, end - at)
                try:
                    memory.seek(at)
                    yield memory.read(size)
                except (OSError, ValueError, OverflowError):
                    pass  # a hole
                at += size


def test_no_token_stays_in_memory(start_hilld, tmp_path):
    server, web = start_web(start_hilld, tmp_path)
    first = server.add_bot("first", owner="someone")
    secrets = {}
    for number in range(4):
        made = web.post("/bots", {"name": f"bot-{number}"}, Authorization=f"Bearer {first}")
        secrets["made", number] = made["token"]
        new = web.post(f"/bots/bot-{number}/token", "", Authorization=f"Bearer {made['token']}")
        secrets["new", number] = new["token"]
        secrets["wrong", number] = f"hill_{os.urandom(32).hex()}"
        web.post(f"/bots/bot-{number}/token", "", 401,
                 Authorization=f"Bearer {secrets['wrong', number]}")
        secrets["invite", number] = os.urandom(32).hex()
        web.post("/bots", {"name": f"other-{number}", "invite": secrets["invite", number]}, 401)
        secrets["unasked", number] = os.urandom(32).hex()
        web.ask(f"{API}/health", Authorization=f"Bearer {secrets['unasked', number]}")
    found = {name for part in memory_of(server.process) for name, secret in secrets.items()
             if secret[8:].encode() in part}
    assert not found
