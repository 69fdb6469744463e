# SPDX-License-Identifier: MIT
"""BC87: what somebody else wrote is text in every reply, and never a page."""
import email.parser
import json
import re
import socket

import pytest

from test_web import addresses, site  # noqa: F401
from web import API, open_database, start_web

PAYLOADS = ["<img src=x onerror=alert(1)>", '"><svg/onload=1>', "'-alert(1)-'", "</script>",
            "{{7*7}}", "<b>", "a&b", "ann\u200b", "\u0430nn"]
KINDS = {"application/json", "application/problem+json", "application/x-ndjson", "text/csv",
         "text/plain", "text/event-stream", "application/octet-stream"}
REFUSED = {
    400: b"nonsense\r\n\r\n", 404: b"GET /<img> HTTP/1.1\r\nHost: x\r\n\r\n",
    405: b"PUT /api/v1/bots HTTP/1.1\r\nHost: x\r\n\r\n",
    411: b"POST /api/v1/bots HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n",
    413: b"POST /api/v1/bots HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\n",
    414: b"GET /" + b"a" * 3000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
    417: b"GET / HTTP/1.1\r\nHost: x\r\nExpect: <img>\r\n\r\n",
    431: b"GET / HTTP/1.1\r\nHost: x\r\n" + b"a: b\r\n" * 3000 + b"\r\n",
    505: b"GET / HTTP/9.9\r\nHost: x\r\n\r\n",
}


def check_headers(headers, where):
    """Each of them, once, and a type that no browser takes for a page."""
    for name, value in (("X-Content-Type-Options", "nosniff"),
                        ("Content-Security-Policy", "default-src 'none'")):
        assert headers.get_all(name) == [value], (where, name)
    assert headers["Content-Type"].split(";")[0] in KINDS, where


def headers_of(reply):
    """The status and headers of a reply's BYTES."""
    first, _, rest = reply.partition(b"\r\n")
    return int(first.split()[1]), email.parser.BytesParser().parsebytes(
        rest.partition(b"\r\n\r\n")[0] + b"\r\n\r\n")


def test_bc87_no_such_name_is_registered(start_hilld, tmp_path):
    server, web = start_web(start_hilld, tmp_path, "--set", "registration=open", "--set",
                            "registrations-per-hour=1000")
    token = server.add_bot("ann")
    for name in PAYLOADS:
        status, headers, body = web.ask(f"{API}/bots", "POST", json.dumps({"name": name}),
                                        Content_Type="application/json")
        assert status == 422 and json.loads(body)["code"] == "bad-name", (name, body)
        check_headers(headers, name)
        assert "text/html" not in str(headers)
        peer = server.peer()
        peer.expect("@hill 1 ")
        peer.say(f"@register {name}")
        assert re.match("@error (name-refused|bad-text|bad-arguments) ", peer.line()), name
        peer.close()
        with pytest.raises(AssertionError):
            server.admin("bot add", name=name, owner="somebody")
        if " " in name:
            continue
        peer = server.peer()
        peer.expect("@hill 1 ")
        peer.say(f"@login ann {token} version={name}")
        assert peer.line().startswith("@error "), name
        peer.close()
    assert [row["name"] for row in server.admin("bot list")["bots"]] == ["ann"]
    assert len(web.get("/bots/ann/versions")["versions"]) == 1


def test_bc87_what_bots_say_is_text_in_every_reply(site):  # noqa: F811
    server, web = site
    hostile = " ".join(PAYLOADS[:5])
    with open_database(server.database) as c:
        c.execute("UPDATE seat SET how = ?", (hostile,))
        c.execute("UPDATE match SET void_reason = ? WHERE status = 'void'", (hostile,))
        c.execute("UPDATE owner SET name = 'o' || id")
    server.admin("announce add", text=hostile)
    assert web.get("/announcements")["announcements"][0]["text"] == hostile
    void = web.get("/matches?status=void")["matches"][0]
    assert void["void_reason"] == void["seats"][0]["how"] == hostile
    seen = set()
    for _, _, address in addresses(web, web.get("/openapi.json")):
        for method in ("GET", "HEAD"):
            status, headers, body = web.ask(address, method)
            check_headers(headers, address)
            seen.add(headers["Content-Type"].split(";")[0])
            if "json" in headers["Content-Type"] and body:
                for line in body.splitlines() if "ndjson" in headers["Content-Type"] else [body]:
                    json.loads(line)
    assert seen == KINDS - {"text/event-stream"}
    status, headers, _ = web.ask(f"{API}/ladders", If_None_Match="*")
    assert status == 304
    check_headers(headers, "304")
    for path in ("/events/matches", "/events/standings"):
        with socket.create_connection(("127.0.0.1", web.port), timeout=30) as link:
            link.sendall(f"GET {API}{path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            status, headers = headers_of(link.recv(65536))
            assert status == 200
            check_headers(headers, path)


@pytest.mark.parametrize("status", REFUSED)
def test_bc87_every_refusal_is_no_page_either(start_hilld, tmp_path, status):
    _, web = start_web(start_hilld, tmp_path)
    data = REFUSED[status]
    if b"Connection" not in data:
        data = data.replace(b"Host: x\r\n", b"Host: x\r\nConnection: close\r\n", 1)
    found, headers = headers_of(web.raw(data))
    assert found == status
    check_headers(headers, status)
    assert headers["Content-Type"] == "application/problem+json"
