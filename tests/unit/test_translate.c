/* SPDX-License-Identifier: MIT */
#include "tests/unit/test.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "db/event.h"
#include "db/figures.h"
#include "db/ring.h"
#include "kernel/calls.h"
#include "kernel/translate.h"
#include "kernel/wire.h"

/* ---- records in, events out ---- */

static struct ring *ring;
static struct translate *translate;
static struct event events[256];
static size_t n_events;
static char text[16384];

static size_t keep_first(char *vars, size_t len, void *arg)
{
	(void)arg;
	return len ? strlen(vars) + 1 : 0;
}

static int begin(void **state)
{
	struct translate_options options = { .keep_environ = keep_first };

	(void)state;
	assert_int_equal(ring_create(1024, false, &ring), 0);
	options.ring = ring;
	assert_int_equal(translate_create(&options, &translate), 0);
	return 0;
}

static int end(void **state)
{
	(void)state;
	translate_destroy(translate);
	ring_destroy(ring);
	return 0;
}

static void take(const void *record, size_t size)
{
	assert_int_equal(translate_record(translate, record, size), 0);
}

/* The events since the last call; pieces of text go into text. */
static void drain(void)
{
	struct event all[256];
	size_t n = ring_drain(ring, all, 256);

	n_events = 0;
	memset(text, 0, sizeof(text));
	for (size_t i = 0; i < n; i++) {
		if (all[i].kind == EVENT_TEXT)
			memcpy(text + all[i].u.text.offset, event_piece(&all[i]), all[i].text_len);
		else
			events[n_events++] = all[i];
	}
}

static void name(uint64_t id, uint64_t parent, uint64_t ino, uint32_t mode, uint8_t flags, const char *component)
{
	struct wire_name record = { .head = { .type = WIRE_NAME, .flags = flags }, .id = id, .parent = parent,
		.ino = ino, .dev = 8 << 20 | 1, .generation = 5, .mode = mode, .nlink = 1, .len = strlen(component) };

	memcpy(record.text, component, record.len);
	take(&record, offsetof(struct wire_name, text) + record.len);
}

/* "/", "/dir" and "/dir/file" are names 1, 2, 3. */
static void tree(void)
{
	name(1, 0, 2, S_IFDIR | 0755, WIRE_TOP, "/");
	name(2, 1, 10, S_IFDIR | 0755, 0, "dir");
	name(3, 2, 11, S_IFREG | 0644, 0, "file");
}

static struct wire_path path_of(enum call call, uint64_t base, const char *first, const char *second)
{
	struct wire_path record = { .call = { .head = { .type = WIRE_PATH, .call = call, .tid = 7, .time_ns = 100 },
		.latency_ns = 9 }, .base = base };

	record.len = strlen(first) + 1;
	memcpy(record.text, first, record.len);
	if (second) {
		record.len2 = strlen(second) + 1;
		memcpy(record.text + record.len, second, record.len2);
	}
	return record;
}

static void send_path(const struct wire_path *record)
{
	take(record, offsetof(struct wire_path, text) + record->len + record->len2);
}

static struct wire_call call_of(enum call call, uint64_t handle)
{
	return (struct wire_call){ .head = { .type = WIRE_CALL, .call = call, .tid = 7, .time_ns = 200 },
		.latency_ns = 3, .handle = handle };
}

static void open_file(uint64_t handle)
{
	struct wire_path record = path_of(CALL_openat, 2, "file", NULL);

	record.call.handle = handle;
	record.call.result = 3;
	record.name = 3;
	send_path(&record);
}

/* ---- names ---- */

static void each_component_becomes_a_node_and_a_lookup_below_its_directory(void **state)
{
	(void)state;
	tree();
	drain();
	assert_int_equal(n_events, 5);
	assert_int_equal(events[0].kind, EVENT_NODE);
	assert_int_equal(events[0].u.node.id, NODE_ROOT);
	assert_int_equal(events[3].u.node.ino, 11);
	assert_int_equal(events[3].u.node.dev, 0x801);
	assert_int_equal(events[3].u.node.generation, 5);
	assert_int_equal(events[4].op, OP_LOOKUP);
	assert_true(events[4].aside);
	assert_int_equal(events[4].u.op.node, events[1].u.node.id);
	assert_int_equal(events[4].u.op.other, events[3].u.node.id);
	assert_memory_equal(events[4].text, "file", 4);
}

static void two_names_of_a_file_are_one_node(void **state)
{
	(void)state;
	tree();
	name(4, 1, 11, S_IFREG | 0644, 0, "link");
	drain();
	assert_int_equal(n_events, 6);
	assert_int_equal(events[5].u.op.other, events[3].u.node.id);
}

static void a_name_that_is_no_more_is_not_looked_up(void **state)
{
	(void)state;
	tree();
	drain();
	name(4, 2, 12, S_IFREG | 0600, WIRE_UNLINKED, "gone");
	drain();
	assert_int_equal(n_events, 1);
	assert_int_equal(events[0].kind, EVENT_NODE);
}

