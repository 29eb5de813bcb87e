/* SPDX-License-Identifier: MIT */
#include "dag/container/grouped.h"

#include <stdint.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/failure.h"
#include "dag/container/groups.h"
#include "dag/output/table.h"
#include "dag/trace/compose.h"
#include "dag/trace/traces.h"
#include "db/query.h"

/* Looks up the keys of all images. */
static int read_images(struct query_db *db, const char *sql, struct grouped *grouped, struct failure *failure)
{
	int r = traces_start(db, sql, 0, NULL, &grouped->images, failure);

	if (r == 0)
		r = failure_of_memory(failure, groups_by_id(grouped->groups));
	while (r == 0 && (r = traces_next(db, grouped->images, failure)) > 0)
		r = failure_of_memory(failure, groups_know(grouped->groups, query_int(grouped->images, grouped->keys), grouped->images));
	return r;
}

int grouped_start(struct query_db *db, const char *name, const char *columns, const struct choice *choice, size_t size,
	struct grouped *ret, struct failure *failure)
{
	cleanup_free char *sql = NULL, *images = NULL;
	int r;

	*ret = (struct grouped){ 0 };
	r = compose_by_image(name, choice, &sql, &images, &ret->keys, failure);
	ret->column = images ? 1 : ret->keys;
	if (r == 0)
		r = failure_of_memory(failure, groups_create(ret->keys, size, &ret->groups));
	if (r == 0 && images)
		r = read_images(db, images, ret, failure);
	if (r == 0)
		r = traces_start(db, sql, ret->column, columns, &ret->query, failure);
	return r;
}

void grouped_name_keys(const struct grouped *grouped, struct table *table)
{
	const struct query *named = grouped->images ? grouped->images : grouped->query;

	for (int i = 0; i < grouped->keys; i++)
		table_column(table, query_name(named, i), strlen(query_name(named, i)));
}

void grouped_end(struct grouped *grouped)
{
	query_end(grouped->query);
	query_end(grouped->images);
	grouped->query = grouped->images = NULL;
}
