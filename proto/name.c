/* SPDX-License-Identifier: MIT */
#include "proto/name.h"

#include <string.h>

static const char lower[] = "abcdefghijklmnopqrstuvwxyz";
static const char upper[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
static const char digits[] = "0123456789";

static bool is_among(char c, const char *set)
{
	return c != '\0' && strchr(set, c) != NULL;
}

static bool is_plain(char c)
{
	return is_among(c, lower) || is_among(c, digits);
}

bool name_is_bot(const char *name, size_t len)
{
	if (len < NAME_BOT_MIN || len > NAME_BOT_MAX)
		return false;
	for (size_t i = 0; i < len; i++) {
		if (!is_plain(name[i]) && !is_among(name[i], "-_"))
			return false;
	}
	return true;
}

const char *name_bot_rule(void)
{
	return "a bot's name has 3 to 24 of a-z 0-9 - _";
}

const char *name_of_guest(const char *text)
{
	size_t len = strlen(NAME_GUESTS);

	return strncmp(text, NAME_GUESTS, len) == 0 ? text + len : NULL;
}

bool name_is_ladder(const char *name, size_t len)
{
	if (len < 1 || len > NAME_TEXT_MAX || !is_plain(name[0]))
		return false;
	for (size_t i = 1; i < len; i++) {
		if (!is_plain(name[i]) && !is_among(name[i], "-_."))
			return false;
	}
	return true;
}

bool name_is_file(const char *name, size_t len)
{
	if (len < 1 || len > NAME_TEXT_MAX || is_among(name[0], ".-"))
		return false;
	for (size_t i = 0; i < len; i++) {
		if (!is_plain(name[i]) && !is_among(name[i], upper) &&
		    !is_among(name[i], "._-"))
			return false;
	}
	return true;
}

bool name_is_token(const char *name, size_t len)
{
	if (len < 1 || len > NAME_TOKEN_MAX)
		return false;
	for (size_t i = 0; i < len; i++) {
		if (name[i] <= ' ' || name[i] > '~')
			return false;
	}
	return true;
}

bool name_is_version(const char *name, size_t len)
{
	if (len < 1 || len > NAME_VERSION_MAX)
		return false;
	for (size_t i = 0; i < len; i++) {
		if (!is_plain(name[i]) && !is_among(name[i], upper) &&
		    !is_among(name[i], "._+-"))
			return false;
	}
	return true;
}

bool name_may_be_chosen(const char *name)
{
	static const char *const words[] = {
		"administrator", "all",     "anonymous", "any",    "anybody",
		"bot",           "hill",    "hill-run",  "hilld",  "hillctl",
		"hill-bridge",   "host",    "nobody",    "none",   "null",
		"owner",         "referee", "root",      "server", "system",
		"undefined",     "unknown", "void",
	};
	/*
	 * "house-rabbit" would pass for the host's own, "erased-7" for who was
	 * forgotten.
	 */
	static const char *const beginnings[] = {
		"admin", "erased",    "guest",    "guests",
		"house", "moderator", "operator", "staff",
	};
	size_t len = strcspn(name, "-_");

	if (!is_plain(name[0]))
		return false;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(words[i], name) == 0)
			return false;
	}
	for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]);
	     i++) {
		if (strlen(beginnings[i]) == len &&
		    strncmp(beginnings[i], name, len) == 0)
			return false;
	}
	return true;
}
