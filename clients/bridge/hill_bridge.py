#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hill_bridge.py: plays a program on a hill server, in one file.

It does what hill-bridge does, on every system that has Python 3.8, and was
written from proto/PROTOCOL.md alone. How it works:

Each slot is one thread with one link to the server. It alone reads the link
and decides (class Slot). A running program (class Program) has a thread that
feeds its input, one that hears its output and sends it on at once, one that
keeps its standard error, and one that learns of its end; they tell the slot
by ringing its bell. A slot's lock guards what the slot and they share.

On POSIX a program's parent is a keeper: this file run again with --keep. It
holds one end of a socket whose other end the bridge holds. When the program
ends, or the bridge does however it ends, the keeper kills whatever the
program has started, removes the match's folder and ends. Windows has no
keeper: taskkill ends the program with its children, and a bridge that is
killed there leaves a program alone with the end of its input.
"""
import os
import select
import signal
import sys

VERSION = "0.1.0"
IS_POSIX = os.name == "posix"
IS_LINUX = sys.platform.startswith("linux")
KILL_AFTER_S = 2.0


# The keeper: little is imported before it, so that it starts at once.

def process_table():
    """{pid: (parent, group, is_zombie)} of all processes.

    Elsewhere than on Linux as far as there is a ps, which is left out itself.
    """
    table = {}
    if IS_LINUX:
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    fields = file.read().rsplit(b")", 1)[1].split()
            except OSError:
                continue
            table[int(name)] = (int(fields[1]), int(fields[2]),
                                fields[0] == b"Z")
        return table
    import subprocess
    try:
        with subprocess.Popen(
                ["ps", "-A", "-o", "pid=", "-o", "ppid=", "-o", "pgid=",
                 "-o", "state="], stdout=subprocess.PIPE) as rows:
            for row in map(bytes.split, rows.stdout):
                table[int(row[0])] = (int(row[1]), int(row[2]),
                                      row[3].startswith(b"Z"))
        table.pop(rows.pid, None)
    except OSError:
        pass
    return table


def offspring(group):
    """Living members of GROUP, and living descendants of this process.

    Where nobody can tell, the group as such: kill() takes it so.
    """
    table = process_table()
    if not table:
        return [-group]
    found, grown = {os.getpid()}, True
    while grown:
        more = {pid for pid, (parent, _, _) in table.items()
                if parent in found}
        grown = not more <= found
        found |= more
    found |= {pid for pid, row in table.items() if row[1] == group}
    found.discard(os.getpid())
    return [pid for pid in found if pid in table and not table[pid][2]]


def reap(ended):
    """Collect children that have ended into ENDED, {pid: status}."""
    try:
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                break
            ended[pid] = status
    except ChildProcessError:
        pass


def kill_all(group, ended):
    """SIGKILL whatever the program has started, until nothing is left."""
    import time
    for _ in range(200):
        is_left = False
        for pid in offspring(group):
            try:
                os.kill(pid, signal.SIGKILL)
                is_left = True
            except OSError:
                pass
        reap(ended)
        if not is_left:
            break
        time.sleep(0.005)


def prctl(*words):
    """Linux's prctl(), where it is to be had."""
    try:
        import ctypes
        ctypes.CDLL(None).prctl(*words, 0, 0, 0)
    except (ImportError, OSError, AttributeError):
        pass


def become(order):
    """In the child: turn into the program of ORDER; never returns."""
    try:
        os.setpgid(0, 0)
        for number in signal.valid_signals():
            try:
                signal.signal(number, signal.SIG_DFL)
            except (OSError, ValueError):
                pass  # SIGKILL and the like
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        os.chdir(order["cwd"])
        argv = order["argv"]
        try:
            os.execvp(argv[0], argv)
        except OSError as error:
            import errno
            if error.errno == errno.ENOEXEC:  # a script that names no shell
                os.execv("/bin/sh", ["/bin/sh", *argv])
            raise
    except BaseException as error:  # pylint: disable=broad-except
        os.write(2, f"hill-bridge: cannot run it: {error}\n".encode())
    finally:
        os._exit(127)


