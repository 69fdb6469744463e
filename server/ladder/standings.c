/* SPDX-License-Identifier: MIT */
/* standings.c - a ladder's table: see the rule in standings.h. */
#include "server/ladder/standings.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

/* What decides about one entry's line. */
struct line {
	struct standings_row row;
	int64_t id;
};

int64_t standings_figure(const struct rating *rating)
{
	return llround((rating->mu - 3 * rating->sigma) * 10);
}

unsigned standings_flags(const struct standings_entry *entry, int64_t now_us)
{
	unsigned flags = 0;

	if (entry->rounds < STANDINGS_ROUNDS ||
	    entry->rating.sigma > STANDINGS_SIGMA)
		flags |= STANDINGS_PROVISIONAL;
	if (entry->last_us < now_us - STANDINGS_IDLE_US)
		flags |= STANDINGS_INACTIVE;
	return flags;
}

static bool is_provisional(const struct standings_row *row)
{
	return (row->flags & STANDINGS_PROVISIONAL) != 0;
}

static bool share_rank(const struct standings_row *a,
		       const struct standings_row *b)
{
	return is_provisional(a) == is_provisional(b) && a->figure == b->figure;
}

static int compare_lines(const void *a_, const void *b_)
{
	const struct line *a = a_;
	const struct line *b = b_;

	if (is_provisional(&a->row) != is_provisional(&b->row))
		return is_provisional(&a->row) ? 1 : -1;
	if (a->row.figure != b->row.figure)
		return a->row.figure > b->row.figure ? -1 : 1;
	return (a->id > b->id) - (a->id < b->id);
}

void standings_order(const struct standings_entry *entries, size_t count,
		     int64_t now_us, struct standings_row *ret_rows)
{
	struct line *lines = xcalloc(count + 1, sizeof(*lines));

	for (size_t i = 0; i < count; i++) {
		const struct rating *rating = &entries[i].rating;
		struct standings_row *row = &lines[i].row;

		row->entry = i;
		row->figure = standings_figure(rating);
		row->flags = standings_flags(&entries[i], now_us);
		row->low = rating->mu - RATING_Z95 * rating->sigma;
		row->high = rating->mu + RATING_Z95 * rating->sigma;
		lines[i].id = entries[i].id;
	}
	qsort(lines, count, sizeof(*lines), compare_lines);
	for (size_t i = 0; i < count; i++) {
		ret_rows[i] = lines[i].row;
		ret_rows[i].rank = i + 1;
		if (i > 0 && share_rank(&ret_rows[i], &ret_rows[i - 1]))
			ret_rows[i].rank = ret_rows[i - 1].rank;
	}
	free(lines);
}
