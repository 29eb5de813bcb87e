/* SPDX-License-Identifier: MIT */
#include "db/totals.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "base/cleanup.h"
#include "base/output.h"
#include "base/utf8.h"
#include "db/event.h"

struct mount {
	int64_t id;
	char *fstype, *path; /* labels, escaped */
	UT_hash_handle hh;
};

/* Of one program. */
struct counter {
	struct {
		int64_t mount, code;
		char program[TOTALS_NAME];
	} key;
	uint64_t count, errors, bytes;
	UT_hash_handle hh;
};

/* Of all programs. */
struct histogram {
	struct {
		int64_t mount, code;
	} key;
	uint64_t latency_ns, bytes, latencies[TOTALS_CLASSES], sizes[TOTALS_CLASSES];
	UT_hash_handle hh;
};

#define TOTALS_BOUND 32

struct totals {
	pthread_mutex_t lock;
	uint64_t changes, running, lost;
	struct mount *mounts;
	struct counter *counters;
	struct histogram *histograms;
	char of_latency[TOTALS_CLASSES][TOTALS_BOUND], of_size[TOTALS_CLASSES][TOTALS_BOUND]; /* the upper bounds of classes */
};

/* Made once: numbers with a point take most of the time of a text. */
static void make_bounds(struct totals *totals)
{
	for (int i = 0; i < TOTALS_CLASSES; i++) {
		double most = (double)((UINT64_C(1) << i) - 1);

		snprintf(totals->of_latency[i], sizeof(totals->of_latency[i]), "%.15g", most / 1e9);
		snprintf(totals->of_size[i], sizeof(totals->of_size[i]), "%.15g.0", most);
	}
}

int totals_create(struct totals **ret_totals)
{
	*ret_totals = calloc(1, sizeof(**ret_totals));
	if (!*ret_totals)
		return -ENOMEM;
	pthread_mutex_init(&(*ret_totals)->lock, NULL);
	make_bounds(*ret_totals);
	return 0;
}

static void free_mounts(struct totals *totals)
{
	struct mount *m, *next;

	HASH_ITER(hh, totals->mounts, m, next) {
		HASH_DEL(totals->mounts, m);
		free(m->fstype);
		free(m->path);
		free(m);
	}
}

#define FREE_ALL(head, type)                     \
	do {                                     \
		type *one, *after;               \
		HASH_ITER(hh, head, one, after) { \
			HASH_DEL(head, one);     \
			free(one);               \
		}                                \
	} while (0)

void totals_destroy(struct totals *totals)
{
	if (!totals)
		return;
	free_mounts(totals);
	FREE_ALL(totals->counters, struct counter);
	FREE_ALL(totals->histograms, struct histogram);
	pthread_mutex_destroy(&totals->lock);
	free(totals);
}

/* The value of a label; allocated. */
static char *label(const char *text)
{
	size_t len, size;
	cleanup_free char *plain = utf8_replace(text ? text : "", text ? strlen(text) : 0, &len);
	char *escaped = NULL;
	FILE *out = plain ? open_memstream(&escaped, &size) : NULL;

	if (!out)
		return NULL;
	for (size_t i = 0; i < len; i++) {
		if (plain[i] == '\n')
			fputs("\\n", out);
		else if (plain[i] == '"' || plain[i] == '\\')
			fprintf(out, "\\%c", plain[i]);
		else
			putc(plain[i], out);
	}
	return output_close_text(out, &escaped);
}

static const struct mount *find_mount(const struct totals *totals, int64_t id)
{
	struct mount *m;

	HASH_FIND(hh, totals->mounts, &id, sizeof(id), m);
	return m;
}

static int name_mount(struct totals *totals, int64_t id, const char *fstype, const char *path)
{
	struct mount *m = (struct mount *)find_mount(totals, id);

	if (!m) {
		m = calloc(1, sizeof(*m));
		if (!m)
			return -ENOMEM;
		m->id = id;
		HASH_ADD(hh, totals->mounts, id, sizeof(m->id), m);
		if (!m->hh.tbl) {
			free(m);
			return -ENOMEM;
		}
	}
	free(m->fstype);
	free(m->path);
	m->fstype = label(fstype);
	m->path = label(path);
	return m->fstype && m->path ? 0 : -ENOMEM;
}

