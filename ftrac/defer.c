/* SPDX-License-Identifier: MIT */
#include "ftrac/defer.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "ftrac/shares.h"
#include "ftrac/waking.h"

#define PER_RING 4 /* libfuse's rings have 8 requests */
#define WAKE_TRIES 100
#define WAKE_INTERVAL_US 10000
#define PATIENCE_S 1

/* A request that waits. */
struct deferred {
	struct defer *defer;
	struct requester requester;
	int path_fd; /* O_PATH */
	int flags;
	int opened; /* the descriptor after the wait, or -1 */
	void (*again)(void *arg);
	void *arg;
	pthread_t ring; /* the thread of the ring that has the request */
	int cpu;
	struct waking waking;
	struct deferred *next, **at; /* in the list of waiting or of finished requests */
};

struct defer {
	struct fs *fs;
	const char *mountpoint;
	_Atomic bool stop;
	_Atomic unsigned n_done;
	pthread_mutex_t lock;
	pthread_cond_t ended;
	unsigned running; /* threads */
	bool is_left; /* a thread is stuck and still uses it */
	struct deferred *waiting, *done;
};

static _Thread_local unsigned of_this_ring; /* waiting requests of this thread's ring */

int defer_create(struct fs *fs, const char *mountpoint, struct defer **ret_defer)
{
	struct defer *defer = calloc(1, sizeof(*defer));

	if (!defer)
		return -ENOMEM;
	defer->fs = fs;
	defer->mountpoint = mountpoint;
	pthread_mutex_init(&defer->lock, NULL);
	pthread_cond_init(&defer->ended, NULL);
	*ret_defer = defer;
	return 0;
}

static void free_deferred(struct deferred *w)
{
	shares_give(w->defer->fs->shares, SHARE_LEASES, w->requester.uid);
	close(w->path_fd);
	if (w->opened >= 0)
		close(w->opened);
	free(w);
}

static void try_again(struct deferred *w)
{
	w->again(w->arg);
	free_deferred(w);
}

static void give_up(struct deferred *w)
{
	free(w->arg);
	free_deferred(w);
}

/* ---- back to the ring ---- */

static void return_to_ring(struct defer *defer, struct deferred *w)
{
	pthread_mutex_lock(&defer->lock);
	w->next = defer->done;
	defer->done = w;
	atomic_fetch_add(&defer->n_done, 1);
	pthread_mutex_unlock(&defer->lock);
}

/* Removes and returns a finished request of this thread, or w itself; NULL if there is none. */
static struct deferred *take_finished(struct defer *defer, const struct deferred *w)
{
	struct deferred **at, *found = NULL;

	pthread_mutex_lock(&defer->lock);
	for (at = &defer->done; *at; at = &(*at)->next)
		if (w ? *at == w : pthread_equal((*at)->ring, pthread_self()))
			break;
	found = *at;
	if (found) {
		*at = found->next;
		atomic_fetch_sub(&defer->n_done, 1);
	}
	pthread_mutex_unlock(&defer->lock);
	return found;
}

void defer_retry(struct defer *defer)
{
	struct deferred *w;

	while (atomic_load_explicit(&defer->n_done, memory_order_relaxed) &&
		(w = take_finished(defer, NULL))) {
		of_this_ring--;
		try_again(w);
	}
}

static bool is_done(struct defer *defer, const struct deferred *w)
{
	bool done = false;

	pthread_mutex_lock(&defer->lock);
	for (const struct deferred *d = defer->done; d; d = d->next)
		done |= d == w;
	pthread_mutex_unlock(&defer->lock);
	return done;
}

/* The thread has its own descriptor table, which /proc/self does not show. */
static void send_wake_request(const struct defer *defer, const struct requester *requester)
{
	cleanup_fd int root = defer->mountpoint
		? open(defer->mountpoint, O_PATH | O_DIRECTORY | O_CLOEXEC)
		: monitor_root_of(requester->tid);
	char path[48], value[1];

	snprintf(path, sizeof(path), "/proc/thread-self/fd/%d", root);
	if (root >= 0)
		(void)!getxattr(path, DEFER_XATTR, value, sizeof(value));
}

/* w may be freed as soon as it is handed back. */
static void wake_ring(struct defer *defer, struct deferred *w)
{
	struct requester requester = w->requester;
	cpu_set_t cpu;

	CPU_ZERO(&cpu);
	CPU_SET(w->cpu, &cpu);
	pthread_setaffinity_np(pthread_self(), sizeof(cpu), &cpu);
	return_to_ring(defer, w);
	/* This thread is a client of our mount; it must not keep the device open if the daemon is
	 * killed. */
	close_range(3, ~0U, CLOSE_RANGE_UNSHARE);
	for (int i = 0; i < WAKE_TRIES && !atomic_load(&defer->stop) && is_done(defer, w); i++) {
		if (i)
			usleep(WAKE_INTERVAL_US);
		send_wake_request(defer, &requester);
	}
}

