/* SPDX-License-Identifier: MIT */
#ifndef WORK_HISTORY_H
#define WORK_HISTORY_H

/* What was done last, told when something turns out to be wrong. */

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HISTORY 30

static unsigned long seed = 1;
static long operation; /* which one it is; counted by the program */
static char history[HISTORY][160];

/* Says what the operation does; the last word counts. */
__attribute__((format(printf, 1, 2))) static void note(const char *format, ...)
{
	char *line = history[operation % HISTORY];
	int n = snprintf(line, sizeof(history[0]), "%6ld ", operation);
	va_list args;

	va_start(args, format);
	vsnprintf(line + n, sizeof(history[0]) - n, format, args);
	va_end(args);
}

/* And what came of it. */
__attribute__((format(printf, 1, 2))) static void note_more(const char *format, ...)
{
	char *line = history[operation % HISTORY];
	size_t n = strlen(line);
	va_list args;

	va_start(args, format);
	vsnprintf(line + n, sizeof(history[0]) - n, format, args);
	va_end(args);
}

/* Ends the program. */
__attribute__((format(printf, 1, 2), noreturn)) static void fail(const char *format, ...)
{
	int error = errno;
	va_list args;

	printf("seed %lu, operation %ld: ", seed, operation);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n(errno, if it means anything: %s)\nthe last operations:\n", strerror(error));
	for (long i = operation - HISTORY + 1; i <= operation; i++)
		if (i >= 0)
			printf("%s\n", history[i % HISTORY]);
	exit(1);
}

static void must(const char *what, long got, long wanted)
{
	if (got != wanted)
		fail("%s: %ld, must be %ld", what, got, wanted);
}

#endif
