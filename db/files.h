/* SPDX-License-Identifier: MIT */
#ifndef DB_FILES_H
#define DB_FILES_H

/*
 * Files and their names, from the events' nodes.
 *
 * A node is what the kernel holds; a file is what stays itself when the kernel forgets it and
 * comes back: device, inode number and birth time.  A dentry is a name in a directory that leads
 * to a node.  The path of an operation on a node is that of the dentry through which the node
 * was last reached - the kernel does not say which of several hard links was meant.
 *
 * A file has versions: one ends when something is written after a process that did not write it
 * has read it, and with truncation to nothing, so that an edge writer -> version -> reader never
 * claims what could not have been.  Writers without a read between them share a version.
 * The first version is 1: what was there when the file was first seen.
 *
 * What the kernel forgets keeps its names: they change with those of the directories above.
 *
 * One thread.  Memory: some 200 bytes for each file, 50 for each name, and 200 more for each name of those that the
 * kernel remembers: as many as a file has links, or sixteen.
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
	bool foreign_read;  /* somebody read it who had not alone written it */
	bool used;	    /* read, written or created */
	struct node *node; /* one that the kernel remembers, or NULL */
	SLIST_HEAD(, kept_name) kept_names;
	int write_handles;  /* open for writing now */
	/* Since it was not: written back from a mapping, written past the page cache; and counted for both */
	bool mixed; /* pages were written back that may have undone a direct write */
	STAILQ_ENTRY(file) next_dirty;
	SLIST_ENTRY(file) next_made;
	UT_hash_handle hh;
};

struct node;

/* A name that a file had when the kernel forgot the node it led to. */
struct kept_name {
	SLIST_ENTRY(kept_name) next;
	struct file *dir;
	int64_t path, from_ns;
	size_t len;
	char name[];
};

/* kept: bytes of memory for what files have in common.  0 or -ENOMEM. */
int files_create(struct store *store, struct paths *paths, int64_t start_ns, size_t kept,
	struct files **ret_files);
void files_destroy(struct files *files);

/* EVENT_NODE and EVENT_FORGET.  0 or -errno. */
int files_add_node(struct files *files, const struct event_node *event);
void files_forget_node(struct files *files, uint64_t id);
/* EVENT_MOUNT. */
int files_add_mount(struct files *files, uint64_t id, const char *fstype, const char *path);

/* NULL for one that was never announced, or forgotten. */
struct node *files_node(struct files *files, uint64_t id);
struct file *node_file(const struct node *node);

/* The path of a node, or of a name in it (name NULL: its own).  0 or -errno. */
int files_path(struct files *files, struct node *node, const char *name, size_t len,
	struct path *ret_path);

/* name in dir leads to node, seen at time_ns. */
int files_bind(struct files *files, struct node *dir, const char *name, size_t len,
	struct node *node, int64_t time_ns);
/* Whether what was seen at that time is older than a rename of the node: a lookup may be told of
 * after a rename that it did not see. */
bool files_is_late(const struct node *node, int64_t time_ns);
void files_set_moved(struct node *node, int64_t time_ns);
/* node has no name; in paths it goes by this one. */
int files_bind_unnamed(struct files *files, struct node *dir, const char *name, size_t len,
	struct node *node, int64_t time_ns);
/* name in dir leads nowhere any more; the file it led to, or NULL if that is not known.  gone:
 * the name was removed by an operation that we saw, so the file has a link less. */
struct file *files_unbind(struct files *files, struct node *dir, const char *name, size_t len,
	bool gone, int64_t time_ns);
/* The node that name in dir leads to as far as is known, or NULL. */
struct node *files_resolve(struct files *files, struct node *dir, const char *name, size_t len);
/* After a directory got another name: what is below it has other names, too. */
int files_moved(struct files *files, int64_t time_ns);

/* A process reads or writes: the version it does that to. */
int64_t file_read(struct file *file, const struct process *process);
int64_t file_write(struct file *file, const struct process *process);
/* The content is gone. */
int64_t file_truncate(struct file *file);

void files_dirty(struct files *files, struct file *file);
/* Writes the rows of files that changed. */
int files_flush(struct files *files);

#endif
