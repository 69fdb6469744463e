# SPDX-License-Identifier: MIT
"""hill-bridge: what it tells the one who runs it."""
import os
import re
import subprocess
import time

import pytest

from bridges import COMMANDS, PYTHON, finish, is_portable, script
from conftest import wait_until


def test_tells_its_own_time_of_a_late_reply(hill, bridge, tmp_path):
    process = bridge(PYTHON, script(
        tmp_path, "import time\ninput()\ntime.sleep(1.5)\nprint('late')\n"
        "input()\n"))
    hill.greet()
    hill.start(7, "go")
    time.sleep(0.15)
    hill.say("@fault late 1/5 turn=1 : no reply")
    assert hill.line() == "late"
    hill.say("@fault late 2/5 turn=2 : again")
    hill.end(7)
    _, err = finish(process)
    first = re.search(r"late 1/5 turn=1 : no reply; no answer after ([\d.]+) ms", err)
    second = re.search(r"late 2/5 .*; the answer took ([\d.]+) ms", err)
    assert 50 <= float(first[1]) < 1500 <= float(second[1]) + 10


def test_a_flood_of_faults_is_told_in_a_few_lines(hill, bridge):
    process = bridge("cat")
    hill.greet()
    hill.start(7, "go")
    assert hill.line() == "go"
    hill.say(*(f"@fault invalid {n}/- turn={n} : no move in \"x\""
               for n in range(1, 497)),
             "@fault late 1/1 turn=497 : too late",
             "@fault strange 1/1 turn=498 : what")
    hill.end(7, reason="late")
    hill.start(8, "go")
    assert hill.line() == "go"
    hill.say("@fault long 1/- turn=1 : again")
    hill.end(8)
    out, err = finish(process)
    lines = [line for line in err.splitlines() if "match 7: " in line]
    assert len(lines) == 7 and "invalid 5/- turn=5" in lines[4]
    assert lines[5].endswith("match 7: more such faults are not told")
    # None of them hides that a reply was late.
    assert "late 1/1 turn=497 : too late; the answer took" in lines[6]
    assert "match 8: long 1/-" in err
    assert "score 0, late, 1 late, 496 invalid, 1 other; " in out
    assert "score 0, finished, 1 long; slowest reply" in out


def waits(err):
    """Those lines of ERR that say where the bridge waits, without what is alike."""
    return [line.split(" and waits on ")[1] for line in err.splitlines()
            if "is logged in to 127.0.0.1:" in line]


def test_that_it_waits_is_told_once_and_after_a_lost_link(hill, bridge):
    process = bridge("cat", options=("--play", "other unrated seed=1", "--version", "v2"))
    for _ in range(2):
        hill.accept()
        hill.say("@hill 1 here")
        hill.expect("@login crazy .*")
        hill.say("@welcome crazy version=v2")
        hill.expect("@play ladder")
        hill.expect("@play other unrated seed=1")
        hill.say("@queued ladder waiting=1", "@queued other waiting=3 unrated=asked")
        # A place that was lost is taken again, without a word.
        hill.offer(7)
        hill.say("@cancel 7 reason=silent queued=0")
        hill.expect("@play ladder")
        hill.expect("@play other unrated seed=1")
        hill.say("@queued ladder waiting=2", "@queued other waiting=2")
        hill.offer(8)
        hill.say("@cancel 8 reason=lost queued=1")
        hill.link.close()
    hill.accept()
    _, err = finish(process)
    assert waits(err) == ["ladder; nobody else waits there",
                          "other unrated seed=1; 2 others wait there"] * 2
    assert f"hill-bridge: crazy v2 is logged in to 127.0.0.1:{hill.port} and " in err


@pytest.mark.parametrize("options, told", [
    (["--slots", "2"], ["ladder; 1 other waits there"]),
    (["--quiet"], []),
])
def test_that_it_waits_is_one_line_or_none(hill, bridge, options, told):
    process = bridge("cat", options=options)
    links = []
    for _ in range(2 if "--slots" in options else 1):
        hill.accept()
        links.append(hill.link)
        hill.say("@hill 1 here")
        hill.expect("@login crazy .*")
        hill.say("@welcome crazy")
        hill.expect("@play ladder")
        hill.say("@queued ladder waiting=2", "@ping")
        hill.expect("@pong")
    _, err = finish(process)
    assert waits(err) == told
    for link in links:
        link.close()


