/* SPDX-License-Identifier: MIT */
#ifndef DAG_JOBS_JOBS_H
#define DAG_JOBS_JOBS_H

/*
 * A workflow as a list of jobs that can be run again: what was started, which files it needs and makes,
 * and which jobs must have ended before.
 *
 * A job is what a driver started (`job` of the trace), with all that came of it; what a pipe joins is one
 * job.  At the level of processes it is each process that began a program or used files: that can be
 * described, but not run again in general.
 *
 * Which job waits for which comes from all that they shared, in the order in which they used it: names, also those that
 * they looked for and did not find, contents, directories that they listed, attributes (jobs_order.c).  A job does again
 * what its commands did; what a shell did itself between them is a gap (jobs_again.c).
 *
 * Files go by their paths here: what is written to a temporary name and renamed, what is rewritten, and
 * what is replaced by another file, is one.  A path has one content after the other, one for each version
 * of each file that had it.  A file that one job alone uses and removes is no matter of the workflow.  Jobs that wait for
 * each other, because they talked by files while they ran, become one, whose parts run at the same time.
 *
 * The only error is -ENOMEM, unless a function documents others.  One thread.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "dag/graph/workflow.h"

#define JOBS_NONE (-1)

struct choice;
struct failure;
struct jobs_names;
struct query_db;

enum jobs_level { JOBS_JOB, JOBS_PROCESS };

/* A path that jobs have to do with. */
struct job_file {
	const char
		*path; /* relative to the root, if it is below the root */
	int64_t bytes; /* in the end; WORKFLOW_UNKNOWN */
	int32_t producer; /* the only job that wrote it; JOBS_NONE: no job did, or several */
	bool source;      /* it was there before */
	bool written;     /* and not only read */
	bool kept;        /* it is there in the end */
	bool directory;
	bool plain; /* a regular file */
	bool fits;  /* rules may say it: it has kept its name, or that is its producer's alone */
	int32_t name; /* of jobs.c alone */
	bool drivers; /* a process that belongs to no job wrote it */
	bool renamed; /* a job used it by another name than this one */
	bool there;   /* before the run there was a file of this name, used or not */
};

/* A file that a job found by its name. */
struct job_seen {
	int32_t file;
	bool alters; /* its mode or owner */
};

/* Where stdin, stdout or stderr of a command are to lead when it is started again. */
enum job_lead {
	LEAD_UNKNOWN, /* the trace has no open of the file: as the path says */
	LEAD_NOWHERE, /* others have written what it was given, it has not */
	LEAD_IN,
	LEAD_OUT,
	LEAD_APPEND,
	LEAD_INTO, /* into what is there, from its begin on */
};

/* What was started, as far as it is known. */
struct job_command {
	int32_t process; /* index in the graph */
	int32_t job;
	bool by_driver; /* it was not started: a driver did itself what it does */
	int32_t part; /* commands of the same part run one after the other */
	int64_t start_ns;
	char **argv;     /* ended by NULL; NULL: not known */
	const char *cwd; /* NULL: not known */
	/* Where stdin, stdout and stderr led, and where those of its parent did. */
	const char *to[3], *before[3];
	bool append[3];
	int32_t led[3]; /* the open behind that: the same number, the same open; JOBS_NONE: not known */
	enum job_lead lead[3];
	int status; /* how it ended, as a shell says it; -1: not known */
	int32_t reader;  /* the command that reads from the pipe it writes into: index; JOBS_NONE */
	bool piped;      /* it reads from the pipe of another one */
	const char *env; /* what is to be exported, as text of a shell; NULL: nothing */
};

struct job {
	char *name;        /* its xform and a number: "gcc_12"; letters, digits and _ */
	const char *xform; /* NULL: not known */
	char *script;    /* for a shell that runs in cwd; NULL: it is not known what was started */
	const char *shell; /* the script is all that was given to this shell; NULL: it is made of commands */
	const char *cwd; /* relative to the root, if it is below, "." there; NULL: not known */
	int32_t command; /* the first one; JOBS_NONE */
	int64_t start_ns, end_ns;  /* end_ns GRAPH_NEVER: it had not ended */
	int64_t cpu_ns, rss_bytes; /* WORKFLOW_UNKNOWN; rss: the most at a time, from above */
	int64_t read_bytes, written_bytes; /* of files; WORKFLOW_UNKNOWN */
	int status; /* of its last command, as a shell says it; -1: not known */
	bool changes; /* files, names or attributes of files */
	/* Jobs that must have ended; files that others wrote or that were there; files that it wrote and did
	 * not remove; of these, what it alone wrote and what is there in the end. */
	int32_t *deps, *inputs, *outputs, *targets;
	int32_t n_deps, n_inputs, n_outputs, n_targets;
	struct job_seen *seen; /* each once, in ascending order */
	const char **listed;   /* directories, as .path of files; may have one twice */
	int32_t n_seen, n_listed;
};

/* Something of the run that no command does again. */
enum gap_kind {
	GAP_SHELL,  /* a driver, or a shell between its commands, changed a file itself */
	GAP_SHARED, /* a command read only a part of a file, from the middle of what others read */
};

struct gap {
	enum gap_kind kind;
	int32_t process;
	const char *path;
};

struct jobs {
	struct job *jobs;       /* in the order in which they began */
	struct job_file *files; /* by path */
	struct job_command *commands;
	int32_t n_jobs, n_files, n_commands;
	char *root;  /* the folder of the workflow */
	int32_t *of; /* of each process of the graph: its job, or JOBS_NONE */
	const struct workflow *workflow;
	struct arena texts;
	struct jobs_names *names;
	struct gap gap; /* the first one */
	int32_t n_gaps; /* where jobs are to be run again; -1: not known, without single operations */
};

/*
 * choice: which names count; the workflow was loaded with it, and with its missing names.
 * root: NULL: the directory of the command that was traced, else the nearest one above all that commands
 * ran in.  0 or -errno, with the failure set; the caller destroys *ret_jobs in any case, before the workflow.
 */
int jobs_load(struct query_db *db, const struct workflow *workflow, const struct choice *choice,
	enum jobs_level level, const char *root, struct jobs **ret_jobs, struct failure *failure);
void jobs_destroy(struct jobs *jobs); /* NULL is fine */

/* The base name of the first program that a job was started with, "unknown" if it is not known. */
const char *job_program(const struct jobs *jobs, const struct job *job);

/* Does it read from, or write into, a pipe of which the other end is not known, or is that of others, too? */
bool jobs_lost_pipe(const struct jobs *jobs, int32_t command);

/* What is not known of a part is not known of the whole. */
int64_t job_sum(int64_t sum, int64_t more);
/* How many processors it kept busy, rounded up; 0: not known. */
int64_t job_cores(const struct job *job);
/* Each file that it has to do with, in ascending order. */
void job_each_use(const struct job *job,
	void (*use)(void *arg, int32_t file, bool input, bool output), void *arg);

/* ---- for the parts of it ---- */

/* Does the descriptor lead elsewhere than its parent's, or is the open behind it known? */
bool jobs_redirected(const struct job_command *command, int fd);
/* jobs_flow.c: what each job waits for, needs and makes.  Where jobs wait for each other, *ret_into (to be
 * freed, else NULL) says for each with which one it becomes one, and nothing is filled in. */
int jobs_flow(struct jobs *jobs, int32_t **ret_into);
/* jobs_seen.c: which files jobs found by their names, when inputs and outputs are known.  -ENOMEM. */
int jobs_find_seen(struct jobs *jobs);
/* jobs_script.c */
int jobs_scripts(struct jobs *jobs);

#endif
