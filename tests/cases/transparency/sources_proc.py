#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 5
# long: --long
"""/proc, /dev and /sys in the mirror are those of the process that looks.

    sources_proc.py [--long] [--fidelity NAME]... [PART...]
"""
import errno
import fcntl
import mmap
import os
import signal
import stat
import subprocess
import threading

from filesystems import run, until
from ftractest import Mount, fidelities, need_fuse, skip
from parts import Child, Parts, arguments, in_order
from sides import compare, result, say, whole

USER = 65534

# The same paths natively and in the mirror, by one process, whose /proc/self they are.
OWN_FILES = ["cmdline", "comm", "environ", "limits", "mountinfo", "mounts", "cgroup", "auxv",
             "oom_score_adj", "loginuid", "personality", "mountstats", "setgroups", "uid_map",
             "net/dev_mcast", "net/route"]
OWN_LINKS = ["cwd", "exe", "root", "ns/mnt", "ns/pid", "fd/0", "fd/1"]
OTHERS = ["environ", "maps", "mem", "io", "stack", "auxv", "cmdline", "syscall", "comm", "limits",
          "personality", "pagemap", "mountinfo", "cgroup", "oom_score_adj"]


def lines(path, *wanted):
    with open(path) as f:
        return [line for line in f if line.startswith(wanted)]


def read_or_not(path):
    """The beginning is enough where the end is not the same twice."""
    r = result(whole, path)
    return r if isinstance(r, int) else (len(r) > 0, r[:40])


def proc_of_process(proc):
    say("/proc/self/oom_score_adj", "200")
    said = {f"self/{name}": result(whole, f"{proc}/self/{name}") for name in OWN_FILES}
    said |= {f"link {name}": result(os.readlink, f"{proc}/self/{name}") for name in OWN_LINKS}
    said |= {name: result(os.readlink, f"{proc}/{name}")
             for name in ("self", "thread-self", "mounts", "net")}
    said |= {f"list {name}": result(lambda n=name: sorted(os.listdir(f"{proc}/{n}")))
             for name in ("self/fd", "self/task", "self/fdinfo", "self/ns", "thread-self", "self",
                          "sys", "sys/kernel", "tty", "fs")}
    said |= {f"1/{name}": read_or_not(f"{proc}/1/{name}") for name in OTHERS}
    said |= {f"1/{name} link": result(os.readlink, f"{proc}/1/{name}") for name in OWN_LINKS}
    said |= {f"1/{name} list": result(lambda n=name: len(os.listdir(f"{proc}/1/{n}")) > 0)
             for name in ("fd", "ns", "task", "map_files", "fdinfo")}
    said["status"] = lines(f"{proc}/self/status", "Name", "Pid", "Tgid", "PPid", "Uid", "Gid",
                           "CapEff", "Threads")
    said["maps"] = result(whole, f"{proc}/self/maps")
    said["maps"] = said["maps"] if isinstance(said["maps"], int) else said["maps"][:60]
    said["by number"] = result(whole, f"{proc}/{os.getpid()}/cmdline")
    said["seen"] = str(os.getpid()) in os.listdir(proc)
    for adjusted in "300", "500":
        said[f"adjusted {adjusted}"] = (
            result(say, f"{proc}/self/oom_score_adj", adjusted), whole("/proc/self/oom_score_adj"))
    fd = os.open("/etc/passwd", os.O_RDONLY)
    said["fd"] = result(os.readlink, f"{proc}/self/fd/{fd}")
    said["fdinfo"] = result(lines, f"{proc}/self/fdinfo/{fd}", "pos", "flags")
    said["of fd"] = result(lambda: whole(f"{proc}/self/fd/{fd}") == whole("/etc/passwd"))
    os.close(fd)
    return said


def proc_of_thread(proc):
    """Each thread is its own."""
    said = []

    def look():
        pid, tid = os.getpid(), threading.get_native_id()
        said.append((result(os.readlink, f"{proc}/thread-self") == f"{pid}/task/{tid}",
                     result(os.readlink, f"{proc}/self") == str(pid),
                     lines(f"{proc}/thread-self/status", "Pid:") == [f"Pid:\t{tid}\n"]))
    for _ in range(5):
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
    return said


STABLE = ["version", "filesystems", "cmdline", "devices", "misc", "partitions", "swaps", "modules",
          "sys/kernel/ostype", "sys/kernel/pid_max", "sys/fs/file-max", "consoles", "iomem",
          "kallsyms", "crypto", "cgroups", "execdomains", "fb"]


