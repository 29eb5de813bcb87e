/* SPDX-License-Identifier: MIT */
#ifndef DB_FILES_INTERNAL_H
#define DB_FILES_INTERNAL_H

/*
 * Shared by files*.c only, which have the functions of files.h:
 *   files.c           files and nodes, and their rows
 *   files_paths.c     paths of nodes
 *   files_names.c     names that lead to nodes
 *   files_calls.c     what records of system calls need
 *   files_versions.c  versions of files
 *
 * One thread.  Functions return 0 or -errno, pointers are NULL if there is no memory or nothing is found.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "db/files.h"
#include "db/paths.h"

struct event_node;
struct store;
struct tuples;

/* How many names a forgotten file keeps at least.  Renames outside the mount can make any number. */
#define NAMES_KEPT 16
/* Ids of nodes that files_make_node() made; the kernel's are smaller. */
#define OWN_IDS (UINT64_C(1) << 63)

/* A name that leads to a node.  The key is the 'key' of the directory's node and the name. */
struct dentry {
	struct node *dir, *node; /* dir NULL: the name is the whole path */
	TAILQ_ENTRY(dentry) of_node;
	bool unhashed; /* removed, but the last name of its node */
	int64_t path; /* at the time of the binding; 0: not recorded */
	struct known_path *known; /* held while the name exists */
	int64_t from_ns;
	UT_hash_handle hh;
	size_t key_len;
	struct {
		uint64_t dir;
		char name[];
	} key;
};

struct node {
	uint64_t id;
	uint64_t key; /* in the keys of dentries: the id that it had first */
	struct file *file;
	struct dentry *dentry; /* the last used */
	TAILQ_HEAD(dentry_list, dentry) dentries; /* the oldest first */
	unsigned n_dentries;
	int references; /* one of the kernel, one of each dentry in it */
	int64_t moved_ns; /* end of its last rename */
	unsigned path_epoch;
	struct path path; /* cached while path_epoch is that of files; without 'known' */
	UT_hash_handle hh;
};

struct files {
	struct store *store;
	struct paths *paths;
	struct tuples *kinds;
	int64_t start_ns;
	struct node *nodes;
	struct file *files; /* by key */
	struct dentry *dentries;
	STAILQ_HEAD(, file) dirty; /* rows are cheapest in the order of ids */
	SLIST_HEAD(, file) made;   /* all files */
	int64_t last_file;
	uint64_t last_own; /* node of files_make_node() */
	unsigned epoch;
};

/* ---- files.c ---- */

/* Adds a file; NULL: no memory. */
struct file *file_make(struct files *files, const struct event_node *e);
/* By device, inode and generation; makes it if it is new. */
struct file *file_find(struct files *files, const struct event_node *e);
void file_update(struct files *files, struct file *file, const struct event_node *e);
/* Writes the row of a file. */
int file_put(struct files *files, const struct file *f);
struct node *node_add(struct files *files, uint64_t id, struct file *file);
/* Takes one reference back; the last one frees the node and its names. */
void node_unref(struct files *files, struct node *node);

/* ---- files_paths.c ---- */

/* Allocates the path of a node with extra bytes after it; *ret_len is its length. */
char *node_build_path(const struct node *node, size_t extra, size_t *ret_len);
/* The path stays known while the name exists. */
void dentry_hold_path(struct files *files, struct dentry *d, const struct path *path);

/* ---- files_names.c ---- */

struct dentry *dentry_find(struct files *files, struct node *dir, const char *name,
	size_t len);
struct dentry *dentry_make(struct files *files, struct node *dir, const char *name,
	size_t len, struct node *node, int64_t time_ns);
size_t dentry_name_len(const struct dentry *d);
/* Removes a name, which stays with its node if that has no other. */
void dentry_unhash(struct files *files, struct dentry *d);
void dentry_free(struct files *files, struct dentry *d);
void file_drop_kept_names(struct file *file);

#endif
