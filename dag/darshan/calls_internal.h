/* SPDX-License-Identifier: MIT */
#ifndef DAG_DARSHAN_CALLS_INTERNAL_H
#define DAG_DARSHAN_CALLS_INTERNAL_H

/* What the parts of calls.c share.  Functions return 0 or -ENOMEM. */

#include <stdbool.h>
#include <uthash.h>

#include "dag/darshan/calls.h"
#include "dag/darshan/log.h"
#include "dag/darshan/ranks.h"
#include "dag/darshan/tally.h"

/* A call, or several that were added up. */
struct made {
	char name[40];
	int64_t fd, size; /* -1: not known */
	int64_t length;	  /* that was asked; -1: not known */
	bool is_timed;
	struct work work;
	const char *path; /* of path_len bytes; NULL: not known */
	size_t path_len;
};

enum side { READS, WRITES, SIDES };

struct call_record {
	UT_hash_handle hh;
	struct call_key {
		uint64_t id;
		int32_t process; /* its index in ranks */
		int32_t is_mpi;
	} key;
	int64_t counters[MPIIO_MAX];
	struct transfers transfers[SIDES];
	struct stretch opens, closes;
	struct spent meta;
	struct values accesses;
	enum side last_side;
	bool is_partial[SIDES]; /* bytes of one are not known */
	bool has_sums;
};

struct calls {
	struct log *log;
	const struct ranks *ranks;
	struct call_record *records;
	struct streams *streams; /* of each process; streams.c */
	int64_t sums;
};

/* The record of that name; NULL: out of memory. */
struct call_record *calls_record(struct calls *calls, int32_t process, bool is_mpi, const char *name, size_t len);

int calls_add_stdio(struct calls *calls, int32_t process, const struct made *made);
int calls_put_stdio(struct calls *calls, struct call_record *record);
int calls_add_mpiio(struct calls *calls, int32_t process, const struct made *made);
int calls_put_mpiio(struct calls *calls, struct call_record *record);
/* Times of calls, in which both have the same. */
void calls_time_meta(struct call_record *record, const struct made *made, struct stretch *stretch);

/* ---- which file a descriptor is of ---- */

struct streams *streams_create(const struct ranks *ranks); /* NULL: out of memory */
void streams_destroy(struct streams *streams);
/* Notes what the call does to descriptors; a call that closes one comes after its name was looked up. */
int streams_note(struct streams *streams, int32_t process, const struct made *made);
/* NULL: not known. */
const char *streams_name(struct streams *streams, int32_t process, int64_t fd);

#endif
