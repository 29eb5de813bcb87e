/* SPDX-License-Identifier: MIT */
#ifndef FTRAC_PAGES_H
#define FTRAC_PAGES_H

/*
 * What the kernel's page cache may hold of an open file.
 *
 * Before a program can map a page, the kernel reads it (a READ request of the page cache). Later
 * the kernel sends whole pages back that a program stored to (a WRITE request with
 * FUSE_WRITE_CACHE). A write(2) with direct I/O does not change the page in the cache. So if the
 * page is sent back after such a write, it would undo the write. To prevent that, this module
 * remembers the bytes that a direct write replaced in a page that the kernel may hold. When the
 * page comes back, bytes that equal the remembered ones were not stored to: they take the value of
 * the source. Bytes that differ were stored to, and win. (This is a three-way merge of the page as
 * the kernel read it, the page as the kernel sends it back, and the source.)
 *
 * Limits: if a store and a direct write change the same byte at the same time, the store counts as
 * the earlier one. The module remembers PAGES_MOST pages per file; beyond that, pages_merge()
 * returns false.
 *
 * The module also answers which ranges may have been stored to but not yet written back: SEEK_DATA
 * must not report them as holes.
 *
 * Offsets and sizes are in bytes. Threads: any. All open descriptors of a file share one struct
 * pages, which struct opened (inode.h) owns.
 */

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define PAGES_MOST 1024

struct pages;

/* NULL: out of memory. */
struct pages *pages_create(void);
void pages_destroy(struct pages *pages);

/* Around a READ request of the page cache. Between begin and end the daemon does not change the
 * source. */
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
