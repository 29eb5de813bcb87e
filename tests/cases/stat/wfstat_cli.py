#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 35
# long: --long
"""wfstat: its command line, what it prints in which format, and traces of all kinds.

The traces are made here: by hand from db/schema.sql, and by bench/synthetic.py.  The
place of wfstat is $WFSTAT."""
import errno
import fcntl
import itertools
import json
import os
import pathlib
import pty
import random
import shutil
import signal
import sqlite3
import struct
import subprocess
import termios
import time

from sample import some
from stattraces import (FORMATS, NAMES, OPTIONS, PLAIN, SECOND, START_NS, TABLES, UNITS, UNITS_BYTES, UNITS_NS,
                        VALUES, WFSTAT, add_file, add_process, as_cell, base, checks, column, csv_rows, fails,
                        insert, json_rows, make, odd, one_operation, run, run_case, synthetic, text, tsv_rows,
                        units, works)

# ---- the command line ----

def check_help():
    out = works("--help", "--help").decode()
    checks.equal("-h is --help", works("-h", "-h").decode(), out)
    wide = [line for line in out.splitlines() if len(line) > 100 or "\t" in line]
    checks.equal("--help fits 100 columns", wide, [])
    for word in OPTIONS + PLAIN + VALUES + ["hist", "cdf"]:
        checks.check(f"--help names {word}", word in out)
    checks.check("--version", works("--version", "--version").startswith(b"wfstat "))


def check_usage(trace):
    for option, value in (("--top", "-1"), ("--top", "x"), ("--top", ""), ("--top", "1.5"),
                          ("--top", "9" * 30), ("--from", "-1"), ("--to", "nan"),
                          ("--from", "inf"), ("--from", "1s"), ("--interval", "1e99"),
                          ("--interval", ""), ("--memory", "0"), ("--memory", "64X"),
                          ("--memory", "-1G"), ("--memory", "9E"), ("--process", "-1"),
                          ("--process", "x"), ("--format", "xml"), ("--per", "file"),
                          ("--sizes", "odd"), ("--phase", "=x"), ("--phase", "x=")):
        fails(f"{option} '{value}'", 2, [f"'{value}'", option.lstrip("-") if option not in (
            "--per", "--sizes") else "must be"], "io", option, value, trace)
    for glob in "--include", "--exclude":
        fails(f"{glob} ''", 2, ["empty glob"], "file", glob, "", trace)
    fails("--from > --to", 2, ["--to"], "io", "--from", "5", "--to", "1", trace)
    fails("--from = --to", 2, ["--to"], "io", "--from", "5", "--to", "5", trace)
    fails("an interval of nothing", 2, ["--interval"], "time", "--interval", "0", trace)
    fails("--top without its value", 2, ["--top", "needs a value"], "io", "--top")
    fails("a file where none belongs", 2, ["--csv is a format", "--csv -o x"], "io", "--csv=x", trace)
    fails("a file where it once belonged", 2, ["--csv is a format", "--csv -o x.csv"], "io", "--csv", "x.csv", trace)
    fails("unknown option", 2, ["--nonsense", "--help"], "io", "--nonsense", trace)
    fails("unknown short option", 2, ["-q", "--help"], "io", "-q", trace)
    fails("unknown table", 2, ["'nosuch'", "--help"], "nosuch", trace)
    fails("unknown column", 2, ["'nosuch'", "step, tasks, processes, read_bytes"], "io", "--sort", "nosuch", trace)
    fails("unknown column to print", 2, ["'nosuch'", "step, tasks"], "io", "--columns", "step,nosuch", trace)
    fails("unknown phase", 2, ["'pro'; the phases are prog"], "io", "--phase", "pro", trace)
    fails("a phase that is not defined", 2, ["'b'; the phases are a, prog"], "io", "--phase", "a=x*", "--phase", "b", trace)
    works("a phase that is defined and that no job has", "io", "--phase", "a=nosuch", "--phase", "a", trace)
    fails("unknown job", 2, ["'nosuch'; the jobs are it's"], "proc", "--job", "nosuch", trace)
    whole, part = (csv_rows(works("--columns", "io", "--csv", *more, trace)) for more in ([], ["--columns", "writes,step", "--sort", "reads"]))
    at = [whole[0].index(name) for name in (b"writes", b"step")]
    checks.equal("--columns", sorted(part), sorted([row[i] for i in at] for row in whole))
    fails("no column", 2, ["column"], "io", "--sort", "", trace)


