/* SPDX-License-Identifier: MIT */
#include "ftrac/locks.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>
#include <uthash.h>

#include "base/fd_path.h"
#include "base/rights.h"
#include "ftrac/creds.h"
#include "ftrac/inode.h"
#include "ftrac/waking.h"

struct owner {
	struct {
		uint64_t inode, owner;
	} key;
	int fd;
	pid_t pid;
	const void *file; /* the last open file of this owner */
	unsigned users;	  /* calls that use fd now */
	UT_hash_handle hh;
};

struct lock_table {
	pthread_mutex_t lock;
	struct owner *owners;
};

struct waiter {
	struct lock_table *table;
	struct lock_request request;
	struct owner *owner;
	struct waking *waking;
	void (*done)(void *arg, int result);
	void *arg;
};

int locks_create(struct lock_table **ret_table)
{
	struct lock_table *table = calloc(1, sizeof(*table));

	if (!table)
		return -ENOMEM;
	pthread_mutex_init(&table->lock, NULL);
	*ret_table = table;
	return 0;
}

static void remove_owner(struct lock_table *table, struct owner *owner)
{
	HASH_DEL(table->owners, owner);
	close(owner->fd);
	free(owner);
}

void locks_destroy(struct lock_table *table)
{
	if (!table)
		return;
	while (table->owners)
		remove_owner(table, table->owners);
	pthread_mutex_destroy(&table->lock);
	free(table);
}

static int reopen(int fd, int mode)
{
	/* O_NONBLOCK: does not wait for the holder of a lease. */
	return open(fd_path(fd).text, mode | O_NONBLOCK | O_CLOEXEC);
}

/*
 * Opens for shared and exclusive locks, if the requester may. A running program cannot be opened
 * for writing. If access to the file was revoked since the requester opened it, that must not
 * matter: so the daemon's own rights are the fallback.
 */
static int open_for_locks(int fd)
{
	int mode = fcntl(fd, F_GETFL) & O_ACCMODE, opened = reopen(fd, O_RDWR);
	uint64_t before;

	if (opened < 0)
		opened = reopen(fd, mode);
	if (opened >= 0 || errno != EACCES)
		return opened < 0 ? -errno : opened;
	before = creds_raise(RIGHT(CAP_DAC_OVERRIDE));
	opened = reopen(fd, mode);
	creds_drop(before);
	return opened < 0 ? -errno : opened;
}

static struct owner *add_owner(struct lock_table *table, const struct lock_request *request)
{
	struct owner *owner = calloc(1, sizeof(*owner));

	if (!owner)
		return NULL;
	owner->key.inode = request->inode->id;
	owner->key.owner = request->owner;
	owner->fd = open_for_locks(request->fd);
	if (owner->fd < 0) {
		free(owner);
		return NULL;
	}
	HASH_ADD(hh, table->owners, key, sizeof(owner->key), owner);
	if (!owner->hh.tbl) {
		close(owner->fd);
		free(owner);
		return NULL;
	}
	return owner;
}

/* The owner of a request, in use until put_owner(); NULL if none can be made. */
static struct owner *get_owner(struct lock_table *table, const struct lock_request *request)
{
	struct owner *owner, wanted = { .key = { request->inode->id, request->owner } };

	pthread_mutex_lock(&table->lock);
	HASH_FIND(hh, table->owners, &wanted.key, sizeof(wanted.key), owner);
	if (!owner)
		owner = add_owner(table, request);
	if (owner) {
		owner->users++;
		owner->pid = request->pid;
		owner->file = request->file;
	}
	pthread_mutex_unlock(&table->lock);
	return owner;
}

static void put_owner(struct lock_table *table, struct owner *owner)
{
	if (!owner)
		return;
	pthread_mutex_lock(&table->lock);
	owner->users--;
	pthread_mutex_unlock(&table->lock);
}

