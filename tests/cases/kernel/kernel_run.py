#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 30
"""ftrac run --files kernel and procmon --files kernel: what the command sees, signals, ends, options."""
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

import kernelleft
from ftractest import FTRAC, Checks, InKernel, for_everybody, need_kernel

PROCMON = os.environ.get("PROCMON", "build/procmon/procmon")
UNPRIVILEGED = 65534


def run(place, command, *options, **more):
    return subprocess.run([*place.command(*options), *command], capture_output=True, text=True, timeout=120,
                          stdin=subprocess.DEVNULL, check=False, **more)


def natively(checks, place, base):
    """No mount, no tracer, no changed path."""
    look = "pwd; stat -c '%m %d' .; grep TracerPid /proc/self/status; readlink /proc/self/ns/mnt"
    native = subprocess.run(["sh", "-c", look], cwd=base, capture_output=True, text=True, check=False).stdout
    done = run(place, ["sh", "-c", look], "-q", cwd=base)
    checks.equal("what the command sees", (done.stdout, done.stderr), (native, ""))


def statuses(checks, place, base):
    for command, wanted in {"exit 3": 3, "kill -9 $$": 137, "exec ./missing": 127}.items():
        checks.equal(f"status of {command}", run(place, ["sh", "-c", command], "-q", cwd=base).returncode, wanted)
    checks.equal("status of what does not exist", run(place, ["./missing"], "-q", cwd=base).returncode, 127)
    done = run(place, ["sh", "-c", "echo x >file; cat file"], cwd=base)
    last = done.stderr.splitlines()[-1]
    checks.check("the last line of the summary names the source", "files by the kernel (call)" in last, last)
    checks.check("a summary of at most 15 lines", 3 <= len(done.stderr.splitlines()) <= 15, done.stderr)
    checks.equal("facts", [place.fact(key) for key in ("files", "fidelity", "process_tier", "complete", "ops_lost")],
                 ["kernel", "call", "kernel", 1, 0])
    checks.equal("processes older than the run", place.sql("SELECT count(*) FROM process WHERE start_ns < ?", place.fact("start_ns")), [(0,)])
    checks.equal("received", place.fact("kernel_received"), place.fact("kernel_submitted"))
    per_cpu = place.sql("SELECT sum(value) FROM trace WHERE key GLOB 'kernel_submitted_cpu*'")[0][0]
    checks.equal("submitted of all processors", per_cpu, place.fact("kernel_submitted"))


def kept(checks, place, base):
    """--scope, --include, --exclude, --no-ops, --env."""
    work = ["sh", "-c", "mkdir -p in out; echo 1 >in/a; echo 2 >in/b; echo 3 >out/a; cat in/a out/a"]

    def paths(*options):
        run(place, work, "-q", *options, cwd=base)
        return {path for path, in place.sql("SELECT DISTINCT a.path FROM access a JOIN file f ON f.id = a.file WHERE f.kind = 'file'")}
    everything = paths()
    checks.check("everything: files of the system", any(path.startswith(("/usr/", "/lib")) for path in everything))
    checks.equal("--scope", paths("--scope", str(base / "in")), {f"{base}/in/a", f"{base}/in/b"})
    checks.equal("--scope and --exclude", paths("--scope", str(base / "in"), "--exclude", "*/b"), {f"{base}/in/a"})
    run(place, ["sh", "-c", "ls; cat trace.db trace.db-wal trace.db-shm >copy"], "-q", "--scope", str(place.db.parent),
        cwd=place.db.parent)
    own = place.sql("SELECT path, (SELECT sum(a.bread) FROM access a WHERE a.file = f.id) FROM file f WHERE path GLOB '*/trace.db*'")
    checks.equal("the files of the trace itself", own, [])
    checks.check("what was read of them", place.sql("SELECT nwrite FROM access WHERE path = ?", f"{place.db.parent}/copy"))
    checks.equal("--include", paths("--include", f"{base}/out/*"), {f"{base}/out/a"})
    checks.equal("--no-ops", (paths("--no-ops", "--scope", str(base / "in")), place.sql("SELECT count(*) FROM op")[0][0]),
                 ({f"{base}/in/a", f"{base}/in/b"}, 0))
    kinds = []
    for options in [], ["--scope", "full"], ["--scope", "/"]:
        run(place, ["sh", "-c", "echo x | cat"], "-q", *options, cwd=base)
        kinds.append(place.sql("SELECT DISTINCT kind FROM file ORDER BY 1"))
    checks.check("--scope full is what is recorded without it: pipes, too", ("fifo",) in kinds[0] and kinds[0] == kinds[1] == kinds[2], kinds)
    run(place, ["true"], "-q", "--env", "KEPT_*", env={**os.environ, "KEPT_A": "1", "LEFT_OUT": "2"})
    found = {name for name, in place.sql("SELECT DISTINCT name FROM environ")}
    checks.check("--env", "KEPT_A" in found and "LEFT_OUT" not in found, found)


