#!/bin/sh
# SPDX-License-Identifier: MIT
#
# slurm.sh DIR COMMAND...
#
# Runs COMMAND while there is a small Slurm cluster on this machine: munged, slurmctld and a slurmd for each of the nodes node1,
# node2 and node3, which are all this machine. All of their files are in DIR, which is short: it has sockets. They end with COMMAND, whose
# exit status it has. Needs root, and Debian's packages slurmctld, slurmd, slurm-client and munge; what is installed and runs
# already is not touched.

set -eu

die() {
	echo "slurm.sh: $*" >&2
	exit 1
}

[ $# -ge 2 ] || { echo "usage: slurm.sh DIR COMMAND..." >&2; exit 2; }
[ "$(id -u)" -eq 0 ] || die "slurmd starts jobs of other users, and needs root"
for program in munged slurmctld slurmd srun; do
	command -v "$program" >/dev/null || die "'$program' is not there; install slurmctld, slurmd, slurm-client and munge"
done
mkdir -p "$1"
dir=$(cd "$1" && pwd)
shift
pids=

clean_up() {
	for pid in $pids; do
		kill "$pid" 2>/dev/null || true
	done
	for pid in $pids; do
		wait "$pid" 2>/dev/null || true
	done
}

trap clean_up EXIT
trap 'exit 1' HUP INT TERM

# Three ports that nothing listens to, behind that of slurmctld.
port=20000
while ss -Hltn "sport >= :$port and sport <= :$((port + 3))" | grep -q .; do
	port=$((port + 4))
done

dd if=/dev/urandom of="$dir/key" bs=128 count=1 status=none
chmod 600 "$dir/key"
mkdir -p "$dir/state" "$dir/node1" "$dir/node2" "$dir/node3"
chmod 755 "$dir"
cat >"$dir/slurm.conf" <<END
ClusterName=example
SlurmctldHost=$(hostname)(127.0.0.1)
SlurmctldPort=$port
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$dir/munge
CredType=cred/munge
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/%n
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/%n.pid
SlurmctldLogFile=$dir/slurmctld.log
SlurmdLogFile=$dir/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/linear
SlurmdParameters=config_overrides
ReturnToService=2
$(for n in 1 2 3; do echo "NodeName=node$n NodeHostname=$(hostname) NodeAddr=127.0.0.1 Port=$((port + n)) CPUs=1"; done)
PartitionName=all Nodes=node[1-3] Default=YES MaxTime=INFINITE State=UP
END
export SLURM_CONF="$dir/slurm.conf"

munged --force --foreground --key-file="$dir/key" --socket="$dir/munge" --pid-file="$dir/munged.pid" --seed-file="$dir/seed" \
	--log-file="$dir/munged.log" 2>"$dir/munged.err" &
pids="$pids $!"
slurmctld -D -c 2>"$dir/slurmctld.err" &
pids="$pids $!"
for n in 1 2 3; do
	slurmd -D -N "node$n" 2>"$dir/node$n.err" &
	pids="$pids $!"
done

tries=300
until [ "$(sinfo -h -t idle -o %D 2>/dev/null)" = 3 ]; do
	tries=$((tries - 1))
	[ "$tries" -gt 0 ] || die "the nodes are not ready; see the logs in '$dir'"
	sleep 0.2
done
"$@"
