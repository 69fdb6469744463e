/* SPDX-License-Identifier: MIT */
#include "clients/run/cfg.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clients/run/file.h"
#include "clients/run/literals.h"

enum { MS_A_SECOND = 1000, SECONDS_MAX = 1000 * 1000, WHAT_BYTES = 160 };

struct reader {
	struct literals literals;
	struct game_error *error;
	bool has_failed;
};

/* NAME's value cannot be used; only the first failure is told. */
static void PRINTF_LIKE(3, 4)
	fail(struct reader *reader, const char *name, const char *format, ...)
{
	const json_t *line = json_object_get(reader->literals.lines, name);
	char what[WHAT_BYTES];
	va_list args;

	if (reader->has_failed)
		return;
	reader->has_failed = true;
	va_start(args, format);
	(void)vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	if (line == NULL)
		game_error_set(reader->error, "%s %s", name, what);
	else
		game_error_set(reader->error, "line %lld: %s %s",
			       (long long)json_integer_value(line), name, what);
}

static const json_t *get(const struct reader *reader, const char *name)
{
	return json_object_get(reader->literals.values, name);
}

static int64_t read_whole(struct reader *reader, const char *name,
			  int64_t least, int64_t most, int64_t fallback)
{
	const json_t *value = get(reader, name);

	if (value == NULL)
		return fallback;
	if (!json_is_integer(value) || json_integer_value(value) < least ||
	    json_integer_value(value) > most) {
		fail(reader, name, "is no whole number from %lld to %lld",
		     (long long)least, (long long)most);
		return fallback;
	}
	return json_integer_value(value);
}

/* Seconds, in milliseconds. */
static int64_t read_time(struct reader *reader, const char *name, int64_t least,
			 int64_t fallback)
{
	const json_t *value = get(reader, name);
	double ms;

	if (value == NULL)
		return fallback;
	ms = json_number_value(value) * MS_A_SECOND + 0.5;
	if (!json_is_number(value) || ms < (double)least ||
	    ms > (double)SECONDS_MAX * MS_A_SECOND) {
		fail(reader, name, "is no time in seconds");
		return fallback;
	}
	return (int64_t)ms;
}

/* A text of at least one byte; NULL: told, or not there without need. */
static char *read_text(struct reader *reader, const char *name, bool is_needed)
{
	const json_t *value = get(reader, name);

	if (value == NULL && is_needed)
		fail(reader, name, "is missing");
	else if (value != NULL &&
		 (!json_is_string(value) || json_string_length(value) == 0))
		fail(reader, name, "is no text");
	return json_is_string(value) ? xstrdup(json_string_value(value)) : NULL;
}

/* An array of at least one value; NULL: told. */
static const json_t *read_array(struct reader *reader, const char *name)
{
	const json_t *value = get(reader, name);

	if (value == NULL)
		fail(reader, name, "is missing");
	else if (!json_is_array(value) || json_array_size(value) == 0)
		fail(reader, name, "is no list");
	else
		return value;
	return NULL;
}

static void read_colours(struct reader *reader, struct cfg *cfg)
{
	const json_t *list = read_array(reader, "colourspec");

	if (list != NULL && json_array_size(list) < cfg->nbots)
		fail(reader, "colourspec", "has fewer colours than bots");
	for (unsigned i = 0; !reader->has_failed && i < cfg->nbots; i++) {
		const json_t *colour = json_array_get(list, i);

		for (size_t k = 0; k < 3; k++) {
			const json_t *part = json_array_get(colour, k);
			json_int_t value = json_integer_value(part);

			if (json_array_size(colour) != 3 ||
			    !json_is_integer(part) || value < 0 || value > 255)
				fail(reader, "colourspec",
				     "number %u is no (R, G, B) from 0 to 255",
				     i + 1);
			cfg->colours[i][k] = (uint8_t)value;
		}
	}
}

/* All strings of LIST into WORDS; false when one is none, or LIST is empty. */
static bool add_strings(const json_t *list, struct words *words)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *word = json_array_get(list, i);

		if (!json_is_string(word) || json_string_length(word) == 0)
			return false;
		words_add(words, json_string_value(word));
	}
	return words->count > 0;
}

