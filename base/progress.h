/* SPDX-License-Identifier: MIT */
#ifndef BASE_PROGRESS_H
#define BASE_PROGRESS_H

/*
 * A line on the terminal that shows how much of a trace is still to be written.  It appears after a second, and goes away at
 * the end.  Nothing is printed if stderr is no terminal.
 */

#include <stdint.h>

struct progress;

/* left: bytes that are still to be written, 0 if that is not known; a thread calls it.  NULL: nothing will be shown. */
struct progress *progress_start(uint64_t (*left)(void *arg), void *arg);

/* When it returns, left is not called any more.  NULL is fine. */
void progress_stop(struct progress *progress);

#endif
