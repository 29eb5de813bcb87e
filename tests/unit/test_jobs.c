/* SPDX-License-Identifier: MIT */

/* views.sql: which job a process belongs to, what that is called, and its phase.  steps.sql: its step. */

#include "feed.h"

/* In ms of the run. */
#define T(n) (START_NS + (n) * INT64_C(1000000))

static void begins(struct feed *f, int pid, int parent, int t)
{
	feed_process(f, EVENT_FORK, (struct event_process){ .pid = pid, .tid = pid, .ppid = parent,
		.tier = TIER_PTRACE }, T(t), NULL);
}

static void ends(struct feed *f, int pid, int t)
{
	feed_process(f, EVENT_EXIT, (struct event_process){ .pid = pid, .tid = pid,
		.tier = TIER_PTRACE }, T(t), NULL);
}

/* words: arguments, separated by one space; a script's comm is not that of its program. */
static void runs_as(struct feed *f, int pid, const char *exe, const char *comm, const char *words,
	const char *variables, int t)
{
	char argv[256];
	struct facts_of_process facts = { .exe = exe, .comm = comm, .argv = argv, .cwd = "/",
		.argv_len = snprintf(argv, sizeof(argv), "%s", words) + 1, .environ = variables,
		.environ_len = variables ? strlen(variables) + 1 : 0 };

	for (char *at = argv; *at; at++)
		*at = *at == ' ' ? '\0' : *at;
	feed_process(f, EVENT_EXEC, (struct event_process){ .pid = pid, .tid = pid,
		.tier = TIER_PTRACE }, T(t), &facts);
}

static void runs(struct feed *f, int pid, const char *words, int t)
{
	char exe[64];

	snprintf(exe, sizeof(exe), "/usr/bin/%.*s", (int)strcspn(words, " "), words);
	runs_as(f, pid, exe, exe + 9, words, NULL, t);
}

/* Begins, runs, ends. */
static void job(struct feed *f, int pid, int parent, const char *words, int from, int to)
{
	begins(f, pid, parent, from);
	runs(f, pid, words, from);
	ends(f, pid, to);
}

static const char *jobs(struct feed *f)
{
	return ask(f, "SELECT group_concat(t, ' ') FROM (SELECT p.pid || ':' || coalesce((SELECT pid "
		"FROM process j WHERE CAST(j.id AS TEXT) = p.job), p.job, '-') || ':' || "
		"coalesce(p.phase, '-') AS t FROM process p ORDER BY p.pid)");
}

static void processes_below_make_are_jobs(void **state)
{
	struct feed *f = *state;

	begins(f, 20, 10, 0); /* of a session that was there before */
	runs(f, 20, "make -j8", 0);
	begins(f, 30, 20, 1);
	runs(f, 30, "sh -c cc;true", 1);
	job(f, 31, 30, "cc -c x.c", 2, 3);
	ends(f, 30, 4);
	job(f, 40, 20, "ld x.o", 5, 6);
	assert_string_equal(jobs(f), "10:-:- 20:-:- 30:30:cc 31:30:cc 40:40:ld");
}

static void one_command_is_one_job(void **state)
{
	struct feed *f = *state;

	assert_string_equal(jobs(f), "10:10:p10");
}

static void below_nested_makes_the_nearest_counts(void **state)
{
	struct feed *f = *state;

	begins(f, 20, 10, 0);
	runs(f, 20, "make", 0);
	begins(f, 30, 20, 1);
	runs(f, 30, "sh -c make", 1);
	begins(f, 40, 30, 2);
	runs(f, 40, "make -C sub", 2);
	job(f, 50, 40, "cc -c x.c", 3, 4);
	assert_string_equal(jobs(f), "10:-:- 20:-:- 30:-:- 40:-:- 50:50:cc");
}

