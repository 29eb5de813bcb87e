/* SPDX-License-Identifier: MIT */

/*
 * scope: what it reports of processes whose events were lost or came late, by events and snapshots that are made here.
 */

#include "tests/unit/monitor_world.h"

static struct proc_snapshot snapshot_of(pid_t pid, uint64_t image)
{
	struct proc_snapshot snapshot = { .pid = pid, .time_ns = clock_now_ns(), .text_known = true };

	snapshot.stat = (struct procfs_stat){ .pid = pid, .ppid = 1, .state = 'S', .threads = 1,
		.start_ticks = 100, .image = image };
	return snapshot;
}

static void report(struct scope *scope, enum connector_kind kind, pid_t pid, pid_t parent)
{
	scope_on_event(scope, &(struct connector_event){ .kind = kind, .tid = pid, .pid = pid,
		.parent = parent, .time_ns = clock_now_ns() });
}

/* A scope with process 7 in it, which has no snapshot to take. */
static struct scope *scope_of_seven(struct world *world)
{
	struct scope *scope;
	struct proc_snapshot snapshot = snapshot_of(7, 1);

	assert_int_equal(scope_create(world->ring, true, NULL, &scope), 0);
	scope_discover(scope, &snapshot, 0, SCOPE_IN);
	scope_discover_thread(scope, 7, 7, 100);
	assert_int_equal(scope_next(scope)->pid, 7);
	scope_on_snapshot(scope, scope_find(scope, 7), 1, &snapshot, 0);
	assert_false(scope_has_next(scope));
	return scope;
}

static void lost_end_is_reported_without_a_status(void **state)
{
	struct world *world = *state;
	struct scope *scope = scope_of_seven(world);
	struct proc_snapshot snapshot = snapshot_of(7, 1);
	struct member *member;
	int i;

	scope_mark_all_stale(scope);
	member = scope_next(scope);
	scope_on_snapshot(scope, member, member->generation, &snapshot, -ESRCH);
	assert_true(scope_end_missing(scope, clock_now_ns()));
	assert_int_equal(find(world, 0, EVENT_EXIT, 7, 7), -1);
	assert_false(scope_end_missing(scope, clock_now_ns() + 2 * SECOND));
	i = find(world, 0, EVENT_EXIT, 7, 7);
	assert_int_equal(world->emitted[i].event.u.process.status, -1);
	assert_null(scope_find(scope, 7));
	scope_destroy(scope);
}

static void on_thread(struct scope *scope, enum connector_kind kind, pid_t tid, pid_t pid, int status)
{
	scope_on_event(scope, &(struct connector_event){ .kind = kind, .tid = tid, .pid = pid,
		.status = status, .time_ns = clock_now_ns() });
}

/* Process 7 has forked 8, which has another thread. */
static struct scope *scope_of_two_threads(struct world *world)
{
	struct scope *scope = scope_of_seven(world);

	report(scope, CONNECTOR_FORK, 8, 7);
	on_thread(scope, CONNECTOR_FORK, 81, 8, 0);
	return scope;
}

/* What /proc shows of it says nothing: its threads may not have been waited for by the tracer. */
static void end_is_that_of_the_last_reported_thread(void **state)
{
	struct world *world = *state;

	for (int first = 0; first < 2; first++) {
		struct scope *scope = scope_of_two_threads(world);
		size_t from = world->n;
		int i;

		on_thread(scope, CONNECTOR_EXIT, first ? 8 : 81, 8, 4 << 8);
		assert_non_null(scope_find(scope, 8));
		on_thread(scope, CONNECTOR_EXIT, first ? 81 : 8, 8, 5 << 8);
		assert_null(scope_find(scope, 8));
		assert_false(scope_has_next(scope));
		i = find(world, from, EVENT_EXIT, 8, 8);
		assert_true(i >= 0);
		assert_int_equal(world->emitted[i].event.u.process.status, 5 << 8);
		scope_destroy(scope);
	}
}

/* The kernel ends the others first, but tells of that when it pleases; of a first one, by the number that it has
 * then. */
static void thread_that_an_exec_ended_is_no_end_when_it_is_reported_late(void **state)
{
	struct world *world = *state;
	struct scope *scope = scope_of_two_threads(world);

	report(scope, CONNECTOR_EXEC, 8, 0);
	on_thread(scope, CONNECTOR_EXIT, 81, 8, 9);
	assert_non_null(scope_find(scope, 8));
	on_thread(scope, CONNECTOR_EXIT, 8, 8, 0);
	assert_null(scope_find(scope, 8));
	scope_destroy(scope);
}

