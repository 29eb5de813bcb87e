/* SPDX-License-Identifier: MIT */

/* shape.h, fold.h, reach.h: what is shown of a workflow. */

#include "workflows.h"

#include <errno.h>

#include "dag/shape/fold.h"
#include "dag/shape/reach.h"
#include "dag/shape/shape.h"

enum { MAKE, GEN, JOIN = GEN + 4, ALL };

/* Four write a file each, which one reads that writes the last. */
static struct workflow *diamond(void)
{
	struct workflow *w = begin(2);

	process(w, GRAPH_NONE, "make", 0, 100);
	for (int i = 0; i < 4; i++)
		writes(w, process(w, MAKE, "gen", 10, 20), file(w), 15);
	process(w, MAKE, "join", 30, 40);
	for (int i = 0; i < 4; i++)
		reads(w, JOIN, i, 31);
	writes(w, JOIN, file(w), 35);
	for (int i = 0; i < ALL; i++)
		tasks[i].phase = i == MAKE ? NULL : tasks[i].program;
	w->chosen = malloc(16);
	memset(w->chosen, true, 16);
	w->groups = calloc(ALL, sizeof(*w->groups));
	for (int i = 0; i < ALL; i++)
		w->groups[i] = tasks[i].phase;
	assert_int_equal(graph_build(w->graph, false), 0);
	return w;
}

static void finish(struct workflow *w, struct shape *shape)
{
	shape_destroy(shape);
	free(w->chosen);
	free(w->groups);
	end(w);
}

static struct shape *shape_of(const struct workflow *w, const struct shape_options *o)
{
	struct shape *shape;

	assert_int_equal(shape_create(w, o, &shape), 0);
	return shape;
}

static void expect(const struct shape *shape, int nodes, int edges)
{
	assert_int_equal(shape->n_nodes, nodes);
	assert_int_equal(shape->n_edges, edges);
	for (int i = 0; i < edges; i++)
		assert_true(shape->edges[i].from < nodes && shape->edges[i].to < nodes);
}

static const struct shape_node *named(const struct shape *shape, const char *label)
{
	for (int i = 0; i < shape->n_nodes; i++)
		if (shape->nodes[i].label && strcmp(shape->nodes[i].label, label) == 0)
			return &shape->nodes[i];
	fail_msg("there is no '%s'", label);
	return NULL;
}

static void all_of_it(void **state)
{
	const struct shape_options dag = { 0 }, tree = { .what = SHAPE_TREE };
	struct workflow *w = diamond();
	struct shape *shape = shape_of(w, &dag), *processes = shape_of(w, &tree);

	(void)state;
	expect(shape, 11, 14); /* 5 forks, 4 + 1 writes, 4 reads */
	assert_string_equal(shape->nodes[0].id, "p1");
	assert_string_equal(shape->nodes[ALL].id, "f1");
	expect(processes, 6, 5);
	shape_destroy(processes);
	finish(w, shape);
}

static void folded_by_groups(void **state)
{
	const struct shape_options dag = { 0 };
	const struct fold_options fold = { .groups = true },
				  open = { .groups = true, .expand = "gen" };
	struct workflow *w = diamond();
	struct shape *shape = shape_of(w, &dag), *opened = shape_of(w, &dag);

	(void)state;
	assert_int_equal(fold_shape(shape, &fold), 0);
	expect(shape, 5, 5); /* make, gen, join; f*.dat, the last */
	assert_int_equal(shape->folded, 6);
	assert_int_equal(named(shape, "gen")->members, 4);
	assert_int_equal(named(shape, "gen")->life_ns, 10 * MS);
	assert_int_equal(named(shape, "f*.dat")->members, 4);
	assert_int_equal(named(shape, "f*.dat")->size_bytes, 40);
	assert_int_equal(fold_shape(opened, &open), 0);
	expect(opened, 11, 14); /* each file has a writer of its own */
	shape_destroy(opened);
	finish(w, shape);
}

static void names_have_the_directories_that_differ(void **state)
{
	static const char *const full[] = { "/w/raw/1.csv", "/w/clean/1.csv", "/w/old/raw/1.csv", "/w/2.csv", "3.csv", "/x/3.csv", "/w/raw/1.csv/" };
	static const char *const wanted[] = { "w/raw/1.csv", "clean/1.csv", "old/raw/1.csv", "2.csv", "3.csv", "x/3.csv", "" };
	enum { N = sizeof(full) / sizeof(full[0]) };
	struct data data[N] = { 0 };
	struct graph_file files[N] = { 0 };
	struct graph graph = { .files = files, .n_files = N };
	struct workflow workflow = { .graph = &graph };
	struct shape_node nodes[N] = { 0 };
	struct shape shape = { .workflow = &workflow, .nodes = nodes, .n_nodes = N };
	const char *names[N];

	(void)state;
	for (int i = 0; i < N; i++) {
		data[i].path = full[i];
		files[i].data = &data[i];
		nodes[i] = (struct shape_node){ .kind = NODE_FILE, .of = i };
	}
	assert_int_equal(shape_short_names(&shape, names), 0);
	for (int i = 0; i < N; i++)
		assert_string_equal(names[i], *wanted[i] ? wanted[i] : shape_base_name(&shape, i));
}

