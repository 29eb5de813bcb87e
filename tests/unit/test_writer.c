/* SPDX-License-Identifier: MIT */

/*
 * writer.h: what was pushed before the stop is in the database.  A batch that cannot be stored
 * ends recording: what was committed stays, the rest is counted.
 */

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "db/event.h"
#include "db/ring.h"
#include "db/store.h"
#include "db/writer.h"
#include "test.h"

struct run {
	struct temp temp;
	char db[64 + 16];
	struct store *store;
	struct ring *ring;
	struct writer_options options;
	struct writer *writer;
	_Atomic int syncs;
	_Atomic int64_t until_ns;
};

static void sync_is_called(void *arg)
{
	((struct run *)arg)->syncs++;
}

static uint64_t seven(void *arg)
{
	(void)arg;
	return 7;
}

static void make_run(struct run *run, const char *dir, size_t slots, bool drop)
{
	snprintf(run->db, sizeof(run->db), "%s/trace.db", dir);
	assert_int_equal(store_create(run->db, false, &run->store), 0);
	assert_int_equal(store_begin(run->store), 0);
	assert_int_equal(store_put_meta(run->store, "start_ns", V_INT(0)), 0);
	assert_int_equal(store_put_meta(run->store, "complete", V_INT(0)), 0);
	assert_int_equal(store_commit(run->store), 0);
	assert_int_equal(ring_create(slots, drop, &run->ring), 0);
	run->options = (struct writer_options){ .store = run->store, .ring = run->ring,
		.record = { .paths = { .source = "/" }, .ops = true }, .sync = sync_is_called,
		.events_lost = seven, .waited_ns = seven, .arg = run };
}

static int setup(void **state)
{
	struct run *run = calloc(1, sizeof(*run));

	assert_non_null(run);
	temp_make(&run->temp);
	make_run(run, run->temp.dir, 65536, false);
	*state = run;
	return 0;
}

static int teardown(void **state)
{
	struct run *run = *state;

	store_destroy(run->store);
	ring_destroy(run->ring);
	temp_take_away(&run->temp);
	free(run);
	return 0;
}

static void start(struct run *run)
{
	assert_int_equal(writer_start(&run->options, &run->writer), 0);
}

static void push_root(struct run *run)
{
	const struct event ev = { .kind = EVENT_NODE, .u.node = { .id = NODE_ROOT, .dev = 1,
		.ino = 2, .birth_ns = 1, .mode = S_IFDIR | 0755, .nlink = 2 } };

	ring_push(run->ring, &ev, NULL, 0);
}

/* A lookup of a name that is not there. */
static void push_op(struct run *run, int64_t number, const char *name)
{
	const struct event ev = { .kind = EVENT_OP, .op = OP_LOOKUP, .tid = 10,
		.time_ns = number + 1, .u.op = { .node = NODE_ROOT, .result = -ENOENT } };

	ring_push(run->ring, &ev, name, strlen(name));
}

static void push_fork(struct run *run, int64_t time_ns)
{
	const struct event ev = { .kind = EVENT_FORK, .time_ns = time_ns,
		.u.process = { .pid = 10, .ppid = 1, .tid = 10 } };

	ring_push(run->ring, &ev, NULL, 0);
}

static int64_t answer(const struct run *run, const char *sql)
{
	return strtoll(sql_ask(run->db, "%s", sql), NULL, 10);
}

#define FIGURE(key) "SELECT value FROM trace WHERE key = '" key "'"

/* ---- all is well ---- */

static void everything_pushed_before_the_stop_is_there(void **state)
{
	struct run *run = *state;
	char name[32];

	start(run);
	push_root(run);
	for (int i = 0; i < 5000; i++) {
		snprintf(name, sizeof(name), "file-%d", i);
		push_op(run, i, name);
	}
	assert_int_equal(writer_stop(run->writer), 0);
	assert_int_equal(answer(run, "SELECT count(*) FROM op"), 5000);
	assert_int_equal(answer(run, FIGURE("ops_recorded")), 5000);
	assert_int_equal(answer(run, FIGURE("ops_lost")), 0);
	assert_int_equal(answer(run, FIGURE("complete")), 1);
}

