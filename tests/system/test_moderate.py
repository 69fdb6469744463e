# SPDX-License-Identifier: MIT
"""What a host does while others play: announcements, matches made void, other seeds."""
from arena import rows
from hillctl import RABBIT_MAP


def test_what_is_announced_reaches_who_plays_and_who_comes(start_hilld, ctl):
    hilld = start_hilld(database=ctl.database)
    reach = ("--socket", f"{hilld.short}/sock")
    bot = hilld.peer().login("crazy", hilld.add_bot("crazy"))
    assert ctl.run(*reach, "announce", "down at noon", "--for", "2h").out == (
        "announcement 1: made\n")
    assert bot.line() == "@notice : down at noon"
    ctl.run(*reach, "announce", "--", "list")
    assert bot.line() == "@notice : list"
    late = hilld.peer().login("lazy", hilld.add_bot("lazy"))
    assert [late.line(), late.line()] == ["@notice : down at noon", "@notice : list"]
    listed = ctl.json("announce", "list")["announcements"]
    assert [entry["text"] for entry in listed] == ["down at noon", "list"]
    assert listed[0]["until_us"] - listed[0]["at_us"] == 7200 * 1_000_000
    assert "until_us" not in listed[1]
    assert ctl.run(*reach, "announce", "drop", 2).out == "announce 2: dropped\n"
    assert "down at noon" in ctl.run("announce", "list").out
    assert "list" not in ctl.run("announce", "list").out.split()
    # Nobody hears anything of it.
    bot.say("@ping end")
    assert bot.line() == "@pong end"


def test_an_announcement_is_one_line_for_a_while(ctl):
    ctl.run("bot", "add", "crazy")
    assert "control characters" in ctl.refused("announce", "two\nlines")
    for duration in ("", "x", "2w", "-1h", "0", "1h30", "h", "99999999999999999999d"):
        assert "no time like" in ctl.wrong("announce", "text", "--for", duration)
    assert "no announcement 7" in ctl.refused("announce", "drop", 7)
    assert "a number" in ctl.wrong("announce", "drop", "x")




def test_void_matches_count_for_nothing_till_they_count_again(played):
    listed = played.json("match", "list", "--ladder", "rabbits", "--limit", 1000)["matches"]
    ids = [match["id"] for match in listed if match["status"] == "stored"]
    before = played.json("summary")
    dry = played.json("match", "void", "--ladder", "rabbits", "--reason", "x", "--dry-run")
    assert (dry["count"], dry["dry_run"]) == (len(ids), True)
    assert sorted(match["id"] for match in dry["matches"]) == sorted(ids)
    assert played.json("summary") == before
    told = played.run("match", "void", "--ladder", "rabbits", "--reason", "x", "--dry-run").out
    assert str(ids[0]) in told and f"would become void: {len(ids)}" in told
    assert played.run("match", "void", ids[0], "--reason", "a bug of ours").out == (
        "matches that are void now: 1; ratings that changed: 0\n")
    shown = played.json("match", "show", ids[0])["match"]
    assert (shown["status"], shown["void_reason"]) == ("void", "a bug of ours")
    assert "void, counts for nothing: a bug of ours" in played.run("match", "show", ids[0]).out
    assert played.json("summary") != before
    assert "is void already" in played.refused("match", "void", ids[0], "--reason", "x")
    assert "not made void by the host" in played.refused("match", "unvoid", ids[1], "--reason", "x")
    assert played.run("verify", ids[0]).out == "1 verified, 0 failed\n"
    assert played.run("match", "unvoid", ids[0], "--reason", "it was none").out == (
        "matches that count again now: 1; ratings that changed: 0\n")
    assert played.json("summary") == before


def test_void_needs_to_know_which_and_why(played):
    assert "--reason TEXT is missing" in played.wrong("match", "void", 1)
    assert "no match's ID" in played.wrong("match", "void", "x", "--reason", "x")
    assert "no time like" in played.wrong("match", "void", "--since", "x", "--reason", "x")
    assert "ids, or a filter" in played.refused("match", "void", "--reason", "x")
    assert "no bot of that name" in played.refused("match", "void", "--bot", "nobody",
                                                   "--reason", "x")


