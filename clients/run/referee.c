/* SPDX-License-Identifier: MIT */
/* referee.c - matches between local programs in one poll() loop. */
#include "clients/run/referee.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>

#include "clients/program/system.h"
#include "clients/run/referee_internal.h"
#include "server/base/clock.h"

enum {
	IDLE_US = 200 * 1000,
	US_PER_SECOND = 1000 * 1000,
};

/* ---- tables ---- */

static void start_seat(struct table *table, unsigned number)
{
	const struct referee_player *player = &table->job.players[number];
	struct seat *seat = &table->seats[number];
	struct program_plan plan = {
		.argv = player->argv,
		.folder = player->folder,
		.is_chdir = player->is_chdir,
		.log_path = player->log_path,
		.is_stderr_shared = player->is_stderr_shared,
		.line_max = match_line_max(table->match),
		.is_whole = table->job.game->is_whole_input,
		.on_line = referee_take_line,
		.context = seat,
	};
	int rc;

	*seat = (struct seat){ .table = table, .kill_at_us = INT64_MAX };
	buf_init(&seat->backlog, SIZE_MAX / 8);
	program_init(&seat->program);
	rc = program_start(&seat->program, &plan);
	if (rc == 0)
		return;
	if (player->folder != NULL)
		(void)keeper_remove_folder(player->folder);
	seat->has_status = true;
	seat->status = (struct keeper_status){ .end = KEEPER_NOT_STARTED,
					       .value = -rc };
}

static void start_play(struct table *table)
{
	struct match_out *out = table->referee->out;

	table->state = TABLE_PLAYING;
	for (unsigned i = 0; i < table->nseats; i++)
		start_seat(table, i);
	for (unsigned i = 0; i < table->nseats; i++) {
		match_ready(table->match, i, false, clock_now_us(), out);
		referee_apply(table);
	}
	if (table->job.input == NULL)
		return;
	for (unsigned i = 0; i < table->nseats; i++) {
		program_write(&table->seats[i].program, table->job.input,
			      table->job.input_len);
		program_end_input(&table->seats[i].program);
	}
}

/* Seat the next match at TABLE; false when there is none. */
static bool open_table(struct table *table)
{
	struct referee *referee = table->referee;
	const struct referee_hooks *hooks = referee->hooks;
	struct match_config config = { .is_local = true };
	struct referee_job *job = &table->job;

	*job = (struct referee_job){ 0 };
	if (!hooks->next(hooks->context, job))
		return false;
	config.id = ++referee->last_id;
	config.game = job->game;
	config.map = job->map;
	config.map_name = job->map_name;
	config.ladder = job->game->name;
	config.setup = &job->setup;
	config.limits = job->limits;
	for (unsigned i = 0; i < job->setup.seats; i++)
		config.seats[i].bot = job->players[i].name;
	table->nseats = job->setup.seats;
	if (match_new(&table->match, &config, clock_now_us(), referee->out) < 0)
		abort(); /* seats are checked by who makes jobs */
	start_play(table);
	return true;
}

static bool has_programs(const struct table *table)
{
	for (unsigned i = 0; i < table->nseats; i++) {
		if (program_is_alive(&table->seats[i].program))
			return true;
	}
	return false;
}

static void close_table(struct table *table)
{
	const struct referee_hooks *hooks = table->referee->hooks;
	int64_t begun_us;

	for (unsigned i = 0; i < table->nseats; i++)
		referee_tell_end(&table->seats[i], false);
	begun_us = clock_now_us();
	hooks->over(hooks->context, &table->job, table->record,
		    match_game_state(table->match));
	/* Drawing its pictures may take seconds. */
	referee_credit(table, begun_us);
	for (unsigned i = 0; i < table->nseats; i++)
		buf_release(&table->seats[i].backlog);
	match_record_free(table->record);
	match_free(table->match);
	table->record = NULL;
	table->match = NULL;
	table->state = TABLE_FREE;
}

/* Verdicts that are due, each after one last read. */
static void give_verdicts(struct table *table)
{
	int64_t now_us = clock_now_us();
	struct pollfd fds[PROGRAM_FDS];

	if (now_us < match_deadline(table->match))
		return;
	for (uint32_t due = match_due(table->match, now_us); due != 0;
	     due &= due - 1) {
		struct seat *seat = &table->seats[__builtin_ctz(due)];
		size_t count = program_poll(&seat->program, fds);

		if (poll(fds, count, 0) > 0)
			referee_serve_seat(seat, fds, count);
		if (table->state != TABLE_PLAYING)
			return;
	}
	match_expire(table->match, now_us, table->referee->out);
	referee_apply(table);
}

/* ---- the loop ---- */

