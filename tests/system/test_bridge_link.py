# SPDX-License-Identifier: MIT
"""hill-bridge: its link to the server, and the words on it."""
import pathlib
import re
import signal
import socket
import struct
import subprocess
import time

import pytest

from bridges import (COMMANDS, ECHO, IS_LONG, PYTHON, TOKEN, appears, finish, gone_within,
                     script)
from memory import Peak, rss_kib


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


def test_bc41_a_server_that_is_faster_waits_for_the_program(
        hill, bridge, tmp_path):
    awake, size = tmp_path / "awake", 40 << 20
    process = bridge(PYTHON, script(
        tmp_path, "import os, sys, time\n"
        "print('up', flush=True)\n"
        f"while not os.path.exists({str(awake)!r}): time.sleep(0.02)\n"
        f"left = {size}\n"
        "while left > 0: left -= len(sys.stdin.buffer.read1(1 << 20))\n"
        "print(left, flush=True)\n"))
    hill.greet()
    hill.start(7)
    assert hill.line() == "up"
    peak = Peak(process)
    burst = memoryview((b"x" * 1023 + b"\n") * (size >> 10))
    hill.link.settimeout(0.5)  # nobody takes anything for so long
    sent = 0
    try:
        while sent < size:
            sent += hill.link.send(burst[sent:sent + (1 << 20)])
    except TimeoutError:
        pass
    assert sent < size
    hill.link.settimeout(30)
    awake.touch()
    hill.link.sendall(burst[sent:])
    assert hill.line(timeout=30) == "0"
    # What a program has not read waits in bounded buffers, and not all of it.
    assert peak.growth_kib() < 28 * 1024


def test_a_flood_costs_no_memory_and_the_next_match_plays(
        hill, bridge, tmp_path):
    process = bridge("sh", "-c", "read a; if [ $a = flood ]; then "
                     "while :; do head -c 1000000 /dev/zero; done; fi; "
                     "echo $a; read b")
    hill.greet()
    hill.start(7, "flood")
    time.sleep(0.5)
    # A sanitizer's own memory is most of this.
    assert rss_kib(process) < 100 * 1024
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
    ("cat >/dev/null; echo OOM; exit 1", "@gone 7 exit=1"),
    ("cat >/dev/null; echo MOLE", "L"),
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


def test_an_interrupt_lets_a_program_answer(hill, bridge, tmp_path):
    bridge("sh", "-c", "trap 'echo LLD; exit 0' INT; : >up; "
           "while :; do sleep 0.05; done")
    hill.greet()
    hill.start(7, "@input lines=1 text bytes=3", "#R", **{"whole-input": 1})
    assert appears(tmp_path / "up")
    hill.say("@interrupt 7")
    assert hill.line() == "LLD"


def test_a_whole_output_is_as_long_as_its_commands(hill, bridge, tmp_path):
    bot = script(tmp_path, "import sys\nsys.stdin.read()\nfor step in range(20000):\n"
                 "    print('step', step, 'DL' if step % 10000 == 0 else '')\n")
    process = bridge(PYTHON, bot)
    hill.greet()
    hill.start(7, "@input lines=1 text bytes=3", "#R", **{"whole-input": 1, "line-max": 100})
    assert hill.line() == "DLDL"
    hill.end(7)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert 'bytes that are no command (first: "step")' in err


@pytest.mark.parametrize("keys", [{"whole-input": 1}, {}])
def test_who_ignores_an_interrupt_is_killed_after_its_grace(hill, bridge, tmp_path, keys):
    bridge("sh", "-c", "trap '' INT; echo LLD; : >up; while :; do sleep 0.05; done")
    hill.greet()
    hill.start(7, **{"grace-ms": 300, **keys})
    assert appears(tmp_path / "up")
    if not keys:
        assert hill.line() == "LLD"
    begun = time.monotonic()
    hill.say("@interrupt 7")
    hill.expect("@gone 7 signal=9", timeout=10)
    assert time.monotonic() - begun > 0.25


def test_an_interrupt_of_another_match_costs_nothing(hill, bridge):
    bridge("sh", "-c", "while read line; do echo $line; done")
    hill.greet()
    hill.start(8, "one", **{"grace-ms": 0})
    assert hill.line() == "one"
    hill.say("@interrupt 7", "two")
    assert hill.line() == "two"


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


