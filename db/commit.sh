#!/bin/sh
# SPDX-License-Identifier: MIT
#
# commit.sh: the commit of this source tree: as commit.txt says, where `git archive` has written it, or as git says,
# with "-dirty" if files have changed since.  Prints an empty line where neither knows it.
cd "$(dirname "$0")/.." || exit 1
commit=$(cat commit.txt 2>/dev/null)
case $commit in
[0-9a-f]*) echo "$commit" ;;
*)
	# Not the repository of a directory above this one.
	[ ! -e .git ] || commit=$(GIT_OPTIONAL_LOCKS=0 git describe --always --dirty --abbrev=40 --exclude='*' 2>/dev/null) ||
		commit=
	[ -e .git ] || commit=
	echo "$commit"
	;;
esac
