/* SPDX-License-Identifier: MIT */
#include "db/metrics.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/saturate.h"
#include "db/files.h"
#include "db/store.h"
#include "db/totals.h"

#define CLASSES TOTALS_CLASSES
#define METRICS_PART 4 /* of 'kept' */
#define MOST 4096 /* however much may be kept */
#define GRID 1
#define NONE UINT32_MAX

struct key {
	int64_t n; /* of the interval */
	int64_t process, mount;
	int64_t code;
};

struct sum {
	struct key key;
	uint32_t next; /* of the same slot */
	int64_t first_ns, latency_ns, bytes;
	uint32_t count, errors, moved; /* moved: how many have bytes */
	uint32_t latencies[CLASSES], sizes[CLASSES];
	char program[TOTALS_NAME];
};

struct metrics {
	struct store *store;
	struct totals *totals; /* NULL: none */
	int64_t start_ns, interval_ns;
	struct sum *sums;
	uint32_t *slots; /* the first sum of each */
	uint32_t n, most, mask;
	int64_t first; /* the earliest interval of all sums */
	bool has_grid;
};

static uint32_t bound(size_t sums)
{
	return sums == 0 ? 1 : sums < MOST ? (uint32_t)sums : MOST;
}

int metrics_create(struct store *store, int64_t start_ns, int64_t interval_ns, size_t kept, struct metrics **ret_metrics)
{
	struct metrics *m = calloc(1, sizeof(*m));

	*ret_metrics = m;
	if (!m)
		return -ENOMEM;
	m->store = store;
	m->start_ns = start_ns;
	m->interval_ns = interval_ns ? interval_ns : METRICS_INTERVAL_NS;
	m->most = bound(kept / METRICS_PART / (sizeof(struct sum) + 2 * sizeof(uint32_t)));
	for (m->mask = 1; m->mask < m->most; m->mask *= 2)
		;
	m->sums = malloc(m->most * sizeof(*m->sums));
	m->slots = malloc(m->mask * sizeof(*m->slots));
	if (!m->sums || !m->slots)
		return -ENOMEM;
	memset(m->slots, 0xff, m->mask * sizeof(*m->slots));
	m->mask--;
	return 0;
}

void metrics_add_to(struct metrics *m, struct totals *totals)
{
	m->totals = totals;
}

void metrics_destroy(struct metrics *m)
{
	if (!m)
		return;
	free(m->sums);
	free(m->slots);
	free(m);
}

/* ---- rows ---- */

static int last_class(const uint32_t *classes)
{
	int i = CLASSES - 1;

	while (i > 0 && !classes[i])
		i--;
	return i;
}

static int first_class(const uint32_t *classes)
{
	int i = 0;

	while (i < CLASSES - 1 && !classes[i])
		i++;
	return i;
}

#define CLASSES_TEXT (CLASSES * 11 + 4)

/* The column of a histogram: the only class, if all of 'count' are of it; else the first class, and the counts from it on. */
static struct value classes_of(const uint32_t *classes, uint32_t count, char text[CLASSES_TEXT])
{
	int first = first_class(classes), last = last_class(classes), len;

	if (classes[first] == count)
		return V_INT(first);
	if (!classes[first])
		return V_NULL;
	len = snprintf(text, CLASSES_TEXT, "%d", first);
	for (int i = first; i <= last; i++)
		len += snprintf(text + len, CLASSES_TEXT - len, ",%u", classes[i]);
	return V_BYTES(VALUE_TEXT, text, len);
}

static int put(struct metrics *m, const struct sum *s)
{
	char latencies[CLASSES_TEXT], sizes[CLASSES_TEXT];

	return store_put(m->store, PUT_METRIC,
		(struct value[]){ V_INT(GRID), V_INT(s->key.n), V_INT(s->key.process), V_ID(s->key.mount), V_INT(s->key.code),
			V_INT(s->count), V_INT(s->errors), V_OPT(s->moved, s->bytes), V_INT(s->latency_ns),
			V_INT(s->first_ns - m->start_ns - s->key.n * m->interval_ns),
			classes_of(s->latencies, s->count, latencies), classes_of(s->sizes, s->count, sizes) });
}

static int count(struct metrics *m, const struct sum *s)
{
	return m->totals ? totals_add(m->totals, &(struct total){ .mount = s->key.mount, .code = (unsigned)s->key.code, .program = s->program,
		.count = s->count, .errors = s->errors, .bytes = (uint64_t)s->bytes, .latency_ns = (uint64_t)s->latency_ns,
		.latencies = s->latencies, .sizes = s->sizes }) : 0;
}

