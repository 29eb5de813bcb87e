# SPDX-License-Identifier: MIT
"""Many more inodes than descriptors, in a directory and in its mirror: what clients find of them."""
import ctypes
import errno
import mmap
import os
import random
import shutil
import stat
import struct
import subprocess
import time

from ftractest import Mount
from parts import Child, has_capability, in_order, limited, no_descriptor_lost, unlimited
from sides import LIBC, attributes, birth, compare, picture, result, say, whole

USER, DAC_READ_SEARCH = 65534, 2
LIMIT = 1024
GROUP, DIRECTORY = 250, 50  # files
GROUPS = 12  # that have a part to play
WITHOUT_HANDLES = ["setpriv", "--bounding-set", "-dac_read_search"]


def has_handles(path):
    """File handles can be had of the file system of path, and used by us."""
    handle = ctypes.create_string_buffer(struct.pack("Ii", 128, 0) + bytes(128))
    mount = ctypes.c_int()
    return has_capability(DAC_READ_SEARCH) and LIBC.name_to_handle_at(
        -100, os.fsencode(path), handle, ctypes.byref(mount), 0) == 0


def make_tree(top, files):
    """Groups of directories of files, each of which says its own name."""
    for i in range(files):
        at = f"{top}/g{i // GROUP}/d{i // DIRECTORY}"
        if i % DIRECTORY == 0:
            os.makedirs(at)
            os.symlink("../other", f"{at}/link")
        say(f"{at}/f{i}", f"this is {i}\n")
    deep = f"{top}/deep"
    for i in range(20):
        deep += f"/{i}"
        os.makedirs(deep)
        say(f"{deep}/file", f"deep {i}\n")
    os.mkdir(f"{top}/links")


# ---- what a descriptor leads to ----

def content_of(fd):
    """Opened once more, by what the descriptor stands for."""
    return whole(f"/proc/self/fd/{fd}")


def content_at(fd, name):
    file = os.open(name, os.O_RDONLY, dir_fd=fd)
    try:
        return os.read(file, 1000)
    finally:
        os.close(file)


def observe(fd):
    """Of a file its attributes and content; of a directory its names and some of its files."""
    st = os.fstat(fd)
    if not stat.S_ISDIR(st.st_mode):
        return *attributes(st), content_of(fd)
    again = os.open(".", os.O_RDONLY, dir_fd=fd)
    names = sorted(os.listdir(again))
    os.close(again)
    some = {name: os.stat(name, dir_fd=fd, follow_symlinks=False) for name in names[:6]}
    return *attributes(st), names, [
        (name, *attributes(inner), stat.S_ISREG(inner.st_mode) and content_at(fd, name))
        for name, inner in some.items()]


def observe_path(path):
    fd = os.open(path, os.O_PATH | os.O_NOFOLLOW)
    try:
        return observe(fd)
    finally:
        os.close(fd)


def misuse(fd):
    """All that can be done to a file that is open, whether it has a name or not."""
    def xattr():
        os.setxattr(fd, "user.some", b"value")
        return os.getxattr(fd, "user.some")

    def mapped():
        with mmap.mmap(fd, 0, access=mmap.ACCESS_READ) as m:
            return m[:100]
    os.utime(fd, ns=(10**18, 10**18 + 7))
    first = attributes(os.fstat(fd))
    return *first, *(result(call, *given) for call, *given in (
        (os.pread, fd, 100, 0), (os.pwrite, fd, b"more", 3), (os.fsync, fd), (os.ftruncate, fd, 9),
        (os.fchmod, fd, 0o640), (lambda: os.fstat(fd)[:5:4],), (lambda: os.fstat(fd).st_size,),
        (xattr,), (os.fchown, fd, 1, 1), (lambda: os.fstat(fd).st_uid,), (content_of, fd),
        (mapped,), (os.link, f"/proc/self/fd/{fd}", "x"), (lambda: os.fstat(fd).st_nlink,)))


# ---- the client ----

