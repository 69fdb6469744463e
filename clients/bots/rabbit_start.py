#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A start for rabbit-runner: `rabbit_start.py MAP SEED`.

Each turn the server says three lines and waits for one:

    turnsleft 500
    crusher 9,1 movesto 8,1; 4,7 crushes 4,8
    rabbits 1,1 63,1
    > move 1,1 to 1,2; 63,1 to 63,2

Change choose(): it decides where one rabbit goes.
"""
import random
import re
import sys
from collections import deque

WAYS = ((1, 0), (-1, 0), (0, 1), (0, -1))


def read_map(path):
    """{(x, y): mark} of every cell that is no wall."""
    with open(path, encoding="latin-1") as file:
        rows = [line.strip() for line in file]
    rows = [row for row in rows if row and row[0] != ";"]
    return {(x, y): mark for y, row in enumerate(rows)
            for x, mark in enumerate(row) if mark != "#"}


def steps_to_exit(cells):
    """{(x, y): steps to the nearest exit}, found breadth first."""
    steps = {cell: 0 for cell, mark in cells.items() if mark == "e"}
    queue = deque(steps)
    while queue:
        x, y = queue.popleft()
        for dx, dy in WAYS:
            cell = x + dx, y + dy
            if cell in cells and cell not in steps:
                steps[cell] = steps[x, y] + 1
                queue.append(cell)
    return steps


def choose(rabbit, crushers, taken, steps):
    """The cell next to RABBIT to go to, or None to stay.

    CRUSHERS and TAKEN are sets of cells; two rabbits in one cell both die.
    """
    x, y = rabbit
    best = None
    for dx, dy in WAYS:
        cell = x + dx, y + dy
        if cell not in steps or cell in crushers or \
                (cell in taken and steps[cell] > 0):
            continue
        if best is None or steps[cell] < steps[best]:
            best = cell
    return best


def main():
    # The seed lets your own chance repeat when a match is played again.
    random.seed(int(sys.argv[2]))
    steps = steps_to_exit(read_map(sys.argv[1]))
    crushers = set()
    for line in sys.stdin:
        if line.startswith("crusher"):
            # Only those that moved are named: from where to where.
            for numbers in re.findall(
                    r"(-?\d+),(-?\d+) \w+ (-?\d+),(-?\d+)", line):
                x, y, to_x, to_y = map(int, numbers)
                crushers.discard((x, y))
                crushers.add((to_x, to_y))
        elif line.startswith("rabbits"):
            rabbits = [tuple(map(int, pair)) for pair in
                       re.findall(r"(\d+),(\d+)", line)]
            taken, moves = set(rabbits), []
            for rabbit in rabbits:
                cell = choose(rabbit, crushers, taken, steps)
                if cell is not None:
                    taken.discard(rabbit)
                    taken.add(cell)
                    moves.append("%d,%d to %d,%d" % (rabbit + cell))
            # flush: an answer that stays in the buffer is a late answer.
            print("move " + "; ".join(moves), flush=True)


if __name__ == "__main__":
    main()
