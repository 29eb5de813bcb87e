/* SPDX-License-Identifier: MIT */
#ifndef DAG_CHECK_BUILD_H
#define DAG_CHECK_BUILD_H

/*
 * A build: what it declares, and what its recipes did.  A node is a path: a target, a file, or both; its
 * number is that of the path in names.  A recipe is the run of the commands of a target below one driver
 * (a make, ninja); those of a make that a recipe has started lie inside of that recipe.  A use is what the
 * processes of a recipe did with a file.
 *
 * To be filled in, then build_finish()ed, then looked at.  -ENOMEM is the only error.
 */

#include <stdbool.h>
#include <stdint.h>

#include "dag/container/path_names.h"

#define BUILD_NONE (-1)

enum build_declared {
	BUILD_NORMAL,
	BUILD_ALIAS, /* a link to the other: it is not declared as such */
	BUILD_ORDER, /* first this, but it is no reason to make the target again */
	BUILD_DEPFILE /* a compiler wrote it down while the target was made: too late for this time */
};

struct build_edge {
	int32_t to;
	enum build_declared kind;
};

enum build_flag {
	BUILD_TARGET = 1, /* its prerequisites are known */
	BUILD_FILE = 2,   /* there is such a file, or was */
	BUILD_DIRECTORY = 4,
	BUILD_LINK = 8,
	BUILD_EMPTY = 16,
	BUILD_MAKEFILE = 32, /* a driver reads it */
	BUILD_UNSEEN = 64    /* not in the trace: its readers are not known */
};

struct build_node {
	struct build_edge *edges;
	int32_t n_edges;
	int32_t recipe;         /* a recipe of this target, then build_recipe.same; BUILD_NONE */
	int32_t first_of, n_of; /* of build.of_node */
	int32_t directory,
		name; /* of a target: in build.texts, as it was written; PATH_NAMES_NONE */
	unsigned flags;
};

struct build_recipe {
	int32_t node, same;
	int32_t outer; /* the recipe in which its driver runs, or BUILD_NONE */
	int64_t driver;
	int64_t start_ns, end_ns;
	bool failed, has_inner;
	bool remakes; /* a file that its driver reads: make sees to its makefiles before all else */
	int64_t makefiles_ns; /* when the last of these recipes of its driver ended; INT64_MIN: there is none */
	int32_t first_use, n_uses;
};

enum build_use_kind {
	USE_READ = 1,
	USE_MAP = 2,
	USE_EXECUTE = 4,
	USE_CREATE = 8,
	USE_RENAME = 16,
	USE_WRITE = 32,
	USE_APPEND = 64, /* adds to its end, as others may do, too */
	USE_DELETE = 128,
	USE_LOOK = 256
};
#define USE_READS (USE_READ | USE_MAP | USE_EXECUTE)
#define USE_WRITES (USE_CREATE | USE_RENAME | USE_WRITE | USE_APPEND)

struct build_use {
	int32_t recipe, node;
	unsigned kinds;
	int64_t in_ns, out_ns;  /* INT64_MAX: never */
	int64_t reader, writer; /* processes; 0: none */
};

/* The lookup of node failed, and a later one found another file of that name; found BUILD_NONE: none did. */
struct build_missing_name {
	int32_t recipe, node, found;
	int64_t process, time_ns;
};

/* A file that a driver reads. */
struct build_makefile {
	int64_t driver;
	int32_t node;
};

struct build {
	struct path_names *names, *texts;
	struct build_node *nodes;
	int32_t n_nodes;
	struct build_recipe *recipes;
	int32_t n_recipes;
	struct build_use *uses; /* by recipe, then node: one each */
	int32_t n_uses;
	int32_t *of_node; /* uses, by node */
	struct build_missing_name *missing_names;
	int32_t n_missing_names;
	struct build_makefile *makefiles;
	int32_t n_makefiles;
	bool is_complete; /* all that is declared is known, also of targets without a recipe */
};

struct build *build_create(void); /* NULL: out of memory */
void build_destroy(struct build *build);

/* The node of an absolute path (path_names_join()). */
int32_t build_node(struct build *build, const char *path);
int build_declare(struct build *build, int32_t target, int32_t prerequisite,
	enum build_declared kind);
/* How the target is written in its directory. */
int build_call(struct build *build, int32_t target, const char *directory, const char *name);
/* The recipe of the target below that driver, a new one if there was none. */
int32_t build_recipe(struct build *build, int32_t target, int64_t driver);
int build_use(struct build *build, const struct build_use *use);
int build_missing_name(struct build *build, const struct build_missing_name *name);

/* That driver reads the file. */
int build_read_by_driver(struct build *build, int64_t driver, int32_t node);

/* All is there. */
int build_finish(struct build *build);

static inline const char *build_path(const struct build *build, int32_t node)
{
	return path_names_text(build->names, node);
}
/* NULL: it did nothing with it. */
const struct build_use *build_find_use(const struct build *build, int32_t recipe, int32_t node);
/* Is the recipe inside of the outer one, or the same? */
bool build_is_inside(const struct build *build, int32_t recipe, int32_t outer);
/* Did the recipe run before the driver had all its makefiles, to make a makefile or what that needs? */
bool build_is_for_makefiles(const struct build *build, int32_t recipe);
/* Is the target none that exists as a file? */
bool build_is_phony(const struct build *build, int32_t recipe);

#endif
