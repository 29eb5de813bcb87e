/* SPDX-License-Identifier: MIT */
#include "dag/change/artifacts.h"

#include <errno.h>
#include <string.h>

#include "base/failure.h"
#include "base/vector.h"
#include "dag/change/changes.h"
#include "dag/change/disk.h"
#include "dag/change/print.h"
#include "dag/output/statement.h"
#include "db/query.h"

#define WARNINGS 10 /* more are only counted */

struct collection {
	struct changes *changes;
	const char *cwd;
	int64_t end_ns;
	artifacts_warn *warn;
	int64_t n_warnings;
};

static int add(struct collection *c, struct artifacts *artifacts, const struct changed_file *file, const char *path)
{
	char hash[SHA256_TEXT];
	struct artifact a = { .name = changes_name(c->cwd, path), .path = path };

	if (file->is_read && file->is_deleted)
		a.reason = "the run removed it";
	else if (file->kind && strcmp(file->kind, "file") != 0)
		a.reason = disk_is_no_file;
	else
		a.reason = disk_hash(file, path, c->end_ns, hash);
	if (a.reason == disk_is_directory) /* the trace did not know */
		return 0;
	if (!a.reason && !(a.sha256 = arena_text(&c->changes->tree.arena, hash, strlen(hash))))
		return -ENOMEM;
	if (a.reason && c->n_warnings++ < WARNINGS)
		c->warn("warning: no hash of '%s': %s", path, a.reason);
	return vector_push(artifacts->list, artifacts->n_list, a) < 0 ? -ENOMEM : 0;
}

static bool is_product(const struct change *change)
{
	return !change->is_dir && (change->kind == CHANGE_CREATED || change->kind == CHANGE_CHANGED || change->kind == CHANGE_RENAMED);
}

static int add_products(struct collection *c, struct artifacts *products)
{
	static const struct changed_file unknown = { .size_last = -1 };
	int r = 0;

	for (int32_t i = 0; i < c->changes->n_list && r == 0; i++) {
		const struct change *change = &c->changes->list[i];

		if (is_product(change))
			r = add(c, products, change->file ? change->file : &unknown, change->path);
	}
	return r;
}

static int by_path(const void *a, const void *b)
{
	return strcmp((*(const struct changed_file *const *)a)->path, (*(const struct changed_file *const *)b)->path);
}

/* By path, so that equal runs are equal statements. */
static int add_materials(struct collection *c, struct artifacts *materials)
{
	const struct changed_file **inputs = NULL;
	int32_t n = 0;
	int r = 0;

	for (int32_t i = 0; i < c->changes->n_files && r == 0; i++)
		if (c->changes->files[i].is_read && c->changes->files[i].path)
			r = vector_push(inputs, n, &c->changes->files[i]);
	if (n)
		qsort(inputs, (size_t)n, sizeof(*inputs), by_path);
	for (int32_t i = 0; i < n && r == 0; i++)
		r = add(c, materials, inputs[i], inputs[i]->path);
	free(inputs);
	return r;
}

static int write_it(const struct statement *s, FILE *out, struct failure *failure)
{
	int r;

	for (int32_t i = 0; i < s->products.n_list; i++)
		if (s->products.list[i].sha256) {
			r = statement_write(s, out);
			return r == -ENOMEM ? failure_memory(failure)
			       : r < 0      ? failure_set(failure, r, "cannot write the statement: %s", strerror(-r))
					    : 0;
		}
	return failure_set(failure, -ENODATA,
		"a statement needs something that was made and is there: the run created, changed or renamed no file that has a hash now");
}

int artifacts_state(struct query_db *db, struct changes *changes, const char *builder, artifacts_warn *warn, FILE *out,
	struct failure *failure)
{
	struct statement s = { .command = query_fact_text(db, "command"),
		.directory = query_fact_text(db, "cwd"),
		.host = query_fact_text(db, "host"),
		.version = query_fact_text(db, "ftrac_version"),
		.start_ns = query_fact(db, "start_ns", 0),
		.end_ns = query_fact(db, "end_ns", 0) };
	struct collection c = { .changes = changes, .cwd = s.directory, .end_ns = s.end_ns, .warn = warn };
	char own[512];
	int r;

	if (!s.end_ns)
		return failure_set(failure, -ENODATA, "the trace has no end: what lies on disk may be later than what it tells");
	snprintf(own, sizeof(own), "file://%s/", s.host ? s.host : "");
	s.builder = builder ? builder : own;
	r = failure_of_memory(failure, add_products(&c, &s.products));
	if (r == 0)
		r = failure_of_memory(failure, add_materials(&c, &s.materials));
	if (c.n_warnings > WARNINGS)
		warn("warning: no hash of %lld more files; the statement names them", (long long)(c.n_warnings - WARNINGS));
	if (r == 0)
		r = write_it(&s, out, failure);
	free(s.products.list);
	free(s.materials.list);
	return r;
}
