/* SPDX-License-Identifier: MIT */
#include "dag/check/mend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

char *check_escape(const char *name)
{
	char *text = malloc(2 * strlen(name) + 1), *at = text;

	for (; text && *name; name++) {
		if (strchr(" \t#:%\\", *name) && !(*name == '\\' && !strchr(" \t#:%", name[1])))
			*at++ = '\\';
		else if (*name == '$')
			*at++ = '$';
		*at++ = *name;
	}
	if (text)
		*at = '\0';
	return text;
}

/* RFC 4180 */
static char *quote_csv(const char *name)
{
	char *text = malloc(2 * strlen(name) + 3), *at = text;

	if (!text || !strpbrk(name, ",\"\n\r"))
		return text ? strcpy(text, name) : NULL;
	*at++ = '"';
	for (; *name; name++) {
		if (*name == '"')
			*at++ = '"';
		*at++ = *name;
	}
	*at++ = '"';
	*at = '\0';
	return text;
}

/* ---- names ---- */

const char *mend_directory(const struct mending *m, int32_t target)
{
	const struct build_node *node = &m->check->build->nodes[target];

	return node->directory == PATH_NAMES_NONE
		       ? "/"
		       : path_names_text(m->check->build->texts, node->directory);
}

/* As the makefile of a target has it; to be freed. */
char *mend_name(const struct mending *m, int32_t target, int32_t node)
{
	const struct build *build = m->check->build;
	const char *directory = mend_directory(m, target);
	const struct build_node *n = &build->nodes[node];

	if (n->name != PATH_NAMES_NONE && !m->relative &&
		strcmp(path_names_text(build->texts, n->directory), directory) == 0)
		return strdup(path_names_text(build->texts, n->name));
	return path_names_relative(directory, build_path(build, node));
}

/* ---- how to mend it ---- */

static char *mend_make(const struct check_finding *f, const char *target, const char *need)
{
	cleanup_free char *t = check_escape(target), *n = check_escape(need);
	char *text = NULL;

	if (!t || !n || asprintf(&text, "%s: %s%s", t, f->order_only ? "| " : "", n) < 0)
		return NULL;
	return text;
}

static char *mend_ninja(const struct check_finding *f, const char *target, const char *need)
{
	char *text = NULL;

	if (asprintf(&text, "build %s: ... %s %s", target, f->order_only ? "||" : "|", need) < 0)
		return NULL;
	return text;
}

static char *mend_csv(const struct check_finding *f, const char *target, const char *need)
{
	cleanup_free char *t = quote_csv(target), *n = quote_csv(need);
	char *text = NULL;

	if (!t || !n ||
		asprintf(&text, "%s,%s,%s", t, n, f->order_only ? "order-only" : "normal") < 0)
		return NULL;
	return text;
}

char *mend_line(const struct mending *m, const struct check_finding *f)
{
	int32_t node = m->check->build->recipes[f->recipe].node;
	cleanup_free char *target = mend_name(m, node, node), *need = mend_name(m, node, f->need);
	char *text = NULL;

	if (!target || !need)
		return NULL;
	if (f->kind == CHECK_REDUNDANT)
		return asprintf(&text, "remove '%s' from the prerequisites of %s", need, target) < 0
			       ? NULL
			       : text;
	if (f->kind == CHECK_MISSING_NAME)
		return asprintf(&text, "%s uses '%s' as long as there is no such file", target,
			       need) < 0
			       ? NULL
			       : text;
	switch (m->how) {
	case CHECK_MEND_NINJA:
		return mend_ninja(f, target, need);
	case CHECK_MEND_CSV:
		return mend_csv(f, target, need);
	default:
		return mend_make(f, target, need);
	}
}
