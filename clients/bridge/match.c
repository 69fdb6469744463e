/* SPDX-License-Identifier: MIT */
/* match.c - a match from its offer to its result, word by word. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clients/bridge/bridge.h"
#include "clients/program/explain.h"
#include "proto/name.h"
#include "server/base/clock.h"

enum { END_GRACE_US = 2 * 1000 * 1000 }; /* from @end to SIGKILL */

static struct played *find_played(struct slot *slot, int64_t id)
{
	for (size_t i = 0; i < BRIDGE_PENDING_MAX; i++) {
		if (slot->played[i].id == id && id != 0)
			return &slot->played[i];
	}
	return NULL;
}

/* Room for another match; the oldest whose result never came gives way. */
static struct played *new_played(struct slot *slot)
{
	struct played *oldest = NULL;

	for (size_t i = 0; i < BRIDGE_PENDING_MAX; i++) {
		struct played *played = &slot->played[i];

		if (played->id == 0)
			return played;
		if (oldest == NULL || played->id < oldest->id)
			oldest = played;
	}
	return oldest;
}

static void forget_files(struct slot *slot)
{
	/* Once the program runs, its keeper removes the folder. */
	if (slot->folder != NULL && !program_is_alive(&slot->program))
		(void)keeper_remove_folder(slot->folder);
	free(slot->folder);
	free(slot->args);
	slot->folder = NULL;
	slot->args = NULL;
	if (slot->has_block)
		block_release(&slot->block);
	slot->has_block = false;
}

/* End the program as the original did, and for sure two seconds later. */
static void end_program(struct slot *slot, const struct slice *stop,
			int64_t now_us)
{
	if (!program_is_alive(&slot->program))
		return;
	/* Nobody wants what it still says. */
	slot->is_gone_told = true;
	if (stop != NULL && slice_is(*stop, "eof"))
		program_end_input(&slot->program);
	else if (stop == NULL || !slice_is(*stop, "exit"))
		program_signal(&slot->program, KEEPER_TERM);
	slot->kill_at_us = now_us + END_GRACE_US;
}

void slot_drop_match(struct slot *slot, const char *why)
{
	for (size_t i = 0; why != NULL && i < BRIDGE_PENDING_MAX; i++) {
		const struct played *played = &slot->played[i];

		if (played->id != 0 &&
		    (played->is_over ||
		     (played == slot->current && slot->state == SLOT_PLAYING)))
			report(slot, "match %lld is lost: %s",
			       (long long)played->id, why);
	}
	program_signal(&slot->program, KEEPER_KILL);
	forget_files(slot);
	buf_clear(&slot->to_program);
	slot->current = NULL;
	memset(slot->played, 0, sizeof(slot->played));
}

static void match_is_over(struct slot *slot, enum slot_state next)
{
	slot->current = NULL;
	slot->state = next;
	forget_files(slot);
	buf_clear(&slot->to_program);
}

static void copy_key(const struct control *control, const char *name, char *to,
		     size_t size)
{
	const struct slice *value = control_key(control, name);
	struct buf clean = BUF_INIT(4 * size);

	/* It goes to a terminal; without control characters it is the same. */
	if (value != NULL)
		text_add_escaped(&clean, value->text, value->len, size - 1);
	if (value == NULL || clean.len >= size)
		to[0] = '\0';
	else
		memcpy(to, buf_text(&clean), clean.len + 1);
	buf_release(&clean);
}

static int64_t key_or(const struct control *control, const char *name,
		      int64_t otherwise)
{
	int64_t value;

	if (control_key_i64(control, name, 0, INT32_MAX, &value) < 0)
		return otherwise;
	return value;
}

void slot_say_ready(struct slot *slot)
{
	control_add_word(&slot->out, WORD_READY);
	control_add_arg_i64(&slot->out, slot->current->id);
	control_add_end(&slot->out);
	slot->state = SLOT_READY;
}

/*
 * CONTROL, an @match, as a part of a set: which one of it, and how many follow;
 * 1 and 0 where it is none.
 */
