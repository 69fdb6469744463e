/* SPDX-License-Identifier: MIT */
/* words.c - the server's words about the connection, and the queues. */
#include <stdio.h>
#include <string.h>

#include "clients/bridge/bridge.h"

/*
 * Matches under way, waiting for their result, or to follow in a set, in all
 * slots.
 */
static unsigned long matches_open(const struct bridge *bridge)
{
	unsigned long count = 0;

	for (unsigned i = 0; i < bridge->nslots; i++) {
		count += bridge->slots[i].set_left;
		for (size_t j = 0; j < BRIDGE_PENDING_MAX; j++)
			count += bridge->slots[i].played[j].id != 0;
	}
	return count;
}

bool bridge_may_take_more(const struct bridge *bridge)
{
	if (bridge->is_finishing || bridge->is_stopping)
		return false;
	return bridge->matches_wanted == 0 ||
	       bridge->matches_done + matches_open(bridge) <
		       bridge->matches_wanted;
}

void slot_play_again(struct slot *slot)
{
	slot->play_again_us = INT64_MAX;
	if (slot->has_left || slot->state < SLOT_WAITING ||
	    slot->state == SLOT_FINISHED)
		return;
	for (size_t i = 0; i < slot->bridge->nladders; i++) {
		if ((slot->queued & 1u << i) != 0)
			continue;
		control_add_word(&slot->out, WORD_PLAY);
		buf_add_char(&slot->out, ' ');
		buf_add_text(&slot->out, slot->bridge->ladders[i]);
		control_add_end(&slot->out);
	}
}

static void say_play(struct slot *slot)
{
	slot->has_left = false;
	slot->nended = 0;
	slot->queued = 0;
	slot_play_again(slot);
}

/* It waits on ladder I. WHY its matches do not count there is told once. */
static void take_place(struct slot *slot, size_t i, const struct slice *why)
{
	struct bridge *bridge = slot->bridge;
	char what[128];

	slot->queued |= 1u << i;
	if (why == NULL || slice_is(*why, "asked") ||
	    (bridge->unrated & 1u << i) != 0)
		return;
	bridge->unrated |= 1u << i;
	(void)snprintf(what, sizeof(what), "not rated on %.64s",
		       bridge->ladders[i]);
	report_words(slot, what, why);
}

/*
 * So that who waits alone sees that he is there: once for each ladder, and again
 * after a link was lost. OTHERS wait there as well; negative: nobody knows.
 */
static void tell_waiting(struct bridge *bridge, size_t i, int64_t others)
{
	char also[64] = "";

	if (bridge->is_quiet || (bridge->told_waiting & 1u << i) != 0)
		return;
	bridge->told_waiting |= 1u << i;
	if (others == 0)
		(void)snprintf(also, sizeof(also), "; nobody else waits there");
	else if (others > 0)
		(void)snprintf(also, sizeof(also), "; %lld other%s there",
			       (long long)others,
			       others == 1 ? " waits" : "s wait");
	report(NULL, "%s%s%s is logged in to %s:%s and waits on %s%s",
	       bridge->bot, bridge->version != NULL ? " " : "",
	       bridge->version != NULL ? bridge->version : "", bridge->host,
	       bridge->port, bridge->ladders[i], also);
}

static void take_queued(struct slot *slot, const struct control *control)
{
	int64_t waiting;
	bool is_first = true;

	if (control_key_i64(control, "waiting", 1, INT32_MAX, &waiting) < 0)
		waiting = 0;
	for (size_t i = 0; i < slot->bridge->nladders; i++) {
		const char *ladder = slot->bridge->ladders[i];
		struct slice name = { ladder, strcspn(ladder, " ") };

		if (control->nargs == 0 || name.len != control->args[0].len ||
		    memcmp(name.text, control->args[0].text, name.len) != 0)
			continue;
		if (is_first)
			tell_waiting(slot->bridge, i, waiting - 1);
		is_first = false;
		take_place(slot, i, control_key(control, "unrated"));
	}
}

void slot_leave(struct slot *slot)
{
	if (slot->has_left || slot->set_left > 0 ||
	    slot->state < SLOT_WAITING || slot->state == SLOT_FINISHED)
		return;
	control_add_word(&slot->out, WORD_LEAVE);
	control_add_end(&slot->out);
	slot->has_left = true;
}

void bridge_settle_queues(struct bridge *bridge)
{
	bool may = bridge_may_take_more(bridge);

	for (unsigned i = 0; i < bridge->nslots; i++) {
		struct slot *slot = &bridge->slots[i];

		if (!may)
			slot_leave(slot);
		else if (slot->has_left && slot->state == SLOT_WAITING)
			say_play(slot);
	}
}

static void say_login(struct slot *slot)
{
	control_add_word(&slot->out, WORD_LOGIN);
	control_add_arg(&slot->out, slot->bridge->bot);
	control_add_arg(&slot->out, slot->bridge->token);
	control_add_key_i64(&slot->out, "proto", WORDS_PROTOCOL);
	control_add_key(&slot->out, "client", "hill-bridge/" HILL_VERSION);
	if (slot->bridge->version != NULL)
		control_add_key(&slot->out, "version", slot->bridge->version);
	if (slot->bridge->is_candidate)
		control_add_key_i64(&slot->out, "candidate", 1);
	control_add_key_i64(&slot->out, "ping", 1);
	control_add_end(&slot->out);
	slot->state = SLOT_LOGIN;
}