def check_misfits(trace):
    """Options that a table does not have are refused, not taken and ignored."""
    fails("hist of nothing", 2, ["--of"], "hist", trace)
    fails("hist of nonsense", 2, ["'nonsense'", "latency"], "hist", "--of", "nonsense", trace)
    fails("io has no --of", 2, ["--of", "io"], "io", "--of", "rss", trace)
    fails("time of nonsense", 2, ["'rss'", "size, bytes or latency"], "time", "--of", "rss", trace)
    fails("time has no classes without --of", 2, ["--of"], "time", "--sizes", "tens", trace)
    fails("time has no classes of Darshan", 2, ["'darshan'", "powers or tens"], "time", "--of", "size", "--sizes", "darshan", trace)
    fails("files have no classes", 2, ["--files"], "time", "--of", "size", "--files", trace)
    fails("file has no --by", 2, ["--by"], "file", "--by", "command", trace)
    fails("sys has no --per", 2, ["--per", "sys"], "sys", "--per", "job", trace)
    fails("io has no operations", 2, ["--operation", "io"], "io", "--operation", "read", trace)
    fails("io has no picture", 2, ["picture"], "io", "-o", "x.svg", trace)
    fails("io has no --files", 2, ["--files"], "io", "--files", trace)
    fails("no picture of the files of intervals", 2, ["--files"], "time", "--files", "--svg",
          "-o", "x.svg", trace)
    for by in ("nonsense", "", ",", "env:", "command:x", "command\nexe", "Command"):
        fails(f"--by {by!r}", 2, ["group"], "run", "--by", by, trace, timeout=5)
    fails("run has no files", 2, ["'file'"], "run", "--by", "file", trace)
    fails("io has no operations", 2, ["'operation'"], "io", "--by", "operation", trace)
    fails("--by too often", 2, ["--by"], "io", *["--by=command"] * 9, trace)


def check_order(trace):
    """Options stand anywhere, a table comes first, '--' ends the options."""
    wanted = works("plain order", "proc", "--csv", "--top", "3", trace)
    for arguments in (("--csv", "proc", trace, "--top", "3"), ("--top=3", "proc", "--csv", trace),
                      ("proc", trace, "--csv", "--top=3"),
                      ("--csv", "--top=3", "--", "proc", trace),
                      ("proc", "--format", "csv", "--top", "0", "--top", "3", trace)):
        checks.equal(f"order {arguments}", works(f"order {arguments}", *arguments), wanted)
    place = base / "place"
    place.mkdir()
    for name in "trace.db", "io", "-x":
        shutil.copy(trace, place / name)
    checks.equal("trace.db is the default", works("default", "proc", "--csv", "--top=3", cwd=place),
                 wanted)
    checks.equal("a trace with the name of a table", works("./io", "proc", "--csv", "--top=3",
                 "./io", cwd=place), wanted)
    checks.equal("a trace like an option", works("-x", "proc", "--csv", "--top=3", "--", "-x",
                 cwd=place), wanted)
    checks.equal("a trace without a table", works("overview", "trace.db", cwd=place),
                 works("overview", "overview", trace))


def check_top(trace):
    rows = csv_rows(works("all", "proc", "--csv", trace))
    for top in 0, 1, 5, 10**6, 2**63 - 1:
        got = csv_rows(works(f"--top {top}", "proc", "--csv", "--top", top, trace))
        checks.equal(f"--top {top}", got, rows[:1 + min(top, len(rows))])
    total = csv_rows(works("phase --top 0", "phase", "--csv", "--top", "0", trace))
    checks.equal("a total is shown anyway", [row[0] for row in total], [b"phase", b"Total"])


def check_sort(trace):
    for name in "runtime_ns", "pid", "utilization":
        values = [float(v) for v in column(csv_rows(
            works(name, "proc", "--csv", "--sort", name, trace)), name.encode()) if v]
        checks.equal(f"--sort {name}", values, sorted(values, reverse=True))
        values = [float(v) for v in column(csv_rows(
            works(name, "proc", "--csv", "--sort", "-" + name, trace)), name.encode()) if v]
        checks.equal(f"--sort -{name}", values, sorted(values))
    values = column(csv_rows(works("text", "proc", "--csv", "--sort", "exe", trace)), b"exe")
    checks.equal("--sort exe", values, sorted(values))


def check_process(trace):
    """--process takes the number of one; that of none is nothing, not all."""
    rows = csv_rows(works("all", "proc", "--csv", trace))
    got = csv_rows(works("--process 2", "proc", "--csv", "--process", "2", trace))
    checks.equal("--process 2", got[1:], [row for row in rows[1:]
                                           if row[rows[0].index(b"process")] == b"2"])
    checks.equal("a process that is not there", len(csv_rows(
        works("--process", "proc", "--csv", "--process", "999999", trace))), 1)
    done = run("proc", "--csv", "--process", "0", trace)
    checks.check("--process 0 is not all of them", done.returncode == 2 or
                 len(csv_rows(done.stdout)) == 1, f"{done.returncode}, {len(done.stdout)} bytes")
    done = run("list", "--csv", "--to", "0", trace)
    checks.check("--to 0 is not to the end", done.returncode == 2 or
                 len(csv_rows(done.stdout)) == 1, f"{done.returncode}, {len(done.stdout)} bytes")


