/* SPDX-License-Identifier: MIT */
#include "db/syncer.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/prctl.h>

#include "base/condition.h"

struct syncer {
	void (*sync)(void *arg);
	void *arg;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t asked_more, answered_more;
	uint64_t asked, answered;
	bool stop;
};

static void *answer_all(void *arg)
{
	struct syncer *syncer = arg;

	prctl(PR_SET_NAME, "ftrac-sync");
	pthread_mutex_lock(&syncer->lock);
	while (!syncer->stop) {
		uint64_t asked = syncer->asked;

		if (asked == syncer->answered) {
			pthread_cond_wait(&syncer->asked_more, &syncer->lock);
			continue;
		}
		pthread_mutex_unlock(&syncer->lock);
		syncer->sync(syncer->arg);
		pthread_mutex_lock(&syncer->lock);
		syncer->answered = asked;
		pthread_cond_signal(&syncer->answered_more);
	}
	pthread_mutex_unlock(&syncer->lock);
	return NULL;
}

static void release(struct syncer *syncer)
{
	pthread_cond_destroy(&syncer->asked_more);
	pthread_cond_destroy(&syncer->answered_more);
	pthread_mutex_destroy(&syncer->lock);
	free(syncer);
}

int syncer_start(void (*sync)(void *arg), void *arg, struct syncer **ret_syncer)
{
	struct syncer *syncer = calloc(1, sizeof(*syncer));
	int r;

	if (!syncer)
		return -ENOMEM;
	syncer->sync = sync;
	syncer->arg = arg;
	pthread_mutex_init(&syncer->lock, NULL);
	pthread_cond_init(&syncer->asked_more, NULL);
	condition_init(&syncer->answered_more);
	r = -pthread_create(&syncer->thread, NULL, answer_all, syncer);
	if (r < 0)
		release(syncer);
	else
		*ret_syncer = syncer;
	return r;
}

void syncer_ask(struct syncer *syncer)
{
	pthread_mutex_lock(&syncer->lock);
	syncer->asked++;
	pthread_cond_signal(&syncer->asked_more);
	pthread_mutex_unlock(&syncer->lock);
}

bool syncer_wait(struct syncer *syncer, int64_t until_ns)
{
	bool done;

	pthread_mutex_lock(&syncer->lock);
	while (syncer->answered < syncer->asked &&
		condition_wait(&syncer->answered_more, &syncer->lock, until_ns))
		;
	done = syncer->answered == syncer->asked;
	pthread_mutex_unlock(&syncer->lock);
	return done;
}

void syncer_destroy(struct syncer *syncer)
{
	if (!syncer)
		return;
	pthread_mutex_lock(&syncer->lock);
	syncer->stop = true;
	pthread_cond_signal(&syncer->asked_more);
	pthread_mutex_unlock(&syncer->lock);
	pthread_join(syncer->thread, NULL);
	release(syncer);
}
