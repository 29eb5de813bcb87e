/* SPDX-License-Identifier: MIT */
#ifndef BASE_WRAP_H
#define BASE_WRAP_H

/* Long lines on a terminal.  Any thread. */

#include <stdio.h>

/* Prints head and text as one line; on a terminal, in lines as wide as that, of which those behind the first begin with next.  Lines
 * end at blanks; a word that is wider than a line stays whole. */
void wrap_print(FILE *out, const char *head, const char *next, const char *text);

#endif