def check_operation(trace):
    """Of files --operation is refused, or leaves the portion that was read as it is."""
    done = run("file", "--csv", "--operation", "write", trace)
    shares = [set(zip(column(rows, b"path"), column(rows, b"portion_share"))) if rows else set()
              for rows in (csv_rows(works("file", "file", "--csv", trace)), csv_rows(done.stdout))]
    checks.check("file --operation says nothing wrong", done.returncode == 2 or
                 shares[1] <= shares[0], sorted(shares[1] - shares[0])[:3])


def check_globs(directory):
    """A glob without '/' is for base names; what is not UTF-8 has names, too."""
    def fill(db):
        add_process(db)
        for number, path in enumerate(("/main/x.txt", "/x/main.c", "/x/it's", b"/x/\xff.c", b"/x\xc3/\x80y"), 2):
            add_file(db, number, path)

    trace = make(f"{directory}globs.db", fill)

    def paths(*options):
        return column(csv_rows(works(f"{options}", "file", "--csv", *options, trace)), b"path")

    checks.equal("a base name", paths("--include", "main*"), [b"/x/main.c"])
    checks.equal("a base name, marked", paths("--include", "path:main*"), [b"/x/main.c"])
    checks.equal("a path", paths("--include", "/main/*"), [b"/main/x.txt"])
    checks.equal("two", paths("--include", "/main/*", "--include", "main.c"),
                 [b"/main/x.txt", b"/x/main.c"])
    checks.equal("all but a letter, as shells have it", paths("--include", "/x/[!m]*.c"), [b"/x/\xff.c"])
    checks.equal("two kinds", paths("--include", "path:/x/*", "--include", "main.c"),
                 [b"/x/main.c"])
    checks.equal("two kinds that have nothing in common", paths("--include", "path:/main/*",
                 "--include", "main.c"), [])
    checks.equal("not UTF-8", paths("--include", os.fsdecode(b"?.c")), [b"/x/\xff.c"])
    checks.equal("a quote", paths("--include", "it's"), [b"/x/it's"])
    checks.equal("all but", paths("--exclude", "*.c", "--exclude", "*.txt"),
                 [b"/x/it's", b"/x\xc3/\x80y"])
    checks.equal("none", paths("--include", "nothing"), [])
    checks.equal("bytes of two names that are a letter together", paths("--include", os.fsdecode(b"?y")),
                 [b"/x\xc3/\x80y"])
    checks.equal("of a process", len(paths("--include", "command:pro[g]")), 5)
    checks.equal("of no process", paths("--exclude", "command:*it*s*"), [])
    groups = csv_rows(works("--by directory", "io", "--csv", "--by", "directory", trace))
    checks.equal("directories", {row[0] for row in groups[1:-1]}, {b"/main", b"/x", b"/x\xc3"})


# ---- formats ----

def check_formats(trace):
    """Names of files come back as the bytes they are."""
    wanted = sorted(name if isinstance(name, bytes) else name.encode() for name in NAMES)
    for table, what in (("file", "path"), ("handle", "file"), ("errors", "path")):
        for option, reader in (("--csv", csv_rows), ("--tsv", tsv_rows)):
            out = works(f"{table} {option}", table, option, trace)
            rows = reader(out)
            checks.equal(f"{table} {option}: names", sorted(column(rows, what.encode())), wanted)
            checks.equal(f"{table} {option}: cells", {len(row) for row in rows}, {len(rows[0])})
        rows = json_rows(works(f"{table} --json", table, "--json", trace))
        checks.equal(f"{table} --json: names", sorted(column(rows, what)), sorted(
            name.decode(errors="replace") for name in wanted))
    out = works("CSV", "file", "--csv", trace)
    checks.equal("CSV has lines that end with CR LF", out.count(b"\r\n"), 1 + len(NAMES))
    for terminal in "C", "C.UTF-8":
        check_lines(trace, terminal)


def check_lines(trace, terminal):
    """A row is a line of printable text; a character that the terminal has is shown."""
    out = works(f"table in {terminal}", "file", trace, env=os.environ | {"LC_ALL": terminal})
    lines = out.split(b"\n\n")[0].split(b"\n")
    checks.equal(f"{terminal}: one line for each row", len(lines), 1 + len(NAMES))
    checks.check(f"{terminal}: nothing that a terminal obeys", not set(out) & {9, 13, 27, 127}, out)
    checks.check(f"{terminal}: bytes that are not UTF-8", b"bad\\xff\\xfename" in out)
    if terminal != "C":
        checks.check(f"{terminal}: an umlaut", "uml\u00e4ut".encode() in out,
                     [line for line in lines if b"/a/uml" in line])