def test_a_match_that_is_over_was_rated_or_not(hill, bridge):
    process = bridge("cat")
    hill.greet()
    for match, keys in ((7, {"rated": 1}), (8, {"rated": 0, "seats": 2}), (9, {})):
        hill.start(match, "go", **keys)
        assert hill.line() == "go"
        if match == 8:
            hill.say("@fault long 1/- turn=1 : x", "@place 8 seat=2 bot=lazy score=1 rank=2")
        hill.end(match, score=3)
    hill.offer(10)
    hill.say("@cancel 10 reason=lost")
    out, _ = finish(process)
    assert "match 7 ladder: score 3, finished, rated; slowest " in out
    assert "match 8 ladder: rank 1 of 2, score 3, finished, 1 long, unrated, against lazy (1); " \
        in out
    assert "match 9 ladder: score 3, finished; slowest " in out


@pytest.mark.parametrize("when", ["login", "play"])
def test_what_is_said_wrongly_is_not_said_again(hill, bridge, when):
    process = bridge("cat")
    hill.accept()
    hill.say("@hill 1 here")
    hill.expect("@login crazy .*")
    if when == "play":
        hill.say("@welcome crazy")
        hill.expect("@play ladder")
    hill.say("@error bad-arguments : matches= goes with @play LADDER unrated alone")
    if when == "login":
        hill.link.close()
    _, err = process.communicate(timeout=10)
    assert process.returncode == 1
    assert "the server says: bad-arguments : matches= goes with " in err


def test_what_the_host_announces_is_told(hill, bridge):
    process = bridge("cat")
    hill.greet()
    hill.say("@notice : down at noon")
    hill.start(7, "go")
    assert hill.line() == "go"
    hill.say("@notice : down \x1b[2Jnow")
    hill.end(7)
    _, err = finish(process)
    assert "the host announces: down at noon" in err
    assert "down " in err and "\x1b" not in err


def test_the_last_logs_of_a_ladder_stay_and_no_others_go(hill, bridge, tmp_path):
    logs = tmp_path / "hill-logs"
    logs.mkdir()
    # An earlier run's; the numbers are another server's.
    for match in range(1000, 1210):
        (logs / f"ladder-crazy-{match}.log").write_text("old")
        os.utime(logs / f"ladder-crazy-{match}.log", (match, match))
    others = ["my-ladder-crazy-5.log", "ladder-crazy-2-5.log", "ladder-lazy-5.log", "ladder-crazy-x.log"]
    for name in others:
        (logs / name).write_text("another's")
        os.utime(logs / name, (5, 5))
    process = bridge("sh", "-c", "echo words >&2; read a; echo $a; read b")
    hill.greet()
    for match in (7, 8):
        hill.start(match, "go")
        assert hill.line() == "go"
        hill.end(match)
    hill.offer(9)
    hill.say("@cancel 9 reason=lost")
    finish(process)
    kept = {path.name for path in logs.iterdir()}
    assert kept == {*others, "ladder-crazy-7.log", "ladder-crazy-8.log",
                    *(f"ladder-crazy-{match}.log" for match in range(1012, 1210))}
    assert (logs / "ladder-crazy-7.log").stat().st_mode & 0o777 == 0o600


def test_logs_are_their_owners_alone(hill, bridge, tmp_path):
    process = bridge("sh", "-c", "echo words >&2; read a; echo $a; read b")
    hill.greet()
    hill.start(7, "go")
    assert hill.line() == "go"
    hill.end(7)
    finish(process)
    assert (tmp_path / "hill-logs").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "hill-logs/ladder-crazy-7.log").stat().st_mode & 0o777 == 0o600


def test_quiet_tells_no_faults(hill, bridge):
    process = bridge("cat", options=("--quiet",))
    hill.greet()
    hill.start(7, "go")
    assert hill.line() == "go"
    hill.say("@fault invalid 1/- turn=1 : no move")
    hill.end(7)
    out, err = finish(process)
    assert out == "" and "no move" not in err


