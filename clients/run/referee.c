/* SPDX-License-Identifier: MIT */
/* referee.c - matches between local programs in one poll() loop. */
#include "clients/run/referee.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "server/base/clock.h"

enum {
	END_GRACE_US = 2 * 1000 * 1000, /* from a seat's end to SIGKILL */
	/* A program that closes its output usually ends at once: its exit
	 * status says more than that the output closed. */
	CLOSED_GRACE_US = 100 * 1000,
	IDLE_US = 200 * 1000,
	KEEPER_WAIT_MS = 3000,
	KEEPER_STEP_MS = 5,
	US_PER_SECOND = 1000 * 1000,
};

struct table;

struct seat {
	struct table *table;
	struct program program;
	struct buf backlog;   /* lines ahead: size_t length, bytes; each */
	int64_t kill_at_us;   /* INT64_MAX: not */
	int64_t closed_at_us; /* its output came to an end; 0: not */
	bool has_ended;       /* the match wants nothing more of it */
	bool is_gone_told;
	bool is_end_told; /* hooks->ended */
	bool has_status;
	struct keeper_status status;
};

enum table_state { TABLE_FREE, TABLE_PLAYING, TABLE_ENDING };

struct table {
	struct referee *referee;
	enum table_state state;
	struct referee_job job;
	struct match *match;         /* owned */
	struct match_record *record; /* owned; NULL before the end */
	unsigned nseats;
	struct seat seats[GAME_SEATS_MAX];
};

struct referee {
	const struct referee_hooks *hooks;
	struct match_out *out;
	struct table *tables; /* owned */
	unsigned ntables;
	bool is_empty; /* there is no next match */
	int64_t last_id;
	int64_t idle_at_us;
	struct pollfd fds[REFEREE_PARALLEL_MAX * GAME_SEATS_MAX * PROGRAM_FDS];
	size_t first[REFEREE_PARALLEL_MAX][GAME_SEATS_MAX];
	size_t count[REFEREE_PARALLEL_MAX][GAME_SEATS_MAX];
	size_t nfds;
};

/* ---- what the match says ---- */

/* "2: @fault late ...": the word for people, the interrupt for the program. */
static void heed_told_line(struct table *table, char *line)
{
	const struct referee_hooks *hooks = table->referee->hooks;
	char *text;
	unsigned long number = strtoul(line, &text, 10);

	if (number < 1 || number > table->nseats || strncmp(text, ": ", 2) != 0)
		return;
	text += 2;
	if (strncmp(text, "@interrupt ", 11) == 0)
		program_signal(&table->seats[number - 1].program,
			       KEEPER_INTERRUPT);
	hooks->told(hooks->context, &table->job, (unsigned)number - 1, text);
}

static void heed_told(struct table *table)
{
	char *text = table->referee->out->told.data;
	char *end;

	if (table->referee->out->told.len == 0)
		return;
	while ((end = strchr(text, '\n')) != NULL) {
		*end = '\0';
		heed_told_line(table, text);
		text = end + 1;
	}
}

/* The seat's game is over: end its program as the original did. */
static void end_seat(struct table *table, unsigned number)
{
	struct seat *seat = &table->seats[number];

	seat->has_ended = true;
	seat->program.is_paused = false;
	buf_clear(&seat->backlog);
	if (table->match == NULL || !program_is_alive(&seat->program))
		return;
	switch (table->job.game->stop) {
	case GAME_STOP_TERM:
		program_signal(&seat->program, KEEPER_TERM);
		break;
	case GAME_STOP_EOF:
		program_end_input(&seat->program);
		break;
	case GAME_STOP_EXIT:
	case GAME_NSTOPS:
		break;
	}
	seat->kill_at_us = clock_now_us() + END_GRACE_US;
}

static void deliver_lines(struct table *table)
{
	struct match_out *out = table->referee->out;

	for (uint32_t left = out->touched | out->clock; left != 0;
	     left &= left - 1) {
		unsigned number = (unsigned)__builtin_ctz(left);
		struct seat *seat = &table->seats[number];

		if (out->clock & 1u << number)
			match_clock_started(table->match, number,
					    clock_now_us());
		if (out->lines[number].len > 0)
			program_write(&seat->program, out->lines[number].data,
				      out->lines[number].len);
	}
}

static void close_match(struct table *table)
{
	struct match_out *out = table->referee->out;

	if (out->is_over)
		table->record = match_take_record(table->match, out);
	for (unsigned i = 0; i < table->nseats; i++) {
		if (!table->seats[i].has_ended)
			end_seat(table, i);
	}
	table->state = TABLE_ENDING;
}