def check_json(trace):
    for table in TABLES:
        whole = json.loads(works(f"{table} --json", *table, "--json", trace))
        checks.equal(f"{table}: keys", sorted(whole), ["begin_ns", "complete", "notes", "rows",
                                                       "schema", "table"])
        checks.equal(f"{table}: facts", [whole["table"], whole["complete"], whole["begin_ns"]],
                     [table[0], True, START_NS])
    out = works("a variable", "run", "--by", 'env:A"B', "--json", trace)
    checks.equal("a variable", list(json.loads(out)["rows"][0])[0], 'env:A"B')
    done = run("run", "--json", "--by", os.fsdecode(b"env:\xff"), trace)
    checks.check("a variable that is not UTF-8", done.returncode or is_json(done.stdout),
                 done.stdout)


def is_json(out):
    try:
        return bool(json.loads(out))
    except ValueError:
        return False


def check_agreement(trace):
    """All formats say the same."""
    for table in TABLES:
        by_csv = csv_rows(works(f"{table} --csv", *table, "--csv", trace))
        checks.equal(f"{table}: TSV", tsv_rows(works(f"{table} --tsv", *table, "--tsv", trace)),
                     by_csv)
        by_json = json_rows(works(f"{table} --json", *table, "--json", trace))
        if len(by_csv) > 1:
            checks.equal(f"{table}: JSON", [[as_cell(v) for v in row] for row in by_json],
                         [[replaced(cell) for cell in row] for row in by_csv])


def replaced(cell):
    return cell.decode(errors="replace").encode()


def check_units(trace):
    """Three digits at least, and never a thousand of a unit that has a next one."""
    sizes = {}
    for row in works("sizes", "file", trace).decode().split("\n\n")[0].splitlines()[1:]:
        words = row.split()
        sizes[words[1]] = " ".join(words[5:7])
    checks.equal("bytes", [sizes[f"/u/{n}"] for n in range(2, 2 + len(UNITS))], UNITS_BYTES)
    rows = works("spans", "list", "--include", "/u/*", trace).decode().split("\n\n")[0]
    spans = {}
    for row in rows.splitlines():
        if " read " in row:
            words = row.split()
            spans[words[words.index("read") + 1]] = " ".join(words[-4:-2])
    checks.equal("times", [spans.get(f"/u/{n}") for n in range(2, 2 + len(UNITS))], UNITS_NS)
    raw = works("--raw", "file", "--raw", trace).decode()
    checks.check("--raw has the number itself", " 999960 " in raw and "kB" not in raw)
    checks.check("--raw has the whole names", "size_bytes" in raw)


# ---- SQL ----

BY = ["command", "exe", "xform", "job", "phase", "process", "host", "all", "env:A'B\"C",
      "job,env:JOB", "env:ID,env:UNIT,env:T,env:RSS,env:WHAT,env:R"]
CHOICES = [[], ["--include", "*.dat"], ["--include", "path:/a/*"], ["--include", "command:*i[t]*"],
           ["--exclude", "it's; \"--"], ["--exclude", "path:*'*"], ["--exclude", "command:x'y z"],
           ["--job", "it's \"x\""], ["--process", "1"], ["--phase", "prog"],
           ["--phase", "a'b=*it's*"], ["--phase", "a=x*", "--phase", "b=prog*", "--phase", "b"],
           ["--operation", "read", "--operation", "write"], ["--from", "0.0001"],
           ["--to", "0.5"], ["--from", "0", "--to", "0.25"],
           ["--include", "*.dat", "--exclude", "command:y*", "--job", "it's \"x\"", "--process", "1",
            "--phase", "p=*", "--phase", "p", "--from", "0", "--to", "9", "--per", "job"]]


def statements(sql):
    """The text of each."""
    found, text_ = [], ""
    for line in sql.splitlines(keepends=True):
        text_ += line
        if sqlite3.complete_statement(text_):
            found.append(text_)
            text_ = ""
    if text_.strip():
        found.append(text_)
    return found


def open_sqlite(trace):
    db = sqlite3.connect(f"file:{trace}?mode=ro", uri=True)
    db.text_factory = bytes
    return db


def has(table, option):
    """By what rows can be grouped, what is counted as one, single operations: of some tables."""
    value = {"--by": "all", "--per": "job", "--operation": "read"}[option]
    return run(*table, option, value, "--sql").returncode == 0


