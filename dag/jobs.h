/* SPDX-License-Identifier: MIT */
#ifndef DAG_JOBS_H
#define DAG_JOBS_H

/*
 * A workflow as a list of jobs that can be run again: what was started, which files it needs and makes,
 * and which jobs must have ended before.
 *
 * A job is what a driver started (`job` of the trace), with all that came of it; what a pipe joins is one
 * job.  At the level of processes it is each process that began a program or used files: that can be
 * described, but not run again in general.
 *
 * Files go by their paths here: what is written to a temporary name and renamed, what is rewritten, and
 * what is replaced by another file, is one.  A path has one content after the other, one for each version
 * of each file that had it.  Who reads one comes after all who wrote it; who writes the next one comes after
 * all who wrote or read the one before (the three hazards of data: read after write, write after read, write
 * after write).  Removing a file is writing.  A file that one job alone uses and removes is no matter of the
 * workflow.  A directory is read by who writes into it.  Jobs that wait for each other, because they talked
 * by files while they ran, become one, whose parts run at the same time.
 *
 * Errors are -ENOMEM, where nothing else is said.  One thread.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dag/workflow.h"

#define JOBS_NONE (-1)

struct query_db;

enum jobs_level { JOBS_JOB, JOBS_PROCESS };

/* A path that jobs have to do with. */
struct job_file {
	const char
		*path; /* relative to the root, if it is below; of the workflow or a part of it */
	int64_t bytes; /* in the end; WORKFLOW_UNKNOWN */
	int32_t producer; /* the only job that wrote it; JOBS_NONE: nobody did, or several */
	bool source;      /* it was there before */
	bool written;     /* and not only read */
	bool kept;        /* it is there in the end */
	bool directory;
	bool drivers; /* somebody wrote it who belongs to no job */
};

/* What was started, as far as it is known. */
struct job_command {
	int32_t process; /* index in the graph */
	int32_t job;
	int32_t part; /* commands of the same part run one after the other */
	int64_t start_ns;
	char **argv;     /* ended by NULL; NULL: not known */
	const char *cwd; /* NULL: not known */
	/* Where stdin, stdout and stderr led, and where those of who started it did. */
	const char *to[3], *before[3];
	bool append[3];
	int32_t reader;  /* who reads from the pipe that it writes into: index; JOBS_NONE */
	bool piped;      /* it reads from the pipe of another one */
	const char *env; /* what is to be exported, as text of a shell; NULL: nothing */
};

struct job {
	char *name;        /* its xform and a number: "gcc_12"; letters, digits and _ */
	const char *xform; /* NULL: not known */
	char *script;    /* for a shell that runs in cwd; NULL: it is not known what was started */
	const char *cwd; /* relative to the root, if it is below, "." there; NULL: not known */
	int32_t command; /* the first one; JOBS_NONE */
	int64_t start_ns, end_ns;  /* end_ns GRAPH_NEVER: it had not ended */
	int64_t cpu_ns, rss_bytes; /* WORKFLOW_UNKNOWN; rss: the most at a time, from above */
	int64_t read_bytes, written_bytes; /* of files; WORKFLOW_UNKNOWN */
	int status; /* of its last command, as a shell says it; -1: not known */
	/* Jobs that must have ended; files that others wrote or that were there; files that it wrote and did
	 * not remove; of these, what it alone wrote and what is there in the end. */
	int32_t *deps, *inputs, *outputs, *targets;
	int32_t n_deps, n_inputs, n_outputs, n_targets;
};

struct jobs {
	struct job *jobs;       /* in the order in which they began */
	struct job_file *files; /* by path */
	struct job_command *commands;
	int32_t n_jobs, n_files, n_commands;
	char *root;  /* the folder of the workflow */
	int32_t *of; /* of each process of the graph: its job, or JOBS_NONE */
	const struct workflow *workflow;
	struct jobs_text *texts;
};

/*
 * root: NULL: the directory of the command that was traced, else the nearest one above all that commands
 * ran in.  0, or an exit status after what is wrong was printed; *ret_jobs is to be destroyed in any case,
 * and before the workflow.
 */
int jobs_load(struct query_db *db, const struct workflow *workflow, enum jobs_level level,
	const char *root, struct jobs **ret_jobs);
void jobs_destroy(struct jobs *jobs); /* NULL is fine */

/* The base name of the first program that a job was started with, "unknown" if it is not known. */
const char *job_program(const struct jobs *jobs, const struct job *job);

/* What is not known of a part is not known of the whole. */
int64_t job_sum(int64_t sum, int64_t more);
/* How many processors it kept busy, rounded up; 0: not known. */
int64_t job_cores(const struct job *job);
/* Each file that it has to do with, in ascending order. */
void job_each_use(const struct job *job,
	void (*use)(void *arg, int32_t file, bool input, bool output), void *arg);

/* ---- for the parts of it ---- */

/* Room for one more element of an array that has n and grows by doubling; NULL: out of memory, and the
 * array is as it was. */
void *jobs_room(void *array, size_t n, size_t size);

/* Did that lead somewhere else than where it did for who started the command? */
bool jobs_redirected(const struct job_command *command, int fd);
/* jobs_flow.c: what each job waits for, needs and makes.  Where jobs wait for each other, *ret_into (to be
 * freed, else NULL) says for each with which one it becomes one, and nothing is filled in. */
int jobs_flow(struct jobs *jobs, int32_t **ret_into);
/* jobs_script.c */
int jobs_scripts(struct jobs *jobs);

#endif