static void what_drives_and_works_too_is_a_job(void **state)
{
	struct feed *f = *state;

	begins(f, 20, 10, 0);
	runs(f, 20, "make", 0);
	begins(f, 30, 20, 1);
	runs(f, 30, "sh -c rm;make", 1);
	job(f, 31, 30, "rm x", 2, 3);
	begins(f, 40, 30, 4);
	runs(f, 40, "make -C sub", 4);
	job(f, 50, 40, "cc -c x.c", 5, 6);
	assert_string_equal(jobs(f), "10:-:- 20:-:- 30:30:rm 31:30:rm 40:30:rm 50:50:cc");
}

static void script_of_a_shell_drives_unless_make_runs_it(void **state)
{
	struct feed *f = *state;

	begins(f, 20, 10, 0);
	runs_as(f, 20, "/bin/dash", "sh", "sh all.sh", NULL, 0);
	begins(f, 30, 20, 1);
	runs(f, 30, "make", 1);
	begins(f, 40, 30, 2);
	runs_as(f, 40, "/bin/bash", "one.sh", "/bin/bash ./one.sh", NULL, 2);
	job(f, 50, 40, "tar c", 3, 4);
	job(f, 60, 20, "cp a b", 5, 6);
	assert_string_equal(jobs(f), "10:-:- 20:-:- 30:-:- 40:40:one.sh 50:40:one.sh 60:60:cp");
}

/* But for what make starts in it. */
static void script_by_its_own_name_is_one_job(void **state)
{
	struct feed *f = *state;

	begins(f, 20, 10, 0);
	runs_as(f, 20, "/bin/bash", "all.sh", "/bin/bash ./all.sh", NULL, 0);
	job(f, 30, 20, "mkdir d", 1, 2);
	job(f, 31, 20, "tar c", 3, 4);
	begins(f, 40, 20, 5);
	runs(f, 40, "make", 5);
	job(f, 50, 40, "cc -c x.c", 6, 7);
	assert_string_equal(jobs(f), "10:-:- 20:20:all.sh 30:20:all.sh 31:20:all.sh 40:20:all.sh 50:50:cc");
}

static void forked_shell_without_a_program_is_no_driver(void **state)
{
	struct feed *f = *state;

	begins(f, 20, 10, 0);
	runs(f, 20, "bash all.sh", 0);
	begins(f, 30, 20, 1); /* ( ... ) */
	job(f, 40, 30, "cp a b", 2, 3);
	job(f, 41, 30, "mv b c", 3, 4);
	assert_string_equal(jobs(f), "10:-:- 20:-:- 30:30:cp 40:30:cp 41:30:cp");
}

static void script_has_its_own_name(void **state)
{
	struct feed *f = *state;

	begins(f, 20, 10, 0);
	runs(f, 20, "xargs -n1 ./a_rather_long_name.py", 0);
	begins(f, 30, 20, 1);
	runs_as(f, 30, "/usr/bin/env", "a_rather_long_n", "/usr/bin/env python3 ./a_rather_long_name.py 1",
		NULL, 1);
	runs_as(f, 30, "/usr/bin/python3.11", "python3", "python3 ./a_rather_long_name.py 1", NULL, 2);
	begins(f, 40, 20, 1);
	runs_as(f, 40, "/usr/bin/python3.11", "a_rather_long_n",
		"/usr/bin/python3 ./a_rather_long_name.py 2", NULL, 1);
	assert_string_equal(ask(f, "SELECT name FROM program WHERE seq > 0 AND name <> 'p10' "
		"ORDER BY image"), "xargs\na_rather_long_name.py\npython3\na_rather_long_name.py");
}

static void environment_says_the_job(void **state)
{
	struct feed *f = *state;

	begins(f, 20, 10, 0);
	runs_as(f, 20, "/bin/mAdd", "mAdd", "mAdd", "SLURM_JOB_ID=77", 0);
	job(f, 21, 20, "cp", 1, 2); /* without: it is not what it was given that counts, but what it has */
	begins(f, 30, 10, 0);
	runs_as(f, 30, "/bin/mFit", "mFit", "mFit", "PEGASUS_DAG_JOB_ID=fit_1", 3);
	assert_string_equal(ask(f, "SELECT group_concat(pid || ':' || job, ' ') FROM (SELECT pid, job "
		"FROM process WHERE pid IN (20, 30) ORDER BY pid)"), "20:77 30:fit_1");
}

