#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write games_list.c: `list.py OUTPUT NAME...`, an engine game_NAME each."""
import sys

output, *names = sys.argv[1:]
with open(output, "w", encoding="ascii") as out:
    out.write("/* Made by server/games/list.py; the list is in meson.build. */\n"
              '#include "server/games/game.h"\n\n')
    for name in names:
        out.write(f"extern const struct game game_{name};\n")
    out.write("\nconst struct game *const games_all[] = {\n")
    for name in names:
        out.write(f"\t&game_{name},\n")
    out.write("\tNULL,\n};\n")