class Many:
    """Holds some of the files while it looks at all of them.  Files are named from the top of the
    tree: natively, below `plain`; through the mount, below `mirror`.

    What has a name is found again natively.  What only the kernel holds for the mirror, as by
    O_PATH, and what loses its name natively meanwhile, is found again by a handle if the source
    has any; if not, there is no way back, and ESTALE must say so.
    """

    def __init__(self, checks, plain, mirror, twin, handles, numbers, wait):
        self.checks, self.plain, self.mirror, self.twin = checks, str(plain), str(mirror), str(twin)
        self.handles, self.numbers, self.wait = handles, numbers, wait
        self.births = birth(plain) is not None

    def files(self, group, n=GROUP):
        return [f"{d}/{f}" for d in self.directories(group)
                for f in sorted(os.listdir(f"{self.plain}/{d}")) if f.startswith("f")][:n]

    def directories(self, group):
        return [f"g{group}/{d}" for d in sorted(os.listdir(f"{self.plain}/g{group}"))]

    def opened(self, names, flags):
        return {name: os.open(f"{self.mirror}/{name}", flags | os.O_NOFOLLOW) for name in names}

    def wait_for_expiry(self):
        """For as long as the kernel may remember what has been changed natively."""
        time.sleep(self.wait)

    def stands_for(self, fact, held, rename=lambda name: name, may_be_stale=False):
        """Each descriptor leads to what natively has the name."""
        got = {name: result(observe, fd) for name, fd in held.items()}
        wanted = {name: result(observe_path, f"{self.plain}/{rename(name)}") for name in held}
        if may_be_stale:
            wanted = {name: -errno.ESTALE if got[name] == -errno.ESTALE else said
                      for name, said in wanted.items()}
        compare(self.checks, fact, got, wanted)

    def look(self, fact):
        """At all of it, for which most of it has to be let go again."""
        find = ["find", ".", "-printf", r"%P %y %m %U %G %s %n %T@ %l\n"]
        lines = [subprocess.run(find, cwd=top, capture_output=True, timeout=200).stdout.split(b"\n")
                 for top in (self.mirror, self.plain)]
        compare(self.checks, f"find, {fact}", *(dict.fromkeys(some, "there") for some in lines))

    def look_closely(self, fact):
        compare(self.checks, f"all of it, {fact}", picture(self.mirror, self.numbers),
                picture(self.plain, self.numbers))

    def hold(self):
        """Whatever can be held, in groups that have different fates."""
        os.chdir(f"{self.mirror}/deep/" + "/".join(map(str, range(20))))
        self.open = self.opened(self.files(0, 150), os.O_RDONLY)
        self.path = self.opened(self.files(1), os.O_PATH)
        self.dirs = [self.opened(self.directories(group), os.O_RDONLY) for group in (2, 3)]
        self.dir_paths = [self.opened(self.directories(group), os.O_PATH) for group in (4, 5)]
        self.file_paths = [self.opened(self.files(group, 60), os.O_PATH) for group in (4, 5)]
        self.doomed = [self.opened(self.files(group, 50), os.O_RDWR) for group in (6, 7, 8)]
        self.linked = self.opened(self.files(9, 60), os.O_PATH)
        self.again = self.opened(self.files(10, 50), os.O_PATH)
        self.gone = self.opened(self.files(11, 50), os.O_PATH)

    def stay(self, fact):
        """In a directory that no process has open."""
        here = f"{self.plain}/{os.path.relpath(os.getcwd(), self.mirror)}"
        got = {"file": result(whole, "file"), "file above": result(whole, "../file"),
               "made": result(say, "made", "x"), "renamed": result(os.rename, "made", "again"),
               "names": result(lambda: sorted(os.listdir("."))),
               "above": result(lambda: sorted(os.listdir("../..")))}
        compare(self.checks, f"a working directory, {fact}", got, {
            "file": b"deep 19\n", "file above": b"deep 18\n", "made": None, "renamed": None,
            "names": sorted(os.listdir(here)), "above": sorted(os.listdir(f"{here}/../.."))})
        self.checks.equal(f"what was made there, {fact}", result(whole, f"{here}/again"), b"x")
        result(os.unlink, "again")

    def held(self, fact):
        self.stands_for(f"files that are open, {fact}", self.open)
        self.stands_for(f"files held by O_PATH, {fact}", self.path)
        for some in self.dirs:
            self.stands_for(f"directories that are open, {fact}", some)
        for some in self.dir_paths:
            self.stands_for(f"directories held by O_PATH, {fact}", some)
        for some in self.file_paths:
            self.stands_for(f"files there, {fact}", some)
        self.stay(fact)

    # ---- renamed: groups 2 and 4 through the mount, 3 and 5 natively, and where we are

    def rename(self):
        for group, top in (2, self.mirror), (4, self.mirror), (3, self.plain), (5, self.plain):
            os.rename(f"{top}/g{group}", f"{top}/renamed{group}")
            for d in sorted(os.listdir(f"{self.plain}/renamed{group}"))[:2]:
                os.rename(f"{top}/renamed{group}/{d}", f"{top}/renamed{group}/again{d}")
        os.rename(f"{self.mirror}/deep", f"{self.mirror}/deeper")

    def renamed(self, name):
        group, directory, *rest = name.split("/")
        moved = f"renamed{group[1:]}/again{directory}"
        if not os.path.isdir(f"{self.plain}/{moved}"):
            moved = f"renamed{group[1:]}/{directory}"
        return "/".join([moved, *rest])

    def after_rename(self):
        for i, how in enumerate(("through the mount", "natively")):
            lost = i == 1 and not self.handles
            self.stands_for(f"open directories, renamed {how}", self.dirs[i], self.renamed)
            self.stands_for(f"directories by O_PATH, renamed {how}", self.dir_paths[i],
                            self.renamed, lost)
            self.stands_for(f"files by O_PATH, renamed {how}", self.file_paths[i], self.renamed,
                            lost)
        self.checks.equal("the working directory has its new name", os.getcwd(),
                          f"{self.mirror}/deeper/" + "/".join(map(str, range(20))))
        self.stay("renamed")

    # ---- without a name: groups 6 and 11 through the mount, 7 natively, 8 by a rename

    def twins_of(self, names, flags):
        """Files to which the same is done natively."""
        twins = {}
        for name in names:
            path = f"{self.twin}/{name.replace('/', '.')}"
            shutil.copyfile(f"{self.plain}/{name}", path)
            twins[name] = os.open(path, flags)
            os.unlink(path)
        return twins

    def same_contents(self, fact, held, twins):
        compare(self.checks, fact, *({name: result(content_of, fd) for name, fd in some.items()}
                                     for some in (held, twins)))

    def unlink(self):
        self.twins = [self.twins_of(names, os.O_RDWR) for names in self.doomed]
        self.gone_twins = self.twins_of(self.gone, os.O_PATH)
        for name in *self.doomed[0], *self.gone:
            os.unlink(f"{self.mirror}/{name}")
        for name in self.doomed[1]:
            os.unlink(f"{self.plain}/{name}")
        for name in self.doomed[2]:
            say(f"{self.mirror}/{name}.new", "new\n")
            os.rename(f"{self.mirror}/{name}.new", f"{self.mirror}/{name}")

    def after_unlink(self):
        for how, held, twins in zip(("unlinked", "unlinked natively", "replaced"), self.doomed,
                                    self.twins):
            compare(self.checks, f"files that are open, {how}",
                    {name: result(misuse, fd) for name, fd in held.items()},
                    {name: result(misuse, fd) for name, fd in twins.items()})
        self.same_contents("files held by O_PATH, unlinked", self.gone, self.gone_twins)
        # What is natively gone the kernel forgets when a process asks for it.
        compare(self.checks, "names that are gone", {
            name: result(os.stat, f"{self.mirror}/{name}") for name in self.doomed[1]},
            dict.fromkeys(self.doomed[1], -errno.ENOENT))

    # ---- of two names one: group 9

    def link(self):
        for i, name in enumerate(self.linked):
            os.link(f"{self.plain}/{name}", f"{self.plain}/links/{i}")

    def links(self, top):
        """Of each pair of names: whether they are of one file, and how many links that has."""
        pairs = {name: (os.lstat(f"{top}/{name}"), os.lstat(f"{top}/links/{i}"))
                 for i, name in enumerate(self.linked)}
        return {name: (a.st_ino == b.st_ino, a.st_nlink, b.st_nlink) for name, (a, b) in pairs.items()}

    def after_link(self):
        """By the second name they have been seen by now; the first goes, one way or the other.  In some sources,
        such as sshfs, each name is a file, which goes with it."""
        mirrored, natively = self.links(self.mirror), self.links(self.plain)
        compare(self.checks, "two names of one file", mirrored, natively)
        self.one_file = all(natively[name][0] for name in self.linked)
        self.linked_twins = self.twins_of(list(self.linked)[::2], os.O_PATH)
        for i, name in enumerate(self.linked):
            say(f"{self.mirror}/links/{i}", f"changed {i}\n")
            os.unlink(f"{(self.mirror, self.plain)[i % 2]}/{name}")

    def after_unlink_of_link(self):
        other = {name: f"links/{i}" for i, name in enumerate(self.linked)}
        for i, how in enumerate(("through the mount", "natively")):
            some = {name: self.linked[name] for name in list(self.linked)[i::2]}
            if i == 0 and not self.one_file:
                self.same_contents("one of two files left", some, self.linked_twins)
            else:
                self.stands_for(f"one name left, the other unlinked {how}", some, other.get,
                                may_be_stale=i == 1 and not self.handles)

    # ---- natively removed and made again: group 10

    def make_again(self):
        """Numbers of inodes are used again, for other files."""
        names = self.files(10)
        self.before = {name: whole(f"{self.plain}/{name}") for name in self.again}
        numbers = {os.lstat(f"{self.plain}/{name}").st_ino for name in names}
        for name in names:
            os.unlink(f"{self.plain}/{name}")
        for i, name in enumerate(random.Random(1).sample(names, len(names))):
            path = f"{self.plain}/{name}"
            if i % 5 == 0:
                os.mkdir(path)
            elif i % 5 == 1:
                os.symlink(f"to {i}", path)
            else:
                say(path, f"another {i}\n")
        self.reused = numbers & {os.lstat(f"{self.plain}/{name}").st_ino for name in names}

    def after_make_again(self):
        """Natively an O_PATH descriptor would have kept the file; the daemon cannot keep for the mirror
        what is not open and removed outside of it.  But there is no other file in its place, if
        anything is known of files but names."""
        got = {name: result(content_of, fd) for name, fd in self.again.items()}
        if self.handles or self.births:
            compare(self.checks, f"held, old or nowhere ({len(self.reused)} numbers reused)", got,
                    {name: -errno.ESTALE if got[name] == -errno.ESTALE else said
                     for name, said in self.before.items()})

    def run(self):
        self.hold()
        self.look("first")
        self.look_closely("with some held")
        self.look("once more")
        self.held("after all was seen")
        self.rename()
        self.unlink()
        self.link()
        self.make_again()
        self.wait_for_expiry()
        self.look("after changes")
        self.after_rename()
        self.after_unlink()
        self.after_link()
        self.after_make_again()
        self.wait_for_expiry()
        self.look_closely("after more changes")
        self.after_unlink_of_link()
        self.stands_for("files that were open all the time", self.open)
        self.stands_for("files held all the time", self.path)
        os.chdir("/")


def client(checks, *given):
    unlimited()
    Many(checks, *given).run()


def with_tree(checks, base, plain, files, options, prefix=(), source="/", uid=None, handles=True,
              wait=1.1, limit=LIMIT):
    """The whole of it in the directory plain, as uid.  handles: ftrac may use them, if there are
    any."""
    twin = plain.parent / "twin"
    for made in twin, base / "mnt", plain:
        made.mkdir(exist_ok=True)
    make_tree(plain, max(files, GROUP * GROUPS))
    if uid is not None:
        for at, dirs, names in os.walk(base):
            for name in (".", *dirs, *names):
                os.lchown(os.path.join(at, name), uid, uid)
    numbers = os.stat(source).st_dev == os.lstat(plain / "g0").st_dev
    with Mount(*options, base=base, source=source, prefix=[*limited(limit), *prefix]) as mount:
        Child(checks, "the client", client, plain, mount(plain), twin,
              handles and has_handles(plain), numbers, wait, uid=uid).join()
        no_descriptor_lost(checks, mount, plain)
        in_order(checks, mount)
