/* SPDX-License-Identifier: MIT */

/* graph.h: no cycle, no access left out, nothing divided without need. */

#include "test.h"

#include "dag/graph/graph.h"

/* ---- graphs in a few lines ---- */

static struct graph *begin(void)
{
	struct graph *g = graph_create();

	assert_non_null(g);
	return g;
}

/* Ids count from 1, in this order. */
static int32_t process(struct graph *g, int64_t parent, int64_t start_ns)
{
	const struct graph_process p = { .id = g->n_processes + 1, .parent = parent, .start_ns = start_ns,
		.end_ns = 1000000 };
	int32_t i = graph_add_process(g, &p);

	assert_true(i >= 0);
	return i;
}

static int32_t file(struct graph *g)
{
	int32_t i = graph_add_file(g, g->n_files + 1, NULL);

	assert_true(i >= 0);
	return i;
}

static void access_file(struct graph *g, int32_t p, int32_t f, int32_t version, int64_t in, int64_t out,
	int64_t last_out, int kinds)
{
	const struct graph_access a = { .process = p, .file = f, .version = version, .kinds = kinds,
		.first_in_ns = in ? in : GRAPH_NEVER, .first_out_ns = out ? out : GRAPH_NEVER,
		.last_out_ns = out ? last_out : GRAPH_NEVER, .last_ns = in > last_out ? in : last_out,
		.nread = in ? 1 : 0, .bread = in ? 10 : 0, .nwrite = out ? 1 : 0, .bwrite = out ? 10 : 0 };

	assert_int_equal(graph_add_access(g, &a), 0);
}

static void reads(struct graph *g, int32_t p, int32_t f, int32_t version, int64_t t)
{
	access_file(g, p, f, version, t, 0, 0, EDGE_READ);
}

static void writes(struct graph *g, int32_t p, int32_t f, int32_t version, int64_t t)
{
	access_file(g, p, f, version, 0, t, t, EDGE_WRITE);
}

/* ---- what must hold of each ---- */

static void expect_order(const struct graph *g)
{
	for (int32_t i = 0; i < g->n_edges; i++)
		assert_true(g->order[g->edges[i].from] < g->order[g->edges[i].to]);
}

/* Without the order that was made on the way: takes away what nothing leads to. */
static void expect_acyclic(const struct graph *g)
{
	int32_t *in = calloc(g->n_nodes + 1, sizeof(*in)), *ready = calloc(g->n_nodes + 1, sizeof(*ready));
	int32_t *head = malloc((g->n_nodes + 1) * sizeof(*head)), *next = malloc((g->n_edges + 1) * sizeof(*next));
	int32_t n = 0, done = 0;

	for (int32_t i = 0; i < g->n_nodes; i++)
		head[i] = -1;
	for (int32_t i = 0; i < g->n_edges; i++) {
		in[g->edges[i].to]++;
		next[i] = head[g->edges[i].from];
		head[g->edges[i].from] = i;
	}
	for (int32_t i = 0; i < g->n_nodes; i++)
		if (!in[i])
			ready[n++] = i;
	while (done < n)
		for (int32_t e = head[ready[done++]]; e >= 0; e = next[e])
			if (--in[g->edges[e].to] == 0)
				ready[n++] = g->edges[e].to;
	assert_int_equal(n, g->n_nodes);
	free(in);
	free(ready);
	free(head);
	free(next);
}

static void expect_accesses(const struct graph *g)
{
	int *seen = calloc(g->n_accesses + 1, sizeof(*seen));

	for (int32_t i = 0; i < g->n_edges; i++) {
		const struct graph_edge *e = &g->edges[i];
		const struct graph_node *from = &g->nodes[e->from], *to = &g->nodes[e->to];
		const struct graph_access *a;

		if (e->access == GRAPH_NONE)
			continue;
		a = &g->accesses[e->access];
		seen[e->access] |= e->kinds & (EDGE_READ | EDGE_WRITE);
		if (from->kind == NODE_FILE) {
			assert_int_equal(from->of, a->file);
			assert_int_equal(to->of, a->process);
		} else {
			assert_int_equal(from->of, a->process);
			assert_int_equal(to->of, a->file);
		}
	}
	for (int32_t i = 0; i < g->n_accesses; i++)
		assert_int_equal(seen[i], g->accesses[i].kinds & (EDGE_READ | EDGE_WRITE));
	free(seen);
}

static int count(const struct graph *g, enum node_kind kind)
{
	int n = 0;

	for (int32_t i = 0; i < g->n_nodes; i++)
		n += g->nodes[i].kind == kind;
	return n;
}