def test_replies_that_nobody_asked_for_are_explained(hill, bridge):
    process = bridge("cat")
    hill.greet()
    hill.start(7, "go")
    hill.line()
    hill.end(7, early=12)
    out, _ = finish(process)
    assert "; 12 replies came before they were asked for: does it print " \
        "more than one line a turn?" in out


@pytest.mark.parametrize("program, hint", [
    ("read a; sleep 9", "nothing was printed yet: is it still starting, or does it not flush its output?"),
    ("read a; printf move; sleep 9", "4 bytes came without a line end"),
    ("read a; echo move; printf m; sleep 9", "1 byte came without a line end"),
    ("read a; echo move; sleep 9", None),
])
def test_a_late_reply_is_explained(hill, bridge, tmp_path, program, hint):
    process = bridge("sh", "-c", program.replace("sleep", ": >printed; sleep"))
    hill.greet()
    hill.start(7, "go")
    # A loaded machine may take long until it has printed.
    wait_until("it has printed", (tmp_path / "printed").exists)
    time.sleep(0.3)
    hill.say("@fault late 1/1 turn=1 : no reply")
    hill.end(7, reason="late")
    out, err = finish(process)
    told = re.search(r"ms here(; (.*))?\n", err)
    assert told[2] == hint
    if "echo" not in program:
        assert "finished" not in out and "late, 1 late; no reply" in out


@pytest.mark.parametrize("printed, hint", [
    ("hello", 'no command in 6 bytes (first: "hello")'),
    ("DL ok? R", 'dropped 3 bytes that are no command (first: "ok?")'),
    ("DL R", None),
])
def test_what_is_no_command_is_told(hill, bridge, printed, hint):
    process = bridge("sh", "-c", f"cat >/dev/null; echo '{printed}'")
    hill.greet()
    hill.start(7, "@input lines=1 text bytes=3", "#R", **{"whole-input": 1})
    hill.say("")
    hill.line()
    hill.end(7)
    _, err = finish(process)
    assert hint is None and "command" not in err or \
        f"match 7: {hint}\n" in err


def test_the_last_words_of_a_crash_are_shown(hill, bridge, tmp_path):
    bot = script(tmp_path, "import sys\n"
                 "for n in range(9): print('line', n, file=sys.stderr)\n"
                 "print('\\x1b[2Jred', file=sys.stderr)\n"
                 "print('move', flush=True)\nsys.exit(3)\n")
    process = bridge(PYTHON, bot)
    hill.greet()
    hill.start(7, "go")
    hill.line()
    hill.expect("@gone 7 exit=3")
    hill.end(7, reason="gone")
    _, err = finish(process)
    assert re.search(r"exit status 3; log hill-logs/ladder-crazy-7\.log\n", err)
    assert [line[15:] for line in err.splitlines()
            if line.startswith("hill-bridge:   ")] == \
        ["line 5", "line 6", "line 7", "line 8", r"\x1b[2Jred"]


@pytest.mark.parametrize("options, what", [
    (["--server", ":"], "HOST[:PORT]"),
    (["--slots", "0"], "--slots"),
    (["--slots", "x"], "--slots"),
    (["--bot", "A"], "3"),
    (["--what"], "unknown option"),
    ([], "wants --server"),
])
def test_wrong_usage_says_what_is_wrong(kind, options, what):
    done = subprocess.run([*COMMANDS[kind], *options], capture_output=True, text=True,
                          check=False)
    assert done.returncode == 2
    assert what in done.stderr


def test_help_names_every_option(kind):
    done = subprocess.run([*COMMANDS[kind], "--help"], capture_output=True, text=True,
                          check=False)
    assert done.returncode == 0
    for option in ("--server", "--bot", "--token-file", "--play", "--slots",
                   "--matches", "--log-dir", "--no-log", "--chdir", "--quiet"):
        assert option in done.stdout
    # What this build cannot do is told by it.
    assert ("portable build" in done.stdout) == is_portable()
