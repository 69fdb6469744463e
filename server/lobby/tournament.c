/* SPDX-License-Identifier: MIT */
/*
 * tournament.c - the host's tournaments are played.
 *
 * Each running one is kept with its results, from which server/ladder says
 * what is to be played. For that appointments are made, for each entrant as
 * many at once as it has connections that wait on the ladder. Matches whose
 * entrants are all there come first. Only when nothing else of the tournament
 * can be played the absent are waited for, until the grace is over; then they
 * lose by forfeit, and are not waited for again before they have been there.
 *
 * A forfeit counts here as soon as it is on its way to the store, for nothing
 * that follows from it can reach the disk before it. A match counts when it is
 * on disk. So the disk always holds a beginning of what was decided here, and
 * the rest follows from that again after a crash.
 */
#include "server/lobby/appointment.h"
#include "server/lobby/start.h"
#include "server/lobby/tournament_internal.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/match/record.h"

enum {
	STRIKES_MAX = 2, /* offers in a row that a bot does not take up */
	VOIDS_MAX = 100, /* matches that were our fault: something is broken */
	NEXT_MAX = 2 * TOURNAMENT_ENTRANTS_MAX
};

static struct lobby_tournament *find(const struct lobby *lobby, int64_t id)
{
	for (size_t i = 0; i < lobby->ntournaments; i++)
		if (lobby->tournaments[i]->row.id == id)
			return lobby->tournaments[i];
	return NULL;
}

void tournaments_release(struct lobby *lobby)
{
	for (size_t i = 0; i < lobby->ntournaments; i++)
		tournament_state_free(lobby->tournaments[i]);
	free(lobby->tournaments);
	lobby->tournaments = NULL;
	lobby->ntournaments = 0;
}

/* ---- results ---- */

static void match_of(const struct lobby_tournament *t,
		     const struct match_meeting *meeting,
		     struct row_tournament_match *ret)
{
	unsigned turns = tournament_turns(&t->row.rules);

	memset(ret, 0, sizeof(*ret));
	ret->result.pairing = meeting->pairing;
	ret->result.set = meeting->number / turns;
	ret->result.turn = meeting->number % turns;
	ret->result.absent = meeting->absent;
	ret->nseats = meeting->nseats;
	memcpy(ret->entrants, meeting->entrants, sizeof(ret->entrants));
}

/* Add a result here. */
static void count(struct lobby *lobby, struct lobby_tournament *t,
		  const struct row_tournament_match *match)
{
	int err = tournament_state_add(t, match);

	if (err != 0)
		action_log(lobby, LOG_LEVEL_WARN,
			   "tournament=%s event=left-out pairing=%u reason=%d",
			   t->row.name, match->result.pairing + 1, -err);
}

static void decide(struct lobby *lobby, const struct match_meeting *meeting)
{
	action_add(lobby, LOBBY_STORE, NULL)->record =
		match_record_decision(meeting);
}

/* MEETING is lost by those in its ABSENT. */
static void forfeit(struct lobby *lobby, struct lobby_tournament *t,
		    const struct match_meeting *meeting)
{
	struct row_tournament_match match;

	match_of(t, meeting, &match);
	for (unsigned s = 0; s < meeting->nseats; s++) {
		const struct row_entrant *entrant =
			&t->row.entrants[meeting->entrants[s]];
		struct bot *bot = bot_by_id(lobby, entrant->bot_id);

		if ((meeting->absent >> s & 1) == 0)
			continue;
		action_log(lobby, LOG_LEVEL_INFO,
			   "tournament=%s bot=%s event=forfeit pairing=%u",
			   t->row.name, entrant->bot, meeting->pairing + 1);
		if (bot != NULL && entrant->out_round == 0 &&
		    !meeting->is_embargo)
			notice_bot(lobby, bot,
				   "tournament %s: %s was not there and has "
				   "lost a match",
				   t->row.name, entrant->bot);
	}
	decide(lobby, meeting);
	count(lobby, t, &match);
}

/* ---- what is next ---- */

