# SPDX-License-Identifier: MIT
"""Lines on the wire of a real hilld: what may come, and how it may be cut."""
import os
import re
import socket
import subprocess
import time

import pytest

from arena import (IS_SANITIZED, MINE, Fighter, Painting, add_battle,
                   add_mine, add_rabbits, check_calm, notes_of,
                   record_of, seats_of, start_battle)
from conftest import wait_until
from memory import Peak
from season import hillctl

IS_LONG = bool(os.environ.get("HILL_LONG"))
FLOOD_MB = 200 if IS_LONG else 40


def send_all_or_until_closed(sock, count_mb):
    """Send zeros without an LF; whether the other side has ended it."""
    block = b"x" * (1 << 20)
    sock.settimeout(5)
    try:
        for _ in range(count_mb):
            sock.sendall(block)
    except OSError:
        return True
    return False


# ---- how bytes are cut ----

@pytest.mark.parametrize("game", ["rabbit-runner", "image-battle",
                                  "lambda-mining"])
def test_bc12_cr_lf_makes_the_same_game_as_lf(hilld, game):
    add = {"rabbit-runner": add_rabbits, "lambda-mining": add_mine,
           "image-battle": add_battle}[game]
    token = hilld.add_bot("crazy")
    records = []
    if game == "image-battle":
        answers = ["3,4 4,4", "3,5 3,6", ""]
    elif game == "rabbit-runner":
        answers = ["move 1,1 to 2,1", "move 2,1 to 3,1", "move"]
    else:
        answers = ["RR"]
    for end in ("\n", "\r\n"):
        ladder = f"ladder-{len(records)}"
        if add is add_battle:
            add(hilld, ladder, seeds="7..7", maxturns=3)
        elif records:  # the map is the first ladder's
            hilld.admin("ladder add", name=ladder, game=game, seeds="7..7",
                        maps=["ladder-0.map"], bot_seed="match",
                        **({"params": "turns=3"} if add is add_rabbits
                           else {}))
        else:
            add(hilld, ladder, seeds="7..7", bot_seed="match")
        peer = hilld.peer().login("crazy", token)
        match = peer.ready(ladder)
        for answer in answers:
            if game != "lambda-mining":
                peer.expect("pick pixels" if add is add_battle else "rabbits")
            peer.socket.sendall((answer + end).encode())
        peer.expect(f"@result {match}")
        records.append(record_of(hilld, match))
    assert records[0] == records[1]
    assert b"\r" not in records[1][2]


def test_bc14_a_line_end_in_two_packets_is_one(hilld):
    add_battle(hilld, turn_ms=400)
    peer = hilld.peer().login("crazy", hilld.add_bot("crazy"))
    match = peer.ready("battle")
    peer.expect("pick pixels")
    peer.socket.sendall(b"3,4 4,4\r")
    time.sleep(0.05)
    peer.socket.sendall(b"\n")
    peer.expect("colour (255,0,0) chose 3,4 4,4")
    peer.expect("pick pixels")
    # An empty answer would be a pass and end the battle.
    assert peer.line().startswith("@fault late 1/5 turn=2 ")
    peer.expect("pick pixels")
    peer.say(f"@resign {match}")
    peer.expect(f"@result {match}")
    assert [note[0] for note in notes_of(hilld, match)] == [
        "reply", "late", "gone"]


def test_bc15_all_commands_of_one_packet_are_answered(hilld):
    peer = hilld.peer()
    token = hilld.add_bot("crazy")
    peer.say(f"@login crazy {token}", *(f"@ping {i}" for i in range(1000)))
    peer.expect("@welcome crazy")
    for i in range(1000):
        assert peer.line() == f"@pong {i}"


def test_a_match_byte_by_byte_is_the_same_match(hilld):
    add_battle(hilld, maxturns=3)
    peer = hilld.peer()
    peer.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    token = hilld.add_bot("crazy")

    def say_slowly(line):
        for byte in (line + "\n").encode():
            peer.socket.sendall(bytes([byte]))

    say_slowly(f"@login crazy {token}")
    say_slowly("@play battle")
    match = peer.expect("@match ").split()[1]
    say_slowly(f"@ready {match}")
    for answer, told in (("3,4", "3,4"), ("3,5 9,9 4,4", "3,5 4,4")):
        peer.expect("pick pixels")
        say_slowly(answer)
        peer.expect(f"colour (255,0,0) chose {told}")


