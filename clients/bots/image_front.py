#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""image_front.py ARENA (R,G,B) N: marches on the nearest opponent, walls it
in, and fills what lies behind the front afterwards.

Reads the arena without any library: the server sends plain 8-bit RGB.
"""
import heapq
import re
import struct
import sys
import zlib
from collections import deque

WHITE = (255, 255, 255)
BLACK = (0, 0, 0)


def read_png(path):
    """(width, height, bytes) of an 8-bit RGB picture without interlacing."""
    with open(path, "rb") as file:
        data = file.read()
    at, packed = 8, b""
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + size]
        if kind == b"IHDR":
            width, height, depth, colour, _, _, interlaced = \
                struct.unpack(">IIBBBBB", body)
            if (depth, colour, interlaced) != (8, 2, 0):
                sys.exit(f"{path}: not plain 8-bit RGB")
        elif kind == b"IDAT":
            packed += body
        at += size + 12
    return width, height, unfilter(zlib.decompress(packed), width, height)


def unfilter(raw, width, height):
    """Undo PNG's line filters (PNG specification, section 9)."""
    stride = width * 3
    before = bytearray(stride)
    pixels = bytearray()
    for y in range(height):
        kind = raw[y * (stride + 1)]
        line = bytearray(raw[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
        for i in range(stride if kind else 0):
            left = line[i - 3] if i >= 3 else 0
            up = before[i]
            corner = before[i - 3] if i >= 3 else 0
            if kind == 1:
                guess = left
            elif kind == 2:
                guess = up
            elif kind == 3:
                guess = (left + up) // 2
            else:
                wish = left + up - corner
                guess = min((abs(wish - left), 0, left),
                            (abs(wish - up), 1, up),
                            (abs(wish - corner), 2, corner))[2]
            line[i] = (line[i] + guess) & 255
        pixels += line
        before = line
    return pixels


class Board:
    """Cells are y * width + x; a rim of one cell saves the bounds checks."""

    def __init__(self, path, colour):
        width, height, pixels = read_png(path)
        self.stride = width + 2
        self.is_free = bytearray(self.stride * (height + 2))
        mine, others = [], []
        for y in range(height):
            for x in range(width):
                at = 3 * (y * width + x)
                here = tuple(pixels[at:at + 3])
                cell = (y + 1) * self.stride + x + 1
                if here == WHITE:
                    self.is_free[cell] = 1
                elif here == colour:
                    mine.append(cell)
                elif here != BLACK:
                    others.append(cell)
        self.ways = (1, -1, self.stride, -self.stride)
        self.threat = self.flood(others)
        self.heap = []
        self.is_mine = bytearray(len(self.is_free))
        self.is_seen = bytearray(len(self.is_free))
        for cell in mine:
            self.take(cell)

    def flood(self, sources):
        """Steps from the nearest of SOURCES over free cells."""
        steps = {cell: 0 for cell in sources}
        queue = deque(sources)
        while queue:
            here = queue.popleft()
            for way in self.ways:
                cell = here + way
                if self.is_free[cell] and cell not in steps:
                    steps[cell] = steps[here] + 1
                    queue.append(cell)
        return steps

    def take(self, cell):
        """CELL is ours: its free neighbours can be chosen from now on."""
        self.is_free[cell] = 0
        self.is_mine[cell] = 1
        for way in self.ways:
            near = cell + way
            if self.is_free[near] and not self.is_seen[near]:
                self.is_seen[near] = 1
                heapq.heappush(self.heap,
                               (self.threat.get(near, 10 ** 6), near))

    def lose(self, cell):
        self.is_free[cell] = 0

    def pick(self, most):
        """Up to MOST cells, in an order that makes each valid in its turn."""
        chosen = []
        while self.heap and len(chosen) < most:
            cell = heapq.heappop(self.heap)[1]
            if not self.is_free[cell]:
                continue
            self.take(cell)
            chosen.append(cell)
        return chosen


def main():
    if len(sys.argv) != 4:
        sys.exit("usage: image_front.py ARENA (R,G,B) N")
    colour = tuple(map(int, re.findall(r"\d+", sys.argv[2])))
    board = Board(sys.argv[1], colour)
    most = int(sys.argv[3])
    for line in sys.stdin:
        if line.startswith("exit"):
            break
        if line.startswith("pick"):
            print(" ".join(f"{cell % board.stride - 1},"
                           f"{cell // board.stride - 1}"
                           for cell in board.pick(most)), flush=True)
        elif line.startswith("colour"):
            who, where = line[6:].split("chose")
            is_mine = tuple(map(int, re.findall(r"\d+", who))) == colour
            for x, y in re.findall(r"(\d+),(\d+)", where):
                cell = (int(y) + 1) * board.stride + int(x) + 1
                if not is_mine:
                    board.lose(cell)


if __name__ == "__main__":
    main()
