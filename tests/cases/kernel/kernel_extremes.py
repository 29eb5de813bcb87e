#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 30
# long: --processes 1000000 --descriptors 10000
"""The record in the kernel of what is unusual: tracers of tracers, very many processes and descriptors, any bytes in names
and arguments.

  kernel_extremes.py [--processes N] [--descriptors N]
"""
import argparse
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile

import kernelleft
from ftractest import WORK, Checks, InKernel, need_kernel

PROCMON = os.environ.get("PROCMON", "build/procmon/procmon")
MEMORY_MOST = 600 << 20  # 256 MiB of records, what is known of processes and files, and caches
WRITES = "for i in 1 2 3 4 5 6 7 8; do echo $i >{}$i; done; sleep 0.3"
# Names as bytes, and what the program does with each: makes, reads, renames, removes.
NAMES = """
import os, sys
names = [bytes([c]) * 3 for c in range(1, 256) if c != 47]
for name in names + [b"a" * 255, b"\\n\\n", b" ", b"-", b"\\xff\\xfe" * 100, b"'\\"$`"]:
    with open(name, "wb") as f:
        f.write(name)
    with open(name, "rb") as f:
        f.read()
    os.rename(name, name[:-1] + b"~")
    os.unlink(name[:-1] + b"~")
"""
LONG = """
import os
step = b"d" * 255
path = b""
top = os.getcwdb()
while len(top) + 1 + len(path) + 256 < 4096 - 2:
    path += step + b"/"
    os.mkdir(path)
path += b"f" * (4095 - len(path))           # the longest that a call takes
with open(path, "wb") as f:
    f.write(b"z")
for refused in b"n" * 256, b"p/" * 3000:
    try:
        os.open(refused, os.O_RDONLY)
    except OSError as e:
        assert e.errno == 36
path = path[:path.rindex(b"/") + 1] + b"f" * 200
with open(path, "wb") as f:
    f.write(b"x")
for i in range(400):
    os.mkdir("e")
    os.chdir("e")
with open("bottom", "wb") as f:
    f.write(b"y")
"""
DESCRIPTORS = """
import os, sys
n = int(sys.argv[1])
fds = [os.open(f"f{i}", os.O_RDWR | os.O_CREAT) for i in range(n)]
for i, fd in enumerate(fds):
    os.write(fd, b"x" * (i % 9))
more = [os.dup(fd) for fd in fds[::2]]
if os.fork() == 0:
    os.closerange(min(fds), max(more) + 1)
    os._exit(0)
os.wait()
for fd in fds[::3]:
    os.close(fd)
"""


def run(checks, what, place, command, cwd, status=0, **more):
    done = subprocess.run([*place.command("-q"), *command], cwd=cwd, capture_output=True, timeout=7200, check=False,
                          stdin=subprocess.DEVNULL, **more)
    checks.equal(f"{what}: status", (done.returncode, done.stderr[-500:]), (status, b""))
    facts = "complete", "ops_lost", "kernel_dropped", "kernel_missed"
    checks.equal(f"{what}: facts", [place.fact(key) for key in facts], [1, 0, 0, 0])
    return done


def written(place):
    return {path: (n, size) for path, n, size in place.sql(
        "SELECT path, sum(nwrite), sum(bwrite) FROM access WHERE nwrite > 0 GROUP BY path")}


def together(checks, base):
    """Two at once: each has its own."""
    places = [InKernel(base, f"{name}.db") for name in "ab"]
    children = [subprocess.Popen([*place.command("-q"), "sh", "-c", WRITES.format(name)], cwd=base)
                for name, place in zip("ab", places)]
    checks.equal("two at once: status", [child.wait(120) for child in children], [0, 0])
    for name, place in zip("ab", places):
        names = {os.path.basename(path) for path in written(place) if path.startswith(f"{base}/")}
        checks.equal(f"two at once, {name}", names, {f"{name}{i}" for i in range(1, 9)})


