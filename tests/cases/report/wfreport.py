#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 40
# long: --long
"""wfreport: pages that say what wfstat says, need nothing but themselves, and cannot be led astray by names;
of Montage, a compile, a synthetic workflow, a phase and some seconds of it, nothing, a run whose tracer was killed, hostile names,
two traces, a record in the kernel, and traces that know little: of procmon alone, without operations, of fidelity open,
without figures of memory.

What a page is in a browser is looked at by report/test/pages.mjs, in Chromium."""
import collections
import contextlib
import html
import json
import os
import pathlib
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

from ftractest import FTRAC, TOP, Checks, Mount, become_reaper, has_fidelity, kernel_refuses, need, need_fuse, skip
from sample import LONG, some
from workflows import traced

WFREPORT = os.environ.get("WFREPORT", "build/dag/wfreport")
WFDAG = os.environ.get("WFDAG", "build/dag/wfdag")
WFSTAT = os.environ.get("WFSTAT", "build/dag/wfstat")
PROCMON = os.environ.get("PROCMON", "build/procmon/procmon")
REPORT = TOP / "report"
# id in the page: words for wfstat, columns that the page has not.
TABLES = {
    "overview": (["overview"], []), "phase": (["phase"], []), "run": (["run"], []),
    "util": (["util"], []), "mem": (["mem"], []),
    "io": (["io"], []), "sys": (["sys"], []),
    "pattern": (["pattern", "--by", "all"], []),
    "latency": (["hist", "--of", "latency", "--by", "all"], []),
    "read-size": (["hist", "--of", "read-size", "--by", "all"], []),
    "write-size": (["hist", "--of", "write-size", "--by", "all"], []),
    "time": (["time"], ["files"]),
}
HOSTILE = ["</script><b>x</b>", "\"quoted\" 'twice' & <img src=x onerror=alert(1)>", "\u202etxt.exe", "&lt;b&gt; &#65; a&b", "\\xff\\xfe"]
ENV = {k: v for k, v in os.environ.items() if k not in ("WORK", "JOBS", "DB", "MNT", "MAKEFLAGS", "MAKELEVEL")}
ENV.update(FTRAC=os.path.abspath(FTRAC), MALLOC_PERTURB_="0", LC_ALL="C.UTF-8")

if not pathlib.Path(WFREPORT).exists():
    skip("no wfreport: it is built with -Dreport=enabled")
if not (REPORT / "node_modules" / "playwright-core").is_dir():
    skip("no playwright-core: run 'npm ci' in report/")
need("node", "dot", "make", "gcc")
if not shutil.which(os.environ.get("CHROMIUM", "chromium")):
    skip("no Chromium")
os.environ.setdefault("CHROMIUM", shutil.which("chromium") or "")
need_fuse()
checks = Checks()


def run(*words, **options):
    return subprocess.run([str(w) for w in words], capture_output=True, timeout=300, check=False, **options)


def must(*words, **options):
    done = run(*words, **options)
    if done.returncode:
        sys.exit(f"{words[0]} failed: {done.stderr.decode(errors='replace')[-800:]}")
    return done


# ---- traces ----

def montage(base):
    must(TOP / "examples" / "montage" / "run.sh", "A", cwd=base, env=ENV)
    return base / "trace.db"


def compiled(base):
    must(TOP / "examples" / "make" / "run.sh", cwd=base, env=ENV)
    return base / "trace.db"


def synthetic(base):
    must(sys.executable, TOP / "bench" / "synthetic.py", base / "trace.db", "--ops", "300000" if LONG else "60000",
         "--processes", "2000", "--files", "3000", "--edges", "20000")
    return base / "trace.db"


def empty(base):
    with Mount(base=base):
        pass
    return base / "trace.db"


def killed(base):
    """The tracer goes in the middle of a run."""
    with Mount(base=base) as mount:
        work = base / "work"
        work.mkdir()
        command = subprocess.Popen(
            ["sh", "-c", "i=0; while [ $i -lt 3000 ]; do i=$((i+1)); head -c 5000 /dev/zero >f$i || exit; done"],
            cwd=mount(work), stderr=subprocess.DEVNULL)
        time.sleep(2.5)  # some batches are written each second
        os.kill(mount.pid, signal.SIGKILL)
        os.waitpid(mount.pid, 0)
        mount.pid = None
        subprocess.run(["fusermount3", "-u", "-z", str(mount.mnt)], check=True, timeout=60)
        command.kill()
        command.wait(timeout=60)
    return base / "trace.db"


