#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 60
# long: --large
"""ftrac run --files kernel of programs that were not written for it: each row of the trace equals what strace saw.

  kernel_programs.py [--large] [--keep DIR] [WORKLOAD...]

strace runs inside of ftrac run, so both see one and the same run.  --large: the sizes that the name promises, and the
builds of packages from Debian's sources.
"""
import argparse
import os
import pathlib
import pwd
import shutil
import subprocess
import tempfile

import kernelleft
import kernelrecord
from ftractest import TOP, WORK, Checks, InKernel, need, need_kernel

ENV = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "MAKEFLAGS": "",
       **{f"GIT_{role}_{what}": "me@example.org" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}}
POSTGRES = """
set -e
export PATH=$(ls -d /usr/lib/postgresql/*/bin | tail -n 1):$PATH PGHOST=$PWD PGDATA=$PWD/data
initdb -D data -A trust >init.log
echo "unix_socket_directories = '$PWD'" >>data/postgresql.conf
pg_ctl start -w -l log -o "-c listen_addresses=''" >start.log
pgbench -q -i postgres 2>fill.log
pgbench -c $1 -t $2 postgres >bench.log
pg_ctl stop -w -m fast >stop.log
"""
GIT = """
set -e
cp -r "$1" tree && cd tree && git init -q . && git add . && git commit -q -m one && cd ..
git clone -q tree clone && cd clone
git log -p >../log && git grep include >../grep || true
git status --short >../status
"""
TAR = """
set -e
cp -r "$1" tree && tar cf tree.tar tree && mkdir out && tar xf tree.tar -C out && cp -r out/tree copy
grep -r include copy >grep || true
rm -rf tree out copy
"""
SHORT = """
i=0; while [ $i -lt $1 ]; do i=$((i + 1)); echo $i; done |
xargs -P 8 -n 1 sh -c 'echo $0 >file$0; cat file$0 >/dev/null; exec rm file$0'
"""


def shell(script, *words):
    return ["sh", "-c", script, "sh", *map(str, words)]


def source(name, base):
    """The unpacked source package.  The caller's apt must know source packages (deb-src)."""
    into = base / f"{name}-source"
    into.mkdir(exist_ok=True)
    done = subprocess.run(["apt-get", "source", "-qq", name], cwd=into, capture_output=True, text=True, check=False)
    found = [entry for entry in into.iterdir() if entry.is_dir()]
    if not found:
        print(f"no source package {name}: {done.stderr.strip().splitlines()[-1:]}")
    return found[0] if found else None


class Workloads:
    def __init__(self, base, large):
        self.base, self.large = base, large
        self.redis = None

    def tree(self):
        if not self.large:
            return TOP / "kernel"
        self.redis = self.redis or source("redis", self.base)
        return self.redis

    def git(self, _):
        return self.tree() and shell(GIT, self.tree())

    def tar(self, _):
        return self.tree() and shell(TAR, self.tree())

    def short(self, _):
        return shell(SHORT, 1500 if self.large else 40)  # two processes each

    def postgres(self, work):
        if not list(pathlib.Path("/usr/lib/postgresql").glob("*/bin/initdb")) or not shutil.which("pgbench"):
            return None
        command = shell(POSTGRES, *((4, 200) if self.large else (2, 5)))
        if os.geteuid() != 0:
            return command
        shutil.chown(work, "postgres", "postgres")
        return ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", "env", f"HOME={work}", *command]

    def hello(self, work):
        found = source("hello", self.base) if self.large else None
        if found:
            shutil.copytree(found, work, symlinks=True, dirs_exist_ok=True)
        return found and shell("./configure -q && make -s -j2")

    def montage(self, work):
        if not self.large or not shutil.which("mProjectPP"):
            return None
        subprocess.run([TOP / "examples/montage/generate.sh", "C", work], check=True, stdout=subprocess.DEVNULL)
        return ["make", "-s", "-j2"]

    def redis_build(self, work):
        found = self.tree() if self.large else None
        if found:
            shutil.copytree(found, work, symlinks=True, dirs_exist_ok=True)
        return found and ["make", "-s", "-j2", "MALLOC=libc", "OPTIMIZATION=-O0", "REDIS_CFLAGS=-w"]


NAMES = "git", "tar", "short", "postgres", "hello", "montage", "redis_build"


def busy(name):
    """Loops on both processors, for what is to be measured on busy ones."""
    return [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(2 if name == "short" else 0)]


def check(name, workloads, base, checks):
    scratch = base / f"{name}.scratch"
    work = scratch / "work"
    work.mkdir(parents=True)
    for path in (base, scratch):
        path.chmod(0o755)
    command = getattr(workloads, name)(work)
    if not command:
        print(f"{name}: not in this form, or a program or source of it is missing")
        return
    scratch.chmod(0o777)  # for the lines of strace, which may run as another user
    others = busy(name)
    prefix, db, done = kernelrecord.run(name, command, work, scratch, env=ENV)
    for other in others:
        other.kill()
        other.wait()
    checks.equal(f"{name}: status", (done.returncode, done.stdout if done.returncode else ""), (0, ""))
    run = InKernel(scratch, db.name)
    for fact, wanted in {"complete": 1, "ops_lost": 0, "kernel_dropped": 0}.items():
        checks.equal(f"{name}: {fact}", run.fact(fact), wanted)
    found = kernelrecord.compare(name, prefix, db, work, checks)
    checks.check(f"{name}: there was something to compare", found.compared > 1000, found.compared)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", choices=[*NAMES, []], default=[])
    options = parser.parse_args()
    need_kernel()
    need("strace", "git", "tar", "make")
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="ftrac-case-") as directory:
        base = pathlib.Path(options.keep or directory).resolve()
        base.mkdir(exist_ok=True)
        workloads = Workloads(base, options.large)
        for name in options.workloads or NAMES:
            check(name, workloads, base, checks)
    kernelleft.end(checks)


main()
