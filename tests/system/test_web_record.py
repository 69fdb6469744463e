# SPDX-License-Identifier: MIT
"""A match over HTTP, whole: what hillctl exports and hill-run plays again."""
import json
import subprocess

from referee import TOP, play, script
from season import HILLCTL, PYTHON, Bridge
from test_league import WALKER
from web import API, start_web

MAP = TOP / "deploy/maps/rabbit-runner/small.map"


def test_a_match_fetched_by_http_is_played_again(start_hilld, tmp_path, monkeypatch):
    server, web = start_web(start_hilld, tmp_path)
    monkeypatch.chdir(tmp_path)
    script(tmp_path, WALKER, "walk.py")
    server.add_map(MAP.name, "rabbit-runner", MAP.read_bytes())
    server.admin("ladder add", name="walk", game="rabbit-runner", maps=[MAP.name],
                 params="turns=12", turn_ms=60000, bank_ms=0, seeds="7..7")
    bridge = Bridge(server, tmp_path / "walker", "walker", server.add_bot("walker"), ["walk"],
                    [PYTHON, tmp_path / "walk.py", 1], ("--matches", "1"))
    assert bridge.wait(600) == 0, bridge.err()
    match = bridge.results()[0][0]
    url = f"http://127.0.0.1:{web.port}{API}/matches/{match}/record"
    subprocess.run(["curl", "-sf", "--compressed", "-o", "match.json", url], check=True, timeout=60)
    fetched = (tmp_path / "match.json").read_bytes()
    assert fetched == web.ask(f"{API}/matches/{match}/record")[2]
    assert fetched == subprocess.run(
        [HILLCTL, "--database", server.database, "export", str(match)], check=True, timeout=60,
        stdout=subprocess.PIPE).stdout
    words = ("--match", "match.json", "--seat", 1, "--", PYTHON, "walk.py")
    assert "All 12 replies are as they were." in play(*words, 1, timeout=600)[0]
    assert "is the first whose reply differs" in play(*words, 2, code=1, timeout=600)[0]

    # Whom the host hides has no name here either.
    server.admin("bot hide", name="walker")
    hidden = json.loads(web.ask(f"{API}/matches/{match}/record")[2])["match"]["seats"][0]
    assert (hidden["bot"], hidden["bot_id"], hidden["version"]) == ("(hidden)", 0, 0)
    assert web.get("/matches/999999/record", 404)["code"] == "not-found"
