#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 15
"""bash, zsh and fish complete the command lines of all programs: the shells themselves are asked.  What they are to offer stands
here a second time.  Names out of a trace are quoted, and nothing in them is executed."""
import contextlib
import os
import pathlib
import pty
import re
import select
import shlex
import shutil
import sqlite3
import subprocess
import tempfile
import time

import stattraces
from ftractest import FTRAC, Checks, skip
from hostile import WFDAG, WFREPORT, WFSTAT

PROCMON = os.path.abspath(os.environ.get("PROCMON", "build/procmon/procmon"))
PROGRAMS = {"ftrac": FTRAC, "procmon": PROCMON, "wfstat": WFSTAT, "wfdag": WFDAG, "wfreport": WFREPORT}
PROGRAMS = {name: path for name, path in PROGRAMS.items() if os.path.exists(path)}
PATIENCE_S = 120
ODD = ["two words", "it's", 'a "quote"', "$(touch executed)", "`touch executed`", "one\ntwo", "; touch executed", "*", "ä"]
checks = Checks()
asked = {}


class Bash:
    """Runs the function that bash would run, and prints what it would insert."""

    def __init__(self, place):
        self.place = place

    def offers(self, line):
        """line: its words, the last one to be completed, as typed."""
        words = re.findall(r"(?:[^\s=:'\"\\]|\\.|'[^']*'|\"[^\"]*\")+|[=:]+", line) + ([""] if line.endswith(" ") else [])
        program = words[0]
        script = f"""
source <({shlex.quote(program)} --complete bash)
COMP_WORDS=({' '.join(map(shlex.quote, words))}); COMP_CWORD={len(words) - 1}; COMP_LINE={shlex.quote(line)}
COMP_POINT=${{#COMP_LINE}}
_{program}_complete {program} {shlex.quote(words[-1])} {shlex.quote(words[-2])}
for reply in "${{COMPREPLY[@]}}"; do eval "unquoted=$reply"; printf '%s\\0' "$unquoted"; done
"""
        done = self.place.run("bash", "--norc", "-c", script)
        offers = done.stdout.split("\0")[:-1]
        # What bash replaces begins behind '=' and ':'.
        return {self.before(words) + offer for offer in offers}, done.stderr

    @staticmethod
    def before(words):
        """The part of an option that is not replaced."""
        if words[-1] == "=" and words[-2].startswith("--"):
            return f"{words[-2]}="
        return f"{words[-3]}=" if len(words) > 2 and words[-2] == "=" and words[-3].startswith("--") else ""


class Fish:
    def __init__(self, place):
        self.place = place

    def offers(self, line):
        program = line.split()[0]
        # One element for each candidate: a newline within is one of the name's.
        script = (f"{program} --complete fish | source; for found in (complete -C {shlex.quote(line)} --escape); "
                  "printf '%s\\0' $found; end")
        done = self.place.run("fish", "--no-config", "-c", script)
        offers = [offer.split("\t")[0] for offer in done.stdout.split("\0")[:-1]]
        return {self.unquote(offer) for offer in offers}, done.stderr

    def unquote(self, text):
        if not re.search(r"[\\'\"$]", text):
            return text
        done = self.place.run("fish", "--no-config", "-c", f"printf %s {text}")
        return done.stdout


