/* SPDX-License-Identifier: MIT */

/* The open files of each inode. */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "ftrac/inode_table.h"
#include "ftrac/pages.h"

void entry_free_opened(struct entry *entry)
{
	if (entry->opened)
		pages_destroy(entry->opened->pages);
	free(entry->opened);
	entry->opened = NULL;
}

struct opened *inode_opens_lock(struct inode_table *table, struct inode *inode)
{
	struct shard *shard = table_shard(table, inode);
	struct entry *entry = entry_of(inode);

	pthread_mutex_lock(&shard->lock);
	if (!entry->opened && !(entry->opened = calloc(1, sizeof(*entry->opened))))
		pthread_mutex_unlock(&shard->lock);
	return entry->opened;
}

bool inode_has_writer(struct inode_table *table, struct inode *inode)
{
	struct shard *shard = table_shard(table, inode);
	const struct opened *opened;
	bool writes = false;

	pthread_mutex_lock(&shard->lock);
	opened = entry_of(inode)->opened;
	for (const struct open_link *l = opened ? opened->links : NULL; l; l = l->next)
		writes |= l->writes;
	pthread_mutex_unlock(&shard->lock);
	return writes;
}

int inode_open_stores(struct inode_table *table, struct inode *inode)
{
	struct shard *shard = table_shard(table, inode);
	const struct opened *opened;
	int fd = -ENOENT;

	pthread_mutex_lock(&shard->lock);
	opened = entry_of(inode)->opened;
	for (const struct open_link *l = opened ? opened->links : NULL; l && fd == -ENOENT; l = l->next)
		if (l->stores && (fd = fcntl(l->fd, F_DUPFD_CLOEXEC, 0)) < 0)
			fd = -errno;
	pthread_mutex_unlock(&shard->lock);
	return fd;
}

void inode_zeroed(struct inode_table *table, struct inode *inode, off_t begin, off_t end)
{
	struct shard *shard = table_shard(table, inode);
	const struct opened *opened;

	pthread_mutex_lock(&shard->lock);
	opened = entry_of(inode)->opened;
	if (opened && opened->pages)
		pages_zeroed(opened->pages, begin, end);
	pthread_mutex_unlock(&shard->lock);
}

struct opened *inode_opens(struct inode *inode)
{
	return entry_of(inode)->opened;
}

void inode_opens_unlock(struct inode_table *table, struct inode *inode)
{
	pthread_mutex_unlock(&table_shard(table, inode)->lock);
}

void inode_opened(struct inode *inode, struct open_link *link)
{
	struct opened *opened = entry_of(inode)->opened;

	entry_ref(entry_of(inode));
	link->next = opened->links;
	link->at = &opened->links;
	if (link->next)
		link->next->at = &link->next;
	opened->links = link;
}

int inode_closed(struct inode_table *table, struct inode *inode, struct open_link *link)
{
	struct entry *entry = entry_of(inode);
	struct shard *shard = table_shard(table, inode);
	int backing_id = 0;

	pthread_mutex_lock(&shard->lock);
	*link->at = link->next;
	if (link->next)
		link->next->at = link->at;
	if (!entry->opened->links) {
		backing_id = entry->opened->backing_id;
		entry_free_opened(entry);
	}
	pthread_mutex_unlock(&shard->lock);
	entry_unref(table, entry);
	return backing_id;
}
