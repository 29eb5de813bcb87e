# SPDX-License-Identifier: MIT
"""Random workflows of shells and make, which do usual things with files, in all orders.

A workflow is a list of steps, each a line for a shell.  While it is made up, each step is run in a scratch
directory, so that the next ones know which files there are.  Files have sizes of a few bytes and contents
that say which step wrote them, so that a wrong order shows.
"""
import os
import pathlib
import re
import resource
import shlex
import shutil
import signal
import subprocess

FOLDERS = ["", "d/", "e/", "d/s/"]
NAMES = ["a", "b", "c", "f", "g", "h"]

# How the steps are run.  make: each is the recipe of a target that waits for the one before.
KINDS = ["make", "sh", "bash", "lines"]


class Scratch:
    """What there is at the moment."""

    def __init__(self, rng, top):
        self.rng, self.top = rng, pathlib.Path(top)

    def found(self, wanted):
        paths = []
        for base, folders, files in os.walk(self.top):
            folders.sort()
            for name in sorted(folders + files):
                path = os.path.join(base, name)
                if wanted(path):
                    paths.append(os.path.relpath(path, self.top))
        return paths

    def some(self, wanted):
        found = self.found(wanted)
        return self.rng.choice(found) if found else None

    def file(self):
        """A file that can be read, often by a symbolic link."""
        return self.some(os.path.isfile) or self.new()

    def plain(self):
        return self.some(lambda p: os.path.isfile(p) and not os.path.islink(p)) or self.new()

    def folder(self):
        return self.some(lambda p: os.path.isdir(p) and not os.path.islink(p)) or "d"

    def any(self):
        return self.some(lambda p: True) or self.new()

    def new(self):
        """A name that may be there or not."""
        return self.rng.choice(FOLDERS) + self.rng.choice(NAMES)

    def out(self):
        """A name that can be written."""
        for _ in range(20):
            path = self.new()
            if (self.top / path).parent.is_dir() and not (self.top / path).is_dir():
                return path
        return self.rng.choice(NAMES)


