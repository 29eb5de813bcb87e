/* SPDX-License-Identifier: MIT */

/* diff_*.h: two runs that are made up, and what differs between them. */

#include "workflows.h"

#include <signal.h>

#include "dag/diff/generated_name.h"
#include "dag/diff/find.h"
#include "dag/diff/measure.h"
#include "dag/diff/names.h"

static struct task tasks2[2][TASKS];
static struct data datas2[2][TASKS];

struct two {
	struct workflow *w[2];
	const char *root[2];
	struct names *names;
	struct side *side[2];
	struct match *match;
	struct found *found;
};

/* A process with a command of its own; pids of the second run are others. */
static int32_t runs(struct two *two, int run, int32_t parent, const char *command)
{
	struct workflow *w = two->w[run];
	int32_t i = w->graph->n_processes;
	static char programs[2][TASKS][32];
	struct graph_process p = { .id = i + 1,
		.parent = parent + 1,
		.start_ns = (int64_t)i * MS,
		.end_ns = (int64_t)(i + 10) * MS,
		.data = &tasks2[run][i] };

	assert_true(i < TASKS);
	snprintf(programs[run][i], sizeof(programs[run][i]), "%.*s", (int)strcspn(command, " "),
		command);
	tasks2[run][i] = (struct task){ .program = programs[run][i],
		.command = command,
		.cpu_ns = 2 * MS,
		.rss_bytes = WORKFLOW_UNKNOWN,
		.exit_signal = WORKFLOW_UNKNOWN,
		.phase = "phase",
		.chosen = true,
		.pid = 1000 * (run + 1) + i };
	assert_int_equal(graph_add_process(w->graph, &p), i);
	w->end_ns = p.end_ns;
	return i;
}

enum { GIVEN, MADE, GONE };

static int32_t has(struct two *two, int run, const char *path, int how)
{
	struct workflow *w = two->w[run];
	int32_t i = w->graph->n_files;

	assert_true(i < TASKS);
	datas2[run][i] = (struct data){ .path = path,
		.kind = "file",
		.size_bytes = 1,
		.created = how != GIVEN,
		.deleted = how == GONE };
	return graph_add_file(w->graph, i + 1, &datas2[run][i]);
}

static void does(struct two *two, int run, int32_t p, int32_t f, int kinds)
{
	struct graph_access a = { .process = p,
		.file = f,
		.version = 1,
		.kinds = kinds,
		.bread = kinds & EDGE_READ ? 10 : 0,
		.bwrite = kinds & EDGE_WRITE ? 10 : 0,
		.nwrite = kinds & EDGE_WRITE ? 1 : 0,
		.first_in_ns = kinds & EDGE_READ ? p * MS : GRAPH_NEVER,
		.first_out_ns = kinds & EDGE_WRITE ? p * MS : GRAPH_NEVER,
		.last_out_ns = kinds & EDGE_WRITE ? p * MS : GRAPH_NEVER,
		.last_ns = p * MS };

	assert_int_equal(graph_add_access(two->w[run]->graph, &a), 0);
}

static void begin_two(struct two *two)
{
	*two = (struct two){ .root = { "/a/work", "/somewhere/else" } };
	two->w[0] = begin(1);
	two->w[1] = begin(1);
}

static void compare_two(struct two *two)
{
	struct names_run named[2];

	for (int run = 0; run < 2; run++) {
		struct workflow *w = two->w[run];

		w->chosen = malloc((size_t)w->graph->n_accesses + 1);
		assert_non_null(w->chosen);
		memset(w->chosen, 1, (size_t)w->graph->n_accesses + 1);
		named[run] = (struct names_run){ w, two->root[run], NULL, NULL };
	}
	assert_int_equal(names_create(named, &two->names), 0);
	for (int run = 0; run < 2; run++)
		assert_int_equal(side_create(two->w[run], two->names, run, SIDE_ALL, &two->side[run]),
			0);
	assert_int_equal(match_create((const struct side *const[]){ two->side[0], two->side[1] },
				 two->names, &two->match),
		0);
	assert_int_equal(find_differences(two->match, two->names, &two->found), 0);
}

