/* SPDX-License-Identifier: MIT */
#include "dag/load/report.h"

#include <inttypes.h>

#include "base/units.h"

#define TEXT 64

void load_report_prepared(const struct prepare_counts *counts, FILE *out)
{
	char bytes[TEXT];

	units_bytes((double)counts->bytes, bytes, sizeof(bytes));
	fprintf(out, "prepared: %" PRIu64 " files of %s, %" PRIu64 " directories, %" PRIu64 " links\n", counts->files, bytes, counts->directories,
		counts->links);
	if (counts->failed)
		fprintf(out, "not prepared: %" PRIu64 " names, which cannot be there together with others\n", counts->failed);
}

/* Those that are not 0. */
static void print_count(FILE *out, const char *what, uint64_t n, const char *text)
{
	if (n)
		fprintf(out, "%s: %" PRIu64 " %s\n", what, n, text);
}

static void print_totals(const struct walk_counts *counts, FILE *out)
{
	char took[TEXT], io[TEXT], planned[TEXT], in[TEXT], written[TEXT];
	uint64_t done = 0;

	for (int op = 0; op < OP_MAX; op++)
		done += counts->done[op];
	units_time((double)(counts->end_ns - counts->begin_ns), took, sizeof(took));
	units_time((double)counts->io_ns, io, sizeof(io));
	units_time((double)counts->plan_io_ns, planned, sizeof(planned));
	units_bytes((double)counts->read_bytes, in, sizeof(in));
	units_bytes((double)counts->written_bytes, written, sizeof(written));
	fprintf(out, "replayed: %" PRIu64 " operations of %" PRIu64 " processes in %s, %s read, %s written\n", done, counts->processes, took, in,
		written);
	fprintf(out, "time in operations: %s; in the trace: %s\n", io, planned);
}

void load_report_print(const struct plan *plan, const struct walk_counts *counts, FILE *out)
{
	static const char *const skips[SKIP_MAX] = {
#define X(name, text) [SKIP_##name] = text,
		PLAN_SKIPS(X)
#undef X
	};

	print_totals(counts, out);
	for (int skip = 1; skip < SKIP_MAX; skip++)
		print_count(out, "not replayed", plan->skips[skip] + counts->skips[skip], skips[skip]);
	print_count(out, "not replayed", plan->stored, "mappings that programs could write to: what they stored there");
	for (int op = 0; op < OP_MAX; op++)
		if (counts->changed[op])
			fprintf(out, "with another result: %" PRIu64 " %s\n", counts->changed[op], event_op_names[op]);
	print_count(out, "added", counts->late_opens, "opens, of descriptors that were open before or came in messages");
	print_count(out, "added", counts->closed_ends, "closes of pipes, which programs had closed by executing others");
	print_count(out, "added", counts->pieces, "reads and writes of pipes, for what one call did not move");
	print_count(out, "not kept", counts->given_up, "orders: the other operation did not come");
	print_count(out, "not started", counts->failed, "processes and threads");
}
