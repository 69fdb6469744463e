/* SPDX-License-Identifier: MIT */
#include "clients/ctl/tournament_view.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "clients/ctl/table.h"

static const char *text_of(const json_t *json, const char *key)
{
	const char *text = json_string_value(json_object_get(json, key));

	return text == NULL ? "" : text;
}

static int64_t number_of(const json_t *json, const char *key)
{
	return json_integer_value(json_object_get(json, key));
}

/* A whole number, a real one, or nothing for null. */
static void format_number(const json_t *value, char *ret, size_t size)
{
	if (json_is_integer(value))
		(void)snprintf(ret, size, "%" JSON_INTEGER_FORMAT,
			       json_integer_value(value));
	else if (json_is_real(value))
		(void)snprintf(ret, size, "%.10g", json_real_value(value));
	else
		(void)snprintf(ret, size, "%s", "");
}

static void add_number(struct table *table, const json_t *value)
{
	char text[40];

	format_number(value, text, sizeof(text));
	table_add(table, text);
}

/* "a - b - c" of names or points. */
static void add_joined(struct table *table, const json_t *list)
{
	struct buf text = BUF_INIT(65536);
	char number[40];

	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *value = json_array_get(list, i);

		format_number(value, number, sizeof(number));
		buf_add_format(&text, "%s%s", i == 0 ? "" : " - ",
			       json_is_string(value) ? json_string_value(value)
						     : number);
	}
	table_add(table, buf_text(&text));
	buf_release(&text);
}

static void print_time(const char *what, int64_t wall_us)
{
	struct buf text = BUF_INIT(64);

	text_time(wall_us, &text);
	(void)printf("%-12s %s UTC\n", what, buf_text(&text));
	buf_release(&text);
}

/* Whether nobody but the host is to see its results. */
static bool is_embargo(const json_t *tournament)
{
	return json_is_true(json_object_get(tournament, "embargo")) &&
	       number_of(tournament, "revealed_us") == 0;
}

/* "image-battle, swiss, 5 rounds, sets of 3, seats rotated" */
static void print_head(const json_t *tournament)
{
	int64_t rounds = number_of(tournament, "rounds");
	int64_t sets = number_of(tournament, "sets");

	(void)printf("%-12s %s\n%-12s %s", "ladder",
		     text_of(tournament, "ladder"), "format",
		     text_of(tournament, "format"));
	if (rounds > 0)
		(void)printf(", %" PRId64 " %s", rounds,
			     strcmp(text_of(tournament, "format"), "contest") ==
					     0
				     ? rounds == 1 ? "instance" : "instances"
			     : rounds == 1 ? "round"
					   : "rounds");
	if (sets > 1)
		(void)printf(", %" PRId64 " sets a pairing", sets);
	if (json_is_true(json_object_get(tournament, "rotate")))
		(void)printf(", seats rotated");
	if (json_is_true(json_object_get(tournament, "third")))
		(void)printf(", third place");
	if (json_is_true(json_object_get(tournament, "embargo")))
		(void)printf(", %s", is_embargo(tournament) ? "under embargo"
							    : "revealed");
	(void)printf("\n%-12s %" PRId64 "\n", "entrants",
		     number_of(tournament, "entrants"));
	if (number_of(tournament, "starts_us") != 0)
		print_time("starts", number_of(tournament, "starts_us"));
	if (number_of(tournament, "deadline_us") != 0)
		print_time("deadline", number_of(tournament, "deadline_us"));
}

void tournament_print_without_version(const json_t *reply)
{
	const json_t *list = json_object_get(reply, "without_version");

	for (size_t i = 0; i < json_array_size(list); i++)
		(void)printf("out, as it had no version by then: %s\n",
			     json_string_value(json_array_get(list, i)));
}

void tournament_print_plan(const json_t *reply)
{
	const json_t *forecast = json_object_get(reply, "forecast");
	int64_t least = number_of(forecast, "matches_min");
	int64_t most = number_of(forecast, "matches_max");

	print_head(json_object_get(reply, "tournament"));
	tournament_print_without_version(reply);
	(void)printf("%-12s %" PRId64, "matches", least);
	if (most != least)
		(void)printf(" to %" PRId64, most);
	(void)printf(", at most %" PRId64 " one after another\n",
		     number_of(forecast, "in_a_row"));
	if (json_is_null(json_object_get(forecast, "ends_us"))) {
		(void)printf("%-12s not known until something was played on "
			     "the ladder\n",
			     "bytes, end");
		return;
	}
	(void)printf("%-12s %" PRId64 " at most\n", "bytes",
		     number_of(forecast, "bytes"));
	print_time("expected end", number_of(forecast, "ends_us"));
}

