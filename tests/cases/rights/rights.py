#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# serial: sets fs.protected_* of the machine
"""Which rights programs keep, whose files they use, and what they hand on: as the manuals say."""
import os
import pathlib
import re
import shutil
import sqlite3
import stat
import subprocess
import tempfile
import time

from ftractest import FTRAC, TOP, Checks, Mount, kernel_refuses, need, need_fuse, protections, skip

need_fuse()
need("setpriv", "dot", "gnuplot")
if os.geteuid() != 0:
    skip("only root has rights to give up, and can become another user")
checks = Checks()
FTRAC = os.path.abspath(FTRAC)
PROCMON, WFDAG, WFSTAT = (os.path.abspath(os.environ.get(name.upper(), f"build/{where}/{name}"))
                          for name, where in (("procmon", "procmon"), ("wfdag", "dag"),
                                              ("wfstat", "dag")))
WFREPORT = os.path.abspath(os.environ.get("WFREPORT", "build/dag/wfreport"))
HAVE_REPORT = os.path.exists(WFREPORT)
if not HAVE_REPORT:
    print("wfreport was not built: it is left out")
USER, OTHER = 65530, 65531
base = pathlib.Path(tempfile.mkdtemp(prefix="ftrac-case-"))
base.chmod(0o755)


def run(*command, uid=0, cwd=base, **environment):
    become = ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups"] if uid else []
    env = {k: v for k, v in os.environ.items() if not k.startswith("SUDO_")} | environment
    return subprocess.run([*become, *map(str, command)], cwd=cwd, env=env, capture_output=True,
                          text=True, errors="replace", stdin=subprocess.DEVNULL, timeout=100)


def refused(what, status, words, done):
    checks.equal(f"{what}: exit status", done.returncode, status)
    checks.equal(f"{what}: one line", done.stderr.count("\n"), 1)
    checks.check(f"{what}: says '{words}'", words in done.stderr, done.stderr)


def succeeds(what, done):
    checks.equal(f"{what}: succeeds, in silence", (done.returncode, done.stderr), (0, ""))


# ---- capabilities: what /proc says is what the manual says

def capabilities_of_manual():
    text = (TOP / "man" / "ftrac.1.scd").read_text().split("# PRIVILEGES")[1].split("\n# ")[0]
    always, rest = text.split("[[ *if*")
    rows = [re.findall(r"CAP_\w+", row) for row in rest.split("\n\n")[0].split("\n|")[1:]]
    return set(re.findall(r"CAP_\w+", always.split("[[ *always*")[1])), *map(set, rows)


def capabilities_of_manual_of_procmon():
    text = (TOP / "man" / "procmon.1.scd").read_text().split("# PRIVILEGES")[1].split("\n# ")[0]
    return set(re.findall(r"CAP_\w+", text))


def number_of_names():
    header = pathlib.Path("/usr/include/linux/capability.h").read_text()
    return {name: int(n) for name, n in re.findall(r"#define (CAP_[A-Z_]+)\s+(\d+)\n", header)}


NUMBERS = number_of_names()
HAVE = int(re.search(r"CapPrm:\s+(\w+)", open("/proc/self/status").read())[1], 16)
ALWAYS, RECORDED, LISTENING, COMMAND, KERNEL = capabilities_of_manual()


def mask(names):
    return sum(1 << NUMBERS[name] for name in names) & HAVE


def check_process(what, pid, names, serves=False):
    """All threads; those that serve requests have no more in effect than is permitted, others have all."""
    wanted, n = mask(names), 0
    for task in os.listdir(f"/proc/{pid}/task"):
        try:
            text = open(f"/proc/{pid}/task/{task}/status").read()
        except FileNotFoundError:
            continue
        caps = {key: int(value, 16) for key, value in re.findall(r"Cap(\w+):\s+(\w+)", text)}
        checks.equal(f"{what}: permitted", f"{caps['Prm']:x}", f"{wanted:x}")
        checks.equal(f"{what}: bounding", f"{caps['Bnd']:x}", f"{wanted:x}")
        checks.equal(f"{what}: inherited, ambient", (caps["Inh"], caps["Amb"]), (0, 0))
        if serves:
            checks.equal(f"{what}: in effect beyond that", caps["Eff"] & ~wanted, 0)
        else:
            checks.equal(f"{what}: in effect", f"{caps['Eff']:x}", f"{wanted:x}")
        checks.check(f"{what}: no_new_privs", "NoNewPrivs:\t1" in text)
        n += 1
    checks.check(f"{what}: has threads", n > 0)


