/* SPDX-License-Identifier: MIT */
#ifndef DB_PROCS_H
#define DB_PROCS_H

/*
 * Processes and images, from the monitor's events: a process is a pid from fork to exit, an image
 * one program that it ran.  Answers who was behind a thread id at a time - with hindsight: an
 * exec may be heard of after the first operation of the new image has arrived.
 *
 * Rows are written as things happen.  One thread.  Memory: some 400 bytes a process while it
 * lives, 100 for each of its threads and images, and all of that for a while after it is over (procs_prune).
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
	int64_t base; /* the image whose texts it shares; itself where it has its own */
	int64_t start_ns, end_ns; /* end 0: runs */
	int seq;
	int references; /* what others hold */
	uint64_t digest; /* of exe and arguments; 0 unknown */
	struct figures *before; /* what the process had used when it began; NULL: not known */
};

struct process {
	int64_t id, parent; /* 0: nobody whom we know */
	struct image *image; /* the newest */
	int32_t pid, ppid;
	uint32_t uid, gid;
	int64_t start_ns, end_ns; /* end 0: lives */
	int status;		  /* wait(2)'s; -1 unknown */
	uint8_t tier;
	uint8_t ids_known;
	bool images_pruned; /* there were images that are not in memory any more */
	int references; /* threads, and those of its images */
	char *cgroup;
	struct figures *threads; /* of those that have ended, put together; NULL: nothing known */
	struct figures *total;	 /* of the process as a whole */
};

struct procs_options {
	int64_t start_ns; /* of the run, monotonic; times are stored relative to it */
};

int procs_create(struct store *store, struct paths *paths, const struct procs_options *options,
	struct procs **ret_procs);
void procs_destroy(struct procs *procs);

/*
 * Takes in one of EVENT_PROCESS, FORK, THREAD, EXEC, EXIT, FIGURES, BEFORE, SAMPLE.  0 or -errno of the
 * database.
 *
 * Figures of a process are those told of it as a whole; what these do not have is put together
 * from its threads (figures.h), each of which tells once, at its end.
 */
int procs_event(struct procs *procs, const struct event *event, const char *text, size_t len);

/* The image that thread tid ran at that time; NULL if nobody is known by it. */
struct image *procs_find(struct procs *procs, pid_t tid, int64_t time_ns);

/* Keeps an image, with its process, in memory; NULL is fine. */
void procs_ref(struct image *image);
void procs_unref(struct image *image);

/* Forgets processes, threads and images that ended before time_ns. */
void procs_prune(struct procs *procs, int64_t time_ns);

#endif
