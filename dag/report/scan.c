/* SPDX-License-Identifier: MIT */

/*
 * The pass over all operations, in a thread of its own with a connection of its own: of ten million it takes
 * as long as half of all else.
 */

#include <pthread.h>
#include <stdlib.h>

#include "base/err.h"
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
	int status;
};

static void *run(void *arg)
{
	struct report_scan *s = arg;

	s->status = traces_open(&s->report->options->traces, s->report->options->how, &s->db);
	if (s->status == 0)
		s->status = stat_scan_create(s->db, &s->report->choice, &s->scan);
	return NULL;
}

int report_scan_start(struct report *report)
{
	struct report_scan *s = calloc(1, sizeof(*s));

	report->scan = s;
	if (!s)
		return report_out_of_memory();
	s->report = report;
	s->running = report->is_still && pthread_create(&s->thread, NULL, run, s) == 0;
	if (!s->running)
		s->status = stat_scan_create(report->db, &report->choice, &s->scan);
	return 0;
}

const struct stat_scan *report_scan_wait(struct report *report)
{
	struct report_scan *s = report->scan;

	if (s->running) {
		report_progress("reading operations");
		pthread_join(s->thread, NULL);
	}
	s->running = false;
	return s->status ? NULL : s->scan;
}

void report_scan_finish(struct report *report)
{
	if (!report->scan)
		return;
	report_scan_wait(report);
	stat_scan_destroy(report->scan->scan);
	query_close(report->scan->db);
	free(report->scan);
}
