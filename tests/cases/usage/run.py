#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# long: --long
# seconds: 25
"""ftrac run: a command at its own place, with its own status, and nothing left behind.

run.py [ROUTE...]   root, helper (an ordinary user with a setuid fusermount3), inside (without one);
                    default: all that this user can try
"""
import collections
import json
import os
import pathlib
import pwd
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

from ftractest import FTRAC, TOP, Checks, need, skip
from sample import one

need("gcc", "make", "unshare", "setpriv")
if not os.path.exists("/dev/fuse"):
    skip("no /dev/fuse here")
checks = Checks()
# A user with a name, which fusermount3 asks for.
USER = next((uid for uid in (1000, 1) if any(p.pw_uid == uid for p in pwd.getpwall())), 1)
# An ordinary user may not be let to /dev/fuse here, and a helper has to be hidden for "inside": both in
# a mount namespace of its own.
STAGE = """
mount --make-rprivate /
mount --bind "$1/fuse" /dev/fuse
[ "$2" = helper ] || mount --bind "$1/no-helper" "$(command -v fusermount3)"
shift 2
exec setpriv --reuid UID --regid UID --clear-groups "$@"
"""


class Place:
    """A directory for a route, in which the user of that route runs ftrac."""

    def __init__(self, route):
        self.route = route
        self.base = pathlib.Path(tempfile.mkdtemp(prefix="ftrac-case-"))
        self.base.chmod(0o755)
        self.ftrac = self.base / "ftrac"  # the build may lie where others may not look
        shutil.copy(FTRAC, self.ftrac)
        self.work = self.base / "work"
        self.work.mkdir()
        self.prefix = []
        if route != "root":
            os.mknod(self.base / "fuse", 0o20666, os.makedev(10, 229))
            os.chmod(self.base / "fuse", 0o666)
            shutil.copy(shutil.which("fusermount3"), self.base / "no-helper")  # not setuid
            (self.base / "stage").write_text(STAGE.replace("UID", str(USER)))
            os.chown(self.work, USER, USER)
            self.prefix = ["unshare", "-m", "sh", str(self.base / "stage"), str(self.base), route]

    def command(self, words, options=()):
        return [*self.prefix, str(self.ftrac), "run", "--db", str(self.work / "trace.db"), "--force",
                *options, "--", *words]

    def run(self, words, *options, cwd=None, **more):
        if isinstance(words, str):
            words = ["sh", "-c", words]
        return subprocess.run(self.command(words, options), cwd=cwd or self.work, text=True,
                              capture_output=True, stdin=subprocess.DEVNULL, timeout=180, **more)

    def native(self, words):
        """The same without ftrac, by the same user."""
        return subprocess.run([*self.prefix, "sh", "-c", words], cwd=self.work, text=True,
                              capture_output=True, stdin=subprocess.DEVNULL, timeout=180)

    def sql(self, query):
        db = sqlite3.connect(f"file:{self.work}/trace.db?mode=ro", uri=True)
        try:
            return db.execute(query).fetchall()
        finally:
            db.close()

    def fact(self, key):
        return self.sql(f"SELECT value FROM trace WHERE key = '{key}'")[0][0]

    def copy(self, source, name):
        shutil.copytree(source, self.work / name)
        if self.route != "root":
            subprocess.run(["chown", "-R", f"{USER}:{USER}", self.work / name], check=True)
        return self.work / name


def mounts():
    with open("/proc/mounts") as f:
        return [line for line in f if " fuse.ftrac " in line]


def left_behind(place, what):
    """No mount, no process, no directory of ours."""
    for _ in range(40):
        running = subprocess.run(["pgrep", "-f", str(place.base)], capture_output=True, text=True).stdout
        if not running and mounts() == BEFORE:
            break
        time.sleep(0.1)
    checks.equal(f"{place.route}, {what}: mounts left", mounts(), BEFORE)
    checks.equal(f"{place.route}, {what}: processes left", running.split(), [])


