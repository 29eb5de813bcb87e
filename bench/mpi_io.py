#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What --layer mpi costs a program that does MPI-IO, in pairs of a native run and a recorded one.

    bench/mpi_io.py [--build build] [--ranks 2] [--pairs 9] [--rounds 200] [--where DIR]

"blocks": each round is a collective strided write and an independent read of 256 KiB per rank, by either library that is there.
"small": an independent write and read of 64 bytes, which shows the cost of a call.  The program measures its time between
MPI_Init and MPI_Finalize, by the clock and by the CPU time of all ranks: by the clock, ranks and ftrac wait for processors if there are too few.
Prints of both the median of the ratios, the least and the largest; and of the CPU time also the ratio of the least of all runs, and ns per call.
"""
import argparse
import os
import pathlib
import shutil
import statistics
import subprocess

from measure import directory_for

PROGRAM = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
static double cpu(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}
int main(int argc, char **argv)
{
	int rank, n, small = strcmp(argv[1], "small") == 0, rounds = atoi(argv[2]);
	int ints = small ? 16 : 65536;
	char *data = calloc(ints, sizeof(int));
	MPI_Datatype blocks;
	MPI_File f;
	double start, used, sum;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	MPI_Type_vector(1000, 1024, 1024 * n, MPI_INT, &blocks);
	MPI_Type_commit(&blocks);
	MPI_File_open(MPI_COMM_WORLD, "out", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f);
	if (!small)
		MPI_File_set_view(f, rank * 4096, MPI_INT, blocks, "native", MPI_INFO_NULL);
	MPI_Barrier(MPI_COMM_WORLD);
	start = MPI_Wtime();
	used = cpu();
	for (int i = 0; i < rounds; i++)
		if (small) {
			MPI_File_write_at(f, rank * 64, data, ints, MPI_INT, MPI_STATUS_IGNORE);
			MPI_File_read_at(f, rank * 64, data, ints, MPI_INT, MPI_STATUS_IGNORE);
		} else {
			MPI_File_write_at_all(f, (long)(i % 8) * ints, data, ints, MPI_INT, MPI_STATUS_IGNORE);
			MPI_File_read_at(f, (long)(i % 8) * ints, data, ints, MPI_INT, MPI_STATUS_IGNORE);
		}
	used = cpu() - used;
	MPI_Reduce(&used, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
	if (rank == 0)
		printf("%.9f %.9f\n", MPI_Wtime() - start, sum / n);
	MPI_File_close(&f);
	MPI_Finalize();
	return 0;
}
"""
LIBRARIES = {"Open MPI": ("mpicc.openmpi", ["mpirun.openmpi", "--oversubscribe"]), "MPICH": ("mpicc.mpich", ["mpirun.mpich"])}


def run(words, where):
    environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    done = subprocess.run(words, cwd=where, check=True, capture_output=True, text=True, stdin=subprocess.DEVNULL, env=environment)
    return [float(word) for word in done.stdout.split()]


def spread(ratios):
    return f"{statistics.median(ratios):.3f} ({min(ratios):.2f} to {max(ratios):.2f})"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build")
    parser.add_argument("--where", metavar="DIR")
    for name, n in (("ranks", 2), ("pairs", 9), ("rounds", 200)):
        parser.add_argument(f"--{name}", type=int, default=n)
    given = parser.parse_args()
    procmon = str(pathlib.Path(given.build).resolve() / "procmon/procmon")
    print("| program | library | by the clock | CPU time | the least of all runs | ns of CPU per call: native | recorded |\n" + "|---" * 7 + "|")
    with directory_for("ftrac-mpi-", given.where) as directory:
        where = pathlib.Path(directory)
        (where / "p.c").write_text(PROGRAM)
        for name, (mpicc, mpirun) in LIBRARIES.items():
            if not shutil.which(mpicc):
                continue
            subprocess.run([mpicc, "-O2", "-o", "p", "p.c"], cwd=where, check=True)
            for kind, rounds in (("blocks", given.rounds), ("small", 100 * given.rounds)):
                command = [*mpirun, "-n", str(given.ranks), "./p", kind, str(rounds)]
                pairs = [(run(command, where), run([procmon, "--force", "--db", "trace.db", "--layer", "mpi", *command], where))
                         for _ in range(given.pairs)]
                clock, cpu = ([recorded[i] / native[i] for native, recorded in pairs] for i in range(2))
                least = [min(pair[i][1] for pair in pairs) * 1e9 / rounds / 2 for i in range(2)]
                print(f"| {kind} | {name} | {spread(clock)} | {spread(cpu)} | {least[1] / least[0]:.3f} | {least[0]:.0f} | {least[1]:.0f} |", flush=True)


if __name__ == "__main__":
    main()