def hostile(base):
    with Mount(base=base) as mount:
        work = base / "work"
        work.mkdir()
        for name in HOSTILE[:-1]:
            inside = os.fsencode(mount(work)) + b"/" + name.replace("/", "\u2215").encode()
            subprocess.run([b"sh", b"-c", b'echo data >"$1"; cat "$1"', b"sh", inside], check=True,
                           stdout=subprocess.DEVNULL, timeout=60)
        inside = os.fsencode(mount(work)) + b"/\xff\xfe.bin"
        subprocess.run([b"sh", b"-c", b'echo data >"$1"; cat "$1"', b"sh", inside], check=True,
                       stdout=subprocess.DEVNULL, timeout=60)
    return base / "trace.db"


SOME_WORK = 'for i in 1 2 3 4; do head -c 20000 /dev/zero >a$i; cat a$i >b$i; done; sleep 0.2; cat b* >c'


def profiled(base):
    """By procmon alone: nothing is known of files."""
    must(PROCMON, "--processes", "ptrace", "--db", base / "trace.db", "--", "sh", "-c", SOME_WORK, cwd=base)
    return base / "trace.db"


def mounted(*options):
    def trace(base):
        with Mount(*options, base=base) as mount:
            work = base / "work"
            work.mkdir()
            must("sh", "-c", SOME_WORK, cwd=mount(work))
        return base / "trace.db"
    return trace


def piped(base):
    """Recorded in the kernel, which sees pipes; the names of files are longer than any label."""
    deep = base / "work" / "a-directory-with-a-long-name" / "and-another-one-with-a-still-longer-name-in-it"
    deep.mkdir(parents=True)
    traced(base / "trace.db", ["sh", "-c", f"{SOME_WORK}; cat c | sort | uniq -c >d"], deep, "--files", "kernel")
    return base / "trace.db"


def without_memory(base):
    """Of a compile, without figures of the memory of processes."""
    shutil.copy(base.parent / "compile" / "trace.db", base / "trace.db")
    with contextlib.closing(sqlite3.connect(base / "trace.db")) as db, db:
        db.executescript("UPDATE figures SET rsspeak_bytes = NULL; DELETE FROM samples")
    return base / "trace.db"


# ---- pages ----

def rows_of(words, *traces):
    return json.loads(must(WFSTAT, *words, "--format", "json", *traces).stdout)["rows"]


def interval_of(page):
    rows = rows_in(page, "time")
    return f"{rows[1]['from_s'] - rows[0]['from_s']:.9f}" if len(rows) > 1 else "1000000"


def rows_in(page, table):
    text = page.read_text()
    begin = text.index(">", text.index(f'<script type="application/json" id="data-{table}">')) + 1
    return json.loads(text[begin:text.index("</script>", begin)])["rows"]


def page_of(name, make, base, chosen=(), **more):
    """chosen: options that leave only a part; the summary is of all."""
    base.mkdir()
    traces, page = make(base), base / "report.html"
    traces = traces if isinstance(traces, list) else [traces]
    done = run(WFREPORT, "-o", page, *chosen, *traces)
    checks.equal(f"{name}: a page is made", done.returncode, 0)
    return {"name": name, "page": str(page), "traces": list(map(str, traces)), "chosen": list(chosen), **more}


def with_tables(page):
    """With what wfstat says."""
    tables, chosen, traces = {}, page["chosen"], page["traces"]
    for table, (words, less) in TABLES.items():
        words = words + (["--interval", interval_of(pathlib.Path(page["page"]))] if table == "time" else [])
        if not (chosen and table == "overview"):
            csv = must(WFSTAT, *words, *chosen, "--format", "csv", *traces).stdout.decode(errors="replace")
            tables[table] = {"rows": rows_of([*words, *chosen], *traces), "less": less, "csv": csv}
    return {**page, "tables": tables}


def look_at(pages, base):
    (base / "pages.json").write_text(json.dumps(pages))
    done = run("node", REPORT / "test" / "pages.mjs", base / "pages.json")
    print(done.stdout.decode(), done.stderr.decode(errors="replace")[-2000:])
    checks.equal("the pages are as they should be", done.returncode, 0)


# ---- the time line for others ----