void tournament_print_matches(const json_t *matches)
{
	struct table table;

	table_init(&table);
	table_column(&table, "round", true);
	table_column(&table, "pairing", true);
	table_column(&table, "set", true);
	table_column(&table, "turn", true);
	table_column(&table, "instance", true);
	table_column(&table, "bots by seat", false);
	for (size_t i = 0; i < json_array_size(matches); i++) {
		const json_t *match = json_array_get(matches, i);

		table_add_i64(&table, number_of(match, "round"));
		table_add_i64(&table, number_of(match, "pairing"));
		table_add_i64(&table, number_of(match, "set"));
		table_add_i64(&table, number_of(match, "turn"));
		table_add_i64(&table, number_of(match, "instance"));
		add_joined(&table, json_object_get(match, "bots"));
	}
	table_print(&table, stdout);
	table_release(&table);
}

void tournament_print_show(const json_t *reply)
{
	const json_t *tournament = json_object_get(reply, "tournament");
	const json_t *pairings = json_object_get(reply, "pairings");
	struct table table;

	print_head(tournament);
	(void)printf("%-12s %s, round %" PRId64 "\n", "state",
		     text_of(tournament, "state"), number_of(reply, "round"));
	if (number_of(tournament, "ended_us") != 0)
		print_time("ended", number_of(tournament, "ended_us"));
	(void)printf("\n");
	table_init(&table);
	table_column(&table, "round", true);
	table_column(&table, "pairing", true);
	table_column(&table, "bracket", false);
	table_column(&table, "bots", false);
	table_column(&table, "points", false);
	table_column(&table, "state", false);
	for (size_t i = 0; i < json_array_size(pairings); i++) {
		const json_t *pairing = json_array_get(pairings, i);

		table_add_i64(&table, number_of(pairing, "round"));
		table_add_i64(&table, number_of(pairing, "pairing"));
		table_add(&table, text_of(pairing, "bracket"));
		add_joined(&table, json_object_get(pairing, "bots"));
		add_joined(&table, json_object_get(pairing, "points"));
		table_add(&table, text_of(pairing, "state"));
	}
	table_print(&table, stdout);
	table_release(&table);
}

/* The tie-break "wins" is in the table already, as "won". */
static void table_head(struct table *table, const json_t *first,
		       bool is_contest)
{
	const char *name;
	json_t *value;

	table_column(table, "rank", true);
	table_column(table, "bot", false);
	table_column(table, "version", false);
	table_column(table, is_contest ? "total" : "points", true);
	if (!is_contest) {
		table_column(table, "won", true);
		table_column(table, "drawn", true);
		table_column(table, "lost", true);
		table_column(table, "byes", true);
	}
	json_object_foreach(json_object_get(first, "tie_breaks"), name, value)
		if (strcmp(name, "wins") != 0)
			table_column(table, name, true);
	table_column(table, "score", true);
	table_column(table, "faults", true);
	table_column(table, "forfeits", true);
}

static void print_standings(const json_t *standings, bool is_contest)
{
	const char *name;
	struct table table;
	json_t *value;

	table_init(&table);
	table_head(&table, json_array_get(standings, 0), is_contest);
	for (size_t i = 0; i < json_array_size(standings); i++) {
		const json_t *row = json_array_get(standings, i);

		table_add_i64(&table, number_of(row, "rank"));
		table_add(&table, text_of(row, "bot"));
		table_add(&table, text_of(row, "version"));
		add_number(&table, json_object_get(row, is_contest ? "total"
								   : "points"));
		if (!is_contest) {
			table_add_i64(&table, number_of(row, "wins"));
			table_add_i64(&table, number_of(row, "draws"));
			table_add_i64(&table, number_of(row, "losses"));
			table_add_i64(&table, number_of(row, "byes"));
		}
		json_object_foreach(json_object_get(row, "tie_breaks"), name,
				    value)
			if (strcmp(name, "wins") != 0)
				add_number(&table, value);
		add_number(&table, json_object_get(row, "score"));
		table_add_i64(&table, number_of(row, "faults"));
		table_add_i64(&table, number_of(row, "forfeits"));
	}
	table_print(&table, stdout);
	table_release(&table);
}