WORK_OF_USER = """\
for i in 1 2 3 4 5 6 7 8; do (mkdir d$i; echo x >d$i/f; cat d$i/f; chmod 600 d$i/f; ls -l d$i; mv d$i/f d$i/g
	setfacl -m u:7:r d$i/g; ln d$i/g d$i/h; rm -r d$i) & done >/dev/null; wait"""


def check_servants():
    """A thread that has served a user has the ids of that user, and no capability."""
    tree = base / "servants"
    tree.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=777", "tmpfs", tree], check=True)
    ways = [(), ("--fidelity", "cached"), ("--fidelity", "open"), ("--no-record",)]
    for options in ways + ([] if kernel_refuses() else [("--fidelity", "call")]):
        with Mount(*options, base=base, source=tree) as mount:
            checks.equal("work of a user", run("sh", "-c", WORK_OF_USER, cwd=mount.mnt, uid=USER).stderr, "")
            seen = []
            for task in os.listdir(f"/proc/{mount.pid}/task"):
                text = open(f"/proc/{mount.pid}/task/{task}/status").read()
                if re.search(r"Uid:.*\t(\d+)\n", text)[1] == str(USER):
                    seen.append((re.search(r"CapEff:\t(\w+)", text)[1].strip("0"), re.search(r"Gid:.*\t(\d+)\n", text)[1]))
            free = os.statvfs(tree).f_bfree
            large = "head -c 16000000 /dev/zero >large && cat large >/dev/null && rm large && sleep 0.5"
            checks.equal("a large file of a user", run("sh", "-c", large, cwd=mount.mnt, uid=USER).stderr, "")
            checks.equal(f"mount {' '.join(options)}: blocks of what a user has removed", max(0, free - os.statvfs(tree).f_bfree), 0)
            checks.equal(f"mount {' '.join(options)}: capabilities and groups of its {len(seen)} threads",
                         set(seen), {("", str(USER))})
            mount.unmount()
        mount.db.unlink(missing_ok=True)
    subprocess.run(["umount", tree], check=True)


MOUNTS = ( # options, whether of /, what is kept
    ((), True, ALWAYS | RECORDED | LISTENING | KERNEL),
    ((), False, ALWAYS | RECORDED | LISTENING),
    (("--processes", "connector"), False, ALWAYS | RECORDED | LISTENING),
    (("--processes", "inband"), False, ALWAYS | RECORDED),
    (("--processes", "inband"), True, ALWAYS | RECORDED | KERNEL),
    (("--no-ops", "--locks", "native"), False, ALWAYS | RECORDED | LISTENING),
    (("-o", "ro"), False, ALWAYS | RECORDED | LISTENING),
    (("--no-record",), False, ALWAYS),
    (("--no-record", "--processes", "connector"), False, ALWAYS),
    (("--no-record", "-o", "ro"), False, ALWAYS),
    (("--no-record",), True, ALWAYS | KERNEL))


def check_mounts():
    tree = base / "tree"
    tree.mkdir()
    checks.check("without a record the daemon reads no process", "CAP_SYS_PTRACE" not in ALWAYS)
    for options, whole, names in MOUNTS:
        with Mount(*options, base=base, source="/" if whole else tree) as mount:
            (mount.mnt / "x").exists()
            check_process(f"mount{' of /' if whole else ''} {' '.join(options)}", mount.pid, names, True)
            mount.unmount()
        mount.db.unlink(missing_ok=True)


# What takes suid and sgid bits away depends on the capabilities of the requester, and on whether they count.
BITS = """\
umask 022
for way in "truncate -s 5" "chown USER" "setfacl -m u:7:r" "chmod 6755"; do
	$way bits 2>/dev/null; stat -c '%a %s' bits; done"""


def bits(tree, how):
    """What is left of them when a process has changed a file of USER."""
    path = base / "tree" / "bits"
    path.write_text("something\n")
    os.chown(path, USER, OTHER)
    path.chmod(0o6777)
    return subprocess.run([*how, "sh", "-c", BITS.replace("USER", str(USER))], cwd=tree, capture_output=True,
                          text=True, timeout=60).stdout


