#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What small scripts mean: tests/golden/NAME.sh runs in a mount, and what the views say of it is
compared with NAME.txt.  With --write the .txt files are written anew: look at the difference."""
import os
import subprocess
import sys

from ftractest import TOP, Checks, Mount, need_fuse

GOLDEN = TOP / "tests/golden"
FLAGS = "created", "truncated", "renamed", "unlinked", "executed", "mapped", "assumed"


def relative(path, work):
    return os.path.relpath(path, work)


def describe(mount, work):
    """Each access, with the programs as they were called; what lies outside of work is left out."""
    lines = []
    rows = mount.sql(f"""
        SELECT p.comm, a.path, a.version, a.opens, a.nread > 0, a.bread, a.nwrite > 0, a.bwrite,
            a.nmeta > 0, {", ".join("a." + f for f in FLAGS)}
        FROM access a LEFT JOIN process p ON p.id = a.process
        WHERE a.path LIKE ? || '/%' ORDER BY a.first_ns, a.path""", str(work))
    for comm, path, version, opens, r, bread, w, bwrite, meta, *flags in rows:
        set_ = [name for name, is_set in zip(FLAGS, flags) if is_set]
        words = [f"{relative(path, work)} v{version}"]
        # How much of a program is read to run it is the kernel's and the linker's affair.
        words += ["read" if "executed" in set_ else f"read {bread}"] if r else []
        words += [f"write {bwrite}"] if w else []
        words += set_
        if len(words) > 1:
            lines.append(f"{comm}: {', '.join(words)}")
        elif meta and not opens:
            lines.append(f"{comm}: {words[0]}, metadata only")
    for comm, path in mount.sql("""SELECT p.comm, g.path FROM ghost g JOIN process p
            ON p.id = g.process WHERE g.path LIKE ? || '/%' ORDER BY g.path, p.comm""", str(work)):
        lines.append(f"{comm}: {relative(path, work)}, looked for")
    for path, kind, size, created, deleted in mount.sql("""
            SELECT path, kind, size_last, created, deleted FROM file WHERE path LIKE ? || '/%' ORDER BY path, id""", str(work)):
        words = [f"{kind} {relative(path, work)}"]
        words += [f"{size} bytes"] if kind == "file" else []
        words += ["created"] if created else []
        words += ["deleted"] if deleted else []
        lines.append(", ".join(words))
    return "\n".join(lines) + "\n"


def run(script):
    with Mount() as mount:
        work = mount.base / "work"
        work.mkdir()
        subprocess.run(["sh", "-e", script], cwd=mount(work), check=True,
                       stdout=subprocess.DEVNULL, env={**os.environ, "LC_ALL": "C"})
        mount.unmount()
        text = describe(mount, work)
        # The size of a program of this machine's is not what is to be seen.
        tool = work / "tool"
        if tool.exists():
            text = text.replace(str(tool.stat().st_size), "SIZE")
        return text


need_fuse()
checks = Checks()
for script in sorted(GOLDEN.glob("*.sh")):
    got, golden = run(script), script.with_suffix(".txt")
    if "--write" in sys.argv:
        golden.write_text(got)
    checks.check(f"{script.stem}: as in {golden.name}", got == golden.read_text(), "\n" + got)
checks.end()
