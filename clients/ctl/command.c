/* SPDX-License-Identifier: MIT */
/* command.c - from words to a command that may be run. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "clients/ctl/ctl.h"
#include "clients/ctl/table.h"

enum { SHOWN_BYTES_MAX = 4096 };

/* The command line while it is read. */
struct line {
	int argc;
	char **argv;
	int at; /* the next word */
	struct ctl *ctl;
	struct ctl_call *call;
	bool wants_help;
	bool has_only_args; /* behind "--" */
};

static void PRINTF_LIKE(1, 0) complain(const char *format, va_list args)
{
	struct buf text = BUF_INIT(SHOWN_BYTES_MAX),
		   shown = BUF_INIT((size_t)2 * SHOWN_BYTES_MAX);

	buf_add_vformat(&text, format, args);
	text_escape(buf_text(&text), text.len, &shown);
	(void)fprintf(stderr, "hillctl: %s\n", buf_text(&shown));
	buf_release(&text);
	buf_release(&shown);
}

/* The refusal as the one document on stdout. */
static void PRINTF_LIKE(1, 0) print_refusal(const char *format, va_list args)
{
	struct buf text = BUF_INIT(SHOWN_BYTES_MAX);
	json_t *json;

	buf_add_vformat(&text, format, args);
	json = json_pack("{s:b, s:s}", "ok", 0, "error", buf_text(&text));
	if (json == NULL) /* a byte that is no UTF-8 */
		json = json_pack("{s:b, s:s}", "ok", 0, "error",
				 "it cannot be shown");
	ctl_print_json(json);
	json_decref(json);
	buf_release(&text);
}

int ctl_fail(const struct ctl *ctl, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	complain(format, args);
	va_end(args);
	if (ctl->is_json) {
		va_start(args, format);
		print_refusal(format, args);
		va_end(args);
	}
	return CTL_FAILED;
}

int ctl_usage(const struct ctl_call *call, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	complain(format, args);
	va_end(args);
	if (call->command != NULL)
		(void)fprintf(stderr, "(`hillctl help %s` says more)\n",
			      call->command->name);
	else
		(void)fputs("(`hillctl help` says more)\n", stderr);
	if (call->is_json) {
		va_start(args, format);
		print_refusal(format, args);
		va_end(args);
	}
	return CTL_USAGE;
}

bool ctl_parse_number(const char *text, int64_t *ret)
{
	const char *digits = text + (*text == '-');
	char *end;
	long long value;

	if (*digits < '0' || *digits > '9')
		return false;
	errno = 0;
	value = strtoll(text, &end, 10);
	if (errno != 0 || *end != '\0')
		return false;
	*ret = value;
	return true;
}

const char *ctl_value(const struct ctl_call *call, const char *name)
{
	for (unsigned i = 0; i < call->ngiven; i++)
		if (strcmp(call->given[i].option->name, name) == 0)
			return call->given[i].value;
	return NULL;
}

int64_t ctl_number(const struct ctl_call *call, const char *name,
		   int64_t fallback)
{
	const char *text = ctl_value(call, name);
	int64_t value = fallback;

	if (text != NULL)
		(void)ctl_parse_number(text, &value);
	return value;
}

void ctl_call_release(struct ctl_call *call)
{
	free(call->args);
	free(call->given);
	memset(call, 0, sizeof(*call));
}

static const struct ctl_option *find_in(const struct ctl_option *options,
					const char *name, size_t len)
{
	for (; options->name != NULL; options++)
		if (strlen(options->name) == len &&
		    strncmp(options->name, name, len) == 0)
			return options;
	return NULL;
}

static int set_global(struct line *line, const struct ctl_option *option,
		      const char *value)
{
	if (strcmp(option->name, "database") == 0) {
		line->ctl->database = value;
		if (*value == '\0')
			return ctl_usage(line->call, "--database: an empty "
						     "name is no file");
	} else if (strcmp(option->name, "socket") == 0) {
		line->ctl->socket = value;
	} else if (strcmp(option->name, "json") == 0) {
		line->ctl->is_json = true;
	} else if (strcmp(option->name, "help") == 0) {
		line->wants_help = true;
	} else {
		(void)printf("hillctl %s\n", HILL_VERSION);
		return -1;
	}
	return 0;
}