static void anonymous(uint64_t id, const char *what)
{
	struct wire_name record = { .head = { .type = WIRE_NAME, .flags = WIRE_APART }, .id = id, .ino = 77, .dev = 14,
		.mode = 0600, .magic = 0x09041934, .len = strlen(what) };

	memcpy(record.text, what, record.len);
	take(&record, offsetof(struct wire_name, text) + record.len);
}

static void what_shares_an_inode_is_told_apart_by_its_text(void **state)
{
	(void)state;
	anonymous(9, "[eventpoll]");
	anonymous(10, "[signalfd]");
	anonymous(11, "[eventpoll]");
	drain();
	assert_int_equal(n_events, 5);
	assert_int_equal(events[0].u.node.ino, events[2].u.node.ino);
	assert_int_not_equal(events[0].u.node.generation, events[2].u.node.generation);
	assert_int_not_equal(events[1].u.op.other, events[3].u.op.other);
	assert_int_equal(events[4].u.op.other, events[1].u.op.other);
}

static void what_has_no_path_is_named_as_proc_does(void **state)
{
	struct wire_name pipe = { .head = { .type = WIRE_NAME, .flags = WIRE_APART }, .id = 9, .ino = 123,
		.mode = S_IFIFO | 0600, .magic = 0x50495045 };
	(void)state;

	take(&pipe, offsetof(struct wire_name, text));
	drain();
	assert_int_equal(n_events, 2);
	assert_int_equal(events[1].u.op.node, 0);
	assert_memory_equal(events[1].text, "pipe:[123]", 10);
}

/* ---- calls ---- */

static void an_open_has_base_path_node_and_handle(void **state)
{
	(void)state;
	tree();
	drain();
	open_file(50);
	drain();
	assert_int_equal(n_events, 1);
	assert_int_equal(events[0].op, OP_OPEN);
	assert_int_equal(events[0].form, FORM_CALL);
	assert_int_equal(events[0].fidelity, FIDELITY_CALL);
	assert_int_equal(events[0].u.op.node, 2);
	assert_int_equal(events[0].u.op.other, 3);
	assert_int_equal(events[0].u.op.handle, 50);
	assert_int_equal(events[0].text_len, 4);
	assert_memory_equal(events[0].text, "file", 4);
}

static void an_open_that_makes_the_file_is_a_create(void **state)
{
	struct wire_path record = path_of(CALL_open, 1, "new", NULL);
	(void)state;

	tree();
	drain();
	record.call.mode = 0644;
	record.call.flags = O_CREAT | O_WRONLY;
	record.file_mode = 0x100000;
	record.name = 3;
	send_path(&record);
	drain();
	assert_int_equal(events[0].op, OP_CREATE);
	assert_int_equal(events[0].u.op.mode, 0644);
}

static void a_refused_open_has_its_error_and_no_handle(void **state)
{
	struct wire_path record = path_of(CALL_open, 1, "secret", NULL);
	(void)state;

	record.call.result = -EACCES;
	send_path(&record);
	drain();
	assert_int_equal(events[0].op, OP_OPEN);
	assert_int_equal(events[0].u.op.result, -EACCES);
	assert_int_equal(events[0].u.op.handle, 0);
	assert_int_equal(events[0].u.op.other, 0);
}

static void a_read_is_of_the_handles_node(void **state)
{
	struct wire_call record = call_of(CALL_read, 50);
	(void)state;

	tree();
	open_file(50);
	drain();
	record.offset = 4096;
	record.length = 100;
	record.result = 60;
	take(&record, sizeof(record));
	drain();
	assert_int_equal(events[0].op, OP_READ);
	assert_int_equal(events[0].u.op.node, 3);
	assert_int_equal(events[0].u.op.offset, 4096);
	assert_int_equal(events[0].u.op.length, 100);
	assert_int_equal(events[0].u.op.result, 60);
	assert_int_equal(events[0].u.op.latency_ns, 3);
	assert_int_equal(events[0].time_ns, 200);
	assert_int_equal(events[0].tid, 7);
}

static void the_last_close_ends_the_handle_and_others_do_not(void **state)
{
	struct wire_call record = call_of(CALL_close, 50);
	(void)state;

	tree();
	open_file(50);
	drain();
	take(&record, sizeof(record));
	drain();
	assert_int_equal(n_events, 1);
	record.head.flags = WIRE_LAST;
	take(&record, sizeof(record));
	drain();
	assert_int_equal(n_events, 2);
	assert_int_equal(events[0].op, OP_CLOSE);
	assert_int_equal(events[1].op, OP_RELEASE);
	assert_true(events[1].aside);
	assert_int_equal(events[1].u.op.handle, 50);
	take(&record, sizeof(record));
	drain();
	assert_int_equal(n_events, 1);
}

static void a_duplicate_says_the_new_descriptor(void **state)
{
	struct wire_call record = call_of(CALL_fcntl, 50);
	(void)state;

	record.flags = F_DUPFD_CLOEXEC;
	record.length = 10;
	record.result = 12;
	take(&record, sizeof(record));
	drain();
	assert_int_equal(events[0].op, OP_DUP);
	assert_int_equal(events[0].u.op.length, 12);
}

