/* SPDX-License-Identifier: MIT */
#ifndef DAG_CHANGE_CHANGES_INTERNAL_H
#define DAG_CHANGE_CHANGES_INTERNAL_H

#include "dag/change/changes.h"

struct changed_file *changes_file(const struct changes *changes, int64_t id);
/* Out of the trace: names, files, and what happened to them.  0 or -errno. */
int changes_read(struct changes *changes, struct query_db *db, const struct choice *choice, struct failure *failure);
/* The list.  0 or -ENOMEM. */
int changes_compare(struct changes *changes);

#endif
