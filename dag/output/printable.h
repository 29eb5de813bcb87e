/* SPDX-License-Identifier: MIT */
#ifndef DAG_OUTPUT_PRINTABLE_H
#define DAG_OUTPUT_PRINTABLE_H

/*
 * Texts of a trace for formats that need UTF-8 without control characters.
 *
 * Each other byte becomes \xNN, and so does a backslash that is followed by an x: different bytes give
 * different texts.
 *
 * Threads: one for each struct printable.
 */

#include <stdbool.h>
#include <stddef.h>

/* Begins as zeroes.  One struct serves many texts. */
struct printable {
	char *buffer;
	size_t size;
	bool failed; /* out of memory: a text is missing */
};

void printable_finish(struct printable *p);

/* The text lives until the next call.  "" if there is no memory; .failed is set then. */
const char *printable_text(struct printable *p, const char *bytes);

#endif
