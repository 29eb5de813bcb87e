/* SPDX-License-Identifier: MIT */

/* Opens a trace, and makes another one of it in which texts are others. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "db/into.h"
#include "db/query_internal.h"
#include "db/redact.h"

/* Of an older release tables have other columns, which the copy finds. */
static int fail_to_copy(struct query_db *db, const char *path, int code)
{
	int r = query_fail_sqlite(db, code);
	char why[256];

	snprintf(why, sizeof(why), "%s%s", sqlite3_errmsg(db->sqlite),
		r == -ENOSPC ? "; take a place with more space" : (code & 0xff) == SQLITE_ERROR ? "; its tables are not those of this version of ftrac" : "");
	return query_fail(db, r, "cannot copy '%s': %s", path, why);
}

static int attach(struct query_db *db)
{
	char *uri = query_uri(&db->files, false), *sql = uri ? sqlite3_mprintf("ATTACH %Q AS one", uri) : NULL;
	int r = sql ? sqlite3_exec(db->sqlite, sql, NULL, NULL, NULL) : SQLITE_NOMEM;

	sqlite3_free(sql);
	sqlite3_free(uri);
	return r;
}

static int copy(struct query_db *db, const struct query_texts *texts, int fd)
{
	int r = into_open(fd, &db->sqlite);

	if (r == SQLITE_OK)
		r = redact_begin(db->sqlite);
	if (r == SQLITE_OK)
		r = query_harden(db->sqlite);
	if (r == SQLITE_OK)
		r = attach(db);
	if (r == SQLITE_OK)
		r = redact_copy(db->sqlite, texts);
	return r == SQLITE_OK ? into_finish(db->sqlite) : r;
}

int query_redact(const char *path, unsigned how, const struct query_texts *texts, int fd, struct query_db **ret_db)
{
	struct query_db *db = *ret_db = calloc(1, sizeof(*db));
	int r, code;

	if (!db)
		return -ENOMEM;
	query_files_init(&db->files, path);
	r = query_check_files(db, path, &db->files, how);
	if (r == 0 && (code = copy(db, texts, fd)) != SQLITE_OK)
		r = fail_to_copy(db, path, code);
	query_files_made(&db->files);
	return r < 0 ? r : query_check_same(db, path, &db->files);
}
