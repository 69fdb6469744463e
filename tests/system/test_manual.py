# SPDX-License-Identifier: MIT
"""The manual pages say what --help says: no more and no less."""
import re
import shutil
import subprocess

import pytest

from test_completion import BUILD, PROGRAMS, commands, options, output


@pytest.mark.parametrize("program", PROGRAMS)
def test_manual_says_what_help_says(program):
    path, section = PROGRAMS[program]
    page = BUILD / f"doc/man/{program}.{section}"
    text = page.read_text()
    said = set(re.findall(r"^\.BR? (.*)$", text.replace("\\-", "-"), re.M))
    listed = set()
    for line in said:
        listed |= set(re.findall(r"(?:^|[ ,])(--[a-z-]+|-j)\b", line))
    helps = [output(BUILD / path, "--help")]
    if program == "hillctl":
        names = commands()
        helps += [output(BUILD / path, "help", *name.split()) for name in names]
        plain = text.replace("\\-", "-")
        assert [name for name in names if f".SS {name}" not in plain] == []
    wanted = set().union(*(options(one) for one in helps))
    assert listed == wanted
    for heading in ("NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS", "SEE ALSO"):
        assert f"\n.SH {heading}\n" in text, heading
    assert max(map(len, text.splitlines())) < 400
    if shutil.which("groff"):
        done = subprocess.run(["groff", "-man", "-ww", "-Tascii", page], capture_output=True,
                              text=True, check=False)
        assert done.returncode == 0 and done.stderr == ""
