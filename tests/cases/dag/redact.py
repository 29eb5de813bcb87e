#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 30
# long: --traces 1000 --real
"""ftrac redact: a trace without its names.  All views, tables and graphs are those of the trace but for the names, which
a list of words tells; no name is left in the file; wrong traces tell nothing, either.  --real: the same of Montage and of a build of redis."""
import argparse
import json
import os
import pathlib
import random
import shutil
import sqlite3
import stat
import string
import subprocess
import sys
import tempfile

import redacted
from dagtraces import exports
from ftractest import FTRAC, TOP, Checks, help_words, need, need_fuse
from stattraces import insert
from workflows import traced

sys.path.insert(0, str(TOP / "db"))
import embed

FTRAC = os.path.abspath(FTRAC)
WFDAG = os.path.abspath(os.environ.get("WFDAG", "build/dag/wfdag"))
WFSTAT = os.path.abspath(os.environ.get("WFSTAT", "build/dag/wfstat"))
SAMPLED = 200
START_NS = 1700000000 * 10**9
checks = Checks()

COMMANDS = [[WFSTAT, table, "--csv"] for table in help_words(WFSTAT, "Tables:") if table not in ("hist", "cdf", "time")] + \
    [[WFSTAT, "time", "--csv", "--interval", "4e9"], [WFSTAT, "hist", "--of", "latency", "--csv"], [WFSTAT, "io", "--by", "directory", "--csv"],
     [WFSTAT, "io", "--by", "extension", "--csv"]] + \
    [[WFDAG, table, "--csv"] for table in help_words(WFDAG, "Analyses, as a table:")] + \
    [[WFDAG, f"--{name}"] for name, drawn in exports().items() if not drawn] + [
    [WFDAG, "--json", "--all"], [WFDAG, "--json", "--fold"], [WFDAG, "--json", "--tree"], [WFDAG, "changes", "--json"], [WFDAG, "generate", "--make"],
    [WFDAG, "generate", "--wfformat"]]
# Labels that are cut off, and names that are made of names: in a run whose names are chosen.
CUT = [[WFDAG, "--dot"], [WFDAG, "generate", "--make"]]
# Lists of names within a line.
BY_NAME = [[WFDAG, "generate", "--make"], [WFDAG, "clusters", "--csv"]]


def run(*words, **more):
    return subprocess.run([str(word) for word in words], stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=120,
                          check=False, **more)


def redact(out, trace, *words):
    """The new trace, and its words."""
    done = run(FTRAC, "redact", "--force", "-o", out, "--map", f"{out}.map", *words, trace)
    checks.equal(f"{out.name} {words}: status, messages", (done.returncode, done.stdout, done.stderr), (0, "", ""))
    return redacted.Words(pathlib.Path(f"{out}.map"))


def fails(fact, status, word, *words):
    done = run(FTRAC, "redact", *words)
    checks.equal(f"{fact}: status", done.returncode, status)
    checks.check(f"{fact}: one line, with {word!r}", done.stderr.count("\n") == 1 and word in done.stderr, done.stderr)


# ---- made-up traces ----