def choices_of(table):
    """The options that choose a part of a run, as far as the table takes them."""
    by, per, operation = (has(table, option) for option in ("--by", "--per", "--operation"))
    for choice in CHOICES if table != ["overview"] else CHOICES[:1]:
        if "--per" in choice and not per:
            yield choice[:-2]
        elif "--operation" not in choice or operation:
            yield choice
    for key in BY if by else ():
        yield ["--by", key]
        yield ["--by", key, *CHOICES[1], *CHOICES[10]]
        yield ["--by", key, *CHOICES[-2]]
    for key in BY if per else ():
        yield ["--per", "job", "--by", key]
        yield ["--per", "process", "--by", key]


def check_all_sql(trace):
    """Each combination is SQL, and is what wfstat itself can do."""
    db = open_sqlite(trace)
    chosen = some([(table, choice) for table in TABLES for choice in choices_of(table)], 10)
    print(f"{len(chosen)} combinations of tables and choices")
    for table, choice in chosen:
        done = run("--sql", *table, *choice)
        checks.equal(f"--sql {table} {choice}", [done.returncode, done.stderr], [0, b""])
        for sql in statements(done.stdout.decode()):
            try:
                db.execute(sql).fetchall()
            except sqlite3.Error as e:
                checks.check(f"SQL of {table} {choice}", False, f"{e}\n{sql}")
        done = run(*table, *choice, "--csv", trace)
        checks.equal(f"{table} {choice}", [done.returncode, done.stderr], [0, b""])
    db.close()
    checks.equal("the trace is as it was", works("after", "overview", trace, "--strict")[:4],
                 b"fact")


def check_sql_rows(trace):
    """The query gives what the table shows."""
    db = open_sqlite(trace)
    for table in (["proc"], ["handle"], ["errors"], ["list"], ["time"],
                  ["time", "--files"], ["file"]):
        for options in CHOICES[0], CHOICES[3], CHOICES[-4], CHOICES[-3], CHOICES[-2]:
            sql = statements(works("sql", "--sql", *table, *options).decode())[0]
            try:
                cursor = db.execute(sql)
            except sqlite3.Error as e:
                checks.check(f"SQL of {table} {options}", False, e)
                continue
            rows = [[d[0].encode() for d in cursor.description]]
            rows += [[as_cell(v) for v in row] for row in cursor]
            compare(f"{table} {options}", rows,
                    csv_rows(works("csv", *table, *options, "--csv", trace)))
    db.close()


def compare(fact, by_sql, by_csv):
    checks.equal(f"{fact}: columns of the query", by_sql[0], by_csv[0])
    for name, change in ((b"portion_share", lambda v: b""), (b"errno", lambda v: errno.errorcode[
            int(v)].encode() if v.isdigit() else v)):
        if name in by_sql[0] and by_sql[0] == by_csv[0]:
            at = by_sql[0].index(name)
            for row in by_sql[1:] + by_csv[1:]:
                row[at] = change(row[at])
    for mine, theirs in zip(by_sql, by_csv):
        if mine != theirs:
            checks.equal(f"{fact}: a row of the query", mine, theirs)
            return
    checks.equal(f"{fact}: rows of the query", len(by_sql), len(by_csv))


def check_sql_alone():
    """It needs no trace, and prints nothing else."""
    empty = base / "nothing here"
    empty.mkdir()
    out = works("--sql without a trace", "--sql", "proc", cwd=empty)
    checks.check("--sql is a query", out.rstrip().endswith(b";") and b"SELECT" in out)
    checks.equal("--sql makes nothing", os.listdir(empty), [])
    out = works("--sql of files of intervals", "--sql", "time", "--files").decode()
    checks.check("--sql time --files asks for paths", "f.path" in out, out[:80])


def check_groups(directory):
    """A variable may be called like anything, also like a column of the query."""
    def fill(db):
        for number in range(1, 5):
            add_process(db, number, figures=True, job=f"job {number % 2}")
            for name in "A", "ID", "UNIT", "T", "T0", "RSS", "WHAT", "R", "JOB", "PID":
                insert(db, "environs", image=number, name=name, value=f"v{number // 3}")
        add_file(db, 2, "/f")

    trace = make(f"{directory}groups.db", fill)
    for table in ["mem", "--per", "job"], ["mem"], ["phase"], ["run"], ["io"], ["util"]:
        wanted = csv_rows(works("by A", *table, "--csv", "--by", "env:A", trace))[1:]
        for name in "ID", "UNIT", "T", "T0", "RSS", "WHAT", "R":
            got = csv_rows(works(f"by {name}", *table, "--csv", "--by", f"env:{name}", trace))[1:]
            checks.equal(f"{table}: by a variable called {name}", got, wanted)
        # By two with the same name: those of the second are not those of the first.
        both = csv_rows(works("both", *table, "--csv", "--by", "pid,env:PID", trace))[1:]
        checks.check(f"{table}: by pid and a variable called PID", {row[1] for row in both} >= {
            b"v0", b"v1"}, both)


