/* SPDX-License-Identifier: MIT */
#ifndef FTRAC_PAGES_H
#define FTRAC_PAGES_H

/*
 * What the kernel's page cache may hold of an open file.
 *
 * The kernel asks for a page before a program can map it (a READ request of the page cache) and sends whole pages back
 * that a program stored to (a WRITE request with FUSE_WRITE_CACHE).  A write(2) with direct I/O does not change
 * the page: if both meet, the page carries old bytes back over what was written.  So this module remembers the bytes
 * that a direct write replaced in a page that the kernel may hold.  When the page comes back, bytes that are as they
 * were before the direct write were not stored to: they take the value of the source.  Bytes that differ were stored
 * to, and win.  (This is a three-way merge of the page as the kernel read it, the page as the kernel writes it, and
 * the source.)
 *
 * Limits: a store of the very byte that a direct write replaces at the same time counts as earlier than the write.  The
 * module remembers PAGES_MOST pages of one file.  If that is not enough, pages_merge() says so.
 *
 * The module also answers where a store may be that has not reached the source: SEEK_DATA must not call such a range a
 * hole.
 *
 * Offsets and sizes are in bytes.  Threads: any.  A file has one struct pages for all of its open descriptors; its
 * owner is struct opened (inode.h).
 */

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define PAGES_MOST 1024

struct pages;

/* NULL: out of memory. */
struct pages *pages_create(void);
void pages_destroy(struct pages *pages);

/* Begins to answer a READ request of the page cache.  Between begin and end the source does not change by us. */
void pages_read_begin(struct pages *pages, off_t off, size_t size);
void pages_read_end(struct pages *pages);

/*
 * Begins a change of the source: one at a time, and never while the page cache reads.  pages_keep() is called before
 * a direct write and remembers what the range has now in pages that the kernel may hold; fd reads the source.
 */
void pages_change_begin(struct pages *pages);
bool pages_may_hold(struct pages *pages, off_t off, size_t size);
void pages_keep(struct pages *pages, int fd, off_t off, size_t size);
void pages_change_end(struct pages *pages);

/*
 * Within a change: the page cache writes buf back to off, and *ret_merged is what the source is to have there; NULL:
 * buf itself.  fd reads the source.  The caller frees *ret_merged.  False: replaced bytes were forgotten, so a
 * direct write may be undone.
 */
bool pages_merge(struct pages *pages, int fd, const char *buf, size_t size, off_t off, char **ret_merged);

/* The kernel has dropped the whole pages of a range, and zeroed the rest of it, in its cache and in the source. */
void pages_zeroed(struct pages *pages, off_t begin, off_t end);

/* The first offset from off on that the kernel may hold, or -1. */
off_t pages_next_held(struct pages *pages, off_t off);
/* The first offset from off on that the kernel does not hold. */
off_t pages_next_free(struct pages *pages, off_t off);

#endif
