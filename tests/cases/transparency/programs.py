#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 37
# long: --long
"""Common programs: the same results in the mount as natively.

programs.py [--long] [--tree DIR]... [--only NAME]... [MODE...]

MODE is a fidelity (default: all), or, with --long, 'exact with --stat'.  Half of the scripts run, each in
one mode that is chosen at random; with --long all of them in all modes.  --tree: a directory for tar instead of some of /usr.
"""
import argparse
import collections
import fnmatch
import glob
import hashlib
import os
import pathlib
import pwd
import shutil
import stat
import subprocess
import sys
import tempfile

import programs_scripts as scripts
from ftractest import Checks, Mount, complete, modes, need_fuse
from sample import LONG, one, some
from sides import STUCK, same_lines

parser = argparse.ArgumentParser()
parser.add_argument("--tree", action="append")
parser.add_argument("--only", action="append")
parser.add_argument("mode", nargs="*")
arguments = parser.parse_args()
arguments.long = LONG

need_fuse()
checks = Checks()
os.umask(0o022)
AS_ROOT = os.geteuid() == 0

# Name: (script, the programs it needs, whether it takes long, whether it is root's)
SCRIPTS = {
    "git": (scripts.GIT, ["git"], False, False),
    "sqlite_wal": (scripts.WAL, [], False, False),
    "build": (scripts.BUILD, ["gcc", "make", "ld", "ar"], False, False),
    "files": (scripts.FILES, ["setfacl", "setfattr", "cpio", "zip", "unzip"], False, False),
    "text": (scripts.TEXT, ["perl", "patch", "xz", "flock"], False, False),
    "package": (scripts.PACKAGE, ["dpkg-deb"], False, False),
    "inotify": (scripts.INOTIFY, ["inotifywait"], False, False),
    "mapped": (scripts.MAPPED, [], False, False),
    "image": (scripts.IMAGE, ["mkfs.ext4", "e2fsck", "losetup"], False, True),
    "namespaces": (scripts.NAMESPACES, ["unshare"], False, True),
    "venv": (scripts.VENV, [], True, False),
    "postgres": (scripts.POSTGRES, ["psql"], True, False),
}


def is_wanted(name):
    if arguments.only and name not in arguments.only:
        return False
    programs, for_root = SCRIPTS[name][1], SCRIPTS[name][3]
    missing = [program for program in programs if not shutil.which(program)]
    if missing or for_root and not AS_ROOT:
        print(f"{name}: {f'no {missing[0]!r} here' if missing else 'only for root'}")
        return False
    if name == "venv" and subprocess.run([sys.executable, "-c", "import ensurepip, venv"],
                                         stderr=subprocess.DEVNULL).returncode != 0:
        print("venv: no ensurepip here")
        return False
    return name != "postgres" or postgres_can_run()


def postgres_can_run():
    if not glob.glob("/usr/lib/postgresql/*/bin/initdb"):
        print("postgres: no server here")
        return False
    if AS_ROOT and not any(entry.pw_name == "postgres" for entry in pwd.getpwall()):
        print("postgres: no user 'postgres' here")
        return False
    return True


# ---- scripts

def run_script(name, script, top):
    """Its output, with what it has left.  PostgreSQL does not run as root."""
    top.mkdir()
    command, more = ["bash", "-euo", "pipefail", "-c", script], {}
    with tempfile.TemporaryDirectory(prefix="ftrac-run-") as sockets:  # a short path
        if name == "postgres":
            more = {"RUN": sockets, "TURNS": "400" if arguments.long else "60"}
            if AS_ROOT:
                user = pwd.getpwnam("postgres")
                for path in top, sockets:
                    os.chown(path, user.pw_uid, user.pw_gid)
                command = ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}",
                           "--clear-groups", *command]
        environment = {"PATH": os.environ["PATH"], "HOME": str(top), "LC_ALL": "C.UTF-8",
                       "TZ": "UTC", "PYTHONDONTWRITEBYTECODE": "1", **more}
        done = subprocess.run(command, cwd=top, env=environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=STUCK)
    text = done.stdout.decode(errors="surrogateescape").replace(str(top), "TOP")
    return f"{text}\nends with {done.returncode}\n{tree(top)}"


