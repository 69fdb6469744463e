#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""rabbit_careful.py MAP SEED: leads each rabbit to an exit by ways that no
crusher can reach first, and never two rabbits into one cell."""
import re
import sys
from collections import deque

WAYS = ((1, 0), (-1, 0), (0, 1), (0, -1))
SIGHT = 6  # crushers farther off than this are no danger yet


def read_map(path):
    """The open cells and the exits, in the controller's coordinates."""
    with open(path, encoding="latin-1") as file:
        rows = [line.strip() for line in file]
    rows = [row for row in rows if row and row[0] != ";"]
    floor = {(x, y) for y, row in enumerate(rows)
             for x, mark in enumerate(row) if mark != "#"}
    exits = [(x, y) for y, row in enumerate(rows)
             for x, mark in enumerate(row) if mark == "e"]
    return floor, exits


def flood(floor, sources, most=None):
    """Steps from the nearest of SOURCES to every cell within MOST."""
    steps = {cell: 0 for cell in sources}
    queue = deque(sources)
    while queue:
        x, y = queue.popleft()
        here = steps[x, y]
        if here == most:
            continue
        for dx, dy in WAYS:
            cell = x + dx, y + dy
            if cell in floor and cell not in steps:
                steps[cell] = here + 1
                queue.append(cell)
    return steps


class Player:
    """Knows the map and where the crushers were last seen."""

    def __init__(self, path):
        self.floor, exits = read_map(path)
        self.exits = set(exits)
        self.to_exit = flood(self.floor, exits)
        self.crushers = set()

    def see(self, line):
        """Follow the crushers: those that moved are named with both cells."""
        for found in re.findall(
                r"(-?\d+),(-?\d+) (?:movesto|crushes) (-?\d+),(-?\d+)", line):
            x, y, to_x, to_y = map(int, found)
            self.crushers.discard((x, y))
            self.crushers.add((to_x, to_y))

    def worth(self, cell, danger):
        """Less is better."""
        near = danger.get(cell, SIGHT + 1)
        fear = (SIGHT + 1 - near) ** 2 * 2 if near <= SIGHT else 0
        if near <= 1:
            fear += 1000
        return self.to_exit.get(cell, 10 ** 6) + fear

    def moves(self, rabbits):
        """(from, to) for each rabbit that had better go."""
        danger = flood(self.floor, list(self.crushers), SIGHT)
        taken = set(rabbits)
        chosen = []
        # Those in front first, so that a queue of rabbits can follow.
        for x, y in sorted(rabbits,
                           key=lambda cell: self.to_exit.get(cell, 10 ** 6)):
            best = self.worth((x, y), danger)
            target = None
            for dx, dy in WAYS:
                cell = x + dx, y + dy
                if cell not in self.floor or cell in self.crushers or \
                        (cell in taken and cell not in self.exits):
                    continue
                worth = self.worth(cell, danger)
                if worth < best:
                    best, target = worth, cell
            if target is not None:
                taken.discard((x, y))
                taken.add(target)
                chosen.append(((x, y), target))
        return chosen


def main():
    if len(sys.argv) < 2:
        sys.exit("usage: rabbit_careful.py MAP SEED")
    player = Player(sys.argv[1])
    for line in sys.stdin:
        if line.startswith("crusher"):
            player.see(line)
        elif line.startswith("rabbits"):
            rabbits = [tuple(map(int, pair)) for pair in
                       re.findall(r"(\d+),(\d+)", line)]
            print("move " + "; ".join(
                f"{x},{y} to {to_x},{to_y}"
                for (x, y), (to_x, to_y) in player.moves(rabbits)),
                flush=True)


if __name__ == "__main__":
    main()