class Zsh:
    """Types a line and lists what there is, with a compadd that prints its words instead."""

    SETUP = r"""
PROMPT=; unsetopt zle_bracketed_paste 2>/dev/null
autoload -Uz compinit; compinit -u -D
zstyle ':completion:*' verbose no
for program in ${(s: :)PROGRAMS}; do source <($program --complete zsh); done
compadd() {
	local -a hidden
	if [[ ${@[(I)-O|-A|-D]} -gt 0 ]]; then builtin compadd "$@"; return; fi
	builtin compadd -O hidden "$@"
	print -rn -- "${(pj:\0:)${(@q)hidden}}" >>$OFFERS; print -n '\0' >>$OFFERS
	builtin compadd "$@"
}
ended() { print -n ENDED >>$OFFERS; zle kill-buffer; }
zle -N ended
list() { zle list-choices; zle ended; }
zle -N list
bindkey '^X' list
print READY >>$OFFERS
"""

    def __init__(self, place):
        self.place, self.file = place, place.base / "offers"
        self.pid = self.terminal = None
        self.begin()

    def begin(self):
        """One for all lines: its start takes longest."""
        environment = {**self.place.environment, "OFFERS": str(self.file), "PROGRAMS": " ".join(PROGRAMS), "TERM": "xterm"}
        self.file.write_bytes(b"")
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.chdir(self.place.base)
            os.execvpe("zsh", ["zsh", "-f", "-i"], environment)
        setup = self.place.base / "setup.zsh"
        setup.write_text(self.SETUP)
        self.type(f"source {setup}\n", b"READY\n")

    def end(self):
        os.close(self.terminal)
        os.kill(self.pid, 9)
        os.waitpid(self.pid, 0)

    def offers(self, line):
        self.file.write_bytes(b"")
        self.type(f"{line}\x18", b"ENDED")
        words = [word.decode() for word in self.file.read_bytes().split(b"ENDED")[0].split(b"\0") if word]
        unquoted = self.place.run("zsh", "-f", "-c", r"""for word; do printf '%s\0' "${(Q)word}"; done""", "zsh", *words)
        return set(unquoted.stdout.split("\0")[:-1]), ""

    def type(self, text, until):
        os.write(self.terminal, text.encode())
        end = time.monotonic() + PATIENCE_S
        while until not in self.file.read_bytes():
            if select.select([self.terminal], [], [], 0.01)[0]:
                os.read(self.terminal, 65536)
            assert time.monotonic() < end, (text, self.file.read_bytes())


class Place:
    """A directory with the programs in PATH, and maybe a trace."""

    def __init__(self, base):
        self.base = pathlib.Path(base)
        (self.base / "bin").mkdir()
        for name, path in PROGRAMS.items():
            (self.base / "bin" / name).symlink_to(path)
        self.environment = {"PATH": f"{self.base}/bin:/usr/bin:/bin:/usr/sbin", "HOME": str(self.base), "LC_ALL": "C.UTF-8",
                            "LANG": "C.UTF-8", "XDG_CONFIG_HOME": str(self.base), "XDG_DATA_HOME": str(self.base)}

    def run(self, *command):
        return subprocess.run(command, cwd=self.base, env=self.environment, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=PATIENCE_S, check=False)


def options_of(*command):
    """All long options, out of the help."""
    text = subprocess.run([*command, "--help"], capture_output=True, text=True, check=True).stdout
    text = "\n".join(line for line in text.splitlines() if "&&" not in line)  # an example
    found = set(re.findall(r"(?:(?<=[ ,])|(?<=^))(--[a-z][a-z-]*)(?=[ =,\n\[]|$)", text, re.MULTILINE))
    return found - {"--complete"}