static void build(struct graph *g)
{
	assert_int_equal(graph_build(g, false), 0);
	expect_order(g);
	expect_acyclic(g);
	expect_accesses(g);
}

/* ---- small ones ---- */

static void pipeline_has_one_node_for_each(void **state)
{
	struct graph *g = begin();
	int32_t make = process(g, 0, 1), a = process(g, 1, 2), b = process(g, 1, 50), x = file(g), y = file(g),
		z = file(g);

	(void)state;
	reads(g, a, x, 1, 10);
	writes(g, a, y, 1, 11);
	reads(g, b, y, 1, 60);
	writes(g, b, z, 1, 70);
	build(g);
	assert_int_equal(count(g, NODE_PROCESS), 3);
	assert_int_equal(count(g, NODE_FILE), 3);
	assert_int_equal(g->n_edges, 6);
	assert_int_equal(g->nodes[g->processes[make].first].part, 1);
	graph_destroy(g);
}

static void reading_back_divides_nothing(void **state)
{
	struct graph *g = begin();
	int32_t a = process(g, 0, 1), x = file(g);

	(void)state;
	access_file(g, a, x, 1, 20, 10, 30, EDGE_READ | EDGE_WRITE | EDGE_CREATE);
	build(g);
	assert_int_equal(g->n_nodes, 2);
	assert_int_equal(g->n_edges, 1);
	assert_true(g->edges[0].read_back);
	assert_int_equal(g->edges[0].kinds, EDGE_READ | EDGE_WRITE | EDGE_CREATE);
	graph_destroy(g);
}

/* What was in it before comes from elsewhere: what the process writes now may depend on that. */
static void reading_back_what_was_there_before_divides(void **state)
{
	struct graph *g = begin();
	int32_t a = process(g, 0, 1), x = file(g);

	(void)state;
	access_file(g, a, x, 1, 20, 10, 10, EDGE_READ | EDGE_WRITE);
	build(g);
	assert_int_equal(count(g, NODE_PROCESS), 2);
	assert_int_equal(count(g, NODE_FILE), 1);
	graph_destroy(g);
}

/* The next version continues the one that the process had read, or made. */
static void reading_back_what_is_known_divides_nothing(void **state)
{
	struct graph *g = begin();
	int32_t a = process(g, 0, 1), b = process(g, 0, 1), x = file(g), y = file(g);

	(void)state;
	reads(g, a, x, 1, 10);
	access_file(g, a, x, 2, 30, 20, 20, EDGE_READ | EDGE_WRITE);
	access_file(g, a, y, 1, 0, 40, 40, EDGE_WRITE | EDGE_CREATE);
	reads(g, b, y, 1, 50);
	access_file(g, a, y, 2, 70, 60, 60, EDGE_READ | EDGE_WRITE);
	build(g);
	assert_int_equal(count(g, NODE_PROCESS), 2);
	assert_int_equal(count(g, NODE_FILE), 4);
	graph_destroy(g);
}

static void update_in_place_is_a_new_version(void **state)
{
	struct graph *g = begin();
	int32_t a = process(g, 0, 1), x = file(g);

	(void)state;
	reads(g, a, x, 1, 10);
	writes(g, a, x, 2, 20);
	build(g);
	assert_int_equal(count(g, NODE_PROCESS), 1);
	assert_int_equal(count(g, NODE_FILE), 2);
	graph_destroy(g);
}

static void feedback_divides_processes(void **state)
{
	struct graph *g = begin();
	int32_t a = process(g, 0, 1), b = process(g, 0, 2), x = file(g), y = file(g);

	(void)state;
	writes(g, a, x, 1, 10);
	reads(g, b, x, 1, 20);
	writes(g, b, y, 1, 30);
	reads(g, a, y, 1, 40);
	build(g);
	assert_int_equal(count(g, NODE_PROCESS), 3);
	assert_int_equal(g->nodes[g->processes[a].last].part, 2);
	assert_int_equal(g->nodes[g->processes[a].last].begin_ns, 40);
	assert_int_equal(g->nodes[g->processes[b].last].part, 1);
	graph_destroy(g);
}

static void process_that_reads_what_its_child_wrote_is_divided(void **state)
{
	struct graph *g = begin();
	int32_t shell = process(g, 0, 1), child = process(g, 1, 5), x = file(g), later;

	(void)state;
	writes(g, child, x, 1, 10);
	reads(g, shell, x, 1, 20);
	later = process(g, 1, 30);
	build(g);
	assert_int_equal(g->nodes[g->processes[shell].last].part, 2);
	/* What starts later comes after what was read. */
	for (int32_t i = 0; i < g->n_edges; i++)
		if (g->edges[i].to == g->processes[later].first)
			assert_int_equal(g->edges[i].from, g->processes[shell].last);
	graph_destroy(g);
}

