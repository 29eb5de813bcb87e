#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 40
# long: montage postgres
"""ftrac replay: what each process of a trace did, in the same order, with the same offsets and bytes, after the same operations of
others; counted out of the trace of the replay.  Traces that are made to do harm touch nothing outside of the directory.

    replay.py [montage] [git] [postgres] [small]     these, and nothing else
"""
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile

import kernelleft
import replayed
from ftractest import FTRAC, TOP, Checks, InKernel, need, need_kernel, skip
from hostile import damage_pages, damage_values
from sample import rng as random_numbers

need_kernel()
need("git", "make", "seq")
FTRAC = os.path.abspath(FTRAC)
checks = Checks()
rng = random_numbers()
base = pathlib.Path(tempfile.mkdtemp(prefix="ftrac-case-", dir="/var/tmp"))

SMALL = r"""
mkdir d d/e; seq 20000 >d/a
for i in 1 2 3 4; do (sleep 0.0$i; sort -rn d/a | tail -n 300$i >d/e/part$i; ln d/e/part$i d/link$i) & done; wait
cat d/e/part* | sort -n | uniq >d/all; mv d/all d/e/final; rm d/e/part1 d/a; rmdir nothing 2>/dev/null
mv d/e d/f; cat d/f/final | wc -c >count; ln -s count to; cat to >>count; touch -r count to2; test -e missing
mkdir again; mkdir again 2>/dev/null; chmod 600 count; truncate -s 100000 d/f/final; dd if=d/f/final of=copy bs=7k skip=3 seek=5 status=none
"""
THREADS = r"""
import mmap, os, threading
def work(i):
    for k in range(20):
        with open(f"t{i}", "ab") as f:
            f.write(os.urandom(1000 * k))
        os.stat(f"t{i}")
threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
[t.start() for t in threads]
[t.join() for t in threads]
with open("sum", "wb") as out:
    for i in range(4):
        with open(f"t{i}", "rb") as f:
            out.write(f.read())
fd = os.open("big", os.O_RDWR | os.O_CREAT, 0o600)
os.pwrite(fd, bytes(3 << 20), 1 << 33)
os.pread(fd, 5 << 20, (1 << 33) - 4096)
os.ftruncate(fd, 4096)
r, w = os.pipe()
if os.fork() == 0:
    os.close(r)
    for k in range(50):
        os.write(w, bytes(3000))
    os._exit(0)
os.close(w)
while os.read(r, 4096):
    pass
os.wait()
mmap.mmap(fd, 4096)[5] = 65
"""
GIT = r"""
export HOME=$PWD GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a
git init -q r; cd r
for i in 1 2 3 4 5 6; do seq $i 3000 >f$i; mkdir -p d$i; seq $i 500 >d$i/g; git add .; git commit -q -m $i; done
git checkout -q -b side HEAD~3; seq 70 >h; git add h; git commit -q -m h; git merge -q -m m master 2>/dev/null || git merge -q -m m main
git gc -q; git log --stat >/dev/null; git status >/dev/null; git clone -q . ../copy; cd ../copy; git fsck 2>/dev/null; git diff HEAD~2 >/dev/null
"""


POSTGRES = r"""
export PATH=$(ls -d /usr/lib/postgresql/*/bin | tail -n 1):$PATH HOME=$PWD PGHOST=$PWD PGDATA=$PWD/data
initdb -D data -A trust >init.log; pg_ctl start -w -l log -o "-c listen_addresses='' -c unix_socket_directories=$PWD" >start.log
pgbench -i -q -s 1 postgres 2>pgi; pgbench -n -c 3 -j 2 -t 100 postgres >pgb; pg_ctl stop -w -m fast >stop.log
"""


def run(*words, **more):
    return subprocess.run([str(word) for word in words], stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=500,
                          check=False, **more)


def record(name, command, cwd, prefix=()):
    kernel = InKernel(base, f"{name}.db")
    done = subprocess.run([*prefix, *kernel.command("-q"), *command], cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, timeout=500, check=False)  # pipes that are open before are not replayed
    checks.equal(f"{name}: recorded", done.returncode, 0)
    return kernel


def number(text, pattern):
    return sum(int(found) for found in re.findall(pattern, text, re.M))


