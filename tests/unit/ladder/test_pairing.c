/* SPDX-License-Identifier: MIT */
#include "server/ladder/pairing.h"

#include "tests/simulate/simulate.h"
#include "tests/unit/unit.h"

#define NOW (1000 * SIM_SECOND)

/* What a test seats: candidates of owners of their own, all settled equals
 * that came just now. */
struct hall {
	struct pairing pairing;
	struct pairing_candidate bots[SIM_BOTS];
	size_t count;
	struct pairing_table table;
};

static void open_hall(struct hall *hall, unsigned seats, size_t count)
{
	struct pairing_rules rules = pairing_default_rules(seats);

	*hall = (struct hall){ .count = count };
	pairing_init(&hall->pairing, &rules, 7);
	for (size_t i = 0; i < count; i++)
		hall->bots[i] = (struct pairing_candidate){
			.bot_id = i + 1,
			.owner_id = (int64_t)i + 1,
			.mu = 25,
			.sigma = 1.5,
			.rounds = 40,
			.waiting_since_us = NOW,
		};
}

static enum pairing_verdict seat_at(struct hall *hall, size_t nbusy,
				    int64_t now_us)
{
	return pairing_next(&hall->pairing, hall->bots, hall->count, nbusy,
			    now_us, &hall->table);
}

static bool sits(const struct hall *hall, size_t bot)
{
	for (unsigned i = 0; i < hall->pairing.rules.seats; i++) {
		if (hall->table.seats[i] == bot)
			return true;
	}
	return false;
}

/* Bots A and B play TIMES sets. */
static void let_meet(struct hall *hall, size_t a, size_t b, int times)
{
	uint64_t ids[2] = { a + 1, b + 1 };

	for (int i = 0; i < times; i++)
		pairing_note_begun(&hall->pairing, ids, 2);
	for (size_t i = 0; i < hall->count; i++)
		hall->bots[i].waiting_since_set = pairing_sets(&hall->pairing);
}

static void waits_for_enough_bots(void **state)
{
	struct hall hall;

	(void)state;
	open_hall(&hall, 4, 3);
	assert_int_equal(seat_at(&hall, 0, NOW), PAIRING_WAIT);
	assert_true(hall.table.until_us == INT64_MAX);
	pairing_release(&hall.pairing);
}

static void seats_no_two_of_one_owner(void **state)
{
	struct hall hall;

	(void)state;
	open_hall(&hall, 4, 12);
	for (size_t i = 0; i < 12; i++)
		hall.bots[i].owner_id = (int64_t)i % 4;
	for (int turn = 0; turn < 200; turn++) {
		unsigned owners = 0;

		assert_int_equal(seat_at(&hall, 0, NOW), PAIRING_SEATED);
		for (unsigned i = 0; i < 4; i++)
			owners |= 1u << hall.bots[hall.table.seats[i]].owner_id;
		assert_int_equal(owners, 0xf);
	}
	/* Three owners fill no four seats, however long they wait. */
	for (size_t i = 0; i < 12; i++)
		hall.bots[i].owner_id = (int64_t)i % 3;
	assert_int_equal(seat_at(&hall, 0, 100 * NOW), PAIRING_WAIT);
	pairing_release(&hall.pairing);
}

static void seats_no_bot_beside_itself(void **state)
{
	struct hall hall;

	(void)state;
	open_hall(&hall, 2, 2);
	hall.bots[1].bot_id = hall.bots[0].bot_id;
	assert_int_equal(seat_at(&hall, 0, 100 * NOW), PAIRING_WAIT);
	pairing_release(&hall.pairing);
}

static void seats_the_overdue_first(void **state)
{
	struct hall hall;

	(void)state;
	open_hall(&hall, 2, 10);
	let_meet(&hall, 8, 9, 25);
	/* A hopeless, certain bot, passed over by more sets than bots. */
	hall.bots[3].mu = -40;
	hall.bots[3].waiting_since_set -= 13;
	hall.bots[4].waiting_since_set -= 12;
	/* This one would otherwise be first. */
	hall.bots[5].sigma = 25.0 / 3;
	for (int turn = 0; turn < 50; turn++) {
		assert_int_equal(seat_at(&hall, 2, NOW), PAIRING_SEATED);
		assert_int_equal(hall.table.seats[0], 3);
	}
	pairing_release(&hall.pairing);
}

