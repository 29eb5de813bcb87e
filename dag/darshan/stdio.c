/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "base/saturate.h"
#include "dag/darshan/calls_internal.h"

enum kind { OPEN, CLOSE, READ, WRITE, SEEK, FLUSH };

static const struct {
	const char *name;
	enum kind kind;
} kinds[] = {
	{ "fopen", OPEN }, { "freopen", OPEN }, { "fdopen", OPEN }, { "tmpfile", OPEN }, { "fclose", CLOSE },
	{ "fread", READ }, { "fgets", READ }, { "fgetc", READ }, { "getc", READ }, { "getchar", READ }, { "getline", READ },
	{ "getdelim", READ }, { "scanf", READ }, { "fscanf", READ }, { "vscanf", READ }, { "vfscanf", READ },
	{ "fwrite", WRITE }, { "fputs", WRITE }, { "puts", WRITE }, { "fputc", WRITE }, { "putc", WRITE }, { "putchar", WRITE },
	{ "printf", WRITE }, { "fprintf", WRITE }, { "vprintf", WRITE }, { "vfprintf", WRITE },
	{ "fseek", SEEK }, { "rewind", SEEK }, { "fsetpos", SEEK }, { "fflush", FLUSH },
};

static void add_to(int64_t *sum, int64_t n)
{
	*sum = saturate_add(*sum, n);
}

static void add_time(struct stretch *stretch, struct spent *spent, const struct made *made)
{
	stretch_add(stretch, &made->work);
	if (made->is_timed)
		spent_add(spent, &made->work);
}

static void add_transfer(struct call_record *r, enum side side, const struct made *made)
{
	if (made->work.bytes == 0) /* the end of the file, or nothing to write */
		return;
	add_to(&r->counters[side == READS ? STDIO_READS : STDIO_WRITES], made->work.n);
	if (made->work.bytes < 0)
		r->is_partial[side] = true;
	else
		add_to(&r->counters[side == READS ? STDIO_BYTES_READ : STDIO_BYTES_WRITTEN], made->work.bytes);
	add_time(&r->transfers[side].stretch, &r->transfers[side].spent, made);
}

static void count(struct call_record *r, enum kind kind, const struct made *made)
{
	switch (kind) {
	case OPEN:
		add_to(&r->counters[STDIO_OPENS], made->work.n);
		if (strcmp(made->name, "fdopen") == 0)
			add_to(&r->counters[STDIO_FDOPENS], made->work.n);
		add_time(&r->opens, &r->meta, made);
		break;
	case CLOSE:
		add_time(&r->closes, &r->meta, made);
		break;
	case READ:
	case WRITE:
		add_transfer(r, kind == READ ? READS : WRITES, made);
		break;
	case SEEK:
		add_to(&r->counters[STDIO_SEEKS], made->work.n);
		if (made->is_timed)
			spent_add(&r->meta, &made->work);
		break;
	case FLUSH:
		add_to(&r->counters[STDIO_FLUSHES], made->work.n);
		add_time(&r->transfers[WRITES].stretch, &r->transfers[WRITES].spent, made);
		break;
	}
}

static int count_named(struct calls *calls, int32_t process, enum kind kind, const struct made *made)
{
	const char *name = streams_name(calls->streams, process, made->fd);
	struct call_record *r;

	if (!name)
		return 0;
	r = calls_record(calls, process, false, name, strlen(name));
	if (!r)
		return -ENOMEM;
	count(r, kind, made);
	return 0;
}

int calls_add_stdio(struct calls *calls, int32_t process, const struct made *made)
{
	const bool closes = strcmp(made->name, "fclose") == 0;
	int r = closes ? 0 : streams_note(calls->streams, process, made);

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]) && r == 0; i++)
		if (strcmp(made->name, kinds[i].name) == 0)
			r = count_named(calls, process, kinds[i].kind, made);
	return r == 0 && closes ? streams_note(calls->streams, process, made) : r;
}

int calls_put_stdio(struct calls *calls, struct call_record *r)
{
	struct darshan_stdio out = { .base = { r->key.id, calls->ranks->of[r->key.process].rank } };
	const struct transfers *reads = &r->transfers[READS], *writes = &r->transfers[WRITES];

	memcpy(out.counters, r->counters, sizeof(out.counters));
	if (r->is_partial[READS])
		out.counters[STDIO_BYTES_READ] = -1;
	if (r->is_partial[WRITES])
		out.counters[STDIO_BYTES_WRITTEN] = -1;
	out.counters[STDIO_MAX_BYTE_READ] = out.counters[STDIO_MAX_BYTE_WRITTEN] = -1;
	out.times[STDIO_F_META_TIME] = tally_seconds(r->meta.ns);
	out.times[STDIO_F_WRITE_TIME] = tally_seconds(writes->spent.ns);
	out.times[STDIO_F_READ_TIME] = tally_seconds(reads->spent.ns);
	out.times[STDIO_F_OPEN_START] = stretch_start(&r->opens);
	out.times[STDIO_F_CLOSE_START] = stretch_start(&r->closes);
	out.times[STDIO_F_WRITE_START] = stretch_start(&writes->stretch);
	out.times[STDIO_F_READ_START] = stretch_start(&reads->stretch);
	out.times[STDIO_F_OPEN_END] = stretch_end(&r->opens);
	out.times[STDIO_F_CLOSE_END] = stretch_end(&r->closes);
	out.times[STDIO_F_WRITE_END] = stretch_end(&writes->stretch);
	out.times[STDIO_F_READ_END] = stretch_end(&reads->stretch);
	return log_put(calls->log, DARSHAN_STDIO, DARSHAN_STDIO_VERSION, &out, sizeof(out));
}
