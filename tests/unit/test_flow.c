/* SPDX-License-Identifier: MIT */

/* jobs.h, rules.h: what waits for what, by hand.  Each process is a job of its own.  Times are in ms. */

#include "workflows.h"

#include <errno.h>

#include "base/failure.h"
#include "dag/generate/generate.h"
#include "dag/generate/rules.h"
#include "dag/jobs/jobs.h"
#include "dag/output/xml.h"

/* Of the last access. */
static void at_version(struct workflow *w, int32_t version)
{
	w->graph->accesses[w->graph->n_accesses - 1].version = version;
}

/* Jobs of all processes; circles become one, as jobs_load() has it. */
static struct jobs *jobs_of(struct workflow *w, int32_t **ret_into)
{
	struct jobs *jobs = calloc(1, sizeof(*jobs));

	assert_non_null(jobs);
	jobs->workflow = w;
	jobs->root = strdup("/data");
	jobs->n_jobs = w->graph->n_processes;
	jobs->of = malloc((size_t)jobs->n_jobs * sizeof(*jobs->of));
	jobs->jobs = calloc((size_t)jobs->n_jobs, sizeof(*jobs->jobs));
	w->chosen = malloc((size_t)w->graph->n_accesses + 1);
	assert_true(jobs->root && jobs->of && jobs->jobs && w->chosen);
	memset(w->chosen, true, (size_t)w->graph->n_accesses);
	for (int32_t i = 0; i < jobs->n_jobs; i++) {
		jobs->of[i] = i;
		jobs->jobs[i] = (struct job){ .command = JOBS_NONE, .cwd = ".", .script = strdup("true"),
			.name = strdup((char[]){ (char)('a' + i), '\0' }) };
	}
	assert_int_equal(jobs_flow(jobs, ret_into), 0);
	return jobs;
}

static void done(struct jobs *jobs)
{
	struct workflow *w = (struct workflow *)jobs->workflow;

	jobs_destroy(jobs);
	free(w->chosen);
	end(w);
}

/* "1>0 2>1": which job waits for which. */
static void expect_deps(const struct jobs *jobs, const char *wanted)
{
	char text[256] = "";

	for (int32_t i = 0; i < jobs->n_jobs; i++)
		for (int32_t j = 0; j < jobs->jobs[i].n_deps; j++)
			sprintf(text + strlen(text), "%s%d>%d", *text ? " " : "", i, jobs->jobs[i].deps[j]);
	assert_string_equal(text, wanted);
}

/* Paths of a list of files. */
static void expect_files(const struct jobs *jobs, const int32_t *files, int32_t n, const char *wanted)
{
	char text[256] = "";

	for (int32_t i = 0; i < n; i++)
		sprintf(text + strlen(text), "%s%s", i ? " " : "", jobs->files[files[i]].path);
	assert_string_equal(text, wanted);
}

static void read_after_write(void **state)
{
	struct workflow *w = begin(1);
	int32_t a = process(w, GRAPH_NONE, "a", 0, 10), b = process(w, GRAPH_NONE, "b", 10, 20),
		source = file(w), x = file(w), *into;
	struct jobs *jobs;

	(void)state;
	reads(w, a, source, 1);
	writes(w, a, x, 5);
	reads(w, b, x, 12);
	jobs = jobs_of(w, &into);
	assert_null(into);
	expect_deps(jobs, "1>0");
	expect_files(jobs, jobs->jobs[a].inputs, jobs->jobs[a].n_inputs, "f0.dat");
	expect_files(jobs, jobs->jobs[a].targets, jobs->jobs[a].n_targets, "f1.dat");
	expect_files(jobs, jobs->jobs[b].inputs, jobs->jobs[b].n_inputs, "f1.dat");
	assert_int_equal(jobs->jobs[b].n_outputs, 0);
	done(jobs);
}

/* A job that writes the next content comes after all that read the one before, and is the second writer. */
static void write_after_read(void **state)
{
	struct workflow *w = begin(1);
	int32_t a = process(w, GRAPH_NONE, "a", 0, 10), b = process(w, GRAPH_NONE, "b", 10, 20),
		c = process(w, GRAPH_NONE, "c", 10, 20), d = process(w, GRAPH_NONE, "d", 20, 30),
		e = process(w, GRAPH_NONE, "e", 30, 40), x = file(w), *into;
	struct jobs *jobs;

	(void)state;
	writes(w, a, x, 5);
	reads(w, b, x, 12);
	reads(w, c, x, 13);
	writes(w, d, x, 25);
	at_version(w, 2);
	reads(w, e, x, 35);
	at_version(w, 2);
	jobs = jobs_of(w, &into);
	assert_null(into);
	expect_deps(jobs, "1>0 2>0 3>0 3>1 3>2 4>3");
	assert_int_equal(jobs->jobs[a].n_targets + jobs->jobs[d].n_targets, 0);
	assert_int_equal(jobs->files[jobs->jobs[a].outputs[0]].producer, JOBS_NONE);
	done(jobs);
}