static void read_set(const struct control *control, unsigned *ret_number,
		     unsigned *ret_left)
{
	const struct slice *value = control_key(control, "set");
	const char *slash =
		value != NULL ? memchr(value->text, '/', value->len) : NULL;
	struct slice parts[2];
	int64_t number, count;

	*ret_number = 1;
	*ret_left = 0;
	if (slash == NULL)
		return;
	parts[0] = (struct slice){ value->text, (size_t)(slash - value->text) };
	parts[1] = (struct slice){ slash + 1, value->len - parts[0].len - 1 };
	if (slice_i64(parts[0], 1, SET_MATCHES_MOST, &number) < 0 ||
	    slice_i64(parts[1], number, SET_MATCHES_MOST, &count) < 0)
		return;
	*ret_number = (unsigned)number;
	*ret_left = (unsigned)(count - number);
}

/* SLOT plays a match of ROUND, after which LEFT others follow. */
static void enter_set(struct slot *slot, int64_t round, unsigned left)
{
	for (unsigned i = 0; i < slot->bridge->nslots; i++) {
		struct slot *other = &slot->bridge->slots[i];

		/* It goes on here. */
		if (other->set_round == round)
			other->set_left = 0;
	}
	slot->set_round = round;
	slot->set_left = left;
	slot->set_by_us = INT64_MAX;
}

static void take_match(struct slot *slot, const struct control *control)
{
	struct played *played;
	unsigned number, left;
	int64_t id, round;

	if (control_arg_i64(control, 0, 1, INT64_MAX, &id) < 0)
		return;
	if (control_key_i64(control, "round", 1, INT64_MAX, &round) < 0)
		round = 0;
	read_set(control, &number, &left);
	if (number == 1 && !bridge_may_take_more(slot->bridge)) {
		/* It crossed our @leave: whoever waits with us stays queued. */
		report(slot, "declining match %lld: enough played",
		       (long long)id);
		if (!slot_has_match(slot)) {
			slot_finish(slot);
			return;
		}
		/* Results are still to come here. */
		control_add_word(&slot->out, WORD_RESIGN);
		control_add_arg_i64(&slot->out, id);
		control_add_end(&slot->out);
		return;
	}
	played = new_played(slot);
	memset(played, 0, sizeof(*played));
	played->id = id;
	played->round = round;
	copy_key(control, "ladder", played->ladder, sizeof(played->ladder));
	if (!name_is_ladder(played->ladder, strlen(played->ladder)))
		(void)snprintf(played->ladder, sizeof(played->ladder),
			       "ladder");
	played->seat = (unsigned)key_or(control, "seat", 1);
	played->seats = (unsigned)key_or(control, "seats", 1);
	switch (key_or(control, "rated", -1)) {
	case 0:
		played->rated = "unrated";
		break;
	case 1:
		played->rated = "rated";
		break;
	default:
		break;
	}
	slot->line_max =
		(size_t)key_or(control, "line-max", LIMIT_GAME_LINE_BYTES);
	slot->grace_ms = key_or(control, "grace-ms", -1);
	slot->current = played;
	slot->is_whole_input = key_or(control, "whole-input", 0) == 1;
	slot->is_reply_sent = false;
	slot->is_gone_told = false;
	slot->asked_us = 0;
	slot->reply_us = 0;
	slot->state = SLOT_OFFERED;
	enter_set(slot, round, left);
	bridge_settle_queues(slot->bridge);
}

static void take_cancel(struct slot *slot, const struct control *control)
{
	int64_t id;
	struct played *played;
	char what[64];
	char reason[32];

	if (control_arg_i64(control, 0, 1, INT64_MAX, &id) < 0)
		return;
	played = find_played(slot, id);
	if (played == NULL)
		return;
	if (played == slot->current) {
		end_program(slot, NULL, clock_now_us());
		match_is_over(slot, program_is_alive(&slot->program)
					    ? SLOT_ENDING
					    : SLOT_WAITING);
	}
	if (played->round == slot->set_round)
		slot->set_left = 0; /* no more of it either */
	if (key_or(control, "queued", 1) == 0)
		slot->has_left = true; /* so that it is said anew */
	(void)snprintf(what, sizeof(what), "match %lld does not count",
		       (long long)id);
	copy_key(control, "reason", reason, sizeof(reason));
	if (strcmp(reason, "abandoned") == 0) {
		slot->is_server_ending = true;
		report(slot, "match %lld is lost: the server is going down",
		       (long long)id);
	} else {
		report_words(slot, what, &control->rest);
	}
	played->id = 0;
	bridge_settle_queues(slot->bridge);
}

