/* SPDX-License-Identifier: MIT */
#include "procmon/exits.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <uthash.h>
#include <utlist.h>

#include "procmon/taskstats.h"

struct left {
	struct taskstats_record record;
	struct left *prev, *next;
};

struct ended {
	pid_t tid;
	struct left *left; /* oldest first */
	UT_hash_handle hh;
};

struct exits {
	struct taskstats_listener *listener;
	struct ended *ended;
	_Atomic uint64_t lost;
};

int exits_create(struct exits **ret_exits)
{
	struct exits *exits = calloc(1, sizeof(*exits));
	int r = exits ? taskstats_create(&exits->listener) : -ENOMEM;

	if (r < 0) {
		free(exits);
		return r;
	}
	*ret_exits = exits;
	return 0;
}

static void remove_oldest(struct exits *exits, struct ended *ended)
{
	struct left *oldest = ended->left;

	DL_DELETE(ended->left, oldest);
	free(oldest);
	if (ended->left)
		return;
	HASH_DEL(exits->ended, ended);
	free(ended);
}

void exits_forget(struct exits *exits)
{
	while (exits->ended)
		remove_oldest(exits, exits->ended);
}

void exits_destroy(struct exits *exits)
{
	if (!exits)
		return;
	exits_forget(exits);
	taskstats_destroy(exits->listener);
	free(exits);
}

static struct ended *get(struct exits *exits, pid_t tid)
{
	struct ended *ended;

	HASH_FIND_INT(exits->ended, &tid, ended);
	if (ended)
		return ended;
	ended = calloc(1, sizeof(*ended));
	if (!ended)
		return NULL;
	ended->tid = tid;
	HASH_ADD_INT(exits->ended, tid, ended);
	if (!ended->hh.tbl) {
		free(ended);
		return NULL;
	}
	return ended;
}

static void keep(struct exits *exits, const struct taskstats_record *record)
{
	struct ended *ended = get(exits, record->tid);
	struct left *left = ended ? malloc(sizeof(*left)) : NULL;

	if (left) {
		left->record = *record;
		DL_APPEND(ended->left, left);
	} else if (ended && !ended->left) {
		HASH_DEL(exits->ended, ended);
		free(ended);
	}
	if (!left)
		atomic_fetch_add(&exits->lost, 1);
}

static void drain(struct exits *exits)
{
	struct taskstats_record record;
	int r;

	while ((r = taskstats_read(exits->listener, &record)) > 0 || r == -EBADMSG ||
		r == -ENOBUFS) {
		if (r == -ENOBUFS)
			atomic_fetch_add(&exits->lost, 1);
		else if (r > 0 && !record.group)
			keep(exits, &record);
	}
}

bool exits_take(struct exits *exits, pid_t tid, struct taskstats_record *ret_record)
{
	struct ended *ended;

	HASH_FIND_INT(exits->ended, &tid, ended);
	if (!ended) {
		drain(exits);
		HASH_FIND_INT(exits->ended, &tid, ended);
	}
	if (!ended)
		return false;
	*ret_record = ended->left->record;
	remove_oldest(exits, ended);
	return true;
}

uint64_t exits_lost(const struct exits *exits)
{
	return atomic_load(&exits->lost);
}
