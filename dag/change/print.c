/* SPDX-License-Identifier: MIT */
#include "dag/change/print.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dag/change/changes.h"
#include "dag/container/path_names.h"
#include "dag/output/table.h"

struct printing {
	const struct changes *changes;
	const struct changes_listing *listing;
	struct table *table;
	/* Of each directory that is one row: what is in it.  below: the row is in another one. */
	struct inside {
		int64_t files, bytes;
		bool unknown, below;
	} *inside;
	bool folds;
};

const char *changes_name(const char *cwd, const char *path)
{
	size_t len = cwd ? strlen(cwd) : 0;

	return len > 1 && path_names_is_below(cwd, path) && path[len] == '/' ? path + len + 1 : path;
}

static bool is_listed(const struct printing *p, const struct change *change)
{
	return change->kind != CHANGE_TEMPORARY || p->listing->temporary;
}

static bool is_file(const struct change *change)
{
	return !change->is_dir && change->file && (!change->file->kind || strcmp(change->file->kind, "file") == 0);
}

/* The size at the end; -1: it has none, or it is not known. */
static int64_t size_of(const struct change *change)
{
	return is_file(change) && change->kind != CHANGE_REMOVED && change->kind != CHANGE_TEMPORARY ? change->file->size_last : -1;
}

static int64_t size_before(const struct change *change)
{
	if (change->kind == CHANGE_CREATED || change->kind == CHANGE_TEMPORARY)
		return -1;
	if (change->kind == CHANGE_CHANGED && change->is_replaced)
		return change->before ? change->before->size_first : -1;
	return is_file(change) ? change->file->size_first : -1;
}

static bool has_bytes(const struct change *change)
{
	return is_file(change) && (change->file->is_written || change->kind == CHANGE_CREATED);
}

/* ---- directories as one row ---- */

/* The row of the directory of that kind whose path is the first len bytes of path; -1: there is none. */
static int32_t find_dir(const struct changes *c, enum change_kind kind, const char *path, size_t len)
{
	int32_t low = 0, n = c->n_list;

	while (n > 0) {
		int32_t half = n / 2;
		const struct change *at = &c->list[low + half];
		int order = (int)at->kind - (int)kind;

		if (order == 0)
			order = strncmp(at->path, path, len);
		if (order == 0 && at->path[len] == '\0')
			return at->is_dir ? low + half : -1;
		if (order < 0)
			low += half + 1, n -= half + 1;
		else
			n = half;
	}
	return -1;
}

