/* SPDX-License-Identifier: MIT */
#ifndef DAG_CHECK_TRACE_H
#define DAG_CHECK_TRACE_H

/*
 * A build (build.h) out of a trace: what make has noted there (ftrac run --make), which process belongs to
 * which recipe, and what recipes did with files.
 *
 *   make   a process has its target in $FTRAC_TARGET; a process without it is of the recipe of its parent
 *   ninja  a shell that ninja started is of the target whose command it runs
 *   jobs   otherwise: the processes of a job are of the declared target that one of them writes
 */

#include <stdbool.h>
#include <stdint.h>

#include "dag/check/build.h"

struct failure;
struct ninja;
struct query_db;

struct actor {
	int64_t id, pid, start_ns, end_ns;
	int64_t parent; /* its id */
	char *command, *cwd, *job, *target, *shell_line;
	bool failed, is_driver, is_known;
	int32_t recipe;
};

struct check_trace {
	struct build *build;       /* has what is declared elsewhere already */
	const struct ninja *ninja; /* NULL: not by ninja */
	const char *root;
	struct actor *actors; /* by id */
	int32_t n_actors;
	int64_t begin_ns;
	bool has_notes;
	struct path_names *keys; /* $FTRAC_TARGET of targets; of_key: their nodes */
	int32_t *of_key;
	struct named *files; /* of uses.c, while it is loaded */
	struct seen *reads;
	int32_t n_files, n_reads;
};

/* Both return 0 or -errno, with the failure set. */
/* What make has noted, into trace->build. */
int check_trace_notes(struct check_trace *trace, struct query_db *db, struct failure *failure);
/* All the rest; the build is finished then. */
int check_trace_load(struct check_trace *trace, struct query_db *db, struct failure *failure);
void check_trace_finish(struct check_trace *trace); /* not the build */

/* NULL: there is none. */
const struct actor *check_trace_actor(const struct check_trace *trace, int64_t process);

#endif
