/* SPDX-License-Identifier: MIT */

/*
 * Threads that wait at a socket and read files that may block
 *
 *	   +--> at the socket (one of them) ---- something to read ----+
 *	   |         ^                                                 v
 *	   |         | no thread is there       hands the socket to an idle one, then reads /proc
 *	   |       idle <----------------- nothing to do --------------+
 *	   +-------------------- nothing to do, no thread at the socket -+
 *
 * So the thread that receives an event also reads the process, which may end within a millisecond,
 * without a switch to another thread. Requests come first, then members in the order of
 * scope_next().
 */

#include "procmon/pool.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <utlist.h>

#include "base/clock.h"
#include "base/condition.h"
#include "base/rights.h"
#include "procmon/connector.h"
#include "procmon/proc_snapshot.h"
#include "procmon/discover.h"
#include "procmon/scope.h"
#include "procmon/watch.h"

/* How long a request waits: some hundred times what a snapshot takes. */
#define REQUEST_TIMEOUT_NS 100000000
#define TICK_MS 1000
#define POOL_START 2
#define POOL_MAX 16
#define STOP_SECONDS 2

/* A thread id to discover. */
struct request {
	pid_t tid;
	bool taken;
	bool given_up; /* a request timed out */
	struct request *prev, *next;
};

/* The watch's lock guards all but watch and kick. */
struct pool {
	struct watch *watch;
	int kick;	     /* eventfd: wakes the thread at the socket */
	pthread_cond_t work; /* idle threads wait for it */
	pthread_cond_t done; /* requests wait for it */
	struct request *requests;
	int64_t sweep_ns; /* without the connector: when to re-read all members */
	bool polling;	  /* a thread is at the socket */
	bool stopping;
	int idle;
	int size;
	pthread_t threads[POOL_MAX];
};

static void start_thread(struct pool *pool);

void pool_wake(struct pool *pool)
{
	if (!scope_has_next(pool->watch->scope) && !pool->requests && !pool->watch->repair)
		return;
	if (pool->idle)
		pthread_cond_signal(&pool->work);
	else if (pool->polling)
		eventfd_write(pool->kick, 1);
}

/* ---- requests that wait ---- */

static struct request *find_request(const struct pool *pool, pid_t tid)
{
	struct request *request;

	DL_SEARCH_SCALAR(pool->requests, request, tid, tid);
	return request;
}

/* Queues tid for a thread of the pool, before other work. */
static void request_read(struct pool *pool, pid_t tid)
{
	struct member *member = scope_find(pool->watch->scope, tid);
	struct request *request;

	if (member && member->wanted)
		scope_want(pool->watch->scope, member);
	else if (!(member && member->readers) && !find_request(pool, tid)) {
		request = calloc(1, sizeof(*request));
		if (!request)
			return;
		request->tid = tid;
		DL_APPEND(pool->requests, request);
	}
	pool_wake(pool);
}

/* Whether tid is queued or being read, and no earlier request for it timed out. */
static bool is_pending(const struct pool *pool, pid_t tid)
{
	const struct member *member = scope_find(pool->watch->scope, tid);
	const struct request *request = find_request(pool, tid);

	if (request)
		return !request->given_up;
	return member && (member->wanted || member->readers) && !member->given_up;
}

static void give_up(struct pool *pool, pid_t tid)
{
	struct member *member = scope_find(pool->watch->scope, tid);
	struct request *request = find_request(pool, tid);

	if (member)
		member->given_up = true;
	if (request)
		request->given_up = true;
}

/* Waits for the read. Returns whether a second attempt makes sense. */
static bool wait_known(struct pool *pool, pid_t tid)
{
	const int64_t end = clock_now_ns() + REQUEST_TIMEOUT_NS;
	bool in_time = true;

	if (!is_pending(pool, tid))
		return false;
	while (in_time && pool->watch->known[tid] == KNOWN_NOT && is_pending(pool, tid))
		in_time = watch_wait(pool->watch, &pool->done, end);
	if (pool->watch->known[tid] != KNOWN_NOT)
		return false;
	if (!in_time) {
		give_up(pool, tid);
		start_thread(pool);
	}
	return in_time;
}

/* The first read may have been started for another purpose, or an exec may have spoilt it: try
 * twice. */
void pool_discover(struct pool *pool, pid_t tid)
{
	struct watch *watch = pool->watch;

	atomic_store(&watch->known[tid], KNOWN_NOT);
	if (!watch_is_closed(watch))
		scope_adopt(watch->scope, tid);
	for (int i = 0; i < 2 && !scope_promote(watch->scope, tid); i++) {
		request_read(pool, tid);
		if (!wait_known(pool, tid))
			break;
	}
}

/* ---- reading: called with the lock held, which is released meanwhile ---- */

static void begin_reading(struct pool *pool)
{
	if (!pool->polling && pool->idle)
		pthread_cond_signal(&pool->work);
	watch_unlock(pool->watch);
}

static void end_reading(struct pool *pool)
{
	watch_lock(pool->watch);
	pthread_cond_broadcast(&pool->done);
}

static bool serve_member(struct pool *pool, struct proc_snapshot *snapshot)
{
	const struct watch *watch = pool->watch;
	struct member *member = scope_next(watch->scope);
	uint32_t generation;
	bool text_done;
	pid_t pid;
	int r;

	if (!member)
		return false;
	pid = member->pid;
	generation = member->generation;
	text_done = member->text_done;
	begin_reading(pool);
	r = proc_snapshot_take(snapshot, watch->proc, pid);
	if (r == 0 && !text_done)
		proc_snapshot_read_text(snapshot, watch->proc, watch->env);
	end_reading(pool);
	scope_on_snapshot(watch->scope, member, generation, snapshot, r);
	return true;
}