static void folded_by_number(void **state)
{
	const struct shape_options dag = { 0 };
	struct workflow *w = diamond();
	struct shape *shape = shape_of(w, &dag);

	(void)state;
	assert_int_equal(fold_to(shape, 11), 0);
	expect(shape, 11, 14);
	assert_int_equal(fold_to(shape, 10), 0);
	expect(shape, 5, 5);
	assert_int_equal(shape->nodes[0].members + shape->nodes[1].members +
				 shape->nodes[2].members,
		6);
	finish(w, shape);
}

static void parts_by_what_leads_where(void **state)
{
	static const struct {
		struct reach_options options;
		int nodes, edges;
	} cases[] = {
		{ { .ancestors_of = "f4.dat" }, 11, 14 },
		{ { .ancestors_of = "f1" }, 3, 2 },
		{ { .descendants_of = "p2" }, 4, 3 },
		{ { .descendants_of = "/data/f0*" }, 3, 2 },
		{ { .between = { "p3", "join" } }, 3, 2 },
		{ { .ancestors_of = "gen" }, 5, 4 },
	};
	const struct shape_options dag = { 0 };
	const char *missing = NULL;
	struct workflow *w = diamond();
	struct shape *shape;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		shape = shape_of(w, &dag);
		assert_int_equal(reach_select(shape, &cases[i].options, &missing), 0);
		expect(shape, cases[i].nodes, cases[i].edges);
		shape_destroy(shape);
	}
	shape = shape_of(w, &dag);
	assert_int_equal(reach_select(shape, &(struct reach_options){ .descendants_of = "nothing" },
				 &missing),
		-ENOENT);
	assert_string_equal(missing, "nothing");
	finish(w, shape);
}

static void reduced(void **state)
{
	const struct shape_options dag = { 0 };
	struct workflow *w = diamond();
	struct shape *shape = shape_of(w, &dag);
	int *order, *level, n;

	(void)state;
	assert_int_equal(reach_reduce(shape), 0);
	expect(shape, 11, 13); /* the longer ways say that make started join */
	assert_int_equal(reach_order(shape, &order, &level, &n), 0);
	assert_int_equal(n, 11);
	assert_int_equal(order[0], 0);
	assert_int_equal(level[order[10]], 4);
	for (int i = 0; i < shape->n_edges; i++)
		assert_true(level[shape->edges[i].from] < level[shape->edges[i].to]);
	free(order);
	free(level);
	finish(w, shape);
}

static void precedence(void **state)
{
	const struct shape_options dag = { 0 }, paper = { .precedence = true };
	struct workflow *w = begin(2);
	int32_t a = process(w, GRAPH_NONE, "a", 0, 100), b = process(w, GRAPH_NONE, "b", 0, 100),
		x = file(w), y = file(w);
	struct shape *shape, *by_paper;

	(void)state;
	writes(w, a, x, 10); /* what comes back to a depends on it */
	reads(w, b, x, 20);
	writes(w, b, y, 30);
	reads(w, a, y, 40);
	w->chosen = malloc(4);
	memset(w->chosen, true, 4);
	assert_int_equal(graph_build(w->graph, false), 0);
	shape = shape_of(w, &dag);
	expect(shape, 5, 5); /* a has two segments */
	by_paper = shape_of(w, &paper);
	expect(by_paper, 4, 4);
	shape_destroy(by_paper);
	finish(w, shape);
}

/* ---- pipes ---- */

static int32_t fifo(struct workflow *w)
{
	int32_t i = file(w);

	datas[i].is_pipe = true;
	return i;
}

static void moves(struct workflow *w, int32_t p, int32_t f, int t, int kinds, int64_t bytes)
{
	bool is_read = kinds & EDGE_READ, is_write = kinds & EDGE_WRITE;
	const struct graph_access a = { .process = p, .file = f, .version = 1, .kinds = kinds,
		.nread = is_read, .bread = is_read ? bytes : 0, .nwrite = is_write, .bwrite = is_write ? bytes : 0,
		.first_in_ns = is_read ? (int64_t)t * MS : GRAPH_NEVER,
		.first_out_ns = is_write ? (int64_t)t * MS : GRAPH_NEVER,
		.last_out_ns = is_write ? (int64_t)t * MS : GRAPH_NEVER, .last_ns = (int64_t)t * MS };

	assert_int_equal(graph_add_access(w->graph, &a), 0);
}