def whole(place, what, scope):
    checks.equal(f"{place.route}, {what}: complete", place.fact("complete"), 1)
    checks.equal(f"{place.route}, {what}: lost", (place.fact("ops_lost"),
                                                  place.fact("process_events_lost")), (0, 0))
    checks.equal(f"{place.route}, {what}: operations without a process", place.sql(
        "SELECT count(*) FROM op WHERE process IS NULL AND via IS NOT 'writeback'")[0][0], 0)
    checks.equal(f"{place.route}, {what}: roots of the tree", place.sql(
        "SELECT count(*) FROM process WHERE parent IS NULL")[0][0], 1)
    if scope == "full":
        checks.check(f"{place.route}, {what}: programs are seen", place.sql(
            "SELECT count(*) FROM access WHERE executed = 1")[0][0] > 0)


def statuses(place):
    for command, wanted in (("exit 0", 0), ("exit 7", 7), ("kill -TERM $$", 143),
                            ("kill -KILL $$", 137)):
        done = place.run(command)
        if not (place.work / "trace.db").exists():
            sys.exit(f"{place.route}: there is no trace: {done}")
        checks.equal(f"{place.route}: status of '{command}'", (done.returncode, place.fact(
            "exit_status")), (wanted, wanted))
    for words, wanted in (["no-such-command"], 127), (["./plain"], 126):
        (place.work / "plain").write_text("x")
        (place.work / "trace.db").unlink(missing_ok=True)
        done = place.run(words, "-q")
        checks.equal(f"{place.route}: status of {words[0]}", done.returncode, wanted)
        checks.check(f"{place.route}: {words[0]} leaves no trace", not (place.work / "trace.db").exists())
        checks.check(f"{place.route}: one line about {words[0]}", done.stderr.count("\n") == 1 and
                     words[0] in done.stderr, repr(done.stderr))
        place.run("true", "-q")
        before = (place.work / "trace.db").read_bytes()
        place.run(words, "-q")
        checks.check(f"{place.route}: {words[0]} replaces no trace", (place.work / "trace.db").read_bytes() == before)
        (place.work / "trace.db").unlink()
    for options, wanted in ((["--scope", "/no/such"], "/no/such"), (["--nix"], "--nix"),
                            (["--wait", "x"], "'x'"), (["--processes", "y"], "'y'"),
                            (["--db", "/proc/x.db"], "/proc/x.db")):
        done = place.run("true", *options)
        checks.equal(f"{place.route}: {options}", (done.returncode, done.stderr.count("\n")), (125, 1))
        checks.check(f"{place.route}: {options} is named", wanted in done.stderr, done.stderr)
    if place.route != "root":
        done = place.run("true", "--user", "nobody")
        checks.equal(f"{place.route}: --user is for root", (done.returncode, done.stderr.count("\n")),
                     (125, 1))


LOOK = """import json, os, signal, resource
status = dict(line.split(':', 1) for line in open('/proc/self/status'))
print(json.dumps({'directory': os.getcwd(), 'ids': [os.getresuid(), os.getresgid(), os.getgroups()],
    'umask': os.umask(0), 'signals': [status['SigBlk'], status['SigIgn']],
    'capabilities': [status['CapEff'], status['CapAmb'], status['CapBnd'] if os.geteuid() == 0 else ''],
    'files': resource.getrlimit(resource.RLIMIT_NOFILE),
    'size': resource.getrlimit(resource.RLIMIT_FSIZE),
    'descriptors': sorted(int(f) for f in os.listdir('/proc/self/fd'))[:-1],
    'environment': dict(os.environ), 'device': open('/dev/null', 'w').write('x'),
    'self': os.readlink('/proc/self') == str(os.getpid()), 'session': os.getsid(0) == os.getsid(os.getppid()),
    'securebits': status.get('NoNewPrivs')}))"""