# The line, what must be offered, and what must not.
def expected():
    tables = ("overview io mem run util waits sys layers phase file proc handle pattern hist cdf time flow errors list").split()
    yield "ftrac ", {"run", "record", "top", "umount", "doctor", "merge", "redact", "replay", "import", "wait"}, {"proc"}
    yield "ftrac r", {"run", "record"}, {"doctor"}
    yield "ftrac run --fi", {"--fidelity", "--files"}, {"--scope"}
    yield "ftrac run --files ", {"mount", "kernel", "auto", "both"}, {"none", "run"}
    yield "ftrac run --files=k", {"--files=kernel"}, {"--files=mount"}
    yield "ftrac run --layer ", {"lib", "mpi"}, {"disk"}
    yield "ftrac run --metrics", {"--metrics", "--metrics-interval"}, {"--make"}
    yield "ftrac run --detail-above ", {"10us", "1ms"}, {"lib"}
    yield "ftrac run --fidelity ", {"exact", "cached", "open", "call"}, {"auto"}
    yield "ftrac --processes ", {"auto", "connector", "inband"}, {"ptrace"}
    yield "ftrac run --processes ", {"auto", "ptrace", "connector", "inband", "kernel"}, set()
    yield "ftrac run --io-uring ", {"auto", "on", "off"}, set()
    yield "ftrac --locks ", {"kernel", "native"}, set()
    yield "ftrac run --user ro", {"root"}, {"mount"}
    yield "ftrac run --scope ", {"dir", "full"}, set()
    yield "ftrac umount --", {"--no-wait", "--help"}, {"--json"}
    yield "ftrac top --", {"--batch", "--delay", "--count", "--like"}, {"--json"}
    yield "ftrac doctor --", {"--json", "--help"}, {"--no-wait"}
    yield "ftrac wait --", {"--until", "--timeout", "--foreign"}, {"--json"}
    yield "ftrac merge --", {"--output", "--force", "--no-ops", "--foreign"}, {"--json"}
    yield "ftrac import --", {"--strace", "--output", "--cwd", "--force"}, {"--no-ops"}
    yield "ftrac redact --", {"--output", "--keep", "--map", "--key", "--foreign"}, {"--no-ops"}
    yield "ftrac replay --", {"--directory", "--speed", "--fill", "--prepared", "--foreign"}, {"--output"}
    yield "ftrac record --", {"--all", "--pid", "--cgroup", "--for"}, {"--fidelity"}
    yield "procmon --files ", {"none", "kernel"}, {"mount"}
    yield "procmon --processes ", {"auto", "ptrace", "connector", "kernel"}, {"inband"}
    yield "wfstat ", set(tables), {"makespan"}
    yield "wfstat pro", {"proc"}, {"io"}
    yield "wfstat sys --format ", {"table", "csv", "tsv", "json"}, set()
    yield "wfstat --format=j", {"--format=json"}, {"--format=csv"}
    yield "wfstat sys --by phase,op", {"phase,operation"}, {"operation"}
    yield "wfstat hist --of ", {"latency", "read-size", "write-size", "bytes-read", "bytes-written", "lifetime", "file-size",
                                "rss"}, set()
    yield "wfstat time --of ", {"size", "bytes", "latency"}, {"rss"}
    yield "wfstat time --sort ", {"from_s", "operations", "rss_bytes"}, {"least_ns"}
    yield "wfstat time --of latency --sort ", {"least_ns", "below_ns"}, {"rss_bytes"}
    yield "wfstat sys --operation re", {"read", "rename", "readdir"}, {"write"}
    yield "wfstat sys --layer ", {"calls", "requests"}, set()
    yield "wfstat io --per ", {"job", "process"}, set()
    yield "wfstat pattern --sizes ", {"darshan", "powers", "tens"}, set()
    yield "wfstat phase --sort ", {"phase", "jobs", "read_bytes", "written_bytes"}, {"id"}
    yield "wfstat proc --columns pid,", {"pid,ppid", "pid,command"}, {"pid,jobs"}
    yield "wfdag ", {"summary", "generate", "check", "diff", "critical-path", "makespan", "degree", "weight", "clusters",
                     "parallelism", "order", "lifecycle", "whatif"}, {"io"}
    yield "wfdag weight --by ", {"bytes", "time", "size"}, {"phase"}
    yield "wfdag --pipes ", {"edge", "node"}, set()
    yield "wfdag --collapsed --stacks d", {"directory-io", "directory-read", "directory-written"}, {"wall", "cpu"}
    yield "wfdag --width ", {"none", "bytes", "rate", "time"}, set()
    yield "wfdag --cluster ", {"none", "phase", "job"}, set()
    yield "wfdag critical-path --sort ", {"gain_ns"}, {"read_bytes"}
    yield "wfdag --group-by ph", {"phase"}, {"file"}
    yield "wfdag check --kinds missing,", {"missing,redundant", "missing,unordered", "missing,ghost"}, set()
    yield "wfdag check --format ", {"table", "csv", "sarif", "github", "markdown"}, {"svg"}
    yield "wfdag diff --fail-on ", {"graph", "exit", "time:", "cpu:", "memory:", "bytes", "edges"}, set()
    yield "wfdag diff --format m", {"markdown"}, {"json"}
    yield "wfdag generate --level ", {"job", "process"}, set()
    yield "wfdag generate --dax-version ", {"2.1", "3.6"}, set()
    yield "wfdag generate --wfformat-version ", {"1.5", "1.6"}, set()
    yield "wfreport --per", {"--perfetto"}, {"--title"}


# Of shells that compare by themselves, offers are those of the whole list.
def begins(offers, line):
    word = re.split(r"\s", line)[-1]
    return {offer for offer in offers if offer.startswith(word)}


def ask(shell, line):
    offers, said = shell.offers(line)
    checks.equal(f"{type(shell).__name__}: '{line}': nothing on stderr", said, "")
    asked[type(shell).__name__] = asked.get(type(shell).__name__, 0) + 1
    return begins(offers, line)


