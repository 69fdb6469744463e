# SPDX-License-Identifier: MIT
"""Matches as pictures, animations and text, by hill-run and by hillctl."""
import shutil

import pytest

from hillctl import Ctl, MINE_MAP, make_matches
from png_file import cells_of, read_apng, read_png
from referee import PYTHON, play, script
from test_run_battle import arena  # noqa: F401

# pylint: disable=redefined-outer-name


@pytest.fixture(scope="module")
def drawn_once(laddered_once, tmp_path_factory):
    ctl = Ctl(tmp_path_factory.mktemp("drawn") / "copy")
    shutil.copytree(laddered_once.folder, ctl.folder)
    make_matches(ctl, "rabbits", 1, 5, "crazy")
    make_matches(ctl, "battle", 1, 5, "digger", "crazy")
    make_matches(ctl, "mine", 1, 5, "digger")
    return ctl


@pytest.fixture
def drawn(drawn_once, tmp_path):
    shutil.copytree(drawn_once.folder, tmp_path / "copy")
    return Ctl(tmp_path / "copy")


def of_ladder(ctl, ladder):
    return ctl.json("match", "list", "--ladder", ladder)["matches"][0]["id"]


def grids_of(text):
    """The heading, and a list of rows for each grid."""
    heading, rest = text.split("\n\n", 1)
    assert rest.endswith("\n\n\n")
    return heading, [grid.split("\n") for grid in rest[:-3].split("\n\n\n")]


@pytest.mark.parametrize("ladder,width,height", [
    ("rabbits", 15, 5), ("battle", 20, 20), ("mine", 6, 6)])