def check_user_namespaces():
    need("setfacl", "unshare")
    user = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups"]
    hows = ([], ["setpriv", "--bounding-set=-fsetid", "--inh-caps=-fsetid"], user, [*user, "unshare", "-Ur"],
            ["unshare", "-Ur"], ["setpriv", f"--reuid={USER}", f"--regid={OTHER}", "--clear-groups", "unshare", "-Ur"])
    native = [bits(base / "tree", how) for how in hows]
    checks.check("the requester makes a difference", len(set(native)) > 2 and all(native), native)
    for options in (), ("--no-record",):
        with Mount(*options, base=base, source=base / "tree") as mount:
            for how, wanted in zip(hows, native):
                checks.equal(f"bits by '{' '.join(how)}', mount {' '.join(options)}", bits(mount.mnt, how), wanted)
            mount.unmount()
        mount.db.unlink(missing_ok=True)


def wait_for(path):
    for _ in range(600):
        if path.exists():
            return
        time.sleep(0.05)
    raise RuntimeError(f"no {path}")


def check_commands():
    """The parent of the command is the program; the command has what we have."""
    said, go_on = base / "said", base / "go on"
    script = ('grep -E "Cap(Prm|Bnd)|NoNew|PPid" /proc/$$/status >said.part; mv said.part said; '
              'until [ -e "go on" ]; do sleep 0.1; done; rm "go on"')
    ours = re.findall(r"Cap(?:Prm|Bnd).*", open("/proc/self/status").read())
    of_run, of_procmon = ALWAYS | RECORDED | COMMAND, capabilities_of_manual_of_procmon()
    for program, options, names in (
            ([FTRAC, "run", "-q"], [], of_run | LISTENING),
            ([FTRAC, "run", "-q"], ["--scope", "full"], of_run | LISTENING),
            ([FTRAC, "run", "-q"], ["--processes", "connector"], of_run | LISTENING),
            ([FTRAC, "run", "-q"], ["--processes", "inband"], of_run),
            ([PROCMON], [], of_procmon), ([PROCMON], ["--processes", "ptrace"], of_procmon),
            ([PROCMON], ["--processes", "connector"], of_procmon)):
        what = " ".join([os.path.basename(program[0]), *program[1:], *options])
        program = [*program, *options, "--db", "run.db"]
        with subprocess.Popen([*program, "--", "sh", "-c", script], cwd=base) as process:
            wait_for(said)
            check_process(what, process.pid, names, "ftrac" in what)
            text = said.read_text()
            checks.equal(f"{what}: the command has our rights",
                         re.findall(r"Cap(?:Prm|Bnd).*", text), ours)
            checks.check(f"{what}: the command may gain more", "NoNewPrivs:\t0" in text, text)
            for name in "run.db", "run.db-wal", "run.db-shm":
                st = os.stat(base / name)
                checks.equal(f"{what}: {name}: mode, owner", (oct(st.st_mode), st.st_uid),
                             (oct(stat.S_IFREG | 0o600), 0))
            go_on.touch()
        checks.equal(f"{what}: exit status", process.returncode, 0)
        said.unlink()
        (base / "run.db").unlink()


# ---- files of others in a directory for all

def plant(kind, path, target=None):
    """By the other user."""
    script = {"link": 'ln -s "$1" "$0"', "file": 'echo bad >"$0"; chmod 666 "$0"',
              "fifo": 'mkfifo -m 666 "$0"'}[kind]
    assert run("sh", "-c", script, path, target or "", uid=OTHER).returncode == 0


