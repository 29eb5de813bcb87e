/* SPDX-License-Identifier: MIT */
#include "dag/trace/compose_internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct dimension dimensions[] = {
	{ "command", "p.program", "i.program", NULL, NULL, "program", NULL, NULL },
	{ "exe", "p.exe", "i.exe", NULL, NULL, "exe", NULL, NULL },
	{ "step", "p.step", NULL, NULL, NULL, "step", NULL, NULL },
	{ "task", "p.task", NULL, NULL, NULL, "task", NULL, NULL },
	{ "xform", "p.xform", NULL, NULL, NULL, "xform", NULL, NULL },
	{ "job", "p.job", NULL, NULL, NULL, "job", NULL, NULL },
	{ "phase", "p.phase", NULL, NULL, NULL, "phase", NULL, NULL },
	{ "process", "p.id", NULL, NULL, NULL, "id", NULL, NULL },
	{ "pid", "p.pid", NULL, NULL, NULL, "pid", NULL, NULL },
	{ "host", "p.host", NULL, NULL, NULL, "host", NULL, NULL },
	{ "file", NULL, NULL, "f.id", NULL, "id", NULL, NULL },
	{ "path", NULL, NULL, "f.path", NULL, "path", NULL, NULL },
	{ "directory", NULL, NULL, "f.directory", NULL, "directory", NULL, NULL },
	{ "fstype", NULL, NULL, "f.fstype", NULL, "fstype", NULL, "o.fstype" },
	{ "mount", NULL, NULL, "f.mount", NULL, "mount", NULL, "o.mount" },
	{ "operation", NULL, NULL, NULL, "o.name", "", NULL, NULL },
	/* the classes of IOProf */
	{ "class", NULL, NULL, NULL, "CASE WHEN o.name IN ('read', 'recv') THEN 'read' "
		"WHEN o.name IN ('write', 'send', 'copy', 'sendfile', 'splice') THEN 'write' "
		"WHEN o.name = 'lseek' THEN 'position' ELSE 'administration' END", "", "o.class", NULL },
	{ "ranks", "p.ranks", NULL, NULL, NULL, "ranks", NULL, NULL },
	{ "rank", NULL, NULL, NULL, NULL, "", "o.rank", NULL },
	{ "all", "'all'", NULL, NULL, NULL, "", NULL, NULL },
};
#define DIMENSION_MAX (sizeof(dimensions) / sizeof(dimensions[0]))

/* Columns that accompany an id. */
static const struct {
	const char *name;
	const char *more[3];
} spread[] = { { "process", { "pid", "command" } }, { "file", { "path" } } };
#define SPREAD_MAX (sizeof(spread) / sizeof(spread[0]))

bool composer_has_processes(const struct composer *c)
{
	return c->level != LEVEL_NONE;
}

bool composer_has_files(const struct composer *c)
{
	return c->level == LEVEL_PART || c->level == LEVEL_USE || c->level == LEVEL_IMAGE ||
	       c->level == LEVEL_OP || c->level == LEVEL_FILE || c->level == LEVEL_CALL;
}

bool composer_has_names(const struct composer *c)
{
	return c->level == LEVEL_OP || c->level == LEVEL_CALL || c->level == LEVEL_METRIC;
}

static bool has_images(const struct composer *c)
{
	return c->level == LEVEL_IMAGE || c->level == LEVEL_OP || c->level == LEVEL_CALL;
}

/* The expression of a key in this query; NULL: it has none. */
static const char *expression(const struct composer *c, const struct dimension *d)
{
	if (c->level == LEVEL_METRIC && (d->metric || d->image))
		return d->metric;
	if (d->image && has_images(c))
		return d->image;
	if (d->process && composer_has_processes(c))
		return d->process;
	if (d->file && composer_has_files(c) && c->level != LEVEL_PART)
		return d->file;
	return c->level == LEVEL_OP || c->level == LEVEL_METRIC ? d->op : c->level == LEVEL_CALL ? d->call : NULL;
}

static void add_need(struct composer *c, const char *expression_)
{
	c->needs |= strncmp(expression_, "p.", 2) == 0   ? NEED_PROC
		    : strncmp(expression_, "i.", 2) == 0 ? NEED_IMG
		    : strstr(expression_, "f.")          ? NEED_FIL
							 : 0;
}

/* What this query can be grouped by. */
static void fail_key(struct composer *c, const char *name, size_t len, bool is_known)
{
	char format[512];
	size_t used = (size_t)snprintf(format, sizeof(format), "cannot group by '%%.*s'%s: it must be ", is_known ? " here" : "");

	for (size_t i = 0; i < DIMENSION_MAX && used < sizeof(format); i++)
		if (expression(c, &dimensions[i]))
			used += (size_t)snprintf(format + used, sizeof(format) - used, "%s, ", dimensions[i].name);
	if (used < sizeof(format))
		snprintf(format + used, sizeof(format) - used, "or env:NAME");
	composer_fail(c, format, name, len);
}

