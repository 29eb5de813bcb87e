/* SPDX-License-Identifier: MIT */

/*
 * ftrac run without a mount: the command runs natively, in our namespaces, and programs in the kernel record what it does.
 *
 *   main thread                 threads of kernel/, writer      child
 *   options, child ───────────────────────────────────────────► becomes the user; waits
 *   trace, ring
 *   programs, without which we give up their capabilities
 *   starts these threads ─────► records -> events -> trace
 *   runs the command, waits ──────────────────────────────────► executes the command
 *   ends remaining processes
 *   ends the programs ────────► the rest of the records
 *   the end of the trace, summary
 *
 * If we are killed, the kernel removes the programs, and the command goes on.
 */

#include "ftrac/run_internal.h"

#include "base/err.h"
#include "base/failure.h"
#include "base/rights.h"
#include "db/facts.h"
#include "procmon/monitor.h"

/*
 * To look at files of others (monitor_probe_path()) and to write the trace wherever it lies, to pass signals on to a command that is
 * another user's, and to schedule our threads.
 */
#define RIGHTS_KEPT \
	(RIGHT(CAP_DAC_OVERRIDE) | RIGHT(CAP_DAC_READ_SEARCH) | RIGHT(CAP_KILL) | RIGHT(CAP_SYS_NICE))

static int start(struct run *run, struct failure *refused)
{
	struct daemon *d = &run->daemon;
	int status = run_spawn_natively(run);

	if (status == 0)
		status = run_open_trace(run);
	if (status == 0 && monitor_start_in_kernel(&(struct monitor_in_kernel){ .ring = d->recording.ring,
		.env = d->options.env.word, .command = run->command, .rights = RIGHTS_KEPT }, &d->monitor, refused) < 0)
		return EXIT_RUNNER;
	if (status == 0 && daemon_start_writer(d, &(struct facts){ .files = "kernel",
		.fidelity = event_fidelity_names[FIDELITY_CALL] }) < 0)
		status = EXIT_RUNNER;
	return status;
}

int run_by_kernel(struct run *run, struct failure *refused)
{
	return run_natively(run, start(run, refused));
}
