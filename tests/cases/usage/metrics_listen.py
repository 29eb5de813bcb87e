#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""--metrics-listen: what a run has done so far, by HTTP, in the form that a request accepts; what has been scraped agrees with the trace.
Clients that send nonsense or nothing, are slow or many, neither delay others nor change the run; a used port, a file that is there and
wrong addresses are one line; the server has no rights."""
# seconds: 20
import atexit
import collections
import csv
import http.client
import os
import pathlib
import re
import signal
import socket
import subprocess
import tempfile
import time

from ftractest import Checks, FTRAC, need_fuse, need_module, skip

need_module("prometheus_client", "python3-prometheus-client")
from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics
from prometheus_client.parser import text_string_to_metric_families as prometheus

checks = Checks()
PROCMON = os.environ.get("PROCMON", "build/procmon/procmon")
WFSTAT = os.environ.get("WFSTAT", "build/dag/wfstat")
WRITES = 300
BY_MOUNT = (FTRAC, "run", "-q", "--files", "mount", "--scope", "dir")  # the record of the kernel may come when processors are idle
OPEN = "application/openmetrics-text; version=1.0.0; charset=utf-8"
PLAIN = "text/plain; version=0.0.4; charset=utf-8"


class Unix(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=60)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(str(self.path))


class Run:
    """A command that writes WRITES times and then waits for end(); the server's address."""
    def __init__(self, base, name, *program, listen=":0"):
        self.db, self.fifo, self.err = base / f"{name}.db", base / f"{name}.fifo", base / f"{name}.err"
        self.work = base / name
        self.work.mkdir()
        os.mkfifo(self.fifo)
        job = f"dd if=/dev/zero of=out bs=4096 count={WRITES} 2>/dev/null; cat nothing 2>/dev/null; read line <{self.fifo}"
        with open(self.err, "w", encoding="utf-8") as err:
            self.process = subprocess.Popen([*program, "--force", "--db", self.db, "--metrics-listen", listen, "--", "sh", "-c", job],
                                            cwd=self.work, stderr=err, start_new_session=True)
        atexit.register(self.kill)
        self.writer = open(self.fifo, "w", encoding="utf-8")  # waits for the job to read
        found = re.search(r"metrics are at http://(\S+):(\d+)/metrics\n", self.err.read_text())
        self.host, self.port = (found.group(1), int(found.group(2))) if found else (None, None)

    def kill(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.writer.close()
        self.process.wait(timeout=60)

    def connection(self):
        return http.client.HTTPConnection(self.host, self.port, timeout=60)

    def end(self):
        self.writer.write("\n")
        self.writer.close()
        return self.process.wait(timeout=120)


def get(connection, path="/metrics", method="GET", **headers):
    connection.request(method, path, headers=headers)
    answer = connection.getresponse()
    return answer.status, dict(answer.getheaders()), answer.read().decode()


def samples(text, read):
    found = collections.Counter()
    for family in read(text):
        for one in family.samples:
            found[one.name, one.labels.get("operation", ""), one.labels.get("le", "")] += one.value
    return found


def wait_for(connection, name, operation, count):
    """The samples that have it: those of an interval come when it is over."""
    for _ in range(600):
        found = samples(get(connection(), Accept=OPEN)[2], openmetrics)
        if found[name, operation, ""] >= count:
            return found
        time.sleep(0.1)
    raise AssertionError(f"no {count} of {operation}: {found}")


def forms(run):
    for accept, wanted, read in ((None, PLAIN, prometheus), ("text/plain", PLAIN, prometheus), ("application/openmetrics-text", OPEN, openmetrics),
                                 ("application/openmetrics-text;q=0.2,text/plain", PLAIN, prometheus)):
        status, headers, text = get(run.connection(), **({"Accept": accept} if accept else {}))
        checks.equal(f"Accept {accept}", (status, headers["Content-Type"]), (200, wanted))
        checks.check(f"Accept {accept}: samples", len(samples(text, read)) > 5, text)
        checks.equal(f"Accept {accept}: the end of OpenMetrics", text.endswith("# EOF\n"), wanted == OPEN)
    status, headers, text = get(run.connection(), method="HEAD")
    checks.check("HEAD", status == 200 and int(headers["Content-Length"]) > 100 and not text, headers)
    for path, method, wanted in (("/", "GET", 404), ("/metrics/", "GET", 404), ("/../etc/passwd", "GET", 404), ("//metrics", "GET", 404),
                                 ("/%2e%2e/%2e%2e/etc/passwd", "GET", 404), ("/metrics", "POST", 405), ("/metrics", "DELETE", 405)):
        status, headers, text = get(run.connection(), path, method)
        checks.check(f"{method} {path}", status == wanted and "root:" not in text and text.count("\n") == 1, (status, text))


def agree(run):
    """What was scraped of writes, and what wfstat hist has after the run."""
    found = wait_for(run.connection, "ftrac_operation_latency_seconds_count", "write", WRITES)
    checks.equal("writes", found["ftrac_operations_total", "write", ""], WRITES)
    checks.equal("bytes", found["ftrac_bytes_total", "write", ""], WRITES * 4096)
    checks.check("errors", found["ftrac_operation_errors_total", "lookup", ""] + found["ftrac_operation_errors_total", "open", ""] > 0, found)
    checks.check("processes", found["ftrac_processes_running", "", ""] > 0, found)
    return found


def agree_with_hist(found, db):
    hist = subprocess.run([WFSTAT, "hist", "--of", "latency", "--by", "operation", "--csv", db], check=True, capture_output=True, text=True)
    below = compared = 0
    for row in csv.DictReader(hist.stdout.splitlines()):
        if row["operation"] == "write":
            below += int(row["count"])
            bounds = {round(float(le) * 1e9): count for (name, operation, le), count in found.items()
                      if name == "ftrac_operation_latency_seconds_bucket" and operation == "write" and le != "+Inf"}
            if int(row["to"]) - 1 in bounds:
                checks.equal(f"writes below {row['to']} ns", bounds[int(row["to"]) - 1], below)
                compared += 1
    checks.check("classes of wfstat hist", compared > 0 and below == WRITES, (compared, below))


def raw(run, data):
    """What the server answers to these bytes."""
    with socket.create_connection((run.host, run.port), timeout=60) as s:
        try:
            s.sendall(data)
            s.shutdown(socket.SHUT_WR)
            return s.recv(65536)
        except OSError:  # it has closed the connection already
            return b""


def hostile(run):
    for what, data in {"nothing": b"", "no HTTP": b"\x00\xff" * 1000 + b"\r\n\r\n", "a long line": b"GET /" + b"a" * 100000 + b" HTTP/1.1\r\n\r\n",
                       "many headers": b"GET /metrics HTTP/1.1\r\n" + b"A: b\r\n" * 20000 + b"\r\n", "no end": b"GET /metrics HTTP/1.1\r\nAcc",
                       "a wrong length": b"POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n"}.items():
        answer = raw(run, data)
        checks.check(f"{what}: no metrics", b" 200 " not in answer.split(b"\r\n")[0], answer[:100])
        checks.equal(f"after {what}", get(run.connection())[0], 200)
    # More than are answered at once, which send half a request, or do not read: closed after some seconds, then the next ones come.
    slow = []
    for i in range(60):
        s = socket.create_connection((run.host, run.port), timeout=60)
        s.sendall(b"GET /metrics HTTP/1.1\r\n" if i % 2 else b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
        slow.append(s)
    checks.equal("behind slow clients", get(run.connection())[0], 200)
    for s in slow:
        s.close()


def has_no_rights(run):
    if os.geteuid() != 0:
        return
    found = {}
    for task in pathlib.Path(f"/proc/{run.process.pid}/task").iterdir():
        status = dict(line.split(":\t", 1) for line in (task / "status").read_text().splitlines() if ":\t" in line)
        found[status["Name"].strip()] = int(status["CapEff"], 16)
    servers = [name for name in found if "MHD" in name]
    checks.check("there is a thread of the server", len(servers) == 1, found)
    checks.check("it has no capability", all(found[name] == 0 for name in servers), found)
    checks.check("others have some", any(found.values()), found)


def one_line(base, what, listen, words, status=125, program=(FTRAC, "run", "-q")):
    done = subprocess.run([*program, "--force", "--db", base / "x.db", "--metrics-listen", listen, "--", "touch", base / "ran"],
                          capture_output=True, text=True, check=False, timeout=60)
    checks.check(f"{what}: one line: {done.stderr!r}", done.returncode == status and done.stderr.count("\n") == 1 and words in done.stderr,
                 (done.returncode, done.stderr))
    checks.check(f"{what}: the command did not run, and there is no trace", not (base / "ran").exists() and not (base / "x.db").exists())


def refused(base, run):
    one_line(base, "a used port", f"127.0.0.1:{run.port}", "another program listens there")
    one_line(base, "a used port, procmon", f"127.0.0.1:{run.port}", "another program listens there", program=(PROCMON,))
    for wrong in ("", "x", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:-1", "127.0.0.1:65536", "::1:80", "[::1]", "example.org:80",
                  "1.2.3:80", "*:80", ":80 ", "unix", "[127.0.0.1]x:80", "a" * 5000 + ":80"):
        one_line(base, f"'{wrong[:20]}'", wrong, "--metrics-listen")
    one_line(base, "an address of another machine", "192.0.2.1:0", "no such address")


def by_file(base):
    place = base / "socket"
    run = Run(base, "file", *BY_MOUNT, listen=f"unix:{place}")
    checks.equal("mode of the socket", oct(place.stat().st_mode & 0o777), "0o660")
    checks.equal("no port is printed", run.err.read_text(), "")
    checks.equal("by a file", wait_for(lambda: Unix(place), "ftrac_operations_total", "write", WRITES)["ftrac_operations_total", "write", ""], WRITES)
    one_line(base, "a used file", f"unix:{place}", "another program listens there")
    checks.equal("end", run.end(), 0)
    checks.check("the socket is gone", not place.exists())
    left = socket.socket(socket.AF_UNIX)
    left.bind(str(place))
    left.close()
    again = Run(base, "again", *BY_MOUNT, listen=f"unix:{place}")
    checks.equal("in the place of one that was left", get(Unix(place))[0], 200)
    again.end()
    (base / "precious").write_text("precious\n")
    os.symlink(base / "precious", base / "link")
    os.symlink(base / "nowhere", base / "dangling")
    for name, words in (("precious", "something else"), ("link", "something else"), ("dangling", "something else"), ("missing/x", "no such directory"),
                        ("n" * 120, "too long"), ("", "")):
        one_line(base, f"unix:{name[:20]}", f"unix:{base / name if name else ''}", words)
    checks.equal("other files stay", ((base / "precious").read_text(), (base / "nowhere").exists()), ("precious\n", False))


def main():
    need_fuse()
    probe = subprocess.run([FTRAC, "run", "-q", "--metrics-listen", "127.0.0.1:x", "--", "true"], capture_output=True, text=True, check=False)
    if "libmicrohttpd" in probe.stderr:
        skip("ftrac was built without libmicrohttpd")
    with tempfile.TemporaryDirectory(prefix="ftrac-listen-") as directory:
        base = pathlib.Path(directory)
        run = Run(base, "run", *BY_MOUNT)
        checks.equal("only this machine reaches it", run.host, "127.0.0.1")
        found = agree(run)
        forms(run)
        has_no_rights(run)
        refused(base, run)
        hostile(run)
        checks.equal("the run ends as without", run.end(), 0)
        agree_with_hist(found, run.db)
        try:
            get(run.connection())
            checks.check("nothing listens after the run", False)
        except ConnectionRefusedError:
            checks.check("nothing listens after the run", True)
        by_file(base)
        mine = Run(base, "procmon", PROCMON, listen="localhost:0")
        checks.check("procmon", "ftrac_processes_running" in get(mine.connection())[2])
        mine.kill()
    checks.end()


main()
