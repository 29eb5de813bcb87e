/* SPDX-License-Identifier: MIT */

/* estimate.h: of the same schedule at another speed, the end is known at each moment; names that are not known say nothing. */

#include "test.h"

#include <stdio.h>
#include <string.h>

#include "dag/live/estimate.h"

#define SCHEDULES 300
#define JOBS 40
#define WORKERS 4

struct schedule {
	struct estimate_job jobs[JOBS];
	char tasks[JOBS][16];
	int n;
	int64_t run_ns;
};

static const char *const phases[] = { "compile", "link", "test" };

/* As make -j does it: a worker takes the next job when it has done one, and at times all wait for the last one. */
static void make_schedule(struct schedule *s)
{
	int64_t free_ns[WORKERS] = { 0 };

	*s = (struct schedule){ .n = 1 + rand() % JOBS };
	for (int i = 0; i < s->n; i++) {
		int w = 0;

		for (int k = 1; k < WORKERS; k++)
			w = free_ns[k] < free_ns[w] ? k : w;
		for (int k = 0; k < WORKERS && rand() % 10 == 0; k++)
			free_ns[w] = free_ns[k] > free_ns[w] ? free_ns[k] : free_ns[w];
		snprintf(s->tasks[i], sizeof(s->tasks[i]), "task %d", i);
		s->jobs[i] = (struct estimate_job){ phases[rand() % 3], "step", s->tasks[i], free_ns[w] + 1000 * (rand() % 5), 0 };
		s->jobs[i].end_ns = free_ns[w] = s->jobs[i].start_ns + 1000 * (1 + rand() % 100);
		s->run_ns = free_ns[w] > s->run_ns ? free_ns[w] : s->run_ns;
	}
}

static struct estimate *learn(const struct schedule *s)
{
	struct estimate *estimate;

	assert_int_equal(estimate_create(&estimate), 0);
	for (int i = 0; i < s->n; i++)
		assert_int_equal(estimate_learn(estimate, &s->jobs[i]), 0);
	estimate_learned(estimate, s->run_ns);
	return estimate;
}

/* Adds the jobs as they are at now_ns, all times multiplied.  How many have ended. */
static int look(struct estimate *estimate, const struct schedule *s, int64_t times, int64_t now_ns)
{
	int ended = 0;

	estimate_begin(estimate);
	for (int i = 0; i < s->n; i++) {
		struct estimate_job job = s->jobs[i];

		job.start_ns *= times;
		job.end_ns *= times;
		if (job.start_ns >= now_ns)
			continue;
		if (job.end_ns > now_ns)
			job.end_ns = -1;
		ended += job.end_ns >= 0;
		estimate_add(estimate, &job, now_ns);
	}
	return ended;
}

static bool is_idle(const struct schedule *s, int64_t t_ns)
{
	for (int i = 0; i < s->n; i++)
		if (s->jobs[i].start_ns < t_ns && s->jobs[i].end_ns >= t_ns)
			return false;
	return true;
}

static void the_same_schedule_at_another_speed(void **state)
{
	int looked = 0;

	(void)state;
	for (int n = 0; n < SCHEDULES; n++) {
		struct schedule s;
		struct estimate *estimate;

		make_schedule(&s);
		estimate = learn(&s);
		for (int64_t times = 1; times <= 4; times++) {
			int64_t t_ns = 1 + rand() % s.run_ns;
			int ended = look(estimate, &s, times, t_ns * times);
			int64_t left_ns = estimate_left_ns(estimate, t_ns * times), is_ns = (s.run_ns - t_ns) * times;

			/* While nothing runs, or before any job has ended, time and speed are not known so well. */
			if (is_idle(&s, t_ns) || (times > 1 && !ended))
				continue;
			assert_in_range(left_ns + 20, is_ns, is_ns + 40);
			looked++;
		}
		estimate_destroy(estimate);
	}
	assert_true(looked > SCHEDULES);
}

static int add_jobs(void *arg, const char *phase, int64_t jobs)
{
	assert_true(strcmp(phase, phases[0]) == 0 || strcmp(phase, phases[1]) == 0 || strcmp(phase, phases[2]) == 0);
	*(int64_t *)arg += jobs;
	return 0;
}

static int stop(void *arg, const char *phase, int64_t jobs)
{
	assert_string_equal(phase, "p");
	assert_int_equal(jobs, 10);
	(void)arg;
	return -1;
}

static void jobs_of_phases(void **state)
{
	(void)state;
	for (int n = 0; n < SCHEDULES; n++) {
		struct schedule s;
		struct estimate *estimate;
		int64_t sum = 0;

		make_schedule(&s);
		estimate = learn(&s);
		assert_int_equal(estimate_each_phase(estimate, add_jobs, &sum), 0);
		assert_int_equal(sum, s.n);
		estimate_destroy(estimate);
	}
}

static void what_has_no_namesake_says_nothing(void **state)
{
	struct schedule s;
	struct estimate *estimate;
	struct estimate_job job = { "another", "another", "task 0", 0, 1000 };

	(void)state;
	make_schedule(&s);
	estimate = learn(&s);
	estimate_begin(estimate);
	assert_int_equal(estimate_left_ns(estimate, 1000), -1);
	estimate_add(estimate, &job, 1000);
	assert_int_equal(estimate_left_ns(estimate, 1000), -1);
	job = (struct estimate_job){ NULL, NULL, NULL, 0, 1000 };
	estimate_add(estimate, &job, 1000);
	assert_int_equal(estimate_left_ns(estimate, 1000), -1);
	estimate_destroy(estimate);
}

/* Without a task, or with one that the earlier run did not have, the mean of the phase counts. */
static void a_job_of_another_name_counts_as_one_of_its_phase(void **state)
{
	struct estimate *estimate;
	struct estimate_job job = { "p", "s", NULL, 0, 1000 };

	(void)state;
	assert_int_equal(estimate_create(&estimate), 0);
	for (int i = 0; i < 10; i++)
		assert_int_equal(estimate_learn(estimate, &(struct estimate_job){ "p", "s", NULL, i * 1000, i * 1000 + 1000 }), 0);
	assert_int_equal(estimate_learn(estimate, &(struct estimate_job){ "p", "s", NULL, 500, -1 }), 0); /* has not ended: left out */
	estimate_learned(estimate, 10000);
	assert_int_equal(estimate_each_phase(estimate, stop, NULL), -1);
	estimate_begin(estimate);
	for (int i = 0; i < 5; i++) {
		job.task = i % 2 ? "new" : NULL;
		job.end_ns = 3000;
		estimate_add(estimate, &job, 15000);
	}
	assert_int_equal(estimate_left_ns(estimate, 15000), 15000);
	estimate_destroy(estimate);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_schedule_at_another_speed),
		cmocka_unit_test(jobs_of_phases),
		cmocka_unit_test(what_has_no_namesake_says_nothing),
		cmocka_unit_test(a_job_of_another_name_counts_as_one_of_its_phase),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
