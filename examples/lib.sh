# shellcheck shell=sh
# SPDX-License-Identifier: MIT
#
# What the run.sh of each example has in common. A script that sources it sets $here first, the
# directory of the example.
#
#   need PROGRAM...          builds ftrac and installs what is missing
#   take_options OPTION...   evaluates the options of ftrac that matter here
#   start_trace OPTION...    mounts
#   traced DIR COMMAND...    runs COMMAND in DIR as it looks through the mount
#   stop_trace               unmounts, and waits until the trace is complete
#   query FILE...            prints what the SQL in FILE finds in the trace
#
# Whatever way the script ends, the mount goes with it. May be set from outside: FTRAC (the program),
# DB (the trace, default trace.db) and MNT (the mount point, default mnt).

# shellcheck disable=SC2154 # see above
examples=$(cd "$here/.." && pwd)
top=$(cd "$examples/.." && pwd)
ftrac=${FTRAC:-$top/build/ftrac/ftrac}
db=${DB:-trace.db}
mnt=${MNT:-mnt}
made_mnt=
mounted=

die() {
	echo "run.sh: $*" >&2
	exit 1
}

need() {
	missing=
	for program in fusermount3 mountpoint sqlite3 "$ftrac" "$@"; do
		command -v "$program" >/dev/null || missing="$missing $program"
	done
	[ -n "$missing" ] || return 0
	"$top/setup" example || die "cannot install or build:$missing"
	for program in $missing; do
		command -v "$program" >/dev/null || die "'$program' is not there, even after ./setup example"
	done
}

take_options() {
	for option; do
		case ${previous-}:$option in
		--db:*) db=$option ;;
		*:--db=*) db=${option#--db=} ;;
		*:-h | *:--help | *:-V | *:--version | *:-f | *:-d | *:--no-record)
			die "option '$option' leaves nothing to trace; see README.md"
			;;
		esac
		previous=$option
	done
}

# start_trace OPTION...: comes back when the mount is live.
start_trace() {
	take_options "$@"
	if [ ! -d "$mnt" ]; then
		mkdir "$mnt"
		made_mnt=1
	fi
	mnt=$(cd "$mnt" && pwd)
	"$ftrac" --db "$db" "$@" "$mnt" || die "cannot trace; what ftrac said is above"
	mounted=1
}

traced() {
	(cd "$mnt$1" && shift && "$@")
}

# A process that has just ended may still hold the mount for a moment.
unmount() {
	tries=50
	until fusermount3 -u "$mnt" 2>/dev/null; do
		mountpoint -q "$mnt" || break # ftrac has ended by itself
		tries=$((tries - 1))
		[ "$tries" -gt 0 ] || return 1
		sleep 0.1
	done
	mounted=
}

# ftrac holds a lock on the trace as long as it writes.
stop_trace() {
	unmount || die "cannot unmount '$mnt': it is still in use; see fuser -vm '$mnt'"
	flock -w 120 "$db" true || die "'$db' is still being written two minutes after the unmount"
	[ "$(sqlite3 "$db" "SELECT value FROM trace WHERE key = 'complete'")" = 1 ] ||
		die "'$db' is not complete; what ftrac said is above"
}

query() {
	for file; do
		sqlite3 -bail -cmd '.timeout 10000' -header -column "$db" <"$file"
	done
}

# trace_make OPTION...: builds $work from scratch in the mount, and prints a summary of the trace.
trace_make() {
	start_trace "$@"
	make -s -C "$work" clean
	status=0
	traced "$work" make -j"${JOBS:-8}" >"$work/make.log" 2>&1 || status=$?
	stop_trace
	if [ "$status" -ne 0 ]; then
		tail -n 5 "$work/make.log" >&2
		die "make ended with status $status; see '$work/make.log'"
	fi
	query "$examples/summary.sql"
}

clean_up() {
	[ -z "$mounted" ] || unmount || fusermount3 -u -z "$mnt" || true
	[ -z "$made_mnt" ] || rmdir "$mnt" 2>/dev/null || true
}

trap clean_up EXIT
trap 'exit 1' HUP INT TERM
