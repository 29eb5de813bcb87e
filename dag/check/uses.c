/* SPDX-License-Identifier: MIT */
#include "dag/check/uses.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/failure.h"
#include "base/vector.h"
#include "dag/check/disk.h"
#include "dag/check/trace.h"
#include "db/query.h"

/* One of the names of a file. */
struct named {
	int64_t file;
	int32_t node;
};

/* A file that a process read, by its base name. */
struct seen {
	int64_t process, time_ns;
	int32_t base, node;
};

static bool is_text(const struct query *q, int column, const char *text)
{
	size_t len;
	const char *bytes = query_bytes(q, column, &len);

	return query_type(q, column) != QUERY_NULL && strlen(text) == len &&
	       memcmp(bytes, text, len) == 0;
}

static int32_t node_of(struct check_trace *t, const struct query *q, int column)
{
	size_t len;
	const char *bytes = query_bytes(q, column, &len);
	cleanup_free char *path = path_names_join("/", bytes, len);

	return path ? build_node(t->build, path) : -ENOMEM;
}

/* ---- files ---- */

enum file_column { F_ID, F_PATH, F_KIND, F_SIZE };

static unsigned flags_of(const struct query *q)
{
	if (is_text(q, F_KIND, "dir"))
		return BUILD_DIRECTORY;
	if (is_text(q, F_KIND, "symlink"))
		return BUILD_LINK;
	if (query_type(q, F_KIND) != QUERY_NULL && !is_text(q, F_KIND, "file"))
		return 0; /* pipes, devices */
	return BUILD_FILE |
	       (query_type(q, F_SIZE) != QUERY_NULL && query_int(q, F_SIZE) == 0 ? BUILD_EMPTY : 0);
}

static int add_file(struct check_trace *t, const struct query *q)
{
	int32_t node = node_of(t, q, F_PATH);
	unsigned flags = flags_of(q);

	if (node < 0 ||
		vector_push(t->files, t->n_files, (struct named){ query_int(q, F_ID), node }) < 0)
		return -ENOMEM;
	/* Several files may have had the name, one after the other: the node is empty if all were. */
	if ((flags & BUILD_FILE) && (t->build->nodes[node].flags & BUILD_FILE))
		flags &= ~(unsigned)BUILD_EMPTY | (t->build->nodes[node].flags & BUILD_EMPTY);
	t->build->nodes[node].flags |= flags;
	return 0;
}

int check_uses_files(struct check_trace *t, struct query_db *db, struct failure *failure)
{
	return check_trace_each(t, db, "check.files", "id path kind size_last", add_file, failure);
}

static int compare_file(const void *key, const void *element)
{
	int64_t a = *(const int64_t *)key, b = ((const struct named *)element)->file;

	return (a > b) - (a < b);
}

/* The first of its names; they are together. */
static const struct named *find_file(const struct check_trace *t, int64_t file)
{
	return t->files + vector_lower_bound(&file, t->files, (size_t)t->n_files, sizeof(*t->files),
				  compare_file);
}

static bool is_of_file(const struct check_trace *t, const struct named *named, int64_t file)
{
	return named < t->files + t->n_files && named->file == file;
}

/* ---- accesses ---- */

enum access_column {
	A_PROCESS,
	A_FILE,
	A_PATH,
	A_READS,
	A_WRITES,
	A_EXECUTED,
	A_MAPPED,
	A_CREATED,
	A_RENAMED,
	A_UNLINKED,
	A_FIRST_IN,
	A_FIRST_OUT,
	A_FIRST,
	A_APPENDS
};
const char check_access_columns[] = "process file path reads writes executed mapped created renamed unlinked first_in_ns "
				    "first_out_ns first_ns appends";

static unsigned kinds_of(const struct query *q)
{
	unsigned kinds = USE_LOOK | (query_int(q, A_READS) ? USE_READ : 0) |
			 (query_int(q, A_EXECUTED) ? USE_EXECUTE : 0) |
			 (query_int(q, A_MAPPED) ? USE_MAP : 0) |
			 (query_int(q, A_CREATED) ? USE_CREATE : 0) |
			 (query_int(q, A_RENAMED) ? USE_RENAME : 0) |
			 (query_int(q, A_UNLINKED) ? USE_DELETE : 0);

	if (query_int(q, A_WRITES))
		kinds |= query_int(q, A_APPENDS) ? USE_APPEND : USE_WRITE;
	return kinds;
}

static int64_t time_of(const struct query *q, int column)
{
	if (query_type(q, column) != QUERY_NULL)
		return query_int(q, column);
	return query_type(q, A_FIRST) == QUERY_NULL ? 0 : query_int(q, A_FIRST);
}

static int add_seen(struct check_trace *t, const struct build_use *use)
{
	const char *base = path_names_base(build_path(t->build, use->node));
	int32_t name = path_names_add(t->build->texts, base, strlen(base));

	if (name < 0)
		return -ENOMEM;
	return vector_push(t->reads, t->n_reads,
		(struct seen){ use->reader, use->in_ns, name, use->node });
}

/* What is written gets all names that the file ever had: it is made under one, and used under another. */
static int add_uses(struct check_trace *t, const struct query *q, struct build_use *use)
{
	int64_t file = query_int(q, A_FILE);
	int32_t first = use->node;
	int r = build_use(t->build, use);

	if (r == 0 && (use->kinds & USE_READS))
		r = add_seen(t, use);
	use->kinds &= USE_WRITES;
	use->in_ns = INT64_MAX;
	for (const struct named *f = find_file(t, file);
		r == 0 && use->kinds && is_of_file(t, f, file); f++) {
		use->node = f->node;
		if (f->node != first)
			r = build_use(t->build, use);
	}
	return r;
}

