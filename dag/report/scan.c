/* SPDX-License-Identifier: MIT */

/*
 * The pass over all operations, in its own thread with its own connection: with ten million operations it takes half as
 * long as the rest of the report.
 */

#include <pthread.h>
#include <stdlib.h>

#include "base/failure.h"
#include "dag/report/report.h"
#include "dag/stat/scan.h"
#include "dag/trace/traces.h"
#include "db/query.h"

struct report_scan {
	const struct report *report;
	struct query_db *db;
	pthread_t thread;
	bool running;
	struct stat_scan *scan;
	struct failure failure;
	int r;
};

static void *run(void *arg)
{
	struct report_scan *s = arg;

	s->r = traces_open(&s->report->options->traces, s->report->options->how, NULL, &s->db,
		&s->failure);
	if (s->r == 0)
		s->r = stat_scan_create(s->db, &s->report->choice, &s->scan, &s->failure);
	return NULL;
}

int report_scan_start(struct report *report)
{
	struct report_scan *s = calloc(1, sizeof(*s));

	report->scan = s;
	if (!s)
		return failure_memory(report->failure);
	s->report = report;
	s->running = report->is_still && pthread_create(&s->thread, NULL, run, s) == 0;
	if (!s->running)
		s->r = stat_scan_create(report->db, &report->choice, &s->scan, &s->failure);
	return 0;
}

static void join(struct report_scan *s)
{
	if (s->running)
		pthread_join(s->thread, NULL);
	s->running = false;
}

int report_scan_wait(struct report *report, const struct stat_scan **ret_scan)
{
	struct report_scan *s = report->scan;

	if (s->running)
		report_progress("reading operations");
	join(s);
	*ret_scan = s->scan;
	if (s->r < 0)
		*report->failure = s->failure;
	return s->r;
}

void report_scan_finish(struct report *report)
{
	if (!report->scan)
		return;
	join(report->scan);
	stat_scan_destroy(report->scan->scan);
	query_close(report->scan->db);
	free(report->scan);
}
