/* SPDX-License-Identifier: MIT */
#include "dag/container/groups.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "base/cleanup.h"
#include "base/vector.h"
#include "dag/container/sparse.h"
#include "dag/output/table.h"
#include "db/query.h"

/* A key as bytes: its type, its length, itself.  Text ends with a NUL for groups_text(). */
struct part {
	uint32_t len;
	uint8_t type;
};

/* One piece of memory: what is kept of it, and its keys. */
struct group {
	UT_hash_handle hh;
	size_t size;
	char *bytes;
	bool counted; /* it has a row */
	_Alignas(max_align_t) char data[];
};

struct groups {
	struct group *hash;
	struct group **all;
	size_t count;
	struct group *last;
	int keys, first;
	bool one; /* group, of all rows */
	size_t data_size;
	char *bytes; /* of the row that is looked for */
	size_t size;
	struct sparse *known; /* struct group * by id; NULL: rows have keys */
	struct group *nameless; /* of an id that is NULL */
};

int groups_create(int keys, size_t size, struct groups **ret_groups)
{
	struct groups *groups = calloc(1, sizeof(*groups));

	if (!groups)
		return -ENOMEM;
	groups->keys = keys;
	groups->data_size = size;
	*ret_groups = groups;
	return 0;
}

void groups_begin_at(struct groups *groups, int column)
{
	groups->first = column;
}

void groups_one(struct groups *groups)
{
	groups->one = true;
}

void groups_destroy(struct groups *groups)
{
	struct group *group, *next;

	if (!groups)
		return;
	HASH_ITER(hh, groups->hash, group, next) {
		HASH_DEL(groups->hash, group);
		free(group);
	}
	sparse_destroy(groups->known, NULL);
	free(groups->all);
	free(groups->bytes);
	free(groups);
}

static size_t put_part(char *at, const struct query *query, int column)
{
	struct part part = { .type = (uint8_t)query_type(query, column) };
	const char *bytes = NULL;
	int64_t number;
	double real;
	size_t len = 0;

	if (part.type == QUERY_INT) {
		number = query_int(query, column);
		bytes = (const char *)&number;
		len = sizeof(number);
	} else if (part.type == QUERY_REAL) {
		real = query_real(query, column);
		bytes = (const char *)&real;
		len = sizeof(real);
	} else if (part.type != QUERY_NULL) {
		bytes = query_bytes(query, column, &len);
	}
	part.len = (uint32_t)len;
	memcpy(at, &part, sizeof(part));
	if (len)
		memcpy(at + sizeof(part), bytes, len);
	at[sizeof(part) + len] = '\0';
	return sizeof(part) + len + 1;
}

static size_t put_nothing(struct groups *groups)
{
	const struct part part = { .type = QUERY_NULL };
	size_t need = groups->keys * (sizeof(part) + 1);
	char *at;

	if (vector_fit(groups->bytes, groups->size, need) < 0)
		return 0;
	at = groups->bytes;
	for (int i = 0; i < groups->keys; i++, at += sizeof(part) + 1) {
		memcpy(at, &part, sizeof(part));
		at[sizeof(part)] = '\0';
	}
	return need;
}

static size_t put_row(struct groups *groups, const struct query *query)
{
	size_t need = 0, len;
	char *at;

	for (int i = 0; i < groups->keys; i++) {
		enum query_type type = query_type(query, groups->first + i);

		len = sizeof(int64_t);
		if (type == QUERY_TEXT || type == QUERY_BLOB)
			query_bytes(query, groups->first + i, &len);
		need += sizeof(struct part) + len + 1;
	}
	if (vector_fit(groups->bytes, groups->size, need) < 0)
		return 0;
	at = groups->bytes;
	for (int i = 0; i < groups->keys; i++)
		at += put_part(at, query, groups->first + i);
	return at - groups->bytes;
}

static struct group *add_group(struct groups *groups, size_t size)
{
	struct group *group = calloc(1, sizeof(*group) + groups->data_size + size);

	if (!group)
		return NULL;
	group->bytes = group->data + groups->data_size;
	group->size = size;
	if (size)
		memcpy(group->bytes, groups->bytes, size);
	HASH_ADD_KEYPTR(hh, groups->hash, group->bytes, size, group);
	if (!group->hh.tbl) { /* the hash cannot grow */
		free(group);
		return NULL;
	}
	return group;
}

/* size of groups->bytes are the keys. */
static struct group *find_group(struct groups *groups, size_t size)
{
	struct group *group = NULL;

	if (size)
		HASH_FIND(hh, groups->hash, groups->bytes, size, group);
	else if (groups->count)
		group = groups->all[0];
	return group ? group : add_group(groups, size);
}

/* There is a row of the group. */
static void *count_group(struct groups *groups, struct group *group)
{
	if (!group || (!group->counted && vector_reserve(groups->all, groups->count) < 0))
		return NULL;
	if (!group->counted)
		groups->all[groups->count++] = group;
	group->counted = true;
	groups->last = group;
	return group->data;
}

static void *find(struct groups *groups, size_t size)
{
	if (groups->last && groups->last->size == size &&
		(size == 0 || memcmp(groups->last->bytes, groups->bytes, size) == 0))
		return groups->last->data;
	return count_group(groups, find_group(groups, size));
}

