/* SPDX-License-Identifier: MIT */
#ifndef DB_PROCS_H
#define DB_PROCS_H

/*
 * Processes and images, from the monitor's events.  A process is a pid from fork to exit; an image is one program that it
 * ran.  procs_find() returns the image of a thread at a given time, also in the past: the event of an exec may arrive
 * after the first operation of the new image.
 *
 * Rows are written at once.  One thread.  Memory: some 400 bytes for each living process, 100 for each of its threads and
 * images; they are freed some time after the end (procs_prune).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct event;
struct paths;
struct procs;
struct store;

struct image {
	int64_t id;
	struct process *process;
	struct image *older;
	int64_t base; /* the image whose texts it shares; its own id if it has texts */
	int64_t start_ns, end_ns; /* end 0: running */
	int seq;
	int references; /* by procs_ref() */
	uint64_t digest; /* of exe and arguments; 0 unknown */
	char comm[16]; /* "": not known */
	struct figures *before; /* resources used by the process before this image began; NULL: not known */
};

struct process {
	int64_t id, parent; /* parent 0: not in the trace */
	struct image *image; /* the newest */
	int32_t pid, ppid;
	uint32_t uid, gid;
	int64_t start_ns, end_ns; /* end 0: living */
	int status;		  /* wait(2)'s; -1 unknown */
	uint8_t tier;
	uint8_t ids_known;
	bool images_pruned; /* memory has not all of its images any more */
	int references; /* threads, and those of its images */
	char *cgroup;
	struct figures *threads; /* the combined figures of ended threads; NULL: none known */
	struct figures *total;	 /* of the process as a whole */
};

struct procs_options {
	int64_t start_ns; /* of the run, monotonic; times are stored relative to it */
};

int procs_create(struct store *store, struct paths *paths, const struct procs_options *options,
	struct procs **ret_procs);
void procs_destroy(struct procs *procs);

/*
 * Records one of EVENT_PROCESS, FORK, THREAD, EXEC, EXIT, FIGURES, BEFORE, SAMPLE.  0 or -errno of the
 * database.
 *
 * The figures of a process are those of the process as a whole.  A figure that is missing there is combined from the
 * threads (figures.h); each thread reports once, at its end.
 */
int procs_event(struct procs *procs, const struct event *event, const char *text, size_t len);

/* The image that thread tid ran at that time; NULL: the thread is not known. */
struct image *procs_find(struct procs *procs, pid_t tid, int64_t time_ns);

/* Keeps an image, with its process, in memory; NULL is fine. */
void procs_ref(struct image *image);
void procs_unref(struct image *image);

/* How many processes live. */
uint64_t procs_living(const struct procs *procs);

/* How many processes began during the run. */
uint64_t procs_began(const struct procs *procs);

/* Frees processes, threads and images that ended before time_ns. */
void procs_prune(struct procs *procs, int64_t time_ns);

#endif
