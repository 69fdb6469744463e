/* SPDX-License-Identifier: MIT */
/* referee_seat.c - between a match and its programs, both ways. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clients/program/explain.h"
#include "clients/run/referee_internal.h"
#include "server/base/clock.h"

/* ---- what the match says ---- */

static void notice(struct seat *seat, const struct buf *text)
{
	struct table *table = seat->table;
	const struct referee_hooks *hooks = table->referee->hooks;

	if (text->len > 0)
		hooks->noticed(hooks->context, &table->job,
			       (unsigned)(seat - table->seats), text->data);
}

/* Its reply is late: what the pipe shows of the reason, once a match. */
static void notice_silence(struct seat *seat)
{
	struct buf hint = BUF_INIT(256);

	if (seat->is_silence_told || !program_is_alive(&seat->program))
		return;
	explain_silence(&seat->program, &hint);
	seat->is_silence_told = hint.len > 0;
	notice(seat, &hint);
	buf_release(&hint);
}

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
	if (strncmp(text, "@fault late ", 12) == 0)
		notice_silence(&table->seats[number - 1]);
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

		if (out->clock & 1u << number) {
			seat->asked_us = clock_now_us();
			match_clock_started(table->match, number,
					    seat->asked_us);
		}
		if (out->lines[number].len > 0)
			program_write(&seat->program, out->lines[number].data,
				      out->lines[number].len);
	}
}

static void take_record(struct table *table)
{
	struct match_record *record =
		match_take_record(table->match, table->referee->out);

	for (unsigned i = 0; record != NULL && i < table->nseats; i++) {
		struct match_record_seat *of = &record->seats[i];

		of->early += table->seats[i].early;
		if (of->early > of->requests)
			of->early = of->requests;
	}
	table->record = record;
}

static void close_match(struct table *table)
{
	struct match_out *out = table->referee->out;

	if (out->is_over)
		take_record(table);
	for (unsigned i = 0; i < table->nseats; i++) {
		if (!table->seats[i].has_ended)
			end_seat(table, i);
	}
	table->state = TABLE_ENDING;
}

void referee_credit(const struct table *own, int64_t begun_us)
{
	struct referee *referee = own->referee;
	int64_t now_us = clock_now_us();

	for (unsigned i = 0; i < referee->ntables; i++) {
		struct table *other = &referee->tables[i];

		if (other != own && other->state == TABLE_PLAYING)
			match_credit_stall(other->match, now_us - begun_us,
					   now_us, referee->out);
	}
}

static void compute(struct table *table)
{
	int64_t begun_us = clock_now_us();

	match_work(table->match);
	referee_credit(table, begun_us);
	match_resume(table->match, clock_now_us(), table->referee->out);
}

/* Do what OUT says. */
void referee_apply(struct table *table)
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

	/* Of several lines of one read the second was there unasked. */
	if (seat->program.read_us <= seat->asked_us)
		seat->early++;
	if (len > match_line_max(table->match))
		match_line_long(table->match, number, now_us, out);
	else
		match_line(table->match, number, line, len, now_us, out);
	referee_apply(table);
}

static void take_whole(struct seat *seat, const char *text, size_t len)
{
	struct buf hint = BUF_INIT(1024);

	explain_dropped(&seat->program.whole, &hint);
	notice(seat, &hint);
	buf_release(&hint);
	if (program_has_whole_reply(&seat->program, len))
		hand_in(seat, text, len);
}

void referee_take_line(void *context, const char *line, size_t len)
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

void referee_tell_end(struct seat *seat, bool is_early)
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
	referee_tell_end(seat, true);
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
	referee_apply(table);
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
	if (program_has_given_up(program, now_us) &&
	    seat->table->state == TABLE_PLAYING && !seat->has_ended)
		tell_gone(seat);
}

void referee_serve_seat(struct seat *seat, const struct pollfd *fds,
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
		referee_tell_end(seat, false);
	/* What the program left behind goes with it. */
	if (program->phase == PROGRAM_DRAINED &&
	    (seat->has_ended || seat->is_gone_told))
		program_signal(program, KEEPER_KILL);
	if (now_us >= seat->kill_at_us) {
		program_signal(program, KEEPER_KILL);
		seat->kill_at_us = now_us + END_GRACE_US;
	}
}