static void index_is_a_part_of_the_number(void **state)
{
	struct feed *f = *state;
	static const char variables[] = "JOB_ID=5\0SGE_TASK_ID=3";
	struct facts_of_process facts = { .exe = "/bin/x", .argv = "x", .argv_len = 2,
		.environ = variables, .environ_len = sizeof(variables) };

	begins(f, 20, 10, 0);
	feed_process(f, EVENT_EXEC, (struct event_process){ .pid = 20, .tid = 20,
		.tier = TIER_PTRACE }, T(0), &facts);
	assert_string_equal(ask(f, "SELECT job FROM process WHERE pid = 20"), "5.3");
}

static void helpers_do_not_name_what_works(void **state)
{
	struct feed *f = *state;

	begins(f, 20, 10, 0);
	runs(f, 20, "make", 0);
	begins(f, 30, 20, 1);
	runs(f, 30, "sh -c mkdir;cc", 1);
	job(f, 31, 30, "mkdir -p d", 2, 3);
	job(f, 32, 30, "cc -c x.c", 4, 5);
	begins(f, 40, 20, 6);
	runs(f, 40, "sh -c rm;mv", 6);
	job(f, 41, 40, "rm a", 7, 8);
	job(f, 42, 40, "mv b a", 9, 10);
	assert_string_equal(jobs(f), "10:-:- 20:-:- 30:30:cc 31:30:cc 32:30:cc 40:40:rm 41:40:rm 42:40:rm");
}

static const char *name_of(struct feed *f, int pid)
{
	return ask(f, "SELECT xform FROM process WHERE pid = %d", pid);
}

static void scripts_of_interpreters_are_called_by_their_names(void **state)
{
	static const char *const jobs[][2] = { { "python3 -W ignore bin/step.py 1", "step.py" },
		{ "python3 -m pytest -x", "pytest" }, { "python3 -c pass", "python3" }, { "python3", "python3" },
		{ "perl -ne print x", "perl" }, { "perl -w x.pl", "x.pl" }, { "java -cp . Main", "Main" },
		{ "bash -o pipefail -c x", "bash" }, { "bash -e x.sh", "x.sh" }, { "cc -c x.py", "cc" } };
	struct feed *f = *state;

	begins(f, 20, 10, 0);
	runs(f, 20, "make", 0);
	for (int i = 0; i < (int)(sizeof(jobs) / sizeof(jobs[0])); i++) {
		job(f, 30 + i, 20, jobs[i][0], 2 * i, 2 * i + 1);
		assert_string_equal(name_of(f, 30 + i), jobs[i][1]);
	}
}

static void recipe_of_a_target_is_one_job_if_make_says_which(void **state)
{
	struct feed *f = *state;
	int pid = 30;

	begins(f, 20, 10, 0);
	runs(f, 20, "make --jobs=2", 0);
	for (const char *const *at = (const char *const[]){ "mkdir", "cc", "mkdir", "ld", NULL }; *at; at++, pid++) {
		char exe[32];

		snprintf(exe, sizeof(exe), "/usr/bin/%s", *at);
		begins(f, pid, 20, pid);
		runs_as(f, pid, exe, *at, *at, pid < 32 ? "FTRAC_TARGET=/w/a" : "FTRAC_TARGET=/w/b", pid);
		ends(f, pid, pid + 1);
	}
	assert_string_equal(jobs(f), "10:-:- 20:-:- 30:30:cc 31:30:cc 32:32:ld 33:32:ld");
}

/* What a job reads and what it writes. */
static void moves(struct feed *f, int pid, uint64_t in, uint64_t out)
{
	if (in)
		feed_reads(f, pid, in);
	if (out)
		feed_writes(f, pid, out);
}

