# SPDX-License-Identifier: MIT
"""hill-bridge: the programs that it starts, and how they end."""
import os
import pathlib
import re
import shutil
import signal
import time

import pytest

from bridges import (ECHO, IS_LONG, PYTHON, TOKEN, alive, finish, gone_within,
                     is_portable, processes_of, script)
from memory import rss_kib


def test_plays_a_match_with_the_originals_arguments(hill, bridge, tmp_path):
    bot = script(tmp_path, "import sys\n"
                 "print(sys.argv[1:], open(sys.argv[1]).read().strip())\n"
                 "import os; print(os.getcwd())\n"
                 "for line in sys.stdin: print('got', line.strip())\n")
    process = bridge(PYTHON, bot)
    assert hill.greet()[2] == TOKEN
    hill.start(7, "one", "two", files=[("test.map", "###\n# #\n")],
               args="test.map 322")
    path = re.match(r"\['(/\S+/test\.map)', '322'\] ###", hill.line())[1]
    assert hill.line() == "# #"
    assert hill.line() == str(tmp_path)
    assert hill.line() == "got one"
    assert hill.line() == "got two"
    assert pathlib.Path(path).exists()
    hill.end(7, score=23)
    hill.offer(8)
    assert not pathlib.Path(path).parent.exists()
    hill.say("@cancel 8 reason=lost")
    out, _ = finish(process)
    assert re.search(r"match 7 ladder: score 23, finished; "
                     r"slowest reply \d+\.\d ms", out)


def test_every_file_that_came_is_named_by_its_path(hill, bridge, tmp_path):
    bridge("sh", "-c", "cat $1 $2; echo $3", "bot")
    hill.greet()
    hill.start(7, files=[("a.map", "one\n"), ("b.map", "two\n")], args="a.map b.map c.map")
    assert [hill.line() for _ in range(3)] == ["one", "two", "c.map"]


def test_only_who_is_not_alone_has_a_rank(hill, bridge, tmp_path):
    process = bridge("cat")
    hill.greet()
    for match, seats in ((7, 1), (8, 2)):
        hill.start(match, seats=seats)
        hill.end(match, score=23)
    hill.offer(9)
    hill.say("@cancel 9 reason=lost")
    out, _ = finish(process)
    assert "match 7 ladder: score 23, finished; " in out
    assert "match 8 ladder: rank 1 of 2, score 23, finished; " in out


def test_bc11_stdin_holds_the_games_lines_and_nothing_else(
        hill, bridge, tmp_path):
    record = tmp_path / "stdin"
    bridge("tee", record)
    hill.greet()
    hill.say("@novelty lines=2 : something new", "raw one", "@raw two",
             "@ping")
    assert hill.line() == "@pong"
    hill.start(7, "colour (1,2,3) chose 1,2", "@@odd")
    assert hill.line() == "colour (1,2,3) chose 1,2"
    assert hill.line() == "@@odd"
    hill.say("@banked turn=1 ms=3 left=2", "@wat lines=1 x=1", "no game line",
             "exit")
    assert hill.line() == "exit"
    hill.end(7, stop="exit")
    hill.offer(8)
    assert record.read_text() == "colour (1,2,3) chose 1,2\n@odd\nexit\n"


def test_what_a_program_prints_is_never_a_control_line(hill, bridge):
    bridge("printf", "@quit\\n@@x\\nplain")
    hill.greet()
    hill.start(7, "go")
    assert hill.line() == "@@quit"
    assert hill.line() == "@@@x"
    # An unterminated last line gets its LF, and the end comes behind it.
    assert hill.line() == "plain"
    hill.expect("@gone 7 exit=0")


@pytest.mark.parametrize("program, told", [
    (["sh", "-c", "exit 3"], "exit=3"),
    (["sh", "-c", "kill -9 $$"], "signal=9"),
    (["sh", "-c", "exec >&-; sleep 60"], "stdout=closed"),
    (["./no-interpreter"], "exit=127"),
])
def test_tells_how_a_program_ended(hill, bridge, tmp_path, program, told):
    script(tmp_path, "#!/no/such/interpreter\n",
           "no-interpreter").chmod(0o755)
    bridge(*program)
    hill.greet()
    hill.start(7, "go")
    hill.expect(f"@gone 7 {told}")
    # It costs that seat only: the next match starts.
    hill.end(7, reason="gone")
    hill.start(8, "go")
    hill.expect(f"@gone 8 {told}")


def test_bc01_standard_error_never_blocks_a_program(hill, bridge, tmp_path):
    bot = script(tmp_path, "import sys\n"
                 "sys.stderr.write('e' * 3000000)\n"
                 "for line in sys.stdin: print(line.strip())\n")
    process = bridge(PYTHON, bot)
    hill.greet()
    hill.start(7, "hello")
    assert hill.line() == "hello"
    hill.end(7)
    hill.offer(8)
    hill.say("@cancel 8 reason=lost")
    out, _ = finish(process)
    log = tmp_path / re.search(r"log (\S+)", out)[1]
    assert log.stat().st_size == 1024 * 1024


