/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>

#include "schema/schema.h"
#include "server/store/store_internal.h"

int migrate_check(struct db *db, unsigned *ret_version,
		  struct store_error *error)
{
	int64_t application = 0, version = 0, tables = 0;
	int err;

	err = db_number(db, "PRAGMA application_id", &application, error);
	if (err == 0)
		err = db_number(db, "PRAGMA user_version", &version, error);
	if (err == 0)
		err = db_number(db, "SELECT count(*) FROM sqlite_schema",
				&tables, error);
	if (err != 0)
		return err;
	if (application == 0 && version == 0 && tables == 0) {
		*ret_version = 0;
		return 0;
	}
	if (application != STORE_APPLICATION_ID || version < 1) {
		store_error_set(error,
				"%s: an SQLite database, but none of hill's",
				db->path);
		return -EILSEQ;
	}
	if (version > schema_version) {
		store_error_set(error,
				"%s: schema %lld is newer than this program's "
				"(%u): use a newer hill",
				db->path, (long long)version, schema_version);
		return -EPROTO;
	}
	*ret_version = (unsigned)version;
	return 0;
}

int migrate_run(struct db *db, unsigned from, struct store_error *error)
{
	char pragma[80];
	int err;

	if (from == schema_version)
		return 0;
	err = db_begin(db, error);
	if (err != 0)
		return err;
	for (unsigned i = from; i < schema_version && err == 0; i++)
		err = db_exec(db, schema_migrations[i].sql, "set up the schema",
			      error);
	if (err == 0) {
		(void)snprintf(pragma, sizeof(pragma),
			       "PRAGMA application_id=%d; "
			       "PRAGMA user_version=%u",
			       STORE_APPLICATION_ID, schema_version);
		err = db_exec(db, pragma, "set up the schema", error);
	}
	if (err != 0) {
		db_rollback(db);
		return err;
	}
	return db_commit(db, error);
}