static int put_grid(struct metrics *m)
{
	if (m->has_grid)
		return 0;
	m->has_grid = true;
	return store_put(m->store, PUT_METRIC_GRID, (struct value[]){ V_INT(GRID), V_INT(0), V_INT(m->interval_ns) });
}

/* ---- sums ---- */

static uint32_t *slot_of(const struct metrics *m, const struct key *key)
{
	uint64_t hash = (uint64_t)key->process * 0x9e3779b97f4a7c15 ^ (uint64_t)key->mount * 0xc2b2ae3d27d4eb4f ^
		((uint64_t)key->n << 8 ^ (uint64_t)key->code) * 0x165667b19e3779f9;

	return &m->slots[(hash ^ hash >> 32) & m->mask];
}

static void link_sum(struct metrics *m, uint32_t i)
{
	uint32_t *slot = slot_of(m, &m->sums[i].key);

	m->sums[i].next = *slot;
	*slot = i;
}

bool metrics_are_due(const struct metrics *m, int64_t now_ns)
{
	return m->n && m->first < (now_ns - m->start_ns) / m->interval_ns;
}

/* Writes the sums of intervals before this one, and keeps the others. */
static int write_until(struct metrics *m, int64_t until)
{
	uint32_t n = m->n;
	int r = put_grid(m);

	m->n = 0;
	m->first = INT64_MAX;
	memset(m->slots, 0xff, ((size_t)m->mask + 1) * sizeof(*m->slots));
	for (uint32_t i = 0; i < n && r == 0; i++) {
		if (m->sums[i].key.n < until) {
			r = put(m, &m->sums[i]);
			r = r < 0 ? r : count(m, &m->sums[i]);
			continue;
		}
		if (i != m->n)
			m->sums[m->n] = m->sums[i];
		m->first = m->sums[m->n].key.n < m->first ? m->sums[m->n].key.n : m->first;
		link_sum(m, m->n++);
	}
	return r;
}

int metrics_flush(struct metrics *m, int64_t now_ns)
{
	if (now_ns == INT64_MAX)
		return m->n ? write_until(m, INT64_MAX) : 0;
	return metrics_are_due(m, now_ns) ? write_until(m, (now_ns - m->start_ns) / m->interval_ns) : 0;
}

static struct sum *find(const struct metrics *m, const struct key *key)
{
	uint32_t i = *slot_of(m, key);

	while (i != NONE && memcmp(&m->sums[i].key, key, sizeof(*key)) != 0)
		i = m->sums[i].next;
	return i == NONE ? NULL : &m->sums[i];
}

static struct sum *make(struct metrics *m, const struct key *key, const struct metric_op *op)
{
	struct sum *s = &m->sums[m->n];

	*s = (struct sum){ .key = *key, .first_ns = op->time_ns };
	snprintf(s->program, sizeof(s->program), "%s", op->program ? op->program : "");
	m->first = m->n == 0 || key->n < m->first ? key->n : m->first;
	link_sum(m, m->n++);
	return s;
}

static int class_of(int64_t value)
{
	return value <= 0 ? 0 : 64 - __builtin_clzll((uint64_t)value);
}

static void add(struct sum *s, const struct metric_op *op)
{
	s->count++;
	s->errors += op->failed;
	s->latency_ns = saturate_add(s->latency_ns, op->latency_ns);
	s->latencies[class_of(op->latency_ns)]++;
	if (op->time_ns < s->first_ns)
		s->first_ns = op->time_ns;
	if (op->bytes < 0)
		return;
	s->moved++;
	s->bytes = saturate_add(s->bytes, op->bytes);
	s->sizes[class_of(op->bytes)]++;
}

/* It may not be known yet on which mount a file is: then the file stands for it. */
static int64_t mount_of(const struct file *file)
{
	return !file ? 0 : file->unidentified || !file->path ? -file->id : (int64_t)file->mount;
}

int metrics_add(struct metrics *m, const struct metric_op *op)
{
	const struct key key = { (op->time_ns - m->start_ns) / m->interval_ns, op->process, mount_of(op->file), op->code };
	struct sum *s = find(m, &key);
	int r = 0;

	if (!s && m->n == m->most)
		r = write_until(m, INT64_MAX);
	if (r < 0)
		return r;
	add(s ? s : make(m, &key, op), op);
	return 0;
}