static void seats_a_newcomer_in_its_second_set(void **state)
{
	struct hall hall;

	(void)state;
	open_hall(&hall, 2, 10);
	let_meet(&hall, 8, 9, 25);
	/* Overdue ones are there too: the newcomer takes the other seat. */
	for (size_t i = 0; i < 5; i++)
		hall.bots[i].waiting_since_set -= 11 + i;
	hall.bots[7].rounds = 0;
	hall.bots[7].sigma = 25.0 / 3;
	hall.bots[7].mu = -60;
	hall.bots[7].waiting_since_set--;
	for (int turn = 0; turn < 50; turn++) {
		assert_int_equal(seat_at(&hall, 0, NOW), PAIRING_SEATED);
		assert_true(sits(&hall, 7));
		assert_true(sits(&hall, 4));
	}
	pairing_release(&hall.pairing);
}

static void lets_near_equals_meet(void **state)
{
	struct hall hall;
	unsigned near = 0;

	(void)state;
	open_hall(&hall, 2, 20);
	for (size_t i = 0; i < 20; i++)
		hall.bots[i].mu = 2.0 * (double)i;
	for (int turn = 0; turn < 400; turn++) {
		size_t a, b;

		assert_int_equal(seat_at(&hall, 0, NOW), PAIRING_SEATED);
		a = hall.table.seats[0];
		b = hall.table.seats[1];
		near += (a > b ? a - b : b - a) <= 3;
		let_meet(&hall, a, b, 1);
	}
	assert_true(near > 330);
	pairing_release(&hall.pairing);
}

static void starts_a_new_version_near_its_predecessor(void **state)
{
	struct hall hall;

	(void)state;
	open_hall(&hall, 2, 20);
	for (size_t i = 0; i < 20; i++)
		hall.bots[i].mu = 3.0 * (double)i;
	hall.bots[0].mu = 25;
	hall.bots[0].sigma = 25.0 / 3;
	hall.bots[0].rounds = 0;
	hall.bots[0].is_new_version = true;
	hall.bots[0].predecessor_mu = 57;
	for (int turn = 0; turn < 50; turn++) {
		assert_int_equal(seat_at(&hall, 0, NOW), PAIRING_SEATED);
		assert_true(sits(&hall, 0));
		assert_true(hall.table.seats[0] + hall.table.seats[1] >= 16);
	}
	/* Once it has played its first rounds, its own rating counts. */
	hall.bots[0].rounds = 3;
	assert_int_equal(seat_at(&hall, 0, NOW), PAIRING_SEATED);
	assert_true(sits(&hall, 0));
	assert_true(hall.table.seats[0] + hall.table.seats[1] < 15);
	pairing_release(&hall.pairing);
}

static void seats_nobody_who_pauses(void **state)
{
	struct hall hall;

	(void)state;
	open_hall(&hall, 2, 2);
	hall.bots[1].paused_until_us = NOW + 5;
	assert_int_equal(seat_at(&hall, 0, NOW), PAIRING_WAIT);
	assert_true(hall.table.until_us == NOW + 5);
	assert_int_equal(seat_at(&hall, 0, NOW + 5), PAIRING_SEATED);
	pairing_release(&hall.pairing);
}

static void holds_a_rematch_back_while_others_play(void **state)
{
	struct hall hall;
	int64_t most_us;

	(void)state;
	open_hall(&hall, 2, 2);
	pairing_note_ended(&hall.pairing, 4 * SIM_SECOND);
	most_us = NOW + 2 * SIM_SECOND; /* half a set */
	let_meet(&hall, 0, 1, 1);
	assert_int_equal(seat_at(&hall, 6, NOW), PAIRING_WAIT);
	assert_true(hall.table.until_us > NOW);
	assert_true(hall.table.until_us <= most_us);
	assert_int_equal(seat_at(&hall, 6, hall.table.until_us),
			 PAIRING_SEATED);
	/* With nobody else to come there is nothing to wait for. */
	assert_int_equal(seat_at(&hall, 0, NOW), PAIRING_SEATED);
	/* And somebody else is taken at once. */
	hall.count = 3;
	hall.bots[2] = hall.bots[1];
	hall.bots[2].bot_id = hall.bots[2].owner_id = 3;
	assert_int_equal(seat_at(&hall, 6, NOW), PAIRING_SEATED);
	assert_true(sits(&hall, 2));
	pairing_release(&hall.pairing);
}

