#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A start for image-battle: `image_start.py ARENA (R,G,B) N`.

ARENA is a PNG file. Whoever colours something, all are told; when it is our
turn we are asked, and answer one line of up to N pixels, in order:

    colour (255,0,0) chose 10,11 10,12
    pick pixels
    > 3,4 3,5
    exit

A pixel counts when it is white and touches one of ours. Change choose().
"""
import re
import struct
import sys
import zlib

WHITE = (255, 255, 255)
BLACK = (0, 0, 0)
WAYS = ((1, 0), (-1, 0), (0, 1), (0, -1))


def read_arena(path):
    """{(x, y): (r, g, b)} of every pixel that is not black."""
    width, _, data = read_png(path)
    pixels = {}
    for at in range(0, len(data), 3):
        colour = tuple(data[at:at + 3])
        if colour != BLACK:
            pixels[at // 3 % width, at // 3 // width] = colour
    return pixels


def choose(border, most):
    """Up to MOST pixels of BORDER, the white ones that touch ours."""
    return sorted(border)[:most]


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


def main():
    pixels = read_arena(sys.argv[1])
    mine = tuple(map(int, re.findall(r"\d+", sys.argv[2])))
    most = int(sys.argv[3])
    border = set()

    def grow(x, y):
        """X,Y is ours: its white neighbours can be chosen."""
        for dx, dy in WAYS:
            if pixels.get((x + dx, y + dy)) == WHITE:
                border.add((x + dx, y + dy))

    for (x, y), colour in pixels.items():
        if colour == mine:
            grow(x, y)
    for line in sys.stdin:
        if line.startswith("colour"):
            who, where = line.split("chose")
            colour = tuple(map(int, re.findall(r"\d+", who)))
            for x, y in re.findall(r"(\d+),(\d+)", where):
                pixel = int(x), int(y)
                pixels[pixel] = colour
                border.discard(pixel)
                if colour == mine:
                    grow(*pixel)
        elif line.startswith("pick"):
            # flush: an answer that stays in the buffer is a late answer.
            print(" ".join("%d,%d" % pixel
                           for pixel in choose(border, most)), flush=True)
        elif line.startswith("exit"):
            break


if __name__ == "__main__":
    main()