static void fcntl_is_a_lock_or_itself(void **state)
{
	struct wire_call record = call_of(CALL_fcntl, 50);
	(void)state;

	record.flags = F_OFD_SETLK;
	take(&record, sizeof(record));
	record.flags = F_GETFL;
	take(&record, sizeof(record));
	drain();
	assert_int_equal(events[0].op, OP_LOCK);
	assert_int_equal(events[1].op, OP_FCNTL);
	assert_int_equal(events[1].u.op.flags, F_GETFL);
}

static void locks_have_a_type_an_owner_and_a_range(void **state)
{
	static const struct {
		uint16_t call;
		uint32_t command, type, flags;
	} calls[] = {
		{ CALL_fcntl, F_SETLK, F_RDLCK, F_RDLCK | LOCK_PROCESS },
		{ CALL_fcntl, F_SETLKW, F_WRLCK, F_WRLCK | LOCK_PROCESS | LOCK_WAITS },
		{ CALL_fcntl64, 12, F_UNLCK, F_UNLCK | LOCK_PROCESS | LOCK_ASKS },
		{ CALL_fcntl, F_OFD_GETLK, F_RDLCK, F_RDLCK | LOCK_DESCRIPTION | LOCK_ASKS },
		{ CALL_fcntl, F_OFD_SETLKW, F_WRLCK, F_WRLCK | LOCK_DESCRIPTION | LOCK_WAITS },
		{ CALL_flock, LOCK_EX | LOCK_NB, 0, F_WRLCK | LOCK_FILE },
		{ CALL_flock, LOCK_SH, 0, F_RDLCK | LOCK_FILE | LOCK_WAITS },
		{ CALL_flock, LOCK_UN, 0, F_UNLCK | LOCK_FILE | LOCK_WAITS },
	};
	const int n = sizeof(calls) / sizeof(calls[0]);
	(void)state;

	for (int i = 0; i < n; i++) {
		struct wire_call record = call_of(calls[i].call, 50);

		record.flags = calls[i].command;
		record.mode = calls[i].type;
		record.offset = 7;
		record.length = 9;
		take(&record, sizeof(record));
	}
	drain();
	assert_int_equal(n_events, n);
	for (int i = 0; i < n; i++) {
		assert_int_equal(events[i].op, OP_LOCK);
		assert_int_equal(events[i].u.op.flags, calls[i].flags);
		assert_int_equal(events[i].u.op.offset, 7);
		assert_int_equal(events[i].u.op.length, 9);
	}
}

static void a_rename_has_both_paths_and_both_directories(void **state)
{
	struct wire_path record = path_of(CALL_renameat, 2, "file", "other");
	(void)state;

	tree();
	drain();
	record.base2 = 1;
	send_path(&record);
	drain();
	assert_int_equal(events[0].op, OP_RENAME);
	assert_int_equal(events[0].u.op.node, 2);
	assert_int_equal(events[0].u.op.other, 1);
	assert_int_equal(events[0].text_len, 10);
	assert_memory_equal(events[0].text, "file\0other", 10);
}

static void stat_leads_to_the_node_that_it_showed(void **state)
{
	struct wire_path record = path_of(CALL_lstat, 2, "file", NULL);
	(void)state;

	tree();
	drain();
	record.call.head.flags = WIRE_KNOWN;
	record.dev = 0x801;
	record.ino = 11;
	record.nlink = 2;
	record.call.mode = S_IFREG | 0644;
	send_path(&record);
	drain();
	assert_int_equal(n_events, 1);
	assert_int_equal(events[0].op, OP_GETATTR);
	assert_int_equal(events[0].u.op.other, 3);
	assert_int_equal(events[0].u.op.flags, EVENT_NOFOLLOW);
	assert_int_equal(events[0].u.op.length, 2);
	record.ino = 77;
	send_path(&record);
	drain();
	assert_int_equal(events[0].kind, EVENT_NODE);
	assert_int_equal(events[0].u.node.ino, 77);
	assert_int_equal(events[1].u.op.other, events[0].u.node.id);
}

static void an_inode_number_of_another_type_is_another_node(void **state)
{
	struct wire_path record = path_of(CALL_lstat, 2, "file", NULL);
	uint64_t nodes[4] = { 0 };
	(void)state;

	tree();
	record.call.head.flags = WIRE_KNOWN;
	record.dev = 0x801;
	record.ino = 77;
	for (int i = 0; i < 4; i++) {
		drain();
		record.call.mode = i % 2 ? S_IFLNK : S_IFREG;
		send_path(&record);
		drain();
		assert_int_equal(n_events, 2);
		nodes[i] = events[1].u.op.other;
		for (int j = 0; j < i; j++)
			assert_int_not_equal(nodes[i], nodes[j]);
	}
}

