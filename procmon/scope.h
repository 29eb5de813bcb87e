/* SPDX-License-Identifier: MIT */
#ifndef PROCMON_SCOPE_H
#define PROCMON_SCOPE_H

/*
 * The processes in scope, and what the writer knows of them. Turns reports of the connector or of
 * ptrace, and snapshots from /proc, into events for the ring. Reads nothing and waits for nothing
 * (but a full ring), so that it can be used under a lock.
 *
 * A member is a process that the writer knows:
 *
 *	         uses the tree, or was forked by a member that is IN
 *	(unknown) -------------------------------------------------> IN
 *	    |                                                         ^
 *	    | a descendant uses the tree                              | uses the tree
 *	    +-------------------------------> ANCESTOR ---------------+
 *
 * It is removed when it ends. The writer gets the execs and ends of both kinds, but forks and
 * threads only of those that are IN. A fork of an ANCESTOR is noted (births.h); it is reported,
 * with the time of the fork, if the child uses the tree before it execs.
 *
 * When an exec is reported, EVENT_EXEC goes out at once, in the order of the kernel, without the
 * text of the new program. The member is then queued: scope_next() names the members whose text is
 * to be read. The text follows as EVENT_PROCESS. While a thread reads, the end of the member is
 * held back, because no event of a process may follow its end.
 *
 * Not thread-safe: the caller holds a lock. Only the bytes of scope_known() may be read without it.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <uthash.h>

struct connector_event;
struct exits;
struct figures;
struct proc_snapshot;
struct ring;
struct scope;

/* Unknown number of threads: the process had several when it was discovered, or events were
 * lost. */
#define THREADS_UNKNOWN (-1)

enum scope_kind { SCOPE_ANCESTOR, SCOPE_IN };

struct member {
	pid_t pid;
	pid_t ppid;
	enum scope_kind kind;
	int64_t start_boot_ns; /* since boot, suspended time included; resolution: a clock tick */
	uint64_t image;	       /* procfs_stat.image; 0: unknown */
	uint32_t generation;   /* number of reported execs */
	bool text_done;	       /* the writer has the text of this image, or will not get it */
	bool new_image;	       /* the wanted text is of a program whose exec was not reported */
	bool maybe_stale;	       /* an event may have been missed */
	int threads;	       /* living threads, as far as reported; or THREADS_UNKNOWN */
	bool threaded;	       /* has or had more than one, in this program */
	/* the first thread ended; the process ended, too, or will with its last thread */
	bool leader_ended;
	bool ended;	       /* the end is reported as soon as no thread reads the process */
	bool exec_reported;	       /* ptrace reported the exec that the connector reports next */
	bool traced;	       /* ptrace follows it: reports of the connector are ignored */
	bool wanted;	       /* queued for scope_next() */
	bool given_up;	       /* a request that waited for its text timed out */
	int readers;	       /* threads that read it now */
	uint64_t serial;       /* for scope_list() */
	int status;	       /* of the last reported end of a thread */
	int64_t end_ns;
	int64_t missing_ns; /* when it was found gone without a report of its end; 0: not so */
	struct member *prev, *next;
	UT_hash_handle hh;
};

/* Values of a byte of scope_known(). */
enum { KNOWN_NOT, KNOWN, KNOWN_IGNORED /* gone or outside of the scope: do not read it */ };

/* connected: execs and ends will be reported. exits: the source of exit records; NULL: none. */
int scope_create(struct ring *ring, bool connected, struct exits *exits,
	struct scope **ret_scope);
void scope_destroy(struct scope *scope);

/* One byte for each possible thread id. */
_Atomic uint8_t *scope_known(const struct scope *scope);

struct member *scope_find(const struct scope *scope, pid_t pid);
unsigned scope_count(const struct scope *scope);
/* Processes that are missing, or will be reported late, for lack of memory. Any thread. */
uint64_t scope_lost(const struct scope *scope);
/* The number of members that are IN. */
unsigned scope_count_in(const struct scope *scope);

