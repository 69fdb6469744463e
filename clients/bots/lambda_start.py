#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A start for lambda-mining: `lambda_start.py < MAP`.

All of the mine comes on standard input; all that is printed is the route:
L R U D moves, W waits, S shaves a beard, A stops. Each lambda (`\\`) is 25
points, 25 more when stopped by A, 50 more when the robot leaves by the lift;
each step costs 1. A rock that falls on the robot ends it.

Change choose(): it picks the next lambda to fetch.
"""
import sys
from collections import deque

WAYS = {"L": (-1, 0), "R": (1, 0), "U": (0, -1), "D": (0, 1)}
OPEN = " .\\!"


def read_mine(text):
    """{(x, y): mark}, y downwards; what follows an empty line is metadata."""
    rows = text.replace("\r", "").split("\n\n")[0].split("\n")
    return {(x, y): mark for y, row in enumerate(rows)
            for x, mark in enumerate(row)}


def is_safe(mine, cell):
    """Whether nothing can fall on who stands there."""
    x, y = cell
    return mine.get((x, y - 1), "#") not in "*@"


def ways_from(mine, start):
    """{(x, y): route} to every cell that can be walked to."""
    routes = {start: ""}
    queue = deque([start])
    while queue:
        here = queue.popleft()
        for letter, (dx, dy) in WAYS.items():
            cell = here[0] + dx, here[1] + dy
            if cell not in routes and mine.get(cell, "#") in OPEN and \
                    is_safe(mine, cell):
                routes[cell] = routes[here] + letter
                queue.append(cell)
    return routes


def choose(mine, routes):
    """The cell to go to next, or None to stop."""
    lambdas = [cell for cell in routes if mine[cell] == "\\"]
    return min(lambdas, key=lambda cell: len(routes[cell]), default=None)


def main():
    mine = read_mine(sys.stdin.read())
    robot = next(cell for cell, mark in mine.items() if mark == "R")
    while True:
        routes = ways_from(mine, robot)
        goal = choose(mine, routes)
        if goal is None:
            break
        # As if nothing fell meanwhile: here is the first thing to improve.
        for letter in routes[goal]:
            mine[robot] = " "
            robot = robot[0] + WAYS[letter][0], robot[1] + WAYS[letter][1]
            print(letter, end="")
        mine[robot] = " "
    print("A")


if __name__ == "__main__":
    main()