/* ---- waiting ---- */

static void wait_for_lease(struct deferred *w)
{
	if (creds_become(&w->requester, &ON(w->path_fd)) < 0 || !waking_begin(&w->waking))
		return;
	do
		w->opened = open(fd_path(w->path_fd).text, w->flags | O_CLOEXEC);
	while (w->opened < 0 && errno == EINTR && !atomic_load(&w->defer->stop));
	waking_end(&w->waking);
}

static void waits_now(struct deferred *w)
{
	struct defer *defer = w->defer;

	w->next = defer->waiting;
	w->at = &defer->waiting;
	if (w->next)
		w->next->at = &w->next;
	defer->waiting = w;
}

static void no_longer_waits(struct deferred *w)
{
	pthread_mutex_lock(&w->defer->lock);
	*w->at = w->next;
	if (w->next)
		w->next->at = w->at;
	pthread_mutex_unlock(&w->defer->lock);
}

static void *run(void *arg)
{
	struct deferred *w = arg;
	struct defer *defer = w->defer;

	wait_for_lease(w);
	no_longer_waits(w);
	if (atomic_load(&defer->stop))
		give_up(w);
	else if (defer->fs->uring)
		wake_ring(defer, w);
	else
		try_again(w);
	pthread_mutex_lock(&defer->lock);
	defer->running--;
	pthread_cond_signal(&defer->ended);
	pthread_mutex_unlock(&defer->lock);
	return NULL;
}

static int start(struct defer *defer, struct deferred *w)
{
	int r;

	pthread_mutex_lock(&defer->lock);
	r = waking_thread(run, w);
	if (r == 0) {
		defer->running++;
		waits_now(w);
	}
	pthread_mutex_unlock(&defer->lock);
	return r;
}

static struct deferred *make(struct defer *defer, const struct call *c, struct inode *inode)
{
	cleanup_held struct held held = call_hold(c, inode);
	struct deferred *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->defer = defer;
	waking_init(&w->waking);
	w->requester = call_requester(c);
	w->opened = -1;
	w->path_fd = WITH_ROOM(defer->fs->inodes, fcntl(held.fd, F_DUPFD_CLOEXEC, 3));
	w->ring = pthread_self();
	w->cpu = sched_getcpu();
	if (w->path_fd >= 0 && shares_take(defer->fs->shares, SHARE_LEASES, c->ctx->uid))
		return w;
	if (w->path_fd >= 0)
		close(w->path_fd);
	free(w);
	return NULL;
}

int defer_open(struct defer *defer, const struct call *c, struct inode *inode, int flags,
	void (*again)(void *arg), void *arg)
{
	struct deferred *w;

	if (defer->fs->uring && of_this_ring == PER_RING)
		return -EAGAIN;
	w = make(defer, c, inode);
	if (!w)
		return -EAGAIN;
	w->flags = flags & O_ACCMODE;
	w->again = again;
	w->arg = arg;
	of_this_ring += defer->fs->uring; /* before the request can be handed back */
	if (start(defer, w) == 0)
		return 0;
	of_this_ring -= defer->fs->uring;
	free_deferred(w);
	return -EAGAIN;
}

/* ---- the end ---- */

/* A thread that sends a request to a mount whose rings have ended blocks until the session is
 * destroyed. */
static bool wait_for_threads(struct defer *defer)
{
	struct timespec end;
	int r = 0;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += PATIENCE_S;
	while (defer->running && r == 0)
		r = pthread_cond_timedwait(&defer->ended, &defer->lock, &end);
	return defer->running == 0;
}

void defer_stop(struct defer *defer)
{
	struct deferred *w;

	if (!defer)
		return;
	atomic_store(&defer->stop, true);
	pthread_mutex_lock(&defer->lock);
	for (w = defer->waiting; w; w = w->next)
		waking_stop(&w->waking);
	defer->is_left = !wait_for_threads(defer);
	while (!defer->is_left && (w = defer->done)) {
		defer->done = w->next;
		give_up(w);
	}
	pthread_mutex_unlock(&defer->lock);
}

void defer_destroy(struct defer *defer)
{
	if (!defer || defer->is_left)
		return;
	pthread_cond_destroy(&defer->ended);
	pthread_mutex_destroy(&defer->lock);
	free(defer);
}