def check_perfetto(trace, base):
    line = base / "line.json"
    checks.equal("a time line is made", run(WFREPORT, "--perfetto", "-o", line, "--above", "0.0001", trace).returncode, 0)
    events = json.loads(line.read_text())["traceEvents"]
    wanted = [{"id": row["process"], "program": row["program"], "length_us": row["runtime_ns"] / 1000}
              for row in rows_of(["proc"], trace) if row["runtime_ns"] is not None and row["start_ns"] is not None]
    lives = {e["pid"]: e for e in events if e["ph"] == "X" and e["cat"] == "process"}
    begin = min(row["start_ns"] for row in rows_of(["proc"], trace))
    checks.check("all processes are in it", {w["id"] for w in wanted} <= set(lives), (len(wanted), len(lives)))
    for row in rows_of(["proc"], trace):
        if row["runtime_ns"] is not None and row["start_ns"] > begin:
            checks.check("at their times", abs(lives[row["process"]]["dur"] - row["runtime_ns"] / 1000) < 1, row)
    ends = {kind: {e["id"] for e in events if e["ph"] == kind} for kind in "sf"}
    checks.equal("each arrow has two ends", ends["s"], ends["f"])
    for kind, what in (("s", "arrows"), ("C", "counters"), ("M", "names")):
        checks.check(f"there are {what}", any(e["ph"] == kind for e in events))
    checks.check("and operations", any(e["ph"] in "Xb" and e["cat"] == "io" for e in events if "cat" in e))
    (base / "wanted.json").write_text(json.dumps([w for w in wanted if w["id"] != min(lives)]))
    done = run("node", REPORT / "test" / "speedscope.mjs", line, base / "wanted.json")
    print(done.stdout.decode()[-1500:], done.stderr.decode(errors="replace")[-1000:])
    checks.equal("speedscope reads it", done.returncode, 0)


def given_to(trace, out, host, later_ns):
    """As if that machine had recorded it, later."""
    shutil.copy(trace, out)
    with contextlib.closing(sqlite3.connect(out)) as db, db:
        db.execute("UPDATE meta SET value = ? WHERE key = 'host'", (host,))
        db.execute("UPDATE meta SET value = 'boot of ' || ? WHERE key = 'boot_id'", (host,))
        db.execute("UPDATE meta SET value = value + ? WHERE key IN ('start_ns', 'end_ns')", (later_ns,))
    return out


def check_machines(trace, base):
    """Each of them is a process of the time line, before those that ran there."""
    parts = [given_to(trace, base / f"{host}.db", host, i * 10 ** 12) for i, host in enumerate(("first", "second"))]
    line = base / "machines.json"
    done = run(WFREPORT, "--perfetto", "-o", line, *parts)
    checks.equal("a time line of two machines is made", done.returncode, 0)
    events = json.loads(line.read_text())["traceEvents"]

    def about(name, key):
        return {e["pid"]: e["args"][key] for e in events if e["ph"] == "M" and e["name"] == name}
    names, labels, order = about("process_name", "name"), about("process_labels", "labels"), about("process_sort_index", "sort_index")
    machines = {names[pid]: pid for pid in names if pid and pid not in labels}
    checks.equal("the machines", set(machines), {"first", "second"})
    count = len(rows_of(["proc"], trace))
    checks.equal("each process has one for its label", sorted(labels.values()), ["first"] * count + ["second"] * count)
    checks.equal("they follow it", {pid for pid, host in labels.items() if order[pid] != order[machines[host]] + 1}, set())
    pairs = [e for e in events if e["ph"] == "i" and e["cat"] == "clock"]
    checks.equal("what clocks showed, at the begin and the end of each", {e["pid"] for e in pairs}, set(machines.values()))
    checks.check("its numbers", len(pairs) >= 4 and all({"realtime_ns", "boot_ns", "offset_ns"} <= set(e["args"]) for e in pairs), pairs)
    first = [(e["args"]["realtime_ns"], e["ts"] * 1000) for e in pairs if e["pid"] == machines["first"]]
    passed = [last - begin for begin, last in zip(first[0], first[-1])]
    checks.check("both clocks of a machine go on as one", passed[0] > 0 and abs(passed[0] - passed[1]) < 10 ** 9, first)
    checks.check("a trace of one machine has none", "process_labels" not in run(WFREPORT, "--perfetto", "-o", "-", trace).stdout.decode())


