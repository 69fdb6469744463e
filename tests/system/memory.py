# SPDX-License-Identifier: MIT
"""What memory a process has, now and at its most."""
import pathlib
import re


def status_kib(process, name):
    status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    return int(re.search(rf"{name}:\s+(\d+) kB", status)[1])


def rss_kib(process):
    return status_kib(process, "VmRSS")


class Peak:
    """From its making on, how far the memory of PROCESS went above what it was."""

    def __init__(self, process):
        self.process = process
        self.before = rss_kib(process)
        pathlib.Path(f"/proc/{process.pid}/clear_refs").write_text("5")

    def growth_kib(self):
        return status_kib(self.process, "VmHWM") - self.before
