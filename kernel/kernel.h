/* SPDX-License-Identifier: MIT */
#ifndef KERNEL_KERNEL_H
#define KERNEL_KERNEL_H

/*
 * The record that is made in the kernel: eBPF programs see each system call of a command and of its descendants, and
 * their forks, execs and ends, and this module pushes them into the ring as events.  This is the only header of kernel/
 * that other folders may include.
 *
 * The command runs natively: no mount, no ptrace, no changed path.  A process is traced from its fork on, whatever it
 * does to its ids, namespaces or directories, and no other process is.
 *
 * What it pushes is described in db/event.h; operations have the form CALL.  Besides:
 *   NODE, LOOKUP aside   each component of a path once, the directory before what is in it, both before any event that
 *                        uses them.  What has no path (pipe, socket, memory) is looked up in node 0, by the text that
 *                        /proc/PID/fd shows.
 *   OPEN aside           a description that the thread had before tracing began or received; the kernel opening a program
 *                        to execute it (flag FMODE_EXEC, and RELEASE behind it)
 *   RELEASE aside        the last descriptor of the handle is closed, by any process of the command
 *   FORK THREAD EXEC BEFORE FIGURES EXIT   tier TIER_KERNEL; the figures are those of single threads
 *   SAMPLE               of living processes, see kernel_sample()
 * Events come in the order in which the calls ended.  FIGURES and EXIT of a thread come when it is switched away for the
 * last time, some 100 us after its end, whose time they have; those of a process after those of its threads.
 *
 * Not recorded: calls that never end, because the thread ends inside of them (exit(2) itself, a successful execve(2),
 * which is an EXEC).  A call that a signal interrupts has the result -EINTR, also if the kernel then starts it again.
 * Accesses to mapped memory are no calls.
 *
 * The programs in the kernel send records to a ring buffer.  A thread of high priority empties it into memory, and
 * beyond a bound into a file without a name; a second one makes events of them, and waits if the ring of events is full.
 * Until half of the bound is reached it leaves the processors to the command: while all of them are busy it does nothing
 * (base/idle.h), and else it gives way (base/priority.h).  No traced process ever waits.  If the first thread is too late,
 * the kernel drops records, and counts them.  The programs are unloaded when this process ends, however it ends.
 *
 * Of a caller with neither CAP_SYS_PTRACE nor CAP_SYS_ADMIN only the processes of its own rights are traced: a process
 * that executes a setuid or setgid program, or one with capabilities, is left out from this EXEC to its end, with all
 * that it starts, and counted.
 *
 * Needs CAP_BPF and CAP_PERFMON (or CAP_SYS_ADMIN) in the first user namespace, and a kernel with BTF, from 6.1 on.
 *
 * The same for the files of a mount (kernel_load_for_mount()): any process that uses the mount is recorded, and of it only
 *   READ WRITE SENDFILE SPLICE COPY MMAP MUNMAP MSYNC MPROTECT LSEEK CLOSE DUP FCNTL
 * on descriptors and mappings of the mount's files.  Names, opens and their ends, attributes, locks, and whatever else is a
 * request to the daemon is recorded by it, with handles of the same numbers; processes are recorded by the monitor.  Of
 * SENDFILE, SPLICE and COPY one of the two handles is 0 if it is none of the mount's.  MUNMAP, MSYNC and MPROTECT have the
 * node, too, because the handle may have ended.  These events come later than those of the daemon, see kernel_seen_until_ns().
 *
 * Threads: one thread calls start, finish and destroy; any thread may call the others.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct failure;
struct kernel;
struct ring;

struct kernel_options {
	struct ring *ring;
	/* The process that will execute the command, which waits until it is told to.  Its number as we see it.  0: there is no
	 * command; kernel_attach() tells what is recorded. */
	pid_t pid;
	/* Its parent. */
	pid_t parent;
	/*
	 * Keeps those variables of an environment (NAME=VALUE, each ended by NUL) that may be stored, in place, and
	 * returns the new length.  NULL: none is kept.
	 */
	size_t (*keep_environ)(char *vars, size_t len, void *arg);
	/*
	 * Called when the programs are attached, which takes capabilities, and before any thread is made, which has those of
	 * the caller: the caller may give them up.  0 or -errno.  NULL: nothing is called.
	 */
	int (*attached)(void *arg);
	void *arg;
	size_t buffer_bytes; /* of the kernel's ring buffer, a power of two; 0: 32 MiB */
	size_t memory_bytes; /* of records in memory, beyond which they go to a file; 0: 256 MiB */
	const char *directory; /* where that file is made; NULL: /tmp */
};

/*
 * Loads the programs and begins to trace.  0; or a negative errno with the reason in words: -EPERM (a capability is
 * missing), -EOPNOTSUPP (the kernel is too old or has no BTF, or ftrac was built without this), others.  The child is not
 * let run.
 */
