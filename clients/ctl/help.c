/* SPDX-License-Identifier: MIT */
/* help.c - every help text, and what a mistyped word was meant to be. */
#include <string.h>

#include "clients/ctl/ctl.h"

enum {
	OPTION_COLUMN = 26,
	COMMAND_COLUMN = 22,
	WORD_BYTES_MAX = 64,
	NEAR_MAX = 2 /* letters that a mistyped word has wrong */
};

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

const struct ctl_command *const ctl_tables[] = {
	ctl_admin_commands,    ctl_match_commands,  ctl_tournament_commands,
	ctl_moderate_commands, ctl_rating_commands, NULL
};

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
static unsigned distance(const char *a, size_t na, const char *b, size_t nb)
{
	unsigned row[WORD_BYTES_MAX + 1];

	if (na > WORD_BYTES_MAX)
		na = WORD_BYTES_MAX;
	if (nb > WORD_BYTES_MAX)
		nb = WORD_BYTES_MAX;
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

/* The candidate that a mistyped word was meant to be, so far. */
struct nearest {
	const char *text; /* what was typed */
	size_t len;
	unsigned least;
	const char *best; /* NULL: none is near */
	size_t best_len;
};

static void nearest_try(struct nearest *nearest, const char *name, size_t len)
{
	unsigned d = distance(nearest->text, nearest->len, name, len);
	bool is_start = nearest->len > 0 && nearest->len < len &&
			memcmp(nearest->text, name, nearest->len) == 0;

	/* Most of a short word must be right, too: `foo` is no `bot`. */
	if (!is_start && (d > NEAR_MAX || 2 * d >= nearest->len))
		return;
	if (nearest->best != NULL && d >= nearest->least)
		return;
	nearest->least = d;
	nearest->best = name;
	nearest->best_len = len;
}

bool ctl_nearest_command(const char *text, char ret[CTL_NAME_BYTES])
{
	struct nearest nearest = { .text = text, .len = strlen(text) };

	for (size_t i = 0; ctl_tables[i] != NULL; i++)
		for (const struct ctl_command *c = ctl_tables[i];
		     c->name != NULL; c++) {
			nearest_try(&nearest, c->name, strlen(c->name));
			nearest_try(&nearest, c->name, strcspn(c->name, " "));
		}
	if (nearest.best == NULL)
		return false;
	(void)snprintf(ret, CTL_NAME_BYTES, "%.*s", (int)nearest.best_len,
		       nearest.best);
	return true;
}

const char *ctl_nearest_option(const struct ctl_command *command,
			       const char *name, size_t len)
{
	const struct ctl_option *lists[] = { command == NULL ? ctl_no_options
							     : command->options,
					     ctl_global_options };
	struct nearest nearest = { .text = name, .len = len };

	for (unsigned i = 0; i < 2; i++)
		for (const struct ctl_option *o = lists[i]; o->name != NULL;
		     o++)
			nearest_try(&nearest, o->name, strlen(o->name));
	return nearest.best;
}

static bool has_option(const struct ctl_option *options, const char *name)
{
	while (options->name != NULL && strcmp(options->name, name) != 0)
		options++;
	return options->name != NULL;
}

/* Those of OPTIONS that are not in BUT as well. */
static void print_options(const struct ctl_option *options,
			  const struct ctl_option *but, FILE *file)
{
	for (const struct ctl_option *o = options; o->name != NULL; o++) {
		int len;

		if (has_option(but, o->name))
			continue;
		len = fprintf(file, "  --%s%s%s", o->name,
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
		print_options(command->options, ctl_no_options, file);
	}
	(void)fputs("\nand for every command:\n", file);
	print_options(ctl_global_options, command->options, file);
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
	print_options(ctl_global_options, ctl_no_options, file);
	(void)fputs("\n`hillctl help COMMAND` says more. Exit status: 0 done, "
		    "1 refused or failed,\n2 wrong usage.\n",
		    file);
}
