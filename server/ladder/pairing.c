/* SPDX-License-Identifier: MIT */
/*
 * pairing.c - the matchmaker; pairing.h states its rules.
 *
 * A table is filled seat by seat. Each seat that is taken adds, to the sum of
 * every candidate left, what a set with that bot would tell; the next seat
 * goes to the highest sum. So a table of S seats costs S - 1 passes.
 */
#include "server/ladder/pairing.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "server/ladder/pairing_memory.h"
#include "server/ladder/rating.h"

enum {
	FIRST_TRIES = 4, /* first seats tried before all are held back */
	SHY_TRIES = 32,  /* candidates looked at from their own side */
};

/* What weighs how much; tests/bench/ladder prints what comes of it. */
static const double OPEN_FLOOR = 0.1;    /* of how open an order is */
static const double REPEAT_DECAY = 0.93; /* a set later, a meeting counts so */
static const double REPEAT_WEIGHT = 2.0;
static const double WAIT_WEIGHT = 0.5;      /* of another seat's wait */
static const double UNCERTAIN_WEIGHT = 1.5; /* beside waiting, first seat */
static const double NOISE = 0.05;
static const double GOOD_ENOUGH = 0.5; /* of the best table, not held back */

/* What one call knows of a candidate. */
struct pairing_place {
	double mu, variance;
	double worth;   /* with those who sit already */
	double wait;    /* 1: overdue */
	bool is_out;    /* paused, or may not sit here */
	bool is_capped; /* met one at the table too often */
	bool was_first; /* tried, and its table held back */
};

/* One call's state. */
struct seating {
	struct pairing *pairing;
	const struct pairing_candidate *candidates;
	struct pairing_place *places;
	size_t count;
	int64_t now_us;
	bool has_house; /* a bot of the house may sit */
	bool is_house_alone;
	double powers[PAIRING_WINDOW];
	size_t table[LIMIT_SEATS];
	unsigned nseated;
	double worth; /* of all pairs at the table */
};

struct pairing_rules pairing_default_rules(unsigned seats)
{
	return (struct pairing_rules){
		.seats = seats,
		.patience_us = 10 * INT64_C(1000000),
		.house_wait_us = 20 * INT64_C(1000000),
		.house_settle_sigma = 5.0,
		.pair_cap = 3 * seats < 16 ? 3 * seats : 0,
		.pair_window = 16,
		.new_version_rounds = 3,
	};
}

void pairing_init(struct pairing *pairing, const struct pairing_rules *rules,
		  uint64_t seed)
{
	assert(rules->seats >= 2 && rules->seats <= LIMIT_SEATS);
	*pairing = (struct pairing){ .rules = *rules, .random = seed };
	pairing->memory = memory_new(rules->pair_window, rules->seats);
}

void pairing_release(struct pairing *pairing)
{
	memory_free(pairing->memory);
	free(pairing->scratch);
	*pairing = (struct pairing){ 0 };
}

uint64_t pairing_sets(const struct pairing *pairing)
{
	return pairing->nsets;
}

void pairing_note_begun(struct pairing *pairing, const uint64_t *bot_ids,
			size_t count)
{
	assert(count <= pairing->rules.seats);
	memory_note(pairing->memory, bot_ids, count);
	pairing->nsets++;
}

void pairing_note_ended(struct pairing *pairing, int64_t duration_us)
{
	int64_t known_us = pairing->set_us;

	/* One that hangs, or ends at once, says little about the others. */
	if (known_us != 0 && duration_us > 2 * known_us)
		duration_us = 2 * known_us;
	if (duration_us < 1)
		duration_us = 1;
	pairing->set_us = known_us == 0
				  ? duration_us
				  : known_us + (duration_us - known_us) / 8;
	if (pairing->set_us < 1)
		pairing->set_us = 1;
}

unsigned pairing_meetings(const struct pairing *pairing, uint64_t bot_id,
			  uint64_t other_id, unsigned window)
{
	return memory_meetings(pairing->memory, bot_id, other_id, window);
}

