#!/bin/sh
# SPDX-License-Identifier: MIT
#
# tests/fresh-tarball.sh [SUITE...]
#
# Tries the static tarball in minimal systems (default: bullseye, bookworm and trixie), as root and as a user with
# user namespaces but without fusermount3: debian/tests/make-a-program, also with --layer lib, and pictures. Needs root, debootstrap, and what `./setup
# tarball` needs, which it calls unless build-tarball/ has one.

set -eu
top=$(cd "$(dirname "$0")/.." && pwd)

try() {
	export DEBIAN_FRONTEND=noninteractive
	apt-get update -q >/dev/null
	apt-get install -y -q --no-install-recommends make gcc libc6-dev sqlite3 xz-utils >/dev/null 2>&1
	useradd -m -s /bin/sh visitor
	tar -C /opt -xf /root/shared/ftrac-*-linux-*.tar.xz
	cp /root/ftrac/debian/tests/make-a-program /opt
	cat >/opt/all <<-'END'
		set -e
		PATH=$(echo /opt/ftrac-*/bin):$PATH
		export PATH
		ftrac --version
		/opt/make-a-program
		cd "$(mktemp -d)"
		ftrac run -- sh -c 'echo one >a; cat a >b; cat b >c' 2>summary
		grep '^ftrac: sh -c .* exit status 0' summary
		! command -v dot >/dev/null || { wfdag --svg -o graph.svg && grep -c '<svg' graph.svg; }
	END
	for binary in /opt/ftrac-*/bin/*; do
		! ldd "$binary" >/dev/null 2>&1 || { echo "fresh-tarball.sh: $binary has libraries"; exit 1; }
	done
	sh /opt/all
	# The machine's device stays as it is: this mount namespace gets one of its own.
	mknod /opt/fuse c 10 229
	chmod 666 /opt/fuse
	mount --bind /opt/fuse /dev/fuse
	su visitor -c 'sh /opt/all'
	apt-get install -y -q --no-install-recommends graphviz >/dev/null 2>&1
	sh /opt/all
}

if [ "${1-}" = --try ]; then
	try
	exit
fi
[ $# -gt 0 ] || set -- bullseye bookworm trixie
[ -f "$(echo "$top"/build-tarball/ftrac-*.tar.xz)" ] || "$top/setup" tarball
FRESH_SHARED=$top/build-tarball
export FRESH_SHARED
for suite; do
	"$top/tests/fresh-debian.sh" "$suite" "/root/ftrac/tests/fresh-tarball.sh --try"
done
echo "fresh-tarball.sh: $# systems tried: $*"
