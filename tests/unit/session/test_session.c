/* SPDX-License-Identifier: MIT */
#include "server/session/session.h"

#include <stdio.h>
#include <string.h>

#include "server/base/limits.h"
#include "tests/unit/session/stage.h"
#include "tests/unit/unit.h"

static void moves_only_as_the_table_says(void **state)
{
	static const char *const table[SESSION_NSTATES] = {
		/* to:                  N I Q O R P L C */
		[SESSION_NEW] = "0 0 0 0 0 0 1 1",
		[SESSION_IDLE] = "0 0 1 1 0 0 0 1",
		[SESSION_QUEUED] = "0 1 0 1 0 0 0 1",
		[SESSION_OFFERED] = "0 1 1 0 1 0 0 1",
		[SESSION_READY] = "0 1 1 0 0 1 0 1",
		[SESSION_PLAYING] = "0 1 1 0 0 0 0 1",
		[SESSION_LOGIN] = "1 1 0 0 0 0 0 1",
		[SESSION_CLOSED] = "0 0 0 0 0 0 0 0",
	};

	(void)state;
	for (unsigned from = 0; from < SESSION_NSTATES; from++) {
		for (unsigned to = 0; to < SESSION_NSTATES; to++) {
			assert_int_equal(
				session_may_move((enum session_state)from,
						 (enum session_state)to),
				table[from][2 * to] == '1');
		}
	}
}

static void greets_with_version_and_host(void **state)
{
	(void)state;
	be_in(SESSION_NEW);
	session_greet(&session, "hill.example.org", &out);
	assert_string_equal(buf_text(&out), "@hill 1 hill.example.org\n");
}

static void hands_up_a_login(void **state)
{
	(void)state;
	be_in(SESSION_NEW);
	say("@login crazy t0ken proto=1 client=hill-bridge/1.0 version=7 "
	    "ping=1 new-key=x\n");
	assert_int_equal(request.kind, SESSION_ASK_LOGIN);
	assert_true(slice_is(request.name, "crazy"));
	assert_true(slice_is(request.token, "t0ken"));
	assert_true(slice_is(request.client, "hill-bridge/1.0"));
	assert_true(slice_is(request.version, "7"));
	assert_true(session.wants_ping);
	session_login_ok(&session, "crazy", NULL, &out);
	assert_string_equal(buf_text(&out), "@welcome crazy\n");
	assert_int_equal(session.state, SESSION_IDLE);

	be_in(SESSION_NEW);
	say("@login crazy t0ken\n");
	assert_int_equal(request.kind, SESSION_ASK_LOGIN);
	assert_false(session.wants_ping);
	assert_int_equal(request.client.len, 0);
	session_refuse(&session, ERROR_LOGIN_FAILED, 5, NULL, &out);
	assert_true(session_is_closed(&session));
	assert_string_equal(buf_text(&out),
			    "@error login-failed retry-after=5 : no such bot, "
			    "or not its token\n");
	assert_string_equal(session.close_reason, "login-failed");
}

static void hands_up_a_guest(void **state)
{
	(void)state;
	be_in(SESSION_NEW);
	say("@guest Ada\n");
	assert_int_equal(request.kind, SESSION_ASK_NOTHING);
	assert_int_equal(session.state, SESSION_NEW);
	say("@guest ada client=nc ping=1\n");
	assert_int_equal(request.kind, SESSION_ASK_GUEST);
	assert_true(slice_is(request.name, "ada"));
	assert_true(slice_is(request.client, "nc"));
	assert_true(session.wants_ping);
	session_refuse(&session, ERROR_GUESTS_OFF, 0, NULL, &out);
	assert_true(session_is_closed(&session));
}

