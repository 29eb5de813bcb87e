/* SPDX-License-Identifier: MIT */

/* Phases and their jobs.  While a run goes on they are worked out anew by each query. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "base/clock.h"
#include "base/failure.h"
#include "base/vector.h"
#include "dag/live/collect.h"
#include "dag/live/estimate.h"
#include "dag/live/state.h"
#include "db/query.h"

/* The jobs, in the order in which they began.  end_ns: NULL while a process of the job runs. */
#define JOBS                                                                                               \
	"SELECT coalesce(max(phase), max(xform)) AS phase, min(step), min(task), min(start_ns),"           \
	" iif(count(*) = count(end_ns), max(end_ns), NULL), count(*)"                                      \
	" FROM process WHERE job NOTNULL GROUP BY job ORDER BY 4, job"

struct named {
	int32_t index; /* of the phase */
	UT_hash_handle hh;
	char name[];
};

struct reading {
	struct live_phases *phases;
	struct named *named;
	struct estimate *like;
	int64_t start_ns, now_ns; /* of the run; until when the trace tells */
};

void live_phases_free(struct live_phases *phases)
{
	if (!phases)
		return;
	free(phases->phases);
	arena_free(&phases->memory);
	free(phases);
}

/* ---- phases ---- */

static struct named *add_phase(struct reading *reading, const char *name)
{
	struct live_phases *phases = reading->phases;
	size_t len = strlen(name);
	struct named *named = calloc(1, sizeof(*named) + len + 1);
	char *copy = arena_text(&phases->memory, name, len);

	if (!named || !copy || vector_push(phases->phases, phases->n, (struct live_phase){ .name = copy, .wanted = -1 }) < 0) {
		free(named);
		return NULL;
	}
	memcpy(named->name, name, len);
	named->index = phases->n - 1;
	HASH_ADD_KEYPTR(hh, reading->named, named->name, len, named);
	return named;
}

/* NULL: out of memory. */
static struct live_phase *phase_of(struct reading *reading, const char *name)
{
	struct named *named;

	HASH_FIND(hh, reading->named, name, strlen(name), named);
	if (!named)
		named = add_phase(reading, name);
	return named ? &reading->phases->phases[named->index] : NULL;
}

static void forget_names(struct reading *reading)
{
	struct named *named, *next;

	HASH_ITER(hh, reading->named, named, next) {
		HASH_DEL(reading->named, named);
		free(named);
	}
}

/* ---- jobs ---- */

typedef int take_job(struct reading *reading, const struct estimate_job *job, int64_t processes);

static char *text_of(struct arena *memory, const struct query *row, int column)
{
	size_t len;
	const char *bytes = query_bytes(row, column, &len);

	return query_type(row, column) == QUERY_NULL ? NULL : arena_text(memory, bytes, len);
}

static int each_job(struct query_db *db, struct reading *reading, take_job *take)
{
	struct arena texts = { 0 };
	struct query *query = NULL;
	int r = query_start(db, JOBS, &query);

	reading->start_ns = query_fact(db, "start_ns", 0);
	reading->now_ns = query_fact(db, "end_ns", reading->start_ns);
	while (r >= 0 && (r = query_next(query)) > 0) {
		struct estimate_job job = { text_of(&texts, query, 0), text_of(&texts, query, 1), text_of(&texts, query, 2),
			query_int(query, 3) - reading->start_ns, -1 };

		if (query_type(query, 4) != QUERY_NULL)
			job.end_ns = query_int(query, 4) - reading->start_ns;
		r = take(reading, &job, query_int(query, 5));
		arena_clear(&texts);
	}
	query_end(query);
	arena_free(&texts);
	return r;
}

static int add_job(struct reading *reading, const struct estimate_job *job, int64_t processes)
{
	struct live_phase *phase = phase_of(reading, job->phase ? job->phase : "");

	if (!phase)
		return -ENOMEM;
	phase->jobs++;
	phase->running += job->end_ns < 0;
	phase->processes += processes;
	if (reading->like)
		estimate_add(reading->like, job, reading->now_ns - reading->start_ns);
	return 0;
}

/* ---- an earlier run ---- */

static int learn_job(struct reading *reading, const struct estimate_job *job, int64_t processes)
{
	(void)processes;
	return estimate_learn(reading->like, job);
}

static int read_end(struct query_db *db, int64_t *ret_end_ns)
{
	struct query *query = NULL;
	int r = query_start(db, "SELECT max(end_ns) FROM process", &query);

	if (r == 0)
		r = query_next(query);
	*ret_end_ns = r > 0 ? query_int(query, 0) : 0;
	query_end(query);
	return r;
}

static int learn(struct query_db *db, struct estimate *like)
{
	struct reading reading = { .like = like };
	int64_t end_ns;
	int r = each_job(db, &reading, learn_job);

	if (r == 0)
		r = read_end(db, &end_ns);
	if (r >= 0)
		estimate_learned(like, end_ns - reading.start_ns);
	return r < 0 ? r : 0;
}

static int has_jobs(void *arg, const char *phase, int64_t jobs)
{
	(void)arg;
	(void)phase;
	return jobs > 0;
}

int collect_like(const char *path, unsigned how, struct estimate **ret_like, struct failure *failure)
{
	struct query_db *db = NULL;
	int r = estimate_create(ret_like);

	if (r < 0)
		return failure_memory(failure);
	r = query_open(&path, 1, how, &db);
	if (r == 0)
		r = learn(db, *ret_like);
	if (r < 0)
		failure_set(failure, r, "%s", query_error(db));
	query_close(db);
	if (r == 0 && estimate_each_phase(*ret_like, has_jobs, NULL) == 0)
		r = failure_set(failure, -ENODATA, "no job of '%s' has ended: give the trace of a run that has", path);
	if (r < 0) {
		estimate_destroy(*ret_like);
		*ret_like = NULL;
	}
	return r;
}

static int want(void *arg, const char *name, int64_t jobs)
{
	struct reading *reading = arg;
	struct live_phase *phase = phase_of(reading, name);

	if (!phase)
		return -ENOMEM;
	phase->wanted = jobs;
	reading->phases->to_come += jobs > phase->jobs ? jobs - phase->jobs : 0;
	return 0;
}

static int compare_with(struct estimate *like, struct reading *reading)
{
	int64_t elapsed_ns = reading->now_ns - reading->start_ns, left_ns = estimate_left_ns(like, elapsed_ns);

	reading->phases->to_come = 0;
	reading->phases->end_ns = left_ns < 0 ? -1 : reading->now_ns + left_ns;
	return estimate_each_phase(like, want, reading);
}

/* ---- a look ---- */

static int read_phases(struct query_db *db, struct estimate *like, struct live_phases *phases)
{
	struct reading reading = { .phases = phases, .like = like };
	int r;

	phases->to_come = phases->end_ns = -1;
	if (like)
		estimate_begin(like);
	r = each_job(db, &reading, add_job);
	if (r == 0 && like)
		r = compare_with(like, &reading);
	forget_names(&reading);
	phases->seen_ns = clock_now_ns();
	return r;
}

int collect_phases(const char *path, unsigned how, struct estimate *like, collect_reads *reads, void *arg,
	struct live_phases **ret_phases, struct failure *failure)
{
	struct live_phases *phases = *ret_phases = calloc(1, sizeof(*phases));
	struct query_db *db = NULL;
	int r = phases ? query_open(&path, 1, how, &db) : failure_memory(failure);

	if (r == 0) {
		reads(arg, db);
		r = read_phases(db, like, phases);
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
