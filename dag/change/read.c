/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "base/failure.h"
#include "base/vector.h"
#include "dag/change/changes_internal.h"
#include "dag/trace/traces.h"
#include "db/query.h"

static char *text_of(struct changes *c, const struct query *q, int column)
{
	return traces_text(q, column, &c->tree.arena, &c->tree.failed);
}

static int result_of(const struct changes *c)
{
	return c->tree.failed ? -ENOMEM : 0;
}

/* ---- names ---- */

enum name_column { N_NAME, N_PATH, N_PATH2, N_FILE, N_FILE2, N_EXCHANGE, N_DOUBTFUL, N_CHOSEN };
static const char name_columns[] = "name path path2 file file2 exchange doubtful chosen";

static void mark(struct changes *c, const char *path, bool writes)
{
	struct entry *e = tree_find(&c->tree, path);

	if (!e)
		return;
	e->is_written |= writes;
	e->is_set |= !writes;
}

static int add_operation(void *arg, const struct query *q)
{
	struct changes *c = arg;
	const char *name = text_of(c, q, N_NAME), *path = text_of(c, q, N_PATH), *path2 = text_of(c, q, N_PATH2);
	int64_t file = query_int(q, N_FILE);
	bool ours = query_int(q, N_CHOSEN);

	if (!name || c->tree.failed)
		return result_of(c);
	if (strcmp(name, "rename") == 0)
		tree_move(&c->tree, &(struct tree_move){ path, path2, file, query_int(q, N_FILE2), query_int(q, N_EXCHANGE),
			query_int(q, N_DOUBTFUL) }, ours);
	else if (strcmp(name, "link") == 0)
		tree_make(&c->tree, path2, file, false, ours);
	else if (strcmp(name, "unlink") == 0 || strcmp(name, "rmdir") == 0)
		tree_remove(&c->tree, path, file, *name == 'r', ours);
	else if (strcmp(name, "create") == 0 || strncmp(name, "mk", 2) == 0 || strcmp(name, "symlink") == 0)
		tree_make(&c->tree, path, file, strcmp(name, "mkdir") == 0, ours);
	else if (ours)
		mark(c, path, strcmp(name, "truncate") == 0);
	return result_of(c);
}

/* ---- files ---- */

enum file_column { F_ID, F_PATH, F_KIND, F_SIZE_FIRST, F_SIZE_LAST, F_INO, F_CREATED, F_DELETED };

static int64_t number_or(const struct query *q, int column, int64_t unknown)
{
	return query_type(q, column) == QUERY_NULL ? unknown : query_int(q, column);
}

static int add_file(void *arg, const struct query *q)
{
	struct changes *c = arg;
	struct changed_file file = { .id = query_int(q, F_ID),
		.ino = number_or(q, F_INO, 0),
		.path = text_of(c, q, F_PATH),
		.kind = text_of(c, q, F_KIND),
		.bytes = -1,
		.size_first = number_or(q, F_SIZE_FIRST, -1),
		.size_last = number_or(q, F_SIZE_LAST, -1),
		.is_created = query_int(q, F_CREATED),
		.is_deleted = query_int(q, F_DELETED) };

	return vector_push(c->files, c->n_files, file) < 0 ? -ENOMEM : result_of(c);
}

static int compare_id(const void *key, const void *element)
{
	int64_t a = *(const int64_t *)key, b = ((const struct changed_file *)element)->id;

	return (a > b) - (a < b);
}

struct changed_file *changes_file(const struct changes *c, int64_t id)
{
	size_t at = vector_lower_bound(&id, c->files, (size_t)c->n_files, sizeof(*c->files), compare_id);

	return at < (size_t)c->n_files && c->files[at].id == id ? &c->files[at] : NULL;
}

enum data_column { D_FILE, D_VALUE };

static int add_data(void *arg, const struct query *q)
{
	struct changed_file *file = changes_file(arg, query_int(q, D_FILE));
	int64_t known = query_int(q, D_VALUE);

	if (!file)
		return 0;
	file->is_written = true;
	file->bytes = known == 2 ? 0 : -1;
	if (known == 0) /* what the trace has is the size before */
		file->size_last = -1;
	return 0;
}

static int add_bytes(void *arg, const struct query *q)
{
	struct changed_file *file = changes_file(arg, query_int(q, D_FILE));

	if (file && file->bytes == 0)
		file->bytes = query_int(q, D_VALUE);
	return 0;
}

static int add_attributes(void *arg, const struct query *q)
{
	struct changed_file *file = changes_file(arg, query_int(q, D_FILE));

	if (file)
		file->is_set = true;
	return 0;
}

static int add_input(void *arg, const struct query *q)
{
	struct changed_file *file = changes_file(arg, query_int(q, D_FILE));

	if (file)
		file->is_read = true;
	return 0;
}

/* ---- which entry is which file ---- */

static void join(struct changes *c)
{
	for (struct entry *e = c->tree.all; e; e = e->next) {
		struct changed_file *file = e->file && !e->is_gone ? changes_file(c, e->file) : NULL;

		if (!file)
			continue;
		e->next_of_file = file->entries;
		file->entries = e;
		e->is_dir |= file->kind && strcmp(file->kind, "dir") == 0;
	}
}

/* The entry of a file that no operation on names has named. */
static void place(struct changes *c, struct changed_file *file, const char *path)
{
	struct entry *e = tree_find(&c->tree, path);

	if (!e || (e->file && e->file != file->id))
		return;
	for (const struct entry *known = file->entries; known; known = known->next_of_file)
		if (known == e)
			return;
	e->file = file->id;
	e->is_dir |= file->kind && strcmp(file->kind, "dir") == 0;
	e->next_of_file = file->entries;
	file->entries = e;
}

static int add_link(void *arg, const struct query *q)
{
	struct changes *c = arg;
	struct changed_file *file = changes_file(c, query_int(q, 0));
	const char *path = text_of(c, q, 1);

	if (file && path && !file->is_deleted && (file->is_written || file->is_set))
		place(c, file, path);
	return result_of(c);
}

static int place_all(struct changes *c)
{
	join(c);
	for (int32_t i = 0; i < c->n_files; i++) {
		struct changed_file *file = &c->files[i];

		if ((file->is_written || file->is_set) && !file->entries && !file->is_deleted && !file->is_created)
			place(c, file, file->path);
	}
	return result_of(c);
}

/* ---- all ---- */

int changes_read(struct changes *c, struct query_db *db, const struct choice *choice, struct failure *failure)
{
	int r = traces_each(db, "change.names", name_columns, choice, add_operation, c, failure);

	if (r == 0)
		r = traces_each(db, "change.files", "id path kind size_first size_last ino created deleted", choice, add_file, c, failure);
	if (r == 0)
		r = traces_each(db, "change.data", "file known", choice, add_data, c, failure);
	if (r == 0)
		r = traces_each(db, "change.bytes", "file bytes", choice, add_bytes, c, failure);
	if (r == 0)
		r = traces_each(db, "change.attributes", "file", choice, add_attributes, c, failure);
	if (r == 0)
		r = failure_of_memory(failure, place_all(c));
	return r < 0 ? r : traces_each(db, "change.links", "file path", choice, add_link, c, failure);
}

int changes_load_inputs(struct changes *c, struct query_db *db, const struct choice *choice, struct failure *failure)
{
	return traces_each(db, "change.inputs", "file", choice, add_input, c, failure);
}