static void operations_keep_their_order(void **state)
{
	struct run *run = *state;

	start(run);
	push_root(run);
	for (int i = 0; i < 1000; i++)
		push_op(run, i, "x");
	assert_int_equal(writer_stop(run->writer), 0);
	assert_int_equal(answer(run, "SELECT count(*) FROM op WHERE start_ns != id"), 0);
}

static void what_was_pushed_before_the_start_is_there_too(void **state)
{
	struct run *run = *state;

	push_root(run);
	push_op(run, 0, "early");
	start(run);
	assert_int_equal(writer_stop(run->writer), 0);
	assert_string_equal(sql_ask(run->db, "SELECT path FROM op"), "/early");
}

static void long_names_arrive_whole(void **state)
{
	struct run *run = *state;
	char name[256], path[600];

	memset(name, 'n', 255);
	name[255] = '\0';
	snprintf(path, sizeof(path), "/%s\n/short\n/%s", name, name);
	push_root(run);
	push_op(run, 0, name);
	push_op(run, 1, "short");
	push_op(run, 2, name);
	start(run);
	assert_int_equal(writer_stop(run->writer), 0);
	assert_string_equal(sql_ask(run->db, "SELECT path FROM op ORDER BY id"), path);
}

/* A call on a file of a mount, as the kernel reports it: from 'start' to 'end'. */
static void push_call(struct run *run, int64_t start, int64_t end)
{
	const struct event ev = { .kind = EVENT_OP, .op = OP_READ, .form = FORM_CALL, .tid = 10, .time_ns = start,
		.u.op = { .handle = 5, .latency_ns = end - start, .length = 1 } };

	ring_push(run->ring, &ev, NULL, 0);
}

#define MANY 40000

static int64_t seen_until(void *arg)
{
	return atomic_load(&((struct run *)arg)->until_ns);
}

static void calls_on_a_mount_are_recorded_in_the_order_of_ends(void **state)
{
	struct run *run = *state;

	run->options.seen_until = seen_until;
	run->until_ns = INT64_MAX;
	push_root(run);
	push_op(run, 99, "first"); /* at 100 */
	push_op(run, 299, "third");
	push_op(run, 499, "fifth");
	push_call(run, 50, 200);
	push_call(run, 250, 400);
	push_call(run, 450, 600);
	start(run);
	assert_int_equal(writer_stop(run->writer), 0);
	assert_string_equal(sql_ask(run->db, "SELECT start_ns FROM op ORDER BY id"), "100\n50\n300\n250\n500\n450");
}

static void what_ends_later_than_all_that_was_seen_waits(void **state)
{
	struct run *run = *state;

	run->options.seen_until = seen_until;
	run->until_ns = 400;
	push_root(run);
	push_op(run, 99, "first");
	push_op(run, 299, "third");
	push_op(run, 499, "fifth");
	start(run);
	while (answer(run, "SELECT count(*) FROM op") < 2)
		sched_yield();
	push_call(run, 350, 450);
	push_call(run, 470, 600);
	atomic_store(&run->until_ns, INT64_MAX);
	assert_int_equal(writer_stop(run->writer), 0);
	assert_string_equal(sql_ask(run->db, "SELECT start_ns FROM op ORDER BY id"), "100\n300\n350\n500\n470");
	assert_int_equal(answer(run, FIGURE("ops_lost")), 0);
}

/* More than one batch takes out of the ring at once: the request comes with the second half. */
static void call_is_not_recorded_before_a_request_that_ended_before_it(void **state)
{
	struct run *run = *state;

	run->options.seen_until = seen_until;
	run->until_ns = INT64_MAX;
	push_root(run);
	for (int i = 0; i < MANY; i++)
		push_call(run, i, i + 1);
	push_op(run, MANY + 1, "x");
	push_call(run, MANY + 3, MANY + 4);
	start(run);
	assert_int_equal(writer_stop(run->writer), 0);
	assert_int_equal(answer(run, "SELECT count(*) FROM op"), MANY + 2);
	assert_string_equal(sql_ask(run->db, "SELECT name FROM op ORDER BY id LIMIT 2 OFFSET 40000"), "lookup\nread");
}

