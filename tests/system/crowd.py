# SPDX-License-Identifier: MIT
"""Many bots in one thread, each on a connection of its own.

They speak the wire protocol themselves, come back when their link is lost, and
remember all that they were told, and when.
"""
import random
import re
import selectors
import socket
import struct
import threading
import time

SO_TIMESTAMPNS = 35  # asm-generic; the kernel's time of arrival, with the data
NS = 1_000_000_000
RETRY_S = 0.05
ROUTE = "LRUDWA"
KEYS = re.compile(r"([a-z][a-z0-9-]*)=(\S*)")


class Player:
    """One connection of one bot, that thinks for some time in THINK_S (from, to)."""

    def __init__(self, crowd, bot, token, ladder, think_s):
        self.crowd, self.bot, self.token, self.ladder = crowd, bot, token, ladder
        self.think_s = think_s
        self.random = random.Random(f"{bot} {ladder}")
        self.matches = []    # (match, seat, life of the server)
        self.cancelled = []  # closed without a result
        self.voided = []
        self.places = {}     # match: {seat: (bot, score, rank)}
        self.results = []    # (match, score, late), in the order told
        self.reasons = {}    # match: why it ended
        self.errors = []
        self.replies = {}    # match: [milliseconds from arrival to reply]
        self.late = {}       # match: [milliseconds gone at each @fault late]
        self.link = None
        self.retry_at = 0.0
        self.reset()

    def reset(self):
        self.rest, self.raw_left, self.match, self.game = b"", 0, None, None
        self.asked = []  # (pause, line, asked at), what is thought about first
        self.due = None  # when the first of them is answered
        self.is_input = False
        self.own = set()

    def connect(self, port):
        self.reset()
        link = socket.socket()
        link.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            link.connect(("127.0.0.1", port))
        except OSError:
            link.close()
            self.retry_at = time.monotonic() + RETRY_S
            return
        link.setblocking(False)
        self.link = link
        self.crowd.selector.register(link, selectors.EVENT_READ, self)

    def lose(self):
        if self.link is not None:
            self.crowd.selector.unregister(self.link)
            self.link.close()
            self.link = None
        self.forget()
        self.retry_at = time.monotonic() + RETRY_S

    def forget(self):
        self.asked, self.due = [], None

    def say(self, line):
        try:
            self.link.sendall((line + "\n").encode())
        except OSError:
            self.lose()

    def read(self):
        try:
            data, extra, _, _ = self.link.recvmsg(65536, 128)
        except BlockingIOError:
            return
        except OSError:
            data, extra = b"", ()
        if not data:
            self.lose()
            return
        came_ns = time.time_ns()
        for level, kind, value in extra:
            if (level, kind) == (socket.SOL_SOCKET, SO_TIMESTAMPNS):
                seconds, part = struct.unpack("qq", value[:16])
                came_ns = seconds * NS + part
        *lines, self.rest = (self.rest + data).split(b"\n")
        for line in lines:
            if self.link is None:
                return
            self.take(line.decode(), came_ns)

    def take(self, line, came_ns):
        if self.raw_left:
            self.raw_left -= 1
            if self.raw_left == 0 and self.is_input:
                self.is_input = False
                self.answer("".join(self.random.choices(ROUTE, k=12)), came_ns)
        elif line.startswith("@"):
            word, *parts = line[1:].split(" : ")[0].split(" ")
            take = getattr(self, f"on_{word}", None)
            keys = dict(KEYS.findall(line))
            if take is not None:
                take(parts, keys)
            elif "lines" in keys:
                self.raw_left = int(keys["lines"])
                self.is_input = word == "input"
        elif self.match is not None:
            self.play(line, came_ns)

    def on_hill(self, _parts, _keys):
        self.say(f"@login {self.bot} {self.token}")

    def on_welcome(self, _parts, _keys):
        self.say(f"@play {self.ladder}")

    def on_error(self, parts, _keys):
        self.errors.append(parts[0])

    def on_match(self, parts, keys):
        self.matches.append((int(parts[0]), int(keys["seat"]), self.crowd.life))
        self.match, self.game = int(parts[0]), keys["game"]
        self.own = set()
        self.say(f"@ready {self.match}")

    def on_args(self, parts, _keys):
        self.colour = parts[1] if self.game == "image-battle" else ""

    def on_fault(self, parts, _keys):
        if parts[0] == "late":
            gone = ((time.time_ns() - self.asked[0][2]) / 1e6 if self.asked
                    else self.replies.get(self.match, [0])[-1])
            self.late.setdefault(self.match, []).append(gone)

    def on_end(self, parts, keys):
        self.reasons[int(parts[0])] = keys["reason"]
        self.match = None
        self.forget()

    def on_cancel(self, parts, keys):
        self.cancelled.append(int(parts[0]))
        self.match = None
        if keys.get("queued") == "0":
            self.say(f"@play {self.ladder}")

    def on_void(self, parts, _keys):
        self.voided.append(int(parts[0]))

    def on_place(self, parts, keys):
        self.places.setdefault(int(parts[0]), {})[int(keys["seat"])] = (
            keys["bot"], float(keys["score"]), int(keys["rank"]))

    def on_result(self, parts, keys):
        self.results.append((int(parts[0]), float(keys["score"]), int(keys["late"])))
        self.crowd.nresults += 1

    def play(self, line, came_ns):
        if line.startswith("rabbits"):
            cells = re.findall(r"(\d+),(\d+)", line)
            moves = [f"{x},{y} to {int(x) + self.random.choice((-1, 0, 1))},{y}"
                     for x, y in self.random.sample(cells, min(3, len(cells)))]
            self.answer(" ".join(["move", "; ".join(moves)]).strip(), came_ns)
        elif line == "pick pixels":
            near = [(x + dx, y + dy) for x, y in self.own
                    for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1))]
            near = sorted({cell for cell in near if cell not in self.own and min(cell) >= 0})
            if not self.own:
                near = [(x, y) for x in range(20) for y in range(20)]
            picked = self.random.sample(near, min(10, len(near)))
            self.answer(" ".join(f"{x},{y}" for x, y in picked), came_ns)
        elif line.startswith(f"colour {self.colour} chose"):
            self.own.update((int(x), int(y))
                            for x, y in re.findall(r"(\d+),(\d+)", line.split("chose")[1]))

    def answer(self, line, came_ns):
        if self.think_s[1] > 0:
            # One after the other, as a program does: a late answer is owed.
            self.asked.append((self.random.uniform(*self.think_s), line, came_ns))
            self.think()
        else:
            self.reply(line, came_ns)

    def think(self):
        if self.due is None and self.asked:
            self.due = time.monotonic() + self.asked[0][0]
            self.crowd.thinking.add(self)

    def finish(self):
        _, line, came_ns = self.asked.pop(0)
        self.due = None
        self.reply(line, came_ns)
        self.think()

    def reply(self, line, came_ns):
        match = self.match
        self.say(line)
        self.replies.setdefault(match, []).append((time.time_ns() - came_ns) / 1e6)


