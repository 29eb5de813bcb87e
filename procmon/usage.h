/* SPDX-License-Identifier: MIT */
#ifndef PROCMON_USAGE_H
#define PROCMON_USAGE_H

/*
 * What a process, or a thread, has used so far, from /proc and its CPU clock.  Asked of a zombie, that is
 * all it will ever have used; of what stands before its end (tracer.h), all but for the end itself.
 *
 * CPU          exact: the kernel's CPU clock of the process, all threads, those that ended too.
 * UTIME STIME  CPU in the proportion of the ticks that the kernel counted for each, as it does for
 *              wait4(2); without a tick it is all user time.
 * VMPEAK       VmPeak, in KiB; not of zombies.
 * RSSPEAK      VmHWM, in KiB; the kernel counts pages for each processor and adds them up now and
 *              then, so it may lack some 64 pages a processor.  Not of zombies.
 * READ_CHAR WRITE_CHAR READ_BYTES WRITE_BYTES  exact: /proc/PID/task/TID/io, of one thread; /proc/PID/io is
 *              of all threads, those that ended too, and of all children that the process has waited for,
 *              with theirs, which no other figure has.  While it has memory, by its user; of zombies, by
 *              root alone.
 * MINFLT MAJFLT  exact: /proc/PID/stat, all threads.
 * NVCSW NIVCSW CPU_DELAY  of one thread: /proc/PID/task/TID/{status,schedstat}.
 *
 * Each function adds what it can read to the figures that are known.  Threads: any.
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

/* I/O of one thread; of the process of a thread, its children included.  Whether it could be read. */
bool usage_io_of_thread(int proc, pid_t pid, pid_t tid, struct figures *figures);
bool usage_io_of_all(int proc, pid_t tid, struct figures *figures);

/* The file of a thread, opened while it has memory, can be read when it is a zombie, too.  Or -errno. */
int usage_open_io(int proc, pid_t pid, pid_t tid);
bool usage_io_of_file(int fd, struct figures *figures);

/* Nanoseconds of CPU, bytes of resident memory; -1 if not known.  Neither waits for an exec. */
int64_t usage_cpu_ns(pid_t pid);
int64_t usage_rss_bytes(int proc, pid_t pid);

#endif
