#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 20
"""wfstat --darshan: a log that is read by a reader of its own (lib/darshanlog.py), each counter and segment against the rows of the trace
(lib/darshanmodel.py): of dd, sort, threads, programs that read and write at random, and a program of MPI-IO; by mounts of each fidelity and
in the kernel. Streams against a program that does known things. And, where it can be had, darshan-parser.

darshan.py [ROUNDS]: so many random programs.
"""
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile

import darshanmodel
from darshanlog import Log, of_parser
from ftractest import FTRAC, TOP, Checks, kernel_refuses, need_fuse
from sample import one, rng

checks = Checks()
WFSTAT = os.path.abspath(os.environ.get("WFSTAT", "build/dag/wfstat"))
ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 2
WAYS = [["--files", "mount", "--fidelity", "exact"], ["--files", "mount", "--fidelity", "cached"],
        ["--files", "mount", "--fidelity", "open"]] + ([] if kernel_refuses() else [["--files", "kernel"]])
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}

REAL = """\
dd if=/dev/zero of=zeros bs=3000 count=40 2>dd.log
dd if=zeros of=copy bs=512 skip=3 seek=5 count=100 conv=notrunc,fsync 2>>dd.log
seq 3000 | sort -r >sorted; sort -o sorted sorted; cat sorted zeros >both
/usr/bin/python3 threads.py
mv both moved; mv copy moved
"""
THREADS = """\
import os, threading
fd = os.open("shared", os.O_RDWR | os.O_CREAT, 0o640)
def work(n):
    own = os.open(f"own.{n}", os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
    for i in range(30):
        os.pwrite(fd, b"x" * 100 * (n + 1), 1000 * (i * 4 + n))
        os.write(own, b"y" * i)
        os.pread(fd, 500, 700 * i)
    os.close(own)
threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
os.fsync(fd); os.fdatasync(fd); os.close(os.dup(fd)); os.close(fd)
"""
RANDOM = """\
import mmap, os, random, sys
rng = random.Random(int(sys.argv[1]))
names = [f"f{i}" for i in range(5)] + [b"\\xff.bin"]
files = []
for _ in range(400):
    name = rng.choice(names)
    what = rng.choice("open open close read read read write write write pread pwrite pwrite seek stat rename dup sync map fork fail".split())
    try:
        fd = rng.choice(files) if files else os.open(name, os.O_RDWR | os.O_CREAT, 0o644)
        if not files: files.append(fd)
        size = rng.choice([0, 1, 100, 101, 1000, 1024, 1025, 5000, 70000, 200000])
        if what == "open": files.append(os.open(name, os.O_RDWR | os.O_CREAT | rng.choice([0, 0, os.O_TRUNC, os.O_APPEND]), 0o600))
        elif what == "close": files.remove(fd); os.close(fd)
        elif what == "read": os.read(fd, size)
        elif what == "write": os.write(fd, b"z" * size)
        elif what == "pread": os.pread(fd, size, rng.randrange(300000))
        elif what == "pwrite": os.pwrite(fd, b"p" * size, rng.randrange(4) * 4096 + 4096 * rng.randrange(30))
        elif what == "seek": os.lseek(fd, rng.randrange(100000), rng.choice([os.SEEK_SET, os.SEEK_CUR, os.SEEK_END]))
        elif what == "stat": os.stat(name)
        elif what == "rename": os.rename(name, rng.choice(names))
        elif what == "dup": files.append(os.dup(fd))
        elif what == "sync": os.fsync(fd)
        elif what == "map": mmap.mmap(fd, 4096).close()
        elif what == "fork" and os.fork() == 0: os.write(fd, b"child" * 7); os._exit(0)
        elif what == "fail": os.open(name, os.O_DIRECTORY)
    except (OSError, ValueError):
        pass
while True:
    try: os.wait()
    except OSError: break
"""
STREAMS = """\
#include <stdio.h>
#include <unistd.h>
#include <fcntl.h>
#include <sys/wait.h>
int main(void)
{
	char line[100];
	int n, fd;
	FILE *f = fopen("first", "w+"), *g;

	for (int i = 0; i < 1000; i++)
		fputs("a line of text\\n", f);
	fflush(f);
	fseek(f, 15, SEEK_SET);
	rewind(f);
	while (fgets(line, sizeof(line), f))
		;
	fclose(f);
	fd = open("second", O_RDWR | O_CREAT, 0644);
	f = fdopen(fd, "w+");
	fprintf(f, "%d %s\\n", 12, "words");
	fflush(f);
	if (fork() == 0) {
		fwrite("child", 1, 5, f);
		fflush(f);
		_exit(0);
	}
	wait(NULL);
	fclose(f);
	g = fopen("first", "r");
	fread(line, 1, 60, g);
	getc(g);
	fclose(g);
	f = fopen("second", "r");
	fscanf(f, "%d", &n);
	fclose(f);
	f = fopen("no such file", "r");
	puts("said");
	fputs("told", stderr);
	return f != NULL;
}
"""
# name -> what it does there: (OPENS, FDOPENS, READS, WRITES, SEEKS, FLUSHES, BYTES_WRITTEN, BYTES_READ)
STREAMED = {
    "first": (2, 0, 1002, 1000, 2, 1, 15000, 15061), "second": (2, 1, 1, 1, 0, 1, 9, -1), "second of the child": (0, 0, 0, 1, 0, 1, 5, 0),
    "<STDOUT>": (0, 0, 0, 1, 0, 0, 5, 0), "<STDERR>": (0, 0, 0, 1, 0, 0, 4, 0)}
