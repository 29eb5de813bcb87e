/* SPDX-License-Identifier: MIT */

/*
 * The sweeper: closes unused descriptors on other mounts, and those of files that other programs
 * have removed. See pins.h and inode_table_start_sweeper().
 */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "ftrac/pins_internal.h"

#define SWEEP 256
#define TICK_MS 250

/* Whether no request has held the entry during the last full tick. */
static bool is_idle(const struct pins *pins, const struct entry *entry)
{
	return atomic_load(&pins->now) - atomic_load(&entry->used) > 1;
}

/* Claims the idle entries. */
static size_t claim_idle(struct inode_table *table, struct entry **ret_idle)
{
	struct pins *pins = &table->pins;
	struct entry *entry, *next, *last;
	size_t n = 0;

	pthread_mutex_lock(&pins->lock);
	entry = pins->away;
	last = entry ? entry->prev : NULL;
	for (bool more = entry; more && n < SWEEP; entry = next) {
		more = entry != last;
		next = entry->next;
		if (is_idle(pins, entry) && pin_claim(table, entry))
			ret_idle[n++] = entry;
	}
	pthread_mutex_unlock(&pins->lock);
	return n;
}

/*
 * Claims the idle ones among a part of all entries, another part at each tick. A file that the kernel
 * has just looked up stays open, so that a program can still open it after another one removed it.
 */
static size_t claim_some(struct inode_table *table, struct entry **ret_some)
{
	struct pins *pins = &table->pins;
	unsigned count = atomic_load(&pins->count);
	size_t n = 0;

	pthread_mutex_lock(&pins->lock);
	for (unsigned i = 0; i < SWEEP && i < count && pins->home; i++) {
		struct entry *entry = pins->home;

		pins->home = entry->next;
		if (is_idle(pins, entry) && pin_claim(table, entry))
			ret_some[n++] = entry;
	}
	pthread_mutex_unlock(&pins->lock);
	return n;
}

/* Like may_close() of pins.c, without preparing to open the file again. */
static bool is_removed(struct inode_table *table, struct entry *entry)
{
	bool is_open;

	return pin_has_name_or_file(table, entry, &is_open) && !is_open &&
		inode_has_no_links(atomic_load(&entry->fd));
}

static void find_removed(struct inode_table *table)
{
	struct entry *some[SWEEP];
	size_t n = claim_some(table, some);

	for (size_t i = 0; i < n; i++) {
		if (is_removed(table, some[i]))
			pin_close(table, some[i]);
		else
			pin_put_back(table, some[i]);
		entry_unref(table, some[i]);
	}
}

static void sweep_away(struct inode_table *table)
{
	struct entry *idle[SWEEP];
	size_t n, gone;

	do {
		n = claim_idle(table, idle);
		gone = 0;
		for (size_t i = 0; i < n; i++) {
			gone += pin_close(table, idle[i]);
			entry_unref(table, idle[i]);
		}
	} while (n == SWEEP && gone);
}

/* Waits until the next tick. False: the sweeper is to end. */
static bool wait_for_tick(const struct pins *pins)
{
	struct pollfd stop = { .fd = pins->stop, .events = POLLIN };

	return poll(&stop, 1, TICK_MS) <= 0;
}

static void *sweep(void *arg)
{
	struct inode_table *table = arg;

	while (wait_for_tick(&table->pins)) {
		atomic_fetch_add(&table->pins.now, 1);
		sweep_away(table);
		find_removed(table);
	}
	return NULL;
}

int pins_start_sweeper(struct inode_table *table)
{
	struct pins *pins = &table->pins;
	sigset_t all, old;
	int r;

	pins->stop = eventfd(0, EFD_CLOEXEC);
	if (pins->stop < 0)
		return -errno;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	r = -pthread_create(&pins->sweeper, NULL, sweep, table);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pins->has_sweeper = r == 0;
	return r;
}

void pins_stop_sweeper(struct inode_table *table)
{
	struct pins *pins = &table->pins;

	if (!pins->has_sweeper)
		return;
	eventfd_write(pins->stop, 1);
	pthread_join(pins->sweeper, NULL);
	pins->has_sweeper = false;
}
