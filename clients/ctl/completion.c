/* SPDX-License-Identifier: MIT */
/* completion.c - a shell's completion, made from the tables of commands. */
#include <string.h>

#include "clients/ctl/ctl.h"

enum { LIST_BYTES = 65536 };

/* Calls DO(command) for each of all commands. */
#define FOR_EACH_COMMAND(command)                                            \
	for (size_t table_ = 0; ctl_tables[table_] != NULL; table_++)        \
		for (const struct ctl_command *command = ctl_tables[table_]; \
		     command->name != NULL; command++)

/* Add WORD to LIST, " word" each, unless it is there. */
static void add_once(struct buf *list, const char *prefix, const char *word,
		     size_t len)
{
	struct buf entry = BUF_INIT(LIST_BYTES);
	struct buf all = BUF_INIT(LIST_BYTES);

	buf_add_format(&entry, " %s%.*s ", prefix, (int)len, word);
	buf_add_format(&all, "%s ", buf_text(list));
	if (strstr(buf_text(&all), buf_text(&entry)) == NULL)
		buf_add(list, entry.data, entry.len - 1);
	buf_release(&entry);
	buf_release(&all);
}

static void add_options(struct buf *list, const struct ctl_option *options,
			bool only_valued)
{
	for (const struct ctl_option *o = options; o->name != NULL; o++)
		if (!only_valued || o->value != NULL)
			add_once(list, "--", o->name, strlen(o->name));
}

static void print_case(const char *pattern, const struct buf *list)
{
	/* The list begins with a blank. */
	(void)printf("\t%s) list='%s' ;;\n", pattern,
		     list->len > 0 ? list->data + 1 : "");
}

/* The options that the next word belongs to, as a pattern. */
static void print_valued(void)
{
	struct buf list = BUF_INIT(LIST_BYTES);

	add_options(&list, ctl_global_options, true);
	FOR_EACH_COMMAND(command)
	add_options(&list, command->options, true);
	(void)fputs("_hillctl_takes_value() {\n\tcase $1 in\n\t", stdout);
	for (size_t i = 1; i < list.len; i++)
		(void)fputc(list.data[i] == ' ' ? '|' : list.data[i], stdout);
	(void)fputs(") return 0 ;;\n\tesac\n\treturn 1\n}\n\n", stdout);
	buf_release(&list);
}

/*
 * What stands behind the LEN bytes of WORD, which begin the commands in LIST
 * and may be one themselves.
 */
static void print_group(const char *word, size_t len, struct buf *list)
{
	struct buf pattern = BUF_INIT(LIST_BYTES), alone = BUF_INIT(LIST_BYTES);
	char name[CTL_NAME_BYTES];
	const struct ctl_command *command;

	(void)snprintf(name, sizeof(name), "%.*s", (int)len, word);
	command = ctl_find(name);
	if (command != NULL) {
		add_options(&alone, command->options, false);
		add_options(&alone, ctl_global_options, false);
		buf_add(list, alone.data, alone.len);
		buf_add_format(&pattern, "'%s '", name);
		print_case(buf_text(&pattern), list);
		buf_clear(&pattern);
	}
	buf_add_format(&pattern, "'%s '*", name);
	print_case(buf_text(&pattern), command != NULL ? &alone : list);
	buf_release(&pattern);
	buf_release(&alone);
}