static const char *phases(struct feed *f)
{
	return ask(f, "SELECT group_concat(pid || ':' || phase, ' ') FROM (SELECT pid, phase FROM process WHERE pid >= 30 "
		      "ORDER BY pid)");
}

static void divide(struct feed *f, const char *const names[], const int in[], int n)
{
	uint64_t files[16] = { 0 };

	begins(f, 20, 10, 0);
	runs(f, 20, "make", 0);
	for (int i = 0; i < n; i++) {
		char name[8];

		snprintf(name, sizeof(name), "f%d", i);
		begins(f, 30 + i, 20, 10 * i);
		runs(f, 30 + i, names[i], 10 * i);
		f->now = T(10 * i + 1);
		files[i] = feed_file(f, 30 + i, NODE_ROOT, name, 1);
		moves(f, 30 + i, in[i] < 0 ? 0 : files[in[i]], files[i]);
		ends(f, 30 + i, 10 * i + 5);
	}
	feed_flush(f);
}

/* mAdd, mShrink, mAdd again: the paper's two phases. */
static void phase_is_divided_where_its_data_comes_back(void **state)
{
	static const char *const names[] = { "mAdd 1", "mAdd 2", "mShrink", "mAdd 3", "mView", "mAdd 4" };
	struct feed *f = *state;

	divide(f, names, (const int[]){ -1, -1, 0, 2, 3, 4 }, 6);
	assert_string_equal(phases(f), "30:mAdd 31:mAdd 32:mShrink 33:mAdd.2 34:mView 35:mAdd.3");
}

/* Others that run in between are no reason, nor is its own data. */
static void phase_is_not_divided_by_time(void **state)
{
	static const char *const names[] = { "mkdir a", "mAdd 1", "mkdir b", "mAdd 2", "mkdir c", "mAdd 3" };
	struct feed *f = *state;

	divide(f, names, (const int[]){ -1, -1, -1, 1, -1, 3 }, 6);
	assert_string_equal(phases(f), "30:mkdir 31:mAdd 32:mkdir 33:mAdd 34:mkdir 35:mAdd");
}

static void starts_and_stops_are_counted_in_each_job(void **state)
{
	struct feed *f = *state;

	begins(f, 20, 10, 0);
	runs(f, 20, "make", 0);
	begins(f, 30, 20, 1);
	runs(f, 30, "sh -c a;b", 1);
	job(f, 31, 30, "a", 2, 3);
	begins(f, 32, 30, 4);
	runs(f, 32, "b", 4);
	ends(f, 30, 5); /* before its child, which is still there */
	job(f, 40, 20, "c", 2, 6);
	assert_string_equal(ask(f, "SELECT group_concat(pid || ':' || lstart || '-' || "
		"coalesce(lstop, ''), ' ') FROM (SELECT * FROM process WHERE pid >= 30 ORDER BY pid)"),
		"30:1-5 31:2-3 32:4- 40:1-2");
}

/* The session: p10. */
/* ---- steps ---- */

static const char *steps(struct feed *f)
{
	return ask(f, "SELECT group_concat(pid || ':' || coalesce(step, '-') || iif(task IS step, '', '/' || task), ' ') "
		"FROM (SELECT * FROM process ORDER BY pid)");
}

/* The shell itself is part of the program that started it. */
static void commands_of_a_shell_are_steps(void **state)
{
	struct feed *f = *state;

	begins(f, 20, 10, 0);
	runs(f, 20, "sh -c cat|sort", 0);
	job(f, 30, 20, "cat x", 1, 3);
	job(f, 31, 20, "sort -u", 1, 3);
	begins(f, 32, 20, 4); /* a copy of the shell: ( cd x; tar c ) */
	job(f, 33, 32, "tar c", 5, 6);
	assert_string_equal(steps(f), "10:p10 20:p10 30:cat 31:sort 32:p10 33:tar");
}

