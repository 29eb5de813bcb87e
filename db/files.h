/* SPDX-License-Identifier: MIT */
#ifndef DB_FILES_H
#define DB_FILES_H

/*
 * Files and their names, from the events of nodes.
 *
 * A node is an inode while the kernel remembers it.  A file keeps its identity when the kernel forgets the node and looks
 * it up again: device, inode number and birth time or, where the birth time is not known, generation of the inode number.
 * Two different generations are two files; if one of them is not known, the deletion of the file tells.  A dentry is a
 * name in a directory that leads to a node.  The path
 * of an operation on a node is that of the dentry through which the node was last reached, because the kernel does not
 * say which of several hard links was meant.
 *
 * A file has versions.  A version ends when a process writes after another process has read, and with truncation to
 * length 0, so an edge writer -> version -> reader never claims an impossible flow.  Writers with no read between them
 * share a version.  Version 1 is the content when the file was first seen.  Pipes and sockets have one version, because
 * what was read from them is gone; a FIFO begins another one when it is opened while nothing else has it open.  A character
 * device has two: version 1 is what it gives, version 2 what it takes.
 *
 * System calls name files by path, and the kernel tells the inode only of some (walk.h).  A file of which it did not has
 * no inode number until the kernel gives that name a node (files_adopt).
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
	uint32_t generation; /* of the inode number; 0: not known */
	int64_t version;
	bool created, deleted, dirty;
	int64_t removed_ns; /* end of the call that removed its last name; 0: none */
	bool unidentified; /* the inode is not known; the key is 0 */
	char *target;	   /* of a symbolic link; NULL: not known */
	/* Of this version: ids of processes, 0 none, -1 several or unknown */
	int64_t writer, reader;
	bool foreign_read;  /* a process other than its only writer has read it */
	bool used;	    /* read, written or created */
	struct node *node; /* its node while the kernel remembers it, or NULL */
	SLIST_HEAD(, kept_name) kept_names;
	int open_handles;   /* handles that are open */
	int64_t closed_ns;  /* when the last of them was closed; 0: never */
	int write_handles;  /* of them, those that are open for writing */
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
/* EVENT_MOUNT: type, path, root, source and fsid; NULL: not known. */
enum { MOUNT_TYPE, MOUNT_PATH, MOUNT_ROOT, MOUNT_SOURCE, MOUNT_FSID, MOUNT_TEXTS };
int files_add_mount(struct files *files, uint64_t id, const char *const texts[MOUNT_TEXTS]);

/* The node with that id; NULL: never announced, or forgotten. */
struct node *files_node(struct files *files, uint64_t id);
struct file *node_file(const struct node *node);

/* The path of a node (name NULL), or of a name in that directory; the name may have several components.  The id is 0 if no
 * name leads to the node.  0 or -errno. */
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

/* ---- for system calls, which name files by path (walk.h) ---- */

/* A node without an id of the kernel.  event->ino 0: the inode is not known, and event->mode has the type of the file or 0;
 * event->size -1: not known.  event->id is ignored.  0 or -ENOMEM. */
int files_make_node(struct files *files, const struct event_node *event, struct node **ret_node);
/* Whether files_make_node() made it. */
bool node_is_own(const struct node *node);
/* The kernel gives name in dir this node.  If a node of files_make_node() has the name, and the two may be one file, they
 * become one node, which has both histories.  Returns the node to use. */
struct node *files_adopt(struct files *files, struct node *dir, const char *name, size_t len,
	struct node *node);
/* The inode number of the node's file, which was removed, is that of another file now: from here on the node's id means
 * that one, of which *ret_node is the node.  size -1: not known.  0 or -ENOMEM. */
int files_renew(struct files *files, struct node *node, int64_t size, uint32_t nlink, struct node **ret_node);
/* For a node without a name: text is its path as it is ("pipe:[7]").  0 or -errno. */
int files_bind_bare(struct files *files, struct node *node, const char *text, size_t len);

/* The directory and the name through which the node was last reached.  False: it has no name. */
bool node_name(const struct node *node, struct node **ret_dir, const char **ret_name,
	size_t *ret_len);
/* Whether a name leads to the node, or led to it once. */
bool node_is_named(const struct node *node);
/* Allocates the path of name in dir, as in the mount; the caller frees it.  NULL: out of memory, or the path is not known. */
char *files_text(const struct node *dir, const char *name, size_t len);
/* The node of a file that was reached last; NULL: none. */
struct node *file_node(const struct file *file);
/* Whether the name was bound at that time or later. */
bool files_bound_since(struct files *files, struct node *dir, const char *name, size_t len,
	int64_t time_ns);
/* Keeps the target of a symbolic link.  0 or -ENOMEM. */
int file_set_target(struct file *file, const char *target, size_t len);
/* What was found out of the type of a file, if that was not known: S_IFDIR ...; and that it was false. */
void files_set_type(struct files *files, struct file *file, uint32_t type);
void files_drop_type(struct files *files, struct file *file);

/* ---- versions ---- */

/* A process (NULL: not known) reads or writes.  Returns the version that it reads or writes. */
int64_t file_read(struct file *file, const struct process *process);
int64_t file_write(struct file *file, const struct process *process);
/* Whether what was read from it is gone, or was never written: pipes, sockets and character devices. */
bool file_is_stream(const struct file *file);

/* A handle is opened by a call that began at time_ns, or is closed. */
void file_open(struct file *file, int64_t time_ns);
void file_close(struct file *file, int64_t time_ns);

/* Truncation to length 0.  Returns the new version. */
int64_t file_truncate(struct file *file);

/* The row of the file has to be written. */
void files_dirty(struct files *files, struct file *file);
/* Writes the rows of files that changed.  0 or -errno. */
int files_flush(struct files *files);

#endif