static void print_commands(void)
{
	struct buf groups = BUF_INIT(LIST_BYTES);

	FOR_EACH_COMMAND(command)
	{
		struct buf pattern = BUF_INIT(LIST_BYTES);
		struct buf list = BUF_INIT(LIST_BYTES);
		const char *blank = strchr(command->name, ' ');

		buf_add_format(&pattern, "'%s%s'*", command->name,
			       blank == NULL ? " " : "");
		add_options(&list, command->options, false);
		add_options(&list, ctl_global_options, false);
		/* "announce " begins "announce list" as well: behind it. */
		if (blank != NULL || !ctl_is_group(command->name))
			print_case(buf_text(&pattern), &list);
		if (blank != NULL)
			add_once(&groups, "", command->name,
				 (size_t)(blank - command->name));
		buf_release(&pattern);
		buf_release(&list);
	}
	/* Behind all whole commands: "bot " and a word that is none yet. */
	for (const char *word = buf_text(&groups); *word == ' ';) {
		size_t len = strcspn(word + 1, " ");
		struct buf list = BUF_INIT(LIST_BYTES);

		FOR_EACH_COMMAND(command)
		if (strncmp(command->name, word + 1, len) == 0 &&
		    command->name[len] == ' ')
			add_once(&list, "", command->name + len + 1,
				 strlen(command->name + len + 1));
		print_group(word + 1, len, &list);
		buf_release(&list);
		word += 1 + len;
	}
	buf_release(&groups);
}

static void print_first_words(void)
{
	struct buf list = BUF_INIT(LIST_BYTES);

	FOR_EACH_COMMAND(command)
	add_once(&list, "", command->name, strcspn(command->name, " "));
	add_once(&list, "", "help", 4);
	add_options(&list, ctl_global_options, false);
	print_case("' '*", &list);
	buf_release(&list);
}

static const char head[] =
	"# Completion of hill's programs, made by `hillctl completion`.\n\n";

static const char body_start[] =
	"_hillctl() {\n"
	"\tlocal cur=${COMP_WORDS[COMP_CWORD]} list= first= second= word i\n"
	"\tCOMPREPLY=()\n"
	"\t_hillctl_takes_value \"${COMP_WORDS[COMP_CWORD-1]}\" && return\n"
	"\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
	"\t\tword=${COMP_WORDS[i]}\n"
	"\t\tif _hillctl_takes_value \"$word\"; then\n"
	"\t\t\ti=$((i + 1))\n"
	"\t\telif [[ $word == -* ]]; then\n"
	"\t\t\t:\n"
	"\t\telif [[ -z $first ]]; then\n"
	"\t\t\tfirst=$word\n"
	"\t\telif [[ -z $second ]]; then\n"
	"\t\t\tsecond=$word\n"
	"\t\tfi\n"
	"\tdone\n"
	"\tcase \"$first $second\" in\n";

static const char body_end[] =
	"\tesac\n"
	"\tCOMPREPLY=($(compgen -W \"$list\" -- \"$cur\"))\n"
	"}\n\n"
	"_hill_by_help() {\n"
	"\tlocal cur=${COMP_WORDS[COMP_CWORD]} list=\n"
	"\tif [[ $cur == -* ]]; then\n"
	"\t\tlist=$(\"$1\" --help | grep -oE -- '--[a-z][a-z-]+' | sort -u)\n"
	"\telif ((COMP_CWORD == 1)); then\n"
	/* What its usage has in the first place. */
	"\t\tlist=$(\"$1\" --help | sed -nE \\\n"
	"\t\t\t's/^(usage:|      ) [a-z-]+ ([a-z][a-z-]+) .*/\\2/p')\n"
	"\tfi\n"
	"\tCOMPREPLY=($(compgen -W \"$list\" -- \"$cur\"))\n"
	"}\n\n"
	"complete -o default -F _hillctl hillctl\n"
	"complete -o default -F _hill_by_help hilld hill-run hill-bridge\n";

int run_completion(const struct ctl *ctl, const struct ctl_call *call)
{
	bool is_zsh = strcmp(call->args[0], "zsh") == 0;

	(void)ctl;
	if (!is_zsh && strcmp(call->args[0], "bash") != 0)
		return ctl_usage(call,
				 "completion: '%s' is neither bash nor zsh",
				 call->args[0]);
	(void)fputs(head, stdout);
	if (is_zsh)
		(void)fputs("autoload -U +X bashcompinit && bashcompinit\n\n",
			    stdout);
	print_valued();
	(void)fputs(body_start, stdout);
	print_commands();
	print_first_words();
	(void)fputs(body_end, stdout);
	return CTL_OK;
}
