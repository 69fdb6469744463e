/* SPDX-License-Identifier: MIT */
/* moderate_commands.c - a host's word to everybody. */
#include <string.h>

#include "clients/ctl/admin_commands.h"
#include "clients/ctl/table.h"

/* "90", "90s", "15m", "2h", "7d" in seconds. */
static bool parse_duration(const char *text, int64_t *ret)
{
	static const struct {
		char unit;
		int64_t seconds;
	} units[] = { { 's', 1 }, { 'm', 60 }, { 'h', 3600 }, { 'd', 86400 } };
	char number[24];
	size_t len = strlen(text);
	int64_t factor = 1;

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]) && len > 0; i++)
		if (text[len - 1] == units[i].unit) {
			factor = units[i].seconds;
			len--;
			break;
		}
	if (len == 0 || len >= sizeof(number))
		return false;
	memcpy(number, text, len);
	number[len] = '\0';
	return ctl_parse_number(number, ret) && *ret >= 1 &&
	       !__builtin_mul_overflow(*ret, factor, ret);
}

/* ---- announce ---- */

static int run_announce(const struct ctl *ctl, const struct ctl_call *call)
{
	const char *duration = ctl_value(call, "for");
	json_t *request, *reply;
	int64_t for_s = 0;

	if (duration != NULL && !parse_duration(duration, &for_s))
		return ctl_usage(call,
				 "--for: '%s' is no time like 90s, 15m, 2h or "
				 "7d",
				 duration);
	request = make_request(call);
	if (request == NULL)
		return CTL_USAGE;
	(void)json_object_set_new(request, "command",
				  json_string("announce add"));
	if (duration != NULL)
		(void)json_object_set_new(request, "for_s",
					  json_integer(for_s));
	reply = carry_out(ctl, call, NULL, request);
	if (reply == NULL)
		return CTL_FAILED;
	if (ctl->is_json)
		ctl_print_json(reply);
	else
		(void)printf(
			"announcement %lld: made\n",
			(long long)json_integer_value(json_object_get(
				json_object_get(reply, "announcement"), "id")));
	json_decref(reply);
	return CTL_OK;
}

/* ---- the table ---- */

#define FIELD(name, value, kind, field, help)         \
	{                                             \
		name, value, kind, false, field, help \
	}

/* clang-format off */
static const struct ctl_option announce_options[] = {
	FIELD("for", "DURATION", CTL_TEXT, NULL, "90s, 15m, 2h, 7d (default: until it is dropped)"),
	{ .name = NULL },
};

static const struct ctl_column announce_columns[] = {
	{ "id", "id", CTL_AS_NUMBER }, { "since (UTC)", "at_us", CTL_AS_TIME },
	{ "until (UTC)", "until_us", CTL_AS_TIME }, { "text", "text", CTL_AS_TEXT },
	{ .title = NULL },
};

static const char announce_details[] =
	"Each connection is told it once, as @notice: now, or after a match for which it\n"
	"wants to hear nothing, or when it logs in. The API shows it as well. A text that\n"
	"is the name of a command stands behind --: hillctl announce -- list\n";

const struct ctl_command ctl_moderate_commands[] = {
	{ "announce", "TEXT", 1, 1, "text", announce_options, "say one line to everybody", announce_details, NULL, NULL, run_announce },
	{ "announce list", "", 0, 0, NULL, ctl_no_options, "what is announced now", NULL, "announcements", announce_columns, run_list },
	{ "announce drop", "ID", 1, 1, "id", ctl_no_options, "announce it no more", NULL, NULL, NULL, run_change },
	{ .name = NULL },
};
/* clang-format on */
