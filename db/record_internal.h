/* SPDX-License-Identifier: MIT */
#ifndef DB_RECORD_INTERNAL_H
#define DB_RECORD_INTERNAL_H

/*
 * Shared by record*.c only.  record.c takes in events and calls the handlers of an operation; each family of operations
 * has a file:
 *   record_names.c       operations by name: lookup, mkdir, unlink, rename, link ...
 *   record_open.c        open, create, tmpfile, release
 *   record_data.c        read, write, copy
 *   record_devices.c     what block devices did, which are no operations
 *   record_layers.c      calls of layers, which are no operations
 *   record_sockets.c     the ends of sockets, which are no operations
 *   record_attributes.c  all others: attributes, sizes, flush, readdir ...
 * record_call.c rewrites system calls by path as requests, before their handlers.
 * record_rows.c has what they share: the rows of operations and the touches of files.
 *
 * One thread.  Every function returns 0 or -errno of the database.
 */

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "db/event.h"
#include "db/files.h"
#include "db/handles.h"
#include "db/record.h"
#include "db/walk.h"

struct calls;
struct layers;
struct tuples;
struct missing_names;
struct metrics;
struct op_times;
struct procs;
struct touch;
struct touches;

#define FLAGS_KNOWN 64

struct record {
	struct store *store;
	struct record_options options;
	struct paths *paths;
	struct procs *procs;
	struct files *files;
	struct handles *handles;
	struct touches *touches;
	size_t most_fresh; /* rows that record_sum() leaves */
	struct missing_names *missing_names;
	struct op_times *op_times;
	struct metrics *metrics;
	struct tuples *threads;
	struct calls *calls;
	struct layers *layers;
	struct walker *walkers[2]; /* of the first and the second path of a system call */
	STAILQ_HEAD(, handle) ending; /* see record_end_handles() */
	struct record_counts counts;
	int64_t last_op;
	/* Flags whose text the database has.  Programs use few combinations; a full list starts anew. */
	uint32_t known_flags[FLAGS_KNOWN];
	size_t n_known_flags;
};

/* What the paths of a system call lead to. */
struct places {
	struct node *node, *other; /* as the event of a request has them; NULL: not known */
	struct node *moved;	   /* of a rename: what the new name led to before the event came */
	struct place asked;	   /* the first path */
};

/* One operation while it is recorded. */
struct work {
	const struct event *ev;
	const struct event_op *op;
	const char *name; /* first text */
	size_t name_len;
	const char *name2; /* second text */
	size_t name2_len;
	struct image *image;     /* of the requester; NULL: not known */
	struct process *process; /* of that image */
	struct places *places;	 /* of a system call by path; NULL: the event has nodes */
	bool ok;
};

/* The columns of an operation by name that depend on the operation. */
struct row {
	struct path path;
	const struct file *file; /* NULL: not known */
	int64_t version, path2, file2;
};

/* ---- record_rows.c ---- */

/* Add the row of an operation, or only count it if operations are not stored. */
int record_put_handle_op(struct record *record, const struct work *w, struct handle *h,
	int64_t version);
int record_put_name_op(struct record *record, const struct work *w, const struct row *row);
/* Counts an operation on a path that is excluded; 0. */
int record_put_excluded(struct record *record);

/* The touch of the requester's process and the current version of the file; never NULL. */
struct touch *record_touch(struct record *record, const struct work *w, struct file *file,
	int64_t path);
/* The same, with the time when data went to the file (out) or came from it. */
struct touch *record_touch_data(struct record *record, const struct work *w, struct file *file,
	int64_t path, bool out);

/* The node of the operation, which is the directory of its name for operations by name; NULL: not known. */
static inline struct node *record_node_of(struct record *record, const struct work *w)
{
	return w->places ? w->places->node : files_node(record->files, w->op->node);
}

/* The node that the operation leads to, or the directory of its second name; NULL: not known. */
static inline struct node *record_other_of(struct record *record, const struct work *w)
{
	return w->places ? w->places->other : files_node(record->files, w->op->other);
}

/* The path of a node of the operation; if that is not known the path that a system call had, or one without an id. */
int record_node_path(struct record *record, const struct work *w, struct node *node,
	struct path *ret_path);
/* The path of the operation's name in its directory, without an id if the directory is not known. */
int record_name_path(struct record *record, const struct work *w, struct path *ret_path);
/* Binds the operation's name to the node that it leads to.  Fills the file of the row; *ret_file is NULL if either
 * node is not known. */
int record_bind(struct record *record, const struct work *w, struct row *row,
	struct file **ret_file);
/* Marks a file as created by the requester. */
void record_mark_created(struct record *record, const struct work *w, struct file *file,
	const struct path *path);

static inline bool record_is_writable(uint32_t flags)
{
	return (flags & O_ACCMODE) != O_RDONLY;
}

/* ---- handlers: of operations by name or node, and of those through an open handle ---- */

typedef int record_by_name(struct record *record, const struct work *w);
typedef int record_by_handle(struct record *record, struct work *w, struct handle *h);

record_by_name record_lookup, record_make, record_remove, record_rename, record_link;
record_by_name record_open, record_create_file, record_tmpfile;
record_by_handle record_release;
record_by_handle record_data, record_copy;
record_by_name record_copied;
record_by_name record_node, record_truncate;
record_by_handle record_handle, record_handle_only, record_handle_resize;
record_by_handle record_map;

/* ---- record_devices.c ---- */

/* EVENT_DEVICE. */
int record_device(struct record *record, const struct event *ev);

/* ---- record_layers.c ---- */

/* 0 or -ENOMEM. */
int record_layers_create(struct layers **ret_layers);
void record_layers_destroy(struct layers *layers);
/* EVENT_CALLER and EVENT_CALL. */
int record_caller(struct record *record, const struct event *ev);
int record_layer_call(struct record *record, const struct event *ev, const char *text, size_t len);

/* ---- record_sockets.c ---- */

/* EVENT_SOCKET. */
int record_socket(struct record *record, const struct event *ev, const char *text, size_t len);

/* ---- record_call.c ---- */

/* Finds what the paths of a system call lead to, makes the work that of the request that a mount would have got, and
 * counts missing names.  0 or -errno of the database. */
int record_resolve(struct record *record, struct work *w, struct places *places);
/* LOOKUP: the kernel names a component. */
int record_learn(struct record *record, const struct work *w);

/* ---- record_open.c ---- */

/*
 * Ends handles of a mount with fidelity call that were released a second before that time.  The kernel may have interrupted
 * a thread at the very end of its last call, which then comes after the release.  0 or -errno of the database.
 */
int record_end_handles(struct record *record, int64_t time_ns);

/* At the close of a handle: a read through the page cache or a mapping may have passed unseen. */
void record_assume_read(struct record *record, struct handle *h);

#endif
