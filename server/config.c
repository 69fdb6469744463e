/* SPDX-License-Identifier: MIT */
#include "server/config.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "server/base/address.h"
#include "server/base/limits.h"
#include "server/store/admin.h"

enum { FILE_BYTES_MAX = 1024 * 1024, PORT_MAX = 65535, VALUE_SHOWN = 120 };

enum kind {
	KIND_LISTEN,
	KIND_TEXT,
	KIND_LEVEL,
	KIND_NUMBER,
	KIND_WORD,
	KIND_ADDRESSES
};

struct key {
	const char *name;
	enum kind kind;
	bool is_fixed; /* a change takes a restart */
	size_t offset; /* of the member in struct config */
	int64_t min, max, fallback;
	const char *text_fallback;
	const char *doc;
	/* of KIND_WORD: a number is which; NULL ends them */
	const char *const *words;
};

#define AT(member) offsetof(struct config, member)
#define TEXT(name, member, text, doc)                                       \
	{                                                                   \
		name, KIND_TEXT, true, AT(member), 0, 0, 0, text, doc, NULL \
	}
#define NUMBER(name, member, min, max, fallback, doc)                     \
	{                                                                 \
		name, KIND_NUMBER, false, AT(member), min, max, fallback, \
			NULL, doc, NULL                                   \
	}
#define WORD(name, member, words, fallback, text, doc)                         \
	{                                                                      \
		name, KIND_WORD, false, AT(member), 0, 0, fallback, text, doc, \
			words                                                  \
	}

/* As enum store_registration. */
static const char *const registrations[] = { "closed", "invite", "open", NULL };

#define FIXED(name, member, min, max, fallback, doc)                           \
	{                                                                      \
		name, KIND_NUMBER, true, AT(member), min, max, fallback, NULL, \
			doc, NULL                                              \
	}

static const char *const switches[] = { "off", "on", NULL };

