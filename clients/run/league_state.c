/* SPDX-License-Identifier: MIT */
#include "clients/run/league_state.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { VALUE_BYTES = 60, EXACT_DIGITS = 17 };

/* ---- writing ---- */

void league_state_add_line(json_t *json, struct buf *out)
{
	char *text = json_dumps(
		json, JSON_COMPACT | JSON_REAL_PRECISION(EXACT_DIGITS));

	json_decref(json);
	if (text == NULL)
		return;
	buf_add_text(out, text);
	buf_add_char(out, '\n');
	free(text);
}

void league_state_add_head(json_t *head, struct buf *out)
{
	league_state_add_line(json_deep_copy(head), out);
}

static json_t *seat_json(const struct league_seat *seat, const char *bot)
{
	json_t *json = json_pack(
		"{ss, so, sI, sI, ss, sI}", "bot", bot, "score",
		isfinite(seat->score) ? json_real(seat->score) : json_null(),
		"points", (json_int_t)seat->points, "rank",
		(json_int_t)seat->rank, "reason",
		game_reason_word(seat->reason), "max_us",
		(json_int_t)seat->max_us);

	for (unsigned i = 0; i < MATCH_NFAULTS; i++)
		(void)json_object_set_new(json,
					  match_fault_word((enum match_fault)i),
					  json_integer(seat->faults[i]));
	return json;
}

json_t *league_state_json(const struct league_match *match, unsigned seats,
			  const struct league_row *row, const char *map,
			  const char *const *bots)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < seats; i++)
		(void)json_array_append_new(
			list, seat_json(&row->seats[i], bots[match->bots[i]]));
	return json_pack("{sI, ss, sI, so}", "match", (json_int_t)match->number,
			 "map", map, "seed", (json_int_t)match->seed, "seats",
			 list);
}

/* ---- reading ---- */

static void describe(const json_t *value, char *ret)
{
	char *text = value == NULL ? NULL
				   : json_dumps(value,
						JSON_COMPACT | JSON_ENCODE_ANY);

	(void)snprintf(ret, VALUE_BYTES, "%.*s", VALUE_BYTES - 1,
		       text != NULL ? text : "nothing");
	free(text);
}

/* What WANTED says and FOUND does not. */
static int compare_heads(json_t *wanted, const json_t *found,
			 struct game_error *error)
{
	const char *key;
	json_t *value;

	if (strcmp(json_string_value(json_object_get(wanted, "format")),
		   json_is_string(json_object_get(found, "format"))
			   ? json_string_value(json_object_get(found, "format"))
			   : "") != 0) {
		game_error_set(error, "it is no league's file of this version");
		return -EINVAL;
	}
	json_object_foreach(wanted, key, value) {
		const json_t *other = json_object_get(found, key);
		char here[VALUE_BYTES];
		char there[VALUE_BYTES];

		if (json_equal(value, other))
			continue;
		describe(value, here);
		describe(other, there);
		game_error_set(error,
			       "it is of another league: %s is %s there, %s "
			       "here",
			       key, there, here);
		return -EINVAL;
	}
	return 0;
}

static bool read_count(const json_t *json, const char *key, int64_t most,
		       int64_t *ret)
{
	const json_t *value = json_object_get(json, key);

	*ret = json_integer_value(value);
	return json_is_integer(value) && *ret >= 0 && *ret <= most;
}

static bool read_seat(const json_t *json, struct league_seat *ret)
{
	const json_t *score = json_object_get(json, "score");
	const json_t *points = json_object_get(json, "points");
	const char *reason = json_string_value(json_object_get(json, "reason"));
	int64_t number;

	if (!json_is_integer(points) || reason == NULL ||
	    game_reason_find(reason, &ret->reason) < 0 ||
	    !(json_is_number(score) || json_is_null(score)))
		return false;
	ret->score =
		json_is_null(score) ? (double)NAN : json_number_value(score);
	ret->points = json_integer_value(points);
	if (!read_count(json, "rank", GAME_SEATS_MAX, &number))
		return false;
	ret->rank = (unsigned)number;
	if (!read_count(json, "max_us", INT64_MAX, &ret->max_us))
		return false;
	for (unsigned i = 0; i < MATCH_NFAULTS; i++) {
		if (!read_count(json, match_fault_word((enum match_fault)i),
				UINT32_MAX, &number))
			return false;
		ret->faults[i] = (uint32_t)number;
	}
	return true;
}

static bool read_row(const json_t *json, const struct league_plan *plan,
		     struct league_row *rows)
{
	const json_t *seats = json_object_get(json, "seats");
	struct league_row row = { .is_played = true };
	int64_t number;

	if (!read_count(json, "match", (int64_t)league_matches(plan) - 1,
			&number) ||
	    json_array_size(seats) != plan->seats)
		return false;
	for (unsigned i = 0; i < plan->seats; i++) {
		if (!read_seat(json_array_get(seats, i), &row.seats[i]))
			return false;
	}
	rows[number] = row;
	return true;
}

int league_state_read(const char *text, size_t len, json_t *head,
		      const struct league_plan *plan, struct league_row *rows,
		      size_t *ret_len, struct game_error *error)
{
	size_t done = 0;
	const char *end;
	int rc = 0;

	for (unsigned line = 1;
	     rc == 0 && (end = memchr(text + done, '\n', len - done)) != NULL;
	     line++) {
		size_t bytes = (size_t)(end - text) - done;
		json_t *json = json_loadb(text + done, bytes, 0, NULL);

		if (line == 1) {
			rc = compare_heads(head, json, error);
		} else if (!read_row(json, plan, rows)) {
			game_error_set(error, "line %u is damaged", line);
			rc = -EINVAL;
		}
		json_decref(json);
		done += bytes + 1;
	}
	/* Of nothing but a torn head too it must be clear what it is. */
	if (rc == 0 && done == 0 && len > 0 && text[0] != '{') {
		game_error_set(error, "it is no league's file");
		rc = -EINVAL;
	}
	if (rc == 0)
		*ret_len = done;
	return rc;
}
