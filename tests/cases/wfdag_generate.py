#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""wfdag generate: what is generated is run, in an empty copy of the inputs and in another order, and makes
the same files, byte by byte; a second time there is nothing to do; and the graph of that run is the same.

Workflows: the examples, a script with all that shells do with files, and names that are hard to say.
"""
import os
import pathlib
import shutil
import subprocess
import tempfile

from ftractest import FTRAC, Checks, need, need_fuse

WFDAG = os.environ.get("WFDAG", "build/dag/wfdag")
EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
OWN = {".ftrac", ".ninja_log", ".ninja_deps", ".snakemake"} # of who runs it

# How each is run: again, it has nothing to do.
SYSTEMS = {
    "make": (["make", "-j2", "-f"], ["make", "-q", "-f"], ""),
    "ninja": (["ninja", "-j2", "-f"], ["ninja", "-n", "-f"], "no work to do"),
    "snakemake": (["snakemake", "-q", "-c2", "-s"], ["snakemake", "-n", "-c1", "-s"], "Nothing to be done"),
}

SCRIPT = r"""
sort -rn in/n.txt > sorted.txt
head -5 < sorted.txt | tr '\n' ' ' > head.txt
cat sorted.txt | grep 7 | wc -l > count.txt
/bin/echo first > log.txt
wc -l sorted.txt >> log.txt
wc -c sorted.txt >> log.txt
cp log.txt log.copy
sed -i 's/first/FIRST/' log.txt
cp 'in/a b/c d.txt' 'out$x=1;#&.txt'
cat 'out$x=1;#&.txt' > "it's.txt"
cat head.txt > tmp.txt
cat tmp.txt tmp.txt > double.txt
rm tmp.txt
mkdir newdir
cat head.txt > newdir/x
cd sub
cat i.txt ../head.txt > o.txt
cat "$PWD/i.txt" > abs.txt
cd ..
X="5 '6" sh -c 'printenv X > env.txt; cat env.txt head.txt > env2.txt'
ls nosuch 2> err.txt
/bin/true > empty.txt
sh -c 'cat <<EOF > here.txt
line one
 "two" $((1+1)) `echo back`
	-tab @ +
