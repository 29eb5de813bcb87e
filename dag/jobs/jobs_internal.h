/* SPDX-License-Identifier: MIT */
#ifndef DAG_JOBS_JOBS_INTERNAL_H
#define DAG_JOBS_JOBS_INTERNAL_H

/* How jobs are found: for jobs*.c alone. */

#include <stddef.h>
#include <uthash.h>

#include "dag/jobs/jobs.h"

/* A hash table from text to number: of jobs by name, commands by pipe, files that commands append to. */
struct name {
	UT_hash_handle hh;
	int32_t number;
	char text[];
};

/* An open of a file: a handle of the trace. */
struct opened {
	int64_t id, time_ns;
	int32_t process, path, file;
	bool reads, writes, created, empties, appends;
	int32_t first; /* command: the first that was started with it as stdin, stdout or stderr; JOBS_NONE */
};

/* What a process did through a handle. */
struct through {
	int32_t opened, process;
	int64_t read_ns, write_ns; /* for the first time; GRAPH_NEVER */
};

struct load {
	struct jobs *jobs;
	struct query_db *db;
	struct failure *failure; /* of jobs_load(): set if jobs_read() or jobs_read_names() fails */
	const struct choice *choice;
	enum jobs_level level;
	int32_t *images;              /* of each process: its command, or JOBS_NONE */
	struct job_command *commands; /* of all processes */
	struct name *appends;
	struct opened *opened; /* by id */
	struct through *uses;  /* by what was opened */
	int32_t n_opened, n_uses;
};

/* What a process did to a name.  The last two change it; DATED and CHANGED are of attributes of the file. */
enum name_did {
	NAME_LOOKED,
	NAME_LISTED,
	NAME_OPENED,
	NAME_DATED,
	NAME_CHANGED,
	NAME_MADE,
	NAME_REMOVED
};

struct name_event {
	int64_t time_ns;
	int32_t process, path; /* path: a number of names */
	int32_t file, version; /* file GRAPH_NONE: the name was not there, or is of no file that is known */
	int32_t command; /* that does it again; JOBS_NONE: none, so it is no matter of a job */
	int32_t opened;	 /* of load, by which; JOBS_NONE */
	uint8_t did;	 /* enum name_did */
};

/* A directory that a driver made itself, or a file that it removed, and the command in its place. */
struct redone {
	int32_t command, path;
};

struct jobs_names {
	struct path_names *names;
	struct name_event *events; /* in the order of their times */
	int32_t n_events;
	bool by_process; /* there are no commands: each process does again what it did */
	bool guessed;	 /* from accesses, for want of single operations */
	struct redone *redone;
	int32_t n_redone;
};

/* What a job did to one content of a path: in the end, the file is called so. */
struct content {
	int32_t path, file, version, job; /* job JOBS_NONE: the process belongs to no job */
	bool removes;
	bool renames; /* and wrote nothing */
	int64_t in_ns, out_ns; /* GRAPH_NEVER: it did not */
	int64_t content_ns;    /* when that content began; INT64_MIN: it was there */
};

/* What one job waits for another for.  soft: a directory that the other has made, which it would perhaps have
 * made itself. */
struct pair {
	int32_t first, second;
	bool soft;
};

struct pairs {
	struct pair *pairs;
	int32_t n;
};

int jobs_add_pair(struct pairs *pairs, int32_t first, int32_t second, bool soft);
/* Sorts by first, then second, and keeps each pair once; it is soft if all its copies were. */
void jobs_sort_pairs(struct pairs *pairs);

/* jobs_read.c: memory that lives as long as the jobs (NULL: there is none), texts, what was started, which process
 * appended to what. */
void *jobs_keep(struct jobs *jobs, size_t size);
struct name *jobs_find_name(struct name *names, const char *text);
struct name *jobs_get_name(struct name **names, const char *text,
	int32_t number); /* NULL: no memory */
void jobs_free_names(struct name **names);
/* 0 or -errno, with the failure set. */
int jobs_read(struct load *load);
/* jobs_part.c: which process and which command belongs to which job.  -ENOMEM. */
int jobs_part(struct load *load);
/* into[]: of each job, with which earlier one it becomes one. */
void jobs_merge(struct jobs *jobs, int32_t *into);
int jobs_merge_pipelines(struct load *load);
/* jobs_names.c: what was done to names.  0 or -errno, with the failure set. */
int jobs_read_names(struct load *load);
/* The same from accesses, if there are no single operations; -ENOMEM. */
int jobs_guess_names(struct jobs *jobs);
int jobs_add_event(struct jobs_names *names, const struct name_event *event);
void jobs_sort_events(struct jobs_names *names);
void jobs_forget_names(struct jobs *jobs);
/* jobs_again.c: which command does again what was done, where it leads its input and output, and what none does.
 * After commands, pipes and names are known.  -ENOMEM. */
int jobs_again(struct load *load);
/* jobs_order.c: which job waits for which, by names and contents.  -ENOMEM. */
int jobs_order(struct jobs *jobs, const struct content *contents, int32_t n_contents, struct pairs *deps);
/* jobs_about.c: figures, names and directories of jobs that are there. */
int jobs_describe(struct jobs *jobs);
/* As it is seen from the root, if it is that (".") or below. */
const char *jobs_short_path(const struct jobs *jobs, const char *path);
int jobs_find_root(struct query_db *db, struct jobs *jobs, const char *root);
/* jobs_circles.c: *ret_into as in jobs_flow().  -ENOMEM. */
int jobs_find_circles(const struct jobs *jobs, int32_t **ret_into);

#endif
