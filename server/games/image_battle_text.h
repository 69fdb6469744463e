/* SPDX-License-Identifier: MIT */
/*
 * image_battle_text.h - the lines that the original judge of image-battle
 * printed, to the byte. Pure; any thread.
 *
 * The judge prints a progress line after each hundredth turn that did not end
 * the battle, and at the end a score line a bot, in the order in which the
 * last turn asked them.
 */
#ifndef HILL_GAMES_IMAGE_BATTLE_TEXT_H
#define HILL_GAMES_IMAGE_BATTLE_TEXT_H

#include <stdint.h>

#include "server/base/buffer.h"

enum { IMAGE_BATTLE_PROGRESS_TURNS = 100 };

/* `Turn 100 done 1987 pixels`, with its LF, appended to OUT. */
void image_battle_text_progress(int64_t turn, int64_t pixels, struct buf *out);
/*
 * `Bot blob.py with colour (255, 0, 0) scored 118.5`, with its LF, appended
 * to OUT.
 */
void image_battle_text_score(const char *name, const uint8_t rgb[3],
			     double score, struct buf *out);
/* SCORE as Python 2.7 prints a float (12 digits): `90.0`, `89.2883333333`. */
void image_battle_text_number(double score, struct buf *out);

#endif