/* clang-format off */
static const struct key keys[] = {
	{ "listen", KIND_LISTEN, true, AT(listens), 0, 0, 0, "127.0.0.1:4455",
	  "addresses for bots, each HOST:PORT or [IPV6]:PORT; an empty HOST is every address, port 0 lets the kernel choose", NULL },
	TEXT("host", host, "", "the name that bots are greeted with; empty: the machine's"),
	TEXT("database", database, "hill.db", "the SQLite file; made when it is not there"),
	TEXT("control", control, "", "the control socket for hillctl; empty: the database's path with .sock behind it"),
	{ "log", KIND_TEXT, false, AT(log), 0, 0, 0, "",
	  "the log file, opened again at SIGHUP; empty: standard error", NULL },
	{ "log-level", KIND_LEVEL, false, AT(log_level), 0, 0, LOG_LEVEL_INFO, "info",
	  "the least grave lines to write: error, warn, info or debug", NULL },
	{ "workers", KIND_NUMBER, true, AT(workers), 1, 64, 2, NULL,
	  "threads for long computations: big turns and new maps", NULL },
	NUMBER("drain-seconds", drain_seconds, 0, 86400, 60,
	       "how long running matches may go on after SIGTERM"),
	NUMBER("login-seconds", login_seconds, 1, 3600, LIMIT_LOGIN_MS / 1000,
	       "how long a connection may take to log in"),
	NUMBER("connections-max", connections_max, 1, 1000000, 18000,
	       "connections at once; the rest is told to come later"),
	NUMBER("connections-per-address", connections_per_address, 1, 1000000, 256,
	       "connections at once from one address"),
	NUMBER("logins-pending-per-address", logins_pending_per_address, 1, 1000000, 64,
	       "of these, so many that have not logged in yet"),
	NUMBER("login-failures-max", login_failures_max, 1, 1000000, 10,
	       "wrong logins from one address before it must wait"),
	NUMBER("login-failure-seconds", login_failure_seconds, 1, 86400, 10,
	       "after this time one wrong login is forgotten"),
	WORD("registration", registration, registrations, 1, "invite",
	     "who may register a bot: nobody (closed), who has an invite or a bot already (invite), or everybody (open)"),
	NUMBER("registrations-per-hour", registrations_per_hour, 1, 1000000, 20,
	       "tries to register a bot or to get a new token from one address in an hour"),
	NUMBER("bots-max", bots_max, 0, 1000000000, 10000,
	       "when there are so many bots, nobody can register one without an invite; the host may add more; 0: no bound"),
	NUMBER("bots-per-owner", bots_per_owner, 1, 1000000, 5,
	       "bots that an owner may register; the host may add more"),
	NUMBER("versions-per-day", versions_per_day, 1, 1000, 3,
	       "new versions of a bot in 24 hours that are rated; more play unrated until there is room"),
	NUMBER("versions-per-bot", versions_per_bot, 1, 1000000, 1000,
	       "versions of a bot in all"),
	{ "guests", KIND_WORD, true, AT(guests), 0, 0, 0, "off",
	  "whether people may come in without a bot (@guest NAME) and play unrated matches", switches },
	NUMBER("guests-max", guests_max, 1, 1000000, 64,
	       "guests at once"),
	NUMBER("guests-per-address", guests_per_address, 1, 1000000, 4,
	       "guests at once from one address"),
	NUMBER("retry-after-seconds", retry_after_seconds, 1, 86400, 10,
	       "what a refused client is told to wait"),
	NUMBER("matches-max", matches_max, 1, 1000000, 10000,
	       "matches in play at once"),
	NUMBER("results-max", results_max, 1, 1000000, 2000,
	       "results that may wait for the disk before no new match starts"),
	NUMBER("match-memory-mb", match_memory_mb, 1, 1048576, 1024,
	       "MiB for the states and replies of all matches in play"),
	NUMBER("map-memory-mb", map_memory_mb, 1, 1048576, 256,
	       "MiB of maps kept ready for the next match"),
	NUMBER("stall-void-seconds", stall_void_seconds, 1, 86400, 10,
	       "a match from which the server itself took more time in all is void"),
	NUMBER("output-stall-seconds", output_stall_seconds, 1, 3600, 20,
	       "a peer that takes nothing of what waits for it is dropped after this time"),
	NUMBER("dead-peer-seconds", dead_peer_seconds, 5, 86400, 60,
	       "a link whose other end does not answer at all is given up after this time; a change is for new links"),
	{ "http-listen", KIND_LISTEN, true, AT(http_listens), 0, 0, 0, "",
	  "addresses for the HTTP API, each HOST:PORT or [IPV6]:PORT; empty: none", NULL },
	FIXED("http-connections-max", http_connections_max, 1, 100000, 512,
	      "HTTP connections at once; the rest waits"),
	FIXED("http-connections-per-address", http_connections_per_address, 1, 100000, 64,
	      "HTTP connections at once from one address"),
	FIXED("http-request-seconds", http_request_seconds, 1, 3600, 10,
	      "how long a client may take for a whole request, or be idle before it"),
	FIXED("http-stall-seconds", http_stall_seconds, 1, 3600, 20,
	      "an HTTP client that takes nothing of its reply is dropped after this time"),
	{ "http-trusted-proxy", KIND_ADDRESSES, true, AT(http_trusted_proxy), 0, 0, 0, "",
	  "IP addresses of reverse proxies, with commas: a request from there is its client's that X-Forwarded-For names last; empty: nobody's", NULL },
};
/* clang-format on */

enum { NKEYS = sizeof(keys) / sizeof(keys[0]) };

static int PRINTF_LIKE(2, 3)
	fail(struct config_error *error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	(void)vsnprintf(error->text, sizeof(error->text), format, args);
	va_end(args);
	/* jansson quotes what it stumbled over, line ends and all. */
	for (char *c = error->text; *c != '\0'; c++) {
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = ' ';
	}
	return -EINVAL;
}

static const struct key *find_key(const char *name)
{
	for (size_t i = 0; i < NKEYS; i++) {
		if (strcmp(keys[i].name, name) == 0)
			return &keys[i];
	}
	return NULL;
}