def test_pictures_animation_and_text_show_the_same(drawn, ladder, width, height):
    number = of_ladder(drawn, ladder)
    report = drawn.json("export", number, "--frames", "out", "--animation", "film.png",
                        "--grids", "run.log", "--fps", 50)
    scale = report["scale"]
    assert scale == -(-300 // width)
    assert (report["width"], report["height"]) == (width * scale, height * scale)
    assert report["states"] == report["pictures"] >= 2 and report["every"] == 1
    files = sorted((drawn.folder / "out").iterdir())
    assert [f.name for f in files] == [f"{i:06}.png" for i in range(report["states"])]
    frames = [read_png(f.read_bytes()) for f in files]
    film = read_apng((drawn.folder / "film.png").read_bytes())
    assert [rows for rows, _ in film] == frames
    assert {ms for _, ms in film[:-1]} == {20} and film[-1][1] == 2000
    heading, grids = grids_of((drawn.folder / "run.log").read_text("latin-1"))
    assert heading == "Run 1, seed 5" and len(grids) == len(frames)
    for rows, grid in zip(frames, grids):
        cells = cells_of(rows, scale)
        assert (len(cells), len(cells[0])) == (height, width)
        assert [len(row) for row in grid] == [width] * height
        # What is written the same looks the same, but for the battle's colours.
        looks = {}
        for colours, row in zip(cells, grid):
            for colour, char in zip(colours, row):
                looks.setdefault(char, set()).add(colour)
        if ladder != "battle":
            assert all(len(look) == 1 for look in looks.values()), looks


def test_the_same_match_gives_the_same_bytes(drawn):
    number = of_ladder(drawn, "battle")
    for name in ("a.png", "b.png"):
        drawn.run("export", number, "--animation", name)
    assert (drawn.folder / "a.png").read_bytes() == (drawn.folder / "b.png").read_bytes()


def test_a_route_is_seen_move_by_move(drawn, room):
    (room / "m.map").write_bytes(MINE_MAP)
    play("lambda-mining", "--frames", "out", "--scale", 1, "m.map", "--", "sh", "-c",
         "cat > /dev/null; echo DLxLA")
    shown = [cells_of(read_png(f.read_bytes()), 1) for f in sorted((room / "out").iterdir())]
    robots = [[(x, y) for y, row in enumerate(cells) for x, cell in enumerate(row)
               if cell == b"\xff\x40\x40"] for cells in shown]
    # Where it starts, three commands and the abort; the x is none.
    assert robots == [[(4, 1)], [(4, 2)], [(3, 2)], [(2, 2)], [(2, 2)]]


def test_long_matches_stay_small(drawn):
    number = of_ladder(drawn, "rabbits")
    states = drawn.json("export", number, "--frames", "all")["states"]
    report = drawn.json("export", number, "--frames", "few", "--max-frames", 5)
    names = [f.name for f in sorted((drawn.folder / "few").iterdir())]
    every = report["every"]
    assert states > 20 and every == -(-(states - 1) // 4)
    assert names[:-1] == [f"{i:06}.png" for i in range(0, states - 1, every)]
    assert names[-1] == f"{states - 1:06}.png" and len(names) == report["pictures"] <= 5
    for name in names:
        assert ((drawn.folder / "few" / name).read_bytes() ==
                (drawn.folder / "all" / name).read_bytes())
    said = drawn.run("export", number, "--animation", "x.png", "--every", 7).out
    assert f"of {states} states (each 7 and the last), 300 x 100 pixels, 20 a cell" in said
    assert "animation in x.png" in said
    assert len(read_apng((drawn.folder / "x.png").read_bytes())) == \
        (states - 1) // 7 + 1 + ((states - 1) % 7 != 0)


def test_grids_are_what_hill_run_logs(room, drawn):
    play("rabbit-runner", "--limit", 20000, "--log", "run.log", "--animation", "a.png",
         "--quiet", "s.map", 4, 5, 1, PYTHON, "pass.py")
    _, logged = grids_of((room / "run.log").read_text())
    film = read_apng((room / "a.png").read_bytes())
    assert len(film) == len(logged) == 5
    assert logged[0] == ["#####", "#o e#", "#####"]
    number = of_ladder(drawn, "rabbits")
    drawn.run("export", number, "--grids", "run.log")
    _, grids = grids_of((drawn.folder / "run.log").read_text("latin-1"))
    assert len(grids) == drawn.json("export", number, "--frames", "f",
                                    "--max-frames", 100000)["states"]


def test_each_match_of_a_series_has_its_own(room):
    _, err = play("rabbit-runner", "--limit", 20000, "--frames", "out", "--animation",
                  "out.d/film.png", "-j", 2, "s.map", 3, "1..3", 3, PYTHON, "pass.py",
                  code=2)
    assert "cannot write out.d/film-0001.png: No such file" in err
    (room / "out.d").mkdir()
    _, err = play("rabbit-runner", "--limit", 20000, "--frames", "out", "--animation",
                  "out.d/film", "-j", 2, "s.map", 3, "1..3", 3, PYTHON, "pass.py")
    assert "run 3 (seed 3): 4 pictures of 4 states, 300 x 180 pixels, 60 a cell" in err
    for number in ("0001", "0002", "0003"):
        assert len(list((room / "out" / number).iterdir())) == 4
        assert len(read_apng((room / f"out.d/film-{number}").read_bytes())) == 4


def test_a_battles_last_frame_is_its_picture(room, arena):
    play("image-battle", "--limit", 20000, "--frames", "out", "--scale", 1, arena, 10, 1,
         f"0,255,0={PYTHON} paint.py", f"255,0,0={PYTHON} paint.py")
    frames = sorted((room / "out").iterdir())
    assert len(frames) > 18
    assert read_png(frames[-1].read_bytes()) == read_png((room / "battle.png").read_bytes())
    assert read_png(frames[0].read_bytes()) == read_png(arena.read_bytes())


def test_wrong_wishes_are_told(drawn, room):
    number = of_ladder(drawn, "rabbits")
    for words, told in ((["--every", 2], "--every goes with --frames"),
                        (["--frames", "o", "--every", 0], "--every: 0 is not 1 to"),
                        (["--frames", "o", "--max-frames", 1], "--max-frames: 1 is not 2"),
                        (["--frames", "o", "--scale", 65], "--scale: 65 is not 1 to 64"),
                        (["--frames", "o", "--fps", 101], "--fps: 101 is not 1 to 100")):
        assert told in drawn.wrong("export", number, *words)
        assert not (drawn.folder / "o").exists()
    for option in ("--frames", "--animation", "--grids"):
        assert "no/x: No such file" in drawn.refused("export", number, option, "no/x")
    # A name must not promise what the file is not.
    assert "name it .png" in drawn.wrong("export", number, "--animation", "x.gif")
    assert not (drawn.folder / "x.gif").exists()
    drawn.run("export", number, "--animation", "x.PNG")
    _, err = play("rabbit-runner", "--animation", "x.gif", "s.map", code=2)
    assert "name it .png, not 'x.gif'" in err
    # A full disk is no picture.
    for option in ("--animation", "--grids"):
        assert "No space left" in drawn.refused("export", number, option, "/dev/full")
    _, err = play("rabbit-runner", "--scale", "0", "s.map", code=2)
    assert "--scale wants a number from 1 to 64, not '0'" in err


def test_a_large_map_is_not_enlarged(room):
    (room / "wide.map").write_text("#" * 800 + "\n#s" + " " * 796 + "e#\n" + "#" * 800 + "\n")
    play("rabbit-runner", "--limit", 20000, "--frames", "out", "wide.map", 1, 1, 1, PYTHON,
         "pass.py")
    rows = read_png((room / "out/000000.png").read_bytes())
    assert (len(rows), len(rows[0])) == (3, 2400)


def test_a_damaged_match_is_told(drawn):
    number = of_ladder(drawn, "rabbits")
    drawn.sql("UPDATE transcript SET transcript = substr(transcript, 1, 40) "
              "WHERE match_id = ?1", number)
    assert "damaged behind input" in drawn.refused("export", number, "--animation", "x")
    assert not (drawn.folder / "x").exists()
    assert "999999" in drawn.refused("export", 999999, "--frames", "x")