static void unlinkat_of_a_directory_is_rmdir(void **state)
{
	struct wire_path record = path_of(CALL_unlinkat, 1, "dir", NULL);
	(void)state;

	record.call.flags = AT_REMOVEDIR;
	send_path(&record);
	drain();
	assert_int_equal(events[0].op, OP_RMDIR);
	assert_int_equal(events[0].u.op.flags, 0);
}

static void a_transfer_is_of_the_destination_and_names_the_source(void **state)
{
	struct wire_call record = call_of(CALL_copy_file_range, 51);
	(void)state;

	record.other = 50;
	record.offset = 1000;
	record.from = 20;
	record.length = 300;
	record.result = 250;
	take(&record, sizeof(record));
	drain();
	assert_int_equal(events[0].op, OP_COPY);
	assert_int_equal(events[0].via, VIA_COPY);
	assert_int_equal(events[0].u.op.handle, 51);
	assert_int_equal(events[0].u.op.other, 50);
	assert_int_equal(events[0].u.op.offset, 1000);
}

static void asynchronous_io_waits_for_its_result(void **state)
{
	struct wire_call record = call_of(CALL_pread64, 50);
	struct wire_reaped reaped = { .head = { .type = WIRE_REAPED, .tid = 8, .time_ns = 950 }, .pid = 7, .key = 0x1000,
		.result = 44 };
	(void)state;

	record.head.type = WIRE_PENDING;
	record.result = 0x1000;
	record.other = 7;
	record.length = 64;
	take(&record, sizeof(record));
	drain();
	assert_int_equal(n_events, 0);
	reaped.pid = 9; /* the same address in another process */
	take(&reaped, sizeof(reaped));
	reaped.pid = 7;
	take(&reaped, sizeof(reaped));
	drain();
	assert_int_equal(n_events, 1);
	assert_int_equal(events[0].u.op.result, 44);
	assert_int_equal(events[0].u.op.latency_ns, 750);
	assert_int_equal(events[0].u.op.other, 0);
}

static void asynchronous_io_without_a_result_is_reported_at_the_end(void **state)
{
	struct wire_call record = call_of(CALL_pwrite64, 50);
	(void)state;

	record.head.type = WIRE_PENDING;
	take(&record, sizeof(record));
	translate_end(translate);
	drain();
	assert_int_equal(n_events, 1);
	assert_int_equal(events[0].u.op.result, -EINPROGRESS);
}

static void silent_io_without_a_result_has_succeeded(void **state)
{
	struct wire_call write = call_of(CALL_pwrite64, 50), end = call_of(CALL_close, 50);
	struct wire_path made = path_of(CALL_mkdirat, 1, "made", NULL);
	(void)state;

	tree();
	open_file(50);
	drain();
	write.head.type = end.head.type = WIRE_PENDING;
	write.head.flags = WIRE_SILENT;
	write.length = 700;
	take(&write, sizeof(write));
	write.length = 800;
	take(&write, sizeof(write)); /* the same key: the first one is over */
	drain();
	assert_int_equal(n_events, 1);
	assert_int_equal(events[0].u.op.result, 700);
	made.call.head.flags = WIRE_URING | WIRE_SILENT;
	made.call.result = 1;
	send_path(&made);
	end.head.flags = WIRE_SILENT | WIRE_LAST;
	end.result = 2;
	take(&end, sizeof(end));
	translate_end(translate);
	drain();
	assert_int_equal(n_events, 4);
	assert_int_equal(events[0].u.op.result, 800);
	assert_int_equal(events[1].op, OP_MKDIR);
	assert_int_equal(events[1].u.op.result, 0);
	assert_int_equal(events[2].op, OP_CLOSE);
	assert_int_equal(events[3].op, OP_RELEASE);
}

static void an_open_whose_description_is_gone_has_a_handle_of_its_own(void **state)
{
	struct wire_path record = path_of(CALL_open, 1, "file", NULL);
	uint64_t handle;
	(void)state;

	tree();
	drain();
	record.call.result = 5;
	send_path(&record);
	send_path(&record);
	drain();
	assert_int_equal(n_events, 4);
	handle = events[0].u.op.handle;
	assert_int_not_equal(handle, 0);
	assert_int_equal(events[1].op, OP_RELEASE);
	assert_int_equal(events[1].u.op.handle, handle);
	assert_int_not_equal(events[2].u.op.handle, handle);
}

/* ---- processes ---- */

static void send_fork(int32_t tid, int32_t pid, int32_t parent)
{
	struct wire_fork record = { .head = { .type = WIRE_FORK, .tid = tid, .time_ns = 10 }, .pid = pid,
		.parent = parent };

	take(&record, sizeof(record));
}

static void send_end(enum wire_type type, int32_t tid, int32_t pid, bool last, uint64_t run_ns)
{
	struct wire_exit record = { .head = { .type = type, .tid = tid, .time_ns = 90 }, .pid = pid, .status = 0x100,
		.process_status = 0x200, .last = last,
		.figures = { .run_ns = run_ns, .utime_ns = 3000, .stime_ns = 1000 } };

	take(&record, sizeof(record));
}

