# SPDX-License-Identifier: MIT
"""What a host does while others play: announcements, matches made void."""


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