def symbols(proc):
    """How many symbols the kernel has, but for those of eBPF programs, which other processes load and unload."""
    return sum(not line.endswith(b"[bpf]") for line in whole(f"{proc}/kallsyms").splitlines())


def proc(checks, base, options):
    with Mount(*options, base=base) as mount:
        mirror = mount("/proc")
        compare_stable(checks, "files whose size is 0", lambda top: {n: read_or_not(f"{top}/{n}") for n in STABLE}, mirror, "/proc")
        compare(checks, "attributes", {n: result(lambda p: oct(os.stat(p).st_mode), mirror / n)
                                       for n in STABLE},
                {n: result(lambda p: oct(os.stat(p).st_mode), f"/proc/{n}") for n in STABLE})
        checks.equal("a long file whose size is 0", symbols(mirror), symbols("/proc"))
        for uid in 0, USER:
            for call in proc_of_process, proc_of_thread:
                Child(checks, call.__name__, lambda c, call=call, uid=uid: both(
                    c, f"{call.__name__}, uid {uid}", call, mirror), uid=uid).join()
        pid = os.fork()
        if pid == 0:
            signal.pause()
        checks.equal("a process", lines(mirror / str(pid) / "status", "Pid:"), [f"Pid:\t{pid}\n"])
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        checks.check("that has ended is not there", until(
            lambda: result(os.stat, mirror / str(pid)) == -errno.ENOENT) is not None)
        checks.check("nor in the list", str(pid) not in os.listdir(mirror))
        value = whole("/proc/sys/vm/swappiness").decode()
        checks.equal("a setting can be written", result(say, mirror / "sys/vm/swappiness", value),
                     None)
        if os.path.isdir("/proc/sys/kernel"):
            compare_stable(checks, "settings", settings, mirror / "sys/kernel", "/proc/sys/kernel")
        in_order(checks, mount)


def compare_stable(checks, fact, look, mirror, native):
    """What other processes have not changed meanwhile, as the number of pseudoterminals."""
    wanted, got, again = look(native), look(mirror), look(native)
    stable = [name for name in wanted if wanted[name] == again.get(name)]
    compare(checks, fact, {name: got.get(name) for name in stable}, {name: wanted[name] for name in stable})


def settings(top):
    """All but what changes all the time, or is a count of what others have."""
    return {os.path.relpath(os.path.join(at, name), top): read_or_not(os.path.join(at, name))
            for at, _, names in os.walk(top) for name in names
            if not any(word in os.path.join(at, name) for word in ("random", "ns_last", "uuid", "pty/nr"))}


def both(checks, fact, call, mirror):
    wanted, got = call(f"/{os.path.basename(mirror)}"), call(str(mirror))
    if not isinstance(wanted, dict):
        wanted, got = {"all": wanted}, {"all": got}
    compare(checks, fact, got, wanted)


def devices_of(dev):
    def opened(name, flags, call):
        fd = os.open(f"{dev}/{name}", flags)
        try:
            return call(fd)
        finally:
            os.close(fd)
    said = {}
    for name, flags, call in (
            ("null", os.O_RDWR, lambda fd: (os.write(fd, b"x" * 100), os.read(fd, 10))),
            ("zero", os.O_RDWR, lambda fd: (os.write(fd, b"x"), os.read(fd, 1000))),
            ("full", os.O_WRONLY, lambda fd: os.write(fd, b"x")),
            ("urandom", os.O_RDONLY, lambda fd: len(os.read(fd, 1000))),
            ("tty", os.O_RDWR, lambda fd: os.write(fd, b"")),
            ("loop0", os.O_RDONLY, lambda fd: fcntl.ioctl(fd, 0x80081272, bytes(8))),
            ("zero", os.O_RDONLY, lambda fd: mmap.mmap(fd, 4096, prot=mmap.PROT_READ)[:10]),
            ("null", os.O_RDONLY, lambda fd: os.fstat(fd).st_rdev),
            ("none", os.O_RDONLY, os.fstat)):
        said[f"{name} {flags} {len(said)}"] = result(opened, name, flags, call)
    for name in "fd", "stdin", "stdout", "null", "core":
        said[f"link {name}"] = result(os.readlink, f"{dev}/{name}")
    for name in sorted(os.listdir("/dev")):
        said[f"stat {name}"] = result(lambda n=name: (
            oct(os.lstat(f"{dev}/{n}").st_mode), os.lstat(f"{dev}/{n}").st_rdev))
    shm = f"{dev}/shm/ftrac-case-{os.getpid()}"
    said["shm"] = result(say, shm, "shared"), result(whole, shm), result(os.unlink, shm)
    return said


