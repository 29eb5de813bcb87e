/* SPDX-License-Identifier: MIT */
#ifndef DB_METRICS_FILE_H
#define DB_METRICS_FILE_H

/*
 * The file of --metrics: what a run has done so far.  A new text takes the place of the old one as a whole (base/output.h).  A file whose
 * name ends in ".prom" has the text format of Prometheus, because its node exporter reads files of this name in this format; any other
 * one has OpenMetrics.
 *
 * Its directory stays open, so a mount over that is not in the way.  All can read the file: it has no more than the names of mounts and
 * programs.  One thread at a time.
 */

#include <stdint.h>

#define METRICS_FILE_NS INT64_C(10000000000)

struct metrics_file;
struct totals;

/* Writes the first text, of these totals, which the caller keeps.  0 or a negative error of base/output.h; then there is no file. */
int metrics_file_open(const char *path, struct totals *totals, struct metrics_file **ret_file);
void metrics_file_close(struct metrics_file *file); /* NULL is fine; the file stays */

/* For writer_options.publish; arg: the struct metrics_file.  If it fails, the old text stays; the next one may succeed. */
void metrics_file_write(void *arg);

#endif