static int add_access(struct check_trace *t, const struct query *q)
{
	const struct actor *a = check_trace_actor(t, query_int(q, A_PROCESS));
	struct build_use use = { .kinds = kinds_of(q), .in_ns = INT64_MAX, .out_ns = INT64_MAX };

	if (!a || query_type(q, A_PATH) == QUERY_NULL)
		return 0;
	use.node = node_of(t, q, A_PATH);
	if (use.node < 0)
		return -ENOMEM;
	if (a->is_driver && (use.kinds & USE_READS) && build_read_by_driver(t->build, a->id, use.node) < 0)
		return -ENOMEM;
	if (a->is_driver || a->recipe == BUILD_NONE)
		return 0;
	use.recipe = a->recipe;
	if (use.kinds & USE_READS) {
		use.in_ns = time_of(q, A_FIRST_IN);
		use.reader = a->id;
	}
	if (use.kinds & (USE_WRITES | USE_DELETE)) {
		use.out_ns = time_of(q, A_FIRST_OUT);
		use.writer = a->id;
	}
	return add_uses(t, q, &use);
}

/* ---- jobs ---- */

static int add_job(struct check_trace *t, const char *job, int32_t node)
{
	int32_t before = path_names_count(t->keys), key = path_names_add(t->keys, job, strlen(job));

	if (key < 0 || (key == before && vector_reserve(t->of_key, key) < 0))
		return -ENOMEM;
	if (key == before || node < t->of_key[key])
		t->of_key[key] = node;
	return 0;
}

int check_uses_of_jobs(struct check_trace *t, const struct query *q)
{
	const struct actor *a = check_trace_actor(t, query_int(q, A_PROCESS));
	int64_t file = query_int(q, A_FILE);
	int r = 0;

	if (!a || !a->job || a->is_driver || !query_int(q, A_WRITES))
		return 0;
	for (const struct named *f = find_file(t, file); r == 0 && is_of_file(t, f, file); f++)
		if (t->build->nodes[f->node].flags & BUILD_TARGET)
			r = add_job(t, a->job, f->node);
	return r;
}

/* ---- missing names ---- */

static int compare_seen(const void *x, const void *y)
{
	const struct seen *a = x, *b = y;

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	return (a->base > b->base) - (a->base < b->base);
}

static bool is_wanted(const struct check_trace *t, int32_t node)
{
	return !t->root || path_names_is_below(t->root, build_path(t->build, node));
}

enum missing_name_column { G_PROCESS, G_PATH, G_FIRST };

/* What the process read under that base name after its lookup failed; NULL: nothing. */
static const struct seen *find_seen(const struct check_trace *t, int64_t process, int32_t base,
	int64_t after_ns)
{
	const struct seen *reads = t->reads;
	const struct seen key = { .process = process, .base = base };
	size_t n = (size_t)t->n_reads,
	       i = vector_lower_bound(&key, reads, n, sizeof(key), compare_seen);

	for (; i < n && compare_seen(&reads[i], &key) == 0; i++)
		if (reads[i].time_ns >= after_ns && is_wanted(t, reads[i].node))
			return &reads[i];
	return NULL;
}

/* Adds a missing name if it matters: if the process then found a file of the same base name elsewhere, or if a file
 * of this name was made later, perhaps by another process. */
static int add_missing_name(struct check_trace *t, const struct query *q)
{
	const struct actor *a = check_trace_actor(t, query_int(q, G_PROCESS));
	size_t len;
	const char *path = query_bytes(q, G_PATH, &len), *slash = memrchr(path, '/', len);
	const struct seen *seen;
	struct build_missing_name name = { .process = query_int(q, G_PROCESS),
		.found = BUILD_NONE,
		.time_ns = query_int(q, G_FIRST) };
	int32_t base;

	if (!a || a->recipe == BUILD_NONE || a->is_driver || !slash)
		return 0;
	base = path_names_find(t->build->texts, slash + 1, path + len - slash - 1);
	seen = base == PATH_NAMES_NONE ? NULL : find_seen(t, name.process, base, name.time_ns);
	if (!seen && path_names_find(t->build->names, path, len) == PATH_NAMES_NONE)
		return 0;
	name.recipe = a->recipe;
	name.node = node_of(t, q, G_PATH);
	name.found = seen ? seen->node : BUILD_NONE;
	if (name.node < 0)
		return -ENOMEM;
	return name.node == name.found ? 0 : build_missing_name(t->build, &name);
}

/* ---- the whole ---- */

int check_uses_load(struct check_trace *t, struct query_db *db, struct failure *failure)
{
	int r = check_trace_each(t, db, "check.accesses", check_access_columns, add_access, failure);

	if (t->n_reads)
		qsort(t->reads, (size_t)t->n_reads, sizeof(*t->reads), compare_seen);
	if (r == 0)
		r = check_trace_each(t, db, "check.missing_names", "process path first_ns", add_missing_name,
			failure);
	if (r == 0)
		r = failure_of_memory(failure, check_disk_depfiles(t));
	return r < 0 ? r : failure_of_memory(failure, check_disk_links(t));
}

void check_uses_finish(struct check_trace *t)
{
	free(t->files);
	free(t->reads);
}