def the_command_is_itself(place):
    """Whatever ftrac changes for itself, the command has what it would have had, and the name of the run."""
    (place.work / "look.py").write_text(LOOK)
    python = shutil.which("python3", path="/usr/bin:/bin") or sys.executable
    native = json.loads(place.native(f"{python} look.py").stdout)
    for scope in "dir", "full":
        got = json.loads(place.run([python, "look.py"], "--scope", scope).stdout)
        for key, wanted in native.items():
            if key == "environment":
                for value in (wanted, got[key]):
                    value.pop("_", None), value.pop("OLDPWD", None), value.pop("SHLVL", None)
                    value.pop("PWD", None)
                name = got[key].pop("FTRAC_RUN", "")
                checks.check(f"{place.route}, {scope}: name of the run", re.fullmatch(re.escape(os.uname().nodename) + ":[0-9a-f]{32}", name), name)
            if key == "ids" and place.route != "root":
                wanted[2], got[key][2] = [], []  # groups that a user namespace does not know
            checks.equal(f"{place.route}, {scope}: {key} of the command", got[key], wanted)


def builds(place):
    """A compile, with the paths as they are; the products are those of a native one."""
    native = place.copy(TOP / "examples/make", "native")
    place.native("make -C native -s clean && make -C native -j8")
    for scope in "dir", "full":
        source = place.copy(TOP / "examples/make", f"source-{scope}")
        place.native(f"make -C {source.name} -s clean")
        done = place.run(["make", "-j8"], "--scope", scope, cwd=source)
        checks.equal(f"{place.route}, {scope}: make", done.returncode, 0)
        lines = done.stderr.splitlines()
        checks.check(f"{place.route}, {scope}: a summary of at most 15 lines", 3 <= len(lines) <= 15,
                     done.stderr)
        checks.check(f"{place.route}, {scope}: that nothing was lost", any(
            "lost: 0 operations, 0 process events" in line for line in lines), done.stderr)
        whole(place, f"make, {scope}", scope)
        checks.equal(f"{place.route}, {scope}: products", subprocess.run(
            ["cmp", native / "build/tally", source / "build/tally"], capture_output=True).returncode, 0)
        seen = {row[0] for row in place.sql("SELECT path FROM access WHERE opens > 0")}
        checks.check(f"{place.route}, {scope}: its files by their own paths",
                     f"{source}/build/tally" in seen, sorted(seen)[:5])
        outside = [path for path in seen if not path.startswith(str(place.work))]
        checks.check(f"{place.route}, {scope}: headers of the system", bool(outside) == (scope == "full"),
                     outside[:5])
        left_behind(place, f"make, {scope}")


def strace_opens(place, command, cwd):
    """Files that were opened or executed, as strace sees them: absolute, of those under no other
    directory than the current one.  Without links: they are not the files."""
    log = place.work / "strace.log"
    subprocess.run([*place.prefix, "strace", "-f", "-y", "-s", "4096", "-e", "trace=open,openat,openat2,creat,execve",
                    "-e", "signal=none", "-o", log, *command], cwd=cwd, check=True,
                   capture_output=True, timeout=300)
    opened, begun = set(), {}
    for line in open(log, errors="surrogateescape"):
        fd = re.search(r"\)\s+= \d+<([^>]*)>", line)
        pid, text = line.rstrip("\n").split(None, 1)
        if text.endswith("<unfinished ...>"):
            begun[pid] = text
        elif text.startswith("<... execve resumed>"):
            text = begun.pop(pid, "") + text
        executed = re.match(r'execve\("([^"]*)".* = 0$', text)
        if fd:
            opened.add(fd[1].removesuffix(" (deleted)"))
        elif executed:
            opened.add(os.path.realpath(os.path.join(cwd, executed[1])))
    return {path for path in opened if path.startswith("/") and
            not path.startswith(("/dev/", "/proc/", "/sys/", "/dev", "/proc", "/sys"))}


