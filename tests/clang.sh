#!/bin/sh
# SPDX-License-Identifier: MIT
#
# clang.sh LIBFUSE: compiles all with clang into build-clang/, where a warning is an error, and runs the unit
# tests there. What is there already is not compiled again. Exits with 77 where there is no clang.

set -eu
export LC_ALL=C.UTF-8
cd "$(dirname "$0")/.."

command -v clang >/dev/null || { echo "skipped: no clang here"; exit 77; }
[ -f build-clang/build.ninja ] ||
	CC=clang meson setup build-clang -Dwerror=true -Dman=disabled "-Dlibfuse=$1" </dev/null
meson compile -C build-clang </dev/null
meson test -C build-clang --no-rebuild --suite unit --print-errorlogs --timeout-multiplier 4 </dev/null
n=$(grep -c '"result": "OK"' build-clang/meson-logs/testlog.json || true)
echo "clang.sh: $(clang --version | head -n 1): $n programs of unit tests passed"
[ "$n" -gt 0 ]
