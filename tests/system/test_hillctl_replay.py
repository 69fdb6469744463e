# SPDX-License-Identifier: MIT
"""hillctl: stored matches played again, exported and verified, damaged ones too."""
import base64
import json
import os
import pty
import re
import subprocess
import zlib

import pytest

from hillctl import HILLCTL, IS_LONG, RABBIT_MAP, make_matches


def test_every_replay_is_of_its_row(played):
    """BC55"""
    rows = played.json("match", "list", "--limit", 1000)["matches"]
    assert "void" in {row["status"] for row in rows}
    void = [row for row in rows if row["status"] == "void"]
    for row in rows if IS_LONG else rows[::4] + void[:2]:
        replay = played.json("replay", row["id"])
        assert replay["match"] == row
        assert row == played.json("match", "show", row["id"])["match"]
        for seat, score in zip(row["seats"], replay["scores"]):
            if row["status"] == "void":
                assert (seat["rank"], row["void_reason"]) == (0, "stall: the host slept")
                seat["rank"] = score["rank"]
            assert {k: seat[k] for k in ("seat", "score", "rank", "reason")} == score
        said = [line for line in replay["lines"] if line["dir"] == "said"]
        assert len(said) == row["inputs"]
        head = played.run("replay", row["id"]).out.splitlines()[0]
        assert head.startswith(f"match {row['id']}, {row['game']} on {row['map']}, "
                               f"seed {row['seed']}")


def test_a_replay_shows_times_and_faults(played):
    for row in played.json("match", "list", "--limit", 1000)["matches"][::2]:
        replay = played.json("replay", row["id"])
        for seat in row["seats"]:
            said = [line for line in replay["lines"]
                    if line["dir"] == "said" and line["seat"] == seat["seat"]]
            assert [line["request"] for line in said if line["kind"] != "gone"] == list(
                range(1, len([x for x in said if x["kind"] != "gone"]) + 1))
            assert len([x for x in said if x["kind"] == "late"]) == seat["late"]
            slowest = max([x["ms"] for x in said if x["kind"] == "reply"], default=0)
            assert abs(slowest - seat["max_us"] / 1000) <= 0.1
            invalid = [line for line in replay["lines"]
                       if line["dir"] == "note" and line["seat"] == seat["seat"] and
                       line["text"].startswith("invalid: ")]
            assert len(invalid) == seat["invalid"]


def test_one_seats_lines_are_byte_for_byte(played):
    row = played.json("match", "list", "--ladder", "battle")["matches"][0]
    exported = played.json("export", row["id"])
    for seat in (1, 2):
        said = [base64.b64decode(x["text_base64"]) if "text_base64" in x else x["text"].encode()
                for x in exported["transcript"] if x["seat"] == seat and x["kind"] == "reply"]
        done = played.run("replay", row["id"], "--seat", seat, "--said")
        assert done.stdout == b"".join(line + b"\n" for line in said)
        saw = [x["text"] for x in played.json("replay", row["id"])["lines"]
               if x["seat"] == seat and x["dir"] == "saw"]
        assert played.run("replay", row["id"], "--seat", seat, "--saw").out.splitlines() == saw
    assert "has 2 seats" in played.run("replay", row["id"], "--seat", 3, status=1).err


def test_hostile_lines_cannot_steer_the_terminal(played):
    for row in played.json("match", "list", "--limit", 1000)["matches"]:
        said = played.run("replay", row["id"], "--seat", 1, "--said").stdout
        if b"\x1b" not in said:
            continue
        text = played.run("replay", row["id"]).stdout
        assert b"\\x1b[2J\\\\ \\xff\\xc3 " in text
        assert b"\x1b" not in text and b"\xff" not in text
        break
    else:
        pytest.fail("no program said anything hostile")


def test_an_export_always_parses_and_is_complete(played):
    """BC77, BC78"""
    for row in played.json("match", "list", "--limit", 1000)["matches"][::3]:
        text = played.run("export", row["id"]).stdout
        exported = json.loads(text, parse_constant=pytest.fail)
        assert exported["format"] == "hill match 1"
        assert exported["match"] == row
        assert len(exported["transcript"]) == row["inputs"]
        fed = [x for x in exported["notes"] if x["kind"] in ("reply", "late", "gone")]
        assert [(x["seat"], x["kind"]) for x in fed] == [
            (x["seat"], x["kind"]) for x in exported["transcript"]]
        for seat in exported["match"]["seats"]:
            turns = [x["turn"] for x in fed if x["seat"] == seat["seat"]]
            assert turns == list(range(1, len(turns) + 1)) and turns
        if row["game"] == "rabbit-runner":
            assert exported["map"]["data"].encode() == RABBIT_MAP
        if row["game"] == "image-battle":
            assert base64.b64decode(exported["map"]["data_base64"]).startswith(b"\x89PNG")