def full_equals_strace(place):
    """With the whole file system: the files opened are those that strace sees opened, in a run of its
    own; directories and temporary names apart."""
    if not shutil.which("strace"):
        print("no strace here: not compared")
        return
    first, second = place.copy(TOP / "examples/make", "one"), place.copy(TOP / "examples/make", "two")
    for source in first, second:
        subprocess.run(["make", "-s", "clean"], cwd=source, check=True, capture_output=True)
    wanted = strace_opens(place, ["make", "-j8"], first)
    subprocess.run(["make", "-s", "clean"], cwd=second, check=True, capture_output=True)
    place.run(["make", "-j8"], "--scope", "full", cwd=second)
    got = {row[0] for row in place.sql("SELECT DISTINCT a.path FROM access a JOIN file f ON f.id = a.file "
                                       "WHERE (a.opens > 0 OR a.executed) AND f.kind = 'file'")}

    def comparable(paths, source):
        return {re.sub(r"/tmp/cc\w+|/build/st\w{6}$", "/TEMPORARY", path).replace(str(source), "/SOURCE")
                for path in paths if not os.path.isdir(path) and "/GMfifo" not in path}
    wanted, got = comparable(wanted, first), comparable(got, second)
    # The interpreter of a program is opened by the kernel, which strace does not see.
    got -= {path for path in got - wanted if re.search(r"/ld-linux[^/]*$|/ld-2", path)}
    checks.equal(f"{place.route}: opened natively, not seen by ftrac", sorted(wanted - got)[:9], [])
    checks.equal(f"{place.route}: seen by ftrac, not opened natively", sorted(got - wanted)[:9], [])
    print(f"{place.route}, full: {len(wanted)} files opened, the same as strace's")


def sandboxes(place):
    """Inside of the command they work as outside."""
    for scope in "dir", "full":
        done = place.run("unshare -Ur id -u", "--scope", scope)
        checks.equal(f"{place.route}, {scope}: a user namespace inside", done.stdout.strip(), "0")
        if shutil.which("bwrap"):
            done = place.run("bwrap --ro-bind / / --dev /dev --proc /proc sh -c 'echo in; cat /dev/null'",
                             "--scope", scope)
            checks.equal(f"{place.route}, {scope}: bwrap inside", done.stdout, "in\n")
        if shutil.which("strace"):
            done = place.run("strace -f -o s.log sh -c '/bin/true; /bin/true'; grep -c exited s.log",
                             "--scope", scope)
            checks.equal(f"{place.route}, {scope}: strace inside", done.stdout, "3\n")
    left_behind(place, "sandboxes")


def sockets(place):
    """What listens at a path outside is reached by it."""
    path = place.work / "socket"
    server = subprocess.Popen([sys.executable, "-c", f"""
import os, socket
s = socket.socket(socket.AF_UNIX)
s.bind({str(path)!r})
os.chmod({str(path)!r}, 0o777)
s.listen()
print(flush=True)
for _ in range(2):
    c = s.accept()[0]
    c.send(b'hello')
    c.close()
"""], stdout=subprocess.PIPE)
    server.stdout.readline()
    client = ("import socket; s = socket.socket(socket.AF_UNIX); "
              f"s.settimeout(20); s.connect({str(path)!r}); print(s.recv(9).decode())")
    for scope in "dir", "full":
        done = place.run([shutil.which("python3", path="/usr/bin") or sys.executable, "-c", client],
                         "--scope", scope)
        checks.equal(f"{place.route}, {scope}: a socket outside", done.stdout, "hello\n")
    server.kill()
    server.wait()
    server.stdout.close()
    path.unlink()


def what_goes_on(place):
    """Is waited for, and then ended."""
    begun = time.monotonic()
    done = place.run("(sleep 1; echo late >late) & exit 4")
    checks.equal(f"{place.route}: waits for what goes on", (done.returncode, (
        place.work / "late").read_text()), (4, "late\n"))
    done = place.run("(setsid sleep 300 >/dev/null 2>&1 &) ; exit 2", "--wait", "0.5")
    checks.equal(f"{place.route}: but not for ever", done.returncode, 2)
    checks.check(f"{place.route}: and not long", time.monotonic() - begun < 60)
    checks.equal(f"{place.route}: it was ended", place.sql(
        "SELECT state, exit_signal FROM process WHERE command = 'sleep 300'"), [("killed", 15)])
    left_behind(place, "what goes on")