# ---- too much ----

def test_bc16_no_line_end_before_login_ends_the_link(hilld):
    add_battle(hilld, turn_ms=20000)
    [player] = start_battle([hilld.peer().login("crazy",
                                                hilld.add_bot("crazy"))])
    player.paint()
    peak = Peak(hilld.process)
    flood = hilld.peer()
    send_all_or_until_closed(flood.socket, FLOOD_MB)
    assert flood.line().startswith("@hill 1 ")
    assert flood.line().startswith("@error line-too-long")
    player.paint()
    assert peak.growth_kib() < (16384 if IS_SANITIZED else 2048)


def test_bc16_no_line_end_after_login_ends_the_link(hilld):
    add_battle(hilld, turn_ms=20000)
    token = hilld.add_bot("crazy")
    [player] = start_battle([hilld.peer().login("crazy", token)])
    player.paint()
    flood = hilld.peer().login("crazy", token)
    peak = Peak(hilld.process)
    send_all_or_until_closed(flood.socket, FLOOD_MB)
    assert flood.line().startswith("@error flood")
    player.paint()
    assert peak.growth_kib() < (16384 if IS_SANITIZED else 2048)


def test_bc16_a_flood_costs_no_other_match_its_time(hilld):
    add_battle(hilld, turn_ms=20000, maxturns=100000, size=(20, 1000))
    token = hilld.add_bot("crazy")
    [player] = start_battle([hilld.peer().login("crazy", token)])
    with Painting(player) as painting:
        for _ in range(15 if IS_LONG else 5):
            # Once before the login, once after it.
            for flood in (hilld.peer(), hilld.peer().login("crazy", token)):
                send_all_or_until_closed(flood.socket, 4)
                flood.close()
        wait_until("enough was seen", lambda: len(painting.seconds) > 10 or
                   painting.failure)
    check_calm(painting, hilld)


def test_an_overlong_game_line_is_the_empty_answer(hilld):
    add_battle(hilld, maxturns=3)
    peer = hilld.peer().login("crazy", hilld.add_bot("crazy"))
    match = peer.ready("battle")
    peer.expect("pick pixels")
    peer.say("3,4 " * 20000)
    assert peer.line().startswith("@fault long 1/- turn=1 ")
    peer.expect("exit")
    peer.expect(f"@result {match}")
    assert seats_of(hilld, match)[0]["overlong"] == 1


def test_an_overlong_control_line_is_refused_and_dropped(hilld):
    peer = hilld.peer().login("crazy", hilld.add_bot("crazy"))
    peer.say("@ping " + "x" * 5000, "@ping after")
    assert peer.line().startswith("@error line-too-long")
    assert peer.line() == "@pong after"


# ---- what a program may print ----

def test_bc17_a_traceback_is_so_many_bad_answers(hilld):
    add_battle(hilld, seats=2, maxturns=12)
    loud, calm = start_battle(
        [hilld.peer().login(name, hilld.add_bot(name))
         for name in ("loud", "calm")])
    loud.peer.say("Traceback (most recent call last):",
                  *(f'  File "bot.py", line {i}, in <m\x1bodule>'
                    for i in range(10)), "ValueError: 1,2")
    for _ in range(12):
        calm.paint()
    loud.peer.expect(f"@result {loud.match}")
    by_name = {seat["bot"]: seat for seat in seats_of(hilld, loud.match)}
    # Each line answers one request, and that is one fault.
    assert by_name["loud"]["requests"] == 12
    assert by_name["loud"]["invalid"] == 12
    assert by_name["loud"]["reason"] == "finished"
    assert by_name["calm"]["rank"] == 1
    assert "Traceback" not in hilld.log.read_text()