static void hands_up_what_a_player_wishes(void **state)
{
	static const char *const bad[] = {
		"sometimes",
		"sometimes seed=1",
		"unrated map=.hidden",
		"unrated against=A",
		"unrated seed=-1",
		"unrated seed=-0",
		"unrated seed=00",
		"unrated seed=01",
		"unrated seed=9223372036854775808",
		"unrated turn-ms=0",
		"unrated turn-ms=600001",
		"unrated turn-ms=01",
		"unrated matches=0",
		"unrated matches=01",
		"unrated matches=many",
	};

	(void)state;
	be_in(SESSION_IDLE);
	say("@play mine\n");
	assert_int_equal(request.how, SESSION_PLAY_LADDER);
	say("@play mine any later=x\n");
	assert_int_equal(request.kind, SESSION_ASK_PLAY);
	assert_int_equal(request.how, SESSION_PLAY_ANY);
	say("@play mine unrated\n");
	assert_int_equal(request.how, SESSION_PLAY_UNRATED);
	assert_int_equal(request.wish.map.len + request.wish.seed.len +
				 request.wish.against.len,
			 0);
	assert_int_equal(request.wish.turn_ms + request.wish.matches, 0);
	say("@play mine unrated map=a.map seed=9223372036854775807 "
	    "against=lazy turn-ms=600000 matches=3\n");
	assert_int_equal(request.kind, SESSION_ASK_PLAY);
	assert_true(slice_is(request.wish.map, "a.map"));
	assert_true(slice_is(request.wish.seed, "9223372036854775807"));
	assert_true(slice_is(request.wish.against, "lazy"));
	assert_int_equal(request.wish.turn_ms, 600000);
	assert_int_equal(request.wish.matches, 3);
	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		char line[80];

		(void)snprintf(line, sizeof(line), "@play mine %s\n", bad[i]);
		say(line);
		assert_int_equal(request.kind, SESSION_ASK_NOTHING);
		assert_memory_equal(buf_text(&out), "@error bad-arguments ",
				    21);
	}
}

static void names_the_wish_that_rated_play_does_not_take(void **state)
{
	static const char *const keys[] = { "map", "seed", "against", "turn-ms",
					    "matches" };
	static const char *const hows[] = { "", "any " };

	(void)state;
	be_in(SESSION_IDLE);
	for (size_t i = 0; i < COUNT_OF(keys) * COUNT_OF(hows); i++) {
		const char *key = keys[i / COUNT_OF(hows)];
		char line[80], told[80];

		(void)snprintf(line, sizeof(line), "@play mine %s%s=1\n",
			       hows[i % COUNT_OF(hows)], key);
		(void)snprintf(told, sizeof(told),
			       "@error bad-arguments : %s= goes with ", key);
		say(line);
		assert_int_equal(request.kind, SESSION_ASK_NOTHING);
		assert_memory_equal(buf_text(&out), told, strlen(told));
	}
}

/*
 * Every word in every state. The letter is what comes of it:
 * L login, P play, V leave, R ready, S skip, G gone, X resign, M game line,
 * - nothing and no word, a an answer and nothing else, n not-now, l
 * not-logged-in, u unknown-word, s stray-line, m unknown-match, C close.
 */
static const struct {
	const char *line;
	const char *outcome; /* NEW IDLE QUEUED OFFERED READY PLAYING */
} table[] = {
	{ "@login crazy t0ken\n", "Lnnnnn" },
	{ "@help\n", "aaaaaa" },
	{ "@ping x\n", "aaaaaa" },
	{ "@pong x\n", "------" },
	{ "@quit\n", "CCCCCC" },
	{ "@play rabbit-runner\n", "lPPPPP" },
	{ "@leave rabbit-runner\n", "lVVVVV" },
	{ "@leave\n", "lVVVVV" },
	{ "@ready 4711\n", "lmmR--" },
	{ "@ready 4710\n", "lmm---" },
	{ "@ready 4712\n", "lmmmmm" },
	{ "@skip\n", "l--nSS" },
	{ "@skip 4711\n", "lmmnSS" },
	{ "@skip 4710\n", "lmm---" },
	{ "@gone 4711 exit=1\n", "lmmnGG" },
	{ "@gone 4710 exit=1\n", "lmm---" },
	{ "@resign 4711\n", "lmmXXX" },
	{ "@resign 4710\n", "lmm---" },
	{ "@resign 4712\n", "lmmmmm" },
	{ "@nonsense\n", "uuuuuu" },
	{ "@welcome crazy\n", "uuuuuu" },
	{ "\n", "----MM" },
	{ "move 1,1 to 1,2\n", "lss-MM" },
	{ "@@quit\n", "lss-MM" },
	{ "GET / HTTP/1.1\n", "Css-MM" },
};

