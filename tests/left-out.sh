#!/bin/sh
# SPDX-License-Identifier: MIT
#
# left-out.sh [HEADER]: each member of libfuse's struct fuse_lowlevel_ops is either in FS_OPS of
# ftrac/fs.h, or set in ftrac/fs.c, or in FS_OPS_LEFT_OUT there with the reason, and never both. HEADER is
# fuse_lowlevel.h; without it the subproject's is taken, or that of pkg-config.
# And each long option of a program is in its help text and in its man page, each export of wfdag and each table of wfstat
# in the latter.

set -u
export LC_ALL=C
cd "$(dirname "$0")/.." || exit 1

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
errors=0

complain() {
	echo "left-out.sh: $*"
	errors=$((errors + 1))
}

find_header() {
	for dir in subprojects/fuse-*/include $(pkg-config --variable=includedir fuse3 2>/dev/null)/fuse3; do
		[ ! -f "$dir/fuse_lowlevel.h" ] || { echo "$dir/fuse_lowlevel.h"; return; }
	done
}

header=${1-$(find_header)}
[ -f "$header" ] || { echo "left-out.sh: no fuse_lowlevel.h: '$header'"; exit 1; }

# Comments out, then the pointers to functions between the braces.
awk '
	{
		text = text $0 "\n"
	}
	END {
		while ((start = index(text, "/*")) > 0) {
			rest = substr(text, start + 2)
			text = substr(text, 1, start - 1) substr(rest, index(rest, "*/") + 2)
		}
		start = index(text, "struct fuse_lowlevel_ops {")
		text = substr(text, start)
		text = substr(text, 1, index(text, "};"))
		while (start && match(text, /\(\*[a-z_0-9]+\)/)) {
			print substr(text, RSTART + 2, RLENGTH - 3)
			text = substr(text, RSTART + RLENGTH)
		}
	}' "$header" | sort -u >"$work/members"
sed -n '/^#define FS_OPS\(_NEW\)*(X)/,/[^\\]$/p' ftrac/fs.h >"$work/list"
{
	grep -o 'X([a-z_0-9]*)' "$work/list" | sed '/^X()$/d; s/X(\(.*\))/\1/'
	sed -n '/struct fuse_lowlevel_ops fs_ops = {/,/^};/s/^[[:space:]]*\.\([a-z_0-9]*\) = .*/\1/p' ftrac/fs.c
} | sort >"$work/set"
sed -n '/^#define FS_OPS_LEFT_OUT(X)/,/[^\\]$/p' ftrac/fs.h | grep '^[[:space:]]*X(' >"$work/reasons"
sed 's/^[[:space:]]*X(\([a-z_0-9]*\).*/\1/' "$work/reasons" | sort >"$work/left"

for name in $(uniq -d "$work/set") $(uniq -d "$work/left"); do
	complain "'$name' stands twice"
done
for name in $(comm -12 "$work/set" "$work/left"); do
	complain "'$name' is handled and in FS_OPS_LEFT_OUT"
done
sort -u "$work/set" "$work/left" >"$work/known"
for name in $(comm -23 "$work/members" "$work/known"); do
	complain "'$name' is neither handled nor in FS_OPS_LEFT_OUT"
done
# A member of a newer libfuse than this may be known already.
for name in $(comm -13 "$work/members" "$work/known"); do
	if grep -B 1 "FS_OPS_NEW(X) X($name)" ftrac/fs.h | grep -q '^#if FUSE_VERSION'; then
		echo "left-out.sh: '$name' is not in this libfuse: left alone"
	else
		complain "'$name' is no member of struct fuse_lowlevel_ops"
	fi
done
unreasoned=$(grep -vE 'X\([a-z_0-9]+, "[^"]{10,}"\)' "$work/reasons")
[ -z "$unreasoned" ] || complain "left out without a reason: $unreasoned"
n=$(wc -l <"$work/members")
[ "$n" -gt 0 ] || complain "no members in '$header'"
[ -s "$work/set" ] || complain "no members in ftrac/fs.h"
echo "left-out.sh: $((n)) members compared"

