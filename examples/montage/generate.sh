#!/bin/sh
# SPDX-License-Identifier: MIT
#
# generate.sh SIZE DIRECTORY
#
# Makes a synthetic sky and plans the workflow that joins it to a mosaic. SIZE is A, B or C, see
# README.md. DIRECTORY gets the input of the workflow. The result does not depend on random numbers or
# on the time: the same size gives the same bytes.
#
#   raw/NAME.fits          the tiles, named ROW-COLUMN
#   raw.lst, proj.lst,     the tiles as they are, projected and corrected, in the order in which
#   corr.lst               the tables of images are to have them
#   region.hdr             the geometry of the mosaic; everything is projected to it
#   part-N.hdr, small.hdr  its quarters, and the whole after shrinking (sizes B and C)
#   parts.lst              the names of the shrunken quarters
#   overlaps.tbl           the pairs of tiles that overlap
#   statfiles.tbl          the fit of each pair, as mConcatFit wants to be told
#   workflow.mk            tiles, pairs and parts for Makefile, which is copied to here, too

set -eu
export LC_ALL=C

here=$(cd "$(dirname "$0")" && pwd)
size=${1-}
dir=${2-}

# Bricks: odd rows are shifted by half a tile, so that a tile has six neighbours, not eight.
case $#:$size in
2:A) columns=7 rows=4 pixels=256 parts=1 ;;
2:B) columns=16 rows=20 pixels=48 parts=4 ;;
2:C) columns=10 rows=10 pixels=520 parts=4 ;;
*)
	echo "usage: generate.sh A|B|C DIRECTORY" >&2
	exit 2
	;;
esac

die() {
	echo "generate.sh: $*" >&2
	exit 1
}

# montage PROGRAM ARGUMENT...: its one line of output, good or bad, is shown only when it is bad.
montage() {
	"$@" >"$tmp/out" || die "$(cat "$tmp/out")"
}

# Written last, so what has it is whole.
if [ -f "$dir/workflow.mk" ]; then
	grep -qx "SIZE = $size" "$dir/workflow.mk" || die "'$dir' holds another size"
	cmp -s "$here/Makefile" "$dir/Makefile" || cp "$here/Makefile" "$dir/"
	exit 0
fi

mkdir -p "$dir" "$dir/raw" "$dir/proj" "$dir/diff" "$dir/fits" "$dir/corr" "$dir/parts"
dir=$(cd "$dir" && pwd)
tmp=$dir/tmp
mkdir -p "$tmp"
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM

