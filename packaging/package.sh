#!/bin/sh
# SPDX-License-Identifier: MIT
#
# package.sh DIR: makes Debian's packages of HEAD in DIR, source and binary.  `./setup package` gets what this needs.
set -eu
cd "$(dirname "$0")/.."
. packaging/lib.sh

out=$(empty_dir "$1")
packaging/source.sh --tree "$out/ftrac-$version"
(cd "$out/ftrac-$version" && dpkg-buildpackage -us -uc >../build.log 2>&1 </dev/null) ||
	die "dpkg-buildpackage failed: $(grep -E 'error|Unmet|rror:' "$out/build.log" | head -n 1); see $1/build.log"
rm -rf "$out/ftrac-$version"
for package in "$out"/*.deb; do
	echo "package.sh: $1/${package##*/}"
done