static bool make_folder(struct slot *slot)
{
	const char *base = getenv("TMPDIR");
	struct buf path = BUF_INIT(4096);

	if (slot->folder != NULL)
		return true;
	buf_add_format(&path, "%s/hill-bridge-XXXXXX",
		       base != NULL && base[0] == '/' ? base : "/tmp");
	slot->folder = buf_detach(&path);
	if (mkdtemp(slot->folder) == NULL) {
		report(slot, "cannot make %s: %s", slot->folder,
		       strerror(errno));
		free(slot->folder);
		slot->folder = NULL;
		return false;
	}
	return true;
}

static bool write_file(struct slot *slot, const struct block *block)
{
	struct buf path = BUF_INIT(8192);
	bool is_written = false;
	size_t done = 0;
	int fd;

	if (!make_folder(slot))
		return false;
	buf_add_format(&path, "%s/%s", slot->folder, block->name);
	fd = open(buf_text(&path),
		  O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	while (fd >= 0 && done < block->data.len) {
		ssize_t count = write(fd, block->data.data + done,
				      block->data.len - done);

		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0)
			break;
		done += (size_t)count;
	}
	is_written = fd >= 0 && done == block->data.len;
	if (!is_written)
		report(slot, "cannot write %s: %s", buf_text(&path),
		       strerror(errno));
	if (fd >= 0)
		(void)close(fd);
	buf_release(&path);
	return is_written;
}

/* A block has come whole. */
static void take_block(struct slot *slot)
{
	struct block block = slot->block;
	int rc = block_end(&block);

	slot->has_block = false;
	if (rc < 0)
		slot_lose_link(slot, "a file came damaged", clock_now_us());
	else if (block.name[0] != '\0') {
		if (!write_file(slot, &block)) {
			/* The program would play on half a map, and so on. */
			slot->bridge->exit_status = EXIT_REFUSED;
			bridge_finish(slot->bridge);
			slot_lose_link(slot, "a file cannot be kept",
				       clock_now_us());
		}
	} else {
		program_write(&slot->program, block.data.data, block.data.len);
		program_end_input(&slot->program);
		slot->asked_us = clock_now_us();
	}
	block_release(&block);
}

void slot_skip_block(struct slot *slot, const struct control *control)
{
	slot->raw_left = block_head_lines(control);
	slot->is_skipping = slot->raw_left > 0;
	if (slot->is_skipping)
		framer_expect_raw(&slot->framer, slot->raw_left,
				  LIMIT_MAP_BYTES);
}

static void begin_block(struct slot *slot, const struct control *control)
{
	int rc = slot->has_block
			 ? -EBUSY
			 : block_begin(&slot->block, control, LIMIT_MAP_BYTES);

	if (rc < 0 || slot->current == NULL) {
		if (rc == 0)
			block_release(&slot->block);
		else
			report_words(slot, "refused a file", &control->rest);
		slot_skip_block(slot, control);
		return;
	}
	slot->has_block = true;
	if (slot->block.lines_left == 0) {
		take_block(slot);
		return;
	}
	framer_expect_raw(&slot->framer, slot->block.lines_left,
			  slot->block.line_limit);
}

void slot_take_raw(struct slot *slot, const struct frame *frame)
{
	if (slot->is_skipping) {
		slot->is_skipping = --slot->raw_left > 0;
		return;
	}
	if (slot->has_block &&
	    block_line(&slot->block, frame->text, frame->len))
		take_block(slot);
}

/* Whether WORD is the name of a file that came. */
static bool is_file(const struct slot *slot, const char *word)
{
	struct buf path = BUF_INIT(8192);
	bool is_there;

	if (slot->folder == NULL || !name_is_file(word, strlen(word)))
		return false;
	buf_add_format(&path, "%s/%s", slot->folder, word);
	is_there = access(buf_text(&path), F_OK) == 0;
	buf_release(&path);
	return is_there;
}