EOF
cat here.txt in/n.txt > here2.txt'
sh -c 'cat in/n.txt |\
tail -1 > joined.txt # a comment'
(cat head.txt; cat count.txt) > paren.txt
cat head.txt in/n.txt > many.txt 2>&1
sort -n in/n.txt -o in/n.txt
cat in/n.txt > after.txt
"""

NAMES = ["a b", "a:b", "a#b", "a$b", "a%b", "a*b", "a?b", "a[b", "a~b", "a;b", "a=b", "a&b", "a|b", "a(b)", "a'b",
         'a"b', "a\\b", "a,b", "a{b}", "~a", "-a", "a`b", "\u00e9", "a!b", "a<b>c", "%", "a\\ b", " a", ".x",
         "a\tb", "@a", "+a", "tab\\", "a\nb", "$(x)", "a\\;b", "{x", "a "]

checks = Checks()


def run(*args, cwd=None, status=0, **options):
    done = subprocess.run([str(a) for a in args], cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace", timeout=300, check=False, **options)
    if done.returncode != status:
        raise AssertionError(f"{args}: status {done.returncode}\n{done.stdout[-2000:]}")
    return done.stdout


def traced(db, command, cwd, *options):
    run(FTRAC, "run", "--force", "--db", db, *options, "--", *command, cwd=cwd)


def contents(directory):
    """Everything below, but what belongs to who ran it."""
    found = {}
    for base, folders, files in os.walk(os.fsencode(directory)):
        for name in list(folders):
            if os.fsdecode(name) in OWN:
                folders.remove(name)
            else:
                found[os.path.relpath(os.path.join(base, name), os.fsencode(directory))] = None
        for name in files:
            if os.fsdecode(name) not in OWN:
                with open(os.path.join(base, name), "rb") as f:
                    found[os.path.relpath(os.path.join(base, name), os.fsencode(directory))] = f.read()
    return found


def round_trip(base, what, inputs, command, options=(), drop=()):
    """inputs: a directory with what is there before.  drop: what only the first run needs."""
    original, db = base / "original", base / "original.db"
    shutil.copytree(inputs, original, symlinks=True)
    traced(db, command, original, *options)
    wanted = contents(original)
    before = contents(inputs)
    checks.check(f"{what}: makes files", len(set(wanted) - set(before)) > 2)
    for system, (first, again, nothing) in SYSTEMS.items():
        if not shutil.which(first[0]):
            print(f"no {first[0]} here: not looked at")
            continue
        copy, rules, db2 = base / system, base / f"{what}.{system}", base / f"{system}.db"
        run(WFDAG, "generate", f"--{system}", rules, db)
        shutil.copytree(inputs, copy, symlinks=True)
        # Ninja cannot say where it runs.
        rules.write_bytes(rules.read_bytes().replace(b"\nroot = " + os.fsencode(original) + b"\n",
                                                     b"\nroot = " + os.fsencode(copy) + b"\n"))
        for name in drop:
            (copy / name).unlink()
        traced(db2, [*first, rules], copy, *options)
        made = contents(copy)
        keys = set(wanted) | set(made)
        keys -= {os.fsencode(name) for name in drop}
        checks.check(f"{what}, {system}: as many files", len(made) > 2)
        for path in sorted(keys):
            checks.check(f"{what}, {system}: {path}", wanted.get(path, 0) == made.get(path, 0))
        said = run(*again, rules, cwd=copy)
        checks.check(f"{what}, {system}: nothing to do again", nothing in said, said[-500:])
        same_graph(f"{what}, {system}", db, db2, drop)
        shutil.rmtree(copy)
    shutil.rmtree(original)


def same_graph(what, first, second, drop):
    excluded = [word for path in (".ftrac/*", *drop) for word in ("--exclude", f"path:*/{path}")]
    done = subprocess.run([WFDAG, "diff", "--data", *excluded, str(first), str(second)],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=100, check=False)
    checks.check(f"{what}: same graph", done.returncode == 0 and done.stdout.startswith("same graph"),
                 done.stdout[:3000])


def compile_example(base):
    inputs = base / "inputs"
    inputs.mkdir(parents=True)
    for name in "src", "gen":
        shutil.copytree(EXAMPLES / "make" / name, inputs / name)
    for name in "Makefile", "VERSION":
        shutil.copy(EXAMPLES / "make" / name, inputs / name)
    round_trip(base, "compile", inputs, ["make", "-j8"], ("--env", "TMPDIR"), ("Makefile",))


def montage_example(base):
    if not shutil.which("mProjectPP"):
        print("no Montage here: not looked at")
        return
    inputs = base / "inputs"
    run("sh", EXAMPLES / "montage" / "generate.sh", "A", inputs)
    round_trip(base, "montage", inputs, ["make", "-j8"])


def script(base):
    inputs = base / "inputs"
    (inputs / "in" / "a b").mkdir(parents=True)
    (inputs / "sub").mkdir()
    (inputs / "in" / "n.txt").write_text("".join(f"{n}\n" for n in range(100)))
    (inputs / "in" / "a b" / "c d.txt").write_text("x\n")
    (inputs / "sub" / "i.txt").write_text("inp\n")
    (inputs / "wf.sh").write_text(SCRIPT)
    round_trip(base, "script", inputs, ["sh", "wf.sh"], ("--env", "X"), ("wf.sh",))


def names(base):
    inputs = base / "inputs"
    (inputs / "in").mkdir(parents=True)
    lines = []
    for i, name in enumerate(NAMES):
        (inputs / "in" / name).write_text(f"hello {i}\n")
        quoted = name.replace("'", "'\\''")
        lines += [f"cat -- 'in/{quoted}' | tr a-z A-Z > 'out{quoted}'", f"cat -- 'out{quoted}' > 'third{quoted}'"]
    (inputs / "wf.sh").write_text("\n".join(lines) + "\n")
    round_trip(base, "names", inputs, ["sh", "wf.sh"], (), ("wf.sh",))


def nested(base):
    """What only leads to other jobs is a driver, whatever it is called."""
    inputs = base / "inputs"
    (inputs / "deep").mkdir(parents=True)
    (inputs / "deep" / "Makefile").write_text("all: b c\nb: a\n\ttr a-z A-Z < a > b\nc: b\n\tsort b > c\n")
    (inputs / "deep" / "a").write_text("some\ntext\n")
    (inputs / "Makefile").write_text(
        "all: e\nd: x\n\tcat x x > d\nx:\n\techo x > x\ndeep/c:\n\t$(MAKE) -C deep\ne: d deep/c\n\tcat d deep/c > e\n")
    round_trip(base, "nested", inputs, ["env", "make", "-j2"], (), ("Makefile", "deep/Makefile"))


def lists(base):
    """xargs inside of a recipe is a part of it; on top it is a driver."""
    inputs = base / "inputs"
    inputs.mkdir(parents=True)
    for n in range(4):
        (inputs / f"i{n}").write_text(f"{n}\n")
    (inputs / "Makefile").write_text(
        "all: total last\nall.txt: i0 i1 i2 i3\n\techo $^ | xargs -n1 cat > all.txt\n"
        "total: all.txt\n\tls i0 i1 | xargs -n1 -I@ sh -c 'cat @ all.txt' | wc -c > total\n"
        "last: total\n\tsort total all.txt > last\n")
    round_trip(base, "lists", inputs, ["make", "-j2"], (), ("Makefile",))


def batch(base):
    """All of a batch job is one job by its number; what make starts in it are jobs all the same."""
    inputs = base / "inputs"
    inputs.mkdir(parents=True)
    (inputs / "a").write_text("some\ntext\n")
    (inputs / "Makefile").write_text("all: c\nb: a\n\ttr a-z A-Z < a > b\nc: b d\n\tsort b d > c\nd:\n\tseq 3 > d\n")
    (inputs / "job.sh").write_text("cp a a.copy\nmake -j2\ncat a.copy c > end\n")
    round_trip(base, "batch", inputs, ["env", "SLURM_JOB_ID=17", "sh", "job.sh"], (), ("Makefile", "job.sh"))


def refusals(base):
    """What cannot be done is said in one line."""
    db, nothing = base / "copy.db", base / "nothing.db"
    base.mkdir()
    (base / "a").write_text("text\n")
    traced(db, ["sh", "-c", "cp a b; cp b c"], base)
    traced(nothing, ["true"], base)
    done = subprocess.run([WFDAG, "generate", "--make", "-", str(nothing)], capture_output=True, text=True, timeout=60,
                          check=False)
    checks.equal("generate of nothing: status", (done.returncode, done.stdout), (1, ""))
    checks.check("generate of nothing: one line", "no job used a file" in done.stderr and
                 done.stderr.count("\n") == 1, done.stderr)
    for args, status, text in (
            ((), 2, "nothing is to be written"), (("--make", "x", "--level", "process"), 2, "cannot be run again"),
            (("--level", "both", "--dax", "x"), 2, "both"), (("--dagman", "x", "--level", "process"), 2, "run again"),
            (("--root", "here", "--make", "x"), 2, "absolute"),
            (("--wfformat-version", "2", "--wfformat", "x"), 2, "1.5"),
            (("--make", "/nonexistent/x"), 1, "/nonexistent/x")):
        done = subprocess.run([WFDAG, "generate", *args, str(db)], cwd=base, capture_output=True, text=True,
                              timeout=60, check=False)
        checks.equal(f"generate {args}: status", done.returncode, status)
        checks.check(f"generate {args}: one line", text in done.stderr and done.stderr.count("\n") == 1,
                     done.stderr)


need("make")
need_fuse()
with tempfile.TemporaryDirectory(prefix="ftrac-generate-") as directory:
    for case in compile_example, montage_example, script, names, nested, lists, batch, refusals:
        case(pathlib.Path(directory) / case.__name__)
checks.end()
