#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 20
# long: --long
"""The whole machine as the source: all that is mounted there, and what comes and goes.

    sources_host.py [--long] [--fidelity NAME]... [PART...]
"""
import errno
import os
import shutil
import stat
import subprocess
import time

from filesystems import Kind, done, populate, run, until
from ftractest import Mount, fidelities, need_fuse, skip
from parts import Child, Parts, arguments, in_order
from sides import compare, picture, result, say, whole

USER = 65534
EXPIRY = 1.1  # for as long as the kernel may remember what is changed natively


# ---- / with all that is mounted there ----

def numbers_below(top):
    """By path: (device, number), and whether its directory says the same number."""
    found = {}
    for at, dirs, _ in os.walk(top):
        with os.scandir(at) as entries:
            for entry in entries:
                st = os.lstat(entry.path)
                found[os.path.relpath(entry.path, top)] = (st.st_dev, st.st_ino), \
                    entry.inode() == st.st_ino
    return found


def numbers(checks, mirror, native, at_least):
    got, wanted = numbers_below(mirror), numbers_below(native)
    compare(checks, "names", dict.fromkeys(got, 1), dict.fromkeys(wanted, 1))
    there, back, wrong = {}, {}, []
    for name in got.keys() & wanted.keys():
        a, b = got[name][0], wanted[name][0]
        if there.setdefault(a, b) != b or back.setdefault(b, a) != a:
            wrong.append(name)
    checks.equal("numbers that mean two files, and files that have two numbers",
                 sorted(wrong)[:5], [])
    checks.check(f"of more than {at_least} entries", len(there) > at_least, len(there))
    compare(checks, "d_ino is st_ino where it is natively", {n: got[n][1] for n in got},
            {n: wanted[n][1] for n in wanted})


def submounts(base):
    """Of several kinds in base/top; the names of those there are."""
    top, names = base / "top", []
    top.mkdir()
    for name in "tmpfs", "overlay", "ext4", "xfs":
        fs = Kind(base, name)
        if fs.mounted:
            (top / name).mkdir()
            done("mount", "--move", fs.top, top / name)
            names.append(name)
    (top / "other").mkdir()
    done("mount", "-t", "tmpfs", "tmpfs", top / "other")
    for i, name in enumerate([*names, "other", "of root"]):
        populate(top / name, 1700)
    (top / "bound").mkdir()
    done("mount", "--bind", top / "tmpfs", top / "bound")
    (top / "proc").mkdir()
    return top, [*names, "other", "bound"]


def crossing(mirror, native, names):
    """What does not work across mounts, or on mount points."""
    top, said = mirror, []
    for name in names:
        said += [name, result(os.rename, f"{top}/of root/d0/f1", f"{top}/{name}/moved"),
                 result(os.link, f"{top}/of root/d0/f1", f"{top}/{name}/linked"),
                 result(os.rmdir, f"{top}/{name}"), result(os.rename, f"{top}/{name}", f"{top}/x"),
                 result(os.rename, f"{top}/of root", f"{top}/{name}"),
                 os.stat(f"{top}/{name}/..").st_ino == os.stat(top).st_ino]
        st = os.statvfs(f"{top}/{name}")
        said.append((st.f_bsize, st.f_blocks, st.f_files, st.f_namemax))
    said.append(result(os.rename, f"{top}/tmpfs/d0/f1", f"{top}/bound/d0/moved"))
    said.append(result(os.link, f"{top}/tmpfs/d0/f1", f"{top}/bound/d0/linked"))
    said.append(result(os.rename, f"{top}/tmpfs/d0/f1", f"{top}/tmpfs/d1/moved"))
    said.append(whole(f"{top}/bound/d1/moved"))
    os.rename(f"{native}/tmpfs/d1/moved", f"{native}/tmpfs/d0/f1")
    return said


def root_of_machine(checks, base, options, expiry):
    top, names = submounts(base)
    with Mount(*options, base=base) as mount:
        mirror = mount(top)
        numbers(checks, mirror, top, 10000)
        compare(checks, "all files, of all mounts", picture(mirror), picture(top))
        time.sleep(expiry)
        wanted = crossing(top, top, names)
        time.sleep(expiry)
        checks.equal("across mounts", crossing(mirror, top, names), wanted)
        # Mounts that the host makes later.
        done("mount", "-t", "tmpfs", "tmpfs", top / "of root" / "d3")
        populate(top / "of root" / "d3", 200)
        done("mount", "--bind", top / "other" / "d1", top / "tmpfs" / "d5")
        time.sleep(expiry)
        numbers(checks, mirror, top, 10000)
        compare(checks, "all files, with more mounts", picture(mirror, contents=False),
                picture(top, contents=False))
        in_order(checks, mount)


