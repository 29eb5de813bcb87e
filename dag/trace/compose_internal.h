/* SPDX-License-Identifier: MIT */
#ifndef DAG_TRACE_COMPOSE_INTERNAL_H
#define DAG_TRACE_COMPOSE_INTERNAL_H

/* The parts of compose(): one query while it is written.  A part that fails calls composer_fail(); the other parts go on. */

#include <stdbool.h>

#include "dag/trace/compose.h"
#include "db/sql_text.h"

/* What a row of a query is. */
enum level {
	LEVEL_NONE,
	LEVEL_PROCESS,
	LEVEL_PART,
	LEVEL_USE,
	LEVEL_IMAGE,
	LEVEL_OP,
	LEVEL_FILE,
	LEVEL_CALL,
	LEVEL_METRIC,
	LEVEL_MAX
};

/* Tables that a query joins with its own. */
enum need { NEED_PROC = 1, NEED_IMG = 2, NEED_FIL = 4 };

/*
 * What rows can be grouped by: its expression in queries of processes, of images, of files, of operations, of calls of
 * libraries and of sums of operations (NULL: it has none there; those of operations are that of sums, too), and the columns of proc
 * that it needs.
 */
struct dimension {
	const char *name, *process, *image, *file, *op;
	const char *columns, *call, *metric;
};

struct key {
	const struct dimension *dimension; /* NULL: a variable of the environment */
	const char *name;                  /* of the column */
	size_t len;
};

struct composer {
	const struct choice *choice;
	struct failure *failure;
	struct sql_text *out;
	enum level level;
	struct key keys[4 * COMPOSE_BY_MAX];
	int n_keys;
	bool has_keys; /* the query has columns for them */
	bool by_image; /* it has a column for the image in their place */
	int needs;
	int failed; /* the -errno of the first failure; 0: none */
};

/* Sets the failure, unless there is one: the query cannot have this word.  The format has one %.*s. */
void composer_fail(struct composer *c, const char *format, const char *word, size_t len);

/* ---- compose_keys.c: how rows are grouped ---- */

bool composer_has_processes(const struct composer *c);
bool composer_has_files(const struct composer *c);
/* Are rows single operations, or sums of them, so that names of operations choose from them? */
bool composer_has_names(const struct composer *c);
void composer_take_keys(struct composer *c, const char *head);
/* Do all keys of operations depend on the image alone? */
bool composer_keys_are_images(const struct composer *c);
bool composer_has_key(const struct composer *c, const char *name);
void composer_put_keys(struct composer *c); /* the expressions, with names */
void composer_put_names(struct composer *c);
void composer_put_total(struct composer *c); /* the keys of the row that is the total */
void composer_put_group(struct composer *c, int first);

/* ---- compose_conditions.c: which rows count ---- */

bool composer_filters_files(const struct composer *c);
bool composer_chooses_files(const struct composer
		*c); /* or groups by them, or chooses operations */
bool composer_chooses_processes(const struct composer *c);
bool composer_chooses_either(const struct composer *c);
bool composer_chooses(const struct composer *c); /* Do conditions need joins? */
void composer_put_process_match(struct composer *c, const char *glob, bool whole);
void composer_put_process_conditions(struct composer *c);
/* args: "BEGIN | END", the columns of a row's time.  *between is written before the first condition; it becomes " AND ". */
void composer_put_time(struct composer *c, const char *args, size_t len, const char **between);
void composer_put_conditions(struct composer *c, const char *args, size_t len, const char *between);
void composer_put_chosen(struct composer *c, const char *args,
	size_t len); /* the conditions as a value */

/* ---- compose_tables.c: the joined tables ---- */

/* Finds the tables that the query between text and end joins.  It is called before the query is written. */
void composer_find_needs(struct composer *c, const char *text, const char *end);
void composer_put_with(struct composer *c, const char *columns, size_t len, bool others_follow);
void composer_put_joins(struct composer *c, const char *args);
void composer_put_op(struct composer *c, const char *args, size_t len);
void composer_put_filters(struct composer *c, const char *args, size_t len);

/*
 * The bytes of names, for rtrim(path, NAME_BYTES): the path to its last '/'.  In this order SQLite takes each byte for a
 * character of its own, so that names which are not UTF-8 are cut at the right byte, too.
 */
#define NAME_BYTES \
	"X'" \
	"0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f202122232425262728292a" \
	"2b2c2d2e303132333435363738393a3b3c3d3e3f404142434445464748494a4b4c4d4e4f505152535455" \
	"565758595a5b5c5d5e5f606162636465666768696a6b6c6d6e6f707172737475767778797a7b7c7d7e7f" \
	"808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9fa0a1a2a3a4a5a6a7a8a9" \
	"aaabacadaeafb0b1b2b3b4b5b6b7b8b9babbbcbdbebfc0c1c2c3c4c5c6c7c8c9cacbcccdcecfd0d1d2d3" \
	"d4d5d6d7d8d9dadbdcdddedfe0e1e2e3e4e5e6e7e8e9eaebecedeeeff0f1f2f3f4f5f6f7f8f9fafbfcfd" \
	"feff" \
	"'"

#endif
