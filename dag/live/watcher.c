/* SPDX-License-Identifier: MIT */
#include "dag/live/watcher.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/condition.h"
#include "base/failure.h"
#include "base/watched.h"
#include "dag/live/collect.h"
#include "dag/live/state.h"
#include "db/query.h"

#define NICE 10
#define RESTS 9 /* times as long as it works */

struct watcher {
	struct watcher_options options;
	int mark;		 /* on the trace, so that its writer writes at once; < 0: none */
	struct collect *collect; /* of the thread of looks */
	pthread_t looks, phases_thread;
	bool has_phases_thread;
	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t changed;
	bool stop, is_over; /* is_over: the last look was made */
	struct live_state *state;
	struct live_phases *phases;
	struct live_one *one;
	int64_t chosen; /* a process; 0: none */
	bool is_chosen_anew;
	bool phases_are_last;
	int64_t first_rest_ns; /* until the thread of phases looks */
	struct query_db *reading; /* by the thread of phases; NULL: none */
	char failure[512]; /* of the last look; "": none */
};

static bool is_last(const struct live_state *state)
{
	return state->is == LIVE_FINISHED || state->is == LIVE_ABANDONED;
}

/* ---- phases ---- */

/* Called with the lock. */
static bool wait_until(struct watcher *watcher, int64_t until_ns)
{
	while (!watcher->stop && !watcher->is_over && clock_now_ns() < until_ns)
		condition_wait(&watcher->changed, &watcher->lock, until_ns);
	return !watcher->stop;
}

static void on_reading(void *arg, struct query_db *db)
{
	struct watcher *watcher = arg;

	pthread_mutex_lock(&watcher->lock);
	watcher->reading = db;
	pthread_mutex_unlock(&watcher->lock);
}

static void look_at_phases(struct watcher *watcher)
{
	struct failure failure = { 0 };
	struct live_phases *phases;

	if (collect_phases(watcher->options.path, watcher->options.how, watcher->options.like, on_reading, watcher, &phases, &failure) < 0)
		return;
	pthread_mutex_lock(&watcher->lock);
	live_phases_free(watcher->phases);
	watcher->phases = phases;
	pthread_mutex_unlock(&watcher->lock);
}

static bool read_is_over(struct watcher *watcher)
{
	bool is_over;

	pthread_mutex_lock(&watcher->lock);
	is_over = watcher->is_over;
	pthread_mutex_unlock(&watcher->lock);
	return is_over;
}

/* One look; how long the thread is to rest after it, or -1: it was the last one. */
static int64_t look_and_count(struct watcher *watcher)
{
	int64_t begin_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID), rest_ns;
	bool is_last_look = read_is_over(watcher);

	look_at_phases(watcher);
	rest_ns = RESTS * (clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns);
	return is_last_look ? -1 : rest_ns > watcher->options.delay_ns ? rest_ns : watcher->options.delay_ns;
}

static void *run_phases(void *arg)
{
	struct watcher *watcher = arg;
	int64_t rest_ns = watcher->first_rest_ns;
	bool goes_on = true;

	setpriority(PRIO_PROCESS, 0, NICE);
	while (goes_on && rest_ns >= 0) {
		pthread_mutex_lock(&watcher->lock);
		goes_on = wait_until(watcher, clock_now_ns() + rest_ns);
		pthread_mutex_unlock(&watcher->lock);
		if (goes_on)
			rest_ns = look_and_count(watcher);
	}
	pthread_mutex_lock(&watcher->lock);
	watcher->phases_are_last = true;
	pthread_cond_broadcast(&watcher->changed);
	pthread_mutex_unlock(&watcher->lock);
	return NULL;
}

/* ---- looks ---- */

/* Hands a state over, in the place of one that was not taken. */
static void publish(struct watcher *watcher, struct live_state *state, const struct failure *failure)
{
	pthread_mutex_lock(&watcher->lock);
	snprintf(watcher->failure, sizeof(watcher->failure), "%.*s", (int)sizeof(watcher->failure) - 1, failure ? failure->text : "");
	if (state) {
		live_state_free(watcher->state);
		watcher->state = state;
		watcher->is_over = is_last(state);
	}
	pthread_cond_broadcast(&watcher->changed);
	pthread_mutex_unlock(&watcher->lock);
}

static int look(struct watcher *watcher, struct failure *failure)
{
	struct live_state *state = NULL;
	int r = collect_look(watcher->collect, &state, failure);

	publish(watcher, state, r < 0 ? failure : NULL);
	return r;
}

static void look_at_one(struct watcher *watcher, int64_t process)
{
	struct failure failure = { 0 };
	struct live_one *one;

	if (collect_one(watcher->collect, process, &one, &failure) < 0)
		return;
	pthread_mutex_lock(&watcher->lock);
	live_one_free(watcher->one);
	watcher->one = one;
	pthread_mutex_unlock(&watcher->lock);
}

/* Until it is time for a look, or a process was chosen, which is returned; -1: that was the end.  *ret_looks: it is time. */
static int64_t wait_for_work(struct watcher *watcher, int64_t next_ns, bool *ret_looks)
{
	int64_t process;

	pthread_mutex_lock(&watcher->lock);
	while (!watcher->stop && !watcher->is_chosen_anew && (watcher->is_over || clock_now_ns() < next_ns))
		if (watcher->is_over)
			pthread_cond_wait(&watcher->changed, &watcher->lock);
		else
			condition_wait(&watcher->changed, &watcher->lock, next_ns);
	*ret_looks = !watcher->is_over && clock_now_ns() >= next_ns;
	process = watcher->stop ? -1 : watcher->chosen;
	watcher->is_chosen_anew = false;
	pthread_mutex_unlock(&watcher->lock);
	return process;
}