def inside(checks, base):
    """A tracer in a tracer: the inner one has its command, the outer one both."""
    outer, inner = InKernel(base, "outer.db"), InKernel(base, "inner.db")
    command = [*inner.command("-q"), "sh", "-c", WRITES.format("in")]
    run(checks, "ftrac run in ftrac run", outer, command, base)
    for name, place in {"inner": inner, "outer": outer}.items():
        names = {os.path.basename(path) for path in written(place)
                 if path.startswith(f"{base}/in") and "inner.db" not in path}
        checks.equal(f"{name}: files", names, {f"in{i}" for i in range(1, 9)})
    checks.equal("inner: complete", inner.fact("complete"), 1)
    checks.check("outer: the inner trace is written", any("inner.db" in path for path in written(outer)))
    counts = [place.sql("SELECT count(*) FROM process")[0][0] for place in (inner, outer)]
    checks.check("outer: has the inner ftrac, too", counts[1] > counts[0], counts)
    print(f"a tracer in a tracer: {counts[0]} and {counts[1]} processes")


def of_tracers(checks, base):
    """Commands that trace by ptrace(2), in the kernel's record."""
    tracers = {"strace": ["strace", "-f", "-o", "/dev/null"],
               "procmon": [PROCMON, "--processes", "ptrace", "--force", "--db", "p.db"]}
    for name, words in tracers.items():
        if not shutil.which(words[0]):
            continue
        place = InKernel(base, f"of-{name}.db")
        run(checks, name, place, [*words, "sh", "-c", WRITES.format(name)], base)
        names = {os.path.basename(path) for path in written(place) if path.startswith(f"{base}/{name}")}
        checks.equal(f"{name}: files", names, {f"{name}{i}" for i in range(1, 9)})


def names(checks, base):
    """Every byte but the two that names cannot have."""
    place, work = InKernel(base, "names.db"), base / "names"
    work.mkdir()
    run(checks, "names", place, [sys.executable, "-c", NAMES], work)
    top = os.fsencode(work) + b"/"
    found = {os.fsencode(path)[len(top):] for path, in place.sql("SELECT path FROM op WHERE name = 'write'") if os.fsencode(
        path).startswith(top)}
    wanted = {bytes([c]) * 3 for c in range(1, 256) if c != 47}
    wanted |= {b"a" * 255, b"\n\n", b" ", b"-", b"\xff\xfe" * 100, b"'\"$`"}
    final = {name[:-1] + b"~" for name in wanted}
    renamed = {(os.fsencode(a)[len(top):], os.fsencode(b)[len(top):]) for a, b in place.sql(
        "SELECT path, path2 FROM op WHERE name = 'rename' AND result = 0")}
    removed = {os.fsencode(path)[len(top):] for path, in place.sql(
        "SELECT path FROM op WHERE name = 'unlink' AND result = 0")}
    print(f"names: {len(wanted)} names of any bytes, {len(wanted & found)} written as such, {len(renamed)} renamed, "
          f"{len(removed)} removed")
    checks.equal("names: written", sorted(found ^ wanted), [])
    checks.equal("names: renamed", sorted(renamed ^ {(name, name[:-1] + b"~") for name in wanted}), [])
    checks.equal("names: removed", sorted(removed ^ final), [])


def long_names(checks, base):
    place, work = InKernel(base, "long.db"), base / "long"
    work.mkdir()
    run(checks, "long", place, [sys.executable, "-c", LONG], work)
    paths = [path for path in written(place) if path.startswith(str(work))]
    deep = [path for path in paths if path.endswith("/bottom")]
    longest = max((path for path in paths if path not in deep), key=len, default="")
    refused = place.sql("SELECT path FROM op WHERE name = 'open' AND result = -36")
    most = max(len(os.path.relpath(path, work)) for path in paths)
    print(f"long: a path of {most} bytes as it was given, one of {sum(path.count('/') for path in deep)} components; "
          f"{[path and len(path) for path, in refused]} bytes refused")
    checks.equal("long: the last component", os.path.basename(longest)[:200], "f" * 200)
    checks.equal("long: as a call takes it", most, 4095)
    checks.check("long: names that are too long are refused", len(refused) == 2 and (f"{work}/{'n' * 256}",) in refused, refused)
    above = longest[len(str(work)) + 1:].split("/")[:-1]
    checks.check("long: components of 255 bytes", above and set(map(len, above)) == {255}, len(longest))
    checks.equal("long: 400 directories deep", [path[len(str(work)):] for path in deep], ["/e" * 400 + "/bottom"])
    shutil.rmtree(work)


