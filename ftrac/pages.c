/* SPDX-License-Identifier: MIT */
#include "ftrac/pages.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uthash.h>

#include "base/saturate.h"

#define PAGE 4096 /* the unit of this module, independent of the kernel's */
#define HELD_MOST 32 /* ranges; beyond that neighbours are joined */

struct range {
	off_t begin, end;
};

/* Bytes of a page that a direct write has replaced and that the kernel may still have. */
struct replaced {
	off_t page;
	uint8_t bytes[PAGE];
	bool known[PAGE]; /* which bytes are remembered */
	UT_hash_handle hh;
};

struct pages {
	pthread_rwlock_t data; /* taken for reading: the page cache reads; for writing: the source changes */
	pthread_mutex_t lock;  /* guards the fields below */
	struct range held[HELD_MOST + 1]; /* sorted, with gaps in between */
	unsigned n_held;
	struct replaced *replaced;
	bool is_forgetful; /* pages were forgotten: there were more than PAGES_MOST */
};

struct pages *pages_create(void)
{
	struct pages *pages = calloc(1, sizeof(*pages));
	pthread_rwlockattr_t attr;

	if (!pages)
		return NULL;
	pthread_rwlockattr_init(&attr);
	pthread_rwlockattr_setkind_np(&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
	pthread_rwlock_init(&pages->data, &attr);
	pthread_rwlockattr_destroy(&attr);
	pthread_mutex_init(&pages->lock, NULL);
	return pages;
}

static void remove_replaced(struct pages *pages, struct replaced *r)
{
	HASH_DEL(pages->replaced, r);
	free(r);
}

void pages_destroy(struct pages *pages)
{
	if (!pages)
		return;
	while (pages->replaced)
		remove_replaced(pages, pages->replaced);
	pthread_mutex_destroy(&pages->lock);
	pthread_rwlock_destroy(&pages->data);
	free(pages);
}

static off_t end_of(off_t off, size_t size)
{
	return saturate_add(off, size > INT64_MAX ? INT64_MAX : (int64_t)size);
}

/* ---- ranges that the kernel may hold; called with the lock ---- */

static off_t round_up(off_t off)
{
	return off > INT64_MAX - PAGE ? INT64_MAX : (off + PAGE - 1) / PAGE * PAGE;
}

/* The index of the first range that ends behind off; the number of ranges if there is none. */
static unsigned find_held(const struct pages *pages, off_t off)
{
	unsigned low = 0, high = pages->n_held;

	while (low < high) {
		unsigned middle = (low + high) / 2;

		if (pages->held[middle].end <= off)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Puts one range in place of those from first to before last, or none. */
static void replace_held(struct pages *pages, unsigned first, unsigned last, const struct range *range)
{
	struct range *at = pages->held + first;

	memmove(at + !!range, pages->held + last, (pages->n_held - last) * sizeof(*at));
	if (range)
		*at = *range;
	pages->n_held -= last - first - !!range;
}

/* Joins the two neighbours with the smallest gap. */
static void join_nearest(struct pages *pages)
{
	struct range *held = pages->held, joined;
	unsigned best = 1;

	for (unsigned i = 2; i < pages->n_held; i++)
		if (held[i].begin - held[i - 1].end < held[best].begin - held[best - 1].end)
			best = i;
	joined = (struct range){ .begin = held[best - 1].begin, .end = held[best].end };
	replace_held(pages, best - 1, best + 1, &joined);
}

static void add_held(struct pages *pages, struct range range)
{
	unsigned first = find_held(pages, range.begin - 1), last = first;

	for (; last < pages->n_held && pages->held[last].begin <= range.end; last++) {
		if (pages->held[last].begin < range.begin)
			range.begin = pages->held[last].begin;
		if (pages->held[last].end > range.end)
			range.end = pages->held[last].end;
	}
	replace_held(pages, first, last, &range);
	if (pages->n_held > HELD_MOST)
		join_nearest(pages);
}

static void remove_held(struct pages *pages, struct range range)
{
	unsigned first = find_held(pages, range.begin), last = first;
	struct range before, behind;

	for (; last < pages->n_held && pages->held[last].begin < range.end; last++)
		;
	if (last == first)
		return;
	before = (struct range){ .begin = pages->held[first].begin, .end = range.begin };
	behind = (struct range){ .begin = range.end, .end = pages->held[last - 1].end };
	replace_held(pages, first, last, NULL);
	if (behind.begin < behind.end)
		replace_held(pages, first, first, &behind);
	if (before.begin < before.end)
		replace_held(pages, first, first, &before);
	if (pages->n_held > HELD_MOST)
		join_nearest(pages);
}

/* ---- replaced bytes; called with the lock ---- */

static struct replaced *find_replaced(struct pages *pages, off_t page)
{
	struct replaced *r;

	HASH_FIND(hh, pages->replaced, &page, sizeof(page), r);
	return r;
}

/* NULL: out of memory. If there are too many, forgets the oldest. */
static struct replaced *add_replaced(struct pages *pages, off_t page)
{
	struct replaced *r = calloc(1, sizeof(*r));

	if (!r || HASH_COUNT(pages->replaced) >= PAGES_MOST)
		pages->is_forgetful = true;
	if (!r)
		return NULL;
	if (HASH_COUNT(pages->replaced) >= PAGES_MOST)
		remove_replaced(pages, pages->replaced);
	r->page = page;
	HASH_ADD(hh, pages->replaced, page, sizeof(r->page), r);
	if (r->hh.tbl)
		return r;
	free(r);
	pages->is_forgetful = true;
	return NULL;
}

/* The part of a range that is in its first page. */
static size_t in_page(off_t off, off_t end)
{
	size_t rest = PAGE - off % PAGE;

	return end - off < (off_t)rest ? (size_t)(end - off) : rest;
}

/* size: within one page. */
static void keep_in_page(struct pages *pages, int fd, off_t off, size_t size)
{
	struct replaced *r = find_replaced(pages, off / PAGE);
	size_t in = off % PAGE;
	uint8_t now[PAGE] = { 0 }; /* zeros, like a page behind the end of the file */

	if (!r)
		r = add_replaced(pages, off / PAGE);
	if (!r)
		return;
	if (pread(fd, now, size, off) < 0) {
		pages->is_forgetful = true;
		return;
	}
	for (size_t i = 0; i < size; i++)
		if (!r->known[in + i]) {
			r->bytes[in + i] = now[i];
			r->known[in + i] = true;
		}
}

static bool merge_in_page(struct pages *pages, int fd, uint8_t *buf, size_t size, off_t off)
{
	struct replaced *r = find_replaced(pages, off / PAGE);
	size_t in = off % PAGE;
	uint8_t now[PAGE] = { 0 };

	if (!r)
		return true;
	if (pread(fd, now, size, off) < 0)
		return false;
	for (size_t i = 0; i < size; i++) {
		if (!r->known[in + i])
			continue;
		if (buf[i] == r->bytes[in + i])
			buf[i] = now[i];
		else
			r->known[in + i] = false; /* the source now has what the kernel has */
	}
	return true;
}

/* ---- requests ---- */

void pages_read_begin(struct pages *pages, off_t off, size_t size)
{
	struct range range = { .begin = off / PAGE * PAGE, .end = round_up(end_of(off, size)) };
	struct replaced *r, *next;

	pthread_rwlock_rdlock(&pages->data);
	pthread_mutex_lock(&pages->lock);
	add_held(pages, range);
	HASH_ITER(hh, pages->replaced, r, next)
		if (r->page >= range.begin / PAGE && r->page < range.end / PAGE)
			remove_replaced(pages, r);
	pthread_mutex_unlock(&pages->lock);
}

void pages_read_end(struct pages *pages)
{
	pthread_rwlock_unlock(&pages->data);
}

void pages_change_begin(struct pages *pages)
{
	pthread_rwlock_wrlock(&pages->data);
}

void pages_change_end(struct pages *pages)
{
	pthread_rwlock_unlock(&pages->data);
}

bool pages_may_hold(struct pages *pages, off_t off, size_t size)
{
	off_t held = pages_next_held(pages, off);

	return held >= 0 && held < end_of(off, size);
}

void pages_keep(struct pages *pages, int fd, off_t off, size_t size)
{
	off_t end = end_of(off, size);

	pthread_mutex_lock(&pages->lock);
	for (unsigned i = find_held(pages, off); i < pages->n_held && pages->held[i].begin < end; i++) {
		struct range at = pages->held[i];
		off_t stop = at.end < end ? at.end : end;

		for (off_t from = at.begin > off ? at.begin : off; from < stop; from += in_page(from, stop))
			keep_in_page(pages, fd, from, in_page(from, stop));
	}
	pthread_mutex_unlock(&pages->lock);
}

bool pages_merge(struct pages *pages, int fd, const char *buf, size_t size, off_t off, char **ret_merged)
{
	char *merged = NULL;
	bool is_sure;

	pthread_mutex_lock(&pages->lock);
	is_sure = !pages->is_forgetful;
	if (pages->replaced && !(merged = malloc(size)))
		is_sure = false;
	if (merged)
		memcpy(merged, buf, size);
	for (size_t done = 0, n; merged && done < size; done += n) {
		n = in_page(off + done, off + size);
		is_sure &= merge_in_page(pages, fd, (uint8_t *)merged + done, n, off + done);
	}
	pthread_mutex_unlock(&pages->lock);
	*ret_merged = merged;
	return is_sure;
}

void pages_zeroed(struct pages *pages, off_t begin, off_t end)
{
	struct range whole = { .begin = round_up(begin), .end = end / PAGE * PAGE };
	struct replaced *r, *next;

	pthread_mutex_lock(&pages->lock);
	if (whole.begin < whole.end)
		remove_held(pages, whole);
	HASH_ITER(hh, pages->replaced, r, next)
		for (off_t i = 0; i < PAGE; i++)
			if (r->page * PAGE + i >= begin && r->page * PAGE + i < end)
				r->known[i] = false;
	pthread_mutex_unlock(&pages->lock);
}

off_t pages_next_held(struct pages *pages, off_t off)
{
	off_t held = -1;
	unsigned i;

	pthread_mutex_lock(&pages->lock);
	i = find_held(pages, off);
	if (i < pages->n_held)
		held = pages->held[i].begin > off ? pages->held[i].begin : off;
	pthread_mutex_unlock(&pages->lock);
	return held;
}

off_t pages_next_free(struct pages *pages, off_t off)
{
	off_t next = off;
	unsigned i;

	pthread_mutex_lock(&pages->lock);
	i = find_held(pages, off);
	if (i < pages->n_held && pages->held[i].begin <= off)
		next = pages->held[i].end;
	pthread_mutex_unlock(&pages->lock);
	return next;
}