/* Of the same content, in the order of their first writes. */
static void write_after_write(void **state)
{
	struct workflow *w = begin(2);
	int32_t a = process(w, GRAPH_NONE, "a", 0, 30), b = process(w, GRAPH_NONE, "b", 0, 30),
		c = process(w, GRAPH_NONE, "c", 30, 40), log = file(w), *into;
	struct jobs *jobs;

	(void)state;
	writes(w, b, log, 5);
	writes(w, a, log, 6);
	reads(w, c, log, 35);
	jobs = jobs_of(w, &into);
	assert_null(into);
	expect_deps(jobs, "0>1 2>0");
	done(jobs);
}

static void own_output(void **state)
{
	struct workflow *w = begin(1);
	int32_t a = process(w, GRAPH_NONE, "a", 0, 10), x = file(w), *into;
	struct jobs *jobs;

	(void)state;
	writes(w, a, x, 3);
	reads(w, a, x, 5);
	jobs = jobs_of(w, &into);
	expect_deps(jobs, "");
	assert_int_equal(jobs->jobs[a].n_inputs, 0);
	expect_files(jobs, jobs->jobs[a].targets, jobs->jobs[a].n_targets, "f0.dat");
	done(jobs);
}

/* Two that read each other's output while they run. */
static void circle(void **state)
{
	struct workflow *w = begin(2);
	int32_t a = process(w, GRAPH_NONE, "a", 0, 30), b = process(w, GRAPH_NONE, "b", 0, 30),
		c = process(w, GRAPH_NONE, "c", 30, 40), x = file(w), y = file(w),
		z = file(w), *into;
	struct jobs *jobs;

	(void)state;
	writes(w, a, x, 2);
	reads(w, b, x, 3);
	writes(w, b, y, 4);
	reads(w, a, y, 5);
	writes(w, a, z, 6);
	reads(w, c, z, 35);
	jobs = jobs_of(w, &into);
	assert_non_null(into);
	assert_int_equal(into[a], a);
	assert_int_equal(into[b], a);
	assert_int_equal(into[c], c);
	free(into);
	done(jobs);
}

/* A chain of many does not need a stack. */
static void long_chain(void **state)
{
	struct workflow *w = begin(1);
	int32_t *into, last = GRAPH_NONE;
	struct jobs *jobs;

	(void)state;
	for (int i = 0; i < TASKS - 1; i++) {
		int32_t p = process(w, GRAPH_NONE, "p", 10 * i, 10 * i + 10), f = file(w);

		if (last != GRAPH_NONE)
			reads(w, p, last, 10 * i + 1);
		writes(w, p, f, 10 * i + 2);
		last = f;
	}
	jobs = jobs_of(w, &into);
	assert_null(into);
	for (int32_t i = 1; i < jobs->n_jobs; i++) {
		assert_int_equal(jobs->jobs[i].n_deps, 1);
		assert_int_equal(jobs->jobs[i].deps[0], i - 1);
	}
	done(jobs);
}

static bool says_all(const char *name)
{
	return *name;
}

static bool says_no_1(const char *name)
{
	return !strchr(name, '1');
}

static void rules(void **state)
{
	struct workflow *w = begin(1);
	int32_t a = process(w, GRAPH_NONE, "a", 0, 10), b = process(w, GRAPH_NONE, "b", 10, 20),
		c = process(w, GRAPH_NONE, "c", 10, 20), source = file(w), x = file(w),
		y = file(w), *into;
	struct rules *rules;
	struct jobs *jobs;

	(void)state;
	(void)c;
	reads(w, a, source, 1);
	writes(w, a, x, 5);
	reads(w, b, x, 12);
	writes(w, b, y, 13);
	jobs = jobs_of(w, &into);
	assert_int_equal(rules_create(jobs, says_all, &rules), 0);
	assert_int_equal(rules->n_rules, 2);
	assert_int_equal(rules->left_out, 1);
	assert_string_equal(rules->rules[0].needs[0], "f0.dat");
	assert_string_equal(rules->rules[0].makes[0], "f1.dat");
	assert_null(rules->rules[0].stamp);
	assert_string_equal(rules->rules[1].needs[0], "f1.dat");
	assert_string_equal(rules->rules[1].command, "true");
	rules_destroy(rules);
	assert_int_equal(rules_create(jobs, says_no_1, &rules), 0);
	assert_string_equal(rules->rules[0].makes[0], ".ftrac/a");
	assert_string_equal(rules->rules[0].command, "true; [ $? -eq 0 ] && : >.ftrac/a");
	assert_int_equal(rules->rules[1].n_needs, 1);
	assert_string_equal(rules->rules[1].needs[0], ".ftrac/a");
	rules_destroy(rules);
	done(jobs);
}

