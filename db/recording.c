/* SPDX-License-Identifier: MIT */
#include "db/recording.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/place.h"
#include "db/facts.h"
#include "db/metrics_file.h"
#include "db/ring.h"
#include "db/store.h"
#include "db/totals.h"
#include "db/writer.h"

static int open_metrics(struct recording *recording, const struct recording_options *options)
{
	int r = options->metrics || options->totals ? totals_create(&recording->totals) : 0;

	if (r < 0)
		return err_status(EXIT_OWN, "out of memory");
	if (options->metrics && (r = metrics_file_open(options->metrics, recording->totals, &recording->metrics)) < 0)
		return err_status(EXIT_OWN, "cannot write '%s': %s", options->metrics,
			r == -EINVAL ? "it is no regular file; name another one for --metrics" : place_explain(r));
	return 0;
}

int recording_open(struct recording *recording, const struct recording_options *options)
{
	int r = store_create(options->db, options->force, &recording->store);

	recording->db = options->db;
	if (r < 0)
		return facts_complain(options->db, options->option ? options->option : "--db", r);
	recording->interval_ns = options->interval_ns;
	r = open_metrics(recording, options);
	if (r)
		return r;
	r = ring_create(options->slots, options->drop, &recording->ring);
	return r < 0 ? err_status(EXIT_OWN, "out of memory") : 0;
}

static const char *reason(const struct recording *recording, int error)
{
	const char *text = store_error(recording->store);

	return *text ? text : strerror(-error);
}

static void take_metrics(struct recording *recording, struct writer_options *writer)
{
	writer->publish = metrics_file_write;
	writer->publish_arg = recording->metrics;
	writer->publish_ns = recording->interval_ns ? recording->interval_ns : METRICS_FILE_NS;
}

int recording_start(struct recording *recording, struct facts *facts, struct writer_options *writer)
{
	int r;

	writer->store = recording->store;
	writer->ring = recording->ring;
	if (writer->record.start_ns == 0)
		writer->record.start_ns = clock_now_ns();
	writer->record.interval_ns = recording->interval_ns;
	writer->record.totals = recording->totals;
	if (recording->metrics)
		take_metrics(recording, writer);
	writer->epoch_offset_ns = writer->is_past ? 0 : clock_epoch_offset_ns();
	facts->is_past = writer->is_past;
	facts->start_ns = writer->record.start_ns + writer->epoch_offset_ns;
	r = facts_store(recording->store, facts);
	if (r == 0)
		r = writer_start(writer, &recording->writer);
	if (r < 0)
		err_print("cannot write '%s': %s", recording->db, reason(recording, r));
	recording->was_started = r == 0;
	return r;
}

int recording_stop(struct recording *recording)
{
	int r = recording->writer ? writer_stop(recording->writer) : 0;

	recording->writer = NULL;
	if (r < 0)
		err_print("'%s' is incomplete: %s", recording->db, reason(recording, r));
	return r;
}

void recording_abandon(struct recording *recording)
{
	recording->was_started = false;
}

void recording_close(struct recording *recording)
{
	if (recording->was_started)
		store_destroy(recording->store);
	else
		store_discard(recording->store);
	ring_destroy(recording->ring);
	metrics_file_close(recording->metrics);
	totals_destroy(recording->totals);
	*recording = (struct recording){ 0 };
}
