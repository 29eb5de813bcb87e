/* SPDX-License-Identifier: MIT */

/* critical.h, pieces.h: critical paths, slack and gain that can be worked out by hand.  Times are in ms. */

#include "workflows.h"

#include "dag/graph/critical.h"

static struct critical *critical_of(struct workflow *w)
{
	struct critical *c;

	assert_int_equal(graph_build(w->graph, false), 0);
	assert_int_equal(critical_create(w, true, &c), 0);
	/* No gaps, from the begin to the end. */
	for (int32_t i = 0; i < c->n_steps; i++) {
		assert_true(c->steps[i].begin_ns <= c->steps[i].end_ns);
		if (i)
			assert_int_equal(c->steps[i].begin_ns, c->steps[i - 1].end_ns);
	}
	return c;
}

static void expect_step(const struct critical *c, int i, int32_t process, int begin_ms, int end_ms,
	enum critical_cause cause)
{
	assert_true(i < c->n_steps);
	assert_int_equal(c->steps[i].process, process);
	assert_int_equal(c->steps[i].begin_ns, (int64_t)begin_ms * MS);
	assert_int_equal(c->steps[i].end_ns, (int64_t)end_ms * MS);
	assert_int_equal(c->steps[i].cause, cause);
}

static void one_after_the_other(void **state)
{
	struct workflow *w = begin(2);
	int32_t sh = process(w, GRAPH_NONE, "sh", 0, 100), a = process(w, sh, "a", 10, 40),
		b = process(w, sh, "b", 50, 90);
	struct critical *c = critical_of(w);

	(void)state;
	assert_int_equal(c->n_steps, 5);
	expect_step(c, 0, sh, 0, 10, CRITICAL_START);
	expect_step(c, 1, a, 10, 40, CRITICAL_FORK);
	expect_step(c, 2, sh, 40, 50, CRITICAL_WAIT);
	expect_step(c, 3, b, 50, 90, CRITICAL_FORK);
	expect_step(c, 4, sh, 90, 100, CRITICAL_WAIT);
	assert_int_equal(c->steps[1].gain_ns, 30 * MS);
	assert_int_equal(c->steps[3].gain_ns, 40 * MS);
	assert_int_equal(c->steps[0].gain_ns, 30 * MS);
	for (int i = 0; i < 3; i++)
		assert_int_equal(c->slack_ns[i], 0);
	critical_destroy(c);
	end(w);
}

static void side_by_side(void **state)
{
	struct workflow *w = begin(2);
	int32_t make = process(w, GRAPH_NONE, "make", 0, 100), a = process(w, make, "a", 0, 60);
	int32_t b = process(w, make, "b", 0, 90);
	struct critical *c = critical_of(w);

	(void)state;
	assert_int_equal(c->n_steps, 3);
	expect_step(c, 1, b, 0, 90, CRITICAL_FORK);
	expect_step(c, 2, make, 90, 100, CRITICAL_WAIT);
	assert_int_equal(c->slack_ns[a], 30 * MS);
	assert_int_equal(c->slack_ns[b], 0);
	assert_int_equal(c->steps[1].gain_ns, 30 * MS); /* then it is a that one waits for */
	critical_destroy(c);
	end(w);
}

/* Both processes live all the time; the reader reads what the writer wrote meanwhile. */
static void data_between_two_that_live(void **state)
{
	struct workflow *w = begin(2);
	int32_t writer = process(w, GRAPH_NONE, "writer", 0, 100),
		reader = process(w, GRAPH_NONE, "reader", 0, 105);
	int32_t x = file(w);
	struct critical *c;

	(void)state;
	writes(w, writer, x, 70);
	reads(w, reader, x, 80);
	c = critical_of(w);
	assert_int_equal(c->n_steps, 2);
	expect_step(c, 0, writer, 0, 70, CRITICAL_START);
	expect_step(c, 1, reader, 70, 105, CRITICAL_DATA);
	assert_int_equal(c->steps[1].file, x);
	critical_destroy(c);
	end(w);
}