/* Connections of the entrant that could play it. */
static unsigned connections(struct lobby *lobby, struct ladder *ladder,
			    const struct row_entrant *entrant)
{
	struct bot *bot = bot_by_id(lobby, entrant->bot_id);
	struct lobby_peer *peer;
	unsigned n = 0;

	if (bot == NULL)
		return 0;
	TAILQ_FOREACH(peer, &bot->peers, group) {
		const struct waiting *entry = waiting_find(peer, ladder);

		n += peer->version_id == entrant->version_id &&
		     !peer->is_closing && !peer->is_eof && entry != NULL &&
		     entry->wish == NULL;
	}
	return n;
}

static deal_over_fn over;

static void fill_deal(const struct lobby_tournament *t,
		      const struct ladder *ladder,
		      const struct tournament_match *match, struct deal *ret)
{
	*ret = (struct deal){ .seats = match->nseats,
			      .purpose = MATCH_FOR_TOURNAMENT,
			      .over = over,
			      .tags = { t->row.id, match->pairing + 1 } };
	ret->meeting.tournament = t->row.id;
	ret->meeting.pairing = match->pairing;
	ret->meeting.number =
		match->set * tournament_turns(&t->row.rules) + match->turn;
	ret->meeting.nseats = match->nseats;
	memcpy(ret->meeting.entrants, match->entrants,
	       sizeof(ret->meeting.entrants));
	ret->meeting.absent = match->absent;
	ret->meeting.is_embargo = t->row.is_embargo && t->row.revealed_us == 0;
	memcpy(ret->params, ladder->params, sizeof(ret->params));
	tournament_fill_instance(&t->row, ladder, match->instance,
				 &ret->instance);
}

/* What an entrant has to do to be there, if it has a connection to hear it. */
static void summon(struct lobby *lobby, const struct lobby_tournament *t,
		   const struct row_entrant *entrant, const char *text)
{
	struct bot *bot = bot_by_id(lobby, entrant->bot_id);

	if (bot != NULL)
		notice_bot(lobby, bot,
			   "tournament %s %s: say @play %s as version %s",
			   t->row.name, text, t->row.ladder, entrant->label);
}

void tournaments_tell_missed(struct lobby *lobby,
			     const struct appointment *appointment,
			     uint32_t seats)
{
	const struct match_meeting *meeting = &appointment->deal.meeting;
	const struct lobby_tournament *t = find(lobby, meeting->tournament);
	char text[64];

	if (t == NULL)
		return;
	(void)snprintf(text, sizeof(text), "waits for you, %u s",
		       t->row.grace_s);
	for (unsigned s = 0; s < appointment->deal.seats; s++) {
		if ((seats >> s & 1) == 0)
			continue;
		action_log(lobby, LOG_LEVEL_WARN,
			   "tournament=%s bot=%s event=absent pairing=%u "
			   "grace-s=%u",
			   t->row.name, appointment->bots[s]->name,
			   meeting->pairing + 1, t->row.grace_s);
		if (appointment->patience_us[s] > 0)
			summon(lobby, t, &t->row.entrants[meeting->entrants[s]],
			       text);
	}
}

/* T begins: those who are there, but not where they should be, are told. */
static void tell_start(struct lobby *lobby, const struct lobby_tournament *t,
		       struct ladder *ladder)
{
	for (size_t i = 0; i < t->row.nentrants; i++) {
		const struct row_entrant *entrant = &t->row.entrants[i];

		if (entrant->version_id != 0 && entrant->out_round == 0 &&
		    connections(lobby, ladder, entrant) == 0)
			summon(lobby, t, entrant, "has begun");
	}
}

static void put_under_way(struct lobby_tournament *t,
			  const struct match_meeting *meeting)
{
	size_t at =
		tournament_state_place(t, meeting->pairing, meeting->number);

	t->under_way = xreallocarray(t->under_way, t->nunder_way + 1,
				     sizeof(*t->under_way));
	memmove(t->under_way + at + 1, t->under_way + at,
		(t->nunder_way - at) * sizeof(*t->under_way));
	t->under_way[at] = *meeting;
	t->nunder_way++;
}

static bool has_under_way(const struct lobby_tournament *t, size_t at,
			  uint32_t pairing, uint32_t number)
{
	return at < t->nunder_way && t->under_way[at].pairing == pairing &&
	       t->under_way[at].number == number;
}

