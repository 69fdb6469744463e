# SPDX-License-Identifier: MIT
"""hill_bridge.py keeps its promise: Python 3.8, Windows, and POSIX alone."""
import ast
import importlib.util
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import types

import pytest

from bridges import COMMANDS, ECHO, SCRIPT, TOP, alive, finish, gone_within, script

TREE = ast.parse(SCRIPT.read_text())
# What came after Python 3.8: modules; functions, methods and members; arguments.
MODULES = {"graphlib", "zoneinfo", "tomllib"}
NAMES = set(
    "removeprefix removesuffix randbytes pidfd_open pidfd_send_signal waitstatus_to_exitcode "
    "send_fds recv_fds to_thread is_relative_to with_stem BooleanOptionalAction cache lcm "
    "nextafter ulp unparse "  # 3.9
    "pairwise bit_count anext aiter eventfd splice orig_argv stdlib_module_names hardlink_to "
    "UTC StrEnum add_note file_digest getencoding TaskGroup cbrt exp2 "  # 3.10, 3.11
    "batched sumprod is_junction listdrives override process_cpu_count from_uri full_match".split())
KEYWORDS = set("cancel_futures usedforsecurity user group extra_groups umask strict pipesize "
               "root_dir kw_only process_group onexc delete_on_close".split())


def test_its_grammar_is_python_38():
    ast.parse(SCRIPT.read_text(), feature_version=(3, 8))
    with pytest.raises(SyntaxError):
        ast.parse("match x:\n    case 1: pass\n", feature_version=(3, 8))
    # What feature_version lets through: with (a, b):, and a decorator's new grammar.
    for node in ast.walk(TREE):
        if isinstance(node, ast.With):
            line = SCRIPT.read_text().splitlines()[node.lineno - 1]
            assert not re.match(r"\s*with \(.*,\s*$", line), line
        for one in getattr(node, "decorator_list", ()):
            assert not isinstance(one, (ast.Subscript, ast.Lambda, ast.BinOp)), node.lineno


def test_it_calls_nothing_that_python_38_lacks():
    found = []
    for node in ast.walk(TREE):
        if isinstance(node, ast.Attribute):
            found += [node.attr] if node.attr in NAMES else []
        elif isinstance(node, ast.Call):
            found += [word.arg for word in node.keywords if word.arg in KEYWORDS]
        elif isinstance(node, ast.Import):
            found += [one.name for one in node.names
                      if one.name in MODULES or one.name not in sys.stdlib_module_names]
        elif isinstance(node, ast.ImportFrom):
            found.append(f"from {node.module}: its names are not looked at")
        elif isinstance(node, (ast.AnnAssign, ast.arg)) and node.annotation:
            found.append(f"annotation in line {node.lineno}")  # list[int] and the like
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            if any(isinstance(side, (ast.Dict, ast.DictComp)) for side in
                   (node.left, node.right)):
                found.append(f"dict | dict in line {node.lineno}")
    assert not found


@pytest.fixture(scope="module")
def module():
    spec = importlib.util.spec_from_file_location("hill_bridge", SCRIPT)
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def test_windows_devices_are_no_files(module):
    for name in ("nul", "CON", "com1.txt", "lpt9", "Aux.map", "map."):
        assert module.is_file_name(name) and not module.is_file_name(name, is_posix=False)
    for name in ("test.map", "null", "com", "common.map", "a.con"):
        assert module.is_file_name(name, is_posix=False)
    for name in ("../x", ".x", "-x", "", "a b", "x" * 65, "a:b"):
        assert not module.is_file_name(name)


def test_windows_exit_codes_are_told_as_the_server_takes_them(module):
    assert module.windows_status(0, False) == ("exit", 0)
    assert module.windows_status(3, False) == ("exit", 3)
    assert module.windows_status(0xC0000005, False) == ("exit", 255)
    assert module.windows_status(1, True) == ("signal", 9)


def test_windows_starts_a_script_by_python(module):
    assert module.is_script("Bot.PY", is_posix=False)
    assert not module.is_script("bot.exe", is_posix=False) and not module.is_script("bot.py")


def test_a_program_may_end_before_all_its_threads_are_there(module, monkeypatch):
    """On every system: the slot would wait for its end for ever."""
    def eager(target):
        started = threading.Thread(target=target, daemon=True)
        started.start()
        if target.__name__ == "await_end":
            started.join(10)
        return started

    monkeypatch.setattr(module, "thread", eager)
    options = types.SimpleNamespace(chdir=False, quiet=True, no_log=True)
    slot = types.SimpleNamespace(app=types.SimpleNamespace(options=options), ring=lambda: None,
                                 tell_gone=lambda *_: False, reply=lambda *_: None)
    match = types.SimpleNamespace(is_whole=False, line_max=100)
    assert module.Program(slot, match, ["true"], None).dead