static void send_exit(int32_t tid, int32_t pid, bool last, uint64_t run_ns)
{
	send_end(WIRE_EXIT, tid, pid, last, run_ns - 1);
	send_end(WIRE_DEAD, tid, pid, last, run_ns);
}

static void forks_are_processes_or_threads(void **state)
{
	(void)state;
	send_fork(20, 20, 7);
	send_fork(21, 20, 20);
	drain();
	assert_int_equal(events[0].kind, EVENT_FORK);
	assert_int_equal(events[0].u.process.ppid, 7);
	assert_int_equal(events[0].u.process.tier, TIER_KERNEL);
	assert_int_equal(events[1].kind, EVENT_THREAD);
	assert_int_equal(events[1].u.process.pid, 20);
	assert_int_equal(events[1].u.process.tid, 21);
}

static void a_process_ends_with_its_last_thread(void **state)
{
	(void)state;
	send_fork(20, 20, 7);
	send_fork(21, 20, 20);
	drain();
	send_exit(20, 20, false, 100);
	drain();
	assert_int_equal(n_events, 1);
	assert_int_equal(events[0].kind, EVENT_FIGURES);
	send_exit(21, 20, true, 100);
	drain();
	assert_int_equal(n_events, 3);
	assert_int_equal(events[1].kind, EVENT_EXIT);
	assert_int_equal(events[1].u.process.tid, 21);
	assert_int_equal(events[1].u.process.status, 0x100);
	assert_int_equal(events[2].u.process.tid, 20);
	assert_int_equal(events[2].u.process.status, 0x200);
}

static void the_ends_of_threads_come_before_that_of_their_process(void **state)
{
	(void)state;
	send_fork(20, 20, 7);
	send_fork(21, 20, 20);
	drain();
	send_end(WIRE_EXIT, 21, 20, false, 5);
	drain();
	assert_int_equal(n_events, 0);
	send_exit(20, 20, true, 100);
	drain();
	assert_int_equal(n_events, 4);
	assert_int_equal(events[1].kind, EVENT_EXIT);
	assert_int_equal(events[1].u.process.tid, 21);
	assert_int_equal(events[3].u.process.tid, 20);
}

static void send_sample(int32_t pid, int64_t rss_pages, int64_t run_ns)
{
	struct wire_sample record = { .head = { .type = WIRE_SAMPLE, .tid = pid, .time_ns = 50 }, .rss_pages = rss_pages,
		.run_ns = run_ns };

	take(&record, sizeof(record));
}

static void samples_are_of_living_processes(void **state)
{
	(void)state;
	send_fork(20, 20, 7);
	drain();
	send_sample(20, 3, 400);
	send_sample(21, 3, 400); /* not known */
	drain();
	assert_int_equal(n_events, 1);
	assert_int_equal(events[0].kind, EVENT_SAMPLE);
	assert_int_equal(events[0].time_ns, 50);
	assert_int_equal(events[0].u.sample.pid, 20);
	assert_int_equal(events[0].u.sample.rss_bytes, 3 * sysconf(_SC_PAGESIZE));
	assert_int_equal(events[0].u.sample.cpu_ns, 400);
	send_exit(20, 20, true, 500);
	drain();
	send_sample(20, 3, 400);
	drain();
	assert_int_equal(n_events, 0);
}

static void what_a_sample_does_not_know_stays_unknown(void **state)
{
	(void)state;
	send_fork(20, 20, 7);
	drain();
	send_sample(20, -1, -1);
	drain();
	assert_int_equal(events[0].u.sample.rss_bytes, -1);
	assert_int_equal(events[0].u.sample.cpu_ns, -1);
}

static void an_end_without_last_figures_is_reported_at_the_end(void **state)
{
	(void)state;
	send_fork(20, 20, 7);
	drain();
	send_end(WIRE_EXIT, 20, 20, true, 5);
	translate_end(translate);
	drain();
	assert_int_equal(n_events, 2);
	assert_int_equal(events[1].kind, EVENT_EXIT);
}

static void ticks_divide_the_exact_time(void **state)
{
	struct figures figures;
	(void)state;

	send_exit(20, 20, true, 800);
	drain();
	memcpy(&figures, text, sizeof(figures));
	assert_int_equal(figures.value[FIGURE_CPU], 800);
	assert_int_equal(figures.value[FIGURE_UTIME], 600);
	assert_int_equal(figures.value[FIGURE_STIME], 200);
	assert_false(figures_has(&figures, FIGURE_VMPEAK));
}

static void send_text(enum wire_text_part part, uint32_t offset, const char *bytes, uint32_t len)
{
	struct wire_text record = { .head = { .type = WIRE_TEXT, .call = part, .tid = 20 }, .len = len,
		.offset = offset };

	memcpy(record.text, bytes, len);
	take(&record, offsetof(struct wire_text, text) + len);
}

