/* SPDX-License-Identifier: MIT */
/* options.h - hilld's command line. */
#ifndef HILL_OPTIONS_H
#define HILL_OPTIONS_H

#include <stdbool.h>

#include "server/base/alloc.h"
#include "server/config.h"

enum {
	OPTIONS_OVERRIDES_MAX = 64,
	OPTIONS_EXIT_USAGE = 2,
	OPTIONS_EXIT_LOST = 3, /* results could not be stored */
};

/* What the command line says. All text is argv's. */
struct options {
	const char *config_path; /* NULL: no file */
	const char *port_file;
	const char *http_port_file; /* NULL: none */
	struct {
		const char *flag, *key, *value;
	} overrides[OPTIONS_OVERRIDES_MAX];
	unsigned noverrides;
	bool is_check;
	bool is_dev;
};

/* The program's version; static. */
const char *options_version(void);
/*
 * Fill in *RET, all zero before. Ends the program where only a text was asked
 * for, and when the line makes no sense.
 */
void options_parse(int argc, char **argv, struct options *ret);
/*
 * As if `--set KEY=VALUE` stood before all other flags, which win. For
 * defaults that another flag brings along; the texts are borrowed for good.
 */
void options_presume(struct options *options, const char *key,
		     const char *value);
/*
 * The config that OPTIONS ask for: defaults, file, flags. 0, or as
 * config_load; the caller releases *RET in both cases.
 */
int options_config(const struct options *options, struct config *ret,
		   struct config_error *error) WARN_UNUSED;

#endif
