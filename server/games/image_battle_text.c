/* SPDX-License-Identifier: MIT */
#include "server/games/image_battle_text.h"

#include <stdio.h>
#include <string.h>

void image_battle_text_progress(int64_t turn, int64_t pixels, struct buf *out)
{
	buf_add_text(out, "Turn ");
	buf_add_i64(out, turn);
	buf_add_text(out, " done ");
	buf_add_i64(out, pixels);
	buf_add_text(out, " pixels\n");
}

void image_battle_text_number(double score, struct buf *out)
{
	char text[40];

	(void)snprintf(text, sizeof(text), "%.12g", score);
	buf_add_text(out, text);
	/* str() marks a float as one; exponents, inf and nan do already */
	if (strpbrk(text, ".en") == NULL)
		buf_add_text(out, ".0");
}

void image_battle_text_score(const char *name, const uint8_t rgb[3],
			     double score, struct buf *out)
{
	buf_add_format(out, "Bot %s with colour (%u, %u, %u) scored ", name,
		       rgb[0], rgb[1], rgb[2]);
	image_battle_text_number(score, out);
	buf_add_char(out, '\n');
}
