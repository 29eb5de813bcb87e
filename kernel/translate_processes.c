/* SPDX-License-Identifier: MIT */
/* Forks, execs and ends of processes -> process events. */

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/vector.h"
#include "kernel/names.h"
#include "kernel/translate_internal.h"

/* A path of /proc with "(deleted)" behind it. */
#define PATH_ROOM (2 * PATH_MAX)

/* ---- what was used ---- */

/* No figure is larger, so that sums of them fit. */
static int64_t sane(uint64_t figure)
{
	const uint64_t most = UINT64_C(1) << 56;

	return figure < most ? figure : most;
}

/*
 * The kernel counts user and system time by ticks, and the sum exactly; wait4(2) divides the exact sum in proportion of
 * the ticks, and so do we.
 */
static void put_times(struct figures *figures, const struct wire_figures *from)
{
	int64_t run = sane(from->run_ns), ticks = sane(from->utime_ns) + sane(from->stime_ns);
	int64_t stime = ticks ? (int64_t)((__int128)run * sane(from->stime_ns) / ticks) : 0;

	figures_set(figures, FIGURE_CPU, run);
	figures_set(figures, FIGURE_UTIME, run - stime);
	figures_set(figures, FIGURE_STIME, stime);
}

/* The command itself is traced from its exec on; before that its life is not known. */
static void put_waits(struct figures *figures, const struct wire_figures *from)
{
	static const enum figure of[WAIT_MAX] = { [WAIT_OTHER] = FIGURE_WAIT_OTHER, [WAIT_FILE] = FIGURE_WAIT_FILE,
		[WAIT_PIPE] = FIGURE_WAIT_PIPE, [WAIT_SOCKET] = FIGURE_WAIT_SOCKET, [WAIT_LOCK] = FIGURE_WAIT_LOCK,
		[WAIT_CHILD] = FIGURE_WAIT_CHILD, [WAIT_SLEEP] = FIGURE_WAIT_SLEEP, [WAIT_EVENT] = FIGURE_WAIT_EVENT,
		[WAIT_MEMORY] = FIGURE_WAIT_MEMORY, [WAIT_STOP] = FIGURE_WAIT_STOP, [WAIT_PROCESSOR] = FIGURE_CPU_DELAY };
	int64_t rest = sane(from->life_ns);

	figures_set(figures, FIGURE_THREADS, rest);
	for (int i = 0; i < WAIT_MAX; i++) {
		figures_set(figures, of[i], sane(from->waits_ns[i]));
		rest -= sane(from->waits_ns[i]);
	}
	figures_set(figures, FIGURE_RUNNING, rest > 0 ? rest : 0);
}

static struct figures figures_of(const struct wire_figures *from)
{
	struct figures figures = { 0 };
	uint64_t page = sysconf(_SC_PAGESIZE);

	put_times(&figures, from);
	if (from->peak_vm_pages)
		figures_set(&figures, FIGURE_VMPEAK, sane(from->peak_vm_pages * page));
	if (from->maxrss_pages)
		figures_set(&figures, FIGURE_RSSPEAK, sane(from->maxrss_pages * page));
	figures_set(&figures, FIGURE_READ_CHAR, sane(from->read_char));
	figures_set(&figures, FIGURE_WRITE_CHAR, sane(from->write_char));
	figures_set(&figures, FIGURE_READ_BYTES, sane(from->read_bytes));
	figures_set(&figures, FIGURE_WRITE_BYTES, sane(from->write_bytes));
	figures_set(&figures, FIGURE_MINFLT, sane(from->minflt));
	figures_set(&figures, FIGURE_MAJFLT, sane(from->majflt));
	figures_set(&figures, FIGURE_NVCSW, sane(from->nvcsw));
	figures_set(&figures, FIGURE_NIVCSW, sane(from->nivcsw));
	put_waits(&figures, from);
	return figures;
}

