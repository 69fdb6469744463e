# SPDX-License-Identifier: MIT
"""hill-bridge --check: what the link does to each ladder's matches."""
import importlib.util
import re
import subprocess
import threading
import time

import pytest

from arena import add_mine, add_rabbits
from bridges import COMMANDS, SCRIPT


def check(kind, port, *options):
    return subprocess.run(
        [*COMMANDS[kind], "--check", f"127.0.0.1:{port}", *options],
        capture_output=True, text=True, check=False, timeout=60)


def test_every_ladder_of_a_server_is_told(kind, hilld):
    add_rabbits(hilld)
    add_mine(hilld)
    done = check(kind, hilld.port, "--seconds", "1")
    assert done.returncode == 0 and done.stderr == ""
    lines = done.stdout.splitlines()
    found = re.fullmatch(r"(\d+) round trips: least ([\d.]+) ms, median ([\d.]+), "
                         r"99 of 100 within ([\d.]+), longest ([\d.]+)", lines[0])
    assert 3 < int(found[1]) <= 21
    assert float(found[2]) <= float(found[3]) <= float(found[4]) <= float(found[5])
    assert lines[1] == "for a bot that thinks 0 ms for each reply:"
    names = {line.split(":")[0]: line for line in lines[2:]}
    assert set(names) == {"rabbits", "mine"}
    assert " of 3 replies late a match; the bank of 2000 ms " in names["rabbits"]
    for line in names.values():
        assert re.fullmatch(
            r"\S+: \d+\.\d\d of \d+ replies late a match; (no bank, but SIGINT at \d+ ms and "
            r"\d+ ms of grace|the bank of \d+ ms pays for "
            r"\d+\.\d\d, \d+\.\d ms in all, and is never below \d+ ms); \d+ waiting, \d+ playing",
            line), line
    terms = hilld.peer()
    terms.say("@ladders")
    line = terms.expect("@ladder mine ")
    turn_ms, grace_ms = (re.search(rf" {key}=(\d+)", line)[1] for key in ("turn-ms", "grace-ms"))
    assert int(grace_ms) > 0
    assert f": 0.00 of 1 replies late a match; no bank, but SIGINT at {turn_ms} ms and " \
        f"{grace_ms} ms of grace; 0 waiting" in names["mine"]


def test_a_measurement_outlasts_the_time_for_a_login(kind, hilld):
    """Its links are given up in time: the server cuts none."""
    done = check(kind, hilld.port, "--seconds", "9")
    assert done.returncode == 0 and done.stderr == ""
    assert 60 < int(done.stdout.split()[0]) <= 180


def serve(hill, delay_s):
    """Answers like a server whose link takes DELAY_S there and back."""
    hill.accept()
    hill.say("@hill 1 here")
    try:
        while True:
            line = hill.line(timeout=10)
            if line == "@ladders":
                hill.say("@ladders 3",
                         "@ladder near game=toy seats=1 turns=100 turn-ms=500 init-ms=2000 "
                         "bank-ms=2000 bank-step-ms=2 lag-cap-ms=250 rated=1 waiting=2 playing=1",
                         "@ladder \x1b[2J game=toy",
                         "@ladder bare game=toy seats=1 turns=10 turn-ms=500 init-ms=0 bank-ms=0 "
                         "bank-step-ms=2 lag-cap-ms=0 rated=1 waiting=0 playing=0")
            elif line == "@ping":
                time.sleep(delay_s)
                hill.say("@pong")
            elif line == "@quit":
                return
    except (EOFError, OSError):
        pass


def test_distance_is_forgiven_only_where_the_ladder_says_so(kind, hill):
    thread = threading.Thread(target=serve, args=(hill, 0.1), daemon=True)
    thread.start()
    done = check(kind, hill.port, "--seconds", "2", "--think-ms", "450")
    thread.join(10)
    assert done.returncode == 0
    near = re.search(r"^near: (\S+) of 100 replies late a match; .*; 2 waiting, 1 playing$",
                     done.stdout, re.M)
    # 100 ms of link and 450 of thought.
    assert float(near[1]) == 0
    assert "bare: 10.00 of 10 replies late a match; no bank; 0 waiting" in done.stdout
    assert "\x1b" not in done.stdout


def test_a_server_that_is_not_there_cannot_be_checked(kind, hill):
    hill.listener.close()
    done = check(kind, hill.port)
    assert done.returncode == 1 and done.stdout == ""
    assert f"cannot check 127.0.0.1:{hill.port}: Connection refused" in done.stderr


FAIR = {"turn-ms": 500, "init-ms": 2000, "bank-ms": 2000, "bank-step-ms": 2, "lag-cap-ms": 250,
        "grace-ms": 0}
BARE = {**FAIR, "init-ms": 0, "bank-ms": 0, "lag-cap-ms": 0}
GRACE = {**FAIR, "init-ms": 0, "grace-ms": 10000}


def load_script():
    spec = importlib.util.spec_from_file_location("hill_bridge", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# As slice_i64() reads them, in tests/unit/proto/test_control.c.
@pytest.mark.parametrize("text, value", [
    ("0", 0), ("17", 17), ("-3", -3), ("017", None), ("00", None), ("-0", None), ("+1", None),
    ("\uff11", None), ("", None)])
def test_a_number_has_one_spelling(text, value):
    assert load_script().Word(f"@word n={text}").number("n", -9, 99) == value


# The rows of tests/unit/clients/test_outlook.c.
@pytest.mark.parametrize("terms, requests, rtt_us, think_us, found", [
    (FAIR, 100, [80000], 500000, (0, 0, 0, 2000000)),
    (FAIR, 100, [50000] + [20000] * 9, 490000, (0, 1980, 1980 * 20000, 1984000)),
    (FAIR, 4, [10000] * 3 + [1000000], 11000, (150, 0, 150 * 500000, None)),
    ({**FAIR, "bank-step-ms": 0}, 100, [1, 400001], 400000, (8700, 1200, 400000000, 0)),
    (BARE, 10, [20000], 480000, (0, 0, 0, 0)),
    (BARE, 10, [20000], 480001, (2000, 0, 0, 0)),
    (FAIR, 2, [300000], 500000, (0, 200, 200 * 50000, None)),
    (GRACE, 1, [1000000], 11750000, (0, 0, 0, None)),
    (GRACE, 1, [1000000], 11750001, (200, 0, 0, None)),
])
def test_both_bridges_reckon_alike(terms, requests, rtt_us, think_us, found):
    outlook = load_script().outlook(terms, requests, rtt_us, think_us)
    for got, wanted in zip(outlook, found):
        assert wanted is None or got == wanted