/* A stage of a pipeline that begins to read early, and waits for the last of it. */
static void stage(struct workflow *w, int32_t p, int32_t in, int32_t out, int first_in, int first_out, int last,
	int waits)
{
	struct graph_access a = { .process = p, .version = 1,
		.io_ns = (int64_t)waits * MS,
		.first_in_ns = GRAPH_NEVER, .first_out_ns = GRAPH_NEVER, .last_out_ns = GRAPH_NEVER,
		.last_ns = (int64_t)last * MS };

	if (in != GRAPH_NONE) {
		a.file = in;
		a.kinds = EDGE_READ;
		a.nread = a.bread = 9;
		a.first_in_ns = (int64_t)first_in * MS;
		assert_int_equal(graph_add_access(w->graph, &a), 0);
	}
	if (out != GRAPH_NONE) {
		a.file = out;
		a.kinds = EDGE_WRITE;
		a.nread = a.bread = 0;
		a.nwrite = a.bwrite = 9;
		a.first_in_ns = GRAPH_NEVER;
		a.first_out_ns = (int64_t)first_out * MS;
		a.last_out_ns = (int64_t)last * MS;
		assert_int_equal(graph_add_access(w->graph, &a), 0);
	}
}

static void pipes_are_waited_for_until_their_end(void **state)
{
	struct workflow *w = begin(2);
	int32_t sh = process(w, GRAPH_NONE, "sh", 0, 100), a = process(w, sh, "a", 10, 60), b = process(w, sh, "b", 11, 75),
		c = process(w, sh, "c", 12, 95), x = file(w), y = file(w);
	struct critical *critical;

	(void)state;
	datas[x].is_pipe = datas[y].is_pipe = true;
	stage(w, a, GRAPH_NONE, x, 0, 20, 55, 1);
	stage(w, b, x, y, 15, 25, 70, 40);
	stage(w, c, y, GRAPH_NONE, 16, 0, 71, 50);
	critical = critical_of(w);
	assert_int_equal(critical->n_steps, 5);
	expect_step(critical, 0, sh, 0, 10, CRITICAL_START);
	expect_step(critical, 1, a, 10, 55, CRITICAL_FORK);
	expect_step(critical, 2, b, 55, 70, CRITICAL_DATA);
	expect_step(critical, 3, c, 70, 95, CRITICAL_DATA);
	expect_step(critical, 4, sh, 95, 100, CRITICAL_WAIT);
	assert_int_equal(critical->steps[2].file, x);
	assert_int_equal(critical->steps[3].file, y);
	assert_int_equal(critical->steps[1].gain_ns, 40 * MS); /* b and c would have waited less */
	critical_destroy(critical);
	end(w);
}

/* a waits for 35 of its 40 ms because the pipe is full: the path is that of b. */
static void a_full_pipe_is_waited_for_by_its_writer(void **state)
{
	struct workflow *w = begin(2);
	int32_t sh = process(w, GRAPH_NONE, "sh", 0, 100), a = process(w, sh, "a", 10, 60), b = process(w, sh, "b", 11, 95), x = file(w);
	struct critical *critical;

	(void)state;
	datas[x].is_pipe = true;
	stage(w, a, GRAPH_NONE, x, 0, 15, 55, 35);
	stage(w, b, x, GRAPH_NONE, 15, 0, 55, 3);
	critical = critical_of(w);
	assert_int_equal(critical->n_steps, 3);
	expect_step(critical, 0, sh, 0, 11, CRITICAL_START);
	expect_step(critical, 1, b, 11, 95, CRITICAL_FORK);
	expect_step(critical, 2, sh, 95, 100, CRITICAL_WAIT);
	/* Without b the run is over when a is, after 10 of the first 45 ms and 5 more; with it, b works for 81 ms. */
	assert_int_equal(critical->steps[1].gain_ns, (11 + 81 - (10 + 10 + 5)) * MS);
	assert_true(critical->slack_ns[a] > 0);
	critical_destroy(critical);
	end(w);
}

/* Of pipes of which reads and writes are not recorded, the processor tells which process waited. */
static void a_pipe_without_times_is_full_if_its_writer_used_little(void **state)
{
	struct critical *critical;

	(void)state;
	for (int known = 0; known < 2; known++) {
		struct workflow *w = begin(2);
		int32_t sh = process(w, GRAPH_NONE, "sh", 0, 100), a = process(w, sh, "a", 10, 60), b = process(w, sh, "b", 11, 95),
			x = file(w);

		datas[x].is_pipe = true;
		stage(w, a, GRAPH_NONE, x, 0, 15, 60, 0);
		stage(w, b, x, GRAPH_NONE, 15, 0, 95, 0);
		w->graph->accesses[0].io_ns = w->graph->accesses[1].io_ns = -1;
		used(a, 5, 0);
		if (known)
			used(b, 40, 30);
		critical = critical_of(w);
		assert_int_equal(critical->n_steps, known ? 3 : 4);
		critical_destroy(critical);
		end(w);
	}
}