/* The program's words and then the original's; a file's name as its path. */
static char **make_argv(const struct slot *slot)
{
	const struct bridge *bridge = slot->bridge;
	char **argv =
		xcalloc(bridge->nprogram + BRIDGE_ARGS_MAX + 1, sizeof(*argv));
	size_t count = 0;
	char *word = slot->args;
	char *next;

	for (size_t i = 0; i < bridge->nprogram; i++)
		argv[count++] = xstrdup(bridge->program[i]);
	while (word != NULL && count < bridge->nprogram + BRIDGE_ARGS_MAX) {
		struct buf path = BUF_INIT(8192);

		next = strchr(word, ' ');
		if (next != NULL)
			*next++ = '\0';
		if (is_file(slot, word))
			buf_add_format(&path, "%s/", slot->folder);
		buf_add_text(&path, word);
		argv[count++] = buf_detach(&path);
		word = next;
	}
	return argv;
}

void slot_tell_gone(struct slot *slot, const char *key, const char *value)
{
	control_add_word(&slot->out, WORD_GONE);
	control_add_arg_i64(&slot->out, slot->current->id);
	control_add_key(&slot->out, key, value);
	control_add_end(&slot->out);
	slot->is_gone_told = true;
}

static void start_program(struct slot *slot)
{
	char **argv = make_argv(slot);
	struct program_plan plan = {
		.argv = argv,
		.is_chdir = slot->bridge->is_chdir,
		.line_max = slot->line_max,
		.is_whole = slot->is_whole_input,
		.on_line = slot_take_output,
		.context = slot,
	};
	int rc = 0;

	slot->started_us = clock_now_us();
	report_log_path(slot->bridge, slot->current);
	if (slot->current->log_path[0] != '\0')
		plan.log_path = slot->current->log_path;
	/* Without files of its own it has a folder all the same. */
	if (slot->bridge->is_chdir && !make_folder(slot))
		rc = -EIO;
	plan.folder = slot->folder;
	if (rc == 0)
		rc = program_start(&slot->program, &plan);
	if (rc < 0) {
		report(slot, "cannot start a process: %s", strerror(-rc));
		slot_tell_gone(slot, "exit", "127");
	}
	for (size_t i = 0; argv[i] != NULL; i++)
		free(argv[i]);
	free(argv);
}

static void take_start(struct slot *slot)
{
	if (slot->state != SLOT_READY)
		return;
	slot->state = SLOT_PLAYING;
	start_program(slot);
}

/* Time is up: SIGINT, and what has not ended by itself in its grace is killed. */
static void take_interrupt(struct slot *slot, const struct control *control,
			   int64_t now_us)
{
	int64_t id;

	if (slot->state != SLOT_PLAYING ||
	    control_arg_i64(control, 0, 1, INT64_MAX, &id) < 0 ||
	    slot->current->id != id)
		return;
	program_signal(&slot->program, KEEPER_INTERRUPT);
	if (slot->grace_ms >= 0)
		slot->kill_at_us = now_us + slot->grace_ms * 1000;
}

static void take_end(struct slot *slot, const struct control *control,
		     int64_t now_us)
{
	int64_t id;

	if (control_arg_i64(control, 0, 1, INT64_MAX, &id) < 0 ||
	    slot->current == NULL || slot->current->id != id)
		return;
	/* The last game lines first: `exit` is one of them. */
	if (slot->to_program.len > 0) {
		program_write(&slot->program, slot->to_program.data,
			      slot->to_program.len);
		buf_clear(&slot->to_program);
	}
	copy_key(control, "reason", slot->current->reason,
		 sizeof(slot->current->reason));
	slot->current->is_over = true;
	slot->current->is_early =
		slot->current->seats > 1 &&
		strcmp(slot->current->reason, "finished") != 0;
	slot->current->ended_us = now_us;
	if (slot->set_left > 0)
		slot->set_by_us = now_us + SET_NEXT_US;
	/* It lived until its game was over. */
	if (!slot->is_gone_told)
		slot->bridge->deaths = 0;
	end_program(slot, control_key(control, "stop"), now_us);
	match_is_over(slot, program_is_alive(&slot->program) ? SLOT_ENDING
							     : SLOT_WAITING);
}

static enum fault_kind kind_of(const struct control *control)
{
	static const char *const names[FAULT_NKINDS] = {
		[FAULT_LATE] = "late",
		[FAULT_INVALID] = "invalid",
		[FAULT_LONG] = "long",
		[FAULT_FULL] = "full",
	};

	for (unsigned i = 0; control->nargs > 0 && i < FAULT_OTHER; i++) {
		if (slice_is(control->args[0], names[i]))
			return (enum fault_kind)i;
	}
	return FAULT_OTHER;
}

