/* SPDX-License-Identifier: MIT */
#ifndef PRELOAD_STREAMS_H
#define PRELOAD_STREAMS_H

/*
 * Streams as operations: what a call on one has moved between its buffer and the file follows from the pointers of the buffer before
 * and after it, and from the bytes that the call says to have moved.
 */

#include <stdio.h>

#include "preload/object.h"

struct stream_state streams_state(const FILE *stream);
/* The stream of the call, of which call->before was taken, was closed. */
void streams_closed(const struct call *call);
/* The process ends, and libc will write the buffers. */
void streams_emit_unwritten(void);

#endif
