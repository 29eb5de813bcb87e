/* SPDX-License-Identifier: MIT */
#ifndef DAG_ANSWER_ANSWER_INTERNAL_H
#define DAG_ANSWER_ANSWER_INTERNAL_H

#include <stdbool.h>
#include <stdio.h>

#include "base/failure.h"
#include "dag/graph/critical.h"
#include "dag/graph/workflow.h"
#include "db/query.h"

struct answer {
	struct query_db *db;
	struct failure *failure;
	struct workflow *workflow;
	struct critical *critical;
	const char *path; /* of the trace */
	int64_t n_processes;
	FILE *out;
	bool plain; /* for answer_lines() */
};

/* A line; the label is put before it, or as many spaces (NULL). */
__attribute__((format(printf, 3, 4))) void answer_say(const struct answer *answer, const char *label, const char *format, ...);

/* The name of a program or the path of a file, as it can be printed, in at most .most bytes: of a longer one the middle is left
 * out.  Returns ret_text. */
#define ANSWER_TEXT 128
const char *answer_text(const char *text, int most, char ret_text[static ANSWER_TEXT]);

/* How long each process is on the critical path, in ns; to be freed.  NULL: out of memory. */
int64_t *answer_time_on_path(const struct answer *answer);

/* Does the trace say what was done with files?  One of procmon may not. */
bool answer_has_files(const struct answer *answer);

/* The parts, each prints its lines.  0 or -errno, with the failure set. */
int answer_time(struct answer *answer);	  /* what the critical path was spent with */
int answer_steps(struct answer *answer);  /* what is worth speeding up */
int answer_failed(struct answer *answer); /* what failed, and why */
int answer_cover(struct answer *answer);  /* what the trace does not have */

/* What to look at next, and where the record came from. */
void answer_end(const struct answer *answer);

#endif
