/* SPDX-License-Identifier: MIT */
#ifndef DB_RELAY_H
#define DB_RELAY_H

/*
 * Reads thousands of traces one after another through one database of a connection.  ATTACH parses the whole schema,
 * most of which is views, and after it all statements are compiled anew: 5 ms for each trace, more than all else.  Traces of
 * the same version of ftrac have the same schema, byte by byte.  So the first one is opened by the VFS of this module, and
 * relay_switch() has it lead to the file of the next one, if its schema is the same.  For SQLite, another process
 * has changed the contents of the file.  Of a file that has the same bytes where SQLite has read the schema, it need not read it again.
 *
 * Only for finished traces, without a log or a journal: the file is read without locks, as with "immutable=1".  One
 * thread.
 */

#include <sqlite3.h>
#include <stdbool.h>

#define RELAY_VFS "ftrac-relay"

/* Makes the VFS known to SQLite.  SQLite's codes. */
int relay_register(void);

struct relay {
	sqlite3 *sqlite;
	const char *schema;
	sqlite3_stmt *rows; /* of the schema */
	char *text;	    /* all of them; NULL: not read yet */
	int size;
};

/* schema: the name of the database in the connection, "main" or that of ATTACH. */
void relay_init(struct relay *relay, sqlite3 *sqlite, const char *schema);
/*
 * The database is the trace from now on.  No transaction may be open.  false: it is not, for whatever reason; then the
 * database may be of no use and must be closed.
 */
bool relay_switch(struct relay *relay, const char *path);
/* The same for a trace that is known to have the schema of the one before. */
bool relay_lead(struct relay *relay, const char *path);
/* Before the database is closed or detached.  A relay of zeros is fine. */
void relay_finish(struct relay *relay);

#endif