/* An appointment for MATCH; false when there is no room for more. */
static bool appoint(struct lobby *lobby, struct lobby_tournament *t,
		    struct ladder *ladder, const struct tournament_match *match,
		    int64_t now_us)
{
	int64_t grace_us = t->row.grace_s * INT64_C(1000000);
	struct appointment *appointment;
	struct bot *bots[LIMIT_SEATS];
	struct deal deal;

	fill_deal(t, ladder, match, &deal);
	for (unsigned s = 0; s < match->nseats; s++)
		bots[s] = bot_by_id(lobby,
				    t->row.entrants[match->entrants[s]].bot_id);
	appointment = appointment_new(lobby, ladder, &deal, bots);
	if (appointment == NULL)
		return false;
	for (unsigned s = 0; s < match->nseats; s++) {
		struct attendance *who = &t->attendance[match->entrants[s]];

		appointment->version_ids[s] =
			t->row.entrants[match->entrants[s]].version_id;
		/* Who was waited for in vain is not waited for again. */
		appointment->patience_us[s] = who->is_away ? 0 : grace_us;
		who->busy++;
	}
	put_under_way(t, &deal.meeting);
	tournament_seeds_note(t, match->instance);
	appointment_add(lobby, appointment, now_us);
	return true;
}

static bool is_under_way(const struct lobby_tournament *t,
			 const struct tournament_match *match)
{
	uint32_t number =
		match->set * tournament_turns(&t->row.rules) + match->turn;

	return has_under_way(t,
			     tournament_state_place(t, match->pairing, number),
			     match->pairing, number);
}

/* Seats of MATCH whose bots do not exist any more, for the lobby. */
static unsigned gone(struct lobby *lobby, const struct lobby_tournament *t,
		     const struct tournament_match *match)
{
	unsigned seats = 0;

	for (unsigned s = 0; s < match->nseats; s++) {
		const struct row_entrant *entrant =
			&t->row.entrants[match->entrants[s]];
		const struct bot *bot = bot_by_id(lobby, entrant->bot_id);

		if (bot == NULL || bot->is_disabled || entrant->version_id == 0)
			seats |= 1u << s;
	}
	return seats;
}

/* Whether the entrants of MATCH may begin one more. */
static bool are_free(struct lobby *lobby, const struct lobby_tournament *t,
		     struct ladder *ladder,
		     const struct tournament_match *match, bool may_be_absent)
{
	for (unsigned s = 0; s < match->nseats; s++) {
		uint32_t entrant = match->entrants[s];
		unsigned n =
			connections(lobby, ladder, &t->row.entrants[entrant]);

		if (n == 0 && may_be_absent)
			n = 1;
		if (t->attendance[entrant].busy >= n)
			return false;
	}
	return true;
}

/* Forfeits that need no waiting. Returns whether there was one. */
static bool forfeit_gone(struct lobby *lobby, struct lobby_tournament *t,
			 const struct ladder *ladder,
			 struct tournament_match *matches, size_t n)
{
	bool has_any = false;

	for (size_t i = 0; i < n; i++) {
		struct deal deal;

		if (is_under_way(t, &matches[i]))
			continue;
		matches[i].absent |= gone(lobby, t, &matches[i]);
		if (matches[i].absent == 0)
			continue;
		fill_deal(t, ladder, &matches[i], &deal);
		forfeit(lobby, t, &deal.meeting);
		has_any = true;
	}
	return has_any;
}

static void end(struct lobby *lobby, struct lobby_tournament *t)
{
	struct match_meeting meeting = { .tournament = t->row.id,
					 .is_end = true };

	t->is_ended = true;
	action_log(lobby, LOG_LEVEL_INFO,
		   "tournament=%s event=finished matches=%zu", t->row.name,
		   t->row.nmatches);
	decide(lobby, &meeting);
}

/* Appointments for all that can be played now. */
static void look(struct lobby *lobby, struct lobby_tournament *t,
		 struct ladder *ladder, int64_t now_us)
{
	struct tournament_match *matches;
	size_t n;