static void caps_a_pair_while_others_wait(void **state)
{
	struct hall hall;

	(void)state;
	open_hall(&hall, 2, 3);
	let_meet(&hall, 0, 1, 6);
	/* The third is no match for them, and still the one to play. */
	hall.bots[2].mu = -40;
	for (int turn = 0; turn < 50; turn++) {
		assert_int_equal(seat_at(&hall, 0, NOW), PAIRING_SEATED);
		assert_true(sits(&hall, 2));
	}
	/* A house bot goes before the capped one, too, in its time. */
	hall.bots[2].is_house = true;
	assert_int_equal(seat_at(&hall, 0, NOW), PAIRING_WAIT);
	assert_true(hall.table.until_us == NOW + 20 * SIM_SECOND);
	assert_int_equal(seat_at(&hall, 0, hall.table.until_us),
			 PAIRING_SEATED);
	assert_true(sits(&hall, 2));
	/* Where nobody else is there, the two may play; as late as can be
	 * where others are in play. */
	hall.count = 2;
	assert_int_equal(seat_at(&hall, 4, NOW), PAIRING_WAIT);
	assert_true(hall.table.until_us == NOW + 10 * SIM_SECOND);
	assert_int_equal(seat_at(&hall, 0, NOW), PAIRING_SEATED);
	pairing_release(&hall.pairing);
}

static void caps_a_pair_that_only_the_slow_one_remembers(void **state)
{
	struct hall hall;

	(void)state;
	open_hall(&hall, 2, 20);
	let_meet(&hall, 0, 1, 6);
	/* Bot 0 plays 16 sets with others meanwhile. */
	for (size_t i = 0; i < 16; i++)
		let_meet(&hall, 0, 3 + i, 1);
	hall.count = 3;
	hall.bots[2].mu = -40;
	hall.bots[0].sigma = 8; /* it takes the first seat */
	for (int turn = 0; turn < 50; turn++) {
		assert_int_equal(seat_at(&hall, 0, NOW), PAIRING_SEATED);
		assert_false(sits(&hall, 0) && sits(&hall, 1));
	}
	pairing_release(&hall.pairing);
}

static void house_bots_fill_seats_after_a_while(void **state)
{
	struct hall hall;
	int64_t house_us = NOW + 20 * SIM_SECOND;

	(void)state;
	open_hall(&hall, 4, 5);
	for (size_t i = 2; i < 5; i++) {
		hall.bots[i].is_house = true;
		hall.bots[i].owner_id = 99; /* the host's, all of them */
	}
	assert_int_equal(seat_at(&hall, 0, NOW), PAIRING_WAIT);
	assert_true(hall.table.until_us == house_us);
	assert_int_equal(seat_at(&hall, 0, house_us), PAIRING_SEATED);
	assert_true(sits(&hall, 0));
	assert_true(sits(&hall, 1));
	/* An author alone is ranked as well. */
	hall.bots[1].paused_until_us = INT64_MAX;
	assert_int_equal(seat_at(&hall, 0, house_us), PAIRING_SEATED);
	assert_true(sits(&hall, 0));
	/* Where enough authors wait, no house bot sits. */
	for (size_t i = 1; i < 4; i++) {
		hall.bots[i].is_house = false;
		hall.bots[i].paused_until_us = 0;
		hall.bots[i].owner_id = (int64_t)i + 1;
	}
	assert_int_equal(seat_at(&hall, 0, house_us), PAIRING_SEATED);
	assert_false(sits(&hall, 4));
	pairing_release(&hall.pairing);
}

static void house_bots_alone_play_till_they_are_settled(void **state)
{
	struct hall hall;
	int64_t house_us = NOW + 20 * SIM_SECOND;

	(void)state;
	open_hall(&hall, 2, 3);
	for (size_t i = 0; i < 3; i++) {
		hall.bots[i].is_house = true;
		hall.bots[i].owner_id = 99;
	}
	assert_int_equal(seat_at(&hall, 0, house_us), PAIRING_WAIT);
	assert_true(hall.table.until_us == INT64_MAX);
	hall.bots[1].sigma = 25.0 / 3;
	assert_int_equal(seat_at(&hall, 0, NOW), PAIRING_WAIT);
	assert_true(hall.table.until_us == house_us);
	assert_int_equal(seat_at(&hall, 0, house_us), PAIRING_SEATED);
	assert_true(sits(&hall, 1));
	pairing_release(&hall.pairing);
}

