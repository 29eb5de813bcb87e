/* SPDX-License-Identifier: MIT */

/* Reads and writes: sizes, order, latencies, operations, directories. */

#include "dag/report/report.h"

int report_io(struct report *report)
{
	static const struct {
		struct exhibit exhibit;
		struct exhibit_source source;
	} tables[] = {
		{ { "pattern", "Sizes and order of reads and writes",
			  "Sizes in the classes of Darshan, so that runs can be compared with its reports.",
			  "sizes order", true },
			{ .table = "pattern", .by = "all" } },
		{ { "latency", "Latency of operations",
			  "How many took as long, and the part of all that took no longer.", "histogram", true },
			{ .table = "hist", .by = "all", .of = "latency" } },
		{ { "read-size", "Sizes of reads", NULL, "histogram", true },
			{ .table = "hist", .by = "all", .of = "read-size" } },
		{ { "write-size", "Sizes of writes", NULL, "histogram", true },
			{ .table = "hist", .by = "all", .of = "write-size" } },
		{ { "sys", "Operations", "How often, and how long they took.", "operations", false },
			{ .table = "sys" } },
	};
	static const struct exhibit directories = { "directories", "Bytes by directory", NULL, "directories",
		true };
	int r = 0;

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]) && r == 0; i++)
		r = exhibit_wfstat(report, &tables[i].exhibit, &tables[i].source);
	return r < 0 ? r : exhibit_query(report, &directories, "report.directories");
}
