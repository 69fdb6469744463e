/* SPDX-License-Identifier: MIT */
/*
 * pause.c - who breaks off rated matches again and again has to pause, by the
 * figures of server/ladder/pairing_penalty.h; one account a bot and ladder.
 */
#include "server/lobby/lobby_internal.h"
#include "server/lobby/rated.h"
#include "server/lobby/start.h"

static void log_pause(struct lobby *lobby, const struct bot *bot,
		      const struct ladder *ladder, const char *why,
		      uint32_t pause_s)
{
	action_log(lobby, LOG_LEVEL_INFO, "ladder=%s bot=%s event=%s pause=%u",
		   ladder->row.name, bot->name, why, pause_s);
}

void pause_note_withdrawal(struct lobby *lobby, struct bot *bot,
			   struct ladder *ladder, int64_t now_us)
{
	struct standing *standing = bot_standing(bot, ladder->row.id);

	log_pause(lobby, bot, ladder, "withdrawn",
		  penalty_note_withdrawal(&standing->penalty, now_us));
}

void pause_note_forfeit(struct lobby *lobby, struct bot *bot,
			struct ladder *ladder, int64_t now_us)
{
	struct standing *standing = bot_standing(bot, ladder->row.id);

	log_pause(lobby, bot, ladder, "forfeited",
		  penalty_note_forfeit(&standing->penalty, now_us));
}

void pause_note_completed(struct bot *bot, struct ladder *ladder,
			  int64_t now_us)
{
	penalty_note_completed(&bot_standing(bot, ladder->row.id)->penalty,
			       now_us);
}

uint32_t pause_left(struct bot *bot, const struct ladder *ladder,
		    int64_t now_us)
{
	if (!ladder_is_rated(ladder))
		return 0;
	return penalty_retry_after(&bot_standing(bot, ladder->row.id)->penalty,
				   now_us);
}

bool pause_holds(struct lobby *lobby, struct ladder *ladder, struct bot *bot,
		 int64_t now_us)
{
	if (pause_left(bot, ladder, now_us) == 0)
		return false;
	start_wake(lobby, ladder, now_us,
		   bot_standing(bot, ladder->row.id)->penalty.paused_until_us);
	return true;
}