class Made:
    """A trace of random processes, files, texts and operations.  Its names are in none of ftrac's own texts.  odd: they have any bytes and
    lengths, and some look like words of a redacted trace."""

    def __init__(self, path, rng, odd):
        self.rng, self.paths, self.odd = rng, {}, odd
        self.names = [self.name() for _ in range(rng.choice([5, 20, 60]))]
        self.db = sqlite3.connect(path)
        self.db.executescript(embed.text(TOP / "db/schema.sql") + embed.text(TOP / "db/views.sql") + embed.text(TOP / "db/steps.sql"))
        self.db.execute(f"PRAGMA application_id = {int.from_bytes(b'ftrc', 'big')}")
        self.facts()
        self.processes()
        self.files()
        self.more()
        self.db.execute("INSERT INTO op_times SELECT process, count(*), sum(latency_ns) FROM op WHERE process IS NOT NULL GROUP BY process")
        self.db.executescript(embed.ends())
        self.db.close()

    def name(self):
        letters = string.ascii_letters + string.digits + "_"
        name = "q" + "".join(self.rng.choice(letters) for _ in range(self.rng.choice([3, 6, 20]))) + "x"
        odd = [name + "é", name.encode() + b"\xff\xfe", f"{name}{'z' * 2000}", "badogakibodu", "fd00", str(self.rng.randrange(10**6))]
        return self.rng.choice([name] * 12 + odd) if self.odd else name

    def word(self):
        """A name, as a part of something."""
        a, b = (one if isinstance(one, str) else one.decode("latin-1") for one in (self.rng.choice(self.names), self.rng.choice(self.names)))
        where = self.rng.choice(list(self.paths)) if self.paths else "/tmp"
        where = where if isinstance(where, str) else "/dev/null"
        return self.rng.choice([a, f"--{a}={where}", f"-o{a}", f"-I{where}", where, f"{a}.{b}", f"https://{a}:8443/{b}?{a}", f"cat '{where}' > \"{a}\"", "-c", "",
                                f"{a}@10.0.{self.rng.randrange(300)}.9", f"[{a}]", "a\nb\t" + b, f"it's {a}", f"$({a})", f"{a}%{b}"])

    def path(self, path=None):
        """The number of a path, a random one if none is given."""
        if path is None:
            parts = [self.rng.choice(self.names) for _ in range(self.rng.randrange(1, 6))]
            parts = [part if isinstance(part, bytes) else part.encode() for part in parts]
            end = self.rng.choice([b"", b".c", b".o", b".fits", b".tar.gz", b" (deleted)", b"-1", b" b"])
            raw = self.rng.choice([b"/", b"/home/", b"/usr/lib/", b"/tmp/", b"/opt/"]) + b"/".join(parts) + end
            try:
                path = raw.decode()
            except UnicodeDecodeError:
                path = raw
        if path not in self.paths:
            self.paths[path] = len(self.paths) + 1
            insert(self.db, "path_names", id=self.paths[path], name=path)
        return self.paths[path]

    def facts(self):
        facts = {"start_ns": START_NS, "end_ns": START_NS + 10**9, "complete": 1, "ops_lost": 0, "process_events_lost": 0, "ops_recorded": 0,
                 "fidelity": self.rng.choice(["exact", "call"]), "host": self.name(), "user": self.name(), "cpus": 2, "memory_bytes": 8 << 30,
                 "process_tier": "ptrace", "command": self.word(), "cwd": self.word(), "source": self.word(), "options": self.word(),
                 "recording_error": self.word(), "mount_namespace": 4, "boot_id": "c0ffee00-1111-4222-8333-444444444444",
                 "job": self.rng.choice([None, None, self.name()]), "xform": self.rng.choice([None, None, self.name()])}
        self.db.executemany("INSERT INTO meta VALUES (?, ?)", facts.items())
        self.db.executemany("INSERT INTO op_name VALUES (?, ?, NULL)", enumerate(["lookup", "open", "read", "write", "release"]))
        self.db.execute("INSERT INTO via_name VALUES (0, 'direct')")
        self.db.execute("INSERT INTO fidelity_name VALUES (0, 'exact')")
        self.db.execute("INSERT INTO flag_text VALUES (0, 'O_RDONLY|O_CREAT')")
        insert(self.db, "ways", id=1, flags=0, fidelity=0, mapped=0)
        insert(self.db, "mounts", id=1, fstype="ext4", path="/home")
        insert(self.db, "kinds", id=1, dev=1, mode=0o100644, mount=1)
        insert(self.db, "clocks", part=0, t=0, wall=0, boot=START_NS - 10**15, synchronized=1, error=5)

    def processes(self):
        self.n = self.rng.choice([1, 3, 12])
        programs = ["make", "sh", "bash", "gcc", "cc1", "python3", "ninja", "cp", "sed", "ld", "xargs"]
        for i in range(1, self.n + 1):
            begin = i * 1000
            insert(self.db, "processes", id=i, pid=5000 + i, ppid=4999, parent=None if i == 1 else self.rng.randrange(1, i), uid=1000, gid=1000,
                   start_t=begin, end_t=10**8 + i, exit_code=0, image=2 * i, cgroup=self.path(), tier=8)
            insert(self.db, "images", id=2 * i - 1, process=i, seq=0, base=2 * i - 2 if i > 1 else None, start_t=begin, end_t=begin + 5)
            program = self.rng.choice(programs if self.rng.random() < 0.6 else self.names)
            program = program.decode("latin-1") if isinstance(program, bytes) else program
            argv = [program, *(self.word() for _ in range(self.rng.randrange(5)))]
            raw = b"".join(word.encode("latin-1", "replace") + b"\0" for word in argv) if self.rng.random() < 0.3 else None
            insert(self.db, "images", id=2 * i, process=i, seq=1, start_t=begin + 5, end_t=10**8 + i, exe=self.path(f"/usr/bin/{program}"),
                   cwd=self.path(), comm=program[:15], argv=json.dumps(argv), argv_raw=raw, stdin=self.path("/dev/null"),
                   stdout=self.path(f"pipe:[{self.rng.randrange(10**5)}]"), stderr=self.path())
            insert(self.db, "fresh_images", image=2 * i)
            for name in self.rng.sample(["FTRAC_JOB", "FTRAC_TARGET", "SLURM_JOB_ID", "OMPI_COMM_WORLD_RANK", "PATH", "QX1_SECRET"], 2):
                value = str(self.rng.randrange(3000)) if name == "OMPI_COMM_WORLD_RANK" else self.word()
                insert(self.db, "environs", image=2 * i, name=name, value=value)

    def files(self):
        op = 1
        for i in range(1, self.rng.choice([2, 10, 40])):
            path, process = self.path(), self.rng.randrange(1, self.n + 1)
            insert(self.db, "files", id=i, path=path, kind=1, ino=i, size_first=10, state=self.rng.randrange(2), birth=START_NS - i)
            insert(self.db, "names", file=i, path=path, from_t=1)
            if self.rng.random() < 0.2:
                insert(self.db, "names", file=i, path=self.path(), from_t=2)
            for user in {process, self.rng.randrange(1, self.n + 1)}:
                writes = int(user == process)
                insert(self.db, "handles", id=op, image=2 * user, file=i, path=path, version=1, way=1, open_t=10**6 + op, life=800)
                insert(self.db, "moved", handle=op, nread=1 - writes, bread=10 - 10 * writes, nwrite=writes, bwrite=10 * writes, read_ns=5,
                       write_ns=5, first_read=None if writes else 100,
                       last_read=None if writes else 0, first_write=100 if writes else None, last_write=0 if writes else None)
                insert(self.db, "fresh_handles", handle=op, over=1)
                insert(self.db, "touches", process=user, file=i, version=1, path=path, did=writes, opens=1, nmeta=0, first_t=10**6 + op, last_t=0)
                insert(self.db, "ops_handle", id=3 * op, code=2 + writes, t=op, latency=9, handle=op, result=10, offset=0)
                insert(self.db, "ops_name", id=3 * op + 1, code=0, t=op, latency=5, requester=2 * user, path=self.path(), result=-2)
                op += 1

    def more(self):
        for i in range(self.rng.randrange(4)):
            target = self.path()
            self.db.execute("INSERT OR IGNORE INTO targets VALUES (?, ?, ?, ?)", (target, self.path(), self.path(), self.path("%.o")))
            self.db.execute("INSERT OR IGNORE INTO prerequisites VALUES (?, ?, 0)", (target, self.path()))
            self.db.execute("INSERT OR IGNORE INTO rules VALUES (?, ?, ?)", (self.rng.randrange(1, self.n + 1), self.word(), self.word()))
            self.db.execute("INSERT OR IGNORE INTO missing_names VALUES (1, ?, 1, 5)", (self.path(),))
            self.db.execute("INSERT INTO sockets VALUES (1, ?, 2, 1, ?, ?, 0, NULL, ?)",
                            (i, self.path(f"127.0.0.1:{i}"), self.path(f"192.168.{i}.7:{i}"), self.name()))


