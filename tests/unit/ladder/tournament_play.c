/* SPDX-License-Identifier: MIT */
#include "tests/unit/unit.h"

#include <stdlib.h>

#include "server/ladder/tournament_internal.h"
#include "tests/unit/ladder/tournament_play.h"

enum { OPEN_MAX = 4096 };

struct tournament_result draw_result(const struct tournament_match *match,
				     const struct play_options *options)
{
	uint64_t base = options->seed + match->pairing * 1000003u +
			match->set * 10007u + match->turn * 101u;
	struct tournament_result result = { .pairing = match->pairing,
					    .set = match->set,
					    .turn = match->turn,
					    .absent = match->absent };

	for (unsigned s = 0; s < match->nseats; s++) {
		uint64_t chance = tournament_mix(base, s);

		if (chance % 1000 < options->absent_of_1000)
			result.absent |= 1u << s;
		result.points[s] = chance / 1000 % 1000 < options->draws_of_1000
					   ? 50
					   : (int64_t)(chance / 1000000 % 100);
	}
	for (unsigned s = 0; s < match->nseats; s++) {
		unsigned rank = 1;

		for (unsigned k = 0; k < match->nseats; k++)
			rank += result.points[k] > result.points[s];
		result.ranks[s] = (uint8_t)rank;
		result.scores[s] = (double)result.points[s];
	}
	for (unsigned s = 0; s < match->nseats && result.absent != 0; s++) {
		result.points[s] = 0;
		result.scores[s] = 0;
	}
	return result;
}

struct played play_tournament(const struct tournament_rules *rules,
			      unsigned entrants,
			      const struct play_options *options)
{
	static struct tournament_match open[OPEN_MAX];
	struct played played = { .entrants = entrants };
	uint64_t least, most;
	size_t n;

	assert_null(tournament_refusal(rules, entrants));
	tournament_count(rules, entrants, &least, &most);
	played.tournament =
		tournament_new(rules, entrants, options->out_rounds);
	played.results = xcalloc(most, sizeof(*played.results));
	while ((n = tournament_next(played.tournament, open, OPEN_MAX)) > 0) {
		uint64_t chance =
			tournament_mix(options->seed ^ 0x55, played.nresults);
		struct tournament_result result =
			draw_result(&open[chance % n], options);

		assert_false(tournament_is_finished(played.tournament));
		assert_true(played.nresults < most);
		assert_int_equal(tournament_add(played.tournament, &result), 0);
		assert_true(tournament_add(played.tournament, &result) != 0);
		played.results[played.nresults++] = result;
	}
	assert_true(tournament_is_finished(played.tournament));
	if (options->out_rounds == NULL)
		assert_true(played.nresults >= least);
	assert_int_equal(tournament_matches_done(played.tournament),
			 played.nresults);
	played.table = xcalloc(entrants, sizeof(*played.table));
	tournament_standings(played.tournament, played.table);
	return played;
}

void played_release(struct played *played)
{
	tournament_free(played->tournament);
	free(played->results);
	free(played->table);
}

void check_resume(const struct tournament_rules *rules,
		  const struct played *played, size_t prefix,
		  const struct play_options *options)
{
	static struct tournament_match before[OPEN_MAX], after[OPEN_MAX];
	struct tournament *first, *second;
	size_t nbefore, nafter;
	bool *is_there = xcalloc(played->nresults, sizeof(*is_there));

	first = tournament_new(rules, played->entrants, options->out_rounds);
	for (size_t i = 0; i < prefix; i++)
		assert_int_equal(tournament_add(first, &played->results[i]), 0);
	nbefore = tournament_next(first, before, OPEN_MAX);
	/* As the database gives them: by pairing, set and turn. */
	second = tournament_new(rules, played->entrants, options->out_rounds);
	for (size_t k = 0; k < prefix; k++) {
		size_t best = SIZE_MAX;

		for (size_t i = 0; i < prefix; i++) {
			const struct tournament_result *r = &played->results[i];
			const struct tournament_result *b =
				&played->results[best == SIZE_MAX ? i : best];

			if (!is_there[i] &&
			    (best == SIZE_MAX || r->pairing < b->pairing ||
			     (r->pairing == b->pairing &&
			      (r->set < b->set ||
			       (r->set == b->set && r->turn < b->turn)))))
				best = i;
		}
		is_there[best] = true;
		assert_int_equal(tournament_add(second, &played->results[best]),
				 0);
	}
	nafter = tournament_next(second, after, OPEN_MAX);
	assert_int_equal(nbefore, nafter);
	assert_memory_equal(before, after, nbefore * sizeof(before[0]));
	assert_int_equal(tournament_round(first), tournament_round(second));
	free(is_there);
	tournament_free(first);
	tournament_free(second);
}
