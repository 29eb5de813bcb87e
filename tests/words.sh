#!/bin/sh
# SPDX-License-Identifier: MIT
#
# words.sh [DIR]: checks the words of the source tree DIR (default: this one): HACKING.md, Plain English.
# words.sh --self-test: puts one violation of each rule into a tree and expects it to be found.
#
# It reads all text files that git tracks, or all of DIR if git does not know it. Of each line, and of each file's
# path, it looks at the words: identifiers are cut at underscores and at capital letters.
#
# Prints how many files and lines it read, then what is wrong. An exception that no line needs is wrong, too.

set -u
export LC_ALL=C

tree=$(cd "$(dirname "$0")/.." && pwd) || exit 1

# KIND; PATTERN; what to write; a violation. KIND says what PATTERN is compared with: `words`, the words of a line in
# lower case with one space around each; `line`, the line itself; `line of FOLDERS`, the same in these folders alone.
rules() {
	cat <<-'END'
	words; (who|whom|whoever); name the actor: the process, the caller, the user; /* Who reads it waits. */
	words; (nobody|somebody); name the actor, or 'no process'; static void table_tells_nobody(void)
	words; (he|she|him|himself|his|hers); a user, a process or a program is 'it', or is named again; # what he may not open
	words; in vain; say which call failed; names_looked_for_in_vain_are_counted
	words; (is|are) said; name the program that prints or the text that says it; """What is wrong is said."""
	words; ghosts?; missing name; struct ghost *ghosts;
	words; combos?; tuple; #include "db/combos.h"
	words; meets?; discover, reach, or what happens; static void meetProcess(void)
	words; (hear|hears|heard); on_event() for a function, 'is reported' in prose; static int hear_exit(int pid)
	words; people; print_text for a function, 'readable' in prose; /* Numbers for people. */
	words; chances?; generated name, random, differs from run to run; int dag_chance;
	words; (settle|settles|settled); prune; static void settle_side(void)
	line; (^|[^A-Za-z.])([Tt]ell|TELL)s?(_[A-Za-z_]+)?\(; emit(); static int tell_row(int n)
	line; (^|[^A-Za-z])match_less|[^A-Za-z]less\.[ch]|(^|[^A-Za-z_])less\(; match_weak; r = less(matching);
	line; (struct|TABLE|FROM|JOIN|INTO|->) *((main|one)\.)?seconds([^A-Za-z_]|$); second_operands; SELECT path FROM seconds
	line of base db ftrac procmon; struct look|(^|[^A-Za-z])look(_[a-z_]+)?\(|[a-z]_look([^a-z]|$); proc_snapshot, or the verb; bool has_look;
	words; keeper of locks; the daemon that holds the locks; /* the keeper of locks */
	words; cannot ask the trace for; say what the trace does not have; "cannot ask the trace for '%s'"
	words; leaves to luck; not declared, or not ordered; /* what it leaves to luck */
	words; whatever comes of it; say that the result does not matter; /* waits, whatever comes of it */
	END
}

# PATHS; PATTERN; why: in files whose path matches PATHS, text that matches PATTERN is not compared.
exceptions() {
	cat <<-'END'
	^(NEWS|LICENSE|debian/copyright|tests/words\.sh)$; .*; history; legal texts; the list of the words
	^meson_options\.txt$; 'combo'; a type of Meson
	^(report/package-lock\.json|bench/RESULTS\.csv)$|\.svg$; .*; programs made them
	^HACKING\.md$; `ghost`; the view of trace.db
	^(man/|python/|db/views\.sql|dag/.*\.sql|tests/); ([*"]ghost[*"]|(VIEW|FROM) (%s\.)?ghost|## ghost); the view of trace.db
	^(man/|dag/wfdag/options\.c|tests/); (--|")ghosts; the option --ghosts of wfdag
	^(dag/(analyse/nodes|shape/attributes|check/(annotate|check|options))\.[ch]|man/|tests/); (\*|"|,|or |  )ghost(\*|"|\)|  | a\.o|\\n); the kind of node or finding that wfdag prints
	^(man/|tests/); "nobody"|_nobody_|sh nobody; the user of that name
	END
}

# The text files of the tree $1, one path a line.
files() {
	if git -C "$1" rev-parse --show-prefix 2>/dev/null | grep -q '^$'; then
		git -C "$1" ls-files
	else
		(cd "$1" && find . -type f ! -path '*/.git/*' ! -path './build*' ! -path '*/node_modules/*' \
			! -path './subprojects/*/*' ! -name '*.pyc' | sed 's|^\./||')
	fi | (cd "$1" && while IFS= read -r file; do [ ! -f "$file" ] || echo "$file"; done |
		tr '\n' '\0' | xargs -0 -r grep -Il '' 2>/dev/null)
}

# The violations of the files named on stdin, then "FILES LINES". unused: also exceptions that are not needed.
read_files() {
	RULES=$(rules) EXCEPTIONS=$(exceptions) awk -v unused="$1" '
		function fields(text, into, i, n, lines, part) {
			n = split(text, lines, "\n")
			for (i = 1; i <= n; i++) {
				split(lines[i], part, "; ")
				into[i, 1] = part[1]; into[i, 2] = part[2]; into[i, 3] = part[3]
			}
			return n
		}
		function words(line) {
			while (match(line, /[a-z][A-Z]/))
				line = substr(line, 1, RSTART) " " substr(line, RSTART + 1)
			line = tolower(line)
			gsub(/[^a-z0-9]+/, " ", line)
			return " " line " "
		}
		function applies(i, file) {
			return !(i in folders) || file ~ folders[i]
		}
		function compare(where, file, line, i, text) {
			for (i = 1; i <= n_exceptions; i++)
				if (in_file[i] && line ~ exception[i, 2]) {
					gsub(exception[i, 2], " ", line)
					used[i] = 1
				}
			text = words(line)
			for (i = 1; i <= n_rules; i++)
				if (rule[i, 1] == "words" ? text ~ pattern[i] : applies(i, file) && line ~ pattern[i])
					print where ": " rule[i, 2] " -> " rule[i, 3]
		}
		BEGIN {
			n_rules = fields(ENVIRON["RULES"], rule)
			n_exceptions = fields(ENVIRON["EXCEPTIONS"], exception)
			for (i = 1; i <= n_rules; i++) {
				pattern[i] = rule[i, 1] == "words" ? " " rule[i, 2] " " : rule[i, 2]
				if (sub(/^line of /, "", rule[i, 1])) {
					gsub(/ /, "|", rule[i, 1])
					folders[i] = "^(" rule[i, 1] ")/"
					rule[i, 1] = "line"
				}
			}
			while ((getline file) > 0) {
				n_files++
				for (i = 1; i <= n_exceptions; i++)
					in_file[i] = file ~ exception[i, 1]
				compare(file ":1", file, file)
				for (n = 1; (getline line < file) > 0; n++)
					compare(file ":" n, file, line)
				close(file)
				n_lines += n - 1
			}
			for (i = 1; unused && i <= n_exceptions; i++)
				if (!used[i])
					print "tests/words.sh:1: no line needs the exception " exception[i, 2]
			print n_files + 0, n_lines + 0
		}'
}

# unused: whether exceptions that are not needed are violations.
check() {
	cd "$1" || exit 1
	found=$(files . | read_files "$2")
	read=$(echo "$found" | tail -n 1)
	found=$(echo "$found" | sed '$d')
	[ -z "$found" ] || echo "$found"
	echo "words.sh: ${read% *} files and ${read#* } lines read, $(rules | grep -c '') rules," \
		"$(printf '%s' "$found" | grep -c '') violations"
	[ "${read#* }" -gt 0 ] && [ -z "$found" ]
}

# catches FILE LINE: with LINE in FILE there is a violation in that file.
catches() {
	mkdir -p "$copy/$(dirname "$1")"
	printf '%s\n' "$2" >"$copy/$1"
	if (check "$copy" 0) | grep -q "^$1:1:"; then
		caught=$((caught + 1))
	else
		echo "words.sh: not found: $1: $2"
		missed=$((missed + 1))
	fi
	rm "$copy/$1"
}

# passes FILE LINE: with LINE in FILE there is no violation.
passes() {
	mkdir -p "$copy/$(dirname "$1")"
	printf '%s\n' "$2" >"$copy/$1"
	if (check "$copy" 0) >/dev/null; then
		passed=$((passed + 1))
	else
		echo "words.sh: found, but is right: $1: $2"
		missed=$((missed + 1))
	fi
	rm "$copy/$1"
}

self_test() {
	copy=$(mktemp -d) || exit 1
	trap 'rm -rf "$copy"' EXIT
	caught=0 missed=0 passed=0
	if (check "$copy" 0) >/dev/null; then
		echo "words.sh: an empty tree passed"
		missed=1
	fi
	rules >"$copy.rules"
	while IFS= read -r rule; do
		catches db/x.c "${rule##*; }"
	done <"$copy.rules"
	rm "$copy.rules"
	catches tests/cases/rights/who_asks.py '# who'
	catches db/combos.c 'int x;'
	catches tests/cases/dag/x.py 'class SomebodyElse:'
	catches dag/check/check.c 'static int check_ghost(const struct build_ghost *ghost)'
	catches db/x.sql 'CREATE TABLE ghosts (process INTEGER);'
	catches ftrac/x.c 'nobody = "nobody";'
	catches man/x.scd 'It prints who waits.'
	catches README.md "It is nobody's file."
	passes db/x.c 'int seconds = 2; /* at least; less than a second; look at it; tell them apart */'
	passes db/x.c 'whole = then_the(chanced_heresy, ghostly);'
	passes tests/x.py 'run("--user", "nobody"); print(stream.tell()); sql("SELECT path FROM ghost")'
	passes NEWS 'Who reads it.'
	echo "words.sh: $caught violations found, $passed right lines passed, $missed missed"
	[ "$caught" -gt 0 ] && [ "$missed" -eq 0 ]
}

case "${1-}" in
--self-test) self_test ;;
*) check "${1-$tree}" "$([ $# -gt 0 ] && echo 0 || echo 1)" ;;
esac
