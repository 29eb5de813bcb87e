/* SPDX-License-Identifier: MIT */
#include "ftrac/shares.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <uthash.h>

#define TIMES 3 /* times the amount that is free */

/* A user that holds something. */
struct taker {
	uid_t user;
	size_t taken[SHARE_MAX];
	UT_hash_handle hh;
};

struct shares {
	pthread_mutex_t lock;
	size_t left[SHARE_MAX];
	uid_t all_for;
	struct taker *takers;
};

int shares_create(const size_t room[SHARE_MAX], uid_t all_for, struct shares **ret_shares)
{
	struct shares *shares = calloc(1, sizeof(*shares));

	if (!shares)
		return -ENOMEM;
	pthread_mutex_init(&shares->lock, NULL);
	memcpy(shares->left, room, sizeof(shares->left));
	shares->all_for = all_for;
	*ret_shares = shares;
	return 0;
}

void shares_destroy(struct shares *shares)
{
	struct taker *taker, *next;

	if (!shares)
		return;
	HASH_ITER(hh, shares->takers, taker, next) {
		HASH_DEL(shares->takers, taker);
		free(taker);
	}
	pthread_mutex_destroy(&shares->lock);
	free(shares);
}

static struct taker *find(struct shares *shares, uid_t user)
{
	struct taker *taker;

	HASH_FIND(hh, shares->takers, &user, sizeof(user), taker);
	return taker;
}

static struct taker *get(struct shares *shares, uid_t user)
{
	struct taker *taker = find(shares, user);

	if (taker)
		return taker;
	taker = calloc(1, sizeof(*taker));
	if (!taker)
		return NULL;
	taker->user = user;
	HASH_ADD(hh, shares->takers, user, sizeof(user), taker);
	if (!taker->hh.tbl) {
		free(taker);
		return NULL;
	}
	return taker;
}

static void drop_if_empty(struct shares *shares, struct taker *taker)
{
	for (int i = 0; i < SHARE_MAX; i++)
		if (taker->taken[i])
			return;
	HASH_DEL(shares->takers, taker);
	free(taker);
}

bool shares_take(struct shares *shares, enum share kind, uid_t user)
{
	bool may_all = user == 0 || user == shares->all_for, takes = false;
	struct taker *taker;

	pthread_mutex_lock(&shares->lock);
	taker = get(shares, user);
	if (taker) {
		takes = shares->left[kind] && (may_all || taker->taken[kind] < TIMES * shares->left[kind]);
		shares->left[kind] -= takes;
		taker->taken[kind] += takes;
		drop_if_empty(shares, taker);
	}
	pthread_mutex_unlock(&shares->lock);
	return takes;
}

void shares_give(struct shares *shares, enum share kind, uid_t user)
{
	struct taker *taker;

	pthread_mutex_lock(&shares->lock);
	taker = find(shares, user);
	if (taker && taker->taken[kind]) {
		taker->taken[kind]--;
		shares->left[kind]++;
		drop_if_empty(shares, taker);
	}
	pthread_mutex_unlock(&shares->lock);
}
