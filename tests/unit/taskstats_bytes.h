/* SPDX-License-Identifier: MIT */
#ifndef TESTS_UNIT_TASKSTATS_BYTES_H
#define TESTS_UNIT_TASKSTATS_BYTES_H

/* Datagrams with struct taskstats of any version, laid out by the offsets of the kernel's headers.
 * For one test, which says what is made of them. */

#include <linux/taskstats.h>
#include <stdint.h>
#include <string.h>

#include "procmon/taskstats.h"
#include "tests/unit/test.h"

/* ---- struct taskstats of each version ---- */

enum field {
	EXITCODE, FLAG, CPU_COUNT, CPU_DELAY, BLKIO, SWAPIN, VIRTUAL, COMM, UID, GID, PPID, BTIME,
	ELAPSED, UTIME, STIME, MINFLT, MAJFLT, RSS, VM, RBYTES, WBYTES, NVCSW, NIVCSW, FREEPAGES,
	BTIME64, TGID, FIELDS
};

static const size_t field_size[FIELDS] = {
	4, 1, 8, 8, 8, 8, 8, 32, 4, 4, 4, 4,
	8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8,
	8, 4,
};

/*
 * Offsets by include/uapi/linux/taskstats.h (8: include/linux/taskstats.h) of the release named,
 * in the order of the fields; 0 for a field that it has not.  ac_uid, ac_etime and ac_tgetime are
 * aligned to 8, with 4 bytes before each that belong to no field.
 */
#define AS_IN_8                                                                                \
	4, 8, 16, 24, 40, 56, 72, 80, 120, 124, 132, 136, 144, 152, 160, 168, 176, 200, 208, 248, \
		256, 272, 280, 320

static const struct version {
	int version;
	size_t size;
	size_t at[FIELDS];
} versions[] = {
	{ 8, 328, { AS_IN_8, 0, 0 } },	      /* 2.6.27; last is freepages_delay_total */
	{ 9, 344, { AS_IN_8, 0, 0 } },	      /* 4.20: thrashing_* */
	{ 10, 352, { AS_IN_8, 344, 0 } },     /* 5.5: ac_btime64 */
	{ 11, 368, { AS_IN_8, 344, 0 } },     /* 5.17: compact_* */
	{ 12, 400, { AS_IN_8, 344, 368 } },   /* 5.19: ac_tgid, ac_tgetime, ac_exe_* */
	{ 13, 416, { AS_IN_8, 344, 368 } },   /* 6.1: wpcopy_* */
	{ 14, 432, { AS_IN_8, 344, 368 } },   /* 6.12: irq_* */
	/* 6.14: *_delay_max, *_delay_min behind each *_delay_total: 3 pairs before
	 * cpu_run_real_total, one each behind freepages, thrashing, compact, wpcopy and irq */
	{ 15, 560, { 4, 8, 16, 24, 56, 88, 120, 128, 168, 172, 180, 184, 192, 200, 208, 216, 224,
		248, 256, 296, 304, 320, 328, 368, 424, 464 } },
	{ 16, 560, { AS_IN_8, 344, 368 } },   /* 6.18: the pairs moved to the end */
	{ 17, 688, { AS_IN_8, 344, 368 } },   /* 7.0: *_delay_max_ts, 8 of 16 bytes */
	{ 99, 1024, { AS_IN_8, 344, 368 } },  /* a version that does not exist yet */
};

enum { VERSIONS = sizeof(versions) / sizeof(versions[0]), SIZE_MAX_STATS = 1024 };

static const struct version *version_of(int number)
{
	for (size_t i = 0; i < VERSIONS; i++)
		if (versions[i].version == number)
			return &versions[i];
	fail_msg("there is no version %d", number);
	return NULL;
}

