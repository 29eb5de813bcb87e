#!/bin/sh
# SPDX-License-Identifier: MIT
#
# tests/fresh-debian.sh SUITE [COMMAND...]
#
# Tries the commands of the README as a newcomer would: in a minimal Debian (SUITE: bookworm or
# trixie, for what needs no build also bullseye) that has nothing installed, in a fresh clone of HEAD, without a terminal. Other COMMANDs
# may be given, one argument each. Prints the wall time of each and the size of the packages that it
# installed, and fails if one of them does.
#
# The bare system is kept as a tarball in $FRESH_CACHE (default /var/tmp/ftrac-fresh); remove it to
# have it made anew. Another system with apt may be put there as SUITE.tar.gz. The directory $FRESH_SHARED,
# if it is set, is /root/shared there. Needs root and debootstrap.

set -eu

die() {
	echo "fresh-debian.sh: $*" >&2
	exit 1
}

# Second part: inside a mount namespace of its own, with the new root as argument. All that gets
# mounted here, be it by the commands, goes with the namespace.
if [ "${1-}" = --inside ]; then
	root=$2
	shift 2
	# pivot_root wants a mount point. A chroot would leave the whole machine's mounts around,
	# and what reads /proc/self/mountinfo would see a system that no user has.
	mount --bind "$root" "$root"
	mount --rbind /dev "$root/dev"
	mount --rbind /sys "$root/sys"
	# Not a namespace of its own for pids: process events come in the initial one only.
	mount --bind /proc "$root/proc"
	mount -t tmpfs tmpfs "$root/run"
	if [ -n "${FRESH_SHARED-}" ]; then
		mkdir "$root/root/shared"
		mount --bind "$FRESH_SHARED" "$root/root/shared"
	fi
	cd "$root"
	mkdir -p old-root
	pivot_root . old-root
	umount -l /old-root
	rmdir /old-root
	cd /root/ftrac
	readlink /proc/self/ns/mnt >/root/namespace

	# shellcheck disable=SC2016 # dpkg-query and awk expand it
	installed() {
		dpkg-query -W -f '${Installed-Size}\n' | awk '{ sum += $1 } END { printf "%d\n", sum / 1024 }'
	}

	failed=0
	for command; do
		echo "fresh-debian.sh: --- $command"
		start=$(date +%s)
		before=$(installed)
		status=0
		sh -c "$command" </dev/null || status=$?
		took=$(($(date +%s) - start))
		echo "status $status, $took s, packages of $(($(installed) - before)) MB more: $command" >>/root/times
		[ $status -eq 0 ] || failed=1
	done
	exit $failed
fi

suite=${1-}
cache=${FRESH_CACHE:-/var/tmp/ftrac-fresh}
case $suite in
bullseye | bookworm | trixie) ;;
*)
	[ -f "$cache/$suite.tar.gz" ] || {
		echo "usage: tests/fresh-debian.sh bullseye|bookworm|trixie [COMMAND...]" >&2
		exit 2
	}
	;;
esac
shift
[ $# -gt 0 ] || set -- "./examples/montage/run.sh A" "./tests/all.sh"

[ "$(id -u)" -eq 0 ] || die "cannot make a Debian system: not root; run it with sudo"
command -v debootstrap >/dev/null || die "no debootstrap; run: apt-get install debootstrap"

top=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$cache"
root=$(mktemp -d "$cache/root.XXXXXX")
remove_root() {
	rm -rf --one-file-system "$root"
}
trap remove_root EXIT
trap 'exit 1' HUP INT TERM
chmod 755 "$root"

tarball=$cache/$suite.tar.gz
if [ ! -f "$tarball" ]; then
	# shellcheck disable=SC2016 # apt expands it
	archive=$(apt-get indextargets --format '$(REPO_URI)' \
		'Identifier: Packages' 'Origin: Debian' 'Label: Debian' | sort -u | head -n 1)
	[ -n "$archive" ] || die "apt knows no archive of Debian; run: apt-get update"
	echo "fresh-debian.sh: --- debootstrap $suite"
	debootstrap --variant=minbase "$suite" "$root" "$archive" >"$cache/$suite.log" 2>&1 ||
		die "cannot make a Debian $suite: $(tail -n 1 "$cache/$suite.log"); see $cache/$suite.log"
	# The devices come from the machine, by a bind mount.
	tar -C "$root" --one-file-system --exclude='./dev/*' --exclude='./var/cache/apt/archives/*.deb' \
		-czf "$tarball.part" .
	mv "$tarball.part" "$tarball"
	remove_root
	mkdir "$root"
fi
tar -C "$root" -xzf "$tarball"

# The network as it is configured on this machine: names, apt's proxies, whether its mirror may
# stand still, and which other authorities npm trusts.
cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
apt-config dump | grep -E '^Acquire::(https?::|Check-)' >"$root/etc/apt/apt.conf.d/90proxy" || true
[ -z "${NODE_EXTRA_CA_CERTS-}" ] || cp -L "$NODE_EXTRA_CA_CERTS" "$root/root/trusted.pem"
git clone -q --no-hardlinks "$top" "$root/root/ftrac" || die "cannot clone '$top'"

status=0
unshare --mount --propagation private env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
	CI=true ${FRESH_SHARED:+FRESH_SHARED="$FRESH_SHARED"} ${http_proxy+http_proxy="$http_proxy"} ${https_proxy+https_proxy="$https_proxy"} \
	${NODE_EXTRA_CA_CERTS:+NODE_EXTRA_CA_CERTS=/root/trusted.pem} \
	sh "$(readlink -f "$0")" --inside "$root" "$@" || status=1

# Processes that outlive the commands are a fault of ours, and would hold the root.
if [ -f "$root/root/namespace" ]; then
	namespace=$(cat "$root/root/namespace")
	for proc in /proc/[0-9]*; do
		[ "$(readlink "$proc/ns/mnt")" = "$namespace" ] || continue
		echo "fresh-debian.sh: left behind: $(tr '\0' ' ' <"$proc/cmdline")" >&2
		kill -KILL "${proc#/proc/}" || true
		status=1
	done
fi

echo "fresh-debian.sh: --- $suite"
cat "$root/root/times" 2>/dev/null || status=1
exit $status
