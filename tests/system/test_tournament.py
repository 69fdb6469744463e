# SPDX-License-Identifier: MIT
"""hillctl tournament: from a file to a table, a cross-table and a list for grades."""
import csv
import io
import json
import shutil
import time

import pytest

from arena import add_rabbits
from conftest import wait_until
from web import insert, open_database

from hillctl import Ctl, add_ladders

BOTS = ("ann", "bob", "cid", "dan", "eve")

# pylint: disable=redefined-outer-name


@pytest.fixture(scope="module")
def host_once(tmp_path_factory):
    ctl = Ctl(tmp_path_factory.mktemp("host"))
    for bot in BOTS:
        ctl.run("bot", "add", bot, "--token-file", f"{bot}.token")
    add_ladders(ctl)
    return ctl


@pytest.fixture
def host(host_once, tmp_path):
    shutil.copytree(host_once.folder, tmp_path / "host")
    return Ctl(tmp_path / "host")


def plan(host, **keys):
    file = host.folder / "plan.json"
    file.write_text(json.dumps({"name": "final", "ladder": "battle", "format": "swiss",
                                "entrants": BOTS, **keys}))
    return file


def test_dry_run_prints_matches_and_makes_nothing(host):
    out = host.run("tournament", "create", plan(host, rounds=3, rotate=True), "--dry-run").out
    assert "would be made" in out
    assert "matches      12, at most 6 one after another" in out
    assert "not known until" in out
    assert out.count(" - ") == 4
    assert host.json("tournament", "list")["tournaments"] == []


def test_options_go_before_the_file(host):
    file = plan(host)
    host.run("tournament", "create", file, "--format", "round-robin", "--name", "other")
    row = host.json("tournament", "list")["tournaments"][0]
    assert (row["name"], row["format"], row["state"]) == ("other", "round-robin", "planned")


@pytest.mark.parametrize("keys, told", [
    ({"format": "knockout"}, "must be contest"),
    ({"rounds": 9}, "twice"),
    ({"entrants": ["ann", "zoe"]}, "no such bot"),
    ({"colour": "red"}, "no such field"),
    ({"command": "bot disable"}, "without a command"),
    ({"starts": "noon"}, "no time"),
])
def test_what_makes_no_tournament_is_told(host, keys, told):
    assert told in host.run("tournament", "create", plan(host, **keys), status=1).err


def test_what_was_made_says_how_it_starts(host):
    out = host.run("tournament", "create", plan(host)).out
    line = out.splitlines()[-1]
    assert line == f"start it with: hillctl --database {host.database} tournament start final"
    out = host.run("tournament", "create", plan(host), "--name", "later", "--starts",
                   "2999-01-31T12:30").out
    assert "start it with" not in out and "2999-01-31 12:30" in out
    out = host.run("tournament", "create", plan(host), "--name", "dry", "--dry-run").out
    assert "start it with" not in out


def test_life_of_a_tournament(host):
    host.run("tournament", "create", plan(host, embargo=True))
    assert "is planned" in host.run("tournament", "reveal", "final", status=1).err
    host.run("tournament", "start", "final")
    shown = host.run("tournament", "show", "final").out
    assert "running, round 1" in shown and "bye" in shown
    host.run("tournament", "withdraw", "final", "bob")
    table = host.json("tournament", "table", "final")
    assert [len(row) for row in table["cross"]] == [5] * 5
    assert sum(row["byes"] for row in table["standings"]) == 1
    assert "Buchholz" in host.run("tournament", "table", "final").out
    host.run("tournament", "cancel", "final")
    listed = host.json("tournament", "list")["tournaments"][0]
    assert listed["embargo"] and listed["under_embargo"]
    host.run("tournament", "reveal", "final")
    listed = host.json("tournament", "list")["tournaments"][0]
    assert listed["embargo"] and not listed["under_embargo"]
    table = host.run("tournament", "table", "final").out
    assert "Not all was played: the tournament is cancelled." in table
    assert " won " in table and "wins" not in table


def test_one_round_is_said_as_one(host):
    assert "swiss, 1 round\n" in host.run("tournament", "create", plan(host, rounds=1), "--dry-run").out