/* What the bridge itself knows of a late reply. */
static void add_own_view(const struct slot *slot, int64_t now_us,
			 struct buf *line)
{
	struct buf hint = BUF_INIT(256);

	if (slot->asked_us > 0)
		buf_add_format(line, "; no answer after %.1f ms here",
			       (double)(now_us - slot->asked_us) / 1000.0);
	else
		buf_add_format(line, "; the answer took %.1f ms here",
			       (double)slot->reply_us / 1000.0);
	if (program_is_alive(&slot->program))
		explain_silence(&slot->program, &hint);
	if (hint.len > 0)
		buf_add_format(line, "; %s", buf_text(&hint));
	buf_release(&hint);
}

static void take_fault(struct slot *slot, const struct control *control,
		       int64_t now_us)
{
	struct buf line = BUF_INIT(2048);
	struct played *played = slot->current;
	enum fault_kind kind = kind_of(control);
	unsigned *told;

	if (played == NULL)
		return;
	/* A flood of others must not hide that and why a reply was late. */
	told = &played->told[kind != FAULT_LATE];
	played->faults[kind]++;
	if (slot->bridge->is_quiet || *told > BRIDGE_FAULTS_TOLD)
		return;
	if ((*told)++ == BRIDGE_FAULTS_TOLD) {
		report(slot, "match %lld: more such faults are not told",
		       (long long)played->id);
		return;
	}
	buf_add_format(&line, "match %lld: ", (long long)played->id);
	text_add_escaped(&line, control->rest.text, control->rest.len, 400);
	if (kind == FAULT_LATE)
		add_own_view(slot, now_us, &line);
	report(slot, "%s", buf_text(&line));
	buf_release(&line);
}

static void take_place(struct slot *slot, const struct control *control)
{
	int64_t id;
	struct played *played;
	char bot[65];
	char score[32];
	size_t len;

	if (control_arg_i64(control, 0, 1, INT64_MAX, &id) < 0)
		return;
	played = find_played(slot, id);
	if (played == NULL)
		return;
	copy_key(control, "score", score, sizeof(score));
	if (key_or(control, "seat", 0) == played->seat) {
		played->rank = (unsigned)key_or(control, "rank", 0);
		(void)snprintf(played->score, sizeof(played->score), "%s",
			       score);
		return;
	}
	copy_key(control, "bot", bot, sizeof(bot));
	len = strlen(played->others);
	(void)snprintf(played->others + len, sizeof(played->others) - len,
		       "%s%s (%s)", len > 0 ? ", " : "", bot, score);
}

static void take_result(struct slot *slot, const struct control *control)
{
	int64_t id;
	struct played *played;

	if (control_arg_i64(control, 0, 1, INT64_MAX, &id) < 0)
		return;
	played = find_played(slot, id);
	if (played == NULL)
		return;
	played->is_embargo = key_or(control, "embargo", 0) == 1;
	if (played->score[0] == '\0')
		copy_key(control, "score", played->score,
			 sizeof(played->score));
	played->early = key_or(control, "early", 0);
	report_match(slot, played);
	report_forget_logs(slot->bridge, played);
	played->id = 0;
	slot->bridge->matches_done++;
	bridge_settle_queues(slot->bridge);
}

void slot_take_match_word(struct slot *slot, const struct control *control,
			  int64_t now_us)
{
	switch (word_id(control->word)) {
	case WORD_MATCH:
		take_match(slot, control);
		break;
	case WORD_CANCEL:
	case WORD_VOID:
		take_cancel(slot, control);
		break;
	case WORD_FILE:
	case WORD_INPUT:
		begin_block(slot, control);
		break;
	case WORD_ARGS:
		free(slot->args);
		slot->args = strndup(control->rest.text, control->rest.len);
		break;
	case WORD_START:
		take_start(slot);
		break;
	case WORD_FAULT:
		take_fault(slot, control, now_us);
		break;
	case WORD_INTERRUPT:
		take_interrupt(slot, control, now_us);
		break;
	case WORD_END:
		take_end(slot, control, now_us);
		break;
	case WORD_PLACE:
		take_place(slot, control);
		break;
	case WORD_RESULT:
		take_result(slot, control);
		break;
	default:
		/* @banked and such: nothing to do. */
		break;
	}
}
