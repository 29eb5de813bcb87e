#!/bin/sh
# SPDX-License-Identifier: MIT
#
# tests/fresh-package.sh [SUITE...]
#
# Tries Debian's packages (SUITE: bookworm, trixie; default: both), each part in a minimal Debian that has nothing installed:
#
#   build        the packages from the source tarball, with the archive alone, and those of an older commit: the last release, or
#                the first commit that had packages; lintian reads the new ones
#   try          installs ftrac, traces a build, purges it; installs the older packages, upgrades them while a command is traced,
#                traces another one, purges them
#   autopkgtest  runs debian/tests as root and as a user
#
# Prints the seconds from the start of the installation to the first summary, and fails if these are more than 60. It compares
# packages and files, with modes, owners and contents, before and after, and fails if something is left, missing or changed.
# Needs root, debootstrap, and what `./setup source` needs.

set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
export DEBIAN_FRONTEND=noninteractive

die() {
	echo "fresh-package.sh: $*" >&2
	exit 1
}

# install PACKAGE...
install() {
	apt-get install -y -q --no-install-recommends "$@" >/tmp/apt.log 2>&1 || die "cannot install $*: $(tail -n 3 /tmp/apt.log)"
}

# make_packages DIRECTORY: of the source tarball there.
make_packages() {
	mkdir /root/build
	tar -C /root/build -xf "$1"/ftrac-*.tar.xz
	(cd /root/build/ftrac-* && ./setup package)
	cp /root/build/ftrac-*/build-package/* "$1"
	rm -rf /root/build
}

build() {
	apt-get update -q >/dev/null
	install xz-utils
	make_packages "$1"
	# Quicker, for what is only to be replaced.
	DEB_BUILD_OPTIONS='noopt noautodbgsym' make_packages "$1/older"
	install lintian
	lintian --version
	# No error, and nothing that is overridden without a comment; all that lintian says is shown.
	lintian --allow-root --info --display-info --pedantic --fail-on error "$1"/*.changes >"$1/lintian.txt" 2>&1 || {
		cat "$1/lintian.txt"
		exit 1
	}
	grep -E '^[EWIPXO]:' "$1/lintian.txt" || true
}

# All packages and files but those that apt and dpkg keep for themselves, and the cache of ldconfig.
list_files() {
	find / -xdev \( -path /root/shared -o -path /root/ftrac -o -path /tmp -o -path /var/cache -o -path /var/log \
		-o -path /var/lib/apt -o -path /var/lib/dpkg \) -prune -o -printf '%y %m %u %g %p %l\n' | sort
	find /bin /etc /home /lib /opt /sbin /usr /var/lib/systemd /var/spool -xdev -type f ! -name ld.so.cache -exec sha256sum {} + | sort
	dpkg-query -W -f '${Package} ${Version} ${db:Status-Abbrev}\n'
}

# purged FILE: is all as it was when the list in FILE was made?
purged() {
	apt-get purge -y -q ftrac python3-ftrac >/dev/null 2>&1 || die "cannot purge it"
	apt-get autoremove --purge -y -q >/dev/null 2>&1 || die "cannot remove what it depended on"
	list_files >/tmp/after
	[ "$(wc -l <"$1")" -gt 1000 ] || die "too few files to compare"
	diff "$1" /tmp/after || die "left behind, missing or changed: see above"
	echo "fresh-package.sh: purged: $(wc -l </tmp/after) lines on files and packages as before"
}

# The build of a program; what is traced.
make_first() {
	rm -rf /tmp/first
	mkdir /tmp/first
	printf 'hello: hello.c\n\tcc -o $@ $<\n' >/tmp/first/Makefile
	echo 'int main(void) { return 0; }' >/tmp/first/hello.c
}

# In a system where a compiler is what a user of make has already.
try() {
	apt-get update -q >/dev/null
	# fuse3 depends on adduser, which apt keeps, as each larger Debian has it; Python is there in most.
	install adduser make gcc libc6-dev sqlite3 python3
	list_files >/tmp/before
	first_summary "$1"
	purged /tmp/before
	upgrade "$1"
	purged /tmp/before
}

first_summary() {
	make_first
	begin=$(date +%s)
	apt-get install -y -q "$1"/ftrac_*_*.deb >/tmp/install.log 2>&1 || die "cannot install: $(tail -n 3 /tmp/install.log)"
	(cd /tmp/first && ftrac run -- make)
	took=$(($(date +%s) - begin))
	echo "fresh-package.sh: first summary after $took s"
	[ "$took" -le 60 ] || die "that is more than 60 s"
}

upgrade() {
	install "$1"/older/ftrac_*_*.deb "$1"/older/python3-ftrac_*.deb
	older=$(dpkg-query -W -f '${Version}' ftrac)
	make_first
	# It says that it runs, and waits for the upgrade.
	(cd /tmp/first && ftrac run --db running.db -- sh -c 'echo 1 >begun; while [ ! -e go ]; do sleep 0.1; done; make' 2>running) &
	running=$!
	while [ ! -e /tmp/first/begun ]; do sleep 0.1; done
	install "$1"/ftrac_*_*.deb "$1"/python3-ftrac_*.deb
	newer=$(dpkg-query -W -f '${Version}' ftrac)
	dpkg --compare-versions "$older" lt "$newer" || die "no upgrade: $older, $newer"
	: >/tmp/first/go
	wait "$running" || die "the command that was traced during the upgrade failed: $(cat /tmp/first/running)"
	grep '^ftrac: lost: 0 operations, 0 process events' /tmp/first/running
	make_first
	(cd /tmp/first && ftrac run -- make 2>summary && wfstat io >/dev/null && python3 -c 'import ftrac; print(sum(1 for row in ftrac.open("trace.db").rows("op")), "rows by Python")')
	grep '^ftrac: make: exit status 0' /tmp/first/summary
	ftrac --version | head -n 1
	echo "fresh-package.sh: upgraded from $older to $newer"
}

autopkgtest_it() {
	apt-get update -q >/dev/null
	install autopkgtest dpkg-dev
	useradd -m -s /bin/sh visitor
	# The machine's device stays as it is: this mount namespace gets one of its own, for the user.
	mknod /tmp/fuse c 10 229
	chmod 666 /tmp/fuse
	mount --bind /tmp/fuse /dev/fuse
	mkdir /tmp/source
	tar -C /tmp/source -xf "$1"/ftrac_*.tar.xz --strip-components 1
	chmod -R a+rX /tmp/source
	status=0
	autopkgtest "$1"/ftrac_*_*.deb "$1"/python3-ftrac_*.deb /tmp/source/ --user visitor --summary-file /tmp/summary \
		-- null >/tmp/autopkgtest.log 2>&1 || status=$?
	grep -E '^(make-a-program|read-by-python): ' /tmp/autopkgtest.log || true
	[ $status -eq 0 ] || tail -n 40 /tmp/autopkgtest.log
	cat /tmp/summary
	[ $status -eq 0 ] || die "autopkgtest ended with $status, where 2 says that a test was skipped"
	[ "$(grep -c ' PASS' /tmp/summary)" -eq "$(grep -c '^Test-Command' /tmp/source/debian/tests/control)" ] || die "not all tests ran"
}

# The source tarball of an older commit, with a version that sorts before ours.
make_older() {
	commit=$(git -C "$top" describe --tags --abbrev=0 HEAD^ 2>/dev/null) ||
		commit=$(git -C "$top" log --diff-filter=A --format=%H -- debian/control | tail -n 1)
	git clone -q "$top" "$1/clone"
	(
		cd "$1/clone"
		git checkout -q "$commit"
		sed -i '1s/)/~~older)/' debian/changelog
		git -c user.name=x -c user.email=x@example.org commit -qam 'an older version'
		mkdir -p subprojects/packagecache
		cp "$top"/subprojects/packagecache/fuse-* subprojects/packagecache/
		./setup source
		mkdir "$1/older"
		mv build-source/ftrac-*.tar.xz "$1/older/"
	)
	rm -rf "$1/clone"
	echo "fresh-package.sh: the older version is commit $commit"
}

case ${1-} in
--build) build "/root/shared/$2" ;;
--try) try "/root/shared/$2" ;;
--autopkgtest) autopkgtest_it "/root/shared/$2" ;;
esac
case ${1-} in --*) exit ;; esac
[ $# -gt 0 ] || set -- bookworm trixie
"$top/setup" source
FRESH_SHARED=$(mktemp -d)
export FRESH_SHARED
trap 'rm -rf "$FRESH_SHARED"' EXIT
chmod 755 "$FRESH_SHARED"
make_older "$FRESH_SHARED"
for suite; do
	mkdir -p "$FRESH_SHARED/$suite/older"
	cp "$top"/build-source/ftrac-*.tar.xz "$FRESH_SHARED/$suite"
	cp "$FRESH_SHARED"/older/ftrac-*.tar.xz "$FRESH_SHARED/$suite/older"
	for part in build try autopkgtest; do
		"$top/tests/fresh-debian.sh" "$suite" "/root/ftrac/tests/fresh-package.sh --$part $suite"
	done
done
echo "fresh-package.sh: $# systems tried: $*"