static void send_exec(uint32_t argv_len, uint32_t environ_len)
{
	struct wire_exec record = { .head = { .type = WIRE_EXEC, .tid = 20, .time_ns = 40 }, .pid = 20, .old_tid = 20,
		.exe = 3, .cwd = 2, .handles = 90, .argv_len = argv_len, .environ_len = environ_len, .comm = "file" };

	take(&record, offsetof(struct wire_exec, text));
}

/* The part of the text of the newest EXEC; its length, or UINT32_MAX. */
static uint32_t part(enum process_part which, const char **ret_bytes)
{
	const char *at = text;
	uint32_t len;

	for (int i = 0;; i++) {
		memcpy(&len, at, sizeof(len));
		*ret_bytes = at + sizeof(len);
		if (i == (int)which)
			return len;
		at += sizeof(len) + (len == PROCESS_PART_UNKNOWN ? 0 : len);
	}
}

static void an_exec_has_its_texts_in_order(void **state)
{
	(void)state;

	tree();
	drain();
	send_text(WIRE_ARGV, 0, "file\0-", 6);
	send_text(WIRE_ARGV, 6, "x", 2);
	send_text(WIRE_ENVIRON, 0, "A=1\0SECRET=2", 13);
	send_exec(8, 13);
	drain();
	assert_int_equal(events[0].op, OP_OPEN);
	assert_int_equal(events[0].u.op.flags, FMODE_EXEC);
	assert_int_equal(events[1].op, OP_RELEASE);
	assert_int_equal(events[2].kind, EVENT_EXEC);
	assert_true(events[2].u.process.known);
	assert_int_equal(events[3].kind, EVENT_BEFORE);
}

static void the_texts_of_an_exec_are_whole_or_unknown(void **state)
{
	struct event pieces[64];
	const char *bytes;
	(void)state;

	tree();
	drain();
	send_text(WIRE_ARGV, 0, "file\0-", 6);
	send_text(WIRE_ENVIRON, 0, "A=1\0SECRET=2", 13);
	send_exec(8, 13); /* a piece was dropped */
	memset(text, 0, sizeof(text));
	for (size_t i = 0, n = ring_drain(ring, pieces, 64); i < n && pieces[i].kind != EVENT_EXEC; i++)
		if (pieces[i].kind == EVENT_TEXT)
			memcpy(text + pieces[i].u.text.offset, event_piece(&pieces[i]), pieces[i].text_len);
	assert_int_equal(part(PROCESS_EXE, &bytes), 9);
	assert_memory_equal(bytes, "/dir/file", 9);
	assert_int_equal(part(PROCESS_CWD, &bytes), 4);
	assert_int_equal(part(PROCESS_ARGV, &bytes), PROCESS_PART_UNKNOWN);
	assert_int_equal(part(PROCESS_ENVIRON, &bytes), 4);
	assert_memory_equal(bytes, "A=1", 4);
	assert_int_equal(part(PROCESS_STDIN, &bytes), PROCESS_PART_UNKNOWN);
}

static void send_expire(uint64_t handle)
{
	struct wire_handle record = { .head = { .type = WIRE_EXPIRE, .tid = 20 }, .handle = handle };

	take(&record, sizeof(record));
}

static void close_on_exec_counts_if_the_exec_succeeds(void **state)
{
	struct wire_path failed = path_of(CALL_execve, 1, "absent", NULL);
	(void)state;

	tree();
	open_file(50);
	drain();
	send_expire(50);
	failed.call.head.tid = 20;
	failed.call.result = -ENOENT;
	send_path(&failed);
	send_exec(0, 0);
	drain();
	assert_int_equal(events[0].op, OP_OPEN);
	assert_int_equal(events[0].u.op.flags, FMODE_EXEC);
	assert_int_equal(events[0].u.op.result, -ENOENT);
	for (size_t i = 0; i < n_events; i++)
		assert_int_not_equal(events[i].kind == EVENT_OP && events[i].u.op.handle == 50, 1);
	send_expire(50);
	send_exec(0, 0);
	drain();
	assert_int_equal(events[0].op, OP_RELEASE);
	assert_int_equal(events[0].u.op.handle, 50);
}

/* ---- bytes that are no records ---- */

static void short_and_unknown_records_are_refused_and_counted(void **state)
{
	struct wire_head head = { .type = WIRE_CALL };
	struct wire_path path = path_of(CALL_open, 1, "long", NULL);
	struct wire_call call = call_of(CALL_MAX, 0);
	(void)state;

	assert_int_equal(translate_record(translate, &head, 3), -EBADMSG);
	assert_int_equal(translate_record(translate, &head, sizeof(head)), -EBADMSG);
	head.type = WIRE_MAX;
	assert_int_equal(translate_record(translate, &head, sizeof(head)), -EBADMSG);
	assert_int_equal(translate_record(translate, &path, offsetof(struct wire_path, text) + 2), -EBADMSG);
	assert_int_equal(translate_record(translate, &call, sizeof(call)), -EBADMSG);
	assert_int_equal(translate_failed(translate), 5);
}

/* ---- a mount ---- */

