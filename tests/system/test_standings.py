# SPDX-License-Identifier: MIT
"""Rated play from outside: what hillctl and the API say of who stands where."""
import json
import re
import signal
import urllib.error
import urllib.request

from arena import Fighter, add_battle, rows, wait_stored
from conftest import wait_until
from season import hillctl


def ctl(server, *words):
    """What hillctl says; it must succeed."""
    done = hillctl(server.database, "--socket", f"{server.short}/sock", *words)
    assert done.returncode == 0, done.stderr
    return done.stdout


def ctl_json(server, *words):
    return json.loads(ctl(server, *words, "--json"))


def login(server, name, token=None, version=""):
    peer = server.peer()
    peer.expect("@hill 1 ")
    peer.say(f"@login {name} {token or server.add_bot(name)} {version}")
    peer.expect(f"@welcome {name}")
    return peer


def play_match(peers):
    """The next match of two: the second paints a pixel, the first none."""
    fighters = [Fighter(peer).offered() for peer in peers]
    assert fighters[0].match == fighters[1].match
    for fighter in fighters:
        fighter.ready()
    for fighter in fighters:
        fighter.started()
    return fighters


def end_match(fighters):
    """Its number. @result may come behind the next @match."""
    match = fighters[0].match
    fighters[0].peer.say(f"@resign {match}")
    fighters[1].paint()
    fighters[1].peer.say(f"@resign {match}")
    for fighter in fighters:
        fighter.peer.expect(f"@end {match} ")
    return match


def play_sets(server, peers, sets, leave=True):
    """Two play whole sets, which the second wins, and LEAVE in the last match."""
    for number in range(1, 2 * sets + 1):
        fighters = play_match(peers)
        if leave and number == 2 * sets:
            for peer in peers:
                peer.say("@leave")
        match = end_match(fighters)
    wait_stored(server, match)


def battle_of_two(server, sets=2):
    add_battle(server, seats=2, rated=True)
    tokens = {name: server.add_bot(name) for name in ("weak", "strong")}
    peers = [login(server, name, token) for name, token in tokens.items()]
    for peer in peers:
        peer.say("@play battle")
        peer.expect("@queued battle")
    play_sets(server, peers, sets)
    return peers, tokens


def test_standings_of_nobody_say_so(hilld):
    add_battle(hilld, seats=2, rated=True)
    assert ctl(hilld, "standings", "battle") == "nobody yet: no round is rated\n"
    assert ctl(hilld, "standings") == "battle:\nnobody yet: no round is rated\n"
    assert ctl_json(hilld, "standings", "battle")["standings"] == []


def test_hillctl_says_who_stands_where(hilld):
    battle_of_two(hilld)
    table = ctl(hilld, "standings", "battle")
    head, first, second = table.splitlines()
    assert re.split(r" {2,}", head.strip()) == \
        ["rank", "bot", "version", "rating", "mu", "95 % from", "to", "rounds"]
    assert first.split()[:3] == ["1", "strong", "1"]
    assert second.split()[:3] == ["2", "weak", "1"]
    assert first.split()[-2:] == ["2", "provisional"]
    document = ctl_json(hilld, "standings", "battle")
    assert document["ok"] and document["ladder"] == "battle"
    one, two = document["standings"]
    assert (one["bot"], one["rank"], one["rounds"], one["provisional"]) == ("strong", 1, 2, True)
    assert abs(one["low"] - (one["mu"] - 1.96 * one["sigma"])) < 0.01
    assert abs(one["high"] - (one["mu"] + 1.96 * one["sigma"])) < 0.01
    assert abs(one["rating"] - (one["mu"] - 3 * one["sigma"])) <= 0.0501
    assert one["mu"] > 25 > two["mu"]
    assert f"{one['mu']:.1f}" in first
    # Without a ladder: all that are rated.
    assert ctl(hilld, "standings") == "battle:\n" + table
    assert ctl_json(hilld, "standings")["ladders"] == [
        {"ladder": "battle", "standings": document["standings"]}]