static void push_figures(struct translate *translate, enum event_kind kind, int32_t pid, int32_t tid,
	int64_t time_ns, const struct figures *figures)
{
	struct event ev = { .kind = kind, .time_ns = time_ns,
		.u.process = { .pid = pid, .tid = tid, .tier = TIER_KERNEL } };

	translate_push(translate, &ev, figures, sizeof(*figures));
}

/* ---- processes ---- */

static struct process *find_process(const struct translate *translate, int32_t pid)
{
	struct process *process;

	HASH_FIND_INT(translate->processes, &pid, process);
	return process;
}

static int add_process(struct translate *translate, int32_t pid, int32_t ppid)
{
	struct process *process = find_process(translate, pid);

	if (!process) {
		process = calloc(1, sizeof(*process));
		if (!process)
			return -ENOMEM;
		process->pid = pid;
		HASH_ADD_INT(translate->processes, pid, process);
		if (!process->hh.tbl) {
			free(process);
			return -ENOMEM;
		}
	}
	process->ppid = ppid;
	process->ended = (struct figures){ .known = UINT32_MAX };
	return 0;
}

static void push_process(struct translate *translate, enum event_kind kind, int64_t time_ns,
	struct event_process process)
{
	struct event ev = { .kind = kind, .time_ns = time_ns, .u.process = process };

	ev.u.process.tier = TIER_KERNEL;
	translate_push(translate, &ev, NULL, 0);
}

/* ---- exec ---- */

static struct exec_text *text_of(struct translate *translate, int32_t tid)
{
	struct exec_text *text;

	HASH_FIND_INT(translate->texts, &tid, text);
	if (text)
		return text;
	text = calloc(1, sizeof(*text));
	if (!text)
		return NULL;
	text->tid = tid;
	HASH_ADD_INT(translate->texts, tid, text);
	if (text->hh.tbl)
		return text;
	free(text);
	return NULL;
}

static void forget_text(struct translate *translate, struct exec_text *text)
{
	HASH_DEL(translate->texts, text);
	free(text->bytes[WIRE_ARGV]);
	free(text->bytes[WIRE_ENVIRON]);
	free(text);
}

int translate_text(struct translate *translate, const struct wire_text *record)
{
	struct exec_text *text = text_of(translate, record->head.tid);
	unsigned part = record->head.call;
	char *bytes;

	if (!text)
		return -ENOMEM;
	if (record->offset != text->len[part]) /* a piece is missing: no text */
		return 0;
	bytes = realloc(text->bytes[part], record->offset + record->len + 1);
	if (!bytes)
		return -ENOMEM;
	memcpy(bytes + record->offset, record->text, record->len);
	text->bytes[part] = bytes;
	text->len[part] += record->len;
	return 0;
}

static struct expiring *find_expiring(const struct translate *translate, int32_t tid)
{
	struct expiring *expiring;

	HASH_FIND_INT(translate->expirings, &tid, expiring);
	return expiring;
}

static void forget_expiring(struct translate *translate, struct expiring *expiring)
{
	HASH_DEL(translate->expirings, expiring);
	free(expiring->handles);
	free(expiring);
}

int translate_expire(struct translate *translate, const struct wire_handle *record)
{
	struct expiring *expiring = find_expiring(translate, record->head.tid);

	if (!expiring) {
		expiring = calloc(1, sizeof(*expiring));
		if (!expiring)
			return -ENOMEM;
		expiring->tid = record->head.tid;
		HASH_ADD_INT(translate->expirings, tid, expiring);
		if (!expiring->hh.tbl) {
			free(expiring);
			return -ENOMEM;
		}
	}
	return vector_push(expiring->handles, expiring->n, record->handle);
}

void translate_keep_open(struct translate *translate, int32_t tid)
{
	struct expiring *expiring = find_expiring(translate, tid);

	if (expiring)
		forget_expiring(translate, expiring);
}

static void close_at_exec(struct translate *translate, const struct wire_exec *record)
{
	struct expiring *expiring = find_expiring(translate, record->old_tid);

	if (!expiring)
		return;
	for (uint32_t i = 0; i < expiring->n; i++)
		translate_release(translate, expiring->handles[i], record->old_tid, record->head.time_ns);
	forget_expiring(translate, expiring);
}