def violence(place):
    """Whichever process is killed: no mount, no process, a database that can be read."""
    for what in "command", "ftrac", "terminal":
        process = subprocess.Popen(place.command(["sh", "-c", "echo x >x; echo; exec sleep 61.25"], ["-q"]),
                                   cwd=place.work, stdout=subprocess.PIPE, start_new_session=True)
        process.stdout.readline()
        # Dash may lose an interrupt that comes while it is busy, natively, too.
        for _ in range(600):
            if subprocess.run(["pgrep", "-f", "^sleep 61.25"], stdout=subprocess.DEVNULL).returncode == 0:
                break
            time.sleep(0.1)
        ours = [int(pid) for pid in subprocess.run(
            ["pgrep", "-f", f"^{place.ftrac} run"], capture_output=True, text=True).stdout.split()]
        if what == "command":
            subprocess.run(["pkill", "-KILL", "-f", "^sleep 61.25"], check=True)
        elif what == "ftrac":
            os.kill(min(ours), signal.SIGKILL)
        else:
            os.killpg(process.pid, signal.SIGINT)
        status = process.wait(60)
        process.stdout.close()
        checks.check(f"{place.route}: status when {what} was hit", status in {
            "command": (137,), "ftrac": (-9, 137), "terminal": (130, -2)}[what], status)
        left_behind(place, f"{what} hit")
        checks.equal(f"{place.route}: the trace after that", place.sql("PRAGMA integrity_check"),
                     [("ok",)])
        checks.equal(f"{place.route}: complete after that", place.fact("complete"),
                     0 if what == "ftrac" else 1)


def storm(place):
    """With everything on: each process, each command line, and whose each operation is."""
    n = 300
    done = place.run(f"seq {n} | xargs -P4 -n1 /bin/true", "--scope", "full")
    whole(place, "storm", "full")
    tier = place.fact("process_tier").split("+")[0]
    lines = collections.Counter(row[0] for row in place.sql(
        "SELECT command FROM image WHERE seq > 0 AND comm = 'true'"))
    checks.equal(f"{place.route}: storm", (done.returncode, len(lines), set(lines.values())),
                 (0, n, {1}))
    checks.equal(f"{place.route}: storm, figures", place.sql(
        "SELECT count(cpu_ns), count(read_char), count(*) FROM process"), [(n + 3, n + 3, n + 3)])
    checks.equal(f"{place.route}: storm, by ptrace", tier, "ptrace")
    # What is measured of its cost; how much longer the run took is not known, and not 0.
    checks.equal(f"{place.route}: overhead", (place.fact("overhead_ns"), place.fact("overhead_wall_ns")),
                 (None, None))
    checks.check(f"{place.route}: CPU time of ftrac itself", 1e6 < place.fact("tracer_cpu_ns") < 600e9)
    checks.check(f"{place.route}: summary", re.search(r"tracing took [\d.]+ m?s of CPU", done.stderr),
                 done.stderr)
    checks.equal(f"{place.route}: storm, each has its own operations", place.sql(
        "SELECT count(*) FROM process p WHERE NOT EXISTS (SELECT 1 FROM op WHERE process = p.id)"),
        [(0,)])


