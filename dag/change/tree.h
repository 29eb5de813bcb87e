/* SPDX-License-Identifier: MIT */
#ifndef DAG_CHANGE_TREE_H
#define DAG_CHANGE_TREE_H

/*
 * The names of files as they were before a run and as they are after it: a tree of entries, made from the operations on
 * names in the order in which they happened.
 *
 * What an operation names and none has made was there before.  An entry that was there before keeps its home: the
 * directory and the name that it had then.  A directory that moves takes its entries along, so they are at home as long as
 * they stay in it.
 *
 * Operations that the user did not choose (ours false) only prepare what the chosen ones find: what they make was there
 * before, and what they remove was not.
 *
 * Paths are absolute; others, and what contradicts itself (a directory below itself), have no effect.
 */

#include <stdbool.h>
#include <stdint.h>
#include <uthash.h>

#include "base/arena.h"

#define TREE_DEPTH 4096 /* levels below are not looked at: no path has as many */

struct entry {
	struct entry *parent; /* of a removed one: its last one */
	const char *name;
	int64_t file; /* 0: not known */
	bool is_dir;
	bool is_old;  /* it was there before */
	bool is_gone;
	bool is_covered; /* its place is taken */
	bool is_doubtful; /* it may have taken the place of another one */
	bool is_written, is_set; /* its data, its attributes; of one whose file is not known */
	const char *last;    /* the path of a new one when it was removed */
	struct entry *home; /* of an old one: its directory then; NULL: it counts for nothing */
	const char *home_name;
	struct entry *now, *was; /* its entries as they are, and those whose home it is */
	struct entry *next;	 /* of all */
	struct entry *next_of_file;
	UT_hash_handle hh_now, hh_was;
};

struct tree {
	struct entry root;
	struct entry *all;
	struct arena arena;
	bool failed; /* out of memory */
};

void tree_init(struct tree *tree);
void tree_finish(struct tree *tree);

/* What is at the path; what is not known there was there before.  NULL: it was there and is gone, or the path is none. */
struct entry *tree_find(struct tree *tree, const char *path);

/* A new file or directory; file 0: not known. */
void tree_make(struct tree *tree, const char *path, int64_t file, bool is_dir, bool ours);
void tree_remove(struct tree *tree, const char *path, int64_t file, bool is_dir, bool ours);
struct tree_move {
	const char *from, *to;
	int64_t file, file2; /* file2: what was at the new path; 0: nothing, or not known */
	bool is_exchange; /* it is at the old path now */
	bool is_doubtful; /* not known */
};
void tree_move(struct tree *tree, const struct tree_move *move, bool ours);

/* The entry with this home, or with this name; NULL: there is none. */
struct entry *tree_was(const struct entry *dir, const char *name);
struct entry *tree_now(const struct entry *dir, const char *name);

/* The path now, or (home) before.  NULL: out of memory. */
const char *tree_path(struct tree *tree, const struct entry *entry, bool home);

#endif
