# SPDX-License-Identifier: MIT
"""A trace, and the trace of its replay (ftrac replay), compared: what each process did in its order, and what came before what."""
import bisect
import collections
import sqlite3

NOT_DONE = {"mprotect", "mremap", "msync", "splice", "lock", "socket", "connect", "accept", "send", "recv"}
DATA = {"read", "write", "truncate", "mmap"}
PIPES = "pipe:["
DEVICE_DONE = {"open", "create", "opendir", "close", "dup", "fcntl", "getattr"}

Op = collections.namedtuple("Op", "name path offset bytes fails start end tid")


class Side:
    """The operations of each process, of a trace; root: the directory in which paths are, for a replay."""

    def __init__(self, path, root=""):
        self.root, self.db = root, sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        self.db.text_factory = lambda b: b.decode(errors="surrogateescape")
        self.kinds = dict(self.db.execute("SELECT id, kind FROM file"))
        self.exists = {}
        self.ops = collections.defaultdict(list)
        first = min((row[0] for row in self.db.execute("SELECT id FROM process")), default=None)
        self.first = first
        for row in self.db.execute("SELECT process, name, path, offset, bytes, result, start_ns, latency_ns, file, tid FROM op "
                                   "WHERE process NOTNULL ORDER BY start_ns, id"):
            self.add(*row)

    def add(self, process, name, path, offset, size, result, start, latency, file, tid):
        if self.root:
            if process == self.first:
                return  # the program that replays, which has prepared the rest
            if path and path.startswith("/"):
                if path != self.root and not path.startswith(f"{self.root}/"):
                    raise AssertionError(f"{name} of '{path}', which is not below {self.root}")
                path = path[len(self.root):] or "/"
        self.ops[process].append((Op(name, path, offset, size, result < 0 and result, start, start + latency, tid), file, result))

    def children(self):
        """The processes that each one started, in that order."""
        found = collections.defaultdict(list)
        ids = [row[0] for row in self.db.execute("SELECT id FROM process")]
        for process, parent in self.db.execute("SELECT id, parent FROM process ORDER BY start_ns, id"):
            found[parent if parent in ids else None].append(process)
        return found


def pairs(one, two):
    """The processes of both, as their parents started them.  Those of the replay are below its first one."""
    a, b = one.children(), two.children()
    found, todo = [], [(None, two.first)]
    while todo:
        x, y = todo.pop()
        if len(a[x]) != len(b[y]):
            raise AssertionError(f"process {x} has {len(a[x])} children, and {len(b[y])} in the replay")
        for pair in zip(a[x], b[y]):
            found.append(pair)
            todo.append(pair)
    return found


def is_compared(side, op, file, result):
    """Whether a replay does this, and a trace of it shows that: see REPLAY in ftrac(1)."""
    kind = side.kinds.get(file)
    if op.name in NOT_DONE or op.fails in (-11, -4) or (op.name == "ioctl" and result >= 0) or op.name == "munmap":
        return False
    if op.path and op.path.startswith(PIPES):  # ends are closed where programs execute others
        return op.name in ("read", "write") and not op.fails
    return op.path is None or op.path.startswith("/") and kind not in ("char", "terminal", "block", "fifo", "socket", "anon", "memfd", "eventfd") or \
        op.path.startswith("/") and not op.name in ("read", "write", "mmap", "lseek", "ioctl", "fsync") and kind is None


class Compared:
    """one, two: sides.  same: a list of the differences, by process."""

    def __init__(self, one, two):
        self.differences, self.n, self.orders, self.broken = [], 0, 0, []
        self.counts = [collections.Counter(), collections.Counter()]
        self.bytes = [collections.Counter(), collections.Counter()]
        matches = {}
        skipped = self.devices(one)
        for a, b in pairs(one, two):
            threads = [self.threads(one, a, skipped), self.threads(two, b, skipped)]
            if len(threads[0]) != len(threads[1]):
                self.differences.append((a, b, "threads", len(threads[0]), len(threads[1])))
            for thread, lists in enumerate(zip(*threads)):
                self.add((a, thread), (b, thread), lists, matches)
        self.check_order(matches)

    @staticmethod
    def devices(side):
        """Paths of what is no file: in a replay empty files stand for them."""
        kinds = ("char", "terminal", "block", "fifo", "socket")
        bound = {local for local, in side.db.execute("SELECT local FROM socket WHERE local NOTNULL")}  # a call that makes a file, and is none of those recorded
        return bound | {path for path, kind in side.db.execute("SELECT path, kind FROM file") if kind in kinds and not path.startswith(PIPES)}

    def add(self, a, b, lists, matches):
        names = [[self.key(op) for op in ops] for ops in lists]
        self.n += len(lists[0])
        if names[0] != names[1]:
            self.differences.append((a, b, self.first_difference(*names)))
        for i, ops in enumerate(lists):
            for op in ops:
                self.counts[i][op.name, bool(op.fails)] += 1
                self.bytes[i][op.name, self.name(op)] += op.bytes or 0
        matches.update(((a, i), pair) for i, pair in enumerate(zip(*lists)))

    def joined(self, ops):
        """How much a read of a pipe gets at once depends on the moment: reads of one pipe in a row are one."""
        found = []
        for op in ops:
            last = found[-1] if found else None
            if op.name == "read" and self.name(op) == PIPES and op.bytes and last and (last.name, last.path) == ("read", op.path) and last.bytes:
                found[-1] = last._replace(bytes=last.bytes + op.bytes, end=op.end)
            else:
                found.append(op)
        return found

    def threads(self, side, process, skipped):
        """The operations of each thread.  Threads that do the same are alike."""
        found = collections.defaultdict(list)
        for op, file, result in side.ops[process]:
            if is_compared(side, op, file, result) and op.path not in skipped:
                found[op.tid].append(op)
        return sorted(map(self.joined, found.values()), key=lambda ops: [list(map(repr, self.key(op))) for op in ops])

    @staticmethod
    def name(op):
        return PIPES if op.path and op.path.startswith(PIPES) else op.path

    def key(self, op):
        piped = self.name(op) == PIPES
        # A lookup that fails ends at the first name that is missing.
        return op.name, self.name(op), None if piped else op.offset, op.bytes, op.fails

    @staticmethod
    def first_difference(a, b):
        at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
        return at, len(a), len(b), a[max(0, at - 2):at + 3], b[max(0, at - 2):at + 3]

    def check_order(self, matches):
        """Each operation on data or a name comes after the last one of another process that changed it, as in the trace."""
        changes = collections.defaultdict(list)
        for (process, _), (one, two) in matches.items():
            if one.path and not one.fails and one.name in ("write", "create", "unlink", "mkdir", "rmdir", "truncate", "symlink", "mknod"):
                changes[one.path].append((one.end, process, one, two))
        for found in changes.values():
            found.sort(key=lambda row: row[0])
        ends = {path: [row[0] for row in found] for path, found in changes.items()}
        for (process, _), (one, two) in matches.items():
            found = changes.get(one.path, [])
            limit = one.end if self.name(one) == PIPES and one.name == "read" else one.start
            at = bisect.bisect_right(ends.get(one.path, []), limit) - 1
            # The same thread; or data, which an open does not wait for.
            while at >= 0 and (found[at][1] == process or found[at][2].name in DATA and one.name not in DATA):
                at -= 1
            if at < 0:
                continue
            self.orders += 1
            before = found[at][3]
            after = two.end if limit == one.end else two.start
            if before.end > after:
                self.broken.append((before, two))
