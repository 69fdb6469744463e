/* SPDX-License-Identifier: MIT */
#include "server/net/figures.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/net/net_internal.h"
#include "server/store/store.h"

enum { LIVE_MAX = 500, LABEL_BYTES = 80 };

void figures_release(struct net_figures *figures)
{
	free(figures->saved);
	figures->saved = NULL;
}

void figures_lines(struct net_figures *figures, const char *bytes, size_t len)
{
	static const char word[] = "@error ";
	const size_t word_len = sizeof(word) - 1;
	const char *end = bytes + len;

	/* Game lines come in chunks of their own: one look at the first. */
	while (bytes < end && *bytes == '@') {
		const char *next = memchr(bytes, '\n', (size_t)(end - bytes));
		size_t left = (size_t)(end - bytes);

		if (left > word_len && memcmp(bytes, word, word_len) == 0) {
			const char *code = bytes + word_len;

			for (unsigned i = 1; i < ERROR_NCODES; i++) {
				size_t n = strlen(error_kinds[i].name);

				if (left - word_len > n &&
				    memcmp(code, error_kinds[i].name, n) == 0 &&
				    (code[n] == ' ' || code[n] == '\n'))
					figures->refusals[i]++;
			}
		}
		if (next == NULL)
			return;
		bytes = next + 1;
	}
}

void figures_record(struct net_figures *figures,
		    const struct match_record *record)
{
	/*
	 * Who looks right before and after would learn how it went, and how
	 * many turns it took: only that there was a match is counted.
	 */
	if (record->meeting.is_embargo)
		return;
	for (unsigned i = 0; i < record->nseats; i++) {
		const struct match_record_seat *seat = &record->seats[i];

		for (unsigned k = 0; k < MATCH_NFAULTS; k++)
			figures->faults[k] += seat->faults[k];
		for (unsigned k = 0; k <= METRICS_BOUNDS; k++)
			figures->turns.counts[k] += seat->times[k];
		figures->turns.sum_us += seat->total_us;
		figures->nturns += seat->requests;
		if (!record->is_void)
			figures->reasons[seat->score.reason]++;
	}
}

void figures_saved(struct net_figures *figures, int64_t id)
{
	if (figures->nsaved == FIGURES_SAVED_MAX)
		return;
	if (figures->nsaved == figures->saved_cap) {
		figures->saved_cap =
			figures->saved_cap == 0 ? 64 : figures->saved_cap * 2;
		figures->saved =
			xreallocarray(figures->saved, figures->saved_cap,
				      sizeof(figures->saved[0]));
	}
	figures->saved[figures->nsaved++] = id;
}

static void add_lobby(struct net *net, struct buf *out)
{
	struct lobby_status status;

	lobby_status(net->lobby, &status);
	metrics_figure(out, "hill_connections", "gauge",
		       "connections of bots that are open", net->nconns);
	metrics_figure(out, "hill_connections_total", "counter",
		       "connections of bots since the start",
		       net->figures.connections);
	metrics_figure(out, "hill_bots_logged_in", "gauge",
		       "connections that have logged in", status.logged_in);
	metrics_figure(out, "hill_waiting", "gauge",
		       "places in ladders' queues", status.waiting);
	metrics_figure(out, "hill_matches", "gauge",
		       "matches in play, offers included", status.matches);
	metrics_figure(out, "hill_match_bytes", "gauge",
		       "memory admitted for matches", status.match_bytes);
	metrics_figure(out, "hill_record_bytes", "gauge",
		       "memory of replies that are not on disk yet",
		       status.record_bytes);
	metrics_figure(out, "hill_map_bytes", "gauge",
		       "memory of maps kept ready", status.map_bytes);
	metrics_head(out, "hill_matches_total", "counter",
		     "matches since the start, by what became of them");
	metrics_line(out, "hill_matches_total", "state=\"started\"",
		     status.started);
	metrics_line(out, "hill_matches_total", "state=\"finished\"",
		     status.finished);
	metrics_line(out, "hill_matches_total", "state=\"cancelled\"",
		     status.cancelled);
	metrics_line(out, "hill_matches_total", "state=\"void\"",
		     status.voided);
	metrics_figure(out, "hill_lagging", "gauge",
		       "1 while the loop's lag lets no match start",
		       status.is_lagging);
	metrics_figure(out, "hill_draining", "gauge",
		       "1 once the server is about to end", status.is_draining);
}

