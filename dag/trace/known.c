/* SPDX-License-Identifier: MIT */
#include "dag/trace/known.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/failure.h"
#include "base/vector.h"
#include "dag/trace/compose.h"
#include "dag/trace/traces.h"
#include "db/query.h"

#define LIST_MOST 10
#define LENGTH_MOST 100 /* as far as names are compared */

struct name {
	char *text;
	int distance; /* from the one that was given */
	int place;    /* in the order of the trace */
};

struct names {
	struct name *names;
	int n;
	const char *what, *wanted;
	bool has_it;
	struct arena texts;
};

static int least(int a, int b)
{
	return a < b ? a : b;
}

/* How many characters must be changed, put in or left out (Levenshtein's distance, row by row). */
static int distance(const char *a, const char *b)
{
	int n = (int)strnlen(a, LENGTH_MOST), m = (int)strnlen(b, LENGTH_MOST), row[LENGTH_MOST + 1];

	for (int j = 0; j <= m; j++)
		row[j] = j;
	for (int i = 1; i <= n; i++) {
		int before = row[0];

		row[0] = i;
		for (int j = 1; j <= m; j++) {
			int changed = before + (a[i - 1] != b[j - 1]);

			before = row[j];
			row[j] = least(changed, least(row[j], row[j - 1]) + 1);
		}
	}
	return row[m];
}

static bool has(const struct names *names, int n, const char *text, size_t len)
{
	for (int i = 0; i < n; i++)
		if (strncmp(names->names[i].text, text, len) == 0 && !names->names[i].text[len])
			return true;
	return false;
}

static int add(struct names *names, const char *text, size_t len)
{
	struct name name = { arena_text(&names->texts, text, len), 0, names->n };

	if (!name.text)
		return -ENOMEM;
	name.distance = distance(name.text, names->wanted);
	names->has_it |= strcmp(name.text, names->wanted) == 0;
	return vector_push(names->names, names->n, name);
}

/* The phases that the user defines. */
static int add_defined(struct names *names, const struct words *phases)
{
	int r = 0;

	for (int i = 0; i < phases->n && r == 0; i++) {
		size_t len = strcspn(phases->word[i], "=");

		if (!has(names, names->n, phases->word[i], len))
			r = add(names, phases->word[i], len);
	}
	return r;
}

static int read_names(struct query_db *db, const char *sql, struct names *names, struct failure *failure)
{
	struct query *query = NULL;
	int n = names->n, r = traces_start(db, sql, 0, NULL, &query, failure);

	while (r == 0 && !names->has_it && (r = traces_next(db, query, failure)) > 0) {
		size_t len;
		const char *text = query_bytes(query, 0, &len);

		r = has(names, n, text, len) ? 0 : failure_of_memory(failure, add(names, text, len));
	}
	query_end(query);
	return r;
}

static int compare(const void *x, const void *y)
{
	const struct name *a = x, *b = y;

	return a->distance != b->distance ? a->distance - b->distance : a->place - b->place;
}

static int fail(struct names *names, struct failure *failure)
{
	const char *what = names->what;
	cleanup_free char *list = NULL;
	size_t size;
	FILE *out = open_memstream(&list, &size);

	if (names->n > LIST_MOST)
		qsort(names->names, names->n, sizeof(*names->names), compare);
	for (int i = 0; out && i < least(names->n, LIST_MOST); i++)
		fprintf(out, "%s%s", i ? ", " : "", names->names[i].text);
	if (!out || fclose(out) != 0)
		return failure_memory(failure);
	if (names->n == 0)
		return failure_set(failure, FAILURE_USAGE, "there is no %s '%s': the trace has no %ss", what, names->wanted, what);
	return failure_set(failure, FAILURE_USAGE, names->n > LIST_MOST ? "there is no %s '%s'; the most similar %ss are %s"
									: "there is no %s '%s'; the %ss are %s",
		what, names->wanted, what, list);
}

static int check(struct query_db *db, const char *sql, struct names *names, struct failure *failure)
{
	int r = names->has_it ? 0 : read_names(db, sql, names, failure);

	return r == 0 && !names->has_it ? fail(names, failure) : r;
}

static void names_finish(struct names *names)
{
	free(names->names);
	arena_free(&names->texts);
}

static int check_job(struct query_db *db, const char *job, struct failure *failure)
{
	struct names names = { .what = "job", .wanted = job };
	int r = check(db, "SELECT job FROM process WHERE job NOTNULL GROUP BY job ORDER BY min(id)", &names, failure);

	names_finish(&names);
	return r;
}

int known_check_phase(struct query_db *db, const struct choice *choice, const char *phase, struct failure *failure)
{
	struct names names = { .what = "phase", .wanted = phase };
	int r = phase ? failure_of_memory(failure, add_defined(&names, &choice->phases)) : 0;

	if (phase && r == 0)
		r = check(db, "SELECT phase FROM process WHERE phase NOTNULL GROUP BY phase ORDER BY min(start_ns), phase", &names,
			failure);
	names_finish(&names);
	return r;
}

int known_check(struct query_db *db, const struct choice *choice, struct failure *failure)
{
	int r = choice->job ? check_job(db, choice->job, failure) : 0;

	return r == 0 ? known_check_phase(db, choice, choice->phase, failure) : r;
}
