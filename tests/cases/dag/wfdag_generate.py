#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# long: --long
# seconds: 40
"""wfdag generate: what is generated is run, in an empty copy of the inputs and in another order, and makes
the same files, byte by byte; a second time there is nothing to do; and the graph of that run is the same.
What CWL's steps make, each in a directory of its own, is the same, too; or the workflow is refused, for names that CWL has not.

Workflows: the examples, a script with all that shells do with files, and names that are hard to say.
"""
import importlib.util
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

from ftractest import TOP, Checks, need, need_fuse
from sample import one, some
from workflows import traced

WFDAG = os.environ.get("WFDAG", "build/dag/wfdag")
EXAMPLES = TOP / "examples"
OWN = {".ftrac", ".ninja_log", ".ninja_deps", ".snakemake"} # of the program that runs it

# How each is run: again, it has nothing to do.
SYSTEMS = {
    "make": (["make", "-j2", "-f"], ["make", "-q", "-f"], ""),
    "ninja": (["ninja", "-j2", "-f"], ["ninja", "-n", "-f"], "no work to do"),
    "snakemake": (["snakemake", "-q", "-c2", "-s"], ["snakemake", "-n", "-c1", "-s"], "Nothing to be done"),
    "dask": ([sys.executable], None, ""),
    "cwl": (["cwltool", "--quiet", "--relax-path-checks", "--no-container", "--parallel"], None, ""),
}

# Workflows of which names may be none of UTF-8, or be of another kind than CWL has.
ODD = {"bytes", "programs", "variables", *(f"folder {i}" for i in range(10))}

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

# Names that mean something to a language, whole or at their begin or end.
SPECIAL = [b"all", b"define", b"endef", b"export", b"unexport", b"include", b"-include", b"sinclude", b"ifdef", b"ifeq",
           b"else", b"endif", b"override", b"private", b"undefine", b"vpath", b"load", b".PHONY", b".SUFFIXES",
           b".DEFAULT", b".SILENT", b".ONESHELL", b".NOTPARALLEL", b".POSIX", b".c.o", b"-lm", b"-lx", b"lib(x)", b"a(b",
           b"b)", b"a,b", b"SHELL", b"MAKEFLAGS", b"PATH=x", b"x:=y", b"a+=b", b"!=", b"::", b"|", b"||", b"&", b"&:",
           b"a&", b"a:", b"%", b"%x", b"\\\\", b"x\\\\", b"\\#", b"\\:", b"''", b'""', b"~", b"~root", b"$", b"$$", b"$x", b"${x}",
           b"$(shell id)", b"$^", b"$@", b"{}", b"{{}}", b"{x,y}", b"}", b"*", b"**", b"?", b"[", b"[a]", b"#", b"--",
           b"-f", b"--help", b"-n", b"@", b"+", b"!", b";;", b"`id`", b"<", b">", b">>x", b"build", b"rule", b"default",
           b"pool", b"phony", b"subninja", b"Snakefile", b"Makefile", b"build.ninja", b"temp(x)", b"a?b=c&d", b"n" * 250,
           b"\xc3\xa9" * 125, b"\xff" * 250, b"\xff\xfe", b"a\xc3", b"\xc0\xaf", b"\xed\xa0\x80", "\u2028x".encode(),
           "x\u0085y".encode(), "\ufeffx".encode(), "\u00a0x\u00a0".encode(), "\U0001f600".encode(), b"a\nb\nc",
           b"\\n", b"\\0101", b"x\\c", b"\x81\x82\x88", b"a\rb", b"\x1b[31m", b"'\n'", b"EOF",
           b"x (deleted)", b"a (deleted) b"]
# What means something in names; words of these are tried, too.
MEANING = b" \t\\:#$%*?[]{}();=&|'\"~-+@!<>`,^.a\n\r"
# Programs whose names a shell or make takes for something else.
PROGRAMS = ["a=b", "if", "do", "done", "time", "@x", "+x", "-x", "7z", "x y", "it's", "{", "!", "~x", "#x", "$x", "n" * 250,
            "caf\udce9", "new\nline", "\u00e9"]
# Others' can stand where the first four do.
FOLDERS = ["a b", "$x:y", "#x=", "{x}", "it's", "new\nline", "car\rriage", "\udcff", "back\\slash", "-f"]

checks = Checks()