def test_hillctl_refits_and_checks(hilld):
    battle_of_two(hilld)
    lines = ctl(hilld, "rating", "refit", "battle").splitlines()
    assert re.split(r" {2,}", lines[0].strip()) == \
        ["bot", "version", "mu", "95 % from", "to", "mu on line"]
    fitted = {row["bot"]: row for row in ctl_json(hilld, "rating", "refit", "battle")["refit"]}
    online = {row["bot"]: row for row in ctl_json(hilld, "standings", "battle")["standings"]}
    assert fitted["strong"]["mu"] > 25 > fitted["weak"]["mu"]
    for bot, row in fitted.items():
        assert row["low"] < row["mu"] < row["high"]
        assert row["online_mu"] == online[bot]["mu"]
    assert ctl(hilld, "rating", "check") == "2 ratings are as their rounds make them\n"
    assert ctl_json(hilld, "rating", "check") == {"ok": True, "ratings": 2}
    # It asks nothing of hilld, which would have noted it.
    assert rows(hilld, "SELECT count(*) FROM audit WHERE command = 'rating check'") == [(0,)]
    for words in (("standings", "nowhere"), ("rating", "refit", "nowhere")):
        done = hillctl(hilld.database, *words)
        assert done.returncode == 1
        assert "there is no ladder nowhere" in done.stderr


def test_bc56_a_match_is_the_versions_that_began_it(hilld):
    """A new version in the middle of a game: result and rating are the old one's."""
    add_battle(hilld, seats=2, rated=True)
    token = hilld.add_bot("crazy")
    old, other = login(hilld, "crazy", token), login(hilld, "other")
    for peer in (old, other):
        peer.say("@play battle")
    fighters = play_match([other, old])
    new = login(hilld, "crazy", token, "version=v2")
    end_match(fighters)
    wait_stored(hilld, end_match(play_match([other, old])))
    played = rows(hilld, "SELECT v.label, count(*) FROM seat s JOIN bot_version v ON"
                  " v.id = s.bot_version_id JOIN bot b ON b.id = v.bot_id"
                  " WHERE b.name = 'crazy' GROUP BY v.id")
    assert played == [("1", 2)]
    rated = [row for row in ctl_json(hilld, "standings", "battle", "--all")["standings"]
             if row["bot"] == "crazy"]
    assert [(row["version"], row["rounds"]) for row in rated] == [("1", 1)]
    assert rated[0]["mu"] > 25
    # The new one has no round yet: it begins as every version does.
    new.say("@play battle")
    new.expect("@queued battle")
    versions = ctl_json(hilld, "bot", "versions", "crazy")["versions"]
    assert {row["version"]: row["state"] for row in versions} == {"1": "retired", "v2": "active"}


def fetch(base, path):
    with urllib.request.urlopen(base + path, timeout=20) as reply:
        return json.load(reply)


def fresh_page(server, base):
    """The page of `battle`, once it knows of the newest rated round."""
    [[newest]] = rows(server, "SELECT max(sequence) FROM rating_event")

    def look():
        try:
            page = fetch(base, "/api/v1/ladders/battle/standings")
        except urllib.error.HTTPError:
            return None  # a ladder that was made just now
        return page if page["sequence"] >= newest else None
    return wait_until("the page is fresh", look)


def figures(server, base, bot):
    """mu and sigma of BOT on `battle` by hillctl, each page of the API, the database."""
    table = {row["bot"]: row for row in ctl_json(server, "standings", "battle")["standings"]}[bot]
    page = {row["bot"]: row for row in fresh_page(server, base)["standings"]}[bot]
    history = fetch(base, f"/api/v1/bots/{bot}/history?ladder=battle")
    stored = rows(server, "SELECT r.mu, r.sigma FROM rating r JOIN bot_version v ON"
                  " v.id = r.bot_version_id JOIN bot b ON b.id = v.bot_id WHERE b.name = ?", bot)
    # JSON tells 15 digits of them.
    shown = [(round(mu, 12), round(sigma, 12)) for mu, sigma in
             [(row["mu"], row["sigma"]) for row in (table, page)] + stored]
    return (*shown, history)


