/* SPDX-License-Identifier: MIT */
#ifndef PROCMON_MONITOR_H
#define PROCMON_MONITOR_H

/*
 * The process monitor. It reports to the writer every process that uses the traced tree, the
 * processes that these fork from then on, and their ancestors up to the session leader. This is the
 * only header of procmon/ that other folders may include. All reading of /proc for the trace is
 * behind it.
 *
 * It combines two sources:
 *   connector  the kernel's process connector: fork, exec and exit of processes in scope, with the time
 *              stamps of the kernel; where the kernel allows it;
 *   in band    what /proc shows of a thread while the thread waits for the reply of the file system.
 *
 * It pushes into the ring:
 *   PROCESS  a process was discovered, ancestors first; or the text of an image that was reported without
 *            text (new_image 0); or, in band and after a loss, a program whose exec was not reported
 *            (new_image 1);
 *   FORK, THREAD, EXIT  as the kernel reports them.  An EXIT with status -1 means: the monitor found the
 *            process gone, at most about a second late, and has no report; in band every EXIT is so;
 *   EXEC     at once, without a text, so that no reader of /proc delays it.  If the text can be read - the
 *            process lives and still runs that program - it follows as PROCESS, before the EXIT.  known is
 *            0 where the text or the ids could not be read.
 * The events of one process come in the order in which they happened.
 *
 * A command may also be recorded in the kernel (monitor_start_in_kernel()): kernel/kernel.h then reports its processes and
 * its system calls, and the sources above are not used.
 *
 * A request handler calls monitor_discover() for the requesting thread, and monitor_check() where
 * an exec may have gone unnoticed (opens). It calls neither for requests that may come from the
 * middle of an exec (FLUSH, RELEASE) or of a page fault (READ and WRITE of the page cache): reading
 * /proc of such a thread blocks until the thread goes on, which it does only after our reply. If
 * another process that must be read is in that state, for example an ancestor, a request is delayed
 * by a tenth of a second, and nothing deadlocks.
 *
 * Threads: any thread may call discover, discover_slow, check, known and sync. One thread calls
 * start, finish and stop, when no discovery is running. Start the monitor after the last fork of
 * the program, because it makes threads. These block all signals and ask for the scheduling class
 * SCHED_RR, which is granted where the rights allow it.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct failure;
struct kernel;
struct monitor;
struct ring;
struct spawn;
struct store;

/*
 * The source of process events. All but the last add exit records (taskstats) where possible.
 * PTRACE adds the connector, for processes from which the tracer must detach.
 */
enum monitor_processes { MONITOR_AUTO, MONITOR_CONNECTOR, MONITOR_PTRACE, MONITOR_INBAND };

/* From "auto", "connector", "ptrace" or "inband".  0 or -EINVAL. */
int monitor_parse_processes(const char *text, enum monitor_processes *ret_processes);

struct monitor_options {
	struct ring *ring;
	/* Environment variables to store: shell patterns of names, NULL-terminated; may be NULL */
	const char *const *env;
	enum monitor_processes processes;
	/* monitor_run() will run a command: then AUTO means PTRACE if possible. */
	bool command;
	bool inband_will_do; /* fallback if neither ptrace nor the connector is possible */
	/* Directory to use as /proc, for tests; NULL: /proc. */
	const char *proc;
};

/*
 * Starts the monitor with its threads. 0 or -errno; the caller passes *ret_monitor to
 * monitor_stop(). A missing source is an error only if the options name it or a command needs it
 * (monitor_explain()); otherwise the monitor does without (monitor_tier()).
 */
int monitor_start(const struct monitor_options *options, struct monitor **ret_monitor);

struct monitor_in_kernel {
	struct ring *ring;
	const char *const *env;	     /* as above */
	const struct spawn *command; /* waits; it and what it will start is recorded.  NULL: see monitor_attach() */
	/*
	 * The capabilities that this process needs from now on (RIGHT() of base/rights.h).  All others are given up when the
	 * programs are in the kernel, before threads are made.
	 */
	uint64_t rights;
};

/*
 * The same for a command that is recorded in the kernel, with all its system calls.  This process becomes a subreaper: what
 * the command leaves behind becomes its child.  Of the functions below, monitor_run(), finish, stop and the counters may be
 * called.  0, or a negative errno with the reason.
 */
int monitor_start_in_kernel(const struct monitor_in_kernel *options, struct monitor **ret_monitor,
	struct failure *failure);
/*
 * Also records processes that run already, see kernel_attach(), and what they start: all, those of pids with their
 * descendants, or those of a control group (its directory, an absolute path).  First reports from /proc those that there are, so the
 * writer must empty the ring.  Needs CAP_SYS_PTRACE.  0, or -errno with the reason.
 */
