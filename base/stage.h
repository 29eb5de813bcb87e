/* SPDX-License-Identifier: MIT */
#ifndef BASE_STAGE_H
#define BASE_STAGE_H

/*
 * A line on the terminal that shows what a program is doing.  It appears after a second.  Nothing is printed if stderr is no
 * terminal.
 *
 * For one thread; another one prints.
 */

/* what: a text that lives until the next call, such as "reading the graph"; NULL: the work has ended, the line goes away. */
void stage_show(const char *program, const char *what);

#endif