def test_numbers_that_json_has_not_are_null(played):
    """BC78"""
    number = played.json("match", "list", "--limit", 1)["matches"][0]["id"]
    played.sql("UPDATE seat SET score = 9e999, columns = '[1e999, 1.8e-308, -0.0]' "
               "WHERE match_id = ?1", number)
    for words in (("export", number), ("match", "list"), ("match", "show", number), ("summary",)):
        text = played.run("--json", *words).stdout
        json.loads(text, parse_constant=pytest.fail)


def test_a_nul_in_a_line_is_kept(played):
    """BC77"""
    number = played.json("match", "list", "--ladder", "mine")["matches"][0]["id"]
    pack(played, number, [(0, b"ab\0cd")])
    exported = played.json("export", number)
    assert base64.b64decode(exported["transcript"][0]["text_base64"]) == b"ab\0cd"


# ---- verify ----

def pack(ctl, number, replies):
    """Put another transcript into the database."""
    data = bytes([1]) + b"".join(bytes([seat << 2, len(text)]) + text for seat, text in replies)
    ctl.sql("UPDATE transcript SET transcript = ?2 WHERE match_id = ?1", number,
            zlib.compress(data))


def of_ladder(ctl, ladder):
    """A long match of LADDER."""
    rows = ctl.json("match", "list", "--ladder", ladder, "--limit", 1000)["matches"]
    return max(rows, key=lambda row: row["inputs"])


def test_all_matches_verify(played):
    count = len(played.json("match", "list", "--limit", 1000)["matches"])
    before = played.dump()
    assert played.run("verify", "--all").out == f"{count} verified, 0 failed\n"
    assert played.json("verify", "--all", "-j", 4) == {
        "ok": True, "verified": count, "failed": 0, "failures": []}
    assert played.run("verify", of_ladder(played, "battle")["id"]).out == (
        "1 verified, 0 failed\n")
    assert played.dump() == before


def failure(ctl, number):
    """What verify says of the only bad match."""
    assert ctl.run("verify", number, status=1).out.endswith("0 verified, 1 failed\n")
    count = len(ctl.json("match", "list", "--limit", 1000)["matches"])
    document = ctl.json("verify", "--all", "-j", 3, status=1)
    assert (document["verified"], document["failed"]) == (count - 1, 1)
    [entry] = document["failures"]
    assert entry["id"] == number
    text = ctl.run("verify", "--all", status=1).out
    assert f"match {number} {entry['verdict']}: {entry['text']}\n" in text
    return entry


