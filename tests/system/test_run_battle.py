# SPDX-License-Identifier: MIT
"""image-battle by hill-run."""
import json
import os
import shutil
import signal
import subprocess
import time

import pytest

from referee import (BOTS, BOT_SOURCES, PYTHON, RUN, play, png, script,
                     wait_until)


PAINTER = """import os, sys
arena, colour, batch = sys.argv[-3:]
assert colour in ('(0,255,0)', '(255,0,0)') and batch == '10'
if os.path.basename(os.getcwd()).startswith('hill-run-'):
    assert sorted(os.listdir('.')) == sorted({arena, *FILES}), os.listdir('.')
x, y = (0, 0) if colour == '(0,255,0)' else (19, 19)
row = iter(range(1, 19))
for line in sys.stdin:
    if line == 'exit\\n':
        open('last.png', 'w').close()
        break
    if line.startswith('pick'):
        k = next(row, None)
        print('' if k is None else '%d,%d' % (x, abs(y - k)), flush=True)
"""


@pytest.fixture
def arena(room):
    path = room / "the arena.png"
    path.write_bytes(png(20, 20, {(0, 0): (0, 255, 0), (19, 19): (255, 0, 0)}))
    script(room, PAINTER.replace("*FILES", ""), "paint.py")
    return path


BATTLE_LINES = ["Bot paint.py with colour (0, 255, 0) scored 9.5",
                "Bot paint.py with colour (255, 0, 0) scored 9.5"]


def test_battle_prints_the_judges_lines_and_writes_the_picture(room, arena):
    before = set(room.iterdir())
    words = [arena, 10, 1, f"0,255,0={PYTHON} paint.py",
             f"255,0,0='{PYTHON}' \"paint.py\""]
    out, err = play("image-battle", "--limit", 20000, *words)
    assert sorted(out.splitlines()) == BATTLE_LINES, err
    assert set(room.iterdir()) - before == {room / "battle.png"}
    assert (room / "battle.png").read_bytes().startswith(b"\x89PNG")
    again, _ = play("image-battle", "--limit", 20000, "--picture", "p.png",
                    *words)
    assert again == out
    assert (room / "p.png").read_bytes() == (room / "battle.png").read_bytes()


def test_battle_here_runs_in_the_current_folder(room, arena):
    play("image-battle", "--limit", 20000, "--here", "--picture", "none", arena,
         10, 1, f"0,255,0={PYTHON} paint.py", f"255,0,0={PYTHON} paint.py")
    assert (room / "last.png").exists() and not (room / "battle.png").exists()


def test_battle_reads_the_judges_cfg(room, arena):
    folder = room / "battles"
    folder.mkdir()
    shutil.copy(arena, folder)
    script(folder, PAINTER.replace("*FILES", "'one.py', 'err.log'")
           .replace("sorted(os.listdir('.'))",
                    "sorted({*os.listdir('.'), 'err.log'})"), "one.py")
    two = script(folder, f"#!{PYTHON}\n" +
                 PAINTER.replace("*FILES", "'two', 'x', 'err.log'").replace(
                     "sorted(os.listdir('.'))",
                     "sorted({*os.listdir('.'), 'err.log'})"), "two")
    two.chmod(0o755)
    (folder / "x").touch()
    script(folder, f"""# A battle
BATTLE = 'One vs Two'   # names the picture
MAXTURNS = 20000
PIXELBATCH = 10
INITTIME = 20.0
TIMELIMIT = 10.0
FAULTLIMIT = 5
imagename = 'the arena.png'
colourspec = (0,255,0), (255,0,0)
botspec = [
    ('one.py', '{PYTHON}'),
    (['two', 'x'], ['./two']),
    ]
""", "cfg.py")
    out, err = play("image-battle", "--cfg", "battles/cfg.py", "--seed", 1)
    assert err == "hill-run: ended at turn 19: nobody had anything valid\n"
    assert sorted(out.splitlines()) == \
        [BATTLE_LINES[0].replace("paint.py", "one.py"),
         BATTLE_LINES[1].replace("paint.py", "two")]
    assert (room / "One vs Two.png").exists()


SNAKE = """import sys
cells = ((x if y % 2 == 0 else 19 - x, y) for y in range(20)
         for x in range(20))
next(cells)
for line in sys.stdin:
    if line.startswith('pick'):
        print('%d,%d' % next(cells, (0, 0)), flush=True)
"""