static void process_event_that_comes_later_is_taken_in_earlier(void **state)
{
	struct run *run = *state;

	push_root(run);
	push_op(run, 100, "x");
	push_fork(run, 50);
	start(run);
	assert_int_equal(writer_stop(run->writer), 0);
	assert_string_equal(sql_ask(run->db, "SELECT process FROM op"), "1");
}

static void monitor_is_asked_before_operations_are_taken_in(void **state)
{
	struct run *run = *state;

	start(run);
	assert_int_equal(writer_stop(run->writer), 0);
	assert_true(run->syncs > 0);
	assert_int_equal(answer(run, FIGURE("process_events_lost")), 7);
	assert_true(answer(run, FIGURE("waited_ns")) >= 7);
	assert_true(answer(run, FIGURE("tracer_cpu_ns")) > 0);
}

/* More events than the ring has room for, while others push, too. */
#define OF_SYNC 300
#define SMALL_RING 64

static void *push_beside(void *arg)
{
	for (int i = 0; i < 10 * SMALL_RING; i++)
		push_op(arg, 100, "x");
	return NULL;
}

static void sync_pushes_much(void *arg)
{
	struct run *run = arg;

	if (run->syncs++ > 3)
		return;
	for (int i = 0; i < OF_SYNC; i++)
		push_op(run, 100, "y");
}

static void monitor_may_wait_for_room_in_the_ring(void **state)
{
	struct run *run = *state;
	pthread_t beside;

	ring_destroy(run->ring);
	assert_int_equal(ring_create(SMALL_RING, false, &run->ring), 0);
	run->options.ring = run->ring;
	run->options.sync = sync_pushes_much;
	start(run);
	assert_int_equal(pthread_create(&beside, NULL, push_beside, run), 0);
	pthread_join(beside, NULL);
	while (run->syncs < 5)
		usleep(1000);
	assert_int_equal(writer_stop(run->writer), 0);
	assert_int_equal(answer(run, "SELECT count(*) FROM op"), 10 * SMALL_RING + 4 * OF_SYNC);
}

static void run_without_a_monitor_is_fine(void **state)
{
	struct run *run = *state;

	run->options.sync = NULL;
	run->options.events_lost = run->options.waited_ns = NULL;
	start(run);
	assert_int_equal(writer_stop(run->writer), 0);
	assert_int_equal(answer(run, FIGURE("process_events_lost")), 0);
}

static void end_is_recorded_as_the_time_since_the_epoch(void **state)
{
	struct run *run = *state;
	int64_t before = clock_read_ns(CLOCK_REALTIME), end;

	run->options.epoch_offset_ns = clock_epoch_offset_ns();
	start(run);
	assert_int_equal(writer_stop(run->writer), 0);
	end = answer(run, FIGURE("end_ns"));
	assert_in_range(end, before - 1000000000, before + 60000000000);
}

static void run_that_was_not_stopped_is_not_complete(void **state)
{
	struct run *run = *state;

	start(run);
	assert_int_equal(answer(run, FIGURE("complete")), 0);
	assert_int_equal(writer_stop(run->writer), 0);
}

static void operations_that_a_full_ring_dropped_are_counted(void **state)
{
	struct run *run = *state;

	ring_destroy(run->ring);
	assert_int_equal(ring_create(64, true, &run->ring), 0);
	run->options.ring = run->ring;
	push_root(run);
	for (int i = 0; i < 1000; i++)
		push_op(run, i, "x");
	start(run);
	assert_int_equal(writer_stop(run->writer), 0);
	assert_true(answer(run, FIGURE("ops_lost")) > 0);
	assert_int_equal(answer(run, FIGURE("ops_lost")) + answer(run, FIGURE("ops_recorded")),
		1000);
}

/* ---- it cannot be stored ---- */

