/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "dag/container/path_names.h"
#include "dag/darshan/calls_internal.h"

/* A descriptor, and the number of its name. */
struct descriptor {
	int64_t fd;
	int32_t name;
};

struct table {
	struct descriptor *of;
	int32_t n;
	bool has_begun;
};

struct streams {
	const struct ranks *ranks;
	struct path_names *names;
	struct table *tables; /* of each process */
};

struct streams *streams_create(const struct ranks *ranks)
{
	struct streams *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->ranks = ranks;
	s->names = path_names_create();
	s->tables = calloc((size_t)ranks->n + 1, sizeof(*s->tables));
	if (s->names && s->tables)
		return s;
	streams_destroy(s);
	return NULL;
}

void streams_destroy(struct streams *s)
{
	if (!s)
		return;
	for (int32_t i = 0; s->tables && i < s->ranks->n; i++)
		free(s->tables[i].of);
	free(s->tables);
	path_names_destroy(s->names);
	free(s);
}

static struct descriptor *find(struct table *t, int64_t fd)
{
	for (int32_t i = 0; i < t->n; i++)
		if (t->of[i].fd == fd)
			return &t->of[i];
	return NULL;
}

static int set(struct table *t, int64_t fd, int32_t name)
{
	struct descriptor *d = find(t, fd);

	if (d)
		d->name = name;
	return d ? 0 : vector_push(t->of, t->n, (struct descriptor){ fd, name });
}

static void forget(struct table *t, int64_t fd)
{
	struct descriptor *d = find(t, fd);

	if (d)
		*d = t->of[--t->n];
}

/* A process begins with the descriptors of its parent. */
static struct table *table_of(struct streams *s, int32_t process)
{
	struct table *t = &s->tables[process];
	int32_t parent = t->has_begun ? -1 : ranks_find(s->ranks, s->ranks->of[process].parent);

	t->has_begun = true;
	for (int32_t i = 0; parent >= 0 && i < s->tables[parent].n; i++)
		if (set(t, s->tables[parent].of[i].fd, s->tables[parent].of[i].name) < 0)
			return NULL;
	return t;
}

int streams_note(struct streams *s, int32_t process, const struct made *made)
{
	static const char *const opens[] = { "fopen", "freopen", "tmpfile", "open", "openat", "creat", "fdopen" };
	struct table *t = table_of(s, process);
	int32_t name;

	if (!t)
		return -ENOMEM;
	if (made->fd < 0)
		return 0;
	if (strcmp(made->name, "close") == 0 || strcmp(made->name, "fclose") == 0) {
		forget(t, made->fd);
		return 0;
	}
	for (size_t i = 0; i < sizeof(opens) / sizeof(opens[0]); i++) {
		if (strcmp(made->name, opens[i]) != 0 || !made->path || !made->path_len)
			continue;
		name = path_names_add(s->names, made->path, made->path_len);
		return name < 0 ? -ENOMEM : set(t, made->fd, name);
	}
	return 0;
}

const char *streams_name(struct streams *s, int32_t process, int64_t fd)
{
	static const char *const standard[] = { "<STDIN>", "<STDOUT>", "<STDERR>" };
	struct table *t = table_of(s, process);
	const struct descriptor *d = t ? find(t, fd) : NULL;

	if (d)
		return path_names_text(s->names, d->name);
	return fd >= 0 && fd < 3 ? standard[fd] : NULL;
}
