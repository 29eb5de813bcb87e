/* SPDX-License-Identifier: MIT */
#ifndef PROCMON_FOLLOW_H
#define PROCMON_FOLLOW_H

/*
 * What the tracer tells (tracer.h), told to the scope: the command and all that it starts, each
 * program with its text as it was at its first instruction, and what each process has used, read
 * when it stands before its end.
 *
 * A process that is let go is from then on what the connector says of it.
 */

#include "procmon/look.h"
#include "procmon/tracer.h"

struct kept_io;
struct watch;

/* Zeroed but for watch before its first use; the arg of the callbacks is to begin with it. */
struct follow {
	struct watch *watch;
	struct look look;
	struct kept_io *kept; /* /proc/PID/io of processes whose first thread ends before others */
};

extern const struct tracer_callbacks follow_callbacks;

void follow_finish(struct follow *follow);

#endif
