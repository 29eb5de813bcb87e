#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 20
"""ftrac merge: one trace of several, which all programs read like that of one run.  The same result in whatever order they are
given, also of directories and of merged traces; whole or not there, whatever fails."""
import contextlib
import itertools
import os
import pathlib
import resource
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time

from ftractest import FTRAC, Checks, need, need_fuse
from workflows import traced

FTRAC = os.path.abspath(FTRAC)
WFDAG = os.path.abspath(os.environ.get("WFDAG", "build/dag/wfdag"))
WFSTAT = os.path.abspath(os.environ.get("WFSTAT", "build/dag/wfstat"))
MAKEFILE = "a:\n\techo 1 > a\nb: a\n\tcat a > b\nc: b\n\techo 2 >> a; cat a > c\n"
MANY = 200
LIMIT = 128 << 20
checks = Checks()


def run(*words, **more):
    return subprocess.run([str(word) for word in words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120,
                          check=False, **more)


def merge(out, *words, **more):
    return run(FTRAC, "merge", "-o", out, *words, **more)


def merged(out, *words):
    done = merge(out, *words)
    checks.equal(f"merging into {out.name}: status, messages", (done.returncode, done.stdout, done.stderr), (0, "", ""))
    return out


def views(path):
    """All rows of all views, in any order."""
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
        names = [name for name, in db.execute("SELECT name FROM sqlite_schema WHERE type = 'view' ORDER BY name")]
        return {name: sorted(map(repr, db.execute(f"SELECT * FROM {name}"))) for name in names}


def rows(path, sql):
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
        return db.execute(sql).fetchall()


def is_same(what, one, other):
    a, b = views(one), views(other)
    checks.check(f"{what}: there are rows to compare", sum(map(len, a.values())) > 300, sum(map(len, a.values())))
    checks.equal(f"{what}: views that differ", [name for name in a.keys() | b.keys() if a.get(name) != b.get(name)], [])


def record(base):
    """The targets of one makefile, each in a trace of its own."""
    work = base / "work"
    work.mkdir()
    (base / "M").write_text(MAKEFILE)
    (base / "traces" / "deep").mkdir(parents=True)
    names = {"c": base / "traces/1.tr", "b": base / "traces/deep/2.tr", "a": base / "traces/deep/3.tr"}
    for target in "abc":
        traced(names[target], ["make", "-s", "-f", "../M", target], work, "--job", target, "--xform", target)
    (base / "traces" / "notes").write_text("no trace\n")
    (base / "traces" / "link").symlink_to(base)  # which would lead here once more
    return [names[target] for target in "abc"]


def orders(base, traces):
    first = merged(base / "first.db", *traces)
    for order in list(itertools.permutations(traces))[1:]:
        other = merged(base / "other.db", "--force", *order)
        is_same("another order", first, other)
    for what, words in {"a directory": [base / "traces"], "a directory, and what it has": [traces[1], base / "traces", traces[0]],
                        "two directories": [base / "traces/deep", traces[2], base / "traces/deep"]}.items():
        is_same(what, first, merged(base / "other.db", "--force", *words))
    merged(base / "traces/all.db", base / "traces")
    merged(base / "traces/all.db", "--force", base / "traces")
    is_same("into the directory, twice", first, base / "traces/all.db")
    os.unlink(base / "traces/all.db")
    two = merged(base / "two.db", *traces[:2])
    is_same("a merged one with another", first, merged(base / "other.db", "--force", traces[2], two))
    checks.equal("the facts of each", rows(first, "SELECT part, value FROM merged WHERE key = 'job'"), [(1, "a"), (2, "b"), (3, "c")])
    checks.equal("how many they are", rows(first, "SELECT value FROM trace WHERE key = 'merged'"), [(3,)])
    checks.equal("nothing is damaged", rows(first, "PRAGMA integrity_check"), [("ok",)])
    checks.equal("only its owner may read it", oct(first.stat().st_mode & 0o777), "0o600")
    return first


def of_one(base, traces):
    """Merged alone, a trace says what it said."""
    alone = views(merged(base / "alone.db", traces[0]))
    before = views(traces[0])
    new = {"trace", "merged", "run", "file_name", "process_job", "process_step", "program", "access_rows", "clock"}
    differ = [name for name in before if name not in new and alone[name] != before[name]]
    checks.equal("one trace: views that differ", differ, [])
    facts = dict(rows(base / "alone.db", "SELECT key, value FROM trace"))
    kept = {key: value for key, value in rows(traces[0], "SELECT key, value FROM trace")
            if key not in ("job", "xform", "ending") and value is not None}
    checks.check("one trace: facts to compare", len(kept) > 15, len(kept))
    checks.equal("one trace: facts that differ", {key for key in kept if facts.get(key) != kept[key]}, set())


def programs(base, first, traces):
    """The programs say the same of it as of the parts together, and generate what builds the same."""
    lines = [[WFDAG, "--json"], [WFDAG, "generate", "--make", "-o", "-"], [WFDAG, "critical-path", "--csv"], [WFSTAT, "io", "--csv"],
             [WFSTAT, "sys", "--csv"], [WFSTAT, "proc", "--csv"], [WFSTAT, "overview"]]
    for line in lines:
        one, together, directory = run(*line, first), run(*line, *traces), run(*line, base / "traces")
        what = " ".join(line[1:])
        checks.equal(f"{what}: status", (one.returncode, one.stderr), (0, ""))
        checks.equal(f"{what}: as of the parts", one.stdout.splitlines(), together.stdout.splitlines())
        checks.equal(f"{what}: as of their directory", directory.stdout.splitlines(), together.stdout.splitlines())
    built = base / "built"
    built.mkdir()
    (built / "Makefile").write_text(run(WFDAG, "generate", "--make", "-o", "-", first).stdout)
    done = run("make", "-s", "-j4", cwd=built)
    checks.equal("what is generated builds", (done.returncode, done.stderr), (0, ""))
    for name, text in ("a", "1\n2\n"), ("b", "1\n"), ("c", "1\n2\n"):
        checks.equal(f"the contents of {name}", (built / name).read_text() if (built / name).exists() else None, text)


def one_line(what, done, status, *words):
    checks.equal(f"{what}: status", done.returncode, status)
    checks.check(f"{what}: one line that says {words}", done.stderr.count("\n") == 1 and
                 all(str(word) in done.stderr for word in words), done.stderr)


def refusals(base, first, traces):
    out = base / "new.db"
    before = first.read_bytes()
    one_line("no output", run(FTRAC, "merge", traces[0]), 2, "-o")
    one_line("no trace", merge(out), 2, "no trace")
    one_line("an unknown option", merge(out, "--nix", traces[0]), 2, "--nix")
    one_line("no such trace", merge(out, base / "nothing.db"), 1, "nothing.db", "No such file")
    one_line("a file that is no trace", merge(out, base / "M"), 1, "M", "no trace")
    (base / "empty").mkdir(exist_ok=True)
    one_line("a directory without traces", merge(out, base / "empty", traces[0]), 1, "empty", "no trace")
    one_line("the same, of another program", run(WFSTAT, base / "empty"), 1, "empty", "no trace")
    one_line("a directory that is not there", merge(base / "no/new.db", traces[0]), 1, "no such directory")
    one_line("a trace that is there", merge(first, *traces), 1, first, "--force")
    for other in base / "M", base / "empty":
        one_line("what is no trace", merge(other, "--force", traces[0]), 1, other, "no trace")
    checks.equal("it is as it was", (base / "M").read_text(), MAKEFILE)
    log = base / "first.db-wal"
    log.touch()
    one_line("a trace with a log", merge(first, "--force", traces[0]), 1, first, "never completed")
    log.unlink()
    checks.check("the trace is as it was", first.read_bytes() == before)
    checks.check("nothing is left", not out.exists() and not list(base.glob("*.part")), list(base.iterdir()))


def unfinished(base, traces):
    """A trace whose writer was killed."""
    copy = base / "killed.tr"
    shutil.copy(traces[2], copy)
    with contextlib.closing(sqlite3.connect(copy)) as db, db:
        db.execute("UPDATE meta SET value = 0 WHERE key = 'complete'")
    done = merge(base / "killed.db", copy, traces[0])
    one_line("an incomplete trace", done, 0, "incomplete")
    one_line("the same, --strict", merge(base / "killed.db", "--force", "--strict", copy, traces[0]), 3, "incomplete")
    checks.equal("it says that it is incomplete", rows(base / "killed.db", "SELECT value FROM trace WHERE key = 'complete'"), [(0,)])


def many_traces(base, traces):
    many = base / "many"
    many.mkdir()
    big = base / "big.tr"
    shutil.copy(traces[2], big)
    with contextlib.closing(sqlite3.connect(big)) as db, db:
        columns = "code, t, latency, handle, result, offset + 1000000, length, requester"
        first, count = db.execute("SELECT max(id), count(*) FROM ops_handle").fetchone()
        copies = 28000 // count
        db.execute(f"WITH RECURSIVE c (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < {copies}) INSERT INTO ops_handle "
                   f"SELECT {first} + 1000 * i + (SELECT count(*) FROM ops_handle p WHERE p.id <= o.id), {columns} FROM c, ops_handle o")
    for i in range(MANY):
        shutil.copy(big, many / f"{i}.tr")
    return many


def memory_of(command, **more):
    """The largest of the program, in bytes."""
    pid = os.posix_spawn(command[0], command, os.environ, **more)
    _, status, used = os.wait4(pid, 0)
    return os.waitstatus_to_exitcode(status), used.ru_maxrss << 10


def bounded(base, many):
    out = base / "many.db"
    status, used = memory_of([FTRAC, "merge", "-o", str(out), str(many)])
    size = out.stat().st_size if out.exists() else 0
    print(f"{MANY} traces: {size >> 20} MiB written, {used >> 20} MiB of memory")
    checks.equal("many traces: status", status, 0)
    checks.check("many traces: more is written than would fit into the memory", size > LIMIT, size)
    checks.check("many traces: memory is bounded", used < LIMIT, used)
    # An operation in a row of its handle may get a row of its own.
    count = "SELECT (SELECT count(*) FROM ops_handle) + (SELECT count(close_op) + count(stat_op) FROM handles) + (SELECT count(data_op) FROM moved)"
    (operations,), (each,) = rows(out, count)[0], rows(many / "0.tr", count)[0]
    checks.equal("many traces: all operations", operations, MANY * each)
    checks.equal("many traces: all are there", rows(out, "SELECT count(DISTINCT part) FROM merged"), [(MANY,)])
    out.unlink()


def written(pid):
    """How much a program has written to its output, which has no name yet or ends with .part."""
    for fd in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            place = os.readlink(fd)
            if "many.db" in place or "/#" in place:
                return os.stat(fd).st_size
    return 0


def killed(base, many):
    """In the middle of its work."""
    for _ in range(10):
        process = subprocess.Popen([FTRAC, "merge", "-o", str(base / "many.db"), str(many)], stdin=subprocess.DEVNULL)
        while process.poll() is None and written(process.pid) < 1 << 20:
            time.sleep(0.001)
        process.kill()
        if process.wait() == -signal.SIGKILL:
            break
    checks.equal("a merge was killed", process.returncode, -signal.SIGKILL)
    checks.check("nothing has its name", not (base / "many.db").exists())
    done = merge(base / "many.db", "--no-ops", many)
    checks.equal("again: it works", (done.returncode, done.stderr), (0, ""))
    checks.equal("again: without operations, but with accesses",
                 rows(base / "many.db", "SELECT (SELECT count(*) FROM op WHERE name = 'read'), (SELECT count(*) > 1000 FROM access)"), [(0, 1)])
    (base / "many.db").unlink()


def limited():
    resource.setrlimit(resource.RLIMIT_FSIZE, (4 << 20, 4 << 20))


def no_space(base, many):
    done = merge(base / "many.db", many, preexec_fn=limited)
    one_line("a limit of file sizes", done, 1, "take a place with more space")
    checks.check("nothing is left", not (base / "many.db").exists() and not list(base.glob("many.db*")))
    if os.geteuid() != 0:
        print("a full disk was not tried: only root can mount one")
        return
    disk = base / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", disk], check=True)
    try:
        one_line("a full disk", merge(disk / "many.db", many), 1, "full", "take a place with more space")
        checks.equal("nothing is left on it", os.listdir(disk), [])
    finally:
        subprocess.run(["umount", disk], check=True)


need_fuse()
need("make")
with tempfile.TemporaryDirectory(prefix="ftrac-case-") as directory:
    top = pathlib.Path(directory)
    parts = record(top)
    whole = orders(top, parts)
    of_one(top, parts)
    programs(top, whole, parts)
    refusals(top, whole, parts)
    unfinished(top, parts)
    folder = many_traces(top, parts)
    bounded(top, folder)
    killed(top, folder)
    no_space(top, folder)
checks.end()