def check_planted_traces(tmp):
    victim = base / "victim"
    victim.mkdir()
    shared = victim / "target"
    for what, program, status in (("ftrac", [FTRAC, "run", "-q"], 125), ("procmon", [PROCMON], 125)):
        def trace(name, *more):
            return run(*program, *more, "--db", tmp / name, "--", "true", uid=0)
        for kind, name, planted, words in (
                ("link", "a.db", "a.db", "is no trace"),
                ("link", "b.db", "b.db-wal", "another user"),
                ("link", "c.db", "c.db-shm", "another user"),
                ("file", "d.db", "d.db-wal", "another user"),
                ("file", "e.db", "e.db-journal", "another user"),
                ("file", "f.db", "f.db", "another user"),
                ("fifo", "g.db", "g.db", "another user"),
                ("link", "way/h.db", "way", "link of another user")):
            plant(kind, tmp / planted, victim if planted == "way" else shared)
            for more in (), ("--force",):
                refused(f"{what} {' '.join(more)}: {kind} {planted}", status, words,
                        trace(name, *more))
            checks.equal(f"{what}: {planted}: nothing came of it", os.listdir(victim), [])
            checks.check(f"{what}: {planted} is there still", os.path.lexists(tmp / planted))
            os.unlink(tmp / planted)
        os.symlink(victim, tmp / "way")
        succeeds(f"{what}: by a link of ours", trace("way/h.db"))
        checks.equal(f"{what}: it is there", os.listdir(victim), ["h.db"])
        checks.equal(f"{what}: mode", oct((victim / "h.db").stat().st_mode & 0o777), "0o600")
        (victim / "h.db").unlink()
        os.unlink(tmp / "way")
        (tmp / "i.db-wal").write_text("left behind\n")
        succeeds(f"{what}: what we left behind ourselves", trace("i.db"))
        (tmp / "i.db").unlink()
    checks.equal("nothing is left", os.listdir(tmp), [])
    victim.rmdir()


def check_planted_outputs(tmp, trace):
    target = base / "precious"
    target.write_text("precious\n")
    for what, command in (
            ("wfdag --dot", [WFDAG, "--dot", "-o"]), ("wfdag --svg", [WFDAG, "--svg", "-o"]),
            ("wfdag generate", [WFDAG, "generate", "--wfformat", "-o"]),
            ("wfstat --svg", [WFSTAT, "cdf", "--of", "lifetime", "--svg", "-o"]),
            ("wfstat --gnuplot", [WFSTAT, "cdf", "--of", "lifetime", "--gnuplot"]),
            *(("wfreport " + options[0], [WFREPORT, *options]) for options in (["-o"], ["--perfetto", "-o"]) if HAVE_REPORT)):
        end = ".dat" if "gnuplot" in what else ""
        for kind, planted in ("link", "out"), ("link", "out.part"), ("fifo", "out"), ("file", "out.part"):
            name = planted.replace("out", f"out{end}")
            plant(kind, tmp / name, target)
            refused(f"{what}: {kind} {planted}", 1, "another user",
                    run(*command, tmp / "out", trace))
            os.unlink(tmp / name)
        checks.equal(f"{what}: nothing is written through a link", target.read_text(), "precious\n")
        checks.equal(f"{what}: nothing is left", os.listdir(tmp), [])
        os.symlink(target, tmp / f"out{end}")
        target.write_text("")
        succeeds(f"{what}: by a link of ours", run(*command, tmp / "out", trace))
        checks.check(f"{what}: it has been written", target.read_text() != "")
        checks.check(f"{what}: the link stays", os.path.islink(tmp / f"out{end}"))
        target.write_text("precious\n")
        for name in os.listdir(tmp):
            os.unlink(tmp / name)
    target.unlink()


# ---- traces of others

READERS = ((WFSTAT, "proc"), (WFDAG, "--dot"), (WFDAG, "generate", "--wfformat"),
           (WFDAG, "check"), (WFDAG, "diff"), *([(WFREPORT, "-o", "-")] if HAVE_REPORT else []))


def check_foreign(trace):
    theirs = base / "theirs.db"
    shutil.copy(trace, theirs)
    theirs.chmod(0o644)
    os.chown(theirs, USER, USER)
    for program, *words in READERS:
        what = f"{os.path.basename(program)} {' '.join(words)}"
        traces = [theirs, theirs] if "diff" in words else [theirs]
        status = 2 if words and words[0] in ("check", "diff") else 1
        for user, uid in ("root", 0), ("another user", OTHER):
            refused(f"{what}: {user}", status, "--foreign",
                    run(program, *words, *traces, uid=uid, cwd="/tmp"))
        for user, uid, more, env in (
                ("its owner", USER, (), {}), ("its owner, by sudo", 0, (), {"SUDO_UID": f"{USER}"}),
                ("root with --foreign", 0, ("--foreign",), {}),
                ("another user with --foreign", OTHER, ("--foreign",), {})):
            done = run(program, *words, *more, *traces, uid=uid, cwd="/tmp", **env)
            checks.check(f"{what}: {user} reads it", "--foreign" not in done.stderr and
                         (done.returncode == 0 or words == ["check"]), done.stderr)
    refused("sudo does not count for others", 1, "--foreign",
            run(WFSTAT, theirs, uid=OTHER, SUDO_UID=f"{USER}"))
    refused("sudo by another user", 1, "--foreign", run(WFSTAT, theirs, SUDO_UID=f"{OTHER}"))
    refused("one of several", 1, "--foreign", run(WFSTAT, trace, theirs))
    succeeds("several with --foreign", run(WFSTAT, "--foreign", trace, theirs))
    theirs.unlink()


