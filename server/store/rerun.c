/* SPDX-License-Identifier: MIT */
#include "server/store/rerun.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "server/match/notes.h"

int rerun_init(struct rerun *rerun, const struct row_record *record,
	       struct game_error *error)
{
	const struct row_match *match = &record->match;
	const struct game *game = game_find(match->game);
	struct game_source source = {
		.name = match->map,
		.data = record->map_data == NULL ? "" : record->map_data,
		.len = record->map_len,
		.options = record->map_options,
	};
	int rc;

	memset(rerun, 0, sizeof(*rerun));
	if (game == NULL) {
		game_error_set(error, "there is no engine for %s here",
			       match->game);
		return -ENOTSUP;
	}
	if (game->version != match->engine_version) {
		game_error_set(error,
			       "it was played by version %u of %s, this is "
			       "version %u",
			       match->engine_version, game->name,
			       game->version);
		return -ENOTSUP;
	}
	rerun->record = record;
	rerun->game = game;
	rerun->setup.seed = match->seed;
	rerun->setup.bot_seed = match->bot_seed;
	rerun->setup.seats = match->nseats;
	rerun->setup.limit_ms = match->turn_ms;
	rerun->setup.grace_ms = match->grace_ms;
	rc = game_params_parse(game, match->params, rerun->setup.params, error);
	if (rc == 0)
		rc = game->map_new(&rerun->map, &source, error);
	return rc;
}

void rerun_release(struct rerun *rerun)
{
	if (rerun->game != NULL && rerun->map != NULL)
		rerun->game->map_free(rerun->map);
	memset(rerun, 0, sizeof(*rerun));
}

int rerun_play(const struct rerun *rerun,
	       const struct replay_callbacks *callbacks,
	       struct replay_result *ret, struct game_error *error)
{
	const struct replay_source source = {
		.game = rerun->game,
		.map = rerun->map,
		.setup = &rerun->setup,
		.transcript = rerun->record->transcript,
		.transcript_len = rerun->record->transcript_len,
	};

	return replay_run(&source, callbacks, ret, error);
}

const char *rerun_verdict_word(enum rerun_verdict verdict)
{
	static const char *const words[RERUN_NVERDICTS] = { "same", "differs",
							    "damaged",
							    "unplayable" };

	return words[verdict];
}

static void PRINTF_LIKE(3, 4)
	conclude(struct rerun_report *ret, enum rerun_verdict verdict,
		 const char *format, ...)
{
	va_list args;

	ret->verdict = verdict;
	va_start(args, format);
	(void)vsnprintf(ret->text, sizeof(ret->text), format, args);
	va_end(args);
}

/* Which request the inputs were that a report names. */
struct finder {
	struct rerun_report *report;
};

static void find_place(void *context, const struct transcript_entry *entry,
		       uint32_t turn)
{
	struct finder *finder = context;
	struct rerun_place *places[] = { &finder->report->from,
					 &finder->report->to };

	for (unsigned i = 0; i < 2; i++) {
		if (places[i]->input != entry->number)
			continue;
		places[i]->seat = entry->seat;
		places[i]->request = turn;
	}
}

static void add_place(struct buf *text, const char *word,
		      const struct rerun_place *place)
{
	buf_add_format(text, " %s input %llu", word,
		       (unsigned long long)place->input);
	if (place->input > 0)
		buf_add_format(text, " (seat %u's request %u)", place->seat + 1,
			       place->request);
}

/*
 * The output is not what it was: between which requests did it part? The
 * samples of both tell; a second run finds whose requests those were.
 */
static void part(const struct rerun *rerun, const struct replay_result *result,
		 struct rerun_report *ret)
{
	const struct row_record *record = rerun->record;
	struct finder finder = { .report = ret };
	struct replay_callbacks calls = { .input = find_place,
					  .context = &finder };
	struct buf text = BUF_INIT(sizeof(ret->text));
	struct replay_result again;
	struct game_error error;
	uint64_t from = 0, to = UINT64_MAX;

	digest_part(record->samples, record->nsamples, result->samples,
		    result->nsamples, &from, &to);
	ret->has_place = true;
	ret->from.input = from;
	ret->to.input = to == UINT64_MAX ? result->inputs : to;
	if (rerun_play(rerun, &calls, &again, &error) != 0)
		ret->has_place = false;
	buf_add_text(&text, "other lines come out than were told;");
	if (ret->has_place) {
		add_place(&text, "they agree up to", &ret->from);
		add_place(&text,
			  to == UINT64_MAX ? "at least, and part by"
					   : "and part by",
			  &ret->to);
	}
	conclude(ret, RERUN_DIFFERS, "%s", buf_text(&text));
	buf_release(&text);
}

