/* SPDX-License-Identifier: MIT */
/*
 * results.c - result before rumour: what a match came to is told when it is on
 * disk. Until then its lines wait with the play, which has no match any more.
 */
#include "server/lobby/lobby_internal.h"
#include "server/lobby/start.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "proto/control.h"
#include "server/match/record.h"

/* Keep of RECORD what must be told and remembered once it is stored. */
static void keep_results(struct lobby *lobby, struct lobby_play *play,
			 const struct match_record *record)
{
	size_t mark = lobby->scratch.len;

	for (unsigned i = 0; i < play->nseats; i++) {
		struct play_seat *seat = &play->seats[i];

		seat->score = record->seats[i].score.score;
		seat->rank = record->seats[i].score.rank;
		seat->points = record->seats[i].score.points;
		seat->faults = 0;
		for (unsigned k = 0; k < MATCH_NFAULTS; k++)
			seat->faults += record->seats[i].faults[k];
		if (seat->told == NULL)
			continue;
		match_result_lines(record, i, &lobby->scratch);
		if (!lobby->scratch.is_failed && lobby->scratch.len > mark)
			seat->result = xstrdup(lobby->scratch.data + mark);
		lobby->scratch.len = mark;
	}
}

static void log_end(struct lobby *lobby, const struct match_record *record)
{
	const char *event = record->is_void ? "void" : "over";
	char quoted[LOG_QUOTE_BYTES];
	struct buf bots = BUF_INIT(LIMIT_SEATS * (LIMIT_NAME_BYTES + 1));

	for (unsigned i = 0; i < record->nseats; i++)
		buf_add_format(&bots, "%s%s", i > 0 ? "," : "",
			       record->seats[i].bot);
	if (record->is_void)
		lobby->nvoided++;
	else
		lobby->nfinished++;
	action_log(lobby, record->is_void ? LOG_LEVEL_WARN : LOG_LEVEL_INFO,
		   "match=%" PRId64 " ladder=%s bots=%s event=%s ms=%" PRId64
		   "%s%s",
		   record->id, record->ladder, buf_text(&bots), event,
		   (record->ended_us - record->started_us) / 1000,
		   record->is_void ? " reason=" : "",
		   record->is_void ? log_quote(quoted, sizeof(quoted),
					       record->void_reason,
					       strlen(record->void_reason))
				   : "");
	buf_release(&bots);
}

void results_store(struct lobby *lobby, struct lobby_play *play)
{
	struct match_record *record =
		match_take_record(play->match, lobby->out);

	assert(record != NULL);
	play->is_void = record->is_void;
	keep_results(lobby, play, record);
	log_end(lobby, record);
	action_add(lobby, LOBBY_STORE, NULL)->record = record;
	play_end(lobby, play);
	play->state = PLAY_STORING;
	TAILQ_INSERT_TAIL(&lobby->storing, play, link);
	lobby->nstoring++;
}

void results_forget(struct lobby_peer *peer)
{
	struct play_seat *seat;

	while ((seat = LIST_FIRST(&peer->told)) != NULL) {
		LIST_REMOVE(seat, tell);
		seat->told = NULL;
	}
}

static void tell_seat(struct lobby *lobby, struct play_seat *seat,
		      int64_t now_us)
{
	struct lobby_peer *peer = seat->told;
	size_t mark = lobby->scratch.len;

	if (peer == NULL)
		return;
	LIST_REMOVE(seat, tell);
	seat->told = NULL;
	if (seat->result != NULL)
		buf_add_text(&lobby->scratch, seat->result);
	peer_say(lobby, peer, mark);
	peer_was_told(lobby, peer, now_us);
}

static void count_result(const struct lobby_play *play,
			 const struct play_seat *seat)
{
	struct standing *standing = bot_standing(seat->bot, play->ladder_id);

	if (standing->matches == 0 || seat->score > standing->best)
		standing->best = seat->score;
	standing->matches++;
	standing->sum += seat->score;
	if (play->nseats > 1 && seat->rank == 1)
		standing->firsts++;
}

/* The play MATCH_ID, taken out of those that wait for the disk, or NULL. */
static struct lobby_play *take_play(struct lobby *lobby, int64_t match_id)
{
	struct lobby_play *play;

	TAILQ_FOREACH(play, &lobby->storing, link) {
		if (play->id == match_id)
			break;
	}
	if (play == NULL)
		return NULL;
	TAILQ_REMOVE(&lobby->storing, play, link);
	lobby->nstoring--;
	return play;
}

void lobby_stored(struct lobby *lobby, int64_t match_id, int64_t now_us)
{
	struct lobby_play *play = take_play(lobby, match_id);

	if (play == NULL)
		return;
	for (unsigned i = 0; i < play->nseats; i++) {
		tell_seat(lobby, &play->seats[i], now_us);
		if (!play->is_void && !play->deal.meeting.is_embargo)
			count_result(play, &play->seats[i]);
	}
	play_over(lobby, play, play->is_void ? DEAL_VOID : DEAL_STORED, 0,
		  now_us);
	play_free(lobby, play);
	start_touch_held(lobby);
	lobby_settle(lobby, now_us);
}

/* What a seat hears of a match that is lost: void ones were told before. */
static char *void_line(const struct lobby_play *play)
{
	struct buf line = BUF_INIT(LIMIT_CONTROL_LINE_BYTES);

	if (play->is_void)
		return NULL;
	control_add_word(&line, WORD_VOID);
	control_add_arg_i64(&line, play->id);
	control_add_key(&line, "reason", "store");
	control_add_text(&line, "the result could not be stored");
	control_add_end(&line);
	return buf_detach(&line);
}

void lobby_store_refused(struct lobby *lobby, int64_t match_id, int64_t now_us)
{
	struct lobby_play *play = take_play(lobby, match_id);

	if (play == NULL)
		return;
	for (unsigned i = 0; i < play->nseats; i++) {
		free(play->seats[i].result);
		play->seats[i].result = void_line(play);
		tell_seat(lobby, &play->seats[i], now_us);
	}
	play_over(lobby, play, DEAL_VOID, 0, now_us);
	play_free(lobby, play);
	start_touch_held(lobby);
	lobby_settle(lobby, now_us);
}

void lobby_store_trouble(struct lobby *lobby, const char *reason,
			 int64_t now_us)
{
	char quoted[LOG_QUOTE_BYTES];
	bool is_trouble = reason != NULL;

	if (lobby->has_trouble == is_trouble)
		return;
	lobby->has_trouble = is_trouble;
	if (is_trouble) {
		action_log(lobby, LOG_LEVEL_ERROR,
			   "event=store_trouble waiting=%zu reason=%s",
			   lobby->nstoring,
			   log_quote(quoted, sizeof(quoted), reason,
				     strlen(reason)));
		start_touch_waiting(lobby);
	} else {
		action_log(lobby, LOG_LEVEL_WARN,
			   "event=store_recovered waiting=%zu",
			   lobby->nstoring);
		start_touch_held(lobby);
	}
	lobby_settle(lobby, now_us);
}