struct monitor_attach {
	bool all;
	const pid_t *pids;
	size_t n_pids;
	const char *cgroup; /* NULL: none */
};
int monitor_attach(struct monitor *monitor, const struct monitor_attach *wanted, struct failure *failure);
/* Whether there is a process with that number, which is not a thread: 0, or -ESRCH with the reason. */
int monitor_check_process(pid_t pid, struct failure *failure);
/* Whether programs can be loaded: 0, or what monitor_start_in_kernel() would return. */
int monitor_explain_kernel(struct failure *failure);

/*
 * What there is at a path now, for the record of system calls (walk_probe of db/walk.h): files that were there before the
 * command began are known by no event.  Looks with the rights of this process; asks no server, and triggers no automatic
 * mount.  Needs no monitor; arg is not used.
 */
struct event_node;
int monitor_probe_path(void *arg, const char *path, struct event_node *ret_node, char *ret_target, size_t size,
	int64_t *ret_changed_ns);

/* Of a command that is recorded in the kernel; 0 of any other. */
/* What did not become an event, because buffers or memory were full.  After monitor_finish() it does not change. */
uint64_t monitor_ops_lost(const struct monitor *monitor);
/* Bytes of what was recorded and did not become events yet.  Any thread. */
uint64_t monitor_left(const struct monitor *monitor);
/* Whether these may wait: the writer need not run as long as the command uses the processors.  Any thread. */
bool monitor_may_wait(const struct monitor *monitor);
/* A program watches the trace: from now on they may not wait, or may again.  Any thread. */
void monitor_set_watched(struct monitor *monitor, bool is_watched);
/* After monitor_finish(): stores how much was recorded and lost, as facts (kernel_*).  0 or -errno. */
int monitor_put_facts(const struct monitor *monitor, struct store *store);
/* The same of the calls on the files of a mount (kernel/kernel.h).  Needs no monitor. */
int monitor_put_kernel(const struct kernel *kernel, struct store *store);

/*
 * Called when no more requests will come, while the writer still empties the ring. Handles what the
 * kernel has reported, reads the texts that are still missing, in band finds the processes that
 * have ended, and ends the threads. Afterwards monitor_sync() and the counters may still be called.
 */
void monitor_finish(struct monitor *monitor);

/*
 * Calls monitor_finish() if needed, and frees. A thread that is stuck in /proc is abandoned after
 * two seconds, with the memory it uses. Both accept NULL.
 */
void monitor_stop(struct monitor *monitor);

/* Whether a process descends from this one; one that is gone does not.  Also in a signal handler. */
bool monitor_has_descendant(pid_t pid);

/*
 * A command of ours, started in two steps. monitor_spawn() forks a child that waits. The child
 * inherits limits, rights and signals as they are then, so the caller changes these afterwards. The
 * child calls first(arg), if it is not NULL, at once; a result other than 0 becomes its exit
 * status. Needs no monitor.
 */
int monitor_spawn(char *const *argv, int (*first)(void *arg), void *arg,
	struct spawn **ret_spawn); /* 0 or -errno */
pid_t monitor_spawned(const struct spawn *spawn);
/* Ends the child if it was not run, and frees. NULL is fine. */
void monitor_discard(struct spawn *spawn);

struct monitor_run {
	/* How long to wait for processes that outlive the command, in ms; -1: without limit. */
	int wait_ms;
	/*
	 * End these processes then: SIGTERM, two seconds later SIGKILL. Processes under ptrace also
	 * end if we are killed.
	 */
	bool end_rest;
	bool quiet; /* do not say on standard error that it waits, or ends them */
};

/*
 * Lets the child run the command and waits for it. 0 and its wait(2) status; or the -errno of the
 * exec, with the exit status that shells use for it. Called once, from the thread that spawned it,
 * which has no other children. Until it returns, the monitor uses SIGUSR2, and passes SIGHUP,
 * SIGINT, SIGQUIT, SIGTERM and SIGUSR1 that we receive on to the command.
 */
int monitor_run(struct monitor *monitor, struct spawn *spawn, const struct monitor_run *run,
	int *ret_status);

/*
 * The first program that ran without the privilege of its setuid or setgid bit because it was
 * traced; NULL if there was none. After monitor_run().
 */
const char *monitor_unprivileged(const struct monitor *monitor);

/*
 * The run begins at this time, because what has begun was reported with later ones; 0: it begins whenever the caller likes.  Any
 * thread, after the start.
 */
int64_t monitor_began_ns(const struct monitor *monitor);

/* "ptrace", "connector" or "inband", with "+taskstats" if there are exit records; or "kernel". */
const char *monitor_tier(const struct monitor *monitor);

/* Tries a source. 0 if it works, else the -errno. Needs no monitor. */
enum monitor_source { MONITOR_SOURCE_PTRACE, MONITOR_SOURCE_CONNECTOR, MONITOR_SOURCE_TASKSTATS };
int monitor_source_error(enum monitor_source source);
/* Whether exit records include the delays by block I/O, swapping and reclaim. */
bool monitor_has_delays(void);
/* One line: why the source does not work, and the command that would enable it. */
const char *monitor_explain(enum monitor_source source, int error);

