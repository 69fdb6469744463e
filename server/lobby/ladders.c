/* SPDX-License-Identifier: MIT */
/* ladders.c - the list of ladders that anybody may ask for: @ladders. */
#include "server/lobby/lobby_internal.h"

static void tell_ladder(const struct ladder *ladder, struct buf *out)
{
	const struct row_ladder *row = &ladder->row;
	const struct game *game = ladder->game;

	control_add_word(out, WORD_LADDER);
	control_add_arg(out, row->name);
	control_add_key(out, "game", game->name);
	control_add_key_i64(out, "seats", row->seats);
	for (unsigned i = 0; i < game->nparams; i++)
		control_add_key_i64(out, game->params[i].name,
				    ladder->params[i]);
	control_add_key_i64(out, "turn-ms", row->turn_ms);
	control_add_key_i64(out, "init-ms", row->init_ms);
	control_add_key_i64(out, "bank-ms", row->bank_ms);
	control_add_key_i64(out, "bank-step-ms", row->bank_step_ms);
	control_add_key_i64(out, "lag-cap-ms", row->lag_cap_ms);
	if (row->grace_ms > 0)
		control_add_key_i64(out, "grace-ms", row->grace_ms);
	control_add_key_i64(out, "rated", row->is_rated ? 1 : 0);
	if (game->is_whole_input)
		control_add_key_i64(out, "whole-input", 1);
	control_add_key_i64(out, "waiting", ladder->nqueued);
	control_add_key_i64(out, "playing", ladder->nplaying);
	control_add_end(out);
}

void ladders_tell(struct lobby *lobby, struct lobby_peer *peer)
{
	size_t mark = lobby->scratch.len;
	unsigned count = 0;

	for (size_t i = 0; i < lobby->nladders; i++)
		count += lobby->ladders[i]->is_listed;
	control_add_word(&lobby->scratch, WORD_LADDERS);
	control_add_arg_i64(&lobby->scratch, count);
	control_add_end(&lobby->scratch);
	for (size_t i = 0; i < lobby->nladders; i++) {
		if (lobby->ladders[i]->is_listed)
			tell_ladder(lobby->ladders[i], &lobby->scratch);
	}
	peer_say(lobby, peer, mark);
}