def other_sources(place):
    """The command is whole whichever source reports its processes, also when it has waited for long and
    all processors are busy."""
    busy = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(os.cpu_count())]
    script = "sleep 1.2; for i in 1 2 3; do cat /etc/hostname >f$i; done; exit 4"
    try:
        done = place.run(script, "--processes", "connector")
        if "cannot use --processes connector" in done.stderr:
            print(f"{place.route}: no connector here: not looked at")
        else:
            checks.equal(f"{place.route}, connector: status", done.returncode, 4)
            checks.equal(f"{place.route}, connector: processes, and their ends", place.sql(
                "SELECT count(*), sum(state = 'exited'), sum(parent IS NULL) FROM process"), [(5, 5, 1)])
            whole(place, "connector", "dir")
        done = place.run(script, "--processes", "inband")
        checks.equal(f"{place.route}, in band: the command", (done.returncode, place.sql(
            "SELECT command, exit_code, tier FROM process WHERE parent IS NULL")),
            (4, [(f"sh -c '{script}'", 4, "inband")]))
    finally:
        for process in busy:
            process.kill()
            process.wait()


def closed_stderr(place):
    """A closed stderr changes nothing; odd names still give one line."""
    process = subprocess.Popen(place.command(["sh", "-c", "sleep 0.5; exit 3"]), cwd=place.work,
                               stderr=subprocess.PIPE)
    process.stderr.close()
    checks.equal(f"{place.route}: status with a closed stderr", process.wait(60), 3)
    done = place.run(["/no/such\ncommand\033[2J"], "-q")
    checks.equal(f"{place.route}: an odd name", (done.returncode, done.stderr.count("\n"),
                                                "\033" in done.stderr), (127, 1, False))
    done = place.run(["sh", "-c", "\n" * 20 + "exit 0"])
    checks.check(f"{place.route}: a summary of at most 15 lines", done.stderr.count("\n") <= 15)
    for top in "/dev", "/proc", "/sys":
        done = place.run("true", "-q", cwd=top)
        checks.equal(f"{place.route}: {top} is real", (done.returncode, done.stderr.count("\n")), (125, 1))
    process = subprocess.Popen(place.command(["sh", "-c", "sleep 30 & echo; exit 2"],
                                             ["-q", "--wait", "inf"]), cwd=place.work,
                               stdout=subprocess.PIPE)
    process.stdout.readline()
    time.sleep(1)
    begun = time.monotonic()
    for pid in subprocess.run(["pgrep", "-f", f"^{place.ftrac} run"], capture_output=True,
                              text=True).stdout.split():
        os.kill(int(pid), signal.SIGTERM)
    checks.equal(f"{place.route}: the wait can be ended", process.wait(60), 2)
    process.stdout.close()
    checks.check(f"{place.route}: at once", time.monotonic() - begun < 20)
    left_behind(place, "words")


def programs(place):
    """Of all kinds, each as without ftrac."""
    (place.work / "s.c").write_text('#include <stdio.h>\nint main(void) { char t[9] = ""; '
                                    'FILE *f = fopen("hello", "r"); fgets(t, 9, f); puts(t); }\n')
    (place.work / "hello").write_text("hello")
    subprocess.run(["gcc", "-static", "-o", place.work / "static", place.work / "s.c"], check=True)
    shutil.copy("/usr/bin/id", place.work / "setuid")
    os.chmod(place.work / "setuid", 0o4755)
    python = shutil.which("python3", path="/usr/bin:/bin")
    for scope in "dir", "full":
        done = place.run("./static", "--scope", scope)
        checks.equal(f"{place.route}, {scope}: a static program", done.stdout, "hello\n")
        checks.equal(f"{place.route}, {scope}: what it read", place.sql(
            f"SELECT sum(bread) FROM access WHERE path = '{place.work}/hello'"), [(5,)])
        done = place.run("./setuid -u", "--scope", scope)
        checks.equal(f"{place.route}, {scope}: a setuid program, which has no other ids in a user "
                     "namespace", done.stdout, "0\n" if place.route == "root" else f"{USER}\n")
        if python:
            done = place.run(f"rm -rf venv && {python} -m venv --without-pip venv && "
                             "venv/bin/python -c 'import json, sys; print(sys.prefix)'", "--scope", scope)
            checks.equal(f"{place.route}, {scope}: a venv", done.stdout, f"{place.work}/venv\n")
        if shutil.which("git"):
            done = place.run("rm -rf a b; git init -q a && cd a && cp ../s.c . && git add . && "
                             "git -c user.name=a -c user.email=a@b commit -qm a && cd .. && "
                             "git clone -q a b && git -C b fsck --strict && cat b/s.c", "--scope", scope)
            checks.equal(f"{place.route}, {scope}: git", (done.returncode, done.stdout), (
                0, (place.work / "s.c").read_text()))
    left_behind(place, "programs")


