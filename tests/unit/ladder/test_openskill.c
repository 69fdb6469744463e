/* SPDX-License-Identifier: MIT */
/* Replays tests/oracle/openskill/vectors.txt; its README has the format. */
#include "server/ladder/rating.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"

#define BOUND 1e-9

enum { BOTS = 64, LINE_BYTES = 1024 };

struct vectors {
	struct rating bots[BOTS];
	size_t cases;
	size_t rankings;
	size_t figures;
	double worst; /* difference */
};

/* "BOT:RANK BOT:RANK ..." */
static void rank_bots(struct vectors *vectors, char *text)
{
	size_t who[RATING_PLACES];
	unsigned ranks[RATING_PLACES];
	struct rating ratings[RATING_PLACES];
	size_t count = 0;

	for (char *word = strtok(text, " "); word != NULL;
	     word = strtok(NULL, " ")) {
		char *end;

		assert_true(count < RATING_PLACES);
		who[count] = strtoul(word, &end, 10);
		assert_true(who[count] < BOTS && *end == ':');
		ranks[count] = (unsigned)strtoul(end + 1, NULL, 10);
		ratings[count] = vectors->bots[who[count]];
		count++;
	}
	assert_int_equal(
		rating_update(&rating_model_default, ratings, ranks, count), 0);
	for (size_t i = 0; i < count; i++)
		vectors->bots[who[i]] = ratings[i];
	vectors->rankings++;
}

static void compare(struct vectors *vectors, double is, double wanted,
		    unsigned line_number)
{
	double off = fabs(is - wanted);

	if (!(off <= BOUND))
		fail_msg("line %u: %.17g, openskill has %.17g", line_number, is,
			 wanted);
	vectors->worst = fmax(vectors->worst, off);
	vectors->figures++;
}

static void take_line(struct vectors *vectors, char *line, unsigned line_number)
{
	size_t bot;
	struct rating rating;

	if (line[0] == '#') {
		vectors->cases++;
	} else if (strncmp(line, "rank ", 5) == 0) {
		rank_bots(vectors, line + 5);
	} else if (sscanf(line, "set %zu %lf %lf", &bot, &rating.mu,
			  &rating.sigma) == 3) {
		assert_true(bot < BOTS);
		vectors->bots[bot] = rating;
	} else if (sscanf(line, "is %zu %lf %lf", &bot, &rating.mu,
			  &rating.sigma) == 3) {
		assert_true(bot < BOTS);
		compare(vectors, vectors->bots[bot].mu, rating.mu, line_number);
		compare(vectors, vectors->bots[bot].sigma, rating.sigma,
			line_number);
	} else {
		fail_msg("line %u is none of ours", line_number);
	}
}

static void gives_what_openskill_gives(void **state)
{
	static struct vectors vectors;
	FILE *file = fopen(HILL_TEST_ORACLE "/openskill/vectors.txt", "r");
	char line[LINE_BYTES];
	unsigned line_number = 1;

	(void)state;
	assert_non_null(file);
	assert_non_null(fgets(line, sizeof(line), file));
	assert_string_equal(line, "openskill 5.0.1\n");
	while (fgets(line, sizeof(line), file) != NULL) {
		line_number++;
		line[strcspn(line, "\n")] = '\0';
		take_line(&vectors, line, line_number);
	}
	assert_int_equal(fclose(file), 0);
	print_message("%zu cases, %zu rankings, %zu figures, worst %.1e\n",
		      vectors.cases, vectors.rankings, vectors.figures,
		      vectors.worst);
	assert_true(vectors.cases >= 250);
	assert_true(vectors.rankings >= 9000);
	assert_true(vectors.figures >= 2000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gives_what_openskill_gives),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