/* The bound of rule 2, whoever waits, comes and goes. */
static void passes_nobody_over_for_twice_the_bots(void **state)
{
	static struct sim sim;

	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++) {
		size_t nbots = 4 + seed % 20;

		sim_init(&sim, SIM_PAIRING, 2 + (unsigned)seed % 3, nbots,
			 seed);
		sim.max_running = (unsigned)seed % 4;
		if (seed % 2 == 0)
			sim_make_lively(&sim);
		/* One that nobody would choose for what it tells. */
		sim.bots[0].strength = -200;
		for (int i = 0; i < 400; i++)
			assert_non_null(sim_run(&sim));
		for (size_t i = 0; i < nbots; i++)
			assert_true(sim.bots[i].longest_sets < 2 * nbots);
		sim_release(&sim);
	}
}

static void gives_the_same_tables_for_the_same_seed(void **state)
{
	static struct sim one, other;

	(void)state;
	sim_init(&one, SIM_PAIRING, 3, 12, 5);
	sim_init(&other, SIM_PAIRING, 3, 12, 5);
	for (int i = 0; i < 200; i++) {
		const struct sim_set *set = sim_run(&one);
		size_t first = set->bots[0], second = set->bots[1];

		set = sim_run(&other);
		assert_int_equal(set->bots[0], first);
		assert_int_equal(set->bots[1], second);
	}
	sim_release(&one);
	sim_release(&other);
}

static void remembers_who_met_whom_lately(void **state)
{
	struct hall hall;

	(void)state;
	open_hall(&hall, 2, 4);
	let_meet(&hall, 0, 1, 3);
	let_meet(&hall, 0, 2, 2);
	assert_int_equal(pairing_meetings(&hall.pairing, 1, 2, 16), 3);
	assert_int_equal(pairing_meetings(&hall.pairing, 2, 1, 2), 2);
	assert_int_equal(pairing_meetings(&hall.pairing, 1, 2, 3), 1);
	assert_int_equal(pairing_meetings(&hall.pairing, 1, 4, 16), 0);
	let_meet(&hall, 0, 3, 14);
	assert_int_equal(pairing_meetings(&hall.pairing, 1, 2, 16), 0);
	assert_int_equal(pairing_meetings(&hall.pairing, 2, 1, 16), 3);
	pairing_release(&hall.pairing);
}

static void forgets_who_has_not_played_for_longest(void **state)
{
	struct hall hall;

	(void)state;
	open_hall(&hall, 2, 2);
	let_meet(&hall, 0, 1, 1);
	for (uint64_t id = 10; id < 10 + 2 * PAIRING_BOTS; id += 2) {
		uint64_t ids[2] = { id, id + 1 };

		if (id == 10 + PAIRING_BOTS / 2)
			let_meet(&hall, 0, 1, 1);
		pairing_note_begun(&hall.pairing, ids, 2);
		if (id == 10 + PAIRING_BOTS)
			assert_int_equal(
				pairing_meetings(&hall.pairing, 1, 2, 16), 2);
	}
	assert_int_equal(pairing_meetings(&hall.pairing, 1, 2, 16), 0);
	assert_int_equal(pairing_meetings(&hall.pairing, 8 + 2 * PAIRING_BOTS,
					  9 + 2 * PAIRING_BOTS, 16),
			 1);
	pairing_release(&hall.pairing);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waits_for_enough_bots),
		cmocka_unit_test(seats_no_two_of_one_owner),
		cmocka_unit_test(seats_no_bot_beside_itself),
		cmocka_unit_test(seats_the_overdue_first),
		cmocka_unit_test(seats_a_newcomer_in_its_second_set),
		cmocka_unit_test(lets_near_equals_meet),
		cmocka_unit_test(starts_a_new_version_near_its_predecessor),
		cmocka_unit_test(seats_nobody_who_pauses),
		cmocka_unit_test(holds_a_rematch_back_while_others_play),
		cmocka_unit_test(caps_a_pair_while_others_wait),
		cmocka_unit_test(caps_a_pair_that_only_the_slow_one_remembers),
		cmocka_unit_test(house_bots_fill_seats_after_a_while),
		cmocka_unit_test(house_bots_alone_play_till_they_are_settled),
		cmocka_unit_test(passes_nobody_over_for_twice_the_bots),
		cmocka_unit_test(gives_the_same_tables_for_the_same_seed),
		cmocka_unit_test(remembers_who_met_whom_lately),
		cmocka_unit_test(forgets_who_has_not_played_for_longest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
