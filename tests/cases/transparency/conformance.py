#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 25
# long: --long
"""Every operation on every sort of file by every sort of user gives what it gives natively.

conform (tests/work) does them all in a directory and says for each combination what was returned
and what was there afterwards; here its words about a directory are compared, line by line, with
those about a directory beside it that it worked in through the mount: in every fidelity, with and
without what the kernel remembers, as root for six users and as an ordinary user.

    conformance.py [--long] [FIDELITY...] [SECTION...]

Each way of mounting gets a random share of the combinations, another one for each; with --long each gets all
of them.  Sections are those of conform.
"""
import array
import collections
import errno
import fcntl
import os
import pathlib
import platform
import re
import shutil
import stat
import subprocess
import sys
import tempfile

import ftractest
from ftractest import WORK, Checks, Mount, need, need_fuse
from parts import own_namespace
from sample import LONG, one, some

FIDELITIES = "exact", "cached", "open"
NEEDED = {"exact": (6, 5), "cached": (0, 0)}  # kernels that are newer than that
SHARES = 48  # eight for each way of mounting that root has
SHOWN = 20  # differences of one way of mounting
USER = 65534

need_fuse()
need("setpriv", "stat")
checks = Checks()
arguments = sys.argv[1:]
fidelities = [f for f in FIDELITIES if f in arguments] or FIDELITIES
kernel = tuple(int(n) for n in platform.release().split("-")[0].split(".")[:2])
sections = [a for a in arguments if a not in FIDELITIES]


# ---- what no file system of FUSE can do: where a line may differ, and in what

TIMES = r"(?:[.+]|=[amc]-?\d+\.\d+)+"
ACCESS_TIME = r"(:[-dc]\d{4},\d+:\d+,\d+,(?:[\d/]+,)?)[.+](?=[.+][.+])", r"\1?"
SPECIAL_TIMES = rf"(:[pc]\d{{4}},\d+:\d+,\d+,[\d/]+,){TIMES}", r"\1?"
RESULT = r"^.* -> ", ""
ALL = r"^.*$", ""

Exception_ = collections.namedtuple("Exception_", "reason fidelities where pattern instead")
EXCEPTIONS = [Exception_(*e) for e in (
    ("times of FIFOs and devices are kept by the kernel, which does not tell", FIDELITIES,
     "; (fifo|fifo 0600|null device|full device);", *SPECIAL_TIMES),
    ("ranges are neither collapsed nor inserted nor unshared", FIDELITIES,
     "^data fallocate (collapsing|inserting|unsharing);", *ALL),
    ("the kernel does not know what is immutable or append-only: it judges access without, and "
     "finds a wrong type before the file system below is asked", FIDELITIES,
     "^(attributes access[^;]*|names (rmdir|unlink|rmdir of a file|unlink a directory|removing "
     "while open|rename a directory away)|xattrs (remove default ACL|set ACL[^;]*)); [^;]*"
     "(immutable|append-only)", *RESULT),
    ("a store through a mapping is a write to the daemon of an ordinary user, and takes suid and "
     "sgid away", ("exact", "cached"), r"^data map[^;]*; (mode [2467]\d{3}|ACL and sgid); user$", *ALL),
    ("attributes of statx are not passed on", FIDELITIES, "^attributes statx of attributes;",
     r"attributes \w+ of \w+", ""),
    ("what an ordinary user mounts is nosuid and nodev", FIDELITIES, "^attributes statvfs;.*; user$",
     r"flags \w+", ""),
    ("how large a file may be in the file system below the kernel does not know", FIDELITIES,
     "^data lseek;", r"(1099511627776) (EINVAL|9223372036854775807)", r"\1"),
    ("where there is nothing to read, mapping and splicing do not ask, and direct I/O does not "
     "leave the trace that it leaves in some file systems", ("exact", "cached"),
     "^(data (map|sendfile|splice)|open O_DIRECT).*; empty file;", *ACCESS_TIME),
    ("the same of a file that is open for reading and appending: its data are not passed through", ("open",),
     "^data (map shared|splice) appending; empty file;", *ACCESS_TIME),
    ("splicing what cannot be spliced is refused before the file system below is asked",
     FIDELITIES, "^data sendfile from; .*(directory|device)", *ACCESS_TIME),
    ("reading ahead looks like reading by way of a mapping", FIDELITIES, "^data sync;",
     *ACCESS_TIME),
    ("that a file has nothing to read the kernel remembers", ("cached",),
     "; (empty file|nothing);|O_TRUNC", *ACCESS_TIME),
    ("where a buffer lies in memory is not passed on", ("exact", "cached"),
     "^open O_DIRECT and odd memory;", *ALL),
    ("flags that are set after opening do not reach the file that the kernel passes data to",
     ("open",), "^open F_SETFL ((not )?O_(NOATIME|DIRECT)|not O_APPEND)", *ALL),
)]
# Where libfuse or the kernel are too old for it.
NO_BIRTH = Exception_("times of birth are not passed on", FIDELITIES, "^attributes statx",
                      r"(mask \w+)|(birth .*) ->", "->")


