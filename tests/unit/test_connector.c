/* SPDX-License-Identifier: MIT */

/*
 * connector: the bytes of a datagram, laid out here by the offsets of the kernel's ABI, come out
 * as events; whatever else they are, nothing is read behind their end.
 */

#include "tests/unit/test.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "procmon/connector.h"

/* struct nlmsghdr: length 0, type 4; struct cn_msg: idx 16, val 20, seq 24, ack 28, len 32;
 * struct proc_event: what 36, cpu 40, time stamp 44, data 52. */
enum { HEAD = 16, PAYLOAD = 36, DATA = 52, MESSAGE = 76 };
enum { WHAT_NONE = 0, WHAT_FORK = 1, WHAT_EXEC = 2, WHAT_UID = 4, WHAT_COMM = 0x200 };
#define WHAT_EXIT 0x80000000u

static void put32(char *message, size_t offset, uint32_t value)
{
	memcpy(message + offset, &value, sizeof(value));
}

static void put16(char *message, size_t offset, uint16_t value)
{
	memcpy(message + offset, &value, sizeof(value));
}

/* A message of the kernel's size. */
static void build(char message[MESSAGE], uint32_t what, uint64_t stamp, const uint32_t data[6])
{
	memset(message, 0, MESSAGE);
	put32(message, 0, MESSAGE);
	put16(message, 4, 3); /* NLMSG_DONE */
	put32(message, 16, 1);
	put32(message, 20, 1);
	put16(message, 32, MESSAGE - PAYLOAD);
	put32(message, 36, what);
	memcpy(message + 44, &stamp, sizeof(stamp));
	memcpy(message + DATA, data, 24);
}

static struct connector_event parse_one(const char message[MESSAGE])
{
	struct connector_event ev;
	size_t len = MESSAGE;

	assert_int_equal(connector_parse(&message, &len, &ev), 1);
	assert_int_equal(connector_parse(&message, &len, &ev) | len, 0);
	return ev;
}

static void fork_names_child_and_parent(TEST_UNUSED void **state)
{
	char message[MESSAGE];
	struct connector_event ev;

	build(message, WHAT_FORK, 123456789012345, (uint32_t[6]){ 101, 100, 205, 205 });
	ev = parse_one(message);
	assert_int_equal(ev.kind, CONNECTOR_FORK);
	assert_int_equal(ev.parent, 100);
	assert_int_equal(ev.tid, 205);
	assert_int_equal(ev.pid, 205);
	assert_int_equal(ev.time_ns, 123456789012345);
}

static void fork_of_a_thread_names_its_process(TEST_UNUSED void **state)
{
	char message[MESSAGE];
	struct connector_event ev;

	build(message, WHAT_FORK, 1, (uint32_t[6]){ 1, 1, 206, 205 });
	ev = parse_one(message);
	assert_int_equal(ev.tid, 206);
	assert_int_equal(ev.pid, 205);
}

static void exec_names_thread_and_process(TEST_UNUSED void **state)
{
	char message[MESSAGE];
	struct connector_event ev;

	build(message, WHAT_EXEC, 2, (uint32_t[6]){ 300, 301 });
	ev = parse_one(message);
	assert_int_equal(ev.kind, CONNECTOR_EXEC);
	assert_int_equal(ev.tid, 300);
	assert_int_equal(ev.pid, 301);
}

static void exit_has_the_status_of_wait(TEST_UNUSED void **state)
{
	char message[MESSAGE];
	struct connector_event ev;

	build(message, WHAT_EXIT, 3, (uint32_t[6]){ 401, 400, 0x300, 17, 1, 1 });
	ev = parse_one(message);
	assert_int_equal(ev.kind, CONNECTOR_EXIT);
	assert_int_equal(ev.tid, 401);
	assert_int_equal(ev.pid, 400);
	assert_true(WIFEXITED(ev.status));
	assert_int_equal(WEXITSTATUS(ev.status), 3);
}

