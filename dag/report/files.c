/* SPDX-License-Identifier: MIT */

/* Files: those with the most bytes read and written, read several times, written and never read, and temporary ones. */

#include "dag/report/report.h"

#define FLOWS_MAX 100

int report_files(struct report *report)
{
	static const struct {
		struct exhibit exhibit;
		const char *query;
	} tables[] = {
		{ { "file-kinds", "Kinds of files",
			  "temporary: created and removed in the run; never read: written, and not read in it.",
			  NULL, false },
			"report.file-kinds" },
		{ { "most-read", "Files that were read most", "reread: bytes read by size.", "files-read", true },
			"report.files-read" },
		{ { "most-written", "Files that were written most", NULL, "files-written", true },
			"report.files-written" },
		{ { "rereads", "Files that were read repeatedly", NULL, NULL, true },
			"report.files-reread" },
		{ { "never-read", "Files that were written and never read", NULL, NULL, true },
			"report.files-never-read" },
		{ { "temporary", "Temporary files", NULL, NULL, true }, "report.files-temporary" },
	};
	static const struct exhibit flow = { "flow", "Data through pipes and sockets",
		"From process to process; bytes are unknown where it is not told which writer's bytes a reader got.", NULL, true };
	static const struct exhibit_source flows = { .table = "flow", .sort = "bytes", .top = FLOWS_MAX };
	int r = 0;

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]) && r == 0; i++)
		r = exhibit_query(report, &tables[i].exhibit, tables[i].query);
	return r == 0 && report_has_calls(report) ? exhibit_wfstat(report, &flow, &flows) : r;
}
