# SPDX-License-Identifier: MIT
"""hill-bridge against a server that does nothing by itself."""
import os
import pathlib
import re
import shutil
import signal
import struct
import socket
import subprocess
import sys
import time

import pytest

from fake_hill import FakeHill

TOP = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("HILL_BUILD", TOP / "build"))
BRIDGE = BUILD / "clients/bridge/hill-bridge"
PYTHON = "/usr/bin/python3"
TOKEN = "hill_" + "s3cret" * 5
ECHO = "import sys\nfor line in sys.stdin:\n    print('got', line.strip())\n"
IS_LONG = bool(os.environ.get("HILL_LONG"))


@pytest.fixture
def hill():
    server = FakeHill()
    yield server
    server.close()


@pytest.fixture
def token(tmp_path):
    path = tmp_path / "token"
    path.write_text(TOKEN + "\n")
    path.chmod(0o600)
    return path


@pytest.fixture
def bridge(hill, token, tmp_path):
    """start(program words, options): a running bridge; ended afterwards."""
    started = []

    def start(*program, options=()):
        process = subprocess.Popen(
            [BRIDGE, "--server", f"127.0.0.1:{hill.port}", "--bot", "crazy",
             "--token-file", token, "--play", "ladder", *options, "--",
             *map(str, program)],
            cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, env={**os.environ, "TMPDIR": str(tmp_path)})
        started.append(process)
        return process

    yield start
    for process in started:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            process.wait(10)
        process.stdout.close()
        process.stderr.close()


def script(tmp_path, text, name="bot.py"):
    path = tmp_path / name
    path.write_text(text)
    return path


def is_portable():
    """Whether the bridge was built without the calls that only Linux has."""
    done = subprocess.run([BRIDGE, "--version"], capture_output=True,
                          text=True, check=True)
    return done.stdout.endswith(" portable\n")


def alive(pid):
    """Whether process PID runs (a zombie does not)."""
    try:
        state = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return state.rsplit(")", 1)[1].split()[0] != "Z"


