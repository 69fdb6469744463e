/* SPDX-License-Identifier: MIT */
#include "clients/run/play.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clients/run/file.h"
#include "tests/unit/match/toy.h"
#include "tests/unit/unit.h"

enum { TOLD_BYTES = 4096, DRAWING_US = 500 * 1000 };

/* What a series of matches of shell commands came to. */
struct series {
	const char *command; /* of every match */
	const char *later;   /* of all but the first; NULL: likewise */
	const char *mark;    /* a file made when the first is over; NULL */
	unsigned made, over;
	int64_t stall_us;      /* of the last that was over */
	char told[TOLD_BYTES]; /* on standard error */
};

static bool make(struct play *play, struct play_match *match,
		 struct referee_job *job)
{
	struct series *series = play->context;

	series->made++;
	match->label = xstrdup("toy");
	match->seed = xstrdup("7");
	match->names[0] = xstrdup("sh");
	words_add(&match->argv[0], "/bin/sh");
	words_add(&match->argv[0], "-c");
	words_add(&match->argv[0], series->later != NULL && match->number > 1
					   ? series->later
					   : series->command);
	job->map_name = "toy.map";
	job->setup.seed = match->seed;
	job->setup.bot_seed = match->seed;
	job->setup.seats = 1;
	job->setup.params[TOY_TURNS] = 2;
	job->setup.params[TOY_LATE] = 5;
	return true;
}

static void over(struct play *play, struct play_match *match,
		 const struct match_record *record,
		 const struct game_state *state)
{
	struct series *series = play->context;

	(void)state;
	assert_false(record->is_void);
	series->over++;
	series->stall_us = record->stall_us;
	if (series->mark == NULL || match->number > 1)
		return;
	assert_true(file_write(series->mark, "", 0));
	(void)usleep(DRAWING_US);
}

/* Play TOTAL matches, PARALLEL at once; the exit status. */
static int run(struct series *series, unsigned total, unsigned parallel)
{
	const struct run_options options = { .turn_ms = 0,
					     .parallel = parallel,
					     .is_stderr_shared = true,
					     .is_quiet = true };
	struct play play = { .options = &options,
			     .game = &toy_game,
			     .map = toy_map(),
			     .total = total,
			     .context = series,
			     .make = make,
			     .over = over };
	FILE *file = tmpfile();
	int own = dup(STDERR_FILENO);
	int status;
	size_t len;

	assert_non_null(file);
	assert_true(own >= 0 && dup2(fileno(file), STDERR_FILENO) >= 0);
	status = play_series(&play);
	assert_true(dup2(own, STDERR_FILENO) >= 0);
	(void)close(own);
	rewind(file);
	len = fread(series->told, 1, sizeof(series->told) - 1, file);
	series->told[len] = '\0';
	(void)fclose(file);
	play_release(&play);
	return status;
}

/* What a server's peer must not be sent at once, a program is. */
static void tells_a_program_what_a_peer_is_not_told(void **unused)
{
	struct series series = {
		.command = "read seed; read ask; echo flood; "
			   "read line; echo move; cat >/dev/null"
	};

	(void)unused;
	assert_int_equal(run(&series, 2, 1), EXIT_PLAYED);
	assert_int_equal(series.over, 2);
	assert_string_equal(series.told, "");
}

static void takes_a_void_match_for_no_result(void **unused)
{
	struct series series = { .command = "echo drown; cat >/dev/null" };

	(void)unused;
	assert_int_equal(run(&series, 2, 1), EXIT_BAD);
	assert_int_equal(series.over, 0);
	assert_int_equal(series.made, 1);
	assert_non_null(strstr(series.told,
			       "hill-run: toy: the match is void: output: "));
}

static void what_is_done_for_one_match_takes_no_time_of_another(void **unused)
{
	char folder[] = "/tmp/test-play-XXXXXX";
	char mark[64];
	char later[200];
	struct series series = { .command = "echo end",
				 .later = later,
				 .mark = mark };

	(void)unused;
	assert_non_null(mkdtemp(folder));
	(void)snprintf(mark, sizeof(mark), "%s/mark", folder);
	(void)snprintf(later, sizeof(later),
		       "while [ ! -e %s ]; do sleep 0.05; done; echo end",
		       mark);
	assert_int_equal(run(&series, 2, 2), EXIT_PLAYED);
	assert_int_equal(series.over, 2);
	assert_true(series.stall_us >= DRAWING_US);
	(void)unlink(mark);
	(void)rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tells_a_program_what_a_peer_is_not_told),
		cmocka_unit_test(takes_a_void_match_for_no_result),
		cmocka_unit_test(
			what_is_done_for_one_match_takes_no_time_of_another),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