static char outcome(void)
{
	static const char letters[SESSION_NKINDS] = {
		[SESSION_ASK_LOGIN] = 'L',  [SESSION_ASK_PLAY] = 'P',
		[SESSION_ASK_LEAVE] = 'V',  [SESSION_ASK_READY] = 'R',
		[SESSION_ASK_SKIP] = 'S',   [SESSION_ASK_GONE] = 'G',
		[SESSION_ASK_RESIGN] = 'X', [SESSION_ASK_GAME] = 'M',
		[SESSION_ASK_CLOSE] = 'C',
	};
	static const struct {
		const char *start;
		char letter;
	} answers[] = {
		{ "@error not-now ", 'n' },
		{ "@error not-logged-in ", 'l' },
		{ "@error unknown-word ", 'u' },
		{ "@error stray-line ", 's' },
		{ "@error unknown-match ", 'm' },
		{ "@error ", '!' },
		{ "@", 'a' },
	};

	if (request.kind != SESSION_ASK_NOTHING) {
		assert_int_equal(out.len, 0);
		return letters[request.kind];
	}
	for (size_t i = 0; i < COUNT_OF(answers); i++) {
		if (strncmp(buf_text(&out), answers[i].start,
			    strlen(answers[i].start)) == 0)
			return answers[i].letter;
	}
	return '-';
}

static void every_word_in_every_state(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(table); i++) {
		for (unsigned phase = 0; phase < PHASE_N; phase++) {
			char found;

			be_in((enum session_state)phase);
			say(table[i].line);
			found = outcome();
			if (found != table[i].outcome[phase])
				fail_msg("%s in %s: %c, not %c", table[i].line,
					 phase_name((enum phase)phase), found,
					 table[i].outcome[phase]);
			session_check(&session);
		}
	}
}

/* After a match is over everything about it is ignored, in every state. */
static void words_about_an_old_match_are_ignored(void **state)
{
	static const char *const words_[] = {
		"@ready 4710\n", "@ready 4710 quiet\n", "@skip 4710\n",
		"@gone 4710 signal=9\n", "@resign 4710\n"
	};
	static const enum session_state states[] = {
		SESSION_IDLE,  SESSION_QUEUED,  SESSION_OFFERED,
		SESSION_READY, SESSION_PLAYING,
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(states); i++) {
		for (size_t k = 0; k < COUNT_OF(words_); k++) {
			be_in(SESSION_OFFERED);
			if (states[i] == SESSION_READY ||
			    states[i] == SESSION_PLAYING)
				say("@ready 4711\n");
			if (states[i] == SESSION_PLAYING)
				session_start(&session);
			if (states[i] < SESSION_OFFERED) {
				session_leave_match(&session);
				session_set_ladders(
					&session, states[i] == SESSION_QUEUED);
			}
			assert_int_equal(session.state, states[i]);
			say(words_[k]);
			assert_int_equal(request.kind, SESSION_ASK_NOTHING);
			assert_int_equal(out.len, 0);
			assert_int_equal(session.state, states[i]);
			/* And what is no trouble costs no credit. */
			assert_int_equal(session.bad_lines, 0);
		}
	}
}

static void leave_goes_up_and_changes_no_match(void **state)
{
	(void)state;
	for (unsigned phase = PHASE_OFFERED; phase <= PHASE_PLAYING; phase++) {
		be_in((enum session_state)phase);
		say("@leave\n");
		assert_int_equal(request.kind, SESSION_ASK_LEAVE);
		assert_int_equal(request.name.len, 0);
		session_left(&session, NULL, 0, &out);
		assert_string_equal(buf_text(&out), "@left\n");
		assert_int_equal(session.state, phase);
		session_leave_match(&session);
		assert_int_equal(session.state, SESSION_IDLE);
	}
}

static void a_link_end_closes_every_state(void **state)
{
	(void)state;
	for (unsigned i = 0; i < SESSION_NSTATES; i++) {
		be_in((enum session_state)i);
		session_end_of_input(&session, &request);
		assert_int_equal(request.kind, SESSION_ASK_CLOSE);
		assert_string_equal(session.close_reason, i == SESSION_CLOSED
								  ? "evicted"
								  : "link-end");
		session_end_of_input(&session, &request);
		assert_int_equal(request.kind, SESSION_ASK_CLOSE);
	}
}

