/* SPDX-License-Identifier: MIT */
#ifndef DAG_TRACE_COMPOSE_INTERNAL_H
#define DAG_TRACE_COMPOSE_INTERNAL_H

/* The parts of compose(): one query on its way.  A part that fails sets composer.failed; the others go on. */

#include <stdbool.h>

#include "dag/trace/compose.h"
#include "db/sql_text.h"

/* What the rows of a query are made of. */
enum level {
	LEVEL_NONE,
	LEVEL_PROCESS,
	LEVEL_PART,
	LEVEL_USE,
	LEVEL_IMAGE,
	LEVEL_OP,
	LEVEL_FILE,
	LEVEL_MAX
};

/* Tables that a query needs beside its own. */
enum need { NEED_PROC = 1, NEED_IMG = 2, NEED_FIL = 4 };

/*
 * What rows can be grouped by: the expression where there are processes only, where the program of the
 * moment is known, where there are files, where there are operations; and the columns that it needs.
 */
struct dimension {
	const char *name, *process, *image, *file, *op;
	const char *columns;
};

struct key {
	const struct dimension *dimension; /* NULL: a variable of the environment */
	const char *name;                  /* of the column */
	size_t len;
};

struct composer {
	const struct choice *choice;
	struct composed *ret;
	struct sql_text *out;
	enum level level;
	struct key keys[4 * COMPOSE_BY_MAX];
	int n_keys;
	bool has_keys; /* they are among the columns */
	int needs;
	int failed; /* -errno */
};

/* The query cannot be had for these words: the text of composed.error. */
void composer_complain(struct composer *c, const char *format, const char *word, size_t len);

/* ---- compose_keys.c: what rows are grouped by ---- */

bool composer_has_processes(const struct composer *c);
bool composer_has_files(const struct composer *c);
void composer_take_keys(struct composer *c, const char *head);
bool composer_has_key(const struct composer *c, const char *name);
void composer_put_keys(struct composer *c);  /* with their names */
void composer_put_names(struct composer *c);
void composer_put_total(struct composer *c); /* values in place of the keys of a total */
void composer_put_group(struct composer *c, int first);

/* ---- compose_conditions.c: which rows count ---- */

bool composer_filters_files(const struct composer *c);
bool composer_chooses_files(const struct composer *c); /* do files make a difference? */
bool composer_chooses_processes(const struct composer *c);
bool composer_chooses_either(const struct composer *c);
void composer_put_process_match(struct composer *c, const char *glob, bool whole);
void composer_put_process_conditions(struct composer *c);
/* args: "BEGIN | END", the columns of a row's time.  *between stands before the first condition, then " AND ". */
void composer_put_time(struct composer *c, const char *args, size_t len, const char **between);
void composer_put_conditions(struct composer *c, const char *args, size_t len, const char *between);
void composer_put_chosen(struct composer *c, const char *args, size_t len); /* as a value */

/* ---- compose_tables.c: the tables that others are joined with ---- */

/* Which of them the query between text and end needs: before the first word is written. */
void composer_find_needs(struct composer *c, const char *text, const char *end);
void composer_put_with(struct composer *c, const char *columns, size_t len, bool others_follow);
void composer_put_joins(struct composer *c, const char *args);
void composer_put_op(struct composer *c, const char *args, size_t len);
void composer_put_filters(struct composer *c, const char *args, size_t len);

#endif