# Where stores by way of a mapping leave no trace: with a file system of FUSE they are writes.
NO_MAPPED_TIME = Exception_("stores by way of a mapping are writes", ("exact", "cached"),
                            "^(data map|files .*mapp).*", r"([.+])\+\+", r"\1..")


def excepted(fidelity, key, native, through):
    """The reason why these two may differ, or None."""
    if kind == "overlayfs":  # from which the kernel passes nothing through
        fidelity = fidelity.replace("open", "exact")
    for e in EXCEPTIONS:
        if fidelity in e.fidelities and re.search(e.where, key):
            if re.sub(e.pattern, e.instead, native) == re.sub(e.pattern, e.instead, through):
                return e.reason
    return None


# ---- comparing

def lines_of(text):
    found = {}
    for line in text.decode(errors="backslashreplace").splitlines():
        key, _, rest = line.partition(": ")
        found[key] = rest
    return found


def conform(program, directory, source, part, prefix):
    done = subprocess.run([*prefix, program, directory, source, part, *sections],
                          capture_output=True, timeout=1500, stdin=subprocess.DEVNULL, cwd="/")
    checks.equal("conform ends well", (done.returncode, done.stderr.decode()), (0, ""))
    return lines_of(done.stdout)


def show(differences):
    """Prints the first difference of each operation, then the second of each, up to the limit; then how many
    it left out."""
    turn, ordered = collections.Counter(), []
    for key, wanted, got in differences:
        operation = key.split(";")[0]
        ordered.append((turn[operation], operation, f"{key}\n  native  {wanted}\n  mounted {got}"))
        turn[operation] += 1
    ordered.sort()
    for _, _, text in ordered[:SHOWN]:
        print(text)
    for operation, n in collections.Counter(o for _, o, _ in ordered[SHOWN:]).items():
        print(f"and of {operation}: {n} more")


def compare(way, fidelity, native, through):
    differences, reasons = [], collections.Counter()
    for key in sorted(native.keys() | through.keys()):
        wanted, got = native.get(key, "(no such line)"), through.get(key, "(no such line)")
        reason = wanted != got and excepted(fidelity, key, wanted, got)
        if reason:
            reasons[reason] += 1
        elif wanted != got:
            differences.append((key, wanted, got))
    show(differences)
    checks.looked += len(native)
    checks.failed += len(differences)
    print(f"{way}: {len(native)} combinations compared, {len(differences)} differences, "
          f"{sum(reasons.values())} excepted", flush=True)
    return reasons


# ---- running

def release(top):
    """What is immutable or append-only because conform has been ended could not be removed."""
    for directory, _, files in os.walk(top):
        for path in directory, *(os.path.join(directory, f) for f in files):
            if os.path.islink(path) or not (os.path.isdir(path) or os.path.isfile(path)):
                continue
            fd = os.open(path, os.O_RDONLY)
            flags = array.array("i", [0])
            try:
                fcntl.ioctl(fd, 0x80086601, flags)  # FS_IOC_GETFLAGS
                if flags[0] & 0x30:
                    flags[0] &= ~0x30
                    fcntl.ioctl(fd, 0x40086602, flags)  # FS_IOC_SETFLAGS
            except OSError:
                pass
            os.close(fd)


def birth(path, prefix):
    return subprocess.run([*prefix, "stat", "-c", "%w", path], capture_output=True,
                          check=True).stdout