static void end_two(struct two *two)
{
	found_destroy(two->found);
	match_destroy(two->match);
	for (int run = 0; run < 2; run++) {
		side_destroy(two->side[run]);
		free(two->w[run]->chosen);
		end(two->w[run]);
	}
	names_destroy(two->names);
}

static void expect(const struct two *two, enum find_what what, enum change change, int32_t n)
{
	assert_int_equal(two->found->count[what][change], n);
}

static void expect_pair(const struct two *two, int32_t a, int32_t b)
{
	assert_int_equal(two->match->pair[0][a], b);
	assert_int_equal(two->match->pair[1][b], a);
}

/* ---- names ---- */

static void generated_names_look_like_it(void **state)
{
	(void)state;
	assert_int_equal(generated_name_of("ccAb12Cd", 8, 0), GENERATED_SURE);
	assert_int_equal(generated_name_of("ccabcdef", 8, 0), GENERATED_SURE);
	assert_int_equal(generated_name_of(&"tmp.Ab12Cd"[4], 6, 4), GENERATED_SURE);
	assert_int_equal(generated_name_of("tmpab_12x9q", 11, 0), GENERATED_SURE);
	assert_int_equal(generated_name_run("tmpab_12x9q.py", 14), 11);
	assert_int_equal(generated_name_of("0123456789abcdef", 16, 0), GENERATED_SURE);
	assert_int_equal(generated_name_of("st6HGeou", 8, 0), GENERATED_MAYBE);
	assert_int_equal(generated_name_of("Makefile", 8, 0), GENERATED_NOT);
	assert_int_equal(generated_name_of("common", 6, 0), GENERATED_NOT);
	assert_int_equal(generated_name_of("a1", 2, 0), GENERATED_NOT);
	assert_true(generated_name_is_uuid("123e4567-e89b-12d3-a456-426614174000", 36));
	assert_false(generated_name_is_uuid("123e4567-e89b-12d3-a456_426614174000", 36));
}

/* What is left of a command. */
static void expect_words(const char *a, const char *b, const char *root, const char *const *words)
{
	struct two two;
	struct names_words at;

	begin_two(&two);
	two.root[0] = root;
	runs(&two, 0, GRAPH_NONE, a);
	runs(&two, 1, GRAPH_NONE, b);
	compare_two(&two);
	names_words_begin(&at, two.names, 0, 0);
	for (; *words; words++) {
		assert_true(names_words_next(&at));
		assert_int_equal(at.len, strlen(*words));
		assert_memory_equal(at.word, *words, at.len);
	}
	assert_false(names_words_next(&at));
	end_two(&two);
}

static void commands_are_compared_from_the_root_on(void **state)
{
	(void)state;
	expect_words("cp /a/work/x -I/a/work/inc /a/workshop/y /a/work", "true", "/a/work",
		(const char *const[]){ "cp", "./x", "-I./inc", "/a/workshop/y", ".", NULL });
	expect_words("cp '/a b/x' '/a b/y z'", "true", "/a b",
		(const char *const[]){ "cp", "./x", "./y", "z", NULL });
}

static void the_number_of_jobs_is_no_part_of_a_command(void **state)
{
	(void)state;
	expect_words("make -s -j8 all -j 4 --jobs=3 -j x", "true", "/a",
		(const char *const[]){ "make", "-s", "all", "x", NULL });
	expect_words("sh -c 'make -j8 && sort -j8'", "true", "/a",
		(const char *const[]){ "sh", "-c", "make", "&&", "sort", "-j8", NULL });
	expect_words("xargs -P4 -n1 sort -j2", "true", "/a",
		(const char *const[]){ "xargs", "-n1", "sort", "-j2", NULL });
}

static void what_both_runs_have_is_not_generated(void **state)
{
	(void)state;
	expect_words("as -o x.o /tmp/ccAb12Cd.s /tmp/x1y2z3 k1l2m3", "as /tmp/x1y2z3", "/a",
		(const char *const[]){
			"as", "-o", "x.o", "/tmp/*.s", "/tmp/x1y2z3", "k1l2m3", NULL });
}