def gone_within(pids, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if not any(map(alive, pids)):
            return True
        time.sleep(0.02)
    return False


def processes_of(marker):
    """Pids of all processes with MARKER on their command line."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            words = (entry / "cmdline").read_bytes()
        except OSError:
            continue
        if marker.encode() in words and BRIDGE.name.encode() not in words:
            found.append(int(entry.name))
    return found


def finish(process, code=0):
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=10)
    assert process.returncode == code, err
    return out, err


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
    assert re.search(r"match 7 ladder: rank 1 of 1, score 23, finished; "
                     r"slowest reply \d+\.\d ms", out)


def test_bc11_stdin_holds_the_games_lines_and_nothing_else(
        hill, bridge, tmp_path):
    record = tmp_path / "stdin"
    bridge("tee", record)
    hill.greet()
    hill.say("@notice lines=2 : something new", "raw one", "@raw two",
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


def test_bc03_an_unflushed_python_program_is_heard(hill, bridge, tmp_path):
    bot = script(tmp_path, ECHO)
    bridge("python3", bot)
    hill.greet()
    hill.start(7, "hello")
    assert hill.line() == "got hello"


def test_a_program_is_deaf_to_no_signal(hill, bridge):
    bridge("grep", "SigIgn", "/proc/self/status")
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


def test_a_program_whose_keeper_was_killed_is_told(hill, bridge, tmp_path):
    bridge(PYTHON, script(
        tmp_path, "import os\nprint(os.getppid())\n" + ECHO))
    hill.greet()
    hill.start(7)
    os.kill(int(hill.line()), signal.SIGKILL)
    hill.expect("@gone 7 stdout=closed")
    hill.end(7, reason="gone")
    hill.start(8)
    assert hill.line().isdigit()


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


def test_bc07_hundreds_of_matches_without_growing(hill, bridge):
    process = bridge("sh", "-c", "read line; echo $line; read line")
    hill.greet()

    def rss_kib():
        status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status)[1])

    first = None
    for match in range(1, 301 if IS_LONG else 61):
        hill.start(match, "go")
        assert hill.line() == "go"
        hill.end(match)
        if match == 20:
            first = rss_kib()
    assert rss_kib() - first < 2048
    children = pathlib.Path(
        f"/proc/{process.pid}/task/{process.pid}/children").read_text()
    assert len(children.split()) <= 1


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
    first = "exit 0" if how == "gone" else "wait"
    process = bridge("sh", "-c", f"{PYTHON} {bot} & "
                     f"setsid {PYTHON} {bot} & sleep 0.5; {first}")
    hill.greet()
    hill.start(7)
    pids = [int(hill.line()), int(hill.line())]
    assert all(map(alive, pids))
    if how == "end":
        hill.end(7)
    elif how == "gone":
        hill.expect("@gone 7 exit=0")
    elif how == "link":
        hill.link.close()
    else:
        process.send_signal(getattr(signal, how))
    assert gone_within(pids, 3.5)
    assert processes_of(marker) == []


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


def test_bc34_a_reset_link_is_never_a_finished_match(hill, bridge, tmp_path):
    process = bridge(PYTHON, script(
        tmp_path, "import os\nprint(os.getpid())\n" + ECHO))
    hill.greet()
    hill.start(7)
    pid = int(hill.line())
    hill.link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                         struct.pack("ii", 1, 0))
    hill.link.close()
    assert gone_within([pid], 3)
    hill.greet()  # it comes back by itself
    out, err = finish(process)
    assert "match 7 is lost" in err
    assert "match 7" not in out


def test_bc41_a_slow_program_gets_all_bytes_in_order(hill, bridge, tmp_path):
    process = bridge(PYTHON, script(
        tmp_path, "import sys, time, hashlib\n"
        "digest = hashlib.sha256()\n"
        "left = 5000000\n"
        "while left > 0:\n"
        "    got = sys.stdin.buffer.read1(50000)\n"
        "    digest.update(got); left -= len(got); time.sleep(0.01)\n"
        "print(digest.hexdigest())\n"
        "sys.stdout.write('z' * 2000000 + '\\n')\n"))
    hill.greet()
    hill.start(7, **{"line-max": 3000000})
    burst = b"".join(b"%098d\n" % i for i in range(5000000 // 99 + 1))
    burst = burst[:5000000 - 1] + b"\n"
    hill.link.settimeout(30)
    hill.link.sendall(burst)
    import hashlib
    assert hill.line(timeout=30) == hashlib.sha256(burst).hexdigest()
    assert hill.line(timeout=30) == "z" * 2000000
    assert process.poll() is None


def test_a_flood_costs_no_memory_and_the_next_match_plays(
        hill, bridge, tmp_path):
    process = bridge("sh", "-c", "read a; if [ $a = flood ]; then "
                     "while :; do head -c 1000000 /dev/zero; done; fi; "
                     "echo $a; read b")
    hill.greet()
    hill.start(7, "flood")
    time.sleep(0.5)
    status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    # A sanitizer's own memory is most of this.
    assert int(re.search(r"VmRSS:\s+(\d+)", status)[1]) < 100 * 1024
    hill.end(7, reason="long")
    hill.start(8, "calm")
    assert hill.line() == "calm"


def test_an_overlong_line_travels_cut_but_longer_than_allowed(hill, bridge):
    bridge("sh", "-c", "head -c 5000 /dev/zero | tr '\\0' x; echo; echo next;"
           "read a")
    hill.greet()
    hill.start(7, "go", **{"line-max": 100})
    assert hill.line() == "x" * 101
    assert hill.line() == "next"


def test_a_whole_input_is_read_and_answered_once(hill, bridge):
    bridge("sh", "-c", "cat >&2; echo ' DL l'; echo R; exit 1")
    hill.greet()
    hill.start(7, "@input lines=2 text bytes=9", "#R\\", "#L#L",
               **{"whole-input": 1})
    hill.say("")
    assert hill.line() == "DLR"


@pytest.mark.parametrize("program, told", [
    ("cat >/dev/null; exit 1", "@gone 7 exit=1"),
    ("cat >/dev/null; echo DLR; kill -9 $$", "@gone 7 signal=9"),
    ("cat >/dev/null; exit 0", ""),
])
def test_a_whole_reply_without_commands(hill, bridge, program, told):
    bridge("sh", "-c", program)
    hill.greet()
    hill.start(7, "@input lines=1 text bytes=3", "#R", **{"whole-input": 1})
    hill.say("")
    assert hill.line() == told


def test_a_damaged_block_is_a_broken_link(hill, bridge):
    process = bridge("cat")
    hill.greet()
    hill.start(7, "@input lines=1 text bytes=99", "#R", **{"whole-input": 1})
    hill.greet()
    process.send_signal(signal.SIGTERM)
    assert "damaged" in process.communicate()[1]


def test_an_interrupt_lets_a_program_answer(hill, bridge):
    bridge("sh", "-c", "trap 'echo LLD; exit 0' INT; "
           "while :; do sleep 0.05; done")
    hill.greet()
    hill.start(7, "@input lines=1 text bytes=3", "#R", **{"whole-input": 1})
    time.sleep(0.4)
    hill.say("@interrupt 7")
    assert hill.line() == "LLD"


def test_server_cannot_speak_to_the_terminal(hill, bridge):
    process = bridge("cat")
    hill.greet()
    hill.say("@error not-now : \x1b[2Jred", "@match 5 ladder=ladder seat=1 seats=2",
             "@place 5 seat=2 bot=\x1b[2J score=\x9b1m rank=1", "@result 5 score=\x1b[5m",
             "@match 6 ladder=ladder", "@cancel 6 : \x1b]0;x\x07",
             "@match 7 ladder=ladder", "@file ../\x1b[1m lines=1 text bytes=2", "x",
             "@error evicted : \x1b[0m")
    out, err = process.communicate(timeout=10)
    assert r"\x1b[2J" in out and r"\x1b]0;x\x07" in err
    assert not any(ord(char) < 32 and char != "\n" or 127 <= ord(char) < 160 for char in out + err)


def test_refuses_a_file_name_that_leads_out(hill, bridge, tmp_path):
    process = bridge("sh", "-c", "read a; echo $a; read b")
    hill.greet()
    hill.offer(7)
    hill.say("@file ../evil lines=1 text bytes=2", "x", "@start 7", "go")
    assert hill.line() == "go"
    assert not (tmp_path / "evil").exists()
    hill.end(7)
    hill.offer(8)
    _, err = process.send_signal(signal.SIGTERM), process.communicate()[1]
    assert "../evil" in err


def test_first_interrupt_finishes_the_match(hill, bridge, tmp_path):
    process = bridge(PYTHON, script(tmp_path, ECHO))
    hill.greet()
    hill.start(7, "one")
    assert hill.line() == "got one"
    process.send_signal(signal.SIGINT)
    hill.expect("@leave")
    hill.say("@left", "two")
    assert hill.line() == "got two"
    hill.end(7, score=5)
    out, err = process.communicate(timeout=5)
    assert process.returncode == 0
    assert "score 5" in out
    assert "finishing the matches that run" in err


def test_matches_counts_and_leaves(hill, bridge, tmp_path):
    process = bridge(PYTHON, script(tmp_path, ECHO),
                     options=("--matches", "2"))
    hill.greet()
    hill.start(7, "one")
    hill.line()
    hill.end(7)
    hill.say("@match 8 ladder=ladder game=toy seat=1 seats=1 line-max=100")
    assert hill.line() == "@leave"
    hill.expect("@ready 8")
    hill.say("@left", "@start 8", "two")
    hill.line()
    hill.end(8)
    out, _ = process.communicate(timeout=5)
    assert process.returncode == 0
    assert out.count("\n") == 2


def test_a_void_match_is_played_again_once_the_program_is_dead(hill, bridge, tmp_path):
    slow = "import signal, time\nsignal.signal(signal.SIGTERM, lambda *_: " \
           "(time.sleep(0.3), exit()))\n" + ECHO
    process = bridge(PYTHON, script(tmp_path, slow), options=("--matches", "1"))
    hill.greet()
    hill.say("@match 7 ladder=ladder game=toy seat=1 seats=1 line-max=100")
    assert hill.line() == "@leave"
    hill.expect("@ready 7")
    hill.say("@left", "@start 7", "one")
    assert hill.line() == "got one"
    hill.say("@end 7 stop=term reason=void", "@void 7 reason=stall : the server lost 10012 ms")
    assert hill.line() == "@play ladder"
    hill.say("@match 8 ladder=ladder game=toy seat=1 seats=1 line-max=100")
    assert hill.line() == "@leave"
    hill.expect("@ready 8")
    hill.say("@left", "@start 8", "two")
    assert hill.line() == "got two"
    hill.end(8)
    assert process.wait(5) == 0


@pytest.mark.parametrize("code", ["evicted", "login-failed"])
def test_does_not_come_back_where_it_is_not_wanted(hill, bridge, code):
    process = bridge("cat")
    hill.accept()
    hill.say("@hill 1 here")
    hill.line()
    hill.say(f"@error {code} : no")
    hill.link.close()
    _, err = process.communicate(timeout=5)
    assert process.returncode == 1
    assert code in err
    assert TOKEN not in err


def test_waits_as_long_as_the_server_asks(hill, bridge):
    bridge("cat")
    hill.accept()
    hill.say("@hill 1 here")
    hill.line()
    hill.say("@error server-full retry-after=2 : full")
    hill.link.close()
    begun = time.monotonic()
    hill.greet()
    assert time.monotonic() - begun > 1.9


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
    ("read a; sleep 9", "nothing was printed yet: does it flush its output?"),
    ("read a; printf move; sleep 9", "4 bytes came without a line end"),
    ("read a; echo move; printf m; sleep 9", "1 byte came without a line end"),
    ("read a; echo move; sleep 9", None),
])
def test_a_late_reply_is_explained(hill, bridge, program, hint):
    process = bridge("sh", "-c", program)
    hill.greet()
    hill.start(7, "go")
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


@pytest.mark.parametrize("program, why", [
    ("./none", "cannot run ./none: No such file or directory"),
    ("hill-none-such", "cannot run hill-none-such: No such file"),
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


def test_a_server_that_is_not_there_is_named(hill, bridge):
    hill.listener.close()
    process = bridge("cat")
    line = process.stderr.readline()
    assert line == f"hill-bridge: cannot reach 127.0.0.1:{hill.port}: " \
        "Connection refused; trying again in 0.5 s\n"
    _, err = finish(process)
    assert "hill-bridge: stopping\n" in err and "finishing" not in err


def test_an_impossible_address_is_not_tried_again(token):
    done = subprocess.run(
        [BRIDGE, "--server", "127.0.0.1:no-such-port", "--bot", "crazy",
         "--token-file", token, "--play", "ladder", "--", "cat"],
        capture_output=True, text=True, check=False, timeout=10)
    assert done.returncode == 1
    assert "cannot reach 127.0.0.1:no-such-port: " in done.stderr
    assert "trying again" not in done.stderr


@pytest.mark.parametrize("words", [
    ["@error shutdown : bye"],
    ["@end 7 stop=term reason=abandoned", "@void 7 reason=abandoned : down"],
    ["@error shutdown : bye", "@end 7 stop=term reason=abandoned"],
])
def test_a_match_lost_to_a_shutdown_says_so(hill, bridge, words):
    process = bridge("cat")
    hill.greet()
    hill.start(7, "go")
    hill.line()
    hill.say(*words)
    hill.link.close()
    hill.greet()
    _, err = finish(process)
    assert err.count("match 7 is lost: the server is going down\n") == 1
    assert "match 7 does not count" not in err


def test_the_token_shows_nowhere(hill, bridge, tmp_path):
    process = bridge("sh", "-c", "env; cat")
    hill.greet()
    for entry in ("cmdline", "environ"):
        text = pathlib.Path(f"/proc/{process.pid}/{entry}").read_bytes()
        assert TOKEN.encode() not in text
    hill.start(7, "the end")
    while (line := hill.line()) != "the end":
        assert TOKEN not in line
    hill.end(7)
    out, err = finish(process)
    assert TOKEN not in out + err


@pytest.mark.parametrize("options, what", [
    (["--server", "nowhere"], "HOST:PORT"),
    (["--slots", "0"], "--slots"),
    (["--slots", "x"], "--slots"),
    (["--bot", "A"], "3"),
    (["--what"], "unknown option"),
    ([], "wants --server"),
])
def test_wrong_usage_says_what_is_wrong(options, what):
    done = subprocess.run([BRIDGE, *options], capture_output=True, text=True,
                          check=False)
    assert done.returncode == 2
    assert what in done.stderr


def test_help_names_every_option():
    done = subprocess.run([BRIDGE, "--help"], capture_output=True, text=True,
                          check=False)
    assert done.returncode == 0
    for option in ("--server", "--bot", "--token-file", "--play", "--slots",
                   "--matches", "--log-dir", "--no-log", "--chdir", "--quiet"):
        assert option in done.stdout
    # What this build cannot do is told by it.
    assert ("portable build" in done.stdout) == is_portable()


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, *sys.argv[1:]]))