/* Computing that held up the loop: no program pays for it. */
static void compute(struct table *table)
{
	struct referee *referee = table->referee;
	int64_t begun_us = clock_now_us();
	int64_t now_us;

	match_work(table->match);
	now_us = clock_now_us();
	for (unsigned i = 0; i < referee->ntables; i++) {
		struct table *other = &referee->tables[i];

		if (other != table && other->state == TABLE_PLAYING)
			match_credit_stall(other->match, now_us - begun_us,
					   now_us, referee->out);
	}
	match_resume(table->match, now_us, referee->out);
}

/* Do what OUT says. */
static void apply(struct table *table)
{
	const struct referee_hooks *hooks = table->referee->hooks;
	struct match_out *out = table->referee->out;
	const struct game_state *state;

	for (;;) {
		heed_told(table);
		deliver_lines(table);
		for (uint32_t left = out->ended; left != 0; left &= left - 1)
			end_seat(table, (unsigned)__builtin_ctz(left));
		if (!out->is_busy)
			break;
		compute(table);
	}
	state = match_game_state(table->match);
	if (state != NULL && out->clock != 0 && !out->is_over)
		hooks->moved(hooks->context, &table->job, state);
	if (out->is_over || out->is_cancelled || out->is_abandoned)
		close_match(table);
}

/* ---- what the programs say ---- */

static void hand_in(struct seat *seat, const char *line, size_t len)
{
	struct table *table = seat->table;
	unsigned number = (unsigned)(seat - table->seats);
	struct match_out *out = table->referee->out;
	int64_t now_us = clock_now_us();

	if (len > match_line_max(table->match))
		match_line_long(table->match, number, now_us, out);
	else
		match_line(table->match, number, line, len, now_us, out);
	apply(table);
}

static void take_whole(struct seat *seat, const char *text, size_t len)
{
	struct buf reply = BUF_INIT(len + 1);

	if (len > match_line_max(seat->table->match))
		hand_in(seat, text, len);
	else if (program_whole_reply(&seat->program, text, len, &reply))
		hand_in(seat, buf_text(&reply), reply.len);
	buf_release(&reply);
}

static void take_line(void *context, const char *line, size_t len)
{
	struct seat *seat = context;
	struct table *table = seat->table;

	if (table->state != TABLE_PLAYING || seat->has_ended)
		return;
	if (table->job.game->is_whole_input) {
		/* What it says of its end decides what the output is worth. */
		seat->has_status = seat->program.has_status;
		seat->status = seat->program.status;
		take_whole(seat, line, len);
		return;
	}
	if (len > 0 && line[len - 1] == '\r')
		len--;
	if (seat->backlog.len == 0 &&
	    match_wants(table->match, (unsigned)(seat - table->seats))) {
		hand_in(seat, line, len);
		return;
	}
	buf_add(&seat->backlog, &len, sizeof(len));
	buf_add(&seat->backlog, line, len);
	seat->program.is_paused = true;
}

/* Hand in what was ahead too far, as far as the match takes it now. */
static void take_backlog(struct seat *seat)
{
	struct table *table = seat->table;
	unsigned number = (unsigned)(seat - table->seats);
	size_t done = 0;
	size_t len;

	while (done < seat->backlog.len && match_wants(table->match, number)) {
		memcpy(&len, seat->backlog.data + done, sizeof(len));
		done += sizeof(len) + len;
		hand_in(seat, seat->backlog.data + done - len, len);
		/* Its end has thrown the rest away. */
		if (seat->has_ended)
			return;
	}
	buf_drop_front(&seat->backlog, done);
	seat->program.is_paused = seat->backlog.len > 0;
}

/* ---- how programs end ---- */

static void tell_end(struct seat *seat, bool is_early)
{
	struct table *table = seat->table;
	const struct referee_hooks *hooks = table->referee->hooks;

	if (seat->is_end_told)
		return;
	seat->is_end_told = true;
	hooks->ended(hooks->context, &table->job,
		     (unsigned)(seat - table->seats),
		     seat->has_status ? &seat->status : NULL, is_early);
}

/* The program plays no more, and the match did not end it. */
static void tell_gone(struct seat *seat)
{
	struct table *table = seat->table;
	char how[MATCH_HOW_BYTES];

	seat->is_gone_told = true;
	tell_end(seat, true);
	if (!seat->has_status)
		(void)snprintf(how, sizeof(how), "stdout=closed");
	else if (seat->status.end == KEEPER_SIGNALLED)
		(void)snprintf(how, sizeof(how), "signal=%d",
			       seat->status.value);
	else
		(void)snprintf(how, sizeof(how), "exit=%d",
			       seat->status.end == KEEPER_NOT_STARTED
				       ? 127
				       : seat->status.value);
	match_gone(table->match, (unsigned)(seat - table->seats), how,
		   clock_now_us(), table->referee->out);
	apply(table);
}

