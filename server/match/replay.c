/* SPDX-License-Identifier: MIT */
#include "server/match/replay.h"

#include <errno.h>
#include <string.h>

struct replay {
	const struct game *game;
	const struct replay_callbacks *calls;
	struct game_state *state;
	struct game_out out;
	struct digest digest;
	struct transcript_reader *reader;
	unsigned seats;
	uint32_t asked; /* bit a seat: it owes the engine a reply */
	uint32_t ended;
	bool is_over;
	bool is_seen; /* the state as it is now was told to `seen` */
	uint32_t turns[GAME_SEATS_MAX];
};

static void tell_lines(const struct replay *replay, unsigned seat)
{
	const struct buf *lines = &replay->out.lines[seat];
	const char *text = lines->data;
	size_t left = lines->len;

	while (left > 0) {
		const char *end = memchr(text, '\n', left);
		size_t len = end == NULL ? left : (size_t)(end - text);

		replay->calls->line(replay->calls->context, seat, text, len);
		if (end == NULL)
			break;
		text += len + 1;
		left -= len + 1;
	}
}

static void tell_seen(void *context, const struct game_state *state)
{
	struct replay *replay = context;

	replay->is_seen = true;
	replay->calls->seen(replay->calls->context, replay->game, state);
}

/* Take in what the engine put out. 0, or -ENOMEM when it did not fit. */
static int absorb(struct replay *replay, enum game_status status)
{
	struct game_out *out = &replay->out;

	game_settle(replay->game, replay->state, status, out);
	for (unsigned seat = 0; seat < replay->seats; seat++) {
		const struct buf *lines = &out->lines[seat];

		if (lines->is_failed)
			return -ENOMEM;
		if (lines->len > 0) {
			digest_lines(&replay->digest, seat, lines->data,
				     lines->len);
			if (replay->calls->line != NULL)
				tell_lines(replay, seat);
		}
		if ((out->asked >> seat & 1) != 0 &&
		    (out->ended >> seat & 1) == 0 &&
		    (replay->ended >> seat & 1) == 0) {
			replay->asked |= 1u << seat;
			replay->turns[seat]++;
		}
	}
	replay->ended |= out->ended;
	replay->asked &= ~replay->ended;
	replay->is_over = out->is_over;
	if (replay->calls->step != NULL)
		replay->calls->step(replay->calls->context, replay->game,
				    replay->state, out);
	if (replay->calls->seen != NULL && !replay->is_seen &&
	    (out->asked != 0 || out->is_over))
		tell_seen(replay, replay->state);
	return 0;
}

static int feed(struct replay *replay, const struct transcript_entry *entry)
{
	uint32_t bit = 1u << entry->seat;

	if (replay->is_over || (replay->ended & bit) != 0 ||
	    (entry->kind != GAME_GONE && (replay->asked & bit) == 0))
		return -EILSEQ;
	replay->asked &= ~bit;
	if (replay->calls->input != NULL)
		replay->calls->input(replay->calls->context, entry,
				     replay->turns[entry->seat]);
	replay->is_seen = false;
	game_out_clear(&replay->out);
	return absorb(replay, replay->game->feed(replay->state, entry->seat,
						 entry->kind, entry->text,
						 entry->len, &replay->out));
}

static int run(struct replay *replay, uint64_t *inputs,
	       struct game_error *error)
{
	struct transcript_entry entry;
	int rc;

	rc = absorb(replay, replay->game->begin(replay->state, &replay->out));
	while (rc == 0) {
		if (replay->calls->is_cut != NULL &&
		    replay->calls->is_cut(replay->calls->context))
			rc = -ECANCELED;
		else
			rc = transcript_next(replay->reader, &entry);
		if (rc <= 0)
			break;
		rc = feed(replay, &entry);
		if (rc == 0) {
			digest_input(&replay->digest);
			++*inputs;
		}
	}
	if (rc == -EILSEQ)
		game_error_set(error,
			       "the transcript is damaged behind input %llu",
			       (unsigned long long)*inputs);
	else if (rc == -ENOTSUP)
		game_error_set(error, "the transcript's version is unknown");
	else if (rc == -ECANCELED)
		game_error_set(error, "given up behind input %llu",
			       (unsigned long long)*inputs);
	else if (rc < 0)
		game_error_set(error, "no memory at input %llu",
			       (unsigned long long)*inputs);
	return rc;
}

int replay_run(const struct replay_source *source,
	       const struct replay_callbacks *callbacks,
	       struct replay_result *ret, struct game_error *error)
{
	const struct game *game = source->game;
	const struct game_setup *setup = source->setup;
	static const struct replay_callbacks none;
	struct replay replay = {
		.game = game,
		.calls = callbacks != NULL ? callbacks : &none,
		.seats = setup->seats,
	};
	uint64_t inputs = 0;
	int rc;

	if (setup->seats < game->seats_min || setup->seats > game->seats_max ||
	    setup->seats > GAME_SEATS_MAX) {
		game_error_set(error, "%s is not for %u seats", game->name,
			       setup->seats);
		return -EINVAL;
	}
	rc = game->create(&replay.state, source->map, setup, error);
	if (rc < 0)
		return rc;
	if (replay.calls->seen != NULL && game->watch != NULL)
		game->watch(replay.state, tell_seen, &replay);
	game_out_init(&replay.out, source->output_bytes == 0
					   ? LIMIT_OUTPUT_BYTES
					   : source->output_bytes);
	digest_init(&replay.digest);
	replay.reader = transcript_open(source->transcript,
					source->transcript_len, setup->seats);
	rc = run(&replay, &inputs, error);
	if (rc == 0) {
		memset(ret, 0, sizeof(*ret));
		game->result(replay.state, ret->scores);
		ret->is_over = replay.is_over;
		ret->inputs = inputs;
		memcpy(ret->turns, replay.turns, sizeof(ret->turns));
		ret->digest = replay.digest.value;
		ret->nsamples = digest_export(&replay.digest, ret->samples);
	}
	transcript_close(replay.reader);
	game_out_release(&replay.out);
	game->free(replay.state);
	return rc;
}
