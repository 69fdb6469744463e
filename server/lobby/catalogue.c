/* SPDX-License-Identifier: MIT */
/*
 * catalogue.c - the bots, ladders and maps that there are, and what becomes of
 * peers when that changes.
 *
 * Bots and ladders are told apart by id: one that stays keeps its object, and
 * whatever points to it. One that goes lives on until nothing does.
 */
#include "server/lobby/appointment.h"
#include "server/lobby/lobby_internal.h"
#include "server/lobby/rated.h"
#include "server/lobby/start.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

static int compare_text(struct slice name, const char *text)
{
	int order = strncmp(name.text, text, name.len);

	return order != 0 ? order : (text[name.len] == '\0' ? 0 : -1);
}

static int find_bot(const void *key, const void *member)
{
	const struct bot *const *bot = member;

	return compare_text(*(const struct slice *)key, (*bot)->name);
}

struct bot *bot_find(struct lobby *lobby, struct slice name)
{
	struct bot **found = bsearch(&name, lobby->bots, lobby->nbots,
				     sizeof(struct bot *), find_bot);

	return found == NULL ? NULL : *found;
}

static int find_ladder(const void *key, const void *member)
{
	const struct ladder *const *ladder = member;

	return compare_text(*(const struct slice *)key, (*ladder)->row.name);
}

struct ladder *ladder_find(struct lobby *lobby, struct slice name)
{
	struct ladder **found = bsearch(&name, lobby->ladders, lobby->nladders,
					sizeof(struct ladder *), find_ladder);

	return found == NULL ? NULL : *found;
}

struct ladder *ladder_by_id(struct lobby *lobby, int64_t id)
{
	for (size_t i = 0; i < lobby->nladders; i++) {
		if (lobby->ladders[i]->row.id == id)
			return lobby->ladders[i];
	}
	return NULL;
}

static int find_bot_id(const void *key, const void *member)
{
	const struct bot *const *bot = member;
	int64_t id = *(const int64_t *)key;

	return (id > (*bot)->id) - (id < (*bot)->id);
}

struct bot *bot_by_id(struct lobby *lobby, int64_t id)
{
	struct bot **found = bsearch(&id, lobby->bots_by_id, lobby->nbots,
				     sizeof(struct bot *), find_bot_id);

	return found == NULL ? NULL : *found;
}

struct bot *bot_ref(struct bot *bot)
{
	bot->refs++;
	return bot;
}

void bot_unref(struct bot *bot)
{
	struct standing *standing;

	assert(bot->refs > 0);
	if (--bot->refs > 0)
		return;
	while ((standing = bot->standings) != NULL) {
		bot->standings = standing->link;
		free(standing);
	}
	free(bot->tokens);
	free(bot->versions);
	free(bot->ban_reason);
	free(bot);
}

const struct row_version *bot_version_by_id(const struct bot *bot, int64_t id)
{
	for (size_t i = 0; i < bot->nversions; i++) {
		if (bot->versions[i].id == id)
			return &bot->versions[i];
	}
	return NULL;
}

const struct row_version *bot_version_by_label(const struct bot *bot,
					       struct slice label)
{
	for (size_t i = 0; i < bot->nversions; i++) {
		if (slice_is(label, bot->versions[i].label))
			return &bot->versions[i];
	}
	return NULL;
}

struct standing *bot_standing(struct bot *bot, int64_t ladder_id)
{
	struct standing *standing = bot->standings;

	while (standing != NULL && standing->ladder_id != ladder_id)
		standing = standing->link;
	if (standing == NULL) {
		standing = xcalloc(1, sizeof(*standing));
		standing->ladder_id = ladder_id;
		standing->link = bot->standings;
		bot->standings = standing;
	}
	return standing;
}

