/* SPDX-License-Identifier: MIT */
#include "procmon/in_kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/failure.h"
#include "base/rights.h"
#include "db/store.h"
#include "kernel/kernel.h"
#include "procmon/environ.h"
#include "procmon/existing.h"
#include "procmon/monitor.h"

struct in_kernel {
	struct kernel *kernel;
	const char *const *env;
	uint64_t rights;
	struct ring *ring;
	int64_t began_ns;
};

static size_t keep_environ(char *vars, size_t len, void *arg)
{
	const struct in_kernel *in_kernel = arg;

	return environ_filter(vars, len, in_kernel->env);
}

/* The programs are attached, and there is no event yet. */
static int begin(void *arg)
{
	struct in_kernel *in_kernel = arg;

	in_kernel->began_ns = clock_now_ns();
	return rights_keep(in_kernel->rights, true);
}

int in_kernel_start(const struct monitor_in_kernel *options, struct in_kernel **ret_in_kernel, struct failure *failure)
{
	struct in_kernel *in_kernel = calloc(1, sizeof(*in_kernel));
	int r;

	if (!in_kernel)
		return failure_memory(failure);
	in_kernel->env = options->env;
	in_kernel->rights = options->rights;
	in_kernel->ring = options->ring;
	r = kernel_start(&(struct kernel_options){ .ring = options->ring, .pid = options->command ? monitor_spawned(options->command) : 0,
		.parent = getpid(), .keep_environ = keep_environ, .attached = begin, .arg = in_kernel },
		&in_kernel->kernel, failure);
	if (r < 0) {
		free(in_kernel);
		return r;
	}
	*ret_in_kernel = in_kernel;
	return 0;
}

int in_kernel_attach(struct in_kernel *in_kernel, const struct monitor_attach *wanted, struct failure *failure)
{
	cleanup_fd int cgroup = wanted->cgroup ? open(wanted->cgroup, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	pid_t missing = 0;
	int r;

	if (wanted->cgroup && cgroup < 0)
		return failure_set(failure, -errno, "cannot use control group '%s': %s", wanted->cgroup, strerror(errno));
	r = existing_push(in_kernel->ring, in_kernel->env, wanted, in_kernel->kernel, &missing);
	if (r == 0)
		r = kernel_attach(in_kernel->kernel, wanted->all, cgroup);
	if (r == -ESRCH && missing)
		return failure_set(failure, r, "cannot record process %d: there is no such process", (int)missing);
	if (r == -EPERM)
		return failure_set(failure, r, "cannot record processes that run already: that takes CAP_SYS_PTRACE, too; run as root");
	if (r == -EBADF && cgroup >= 0)
		return failure_set(failure, r, "cannot use control group '%s': it is not of the second hierarchy (cgroup2)",
			wanted->cgroup);
	return r < 0 ? failure_set(failure, r, "cannot record processes that run already: %s", strerror(-r)) : 0;
}

void in_kernel_finish(struct in_kernel *in_kernel)
{
	kernel_finish(in_kernel->kernel);
}

void in_kernel_destroy(struct in_kernel *in_kernel)
{
	kernel_destroy(in_kernel->kernel);
	free(in_kernel);
}

/* Without memory or a descriptor there are no samples in this second. */
void in_kernel_sample(void *arg)
{
	const struct in_kernel *in_kernel = arg;

	kernel_sample(in_kernel->kernel);
}

int monitor_explain_kernel(struct failure *failure)
{
	return kernel_explain(failure);
}

/* ---- counts ---- */

int64_t in_kernel_began_ns(const struct in_kernel *in_kernel)
{
	return in_kernel->began_ns;
}

uint64_t in_kernel_lost(const struct in_kernel *in_kernel)
{
	return kernel_lost(in_kernel->kernel);
}

void in_kernel_set_watched(struct in_kernel *in_kernel, bool is_watched)
{
	kernel_set_watched(in_kernel->kernel, is_watched);
}

bool in_kernel_may_wait(const struct in_kernel *in_kernel)
{
	return kernel_may_wait(in_kernel->kernel);
}

uint64_t in_kernel_left(const struct in_kernel *in_kernel)
{
	return kernel_left(in_kernel->kernel);
}

static int put_processors(struct store *store, const struct kernel_counts *counts, int n)
{
	char key[48];
	int r = 0;

	for (int i = 0; i < n && r == 0; i++) {
		snprintf(key, sizeof(key), "kernel_submitted_cpu%d", i);
		r = store_put_meta(store, key, V_INT((int64_t)counts[i].submitted));
		snprintf(key, sizeof(key), "kernel_dropped_cpu%d", i);
		if (r == 0)
			r = store_put_meta(store, key, V_INT((int64_t)counts[i].dropped));
	}
	return r;
}

static int put_totals(struct store *store, const struct kernel_totals *totals)
{
	const struct {
		const char *key;
		uint64_t value;
	} facts[] = {
		{ "kernel_submitted", totals->all.submitted },
		{ "kernel_received", totals->received },
		{ "kernel_dropped", totals->all.dropped },
		{ "kernel_failed", totals->failed },
		{ "kernel_missed", totals->missed },
		{ "kernel_spared", totals->spared },
		{ "kernel_spooled", totals->spooled },
		{ "device_io", totals->has_devices },
	};
	int r = 0;

	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]) && r == 0; i++)
		r = store_put_meta(store, facts[i].key, V_INT((int64_t)facts[i].value));
	return r;
}

int monitor_put_kernel(const struct kernel *kernel, struct store *store)
{
	struct kernel_totals totals = { 0 };
	int n = kernel_count(kernel, &totals, NULL, 0);
	cleanup_free struct kernel_counts *counts = n > 0 ? calloc(n, sizeof(*counts)) : NULL;
	int r;

	if (n <= 0)
		return n;
	if (!counts)
		return -ENOMEM;
	r = kernel_count(kernel, &totals, counts, n);
	if (r > 0)
		r = put_totals(store, &totals);
	return r < 0 ? r : put_processors(store, counts, n);
}

int in_kernel_put_facts(const struct in_kernel *in_kernel, struct store *store)
{
	return monitor_put_kernel(in_kernel->kernel, store);
}
