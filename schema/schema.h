/* SPDX-License-Identifier: MIT */
/*
 * schema.h - the numbered migrations, compiled in. Only server/store reads it.
 */
#ifndef HILL_SCHEMA_SCHEMA_H
#define HILL_SCHEMA_SCHEMA_H

struct schema_migration {
	unsigned number; /* user_version once it has run; 1, 2, ... */
	const char *sql;
};

/* In order; schema_version of them. */
extern const struct schema_migration schema_migrations[];
/* The newest. */
extern const unsigned schema_version;

#endif
