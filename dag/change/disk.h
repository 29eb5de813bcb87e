/* SPDX-License-Identifier: MIT */
#ifndef DAG_CHANGE_DISK_H
#define DAG_CHANGE_DISK_H

/*
 * The content of a file of a trace, as it lies on disk now.  It is that of the end of the run only if nothing has changed the
 * file since: neither its inode, nor its size, nor anything after the end of the run (by its change time, which no program can
 * set back).  Links are not followed.
 */

#include <stdint.h>

#include "dag/digest/sha256.h"

struct changed_file;

extern const char disk_is_directory[], disk_is_no_file[]; /* reasons */

/* NULL: hash is set.  Else why there is none, as a text that lives as long as the program. */
const char *disk_hash(const struct changed_file *file, const char *path, int64_t end_ns, char hash[SHA256_TEXT]);

#endif
