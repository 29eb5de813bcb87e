#!/bin/sh
# SPDX-License-Identifier: MIT
#
# all.sh [--long]
#
# Installs what is needed, builds, runs the tests and ends with the line "N passed, N failed, N skipped"; what is
# exhaustive is sampled. --long: also runs the cases that have a long form in that form, which takes hours. Tests
# that need a FUSE mount (suite `fuse`) may be skipped where there is none to be had; for root with /dev/fuse, and
# in CI, a skipped one is a failure, lest a broken set-up looks like success.

set -u
export LC_ALL=C.UTF-8
case $#:${1-} in
0:) setup= suffix= ;;
1:--long) setup="--setup all" suffix=-all ;; # Meson puts the name of the set-up behind that of the log
*) echo "usage: tests/all.sh [--long]" >&2 && exit 2 ;;
esac
cd "$(dirname "$0")/.." || exit 1

# In CI a warning of the compiler is an error; with a newer compiler elsewhere, the tests are to run all the same.
werror=false
[ "${WERROR-}${CI-}" = "" ] || werror=true
MESON_OPTIONS=-Dwerror=$werror ./setup tests || exit 1
# Also finds cases that are new.
meson setup --reconfigure build "-Dwerror=$werror" </dev/null >/dev/null || exit 1

# Containers often come without the device though the kernel has it.
must_mount=0
if [ "$(id -u)" -eq 0 ]; then
	if [ ! -c /dev/fuse ]; then
		modprobe fuse 2>/dev/null
		[ -c /dev/fuse ] || mknod -m 666 /dev/fuse c 10 229
	fi
	# By this fusermount3 knows whose a mount is; a system that never booted may lack it.
	[ -e /etc/mtab ] || ln -s ../proc/self/mounts /etc/mtab
	if (exec 3<>/dev/fuse) 2>/dev/null; then
		must_mount=1
	else
		echo "all.sh: cannot open '/dev/fuse', tests that mount will be skipped: load the module fuse, or give the container this device and CAP_SYS_ADMIN" >&2
	fi
fi
[ "${CI-}" != true ] || must_mount=1

# Cases that try FUSE over io_uring switch it on for a moment; a run that was killed in it may have left it so. All others expect
# what Linux begins with.
uring=/sys/module/fuse/parameters/enable_uring
if [ -w "$uring" ]; then
	uring_before=$(cat "$uring")
	trap 'echo "$uring_before" >"$uring"' EXIT
	echo N >"$uring"
fi

# run_tests LOG OPTION...: leaves meson's log in build/meson-logs/LOG$suffix.json.
run_tests() {
	log=$1
	shift
	# One more at a time than there are processors, since cases also wait.
	# shellcheck disable=SC2086 # an option, or none
	meson test -C build $setup --print-errorlogs --timeout-multiplier 4 --num-processes $(($(nproc) + 1)) \
		--logbase "$log" "$@" </dev/null
}

# Meson's limits are meant for a machine that does nothing else. What fails on a machine that does
# something else at that moment is run a second time, alone, and named in any case.
first=build/meson-logs/testlog$suffix.json again=build/meson-logs/again$suffix.json
rm -f "$first" "$again"
run_tests testlog
meson_status=$?
failed=$(tests/outcome.py --failed "$first")
if [ -n "$failed" ]; then
	# shellcheck disable=SC2086 # a list of words
	run_tests again --no-rebuild --num-processes 1 $failed
fi
tests/outcome.py $meson_status $must_mount "$first" "$again"
