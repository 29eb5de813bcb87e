/* SPDX-License-Identifier: MIT */
#ifndef TESTS_UNIT_MONITOR_WORLD_H
#define TESTS_UNIT_MONITOR_WORLD_H

/* A monitor with all that is around it, and what a writer would be told by it: for test_monitor.c and test_scope.c. */

#include "tests/unit/test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/vector.h"
#include "db/event.h"
#include "db/ring.h"
#include "db/text.h"
#include "procmon/connector.h"
#include "procmon/proc_snapshot.h"
#include "procmon/discover.h"
#include "procmon/monitor.h"
#include "procmon/scope.h"
#include "procmon/watch.h"

#define SECOND INT64_C(1000000000)

/* ---- what the writer would see ---- */

struct emitted {
	struct event event;
	char *text;
	size_t len;
};

struct world {
	struct ring *ring;
	struct monitor *monitor;
	struct emitted *emitted;
	size_t n;
	char pieces[1 << 20];
	struct temp fake;
};

static void take(struct world *world, const struct event *ev)
{
	struct emitted *emitted;

	if (ev->kind == EVENT_TEXT) {
		memcpy(world->pieces + ev->u.text.offset, event_piece((struct event *)ev),
			ev->text_len);
		return;
	}
	vector_push(world->emitted, world->n,
		(struct emitted){ .event = *ev, .text = malloc(ev->text_len + 1), .len = ev->text_len });
	emitted = &world->emitted[world->n - 1];
	memcpy(emitted->text,
		ev->text_len > EVENT_TEXT_INLINE ? world->pieces : ev->text,
		ev->text_len);
}

static void collect(struct world *world)
{
	struct event events[64];
	size_t n;

	while ((n = ring_drain(world->ring, events, 64)))
		for (size_t i = 0; i < n; i++)
			take(world, &events[i]);
}

/* The place of the first such event from a place on; -1. */
static int find(struct world *world, size_t from, int kind, pid_t pid, pid_t tid)
{
	collect(world);
	for (size_t i = from; i < world->n; i++) {
		const struct event *ev = &world->emitted[i].event;

		if (ev->kind == kind && ev->u.process.pid == pid && ev->u.process.tid == tid)
			return i;
	}
	return -1;
}

TEST_UNUSED static int wait_event(struct world *world, size_t from, int kind, pid_t pid, pid_t tid)
{
	for (int64_t end = clock_now_ns() + 5 * SECOND; clock_now_ns() < end; usleep(500)) {
		int i = find(world, from, kind, pid, tid);

		if (i >= 0)
			return i;
	}
	fail_msg("no event %d of %d", kind, pid);
	return -1;
}

TEST_UNUSED static int wait_for(struct world *world, size_t from, int kind, pid_t pid)
{
	return wait_event(world, from, kind, pid, pid);
}

TEST_UNUSED static int count(struct world *world, int kind, pid_t pid)
{
	int n = 0;

	for (int i = 0; (i = find(world, i, kind, pid, pid)) >= 0; i++)
		n++;
	return n;
}

TEST_UNUSED static void assert_argv(const struct world *world, int i, const char *argv, size_t size)
{
	size_t len;
	const char *found = text_part(world->emitted[i].text, world->emitted[i].len, PROCESS_ARGV, &len);

	assert_non_null(found);
	assert_int_equal(len, size);
	assert_memory_equal(found, argv, size);
}

/* ---- worlds ---- */

static struct world *new_world(void)
{
	struct world *world = calloc(1, sizeof(*world));

	assert_int_equal(ring_create(1 << 14, false, &world->ring), 0);
	return world;
}

TEST_UNUSED static int start(void **state, const struct monitor_options *options)
{
	struct monitor_options mine = *options;
	struct world *world = new_world();

	mine.ring = world->ring;
	*state = world;
	return monitor_start(&mine, &world->monitor);
}

/* A world without a monitor. */
TEST_UNUSED static int make_world(void **state)
{
	*state = new_world();
	return 0;
}

static int stop(void **state)
{
	struct world *world = *state;

	monitor_stop(world->monitor);
	for (size_t i = 0; i < world->n; i++)
		free(world->emitted[i].text);
	free(world->emitted);
	ring_destroy(world->ring);
	if (world->fake.dir[0])
		temp_take_away(&world->fake);
	free(world);
	return 0;
}

TEST_UNUSED static int start_connected(void **state)
{
	return start(state, &(struct monitor_options){ 0 });
}

TEST_UNUSED static int start_inband(void **state)
{
	return start(state, &(struct monitor_options){ .processes = MONITOR_INBAND });
}

TEST_UNUSED static struct world *connected(void **state)
{
	struct world *world = *state;

	if (strcmp(monitor_tier(world->monitor), "inband") == 0) {
		print_message("the kernel does not let us listen: %s\n",
			strerror(-monitor_source_error(MONITOR_SOURCE_CONNECTOR)));
		skip();
	}
	return world;
}

#endif
