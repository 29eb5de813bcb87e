/* SPDX-License-Identifier: MIT */
#ifndef DB_STORE_INTERNAL_H
#define DB_STORE_INTERNAL_H

/* What store.c, which writes rows, shares with store_files.c, which makes the files of the database. */

#include <sqlite3.h>
#include <stdbool.h>

#include "base/trace_file.h"
#include "db/figures.h"
#include "db/store.h"

/* Rows that one statement inserts: a statement costs as much as one or two rows. */
#define ROWS 16
#define ROW_COLUMNS (1 + FIGURE_MAX)
#define ROWS_TEXT 8192

/* Rows of a table, buffered until there are ROWS of them or the transaction ends. */
struct rows {
	sqlite3_stmt *one, *many; /* many: for ROWS rows; prepared when needed */
	int n;
	size_t text_used;
	struct value values[ROWS * ROW_COLUMNS];
	char text[ROWS_TEXT]; /* what the values point to */
};

struct store {
	sqlite3_vfs vfs; /* first: SQLite's pointer to it is the store */
	sqlite3 *db;
	struct rows rows[PUT_MAX];
	sqlite3_stmt *end_image, *is_path, *fit_spent;
	struct spill *spill; /* hashes of paths; NULL: not needed yet */
	int dir;     /* the directory of the database */
	int lock;    /* the database file, with flock(2) until store_destroy() */
	int reserve; /* an unlinked file that holds disk space */
	int failed;  /* the first error of this transaction */
	size_t n_fresh; /* rows for sum.sql */
	bool bus_notified;
	bool has_former; /* the trace that this one replaces is still there, under other names */
	char name[256];
	char path[64 + 256]; /* through dir */
	char temporary[64 + 256 + 32];
	char vfs_name[32];
	char error[256];
};

/* The name of a file of the database. */
struct store_file_name {
	char text[sizeof(((struct store *)NULL)->name) + 16];
};

struct store_file_name store_file_name(const struct store *store, enum trace_file file);

/* Opens the directory of the path, sets an old trace aside if it may (force) and creates the new file.  0 or -errno. */
int store_open_place(struct store *store, const char *path, bool force);
/* Registers the store's own VFS, by which SQLite opens the files.  A code of SQLite. */
int store_make_vfs(struct store *store);
/* Holds disk space for the facts about a full disk; without it only they may be missing. */
void store_take_reserve(struct store *store);
void store_unlink_files(struct store *store);
/* Gives the trace that was set aside its names back, if it is still there. */
void store_restore_former(struct store *store);

#endif
