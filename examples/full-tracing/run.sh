#!/bin/sh
# SPDX-License-Identifier: MIT
#
# run.sh [WAY...]
#
# Traces the build of ../make with programs, libraries and headers, in each of these ways, and says
# which files were seen to be opened, and which of those that the first way saw were not:
#
#   run           ftrac run --scope full
#   chroot        a mount, and chroot(8) into it; root
#   bwrap         a mount, and a sandbox with it as its root; needs no privilege
#   fakechroot    a mount, and a chroot that a library pretends; the ParaTrac paper's way, in one step
#   fakechroot-2  the same in the paper's two steps
#
# What is made: full-tracing/ with a copy of the source and a trace WAY.db for each way. May be set
# from outside: WORK (instead of full-tracing), MNT and FTRAC, see ../lib.sh.

set -eu

here=$(cd "$(dirname "$0")" && pwd)
work=${WORK:-full-tracing}
mkdir -p "$work"
work=$(cd "$work" && pwd)
MNT=${MNT:-$work/mnt}
# shellcheck source-path=SCRIPTDIR source=../lib.sh
. "$here/../lib.sh"

need make gcc ar bwrap fakechroot

# in_the_mount WAY: builds in $work/tally, which is below $mnt, too.
in_the_mount() {
	build="cd '$work/tally' && make -s"
	case $1 in
	chroot)
		# /dev, /proc and /sys must not go through ftrac; no other process sees these mounts.
		unshare -m sh -c 'for d in dev proc sys; do mount --rbind "/$d" "$0/$d"; done
			exec chroot "$0" /bin/sh -c "$1"' "$mnt" "$build"
		;;
	bwrap) bwrap --bind "$mnt" / --dev /dev --proc /proc /bin/sh -c "$build" ;;
	fakechroot) fakechroot /usr/sbin/chroot "$mnt" /bin/sh -c "$build" ;;
	fakechroot-2)
		FAKECHROOT_EXCLUDE_PATH=/dev:/proc:/sys fakechroot sh -c \
			'/usr/sbin/chroot "$0" /bin/sh -c "$1"' "$mnt" "$build"
		;;
	*) die "unknown way '$1'; see the head of this script" ;;
	esac
}

trace() {
	db=$work/$1.db
	rm -rf "$work/tally"
	mkdir "$work/tally"
	cp -R "$examples/make/Makefile" "$examples/make/VERSION" "$examples/make/gen" \
		"$examples/make/src" "$work/tally/"
	if [ "$1" = run ]; then
		(cd "$work/tally" && "$ftrac" run -q --force --db "$db" --scope full -- make -s)
	else
		start_trace --force
		in_the_mount "$1"
		stop_trace
	fi
	[ -x "$work/tally/build/tally" ] || die "nothing was built by '$1'"
}

# opened DB: the files that were opened or executed, without temporary ones.
opened="SELECT DISTINCT a.path FROM access a JOIN file f ON f.id = a.file
	WHERE (a.opens > 0 OR a.executed) AND f.kind = 'file' AND NOT f.created
	AND a.path NOT LIKE '/tmp/%'"

report() {
	sqlite3 "$work/$1.db" "$opened ORDER BY 1" >"$work/$1.files"
	operations=$(sqlite3 "$work/$1.db" "SELECT value FROM trace WHERE key = 'ops_recorded'")
	missing=-
	[ ! -f "$work/run.files" ] || missing=$(comm -23 "$work/run.files" "$work/$1.files" | wc -l)
	printf '%-13s %10s %6s %9s\n' "$1" "$operations" "$(wc -l <"$work/$1.files")" "$missing"
}

[ $# -gt 0 ] || {
	set -- run bwrap fakechroot fakechroot-2
	[ "$(id -u)" -ne 0 ] || set -- run chroot bwrap fakechroot fakechroot-2
}
rm -f "$work"/*.files
printf '%-13s %10s %6s %9s\n' way operations files 'not seen'
for way; do
	trace "$way"
	report "$way"
done