/* What must hold of a run that stopped recording, of which so many operations were pushed. */
static void expect_stopped(const struct run *run, int64_t pushed)
{
	int64_t stored = answer(run, "SELECT count(*) FROM op");

	assert_true(stored > 0 && stored < pushed);
	assert_int_equal(answer(run, FIGURE("complete")), 0);
	assert_true(answer(run, FIGURE("recording_stopped_ns")) > 0);
	assert_string_not_equal(sql_ask(run->db, FIGURE("recording_error")), "");
	assert_int_equal(answer(run, FIGURE("ops_recorded")), stored);
	assert_int_equal(answer(run, FIGURE("ops_lost")), pushed - stored);
	assert_string_equal(sql_ask(run->db, "PRAGMA integrity_check"), "ok");
}

/* One batch that is committed, then as many operations as there is no room for. */
static int64_t fill(struct run *run)
{
	int64_t n = 0;
	char name[256];

	while (n < 100000) {
		snprintf(name, sizeof(name), "%0200d", (int)n);
		push_op(run, n++, name);
	}
	return n;
}

static void first_batch(struct run *run)
{
	push_root(run);
	for (int i = 0; i < 10; i++)
		push_op(run, i, "first");
	start(run);
	while (answer(run, "SELECT count(*) FROM op") < 10)
		sched_yield();
}

static void batch_that_cannot_be_stored_ends_recording(void **state)
{
	struct run *run = *state;
	struct rlimit before, small;
	int64_t pushed;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	signal(SIGXFSZ, SIG_IGN);
	first_batch(run);
	small = before;
	small.rlim_cur = 1 << 20;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	pushed = 10 + fill(run);
	assert_true(writer_stop(run->writer) < 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	expect_stopped(run, pushed);
}

static void batch_that_cannot_be_begun_is_counted(void **state)
{
	struct run *run = *state;

	ring_destroy(run->ring);
	assert_int_equal(ring_create(64, true, &run->ring), 0);
	run->options.ring = run->ring;
	push_root(run);
	for (int i = 0; i < 100; i++)
		push_op(run, i, "x");
	assert_true(ring_lost(run->ring) > 0);
	assert_int_equal(store_begin(run->store), 0); /* there is none within another */
	start(run);
	assert_true(writer_stop(run->writer) < 0);
	assert_int_equal(answer(run, "SELECT count(*) FROM op"), 0);
	assert_int_equal(answer(run, FIGURE("ops_lost")), 100);
	assert_true(answer(run, FIGURE("recording_stopped_ns")) > 0);
}

static void full_disk_ends_recording(void **state)
{
	struct run *run = *state;
	struct run *small = calloc(1, sizeof(*small));
	const char *dir = temp_path(&run->temp, "small");
	int64_t pushed;

	assert_int_equal(mkdir(dir, 0700), 0);
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
		mount("tmpfs", dir, "tmpfs", 0, "size=2m") < 0) {
		print_message("# cannot make a small tmpfs: %s\n", strerror(errno));
		free(small);
		skip();
	}
	make_run(small, dir, 65536, false);
	first_batch(small);
	pushed = 10 + fill(small);
	assert_int_equal(writer_stop(small->writer), -ENOSPC);
	expect_stopped(small, pushed);
	store_destroy(small->store);
	ring_destroy(small->ring);
	free(small);
	umount2(dir, MNT_DETACH);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(everything_pushed_before_the_stop_is_there),
		TEST(operations_keep_their_order),
		TEST(what_was_pushed_before_the_start_is_there_too),
		TEST(long_names_arrive_whole),
		TEST(calls_on_a_mount_are_recorded_in_the_order_of_ends),
		TEST(what_ends_later_than_all_that_was_seen_waits),
		TEST(call_is_not_recorded_before_a_request_that_ended_before_it),
		TEST(process_event_that_comes_later_is_taken_in_earlier),
		TEST(monitor_is_asked_before_operations_are_taken_in),
		TEST(monitor_may_wait_for_room_in_the_ring),
		TEST(run_without_a_monitor_is_fine),
		TEST(end_is_recorded_as_the_time_since_the_epoch),
		TEST(run_that_was_not_stopped_is_not_complete),
		TEST(operations_that_a_full_ring_dropped_are_counted),
		TEST(batch_that_cannot_be_stored_ends_recording),
		TEST(batch_that_cannot_be_begun_is_counted),
		TEST(full_disk_ends_recording),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
