/* SPDX-License-Identifier: MIT */
/* rating_commands.c - who stands where, and whether the ratings are right. */
#include <stdlib.h>
#include <string.h>

#include "clients/ctl/admin_commands.h"
#include "clients/ctl/match_view.h"
#include "clients/ctl/table.h"
#include "server/base/buffer.h"
#include "server/base/clock.h"
#include "server/ladder/refit.h"
#include "server/ladder/standings.h"

/* A ladder and who is rated there. */
struct league {
	struct channel channel;
	int64_t ladder_id;
	const char *ladder; /* the caller's */
	struct row_rated *rated;
	size_t count;
};

static void league_release(struct league *league)
{
	free(league->rated);
	channel_close(&league->channel);
}

/* That of LADDER, borrowed. CTL_OK, or an exit status; told why. */
static int league_open(struct league *league, const struct ctl *ctl,
		       const char *ladder)
{
	struct row_catalogue rows = { 0 };
	struct store_error error = { "" };

	memset(league, 0, sizeof(*league));
	league->ladder = ladder;
	if (channel_open_read(&league->channel, ctl) != 0)
		return CTL_FAILED;
	if (store_catalogue(league->channel.store, &rows, &error) != 0)
		goto err;
	for (size_t i = 0; i < rows.nladders; i++) {
		if (strcmp(rows.ladders[i].name, league->ladder) == 0)
			league->ladder_id = rows.ladders[i].id;
	}
	row_catalogue_release(&rows);
	if (league->ladder_id == 0) {
		channel_close(&league->channel);
		return ctl_fail(ctl, "there is no ladder %s", league->ladder);
	}
	if (store_rated(league->channel.store, league->ladder_id,
			&league->rated, &league->count, &error) == 0)
		return CTL_OK;
err:
	channel_close(&league->channel);
	return ctl_fail(ctl, "%s", error.text);
}

/* ---- standings ---- */

/* Leave out versions that are retired. */
static void keep_active(struct league *league)
{
	size_t kept = 0;

	for (size_t i = 0; i < league->count; i++) {
		if (league->rated[i].is_active)
			league->rated[kept++] = league->rated[i];
	}
	league->count = kept;
}

static struct standings_row *put_in_order(const struct league *league)
{
	struct standings_entry *entries =
		xcalloc(league->count + 1, sizeof(*entries));
	struct standings_row *rows = xcalloc(league->count + 1, sizeof(*rows));

	for (size_t i = 0; i < league->count; i++) {
		const struct row_rated *rated = &league->rated[i];

		entries[i] = (struct standings_entry){
			.rating = { rated->mu, rated->sigma },
			.rounds = rated->rounds,
			.last_us = rated->last_us,
			.id = rated->version_id,
		};
	}
	standings_order(entries, league->count, clock_wall_us(), rows);
	free(entries);
	return rows;
}

static void add_tenths(struct table *table, double value)
{
	char text[40];

	(void)snprintf(text, sizeof(text), "%.1f", value);
	table_add(table, text);
}

static void add_marks(struct table *table, const struct row_rated *rated,
		      unsigned flags)
{
	const char *const marks[] = {
		rated->is_house ? "house" : NULL,
		(flags & STANDINGS_PROVISIONAL) != 0 ? "provisional" : NULL,
		(flags & STANDINGS_INACTIVE) != 0 ? "inactive" : NULL,
	};
	struct buf text = BUF_INIT(64);

	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		if (marks[i] != NULL && text.len > 0)
			buf_add_text(&text, ", ");
		if (marks[i] != NULL)
			buf_add_text(&text, marks[i]);
	}
	table_add(table, buf_text(&text));
	buf_release(&text);
}

static void print_standings(const struct league *league,
			    const struct standings_row *rows)
{
	struct table table;

	table_init(&table);
	table_column(&table, "rank", true);
	table_column(&table, "bot", false);
	table_column(&table, "version", false);
	table_column(&table, "rating", true);
	table_column(&table, "mu", true);
	table_column(&table, "95 % from", true);
	table_column(&table, "to", true);
	table_column(&table, "rounds", true);
	table_column(&table, "", false);
	for (size_t i = 0; i < league->count; i++) {
		const struct standings_row *row = &rows[i];
		const struct row_rated *rated = &league->rated[row->entry];

		table_add_i64(&table, (int64_t)row->rank);
		table_add(&table, rated->bot);
		table_add(&table, rated->label);
		add_tenths(&table, (double)row->figure / 10);
		add_tenths(&table, rated->mu);
		add_tenths(&table, row->low);
		add_tenths(&table, row->high);
		table_add_i64(&table, rated->rounds);
		add_marks(&table, rated, row->flags);
	}
	table_print(&table, stdout);
	table_release(&table);
}

