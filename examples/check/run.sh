#!/bin/sh
# SPDX-License-Identifier: MIT
#
# run.sh [PACKAGE...]
#
# Builds Debian's source packages (default: bzip2 figlet lua5.4, of bookworm) with 'make -j8' under
# 'ftrac run --make' and has wfdag check say what their Makefiles do not, in check/PACKAGE below the
# current directory. Needs the network, and apt; the machine's own lists of packages are left alone.

set -eu
export LC_ALL=C.UTF-8

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
ftrac=${FTRAC:-$top/build/ftrac/ftrac}
wfdag=${WFDAG:-$top/build/dag/wfdag}
work=$PWD/check
[ $# -gt 0 ] || set -- bzip2 figlet lua5.4

die() {
	echo "run.sh: $*" >&2
	exit 1
}

[ -x "$ftrac" ] && [ -x "$wfdag" ] || "$top/setup" || die "cannot build ftrac"
command -v apt-get >/dev/null || die "no apt-get here: unpack a project and do as the README says"

private_apt() {
	tool=$1
	shift
	"$tool" -q -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$work/apt/sources" \
		-o Dir::State::Lists="$work/apt/lists" -o Dir::Cache="$work/apt/cache" "$@" </dev/null
}

get_lists() {
	mkdir -p "$work/apt/sources" "$work/apt/lists" "$work/apt/cache"
	{
		echo "Types: deb-src"
		echo "URIs: http://deb.debian.org/debian"
		echo "Suites: bookworm"
		echo "Components: main"
		for keyring in /usr/share/keyrings/debian-archive-keyring.*; do
			[ ! -f "$keyring" ] || { echo "Signed-By: $keyring" && break; }
		done
	} >"$work/apt/sources/debian.sources"
	private_apt apt-get update >"$work/apt/log" 2>&1 || die "no lists of packages: see $work/apt/log"
}

# What upstream wrote, without Debian's changes.
get_source() {
	mkdir -p "$work/$1/get"
	(cd "$work/$1/get" && private_apt apt-get source --download-only --only-source "$1") \
		>"$work/$1/log" 2>&1 || die "cannot get $1: see $work/$1/log"
	rm -rf "$work/$1/source"
	mkdir "$work/$1/source"
	for tarball in "$work/$1/get"/*.orig.tar.*; do
		tar xf "$tarball" --strip-components=1 -C "$work/$1/source"
	done
}

check() {
	case $1 in
	lua*) goal=linux ;;
	*) goal= ;;
	esac
	cd "$work/$1/source"
	# shellcheck disable=SC2086 # no goal is no word
	"$ftrac" run --make -q --force --db "$work/$1/trace.db" -- make -j8 $goal >>"$work/$1/log" 2>&1 ||
		die "$1 cannot be built: see $work/$1/log"
	echo "== $1"
	"$wfdag" check "$work/$1/trace.db" || [ $? -eq 1 ]
	echo
}

mkdir -p "$work"
get_lists
for package; do
	get_source "$package"
	(check "$package") || exit 1
done
