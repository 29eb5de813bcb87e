/* SPDX-License-Identifier: MIT */
#ifndef DAG_CONTAINER_GROUPED_H
#define DAG_CONTAINER_GROUPED_H

/*
 * The rows of a query of operations, in groups.  Of millions of rows none has the texts by which it is grouped, if these depend on
 * its image alone (compose_by_image()): they are looked up once for each image.
 *
 * Functions return 0, or a negative errno with the failure set.
 */

#include <stddef.h>

struct choice;
struct failure;
struct groups;
struct query;
struct query_db;
struct table;

struct grouped {
	struct groups *groups; /* the group of a row: groups_find() */
	struct query *query;
	struct query *images; /* NULL: the query has the keys itself */
	int keys;	      /* of a group */
	int column;	      /* the first column of the query behind its keys */
};

/* Starts the query of this name.  columns: as for traces_query(), from .column on.  size: of what is kept of a group.  The caller
 * finishes *ret also after an error. */
int grouped_start(struct query_db *db, const char *name, const char *columns, const struct choice *choice, size_t size,
	struct grouped *ret, struct failure *failure);
/* Adds the names of the keys to the table. */
void grouped_name_keys(const struct grouped *grouped, struct table *table);
/* Ends the queries; the groups stay, for the caller to destroy. */
void grouped_end(struct grouped *grouped);

#endif
