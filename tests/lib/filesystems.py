# SPDX-License-Identifier: MIT
"""File systems of all kinds, to be mirrored."""
import ctypes
import os
import shutil
import subprocess
import time

from sides import LIBC, say

MS_RDONLY, MS_REMOUNT, MS_BIND, MNT_DETACH = 1, 32, 4096, 2


def run(*command, **more):
    more = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "timeout": 100, **more}
    return subprocess.run(list(map(str, command)), check=False, **more)


def done(*command):
    return run(*command).returncode == 0


def have(*programs):
    return all(shutil.which(program) for program in programs)


def until(call, seconds=10):
    """The time until call() holds, or None."""
    start = time.monotonic()
    while time.monotonic() < start + seconds:
        if call():
            return time.monotonic() - start
        time.sleep(0.05)
    return None


class Kind:
    """A file system below base, mounted at top; None where it cannot be had here."""

    def __init__(self, base, name):
        self.base, self.name, self.top = base, name, base / f"fs {name}"
        self.top.mkdir()
        self.mounted = getattr(self, name)()

    def tmpfs(self):
        return done("mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", self.top)

    def overlay(self):
        layers = [self.base / f"{self.name} {layer}" for layer in ("lower", "upper", "work")]
        for layer in layers:
            layer.mkdir()
        say(layers[0] / "below", "in the lower layer")
        return done("mount", "-t", "overlay", "-o",
                    "lowerdir={},upperdir={},workdir={}".format(*layers), "overlay", self.top)

    def on_loop(self, size, *mkfs):
        image = self.base / f"{self.name}.img"
        with open(image, "wb") as f:
            f.truncate(size << 20)
        return have(mkfs[0]) and done(*mkfs, image) and done("mount", "-o", "loop", image, self.top)

    def ext4(self):
        return self.on_loop(64, "mkfs.ext4", "-q")

    def xfs(self):
        return self.on_loop(300, "mkfs.xfs", "-q")

    def btrfs(self):
        return self.on_loop(120, "mkfs.btrfs", "-q")

    def behind(self):
        directory = self.base / f"{self.name} behind"
        directory.mkdir()
        return directory

    def bindfs(self):
        return have("bindfs") and done("bindfs", "-o", "hard_remove", self.behind(), self.top)

    def sshfs(self):
        """With the server at the other end of a pipe."""
        server = next(filter(os.path.exists, ("/usr/lib/openssh/sftp-server",
                                              "/usr/lib/sftp-server",
                                              "/usr/libexec/openssh/sftp-server")), None)
        if not have("sshfs") or not server:
            return False
        wrapper = self.base / "server"
        say(wrapper, f"#!/bin/sh\nexec {server}\n")
        wrapper.chmod(0o755)
        return done("sshfs", "-o", f"ssh_command={wrapper},allow_other,default_permissions", "-o",
                    "dir_cache=no", f"nowhere:{self.behind()}", self.top)

    def end(self):
        if self.mounted and until(lambda: done("umount", self.top)) is None:
            return False
        return True


KINDS = "tmpfs", "overlay", "ext4", "xfs", "btrfs", "bindfs", "sshfs"


def populate(top, n):
    for i in range(n):
        if i % 100 == 0:
            at = top / f"d{i // 100}"
            at.mkdir(parents=True)
        say(at / f"f{i}", f"{i}")


def mount_fs(source, target, kind, flags=0, data=""):
    if LIBC.mount(str(source).encode(), os.fsencode(target), kind.encode(), flags,
                  data.encode()) != 0:
        raise OSError(ctypes.get_errno(), f"mount of {kind}")


class OtherFs:
    """A file system of its own on a directory; used by 'with'.  kind is tmpfs, or that of an image
    of some MiB that is made beside the directory, with options for mkfs."""

    def __init__(self, target, kind, options="", size=0, make=()):
        self.target, self.kind, self.options = target, kind, options
        self.size, self.make = size, make
        self.image = f"{target}.img" if size else None

    def __enter__(self):
        os.makedirs(self.target, exist_ok=True)
        if not self.image:
            mount_fs("tmpfs", self.target, self.kind, data=self.options)
            return self.target
        with open(self.image, "wb") as f:
            f.truncate(self.size << 20)
        subprocess.run([f"mkfs.{self.kind}", "-q", *self.make, self.image], check=True, timeout=60,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        subprocess.run(["mount", "-o", f"loop,{self.options}", self.image, self.target],
                       check=True, timeout=60)
        return self.target

    def __exit__(self, *failure):
        # A mirror may hold on to it for a moment.
        LIBC.umount2(os.fsencode(self.target), MNT_DETACH)
        if self.image:
            os.unlink(self.image)
