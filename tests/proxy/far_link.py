# SPDX-License-Identifier: MIT
"""A network of one's own whose packets take their time, or get lost.

usage: unshare --net --map-root-user python3 far_link.py SOCKET RTT_MS

A TCP proxy cannot lengthen the round trip that the server's kernel measures:
its own kernel acknowledges at once. So here it is the packets that are held
back. In a fresh network namespace 10.9.0.0/24 is a TUN device. This program
reads what is sent to 10.9.0.2, holds it for half the RTT, swaps the two
addresses (which leaves all checksums right) and puts it back: who connects to
10.9.0.2 reaches what listens on 10.9.0.1, and its answers come the same way.

Prints `ready` and serves SOCKET, a line a command:
  connect PORT   a connection to 10.9.0.2:PORT, passed as a descriptor
  silence        all packets are lost from here on
  speak          they are not
Ends with its standard input.
"""
import collections
import fcntl
import os
import select
import socket
import struct
import sys
import threading
import time

TUNSETIFF, SIOCSIFADDR, SIOCSIFFLAGS, SIOCSIFNETMASK = (
    0x400454ca, 0x8916, 0x8914, 0x891c)
IFF_UP, IFF_TUN, IFF_NO_PI = 1, 1, 0x1000
HERE, THERE = "10.9.0.1", "10.9.0.2"


def bring_up(name, address=None):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        def set_address(request, text):
            fcntl.ioctl(control, request, struct.pack(
                "16sHH4s8x", name, socket.AF_INET, 0, socket.inet_aton(text)))
        if address is not None:
            set_address(SIOCSIFADDR, address)
            set_address(SIOCSIFNETMASK, "255.255.255.0")
        fcntl.ioctl(control, SIOCSIFFLAGS,
                    struct.pack("16sH14x", name, IFF_UP))


def open_tun():
    tun = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(tun, TUNSETIFF,
                struct.pack("16sH22x", b"far0", IFF_TUN | IFF_NO_PI))
    bring_up(b"lo")
    bring_up(b"far0", HERE)
    return tun


class Line:
    def __init__(self, tun, rtt_ms):
        self.tun, self.one_way_s = tun, rtt_ms / 2000
        self.is_silent = False
        self.packets = collections.deque()  # (due, packet)

    def read(self):
        while True:
            try:
                packet = os.read(self.tun, 65536)
            except BlockingIOError:
                return
            if packet[0] >> 4 != 4 or self.is_silent:
                continue
            turned = packet[:12] + packet[16:20] + packet[12:16] + packet[20:]
            self.packets.append((time.monotonic() + self.one_way_s, turned))

    def run(self):
        while True:
            wait = None
            if self.packets:
                wait = max(0, self.packets[0][0] - time.monotonic())
            if select.select([self.tun], [], [], wait)[0]:
                self.read()
            while self.packets and self.packets[0][0] <= time.monotonic():
                _, packet = self.packets.popleft()
                if not self.is_silent:
                    os.write(self.tun, packet)


def serve(listener, line):
    while True:
        client, _ = listener.accept()
        with client:
            word, *rest = client.recv(100).decode().split()
            if word == "connect":
                link = socket.create_connection((THERE, int(rest[0])), 30)
                socket.send_fds(client, [b"ok"], [link.fileno()])
                link.close()
            else:
                line.is_silent = word == "silence"
                client.sendall(b"ok")


def main():
    path, rtt_ms = sys.argv[1:]
    sys.setswitchinterval(0.0005)
    line = Line(open_tun(), float(rtt_ms))
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen()
    for work in (line.run, lambda: serve(listener, line)):
        threading.Thread(target=work, daemon=True).start()
    print("ready", flush=True)
    sys.stdin.read()


main()
