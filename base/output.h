/* SPDX-License-Identifier: MIT */
#ifndef BASE_OUTPUT_H
#define BASE_OUTPUT_H

/*
 * A file that is written for somebody: a new one takes the place of an old one only when it is whole,
 * with the mode of the old one if that is ours.
 * Devices, pipes and links stay what they are; "-" is stdout.  Nothing that others have put into a directory
 * they may write to is followed or written into (place.h): -ELOOP, -EPERM.  A trace, and the log beside it, is never
 * overwritten: OUTPUT_IS_TRACE, for which place_explain() has the words.
 */

#include <errno.h>
#include <stdio.h>

#define OUTPUT_IS_TRACE (-ENOTUNIQ)

struct output {
	int fd;
	const char *file;
	int dir;	 /* the directory it lies in; -1: stdout */
	char *name;	 /* there */
	char *temporary; /* NULL: the file itself is written */
};

/* 0: it is to be closed; or -errno. */
int output_open(const char *file, struct output *ret_output);
/* r: how the writing went.  That, or what goes wrong now; what is not whole is taken away. */
int output_close(struct output *output, int r);

/* A stream to what is open; closing it leaves fd open.  NULL, and errno. */
FILE *output_stream(int fd);

/* Ends what open_memstream() gave.  *text, which is to be freed; NULL if there was no memory for some of it,
 * also of what fputc() and others said nothing of. */
char *output_close_text(FILE *out, char **text);

#endif