/* Called with the lock. Another owner of ours with a lock on that inode. */
static pid_t other_pid(const struct lock_table *table, const struct owner *owner)
{
	for (const struct owner *o = table->owners; o; o = o->hh.next)
		if (o != owner && o->key.inode == owner->key.inode)
			return o->pid;
	return -1;
}

int locks_get(struct lock_table *table, struct lock_request *request)
{
	struct owner *owner = get_owner(table, request);
	int r;

	if (!owner)
		return -ENOLCK;
	request->range.l_pid = 0;
	r = fcntl(owner->fd, F_OFD_GETLK, &request->range) < 0 ? -errno : 0;
	if (r == 0 && request->range.l_type != F_UNLCK && request->range.l_pid < 0) {
		pthread_mutex_lock(&table->lock);
		request->range.l_pid = other_pid(table, owner);
		pthread_mutex_unlock(&table->lock);
	}
	put_owner(table, owner);
	return r;
}

static int set_lock(const struct lock_request *request, const struct owner *owner, bool wait)
{
	struct flock range = request->range;
	int r;

	range.l_pid = 0;
	if (request->flock)
		r = flock(request->fd, request->flock | (wait ? 0 : LOCK_NB));
	else
		r = fcntl(owner->fd, wait ? F_OFD_SETLKW : F_OFD_SETLK, &range);
	return r < 0 ? -errno : 0;
}

int locks_try(struct lock_table *table, const struct lock_request *request)
{
	struct owner *owner = NULL;
	int r;

	if (!request->flock && !(owner = get_owner(table, request)))
		return -ENOLCK;
	r = set_lock(request, owner, false);
	put_owner(table, owner);
	return r == -EACCES ? -EAGAIN : r;
}

/* ---- waiting ---- */

static void *wait_for_lock(void *arg)
{
	struct waiter *w = arg;
	int r = -ENOLCK;

	if (waking_begin(w->waking)) {
		do
			r = set_lock(&w->request, w->owner, true);
		while (r == -EINTR && !atomic_load(&w->waking->is_stopped));
		waking_end(w->waking);
	}
	put_owner(w->table, w->owner);
	w->done(w->arg, r);
	free(w);
	return NULL;
}

int locks_wait(struct lock_table *table, const struct lock_request *request,
	struct waking *waking, void (*done)(void *arg, int result), void *arg)
{
	struct waiter *w = malloc(sizeof(*w));
	int r = -ENOLCK;

	if (!w)
		return -ENOMEM;
	*w = (struct waiter){ .table = table, .request = *request, .waking = waking, .done = done,
		.arg = arg };
	if (!request->flock)
		w->owner = get_owner(table, request);
	if (request->flock || w->owner)
		r = waking_thread(wait_for_lock, w);
	if (r < 0) {
		put_owner(table, w->owner);
		free(w);
	}
	return r;
}

/* ---- closing ---- */

/* Called with the lock. An owner in use waits for a lock, which it may still get. */
static void end_owner(struct lock_table *table, struct owner *owner)
{
	struct flock all = { .l_type = F_UNLCK, .l_whence = SEEK_SET };

	if (owner->users)
		fcntl(owner->fd, F_OFD_SETLK, &all);
	else
		remove_owner(table, owner);
}

void locks_close(struct lock_table *table, const struct inode *inode, uint64_t owner_id)
{
	struct owner *owner, wanted = { .key = { inode->id, owner_id } };

	pthread_mutex_lock(&table->lock);
	HASH_FIND(hh, table->owners, &wanted.key, sizeof(wanted.key), owner);
	if (owner)
		end_owner(table, owner);
	pthread_mutex_unlock(&table->lock);
}

void locks_release(struct lock_table *table, const void *file)
{
	struct owner *owner, *next;

	pthread_mutex_lock(&table->lock);
	HASH_ITER(hh, table->owners, owner, next)
		if (owner->file == file)
			end_owner(table, owner);
	pthread_mutex_unlock(&table->lock);
}