static int begin_mount(void **state)
{
	(void)state;
	assert_int_equal(ring_create(1024, false, &ring), 0);
	return translate_create(&(struct translate_options){ .ring = ring, .is_of_mount = true }, &translate);
}

static void a_call_of_a_mount_has_the_mounts_handle(void **state)
{
	struct wire_call record = call_of(CALL_pread64, 77);
	(void)state;

	record.offset = 5;
	record.length = record.result = 6;
	take(&record, sizeof(record));
	drain();
	assert_int_equal(n_events, 1);
	assert_int_equal(events[0].op, OP_READ);
	assert_int_equal(events[0].form, FORM_CALL);
	assert_int_equal(events[0].u.op.handle, 77);
	assert_int_equal(events[0].u.op.offset, 5);
}

static void the_end_of_a_mapping_has_its_node(void **state)
{
	struct wire_call record = call_of(CALL_munmap, 77);
	(void)state;

	record.other = 12;
	take(&record, sizeof(record));
	drain();
	assert_int_equal(n_events, 1);
	assert_int_equal(events[0].u.op.handle, 77);
	assert_int_equal(events[0].u.op.node, 12);
	assert_int_equal(events[0].u.op.other, 0);
}

static void a_transfer_out_of_the_mount_has_the_offset_of_the_read(void **state)
{
	struct wire_call record = call_of(CALL_sendfile, 0);
	(void)state;

	record.other = 77;
	record.offset = 1000;
	record.from = 20;
	take(&record, sizeof(record));
	record.handle = 78;
	take(&record, sizeof(record));
	drain();
	assert_int_equal(n_events, 2);
	assert_int_equal(events[0].u.op.other, 77);
	assert_int_equal(events[0].u.op.offset, 20);
	assert_int_equal(events[1].u.op.offset, 1000);
}

static void locks_are_left_to_the_mount(void **state)
{
	struct wire_call record = call_of(CALL_fcntl, 77);
	(void)state;

	record.flags = F_SETLK;
	take(&record, sizeof(record));
	record.flags = F_GETFL;
	take(&record, sizeof(record));
	drain();
	assert_int_equal(n_events, 1);
	assert_int_equal(events[0].op, OP_FCNTL);
}

/* ---- the table ---- */

/* ---- sockets ---- */

static struct wire_socket socket_of(uint64_t handle, uint16_t family, uint16_t kind)
{
	return (struct wire_socket){ .head = { .type = WIRE_SOCKET, .time_ns = 400 }, .handle = handle, .dev = 8 << 20 | 1,
		.family = family, .kind = kind };
}

/* Names 5, 6 ... are sockets with the handles 5, 6 ... and the inodes 105, 106 ... */
static void open_socket(uint64_t id)
{
	struct wire_handle record = { .head = { .type = WIRE_HANDLE, .tid = 7 }, .handle = id, .name = id };

	name(id, 0, 100 + id, S_IFSOCK | 0777, WIRE_APART, "");
	take(&record, sizeof(record));
}

static void expect_ends(const char *local, const char *remote)
{
	drain();
	assert_int_equal(n_events, 1);
	assert_int_equal(events[0].kind, EVENT_SOCKET);
	assert_string_equal(events[0].text_len > EVENT_TEXT_INLINE ? text : events[0].text, local);
	assert_string_equal((events[0].text_len > EVENT_TEXT_INLINE ? text : events[0].text) + strlen(local) + 1, remote);
}

static void internet_sockets_have_two_addresses(void **state)
{
	struct wire_socket v4 = socket_of(5, AF_INET, SOCK_STREAM), v6 = socket_of(5, AF_INET6, SOCK_STREAM);
	static const uint8_t mapped[16] = { [10] = 0xff, [11] = 0xff, [12] = 10, [15] = 7 };

	(void)state;
	open_socket(5);
	drain();
	memcpy(v4.local, (uint8_t[]){ 127, 0, 0, 1 }, 4);
	v4.local_port = 80;
	take(&v4, sizeof(v4));
	expect_ends("127.0.0.1:80", "");
	take(&v4, sizeof(v4)); /* nothing new */
	drain();
	assert_int_equal(n_events, 0);
	memcpy(v4.remote, (uint8_t[]){ 10, 1, 2, 3 }, 4);
	v4.remote_port = 65535;
	take(&v4, sizeof(v4));
	expect_ends("127.0.0.1:80", "10.1.2.3:65535");
	v6.local[15] = 1;
	v6.local_port = 7;
	memcpy(v6.remote, mapped, sizeof(mapped));
	v6.remote_port = 8;
	take(&v6, sizeof(v6));
	expect_ends("[::1]:7", "10.0.0.7:8");
}

