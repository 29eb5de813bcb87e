#!/bin/sh
# SPDX-License-Identifier: MIT
#
# layering.sh [DIR]: checks which folder includes which in the source tree DIR (default: this one).
# layering.sh --self-test: puts one violation of each rule into a copy and expects each to be found.
#
# Each outside library is included in one folder, and folders know each other in one direction:
# ftrac, procmon, kernel, preload, import, serve, dag -> db -> base. A folder of dag/ includes folders of lower levels only, and a header
# *_internal.h is included in its own folder only. No shell is given a path, and the environment is used by list. The
# page in report/ is made with its two libraries alone and sends no request.
#
# Prints the folders (level, files, lines, the folders of dag/ that each includes), then what is wrong, and how many
# files it read.

set -u
export LC_ALL=C

folders="base db ftrac procmon kernel preload import serve dag"
# The folders of dag/, by level.
level_1="digest output trace"
level_2="container graph"
level_3="change darshan shape replay jobs diff check stat"
level_4="export analyse answer generate live load merge redact"
level_5="report wfdag wfstat"
tree=$(cd "$(dirname "$0")/.." && pwd) || exit 1

# "FILE:LINE:HEADER" for each #include in the folder $1.
includes() {
	find "$1" -name '*.[ch]' -exec awk '
		match($0, /^[ \t]*#[ \t]*include[ \t]*[<"]/) {
			header = substr($0, RLENGTH + 1)
			sub(/[>"].*/, "", header)
			print FILENAME ":" FNR ":" header
		}' {} + | sort
}

# only PATTERN FOLDERS TEXT: headers that match are included in these folders alone.
only() {
	for folder in $folders; do
		case " $2 " in *" $folder "*) continue ;; esac
		[ ! -d "$folder" ] || includes "$folder" | grep -E ":($1)\$" | sed "s|\$|: $3|"
	done
}

# may FOLDER HEADERS TEXT: of the project's own headers, the folder includes only these.
may() {
	[ -d "$1" ] || return 0
	includes "$1" | grep -E ":($(echo "$folders" | tr ' ' '|')|tests|examples)/[^:]*\$" |
		grep -vE ":($2)\$" | sed "s|\$|: $3|"
}

violations() {
	only '(fuse3?/)?fuse[^/]*\.h' ftrac 'libfuse is for ftrac/'
	only 'sqlite3(ext)?\.h' db 'SQLite is for db/'
	only 'ck_.*' db 'Concurrency Kit is for db/'
	only 'netlink/.*|linux/(netlink|genetlink|connector|cn_proc|taskstats)\.h|libnl.*' procmon \
		'netlink is for procmon/'
	only 'jansson\.h' 'db dag' 'jansson is for db/ and dag/'
	only '(libxml/|libxml2/).*|yaml\.h|libsmartcols\.h|graphviz/.*|cgraph\.h' dag 'writers of exports are for dag/'
	only 'nettle/.*' dag 'Nettle is for dag/'
	only 'zlib\.h' dag 'zlib is for dag/'
	only '(ncurses|ncursesw/.*|curses|term)\.h' dag 'ncurses is for dag/'
	only 'microhttpd\.h' serve 'libmicrohttpd is for serve/'
	only 'sys/capability\.h' ftrac 'libcap is for ftrac/'
	may base 'base/.*' 'base/ knows no other folder'
	may db '(base|db)/.*' 'db/ knows only base/'
	only '(bpf|linux/(bpf|btf))(/.*)?\.h' kernel 'eBPF is for kernel/'
	only 'bpf/.*' kernel 'libbpf is for kernel/'
	may procmon '(base|db|procmon)/.*|(kernel/kernel|preload/preload|serve/serve)\.h' \
		'of kernel/, preload/ and serve/, procmon/ knows only kernel.h, preload.h and serve.h; of the others only db/ and base/'
	may ftrac '(base|db|ftrac)/.*|(import/import|procmon/monitor|kernel/kernel|preload/preload|serve/serve|dag/answer/answer|dag/change/change|dag/live/live|dag/load/load|dag/merge/merge|dag/redact/redact)\.h' \
		'of procmon/, kernel/, preload/, import/, serve/ and dag/, ftrac/ knows only import.h, monitor.h, kernel.h, preload.h, serve.h, answer.h, change.h, live.h, load.h, merge.h and redact.h; of the others only db/ and base/'
	may kernel '(base|kernel)/.*|db/(event|figures|ring)\.h' 'kernel/ knows only the events of db/, and base/'
	may preload '(base|preload)/.*|db/(event|layers|ring)\.h' 'preload/ knows only the events of db/, and base/'
	may import '(base|import)/.*|db/(about|event|facts|recording|ring|store|writer)\.h|kernel/calls\.h' \
		'import/ knows only how db/ records, the list of system calls, and base/'
	may serve '(base|serve)/.*|db/totals\.h' 'serve/ knows only the totals of db/, and base/'
	may dag '(base|dag)/.*|db/(about|query|sql_text|event|drivers)\.h' 'dag/ knows only the read side of db/'
	[ ! -d dag ] || dag_violations
	# base/ is helpers without a library.
	[ ! -d base ] || includes base |
		grep -E ':(ut[a-z]*\.h|fuse|sqlite3|ck_|netlink|jansson|libxml|yaml)' |
		sed 's|$|: base/ needs the C library alone|'
	# No shell is given a path, and of the environment only what is listed is used.
	for folder in $folders; do
		[ ! -d "$folder" ] || find "$folder" -name '*.[ch]' -exec \
			grep -HnE '(^|[^a-z_])(system|popen|wordexp|execl|execlp|execle)\(|(exec|spawn)[a-z_]*\("[^"]*sh"' {} + |
			sed 's|$|: programs are executed by their words, base/helper.h|'
		[ ! -d "$folder" ] || find "$folder" -name '*.[ch]' -exec \
			grep -HnE '(^|[^a-z_])(getenv|posix_spawnp?|secure_getenv) *\(' {} + |
			grep -vE 'secure_getenv\("(FTRAC_CALLS|FTRAC_RUN|MAKEFILES|NO_COLOR|PAGER|PATH|PMIX_NAMESPACE|PMIX_RANK|PMI_RANK|SLURMD_NODENAME|SLURM_JOB_ID|SLURM_NODEID|SLURM_PROCID|SLURM_STEP_ID|SSH_CONNECTION|SUDO_UID|TERM|TMPDIR|XDG_RUNTIME_DIR)"\)|^base/helper\.c:[0-9]+:.*posix_spawnp' |
			sed 's|$|: of the environment only what is listed is used or handed on|'
	done
	# The object runs inside of the traced programs: no locks, no memory of the heap, nothing of ours but the two lists.
	for file in object files streams operations paths sums; do
		[ ! -f "preload/$file.c" ] || includes "preload/$file.c" |
			grep -E ':((base|db)/.*|pthread\.h|malloc\.h)$' | grep -vE ':db/(event|layers)\.h$' |
			sed 's|$|: what runs in traced programs uses libc alone|'
	done
	# What /proc says of others is read in procmon/.
	for folder in base db ftrac kernel import serve dag; do
		[ ! -d "$folder" ] || find "$folder" -name '*.[ch]' -exec \
			grep -HnE '"/proc/(%|[0-9]|")|"/proc"' {} + |
			sed 's|$|: other processes are looked at in procmon/|'
	done
	[ ! -d report/src ] || page_violations
}

# "FOLDER LEVEL" for each folder of dag/.
levels() {
	for level in 1 2 3 4 5; do
		for name in $(eval "echo \$level_$level"); do
			echo "$name $level"
		done
	done
}

# Folders that dag/$1 may include, as a pattern.
lower_than() {
	levels | awk -v of="$1" '{ level[$1] = $2 }
		END { for (f in level) if (level[f] < level[of]) all = all "|" f; print of all }'
}

dag_violations() {
	for name in $(cd dag && find . -mindepth 1 -type d | sed 's|^\./||' | sort); do
		levels | grep -q "^$name " || find "dag/$name" -name '*.[ch]' |
			sed 's|$|:1: a folder of dag/ has a level in layering.sh|'
		includes "dag/$name" | grep ':dag/' | grep -vE ":dag/($(lower_than "$name"))/[^:]*\$" |
			sed 's|$|: a folder of dag/ includes lower levels only|'
		includes "dag/$name" | grep -E ':dag/[^:]*_internal\.h$' | grep -vE ":dag/$name/[^:]*\$" |
			sed 's|$|: internal headers are for their own folder|'
	done
	find dag -maxdepth 1 -name '*.[ch]' | sed 's|$|:1: a file of dag/ lies in one of its folders|'
	includes dag | grep -E ':(jansson\.h|libsmartcols\.h|(libxml|graphviz)/.*|yaml\.h|cgraph\.h)$' |
		grep -vE '^dag/(output|export|generate)/' |
		sed 's|$|: libraries of formats are for output/, export/ and generate/|'
	includes dag | grep -E ':(ncurses|curses|term)\.h$' | grep -v '^dag/live/' | sed 's|$|: ncurses is for live/|'
	includes dag | grep -E ':nettle/' | grep -v '^dag/digest/' | sed 's|$|: Nettle is for digest/|'
	includes dag | grep -E ':zlib\.h$' | grep -v '^dag/darshan/' | sed 's|$|: zlib is for darshan/|'
	includes dag | grep -E ':(graphviz/.*|cgraph\.h|cdt\.h)$' | grep -v '^dag/export/' |
		sed 's|$|: libcgraph is for export/|'
}

# One line for each folder: what it is, and which other folders of dag/ it includes.
table() {
	printf '%-14s %5s %5s %6s  %s\n' folder level files lines includes
	for name in base db ftrac procmon kernel preload import serve $(levels | sed 's|^|dag/|; s| .*||'); do
		[ -d "$name" ] || continue
		level=$(levels | sed -n "s|^${name#dag/} ||p")
		printf '%-14s %5s %5d %6d  %s\n' "$name" "${level:--}" \
			"$(find "$name" -name '*.[ch]' | wc -l)" \
			"$(find "$name" -name '*.[ch]' -exec cat {} + | wc -l)" \
			"$(includes "$name" | sed -n 's|.*:dag/\([a-z]*\)/.*|\1|p' | grep -vx "${name#dag/}" | sort -u |
				tr '\n' ' ')"
	done
}

page_violations() {
	find report/src -name '*.js' -exec grep -HnE '(import|from) *\(?"' {} + |
		grep -vE 'from "(\./[a-z]+\.js|@observablehq/plot|d3-selection|d3-zoom)"' |
		sed 's|$|: the page is made with Observable Plot, d3-selection and d3-zoom|'
	find report/src report/page.html report/page.css -type f -exec \
		grep -HnE '(^|[^a-zA-Z.])(fetch|eval|Function|importScripts) *\(|XMLHttpRequest|WebSocket|innerHTML|https?:|@import|url\(' {} + |
		grep -v 'http://www.w3.org/' |
		sed 's|$|: a page sends no request, and no text becomes markup|'
}

check() {
	cd "$1" || exit 1
	dirs=
	for folder in $folders; do
		[ ! -d "$folder" ] || dirs="$dirs $folder"
	done
	[ ! -d report/src ] || dirs="$dirs report/src"
	# shellcheck disable=SC2086
	n=$([ -z "$dirs" ] || find $dirs -name '*.[ch]' -o -name '*.js' | wc -l)
	table
	found=$(violations)
	[ -z "$found" ] || echo "$found"
	echo "layering.sh: ${n:-0} files read, $(printf '%s' "$found" | grep -c '') violations"
	[ "${n:-0}" -gt 0 ] && [ -z "$found" ]
}

# plant FILE LINE: writes LINE into FILE, whose name gets a number.
plant() {
	planted=$((planted + 1))
	file=${1%.*}$planted.${1##*.}
	mkdir -p "$copy/$(dirname "$file")"
	printf '%s\n' "$2" >"$copy/$file"
	printf '%s: %s\n' "$file" "$2" >>"$list"
}

self_test() {
	copy=$(mktemp -d) list=$(mktemp) || exit 1
	trap 'rm -rf "$copy" "$list"' EXIT
	planted=0 missed=0
	if (check "$copy") >/dev/null; then
		echo "layering.sh: an empty tree passed"
		missed=1
	fi
	for folder in $folders; do
		[ ! -d "$tree/$folder" ] || cp -R "$tree/$folder" "$copy"
	done
	mkdir "$copy/report" && cp -R "$tree/report/src" "$tree"/report/page.* "$copy/report"
	plant db/x.c '#include <fuse_lowlevel.h>'
	plant procmon/x.h '# include <fuse3/fuse.h>'
	plant ftrac/x.c '#include <sqlite3.h>'
	plant ftrac/x.c '	#include <ck_ring.h>'
	plant ftrac/x.c '#include <linux/netlink.h>'
	plant db/x.c '#include <netlink/genl/genl.h>'
	plant ftrac/x.c '#include <jansson.h>'
	plant db/x.c '#include <libxml/xmlwriter.h>'
	plant ftrac/x.c '#include "procmon/procfs.h"'
	plant ftrac/x.c '#include "dag/check/build.h"'
	plant ftrac/x.c '#include <nettle/sha2.h>'
	plant dag/change/x.c '#include <nettle/sha2.h>'
	plant db/x.c '#include <zlib.h>'
	plant dag/export/x.c '#include <zlib.h>'
	plant dag/answer/x.c '#include <ncurses.h>'
	plant ftrac/x.c '#include <ncurses.h>'
	plant ftrac/x.c '#include <microhttpd.h>'
	plant serve/x.c '#include "db/store.h"'
	plant ftrac/x.c '#include "serve/listener.h"'
	plant ftrac/x.c '#include <bpf/libbpf.h>'
	plant procmon/x.c '#include <linux/bpf.h>'
	plant db/x.c '#include "kernel/kernel.h"'
	plant procmon/x.c '#include "kernel/wire.h"'
	plant kernel/x.c '#include "db/store.h"'
	plant kernel/x.c '#include "procmon/monitor.h"'
	plant procmon/x.c '#include "ftrac/inode.h"'
	plant procmon/x.c '#include "preload/drain.h"'
	plant preload/x.c '#include "db/store.h"'
	plant preload/x.c '#include "procmon/monitor.h"'
	plant import/x.c '#include "db/query.h"'
	plant import/x.c '#include "kernel/kernel.h"'
	plant ftrac/x.c '#include "import/world.h"'
	plant db/x.h '#include "ftrac/trace.h"'
	plant db/x.c '#include "procmon/monitor.h"'
	plant dag/x.c '#include "db/store.h"'
	plant dag/x.c 'int x;'
	plant dag/other/x.c 'int x;'
	plant dag/output/x.c '#include "dag/shape/shape.h"'
	plant dag/jobs/x.c '#include "dag/diff/diff.h"'
	plant dag/graph/x.h '#include "dag/report/report.h"'
	plant dag/wfdag/x.c '#include "dag/jobs/jobs_internal.h"'
	plant dag/shape/x.c '#include <jansson.h>'
	plant dag/report/x.c '#include <libxml/xmlwriter.h>'
	plant dag/stat/x.c '#include <libsmartcols.h>'
	plant ftrac/x.c '#include <graphviz/cgraph.h>'
	plant dag/output/x.c '#include <graphviz/cgraph.h>'
	plant base/x.h '#include "db/event.h"'
	plant base/x.h '#include <uthash.h>'
	plant procmon/x.c '#include "tests/unit/test.h"'
	plant ftrac/x.c 'snprintf(path, size, "/proc/%d/exe", pid);'
	plant db/x.c 'open("/proc", O_PATH);'
	plant dag/x.c 'f = popen(line, "re");'
	plant ftrac/x.c 'return system(command);'
	plant dag/x.c 'execl("/bin/sh", "sh", "-c", line, NULL);'
	plant dag/x.c 'const char *place = getenv("TMPDIR");'
	plant dag/x.c 'secure_getenv("FTRAC_DB")'
	plant ftrac/x.c 'posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ);'
	plant report/src/x.js 'import * as d3 from "d3";'
	plant report/src/x.js 'const more = await import("https://example.org/x.js");'
	plant report/src/x.js 'element.innerHTML = name;'
	plant report/src/x.js 'fetch("data.json")'
	found=$(check "$copy")
	while read -r line; do
		echo "$found" | grep -q "^${line%%: *}:1:" && continue
		echo "layering.sh: not found: $line"
		missed=$((missed + 1))
	done <"$list"
	echo "layering.sh: $planted violations planted, $missed missed"
	[ "$planted" -gt 0 ] && [ "$missed" -eq 0 ]
}

case "${1-}" in
--self-test) self_test ;;
*) check "${1-$tree}" ;;
esac
