# SPDX-License-Identifier: MIT
"""A client of the HTTP API, a database that has something to show, and a small
validator for what the API's own document promises."""
import http.client
import json
import pathlib
import re
import socket
import sqlite3
import time
import zlib

from arena import add_rabbits
from conftest import wait_until

API = "/api/v1"


class Web:
    """One connection for each request, so that nothing hides in keep-alive."""

    def __init__(self, port):
        self.port = port

    def ask(self, path, method="GET", body=None, **headers):
        """(status, headers, bytes)"""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, body,
                               {name.replace("_", "-"): value for name, value in headers.items()})
            reply = connection.getresponse()
            return reply.status, reply.headers, reply.read()
        finally:
            connection.close()

    def get(self, path, status=200):
        """The JSON at PATH below the API."""
        found, _, body = self.ask(API + path)
        assert found == status, (path, found, body[:500])
        return json.loads(body)

    def post(self, path, value, status=201, **headers):
        body = value if isinstance(value, (bytes, str)) else json.dumps(value)
        found, _, reply = self.ask(API + path, "POST", body,
                                   **{"Content-Type": "application/json", **headers})
        assert found == status, (path, found, reply[:500])
        return json.loads(reply)

    def raw(self, data, seconds=30):
        """All that comes back for DATA, until the server ends the link."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=seconds) as link:
            try:
                link.sendall(data)
            except OSError:
                pass  # it may have had enough
            found = b""
            try:
                while chunk := link.recv(65536):
                    found += chunk
            except OSError:
                pass
            return found


def start_web(start_hilld, tmp_path, *flags, **options):
    """A hilld with an HTTP API, and its client."""
    port_file = tmp_path / "http-port"
    port_file.unlink(missing_ok=True)
    server = start_hilld("--http", "127.0.0.1:0", "--http-port-file", port_file, *flags, **options)
    wait_until("the API's port", port_file.exists, server.process)
    return server, Web(int(port_file.read_text()))


# ---- a database -------------------------------------------------------------

SECRETS = {"open-seed": 4611686018427387904 + 1234567, "hidden-seed": 3333333333333333331,
           "embargo-seed": 2222222222222222227, "tournament-seed": 5555555555555555557}


def insert(connection, table, **fields):
    names = ", ".join(fields)
    marks = ", ".join("?" * len(fields))
    return connection.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})",
                              tuple(fields.values())).lastrowid


def add_match(connection, ladder, instance, versions, number, scores=(7.0, 3.0), **fields):
    now = 1_700_000_000_000_000 + number % 100_000 * 1_000_000
    values = {"id": number, "ladder_id": ladder, "instance_id": instance, "status": "stored",
              "engine_version": 1, "bot_seed": 77000000 + number, "is_rated": 1, "turn_ms": 500,
              "init_ms": 0, "grace_ms": 0, "bank_ms": 0, "bank_step_ms": 0, "bank_spend_ms": 0,
              "lag_cap_ms": 0, "started_us": now, "ended_us": now + 500_000, "stall_us": 0,
              "inputs": 0, "digest": 0, **fields}
    insert(connection, "match", **values)
    for seat, version in enumerate(versions):
        insert(connection, "seat", match_id=number, number=seat + 1, bot_version_id=version,
               points=10 - seat, rank=seat + 1, score=scores[seat], reason="finished", requests=5,
               late=0, invalid=0, overlong=0, overfull=0, early=0, banked=0, max_us=1000,
               total_us=4000, lag_us=0)
    insert(connection, "transcript", match_id=number, samples=b"", transcript=zlib.compress(b"\1"),
           notes=zlib.compress(b"\1"))


def add_instance(connection, game_map, seed, seats=1):
    return insert(connection, "instance", map_id=game_map, params="turns=5", seats=seats, seed=seed)


def open_database(path):
    connection = sqlite3.connect(path, timeout=60)
    connection.execute("PRAGMA foreign_keys = ON")
    return connection


# A turn of so many crushers takes its time.
CROWDED_MAP = b"\n".join([b"#" * 82, b"#s" + b" c" * 39 + b"e#",
                          *[b"#" + b" c" * 40 + b"#"] * 60, b"#" * 82, b""])


def add_crowded(server, turns):
    """Matches 1, 2, ... of as many turns as TURNS say, on the first map, which is CROWDED_MAP."""
    with open_database(server.database) as c:
        for number, count in enumerate(turns, 1):
            instance = insert(c, "instance", map_id=1, params=f"turns={count}", seats=1,
                              seed=number)
            add_match(c, 1, instance, [1], number)
            c.execute("UPDATE transcript SET transcript = ? WHERE match_id = ?",
                      (zlib.compress(b"\1" + b"\0\4move" * count), number))


def start_slow_pictures(start_hilld, tmp_path):
    """A hilld with an API; a match whose picture takes half a second or more, and how long."""
    server = start_hilld()
    add_rabbits(server, "rabbits", data=CROWDED_MAP)
    server.add_bot("ant")
    server.stop()
    add_crowded(server, [1000 * 2 ** number for number in range(1, 7)])
    server, web = start_web(start_hilld, tmp_path)
    for number in range(1, 7):
        begun = time.monotonic()
        web.get(f"/matches/{number}/grids")
        seconds = time.monotonic() - begun
        if seconds > 0.5:
            break
    return server, web, number, seconds


# ---- the document's own promises ---------------------------------------------

TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}


def is_of_type(value, kind):
    if kind == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if kind == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, TYPES[kind])


def check_shape(document, schema, value, where="reply"):
    """VALUE is what SCHEMA says; as much of JSON Schema as the document uses."""
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[1]
        return check_shape(document, document["components"]["schemas"][name], value, where)
    for part in schema.get("allOf", ()):
        check_shape(document, part, value, where)
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    assert not kinds or any(is_of_type(value, kind) for kind in kinds), (where, value, kinds)
    if "enum" in schema:
        assert value in schema["enum"], (where, value)
    if schema.get("format") == "date-time" and value is not None:
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", value), (where, value)
    if isinstance(value, dict):
        for name in schema.get("required", ()):
            assert name in value, (where, name, value)
        for name, part in schema.get("properties", {}).items():
            if name in value:
                check_shape(document, part, value[name], f"{where}.{name}")
    if isinstance(value, list) and "items" in schema:
        for at, item in enumerate(value):
            check_shape(document, schema["items"], item, f"{where}[{at}]")