/* Who got how much from whom; by rank, as the lines above. */
static void print_cross(const json_t *cross, const json_t *standings)
{
	size_t n = json_array_size(cross);
	char titles[TABLE_COLUMNS_MAX][24];
	struct table table;

	(void)printf("\n");
	if (n + 2 > TABLE_COLUMNS_MAX) {
		(void)printf("The cross-table of %zu is too wide for here; "
			     "--json has it.\n",
			     n);
		return;
	}
	table_init(&table);
	table_column(&table, "", true);
	table_column(&table, "bot", false);
	for (size_t i = 0; i < n; i++) {
		(void)snprintf(titles[i], sizeof(titles[i]), "%zu", i + 1);
		table_column(&table, titles[i], true);
	}
	for (size_t i = 0; i < n; i++) {
		table_add_i64(&table, (int64_t)i + 1);
		table_add(&table, text_of(json_array_get(standings, i), "bot"));
		for (size_t k = 0; k < n; k++) {
			const json_t *cell =
				json_array_get(json_array_get(cross, i), k);

			if (i == k)
				table_add(&table, "x");
			else
				add_number(&table, cell);
		}
	}
	table_print(&table, stdout);
	table_release(&table);
}

/* Why the table is not the whole story. */
static void print_rest(const json_t *reply, const char *state)
{
	int64_t undecided = number_of(reply, "undecided");

	if (!json_is_true(json_object_get(reply, "finished")))
		(void)printf("\nNot all was played: the tournament is %s.\n",
			     state);
	if (undecided > 0)
		(void)printf("\n%" PRId64 " %s undecided: made void when the "
			     "tournament was over.\n",
			     undecided,
			     undecided == 1 ? "pairing is" : "pairings are");
}

void tournament_print_table(const json_t *reply)
{
	const json_t *tournament = json_object_get(reply, "tournament");
	const json_t *standings = json_object_get(reply, "standings");
	const json_t *cross = json_object_get(reply, "cross");
	bool is_contest = strcmp(text_of(tournament, "format"), "contest") == 0;

	print_standings(standings, is_contest);
	if (cross != NULL)
		print_cross(cross, standings);
	print_rest(reply, text_of(tournament, "state"));
	if (is_embargo(tournament))
		(void)printf("\nUnder embargo: for the host alone.\n");
}

/* A field, quoted where it has to be. */
static void print_field(const char *text)
{
	if (strpbrk(text, ",\"\r\n") == NULL) {
		(void)fputs(text, stdout);
		return;
	}
	(void)putchar('"');
	for (; *text != '\0'; text++) {
		if (*text == '"')
			(void)putchar('"');
		(void)putchar(*text);
	}
	(void)putchar('"');
}

void tournament_print_csv(const json_t *reply)
{
	static const char *const texts[] = { "external_id", "owner", "bot",
					     "version" };
	static const char *const numbers[] = { "rank",  "points", "total",
					       "score", "faults", "forfeits" };
	const json_t *standings = json_object_get(reply, "standings");
	char text[40];

	if (is_embargo(json_object_get(reply, "tournament")))
		(void)fputs("hillctl: under embargo: for the host alone\n",
			    stderr);
	(void)printf("external_id,owner,bot,version,rank,points,total,score,"
		     "faults,forfeits\r\n");
	for (size_t i = 0; i < json_array_size(standings); i++) {
		const json_t *row = json_array_get(standings, i);

		for (size_t k = 0; k < sizeof(texts) / sizeof(texts[0]); k++) {
			print_field(text_of(row, texts[k]));
			(void)putchar(',');
		}
		for (size_t k = 0; k < sizeof(numbers) / sizeof(numbers[0]);
		     k++) {
			format_number(json_object_get(row, numbers[k]), text,
				      sizeof(text));
			(void)printf("%s%s", k == 0 ? "" : ",", text);
		}
		(void)printf("\r\n");
	}
}
