# SPDX-License-Identifier: MIT
"""What is in a trace, row by row of its views; exact numbers; and what of it is asked for.

For wfstat_tables.py, which works the tables out a second time."""
import collections
import contextlib
import decimal
import fnmatch
import fractions
import sqlite3

FOREVER = 2**63 - 1
decimal.getcontext().prec = 80


# ---- what is in a trace ----

VIEWS = ("process", "image", "program", "environ", "sample", "file", "op", "handle", "use",
         "access", "ghost", "process_time", "device_io", "process_metric")
# Columns with the id of a row of another view, or of their own.
IDS = {"process": {"id": "process", "parent": "process", "part": "process"},
       "image": {"id": "image", "process": "process"},
       "program": {"image": "image", "process": "process"}, "environ": {"image": "image"},
       "sample": {"process": "process"}, "file": {"id": "file"},
       "op": {"id": "op", "process": "process", "image": "image", "file": "file",
              "file2": "file", "handle": "handle"},
       "handle": {"id": "handle", "process": "process", "image": "image", "file": "file"},
       "process_time": {"process": "process"}, "device_io": {"file": "file", "process": "process"},
       "use": {"handle": "handle", "process": "process", "image": "image", "file": "file"},
       "access": {"process": "process", "file": "file"}, "ghost": {"process": "process"}, "process_metric": {"process": "process"}}


def text_of(value):
    return value.decode(errors="surrogateescape") if isinstance(value, bytes) else value


class Row:
    """A row of a view: its columns are attributes."""

    def __init__(self, columns):
        self.__dict__.update(columns)


def begin_of(path):
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
        return int(db.execute("SELECT value FROM trace WHERE key = 'start_ns'").fetchone()[0])


class Data:
    """The rows of one trace, or of several that count as one: then ids are counted on."""

    def __init__(self, *paths):
        self.paths = paths
        self.rows = {view: [] for view in VIEWS}
        self.facts, self.all_facts = {}, []
        self.last = collections.Counter()
        for path in sorted(paths, key=begin_of):  # their processes are counted on in the order in which they began
            self.add(path)
        self.facts = self.all_facts[0] if len(paths) == 1 else self.merged_facts()
        self.index()

    def add(self, path):
        db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        db.text_factory = lambda b: b.decode(errors="surrogateescape")
        self.all_facts.append({k: text_of(v) for k, v in db.execute(
            "SELECT key, value FROM trace")})
        fidelity = self.all_facts[-1]["fidelity"]
        offset, same = dict(self.last), {}
        own = {str(number) for number, in db.execute("SELECT id FROM process")}
        for view in ("file", *[v for v in VIEWS if v != "file"]):
            cursor = db.execute(f"SELECT * FROM {view}")
            names = [column[0] for column in cursor.description]
            for values in cursor:
                row = dict(zip(names, values) if view == "image" else
                           ((n, text_of(v)) for n, v in zip(names, values)))
                self.number(view, row, offset, same)
                if view == "process":
                    row["fidelity"] = fidelity
                    if row["job"] in own:
                        row["job"] = str(int(row["job"]) + offset.get("process", 0))
                if row:
                    self.rows[view].append(Row(row))
        db.close()

    def number(self, view, row, offset, same):
        for column, what in IDS[view].items():
            if row[column] is None:
                continue
            old, row[column] = row[column], row[column] + offset.get(what, 0)
            if view == what and column == "id":
                self.last[what] = max(self.last[what], row[column])
            if view == "file":
                known = self.known_file(row)
                if known:
                    same[old] = known.id
                    known.size_last = row["size_last"] if row["size_last"] is not None \
                        else known.size_last
                    known.deleted, known.created = row["deleted"], max(known.created,
                                                                       row["created"])
                    row.clear()
                    return
            elif what == "file":
                row[column] = same.get(old, row[column])

    def known_file(self, row):
        if len(self.all_facts) == 1:
            return None
        for file in self.rows["file"]:
            if (file.dev, file.ino, file.path) == (row["dev"], row["ino"], row["path"]) \
                    and not file.deleted:
                return file
        return None

    def merged_facts(self):
        facts = {}
        for key in self.all_facts[0]:
            values = [one.get(key) for one in self.all_facts]
            facts[key] = values[0] if len(set(values)) == 1 else None
        facts["start_ns"] = min(one["start_ns"] for one in self.all_facts)
        facts["fidelity"] = ",".join(sorted({one["fidelity"] for one in self.all_facts
                                             if one["fidelity"]})) or None
        return facts

    def index(self):
        self.processes = {row.id: row for row in self.rows["process"]}
        self.images = {row.id: row for row in self.rows["image"]}
        self.files = {row.id: row for row in self.rows["file"]}
        self.handles = {row.id: row for row in self.rows["handle"]}
        names = {row.image: row.name for row in self.rows["program"]}
        last = {}
        for image in self.images.values():
            image.program = names.get(image.id)
            if image.process not in last or image.seq > last[image.process].seq:
                last[image.process] = image
        for process in self.processes.values():
            process.last = last.get(process.id)
            process.program = process.last and process.last.program
        self.variables = {(row.image, row.name): row.value for row in self.rows["environ"]}
        self.t0 = self.facts["start_ns"]
        self.has_ops, self.has_files = bool(self.rows["op"]), self.facts["fidelity"] is not None
        self.used = collections.defaultdict(set)
        for access in self.rows["access"]:
            self.used[access.process].add(access.file)