static void exec_that_ptrace_has_reported_is_not_reported_again(void **state)
{
	struct world *world = *state;
	struct scope *scope = scope_of_seven(world);
	size_t from;
	int i;

	scope_begin(scope, 8, 7, true, 0, clock_now_ns());
	scope_on_ptrace(scope, &(struct connector_event){ .kind = CONNECTOR_EXEC, .tid = 8, .pid = 8,
		.time_ns = clock_now_ns() });
	scope_release(scope, 8, true);
	collect(world);
	from = world->n;
	report(scope, CONNECTOR_EXEC, 8, 0);
	assert_int_equal(find(world, from, EVENT_EXEC, 8, 8), -1);
	report(scope, CONNECTOR_EXEC, 8, 0);
	i = find(world, from, EVENT_EXEC, 8, 8);
	assert_true(i >= 0);
	scope_destroy(scope);
}

static void lost_exec_is_reported_as_a_new_image(void **state)
{
	struct world *world = *state;
	struct scope *scope = scope_of_seven(world);
	struct proc_snapshot snapshot = snapshot_of(7, 2);
	struct member *member;
	int first;

	first = find(world, 0, EVENT_PROCESS, 7, 7);
	scope_mark_all_stale(scope);
	for (int i = 0; i < 2; i++) {
		member = scope_next(scope);
		assert_non_null(member);
		scope_on_snapshot(scope, member, member->generation, &snapshot, 0);
	}
	first = find(world, first + 1, EVENT_PROCESS, 7, 7);
	assert_true(first > 0);
	assert_true(world->emitted[first].event.u.process.new_image);
	assert_false(scope_has_next(scope));
	scope_destroy(scope);
}

/* A scope with process 7 as an ancestor, which made 8. */
static struct scope *scope_of_a_birth(struct world *world)
{
	struct scope *scope;
	struct proc_snapshot snapshot = snapshot_of(7, 1);

	assert_int_equal(scope_create(world->ring, true, NULL, &scope), 0);
	scope_discover(scope, &snapshot, 0, SCOPE_ANCESTOR);
	report(scope, CONNECTOR_FORK, 8, 7);
	assert_int_equal(find(world, 0, EVENT_FORK, 8, 8), -1);
	return scope;
}

static void child_of_an_ancestor_is_reported_when_it_uses_the_tree(void **state)
{
	struct world *world = *state;
	struct scope *scope = scope_of_a_birth(world);
	int64_t forked = clock_now_ns();
	int i;

	scope_adopt(scope, 8);
	assert_true(scope_promote(scope, 8));
	assert_int_equal(scope_known(scope)[8], KNOWN);
	i = find(world, 0, EVENT_FORK, 8, 8);
	assert_true(i > 0);
	assert_int_equal(world->emitted[i].event.u.process.ppid, 7);
	assert_true(world->emitted[i].event.time_ns <= forked);
	/* From now on it is a member, so its forks are reported. */
	report(scope, CONNECTOR_FORK, 9, 8);
	assert_true(find(world, i, EVENT_FORK, 9, 9) > i);
	scope_destroy(scope);
}

static void assert_no_adoption(struct scope *scope)
{
	scope_adopt(scope, 8);
	assert_false(scope_promote(scope, 8));
	assert_null(scope_find(scope, 8));
	scope_destroy(scope);
}

static void child_of_an_ancestor_is_looked_at_after_exec_end_or_loss(void **state)
{
	struct scope *scope = scope_of_a_birth(*state);

	report(scope, CONNECTOR_EXEC, 8, 0);
	assert_no_adoption(scope);
	scope = scope_of_a_birth(*state);
	report(scope, CONNECTOR_EXIT, 8, 0);
	assert_no_adoption(scope);
	scope = scope_of_a_birth(*state);
	report(scope, CONNECTOR_FORK, 8, 6); /* the number belongs to the child of an unknown process now */
	assert_no_adoption(scope);
	scope = scope_of_a_birth(*state);
	report(scope, CONNECTOR_EXIT, 7, 0); /* the parent's */
	assert_no_adoption(scope);
	scope = scope_of_a_birth(*state);
	scope_forget_births(scope);
	assert_no_adoption(scope);
}