def test_bc17_a_traceback_is_a_fault_of_each_turn_of_rabbits(hilld):
    add_rabbits(hilld, turn_ms=20000)
    peer = hilld.peer().login("crazy", hilld.add_bot("crazy"))
    match = peer.ready("rabbits")
    said = ["Traceback (most recent call last):", "  File \x1b[2J\x07" +
            "x" * 500, "ValueError: \x7f\x9b"]
    faults = []
    for number, line in enumerate(said, 1):
        peer.expect("rabbits ")
        peer.say(line)
        faults.append(peer.expect("@fault "))
        assert faults[-1].startswith(f"@fault invalid {number}/- "
                                     f"turn={number} : ")
    assert peer.expect(f"@end {match}").endswith(" reason=finished")
    peer.expect(f"@result {match}")
    for line in faults:
        assert line.isprintable() and len(line) < 200
    assert 'turn=2 : no move in "  File  [2J xxx' in faults[1]
    assert faults[2].endswith(': no move in "ValueError:   "')
    [seat] = seats_of(hilld, match)
    assert (seat["reason"], seat["invalid"], seat["requests"]) == (
        "finished", 3, 3)
    shown = hillctl(hilld.database, "replay", match, "--socket",
                    f"{hilld.short}/sock").stdout
    assert "  File \\x1b[2J\\x07xxx" in shown
    assert re.search(r"ValueError: \\x7f(\\u\{9b\}|\\xc2\\x9b)\n", shown)
    assert all(line.isprintable() for line in shown.split("\n"))
    assert "Traceback" not in hilld.log.read_text()


def test_bc19_names_that_look_alike_are_one_name(hilld):
    hilld.add_bot("bot-one")
    for name in ("Bot-One", "bot_one", " bot-one", "bot one"):
        with pytest.raises(AssertionError) as refused:
            hilld.add_bot(name, owner="somebody")
        assert "name" in str(refused.value)


@pytest.mark.parametrize("seats", [2, 4])
def test_bc19_a_bot_against_itself_keeps_its_seats_apart(hilld, seats):
    add_battle(hilld, seats=seats, rated=False, maxturns=3)
    token = hilld.admin("bot add", name="twin", owner="one",
                        max_connections=8)["token"]
    peers = [hilld.peer().login("twin", token) for _ in range(seats)]
    for _ in range(50 if IS_LONG else 5):
        fighters = start_battle(peers)
        for peer in peers:
            peer.say("@leave")
        painted = {}
        for fighter in fighters:  # seat n paints n pixels, and then passes
            cells = [fighter.pixel() for _ in range(fighter.seat + 1)]
            fighter.peer.say(" ".join(cells), "", "")
            painted[fighter.seat] = len(cells)
        scores = {}
        for fighter in fighters:
            line = fighter.peer.expect(f"@result {fighter.match}")
            scores[fighter.seat] = line
        found = seats_of(hilld, fighters[0].match)
        assert [seat["bot"] for seat in found] == ["twin"] * seats
        assert [seat["rank"] for seat in found] == list(range(seats, 0, -1))
        for peer in peers:
            peer.say("@ping done")
            peer.expect("@pong done")


def test_bc19_results_go_to_the_bot_that_played(hilld):
    add_battle(hilld, seats=2, maxturns=2)
    peers = {name: hilld.peer().login(name, hilld.add_bot(name))
             for name in ("limes", "lemons")}
    for game in range(50 if IS_LONG else 6):
        fighters = start_battle(peers.values())
        for fighter in fighters:
            fighter.peer.say("@leave")
        winner = ("limes", "lemons")[game % 2]
        for name, fighter in zip(peers, fighters):
            cells = [fighter.pixel() for _ in range(3)]
            fighter.peer.say(" ".join(cells) if name == winner else cells[0],
                             "")
        for fighter in fighters:
            fighter.peer.expect(f"@result {fighter.match}")
        ranks = {seat["bot"]: seat["rank"]
                 for seat in seats_of(hilld, fighters[0].match)}
        assert ranks[winner] == 1 and sorted(ranks.values()) == [1, 2]


BAD_ANSWERS = ["abc", "1", "1,2,3", "-1,0", "5000,5000", "1;2", "1,2 x 9,9",
               "99999999999999999999,1", ",", "1,", "\0", "\xff\xfe,1",
               "1,1 " * 12000, "@@3,4"]