def groups(checks, place, base):
    """The control group of a process, of whichever hierarchy has one."""
    for top in ("/sys/fs/cgroup", "/sys/fs/cgroup/unified", "/sys/fs/cgroup/pids", "/sys/fs/cgroup/memory"):
        job = pathlib.Path(top, f"ftrac-case-{os.getpid()}")
        group = job / "step_1/task_2/deeper"
        if not os.access(f"{top}/cgroup.procs", os.W_OK):
            continue
        group.mkdir(parents=True)
        done = run(place, ["true"], "-q", cwd=base, preexec_fn=lambda group=group: (group / "cgroup.procs").write_text("0"))
        found = {path for path, in place.sql("SELECT cgroup FROM process")}
        for used in (group, *group.parents):
            used.rmdir()
            if used == job:
                break
        checks.equal(f"control group in {top}", (done.returncode, found), (0, {f"/{group.relative_to(top)}"}))


def signals(checks, place, base):
    """A signal for ftrac reaches the command, and one of the command's own processes does not come twice."""
    script = "trap 'echo got >>signals; exit 5' TERM; echo ready >ready; while :; do sleep 0.1; done"
    child = subprocess.Popen([*place.command("-q"), "sh", "-c", script], cwd=base, stdin=subprocess.DEVNULL)
    wait_for(base / "ready")
    child.send_signal(signal.SIGTERM)
    checks.equal("status after SIGTERM", child.wait(60), 5)
    checks.equal("SIGTERM came once", (base / "signals").read_text(), "got\n")
    own = "trap 'echo got >>own' USR1; kill -USR1 0; sleep 0.3; exit 6"
    done = run(place, ["sh", "-c", own], "-q", cwd=base, start_new_session=True)
    checks.equal("status after a signal of its own", done.returncode, 6)
    checks.equal("that came once", (base / "own").read_text(), "got\n")


def wait_for(path):
    for _ in range(600):
        if path.exists() and path.stat().st_size:
            return
        time.sleep(0.1)
    raise AssertionError(f"no {path}")


def outlive(checks, place, base):
    """Processes that outlive the command are waited for, and then ended."""
    run(place, ["sh", "-c", "(setsid sh -c 'sleep 1; echo late >late' &)"], "-q", cwd=base)
    checks.equal("what outlives the command is waited for", (base / "late").read_text(), "late\n")
    checks.check("and recorded", place.sql("SELECT 1 FROM access WHERE path = ? AND nwrite > 0", f"{base}/late"))
    begin = time.monotonic()
    run(place, ["sh", "-c", "echo $$ >pid; (setsid sh -c 'echo $$ >rest; exec sleep 300' &) ; sleep 0.5"], "-q", "--wait",
        "0.2", cwd=base)
    checks.check("--wait", time.monotonic() - begin < 60)
    checks.check("and then ended", not os.path.exists(f"/proc/{(base / 'rest').read_text().strip()}"))


def users(checks, place, base):
    if os.geteuid() != 0:
        return
    done = run(place, ["sh", "-c", "id -u; grep CapEff /proc/self/status"], "-q", "--user", "nobody", cwd="/")
    checks.equal("--user", done.stdout.split(), [str(UNPRIVILEGED), "CapEff:", "0" * 16])
    shared = pathlib.Path(tempfile.mkdtemp(prefix="ftrac-case-", dir="/var/tmp"))
    os.chown(shared, UNPRIVILEGED, UNPRIVILEGED)
    mine = InKernel(shared, ftrac=for_everybody(FTRAC))
    user = {"user": UNPRIVILEGED, "group": UNPRIVILEGED, "extra_groups": [], "cwd": shared}
    done = run(mine, ["true"], **user)
    checks.equal("a user without capabilities", done.returncode, 125)
    checks.check("the error names them, in one line",
                 "CAP_BPF and CAP_PERFMON are missing" in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr)
    checks.check("no trace is left", not mine.db.exists())
    done = subprocess.run([*mine.command(files="auto"), "echo", "done"], capture_output=True, text=True, timeout=120,
                          check=False, **user)
    lines = done.stderr.splitlines()
    checks.check("auto says why it is a mount", "CAP_BPF" in lines[0] and "by a mount" in lines[0], lines)
    if os.stat("/dev/fuse").st_mode & 0o6 == 0o6:
        checks.equal("auto: the mount", (done.returncode, done.stdout, mine.fact("files")), (0, "done\n", "mount"))
    shutil.rmtree(shared)


