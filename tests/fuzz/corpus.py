#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""corpus.py DIRECTORY: writes what the targets of libFuzzer begin with, DIRECTORY/TARGET/*, and the words
that command lines are made of, DIRECTORY/TARGET.dict."""
import pathlib
import re
import struct
import sys

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parent.parent


# ---- netlink ----

def netlink(kind, payload):
    size = 16 + len(payload)
    return struct.pack("=IHHII", size, kind, 0, 1, 0) + payload + bytes(-size % 4)


def connector(what, *words):
    event = struct.pack("=IIQ", what, 0, 12345) + struct.pack(f"={len(words)}I", *words)
    return netlink(3, struct.pack("=IIIIHH", 1, 1, 5, 6, len(event), 0) + event)


def attribute(kind, payload):
    size = 4 + len(payload)
    return struct.pack("=HH", size, kind) + payload + bytes(-size % 4)


def taskstats(version, size, group=False):
    stats = struct.pack("=H", version) + bytes(i % 7 for i in range(size - 2))
    inside = attribute(2 if group else 1, struct.pack("=I", 200)) + attribute(3, stats)
    return attribute(5 if group else 4, inside)


def genetlink(*attributes):
    return netlink(23, struct.pack("=BBH", 2, 1, 0) + b"".join(attributes))


VERSIONS = [(8, 328), (10, 352), (12, 400), (14, 432), (15, 560), (16, 560), (17, 688), (99, 1024)]

# ---- events ----

KINDS = "none text node forget mount op process fork thread exec exit figures sample".split()
OPS = re.findall(r"^\tX\([A-Z]+, ([a-z]+), record_", (TOP / "db/event.h").read_text(), re.MULTILINE)


def event(kind, body=b"", text=b"", op=0, tid=0, time=0):
    head = struct.pack("=BBBBIiIq", KINDS.index(kind), op, 0, 0, 0, tid, 0, time)
    told = head + body
    return bytes([len(told), len(text)]) + told + text


def node(number, mode=0o100644):
    return event("node", struct.pack("=QQQqqQII", number, 8, number, 1, 10, 1, mode, 1))


def operation(name, file, other=0, handle=0, result=0, text=b""):
    return event("op", struct.pack("=qqQQQqQII", 7, result, file, other, handle, 0, 10, 0, 0), text,
                 OPS.index(name), 10, 1000)


def part(text):
    return struct.pack("=I", len(text)) + text


def process(kind, pid, parent):
    text = b"".join(map(part, [b"/bin/cc", b"/", b"cc", b"cc\0-c\0a.c\0", b"FTRAC_JOB=x\0", b"/dev/null",
                               b"", b"", b"/job"]))
    return event(kind, struct.pack("=iiiiqIIBBB", pid, parent, pid, 0, 500, 0, 0, 2, 0, 1), text, time=500)


EVENTS = [
    node(1, 0o40755), process("process", 10, 1), process("fork", 20, 10), process("exec", 20, 10), node(2),
    operation("lookup", 1, 2, text=b"a"), operation("open", 2, handle=1),
    operation("read", 2, handle=1, result=10), operation("write", 2, handle=1, result=10),
    operation("rename", 1, 1, text=b"a\0b"), operation("release", 2, handle=1),
    operation("unlink", 1, text=b"b"), process("exit", 20, 10), event("forget", struct.pack("=Q", 2))]
STREAM = b"\1" + b"".join(EVENTS)
LONG = b"".join(bytes([7 * i % 64]) + told for i, told in enumerate(EVENTS)) # texts many times over

# ---- the rest ----

STAT = "7 (a b) c) S 1 7 7 0 -1 4194304 100 0 2 0 3 4 0 0 20 0 1 0 12345 1000 50 18446744073709551615 " \
       "1 2 3 0 0 0 0 0 0 0 0 0 17 1 0 0 0 0 0 4 5 6 7 8 9 10 0\n"
STATUS = "Name:\ta\nTgid:\t7\nPid:\t7\nPPid:\t1\nUid:\t1\t2\t3\t4\nGid:\t1\t2\t3\t4\nVmPeak:\t  100 kB\n" \
         "VmHWM:\t 50 kB\nvoluntary_ctxt_switches:\t3\nnonvoluntary_ctxt_switches:\t4\n"
IO = "rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 5\nwrite_bytes: 6\n"
PROC = "%%\n".join([STAT, STATUS, IO, "cc\0-c\0a.c\0\n", "PATH=/bin\0FTRAC_X=1\0HOME=/\0\n",
                    "0::/user.slice/job\n1:cpu:/x\n", STATUS, "1 2 3\n", "100 50 3 1 0 5 0\n"])
COMMAND_LINES = [
    "/tmp", "-o\nsource=/tmp,db=x.db,allow_other\n/tmp", "--fidelity\nopen\n--stat\n/\n/tmp", "--help",
    "--scope\nfull\n--wait\n1.5\n--\nmake", "--make\n--wait=inf\n--env\nA*\nmake\n-j8",
    "--include\n*.c\n--exclude\n*.o\n--job\n1\n--xform\ny\n--locks\nnative\n--processes\nauto\n/tmp"]
TOOL_LINES = [
    "\0io\n--by\nphase\n--csv\ntrace.db", "\0hist\n--of\nlatency\n--interval\n0.5", "\0mem\n--memory\n64G",
    "\0sys\n--phase\nP=*cc*\n--from\n1\n--to\n2.5", "\1--dot\n--max-nodes\n10\n--width\nrate",
    "\1whatif\n--cores\n4\n--faster\n*=2x", "\1--between\nA\n--between\nB\n--json",
    "\2--kinds\nmissing,ghost\n--fail-on\nmissing", "\3--fail-on\ntime:10%,graph\na.db\nb.db",
    "\5--make\n--level\nprocess",
    "\4-o\n-\n--max-nodes\n10\n--above\n1ms\n--title\nx\ntrace.db"]
STRACE = [
    "7 1700000000.1 execve(\"/bin/sh\", [\"sh\", \"-c\", \"a\"...], 0x7ff /* 3 vars */) = 0 <0.1>\n"
    "7 1700000001.1 openat(AT_FDCWD</w>, \"a\\n\\303\\xa4\", O_RDWR|O_CREAT|O_CLOEXEC, 0666) = 3</w/a> <0.1>\n"
    "7 1700000002.1 clone(child_stack=NULL, flags=CLONE_VM|CLONE_FILES|SIGCHLD <unfinished ...>\n"
    "8 1700000002.2 read(3</w/a>, \"x\"..., 9) = 9 <0.1>\n7 1700000002.3 <... clone resumed>) = 8 <0.2>\n"
    "8 1700000003.1 rename(\"a\", \"/w/b\") = 0\n8 1700000003.2 +++ killed by SIGKILL (core dumped) +++\n",
    "7 12:00:00 pipe2([3<pipe:[5]>, 4<pipe:[5]>], O_CLOEXEC) = 0\n7 12:00:01.5 dup2(4<pipe:[5]>, 1) = 1<pipe:[5]>\n"
    "7 12:00:02 writev(1<pipe:[5]>, [{iov_base=\"a\", iov_len=1}, {iov_base=\"b\", iov_len=1}], 2) = 2\n"
    "7 12:00:03 fcntl(1, F_DUPFD_CLOEXEC, 10) = 10\n7 12:00:03 close_range(3, 4294967295, CLOSE_RANGE_CLOEXEC) = 0\n"
    "7 12:00:04 mmap(0x10000, 4096, PROT_READ|PROT_WRITE, MAP_SHARED, 10</w/c>, 0x1000) = 0x10000\n"
    "7 12:00:05 munmap(0x10000, 4096) = 0\n7 12:00:06 chdir(\"..\") = 0\n7 12:00:07 mkdirat(3</w (deleted)>, \"d\", 0777) = -1 ENOENT (No such file)\n",
    "[pid 7] 1700000000.1 socketpair(AF_UNIX, SOCK_STREAM, 0, [3<UNIX-STREAM:[5->6]>, 4<UNIX-STREAM:[6->5]>]) = 0\n"
    "[pid 7] 1700000000.2 sendmmsg(3, [{msg_hdr={msg_iov=[{iov_base=\"x\", iov_len=1}]}, msg_len=1}], 1, 0) = 1\n"
    "[pid 7] 1700000000.3 copy_file_range(3</a>, [1] => [2], 4</b>, NULL, 1, 0) = 1\n[pid 7] 1700000000.4 statx(AT_FDCWD, \"/x\", 0, 0, {stx_mode=S_IFDIR|0755}) = 0\n"
    "[pid 7] 1700000000.5 execve(\"/x\", [\"x\"], [] <unfinished ...>\n1 1700000000.6 +++ superseded by execve in pid 7 +++\n1 1700000000.7 <... execve resumed>) = 0\n"]
TEXTS = {
    "declared": ["ftrac-target /p\nall\na b c\n| d e\nftrac-target /p\nx\n\n\n"],
    "depfile": ["a.o: a.c \\\n b\\ c.h $$x \\#y\nb c : d\n\tcc\nX = 1\nd:\n", "c:\\a.o: c:/b.c\r\n e: f;x\n"],
    "rulefile": ["0A = a.c\\\n b.c\n$(A:.c=.o) x/%: $A $(shell y) | z ; c\n\tr\ndefine D\na.o:\nendef\nB += ${A:%.c=%.o}\n",
                 "1x = a.o\nbuild $x | ${x}$ y $\n : cat z$:1 || w\n  v = 1\n", "2target,prerequisite\n\"a.o\"\"\",b\n"],
    "edges": ['{"artifacts":[{"id":1,"pathFragmentId":2},{"id":2,"pathFragmentId":3},{"id":3,"pathFragmentId":1}],"actions":[{"outputIds":[1],'
              '"inputDepSetIds":[1]},{"outputIds":[3],"mnemonic":"Middleman","inputDepSetIds":[2]}],"depSetOfFiles":[{"id":1,"directArtifactIds":[3],'
              '"transitiveDepSetIds":[2,1]},{"id":2,"directArtifactIds":[2]}],"pathFragments":[{"id":1,"label":"a"},{"id":2,"label":"b","parentId":1},'
              '{"id":3,"label":"c","parentId":3}]}', '{"artifacts":[{"id":"1","execPath":"a"}],"actions":[{"outputIds":["1"]}]}',
              "target,prerequisite,kind\na,b,\n\"c\"\"d\",\"e,f\",order-only\r\ng,,normal\n",
              "kind,prerequisite,target\nnormal,\"x\ny\",z\n"],
    "globs": ["*.c\n/usr/*\n/home/a.c", "path:*[a-z]?\ncommand:cc*\n/a/b", "P=*x*\n[!a]\nx"],
    "mountinfo": ["36 35 98:0 /r /mnt/a\\040b ro,noatime master:1 - ext3 /dev/r rw\n"
                  "1 0 0:1 / / rw - rootfs none rw\n"],
    "ninja": ["a: cc\nb.o: cc\n%%\na:\n  input: cc\n    b.o\n    | c\n    || d\n  outputs:\n    all\n%%\n"
              "b.o: #deps 2, deps mtime 1 (VALID)\n    x.h\n    y.h\n\n"],
    "options": COMMAND_LINES,
    "proc": [PROC],
    "strace": STRACE,
    "text": ["plain", "a\0b\0", "\u00e4\u20ac\U0001f600", "\3\0\0\0abc\xff\xff\xff\xff"],
    "tool_options": TOOL_LINES,
}
COMMANDS = range(len(re.findall(r'^\t\{ "wf', (HERE / "traces.h").read_text(), re.M)))
HOSTILE_LINES = [
    b"x", b'a\'b"c; DROP TABLE meta; --', b"", b"INTEGER DEFAULT 9e18", b"GENERATED ALWAYS AS (id + 1)",
    b"CREATE VIEW v AS SELECT * FROM v", b"CREATE TABLE process (id, parent)", b"DROP VIEW op",
    b"CREATE TRIGGER t INSTEAD OF INSERT ON op BEGIN SELECT 1; END", b"CREATE VIRTUAL TABLE v USING fts5(x)",
    b"PRAGMA user_version = 99", b"CREATE INDEX i ON files (id, load_extension('x'))",
    b"UPDATE processes SET parent = (SELECT max(id) FROM processes) + 1 - id",
    b"DELETE FROM meta", b"DELETE FROM processes", b"INSERT INTO meta VALUES ('start_ns', 'x')"]


def record(kind, rest, call=0, flags=0):
    """A record of kernel/wire.h behind its length."""
    text = struct.pack("=BBHiq", kind, flags, call, 7, 100) + rest
    return struct.pack("=H", len(text)) + text


def kernel_name(number, parent, flags, text):
    return record(1, struct.pack("=QQQqIIIIIiI", number, parent, 9 + number, 0, 5, 1, 0o40755, 1, 0, 1, len(text)) + text,
                  flags=flags)


def kernel_call(kind, call, flags=0, tail=b""):
    return record(kind, struct.pack("=qqQQqQII", 3, 3, 50, 0, 0, 10, 0, 0) + tail, call, flags)


def kernel_path(call, flags=0, text=b"name\0", second=b"other\0"):
    return kernel_call(6, call, flags, struct.pack("=QQQQqIIIHH", 1, 1, 2, 9, 0, 1, 0, 1, len(text), len(second)) + text + second)


KERNEL = kernel_name(1, 0, 1, b"/") + kernel_name(2, 1, 0, b"name") + kernel_name(3, 0, 2, b"")
KERNEL_CALLS = b"".join(kernel_path(call) for call in range(90, 146)) + \
    b"".join(kernel_call(5, call, 1) for call in range(1, 90))
KERNEL_PROCESSES = record(9, struct.pack("=ii", 7, 1)) + record(10, struct.pack("=II", 2, 0) + b"a\0") + \
    record(4, struct.pack("=QQII", 50, 2, 0, 0)) + record(11, struct.pack("=iiIIQQQQQQII", 7, 7, 0, 0, 2, 2, 1, 2, 2, 2, 2, 0) +
                                                           bytes(1500)) + \
    record(12, bytes(16 + 104)) + record(13, bytes(16 + 104))

CORPUS = {name: [text.encode() for text in texts] for name, texts in TEXTS.items()} | {
    "connector": [connector(0, 0), connector(1, 10, 10, 20, 20) + connector(2, 20, 20),
                  connector(0x80000000, 20, 20, 256, 17)],
    "taskstats": [b"\3" + genetlink(taskstats(v, n)) for v, n in VERSIONS] +
                 [b"\3" + genetlink(taskstats(16, 560), taskstats(0, 560, True))],
    "translate": [KERNEL + KERNEL_CALLS, KERNEL + KERNEL_PROCESSES,
                  KERNEL + kernel_call(7, 1) + record(8, struct.pack("=QQqQQII", 0, 3, 5, 0, 0, 0, 0)) +
                  kernel_path(100, flags=8)],
    "events": [STREAM, b"\0" + STREAM[1:]],
    "writer": [b"\3" + LONG, b"\x80" + LONG, b"\7" + LONG],
    # Each command once, of a trace that is whole, and of one with a damage.
    "trace_pages": [bytes([i, 0, 0]) for i in COMMANDS] +
                   [bytes([i, 0, 0, 17 * i % 256, 255, i, i, 0]) for i in COMMANDS],
    "trace_values": [bytes([i]) for i in COMMANDS] +
                    [bytes([i, 5 * i % 256, 7 * i % 256, 15, 2, i]) for i in COMMANDS],
    "trace_schema": [bytes([i]) for i in COMMANDS] +
                    [bytes([i, i, 5 * i % 256, 7 * i % 256, i]) + HOSTILE_LINES[i % len(HOSTILE_LINES)]
                     for i in COMMANDS] +
                    [bytes([i, 11, 0, 0, 0]) + line + b"\n" for i, line in enumerate(HOSTILE_LINES)],
    "trace_merge": [bytes([i]) for i in range(14)] +
                   [bytes([i, 0, 5 * i % 256, 7 * i % 256, 15, 2, i, 3, i, i, i, i]) + b"x\n" for i in range(14)],
}


def words_of(*sources):
    """Long options, and what stands in quotes: names of values."""
    text = "".join((TOP / source).read_text() for source in sources)
    options = {f"--{name}" for name in re.findall(r'\{ "([a-z-]+)", (?:no|required)_argument', text)}
    return options | set(re.findall(r'"([a-z][a-z:-]{1,14}=?)"', text))


DICTIONARIES = {
    "options": words_of("ftrac/options.c") | {"full", "dir", "inf", "-o", "source=", "db=", "max_read="},
    "tool_options": words_of("dag/stat/options.c", "dag/wfdag/options.c", "dag/check/options.c",
                             "dag/diff/options.c", "dag/generate/options.c", "dag/report/options.c", "dag/trace/choice.c"),
}


def main():
    directory = pathlib.Path(sys.argv[1])
    for name, texts in CORPUS.items():
        (directory / name).mkdir(parents=True, exist_ok=True)
        for i, text in enumerate(texts):
            (directory / name / f"{i:02}").write_bytes(text)
    for name, words in DICTIONARIES.items():
        (directory / f"{name}.dict").write_text("".join(f'"{word}"\n' for word in sorted(words)))


main()