FOUND = [(mpicc, mpirun) for mpicc, mpirun in [
    ("mpicc.openmpi", ["mpirun.openmpi", "--oversubscribe", "--mca", "btl", "self,vader"]), ("mpicc.mpich", ["mpirun.mpich"])]
    if shutil.which(mpicc) and shutil.which(mpirun[0])]


class Run:
    def __init__(self, place, options, command, files=()):
        place.mkdir()
        self.place, self.db, self.file = place, place.parent / f"{place.name}.db", place.parent / f"{place.name}.darshan"
        for name, text in dict(files).items():
            (place / name).write_text(text)
        done = subprocess.run([FTRAC, "run", "--output", self.db, *options, *command], cwd=place, env=ENVIRONMENT, capture_output=True,
                              timeout=300, stdin=subprocess.DEVNULL)
        if done.returncode:
            sys.exit(f"{command}: {done.returncode}: {done.stderr.decode(errors='replace')}")
        done = subprocess.run([WFSTAT, "-o", self.file, self.db], capture_output=True, text=True, timeout=120, check=True)
        self.said = done.stderr
        self.log = Log(self.file.read_bytes())

    def sql(self, query, *values):
        with sqlite3.connect(f"file:{self.db}?mode=ro", uri=True) as db:
            return db.execute(query, values).fetchall()

    def start(self):
        return self.sql("SELECT value FROM trace WHERE key = 'start_ns'")[0][0]

    def ranks(self):
        return darshanmodel.ranks(self.sql)[0]


def differences(ours, theirs):
    return [(key, name, ours.get(key, {}).get(name), value) for key, values in theirs.items() for name, value in values.items()
            if ours.get(key, {}).get(name) != value] + [(key, "only in the log") for key in ours.keys() - theirs.keys()]


def compare(what, run, module, traced, model):
    """The records of a module, and of the one that has its segments."""
    ids = {name: number for number, name in run.log.names.items()}
    ranks, theirs, segments = run.ranks(), {}, {}
    for (path, process), (counters, writes, reads) in model.items():
        key = path, ranks[process]
        theirs[key] = {name: ids.get(value) if isinstance(value, bytes) else value for name, value in counters.items()}
        if "RENAMED_FROM" in counters and theirs[key]["RENAMED_FROM"] >= 1 << 63:
            theirs[key]["RENAMED_FROM"] -= 1 << 64
        if writes or reads:
            segments[key] = writes, reads
    ours = run.log.records.get(module, {})
    wrong = differences(ours, theirs)
    n = sum(map(len, theirs.values()))
    checks.check(f"{what}: {len(theirs)} records of {module}, {n} counters", not wrong and len(theirs) > 0, wrong[:5])
    if traced:
        told = {key: (writes, reads) for key, (_, writes, reads) in run.log.records.get(traced, {}).items()}
        wrong = [(key, told.get(key), segments.get(key)) for key in told.keys() | segments.keys() if told.get(key) != segments.get(key)]
        checks.check(f"{what}: {sum(len(w) + len(r) for w, r in segments.values())} segments of {traced}", not wrong, wrong[:1])