static void add_store(struct net *net, struct buf *out)
{
	struct store_figures figures;

	store_figures(net->store, &figures);
	metrics_figure(out, "hill_store_queue", "gauge",
		       "results that are not yet on disk",
		       figures.waiting + net->nheld);
	metrics_figure(out, "hill_store_queue_bytes", "gauge", "bytes of those",
		       figures.waiting_bytes);
	metrics_figure(out, "hill_store_trouble", "gauge",
		       "1 while results cannot be written",
		       net->store_trouble != NULL);
	metrics_figure(out, "hill_store_records_total", "counter",
		       "results written", figures.records);
	metrics_histogram(out, "hill_store_commit_seconds",
			  "time of a commit, which may hold many results",
			  &figures.commits);
}

static void add_words(struct net *net, struct buf *out)
{
	const struct net_figures *figures = &net->figures;
	char label[LABEL_BYTES];

	metrics_head(out, "hill_refusals_total", "counter",
		     "@error lines sent, by code");
	for (unsigned i = 1; i < ERROR_NCODES; i++) {
		(void)snprintf(label, sizeof(label), "code=\"%s\"",
			       error_kinds[i].name);
		metrics_line(out, "hill_refusals_total", label,
			     figures->refusals[i]);
	}
	metrics_head(out, "hill_faults_total", "counter",
		     "faults in matches that are over, by kind");
	for (unsigned i = 0; i < MATCH_NFAULTS; i++) {
		(void)snprintf(label, sizeof(label), "kind=\"%s\"",
			       match_fault_word((enum match_fault)i));
		metrics_line(out, "hill_faults_total", label,
			     figures->faults[i]);
	}
	metrics_head(out, "hill_seats_total", "counter",
		     "seats of matches that are over, by how they ended");
	for (unsigned i = 0; i < GAME_NREASONS; i++) {
		(void)snprintf(label, sizeof(label), "reason=\"%s\"",
			       game_reason_word((enum game_reason)i));
		metrics_line(out, "hill_seats_total", label,
			     figures->reasons[i]);
	}
}

void figures_text(struct net *net, struct buf *out)
{
	add_lobby(net, out);
	metrics_figure(out, "hill_turns_total", "counter",
		       "requests put to bots, in matches that are over",
		       net->figures.nturns);
	metrics_histogram(out, "hill_turn_seconds",
			  "bots' time for replies, in matches that are over",
			  &net->figures.turns);
	metrics_histogram(out, "hill_loop_lag_seconds",
			  "how late the loop came to things, each time",
			  &net->figures.lag);
	add_store(net, out);
	add_words(net, out);
}

static void add_text(struct buf *out, const char *text)
{
	buf_add_char(out, '"');
	for (; *text != '\0'; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '"' || c == '\\' || c < 0x20 || c >= 0x7f)
			buf_add_format(out, "\\u%04x", c);
		else
			buf_add_char(out, (char)c);
	}
	buf_add_char(out, '"');
}

void figures_live(struct net *net, struct buf *out)
{
	struct lobby_live *live = xcalloc(LIVE_MAX, sizeof(*live));
	size_t total, count = lobby_live(net->lobby, live, LIVE_MAX, &total);

	buf_add_format(out, "{\"count\":%zu,\"matches\":[", total);
	for (size_t i = 0; i < count; i++) {
		buf_add_format(out,
			       "%s{\"id\":%lld,\"ladder\":", i > 0 ? "," : "",
			       (long long)live[i].id);
		add_text(out, live[i].ladder);
		buf_add_text(out, ",\"game\":");
		add_text(out, live[i].game);
		buf_add_format(out, ",\"running\":%s,\"turn\":%u,\"bots\":[",
			       live[i].is_running ? "true" : "false",
			       live[i].turn);
		for (unsigned seat = 0; seat < live[i].nseats; seat++) {
			if (seat > 0)
				buf_add_char(out, ',');
			if (live[i].bots[seat] != NULL)
				add_text(out, live[i].bots[seat]);
			else
				buf_add_text(out, "null");
		}
		buf_add_text(out, "]}");
	}
	buf_add_text(out, "]}");
	free(live);
}
