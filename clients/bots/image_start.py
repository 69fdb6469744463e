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
import sys

from image_front import BLACK, WHITE, read_png

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