static struct shape *joined(struct workflow *w)
{
	const struct shape_options o = { .what = SHAPE_DAG };

	w->chosen = malloc(16);
	memset(w->chosen, true, 16);
	assert_int_equal(graph_build(w->graph, false), 0);
	return shape_of(w, &o);
}

static void expect_pipe(const struct shape *shape, int32_t from, int32_t to, int64_t bytes)
{
	for (int32_t i = 0; i < shape->n_edges; i++) {
		const struct shape_edge *e = &shape->edges[i];

		if (shape->nodes[e->from].of != from || shape->nodes[e->to].of != to)
			continue;
		assert_int_equal(e->kinds, EDGE_PIPE);
		assert_int_equal(e->bytes, bytes);
		assert_int_equal(e->ns, -1);
		return;
	}
	fail_msg("no edge from %d to %d", from, to);
}

static void pipe_is_an_edge_with_its_bytes(void **state)
{
	struct workflow *w = begin(2);
	int32_t a = process(w, GRAPH_NONE, "a", 0, 50), b = process(w, GRAPH_NONE, "b", 0, 60), pipe = fifo(w);
	struct shape *shape;

	(void)state;
	moves(w, a, pipe, 10, EDGE_WRITE | EDGE_CREATE, 700);
	moves(w, b, pipe, 20, EDGE_READ, 600);
	shape = joined(w);
	expect(shape, 2, 1);
	expect_pipe(shape, a, b, 600);
	finish(w, shape);
}

/* read: by the one reader. */
static void two_writers(int64_t read, int64_t first, int64_t second)
{
	struct workflow *w = begin(2);
	int32_t a = process(w, GRAPH_NONE, "a", 0, 50), b = process(w, GRAPH_NONE, "b", 0, 60),
		c = process(w, GRAPH_NONE, "c", 0, 70), pipe = fifo(w);
	struct shape *shape;

	moves(w, a, pipe, 10, EDGE_WRITE, 700);
	moves(w, b, pipe, 11, EDGE_WRITE, 300);
	moves(w, c, pipe, 20, EDGE_READ, read);
	shape = joined(w);
	expect(shape, 3, 2);
	expect_pipe(shape, a, c, first);
	expect_pipe(shape, b, c, second);
	finish(w, shape);
}

static void bytes_of_two_writers_are_known_if_all_was_read(void **state)
{
	(void)state;
	two_writers(1000, 700, 300);
	two_writers(999, -1, -1);
}

static void pipe_of_many_or_of_one_side_is_a_node(void **state)
{
	struct workflow *w = begin(2);
	int32_t a = process(w, GRAPH_NONE, "a", 0, 50), b = process(w, GRAPH_NONE, "b", 0, 60),
		c = process(w, GRAPH_NONE, "c", 0, 70), d = process(w, GRAPH_NONE, "d", 0, 70), many = fifo(w), out = fifo(w);
	struct shape *shape;

	(void)state;
	moves(w, a, many, 10, EDGE_WRITE, 7);
	moves(w, b, many, 11, EDGE_WRITE, 3);
	moves(w, c, many, 20, EDGE_READ, 5);
	moves(w, d, many, 21, EDGE_READ, 5);
	moves(w, d, out, 30, EDGE_WRITE, 5);
	shape = joined(w);
	expect(shape, 6, 5);
	finish(w, shape);
}

static void making_a_fifo_moves_no_data(void **state)
{
	struct workflow *w = begin(2);
	int32_t a = process(w, GRAPH_NONE, "a", 0, 50), b = process(w, GRAPH_NONE, "b", 0, 60),
		maker = process(w, GRAPH_NONE, "mkfifo", 0, 5), pipe = fifo(w);
	struct shape *shape;

	(void)state;
	moves(w, maker, pipe, 1, EDGE_WRITE | EDGE_CREATE, 0);
	moves(w, a, pipe, 10, EDGE_WRITE, 9);
	moves(w, b, pipe, 20, EDGE_READ, 9);
	shape = joined(w);
	expect(shape, 3, 1);
	expect_pipe(shape, a, b, 9);
	finish(w, shape);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_of_it),
		cmocka_unit_test(folded_by_groups),
		cmocka_unit_test(names_have_the_directories_that_differ),
		cmocka_unit_test(folded_by_number),
		cmocka_unit_test(parts_by_what_leads_where),
		cmocka_unit_test(reduced),
		cmocka_unit_test(precedence),
		cmocka_unit_test(pipe_is_an_edge_with_its_bytes),
		cmocka_unit_test(bytes_of_two_writers_are_known_if_all_was_read),
		cmocka_unit_test(pipe_of_many_or_of_one_side_is_a_node),
		cmocka_unit_test(making_a_fifo_moves_no_data),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