def tree(top):
    """What lies there, a line for each, but for what .ignored lists."""
    ignored = [".ignored"]
    if (top / ".ignored").exists():
        ignored += (top / ".ignored").read_text().split("\n")
    lines = []
    for at, dirs, files in os.walk(top):
        dirs[:] = [d for d in dirs if not is_ignored(os.path.join(at, d), top, ignored)]
        for name in sorted(dirs + files):
            path = os.path.join(at, name)
            if not is_ignored(path, top, ignored):
                lines.append(f"{os.path.relpath(path, top)!r}: {entry(path)}")
    return "\n".join(sorted(lines))


def is_ignored(path, top, ignored):
    return any(fnmatch.fnmatch(os.path.relpath(path, top), pattern) for pattern in ignored)


def entry(path, times=False):
    st = os.lstat(path)
    content = ""
    if stat.S_ISREG(st.st_mode):
        with open(path, "rb") as f:
            content = hashlib.sha256(f.read()).hexdigest()[:16]
    elif stat.S_ISLNK(st.st_mode):
        content = os.readlink(path)
    attributes = {name: os.getxattr(path, name, follow_symlinks=False)
                  for name in sorted(os.listxattr(path, follow_symlinks=False))}
    size = 0 if stat.S_ISDIR(st.st_mode) else st.st_size
    return (f"{stat.filemode(st.st_mode)} {st.st_nlink} {st.st_uid} {st.st_gid} {size} {st.st_rdev}"
            f" {content} {attributes or ''}{f' {st.st_mtime_ns}' if times else ''}")


def sound(what, text):
    """That a script came to its end natively: else it compares nothing."""
    checks.check(f"{what}: runs natively", "ends with 0" in text, text[-2000:])


def look_at_wal(mode, top):
    """What the mount wrote into a database, natively."""
    checks.equal(f"{mode}: the database natively", subprocess.run(
        [sys.executable, "look.py"], cwd=top, capture_output=True, text=True).stdout.split("\n")[0],
        "[('ok',)] [(270,)]")


def look_at_postgres(mode, top):
    """The checksums of the cluster, and what is in it, by a server that runs natively."""
    script = scripts.POSTGRES.split("initdb")[0] + r"""
        pg_checksums --check | grep -i bad
        sed -i "s|^unix_socket.*|unix_socket_directories = '$RUN'|" db/postgresql.conf
        pg_ctl -s -w -l log start
        pg_amcheck --heapallindexed bench && echo sound
        psql -At bench -c 'SELECT count(*) FROM pgbench_accounts'
        pg_ctl -s -m fast stop"""
    user = pwd.getpwnam("postgres") if AS_ROOT else None
    with tempfile.TemporaryDirectory(prefix="ftrac-run-") as sockets:
        if user:
            os.chown(sockets, user.pw_uid, user.pw_gid)
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", script], cwd=top,
                              env={**os.environ, "RUN": sockets, "LC_ALL": "C.UTF-8"},
                              user=user and user.pw_uid, group=user and user.pw_gid,
                              extra_groups=user and [], timeout=STUCK,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    checks.equal(f"{mode}: the cluster natively", done.stdout,
                 "Bad checksums:  0\nsound\n100000\n")


AFTER = {"sqlite_wal": look_at_wal, "postgres": look_at_postgres}

# ---- there and back again

NAMES = (b"plain", b"with space", b" leading", b"new\nline", b"tab\t", b"-dash", b"*?[x]",
         b"\xff\xfe", "ünïcødé".encode(), "日本".encode(), b"'quote\"", b"back\\slash", b"x" * 255,
         b".hidden", b"#a~")


