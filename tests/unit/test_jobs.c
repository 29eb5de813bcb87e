/* SPDX-License-Identifier: MIT */

/* views.sql: which job a process belongs to, what that is called, and its phase. */

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
	assert_string_equal(jobs(f), "10:-:- 20:-:- 30:30:make 40:30:make 50:50:cc");
}

static void script_of_a_shell_drives_unless_make_runs_it(void **state)
{
	struct feed *f = *state;

	begins(f, 20, 10, 0);
	runs_as(f, 20, "/bin/bash", "all.sh", "/bin/bash ./all.sh", NULL, 0);
	begins(f, 30, 20, 1);
	runs(f, 30, "make", 1);
	begins(f, 40, 30, 2);
	runs_as(f, 40, "/bin/bash", "one.sh", "/bin/bash ./one.sh", NULL, 2);
	job(f, 50, 40, "tar c", 3, 4);
	job(f, 60, 20, "cp a b", 5, 6);
	assert_string_equal(jobs(f), "10:-:- 20:-:- 30:-:- 40:40:tar 50:40:tar 60:60:cp");
}

static void forked_shell_without_a_program_is_no_driver(void **state)
{
	struct feed *f = *state;

	begins(f, 20, 10, 0);
	runs_as(f, 20, "/bin/bash", "all.sh", "/bin/bash ./all.sh", NULL, 0);
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

/* mAdd, mShrink, mAdd again: the paper's two phases. */
static void phase_begins_anew_when_others_ran_in_between(void **state)
{
	struct feed *f = *state;

	begins(f, 20, 10, 0);
	runs(f, 20, "make", 0);
	job(f, 30, 20, "mAdd 1", 1, 4);
	job(f, 31, 20, "mAdd 2", 2, 5);
	job(f, 32, 20, "mFit", 3, 4);  /* while they run: nothing between */
	job(f, 33, 20, "mAdd 3", 6, 7);	/* nobody else began since */
	job(f, 34, 20, "mShrink", 8, 9);
	job(f, 35, 20, "mAdd 4", 10, 11);
	job(f, 36, 20, "mAdd 5", 12, 13);
	assert_string_equal(ask(f, "SELECT group_concat(pid || ':' || phase, ' ') FROM (SELECT pid, "
		"phase FROM process WHERE pid >= 30 ORDER BY pid)"), "30:mAdd 31:mAdd 32:mFit 33:mAdd "
		"34:mShrink 35:mAdd.2 36:mAdd.2");
}

static void phase_waits_for_all_of_its_jobs(void **state)
{
	struct feed *f = *state;

	begins(f, 20, 10, 0);
	runs(f, 20, "make", 0);
	begins(f, 30, 20, 1);
	runs(f, 30, "mAdd 1", 1); /* never ends */
	job(f, 31, 20, "mShrink", 2, 3);
	job(f, 32, 20, "mAdd 2", 4, 5);
	assert_string_equal(ask(f, "SELECT phase FROM process WHERE pid = 32"), "mAdd");
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
static int setup(void **state)
{
	feed_setup(state);
	feed_meet(*state, 10, 1);
	return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, feed_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(processes_below_make_are_jobs),
		TEST(one_command_is_one_job),
		TEST(below_nested_makes_the_nearest_counts),
		TEST(script_of_a_shell_drives_unless_make_runs_it),
		TEST(forked_shell_without_a_program_is_no_driver),
		TEST(script_has_its_own_name),
		TEST(environment_says_the_job),
		TEST(index_is_a_part_of_the_number),
		TEST(phase_begins_anew_when_others_ran_in_between),
		TEST(phase_waits_for_all_of_its_jobs),
		TEST(starts_and_stops_are_counted_in_each_job),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
