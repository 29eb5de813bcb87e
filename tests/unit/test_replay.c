/* SPDX-License-Identifier: MIT */

/* replay.h: makespans of workflows that are small enough to be worked out by hand.  Times are in ms. */

#include "test.h"

#include <string.h>

#include "workflows.h"

#include "dag/replay/replay.h"

/* ---- what must hold of each ---- */

static void expect_path(const struct replay *r)
{
	for (int32_t i = 0; i < r->n_path; i++) {
		const struct replay_step *step = &r->steps[r->path[i]];

		assert_int_equal(step->after, i ? r->path[i - 1] : REPLAY_NONE);
		assert_true(step->begin_ns <= step->end_ns && step->end_ns <= r->makespan_ns);
		if (i)
			assert_true(r->steps[r->path[i - 1]].end_ns <= step->begin_ns + 1);
	}
	if (r->n_path)
		assert_int_equal(r->steps[r->path[r->n_path - 1]].end_ns, r->makespan_ns);
}

static struct replay *run_with(const struct workflow *w, const struct replay_options *o)
{
	struct replay *r;

	assert_int_equal(replay_run(w, o, &r), 0);
	expect_path(r);
	return r;
}

static struct replay *run(struct workflow *w, double cores, int jobs)
{
	if (!w->graph->n_nodes)
		assert_int_equal(graph_build(w->graph, false), 0);
	return run_with(w, &(struct replay_options){ .cores = cores, .jobs = jobs });
}

static void expect(struct workflow *w, double cores, int jobs, double makespan)
{
	struct replay *r = run(w, cores, jobs);

	assert_float_equal((double)r->makespan_ns, makespan * MS, 2);
	replay_destroy(r);
}

static void expect_faster(struct workflow *w, const char *glob, double factor, double makespan)
{
	const struct replay_faster faster = { glob, factor };
	struct replay *r;

	if (!w->graph->n_nodes)
		assert_int_equal(graph_build(w->graph, false), 0);
	r = run_with(w, &(struct replay_options){ .faster = &faster, .n_faster = 1 });
	assert_float_equal((double)r->makespan_ns, makespan * MS, 2);
	replay_destroy(r);
}

/* ---- order ---- */

static void nothing_takes_no_time(void **state)
{
	struct workflow *w = begin(2);

	(void)state;
	expect(w, 0, 0, 0);
	end(w);
}

static void chain_takes_as_long_as_in_the_trace(void **state)
{
	struct workflow *w = begin(2);
	int32_t sh = process(w, REPLAY_NONE, "sh", 5, 105);
	struct replay *r;

	(void)state;
	process(w, sh, "a", 15, 45);
	process(w, sh, "b", 55, 95);
	r = run(w, 0, 0);
	assert_int_equal(r->measured_ns, 100 * MS);
	assert_int_equal(r->makespan_ns, 100 * MS);
	assert_int_equal(r->processes[2].begin_ns, 50 * MS);
	assert_int_equal(r->processes[2].end_ns, 90 * MS);
	assert_int_equal(r->processes[sh].cpu_ns, 30 * MS);
	replay_destroy(r);
	end(w);
}

static void shell_goes_on_when_its_child_has_ended_whatever_jobs_there_may_be(void **state)
{
	struct workflow *w = begin(4);
	int32_t sh = process(w, REPLAY_NONE, "sh", 0, 30);

	(void)state;
	process(w, sh, "a", 0, 10);
	process(w, sh, "b", 10, 30);
	expect(w, 8, 8, 30);
	end(w);
}

static void programs_of_a_pipe_go_on_together(void **state)
{
	struct workflow *w = begin(2);
	int32_t sh = process(w, REPLAY_NONE, "sh", 0, 10), a = process(w, sh, "a", 0, 10),
		b = process(w, sh, "b", 0, 10);

	(void)state;
	used(sh, 0, 0);
	used(a, 5, 0);
	used(b, 5, 0);
	expect(w, 0, 0, 10);
	expect_faster(w, "a", 2, 10);
	end(w);
}