	if (t->is_ended || t->is_stuck || lobby->is_draining ||
	    !ladder->is_listed)
		return;
	matches = xcalloc(NEXT_MAX, sizeof(*matches));
	do {
		n = tournament_next(t->state, matches, NEXT_MAX);
	} while (forfeit_gone(lobby, t, ladder, matches, n));
	for (int pass = 0; pass < 2; pass++) {
		bool may_be_absent = pass == 1;

		/* Nobody waits for the absent while there is more to play. */
		if (may_be_absent && t->nunder_way > 0)
			break;
		for (size_t i = 0; i < n; i++)
			if (!is_under_way(t, &matches[i]) &&
			    are_free(lobby, t, ladder, &matches[i],
				     may_be_absent) &&
			    !appoint(lobby, t, ladder, &matches[i], now_us))
				break;
	}
	free(matches);
	if (tournament_is_finished(t->state) && t->nunder_way == 0)
		end(lobby, t);
}

void tournaments_look(struct lobby *lobby, struct ladder *ladder,
		      int64_t now_us)
{
	for (size_t i = 0; i < lobby->ntournaments; i++) {
		struct lobby_tournament *t = lobby->tournaments[i];

		if (t->row.ladder_id == ladder->row.id)
			look(lobby, t, ladder, now_us);
	}
}

bool tournaments_keep(const struct lobby *lobby, const struct ladder *ladder,
		      const struct lobby_peer *peer)
{
	for (size_t i = 0; i < lobby->ntournaments; i++) {
		const struct lobby_tournament *t = lobby->tournaments[i];

		size_t e;

		if (t->row.ladder_id != ladder->row.id || t->nunder_way == 0)
			continue;
		e = tournament_state_entrant(t, peer->bot->id);
		if (e < t->row.nentrants &&
		    t->row.entrants[e].version_id == peer->version_id &&
		    t->attendance[e].busy > 0)
			return true;
	}
	return false;
}

/* ---- what became of a match ---- */

static void take_result(struct lobby *lobby, struct lobby_tournament *t,
			const struct match_meeting *meeting,
			const struct lobby_play *play)
{
	struct row_tournament_match match;

	match_of(t, meeting, &match);
	match.match_id = play->id;
	if (tournament_state_is_void(t, play->id))
		return; /* the host was quicker than the news */
	for (unsigned s = 0; s < play->nseats; s++) {
		struct attendance *who = &t->attendance[meeting->entrants[s]];

		match.result.ranks[s] = (uint8_t)play->seats[s].rank;
		match.result.points[s] = play->seats[s].points;
		match.result.scores[s] = play->seats[s].score;
		match.result.faults[s] = play->seats[s].faults;
		who->strikes = 0;
		who->is_away = false;
	}
	count(lobby, t, &match);
}

/* MEETING was not begun because of those AT_FAULT. */
static void take_fault(struct lobby *lobby, struct lobby_tournament *t,
		       struct match_meeting *meeting, unsigned at_fault,
		       bool is_final)
{
	for (unsigned s = 0; s < meeting->nseats; s++) {
		struct attendance *who = &t->attendance[meeting->entrants[s]];

		if ((at_fault >> s & 1) == 0)
			continue;
		if (is_final || ++who->strikes >= STRIKES_MAX) {
			meeting->absent |= 1u << s;
			who->is_away = true;
		}
	}
	if (meeting->absent != 0)
		forfeit(lobby, t, meeting);
}

static void take_out(struct lobby_tournament *t,
		     const struct match_meeting *meeting)
{
	size_t at =
		tournament_state_place(t, meeting->pairing, meeting->number);

	for (unsigned s = 0; s < meeting->nseats; s++)
		t->attendance[meeting->entrants[s]].busy--;
	if (!has_under_way(t, at, meeting->pairing, meeting->number))
		return;
	t->nunder_way--;
	memmove(t->under_way + at, t->under_way + at + 1,
		(t->nunder_way - at) * sizeof(*t->under_way));
}

static void stick(struct lobby *lobby, struct lobby_tournament *t,
		  const char *why)
{
	t->is_stuck = true;
	action_log(lobby, LOG_LEVEL_ERROR,
		   "tournament=%s event=stuck reason=\"%s\"", t->row.name, why);
}