def traces(base, n, seed):
    """Each made-up trace, redacted in a random way: all views are the same, and some of what the programs say."""
    compared, said, names = 0, 0, set()
    choices = [[], ["--keep-system"], ["--keep-extensions"], ["--keep", "/home/*"], ["--keep", "q[a-m]*"]]
    for i in range(n):
        rng = random.Random(f"{seed} {i}")
        old, new = base / "made.db", base / "made-out.db"
        old.unlink(missing_ok=True)
        Made(old, rng, i % 2)
        words = redact(new, old, *rng.choice(choices))
        differ, rows = redacted.differing_views(old, new, words)
        checks.equal(f"trace {seed} {i}: views that differ", differ[:2], [])
        compared += rows
        gone(f"trace {seed} {i}", new, words)
        names |= {name for name in words.word if len(name) > 4}
        for command in rng.sample([one for one in COMMANDS if one not in CUT], 0 if i % 2 else 4):
            differ, lines = redacted.differing_output(old, new, words, command)
            checks.equal(f"trace {seed} {i}: {command[1:]}", differ, None)
            said += lines
    print(f"{n} made-up traces: {compared} rows, {said} lines, {len(names)} names")
    checks.check("rows, lines and names were compared", compared > 100 * n and said > 10 * n and len(names) > 10 * n, (compared, said, len(names)))


