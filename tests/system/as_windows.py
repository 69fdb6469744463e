# SPDX-License-Identifier: MIT
"""Runs hill_bridge.py as if on Windows, as far as that can be told from here.

    as_windows.py SCRIPT ARG...

What Python on Windows lacks is taken away, what is other there is made so:
select() takes sockets and at least one, socketpair() is a pair of TCP, a
program is a handle with an exit code of 32 bits that no signal tells. What it
cannot show: line ends of text files, quoting, and the names of files.
"""
# Everything that the bridge and these need themselves, before it is changed.
import base64  # noqa: F401
import collections  # noqa: F401
import json  # noqa: F401
import os
import pathlib
import random  # noqa: F401
import runpy
import select
import selectors
import shlex  # noqa: F401
import shutil  # noqa: F401
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading  # noqa: F401

LACKING = {
    os: ("fork forkpty killpg setpgid getpgid setsid set_blocking get_blocking fchmod fchown "
         "mkfifo nice uname getuid geteuid setuid pread pwrite WIFSIGNALED WTERMSIG WEXITSTATUS "
         "posix_spawn pipe2 sched_getaffinity statvfs O_CLOEXEC O_NOFOLLOW O_DIRECTORY O_NONBLOCK"),
    signal: ("SIGKILL SIGHUP SIGCHLD SIGPIPE SIGQUIT SIGUSR1 SIGUSR2 SIGALRM SIGXFSZ alarm "
             "pthread_sigmask pthread_kill sigwait setitimer siginterrupt pause"),
    select: "poll epoll EPOLLIN POLLIN",
    socket: "AF_UNIX TCP_USER_TIMEOUT",
}
KILL, POPEN, SELECT = signal.SIGKILL, subprocess.Popen, select.select
# It stands for taskkill: the bridge calls it by its name.
TASKKILL = f"""#!/usr/bin/python3
import os, sys
number = sys.argv[sys.argv.index("/PID") + 1]
assert sys.argv[1:] == ["/PID", number, "/T", "/F"], sys.argv
os.killpg(int(number), {int(KILL)})
"""


class Process(POPEN):
    """A process as Windows knows it."""

    def __init__(self, argv, creationflags=0, **options):
        assert "pass_fds" not in options and "preexec_fn" not in options
        super().__init__(argv, start_new_session=creationflags != 0, **options)

    def wait(self, timeout=None):
        code = super().wait(timeout)
        # A crash has a code like this, a kill the killer's.
        return code if code >= 0 else 1 if code == -KILL else 0xC0000005

    def send_signal(self, sig):
        assert sig == signal.CTRL_BREAK_EVENT, sig
        super().send_signal(signal.SIGTERM)

    def kill(self):
        super().send_signal(KILL)


def tcp_pair():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        one = socket.create_connection(listener.getsockname())
        return one, listener.accept()[0]


def select_sockets(*lists):
    *sets, _ = lists if len(lists) == 4 else (*lists, None)
    numbers = [one if isinstance(one, int) else one.fileno() for group in sets for one in group]
    assert numbers, "Windows' select() wants one at least"
    for number in numbers:
        assert stat.S_ISSOCK(os.fstat(number).st_mode), "Windows' select() wants sockets"
    return SELECT(*lists)


def main():
    sys.argv = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        tool = pathlib.Path(folder) / "taskkill"
        tool.write_text(TASKKILL)
        tool.chmod(0o755)
        os.environ["PATH"] = f"{folder}:{os.environ['PATH']}"
        for module, names in LACKING.items():
            for name in names.split():
                if hasattr(module, name):
                    delattr(module, name)
        signal.CTRL_BREAK_EVENT, subprocess.CREATE_NEW_PROCESS_GROUP = 1, 0x200
        subprocess.Popen = Process
        socket.socketpair = tcp_pair
        select.select = select_sockets
        selectors.DefaultSelector = selectors.SelectSelector
        selectors.SelectSelector._select = staticmethod(  # pylint: disable=protected-access
            lambda r, w, _, timeout=None: select_sockets(r, w, [], timeout))
        os.name, sys.platform = "nt", "win32"
        runpy.run_path(sys.argv[0], run_name="__main__")


main()
