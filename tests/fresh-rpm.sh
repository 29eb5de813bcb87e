#!/bin/sh
# SPDX-License-Identifier: MIT
#
# tests/fresh-rpm.sh [SUITE...]
#
# Tries packaging/ftrac.spec where Debian's rpm is at hand (SUITE: bookworm, the default, or trixie): builds the RPM from the source
# tarball in a minimal Debian, with the compiler's options of Fedora; installs it by rpm into a system of its own, which has
# the libraries from Debian, runs debian/tests/make-a-program there, and removes it. Names of packages are those of Fedora, which
# rpm cannot look for here (--nodeps). Fails if a file or directory is left. Needs root, debootstrap, and what `./setup source` needs.

set -eu
top=$(cd "$(dirname "$0")/.." && pwd)

# What redhat-rpm-config gives the compiler, but for specs files, which come with it.
flags='-O2 -flto=auto -ffat-lto-objects -fexceptions -g -grecord-gcc-switches -pipe -Wall -Werror=format-security
	-Wp,-U_FORTIFY_SOURCE,-D_FORTIFY_SOURCE=3 -Wp,-D_GLIBCXX_ASSERTIONS -fstack-protector-strong -m64 -march=x86-64 -mtune=generic
	-fasynchronous-unwind-tables -fstack-clash-protection -fcf-protection -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer'

# install PACKAGE...
install() {
	DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$@" >/tmp/apt.log 2>&1 || {
		tail -n 3 /tmp/apt.log
		exit 1
	}
}

build() {
	apt-get update -q >/dev/null
	# shellcheck disable=SC2046 # a list
	install rpm xz-utils $(sed -n '/^build_packages="/,/"$/p; /^kernel_packages="/p' /root/ftrac/setup | sed 's/.*="//; s/"$//')
	rpmbuild --version
	rpmbuild -ba --nodeps --define "_sourcedir /root/shared" --define "optflags $(echo "$flags" | tr -s '\n\t' ' ')" \
		/root/ftrac/packaging/ftrac.spec >"$1/rpmbuild.log" 2>&1 || {
		tail -n 30 "$1/rpmbuild.log"
		exit 1
	}
	cp /root/rpmbuild/RPMS/*/ftrac-[0-9]*.rpm /root/rpmbuild/SRPMS/ftrac-*.src.rpm "$1"
	for package in "$1"/*.rpm; do
		echo "fresh-rpm.sh: ${package##*/}: $(rpm -qlp "$package" | wc -l) files, $(wc -c <"$package") bytes"
	done
	rpm -qRp "$1"/ftrac-[0-9]*x86_64.rpm | grep '^lib' | sed 's/(.*//' | sort -u >"$1/libraries"
}

list_files() {
	find / -xdev \( -path /root/shared -o -path /root/ftrac -o -path /tmp -o -path /var/lib/rpm -o -path /usr/lib/sysimage \) -prune -o \
		-printf '%y %p\n' | sort
}

try() {
	apt-get update -q >/dev/null
	install rpm make gcc libc6-dev sqlite3 adduser fuse3
	# By the names of the libraries: libsqlite3.so.0 is in libsqlite3-0, libcap.so.2 in libcap2.
	# shellcheck disable=SC2046 # a list
	install $(sed 's/\.so\.\([0-9]*\)$/ \1/' "$1/libraries" | while read -r name number; do
		for package in "$name-$number" "$name$number" "$name${number}t64" "$name-${number}t64"; do
			! apt-cache show "$(echo "$package" | tr '[:upper:]_' '[:lower:]-')" >/dev/null 2>&1 ||
				{ echo "$package" | tr '[:upper:]_' '[:lower:]-'; break; }
		done
	done)
	rpm --initdb
	# Fedora's packages filesystem and python3 have these.
	mkdir -p /usr/lib/python3/dist-packages /usr/share/fish/vendor_completions.d /usr/share/licenses /usr/share/zsh/site-functions
	list_files >/tmp/before
	rpm -i --nodeps --root / "$1"/ftrac-[0-9]*x86_64.rpm
	rpm -V --nodeps --root / ftrac
	[ "$(rpm -ql ftrac | wc -l)" -gt 20 ]
	/root/ftrac/debian/tests/make-a-program
	rpm -e --root / ftrac
	list_files >/tmp/after
	[ "$(wc -l </tmp/before)" -gt 1000 ]
	diff /tmp/before /tmp/after || { echo "fresh-rpm.sh: left behind, or missing: see above"; exit 1; }
	echo "fresh-rpm.sh: removed: $(wc -l </tmp/after) files and directories as before"
}

case ${1-} in
--build | --try)
	"${1#--}" "/root/shared/$2"
	exit
	;;
esac
[ $# -gt 0 ] || set -- bookworm
"$top/setup" source
FRESH_SHARED=$(mktemp -d)
export FRESH_SHARED
trap 'rm -rf "$FRESH_SHARED"' EXIT
chmod 755 "$FRESH_SHARED"
cp "$top"/build-source/ftrac-*.tar.xz "$FRESH_SHARED"
for suite; do
	mkdir -p "$FRESH_SHARED/$suite"
	for part in build try; do
		"$top/tests/fresh-debian.sh" "$suite" "/root/ftrac/tests/fresh-rpm.sh --$part $suite"
	done
done
echo "fresh-rpm.sh: $# systems tried: $*"
