/* SPDX-License-Identifier: MIT */
#ifndef IMPORT_STRACE_CALLS_H
#define IMPORT_STRACE_CALLS_H

/*
 * Calls as strace shows them -> calls as the world takes them, by the table of system calls in kernel/calls.h.
 *
 * Pure; texts are in the arena.
 */

#include "base/arena.h"
#include "import/strace_files.h"
#include "import/world.h"

enum strace_meaning {
	STRACE_IGNORED, /* it does nothing with files and processes */
	STRACE_WRONG,	/* arguments are missing, or are not what they have to be */
	STRACE_TAKEN	/* *ret_call */
};

enum strace_meaning strace_call(struct arena *arena, const struct strace_item *item, struct world_call *ret_call);

/* Of a fork that succeeded: the new process or thread.  False: it is none. */
bool strace_fork(const struct strace_line *line, int32_t *ret_child, unsigned *ret_shares);

/* Of an exec.  False: it is none, or arguments are missing.  *ret_is_cut: words are not whole (-s). */
bool strace_exec(struct arena *arena, const struct strace_line *line, struct world_program *ret_program, bool *ret_is_cut);

#endif