static bool serve_request(struct pool *pool)
{
	struct request *request;

	DL_SEARCH_SCALAR(pool->requests, request, taken, false);
	if (!request)
		return false;
	request->taken = true;
	begin_reading(pool);
	discover_thread(pool->watch, request->tid);
	end_reading(pool);
	DL_DELETE(pool->requests, request);
	free(request);
	return true;
}

/* Lost exits and execs show when each member is read again; lost forks do not. */
static bool serve_repair(struct pool *pool)
{
	struct watch *watch = pool->watch;
	int64_t since = watch->quiet_boot_ns;

	if (!watch->repair)
		return false;
	watch->repair = false;
	scope_mark_all_stale(watch->scope);
	begin_reading(pool);
	discover_missed(watch, since);
	end_reading(pool);
	return true;
}

/*
 * Without the connector only reading /proc shows ends. The interval grows with the number of
 * members, so that this takes about a hundredth of the time.
 */
static void tick(struct pool *pool)
{
	int64_t now = clock_now_ns();

	scope_end_missing(pool->watch->scope, now);
	if (pool->watch->connector || now < pool->sweep_ns)
		return;
	pool->sweep_ns = now + (TICK_MS + scope_count(pool->watch->scope)) * INT64_C(1000000);
	scope_mark_all_stale(pool->watch->scope);
}

static void wait_at_socket(struct pool *pool)
{
	const struct connector *connector = pool->watch->connector;
	struct pollfd fds[] = {
		{ .fd = pool->kick, .events = POLLIN },
		{ .fd = connector ? connector_fd(connector) : -1, .events = POLLIN },
	};
	eventfd_t kicks;

	pool->polling = true;
	watch_unlock(pool->watch);
	poll(fds, 2, TICK_MS);
	if (fds[0].revents)
		eventfd_read(pool->kick, &kicks);
	watch_lock(pool->watch);
	pool->polling = false;
	tick(pool);
}

static void wait_for_work(struct pool *pool)
{
	pool->idle++;
	pthread_cond_wait(&pool->work, &pool->watch->lock);
	pool->idle--;
}

/*
 * A process may end within a millisecond of its exec. With a higher priority than all others, this
 * thread reads the text before the process goes on, if both run on one processor: of `seq 2000 |
 * xargs -P4 -n1 true` all command lines are read instead of four in five. Needs CAP_SYS_NICE;
 * without it the priority stays as it is.
 */
static void raise_priority(void)
{
	const struct sched_param first = { .sched_priority = 1 };

	pthread_setschedparam(pthread_self(), SCHED_RR, &first);
}

static void *serve(void *arg)
{
	struct pool *pool = arg;
	struct proc_snapshot snapshot = { 0 };

	pthread_setname_np(pthread_self(), "monitor");
	rights_use_all(); /* a request handler may have started this thread */
	raise_priority();
	watch_lock(pool->watch);
	for (;;) {
		if (serve_request(pool) || serve_member(pool, &snapshot) || serve_repair(pool))
			continue;
		if (pool->stopping)
			break;
		if (pool->polling)
			wait_for_work(pool);
		else
			wait_at_socket(pool);
	}
	watch_unlock(pool->watch);
	proc_snapshot_finish(&snapshot);
	return NULL;
}

/* The threads block all signals; the program that we are part of handles them. */
static void start_thread(struct pool *pool)
{
	sigset_t all, old;

	if (pool->size == POOL_MAX || pool->stopping)
		return;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	if (pthread_create(&pool->threads[pool->size], NULL, serve, pool) == 0)
		pool->size++;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

/* ---- life ---- */

static int init_pool(struct pool *pool)
{
	condition_init(&pool->work);
	condition_init(&pool->done);
	pool->kick = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return pool->kick < 0 ? -errno : 0;
}

/* Returns whether all threads ended: one that is stuck in /proc cannot be woken. */
static bool join(struct pool *pool)
{
	struct timespec end;
	bool all = true;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += STOP_SECONDS;
	for (int i = 0; i < pool->size; i++) {
		if (pthread_clockjoin_np(pool->threads[i], NULL, CLOCK_MONOTONIC, &end) == 0)
			continue;
		pthread_detach(pool->threads[i]);
		all = false;
	}
	return all;
}

bool pool_stop(struct pool *pool)
{
	bool all;

	watch_lock(pool->watch);
	if (!pool->watch->connector)
		scope_mark_all_stale(pool->watch->scope);
	pool->stopping = true;
	pthread_cond_broadcast(&pool->work);
	watch_unlock(pool->watch);
	if (pool->kick >= 0)
		eventfd_write(pool->kick, 1);
	all = join(pool);
	watch_lock(pool->watch);
	scope_end_missing(pool->watch->scope, INT64_MAX);
	watch_unlock(pool->watch);
	return all;
}

void pool_destroy(struct pool *pool)
{
	if (pool->kick >= 0)
		close(pool->kick);
	pthread_cond_destroy(&pool->work);
	pthread_cond_destroy(&pool->done);
	free(pool);
}

int pool_create(struct watch *watch, struct pool **ret_pool)
{
	struct pool *pool = calloc(1, sizeof(*pool));
	int r;

	if (!pool)
		return -ENOMEM;
	pool->watch = watch;
	r = init_pool(pool);
	watch_lock(watch);
	for (int i = 0; r == 0 && i < POOL_START; i++) {
		start_thread(pool);
		r = pool->size > i ? 0 : -EAGAIN;
	}
	watch_unlock(watch);
	if (r < 0) {
		pool_stop(pool);
		pool_destroy(pool);
		return r;
	}
	*ret_pool = pool;
	return 0;
}
