/* SPDX-License-Identifier: MIT */
#include "procmon/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/condition.h"
#include "procmon/connector.h"
#include "procmon/exits.h"
#include "procmon/monitor.h"
#include "procmon/scope.h"
#include "procmon/tracer.h"

static int64_t boot_ns(void)
{
	return clock_read_ns(CLOCK_BOOTTIME);
}

bool watch_wait(struct watch *watch, pthread_cond_t *condition, int64_t until_ns)
{
	return condition_wait(condition, &watch->lock, until_ns);
}

/* Uses the sources that work. A source that the options name must work. */
static int open_sources(struct watch *watch, const struct monitor_options *options)
{
	enum monitor_processes wanted = options->processes;

	watch->tracer_error = watch->connector_error = watch->exits_error = -ENOTCONN;
	if (wanted == MONITOR_INBAND)
		return 0;
	watch->connector_error = connector_create(&watch->connector);
	watch->exits_error = exits_create(&watch->exits);
	if (options->command && wanted != MONITOR_CONNECTOR)
		watch->tracer_error = tracer_check(&watch->sees_zombies);
	watch->traces = watch->tracer_error == 0;
	if (wanted == MONITOR_CONNECTOR)
		return watch->connector_error;
	if (wanted == MONITOR_PTRACE)
		return watch->tracer_error;
	return options->command && !watch->traces && !options->inband_will_do
		? watch->connector_error : 0;
}

int watch_init(struct watch *watch, const struct monitor_options *options)
{
	int r;

	*watch = (struct watch){ .env = options->env,
		.command = options->command && options->processes != MONITOR_INBAND };
	pthread_mutex_init(&watch->lock, NULL);
	condition_init(&watch->unclaimed);
	watch->proc = open(options->proc ? options->proc : "/proc",
		O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (watch->proc < 0)
		return -errno;
	r = open_sources(watch, options);
	if (r < 0)
		return r;
	r = scope_create(options->ring, watch->connector != NULL, watch->exits, &watch->scope);
	if (r < 0)
		return r;
	watch->known = scope_known(watch->scope);
	watch->quiet_boot_ns = boot_ns();
	return 0;
}

void watch_finish(struct watch *watch)
{
	connector_destroy(watch->connector);
	scope_destroy(watch->scope);
	exits_destroy(watch->exits);
	if (watch->proc >= 0)
		close(watch->proc);
	free(watch->unprivileged);
	pthread_cond_destroy(&watch->unclaimed);
	pthread_mutex_destroy(&watch->lock);
}

/* Pushes everything that the kernel has reported into the ring. */
static void drain(struct watch *watch)
{
	struct connector_event ev;
	int64_t begun;
	int r;

	if (!watch->connector)
		return;
	begun = boot_ns();
	while ((r = connector_read(watch->connector, &ev)) > 0 || r == -ENOBUFS) {
		if (r > 0) {
			scope_on_event(watch->scope, &ev);
			continue;
		}
		atomic_fetch_add(&watch->lost, 1);
		watch->repair = true;
		scope_forget_births(watch->scope);
		if (watch->exits)
			exits_forget(watch->exits);
	}
	if (!watch->repair)
		watch->quiet_boot_ns = begun;
}

void watch_lock(struct watch *watch)
{
	pthread_mutex_lock(&watch->lock);
	drain(watch);
}

bool watch_is_closed(const struct watch *watch)
{
	return watch->command && (watch->connector || !atomic_load(&watch->begun));
}

void watch_unlock(struct watch *watch)
{
	pthread_mutex_unlock(&watch->lock);
}
