/* SPDX-License-Identifier: MIT */
#ifndef PRELOAD_TABLES_H
#define PRELOAD_TABLES_H

/*
 * Records of operations -> events, by tables of what the traced processes have open.
 *
 * A program tells the descriptors that it begins with; opens, dups, pipes and closes change the table, and the child of a fork begins with
 * a copy of it, as it was at the mark that its parent has set before the fork.  Descriptors that share one open file description have one
 * handle, as far as that can be known: at the begin of a program that libc has started by itself, one of its parent on the
 * same file, with the same flags.  Operations on descriptors that are not known (sockets, what libc opens for itself) become no event.
 *
 * What it pushes is described in db/event.h; operations have the form CALL.  Paths are made absolute by the working directory that the
 * process has told, or begin at the node of a directory's descriptor.
 *
 * One thread.  Nothing in the records is trusted.
 */

#include <stdbool.h>
#include <stdint.h>

struct ring;
struct tables;
struct wire_record;

/* 0 or -ENOMEM. */
int tables_create(struct ring *ring, struct tables **ret_tables);
void tables_destroy(struct tables *tables); /* NULL is fine */

/* The records of all threads, in the order of their ends.  text has record->text_len bytes, and a NUL behind them. */
void tables_take(struct tables *tables, const struct wire_record *record, char *text);

/* Ends the handles of processes that ended before that time; all: of all. */
void tables_end(struct tables *tables, int64_t until_ns, bool all);

/* Operations that became events; records that were wrong or found no memory.  Any thread. */
uint64_t tables_taken(const struct tables *tables);
uint64_t tables_failed(const struct tables *tables);

#endif