def play_one(hilld, token):
    """One match on the rabbits' ladder; its seed."""
    bot = hilld.peer().login("crazy", token)
    match = bot.ready("rabbits")
    bot.say("@leave", "move", "move", "move")
    bot.expect(f"@result {match} ")
    return rows(hilld, "SELECT seed FROM instance WHERE id = "
                "(SELECT instance_id FROM match WHERE id = ?)", match)[0][0]


def test_bots_go_on_where_they_were_when_the_only_map_comes_back(start_hilld, ctl):
    hilld = start_hilld(database=ctl.database)
    hilld.add_map("small.map", "rabbit-runner", RABBIT_MAP)
    hilld.admin("ladder add", name="rabbits", game="rabbit-runner", maps=["small.map"],
                params="turns=3", seeds="5..9")
    token = hilld.add_bot("crazy")
    assert [play_one(hilld, token), play_one(hilld, token)] == [5, 6]
    hilld.admin("map disable", name="small.map")
    hilld.stop()
    hilld = start_hilld(database=ctl.database)
    hilld.admin("map disable", name="small.map", disabled=False)
    assert play_one(hilld, token) == 7
    # Other seeds: what was played of them counts, and the rest is new.
    hilld.admin("ladder change", name="rabbits", seeds="7..20")
    assert play_one(hilld, token) == 8
    hilld.admin("ladder change", name="rabbits", seeds="100..101")
    assert play_one(hilld, token) == 100


def test_void_beside_a_running_hilld_is_noted_and_seen(start_hilld, ctl):
    hilld = start_hilld(database=ctl.database)
    reach = ("--socket", f"{hilld.short}/sock")
    hilld.add_map("small.map", "rabbit-runner", RABBIT_MAP)
    hilld.admin("ladder add", name="rabbits", game="rabbit-runner", maps=["small.map"],
                params="turns=3")
    token = hilld.add_bot("crazy")
    play_one(hilld, token)
    [[match]] = rows(hilld, "SELECT id FROM match")
    dry = ctl.json(*reach, "match", "void", match, "--reason", "x", "--dry-run")
    assert (dry["count"], ctl.json("status")["status"]["void"]) == (1, 0)
    ctl.run(*reach, "match", "void", match, "--reason", "a bug of ours")
    assert ctl.json("status")["status"]["void"] == 1
    # The next one is played as if nothing had been.
    play_one(hilld, token)
    ctl.run(*reach, "match", "unvoid", match, "--reason", "it was none")
    assert ctl.json("status")["status"]["void"] == 0
    notes = rows(hilld, "SELECT command, arguments FROM audit WHERE command LIKE 'match%' "
                 "ORDER BY id")
    assert [note[0] for note in notes][-2:] == ["match void", "match unvoid"]
    assert "a bug of ours" in notes[-2][1]


def test_void_says_that_a_round_is_still_open(start_hilld, ctl):
    hilld = start_hilld(database=ctl.database)
    reach = ("--socket", f"{hilld.short}/sock")
    hilld.add_map("small.map", "rabbit-runner", RABBIT_MAP)
    hilld.admin("ladder add", name="rabbits", game="rabbit-runner", maps=["small.map"],
                params="turns=3", rated=True)
    play_one(hilld, hilld.add_bot("crazy"))
    [[match]] = rows(hilld, "SELECT id FROM match")
    told = f"round {match} of rabbits is still open, and nothing of it rated: "
    assert ctl.run(*reach, "match", "void", match, "--reason", "x").out == (
        told + "when it closes it is rated without them\n"
        "matches that are void now: 1; ratings that changed: 0\n")
    assert ctl.run(*reach, "match", "unvoid", match, "--reason", "x").out.startswith(
        told + "when it closes they count\n")
