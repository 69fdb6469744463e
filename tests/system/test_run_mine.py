# SPDX-License-Identifier: MIT
"""lambda-mining by hill-run."""
import json
import re
import signal

import pytest

from referee import BOTS, BOT_SOURCES, PYTHON, play, script


def test_mines_print_score_status_and_total(room):
    script(room, "import sys\nmap = sys.stdin.read()\n"
           "assert map == open('m.map').read()\nprint('RR\\nR!')\n")
    out, err = play("lambda-mining", "m.map", "m.map", "--", PYTHON, "bot.py")
    rows = [line.split() for line in out.splitlines()]
    assert rows[1] == rows[2] == ["m.map", "147", "win", "2", "3"], err
    assert out.splitlines()[-1] == "Total Score: 294"


def test_mine_counts_commands_whatever_the_exit_status(room):
    out, err = play("lambda-mining", "m.map", "--", "sh", "-c",
                    "cat > /dev/null; echo RRR; exit 4")
    assert "147 win" in out and "ended with exit status 4" in err
    out, _ = play("lambda-mining", "m.map", "--", "sh", "-c",
                  "cat > /dev/null; exit 4", code=1)
    assert "0 gone" in out


@pytest.mark.parametrize("printed,says", [
    ("hello", 'no command in 6 bytes (first: "hello")'),
    ("RR ok?", 'dropped 3 bytes that are no command (first: "ok?")'),
])
def test_mine_tells_what_is_no_command(room, printed, says):
    _, err = play("lambda-mining", "m.map", "--", "sh", "-c",
                  f"cat > /dev/null; echo '{printed}'")
    assert err == f"hill-run: m.map: {says}\n"


def test_mine_interrupts_and_takes_the_answer(room):
    script(room, "import signal, time\n"
           "signal.signal(signal.SIGINT, lambda *_: (print('RR'), exit()))\n"
           "time.sleep(100)\n")
    out, err = play("lambda-mining", "--limit", 1500, "m.map", "--", PYTHON,
                    "bot.py")
    assert "m.map: its time is up, interrupting it" in err
    assert re.search(r"m.map +98 ongoing +2 +2", out), out


def test_reference_bots_mine(room):
    for bot in ([BOTS / "lambda-greedy"],
                [PYTHON, BOT_SOURCES / "lambda_careful.py"]):
        out, _ = play("lambda-mining", "--json", "m.map", "--", *bot)
        assert json.loads(out)["total"] >= 90