/* As by popen(): the end of the output is not that of the process. */
static void parent_that_waits_for_what_a_child_does_waits_until_it_has_come_so_far(void **state)
{
	struct workflow *w = begin(2);
	int32_t sh = process(w, REPLAY_NONE, "sh", 0, 120);

	(void)state;
	process(w, sh, "a", 0, 100);
	process(w, sh, "b", 80, 120);
	expect(w, 0, 0, 120);
	expect_faster(w, "a", 2, 80);
	expect_faster(w, "b", 2, 100);
	end(w);
}

static void parent_that_ends_before_its_child_waits_for_what_that_does_but_not_for_its_end(void **state)
{
	struct workflow *w = begin(2);
	int32_t sh = process(w, REPLAY_NONE, "sh", 0, 60), a = process(w, sh, "a", 0, 50);

	(void)state;
	process(w, a, "b", 10, 100);
	process(w, sh, "c", 55, 60);
	expect(w, 0, 0, 100);
	expect_faster(w, "b", 10, 24); /* 10, 4 of b, 5, c */
	end(w);
}

static void what_had_not_ended_ends_with_the_trace(void **state)
{
	struct workflow *w = begin(2);
	int32_t sh = process(w, REPLAY_NONE, "sh", 0, -1);

	(void)state;
	process(w, sh, "a", 0, 10);
	process(w, sh, "b", 10, -1);
	w->end_ns = 40 * MS;
	expect(w, 0, 0, 40);
	expect_faster(w, "b", 2, 25);
	end(w);
}

/* ---- drivers ---- */

static void driver_starts_as_many_as_it_has_slots(void **state)
{
	struct workflow *w = begin(4);
	int32_t make = process(w, REPLAY_NONE, "make", 0, 40);
	struct replay *r;

	(void)state;
	for (int i = 0; i < 4; i++)
		process(w, make, "cc", 10 * i, 10 * i + 10);
	expect(w, 4, 0, 40);
	expect(w, 4, 2, 20);
	expect(w, 4, 3, 20);
	expect(w, 4, 4, 10);
	expect(w, 4, 100, 10);
	r = run(w, 4, 2);
	assert_int_equal(r->processes[make].slots, 2);
	assert_int_equal(r->steps[r->path[r->n_path - 1]].cause, REPLAY_FORK);
	assert_int_equal(r->steps[r->path[r->n_path - 2]].cause, REPLAY_SLOT);
	replay_destroy(r);
	end(w);
}

static void slots_are_as_many_as_children_were_at_once(void **state)
{
	struct workflow *w = begin(4);
	int32_t make = process(w, REPLAY_NONE, "make", 0, 20);

	(void)state;
	for (int i = 0; i < 4; i++)
		process(w, make, "cc", i < 2 ? 0 : 10, i < 2 ? 10 : 20);
	expect(w, 0, 0, 20);
	expect(w, 0, 1, 40);
	end(w);
}

static void work_of_a_driver_before_between_and_behind_its_children_remains(void **state)
{
	struct workflow *w = begin(4);
	int32_t make = process(w, REPLAY_NONE, "make", 0, 50);

	(void)state;
	process(w, make, "cc", 10, 20);
	process(w, make, "cc", 25, 35);
	used(make, 30, 0);
	expect(w, 4, 1, 50);
	expect(w, 4, 2, 40); /* 10, 5 | 10 from 15 on, 15 */
	end(w);
}

static void child_waits_for_the_data_that_any_below_it_reads(void **state)
{
	struct workflow *w = begin(4);
	int32_t make = process(w, REPLAY_NONE, "make", 0, 35), a = process(w, make, "a", 0, 10),
		sh = process(w, make, "sh", 10, 30), b = process(w, sh, "b", 10, 30), x = file(w);
	struct replay *r;
	bool seen = false;

	(void)state;
	process(w, make, "c", 30, 35);
	writes(w, a, x, 5);
	reads(w, b, x, 20);
	r = run(w, 4, 3);
	assert_int_equal(r->makespan_ns, 30 * MS);
	assert_int_equal(r->processes[sh].begin_ns, 10 * MS);
	assert_int_equal(r->processes[4].begin_ns, 0);
	for (int32_t i = 0; i < r->n_path; i++)
		seen |= r->steps[r->path[i]].cause == REPLAY_DATA;
	assert_true(seen);
	replay_destroy(r);
	end(w);
}