static int32_t topmost(const struct changes *c, const struct change *change)
{
	for (const char *slash = strchr(change->path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		int32_t dir = find_dir(c, change->kind, change->path, (size_t)(slash - change->path));

		if (dir >= 0)
			return dir;
	}
	return -1;
}

static void fold(struct printing *p)
{
	for (int32_t i = 0; i < p->changes->n_list; i++) {
		const struct change *change = &p->changes->list[i];
		bool folds = change->kind == CHANGE_CREATED || change->kind == CHANGE_REMOVED || change->kind == CHANGE_TEMPORARY;
		int32_t dir = folds ? topmost(p->changes, change) : -1;
		int64_t size = change->kind == CHANGE_REMOVED ? size_before(change) : size_of(change);

		if (dir < 0)
			continue;
		p->inside[i].below = true;
		p->inside[dir].files += !change->is_dir;
		p->inside[dir].bytes += size > 0 ? size : 0;
		p->inside[dir].unknown |= size < 0 && is_file(change);
		p->folds = true;
	}
}

/* ---- rows ---- */

static void put_number(struct table *table, int64_t number)
{
	if (number < 0)
		table_null(table);
	else
		table_int(table, number);
}

static void put_data_row(struct printing *p, const struct change *change)
{
	const struct changed_file *file = change->file;

	table_row(p->table);
	table_string(p->table, change_kinds[change->kind]);
	table_string(p->table, change->path);
	table_string(p->table, change->from);
	table_string(p->table, change->is_dir ? "dir" : file ? file->kind : NULL);
	put_number(p->table, has_bytes(change) ? file->bytes : -1);
	put_number(p->table, size_before(change));
	put_number(p->table, size_of(change));
	put_number(p->table, change->is_doubtful ? -1 : change->is_replaced);
	put_number(p->table, file ? file->id : -1);
}

/* Of a renamed one: its name before, too.  A directory ends in '/'. */
static void put_path(struct printing *p, const struct change *change)
{
	const char *cwd = p->listing->cwd, *end = change->is_dir ? "/" : "", *path = changes_name(cwd, change->path);
	char *text = NULL;
	int r = change->from ? asprintf(&text, "%s%s -> %s%s", changes_name(cwd, change->from), end, path, end)
			     : asprintf(&text, "%s%s", path, end);

	table_string(p->table, r < 0 ? NULL : text);
	if (r >= 0)
		free(text);
}

static void put_text_row(struct printing *p, const struct change *change, const struct inside *inside)
{
	bool one = inside && change->is_dir && (change->kind == CHANGE_CREATED || change->kind == CHANGE_REMOVED);

	table_row(p->table);
	table_string(p->table, change_kinds[change->kind]);
	put_path(p, change);
	if (p->folds)
		put_number(p->table, one ? inside->files : -1);
	put_number(p->table, has_bytes(change) && change->kind != CHANGE_REMOVED ? change->file->bytes : -1);
	if (one)
		put_number(p->table, inside->unknown || change->kind == CHANGE_REMOVED ? -1 : inside->bytes);
	else
		put_number(p->table, size_of(change));
}

static void put_text(struct printing *p)
{
	table_columns(p->table, p->folds ? "change path files written_bytes size_bytes" : "change path written_bytes size_bytes");
	for (int32_t i = 0; i < p->changes->n_list; i++)
		if (is_listed(p, &p->changes->list[i]) && !(p->inside && p->inside[i].below))
			put_text_row(p, &p->changes->list[i], p->inside ? &p->inside[i] : NULL);
}

static void put_data(struct printing *p)
{
	table_columns(p->table, "change path from kind written_bytes before_bytes size_bytes replaced file");
	for (int32_t i = 0; i < p->changes->n_list; i++)
		if (is_listed(p, &p->changes->list[i]))
			put_data_row(p, &p->changes->list[i]);
}

/* ---- notes ---- */

static void put_notes(struct printing *p)
{
	static const char *const words[] = { "created", "changed", "with other attributes", "renamed", "removed" };
	const int64_t *n = p->changes->counts;
	int64_t unknown = 0, doubtful = 0;
	char text[256];
	size_t len = 0;

	for (int i = CHANGE_CREATED; i <= CHANGE_REMOVED; i++)
		if (n[i])
			len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%lld %s", len ? ", " : "", (long long)n[i], words[i]);
	table_note(p->table, "%s", len ? text : "nothing is changed");
	if (n[CHANGE_TEMPORARY] && !p->listing->temporary)
		table_note(p->table, "%lld more were made and removed again (--temporary)", (long long)n[CHANGE_TEMPORARY]);
	for (int32_t i = 0; i < p->changes->n_list; i++) {
		unknown += has_bytes(&p->changes->list[i]) && p->changes->list[i].file->bytes < 0;
		doubtful += p->changes->list[i].is_doubtful;
	}
	if (doubtful)
		table_note(p->table, "%lld were renamed to where something else may have been: no program looked, and system calls do not tell",
			(long long)doubtful);
	if (unknown)
		table_note(p->table, "of %lld it is not known how much was written: not all writes, or stores into mappings, were seen",
			(long long)unknown);
}

void changes_list(const struct changes *changes, const struct changes_listing *listing, struct table *table)
{
	struct printing p = { .changes = changes, .listing = listing, .table = table };

	if (listing->text && !listing->all && (p.inside = calloc((size_t)changes->n_list + 1, sizeof(*p.inside))))
		fold(&p);
	if (listing->text)
		put_text(&p);
	else
		put_data(&p);
	put_notes(&p);
	free(p.inside);
}