def head(what, run):
    facts = dict(run.sql("SELECT key, value FROM trace"))
    job = run.log.job
    checks.equal(f"{what}: times of the job", (job["start_s"] * 10**9 + job["start_ns"], job["end_s"] * 10**9 + job["end_ns"]),
                 (facts["start_ns"], facts["end_ns"]))
    checks.equal(f"{what}: processes", job["nprocs"], run.sql("SELECT count(*) FROM process")[0][0])
    checks.check(f"{what}: {len(run.log.names)} names, and no other ones than of records", run.log.names and set(run.log.names.values()) == {
        name for records in run.log.records.values() for name, _ in records} | {
            run.log.names[c["RENAMED_FROM"] % (1 << 64)] for c in run.log.records["POSIX"].values() if c["RENAMED_FROM"]})
    checks.check(f"{what}: mounts {run.log.mounts}", all(len(mount) == 2 for mount in run.log.mounts))
    checks.equal(f"{what}: nothing is missing", (run.log.partial, run.said), (0, ""))
    again = subprocess.run([WFSTAT, "--darshan", run.db], capture_output=True, timeout=120, check=True).stdout
    checks.check(f"{what}: the same {len(again)} bytes once more", again == run.file.read_bytes())
    parser(what, run)


def parser(what, run):
    if not shutil.which("darshan-parser"):
        return
    text = subprocess.run(["darshan-parser", "--base", run.file], capture_output=True, text=True, timeout=120, check=True).stdout
    told = of_parser(text)
    wrong = [(module, key, name) for module, records in run.log.records.items() if not module.startswith("DXT")
             for key, counters in records.items() for name, value in counters.items() if isinstance(value, int)
             and int(told[module][key][name]) % (1 << 64) != value % (1 << 64)]
    checks.check(f"{what}: {sum(map(len, told.values()))} records by darshan-parser", not wrong and told, wrong[:5])


def files(base):
    for way in WAYS:
        name = " ".join(way[1::2])
        run = Run(base / f"real-{way[-1]}", way, ["sh", "-c", REAL], {"threads.py": THREADS})
        head(name, run)
        compare(name, run, "POSIX", "DXT_POSIX", darshanmodel.posix(run.sql, run.start()))
        for n in range(ROUNDS):
            seed = rng().randrange(1 << 31)
            run = Run(base / f"random-{way[-1]}-{n}", way, ["/usr/bin/python3", "random_io.py", str(seed)], {"random_io.py": RANDOM})
            compare(f"{name}, seed {seed}", run, "POSIX", "DXT_POSIX", darshanmodel.posix(run.sql, run.start()))
    # What dd does is known.
    ours = {name.rsplit(b"/", 1)[-1]: c for (name, _), c in Log((base / f"real-{WAYS[0][-1]}.darshan").read_bytes()).records["POSIX"].items()
            if c["WRITES"]}
    zeros = ours[b"zeros"]
    checks.equal("dd of 40 blocks of 3000 bytes", [zeros[key] for key in ("WRITES", "BYTES_WRITTEN", "MAX_BYTE_WRITTEN", "CONSEC_WRITES",
                 "SEQ_WRITES", "SIZE_WRITE_1K_10K", "ACCESS1_ACCESS", "ACCESS1_COUNT", "STRIDE1_COUNT")], [40, 120000, 119999, 39, 39, 40, 3000, 40, 0])


