/* SPDX-License-Identifier: MIT */
#include "dag/darshan/log.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "dag/container/hash.h"
#include "dag/container/path_names.h"

/* ---- one region ---- */

struct region {
	z_stream stream;
	unsigned char *bytes;
	size_t room;
};

static void region_destroy(struct region *r)
{
	if (!r)
		return;
	deflateEnd(&r->stream);
	free(r->bytes);
	free(r);
}

static struct region *region_create(void)
{
	struct region *r = calloc(1, sizeof(*r));

	if (!r || deflateInit(&r->stream, Z_DEFAULT_COMPRESSION) == Z_OK)
		return r;
	free(r);
	return NULL;
}

static int make_room(struct region *r)
{
	size_t room = r->room ? 2 * r->room : 1 << 14, used = r->room - r->stream.avail_out;
	unsigned char *bytes = realloc(r->bytes, room);

	if (!bytes)
		return -ENOMEM;
	r->bytes = bytes;
	r->stream.next_out = bytes + used;
	r->stream.avail_out = (uInt)(room - used);
	r->room = room;
	return 0;
}

/* So much at a time that its numbers, which are of 32 bits, have room for it. */
#define REGION_MOST ((size_t)1 << 31)

static int compress_part(struct region *r, const void *bytes, size_t len, int flush)
{
	int done = Z_OK;

	r->stream.next_in = (unsigned char *)(uintptr_t)bytes;
	r->stream.avail_in = (uInt)len;
	while (r->stream.avail_in || (flush && done != Z_STREAM_END)) {
		if (r->stream.avail_out == 0 && (r->room >= REGION_MOST || make_room(r) < 0))
			return -ENOMEM;
		done = deflate(&r->stream, flush);
		if (done == Z_STREAM_ERROR)
			return -EIO;
	}
	return 0;
}

static int region_put(struct region *r, const void *bytes, size_t len)
{
	int error = 0;

	for (size_t at = 0, n; at < len && error == 0; at += n) {
		n = len - at < INT_MAX ? len - at : INT_MAX;
		error = compress_part(r, (const char *)bytes + at, n, Z_NO_FLUSH);
	}
	return error;
}

static size_t region_bytes(const struct region *r)
{
	return r->room - r->stream.avail_out;
}

/* ---- the log ---- */

int log_begin(struct log *log)
{
	*log = (struct log){ .job = region_create(), .names = region_create(), .known = path_names_create() };
	return log->job && log->names && log->known ? 0 : -ENOMEM;
}

void log_end(struct log *log)
{
	for (int i = 0; i < DARSHAN_MODULES; i++)
		region_destroy(log->modules[i]);
	region_destroy(log->job);
	region_destroy(log->names);
	path_names_destroy(log->known);
}

uint64_t log_id(const char *name, size_t len)
{
	return hash_mix(hash_bytes(HASH_BEGIN, name, len));
}

int log_name(struct log *log, const char *name, size_t len, uint64_t *ret_id)
{
	int32_t known = path_names_count(log->known), number = path_names_add(log->known, name, len);
	int r;

	*ret_id = log_id(name, len);
	if (number < known)
		return number < 0 ? -ENOMEM : 0;
	r = region_put(log->names, ret_id, sizeof(*ret_id));
	return r ? r : region_put(log->names, path_names_text(log->known, number), strlen(path_names_text(log->known, number)) + 1);
}

int log_put(struct log *log, enum darshan_module module, uint32_t version, const void *bytes, size_t len)
{
	if (!log->modules[module])
		log->modules[module] = region_create();
	log->versions[module] = version;
	return log->modules[module] ? region_put(log->modules[module], bytes, len) : -ENOMEM;
}

int log_put_dxt(struct log *log, enum darshan_module module, uint32_t version, struct darshan_base base, const char *host,
	const struct transfers *writes, const struct transfers *reads)
{
	struct darshan_dxt head = { .base = base, .writes = (int64_t)writes->n_segments, .reads = (int64_t)reads->n_segments };
	int r = 0;

	if (head.writes + head.reads == 0)
		return 0;
	strncpy(head.host, host ? host : "", sizeof(head.host) - 1);
	r = log_put(log, module, version, &head, sizeof(head));
	if (r == 0)
		r = log_put(log, module, version, writes->segments, writes->n_segments * sizeof(*writes->segments));
	return r ? r : log_put(log, module, version, reads->segments, reads->n_segments * sizeof(*reads->segments));
}

int log_put_job(struct log *log, const void *bytes, size_t len)
{
	return region_put(log->job, bytes, len);
}

/* The region ends, and lies at *offset. */
static int finish(struct region *r, uint64_t *offset, struct darshan_map *ret_map)
{
	int error = r ? compress_part(r, NULL, 0, Z_FINISH) : 0;

	if (!r || error)
		return error;
	*ret_map = (struct darshan_map){ *offset, region_bytes(r) };
	*offset += ret_map->length;
	return 0;
}

static void put_region(const struct region *r, FILE *out)
{
	if (r)
		fwrite(r->bytes, 1, region_bytes(r), out);
}

int log_write(struct log *log, FILE *out)
{
	struct darshan_header header;
	struct darshan_map job;
	uint64_t offset = sizeof(header);
	int r;

	memset(&header, 0, sizeof(header));
	memcpy(header.version, DARSHAN_VERSION, sizeof(DARSHAN_VERSION));
	header.magic = DARSHAN_MAGIC;
	memcpy(header.versions, log->versions, sizeof(header.versions));
	r = finish(log->job, &offset, &job);
	if (r == 0)
		r = finish(log->names, &offset, &header.names);
	for (int i = 0; i < DARSHAN_MODULES && r == 0; i++) {
		r = finish(log->modules[i], &offset, &header.modules[i]);
		header.partial |= log->modules[i] ? log->partial & UINT64_C(1) << i : 0;
	}
	if (r)
		return r;
	fwrite(&header, sizeof(header), 1, out);
	put_region(log->job, out);
	put_region(log->names, out);
	for (int i = 0; i < DARSHAN_MODULES; i++)
		put_region(log->modules[i], out);
	return ferror(out) ? -EIO : 0;
}