@pytest.mark.parametrize("env", [{}, {"PYTHONUNBUFFERED": ""}],
                         ids=["unset", "empty"])
def test_bc03_an_unflushed_python_program_is_heard(
        hill, bridge, tmp_path, env):
    bot = script(tmp_path, ECHO)
    bridge(PYTHON, bot, env=env)
    hill.greet()
    hill.start(7, "hello")
    assert hill.line(timeout=20) == "got hello"


def test_a_program_is_deaf_to_no_signal(hill, bridge):
    # As a shell's `&` leaves it.
    before = signal.signal(signal.SIGQUIT, signal.SIG_IGN)
    try:
        bridge("grep", "SigIgn", "/proc/self/status")
    finally:
        signal.signal(signal.SIGQUIT, before)
    hill.greet()
    hill.start(7)
    assert hill.line().split() == ["SigIgn:", "0" * 16]


def test_bc04_a_killed_program_does_not_take_the_bridge_along(
        hill, bridge, tmp_path):
    process = bridge(PYTHON, script(
        tmp_path, "import os\nprint(os.getpid())\n" + ECHO))
    hill.greet()
    hill.start(7)
    os.kill(int(hill.line()), signal.SIGKILL)
    hill.say("a line into a dead pipe", "and another")
    hill.expect("@gone 7 signal=9")
    hill.say("and after it was told")
    assert process.poll() is None
    hill.end(7, reason="gone")
    hill.start(8)
    assert hill.line().isdigit()


def test_a_program_whose_keeper_was_killed_is_told_and_goes(hill, bridge):
    bridge("sh", "-c", "sleep 987 & echo $! $$ $PPID; cat")
    hill.greet()
    hill.start(7)
    *pids, keeper = map(int, hill.line().split())
    os.kill(keeper, signal.SIGKILL)
    hill.expect("@gone 7 stdout=closed")
    assert gone_within(pids, 3)
    hill.end(7, reason="gone")
    hill.start(8, "go")
    assert len(hill.line().split()) == 3
    assert hill.line() == "go"


def test_who_ends_the_bridge_by_its_name_leaves_no_program(hill, bridge):
    if is_portable():
        pytest.skip("POSIX alone gives the keeper no name of its own")
    process = bridge("sh", "-c", "sleep 987 & echo $! $$ $PPID; cat")
    hill.greet()
    hill.start(7)
    *pids, keeper = map(int, hill.line().split())
    name, kept = (pathlib.Path(f"/proc/{pid}/comm").read_text()
                  for pid in (process.pid, keeper))
    process.kill()
    # As pkill does, which knows its processes by their names.
    if kept == name:
        os.kill(keeper, signal.SIGKILL)
    assert gone_within([*pids, keeper], 3)


def used_seconds(process):
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().split()
    return (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")


def test_a_link_lost_while_an_end_is_awaited_costs_no_time(hill, bridge):
    process = bridge("sh", "-c", "echo up; exec >&-; sleep 60")
    hill.greet()
    hill.start(7)
    assert hill.line() == "up"
    time.sleep(0.03)  # its output is closed; for 100 ms its exit may come
    hill.link.close()
    hill.greet()
    before = used_seconds(process)
    time.sleep(1)
    assert used_seconds(process) - before < 0.5


STUBBORN = ("import os, signal, sys, time\n"
            "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
            "signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
            "sys.stdout.write(f'{os.getpid()}\\n')\n"
            "while True: time.sleep(1)\n")


@pytest.mark.parametrize("stop", ["term", "eof", "exit"])
def test_bc07_a_stubborn_program_is_gone_within_three_seconds(
        hill, bridge, tmp_path, stop):
    bridge(PYTHON, script(tmp_path, STUBBORN))
    hill.greet()
    hill.start(7)
    pid = int(hill.line())
    begun = time.monotonic()
    hill.end(7, stop=stop)
    hill.offer(8)  # comes only when the last program is dead
    assert 1.5 < time.monotonic() - begun < 3
    assert not alive(pid)


def test_bc07_hundreds_of_matches_without_growing(hill, bridge, monkeypatch):
    # A sanitizer keeps freed memory and left stack frames back: no growth
    # of the bridge's. Without them its memory is level to a few KiB.
    monkeypatch.setenv("ASAN_OPTIONS", os.environ.get("ASAN_OPTIONS", "") +
                       ":quarantine_size_mb=0"
                       ":thread_local_quarantine_size_kb=0"
                       ":detect_stack_use_after_return=0")
    process = bridge("sh", "-c", "read line; echo $line; read line")
    hill.greet()

    first = None
    for match in range(1, 301 if IS_LONG else 61):
        hill.start(match, "go")
        assert hill.line() == "go"
        hill.end(match)
        if match == 20:
            first = rss_kib(process)
    assert rss_kib(process) - first < 1024
    children = pathlib.Path(
        f"/proc/{process.pid}/task/{process.pid}/children").read_text()
    # A keeper that has just ended may wait to be reaped.
    assert len([pid for pid in children.split() if alive(pid)]) <= 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM,
                                    signal.SIGKILL])