# ---- traces of all kinds ----

def check_kinds(directory):
    kinds = {
        "no operation": make(f"{directory}none.db"),
        "no process, no files": make(f"{directory}nofiles.db", fidelity=None, process_tier=None),
        "one operation": make(f"{directory}one.db", one_operation),
        "no figures": make(f"{directory}inband.db", lambda db: add_process(db),
                           process_tier="inband"),
    }
    for kind, trace in kinds.items():
        for table, option in some(itertools.product(TABLES, FORMATS), 8):
            out = works(f"{kind}: {table} {option}", *table, option, trace)
            checks.check(f"{kind}: {table} {option}: says something", out)
            if option == "--json":
                checks.check(f"{kind}: {table} is JSON", is_json(out), out)
    out = works("unknown", "proc", kinds["no figures"]).decode().splitlines()[1].split()
    checks.check("what is not known is '-'", "-" in out and "None" not in out, out)
    out = works("nothing", "io", kinds["no operation"])
    checks.check("an empty table says so", out.startswith(b"(nothing)\n"), out)
    rows = csv_rows(works("nothing", "proc", "--csv", kinds["no operation"]))
    checks.equal("an empty table has its columns", rows[0][:3], [b"xform", b"pid", b"ppid"])
    check_one(kinds["one operation"])


def check_damaged(trace):
    """Bytes that are not as they were: what is printed may be wrong, but it ends in order."""
    def fill(db):
        odd(db)
        for table in "handles", "touches", "ops_name":
            db.execute(f"UPDATE {table} SET file = -7 WHERE file = 5")
        db.execute("UPDATE files SET id = -7 WHERE id = 5")

    strange = make("strange.db", fill)
    for table in TABLES:
        done = run(*table, "--csv", strange)
        checks.check(f"strange numbers: {table}", done.returncode in (0, 1) and
                     done.stderr.count(b"\n") == done.returncode, text(done))
    whole, damaged, numbers = pathlib.Path(trace).read_bytes(), base / "damaged", random.Random(1)
    for attempt in range(60):
        content_ = bytearray(whole)
        for _ in range(10):
            content_[numbers.randrange(100, len(whole))] = numbers.randrange(256)
        damaged.write_bytes(content_)
        done = run(*TABLES[attempt % len(TABLES)], "--csv", damaged)
        checks.check(f"damage {attempt}", done.returncode in (0, 1) and
                     done.stderr.count(b"\n") >= done.returncode, f"{done.returncode} {text(done)}")


def check_one(trace):
    rows = csv_rows(works("sys", "sys", "--csv", trace))
    checks.equal("one operation", column(rows, b"count"), [b"1", b"1"])
    checks.equal("its latency", column(rows, b"p99_ns"), [b"7", b"7"])
    checks.equal("its deviation", column(rows, b"sd_ns"), [b"0", b"0"])


def check_losses(directory):
    """Each loss is a warning, and a failure for --strict."""
    end = {"end_ns": None, "complete": 0}
    for fact, word, facts in (("incomplete", "incomplete", end),
                              ("no word about its end", "incomplete", {"complete": None}),
                              ("operations lost", "5 operations", {"ops_lost": 5}),
                              ("events lost", "2 times", {"process_events_lost": 2}),
                              ("recording stopped", "disk full", {
                                  **end, "recording_error": "disk full"})):
        trace = make(f"{directory}{fact}.db", odd, finish=False, **facts)
        done = run("io", trace)
        checks.equal(f"{fact}: exit status", done.returncode, 0)
        checks.check(f"{fact}: warning", text(done).startswith("wfstat: warning: ") and
                     word in text(done) and done.stderr.count(b"\n") == 1, text(done))
        works(f"{fact}: --strict", "io", "--strict", trace, status=3, warnings=1)
        out = works(f"{fact}: --json", "io", "--json", trace, warnings=1)
        checks.equal(f"{fact}: JSON says so", json.loads(out)["complete"], False)
    works("--strict of a whole one", "io", "--strict", make(f"{directory}whole.db", odd))


def new_format(db):
    """One that has other views."""
    odd(db)
    db.execute("DROP VIEW trace")
    db.execute("CREATE VIEW facts AS SELECT key, value FROM meta")


