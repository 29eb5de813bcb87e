/* SPDX-License-Identifier: MIT */
#ifndef BASE_OUTPUT_H
#define BASE_OUTPUT_H

/*
 * Output files of programs.  A new file replaces an old one only when it is complete; it gets the mode of the old one if
 * that belongs to this user.  Devices, pipes and links stay what they are; "-" is stdout.
 * In directories that other users may write to, files and links of other users are neither written nor followed
 * (place.h): -ELOOP, -EPERM.  A trace and its files (trace_file.h) are never overwritten: OUTPUT_IS_TRACE, for which
 * place_explain() has the text.
 *
 * A file that does not look like an earlier result of the same kind is not replaced, unless output_force() was called:
 * OUTPUT_IS_OTHER.  A result looks like another one if both begin with the same bytes and say the same of what made them.
 */

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>

#define OUTPUT_IS_TRACE (-ENOTUNIQ)
#define OUTPUT_IS_OTHER (-EEXIST)
/* Of a trace as the result. */
#define OUTPUT_IS_THERE (-ENOTEMPTY)
#define OUTPUT_IS_NO_TRACE (-EBADF)
#define OUTPUT_IS_UNFINISHED (-EUCLEAN)

struct output {
	int fd;
	const char *file;
	int dir;	 /* its directory; -1: stdout */
	char *name;	 /* in dir */
	char *temporary; /* name of the new file before it takes the place of the old one; NULL: the file itself is written */
	bool is_unnamed; /* it gets that name when it is complete: nothing is left of a program that is killed */
	bool is_trace;
	struct stat old; /* the file that will be replaced; st_nlink 0: there is none */
};

/* For --force: files of any kind are replaced, but for traces.  Before other threads are started. */
void output_force(void);

/* 0: the caller closes it with output_close(); or -errno. */
int output_open(const char *file, struct output *ret_output);
/*
 * For a result that is a trace, which only its owner may read, as those that are recorded.  A trace that is there (OUTPUT_IS_THERE)
 * is replaced after output_force(), unless files of SQLite are beside it: then it is being written, or was never completed
 * (OUTPUT_IS_UNFINISHED).  Any other file is never replaced: OUTPUT_IS_NO_TRACE.
 */
int output_open_trace(const char *file, struct output *ret_output);
/* r: the result of writing.  Returns r, or the error of closing.  On errors the incomplete file is removed, and the old one stays. */
int output_close(struct output *output, int r);

/* For a program that prints to stdout: to this file instead.  NULL: to stdout.  0, or EXIT_OWN after it printed the error. */
int output_replace_stdout(const char *file);
/* Before the program ends: the file takes its place, unless the program failed.  Returns the status, or EXIT_OWN after it printed an
 * error. */
int output_finish_stdout(int status, bool failed);

/* A stream that writes to fd; closing it leaves fd open.  NULL, and errno, on error. */
FILE *output_stream(int fd);

/* Closes a stream of open_memstream().  Returns *text, which the caller frees; NULL if memory ran out at any time,
 * also in calls whose result was not checked. */
char *output_close_text(FILE *out, char **text);

#endif
