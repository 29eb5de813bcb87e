/* SPDX-License-Identifier: MIT */
#ifndef DAG_DARSHAN_FORMAT_H
#define DAG_DARSHAN_FORMAT_H

/*
 * What a log of Darshan 3.4 and 3.5 consists of: format 3.41, as the headers darshan-*-log-format.h of Darshan and its
 * darshan-logutils.c have it.
 *
 *   header      not compressed; where each region lies in the file
 *   job         struct darshan_job, then the command line, then for each mount "\n", its file system, "\t", its place
 *   names       for each record id: 8 bytes, and the name with a NUL
 *   modules     the records of each, in the order of their numbers
 *
 * A region is one zlib stream.  Numbers are those of this machine; readers tell by DARSHAN_MAGIC whether they are swapped.  A
 * counter that is not known is -1.  Times are seconds since the begin of the job; 0 means that nothing of the kind was done.
 */

#include <stdint.h>

#define DARSHAN_VERSION "3.41"
#define DARSHAN_MAGIC 6567223
#define DARSHAN_MODULES 64
#define DARSHAN_METADATA_BYTES 1024 /* with the NUL */
#define DARSHAN_JOB_BYTES 4096	    /* the region is smaller, and ends with NUL */

enum darshan_module { DARSHAN_POSIX = 1, DARSHAN_MPIIO = 2, DARSHAN_STDIO = 9, DARSHAN_DXT_POSIX = 10, DARSHAN_DXT_MPIIO = 11 };
#define DARSHAN_POSIX_VERSION 4
#define DARSHAN_MPIIO_VERSION 3
#define DARSHAN_STDIO_VERSION 2
#define DARSHAN_DXT_POSIX_VERSION 1
#define DARSHAN_DXT_MPIIO_VERSION 2

struct darshan_map {
	uint64_t offset, length; /* in the file */
};

struct darshan_header {
	char version[8];
	int64_t magic;
	uint8_t compression; /* 0: zlib */
	uint64_t partial;    /* bit N: module N lacks something */
	struct darshan_map names, modules[DARSHAN_MODULES];
	uint32_t versions[DARSHAN_MODULES];
};
_Static_assert(sizeof(struct darshan_header) == 1328, "as Darshan lays it out");

struct darshan_job {
	int64_t uid, start_s, start_ns, end_s, end_ns, processes, id;
	char metadata[DARSHAN_METADATA_BYTES]; /* lines KEY=VALUE */
};

struct darshan_base {
	uint64_t id;
	int64_t rank;
};

/* Ten classes of sizes each, the four most frequent of other values, and the ranks of a record that several share. */
#define DARSHAN_SIZES 10
#define DARSHAN_FREQUENT 4

enum darshan_posix_counter {
	POSIX_OPENS, /* with FILENOS and DUPS */
	POSIX_FILENOS,
	POSIX_DUPS,
	POSIX_READS,
	POSIX_WRITES,
	POSIX_SEEKS,
	POSIX_STATS,
	POSIX_MMAPS,
	POSIX_FSYNCS,
	POSIX_FDSYNCS,
	POSIX_RENAME_SOURCES,
	POSIX_RENAME_TARGETS,
	POSIX_RENAMED_FROM, /* id of the first one */
	POSIX_MODE,
	POSIX_BYTES_READ,
	POSIX_BYTES_WRITTEN,
	POSIX_MAX_BYTE_READ,
	POSIX_MAX_BYTE_WRITTEN,
	POSIX_CONSEC_READS,
	POSIX_CONSEC_WRITES,
	POSIX_SEQ_READS,
	POSIX_SEQ_WRITES,
	POSIX_RW_SWITCHES,
	POSIX_MEM_NOT_ALIGNED,
	POSIX_MEM_ALIGNMENT,
	POSIX_FILE_NOT_ALIGNED,
	POSIX_FILE_ALIGNMENT,
	POSIX_MAX_READ_TIME_SIZE,
	POSIX_MAX_WRITE_TIME_SIZE,
	POSIX_SIZE_READ,
	POSIX_SIZE_WRITE = POSIX_SIZE_READ + DARSHAN_SIZES,
	POSIX_STRIDE = POSIX_SIZE_WRITE + DARSHAN_SIZES,
	POSIX_STRIDE_COUNT = POSIX_STRIDE + DARSHAN_FREQUENT,
	POSIX_ACCESS = POSIX_STRIDE_COUNT + DARSHAN_FREQUENT,
	POSIX_ACCESS_COUNT = POSIX_ACCESS + DARSHAN_FREQUENT,
	POSIX_RANKS = POSIX_ACCESS_COUNT + DARSHAN_FREQUENT, /* four of them */
	POSIX_MAX = POSIX_RANKS + 4
};

