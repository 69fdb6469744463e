# SPDX-License-Identifier: MIT
"""Builds hill with sanitizers and runs all of its tests.

Called by tests/run, which has installed what is needed. Every step's output
goes to a file of its own below build/; what fails is printed.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

TOP = pathlib.Path(__file__).resolve().parent.parent
GAMES = ("rabbit-runner", "image-battle", "lambda-mining")
FUZZ_SECONDS = 20
# Builds without sanitizers, for the golden games alone.
PLAIN = {"unoptimised": ["-Doptimization=0"],
         "release": ["--buildtype=release"]}
FIGURES = ("simulate-ladder", "ladder-pairing-fields")
BRIDGE_BYTES = 100_000  # what an author is asked to fetch, at most
SANITIZER_ENV = {
    "ASAN_OPTIONS": "detect_leaks=1:abort_on_error=1:detect_stack_use_after_return=1",
    "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
}
# The short form is built in two thirds of the time: -O1, line numbers and no
# more (-g1), gold in place of ld for the hundred and fifty programs. And
# thousands of processes start a fifth faster when their sanitizers' tables
# need not be relocated, and end 30 ms sooner when the look for leaks goes
# through the data of one sanitizer (5.5 MB), not of two libraries.
FAST_LINKER = ["-fuse-ld=gold"] if shutil.which("ld.gold") else []
ONE_SANITIZER = {"gcc": ["-static-libasan", "-static-libubsan"], "clang": []}
SHORT_BUILD = ["-Doptimization=1", "-Dc_args=-fno-pie -g1"]
SHORT_LINK = ["-no-pie", *FAST_LINKER]
LONG_BUILD = ["-Doptimization=2", "-Dc_args=", "-Dc_link_args="]
# To look for leaks takes as long as all else that hillctl does, thousands of
# times, and hilld has the same code: the short form leaves it out.
SHORT_ASAN = f"include_if_exists={TOP}/tests/sanitizers/%b.options"
# Four files of the system tests at once: most wait half of their time.
PYTEST = ["/usr/bin/python3", "-m", "pytest", "-q", "-rfEs", "-p", "no:cacheprovider"]
SHARED_OUT = ["-n", "4", "--dist", "loadfile"]
# In the long form these fill the machine or measure it, and go one by one; in
# the short form just the tests that are marked as alone.
ALONE = [f"tests/system/test_{name}.py" for name in (
    "bridge_check", "contestants", "kill", "links", "load", "proxy", "timing", "wire")]


class Tally:
    """What passed, failed and was skipped so far."""

    def __init__(self):
        self.passed = 0
        self.failed = 0
        self.skips = []

    def add(self, passed, failed, what, seconds, log):
        self.passed += passed
        self.failed += failed
        mark = "ok  " if failed == 0 else "FAIL"
        print(f"{mark} {what}: {passed} passed, {failed} failed "
              f"({seconds:.0f} s)", flush=True)
        if failed and log is not None:
            print_tail(log)

    def skip(self, what, count, why):
        self.skips.append((what, count, why))


def print_tail(log):
    lines = log.read_text(errors="replace").splitlines()
    print(f"---- the end of {log.relative_to(TOP)}:")
    print("\n".join(lines[-60:]))
    print("----", flush=True)


def run(command, log, env=None, timeout=1800):
    """Run COMMAND with its output in LOG; its exit status, -1 for a time-out."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with open(log, "ab") as out:
        try:
            return subprocess.run(command, cwd=TOP, stdout=out, stderr=out,
                                  stdin=subprocess.DEVNULL, check=False,
                                  env={**os.environ, **SANITIZER_ENV,
                                       **(env or {})},
                                  timeout=timeout).returncode
        except subprocess.TimeoutExpired:
            out.write(f"\nno end after {timeout} s\n".encode())
            return -1


def reference_dir():
    """The folder with golden/ and contests/ beside this project, or None."""
    named = os.environ.get("HILL_REFERENCE")
    folder = pathlib.Path(named) if named else TOP.parent / "shared"
    return folder if (folder / "golden").is_dir() else None


