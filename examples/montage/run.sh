#!/bin/sh
# SPDX-License-Identifier: MIT
#
# run.sh [SIZE] [FTRAC-OPTION...]
#
# Traces the Montage workflow of SIZE (A, B or C; default A) and sums up what it did. What is made:
# montage-SIZE/ with the inputs and the mosaic, and trace.db, both in the current directory. All
# else is passed on to ftrac, --force for example, which replaces an older trace.
#
# May be set from outside: WORK (instead of montage-SIZE), JOBS (for make -j, default 8), DB, MNT
# and FTRAC, see ../lib.sh.

set -eu

size=A
case ${1-} in
A | B | C)
	size=$1
	shift
	;;
-* | '') ;;
*)
	echo "usage: run.sh [A|B|C] [FTRAC-OPTION...]" >&2
	exit 2
	;;
esac

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source-path=SCRIPTDIR source=../lib.sh
. "$here/../lib.sh"

need make mMakeImg mImgtbl mOverlaps mProjectPP mDiffFit mDiff mFitplane mConcatFit mBgModel \
	mBackground mAdd mShrink mViewer

work=${WORK:-montage-$size}
"$here/generate.sh" "$size" "$work" || die "cannot generate the inputs in '$work'"
work=$(cd "$work" && pwd)

trace_make "$@"
echo
echo "The mosaic is '$work/mosaic.png', the trace '$db'."