THREADS = """
import threading
def work(name):
    for i in range(20):
        with open(f"{name}.{i}", "w") as file:
            file.write(name)
threads = [threading.Thread(target=work, args=(f"t{i}",)) for i in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


def check_operations(base):
    """With --above 0, each operation once: as a slice of its thread, or asynchronous if it overlaps another one."""
    work, trace = base / "threads", base / "threads.db"
    work.mkdir()
    traced(trace, [sys.executable, "-I", "-S", "-c", THREADS], work)
    events = json.loads(run(WFREPORT, "--perfetto", "--above", "0", "-o", "-", trace).stdout)["traceEvents"]
    with sqlite3.connect(trace) as sql:
        began = sql.execute("SELECT value FROM trace WHERE key = 'start_ns'").fetchone()[0]
        wanted = collections.Counter((process, tid, name, round((start - began) / 1000, 3)) for process, tid, name, start in sql.execute(
            "SELECT o.process, coalesce(o.tid, p.pid), o.name, o.start_ns FROM op o JOIN process p ON p.id = o.process "
            "WHERE o.latency_ns NOTNULL"))
    shown = [e for e in events if e.get("cat") == "io" and e["ph"] in "Xb"]
    checks.equal("each operation is shown once", collections.Counter(
        (e["pid"], e["tid"], e["name"], round(e["ts"], 3)) for e in shown), wanted)
    threads = collections.defaultdict(list)
    for e in events:
        if e["ph"] == "X" and e["cat"] == "io":
            threads[e["pid"], e["tid"]].append(e)
    names = {(e["pid"], e["tid"]) for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
    checks.check("threads have slices and names", len(threads) >= 2 and set(threads) <= names, (list(threads), sorted(names)))
    for thread, slices in threads.items():
        checks.check(f"{thread}: slices do not overlap", all(a["ts"] + a["dur"] <= b["ts"] + 0.001 for a, b in zip(slices, slices[1:])))
    print(f"{len(shown)} operations in the time line, slices of {len(threads)} threads")


# ---- the answer ----

def check_answer(trace):
    """The page begins with what the summary says."""
    page = run(WFREPORT, "-o", "-", trace).stdout.decode()
    answer, bars = re.subn(r'<dd class="bar">.*?</dd>', "", page.partition('<dl id="answer">')[2].partition("</dl>")[0], flags=re.S)
    checks.equal("the critical path has a picture", bars, 1)
    said = html.unescape(re.sub(r"<[^>]*>", "\n", answer))
    found = [line.strip() for line in said.split("\n") if line.strip()]
    lines = run(WFDAG, "summary", trace).stdout.decode().replace("ftrac: ", "").splitlines()
    labels = ("critical path", "worth speeding up", "spent on the path", "read again", "failed", "ended by a signal")
    wanted, takes = [], False
    for line in lines:
        label, _, text = line.partition(": ")
        takes = label in labels or (takes and line.startswith(" "))
        wanted += ([label, text.strip()] if label in labels else [line.strip()]) if takes else []
    checks.check("the page has an answer", len(found) > 2, found)
    checks.equal("that of the summary", found, wanted)


# ---- two traces ----

def check_diff(first, second, base):
    """The page of two runs begins with what wfdag diff says, and can be read at each width."""
    page, said = base / "diff.html", run(WFDAG, "diff", first, second).stdout.decode().splitlines()[0]
    checks.equal("two traces: a page", run(WFREPORT, "--diff", "-o", page, first, second).returncode, 0)
    done = run("node", REPORT / "test" / "diff.mjs", page, said, "Critical paths", "Processes:")
    print(done.stdout.decode(), done.stderr.decode(errors="replace")[-2000:])
    checks.equal("it is as it should be", done.returncode, 0)
    several = run(WFREPORT, "--diff", "-o", "-", "--title", "four", first, first, "--", first, first).stdout.decode()
    checks.check("several runs of each side", "<title>four</title>" in several and "the median of 2 runs" in several and "same graph" in several)
    for words in (["--diff", first], ["--diff", "--perfetto", first, second]):
        done = run(WFREPORT, *words)
        checks.check(f"{words[0]} with {len(words) - 1} words: refused", done.returncode == 2 and done.stderr.count(b"\n") == 1, done.stderr)


# ---- the program ----

def check_program(trace, base):
    check_answer(trace)
    checks.equal("the same trace makes the same page", run(WFREPORT, "-o", "-", trace).stdout,
                 run(WFREPORT, "-o", "-", trace).stdout)
    for words, status in (["--no-such"], 2), (["--max-nodes", "x"], 2), (["--max-nodes", "1"], 2), \
            (["-o"], 2), (["--perfetto", "x.json"], 2), ([base / "no-such.db"], 1), ([__file__], 1), \
            (["-o", base / "no-such" / "x.html", trace], 1), (["--help"], 0), (["--version"], 0):
        done = run(WFREPORT, *words)
        checks.equal(f"status of {words}", done.returncode, status)
        if status:
            checks.equal(f"{words}: one line says why", done.stderr.count(b"\n"), 1)
            checks.check("it begins with its name", done.stderr.startswith(b"wfreport: "), done.stderr)
    with open("/dev/full", "w") as full:
        done = subprocess.run([WFREPORT, "-o", "-", trace], stdout=full, stderr=subprocess.PIPE, timeout=60)
    checks.equal("a full disk is an error", done.returncode, 1)


def check_memory(base):
    """What is not known is no 0."""
    known, unknown = ([row["rss_bytes"] for row in rows_in(base / name / "report.html", "time") if row["processes"]]
                      for name in ("compile", "no-memory"))
    # Until its first process ends or is sampled, there are only those above it, whose memory is not known.
    begun = next((n for n, memory in enumerate(known) if memory), len(known))
    checks.check("memory is known", begun < len(known) / 2 and all(known[begun:]), known)
    checks.equal("memory that was not measured is not known", unknown, [None] * len(known))


def check_strict(trace):
    done = run(WFREPORT, "--strict", "-o", "/dev/null", trace)
    checks.equal("--strict of an incomplete trace", done.returncode, 3)


def of_synthetic(base):
    """All of it, a phase, and some seconds."""
    found = [page_of("synthetic", synthetic, base / "synthetic", charts=True, graph=True)]
    phase = next(row["phase"] for row in rows_of(["phase"], base / "synthetic" / "trace.db") if row["phase"])
    for name, chosen in ("phase", ["--phase", phase]), ("seconds", ["--from", "2", "--to", "3.5"]):
        found.append(page_of(f"synthetic, {name}", lambda _: base / "synthetic" / "trace.db", base / name, chosen=chosen,
                             charts=False, graph=True, says=["A part of the run was chosen"]))
    return found


def always(base):
    """The pages of which this case looks at the traces, too."""
    return [page_of("compile", compiled, base / "compile", charts=True, graph=True),
            page_of("killed", killed, base / "killed", charts=False, graph=False, warnings=["The trace is incomplete"]),
            page_of("hostile", hostile, base / "hostile", charts=False, graph=True,
                    hostile=[name.replace("/", "\u2215") for name in HOSTILE]),
            page_of("no memory", without_memory, base / "no-memory", charts=False, graph=True)]


def in_kernel(base):
    refused = kernel_refuses()
    if refused:
        print(f"no pipes in a page: nothing is recorded in the kernel here: {refused}")
    return [] if refused else [page_of("pipes", piped, base / "pipes", charts=True, graph=True)]


def others():
    """Functions that make pages."""
    def page(name, trace, **wanted):
        return lambda base: [page_of(name, trace, base / name.replace(" ", "-"), **wanted)]

    found = [of_synthetic,
             page("empty", empty, charts=False, graph=False, says=["None of the rules below found anything"]),
             page("procmon", profiled, charts=False, graph=False, warnings=["Files were not traced"]),
             page("no operations", mounted("--no-ops"), charts=False, graph=True,
                  warnings=["Single operations were not recorded"]),
             page("two traces", lambda there: [there.parent / of / "trace.db" for of in ("compile", "hostile")],
                  charts=True, graph=True)]
    if has_fidelity("open"):
        found.append(page("open", mounted("--fidelity", "open"), charts=False, graph=True, warnings=["Fidelity open"]))
    if shutil.which("mProjectPP"):
        found.append(page("Montage", montage, charts=True, graph=True))
    else:
        print("no Montage here: left out")
    return found


def main():
    become_reaper()
    base = pathlib.Path(tempfile.mkdtemp(prefix="ftrac-report-"))
    pages = always(base)
    check_memory(base)
    for make in some(others(), 3):
        pages += make(base)
    look_at([with_tables(page) for page in in_kernel(base) + some(pages, 2)], base)
    check_program(base / "compile" / "trace.db", base)
    check_diff(base / "compile" / "trace.db", base / "no-memory" / "trace.db", base)
    check_strict(base / "killed" / "trace.db")
    check_perfetto(base / "compile" / "trace.db", base)
    check_machines(base / "compile" / "trace.db", base)
    check_operations(base)
    shutil.rmtree(base)
    checks.end()


main()