static void *run_looks(void *arg)
{
	struct watcher *watcher = arg;
	int64_t next_ns = clock_now_ns() + watcher->options.delay_ns, process;
	bool looks;

	setpriority(PRIO_PROCESS, 0, NICE);
	while ((process = wait_for_work(watcher, next_ns, &looks)) >= 0) {
		struct failure failure = { 0 };

		if (looks) {
			look(watcher, &failure);
			next_ns += watcher->options.delay_ns;
			if (next_ns < clock_now_ns())
				next_ns = clock_now_ns();
		}
		if (process)
			look_at_one(watcher, process);
	}
	return NULL;
}

int watcher_start(const struct watcher_options *options, struct watcher **ret_watcher, struct failure *failure)
{
	struct watcher *watcher = *ret_watcher = calloc(1, sizeof(*watcher));
	int r;

	if (!watcher)
		return failure_memory(failure);
	watcher->options = *options;
	pthread_mutex_init(&watcher->lock, NULL);
	condition_init(&watcher->changed);
	watcher->mark = watched_mark(options->path);
	r = failure_of_memory(failure, collect_create(options->path, options->how, options->waits, &watcher->collect));
	if (r == 0)
		r = look(watcher, failure);
	if (r == 0 && options->waits_for_phases)
		watcher->first_rest_ns = look_and_count(watcher);
	if (r == 0 && pthread_create(&watcher->looks, NULL, run_looks, watcher) != 0)
		r = failure_set(failure, -EAGAIN, "cannot start a thread");
	if (r < 0) {
		collect_destroy(watcher->collect);
		live_state_free(watcher->state);
		live_phases_free(watcher->phases);
		if (watcher->mark >= 0)
			close(watcher->mark);
		free(watcher);
		*ret_watcher = NULL;
		return r;
	}
	watcher->has_phases_thread = pthread_create(&watcher->phases_thread, NULL, run_phases, watcher) == 0;
	return 0;
}

/* A query that has not begun yet is not interrupted: so it is done until the thread has ended. */
static void stop_phases(struct watcher *watcher)
{
	const struct timespec nap = { .tv_nsec = 10000000 };

	while (watcher->has_phases_thread && pthread_tryjoin_np(watcher->phases_thread, NULL) != 0) {
		pthread_mutex_lock(&watcher->lock);
		if (watcher->reading)
			query_interrupt(watcher->reading);
		pthread_mutex_unlock(&watcher->lock);
		nanosleep(&nap, NULL);
	}
}

void watcher_stop(struct watcher *watcher)
{
	if (!watcher)
		return;
	pthread_mutex_lock(&watcher->lock);
	watcher->stop = true;
	pthread_cond_broadcast(&watcher->changed);
	pthread_mutex_unlock(&watcher->lock);
	pthread_join(watcher->looks, NULL);
	stop_phases(watcher);
	collect_destroy(watcher->collect);
	live_state_free(watcher->state);
	live_phases_free(watcher->phases);
	live_one_free(watcher->one);
	if (watcher->mark >= 0)
		close(watcher->mark);
	pthread_cond_destroy(&watcher->changed);
	pthread_mutex_destroy(&watcher->lock);
	free(watcher);
}

/* ---- for the other thread ---- */

struct live_state *watcher_take(struct watcher *watcher)
{
	struct live_state *state;

	pthread_mutex_lock(&watcher->lock);
	state = watcher->state;
	watcher->state = NULL;
	pthread_mutex_unlock(&watcher->lock);
	return state;
}

struct live_state *watcher_wait(struct watcher *watcher)
{
	struct live_state *state;

	pthread_mutex_lock(&watcher->lock);
	while (!watcher->state && !watcher->is_over && !watcher->failure[0])
		pthread_cond_wait(&watcher->changed, &watcher->lock);
	state = watcher->state;
	watcher->state = NULL;
	pthread_mutex_unlock(&watcher->lock);
	return state;
}

struct live_phases *watcher_take_phases(struct watcher *watcher)
{
	struct live_phases *phases;

	pthread_mutex_lock(&watcher->lock);
	phases = watcher->phases;
	watcher->phases = NULL;
	pthread_mutex_unlock(&watcher->lock);
	return phases;
}

void watcher_choose(struct watcher *watcher, int64_t process)
{
	pthread_mutex_lock(&watcher->lock);
	watcher->is_chosen_anew |= process && process != watcher->chosen;
	watcher->chosen = process;
	if (watcher->is_chosen_anew)
		pthread_cond_broadcast(&watcher->changed);
	pthread_mutex_unlock(&watcher->lock);
}

struct live_one *watcher_take_one(struct watcher *watcher)
{
	struct live_one *one;

	pthread_mutex_lock(&watcher->lock);
	one = watcher->one;
	watcher->one = NULL;
	pthread_mutex_unlock(&watcher->lock);
	return one;
}

struct live_phases *watcher_wait_phases(struct watcher *watcher)
{
	pthread_mutex_lock(&watcher->lock);
	while (watcher->has_phases_thread && !watcher->phases_are_last)
		pthread_cond_wait(&watcher->changed, &watcher->lock);
	pthread_mutex_unlock(&watcher->lock);
	return watcher_take_phases(watcher);
}

bool watcher_failure(struct watcher *watcher, char *ret_text, int size)
{
	pthread_mutex_lock(&watcher->lock);
	snprintf(ret_text, (size_t)size, "%s", watcher->failure);
	pthread_mutex_unlock(&watcher->lock);
	return ret_text[0];
}