/* Any two differ, and each figure is made of one of them. */
static const uint64_t sample[FIELDS] = {
	[EXITCODE] = 0x300, [FLAG] = 0x21, [CPU_COUNT] = 7, [CPU_DELAY] = 1001, [BLKIO] = 1002,
	[SWAPIN] = 1003, [VIRTUAL] = 1000000, [UID] = 1004, [GID] = 1005, [PPID] = 1006,
	[BTIME] = 1700000000, [ELAPSED] = 1007, [UTIME] = 300, [STIME] = 100, [MINFLT] = 1010,
	[MAJFLT] = 1011, [RSS] = 1012, [VM] = 1013, [RBYTES] = 4096, [WBYTES] = 8192,
	[NVCSW] = 1016, [NIVCSW] = 1017, [FREEPAGES] = 1018, [BTIME64] = 5000000000,
	[TGID] = 200,
};

static const struct expected {
	enum figure figure;
	enum field field; /* without which it is not known */
	int64_t value;
} expected[] = {
	{ FIGURE_CPU, VIRTUAL, 1000000 },
	{ FIGURE_UTIME, UTIME, 750000 }, /* as 300 to 100 */
	{ FIGURE_STIME, STIME, 250000 },
	{ FIGURE_VMPEAK, VM, 1013 * 1024 },
	{ FIGURE_RSSPEAK, RSS, 1012 * 1024 },
	{ FIGURE_READ_BYTES, RBYTES, 4096 },
	{ FIGURE_WRITE_BYTES, WBYTES, 8192 },
	{ FIGURE_NVCSW, NVCSW, 1016 },
	{ FIGURE_NIVCSW, NIVCSW, 1017 },
	{ FIGURE_MINFLT, MINFLT, 1010 },
	{ FIGURE_MAJFLT, MAJFLT, 1011 },
	{ FIGURE_CPU_DELAY, CPU_DELAY, 1001 },
	{ FIGURE_BLKIO_DELAY, BLKIO, 1002 },
	{ FIGURE_SWAPIN_DELAY, SWAPIN, 1003 },
	{ FIGURE_RECLAIM_DELAY, FREEPAGES, 1018 },
};

enum { EXPECTED = sizeof(expected) / sizeof(expected[0]) };

#define BIT(name) (1U << FIGURE_##name)
#define DELAYS (BIT(BLKIO_DELAY) | BIT(SWAPIN_DELAY) | BIT(RECLAIM_DELAY))
#define SCHEDULED (BIT(CPU) | BIT(CPU_DELAY) | DELAYS)
#define SUMMED (BIT(UTIME) | BIT(STIME) | BIT(NVCSW) | BIT(NIVCSW))
#define NEVER (BIT(READ_CHAR) | BIT(WRITE_CHAR))
#define ALL (((1U << FIGURE_THREADS) - 1) & ~NEVER)

static void put_field(char *stats, const struct version *version, enum field field, uint64_t value)
{
	uint32_t narrow = value;
	uint8_t byte = value;
	size_t at = version->at[field];

	if (!at)
		return;
	if (field_size[field] == 8)
		memcpy(stats + at, &value, 8);
	else if (field_size[field] == 4)
		memcpy(stats + at, &narrow, 4);
	else
		memcpy(stats + at, &byte, 1);
}

/* Bytes of no field, or of no interest, hold no number that could pass for one of ours. */
static void fill(char stats[SIZE_MAX_STATS], const struct version *version)
{
	uint16_t number = version->version;

	memset(stats, 0xa5, SIZE_MAX_STATS);
	memcpy(stats, &number, sizeof(number));
	for (int field = 0; field < FIELDS; field++)
		if (field != COMM)
			put_field(stats, version, field, sample[field]);
	memset(stats + version->at[COMM], 0, 32);
	memcpy(stats + version->at[COMM], "a \xff name", 8);
}

/* ---- messages ---- */

enum { FAMILY = 27, CTRL = 16, NEW = 2 };
enum { T_PID = 1, T_TGID = 2, T_STATS = 3, T_AGGR_PID = 4, T_AGGR_TGID = 5, T_NULL = 6 };
enum { NESTED = 0x8000 };

/* struct nlmsghdr: length 0, type 4; struct genlmsghdr: command 16; struct nlattr: length 0,
 * type 2, from 20 on, each at a multiple of 4 */
struct datagram {
	size_t len;
	char bytes[16384] __attribute__((aligned(8)));
};