static char **text_at(struct config *config, const struct key *key)
{
	return (char **)(void *)((char *)config + key->offset);
}

static int64_t *number_at(struct config *config, const struct key *key)
{
	return (int64_t *)(void *)((char *)config + key->offset);
}

static struct config_listens *listens_at(struct config *config,
					 const struct key *key)
{
	return (struct config_listens *)(void *)((char *)config + key->offset);
}

static void drop_listens(struct config_listens *listens)
{
	for (size_t i = 0; i < listens->count; i++) {
		free(listens->list[i].host);
		free(listens->list[i].port);
	}
	listens->count = 0;
}

/* Whether TEXT is a whole number from MIN to MAX; if so it is in *RET. */
static bool parse_number(const char *text, int64_t min, int64_t max,
			 int64_t *ret)
{
	char *end;
	long long value;

	if (strspn(text, "0123456789") != strlen(text) || *text == '\0')
		return false;
	errno = 0;
	value = strtoll(text, &end, 10);
	if (errno != 0 || value < min || value > max)
		return false;
	*ret = value;
	return true;
}

/* Add the address TEXT; false when it is none, or one too many. */
static bool add_listen(struct config_listens *listens, const char *text)
{
	const char *colon = strrchr(text, ':');
	const char *host = text;
	size_t host_len;
	int64_t port;

	if (colon == NULL || listens->count == CONFIG_LISTENS_MAX ||
	    !parse_number(colon + 1, 0, PORT_MAX, &port))
		return false;
	host_len = (size_t)(colon - text);
	if (*host == '[') {
		if (host_len < 3 || host[host_len - 1] != ']')
			return false;
		host++;
		host_len -= 2;
	} else if (memchr(host, ':', host_len) != NULL) {
		return false;
	}
	listens->list[listens->count].host = strndup(host, host_len);
	listens->list[listens->count].port = xstrdup(colon + 1);
	if (listens->list[listens->count].host == NULL)
		abort();
	listens->count++;
	return true;
}

/* Whether TEXT is one of KEY's words; if so *RET says which. */
static bool parse_word(const struct key *key, const char *text, int64_t *ret)
{
	for (int64_t i = 0; key->words[i] != NULL; i++) {
		if (strcmp(key->words[i], text) == 0) {
			*ret = i;
			return true;
		}
	}
	return false;
}

/* "off, on" appended to RET. */
static void add_words(const struct key *key, struct buf *ret)
{
	for (size_t i = 0; key->words[i] != NULL; i++)
		buf_add_format(ret, "%s%s", i == 0 ? "" : ", ", key->words[i]);
}

/* Set KEY from TEXT; false when it does not fit. Lists only add. */
static bool set_text(struct config *config, const struct key *key,
		     const char *text)
{
	struct address_list addresses;

	switch (key->kind) {
	case KIND_LISTEN:
		return add_listen(listens_at(config, key), text);
	case KIND_TEXT:
		free(*text_at(config, key));
		*text_at(config, key) = xstrdup(text);
		return true;
	case KIND_ADDRESSES:
		if (!address_list_parse(text, &addresses))
			return false;
		free(*text_at(config, key));
		*text_at(config, key) = xstrdup(text);
		return true;
	case KIND_LEVEL:
		return log_level_find(text, &config->log_level);
	case KIND_NUMBER:
		return parse_number(text, key->min, key->max,
				    number_at(config, key));
	case KIND_WORD:
		return parse_word(key, text, number_at(config, key));
	}
	return false;
}

static int refuse_word(const struct key *key, const char *where,
		       const char *value, struct config_error *error)
{
	struct buf words = BUF_INIT(VALUE_SHOWN);
	int rc;

	add_words(key, &words);
	rc = fail(error, "%s: key \"%s\": %.*s is not one of %s", where,
		  key->name, VALUE_SHOWN, value, buf_text(&words));
	buf_release(&words);
	return rc;
}

