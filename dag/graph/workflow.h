/* SPDX-License-Identifier: MIT */
#ifndef DAG_GRAPH_WORKFLOW_H
#define DAG_GRAPH_WORKFLOW_H

/*
 * The graph of a trace (graph.h), with all that is known of its processes and files, and which of them
 * the options choose.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "dag/graph/graph.h"
#include "dag/graph/spent.h"

struct choice;
struct failure;
struct query_db;

#define WORKFLOW_UNKNOWN INT64_MIN

/* .data of a process; texts are NULL where they are not known. */
struct task {
	const char *program, *command, *exe, *job, *xform, *phase;
	const char *step, *task, *label; /* step: or the phase that the options say; task: NULL if it only starts tasks */
	const char *host;
	int64_t part; /* the id of the first process of its task; or WORKFLOW_UNKNOWN */
	int64_t pid, exit_code, exit_signal, cpu_ns, rss_bytes,
		cpu_delay_ns, uid; /* or WORKFLOW_UNKNOWN */
	bool driver;          /* starts others as fast as its slots allow: make, ninja, xargs ... */
	bool executed;	      /* its last program is one that it executed, not that of its parent; true if not known */
	bool chosen;
	const struct spent *spent; /* NULL: not known */
};

/* .data of a file */
struct data {
	const char *path; /* bytes, ended by NUL */
	const char *kind;
	int64_t size_bytes;
	bool created, deleted;
	bool is_pipe;
};

/* Whether the data has no place in a tree of files: pipes, sockets, character devices, memory.  A mount does not see them,
 * and their names have numbers that differ from run to run. */
bool data_is_placeless(const struct data *data);

/* A pipe, a FIFO, or a socket of which the other end is known: a reader takes data away, and waits for what is not written yet. */
bool data_is_pipe(const struct data *data);

/* A name that a process looked for, and that was not there. */
struct missing_name {
	const char *path;
	int32_t process; /* index */
	int64_t count, first_ns;
	bool chosen;
};

struct workflow {
	struct graph *graph;
	bool *chosen;         /* of each access */
	struct missing_name *missing_names; /* by path, then process */
	int32_t n_missing_names;
	const char **
		groups; /* of each process: what it is called where processes are grouped; NULL: nothing is known */
	int64_t begin_ns, end_ns;
	const char *command, *cwd; /* of the run; NULL: not known */
	int64_t cpus; /* of the host; 0: not known */
	bool is_attached; /* there was no command: processes were recorded that ran already */
	bool is_native; /* system calls were recorded: none was a request to ftrac */
	struct arena texts;
	bool failed; /* out of memory */
};

struct workflow_options {
	const struct choice *choice; /* .by: what processes are grouped by, if anything */
	bool meta;                   /* looking at files is an access, too */
	bool missing_names;          /* load them, too */
};

/* 0 or -errno, with the failure set; the caller destroys *ret_workflow in any case. */
int workflow_load(struct query_db *db, const struct workflow_options *options,
	struct workflow **ret_workflow, struct failure *failure);
void workflow_destroy(struct workflow *workflow);

const struct task *workflow_task(const struct workflow *workflow, int32_t process);
const struct data *workflow_data(const struct workflow *workflow, int32_t file);

#endif
