/* SPDX-License-Identifier: MIT */
#ifndef DB_DECLARED_H
#define DB_DECLARED_H

/*
 * The declared prerequisites of a build, on their way into the trace.  The build tool (make) writes notes into a
 * directory, one file for each of its processes, so that notes are never mixed.  A note is five lines:
 *
 *     ftrac-target DIRECTORY     names are relative to it
 *     TARGET
 *     STEM                       of the pattern that the target matches; empty: none
 *     PREREQUISITE...            separated by blanks
 *     | PREREQUISITE...          order-only prerequisites
 *
 * A target is identified by "DIRECTORY/TARGET", which is also the value of $FTRAC_TARGET in its processes.  A target
 * with several notes has the prerequisites of all; if these are of several directories, it has the directory and the name in the
 * process that began last, and the prerequisites of the others become absolute.  Lines that are no note are skipped.  Files that cannot be read, are
 * not regular, or are larger than DECLARED_BYTES_MAX are counted in the fact notes_lost, because their contents stay
 * unknown.
 *
 * Memory: the longest line, the names of the files, and two ids for each target.
 */

#define DECLARED_MARK "ftrac-target "
#define DECLARED_BYTES_MAX (64 << 20) /* of a file */

struct paths;
struct store;

/* Stores the notes of all files of the directory; in an open transaction.  0 or -errno. */
int declared_store(struct store *store, struct paths *paths, const char *directory);

#endif
