#!/bin/sh
# SPDX-License-Identifier: MIT
#
# tests/fresh-package.sh [SUITE...]
#
# Tries Debian's packages (SUITE: bookworm, trixie; default: both). In a minimal Debian that has nothing installed it builds
# them from the source tarball, with the archive alone, and has lintian read them. In another one it installs the package
# and traces a build, runs the tests of debian/tests as root and as a user, installs the package once more, and purges it. It
# compares the files before and after. Prints the seconds from the start of the installation to the first summary, and
# fails if these are more than 60, or something is left. Needs root, debootstrap, and what `./setup source` needs.

set -eu
top=$(cd "$(dirname "$0")/.." && pwd)

die() {
	echo "fresh-package.sh: $*" >&2
	exit 1
}

# In the first system.
build() {
	apt-get update -q >/dev/null
	apt-get install -y -q --no-install-recommends xz-utils >/dev/null 2>&1
	mkdir /root/build
	cd /root/build
	tar -xf /root/shared/ftrac-*.tar.xz
	cd ftrac-*
	./setup package
	rm -f /root/shared/"$1"/*
	cp build-package/* "/root/shared/$1/"
	apt-get install -y -q --no-install-recommends lintian >/dev/null 2>&1
	lintian --version
	# No error, and nothing that is overridden without a comment; all that lintian says is shown.
	lintian --allow-root --info --display-info --pedantic --fail-on error build-package/*.changes >"/root/shared/$1/lintian.txt" 2>&1 || {
		cat "/root/shared/$1/lintian.txt"
		exit 1
	}
	grep -E '^[EWIPX]:' "/root/shared/$1/lintian.txt" || true
}

# All files but those that apt, dpkg and ldconfig keep for themselves.
list_files() {
	find / -xdev \( -path /root/shared -o -path /root/ftrac -o -path /tmp -o -path /var/cache -o -path /var/log \
		-o -path '/var/lib/apt' -o -path /var/lib/dpkg \) -prune -o -printf '%y %p\n' | sort
	dpkg-query -W -f '${Package} ${db:Status-Abbrev}\n'
}

# In the second one, where a compiler is what a user of make has already.
try() {
	export DEBIAN_FRONTEND=noninteractive
	apt-get update -q >/dev/null
	# fuse3 depends on adduser, which apt keeps, as each larger Debian has it.
	apt-get install -y -q --no-install-recommends adduser make gcc libc6-dev sqlite3 >/dev/null 2>&1
	useradd -m -s /bin/sh visitor
	list_files >/root/shared/before
	cd /root/shared/"$1"
	package=$(ls ./ftrac_*_*.deb)

	mkdir /tmp/first
	printf 'hello: hello.c\n\tcc -o $@ $<\n' >/tmp/first/Makefile
	echo 'int main(void) { return 0; }' >/tmp/first/hello.c
	begin=$(date +%s)
	apt-get install -y -q "$package" >/tmp/install.log 2>&1 || die "cannot install: $(tail -n 3 /tmp/install.log)"
	(cd /tmp/first && ftrac run -- make)
	took=$(($(date +%s) - begin))
	echo "fresh-package.sh: first summary after $took s"
	[ "$took" -le 60 ] || die "that is more than 60 s"

	run_tests
	apt-get install -y -q --reinstall "$package" >/dev/null 2>&1 || die "cannot install it once more"
	ftrac --version
	rm -rf /tmp/first
	apt-get purge -y -q ftrac >/dev/null 2>&1 || die "cannot purge it"
	apt-get autoremove --purge -y -q >/dev/null 2>&1 || die "cannot remove what it depended on"
	list_files >/root/shared/after
	[ "$(wc -l </root/shared/before)" -gt 1000 ] || die "too few files to compare"
	diff /root/shared/before /root/shared/after || die "left behind, or missing: see above"
	echo "fresh-package.sh: purged: $(wc -l </root/shared/after) files and packages as before"
}

# As autopkgtest does it; it is not in each system.
run_tests() {
	test=/root/ftrac/debian/tests/make-a-program
	cp "$test" /tmp/make-a-program
	chmod 755 /tmp/make-a-program
	/tmp/make-a-program
	# The machine's device stays as it is: this mount namespace gets one of its own.
	mknod /tmp/fuse c 10 229
	chmod 666 /tmp/fuse
	mount --bind /tmp/fuse /dev/fuse
	su visitor -c /tmp/make-a-program
	umount /dev/fuse
	rm /tmp/fuse /tmp/make-a-program
}

case ${1-} in
--build | --try)
	"${1#--}" "$2"
	exit
	;;
esac
[ $# -gt 0 ] || set -- bookworm trixie
"$top/setup" source
FRESH_SHARED=$(mktemp -d)
export FRESH_SHARED
trap 'rm -rf "$FRESH_SHARED"' EXIT
chmod 755 "$FRESH_SHARED"
cp "$top"/build-source/ftrac-*.tar.xz "$FRESH_SHARED"
for suite; do
	mkdir -p "$FRESH_SHARED/$suite"
	"$top/tests/fresh-debian.sh" "$suite" "/root/ftrac/tests/fresh-package.sh --build $suite"
	"$top/tests/fresh-debian.sh" "$suite" "/root/ftrac/tests/fresh-package.sh --try $suite"
done
echo "fresh-package.sh: $# systems tried: $*"