static void answer_has_an_error_number(TEST_UNUSED void **state)
{
	char message[MESSAGE];
	struct connector_event ev;

	build(message, WHAT_NONE, 0, (uint32_t[6]){ EPERM });
	put32(message, 28, 4242);
	ev = parse_one(message);
	assert_int_equal(ev.kind, CONNECTOR_ACK);
	assert_int_equal(ev.status, EPERM);
	assert_int_equal(ev.parent, 4242);
}

static void several_messages_come_out_one_by_one(TEST_UNUSED void **state)
{
	char datagram[3 * MESSAGE];
	const char *at = datagram;
	size_t left = sizeof(datagram);
	struct connector_event ev;

	build(datagram, WHAT_FORK, 1, (uint32_t[6]){ 1, 1, 2, 2 });
	build(datagram + MESSAGE, WHAT_COMM, 2, (uint32_t[6]){ 2, 2 });
	build(datagram + 2 * MESSAGE, WHAT_EXIT, 3, (uint32_t[6]){ 2, 2, 9 });
	assert_int_equal(connector_parse(&at, &left, &ev), 1);
	assert_int_equal(ev.kind, CONNECTOR_FORK);
	assert_int_equal(connector_parse(&at, &left, &ev), 1);
	assert_int_equal(ev.kind, CONNECTOR_EXIT);
	assert_int_equal(ev.status, 9);
	assert_int_equal(connector_parse(&at, &left, &ev), 0);
}

static void nothing_of_interest_is_no_event(TEST_UNUSED void **state)
{
	static const struct { size_t offset; uint32_t value; } changes[] = {
		{ 16, 2 },	 /* other connectors */
		{ 20, 7 },
		{ 36, WHAT_UID }, /* other events */
		{ 36, 0x400 },
		{ 4, 2 },	  /* an error of netlink's own */
	};

	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		char message[MESSAGE];
		const char *at = message;
		size_t left = MESSAGE;
		struct connector_event ev;

		build(message, WHAT_EXEC, 1, (uint32_t[6]){ 5, 5 });
		put32(message, changes[i].offset, changes[i].value);
		assert_int_equal(connector_parse(&at, &left, &ev), 0);
	}
}

/* The last bytes before a page that is not there: to read on is to crash. */
static char *before_the_abyss(const char *bytes, size_t len)
{
	size_t page = sysconf(_SC_PAGESIZE);
	char *map = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(map != MAP_FAILED);
	assert_int_equal(mprotect(map + page, page, PROT_NONE), 0);
	return memcpy(map + page - len, bytes, len);
}

static void leave_the_abyss(char *bytes, size_t len)
{
	size_t page = sysconf(_SC_PAGESIZE);

	munmap(bytes + len - page, 2 * page);
}

static void cut_message_is_refused(TEST_UNUSED void **state)
{
	char message[MESSAGE];

	build(message, WHAT_EXIT, 1, (uint32_t[6]){ 5, 5, 0 });
	for (size_t len = 1; len < MESSAGE; len++) {
		char *cut = before_the_abyss(message, len);
		const char *at = cut;
		size_t left = len;
		struct connector_event ev;

		assert_int_equal(connector_parse(&at, &left, &ev), -EBADMSG);
		leave_the_abyss(cut, len);
	}
}

static void message_shorter_than_its_event_is_refused(TEST_UNUSED void **state)
{
	char message[MESSAGE];

	build(message, WHAT_EXIT, 1, (uint32_t[6]){ 5, 5, 0 });
	for (size_t len = HEAD; len < DATA + 16; len++) {
		char *cut = before_the_abyss(message, len);
		const char *at = cut;
		size_t left = len;
		struct connector_event ev;

		put32(cut, 0, len); /* the netlink header knows, the inner one may or may not */
		assert_int_equal(connector_parse(&at, &left, &ev), -EBADMSG);
		if (len >= PAYLOAD) {
			put16(cut, 32, len - PAYLOAD);
			at = cut;
			left = len;
			assert_int_equal(connector_parse(&at, &left, &ev), -EBADMSG);
		}
		leave_the_abyss(cut, len);
	}
}