static void data_between_processes_that_go_on_at_once_delays_none(void **state)
{
	struct workflow *w = begin(4);
	int32_t make = process(w, REPLAY_NONE, "make", 0, 100), a = process(w, make, "a", 0, 100),
		b = process(w, make, "b", 0, 90), x = file(w), y = file(w);

	(void)state;
	writes(w, a, x, 10);
	reads(w, b, x, 20);
	writes(w, b, y, 30);
	reads(w, a, y, 40);
	expect(w, 0, 0, 100);
	expect(w, 4, 1, 190);
	end(w);
}

static void children_that_wait_let_others_pass(void **state)
{
	struct workflow *w = begin(4);
	int32_t make = process(w, REPLAY_NONE, "make", 0, 60), a = process(w, make, "a", 0, 20),
		b = process(w, make, "b", 20, 40), x = file(w);

	(void)state;
	process(w, make, "c", 40, 60);
	writes(w, a, x, 10);
	reads(w, b, x, 30);
	expect(w, 4, 2, 40); /* a and c, b */
	end(w);
}

static void make_below_make_has_its_slots_from_above(void **state)
{
	struct workflow *w = begin(4);
	int32_t make = process(w, REPLAY_NONE, "make", 0, 40), sh = process(w, make, "sh", 0, 20),
		a = process(w, sh, "make", 0, 20), b;

	(void)state;
	process(w, a, "cc", 0, 10);
	process(w, a, "cc", 10, 20);
	b = process(w, make, "make", 20, 40);
	process(w, b, "cc", 20, 30);
	process(w, b, "cc", 30, 40);
	expect(w, 4, 0, 40);
	expect(w, 4, 1, 40);
	expect(w, 4, 2, 20);
	expect(w, 4, 4, 10);
	end(w);
}

/* ---- work ---- */

/* cat | sort | uniq: without a full pipe or a wait for data, cat would take 5 ms and uniq 10. */
static void stages_of_a_pipeline_wait_less_for_a_faster_one(void **state)
{
	struct workflow *w = begin(4);
	int32_t sh = process(w, REPLAY_NONE, "sh", 0, 100), cat = process(w, sh, "cat", 0, 70), sort = process(w, sh, "sort", 0, 100),
		uniq = process(w, sh, "uniq", 0, 100), x = file(w), y = file(w);

	(void)state;
	datas[x].is_pipe = datas[y].is_pipe = true;
	writes(w, cat, x, 65);
	reads(w, sort, x, 10);
	writes(w, sort, y, 99);
	reads(w, uniq, y, 20);
	for (int i = 0; i < 4; i++)
		w->graph->accesses[i].io_ns = -1;
	used(sh, 0, 0);
	used(cat, 5, 0);
	used(sort, 90, 0);
	used(uniq, 10, 0);
	expect(w, 0, 0, 100);
	/* sort computes for 9 ms and waits for uniq a tenth of its time; uniq computes for 10 and waits for sort the rest. */
	expect_faster(w, "sort", 10, 100 * (0.1 + 0.09 / 0.91));
	expect_faster(w, "sort", 1, 100);
	expect_faster(w, "cat", 10, 100);
	end(w);
}

static void faster_programs_take_less_work_and_wait_less(void **state)
{
	struct workflow *w = begin(2);
	int32_t sh = process(w, REPLAY_NONE, "sh", 0, 30), a = process(w, sh, "a", 0, 10), b;

	(void)state;
	b = process(w, sh, "b", 10, 30);
	used(a, 5, 0);
	tasks[b].command = "b -x /in/put";
	expect_faster(w, "a", 2, 25);
	expect_faster(w, "[ab]", 2, 15);
	expect_faster(w, "b -x *put", 4, 15);
	expect_faster(w, "command:*put", 4, 15);
	expect_faster(w, "*put", 4, 30);
	expect_faster(w, "b", 0.5, 50);
	end(w);
}

