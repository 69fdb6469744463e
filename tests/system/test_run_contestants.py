# SPDX-License-Identifier: MIT
"""hill-run with contestants' bots: the published figures."""
import glob
import os
import re
import subprocess

import pytest

from referee import (CONTESTANTS, IS_LONG, PYTHON, needs_contestants, play,
                     scores, takes_long)


def first_that_runs(*candidates):
    for program in candidates:
        try:
            if subprocess.run([program, "--version"], check=False,
                              stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL).returncode == 0:
                return program
        except OSError:
            pass
    return None


def python2():
    found = first_that_runs(
        *filter(None, [os.environ.get("HILL_PYTHON2"), "python2.7"]),
        *glob.glob(os.path.expanduser(
            "~/.pyenv/versions/2.7*/bin/python2.7")))
    return found or pytest.skip("no Python 2.7 that runs")


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    """Build a contestants' bot: its folder."""
    folder = tmp_path_factory.mktemp("bots")

    def build(command, needs, result):
        if first_that_runs(needs) is None:
            pytest.skip(f"no {needs}")
        if not (folder / result).exists() and subprocess.run(
                command, cwd=folder, stderr=subprocess.PIPE,
                check=False).returncode != 0:
            pytest.skip(f"{result} does not build here")
        return folder

    return build


def check_on_test_map(bot, figures):
    wanted = figures if IS_LONG else figures[:2]
    out, err = play("rabbit-runner", "-j", 2, "--limit", 20000,
                    CONTESTANTS / "rabbit-runner/maps/test.map", 500,
                    f"1..{len(wanted)}", len(wanted), *bot, timeout=600)
    assert scores(out) == wanted, err
    assert out.endswith(f"Total Score: {sum(wanted)}\n")


@needs_contestants
def test_crazy_scores_as_under_the_controller(room):
    check_on_test_map([python2(), CONTESTANTS / "rabbit-runner/run/crazy.py"],
                      [2, 6, 6, 3, 2])


@needs_contestants
def test_java_bot_scores_as_under_the_controller(room, built):
    source = CONTESTANTS / "rabbit-runner/run/Main.java"
    folder = built(["javac", "-d", ".", source], "javac", "Main.class")
    check_on_test_map(["java", "-cp", folder, "Main"], [22, 9, 0, 6, 4])


BATTLES = CONTESTANTS / "image-battle"


def contestant(name, built):
    """The command of NAME."""
    run = BATTLES / "run"
    if name == "colorfighter":
        folder = built(["g++", "-O2", "-std=c++11", "-Wno-narrowing", "-o",
                        name, run / "colorfighter.cpp", "-llodepng"], "g++",
                       name)
        return str(folder / name)
    if subprocess.run([PYTHON, "-c", "import PIL"], check=False,
                      stderr=subprocess.DEVNULL).returncode != 0:
        pytest.skip("no python3-pil")
    return f"{PYTHON} {run / name}.py"


# Limit 10 s. The published figures come from other shuffles than ours: all of
# the white is shared out as there, and each gets about as much. Who cuts off
# whom between dfblob and colorfighter in the open hangs on the first turns.
@takes_long
@needs_contestants
@pytest.mark.parametrize("first,second,arena_name,figures", [
    ("blob", "dfblob", "open100", (47.84, 152.00)),
    ("blob", "dfblob", "walls120x80", (30.85, 150.19)),
    ("blob", "dfblob", "rooms300", (28.51, 163.18)),
    ("blob", "colorfighter", "open100", (5.58, 194.26)),
    ("blob", "colorfighter", "walls120x80", (6.25, 174.79)),
    ("blob", "colorfighter", "rooms300", (1.49, 190.20)),
    ("dfblob", "colorfighter", "open100", (33.82, 166.02)),
    ("dfblob", "colorfighter", "walls120x80", (28.46, 152.58)),
    ("dfblob", "colorfighter", "rooms300", (6.09, 185.60)),
])
def test_contestants_battle_as_published(room, built, first, second, arena_name,
                                         figures):
    out, err = play("image-battle", "--limit", 10000,
                    BATTLES / f"arenas/{arena_name}.png", 10, 1,
                    f"0,255,0={contestant(first, built)}",
                    f"255,0,0={contestant(second, built)}", timeout=1200)
    green, red = (float(re.search(rf"colour \({colour}\) scored (\S+)",
                                  out)[1])
                  for colour in ("0, 255, 0", "255, 0, 0"))
    apart = 30 if (first, arena_name) == ("dfblob", "open100") else 4
    assert green + red == pytest.approx(sum(figures), abs=0.3), err
    assert green == pytest.approx(figures[0], abs=apart), err


@needs_contestants
def test_blob_battles_colorfighter_in_a_short_form(room, built):
    out, err = play("image-battle", "--limit", 10000,
                    BATTLES / "arenas/open100.png", 10, 1,
                    f"0,255,0={contestant('blob', built)}",
                    f"255,0,0={contestant('colorfighter', built)}", timeout=120)
    assert float(re.search(r"colour \(255, 0, 0\) scored (\S+)", out)[1]) == \
        pytest.approx(194.26, abs=2), err
