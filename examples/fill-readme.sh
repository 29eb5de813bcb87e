#!/bin/sh
# SPDX-License-Identifier: MIT
#
# fill-readme.sh EXAMPLE [TRACE]
#
# Brings the README.md of an example up to date: after each <!-- query:NAME --> comes the text of
# queries/NAME.sql, and, if a trace is given, after each <!-- output:NAME --> what it finds there.

set -eu

[ $# -eq 1 ] || [ $# -eq 2 ] || {
	echo "usage: fill-readme.sh EXAMPLE [TRACE]" >&2
	exit 2
}
trace=${2:+$(realpath "$2")}
cd "$(dirname "$0")/$1"

new=$(mktemp)
trap 'rm -f "$new"' EXIT
trap 'exit 1' HUP INT TERM
TRACE=$trace awk '
	function block(language, command,    line, lines) {
		print "```" language
		while ((command | getline line) > 0) {
			sub(/ +$/, "", line)
			print line
			lines++
		}
		print "```"
		if (close(command) != 0 || !lines) {
			print "fill-readme.sh: this failed or found nothing: " command >"/dev/stderr"
			exit status = 1
		}
		filled++
		skip = 1 # the block that stood here
	}
	function file(marker) {
		sub(/^<!-- [a-z]+:/, "", marker)
		sub(/ -->.*/, "", marker)
		return marker == "summary" ? "../summary.sql" : "queries/" marker ".sql"
	}
	skip == 1 && /^```/ { skip = 2; next }
	skip == 2 { if (/^```/) skip = 0; next }
	{ skip = 0; print }
	/^<!-- query:/ { block("sql", "cat " file($0)) }
	/^<!-- output:/ && ENVIRON["TRACE"] != "" {
		block("", "sqlite3 -bail -header -column \"$TRACE\" <" file($0))
	}
	END {
		if (!status && !filled) print "fill-readme.sh: nothing to fill" >"/dev/stderr"
		exit status || !filled
	}' README.md >"$new"
cat "$new" >README.md