void ladder_settle(struct lobby *lobby, struct ladder *ladder)
{
	if (ladder->is_known || ladder->refs > 0 || ladder->nwaiting > 0)
		return;
	start_untouch(lobby, ladder);
	round_release(ladder);
	if (ladder->has_pairing)
		pairing_release(&ladder->pairing);
	free(ladder->row.map_ids);
	free(ladder);
}

/* What is said to the peers of a bot that may not play any more. */
static void send_away(struct lobby *lobby, struct bot *bot, int64_t now_us)
{
	struct lobby_peer *peer, *next;

	for (peer = TAILQ_FIRST(&bot->peers); peer != NULL; peer = next) {
		next = TAILQ_NEXT(peer, group);
		peer_send_home(lobby, peer, now_us);
	}
}

static void set_bot(struct bot *bot, const struct row_bot *row)
{
	bot->id = row->id;
	bot->version_id = row->version_id;
	bot->version = row->version;
	bot->owner_id = row->owner_id;
	bot->predecessor_id = row->predecessor_id;
	bot->is_house = row->is_house;
	bot->is_hidden = row->is_hidden;
	bot->max_connections =
		row->max_connections > 0 ? row->max_connections : 1;
	bot->is_disabled = row->is_disabled;
	free(bot->ban_reason);
	bot->ban_reason =
		row->ban_reason != NULL ? xstrdup(row->ban_reason) : NULL;
	memcpy(bot->name, row->name, sizeof(bot->name));
	free(bot->tokens);
	bot->tokens = NULL;
	bot->ntokens = 0;
	free(bot->versions);
	bot->versions = NULL;
	bot->nversions = 0;
}

static int by_bot_id(const void *a, const void *b)
{
	const struct bot *const *left = a, *const *right = b;

	return ((*left)->id > (*right)->id) - ((*left)->id < (*right)->id);
}

static int by_bot_name(const void *a, const void *b)
{
	const struct bot *const *left = a, *const *right = b;

	return strcmp((*left)->name, (*right)->name);
}

static void add_tokens(struct bot **bots, const struct row_catalogue *rows)
{
	for (size_t i = 0; i < rows->ntokens; i++) {
		const struct row_token *token = &rows->tokens[i];
		struct bot **found = bsearch(&token->bot_id, bots, rows->nbots,
					     sizeof(*bots), find_bot_id);
		struct bot *bot;

		if (found == NULL)
			continue;
		bot = *found;
		bot->tokens = xreallocarray(bot->tokens, bot->ntokens + 1,
					    sizeof(*bot->tokens));
		memcpy(bot->tokens[bot->ntokens++], token->hash,
		       ROW_HASH_BYTES);
	}
}

static void add_versions(struct bot **bots, const struct row_catalogue *rows)
{
	for (size_t i = 0; i < rows->nversions; i++) {
		const struct row_version *row = &rows->versions[i];
		struct bot **found = bsearch(&row->bot_id, bots, rows->nbots,
					     sizeof(*bots), find_bot_id);
		struct bot *bot;

		if (found == NULL)
			continue;
		bot = *found;
		bot->versions = xreallocarray(bot->versions, bot->nversions + 1,
					      sizeof(*bot->versions));
		bot->versions[bot->nversions++] = *row;
	}
}

/* A candidate may be active now; what is retired stays as it was. */
static void refresh_peers(const struct bot *bot)
{
	struct lobby_peer *peer;

	TAILQ_FOREACH(peer, &bot->peers, group) {
		const struct row_version *version =
			bot_version_by_id(bot, peer->version_id);

		if (version == NULL)
			continue;
		peer->rated_from_us = version->rated_from_us;
		peer->active_us = version->active_us;
	}
}