static void only_the_login_has_a_deadline(void **state)
{
	(void)state;
	for (unsigned i = 0; i < SESSION_NSTATES; i++) {
		be_in((enum session_state)i);
		assert_true(session_deadline(&session) ==
			    (i == SESSION_NEW ? LOGIN_BY : INT64_MAX));
		session_expire(&session, LOGIN_BY - 1, &out, &request);
		assert_int_equal(request.kind, SESSION_ASK_NOTHING);
		assert_int_equal(session.state, i);
		session_expire(&session, LOGIN_BY, &out, &request);
		if (i != SESSION_NEW) {
			assert_int_equal(request.kind, SESSION_ASK_NOTHING);
			assert_int_equal(session.state, i);
			continue;
		}
		assert_int_equal(request.kind, SESSION_ASK_CLOSE);
		assert_string_equal(buf_text(&out), "@error login-timeout : no "
						    "login in time\n");
	}
}

/* The total counts, not the time since the last byte. */
static void bytes_do_not_put_off_the_login_deadline(void **state)
{
	(void)state;
	be_in(SESSION_NEW);
	say("@ping\n@help\n\n@lo");
	assert_true(session_deadline(&session) == LOGIN_BY);
}

static void a_closed_session_says_nothing(void **state)
{
	(void)state;
	be_in(SESSION_CLOSED);
	for (size_t i = 0; i < COUNT_OF(table); i++) {
		say(table[i].line);
		assert_int_equal(request.kind, SESSION_ASK_CLOSE);
		assert_int_equal(out.len, 0);
	}
	session_refuse(&session, ERROR_INTERNAL, 0, NULL, &out);
	session_close(&session, ERROR_SHUTDOWN, NULL, &out);
	session_start(&session);
	session_leave_match(&session);
	session_set_ladders(&session, 3);
	assert_int_equal(out.len, 0);
	assert_string_equal(session.close_reason, "evicted");
}

static void a_match_from_offer_to_end(void **state)
{
	(void)state;
	be_in(SESSION_IDLE);
	say("@play rabbit-runner\n");
	assert_int_equal(request.kind, SESSION_ASK_PLAY);
	assert_true(slice_is(request.name, "rabbit-runner"));
	session_queued(&session, "rabbit-runner", 3, 1, NULL, &out);
	assert_string_equal(buf_text(&out),
			    "@queued rabbit-runner waiting=3\n");
	session_offer(&session, MATCH, 65536);
	assert_int_equal(session.state, SESSION_OFFERED);
	say("early 1\n@ready 4711 quiet\n");
	assert_int_equal(request.kind, SESSION_ASK_READY);
	assert_true(request.is_quiet);
	assert_int_equal(request.match_id, MATCH);
	assert_int_equal(out.len, 0);
	say("reply ahead\n");
	assert_int_equal(request.kind, SESSION_ASK_GAME);
	assert_true(slice_is(request.line, "reply ahead"));
	session_start(&session);
	say("@@odd\n");
	assert_int_equal(request.kind, SESSION_ASK_GAME);
	assert_int_equal(request.match_id, MATCH);
	assert_true(slice_is(request.line, "@odd"));
	session_leave_match(&session);
	assert_int_equal(session.state, SESSION_QUEUED);
	say("stale\n");
	assert_int_equal(request.kind, SESSION_ASK_NOTHING);
	assert_int_equal(out.len, 0);
	assert_int_equal(session.stray_lines, 2);
}