class Crowd:
    """Players in a thread; `life` counts the server's starts."""

    def __init__(self, port):
        self.port, self.life, self.nresults = port, 0, 0
        self.selector = selectors.DefaultSelector()
        self.players, self.thinking = [], set()
        self.has_ended = False
        self.failure = None
        self.thread = threading.Thread(target=self.run, daemon=True)

    def add(self, bot, token, ladder, think_s=(0, 0)):
        self.players.append(Player(self, bot, token, ladder, think_s))

    def start(self):
        self.thread.start()

    def run(self):
        try:
            while not self.has_ended:
                self.step()
        except Exception as failure:  # told by stop()
            self.failure = failure
        for player in self.players:
            player.lose()

    def step(self):
        now = time.monotonic()
        for player in self.players:
            if player.link is None and now >= player.retry_at:
                player.connect(self.port)
        for player in list(self.thinking):
            if player.due is None:
                self.thinking.discard(player)
            elif now >= player.due:
                self.thinking.discard(player)
                player.finish()
        for key, _ in self.selector.select(0.002 if self.thinking else 0.02):
            if key.data.link is key.fileobj:
                key.data.read()

    def stop(self):
        self.has_ended = True
        self.thread.join(60)
        assert self.failure is None, repr(self.failure)

    def results(self):
        """{(match, bot): score} of all players; none may be told twice."""
        ret = {}
        for player in self.players:
            for match, score, _ in list(player.results):
                assert (match, player.bot) not in ret, f"match {match} is told twice"
                ret[match, player.bot] = score
        return ret
