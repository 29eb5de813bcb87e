/* SPDX-License-Identifier: MIT */
#include "base/status_line.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/condition.h"

#define FIRST_NS 2000000000
#define NEXT_NS 1000000000
#define ROWS_LEAST 4
#define TEXT_MOST 256

/* Save and restore the cursor with its colours; the whole screen scrolls. */
#define SAVE "\0337"
#define RESTORE "\0338"
#define WHOLE "\033[r"

struct status_line {
	void (*text)(void *arg, char *out, size_t size);
	void *arg;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t stopped;
	bool stop;
	int reserved; /* rows of the terminal whose last one is ours; 0: none is */
};

/* What cannot be written is not worth an error. */
static void put(const char *bytes, int n)
{
	if (n > 0 && write(STDERR_FILENO, bytes, (size_t)n) < 0)
		return;
}

/* The command reads lines, if it reads at all, and the terminal is ours and its. */
static bool is_shared(void)
{
	struct termios modes;

	return tcgetattr(STDERR_FILENO, &modes) == 0 && modes.c_lflag & ICANON && tcgetpgrp(STDERR_FILENO) == getpgrp();
}

static void give_back(struct status_line *line)
{
	char out[64];

	if (line->reserved)
		put(out, snprintf(out, sizeof(out), SAVE WHOLE "\033[%d;1H\033[K" RESTORE, line->reserved));
	line->reserved = 0;
}

/* The screen goes up by a row if the cursor is in the last one, and the cursor with it.  Index (ESC D) keeps its column. */
static void reserve(struct status_line *line, int rows)
{
	char out[64];

	give_back(line);
	put(out, snprintf(out, sizeof(out), "\033D\033[A" SAVE "\033[1;%dr" RESTORE, rows - 1));
	line->reserved = rows;
}

static void show(struct status_line *line)
{
	struct winsize size = { 0 };
	char text[TEXT_MOST], out[TEXT_MOST + 64];

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_row < ROWS_LEAST || size.ws_col < 2 || !is_shared()) {
		give_back(line);
		return;
	}
	if (line->reserved != size.ws_row)
		reserve(line, size.ws_row);
	line->text(line->arg, text, sizeof(text));
	put(out, snprintf(out, sizeof(out), SAVE "\033[%d;1H\033[m\033[K%.*s" RESTORE, size.ws_row, size.ws_col - 1, text));
}

/* Waits with the lock held; whether the end has come. */
static bool ends_within(struct status_line *line, int64_t ns)
{
	int64_t until_ns = clock_now_ns() + ns;

	while (!line->stop && condition_wait(&line->stopped, &line->lock, until_ns))
		;
	return line->stop;
}

static void *run(void *arg)
{
	struct status_line *line = arg;

	pthread_mutex_lock(&line->lock);
	for (int64_t ns = FIRST_NS; !ends_within(line, ns); ns = NEXT_NS)
		show(line);
	pthread_mutex_unlock(&line->lock);
	give_back(line);
	return NULL;
}

static int start_thread(struct status_line *line)
{
	sigset_t all, before;
	int r;

	pthread_mutex_init(&line->lock, NULL);
	condition_init(&line->stopped);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(&line->thread, NULL, run, line);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -r;
}

static void destroy(struct status_line *line)
{
	pthread_cond_destroy(&line->stopped);
	pthread_mutex_destroy(&line->lock);
	free(line);
}

static bool can_be_shown(void)
{
	const char *term = secure_getenv("TERM");

	return isatty(STDERR_FILENO) && term && *term && strcmp(term, "dumb") != 0;
}

struct status_line *status_line_start(void (*text)(void *arg, char *out, size_t size), void *arg)
{
	struct status_line *line = can_be_shown() ? calloc(1, sizeof(*line)) : NULL;

	if (!line)
		return NULL;
	line->text = text;
	line->arg = arg;
	if (start_thread(line) == 0)
		return line;
	destroy(line);
	return NULL;
}

void status_line_stop(struct status_line *line)
{
	if (!line)
		return;
	pthread_mutex_lock(&line->lock);
	line->stop = true;
	pthread_cond_signal(&line->stopped);
	pthread_mutex_unlock(&line->lock);
	pthread_join(line->thread, NULL);
	destroy(line);
}
