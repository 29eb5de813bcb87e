#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What --layer costs a program that calls libc all the time, in pairs of a native run and a traced one.

    bench/layers.py [--build build] [--pairs 15] [--calls 400000] [--kinds fputs,table]

Prints for each kind of call the medians of both: CPU time of the program in ns per call, which other load of the machine changes little,
and time, in which a program waits for processors and for room in the memory; the median of the pairs' ratios of CPU time; and the ratio of
the least of each.  "loaded only": the object is there and records nothing.  "burst" fits into the memory for calls; of "all" most must be in the trace before the program
ends.  "added up" is "all" with --detail-above 1ms.  "table" reads lines, parses two numbers of each and prints what it made of them; "filter"
only copies lines.
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
static char block[4096];
static FILE *in, *f;
static int fd;
static void make(void)
{
	in = fopen("in", "w+");
	f = fopen("out", "w");
	fd = open("/dev/zero", O_RDONLY);
	for (int i = 0; i < 2000; i++) fprintf(in, "%d.%d %d.25 a line of a table\n", i, i % 7, i * 3);
	rewind(in);
}
static char *line(void)
{
	while (!fgets(block, 256, in)) rewind(in);
	return block;
}
static void call(const char *kind, long i)
{
	char *end;
	if (strcmp(kind, "fputs") == 0) fputs("a line of some forty bytes, as is usual\n", f);
	else if (strcmp(kind, "fputc") == 0) fputc('x', f);
	else if (strcmp(kind, "fprintf") == 0) fprintf(f, "%ld %s %d\n", i, "words", 17);
	else if (strcmp(kind, "fgets") == 0) line();
	else if (strcmp(kind, "filter") == 0) fputs(line(), f);
	else if (strcmp(kind, "table") == 0) { double x = strtod(line(), &end); fprintf(f, "%ld %g\n", i, x * strtod(end, &end)); }
	else if (read(fd, block, sizeof(block)) < 0) exit(1);
}
int main(int argc, char **argv)
{
	long n = atol(argv[2]);
	double start, cpu;
	(void)argc;
	make();
	start = now(CLOCK_MONOTONIC);
	cpu = now(CLOCK_PROCESS_CPUTIME_ID);
	for (long i = 0; i < n; i++) call(argv[1], i);
	printf("%f %f\n", (now(CLOCK_PROCESS_CPUTIME_ID) - cpu) * 1e9 / n, (now(CLOCK_MONOTONIC) - start) * 1e9 / n);
	return 0;
}
"""
KINDS = "fputs", "fputc", "fprintf", "fgets", "filter", "table", "read"


def one(words, place, env=None):
    done = subprocess.run(words, cwd=place, check=True, capture_output=True, text=True, stdin=subprocess.DEVNULL, env=env)
    return [float(word) for word in done.stdout.split()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build")
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("--calls", type=int, default=400000, help="of a burst; all: five times as many")
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--runs", default="loaded only,burst,all,added up")
    options = parser.parse_args()
    build = pathlib.Path(options.build).resolve()
    with tempfile.TemporaryDirectory() as place:
        (pathlib.Path(place) / "p.c").write_text(PROGRAM)
        subprocess.run(["cc", "-O2", "-fno-builtin", "-o", "p", "p.c"], cwd=place, check=True)
        tracer = [str(build / "procmon/procmon"), "--force", "--output", "trace.db", "--layer", "lib"]
        loaded = {**os.environ, "LD_PRELOAD": str(build / "preload/ftrac-preload.so")}
        ways = {"loaded only": ([], loaded, 1), "burst": (tracer, None, 1), "all": (tracer, None, 5),
                "added up": ([*tracer, "--detail-above", "1ms"], None, 5)}
        print(f"{'call':<7} {'run':<12} {'native CPU':>10} {'traced CPU':>10} {'ratio':>6} {'least':>6} {'native':>8} {'traced':>8}"
              f"   (ns per call, medians of {options.pairs} pairs)")
        for call in options.kinds.split(","):
            for run in options.runs.split(","):
                before, environment, times = ways[run]
                words = ["./p", call, str(times * options.calls)]
                pairs = [one(words, place) + one([*before, *words], place, environment) for _ in range(options.pairs)]
                cpu, wall, traced_cpu, traced_wall = map(statistics.median, zip(*pairs))
                ratio = statistics.median(pair[2] / pair[0] for pair in pairs)
                least = min(pair[2] for pair in pairs) / min(pair[0] for pair in pairs)
                print(f"{call:<7} {run:<12} {cpu:10.1f} {traced_cpu:10.1f} {ratio:6.2f} {least:6.2f} {wall:8.1f} {traced_wall:8.1f}", flush=True)


main()
