/* SPDX-License-Identifier: MIT */
#include "ftrac/waking.h"

#include <signal.h>
#include <stddef.h>
#include <unistd.h>

#define WAKE_SIGNAL SIGUSR1 /* interrupts a waiting system call, and does nothing else */
#define WAKE_NS 100000000
#define STACK_BYTES 65536

static void on_wake(int signal)
{
	(void)signal;
}

void waking_init(void)
{
	struct sigaction wake = { .sa_handler = on_wake }; /* without SA_RESTART */

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

bool waking_begin(timer_t *ret_timer)
{
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = WAKE_SIGNAL };
	struct itimerspec period = { { 0, WAKE_NS }, { 0, WAKE_NS } };
	sigset_t wake;

	event._sigev_un._tid = gettid();
	if (timer_create(CLOCK_MONOTONIC, &event, ret_timer) < 0)
		return false;
	sigemptyset(&wake);
	sigaddset(&wake, WAKE_SIGNAL);
	pthread_sigmask(SIG_UNBLOCK, &wake, NULL);
	timer_settime(*ret_timer, 0, &period, NULL);
	return true;
}

void waking_end(timer_t timer)
{
	timer_delete(timer);
}