enum darshan_posix_time {
	POSIX_F_OPEN_START,
	POSIX_F_READ_START,
	POSIX_F_WRITE_START,
	POSIX_F_CLOSE_START,
	POSIX_F_OPEN_END,
	POSIX_F_READ_END,
	POSIX_F_WRITE_END,
	POSIX_F_CLOSE_END,
	POSIX_F_READ_TIME,
	POSIX_F_WRITE_TIME,
	POSIX_F_META_TIME,
	POSIX_F_MAX_READ_TIME,
	POSIX_F_MAX_WRITE_TIME,
	POSIX_F_RANKS, /* four of them */
	POSIX_F_MAX = POSIX_F_RANKS + 4
};

/* The times of MPI-IO are the same. */
enum darshan_mpiio_counter {
	MPIIO_INDEP_OPENS,
	MPIIO_COLL_OPENS,
	MPIIO_INDEP_READS,
	MPIIO_INDEP_WRITES,
	MPIIO_COLL_READS,
	MPIIO_COLL_WRITES,
	MPIIO_SPLIT_READS,
	MPIIO_SPLIT_WRITES,
	MPIIO_NB_READS,
	MPIIO_NB_WRITES,
	MPIIO_SYNCS,
	MPIIO_HINTS,
	MPIIO_VIEWS,
	MPIIO_MODE,
	MPIIO_BYTES_READ,
	MPIIO_BYTES_WRITTEN,
	MPIIO_RW_SWITCHES,
	MPIIO_MAX_READ_TIME_SIZE,
	MPIIO_MAX_WRITE_TIME_SIZE,
	MPIIO_SIZE_READ,
	MPIIO_SIZE_WRITE = MPIIO_SIZE_READ + DARSHAN_SIZES,
	MPIIO_ACCESS = MPIIO_SIZE_WRITE + DARSHAN_SIZES,
	MPIIO_ACCESS_COUNT = MPIIO_ACCESS + DARSHAN_FREQUENT,
	MPIIO_RANKS = MPIIO_ACCESS_COUNT + DARSHAN_FREQUENT, /* four of them */
	MPIIO_MAX = MPIIO_RANKS + 4
};

enum darshan_stdio_counter {
	STDIO_OPENS, /* with FDOPENS */
	STDIO_FDOPENS,
	STDIO_READS,
	STDIO_WRITES,
	STDIO_SEEKS,
	STDIO_FLUSHES,
	STDIO_BYTES_WRITTEN,
	STDIO_BYTES_READ,
	STDIO_MAX_BYTE_READ,
	STDIO_MAX_BYTE_WRITTEN,
	STDIO_RANKS, /* four of them */
	STDIO_MAX = STDIO_RANKS + 4
};

enum darshan_stdio_time {
	STDIO_F_META_TIME,
	STDIO_F_WRITE_TIME,
	STDIO_F_READ_TIME,
	STDIO_F_OPEN_START,
	STDIO_F_CLOSE_START,
	STDIO_F_WRITE_START,
	STDIO_F_READ_START,
	STDIO_F_OPEN_END,
	STDIO_F_CLOSE_END,
	STDIO_F_WRITE_END,
	STDIO_F_READ_END,
	STDIO_F_RANKS, /* four of them */
	STDIO_F_MAX = STDIO_F_RANKS + 4
};

struct darshan_posix {
	struct darshan_base base;
	int64_t counters[POSIX_MAX];
	double times[POSIX_F_MAX];
};
_Static_assert(POSIX_MAX == 69 && POSIX_F_MAX == 17, "as many as Darshan has");

struct darshan_mpiio {
	struct darshan_base base;
	int64_t counters[MPIIO_MAX];
	double times[POSIX_F_MAX];
};
_Static_assert(MPIIO_MAX == 51, "as many as Darshan has");

struct darshan_stdio {
	struct darshan_base base;
	int64_t counters[STDIO_MAX];
	double times[STDIO_F_MAX];
};
_Static_assert(STDIO_MAX == 14 && STDIO_F_MAX == 15, "as many as Darshan has");

/* Behind it: struct darshan_segment of each write, then of each read. */
struct darshan_dxt {
	struct darshan_base base;
	int64_t shared; /* -1: the record of the module is that of all ranks; ours never is */
	char host[64];
	int64_t writes, reads;
};

struct darshan_segment {
	int64_t offset, length; /* offset -1: not known */
	double start, end;
};

#endif