def compare(name, trace, speed, expect_order=1):
    """Replays a trace, records that, and compares both."""
    place, again = base / f"{name}.{speed}", InKernel(base, f"{name}.{speed}.db")
    made = run(FTRAC, "replay", "--directory", place, "--prepare-only", trace.db)
    checks.equal(f"{name}: prepared", (made.returncode, made.stderr), (0, ""))
    checks.check(f"{name}: all names can be prepared", "not prepared" not in made.stdout, made.stdout)
    done = run(*again.command("-q"), FTRAC, "replay", "--prepared", "--speed", speed, "--directory", place, trace.db)
    checks.equal(f"{name} at {speed}: replayed", done.returncode, 0)
    found = replayed.Compared(replayed.Side(trace.db), replayed.Side(again.db, os.path.realpath(place)))
    print(f"{name} at {speed}: {found.n} operations, {found.orders} orders\n{done.stdout}", end="")
    checks.equal(f"{name} at {speed}: lost", (again.fact("ops_lost"), again.fact("complete")), (0, 1))
    checks.check(f"{name} at {speed}: operations and orders", found.n > 50 and found.orders >= expect_order, (found.n, found.orders))
    checks.equal(f"{name} at {speed}: other sequences of operations", found.differences[:3], [])
    for fact, (one, two) in ("operations of each name", found.counts), ("bytes of each file", found.bytes):
        checks.equal(f"{name} at {speed}: {fact}", ((two - one).most_common(5), sum(one.values()) > 0), ([], True))
        checks.equal(f"{name} at {speed}: {fact}, of the trace alone", (one - two).most_common(5), [])
    checks.equal(f"{name} at {speed}: orders that were not kept", found.broken[:3], [])
    for word in "not kept", "not started":
        checks.check(f"{name} at {speed}: nothing is {word}", word not in done.stdout, done.stdout)
    shutil.rmtree(place)
    return done.stdout


def workflows():
    work = base / "small"
    work.mkdir()
    trace = record("small", ["sh", "-c", SMALL], work)
    for speed in "max", "1":
        compare("small", trace, speed)
    work = base / "threads"
    work.mkdir()
    trace = record("threads", [sys.executable, "-S", "-c", THREADS], work)
    for speed in "max", "3":
        said = compare("threads", trace, speed, 5)
        checks.equal(f"threads at {speed}: stores", number(said, r"^not replayed: (\d+) mappings that programs could write to"), 1)


def montage():
    run("sh", TOP / "examples/montage/generate.sh", "A", base / "montage")
    trace = record("montage", ["make", "-j2"], base / "montage")
    for speed in "1", "max":
        compare("montage", trace, speed)


def git():
    work = base / "git"
    work.mkdir()
    trace = record("git", ["sh", "-c", GIT], work)
    for speed in "1", "max":
        compare("git", trace, speed)


def postgres():
    if not list(pathlib.Path("/usr/lib/postgresql").glob("*/bin/initdb")):
        skip("no PostgreSQL here")
    work = base / "postgres"
    work.mkdir()
    prefix = []
    if os.geteuid() == 0:  # it refuses to run as root
        base.chmod(0o755)
        shutil.chown(work, "postgres")
        prefix = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
    trace = record("postgres", [*prefix, "sh", "-c", POSTGRES], work)
    for speed in "max", "1":
        compare("postgres", trace, speed)


# ---- traces that are made to do harm ----

def tree(top):
    return sorted((str(path.relative_to(top)), path.lstat().st_mode, path.lstat().st_size, path.lstat().st_mtime_ns, path.lstat().st_nlink)
                  for path in top.rglob("*"))


def harmless(fact, trace, *words):
    """A replay ends in time, in a way of its own, and the files beside its directory are as they were."""
    place = base / "harm/place"
    before = tree(base / "harm/beside")
    done = run(FTRAC, "replay", "--speed", "max", *words, "--directory", place, trace)
    checks.check(f"{fact}: ends in a way of its own", done.returncode in (0, 1), f"{done.returncode} {done.stderr[-300:]}")
    if done.returncode:
        errors = [line for line in done.stderr.splitlines() if "warning: " not in line]
        checks.check(f"{fact}: says why in one line", len(errors) == 1 and errors[0].startswith("ftrac: "), done.stderr[-300:])
    checks.equal(f"{fact}: files beside the directory", tree(base / "harm/beside"), before)
    for top, names, more in os.walk(place):
        for path in (pathlib.Path(top, name) for name in names + more):
            if path.is_symlink():
                checks.check(f"{fact}: links lead nowhere", "/" not in os.readlink(path), os.readlink(path))
    shutil.rmtree(place, ignore_errors=True)
    return done.stdout


