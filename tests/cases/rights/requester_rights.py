#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The rights of the requester decide, with its groups and capabilities and no others: suid bits, ACLs,
attributes, files of /proc and of control groups; and waiting there can be ended."""
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

from ftractest import Checks, Mount, need, need_fuse, skip

need_fuse()
need("setpriv", "cc", "getfacl", "setfacl")
if os.geteuid() != 0:
    skip("root")
checks = Checks()
MODES = ("exact", "cached", "open")

AS_USER = ["setpriv", "--reuid", "5001", "--regid", "5001", "--clear-groups"]
POWERLESS = ["setpriv", "--reuid", "0", "--regid", "0", "--clear-groups", "--bounding-set=-all",
             "--inh-caps=-all"]


def ask(words, cwd="/"):
    done = subprocess.run(words, cwd=cwd, capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout.strip(), done.stderr.count("\n")


def with_capability(name, uid="5001"):
    return ["setpriv", "--reuid", uid, "--regid", uid, "--clear-groups", f"--inh-caps=-all,+{name}",
            f"--ambient-caps=+{name}"]


def suid_is_lost_at_once(mode, native, mounted):
    """By a write, whatever the kernel remembers of the file."""
    ways = {"write": 'dd if=/usr/bin/id of=f conv=notrunc status=none',
            "append": "echo >>f", "read-write": "printf x 1<>f", "fallocate": "fallocate -l 100 f",
            "truncate": "truncate -s 30000 f", "chown": None}
    for what, command in ways.items():
        got = []
        for place in native, mounted:
            shutil.copy("/usr/bin/id", place / "f")
            os.chown(place / "f", 0, 5001)
            os.chmod(place / "f", 0o6770)
            if command:
                run = ask([*AS_USER, "sh", "-c", f"{command}; stat -c %a f; ./f -u"], place)
            else:
                run = ask(["sh", "-c", "chown 1:5001 f; stat -c %a f"], place)
            got.append(run)
            os.unlink(place / "f")
        checks.equal(f"{mode}: suid after {what}", got[1], got[0])


def capabilities_count(mode, native, mounted):
    """Capabilities decide, not user ids."""
    cases = {
        "kptr_restrict, root without capabilities": (POWERLESS, "cat {}/proc/sys/kernel/kptr_restrict"
                                                     " >{}/proc/sys/kernel/kptr_restrict"),
        "mmap_min_addr, the same": (POWERLESS, "cat {}/proc/sys/vm/mmap_min_addr "
                                    ">{}/proc/sys/vm/mmap_min_addr"),
        "kmsg, the same": (POWERLESS, "dd if={}/proc/kmsg count=0"),
        "kallsyms, the same": (POWERLESS, "grep -v 'bpf]$' {}/proc/kallsyms | grep -c '^0000000000000000 '"),
        "environ of another, the same": (POWERLESS, "wc -c <{}/proc/1/environ"),
        "environ of another, by capability": (with_capability("sys_ptrace"),
                                              "wc -c <{}/proc/1/environ"),
        "environ of another, a user": (AS_USER, "wc -c <{}/proc/1/environ"),
    }
    for what, (prefix, command) in cases.items():
        runs = [ask([*prefix, "sh", "-c", command.replace("{}", root)])
                for root in ("", str(mounted)[:-len(str(native))])]
        checks.equal(f"{mode}: {what}", runs[1], runs[0])
    attributes(mode, native, mounted)


def attributes(mode, native, mounted):
    path = mounted / "g"  # what is changed outside shows a second later only
    cases = {
        "ACL, root without CAP_FSETID": (["setpriv", "--bounding-set=-fsetid"], 0, 7777),
        "ACL, owner with CAP_FSETID": (with_capability("fsetid"), 5001, 7777),
        "ACL, owner": (AS_USER, 5001, 7777),
    }
    for what, (prefix, uid, gid) in cases.items():
        got = []
        for place in native, mounted:
            file = place / "g"
            file.write_text("x")
            os.chown(file, uid, gid)
            os.chmod(file, 0o2755)
            got.append(ask([*prefix, "sh", "-c", "setfacl -m u:9:rx g; stat -c %a g"], place))
            file.unlink()
        checks.equal(f"{mode}: {what}", got[1], got[0])
    path.write_text("x")
    path.chmod(0o666)
    os.setxattr(path, "trusted.a", b"1")
    os.setxattr(path, "user.a", b"1")
    lister = "import os; print(os.listxattr('g'))"
    for what, prefix in (("root without capabilities", POWERLESS), ("a user", AS_USER),
                      ("a user with CAP_SYS_ADMIN", with_capability("sys_admin")), ("root", [])):
        got = [ask([*prefix, "python3", "-c", lister], place) for place in (native, mounted)]
        checks.equal(f"{mode}: attributes seen by {what}", got[1], got[0])
    path.unlink()


def control_group():
    for top in "/sys/fs/cgroup/pids", "/sys/fs/cgroup":
        place = pathlib.Path(top) / f"ftrac-case-{os.getpid()}"
        try:
            place.mkdir()
            return place
        except OSError:
            continue
    return None


def groups_count(mode, native, mounted):
    place = control_group()
    if not place:
        print("no control group can be made here: not looked at")
        return
    try:
        file = next(f for f in (place / "pids.max", place / "cgroup.procs") if f.exists())
        os.chown(file, 0, 1234)
        file.chmod(0o660)
        member = ["setpriv", "--reuid", "5001", "--regid", "5001", "--groups", "1233,1234"]
        top = str(mounted)[:-len(str(native))]
        for what, prefix in ("a member", member), ("another user", AS_USER):
            got = [ask([*prefix, "cat", f"{root}{file}"]) for root in ("", top)]
            checks.equal(f"{mode}: file of a group, {what}", got[1], got[0])
    finally:
        place.rmdir()


def waiting_can_be_ended(mode, native, mounted):
    """For what the kernel has to say."""
    top = str(mounted)[:-len(str(native))]
    for number in signal.SIGINT, signal.SIGKILL:
        reader = subprocess.Popen(["cat", f"{top}/proc/kmsg"], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL)
        time.sleep(0.5)
        checks.equal(f"{mode}: cat /proc/kmsg waits", reader.poll(), None)
        reader.send_signal(number)
        try:
            checks.equal(f"{mode}: and ends by {number.name}", reader.wait(20), -number)
        except subprocess.TimeoutExpired:
            checks.check(f"{mode}: and ends by {number.name}", False, "it does not")
    fd = os.open(f"{top}/proc/kmsg", os.O_RDONLY | os.O_NONBLOCK)
    try:
        while os.read(fd, 65536):
            pass
    except OSError as e:
        checks.equal(f"{mode}: without waiting", e.errno, 11)
    os.close(fd)


def no_descriptor_that_can_be_sought(mode, native, mounted):
    traces = "/sys/kernel/tracing/trace_pipe"
    if not os.path.exists(traces):
        print("no tracefs is mounted here: not looked at")
        return
    top = str(mounted)[:-len(str(native))]

    def look(path):
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        found = []
        for call in (lambda: os.lseek(fd, 0, os.SEEK_CUR), lambda: os.read(fd, 10)):
            try:
                found.append(call())
            except OSError as e:
                found.append(os.strerror(e.errno))
        os.close(fd)
        return found
    natively = look(traces)  # first: it can be open once only, and a mount closes it some time later
    checks.equal(f"{mode}: trace_pipe", look(top + traces), natively)


def created_while_others_remove(mode, native, mounted):
    """No ESTALE, however often the file comes and goes outside."""
    churn = subprocess.Popen(["python3", "-c", f"""