/* Errors after which another try would end the same way, or harm. */
static bool is_final(const struct slice *code)
{
	static const enum error_code final_codes[] = {
		ERROR_LOGIN_FAILED,      ERROR_PROTOCOL_VERSION,
		ERROR_BAD_ARGUMENTS,     ERROR_BOT_DISABLED,
		ERROR_EVICTED,           ERROR_VERSION_RETIRED,
		ERROR_TOO_MANY_VERSIONS, ERROR_UNKNOWN_LADDER,
		ERROR_LADDER_DISABLED,   ERROR_UNKNOWN_MAP,
		ERROR_CONTEST_SEED,      ERROR_OPEN_INSTANCE,
		ERROR_UNKNOWN_OPPONENT,  ERROR_TURN_REFUSED,
	};

	for (size_t i = 0; i < sizeof(final_codes) / sizeof(final_codes[0]);
	     i++) {
		if (slice_is(*code, error_kinds[final_codes[i]].name))
			return true;
	}
	return false;
}

/* Whether the @error CODE is a link's last word: it says when to come back. */
static bool ends_link(const struct slot *slot, const struct slice *code)
{
	if (slot->state < SLOT_WAITING)
		return true;
	for (unsigned i = 0; i < ERROR_NCODES; i++) {
		if (slice_is(*code, error_kinds[i].name))
			return error_kinds[i].closes;
	}
	return false;
}

/* Nothing is left to wait for; a match outlives its ladder. */
static void end_with_match(struct slot *slot)
{
	if (slot_has_match(slot))
		bridge_finish(slot->bridge);
	else
		slot_finish(slot);
}

static void take_error(struct slot *slot, const struct control *control,
		       int64_t now_us)
{
	int64_t seconds, wait_us;

	report_words(slot, "the server says", &control->rest);
	if (control_key_i64(control, "retry-after", 0, INT32_MAX, &seconds) < 0)
		seconds = 0;
	wait_us =
		(seconds < RETRY_AFTER_MOST_S ? seconds : RETRY_AFTER_MOST_S) *
		1000 * 1000;
	if (control->nargs > 0 &&
	    slice_is(control->args[0], error_kinds[ERROR_PAUSED].name)) {
		/* On one ladder; the others go on. */
		slot->play_again_us =
			now_us + (wait_us > 0 ? wait_us : 1000 * 1000);
		return;
	}
	if (control->nargs > 0 && ends_link(slot, &control->args[0]))
		slot->retry_after_us = wait_us;
	if (control->nargs > 0 &&
	    slice_is(control->args[0], error_kinds[ERROR_SHUTDOWN].name))
		slot->is_server_ending = true;
	if (control->nargs == 0 || !is_final(&control->args[0]) ||
	    (slot->retry_after_us > 0 &&
	     !slice_is(control->args[0], error_kinds[ERROR_EVICTED].name)))
		return;
	slot->bridge->exit_status = EXIT_REFUSED;
	if (ends_link(slot, &control->args[0]))
		slot_finish(slot);
	else
		end_with_match(slot);
}

static void take_control(struct slot *slot, const struct control *control,
			 int64_t now_us)
{
	if (control->word == NULL)
		return;
	switch (word_id(control->word)) {
	case WORD_HILL:
		if (slot->state == SLOT_GREETING)
			say_login(slot);
		break;
	case WORD_WELCOME:
		if (slot->state != SLOT_LOGIN)
			break;
		slot->state = SLOT_WAITING;
		slot->deadline_us = INT64_MAX;
		slot->attempts = 0;
		slot->retry_after_us = 0;
		if (bridge_may_take_more(slot->bridge) || slot->set_left > 0)
			say_play(slot);
		break;
	case WORD_QUEUED:
		take_queued(slot, control);
		break;
	case WORD_ERROR:
		take_error(slot, control, now_us);
		break;
	case WORD_LEFT:
		/* What we asked for names no ladder. */
		if (control->nargs > 0 &&
		    ++slot->nended == slot->bridge->nladders)
			end_with_match(slot);
		break;
	case WORD_NOTICE:
		report_words(slot, "the host announces", &control->text);
		break;
	case WORD_PING:
		control_add_word(&slot->out, WORD_PONG);
		if (control->nargs > 0)
			control_add_arg_slice(&slot->out, control->args[0]);
		control_add_end(&slot->out);
		break;
	default:
		slot_take_match_word(slot, control, now_us);
		break;
	}
}

void slot_take_frame(struct slot *slot, const struct frame *frame,
		     int64_t now_us)
{
	struct control control;

	switch (frame->kind) {
	case FRAME_RAW:
		slot_take_raw(slot, frame);
		break;
	case FRAME_CONTROL:
		if (control_parse(&control, frame->text, frame->len) !=
		    CONTROL_OK)
			break;
		take_control(slot, &control, now_us);
		/* A block that nobody asked for is skipped with its word. */
		if (slot->fd >= 0 && !slot->has_block && !slot->is_skipping &&
		    (control.word == NULL || !control.word->has_block))
			slot_skip_block(slot, &control);
		break;
	case FRAME_GAME:
		if (slot->state != SLOT_PLAYING)
			break;
		buf_add(&slot->to_program, frame->text, frame->len);
		buf_add_char(&slot->to_program, '\n');
		break;
	case FRAME_GARBLED:
	case FRAME_LONG:
		report(slot, "a line of the server makes no sense");
		break;
	case FRAME_MORE:
	case FRAME_FLOOD:
	case FRAME_NO_MEMORY:
	case FRAME_NKINDS:
		break;
	}
}
