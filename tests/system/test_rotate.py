# SPDX-License-Identifier: MIT
"""hill-bridge rotate: a new token takes the old one's place, and none is lost."""
import resource
import signal
import socket
import subprocess
import time

import pytest

from bridges import COMMANDS, TOKEN

NEW = "hill_" + "fr3sh" * 8

# pylint: disable=redefined-outer-name


@pytest.fixture
def rotate(kind, tmp_path):
    """start(server's port, words): a running rotate, or WORD; ended afterwards."""
    started = []

    def start(port, *words, limit=None, word="rotate", host="127.0.0.1"):
        def prepare():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            if limit is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        started.append(subprocess.Popen(
            [*COMMANDS[kind], word, f"{host}:{port}", *map(str, words)],
            cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            preexec_fn=prepare))
        return started[-1]

    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()


def asked(hill, rotate, token, **options):
    """A rotate whose question is heard and to be answered."""
    process = rotate(hill.port, "--name", "Crazy", "--token-file", token, **options)
    hill.accept()
    hill.say("@hill 1 here")
    hill.expect(rf"@login crazy {TOKEN} proto=1 client=hill-bridge/\S+")
    hill.say("@welcome crazy", "@notice : down at noon")
    hill.expect("@rotate")
    return process


def ended(process, status):
    out, err = process.communicate(timeout=20)
    assert process.returncode == status, out + err
    return out, err


def test_the_new_token_opens_and_the_old_one_does_not(hilld, rotate, tmp_path):
    old = hilld.add_bot("crazy")
    (tmp_path / "kept").write_text(old + "\n")
    (tmp_path / "kept").chmod(0o600)
    (tmp_path / "crazy.token").symlink_to("kept")
    link = hilld.peer().login("crazy", old)
    out, err = ended(rotate(hilld.port, "--name", "crazy"), 0)
    assert out.startswith("crazy.token holds a new token") and err == ""
    new = (tmp_path / "kept").read_text()
    assert new.endswith("\n") and new.strip() != old and new.strip() not in out
    assert (tmp_path / "kept").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "crazy.token").is_symlink() and not (tmp_path / "kept.new").exists()
    hilld.peer().login("crazy", new.strip())
    refused = hilld.peer()
    refused.expect("@hill 1 ")
    refused.say(f"@login crazy {old}")
    assert refused.line().startswith("@error login-failed ")
    link.say("@ping still-here")
    link.expect("@pong still-here")
    # Once more, with what it wrote.
    ended(rotate(hilld.port, "--name", "crazy"), 0)
    hilld.peer().login("crazy", (tmp_path / "kept").read_text().strip())


@pytest.mark.parametrize("answer, is_lost", [
    ("@error try-later retry-after=9 : come later", False),
    ("@token", True),  # no token at all
    (None, True)])  # the link ends
def test_without_a_new_token_the_old_one_stays(hill, rotate, token, answer, is_lost):
    process = asked(hill, rotate, token)
    if answer is None:
        hill.link.close()
        hill.link = None
    else:
        hill.say(answer)
    _, err = ended(process, 1)
    assert ("ask the host for a new token" in err) == is_lost, err
    assert token.read_text() == TOKEN + "\n"
    assert list(token.parent.glob("*.new")) == []


def test_who_is_refused_at_the_door_is_told(hill, rotate, token):
    process = rotate(hill.port, "--name", "crazy", "--token-file", token)
    hill.accept()
    hill.say("@hill 1 here")
    hill.expect("@login .*")
    hill.say("@error login-failed : no such bot")
    _, err = ended(process, 1)
    assert "no such bot" in err and "ask the host" not in err
    assert token.read_text() == TOKEN + "\n" and list(token.parent.glob("*.new")) == []