static void two_on_one_core_take_the_sum(void **state)
{
	struct workflow *w = begin(2);
	int32_t make = process(w, REPLAY_NONE, "make", 0, 10), b;

	(void)state;
	process(w, make, "a", 0, 10);
	b = process(w, make, "b", 0, 10);
	expect(w, 0, 0, 10);
	expect(w, 1, 0, 20);
	expect(w, 1.6, 0, 12.5);
	used(b, 5, 0); /* its waiting costs no core */
	expect(w, 1, 0, 15);
	used(b, 0, 0);
	expect(w, 1, 0, 10);
	end(w);
}

static void threads_want_several_cores(void **state)
{
	struct workflow *w = begin(4);
	int32_t a = process(w, REPLAY_NONE, "a", 0, 10);

	(void)state;
	used(a, 40, 0);
	expect(w, 0, 0, 10);
	expect(w, 2, 0, 20);
	expect(w, 1, 0, 40);
	end(w);
}

static void waiting_for_a_core_is_no_work(void **state)
{
	struct workflow *w = begin(1);
	int32_t make = process(w, REPLAY_NONE, "make", 0, 20);

	(void)state;
	used(make, 0, 0);
	for (int i = 0; i < 2; i++)
		used(process(w, make, "a", 0, 20), 10, 10);
	expect(w, 0, 0, 20);
	expect(w, 2, 0, 10);
	expect(w, 0, 1, 20);
	end(w);
}

static void delays_while_cores_are_free_remain(void **state)
{
	struct workflow *w = begin(4);

	(void)state;
	used(process(w, REPLAY_NONE, "a", 0, 20), 10, 10);
	expect(w, 0, 0, 20);
	expect(w, 8, 8, 20);
	end(w);
}

/* Of 40 ms, 10 were work, 20 waiting for a core; requests took three times as long for that, too. */
static void requests_wait_for_cores_as_their_process_does(void **state)
{
	struct workflow *w = begin(1);
	int32_t make = process(w, REPLAY_NONE, "make", 0, 40);
	struct replay *r;

	(void)state;
	used(make, 0, 0);
	for (int i = 0; i < 2; i++) {
		int32_t a = process(w, make, "a", 0, 40);

		used(a, 10, 20);
		reads(w, a, file(w), 5);
	}
	r = run(w, 0, 0);
	assert_float_equal(r->cores, 2 / 3.0, 1e-9);
	assert_float_equal((double)r->makespan_ns, 40 * MS, 2);
	assert_float_equal((double)r->processes[1].cpu_ns, 40 / 3.0 * MS, 2);
	replay_destroy(r);
	expect(w, 2, 0, 16);
	end(w);
}

static void sleeping_process_does_not_sleep_longer_for_want_of_cores(void **state)
{
	struct workflow *w = begin(1);
	int32_t make = process(w, REPLAY_NONE, "make", 0, 40);

	(void)state;
	used(make, 0, 0);
	for (int i = 0; i < 2; i++)
		used(process(w, make, "a", 0, 20), 10, 10);
	used(process(w, make, "sleep", 0, 40), 0, 0);
	expect(w, 0, 0, 40);
	expect(w, 2, 0, 40);
	end(w);
}

/* ---- large ones ---- */

static unsigned draw(unsigned *seed, unsigned n)
{
	*seed = *seed * 1103515245 + 12345;
	return (*seed >> 8) % n;
}

/* Times that need not make sense. */
static struct workflow *random_workflow(unsigned seed)
{
	static const char *const programs[] = { "make", "sh", "cc" };
	struct workflow *w = begin(1 + (int)draw(&seed, 4));
	int n = 1 + (int)draw(&seed, 20), start = 0;

