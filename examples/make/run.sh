#!/bin/sh
# SPDX-License-Identifier: MIT
#
# run.sh [FTRAC-OPTION...]
#
# Traces the build of a small C program and sums up what it did. What is made: tally/ with a copy of
# the source and what was built from it, and trace.db, both in the current directory. All options
# are passed on to ftrac, --force for example, which replaces an older trace.
#
# May be set from outside: WORK (instead of tally), JOBS (for make -j, default 8), DB, MNT and
# FTRAC, see ../lib.sh.

set -eu

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source-path=SCRIPTDIR source=../lib.sh
. "$here/../lib.sh"

need make gcc ar

work=${WORK:-tally}
mkdir -p "$work"
work=$(cd "$work" && pwd)
cp -R "$here/Makefile" "$here/VERSION" "$here/gen" "$here/src" "$work/"

trace_make "$@"
echo
echo "The program is '$work/build/tally', the trace '$db'."