static void early_log_of_a_reader_divides_nothing(void **state)
{
	struct graph *g = begin();
	int32_t a = process(g, 0, 1), b = process(g, 0, 2), log = file(g), x = file(g);

	(void)state;
	access_file(g, a, log, 1, 0, 5, 100, EDGE_WRITE);
	writes(g, b, x, 1, 10);
	reads(g, a, x, 1, 20);
	build(g);
	assert_int_equal(count(g, NODE_PROCESS), 2);
	graph_destroy(g);
}

static void several_writers_share_a_version(void **state)
{
	struct graph *g = begin();
	int32_t a = process(g, 0, 1), b = process(g, 0, 2), c = process(g, 0, 3), x = file(g);

	(void)state;
	writes(g, a, x, 1, 10);
	writes(g, b, x, 1, 11);
	reads(g, c, x, 1, 20);
	build(g);
	assert_int_equal(count(g, NODE_FILE), 1);
	assert_int_equal(g->n_edges, 3);
	graph_destroy(g);
}

static void writer_that_reads_what_another_wrote_to_it_is_divided(void **state)
{
	struct graph *g = begin();
	int32_t a = process(g, 0, 1), b = process(g, 0, 2), x = file(g);

	(void)state;
	writes(g, b, x, 1, 10);
	access_file(g, a, x, 1, 20, 11, 11, EDGE_READ | EDGE_WRITE);
	build(g);
	assert_int_equal(g->nodes[g->processes[a].last].part, 2);
	graph_destroy(g);
}

static void renaming_a_file_after_reading_it_makes_a_part_of_it(void **state)
{
	struct graph *g = begin();
	int32_t a = process(g, 0, 1), b = process(g, 0, 2), c = process(g, 0, 3), x = file(g);

	(void)state;
	writes(g, a, x, 1, 10);
	access_file(g, b, x, 1, 20, 30, 30, EDGE_READ | EDGE_RENAME);
	reads(g, c, x, 1, 40);
	assert_int_equal(graph_build(g, false), 0);
	expect_order(g);
	expect_acyclic(g);
	assert_int_equal(count(g, NODE_FILE), 2);
	assert_int_equal(count(g, NODE_PROCESS), 3);
	graph_destroy(g);
}

static void looking_is_an_edge_only_if_asked_for(void **state)
{
	for (int meta = 0; meta < 2; meta++) {
		struct graph *g = begin();
		int32_t a = process(g, 0, 1), x = file(g), y = file(g);
		const struct graph_access look = { .process = a, .file = y, .version = 1,
			.first_in_ns = GRAPH_NEVER, .first_out_ns = GRAPH_NEVER,
			.last_out_ns = GRAPH_NEVER, .last_ns = 30, .nmeta = 1 };

		(void)state;
		writes(g, a, x, 1, 10);
		assert_int_equal(graph_add_access(g, &look), 0);
		assert_int_equal(graph_build(g, meta), 0);
		assert_int_equal(g->n_nodes, 2 + meta);
		assert_int_equal(g->n_edges, 1 + meta);
		graph_destroy(g);
	}
}

static void nothing_is_an_empty_graph(void **state)
{
	struct graph *g = begin();

	(void)state;
	build(g);
	assert_int_equal(g->n_nodes, 0);
	graph_destroy(g);
}

/* ---- large ones ---- */

/* All processes are there before the first reads: each edge but the forks is against their order. */
static void processes_that_are_all_there_at_first_cost_no_more(void **state)
{
	struct graph *g = begin();
	const int n = 200000;

	(void)state;
	for (int i = 0; i < n; i++) {
		process(g, i, i);
		file(g);
		writes(g, i, i, 1, n + 10 * i + 5);
		if (i)
			reads(g, i, i - 1, 1, n + 10 * i + 3);
	}
	assert_int_equal(graph_build(g, false), 0);
	expect_order(g);
	expect_acyclic(g);
	assert_int_equal(g->n_nodes, 2 * n);
	graph_destroy(g);
}