static int refuse(const struct key *key, const char *where, const char *value,
		  struct config_error *error)
{
	switch (key->kind) {
	case KIND_LISTEN:
		return fail(error,
			    "%s: key \"%s\": %.*s is not HOST:PORT or "
			    "[IPV6]:PORT, or more than %d of them",
			    where, key->name, VALUE_SHOWN, value,
			    CONFIG_LISTENS_MAX);
	case KIND_ADDRESSES:
		return fail(error,
			    "%s: key \"%s\": %.*s is not IP addresses with "
			    "commas between them, or more than %d of them",
			    where, key->name, VALUE_SHOWN, value,
			    ADDRESS_LIST_MAX);
	case KIND_TEXT:
		return fail(error, "%s: key \"%s\": %.*s is not a text", where,
			    key->name, VALUE_SHOWN, value);
	case KIND_LEVEL:
		return fail(error,
			    "%s: key \"%s\": %.*s is not one of error, warn, "
			    "info, debug",
			    where, key->name, VALUE_SHOWN, value);
	case KIND_WORD:
		return refuse_word(key, where, value, error);
	case KIND_NUMBER:
		break;
	}
	return fail(error,
		    "%s: key \"%s\": %.*s is not a whole number from %lld to "
		    "%lld",
		    where, key->name, VALUE_SHOWN, value, (long long)key->min,
		    (long long)key->max);
}

void config_init(struct config *config)
{
	memset(config, 0, sizeof(*config));
	for (size_t i = 0; i < NKEYS; i++) {
		if (keys[i].kind == KIND_LISTEN &&
		    *keys[i].text_fallback == '\0')
			continue;
		if (keys[i].kind == KIND_NUMBER)
			*number_at(config, &keys[i]) = keys[i].fallback;
		else
			(void)set_text(config, &keys[i], keys[i].text_fallback);
	}
}

void config_release(struct config *config)
{
	for (size_t i = 0; i < NKEYS; i++) {
		if (keys[i].kind == KIND_LISTEN)
			drop_listens(listens_at(config, &keys[i]));
		if (keys[i].kind == KIND_TEXT ||
		    keys[i].kind == KIND_ADDRESSES) {
			free(*text_at(config, &keys[i]));
			*text_at(config, &keys[i]) = NULL;
		}
	}
}

static bool set_list(struct config *config, const struct key *key, json_t *list)
{
	json_t *item;
	size_t i;

	if (json_array_size(list) == 0)
		return *key->text_fallback == '\0';
	json_array_foreach(list, i, item) {
		if (!json_is_string(item) ||
		    !set_text(config, key, json_string_value(item)))
			return false;
	}
	return true;
}

static bool set_json(struct config *config, const struct key *key,
		     json_t *value)
{
	if (key->kind == KIND_NUMBER) {
		json_int_t number = json_integer_value(value);

		if (!json_is_integer(value) || number < key->min ||
		    number > key->max)
			return false;
		*number_at(config, key) = number;
		return true;
	}
	if (key->kind == KIND_LISTEN) {
		drop_listens(listens_at(config, key));
		if (json_is_array(value))
			return set_list(config, key, value);
		if (*key->text_fallback == '\0' && json_is_string(value) &&
		    json_string_length(value) == 0)
			return true;
	}
	return json_is_string(value) &&
	       set_text(config, key, json_string_value(value));
}

static int apply(struct config *config, const char *path, json_t *root,
		 struct config_error *error)
{
	const char *name;
	json_t *value;

	if (!json_is_object(root))
		return fail(error, "%s: the file is not a JSON object", path);
	json_object_foreach(root, name, value) {
		const struct key *key = find_key(name);
		char *shown;
		bool is_set;

		if (name[0] == '#')
			continue;
		shown = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
		is_set = key != NULL && set_json(config, key, value);
		if (key == NULL)
			(void)fail(error,
				   "%s: unknown key \"%.*s\" (value %.*s)",
				   path, VALUE_SHOWN, name, VALUE_SHOWN,
				   shown == NULL ? "?" : shown);
		else if (!is_set)
			(void)refuse(key, path, shown == NULL ? "?" : shown,
				     error);
		free(shown);
		if (!is_set)
			return -EINVAL;
	}
	return 0;
}

