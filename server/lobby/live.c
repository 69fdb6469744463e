/* SPDX-License-Identifier: MIT */
/* live.c - the matches in play, for those who look on. */
#include "server/lobby/lobby_internal.h"

#include "server/match/match.h"

/* A seat whose link is lost keeps its bot. */
static const char *name_of(const struct play_seat *seat)
{
	if (seat->bot->is_hidden)
		return NULL;
	return seat->peer != NULL ? guest_shown(seat->peer) : seat->bot->name;
}

static void take_play(const struct lobby_play *play, struct lobby_live *ret)
{
	*ret = (struct lobby_live){
		.id = play->id,
		.ladder = play->ladder->row.name,
		.game = play->map->game->name,
		.is_running = play->state == PLAY_RUNNING,
		.nseats = play->nseats,
	};
	/* A worker may have the match: its state is nobody's else then. */
	if (!play->is_busy && ret->is_running)
		ret->turn = match_turn(play->match, 0);
	for (unsigned i = 0; i < play->nseats; i++)
		ret->bots[i] = name_of(&play->seats[i]);
}

size_t lobby_live(const struct lobby *lobby, struct lobby_live *ret, size_t max,
		  size_t *ret_total)
{
	const struct lobby_play *play;
	size_t count = 0;

	*ret_total = 0;
	TAILQ_FOREACH_REVERSE(play, &lobby->plays, play_list, link)
	{
		/* They may be under embargo; their table tells of them. */
		if (play->deal.purpose == MATCH_FOR_TOURNAMENT)
			continue;
		++*ret_total;
		if (count < max)
			take_play(play, &ret[count++]);
	}
	return count;
}