def database_far_away(place):
    """Where it could not be read while it is written it is refused, with what to do."""
    if place.route != "root":
        return
    far = place.base / "far"
    far.mkdir()
    subprocess.run([place.ftrac, "--no-record", far], check=True, timeout=60)
    try:
        done = place.run("true", "--db", f"{far}{place.work}/far.db")
        checks.equal("a database on FUSE", (done.returncode, done.stderr.count("\n")), (125, 1))
        checks.check("a database on FUSE: what to do", "--db" in done.stderr, done.stderr)
    finally:
        subprocess.run([place.ftrac, "umount", far], check=True, timeout=60)


def files_in_memory(place):
    """What is below /dev/shm is traced where the scope is there, or all; devices stay the real ones."""
    if not os.path.isdir("/dev/shm") or os.path.islink("/dev/shm"):
        print("no /dev/shm here")
        return
    with tempfile.TemporaryDirectory(dir="/dev/shm", prefix="ftrac-case-") as scratch:
        os.chmod(scratch, 0o777)
        for scope, cwd in ("dir", scratch), ("full", place.work), (scratch, place.work), ("/dev/shm", place.work):
            label = f"{place.route}, {scope if scope in ('dir', 'full') else 'by name'}: /dev/shm"
            done = place.run(f"echo text >{scratch}/a && cat {scratch}/a && mv {scratch}/a {scratch}/b && rm {scratch}/b; "
                             "stat -c %F,%t,%T /dev/null; echo >/dev/null", "-q", "--scope", scope, cwd=cwd)
            checks.equal(f"{label}: status", (done.returncode, done.stderr), (0, ""))
            checks.equal(f"{label}: what it prints", done.stdout, "text\ncharacter special file,1,3\n")
            checks.equal(f"{label}: operations", place.sql(
                "SELECT name, bytes FROM op WHERE name IN ('create', 'write', 'rename', 'unlink') AND "
                f"path LIKE '{scratch}/%' ORDER BY id"),
                [("create", None), ("write", 5), ("rename", None), ("unlink", None)])
            checks.equal(f"{label}: of devices nothing", place.sql(
                "SELECT DISTINCT path FROM op WHERE path LIKE '/dev/_%' AND path NOT LIKE '/dev/shm%'"), [])
    left_behind(place, "files in memory")


def as_another_user(place):
    if place.route != "root":
        return
    os.chmod(place.work, 0o777)
    done = place.run("id -un; touch made; stat -c %U made; echo $HOME", "--user", "nobody")
    checks.equal("--user", done.stdout.split()[:2], ["nobody", "nobody"])
    done = place.run("true", "--user", "no-such-user")
    checks.equal("--user that is not there", (done.returncode, "no-such-user" in done.stderr), (125, True))


BEFORE = mounts()
if os.geteuid() == 0:
    routes = sys.argv[1:] or one(["root", "helper", "inside"])
else:
    skip("root, which can try all routes in its own namespaces")
for route in routes:
    place = Place(route)
    before = checks.looked
    if route == "helper" and not os.path.exists("/etc/mtab"):
        print("helper: no /etc/mtab, which fusermount3 needs: the mount is made inside")
    for subject in (statuses, the_command_is_itself, builds, full_equals_strace, sandboxes, sockets,
                    other_sources, closed_stderr, programs,
                    what_goes_on, violence, storm, database_far_away,
                    files_in_memory, as_another_user):
        subject(place)
    left_behind(place, "all")
    shutil.rmtree(place.base)
    print(f"{route}: {checks.looked - before} facts")
checks.end()