static int check_value(const struct line *line, const struct ctl_option *option,
		       const char *value)
{
	int64_t number;

	if (option->kind == CTL_INT && !ctl_parse_number(value, &number))
		return ctl_usage(line->call, "--%s: '%s' is no whole number",
				 option->name, value);
	if (option->kind == CTL_YES_NO && strcmp(value, "yes") != 0 &&
	    strcmp(value, "no") != 0)
		return ctl_usage(line->call, "--%s: '%s' is neither yes nor no",
				 option->name, value);
	if (option->kind != CTL_LIST &&
	    ctl_value(line->call, option->name) != NULL)
		return ctl_usage(line->call, "--%s is given twice",
				 option->name);
	return 0;
}

static int refuse_option(const struct ctl_call *call, const char *word,
			 const char *name, size_t len)
{
	const char *near = ctl_nearest_option(call->command, name, len);

	return ctl_usage(call, "there is no option '%s'%s%s", word,
			 near == NULL ? "" : "; the nearest is --",
			 near == NULL ? "" : near);
}

/* 0, -1 done, or CTL_USAGE. */
static int read_option(struct line *line)
{
	const struct ctl_command *command = line->call->command;
	const char *word = line->argv[line->at++];
	const char *name = strcmp(word, "-j") == 0 ? "jobs" : word + 2;
	const char *equals = strchr(name, '=');
	size_t len = equals == NULL ? strlen(name) : (size_t)(equals - name);
	const struct ctl_option *option = NULL;
	const struct ctl_option *global = NULL;
	const char *value = "";
	int rc;

	/* Its own go before: the --version of a bot. */
	if (command != NULL)
		option = find_in(command->options, name, len);
	if (option == NULL)
		global = find_in(ctl_global_options, name, len);
	if ((word[1] != '-' && word[1] != 'j') ||
	    (global == NULL && option == NULL))
		return refuse_option(line->call, word, name, len);
	if (global != NULL)
		option = global;
	if (option->value == NULL && equals != NULL)
		return ctl_usage(line->call, "--%s takes no value, not '%s'",
				 option->name, equals + 1);
	if (option->value != NULL && equals != NULL) {
		value = equals + 1;
	} else if (option->value != NULL) {
		if (line->at == line->argc)
			return ctl_usage(line->call, "--%s needs a value: %s",
					 option->name, option->value);
		value = line->argv[line->at++];
	}
	if (global != NULL)
		return set_global(line, global, value);
	rc = check_value(line, option, value);
	if (rc == 0)
		line->call->given[line->call->ngiven++] =
			(struct ctl_given){ option, value };
	return rc;
}

static bool is_option(const struct line *line)
{
	const char *word = line->argv[line->at];

	return !line->has_only_args && word[0] == '-' && word[1] != '\0';
}

/* "WORD" or "WORD NEXT" in RET; too long a name is no command either. */
static void join_words(char ret[CTL_NAME_BYTES], const char *word,
		       const char *next)
{
	(void)snprintf(ret, CTL_NAME_BYTES, "%s%s%s", word,
		       next == NULL ? "" : " ", next == NULL ? "" : next);
}

/*
 * There is no command NAME: WORD is what is wrong with it, behind GROUP when
 * that is not NULL.
 */
static int refuse_command(const struct ctl_call *call, const char *group,
			  const char *word, const char *name)
{
	char near[CTL_NAME_BYTES] = "";
	bool is_near = ctl_nearest_command(name, near) ||
		       (group == NULL && ctl_nearest_command(word, near));

	return ctl_usage(call, "%s%sthere is no command '%s'%s%s%s",
			 group == NULL ? "" : group, group == NULL ? "" : ": ",
			 word, is_near ? "; the nearest is '" : "", near,
			 is_near ? "'" : "");
}

/*
 * Find the command that the next one or two words are: two, where one would do
 * as well ("announce", "announce list"). As ctl_parse.
 */
