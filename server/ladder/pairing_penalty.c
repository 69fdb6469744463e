/* SPDX-License-Identifier: MIT */
#include "server/ladder/pairing_penalty.h"

/* Forget what has been atoned for by NOW_US. */
static void forget(struct pairing_penalty *penalty, int64_t now_us)
{
	while (penalty->points > 0 &&
	       now_us - penalty->since_us >= PENALTY_FORGET_US) {
		penalty->points--;
		penalty->since_us += PENALTY_FORGET_US;
	}
}

static uint32_t add(struct pairing_penalty *penalty, uint32_t points,
		    int64_t now_us)
{
	int64_t pause_us = PENALTY_FIRST_US;

	forget(penalty, now_us);
	penalty->points += points;
	if (penalty->points > PENALTY_MAX_POINTS)
		penalty->points = PENALTY_MAX_POINTS;
	penalty->since_us = now_us;
	if (penalty->points < 2)
		return penalty_retry_after(penalty, now_us);
	for (uint32_t i = 2; i < penalty->points && pause_us < PENALTY_MAX_US;
	     i++)
		pause_us *= 2;
	if (pause_us > PENALTY_MAX_US)
		pause_us = PENALTY_MAX_US;
	if (penalty->paused_until_us < now_us + pause_us)
		penalty->paused_until_us = now_us + pause_us;
	return penalty_retry_after(penalty, now_us);
}

uint32_t penalty_note_withdrawal(struct pairing_penalty *penalty,
				 int64_t now_us)
{
	return add(penalty, 1, now_us);
}

uint32_t penalty_note_forfeit(struct pairing_penalty *penalty, int64_t now_us)
{
	return add(penalty, 2, now_us);
}

void penalty_note_completed(struct pairing_penalty *penalty, int64_t now_us)
{
	forget(penalty, now_us);
	if (penalty->points > 0)
		penalty->points--;
}

uint32_t penalty_retry_after(const struct pairing_penalty *penalty,
			     int64_t now_us)
{
	int64_t left_us = penalty->paused_until_us - now_us;

	if (penalty->paused_until_us == 0 || left_us <= 0)
		return 0;
	return (uint32_t)((left_us + 999999) / 1000000);
}