def gone(fact, path, words, least=0):
    """No name that has become a word is in the file: of those that ftrac's own texts cannot have."""
    raw = path.read_bytes()
    names = [name for name in words.word if len(name) > 4 and any(c in name for c in "qxQX0123456789") and not name.isdigit()]
    sampled = random.Random(1).sample(names, min(SAMPLED, len(names)))
    left = [name for name in sampled if name.encode("latin-1") in raw]
    checks.equal(f"{fact}: names that are left", left[:3], [])
    checks.check(f"{fact}: names were looked for", len(sampled) >= least, len(sampled))


# ---- real workflows ----

def texts_of(path):
    """All names in rows of views."""
    cells = (cell for view in redacted.views(path) for row in redacted.read(path, f'SELECT * FROM "{view}"')[1] for cell in row)
    return {name for cell in cells if isinstance(cell, (str, bytes))
            for name in redacted.NAME.findall((cell if isinstance(cell, bytes) else cell.encode(errors="surrogateescape")).decode("latin-1"))}


def real(base, what, trace):
    """A name may also be a part of ftrac's own texts, of a word, or of a name that stays: such are left out of the sample."""
    new = base / f"{what}-new.db"
    words = redact(new, trace)
    differ, rows = redacted.differing_views(trace, new, words)
    checks.equal(f"{what}: views that differ", differ, [])
    lines = 0
    compared = [command for command in COMMANDS if command not in CUT[:1]]
    for command in compared:
        differ, n = redacted.differing_output(trace, new, words, command, command in BY_NAME)
        checks.equal(f"{what}: {' '.join(command[1:])}", differ, None)
        lines += n
    own = "\n".join([*texts_of(new), *words.word.values(), (TOP / "dag/redact/vocabulary.c").read_text(),
                     *(path.read_text() for path in (TOP / "db").glob("*.[chs]*"))])
    names = sorted(name for name in words.word if len(name) > 3 and not name.isdigit() and name not in own)
    sampled = random.Random(1).sample(names, min(SAMPLED, len(names)))
    raw = new.read_bytes()
    left = [name.encode("latin-1") for name in sampled if name.encode("latin-1") in raw]
    checks.equal(f"{what}: names that are left", [raw[raw.index(name) - 20:][:60] for name in left][:3], [])
    print(f"{what}: {rows} rows, {len(compared)} commands, {lines} lines, {words.n} words, {len(sampled)} of them looked for in {len(raw) >> 10} KiB")
    checks.check(f"{what}: rows, lines and names were compared", rows > 3000 and lines > 5000 and len(sampled) > 50, (rows, lines, len(sampled)))


def montage(base):
    if not shutil.which("mProjectPP"):
        print("no Montage here: not looked at")
        return
    run("sh", TOP / "examples/montage/generate.sh", "A", base / "montage")
    traced(base / "montage.db", ["make", "-j2"], base / "montage", "--make")
    real(base, "Montage", base / "montage.db")


def redis(base):
    archive = next((TOP / "subprojects/packagecache").glob("redis-*.tar.gz"), None)
    if not archive:
        print("no sources of redis here (./setup bench gets them): not looked at")
        return
    shutil.unpack_archive(archive, base / "redis")
    top = next((base / "redis").iterdir())
    traced(base / "redis.db", ["make", "-j2", "MALLOC=libc", "OPTIMIZATION=-O0"], top, "--make", timeout=1800)
    real(base, "redis", base / "redis.db")


# ---- a workflow ----

def workflow(base):
    work = base / "secretq"
    work.mkdir()
    names = [f"partq{i}x" for i in range(70)]
    for name in names:
        (work / f"{name}.in").write_text(name)
    (work / "stepqx.py").write_text("import sys\nopen(sys.argv[2], 'w').write(open(sys.argv[1]).read())\n")
    (work / "Makefile").write_text("all: allq7.out\nallq7.out: " + " ".join(f"{name}.outq" for name in names) + "\n\tcat $^ >$@\n"
                                   "%.outq: %.in\n\t/usr/bin/python3 stepqx.py $< $@; test -e missingq$*x || cp $@ copyq$*x.txt\n")
    traced(base / "run.db", ["make", "-j2"], work, "--make", "--env", "Q*", env=os.environ | {"QXVARIABLE9": "valueq8x"})
    return base / "run.db"