def test_bc20_bad_answers_give_no_pixel_and_end_nothing(hilld):
    add_battle(hilld, seats=2, size=(20, 200), maxturns=10000)
    bad, good = start_battle(
        [hilld.peer().login(name, hilld.add_bot(name))
         for name in ("bad", "good")])
    for number, answer in enumerate(BAD_ANSWERS, 1):
        # Who is asked first changes from turn to turn.
        pixel = good.pixel()
        good.peer.say(pixel)
        bad.peer.socket.sendall(answer.encode("latin-1") + b"\n")
        told = {bad.peer.line() for _ in range(3)}
        [fault] = [line for line in told if line.startswith("@fault")]
        assert told == {"pick pixels", fault,
                        f"colour {good.colour} chose {pixel}"}
        assert re.match(rf"@fault invalid {number}/- turn={number} ", fault)
    # Twenty good ones where ten are allowed: ten.
    cells = [bad.pixel() for _ in range(20)]
    bad.peer.say(" ".join(cells))
    good.peer.say(good.pixel())
    assert good.peer.expect(f"colour {bad.colour}") == (
        f"colour {bad.colour} chose " + " ".join(cells[:10]))
    good.peer.say(f"@resign {good.match}")
    bad.peer.say(f"@resign {bad.match}")
    bad.peer.expect(f"@result {bad.match}")
    found = {seat["bot"]: seat for seat in seats_of(hilld, bad.match)}
    assert found["bad"]["late"] == found["good"]["late"] == 0


# ---- other ways to speak ----

def test_a_half_closed_netcat_is_served_to_its_last_line(hilld):
    add_mine(hilld)
    token = hilld.add_bot("crazy")
    typed = f"@login crazy {token}\n@play mine\n@ready 1\nRR\n"
    done = subprocess.run(["nc", "-N", "127.0.0.1", str(hilld.port)],
                          input=typed, capture_output=True, text=True,
                          timeout=60, check=True)
    # Its @ready was said before there was a match: no promise, no match.
    assert "@welcome crazy" in done.stdout
    assert "@queued mine" in done.stdout


def test_a_half_closed_link_still_gets_its_result(hilld):
    add_mine(hilld)
    peer = hilld.peer().login("crazy", hilld.add_bot("crazy"))
    match = peer.ready("mine")
    peer.say("@leave", "RR")
    peer.socket.shutdown(socket.SHUT_WR)
    told = peer.rest()
    assert f"@place {match} seat=1 bot=crazy score=73 rank=1" in told
    assert told[-1].startswith(f"@result {match} score=73 ")


def test_a_half_closed_link_in_a_match_is_a_seat_that_is_gone(hilld):
    add_battle(hilld)
    peer = hilld.peer().login("crazy", hilld.add_bot("crazy"))
    match = peer.ready("battle")
    peer.say("3,4")
    peer.socket.shutdown(socket.SHUT_WR)
    told = peer.rest()
    assert "colour (255,0,0) chose 3,4" in told
    assert any(line.startswith(f"@end {match} ") and "reason=gone" in line
               for line in told)
    assert told[-1].startswith(f"@result {match} ")


@pytest.mark.parametrize("request_line", [
    "GET / HTTP/1.1", "POST /x HTTP/1.0", "OPTIONS * HTTP/1.1",
    "PRI * HTTP/2.0"])
def test_http_on_the_bots_port_ends_the_link_unanswered(hilld, request_line):
    peer = hilld.peer()
    peer.expect("@hill 1 ")
    peer.socket.sendall(f"{request_line}\r\nHost: x\r\n\r\n".encode())
    assert peer.rest() == []


def test_tls_on_the_bots_port_ends_the_link(hilld):
    peer = hilld.peer()
    peer.expect("@hill 1 ")
    peer.socket.sendall(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" +
                        bytes(range(32, 240)) * 3)
    told = peer.rest()
    assert told and all(line.startswith("@error ") for line in told)


# ---- refusals ----

