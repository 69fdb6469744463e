# SPDX-License-Identifier: MIT
"""Many matches of all games at once, for a while; nothing may wear out."""
import os
import pathlib
import re
import time

import pytest

from conftest import wait_until
from crowd import Crowd
from season import BOTS, IS_LONG, Bridge, check_whole, png, seats, verify_all

# Connections of the crowd, slots of the bridges: matches at once are fewer,
# as a battle takes two.
CROWD = {"rabbits": 130, "battles": 90, "mines": 10} if IS_LONG else \
    {"rabbits": 14, "battles": 14, "mines": 4}
SLOTS = 24 if IS_LONG else 4
SECONDS = 30 if IS_LONG else 4
# No match starts while the loop lags by a tenth of it, so this is not short.
TURN_MS = 2000
# What most think, and the few who go to the limit and beyond.
THINK_S, EDGE_S = (0, 0.16), (TURN_MS / 1000 - 0.03, TURN_MS / 1000 + 0.005)
FIELD = b"##########\n#s   #  e#\n#    #   #\n#  c     #\n##########\n"
MINE = b"######\n#. *R#\n#  \\.#\n#\\ * #\nL  .\\#\n######\n"
# Freed memory goes back at once, so that growth is growth.
ASAN = os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=1"


def rss_kb(process):
    text = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+) kB", text)[1])


def descriptors(process):
    return len(os.listdir(f"/proc/{process.pid}/fd"))


def add_ladders(server):
    server.add_map("field.map", "rabbit-runner", FIELD)
    server.add_map("mine.map", "lambda-mining", MINE)
    server.add_map("arena.png", "image-battle",
                   png(40, 40, {(2, 2): b"\xff\0\0", (37, 37): b"\0\xff\0"}))
    limits = {"turn_ms": TURN_MS, "bank_ms": 0, "bank_step_ms": 0, "lag_cap_ms": 0,
              "init_ms": 10000}
    server.admin("ladder add", name="rabbits", game="rabbit-runner", maps=["field.map"],
                 params="turns=40", **limits)
    server.admin("ladder add", name="battles", game="image-battle", maps=["arena.png"], seats=2,
                 params="batch=10 maxturns=60", **limits)
    server.admin("ladder add", name="mines", game="lambda-mining", maps=["mine.map"],
                 **{**limits, "turn_ms": 20000})


def own_times(crowd, bridges):
    """{(match, bot): milliseconds} of every late fault, by the bot's own clock."""
    return {(match, who.bot): times
            for who, late in [*((player, player.late) for player in crowd.players),
                              *((bridge, bridge.late()) for bridge in bridges)]
            for match, times in late.items()}


def test_many_matches_at_once(start_hilld, tmp_path, monkeypatch):
    monkeypatch.setenv("ASAN_OPTIONS", ASAN)
    server = start_hilld("--set", "connections-per-address=10000", "--set",
                         "logins-pending-per-address=10000")
    add_ladders(server)
    base = descriptors(server.process)
    crowd = Crowd(server.port)
    for ladder, count in CROWD.items():
        for number in range(count):
            bot = f"{ladder}-{number}"
            crowd.add(bot, server.add_bot(bot), ladder, EDGE_S if number % 10 == 0 else THINK_S)
    bridges = []
    try:
        for bot, ladder, program in (("c-rabbit", "rabbits", "rabbit-greedy"),
                                     ("c-blob", "battles", "image-blob"),
                                     ("c-mine", "mines", "lambda-greedy")):
            token = server.admin("bot add", name=bot, owner=bot, max_connections=SLOTS)["token"]
            bridges.append(Bridge(server, tmp_path / bot, bot, token, [ladder], [BOTS / program],
                                  ("--slots", str(SLOTS), "--no-log")))
        crowd.start()
        end = time.monotonic() + SECONDS
        most, sizes = 0, []
        while time.monotonic() < end:
            most = max(most, server.admin("status")["server"]["matches"])
            sizes.append(rss_kb(server.process))
            time.sleep(0.25)  # a sample now and then, no waiting for anything
        for bridge in bridges:
            bridge.stop()
    finally:
        for bridge in bridges:
            bridge.stop()
        crowd.stop()
    wait_until("all have left", lambda: server.admin("status")["server"]["connections"] == 0,
               server.process)
    wait_until("all descriptors are back", lambda: descriptors(server.process) <= base,
               server.process)
    assert server.stop() == 0
    rows = {(row["match"], row["bot"]): row for row in seats(server.database)}
    check_whole(server.database)

    told = crowd.results()
    for bridge in bridges:
        for match, _, _, score, _ in bridge.results():
            assert (match, bridge.bot) not in told
            told[match, bridge.bot] = score
    for key, score in told.items():
        assert rows[key]["score"] == pytest.approx(score, abs=1e-3)
    late = own_times(crowd, bridges)
    wrong = [(key, times) for key, times in late.items()
             if any(ms < rows[key]["turn_ms"] - 10 for ms in times)]
    turns = sum(row["requests"] for row in rows.values())
    third = len(sizes) // 3
    growth = max(sizes[2 * third:]) - max(sizes[third:2 * third])
    print(f"at most {most} matches at once; {len({key[0] for key in rows})} stored,"
          f" {len(told)} results told, {turns} replies, {sum(map(len, late.values()))} late"
          f" (the fastest of those took {min(sum(late.values(), []), default=0):.1f} ms);"
          f" RSS {sizes[third]} to {sizes[-1]} KB; {base} descriptors before and after")
    assert not wrong, "late at the server, in time at the bot"
    assert growth < 4096, f"RSS grew by {growth} KB: {sizes}"
    if IS_LONG:
        assert most >= 200
    if not IS_LONG:
        verify_all(server.database)
