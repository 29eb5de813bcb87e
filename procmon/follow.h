/* SPDX-License-Identifier: MIT */
#ifndef PROCMON_FOLLOW_H
#define PROCMON_FOLLOW_H

/*
 * Forwards the events of the tracer (tracer.h) to the scope: the command and all processes that it
 * starts; for each program its text (arguments, executable, ...) at its first instruction and the
 * resource usage of the process until then; for each process its final usage, read when its last
 * thread stops before its exit and again when it is a zombie.
 *
 * When the tracer detaches from a process, the connector reports the later events of that process.
 */

#include "procmon/ledger.h"
#include "procmon/proc_snapshot.h"
#include "procmon/tracer.h"

struct watch;

/* The caller zeroes it and sets watch and ledger.proc. The arg of the callbacks points to it. */
struct follow {
	struct watch *watch;
	struct proc_snapshot snapshot;
	struct ledger ledger;
};

extern const struct tracer_callbacks follow_callbacks;

void follow_finish(struct follow *follow);

#endif