static bool ends_in(const char *text, const char *end)
{
	size_t len = strlen(text);

	return len > strlen(end) && strcmp(text + len - strlen(end), end) == 0;
}

/* ('blob.py', 'python'): the judge called `python blob.py`. */
static bool read_program(const json_t *program, const json_t *interpreter,
			 struct cfg_bot *bot)
{
	static const char java[] = ".class";
	char *word;

	if (!json_is_string(program) || json_string_length(program) == 0 ||
	    (!json_is_string(interpreter) && !json_is_null(interpreter)))
		return false;
	words_add(&bot->files, json_string_value(program));
	if (json_string_length(interpreter) > 0)
		words_add(&bot->command, json_string_value(interpreter));
	/* It lies in the bot's folder under its bare name. */
	word = xstrdup(file_base_name(json_string_value(program)));
	if (ends_in(word, java))
		word[strlen(word) - strlen(java)] = '\0';
	words_add_take(&bot->command, word);
	return true;
}

static bool read_bot(const json_t *spec, struct cfg_bot *bot)
{
	const json_t *first = json_array_get(spec, 0);
	const json_t *second = json_array_get(spec, 1);

	if (json_array_size(spec) != 2)
		return false;
	if (!json_is_array(second)) {
		if (!read_program(first, second, bot))
			return false;
	} else {
		if (json_is_string(first))
			words_add(&bot->files, json_string_value(first));
		else if (!add_strings(first, &bot->files))
			return false;
		if (!add_strings(second, &bot->command))
			return false;
	}
	bot->name = xstrdup(bot->files.words[0]);
	return true;
}

static void read_bots(struct reader *reader, struct cfg *cfg)
{
	const json_t *list = read_array(reader, "botspec");

	if (list == NULL)
		return;
	if (json_array_size(list) > GAME_SEATS_MAX) {
		fail(reader, "botspec", "has more than %d bots",
		     GAME_SEATS_MAX);
		return;
	}
	cfg->nbots = (unsigned)json_array_size(list);
	for (unsigned i = 0; i < cfg->nbots; i++) {
		if (!read_bot(json_array_get(list, i), &cfg->bots[i]))
			fail(reader, "botspec",
			     "number %u is neither (file, interpreter) nor "
			     "([file...], [command...])",
			     i + 1);
	}
}

int cfg_read(struct cfg *ret, const char *text, size_t len,
	     struct game_error *error)
{
	struct reader reader = { .error = error };
	int rc = literals_read(&reader.literals, text, len, error);

	*ret = (struct cfg){ 0 };
	if (rc < 0)
		return rc;
	ret->battle = read_text(&reader, "BATTLE", false);
	if (ret->battle == NULL)
		ret->battle = xstrdup("battle");
	ret->turns_max = read_whole(&reader, "MAXTURNS", 1, INT64_MAX, 20000);
	ret->batch = read_whole(&reader, "PIXELBATCH", 1, INT64_MAX, 10);
	ret->init_ms = read_time(&reader, "INITTIME", 0, 2000);
	ret->turn_ms = read_time(&reader, "TIMELIMIT", 1, 100);
	ret->fault_limit = read_whole(&reader, "FAULTLIMIT", 1, INT64_MAX, 5);
	ret->image = read_text(&reader, "imagename", true);
	read_bots(&reader, ret);
	read_colours(&reader, ret);
	literals_release(&reader.literals);
	if (!reader.has_failed)
		return 0;
	cfg_release(ret);
	return -EINVAL;
}

void cfg_release(struct cfg *cfg)
{
	free(cfg->battle);
	free(cfg->image);
	for (unsigned i = 0; i < GAME_SEATS_MAX; i++) {
		free(cfg->bots[i].name);
		words_release(&cfg->bots[i].files);
		words_release(&cfg->bots[i].command);
	}
	*cfg = (struct cfg){ 0 };
}
