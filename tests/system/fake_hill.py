# SPDX-License-Identifier: MIT
"""A server of a few lines, to see what hill-bridge does at each word."""
import re
import socket
import time


class FakeHill:
    """Listens on a port of the kernel's choice; one link at a time."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.listener.settimeout(20)
        self.port = self.listener.getsockname()[1]
        self.link = None
        self.rest = b""

    def accept(self):
        self.link, _ = self.listener.accept()
        self.link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.rest = b""

    def say(self, *lines):
        self.link.sendall("".join(line + "\n" for line in lines).encode())

    def line(self, timeout=20.0):
        """The next line, without its LF; EOFError at the link's end."""
        end = time.monotonic() + timeout
        while b"\n" not in self.rest:
            self.link.settimeout(max(0.001, end - time.monotonic()))
            more = self.link.recv(65536)
            if not more:
                raise EOFError
            self.rest += more
        line, self.rest = self.rest.split(b"\n", 1)
        return line.decode("utf-8", "surrogateescape")

    def expect(self, pattern, timeout=20.0):
        """The next line must match; the match object."""
        line = self.line(timeout)
        found = re.fullmatch(pattern, line)
        assert found, f"{line!r} is not {pattern!r}"
        return found

    def greet(self, ladder="ladder"):
        """Accept a bridge and let it queue."""
        self.accept()
        self.say("@hill 1 here")
        login = self.expect(r"@login (\S+) (\S+) proto=1 client=hill-bridge/\S+"
                            r" ping=1")
        self.say(f"@welcome {login[1]}")
        self.expect(f"@play {ladder}")
        self.say(f"@queued {ladder} waiting=1")
        return login

    def offer(self, match, **keys):
        """Offer a match and see it accepted."""
        keys = {"ladder": "ladder", "game": "toy", "seat": 1, "seats": 1,
                "line-max": 1000, **keys}
        self.say(f"@match {match} " +
                 " ".join(f"{key}={value}" for key, value in keys.items()))
        self.expect(f"@ready {match}")

    def start(self, match, *first_lines, files=(), args=None, **keys):
        """A match from the offer to its first lines."""
        self.offer(match, **keys)
        for name, text in files:
            self.say(f"@file {name} lines={text.count(chr(10))} text "
                     f"bytes={len(text)}")
            self.link.sendall(text.encode())
        if args is not None:
            self.say(f"@args {args}")
        self.say(f"@start {match}", *first_lines)

    def end(self, match, stop="term", reason="finished", score=0, early=0):
        self.say(f"@end {match} stop={stop} reason={reason}",
                 f"@place {match} seat=1 bot=crazy score={score} rank=1",
                 f"@result {match} score={score} late=0 early={early} "
                 "banked=0 max-ms=1")

    def close(self):
        for sock in (self.link, self.listener):
            if sock is not None:
                sock.close()