/*
 * How often messages of the kernel did not fit into the socket buffer. The kernel does not say how
 * many messages were lost. The monitor then searches /proc for what they reported: children,
 * programs, ends.
 */
uint64_t monitor_lost(const struct monitor *monitor);

/* Nanoseconds that requests have waited in monitor_discover() and monitor_check(). */
uint64_t monitor_waited_ns(const struct monitor *monitor);

/*
 * Slow path of monitor_discover(). Also for a process of our own that should be in scope before it
 * uses the tree; that process must not be inside an exec.
 */
void monitor_discover_slow(struct monitor *monitor, pid_t tid);

/* One byte for each possible thread id: 0 if monitor_discover() has something to do. */
const _Atomic uint8_t *monitor_known(const struct monitor *monitor);

/*
 * Reports the thread to the writer, with its process, image and ancestors. The thread must be
 * waiting for our reply. Costs one load if the thread is known.
 */
static inline void monitor_discover(struct monitor *monitor, const _Atomic uint8_t *known, pid_t tid)
{
	if (tid > 0 && !atomic_load_explicit(&known[tid], memory_order_relaxed))
		monitor_discover_slow(monitor, tid);
}

/*
 * As monitor_discover(), and also checks that the image the writer knows is the one that runs.
 * Costs about ten microseconds in band, less than one with the connector.
 */
void monitor_check(struct monitor *monitor, pid_t tid);

/* The process of a thread that waits for our reply, or -errno. Needs no monitor. */
pid_t monitor_process_of(pid_t tid);

/*
 * The number of bytes of the read or write call that a thread is inside of while it waits for our
 * reply. Our request may be a piece of that call. -EAGAIN: the thread is inside of another call
 * (io_uring, sendfile, a page fault). Other -errno: we may not read it. vectors: read the buffer
 * vector of vectored calls, which locks the memory map of the thread; without it they give -EAGAIN.
 * Takes about 5 microseconds. Needs no monitor.
 */
int64_t monitor_call_bytes(pid_t tid, bool is_write, bool vectors);

/*
 * The root directory of a thread that waits for our reply: an O_PATH descriptor, or -errno. Needs
 * no monitor.
 */
int monitor_root_of(pid_t tid);

/* Ids of a user namespace, as ranges of ids of our namespace. */
#define MONITOR_RANGES 8
struct monitor_ids {
	unsigned n;
	struct {
		uint32_t first, count;
	} ranges[MONITOR_RANGES]; /* further ones are left out */
};

static inline bool monitor_has_id(const struct monitor_ids *ids, uint32_t id)
{
	for (unsigned i = 0; i < ids->n; i++)
		if (id - ids->ranges[i].first < ids->ranges[i].count)
			return true;
	return false;
}

/* The credentials by which the kernel checks the access of a thread to files. */
struct monitor_credentials {
	uid_t fsuid;
	gid_t fsgid;
	/*
	 * Effective capabilities, one bit each. They apply to all files if the thread is in the
	 * daemon's user namespace, else to files whose owner and group are among uids and gids.
	 */
	uint64_t effective;
	bool shares_users;
	/* filled only if shares_users is false and there are capabilities */
	struct monitor_ids uids, gids;
	size_t n_groups; /* supplementary groups; may exceed room */
};

/*
 * Reads the credentials of a thread from /proc, and stores at most room of its groups. Does not
 * block on an exec or a page fault of the thread. Without CAP_SYS_PTRACE, a thread whose namespace
 * maps the same ids as ours counts as sharing our namespace. 0 or -errno (-ESRCH: no such thread).
 * Needs no monitor.
 */
int monitor_read_credentials(pid_t tid, gid_t *ret_groups, size_t room,
	struct monitor_credentials *ret_credentials);

/* A system call on a file, or a wait for data or children, that a thread is inside of. */
struct monitor_wait {
	pid_t tid;
	long number;	   /* of the call */
	uint64_t argument; /* the descriptor, or where the path is */
	uint64_t switches; /* how often the thread has given up a processor by itself: unchanged, it is the same call as before */
	enum { MONITOR_WAIT_FILE, MONITOR_WAIT_PIPE, MONITOR_WAIT_SOCKET, MONITOR_WAIT_CHILD } kind;
	const char *name;  /* as in the view op; "wait": for a child */
	char path[256];	   /* "": not known */
};

/*
 * The waits of the threads of a process that began at start_ns, monotonic; at most so many. Needs no monitor. Their number; -ESRCH:
 * there is no such process; -EACCES: we may not look at it.
 */
int monitor_waits(pid_t pid, int64_t start_ns, struct monitor_wait *ret_waits, int most);

/* Whether this process is traced. Needs no monitor. */
bool monitor_is_traced(void);

/* When it returns, everything that the kernel reported before the call is in the ring. */
void monitor_sync(struct monitor *monitor);

#endif
