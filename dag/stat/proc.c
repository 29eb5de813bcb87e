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
	.narrow = "command runtime_ns cpu_ns rss_bytes exit_code exit_signal pid start_ns read_char write_char",
	.help = "processes, as pprof of wfprof lists them, and more",
};
