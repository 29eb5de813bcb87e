/* SPDX-License-Identifier: MIT */

/* overhead.h: what a request costs is seen from those that the kernel makes for one system call. */

#include "db/event.h"
#include "db/overhead.h"
#include "test.h"

#define GAP 16000

struct run {
	struct overhead *overhead;
	int64_t now;
};

static int setup(void **state)
{
	struct run *run = calloc(1, sizeof(*run));

	assert_non_null(run);
	assert_int_equal(overhead_create(&run->overhead), 0);
	run->now = 1000000;
	*state = run;
	return 0;
}

static int teardown(void **state)
{
	struct run *run = *state;

	overhead_destroy(run->overhead);
	free(run);
	return 0;
}

static void feed(struct run *run, enum op op, int32_t tid, int64_t start_ns, int64_t latency_ns)
{
	overhead_event(run->overhead, &(struct event){ .kind = EVENT_OP,
					      .op = op,
					      .tid = tid,
					      .time_ns = start_ns,
					      .u.op = { .latency_ns = latency_ns } });
}

/* Names looked up and opened by a thread that does something of its own in between. */
static void opens(struct run *run, int n, int32_t tid)
{
	for (int i = 0; i < n; i++) {
		feed(run, OP_LOOKUP, tid, run->now, 2000);
		feed(run, OP_OPEN, tid, run->now + 2000 + GAP, 4000);
		run->now += 3000000;
	}
}

static void is_about(int64_t got, int64_t wanted)
{
	if (got < wanted - wanted / 16 || got > wanted + wanted / 16)
		fail_msg("%lld, not about %lld", (long long)got, (long long)wanted);
}

static void every_request_costs_what_lies_between_two_of_one_call(void **state)
{
	struct run *run = *state;

	opens(run, 100, 7);
	is_about(overhead_so_far(run->overhead).sum, 100 * (2 * GAP + 6000));
	is_about(overhead_so_far(run->overhead).wall, 100 * (2 * GAP + 6000));
}

static void shortest_gaps_stand_for_those_of_one_call_where_there_are_none(void **state)
{
	struct run *run = *state;

	for (int i = 0; i < 200; i++) {
		feed(run, OP_READ, 7, run->now, 2000);
		run->now += 2000 + (i % 8 ? 90000 : GAP);
	}
	is_about(overhead_so_far(run->overhead).sum, 200 * (GAP + 2000));
}

static void nothing_is_said_from_a_few(void **state)
{
	struct run *run = *state;

	opens(run, 4, 7);
	assert_int_equal(overhead_so_far(run->overhead).sum, 0);
	opens(run, 100, 7);
	assert_true(overhead_so_far(run->overhead).sum > 200 * GAP);
}

static void file_system_that_is_slow_is_no_overhead(void **state)
{
	struct run *run = *state;

	opens(run, 100, 7);
	for (int i = 0; i < 100; i++)
		feed(run, OP_READ, 8, run->now += 90000000, 50000000);
	is_about(overhead_so_far(run->overhead).sum, 100 * (2 * GAP + 6000) + 100 * 2 * GAP);
}

static void what_nobody_waits_for_costs_nothing(void **state)
{
	struct run *run = *state;
	int64_t sum;

	opens(run, 100, 7);
	sum = overhead_so_far(run->overhead).sum;
	feed(run, OP_RELEASE, 7, run->now, 5000);
	feed(run, OP_WRITE, 0, run->now, 5000);
	assert_int_equal(overhead_so_far(run->overhead).sum, sum);
}

static void stops_by_ptrace_are_ways_there_and_back(void **state)
{
	struct run *run = *state;
	struct event ev = { .kind = EVENT_FORK, .u.process = { .tier = TIER_CONNECTOR } };

	opens(run, 100, 7);
	overhead_event(run->overhead, &ev);
	is_about(overhead_so_far(run->overhead).sum, 200 * GAP + 600000);
	ev.u.process.tier = TIER_PTRACE;
	for (int i = 0; i < 100; i++)
		overhead_event(run->overhead, &ev);
	is_about(overhead_so_far(run->overhead).sum, 300 * GAP + 600000);
}

static void requests_at_the_same_time_lengthen_a_run_once(void **state)
{
	struct run *run = *state;

	for (int i = 0; i < 200; i++) {
		for (int32_t tid = 1; tid <= 4; tid++)
			feed(run, OP_LOOKUP, tid, run->now, 2000);
		for (int32_t tid = 1; tid <= 4; tid++)
			feed(run, OP_OPEN, tid, run->now + 2000 + GAP, 2000);
		run->now += 3000000;
	}
	is_about(overhead_so_far(run->overhead).sum, 1600 * (GAP + 2000));
	is_about(overhead_so_far(run->overhead).wall, 400 * (GAP + 2000));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(every_request_costs_what_lies_between_two_of_one_call),
		TEST(shortest_gaps_stand_for_those_of_one_call_where_there_are_none),
		TEST(nothing_is_said_from_a_few),
		TEST(file_system_that_is_slow_is_no_overhead),
		TEST(what_nobody_waits_for_costs_nothing),
		TEST(stops_by_ptrace_are_ways_there_and_back),
		TEST(requests_at_the_same_time_lengthen_a_run_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
