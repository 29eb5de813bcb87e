/* SPDX-License-Identifier: MIT */
#ifndef PROCMON_SCOPE_H
#define PROCMON_SCOPE_H

/*
 * Who is in scope, and what the writer has been told of them: turns what the connector says and
 * what a look at /proc shows into events.  Reads nothing and waits for nothing (but a full
 * ring), so that it can be used under a lock.
 *
 * A member is a process that the writer knows:
 *
 *	         touched the tree, or forked by a member that is IN
 *	(nobody) ------------------------------------------------> IN
 *	    |                                                       ^
 *	    | has a descendant that touched                         | touches
 *	    +-------------------------------> ANCESTOR -------------+
 *
 * and stops being one when it ends.  Execs and ends of both are told; forks and threads of those
 * that are IN only.  A child of an ANCESTOR is noted, and told of by the time of its fork when it
 * touches before it execs.
 *
 * A member's text is not read when an exec is heard of but wanted: scope_next() tells whose, and
 * the events go out at once, in the order of the kernel, without it.  It follows as
 * EVENT_PROCESS.  While somebody reads, the end of a member is held back, for nobody may be told
 * of after his end.
 *
 * Not thread-safe: the caller's lock.  Only the bytes of scope_known() may be read without.
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

/* It was met when it had several, or news were lost. */
#define THREADS_UNKNOWN (-1)

enum scope_kind { SCOPE_ANCESTOR, SCOPE_IN };

struct member {
	pid_t pid;
	pid_t ppid;
	enum scope_kind kind;
	int64_t start_boot_ns; /* since boot, suspended time included; grain: a clock tick */
	uint64_t image;	       /* procfs_stat.image; 0 not known */
	uint32_t generation;   /* execs that were heard of */
	bool text_done;	       /* the writer has the text of this image, or never will */
	bool new_image;	       /* the text that is wanted is that of an exec nobody heard of */
	bool maybe_stale;	       /* something may have happened that was not heard */
	int threads;	       /* that live, as far as was heard; or THREADS_UNKNOWN */
	bool threaded;	       /* has or had more than one, in this program */
	bool leader_ended;     /* its first thread ended: so has it, or its last thread will */
	bool ended;	       /* told as soon as nobody reads */
	bool exec_reported;	       /* the next exec that is heard of is the one that ptrace has told */
	bool traced;	       /* heard of by ptrace: what the connector says of it is old */
	bool wanted;	       /* in the list of scope_next() */
	bool given_up;	       /* a request waited for its text in vain */
	int readers;	       /* who look at it now */
	uint64_t serial;       /* of scope_list() */
	int status;	       /* of the newest end of a thread */
	int64_t end_ns;
	int64_t missing_ns; /* since when its end should have been heard; 0 */
	struct member *prev, *next;
	UT_hash_handle hh;
};

/* What a byte of scope_known() says. */
enum { KNOWN_NOT, KNOWN, KNOWN_IGNORED /* there is nothing to be found out */ };

/* connected: ends and execs will be heard of.  exits: where the figures of ended threads are; NULL:
 * nowhere. */
int scope_create(struct ring *ring, bool connected, struct exits *exits,
	struct scope **ret_scope);
void scope_destroy(struct scope *scope);

/* One byte for each possible thread id. */
_Atomic uint8_t *scope_known(const struct scope *scope);

struct member *scope_find(const struct scope *scope, pid_t pid);
unsigned scope_count(const struct scope *scope);
/* Processes that are missing, or will be told late, because there was no memory for them; by any thread. */
uint64_t scope_lost(const struct scope *scope);
/* Of those that are IN. */
unsigned scope_count_in(const struct scope *scope);

/* Takes in what the kernel reported. */
void scope_on_event(struct scope *scope, const struct connector_event *ev);

/*
 * The first: a command that we started; it is IN although its parent is nobody.  The others: the
 * same from ptrace, for processes that are followed by it (traced); of an exec the text follows at
 * once, by scope_discover().  release: it goes on without ptrace.
 */
/* start_boot_ns: as /proc has it. */
void scope_begin(struct scope *scope, pid_t pid, pid_t parent, bool traced, int64_t start_boot_ns,
	int64_t time_ns);
void scope_on_ptrace(struct scope *scope, const struct connector_event *ev);
/* at_exec: it stands at the begin of a program, of which the connector will tell once more. */
void scope_release(struct scope *scope, pid_t pid, bool at_exec);

/* What a thread, or (tid 0) a process has used, from another source than exits. */
void scope_emit_figures(struct scope *scope, pid_t pid, pid_t tid, const struct figures *figures);
/* What the process had used when it began the program that it runs. */
void scope_emit_before(struct scope *scope, pid_t pid, const struct figures *figures);

/* A look at a living process.  -1: not known. */
void scope_emit_sample(struct scope *scope, pid_t pid, int64_t time_ns, int64_t rss_bytes,
	int64_t cpu_ns);

/* The next, at most max, processes that are IN and began before that time (since boot); their number.
 * *at: 0 at first. */
size_t scope_list(const struct scope *scope, int64_t before_boot_ns, uint64_t *at,
	pid_t *ret_pids, size_t max);

/*
 * The member that should be looked at next: the one that was wanted last, for it is the most
 * likely to live still.  NULL if none.  To be given to scope_on_snapshot(), before which it is not
 * freed, with the generation it had.
 */
struct member *scope_next(struct scope *scope);
bool scope_has_next(const struct scope *scope);

/* error: of proc_snapshot_take().  The look is used as it stands; the member may be freed. */
void scope_on_snapshot(struct scope *scope, struct member *member, uint32_t generation,
	const struct proc_snapshot *snapshot, int error);

/* Wants a look at the member before others; at all of them, because events were lost. */
void scope_want(struct scope *scope, struct member *member);
void scope_mark_all_stale(struct scope *scope);

/* A thread touched: if it is the first one of a child of an ancestor, that is told of. */
void scope_adopt(struct scope *scope, pid_t tid);
/* What it says may be old: a report was lost. */
void scope_forget_births(struct scope *scope);

/* A thread touched: if it is the first one of a member, that is IN from now on.  Whether the
 * writer needs no more. */
bool scope_promote(struct scope *scope, pid_t tid);

/* Whether the writer has been told all that the look, without its text, can show; the generation
 * of the member, 0 if it is none. */
bool scope_knows(const struct scope *scope, const struct proc_snapshot *snapshot,
	uint32_t *ret_generation);

/*
 * Tells of a process that was looked at because it, or a descendant, touched; generation as
 * scope_knows() gave it.  The parent first.
 */
void scope_discover(struct scope *scope, const struct proc_snapshot *snapshot, uint32_t generation,
	enum scope_kind kind);

/* The thread belongs to the process.  start_ticks: of the thread. */
void scope_discover_thread(struct scope *scope, pid_t tid, pid_t pid, int64_t start_ticks);

/* Whether the thread is still who it was when it was met, in the same program. */
bool scope_is_same(const struct scope *scope, pid_t tid, int64_t start_ticks, uint64_t image);

/* Tells the end of those whose end should have been heard a second ago.  Whether any are left. */
bool scope_end_missing(struct scope *scope, int64_t now_ns);

#endif
