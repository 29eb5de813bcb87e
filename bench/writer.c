/* SPDX-License-Identifier: MIT */

/*
 * writer [OPERATIONS] [FILE]: how many operations a second get through ring, writer and database, and
 * what that takes; nothing is mounted.  One process opens files, reads and writes 16 times each, closes
 * them: 19 operations a handle, as many as the Montage example has.
 */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "db/event.h"
#include "db/ring.h"
#include "db/store.h"
#include "db/writer.h"

#define SLOTS 65536
#define FILES 2000
#define PID 4711
#define MOVES 16

struct source {
	struct ring *ring;
	int64_t now;
	uint64_t n, handle;
};

static void push(struct source *s, struct event *ev, const char *text)
{
	ev->tid = PID;
	ev->time_ns = s->now += 20000;
	ring_push(s->ring, ev, text, text ? strlen(text) : 0);
	s->n += ev->kind == EVENT_OP;
}

static void push_op(struct source *s, enum op op, struct event_op body, const char *text)
{
	body.latency_ns = 3000 + s->n % 7000;
	push(s, &(struct event){ .kind = EVENT_OP, .op = op, .u.op = body }, text);
}

static void push_node(struct source *s, uint64_t id, uint32_t mode)
{
	push(s,
		&(struct event){ .kind = EVENT_NODE,
			.u.node = { .id = id,
				.dev = 1,
				.ino = id + 10,
				.birth_ns = 1,
				.size = 65536,
				.mode = mode,
				.nlink = 1 } },
		NULL);
}

static void begin(struct source *s)
{
	char name[32];

	push(s,
		&(struct event){
			.kind = EVENT_FORK, .u.process = { .pid = PID, .ppid = 1, .tid = PID } },
		NULL);
	push_node(s, NODE_ROOT, S_IFDIR | 0755);
	for (int i = 0; i < FILES; i++) {
		push_node(s, 2 + i, S_IFREG | 0644);
		snprintf(name, sizeof(name), "file-%04d", i);
		push_op(s, OP_LOOKUP, (struct event_op){ .node = NODE_ROOT, .other = 2 + i }, name);
	}
}

static void one_handle(struct source *s)
{
	uint64_t handle = ++s->handle, node = 2 + handle % FILES;
	enum op op = handle % 4 ? OP_READ : OP_WRITE;

	push_op(s, OP_OPEN, (struct event_op){ .node = node, .handle = handle, .flags = O_RDWR },
		NULL);
	for (int i = 0; i < MOVES; i++)
		push_op(s, op,
			(struct event_op){ .node = node,
				.handle = handle,
				.result = 4096,
				.length = 4096,
				.offset = 4096 * i },
			NULL);
	push_op(s, OP_FLUSH, (struct event_op){ .node = node, .handle = handle }, NULL);
	push_op(s, OP_RELEASE, (struct event_op){ .node = node, .handle = handle }, NULL);
}

static double seconds(struct timeval tv)
{
	return tv.tv_sec + tv.tv_usec / 1e6;
}

/* Usage of the whole program: the producer's share is some tenths of a second in ten millions. */
static void say(const struct source *s, int64_t recorded_ns, int64_t finished_ns, const char *file)
{
	struct rusage used;
	struct stat st = { 0 };

	getrusage(RUSAGE_SELF, &used);
	stat(file, &st);
	printf("%llu operations: %.2f M/s, with the end of the run %.2f M/s; CPU %.2f s; %.1f MiB; "
	       "%.1f bytes an operation\n",
		(unsigned long long)s->n, s->n * 1e3 / recorded_ns, s->n * 1e3 / finished_ns,
		seconds(used.ru_utime) + seconds(used.ru_stime), used.ru_maxrss / 1024.0,
		(double)st.st_size / s->n);
}

static int run(struct source *s, struct store *store, uint64_t wanted, const char *file)
{
	struct writer_options o = { .store = store,
		.ring = s->ring,
		.record = { .paths = { .source = "/" }, .ops = true } };
	struct writer *writer;
	int64_t start, recorded;
	int r = writer_start(&o, &writer);

	if (r < 0)
		return r;
	start = clock_now_ns();
	begin(s);
	while (s->n < wanted)
		one_handle(s);
	recorded = clock_now_ns() - start;
	r = writer_stop(writer);
	if (r == 0)
		say(s, recorded, clock_now_ns() - start, file);
	return r;
}

int main(int argc, char **argv)
{
	uint64_t wanted = argc > 1 ? strtoull(argv[1], NULL, 10) : 3000000;
	const char *file = argc > 2 ? argv[2] : "writer.db";
	struct source s = { 0 };
	struct store *store;

	if (store_create(file, true, &store) < 0 || store_begin(store) < 0 ||
		store_put_meta(store, "start_ns", V_INT(0)) < 0 || store_commit(store) < 0 ||
		ring_create(SLOTS, false, &s.ring) < 0 || run(&s, store, wanted, file) < 0) {
		fprintf(stderr, "writer: cannot record to '%s'; name another file\n", file);
		return 1;
	}
	store_destroy(store);
	ring_destroy(s.ring);
	return 0;
}
