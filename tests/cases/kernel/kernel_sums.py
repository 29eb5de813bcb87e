#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 8
# long: --long
"""The rows of the view ioprof have a name for each byte that a process read or wrote, as the kernel counts them.

Of each process of ten workloads, the sums of its rows against the kernel's own (rchar and wchar of /proc/PID/io).  These
leave out what is received from and sent to sockets, except by read(2) and write(2), and what splice(2) moves.
"""
import pathlib
import subprocess
import tempfile

from ftractest import Checks, InKernel, need, need_kernel

import kernelleft
from sample import some

WORKLOADS = {
    "compile": "for i in 1 2 3 4 5 6; do echo \"#include <stdio.h>\nint f$i(void) { return puts(\\\"$i\\\"); }\" >f$i.c; done; "
               "echo 'int f1(void); int main(void) { return !f1(); }' >main.c; "
               "printf 'p: main.o f1.o f2.o f3.o f4.o f5.o f6.o; gcc -o $@ $^\n' >Makefile; make -s -j3",
    "git": "git init -q r && cd r && git config user.email a@b && git config user.name a && seq 9000 >a && git add a && "
           "git commit -qm a && seq 8000 >a && git commit -qam b && git log -p >../log && git grep -c 7 && git clone -q . ../s",
    "archives": "mkdir d; for i in $(seq 30); do seq $i$i >d/$i; done; tar czf d.tgz d; rm -r d; tar xf d.tgz; zip -qr d.zip d; "
                "unzip -qo d.zip -d e; xz -k d.tgz",
    "pipeline": "seq 60000 | tr 0-4 5-9 | sort | uniq -c | sort -n | head -n 100 | awk '{print $2}' | sed s/5/x/ >out",
    "python": "python3 -S -c 'import json, csv, os\n"
              "json.dump(list(range(50000)), open(\"a\", \"w\")); x = json.load(open(\"a\")); w = csv.writer(open(\"b\", \"w\"))\n"
              "[w.writerow([i]) for i in x]; os.sendfile(os.open(\"c\", os.O_WRONLY | os.O_CREAT), os.open(\"a\", 0), 0, 70000)\n"
              "f = open(\"a\", \"r+b\"); f.seek(7); f.write(b\"y\"); os.preadv(f.fileno(), [bytearray(9), bytearray(99)], 3)'",
    "xargs": "for i in $(seq 12); do seq $((i * 999)) >$i; done; ls | xargs -P 3 -n 2 gzip; cat *.gz | gunzip | wc -l",
    "search": "find /etc /usr/share/doc/bash -type f -size -40k 2>/dev/null | head -n 150 >list; xargs grep -l the <list >found; "
              "xargs md5sum <list >sums; cp $(head -n 40 list) . 2>/dev/null; diff -r . . ",
    "perl": "perl -e 'open F, \">a\"; print F \"$_ x\\n\" for 1..20000; close F; open F, \"a\"; while (<F>) { $n += length } print $n' >n; "
            "awk '{s += $1} END {print s}' a; dd if=a of=b bs=3000 2>&1; tee c <a >d; split -l 900 a",
    "rsync": "mkdir s; for i in $(seq 20); do head -c ${i}777 /dev/urandom >s/$i; done; rsync -a s/ t/; echo x >>s/3; rsync -a s/ t/",
    "shells": "for i in $(seq 40); do printf '#!/bin/sh\\nread x; echo $x $(expr $x + 1)\\n' >s$i; chmod +x s$i; echo $i | ./s$i >o$i; done",
}
SUMS = """SELECT p.pid, p.comm, p.read_char, p.write_char,
    (SELECT sum(bread) FROM ioprof i WHERE i.pid = p.pid), (SELECT sum(bwrite) FROM ioprof i WHERE i.pid = p.pid),
    (SELECT sum(bytes) FROM op o WHERE o.process = p.id AND (name = 'recv' OR name = 'splice')),
    (SELECT sum(bytes) FROM op o WHERE o.process = p.id AND (name = 'send' OR name = 'splice'))
    FROM process p WHERE p.read_char NOTNULL"""


def is_near(got, wanted):
    return abs(got - wanted) <= wanted // 100


def check(checks, name, text):
    with tempfile.TemporaryDirectory(prefix="ftrac-case-") as directory:
        base = pathlib.Path(directory).resolve()
        (base / "work").mkdir()
        run = InKernel(base)
        done = subprocess.run([*run.command("-q", "--strict"), "sh", "-c", text], cwd=base / "work", check=False, capture_output=True,
                              text=True, timeout=300, stdin=subprocess.DEVNULL)
        checks.equal(f"{name}: exit status", (done.returncode, done.stderr), (0, ""))
        rows = [[n or 0 for n in row] for row in run.sql(SUMS)]
        checks.check(f"{name}: there are processes", len(rows) > 1, len(rows))
        for pid, comm, kernel_read, kernel_written, read, written, received, sent in rows:
            checks.check(f"{name}: process {pid} ({comm}) read", is_near(read - received, kernel_read), (read, received, kernel_read))
            checks.check(f"{name}: process {pid} ({comm}) wrote", is_near(written - sent, kernel_written),
                         (written, sent, kernel_written))
        kernel = sum(row[2] + row[3] for row in rows)
        named = sum(row[4] + row[5] - row[6] - row[7] for row in rows)
        kinds = run.sql("SELECT count(*) FROM ioprof WHERE file GLOB '<*>' AND bread + bwrite > 0")[0][0]
        print(f"{name}: {len(rows)} processes, {kernel} bytes, {100 * named / kernel:.2f} % of them named; {kinds} rows of streams")
        return named, kernel


def main():
    need_kernel()
    need("make", "gcc", "git", "zip", "unzip", "xz", "rsync", "perl")
    checks = Checks()
    sums = [check(checks, name, text) for name, text in some(WORKLOADS.items(), 3)]
    named, kernel = map(sum, zip(*sums))
    print(f"{len(sums)} workloads: {named} of {kernel} bytes have a name: {100 * named / kernel:.2f} %")
    checks.check("99 % have a name", 0.99 * kernel <= named <= 1.01 * kernel, (named, kernel))
    kernelleft.end(checks)


main()
