#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What --layer costs a program that calls libc all the time, in pairs of a native run and a traced one.

    bench/layers.py [--build build] [--pairs 15] [--calls 400000]

Prints for each kind of call the medians of both: CPU time of the program in ns per call, which other load of the machine changes little,
and time, in which a program waits for processors and for room in the memory.  "loaded only": the object is there and records
nothing.  "burst" fits into the memory for calls; of "all" most must be in the trace before the program ends.
"""
import argparse
import os
import pathlib
import statistics
import subprocess
import tempfile

PROGRAM = r"""
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
static double now(clockid_t c) { struct timespec t; clock_gettime(c, &t); return t.tv_sec + t.tv_nsec / 1e9; }
int main(int argc, char **argv)
{
	long n = atol(argv[2]);
	char block[4096] = { 0 };
	FILE *f = fopen("out", "w");
	int fd = open("/dev/zero", O_RDONLY);
	double start = now(CLOCK_MONOTONIC), cpu = now(CLOCK_PROCESS_CPUTIME_ID);
	(void)argc;
	if (strcmp(argv[1], "fputs") == 0)
		for (long i = 0; i < n; i++) fputs("a line of some forty bytes, as is usual\n", f);
	else if (strcmp(argv[1], "fputc") == 0)
		for (long i = 0; i < n; i++) fputc('x', f);
	else
		for (long i = 0; i < n; i++) if (read(fd, block, sizeof(block)) < 0) return 1;
	printf("%f %f\n", (now(CLOCK_PROCESS_CPUTIME_ID) - cpu) * 1e9 / n, (now(CLOCK_MONOTONIC) - start) * 1e9 / n);
	return 0;
}
"""


def one(words, place, env=None):
    done = subprocess.run(words, cwd=place, check=True, capture_output=True, text=True, stdin=subprocess.DEVNULL, env=env)
    return [float(word) for word in done.stdout.split()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build")
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("--calls", type=int, default=400000, help="of a burst; all: five times as many")
    options = parser.parse_args()
    build = pathlib.Path(options.build).resolve()
    with tempfile.TemporaryDirectory() as place:
        (pathlib.Path(place) / "p.c").write_text(PROGRAM)
        subprocess.run(["cc", "-O2", "-fno-builtin", "-o", "p", "p.c"], cwd=place, check=True)
        tracer = [str(build / "procmon/procmon"), "--force", "--output", "trace.db", "--layer", "lib"]
        loaded = {**os.environ, "LD_PRELOAD": str(build / "preload/ftrac-preload.so")}
        print(f"{'call':<6} {'run':<12} {'native CPU':>10} {'traced CPU':>10} {'native':>8} {'traced':>8}"
              f"   (ns per call, medians of {options.pairs} pairs)")
        for call in "fputs", "fputc", "read":
            for run, n in ("loaded only", options.calls), ("burst", options.calls), ("all", 5 * options.calls):
                pairs = []
                for _ in range(options.pairs):
                    words = ["./p", call, str(n)]
                    native = one(words, place)
                    pairs.append(native + (one(words, place, loaded) if run == "loaded only" else one([*tracer, *words], place)))
                cpu, wall, traced_cpu, traced_wall = map(statistics.median, zip(*pairs))
                print(f"{call:<6} {run:<12} {cpu:10.1f} {traced_cpu:10.1f} {wall:8.1f} {traced_wall:8.1f}", flush=True)


main()