@pytest.mark.parametrize("reason", ["finished", "suspended"])
def test_after_ctrl_c_a_match_still_gets_its_result(hill, bridge, odd, reason):
    process = bridge("cat")
    hill.greet()
    hill.start(7, "one", seats=2)
    assert hill.line() == "one"
    if reason == "suspended":
        hill.say("@end 7 stop=term reason=suspended")
    process.send_signal(signal.SIGINT)
    hill.expect("@leave")
    # The match lasts; so does that of the others, when this seat is out.
    odd["clock"].write_text("31")
    if reason == "finished":
        hill.say("@end 7 stop=term reason=finished")
    else:
        hill.say("@ping")
        assert hill.line() == "@pong"
    time.sleep(1.2)
    hill.say("@place 7 seat=1 bot=crazy score=5 rank=2", "@result 7 score=5")
    # A pause of Python's threads ends by the kernel's clock, which is not put
    # forward: it may last the 31 s longer.
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0
    assert f"match 7 ladder: rank 2 of 2, score 5, {reason}" in out
    assert "finishing the matches that run" in err


def test_a_result_that_never_comes_is_not_waited_for(hill, bridge, odd):
    process = bridge("cat")
    hill.greet()
    hill.start(7, "one", seats=2)
    assert hill.line() == "one"
    process.send_signal(signal.SIGINT)
    hill.expect("@leave")
    hill.say("@end 7 stop=term reason=finished", "@ping")
    assert hill.line() == "@pong"
    time.sleep(1.2)
    assert process.poll() is None
    odd["clock"].write_text("31")
    hill.say("@ping")
    _, err = process.communicate(timeout=20)
    assert process.returncode == 0
    assert "match 7 is lost: no result came\n" in err


def test_chdir_gives_each_match_a_folder_of_its_own(hill, bridge, tmp_path):
    script(tmp_path, "import os, sys\nfor line in sys.stdin:\n    print(os.getcwd(), flush=True)\n")
    process = bridge(PYTHON, "bot.py", options=["--chdir"])
    hill.greet()
    folders = []
    for match in (7, 8):
        hill.start(match, "one")
        folders.append(pathlib.Path(hill.line()))
        hill.end(match)
    process.send_signal(signal.SIGINT)
    assert process.wait(20) == 0
    assert len({tmp_path, *folders}) == 3 and not any(folder.exists() for folder in folders)


def test_a_file_that_cannot_be_kept_is_not_played_on(hill, bridge, tmp_path):
    # The match's folder can be made there, and no long name within.
    folder = tmp_path
    while len(str(folder)) < 4000:
        folder /= "x" * min(200, 4039 - len(str(folder)))
    folder.mkdir(parents=True)
    process = bridge("cat", env={"TMPDIR": str(folder)})
    hill.greet()
    hill.offer(7)
    hill.say(f"@file {'a' * 64} lines=1 text bytes=4", "abc")
    _, err = process.communicate(timeout=20)
    assert process.returncode == 1
    assert "cannot " in err


def test_a_program_ends_though_its_child_prints_for_ever(hill, bridge):
    process = bridge("sh", "-c", "yes & exit 3")
    hill.greet()
    hill.start(7, "one")
    while (line := hill.line()) != "@gone 7 exit=3":
        assert line == "y"
    hill.end(7, reason="gone")
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    assert process.returncode == 0


def test_a_match_that_crosses_the_leave_costs_no_result(hill, bridge):
    process = bridge("cat")
    hill.greet()
    hill.start(7, "one", seats=2)
    assert hill.line() == "one"
    hill.say("@end 7 stop=term reason=suspended")
    process.send_signal(signal.SIGINT)
    hill.expect("@leave")
    hill.say("@match 8 ladder=ladder game=toy seat=1 seats=1 line-max=100")
    hill.expect("@resign 8")
    hill.say("@cancel 8 reason=resigned : declined",
             "@place 7 seat=1 bot=crazy score=5 rank=2", "@result 7 score=5")
    out, _ = process.communicate(timeout=20)
    assert process.returncode == 0
    assert "match 7 ladder: rank 2 of 2, score 5, suspended" in out


@pytest.mark.parametrize("said, status", [
    (["@error ladder-disabled : the host has closed it", "@left ladder"], 1),
    (["@left ladder"], 0)])
