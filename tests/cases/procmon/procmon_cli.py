#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 13
"""procmon at the command line: exit statuses, signals, errors in one line, an ordinary user, a
trace that can be read while it is written, and what the run leaves behind."""
import json
import os
import pathlib
import re
import pwd
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time

from ftractest import WORK, Checks
from profiled import PROCMON, WAYS, Profile, available

checks = Checks()


def run(*words, cwd, **more):
    return subprocess.run([os.path.abspath(PROCMON), *words], cwd=cwd, capture_output=True,
                          text=True, timeout=60, stdin=subprocess.DEVNULL, **more)


def fails(what, wanted, words, *arguments, place):
    """With one line that says all of these words, and nothing left behind."""
    done = run(*arguments, cwd=place)
    checks.equal(f"{what}: status", done.returncode, wanted)
    checks.check(f"{what}: one line", done.stderr.count("\n") == 1 and
                 done.stderr.startswith("procmon: "), repr(done.stderr))
    for word in words:
        checks.check(f"{what}: says '{word}'", word in done.stderr, repr(done.stderr))
    checks.equal(f"{what}: prints", done.stdout, "")


def bad_input(place):
    (place / "text").write_text("not a trace\n")
    (place / "script").write_text("echo\n")
    fails("nothing", 125, ["no command given", "--help"], place=place)
    fails("unknown option", 125, ["unknown option '--nix'"], "--nix", "true", place=place)
    fails("no value", 125, ["'--db' needs a value"], "--db", place=place)
    fails("unknown source", 125, ["'magic'", "ptrace"], "--processes", "magic", "true", place=place)
    fails("in band", 125, ["needs a mount"], "--processes", "inband", "true", place=place)
    fails("no number", 125, ["'x'", "number"], "--wait", "x", "true", place=place)
    fails("negative", 125, ["'-1'"], "--wait", "-1", "true", place=place)
    fails("check with a command", 125, ["takes no command"], "--check", "true", place=place)
    fails("no directory", 125, ["no/x.db", "no such directory"], "--db", "no/x.db", "true", place=place)
    fails("no trace", 125, ["is no trace"], "--db", "text", "true", place=place)
    checks.equal("what is no trace is left alone", (place / "text").read_text(), "not a trace\n")
    fails("no such command", 127, ["cannot run 'no-such-command'", "No such file"], "--db", "a.db",
          "no-such-command", place=place)
    fails("not executable", 126, ["./script", "Permission denied"], "--db", "b.db", "./script",
          place=place)
    checks.equal("a command that was not started leaves no trace", list(place.glob("[ab].db*")), [])
    checks.equal("a trace", run("--db", "a.db", "true", cwd=place).returncode, 0)
    before = (place / "a.db").read_bytes()
    fails("no such command", 127, ["cannot run"], "--db", "a.db", "--force", "no-such-command", place=place)
    checks.check("what it would have replaced is there", (place / "a.db").read_bytes() == before)
    checks.equal("and nothing else", [path.name for path in place.glob("a.db*")], ["a.db"])
    fails("there already", 125, ["a.db", "--force"], "--db", "a.db", "true", place=place)
    checks.equal("--force", run("--db", "a.db", "--force", "true", cwd=place).returncode, 0)
    for option in "--help", "--version":
        done = run(option, cwd=place)
        checks.equal(option, (done.returncode, done.stderr), (0, ""))
        checks.check(f"{option}: says something", "procmon" in done.stdout)


def statuses(way):
    for command, wanted in (("exit 0", 0), ("exit 7", 7), ("exit 255", 255), ("kill -TERM $$", 143),
                            ("kill -KILL $$", 137), ("kill -SEGV $$", 139)):
        with Profile(command, "--processes", way) as p:
            checks.equal(f"{way}: status of '{command}'", (p.status, p.fact("exit_status"), p.err),
                         (wanted, wanted, ""))