# ---- numbers ----

def nearest(a, b=1):
    return float(fractions.Fraction(a) / b)


def exactly(values):
    return [value if isinstance(value, int) else fractions.Fraction(value) for value in values]


def mean_of(values):
    return nearest(sum(exactly(values)), len(values))


def deviation_of(values):
    exact = exactly(values)
    square = len(exact) * sum(x * x for x in exact) - sum(exact) ** 2
    square = fractions.Fraction(square)
    root = (decimal.Decimal(square.numerator) / decimal.Decimal(square.denominator)).sqrt()
    return float(root / len(exact))


def quantile_of(ordered, percent):
    """Nearest rank."""
    return ordered[max(1, -(-percent * len(ordered) // 100)) - 1]


def known_sum(values):
    values = list(values)
    return None if None in values else sum(values)


def cell(value):
    """As CSV has it."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, fractions.Fraction):
        value = float(value)
    return "%.15g" % value if isinstance(value, float) else str(int(value))


# ---- what is asked for ----

class Choice:
    """Options of wfstat and what they mean."""

    def __init__(self, by=None, per=None, include=(), exclude=(), phase=None, phases=(), job=None,
                 process=None, since=None, until=None, of=None, files=False, interval=None,
                 memory=None, sizes=None, layer=None, long=False):
        self.__dict__.update({k: v for k, v in locals().items() if k != "self"})
        self.since_ns = round(float(since) * 1e9) if since else 0
        self.until_ns = round(float(until) * 1e9) if until else 0
        self.timed = bool(since or until)

    def words(self):
        names = {"since": "from", "until": "to"}
        said = []
        for name in ("by", "per", "phase", "job", "process", "since", "until", "of", "interval",
                     "memory", "sizes", "layer"):
            if getattr(self, name) is not None:
                said += [f"--{names.get(name, name)}", str(getattr(self, name))]
        for name, option in (("include", "include"), ("exclude", "exclude"), ("phases", "phase")):
            for glob in getattr(self, name):
                said += [f"--{option}", glob]
        return said + ["--files"] * self.files + ["--long"] * self.long


SPREAD = {"process": ("pid", "command"), "file": ("path",)}
CLASSES = {"read": "read", "recv": "read", "write": "write", "send": "write", "copy": "write", "sendfile": "write",
           "splice": "write", "lseek": "position"}
OF_FILES = {"file": "id", "path": "path", "fstype": "fstype", "mount": "mount"}


class Reference:
    """A trace as seen through a choice.  process_only: rows have no file."""

    def __init__(self, data, choice, process_only=False):
        self.data, self.choice, self.process_only = data, choice, process_only
        self.hand = self.phases_by_hand()
        self.chosen = {p.id for p in data.processes.values() if self.is_chosen(p)}
        self.alive = {number for number in self.chosen if self.lives(data.processes[number])}

    # -- conditions --

    def in_time(self, first, last):
        c, t0 = self.choice, self.data.t0
        if not c.timed:
            return True
        if first is None or last is None:
            return False
        return last >= t0 + c.since_ns and (not c.until_ns or first < t0 + c.until_ns)

    def lives(self, process):
        end = FOREVER if process.end_ns is None else process.end_ns
        return self.in_time(process.start_ns, end)

    @staticmethod
    def kind(glob):
        for kind in "path", "command":
            if glob.startswith(kind + ":"):
                return kind, glob[len(kind) + 1:]
        return "either", glob

    @staticmethod
    def runs(process, glob, whole):
        if process is None:
            return False
        texts = [process.program] + [process.command] * (whole or " " in glob)
        return any(text is not None and fnmatch.fnmatchcase(text, glob) for text in texts)

    @staticmethod
    def is_called(file, glob):
        if file is None or file.path is None:
            return False
        return fnmatch.fnmatchcase(file.path if "/" in glob else file.path.rsplit("/", 1)[-1], glob)

    def fits(self, kind, glob, process, file):
        if kind != "path" and self.runs(process, glob, kind == "command"):
            return True
        if kind == "command":
            return False
        if self.process_only:
            return process is not None and any(
                self.is_called(self.data.files[number], glob)
                for number in self.data.used[process.id] if number in self.data.files)
        return self.is_called(file, glob)

    def passes(self, kinds, process, file):
        """Each kind of glob that is to include must; of those that exclude none."""
        c = self.choice
        include = [glob for glob in map(self.kind, c.include) if glob[0] in kinds]
        groups = [include] if self.process_only else [
            [glob for glob in include if glob[0] == kind] for kind in kinds]
        if any(group and not any(self.fits(*glob, process, file) for glob in group)
               for group in groups):
            return False
        return not any(self.fits(*glob, process, file) for glob in map(self.kind, c.exclude)
                       if glob[0] in kinds)

    def process_kinds(self):
        return ("path", "command", "either") if self.process_only else ("command",)

    def is_chosen(self, process):
        c = self.choice
        return ((c.phase is None or self.phase(process) == c.phase)
                and (c.job is None or process.job == c.job)
                and (c.process is None or process.id == c.process)
                and self.passes(self.process_kinds(), process, None))

    def narrows(self):
        """Does the choice leave out rows without a known process?"""
        c, kinds = self.choice, self.process_kinds()
        return bool(c.phase or c.job or c.process or any(
            self.kind(glob)[0] in kinds for glob in (*c.include, *c.exclude)))

    def takes(self, process, file=None, first=None, last=None, timed=True):
        """A row that belongs to these."""
        if self.narrows() and process not in self.chosen:
            return False
        if timed and not self.in_time(first, last):
            return False
        return self.process_only or self.passes(
            ("path", "either"), self.data.processes.get(process), self.data.files.get(file))

    # -- what rows are grouped by --

    def phases_by_hand(self):
        found = {}
        for process in self.data.processes.values():
            for n, (_, glob) in enumerate(word.split("=", 1) for word in self.choice.phases):
                if self.runs(process, glob, True):
                    key = process.job or process.id
                    found[key] = min(found.get(key, n), n)
                    break
        return {key: self.choice.phases[n].split("=")[0] for key, n in found.items()}

    def phase(self, process):
        return self.hand.get(process.job or process.id, process.phase)

    def names(self, default):
        """Columns of the keys."""
        names = []
        for word in (self.choice.by or default).split(","):
            for name in (word, *SPREAD.get(word, ())):
                name = name if name.startswith("env:") or name not in names else None
                names += [name] if name else []
        return names

    def key(self, names, process=None, image=None, file=None, op=None, images=False):
        """images: the program that the process ran then counts, not its last one."""
        process, file = self.data.processes.get(process), self.data.files.get(file)
        program = self.data.images.get(image) if images else process
        return tuple(self.one_key(name, process, program, file, op) for name in names)

    def one_key(self, name, process, program, file, op):
        if name == "all":
            return "all"
        if name == "operation":
            return op
        if name == "class":
            return CLASSES.get(op, "administration")
        if name in ("command", "exe"):
            return program and getattr(program, {"command": "program"}.get(name, name))
        if name in OF_FILES:
            return file and getattr(file, OF_FILES[name])
        if name == "directory":
            return file and file.path and (file.path.rpartition("/")[0].rstrip("/") or "/")
        if not process:
            return None
        if name.startswith("env:"):
            return self.data.variables.get((process.last and process.last.id, name[4:]))
        if name == "step":
            return self.hand.get(process.job or process.id, process.step)
        if name == "phase":
            return self.phase(process)
        return getattr(process, {"process": "id"}.get(name, name))

    def has_file_keys(self, names):
        return any(name in OF_FILES or name == "directory" for name in names)

    def unit(self, process, per_job):
        """What counts once, and what that is."""
        row = self.data.processes.get(process)
        if per_job and row and row.job is not None:
            return ("job", row.job), "job"
        return process, "process"

    def living(self):
        return [self.data.processes[number] for number in sorted(self.alive)]


def heads(names):
    return list(names)