def keep(control):
    """Run the program that descriptor CONTROL orders; kill what it leaves.

    In: a JSON object as a line, then single letters: T, I and K for the
    signals; the end means that the bridge is gone. Out: "pid N", then
    "exit N" or "signal N"; "done 0" when nothing is left, and the end.
    """
    import json
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP,
                   signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)
    with open(control, "rb", buffering=0, closefd=False) as stream:
        order = json.loads(stream.readline() or b"{}")
    if not order:
        return
    wake, ring = os.pipe()
    os.set_blocking(ring, False)
    os.set_blocking(wake, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(ring)
    if IS_LINUX:
        prctl(36, 1)  # PR_SET_CHILD_SUBREAPER
        # PR_SET_NAME: who ends the bridge by its name leaves this to its work.
        prctl(15, b"hill-keeper")
    os.set_inheritable(control, False)
    child = os.fork()
    if child == 0:
        signal.set_wakeup_fd(-1)
        if IS_LINUX:
            prctl(1, int(signal.SIGKILL))  # PR_SET_PDEATHSIG
        become(order)
    try:
        os.setpgid(child, child)
    except OSError:
        pass  # it was quicker
    null = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(null, number)
    try:
        watch(control, wake, child)
    finally:
        kill_all(child, {})
        say(control, "done 0\n")
        if order["folder"]:
            import shutil
            shutil.rmtree(order["folder"], ignore_errors=True)


def say(control, text):
    """Tell the bridge, if there is one."""
    try:
        os.write(control, text.encode())
    except OSError:
        pass


def watch(control, wake, child):
    """Pass signals on until CHILD has ended or the bridge has."""
    letters = {b"T": signal.SIGTERM, b"I": signal.SIGINT, b"K": None}

    say(control, f"pid {child}\n")
    ended = {}
    while True:
        reap(ended)
        if child in ended:
            status = ended[child]
            if os.WIFSIGNALED(status):
                say(control, f"signal {os.WTERMSIG(status)}\n")
            else:
                say(control, f"exit {os.WEXITSTATUS(status)}\n")
            return
        ready, _, _ = select.select([control, wake], [], [])
        if wake in ready:
            os.read(wake, 4096)
        if control in ready:
            try:
                letter = os.read(control, 1)
            except OSError:
                letter = b""
            if letter not in letters:
                return
            if letter == b"K":
                # All at once: who is killed leaves orphans that nobody finds.
                kill_all(child, ended)
                continue
            try:
                os.killpg(child, letters[letter])
            except OSError:
                pass


if __name__ == "__main__" and IS_POSIX and sys.argv[1:2] == ["--keep"]:
    keep(int(sys.argv[2]))
    sys.exit(0)

# pylint: disable=wrong-import-position
import base64  # noqa: E402
import binascii  # noqa: E402
import collections  # noqa: E402
import errno  # noqa: E402
import json  # noqa: E402
import math  # noqa: E402
import random  # noqa: E402
import re  # noqa: E402
import selectors  # noqa: E402
import shlex  # noqa: E402
import shutil  # noqa: E402
import socket  # noqa: E402
import subprocess  # noqa: E402
import tempfile  # noqa: E402
import threading  # noqa: E402
import time  # noqa: E402

LINE_BYTES = 1024 * 1024        # a line from the server
FILE_BYTES = 32 * 1024 * 1024   # a file or an input
SEND_BYTES = 256 * 1024         # waiting to be sent: then the program waits
FEED_BYTES = 4 * 1024 * 1024    # waiting for the program: then the link does
LOG_BYTES = 1024 * 1024
LOG_MATCHES = 200
TAIL_BYTES = 2048
TAIL_LINES = 5
CLOSED_S = 0.5                  # output closed: its exit may come for so long
HELLO_S = 10.0
RESULT_S = 30.0                 # from the end: a result is waited for
BACK_OFF_S = (0.5, 30.0)
RETRY_MOST_S = 3600.0
SET_NEXT_S = 20.0               # how long a set's next match is waited for
FAULTS_TOLD = 5
DEATHS = 3
COMMANDS = b"LRUDWAS"
FOR_GOOD = {"evicted", "bot-disabled", "login-failed", "protocol-version",
            "bad-arguments", "version-retired", "too-many-versions"}
TRY_AGAIN = {"server-full", "address-limit", "bot-busy", "shutdown",
             "internal", "login-timeout", "slow-reader"}
NO_LADDER = {"unknown-ladder", "ladder-disabled", "unknown-map",
             "contest-seed", "open-instance", "unknown-opponent",
             "turn-refused"}
# Of getaddrinfo(); other systems know other ones.
NO_SUCH_HOST = {getattr(socket, name, None) for name in (
    "EAI_NONAME", "EAI_NODATA", "EAI_SERVICE")}
PING_EVERY_S = 0.05
LINK_S = 7.0                    # of one link of --check: login is due at 10 s
ANSWER_S = 9.0
SAMPLES = 20000
REQUESTS_GUESS, REQUESTS_MOST = 500, 10000
OUTLOOK_MATCHES = 200
LADDERS_TOLD = 8                # with the lines that join prints
SPEND_MS = 500
GRACE_MARGIN_MS = 2000
USAGE = """\
usage: hill-bridge.py --server HOST[:PORT] --bot NAME --token-file FILE
                      --play LADDER [options] -- PROGRAM [ARG...]
       hill-bridge.py join HOST[:PORT] [INVITE] [--name NAME]
                      [--token-file FILE]
       hill-bridge.py rotate HOST[:PORT] [--name NAME] [--token-file FILE]
       hill-bridge.py --check HOST[:PORT] [--seconds N] [--think-ms N]

Plays PROGRAM, which speaks a contest's protocol on its standard input
and output, on a hill server. Every match gets a fresh process, with the
original controller's arguments behind ARG...

join registers a bot (called --name, or as you are), keeps its token in a
new file of mode 0600 (NAME.token) and prints what to run; an INVITE of -
is read from standard input, where no ps shows it. rotate puts a new token
in that file's place; the old ones open nothing any more.

  --server HOST[:PORT]
                      where hilld listens (port 4455 unless told;
                      [ADDRESS]:PORT for IPv6)
  --bot NAME          the bot's name on the server
  --token-file FILE   holds the bot's token and nothing else
  --play LADDER       a ladder to play on; may be given several times. In one
                      argument words of @play may follow: 'LADDER unrated
                      against=house-image matches=5'
  --version LABEL     which version of the bot this is: a new label makes a
                      new version, the active one from then on
  --candidate         a new version does not become the active one, and
                      plays unrated, later too, until the host makes it
                      the active one (hillctl bot activate NAME LABEL);
                      or log in with a new LABEL, without --candidate
  --slots N           play up to N matches at once (default 1)
  --matches N         end after N matches, and the rest of a set that has
                      begun (default: go on)
  --log-dir DIR       where each match's standard error goes, 1 MiB at
                      most, the ladder's last 200 (default hill-logs)
  --no-log            throw standard error away
  --chdir             run PROGRAM in the match's private folder, where its
                      files lie, instead of in the current one
  --quiet             no line when it waits, for a match or for its faults
  --check HOST[:PORT]
                      measure the link and say, ladder by ladder, how many
                      replies it makes late and what the bank pays
  --seconds N         measure so long (default 30)
  --think-ms N        of a bot that thinks so long (default 0)
  --help              this text
  -V, or --version and nothing else: the program's own version

The first Ctrl-C finishes the matches that run and takes no more; the
second, or SIGTERM, ends at once. Either way no process of the bot is left.
Exit status: 0 played; 1 refused by the server, an unknown host, or a program
that ended at once in 3 matches in a row; 2 wrong usage, or a program that
cannot be run.
"""
if IS_POSIX and not IS_LINUX:
    USAGE += """
On this system a process that the program started, that left its process
group and whose parent has ended may be left behind.
"""


# Speaking to the one who runs it.

PRINTING = threading.Lock()


def plain(text):
    """TEXT with everything escaped that a terminal could obey."""
    if isinstance(text, bytes):
        text = text.decode("utf-8", "backslashreplace")
    return "".join(
        char if char.isprintable() or char == " " else
        f"\\x{ord(char):02x}" if ord(char) < 256 else f"\\u{ord(char):04x}"
        for char in text)


def put(stream, text):
    with PRINTING:
        try:
            stream.write(plain(text) + "\n")
            stream.flush()
        except (OSError, ValueError):
            pass


def complain(text):
    put(sys.stderr, f"hill-bridge: {text}")


# The wire.

class Broken(Exception):
    """The link cannot be used any more; its text says why."""


class Refused(Broken):
    """An @error was the answer, and told."""


class Word:
    """A control line, taken apart."""

    def __init__(self, line):
        self.rest = line.partition(" ")[2]
        self.args, self.keys, self.text = [], {}, ""
        match = re.match(r"@(\S*)", line)
        self.name = match[1]
        for part in re.finditer(r"[^ \t]+", line[match.end():]):
            if part[0] == ":":
                self.text = line[match.end() + part.end() + 1:]
                break
            name, sign, value = part[0].partition("=")
            if sign and re.fullmatch(r"[a-z][a-z0-9-]*", name):
                self.keys.setdefault(name, value)
            else:
                self.args.append(part[0])

    def arg(self, place):
        return self.args[place] if place < len(self.args) else ""

    def number(self, key, least=0, most=2 ** 63 - 1, default=None):
        """The integer of KEY within bounds, else DEFAULT."""
        value = self.keys.get(key, "")
        if re.fullmatch(r"0|-?[1-9][0-9]{0,18}", value):
            if least <= int(value) <= most:
                return int(value)
        return default

    def tail(self):
        """What stands behind the first argument, for people."""
        return self.rest.partition(" ")[2]


def is_file_name(name, is_posix=IS_POSIX):
    """Whether a file of the server's may be called NAME here."""
    if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,63}", name):
        return False
    # On Windows these are devices, and the last dot is lost.
    return is_posix or not (name.endswith(".") or re.fullmatch(
        r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?", name))


def unpack(word, lines):
    """The bytes of the block of WORD, whose raw lines are LINES."""
    form = word.arg(len(word.args) - 1)
    size = word.number("bytes", 0, FILE_BYTES)
    content = None
    if form == "text":
        content = b"".join(line + b"\n" for line in lines)
    elif form == "base64":
        try:
            content = base64.b64decode(b"".join(lines), validate=True)
        except (binascii.Error, ValueError):
            pass
    if content is None or len(content) != size:
        raise Broken(f"@{word.name} {word.arg(0)} is damaged")
    return content


def connect(host, port):
    """A connected, non-blocking socket."""
    sock = socket.create_connection((host, port), timeout=10)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in (("TCP_KEEPIDLE", 15), ("TCP_KEEPINTVL", 5),
                        ("TCP_KEEPCNT", 3), ("TCP_USER_TIMEOUT", 30000)):
        try:
            sock.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
        except (AttributeError, OSError):
            pass  # a system without it
    sock.setblocking(False)
    return sock


# A program.

def thread(target):
    started = threading.Thread(target=target, daemon=True)
    started.start()
    return started


def windows_status(code, is_killed):
    """What a program's exit code on Windows is called on the wire.

    There one that crashes has a code past the 255 that the server takes, and
    one that is killed has that of whoever killed it.
    """
    if is_killed:
        return ("signal", 9)
    return ("exit", code if 0 <= code <= 255 else 255)


class Program:
    """A running program of one match, with the threads that serve it."""

    def __init__(self, slot, match, argv, folder):
        self.slot, self.match, self.folder = slot, match, folder
        self.status = None          # ("exit", N) or ("signal", N)
        self.ended = threading.Event()   # status known, or never will be
        self.dead = False           # nothing of it is left
        self.is_stopping = False
        self.is_killed = False      # on Windows, where no status tells it
        self.pid = None
        self.fed = collections.deque()
        self.fed_bytes = 0
        self.feed_end = False
        self.feed_broken = False
        self.feeding = threading.Condition()
        self.tail = b""
        self.partial_bytes = 0
        self.log_path = None
        self.errors_done = threading.Event()
        options = slot.app.options
        order = {"argv": argv, "folder": folder or "",
                 "cwd": folder if options.chdir and folder else os.getcwd()}
        # A Python bot's plain print() would otherwise stay in its buffer.
        env = {**os.environ, "PYTHONUNBUFFERED": "1"}
        pipe = subprocess.PIPE
        if IS_POSIX:
            self.control, theirs = socket.socketpair()
            with theirs:
                self.process = subprocess.Popen(
                    [sys.executable, "-I", "-S", "-B",
                     os.path.abspath(__file__), "--keep",
                     str(theirs.fileno())],
                    stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0, env=env,
                    pass_fds=[theirs.fileno()], start_new_session=True)
            self.order(json.dumps(order).encode() + b"\n")
        else:
            self.control = None
            self.process = subprocess.Popen(
                argv, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0,
                env=env, cwd=order["cwd"],
                creationflags=subprocess.CREATE_NEW_PROCESS_GROUP)
        self.reader = thread(self.read_output)
        self.threads = [self.reader, thread(self.write_input),
                        thread(self.read_errors)]
        # The last: it may be there already, and looks at the others.
        self.threads.append(thread(self.await_end if IS_POSIX
                                   else self.await_end_windows))

    # How it ends.

    def order(self, letters):
        try:
            self.control.sendall(letters)
        except OSError:
            pass

    def signal(self, letter):
        """Send T, I or K for SIGTERM, SIGINT or SIGKILL to its group."""
        if IS_POSIX:
            self.order(letter)
            return
        try:
            if letter == b"K":
                self.is_killed = True
                subprocess.run(["taskkill", "/PID", str(self.process.pid),
                                "/T", "/F"], check=False, timeout=5,
                               stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
                self.process.kill()
            else:
                self.process.send_signal(signal.CTRL_BREAK_EVENT)
        except (OSError, subprocess.SubprocessError):
            pass

    def stop(self, how):
        """End it as the original did: HOW is term, eof or exit."""
        self.is_stopping = True
        if how == "eof":
            self.close_input()
        elif how != "exit":
            self.signal(b"T")

    def await_end(self):
        with self.control.makefile("rb") as lines:
            try:
                for line in lines:
                    name, number = line.split()
                    if name in (b"pid", b"done"):
                        self.pid = int(number)
                    else:
                        self.status = (name.decode(), int(number))
                        self.ended.set()
            except (OSError, ValueError):
                pass
        if self.pid:
            try:  # the keeper was killed: the group has nobody else
                os.killpg(self.pid, signal.SIGKILL)
            except OSError:
                pass
        self.process.wait()
        self.control.close()
        self.finish()

    def await_end_windows(self):
        self.status = windows_status(self.process.wait(), self.is_killed)
        self.finish()

    def finish(self):
        self.ended.set()
        with self.feeding:
            self.drop_feed()
        if self.folder:
            shutil.rmtree(self.folder, ignore_errors=True)
        self.reader.join(KILL_AFTER_S)
        self.dead = True
        self.slot.ring()

    # Its input.

    def feed(self, data):
        with self.feeding:
            if not self.feed_broken and not self.feed_end:
                self.fed.append(data)
                self.fed_bytes += len(data)
                self.feeding.notify()

    def close_input(self):
        with self.feeding:
            self.feed_end = True
            self.feeding.notify()

    def drop_feed(self):
        self.feed_broken = True
        self.fed.clear()
        self.fed_bytes = 0
        self.feeding.notify()

    def write_input(self):
        stream = self.process.stdin
        while True:
            with self.feeding:
                while not self.fed and not self.feed_end \
                        and not self.feed_broken:
                    self.feeding.wait()
                if not self.fed:
                    break
                data = b"".join(self.fed)
                self.fed.clear()
            try:
                view = memoryview(data)
                while view:
                    done = stream.write(view[:65536])
                    view = view[done:]
                    with self.feeding:
                        if self.feed_broken:
                            break
                        was = self.fed_bytes
                        self.fed_bytes -= done
                    if was > FEED_BYTES >= was - done:
                        self.slot.ring()
            except (OSError, ValueError):
                with self.feeding:
                    self.drop_feed()
        try:
            stream.close()
        except OSError:
            pass
        self.slot.ring()

    # Its output.

    def read_output(self):
        if self.match.is_whole:
            self.read_whole()
        else:
            self.read_lines()
        self.process.stdout.close()

    def read_some(self):
        try:
            return self.process.stdout.read(65536)
        except (OSError, ValueError):
            return b""

    def read_lines(self):
        """Send each line on; an over-long one is cut, but stays over-long."""
        most = self.match.line_max + 1
        rest = b""
        while True:
            data = self.read_some()
            if not data:
                break
            lines = data.split(b"\n")
            lines[0] = rest + lines[0][:most]
            rest = lines.pop()[:most]
            self.partial_bytes = len(rest)
            if lines:
                self.slot.reply(self, [line[:most] for line in lines])
        if rest:
            self.slot.reply(self, [rest])
        self.partial_bytes = 0
        self.ended.wait(CLOSED_S)
        self.tell_end()

    def read_whole(self):
        """All that it prints is one reply: its commands."""
        kept, dropped, size, first = bytearray(), 0, 0, b""
        is_first = True
        while True:
            data = self.read_some()
            if not data:
                break
            size += len(data)
            good = bytes(byte for byte in data if byte in COMMANDS)
            kept += good[:max(0, self.match.line_max + 1 - len(kept))]
            dropped += len(data) - len(good) - sum(
                data.count(blank) for blank in b" \t\r\n")
            found = re.search(rb"[^LRUDWAS\s]+", data)
            if found and is_first:
                first, is_first = found[0][:20], False
        if not kept:
            self.ended.wait()
        else:
            self.ended.wait(CLOSED_S)
        if not size:
            self.match.tell("nothing was printed")
        elif not kept:
            self.match.tell(f"no command in {size} bytes "
                            f"(first: \"{plain(first)}\")")
        elif dropped:
            self.match.tell(f"dropped {dropped} bytes that are no command "
                            f"(first: \"{plain(first)}\")")
        failed = self.status not in (None, ("exit", 0))
        if self.status == ("signal", 9) or failed and not kept:
            self.tell_end()
        else:
            self.slot.reply(self, [bytes(kept)])
            if failed:
                self.tell_last_words()

    def tell_end(self):
        how, number = self.status or ("stdout", "closed")
        is_news = self.slot.tell_gone(self, f"{how}={number}")
        if is_news and self.status and self.status[1] != 0:
            self.tell_last_words()

    def tell_last_words(self):
        if self.is_stopping or self.slot.app.options.quiet:
            return
        self.errors_done.wait(0.5)
        how, number = self.status
        if how == "exit":
            text = f"the program ended with exit status {number}"
        else:
            try:
                name = signal.strsignal(number)
            except ValueError:
                name = None
            text = f"the program was ended by signal {number}"
            text += f" ({name})" if name else ""
        complain(text + (f"; log {self.log_path}" if self.log_path else ""))
        lines = self.tail.split(b"\n")
        if not lines[-1]:
            lines.pop()
        if lines:
            complain("its standard error ended in:")
        for line in lines[-TAIL_LINES:]:
            complain("  " + plain(line[-200:]))

    # Its standard error.

    def read_errors(self):
        """Read it to its end, whatever becomes of it: nothing may block."""
        log, left = None, LOG_BYTES
        stream = self.process.stderr
        while True:
            try:
                data = stream.read(65536)
            except (OSError, ValueError):
                break
            if not data:
                break
            self.tail = (self.tail + data)[-TAIL_BYTES:]
            if log is None and left and not self.slot.app.options.no_log:
                log = self.open_log()
                left = left if log else 0
            if log and left:
                try:
                    log.write(data[:left])
                except OSError as error:
                    complain(f"cannot write {self.log_path}: "
                             f"{error.strerror}")
                    left = 0
                left = max(0, left - len(data))
        if log:
            log.close()
        stream.close()
        self.errors_done.set()

    def open_log(self):
        options = self.slot.app.options
        path = os.path.join(options.log_dir, f"{self.match.ladder}-"
                            f"{options.bot}-{self.match.id}.log")
        try:
            os.makedirs(options.log_dir, 0o700, exist_ok=True)
            log = open(path, "wb", buffering=0,
                       opener=lambda name, flags: os.open(name, flags, 0o600))
        except OSError as error:
            complain(f"cannot write {path}: {error.strerror}")
            return None
        self.log_path = path
        forget_logs(options.log_dir, f"{self.match.ladder}-{options.bot}-")
        return log


def forget_logs(folder, prefix):
    """Keep the last LOG_MATCHES logs whose names are PREFIX and a match.

    The last by time: another server's matches have other numbers.
    """
    found = []
    for name in os.listdir(folder):
        if name.startswith(prefix) and \
                re.fullmatch(r"[0-9]+\.log", name[len(prefix):]):
            path = os.path.join(folder, name)
            try:
                found.append((int(os.stat(path).st_mtime),
                              int(name[len(prefix):-4]), path))
            except OSError:
                pass
    for _, _, path in sorted(found)[:-LOG_MATCHES]:
        try:
            os.remove(path)
        except OSError:
            pass


# A match.

class Match:
    """What is known of one match, and how it is told."""

    KINDS = ("late", "invalid", "long", "full", "other")

    def __init__(self, word, app):
        self.app = app
        self.id = word.arg(0)
        self.ladder = re.sub(r"[^A-Za-z0-9._-]", "_",
                             word.keys.get("ladder", "ladder"))[:64]
        self.seat = word.keys.get("seat", "1")
        self.seats = word.keys.get("seats", "1")
        self.line_max = word.number("line-max", 1, FILE_BYTES, 65536)
        self.grace_ms = word.number("grace-ms", 0, 10 ** 9)
        self.is_whole = word.keys.get("whole-input") == "1"
        # Of a set: its round, which of its matches, and how many follow.
        self.round = word.keys.get("round")
        found = re.fullmatch("([1-9][0-9]{0,2})/([1-9][0-9]{0,2})",
                             word.keys.get("set", ""))
        self.number, count = map(int, found.groups()) if found else (1, 1)
        self.set_left = max(0, count - self.number)
        self.rated = {"0": "unrated", "1": "rated"}.get(
            word.keys.get("rated"))
        self.is_ready = self.is_started = self.is_over = False
        self.is_going_down = False
        self.ended_at = None
        self.reason = ""
        self.files, self.args = {}, []
        self.folder = None
        self.program = None
        self.places = {}
        self.faults = collections.Counter()
        self.told = collections.Counter()
        self.replies = 0
        self.is_gone = False
        self.asked_at = self.answered_at = None
        self.answer_ms = self.slowest_ms = 0.0
        self.kill_at = None

    def tell(self, text):
        if not self.app.options.quiet:
            complain(f"match {self.id}: {text}")

    def asked(self):
        self.asked_at = time.perf_counter()

    def answered(self):
        self.replies += 1
        if self.asked_at is not None:
            self.answered_at = time.perf_counter()
            self.answer_ms = (self.answered_at - self.asked_at) * 1000
            self.slowest_ms = max(self.slowest_ms, self.answer_ms)

    def fault(self, word):
        kind = word.arg(0)
        name = kind if kind in self.KINDS else "other"
        self.faults[name] += 1
        # A late reply is what costs a game: the others never hide it.
        group = "late" if name == "late" else "others"
        self.told[group] += 1
        if self.told[group] > FAULTS_TOLD:
            if self.told[group] == FAULTS_TOLD + 1:
                self.tell("more such faults are not told")
            return
        text = word.rest
        if name == "late":
            text += "; " + self.late_text()
        self.tell(text)

    def late_text(self):
        now = time.perf_counter()
        has_answer = self.answered_at is not None and \
            self.answered_at >= (self.asked_at or 0)
        if has_answer:
            text = f"the answer took {self.answer_ms:.1f} ms here"
        else:
            spent = (now - (self.asked_at or now)) * 1000
            text = f"no answer after {spent:.1f} ms here"
        program = self.program
        if program is None or self.is_whole:
            return text
        partial = program.partial_bytes
        if partial:
            text += f"; {partial} byte{'s' if partial != 1 else ''} came " \
                "without a line end"
        elif self.replies == 0:
            text += "; nothing was printed yet: is it still starting, " \
                "or does it not flush its output?"
        return text

    def report(self, word):
        """The line of a match that is stored for good."""
        if self.app.options.quiet:
            return
        mine = self.places.pop(self.seat, {})
        parts = [f"score {word.keys.get('score', '?')}"]
        if self.seats != "1":  # who is alone has no rank
            parts.insert(0, f"rank {mine.get('rank', '?')} of {self.seats}")
        parts[0] = f"match {self.id} {self.ladder}: {parts[0]}"
        if word.keys.get("embargo") == "1":
            parts = [f"match {self.id} {self.ladder}: result under embargo"]
        parts += [self.reason] if self.reason else []
        parts += [f"{self.faults[kind]} {kind}" for kind in self.KINDS
                  if self.faults[kind]]
        parts += [self.rated] if self.rated else []
        others = ", ".join(f"{place.get('bot')} ({place.get('score')})"
                           for place in self.places.values())
        parts += [f"against {others}"] if others else []
        text = ", ".join(parts)
        if self.replies:
            text += f"; slowest reply {self.slowest_ms:.1f} ms"
        else:
            text += "; no reply"
        early = word.number("early", default=0)
        if early:
            text += f"; {early} replies came before they were asked for: " \
                "does it print more than one line a turn?"
        if self.program and self.program.log_path:
            text += f"; log {self.program.log_path}"
        put(sys.stdout, text)

    def keep_file(self, name, content):
        path = os.path.join(self.make_folder(), name)
        with open(path, "wb") as file:
            file.write(content)
        self.files[name] = path

    def make_folder(self):
        if self.folder is None:
            self.folder = tempfile.mkdtemp(prefix="hill-bridge-")
        return self.folder


# A slot.

class Slot:
    """One link to the server, and the match that is played on it."""

    def __init__(self, app):
        self.app = app
        self.lock = threading.RLock()
        self.room = threading.Condition(self.lock)
        self.bell, self.hammer = socket.socketpair()
        self.bell.setblocking(False)
        self.hammer.setblocking(False)
        self.sock = None
        self.outbox = bytearray()
        self.match = None           # offered, ready or playing
        self.dying = None           # a program that is to be dead first
        self.unstored = {}          # ended, the result to come
        self.ladders, self.ended = list(app.options.play), 0
        self.queued = set()         # those that wait, or did
        self.play_at = None         # a ladder pauses us: asked again then
        self.round = None           # of the set that is in its middle ...
        self.set_left = 0           # ... so many matches follow ...
        self.set_by = None          # ... the next one until then
        self.is_welcome = self.has_left = False
        self.is_over = False
        self.attempts = 0
        self.back_off = BACK_OFF_S[0]
        self.retry_at = 0.0
        self.rest, self.block, self.raw_left = b"", None, 0
        self.raw, self.raw_bytes = [], 0
        self.thread = threading.Thread(target=self.run, daemon=True)

    # Shared with a program's threads.

    def ring(self):
        try:
            self.hammer.send(b"!")
        except OSError:
            pass  # full: it rings already

    def send(self, data):
        """Send now what the socket takes, the rest when it takes more."""
        with self.lock:
            if self.sock is None:
                return
            if not self.outbox:
                try:
                    data = data[self.sock.send(data):]
                except (BlockingIOError, InterruptedError):
                    pass
                except OSError:
                    return  # reading tells the same
            if data:
                self.outbox += data
                self.ring()

    def say(self, text):
        self.send(text.encode() + b"\n")

    def reply(self, program, lines):
        """PROGRAM has printed LINES: send them, if its match goes on."""
        with self.lock:
            match = program.match
            while self.sock and len(self.outbox) > SEND_BYTES and \
                    self.match is match and not match.is_over:
                self.room.wait()
            if self.match is not match or match.is_over or match.is_gone:
                return
            for _ in lines:
                match.answered()
            self.app.deaths = 0
            self.send(b"".join(
                (b"@" if line.startswith(b"@") else b"") + line + b"\n"
                for line in lines))

    def tell_gone(self, program, how):
        """PROGRAM has ended by itself; whether that is news to anyone."""
        with self.lock:
            match = program.match
            if self.match is not match or match.is_over or match.is_gone:
                return False
            match.is_gone = True
            self.say(f"@gone {match.id} {how}")
            if match.replies == 0:
                self.app.died_at_once()
            return True

    # The link.

    def run(self):
        try:
            while not self.is_over:
                why = self.session()
                self.lose(why)
                if self.is_over or self.may_rest():
                    break
                self.wait_to_retry(why)
            self.bury()
        finally:
            self.is_over = True
            self.app.ring()

    def session(self):
        """From connecting to the loss of the link; why it was lost."""
        self.attempts += 1
        try:
            self.sock = connect(*self.app.options.address)
        except OSError as error:
            name = "%s:%s" % self.app.options.address
            why = f"cannot reach {name}: {error.strerror or error}"
            # Once there, it is out of reach, and that passes.
            if isinstance(error, socket.gaierror) and \
                    error.errno in NO_SUCH_HOST and \
                    not self.app.has_connected and self.attempts == 1:
                complain(why)
                self.refuse()
            return why
        self.app.has_connected = True
        hello_by = time.monotonic() + HELLO_S
        self.is_welcome = self.has_left = False
        self.rest, self.block, self.raw_left = b"", None, 0
        try:
            with selectors.DefaultSelector() as ears:
                ears.register(self.bell, selectors.EVENT_READ)
                ears.register(self.sock, selectors.EVENT_READ)
                while not self.is_over:
                    self.turn(ears)
                    if not self.is_welcome and time.monotonic() > hello_by:
                        raise Broken("no welcome in time")
        except (Broken, OSError) as error:
            return str(error) if isinstance(error, Broken) else "link lost"
        return "link lost"

    def turn(self, ears):
        """Wait for one thing or more to happen, and see to them."""
        with self.lock:
            want = selectors.EVENT_WRITE if self.outbox else 0
        program = self.match and self.match.program
        if program is None or program.fed_bytes <= FEED_BYTES:
            want |= selectors.EVENT_READ
        self.set_ears(ears, want)
        ready = ears.select(self.next_time())
        for key, events in ready:
            if key.fileobj is self.sock and events & selectors.EVENT_WRITE:
                self.flush()
        for key, events in ready:
            if key.fileobj is self.sock and events & selectors.EVENT_READ:
                self.hear()
        # The bell comes last: what the server has said counts before it.
        self.silence_bell()
        self.see_to_times()

    def set_ears(self, ears, want):
        is_known = self.sock in ears.get_map()
        if want and is_known:
            ears.modify(self.sock, want)
        elif want:
            ears.register(self.sock, want)
        elif is_known:
            ears.unregister(self.sock)

    def silence_bell(self):
        try:
            while self.bell.recv(4096):
                pass
        except OSError:
            pass

    def flush(self):
        with self.lock:
            try:
                del self.outbox[:self.sock.send(self.outbox[:65536])]
            except (BlockingIOError, InterruptedError):
                pass
            self.room.notify_all()

    def hear(self):
        try:
            data = self.sock.recv(65536)
        except (BlockingIOError, InterruptedError):
            return
        if not data:
            raise Broken("link lost")
        lines = data.split(b"\n")
        lines[0] = self.rest + lines[0]
        self.rest = lines.pop()
        game = []
        for line in lines:
            if self.raw_left == 0 and (not line.startswith(b"@") or
                                       line.startswith(b"@@")):
                game.append(line)
                continue
            self.hear_game(game)
            game = []
            if self.raw_left:
                self.hear_raw(line)
            else:
                self.hear_control(line)
            if self.is_over:
                return
        self.hear_game(game)
        most = FILE_BYTES if self.raw_left else LINE_BYTES
        if len(self.rest) > most:
            raise Broken("a line from the server is too long")

    def hear_game(self, lines):
        match = self.match
        if not lines or match is None or not match.program or match.is_over:
            return
        match.asked()
        match.program.feed(b"".join(
            (line[:-1] if line.endswith(b"\r") else line)
            [line.startswith(b"@@"):] + b"\n" for line in lines))

    def hear_raw(self, line):
        self.raw_left -= 1
        if self.block is not None:
            self.raw.append(line)
            self.raw_bytes += len(line) + 1
            # Base64 with its line ends takes less than 1.5 times as much.
            if self.raw_bytes > FILE_BYTES * 3 // 2:
                raise Broken("a block from the server is too long")
        if self.raw_left == 0 and self.block is not None:
            word, self.block = self.block, None
            raw, self.raw, self.raw_bytes = self.raw, [], 0
            self.hear_block(word, unpack(word, raw))

    def hear_control(self, line):
        if line.endswith(b"\r"):
            line = line[:-1]
        word = Word(line.decode("utf-8", "replace"))
        self.raw_left = word.number("lines", default=0)
        if word.name in ("file", "input"):
            if self.raw_left:
                self.block, self.raw, self.raw_bytes = word, [], 0
            else:
                self.hear_block(word, unpack(word, []))
            return
        handler = getattr(self, "on_" + word.name, None)
        if handler:
            handler(word)

    # The server's words.

    def on_hill(self, _):
        options = self.app.options
        version = f" version={options.version}" if options.version else ""
        version += " candidate=1" if options.candidate else ""
        self.say(f"@login {options.bot} {options.token} proto=1 "
                 f"client=hill-bridge/{VERSION}+python{version} ping=1")

    def on_notice(self, word):
        complain(f"the host announces: {word.text}")

    def on_ping(self, word):
        self.say(" ".join(["@pong", *word.args[:1]]))

    def on_welcome(self, _):
        self.is_welcome = True
        self.back_off, self.retry_at = BACK_OFF_S[0], 0.0
        if self.set_left or \
                not self.app.is_stopping and not self.app.is_full():
            self.play()
        else:
            self.has_left = True

    def play(self):
        self.has_left = False
        self.ended = 0
        self.queued.clear()
        self.ask_to_play()

    def ask_to_play(self):
        self.play_at = None
        for ladder in self.ladders:
            if ladder.split(" ")[0] not in self.queued:
                self.say(f"@play {ladder}")

    def on_queued(self, word):
        self.queued.add(word.arg(0))
        self.app.tell_waiting(word)
        why = word.keys.get("unrated", "asked")
        if why != "asked" and word.arg(0) not in self.app.unrated:
            self.app.unrated.add(word.arg(0))
            complain(f"not rated on {word.arg(0)}: {why}")

    def leave(self):
        """Wait no more; in the middle of a set that would lose its rest."""
        if not self.has_left and not self.set_left:
            self.has_left = True
            self.say("@leave")

    def on_left(self, word):
        # What we asked for names no ladder.
        if word.args:
            self.ended += 1
            if self.ended == len(self.ladders):
                self.end_with_match()

    def on_error(self, word):
        code = word.arg(0)
        if code == "shutdown" and self.match:
            self.match.is_going_down = True
        if code != "already-queued":
            complain(f"the server says: {word.rest}")
        seconds = word.number("retry-after")
        if code == "paused":
            self.play_at = time.monotonic() + min(seconds or 1, RETRY_MOST_S)
        elif seconds is not None and (not self.is_welcome or
                                      code in TRY_AGAIN or code in FOR_GOOD):
            # The link's last word; of others it is not about the link.
            self.retry_at = time.monotonic() + min(seconds, RETRY_MOST_S)
        is_refused = not self.is_welcome and seconds is None and \
            code not in TRY_AGAIN
        if is_refused or code in FOR_GOOD and (
                seconds is None or code == "evicted"):
            self.refuse()
        elif code in NO_LADDER:
            self.app.status = 1
            self.end_with_match()

    def end_with_match(self):
        """Nothing is left to wait for; a match outlives its ladder."""
        if self.match or self.unstored:
            self.app.finish()
        else:
            self.is_over = True

    def refuse(self):
        """The server wants no more of this slot."""
        self.app.status = 1
        self.is_over = True

    def on_match(self, word):
        old = self.match
        if old is not None and old.program is not None:
            self.retire(old)
        self.match = match = Match(word, self.app)
        if match.number > 1:
            self.app.take(goes_on=True)
        elif self.app.is_stopping or not self.app.take():
            self.leave()
            self.match = None
            self.say(f"@resign {match.id}")
            return
        self.enter_set(match)
        if self.app.is_stopping or self.app.is_full():
            self.leave()
        self.make_ready()

    def enter_set(self, match):
        for slot in self.app.slots:
            if match.round is not None and slot.round == match.round:
                slot.set_left = 0
        self.round, self.set_left = match.round, match.set_left
        self.set_by = None

    def await_next(self):
        if self.set_left:
            self.set_by = time.monotonic() + SET_NEXT_S

    def end_set(self, match):
        """MATCH came to nothing, and so does the rest of its set."""
        if match.round == self.round:
            self.set_left = 0

    def make_ready(self):
        if self.match and not self.match.is_ready and self.dying is None:
            self.match.is_ready = True
            self.say(f"@ready {self.match.id}")

    def is_current(self, word):
        return self.match is not None and word.arg(0) == self.match.id

    def hear_block(self, word, content):
        match = self.match
        if match is None or match.is_over:
            return
        if word.name == "input":
            if match.program:
                match.asked()
                match.program.feed(content)
                match.program.close_input()
            return
        name = word.arg(0)
        if not is_file_name(name):
            complain(f"refused a file of the name {name}")
            return
        try:
            match.keep_file(name, content)
        except OSError as error:
            # The program would play on half a map, and the next one too.
            self.app.status = 1
            self.app.finish()
            raise Broken(f"cannot write {name}: {error.strerror}") from error

    def on_args(self, word):
        if self.match:
            self.match.args = word.rest.split(" ") if word.rest else []

    def on_start(self, word):
        match = self.match
        if not self.is_current(word) or match.is_started:
            return
        match.is_started = True
        options = self.app.options
        try:
            if options.chdir:
                match.make_folder()
            argv = options.program + [match.files.get(arg, arg)
                                      for arg in match.args]
            match.asked()
            match.program = Program(self, match, argv, match.folder)
        except (OSError, ValueError) as error:
            complain(f"cannot run {options.program[0]}: {error}")
            self.drop_folder(match)
            match.is_gone = True
            self.say(f"@gone {match.id} exit=127")
            self.app.died_at_once()

    @staticmethod
    def drop_folder(match):
        if match.folder:
            shutil.rmtree(match.folder, ignore_errors=True)

    def on_interrupt(self, word):
        match = self.match
        if self.is_current(word) and match.program:
            match.program.signal(b"I")
            if match.grace_ms is not None:
                match.kill_at = time.monotonic() + match.grace_ms / 1000

    def on_fault(self, word):
        if self.match:
            self.match.fault(word)

    def on_end(self, word):
        match = self.match
        if not self.is_current(word) or match.is_over:
            return
        match.reason = word.keys.get("reason", "")
        match.ended_at = time.monotonic()
        if match.reason == "abandoned":
            match.is_going_down = True
        self.unstored[match.id] = match
        self.await_next()
        self.end_match(match, word.keys.get("stop", "term"))

    def end_match(self, match, stop):
        """MATCH is over: end its program; the link may play again."""
        with self.lock:
            match.is_over = True
            self.room.notify_all()
        if match.program is not None:
            match.program.stop(stop)
            match.kill_at = time.monotonic() + KILL_AFTER_S
            self.retire(match)
        else:
            self.drop_folder(match)
        if self.match is match:
            self.match = None

    def retire(self, match):
        if not match.program.dead:
            self.dying = match

    def find(self, word):
        """The match of WORD, taken off the list of those without result."""
        match = self.unstored.pop(word.arg(0), None)
        if match is None and self.is_current(word):
            match = self.match
            self.end_match(match, "term")
        return match

    def on_place(self, word):
        match = self.unstored.get(word.arg(0))
        if match is None and self.is_current(word):
            match = self.match
        if match is not None and len(match.places) < 64:
            match.places[word.keys.get("seat")] = word.keys

    def on_result(self, word):
        match = self.find(word)
        if match is not None:
            match.report(word)
            self.app.finish_one()

    def on_void(self, word):
        match = self.find(word)
        if match is None:
            return
        if word.keys.get("reason") == "abandoned" or match.is_going_down:
            complain(f"match {match.id} is lost: the server is going down")
        else:
            complain(f"match {match.id} does not count: {word.tail()}")
        self.end_set(match)
        self.give_back(False)

    def on_cancel(self, word):
        match = self.find(word)
        if match is None:
            return
        complain(f"match {match.id} does not count: {word.tail()}")
        self.end_set(match)
        self.give_back(word.keys.get("queued") == "0")

    def give_back(self, must_play):
        """A match did not count: another may be played for it."""
        self.app.give_back()
        if self.app.is_stopping or self.app.is_full():
            return
        if self.has_left or must_play:
            self.play()

    # Times and ends.

    def next_time(self):
        times = [match.kill_at for match in (self.match, self.dying)
                 if match and match.kill_at]
        times += filter(None, (self.play_at, self.set_left and self.set_by))
        times += [by for by in map(self.result_by, self.unstored.values())
                  if time.monotonic() < by < math.inf]
        if not self.is_welcome:
            times.append(time.monotonic() + 1)
        if not times:
            return None
        return max(0.0, min(times) - time.monotonic())

    def see_to_times(self):
        now = time.monotonic()
        for match in (self.match, self.dying):
            if match and match.program and match.kill_at and \
                    now >= match.kill_at:
                match.kill_at = None
                match.program.signal(b"K")
        if self.dying and self.dying.program.dead:
            self.dying = None
            self.make_ready()
        if self.set_left and self.set_by and now >= self.set_by:
            self.set_left = 0
        if self.play_at and now >= self.play_at:
            self.play_at = None
            if self.is_welcome and not self.has_left:
                self.ask_to_play()
        app = self.app
        if app.is_ending:
            self.is_over = True
        elif app.is_stopping or app.is_full():
            if self.is_welcome:
                self.leave()
            if self.may_rest():
                self.is_over = True
                for match in self.unstored.values():
                    complain(f"match {match.id} is lost: no result came")
                self.unstored.clear()
        elif self.has_left and self.is_welcome:
            self.play()

    def may_rest(self):
        """Whether nothing more is to be done here."""
        app = self.app
        if app.is_ending:
            return True
        if not app.is_stopping and not app.is_done():
            return False
        if self.match or self.dying or self.set_left:
            return False
        now = time.monotonic()
        return not self.sock or all(
            now >= by for by in map(self.result_by, self.unstored.values()))

    def result_by(self, match):
        """Until when the result of MATCH is waited for at the end."""
        if match.seats != "1" and match.reason != "finished":
            return math.inf  # the others play on, maybe for long
        return max(match.ended_at, self.app.stopped_at) + RESULT_S

    def lose(self, why):
        """The link is lost: so is what was played on it."""
        with self.lock:
            if self.sock:
                self.sock.close()
            self.sock = None
            self.outbox.clear()
            self.room.notify_all()
        self.play_at = None
        self.app.told_waiting.clear()
        self.await_next()
        lost = list(self.unstored.values())
        match = self.match
        if match is not None:
            lost.append(match)
            self.end_match(match, "term")
            if match.program:
                match.program.signal(b"K")
        self.unstored.clear()
        for match in lost:
            self.app.give_back()
            if not self.app.is_ending:
                complain(f"match {match.id} is lost: " + (
                    "the server is going down" if match.is_going_down
                    else why))

    def wait_to_retry(self, why):
        now = time.monotonic()
        wait = self.back_off
        if self.retry_at > now:
            wait = self.retry_at - now
        self.retry_at = 0.0
        complain(f"{why}; trying again in {wait:.1f} s")
        self.back_off = min(self.back_off * random.uniform(1.6, 2.4),
                            BACK_OFF_S[1])
        end = now + wait
        while not self.is_over and not self.may_rest():
            left = end - time.monotonic()
            if left <= 0 and self.dying is None:
                break
            times = [max(0.0, left) or 0.05]
            if self.dying and self.dying.kill_at:
                times.append(max(0.0, self.dying.kill_at - time.monotonic()))
            select.select([self.bell], [], [], min(times))
            self.silence_bell()
            self.see_to_times()

    def bury(self):
        """Wait until no process of the bot is left."""
        dying = self.dying
        if dying is None:
            return
        dying.program.signal(b"K")
        for one in dying.program.threads:
            one.join(KILL_AFTER_S)


# All of it.

class App:
    """What the slots share: options, how many matches, when to stop."""

    def __init__(self, options):
        self.options = options
        self.lock = threading.RLock()
        self.status = 0
        self.deaths = 0
        self.unrated = set()  # ladders that were told not to count
        self.told_waiting = set()  # ... to be waited on, since a lost link
        self.taken = self.finished = 0
        self.is_stopping = self.is_ending = False
        self.is_asked = False       # by the user, once at least
        self.has_connected = False
        self.stopped_at = 0.0
        self.bell, self.hammer = socket.socketpair()
        self.bell.setblocking(False)
        self.hammer.setblocking(False)
        self.slots = [Slot(self) for _ in range(options.slots)]

    def ring(self):
        try:
            self.hammer.send(b"\0")
        except OSError:
            pass

    def ring_slots(self):
        for slot in self.slots:
            slot.ring()

    def tell_waiting(self, word):
        """So that who waits alone sees that he is there.

        WORD is a @queued. Once for each ladder, and again after a lost link.
        """
        name, options = word.arg(0), self.options
        with self.lock:
            if options.quiet or name in self.told_waiting:
                return
            self.told_waiting.add(name)
        wishes = [play for play in options.play if play.split(" ")[0] == name]
        others = word.number("waiting", 1, default=0) - 1
        text = "%s is logged in to %s:%s and waits on %s" % (
            f"{options.bot} {options.version or ''}".rstrip(),
            *options.address, (wishes or [name])[0])
        if others == 0:
            text += "; nobody else waits there"
        elif others > 0:
            text += f"; {others} other{'s wait' if others > 1 else ' waits'} " \
                "there"
        complain(text)

    def take(self, goes_on=False):
        """Count a match that is offered; false when there are enough.

        One that goes on with a set is taken all the same.
        """
        with self.lock:
            if not goes_on and self.is_full():
                return False
            self.taken += 1
        if self.is_full():
            self.ring_slots()
        return True

    def give_back(self):
        with self.lock:
            self.taken -= 1
        self.ring_slots()

    def finish_one(self):
        with self.lock:
            self.finished += 1
        if self.is_done():
            self.ring_slots()

    def promised(self):
        """Matches that are to follow in sets that have begun."""
        return sum(slot.set_left for slot in self.slots)

    def is_full(self):
        most = self.options.matches
        return most is not None and self.taken + self.promised() >= most

    def is_done(self):
        most = self.options.matches
        return most is not None and self.finished >= most

    def died_at_once(self):
        with self.lock:
            self.deaths += 1
            if self.deaths != DEATHS or self.is_stopping:
                return
        complain(f"{self.options.program[0]} ended at once in {DEATHS} "
                 "matches in a row: taking no more")
        self.status = 1
        self.finish()

    def finish(self):
        """Take no more, and end when those that run have their results."""
        self.stopped_at = self.stopped_at or time.monotonic()
        self.is_stopping = True
        self.ring_slots()

    def stop(self, at_once):
        is_playing = any(slot.match or slot.unstored for slot in self.slots)
        if at_once or self.is_asked:
            self.is_ending = True
        elif is_playing:
            complain("finishing the matches that run; Ctrl-C again ends "
                     "at once")
        else:
            complain("stopping")
        self.is_asked = True
        self.finish()

    def run(self):
        """Play until there is nothing more to play; the exit status."""
        signal.signal(signal.SIGINT, lambda *_: None)
        signal.signal(signal.SIGTERM, lambda *_: None)
        if hasattr(signal, "SIGBREAK"):
            signal.signal(signal.SIGBREAK, lambda *_: None)
        signal.set_wakeup_fd(self.hammer.fileno(),
                             warn_on_full_buffer=False)
        for slot in self.slots:
            slot.thread.start()
        while not all(slot.is_over for slot in self.slots):
            select.select([self.bell], [], [])
            for number in self.bell.recv(4096):
                if number:
                    self.stop(number != signal.SIGINT)
        for slot in self.slots:
            slot.thread.join()
        return self.status


# What is asked of the server by hand: a new bot, a new token.

JOIN_HELP = """\
usage: hill-bridge.py join HOST[:PORT] [INVITE] [--name NAME]
                      [--token-file FILE]
Registers a bot and prints what to run; an INVITE of - is read from standard
input. --help alone says more."""
ROTATE_HELP = """\
usage: hill-bridge.py rotate HOST[:PORT] [--name NAME] [--token-file FILE]
Puts a new token in the file's place; --help alone says more."""


def shell_word(text):
    """TEXT as one word of a shell's line."""
    return shlex.quote(text) if IS_POSIX else subprocess.list2cmdline([text])


def run_words(script):
    """What runs SCRIPT, a file of Python, in a shell."""
    word = shell_word(script)
    if not IS_POSIX:
        return f"python {word}"
    return f"python3 {word}"


def kit_name(game):
    """A contest named "x-y" is played by x_start.py, and so on."""
    return game.partition("-")[0] + "_start.py"


def make_private(path):
    """A descriptor of PATH, a new file for its owner alone."""
    # On Windows a descriptor would write its lines' ends as it likes.
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL |
                   getattr(os, "O_BINARY", 0), 0o600)


def write_private(file, token):
    """TOKEN and a line's end become all that descriptor FILE holds."""
    data = token.encode() + b"\n"
    os.lseek(file, 0, os.SEEK_SET)
    if os.write(file, data) != len(data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    os.ftruncate(file, len(data))
    os.fsync(file)


def hold():
    """From here on signals to end it have no effect.

    Until the token is kept it would be lost with this process.
    """
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)


class Errand:
    """What join and rotate have in common: the words, and the token's file."""

    WORD, HELP, MOST = "", "", 1

    def __init__(self, words):
        self.name = os.environ.get("USER") or os.environ.get("USERNAME") or ""
        self.path, plain_words, words = None, [], list(words)
        while words:
            word = words.pop(0)
            name, sign, value = word.partition("=")
            if name in ("--name", "--token-file") and (sign or words):
                setattr(self, {"--name": "name"}.get(name, "path"),
                        value if sign else words.pop(0))
            elif word == "--help":
                print(self.HELP)
                sys.exit(0)
            elif word.startswith("-") and word != "-":
                misuse(f"{self.WORD}: unknown option {word}, or one without "
                       "its value")
            else:
                plain_words.append(word)
        if not 1 <= len(plain_words) <= self.MOST:
            misuse(f"{self.WORD}: which server?")
        self.address = parse_address(plain_words[0], self.WORD)
        self.invite = plain_words[1] if len(plain_words) == 2 else None
        if self.invite == "-":
            # What is on a command line, others on the machine may read.
            self.invite = sys.stdin.readline().strip()
        if self.invite is not None and not re.fullmatch(r"[!-~]{1,128}", self.invite):
            misuse("that can be no invite: it is a word like join_...")
        if not self.name:
            misuse(f"{self.WORD}: whose? say --name NAME")
        if not re.fullmatch(r"[A-Za-z0-9_-]{3,24}", self.name):
            misuse("--name wants 3 to 24 of a-z 0-9 - _")
        self.path = self.path or f"{self.name}.token"

    def tell_token(self, error, token):
        """TOKEN cannot be kept because of ERROR: tell it all the same."""
        complain(f"{self.path}: {error.strerror or error}")
        put(sys.stdout, f"the new token is {token}")

    def ask(self, link, line, name):
        """The word NAME that answers LINE; Broken when it is refused."""
        link.sock.sendall(line.encode() + b"\n")
        return link.word(name, is_final=True)


class Join(Errand):
    """Registers a bot and keeps its token, as hill-bridge join does."""

    WORD, HELP, MOST = "join", JOIN_HELP, 2

    @staticmethod
    def find_kit(game):
        """Where the starter kit of GAME lies; None when it is not here.

        In hill's sources, or where they are installed to.
        """
        top = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        for folder in ("bots", os.path.join("libexec", "hill")):
            place = os.path.join(top, folder, kit_name(game))
            if os.path.exists(place):
                return place
        return None

    def print_lines(self, link, bot):
        """The default ladders, each with its starter kit."""
        count = self.ask(link, "@ladders", "ladders").arg(0)
        host, port = self.address
        host = f"[{host}]" if ":" in host else host
        told, is_told_where = 0, False
        for _ in range(int(count) if re.fullmatch("[0-9]{1,4}", count) else 0):
            ladder = link.word("ladder")
            name, game = ladder.arg(0), ladder.keys.get("game", "")
            if told == LADDERS_TOLD or not all(
                    re.fullmatch("[A-Za-z0-9._-]{1,64}", text)
                    for text in (name, game)):
                continue
            if told == 0:
                print("play with a starter kit, or your own program in its "
                      "place:")
            told += 1
            kit = self.find_kit(game)
            if kit is None and not is_told_where:
                print("  (the *_start.py are in clients/bots of hill's "
                      "sources: fetch the one you want)")
                is_told_where = True
            print(f"  {run_words(sys.argv[0])} --server {host}:{port} "
                  f"--bot {bot} --token-file {shell_word(self.path)} "
                  f"--play {name} -- {run_words(kit or kit_name(game))}")

    def run(self):
        try:
            file = make_private(self.path)
        except OSError as error:
            why = error.strerror
            if isinstance(error, FileExistsError):
                why = "is there already: use another --name or --token-file"
            complain(f"{self.path}: {why}")
            return 1
        is_kept, link = False, Check(None)
        try:
            link.open(self.address)
            invite = f" invite={self.invite}" if self.invite else ""
            hold()
            word = self.ask(link, f"@register {self.name}{invite}",
                            "registered")
            bot, token = word.arg(0), word.keys.get("token", "")
            if (not re.fullmatch(r"[a-z0-9_-]{3,24}", bot) or
                    not re.fullmatch(r"[!-~]{1,128}", token)):
                raise Broken("the answer makes no sense")
            try:
                write_private(file, token)
                is_kept = True
            except OSError as error:
                self.tell_token(error, token)
                return 1
            print(f"{bot} is registered; its token is in {self.path}")
            try:
                self.print_lines(link, bot)
            except (OSError, Broken):
                pass  # the bot is there all the same
        except (OSError, Broken) as error:
            complain(f"cannot join at {self.address[0]}: {error}")
        finally:
            os.close(file)
            if link.sock is not None:
                link.sock.close()
            if not is_kept:
                os.unlink(self.path)
        return 0 if is_kept else 1


class Rotate(Errand):
    """Puts a new token in the old one's place, as hill-bridge rotate does.

    The new one is told once, and the old one is worth nothing then. So a file
    beside the token's is made first and filled with the old token: when it
    can be, there is room for the new one.
    """

    WORD, HELP = "rotate", ROTATE_HELP

    def run(self):
        old = read_token(self.path)
        path = os.path.realpath(self.path)
        beside, file = path + ".new", None
        try:
            file = make_private(beside)
            write_private(file, old)
        except OSError as error:
            why = error.strerror
            if isinstance(error, FileExistsError):
                why = "left by a rotate that was killed: the token that " \
                    "opens is the one to keep"
            complain(f"{beside}: {why}")
            if file is not None:
                self.forget(file, beside)
            return 1
        token = self.fetch(old)
        if token is None:
            self.forget(file, beside)
            return 1
        try:
            write_private(file, token)
            os.close(file)
            file = None
            os.replace(beside, path)
            self.keep_name(path)
        except OSError as error:
            self.tell_token(error, token)
            self.forget(file, beside)
            return 1
        put(sys.stdout, f"{self.path} holds a new token, and the old ones "
            "open nothing any more: start bridges that run anew")
        return 0

    def fetch(self, old):
        """A new token; None, and told why, when there is none."""
        link, is_lost = Check(None), False
        try:
            link.open(self.address)
            self.ask(link, f"@login {self.name.lower()} {old} proto=1 "
                     f"client=hill-bridge/{VERSION}+python", "welcome")
            hold()
            is_lost = True
            token = self.ask(link, "@rotate", "token").arg(0)
            if not re.fullmatch(r"[!-~]{1,128}", token):
                raise Broken("the answer makes no sense")
            return token
        except (OSError, Broken) as error:
            complain(f"cannot rotate at {self.address[0]}: {error}")
            if is_lost and not isinstance(error, Refused):
                complain(f"{self.path}: if it opens nothing any more, ask "
                         "the host for a new token")
        finally:
            if link.sock is not None:
                link.sock.close()
        return None

    @staticmethod
    def forget(file, path):
        if file is not None:
            os.close(file)
        try:
            os.unlink(path)
        except OSError:
            pass

    @staticmethod
    def keep_name(path):
        """The file PATH is its folder's for good, where a folder is a file."""
        if IS_POSIX:
            folder = os.open(os.path.dirname(path), os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)


# What the link does to matches.

class Check:
    """Measures the link, as hill-bridge --check does."""

    def __init__(self, options):
        self.options = options
        self.sock = self.lines = None
        self.ladders, self.rtt_us = [], []

    def word(self, name, is_final=False):
        """The next word NAME; an @error before it is told, or is the end."""
        while True:
            line = self.lines.readline(LINE_BYTES)
            if not line.endswith(b"\n"):
                raise Broken("link lost")
            if not line.startswith(b"@"):
                continue
            word = Word(line.rstrip(b"\r\n").decode("utf-8", "replace"))
            if word.name == name:
                return word
            if word.name == "error":
                complain(f"the server says: {word.rest}")
                if is_final:
                    raise Refused("refused")

    def open(self, address=None):
        self.sock = connect(*(address or self.options.address))
        self.sock.settimeout(ANSWER_S)
        self.lines = self.sock.makefile("rb")
        self.word("hill")
        if address is None and not self.ladders:
            self.sock.sendall(b"@ladders\n")
            count = self.word("ladders").arg(0)
            if not re.fullmatch("[0-9]{1,4}", count):
                raise Broken("the server tells no ladders")
            found = [self.word("ladder") for _ in range(int(count))]
            self.ladders = [word for word in found if re.fullmatch(
                "[A-Za-z0-9._-]{1,64}", word.arg(0))]

    def ping(self, until):
        while time.monotonic() < until and len(self.rtt_us) < SAMPLES:
            begun = time.perf_counter()
            try:
                self.sock.sendall(b"@ping\n")
                self.word("pong")
            finally:  # an answer that never came took at least so long
                self.rtt_us.append(int((time.perf_counter() - begun) * 1e6))
            time.sleep(max(0.0, begun + PING_EVERY_S - time.perf_counter()))

    def tell(self):
        ordered = sorted(self.rtt_us)
        count = len(ordered)
        least, middle, most, last = (ordered[place] / 1000 for place in (
            0, count // 2, count * 99 // 100, -1))
        put(sys.stdout, f"{count} round trips: least {least:.1f} ms, median "
            f"{middle:.1f}, 99 of 100 within {most:.1f}, longest {last:.1f}")
        put(sys.stdout, f"for a bot that thinks {self.options.think_ms} ms "
            "for each reply:")
        for ladder in self.ladders:
            self.tell_ladder(ladder)

    def tell_ladder(self, ladder):
        terms = {key: ladder.number(key, 0, 2 ** 31 - 1, 0) for key in (
            "turn-ms", "init-ms", "bank-ms", "bank-step-ms", "lag-cap-ms",
            "grace-ms", "whole-input", "waiting", "playing")}
        requests = ladder.number("turns", default=REQUESTS_GUESS)
        requests = ladder.number("maxturns", default=requests)
        requests = 1 if terms["whole-input"] else min(requests,
                                                      REQUESTS_MOST)
        late, banked, spent_us, least_us = outlook(
            terms, requests, self.rtt_us, self.options.think_ms * 1000)
        text = f"{ladder.arg(0)}: {late / OUTLOOK_MATCHES:.2f} of " \
            f"{requests} replies late a match; "
        if terms["grace-ms"]:
            text += f"no bank, but SIGINT at {terms['turn-ms']} ms and " \
                f"{terms['grace-ms']} ms of grace"
        elif terms["bank-ms"] == 0:
            text += "no bank"
        else:
            text += f"the bank of {terms['bank-ms']} ms pays for " \
                f"{banked / OUTLOOK_MATCHES:.2f}, " \
                f"{spent_us / OUTLOOK_MATCHES / 1000:.1f} ms in all, and " \
                f"is never below {least_us / 1000:.0f} ms"
        put(sys.stdout, text + f"; {terms['waiting']} waiting, "
            f"{terms['playing']} playing")

    def run(self):
        until = time.monotonic() + self.options.seconds
        status = 0
        try:
            while time.monotonic() < until:
                link_until = time.monotonic() + LINK_S
                self.open()
                self.ping(min(link_until, until))
                self.sock.sendall(b"@quit\n")
                self.sock.close()
        except (Broken, OSError) as error:
            name = "%s:%s" % self.options.address
            why = getattr(error, "strerror", None) or error
            complain(f"cannot check {name}: {why}")
            status = 1
        if self.rtt_us:
            self.tell()
        return status


def outlook(terms, requests, rtt_us, think_us):
    """(late, banked, spent_us, least_us) in all of OUTLOOK_MATCHES matches.

    Each goes through the round trips in the order in which they were
    measured, from another one on: what comes in bursts stays together.
    """
    late = banked = spent_us = 0
    least_us = terms["bank-ms"] * 1000
    limit_us = terms["turn-ms"] * 1000 + min(min(rtt_us),
                                             terms["lag-cap-ms"] * 1000)
    if terms["grace-ms"]:
        limit_us += (terms["grace-ms"] + GRACE_MARGIN_MS) * 1000
    step_us = terms["bank-step-ms"] * 1000 if terms["bank-ms"] else 0
    # Only replies past their time matter, so only these are looked at.
    over = [(place, took + think_us - limit_us)
            for place, took in enumerate(rtt_us)
            if took + think_us > limit_us]
    count = len(rtt_us)
    for match in range(OUTLOOK_MATCHES if over else 0):
        start = match * count // OUTLOOK_MATCHES
        bank_us = terms["bank-ms"] * 1000
        begun = 0
        for request, over_us in over_in_order(over, start, count, requests):
            if request == 0:
                over_us -= terms["init-ms"] * 1000
            if over_us <= 0:
                continue
            bank_us += (request + 1 - begun) * step_us
            begun = request + 1
            most_us = 0 if terms["grace-ms"] else min(SPEND_MS * 1000,
                                                      bank_us)
            paid_us = min(over_us, most_us)
            late += over_us > most_us
            banked += over_us <= most_us
            bank_us -= paid_us
            spent_us += paid_us
            least_us = min(least_us, bank_us)
    return late, banked, spent_us, least_us


def over_in_order(over, start, count, requests):
    """(request, over_us) of a match that begins at round trip START."""
    ordered = [(place - start, us) for place, us in over if place >= start]
    ordered += [(place - start + count, us) for place, us in over
                if place < start]
    for lap in range(0, requests, count):
        for place, us in ordered:
            if lap + place < requests:
                yield lap + place, us


# The command line.

class Options:
    """What the command line says."""

    def __init__(self):
        self.address = self.bot = self.token = self.token_file = None
        self.play, self.program = [], []
        self.slots, self.matches = 1, None
        self.version, self.candidate = None, False
        self.log_dir = "hill-logs"
        self.no_log = self.chdir = self.quiet = False
        self.check, self.seconds, self.think_ms = False, 30, 0


def misuse(text):
    complain(text)
    complain("try --help")
    sys.exit(2)


def parse_address(text, name="--server"):
    match = re.fullmatch(
        r"(?:\[([^]]+)\]|([^:\[\]]+))(?::([A-Za-z0-9-]+))?", text)
    if not match:
        misuse(f"{name} wants HOST[:PORT], not {text}")
    return (match[1] or match[2], match[3] or "4455")


def parse_count(name, text, most, least=1):
    if not re.fullmatch(r"[0-9]{1,9}", text) or \
            not least <= int(text) <= most:
        misuse(f"{name} wants a number from {least} to {most}, not {text}")
    return int(text)


def parse(words):
    """The options of the command line WORDS; ends where they are wrong."""
    options = Options()
    words = list(words)
    while words:
        word = words.pop(0)
        if word == "--":
            break
        if not word.startswith("-"):
            words.insert(0, word)
            break
        name, sign, value = word.partition("=")
        if name in ("--no-log", "--chdir", "--quiet",
                    "--candidate") and not sign:
            setattr(options, name[2:].replace("-", "_"), True)
            continue
        if name == "--help":
            sys.stdout.write(USAGE)
            sys.exit(0)
        if word == "-V" or word == "--version" and not words:
            print(f"hill-bridge {VERSION} python")
            sys.exit(0)
        if name not in ("--server", "--bot", "--token-file", "--play",
                        "--slots", "--matches", "--log-dir", "--check",
                        "--seconds", "--think-ms", "--version"):
            misuse(f"unknown option {word}")
        if not sign:
            if not words:
                misuse(f"{name} wants a value")
            value = words.pop(0)
        parse_value(options, name, value)
    options.program = words
    if options.check:
        return options
    if options.candidate and not options.version:
        misuse("--candidate wants --version")
    missing = [name for name, value in (
        ("--server", options.address), ("--bot", options.bot),
        ("--token-file", options.token_file), ("--play", options.play),
        ("a program", options.program)) if not value]
    if missing:
        misuse(f"it wants {missing[0]}")
    return options


def parse_value(options, name, value):
    if name == "--server":
        options.address = parse_address(value)
    elif name == "--bot":
        if not re.fullmatch(r"[a-z0-9_-]{3,24}", value):
            misuse(f"--bot wants 3 to 24 of a-z 0-9 - _, not {value}")
        options.bot = value
    elif name == "--play":
        if not re.fullmatch(r"[A-Za-z0-9._-]{1,64}( [^\r\n]*)?", value):
            misuse(f"{value} cannot be a ladder's name")
        options.play.append(value)
    elif name == "--version":
        if not re.fullmatch(r"[A-Za-z0-9._+-]{1,32}", value):
            misuse(f"--version wants 1 to 32 of A-Z a-z 0-9 . _ + -, not {value}")
        options.version = value
    elif name == "--slots":
        options.slots = parse_count(name, value, 64)
    elif name == "--check":
        options.address, options.check = parse_address(value, name), True
    elif name == "--seconds":
        options.seconds = parse_count(name, value, 600)
    elif name == "--think-ms":
        options.think_ms = parse_count(name, value, 600000, 0)
    elif name == "--matches":
        options.matches = parse_count(name, value, 10 ** 9 - 1)
    else:
        setattr(options, name[2:].replace("-", "_"), value)


def read_token(path):
    try:
        # An editor may have begun it with a mark of its encoding.
        with open(path, "r", encoding="utf-8-sig") as file:
            if IS_POSIX and os.fstat(file.fileno()).st_mode & 0o077:
                complain(f"others may read {path}: chmod 600 it")
            words = file.read(4096).split()
    except UnicodeDecodeError:
        words = []
    except OSError as error:
        misuse(f"cannot read {path}: {error.strerror}")
    if len(words) != 1 or not re.fullmatch(r"[!-~]{1,128}", words[0]):
        complain(f"{path} holds no token")
        sys.exit(2)
    return words[0]


def is_script(name, is_posix=IS_POSIX):
    """Whether NAME is run by this Python: Windows starts no script itself."""
    return not is_posix and name.lower().endswith((".py", ".pyw"))


def find_program(name):
    """Where program NAME is; ends where it cannot be run."""
    path = shutil.which(name)
    if path is None:
        why = "No such file or directory"
        if os.path.exists(name) and os.path.dirname(name):
            why = "it is no executable file"
        elif os.path.exists(name):
            why += " on the path; for the file here put ./ or its " \
                "interpreter before it"
        complain(f"cannot run {name}: {why}")
        sys.exit(2)
    return os.path.abspath(path)


def main():
    for stream in (sys.stdout, sys.stderr):
        # What a console cannot show is told by its number, not left out.
        stream.reconfigure(errors="backslashreplace")
    errands = {"join": Join, "rotate": Rotate}
    if sys.argv[1:] and sys.argv[1] in errands:
        sys.exit(errands[sys.argv[1]](sys.argv[2:]).run())
    options = parse(sys.argv[1:])
    if options.check:
        sys.exit(Check(options).run())
    options.token = read_token(options.token_file)
    if is_script(options.program[0]):
        options.program[:1] = [sys.executable,
                               os.path.abspath(options.program[0])]
    path = find_program(options.program[0])
    if os.path.dirname(options.program[0]) or not IS_POSIX:
        options.program[0] = path  # it holds in the match's folder too
    if options.chdir:
        options.program[1:] = [os.path.abspath(word) if os.path.exists(word)
                               else word for word in options.program[1:]]
    options.log_dir = os.path.normpath(options.log_dir)
    sys.exit(App(options).run())


if __name__ == "__main__":
    main()