/* The path goes through the driver, and is red where data went. */
static void data_between_jobs_is_marked(void **state)
{
	struct workflow *w = begin(2);
	int32_t make = process(w, GRAPH_NONE, "make", 0, 100), a = process(w, make, "a", 10, 40);
	int32_t b = process(w, make, "b", 50, 90), x = file(w);
	struct critical *c;
	int marked = 0;

	(void)state;
	writes(w, a, x, 30);
	reads(w, b, x, 60);
	c = critical_of(w);
	for (int32_t i = 0; i < w->graph->n_edges; i++) {
		const struct graph_edge *e = &w->graph->edges[i];

		marked += c->edges[i];
		assert_int_equal(c->edges[i],
			e->access != GRAPH_NONE || w->graph->nodes[e->to].of == a);
	}
	assert_int_equal(marked, 3); /* make started a, which wrote x, which b read */
	critical_destroy(c);
	end(w);
}

static void process_that_was_there_before_the_run(void **state)
{
	struct workflow *w = begin(2);
	int32_t shell = process(w, GRAPH_NONE, "sh", 0, -1), run = process(w, shell, "run", 50, 80);
	struct critical *c;

	(void)state;
	w->begin_ns = 40 * MS;
	w->end_ns = 90 * MS;
	c = critical_of(w);
	assert_int_equal(c->n_steps, 2);
	expect_step(c, 0, shell, 40, 50, CRITICAL_START);
	expect_step(c, 1, run, 50, 80, CRITICAL_FORK);
	assert_int_equal(c->steps[1].gain_ns, 30 * MS);
	assert_int_equal(c->slack_ns[run], 0);
	critical_destroy(c);
	end(w);
}

static void nothing_at_all(void **state)
{
	struct workflow *w = begin(2);
	struct critical *c = critical_of(w);

	(void)state;
	assert_int_equal(c->n_steps, 0);
	critical_destroy(c);
	end(w);
}

/* Any tree, with times as they come: the path ends with the last exit, and no process on it can be late. */
static void any_tree(void **state)
{
	unsigned seed = 7;

	(void)state;
	for (int round = 0; round < 500; round++) {
		struct workflow *w = begin(2);
		int ends[TASKS], last = 0, n = 2 + (int)(rand_r(&seed) % (TASKS - 2));
		struct critical *c;

		for (int i = 0; i < n; i++) {
			int32_t parent = i ? (int32_t)(rand_r(&seed) % i) : GRAPH_NONE;
			int begins = i ? (int)(w->graph->processes[parent].start_ns / MS) +
						     (int)(rand_r(&seed) % 20)
				       : 0;

			ends[i] = begins + (int)(rand_r(&seed) % 100);
			last = ends[i] > last ? ends[i] : last;
			process(w, parent, "p", begins, ends[i]);
		}
		c = critical_of(w);
		assert_int_equal(c->steps[c->n_steps - 1].end_ns, (int64_t)last * MS);
		assert_int_equal(c->steps[0].begin_ns, 0);
		for (int i = 0; i < n; i++)
			assert_true(c->slack_ns[i] >= 0);
		assert_int_equal(c->slack_ns[c->steps[c->n_steps - 1].process], 0);
		for (int i = 0; i < c->n_steps; i++)
			assert_true(c->steps[i].gain_ns >= 0 &&
				    c->steps[i].gain_ns <= (int64_t)last * MS);
		critical_destroy(c);
		end(w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_after_the_other),
		cmocka_unit_test(side_by_side),
		cmocka_unit_test(data_between_two_that_live),
		cmocka_unit_test(pipes_are_waited_for_until_their_end),
		cmocka_unit_test(a_full_pipe_is_waited_for_by_its_writer),
		cmocka_unit_test(a_pipe_without_times_is_full_if_its_writer_used_little),
		cmocka_unit_test(data_between_jobs_is_marked),
		cmocka_unit_test(process_that_was_there_before_the_run),
		cmocka_unit_test(nothing_at_all),
		cmocka_unit_test(any_tree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