# Each makes one step.  s: Scratch; n: the number of the step.
STEPS = {
    "create": lambda s, n: f"echo {n} > {s.out()}",
    "printf": lambda s, n: f"printf '%s\\n' {n} {n + 1} > {s.out()}",
    "empty": lambda s, n: f": > {s.out()}",
    "append": lambda s, n: f"echo {n} >> {s.out()}",
    "append_cat": lambda s, n: f"cat {s.file()} >> {s.out()}",
    "cat": lambda s, n: f"cat {s.file()} {s.file()} > {s.out()}",
    "cat_one": lambda s, n: f"cat {s.file()} > {s.out()}",
    "sort": lambda s, n: f"sort {s.file()} > {s.out()}",
    "sort_in_place": lambda s, n: (lambda p: f"sort -r -o {p} {p}")(s.plain()),
    "sed_in_place": lambda s, n: f"sed -i s/1/x{n}/ {s.plain()}",
    "dd_in_place": lambda s, n: f"printf %s {n % 10} | dd of={s.plain()} conv=notrunc status=none",
    "truncate": lambda s, n: f"truncate -s {s.rng.randint(0, 3)} {s.plain()}",
    "replace": lambda s, n: (lambda p: f"sort {s.file()} > {p}.tmp && mv {p}.tmp {p}")(s.out()),
    "cp": lambda s, n: f"cp {s.file()} {s.out()}",
    "cp_tree": lambda s, n: f"cp -r {s.folder()} {s.rng.choice('xyz')}",
    "mv": lambda s, n: f"mv {s.plain()} {s.out()}",
    "mv_any": lambda s, n: f"mv {s.any()} {s.new()}",
    "mv_folder": lambda s, n: f"mv {s.folder()} {s.rng.choice('xyz')}",
    "rm": lambda s, n: f"rm {s.some(lambda p: not os.path.isdir(p)) or s.new()}",
    "rm_force": lambda s, n: f"rm -f {s.new()}",
    "rm_tree": lambda s, n: f"rm -rf {s.folder()}",
    "rm_tree_maybe": lambda s, n: f"rm -rf {s.rng.choice(['d', 'e', 'x', 'y', 'z', 'd/s'])}",
    "clean": lambda s, n: f"rm -rf z *.tmp {s.new()}",
    "link": lambda s, n: f"ln {s.plain()} {s.new()}",
    "link_force": lambda s, n: f"ln -f {s.plain()} {s.new()}",
    "symlink": lambda s, n: (lambda p: f"ln -s {os.path.relpath(s.any(), os.path.dirname(p) or '.')} {p}")(s.new()),
    "symlink_force": lambda s, n: (lambda p:
                                   f"ln -sf {os.path.relpath(s.new(), os.path.dirname(p) or '.')} {p}")(s.new()),
    "readlink": lambda s, n: f"readlink {s.some(os.path.islink) or s.new()} > {s.out()}",
    "mkdir": lambda s, n: f"mkdir {s.rng.choice(['d', 'e', 'x', 'y', 'd/s', 'e/s'])}",
    "mkdir_parents": lambda s, n: f"mkdir -p {s.rng.choice(['d/s', 'e', 'x/y', 'd'])}",
    "make_in": lambda s, n: (lambda d: f"mkdir -p {d} && echo {n} > {d}/a")(s.rng.choice("dexy")),
    "test": lambda s, n: f"if test -e {s.new()}; then echo yes {n} > {s.out()}; else echo no {n} > {s.out()}; fi",
    "test_any": lambda s, n: f"test -e {s.any()} && echo yes {n} > {s.out()}",
    "test_cp": lambda s, n: (lambda p: f"[ -f {p} ] || cp {s.file()} {p}")(s.out()),
    "test_rm": lambda s, n: (lambda p: f"if test -e {p}; then rm {p}; fi")(s.out()),
    "test_size": lambda s, n: f"test -s {s.file()} && echo full {n} > {s.out()}",
    "test_folder": lambda s, n: f"test -d {s.rng.choice('dexy')} || echo none {n} > {s.out()}",
    "test_program": lambda s, n: f"/usr/bin/test -e {s.new()} || /bin/echo {n} > {s.out()}",
    "subshell": lambda s, n: f"(cat {s.file()}; cat {s.file()}) > {s.out()}",
    "subshell_echo": lambda s, n: f"(echo {n}; cat {s.file()}) > {s.out()}",
    "subshell_cd": lambda s, n: f"(cd {s.folder()} && echo {n} > {s.rng.choice(NAMES)})",
    "group": lambda s, n: f"{{ cat {s.file()}; /bin/echo {n}; }} > {s.out()}",
    "loop": lambda s, n: f"for i in {s.file()} {s.file()}; do cat $i; done > {s.out()}",
    "loop_each": lambda s, n: f"for i in 1 2; do sort {s.file()} > {s.rng.choice(['g', 'h'])}$i; done",
    "pipe": lambda s, n: f"cat {s.file()} {s.file()} | sort | uniq > {s.out()}",
    "pipe_echo": lambda s, n: f"echo {n} | cat - {s.file()} > {s.out()}",
    "pipe_tee": lambda s, n: f"sort {s.file()} | tee {s.out()} | wc -l >> {s.out()}",
    "pipe_while": lambda s, n: f"cat {s.file()} | while read l; do echo $l {n}; done > {s.out()}",
    "input": lambda s, n: f"tr 1 2 < {s.file()} > {s.out()}",
    "here": lambda s, n: f"printf 'cat <<E\\n{n}\\nE\\n' | sh > {s.out()}",
    "substitution": lambda s, n: f"x=$(cat {s.file()}); echo $x {n} > {s.out()}",
    "both": lambda s, n: f"cat {s.file()} {s.new()} > {s.out()} 2>&1 || true",
    "errors": lambda s, n: f"cat {s.new()} > {s.out()} 2> {s.out()} || /bin/echo failed {n} >> {s.out()}",
    "list": lambda s, n: f"ls {s.folder()} > {s.out()}",
    "glob": lambda s, n: f"cat {s.folder()}/[a-h] > {s.out()} 2> /dev/null || true",
    "glob_names": lambda s, n: f"echo {s.folder()}/* > {s.out()}",
    "find": lambda s, n: f"find {s.folder()} -type f | sort > {s.rng.choice(NAMES)}",
    "count": lambda s, n: f"wc -l < {s.file()} > {s.out()}",
    "links": lambda s, n: f"stat -c %h {s.plain()} > {s.out()}",
    "compare": lambda s, n: f"cmp -s {s.file()} {s.file()} && echo same {n} > {s.out()}",
    "chmod": lambda s, n: f"chmod {s.rng.choice(['a+x', 'go-r', '755', '600'])} {s.plain()}",
    "touch": lambda s, n: f"touch {s.out()}",
    "program": lambda s, n: (lambda p: f"printf '#!/bin/sh\\necho {n} $*\\n' > {p} && chmod +x {p}"
                                       f" && ./{p} {n} > {s.out()}")(s.out()),
    "run": lambda s, n: f"./{s.some(lambda p: os.path.isfile(p) and os.access(p, os.X_OK)) or 'a'} > {s.out()}",
    "background": lambda s, n: f"cat {s.file()} > {s.out()} & wait",
    "xargs": lambda s, n: f"echo {s.file()} {s.file()} | xargs -n1 cat > {s.out()}",
}


