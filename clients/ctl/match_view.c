/* SPDX-License-Identifier: MIT */
#include "clients/ctl/match_view.h"

#include <string.h>
#include <time.h>

#include "clients/ctl/table.h"
#include "server/games/game.h"

static int find_by_seed(const struct ctl *ctl, const struct ctl_call *call,
			struct store *store, int64_t *ret)
{
	const char *ladder = ctl_value(call, "ladder");
	struct row_filter filter = { .seed = ctl_value(call, "seed"),
				     .ladder = ladder,
				     .limit = 2 };
	struct store_error error = { "" };
	struct row_match_list list = { 0 };
	int status = CTL_OK;

	if (store_matches(store, &filter, &list, &error) != 0)
		return ctl_fail(ctl, "%s", error.text);
	if (list.nmatches == 0)
		status = ctl_fail(ctl, "there is no match of seed %s%s%s",
				  filter.seed, ladder == NULL ? "" : " on ",
				  ladder == NULL ? "" : ladder);
	else
		*ret = list.matches[0].id;
	if (list.nmatches > 1)
		(void)fprintf(stderr,
			      "hillctl: more than one match has that seed; "
			      "this is the newest, %lld (`hillctl match list "
			      "--seed` shows all)\n",
			      (long long)*ret);
	row_match_list_release(&list);
	return status;
}

int match_parse(const struct ctl_call *call, int64_t *ret)
{
	const char *name = call->command->name;
	bool has_seed = ctl_value(call, "seed") != NULL;

	*ret = 0;
	if (call->nargs == 0)
		return has_seed ? CTL_OK
				: ctl_usage(call,
					    "%s: the match's ID is "
					    "missing, or --seed",
					    name);
	if (has_seed)
		return ctl_usage(call, "%s: either an ID or --seed", name);
	if (!ctl_parse_number(call->args[0], ret) || *ret < 1)
		return ctl_usage(call, "%s: '%s' is no match's ID", name,
				 call->args[0]);
	return CTL_OK;
}

int match_find(const struct ctl *ctl, const struct ctl_call *call,
	       struct store *store, int64_t *id)
{
	return *id != 0 ? CTL_OK : find_by_seed(ctl, call, store, id);
}

int match_time(const struct ctl_call *call, const char *name, int64_t *ret)
{
	static const char *const formats[] = { "%Y-%m-%d", "%Y-%m-%dT%H:%M",
					       "%Y-%m-%dT%H:%M:%S" };
	const char *text = ctl_value(call, name);

	if (text == NULL)
		return CTL_OK;
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		struct tm tm = { 0 };
		const char *end = strptime(text, formats[i], &tm);

		if (end == NULL || *end != '\0')
			continue;
		*ret = (int64_t)timegm(&tm) * 1000000;
		return CTL_OK;
	}
	return ctl_usage(call,
			 "--%s: '%s' is no time like 2026-01-31 or "
			 "2026-01-31T12:30:00",
			 name, text);
}

void match_add_score(struct table *table, double score)
{
	struct buf text = BUF_INIT(64);

	game_score_format(score, &text);
	table_add(table, buf_text(&text));
	buf_release(&text);
}
