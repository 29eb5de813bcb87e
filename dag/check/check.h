/* SPDX-License-Identifier: MIT */
#ifndef DAG_CHECK_CHECK_H
#define DAG_CHECK_CHECK_H

/*
 * What is wrong with what a build declares, by what its recipes did.  Pure: asks the build alone.
 *
 *   missing    a recipe reads a file that another one makes, and nothing says that this comes first; or
 *              one that no recipe makes, and the target is not made again when it changes
 *   redundant  a prerequisite that the recipe never looked at, nor at what is made with it or before it
 *   unordered  two recipes use the same file, one of them writes it, and either may come first
 *   ghost      a recipe looked up a missing name, and then found the file elsewhere: if a file came to be at
 *              the first place, the recipe would take that one
 *
 * In doubt nothing is found.  A target that is no file, or has a prerequisite that is none, is made again
 * each time anyway: of such, sources are not missing.  Of what lies behind an alias without a recipe make
 * tells nothing; reads that may be declared there are counted in .unsure.
 */

#include <stdbool.h>
#include <stdint.h>

#include "dag/check/build.h"

enum check_kind { CHECK_MISSING, CHECK_REDUNDANT, CHECK_UNORDERED, CHECK_MISSING_NAME, CHECK_MAX };

extern const char *const check_kinds[]; /* their names, ended by NULL */

struct check_finding {
	enum check_kind kind;
	int32_t recipe; /* whose target is to be mended */
	int32_t other;  /* the recipe that makes, or also writes, the file; BUILD_NONE */
	int32_t file;
	int32_t need; /* the prerequisite to add, or to remove; in another directory's name if need be */
	bool order_only;
	const struct build_use *use;   /* what the recipe did; NULL: nothing */
	const struct build_use *cause; /* what the other did */
	const struct build_missing_name *missing_name;
};

struct check_options {
	const char *root; /* files elsewhere are not looked at; NULL: all are */
	unsigned kinds;   /* bits 1 << enum check_kind: what is looked for */
};

struct check {
	const struct build *build;
	struct check_options options;
	struct check_finding *findings;
	int32_t n;
	int64_t unsure;               /* reads */
	struct precede *of, *against; /* of the recipe in question; of the other recipe */
	struct precede *far;          /* of the recipe in which it is */
	bool *cares;                  /* of each node */
};

/* 0 or -ENOMEM; to be finished in any case.  The build must live as long. */
int check_run(const struct build *build, const struct check_options *options,
	struct check *ret_check);
void check_finish(struct check *check);

/* For the parts of check.c. */
int check_add(struct check *check, const struct check_finding *finding);
/* The finding that a comes behind b, which may happen in the other order, too: both use the file.  The caller adds what
 * they did. */
struct check_finding check_unordered(const struct check *check, int32_t a, int32_t b, int32_t file);
bool check_cares(const struct check *check, int32_t node);
/* Must one of both come before the other?  If not, which two are to be brought in order. */
enum check_order { CHECK_ORDERED, CHECK_UNSURE, CHECK_LOOSE };
enum check_order check_order(struct check *check, int32_t *a, int32_t *b);
int check_missing(struct check *check); /* and what of it is unordered */
int check_redundant(struct check *check, int32_t recipe);

#endif