/* Is the row of the group that was found last?  Of millions of rows most are. */
static bool is_last(const struct groups *groups, const struct query *query)
{
	const char *at = groups->last ? groups->last->bytes : NULL;

	for (int i = 0; at && i < groups->keys; i++) {
		int column = groups->first + i;
		const char *bytes;
		struct part part;
		size_t len;

		memcpy(&part, at, sizeof(part));
		if (part.type != QUERY_TEXT || query_type(query, column) != QUERY_TEXT)
			return false;
		bytes = query_bytes(query, column, &len);
		at += sizeof(part);
		if (len != part.len || memcmp(bytes, at, len) != 0)
			return false;
		at += len + 1;
	}
	return at != NULL;
}

int groups_by_id(struct groups *groups)
{
	return sparse_create(sizeof(struct group *), &groups->known);
}

int groups_know(struct groups *groups, int64_t id, const struct query *query)
{
	struct group **at = sparse_at(groups->known, id);
	size_t size = at ? put_row(groups, query) : 0;

	if (size)
		*at = find_group(groups, size);
	return size && *at ? 0 : -ENOMEM;
}

static void *find_by_id(struct groups *groups, const struct query *query)
{
	bool has_id = query_type(query, 0) != QUERY_NULL;
	struct group **at = has_id ? sparse_at(groups->known, query_int(query, 0)) : &groups->nameless;
	size_t size = at && !*at ? put_nothing(groups) : 0;

	if (size)
		*at = find_group(groups, size);
	return at ? count_group(groups, *at) : NULL;
}

void *groups_find(struct groups *groups, const struct query *query)
{
	if (groups->known)
		return find_by_id(groups, query);
	if ((groups->one && groups->last) || is_last(groups, query))
		return groups->last->data;

	size_t size = put_row(groups, query);

	return size == 0 && groups->keys ? NULL : find(groups, size);
}

void *groups_data(const struct groups *groups, size_t group)
{
	return groups->all[group]->data;
}

size_t groups_count(const struct groups *groups)
{
	return groups->count;
}

struct moment {
	int64_t time;
	size_t group;
};

static int compare_moments(const void *x, const void *y)
{
	const struct moment *a = x, *b = y;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return (a->group > b->group) - (a->group < b->group);
}

size_t *groups_by_time(const struct groups *groups, size_t offset)
{
	size_t n = groups->count, *order = reallocarray(NULL, n + 1, sizeof(*order));
	cleanup_free struct moment *moments = reallocarray(NULL, n + 1, sizeof(*moments));

	if (order && moments) {
		for (size_t i = 0; i < n; i++) {
			moments[i].group = i;
			memcpy(&moments[i].time, groups->all[i]->data + offset, sizeof(int64_t));
		}
		qsort(moments, n, sizeof(*moments), compare_moments);
		for (size_t i = 0; i < n; i++)
			order[i] = moments[i].group;
	} else {
		free(order);
		order = NULL;
	}
	return order;
}

static const char *find_part(const struct group *group, int key, struct part *ret)
{
	const char *at = group->bytes;

	for (;; key--) {
		memcpy(ret, at, sizeof(*ret));
		at += sizeof(*ret);
		if (key == 0)
			return at;
		at += ret->len + 1;
	}
}

void *groups_above(struct groups *groups, const struct groups *others, size_t group)
{
	struct part part = { 0 };
	const char *bytes = others->all[group]->bytes;
	size_t size = groups->keys ? find_part(others->all[group], groups->keys - 1, &part) +
					     part.len + 1 - bytes
				   : 0;

	if (vector_fit(groups->bytes, groups->size, size) < 0)
		return NULL;
	if (size)
		memcpy(groups->bytes, bytes, size);
	return find(groups, size);
}

void groups_put(const struct groups *groups, size_t group, int first, int last, struct table *table)
{
	struct part part;
	int64_t number;
	double real;

	for (int i = first; i <= last; i++) {
		const char *bytes = find_part(groups->all[group], i, &part);

		switch ((enum query_type)part.type) {
		case QUERY_INT:
			memcpy(&number, bytes, sizeof(number));
			table_int(table, number);
			break;
		case QUERY_REAL:
			memcpy(&real, bytes, sizeof(real));
			table_real(table, real);
			break;
		case QUERY_NULL:
			table_null(table);
			break;
		default:
			table_text(table, bytes, part.len);
		}
	}
}

void groups_text(const struct groups *groups, size_t group, int key, char *out, size_t size)
{
	struct part part;
	const char *bytes = find_part(groups->all[group], key, &part);
	int64_t number;
	double real;

	switch ((enum query_type)part.type) {
	case QUERY_INT:
		memcpy(&number, bytes, sizeof(number));
		snprintf(out, size, "%lld", (long long)number);
		break;
	case QUERY_REAL:
		memcpy(&real, bytes, sizeof(real));
		snprintf(out, size, "%.15g", real);
		break;
	case QUERY_NULL:
		snprintf(out, size, "-");
		break;
	default:
		snprintf(out, size, "%s", bytes);
	}
}

const char *groups_name(const struct groups *groups, size_t group, char *out, size_t size)
{
	char key[256];
	size_t used = 0;

	out[0] = '\0';
	for (int i = 0; i < groups->keys && used < size; i++) {
		groups_text(groups, group, i, key, sizeof(key));
		used += (size_t)snprintf(out + used, size - used, "%s%s", i ? " " : "", key);
	}
	return out;
}

int groups_agree(const struct groups *a, size_t x, const struct groups *b, size_t y, int keys)
{
	for (int i = 0; i < keys; i++) {
		struct part p, q;
		const char *left = find_part(a->all[x], i, &p),
			   *right = find_part(b->all[y], i, &q);

		if (p.type != q.type || p.len != q.len || memcmp(left, right, p.len) != 0)
			return 0;
	}
	return 1;
}