def of_run(base, trace):
    new = base / "new.db"
    words = redact(new, trace)
    gone("the run", new, words, SAMPLED)
    differ, rows = redacted.differing_views(trace, new, words)
    checks.equal("the run: views that differ", differ, [])
    checks.check("the run: rows were compared", rows > 3000, rows)
    lines = 0
    for command in COMMANDS:
        differ, n = redacted.differing_output(trace, new, words, command)
        checks.equal(f"the run: {' '.join(command[1:])}", differ, None)
        lines += n
    checks.check("the run: lines were compared", lines > 5000, lines)
    print(f"a run: {rows} rows, {len(COMMANDS)} commands, {lines} lines, {words.n} words")
    steps = {name for name, in redacted.read(new, "SELECT DISTINCT step FROM process")[1]}
    checks.check("the run: programs of the system keep their names", "make" in steps and "%.outq" not in steps, steps)
    checks.equal("the run: the file is whole", redacted.read(new, "PRAGMA integrity_check")[1], [("ok",)])
    checks.equal("the run: only the user may read the file, and the list", [stat.S_IMODE(os.stat(path).st_mode) for path in (new, f"{new}.map")], [0o600] * 2)
    return new, words


def keys(base, trace):
    key, other = base / "key", base / "other"
    key.write_bytes(os.urandom(32))
    other.write_bytes(b"x" * 15)
    one, two = (redact(base / f"{name}.db", trace, "--key", key) for name in ("one", "two"))
    checks.check("the same key makes the same words", one.word == two.word and one.n > 200, (one.n, two.n))
    checks.equal("the same key makes the same file", (base / "one.db").read_bytes() == (base / "two.db").read_bytes(), True)
    three, four = (redact(base / f"{name}.db", trace) for name in ("three", "four"))
    checks.check("each time a new key", not set(three.word.values()) & set(four.word.values()))
    fails("a short key", 2, "too short", "-o", base / "no.db", "--key", other, trace)
    fails("no key", 1, "cannot read the key", "-o", base / "no.db", "--key", base / "none", trace)


def times(base, trace):
    redact(base / "moved.db", trace, "--shift-times")
    sql = ("SELECT start_ns, end_ns, latency FROM (SELECT min(start_ns) AS start_ns, max(end_ns) AS end_ns, (SELECT sum(latency_ns) FROM op) AS latency"
           " FROM process)")
    (old,), (new,) = redacted.read(trace, sql)[1], redacted.read(base / "moved.db", sql)[1]
    moved = new[0] - old[0]
    checks.equal("all times move by the same", (new[1] - old[1], new[2]), (moved, old[2]))
    checks.check("by 30 days to ten years, into the past", -3660 * 86400 * 10**9 < moved <= -30 * 86400 * 10**9, moved)
    births = [redacted.read(path, "SELECT id, birth_ns FROM file WHERE birth_ns > 0 ORDER BY 1")[1] for path in (trace, base / "moved.db")]
    facts = [dict(redacted.read(path, "SELECT key, value FROM trace WHERE key IN ('start_ns', 'end_ns')")[1]) for path in (trace, base / "moved.db")]
    checks.equal("the facts, too", {key: facts[1][key] - facts[0][key] for key in facts[0]}, dict.fromkeys(["start_ns", "end_ns"], moved))
    checks.check("and births of files", births[0] and births[1] == [(number, birth + moved) for number, birth in births[0]], len(births[0]))


def kept(base, trace):
    for words, stays in [(["--keep", "partq1*x"], {"partq1x", "partq13x"}), (["--keep", "*/stepqx.py"], {"stepqx"}),
                         (["--keep-extensions"], {"outq"}), (["--keep-system"], set())]:
        said = redact(base / "kept.db", trace, *words)
        checks.check(f"{words}: stays", not stays & set(said.word), stays & set(said.word))
        checks.check(f"{words}: others do not", "partq2x" in said.word and ("stepqx" in said.word) != ("stepqx" in stays))
        differ, _ = redacted.differing_views(trace, base / "kept.db", said)
        checks.equal(f"{words}: views that differ", differ, [])