def gave_up(checks, place, base):
    """Each thread of ftrac keeps what it needs, and no more."""
    if os.geteuid() != 0:
        return
    fifo = base / "go"
    os.mkfifo(fifo)
    child = subprocess.Popen([*place.command("-q"), "sh", "-c", "echo on >on; cat go"], cwd=base, stdin=subprocess.DEVNULL)
    wait_for(base / "on")
    found = set()
    for task in pathlib.Path(f"/proc/{child.pid}/task").iterdir():
        status = dict(line.split(":\t", 1) for line in (task / "status").read_text().splitlines() if ":\t" in line)
        found.add((int(status["CapPrm"], 16), int(status["CapBnd"], 16)))
    fifo.write_text("")
    child.wait(60)
    wanted = sum(1 << n for n in (1, 2, 5, 23))  # dac_override, dac_read_search, kill, sys_nice
    checks.equal("capabilities of all threads", {f"{prm:x} {bnd:x}" for prm, bnd in found}, {f"{wanted:x} {wanted:x}"})


def options(checks, place, base):
    refused = [("--fidelity", "exact"), ("--stat",), ("--drop",), ("--locks", "native"), ("--io-uring", "off"),
               ("--processes", "ptrace")]
    for words in refused:
        done = run(place, ["true"], *words, cwd=base)
        checks.equal(f"{words}: status", done.returncode, 125)
        checks.check(f"{words}: a line that names it", words[0] in done.stderr and len(done.stderr.splitlines()) == 1,
                     done.stderr)
    for files, wanted in {"auto": 0, "kernel": 0, "neither": 125, "": 125}.items():
        done = subprocess.run([*place.command("-q", files=files), "true"], capture_output=True, text=True, timeout=60,
                              cwd=base, check=False)
        checks.equal(f"--files '{files}'", done.returncode, wanted)
    done = run(place, ["true"], "-q", "--processes", "kernel", "--strict", cwd=base)
    checks.equal("--processes kernel --strict", (done.returncode, done.stderr), (0, ""))
    done = subprocess.run([FTRAC, "run", "--processes", "kernel", "true"], capture_output=True, text=True, timeout=60,
                          cwd=base, check=False)
    checks.equal("--processes kernel with a mount", done.returncode, 125)


READS = "import os; open('begun', 'w').write('x'); fd = os.open('/dev/zero', 0); [os.read(fd, 1) for i in range(1500000)]"


def dropped(checks, place, base):
    """ftrac is stopped until the kernel's buffer is full: what was dropped is counted and said."""
    for options, status in (((), 0), (("--strict",), 125)):
        (base / "begun").unlink(missing_ok=True)
        child = subprocess.Popen([*place.command(*options), "sh", "-c", f'python3 -c "{READS}"; echo end >end'], cwd=base,
                                 stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        wait_for(base / "begun")
        child.send_signal(signal.SIGSTOP)
        wait_for(base / "end")
        (base / "end").unlink()
        child.send_signal(signal.SIGCONT)
        said = child.communicate(timeout=120)[1]
        facts = {key: place.fact(f"kernel_{key}") for key in ("submitted", "received", "dropped")}
        checks.check(f"{options}: the kernel dropped records", facts["dropped"] > 1000, facts)
        checks.equal(f"{options}: submitted", facts["submitted"], facts["received"] + facts["dropped"])
        checks.check(f"{options}: ops_lost", place.fact("ops_lost") >= facts["dropped"])
        checks.check(f"{options}: the summary names it", f"the kernel dropped {facts['dropped']} of" in said, said)
        checks.equal(f"{options}: status", child.returncode, status)


def profiled(checks, place, base):
    """procmon records the same."""
    done = subprocess.run([PROCMON, "--files", "kernel", "--force", "--db", place.db, "sh", "-c", "echo p >profiled; exit 4"],
                          cwd=base, capture_output=True, text=True, timeout=60, check=False)
    checks.equal("procmon", (done.returncode, done.stderr), (4, ""))
    checks.equal("procmon: facts", [place.fact(key) for key in ("files", "process_tier", "complete")],
                 ["kernel", "kernel", 1])
    checks.check("procmon: accesses", place.sql("SELECT 1 FROM access WHERE path = ? AND nwrite > 0", f"{base}/profiled"))


def main():
    need_kernel()
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="ftrac-case-") as directory:
        base = pathlib.Path(directory).resolve() / "work"
        base.mkdir()
        place = InKernel(base.parent)
        for part in natively, statuses, kept, groups, signals, outlive, users, gave_up, options, dropped, profiled:
            part(checks, place, base)
        kernelleft.nothing_left(checks, "after all")
    kernelleft.end(checks)


if __name__ == "__main__":
    main()
