/* SPDX-License-Identifier: MIT */
#ifndef DB_REDACT_H
#define DB_REDACT_H

/*
 * Copies a complete trace into a new one, in which texts are others.  Each column that may have a text has a decision in redact.c: without
 * one nothing is copied, so that a new column cannot tell what was to be hidden.  In columns of integers only numbers are copied, views are
 * those of this program, and indexes, statistics and tables of others are left out.
 *
 * Functions return SQLite's codes; the connection has the message.
 */

#include <stdint.h>
#include <sqlite3.h>

#include "db/query.h"

/*
 * The SQL that copies a column, with '$' for its name: an entry for it, or that of all columns of its type.  NULL: it may have a text, and
 * nothing is decided.
 */
const char *redact_decision(const char *table, const char *column, const char *type);
/* The i-th entry; NULL: there are no more. */
const char *redact_entry(int i, const char **ret_column);

/* sqlite: an empty database "main"; begin() makes its tables, and needs what redact_copy() must not have: a schema that it may change. */
int redact_begin(sqlite3 *sqlite);
/* The trace is attached as "one".  texts->see() gets all texts first, then texts->put(). */
int redact_copy(sqlite3 *sqlite, const struct query_texts *texts);

#endif
