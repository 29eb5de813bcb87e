/* SPDX-License-Identifier: MIT */
#ifndef DAG_CHECK_NINJA_H
#define DAG_CHECK_NINJA_H

/*
 * What a folder's build.ninja declares, asked of ninja itself (ninja -t): targets, inputs, implicit ones,
 * those for order only, and what compilers have added in dependency files of earlier runs.
 */

#include <stdint.h>

struct build;
struct failure;
struct ninja;

/* Into the build.  0 or -errno, with the failure set; the caller destroys *ret_ninja in any case.  The failure must
 * live as long as the call. */
int ninja_load(const char *directory, struct build *build, struct ninja **ret_ninja,
	struct failure *failure);
void ninja_destroy(struct ninja *ninja);

/* The node of the target that such a command makes; BUILD_NONE. */
int32_t ninja_find(const struct ninja *ninja, const char *command);

#endif
