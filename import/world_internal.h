/* SPDX-License-Identifier: MIT */
#ifndef IMPORT_WORLD_INTERNAL_H
#define IMPORT_WORLD_INTERNAL_H

/*
 * Shared by world*.c only.  world.c: processes;  world_files.c: open files and tables of descriptors;  world_calls.c: calls ->
 * events.
 */

#include <uthash.h>

#include "import/presence.h"
#include "import/world.h"

#define FDS_MOST (1 << 20)

/* An open file description. */
struct open_file {
	uint64_t handle, node; /* node 0: the file has a path */
	char *path;	       /* absolute, or as /proc shows it; NULL: not known */
	uint32_t flags, type;
	int64_t at; /* the position; -1: not known */
	int references;
};

struct entry {
	struct open_file *file; /* NULL: closed, or not known */
	bool expires;
};

/* Threads share it, and processes that were made so. */
struct table {
	struct entry *entries;
	size_t n, room;
	int references;
};

struct directory {
	char *path; /* NULL: not known */
	int references;
};

struct mapping {
	uint64_t start, length;
	struct open_file *file;
};

struct process {
	int32_t pid;
	struct table *table;
	struct directory *cwd;
	struct mapping *mapped; /* shared and writable: stores may follow after the close */
	size_t n_mapped;
	int threads;
};

struct thread {
	int32_t tid;
	struct process *process;
	int64_t free_ns; /* its last call has ended */
	UT_hash_handle hh;
};

/* What has no path. */
struct apart {
	uint64_t node;
	uint32_t type;
	UT_hash_handle hh;
	char text[]; /* as /proc shows it */
};

struct world {
	struct world_options options;
	struct thread *threads;
	struct presence *presence;
	struct apart *aparts;
	uint64_t handles, nodes, made, unplaced;
};

/* ---- world.c ---- */

struct thread *world_thread(const struct world *world, int32_t tid);
void world_push(struct world *world, const struct event *event, const void *text, size_t len);

/* ---- world_calls.c ---- */

/* Allocates the absolute path of one that begins at dir, or a copy if that is not known.  NULL: out of memory. */
char *world_place(struct world *world, struct thread *thread, const struct world_fd *dir, const char *path);

/* ---- world_files.c ---- */

/* NULL: out of memory.  path is copied. */
struct open_file *world_new_file(struct world *world, const char *path, uint32_t flags, uint32_t type);
/* Gives a reference back; the last one ends the handle. */
void world_release(struct world *world, struct open_file *file, int32_t tid, int64_t time_ns);
/* Pushes what there is of a file that was open before, or has no path. */
void world_open_aside(struct world *world, struct open_file *file, int32_t tid, int64_t time_ns);
/* Gives a pipe, a socket or another file without a path its node; text: as /proc shows it, NULL: not known, then it is another one than
 * all so far.  0 or -ENOMEM. */
int world_name_apart(struct world *world, struct open_file *file, const char *text, uint32_t type, int64_t time_ns);

struct open_file *world_table_file(const struct table *table, int32_t fd);
/* The file of a descriptor; what the source shows of it if the table does not have it.  NULL: nothing is known of it. */
struct open_file *world_file(struct world *world, const struct thread *thread, const struct world_fd *fd, int64_t time_ns);
/* Takes a reference of the file, which may be NULL.  0 or -ENOMEM. */
int world_set(struct world *world, const struct thread *thread, int32_t fd, struct open_file *file, bool expires, int64_t time_ns);

struct table *world_new_table(void);
struct table *world_copy_table(const struct table *table);
void world_drop_table(struct world *world, struct table *table, int32_t tid, int64_t time_ns);
void world_expire(struct world *world, const struct thread *thread, int64_t time_ns);

int world_map(struct world *world, const struct thread *thread, const struct world_call *call, struct open_file *file);
void world_unmap(struct world *world, const struct thread *thread, uint64_t start, uint64_t length, int64_t time_ns);

#endif