static void replace_bots(struct lobby *lobby, const struct row_catalogue *rows,
			 int64_t now_us)
{
	struct bot **old = lobby->bots_by_id, **bots, **by_name;
	size_t nold = lobby->nbots;

	for (size_t i = 0; i < nold; i++)
		old[i]->is_listed = false;
	bots = xcalloc(rows->nbots + 1, sizeof(*bots));
	for (size_t i = 0; i < rows->nbots; i++) {
		struct bot **same = bsearch(&rows->bots[i].id, old, nold,
					    sizeof(*old), find_bot_id);

		if (same == NULL) {
			bots[i] = xcalloc(1, sizeof(*bots[i]));
			bots[i]->refs = 1;
			TAILQ_INIT(&bots[i]->peers);
		} else {
			bots[i] = *same;
		}
		set_bot(bots[i], &rows->bots[i]);
		bots[i]->is_listed = true;
	}
	qsort(bots, rows->nbots, sizeof(*bots), by_bot_id);
	add_tokens(bots, rows);
	add_versions(bots, rows);
	by_name = xcalloc(rows->nbots + 1, sizeof(*by_name));
	memcpy(by_name, bots, rows->nbots * sizeof(*by_name));
	qsort(by_name, rows->nbots, sizeof(*by_name), by_bot_name);
	free(lobby->bots);
	lobby->bots = by_name;
	lobby->bots_by_id = bots;
	lobby->nbots = rows->nbots;
	for (size_t i = 0; i < nold; i++) {
		if (old[i]->is_listed)
			continue;
		old[i]->is_disabled = true;
		send_away(lobby, old[i], now_us);
		bot_unref(old[i]);
	}
	for (size_t i = 0; i < rows->nbots; i++) {
		refresh_peers(bots[i]);
		if (bots[i]->is_disabled)
			send_away(lobby, bots[i], now_us);
	}
	free(old);
}

/* LADDER is played no more: nobody waits for it. */
static void clear_queue(struct lobby *lobby, struct ladder *ladder)
{
	struct lobby_peer *peer;

	if (ladder->nwaiting == 0)
		return;
	ladder->refs++;
	LIST_FOREACH(peer, &lobby->peers, all)
	{
		size_t mark = lobby->scratch.len;

		if (waiting_find(peer, ladder) == NULL)
			continue;
		waiting_drop(lobby, peer, ladder);
		session_refuse(&peer->session, ERROR_LADDER_DISABLED, 0, NULL,
			       &lobby->scratch);
		session_left(&peer->session, ladder->row.name,
			     waiting_count(peer), &lobby->scratch);
		peer_say(lobby, peer, mark);
	}
	ladder->refs--;
}

/* The place of a ladder whose seeds come in order, at the server's start. */
static uint64_t first_instance(const struct row_ladder *row)
{
	if (row->is_seed_random || row->seed_next <= row->seed_first ||
	    row->seed_next > row->seed_last)
		return 0;
	return (uint64_t)(row->seed_next - row->seed_first) * row->nmaps;
}

/* Whether LADDER is one that can be played; ERROR says why not. */
static int check_ladder(struct ladder *ladder, struct game_error *error)
{
	const struct game *game = ladder->game;

	game_error_set(error, "no such game: %s", ladder->row.game);
	if (game == NULL)
		return -ENOENT;
	game_error_set(error, "%u seats", ladder->row.seats);
	if (ladder->row.seats < game->seats_min ||
	    ladder->row.seats > game->seats_max)
		return -EINVAL;
	return game_params_parse(game, ladder->row.params, ladder->params,
				 error);
}

/* Whether ROW numbers its instances as LADDER has done until now. */
static bool has_same_road(const struct ladder *ladder,
			  const struct row_ladder *row)
{
	const struct row_ladder *old = &ladder->row;

	return old->is_seed_random == row->is_seed_random &&
	       old->seed_first == row->seed_first &&
	       old->seed_last == row->seed_last && old->nmaps == row->nmaps &&
	       (row->nmaps == 0 ||
		memcmp(old->map_ids, row->map_ids,
		       row->nmaps * sizeof(*row->map_ids)) == 0);
}

