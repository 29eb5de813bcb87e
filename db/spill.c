/* SPDX-License-Identifier: MIT */
#include "db/spill.h"

#include <sqlite3.h>
#include <stdlib.h>

struct spill {
	sqlite3 *db;
	sqlite3_stmt *put, *find;
};

/* No sync and no journal: after an error the file is not read any more. */
static int prepare(struct spill *spill)
{
	int code = sqlite3_exec(spill->db, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
		"CREATE TABLE pairs (hash INTEGER, number INTEGER, PRIMARY KEY (hash, number)) WITHOUT ROWID; BEGIN",
		NULL, NULL, NULL);

	if (code == SQLITE_OK)
		code = sqlite3_prepare_v3(spill->db, "INSERT OR IGNORE INTO pairs VALUES (?, ?)", -1,
			SQLITE_PREPARE_PERSISTENT, &spill->put, NULL);
	if (code == SQLITE_OK)
		code = sqlite3_prepare_v3(spill->db,
			"SELECT number FROM pairs WHERE hash = ? AND number > ? ORDER BY number LIMIT 1", -1,
			SQLITE_PREPARE_PERSISTENT, &spill->find, NULL);
	return code;
}

int spill_create(const char *vfs, struct spill **ret_spill)
{
	struct spill *spill = calloc(1, sizeof(*spill));
	int code;

	if (!spill)
		return SQLITE_NOMEM;
	code = sqlite3_open_v2("", &spill->db,
		SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, vfs);
	if (code == SQLITE_OK)
		code = prepare(spill);
	if (code != SQLITE_OK) {
		spill_destroy(spill);
		return code;
	}
	*ret_spill = spill;
	return SQLITE_OK;
}

void spill_destroy(struct spill *spill)
{
	if (!spill)
		return;
	sqlite3_finalize(spill->put);
	sqlite3_finalize(spill->find);
	sqlite3_close(spill->db);
	free(spill);
}

static int step(sqlite3_stmt *stmt, uint32_t hash, int64_t number)
{
	int code = sqlite3_bind_int64(stmt, 1, hash);

	if (code == SQLITE_OK)
		code = sqlite3_bind_int64(stmt, 2, number);
	return code == SQLITE_OK ? sqlite3_step(stmt) : code;
}

int spill_put(struct spill *spill, uint32_t hash, int64_t number)
{
	int code = step(spill->put, hash, number);

	sqlite3_reset(spill->put);
	return code == SQLITE_DONE ? SQLITE_OK : code;
}

int spill_find(struct spill *spill, uint32_t hash, int64_t after, int64_t *ret_number)
{
	int code = step(spill->find, hash, after);

	*ret_number = code == SQLITE_ROW ? sqlite3_column_int64(spill->find, 0) : 0;
	sqlite3_reset(spill->find);
	return code == SQLITE_ROW || code == SQLITE_DONE ? SQLITE_OK : code;
}
