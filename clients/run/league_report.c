/* SPDX-License-Identifier: MIT */
#include "clients/run/league_report.h"

#include <math.h>
#include <string.h>

enum { NAME_COLUMNS_MAX = 30, CELL_BYTES = 120, US_PER_MS = 1000 };

/* ---- text ---- */

static int name_columns(const struct league_report *report)
{
	size_t most = strlen("Bot");

	for (unsigned i = 0; i < report->plan->nbots; i++) {
		if (strlen(report->bots[i]) > most)
			most = strlen(report->bots[i]);
	}
	return (int)(most < NAME_COLUMNS_MAX ? most : NAME_COLUMNS_MAX);
}

/* "+1.25 [-0.50, +3.00]" */
static void format_difference(const struct paired *difference, char *ret)
{
	if (difference->count == 0)
		(void)snprintf(ret, CELL_BYTES, "not yet");
	else if (difference->count == 1)
		(void)snprintf(ret, CELL_BYTES, "%+.3f", difference->mean);
	else
		(void)snprintf(ret, CELL_BYTES, "%+.3f [%+.3f, %+.3f]",
			       difference->mean,
			       difference->mean - difference->half,
			       difference->mean + difference->half);
}

static void add_bots(const struct league_report *report, int wide,
		     struct buf *out)
{
	const struct league_sums *sums = report->sums;
	char head[CELL_BYTES];

	(void)snprintf(head, sizeof(head), "to %.*s (95 %%)", NAME_COLUMNS_MAX,
		       report->bots[sums->reference]);
	buf_add_format(out, "%-*s %7s %12s  %-32s %5s %7s %5s %5s %9s\n", wide,
		       "Bot", "Matches", "Mean score", head, "Late", "Invalid",
		       "Long", "Gone", "Slowest");
	for (unsigned b = 0; b < report->plan->nbots; b++) {
		const struct league_bot *bot = &sums->bots[b];
		char cell[CELL_BYTES] = "-";
		char mean[32] = "-";
		uint64_t too_much = bot->faults[MATCH_FAULT_LONG] +
				    bot->faults[MATCH_FAULT_FULL];

		if (b != sums->reference)
			format_difference(&bot->difference, cell);
		if (!isnan(bot->mean))
			(void)snprintf(mean, sizeof(mean), "%.3f", bot->mean);
		buf_add_format(
			out,
			"%-*.*s %7u %12s  %-32s %5llu %7llu %5llu %5u %6.1f "
			"ms\n",
			wide, wide, report->bots[b], bot->matches, mean, cell,
			(unsigned long long)bot->faults[MATCH_FAULT_LATE],
			(unsigned long long)bot->faults[MATCH_FAULT_INVALID],
			(unsigned long long)too_much, bot->gone,
			(double)bot->max_us / US_PER_MS);
	}
}

static void add_versus(const struct league_report *report, int wide,
		       struct buf *out)
{
	unsigned nbots = report->plan->nbots;

	if (nbots < 2)
		return;
	buf_add_format(out,
		       "\nHead to head: %s won/drawn/lost by the row's "
		       "bot\n%-*s",
		       report->plan->seats == 1 ? "instances" : "matches", wide,
		       "");
	for (unsigned b = 0; b < nbots; b++)
		buf_add_format(out, "  %*.*s", wide > 12 ? wide : 12,
			       NAME_COLUMNS_MAX, report->bots[b]);
	buf_add_char(out, '\n');
	for (unsigned a = 0; a < nbots; a++) {
		buf_add_format(out, "%-*.*s", wide, wide, report->bots[a]);
		for (unsigned b = 0; b < nbots; b++) {
			const struct league_versus *of =
				&report->sums->versus[a][b];
			char cell[CELL_BYTES] = "-";

			if (a != b)
				(void)snprintf(cell, sizeof(cell), "%u/%u/%u",
					       of->wins, of->draws, of->losses);
			buf_add_format(out, "  %*s", wide > 12 ? wide : 12,
				       cell);
		}
		buf_add_char(out, '\n');
	}
}

static int64_t seed_of(const struct league_report *report, unsigned instance)
{
	uint64_t seeds = league_instances(report->plan) / report->plan->nmaps;

	return (int64_t)((uint64_t)report->plan->first_seed + instance % seeds);
}

