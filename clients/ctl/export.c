/* SPDX-License-Identifier: MIT */
/* export.c - all that is known about a match, as one JSON document. */
#include <errno.h>

#include "clients/ctl/match_view.h"
#include "clients/picture/film.h"
#include "server/store/record_json.h"

const char export_details[] =
	"With --frames, --animation or --grids the match is drawn, into these files.\n"
	"A small map is enlarged, so that its longer side has 300 pixels or more. Of a\n"
	"long match each second, third, ... state becomes a picture, so that there are\n"
	"not more than 500: --every and --max-frames say otherwise. The pictures of a\n"
	"folder bear the number of the state, turns or moves from 0. The animation is\n"
	"a PNG file that browsers play; others show its first picture.\n"
	"\n"
	"Without them one JSON object on standard output:\n"
	"  format      \"hill match 1\"\n"
	"  match       id, ladder, game, map, params, seed, bot_seed (texts, 63 and\n"
	"              31 bits), engine_version, status (stored, void), void_reason,\n"
	"              rated, started_us and ended_us (since 1970 UTC), stall_us,\n"
	"              inputs, digest (hexadecimal), limits, seats: an array of {seat,\n"
	"              bot, score, points, rank, reason, columns, requests, faults,\n"
	"              late, invalid, ..., max_us, total_us, lag_us, how}\n"
	"  map         {name, options, data}: the bytes as the engine reads them\n"
	"  transcript  in order, what was fed to the engine: {seat, kind (reply, late,\n"
	"              gone), text}\n"
	"  notes       in order: {seat, kind (reply, late, gone, thrown, skipped,\n"
	"              invalid, cut), turn, ms, bank_ms, stall_ms, flags, text}; those\n"
	"              of replies, late and gone ones stand in the transcript's order;\n"
	"              turn is the number of the seat's request, from 1: of a gone one\n"
	"              the first left unanswered\n"
	"  samples     {step, digests}: the running digest after each `step` inputs,\n"
	"              hexadecimal\n"
	"Bytes that are no UTF-8 text stand in base64, under the name with _base64\n"
	"behind it. A number that is not finite is null.\n";

/* Damage is no reason to keep back the rest: it is told, and status 1. */
static int export(const struct ctl *ctl, const struct row_record *record)
{
	unsigned damage;
	json_t *document = record_json(record, &damage);
	struct ctl quiet = *ctl;
	int status = CTL_OK;

	quiet.is_json = false; /* the document is the export */
	if ((damage & RECORD_TRANSCRIPT) != 0)
		status = ctl_fail(&quiet,
				  "match %lld: the transcript is "
				  "damaged; only its beginning is "
				  "exported",
				  (long long)record->match.id);
	if ((damage & RECORD_NOTES) != 0)
		status = ctl_fail(&quiet,
				  "match %lld: the notes are damaged; "
				  "only their beginning is exported",
				  (long long)record->match.id);
	ctl_print_json(document);
	json_decref(document);
	return status;
}

int run_export(const struct ctl *ctl, const struct ctl_call *call)
{
	struct store_error error = { "" };
	struct film_options film;
	struct row_record record;
	struct channel channel;
	int64_t id = 0;
	int status;

	status = pictures_options(call, &film);
	if (status == CTL_OK)
		status = match_parse(call, &id);
	if (status != CTL_OK)
		return status;
	if (channel_open_read(&channel, ctl) != 0)
		return CTL_FAILED;
	if (store_record(channel.store, id, &record, &error) != 0) {
		status = ctl_fail(ctl, "%s", error.text);
	} else {
		status = film_is_wanted(&film)
				 ? pictures_make(ctl, &record, &film)
				 : export(ctl, &record);
		row_record_release(&record);
	}
	channel_close(&channel);
	return status;
}