/* Handles an event of the connector. */
void scope_on_event(struct scope *scope, const struct connector_event *ev);

/*
 * scope_begin(): adds a command that we started; it is IN although its parent is not a member.
 * scope_on_ptrace(): handles an event of ptrace; after an exec the caller gives the text at once,
 * by scope_discover(). scope_release(): the process goes on without ptrace.
 */
/* start_boot_ns: the start time from /proc; 0: unknown. */
void scope_begin(struct scope *scope, pid_t pid, pid_t parent, bool traced, int64_t start_boot_ns,
	int64_t time_ns);
void scope_on_ptrace(struct scope *scope, const struct connector_event *ev);
/* at_exec: it is stopped at the begin of a program; the connector will report that exec
 * once more. */
void scope_release(struct scope *scope, pid_t pid, bool at_exec);

/* Reports what a thread, or (tid 0) a process, has used; from another source than exit records. */
void scope_emit_figures(struct scope *scope, pid_t pid, pid_t tid, const struct figures *figures);
/* Reports what the process had used when its current program began. */
void scope_emit_before(struct scope *scope, pid_t pid, const struct figures *figures);

/* Reports a sample of a living process. -1: unknown. */
void scope_emit_sample(struct scope *scope, pid_t pid, int64_t time_ns, int64_t rss_bytes,
	int64_t cpu_ns);

/*
 * Lists the next processes, at most max, that are IN and started before that time (since boot).
 * Returns their number. *at is 0 in the first call.
 */
size_t scope_list(const struct scope *scope, int64_t before_boot_ns, uint64_t *at,
	pid_t *ret_pids, size_t max);

/*
 * The member to read next: the one queued last, because it is the most likely to live still. NULL
 * if there is none. The caller reads the process and calls scope_on_snapshot() with the generation
 * that the member has now; the member is not freed before.
 */
struct member *scope_next(struct scope *scope);
bool scope_has_next(const struct scope *scope);

/* Handles a snapshot. error: the result of proc_snapshot_take(). The member may be freed. */
void scope_on_snapshot(struct scope *scope, struct member *member, uint32_t generation,
	const struct proc_snapshot *snapshot, int error);

/* Queues the member before all others; queues all members, because events were lost. */
void scope_want(struct scope *scope, struct member *member);
void scope_mark_all_stale(struct scope *scope);

/* A thread uses the tree. If it is the first thread of a noted child of an ANCESTOR, reports the
 * fork. */
void scope_adopt(struct scope *scope, pid_t tid);
/* Drops the noted forks, because a report was lost. */
void scope_forget_births(struct scope *scope);

/*
 * A thread uses the tree. If it is the first thread of a member, the member is IN from now on.
 * Returns whether the writer knows all that it needs.
 */
bool scope_promote(struct scope *scope, pid_t tid);

/*
 * Whether the writer knows all that the snapshot, without its text, can show. *ret_generation: of
 * the member, 0 if it is none.
 */
bool scope_knows(const struct scope *scope, const struct proc_snapshot *snapshot,
	uint32_t *ret_generation);

/*
 * Reports a process whose snapshot was taken because it, or a descendant, uses the tree.
 * generation: from scope_knows(). The caller reports the parent first.
 */
void scope_discover(struct scope *scope, const struct proc_snapshot *snapshot, uint32_t generation,
	enum scope_kind kind);

/* Reports that the thread belongs to the process. start_ticks: of the thread. */
void scope_discover_thread(struct scope *scope, pid_t tid, pid_t pid, int64_t start_ticks);

/* Whether the id still means the thread that was discovered, in the same program. */
bool scope_is_same(const struct scope *scope, pid_t tid, int64_t start_ticks, uint64_t image);

/*
 * Reports the end of members that were found gone more than a second ago and whose end was not
 * reported. Returns whether any such are left.
 */
bool scope_end_missing(struct scope *scope, int64_t now_ns);

#endif
