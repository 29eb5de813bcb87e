/* SPDX-License-Identifier: MIT */
#ifndef DAG_DARSHAN_RANKS_H
#define DAG_DARSHAN_RANKS_H

/*
 * The chosen processes, as ranks.  If the trace has one MPI job whose ranks are known, by the variables of its launcher or by calls of
 * MPI-IO, each of its processes has its rank, and the others follow in the order of their starts; else all are numbered from 0 on in the
 * order of their starts.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

struct choice;
struct failure;
struct query_db;

struct ranked {
	int64_t id, parent; /* 0: no parent is known */
	int64_t uid, pid, end_ns;
	const char *host; /* NULL: not known */
	int64_t world_rank, world_size; /* in MPI_COMM_WORLD; -1: not known */
	int64_t rank;
};

struct ranks {
	struct ranked *of; /* in the order of their starts */
	int32_t n;
	int32_t *by_id;
	bool mpi;
	int64_t processes; /* ranks are below it */
	struct arena texts;
};

/* 0 or -errno, with the failure. */
int ranks_read(struct query_db *db, const struct choice *choice, struct ranks *ret_ranks, struct failure *failure);
void ranks_free(struct ranks *ranks);
/* The index of a process; -1: it was not chosen. */
int32_t ranks_find(const struct ranks *ranks, int64_t process);

#endif