def run(*args, cwd=None, status=0, **options):
    done = subprocess.run([str(a) for a in args], cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace", timeout=300, check=False, **options)
    if done.returncode != status:
        raise AssertionError(f"{args}: status {done.returncode}\n{done.stdout[-2000:]}")
    return done.stdout


def contents(directory):
    """Everything below, but what belongs to the program that ran it."""
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


def round_trip(base, what, inputs, command, options=(), drop=(), bare=(), stamps=None, place="original"):
    """inputs: a directory with what is there before.  drop: what only the first run needs.  bare: directories that
    make finds missing.  stamps: how many jobs at most make nothing that can be said."""
    original, db = base / place, base / "original.db"
    shutil.copytree(inputs, original, symlinks=True)
    traced(db, command, original, *options)
    wanted = contents(original)
    before = contents(inputs)
    checks.check(f"{what}: makes files", len(set(wanted) - set(before)) > 2)
    for system, (first, again, nothing) in one(systems):
        if system == "cwl":
            in_steps(base, what, inputs, db, first, drop, wanted)
            continue
        copy, rules, db2 = base / system, base / f"{what}.{system}", base / f"{system}.db"
        run(WFDAG, "generate", f"--{system}", "-o", rules, db)
        shutil.copytree(inputs, copy, symlinks=True)
        # Ninja cannot say where it runs.
        rules.write_bytes(rules.read_bytes().replace(b"\nroot = %s\n" % os.fsencode(original).replace(b"$", b"$$"),
                                                     b"\nroot = %s\n" % os.fsencode(copy)))
        for name in drop:
            (copy / name).unlink()
        for name in bare if system == "make" else ():
            (copy / name).rmdir()
        traced(db2, [*first, rules], copy, *options)
        made = contents(copy)
        keys = set(wanted) | set(made)
        keys -= {os.fsencode(name) for name in drop}
        checks.check(f"{what}, {system}: as many files", len(made) > 2)
        if stamps:
            found = os.listdir(copy / ".ftrac") if (copy / ".ftrac").exists() else []
            checks.check(f"{what}, {system}: rules name files, and not stamps", len(found) <= stamps, found)
        for path in sorted(keys):
            checks.check(f"{what}, {system}: {path}", wanted.get(path, 0) == made.get(path, 0))
        said = run(*again, rules, cwd=copy) if again else ""
        checks.check(f"{what}, {system}: nothing to do again", nothing in said, said[-500:])
        same_graph(f"{what}, {system}", db, db2, drop)
        shutil.rmtree(copy)
    shutil.rmtree(original)


def in_steps(base, what, inputs, db, command, drop, wanted):
    """By CWL: what there is in the end is in one directory; what nothing changed is not."""
    copy, out = base / "cwl", base / "cwl.out"
    shutil.copytree(inputs, copy, symlinks=True)
    for name in drop:
        (copy / name).unlink()
    before = contents(copy)
    words = [WFDAG, "generate", "--cwl", str(db)]
    done = subprocess.run(words, capture_output=True, timeout=100, check=False)
    checks.equal(f"{what}, cwl: same trace, same bytes", subprocess.run(words, capture_output=True, timeout=100, check=False).stdout, done.stdout)
    if done.returncode and what in ODD:
        checks.check(f"{what}, cwl: a name that CWL cannot express", b"CWL cannot express" in done.stderr and not done.stdout, done.stderr)
    else:
        checks.equal(f"{what}, cwl: status", (done.returncode, done.stderr if done.returncode else b""), (0, b""))
        (copy / "workflow.cwl").write_bytes(done.stdout)
        run("cwltool", "--quiet", "--validate", "--strict", copy / "workflow.cwl")
        run(*command, "--outdir", out, copy / "workflow.cwl", cwd=base, env=os.environ | {"TMPDIR": str(base)})
        made = contents(out / "tree")
        checks.check(f"{what}, cwl: makes files", len(made) > 2)
        for path in sorted(set(wanted) | set(made)):
            if os.fsdecode(path) not in drop:
                checks.check(f"{what}, cwl: {path}", wanted.get(path, 0) == made.get(path, before.get(path, 1)))
    shutil.rmtree(out, ignore_errors=True)
    shutil.rmtree(copy)


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


def quote(word):
    return b"'" + word.replace(b"'", b"'\\''") + b"'"


def bytes_in_names(base):
    """Each byte, alone, in front, behind and in the middle, in names and in arguments; and what means something."""
    inputs = base / "inputs"
    top = os.fsencode(inputs)
    (inputs / "in").mkdir(parents=True)
    names = [name for b in range(1, 256) if b != ord("/") for name in (
        bytes([b]), bytes([b, ord("x")]), bytes([ord("x"), b]), bytes([ord("y"), b, ord("y")])) if name not in (b".", b"..")]
    numbers = random.Random(7)
    names += [bytes(numbers.choices(MEANING, k=numbers.randrange(2, 7))) for _ in range(400)]
    names = sorted(set(names) - set(SPECIAL) - {b"..", b"."})
    for i, name in enumerate(names + SPECIAL):
        with open(os.path.join(top, b"in", name), "wb") as file:
            file.write(b"%d\n" % i)
    lines = []
    for i in range(0, len(names), 64):
        some = names[i:i + 64]
        words = b" ".join(quote(b"./" + name) for name in some)
        lines += [b"cp -t . -- " + b" ".join(quote(b"in/" + name) for name in some),
                  b"cat -- %s > all.%d" % (words, i),
                  b"/usr/bin/printf '<%%s>' %s '' > said.%d" % (b" ".join(map(quote, some)), i)]
    for i, name in enumerate(SPECIAL):
        lines += [b"tee -- %s %s < in/%s" % (quote(name), quote(name + b"~2"), quote(name)),
                  b"cat < %s > special.%d" % (quote(name), i)]
    with open(os.path.join(top, b"wf.sh"), "wb") as file:
        file.write(b"\n".join(lines) + b"\n")
    round_trip(base, "bytes", inputs, ["sh", "wf.sh"], (), ("wf.sh",), stamps=25)


def programs(base):
    """What is started is called what it is called, and so are the folders that it works in."""
    inputs, path = base / "inputs", os.environ["PATH"]
    (base / "bin").mkdir(parents=True)
    inputs.mkdir()
    lines = ["cat < bare.in > bare.out"]
    (inputs / "bare.in").write_text("text\n")
    for i, name in enumerate(PROGRAMS):
        shutil.copy("/bin/cat", base / "bin" / name)
        (inputs / f"in.{i}").write_text(f"{i}\n")
        (inputs / name).mkdir()
        (inputs / f"d({name}").mkdir()
        quoted = name.replace("'", "'\\''")
        if name in ("@x", "time", "7z"):
            lines += [f"sh -c '{name} in.{i} > text.{i}'"]
        lines += [f"'{quoted}' in.{i} > out.{i}", f"cd './{quoted}'", f"'{quoted}' ../out.{i} > out", "cd ..",
                  f"'{quoted}' out.{i} > 'd({quoted}/out'"]
    (inputs / "wf.sh").write_text("\n".join(lines) + "\n", errors="surrogateescape")
    os.environ["PATH"] = f"{base}/bin:{path}"
    round_trip(base, "programs", inputs, ["sh", "wf.sh"], (), ("wf.sh",), [f"d({name}" for name in PROGRAMS], 10)
    os.environ["PATH"] = path


def folders(base):
    """The folder of the workflow is called so; commands say it where that can be another one's later."""
    for i, folder in some(enumerate(FOLDERS), 2):
        here = base / f"{i}"
        inputs = here / "inputs"
        (inputs / folder).mkdir(parents=True)
        (inputs / "a").write_text("text\n")
        (inputs / "wf.sh").write_text(
            "cat a > b\ncat b a > c\ncat c > ./-d\n" + ('cat "$PWD/c" > e\n' if folder in FOLDERS[:4] else "") +
            "cd './%s'\ncat ../c > f\n" % folder.replace("'", "'\\''"), errors="surrogateescape")
        round_trip(here, f"folder {i}", inputs, ["sh", "wf.sh"], (), ("wf.sh",), place=folder)


def variables(base):
    """Of variables that were recorded, those that a shell can export, whatever is in them."""
    need("bash")
    inputs = base / "inputs"
    inputs.mkdir(parents=True)
    (inputs / "a").write_text("text\n")
    (inputs / "sub.sh").write_text("/usr/bin/printenv X > b\ncp b c\ncp c d\n")
    (inputs / "wf.sh").write_bytes(b"env 'BASH_FUNC_f%%=() { :; }' 'x y=1' '1x=2' "
                                   b"'X= a\n\r\xff '\"'\"'$(id)%n\\n#' bash sub.sh\n")
    round_trip(base, "variables", inputs, ["sh", "wf.sh"], ("--env", "*"), ("wf.sh", "sub.sh"))


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


OWN_DIRECTORY = r"""
cp a b
chmod 755 b
./b > c
sh -c 'test -e c && cat c c > d'
rm c
cp a gone
rm gone
truncate -s 3 was.there
sed -i s/o/0/ d
mkdir -p sub/deep empty
cp d sub/deep/d
sh -c 'cd sub/deep && cat d "$PWD/d" > e'
"""


def own_directories(base):
    """CWL: a file has another content for each job that changed it, and is there with its mode; what is only removed is there, too; a
    file that another job renames cannot be said.  Dask: the scheduler of a cluster runs the graph."""
    inputs = base / "inputs"
    inputs.mkdir(parents=True)
    (inputs / "a").write_text("#!/bin/sh\necho one\n")
    (inputs / "was.there").write_text("some text\n")
    (inputs / "wf.sh").write_text(OWN_DIRECTORY)
    original, db = base / "original", base / "original.db"
    shutil.copytree(inputs, original)
    traced(db, ["sh", "wf.sh"], original)
    wanted = contents(original)
    (base / "rename").mkdir()
    (base / "rename" / "a").write_text("text\n")
    traced(base / "rename.db", ["sh", "-c", "cp a b; mv b c; cp c d"], base / "rename")
    done = subprocess.run([WFDAG, "generate", "--cwl", base / "rename.db"], capture_output=True, text=True, timeout=60, check=False)
    checks.check("cwl of a file that another job renames: refused", done.returncode == 1 and "'c'" in done.stderr and not done.stdout and
                 done.stderr.count("\n") == 1, done.stderr)
    (base / "list").mkdir()
    traced(base / "list.db", ["sh", "-c", "ls > /dev/null; cp /etc/hostname b"], base / "list")
    done = subprocess.run([WFDAG, "generate", "--cwl", base / "list.db"], capture_output=True, text=True, timeout=60, check=False)
    checks.check("cwl of a job that lists a directory: a warning", done.returncode == 0 and "listed directories" in done.stderr, done.stderr)
    ran = [name for name, _ in systems if name in ("cwl", "dask")]
    if "cwl" in ran:
        in_steps(base, "own directories", inputs, db, SYSTEMS["cwl"][0], ("wf.sh",), wanted)
    if "dask" in ran and importlib.util.find_spec("distributed"):
        copy = base / "dask"
        shutil.copytree(inputs, copy)
        run(WFDAG, "generate", "--dask", "-o", base / "workflow.py", db)
        run(sys.executable, "-c", CLUSTER, base / "workflow.py", cwd=copy)
        checks.equal("run by a cluster of Dask: the same files", contents(copy), wanted)
    print(f"in directories of their own, or by a cluster: {', '.join(ran) or 'none that is installed'}")


CLUSTER = """
import runpy, sys
from distributed import Client
graph = runpy.run_path(sys.argv[1])["dsk"]
with Client(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None) as client:
    client.get(graph, list(graph))
"""


def refusals(base):
    """What cannot be done gives one line of error."""
    db, nothing = base / "copy.db", base / "nothing.db"
    base.mkdir()
    (base / "a").write_text("text\n")
    traced(db, ["sh", "-c", "cp a b; cp b c"], base)
    traced(nothing, ["true"], base)
    done = subprocess.run([WFDAG, "generate", "--make", str(nothing)], capture_output=True, text=True, timeout=60,
                          check=False)
    checks.equal("generate of nothing: status", (done.returncode, done.stdout), (1, ""))
    checks.check("generate of nothing: one line", "no job used a file" in done.stderr and
                 done.stderr.count("\n") == 1, done.stderr)
    for args, status, text in (
            ((), 2, "no output is given"), (("--make", "-o", "x", "--level", "process"), 2, "cannot be run again"),
            (("--level", "both", "--dax", "-o", "x"), 2, "both"), (("--dagman", "-o", "x", "--level", "process"), 2, "run again"),
            (("--cwl", "-o", "x", "--level", "process"), 2, "run again"), (("--dask", "-o", "x", "--level", "process"), 2, "run again"),
            (("--root", "here", "--make", "-o", "x"), 2, "absolute"),
            (("--wfformat-version", "2", "--wfformat", "-o", "x"), 2, "1.5"),
            (("--make", "-o", "/nonexistent/x"), 1, "/nonexistent/x")):
        done = subprocess.run([WFDAG, "generate", *args, str(db)], cwd=base, capture_output=True, text=True,
                              timeout=60, check=False)
        checks.equal(f"generate {args}: status", done.returncode, status)
        checks.check(f"generate {args}: one line", text in done.stderr and done.stderr.count("\n") == 1,
                     done.stderr)


need("make")
need_fuse()
systems = [(name, words) for name, words in SYSTEMS.items()
           if shutil.which(words[0][0]) and (name != "dask" or importlib.util.find_spec("dask"))]
print(f"those that run what is generated: {', '.join(name for name, _ in systems)}; of each workflow, one of them")
with tempfile.TemporaryDirectory(prefix="ftrac-generate-") as directory:
    workflows = (compile_example, montage_example, script, names, bytes_in_names, programs, folders, variables, nested,
                 lists, batch)
    for case in (*some(workflows, 2), own_directories, refusals):
        case(pathlib.Path(directory) / case.__name__)
checks.end()