static void gone_says_how(void **state)
{
	static const struct {
		const char *line;
		enum session_gone gone;
		int value;
	} cases[] = {
		{ "@gone 4711 exit=0\n", SESSION_GONE_EXIT, 0 },
		{ "@gone 4711 exit=255\n", SESSION_GONE_EXIT, 255 },
		{ "@gone 4711 signal=9\n", SESSION_GONE_SIGNAL, 9 },
		{ "@gone 4711 stdout=closed\n", SESSION_GONE_STDOUT, 0 },
		{ "@gone 4711 exit=3 stdout=closed\n", SESSION_GONE_EXIT, 3 },
		{ "@gone 4711\n", SESSION_GONE_UNKNOWN, 0 },
		{ "@gone 4711 future=1\n", SESSION_GONE_UNKNOWN, 0 },
	};
	static const char *const bad[] = { "@gone 4711 exit=256\n",
					   "@gone 4711 exit=x\n",
					   "@gone 4711 signal=0\n",
					   "@gone 4711 stdout=open\n" };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		be_in(SESSION_PLAYING);
		say(cases[i].line);
		assert_int_equal(request.kind, SESSION_ASK_GONE);
		assert_int_equal(request.gone, cases[i].gone);
		assert_int_equal(request.gone_value, cases[i].value);
	}
	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		be_in(SESSION_PLAYING);
		say(bad[i]);
		assert_int_equal(request.kind, SESSION_ASK_NOTHING);
		assert_non_null(strstr(buf_text(&out), "bad-arguments"));
	}
}

static void ladders_may_be_asked_for_at_any_time(void **state)
{
	(void)state;
	for (unsigned phase = 0; phase < PHASE_N; phase++) {
		be_in((enum session_state)phase);
		say("@ladders\n");
		assert_int_equal(request.kind, SESSION_ASK_LADDERS);
		assert_int_equal(session.state, phase);
		assert_int_equal(out.len, 0);
	}
}

static void help_lists_what_can_be_said_now(void **state)
{
	(void)state;
	for (unsigned phase = 0; phase < PHASE_N; phase++) {
		be_in((enum session_state)phase);
		say("@help\n");
		for (unsigned i = 0; i < WORD_NWORDS; i++) {
			char start[40];
			bool is_listed;

			(void)snprintf(start, sizeof(start), "@help : @%s ",
				       words[i].name);
			is_listed = strstr(buf_text(&out), start) != NULL;
			assert_int_equal(
				is_listed,
				(words[i].from & WORD_FROM_CLIENT) &&
					(words[i].phases >> phase & 1));
		}
		assert_int_equal(strstr(buf_text(&out), "is a move\n") != NULL,
				 phase == PHASE_READY ||
					 phase == PHASE_PLAYING);
		assert_null(strchr(buf_text(&out), '`'));
		assert_true(out.len < 4096);
	}
}

static void a_refusal_leaves_the_state_alone(void **state)
{
	(void)state;
	be_in(SESSION_IDLE);
	say("@play nowhere\n");
	session_refuse(&session, ERROR_UNKNOWN_LADDER, 0,
		       "there is: rabbit-runner", &out);
	assert_string_equal(
		buf_text(&out),
		"@error unknown-ladder : there is: rabbit-runner\n");
	assert_int_equal(session.state, SESSION_IDLE);
	session_refuse(&session, ERROR_EVICTED, 0, NULL, &out);
	assert_true(session_is_closed(&session));
}

static void an_idle_peer_is_small(void **state)
{
	(void)state;
	be_in(SESSION_QUEUED);
	assert_true(sizeof(struct session) <= 160);
	assert_int_equal(session.framer.kept_cap, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(moves_only_as_the_table_says),
		cmocka_unit_test(greets_with_version_and_host),
		cmocka_unit_test(hands_up_a_login),
		cmocka_unit_test(hands_up_a_guest),
		cmocka_unit_test(hands_up_what_a_player_wishes),
		cmocka_unit_test(names_the_wish_that_rated_play_does_not_take),
		cmocka_unit_test(every_word_in_every_state),
		cmocka_unit_test(words_about_an_old_match_are_ignored),
		cmocka_unit_test(leave_goes_up_and_changes_no_match),
		cmocka_unit_test(a_link_end_closes_every_state),
		cmocka_unit_test(only_the_login_has_a_deadline),
		cmocka_unit_test(bytes_do_not_put_off_the_login_deadline),
		cmocka_unit_test(a_closed_session_says_nothing),
		cmocka_unit_test(a_match_from_offer_to_end),
		cmocka_unit_test(gone_says_how),
		cmocka_unit_test(ladders_may_be_asked_for_at_any_time),
		cmocka_unit_test(help_lists_what_can_be_said_now),
		cmocka_unit_test(a_refusal_leaves_the_state_alone),
		cmocka_unit_test(an_idle_peer_is_small),
	};

	return cmocka_run_group_tests(tests, NULL, release);
}
