#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 6
"""Where the time of processes went, as the record in the kernel has it: of programs that wait for a known thing for at least
a known time.  The parts add up to the life of each process."""
import pathlib
import subprocess
import tempfile

import kernelleft
from ftractest import Checks, InKernel, need, need_kernel

# late(): of another process or thread: until the first thread waits, however long it takes to come to that, and then for longer than it
# has to.
BEGIN = """\
import os, select, socket, threading, time, fcntl, mmap, signal
first = os.getpid()
def late(seconds=0.4):
    looks = 0
    while looks < 3:
        time.sleep(0.005)
        with open(f"/proc/{first}/task/{first}/stat") as f:
            looks = looks + 1 if f.read().rpartition(")")[2].split()[0] in "ST" else 0
    time.sleep(seconds)
"""
# What: (part, seconds at least, program).  The waiting thread is the first one.
WAITS = {
    "sleep": ("sleep_ns", 0.3, "time.sleep(0.4)"),
    "pipe": ("pipe_ns", 0.3, "r, w = os.pipe()\nif os.fork() == 0:\n late(); os.write(w, b'x'); os._exit(0)\nos.read(r, 1)"),
    "pipe that is full": ("pipe_ns", 0.3, "r, w = os.pipe()\nif os.fork() == 0:\n late(); os.read(r, 1 << 20); os._exit(0)\n"
                          "os.write(w, bytes(70000))"),
    "fifo": ("pipe_ns", 0.3, "os.mkfifo('f')\nif os.fork() == 0:\n late(); open('f', 'w'); os._exit(0)\nopen('f')"),
    "socket": ("socket_ns", 0.3, "a, b = socket.socketpair()\nif os.fork() == 0:\n late(); a.send(b'x'); os._exit(0)\nb.recv(1)"),
    "accept": ("socket_ns", 0.3, "s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen()\nif os.fork() == 0:\n late(); "
               "socket.create_connection(s.getsockname()); os._exit(0)\ns.accept()"),
    "lock of threads": ("lock_ns", 0.3, "l = threading.Lock(); l.acquire(); threading.Thread(target=lambda: (late(), l.release())).start(); l.acquire()"),
    "flock": ("lock_ns", 0.3, "f = open('l', 'w'); g = open('l', 'w'); fcntl.flock(f, fcntl.LOCK_EX)\n"
              "threading.Thread(target=lambda: (late(), fcntl.flock(f, fcntl.LOCK_UN))).start(); fcntl.flock(g, fcntl.LOCK_EX)"),
    "lock of a range": ("lock_ns", 0.3, "f = open('l', 'w')\nr, w = os.pipe()\nif os.fork() == 0:\n fcntl.lockf(f, fcntl.LOCK_EX); "
                        "os.write(w, b'x'); late(); os._exit(0)\nos.read(r, 1); fcntl.lockf(f, fcntl.LOCK_EX)"),
    "child": ("child_ns", 0.3, "if os.fork() == 0:\n late(); os._exit(0)\nos.wait()"),
    "event": ("event_ns", 0.3, "r, w = os.pipe(); select.select([r], [], [], 0.4)"),
    "eventfd": ("event_ns", 0.3, "e = os.eventfd(0)\nif os.fork() == 0:\n late(); os.eventfd_write(e, 1); os._exit(0)\nos.read(e, 8)"),
    "stopped": ("stopped_ns", 0.3, "p = os.getpid()\nif os.fork() == 0:\n late(); os.kill(p, signal.SIGCONT); os._exit(0)\n"
                "os.kill(p, signal.SIGSTOP)"),
    "poll that goes on after a stop": ("event_ns", 0.25, "p = os.getpid(); r, w = os.pipe()\nif os.fork() == 0:\n late(0.1); "
                                       "os.kill(p, signal.SIGSTOP); time.sleep(0.1); os.kill(p, signal.SIGCONT); os._exit(0)\n"
                                       "q = select.poll(); q.register(r, select.POLLIN); q.poll(700)"),
    "sendfile to a full pipe": ("pipe_ns", 0.3, "open('big', 'wb').write(bytes(1 << 20)); f = open('big', 'rb'); r, w = os.pipe()\n"
                                "if os.fork() == 0:\n os.close(w); late()\n while os.read(r, 1 << 20): pass\n os._exit(0)\n"
                                "os.close(r); n = 0\nwhile n < 1 << 20: n += os.sendfile(w, f.fileno(), n, 1 << 20)"),
    "sendfile to a full socket": ("socket_ns", 0.3, "open('big', 'wb').write(bytes(1 << 22)); f = open('big', 'rb'); a, b = socket.socketpair()\n"
                                  "if os.fork() == 0:\n a.close(); late()\n while b.recv(1 << 20): pass\n os._exit(0)\n"
                                  "b.close(); n = 0\nwhile n < 1 << 22: n += os.sendfile(a.fileno(), f.fileno(), n, 1 << 22)"),
    "open of a file with a lease": ("file_ns", 0.3, "f = open('l', 'w'); f.close(); r, w = os.pipe()\nif os.fork() == 0:\n"
                                    " signal.signal(signal.SIGIO, signal.SIG_IGN); g = open('l', 'r+'); "
                                    "fcntl.fcntl(g, fcntl.F_SETLEASE, fcntl.F_WRLCK); os.write(w, b'x'); late(); "
                                    "fcntl.fcntl(g, fcntl.F_SETLEASE, fcntl.F_UNLCK); os._exit(0)\nos.read(r, 1); open('l')"),
    "running": ("running_ns", 0.3, "while time.process_time() < 0.31: pass"),
    "file": ("file_ns", 0.0, "f = open('d', 'wb', buffering=0)\nfor i in range(8): f.write(bytes(1 << 20)); os.fsync(f.fileno())"),
}
PARTS = ("running_ns queue_ns file_ns pipe_ns socket_ns lock_ns child_ns sleep_ns event_ns memory_ns stopped_ns "
         "other_ns").split()