int totals_mount(struct totals *totals, int64_t id, const char *fstype, const char *path)
{
	int r;

	pthread_mutex_lock(&totals->lock);
	totals->changes++;
	r = name_mount(totals, id, fstype, path);
	pthread_mutex_unlock(&totals->lock);
	return r;
}

/* ---- sums ---- */

static struct counter *counter_of(struct totals *totals, const struct total *t)
{
	struct counter *c, wanted = { .key = { .mount = t->mount, .code = t->code } };

	snprintf(wanted.key.program, sizeof(wanted.key.program), "%s", t->program);
	HASH_FIND(hh, totals->counters, &wanted.key, sizeof(wanted.key), c);
	if (!c && HASH_COUNT(totals->counters) >= TOTALS_MOST) {
		memset(wanted.key.program, 0, sizeof(wanted.key.program));
		snprintf(wanted.key.program, sizeof(wanted.key.program), "...");
		HASH_FIND(hh, totals->counters, &wanted.key, sizeof(wanted.key), c);
	}
	if (c)
		return c;
	c = malloc(sizeof(*c));
	if (!c)
		return NULL;
	*c = wanted;
	HASH_ADD(hh, totals->counters, key, sizeof(c->key), c);
	if (c->hh.tbl)
		return c;
	free(c);
	return NULL;
}

static struct histogram *histogram_of(struct totals *totals, const struct total *t)
{
	struct histogram *h, wanted = { .key = { .mount = t->mount, .code = t->code } };

	HASH_FIND(hh, totals->histograms, &wanted.key, sizeof(wanted.key), h);
	if (h)
		return h;
	h = malloc(sizeof(*h));
	if (!h)
		return NULL;
	*h = wanted;
	HASH_ADD(hh, totals->histograms, key, sizeof(h->key), h);
	if (h->hh.tbl)
		return h;
	free(h);
	return NULL;
}

static int add(struct totals *totals, const struct total *t)
{
	struct counter *c = counter_of(totals, t);
	struct histogram *h = histogram_of(totals, t);

	if (!c || !h)
		return -ENOMEM;
	c->count += t->count;
	c->errors += t->errors;
	c->bytes += t->bytes;
	h->latency_ns += t->latency_ns;
	h->bytes += t->bytes;
	for (int i = 0; i < TOTALS_CLASSES; i++) {
		h->latencies[i] += t->latencies[i];
		h->sizes[i] += t->sizes[i];
	}
	return 0;
}

int totals_add(struct totals *totals, const struct total *t)
{
	int r;

	pthread_mutex_lock(&totals->lock);
	totals->changes++;
	r = add(totals, t);
	pthread_mutex_unlock(&totals->lock);
	return r;
}

void totals_now(struct totals *totals, uint64_t running, uint64_t lost)
{
	pthread_mutex_lock(&totals->lock);
	totals->changes += running != totals->running || lost != totals->lost;
	totals->running = running;
	totals->lost = lost;
	pthread_mutex_unlock(&totals->lock);
}

uint64_t totals_changes(struct totals *totals)
{
	uint64_t changes;

	pthread_mutex_lock(&totals->lock);
	changes = totals->changes;
	pthread_mutex_unlock(&totals->lock);
	return changes;
}

/* ---- the text ---- */

/* fstype="...",mount="...",operation="..." */
static void put_labels(FILE *out, const struct totals *totals, int64_t mount, int64_t code)
{
	const struct mount *m = find_mount(totals, mount);

	fprintf(out, "fstype=\"%s\",mount=\"%s\",operation=\"%s\"", m ? m->fstype : "", m ? m->path : "",
		code < OP_MAX ? event_op_names[code] : "");
}

/* OpenMetrics names a counter without the end of its samples. */
static void put_head(FILE *out, enum totals_form form, const char *name, const char *type, const char *unit, const char *help)
{
	const char *end = form == TOTALS_PROMETHEUS && strcmp(type, "counter") == 0 ? "_total" : "";

	fprintf(out, "# HELP ftrac_%s%s %s\n", name, end, help);
	fprintf(out, "# TYPE ftrac_%s%s %s\n", name, end, type);
	if (unit && form == TOTALS_OPENMETRICS)
		fprintf(out, "# UNIT ftrac_%s %s\n", name, unit);
}

static bool has_sizes(const struct histogram *h)
{
	for (int i = 0; i < TOTALS_CLASSES; i++)
		if (h->sizes[i])
			return true;
	return false;
}