static void over(struct lobby *lobby, const struct deal *deal,
		 enum deal_end end, const struct lobby_play *play,
		 uint32_t at_fault, int64_t now_us)
{
	struct lobby_tournament *t = find(lobby, deal->meeting.tournament);
	struct match_meeting meeting = deal->meeting;
	struct ladder *ladder;

	if (t == NULL)
		return; /* cancelled meanwhile */
	take_out(t, &meeting);
	switch (end) {
	case DEAL_STORED:
		take_result(lobby, t, &meeting, play);
		break;
	case DEAL_DROPPED:
		if (at_fault == 0)
			stick(lobby, t, "a match of it cannot be played");
		else
			take_fault(lobby, t, &meeting, at_fault, true);
		break;
	case DEAL_CANCELLED:
		take_fault(lobby, t, &meeting, at_fault, false);
		break;
	case DEAL_VOID:
		if (++t->nvoids > VOIDS_MAX)
			stick(lobby, t, "too many of its matches were void");
		break;
	case DEAL_NENDS:
		break;
	}
	ladder = ladder_by_id(lobby, t->row.ladder_id);
	if (ladder == NULL)
		return;
	/* Also when it is just being looked at: then once more. */
	start_touch(lobby, ladder);
	start_wake(lobby, ladder, now_us, now_us);
}

/* ---- the catalogue ---- */

static struct lobby_tournament *take(struct lobby *lobby,
				     struct lobby_tournament *old,
				     const struct row_tournament *row)
{
	struct lobby_tournament *t = old;

	if (t == NULL) {
		t = xcalloc(1, sizeof(*t));
		t->attendance =
			xcalloc(row->nentrants + 1, sizeof(*t->attendance));
		action_log(lobby, LOG_LEVEL_INFO,
			   "tournament=%s event=running matches=%zu", row->name,
			   row->nmatches);
	}
	tournament_state_take(t, row);
	if (old == NULL)
		tournament_seeds_note_all(t);
	t->is_stuck = row->nmaps == 0;
	/* The store ends none of which a match has become void. */
	t->is_ended = t->is_ended && tournament_is_finished(t->state);
	return t;
}

/* No command makes such a one; a changed file may hold it. */
static bool is_refused(struct lobby *lobby, const struct row_tournament *row)
{
	const char *why =
		tournament_refusal(&row->rules, (unsigned)row->nentrants);

	if (why != NULL)
		action_log(lobby, LOG_LEVEL_ERROR,
			   "tournament=%s event=refused reason=\"%s\"",
			   row->name, why);
	return why != NULL;
}

/* T runs no more: what of it has not begun is not played. */
static void call_off(struct lobby *lobby, const struct lobby_tournament *t,
		     int64_t now_us)
{
	struct ladder *ladder = ladder_by_id(lobby, t->row.ladder_id);
	struct appointment *appointment, *next;

	if (ladder == NULL)
		return;
	for (appointment = TAILQ_FIRST(&ladder->appointments);
	     appointment != NULL; appointment = next) {
		next = TAILQ_NEXT(appointment, link);
		if (appointment->deal.meeting.tournament == t->row.id)
			appointment_drop(lobby, appointment, 0,
					 "its tournament runs no more", now_us);
	}
}

void tournaments_replace(struct lobby *lobby, const struct row_catalogue *rows,
			 int64_t now_us)
{
	struct lobby_tournament **fresh = xcalloc(
		rows->ntournaments + 1, sizeof(struct lobby_tournament *));
	struct lobby_tournament **left;
	size_t n = 0, nleft;

	for (size_t i = 0; i < rows->ntournaments; i++) {
		const struct row_tournament *row = &rows->tournaments[i];
		struct lobby_tournament *old = find(lobby, row->id);
		struct ladder *ladder = ladder_by_id(lobby, row->ladder_id);

		if (row->state != ROW_TOURNAMENT_RUNNING ||
		    is_refused(lobby, row))
			continue;
		for (size_t k = 0; old != NULL && k < lobby->ntournaments; k++)
			if (lobby->tournaments[k] == old)
				lobby->tournaments[k] =
					lobby->tournaments
						[--lobby->ntournaments];
		fresh[n++] = take(lobby, old, row);
		if (ladder == NULL)
			continue;
		if (old == NULL)
			tell_start(lobby, fresh[n - 1], ladder);
		start_touch(lobby, ladder);
	}
	/* What is left there has gone; nothing is to be found of it. */
	left = lobby->tournaments;
	nleft = lobby->ntournaments;
	lobby->tournaments = fresh;
	lobby->ntournaments = n;
	for (size_t i = 0; i < nleft; i++) {
		call_off(lobby, left[i], now_us);
		tournament_state_free(left[i]);
	}
	free(left);
}
