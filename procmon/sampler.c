/* SPDX-License-Identifier: MIT */
#include "procmon/sampler.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/condition.h"
#include "procmon/scope.h"
#include "procmon/usage.h"
#include "procmon/watch.h"

#define SECOND_NS INT64_C(1000000000)
#define AT_ONCE 64 /* processes per turn; the lock is released in between */

struct sampler {
	void (*sample)(void *arg);
	void *arg;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t stop;
	bool stopping;
};

/* ---- the processes of a watch ---- */

static void sample_process(struct watch *watch, pid_t pid)
{
	int64_t now = clock_now_ns(), rss = usage_rss_bytes(watch->proc, pid),
		cpu = usage_cpu_ns(pid);

	if (rss < 0 && cpu < 0)
		return; /* it has ended */
	watch_lock(watch);
	scope_emit_sample(watch->scope, pid, now, rss, cpu);
	watch_unlock(watch);
}

void sampler_of_watch(void *arg)
{
	const int64_t before = clock_read_ns(CLOCK_BOOTTIME) - SECOND_NS;
	struct watch *watch = arg;
	pid_t pids[AT_ONCE];
	uint64_t at = 0;
	size_t n;

	do {
		watch_lock(watch);
		n = scope_list(watch->scope, before, &at, pids, AT_ONCE);
		watch_unlock(watch);
		for (size_t i = 0; i < n; i++)
			sample_process(watch, pids[i]);
	} while (n == AT_ONCE);
}

/* ---- the thread ---- */

/* Returns false when the sampler is to stop. */
static bool wait_until(struct sampler *sampler, int64_t time_ns)
{
	bool go_on;

	pthread_mutex_lock(&sampler->lock);
	while (!sampler->stopping && condition_wait(&sampler->stop, &sampler->lock, time_ns))
		;
	go_on = !sampler->stopping;
	pthread_mutex_unlock(&sampler->lock);
	return go_on;
}

static void *run(void *arg)
{
	struct sampler *sampler = arg;
	int64_t next = clock_now_ns() + SECOND_NS;

	pthread_setname_np(pthread_self(), "sampler");
	while (wait_until(sampler, next)) {
		sampler->sample(sampler->arg);
		next += SECOND_NS;
		if (next < clock_now_ns()) /* it takes more than a second */
			next = clock_now_ns() + SECOND_NS;
	}
	return NULL;
}

static void destroy(struct sampler *sampler)
{
	pthread_cond_destroy(&sampler->stop);
	pthread_mutex_destroy(&sampler->lock);
	free(sampler);
}

int sampler_start(void (*sample)(void *arg), void *arg, struct sampler **ret_sampler)
{
	struct sampler *sampler = calloc(1, sizeof(*sampler));
	sigset_t all, old;
	int r;

	if (!sampler)
		return -ENOMEM;
	sampler->sample = sample;
	sampler->arg = arg;
	pthread_mutex_init(&sampler->lock, NULL);
	condition_init(&sampler->stop);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	r = -pthread_create(&sampler->thread, NULL, run, sampler);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (r < 0) {
		destroy(sampler);
		return r;
	}
	*ret_sampler = sampler;
	return 0;
}

void sampler_stop(struct sampler *sampler)
{
	if (!sampler)
		return;
	pthread_mutex_lock(&sampler->lock);
	sampler->stopping = true;
	pthread_cond_signal(&sampler->stop);
	pthread_mutex_unlock(&sampler->lock);
	pthread_join(sampler->thread, NULL);
	destroy(sampler);
}