# looked_for FILE MANUAL [FILE...]: each long option is in the help text and in the manual.
looked_for() {
	file=$1 manual=$2
	shift 2
	sed -n 's/^[[:space:]]*{ "\([a-z-]*\)", [a-z]*_argument,.*/\1/p' "$file" "$@" | sort -u >"$work/options"
	sed -n '/const char [a-z_]*help[a-z_]*\[\] *=/,/;$/p; /^#define [A-Z]*_HELP/,/[^\\]$/p' "$file" "$@" >"$work/help"
	while read -r option; do
		grep -qE -e "[ \"]--${option}[ =\\\\]" "$work/help" || complain "--$option is not in --help"
		[ ! -f "$manual" ] || sed 's/\\//g' "$manual" | grep -qE -e "--${option}([^a-z-]|\$)" ||
			complain "--$option is not in $manual"
	done <"$work/options"
	[ -s "$work/options" ] || complain "no options in $file"
	[ -f "$manual" ] || echo "left-out.sh: there is no $manual yet: options not looked for in it"
	echo "left-out.sh: $(($(wc -l <"$work/options"))) options of $file looked for"
}
# Where ftrac is built without programs in the kernel, each function of kernel.h is there nevertheless.
grep -oE '^[a-z].*[ *](kernel_[a-z_]+)\(' kernel/kernel.h | sed 's/.*[ *]\(kernel_[a-z_]*\)($/\1/' | sort -u >"$work/functions"
while read -r function; do
	grep -q "[ *]$function(" kernel/without.c || complain "$function() is not in kernel/without.c"
done <"$work/functions"
n=$(wc -l <"$work/functions")
[ "$n" -gt 5 ] || complain "no functions in kernel/kernel.h"
echo "left-out.sh: $((n)) functions of kernel/kernel.h looked for"

looked_for ftrac/options.c man/ftrac.1.scd
looked_for import/main.c man/ftrac.1.scd
looked_for dag/live/live.c man/ftrac.1.scd
looked_for procmon/options.c man/procmon.1.scd
looked_for dag/stat/options.c man/wfstat.1.scd dag/trace/choice.h dag/trace/choice.c dag/trace/traces.h
looked_for dag/wfdag/options.c man/wfdag.1.scd dag/trace/choice.h dag/trace/choice.c dag/trace/traces.h
looked_for dag/report/options.c man/wfreport.1.scd dag/trace/choice.h dag/trace/choice.c dag/trace/traces.h
looked_for dag/generate/options.c man/wfdag.1.scd dag/trace/traces.h
looked_for dag/diff/options.c man/wfdag.1.scd dag/trace/traces.h
looked_for dag/check/options.c man/wfdag.1.scd dag/trace/traces.h
looked_for dag/change/options.c man/wfdag.1.scd dag/trace/choice.h dag/trace/choice.c dag/trace/traces.h

# Each export is in the man page; wfdag makes its options and its help from the same list.
sed -n '/^#define EXPORTS(/,/[^\\]$/s/^[[:space:]]*\(FORMAT\|DRAWING\)(\([a-z]*\),.*/\2/p' dag/export/export.h >"$work/exports"
while read -r option; do
	grep -qF -e "*--$option*" man/wfdag.1.scd || complain "--$option is not in man/wfdag.1.scd"
done <"$work/exports"
[ -s "$work/exports" ] || complain "no exports in dag/export/export.h"
echo "left-out.sh: $(($(wc -l <"$work/exports"))) exports looked for"

# Each table of wfstat is in its man page.
sed -n 's/^[[:space:]]*X(\([a-z]*\)).*/\1/p' dag/stat/tables.h >"$work/tables"
while read -r table; do
	grep -qE -e "^(\*.*, )?\*$table\*(,|\$)" man/wfstat.1.scd || complain "the table $table is not in man/wfstat.1.scd"
done <"$work/tables"
[ -s "$work/tables" ] || complain "no tables in dag/stat/tables.h"
echo "left-out.sh: $(($(wc -l <"$work/tables"))) tables looked for"

# The operations of db/event.h are those that the man page lists, in the same order.
sed -n '/^#define EVENT_OPS(X)/,/[^\\]$/p' db/event.h | grep -o 'X([A-Z_]*, *[a-z_]*,' |
	sed 's/.*, *\(.*\),/\1/' >"$work/operations"
sed -n '/^\*name\* is one of/,/\./p' man/ftrac-db.5.scd | tr '\n' ' ' |
	sed 's/^\*name\* is one of //; s/\..*//' | tr -s ' ' '\n' | grep . >"$work/documented"
cmp -s "$work/operations" "$work/documented" ||
	complain "other operations in man/ftrac-db.5.scd than in db/event.h: $(diff "$work/operations" "$work/documented" | grep '^[<>]' | tr '\n' ' ')"
[ -s "$work/operations" ] || complain "no operations in db/event.h"
echo "left-out.sh: $(($(wc -l <"$work/operations"))) operations looked for"

[ "$errors" -eq 0 ]