int config_load(struct config *config, const char *path,
		struct config_error *error)
{
	FILE *file = fopen(path, "re");
	json_error_t json_error;
	json_t *root;
	int rc;

	if (file == NULL) {
		rc = -errno;
		(void)fail(error, "%s: %s", path, strerror(-rc));
		return rc;
	}
	root = json_loadf(file, JSON_REJECT_DUPLICATES, &json_error);
	(void)fclose(file);
	if (root == NULL)
		return fail(error, "%s: line %d: %s", path, json_error.line,
			    json_error.text);
	rc = apply(config, path, root, error);
	json_decref(root);
	return rc;
}

int config_set(struct config *config, const char *where, const char *key_name,
	       const char *text, struct config_error *error)
{
	const struct key *key = find_key(key_name);
	bool is_set = true;

	if (key == NULL)
		return fail(error, "%s: unknown key \"%.*s\"", where,
			    VALUE_SHOWN, key_name);
	if (key->kind == KIND_LISTEN) {
		char *copy = xstrdup(text);
		char *rest = copy;
		char *item;

		drop_listens(listens_at(config, key));
		is_set = *text != '\0' || *key->text_fallback == '\0';
		while (*text != '\0' && is_set &&
		       (item = strsep(&rest, ",")) != NULL)
			is_set = add_listen(listens_at(config, key), item);
		free(copy);
	} else {
		is_set = set_text(config, key, text);
	}
	return is_set ? 0 : refuse(key, where, text, error);
}

static bool are_same(const struct config_listens *a,
		     const struct config_listens *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++) {
		if (strcmp(a->list[i].host, b->list[i].host) != 0 ||
		    strcmp(a->list[i].port, b->list[i].port) != 0)
			return false;
	}
	return true;
}

static bool is_same(const struct config *a, const struct config *b,
		    const struct key *key)
{
	const char *at_a = (const char *)a + key->offset;
	const char *at_b = (const char *)b + key->offset;

	switch (key->kind) {
	case KIND_LISTEN:
		return are_same((const void *)at_a, (const void *)at_b);
	case KIND_TEXT:
	case KIND_ADDRESSES:
		return strcmp(*(char *const *)(const void *)at_a,
			      *(char *const *)(const void *)at_b) == 0;
	case KIND_LEVEL:
		return a->log_level == b->log_level;
	case KIND_NUMBER:
	case KIND_WORD:
		return memcmp(at_a, at_b, sizeof(int64_t)) == 0;
	}
	return true;
}

void config_fixed_changes(const struct config *a, const struct config *b,
			  struct buf *ret)
{
	for (size_t i = 0; i < NKEYS; i++) {
		if (keys[i].is_fixed && !is_same(a, b, &keys[i]))
			buf_add_format(ret, "%s%s", ret->len > 0 ? " " : "",
				       keys[i].name);
	}
}

void config_help(struct buf *ret)
{
	for (size_t i = 0; i < NKEYS; i++) {
		const struct key *key = &keys[i];

		buf_add_format(ret, "%s\n    %s\n    ", key->name, key->doc);
		if (key->kind == KIND_NUMBER)
			buf_add_format(ret,
				       "number, %lld to %lld, default %lld",
				       (long long)key->min, (long long)key->max,
				       (long long)key->fallback);
		else
			buf_add_format(ret, "%s, default \"%s\"",
				       key->kind == KIND_LISTEN
					       ? "text or list of texts"
					       : "text",
				       key->text_fallback);
		buf_add_text(ret, key->is_fixed ? "; takes a restart\n"
						: "; reread at SIGHUP\n");
	}
}

char *config_control_path(const struct config *config)
{
	struct buf path = BUF_INIT(FILE_BYTES_MAX);

	if (config->control[0] != '\0')
		return xstrdup(config->control);
	buf_add_text(&path, config->database);
	buf_add_text(&path, ADMIN_SOCKET_SUFFIX);
	return buf_detach(&path);
}
