/* SPDX-License-Identifier: MIT */
#ifndef DAG_CONTAINER_GROUPS_H
#define DAG_CONTAINER_GROUPS_H

/*
 * Rows of a query by their first columns: which group a row belongs to, and what is kept of each group.
 * Groups are numbered in the order in which they first occurred.
 */

#include <stddef.h>
#include <stdint.h>

struct groups;
struct query;
struct table;

/* keys: how many columns; size: of what is kept of a group, which is all 0 at first. */
int groups_create(int keys, size_t size, struct groups **ret_groups);
void groups_destroy(struct groups *groups);
/* Keys are the columns from this one on, not the first ones. */
void groups_begin_at(struct groups *groups, int column);
/* All rows are of one group: keys are looked at in the first one only. */
void groups_one(struct groups *groups);

/* Rows have one column in the place of their keys: an id, whose keys groups_know() has been given.  Keys of other ids are NULL. */
int groups_by_id(struct groups *groups);
/* The keys of this id are the first columns of the row.  -ENOMEM. */
int groups_know(struct groups *groups, int64_t id, const struct query *query);

/* The data of the group to which the current row of the query belongs; NULL: out of memory.  Valid until
 * groups_destroy(). */
void *groups_find(struct groups *groups, const struct query *query);
/* The data of the group here that has the first keys of a group of others, which have more keys. */
void *groups_above(struct groups *groups, const struct groups *others, size_t group);
size_t groups_count(const struct groups *groups);
void *groups_data(const struct groups *groups, size_t group);
/* The numbers of the groups, sorted by a time in the data of each: an int64_t at that offset.  Groups with
 * the same time stay in the order in which they first occurred.  To be freed; NULL: out of memory. */
size_t *groups_by_time(const struct groups *groups, size_t offset);

/* Adds the keys of a group to a row of a table, from one to another. */
void groups_put(const struct groups *groups, size_t group, int first, int last,
	struct table *table);
/* One of them as text, "-" if it is not known. */
void groups_text(const struct groups *groups, size_t group, int key, char *out, size_t size);
/* All of them, with blanks between them; out. */
const char *groups_name(const struct groups *groups, size_t group, char *out, size_t size);
/* Are the first keys of group x of a and of group y of b the same? */
int groups_agree(const struct groups *a, size_t x, const struct groups *b, size_t y, int keys);

#endif