/* Give every free table a match; true while one is played. */
static bool fill_tables(struct referee *referee)
{
	bool is_busy = false;

	for (unsigned i = 0; i < referee->ntables; i++) {
		struct table *table = &referee->tables[i];

		if (table->state == TABLE_FREE && !referee->is_empty)
			referee->is_empty = !open_table(table);
		is_busy |= table->state != TABLE_FREE;
	}
	return is_busy;
}

static int64_t seat_deadline(const struct seat *seat)
{
	int64_t deadline = seat->kill_at_us;

	if (!seat->is_gone_told && !seat->has_ended &&
	    program_closed_deadline(&seat->program) < deadline)
		deadline = program_closed_deadline(&seat->program);
	/* Never started: nothing will come from it. */
	if (!program_is_alive(&seat->program) && !seat->has_ended &&
	    !seat->is_gone_told)
		deadline = 0;
	return deadline;
}

/* Gather what to wait for; how long is *RET_WAIT. */
static void watch(struct referee *referee, struct timespec *ret_wait)
{
	int64_t deadline = referee->idle_at_us;
	int64_t left;

	referee->nfds = 0;
	for (unsigned i = 0; i < referee->ntables; i++) {
		struct table *table = &referee->tables[i];

		if (table->state == TABLE_FREE)
			continue;
		if (table->state == TABLE_PLAYING &&
		    match_deadline(table->match) < deadline)
			deadline = match_deadline(table->match);
		for (unsigned k = 0; k < table->nseats; k++) {
			const struct seat *seat = &table->seats[k];

			if (seat_deadline(seat) < deadline)
				deadline = seat_deadline(seat);
			referee->first[i][k] = referee->nfds;
			referee->count[i][k] = program_poll(
				&seat->program, &referee->fds[referee->nfds]);
			referee->nfds += referee->count[i][k];
		}
	}
	left = deadline - clock_now_us();
	if (left < 0)
		left = 0;
	ret_wait->tv_sec = left / US_PER_SECOND;
	ret_wait->tv_nsec = left % US_PER_SECOND * 1000;
}

static void serve_table(struct referee *referee, unsigned index)
{
	struct table *table = &referee->tables[index];

	if (table->state == TABLE_FREE)
		return;
	for (unsigned k = 0; k < table->nseats; k++)
		referee_serve_seat(&table->seats[k],
				   &referee->fds[referee->first[index][k]],
				   referee->count[index][k]);
	if (table->state == TABLE_PLAYING)
		give_verdicts(table);
	if (table->state == TABLE_ENDING && !has_programs(table))
		close_table(table);
}

static void tick(struct referee *referee)
{
	int64_t now_us = clock_now_us();

	if (now_us < referee->idle_at_us)
		return;
	referee->idle_at_us = now_us + IDLE_US;
	if (referee->hooks->idle != NULL)
		referee->hooks->idle(referee->hooks->context);
}

static int loop(struct referee *referee, const volatile sig_atomic_t *stop)
{
	struct timespec wait;
	sigset_t during_wait;

	(void)sigprocmask(SIG_BLOCK, NULL, &during_wait);
	sigdelset(&during_wait, SIGINT);
	sigdelset(&during_wait, SIGTERM);
	while (*stop == 0 && fill_tables(referee)) {
		watch(referee, &wait);
		if (system_poll(referee->fds, referee->nfds, &wait,
				&during_wait) < 0) {
			if (errno != EINTR)
				return -errno;
			continue;
		}
		for (unsigned i = 0; i < referee->ntables; i++)
			serve_table(referee, i);
		keeper_reap();
		tick(referee);
	}
	return 0;
}

/* Stopped: no program is asked to end, all are made to. */
static void give_up(struct table *table)
{
	if (table->state == TABLE_FREE)
		return;
	if (table->state == TABLE_PLAYING) {
		for (unsigned i = 0; i < table->nseats; i++)
			table->seats[i].has_ended = true;
		match_abandon(table->match, "stopped", clock_now_us(),
			      table->referee->out);
	}
	/* Closing its pipe makes the keeper kill all it has. */
	for (unsigned i = 0; i < table->nseats; i++)
		program_release(&table->seats[i].program);
	close_table(table);
}

int referee_run(const struct referee_hooks *hooks, unsigned parallel,
		const volatile sig_atomic_t *stop)
{
	struct referee *referee = xcalloc(1, sizeof(*referee));
	int rc;

	referee->hooks = hooks;
	referee->out = match_out_new_local();
	referee->ntables = parallel;
	referee->tables = xcalloc(parallel, sizeof(*referee->tables));
	for (unsigned i = 0; i < parallel; i++)
		referee->tables[i].referee = referee;
	rc = loop(referee, stop);
	for (unsigned i = 0; i < parallel; i++)
		give_up(&referee->tables[i]);
	keeper_wait_all(KEEPER_PATIENCE_MS);
	match_out_free(referee->out);
	free(referee->tables);
	free(referee);
	return rc;
}