def test_bc08_no_program_outlives_the_bridge(hill, bridge, tmp_path, number):
    # Spins at the end of its input, as some bots do.
    bot = script(tmp_path, "import os, sys\nprint(os.getpid())\n"
                 "while True: sys.stdin.readline()\n")
    process = bridge(PYTHON, bot)
    hill.greet()
    hill.start(7, files=[("m", "x\n")])
    pid = int(hill.line())
    process.send_signal(number)
    if number == signal.SIGINT:
        process.send_signal(number)
        time.sleep(0.1)
        if process.poll() is None:
            process.send_signal(number)
    process.wait(5)
    assert gone_within([pid], 3)
    end = time.monotonic() + 1  # the keeper tidies up behind them
    while list(tmp_path.glob("hill-bridge-*")) and time.monotonic() < end:
        time.sleep(0.02)
    assert list(tmp_path.glob("hill-bridge-*")) == []


@pytest.mark.parametrize("how", ["end", "gone", "SIGTERM", "SIGKILL", "link"])
def test_bc09_grandchildren_go_too(hill, bridge, tmp_path, how):
    if is_portable() and shutil.which("ps") is None:
        pytest.skip("POSIX alone finds who left the process group by ps only")
    marker = f"grandchild-{os.getpid()}-{how}"
    bot = script(tmp_path, STUBBORN, f"{marker}.py")
    # One in the process group, one that has left it.
    first = "until [ -e go ]; do sleep 0.05; done" if how == "gone" else "wait"
    process = bridge("sh", "-c", f"{PYTHON} {bot} & "
                     f"setsid {PYTHON} {bot} & {first}")
    hill.greet()
    begun = time.monotonic()
    hill.start(7)
    pids = [int(hill.line()), int(hill.line())]
    assert all(map(alive, pids))
    if how == "end":
        hill.end(7)
    elif how == "gone":
        if is_portable():
            # POSIX alone knows who left the group from a look at ps while its
            # parent lives: the pause between two looks doubles.
            time.sleep(2 * (time.monotonic() - begun) + 1)
        (tmp_path / "go").touch()
        hill.expect("@gone 7 exit=0")
    elif how == "link":
        hill.link.close()
    else:
        process.send_signal(getattr(signal, how))
    assert gone_within(pids, 3.5)
    # The shell itself may be seen a moment longer; who stays, stays for good.
    assert gone_within(processes_of(marker), 2)


def test_bc10_a_program_inherits_three_descriptors(hill, bridge):
    process = bridge("sh", "-c", "sleep 60 & sleep 0.3; "
                     "ls /proc/$!/fd | tr '\\n' ' '; echo; wait")
    hill.greet()
    hill.start(7)
    assert hill.line().split() == ["0", "1", "2"]
    process.kill()
    process.wait()
    with pytest.raises((EOFError, ConnectionResetError)):
        hill.line(timeout=1)  # the server sees the closed link at once


@pytest.mark.parametrize("program, why", [
    ("./none", "cannot run ./none: No such file or directory"),
    ("hill-none-such", "cannot run hill-none-such: No such file"),
    ("token", "for the file here put ./ or its interpreter before it"),
    ("./token", "cannot run ./token: it is no executable file"),
    ("/tmp", "cannot run /tmp: it is no executable file"),
])
def test_a_program_that_cannot_run_is_told_before_login(bridge, program, why):
    process = bridge(program)
    _, err = process.communicate(timeout=10)
    assert process.returncode == 2 and why in err


@pytest.mark.parametrize("program", ["exit 127", "exit 1"])
def test_a_program_that_never_plays_takes_no_more_matches(
        hill, bridge, program):
    process = bridge("sh", "-c", program)
    hill.greet()
    for match in (1, 2, 3):
        hill.start(match, "go")
        hill.expect(r"@gone \d exit=\d+")
        if match < 3:
            hill.end(match, reason="gone")
    hill.expect("@leave")
    hill.end(3, reason="gone")
    out, err = process.communicate(timeout=10)
    assert process.returncode == 1
    assert "ended at once in 3 matches in a row: taking no more" in err
    assert out.count("gone; no reply") == 3


def test_a_match_that_was_played_forgives_a_death(hill, bridge):
    process = bridge("sh", "-c", "read a; [ $a = die ] && exit 1; echo $a;"
                     "read a")
    hill.greet()
    for match, word in enumerate("die die live die die live die".split()):
        hill.start(match + 1, word)
        hill.expect("live" if word == "live" else r"@gone \d exit=1")
        hill.end(match + 1)
    finish(process)