static json_t *pack_standings(const struct league *league,
			      const struct standings_row *rows)
{
	json_t *list = json_array();

	for (size_t i = 0; i < league->count; i++) {
		const struct standings_row *row = &rows[i];
		const struct row_rated *rated = &league->rated[row->entry];

		(void)json_array_append_new(
			list,
			json_pack("{s:I, s:s, s:s, s:s, s:i, s:f, s:f, s:f, "
				  "s:f, s:f, s:I, s:b, s:b, s:b}",
				  "rank", (json_int_t)row->rank, "bot",
				  rated->bot, "owner", rated->owner, "version",
				  rated->label, "number", (int)rated->version,
				  "rating", (double)row->figure / 10, "mu",
				  rated->mu, "sigma", rated->sigma, "low",
				  row->low, "high", row->high, "rounds",
				  (json_int_t)rated->rounds, "provisional",
				  (row->flags & STANDINGS_PROVISIONAL) != 0,
				  "inactive",
				  (row->flags & STANDINGS_INACTIVE) != 0,
				  "house", rated->is_house));
	}
	return json_pack("{s:s, s:o}", "ladder", league->ladder, "standings",
			 list);
}

/* Who stands where on LADDER: printed, or in *RET_JSON. An exit status. */
static int show_standings(const struct ctl *ctl, const struct ctl_call *call,
			  const char *ladder, json_t **ret_json)
{
	struct standings_row *rows;
	struct league league;
	int status = league_open(&league, ctl, ladder);
	bool is_new;

	if (status != CTL_OK)
		return status;
	is_new = league.count == 0;
	if (ctl_value(call, "all") == NULL)
		keep_active(&league);
	rows = put_in_order(&league);
	if (ctl->is_json)
		*ret_json = pack_standings(&league, rows);
	else if (is_new)
		(void)puts("nobody yet: no round is rated");
	else if (league.count == 0)
		(void)puts("nobody: all are retired, --all shows them");
	else
		print_standings(&league, rows);
	free(rows);
	league_release(&league);
	return CTL_OK;
}

/* All ladders' catalogue. CTL_OK, or an exit status; told why. */
static int read_all(const struct ctl *ctl, struct row_catalogue *ret)
{
	struct store_error error = { "" };
	struct channel channel;
	int err;

	if (channel_open_read(&channel, ctl) != 0)
		return CTL_FAILED;
	err = store_catalogue(channel.store, ret, &error);
	channel_close(&channel);
	return err == 0 ? CTL_OK : ctl_fail(ctl, "%s", error.text);
}

/* Those of each ladder that is rated, the oldest first. */
static int show_all_standings(const struct ctl *ctl,
			      const struct ctl_call *call)
{
	struct row_catalogue rows = { 0 };
	json_t *list = json_array(), *document;
	int status = read_all(ctl, &rows);
	unsigned count = 0;

	for (size_t i = 0; i < rows.nladders && status == CTL_OK; i++) {
		const struct row_ladder *row = &rows.ladders[i];
		json_t *json = NULL;

		if (!row->is_rated || !row->is_seed_random)
			continue;
		if (!ctl->is_json)
			(void)printf("%s%s:\n", count > 0 ? "\n" : "",
				     row->name);
		count++;
		status = show_standings(ctl, call, row->name, &json);
		if (json != NULL)
			(void)json_array_append_new(list, json);
	}
	document = json_pack("{s:b, s:o}", "ok", 1, "ladders", list);
	if (status == CTL_OK && ctl->is_json)
		ctl_print_json(document);
	else if (status == CTL_OK && count == 0)
		(void)printf("no ladder is rated\n");
	json_decref(document);
	row_catalogue_release(&rows);
	return status;
}

static int run_standings(const struct ctl *ctl, const struct ctl_call *call)
{
	json_t *document = NULL;
	int status;

	if (call->nargs == 0)
		return show_all_standings(ctl, call);
	status = show_standings(ctl, call, call->args[0], &document);
	if (document == NULL)
		return status;
	(void)json_object_set_new(document, "ok", json_true());
	ctl_print_json(document);
	json_decref(document);
	return status;
}

/* ---- rating refit ---- */

/* VERSION_ID's place among the rated, or COUNT (hidden since). */
static size_t place_of(const struct league *league, int64_t version_id)
{
	size_t i = 0;

	while (i < league->count && league->rated[i].version_id != version_id)
		i++;
	return i;
}

/* The rankings that PLACES (by sequence) hold; all borrow *RET_PLACES. */
static size_t make_rankings(const struct league *league,
			    const struct row_place *places, size_t nplaces,
			    struct refit_place *ret_places,
			    struct refit_ranking *ret)
{
	size_t count = 0, kept = 0;

	for (size_t i = 0; i < nplaces; i++) {
		size_t bot = place_of(league, places[i].version_id);

		if (i == 0 || places[i].sequence != places[i - 1].sequence)
			ret[count++] = (struct refit_ranking){
				.places = &ret_places[kept]
			};
		if (bot == league->count)
			continue;
		ret_places[kept++] =
			(struct refit_place){ .bot = (uint32_t)bot,
					      .rank = places[i].rank };
		ret[count - 1].count++;
	}
	/* All of a round hidden: it tells nothing. */
	for (size_t i = 0; i < count;)
		if (ret[i].count == 0)
			ret[i] = ret[--count];
		else
			i++;
	return count;
}

