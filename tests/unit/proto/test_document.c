/* SPDX-License-Identifier: MIT */
/*
 * PROTOCOL.md says what the tables of words.c and limits.h say. Between
 *	<!-- table: NAME --> and <!-- end -->
 * stands exactly what is made here; `test-proto-document --print` prints it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/control.h"
#include "proto/name.h"
#include "proto/words.h"
#include "server/base/buffer.h"
#include "server/base/limits.h"
#include "tests/unit/unit.h"

static void add_parts(struct buf *out, const struct word_part *parts,
		      const char *after)
{
	for (; parts->name != NULL; parts++) {
		buf_add_format(out, "| `%s%s`%s | %s |\n", parts->name, after,
			       parts->is_optional ? ", may be missing" : "",
			       parts->doc);
	}
}

static void add_head(struct buf *out, const struct word *word, unsigned from)
{
	buf_add_format(out, "**`@%s", word->name);
	for (const struct word_part *arg = word->args; arg->name != NULL; arg++)
		buf_add_format(out, arg->is_optional ? " [%s]" : " %s",
			       arg->name);
	for (const struct word_part *key = word->keys; key->name != NULL; key++)
		buf_add_format(out,
			       key->is_optional ? " [%s=]" : " %s=", key->name);
	if (word->has_text && from == WORD_FROM_SERVER)
		buf_add_text(out, " : text");
	if (word->is_verbatim)
		buf_add_text(out, " WORD...");
	buf_add_text(out, "`**");
}

static void add_phases(struct buf *out, const struct word *word)
{
	const char *comma = "";

	if (word->phases == PHASES_ALL) {
		buf_add_text(out, "always");
		return;
	}
	if (word->phases == PHASES_LOGGED_IN) {
		buf_add_text(out, "logged in");
		return;
	}
	for (unsigned i = 0; i < PHASE_N; i++) {
		if ((word->phases >> i & 1) == 0)
			continue;
		buf_add_format(out, "%s%s", comma, phase_name((enum phase)i));
		comma = ", ";
	}
}

static void add_words(struct buf *out, unsigned from)
{
	for (unsigned i = 0; i < WORD_NWORDS; i++) {
		const struct word *word = &words[i];

		if ((word->from & from) == 0)
			continue;
		add_head(out, word, from);
		if (from == WORD_FROM_CLIENT) {
			buf_add_text(out, " (");
			add_phases(out, word);
			buf_add_text(out, ")");
		}
		buf_add_format(out, " -- %s.", word->doc);
		if (word->has_block)
			buf_add_text(out, " Raw lines follow.");
		buf_add_text(out, "\n\n");
		if (word->args[0].name == NULL && word->keys[0].name == NULL)
			continue;
		buf_add_text(out, "| part | meaning |\n|---|---|\n");
		add_parts(out, word->args, "");
		add_parts(out, word->keys, "=");
		buf_add_text(out, "\n");
	}
}

static void add_client(struct buf *out)
{
	add_words(out, WORD_FROM_CLIENT);
}

static void add_server(struct buf *out)
{
	add_words(out, WORD_FROM_SERVER);
}

static void add_errors(struct buf *out)
{
	buf_add_text(out, "| code | ends the connection | cause |\n"
			  "|---|---|---|\n");
	for (unsigned i = 1; i < ERROR_NCODES; i++) {
		buf_add_format(out, "| `%s` | %s | %s |\n", error_kinds[i].name,
			       error_kinds[i].closes ? "yes" : "",
			       error_kinds[i].doc);
	}
}

static void add_bounds(struct buf *out)
{
	static const struct {
		const char *what;
		long value;
	} bounds[] = {
		{ "bytes of a line before login", LIMIT_LOGIN_LINE_BYTES },
		{ "bytes of a control line", LIMIT_CONTROL_LINE_BYTES },
		{ "bytes of a game line, unless line-max says otherwise",
		  LIMIT_GAME_LINE_BYTES },
		{ "times the larger of line-max and a control line: bytes "
		  "without an LF that end the connection",
		  LIMIT_OVERLONG_FACTOR },
		{ "positional arguments of a control line", CONTROL_ARGS_MAX },
		{ "keys of a control line", CONTROL_KEYS_MAX },
		{ "milliseconds from connect to login", LIMIT_LOGIN_MS },
		{ "refused lines in a row before login",
		  LIMIT_BAD_LINES_LOGIN },
		{ "refused lines in a row after login", LIMIT_BAD_LINES },
		{ "raw lines of a word that the server does not know",
		  LIMIT_SKIPPED_LINES },
		{ "replies ahead of their request", LIMIT_LINES_AHEAD },
		{ "lines of a reply, where it has several, but for their "
		  "number or the end line",
		  LIMIT_REPLY_LINES },
		{ "seats of a match", LIMIT_SEATS },
		{ "bytes of a file or an input", LIMIT_MAP_BYTES },
		{ "bytes of output, files not counted, that wait for a peer "
		  "that does not read",
		  LIMIT_OUTPUT_BYTES },
		{ "bytes of all replies of a match", LIMIT_TRANSCRIPT_BYTES },
		{ "bytes of `@banked` and `@fault` held back for a quiet match",
		  LIMIT_HELD_FAULT_BYTES },
		{ "bytes of other lines held back for a quiet match",
		  LIMIT_HELD_BYTES },
		{ "characters of a bot's name, at least", NAME_BOT_MIN },
		{ "characters of a bot's name, at most", NAME_BOT_MAX },
		{ "characters of a token", NAME_TOKEN_MAX },
		{ "characters of a file's or a ladder's name", NAME_TEXT_MAX },
	};

	buf_add_text(out, "| bound | at most |\n|---|---|\n");
	for (size_t i = 0; i < COUNT_OF(bounds); i++)
		buf_add_format(out, "| %s | %ld |\n", bounds[i].what,
			       bounds[i].value);
}

static const struct {
	const char *name;
	void (*add)(struct buf *out);
} tables[] = {
	{ "client", add_client },
	{ "server", add_server },
	{ "errors", add_errors },
	{ "bounds", add_bounds },
};

static void add_table(size_t i, struct buf *out)
{
	buf_add_format(out, "<!-- table: %s -->\n", tables[i].name);
	tables[i].add(out);
	buf_add_text(out, "<!-- end -->\n");
}

static void read_document(struct buf *ret)
{
	FILE *file = fopen(TEST_SOURCE "/proto/PROTOCOL.md", "rb");
	int c;

	assert_non_null(file);
	while ((c = getc(file)) != EOF)
		buf_add_char(ret, (char)c);
	assert_int_equal(fclose(file), 0);
}

static void the_document_has_the_tables(void **state)
{
	struct buf document = BUF_INIT(1 << 20);

	(void)state;
	read_document(&document);
	for (size_t i = 0; i < COUNT_OF(tables); i++) {
		struct buf table = BUF_INIT(1 << 18);

		add_table(i, &table);
		if (strstr(buf_text(&document), buf_text(&table)) == NULL)
			fail_msg("PROTOCOL.md needs this:\n%s",
				 buf_text(&table));
		buf_release(&table);
	}
	buf_release(&document);
}

static bool is_lower_word(const char *text)
{
	return text[0] >= 'a' && text[0] <= 'z' &&
	       text[strspn(text, "abcdefghijklmnopqrstuvwxyz-")] == '\0';
}

static void a_word_is_found_by_all_of_its_name(void **state)
{
	(void)state;
	assert_ptr_equal(word_find("ladders", 7), &words[WORD_LADDERS]);
	assert_ptr_equal(word_find("ladders", 6), &words[WORD_LADDER]);
	assert_null(word_find("ladders", 5));
}

static void the_tables_are_complete(void **state)
{
	(void)state;
	for (unsigned i = 0; i < WORD_NWORDS; i++) {
		assert_non_null(words[i].name);
		assert_non_null(words[i].doc);
		assert_true(is_lower_word(words[i].name));
		assert_true(words[i].from != 0);
		assert_int_equal((words[i].from & WORD_FROM_CLIENT) != 0,
				 words[i].phases != 0);
		assert_int_equal(word_id(&words[i]), i);
		assert_ptr_equal(
			word_find(words[i].name, strlen(words[i].name)),
			&words[i]);
	}
	assert_null(word_find("", 0));
	assert_null(word_find("log\0n", 5));
	for (unsigned i = 0; i < ERROR_NCODES; i++) {
		assert_non_null(error_kinds[i].doc);
		assert_true(is_lower_word(error_kinds[i].name));
		for (unsigned k = 0; k < i; k++)
			assert_string_not_equal(error_kinds[i].name,
						error_kinds[k].name);
	}
	for (unsigned i = 0; i < PHASE_N; i++)
		assert_non_null(phase_name((enum phase)i));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_document_has_the_tables),
		cmocka_unit_test(a_word_is_found_by_all_of_its_name),
		cmocka_unit_test(the_tables_are_complete),
	};

	if (argc == 2 && strcmp(argv[1], "--print") == 0) {
		struct buf all = BUF_INIT(1 << 20);

		for (size_t i = 0; i < COUNT_OF(tables); i++)
			add_table(i, &all);
		(void)fputs(buf_text(&all), stdout);
		buf_release(&all);
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
