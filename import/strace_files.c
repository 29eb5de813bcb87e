/* SPDX-License-Identifier: MIT */
#include "import/strace_files.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <uthash.h>

#include "base/failure.h"
#include "base/heap.h"

#define DAY_NS (INT64_C(86400) * 1000000000)

/* A call of which the end has not come. */
struct pending {
	int32_t tid;
	int64_t start_ns;
	char *text;
	size_t len;
	UT_hash_handle hh;
};

struct source {
	const char *name;
	FILE *in;
	char *text;
	size_t room;
	int32_t tid; /* of its name; 0: none */
	int64_t midnight_ns; /* of the day of times without one */
	int64_t last_ns;     /* time of the last line, without the day */
	int64_t repeats;     /* how many lines had that time before */
	int64_t end_ns;	     /* of the item: not before those in front of it */
	struct strace_item item;
	char *joined; /* the text of the item, if it stood on two lines */
};

struct reading {
	struct source *sources;
	int n_sources;
	struct pending *pendings;
	strace_take *take;
	void *arg;
};

/* ---- calls on two lines ---- */

static struct pending *find_pending(const struct reading *reading, int32_t tid)
{
	struct pending *pending;

	HASH_FIND_INT(reading->pendings, &tid, pending);
	return pending;
}

static void forget(struct reading *reading, struct pending *pending)
{
	if (!pending)
		return;
	HASH_DEL(reading->pendings, pending);
	free(pending->text);
	free(pending);
}

/* A thread has one; a former one will not end. */
static int add_pending(struct reading *reading, int32_t tid, const char *text, size_t len, int64_t start_ns)
{
	struct pending *pending = calloc(1, sizeof(*pending));

	forget(reading, find_pending(reading, tid));
	if (!pending)
		return -ENOMEM;
	*pending = (struct pending){ .tid = tid, .start_ns = start_ns, .text = malloc(len + 1), .len = len };
	if (pending->text) {
		memcpy(pending->text, text, len);
		HASH_ADD_INT(reading->pendings, tid, pending);
	}
	if (pending->text && pending->hh.tbl)
		return 0;
	free(pending->text);
	free(pending);
	return -ENOMEM;
}

/* The first thread of a process goes on with the exec of another one. */
static int supersede(struct reading *reading, int32_t by, int32_t tid)
{
	struct pending *pending = find_pending(reading, by);
	int r;

	if (!pending || by == tid)
		return 0;
	r = add_pending(reading, tid, pending->text, pending->len, pending->start_ns);
	forget(reading, find_pending(reading, by));
	return r;
}

static int bad(struct strace_item *item, const char *reason)
{
	item->line.kind = STRACE_BAD;
	item->reason = reason;
	return 0;
}

static int keep_unfinished(struct reading *reading, struct source *source)
{
	struct strace_item *item = &source->item;
	const char *from = item->line.name.at, *to = item->line.rest.at + item->line.rest.len;

	item->line.kind = STRACE_NOTHING;
	return add_pending(reading, item->tid, from, to - from, item->start_ns);
}

/* Beginning and rest become one text. */
static int join(struct reading *reading, struct source *source)
{
	struct strace_item *item = &source->item;
	struct pending *pending = find_pending(reading, item->tid);
	struct text rest = item->line.rest, name = item->line.name;
	int64_t resumed_ns = item->start_ns;
	char *joined;

	if (!pending)
		return bad(item, "the beginning of this call is missing");
	if (pending->len < name.len || memcmp(pending->text, name.at, name.len) != 0)
		return bad(item, "another call was to be resumed");
	joined = realloc(source->joined, pending->len + rest.len + 1);
	if (!joined)
		return -ENOMEM;
	source->joined = joined;
	memcpy(joined, pending->text, pending->len);
	memcpy(joined + pending->len, rest.at, rest.len);
	item->start_ns = pending->start_ns;
	strace_parse_call(joined, pending->len + rest.len, &item->line);
	item->is_timed = item->line.latency_ns >= 0;
	if (item->line.kind == STRACE_CALL && item->line.latency_ns < 0 && resumed_ns > item->start_ns)
		item->line.latency_ns = resumed_ns - item->start_ns;
	forget(reading, pending);
	return item->line.kind == STRACE_CALL ? 0 : bad(item, "not understood");
}

/* ---- lines ---- */

static void set_time(struct source *source)
{
	struct strace_item *item = &source->item;
	const struct strace_line *line = &item->line;

	item->start_ns = line->time_ns;
	if (line->clock != STRACE_OF_DAY)
		return;
	if (line->time_ns < source->last_ns - DAY_NS / 2)
		source->midnight_ns += DAY_NS;
	source->repeats = line->time_ns == source->last_ns ? source->repeats + 1 : 0;
	source->last_ns = line->time_ns;
	item->start_ns += source->midnight_ns + source->repeats; /* lines of one second follow each other */
}

static int examine(struct reading *reading, struct source *source)
{
	struct strace_item *item = &source->item;
	struct strace_line *line = &item->line;

	item->tid = line->tid ? line->tid : source->tid ? source->tid : 1;
	if (line->kind == STRACE_BAD)
		return bad(item, "not understood");
	if (line->kind == STRACE_NOTHING)
		return 0;
	if (line->clock == STRACE_NO_TIME)
		return bad(item, "it has no time of day: record with -ttt");
	set_time(source);
	item->is_timed = line->latency_ns >= 0;
	switch (line->kind) {
	case STRACE_UNFINISHED:
		return keep_unfinished(reading, source);
	case STRACE_RESUMED:
		return join(reading, source);
	case STRACE_EXITED:
		forget(reading, find_pending(reading, item->tid));
		return 0;
	case STRACE_SUPERSEDED:
		return supersede(reading, line->by, item->tid);
	default:
		return 0;
	}
}