static void chain_of_a_million_steps_overflows_nothing(void **state)
{
	struct graph *g = begin();
	const int n = 1000000;

	(void)state;
	for (int i = 0; i < n; i++) {
		process(g, i, 10 * i);
		file(g);
		writes(g, i, i, 1, 10 * i + 5);
		if (i)
			reads(g, i, i - 1, 1, 10 * i + 3);
	}
	assert_int_equal(graph_build(g, false), 0);
	expect_order(g);
	expect_acyclic(g);
	assert_int_equal(g->n_nodes, 2 * n);
	graph_destroy(g);
}

static unsigned draw(unsigned *seed, unsigned n)
{
	*seed = *seed * 1103515245 + 12345;
	return (*seed >> 8) % n;
}

/* The last version of each file so far, and its readers and writers, as db/files.h has it. */
struct model {
	int version;
	int writer; /* -1 none, -2 several */
	bool read;
};

enum { FILES = 6, PROCESSES = 8, STEPS = 60 };

/* What a process did to a version is one access, as in a trace. */
struct done {
	int process, file, version;
	int64_t in, out, last_out;
	int kinds;
};

static struct done *find_done(struct done *all, int *n, int p, int f, int version)
{
	for (int i = 0; i < *n; i++)
		if (all[i].process == p && all[i].file == f && all[i].version == version)
			return &all[i];
	all[*n] = (struct done){ .process = p, .file = f, .version = version };
	return &all[(*n)++];
}

static void do_read(struct done *done, int64_t t)
{
	done->in = done->in && done->in < t ? done->in : t;
	done->kinds |= EDGE_READ;
}

static void do_write(struct done *done, int64_t t)
{
	done->out = done->out && done->out < t ? done->out : t;
	done->last_out = done->last_out > t ? done->last_out : t;
	done->kinds |= EDGE_WRITE;
}

static int random_graph(unsigned seed)
{
	struct graph *g = begin();
	struct done all[STEPS];
	struct model model[FILES];
	int n_processes = 1, n = 0;

	for (int i = 0; i < FILES; i++) {
		file(g);
		model[i] = (struct model){ 1, -1, false };
	}
	process(g, 0, 1);
	for (int t = 2; t < STEPS; t++) {
		int p = (int)draw(&seed, n_processes), f = (int)draw(&seed, FILES), what = (int)draw(&seed, 8);
		/* Handles overlap: what follows may have begun before. */
		int64_t time = 10 * t + (int)draw(&seed, 30);
		struct model *m = &model[f];

		if (what == 0 && n_processes < PROCESSES) {
			process(g, draw(&seed, 4) ? p + 1 : 0, 10 * t);
			n_processes++;
		} else if (what < 4) {
			if (m->read)
				*m = (struct model){ m->version + 1, -1, false };
			m->writer = m->writer == -1 || m->writer == p ? p : -2;
			do_write(find_done(all, &n, p, f, m->version), time);
		} else {
			m->read |= m->writer != p;
			do_read(find_done(all, &n, p, f, m->version), time);
		}
	}
	for (int i = 0; i < n; i++)
		access_file(g, all[i].process, all[i].file, all[i].version, all[i].in, all[i].out,
			all[i].last_out, all[i].kinds);
	build(g);
	graph_destroy(g);
	return n;
}

static void thousands_of_random_graphs_lose_nothing_and_have_no_cycle(void **state)
{
	int accesses = 0;

	(void)state;
	for (unsigned seed = 1; seed <= 5000; seed++)
		accesses += random_graph(seed);
	print_message("# %d accesses\n", accesses);
	assert_true(accesses > 100000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pipeline_has_one_node_for_each),
		cmocka_unit_test(reading_back_divides_nothing),
		cmocka_unit_test(reading_back_what_was_there_before_divides),
		cmocka_unit_test(reading_back_what_is_known_divides_nothing),
		cmocka_unit_test(update_in_place_is_a_new_version),
		cmocka_unit_test(feedback_divides_processes),
		cmocka_unit_test(process_that_reads_what_its_child_wrote_is_divided),
		cmocka_unit_test(early_log_of_a_reader_divides_nothing),
		cmocka_unit_test(several_writers_share_a_version),
		cmocka_unit_test(writer_that_reads_what_another_wrote_to_it_is_divided),
		cmocka_unit_test(renaming_a_file_after_reading_it_makes_a_part_of_it),
		cmocka_unit_test(looking_is_an_edge_only_if_asked_for),
		cmocka_unit_test(nothing_is_an_empty_graph),
		cmocka_unit_test(processes_that_are_all_there_at_first_cost_no_more),
		cmocka_unit_test(chain_of_a_million_steps_overflows_nothing),
		cmocka_unit_test(thousands_of_random_graphs_lose_nothing_and_have_no_cycle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