def signals(way, place):
    """Those that we are sent reach the command; it may do with them what it wants."""
    for number, wanted in ((signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGHUP, 129),
                           (signal.SIGUSR1, 3)):
        db = place / f"signal-{way}-{number}.db"
        process = subprocess.Popen(
            [PROCMON, "--db", db, "--processes", way, "sh", "-c",
             "trap 'exit 3' USR1; echo; while :; do sleep 0.05; done"
             if number == signal.SIGUSR1 else "echo; exec sleep 60"], stdout=subprocess.PIPE)
        process.stdout.readline()
        time.sleep(0.3)  # dash may lose an interrupt that comes while it is busy, natively, too
        process.send_signal(number)
        checks.equal(f"{way}: by {number.name}", process.wait(30), wanted)
        process.stdout.close()
        checks.equal(f"{way}: the trace of what {number.name} ended", sqlite3.connect(db).execute(
            "SELECT value FROM trace WHERE key = 'complete'").fetchone(), (1,))
    ignored = subprocess.run(["nohup", PROCMON, "--db", place / f"nohup-{way}.db", "--processes", way,
                              "sh", "-c", "kill -HUP $$; echo alive"], capture_output=True, text=True,
                             timeout=60)
    checks.equal(f"{way}: what is ignored stays ignored", ignored.stdout, "alive\n")


def the_command_is_alone(way):
    """It has no descriptor of ours, no signal blocked or ignored, its own group and directory, and one variable more."""
    look = ("import os, json; s = dict(l.split(':', 1) for l in open('/proc/self/status'));"
            "print(json.dumps([sorted(int(f) for f in os.listdir('/proc/self/fd'))[:-1],"
            "s['SigBlk'].strip(), s['SigIgn'].strip(), os.getcwd(), dict(os.environ),"
            "os.getpgrp() == int(os.environ['GROUP'])]))")
    environment = {"PATH": os.environ["PATH"], "GROUP": str(os.getpgrp()), "LC_ALL": "C"}
    base = pathlib.Path(tempfile.mkdtemp(prefix="ftrac-case-"))
    native = subprocess.run(["python3", "-c", look], capture_output=True, text=True, cwd=base,
                            env=environment, stdin=subprocess.DEVNULL, check=True).stdout
    with Profile(["python3", "-c", look], "--processes", way, base=base, env=environment) as p:
        said = json.loads(p.out)
        checks.check(f"{way}: name of the run", re.fullmatch("[^:]+:[0-9a-f]{32}", said[4].pop("FTRAC_RUN", "")), said)
        for what, wanted, got in zip(("descriptors", "blocked", "ignored", "directory",
                                      "environment", "group"), json.loads(native), said):
            checks.equal(f"{way}: {what} of the command", got, wanted)
    shutil.rmtree(base)


def read_while_written(way, place):
    db = place / f"live-{way}.db"
    process = subprocess.Popen([PROCMON, "--db", db, "--processes", way, "sh", "-c",
                                "/bin/true; sleep 3; /bin/true"])
    time.sleep(1.5)
    reader = sqlite3.connect(f"file:{db}?mode=ro", uri=True)
    checks.equal(f"{way}: seen while it goes on", reader.execute(
        "SELECT count(*), sum(state = 'running') FROM process").fetchone(), (3, 2))
    checks.equal(f"{way}: not complete yet", reader.execute(
        "SELECT value FROM trace WHERE key = 'complete'").fetchone(), (0,))
    reader.close()
    checks.equal(f"{way}: and ends well", process.wait(30), 0)
    checks.equal(f"{way}: one file is left", [f.name for f in place.glob(f"live-{way}*")], [db.name])


def options_arrive(way):
    with Profile(["env", "SLURM_JOB_ID=5", "SECRET=1", "COLOUR=red", "sh", "-c", "true; true"],
                 "--processes", way, "--job", "j1", "--xform", "mAdd", "--env", "COL*") as p:
        checks.equal(f"{way}: job and kind", [tuple(r) for r in p.sql(
            "SELECT DISTINCT job, xform, phase FROM process")], [("j1", "mAdd", "mAdd")])
        checks.equal(f"{way}: environment", sorted({r["name"] for r in p.sql(
            "SELECT name FROM environ")} & {"SLURM_JOB_ID", "SECRET", "COLOUR"}),
            ["COLOUR", "SLURM_JOB_ID"])
        checks.equal(f"{way}: the command", p.fact("command"),
                     "env SLURM_JOB_ID=5 SECRET=1 COLOUR=red sh -c 'true; true'")
        checks.equal(f"{way}: starts and stops", tuple(p.sql(
            "SELECT min(lstart), max(lstop), count(*) FROM process")[0]), (1, 2, 1))