/* The next line that says something.  1, 0 at the end, or -errno. */
static int advance(struct reading *reading, struct source *source)
{
	struct strace_item *item = &source->item;
	ssize_t len;
	int r;

	while ((len = getline(&source->text, &source->room, source->in)) > 0) {
		len -= source->text[len - 1] == '\n';
		*item = (struct strace_item){ .file = source->name, .number = item->number + 1 };
		strace_parse_line(source->text, (size_t)len, &item->line);
		r = examine(reading, source);
		if (r < 0)
			return r;
		if (item->line.kind == STRACE_NOTHING)
			continue;
		if (item->line.kind == STRACE_BAD) {
			item->start_ns = item->end_ns = source->end_ns;
			return 1;
		}
		item->end_ns = item->start_ns + (item->line.latency_ns > 0 ? item->line.latency_ns : 0);
		source->end_ns = item->end_ns > source->end_ns ? item->end_ns : source->end_ns;
		return 1;
	}
	return ferror(source->in) ? -EIO : 0;
}

static bool is_before(const void *arg, int32_t a, int32_t b)
{
	const struct reading *reading = arg;
	int64_t end_a = reading->sources[a].end_ns, end_b = reading->sources[b].end_ns;

	return end_a != end_b ? end_a < end_b : a < b;
}

static int merge(struct reading *reading, int32_t *heap)
{
	int32_t n = 0;
	int r = 0;

	for (int32_t i = 0; i < reading->n_sources && r >= 0; i++) {
		r = advance(reading, &reading->sources[i]);
		if (r > 0)
			heap_push(heap, &n, i, is_before, reading);
	}
	while (n && r >= 0) {
		int32_t i = heap_pop(heap, &n, is_before, reading);

		r = reading->take(reading->arg, &reading->sources[i].item);
		if (r >= 0)
			r = advance(reading, &reading->sources[i]);
		if (r > 0)
			heap_push(heap, &n, i, is_before, reading);
	}
	return r < 0 ? r : 0;
}

/* ---- files ---- */

/* "trace.1234" is that of 1234. */
static int32_t tid_of_name(const char *name)
{
	const char *dot = strrchr(name, '.');
	long tid = dot && isdigit((unsigned char)dot[1]) ? strtol(dot + 1, NULL, 10) : 0;

	return dot && strspn(dot + 1, "0123456789") == strlen(dot + 1) && tid > 0 && tid <= INT32_MAX ? (int32_t)tid : 0;
}

/* Times without a day are of that on which the file was changed last. */
static int64_t midnight_before(time_t time)
{
	struct tm tm;

	if (!localtime_r(&time, &tm))
		return 0;
	tm.tm_hour = tm.tm_min = tm.tm_sec = 0;
	tm.tm_isdst = -1;
	return (int64_t)mktime(&tm) * 1000000000;
}

static int open_source(struct source *source, const char *name, struct failure *failure)
{
	struct stat st;

	source->name = name;
	source->in = fopen(name, "re");
	if (!source->in || fstat(fileno(source->in), &st) < 0)
		return failure_set(failure, -errno, "cannot read '%s': %s", name, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return failure_set(failure, -EINVAL, "cannot read '%s': it is read twice, so it has to be a regular file", name);
	source->tid = tid_of_name(name);
	source->midnight_ns = midnight_before(st.st_mtime);
	return 0;
}

static void close_sources(struct reading *reading)
{
	struct pending *pending, *next;

	for (int i = 0; reading->sources && i < reading->n_sources; i++) {
		if (reading->sources[i].in)
			fclose(reading->sources[i].in);
		free(reading->sources[i].text);
		free(reading->sources[i].joined);
	}
	free(reading->sources);
	HASH_ITER(hh, reading->pendings, pending, next)
		forget(reading, pending);
}

static int read_all(struct reading *reading, struct failure *failure)
{
	int32_t *heap = calloc((size_t)reading->n_sources + 1, sizeof(*heap));
	int r = heap ? merge(reading, heap) : -ENOMEM;

	free(heap);
	if (r < 0 && !failure->code)
		failure_set(failure, r, "cannot read the record of strace: %s", strerror(-r));
	return r;
}

int strace_read(const char *const *files, int n_files, strace_take *take, void *arg, struct failure *failure)
{
	struct reading reading = { .sources = calloc((size_t)n_files + 1, sizeof(*reading.sources)), .n_sources = n_files, .take = take,
		.arg = arg };
	int r = reading.sources ? 0 : failure_memory(failure);

	for (int i = 0; i < n_files && r == 0; i++)
		r = open_source(&reading.sources[i], files[i], failure);
	if (r == 0)
		r = read_all(&reading, failure);
	close_sources(&reading);
	return r;
}

int strace_read_text(const char *text, size_t len, strace_take *take, void *arg, struct failure *failure)
{
	struct reading reading = { .sources = calloc(1, sizeof(*reading.sources)), .n_sources = 1, .take = take, .arg = arg };
	int r;

	if (!reading.sources)
		return failure_memory(failure);
	reading.sources[0].name = "text";
	reading.sources[0].in = len ? fmemopen((void *)(uintptr_t)text, len, "r") : fopen("/dev/null", "re");
	r = reading.sources[0].in ? read_all(&reading, failure) : failure_memory(failure);
	close_sources(&reading);
	return r;
}
