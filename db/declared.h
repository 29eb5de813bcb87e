/* SPDX-License-Identifier: MIT */
#ifndef DB_DECLARED_H
#define DB_DECLARED_H

/*
 * What a build says of the prerequisites of its targets, on its way into the trace.  Who drives the build
 * leaves notes in a directory, a file for each process that does, so that none is torn; a note is four
 * lines:
 *
 *     ftrac-target DIRECTORY     in which names are meant
 *     TARGET
 *     PREREQUISITE...            with blanks between them
 *     | PREREQUISITE...          those that are for order only
 *
 * A target is known by "DIRECTORY/TARGET", which is also what its processes have in $FTRAC_TARGET.  Who is
 * noted twice has the prerequisites of both.  What does not look like a note is passed over.  Files that cannot
 * be read, what is no file, and files that are larger than any build's notes are counted in the fact notes_lost:
 * what they would have said is unknown.
 *
 * Memory: the longest line.
 */

#define DECLARED_MARK "ftrac-target "
#define DECLARED_BYTES_MAX (64 << 20) /* of a file */

struct paths;
struct store;

/* Takes in all files of the directory; in a transaction that is open.  0 or -errno. */
int declared_store(struct store *store, struct paths *paths, const char *directory);

#endif