/* The kernel opens a program to execute it, without a system call. */
static void push_program(struct translate *translate, const struct wire_exec *record, int which, uint64_t base,
	uint64_t node, const char *text, size_t len)
{
	struct event ev = translate_event(&record->head, OP_OPEN);

	ev.tid = record->old_tid;
	ev.aside = 1;
	ev.fidelity = FIDELITY_CALL;
	ev.u.op.node = base;
	ev.u.op.other = node;
	ev.u.op.handle = record->handles + which;
	ev.u.op.flags = FMODE_EXEC;
	translate_push(translate, &ev, text, len);
	ev.op = OP_RELEASE;
	ev.fidelity = 0;
	ev.u.op.node = node;
	ev.u.op.other = ev.u.op.flags = 0;
	translate_push(translate, &ev, NULL, 0);
}

static void push_programs(struct translate *translate, const struct wire_exec *record)
{
	uint64_t exe = names_node(translate->names, record->exe);
	uint64_t loader = names_node(translate->names, record->loader);

	if (record->script_base && record->len > 1)
		push_program(translate, record, 0, names_node(translate->names, record->script_base), 0, record->text,
			record->len - 1);
	if (exe)
		push_program(translate, record, 1, exe, exe, NULL, 0);
	if (loader)
		push_program(translate, record, 2, loader, loader, NULL, 0);
}

struct parts {
	char *bytes;
	size_t len;
	int error;
};

static void put_part(struct parts *parts, const void *bytes, int64_t len)
{
	uint32_t part_len = len < 0 ? PROCESS_PART_UNKNOWN : (uint32_t)len;
	char *grown = realloc(parts->bytes, parts->len + sizeof(part_len) + (len > 0 ? len : 0));

	if (!grown) {
		parts->error = -ENOMEM;
		return;
	}
	parts->bytes = grown;
	memcpy(grown + parts->len, &part_len, sizeof(part_len));
	parts->len += sizeof(part_len);
	if (len > 0) {
		memcpy(grown + parts->len, bytes, len);
		parts->len += len;
	}
}

static void put_path(struct translate *translate, struct parts *parts, uint64_t name)
{
	char path[PATH_ROOM];

	put_part(parts, path, names_path(translate->names, name, path, sizeof(path)));
}

/* Arguments that were cut end with NUL, too. */
static void put_argv(struct parts *parts, struct exec_text *text, uint32_t wanted)
{
	if (text->len[WIRE_ARGV] != wanted) {
		put_part(parts, NULL, -1);
		return;
	}
	if (wanted)
		text->bytes[WIRE_ARGV][wanted - 1] = '\0';
	put_part(parts, text->bytes[WIRE_ARGV], wanted);
}

static void put_environ(struct translate *translate, struct parts *parts, struct exec_text *text, uint32_t wanted)
{
	const struct translate_options *options = &translate->options;

	if (text->len[WIRE_ENVIRON] != wanted || !options->keep_environ)
		put_part(parts, NULL, -1);
	else
		put_part(parts, text->bytes[WIRE_ENVIRON],
			wanted ? (int64_t)options->keep_environ(text->bytes[WIRE_ENVIRON], wanted, options->arg) : 0);
}

static void put_cgroup(struct parts *parts, const struct wire_exec *record)
{
	char path[WIRE_CGROUPS * (WIRE_CGROUP_NAME + 1)];
	size_t len = 0;

	for (uint32_t i = record->n_cgroups <= WIRE_CGROUPS ? record->n_cgroups : 0; i-- > 0;) {
		size_t name_len = strnlen(record->cgroups[i], WIRE_CGROUP_NAME);

		path[len++] = '/';
		memcpy(path + len, record->cgroups[i], name_len);
		len += name_len;
	}
	put_part(parts, path, len ? (int64_t)len : -1);
}

