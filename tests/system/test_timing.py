# SPDX-License-Identifier: MIT
"""The turn clock of a real hilld, mostly on ladders without lag and bank."""
import datetime
import os
import pathlib
import random
import subprocess
import threading
import time

import pytest

from arena import (Stopwatch, add_battle, add_mine, add_rabbits, notes_of,
                   rows, seats_of, slack_ms, start_battle,
                   wait_stored)

IS_LONG = bool(os.environ.get("HILL_LONG"))


def one_fighter(server, **fields):
    add_battle(server, **fields)
    token = server.add_bot("crazy")
    [fighter] = start_battle([server.peer().login("crazy", token)])
    return fighter


def two_fighters(server, **fields):
    add_battle(server, seats=2, **fields)
    return start_battle([server.peer().login(name, server.add_bot(name))
                         for name in ("first", "second")])


def resign(server, fighter):
    """End FIGHTER's part and the match; its row."""
    fighter.peer.say("@leave", f"@resign {fighter.match}")
    fighter.peer.expect(f"@result {fighter.match}")
    found = seats_of(server, fighter.match)
    return found[fighter.seat]


def test_bc21_a_late_answer_belongs_to_its_own_turn(hilld):
    fighter = one_fighter(hilld, turn_ms=200)
    fighter.paint()
    fighter.paint()
    fighter.picked()
    assert fighter.peer.line().startswith("@fault late 1/5 turn=3 ")
    fighter.peer.say("5,5")
    for _ in range(5):
        fighter.paint()
    seat = resign(hilld, fighter)
    assert seat["late"] == 1
    kinds = [note[0] for note in notes_of(hilld, fighter.match)]
    assert kinds[:5] == ["reply", "reply", "late", "thrown", "reply"]


def test_bc22_answers_a_little_late_are_faults_each(hilld):
    fighter = one_fighter(hilld, turn_ms=100)
    for turn in range(1, 6):
        told = fighter.peer.expect("@fault ")
        assert told.startswith(f"@fault late {turn}/5 turn={turn} ")
        # The clock of the next request starts when this late one comes.
        time.sleep(0.02)
        fighter.peer.say(fighter.pixel())
    fighter.peer.expect("exit")
    assert "reason=suspended" in fighter.peer.expect("@end ")
    fighter.peer.expect(f"@result {fighter.match} ")


def test_bc22_a_rabbit_that_is_late_ends_its_run(hilld):
    add_rabbits(hilld, original=True)
    peer = hilld.peer().login("crazy", hilld.add_bot("crazy"))
    match = peer.ready("rabbits")
    peer.expect("rabbits ")
    peer.say("move")
    peer.expect("rabbits ")
    assert peer.line().startswith("@fault late 1/1 turn=2 ")
    peer.say("move")
    assert "reason=late" in peer.line()
    peer.expect(f"@result {match}")
    assert 500 <= notes_of(hilld, match)[1].ms < 500 + slack_ms()


def test_bc24_a_turn_of_three_lines_is_timed_once(hilld):
    add_rabbits(hilld, turns=5, original=True)
    peer = hilld.peer().login("crazy", hilld.add_bot("crazy"))
    match = peer.ready("rabbits")
    for _ in range(5):
        peer.expect("rabbits ")
        time.sleep(0.2)
        peer.say("move")
    peer.expect(f"@result {match}")
    for note in notes_of(hilld, match):
        assert note.kind == "reply"
        assert 198 <= note.ms + note.stall_ms < 200 + slack_ms()


def test_bc25_a_step_of_the_wall_clock_is_no_time(
        start_hilld, monkeypatch, tmp_path):
    step = tmp_path / "step"
    step.write_text("0")
    preload = tmp_path / "wall_step.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", preload,
                    pathlib.Path(__file__).with_name("wall_step.c")], check=True)
    monkeypatch.setenv("WALL_STEP", str(step))
    monkeypatch.setenv("LD_PRELOAD", str(preload))
    monkeypatch.setenv("ASAN_OPTIONS", "verify_asan_link_order=0:" +
                       os.environ.get("ASAN_OPTIONS", ""))
    server = start_hilld()
    monkeypatch.delenv("LD_PRELOAD")
    fighter = one_fighter(server, turn_ms=800)
    fighter.paint()
    for shift in ("3600", "-3600"):
        fighter.picked()
        step.write_text(shift)
        server.peer().say("@quit")  # for a line in the log
        time.sleep(0.2)
        fighter.peer.say(fighter.pixel())  # in time
        fighter.peer.expect("colour ")
        fighter.picked()
        watch = Stopwatch()
        assert fighter.peer.line().startswith("@fault late ")  # not in time
        assert 790 <= watch.ms() < 800 + 5 * slack_ms()
        fighter.peer.say("@skip")
    seat = resign(server, fighter)
    assert seat["late"] == 2
    assert seat["max_us"] < 800_000
    [[began, ended]] = rows(server, "SELECT started_us, ended_us FROM match")
    assert ended >= began
    times = [datetime.datetime.fromisoformat(line.split()[0].rstrip("Z")) for line
             in (tmp_path / "hilld.log").read_text().splitlines()]
    assert (max(times) - min(times)).total_seconds() > 3000  # it saw them