def again(base, new):
    """Names that are words of the same key."""
    key = base / "key"
    twice = redact(base / "twice.db", base / "one.db", "--key", key)
    differ, rows = redacted.differing_views(base / "one.db", base / "twice.db", twice)
    checks.equal("redacted twice: views that differ", differ, [])
    checks.check("redacted twice: rows", rows > 3000, rows)
    done = run(FTRAC, "merge", "--force", "-o", base / "merged.db", new)
    checks.equal("merged: status", (done.returncode, done.stderr), (0, ""))
    steps = [redacted.read(path, "SELECT step, task, label FROM process ORDER BY id")[1] for path in (new, base / "merged.db")]
    checks.check("merged: steps are found anew as they were", steps[0] == steps[1] and len(steps[0]) > 70, len(steps[0]))


def wrong(base, trace, new):
    fails("no output", 2, "-o", trace)
    fails("no trace", 2, "no trace", "-o", base / "no.db")
    fails("two traces", 2, "several", "-o", base / "no.db", trace, trace)
    fails("what is there", 1, "there is a trace already", "-o", new, trace)
    fails("a list that is there", 1, "is there already", "-o", base / "no.db", "--map", f"{new}.map", trace)
    (base / "empty").mkdir()
    fails("no trace in a directory", 1, "there is no trace", "-o", base / "no.db", base / "empty")
    open_ = base / "open.db"
    shutil.copy(trace, open_)
    with sqlite3.connect(open_) as db:
        db.execute("UPDATE meta SET value = 0 WHERE key = 'complete'")
    db.close()
    fails("a trace that is not complete", 1, "ftrac merge", "-o", base / "no.db", "--map", base / "no.map", open_)
    checks.equal("nothing is left of what failed", [path for path in (base / "no.db", base / "no.map") if path.exists()], [])


def forged(base, trace):
    """Texts in columns of numbers, tables and views of others, and pages that are free."""
    bad, n = base / "bad.db", 0
    shutil.copy(trace, bad)
    db = sqlite3.connect(bad)
    for table, in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
        for _, column, kind, _, _, key in db.execute(f"PRAGMA table_info({table})").fetchall():
            if kind == "INTEGER" and not key:
                n += db.execute(f"UPDATE {table} SET {column} = 'leakq' || rowid || 'x' WHERE rowid = (SELECT min(rowid) FROM {table})"
                                if "WITHOUT" not in db.execute("SELECT sql FROM sqlite_schema WHERE name = ?", (table,)).fetchone()[0]
                                else f"UPDATE {table} SET {column} = 'leakqx'").rowcount
    db.executescript("CREATE TABLE mine (leakqtable TEXT); INSERT INTO mine VALUES ('leakqvalue'); CREATE VIEW leakqview AS SELECT 'leakqtext';"
                     "CREATE INDEX leakqindex ON mine (leakqtable); ANALYZE;")
    db.executemany("INSERT INTO path_names VALUES (?, NULL, ?)", [(10**6 + i, f"/leakqfree/{i}x") for i in range(2000)])
    db.commit()
    db.execute("DELETE FROM path_names WHERE id > 1000000")
    db.commit()
    db.close()
    checks.check("forged: it has texts that are to go", n > 100 and bad.read_bytes().count(b"leakq") > 100, n)
    redact(base / "clean.db", bad)
    checks.equal("forged: what is left of them", (base / "clean.db").read_bytes().count(b"leakq"), 0)
    tables = [redacted.read(path, "SELECT type, name, sql FROM sqlite_schema ORDER BY 1, 2")[1] for path in (base / "new.db", base / "clean.db")]
    checks.equal("forged: its schema is ours", tables[0] == tables[1], True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--traces", type=int, default=30)
    parser.add_argument("--real", action="store_true")
    parser.add_argument("--seed", default=os.environ.get("FTRAC_SEED") or str(random.randrange(10**6)))
    asked = parser.parse_args()
    need("make", "gcc")
    need_fuse()
    print(f"seed {asked.seed}")
    base = pathlib.Path(tempfile.mkdtemp(prefix="ftrac-case-"))
    try:
        trace = workflow(base)
        new, _ = of_run(base, trace)
        keys(base, trace)
        times(base, trace)
        kept(base, trace)
        again(base, new)
        wrong(base, trace, new)
        forged(base, trace)
        traces(base, asked.traces, asked.seed)
        if asked.real:
            montage(base)
            redis(base)
    finally:
        shutil.rmtree(base, ignore_errors=True)
    checks.end()


main()
