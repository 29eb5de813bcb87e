# SPDX-License-Identifier: MIT
# shellcheck shell=sh
#
# What the scripts here share; they run in the top of the source tree.  The same commit gives the same bytes, where the same
# packages of Debian are installed: all files have the date of debian/changelog, and no file says where it was made.
export LC_ALL=C TZ=UTC
umask 022
# shellcheck disable=SC2034 # for the others
version=$(sed -n "s/^\tversion: '\(.*\)',\$/\1/p" meson.build)
SOURCE_DATE_EPOCH=$(date -d "$(sed -n 's/^ -- .*>  //p' debian/changelog | head -n 1)" +%s)
export SOURCE_DATE_EPOCH

die() {
	echo "${0##*/}: $*" >&2
	exit 1
}

# empty_dir DIR: makes it, without what an earlier run has left there; prints its absolute path.
empty_dir() {
	rm -rf "$1"
	mkdir -p "$1"
	(cd "$1" && pwd)
}

# pack PARENT NAME FILE: the directory NAME in PARENT as a tarball, packed by xz.
pack() {
	tar -C "$1" --format=gnu --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner \
		--mode=go=rX,u+rw,a-s -c "$2" | xz -6 -T1 >"$3.part"
	mv "$3.part" "$3"
}
