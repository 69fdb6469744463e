/* SPDX-License-Identifier: MIT */
/* help.c - every help text, and what a mistyped word was meant to be. */
#include <string.h>

#include "clients/ctl/ctl.h"

enum { OPTION_COLUMN = 26, COMMAND_COLUMN = 22, WORD_BYTES_MAX = 64 };

const struct ctl_option ctl_no_options[] = { { .name = NULL } };

const struct ctl_option ctl_global_options[] = {
	{ "database", "FILE", CTL_TEXT, false, NULL,
	  "the SQLite file (default hill.db)" },
	{ "socket", "PATH", CTL_TEXT, false, NULL,
	  "hilld's control socket (default: the database's path and .sock)" },
	{ "json", NULL, CTL_TRUE, false, NULL,
	  "one JSON document on standard output, for programs" },
	{ "help", NULL, CTL_TRUE, false, NULL, "this text, or a command's" },
	{ "version", NULL, CTL_TRUE, false, NULL, "which hill this is" },
	{ .name = NULL },
};

const struct ctl_command *const ctl_tables[] = { ctl_admin_commands,
						 ctl_match_commands, NULL };

const struct ctl_command *ctl_find(const char *text)
{
	for (size_t i = 0; ctl_tables[i] != NULL; i++)
		for (const struct ctl_command *c = ctl_tables[i];
		     c->name != NULL; c++)
			if (strcmp(c->name, text) == 0)
				return c;
	return NULL;
}

/* Whether the first word of NAME is WORD, and a second one follows. */
static bool is_of_group(const char *name, const char *word)
{
	size_t len = strlen(word);

	return strncmp(name, word, len) == 0 && name[len] == ' ';
}

bool ctl_is_group(const char *word)
{
	for (size_t i = 0; ctl_tables[i] != NULL; i++)
		for (const struct ctl_command *c = ctl_tables[i];
		     c->name != NULL; c++)
			if (is_of_group(c->name, word))
				return true;
	return false;
}

/* How many letters to put in, take out or change between A and B. */
static unsigned distance(const char *a, const char *b)
{
	unsigned row[WORD_BYTES_MAX + 1];
	size_t na = strnlen(a, WORD_BYTES_MAX), nb = strnlen(b, WORD_BYTES_MAX);

	for (size_t k = 0; k <= nb; k++)
		row[k] = (unsigned)k;
	for (size_t i = 1; i <= na; i++) {
		unsigned corner = row[0];

		row[0] = (unsigned)i;
		for (size_t k = 1; k <= nb; k++) {
			unsigned change = corner + (a[i - 1] != b[k - 1]);
			unsigned least =
				row[k] < row[k - 1] ? row[k] : row[k - 1];

			corner = row[k];
			row[k] = least + 1 < change ? least + 1 : change;
		}
	}
	return row[nb];
}

const char *ctl_nearest_command(const char *text)
{
	const char *best = NULL;
	unsigned least = UINT32_MAX;

	for (size_t i = 0; ctl_tables[i] != NULL; i++)
		for (const struct ctl_command *c = ctl_tables[i];
		     c->name != NULL; c++) {
			unsigned d = distance(text, c->name);

			if (d < least) {
				least = d;
				best = c->name;
			}
		}
	return best;
}

const char *ctl_nearest_option(const struct ctl_command *command,
			       const char *name)
{
	const struct ctl_option *lists[] = { command == NULL ? ctl_no_options
							     : command->options,
					     ctl_global_options };
	const char *best = NULL;
	unsigned least = UINT32_MAX;

	for (unsigned i = 0; i < 2; i++)
		for (const struct ctl_option *o = lists[i]; o->name != NULL;
		     o++) {
			unsigned d = distance(name, o->name);

			if (d < least) {
				least = d;
				best = o->name;
			}
		}
	return best;
}

static void print_options(const struct ctl_option *options, FILE *file)
{
	for (const struct ctl_option *o = options; o->name != NULL; o++) {
		int len = fprintf(file, "  --%s%s%s", o->name,
				  o->value == NULL ? "" : " ",
				  o->value == NULL ? "" : o->value);

		if (len >= OPTION_COLUMN) {
			(void)fputc('\n', file);
			len = 0;
		}
		(void)fprintf(file, "%*s%s%s\n", OPTION_COLUMN - len, "",
			      o->help, o->is_required ? " (required)" : "");
	}
}

static void print_usage_line(const struct ctl_command *command, FILE *file)
{
	(void)fprintf(file, "usage: hillctl %s%s%s", command->name,
		      command->args[0] == '\0' ? "" : " ", command->args);
	for (const struct ctl_option *o = command->options; o->name != NULL;
	     o++)
		if (o->is_required)
			(void)fprintf(file, " --%s %s", o->name, o->value);
	(void)fprintf(file, " [options]\n\n%s\n", command->help);
}

void ctl_help_command(const struct ctl_command *command, FILE *file)
{
	print_usage_line(command, file);
	if (command->details != NULL)
		(void)fprintf(file, "\n%s", command->details);
	if (command->options[0].name != NULL) {
		(void)fputs("\noptions:\n", file);
		print_options(command->options, file);
	}
	(void)fputs("\nand for every command:\n", file);
	print_options(ctl_global_options, file);
}

static void print_commands(const char *group, FILE *file)
{
	for (size_t i = 0; ctl_tables[i] != NULL; i++)
		for (const struct ctl_command *c = ctl_tables[i];
		     c->name != NULL; c++) {
			int len;

			if (group != NULL && !is_of_group(c->name, group))
				continue;
			len = fprintf(file, "  %s%s%s", c->name,
				      c->args[0] == '\0' ? "" : " ", c->args);
			if (len >= COMMAND_COLUMN) {
				(void)fputc('\n', file);
				len = 0;
			}
			(void)fprintf(file, "%*s%s\n", COMMAND_COLUMN - len, "",
				      c->help);
		}
}

void ctl_help_group(const char *word, FILE *file)
{
	(void)fprintf(file, "usage: hillctl %s COMMAND ...\n\ncommands:\n",
		      word);
	print_commands(word, file);
	(void)fprintf(file, "\n`hillctl help %s COMMAND` says more.\n", word);
}

void ctl_help_all(FILE *file)
{
	(void)fputs("usage: hillctl [options] COMMAND ...\n\n"
		    "Looks after the database of a hill server: through hilld "
		    "when it runs, else\nin the file itself.\n\ncommands:\n",
		    file);
	print_commands(NULL, file);
	(void)fputs("\noptions, before or behind the command:\n", file);
	print_options(ctl_global_options, file);
	(void)fputs("\n`hillctl help COMMAND` says more. Exit status: 0 done, "
		    "1 refused or failed,\n2 wrong usage.\n",
		    file);
}
