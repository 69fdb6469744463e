# SPDX-License-Identifier: MIT
"""deploy/: what a host runs first."""
import pathlib
import subprocess

TOP = pathlib.Path(__file__).resolve().parents[2]


def install_deps(*options, **env):
    return subprocess.run([TOP / "deploy/install-deps", *options],
                          capture_output=True, text=True, check=False,
                          env={"PATH": "/usr/bin:/bin", **env})


def test_install_deps_finds_everything_once_installed():
    done = install_deps("--test")
    assert done.returncode == 0
    assert done.stdout == "install-deps: everything is there\n"


def test_install_deps_says_what_it_would_do(tmp_path):
    # A dpkg-query that knows nothing stands for the bare machine.
    fake = tmp_path / "dpkg-query"
    fake.write_text("#!/bin/sh\nexit 1\n")
    fake.chmod(0o755)
    done = install_deps("--dry-run", PATH=f"{tmp_path}:/usr/bin:/bin")
    assert done.returncode == 0
    for package in ("gcc", "libc6-dev", "meson", "libevent-dev"):
        assert f" {package}" in done.stdout
    assert "libcmocka-dev" not in done.stdout


def test_install_deps_refuses_an_unknown_option():
    done = install_deps("--tset")
    assert done.returncode == 2
    assert "--tset" in done.stderr
