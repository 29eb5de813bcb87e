/* SPDX-License-Identifier: MIT */
#ifndef PRELOAD_PRELOAD_H
#define PRELOAD_PRELOAD_H

/*
 * The layers above the system calls: an object of ours is preloaded into the programs of a command, stands in front of functions
 * of libc, and hands over each call of them; this module pushes the calls into the ring as events.  This is the only header
 * of preload/ that other folders may include.
 *
 *   prepare   makes the memory for the calls, and changes the environment of this process: before the command is forked.
 *             Puts the object in front of those that LD_PRELOAD names already
 *   start     the thread that reads the calls: before the command is executed, when there is a ring
 *   finish    reads what is left, while the writer still empties the ring
 *   destroy   removes the memory
 *
 * What it pushes is described in db/event.h: EVENT_CALLER before the first call of a thread, and EVENT_CALL.  The calls of a
 * thread come in the order of their ends; those that are added up may come later, when their thread has ended, too.
 *
 * Seen are calls that programs and their libraries make to symbols of other libraries.  Not seen are those inside of libc,
 * inlined ones (getc_unlocked), programs that are linked statically or use another loader, setuid programs, whose loader ignores the
 * object, and programs that were started without the two variables or cannot open the file.
 *
 * The memory is a file of 32 MiB in a directory that only the user of the command may enter, in /dev/shm or /tmp.  If its
 * user kills a program, what was handed over stays.  If we are killed, programs go on and drop their calls.  If all of it is
 * full, programs wait for us, or drop calls, which are counted.  Files of a killed ftrac are removed by the next run of the same user.
 *
 * Nothing in that file is trusted.  A program that cuts it off ends the record of calls; they are counted as lost.
 */

#include <stdbool.h>
#include <stdint.h>

struct failure;
struct preload;
struct ring;

struct preload_options {
	unsigned layers;  /* a set of 1 << enum layer of db/layers.h */
	bool files;	  /* operations on files are recorded, too */
	bool drop;	  /* programs drop calls, and do not wait */
	int64_t detail_above_ns; /* calls that take no longer are added up; 0: none */
	const char *user; /* that runs the command; NULL: ours */
};

/* From a list like "lib".  0, or -EINVAL. */
int preload_parse(const char *text, unsigned *ret_layers);
/* From a time like "10us", from 1 ns on.  0, or -EINVAL. */
int preload_parse_detail(const char *text, int64_t *ret_above_ns);

/* 0, or -errno with the reason. */
int preload_prepare(const struct preload_options *options, struct preload **ret_preload, struct failure *failure);

/* Whether there is the object for this machine.  0, or -errno with the reason. */
int preload_explain(struct failure *failure);

/* The directory of the memory, and the object: what programs do with these is no part of their work. */
const char *preload_directory(const struct preload *preload);
const char *preload_object(const struct preload *preload);

/* 0 or -errno. */
int preload_start(struct preload *preload, struct ring *ring);

/* NULL is fine for these. */
void preload_finish(struct preload *preload);
void preload_destroy(struct preload *preload);

struct preload_counts {
	uint64_t calls, operations; /* that became events */
	uint64_t lost;	    /* that did not */
	uint64_t waited_ns; /* of programs, for room: the sum of all threads */
};

/* Any thread; after preload_finish() they do not change. */
struct preload_counts preload_count(const struct preload *preload);

#endif