def test_a_damaged_transcript_is_told_with_its_place(played):
    number = of_ladder(played, "battle")["id"]
    [(blob,)] = played.sql("SELECT transcript FROM transcript WHERE match_id = ?1", number)
    for cut in (blob[:len(blob) // 2], blob[:20] + b"\xff" * 20 + blob[40:], b"\0" * 30, b"x"):
        played.sql("UPDATE transcript SET transcript = ?2 WHERE match_id = ?1", number, cut)
        entry = failure(played, number)
        assert entry["verdict"] == "damaged"
        assert re.search(r"damaged behind input \d+", entry["text"])
        assert "damaged" in played.run("replay", number, status=1).err
        done = played.run("export", number, status=1)
        assert "damaged" in done.err and json.loads(done.stdout)["match"]["id"] == number


def rabbit_move(lines):
    """A request beyond the 20th, and a move that changes what is seen next."""
    rows = RABBIT_MAP.decode().splitlines()
    seen = []
    for line in lines:
        if line["dir"] == "saw" and line["text"].startswith("rabbits"):
            seen = line["text"].split()[1:]
        if line["dir"] != "said" or line["request"] <= 20:
            continue
        for rabbit in seen:
            x, y = map(int, rabbit.split(","))
            for to_x, to_y in ((x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)):
                if rows[to_y][to_x] == " ":
                    return line["request"], f"move {x},{y} to {to_x},{to_y}".encode()
    return None, None


def test_another_reply_is_told_with_the_requests_between_which_it_parts(laddered):
    ctl = laddered
    for number in make_matches(ctl, "rabbits", 30, 0, "crazy"):
        entries = ctl.json("export", number)["transcript"]
        at, text = rabbit_move(ctl.json("replay", number)["lines"])
        if at is not None and at + 2 < len(entries):
            break
    else:
        pytest.fail("no match is long enough")
    data = bytearray([1])
    for request, entry in enumerate(entries, 1):
        data.append(("reply", "late", "gone").index(entry["kind"]))
        if entry["kind"] == "reply":
            said = (base64.b64decode(entry["text_base64"]) if "text_base64" in entry
                    else entry["text"].encode())
            said = text if request == at else said
            data += bytes([len(said)]) + said
    ctl.sql("UPDATE transcript SET transcript = ?2 WHERE match_id = ?1", number,
            zlib.compress(bytes(data)))
    entry = failure(ctl, number)
    assert entry["verdict"] == "differs"
    before, behind = entry["agree_to"], entry["part_by"]
    assert before["input"] < at <= behind["input"]
    assert (before["request"], behind["request"]) == (before["input"], behind["input"])
    assert behind["input"] - before["input"] <= 4
    assert f"part by input {behind['input']} (seat 1's request {behind['request']})" in (
        entry["text"])


@pytest.mark.parametrize("change, verdict, told", [
    ("UPDATE match SET digest = digest + 1 WHERE id = ?1", "differs", "other lines"),
    ("UPDATE match SET inputs = inputs + 1 WHERE id = ?1", "differs", "inputs"),
    ("UPDATE match SET engine_version = 99 WHERE id = ?1", "unplayable", "version 99"),
    ("UPDATE seat SET points = points + 1 WHERE match_id = ?1 AND number = 1", "differs",
     "seat 1"),
    ("UPDATE seat SET score = score + 0.25 WHERE match_id = ?1 AND number = 2", "differs",
     "seat 2"),
    ("UPDATE seat SET reason = 'gone' WHERE match_id = ?1 AND number = 1", "differs", "gone"),
    ("UPDATE transcript SET notes = x'00' WHERE match_id = ?1", "damaged", "notes"),
    ("UPDATE transcript SET samples = zeroblob(16) WHERE match_id = ?1", "damaged", "samples"),
])
def test_a_changed_row_is_found(played, change, verdict, told):
    rows = played.json("match", "list", "--ladder", "battle", "--limit", 1000)["matches"]
    number = next(row["id"] for row in rows if row["seats"][0]["reason"] != "gone" and row["status"] == "stored")
    played.sql(change, number)
    entry = failure(played, number)
    assert entry["verdict"] == verdict
    assert told in entry["text"]


def test_another_map_is_found(played):
    rows = played.json("match", "list", "--map", "small.map", "--limit", 1000)["matches"]
    played.sql("UPDATE map SET data = CAST(replace(data, 'c', ' ') AS BLOB), size_bytes = length(data) "
               "WHERE name = 'small.map'")
    document = played.json("verify", "--all", status=1)
    assert sorted(f["id"] for f in document["failures"]) == sorted(row["id"] for row in rows)


def test_notes_that_are_damaged_cost_only_the_times(played):
    row = of_ladder(played, "rabbits")
    whole = played.json("replay", row["id"])
    played.sql("UPDATE transcript SET notes = x'00' WHERE match_id = ?1", row["id"])
    done = played.run("--json", "replay", row["id"])
    assert "not complete" in done.err
    saw = [x for x in whole["lines"] if x["dir"] == "saw"]
    assert [x for x in json.loads(done.stdout)["lines"] if x["dir"] == "saw"] == saw


def test_progress_is_shown_on_a_terminal_only(played):
    leader, follower = pty.openpty()
    done = subprocess.run([HILLCTL, "--database", played.database, "verify", "--all"],
                          stdout=subprocess.PIPE, stderr=follower, check=True)
    os.close(follower)
    shown = os.read(leader, 65536)
    os.close(leader)
    assert b"verified" in shown and b"\r" in shown
    assert b"\r" not in done.stdout
    assert played.run("verify", "--all").err == ""