static void print_refit(const struct ctl *ctl, const struct league *league,
			const struct refit *refit)
{
	json_t *list = json_array(), *document;
	struct table table;

	table_init(&table);
	table_column(&table, "bot", false);
	table_column(&table, "version", false);
	table_column(&table, "mu", true);
	table_column(&table, "95 % from", true);
	table_column(&table, "to", true);
	table_column(&table, "mu on line", true);
	for (size_t i = 0; i < league->count; i++) {
		const struct row_rated *rated = &league->rated[i];
		const struct rating *rating = &refit->ratings[i];
		double half = RATING_Z95 * rating->sigma;

		table_add(&table, rated->bot);
		table_add(&table, rated->label);
		add_tenths(&table, rating->mu);
		add_tenths(&table, rating->mu - half);
		add_tenths(&table, rating->mu + half);
		add_tenths(&table, rated->mu);
		(void)json_array_append_new(
			list,
			json_pack("{s:s, s:s, s:f, s:f, s:f, s:f, s:f}", "bot",
				  rated->bot, "version", rated->label, "mu",
				  rating->mu, "sigma", rating->sigma, "low",
				  rating->mu - half, "high", rating->mu + half,
				  "online_mu", rated->mu));
	}
	document = json_pack("{s:b, s:s, s:o}", "ok", 1, "ladder",
			     league->ladder, "refit", list);
	if (ctl->is_json)
		ctl_print_json(document);
	else
		table_print(&table, stdout);
	json_decref(document);
	table_release(&table);
}

static int run_refit(const struct ctl *ctl, const struct ctl_call *call)
{
	struct store_error error = { "" };
	struct refit_ranking *rankings = NULL;
	struct refit_place *refit_places = NULL;
	struct row_place *places = NULL;
	struct refit refit = { 0 };
	struct league league;
	size_t nplaces = 0, count;
	int status = league_open(&league, ctl, call->args[0]);

	if (status != CTL_OK)
		return status;
	if (store_rankings(league.channel.store, league.ladder_id, &places,
			   &nplaces, &error) != 0) {
		status = ctl_fail(ctl, "%s", error.text);
		goto out;
	}
	refit_places = xcalloc(nplaces + 1, sizeof(*refit_places));
	rankings = xcalloc(nplaces + 1, sizeof(*rankings));
	count = make_rankings(&league, places, nplaces, refit_places, rankings);
	if (league.count > 0 &&
	    refit_init(&refit, &rating_model_default, league.count, rankings,
		       count, NULL) != 0)
		status = ctl_fail(ctl, "the results of %s cannot be fitted",
				  league.ladder);
	else
		print_refit(ctl, &league, &refit);
	refit_release(&refit);
out:
	free(rankings);
	free(refit_places);
	free(places);
	league_release(&league);
	return status;
}

static int run_check(const struct ctl *ctl, const struct ctl_call *call)
{
	json_t *request = make_request(call), *reply;

	if (request == NULL)
		return CTL_USAGE;
	/* It may take minutes, which hilld has better use for. */
	reply = ask_file(ctl, request);
	if (reply == NULL)
		return CTL_FAILED;
	if (ctl->is_json)
		ctl_print_json(reply);
	else
		(void)printf("%lld ratings are as their rounds make them\n",
			     (long long)json_integer_value(
				     json_object_get(reply, "ratings")));
	json_decref(reply);
	return CTL_OK;
}

/* clang-format off */
static const struct ctl_option standings_options[] = {
	{ "all", NULL, CTL_TRUE, false, NULL, "also versions that are played no more" },
	{ .name = NULL },
};

static const char standings_details[] =
	"The rating orders the table: mu - 3 sigma, what a version is worth at least.\n"
	"Provisional versions (fewer than 10 rounds, or a sigma above 7) stand below\n"
	"all others; equal ratings share a rank. Inactive: no round for 14 days. mu is\n"
	"how strong it is believed to be: between `from` and `to` with a probability\n"
	"of 95 %.\n";

static const char refit_details[] =
	"Fits all rated rounds at once, in whatever order they came: Plackett-Luce,\n"
	"maximum likelihood with a prior. Beside it mu as it was kept on line.\n"
	"Changes nothing.\n";

static const char check_details[] =
	"Rates all rounds of all ladders once more, in their sequence, and compares:\n"
	"every stored rating, and each change of one, must come out the same to the\n"
	"last bit. Changes nothing, and nobody waits for it: it reads the file itself.\n";

const struct ctl_command ctl_rating_commands[] = {
	{ "standings", "[LADDER]", 0, 1, NULL, standings_options, "who stands where on a ladder, or on all that are rated, with 95 % intervals", standings_details, NULL, NULL, run_standings, NULL },
	{ "rating refit", "LADDER", 1, 1, NULL, ctl_no_options, "ratings from all results at once", refit_details, NULL, NULL, run_refit, NULL },
	{ "rating check", "", 0, 0, NULL, ctl_no_options, "rate everything again and compare", check_details, NULL, NULL, run_check, NULL },
	{ .name = NULL },
};
/* clang-format on */
