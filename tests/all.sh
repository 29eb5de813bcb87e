#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Installs what is needed, builds, runs all tests and ends with the line
# "N passed, N failed, N skipped". Tests that need a FUSE mount (suite `fuse`) may be skipped where
# there is none to be had; for root with /dev/fuse, and in CI, a skipped one is a failure, lest a
# broken set-up looks like success.

set -u
export LC_ALL=C.UTF-8
cd "$(dirname "$0")/.." || exit 1

./setup tests || exit 1

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

# Meson's limits are meant for a machine that does nothing else.
rm -f build/meson-logs/testlog.json
meson test -C build --print-errorlogs --timeout-multiplier 4 </dev/null
meson_status=$?

python3 - $meson_status $must_mount <<'EOF'
import json
import sys

meson_status, must_mount = (int(arg) for arg in sys.argv[1:])
try:
    log = [json.loads(line) for line in open("build/meson-logs/testlog.json", encoding="utf-8")]
except OSError:
    log = []

# The log has no suites, and puts some of their names before the test's.
fuse = set()
for test in json.load(open("build/meson-info/intro-tests.json", encoding="utf-8")):
    if any(suite.split(":")[-1] == "fuse" for suite in test["suite"]):
        fuse.add(test["name"])

passed = failed = skipped = fuse_run = fuse_skipped = 0
for test in log:
    is_fuse = test["name"].split(" / ")[-1] in fuse
    if test["result"] == "SKIP":
        skipped += 1
        fuse_skipped += is_fuse
    else:
        fuse_run += is_fuse
        if test["result"] in ("OK", "EXPECTEDFAIL"):
            passed += 1
        else:
            failed += 1

errors = []
if not log:
    errors.append("no test ran")
if must_mount and fuse_skipped:
    errors.append(f"{fuse_skipped} tests of suite fuse were skipped, which must not be here")
if must_mount and not fuse_run + fuse_skipped:
    errors.append("no test of suite fuse ran")
if meson_status and not failed:
    errors.append(f"meson test ended with status {meson_status}")
for error in errors:
    print("all.sh:", error, file=sys.stderr)
print(f"{passed} passed, {failed} failed, {skipped} skipped", flush=True)
sys.exit(1 if failed or errors else 0)
EOF