/* That of the first process is 1000. */
static void own_process_ids_are_generated_unless_they_are_arguments(void **state)
{
	(void)state;
	expect_words("cat log.1000 log.2000 01000 1000", "cat log.1000 1000", "/a",
		(const char *const[]){ "cat", "log.*", "log.2000", "01000", "1000", NULL });
}

/* The number is an argument, and that of a process in one run alone. */
static void a_number_is_not_a_change(void **state)
{
	struct two two;

	(void)state;
	begin_two(&two);
	runs(&two, 0, GRAPH_NONE, "sort -o part-1000 x");
	runs(&two, 1, GRAPH_NONE, "sort -o part-1000 x");
	compare_two(&two);
	assert_int_equal(two.found->n, 0);
	end_two(&two);
}

static void an_open_quote_ends_with_the_command(void **state)
{
	(void)state;
	expect_words("echo 'a b", "true", "/a", (const char *const[]){ "echo", "a", "b", NULL });
	expect_words("", "true", "/a", (const char *const[]){ NULL });
}

/* ---- matching ---- */

/* Compilations in an order; each reads its source and a header, and has a temporary file. */
static void compile(struct two *two, int run, const char *const *sources, const char *flag)
{
	static char texts[2][TASKS][64];
	int n = 0;
	int32_t make = runs(two, run, GRAPH_NONE, run ? "make -j8" : "make -j1");
	int32_t header = has(two, run, run ? "/somewhere/else/x.h" : "/a/work/x.h", GIVEN);

	for (; *sources; sources++) {
		char *command = texts[run][n++], *as = texts[run][n++], *path = texts[run][n++],
		     *tmp = texts[run][n++];
		int32_t p, q, f, t;

		snprintf(command, 64, "cc1 %s %s.c", flag, *sources);
		snprintf(as, 64, "as -o %s.o /tmp/cc%sx%dQ3.s", *sources, *sources, 10 + run);
		snprintf(path, 64, "%s/%s.c", two->root[run], *sources);
		snprintf(tmp, 64, "/tmp/cc%sx%dQ3.s", *sources, 10 + run);
		p = runs(two, run, make, command);
		q = runs(two, run, make, as);
		f = has(two, run, path, GIVEN);
		t = has(two, run, tmp, GONE);
		does(two, run, p, f, EDGE_READ);
		does(two, run, p, header, EDGE_READ);
		does(two, run, p, t, EDGE_WRITE | EDGE_CREATE);
		does(two, run, q, t, EDGE_READ | EDGE_DELETE);
	}
}

static void another_order_is_the_same_graph(void **state)
{
	struct two two;

	(void)state;
	begin_two(&two);
	compile(&two, 0, (const char *const[]){ "a", "b", "c", NULL }, "-O1");
	compile(&two, 1, (const char *const[]){ "c", "a", "b", NULL }, "-O1");
	compare_two(&two);
	assert_int_equal(two.found->n, 0);
	assert_int_equal(two.found->processes[0], 7);
	expect_pair(&two, 1, 3);
	expect_pair(&two, 5, 1);
	end_two(&two);
}

static void another_flag_is_a_change_of_each(void **state)
{
	struct two two;
	char *words;

	(void)state;
	begin_two(&two);
	compile(&two, 0, (const char *const[]){ "a", "b", "c", NULL }, "-O1");
	compile(&two, 1, (const char *const[]){ "c", "a", "b", NULL }, "-O2");
	compare_two(&two);
	assert_int_equal(two.found->n, 3);
	expect(&two, FIND_PROCESS, CHANGE_CHANGED, 3);
	expect_pair(&two, 1, 3);
	words = find_words(two.names, 1, 3);
	assert_string_equal(words, "-O1 -> -O2");
	free(words);
	end_two(&two);
}

