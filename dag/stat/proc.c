/* SPDX-License-Identifier: MIT */

/* Processes. */

#include "dag/stat/stat.h"

static int fill(struct stat_run *run)
{
	return stat_rows(run, "proc", false);
}

const struct stat_table stat_proc_table = {
	.name = "proc",
	.fill = fill,
	.needs_ops = false,
	.options = STAT_CHOICE,
	.queries = "proc",
	.help = "processes, as pprof of wfprof lists them, and more",
};