def check_log_of_others(tmp, trace):
    """It would be taken for what the trace holds."""
    shutil.copy(trace, tmp / "trace.db")
    plant("file", tmp / "trace.db-wal")
    refused("a log of another user", 1, "belongs to another user than the trace",
            run(WFSTAT, tmp / "trace.db"))
    os.rename(tmp / "trace.db-wal", tmp / "trace.db-journal")
    for traces in ("trace.db",), (trace, "trace.db"):
        refused("a journal of another user", 1, "belongs to another user than the trace",
                run(WFSTAT, *traces, cwd=tmp))
    for name in os.listdir(tmp):
        os.unlink(tmp / name)


# ---- notes of make

NOTES = """\
set -e
notes=$(dirname "${MAKEFILES%% *}"); outer=$(dirname "$notes")
stat -c %a "$outer" "$notes"
become() { user=$1; shift; setpriv --reuid=$user --regid=$user --clear-groups "$@"; }
become OTHER ls "$outer" 2>/dev/null && echo "lists what is in it"
become OTHER ls "$notes" 2>/dev/null && echo "lists notes"
mkfifo "$notes/1"; ln -s /etc/passwd "$notes/2"; mkdir "$notes/3"
make -s ours
become USER make -s theirs
"""


def check_notes():
    """Only the command finds the way in; an entry that is no note delays nothing and damages nothing."""
    place = base / "notes"
    tmp = place / "tmp"
    tmp.mkdir(parents=True)
    tmp.chmod(0o1777)
    (place / "Makefile").write_text("ours: a\n\t@true\ntheirs: b\n\t@true\na b:\n")
    script = NOTES.replace("OTHER", str(OTHER)).replace("USER", str(USER))
    done = run(FTRAC, "run", "-q", "--make", "--db", base / "notes.db", "--", "sh", "-c", script, cwd=place,
               TMPDIR=str(tmp))
    checks.equal("notes: what others may", (done.returncode, done.stdout, done.stderr), (0, "711\n1733\n", ""))
    with sqlite3.connect(base / "notes.db") as db:
        checks.equal("notes: of root and of another user",
                     sorted(os.path.basename(key) for key, in db.execute("SELECT key FROM declared")),
                     ["ours", "theirs"])
        checks.equal("notes: facts of the trace", dict(db.execute(
            "SELECT key, value FROM trace WHERE key IN ('complete', 'notes_lost')")),
            {"complete": 1, "notes_lost": 3})
    db.close()
    checks.check("notes: readers say so", "3 notes of make" in run(WFSTAT, base / "notes.db").stderr)
    checks.equal("notes: nothing is left", list(tmp.iterdir()), [])
    shutil.rmtree(place)


HOSTILE = {
    "a function with effects": "CREATE VIEW process AS SELECT load_extension('/tmp/x') AS id",
    "a tokenizer": "CREATE VIEW process AS SELECT fts3_tokenizer('simple') AS id",
    "a virtual table": "CREATE VIRTUAL TABLE process USING fts3(id)",
    "a table of pages": "CREATE VIEW process AS SELECT pageno AS id FROM dbstat",
    "a pragma": "CREATE VIEW process AS SELECT * FROM pragma_wal_checkpoint",
}


def check_hostile(trace):
    for what, sql in HOSTILE.items():
        hostile = base / "hostile.db"
        shutil.copy(trace, hostile)
        with sqlite3.connect(hostile) as db:
            db.execute("DROP VIEW process")
            db.execute("DROP VIEW IF EXISTS sample")
            db.execute(sql)
        db.close()
        before = hostile.read_bytes()
        for program, *words in READERS[:2] + READERS[5:]:
            refused(f"{what}, {os.path.basename(program)}", 1, "hostile.db",
                    run(program, *words, hostile))
        refused(f"{what}, of two", 1, "", run(WFSTAT, "proc", trace, hostile))
        checks.equal(f"{what}: it stays as it was", hostile.read_bytes() == before, True)
        hostile.unlink()


