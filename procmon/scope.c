/* SPDX-License-Identifier: MIT */
#include "procmon/scope.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <utlist.h>

#include "base/clock.h"
#include "db/event.h"
#include "db/figures.h"
#include "db/ring.h"
#include "procmon/births.h"
#include "procmon/connector.h"
#include "procmon/exits.h"
#include "procmon/proc_snapshot.h"
#include "procmon/procfs.h"
#include "procmon/taskstats.h"

/* The kernel's PID_MAX_LIMIT. Pages that are never written take no memory. */
#define TIDS 4194304

/* /proc gives start times in ticks, the connector in nanoseconds. */
#define START_GRAIN_NS 20000000

/*
 * How long the kernel may take from making the end of a process visible to reporting it: the ending
 * thread may be preempted in between.
 */
#define MISSING_NS 1000000000

/* The process that a thread belongs to. */
struct thread_owner {
	int32_t pid;
	/*
	 * With the connector: the generation of the process in which the thread was reported,
	 * because an exec ends all others. Without: the low bits of the thread's start in ticks.
	 */
	uint32_t since;
};

struct scope {
	struct ring *ring;
	bool connected;
	struct exits *exits;
	uint8_t tier;
	int missing;
	uint64_t last_serial;
	struct member *members;
	struct member *wanted; /* most urgent first */
	struct births *births; /* children of ancestors, not reported yet */
	_Atomic uint8_t *known;
	struct thread_owner *owners;
	_Atomic uint64_t lost; /* processes that are missing for lack of memory */
};

