#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""lambda_careful.py < MAP: walks to the nearest lambda it can reach, tries
each step on a copy of the mine first, and stops where the score was best.

Knows rocks, water, the lift and higher order rocks; keeps away from beards
and trampolines.
"""
import sys
import time
from collections import deque

WAYS = {"L": (-1, 0), "R": (1, 0), "U": (0, 1), "D": (0, -1)}
ROCKS = "*@"
TIME_LIMIT_S = 60.0


class Mine:
    """Row 0 is the bottom row. Outside everything is wall."""

    def __init__(self, text):
        rows, _, rest = text.replace("\r", "").partition("\n\n")
        lines = rows.strip("\n").split("\n")
        width = max(map(len, lines))
        self.rows = [list(line.ljust(width)) for line in reversed(lines)]
        self.water, self.flooding, self.waterproof = 0, 0, 10
        for line in rest.split("\n"):
            words = line.split()
            if len(words) == 2 and words[1].isdigit():
                if words[0] == "Water":
                    self.water = int(words[1])
                elif words[0] == "Flooding":
                    self.flooding = int(words[1])
                elif words[0] == "Waterproof":
                    self.waterproof = int(words[1])
        self.total = sum(row.count("\\") + row.count("@")
                         for row in self.rows)
        self.lambdas = self.steps = self.under = 0
        self.is_won = self.is_dead = False
        self.robot = next((x, y) for y, row in enumerate(self.rows)
                          for x, mark in enumerate(row) if mark == "R")

    def copy(self):
        twin = object.__new__(Mine)
        twin.__dict__.update(self.__dict__)
        twin.rows = [row[:] for row in self.rows]
        return twin

    def at(self, x, y):
        if 0 <= y < len(self.rows) and 0 <= x < len(self.rows[0]):
            return self.rows[y][x]
        return "#"

    def move(self, command):
        """The robot's part of a step."""
        x, y = self.robot
        dx, dy = WAYS.get(command, (0, 0))
        mark = self.at(x + dx, y + dy)
        if mark in ROCKS:
            if dy or self.at(x + 2 * dx, y) != " ":
                return
            self.rows[y][x + 2 * dx] = mark
        elif mark == "O":
            self.is_won = True
        elif mark not in " .\\!":
            return
        self.lambdas += mark == "\\"
        self.rows[y][x] = " "
        self.rows[y + dy][x + dx] = "R"
        self.robot = x + dx, y + dy

    def fall(self):
        """The map's part: reads the old map, writes the new one."""
        new = [row[:] for row in self.rows]
        at = self.at
        for y, row in enumerate(self.rows):
            for x, mark in enumerate(row):
                if mark == "L" and self.lambdas == self.total:
                    new[y][x] = "O"
                if mark not in ROCKS:
                    continue
                below = at(x, y - 1)
                if below == " ":
                    to_x = x
                elif below in "*@\\" and at(x + 1, y) == " " and \
                        at(x + 1, y - 1) == " ":
                    to_x = x + 1
                elif below in ROCKS and at(x - 1, y) == " " and \
                        at(x - 1, y - 1) == " ":
                    to_x = x - 1
                else:
                    continue
                new[y][x] = " "
                breaks = mark == "@" and at(to_x, y - 2) != " "
                new[y - 1][to_x] = "\\" if breaks else mark
                if (to_x, y - 2) == self.robot:
                    self.is_dead = True
        self.rows = new

    def step(self, command):
        self.move(command)
        self.steps += 1
        if self.is_won:
            return
        self.fall()
        self.under = self.under + 1 if self.robot[1] < self.water else 0
        if self.under > self.waterproof:
            self.is_dead = True
        if self.flooding and self.steps % self.flooding == 0:
            self.water += 1

    def score(self):
        return (75 if self.is_won else 50) * self.lambdas - self.steps


def way_to(mine, goals, first_steps):
    """The first command of a shortest way to a cell of GOALS, or None."""
    queue = deque()
    seen = {mine.robot}
    for command in first_steps:
        dx, dy = WAYS[command]
        cell = mine.robot[0] + dx, mine.robot[1] + dy
        if cell not in seen and mine.at(*cell) in " .\\!O":
            seen.add(cell)
            queue.append((cell, command))
    while queue:
        (x, y), command = queue.popleft()
        if mine.at(x, y) in goals:
            return command
        for dx, dy in WAYS.values():
            cell = x + dx, y + dy
            if cell not in seen and mine.at(*cell) in " .\\!O":
                seen.add(cell)
                queue.append((cell, command))
    return None


def safe_steps(mine):
    """The commands after which the robot lives, and has somewhere to go."""
    for command in WAYS:
        trial = mine.copy()
        trial.step(command)
        if trial.is_won or (not trial.is_dead and trial.robot != mine.robot):
            yield command, trial


def main():
    mine = Mine(sys.stdin.read())
    route, best_score, best_length = "", 0, 0
    visits = {}
    end = time.monotonic() + TIME_LIMIT_S
    while not mine.is_won and time.monotonic() < end:
        steps = dict(safe_steps(mine))
        # A cell seen too often from the same count of lambdas is a circle.
        command = way_to(mine, "O", steps) or way_to(mine, "\\", steps)
        place = mine.robot, mine.lambdas
        visits[place] = visits.get(place, 0) + 1
        if command is None or visits[place] > 3:
            break
        mine = steps[command]
        route += command
        if mine.score() > best_score:
            best_score, best_length = mine.score(), len(route)
    print(route[:best_length] + ("" if mine.is_won else "A"))


if __name__ == "__main__":
    main()