static const char *map_of(const struct league_report *report, unsigned instance)
{
	return report->maps[instance / (league_instances(report->plan) /
					report->plan->nmaps)];
}

static void add_extreme(const struct league_report *report, const char *word,
			const struct league_extreme *of, struct buf *out)
{
	if (!of->is_known)
		return;
	buf_add_format(out, "  %s %s seed %lld: %.3f", word,
		       map_of(report, of->instance),
		       (long long)seed_of(report, of->instance), of->score);
	if (!isnan(of->others))
		buf_add_format(out, " (others %.3f)", of->others);
	buf_add_char(out, '\n');
}

void league_report_text(const struct league_report *report, struct buf *out)
{
	const struct league_sums *sums = report->sums;
	unsigned total = league_matches(report->plan);
	int wide = name_columns(report);

	add_bots(report, wide, out);
	add_versus(report, wide, out);
	buf_add_text(out, report->plan->nbots > 1
				  ? "\nWorst and best instance, against the "
				    "mean of the others there\n"
				  : "\nWorst and best instance\n");
	for (unsigned b = 0; b < report->plan->nbots; b++) {
		buf_add_format(out, "%.*s\n", NAME_COLUMNS_MAX,
			       report->bots[b]);
		add_extreme(report, "worst", &sums->bots[b].worst, out);
		add_extreme(report, "best ", &sums->bots[b].best, out);
	}
	buf_add_format(out,
		       "\n%u of %u matches on %u instances. Differences are "
		       "paired by instance; the\nintervals are Student's t.\n",
		       sums->played, total, league_instances(report->plan));
}

/* ---- JSON ---- */

static json_t *real_json(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *extreme_json(const struct league_report *report,
			    const struct league_extreme *of)
{
	if (!of->is_known)
		return json_null();
	return json_pack("{ss, sI, so, so}", "map",
			 map_of(report, of->instance), "seed",
			 (json_int_t)seed_of(report, of->instance), "score",
			 real_json(of->score), "others", real_json(of->others));
}

static json_t *bot_json(const struct league_report *report, unsigned b)
{
	const struct league_bot *bot = &report->sums->bots[b];
	const struct paired *difference = &bot->difference;
	json_t *versus = json_object();
	json_t *json;

	for (unsigned other = 0; other < report->plan->nbots; other++) {
		const struct league_versus *of =
			&report->sums->versus[b][other];

		if (other != b)
			(void)json_object_set_new(
				versus, report->bots[other],
				json_pack("{si, si, si}", "won", (int)of->wins,
					  "drawn", (int)of->draws, "lost",
					  (int)of->losses));
	}
	json = json_pack("{ss, si, so, si, sI, so, so, so}", "bot",
			 report->bots[b], "matches", (int)bot->matches, "mean",
			 real_json(bot->mean), "gone", (int)bot->gone, "max_us",
			 (json_int_t)bot->max_us, "against", versus, "worst",
			 extreme_json(report, &bot->worst), "best",
			 extreme_json(report, &bot->best));
	for (unsigned i = 0; i < MATCH_NFAULTS; i++)
		(void)json_object_set_new(
			json, match_fault_word((enum match_fault)i),
			json_integer((json_int_t)bot->faults[i]));
	(void)json_object_set_new(
		json, "difference",
		json_pack(
			"{si, so, so, so}", "instances", (int)difference->count,
			"mean", real_json(difference->mean), "low",
			real_json(difference->mean - difference->half), "high",
			real_json(difference->mean + difference->half)));
	return json;
}

json_t *league_report_json(const struct league_report *report)
{
	json_t *list = json_array();

	for (unsigned b = 0; b < report->plan->nbots; b++)
		(void)json_array_append_new(list, bot_json(report, b));
	return json_pack("{si, si, si, ss, ss, so}", "played",
			 (int)report->sums->played, "matches",
			 (int)league_matches(report->plan), "instances",
			 (int)league_instances(report->plan), "reference",
			 report->bots[report->sums->reference], "interval",
			 "paired t, 95 %", "bots", list);
}