static void put16(char *at, uint16_t value)
{
	memcpy(at, &value, sizeof(value));
}

static void put32(char *at, uint32_t value)
{
	memcpy(at, &value, sizeof(value));
}

static size_t open_message(struct datagram *datagram, uint16_t family, uint8_t command)
{
	size_t at = datagram->len;

	memset(datagram->bytes + at, 0, 20);
	put16(datagram->bytes + at + 4, family);
	datagram->bytes[at + 16] = command;
	datagram->bytes[at + 17] = 1;
	datagram->len += 20;
	return at;
}

static void close_message(struct datagram *datagram, size_t at)
{
	put32(datagram->bytes + at, datagram->len - at);
}

static size_t open_attribute(struct datagram *datagram, uint16_t type)
{
	size_t at = datagram->len;

	put16(datagram->bytes + at + 2, type);
	datagram->len += 4;
	return at;
}

static void close_attribute(struct datagram *datagram, size_t at)
{
	put16(datagram->bytes + at, datagram->len - at);
	while (datagram->len % 4)
		datagram->bytes[datagram->len++] = 0;
}

static void put_attribute(struct datagram *datagram, uint16_t type, const void *bytes, size_t len)
{
	size_t at = open_attribute(datagram, type);

	memcpy(datagram->bytes + datagram->len, bytes, len);
	datagram->len += len;
	close_attribute(datagram, at);
}

static void put_aggregate(struct datagram *datagram, bool group, uint32_t id, const char *stats,
	size_t len)
{
	size_t at = open_attribute(datagram, group ? T_AGGR_TGID : T_AGGR_PID);

	put_attribute(datagram, group ? T_TGID : T_PID, &id, sizeof(id));
	put_attribute(datagram, T_STATS, stats, len);
	close_attribute(datagram, at);
}

/* A message as the kernel sends it for a thread. */
static void put_thread(struct datagram *datagram, uint32_t tid, const char *stats, size_t len)
{
	size_t at = open_message(datagram, FAMILY, NEW);

	put_aggregate(datagram, false, tid, stats, len);
	close_message(datagram, at);
}

static struct taskstats_input input_of(const struct datagram *datagram)
{
	return (struct taskstats_input){ .family = FAMILY, .delays = true, .storage = true,
		.messages = datagram->bytes, .messages_left = datagram->len };
}

/* The next is of this thread. */
static void expect_thread(struct taskstats_input *input, pid_t tid)
{
	struct taskstats_record record;

	assert_int_equal(taskstats_parse(input, &record), 1);
	assert_int_equal(record.tid, tid);
}

static void expect_refusal(struct taskstats_input *input)
{
	struct taskstats_record record;

	assert_int_equal(taskstats_parse(input, &record), -EBADMSG);
}

static void expect_end(struct taskstats_input *input)
{
	struct taskstats_record record;

	assert_int_equal(taskstats_parse(input, &record), 0);
}

static struct taskstats_record parse_one(const struct datagram *datagram)
{
	struct taskstats_input input = input_of(datagram);
	struct taskstats_record record;

	assert_int_equal(taskstats_parse(&input, &record), 1);
	expect_end(&input);
	return record;
}

static struct taskstats_record parse_stats(const char *stats, size_t len)
{
	struct datagram datagram = { 0 };

	put_thread(&datagram, 201, stats, len);
	return parse_one(&datagram);
}

/* The record of thread 201 whose struct was changed in one field. */
static struct taskstats_record parse_changed(int number, enum field field, uint64_t value)
{
	const struct version *version = version_of(number);
	char stats[SIZE_MAX_STATS];

	fill(stats, version);
	put_field(stats, version, field, value);
	return parse_stats(stats, version->size);
}

/* Those of the mask that are known have the sample's value. */
static int compare_figures(const struct figures *figures, uint32_t mask)
{
	int compared = 0;

	assert_int_equal(figures->known, mask);
	for (size_t i = 0; i < EXPECTED; i++)
		if (figures_has(figures, expected[i].figure)) {
			assert_int_equal(figures->value[expected[i].figure], expected[i].value);
			compared++;
		}
	return compared;
}

#endif
