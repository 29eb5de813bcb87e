/* SPDX-License-Identifier: MIT */

/*
 * ftrac run without a mount and without privileges: the command runs natively, and an object that is preloaded into its programs hands
 * over the calls of libc that reach the file system (preload/preload.h).  Processes are followed as with a mount.
 *
 *   main thread                 threads of preload/, procmon/, writer      child
 *   options, memory, child ──────────────────────────────────────────────► becomes the user; waits
 *   trace, ring
 *   gives up capabilities
 *   starts these threads ─────► records -> events -> trace
 *   runs the command, waits ─────────────────────────────────────────────► executes the command
 *   ends remaining processes
 *   ends the threads ─────────► the rest of the records
 *   the end of the trace, summary
 */

#include "ftrac/run_internal.h"

#include <string.h>
#include <sys/prctl.h>

#include "base/err.h"
#include "base/rights.h"
#include "db/facts.h"
#include "procmon/monitor.h"

/* To follow processes, and as in run_kernel.c. */
#define RIGHTS_KEPT                                                                        \
	(RIGHT(CAP_DAC_OVERRIDE) | RIGHT(CAP_DAC_READ_SEARCH) | RIGHT(CAP_KILL) | RIGHT(CAP_NET_ADMIN) | \
		RIGHT(CAP_SYS_NICE) | RIGHT(CAP_SYS_PTRACE))

static int start(struct run *run)
{
	struct daemon *d = &run->daemon;
	int status, r;

	prctl(PR_SET_CHILD_SUBREAPER, 1); /* orphans of the command become our children */
	status = run_spawn_natively(run);
	if (status == 0 && (r = rights_keep(RIGHTS_KEPT, true)) < 0)
		status = err_status(EXIT_RUNNER, "cannot give up capabilities: %s", strerror(-r));
	if (status == 0)
		status = run_open_trace(run);
	if (status == 0 && daemon_start_monitor(d) < 0)
		status = EXIT_RUNNER;
	if (status == 0 && daemon_start_writer(d, &(struct facts){ .files = "preload",
		.fidelity = event_fidelity_names[FIDELITY_CALL] }) < 0)
		status = EXIT_RUNNER;
	return status;
}

int run_by_preload(struct run *run)
{
	return run_natively(run, start(run));
}