static int put_parts(struct translate *translate, struct parts *parts, struct exec_text *text,
	const struct wire_exec *record)
{
	put_path(translate, parts, record->exe);
	put_path(translate, parts, record->cwd);
	put_part(parts, record->comm, strnlen(record->comm, sizeof(record->comm)));
	put_argv(parts, text, record->argv_len);
	put_environ(translate, parts, text, record->environ_len);
	for (int i = 0; i < 3; i++)
		put_path(translate, parts, record->standard[i]);
	put_cgroup(parts, record);
	return parts->error;
}

static void push_exec(struct translate *translate, const struct wire_exec *record, const struct parts *parts)
{
	const struct process *process = find_process(translate, record->pid);
	struct event ev = { .kind = EVENT_EXEC, .time_ns = record->head.time_ns, .u.process = { .pid = record->pid,
		.tid = record->pid, .ppid = process ? process->ppid : 0, .tier = TIER_KERNEL, .known = 1,
		.uid = record->uid, .gid = record->gid, .loaded = (int64_t)record->loaded } };

	translate_push(translate, &ev, parts->bytes, parts->len);
}

static void push_before(struct translate *translate, const struct wire_exec *record)
{
	const struct process *process = find_process(translate, record->pid);
	struct figures before = figures_of(&record->before);

	if (process)
		figures_add(&before, &process->ended);
	push_figures(translate, EVENT_BEFORE, record->pid, 0, record->head.time_ns, &before);
}

/* A process that ran before it was traced. */
static int introduce(struct translate *translate, const struct wire_exec *record, const struct parts *parts)
{
	struct event ev = { .kind = EVENT_PROCESS, .time_ns = record->head.time_ns, .u.process = { .pid = record->pid,
		.tid = record->pid, .ppid = record->parent, .tier = TIER_KERNEL, .known = 1, .uid = record->uid,
		.gid = record->gid, .start_ns = record->start_ns } };

	translate_push(translate, &ev, parts->bytes, parts->len);
	return add_process(translate, record->pid, record->parent);
}

/* parts NULL: there was no memory for them. */
static void push_image(struct translate *translate, const struct wire_exec *record, const struct parts *parts)
{
	if (parts)
		push_exec(translate, record, parts);
	push_before(translate, record);
}

int translate_exec(struct translate *translate, const struct wire_exec *record)
{
	struct exec_text *text = text_of(translate, record->head.tid);
	bool is_attached = record->head.flags & WIRE_ATTACHED;
	struct parts parts = { 0 };
	int r;

	if (!text)
		return -ENOMEM;
	if (!is_attached) {
		close_at_exec(translate, record);
		push_programs(translate, record);
	}
	r = put_parts(translate, &parts, text, record);
	if (!is_attached)
		push_image(translate, record, r == 0 ? &parts : NULL);
	else if (r == 0)
		r = introduce(translate, record, &parts);
	forget_text(translate, text);
	free(parts.bytes);
	return r;
}

/* ---- ends ---- */

static void forget_process(struct translate *translate, int32_t pid)
{
	struct process *process = find_process(translate, pid);

	if (!process)
		return;
	HASH_DEL(translate->processes, process);
	free(process);
}

static void push_exit(struct translate *translate, const struct wire_exit *record, int32_t tid, int32_t status)
{
	push_process(translate, EVENT_EXIT, record->head.time_ns,
		(struct event_process){ .pid = record->pid, .tid = tid, .status = status });
}

/* A process ends with its last thread, which need not be its first. */
static void push_end(struct translate *translate, const struct wire_exit *record)
{
	struct process *process = find_process(translate, record->pid);
	struct figures figures = figures_of(&record->figures);
	int32_t tid = record->head.tid;

	push_figures(translate, EVENT_FIGURES, record->pid, tid, record->head.time_ns, &figures);
	if (process)
		figures_add(&process->ended, &figures);
	if (tid != record->pid)
		push_exit(translate, record, tid, record->status);
	if (record->last) {
		push_exit(translate, record, record->pid, record->process_status);
		forget_process(translate, record->pid);
	}
}