def check_no_traces(directory, trace):
    here = base / directory
    (here / "zero").write_text("")
    (here / "letter").write_text("dear reader\n" * 1000)
    with sqlite3.connect(here / "other.db") as db:
        db.execute("CREATE TABLE t (x)")
    db.close()
    whole = pathlib.Path(trace).read_bytes()
    (here / "half.db").write_bytes(whole[:len(whole) // 2])
    (here / "head.db").write_bytes(whole[:100])
    os.mkfifo(here / "fifo")
    (here / "names").mkdir()
    os.symlink(here / "nowhere", here / "link")
    for name, word in (("zero", "no trace"), ("letter", "no trace"), ("other.db", "no trace"),
                       ("half.db", "damaged"), ("head.db", "damaged"), ("fifo", "no file"),
                       ("names", "no trace in the directory"), ("link", "No such file"), ("nowhere", "No such file"),
                       ("letter/x", "Not a directory")):
        for table in "io", "list":
            fails(f"{name}: {table}", 1, [word, name, "; "], table, here / name)
        fails(f"{name} among others", 1, [word, name, "; "], "io", trace, here / name, trace)
    fails("no trace.db", 1, ["trace.db", "ftrac run"], cwd=here)
    fails("a long path", 1, ["cannot open", "File name too long"], "io", "/" + "x" * 300)
    fails("a long path of short names", 1, ["No such file", "; give the trace"], "io",
          "/nowhere" * 100)
    fails("a path of two lines", 1, ["cannot open"], "io", "/no\nwhere")
    newer = make(f"{directory}newer.db", odd, version=2)
    other = make(f"{directory}newest.db", new_format, finish=False, version=2)
    for what in newer, other:
        fails("a newer format", 1, ["newer format", "; use"], "io", what)
        fails("a newer format among others", 1, ["newer format"], "io", trace, what)
    older = make(f"{directory}older.db", other_tables)
    works("other tables below the same views", "io", older)
    fails("other tables among others", 1, ["tables", "; read it alone"], "io", trace, older)
    former = make(f"{directory}former.db", lambda db: db.execute("ALTER TABLE spent RENAME TO used"))
    fails("a table less among others", 1, ["tables", "; read it alone"], "io", trace, former)


def other_tables(db):
    """As a release with another layout has them; the views follow."""
    odd(db)
    db.execute("ALTER TABLE moved RENAME TO carried")


def check_copy(directory):
    """One without its application id, as .dump makes it; big enough that all by all is too much."""
    def fill(db):
        add_process(db)
        for number in range(2, 3000):
            insert(db, "processes", id=number, pid=number, ppid=1, parent=1, start_t=5, end_t=9,
                   exit_code=0, tier=8)
            add_file(db, number, f"/x/{number}")

    trace = make(f"{directory}copy.db", fill, application=0)
    start = time.monotonic()
    done = run("run", "--csv", trace, timeout=10)
    checks.equal("a copy without application id: exit status", done.returncode, 0)
    checks.check("a copy without application id: in time", time.monotonic() - start < 3,
                 time.monotonic() - start)


def check_names(directory, trace):
    """The trace may have any file name."""
    here = base / directory / "names"
    wanted = works("proc", "proc", "--csv", trace)
    for name in ("a b", "a?mode=rw", "a%41", "a#b", "a'b", 'a"b', "a\nb", "\u00e4", "\U0001f600",
                 "%", "a\\b", "a&b=c", "x" * 250, os.fsdecode(b"\xff")):
        shutil.copy(trace, here / name)
        checks.equal(f"{name!r}", works(f"{name!r}", "proc", "--csv", here / name), wanted)
        checks.equal(f"{name!r}, relative", works(f"{name!r}, relative", "proc", "--csv",
                     f"./{name}", cwd=here), wanted)
        works(f"twice {name!r}", "proc", "--csv", here / name, here / name)
    checks.equal("two slashes", works("two slashes", "proc", "--csv", f"/{trace}"), wanted)


# ---- several ----

def check_several(directory, one, two):
    rows = [csv_rows(works("one", "proc", "--csv", trace)) for trace in (one, two)]
    both = csv_rows(works("both", "proc", "--csv", one, two))
    checks.equal("two traces have the processes of both", len(both) - 1,
                 len(rows[0]) + len(rows[1]) - 2)
    both = csv_rows(works("twice", "proc", "--csv", one, one))
    checks.equal("one twice has them twice", len(both), 2 * len(rows[0]) - 1)
    traces = []
    (base / directory / "many").mkdir()
    first = make(f"{directory}many/0.db", lambda db: add_process(db, figures=True))
    for number in range(1, 300):
        traces.append(shutil.copy(first, base / directory / f"many/{number}.db"))
    for n in 5, 6, 10, 299:
        out = works(f"{n} traces", "run", "--csv", "--by", "all", "--per", "process",
                    *traces[:n])
        rows = csv_rows(out)
        if len(rows) > 1:
            checks.equal(f"{n} traces: all are counted", column(rows, b"count"), [b"%d" % n])
        works(f"{n} traces: overview", "overview", *traces[:n])
    left = [p for p in (base / directory / "many").iterdir() if p.suffix != ".db"]
    checks.equal("nothing is left beside them", left, [])


def check_several_files(directory):
    """What has one name, device and inode is one file; losses of one are those of all."""
    one = make(f"{directory}f1.db", odd)
    two = make(f"{directory}f2.db", odd, finish=False, start_ns=START_NS + 5 * SECOND)
    rows = csv_rows(works("file", "file", "--csv", one, two))
    checks.equal("files of both", len(rows) - 1, len(NAMES))
    checks.equal("readers of both", set(column(rows, b"readers")), {b"2"})
    lost = make(f"{directory}f3.db", odd, ops_lost=3)
    works("loss of one", "io", "--strict", one, lost, status=3, warnings=1)
    broken = make(f"{directory}f4.db", odd, complete=0)
    works("one incomplete", "io", "--strict", one, broken, status=3, warnings=1)


# ---- where it goes ----

def check_full(trace):
    """What cannot be written is an error."""
    for arguments in (["proc"], ["list", "--csv"], ["list", "--json"], ["file", "--tsv"], ["io"],
                      ["--sql", "proc"], ["--help"], ["--version"]):
        with open("/dev/full", "wb") as full:
            more = [] if arguments[0].startswith("--") else [trace]
            done = run(*arguments, *more, stdout=full, stderr=subprocess.PIPE, capture_output=False)
        checks.equal(f"{arguments} > /dev/full: exit status", done.returncode, 1)
        checks.check(f"{arguments} > /dev/full: says why", "No space left" in text(done) and
                     done.stderr.count(b"\n") == 1, text(done))


def check_head(trace):
    """A reader that has enough is no error to talk about."""
    options = [["list"], ["list", "--csv"], ["list", "--json"], ["proc"]]
    if shutil.which("gnuplot"):
        options.append(["cdf", "--of", "latency", "--svg", "-o", str(base / "head.svg"), "--csv"])
    for arguments in options:
        process = subprocess.Popen([WFSTAT, *arguments, *[trace] * 3], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        process.stdout.read(1)
        process.stdout.close()
        said = process.stderr.read()
        status = process.wait(timeout=60)
        process.stderr.close()
        checks.equal(f"{arguments} | head: says", said, b"")
        checks.check(f"{arguments} | head: exit status", status in (0, 1, -signal.SIGPIPE), status)


def on_terminal(columns, *arguments):
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen([WFSTAT, *arguments], stdout=theirs, stdin=subprocess.DEVNULL,
                               env=os.environ | {"LC_ALL": "C.UTF-8", "TERM": "xterm", "PAGER": "", "NO_COLOR": "1"})
    os.close(theirs)
    out = b""
    try:
        while piece := os.read(ours, 1 << 16):
            out += piece
    except OSError:  # all that is there has been read
        pass
    os.close(ours)
    checks.equal(f"{arguments} on a terminal", process.wait(), 0)
    return out.replace(b"\r\n", b"\n").decode()


def check_terminal(trace, names):
    for kind in "hist", "cdf":
        out = on_terminal(120, kind, "--of", "latency", trace)
        checks.check(f"{kind} has bars on a terminal", "###" in out and " bar" in out, out[:300])
        rows = out.split("\n\n")[0].splitlines()
        checks.check(f"{kind} fits the terminal", max(map(len, rows)) <= 120, max(rows, key=len))
        out = works(f"{kind} elsewhere", kind, "--of", "latency", trace)
        checks.check(f"{kind} has no bars elsewhere", b"#" not in out)
    for table in "errors", "io":
        rows = on_terminal(100, table, names).split("\n\n")[0].splitlines()
        checks.check(f"{table} fits the terminal", max(map(len, rows)) <= 100, max(rows, key=len))
        rows = works(f"{table} elsewhere", table, names).split(b"\n\n")[0].splitlines()
    checks.check("nothing is cut off elsewhere", b"x" * 3000 in works("errors", "errors", names))


def main():
    for name in "kinds", "losses", "odd", "several":
        (base / name).mkdir()
    names, flow = make("names.db", odd), synthetic("flow.db")
    check_help()
    check_usage(names)
    check_misfits(names)
    check_order(flow)
    check_top(flow)
    check_sort(flow)
    check_process(flow)
    check_operation(flow)
    check_globs("kinds/")
    check_formats(names)
    check_json(names)
    check_agreement(names)
    check_agreement(flow)
    check_units(make("units.db", units))
    check_sql_alone()
    check_sql_rows(flow)
    check_sql_rows(names)
    check_all_sql(names)
    check_groups("kinds/")
    check_kinds("kinds/")
    check_losses("losses/")
    check_damaged(flow)
    check_no_traces("odd/", names)
    check_copy("odd/")
    check_names("odd", names)
    check_several("several/", names, flow)
    check_several_files("several/")
    check_full(flow)
    check_head(flow)
    check_terminal(flow, names)


run_case(main)
