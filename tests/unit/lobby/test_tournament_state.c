/* SPDX-License-Identifier: MIT */
/* test_tournament_state.c - what a reading of the catalogue changes. */
#include <stdlib.h>
#include <string.h>

#include "server/lobby/tournament_internal.h"
#include "tests/unit/unit.h"

enum { ENTRANTS = 9, ROUNDS = 5, MATCHES_MAX = 64 };

/* A Swiss tournament of two seats, and what the disk has of it. */
struct book {
	struct row_tournament row; /* its arrays are the next four */
	struct row_entrant entrants[ENTRANTS];
	struct row_tournament_match matches[MATCHES_MAX];
	int64_t map_id;
	int64_t voids[MATCHES_MAX];
	struct lobby_tournament *t;
	int64_t last_id;
	uint64_t random;
};

static unsigned draw(struct book *book, unsigned below)
{
	book->random = book->random * UINT64_C(6364136223846793005) + 1;
	return (unsigned)(book->random >> 33) % below;
}

static struct lobby_tournament *fresh(const struct row_tournament *row)
{
	struct lobby_tournament *t = xcalloc(1, sizeof(*t));

	tournament_state_take(t, row);
	return t;
}

static void open_book_of(struct book *book, uint64_t seed,
			 const struct tournament_rules *rules)
{
	memset(book, 0, sizeof(*book));
	book->random = seed;
	book->row = (struct row_tournament){
		.id = 7,
		.state = ROW_TOURNAMENT_RUNNING,
		.rules = *rules,
		.map_ids = &book->map_id,
		.nmaps = 1,
		.entrants = book->entrants,
		.nentrants = ENTRANTS,
		.matches = book->matches,
		.voids = book->voids,
	};
	book->row.rules.seats = book->row.rules.group = 2;
	book->row.rules.seed = seed;
	for (unsigned i = 0; i < ENTRANTS; i++)
		book->entrants[i].bot_id = 100 - i;
	book->t = fresh(&book->row);
}

static void open_book(struct book *book, uint64_t seed)
{
	static const struct tournament_rules rules = {
		.format = TOURNAMENT_SWISS, .sets = 1, .rounds = ROUNDS
	};

	open_book_of(book, seed, &rules);
}

/* The next match of the book's tournament is played; false: there is none. */
static bool play(struct book *book, struct row_tournament_match *ret)
{
	struct tournament_match next[ENTRANTS];
	size_t count = tournament_next(book->t->state, next, ENTRANTS);
	const struct tournament_match *match;
	unsigned winner = draw(book, 2);

	if (count == 0)
		return false;
	match = &next[draw(book, (unsigned)count)];
	*ret = (struct row_tournament_match){ .match_id = ++book->last_id,
					      .nseats = match->nseats };
	memcpy(ret->entrants, match->entrants, sizeof(ret->entrants));
	ret->result.pairing = match->pairing;
	ret->result.set = match->set;
	ret->result.turn = match->turn;
	ret->result.absent = match->absent;
	for (unsigned s = 0; s < 2; s++) {
		ret->result.ranks[s] = s == winner ? 1 : 2;
		ret->result.points[s] = s == winner;
	}
	assert_int_equal(tournament_state_add(book->t, ret), 0);
	return true;
}

static int order(const struct row_tournament_match *left,
		 const struct row_tournament_match *right)
{
	const struct tournament_result *a = &left->result, *b = &right->result;

	if (a->pairing != b->pairing)
		return a->pairing < b->pairing ? -1 : 1;
	return a->set < b->set ? -1 : a->set > b->set;
}

/* MATCH reaches the disk. */
static void write_match(struct book *book,
			const struct row_tournament_match *match)
{
	size_t at = 0;

	while (at < book->row.nmatches && order(&book->matches[at], match) < 0)
		at++;
	if (at == book->row.nmatches || order(&book->matches[at], match) > 0) {
		memmove(&book->matches[at + 1], &book->matches[at],
			(book->row.nmatches - at) * sizeof(*match));
		book->row.nmatches++;
	}
	book->matches[at] = *match;
}