def test_a_match_outlives_its_ladder(hill, bridge, tmp_path, said, status):
    process = bridge(PYTHON, script(tmp_path, ECHO))
    hill.greet()
    hill.start(7, "one")
    assert hill.line() == "got one"
    hill.say(*said)
    hill.expect("@leave")
    hill.say("two")
    assert hill.line() == "got two"
    hill.end(7, score=5)
    out, err = process.communicate(timeout=20)
    assert process.returncode == status
    assert "score 5" in out and "lost" not in err


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


def test_a_refusal_that_names_a_time_is_not_for_good(hill, bridge):
    bridge("cat")
    hill.accept()
    hill.say("@hill 1 here")
    hill.line()
    hill.say("@error bot-disabled retry-after=1 : till noon")
    hill.link.close()
    hill.greet()


def test_when_no_match_starts_a_lost_link_is_taken_up_at_once(hill, bridge):
    process = bridge("cat")
    hill.greet()
    hill.say("@error no-new-matches retry-after=600 : nobody else is there", "@ping")
    assert hill.line() == "@pong"
    hill.link.close()
    lines = [process.stderr.readline() for _ in range(3)]
    assert "waits on ladder" in lines[0] and "no-new-matches" in lines[1]
    assert float(re.search(r"link lost; trying again in ([\d.]+) s", lines[2])[1]) < 1.5
    hill.greet()


def test_a_ping_gets_its_word_back(hill, bridge):
    bridge("cat")
    hill.greet()
    hill.say("@ping are-you-there", "@ping")
    assert hill.line() == "@pong are-you-there"
    assert hill.line() == "@pong"


def test_a_name_that_is_lost_meanwhile_is_asked_for_again(hill, bridge, odd):
    odd["hosts"].write_text("127.0.0.1")
    process = bridge("cat", options=("--server", f"odd.test:{hill.port}"))
    hill.greet()
    odd["hosts"].write_text("fail")
    hill.link.close()
    assert "waits on ladder" in process.stderr.readline()
    assert "link lost" in process.stderr.readline()
    assert f"cannot reach odd.test:{hill.port}: " in process.stderr.readline()
    odd["hosts"].write_text("127.0.0.1")
    hill.greet()
    odd["hosts"].write_text("fail")
    other = bridge("cat", options=("--server", f"odd.test:{hill.port}"))
    assert other.wait(20) == 1


def test_a_slow_name_server_costs_no_other_match_a_turn(hill, bridge, odd):
    odd["hosts"].write_text("127.0.0.1")
    bridge("cat", options=("--server", f"odd.test:{hill.port}", "--slots", "2"))
    hill.greet()
    other = hill.link
    hill.greet()
    hill.start(7, "one")
    assert hill.line() == "one"
    odd["hosts"].write_text("sleep 4000 127.0.0.1")
    other.close()  # it comes back within a second
    for number in range(30):
        hill.say(f"line {number}")
        assert hill.line(timeout=2) == f"line {number}"
        time.sleep(0.1)


@pytest.mark.skipif(not IS_LONG, reason="a minute of waiting")
def test_it_comes_back_within_half_a_minute(hill, bridge):
    hill.listener.close()
    process = bridge("cat")
    waits = [float(re.search(r"trying again in ([\d.]+) s", process.stderr.readline())[1])
             for _ in range(8)]
    assert waits[0] < 1 and 15 < waits[-1] <= 30


def test_waits_no_longer_than_an_hour(hill, bridge):
    process = bridge("cat")
    hill.accept()
    hill.say("@hill 1 here")
    hill.line()
    hill.say("@error server-full retry-after=999999999 : full")
    hill.link.close()
    assert "server-full" in process.stderr.readline()
    assert "trying again in 3600.0 s" in process.stderr.readline()


def test_one_refused_ladder_ends_it_all(hill, bridge):
    process = bridge("cat", options=("--play", "other"))
    hill.accept()
    hill.say("@hill 1 here")
    hill.line()
    hill.say("@welcome crazy")
    assert hill.line() == "@play ladder"
    assert hill.line() == "@play other"
    hill.say("@queued ladder waiting=1", "@error unknown-ladder : no such")
    assert process.wait(5) == 1


def test_a_server_that_is_not_there_is_named(hill, bridge):
    hill.listener.close()
    process = bridge("cat")
    line = process.stderr.readline()
    assert line == f"hill-bridge: cannot reach 127.0.0.1:{hill.port}: " \
        "Connection refused; trying again in 0.5 s\n"
    _, err = finish(process)
    assert "hill-bridge: stopping\n" in err and "finishing" not in err