def changed(fact, good, sql, *words):
    trace = base / "harm/trace.db"
    shutil.copy(good, trace)
    db = sqlite3.connect(trace)
    db.executescript(sql)
    db.close()
    return harmless(fact, trace, *words)


def hostile():
    (base / "harm/beside/d").mkdir(parents=True)
    for name in "a", "b", "d/a":
        (base / "harm/beside" / name).write_text(name * 100)
    good, beside = base / "small.db", base / "harm/beside"
    every = "UPDATE path_names SET directory = NULL, name = "
    for name in "../beside/a", "/../../beside/a", "/../beside/a", "//x", "/a/./b", "/a//b", "/a/", "", "/" + "x" * 256, "/x" * 2100, "/":
        said = changed(f"all paths are '{name[:20]}'", good, f"{every}'{name}'")
    changed("paths are those of files beside it", good, f"{every}'{beside}/a'")
    said = changed("paths are below a link", good, f"{every}'/l' WHERE id % 3 = 0; {every}'/l/a' WHERE id % 3 = 1; {every}'/l/../a' WHERE id % 3 = 2;"
                   "UPDATE kinds SET mode = 40960")
    said = changed("targets of links are files beside it", good, f"{every}'{beside}/a' WHERE id IN (SELECT path FROM second_operands)")
    changed("sizes are huge", good, "UPDATE files SET size_first = 4000000000000000000, size_last = 9e18", "--prepare-only")
    said = changed("files are filled", good, "UPDATE files SET size_first = 4000000000000000000 WHERE state IS NOT 1", "--fill", "--prepare-only")
    changed("reads are huge", good, "UPDATE ops_handle SET length = 4000000000000000000 WHERE code & 63 = (SELECT code FROM op_name WHERE name = 'read');"
            "UPDATE moved SET data_length = 4000000000000000000, data_result = 4000000000000000000 WHERE nread")
    changed("times go back", good, "UPDATE processes SET start_t = -start_t, end_t = start_t; UPDATE ops_handle SET t = -t, latency = -latency")
    changed("processes in a circle", good, "UPDATE processes SET parent = CASE WHEN id < (SELECT max(id) FROM processes) THEN id + 1 ELSE 1 END")
    changed("no process has a parent", good, "UPDATE processes SET parent = NULL")
    changed("all opens are of one pipe", good, "UPDATE files SET kind = (SELECT kind FROM files JOIN paths USING (id) LIMIT 1)")
    changed("all has one handle", good, "UPDATE ops_handle SET handle = (SELECT max(handle) FROM ops_handle)")
    for i in range(6):
        shutil.copy(good, base / "harm/trace.db")
        damage_values(base / "harm/trace.db", rng)
        harmless(f"other values {i}", base / "harm/trace.db", "--prepare-only")  # waits for what never comes take a minute
    for i in range(6):
        (base / "harm/trace.db").write_bytes(damage_pages(good.read_bytes(), rng))
        harmless(f"damaged pages {i}", base / "harm/trace.db", "--prepare-only")


def refused():
    place = base / "refused"
    place.mkdir()
    (place / "file").touch()
    good = base / "small.db"
    for fact, word, *words in (("a directory with files", "has files", "--directory", place), ("no directory", "--directory is missing"),
                               ("a speed of 0", "--speed", "--speed", "0", "--directory", place), ("a word as speed", "--speed", "--speed", "x", "--directory", place)):
        done = run(FTRAC, "replay", *words, good)
        checks.equal(f"{fact}: status", done.returncode, 2)
        checks.check(f"{fact}: one line, with {word!r}", done.stderr.count("\n") == 1 and word in done.stderr, done.stderr)
    (place / "file").unlink()
    place.chmod(0o777)
    done = run(FTRAC, "replay", "--directory", place, good)
    checks.equal("a directory to which others may write: status", (done.returncode, done.stderr.count("\n")), (2, 1))


words = sys.argv[1:]
for word in words:
    {"montage": montage, "git": git, "postgres": postgres, "small": workflows}[word]()
if not words:
    workflows()
    git()
    hostile()
    refused()
shutil.rmtree(base)
kernelleft.end(checks)