def dev(checks, base, options):
    with Mount(*options, base=base) as mount:
        for uid in 0, USER:
            Child(checks, f"devices, uid {uid}", lambda c, uid=uid: (os.setsid(), both(
                c, f"devices, uid {uid}", devices_of, mount("/dev"))), uid=uid).join()
        made = base / "made"
        made.mkdir()
        os.mknod(mount(made / "null"), 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        checks.equal("a device that is made works on both sides",
                     [whole(made / "null"), whole(mount(made / "null"))], [b"", b""])
        in_order(checks, mount)


SYS = ["kernel/mm", "class/net/lo", "block/loop0", "kernel/notes", "module/fuse", "fs/fuse",
       "devices/system/cpu", "kernel/cgroup", "bus/cpu"]


def sys_tree(sys, top):
    """Names, types and modes; contents where they are the same twice."""
    found = {}
    for at, dirs, names in os.walk(f"{sys}/{top}"):
        for name in dirs + names:
            path = os.path.join(at, name)
            st = result(os.lstat, path)
            if isinstance(st, int):
                continue
            key = f"{top}: {os.path.relpath(path, sys)}"
            found[key] = [oct(st.st_mode), st.st_size, st.st_nlink]
            if stat.S_ISLNK(st.st_mode):
                found[key].append(os.readlink(path))
            elif stat.S_ISREG(st.st_mode) and st.st_mode & 0o444:
                found[key].append(read_or_not(path))
    return found


def sysfs(checks, base, options):
    with Mount(*options, base=base) as mount:
        for top in filter(lambda t: os.path.isdir(f"/sys/{t}"), SYS):
            compare_stable(checks, f"/sys/{top}", lambda sys, top=top: sys_tree(sys, top), mount("/sys"), "/sys")
        in_order(checks, mount)


CHROOT = r"""
test "$(cat /proc/self/comm)" = cat || echo comm
test "$(readlink /proc/self)" != "" || echo self
sh -c 'test "$(readlink /proc/$$/exe)" != ""' || echo exe
test "$(sh -c 'cat /proc/$$/cmdline' | tr '\0' ' ' | cut -d' ' -f1)" = sh || echo cmdline
echo x >/dev/null || echo null
test "$(head -c 5 /dev/zero | wc -c)" = 5 || echo zero
test -s /proc/cpuinfo && echo size
test "$(wc -c </proc/cpuinfo)" -gt 0 || echo cpuinfo
test "$(ls /proc/self/fd | wc -l)" -gt 2 || echo fd
test -n "$(cat /proc/mounts)" || echo mounts
test "$(echo through | cat)" = through || echo pipe
cd "$1" && echo y >file && test "$(cat file)" = y && rm file || echo file
test "$(pwd -P)" = "$1" || echo pwd
ls -l /proc/1 /proc/2 >/dev/null 2>&1; echo $?
mkdir -p a/b && cd a/b && rm -r ../../a && ls >/dev/null 2>&1; cd "$1" || echo cd
"""


def chroot(checks, base, options):
    """A shell in there finds all it needs."""
    work = base / "work"
    work.mkdir()
    with Mount(*options, base=base) as mount:
        said = [run("chroot", top, "/bin/sh", "-c", CHROOT, "sh", work, stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT, text=True).stdout for top in (mount.mnt, "/")]
        checks.equal("what a shell says", *said)
        checks.check("which is not much", len(said[1]) < 10, said[1])
        in_order(checks, mount)


def main():
    need_fuse()
    if os.geteuid() != 0:
        skip("an ordinary user has no devices in the mount, and cannot become another user")
    given = arguments(__doc__)
    parts = Parts(given.parts)
    for fidelity in given.fidelity or fidelities():
        options = ["--fidelity", fidelity]
        parts.run(f"proc {fidelity}", proc, options)
        parts.run(f"proc {fidelity} stat", proc, [*options, "--stat"])
        parts.run(f"dev {fidelity}", dev, options)
        parts.run(f"sys {fidelity}", sysfs, options)
        parts.run(f"chroot {fidelity}", chroot, options)
    parts.checks.end()


if __name__ == "__main__":
    main()
