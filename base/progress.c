/* SPDX-License-Identifier: MIT */
#include "base/progress.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/condition.h"
#include "base/units.h"

#define FIRST_NS 1000000000
#define NEXT_NS 250000000

struct progress {
	uint64_t (*left)(void *arg);
	void *arg;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t stopped;
	bool stop;
};

/* Waits with the lock held; whether the end has come. */
static bool ends_within(struct progress *progress, int64_t ns)
{
	int64_t until_ns = clock_now_ns() + ns;

	while (!progress->stop && condition_wait(&progress->stopped, &progress->lock, until_ns))
		;
	return progress->stop;
}

static void show(const struct progress *progress)
{
	uint64_t left = progress->left(progress->arg);
	char text[32];

	if (left) {
		units_bytes((double)left, text, sizeof(text));
		fprintf(stderr, "\r\033[Kftrac: writing the trace: %s left", text);
	} else {
		fputs("\r\033[Kftrac: writing the trace", stderr);
	}
}

static void *run(void *arg)
{
	struct progress *progress = arg;
	bool shown = false;

	pthread_mutex_lock(&progress->lock);
	while (!ends_within(progress, shown ? NEXT_NS : FIRST_NS)) {
		show(progress);
		shown = true;
	}
	pthread_mutex_unlock(&progress->lock);
	if (shown)
		fputs("\r\033[K", stderr);
	return NULL;
}

static int start_thread(struct progress *progress)
{
	sigset_t all, before;
	int r;

	pthread_mutex_init(&progress->lock, NULL);
	condition_init(&progress->stopped);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(&progress->thread, NULL, run, progress);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -r;
}

static void destroy(struct progress *progress)
{
	pthread_cond_destroy(&progress->stopped);
	pthread_mutex_destroy(&progress->lock);
	free(progress);
}

struct progress *progress_start(uint64_t (*left)(void *arg), void *arg)
{
	struct progress *progress = isatty(STDERR_FILENO) ? calloc(1, sizeof(*progress)) : NULL;

	if (!progress)
		return NULL;
	progress->left = left;
	progress->arg = arg;
	if (start_thread(progress) == 0)
		return progress;
	destroy(progress);
	return NULL;
}

void progress_stop(struct progress *progress)
{
	if (!progress)
		return;
	pthread_mutex_lock(&progress->lock);
	progress->stop = true;
	pthread_cond_signal(&progress->stopped);
	pthread_mutex_unlock(&progress->lock);
	pthread_join(progress->thread, NULL);
	destroy(progress);
}