@pytest.mark.parametrize("signal_number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_no_signal_comes_between_the_question_and_the_file(hill, rotate, token, signal_number):
    process = asked(hill, rotate, token)
    process.send_signal(signal_number)
    hill.say(f"@token {NEW}")
    ended(process, 0)
    assert token.read_text() == NEW + "\n"


def test_a_token_that_cannot_be_written_is_told(hill, rotate, token):
    process = asked(hill, rotate, token, limit=len(TOKEN) + 1)
    assert len(NEW) > len(TOKEN)
    hill.say(f"@token {NEW}")
    out, err = ended(process, 1)
    assert f"the new token is {NEW}\n" in out and str(token) in err
    assert token.read_text() == TOKEN + "\n" and list(token.parent.glob("*.new")) == []


def test_a_token_whose_file_is_gone_meanwhile_is_told(hill, rotate, token):
    process = asked(hill, rotate, token)
    token.unlink()
    token.mkdir()
    hill.say(f"@token {NEW}")
    out, err = ended(process, 1)
    assert f"the new token is {NEW}\n" in out and str(token) in err


def test_nothing_is_asked_without_room_for_the_answer(hill, rotate, token):
    _, err = ended(rotate(hill.port, "--name", "crazy", "--token-file", token, limit=4), 1)
    assert "token.new: " in err
    assert list(token.parent.glob("*.new")) == []
    # What another one left may be the only token that opens.
    beside = token.with_name("token.new")
    beside.write_text("precious")
    _, err = ended(rotate(hill.port, "--name", "crazy", "--token-file", token), 1)
    assert "left by a rotate that was killed" in err
    assert beside.read_text() == "precious" and token.read_text() == TOKEN + "\n"
    hill.listener.settimeout(0.2)
    with pytest.raises(TimeoutError):
        hill.accept()


@pytest.fixture
def deaf(hill):
    """127.0.0.2 does not answer on the server's port: its queue is full."""
    listener = socket.create_server(("127.0.0.2", hill.port), backlog=0)
    waiting = [listener]
    for _ in range(8):
        one = socket.socket()
        one.settimeout(0.5)
        waiting.append(one)
        try:
            one.connect(("127.0.0.2", hill.port))
        except TimeoutError:
            break
    else:
        pytest.skip("a full queue takes more")
    yield
    for one in waiting:
        one.close()


@pytest.mark.usefixtures("deaf")
def test_a_dead_address_of_the_host_costs_time_alone(hill, rotate, tmp_path, odd):
    odd["hosts"].write_text("127.0.0.2 127.0.0.1")
    process = rotate(hill.port, "code", "--name", "crazy", word="join", host="odd.test")
    hill.accept()
    hill.say("@hill 1 here")
    hill.expect("@register crazy invite=code")
    time.sleep(6)  # together with the dead one's longer than an answer may take
    hill.say(f"@registered crazy token={NEW}")
    hill.expect("@ladders")
    hill.say("@ladders 0")
    out, _ = ended(process, 0)
    assert "crazy is registered" in out
    assert (tmp_path / "crazy.token").read_text() == NEW + "\n"


def test_join_tells_a_token_that_it_cannot_keep(hill, rotate, tmp_path):
    process = rotate(hill.port, "code", "--name", "crazy", word="join", limit=4)
    hill.accept()
    hill.say("@hill 1 here")
    hill.expect("@register crazy invite=code")
    process.send_signal(signal.SIGINT)
    hill.say(f"@registered crazy token={NEW}")
    out, err = ended(process, 1)
    assert f"the new token is {NEW}\n" in out and "crazy.token: " in err
    assert not (tmp_path / "crazy.token").exists()


def test_misuse_is_told(rotate, tmp_path):
    _, err = ended(rotate(1, "--name", "crazy"), 2)
    assert "crazy.token" in err
    (tmp_path / "crazy.token").write_text(TOKEN)
    for words in (["--name", "x"], ["--name"], ["--frobnicate"], ["one-more"]):
        ended(rotate(1, "--token-file", "crazy.token", *words), 2)
    assert ended(rotate(1, "--help"), 0)[0].startswith("usage: hill-bridge")
