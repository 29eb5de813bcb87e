/* SPDX-License-Identifier: MIT */
#ifndef PROCMON_USAGE_H
#define PROCMON_USAGE_H

/*
 * The resource usage of a process or a thread so far, from /proc and its CPU clock. Of a zombie
 * these are the final figures; of a thread that is stopped before its exit (tracer.h), all but the
 * exit itself is included.
 *
 * CPU          exact: the kernel's CPU clock of the process, all threads, including ended ones.
 * UTIME STIME  CPU divided in the proportion of the kernel's tick counts, as for wait4(2); without a tick
 *              it is all user time.
 * VMPEAK       VmPeak, in KiB; not of zombies.
 * RSSPEAK      VmHWM, in KiB; the kernel counts pages per processor and sums them up now and then, so up to
 *              about 64 pages per processor may be missing.  Not of zombies.
 * READ_CHAR WRITE_CHAR READ_BYTES WRITE_BYTES  exact: /proc/PID/task/TID/io, of one thread.  /proc/PID/io
 *              includes all threads, also ended ones, and, unlike all other figures, the children that the
 *              process has waited for, with their children.  The user of the process may read these files
 *              while it has memory; those of zombies only root may read.
 * MINFLT MAJFLT  exact: /proc/PID/stat, all threads.
 * NVCSW NIVCSW CPU_DELAY  of one thread: /proc/PID/task/TID/{status,schedstat}.
 *
 * Each function adds the figures that it can read. Threads: any.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct figures;

/* CPU, UTIME, STIME, MINFLT, MAJFLT. */
void usage_of_process(int proc, pid_t pid, struct figures *figures);

/* VMPEAK, RSSPEAK.  tid: one of its threads that still has its memory. */
void usage_of_memory(int proc, pid_t pid, pid_t tid, struct figures *figures);

/* NVCSW, NIVCSW and CPU_DELAY of one thread; VMPEAK and RSSPEAK while it has its memory. */
void usage_of_thread(int proc, pid_t pid, pid_t tid, struct figures *figures);

/* I/O of one thread; of the process of a thread, its children included. Returns whether it could be
 * read. */
bool usage_io_of_thread(int proc, pid_t pid, pid_t tid, struct figures *figures);
bool usage_io_of_all(int proc, pid_t tid, struct figures *figures);

/*
 * Opens the I/O file of a thread. If opened while the thread has memory, it can be read later from
 * the zombie, too. Or -errno.
 */
int usage_open_io(int proc, pid_t pid, pid_t tid);
bool usage_io_of_file(int fd, struct figures *figures);

/*
 * Nanoseconds of CPU time, as of the last timer tick of each thread that runs; bytes of resident memory, also if the first
 * thread has ended; -1 if unknown.  Neither waits for an exec.
 */
int64_t usage_cpu_ns(pid_t pid);
int64_t usage_rss_bytes(int proc, pid_t pid);

#endif
