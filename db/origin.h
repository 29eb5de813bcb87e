/* SPDX-License-Identifier: MIT */
#ifndef DB_ORIGIN_H
#define DB_ORIGIN_H

/*
 * Where a run was started: what the environment of ftrac says of the job, the step, the connection or the other run that it is part of.
 * ftrac merge finds the process that started it by that (merge_starts.h).
 */

struct store;

#define ORIGIN_VARIABLE "FTRAC_RUN" /* of the command of a run: its name */

/* The facts that a trace need not have, as SQL has them. */
#define ORIGIN_KEYS "'run', 'started_in', 'ssh_client', 'ssh_server', 'slurm_job_id', 'slurm_step_id', 'slurm_procid', 'slurm_nodeid', " \
	"'slurmd_nodename', 'pmix_namespace', 'pmix_rank', 'pmi_rank'"

struct origin {
	char run[128];	      /* HOST:NUMBER, which no other run has; "": it has no command */
	char started_in[128]; /* the run whose command has started this one; "": not known */
};

/* Names a run, and sets the variable for its command: before that is forked, while there is one thread.  0 or -errno. */
int origin_begin(struct origin *ret_origin);

/* Stores it as facts, with what else the environment says.  NULL: a trace that is not of a command.  0 or -errno. */
int origin_store(struct store *store, const struct origin *origin);

#endif