static void any_bytes_are_survived(TEST_UNUSED void **state)
{
	uint32_t random = 1;

	for (int i = 0; i < 20000; i++) {
		char message[MESSAGE];
		char *copy;
		const char *at;
		size_t left = MESSAGE;
		struct connector_event ev;

		build(message, WHAT_FORK, i, (uint32_t[6]){ 1, 1, 2, 2 });
		for (int k = 0; k < 3; k++) {
			random = random * 1664525 + 1013904223;
			message[(random >> 16) % MESSAGE] = random >> 8;
		}
		at = copy = before_the_abyss(message, MESSAGE);
		while (connector_parse(&at, &left, &ev) > 0)
			;
		assert_true(left <= MESSAGE);
		leave_the_abyss(copy, MESSAGE);
	}
}

/* ---- the socket ---- */

static void listen_or_skip(struct connector **ret_connector)
{
	int r = connector_create(ret_connector);

	if (r < 0) {
		print_message("# the kernel does not let us listen: %s\n", strerror(-r));
		skip();
	}
}

/* Of process pid; what concerns others is passed over. */
static struct connector_event next_of(struct connector *connector, pid_t pid)
{
	struct connector_event ev;

	for (int64_t end = clock_now_ns() + INT64_C(5000000000); clock_now_ns() < end;)
		if (connector_read(connector, &ev) > 0 && ev.pid == pid)
			return ev;
	fail_msg("no event of %d", pid);
	return ev;
}

static void kernel_reports_the_life_of_a_child(TEST_UNUSED void **state)
{
	struct connector *connector;
	struct connector_event ev;
	int64_t before, after;
	pid_t pid;

	listen_or_skip(&connector);
	before = clock_now_ns();
	pid = fork();
	if (pid == 0) {
		execl("/bin/sh", "sh", "-c", "exit 5", (char *)NULL);
		_exit(127);
	}
	waitpid(pid, NULL, 0);
	after = clock_now_ns();
	ev = next_of(connector, pid);
	assert_int_equal(ev.kind, CONNECTOR_FORK);
	assert_int_equal(ev.parent, getpid());
	assert_true(before <= ev.time_ns && ev.time_ns <= after);
	assert_int_equal(next_of(connector, pid).kind, CONNECTOR_EXEC);
	ev = next_of(connector, pid);
	assert_int_equal(ev.kind, CONNECTOR_EXIT);
	assert_int_equal(ev.status, 5 << 8);
	connector_destroy(connector);
}

static void listeners_do_not_disturb_each_other(TEST_UNUSED void **state)
{
	struct connector *one, *two;
	pid_t pid;

	listen_or_skip(&one);
	assert_int_equal(connector_create(&two), 0);
	connector_destroy(two);
	pid = fork();
	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
	assert_int_equal(next_of(one, pid).kind, CONNECTOR_FORK);
	connector_destroy(one);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fork_names_child_and_parent),
		cmocka_unit_test(fork_of_a_thread_names_its_process),
		cmocka_unit_test(exec_names_thread_and_process),
		cmocka_unit_test(exit_has_the_status_of_wait),
		cmocka_unit_test(answer_has_an_error_number),
		cmocka_unit_test(several_messages_come_out_one_by_one),
		cmocka_unit_test(nothing_of_interest_is_no_event),
		cmocka_unit_test(cut_message_is_refused),
		cmocka_unit_test(message_shorter_than_its_event_is_refused),
		cmocka_unit_test(any_bytes_are_survived),
		cmocka_unit_test(kernel_reports_the_life_of_a_child),
		cmocka_unit_test(listeners_do_not_disturb_each_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