import os
while True:
    os.close(os.open({str(native / 'c')!r}, os.O_CREAT | os.O_WRONLY))
    os.unlink({str(native / 'c')!r})
"""], stderr=subprocess.DEVNULL)
    errors = {}
    try:
        for _ in range(800):
            try:
                os.close(os.open(mounted / "c", os.O_CREAT | os.O_RDWR))
            except OSError as e:
                errors[e.errno] = errors.get(e.errno, 0) + 1
    finally:
        churn.kill()
        churn.wait()
    print(f"{mode}: 800 opens while a file comes and goes outside, errors: {errors or 'none'}")
    (native / "c").unlink(missing_ok=True)
    checks.equal(f"{mode}: errors while a file comes and goes outside", errors, {})


WRITER = """
import os, sys
fd = os.open('w', os.O_WRONLY)
data = sys.argv[1].encode() * (4 << 20)
sys.stdin.read(1)
for _ in range(20):
    os.pwrite(fd, data, 0)
"""


def writes_do_not_mix(mode, native, mounted):
    """Of two writers of one range, one is last - in all of it, as long as it is one request."""
    (native / "w").write_bytes(bytes(4 << 20))
    writers = [subprocess.Popen(["python3", "-c", WRITER, letter], cwd=mounted,
                                stdin=subprocess.PIPE) for letter in "AB"]
    for writer in writers:
        writer.stdin.close()
    for writer in writers:
        checks.equal(f"{mode}: a writer of 4 MiB", writer.wait(120), 0)
    mixed = len(set((native / "w").read_bytes()))
    print(f"{mode}: letters in a file written by two: {mixed}")
    checks.equal(f"{mode}: letters in a file written by two", mixed, 1)


for mode in MODES:
    base = pathlib.Path(tempfile.mkdtemp(prefix="ftrac-case-"))
    base.chmod(0o777)
    with Mount("--fidelity", mode) as mount:
        mount.base.chmod(0o755)
        for subject in (suid_is_lost_at_once, capabilities_count, groups_count, waiting_can_be_ended,
                        no_descriptor_that_can_be_sought, created_while_others_remove,
                        writes_do_not_mix):
            subject(mode, base, mount(base))
    shutil.rmtree(base)
checks.end()
