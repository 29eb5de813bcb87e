/* SPDX-License-Identifier: MIT */
#ifndef PROCMON_USAGE_H
#define PROCMON_USAGE_H

/*
 * What a living process, or thread, has used so far, from /proc and its CPU clock.  Asked at the
 * stop before its end (tracer.h) that is all it will ever have used, but for the end itself.
 *
 * CPU          exact: the kernel's CPU clock of the process, all threads, those that ended too.
 * UTIME STIME  CPU in the proportion of the ticks that the kernel counted for each, as it does for
 *              wait4(2); without a tick it is all user time.
 * VMPEAK       VmPeak, in KiB.
 * RSSPEAK      VmHWM, in KiB; the kernel counts pages for each processor and adds them up now and
 *              then, so it may lack some 64 pages a processor.
 * READ_CHAR WRITE_CHAR READ_BYTES WRITE_BYTES  exact: /proc/PID/io, all threads.
 * MINFLT MAJFLT  exact: /proc/PID/stat, all threads.
 * NVCSW NIVCSW CPU_DELAY  of threads only: /proc/PID/task/TID/{status,schedstat}.
 *
 * What cannot be read is not known.  Threads: any.
 */

#include <stdint.h>
#include <sys/types.h>

struct figures;

/* /proc/PID/io, opened: once the first thread has given its memory up others than root cannot do that any
 * more.  Or -errno. */
int usage_open_io(int proc, pid_t pid);

/* Of the whole process; tid: one of its threads that still lives; io: of usage_open_io(), or -1. */
void usage_of_process(int proc, pid_t pid, pid_t tid, int io, struct figures *ret_figures);

/* NVCSW, NIVCSW and CPU_DELAY of one thread. */
void usage_of_thread(int proc, pid_t pid, pid_t tid, struct figures *ret_figures);

/* Nanoseconds of CPU, bytes of resident memory; -1 if not known.  Neither waits for an exec. */
int64_t usage_cpu_ns(pid_t pid);
int64_t usage_rss_bytes(int proc, pid_t pid);

#endif
