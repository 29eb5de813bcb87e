/* SPDX-License-Identifier: MIT */
#ifndef DAG_CHANGE_ARTIFACTS_H
#define DAG_CHANGE_ARTIFACTS_H

/* What a run made, and of which files: the regular files that it created, changed and renamed, and those that it read and no
 * process of it wrote; with their hashes, as they lie on disk now (disk.h). */

#include <stdio.h>

struct changes;
struct choice;
struct failure;
struct query_db;

/* builder: a URI; NULL: that of the host.  0, or -errno with the failure set: -ENODATA if there is no hash of any product, which a
 * statement needs.  What has no hash is reported by warn(), such as err_print(). */
typedef void artifacts_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
int artifacts_state(struct query_db *db, struct changes *changes, const char *builder, artifacts_warn *warn, FILE *out,
	struct failure *failure);

#endif
