/* SPDX-License-Identifier: MIT */
#ifndef PRELOAD_WIRE_H
#define PRELOAD_WIRE_H

/*
 * The memory through which the preloaded object hands calls over: one file, which each traced process maps.
 *
 *   header | chunk | chunk | ...
 *
 * A thread owns a chunk, and only it writes there.  A record is published by a larger 'used', stored with release; so
 * what was published stays if the process is killed.  The state of a chunk is a number of its claim, which is never used
 * again, and one of enum wire_state:
 *
 *   FREE ──a thread claims it──► OWNED ◄──► BUSY (its owner writes a record)
 *    ▲                             │ │
 *    │   the reader takes an idle  │ │ no room for the next record
 *    ├─────────────────────────────┘ ▼
 *    └──────the reader has read──── FULL
 *
 * The reader takes chunks of idle and ended threads back when few are free.  The owner notices it, because it cannot go from
 * OWNED to BUSY with its number; then it claims another one.
 *
 * Both sides are built together; version changes with each change here.  The reader trusts nothing that it finds here.
 */

#include <stdatomic.h>
#include <stdint.h>

#define WIRE_MAGIC UINT64_C(0x6c61796572734146)
#define WIRE_VERSION 2

#define WIRE_CHUNKS 1024
#define WIRE_CHUNK_BYTES (32 << 10)
#define WIRE_HEAD_BYTES 4096
#define WIRE_BYTES (WIRE_HEAD_BYTES + (size_t)WIRE_CHUNKS * WIRE_CHUNK_BYTES)
#define WIRE_TEXT 4096 /* the longest text of a record */

/* The environment variable with the path of the file. */
#define WIRE_VARIABLE "FTRAC_CALLS"

/* Without a sign of life for this time the reader is gone: no thread waits for it any more. */
#define WIRE_GONE_NS INT64_C(5000000000)

struct wire_header {
	uint64_t magic;
	uint32_t version;
	uint32_t layers;	/* a set of 1 << enum layer: what is to be recorded */
	uint64_t pid_namespace; /* of the reader: the inode of /proc/self/ns/pid */
	uint32_t drop;		/* a thread that finds no free chunk drops its record, and does not wait */
	_Atomic uint32_t over;	/* the record has ended */
	_Atomic int64_t beat_ns; /* when the reader was last here */
	_Alignas(64) _Atomic uint64_t claims;
	_Atomic uint32_t callers;
	_Atomic uint32_t hint;	     /* where a free chunk may be */
	_Atomic uint64_t lost;	     /* records that were dropped */
	_Atomic uint64_t waited_ns; /* by threads that found no free chunk */
};

enum wire_state { WIRE_FREE, WIRE_OWNED, WIRE_BUSY, WIRE_FULL, WIRE_STATES };

struct wire_chunk {
	_Atomic uint64_t state; /* the number of the claim * WIRE_STATES + enum wire_state */
	_Atomic uint32_t used;	/* bytes of data that are published */
	_Alignas(64) char data[WIRE_CHUNK_BYTES - 64];
};

_Static_assert(sizeof(struct wire_header) <= WIRE_HEAD_BYTES, "the header has a page");
_Static_assert(sizeof(struct wire_chunk) == WIRE_CHUNK_BYTES, "the size of a chunk");

enum wire_kind {
	WIRE_CALLER = 1, /* a thread, before its first call: caller, pid, tid; pid 0: of another namespace */
	WIRE_CALL,	 /* a finished call */
	WIRE_KIND_MAX
};

/* Which fields of a call are known.  WIRE_HAS_MPI: the text begins with a struct layer_mpi. */
enum wire_known { WIRE_HAS_FD = 1, WIRE_HAS_OFFSET = 2, WIRE_HAS_LENGTH = 4, WIRE_HAS_RESULT = 8, WIRE_HAS_MPI = 16 };

/*
 * A record, and its text behind it; together a multiple of 8 bytes.
 *   caller    the thread of one program: a number that the header gave out
 *   number    of the call in its caller, from 1 on
 *   parent    the number of the call inside of which it was made; 0: of none
 */
struct wire_record {
	uint16_t bytes;
	uint8_t kind;
	uint8_t known;
	uint16_t code; /* enum layer_call */
	uint16_t text_len;
	uint32_t caller;
	uint32_t number;
	union {
		uint32_t parent;
		int32_t tid;
	};
	union {
		int32_t fd;
		int32_t pid;
	};
	int64_t start_ns;
	int64_t latency_ns;
	int64_t offset;
	int64_t length;
	int64_t result;
};

_Static_assert(sizeof(struct wire_record) == 64, "a record is a cache line");

#define WIRE_ROUND(n) (((n) + 7) & ~(size_t)7)

static inline struct wire_chunk *wire_chunk(struct wire_header *header, uint32_t i)
{
	return (struct wire_chunk *)((char *)header + WIRE_HEAD_BYTES + (size_t)i * WIRE_CHUNK_BYTES);
}

#endif