def under_flags(top):
    """Whether what a mount may forbid can be done."""
    def opened(name, flags):
        os.close(os.open(f"{top}/{name}", flags))
    program = result(subprocess.run, [f"{top}/program"], capture_output=True, text=True)
    return {"the program": program if isinstance(program, int) else program.stdout,
            "the device": result(opened, "null", os.O_RDWR),
            "reading": result(opened, "file", os.O_RDONLY),
            "writing": result(opened, "file", os.O_RDWR),
            "chmod": result(os.chmod, f"{top}/file", 0o644),
            "mkdir": result(os.mkdir, f"{top}/new"),
            "rmdir": result(os.rmdir, f"{top}/new"),
            "may write": os.access(f"{top}/file", os.W_OK),
            "may execute": os.access(f"{top}/program", os.X_OK)}


def compare_flags(checks, fact, mirror, native, whole_source):
    """Of a mount below the source the kernel knows nothing: what it judges by itself, or before
    it asks, cannot be as it is there.  A refusal is one, for whatever of several reasons."""
    out = set() if whole_source else {"rmdir", "may write", "may execute"}
    out |= set() if whole_source or os.getuid() == 0 else {"chmod", "mkdir"}
    got, wanted = ({name: "refused" if said in (-errno.EACCES, -errno.EROFS, -errno.ENXIO) else said
                    for name, said in under_flags(top).items() if name not in out}
                   for top in (mirror, native))
    compare(checks, fact, got, wanted)


def mount_flags(checks, base, options):
    """What a mount forbids is forbidden in the mirror: else it would be a way around."""
    fs, usual = base / "fs", ["suid", "dev", "exec", "rw"]
    fs.mkdir()
    done("mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", fs)
    shutil.copy("/usr/bin/id", fs / "program")
    (fs / "program").chmod(0o6755)
    say(fs / "file", "")
    os.mknod(fs / "null", 0o666 | stat.S_IFCHR, os.makedev(1, 3))
    (fs / "null").chmod(0o666)
    for i, flag in enumerate(("nosuid", "nodev", "noexec", "ro", "rw")):
        flags = ",".join(usual[:i] + [flag] + usual[i + 1:])
        done("mount", "-o", f"remount,bind,{flags}", fs)
        for source in "/", str(fs):
            where = base / f"{flag} {len(source)}"
            where.mkdir()
            with Mount(*options, base=where, source=source) as mount:
                for uid in 0, USER:
                    fact = f"{flag} of a mount {'below' if source == '/' else 'that is'} the source"
                    Child(checks, fact, compare_flags, f"{fact}, uid {uid}", mount(fs), fs,
                          source != "/", uid=uid).join()
    run("umount", fs)


# ---- what the host unmounts ----

def let_go(checks, mirror, point, what, expiry, under=frozenset({"under"})):
    """The host unmounts what a process has looked at a moment ago."""
    seconds = until(lambda: done("umount", point))
    checks.check(f"{what} can be unmounted", seconds is not None)
    time.sleep(expiry)
    checks.equal(f"{what}: what is under it is seen", result(lambda: set(os.listdir(mirror))),
                 set(under))
    checks.equal(f"{what}: and read", result(whole, mirror / "under"), b"it")
    return seconds or 0


def remounted(checks, base, mount, expiry):
    """File systems of the same kind one after another at one place: equal numbers, other files."""
    point = base / "point"
    point.mkdir()
    say(point / "under", "it")
    mirror, waited, seen = mount(point), [], set()
    for i in range(3):
        done("mount", "-t", "tmpfs", "tmpfs", point)
        say(point / "same name", f"round {i}" + "." * i)
        os.symlink(f"to {i}", point / "link")
        (point / f"dir{i}").mkdir()
        say(point / f"dir{i}" / "inner", f"inner {i}")
        time.sleep(expiry)
        compare(checks, f"round {i}", picture(mirror), picture(point))
        checks.equal(f"round {i}: content", whole(mirror / "same name"),
                     f"round {i}{'.' * i}".encode())
        seen.add(os.stat(point / "same name").st_ino)
        fd = os.open(mirror / f"dir{i}" / "inner", os.O_RDONLY)
        checks.check("while a file is open there it cannot be unmounted", not done("umount", point))
        os.close(fd)
        waited.append(let_go(checks, mirror, point, f"round {i}", expiry))
    checks.equal("numbers of inodes were the same", len(seen), 1)
    print(f"  unmounted after {max(waited):.1f} s")


def stays_inside(checks, base, mount, expiry):
    """A working directory in the mirror is no use of the file system, and no harm."""
    point = base / "inside"
    point.mkdir()
    say(point / "under", "it")
    done("mount", "-t", "tmpfs", "tmpfs", point)
    (point / "dir").mkdir()
    os.chdir(mount(point / "dir"))
    os.listdir(".")
    let_go(checks, mount(point), point, "with a process inside", expiry)
    for call in os.listdir, os.stat:
        checks.check("a process inside gets an answer",
                     not isinstance(result(call, "."), int) or result(call, ".") < 0)
    os.chdir("/")


