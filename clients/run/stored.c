/* SPDX-License-Identifier: MIT */
#include "clients/run/stored.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "server/store/base64.h"

static const char *text_of(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

/*
 * The bytes that record_add_bytes() put under KEY, appended to RET.
 * False: they are not there, or too many.
 */
static bool add_bytes(const json_t *object, const char *key, struct buf *ret)
{
	const json_t *value = json_object_get(object, key);
	char encoded[32];

	if (json_is_string(value)) {
		buf_add(ret, json_string_value(value),
			json_string_length(value));
		return !ret->is_failed;
	}
	(void)snprintf(encoded, sizeof(encoded), "%s_base64", key);
	value = json_object_get(object, encoded);
	return json_is_string(value) &&
	       base64_decode(json_string_value(value),
			     json_string_length(value), ret) == 0;
}

static bool read_ms(const json_t *limits, const char *key, uint32_t *ret)
{
	const json_t *value = json_object_get(limits, key);
	json_int_t number = json_integer_value(value);

	*ret = (uint32_t)number;
	return json_is_integer(value) && number >= 0 && number <= INT32_MAX;
}

static int read_map(struct stored *ret, struct game_error *error)
{
	const json_t *map = json_object_get(ret->document, "map");
	struct game_source source = { .name = text_of(map, "name"),
				      .options = text_of(map, "options") };

	if (source.name == NULL || source.options == NULL ||
	    strchr(source.name, '/') != NULL || source.name[0] == '\0' ||
	    source.name[0] == '.' || !add_bytes(map, "data", &ret->file)) {
		game_error_set(error, "the map is missing");
		return -EINVAL;
	}
	ret->map_name = source.name;
	source.data = buf_text(&ret->file);
	source.len = ret->file.len;
	if (ret->game->map_new(&ret->map, &source, error) < 0) {
		ret->map = NULL;
		return -EINVAL;
	}
	return 0;
}

static int read_seats(struct stored *ret, const json_t *match,
		      struct game_error *error)
{
	const json_t *seats = json_object_get(match, "seats");
	size_t count = json_array_size(seats);

	if (count < 1 || count > GAME_SEATS_MAX) {
		game_error_set(error, "the match's seats are missing");
		return -EINVAL;
	}
	ret->setup.seats = (unsigned)count;
	for (size_t i = 0; i < count; i++) {
		const json_t *seat = json_array_get(seats, i);
		const json_t *score = json_object_get(seat, "score");
		const json_t *points = json_object_get(seat, "points");

		ret->bots[i] = text_of(seat, "bot");
		ret->scores[i] = json_is_number(score)
					 ? json_number_value(score)
					 : (double)NAN;
		ret->points[i] = json_integer_value(points);
		if (ret->bots[i] == NULL || !json_is_integer(points)) {
			game_error_set(error, "seat %zu is not whole", i + 1);
			return -EINVAL;
		}
	}
	return 0;
}

static int read_match(struct stored *ret, struct game_error *error)
{
	const json_t *match = json_object_get(ret->document, "match");
	const json_t *limits = json_object_get(match, "limits");
	const char *name = text_of(match, "game");
	const char *params = text_of(match, "params");
	json_int_t version =
		json_integer_value(json_object_get(match, "engine_version"));

	ret->id = json_integer_value(json_object_get(match, "id"));
	ret->setup.seed = text_of(match, "seed");
	ret->setup.bot_seed = text_of(match, "bot_seed");
	if (name == NULL || params == NULL || ret->setup.seed == NULL ||
	    ret->setup.bot_seed == NULL ||
	    game_seed_check(ret->setup.seed) < 0 ||
	    game_seed_check(ret->setup.bot_seed) < 0 ||
	    !read_ms(limits, "turn_ms", &ret->turn_ms) ||
	    !read_ms(limits, "init_ms", &ret->init_ms) ||
	    !read_ms(limits, "grace_ms", &ret->grace_ms)) {
		game_error_set(error, "the match's game, params, seeds or "
				      "limits are missing");
		return -EINVAL;
	}
	ret->game = game_find(name);
	if (ret->game == NULL) {
		game_error_set(error, "there is no game '%.40s' here", name);
		return -EINVAL;
	}
	if (version != ret->game->version) {
		game_error_set(error,
			       "it was judged by version %lld of %s, this is "
			       "version %u",
			       (long long)version, name, ret->game->version);
		return -EINVAL;
	}
	if (game_params_parse(ret->game, params, ret->setup.params, error) < 0)
		return -EINVAL;
	return read_seats(ret, match, error);
}

static bool read_input(const struct stored *stored, const json_t *json,
		       struct stored_input *ret)
{
	static const char *const kinds[GAME_NINPUTS] = { "reply", "late",
							 "gone" };
	const char *kind = text_of(json, "kind");
	json_int_t seat = json_integer_value(json_object_get(json, "seat"));
	struct buf text = BUF_INIT(LIMIT_TRANSCRIPT_BYTES);

	if (kind == NULL || seat < 1 || seat > stored->setup.seats)
		return false;
	ret->seat = (unsigned)seat - 1;
	for (unsigned i = 0; i < GAME_NINPUTS; i++) {
		if (strcmp(kind, kinds[i]) != 0)
			continue;
		ret->kind = (enum game_input)i;
		if (ret->kind != GAME_REPLY)
			return true;
		if (!add_bytes(json, "text", &text) ||
		    text.len > stored->game->line_max(stored->map))
			break;
		ret->len = text.len;
		ret->text = text.len > 0 ? buf_detach(&text) : xstrdup("");
		buf_release(&text);
		return true;
	}
	buf_release(&text);
	return false;
}

static int read_inputs(struct stored *ret, struct game_error *error)
{
	const json_t *list = json_object_get(ret->document, "transcript");
	size_t count = json_array_size(list);

	if (!json_is_array(list)) {
		game_error_set(error, "the transcript is missing");
		return -EINVAL;
	}
	ret->inputs = xcalloc(count + 1, sizeof(*ret->inputs));
	for (; ret->ninputs < count; ret->ninputs++) {
		if (!read_input(ret, json_array_get(list, ret->ninputs),
				&ret->inputs[ret->ninputs])) {
			game_error_set(error,
				       "number %zu of the transcript cannot "
				       "be read",
				       ret->ninputs + 1);
			return -EINVAL;
		}
	}
	return 0;
}

int stored_read(struct stored *ret, const char *text, size_t len,
		struct game_error *error)
{
	json_error_t wrong;
	const char *format;
	int rc;

	*ret = (struct stored){ 0 };
	buf_init(&ret->file, LIMIT_MAP_BYTES);
	ret->document = json_loadb(text, len, 0, &wrong);
	if (ret->document == NULL) {
		game_error_set(error, "line %d: %s", wrong.line, wrong.text);
		return -EINVAL;
	}
	format = text_of(ret->document, "format");
	if (format == NULL || strcmp(format, "hill match 1") != 0) {
		game_error_set(error, "it is not what `hillctl export` "
				      "writes");
		return -EINVAL;
	}
	rc = read_match(ret, error);
	if (rc == 0)
		rc = read_map(ret, error);
	if (rc == 0)
		rc = read_inputs(ret, error);
	return rc;
}

void stored_release(struct stored *stored)
{
	for (size_t i = 0; i < stored->ninputs; i++)
		free(stored->inputs[i].text);
	free(stored->inputs);
	if (stored->game != NULL)
		stored->game->map_free(stored->map);
	buf_release(&stored->file);
	json_decref(stored->document);
}
