#!/bin/sh
# SPDX-License-Identifier: MIT
#
# tarball.sh DIR: makes DIR/ftrac-VERSION-linux-ARCH.tar.xz: one directory with all programs, linked statically, that needs
# no library of the system it runs on.  `./setup tarball` gets what this needs.
#
# Why static programs, with glibc: they can be copied one by one, and have capabilities of files (setcap), which a loader in the
# directory would prevent.  What in glibc loads other libraries when it runs is not used: users are looked up in
# /etc/passwd (base/cli.c), libxml2 is made without iconv and ICU, pictures are drawn by the system's dot and gnuplot.  The object
# that --layer preloads fits any glibc (preload/meson.build).
set -eu
cd "$(dirname "$0")/.."
. packaging/lib.sh

top=$PWD
# The second part has a process of its own, so that its first error ends it.
if [ "$1" = --build ]; then
	out=$2
else
	out=$(empty_dir "$1")
fi
arch=$(uname -m)
name=ftrac-$version-linux-$arch
log=$out/build.log
deps=$out/deps
# Debian's packages of what is linked, whose licences go into the tarball.
linked="libbpf-dev libc6-dev libcap-dev libck-dev libelf-dev libgraphviz-dev libjansson-dev libncurses-dev liburing-dev libnl-3-dev libnl-genl-3-dev
	libnuma-dev libsmartcols-dev libsqlite3-dev libxml2-dev libyaml-dev nettle-dev uthash-dev zlib1g-dev"
prefix_map="-ffile-prefix-map=$out=."

# value WRAP KEY
value() {
	sed -n "s/^$2 *= *//p" "$top/subprojects/$1.wrap"
}

# unpack WRAP [FILE...]: its source, or these files of it; prints where it is.
unpack() {
	wrap=$1
	shift
	directory=$(value "$wrap" directory)
	tar -C "$out/work" -xf "$top/subprojects/packagecache/$(value "$wrap" source_filename)" --no-same-owner \
		"${@:-$directory}"
	echo "$out/work/$directory"
}

# configured WRAP OPTION...: builds and installs a library by its configure.
configured() {
	source=$(unpack "$1")
	shift
	cd "$source"
	./configure --prefix="$deps" --libdir="$deps/lib" --disable-shared --enable-static --disable-dependency-tracking "$@" \
		CFLAGS="-O2 $prefix_map"
}

make_smartcols() {
	(
		configured util-linux --disable-all-programs --disable-nls --disable-asciidoc --without-ncurses \
			--without-ncursesw --without-tinfo --enable-libsmartcols
		make -j "$(nproc)" install
	)
}

make_xml2() {
	(
		configured libxml2 --without-icu --without-iconv --without-python --without-zlib --without-lzma --without-http \
			--without-ftp --without-modules --without-debug
		make -j "$(nproc)" libxml2.la
		make install-libLTLIBRARIES install-pkgconfigDATA
		make -C include install
	)
}

# Of cgraph what writes graphs: the parser of its language, which flex and bison make, is not used, which the
# linker finds by the sections; and some files are tests.
make_cgraph() {
	version_of=$(value graphviz directory)
	(
		cd "$(unpack graphviz "$version_of/lib/cdt" "$version_of/lib/cgraph")/lib"
		mkdir -p "$deps/include/graphviz"
		cp cdt/cdt.h cgraph/cgraph.h "$deps/include/graphviz"
		printf '#define HAVE_UNISTD_H 1\n#define HAVE_STRCASECMP 1\n#define PACKAGE_VERSION "%s"\n' "${version_of#*-}" >config.h
		for file in cdt/dt*.c cgraph/*.c; do
			case $file in cgraph/cmpnd.c | cgraph/main*.c | cgraph/tester.c) continue ;; esac
			cc -O2 -ffunction-sections "$prefix_map" -D_GNU_SOURCE -I. -Icdt -Icgraph -c "$file" -o "${file%.c}.o"
		done
		ar rcsD "$deps/lib/libcgraph.a" cdt/*.o cgraph/*.o
	)
	cat >"$deps/lib/pkgconfig/libcgraph.pc" <<-END
		Name: libcgraph
		Description: graphs
		Version: ${version_of#*-}
		Libs: -L$deps/lib -lcgraph
		Cflags: -I$deps/include -I$deps/include/graphviz
	END
}

make_programs() {
	packaging/source.sh --tree "$out/work/ftrac"
	(
		cd "$out/work/ftrac"
		export CFLAGS="-O2 -ffile-prefix-map=$out/work/ftrac=."
		export PKG_CONFIG_PATH="$deps/lib/pkgconfig"
		meson setup build --prefix=/ --libdir=lib --buildtype=plain --prefer-static --wrap-mode=nodownload -Db_pie=false \
			-Dstatic=true -Dreport=enabled -Dman=enabled -Dpython=disabled -Dtests=disabled
		ninja -C build
		DESTDIR=$out/work/root meson install -C build --no-rebuild --skip-subprojects --strip
	)
}

# Lays out the directory: programs, the preloaded object, manuals and completions as they are installed.
lay_out() {
	mkdir -p "$out/$name/lib"
	cp -R "$out/work/root/bin" "$out/work/root/share" "$out/$name/"
	cp -R "$out/work/root/lib/ftrac" "$out/$name/lib/"
	cp "$out/work/ftrac/LICENSE" "$out/work/ftrac/NEWS" "$out/work/ftrac/README.md" "$out/$name/"
	cp packaging/README.tarball "$out/$name/README"
	cp debian/copyright "$out/$name/COPYRIGHT"
	mkdir "$out/$name/licences"
	for package in $linked; do
		cp -L "/usr/share/doc/$package/copyright" "$out/$name/licences/${package%-dev}"
	done
	cp -L /usr/share/common-licenses/LGPL-2.1 /usr/share/common-licenses/LGPL-3 /usr/share/common-licenses/GPL-3 "$out/$name/licences/"
	for program in "$out/$name"/bin/*; do
		! readelf -d "$program" | grep NEEDED || die "${program##*/} needs a library"
	done
	! readelf -V "$out/$name/lib/ftrac/ftrac-preload.so" | grep GLIBC || die "the preloaded object names versions of glibc"
}

if [ "$1" = --build ]; then
	mkdir -p "$out/work" "$deps/lib/pkgconfig"
	make_smartcols
	make_xml2
	make_cgraph
	make_programs
	exit
fi
packaging/tarball.sh --build "$out" >"$log" 2>&1 </dev/null ||
	die "cannot build: $(grep -iE 'error|cannot' "$log" | tail -n 1); see $1/build.log"
lay_out
pack "$out" "$name" "$out/$name.tar.xz"
rm -rf "$deps" "$out/work" "${out:?}/$name"
echo "tarball.sh: $1/$name.tar.xz"
