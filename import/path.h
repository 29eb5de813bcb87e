/* SPDX-License-Identifier: MIT */
#ifndef IMPORT_PATH_H
#define IMPORT_PATH_H

/* Paths as texts.  The caller frees the results; NULL: out of memory. */

/* The path without ".", doubled slashes, and names that a ".." behind them leads back from; "/" is "". */
char *path_clean(const char *path);

/* path, if it is absolute; else it below directory. */
char *path_join(const char *directory, const char *path);

#endif