int kernel_start(const struct kernel_options *options, struct kernel **ret_kernel, struct failure *failure);

/*
 * Chooses a process that runs already, by its number, until it ends; what it or a descendant starts from now on is chosen, too.
 * Nothing of them is recorded before kernel_attach().  0; -EPERM: the caller may not trace processes of others; -E2BIG: 65,536
 * are chosen.  kernel_reject() takes it back: the number has become another process's.
 */
int kernel_choose(struct kernel *kernel, pid_t pid);
void kernel_reject(struct kernel *kernel, pid_t pid);

/*
 * Also records processes that run already: all but this one (of those that our pid namespace shows), those in the group of the
 * second hierarchy whose directory is open as cgroup, or with -1 the chosen ones.  A process is recorded from its next
 * system call on, with an event PROCESS before it, and with all that it starts.  Once, after kernel_start().  0; -EPERM: the
 * caller may not trace processes of others; or another -errno.
 */
int kernel_attach(struct kernel *kernel, bool all, int cgroup);

/*
 * Has a sample recorded of each process that has been traced for more than a second and is alive, of 32,768 at most: its memory
 * and its CPU time at this moment, after its fork and before its end, however late these become events.  Takes no
 * capability.  0 or -errno.  Any thread, between kernel_start() and kernel_finish(), of no low priority: the reader waits
 * for a record that a thread has begun.
 */
int kernel_sample(const struct kernel *kernel);

/*
 * Whether the record may be written later: little of the memory for it is used.  The thread that makes events then only uses
 * processors that are idle, and waits for one; the writer may do the same.  Any thread.
 */
bool kernel_may_wait(const struct kernel *kernel);
/* A program watches the record: it may not be written later from now on, or may again.  Any thread. */
void kernel_set_watched(struct kernel *kernel, bool is_watched);

/*
 * Of a mount, in these steps:
 *   load    takes the capabilities; most_files: so many can be known at once.  Records nothing.  0, or -errno with the
 *           reason
 *   run     makes the threads.  0 or -errno
 *   watch   records calls on files of that device (st_dev) from now on
 */
int kernel_load_for_mount(size_t most_files, struct kernel **ret_kernel, struct failure *failure);
int kernel_run_for_mount(struct kernel *kernel, struct ring *ring);
void kernel_watch_mount(struct kernel *kernel, dev_t device);

/*
 * An open file of the mount: fh, as the daemon replies it to the kernel; handle and node, as its events have them.  The
 * daemon calls this before it replies, and remove before it uses fh again.  0, or -errno: its calls are not recorded.
 */
int kernel_add_file(struct kernel *kernel, uint64_t fh, uint64_t handle, uint64_t node);
void kernel_remove_file(struct kernel *kernel, uint64_t fh);

/*
 * All calls that ended before this time are in the ring of events.  INT64_MAX: none will come.  Has the next ones fetched,
 * without waiting for them.
 */
int64_t kernel_seen_until_ns(struct kernel *kernel);

/* When it returns, all that was recorded before the call is in the ring of events.  Needs a thread that empties it. */
void kernel_sync(struct kernel *kernel);

/*
 * Ends tracing, and makes events of what is left, while the writer still empties the ring.  Afterwards kernel_count() may
 * still be called.  NULL is fine.
 */
void kernel_finish(struct kernel *kernel);

/* Calls kernel_finish() if needed, and frees.  NULL is fine. */
void kernel_destroy(struct kernel *kernel);

/* Of one processor, or of all.  submitted = received + dropped, after kernel_finish(). */
struct kernel_counts {
	uint64_t submitted; /* records that the programs wanted to send */
	uint64_t dropped;   /* those that found no room in the kernel's ring buffer */
};

struct kernel_totals {
	struct kernel_counts all;
	uint64_t received;
	uint64_t failed;  /* records that became no event: no memory */
	uint64_t missed;  /* calls of programs that the kernel skipped, because one was running on that processor */
	uint64_t spared;  /* setuid and similar programs that were left out, see above */
	uint64_t spooled; /* bytes that went through the file */
	uint64_t waiting; /* bytes that are not events yet */
	bool has_devices; /* the programs see what block devices do */
};

/* The number of processors; and the counts of the first n of them, in ret_counts, which may be NULL. */
int kernel_count(const struct kernel *kernel, struct kernel_totals *ret_totals, struct kernel_counts *ret_counts, int n);

/*
 * What became no event: dropped, failed or missed.  If the counts cannot be read (no memory): as they were last.
 * Bytes that are not events yet.
 */
uint64_t kernel_lost(struct kernel *kernel);
uint64_t kernel_left(const struct kernel *kernel);

/* Whether the kernel lets us load the programs: 0, or what kernel_start() would return, with the reason and the cure. */
int kernel_explain(struct failure *failure);

#endif