static struct ending *find_ending(const struct translate *translate, int32_t tid)
{
	struct ending *ending;

	HASH_FIND_INT(translate->endings, &tid, ending);
	return ending;
}

static void finish(struct translate *translate, struct ending *ending)
{
	HASH_DEL(translate->endings, ending);
	push_end(translate, &ending->record);
	free(ending);
}

/* The last thread of a process says its end: others that have ended come before it. */
static void finish_others(struct translate *translate, const struct wire_exit *last)
{
	struct ending *ending, *next;

	HASH_ITER(hh, translate->endings, ending, next) {
		if (ending->record.pid == last->pid && ending->tid != last->head.tid)
			finish(translate, ending);
	}
}

int translate_exit(struct translate *translate, const struct wire_exit *record)
{
	struct ending *ending = find_ending(translate, record->head.tid);

	translate_keep_open(translate, record->head.tid);
	if (ending)
		finish(translate, ending);
	if (record->last)
		finish_others(translate, record);
	ending = calloc(1, sizeof(*ending));
	if (ending) {
		ending->tid = record->head.tid;
		ending->record = *record;
		HASH_ADD_INT(translate->endings, tid, ending);
		if (ending->hh.tbl)
			return 0;
		free(ending);
	}
	push_end(translate, record);
	return 0;
}

/* The memory of the process was freed between the two: what it had at most is in the first.  So is where its time went until its
 * end. */
int translate_dead(struct translate *translate, const struct wire_exit *record)
{
	struct ending *ending = find_ending(translate, record->head.tid);
	struct wire_figures *figures, at_end;

	if (!ending)
		return 0;
	figures = &ending->record.figures;
	at_end = *figures;
	*figures = record->figures;
	figures->maxrss_pages = at_end.maxrss_pages;
	figures->peak_vm_pages = at_end.peak_vm_pages;
	figures->life_ns = at_end.life_ns;
	memcpy(figures->waits_ns, at_end.waits_ns, sizeof(figures->waits_ns));
	finish(translate, ending);
	return 0;
}

void translate_end_processes(struct translate *translate)
{
	while (translate->endings)
		finish(translate, translate->endings);
}

/* ---- samples ---- */

int translate_sample(struct translate *translate, const struct wire_sample *record)
{
	int64_t page = sysconf(_SC_PAGESIZE);
	struct event ev = { .kind = EVENT_SAMPLE, .time_ns = record->head.time_ns,
		.u.sample = { .pid = record->head.tid, .rss_bytes = -1, .cpu_ns = -1 } };

	if (!find_process(translate, record->head.tid))
		return 0; /* it has ended meanwhile */
	if (record->rss_pages >= 0)
		ev.u.sample.rss_bytes = sane((uint64_t)record->rss_pages * page);
	if (record->run_ns >= 0)
		ev.u.sample.cpu_ns = sane(record->run_ns);
	translate_push(translate, &ev, NULL, 0);
	return 0;
}

/* ---- forks ---- */

int translate_fork(struct translate *translate, const struct wire_fork *record)
{
	const struct wire_head *head = &record->head;
	struct ending *former = find_ending(translate, head->tid);

	if (former)
		finish(translate, former);
	if (record->pid != head->tid) {
		push_process(translate, EVENT_THREAD, head->time_ns,
			(struct event_process){ .pid = record->pid, .tid = head->tid });
		return 0;
	}
	push_process(translate, EVENT_FORK, head->time_ns,
		(struct event_process){ .pid = record->pid, .tid = record->pid, .ppid = record->parent });
	return add_process(translate, record->pid, record->parent);
}

void translate_forget_processes(struct translate *translate)
{
	while (translate->texts)
		forget_text(translate, translate->texts);
	while (translate->expirings)
		forget_expiring(translate, translate->expirings);
	while (translate->processes)
		forget_process(translate, translate->processes->pid);
}
