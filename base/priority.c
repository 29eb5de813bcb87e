/* SPDX-License-Identifier: MIT */
#include "base/priority.h"

#include <sched.h>
#include <sys/resource.h>

void priority_init(struct priority *priority)
{
	int nice = getpriority(PRIO_PROCESS, 0); /* of the thread */

	priority->is_waiting = false;
	priority->may_wait = sched_getscheduler(0) == SCHED_OTHER && setpriority(PRIO_PROCESS, 0, nice - 1) == 0;
	if (priority->may_wait)
		setpriority(PRIO_PROCESS, 0, nice);
}

static void choose(pthread_t thread, bool wait)
{
	const struct sched_param none = { 0 };

	pthread_setschedparam(thread, wait ? SCHED_IDLE : SCHED_OTHER, &none);
}

/* The thread may be told to hurry at any moment: it looks once more afterwards. */
void priority_wait(struct priority *priority, bool wait)
{
	if (!priority->may_wait)
		return;
	wait = wait && !atomic_load(&priority->hurry);
	if (wait == priority->is_waiting)
		return;
	choose(pthread_self(), wait);
	priority->is_waiting = wait;
	if (wait && atomic_load(&priority->hurry))
		priority_wait(priority, false);
}

void priority_hurry(struct priority *priority, pthread_t thread)
{
	if (!atomic_exchange(&priority->hurry, true) && priority->may_wait)
		choose(thread, false);
}
