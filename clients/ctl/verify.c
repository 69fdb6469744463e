/* SPDX-License-Identifier: MIT */
/*
 * verify.c - prove that stored matches come out as they are stored. Threads
 * take the next match from a common list, page by page; what they share has a
 * lock, and only they print.
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "clients/ctl/match_view.h"
#include "server/base/clock.h"
#include "server/store/rerun.h"

enum { PAGE = 200, JOBS_MAX = 64, PROGRESS_US = 200000 };

struct survey {
	const struct ctl *ctl;
	struct store *store;  /* borrowed; its reads have a lock of their own */
	pthread_mutex_t lock; /* for all below */
	struct row_match_list page;
	size_t next;       /* in the page */
	int64_t before_id; /* of the next page; 0: the first one */
	bool is_finished;
	bool is_broken; /* the store failed: no more */
	uint64_t verified, failed;
	int64_t total; /* about; for the progress line */
	bool has_progress;
	int64_t shown_us;
	json_t *failures; /* owned */
};

static void clear_progress(const struct survey *survey)
{
	if (survey->has_progress)
		(void)fputs("\r\033[K", stderr);
}

static void show_progress(struct survey *survey)
{
	int64_t now_us = clock_now_us();

	if (!survey->has_progress || now_us - survey->shown_us < PROGRESS_US)
		return;
	survey->shown_us = now_us;
	(void)fprintf(stderr, "\r\033[K%llu of %lld verified, %llu failed",
		      (unsigned long long)survey->verified + survey->failed,
		      (long long)survey->total,
		      (unsigned long long)survey->failed);
	(void)fflush(stderr);
}

/* The next match's id; 0: none is left. With the lock. */
static int64_t next_id(struct survey *survey)
{
	struct row_filter filter = { .before_id = survey->before_id,
				     .limit = PAGE };
	struct store_error error = { "" };
	int64_t id;

	if (survey->is_finished)
		return 0;
	if (survey->next == survey->page.nmatches) {
		row_match_list_release(&survey->page);
		survey->next = 0;
		if (store_matches(survey->store, &filter, &survey->page,
				  &error) != 0) {
			clear_progress(survey);
			(void)fprintf(stderr, "hillctl: %s\n", error.text);
			survey->is_broken = true;
		}
		if (survey->is_broken || survey->page.nmatches == 0) {
			survey->is_finished = true;
			return 0;
		}
	}
	id = survey->page.matches[survey->next++].id;
	survey->before_id = id;
	return id;
}

static json_t *place_json(const struct rerun_place *place)
{
	return json_pack("{s:I, s:i, s:I}", "input", (json_int_t)place->input,
			 "seat", (int)place->seat + 1, "request",
			 (json_int_t)place->request);
}

static json_t *report_json(int64_t id, const struct rerun_report *report)
{
	json_t *json = json_pack("{s:I, s:s, s:s}", "id", (json_int_t)id,
				 "verdict", rerun_verdict_word(report->verdict),
				 "text", report->text);

	if (report->has_place) {
		(void)json_object_set_new(json, "agree_to",
					  place_json(&report->from));
		(void)json_object_set_new(json, "part_by",
					  place_json(&report->to));
	}
	return json;
}

static void take_report(struct survey *survey, int64_t id,
			const struct rerun_report *report)
{
	if (report->verdict == RERUN_SAME) {
		survey->verified++;
		show_progress(survey);
		return;
	}
	survey->failed++;
	(void)json_array_append_new(survey->failures, report_json(id, report));
	if (!survey->ctl->is_json) {
		clear_progress(survey);
		(void)printf("match %lld %s: %s\n", (long long)id,
			     rerun_verdict_word(report->verdict), report->text);
		(void)fflush(stdout);
	}
	show_progress(survey);
}

/* One match, without the lock. A match that is there no more is a failure. */
static void verify_one(struct survey *survey, int64_t id,
		       struct rerun_report *ret)
{
	struct store_error error = { "" };

