/* SPDX-License-Identifier: MIT */
#include "dag/darshan/job.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/failure.h"
#include "dag/darshan/log.h"
#include "dag/darshan/ranks.h"
#include "dag/trace/compose.h"
#include "dag/trace/traces.h"
#include "db/query.h"

#define BILLION 1000000000

/* The command line and the mounts, as they fit. */
struct tail {
	char bytes[DARSHAN_JOB_BYTES - 1 - sizeof(struct darshan_job)];
	size_t used; /* a NUL stays behind it */
};

static void put_text(struct tail *tail, const char *text, size_t len)
{
	if (len >= sizeof(tail->bytes) - tail->used)
		len = sizeof(tail->bytes) - tail->used - 1;
	for (size_t i = 0; i < len; i++)
		tail->bytes[tail->used++] = text[i] == '\n' || text[i] == '\0' ? ' ' : text[i];
}

/* Readers part the two at white space. */
static bool is_word(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (isspace((unsigned char)text[i]) || !text[i])
			return false;
	return text && len > 0;
}

/* A mount that does not fit is left out as a whole. */
static int add_mount(void *arg, const struct query *q)
{
	struct tail *tail = arg;
	size_t type_len, place_len;
	const char *type = query_bytes(q, 0, &type_len), *place = query_bytes(q, 1, &place_len);

	if (!is_word(type, type_len) || !is_word(place, place_len) || type_len + place_len + 3 > sizeof(tail->bytes) - tail->used)
		return 0;
	tail->bytes[tail->used++] = '\n';
	put_text(tail, type, type_len);
	tail->bytes[tail->used++] = '\t';
	put_text(tail, place, place_len);
	return 0;
}

static int64_t end_of(struct query_db *db, const struct ranks *ranks, int64_t start)
{
	int64_t end = query_fact(db, "end_ns", start);

	for (int32_t i = 0; i < ranks->n && end == start; i++)
		if (ranks->of[i].end_ns > end)
			end = ranks->of[i].end_ns;
	return end;
}

static void describe(struct query_db *db, const struct ranks *ranks, int64_t sums, struct darshan_job *job)
{
	int64_t start = query_fact(db, "start_ns", 0), end = end_of(db, ranks, start);
	const char *version = query_fact_text(db, "ftrac_version"), *fidelity = query_fact_text(db, "fidelity");
	int n;

	job->start_s = start / BILLION;
	job->start_ns = start % BILLION;
	job->end_s = end / BILLION;
	job->end_ns = end % BILLION;
	job->processes = ranks->processes;
	job->uid = ranks->n ? ranks->of[0].uid : 0;
	job->id = query_fact(db, "job", ranks->n ? ranks->of[0].pid : 0);
	n = snprintf(job->metadata, sizeof(job->metadata), "lib_ver=ftrac-%.40s\nftrac_ranks=%s\nftrac_fidelity=%.40s\n",
		version ? version : "", ranks->mpi ? "MPI ranks, then other processes by start" : "processes by start", fidelity ? fidelity : "");
	if (sums)
		snprintf(job->metadata + n, sizeof(job->metadata) - (size_t)n, "ftrac_sums=%" PRId64 " calls of MPI-IO\n", sums);
}

int job_read(struct query_db *db, const struct ranks *ranks, int64_t sums, struct log *log, struct failure *failure)
{
	static const struct choice none;
	const char *command = query_fact_text(db, "command");
	struct darshan_job job;
	struct tail tail;
	int r;

	memset(&job, 0, sizeof(job));
	memset(&tail, 0, sizeof(tail));
	describe(db, ranks, sums, &job);
	if (!command)
		command = "-";
	put_text(&tail, command, strlen(command));
	r = traces_each(db, "darshan.mounts", "fstype mount", &none, add_mount, &tail, failure);
	if (r == 0)
		r = failure_of_memory(failure, log_put_job(log, &job, sizeof(job)));
	return r ? r : failure_of_memory(failure, log_put_job(log, tail.bytes, tail.used + 1));
}
