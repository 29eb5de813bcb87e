# SPDX-License-Identifier: MIT
"""Rules that wfdag generate has made for ninja, run one after the other in orders that they allow; and what is in a
directory then."""
import os
import pathlib
import re
import subprocess

OWN = {".ftrac", ".ninja_log", ".ninja_deps", ".snakemake"} # of the program that runs the rules


def contents(top):
    """{name: what it is} of all below, with what is the same file by hard links."""
    found, inodes = {}, {}
    for base, folders, files in os.walk(top):
        folders[:] = sorted(name for name in folders if name not in OWN)
        for name in sorted(folders + [name for name in files if name not in OWN]):
            path = os.path.join(base, name)
            key, st = os.path.relpath(path, top), os.lstat(path)
            if os.path.islink(path):
                found[key] = "link", os.readlink(path)
            elif os.path.isdir(path):
                found[key] = "folder", None
            else:
                first = inodes.setdefault((st.st_dev, st.st_ino), key)
                found[key] = "file", pathlib.Path(path).read_bytes(), oct(st.st_mode & 0o777), first
    return found


def differences(made, wanted):
    return [f"{key}: {made.get(key)} for {wanted.get(key)}" for key in sorted({*made, *wanted})
            if made.get(key) != wanted.get(key)]


def ninja_rules(text):
    """[(what it makes, what it needs, command)] of what wfdag writes."""
    found = []
    root = re.search(r"^root = (.*)$", text, re.MULTILINE)
    for made, needs, command in re.findall(r"^build((?: \$\n +\S+| \S+)*): job((?: \$\n +\S+| \S+)*)\n  text = (.*)$", text,
                                           re.MULTILINE):
        command = command.replace("${root}", root.group(1) if root else "").replace("$$", "$")
        found.append((made.replace("$\n", "").split(), needs.replace("$\n", "").split(), command))
    return found


def in_order(rules, rng=None):
    """One after the other: without rng always the last one that is ready, else any; no two orders of rules differ
    more than the first of these and the one in which they are written."""
    makers = {name: i for i, (made, _, _) in enumerate(rules) for name in made}
    waits = [{makers[name] for name in needs if name in makers} for _, needs, _ in rules]
    left, done = set(range(len(rules))), set()
    while left:
        ready = sorted(i for i in left if waits[i] <= done)
        chosen = rng.choice(ready) if rng else ready[-1]
        left.remove(chosen)
        done.add(chosen)
        yield rules[chosen]


def run_in_order(rules, cwd, rng=None):
    """What was run and said."""
    said = ""
    for made, _, command in in_order(rules, rng):
        for name in made:
            (cwd / name).parent.mkdir(parents=True, exist_ok=True) # as ninja does
        done = subprocess.run(["/bin/sh", "-c", command], cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace", timeout=60, check=False)
        said += f"{made[0]}: {command}\n{done.stdout}"
        if done.returncode:
            return said + f"status {done.returncode}\n"
    return said