class Suite:
    """All tests with one compiler."""

    def __init__(self, compiler, tally, is_long):
        self.compiler = compiler
        self.tally = tally
        self.is_long = is_long
        self.build = TOP / "build" / f"test-{compiler}"
        self.logs = self.build / "log"

    def step(self, name, command, count=None, env=None, timeout=1800):
        """One step; COUNT(log text, status) gives (passed, failed)."""
        log = self.logs / f"{name.replace(' ', '-')}.log"
        log.unlink(missing_ok=True)
        begun = time.monotonic()
        status = run(command, log, env, timeout)
        passed, failed = (0, 0)
        if count is not None and log.exists():
            passed, failed = count(log.read_text(errors="replace"))
        if count is None:
            passed = 1 if status == 0 else 0
        if status != 0 and failed == 0:
            failed = 1
        self.tally.add(passed, failed, f"{self.compiler} {name}",
                       time.monotonic() - begun, log)
        return status == 0, log

    def configure(self):
        options = ["-Dwerror=true", "-Db_sanitize=address,undefined", "-Dtests=enabled"]
        if self.is_long:
            options += LONG_BUILD
        else:
            words = " ".join([*SHORT_LINK, *ONE_SANITIZER[self.compiler]])
            options += [*SHORT_BUILD, f"-Dc_link_args={words}"]
        if self.compiler == "clang":
            options += ["-Db_lundef=false"]
        again = ["--reconfigure"] if (self.build / "build.ninja").exists() \
            else []
        return self.step(
            "set-up", ["meson", "setup", *again, *options, str(self.build)],
            env={"CC": self.compiler})[0]

    def compile(self):
        # meson test builds what it needs, one target after the other asked
        # for; asking for all at once lets ninja use both cores.
        return self.step("build", ["ninja", "-C", str(self.build), "all",
                                   "meson-test-prereq"])[0]

    def meson_tests(self):
        record = self.build / "meson-logs" / "testlog.json"
        record.unlink(missing_ok=True)
        self.step("unit and golden tests",
                  ["meson", "test", "-C", str(self.build), "--no-rebuild",
                   "--print-errorlogs"],
                  count=lambda _: count_meson(record))
        print_figures(record)

    def reference_golden(self, reference):
        if reference is None:
            self.tally.skip("golden-check on the whole reference", 3,
                            "no reference data (HILL_REFERENCE, ../shared)")
            return
        self.golden("golden-check", reference / "golden")

    def golden(self, name, folder):
        """Each game against its recorded runs in FOLDER."""
        for game in GAMES:
            self.step(f"{name} {game}",
                      [str(self.build / "tests/golden/golden-check"), game,
                       str(folder / game)],
                      count=count_line)

    def system(self, reference):
        env = {"HILL_BUILD": str(self.build),
               "HILL_LONG": "1" if self.is_long else "",
               "PYTHONDONTWRITEBYTECODE": "1"}
        if reference is not None:
            env["HILL_REFERENCE"] = str(reference)
        if not self.is_long:
            env["ASAN_OPTIONS"] = f"{SANITIZER_ENV['ASAN_OPTIONS']}:{SHORT_ASAN}"
        alone, others = ["-m", "alone", "tests/system"], ["-m", "not alone"]
        if self.is_long:
            alone, others = ALONE, [f"--ignore={path}" for path in ALONE]
        self.pytest("system tests by themselves", alone, env)
        self.pytest("system tests", [*SHARED_OUT, "tests/system", *others], env)

    def pytest(self, name, words, env):
        _, log = self.step(name, [*PYTEST, *words], count=count_pytest, env=env, timeout=3600)
        for line in log.read_text(errors="replace").splitlines():
            found = re.match(r"SKIPPED \[(\d+)\] (\S+): (.*)", line)
            if found:
                self.tally.skip(found[2], int(found[1]), found[3])

    def run_all(self, reference):
        if not self.configure() or not self.compile():
            return
        self.meson_tests()
        self.reference_golden(reference)
        self.system(reference)


def count_meson(record):
    """Sum what each meson test said of its own cases."""
    passed = failed = 0
    if not record.exists():
        return 0, 1
    for line in record.read_text(errors="replace").splitlines():
        entry = json.loads(line)
        said = entry.get("stdout", "") + entry.get("stderr", "")
        good = sum(map(int, re.findall(r"\[  PASSED  \] (\d+) test", said)))
        bad = sum(map(int, re.findall(r"\[  FAILED  \] (\d+) test", said)))
        if not good and not bad:
            good, bad = count_line(said)
        is_ok = entry["result"] in ("OK", "EXPECTEDFAIL")
        if is_ok and not good:
            good = 1
        if not is_ok and not bad:
            bad = 1
        passed += good
        failed += bad
    return passed, failed