/* Everybody begins LADDER, which is as ROW says, unless rows say otherwise. */
static void begin_roads(struct lobby *lobby, struct ladder *ladder,
			const struct row_ladder *row)
{
	ladder->nroads++;
	ladder->takes_roads = true;
	ladder->road = (struct road){ .next = first_instance(row) };
	for (size_t i = 0; i < lobby->nbots; i++)
		for (struct standing *standing = lobby->bots[i]->standings;
		     standing != NULL; standing = standing->link)
			if (standing->ladder_id == row->id)
				standing->road = (struct road){ .next = 0 };
}

static void set_ladder(struct lobby *lobby, struct ladder *ladder,
		       const struct row_ladder *row)
{
	struct game_error error;
	int64_t *maps = NULL;

	if (row->nmaps > 0) {
		maps = xcalloc(row->nmaps, sizeof(*maps));
		memcpy(maps, row->map_ids, row->nmaps * sizeof(*maps));
	}
	if (strcmp(ladder->row.generators, row->generators) != 0 ||
	    ladder->row.seats != row->seats) {
		fresh_forget(ladder);
		/* Maps of its offers are not to come back. */
		if (fresh_is_drawn(ladder))
			ladder->nroads++;
	}
	if (!has_same_road(ladder, row))
		begin_roads(lobby, ladder, row);
	free(ladder->row.map_ids);
	ladder->row = *row;
	ladder->row.map_ids = maps;
	ladder->game = game_find(row->game);
	ladder->is_known = true;
	ladder->is_listed = !row->is_disabled;
	if (row->is_disabled)
		return;
	if (check_ladder(ladder, &error) == 0)
		return;
	ladder->is_listed = false;
	action_log(lobby, LOG_LEVEL_ERROR,
		   "ladder=%s event=unusable reason=\"%s\"", row->name,
		   error.text);
}

static int by_ladder_name(const void *a, const void *b)
{
	const struct ladder *const *left = a, *const *right = b;

	return strcmp((*left)->row.name, (*right)->row.name);
}

static struct ladder *take_ladder(struct ladder **old, size_t nold, int64_t id)
{
	struct ladder *ladder;

	for (size_t i = 0; i < nold; i++) {
		if (old[i] != NULL && old[i]->row.id == id) {
			ladder = old[i];
			old[i] = NULL;
			return ladder;
		}
	}
	return NULL;
}

static void replace_ladders(struct lobby *lobby,
			    const struct row_catalogue *rows)
{
	struct ladder **old = lobby->ladders, **ladders;
	size_t nold = lobby->nladders;

	ladders = xcalloc(rows->nladders + 1, sizeof(*ladders));
	for (size_t i = 0; i < rows->nladders; i++) {
		const struct row_ladder *row = &rows->ladders[i];
		struct ladder *ladder = take_ladder(old, nold, row->id);

		if (ladder == NULL) {
			ladder = xcalloc(1, sizeof(*ladder));
			TAILQ_INIT(&ladder->queue);
			TAILQ_INIT(&ladder->appointments);
			TAILQ_INIT(&ladder->rounds);
			ladder->wake_us = INT64_MAX;
			begin_roads(lobby, ladder, row);
		}
		ladders[i] = ladder;
		set_ladder(lobby, ladder, row);
		if (!ladder->is_listed)
			clear_queue(lobby, ladder);
		if (ladder->is_listed || ladder->nrounds > 0)
			start_touch(lobby, ladder);
	}
	for (size_t i = 0; i < nold; i++) {
		if (old[i] == NULL)
			continue;
		old[i]->is_listed = false;
		clear_queue(lobby, old[i]);
		old[i]->is_known = false;
		if (!TAILQ_EMPTY(&old[i]->appointments))
			start_touch(lobby, old[i]);
		ladder_settle(lobby, old[i]);
	}
	free(old);
	qsort(ladders, rows->nladders, sizeof(*ladders), by_ladder_name);
	lobby->ladders = ladders;
	lobby->nladders = rows->nladders;
}