static void expect_line(const char *command, const char *wanted)
{
	char *line = rules_one_line(command);

	assert_string_equal(line, wanted);
	free(line);
}

static void one_line(void **state)
{
	(void)state;
	expect_line("a b", "a b");
	expect_line("a \\\n b", "a  b");
	expect_line("echo \"a\\\nb\"", "echo \"ab\"");
	expect_line("echo 'a\\\nb'", "eval \"$(printf %b 'echo '\\''a\\\\\\nb'\\''')\"");
	expect_line("a\nb", "eval \"$(printf %b 'a\\nb')\"");
	expect_line("echo \\'\\\n\\'", "echo \\'\\'");
	expect_line("a\tb \xc3\xa9", "a\tb \xc3\xa9");
	expect_line("a\rb", "eval \"$(printf %b 'a\\0015b')\"");
	expect_line("a\xff\x7f\t\xc3\xa9", "eval \"$(printf %b 'a\\0377\\0177\t\xc3\xa9')\"");
}

static const char *double_dollar(const char *at)
{
	return *at == '$' ? "$$" : NULL;
}

static void root(void **state)
{
	const struct rules rules = { .root = "/w/d" };
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	rules_write(&rules, "-I/w/d/x $y /w/d /w/dd /w/d.x '/w/d'", "@", double_dollar, out);
	fputc('\n', out);
	rules_write(&rules, "/mnt/w/d x/w/d $h/w/d /w/d\xc3\xa9 =/w/d:/w/d a\\n/w/d", "@", NULL,
		out);
	fclose(out);
	assert_string_equal(text, "-I@/x $$y @ /w/dd /w/d.x '@'\n"
				  "/mnt/w/d x/w/d $h/w/d /w/d\xc3\xa9 =@:@ a\\n@");
	free(text);
}

static void names_that_mean_something_are_not_said(void **state)
{
	static const char *const never[] = { "", "a\nb", "a\r" },
				 *const make[] = { "all", "include", ".PHONY", "-lm", "a%b", "~x",
					 "lib(x)", "\va", "a\\" },
				 *const fine[] = { "a", "all.o", ".x", "-x", "a b", "a=b", "$x",
					 "caf\xe9", "\x01", "a(b" };

	(void)state;
	for (size_t i = 0; i < sizeof(never) / sizeof(never[0]); i++) {
		assert_false(rules_make_says(never[i]));
		assert_false(rules_ninja_says(never[i]));
		assert_false(rules_snakemake_says(never[i]));
	}
	for (size_t i = 0; i < sizeof(make) / sizeof(make[0]); i++)
		assert_false(rules_make_says(make[i]));
	for (size_t i = 0; i < sizeof(fine) / sizeof(fine[0]); i++) {
		assert_true(rules_make_says(fine[i]));
		assert_true(rules_ninja_says(fine[i]));
	}
	assert_false(rules_snakemake_says("caf\xe9"));
	assert_false(rules_snakemake_says("{x}"));
}

/* Of a job that reads this file. */
static int check_name(char *name, bool (*says)(const char *), struct failure *ret_refusal)
{
	struct workflow *w = begin(1);
	int32_t a = process(w, GRAPH_NONE, "a", 0, 10), *into;
	struct jobs *jobs;
	int r;

	reads(w, a, file(w), 1);
	datas[0].path = name;
	jobs = jobs_of(w, &into);
	r = generate_check(jobs, "YAML", says, ret_refusal);
	done(jobs);
	return r;
}

static void refusal_outlives_the_jobs(void **state)
{
	char name[] = "/data/caf\xe9";
	struct failure refusal;

	(void)state;
	assert_int_equal(check_name(name, generate_says_utf8, &refusal), -EILSEQ);
	memset(name, 'x', sizeof(name) - 1);
	assert_string_equal(refusal.text, "YAML cannot express the file name 'caf\\xe9' of a");
	assert_int_equal(check_name((char[]){ "/data/a\x01" }, generate_says_utf8, &refusal), 0);
	assert_int_equal(check_name((char[]){ "/data/a\x01" }, xml_says, &refusal), -EILSEQ);
	assert_int_equal(check_name((char[]){ "/data/a\n\xc3\xa9" }, xml_says, &refusal), 0);
	assert_int_equal(check_name((char[]){ "/data/\xef\xbf\xbe" }, xml_says, &refusal), -EILSEQ);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(read_after_write),
		cmocka_unit_test(write_after_read), cmocka_unit_test(write_after_write),
		cmocka_unit_test(own_output), cmocka_unit_test(circle),
		cmocka_unit_test(long_chain), cmocka_unit_test(rules), cmocka_unit_test(one_line),
		cmocka_unit_test(root), cmocka_unit_test(names_that_mean_something_are_not_said),
		cmocka_unit_test(refusal_outlives_the_jobs) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