def test_battle_tells_progress_and_logs_every_hundred_turns(room, arena):
    script(room, SNAKE, "snake.py")
    script(room, SNAKE.replace("'%d,%d' % next(cells, (0, 0))", "''"),
           "idle.py")
    words = [arena, 10, 1, f"0,255,0={PYTHON} snake.py",
             f"255,0,0={PYTHON} idle.py"]
    out, err = play("image-battle", "--limit", 20000, "--log", "log", *words)
    lines = out.splitlines()
    assert lines[:3] == [f"Turn {n} done {n} pixels" for n in (100, 200, 300)]
    # The last row begins with the red pixel: a turn in which nobody paints.
    assert sorted(lines[3:]) == [
        "Bot idle.py with colour (255, 0, 0) scored 0.5",
        "Bot snake.py with colour (0, 255, 0) scored 190.0"], err
    # Before the first turn, after each hundred, at the end.
    grids = (room / "log").read_text().split("\n\n\n")[:-1]
    assert [grid.count("1") for grid in grids] == [1, 101, 201, 301, 380]
    out, _ = play("image-battle", "--limit", 20000, "--max-turns", 100, *words)
    assert out.startswith("Turn 100 done 100 pixels\nBot ")


def test_stopped_battle_prints_where_it_stands(room, arena):
    script(room, SNAKE.replace("        print", "        if next(left, 0) == 0:\n"
                               f"            open('{room}/here', 'w').close()\n"
                               "            sys.stdin.read()\n        print")
           .replace("next(cells)\n", "next(cells)\nleft = iter([1] * 9)\n"),
           "snake.py")
    process = subprocess.Popen(
        [RUN, "image-battle", "--limit", "none", arena, "10", "1",
         f"0,255,0={PYTHON} snake.py"], stdout=subprocess.PIPE, text=True)
    wait_until(lambda: (room / "here").exists())
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=10)
    assert process.returncode == 130
    assert out == "Bot snake.py with colour (0, 255, 0) scored 2.5\n"
    assert (room / "battle.png").exists()


def test_battle_says_why_it_ended(room, arena):
    words = [arena, 10, 1, f"0,255,0={PYTHON} paint.py"]
    _, err = play("image-battle", "--limit", 20000, "--max-turns", 3, *words)
    assert err == "hill-run: ended at turn 3: maxturns\n"
    out, err = play("image-battle", "--limit", 20000, "--json", *words)
    assert not err
    assert json.loads(out)["battles"][0]["ended"] == \
        "nobody had anything valid"


def test_battle_of_a_cfg_may_give_one_colour_twice(room, arena):
    script(room, f"""imagename = 'the arena.png'
colourspec = (0,255,0), (0,255,0)
INITTIME = 20.0
TIMELIMIT = 20.0
PIXELBATCH = 10
botspec = [('paint.py', '{PYTHON}'), ('paint.py', '{PYTHON}')]
""", "cfg.py")
    script(room, PAINTER.replace("*FILES", "'paint.py', 'err.log'").replace(
        "sorted(os.listdir('.'))", "sorted({*os.listdir('.'), 'err.log'})"),
        "paint.py")
    _, err = play("image-battle", "--cfg", "cfg.py", "--seed", 1)
    assert "a ladder would refuse this: colour 0,255,0 of seat 2 is another " \
        "seat's too" in err


def test_battle_goes_on_without_a_bot_that_dies(room, arena):
    script(room, "import sys\nsys.exit(7)\n", "dies.py")
    out, err = play("image-battle", "--limit", 20000, "--json", arena, 10, 1,
                    f"0,255,0={PYTHON} paint.py", f"255,0,0={PYTHON} dies.py",
                    code=1)
    assert "bot 2 (dies.py): the program ended with exit status 7" in err
    seats = json.loads(out)["battles"][0]["seats"]
    assert [seat["pixels"] for seat in seats] == [19, 1]
    assert (seats[1]["reason"], seats[1]["exit"]) == ("gone", 7)


def test_battle_suspends_a_bot_after_five_late_answers(room, arena):
    script(room, PAINTER.replace("*FILES", "").replace(
        "        k = next", "        import time; time.sleep(9)\n        k = next"),
        "late.py")
    _, err = play("image-battle", "--limit", 150, "--init", 0, arena, 10, 1,
                  f"0,255,0={PYTHON} late.py", f"255,0,0={PYTHON} late.py")
    assert "bot 1 (late.py): late (5/5) at turn 5" in err


def test_reference_bots_battle(room, arena):
    out, err = play("image-battle", "--limit", 20000, arena, 10, 1,
                    f"0,255,0={BOTS / 'image-blob'}",
                    f"255,0,0={PYTHON} {BOT_SOURCES / 'image_front.py'}")
    total = sum(float(line.split()[-1]) for line in out.splitlines())
    assert abs(total - 200) < 0.01, out + err