/* The same bits: the same sums give them, and a NaN is none by itself. */
static bool is_same_real(double a, double b)
{
	uint64_t a_bits, b_bits;

	memcpy(&a_bits, &a, sizeof(a));
	memcpy(&b_bits, &b, sizeof(b));
	return a_bits == b_bits;
}

/* A match that was void at its end ranks nobody. Columns went through decimal text. */
static bool is_same_score(const struct rerun *rerun, const struct row_seat *row,
			  const struct game_score *score)
{
	const struct row_match *match = &rerun->record->match;
	bool is_void = match->status == ROW_MATCH_VOID && !match->is_host_void;

	if (row->points != score->points ||
	    row->rank != (is_void ? 0 : score->rank) ||
	    !is_same_real(row->score, score->score) ||
	    strcmp(row->reason, game_reason_word(score->reason)) != 0 ||
	    row->ncolumns != rerun->game->ncolumns)
		return false;
	for (unsigned i = 0; i < row->ncolumns; i++)
		if (row->columns[i] < score->columns[i] ||
		    row->columns[i] > score->columns[i])
			return false;
	return true;
}

static bool check_scores(const struct rerun *rerun,
			 const struct replay_result *result,
			 struct rerun_report *ret)
{
	const struct row_match *match = &rerun->record->match;

	for (unsigned i = 0; i < match->nseats; i++) {
		const struct row_seat *row = &match->seats[i];
		const struct game_score *score = &result->scores[i];

		if (is_same_score(rerun, row, score))
			continue;
		conclude(ret, RERUN_DIFFERS,
			 "seat %u comes out with score %.17g (%lld points, "
			 "rank %u, %s), stored is %.17g (%lld points, rank %u, "
			 "%s)",
			 i + 1, score->score, (long long)score->points,
			 score->rank, game_reason_word(score->reason),
			 row->score, (long long)row->points, row->rank,
			 row->reason);
		return false;
	}
	return true;
}

/* Everything that a replay gives again, in the order of what it explains. */
static void compare(const struct rerun *rerun,
		    const struct replay_result *result,
		    struct rerun_report *ret)
{
	const struct row_record *record = rerun->record;
	const struct row_match *match = &record->match;

	if (result->inputs != match->inputs) {
		conclude(ret, RERUN_DIFFERS,
			 "the transcript holds %llu inputs, the match %llu",
			 (unsigned long long)result->inputs,
			 (unsigned long long)match->inputs);
	} else if (result->digest != match->digest) {
		part(rerun, result, ret);
	} else if (record->nsamples != result->nsamples ||
		   memcmp(record->samples, result->samples,
			  result->nsamples * sizeof(result->samples[0])) != 0) {
		conclude(ret, RERUN_DAMAGED,
			 "the samples of the digest are not its own");
	} else if (!result->is_over &&
		   (match->status == ROW_MATCH_STORED || match->is_host_void)) {
		conclude(ret, RERUN_DIFFERS,
			 "the game is not over after its %llu inputs",
			 (unsigned long long)result->inputs);
	} else {
		(void)check_scores(rerun, result, ret);
	}
}

static bool check_notes(const struct row_record *record,
			struct rerun_report *ret)
{
	struct notes_reader *reader;
	struct note note;
	uint64_t count = 0;
	int rc;

	if (record->notes_len == 0)
		return true; /* the host lost them; nothing depends on them */
	reader = notes_open(record->notes, record->notes_len,
			    record->match.nseats);
	while ((rc = notes_next(reader, &note)) > 0)
		count++;
	notes_close(reader);
	if (rc == 0)
		return true;
	conclude(ret, RERUN_DAMAGED, "the notes are damaged behind note %llu",
		 (unsigned long long)count);
	return false;
}

void rerun_verify(const struct row_record *record, struct rerun_report *ret)
{
	struct game_error error = { .text = "" };
	struct replay_result result;
	struct rerun rerun;
	int rc;

	memset(ret, 0, sizeof(*ret));
	if (record->transcript_len == 0 &&
	    record->match.status == ROW_MATCH_VOID)
		return; /* void because it was lost */
	rc = rerun_init(&rerun, record, &error);
	if (rc == 0)
		rc = rerun_play(&rerun, NULL, &result, &error);
	if (rc == 0) {
		compare(&rerun, &result, ret);
		if (ret->verdict == RERUN_SAME)
			(void)check_notes(record, ret);
	} else {
		conclude(ret, rc == -EILSEQ ? RERUN_DAMAGED : RERUN_UNPLAYABLE,
			 "%s", rc == -ENOMEM ? "no memory" : error.text);
	}
	rerun_release(&rerun);
}

int rerun_verify_stored(struct store *store, int64_t id,
			struct rerun_report *ret, struct store_error *error)
{
	struct row_record record;
	int err = store_record(store, id, &record, error);

	if (err != 0)
		return err;
	rerun_verify(&record, ret);
	row_record_release(&record);
	return 0;
}