@pytest.mark.parametrize("line, code", [
    ("@fly", "unknown-word"),
    ("@play", "bad-arguments"),
    ("@play a b c", "bad-arguments"),
    ("@play x=1 x=2 mine", "bad-arguments"),
    ("@ready x", "bad-arguments"),
    ("@ready 04711", "bad-arguments"),
    ("@play closed any matches=1", "bad-arguments"),
    ("@ping \xff\xfe", "bad-text"),
    ("@ping \0", "bad-text"),
    ("@login crazy x", "not-now"),
    ("hello there", "stray-line"),
    ("@play nowhere", "unknown-ladder"),
    ("@play closed", "ladder-disabled"),
    ("@ready 4711", "unknown-match"),
    ("@resign 4711", "unknown-match"),
    ("@gone 4711 exit=1", "unknown-match"),
])
def test_a_refusal_names_its_cause_and_the_link_goes_on(hilld, line, code):
    add_mine(hilld, "closed")
    hilld.admin("ladder disable", name="closed")
    peer = hilld.peer().login("crazy", hilld.add_bot("crazy"))
    peer.socket.sendall(line.encode("latin-1") + b"\n")
    assert peer.line().split()[:2] == ["@error", code]
    peer.say("@ping still-here")
    assert peer.line() == "@pong still-here"


def test_what_does_not_read_as_a_login_is_none(hilld):
    peer = hilld.peer()
    peer.expect("@hill 1 ")
    token = hilld.add_bot("crazy")
    for line in ("@login crazy", "@login cr.zy x", f"@login crazy {token} proto=x",
                 f"@login crazy {token} candidate=1"):
        peer.say(line)
        assert peer.line().split()[:2] == ["@error", "bad-arguments"]
    peer.say(f"@login crazy {token}")
    peer.expect("@welcome crazy")


@pytest.mark.parametrize("line, code", [
    ("@login crazy wrong", "login-failed"),
    ("@login nobody TOKEN", "login-failed"),
    ("@login crazy TOKEN proto=2", "protocol-version"),
    ("@login retired TOKEN2", "bot-disabled"),
])
def test_a_refused_login_ends_the_link(hilld, line, code):
    token = hilld.add_bot("crazy")
    retired = hilld.add_bot("retired")
    hilld.admin("bot disable", name="retired")
    peer = hilld.peer()
    peer.expect("@hill 1 ")
    peer.say(line.replace("TOKEN2", retired).replace("TOKEN", token))
    told = peer.rest()
    assert len(told) == 1 and told[0].split()[:2] == ["@error", code]


def test_waiting_twice_is_refused(hilld):
    add_battle(hilld, seats=2)
    peer = hilld.peer().login("crazy", hilld.add_bot("crazy"))
    peer.say("@play battle", "@play battle")
    assert peer.line() == "@queued battle waiting=1"
    assert peer.line().startswith("@error already-queued")


def test_a_peer_that_says_nothing_good_is_sent_away(hilld):
    peer = hilld.peer()
    peer.expect("@hill 1 ")
    peer.say(*["@wat"] * 9)
    told = peer.rest()
    assert len(told) == 6
    assert told[-1].startswith("@error too-many-errors")
    peer = hilld.peer().login("crazy", hilld.add_bot("crazy"))
    peer.say(*["@wat"] * 40)
    told = peer.rest()
    assert len(told) == 33
    assert told[-1].startswith("@error too-many-errors")


def test_a_silent_peer_must_log_in_in_time(start_hilld):
    server = start_hilld("--set", "login-seconds=1")
    peer = server.peer()
    peer.expect("@hill 1 ")
    for _ in range(3):  # bytes do not help
        peer.socket.sendall(b" ")
        time.sleep(0.1)
    begun = time.monotonic()
    assert peer.rest()[0].startswith("@error login-timeout")
    assert time.monotonic() - begun < 1.5


def test_wrong_logins_from_one_address_must_wait(start_hilld):
    server = start_hilld("--set", "login-failures-max=3",
                         "--set", "login-failure-seconds=60")
    token = server.add_bot("crazy")
    for _ in range(3):
        peer = server.peer()
        peer.say("@login crazy wrong")
        assert peer.rest()[-1].startswith("@error login-failed")
    peer = server.peer()
    peer.say(f"@login crazy {token}")
    assert re.match(r"@error address-limit retry-after=\d+ ", peer.rest()[-1])


def test_a_full_server_says_so(start_hilld):
    server = start_hilld("--set", "connections-max=3")
    inside = [server.peer() for _ in range(3)]
    for peer in inside:
        peer.expect("@hill 1 ")
    assert re.match(r"@error server-full retry-after=\d+ ",
                    server.peer().rest()[-1])
    inside.pop().close()
    token = server.add_bot("crazy")

    def comes_in():
        peer = server.peer()
        peer.say(f"@login crazy {token}")
        greeting = peer.line()
        peer.close()
        return greeting.startswith("@hill ")
    wait_until("room again", comes_in, server.process)


