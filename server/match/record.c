/* SPDX-License-Identifier: MIT */
/* record.c - what a match leaves behind. */
#include "server/match/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/control.h"
#include "server/match/match_internal.h"

const char *match_purpose_word(enum match_purpose purpose)
{
	static const char *const names[MATCH_NPURPOSES] = {
		[MATCH_FOR_LADDER] = "ladder",
		[MATCH_FOR_REMATCH] = "rematch",
		[MATCH_FOR_UNRATED] = "unrated",
		[MATCH_FOR_CANDIDATE] = "candidate",
		[MATCH_FOR_TOURNAMENT] = "tournament",
	};

	return names[purpose];
}

/* The setup's texts are ours; const only for who looks at them. */
static void free_text(const char *text)
{
	void *owned;

	memcpy(&owned, &text, sizeof(owned));
	free(owned);
}

struct match_record *match_record_decision(const struct match_meeting *meeting)
{
	struct match_record *record = xcalloc(1, sizeof(*record));

	record->meeting = *meeting;
	record->is_repacked = true;
	return record;
}

void match_record_free(struct match_record *record)
{
	if (record == NULL)
		return;
	for (unsigned seat = 0; seat < record->nseats; seat++)
		free(record->seats[seat].bot);
	free(record->ladder);
	free(record->map_name);
	free_text(record->setup.seed);
	free_text(record->setup.bot_seed);
	free(record->transcript);
	free(record->notes);
	free(record->samples);
	free(record);
}

static void take_seat(const struct match *match, unsigned seat,
		      struct match_record_seat *ret)
{
	const struct match_seat *self = &match->seats[seat];

	ret->bot_id = self->bot_id;
	ret->version_id = self->version_id;
	ret->bot = xstrdup(self->bot);
	ret->requests = self->requests;
	memcpy(ret->faults, self->faults, sizeof(ret->faults));
	ret->early = self->early;
	ret->banked = self->banked;
	ret->max_us = self->max_us;
	ret->total_us = self->total_us;
	memcpy(ret->times, self->times, sizeof(ret->times));
	ret->lag_us = turn_clock_lag_us(self, match);
	memcpy(ret->how, self->how, sizeof(ret->how));
}

static void take_scores(const struct match *match, struct match_record *record)
{
	struct game_score scores[GAME_SEATS_MAX] = { 0 };

	match->game->result(match->engine, scores);
	for (unsigned seat = 0; seat < match->nseats; seat++)
		record->seats[seat].score = scores[seat];
}

/* Transcript, notes and samples. What is lost makes the match void. */
static void take_blobs(struct match *match, struct match_record *record,
		       struct match_scratch *scratch)
{
	uint64_t samples[DIGEST_SAMPLES_MAX + 1];

	if (packer_finish(&match->transcript, scratch, &record->transcript,
			  &record->transcript_len) < 0 &&
	    !record->is_void) {
		record->is_void = true;
		(void)snprintf(record->void_reason, sizeof(record->void_reason),
			       "memory: the transcript is lost");
	}
	if (packer_finish(&match->notes, scratch, &record->notes,
			  &record->notes_len) < 0)
		record->notes_len = 0;
	record->nsamples = digest_export(&match->digest, samples);
	record->samples =
		xreallocarray(NULL, record->nsamples, sizeof(samples[0]));
	memcpy(record->samples, samples, record->nsamples * sizeof(samples[0]));
}

struct match_record *match_take_record(struct match *match,
				       struct match_out *out)
{
	struct match_record *record;

	if ((match->state != MATCH_OVER && match->state != MATCH_VOID) ||
	    match->has_taken_record)
		return NULL;
	match->has_taken_record = true;
	record = xcalloc(1, sizeof(*record));
	record->id = match->id;
	record->ladder_id = match->ladder_id;
	record->map_id = match->map_id;
	record->ladder = xstrdup(match->ladder);
	record->map_name = xstrdup(match->map_name);
	record->game = match->game;
	record->is_rated = match->is_rated;
	record->purpose = match->purpose;
	record->round = match->round;
	record->meeting = match->meeting;
	record->setup = match->setup;
	record->setup.seed = xstrdup(match->seed);
	record->setup.bot_seed = xstrdup(match->bot_seed);
	record->limits = match->limits;
	record->started_us = match->started_us;
	record->ended_us = match->ended_us;
	record->stall_us = match->stall_us;
	record->nseats = match->nseats;
	record->inputs = match->inputs;
	record->digest = match->digest.value;
	if (match->state == MATCH_VOID) {
		record->is_void = true;
		(void)snprintf(record->void_reason, sizeof(record->void_reason),
			       "%s: %s", match->void_word, match->void_text);
	}
	for (unsigned seat = 0; seat < match->nseats; seat++)
		take_seat(match, seat, &record->seats[seat]);
	take_scores(match, record);
	take_blobs(match, record, out->scratch);
	return record;
}

void match_record_params(const struct match_record *record, struct buf *out)
{
	game_params_format(record->game, record->setup.params, out);
}

static void add_score(struct buf *out, const char *key, double score)
{
	char text[32];
	struct buf digits = BUF_INIT(sizeof(text));

	game_score_format(score, &digits);
	control_add_key(out, key, buf_text(&digits));
	buf_release(&digits);
}

void match_result_lines(const struct match_record *record, unsigned seat,
			struct buf *out)
{
	const struct match_record_seat *self = &record->seats[seat];

	if (record->is_void)
		return;
	if (record->meeting.is_embargo) {
		control_add_word(out, WORD_RESULT);
		control_add_arg_i64(out, record->id);
		control_add_key(out, "embargo", "1");
		control_add_key(out, "reason",
				game_reason_word(self->score.reason));
		control_add_end(out);
		return;
	}
	for (unsigned i = 0; i < record->nseats; i++) {
		control_add_word(out, WORD_PLACE);
		control_add_arg_i64(out, record->id);
		control_add_key_i64(out, "seat", i + 1);
		control_add_key(out, "bot", record->seats[i].bot);
		add_score(out, "score", record->seats[i].score.score);
		control_add_key_i64(out, "rank", record->seats[i].score.rank);
		control_add_end(out);
	}
	control_add_word(out, WORD_RESULT);
	control_add_arg_i64(out, record->id);
	add_score(out, "score", self->score.score);
	control_add_key_i64(out, "late", self->faults[MATCH_FAULT_LATE]);
	control_add_key_i64(out, "early", self->early);
	control_add_key_i64(out, "banked", self->banked);
	control_add_key_i64(out, "max-ms", self->max_us / US_PER_MS);
	control_add_end(out);
}