@pytest.fixture
def elsewhere(token, tmp_path, monkeypatch):
    """The Python bridge takes this for a POSIX system that is not Linux."""
    text = SCRIPT.read_text().replace('IS_LINUX = sys.platform.startswith("linux")',
                                      "IS_LINUX = False")
    assert "IS_LINUX = False\n" in text
    monkeypatch.setitem(COMMANDS, "python", [sys.executable, script(tmp_path, text, "bridge.py")])


@pytest.mark.parametrize("kind", ["python"])
@pytest.mark.usefixtures("elsewhere")
@pytest.mark.parametrize("has_ps", [True, False])
def test_elsewhere_the_next_match_waits_no_longer_than_for_the_last_one(
        hill, bridge, tmp_path, monkeypatch, has_ps):
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("sh", "sleep", "cat", *(["ps"] if has_ps else [])):
        (tools / name).symlink_to(shutil.which(name))
    monkeypatch.setenv("PATH", str(tools))
    # One in its group that has lost its parent, one with a group of its own.
    bot = script(tmp_path, "import os, subprocess, sys\n"
                 "one = subprocess.Popen(['sh', '-c', 'trap \"\" TERM; sleep 987 & echo $!'])\n"
                 "one.wait()\n"
                 "two = subprocess.Popen(['sleep', '987'], start_new_session=True)\n"
                 "print(two.pid, flush=True)\n"
                 "sys.stdin.read()\n")
    bridge(sys.executable, bot, options=("--no-log",))
    hill.greet()
    hill.start(7)
    pids = [int(hill.line()), int(hill.line())]
    begun = time.monotonic()
    hill.end(7, stop="exit")
    hill.offer(8)
    # 2 s of patience with the program, and a look or two at the processes.
    assert time.monotonic() - begun < 7
    assert not alive(pids[0])
    if has_ps:
        assert gone_within(pids, 3)
    elif alive(pids[1]):
        os.kill(pids[1], signal.SIGKILL)


@pytest.fixture
def windows(hill, token, tmp_path):
    """start(program words, options): a bridge that takes this for Windows."""
    started = []

    def start(*program, options=(), **env):
        started.append(subprocess.Popen(
            [sys.executable, TOP / "tests/system/as_windows.py", SCRIPT, "--server",
             f"127.0.0.1:{hill.port}", "--bot", "crazy", "--token-file", token, "--play",
             "ladder", *options, "--", *map(str, program)],
            cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={"PATH": "/usr/bin:/bin", "TMPDIR": str(tmp_path), **env}))
        return started[-1]

    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()


def test_a_match_is_played_without_what_windows_lacks(hill, windows, tmp_path):
    process = windows(script(tmp_path, ECHO))
    hill.greet()
    for match in (7, 8):
        hill.start(match, "one", files=[("test.map", "##\n")], args="test.map")
        assert hill.line() == "got one"
        hill.end(match, stop=("term", "eof")[match - 7], score=23)
    hill.offer(9)
    hill.say("@cancel 9 reason=lost")
    out, err = finish(process)
    assert out.count("score 23, finished; ") == 2, out + err
    assert list(tmp_path.glob("hill-bridge-*")) == []


def test_a_crash_on_windows_is_gone_at_once(hill, windows, tmp_path):
    process = windows(script(tmp_path, "import os, signal\nos.kill(os.getpid(), 11)\n"))
    hill.greet()
    hill.start(7, "one")
    hill.expect("@gone 7 exit=255")
    hill.end(7, reason="gone")
    finish(process)


def test_on_windows_who_overstays_is_killed_and_gone(hill, windows, tmp_path):
    process = windows(script(tmp_path, "import signal, time\n"
                             "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
                             "print('LLR', flush=True)\ntime.sleep(60)\n"))
    hill.greet()
    hill.offer(7, **{"whole-input": 1, "grace-ms": 100})
    hill.say("@start 7", "@input lines=1 text bytes=2", "#")
    time.sleep(1)
    hill.say("@interrupt 7")
    hill.expect("@gone 7 signal=9")
    hill.end(7, reason="gone")
    finish(process)


def test_what_a_console_cannot_show_is_told_all_the_same(hill, windows, tmp_path):
    process = windows(script(tmp_path, ECHO), PYTHONIOENCODING="cp1252")
    hill.greet()
    hill.start(7, "one")
    hill.expect("got one")
    hill.end(7, reason="\u540d")
    out, err = finish(process)
    assert "score 0, \\u540d; " in out, out + err
