# SPDX-License-Identifier: MIT
"""hillctl: which matches there are, and how bots fared."""
import time

import pytest

from hillctl import GAMES, make_matches


def test_lists_filter_and_page(played):
    everything = played.json("match", "list", "--limit", 1000)["matches"]
    ids = [m["id"] for m in everything]
    assert ids == sorted(ids, reverse=True) and len(ids) >= 72
    for option, member in (("--ladder", "ladder"), ("--game", "game"), ("--map", "map"),
                           ("--seed", "seed")):
        value = everything[0][member]
        found = played.json("match", "list", option, value, "--limit", 1000)["matches"]
        assert [m["id"] for m in found] == [m["id"] for m in everything if m[member] == value]
    found = played.json("match", "list", "--bot", "crazy", "--limit", 1000)["matches"]
    assert [m["id"] for m in found] == [
        m["id"] for m in everything if "crazy" in [s["bot"] for s in m["seats"]]]
    found = played.json("match", "list", "--reason", "late", "--limit", 1000)["matches"]
    assert [m["id"] for m in found] == [
        m["id"] for m in everything if "late" in [s["reason"] for s in m["seats"]]]
    found = played.json("match", "list", "--bot", "crazy", "--opponent", "digger",
                        "--limit", 1000)["matches"]
    assert found and [m["id"] for m in found] == [
        m["id"] for m in everything
        if {"crazy", "digger"} <= {s["bot"] for s in m["seats"]}]
    assert not played.json("match", "list", "--bot", "crazy", "--opponent", "crazy")["matches"]
    played.sql("UPDATE match SET ended_us = ended_us - 86400000000 * 365 WHERE id <= ?1", ids[30])
    times = sorted(t for t, in played.sql("SELECT ended_us FROM match"))
    cut = next(t for t in times if t > times[0] + 86400000000)
    for text in ("%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"):
        when = time.strftime(text, time.gmtime(cut // 1000000))
        new = played.json("match", "list", "--since", when, "--limit", 1000)["matches"]
        old = played.json("match", "list", "--until", when, "--limit", 1000)["matches"]
        assert [m["id"] for m in new] == ids[:30] and [m["id"] for m in old] == ids[30:]
    assert "--opponent needs --bot" in played.wrong("match", "list", "--opponent", "crazy")
    assert "'yesterday' is no time" in played.wrong("match", "list", "--since", "yesterday")
    page = played.json("match", "list", "--limit", 5, "--before", ids[4])["matches"]
    assert [m["id"] for m in page] == ids[5:10]
    assert len(played.run("match", "list").out.splitlines()) == 51


def test_void_matches_are_found_with_their_reason(played):
    everything = played.json("match", "list", "--limit", 1000)["matches"]
    found = played.json("match", "list", "--void", "--limit", 1000)["matches"]
    assert found and found == [m for m in everything if m["status"] == "void"]
    ladder = found[0]["ladder"]
    some = played.json("match", "list", "--void", "--ladder", ladder, "--limit", 1000)["matches"]
    assert some and some == [m for m in found if m["ladder"] == ladder]
    line = next(line for line in played.run("match", "list", "--void").out.splitlines()
                if f" {found[0]['seed']} " in line)
    assert line.endswith(f"void: {found[0]['void_reason']}") and found[0]["void_reason"]
    assert " void" not in played.run("match", "list", "--reason", "late").out
    out = played.run("match", "void", "--bot", "crazy", "--version", "1", "--reason", "x",
                     "--dry-run").out
    assert "matches that would become void: " in out and " void: 0;" not in out
    assert "no version" in played.refused("match", "void", "--bot", "crazy", "--version=9",
                                          "--reason", "x")
    counted = next(m["id"] for m in everything if m["status"] != "void")
    played.run("match", "void", counted, "--reason", "the map was broken")
    assert counted in [m["id"] for m in played.json("match", "list", "--void", "--limit",
                                                    1000)["matches"]]


def test_a_list_without_matches_says_why(played):
    for option, what in (("--bot", "bot"), ("--ladder", "ladder"), ("--map", "map"),
                         ("--game", "game")):
        assert played.refused("match", "list", option, "nobody") == (
            f"{option}: 'nobody': there is no {what} of that name")
    assert "no bot" in played.refused("match", "list", "--bot", "crazy", "--opponent", "nobody")
    played.run("bot", "add", "fresh", "--token-file", "token")
    for words in (("--bot", "fresh"), ("--bot", "crazy", "--ladder", "mine"),
                  ("--map", "mine.map", "--before", 1)):
        assert played.json("match", "list", *words)["matches"] == []
        assert played.run("match", "list", *words).out == "no matches\n"


@pytest.mark.parametrize("seed", ["1.0", "x", "9223372036854775808", ""])
def test_a_seed_that_is_no_seed_finds_nothing(played, seed):
    """BC81"""
    assert "seed" in played.refused("match", "list", "--seed", seed)


def test_large_seeds_are_shown_unrounded(laddered):
    """BC81"""
    ctl = laddered
    for seed in (9007199254740993, 2**63 - 1):
        number = make_matches(ctl, "rabbits", 1, seed, "crazy")[0]
        assert ctl.json("match", "list", "--seed", seed)["matches"][0]["seed"] == str(seed)
        assert f" {seed} " in ctl.run("match", "list").out
        assert f"seed {seed}," in ctl.run("match", "show", number).out
        assert ctl.run("replay", "--seed", seed).out == ctl.run("replay", number).out
        assert ctl.json("export", number)["match"]["seed"] == str(seed)
    assert "no match of seed" in ctl.run("replay", "--seed", 5, status=1).err


def test_unknown_matches(played):
    for words in (("match", "show", 99999), ("replay", 99999), ("verify", 99999),
                  ("export", 99999)):
        assert "99999" in played.run(*words, status=1).err


def test_the_summary_counts_what_the_list_shows(played):
    rows = played.json("match", "list", "--limit", 1000)["matches"]
    assert "void" in {row["status"] for row in rows}
    rows = [row for row in rows if row["status"] == "stored"]
    for standing in played.json("summary")["summary"]:
        seats = [(row, seat) for row in rows for seat in row["seats"]
                 if row["game"] == standing["game"] and seat["bot"] == standing["bot"]]
        assert standing["matches"] == len(seats)
        scores = [seat["score"] for _, seat in seats]
        assert standing["best_score"] == max(scores)
        assert abs(standing["mean_score"] - sum(scores) / len(scores)) < 1e-9
        if GAMES[standing["game"]] == 1:
            assert standing["wins"] is None
        else:
            assert standing["wins"] == sum(seat["rank"] == 1 for _, seat in seats)
    lines = played.run("summary").out.splitlines()
    assert lines[0].split() == ["game", "bot", "matches", "mean", "score", "best", "score", "wins"]
    assert len(lines) == 1 + len(played.json("summary")["summary"])
