#!/bin/sh
# SPDX-License-Identifier: MIT
#
# release.sh DIR VERSION: makes all that is published of VERSION in DIR, with SHA256SUMS, and the tag vVERSION.  `./setup release
# VERSION` gets what this needs.  HACKING.md, "Making a release", says what must be done before.
set -eu
cd "$(dirname "$0")/.."
. packaging/lib.sh

wanted=$2
[ "$version" = "$wanted" ] || die "meson.build says $version: set the version there, and where tests/packaging.py finds another one"
python3 tests/packaging.py || die "the files that name the version are not of one mind: see above"
[ -z "$(git status --porcelain)" ] || die "there are changes that are not committed: $(git status --porcelain | head -n 1)"
head -n 1 NEWS | grep -qx "ftrac $version ($(date -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%d))" ||
	die "the first line of NEWS is not 'ftrac $version (DATE)', with the date of debian/changelog: $(head -n 1 NEWS)"
tag=v$version
if git rev-parse -q --verify "refs/tags/$tag" >/dev/null; then
	[ "$(git rev-parse "$tag^{commit}")" = "$(git rev-parse HEAD)" ] || die "$tag is another commit: take the next version"
fi

out=$(empty_dir "$1")
for part in source package tarball; do
	packaging/$part.sh "$out/$part"
	for file in "$out/$part"/*.xz "$out/$part"/*.deb "$out/$part"/*.dsc; do
		[ ! -f "$file" ] || mv "$file" "$out/"
	done
done
rm -rf "$out/source" "$out/package" "$out/tarball"
(cd "$out" && sha256sum -- *.deb *.dsc *.xz >SHA256SUMS)
git rev-parse -q --verify "refs/tags/$tag" >/dev/null || git tag -a "$tag" -m "ftrac $version"
cat "$out/SHA256SUMS"
echo "release.sh: $(wc -l <"$out/SHA256SUMS") files in $1, and the tag $tag: publish both"
