#!/bin/sh
# SPDX-License-Identifier: MIT
#
# run.sh slurm|parallel [DIR]
#
# Counts words by jobs on several nodes, each recorded by itself, and makes one trace of all: all.db in DIR (default: cluster), where
# also the words are, in work/frequent. `slurm` starts the jobs by srun and sbatch: on the cluster that there is or, without one, on a
# small one on this machine (slurm.sh, as root); what starts them is recorded, too. `parallel` starts them by GNU parallel.
#
# May be set from outside: FTRAC, WFDAG, WFSTAT.

set -eu

here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$here/../.." && pwd)/build
export FTRAC="${FTRAC:-$build/ftrac/ftrac}"
wfdag=${WFDAG:-$build/dag/wfdag} wfstat=${WFSTAT:-$build/dag/wfstat}

case ${1-} in
slurm | parallel) how=$1 ;;
*)
	echo "usage: run.sh slurm|parallel [DIR]" >&2
	exit 2
	;;
esac


# The workflow itself, in the directory of the data; it is recorded, too.
# shellcheck disable=SC2016 # the shell of the workflow expands it
slurm='srun -N3 -n3 "$1/traced.sh" sh -c "exec \"$1/count.sh\" \$SLURM_PROCID"
sbatch -Q --wait -o batch.log "$1/batch.sh" "$1/traced.sh"'
# shellcheck disable=SC2016
parallel='parallel -j3 "$1/traced.sh" "$1/count.sh" ::: 0 1 2
"$1/traced.sh" "$1/add.sh"
"$1/traced.sh" sh -c "sort -rn counts | head >frequent"'

dir=${2:-cluster}
mkdir -p "$dir/work" "$dir/traces"
dir=$(cd "$dir" && pwd)
export TRACES="$dir/traces"
cd "$dir/work"
i=0
while [ $i -lt 3 ]; do
	cat "$here"/*.sh >"part.$i"
	i=$((i + 1))
done

if [ "$how" = slurm ]; then
	set -- "$FTRAC" run -q --force --scope dir --db "$dir/traces/workflow.db" -- sh -ec "$slurm" sh "$here"
	sinfo >/dev/null 2>&1 || set -- "$here/slurm.sh" "$dir/slurm" "$@"
	"$@"
else
	sh -ec "$parallel" sh "$here"
fi

"$FTRAC" merge --force -o "$dir/all.db" "$dir/traces"
echo "The words:"
head -n 3 frequent
echo
echo "What started which run:"
sqlite3 -header -column "$dir/all.db" "SELECT p.program AS started_by, s.reason, c.command FROM start s JOIN process p ON p.id = s.parent
	JOIN process c ON c.id = s.process ORDER BY c.start_ns"
echo
"$wfdag" summary "$dir/all.db"
echo
"$wfstat" io "$dir/all.db"
