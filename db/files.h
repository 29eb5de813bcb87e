/* SPDX-License-Identifier: MIT */
#ifndef DB_FILES_H
#define DB_FILES_H

/*
 * Files and their names, from the events of nodes.
 *
 * A node is an inode while the kernel remembers it.  A file keeps its identity when the kernel forgets the node and looks
 * it up again: device, inode number and birth time.  A dentry is a name in a directory that leads to a node.  The path
 * of an operation on a node is that of the dentry through which the node was last reached, because the kernel does not
 * say which of several hard links was meant.
 *
 * A file has versions.  A version ends when a process writes after another process has read, and with truncation to
 * length 0, so an edge writer -> version -> reader never claims an impossible flow.  Writers with no read between them
 * share a version.  Version 1 is the content when the file was first seen.
 *
 * Names of forgotten nodes are kept; they change when a directory above is renamed.
 *
 * One thread.  Memory: some 200 bytes for each file, 50 for each name, and 200 more for each name that the kernel
 * remembers.  A file keeps as many names as it has links, or sixteen.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>
#include <uthash.h>

#include "db/paths.h"

struct event_node;
struct files;
struct process;
struct store;

struct file_key {
	uint64_t dev, ino;
	int64_t birth_ns;
};

struct file {
	int64_t id;
	struct file_key key;
	int64_t path; /* 0 not known */
	int64_t size_first, size_last;
	uint64_t mount;
	uint32_t mode, nlink;
	int64_t version;
	bool created, deleted, dirty;
	/* Of this version: ids of processes, 0 none, -1 several or unknown */
	int64_t writer, reader;
	bool foreign_read;  /* a process other than its only writer has read it */
	bool used;	    /* read, written or created */
	struct node *node; /* its node while the kernel remembers it, or NULL */
	SLIST_HEAD(, kept_name) kept_names;
	int write_handles;  /* handles that are open for writing */
	bool mixed; /* since the first of them: write-back of pages that may have undone a direct write */
	STAILQ_ENTRY(file) next_dirty;
	SLIST_ENTRY(file) next_made;
	UT_hash_handle hh;
};

struct node;

/* A name of a file whose node the kernel has forgotten. */
struct kept_name {
	SLIST_ENTRY(kept_name) next;
	struct file *dir;
	int64_t path, from_ns;
	size_t len;
	char name[];
};

/* kept: bytes of memory for tuples that files share (tuples.h).  0 or -ENOMEM. */
int files_create(struct store *store, struct paths *paths, int64_t start_ns, size_t kept,
	struct files **ret_files);
void files_destroy(struct files *files);

/* EVENT_NODE and EVENT_FORGET.  0 or -errno. */
int files_add_node(struct files *files, const struct event_node *event);
void files_forget_node(struct files *files, uint64_t id);
/* EVENT_MOUNT. */
int files_add_mount(struct files *files, uint64_t id, const char *fstype, const char *path);

/* The node with that id; NULL: never announced, or forgotten. */
struct node *files_node(struct files *files, uint64_t id);
struct file *node_file(const struct node *node);

/* The path of a node (name NULL), or of a name in that directory.  0 or -errno. */
int files_path(struct files *files, struct node *node, const char *name, size_t len,
	struct path *ret_path);

/* Binds name in dir to node, as seen at time_ns.  0 or -errno. */
int files_bind(struct files *files, struct node *dir, const char *name, size_t len,
	struct node *node, int64_t time_ns);
/* Whether an observation of that time is older than the last rename of the node: the event of a lookup may come after
 * that of a rename which it did not see. */
bool files_is_late(const struct node *node, int64_t time_ns);
void files_set_moved(struct node *node, int64_t time_ns);
/* For a node without a name: uses this name in paths.  0 or -errno. */
int files_bind_unnamed(struct files *files, struct node *dir, const char *name, size_t len,
	struct node *node, int64_t time_ns);
/* Removes a name.  Returns the file that it led to, or NULL if that is not known.  gone: a traced operation removed the
 * name, so the file has one link less. */
struct file *files_unbind(struct files *files, struct node *dir, const char *name, size_t len,
	bool gone, int64_t time_ns);
/* The node that name in dir leads to; NULL: not known. */
struct node *files_resolve(struct files *files, struct node *dir, const char *name, size_t len);
/* After the rename of a directory: updates the paths of everything below it.  0 or -errno. */
int files_moved(struct files *files, int64_t time_ns);

/* A process (NULL: not known) reads or writes.  Returns the version that it reads or writes. */
int64_t file_read(struct file *file, const struct process *process);
int64_t file_write(struct file *file, const struct process *process);
/* Truncation to length 0.  Returns the new version. */
int64_t file_truncate(struct file *file);

/* The row of the file has to be written. */
void files_dirty(struct files *files, struct file *file);
/* Writes the rows of files that changed.  0 or -errno. */
int files_flush(struct files *files);

#endif
