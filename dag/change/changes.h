/* SPDX-License-Identifier: MIT */
#ifndef DAG_CHANGE_CHANGES_H
#define DAG_CHANGE_CHANGES_H

/*
 * What a run changed in the file system, as the difference between the begin and the end, from its trace.
 *
 *   created     there is something that was not there before
 *   changed     data went to a file, or another file has taken its place (is_replaced); whether the content differs is not known
 *   attributes  only its mode, owner, times or extended attributes were set
 *   renamed     it has another name, or is in another directory; what lies in a renamed directory has not moved itself
 *   removed     it is not there any more
 *   temporary   made and removed by the run
 *
 * What has the place of a removed directory is compared with what was there; what has the place of one that was renamed is
 * new.
 */

#include <stdbool.h>
#include <stdint.h>

#include "dag/change/tree.h"

enum change_kind { CHANGE_CREATED, CHANGE_CHANGED, CHANGE_ATTRIBUTES, CHANGE_RENAMED, CHANGE_REMOVED, CHANGE_TEMPORARY, CHANGE_MAX };
extern const char *const change_kinds[CHANGE_MAX + 1]; /* their names, ended by NULL */

/* A file of the trace. */
struct changed_file {
	int64_t id, ino;	       /* ino 0: not known */
	int64_t size_first, size_last; /* -1: not known */
	int64_t bytes;		       /* written; -1: not known */
	const char *path, *kind;       /* as in the view file; NULL: not known */
	bool is_created, is_deleted;
	bool is_written, is_set; /* its data, its attributes */
	bool is_read;		 /* and not written by any process */
	struct entry *entries;	 /* that are there */
};

struct change {
	enum change_kind kind;
	bool is_dir, is_replaced;
	bool is_doubtful; /* something else may have been there before: a trace of system calls does not tell, if no program looked */
	const char *path, *from;	    /* from: of a renamed one */
	const struct changed_file *file;    /* NULL: not known */
	const struct changed_file *before;  /* what was replaced; NULL: nothing, or not known */
};

struct changes {
	struct change *list; /* by kind and path */
	int32_t n_list;
	int64_t counts[CHANGE_MAX];
	struct changed_file *files; /* by id */
	int32_t n_files;
	struct tree tree;
};

struct choice;
struct failure;
struct query_db;

/* 0, or -errno with the failure set; changes_destroy() also then.  The trace needs its operations. */
int changes_load(struct query_db *db, const struct choice *choice, struct changes **ret_changes, struct failure *failure);
/* Finds out which files were read only (is_read). */
int changes_load_inputs(struct changes *changes, struct query_db *db, const struct choice *choice, struct failure *failure);
void changes_destroy(struct changes *changes);

#endif
