/* SPDX-License-Identifier: MIT */
#include "dag/darshan/darshan.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/failure.h"
#include "dag/darshan/calls.h"
#include "dag/darshan/job.h"
#include "dag/darshan/log.h"
#include "dag/darshan/posix.h"
#include "dag/darshan/ranks.h"

static int read_modules(struct query_db *db, const struct choice *choice, const struct ranks *ranks, struct log *log, int64_t *ret_sums,
	struct failure *failure)
{
	int r = posix_read(db, choice, ranks, log, failure);

	if (r == 0)
		r = calls_read(db, choice, ranks, log, ret_sums, failure);
	if (r || log->modules[DARSHAN_POSIX] || log->modules[DARSHAN_MPIIO] || log->modules[DARSHAN_STDIO])
		return r;
	return failure_set(failure, -ENODATA,
		"there is nothing for a log of Darshan: the trace, or what was chosen of it, has no single operation on a file and no call of a library");
}

int darshan_write(struct query_db *db, const struct choice *choice, bool whole, void (*say)(const char *format, ...), FILE *out,
	struct failure *failure)
{
	struct ranks ranks;
	struct log log;
	int64_t sums = 0;
	int r = ranks_read(db, choice, &ranks, failure);

	if (log_begin(&log) < 0 && r == 0)
		r = failure_memory(failure);
	if (r == 0)
		r = read_modules(db, choice, &ranks, &log, &sums, failure);
	if (r == 0)
		r = job_read(db, &ranks, sums, &log, failure);
	log.partial = whole ? 0 : ~UINT64_C(0);
	if (r == 0 && sums)
		say("warning: the log has no DXT_MPIIO: %" PRId64 " calls of MPI-IO are in sums (--detail-above)", sums);
	if (r == 0 && (r = log_write(&log, out)) < 0)
		failure_set(failure, r, "cannot write the log: %s", strerror(-r));
	log_end(&log);
	ranks_free(&ranks);
	return r;
}