	process(w, REPLAY_NONE, programs[draw(&seed, 3)], 0, 20);
	for (int i = 1; i < n; i++) {
		int32_t p;

		start += (int)draw(&seed, 3);
		p = process(w, (int32_t)draw(&seed, i + 1) - 1, programs[draw(&seed, 3)], start,
			draw(&seed, 8) ? start + (int)draw(&seed, 10) : -1);
		if (draw(&seed, 3))
			used(p, (int)draw(&seed, 10), (int)draw(&seed, 10));
	}
	for (int i = 0; i < 4; i++)
		file(w);
	for (int i = 0; i < n; i++)
		(draw(&seed, 2) ? reads : writes)(w, i, (int32_t)draw(&seed, 4),
			(int)draw(&seed, 30));
	assert_int_equal(graph_build(w->graph, false), 0);
	return w;
}

static void thousands_of_random_workflows_come_to_their_ends(void **state)
{
	int64_t steps = 0;

	(void)state;
	for (unsigned seed = 1; seed <= 5000; seed++) {
		struct workflow *w = random_workflow(seed);
		struct replay *r = run(w, seed % 5, (int)(seed % 3));
		struct replay *again = run(w, seed % 5, (int)(seed % 3));
		bool seen[TASKS] = { false };
		int64_t last = 0;

		for (int32_t i = 0; i < r->n_steps; i++)
			seen[r->steps[i].process] = true;
		for (int32_t i = 0; i < w->graph->n_processes; i++) {
			assert_true(seen[i]);
			last = r->processes[i].end_ns > last ? r->processes[i].end_ns : last;
			assert_true(r->processes[i].end_ns >= r->processes[i].begin_ns);
		}
		assert_int_equal(last, r->makespan_ns);
		assert_int_equal(r->n_steps, again->n_steps);
		assert_memory_equal(r->processes, again->processes,
			(size_t)w->graph->n_processes * sizeof(*r->processes));
		steps += r->n_steps;
		replay_destroy(r);
		replay_destroy(again);
		end(w);
	}
	print_message("# %lld steps\n", (long long)steps);
	assert_true(steps > 50000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_takes_no_time),
		cmocka_unit_test(chain_takes_as_long_as_in_the_trace),
		cmocka_unit_test(shell_goes_on_when_its_child_has_ended_whatever_jobs_there_may_be),
		cmocka_unit_test(programs_of_a_pipe_go_on_together),
		cmocka_unit_test(parent_that_waits_for_what_a_child_does_waits_until_it_has_come_so_far),
		cmocka_unit_test(
			parent_that_ends_before_its_child_waits_for_what_that_does_but_not_for_its_end),
		cmocka_unit_test(what_had_not_ended_ends_with_the_trace),
		cmocka_unit_test(driver_starts_as_many_as_it_has_slots),
		cmocka_unit_test(slots_are_as_many_as_children_were_at_once),
		cmocka_unit_test(work_of_a_driver_before_between_and_behind_its_children_remains),
		cmocka_unit_test(child_waits_for_the_data_that_any_below_it_reads),
		cmocka_unit_test(data_between_processes_that_go_on_at_once_delays_none),
		cmocka_unit_test(children_that_wait_let_others_pass),
		cmocka_unit_test(make_below_make_has_its_slots_from_above),
		cmocka_unit_test(faster_programs_take_less_work_and_wait_less),
		cmocka_unit_test(stages_of_a_pipeline_wait_less_for_a_faster_one),
		cmocka_unit_test(two_on_one_core_take_the_sum),
		cmocka_unit_test(threads_want_several_cores),
		cmocka_unit_test(waiting_for_a_core_is_no_work),
		cmocka_unit_test(delays_while_cores_are_free_remain),
		cmocka_unit_test(requests_wait_for_cores_as_their_process_does),
		cmocka_unit_test(sleeping_process_does_not_sleep_longer_for_want_of_cores),
		cmocka_unit_test(thousands_of_random_workflows_come_to_their_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