def test_bc59_who_does_not_play_is_not_rated(start_hilld, tmp_path):
    port_file = tmp_path / "http-port"
    server = start_hilld("--http", "127.0.0.1:0", "--http-port-file", port_file)
    wait_until("the API", port_file.exists)
    base = f"http://127.0.0.1:{port_file.read_text().strip()}"
    peers, tokens = battle_of_two(server)
    before = figures(server, base, "weak")
    assert before[0] == before[1] == before[2]
    # Others play on; `weak` is logged in and plays nothing.
    third = login(server, "third")
    for peer in (third, peers[1]):
        peer.say("@play battle")
        peer.expect("@queued battle")
    play_sets(server, [third, peers[1]], 2)
    after = figures(server, base, "weak")
    assert after == before
    # Nor does another connection of its bot change what the lobby goes by.
    again = login(server, "weak", tokens["weak"])
    again.say("@play battle")
    again.expect("@queued battle")
    assert figures(server, base, "weak") == before
    assert figures(server, base, "strong")[0] == figures(server, base, "strong")[2]


def test_bc57_a_season_goes_on_over_five_restarts(start_hilld):
    """Numbers, seeds and standings continue; no instance and no pair of seats comes twice."""
    server = start_hilld("--drain-seconds", "0")
    add_battle(server, seats=2, rated=True)
    tokens = {name: server.add_bot(name) for name in ("weak", "strong")}
    rounds = 0
    for life in range(6):
        if life > 0:
            server = start_hilld("--drain-seconds", "0")
        if life > 0:
            table = ctl_json(server, "standings", "battle")["standings"]
            assert [(row["bot"], row["rounds"]) for row in table] == \
                [("strong", rounds), ("weak", rounds)]
            assert [row["mu"] for row in table] == kept
        peers = [login(server, name, token) for name, token in tokens.items()]
        for peer in peers:
            peer.say("@play battle")
            peer.expect("@queued battle")
        play_sets(server, peers, 1, leave=False)
        rounds += 1
        kept = [row["mu"] for row in ctl_json(server, "standings", "battle")["standings"]]
        # Cut off in the first match of a set: it is played by nobody.
        play_match(peers)
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(60) == 0
        assert server.stop() == 0
    stored = rows(server, "SELECT m.id, i.seed, m.round_id FROM match m JOIN instance i"
                  " ON i.id = m.instance_id ORDER BY m.id")
    ids = [row[0] for row in stored]
    assert len(ids) == len(set(ids)) == 2 * rounds
    by_round = {}
    for _, seed, its_round in stored:
        by_round.setdefault(its_round, set()).add(seed)
    seeds = [seed for found in by_round.values() for seed in found]
    assert len(by_round) == rounds and len(seeds) == len(set(seeds)) == rounds
    seated = rows(server, "SELECT i.seed, s.number, s.bot_version_id FROM seat s JOIN match m"
                  " ON m.id = s.match_id JOIN instance i ON i.id = m.instance_id")
    assert len(seated) == len(set(seated)) == 4 * rounds
    done = hillctl(server.database, "rating", "check", "--json")
    assert json.loads(done.stdout) == {"ok": True, "ratings": 2}


def told(peer):
    """What PEER was told till now."""
    lines = []
    peer.say("@ping now")
    while (line := peer.line()) != "@pong now":
        lines.append(line)
    return lines


def test_bc64_an_owner_has_one_seat_of_four(hilld):
    add_battle(hilld, seats=4, rated=True)
    # Two owners of two bots each, and two of one.
    owners = {"a-bot-1": "anna", "a-bot-2": "anna", "b-bot-1": "ben", "b-bot-2": "ben", "c-bot": "carl", "d-bot": "dora"}
    peers = {bot: login(hilld, bot, hilld.add_bot(bot, owner)) for bot, owner in owners.items()}
    for bot in ("a-bot-1", "a-bot-2", "b-bot-1", "b-bot-2", "c-bot"):
        peers[bot].say("@play battle")
        peers[bot].expect("@queued battle")
    # Five wait, of three owners: no table.
    for bot in list(owners)[:5]:
        assert told(peers[bot]) == []
    peers["d-bot"].say("@play battle")
    peers["d-bot"].expect("@match ")
    offers = {bot: [line for line in told(peer) if line.startswith("@match ")]
              for bot, peer in peers.items() if bot != "d-bot"}
    seated = [bot for bot, lines in offers.items() if lines]
    assert sorted(bot[0] for bot in seated) == ["a", "b", "c"]