static void put_counters(FILE *out, const struct totals *totals, const char *name, size_t offset)
{
	const struct counter *c, *next;

	HASH_ITER(hh, totals->counters, c, next) {
		cleanup_free char *program = label(c->key.program);

		fprintf(out, "ftrac_%s_total{", name);
		put_labels(out, totals, c->key.mount, c->key.code);
		fprintf(out, ",program=\"%s\"} %llu\n", program ? program : "", (unsigned long long)*(const uint64_t *)((const char *)c + offset));
	}
}

/* The bounds are the same in all histograms, so that they can be added up. */
#define FIRST_LATENCY 8	 /* classes: below 255 ns */
#define LAST_LATENCY 37	 /* 137 s */
#define FIRST_SIZE 1	 /* 1 byte */
#define LAST_SIZE 31	 /* 2 GiB */

static char *labels_of(const struct totals *totals, const struct histogram *h)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	put_labels(out, totals, h->key.mount, h->key.code);
	return output_close_text(out, &text);
}

static void put_histogram(FILE *out, const struct totals *totals, const char *name, const struct histogram *h, bool of_sizes)
{
	const uint64_t *classes = of_sizes ? h->sizes : h->latencies;
	const char(*bounds)[TOTALS_BOUND] = of_sizes ? totals->of_size : totals->of_latency;
	int first = of_sizes ? FIRST_SIZE : FIRST_LATENCY, last = of_sizes ? LAST_SIZE : LAST_LATENCY;
	cleanup_free char *made = labels_of(totals, h);
	const char *labels = made ? made : "";
	uint64_t sum = 0;

	for (int i = 0; i < TOTALS_CLASSES; i++) {
		sum += classes[i];
		if (i >= first && i <= last)
			fprintf(out, "ftrac_%s_bucket{%s,le=\"%s\"} %llu\n", name, labels, bounds[i], (unsigned long long)sum);
	}
	fprintf(out, "ftrac_%s_bucket{%s,le=\"+Inf\"} %llu\n", name, labels, (unsigned long long)sum);
	fprintf(out, "ftrac_%s_count{%s} %llu\nftrac_%s_sum{%s} ", name, labels, (unsigned long long)sum, name, labels);
	fprintf(out, of_sizes ? "%.0f\n" : "%.9f\n", of_sizes ? (double)h->bytes : (double)h->latency_ns / 1e9);
}

static void put_all(FILE *out, const struct totals *totals, enum totals_form form)
{
	const struct histogram *h, *next;

	put_head(out, form, "operations", "counter", NULL, "Operations on files, by the program of their process.");
	put_counters(out, totals, "operations", offsetof(struct counter, count));
	put_head(out, form, "operation_errors", "counter", NULL, "Those of them that failed.");
	put_counters(out, totals, "operation_errors", offsetof(struct counter, errors));
	put_head(out, form, "bytes", "counter", "bytes", "Bytes that operations moved.");
	put_counters(out, totals, "bytes", offsetof(struct counter, bytes));
	put_head(out, form, "operation_latency_seconds", "histogram", "seconds", "How long operations took.");
	HASH_ITER(hh, totals->histograms, h, next)
		put_histogram(out, totals, "operation_latency_seconds", h, false);
	put_head(out, form, "operation_size_bytes", "histogram", "bytes", "Bytes that operations on data moved.");
	HASH_ITER(hh, totals->histograms, h, next)
		if (has_sizes(h))
			put_histogram(out, totals, "operation_size_bytes", h, true);
	put_head(out, form, "processes_running", "gauge", NULL, "Processes of the run that live.");
	fprintf(out, "ftrac_processes_running %llu\n", (unsigned long long)totals->running);
	put_head(out, form, "operations_lost", "counter", NULL, "Operations that could not be recorded.");
	fprintf(out, "ftrac_operations_lost_total %llu\n%s", (unsigned long long)totals->lost, form == TOTALS_OPENMETRICS ? "# EOF\n" : "");
}

char *totals_text(struct totals *totals, enum totals_form form, size_t *ret_len)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, ret_len);

	if (!out)
		return NULL;
	pthread_mutex_lock(&totals->lock);
	put_all(out, totals, form);
	pthread_mutex_unlock(&totals->lock);
	return output_close_text(out, &text);
}