def test_export_is_csv_with_external_ids(host):
    host.run("owner", "change", "ann", "--external-id", 's-1, "a"')
    host.run("tournament", "create", plan(host))
    with open_database(host.database) as database:
        database.execute("UPDATE bot_version SET label = '1.2,b' WHERE label = '1'")
    assert {row["version"] for row in host.json("bot", "list")["bots"]} == {"1.2,b"}
    host.run("tournament", "start", "final")
    rows = list(csv.DictReader(io.StringIO(host.run("tournament", "export", "final").out)))
    assert {row["bot"] for row in rows} == set(BOTS)
    assert [row["external_id"] for row in rows if row["owner"] == "ann"] == ['s-1, "a"']
    assert all(row["version"] == "1.2,b" for row in rows)


def test_deadline_of_a_ladder(host):
    assert "2026-12-01 12:00:00" in host.run("deadline", "battle", "2026-12-01T12:00").out
    assert "no deadline" in host.run("deadline", "battle", "none").out


@pytest.mark.parametrize("form", ["round-robin", "swiss", "single-elimination"])
def test_bc58_a_seed_changes_no_number_of_matches(host, form):
    def counted(*more):
        forecast = host.json("tournament", "create", plan(host), "--format", form, "--sets", 1,
                             "--dry-run", *more)["forecast"]
        return forecast["matches_min"], forecast["matches_max"]

    plain = counted()
    assert counted("--draw-seed", 1) == plain
    assert counted("--draw-seed", 77, "--draw", "random") == plain
    assert counted("--seeds", "5..900") == plain
    if form == "round-robin":
        assert plain == (10, 10)
        # The seats are swapped only when asked for.
        assert counted("--rotate") == (20, 20)


def test_a_plan_that_cannot_be_written_at_its_time_is_tried_again(start_hilld):
    server = start_hilld()
    for name in BOTS[:2]:
        server.add_bot(name)
    add_rabbits(server, "rabbits")
    server.add_map("exam.map", "rabbit-runner", b"#####\n#s e#\n#####\n", visibility="hidden")
    at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 3))
    server.admin("map change", name="exam.map", hidden_until=at)
    server.admin("tournament create", name="cup", ladder="rabbits", format="round-robin",
                 entrants=BOTS[:2], starts=at)

    def states():
        maps = {row["name"]: row["visibility"] for row in server.admin("map list")["maps"]}
        return maps["exam.map"], server.admin("tournament list")["tournaments"][0]["state"]

    assert states() == ("hidden", "planned")
    with open_database(server.database) as database:
        database.execute("BEGIN IMMEDIATE")
        for what in ("map=exam.map", "tournament=cup"):
            wait_until("it is told", lambda what=what: server.logged(
                f"{what} event=plan_failed reason=.*locked"))
    wait_until("both are done", lambda: states() == ("public", "running"))


def test_a_tournament_that_cannot_be_played_is_cancelled_at_the_start(start_hilld):
    """A file may hold what no command makes: a running one with one entrant."""
    server = start_hilld()
    server.add_bot("ann")
    add_rabbits(server, "rabbits")
    server.stop()
    with open_database(server.database) as c:
        ladder, version = (c.execute(f"SELECT id FROM {table}").fetchone()[0]
                           for table in ("ladder", "bot_version"))
        cup = insert(c, "tournament", name="alone", name_key="alone", ladder_id=ladder,
                     format="round-robin", options='{"seats":1,"group":2,"sets":1,"maps":[1]}',
                     seed=1, state="running", grace_s=0, is_embargo=0, created_us=1, started_us=1)
        insert(c, "tournament_entrant", tournament_id=cup, number=1, bot_id=1,
               bot_version_id=version)
    server = start_hilld()
    assert server.logged("event=tournament_cancelled tournament=alone .*too few entrants")
    assert [row["state"] for row in server.admin("tournament list")["tournaments"]] == ["cancelled"]
    for command in ("show", "table"):
        with pytest.raises(AssertionError, match="too few entrants"):
            server.admin(f"tournament {command}", name="alone")
    assert server.stop() == 0
