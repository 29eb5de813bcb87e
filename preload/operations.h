/* SPDX-License-Identifier: MIT */
#ifndef PRELOAD_OPERATIONS_H
#define PRELOAD_OPERATIONS_H

/*
 * Inside the preloaded object: calls as operations on files (--files preload), by the descriptors and paths that they are given.  The
 * reader keeps the tables of descriptors (tables.h); what it cannot know is told here: the identity of what was opened, descriptors that
 * a program begins with, the working directory, files that the kernel and the loader have read for it.
 *
 * As all of the object it takes no lock, and uses the heap and stdio of the program in no way.
 */

#include <stdbool.h>
#include <stdint.h>

#include "db/layers.h"
#include "preload/object.h"

struct stat;

/* The operation (enum op) that a call of libc is; 0: none. */
extern __attribute__((visibility("hidden"))) const uint8_t operations_of[CALL_MAX];

/* Hands the operation over: the record of the call with call->more, and call->seen if call->has_seen. */
void operations_put(struct call *call);

/* Before an open: looks whether the path is there, if the call may make it. */
void operations_before_open(struct call *call, int dir, const char *path, unsigned flags, unsigned mode);
/* After it: what was opened, if it has succeeded. */
void operations_opened(struct call *call, int fd);
/* Two descriptors were made. */
void operations_pair(struct call *call, const int *ends);
/* What stat(2) has found. */
void operations_found(struct call *call, const struct stat *found);

/* A descriptor that libc has made by itself. */
void operations_new_fd(int fd);
/* Bytes that the kernel has moved in that call, between the buffer of a stream and its file; or -errno. */
void operations_moved(const struct call *call, int op, int fd, int64_t result);
void operations_closed(const struct call *call, int fd);
/* All descriptors from first to last will be closed. */
void operations_close_range(unsigned first, unsigned last);
/* The working directory has changed. */
void operations_moved_to(void);
/* The thread is about to fork; shares: by vfork(2). */
void operations_fork(bool shares);

/* A program begins. */
void operations_begin(void);
/* The process ends; streams: libc will write what their buffers hold. */
void operations_end(bool streams);

#endif
