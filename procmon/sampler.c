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
	struct watch *watch;
	pthread_t thread;
	pthread_cond_t stop; /* with the watch's lock */
	bool stopping;
};

static void sample(struct watch *watch, pid_t pid)
{
	int64_t now = clock_now_ns(), rss = usage_rss_bytes(watch->proc, pid),
		cpu = usage_cpu_ns(pid);

	if (rss < 0 && cpu < 0)
		return; /* it has ended */
	watch_lock(watch);
	scope_emit_sample(watch->scope, pid, now, rss, cpu);
	watch_unlock(watch);
}

static void sample_all(struct watch *watch)
{
	const int64_t before = clock_read_ns(CLOCK_BOOTTIME) - SECOND_NS;
	pid_t pids[AT_ONCE];
	uint64_t at = 0;
	size_t n;

	do {
		watch_lock(watch);
		n = scope_list(watch->scope, before, &at, pids, AT_ONCE);
		watch_unlock(watch);
		for (size_t i = 0; i < n; i++)
			sample(watch, pids[i]);
	} while (n == AT_ONCE);
}

/* Returns false when the sampler is to stop. */
static bool wait_until(struct sampler *sampler, int64_t time_ns)
{
	struct watch *watch = sampler->watch;
	bool go_on;

	watch_lock(watch);
	while (!sampler->stopping && watch_wait(watch, &sampler->stop, time_ns))
		;
	go_on = !sampler->stopping;
	watch_unlock(watch);
	return go_on;
}

static void *run(void *arg)
{
	struct sampler *sampler = arg;
	int64_t next = clock_now_ns() + SECOND_NS;

	pthread_setname_np(pthread_self(), "sampler");
	while (wait_until(sampler, next)) {
		sample_all(sampler->watch);
		next += SECOND_NS;
		if (next < clock_now_ns()) /* it takes more than a second */
			next = clock_now_ns() + SECOND_NS;
	}
	return NULL;
}

int sampler_start(struct watch *watch, struct sampler **ret_sampler)
{
	struct sampler *sampler = calloc(1, sizeof(*sampler));
	sigset_t all, old;
	int r;

	if (!sampler)
		return -ENOMEM;
	sampler->watch = watch;
	condition_init(&sampler->stop);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	r = -pthread_create(&sampler->thread, NULL, run, sampler);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (r < 0) {
		pthread_cond_destroy(&sampler->stop);
		free(sampler);
		return r;
	}
	*ret_sampler = sampler;
	return 0;
}

void sampler_stop(struct sampler *sampler)
{
	if (!sampler)
		return;
	watch_lock(sampler->watch);
	sampler->stopping = true;
	pthread_cond_signal(&sampler->stop);
	watch_unlock(sampler->watch);
	pthread_join(sampler->thread, NULL);
	pthread_cond_destroy(&sampler->stop);
	free(sampler);
}
