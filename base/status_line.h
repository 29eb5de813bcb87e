/* SPDX-License-Identifier: MIT */
#ifndef BASE_STATUS_LINE_H
#define BASE_STATUS_LINE_H

/*
 * The last line of the terminal, which says how far a command is that has the other lines: they scroll above it, by the
 * terminal's scroll region (DECSTBM; ECMA-48 and DEC VT510, which all terminals of today follow).  The cursor stays where the command
 * left it.
 *
 * The line appears after two seconds and is written anew each second.  There is none if stderr is no terminal or a dumb one, if it has
 * less than 4 lines, while the terminal belongs to another process group, and while a program reads single keys: such a
 * program has all of the screen.
 *
 * A thread writes it.  What is written at once is one write(2), so it is never mixed with what the command writes.
 */

#include <stddef.h>

struct status_line;

/* text: makes the line, which is cut at the width of the terminal; the thread calls it.  NULL: nothing will be shown. */
struct status_line *status_line_start(void (*text)(void *arg, char *out, size_t size), void *arg);

/* The terminal is as before, and text is not called any more.  NULL is fine. */
void status_line_stop(struct status_line *line);

#endif