def test_bc26_the_clock_runs_only_while_an_answer_is_due(hilld):
    add_battle(hilld, seats=4, turn_ms=500, maxturns=6)
    names = ("quick", "slow-1", "slow-2", "slow-3")
    fighters = start_battle(
        [hilld.peer().login(name, hilld.add_bot(name)) for name in names])

    def play(fighter, pause):
        while fighter.peer.expect(("pick pixels", "exit")) != "exit":
            time.sleep(pause)
            fighter.peer.say(fighter.pixel())

    threads = [threading.Thread(target=play, args=(fighter, pause))
               for fighter, pause in zip(fighters, (0.005, 0.25, 0.25, 0.25))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    found = {seat["bot"]: seat for seat in seats_of(hilld,
                                                    fighters[0].match)}
    assert found["quick"]["late"] == 0
    assert found["quick"]["requests"] == 6
    assert found["quick"]["max_us"] < (5 + slack_ms()) * 1000


def test_bc28_each_turn_ends_once_when_answers_race_the_limit(hilld):
    limit_ms, connections = 20, 8
    turns = 20000 if IS_LONG else 400
    add_battle(hilld, turn_ms=limit_ms, maxturns=100000, size=(20, 900))
    token = hilld.admin("bot add", name="racer", owner="one",
                        max_connections=connections)["token"]
    matches, done = [], [0]
    wobble = random.Random(28)

    def race():
        peer = hilld.peer().login("racer", token)
        peer.say("@play battle")
        while done[0] < turns:
            match = int(peer.expect("@match ").split()[1])
            peer.say(f"@ready {match}")
            matches.append(match)
            row = 3
            while True:
                line = peer.expect(("pick pixels", "@end ", "colour "))
                if line.startswith("@end"):
                    break
                if line.startswith("colour"):
                    row += 1
                    continue
                done[0] += 1
                time.sleep((limit_ms - 0.2 + wobble.uniform(-2, 2)) / 1000)
                peer.say(f"3,{row + 1}")
        peer.say("@leave", f"@resign {match}")
        peer.expect(f"@result {match}")

    threads = [threading.Thread(target=race) for _ in range(connections)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120 + turns / 100)
        assert not thread.is_alive()
    late = in_time = 0
    for match in matches:
        if not rows(hilld, "SELECT 1 FROM match WHERE id = ?", match):
            continue  # offered when the others had enough
        [seat] = seats_of(hilld, match)
        kinds = [note[0] for note in notes_of(hilld, match)]
        ended = kinds.count("reply") + kinds.count("late")
        assert ended + kinds.count("gone") >= seat["requests"] >= ended
        assert kinds.count("late") == seat["late"] <= 5
        assert kinds.count("thrown") <= seat["late"]
        late += seat["late"]
        in_time += kinds.count("reply")
    assert late > 0 and in_time > 0


def test_bc29_a_bot_that_sleeps_for_ever_costs_its_turns_and_loses(hilld):
    awake, asleep = two_fighters(hilld, turn_ms=200, maxturns=10)
    watch = Stopwatch()
    awake.peer.say(*(awake.pixel() for _ in range(10)))
    awake.peer.expect(f"@result {awake.match}")
    assert watch.ms() < 5 * 2 * 200 + 5000
    found = {seat["bot"]: seat for seat in seats_of(hilld, awake.match)}
    assert found["second"]["reason"] == "suspended"
    assert found["second"]["late"] == 5
    assert (found["first"]["rank"], found["second"]["rank"]) == (1, 2)


def test_bc30_a_turn_in_which_all_are_late_ends_nothing(hilld):
    fighters = two_fighters(hilld, turn_ms=250, maxturns=20, size=(20, 40))

    def both_paint():
        cells = [fighter.pixel() for fighter in fighters]
        for fighter, cell in zip(fighters, cells):
            fighter.peer.say(cell)
        for fighter in fighters:
            for _ in cells:
                fighter.peer.expect("colour ")

    for _ in range(5):
        both_paint()
    for fighter in fighters:  # nobody answers
        assert fighter.peer.expect("@fault ").startswith("@fault late 1/5 ")
    for fighter in fighters:  # nor will: what is said now is another turn's
        fighter.peer.say("@skip")
    for _ in range(14):
        both_paint()
    for fighter in fighters:
        assert "reason=finished" in fighter.peer.expect("@end ")
        fighter.peer.expect(f"@result {fighter.match} ")


@pytest.mark.parametrize("skips", [False, True])
def test_a_silent_seat_delays_a_battle_by_its_limits_and_its_bank(
        hilld, skips):
    silent, awake = two_fighters(
        hilld, turn_ms=100, bank_ms=300, bank_step_ms=2, maxturns=20)
    watch = Stopwatch()
    awake.peer.say(*(awake.pixel() for _ in range(10)))
    for number in range(1, 6):
        assert silent.peer.expect("@fault ").startswith(
            f"@fault late {number}/5 ")
        if skips:
            silent.peer.say("@skip")
    silent.peer.expect("exit")
    took = watch.ms()
    # The first spends the bank. Then 2 ms are there for each request; while
    # an answer is owed its clock starts one turn later.
    wanted = [100 + 302] + [100 + 2 + (0 if skips else 100)] * 4
    assert sum(wanted) - 50 < took < sum(wanted) + 5 * slack_ms()
    awake.peer.say(f"@resign {awake.match}")
    awake.peer.expect(f"@result {awake.match} ")
    late = [note.ms for note in notes_of(hilld, awake.match)
            if note.kind == "late" and note.seat == silent.seat]
    assert len(late) == 5
    for ms, limit in zip(late, [402] + [102] * 4):
        assert limit <= ms < limit + slack_ms()


def test_the_bank_pays_for_a_late_answer_and_says_so(hilld):
    fighter = one_fighter(hilld, turn_ms=200, bank_ms=1000, bank_step_ms=2)
    fighter.picked()
    time.sleep(0.3)
    fighter.peer.say(fighter.pixel())
    words = dict(word.split("=") for word in
                 fighter.peer.expect("@banked ").split()[1:])
    assert words["turn"] == "1"
    # Of the 300 what our own loop was late by, on a loaded machine, is not charged.
    assert 205 <= int(words["ms"]) < 300 + slack_ms()
    assert int(words["left"]) == pytest.approx(
        1002 - (int(words["ms"]) - 200), abs=1)
    fighter.peer.expect("colour ")
    assert resign(hilld, fighter)["banked"] == 1


def test_the_first_answer_has_time_to_start(hilld):
    fighter = one_fighter(hilld, turn_ms=100, init_ms=600)
    fighter.picked()
    time.sleep(0.5)
    fighter.peer.say(fighter.pixel())
    fighter.peer.expect("colour ")
    fighter.picked()
    watch = Stopwatch()
    assert fighter.peer.line().startswith("@fault late 1/5 turn=2 ")
    assert watch.ms() < 100 + slack_ms()


def test_a_mine_is_interrupted_and_may_still_answer(hilld):
    add_mine(hilld, turn_ms=300, grace_ms=500)
    peer = hilld.peer().login("crazy", hilld.add_bot("crazy"))
    match = peer.ready("mine")
    watch = Stopwatch()
    peer.expect(f"@interrupt {match}")
    assert 290 <= watch.ms() < 300 + slack_ms()
    peer.say("@leave", "RR")
    peer.expect(f"@result {match} score=73")


def test_a_mine_that_stays_silent_is_late_after_its_grace(hilld):
    add_mine(hilld, turn_ms=200, grace_ms=100)
    peer = hilld.peer().login("crazy", hilld.add_bot("crazy"))
    match = peer.ready("mine")
    watch = Stopwatch()
    peer.expect(f"@interrupt {match}")
    peer.expect("@fault late ")
    assert 2290 <= watch.ms() < 2300 + 2 * slack_ms()
    peer.expect(f"@result {match} score=0")


def test_a_seat_that_is_not_ready_in_time_is_cancelled(hilld):
    add_mine(hilld, ready_ms=200)
    peer = hilld.peer().login("crazy", hilld.add_bot("crazy"))
    peer.say("@play mine")
    match = peer.expect("@match ").split()[1]
    watch = Stopwatch()
    assert peer.expect("@cancel ").startswith(
        f"@cancel {match} reason=silent queued=0")
    assert 190 <= watch.ms() < 200 + slack_ms()
    assert not rows(hilld, "SELECT 1 FROM match")


def test_a_peer_that_does_not_read_spends_its_own_time(hilld):
    reader, deaf = two_fighters(hilld, turn_ms=150, maxturns=30)
    assert deaf.peer  # and nothing is read from it again
    watch = Stopwatch()
    reader.peer.say(*(reader.pixel() for _ in range(15)))
    reader.peer.expect(f"@result {reader.match} ")
    assert watch.ms() < 5 * 2 * 150 + 2000
    wait_stored(hilld, reader.match)