static uint64_t mark_bytes(uint64_t mark, const void *bytes, size_t len)
{
	const uint8_t *next = bytes;

	for (size_t i = 0; i < len; i++)
		mark = (mark ^ next[i]) * 0x100000001b3u;
	return (mark ^ 0xff) * 0x100000001b3u;
}

static uint64_t mark_of(const struct row_map *row)
{
	uint64_t mark = 0xcbf29ce484222325u;

	mark = mark_bytes(mark, row->name, strlen(row->name));
	mark = mark_bytes(mark, row->game, strlen(row->game));
	mark = mark_bytes(mark, row->options, strlen(row->options));
	return mark_bytes(mark, row->hash, sizeof(row->hash));
}

static int by_mark_id(const void *a, const void *b)
{
	const struct map_mark *left = a, *right = b;

	return (left->id > right->id) - (left->id < right->id);
}

static void replace_maps(struct lobby *lobby, const struct row_catalogue *rows)
{
	struct map_mark *old = lobby->marks, *marks;
	size_t nold = lobby->nmarks;

	marks = xcalloc(rows->nmaps + 1, sizeof(*marks));
	for (size_t i = 0; i < rows->nmaps; i++) {
		marks[i].id = rows->maps[i].id;
		marks[i].mark = mark_of(&rows->maps[i]);
		marks[i].game = game_find(rows->maps[i].game);
		marks[i].is_public =
			rows->maps[i].visibility == ROW_MAP_PUBLIC &&
			!rows->maps[i].is_disabled;
		memcpy(marks[i].name, rows->maps[i].name,
		       sizeof(marks[i].name));
	}
	qsort(marks, rows->nmaps, sizeof(*marks), by_mark_id);
	for (size_t i = 0; i < nold; i++) {
		struct map_mark *same = bsearch(&old[i], marks, rows->nmaps,
						sizeof(*marks), by_mark_id);

		if (same == NULL || same->mark != old[i].mark)
			map_forget(lobby, old[i].id);
	}
	free(old);
	lobby->marks = marks;
	lobby->nmarks = rows->nmaps;
	map_retry_failed(lobby);
}

/*
 * Where bots have come to, as rows say of ladders that are new or have other
 * seeds or maps now: of others the lobby knows better.
 */
static void take_roads(struct lobby *lobby, const struct row_catalogue *rows)
{
	for (size_t i = 0; i < rows->nroads; i++) {
		const struct row_road *row = &rows->roads[i];
		struct ladder *ladder = ladder_by_id(lobby, row->ladder_id);
		struct bot *bot = bot_by_id(lobby, row->bot_id);
		struct road *road;

		if (ladder == NULL || !ladder->takes_roads || bot == NULL)
			continue;
		road = &bot_standing(bot, row->ladder_id)->road;
		road->next = row->next;
		road->nagain = row->nagain;
		memcpy(road->again, row->again, sizeof(road->again));
	}
	for (size_t i = 0; i < lobby->nladders; i++)
		lobby->ladders[i]->takes_roads = false;
}

void lobby_catalogue_replace(struct lobby *lobby,
			     const struct row_catalogue *rows, int64_t now_us)
{
	replace_maps(lobby, rows);
	replace_ladders(lobby, rows);
	replace_bots(lobby, rows, now_us);
	take_roads(lobby, rows);
	ratings_take(&lobby->ratings, rows);
	tournaments_replace(lobby, rows, now_us);
	notice_take(lobby, rows, now_us);
	lobby_settle(lobby, now_us);
}

void catalogue_release(struct lobby *lobby)
{
	for (size_t i = 0; i < lobby->nbots; i++)
		bot_unref(lobby->bots[i]);
	free(lobby->bots);
	free(lobby->bots_by_id);
	for (size_t i = 0; i < lobby->nladders; i++) {
		lobby->ladders[i]->is_known = false;
		ladder_settle(lobby, lobby->ladders[i]);
	}
	free(lobby->ladders);
	free(lobby->marks);
	free(lobby->notices);
}