static void play_and_write(struct book *book, unsigned count)
{
	struct row_tournament_match match;

	while (count-- > 0 && play(book, &match))
		write_match(book, &match);
}

/* The host makes the match at AT void; the disk lists those in order. */
static void make_void(struct book *book, size_t at)
{
	int64_t id = book->matches[at].match_id;
	size_t i = book->row.nvoids++;

	for (; i > 0 && book->voids[i - 1] > id; i--)
		book->voids[i] = book->voids[i - 1];
	book->voids[i] = id;
	book->row.nmatches--;
	memmove(&book->matches[at], &book->matches[at + 1],
		(book->row.nmatches - at) * sizeof(book->matches[0]));
}

/* As if all that is known had been read at a start. */
static void expect_as_if_read(const struct lobby_tournament *t)
{
	struct lobby_tournament *other = fresh(&t->row);
	struct tournament_standing table[2][ENTRANTS];
	struct tournament_match next[2][MATCHES_MAX];
	size_t count = tournament_next(t->state, next[0], MATCHES_MAX);

	assert_int_equal(tournament_next(other->state, next[1], MATCHES_MAX),
			 count);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(next[0][i].pairing, next[1][i].pairing);
		assert_int_equal(next[0][i].set, next[1][i].set);
		assert_int_equal(next[0][i].absent, next[1][i].absent);
		assert_memory_equal(next[0][i].entrants, next[1][i].entrants,
				    2 * sizeof(next[0][i].entrants[0]));
	}
	tournament_standings(t->state, table[0]);
	tournament_standings(other->state, table[1]);
	for (unsigned i = 0; i < ENTRANTS; i++) {
		assert_int_equal(table[0][i].entrant, table[1][i].entrant);
		assert_int_equal(table[0][i].rank, table[1][i].rank);
		assert_int_equal(table[0][i].half_points,
				 table[1][i].half_points);
	}
	assert_int_equal(tournament_state_left_out(t),
			 tournament_state_left_out(other));
	tournament_state_free(other);
}

static void what_is_known_is_not_counted_again(void **state)
{
	struct book book;
	const struct tournament *before;

	(void)state;
	open_book(&book, 1);
	play_and_write(&book, 7);
	before = book.t->state;
	book.row.is_embargo = true;
	tournament_state_take(book.t, &book.row);
	assert_ptr_equal(book.t->state, before);
	assert_true(book.t->row.is_embargo);
	/* Nor when the reading is older than the last results. */
	book.row.nmatches = 5;
	tournament_state_take(book.t, &book.row);
	assert_ptr_equal(book.t->state, before);
	assert_int_equal(book.t->row.nmatches, 7);
	expect_as_if_read(book.t);
	tournament_state_free(book.t);
}

static void what_is_new_is_added(void **state)
{
	struct lobby_tournament *behind;
	const struct tournament *before;
	struct book book;

	(void)state;
	open_book(&book, 2);
	play_and_write(&book, 3);
	behind = fresh(&book.row);
	before = behind->state;
	play_and_write(&book, 9);
	tournament_state_take(behind, &book.row);
	assert_ptr_equal(behind->state, before);
	assert_int_equal(behind->row.nmatches, 12);
	assert_int_equal(tournament_matches_done(behind->state), 12);
	expect_as_if_read(behind);
	tournament_state_free(behind);
	tournament_state_free(book.t);
}

static void who_withdraws_is_paired_no_more(void **state)
{
	struct book book;
	struct tournament_match next[ENTRANTS];
	size_t count;

	(void)state;
	open_book(&book, 3);
	play_and_write(&book, 4); /* the first round */
	book.entrants[0].out_round = 2;
	tournament_state_take(book.t, &book.row);
	count = tournament_next(book.t->state, next, ENTRANTS);
	assert_int_equal(count, 4);
	for (size_t i = 0; i < count; i++)
		assert_true(next[i].entrants[0] != 0 &&
			    next[i].entrants[1] != 0);
	tournament_state_free(book.t);
}