static void unix_sockets_have_a_peer_and_the_path_of_the_call(void **state)
{
	struct wire_socket record = socket_of(6, AF_UNIX, SOCK_STREAM);
	struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = "/run/x" };

	(void)state;
	open_socket(5);
	open_socket(6);
	drain();
	record.peer_ino = 105;
	take(&record, sizeof(record));
	drain();
	assert_int_equal(n_events, 1);
	assert_int_not_equal(events[0].u.socket.peer, 0);
	assert_int_not_equal(events[0].u.socket.peer, events[0].u.socket.node);
	memcpy(record.address, &address, sizeof(address));
	record.length = sizeof(address);
	record.head.call = CALL_connect;
	take(&record, sizeof(record));
	expect_ends("", "/run/x");
	record.head.call = CALL_bind;
	take(&record, sizeof(record));
	expect_ends("/run/x", "");
	memcpy(record.address + offsetof(struct sockaddr_un, sun_path), "\0abc", 4);
	record.length = offsetof(struct sockaddr_un, sun_path) + 4;
	take(&record, sizeof(record));
	expect_ends("@abc", "");
}

static void a_datagram_has_the_address_of_the_call(void **state)
{
	struct wire_socket record = socket_of(5, AF_INET, SOCK_DGRAM);
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(53), .sin_addr.s_addr = htonl(0x7f000001) };

	(void)state;
	open_socket(5);
	drain();
	record.local_port = 9;
	memcpy(record.address, &address, sizeof(address));
	record.length = WIRE_ADDRESS_MOST;
	record.head.call = CALL_sendto;
	take(&record, sizeof(record));
	expect_ends("0.0.0.0:9", "127.0.0.1:53");
	record.length = WIRE_ADDRESS_MOST + 1;
	assert_int_equal(translate_record(translate, &record, sizeof(record)), -EBADMSG);
	record.length = 0;
	record.handle = 99; /* not known */
	take(&record, sizeof(record));
	drain();
	assert_int_equal(n_events, 0);
}

static void each_number_means_one_call(void **state)
{
	int native[CALL_NUMBERS + 1] = { 0 }, compat[CALL_NUMBERS + 1] = { 0 }, lines = 0;
	(void)state;

#define NUMBER(n) ((n) == CALL_NO ? CALL_NUMBERS : (n))
#define X(name_, x86_64, i386, ...)    \
	native[NUMBER(x86_64)]++;      \
	compat[NUMBER(i386)]++;        \
	lines++;
	CALLS(X, CALL_NO)
#undef X
	for (int i = 0; i < CALL_NUMBERS; i++) {
		assert_true(native[i] <= 1);
		assert_true(compat[i] <= 1);
	}
	assert_true(lines > 100);
	print_message("# %d calls\n", lines);
}

#define test(name) cmocka_unit_test_setup_teardown(name, begin, end)
#define mount_test(name) cmocka_unit_test_setup_teardown(name, begin_mount, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test(each_component_becomes_a_node_and_a_lookup_below_its_directory),
		test(two_names_of_a_file_are_one_node),
		test(what_shares_an_inode_is_told_apart_by_its_text),
		test(a_name_that_is_no_more_is_not_looked_up),
		test(what_has_no_path_is_named_as_proc_does),
		test(an_open_has_base_path_node_and_handle),
		test(an_open_that_makes_the_file_is_a_create),
		test(a_refused_open_has_its_error_and_no_handle),
		test(a_read_is_of_the_handles_node),
		test(the_last_close_ends_the_handle_and_others_do_not),
		test(a_duplicate_says_the_new_descriptor),
		test(fcntl_is_a_lock_or_itself),
		test(locks_have_a_type_an_owner_and_a_range),
		test(a_rename_has_both_paths_and_both_directories),
		test(stat_leads_to_the_node_that_it_showed),
		test(an_inode_number_of_another_type_is_another_node),
		test(unlinkat_of_a_directory_is_rmdir),
		test(a_transfer_is_of_the_destination_and_names_the_source),
		test(asynchronous_io_waits_for_its_result),
		test(asynchronous_io_without_a_result_is_reported_at_the_end),
		test(silent_io_without_a_result_has_succeeded),
		test(an_open_whose_description_is_gone_has_a_handle_of_its_own),
		test(forks_are_processes_or_threads),
		test(a_process_ends_with_its_last_thread),
		test(the_ends_of_threads_come_before_that_of_their_process),
		test(samples_are_of_living_processes),
		test(what_a_sample_does_not_know_stays_unknown),
		test(an_end_without_last_figures_is_reported_at_the_end),
		test(ticks_divide_the_exact_time),
		test(an_exec_has_its_texts_in_order),
		test(the_texts_of_an_exec_are_whole_or_unknown),
		test(close_on_exec_counts_if_the_exec_succeeds),
		test(short_and_unknown_records_are_refused_and_counted),
		mount_test(a_call_of_a_mount_has_the_mounts_handle),
		mount_test(the_end_of_a_mapping_has_its_node),
		mount_test(a_transfer_out_of_the_mount_has_the_offset_of_the_read),
		mount_test(locks_are_left_to_the_mount),
		test(internet_sockets_have_two_addresses),
		test(unix_sockets_have_a_peer_and_the_path_of_the_call),
		test(a_datagram_has_the_address_of_the_call),
		test(each_number_means_one_call),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