static void what_is_missing_is_removed_and_what_is_more_is_added(void **state)
{
	struct two two;

	(void)state;
	begin_two(&two);
	compile(&two, 0, (const char *const[]){ "a", "b", "c", NULL }, "-O1");
	compile(&two, 1, (const char *const[]){ "a", "d", "b", "e", NULL }, "-O1");
	compare_two(&two);
	expect(&two, FIND_PROCESS, CHANGE_REMOVED, 2);
	expect(&two, FIND_PROCESS, CHANGE_ADDED, 4);
	expect(&two, FIND_PROCESS, CHANGE_CHANGED, 0);
	/* Temporary files come with their processes. */
	expect(&two, FIND_FILE, CHANGE_REMOVED, 1);
	expect(&two, FIND_FILE, CHANGE_ADDED, 2);
	assert_int_equal(found_edges(two.found, CHANGE_ADDED), 0);
	end_two(&two);
}

static void an_edge_more_is_one_edge(void **state)
{
	struct two two;

	(void)state;
	begin_two(&two);
	compile(&two, 0, (const char *const[]){ "a", "b", NULL }, "-O1");
	compile(&two, 1, (const char *const[]){ "a", "b", NULL }, "-O1");
	does(&two, 1, 1, 3, EDGE_READ | EDGE_MAP);
	compare_two(&two);
	assert_int_equal(two.found->n, 1);
	expect(&two, FIND_EDGE, CHANGE_ADDED, 1);
	assert_int_equal(two.found->difference[0].process[1], 1);
	end_two(&two);
}

/* Nothing but the place of a pair in the chain tells them apart. */
static void equals_are_matched_along_their_files(void **state)
{
	static char path[2][8][32];
	struct two two;

	(void)state;
	begin_two(&two);
	for (int run = 0; run < 2; run++) {
		int32_t sh = runs(&two, run, GRAPH_NONE, "sh run"), writers[4], f[4];

		for (int i = 0; i < 4; i++) {
			snprintf(path[run][i], 32, "/tmp/tmp.%cb%dCd%d", 'A' + i, run,
				10 * run + i);
			writers[i] = runs(&two, run, sh, "put");
			f[i] = has(&two, run, path[run][i], GONE);
			does(&two, run, writers[i], f[i], EDGE_WRITE | EDGE_CREATE);
		}
		for (int i = 0; i < 4; i++)
			does(&two, run, runs(&two, run, sh, "get"), f[run ? 3 - i : i], EDGE_READ);
	}
	compare_two(&two);
	assert_int_equal(two.found->n, 0);
	expect_pair(&two, 1, 1);
	expect_pair(&two, 5, 8);
	end_two(&two);
}

static void a_process_between_is_added_and_takes_the_fork(void **state)
{
	struct two two;
	int32_t sh;

	(void)state;
	begin_two(&two);
	runs(&two, 0, runs(&two, 0, GRAPH_NONE, "make"), "sort x");
	sh = runs(&two, 1, runs(&two, 1, GRAPH_NONE, "make"), "sh job");
	runs(&two, 1, sh, "sort x");
	compare_two(&two);
	assert_int_equal(two.found->n, 3);
	expect(&two, FIND_PROCESS, CHANGE_ADDED, 1);
	expect(&two, FIND_FORK, CHANGE_ADDED, 1);
	expect(&two, FIND_FORK, CHANGE_REMOVED, 1);
	end_two(&two);
}

/* Which worker of a pool gets what differs from run to run, and how many there are is not what is computed. */
static void forks_are_part_of_the_forking_process(void **state)
{
	struct two two;
	int32_t pool, f[3], w[2];

	(void)state;
	begin_two(&two);
	for (int run = 0; run < 2; run++) {
		const char *const names[2][3] = { { "/a/work/1", "/a/work/2", "/a/work/3" },
			{ "/somewhere/else/1", "/somewhere/else/2", "/somewhere/else/3" } };

		pool = runs(&two, run, runs(&two, run, GRAPH_NONE, "sh"), "python pool");
		for (int i = 0; i < 3; i++)
			f[i] = has(&two, run, names[run][i], GIVEN);
		w[0] = runs(&two, run, pool, "python pool");
		w[1] = runs(&two, run, run ? w[0] : pool, "python pool");
		for (int i = 0; i < 3; i++)
			does(&two, run, w[run ? i % 2 : i / 2], f[i], EDGE_READ);
		if (run)
			runs(&two, run, runs(&two, run, w[1], "python pool"), "cat");
		else
			runs(&two, run, w[0], "cat");
	}
	compare_two(&two);
	assert_int_equal(two.found->n, 0);
	assert_int_equal(two.found->processes[1], 3);
	end_two(&two);
}