	if (rerun_verify_stored(survey->store, id, ret, &error) == 0)
		return;
	memset(ret, 0, sizeof(*ret));
	ret->verdict = RERUN_UNPLAYABLE;
	(void)snprintf(ret->text, sizeof(ret->text), "%.390s", error.text);
}

static void *work(void *context)
{
	struct survey *survey = context;
	struct rerun_report report;
	int64_t id;

	for (;;) {
		(void)pthread_mutex_lock(&survey->lock);
		id = next_id(survey);
		(void)pthread_mutex_unlock(&survey->lock);
		if (id == 0)
			return NULL;
		verify_one(survey, id, &report);
		(void)pthread_mutex_lock(&survey->lock);
		take_report(survey, id, &report);
		(void)pthread_mutex_unlock(&survey->lock);
	}
}

/* The calling thread is one of them; fewer do as well. */
static void work_with(struct survey *survey, unsigned jobs)
{
	pthread_t threads[JOBS_MAX];
	unsigned started = 0;

	while (started + 1 < jobs &&
	       pthread_create(&threads[started], NULL, work, survey) == 0)
		started++;
	(void)work(survey);
	for (unsigned i = 0; i < started; i++)
		(void)pthread_join(threads[i], NULL);
}

static int conclude(struct survey *survey)
{
	bool is_good = survey->failed == 0 && !survey->is_broken;
	json_t *document;

	clear_progress(survey);
	if (survey->ctl->is_json) {
		document = json_pack("{s:b, s:I, s:I, s:O}", "ok", is_good,
				     "verified", (json_int_t)survey->verified,
				     "failed", (json_int_t)survey->failed,
				     "failures", survey->failures);
		ctl_print_json(document);
		json_decref(document);
	} else {
		(void)printf("%llu verified, %llu failed%s\n",
			     (unsigned long long)survey->verified,
			     (unsigned long long)survey->failed,
			     survey->is_broken ? ", and then no more could be "
						 "read"
					       : "");
	}
	return is_good ? CTL_OK : CTL_FAILED;
}

static int verify_all(struct survey *survey, unsigned jobs)
{
	struct store_error error = { "" };
	struct row_counts counts;

	if (store_counts(survey->store, &counts, &error) != 0)
		return ctl_fail(survey->ctl, "%s", error.text);
	survey->total = counts.matches;
	survey->has_progress = isatty(STDERR_FILENO) == 1;
	work_with(survey, jobs);
	row_match_list_release(&survey->page);
	return conclude(survey);
}

static int verify_single(struct survey *survey, int64_t id)
{
	struct store_error error = { "" };
	struct rerun_report report;

	if (rerun_verify_stored(survey->store, id, &report, &error) != 0)
		return ctl_fail(survey->ctl, "%s", error.text);
	take_report(survey, id, &report);
	return conclude(survey);
}

int run_verify(const struct ctl *ctl, const struct ctl_call *call)
{
	struct survey survey = { .ctl = ctl,
				 .lock = PTHREAD_MUTEX_INITIALIZER };
	int64_t jobs = ctl_number(call, "jobs", 1);
	bool is_all = ctl_value(call, "all") != NULL;
	struct channel channel;
	int64_t id = 0;
	int status;

	if (is_all == (call->nargs == 1))
		return ctl_usage(call, "verify: either an ID or --all");
	if (jobs < 1 || jobs > JOBS_MAX)
		return ctl_usage(call, "--jobs: %lld is not 1 to %d",
				 (long long)jobs, (int)JOBS_MAX);
	if (!is_all && match_parse(call, &id) != CTL_OK)
		return CTL_USAGE;
	if (channel_open_read(&channel, ctl) != 0)
		return CTL_FAILED;
	survey.store = channel.store;
	survey.failures = json_array();
	status = is_all ? verify_all(&survey, (unsigned)jobs)
			: verify_single(&survey, id);
	json_decref(survey.failures);
	channel_close(&channel);
	return status;
}
