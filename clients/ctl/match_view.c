/* SPDX-License-Identifier: MIT */
#include "clients/ctl/match_view.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "clients/ctl/table.h"
#include "server/games/game.h"
#include "server/store/base64.h"

json_t *match_real(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

json_t *match_hex(uint64_t value)
{
	return json_sprintf("%016" PRIx64, value);
}

void match_add_bytes(json_t *object, const char *name, const char *text,
		     size_t len)
{
	json_t *value = NULL;
	struct buf encoded, key;

	/* jansson refuses what is no UTF-8; NULs end texts in many readers. */
	if (memchr(text, '\0', len) == NULL)
		value = json_stringn(text, len);
	if (value != NULL) {
		(void)json_object_set_new(object, name, value);
		return;
	}
	buf_init(&encoded, len / 3 * 4 + 8);
	buf_init(&key, 64);
	base64_encode((const uint8_t *)text, len, &encoded);
	buf_add_format(&key, "%s_base64", name);
	(void)json_object_set_new(object, buf_text(&key),
				  json_string(buf_text(&encoded)));
	buf_release(&encoded);
	buf_release(&key);
}

static json_t *columns_json(const struct row_match *match,
			    const struct row_seat *seat)
{
	const struct game *game = game_find(match->game);
	json_t *columns = json_object();

	for (unsigned i = 0; i < seat->ncolumns; i++) {
		char number[32];
		const char *name = number;

		(void)snprintf(number, sizeof(number), "column %u", i + 1);
		if (game != NULL && i < game->ncolumns)
			name = game->columns[i];
		(void)json_object_set_new(columns, name,
					  match_real(seat->columns[i]));
	}
	return columns;
}

static json_t *seat_json(const struct row_match *match, unsigned number)
{
	const struct row_seat *seat = &match->seats[number];
	json_t *json = json_pack(
		"{s:i, s:s, s:I, s:I, s:o, s:I, s:i, s:s, s:o, s:s}", "seat",
		(int)number + 1, "bot", seat->bot, "bot_id",
		(json_int_t)seat->bot_id, "version", (json_int_t)seat->version,
		"score", match_real(seat->score), "points",
		(json_int_t)seat->points, "rank", (int)seat->rank, "reason",
		seat->reason, "columns", columns_json(match, seat), "how",
		seat->how);

	if (json == NULL)
		return json_object();
	(void)json_object_update_new(
		json,
		json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, "
			  "s:I}",
			  "requests", (json_int_t)seat->requests, "faults",
			  (json_int_t)seat->faults, "late",
			  (json_int_t)seat->late, "invalid",
			  (json_int_t)seat->invalid, "overlong",
			  (json_int_t)seat->overlong, "overfull",
			  (json_int_t)seat->overfull, "early",
			  (json_int_t)seat->early, "banked",
			  (json_int_t)seat->banked, "max_us",
			  (json_int_t)seat->max_us, "total_us",
			  (json_int_t)seat->total_us, "lag_us",
			  (json_int_t)seat->lag_us));
	return json;
}