/* A shell may execute its last command itself: (cat a; cat b) is then a child of the same command. */
static void child_that_executed_the_command_of_its_parent_is_a_process(void **state)
{
	struct two two;
	int32_t shell, f, cat[2];

	(void)state;
	begin_two(&two);
	for (int run = 0; run < 2; run++) {
		shell = runs(&two, run, GRAPH_NONE, "sh");
		f = has(&two, run, "/a/h", GIVEN);
		cat[0] = runs(&two, run, shell, "cat h");
		cat[1] = runs(&two, run, run ? cat[0] : shell, "cat h");
		for (int i = 0; i < 2; i++) {
			tasks2[run][cat[i]].executed = true;
			does(&two, run, cat[i], f, EDGE_READ);
		}
	}
	compare_two(&two);
	assert_int_equal(two.found->processes[0], 3);
	assert_int_equal(two.found->processes[1], 3);
	assert_int_equal(two.found->n, 2); /* forks: of the second cat by the shell, and by the first cat */
	end_two(&two);
}

/* The first of the processes that append to it, or a shell that redirects. */
static void the_creator_of_a_file_that_others_write_does_not_matter(void **state)
{
	struct two two;

	(void)state;
	begin_two(&two);
	for (int run = 0; run < 2; run++) {
		int32_t sh = runs(&two, run, GRAPH_NONE, "sh"), a = runs(&two, run, sh, "a"),
			b = runs(&two, run, sh, "b"), log, alone;

		log = has(&two, run, run ? "/somewhere/else/log" : "/a/work/log", MADE);
		alone = has(&two, run, run ? "/somewhere/else/x" : "/a/work/x", MADE);
		does(&two, run, run ? b : a, log, EDGE_CREATE);
		does(&two, run, a, log, EDGE_WRITE);
		does(&two, run, b, log, EDGE_WRITE);
		does(&two, run, run ? b : a, alone, EDGE_CREATE);
	}
	compare_two(&two);
	assert_int_equal(two.found->n, 2);
	expect(&two, FIND_EDGE + 2, CHANGE_REMOVED, 1);
	expect(&two, FIND_EDGE + 2, CHANGE_ADDED, 1);
	end_two(&two);
}

static void one_path_is_one_file(void **state)
{
	struct two two;
	int32_t p, f;

	(void)state;
	begin_two(&two);
	p = runs(&two, 0, GRAPH_NONE, "ar");
	f = has(&two, 0, "/a/work/x.a", MADE);
	does(&two, 0, p, f, EDGE_READ | EDGE_DELETE);
	does(&two, 0, p, has(&two, 0, "/a/work/x.a", MADE), EDGE_WRITE | EDGE_CREATE);
	p = runs(&two, 1, GRAPH_NONE, "ar");
	does(&two, 1, p, has(&two, 1, "/somewhere/else/x.a", MADE),
		EDGE_READ | EDGE_WRITE | EDGE_DELETE);
	compare_two(&two);
	assert_int_equal(two.found->n, 0);
	assert_int_equal(two.found->files[0], 1);
	assert_int_equal(two.found->edges[0], 3);
	end_two(&two);
}

static void another_name_of_what_is_made_is_a_change(void **state)
{
	struct two two;
	int32_t p;

	(void)state;
	begin_two(&two);
	p = runs(&two, 0, GRAPH_NONE, "tool");
	does(&two, 0, p, has(&two, 0, "/a/work/one", MADE), EDGE_WRITE);
	p = runs(&two, 1, GRAPH_NONE, "tool");
	does(&two, 1, p, has(&two, 1, "/somewhere/else/two", MADE), EDGE_WRITE);
	compare_two(&two);
	assert_int_equal(two.found->n, 1);
	expect(&two, FIND_FILE, CHANGE_CHANGED, 1);
	end_two(&two);
}