static void helpers_name_no_step(void **state)
{
	struct feed *f = *state;

	begins(f, 20, 10, 0);
	runs_as(f, 20, "/bin/sh", "all.sh", "/bin/sh ./all.sh", NULL, 0);
	job(f, 30, 20, "mkdir out", 1, 2);
	job(f, 31, 20, "python3 a.py", 3, 4);
	job(f, 32, 20, "cp a b", 5, 6);
	job(f, 33, 20, "sort b", 7, 8);
	assert_string_equal(steps(f), "10:p10 20:all.sh 30:all.sh 31:a.py 32:all.sh 33:sort");
}

/* Where there is nothing else, they do. */
static void helpers_alone_name_steps(void **state)
{
	struct feed *f = *state;

	begins(f, 20, 1, 0);
	runs(f, 20, "sh -c cp_a_b;sleep_1", 0);
	job(f, 30, 20, "cp a b", 1, 2);
	job(f, 31, 20, "sleep 1", 3, 4);
	assert_string_equal(steps(f), "10:p10 20:sh 30:cp 31:sleep");
}

static void helpers_of_a_script_are_the_script(void **state)
{
	struct feed *f = *state;

	begins(f, 20, 10, 0);
	runs_as(f, 20, "/bin/sh", "all.sh", "/bin/sh ./all.sh", NULL, 0);
	job(f, 30, 20, "cp a b", 1, 2);
	job(f, 31, 20, "sleep 1", 3, 4);
	assert_string_equal(steps(f), "10:p10 20:all.sh 30:all.sh 31:all.sh");
}

static void commands_that_make_starts_are_one_step(void **state)
{
	struct feed *f = *state;

	begins(f, 20, 10, 0);
	runs(f, 20, "make", 0);
	begins(f, 30, 20, 1);
	runs(f, 30, "sh -c mkdir_a;python3_b.py", 1);
	job(f, 31, 30, "mkdir a", 2, 3);
	job(f, 32, 30, "python3 b.py", 4, 5);
	job(f, 33, 20, "tar c", 6, 7);
	assert_string_equal(steps(f), "10:p10 20:make 30:b.py 31:b.py 32:b.py 33:tar");
}

static void make_below_make_has_no_step_of_its_own(void **state)
{
	struct feed *f = *state;

	begins(f, 20, 10, 0);
	runs(f, 20, "make", 0);
	begins(f, 30, 20, 1);
	runs(f, 30, "sh -c cd_x;make", 1);
	begins(f, 40, 30, 2);
	runs(f, 40, "make all", 2);
	job(f, 50, 40, "cc -c x.c", 3, 4);
	job(f, 51, 40, "cc -c y.c -o z.o", 5, 6);
	job(f, 52, 40, "cc -o prog x.o", 7, 8);
	assert_string_equal(steps(f), "10:p10 20:make 30:make 40:make 50:cc/cc x.c 51:cc/cc y.c 52:cc/cc prog");
}

/* A program that alone works, and starts others, is divided as the run itself; one of several is not. */
static void what_alone_works_is_divided(void **state)
{
	struct feed *f = *state;

	begins(f, 20, 10, 0);
	runs(f, 20, "sh -c ./one.sh", 0);
	begins(f, 30, 20, 1);
	runs_as(f, 30, "/bin/sh", "one.sh", "/bin/sh ./one.sh", NULL, 1);
	job(f, 31, 30, "grep a", 2, 3);
	begins(f, 32, 30, 4);
	runs(f, 32, "python3 two.py", 4);
	job(f, 33, 32, "bwa mem", 5, 6);
	job(f, 34, 32, "samtools view", 7, 8);
	assert_string_equal(steps(f), "10:p10 20:p10 30:one.sh 31:grep 32:two.py 33:two.py 34:two.py");
}