def print_figures(record):
    """What FIGURES measured: it says more than that they passed."""
    if not record.exists():
        return
    for line in record.read_text(errors="replace").splitlines():
        entry = json.loads(line)
        if entry["name"].split()[-1].split(":")[-1] not in FIGURES:
            continue
        for said in entry.get("stdout", "").splitlines():
            if said and not said.startswith("["):
                print(f"       {said}", flush=True)


def count_line(text):
    """The last `N passed, N failed` of TEXT."""
    found = re.findall(r"(\d+) passed, (\d+) failed", text)
    return (int(found[-1][0]), int(found[-1][1])) if found else (0, 0)


def count_pytest(text):
    """The figures of pytest's closing line."""
    last = [line for line in text.splitlines() if " in " in line][-1:]
    figures = {word: int(n) for n, word in re.findall(
        r"(\d+) (passed|failed|error|errors)", last[0] if last else "")}
    return (figures.get("passed", 0),
            sum(n for word, n in figures.items() if word != "passed"))


def check_sources(tally):
    """What needs no build: layers and formatting."""
    logs = TOP / "build" / "log"
    begun = time.monotonic()
    log = logs / "layers.log"
    log.unlink(missing_ok=True)
    run(["tests/check-layers"], log)
    tally.add(*count_line(log.read_text()), "layers",
              time.monotonic() - begun, log)
    if shutil.which("clang-format") is None:
        tally.skip("formatting", 1, "no clang-format here")
        return
    begun = time.monotonic()
    log = logs / "format.log"
    log.unlink(missing_ok=True)
    sources = sorted(str(path.relative_to(TOP))
                     for room in ("proto", "server", "clients", "tests")
                     for path in (TOP / room).rglob("*.[ch]"))
    status = run(["clang-format", "--dry-run", "--Werror", *sources], log)
    tally.add(int(status == 0), int(status != 0), "formatting",
              time.monotonic() - begun, log)


def check_clients_alone(tally):
    """hill-bridge and hill-run build without libevent and sqlite3."""
    build = TOP / "build" / "clients"
    log = TOP / "build" / "log" / "clients.log"
    log.unlink(missing_ok=True)
    begun = time.monotonic()
    again = ["--reconfigure"] if (build / "build.ninja").exists() else []
    status = run(["meson", "setup", *again, "-Dserver=disabled",
                  "-Dtests=disabled", "-Dwerror=true", "--buildtype=release",
                  str(build)], log)
    if status == 0:
        status = run(["ninja", "-C", str(build)], log)
    tally.add(int(status == 0), int(status != 0), "clients without the server",
              time.monotonic() - begun, log)
    if status != 0:
        return
    stripped = build / "hill-bridge.stripped"
    run(["strip", "-o", str(stripped),
         str(build / "clients/bridge/hill-bridge")], log)
    size = stripped.stat().st_size if stripped.exists() else None
    is_small = size is not None and size < BRIDGE_BYTES
    tally.add(int(is_small), int(not is_small),
              f"hill-bridge stripped, {size} of {BRIDGE_BYTES} bytes", 0, log)


def check_portable(tally):
    """The clients on POSIX alone pass their tests, but for the long ones."""
    build = TOP / "build" / "portable"
    log = TOP / "build" / "log" / "portable.log"
    log.unlink(missing_ok=True)
    begun = time.monotonic()
    again = ["--reconfigure"] if (build / "build.ninja").exists() else []
    status = run(["meson", "setup", *again, "-Dserver=disabled",
                  "-Dportable=true", "-Dtests=disabled", "-Dwerror=true",
                  str(build)], log)
    if status == 0:
        status = run(["ninja", "-C", str(build)], log)
    passed, failed = 0, int(status != 0)
    if status == 0:
        log = log.with_name("portable-tests.log")
        log.unlink(missing_ok=True)
        # Without the reference: what the others' bots play is the same.
        status = run([*PYTEST, *SHARED_OUT, "tests/system/test_bridge.py",
                      "tests/system/test_bridge_link.py",
                      "tests/system/test_bridge_reports.py",
                      "tests/system/test_run.py",
                      "tests/system/test_run_battle.py",
                      "tests/system/test_run_mine.py"], log,
                     env={"HILL_BUILD": str(build), "HILL_LONG": "",
                          "HILL_REFERENCE": "/nonexistent",
                          "PYTHONDONTWRITEBYTECODE": "1"})
        passed, failed = count_pytest(log.read_text(errors="replace"))
        failed += int(status != 0 and not failed)
    tally.add(passed, failed, "clients on POSIX alone",
              time.monotonic() - begun, log)


