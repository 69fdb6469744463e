# SPDX-License-Identifier: MIT
"""Lines to hilld that have faults: tests/proxy as fixtures' helpers."""
import ctypes
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile

from conftest import BUILD, TOP, WAIT_S, Peer

PROXY = BUILD / "tests/proxy/fault-proxy"
FAR_LINK = TOP / "tests/proxy/far_link.py"
CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000


class Proxy:
    """A TCP proxy to PORT; OPTIONS as delay=20, loss="up:1"."""

    def __init__(self, port, **options):
        words = [f"--{name.replace('_', '-')}={value}"
                 for name, value in options.items()]
        self.process = subprocess.Popen(
            [PROXY, f"--target={port}", *words], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.port = int(re.fullmatch(r"listening (\d+)\n",
                                     self.process.stdout.readline())[1])

    def tell(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def stats(self):
        return {name: int(value)
                for name, value in re.findall(r"(\w+)=(\d+)",
                                              self.tell("stats"))}

    def stop(self):
        _, errors = self.process.communicate(timeout=WAIT_S)
        assert (self.process.returncode, errors) == (0, "")


class FarPeer(Peer):
    """As Peer, on a connection that is there."""

    def __init__(self, link):  # pylint: disable=super-init-not-called
        self.socket = link
        link.settimeout(WAIT_S)
        self.lines = link.makefile("rb")
        self.offered = []


class FarLink:
    """A network whose packets take their time. OSError where there is none."""

    def __init__(self, rtt_ms):
        self.folder = tempfile.TemporaryDirectory(prefix="far-")
        self.path = pathlib.Path(self.folder.name) / "sock"
        try:
            self.process = subprocess.Popen(
                ["unshare", "--net", "--map-root-user", sys.executable,
                 str(FAR_LINK), str(self.path), str(rtt_ms)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, text=True)
        except OSError:
            self.folder.cleanup()
            raise
        if self.process.stdout.readline() != "ready\n":
            raise OSError(self.stop().strip().splitlines()[-1:])

    def enter(self):
        """For a process that is about to become hilld."""
        libc = ctypes.CDLL(None, use_errno=True)
        for name, kind in (("user", CLONE_NEWUSER), ("net", CLONE_NEWNET)):
            namespace = os.open(f"/proc/{self.process.pid}/ns/{name}",
                                os.O_RDONLY)
            if libc.setns(namespace, kind) < 0:
                raise OSError(ctypes.get_errno(), f"setns {name}")

    def tell(self, command):
        with socket.socket(socket.AF_UNIX) as control:
            control.settimeout(WAIT_S)
            control.connect(str(self.path))
            control.sendall(command.encode())
            told, fds, _, _ = socket.recv_fds(control, 10, 1)
        assert told == b"ok"
        return fds

    def peer(self, server):
        [fd] = self.tell(f"connect {server.port}")
        server.peers.append(FarPeer(socket.socket(fileno=fd)))
        return server.peers[-1]

    def stop(self):
        _, errors = self.process.communicate(timeout=WAIT_S)
        self.folder.cleanup()
        return errors
