#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 22
# long: --long
"""Many more inodes than descriptors: whatever ftrac has let go of is found again, and is the same.

    limits_files.py [--long] [--fidelity NAME]... [--limit N] [--files N] [PART...]

--limit is that of descriptors; with one larger than the number of files nothing has to be let go.
"""
import itertools
import os
import shutil
import subprocess

import ftractest
from ftractest import Mount, fidelities, need, need_fuse
from many_files import GROUP, GROUPS, LIMIT, USER, WITHOUT_HANDLES, content_at, make_tree, with_tree
from parts import (Child, Parts, arguments, background, in_order, kill, limited, no_descriptor_lost,
                   own_namespace, walk_on)
from sides import result, say


# ---- the parts ----

def of_root(checks, base, given, options, count, **more):
    with_tree(checks, base, base / "tree", count, options, limit=given.limit, **more)


def without_capability(checks, base, given, options, count):
    of_root(checks, base, given, options, count, handles=False, prefix=WITHOUT_HANDLES)


def mount_overlay(base):
    """Where it is, and whether it could be mounted."""
    lower, upper, work, top = layers = [base / n for n in ("lower", "upper", "work", "overlay")]
    for layer in layers:
        layer.mkdir(exist_ok=True)
    return top, subprocess.run(["mount", "-t", "overlay", "-o", "lowerdir="
                                f"{lower},upperdir={upper},workdir={work}", "overlay", str(top)],
                               check=False).returncode == 0


def of_overlay(checks, base, given, options, count):
    """Some of which is in the lower layer."""
    (base / "lower" / "tree" / "below").mkdir(parents=True)
    make_tree(base / "lower" / "tree" / "below", 500)
    top, mounted = mount_overlay(base)
    if not mounted:
        print("not looked at: no overlayfs here")
        return
    with_tree(checks, base, top / "tree", count, options, source=str(top), limit=given.limit)
    subprocess.run(["umount", top], check=True)


def of_user(checks, base, given, options, count):
    """In a directory of the user, as are the trace and the mount point."""
    if not own_namespace(base):
        print("not looked at: no mount namespace of one's own")
        return
    home = base / "home"
    home.mkdir()
    shutil.copy(ftractest.FTRAC, base / "ftrac")
    ftractest.FTRAC = str(base / "ftrac")
    with_tree(checks, home, home / "tree", count, options, uid=USER, handles=False,
              limit=given.limit,
              prefix=["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups"])


# ---- a long way, and ways that change ----

DEPTH = 1500  # of directories: no path is as long


def make_deep(top):
    """The descriptor of the lowest."""
    at = os.open(top, os.O_RDONLY)
    for i in range(DEPTH):
        os.mkdir(f"d{i}", dir_fd=at)
        below = os.open(f"d{i}", os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = below
    return at


def go_deep(checks, mirror, bottom, other):
    os.chdir(mirror)
    for i in range(DEPTH):
        os.chdir(f"d{i}")
    for i in range(3):
        subprocess.run(["find", other], stdout=subprocess.DEVNULL, check=False, timeout=100)
        checks.equal("made at the end of a long way", result(say, f"file{i}", "deep"), None)
        checks.equal("found there natively", content_at(bottom, f"file{i}"), b"deep")
        checks.equal("from further up", result(os.stat, f"../d{DEPTH - 1}/file{i}") and 0, 0)
    os.chdir("/")


def deep(checks, base, given, options, prefix):
    (base / "other").mkdir()
    (base / "deep").mkdir()
    make_tree(base / "other", GROUP * GROUPS)
    bottom = make_deep(base / "deep")
    with Mount(*options, base=base, prefix=[*limited(given.limit), *prefix]) as mount:
        Child(checks, "the client that goes deep", go_deep, mount(base / "deep"), bottom,
              mount(base / "other")).join()
        in_order(checks, mount)
    os.close(bottom)


def rename_on(top):
    """Two directories change places with a third, and back, until we are killed."""
    while True:
        for old, new in ("a", "c"), ("b", "a"), ("c", "b"):
            os.rename(f"{top}/{old}", f"{top}/{new}")


def use_while_renamed(checks, mirror, other, turns):
    """A client that holds directories does not notice that their names change all the time."""
    held = {name: os.open(f"{mirror}/{name}", os.O_PATH) for name in "ab"}
    pids = [background(lambda: rename_on(mirror)), background(lambda: walk_on(other))]
    wrong = {}
    for i in range(turns):
        for name, fd in held.items():
            path = f"d{i % 5}/f{i % 40}"
            said = result(content_at, fd, path)
            checks.looked += 1
            if said != f"{name} {path}".encode():
                wrong[said] = wrong.get(said, 0) + 1
    kill(pids)
    for pid in pids:
        os.waitpid(pid, 0)
    checks.equal(f"what went wrong in {turns} turns", wrong, {})


def storm(checks, base, given, options, prefix):
    (base / "other").mkdir()
    make_tree(base / "other", GROUP * GROUPS)
    for name, d, f in itertools.product("ab", range(5), range(40)):
        (base / "storm" / name / f"d{d}").mkdir(parents=True, exist_ok=True)
        say(base / "storm" / name / f"d{d}" / f"f{f}", f"{name} d{d}/f{f}")
    with Mount(*options, base=base, prefix=[*limited(given.limit), *prefix]) as mount:
        Child(checks, "the client that holds", use_while_renamed, mount(base / "storm"), mount(base / "other"),
              20000 if given.long else 3000).join()
        no_descriptor_lost(checks, mount, base / "storm")
        in_order(checks, mount)


def main():
    need_fuse()
    need("prlimit", "setpriv", "find")
    given = arguments(__doc__, files=20000, limit=LIMIT)
    parts = Parts(given.parts, one_of=5)
    kinds = given.fidelity or fidelities()
    few = given.files if given.long else min(given.files, GROUP * GROUPS)
    for fidelity in kinds:
        first, options = fidelity == kinds[0], ["--fidelity", fidelity]
        parts.run(f"files {fidelity}", of_root, given, options, given.files if first else few)
        if not first and not given.long:
            continue
        stat_too = [*options, "--stat"]
        parts.run(f"files {fidelity} stat", lambda *a: of_root(*a, wait=0), given, stat_too, few)
        if os.geteuid() != 0:
            continue
        parts.run(f"files {fidelity} nocap", without_capability, given, options, few)
        for how, prefix in ("", []), (" nocap", WITHOUT_HANDLES):
            parts.run(f"deep {fidelity}{how}", deep, given, options, prefix)
            parts.run(f"storm {fidelity}{how}", storm, given, options, prefix)
        parts.run(f"files {fidelity} overlay", of_overlay, given, options, few)
        if fidelity in ("open", "call"):
            print(f"files {fidelity} user: this fidelity needs root")
        else:
            parts.run(f"files {fidelity} user", of_user, given, options, few)
    parts.checks.end()


if __name__ == "__main__":
    main()
