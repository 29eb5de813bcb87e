/* SPDX-License-Identifier: MIT */
#ifndef DB_JSON_VALID_H
#define DB_JSON_VALID_H

/*
 * json_valid() for views of a schema that is not trusted.  It does no more than work something out, but SQLite
 * says so of it only since 3.41; before, views that call it cannot be used where TRUSTED_SCHEMA is off.
 */

struct sqlite3;

/* SQLite's own function under its own name, marked as harmless; goes with the connection.  Returns a code of SQLite. */
int json_valid_create(struct sqlite3 *sqlite);

#endif