/* NULL: the query cannot be grouped by it, and the failure is set. */
static const struct dimension *find_dimension(struct composer *c, const char *name, size_t len)
{
	const struct dimension *d = NULL;

	for (size_t i = 0; i < DIMENSION_MAX; i++)
		if (strncmp(dimensions[i].name, name, len) == 0 && !dimensions[i].name[len])
			d = &dimensions[i];
	if (d && expression(c, d))
		return d;
	if (d && d->call && !d->op)
		composer_fail(c, "cannot group by '%.*s' here: only calls of MPI have one; see 'hierarchy'", name, len);
	else
		fail_key(c, name, len, d);
	return NULL;
}

static void add_key(struct composer *c, const char *name, size_t len)
{
	bool variable = len > 4 && strncmp(name, "env:", 4) == 0;
	const struct dimension *d = variable ? NULL : find_dimension(c, name, len);

	if (c->failed)
		return;
	for (int i = 0; i < c->n_keys; i++)
		if (d && c->keys[i].dimension == d)
			return;
	if (c->n_keys == sizeof(c->keys) / sizeof(c->keys[0])) {
		composer_fail(c, "too many things to group by, from '%.*s' on", name, len);
		return;
	}
	if (variable)
		c->needs |= NEED_PROC;
	else
		add_need(c, expression(c, d));
	c->keys[c->n_keys++] = (struct key){ d, name, len };
}

/* NAME[,NAME...] */
static void add_keys(struct composer *c, const char *names, size_t len)
{
	const char *end = names + len, *comma;

	for (; names <= end && c->failed == 0; names = comma + 1) {
		size_t n;

		comma = memchr(names, ',', end - names);
		comma = comma ? comma : end;
		n = comma - names;
		add_key(c, names, n);
		for (size_t i = 0; i < SPREAD_MAX; i++)
			if (n == strlen(spread[i].name) && strncmp(names, spread[i].name, n) == 0)
				for (int k = 0; spread[i].more[k]; k++)
					add_key(c, spread[i].more[k], strlen(spread[i].more[k]));
	}
}

void composer_take_keys(struct composer *c, const char *head)
{
	const char *by = strstr(head, " by "), *end = strchr(head, ':');

	for (int i = 0; c->level != LEVEL_NONE && c->choice->by[i]; i++)
		add_keys(c, c->choice->by[i], strlen(c->choice->by[i]));
	if (!c->choice->by[0] && by && by < end)
		add_keys(c, by + 4, end - by - 4);
}

bool composer_keys_are_images(const struct composer *c)
{
	for (int i = 0; i < c->n_keys; i++)
		if (!c->keys[i].dimension || !c->keys[i].dimension->image)
			return false;
	return c->level == LEVEL_OP && c->n_keys > 0;
}

static void put_key(struct composer *c, const struct key *key)
{
	if (key->dimension)
		sql_text_put(c->out, expression(c, key->dimension));
	else
		sql_text_format(c->out,
			"(SELECT e.value FROM environ e WHERE e.image = p.image AND "
			"e.name = '%.*q')",
			(int)key->len - 4, key->name + 4);
}

static void put_name(struct composer *c, const struct key *key)
{
	sql_text_format(c->out, "\"%.*w\"", (int)key->len, key->name);
}

void composer_put_keys(struct composer *c)
{
	c->has_keys = true;
	if (c->by_image)
		sql_text_put(c->out, "o.image");
	for (int i = 0; i < c->n_keys && !c->by_image; i++) {
		sql_text_put(c->out, i ? ", " : "");
		put_key(c, &c->keys[i]);
		sql_text_put(c->out, " AS ");
		put_name(c, &c->keys[i]);
	}
}

void composer_put_names(struct composer *c)
{
	c->has_keys = true;
	for (int i = 0; i < c->n_keys; i++) {
		sql_text_put(c->out, i ? ", " : "");
		put_name(c, &c->keys[i]);
	}
}

void composer_put_total(struct composer *c)
{
	sql_text_put(c->out, "'Total'");
	for (int i = 1; i < c->n_keys; i++)
		sql_text_put(c->out, ", NULL");
}

void composer_put_group(struct composer *c, int first)
{
	for (int i = 0; i < c->n_keys; i++)
		sql_text_format(c->out, i ? ", %d" : "%d", first + i);
}

bool composer_has_key(const struct composer *c, const char *name)
{
	for (int i = 0; i < c->n_keys; i++)
		if (c->keys[i].dimension && strcmp(c->keys[i].dimension->name, name) == 0)
			return true;
	return false;
}
