/* SPDX-License-Identifier: MIT */
#include "ftrac/waking.h"

#include <signal.h>
#include <stddef.h>
#include <unistd.h>

#define WAKE_SIGNAL SIGUSR1 /* interrupts a blocking system call; no other effect */
#define WAKE_NS 10000000
#define STACK_BYTES 65536

static void on_wake(int signal)
{
	(void)signal;
}

void waking_init(struct waking *waking)
{
	struct sigaction wake = { .sa_handler = on_wake }; /* without SA_RESTART */

	*waking = (struct waking){ 0 };
	pthread_mutex_init(&waking->lock, NULL);
	sigaction(WAKE_SIGNAL, &wake, NULL);
}

int waking_thread(void *(*function)(void *arg), void *arg)
{
	pthread_attr_t attr;
	pthread_t thread;
	sigset_t all, old;
	int r;

	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	r = -pthread_create(&thread, &attr, function, arg);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	return r;
}

/* Called with the lock. */
static void start_timer(struct waking *waking)
{
	const struct itimerspec period = { { 0, WAKE_NS }, { 0, WAKE_NS } };

	timer_settime(waking->timer, 0, &period, NULL);
}

bool waking_begin(struct waking *waking)
{
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = WAKE_SIGNAL };
	sigset_t wake;

	event._sigev_un._tid = gettid();
	if (timer_create(CLOCK_MONOTONIC, &event, &waking->timer) < 0)
		return false;
	sigemptyset(&wake);
	sigaddset(&wake, WAKE_SIGNAL);
	pthread_sigmask(SIG_UNBLOCK, &wake, NULL);
	pthread_mutex_lock(&waking->lock);
	waking->is_waiting = true;
	if (atomic_load(&waking->is_stopped))
		start_timer(waking);
	pthread_mutex_unlock(&waking->lock);
	return true;
}

void waking_end(struct waking *waking)
{
	pthread_mutex_lock(&waking->lock);
	if (waking->is_waiting)
		timer_delete(waking->timer);
	waking->is_waiting = false;
	pthread_mutex_unlock(&waking->lock);
}

void waking_stop(struct waking *waking)
{
	pthread_mutex_lock(&waking->lock);
	atomic_store(&waking->is_stopped, true);
	if (waking->is_waiting)
		start_timer(waking);
	pthread_mutex_unlock(&waking->lock);
}