def arguments(checks, base):
    """128 KiB is the most that one argument may have, with its NUL."""
    place = InKernel(base, "arguments.db")
    argv = [b"x" * (131072 - 1), b"", b"\n", bytes(range(1, 256)), b"\xff" * 1000]
    run(checks, "arguments", place, [b"/bin/true", *argv], base)
    raw = place.sql("SELECT argv_raw FROM image WHERE exe GLOB '*/true'")[0][0]
    raw = raw if isinstance(raw, bytes) else os.fsencode(raw)
    print(f"arguments: {len(raw)} bytes in {raw.count(0)} arguments")
    checks.check("arguments: equal", raw == b"\0".join([b"/bin/true", *argv]) + b"\0", raw[:100])


def descriptors(checks, base, n):
    place, work = InKernel(base, "descriptors.db"), base / "descriptors"
    work.mkdir()
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    n = min(n, most * 3 // 5) if most != resource.RLIM_INFINITY else n
    run(checks, "descriptors", place, [sys.executable, "-c", DESCRIPTORS, str(n)], work,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, 2 * n + 100), most)))
    found = place.sql("SELECT count(*), count(DISTINCT path), sum(close_ns IS NOT NULL), sum(bwrite) FROM handle "
                      "WHERE path GLOB ?", f"{work}/f*")[0]
    counted = dict(place.sql("SELECT name, count(*) FROM op WHERE path GLOB ? GROUP BY name", f"{work}/f*"))
    print(f"descriptors: {n} open at once; handles, paths, closed, bytes: {found}; {counted}")
    checks.equal("descriptors: handles", found, (n, n, n, sum(i % 9 for i in range(n))))
    checks.equal("descriptors: calls", {key: counted.get(key) for key in ("create", "dup", "close")},
                 {"create": n, "dup": (n + 1) // 2, "close": n + (n + 1) // 2 + (n + 2) // 3})
    shutil.rmtree(work)


def processes(checks, base, n):
    """The peak is that of ftrac, and of the command below it, which needs less."""
    place = InKernel(base, "processes.db")
    child = subprocess.Popen([*place.command("-q"), WORK / "kernel_forks", str(n)], cwd=base, stdout=subprocess.PIPE)
    said = child.stdout.read()
    _, status, used = os.wait4(child.pid, 0)
    peak = used.ru_maxrss * 1024
    checks.equal("processes: status", status, 0)
    checks.equal("processes: facts", [place.fact(key) for key in ("complete", "ops_lost", "kernel_dropped")], [1, 0, 0])
    total, ended, statuses = place.sql("SELECT count(*), count(end_ns), sum(exit_code) FROM process")[0]
    figures = place.sql("SELECT count(*) FROM process WHERE cpu_ns IS NOT NULL")[0][0]
    print(f"processes: {n} asked for, {total} recorded, {ended} with their end, {figures} with figures; trace "
          f"{place.db.stat().st_size / total:.0f} bytes each; most memory of ftrac {peak >> 20} MiB; "
          f"spooled {place.fact('kernel_spooled')}")
    checks.equal("processes", (total, ended, figures, statuses), (n + 1, n + 1, n + 1, int(said)))
    checks.check("processes: memory of ftrac is bounded", peak < MEMORY_MOST, peak)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--processes", type=int, default=3000)
    parser.add_argument("--descriptors", type=int, default=1000)
    options = parser.parse_args()
    need_kernel()
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="ftrac-case-") as directory:
        base = pathlib.Path(directory).resolve()
        for part in together, inside, of_tracers, names, long_names, arguments:
            part(checks, base)
        descriptors(checks, base, options.descriptors)
        processes(checks, base, options.processes)
    kernelleft.end(checks)


main()