def covered(checks, base, mount, expiry):
    """A process that was in a directory before the host mounted on it goes on there."""
    point = base / "covered"
    (point / "dir").mkdir(parents=True)
    say(point / "under", "it")
    held = [os.open(mount(point), flags) for flags in (os.O_PATH, os.O_RDONLY)]
    os.chdir(mount(point / "dir"))
    done("mount", "-t", "tmpfs", "tmpfs", point)
    say(point / "over", "this")
    time.sleep(expiry)
    checks.equal("by name the new one is seen", os.listdir(mount(point)), ["over"])
    for fd in held:
        checks.equal("by descriptor the old one is", result(lambda: [
            os.stat(name, dir_fd=fd).st_size for name in ("under", "dir/../under")]), [2, 2])
    checks.equal("and from inside", result(whole, "../under"), b"it")
    say("../made", "x")
    os.chdir("/")
    let_go(checks, mount(point), point, "covered", expiry, {"under", "dir", "made"})
    for fd in held:
        os.close(fd)


def lazily(checks, base, mount, expiry):
    """After umount -l the file system ends as soon as no process uses it: its loop device is free."""
    fs = Kind(base, "ext4")
    if not fs.mounted:
        return
    populate(fs.top, 200)
    compare(checks, "of a loop device", picture(mount(fs.top)), picture(fs.top))
    fd = os.open(mount(fs.top / "d0" / "f7"), os.O_RDWR)
    checks.check("umount -l", done("umount", "-l", fs.top))
    time.sleep(1)
    checks.equal("a process with a file open there uses it", result(lambda: (
        os.read(fd, 10), os.pwrite(fd, b"new", 0), os.fstat(fd).st_nlink, os.fchmod(fd, 0o600),
        whole(f"/proc/self/fd/{fd}"))), (b"7", 3, 1, None, b"new"))
    os.close(fd)
    image = base / "ext4.img"
    seconds = until(lambda: not run("losetup", "-j", image, stdout=subprocess.PIPE).stdout)
    checks.check("the loop device is free", seconds is not None)


def deleted_there(checks, base, mount, expiry):
    """Natively removed, after it was seen in the mirror: no reason to stay mounted."""
    point = base / "deleted"
    point.mkdir()
    say(point / "under", "it")
    done("mount", "-t", "tmpfs", "tmpfs", point)
    populate(point, 150)
    compare(checks, "files", picture(mount(point)), picture(point))
    shutil.rmtree(point / "d0")
    let_go(checks, mount(point), point, "where files were removed", expiry)


def space_is_free(checks, mount, point):
    """Of large files in a file system of 40 MB that are seen in the mirror and natively removed."""
    for i in range(10):
        say(point / f"large{i}", "x" * 3000000)
    compare(checks, "large files", picture(mount(point)), picture(point))
    for i in range(10):
        os.unlink(point / f"large{i}")
    checks.check("space of deleted files is free", until(
        lambda: os.statvfs(point).f_bfree * os.statvfs(point).f_frsize > 39 << 20) is not None)


def deleted(checks, base, mount, expiry):
    """Natively removed, after it was seen in the mirror: its space is free."""
    point = base / "space"
    point.mkdir()
    done("mount", "-t", "tmpfs", "-o", "size=40m", "tmpfs", point)
    space_is_free(checks, mount, point)
    checks.check("and can be used", result(say, point / "new", "x" * 35000000) is None)
    done("umount", "-l", point)


def unmounts(checks, base, options, expiry):
    with Mount(*options, base=base) as mount:
        for case in remounted, stays_inside, covered, lazily, deleted_there, deleted:
            Child(checks, case.__name__, case, base, mount, expiry).join()
        in_order(checks, mount)


def deleted_in_source(checks, base, options, expiry):
    """As deleted(), where the mount is the source itself and is never let go of."""
    point = base / "space"
    point.mkdir()
    done("mount", "-t", "tmpfs", "-o", "size=40m", "tmpfs", point)
    with Mount(*options, base=base, source=str(point)) as mount:
        space_is_free(checks, mount, point)
        in_order(checks, mount)
    run("umount", point)


def main():
    need_fuse()
    if os.geteuid() != 0:
        skip("only root mounts file systems")
    given = arguments(__doc__)
    parts = Parts(given.parts, one_of=5)
    kinds = given.fidelity or fidelities()
    for fidelity in kinds:
        options, expiry = ["--fidelity", fidelity], EXPIRY
        parts.run(f"unmounts {fidelity}", unmounts, options, expiry)
        parts.run(f"flags {fidelity}", mount_flags, options)
        if fidelity != kinds[0] and not given.long:
            continue
        parts.run(f"root {fidelity}", root_of_machine, options, expiry)
        parts.run(f"unmounts {fidelity} stat", unmounts, [*options, "--stat"], 0)
        parts.run(f"deleted {fidelity}", deleted_in_source, options, expiry)
    parts.checks.end()


if __name__ == "__main__":
    main()