def plain_golden(compiler, tally, reference):
    """A game is the same however its engine was compiled."""
    for kind, options in PLAIN.items():
        suite = Suite(compiler, tally, True)
        suite.build = TOP / "build" / f"golden-{compiler}-{kind}"
        suite.logs = suite.build / "log"
        again = ["--reconfigure"] if (suite.build / "build.ninja").exists() \
            else []
        if not suite.step(f"{kind} set-up", [
                "meson", "setup", *again, "-Dserver=disabled",
                "-Dtests=disabled", *options, str(suite.build)],
                env={"CC": compiler})[0]:
            continue
        if not suite.step(f"{kind} build", [
                "ninja", "-C", str(suite.build),
                "tests/golden/golden-check"])[0]:
            continue
        suite.golden(f"{kind} golden-check here", TOP / "tests/golden")
        if reference is not None:
            suite.golden(f"{kind} golden-check", reference / "golden")


def fuzz(tally):
    """Each fuzz target for a while; with new inputs, where its replay in the
    meson tests has only the corpus."""
    suite = Suite("clang", tally, True)
    suite.build = TOP / "build" / "fuzz"
    suite.logs = suite.build / "log"
    again = ["--reconfigure"] if (suite.build / "build.ninja").exists() else []
    if not suite.step("fuzz set-up", [
            "meson", "setup", *again, "-Dfuzz=true", "-Dwerror=true",
            "-Db_lundef=false", "-Db_sanitize=address,undefined",
            str(suite.build)], env={"CC": "clang"})[0]:
        return
    names = sorted(path.stem[len("fuzz_"):]
                   for path in (TOP / "tests/fuzz").glob("fuzz_*.c"))
    if not suite.step("fuzz build", [
            "ninja", "-C", str(suite.build),
            *(f"tests/fuzz/fuzz-{name}" for name in names)])[0]:
        return
    for name in names:
        found = suite.build / "found" / name
        found.mkdir(parents=True, exist_ok=True)
        words = TOP / "tests/fuzz" / f"{name}.dict"
        suite.step(f"fuzz {name}", [
            str(suite.build / f"tests/fuzz/fuzz-{name}"),
            f"-max_total_time={FUZZ_SECONDS}", "-timeout=20",
            "-rss_limit_mb=2048", f"-artifact_prefix={found}-",
            *([f"-dict={words}"] if words.exists() else []),
            str(found), str(TOP / "tests/fuzz/corpus" / name)])


def main():
    parser = argparse.ArgumentParser(
        prog="tests/run", description="Build hill with sanitizers and test it.")
    parser.add_argument("--long", action="store_true",
                        help="full counts, clang beside gcc, the golden games "
                        "on builds without sanitizers, and fuzzing")
    parser.add_argument("--compiler", choices=("gcc", "clang"),
                        help="with this one only")
    options = parser.parse_args()
    reference = reference_dir()
    tally = Tally()
    begun = time.monotonic()

    print("reference data:", reference or "none", flush=True)
    check_sources(tally)
    check_clients_alone(tally)
    check_portable(tally)
    compilers = ("gcc", "clang") if options.long else ("gcc",)
    if options.compiler:
        compilers = (options.compiler,)
    for compiler in compilers:
        Suite(compiler, tally, options.long).run_all(reference)
        if options.long:
            plain_golden(compiler, tally, reference)
    if options.long:
        fuzz(tally)

    for what, count, why in tally.skips:
        print(f"skipped {count}: {what}: {why}")
    print(f"skipped in all: {sum(count for _, count, _ in tally.skips)}; "
          f"{(time.monotonic() - begun) / 60:.1f} minutes")
    print(f"{tally.passed} passed, {tally.failed} failed", flush=True)
    return 1 if tally.failed or not tally.passed else 0


if __name__ == "__main__":
    sys.exit(main())
