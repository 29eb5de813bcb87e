/* SPDX-License-Identifier: MIT */
#include "procmon/births.h"

#include <errno.h>
#include <stdlib.h>
#include <uthash.h>

struct entry {
	pid_t pid;
	struct birth birth;
	UT_hash_handle hh;
};

struct births {
	struct entry *entries;
};

int births_create(struct births **ret_births)
{
	*ret_births = calloc(1, sizeof(**ret_births));
	return *ret_births ? 0 : -ENOMEM;
}

static void remove_entry(struct births *births, struct entry *entry)
{
	HASH_DEL(births->entries, entry);
	free(entry);
}

void births_clear(struct births *births)
{
	struct entry *entry, *next;

	HASH_ITER(hh, births->entries, entry, next)
		remove_entry(births, entry);
}

void births_destroy(struct births *births)
{
	if (!births)
		return;
	births_clear(births);
	free(births);
}

static struct entry *find(const struct births *births, pid_t pid)
{
	struct entry *entry;

	HASH_FIND_INT(births->entries, &pid, entry);
	return entry;
}

void births_note(struct births *births, pid_t pid, const struct birth *birth)
{
	struct entry *entry;

	births_forget(births, pid);
	entry = calloc(1, sizeof(*entry));
	if (!entry)
		return;
	entry->pid = pid;
	entry->birth = *birth;
	HASH_ADD_INT(births->entries, pid, entry);
	if (!entry->hh.tbl)
		free(entry);
}

void births_forget(struct births *births, pid_t pid)
{
	struct entry *entry = find(births, pid);

	if (entry)
		remove_entry(births, entry);
}

int births_take(struct births *births, pid_t pid, struct birth *ret_birth)
{
	struct entry *entry = find(births, pid);

	if (!entry)
		return -ENOENT;
	*ret_birth = entry->birth;
	remove_entry(births, entry);
	return 0;
}