def test_a_new_login_at_the_cap_evicts_the_oldest_that_is_free(hilld):
    add_battle(hilld)
    token = hilld.admin("bot add", name="crazy", owner="one",
                        max_connections=2)["token"]
    playing = hilld.peer().login("crazy", token)
    [fighter] = start_battle([playing])
    idle = hilld.peer().login("crazy", token)
    newer = hilld.peer().login("crazy", token)
    assert idle.line().startswith("@error evicted")
    assert idle.line() is None
    fighter.paint()
    newer.say("@play battle")
    newer.expect("@match ")
    refused = hilld.peer()
    refused.say(f"@login crazy {token}")
    assert re.match(r"@error bot-busy retry-after=\d+ ", refused.rest()[-1])
    fighter.paint()


# ---- matches ----

def test_a_seat_that_is_cancelled_never_sees_the_map(hilld):
    add_battle(hilld, seats=2, ready_ms=300)
    peers = {name: hilld.peer().login(name, hilld.add_bot(name))
             for name in ("eager", "silent")}
    for peer in peers.values():
        peer.say("@play battle")
    eager, silent = (Fighter(peer).offered() for peer in peers.values())
    eager.ready()
    heard = [eager.peer.line()]
    assert re.match(rf"@cancel {eager.match} reason=silent queued=1",
                    heard[0])
    assert re.match(rf"@cancel {silent.match} reason=silent queued=0",
                    silent.peer.line())
    for peer in peers.values():
        peer.say("@ping all", "@quit")
        assert peer.rest() == ["@pong all"]


def test_words_of_a_match_that_is_over_have_crossed_its_end(hilld):
    add_mine(hilld)
    peer = hilld.peer().login("crazy", hilld.add_bot("crazy"))
    match = peer.ready("mine")
    peer.say("@leave", "RR")
    peer.expect(f"@result {match} ")
    peer.say(f"@ready {match}", f"@skip {match}", f"@gone {match} exit=0",
             f"@resign {match}", "a late answer", "@ping x")
    assert peer.line() == "@pong x"


def test_answers_ahead_wait_for_their_requests(hilld):
    add_battle(hilld, maxturns=40, size=(20, 80))
    [fighter] = start_battle(
        [hilld.peer().login("crazy", hilld.add_bot("crazy"))])
    # More than may wait: reading stops, and nothing is lost.
    cells = [fighter.pixel() for _ in range(40)]
    fighter.peer.say(*cells, "@ping behind")
    for cell in cells:
        fighter.peer.expect(f"colour (255,0,0) chose {cell}")
    fighter.peer.expect("@pong behind")
    fighter.peer.expect(f"@result {fighter.match}")
    [seat] = seats_of(hilld, fighter.match)
    assert seat["requests"] == 40 and seat["late"] == 0


def test_a_quiet_bot_hears_the_games_lines_only(hilld):
    add_battle(hilld, maxturns=3)
    peer = hilld.peer().login("crazy", hilld.add_bot("crazy"))
    peer.say("@play battle")
    match = peer.expect("@match ").split()[1]
    peer.say(f"@ready {match} quiet")
    peer.expect("@start ")
    peer.say("3,4 nonsense", "3,5 nonsense", "")
    assert [peer.line() for _ in range(6)] == [
        "pick pixels", "colour (255,0,0) chose 3,4",
        "pick pixels", "colour (255,0,0) chose 3,5",
        "pick pixels", "exit"]
    faults = [peer.line() for _ in range(2)]
    assert all(line.startswith("@fault invalid ") for line in faults)
    assert peer.line().startswith(f"@end {match} stop=exit reason=finished")


def test_a_mine_that_is_left_without_a_route_is_gone(hilld):
    assert MINE
    add_mine(hilld)
    peer = hilld.peer().login("crazy", hilld.add_bot("crazy"))
    match = peer.ready("mine")
    peer.say(f"@gone {match} exit=1")
    peer.expect(f"@result {match} score=0")
    [seat] = seats_of(hilld, match)
    assert (seat["reason"], seat["how"]) == ("gone", "exit=1")
