#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 5
"""A user with CAP_BPF and CAP_PERFMON, by setcap on ftrac or as ambient capabilities, records own processes and none of
others: no process that is not a descendant of the command, and not what setuid programs do."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

import kernelleft
from ftractest import FTRAC, Checks, InKernel, need, need_kernel, skip

USER = 65534
AS_USER = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups"]
CAPABILITIES = "+bpf,+perfmon"
LOOK = "id -u; echo $LD_LIBRARY_PATH $TMPDIR; grep CapEff /proc/self/status"


class Place:
    """A directory where the user may write, with a copy of ftrac that has the capabilities, and files of root."""

    def __init__(self, base):
        self.base, self.ftrac, self.run = base, base / "ftrac", InKernel(base)
        base.chmod(0o777)
        shutil.copy(FTRAC, self.ftrac)
        subprocess.run(["setcap", "cap_bpf,cap_perfmon=ep", self.ftrac], check=True)
        (base / "secret").mkdir(mode=0o700)
        (base / "secret" / "name").write_text("content\n")
        for name in "setuid", "capable":
            shutil.copy("/bin/cat", base / name)
        (base / "setuid").chmod(0o4755)
        subprocess.run(["setcap", "cap_dac_read_search=ep", base / "capable"], check=True)

    def record(self, script, ftrac=None, before=AS_USER, **env):
        options = ["--files", "kernel", "--force", "--db", self.run.db]
        command = [*before, ftrac or self.ftrac, "run", *options, "--", "sh", "-c", script]
        self.run.db.unlink(missing_ok=True)
        return subprocess.run(command, cwd=self.base, capture_output=True, text=True, timeout=120, check=False,
                              stdin=subprocess.DEVNULL, env={**os.environ, **env})


def with_setcap(checks, place):
    """The loader takes variables away from a program with capabilities of its own: the command has them."""
    done = place.record(LOOK, LD_LIBRARY_PATH="/nowhere", TMPDIR="/var/tmp")
    checks.equal("setcap: what the command sees", done.stdout.split(),
                 [str(USER), "/nowhere", "/var/tmp", "CapEff:", "0" * 16])
    checks.equal("setcap: status", done.returncode, 0)
    checks.equal("setcap: the trace belongs to the user", place.run.db.stat().st_uid, USER)
    checks.equal("setcap: processes", place.run.sql("SELECT count(*), min(uid), max(uid) FROM process"), [(3, USER, USER)])
    done = subprocess.run([*AS_USER, place.ftrac, "run", "--files", "auto", "--force", "--db", place.run.db, "true"],
                          capture_output=True, text=True, timeout=120, check=False)
    checks.equal("setcap: --files auto", (done.returncode, place.run.fact("files")), (0, "kernel"))


def ambient(checks, place):
    """The command inherits ambient capabilities, as it would without ftrac."""
    before = [*AS_USER, f"--inh-caps={CAPABILITIES}", f"--ambient-caps={CAPABILITIES}"]
    native = subprocess.run([*before, "sh", "-c", LOOK], capture_output=True, text=True, check=True).stdout
    done = place.record(LOOK, FTRAC, before)
    checks.equal("ambient: what the command sees", (done.returncode, done.stdout), (0, native))
    checks.check("ambient: operations", place.run.fact("ops_recorded") > 100)


def others(checks, place):
    """Processes of root, and of the same user, that are no descendants of the command."""
    loop = "i=0; while :; do echo $i >{}; i=$((i + 1)); done"
    busy = [subprocess.Popen([*before, "sh", "-c", loop.format(place.base / name)])
            for name, before in (("of-root", []), ("of-user", AS_USER))]
    time.sleep(0.2)
    done = place.record("sleep 0.5; echo x >of-command")
    for process in busy:
        process.kill()
        process.wait()
    found, own = place.run.sql("SELECT count(*), sum(path GLOB '*/of-command') FROM op WHERE path GLOB ?",
                               f"{place.base}/of-*")[0]
    foreign = found - (own or 0)
    pids = {pid for pid, in place.run.sql("SELECT pid FROM process")}
    print(f"others: {found} operations on files of this directory, {foreign} of other processes")
    checks.equal("others: status", done.returncode, 0)
    checks.check("others: the command's own", found > 0)
    checks.equal("others: operations of other processes", (foreign, [p.pid for p in busy if p.pid in pids]), (0, []))


def setuid(checks, place):
    """The program runs as it does natively; its start and end are recorded, and it is counted."""
    for name in "setuid", "capable":
        done = place.record(f"./{name} secret/name; sh -c 'echo after >after'")
        checks.equal(f"{name}: it works", (done.returncode, done.stdout), (0, "content\n"))
        checks.equal(f"{name}: names that the user may not see",
                     place.run.sql("SELECT path FROM op WHERE path GLOB '*/secret/*'"), [])
        pid, code = place.run.sql("SELECT pid, exit_code FROM process WHERE command GLOB ?", f"./{name} *")[0]
        checks.equal(f"{name}: its end", code, 0)
        checks.equal(f"{name}: its operations", place.run.sql("SELECT name FROM op WHERE tid = ?", pid), [])
        checks.check(f"{name}: what comes after it", place.run.sql("SELECT 1 FROM op WHERE path GLOB '*/after'"))
        counted = [place.run.fact(key) for key in ("kernel_spared", "ops_lost", "complete")]
        checks.equal(f"{name}: counted, and nothing lost", counted, [1, 0, 1])
        checks.check(f"{name}: a line of the summary says so", "1 setuid or similar program did" in done.stderr, done.stderr)
        done = place.record(f"./{name} secret/name", FTRAC, [])
        checks.check(f"{name}: root records it", place.run.sql("SELECT 1 FROM op WHERE path GLOB '*/secret/name'"))
        checks.equal(f"{name}: root leaves nothing out", place.run.fact("kernel_spared"), 0)


def samples(checks, place):
    """Each second, of own processes, and of none that is left out."""
    shutil.copy("/bin/sleep", place.base / "asleep")
    (place.base / "asleep").chmod(0o4755)
    place.record("./asleep 4 & sleep 4; wait")
    found = place.run.sql("SELECT comm, count(*) >= 2, min(s.rss_bytes) > 0, min(s.cpu_ns) > 0 FROM sample s JOIN process ON id = process GROUP BY 1")
    checks.equal("samples", sorted(found), [("sh", 1, 1, 1), ("sleep", 1, 1, 1)])


def descendants(checks, place):
    """What a setuid program starts is not recorded, either."""
    shutil.copy("/usr/bin/env", place.base / "start")
    (place.base / "start").chmod(0o4755)
    done = place.record("./start sh -c 'cat secret/name; true'; true")
    checks.equal("descendants: names", place.run.sql("SELECT path FROM op WHERE path GLOB '*/secret/*'"), [])
    checks.equal("descendants: processes", place.run.sql("SELECT count(*) FROM process WHERE command GLOB 'cat *'"), [(0,)])
    checks.equal("descendants: status", done.returncode, 0)


need_kernel()
need("setpriv", "setcap")
if os.geteuid() != 0:
    skip("root gives capabilities to others")
facts = Checks()
with tempfile.TemporaryDirectory(prefix="ftrac-case-", dir="/var/tmp") as directory:
    where = Place(pathlib.Path(directory))
    for part in with_setcap, ambient, others, setuid, samples, descendants:
        part(facts, where)
kernelleft.end(facts)