/* Read what it left on its standard error before it is looked at. */
static void drain_errors(struct seat *seat)
{
	struct pollfd fds[PROGRAM_FDS];
	size_t count = program_poll(&seat->program, fds);

	if (poll(fds, count, 0) > 0)
		program_handle(&seat->program, fds, count);
}

static void watch_player(struct seat *seat, int64_t now_us)
{
	struct program *program = &seat->program;

	if (seat->is_gone_told)
		return;
	if (program->phase == PROGRAM_DRAINED ||
	    program->phase == PROGRAM_NONE) {
		if (program->phase == PROGRAM_DRAINED)
			drain_errors(seat);
		if (seat->table->state == TABLE_PLAYING && !seat->has_ended)
			tell_gone(seat);
		return;
	}
	if (!program_has_closed_output(program))
		return;
	/* An empty whole reply is worth something only with exit status 0. */
	if (seat->table->job.game->is_whole_input && program->line.len == 0)
		return;
	if (seat->closed_at_us == 0) {
		seat->closed_at_us = now_us;
	} else if (now_us - seat->closed_at_us >= CLOSED_GRACE_US) {
		program_end_output(program);
		if (seat->table->state == TABLE_PLAYING && !seat->has_ended)
			tell_gone(seat);
	}
}

static void serve_seat(struct seat *seat, const struct pollfd *fds,
		       size_t count)
{
	struct program *program = &seat->program;
	int64_t now_us;

	program_handle(program, fds, count);
	if (seat->table->state == TABLE_PLAYING && !seat->has_ended)
		take_backlog(seat);
	if (program->has_status && !seat->has_status) {
		seat->has_status = true;
		seat->status = program->status;
	}
	now_us = clock_now_us();
	if (!seat->has_ended)
		watch_player(seat, now_us);
	else if (seat->has_status || !program_is_alive(program))
		tell_end(seat, false);
	/* What the program left behind goes with it. */
	if (program->phase == PROGRAM_DRAINED &&
	    (seat->has_ended || seat->is_gone_told))
		program_signal(program, KEEPER_KILL);
	if (now_us >= seat->kill_at_us) {
		program_signal(program, KEEPER_KILL);
		seat->kill_at_us = now_us + END_GRACE_US;
	}
}

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
		.on_line = take_line,
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
		apply(table);
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

	for (unsigned i = 0; i < table->nseats; i++)
		tell_end(&table->seats[i], false);
	hooks->over(hooks->context, &table->job, table->record,
		    match_game_state(table->match));
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
			serve_seat(seat, fds, count);
		if (table->state != TABLE_PLAYING)
			return;
	}
	match_expire(table->match, now_us, table->referee->out);
	apply(table);
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

	if (seat->closed_at_us > 0 && !seat->is_gone_told && !seat->has_ended &&
	    seat->closed_at_us + CLOSED_GRACE_US < deadline)
		deadline = seat->closed_at_us + CLOSED_GRACE_US;
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
		serve_seat(&table->seats[k],
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
		if (ppoll(referee->fds, referee->nfds, &wait, &during_wait) <
		    0) {
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

static void wait_for_keepers(void)
{
	for (int waited = 0; waited < KEEPER_WAIT_MS;
	     waited += KEEPER_STEP_MS) {
		pid_t pid;

		while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
			;
		if (pid < 0)
			return;
		(void)poll(NULL, 0, KEEPER_STEP_MS);
	}
}

int referee_run(const struct referee_hooks *hooks, unsigned parallel,
		const volatile sig_atomic_t *stop)
{
	struct referee *referee = xcalloc(1, sizeof(*referee));
	int rc;

	referee->hooks = hooks;
	referee->out = match_out_new();
	referee->ntables = parallel;
	referee->tables = xcalloc(parallel, sizeof(*referee->tables));
	for (unsigned i = 0; i < parallel; i++)
		referee->tables[i].referee = referee;
	rc = loop(referee, stop);
	for (unsigned i = 0; i < parallel; i++)
		give_up(&referee->tables[i]);
	wait_for_keepers();
	match_out_free(referee->out);
	free(referee->tables);
	free(referee);
	return rc;
}