static void text_of_a_former_program_is_thrown_away(void **state)
{
	struct world *world = *state;
	struct scope *scope = scope_of_seven(world);
	struct proc_snapshot snapshot = snapshot_of(7, 2);
	struct member *member;
	uint32_t generation;

	report(scope, CONNECTOR_EXEC, 7, 0);
	member = scope_next(scope);
	generation = member->generation;
	report(scope, CONNECTOR_EXEC, 7, 0);
	scope_on_snapshot(scope, member, generation, &snapshot, 0);
	assert_int_equal(count(world, EVENT_PROCESS, 7), 1);
	assert_int_equal(scope_known(scope)[7], KNOWN_NOT);
	assert_int_equal(scope_next(scope)->pid, 7);
	scope_on_snapshot(scope, member, generation + 1, &snapshot, 0);
	assert_int_equal(count(world, EVENT_PROCESS, 7), 2);
	scope_destroy(scope);
}

static void end_waits_for_the_reading_thread(void **state)
{
	struct world *world = *state;
	struct scope *scope = scope_of_seven(world);
	struct proc_snapshot snapshot = snapshot_of(7, 2);
	struct member *member;
	int text;

	report(scope, CONNECTOR_EXEC, 7, 0);
	member = scope_next(scope);
	report(scope, CONNECTOR_EXIT, 7, 0);
	assert_int_equal(find(world, 0, EVENT_EXIT, 7, 7), -1);
	scope_on_snapshot(scope, member, member->generation, &snapshot, 0);
	text = find(world, find(world, 0, EVENT_EXEC, 7, 7), EVENT_PROCESS, 7, 7);
	assert_true(text > 0);
	assert_true(find(world, 0, EVENT_EXIT, 7, 7) > text);
	assert_null(scope_find(scope, 7));
	scope_destroy(scope);
}

static void reused_id_is_another_process(void **state)
{
	struct world *world = *state;
	struct scope *scope = scope_of_seven(world);
	struct proc_snapshot snapshot = snapshot_of(7, 2);
	struct member *member;

	report(scope, CONNECTOR_EXEC, 7, 0);
	member = scope_next(scope); /* and a thread reads, for ever */
	report(scope, CONNECTOR_FORK, 7, 3);
	assert_true(find(world, 0, EVENT_EXIT, 7, 7) > 0);
	assert_null(scope_find(scope, 7));
	assert_int_equal(scope_known(scope)[7], KNOWN_NOT);
	scope_on_snapshot(scope, member, 2, &snapshot, 0);
	assert_int_equal(count(world, EVENT_PROCESS, 7), 1);
	scope_destroy(scope);
}

static void newest_is_looked_at_first(void **state)
{
	struct world *world = *state;
	struct scope *scope = scope_of_seven(world);

	report(scope, CONNECTOR_FORK, 8, 7);
	report(scope, CONNECTOR_EXEC, 8, 0);
	report(scope, CONNECTOR_FORK, 9, 7);
	report(scope, CONNECTOR_EXEC, 9, 0);
	report(scope, CONNECTOR_FORK, 10, 7);
	report(scope, CONNECTOR_EXEC, 10, 0);
	report(scope, CONNECTOR_EXIT, 9, 0);
	assert_int_equal(scope_next(scope)->pid, 10);
	assert_int_equal(scope_next(scope)->pid, 8);
	assert_null(scope_next(scope));
	scope_destroy(scope);
}

#define SCOPE(test) cmocka_unit_test_setup_teardown(test, make_world, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCOPE(lost_end_is_reported_without_a_status),
		SCOPE(end_is_that_of_the_last_reported_thread),
		SCOPE(thread_that_an_exec_ended_is_no_end_when_it_is_reported_late),
		SCOPE(exec_that_ptrace_has_reported_is_not_reported_again),
		SCOPE(lost_exec_is_reported_as_a_new_image),
		SCOPE(text_of_a_former_program_is_thrown_away),
		SCOPE(child_of_an_ancestor_is_reported_when_it_uses_the_tree),
		SCOPE(child_of_an_ancestor_is_looked_at_after_exec_end_or_loss),
		SCOPE(end_waits_for_the_reading_thread),
		SCOPE(reused_id_is_another_process),
		SCOPE(newest_is_looked_at_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