static void jobs_of_the_same_step_are_told_apart(void **state)
{
	struct feed *f = *state;

	begins(f, 20, 10, 0);
	runs(f, 20, "mpirun -n 2 solve", 0);
	for (int i = 0; i < 2; i++) {
		begins(f, 30 + i, 20, 1);
		runs_as(f, 30 + i, "/usr/bin/solve", "solve", "solve input", i ? "PMIX_RANK=1" : "PMIX_RANK=0", 1);
	}
	begins(f, 40, 20, 2);
	runs(f, 40, "xargs sort", 2);
	job(f, 41, 40, "sort a.txt", 3, 4);
	job(f, 42, 40, "sort b.txt -o c.txt", 3, 4);
	assert_string_equal(steps(f),
		"10:p10 20:mpirun 30:solve/solve rank 0 31:solve/solve rank 1 40:xargs 41:sort/sort a.txt 42:sort/sort c.txt");
}

static void note(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void made_for(struct feed *f, int pid, const char *target, int t)
{
	char variable[64];

	snprintf(variable, sizeof(variable), "FTRAC_TARGET=%s", target);
	begins(f, pid, 20, t);
	runs_as(f, pid, "/usr/bin/cc", "cc", "cc", variable, t);
	ends(f, pid, t + 1);
}

/* A rule that only one target has is that target.  Names have as much of the directory as tells them apart. */
static void rules_and_targets_of_make_name_steps(void **state)
{
	struct record_options options = { .ops = true };
	struct temp notes;
	struct feed *f;

	(void)state;
	temp_make(&notes);
	note(temp_path(&notes, "1"), "ftrac-target /w/a\nx.o\nx\n\n|\nftrac-target /w/a\ny.o\ny\n\n|\nftrac-target /w/a\nout/prog\n\n\n|\n");
	note(temp_path(&notes, "2"), "ftrac-target /w/b\nx.o\nx\n\n|\nftrac-target /w/b\nz.o\nz\n\n|\nftrac-target /w/b\nlib.a\nlib\n\n|\n");
	options.declared = notes.dir;
	f = feed_begin(&options);
	feed_discover(f, 10, 1);
	begins(f, 20, 10, 0);
	runs(f, 20, "make", 0);
	for (const char *const *at = (const char *const[]){ "a/x.o", "a/y.o", "b/x.o", "b/z.o", "a/out/prog", "b/lib.a", NULL },
				*const *from = at; *at; at++) {
		char target[32];

		snprintf(target, sizeof(target), "/w/%s", *at);
		made_for(f, 30 + (int)(at - from), target, 1 + (int)(at - from));
	}
	assert_int_equal(record_finish(f->record), 0);
	assert_string_equal(steps(f), "10:p10 20:make 30:a/%.o/a/x.o 31:a/%.o/y.o 32:b/%.o/b/x.o 33:b/%.o/z.o 34:out/prog 35:lib.a");
	feed_end(f);
	temp_take_away(&notes);
}

static int setup(void **state)
{
	feed_setup(state);
	feed_discover(*state, 10, 1);
	return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, feed_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(processes_below_make_are_jobs),
		TEST(one_command_is_one_job),
		TEST(below_nested_makes_the_nearest_counts),
		TEST(what_drives_and_works_too_is_a_job),
		TEST(script_of_a_shell_drives_unless_make_runs_it),
		TEST(script_by_its_own_name_is_one_job),
		TEST(forked_shell_without_a_program_is_no_driver),
		TEST(script_has_its_own_name),
		TEST(environment_says_the_job),
		TEST(index_is_a_part_of_the_number),
		TEST(helpers_do_not_name_what_works),
		TEST(scripts_of_interpreters_are_called_by_their_names),
		TEST(recipe_of_a_target_is_one_job_if_make_says_which),
		TEST(phase_is_divided_where_its_data_comes_back),
		TEST(phase_is_not_divided_by_time),
		TEST(starts_and_stops_are_counted_in_each_job),
		TEST(commands_of_a_shell_are_steps),
		TEST(helpers_name_no_step),
		TEST(helpers_alone_name_steps),
		TEST(helpers_of_a_script_are_the_script),
		TEST(commands_that_make_starts_are_one_step),
		TEST(make_below_make_has_no_step_of_its_own),
		TEST(what_alone_works_is_divided),
		TEST(jobs_of_the_same_step_are_told_apart),
		cmocka_unit_test(rules_and_targets_of_make_name_steps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