class Run:
    """All ways of mounting, for root or for one user."""

    def __init__(self, name, base, prefix=(), mount=Mount):
        self.name, self.base, self.prefix, self.mount = name, base, prefix, mount
        self.program = base / "conform"
        shutil.copy(WORK / "conform", self.program)
        self.reasons = collections.Counter()

    def place(self, name):
        path = self.base / name
        path.mkdir()
        if self.prefix:
            os.chown(path, USER, USER)
        return path

    def accepts(self, options):
        command = self.mount(*options, base=self.base, prefix=self.prefix)
        try:
            with command:
                command.unmount()
            command.db.unlink()
            return True
        except subprocess.CalledProcessError:
            print(f"{self.name}: {' '.join(options)} is refused", flush=True)
            return False

    def ways(self):
        accepted = [f for f in fidelities if self.accepts(("--fidelity", f))]
        for fidelity in fidelities:
            if NEEDED.get(fidelity, kernel) < kernel:
                checks.check(f"{self.name}: {fidelity} is accepted", fidelity in accepted)
        # For an ordinary user what is remembered makes no other difference than for root.
        stats = ((), ("--stat",)) if not self.prefix else ((),)
        return [(f, more) for more in stats for f in accepted]

    def native(self, part):
        directory = self.place("native")
        found = conform(self.program, directory, directory, part, self.prefix)
        checks.check(f"{self.name}: nothing is left", not os.listdir(directory))
        directory.rmdir()
        return found

    def through(self, fidelity, more, part):
        directory = self.place("through")
        with self.mount("--fidelity", fidelity, *more, base=self.base,
                        prefix=self.prefix) as mount:
            inside = mount(directory)
            found = conform(self.program, inside, directory, part, self.prefix)
            checks.check(f"{self.name}: nothing is left", not os.listdir(directory))
            self.compare_birth(inside, directory)
            self.compare_devices(mount)
            mount.unmount()
            checks.equal(f"{self.name}, {fidelity}: nothing is lost", mount.fact("ops_lost"), 0)
            checks.equal(f"{self.name}: it was in force", mount.fact("fidelity"), fidelity)
        mount.db.unlink()
        directory.rmdir()
        return found

    def compare_devices(self, mount):
        """What lies in another file system natively does so in the mount, which is but one."""
        if self.prefix or os.stat(self.base).st_dev == os.stat("/dev/shm").st_dev:
            return
        away = pathlib.Path(tempfile.mkdtemp(dir="/dev/shm"))
        for call in os.rename, os.link:
            for path in lambda p: p, mount:
                try:
                    call(path(self.program), path(away / "program"))
                    got = 0
                except OSError as e:
                    got = e.errno
                checks.equal(f"{self.name}: {call.__name__} to another file system", got,
                             errno.EXDEV)
        away.rmdir()

    def compare_birth(self, inside, directory):
        wanted, got = birth(directory, self.prefix), birth(inside, self.prefix)
        if got == b"-\n" != wanted:
            if NO_BIRTH not in EXCEPTIONS:
                EXCEPTIONS.append(NO_BIRTH)
        else:
            checks.equal(f"{self.name}: the time of birth", got, wanted)

    def run(self):
        ways, natives = self.ways(), {}
        for i, (fidelity, more) in some(enumerate(ways), 2):
            part = "0/1" if LONG else f"{one(range(i * 8 % SHARES, i * 8 % SHARES + 8))[0]}/{SHARES}"
            if part not in natives:
                natives[part] = self.native(part)
            through = self.through(fidelity, more, part)
            self.reasons += compare(" ".join((self.name, fidelity, *more)), fidelity,
                                    natives[part], through)
        for reason, n in self.reasons.most_common():
            print(f"{self.name}: excepted {n} times: {reason}")


# ---- as root, and as another user

def become(uid):
    return ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups"]


class UserMount(Mount):
    def take_away(self):
        status = ftractest.unmounted(lambda: subprocess.run(
            [*become(USER), "fusermount3", "-u", str(self.mnt)], cwd="/",
            stderr=subprocess.DEVNULL).returncode)
        checks.equal("the user unmounts", status, 0)


def missing_for_user(base):
    """What an ordinary user lacks here, or None; after that we are in a mount namespace with a /dev/fuse for all."""
    if not os.path.exists("/etc/mtab"):
        return "no /etc/mtab, by which fusermount3 knows whose a mount is"
    if not os.stat(shutil.which("fusermount3")).st_mode & stat.S_ISUID:
        return "fusermount3 is not setuid"
    return None if own_namespace(base) else "no right to mount in a namespace of one's own"


def as_user(base):
    missing = missing_for_user(base)
    if missing:
        print(f"skipped for an ordinary user: {missing}")
        return
    home = base / "user"
    home.mkdir()
    os.chown(home, USER, USER)
    shutil.copy(ftractest.FTRAC, base / "ftrac")  # where everybody can reach it
    ftractest.FTRAC = str(base / "ftrac")
    (home / "mnt").mkdir()
    os.chown(home / "mnt", USER, USER)
    Run("user", home, become(USER), UserMount).run()


base = pathlib.Path(tempfile.mkdtemp(prefix="ftrac-case-"))
kind = subprocess.run(["stat", "-f", "-c", "%T", base], capture_output=True, text=True,
                      check=True).stdout.strip()
if kind == "tmpfs":
    EXCEPTIONS.append(NO_MAPPED_TIME)
if os.geteuid() == 0:
    base.chmod(0o755)
    try:
        Run("root", base).run()
        as_user(base)
    finally:
        release(base)
    subprocess.run(["umount", base / "dev"], stderr=subprocess.DEVNULL)
    shutil.rmtree(base)
else:
    Run("user", base).run()
    shutil.rmtree(base)
checks.end()
