/* SPDX-License-Identifier: MIT */
#ifndef IMPORT_STRACE_LINE_H
#define IMPORT_STRACE_LINE_H

/*
 * One line of strace's output, taken apart:
 *
 *   [PID | [pid PID]] [TIME] NAME(ARGUMENTS) = RESULT [ERROR (text)] [<SECONDS>]
 *   ... NAME(ARGUMENTS <unfinished ...>          ... <... NAME resumed>ARGUMENTS) = RESULT
 *   ... +++ exited with N +++                    ... +++ killed by SIGNAL +++
 *   ... +++ superseded by execve in pid N +++    ... --- SIGNAL {...} ---
 *
 * Pure.  Texts point into the line.  Nothing in it is trusted.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text {
	const char *at;
	size_t len;
};

bool text_is(struct text text, const char *word);
bool text_begins(struct text text, const char *word);
/* Whether the word is somewhere in it. */
bool text_has(struct text text, const char *word);

#define STRACE_ARGUMENTS 8

enum strace_kind {
	STRACE_BAD,	   /* not understood */
	STRACE_NOTHING,	   /* a signal, an empty line, a message of strace's own */
	STRACE_CALL,
	STRACE_UNFINISHED, /* name; rest: the arguments so far */
	STRACE_RESUMED,	   /* name; rest: the other arguments, and all behind them */
	STRACE_EXITED,	   /* status: as from wait(2) */
	STRACE_SUPERSEDED  /* by: the thread that executes a program */
};

enum strace_clock { STRACE_NO_TIME, STRACE_EPOCH, STRACE_OF_DAY };

struct strace_line {
	enum strace_kind kind;
	int32_t tid; /* 0: the line has none */
	enum strace_clock clock;
	int64_t time_ns; /* since the epoch, or since midnight */
	struct text name, rest;
	struct text arguments[STRACE_ARGUMENTS]; /* without spaces around them; those beyond are not kept */
	int n_arguments;
	bool has_result; /* else "?" */
	int64_t result;	 /* >= 0, or -errno */
	struct text shown; /* what -y says of a result that is a descriptor */
	int32_t number_outside; /* of a process, for strace: --pidns-translation; 0: not said */
	int64_t latency_ns; /* -1: not said */
	int32_t status, by;
};

/* len: without the newline. */
void strace_parse_line(const char *line, size_t len, struct strace_line *ret_line);

/* text: NAME(ARGUMENTS) = ..., of which the beginning and the rest stood on two lines.  Sets kind, name, arguments, result and latency. */
void strace_parse_call(const char *text, size_t len, struct strace_line *ret_line);

#endif
