/* SPDX-License-Identifier: MIT */

/* Phases and their jobs.  While a run goes on they are worked out anew by each query. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/failure.h"
#include "base/vector.h"
#include "dag/live/collect.h"
#include "dag/live/state.h"
#include "db/query.h"

#define PHASES                                                                                                        \
	"SELECT phase, count(*), sum(running > 0), sum(processes) FROM"                                               \
	" (SELECT coalesce(phase, xform) AS phase, min(start_ns) AS start_ns, sum(end_ns ISNULL) AS running,"         \
	" count(*) AS processes FROM process WHERE job NOTNULL GROUP BY job) GROUP BY phase ORDER BY min(start_ns)"

void live_phases_free(struct live_phases *phases)
{
	if (!phases)
		return;
	free(phases->phases);
	arena_free(&phases->memory);
	free(phases);
}

static int take(struct live_phases *phases, const struct query *row)
{
	size_t len;
	const char *bytes = query_bytes(row, 0, &len);
	char *name = arena_text(&phases->memory, bytes, len);

	return !name ? -ENOMEM : vector_push(phases->phases, phases->n, (struct live_phase){ .name = name,
		.jobs = query_int(row, 1), .running = query_int(row, 2), .processes = query_int(row, 3) });
}

static int read_phases(struct query_db *db, struct live_phases *phases)
{
	struct query *query = NULL;
	int r = query_start(db, PHASES, &query);

	while (r >= 0 && (r = query_next(query)) > 0)
		r = take(phases, query);
	query_end(query);
	phases->seen_ns = clock_now_ns();
	return r;
}

int collect_phases(const char *path, unsigned how, collect_reads *reads, void *arg, struct live_phases **ret_phases,
	struct failure *failure)
{
	struct live_phases *phases = *ret_phases = calloc(1, sizeof(*phases));
	struct query_db *db = NULL;
	int r = phases ? query_open(&path, 1, how, &db) : failure_memory(failure);

	if (r == 0) {
		reads(arg, db);
		r = read_phases(db, phases);
		reads(arg, NULL);
	}
	if (phases && r < 0)
		failure_set(failure, r, "%s", query_error(db));
	query_close(db);
	if (r < 0) {
		live_phases_free(phases);
		*ret_phases = NULL;
	}
	return r;
}
