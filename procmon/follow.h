/* SPDX-License-Identifier: MIT */
#ifndef PROCMON_FOLLOW_H
#define PROCMON_FOLLOW_H

/*
 * What the tracer tells (tracer.h), told to the scope: the command and all that it starts, each
 * program with its text as it was at its first instruction and what its process had used by then, and what
 * each process has used in all, read when it stands before its end and when it is a zombie.
 *
 * A process that is let go is from then on what the connector says of it.
 */

#include "procmon/ledger.h"
#include "procmon/proc_snapshot.h"
#include "procmon/tracer.h"

struct watch;

/* Zeroed but for watch and ledger.proc before its first use; the arg of the callbacks is to begin with it. */
struct follow {
	struct watch *watch;
	struct proc_snapshot snapshot;
	struct ledger ledger;
};

extern const struct tracer_callbacks follow_callbacks;

void follow_finish(struct follow *follow);

#endif