json_t *match_json(const struct row_match *match)
{
	json_t *seats = json_array(), *json;

	for (unsigned i = 0; i < match->nseats; i++)
		(void)json_array_append_new(seats, seat_json(match, i));
	json = json_pack(
		"{s:I, s:s, s:s, s:s, s:s, s:s, s:s, s:i, s:s, s:s, s:b, s:b, "
		"s:o}",
		"id", (json_int_t)match->id, "ladder", match->ladder, "game",
		match->game, "map", match->map, "params", match->params, "seed",
		match->seed, "bot_seed", match->bot_seed, "engine_version",
		(int)match->engine_version, "status",
		match->status == ROW_MATCH_VOID ? "void" : "stored",
		"void_reason", match->void_reason, "rated", match->is_rated,
		"embargo", match->is_embargo, "seats", seats);
	if (json == NULL)
		return json_object();
	(void)json_object_update_new(
		json,
		json_pack("{s:I, s:I, s:I, s:I, s:o, s:{s:I, s:I, s:I, s:I, "
			  "s:I, s:I, s:I}}",
			  "started_us", (json_int_t)match->started_us,
			  "ended_us", (json_int_t)match->ended_us, "stall_us",
			  (json_int_t)match->stall_us, "inputs",
			  (json_int_t)match->inputs, "digest",
			  match_hex(match->digest), "limits", "turn_ms",
			  (json_int_t)match->turn_ms, "init_ms",
			  (json_int_t)match->init_ms, "grace_ms",
			  (json_int_t)match->grace_ms, "bank_ms",
			  (json_int_t)match->bank_ms, "bank_step_ms",
			  (json_int_t)match->bank_step_ms, "bank_spend_ms",
			  (json_int_t)match->bank_spend_ms, "lag_cap_ms",
			  (json_int_t)match->lag_cap_ms));
	return json;
}

static int find_by_seed(const struct ctl *ctl, const struct ctl_call *call,
			struct store *store, int64_t *ret)
{
	const char *ladder = ctl_value(call, "ladder");
	struct row_filter filter = { .seed = ctl_value(call, "seed"),
				     .ladder = ladder,
				     .limit = 2 };
	struct store_error error = { "" };
	struct row_match_list list = { 0 };
	int status = CTL_OK;

	if (store_matches(store, &filter, &list, &error) != 0)
		return ctl_fail(ctl, "%s", error.text);
	if (list.nmatches == 0)
		status = ctl_fail(ctl, "there is no match of seed %s%s%s",
				  filter.seed, ladder == NULL ? "" : " on ",
				  ladder == NULL ? "" : ladder);
	else
		*ret = list.matches[0].id;
	if (list.nmatches > 1)
		(void)fprintf(stderr,
			      "hillctl: more than one match has that seed; "
			      "this is the newest, %lld (`hillctl match list "
			      "--seed` shows all)\n",
			      (long long)*ret);
	row_match_list_release(&list);
	return status;
}

int match_parse(const struct ctl_call *call, int64_t *ret)
{
	const char *name = call->command->name;
	bool has_seed = ctl_value(call, "seed") != NULL;

	*ret = 0;
	if (call->nargs == 0)
		return has_seed ? CTL_OK
				: ctl_usage(call,
					    "%s: the match's ID is "
					    "missing",
					    name);
	if (has_seed)
		return ctl_usage(call, "%s: either an ID or --seed", name);
	if (!ctl_parse_number(call->args[0], ret) || *ret < 1)
		return ctl_usage(call, "%s: '%s' is no match's ID", name,
				 call->args[0]);
	return CTL_OK;
}

int match_find(const struct ctl *ctl, const struct ctl_call *call,
	       struct store *store, int64_t *id)
{
	return *id != 0 ? CTL_OK : find_by_seed(ctl, call, store, id);
}

int match_time(const struct ctl_call *call, const char *name, int64_t *ret)
{
	static const char *const formats[] = { "%Y-%m-%d", "%Y-%m-%dT%H:%M",
					       "%Y-%m-%dT%H:%M:%S" };
	const char *text = ctl_value(call, name);

	if (text == NULL)
		return CTL_OK;
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		struct tm tm = { 0 };
		const char *end = strptime(text, formats[i], &tm);

		if (end == NULL || *end != '\0')
			continue;
		*ret = (int64_t)timegm(&tm) * 1000000;
		return CTL_OK;
	}
	return ctl_usage(call,
			 "--%s: '%s' is no time like 2026-01-31 or "
			 "2026-01-31T12:30:00",
			 name, text);
}

void match_add_score(struct table *table, double score)
{
	struct buf text = BUF_INIT(64);

	game_score_format(score, &text);
	table_add(table, buf_text(&text));
	buf_release(&text);
}