def ordinary_user():
    """Follows its own commands; what is missing is one clear line."""
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        print("not root: this is an ordinary user already")
        return
    user = pwd.getpwnam("nobody")
    prefix = ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]
    place = pathlib.Path(tempfile.mkdtemp(prefix="ftrac-case-"))
    place.chmod(0o777)
    program = place / "procmon"  # the user may not be able to enter the build
    shutil.copy(PROCMON, program)
    done = subprocess.run([*prefix, program, "--check"], capture_output=True, text=True, timeout=60)
    print(done.stdout, end="")
    lines = {line.split()[0]: line for line in done.stdout.splitlines()}
    checks.equal("check, as an ordinary user: status", (done.returncode, done.stderr), (0, ""))
    checks.check("check, as an ordinary user: ptrace", lines["ptrace"].split()[1] == "yes", lines)
    checks.check("check, as an ordinary user: what is missing, and what would give it",
                 "CAP_NET_ADMIN" in lines["taskstats"] and "setcap" in lines["taskstats"], lines)
    for way in WAYS:
        if way == "connector" and lines["connector"].split()[1] != "yes":
            print("no connector for an ordinary user here: not looked at")
            continue
        db = place / f"{way}.db"
        done = subprocess.run([*prefix, program, "--db", db, "--processes", way, "sh", "-c",
                               "seq 50 | xargs -P4 -n1 /bin/true; exit 4"], capture_output=True,
                              text=True, timeout=60, cwd=place)
        checks.equal(f"as an ordinary user, {way}", (done.returncode, done.stderr), (4, ""))
        rows = sqlite3.connect(db).execute("SELECT count(*), count(end_ns), count(cpu_ns), "
                                           "count(rsspeak_bytes), min(tier), max(tier) FROM process"
                                           ).fetchone()
        figures = (53, 53) if way == "ptrace" else (0, 0)
        checks.equal(f"as an ordinary user, {way}: processes", rows, (53, 53, *figures, way, way))
    # Also of what ends with all of its threads at once, whose first has no memory then.
    shutil.copy(WORK / "known", place / "known")
    subprocess.run([*prefix, program, "--db", place / "known.db", place / "known"], check=True,
                   capture_output=True, timeout=60, cwd=place)
    checks.equal("as an ordinary user: bytes of each process", sqlite3.connect(place / "known.db").execute(
        "SELECT count(*) - count(read_char), count(*) - count(write_bytes) FROM process").fetchone(), (0, 0))
    suid = [name for name in ("/usr/bin/passwd", "/usr/bin/chsh", "/usr/bin/su", "/bin/mount")
            if os.path.exists(name) and os.stat(name).st_mode & 0o4000]
    if suid:
        done = subprocess.run([*prefix, program, "--db", place / "suid.db", suid[0], "--help"],
                              capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
        last = done.stderr.splitlines()[-1]
        checks.check("a setuid program is named", suid[0] in last and "connector" in last, done.stderr)
    shutil.rmtree(place)


def own_cost(way):
    """What is measured of it; how much longer the run took is not known, and not 0."""
    with Profile("i=0; while [ $i -lt 200 ]; do /bin/true; i=$((i+1)); done", "--processes", way) as p:
        checks.equal(f"{way}: overhead", (p.fact("overhead_ns"), p.fact("overhead_wall_ns")), (None, None))
        checks.check(f"{way}: CPU time of procmon itself", 1e6 < p.fact("tracer_cpu_ns") < 60e9,
                     p.fact("tracer_cpu_ns"))


def check_as_we_are():
    done = subprocess.run([PROCMON, "--check"], capture_output=True, text=True, timeout=60)
    checks.equal("check: lines", [line.split()[0] for line in done.stdout.splitlines()],
                 ["ptrace", "connector", "taskstats", "delays", "kernel", "procmon"])
    for line in done.stdout.splitlines()[:4]:
        checks.check("check: yes, or no with a reason", line.split()[1] == "yes" or
                     line.split()[1] == "no:" and len(line) > 30, line)


place = pathlib.Path(tempfile.mkdtemp(prefix="ftrac-case-"))
bad_input(place)
check_as_we_are()
for way in WAYS:
    if not available(way):
        print(f"no {way} here: not looked at")
        continue
    statuses(way)
    signals(way, place)
    the_command_is_alone(way)
    read_while_written(way, place)
    options_arrive(way)
    own_cost(way)
ordinary_user()
shutil.rmtree(place)
checks.end()
