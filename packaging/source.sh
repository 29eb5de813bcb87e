#!/bin/sh
# SPDX-License-Identifier: MIT
#
# source.sh DIR: makes DIR/ftrac-VERSION.tar.xz: what git has of HEAD, its commit, the page of wfreport and the tarball of libfuse,
# so that it builds without network, Node.js and git.
# source.sh --tree DIR: makes that source tree as the directory DIR.  In such a tree, which has no .git, it makes a copy.
#
# `./setup source` gets what this needs.
set -eu
cd "$(dirname "$0")/.."
. packaging/lib.sh

# make_tree DIR
make_tree() {
	mkdir "$1"
	if [ ! -e .git ]; then
		tar -c --exclude='./build*' --exclude=./debian/ftrac --exclude='./debian/.*' --exclude='./obj-*' \
			--exclude='./subprojects/fuse-*' . | tar -C "$1" -x
		return
	fi
	git archive HEAD | tar -C "$1" -x
	mkdir -p "$1/subprojects/packagecache"
	cp "subprojects/packagecache/$(sed -n 's/^source_filename *= *//p' subprojects/fuse3.wrap)" "$1/subprojects/packagecache/"
	ln -s "$PWD/report/node_modules" "$1/report/node_modules"
	(cd "$1/report" && node build.mjs page.frame)
	rm "$1/report/node_modules"
}

if [ "$1" = --tree ]; then
	make_tree "$2"
	exit
fi
out=$(empty_dir "$1")
make_tree "$out/ftrac-$version"
pack "$out" "ftrac-$version" "$out/ftrac-$version.tar.xz"
rm -rf "$out/ftrac-$version"
echo "source.sh: $1/ftrac-$version.tar.xz"
