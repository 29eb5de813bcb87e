/* SPDX-License-Identifier: MIT */
#ifndef DB_MERGE_STARTS_H
#define DB_MERGE_STARTS_H

/*
 * Runs that processes of other runs have started, on the same machine or on another one: the first process of such a run hangs below that
 * process.  Known by facts alone (origin.h):
 *   parent      the kernel's parent, on the same boot of a machine and in the same namespace of pids
 *   connection  the process that has the other end of the connection of ssh
 *   launcher    the other run is known by its name, and so is what has started the run in it, as a step of Slurm: the only process
 *               of the other run that starts such, and that lived at that moment, as far as the clocks are known
 * If several processes may have started a run, none is taken: the view start says how many.
 */

#include <sqlite3.h>

/* Makes the table launcher: the facts of a run that say what has started it, and the programs which start such.  And the table wanted,
 * of the rows of a table part_facts (part, key, value): for the parts x that the part r has started, these programs. */
extern const char merge_starts_wanted_sql[];

/* When all traces were added and summed up (sum.sql), before finish.sql.  Returns SQLite's codes. */
int merge_starts(sqlite3 *sqlite);

#endif
