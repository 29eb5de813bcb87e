/* SPDX-License-Identifier: MIT */

/* Operations that failed. */

#include <string.h>

#include "dag/stat/stat.h"
#include "db/query.h"

/* The numbers of errno differ between architectures; the names do not. */
static void name_errors(struct table *table)
{
	int column = table_find(table, "errno");
	int64_t number;

	for (size_t row = 0; row < table_rows(table); row++)
		if (table_get_int(table, row, column, &number) && strerrorname_np((int)number))
			table_set_string(table, row, column, strerrorname_np((int)number));
}

static int fill(struct stat_run *run)
{
	const char *files = query_fact_text(run->db, "files");
	bool calls = files && (strcmp(files, "kernel") == 0 || strcmp(files, "preload") == 0);
	int r = stat_rows(run, run->has_ops ? "errors" : "errors.missing-names", true);

	if (r == 0)
		name_errors(run->table);
	table_note(run->table,
		"search: a lookup of a name that does not exist, as when programs search; probe: a "
		"request for a feature that the file or the file system need not have; error: all "
		"others.");
	if (!calls)
		table_note(run->table,
			"The path of a search is the first missing name on the way: it may be a directory of the "
			"path that the program used.");
	if (run->has_files && !calls)
		table_note(run->table,
			"Most errors EACCES (Permission denied), EEXIST, EISDIR, ENOTDIR, ELOOP, EXDEV, EPERM and EROFS are "
			"not in the trace: the kernel finds them without a request to ftrac.  strace(1) shows them.");
	if (!run->has_ops)
		stat_note_no_ops(run, "Other errors are");
	return r;
}

const struct stat_table stat_errors_table = {
	.name = "errors",
	.fill = fill,
	.needs_ops = true,
	.options = STAT_BY | STAT_CHOICE | STAT_OPERATION,
	.queries = "errors",
	.help = "operations that failed",
	.own_keys = "file path operation",
};
