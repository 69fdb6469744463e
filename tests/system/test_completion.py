# SPDX-License-Identifier: MIT
"""What a shell offers: no more and no less than --help says."""
import functools
import os
import pathlib
import re
import subprocess

import pytest

TOP = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("HILL_BUILD", TOP / "build"))
PROGRAMS = {"hilld": ("server/hilld", 8), "hillctl": ("clients/ctl/hillctl", 1),
            "hill-bridge": ("clients/bridge/hill-bridge", 1),
            "hill-run": ("clients/run/hill-run", 1)}
HILLCTL = BUILD / PROGRAMS["hillctl"][0]


def output(*words):
    return subprocess.run([*map(str, words)], capture_output=True, text=True, check=True,
                          timeout=60).stdout


def commands():
    """hillctl's commands, as its help lists them."""
    text = output(HILLCTL, "--help").split("commands:\n")[1].split("\n\n")[0]
    return [re.match(r"  ([a-z]+(?: [a-z]+)?)", line).group(1)
            for line in text.splitlines() if re.match(r"  [a-z]", line)]


def options(text):
    """The options that lines of a help text are about."""
    return set(re.findall(r"^ {2,6}(?:-\w, )?(--[a-z-]+)", text, re.M)) | \
        set(re.findall(r"^  (?:--[a-z-]+, )+(--[a-z-]+)", text, re.M)) | \
        set(re.findall(r"^  (-j) ", text, re.M))


@functools.lru_cache
def completion():
    return output(HILLCTL, "completion", "bash")


def offered(*words):
    """What bash offers for the last of WORDS."""
    script = ("eval \"$completion\"; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1))\n"
              "case $1 in hillctl) _hillctl ;; *) _hill_by_help \"$1\" ;; esac\n"
              "printf '%s\\n' \"${COMPREPLY[@]}\"")
    done = subprocess.run(["bash", "-c", script, HILLCTL, *map(str, words)], text=True,
                          env={**os.environ, "completion": completion()},
                          capture_output=True, timeout=60, check=False)
    assert done.stderr == ""
    return set(done.stdout.split())


def test_bash_offers_every_command_and_option():
    names = commands()
    assert len(names) > 25
    assert offered("hillctl", "") - {"help"} == \
        {name.split()[0] for name in names} | options(output(HILLCTL, "--help"))
    for name in names:
        first, *second = name.split()
        if second:
            more = options(output(HILLCTL, "help", first)) if first in names else set()
            assert offered("hillctl", first, "") == more | {
                other.split()[1] for other in names if other.startswith(first + " ")}
        assert offered("hillctl", "--database", "x.db", first, *second, "word", "--") == \
            options(output(HILLCTL, "help", first, *second)), name
    assert offered("hillctl", "ro") == set() and offered("hillctl", "rep") == {"replay"}
    # Behind an option that takes a value the shell offers files.
    assert offered("hillctl", "bot", "add", "x", "--token-file", "") == set()


@pytest.mark.parametrize("program", ["hilld", "hill-bridge", "hill-run"])
def test_bash_asks_the_other_programs(program):
    path = BUILD / PROGRAMS[program][0]
    text = output(path, "--help")
    assert offered(path, "--") == set(re.findall(r"--[a-z][a-z-]+", text))
    assert offered(path, "x") == set()
    firsts = {"hilld": set(), "hill-bridge": {"join", "rotate"},
              "hill-run": {"rabbit-runner", "image-battle", "lambda-mining", "league"}}
    assert offered(path, "") == firsts[program]
    assert offered(path, "--log-dir", "") == set()


def test_zsh_takes_bashs():
    text = output(HILLCTL, "completion", "zsh")
    assert "bashcompinit\n" in text
    assert text.endswith(output(HILLCTL, "completion", "bash").split("\n\n", 1)[1])
    done = subprocess.run([HILLCTL, "completion", "fish"], capture_output=True, check=False)
    assert done.returncode == 2 and b"'fish' is neither bash nor zsh" in done.stderr
