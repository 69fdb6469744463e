/* SPDX-License-Identifier: MIT */
/*
 * rematch.c - a stored match is played once more, because the host says so:
 * same map, parameters and seeds, the same bots on the same seats. When one of
 * them leaves the ladder before, it is dropped.
 */
#include "server/lobby/appointment.h"
#include "server/lobby/lobby_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { NAMES_BYTES = 150 };

/* Whether there may be a rematch on LADDER at all; ERROR says why not. */
static int check_ladder(struct lobby *lobby, const struct ladder *ladder,
			const struct row_match *match, struct game_error *error)
{
	if (lobby->is_draining)
		game_error_set(error, "the server shuts down");
	else if (match->is_embargo)
		/* The same bots on the same instance: it would tell. */
		game_error_set(error, "it is under embargo");
	else if (match->is_contested)
		/* Whoever has to play it yet would see it. */
		game_error_set(error, "a tournament plays its instance");
	else if (lobby->nappointments >= LIMIT_APPOINTMENTS)
		game_error_set(error, "%d matches wait already",
			       (int)LIMIT_APPOINTMENTS);
	else if (ladder == NULL || !ladder->is_listed ||
		 strcmp(ladder->row.game, match->game) != 0)
		game_error_set(error, "nothing is played on %s any more",
			       match->ladder);
	else if (tournaments_have_seed(lobby, ladder->game,
				       strtoll(match->seed, NULL, 10)))
		/* Some of its entrants may have to play it yet. */
		game_error_set(error, "a tournament that runs plays its seed");
	else if (!ladder->row.is_rated && !ladder->game->is_shared &&
		 !ladder->row.is_seed_random)
		/* Unrated ones of its own are how far a bot has come there. */
		game_error_set(error,
			       "%s is unrated and its bots walk its seeds in "
			       "order: a match more would be a step",
			       match->ladder);
	else if (match->nseats < ladder->game->seats_min ||
		 match->nseats > ladder->game->seats_max)
		game_error_set(error, "%s is not for %u seats", match->game,
			       match->nseats);
	else
		return 0;
	return -EINVAL;
}

/* DEAL and BOTS as MATCH was. 0, or -EINVAL with ERROR. */
static int fill(struct lobby *lobby, const struct ladder *ladder,
		const struct row_match *match, struct deal *deal,
		struct bot *bots[LIMIT_SEATS], struct game_error *error)
{
	deal->purpose = MATCH_FOR_REMATCH;
	deal->tags[0] = match->id;
	deal->seats = match->nseats;
	deal->instance.map_id = match->map_id;
	(void)snprintf(deal->instance.seed, sizeof(deal->instance.seed), "%s",
		       match->seed);
	(void)snprintf(deal->instance.bot_seed, sizeof(deal->instance.bot_seed),
		       "%s", match->bot_seed);
	for (unsigned i = 0; i < match->nseats; i++) {
		bots[i] = bot_by_id(lobby, match->seats[i].bot_id);
		if (bots[i] == NULL) {
			game_error_set(error, "there is no bot %s any more",
				       match->seats[i].bot);
			return -EINVAL;
		}
	}
	return game_params_parse(ladder->game, match->params, deal->params,
				 error);
}

/* The bots that are not there, commas between, each once. */
static void add_absent(const struct appointment *appointment, struct buf *names)
{
	for (uint32_t left = appointment_absent(appointment); left != 0;
	     left &= left - 1) {
		unsigned seat = (unsigned)__builtin_ctz(left);
		bool is_known = false;

		for (unsigned k = 0; k < seat; k++)
			is_known |=
				appointment->bots[k] == appointment->bots[seat];
		if (!is_known || names->len == 0)
			buf_add_format(names, "%s%s",
				       names->len == 0 ? "" : ", ",
				       appointment->bots[seat]->name);
	}
}

static int check_bots(const struct appointment *appointment,
		      struct game_error *error)
{
	struct buf absent = BUF_INIT(NAMES_BYTES);
	bool is_missing;

	add_absent(appointment, &absent);
	is_missing = absent.len > 0 || absent.is_failed;
	if (is_missing)
		game_error_set(error, "not waiting on %s: %s",
			       appointment->ladder->row.name,
			       absent.len > 0 ? buf_text(&absent)
					      : "most of its bots");
	buf_release(&absent);
	return is_missing ? -ENOENT : 0;
}

int lobby_rematch(struct lobby *lobby, const struct row_match *match,
		  int64_t now_us, struct game_error *error)
{
	struct ladder *ladder = ladder_by_id(lobby, match->ladder_id);
	struct appointment *appointment;
	struct bot *bots[LIMIT_SEATS];
	struct deal deal = { .is_rated = false };
	int rc = check_ladder(lobby, ladder, match, error);

	if (rc == 0)
		rc = fill(lobby, ladder, match, &deal, bots, error);
	if (rc < 0)
		return rc;
	appointment = appointment_new(lobby, ladder, &deal, bots);
	if (appointment == NULL)
		return -EINVAL; /* check_ladder has counted them */
	rc = check_bots(appointment, error);
	if (rc < 0) {
		appointment_free(appointment);
		return rc;
	}
	action_log(lobby, LOG_LEVEL_INFO, "ladder=%s event=rematch of=%" PRId64,
		   ladder->row.name, match->id);
	appointment_add(lobby, appointment, now_us);
	lobby_settle(lobby, now_us);
	return 0;
}