def make_odd_tree(top):
    os.mkdir(top)
    for i, name in enumerate(NAMES):
        path = os.path.join(os.fsencode(top), name)
        os.mkdir(path)
        for j in range(12):
            make_odd_file(os.path.join(path, b"%d" % j), i * 12 + j)
        os.link(os.path.join(path, b"1"), os.path.join(os.fsencode(top), b"hard%d" % i))
        os.symlink(name, os.path.join(path, b"symlink"))
        os.mkfifo(os.path.join(path, b"fifo"), 0o640)
        if AS_ROOT:
            os.mknod(os.path.join(path, b"null"), stat.S_IFCHR | 0o666, os.makedev(1, 3))
            os.mknod(os.path.join(path, b"loop"), stat.S_IFBLK | 0o600, os.makedev(7, i))
            os.lchown(os.path.join(path, b"symlink"), 1000 + i, 2000)
        for at in os.listdir(path):
            set_odd_times(os.path.join(path, at), i)
    for at, dirs, files in os.walk(os.fsencode(top), topdown=False):
        os.chmod(at, (0o755, 0o1777, 0o2750)[len(at) % 3])
        set_odd_times(at, len(at))


def make_odd_file(path, number):
    with open(path, "wb") as f:
        if number % 5 == 0:  # with holes
            f.seek(number * 10000)
            f.write(b"data")
            f.truncate(f.tell() + 50000)
        else:
            f.write(bytes([number % 256]) * (number * 37))
    if AS_ROOT:
        os.chown(path, 1000 + number % 3, 2000 + number % 2)
    if number % 4 == 0:
        os.setxattr(path, "user.name", b"value %d" % number)
    os.chmod(path, (0o644, 0o600, 0o4755, 0o2755, 0o444, 0 if AS_ROOT else 0o400)[number % 6])
    if number % 4 == 0 and AS_ROOT:
        os.setxattr(path, "trusted.name", bytes(100))
        os.setxattr(path, "system.posix_acl_access", bytes.fromhex(
            "02000000 01000600ffffffff 0200070007000000 04000400ffffffff 10000700ffffffff"
            "20000000ffffffff"))


def set_odd_times(path, number):
    time = (10**18, 10**9 * 2**31 + 5, -10**9 * 86400 + 123456789, 10**18 + 999999999)[number % 4]
    os.utime(path, ns=(time, time), follow_symlinks=False)


def tree_with_times(top):
    found = {os.path.relpath(os.path.join(at, name), os.fsencode(top)):
             entry(os.path.join(at, name), times=True)
             for at, dirs, files in os.walk(os.fsencode(top)) for name in dirs + files}
    return "\n".join(f"{name!r}: {found[name]}" for name in sorted(found))


RSYNC = "rsync", "-aHAX", "--numeric-ids", "--sparse"


def rsync(mode, base, mount):
    """A tree goes into the mount and comes back from there as it was."""
    if arguments.only and "rsync" not in arguments.only:
        return
    if not shutil.which("rsync"):
        print("rsync: no 'rsync' here")
        return
    there, back = base / "there", base / "back"
    for source, target in (base / "odd", mount(there)), (mount(there), back):
        done = subprocess.run([*RSYNC, f"{source}/", f"{target}/"], timeout=STUCK,
                              capture_output=True, text=True, errors="surrogateescape")
        checks.equal(f"{mode}: rsync, in silence", (done.returncode, done.stdout, done.stderr),
                     (0, "", ""))
    for other in there, back, mount(there):
        for a, b in (base / "odd", other), (other, base / "odd"):
            done = subprocess.run([*RSYNC, "-n", "--delete", "--itemize-changes", "--checksum",
                                   f"{a}/", f"{b}/"], timeout=STUCK, capture_output=True, text=True,
                                  errors="surrogateescape")
            checks.equal(f"{mode}: differences of {a} and {b}", (done.returncode, done.stdout),
                         (0, ""))
    same_lines(checks, f"{mode}: there", tree_with_times(base / "odd"), tree_with_times(there))
    same_lines(checks, f"{mode}: back", tree_with_times(base / "odd"), tree_with_times(back))
    blocks = [sum(os.lstat(os.path.join(at, name)).st_blocks for at, _, files in os.walk(top)
                  for name in files) for top in (base / "odd", there)]
    checks.check(f"{mode}: holes stay holes", abs(blocks[0] - blocks[1]) < 100, blocks)
    for top in there, back:
        shutil.rmtree(os.fsencode(top))