static int read_command(struct line *line)
{
	const char *word = line->argv[line->at];
	const char *next =
		line->at + 1 < line->argc ? line->argv[line->at + 1] : NULL;
	char name[CTL_NAME_BYTES];

	join_words(name, word, next);
	line->call->command = ctl_find(name);
	if (line->call->command != NULL && next != NULL) {
		line->at += 2;
		return 0;
	}
	join_words(name, word, NULL);
	line->call->command = ctl_find(name);
	if (line->call->command != NULL) {
		line->at++;
		return 0;
	}
	if (!ctl_is_group(word)) {
		join_words(name, word, next);
		return refuse_command(line->call, NULL, word, name);
	}
	if (next != NULL && strcmp(next, "--help") == 0) {
		ctl_help_group(word, stdout);
		return -1;
	}
	if (next == NULL || next[0] == '-') {
		ctl_help_group(word, stderr);
		return ctl_usage(line->call, "%s: COMMAND is missing", word);
	}
	join_words(name, word, next);
	line->call->command = ctl_find(name);
	line->at += 2;
	if (line->call->command != NULL)
		return 0;
	return refuse_command(line->call, word, next, name);
}

/* `help`, `help bot`, `help bot add`. */
static int give_help(const struct line *line)
{
	const char *word = line->at < line->argc ? line->argv[line->at] : NULL;
	const char *next =
		line->at + 1 < line->argc ? line->argv[line->at + 1] : NULL;
	const struct ctl_command *command;
	char name[CTL_NAME_BYTES];

	if (word == NULL) {
		ctl_help_all(stdout);
		return -1;
	}
	join_words(name, word, next);
	command = ctl_find(name);
	if (command == NULL && next == NULL && ctl_is_group(word)) {
		ctl_help_group(word, stdout);
		return -1;
	}
	if (command == NULL)
		return refuse_command(line->call, NULL, name, name);
	ctl_help_command(command, stdout);
	return -1;
}

static int check_call(const struct ctl_call *call)
{
	const struct ctl_command *command = call->command;

	if (call->nargs < command->min_args)
		return ctl_usage(call, "%s: %s is missing", command->name,
				 command->args);
	if (call->nargs > command->max_args)
		return ctl_usage(call, "%s: '%s' is one word too many",
				 command->name, call->args[command->max_args]);
	for (const struct ctl_option *o = command->options; o->name != NULL;
	     o++)
		if (o->is_required && ctl_value(call, o->name) == NULL)
			return ctl_usage(call, "%s: --%s %s is missing",
					 command->name, o->name, o->value);
	return 0;
}

static int read_line(struct line *line)
{
	int rc = 0;

	while (rc == 0 && line->at < line->argc) {
		const char *word = line->argv[line->at];

		if (!line->has_only_args && strcmp(word, "--") == 0) {
			line->has_only_args = true;
			line->at++;
		} else if (is_option(line)) {
			rc = read_option(line);
		} else if (line->call->command != NULL) {
			line->call->args[line->call->nargs++] = word;
			line->at++;
		} else if (strcmp(word, "help") == 0) {
			line->at++;
			return give_help(line);
		} else {
			rc = read_command(line);
		}
	}
	if (rc != 0)
		return rc;
	if (line->wants_help) {
		if (line->call->command == NULL)
			ctl_help_all(stdout);
		else
			ctl_help_command(line->call->command, stdout);
		return -1;
	}
	if (line->call->command == NULL) {
		ctl_help_all(stderr);
		return ctl_usage(line->call, "COMMAND is missing");
	}
	return check_call(line->call);
}

int ctl_parse(int argc, char **argv, struct ctl *ctl, struct ctl_call *call,
	      int *ret_status)
{
	struct line line = {
		.argc = argc, .argv = argv, .at = 1, .ctl = ctl, .call = call
	};
	int rc;

	memset(call, 0, sizeof(*call));
	call->args = xcalloc((size_t)argc + 1, sizeof(*call->args));
	call->given = xcalloc((size_t)argc + 1, sizeof(*call->given));
	/* Of a line that cannot be read to its end, too. */
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		call->is_json |= strcmp(argv[i], "--json") == 0;
	rc = read_line(&line);
	if (rc == 0) {
		call->is_json = ctl->is_json;
		return 0;
	}
	*ret_status = rc < 0 ? CTL_OK : rc;
	return -1;
}