/* 0 .. 1; splitmix64, by Steele, Lea and Flood (OOPSLA 2014). */
static double next_random(struct pairing *pairing)
{
	uint64_t bits = pairing->random += UINT64_C(0x9e3779b97f4a7c15);

	bits = (bits ^ (bits >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	bits = (bits ^ (bits >> 27)) * UINT64_C(0x94d049bb133111eb);
	bits ^= bits >> 31;
	return (double)(bits >> 11) * 0x1p-53;
}

static uint64_t sets_passed(const struct seating *seating, size_t i)
{
	return seating->pairing->nsets -
	       seating->candidates[i].waiting_since_set;
}

static double noise(struct seating *seating)
{
	return 1 + NOISE * next_random(seating->pairing);
}

/* What a set of two bots tells, 0 when the outcome is known before. */
static double pair_gain(double distance, double variance)
{
	double beta = rating_model_default.beta;
	double noise_variance = 2 * beta * beta;
	double odds = exp(-distance / sqrt(noise_variance + variance));
	double open = odds / ((1 + odds) * (1 + odds));     /* p (1 - p) */
	double order = erfc(distance / sqrt(2 * variance)); /* 1: unknown */

	return log1p(variance * open / noise_variance) * (OPEN_FLOOR + order);
}

/* What a set with A, who stands to B as MET says, would tell. */
static double pair_worth(const struct seating *seating, size_t a, size_t b,
			 const struct acquaintance *met)
{
	const struct pairing_place *one = &seating->places[a];
	const struct pairing_place *other = &seating->places[b];

	return pair_gain(fabs(one->mu - other->mu),
			 one->variance + other->variance) /
	       (1 + REPEAT_WEIGHT * met->weight);
}

/* Two of one bot, or of one owner that is not the house. */
static bool are_related(const struct pairing_candidate *a,
			const struct pairing_candidate *b)
{
	return a->bot_id == b->bot_id ||
	       (a->owner_id == b->owner_id && !(a->is_house && b->is_house));
}

static bool is_house_unsettled(const struct seating *seating)
{
	for (size_t i = 0; i < seating->count; i++) {
		if (seating->candidates[i].sigma >
		    seating->pairing->rules.house_settle_sigma)
			return true;
	}
	return false;
}

static void prepare(struct seating *seating, size_t nbusy)
{
	const struct pairing_rules *rules = &seating->pairing->rules;
	double power = 1;

	for (unsigned i = 0; i < rules->pair_window; i++) {
		seating->powers[i] = power;
		power *= REPEAT_DECAY;
	}
	seating->is_house_alone = true;
	for (size_t i = 0; i < seating->count; i++) {
		const struct pairing_candidate *from = &seating->candidates[i];
		struct pairing_place *place = &seating->places[i];
		double sigma = from->sigma;

		*place = (struct pairing_place){ .mu = from->mu };
		if (from->is_new_version &&
		    from->rounds < rules->new_version_rounds) {
			place->mu = from->predecessor_mu;
			if (sigma > rating_model_default.beta)
				sigma = rating_model_default.beta;
		}
		place->variance = sigma * sigma;
		place->wait = (double)sets_passed(seating, i) /
			      (double)(seating->count + nbusy);
		place->was_first = from->paused_until_us > seating->now_us;
		if (place->was_first)
			continue;
		if (from->is_house)
			seating->has_house = true;
		else
			seating->is_house_alone = false;
	}
	if (seating->is_house_alone)
		seating->is_house_alone = is_house_unsettled(seating);
}

static bool is_overdue(const struct seating *seating, size_t i)
{
	return seating->places[i].wait >= 1 && !seating->candidates[i].is_house;
}

/* Is A to sit before B, both overdue: passed over more often, longer? */
static bool is_before(const struct seating *seating, size_t a, size_t b)
{
	const struct pairing_candidate *one = &seating->candidates[a];
	const struct pairing_candidate *other = &seating->candidates[b];

	if (one->waiting_since_set != other->waiting_since_set)
		return one->waiting_since_set < other->waiting_since_set;
	if (one->waiting_since_us != other->waiting_since_us)
		return one->waiting_since_us < other->waiting_since_us;
	return one->bot_id < other->bot_id;
}

/* Who takes the first seat: a place, or count when there is nobody left. */
static size_t choose_first(struct seating *seating)
{
	size_t best = seating->count, longest = seating->count;
	double best_score = 0;

	for (size_t i = 0; i < seating->count; i++) {
		const struct pairing_place *place = &seating->places[i];
		double score;

		if (place->was_first || (seating->candidates[i].is_house &&
					 !seating->is_house_alone))
			continue;
		if (is_overdue(seating, i) && (longest == seating->count ||
					       is_before(seating, i, longest)))
			longest = i;
		score = place->wait + UNCERTAIN_WEIGHT * sqrt(place->variance) /
					      rating_model_default.sigma;
		score *= noise(seating);
		if (best == seating->count || score > best_score) {
			best = i;
			best_score = score;
		}
	}
	return longest < seating->count ? longest : best;
}

/* I sits down: what everybody else is worth at this table now. */
static void seat(struct seating *seating, size_t i)
{
	const struct pairing_rules *rules = &seating->pairing->rules;
	const struct pairing_candidate *sitting = &seating->candidates[i];
	struct acquaintances known;

	seating->table[seating->nseated++] = i;
	seating->worth += seating->places[i].worth;
	if (seating->nseated == rules->seats)
		return;
	memory_acquaintances(seating->pairing->memory, sitting->bot_id,
			     seating->powers, &known);
	for (size_t k = 0; k < seating->count; k++) {
		const struct pairing_candidate *other = &seating->candidates[k];
		struct pairing_place *place = &seating->places[k];
		const struct acquaintance *met;

		if (place->is_out)
			continue;
		if (are_related(sitting, other)) {
			place->is_out = true;
			continue;
		}
		met = acquaintances_find(&known, other->bot_id);
		if (rules->pair_cap != 0 && met->meetings >= rules->pair_cap)
			place->is_capped = true;
		place->worth += pair_worth(seating, i, k, met);
	}
}

/* In which order seats are given away; lower is earlier. */
enum seat_class {
	CLASS_NEWCOMER, /* without a set, and passed over */
	CLASS_AUTHOR,
	CLASS_HOUSE,
	CLASS_CAPPED,
	CLASS_NONE,
};

static enum seat_class class_of(const struct seating *seating, size_t i)
{
	const struct pairing_candidate *candidate = &seating->candidates[i];
	const struct pairing_place *place = &seating->places[i];

	if (place->is_out)
		return CLASS_NONE;
	if (place->is_capped)
		return CLASS_CAPPED;
	if (candidate->is_house)
		return CLASS_HOUSE;
	if (candidate->rounds == 0 && sets_passed(seating, i) > 0)
		return CLASS_NEWCOMER;
	return CLASS_AUTHOR;
}

static size_t choose_next(struct seating *seating)
{
	enum seat_class best_class = CLASS_NONE;
	size_t best = seating->count;
	double best_score = 0;

	for (size_t i = 0; i < seating->count; i++) {
		const struct pairing_place *place = &seating->places[i];
		enum seat_class class = class_of(seating, i);
		double score;

		if (class == CLASS_NONE || class > best_class)
			continue;
		score = place->worth * (1 + WAIT_WEIGHT * place->wait) *
			noise(seating);
		if (class < best_class || score > best_score) {
			best_class = class;
			best = i;
			best_score = score;
		}
	}
	return best;
}

/* Has I, seen from its own side, met one at the table too often? */
static bool is_shy(const struct seating *seating, size_t i)
{
	const struct pairing *pairing = seating->pairing;

	for (unsigned k = 0; k < seating->nseated; k++) {
		uint64_t other_id =
			seating->candidates[seating->table[k]].bot_id;

		if (memory_meetings(pairing->memory,
				    seating->candidates[i].bot_id, other_id,
				    pairing->rules.pair_window) >=
		    pairing->rules.pair_cap)
			return true;
	}
	return false;
}

/* As choose_next(), but the cap holds from either side. Whom a slow bot met
 * often may have forgotten it: that is seen only here, for those chosen. */
static size_t choose_uncapped(struct seating *seating)
{
	for (int tries = 0;; tries++) {
		size_t next = choose_next(seating);

		if (next == seating->count || seating->places[next].is_capped ||
		    seating->pairing->rules.pair_cap == 0 ||
		    tries == SHY_TRIES || !is_shy(seating, next))
			return next;
		seating->places[next].is_capped = true;
	}
}

/* How much of the most that a table with this first seat could tell. */
static double table_quality(const struct seating *seating)
{
	const struct pairing_place *first = &seating->places[seating->table[0]];
	double pairs = seating->nseated * (seating->nseated - 1) / 2.0;

	return seating->worth / pairs / pair_gain(0, 2 * first->variance);
}

/* The longest that a table is held back for a better one. */
static int64_t patience_us(const struct pairing *pairing)
{
	int64_t most_us = pairing->rules.patience_us;

	if (pairing->set_us != 0 && pairing->set_us / 2 < most_us)
		most_us = pairing->set_us / 2;
	return most_us;
}

/* From when on the full table may begin. */
static int64_t begins_us(const struct seating *seating, size_t nbusy,
			 enum seat_class worst)
{
	const struct pairing *pairing = seating->pairing;
	size_t first = seating->table[0];
	int64_t since_us = seating->candidates[first].waiting_since_us;
	int64_t held_us = 0;
	double lack = 1 - table_quality(seating) / GOOD_ENOUGH;

	if (nbusy > 0 && worst == CLASS_CAPPED)
		lack = 1;
	if (nbusy > 0 && lack > 0 && !is_overdue(seating, first))
		held_us = (int64_t)(lack * (double)patience_us(pairing));
	if (worst == CLASS_HOUSE ||
	    (worst == CLASS_CAPPED && seating->has_house)) {
		if (held_us < pairing->rules.house_wait_us)
			held_us = pairing->rules.house_wait_us;
	}
	return since_us + held_us;
}

/*
 * Fill a table whose first seat FIRST has. Returns from when on it may begin;
 * INT64_MAX: there are not enough.
 */
static int64_t fill_table(struct seating *seating, size_t first, size_t nbusy)
{
	enum seat_class worst = CLASS_NEWCOMER;

	seating->nseated = 0;
	seating->worth = 0;
	for (size_t i = 0; i < seating->count; i++) {
		struct pairing_place *place = &seating->places[i];

		place->is_out = seating->candidates[i].paused_until_us >
				seating->now_us;
		place->is_capped = false;
		place->worth = 0;
	}
	seat(seating, first);
	while (seating->nseated < seating->pairing->rules.seats) {
		size_t next = choose_uncapped(seating);
		enum seat_class class;

		if (next == seating->count)
			return INT64_MAX;
		class = class_of(seating, next);
		if (class > worst)
			worst = class;
		seat(seating, next);
	}
	return begins_us(seating, nbusy, worst);
}

/* When the next pause ends: there may be enough then. */
static int64_t next_unpaused(const struct seating *seating)
{
	int64_t until_us = INT64_MAX;

	for (size_t i = 0; i < seating->count; i++) {
		int64_t paused_us = seating->candidates[i].paused_until_us;

		if (paused_us > seating->now_us && paused_us < until_us)
			until_us = paused_us;
	}
	return until_us;
}

static void reserve(struct pairing *pairing, size_t count)
{
	if (count <= pairing->scratch_cap)
		return;
	free(pairing->scratch);
	pairing->scratch_cap = count + count / 2;
	pairing->scratch =
		xcalloc(pairing->scratch_cap, sizeof(struct pairing_place));
}

enum pairing_verdict pairing_next(struct pairing *pairing,
				  const struct pairing_candidate *candidates,
				  size_t count, size_t nbusy, int64_t now_us,
				  struct pairing_table *ret_table)
{
	struct seating seating = {
		.pairing = pairing,
		.candidates = candidates,
		.count = count,
		.now_us = now_us,
	};
	int64_t until_us;

	ret_table->until_us = INT64_MAX;
	if (count < pairing->rules.seats)
		return PAIRING_WAIT;
	reserve(pairing, count);
	seating.places = pairing->scratch;
	prepare(&seating, nbusy);
	until_us = next_unpaused(&seating);
	for (int tries = 0; tries < FIRST_TRIES; tries++) {
		size_t first = choose_first(&seating);
		int64_t filled_us;

		if (first == count)
			break;
		filled_us = fill_table(&seating, first, nbusy);
		if (filled_us <= now_us) {
			for (unsigned i = 0; i < seating.nseated; i++)
				ret_table->seats[i] = seating.table[i];
			return PAIRING_SEATED;
		}
		if (filled_us < until_us)
			until_us = filled_us;
		seating.places[first].was_first = true;
	}
	ret_table->until_us = until_us;
	return PAIRING_WAIT;
}