def fixed(shells, _place):
    for line, wanted, unwanted in expected():
        if line.split()[0] not in PROGRAMS:
            continue
        for shell in shells:
            offers = ask(shell, line)
            checks.equal(f"{type(shell).__name__}: '{line}': missing", wanted - offers, set())
            checks.equal(f"{type(shell).__name__}: '{line}': too much", unwanted & offers, set())


def options(shells, _place):
    """Each verb has its own options, those of its help."""
    verbs = {"ftrac": ["run", "record", "top", "umount", "doctor", "merge", "redact", "replay", "import", "wait"], "wfdag": ["summary", "generate", "changes", "check", "diff"]}
    for name in PROGRAMS:
        for verb in [[], *([verb] for verb in verbs.get(name, []))]:
            wanted = options_of(PROGRAMS[name], *verb)
            for shell in shells:
                offers = {offer for offer in ask(shell, " ".join([name, *verb, "--"])) if offer.startswith("--")}
                checks.equal(f"{type(shell).__name__}: options of {name} {verb}", offers - {"--version", "--output"},
                             wanted - {"--version", "--output"})


def names(shells, place):
    """Phases and jobs out of a trace, in the current directory or on the line."""
    for shell in shells:
        for line in "wfstat io --phase ", "wfstat io --job ":
            checks.equal(f"{type(shell).__name__}: without a trace", ask(shell, line), set())
    for name in "trace.db", "other.db":
        make_names(place.base / name, name)
    for shell in shells:
        kind = type(shell).__name__
        checks.equal(f"{kind}: phases", ask(shell, "wfstat io --phase "), {*ODD, "of trace.db"})
        checks.equal(f"{kind}: phases of another trace", ask(shell, "wfstat other.db io --phase "), {*ODD, "of other.db"})
        checks.equal(f"{kind}: phases of wfdag", ask(shell, "wfdag --expand "), {*ODD, "of trace.db"})
        checks.equal(f"{kind}: jobs", ask(shell, "wfstat io --job "), {f"job {name}" for name in [*ODD, "of trace.db"]})
        checks.check(f"{kind}: nothing was executed", not (place.base / "executed").exists())
        checks.check(f"{kind}: files are offered", "other.db" in ask_files(shell, "wfdag diff oth"))
    (place.base / "trace.db").write_bytes(b"no trace")
    for shell in shells:
        checks.equal(f"{type(shell).__name__}: with what is no trace", ask(shell, "wfstat io --phase "), set())


def ask_files(shell, line):
    """bash completes files by itself, where it is told to: not asked here."""
    return {"other.db"} if isinstance(shell, Bash) else ask(shell, line)


def make_names(path, name):
    """A process for each phase."""
    phases = list(enumerate([*ODD, f"of {name}"], 1))
    made = stattraces.make(name, lambda db: [stattraces.add_process(db, number) for number, _ in phases])
    with contextlib.closing(sqlite3.connect(made)) as db:
        db.execute("DELETE FROM jobs")
        db.executemany("INSERT INTO jobs (process, job, xform, phase) VALUES (?, ?, ?, ?)",
                       [(number, f"job {phase}", phase, phase) for number, phase in phases])
        db.commit()
    shutil.move(made, path)


def scripts(place):
    for name in PROGRAMS:
        for shell in "bash", "zsh", "fish":
            done = place.run(name, "--complete", shell)
            checks.check(f"{name} --complete {shell}", done.returncode == 0 and name in done.stdout and "PROGRAM" not in done.stdout)
            checks.equal(f"{shell} reads that of {name}", place.run(shell, "-n", "-c", done.stdout).stderr, "")
        done = place.run(name, "--complete", "csh")
        checks.check(f"{name}: no other shell", done.returncode in (2, 125) and done.stderr.count("\n") == 1, done)
        checks.check(f"{name} --help names it", "--complete SHELL" in place.run(name, "--help").stdout)


missing = [shell for shell in ("bash", "zsh", "fish") if not shutil.which(shell)]
if missing:
    skip(f"no {' '.join(missing)} here")
with tempfile.TemporaryDirectory(prefix="ftrac-case-") as base:
    place = Place(base)
    scripts(place)
    shells = [Bash(place), Zsh(place), Fish(place)]
    for part in (fixed, options, names):
        before = time.monotonic()
        part(shells, place)
        print(f"{part.__name__}: {time.monotonic() - before:.1f} s")
    shells[1].end()
print(f"lines that were completed: {asked}")
checks.end()
