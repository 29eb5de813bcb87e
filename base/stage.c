/* SPDX-License-Identifier: MIT */
#include "base/stage.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static struct {
	pthread_t thread;
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	const char *program, *what;
	bool runs;
} stage = { .mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

/* The cursor returns to the begin of the line, so that an error replaces the text. */
static void *show(void *unused)
{
	struct timespec begin;
	bool shown;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	begin.tv_sec++;
	pthread_mutex_lock(&stage.mutex);
	while (stage.what && pthread_cond_clockwait(&stage.changed, &stage.mutex, CLOCK_MONOTONIC, &begin) != ETIMEDOUT)
		;
	shown = stage.what;
	while (stage.what) {
		fprintf(stderr, "\033[K%s: %s ...\r", stage.program, stage.what);
		pthread_cond_wait(&stage.changed, &stage.mutex);
	}
	if (shown)
		fputs("\033[K", stderr);
	pthread_mutex_unlock(&stage.mutex);
	return unused;
}

void stage_show(const char *program, const char *what)
{
	if (!stage.runs && (!what || !isatty(STDERR_FILENO)))
		return;
	pthread_mutex_lock(&stage.mutex);
	stage.program = program;
	stage.what = what;
	pthread_cond_signal(&stage.changed);
	pthread_mutex_unlock(&stage.mutex);
	if (!stage.runs)
		stage.runs = pthread_create(&stage.thread, NULL, show, NULL) == 0;
	else if (!what)
		stage.runs = pthread_join(stage.thread, NULL) != 0;
}