def test_an_impossible_address_is_not_tried_again(kind, token):
    done = subprocess.run(
        [*COMMANDS[kind], "--server", "127.0.0.1:no-such-port", "--bot", "crazy",
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


def offer_of_set(hill, match, number, count, its_round=7):
    hill.say(f"@match {match} ladder=ladder game=toy seat=1 seats={count} line-max=100 rated=1"
             f" round={its_round} set={number}/{count}")


def test_a_limit_on_matches_ends_no_set_in_its_middle(hill, bridge, tmp_path):
    process = bridge(PYTHON, script(tmp_path, ECHO), options=("--matches", "1"))
    hill.greet()
    for number in (1, 2, 3):
        offer_of_set(hill, 6 + number, number, 3)
        if number == 3:
            assert hill.line() == "@leave"
        hill.expect(f"@ready {6 + number}")
        hill.say(f"@start {6 + number}", "one")
        assert hill.line() == "got one"
        hill.end(6 + number)
    out, _ = process.communicate(timeout=5)
    assert process.returncode == 0
    assert out.count("\n") == 3


def test_the_first_ctrl_c_finishes_the_set(hill, bridge, tmp_path):
    process = bridge(PYTHON, script(tmp_path, ECHO))
    hill.greet()
    offer_of_set(hill, 7, 1, 2)
    hill.expect("@ready 7")
    hill.say("@start 7", "one")
    assert hill.line() == "got one"
    process.send_signal(signal.SIGINT)
    while "finishing the matches that run" not in process.stderr.readline():
        pass
    hill.say("two")
    assert hill.line() == "got two"
    hill.end(7)
    offer_of_set(hill, 8, 2, 2)
    assert hill.line() == "@leave"
    hill.expect("@ready 8")
    hill.say("@start 8", "one")
    assert hill.line() == "got one"
    hill.end(8)
    assert process.wait(5) == 0


def test_a_set_that_is_void_is_not_waited_for(hill, bridge, tmp_path):
    process = bridge(PYTHON, script(tmp_path, ECHO), options=("--matches", "1"))
    hill.greet()
    offer_of_set(hill, 7, 1, 2)
    hill.expect("@ready 7")
    hill.say("@start 7", "one")
    assert hill.line() == "got one"
    hill.end(7)
    offer_of_set(hill, 8, 2, 2)
    assert hill.line() == "@leave"
    hill.expect("@ready 8")
    hill.say("@cancel 8 reason=left queued=1 : the other has left")
    assert process.wait(5) == 0


def test_a_set_goes_on_after_a_lost_link(hill, bridge, tmp_path):
    process = bridge(PYTHON, script(tmp_path, ECHO), options=("--matches", "1"))
    hill.greet()
    offer_of_set(hill, 7, 1, 2)
    hill.expect("@ready 7")
    hill.say("@start 7", "one")
    assert hill.line() == "got one"
    hill.end(7)
    hill.link.close()
    hill.greet()
    offer_of_set(hill, 8, 2, 2)
    assert hill.line() == "@leave"
    hill.expect("@ready 8")
    hill.say("@start 8", "one")
    assert hill.line() == "got one"
    hill.end(8)
    assert process.wait(5) == 0


def test_a_pause_is_waited_for_and_the_other_ladder_goes_on(hill, bridge, tmp_path):
    process = bridge(PYTHON, script(tmp_path, ECHO), options=("--play", "other", "--matches", "1"))
    hill.accept()
    hill.say("@hill 1 here")
    hill.line()
    hill.say("@welcome crazy")
    hill.expect("@play ladder")
    hill.expect("@play other")
    hill.say("@error paused retry-after=1 : broke off too many", "@queued other waiting=1")
    begun = time.monotonic()
    hill.expect("@play ladder")
    assert 0.9 < time.monotonic() - begun < 4
    hill.say("@queued ladder waiting=1")
    hill.say("@match 7 ladder=ladder game=toy seat=1 seats=1 line-max=100")
    assert hill.line() == "@leave"
    hill.expect("@ready 7")
    hill.say("@start 7", "one")
    assert hill.line() == "got one"
    hill.end(7)
    assert process.wait(5) == 0