def limit_files():
    """What reads its own output must not fill the disk."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))


def run_step(step, cwd):
    """Whether it succeeds; a file that is run may run itself for ever."""
    child = subprocess.Popen(["sh", "-c", step], cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL, start_new_session=True, preexec_fn=limit_files)
    try:
        return child.wait(10) == 0
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        return False


def is_race(step, cwd):
    """Does one command of a pipeline write what another one reads?"""
    if not re.search(r"[^|]\|[^|]", step):
        return False
    found = [os.stat(cwd / word) for word in re.findall(r"[\w./]+", step) if (cwd / word).is_file()]
    return len({(st.st_dev, st.st_ino) for st in found}) < len(found)


def inputs(rng, top):
    """What is there before."""
    top.mkdir(parents=True)
    (top / "d").mkdir()
    for i, name in enumerate(["a", "b", "d/a", "d/b"]):
        if rng.random() < 0.8:
            (top / name).write_text("".join(f"{i}{rng.randint(0, 99)}\n" for _ in range(rng.randint(1, 3))))
    if rng.random() < 0.3:
        (top / "l").symlink_to("a")
    if rng.random() < 0.3 and (top / "b").exists():
        os.link(top / "b", top / "k")


def steps(rng, top, count):
    """Steps that succeed one after the other, run in a copy of what is in top."""
    scratch = Scratch(rng, top.with_name(top.name + ".scratch"))
    copy_tree(top, scratch.top)
    kinds, found = sorted(STEPS), []
    while len(found) < count:
        step = STEPS[rng.choice(kinds)](scratch, len(found) + 10)
        if is_race(step, scratch.top):
            continue
        before = scratch.top.with_name(top.name + ".before")
        copy_tree(scratch.top, before)
        if run_step(step, scratch.top):
            found.append(step)
        else:
            shutil.rmtree(scratch.top)
            before.rename(scratch.top)
        shutil.rmtree(before, ignore_errors=True)
    shutil.rmtree(scratch.top)
    return found


def copy_tree(source, copy):
    """With hard links between files as they are."""
    subprocess.run(["cp", "-a", source, copy], check=True, timeout=60)


def as_line(rng, step, kind):
    """The step as a line of a script. The shell of a script does much itself, which cannot be started again; so `sh -c`
    does such a step in most cases."""
    by_shell = re.search(r"(?<!/bin/)echo|printf|while|\$\(|^[:(] ?", step)
    if rng.random() < (0.02 if by_shell else 0.8 if kind == "lines" else 0.4):
        return step
    return f"sh -c {shlex.quote(step)}"


def write(rng, top, kind, found):
    """The workflow as a file in top: its name, and the command that runs it."""
    if kind == "make":
        text = ".PHONY: all\n"
        for i, step in enumerate(found):
            recipe = step.replace("$", "$$")
            text += f".PHONY: s{i}\ns{i}:{f' s{i - 1}' if i else ''}\n\t{recipe}\n"
        text = f"all: s{len(found) - 1}\n" + text
        (top / "Makefile").write_text(text)
        return "Makefile", ["make", "-s"]
    (top / "wf.sh").write_text("\n".join(as_line(rng, step, kind) for step in found) + "\n")
    return "wf.sh", ["bash" if kind == "bash" else "sh", "wf.sh"]


def flow(rng, top, kind, count):
    """A workflow in the directory top, which is made: the name of its script, the command that runs it, and the
    steps."""
    inputs(rng, top)
    found = steps(rng, top, count)
    return *write(rng, top, kind, found), found