# Two ends of a life are not seen at the same moment.  An emulated processor takes longer, and its scheduler's clock goes by ticks.
APART_NS = 20 * 10**6 if "QEMU" in pathlib.Path("/proc/cpuinfo").read_text() else 10**6


def processes(run):
    return run.sql(f"SELECT p.id, p.comm, p.end_ns - p.start_ns, p.cpu_ns, t.threads_ns, {', '.join(PARTS)} "
                   "FROM process p JOIN process_time t ON t.process = p.id")


def check_sums(checks, name, rows, has_threads):
    """A process of one thread: its life is that of the thread."""
    for number, comm, life, cpu, total, *parts in rows:
        checks.equal(f"{name}: process {number} ({comm}): the sum of the parts", sum(parts), total)
        if number > 1 and not has_threads:
            checks.check(f"{name}: process {number} ({comm}): the parts are its life", abs(total - life) <= life // 100 + APART_NS, (total, life))
        # The first one from its exec on.  What a process does after its end, such as giving back its memory, is CPU time, too.
        checks.check(f"{name}: process {number} ({comm}): it runs as long as the kernel counts",
                     number == 1 or parts[0] >= cpu * 0.99 - 15 * APART_NS, (parts[0], cpu))


def check(checks, name, part, seconds, text):
    with tempfile.TemporaryDirectory(prefix="ftrac-case-") as directory:
        run = InKernel(directory)
        done = subprocess.run([*run.command("-q", "--strict"), "sh", "-c", "/usr/bin/python3 -S -c \"$0\"; true", BEGIN + text],
                              cwd=directory, check=False, capture_output=True, text=True, timeout=100, stdin=subprocess.DEVNULL)
        checks.equal(f"{name}: exit status", (done.returncode, done.stderr), (0, ""))
        rows = processes(run)
        check_sums(checks, name, rows, "threading" in text)
        waiting = rows[1][5 + PARTS.index(part)] / 1e9
        checks.check(f"{name}: at least {seconds} s of {part}", waiting >= seconds and waiting > 0, dict(zip(PARTS, rows[1][5:])))
        return len(rows)


def main():
    need_kernel()
    need("python3")
    if not pathlib.Path("/usr/bin/python3").exists():
        need("/usr/bin/python3")
    checks = Checks()
    n = sum(check(checks, name, *of) for name, of in WAITS.items())
    print(f"{len(WAITS)} ways to wait, {n} processes, {len(PARTS)} parts")
    kernelleft.end(checks)


main()
