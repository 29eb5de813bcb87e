#!/bin/sh
# SPDX-License-Identifier: MIT
#
# traced.sh COMMAND...: one job. Runs COMMAND under ftrac run, and puts the trace into the directory $TRACES.
#
# A trace is written to a local file system, and moved when it is complete: that of the jobs may be on the network. Its name is that
# of the machine (of Slurm: of the node), of the job and of the process.

set -eu

local=$(mktemp -d)
trap 'rm -rf "$local"' EXIT
status=0
"${FTRAC:-ftrac}" run -q --scope dir --db "$local/trace.db" -- "$@" || status=$?
mv "$local/trace.db" "$TRACES/${SLURMD_NODENAME:-$(hostname)}-${SLURM_JOB_ID:-job}-$$.db"
exit "$status"