# ---- what is handed on

def check_helpers(trace):
    """Programs that draw get the words as they are, and of the environment what is listed."""
    bin_ = base / "bin"
    bin_.mkdir()
    for name in "dot", "gnuplot", "ninja":
        (bin_ / name).write_text(f'#!/bin/sh\ncat >/dev/null\nenv >"{base}/env"\n'
                                 f'printf "%s\\n" "$@" >"{base}/words"\n')
        (bin_ / name).chmod(0o755)
    secret = {"SECRET": "1", "LD_SECRET": "2", "GRAPHVIZ_DOT": "/x", "BASH_ENV": "/x", "ENV": "/x",
              "GNUPLOT_LIB": "/x", "PATH": f"{bin_}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8"}
    name = "x; touch ran $(touch ran) `touch ran`'\"|&.svg"
    for what, command in (("dot", [WFDAG, "--svg", "-o", name, trace]),
                          ("gnuplot", [WFSTAT, "cdf", "--of", "lifetime", "--svg", "-o", name, trace]),
                          ("ninja", [WFDAG, "check", "--ninja", name, trace])):
        (base / name).unlink(missing_ok=True)
        if what == "ninja":
            (base / name).mkdir()
        run(*command, **secret)
        variables = {line.split("=")[0] for line in (base / "env").read_text().splitlines()}
        checks.equal(f"{what}: variables that are not listed", variables - {"TERM", "TERMINFO", "COLUMNS", "LINES", "LESS", "LESSCHARSET",
            "PATH", "HOME", "TMPDIR", "TZ", "LANG", "LANGUAGE", "LC_ALL", "XDG_CACHE_HOME",
            "XDG_CONFIG_HOME", "PWD", "_", "SHLVL", "OLDPWD"} - {
                v for v in variables if v.startswith("LC_")}, set())
        checks.check(f"{what}: those that are", {"PATH", "LC_ALL"} <= variables)
        checks.check(f"{what}: no shell has seen the name", not (base / "ran").exists())
        if what == "ninja":
            checks.equal("ninja: its words", (base / "words").read_text().split("\n")[:2],
                         ["-C", f"{base}/{name}"])


def check_fusermount3():
    """It is setuid, and libfuse starts it."""
    place = base / "user"
    (place / "mnt").mkdir(parents=True)
    os.chown(place, USER, USER)
    os.chown(place / "mnt", USER, USER)
    (place / "fusermount3").write_text(f"#!/bin/sh\nenv >'{place}/env'\nexit 1\n")
    (place / "fusermount3").chmod(0o755)
    shutil.copy(FTRAC, place / "ftrac")
    os.mknod(place / "fuse", 0o20666, os.makedev(10, 229))
    os.chmod(place / "fuse", 0o666)
    script = 'mount --bind fusermount3 "$0" && mount --bind fuse /dev/fuse && ' \
             f'exec setpriv --reuid={USER} --regid={USER} --clear-groups ./ftrac mnt'
    done = run("unshare", "-m", "sh", "-c", script, shutil.which("fusermount3"), cwd=place, SECRET="1", LD_SECRET="2")
    checks.equal("fusermount3 that fails: exit status", (done.returncode, (place / "env").exists()), (1, True))
    variables = {line.split("=")[0] for line in (place / "env").read_text().splitlines()}
    checks.check("fusermount3: what it needs", {"PATH", "_FUSE_COMMFD"} <= variables, variables)
    checks.equal("fusermount3: secrets", {name for name in variables if "SECRET" in name}, set())
    shutil.rmtree(place)


trace = base / "made.db"
tmp = base / "tmp"
tmp.mkdir()
with protections(symlinks=0, hardlinks=0, regular=0, fifos=0):
    tmp.chmod(0o1777)
    succeeds("a trace", run(PROCMON, "--db", trace, "--", "sh", "-c", "ls / >/dev/null; true"))
    check_mounts()
    check_servants()
    check_user_namespaces()
    check_commands()
    check_planted_traces(tmp)
    check_planted_outputs(tmp, trace)
    check_foreign(trace)
    check_log_of_others(tmp, trace)
    check_notes()
    check_hostile(trace)
    check_helpers(trace)
    check_fusermount3()
shutil.rmtree(base)
checks.end()
