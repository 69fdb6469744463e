# SPDX-License-Identifier: MIT
"""hill-bridge.py on a real hilld: whole matches, one after the other."""
from arena import add_mine, add_rabbits
from bridges import COMMANDS
from conftest import TOP
from season import PYTHON, Bridge

BOTS = TOP / "clients/bots"


def play(hilld, folder, bot, ladder, program, matches):
    one = Bridge(hilld, folder, bot, hilld.add_bot(bot), [ladder], [PYTHON, BOTS / program],
                 ["--matches", matches])
    one.stop()
    one.command[:1] = COMMANDS["python"]
    one.start()
    try:
        assert one.wait(60) == 0, one.err()
    finally:
        one.stop()
    return one.results()


def test_starter_kits_play_through_the_python_bridge(hilld, tmp_path):
    add_rabbits(hilld)
    add_mine(hilld)
    rabbits = play(hilld, tmp_path / "a", "crazy", "rabbits", "rabbit_start.py", 2)
    mine = play(hilld, tmp_path / "b", "digger", "mine", "lambda_start.py", 2)
    assert [one[4] for one in rabbits + mine] == ["finished"] * 4
    assert [one[3] for one in mine] == [mine[0][3]] * 2