# One pixel is one arc second. The field lies on the equator and is small, so positions on the sky
# are pixels times the scale.
awk -v columns="$columns" -v rows="$rows" -v pixels="$pixels" -v parts="$parts" \
	-v dir="$dir" -v tmp="$tmp" '
	function header(file, bitpix, width, height, ra, dec, scale, x, y, angle) {
		printf "SIMPLE  = T\nBITPIX  = %d\nNAXIS   = 2\n", bitpix >file
		printf "NAXIS1  = %d\nNAXIS2  = %d\n", width, height >file
		printf "CTYPE1  = '\''RA---TAN'\''\nCTYPE2  = '\''DEC--TAN'\''\n" >file
		printf "CRVAL1  = %.9f\nCRVAL2  = %.9f\n", ra, dec >file
		printf "CDELT1  = %.9f\nCDELT2  = %.9f\n", -scale, scale >file
		printf "CRPIX1  = %.3f\nCRPIX2  = %.3f\n", x, y >file
		printf "CROTA2  = %.3f\nEQUINOX = 2000\nEND\n", angle >file
		close(file)
	}

	# The generator of Park and Miller: 0 < random() < 1, the same everywhere.
	function random() {
		seed = (seed * 16807) % 2147483647
		return seed / 2147483647
	}

	function list(of) {
		printf "|%20s|\n|%20s|\n", "fname", "char" >(dir "/" of ".lst")
	}

	function member(of, name) {
		printf " %20s\n", of "/" name ".fits" >(dir "/" of ".lst")
	}

	BEGIN {
		seed = 20100621
		ra0 = 180
		scale = 1 / 3600
		shrink = 4

		step = int(pixels * 0.85)
		shift = int(step / 2)
		unit = 2 * shrink
		width = (columns - 1) * step + shift + pixels + pixels / 8
		width = unit * int((width + unit - 1) / unit)
		height = (rows - 1) * step + pixels + pixels / 8
		height = unit * int((height + unit - 1) / unit)

		header(dir "/region.hdr", -64, width, height, ra0, 0, scale,
			(width + 1) / 2, (height + 1) / 2, 0)
		if (parts == 4) {
			list("parts")
			for (i = 0; i < 4; i++) {
				member("parts", "small-" i + 1)
				header(dir "/part-" i + 1 ".hdr", -64, width / 2, height / 2, ra0, 0, scale,
					(width + 1) / 2 - i % 2 * width / 2,
					(height + 1) / 2 - int(i / 2) * height / 2, 0)
			}
			header(dir "/small.hdr", -64, width / shrink, height / shrink, ra0, 0,
				scale * shrink, (width / shrink + 1) / 2, (height / shrink + 1) / 2, 0)
		}

		# Many faint stars and few bright ones.
		file = tmp "/stars.tbl"
		printf "|%14s|%14s|%14s|\n|%14s|%14s|%14s|\n",
			"ra", "dec", "flux", "double", "double", "double" >file
		stars = int(width * height / 4000)
		for (i = 0; i < stars; i++) {
			ra = ra0 + (random() - 0.5) * width * scale
			dec = (random() - 0.5) * height * scale
			printf " %14.8f %14.8f %14.4f\n", ra, dec, 20 / (random() + 0.005) >file
		}
		close(file)

		# Each tile is turned a little and has a background of its own, a tilted plane; to find
		# these planes and take them away is what most of the workflow is for.
		list("raw")
		list("proj")
		list("corr")
		for (row = 0; row < rows; row++)
			for (column = 0; column < columns; column++) {
				x = column * step + row % 2 * shift - ((columns - 1) * step + shift) / 2
				y = row * step - (rows - 1) * step / 2
				name = sprintf("%02d-%02d", row + 1, column + 1)
				header(tmp "/" name ".hdr", -64, pixels, pixels, ra0 - x * scale, y * scale,
					scale, (pixels + 1) / 2, (pixels + 1) / 2, (random() - 0.5) * 2)
				level = 100 + 60 * random()
				right = 40 * (random() - 0.5)
				up = 40 * (random() - 0.5)
				member("raw", name)
				member("proj", name)
				member("corr", name)
				printf "%s %.3f %.3f %.3f %.3f\n", name,
					level, level + right, level + right + up, level + up
			}
	}' >"$tmp/tiles"

# shellcheck disable=SC2016 # the inner shell expands them
xargs -P "$(nproc)" -L 1 sh -c '
	mMakeImg -n 2 -b "$4" "$5" "$6" "$7" \
		-t "$1/stars.tbl" flux 4 EQUJ 2000 1 flux gaussian \
		"$1/$3.hdr" "$2/raw/$3.fits" >"$1/$3.out" || { cat "$1/$3.out" >&2 && exit 1; }
	' tile "$tmp" "$dir" <"$tmp/tiles" || die "cannot make the tiles"

(cd "$dir" && montage mImgtbl -t raw.lst . tmp/raw.tbl)
montage mOverlaps "$tmp/raw.tbl" "$dir/overlaps.tbl"

awk -v size="$size" -v parts="$parts" -v dir="$dir" '
	FILENAME ~ /tiles$/ { tiles = tiles " " $1; next }
	/^[|\\]/ { next }
	{
		a = name($3)
		b = name($4)
		pair = a "_" b
		pairs = pairs " " pair
		rules = rules "fits/" pair ".txt: proj/" a ".fits proj/" b ".fits\n"
		rows = rows sprintf(" %8d %8d %24s\n", $1, $2, pair ".txt")
	}
	function name(path) {
		sub(/.*\//, "", path)
		sub(/\.fits$/, "", path)
		return path
	}
	END {
		printf "|%8s|%8s|%24s|\n|%8s|%8s|%24s|\n%s", "cntr1", "cntr2", "stat",
			"int", "int", "char", rows >(dir "/statfiles.tbl")
		printf "SIZE = %s\nPARTS =%s\nTILES =%s\nPAIRS =%s\n\n%s",
			size, parts == 4 ? " 1 2 3 4" : "", tiles, pairs, rules
	}' "$tmp/tiles" "$dir/overlaps.tbl" >"$tmp/workflow.mk"

cp "$here/Makefile" "$dir/"
mv "$tmp/workflow.mk" "$dir/"
