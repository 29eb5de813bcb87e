# SPDX-License-Identifier: MIT
"""What is done on the file system that is measured.

A workload has a directory of its own: prepare() fills it once, reset() brings it back to where
every run begins; both natively.  command() is then run in it, natively or through a mount; and
cost() is what it took, of which less is better: seconds, or where a time is given, the seconds of
a million operations.
"""
import json
import shutil

import programs
from machine import TOP, run

EXAMPLES = TOP / "examples"


class Workload:
    unit = "s"
    disk = False
    jobs = None
    is_cpu_time = False  # the cost is, which other programs do not change

    def __init__(self, name, tiny):
        self.name, self.tiny = name, tiny

    def prepare(self, directory):
        pass

    def reset(self, directory):
        pass

    def cost(self, seconds, output):
        return seconds


class Montage(Workload):
    def __init__(self, name, tiny, jobs, size="A", disk=False):
        super().__init__(name, tiny)
        self.jobs, self.size, self.disk = jobs, size, disk

    def prepare(self, directory):
        run([EXAMPLES / "montage/generate.sh", self.size, directory])

    def reset(self, directory):
        run(["make", "clean", "-C", directory])

    def command(self):
        return ["make", f"-j{self.jobs}"] + (["proj/01-01.fits", "proj/01-02.fits"]
                                             if self.tiny else [])


class Compile(Workload):
    """Compiles Lua; tiny: a generated project."""

    def __init__(self, name, tiny, jobs):
        super().__init__(name, tiny)
        self.jobs = jobs

    def prepare(self, directory):
        if self.tiny:
            shutil.copytree(EXAMPLES / "make", directory, dirs_exist_ok=True)
        else:
            programs.unpack("lua", directory)

    def reset(self, directory):
        run(["make", "clean", "-C", directory])

    def command(self):
        return ["make", f"-j{self.jobs}"] + ([] if self.tiny else ["generic"])


class Small(Workload):
    def prepare(self, directory):
        programs.own("small", directory)

    def command(self):
        return ["./small", "50" if self.tiny else "3000"]


class Fio(Workload):
    """Two threads, one file, for a given time."""
    unit = "us/op"

    def __init__(self, name, tiny, kind, block):
        super().__init__(name, tiny)
        self.kind, self.block = kind, block
        self.size = "1m" if tiny else "64m"

    def prepare(self, directory):
        mib = int(self.size[:-1])
        (directory / "data").write_bytes(bytes(range(256)) * 4096 * mib)

    def command(self):
        return ["fio", "--name=bench", "--filename=data", f"--rw={self.kind}", f"--bs={self.block}",
                f"--size={self.size}", "--ioengine=psync", "--thread", "--numjobs=2",
                "--group_reporting", "--time_based", f"--runtime={200 if self.tiny else 1000}ms",
                "--norandommap", "--invalidate=0", "--fallocate=none", "--output-format=json"]

    def cost(self, seconds, output):
        job = json.loads(output[output.index("{"):])["jobs"][0]
        part = job["read" if "read" in self.kind else "write"]
        return part["runtime"] * 1e3 / max(1, part["total_ios"])


class Storm(Workload):
    """Processes that end as soon as they have begun, of a program in the mount."""

    def prepare(self, directory):
        shutil.copy("/bin/true", directory / "true")

    def command(self):
        return ["sh", "-c", f"seq {50 if self.tiny else 1000} | xargs -n 1 -P 4 ./true"]


class Git(Workload):
    files = 20000

    def prepare(self, directory):
        git = ["git", "-C", directory, "-c", "user.name=bench", "-c", "user.email=bench@localhost",
               "-c", "gc.auto=0"]
        run(["git", "init", "-q", "-b", "empty", directory])
        run([*git, "commit", "-q", "--allow-empty", "-m", "nothing"])
        run([*git, "checkout", "-q", "-b", "full"])
        for i in range(self.files):
            place = directory / f"{i // 1000}/{i // 50 % 20}"
            place.mkdir(parents=True, exist_ok=True)
            (place / f"{i}.txt").write_text(f"{i}\n" * (i % 400))
        run([*git, "add", "."])
        run([*git, "commit", "-q", "-m", "all"])
        run([*git, "gc", "-q"])

    def reset(self, directory):
        run(["git", "-C", directory, "checkout", "-q", "-f", "empty"])
        run(["git", "-C", directory, "clean", "-q", "-f", "-d"])  # of one that failed

    def command(self):
        return ["sh", "-c", "git checkout -q full && git status --porcelain"]


