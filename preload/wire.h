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
 * Calls that are to be added up (detail_above_ns) are added in this memory, too, so that a killed program leaves them here.  A thread owns
 * a block of sums: as long as it calls the same functions on the same files it only raises numbers there.  It hands a sum over as
 * a record when another one needs its place.  The reader takes what is left there when the thread has ended, and frees the block.
 *
 * Both sides are built together; version changes with each change here.  The reader trusts nothing that it finds here.
 */

#include <stdatomic.h>
#include <stdint.h>

#define WIRE_MAGIC UINT64_C(0x6c61796572734146)
#define WIRE_VERSION 5

#define WIRE_CHUNKS 960
#define WIRE_CHUNK_BYTES (32 << 10)
#define WIRE_HEAD_BYTES 4096
#define WIRE_BLOCKS 1024 /* of sums */
#define WIRE_BLOCK_BYTES 1600
#define WIRE_BYTES (WIRE_HEAD_BYTES + (size_t)WIRE_CHUNKS * WIRE_CHUNK_BYTES + (size_t)WIRE_BLOCKS * WIRE_BLOCK_BYTES)
#define WIRE_TOLD 256
#define WIRE_TEXT 8448 /* the longest text of a record */

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
	uint32_t files;		/* operations are to be recorded */
	_Atomic uint32_t over;	/* the record has ended */
	_Atomic int64_t beat_ns; /* when the reader was last here */
	int64_t detail_above_ns; /* calls that take no longer are added up; 0: none */
	_Alignas(64) _Atomic uint64_t claims;
	_Atomic uint32_t callers;
	_Atomic uint32_t hint;	     /* where a free chunk may be */
	_Atomic uint32_t block_hint; /* where a free block may be */
	_Atomic uint64_t lost;	     /* records that were dropped */
	_Atomic uint64_t waited_ns; /* by threads that found no free chunk */
	/* The reader's process has a lock of fcntl(2) on the file.  So a program asks in one call, without /proc, for the reader's number: it
	 * gets this one only where numbers mean the same. */
	_Atomic int32_t reader;
	/* Files of which a program has told the path already, by a hash of their identity; each has one place.  The reader knows them without. */
	_Atomic uint64_t told[WIRE_TOLD];
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
	WIRE_OP,	 /* a finished operation: a call of libc that reaches the kernel */
	WIRE_FD,	 /* a descriptor that is open when a program begins, or that libc has made inside of a call */
	WIRE_CWD,	 /* the working directory of the process; text: its path, empty if it is not known */
	WIRE_FORK,	 /* the process is about to fork; number: a mark for the child's descriptors; flags 1: by vfork(2) */
	WIRE_EXECUTED,	 /* when a program begins: a file that the kernel has executed for it */
	WIRE_LOADED,	 /* when a program begins: a file that the loader has mapped */
	WIRE_END,	 /* the process ends */
	WIRE_KIND_MAX
};

/* Which fields of a call are known.  WIRE_HAS_MPI: the text begins with a struct layer_mpi.  WIRE_HAS_SUM: then comes a struct layer_sum;
 * length, latency_ns and result are sums. */
enum wire_known {
	WIRE_HAS_FD = 1,
	WIRE_HAS_OFFSET = 2,
	WIRE_HAS_LENGTH = 4,
	WIRE_HAS_RESULT = 8,
	WIRE_HAS_MPI = 16,
	WIRE_HAS_SUM = 32,
	WIRE_HAS_SEEN = 64,
	WIRE_AT_START = 128 /* of an operation: it counts from the beginning of its call, see order.h */
};

/* What is new about the thread of a WIRE_CALLER: offset: enum wire_begin, length: the process that forked its process or 0, number: the
 * mark of that fork or 0. */
enum wire_begin { WIRE_THREAD, WIRE_PROGRAM, WIRE_CHILD };

/*
 * A record of operations (WIRE_OP to WIRE_END) has this in front of its text, and a struct wire_seen if WIRE_HAS_SEEN.  Its code is an
 * enum op of db/event.h, whose descriptions of operations of the form CALL hold here, too.
 *   fd     of the record: the descriptor; DUP: that which was copied, to 'result'; SENDFILE, COPY: that which was written
 *   other  SENDFILE, COPY: that which was read; PIPE: the second one
 *   dir    where a relative path begins: a descriptor, or AT_FDCWD;  dir2  the same for the second path
 *   text   path, or path NUL second path
 */
struct wire_more {
	int32_t dir;
	union {
		int32_t dir2, other;
	};
	uint32_t flags, mode;
};

/* The file that an operation led to. */
struct wire_seen {
	uint64_t dev, ino;
	int64_t birth_ns; /* 0: not known */
	int64_t size;
	uint64_t mount; /* the id of its mount; 0: not known */
	uint32_t mode, nlink;
};

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

/*
 * Calls that are added up: of one function, on one descriptor, inside of the same call.
 *
 * Sums of one kind follow each other, so that an operation below lies in the time of one of them: those of a thread have a place for
 * each kind.  Calls that moved data between the program and the buffer of a stream have no operations below: such sums have
 * places of their own, and of most of them the time is not measured.
 */
enum wire_kept { WIRE_READS, WIRE_WRITES, WIRE_POSITIONS, WIRE_OF_MPI, WIRE_BUFFERED, WIRE_SUMS = WIRE_BUFFERED + 8 };

struct wire_sum {
	_Alignas(64) uint64_t calls;
	uint64_t timed; /* of which the time was measured */
	int64_t length, bytes;
	int64_t start_ns, end_ns; /* of the first and of the last that was measured */
	int64_t latency_ns, least_ns, most_ns;
	int64_t offset; /* of the first */
	_Atomic uint32_t number; /* 0: there is none.  Else that of the first call */
	uint32_t parent;
	int32_t fd;
	uint16_t code;
	uint8_t known;
	int32_t rank, size;
	int64_t opened;
};

struct wire_block {
	_Atomic uint32_t caller; /* 0: it is free */
	_Atomic uint32_t ended;	 /* its owner uses it no more */
	int32_t pid, tid;	 /* 0: not known */
	struct wire_sum sums[WIRE_SUMS];
};

_Static_assert(sizeof(struct wire_sum) == 128, "two cache lines");
_Static_assert(sizeof(struct wire_block) <= WIRE_BLOCK_BYTES && WIRE_BLOCK_BYTES % 64 == 0, "the size of a block");

#define WIRE_ROUND(n) (((n) + 7) & ~(size_t)7)

static inline struct wire_chunk *wire_chunk(struct wire_header *header, uint32_t i)
{
	return (struct wire_chunk *)((char *)header + WIRE_HEAD_BYTES + (size_t)i * WIRE_CHUNK_BYTES);
}

static inline struct wire_block *wire_block(struct wire_header *header, uint32_t i)
{
	return (struct wire_block *)((char *)header + WIRE_HEAD_BYTES + (size_t)WIRE_CHUNKS * WIRE_CHUNK_BYTES + (size_t)i * WIRE_BLOCK_BYTES);
}

#endif
