# SPDX-License-Identifier: MIT
"""clients/bots: what an author starts from plays, and plays by the rules."""
import json
import os
import pathlib
import shutil
import subprocess

import pytest

TOP = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("HILL_BUILD", TOP / "build"))
BOTS = TOP / "clients/bots"
MAPS = TOP / "deploy/maps"
PYTHON = "/usr/bin/python3"


def hill_run(tmp_path, *words):
    """The JSON document of one hill-run; its programs met no fault."""
    done = subprocess.run(
        [BUILD / "clients/run/hill-run", words[0], "--json", "--limit", "5000",
         *map(str, words[1:])],
        capture_output=True, text=True, cwd=tmp_path, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), done.stderr


def numbers(document, key):
    """All values of KEY anywhere in DOCUMENT."""
    if isinstance(document, dict):
        for name, value in document.items():
            if name == key:
                yield value
            yield from numbers(value, key)
    elif isinstance(document, list):
        for value in document:
            yield from numbers(value, key)


@pytest.mark.parametrize("bot", [
    [PYTHON, BOTS / "rabbit_start.py"], [BUILD / "clients/bots/rabbit-greedy"],
    [PYTHON, BOTS / "rabbit_careful.py"]], ids=lambda words: words[-1].name)
def test_a_rabbit_bot_saves_some(tmp_path, bot):
    document, said = hill_run(tmp_path, "rabbit-runner",
                              MAPS / "rabbit-runner/test.map", 500, "1..5",
                              5, *bot)
    assert sum(numbers(document, "score")) > 20
    assert "invalid" not in said


@pytest.mark.parametrize("name", sorted(path.name for path in BOTS.glob("*.py")))
def test_a_copied_kit_stands_alone(tmp_path, name):
    shutil.copy(BOTS / name, tmp_path)
    done = subprocess.run([PYTHON, "-I", tmp_path / name], input="", capture_output=True,
                          text=True, cwd=tmp_path, timeout=60, check=False)
    assert "ModuleNotFoundError" not in done.stderr


@pytest.mark.parametrize("bot", [
    f"{PYTHON} {BOTS / 'image_start.py'}", str(BUILD / "clients/bots/image-blob"),
    f"{PYTHON} {BOTS / 'image_front.py'}"],
    ids=["image_start", "image-blob", "image_front"])
def test_an_image_bot_fills_the_arena_alone(tmp_path, bot):
    document, said = hill_run(tmp_path, "image-battle", "--picture", "none",
                              MAPS / "image-battle/open100.png", 10, 1,
                              f"255,0,0={bot}")
    # 10,000 pixels, one of them another's: the score is their share.
    assert max(numbers(document, "score")) == pytest.approx(99.99)
    assert "invalid" not in said


@pytest.mark.parametrize("bot", [
    [PYTHON, BOTS / "lambda_start.py"], [BUILD / "clients/bots/lambda-greedy"],
    [PYTHON, BOTS / "lambda_careful.py"]], ids=lambda words: words[-1].name)
def test_a_lambda_bot_brings_some_home(tmp_path, bot):
    document, _ = hill_run(tmp_path, "lambda-mining",
                           MAPS / "lambda-mining/contest3.map",
                           MAPS / "lambda-mining/contest8.map", "--", *bot)
    assert max(numbers(document, "score")) > 100