/* From a round that is not made yet: what is made stays. */
static void who_withdraws_changes_no_more_than_that(void **state)
{
	const struct tournament *before;
	struct tournament_match next[ENTRANTS];
	struct book book;
	size_t count;

	(void)state;
	open_book(&book, 3);
	play_and_write(&book, 4);
	before = book.t->state;
	book.entrants[0].out_round = 3;
	tournament_state_take(book.t, &book.row);
	assert_ptr_equal(book.t->state, before);
	expect_as_if_read(book.t);
	play_and_write(&book, 4);
	count = tournament_next(book.t->state, next, ENTRANTS);
	assert_int_equal(count, 4);
	for (size_t i = 0; i < count; i++)
		assert_true(next[i].entrants[0] != 0 &&
			    next[i].entrants[1] != 0);
	tournament_state_free(book.t);
}

static void a_void_match_of_the_last_round_is_just_taken_out(void **state)
{
	const struct tournament *before;
	struct book book;

	(void)state;
	open_book(&book, 4);
	play_and_write(&book, 6);
	before = book.t->state;
	make_void(&book, 5);
	tournament_state_take(book.t, &book.row);
	assert_ptr_equal(book.t->state, before);
	assert_int_equal(tournament_matches_done(before), 5);
	expect_as_if_read(book.t);
	/* The second round comes of the first one. */
	make_void(&book, 0);
	tournament_state_take(book.t, &book.row);
	assert_int_equal(tournament_matches_done(book.t->state), 3);
	assert_int_equal(tournament_state_left_out(book.t), 1);
	expect_as_if_read(book.t);
	play_and_write(&book, 1);
	expect_as_if_read(book.t);
	tournament_state_free(book.t);
}

static const struct tournament_rules all_rules[] = {
	{ .format = TOURNAMENT_SWISS, .sets = 1, .rounds = ROUNDS },
	{ .format = TOURNAMENT_SWISS, .sets = 3, .rounds = ROUNDS },
	{ .format = TOURNAMENT_ROUND_ROBIN, .sets = 1 },
	{ .format = TOURNAMENT_SINGLE, .sets = 3 },
	{ .format = TOURNAMENT_DOUBLE, .sets = 1 },
};

/*
 * Results come and go, entrants leave, readings lag: it is as if all had been
 * read at once.
 */
static void any_reading_is_as_good_as_a_start(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 60 * COUNT_OF(all_rules); seed++) {
		struct row_tournament_match match, late[MATCHES_MAX];
		size_t nlate = 0;
		struct book book;

		open_book_of(&book, seed,
			     &all_rules[seed % COUNT_OF(all_rules)]);
		for (unsigned step = 0; step < 60; step++) {
			size_t at = draw(&book, MATCHES_MAX);
			struct row_entrant *who =
				&book.entrants[draw(&book, ENTRANTS)];

			if (draw(&book, 2) == 0 && play(&book, &match))
				late[nlate++] = match;
			if (draw(&book, 3) == 0)
				while (nlate > 0)
					write_match(&book, &late[--nlate]);
			if (draw(&book, 12) == 0 && at < book.row.nmatches)
				make_void(&book, at);
			if (draw(&book, 40) == 0 && who->out_round == 0)
				who->out_round =
					tournament_round(book.t->state) +
					draw(&book, 2);
			if (draw(&book, 2) == 0)
				tournament_state_take(book.t, &book.row);
			expect_as_if_read(book.t);
		}
		tournament_state_free(book.t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_known_is_not_counted_again),
		cmocka_unit_test(what_is_new_is_added),
		cmocka_unit_test(who_withdraws_is_paired_no_more),
		cmocka_unit_test(who_withdraws_changes_no_more_than_that),
		cmocka_unit_test(
			a_void_match_of_the_last_round_is_just_taken_out),
		cmocka_unit_test(any_reading_is_as_good_as_a_start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