static void *map_table(size_t size)
{
	void *table = mmap(NULL, size, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return table == MAP_FAILED ? NULL : table;
}

static void unmap_table(void *table, size_t size)
{
	if (table)
		munmap(table, size);
}

int scope_create(struct ring *ring, bool connected, struct exits *exits, struct scope **ret_scope)
{
	struct scope *scope = calloc(1, sizeof(*scope));

	if (!scope)
		return -ENOMEM;
	scope->ring = ring;
	scope->connected = connected;
	scope->exits = exits;
	scope->tier = connected ? TIER_CONNECTOR : TIER_INBAND;
	scope->known = map_table(TIDS * sizeof(*scope->known));
	scope->owners = map_table(TIDS * sizeof(*scope->owners));
	if (!scope->known || !scope->owners || births_create(&scope->births) < 0) {
		scope_destroy(scope);
		return -ENOMEM;
	}
	*ret_scope = scope;
	return 0;
}

void scope_destroy(struct scope *scope)
{
	struct member *member, *next;

	if (!scope)
		return;
	HASH_ITER(hh, scope->members, member, next) {
		HASH_DEL(scope->members, member);
		free(member);
	}
	unmap_table((void *)scope->known, TIDS * sizeof(*scope->known));
	unmap_table(scope->owners, TIDS * sizeof(*scope->owners));
	births_destroy(scope->births);
	free(scope);
}

_Atomic uint8_t *scope_known(const struct scope *scope)
{
	return scope->known;
}

uint64_t scope_lost(const struct scope *scope)
{
	return atomic_load(&scope->lost);
}

unsigned scope_count(const struct scope *scope)
{
	return HASH_COUNT(scope->members);
}

static void set_known(struct scope *scope, pid_t tid, uint8_t known)
{
	/* Does not write zeros: that would allocate pages of a table for all possible threads. */
	if (tid > 0 && tid < TIDS && scope->known[tid] != known)
		atomic_store_explicit(&scope->known[tid], known, memory_order_release);
}

/* ---- members ---- */

struct member *scope_find(const struct scope *scope, pid_t pid)
{
	struct member *member;

	HASH_FIND_INT(scope->members, &pid, member);
	return member;
}

static struct member *no_member(struct scope *scope, struct member *member)
{
	atomic_fetch_add(&scope->lost, 1);
	free(member);
	return NULL;
}

/* NULL when out of memory: the process is discovered again with its next request. */
static struct member *add_member(struct scope *scope, pid_t pid, pid_t ppid, enum scope_kind kind)
{
	struct member *member = calloc(1, sizeof(*member));

	if (!member)
		return no_member(scope, NULL);
	*member = (struct member){ .pid = pid, .ppid = ppid, .kind = kind, .generation = 1, .threads = 1,
		.serial = ++scope->last_serial };
	HASH_ADD_INT(scope->members, pid, member);
	if (!member->hh.tbl)
		return no_member(scope, member);
	return member;
}

/* ---- their threads ---- */

static bool owns_thread(const struct scope *scope, const struct member *member, pid_t tid)
{
	const struct thread_owner *thread_owner = &scope->owners[tid];

	return thread_owner->pid == member->pid && thread_owner->since == member->generation;
}

static void assign_thread(struct scope *scope, const struct member *member, pid_t tid)
{
	if (scope->connected && tid > 0 && tid < TIDS)
		scope->owners[tid] = (struct thread_owner){ .pid = member->pid, .since = member->generation };
}

/* The end of a thread that an exec has ended, or that was never reported, changes nothing. */
static void unassign_thread(struct scope *scope, struct member *member, pid_t tid)
{
	if (!scope->connected || tid <= 0 || tid >= TIDS || !owns_thread(scope, member, tid))
		return;
	scope->owners[tid] = (struct thread_owner){ 0 };
	if (member->threads > 0)
		member->threads--;
}

/* ---- members to read ---- */

static void unwant(struct scope *scope, struct member *member)
{
	if (member->wanted)
		DL_DELETE(scope->wanted, member);
	member->wanted = false;
}

void scope_want(struct scope *scope, struct member *member)
{
	unwant(scope, member);
	member->wanted = true;
	DL_PREPEND(scope->wanted, member);
}

void scope_mark_all_stale(struct scope *scope)
{
	for (struct member *m = scope->members; m; m = m->hh.next) {
		if (m->traced) /* ptrace misses nothing */
			continue;
		m->maybe_stale = true;
		m->threads = THREADS_UNKNOWN;
		if (!m->wanted && !m->readers)
			scope_want(scope, m);
	}
}

bool scope_has_next(const struct scope *scope)
{
	return scope->wanted;
}

struct member *scope_next(struct scope *scope)
{
	struct member *member = scope->wanted;

	if (!member)
		return NULL;
	unwant(scope, member);
	member->readers++;
	return member;
}

static void set_missing(struct scope *scope, struct member *member, int64_t since_ns)
{
	scope->missing += (since_ns != 0) - (member->missing_ns != 0);
	member->missing_ns = since_ns;
}

/* ---- events for the writer ---- */

static void push(struct scope *scope, enum event_kind kind, int64_t time_ns,
	struct event_process process)
{
	struct event ev = { .kind = kind, .time_ns = time_ns, .u.process = process };

	if (!ev.u.process.tier)
		ev.u.process.tier = scope->tier;
	ring_push(scope->ring, &ev, NULL, 0);
}

static uint8_t tier_of(const struct scope *scope, const struct member *member)
{
	return member->traced ? TIER_PTRACE : scope->tier;
}

static void push_figures(struct scope *scope, enum event_kind kind, pid_t pid, pid_t tid, uint8_t tier,
	const struct figures *figures)
{
	struct event ev = { .kind = kind, .time_ns = clock_now_ns(),
		.u.process = { .pid = pid, .tid = tid, .tier = tier } };

	ring_push(scope->ring, &ev, (const char *)figures, sizeof(*figures));
}

/* A process that ended before its text could be read: at least the exit record has its name. */
static void push_comm(struct scope *scope, const struct member *member, const char *comm)
{
	struct event ev = { .kind = EVENT_PROCESS, .time_ns = clock_now_ns(),
		.u.process = { .pid = member->pid, .tid = member->pid, .ppid = member->ppid,
			.tier = scope->tier } };
	struct procfs_buffer text = { 0 };

	if (comm[0] && procfs_put_comm(comm, &text) == 0)
		ring_push(scope->ring, &ev, text.bytes, text.len);
	free(text.bytes);
}

/*
 * Emits the exit record of a thread. Also takes the record of a thread that is not in scope, so
 * that it is not paired with a later thread.
 */
static void emit_exit_record(struct scope *scope, const struct member *member, pid_t tid)
{
	struct taskstats_record record;

	if (!scope->exits || !exits_take(scope->exits, tid, &record) || !member || member->ended)
		return;
	if (tid == member->pid && !member->traced && !member->image && member->kind == SCOPE_IN)
		push_comm(scope, member, record.comm);
	push_figures(scope, EVENT_FIGURES, member->pid, tid, TIER_TASKSTATS, &record.figures);
}

void scope_emit_figures(struct scope *scope, pid_t pid, pid_t tid, const struct figures *figures)
{
	struct member *member = scope_find(scope, pid);

	/* Figures of a thread would be counted twice beside its exit record. */
	if (member && (!tid || !scope->exits))
		push_figures(scope, EVENT_FIGURES, pid, tid, tier_of(scope, member), figures);
}

void scope_emit_before(struct scope *scope, pid_t pid, const struct figures *figures)
{
	struct member *member = scope_find(scope, pid);

	if (member)
		push_figures(scope, EVENT_BEFORE, pid, 0, tier_of(scope, member), figures);
}

void scope_emit_sample(struct scope *scope, pid_t pid, int64_t time_ns, int64_t rss_bytes,
	int64_t cpu_ns)
{
	struct event ev = { .kind = EVENT_SAMPLE, .time_ns = time_ns,
		.u.sample = { .pid = pid, .rss_bytes = rss_bytes, .cpu_ns = cpu_ns } };

	if (scope_find(scope, pid))
		ring_push(scope->ring, &ev, NULL, 0);
}

static void push_process(struct scope *scope, const struct member *member,
	const struct proc_snapshot *snapshot, bool new_image)
{
	struct event ev = { .kind = EVENT_PROCESS, .time_ns = snapshot->time_ns };
	const struct procfs_buffer *text = &snapshot->text.text;

	ev.u.process = (struct event_process){ .pid = member->pid, .tid = member->pid,
		.ppid = member->ppid, .tier = tier_of(scope, member), .new_image = new_image,
		.start_ns = procfs_ticks_ns(snapshot->stat.start_ticks) - clock_suspended_ns() };
	if (snapshot->text_known && snapshot->owner_known) {
		ev.u.process.known = 1;
		ev.u.process.uid = snapshot->uid;
		ev.u.process.gid = snapshot->gid;
	}
	ring_push(scope->ring, &ev, text->bytes, snapshot->text_known ? text->len : 0);
}

static void push_exit(struct scope *scope, const struct member *member, pid_t tid, int status,
	int64_t time_ns)
{
	push(scope, EVENT_EXIT, time_ns, (struct event_process){ .pid = member->pid, .tid = tid,
		.status = status, .tier = tier_of(scope, member) });
}

/* Reports the end and removes the member. The last thread that reads it frees it. */
static void finish_member(struct scope *scope, struct member *member)
{
	push_exit(scope, member, member->pid, member->status, member->end_ns);
	set_known(scope, member->pid, KNOWN_NOT);
	unwant(scope, member);
	set_missing(scope, member, 0);
	HASH_DEL(scope->members, member);
	member->pid = 0;
	if (!member->readers)
		free(member);
}

static void end_member(struct scope *scope, struct member *member, int status, int64_t time_ns)
{
	member->ended = true;
	member->status = status;
	member->end_ns = time_ns;
	if (!member->readers)
		finish_member(scope, member);
}

/* Another process has the pid now: end the member without waiting for readers. */
static void replace_member(struct scope *scope, struct member *member)
{
	if (!member->ended) {
		member->status = -1;
		member->end_ns = clock_now_ns();
	}
	finish_member(scope, member);
}

/* ---- what the kernel reports ---- */

/* The child has the image of its parent, which the writer knows: no text is needed. */
static void emit_fork(struct scope *scope, pid_t pid, const struct birth *birth, bool traced)
{
	struct member *child = add_member(scope, pid, birth->parent, SCOPE_IN);

	if (!child)
		return;
	child->start_boot_ns = birth->time_ns + clock_suspended_ns();
	child->image = birth->image;
	child->text_done = true;
	child->traced = traced;
	assign_thread(scope, child, pid);
	push(scope, EVENT_FORK, birth->time_ns, (struct event_process){ .pid = pid, .tid = pid,
		.ppid = birth->parent, .tier = tier_of(scope, child) });
	set_known(scope, pid, KNOWN);
}

static void on_fork(struct scope *scope, const struct connector_event *ev, bool traced)
{
	struct member *parent = scope_find(scope, ev->parent), *child = scope_find(scope, ev->pid);
	struct birth birth = { .parent = ev->parent, .time_ns = ev->time_ns };

	births_forget(scope->births, ev->pid);
	if (child)
		replace_member(scope, child); /* the report of its end was lost */
	if (!parent)
		return;
	birth.image = parent->image;
	birth.parent_serial = parent->serial;
	if (parent->kind == SCOPE_IN)
		emit_fork(scope, ev->pid, &birth, traced);
	else
		births_note(scope->births, ev->pid, &birth);
}

static void on_thread(struct scope *scope, const struct connector_event *ev)
{
	struct member *member = scope_find(scope, ev->pid);

	births_forget(scope->births, ev->pid); /* a noted fork covers the first thread only */
	if (!member)
		return;
	member->threaded = true;
	if (member->threads > 0)
		member->threads++;
	assign_thread(scope, member, ev->tid);
	if (member->kind != SCOPE_IN)
		return;
	push(scope, EVENT_THREAD, ev->time_ns, (struct event_process){ .pid = ev->pid,
		.tid = ev->tid, .tier = tier_of(scope, member) });
	set_known(scope, ev->tid, KNOWN);
}

/*
 * Exec: the other threads are gone. If one of them called it, that thread is the first one now. The
 * exit record of the former first thread is taken here: its end may be reported later, under
 * another number.
 */
static void begin_program(struct scope *scope, struct member *member)
{
	if (member->threaded)
		emit_exit_record(scope, member, member->pid);
	member->generation++;
	member->threads = 1;
	member->threaded = false;
	member->leader_ended = false;
	assign_thread(scope, member, member->pid);
}

static void on_exec(struct scope *scope, const struct connector_event *ev)
{
	struct member *member = scope_find(scope, ev->pid);

	births_forget(scope->births, ev->pid);
	if (!member || member->ended)
		return;
	if (member->exec_reported) {
		member->exec_reported = false;
		return;
	}
	begin_program(scope, member);
	member->image = 0;
	member->text_done = false;
	member->new_image = false;
	member->maybe_stale = false;
	member->given_up = false;
	set_missing(scope, member, 0);
	set_known(scope, ev->pid, KNOWN_NOT);
	push(scope, EVENT_EXEC, ev->time_ns, (struct event_process){ .pid = ev->pid,
		.tid = ev->pid, .ppid = member->ppid, .tier = tier_of(scope, member) });
	if (!member->traced) /* if traced, follow.c has read the text already */
		scope_want(scope, member);
}

/*
 * A process ends with its last thread. The first thread may end before, also because another thread
 * execs. If all threads were reported, their number is known. Otherwise /proc shows whether one
 * lives, and each further end queues a read. But /proc may show the end before the last ends are
 * reported.
 */
static void on_exit_event(struct scope *scope, const struct connector_event *ev)
{
	struct member *member = scope_find(scope, ev->pid);

	set_known(scope, ev->tid, KNOWN_NOT);
	births_forget(scope->births, ev->tid);
	emit_exit_record(scope, member, ev->tid);
	if (!member || member->ended)
		return;
	/* ptrace and wait(2) report the end of the first thread when all threads have ended. */
	if (ev->tid == ev->pid && (member->traced || !scope->connected)) {
		end_member(scope, member, ev->status, ev->time_ns);
		return;
	}
	if (ev->tid == ev->pid)
		member->leader_ended = true;
	else if (member->kind == SCOPE_IN)
		push_exit(scope, member, ev->tid, ev->status, ev->time_ns);
	/* After exit_group(2) all threads have the same status; the last one counts. */
	member->status = ev->status;
	member->end_ns = ev->time_ns;
	unassign_thread(scope, member, ev->tid);
	if (member->threads == 0)
		end_member(scope, member, ev->status, ev->time_ns);
	else if (member->threads == THREADS_UNKNOWN && member->leader_ended)
		scope_want(scope, member);
}

static void on_event(struct scope *scope, const struct connector_event *ev, bool traced)
{
	switch (ev->kind) {
	case CONNECTOR_FORK:
		/*
		 * A new thread may get a number that was in use before, and the report of that end
		 * may be lost: forget what the number meant.
		 */
		set_known(scope, ev->tid, KNOWN_NOT);
		if (ev->tid == ev->pid)
			on_fork(scope, ev, traced);
		else
			on_thread(scope, ev);
		break;
	case CONNECTOR_EXEC: on_exec(scope, ev); break;
	case CONNECTOR_EXIT: on_exit_event(scope, ev); break;
	case CONNECTOR_ACK: break;
	}
}

static bool is_traced(const struct scope *scope, pid_t pid)
{
	const struct member *member = scope_find(scope, pid);

	return member && member->traced;
}

void scope_on_event(struct scope *scope, const struct connector_event *ev)
{
	bool is_fork = ev->kind == CONNECTOR_FORK && ev->tid == ev->pid;

	if (is_traced(scope, ev->pid) || (is_fork && is_traced(scope, ev->parent)))
		return;
	on_event(scope, ev, false);
}

void scope_on_ptrace(struct scope *scope, const struct connector_event *ev)
{
	on_event(scope, ev, true);
}

void scope_begin(struct scope *scope, pid_t pid, pid_t parent, bool traced, int64_t start_boot_ns,
	int64_t time_ns)
{
	struct member *member = scope_find(scope, pid);

	if (member)
		replace_member(scope, member);
	member = add_member(scope, pid, parent, SCOPE_IN);
	if (!member)
		return;
	/* The child may have waited for long before this. */
	member->start_boot_ns = start_boot_ns ? start_boot_ns : time_ns + clock_suspended_ns();
	member->text_done = true; /* until its exec it runs our program, whose text is not needed */
	member->traced = traced;
	assign_thread(scope, member, pid);
	push(scope, EVENT_FORK, time_ns, (struct event_process){ .pid = pid, .tid = pid,
		.ppid = parent, .tier = tier_of(scope, member) });
	set_known(scope, pid, KNOWN);
}

void scope_release(struct scope *scope, pid_t pid, bool at_exec)
{
	struct member *member = scope_find(scope, pid);

	if (!member)
		return;
	member->traced = false;
	member->exec_reported = at_exec && scope->connected;
	member->maybe_stale = !scope->connected;
}

unsigned scope_count_in(const struct scope *scope)
{
	unsigned n = 0;

	for (const struct member *m = scope->members; m; m = m->hh.next)
		n += m->kind == SCOPE_IN && !m->ended;
	return n;
}

size_t scope_list(const struct scope *scope, int64_t before_boot_ns, uint64_t *at, pid_t *ret_pids,
	size_t max)
{
	size_t n = 0;

	/* The hash table iterates in the order of insertion. */
	for (const struct member *m = scope->members; m && n < max; m = m->hh.next) {
		if (m->serial <= *at)
			continue;
		*at = m->serial;
		if (m->kind == SCOPE_IN && m->start_boot_ns < before_boot_ns)
			ret_pids[n++] = m->pid;
	}
	return n;
}

/* ---- snapshots ---- */

/*
 * Whether a further snapshot would show no more. /proc/PID of a first thread that ended before the
 * others has no text any more.
 */
static bool is_final(const struct proc_snapshot *snapshot)
{
	return snapshot->text_known || snapshot->stat.state == 'Z';
}

static void emit_text(struct scope *scope, struct member *member, const struct proc_snapshot *snapshot)
{
	push_process(scope, member, snapshot, member->new_image);
	member->image = snapshot->stat.image;
	member->text_done = true;
	member->new_image = false;
	if (member->kind == SCOPE_IN)
		set_known(scope, member->pid, KNOWN);
}

static bool same_start(const struct member *member, const struct proc_snapshot *snapshot)
{
	int64_t apart = procfs_ticks_ns(snapshot->stat.start_ticks) - member->start_boot_ns;

	return !member->start_boot_ns || (apart < START_GRAIN_NS && apart > -START_GRAIN_NS);
}

static bool other_image(const struct member *member, const struct proc_snapshot *snapshot)
{
	return member->image && snapshot->stat.image && member->image != snapshot->stat.image;
}

/* /proc shows no such process, but no end was reported: it will be, or was lost, or there is no
 * source. */
static void on_gone(struct scope *scope, struct member *member)
{
	if (member->ended || member->traced)
		return;
	if (member->leader_ended)
		end_member(scope, member, member->status, member->end_ns);
	else if (!scope->connected)
		end_member(scope, member, -1, clock_now_ns());
	else if (!member->missing_ns)
		set_missing(scope, member, clock_now_ns());
}

static void on_snapshot(struct scope *scope, struct member *member, const struct proc_snapshot *snapshot)
{
	if (!same_start(member, snapshot)) {
		on_gone(scope, member);
		return;
	}
	if (member->maybe_stale && snapshot->stat.threads > 1 && !member->threaded)
		member->threads = THREADS_UNKNOWN;
	member->threaded |= snapshot->stat.threads > 1;
	if (!member->text_done && is_final(snapshot))
		emit_text(scope, member, snapshot);
	if (member->maybe_stale && member->text_done && other_image(member, snapshot)) {
		member->text_done = false;
		member->new_image = true;
		member->given_up = false;
		set_known(scope, member->pid, KNOWN_NOT);
		scope_want(scope, member);
	}
	member->maybe_stale = !scope->connected;
}

void scope_on_snapshot(struct scope *scope, struct member *member, uint32_t generation,
	const struct proc_snapshot *snapshot, int error)
{
	if (member->pid && member->generation == generation) {
		if (error == -ESRCH)
			on_gone(scope, member);
		else if (error == 0)
			on_snapshot(scope, member, snapshot);
	}
	member->readers--;
	if (!member->pid && !member->readers)
		free(member);
	else if (member->ended && !member->readers)
		finish_member(scope, member);
}

void scope_forget_births(struct scope *scope)
{
	births_clear(scope->births);
}

void scope_adopt(struct scope *scope, pid_t tid)
{
	const struct member *parent;
	struct birth birth;

	if (births_take(scope->births, tid, &birth) < 0 || scope_find(scope, tid))
		return;
	parent = scope_find(scope, birth.parent);
	if (parent && parent->serial == birth.parent_serial && parent->text_done)
		emit_fork(scope, tid, &birth, false);
}

bool scope_promote(struct scope *scope, pid_t tid)
{
	struct member *member = scope_find(scope, tid);

	if (!member || member->ended)
		return false;
	member->kind = SCOPE_IN;
	/* Without the connector another process may have the number by now. */
	if (!scope->connected || !member->text_done)
		return false;
	set_known(scope, tid, KNOWN);
	return true;
}

bool scope_knows(const struct scope *scope, const struct proc_snapshot *snapshot,
	uint32_t *ret_generation)
{
	const struct member *member = scope_find(scope, snapshot->pid);

	*ret_generation = member ? member->generation : 0;
	return member && member->text_done && same_start(member, snapshot)
		&& (scope->connected || member->image == snapshot->stat.image);
}

static struct member *add_discovered(struct scope *scope, const struct proc_snapshot *snapshot,
	enum scope_kind kind)
{
	struct member *member = add_member(scope, snapshot->pid, snapshot->stat.ppid, kind);

	if (!member)
		return NULL;
	member->start_boot_ns = procfs_ticks_ns(snapshot->stat.start_ticks);
	member->threaded = snapshot->stat.threads > 1;
	if (member->threaded)
		member->threads = THREADS_UNKNOWN;
	assign_thread(scope, member, member->pid);
	member->image = snapshot->stat.image;
	member->text_done = is_final(snapshot);
	push_process(scope, member, snapshot, false);
	/*
	 * Before this, events of the process were ignored. If it ended, made a thread or executed a
	 * program since the snapshot, a second snapshot shows it; later events are received.
	 */
	member->maybe_stale = true;
	if (scope->connected)
		scope_want(scope, member);
	return member;
}

void scope_discover(struct scope *scope, const struct proc_snapshot *snapshot, uint32_t generation,
	enum scope_kind kind)
{
	struct member *member = scope_find(scope, snapshot->pid);

	/* The process is stopped, so no other has its number, and our time of its fork may
	 * be late. */
	if (member && member->traced)
		member->start_boot_ns = procfs_ticks_ns(snapshot->stat.start_ticks);
	if (member && !same_start(member, snapshot)) {
		replace_member(scope, member);
		member = NULL;
	}
	if (!member)
		member = add_discovered(scope, snapshot, kind);
	else if (member->generation == generation && is_final(snapshot) && !member->text_done)
		emit_text(scope, member, snapshot);
	else if (member->generation == generation && is_final(snapshot) && member->maybe_stale
		&& other_image(member, snapshot)) {
		member->new_image = true;
		emit_text(scope, member, snapshot);
	}
	if (member && kind == SCOPE_IN)
		member->kind = SCOPE_IN;
}

void scope_discover_thread(struct scope *scope, pid_t tid, pid_t pid, int64_t start_ticks)
{
	struct member *member = scope_find(scope, pid);

	if (!member || !member->text_done || tid <= 0 || tid >= TIDS)
		return;
	if (tid != pid)
		push(scope, EVENT_THREAD, clock_now_ns(),
			(struct event_process){ .pid = pid, .tid = tid });
	if (!scope->connected)
		scope->owners[tid] = (struct thread_owner){ .pid = pid, .since = (uint32_t)start_ticks };
	else if (!owns_thread(scope, member, tid))
		member->threads = THREADS_UNKNOWN;
	set_known(scope, tid, KNOWN);
}

bool scope_is_same(const struct scope *scope, pid_t tid, int64_t start_ticks, uint64_t image)
{
	const struct thread_owner *thread_owner = &scope->owners[tid];
	const struct member *member = scope_find(scope, thread_owner->pid);

	return member && member->text_done && thread_owner->since == (uint32_t)start_ticks
		&& (!image || !member->image || member->image == image);
}

bool scope_end_missing(struct scope *scope, int64_t now_ns)
{
	struct member *member, *next;

	if (!scope->missing)
		return false;
	HASH_ITER(hh, scope->members, member, next) {
		if (member->missing_ns && now_ns - member->missing_ns > MISSING_NS)
			end_member(scope, member, -1, member->missing_ns);
	}
	return scope->missing;
}
