/* SPDX-License-Identifier: MIT */
#ifndef IMPORT_STRACE_FILES_H
#define IMPORT_STRACE_FILES_H

/*
 * Reads the output of strace: one file of all processes (-f -o FILE), or one for each (-ff -o PREFIX), whose names end with their
 * number.  Puts calls together that stand on two lines, and brings the lines of several files into the order of the ends of their calls.
 */

#include <stdbool.h>
#include <stdint.h>

#include "import/strace_line.h"

struct failure;

struct strace_item {
	struct strace_line line; /* EXITED, SUPERSEDED or CALL; BAD: reason says what is wrong with it */
	int32_t tid;
	int64_t start_ns, end_ns; /* since the epoch; end: when it was printed, or as -T says */
	bool is_timed; /* -T says how long the call took; else that is known only of calls on two lines */
	const char *file, *reason;
	uint64_t number; /* of the line in its file, from 1 on */
};

/* 0, or -errno, which ends the reading. */
typedef int strace_take(void *arg, const struct strace_item *item);

/* files: their names.  0, or -errno with the reason: of the files, or of take. */
int strace_read(const char *const *files, int n_files, strace_take *take, void *arg, struct failure *failure);

/* Other sources of the same lines: a text, for tests. */
int strace_read_text(const char *text, size_t len, strace_take *take, void *arg, struct failure *failure);

#endif
