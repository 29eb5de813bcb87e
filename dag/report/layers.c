/* SPDX-License-Identifier: MIT */

/* Calls of libraries: what they became below, and those that took longest. */

#include "dag/report/report.h"
#include "db/query.h"

int report_layers(struct report *report)
{
	static const struct exhibit hierarchy = { "hierarchy", "What calls of MPI-IO and of the C library became",
		"asked, moved: bytes of the calls; lib, operations: what was made inside of them. Where less was moved below, a buffer or cache "
		"helped; where more was, a library read or wrote what lies between, too.", NULL, false };
	static const struct exhibit slowest = { "slowest-calls", "The calls that took longest",
		"mpi call id is the same in the parts of one collective call.", NULL, true };
	static const struct exhibit_source calls = { .table = "hierarchy",
		.columns = "layer,call,command,calls,asked_bytes,moved_bytes,lib_calls,lib_moved_bytes,operations,operations_moved_bytes,latency_ns" };
	static const struct exhibit_source longest = { .table = "slowest", .top = EXHIBIT_ROWS,
		.columns = "latency_ns,call,rank,pid,path,offset,moved_bytes,lib_calls,operations,operations_moved_bytes,mpi_call_id" };
	int r;

	if (!query_fact_text(report->db, "layers"))
		return 0;
	r = exhibit_wfstat(report, &hierarchy, &calls);
	return r == 0 ? exhibit_wfstat(report, &slowest, &longest) : r;
}
