/* SPDX-License-Identifier: MIT */
#include "dag/check/edges.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/failure.h"
#include "base/vector.h"
#include "dag/check/build.h"
#include "dag/output/aquery.h"

enum column { COLUMN_TARGET, COLUMN_PREREQUISITE, COLUMN_KIND, COLUMN_MAX };

static const char *const names[] = { "target", "prerequisite", "kind" };
_Static_assert(sizeof(names) / sizeof(names[0]) == COLUMN_MAX, "a name for each column");

struct edges {
	FILE *f;
	const char *file, *directory;
	struct build *build;
	struct failure *failure;
	char *text; /* fields of the row, each with its NUL */
	size_t len;
	size_t field[COLUMN_MAX]; /* where it begins in the text */
	int place[COLUMN_MAX];    /* which of the fields it is; -1: there is none */
	int64_t row;
};

static int put(struct edges *e, char c)
{
	return vector_push(e->text, e->len, c);
}

/* One field, with its NUL; what ended it: ',', '\n', EOF; or -ENOMEM - EOF is -1, which that is not. */
static int read_field(struct edges *e)
{
	bool quoted = false;
	int c, r = 0;

	while (r == 0 && (c = getc(e->f)) != EOF) {
		if (c == '"') {
			int next = quoted ? getc(e->f) : 0;

			if (quoted && next == '"') {
				r = put(e, '"');
				continue;
			}
			if (quoted)
				ungetc(next, e->f);
			quoted = !quoted;
		} else if (!quoted && (c == ',' || c == '\n')) {
			break;
		} else if (quoted || c != '\r') {
			r = put(e, (char)c);
		}
	}
	return r < 0 || put(e, '\0') < 0 ? -ENOMEM : c;
}

/* 1: a row, 0: there are no more, -ENOMEM.  heading: what fields are called is in it. */
static int read_row(struct edges *e, bool heading)
{
	int end = ',';

	e->len = 0;
	e->row++;
	for (int i = 0; end == ','; i++) {
		size_t begin = e->len;

		end = read_field(e);
		if (end == -ENOMEM)
			return -ENOMEM;
		if (end == EOF && i == 0 && e->len == 1)
			return 0;
		for (int k = 0; k < COLUMN_MAX; k++) {
			if (heading && strcmp(e->text + begin, names[k]) == 0)
				e->place[k] = i;
			if (e->place[k] == i)
				e->field[k] = begin;
		}
	}
	return 1;
}

static int32_t node_of(struct edges *e, const char *name)
{
	cleanup_free char *path = path_names_join(e->directory, name, strlen(name));

	return path ? build_node(e->build, path) : -ENOMEM;
}

/* prerequisite "": none. */
static int declare(struct edges *e, const char *target, const char *prerequisite, enum build_declared kind)
{
	int32_t node = node_of(e, target), to;

	if (node < 0 || build_call(e->build, node, e->directory, target) < 0)
		return -ENOMEM;
	if (!prerequisite[0])
		return 0;
	to = node_of(e, prerequisite);
	return to < 0 ? -ENOMEM : build_declare(e->build, node, to, kind);
}

static int add_row(struct edges *e)
{
	const char *target = e->text + e->field[COLUMN_TARGET];
	const char *prerequisite = e->text + e->field[COLUMN_PREREQUISITE];
	const char *kind = e->field[COLUMN_KIND] ? e->text + e->field[COLUMN_KIND] : "";
	bool order_only = strcmp(kind, "order-only") == 0;

	if (!target[0])
		return 0;
	if (kind[0] && !order_only && strcmp(kind, "normal") != 0)
		return failure_set(e->failure, -EINVAL,
			"unknown kind '%s' in row %lld of '%s': it must be normal or "
			"order-only",
			kind, (long long)e->row, e->file);
	return failure_of_memory(e->failure, declare(e, target, prerequisite, order_only ? BUILD_ORDER : BUILD_NORMAL));
}

static int read_all(struct edges *e)
{
	int added = 0, r = read_row(e, true);

	if (r >= 0 && (e->place[COLUMN_TARGET] < 0 || e->place[COLUMN_PREREQUISITE] < 0))
		return failure_set(e->failure, -EINVAL,
			"'%s' does not begin with the names of its columns: 'target,"
			"prerequisite' must be its first line",
			e->file);
	while (r >= 0 && added == 0) {
		for (int k = 0; k < COLUMN_MAX; k++)
			e->field[k] = 0;
		r = read_row(e, false);
		if (r <= 0)
			break;
		for (int k = COLUMN_TARGET; k <= COLUMN_PREREQUISITE; k++)
			if (e->place[k] > 0 && e->field[k] == 0)
				return failure_set(e->failure, -EINVAL,
					"row %lld of '%s' is too short", (long long)e->row,
					e->file);
		added = add_row(e);
	}
	return r < 0 ? failure_memory(e->failure) : added;
}

/* ---- the action graph of Bazel ---- */

static int add_edge(void *arg, const char *output, const char *input)
{
	return declare(arg, output, input, BUILD_NORMAL);
}

static int read_actions(struct edges *e)
{
	int r = aquery_read(e->f, add_edge, e);

	if (r == -EPROTO)
		return failure_set(e->failure, r,
			"'%s' is no action graph of Bazel: write it by 'bazel aquery --output=jsonproto', or give CSV that begins with "
			"'target,prerequisite'",
			e->file);
	return failure_of_memory(e->failure, r);
}

static bool is_json(FILE *f)
{
	const int c = getc(f);

	ungetc(c, f);
	return c == '{';
}

int edges_load(const char *file, const char *directory, struct build *build,
	struct failure *failure)
{
	struct edges e = { .f = fopen(file, "re"),
		.file = file,
		.directory = directory,
		.build = build,
		.failure = failure,
		.place = { -1, -1, -1 } };
	int r;

	if (!e.f)
		return failure_set(failure, -errno, "cannot open '%s': %s", file, strerror(errno));
	r = is_json(e.f) ? read_actions(&e) : read_all(&e);
	fclose(e.f);
	free(e.text);
	return r;
}