static void a_fault_is_another_end_and_being_killed_is_not(void **state)
{
	struct two two;

	(void)state;
	begin_two(&two);
	for (int run = 0; run < 2; run++) {
		int32_t sh = runs(&two, run, GRAPH_NONE, "sh");

		runs(&two, run, sh, "killed");
		runs(&two, run, sh, "faulty");
	}
	tasks2[1][1].exit_signal = SIGTERM;
	tasks2[1][2].exit_signal = SIGSEGV;
	compare_two(&two);
	assert_int_equal(two.found->n, 0);
	assert_int_equal(two.found->n_ends, 1);
	assert_int_equal(two.found->ends[0], 2);
	end_two(&two);
}

static void nothing_is_the_same_as_nothing(void **state)
{
	struct two two;

	(void)state;
	begin_two(&two);
	compare_two(&two);
	assert_int_equal(two.found->n, 0);
	assert_int_equal(two.found->processes[0], 0);
	end_two(&two);
}

/* ---- figures ---- */

static void phases_are_those_of_the_first_run(void **state)
{
	struct measurement *m;
	struct two two;

	(void)state;
	begin_two(&two);
	compile(&two, 0, (const char *const[]){ "a", "b", NULL }, "-O1");
	compile(&two, 1, (const char *const[]){ "b", "a", NULL }, "-O1");
	for (int i = 0; i < 5; i++)
		tasks2[1][i].phase = i < 3 ? "cc1" : "cc1.2";
	compare_two(&two);
	assert_int_equal(measure_create(two.match, &m), 0);
	assert_int_equal(m->n, 2);
	assert_string_equal(m->measured[1].phase, "phase");
	assert_int_equal(m->measured[1].processes[1], 5);
	assert_int_equal(m->measured[0].of[MEASURE_TIME][0], 14 * MS);
	assert_int_equal(m->measured[0].of[MEASURE_CPU][1], 10 * MS);
	assert_int_equal(m->measured[0].of[MEASURE_MEMORY][0], WORKFLOW_UNKNOWN);
	assert_int_equal(m->measured[1].of[MEASURE_READ][0], 60);
	assert_true(measure_percent(100, 112) > 11.9 && measure_percent(100, 112) < 12.1);
	measure_destroy(m);
	end_two(&two);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(generated_names_look_like_it),
		cmocka_unit_test(commands_are_compared_from_the_root_on),
		cmocka_unit_test(the_number_of_jobs_is_no_part_of_a_command),
		cmocka_unit_test(what_both_runs_have_is_not_generated),
		cmocka_unit_test(own_process_ids_are_generated_unless_they_are_arguments),
		cmocka_unit_test(a_number_is_not_a_change),
		cmocka_unit_test(an_open_quote_ends_with_the_command),
		cmocka_unit_test(another_order_is_the_same_graph),
		cmocka_unit_test(another_flag_is_a_change_of_each),
		cmocka_unit_test(what_is_missing_is_removed_and_what_is_more_is_added),
		cmocka_unit_test(an_edge_more_is_one_edge),
		cmocka_unit_test(equals_are_matched_along_their_files),
		cmocka_unit_test(a_process_between_is_added_and_takes_the_fork),
		cmocka_unit_test(forks_are_part_of_the_forking_process),
		cmocka_unit_test(child_that_executed_the_command_of_its_parent_is_a_process),
		cmocka_unit_test(the_creator_of_a_file_that_others_write_does_not_matter),
		cmocka_unit_test(one_path_is_one_file),
		cmocka_unit_test(another_name_of_what_is_made_is_a_change),
		cmocka_unit_test(a_fault_is_another_end_and_being_killed_is_not),
		cmocka_unit_test(nothing_is_the_same_as_nothing),
		cmocka_unit_test(phases_are_those_of_the_first_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