def streams(base):
    source, program = base / "streams.c", base / "streams"
    source.write_text(STREAMS)
    subprocess.run(["cc", "-O1", "-w", "-o", program, source], check=True)
    for n, options in enumerate([[], ["--detail-above", "10s"]]):
        run = Run(base / f"streams-{n}", [*WAYS[-1], "--layer", "lib", *options], [str(program)])
        ours = {}
        for (name, _), c in sorted(run.log.records["STDIO"].items(), key=lambda item: item[0][1]):
            name = name.decode().rsplit("/", 1)[-1]
            ours[f"{name} of the child" if name in ours else name] = tuple(c[key] for key in (
                "OPENS", "FDOPENS", "READS", "WRITES", "SEEKS", "FLUSHES", "BYTES_WRITTEN", "BYTES_READ"))
        # A sum also has the call that found the end of the file.
        first = STREAMED["first"]
        checks.equal(f"{len(ours)} streams{', added up' * n}", ours, {**STREAMED, "first": (*first[:2], first[2] + n, *first[3:])})


def mpi(base):
    if not FOUND:
        print("MPI-IO is not checked: neither Open MPI nor MPICH is installed")
        return
    [(mpicc, mpirun)] = one(FOUND)
    program = base / mpicc
    subprocess.run([mpicc, "-O1", "-o", program, TOP / "tests/work/mpi_calls.c"], check=True)
    command = [*mpirun, "-n", "4", str(program), str(rng().randrange(1 << 31)), "4"]
    run = Run(base / "mpi", [*WAYS[-1], "--layer", "mpi"], command)
    compare(mpicc, run, "POSIX", "DXT_POSIX", darshanmodel.posix(run.sql, run.start()))
    compare(mpicc, run, "MPI-IO", "DXT_MPIIO", darshanmodel.mpiio(run.sql, run.start()))
    checks.equal(f"{mpicc}: the ranks of MPI", ({rank for _, rank in run.log.records["MPI-IO"]}, run.log.metadata["ftrac_ranks"]),
                 ({0, 1, 2, 3}, "MPI ranks, then other processes by start"))
    run = Run(base / "mpi-sums", [*WAYS[-1], "--layer", "mpi", "--detail-above", "10s"], command)
    keys = "INDEP_READS INDEP_WRITES COLL_READS COLL_WRITES SPLIT_READS SPLIT_WRITES NB_READS NB_WRITES".split()
    theirs = sum(n for (name, n) in run.sql("SELECT name, calls FROM call WHERE layer = 'mpi' AND coalesce(result, 0) >= 0 AND coalesce(file, path) NOTNULL")
                 if darshanmodel.kind_of(name))
    ours = sum(c[key] for c in run.log.records["MPI-IO"].values() for key in keys)
    checks.check(f"{mpicc}: {theirs} reads and writes, added up, and no segments", ours == theirs > 0 and "DXT_MPIIO" not in run.log.records
                 and "in sums" in run.said, (ours, theirs, run.said))


def refusals(base):
    db = next(base.glob("real-*.db"))
    empty = base / "no-ops.db"
    subprocess.run([FTRAC, "run", "--output", empty, "--no-ops", "--files", "mount", "true"], cwd=base, check=True, capture_output=True, timeout=60)
    cases = [([WFSTAT, "io", "--darshan", db], 2, "leave out the table"), ([WFSTAT, "--darshan", "--by", "job", db], 2, "leave out --by"),
             ([WFSTAT, "--darshan", "--csv", "-o", base / "x.csv", db], 2, "leave out other formats"),
             ([WFSTAT, "--darshan=x", db], 2, "takes no file"), ([WFSTAT, "--darshan", empty], 1, "nothing for a log")]
    damaged = base / "damaged.db"
    damaged.write_bytes(db.read_bytes()[:8192] + b"\xff" * 40000)
    cases.append(([WFSTAT, "-o", base / "y.darshan", damaged], 1, "damaged"))
    for command, status, word in cases:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
        checks.check(f"refused: {' '.join(map(str, command[1:-1]))}", done.returncode == status and word in done.stderr and
                     done.stderr.count("\n") == 1 and not done.stdout, (done.returncode, done.stderr))
    checks.check("no log is left of what failed", not (base / "y.darshan").exists())


def main():
    need_fuse()
    with tempfile.TemporaryDirectory(prefix="ftrac-") as place:
        base = pathlib.Path(place).resolve()
        files(base)
        streams(base)
        mpi(base)
        refusals(base)
    if not shutil.which("darshan-parser"):
        print("not compared with darshan-parser: it is not installed")
    checks.end()


main()
