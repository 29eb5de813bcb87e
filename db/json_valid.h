/* SPDX-License-Identifier: MIT */
#ifndef DB_JSON_VALID_H
#define DB_JSON_VALID_H

/*
 * json_valid() for views of an untrusted schema.  The function has no side effects, but SQLite marks it as innocuous only
 * since 3.41; with an older SQLite, views that call it fail where TRUSTED_SCHEMA is off.
 */

struct sqlite3;

/* Registers SQLite's own function under its own name, marked as innocuous, until the connection is closed.  Returns
 * SQLite's code. */
int json_valid_create(struct sqlite3 *sqlite);

#endif