class Sqlite(Workload):
    """Small transactions, a large one, and what was put in looked for."""
    script = """
CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, value REAL);
{inserts}
BEGIN;
WITH RECURSIVE n(i) AS (SELECT 10000 UNION ALL SELECT i + 1 FROM n WHERE i < 200000)
INSERT INTO t SELECT i, 'name ' || i * 7919 % 200003, i / 3.0 FROM n;
COMMIT;
CREATE INDEX t_name ON t (name);
SELECT count(*), sum(value) FROM t WHERE name BETWEEN 'name 3' AND 'name 5';
UPDATE t SET value = value + 1 WHERE id % 10 = 0;
"""

    def prepare(self, directory):
        inserts = "\n".join(f"INSERT INTO t VALUES ({i}, 'small {i}', {i});" for i in range(500))
        (directory / "script.sql").write_text(self.script.format(inserts=inserts))

    def reset(self, directory):
        for path in directory.glob("made.db*"):
            path.unlink()

    def command(self):
        return ["sqlite3", "made.db", ".read script.sql"]


class Hello(Workload):
    """GNU hello: ./configure, which is hundreds of small programs, and make."""

    def reset(self, directory):
        shutil.rmtree(directory / "hello", ignore_errors=True)
        programs.unpack("hello", directory / "hello")

    def command(self):
        return ["sh", "-c", "cd hello && ./configure -q" + ("" if self.tiny else " && make -s")]


class GitTree(Workload):
    """The source of redis: init, add, commit, clone, log -p, grep, status."""

    def reset(self, directory):
        for name in "tree", "clone":
            shutil.rmtree(directory / name, ignore_errors=True)
        programs.unpack("redis", directory / "tree")

    def command(self):
        git = "git -c gc.auto=0 -c user.name=bench -c user.email=bench@localhost"
        return ["sh", "-ec", f"""cd tree; git init -q; {git} add .; {git} commit -q -m all; cd ..
            {git} clone -q tree clone; cd clone
            git log -p | cat > /dev/null; git grep -c malloc > /dev/null; git status --porcelain"""]


class Tree(Workload):
    """The source of redis as an archive, several times: tar xf, cp -r, grep -r, rm -rf."""

    def prepare(self, directory):
        programs.unpack("redis", directory / "tree")
        run(["tar", "-cf", directory / "tree.tar", "-C", directory, "tree"])
        shutil.rmtree(directory / "tree")

    def reset(self, directory):
        for name in "tree", "copy":
            shutil.rmtree(directory / name, ignore_errors=True)

    def command(self):
        return ["sh", "-ec", f"""for i in $(seq {1 if self.tiny else 5}); do
            tar xf tree.tar; cp -r tree copy; grep -r malloc copy > /dev/null; rm -rf tree copy; done"""]


class Calls(Workload):
    """What one system call costs its thread: nanoseconds of CPU time, the best of many turns."""
    unit = "ns"
    is_cpu_time = True

    def __init__(self, name, tiny, call):
        super().__init__(name, tiny)
        self.call = call

    def prepare(self, directory):
        programs.own("calls", directory)

    def command(self):
        return ["./calls", self.call, "3" if self.tiny else "300", "500"]

    def cost(self, seconds, output):
        return float(output)


class Reads(Workload):
    """Two processes read a million single bytes each, as fast as they can."""

    def prepare(self, directory):
        programs.own("calls", directory)

    def command(self):
        one = f"./calls read 1 {1000 if self.tiny else 1000000}"
        return ["sh", "-c", f"{one} & {one}; wait"]


def kernel(tiny=False):
    return [Montage("montage-j2", tiny, 2), Montage("montage-j8", tiny, 8),
            Compile("compile-j2", tiny, 2), Compile("compile-j8", tiny, 8),
            Hello("hello", tiny), GitTree("git", tiny), Tree("tree", tiny), Storm("storm", tiny),
            Reads("reads", tiny), Calls("call-other", tiny, "other"), Calls("call-read", tiny, "read"),
            Calls("call-stat", tiny, "stat"), Calls("call-open", tiny, "open+close")]


def figures(tiny=False):
    return [Montage(f"montage-{size}-j{jobs}", tiny, jobs, size, disk=True) for size in "AC" for jobs in (1, 2, 4, 8)]


def gate(tiny=False):
    return [Montage("montage-j2", tiny, 2), Compile("compile-j2", tiny, 2), Small("small", tiny),
            Fio("read-4k", tiny, "randread", "4k"), Fio("write-4k", tiny, "randwrite", "4k"),
            Storm("storm", tiny)]


def matrix(tiny=False):
    return gate(tiny) + [
        Montage("montage-j1", tiny, 1), Montage("montage-j8", tiny, 8),
        Compile("compile-j1", tiny, 1), Compile("compile-j8", tiny, 8),
        Montage("montage-disk", tiny, 2, "C", disk=True),
        Fio("read-1m", tiny, "read", "1m"), Fio("write-1m", tiny, "write", "1m"),
        Git("git", tiny), Sqlite("sqlite", tiny)]