# ---- the mirror as a whole

def tar_hash(root, names):
    """Of all that tar sees below these names of root; and how much that is.  But for the times of
    access, which the first one that reads it moves."""
    done = subprocess.run(
        ["bash", "-c", 'set -o pipefail; tar --sort=name --numeric-owner --acls --xattrs '
         '--xattrs-include="*" --pax-option=delete=atime -C "$0" -cf - "$@" | tee >(wc -c >&2) | sha256sum', root, *names],
        capture_output=True, text=True, timeout=STUCK)
    return done.returncode, done.stdout, done.stderr


def mirror(mode, mount, names, natively):
    checks.equal(f"{mode}: tar of {' '.join(names)}", tar_hash(mount.mnt, names), natively)


CHROOT = """set -eu; cd "$1"; cat > hello.c <<END
#include <stdio.h>
int main(void) { puts("hello"); return 0; }
END
gcc -o hello hello.c; ./hello; python3 -c 'import json, os; print(json.dumps([1]), os.getuid())'
git --version; wc -l < /etc/passwd; echo x > /dev/null
su -s /bin/sh nobody -c 'id -un; cat /etc/shadow > /dev/null 2>&1 || echo refused'
head -c 5 /dev/zero | wc -c; perl -e 'print "$0\n"'; ls / | wc -l
"""


def chroots(mode, base, mount):
    """Programs for which the mount is all there is."""
    if not AS_ROOT or arguments.only and "chroot" not in arguments.only:
        return
    texts = []
    for root in "/", mount.mnt:
        at = base / "chroot"
        at.mkdir()
        done = subprocess.run(["chroot", root, "bash", "-c", CHROOT, "bash", at], timeout=STUCK,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              env={"PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "LC_ALL": "C.UTF-8"})
        texts.append(f"{done.stdout}\nends with {done.returncode}")
        shutil.rmtree(at)
    sound("chroot", texts[0])
    same_lines(checks, f"{mode}: chroot", *texts)


# ---- all that

def in_mode(mode, options, base, native):
    with Mount(*options) as mount:
        mount.base.chmod(0o755)
        top = base / "m"
        top.mkdir()
        for name, text in native.items():
            if name not in chosen[mode]:
                continue
            same_lines(checks, f"{mode}, {name}", text, run_script(name, SCRIPTS[name][0], mount(top / name)))
            if name in AFTER:
                AFTER[name](mode, top / name)
        if "rsync" in chosen[mode]:
            rsync(mode, base, mount)
        if "chroot" in chosen[mode]:
            chroots(mode, base, mount)
        if "tar" in chosen[mode] and (not arguments.only or "tar" in arguments.only):
            mirror(mode, mount, trees, tarred)
        mount.unmount()
        complete(checks, mode, mount)
    shutil.rmtree(top)


base = pathlib.Path(tempfile.mkdtemp(prefix="ftrac-case-"))
base.chmod(0o755)
native = {}
for name, (script, *_) in (SCRIPTS.items() if arguments.only else some(SCRIPTS.items(), 3)):
    if is_wanted(name):
        native[name] = run_script(name, script, base / name)
        sound(name, native[name])
        shutil.rmtree(base / name)
make_odd_tree(base / "odd")
trees = [path.lstrip("/") for path in
         arguments.tree or ["/usr/include", *glob.glob("/usr/share/perl*")]]
tarred = tar_hash("/", trees)
checks.check("tar natively", tarred[0] == 0 and int(tarred[2]) > 1000000, tarred)
ways = [(mode, options) for mode, options in modes(arguments.mode) if arguments.long or "--stat" not in options]
# Each script in one way of mounting that is chosen at random, or in all.
chosen = collections.defaultdict(set)
for name in [*native, "rsync", "chroot", "tar"]:
    for mode, _ in one(ways) if not arguments.only else ways:
        chosen[mode].add(name)
for mode, options in [way for way in ways if way[0] in chosen]:
    looked = checks.looked
    in_mode(mode, options, base, native)
    print(f"{mode}: {checks.looked - looked} facts")
shutil.rmtree(base)
checks.end()
