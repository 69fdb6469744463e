/* SPDX-License-Identifier: MIT */
#include "clients/run/rehearsal_report.h"

#include <math.h>
#include <string.h>

enum {
	SHOWN_BYTES = 300, /* of a reply */
	BEFORE_BYTES = 60, /* and of that what stands before it differs */
};

static const char *kind_word(const struct rehearsal_reply *reply)
{
	static const char *const words[GAME_NINPUTS] = { "reply", "late",
							 "gone" };

	return reply->is_there ? words[reply->kind] : "none";
}

/* The part of REPLY around byte FROM, bytes that are no text escaped. */
static void add_reply(const struct rehearsal_reply *reply, size_t from,
		      struct buf *out)
{
	size_t end;

	if (!reply->is_there) {
		buf_add_text(out, "(none: the transcript has no more)\n");
		return;
	}
	if (reply->kind != GAME_REPLY) {
		buf_add_format(out, "(%s)\n",
			       reply->kind == GAME_LATE
				       ? "late"
				       : "gone: the program has ended");
		return;
	}
	from = from > BEFORE_BYTES ? from - BEFORE_BYTES : 0;
	if (reply->len <= SHOWN_BYTES || from > reply->len)
		from = 0;
	end = reply->len - from > SHOWN_BYTES ? from + SHOWN_BYTES : reply->len;
	if (from > 0)
		buf_add_text(out, "...");
	for (size_t i = from; i < end; i++) {
		unsigned char c = (unsigned char)reply->text[i];

		if (c < ' ' || c == 0x7f)
			buf_add_format(out, "\\x%02x", c);
		else
			buf_add_char(out, (char)c);
	}
	if (end < reply->len)
		buf_add_text(out, "...");
	buf_add_format(out, " (%zu bytes)\n", reply->len);
}

static size_t same_bytes(const struct rehearsal_reply *a,
			 const struct rehearsal_reply *b)
{
	size_t same = 0;

	while (same < a->len && same < b->len && a->text[same] == b->text[same])
		same++;
	return same;
}

static void add_difference(const struct rehearsal *rehearsal, struct buf *out)
{
	size_t same = same_bytes(&rehearsal->was, &rehearsal->is);

	if (rehearsal->first_turn == 0) {
		buf_add_format(out, "All %lld replies are as they were.\n",
			       (long long)rehearsal->compared);
		return;
	}
	buf_add_format(out, "Turn %lld is the first whose reply differs",
		       (long long)rehearsal->first_turn);
	if (rehearsal->was.is_there && rehearsal->was.kind == GAME_REPLY &&
	    rehearsal->is.kind == GAME_REPLY)
		buf_add_format(out, ", from byte %zu", same + 1);
	buf_add_text(out, ":\n  stored: ");
	add_reply(&rehearsal->was, same, out);
	buf_add_text(out, "  live:   ");
	add_reply(&rehearsal->is, same, out);
	if (rehearsal->from_turn > 1)
		buf_add_format(out,
			       "Turns before %lld were fed from the "
			       "transcript.\n",
			       (long long)rehearsal->from_turn);
	if (rehearsal->own_from > 0)
		buf_add_format(out,
			       "From turn %lld on it is another game, with the "
			       "live replies.\n",
			       (long long)rehearsal->own_from);
	buf_add_format(out, "%lld of %lld replies differ.\n",
		       (long long)rehearsal->differing,
		       (long long)rehearsal->compared);
}

static void add_others(const struct rehearsal *rehearsal, struct buf *out)
{

	for (unsigned i = 0; i < rehearsal->stored->setup.seats; i++) {
		if (i == rehearsal->seat)
			continue;
		if (rehearsal->invalid[i] > 0)
			buf_add_format(
				out,
				"Seat %u (%s): %llu stored replies hold "
				"something that the rules ignore now.\n",
				i + 1, rehearsal->stored->bots[i],
				(unsigned long long)rehearsal->invalid[i]);
		if (rehearsal->ran_out[i] > 0)
			buf_add_format(out,
				       "Seat %u (%s): no stored reply is left "
				       "at its turn %lld; it is gone.\n",
				       i + 1, rehearsal->stored->bots[i],
				       (long long)rehearsal->ran_out[i]);
	}
}

void rehearsal_report_text(const struct rehearsal *rehearsal, struct buf *out)
{
	const struct stored *stored = rehearsal->stored;
	struct game_score scores[GAME_SEATS_MAX];

	rehearsal_scores(rehearsal, scores);
	buf_add_format(out, "Match %lld: %s on %s, seed %.40s, seat %u (%s)\n",
		       (long long)stored->id, stored->game->name,
		       stored->map_name, stored->setup.seed,
		       rehearsal->seat + 1, stored->bots[rehearsal->seat]);
	add_difference(rehearsal, out);
	add_others(rehearsal, out);
	buf_add_format(out, "%-6s%-24s %12s %12s\n", "Seat", "Bot", "Stored",
		       "Now");
	for (unsigned i = 0; i < stored->setup.seats; i++) {
		struct buf was = BUF_INIT(64);
		struct buf now = BUF_INIT(64);

		game_score_format(stored->scores[i], &was);
		game_score_format(scores[i].score, &now);
		buf_add_format(out, "%-6u%-24s %12s %12s\n", i + 1,
			       stored->bots[i], buf_text(&was), buf_text(&now));
		buf_release(&was);
		buf_release(&now);
	}
}

static json_t *reply_json(const struct rehearsal_reply *reply)
{
	json_t *json = json_pack("{ss}", "kind", kind_word(reply));

	/* What is no UTF-8 text cannot be told here. */
	if (reply->is_there && reply->kind == GAME_REPLY)
		(void)json_object_set_new(
			json, "text", json_stringn(reply->text, reply->len));
	return json;
}

static json_t *real_json(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

json_t *rehearsal_report_json(const struct rehearsal *rehearsal)
{
	json_t *seats = json_array();
	json_t *json = json_pack("{sI, si, sI, sb, sI, sI, sI}", "match",
				 (json_int_t)rehearsal->stored->id, "seat",
				 (int)rehearsal->seat + 1, "from_turn",
				 (json_int_t)rehearsal->from_turn, "same",
				 rehearsal->differing == 0, "compared",
				 (json_int_t)rehearsal->compared, "differing",
				 (json_int_t)rehearsal->differing, "own_from",
				 (json_int_t)rehearsal->own_from);
	struct game_score scores[GAME_SEATS_MAX];

	if (rehearsal->first_turn > 0)
		(void)json_object_set_new(
			json, "first",
			json_pack("{sI, so, so}", "turn",
				  (json_int_t)rehearsal->first_turn, "stored",
				  reply_json(&rehearsal->was), "live",
				  reply_json(&rehearsal->is)));
	rehearsal_scores(rehearsal, scores);
	for (unsigned i = 0; i < rehearsal->stored->setup.seats; i++)
		(void)json_array_append_new(
			seats,
			json_pack("{ss, so, so, sI, sI}", "bot",
				  rehearsal->stored->bots[i], "stored",
				  real_json(rehearsal->stored->scores[i]),
				  "now", real_json(scores[i].score), "invalid",
				  (json_int_t)rehearsal->invalid[i], "ran_out",
				  (json_int_t)rehearsal->ran_out[i]));
	(void)json_object_set_new(json, "seats", seats);
	return json;
}
