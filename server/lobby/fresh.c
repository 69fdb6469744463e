/* SPDX-License-Identifier: MIT */
/*
 * fresh.c - maps for ladders that draw theirs: made by a worker, one ahead,
 * and played on once.
 *
 * A ladder whose row names presets has no maps. fresh_next() looks at the
 * first one in stock and has one made when there is none; fresh_take() takes
 * it and has the next one made, so that only the first match of all waits.
 * A map's seed is drawn by itself: the map tells nothing of the match's.
 */
#include "server/lobby/lobby_internal.h"
#include "server/lobby/start.h"

#include <assert.h>
#include <errno.h>

#include "server/games/generate.h"

/* After a map that could not be made or played on. */
enum { RETRY_US = 60 * 1000 * 1000 };

bool fresh_is_drawn(const struct ladder *ladder)
{
	return ladder->row.generators[0] != '\0' && ladder->row.is_seed_random;
}

static unsigned count_presets(const char *list)
{
	unsigned count = 1;

	for (; *list != '\0'; list++)
		count += *list == ',';
	return count;
}

static void fail(struct lobby *lobby, struct ladder *ladder, const char *text,
		 int64_t now_us)
{
	ladder->fresh.retry_us = now_us + RETRY_US;
	action_log(lobby, LOG_LEVEL_ERROR,
		   "ladder=%s event=no_fresh_map reason=\"%s\"",
		   ladder->row.name, text);
}

/* Have one made, of a preset drawn evenly. False: the row names none. */
static bool ask(struct lobby *lobby, struct ladder *ladder)
{
	const char *list = ladder->row.generators;
	const struct game_preset *preset;
	struct lobby_action *action;

	if (ladder->fresh.is_making)
		return true;
	preset = generate_of_list(
		ladder->game, list,
		(unsigned)(instance_draw(lobby) % count_presets(list)));
	if (preset == NULL)
		return false;
	action = action_add(lobby, LOBBY_MAKE_MAP, NULL);
	action->game = ladder->game;
	action->preset = preset;
	action->count = ladder->row.seats;
	action->seed = instance_draw(lobby);
	action->ladder_id = ladder->row.id;
	ladder->fresh.is_making = true;
	return true;
}

static void drop_first(struct fresh *fresh)
{
	assert(fresh->nready > 0);
	fresh->nready--;
	memmove(fresh->ready, fresh->ready + 1,
		fresh->nready * sizeof(fresh->ready[0]));
}

int fresh_next(struct lobby *lobby, struct ladder *ladder, int64_t *ret_map_id,
	       int64_t now_us)
{
	struct fresh *fresh = &ladder->fresh;

	while (fresh->nready > 0 &&
	       map_has_failed(lobby, fresh->ready[0], now_us)) {
		drop_first(fresh);
		fail(lobby, ladder, "its map cannot be played on", now_us);
	}
	if (fresh->nready > 0) {
		*ret_map_id = fresh->ready[0];
		return 0;
	}
	if (now_us < fresh->retry_us)
		return -ENOENT;
	if (!ask(lobby, ladder)) {
		fail(lobby, ladder, "no such preset", now_us);
		return -ENOENT;
	}
	return -EAGAIN;
}

void fresh_take(struct lobby *lobby, struct ladder *ladder)
{
	drop_first(&ladder->fresh);
	if (ladder->fresh.nready == 0)
		(void)ask(lobby, ladder);
}

void fresh_give_back(struct ladder *ladder, int64_t map_id)
{
	struct fresh *fresh = &ladder->fresh;

	if (fresh->nready == FRESH_MAX)
		return;
	memmove(fresh->ready + 1, fresh->ready,
		fresh->nready * sizeof(fresh->ready[0]));
	fresh->ready[0] = map_id;
	fresh->nready++;
}

void fresh_forget(struct ladder *ladder)
{
	ladder->fresh.nready = 0;
	ladder->fresh.retry_us = INT64_MIN;
	ladder->fresh.is_stale = ladder->fresh.is_making;
}

/* The ladder that a map was made for, if it still wants it. */
static struct ladder *asker(struct lobby *lobby, int64_t ladder_id)
{
	struct ladder *ladder = ladder_by_id(lobby, ladder_id);
	bool is_stale;

	if (ladder == NULL || !ladder->fresh.is_making)
		return NULL;
	is_stale = ladder->fresh.is_stale;
	ladder->fresh.is_making = false;
	ladder->fresh.is_stale = false;
	return is_stale ? NULL : ladder;
}

void lobby_map_made(struct lobby *lobby, int64_t ladder_id, int64_t map_id,
		    struct lobby_map *map, int64_t now_us)
{
	struct ladder *ladder = asker(lobby, ladder_id);

	if (ladder == NULL || ladder->fresh.nready == FRESH_MAX) {
		lobby_map_unref(map);
	} else {
		map_add(lobby, map_id, map);
		ladder->fresh.ready[ladder->fresh.nready++] = map_id;
	}
	start_touch_held(lobby);
	lobby_settle(lobby, now_us);
}

void lobby_map_unmade(struct lobby *lobby, int64_t ladder_id, const char *text,
		      int64_t now_us)
{
	struct ladder *ladder = asker(lobby, ladder_id);

	if (ladder != NULL)
		fail(lobby, ladder, text, now_us);
	start_touch_held(lobby);
	lobby_settle(lobby, now_us);
}
