/* SPDX-License-Identifier: MIT */
#include "preload/tables.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <uthash.h>

#include "base/vector.h"
#include "db/event.h"
#include "db/ring.h"
#include "preload/nodes.h"
#include "preload/wire.h"

#define FDS_MOST (1 << 20)
#define FDS_TOLD 64 /* a program tells all below, see operations.c */
#define MARKS_MOST 64 /* of forks of one process whose child has not begun */

/* An open file description. */
struct open_file {
	uint64_t handle, node;
	uint32_t flags;
	int references;
};

struct entry {
	struct open_file *file; /* NULL: closed, or not known */
	bool ends_at_exec;
};

struct table {
	struct entry *entries;
	size_t n, room;
};

/* The table of a process when it forked. */
struct marked {
	uint32_t mark;
	uint32_t vforked; /* the caller, if it was vfork(2): until the child executes a program or ends, it does nothing; else 0 */
	struct table table;
	char *cwd;
	struct marked *next;
};

struct process {
	int32_t pid;
	uint32_t serial;
	struct table table, former; /* former: before the exec, until the program has told its descriptors */
	struct open_file **mapped;  /* shared and writable: stores may follow after the close */
	size_t n_mapped;
	char *cwd; /* NULL: not known */
	int32_t parent;
	struct marked *marked;
	int64_t ended_ns; /* 0: it lives, as far as is known */
	UT_hash_handle hh;
};

/* A thread of one program. */
struct caller {
	uint32_t id, serial;
	int32_t pid, tid;
	UT_hash_handle hh;
};

struct tables {
	struct ring *ring;
	struct nodes *nodes;
	struct process *processes;
	struct caller *callers;
	uint64_t handles;
	uint32_t serials;
	_Atomic uint64_t taken, failed;
};

/* One record while it is taken. */
struct taking {
	struct tables *tables;
	const struct wire_record *record;
	struct wire_more more;
	struct wire_seen seen;
	bool has_seen;
	const char *text, *text2; /* empty if there are none */
	struct caller *caller;
	struct process *process;
	int64_t end_ns;
};

int tables_create(struct ring *ring, struct tables **ret_tables)
{
	struct tables *tables = calloc(1, sizeof(*tables));

	if (!tables)
		return -ENOMEM;
	tables->ring = ring;
	if (nodes_create(ring, &tables->nodes) < 0) {
		free(tables);
		return -ENOMEM;
	}
	*ret_tables = tables;
	return 0;
}

uint64_t tables_taken(const struct tables *tables)
{
	return atomic_load(&tables->taken);
}

uint64_t tables_failed(const struct tables *tables)
{
	return atomic_load(&tables->failed);
}

static void fail(struct tables *tables)
{
	atomic_fetch_add(&tables->failed, 1);
}

/* ---- open files ---- */

static void push(struct tables *tables, const struct event *ev, const char *text, size_t len)
{
	if (tables->ring)
		ring_push(tables->ring, ev, text, len);
}

static void release(struct tables *tables, struct open_file *file, int32_t tid, int64_t time_ns)
{
	if (!file || --file->references > 0)
		return;
	push(tables, &(struct event){ .kind = EVENT_OP, .op = OP_RELEASE, .aside = 1, .form = FORM_CALL, .tid = tid, .time_ns = time_ns,
		.u.op = { .handle = file->handle, .node = file->node } }, NULL, 0);
	free(file);
}

static struct open_file *new_file(struct tables *tables, uint64_t node, uint32_t flags)
{
	struct open_file *file = calloc(1, sizeof(*file));

	if (!file) {
		fail(tables);
		return NULL;
	}
	file->handle = ++tables->handles;
	file->node = node;
	file->flags = flags;
	return file;
}

/* ---- tables of descriptors ---- */

static struct open_file *file_of(const struct table *table, int32_t fd)
{
	return fd >= 0 && (size_t)fd < table->n ? table->entries[fd].file : NULL;
}

/* Takes a reference of the file, which may be NULL. */
static void set_fd(struct tables *tables, struct table *table, int32_t fd, struct open_file *file, bool ends_at_exec, int32_t tid,
	int64_t time_ns)
{
	struct open_file *former = file_of(table, fd);

	if (fd < 0 || fd >= FDS_MOST || (!file && (size_t)fd >= table->n))
		return;
	if (vector_fit(table->entries, table->room, (size_t)fd + 1) < 0) {
		fail(tables);
		return;
	}
	while (table->n <= (size_t)fd)
		table->entries[table->n++] = (struct entry){ 0 };
	if (file)
		file->references++;
	table->entries[fd] = (struct entry){ file, ends_at_exec };
	release(tables, former, tid, time_ns);
}

static void clear(struct tables *tables, struct table *table, int32_t tid, int64_t time_ns)
{
	for (size_t i = 0; i < table->n; i++)
		release(tables, table->entries[i].file, tid, time_ns);
	free(table->entries);
	*table = (struct table){ 0 };
}

static void copy(struct tables *tables, const struct table *from, struct table *ret_to)
{
	for (size_t i = 0; i < from->n; i++)
		if (from->entries[i].file)
			set_fd(tables, ret_to, (int32_t)i, from->entries[i].file, from->entries[i].ends_at_exec, 0, 0);
}

/* ---- processes ---- */

static struct process *find_process(const struct tables *tables, int32_t pid)
{
	struct process *process;

	HASH_FIND(hh, tables->processes, &pid, sizeof(pid), process);
	return process;
}

static void forget_marked(struct tables *tables, struct process *process, const struct marked *only, int64_t time_ns)
{
	for (struct marked **at = &process->marked, *marked; (marked = *at);) {
		if (only && marked != only) {
			at = &marked->next;
			continue;
		}
		*at = marked->next;
		clear(tables, &marked->table, process->pid, time_ns);
		free(marked->cwd);
		free(marked);
	}
}

static void unmap_all(struct tables *tables, struct process *process, int64_t time_ns)
{
	for (size_t i = 0; i < process->n_mapped; i++)
		release(tables, process->mapped[i], process->pid, time_ns);
	free(process->mapped);
	process->mapped = NULL;
	process->n_mapped = 0;
}

static void close_all(struct tables *tables, struct process *process, int64_t time_ns)
{
	clear(tables, &process->table, process->pid, time_ns);
	clear(tables, &process->former, process->pid, time_ns);
	unmap_all(tables, process, time_ns);
	forget_marked(tables, process, NULL, time_ns);
}

static void end_process(struct tables *tables, struct process *process, int64_t time_ns)
{
	close_all(tables, process, time_ns);
	free(process->cwd);
	HASH_DEL(tables->processes, process);
	free(process);
}

static struct process *new_process(struct tables *tables, int32_t pid, int64_t time_ns)
{
	struct process *process = find_process(tables, pid);

	if (process)
		end_process(tables, process, process->ended_ns ? process->ended_ns : time_ns);
	process = calloc(1, sizeof(*process));
	if (!process) {
		fail(tables);
		return NULL;
	}
	process->pid = pid;
	process->serial = ++tables->serials;
	HASH_ADD(hh, tables->processes, pid, sizeof(process->pid), process);
	if (process->hh.tbl)
		return process;
	free(process);
	fail(tables);
	return NULL;
}

static char *copy_text(const char *text)
{
	return text ? strdup(text) : NULL;
}

static struct marked *find_marked(const struct process *process, uint32_t mark)
{
	struct marked *marked = process->marked;

	while (marked && marked->mark != mark)
		marked = marked->next;
	return marked;
}

/* The child of a fork. */
static struct process *begin_child(struct tables *tables, const struct wire_record *record)
{
	struct process *process = new_process(tables, record->pid, record->start_ns), *parent;
	struct marked *marked;

	parent = process ? find_process(tables, (int32_t)record->length) : NULL;
	if (!parent || parent == process)
		return process;
	marked = record->number ? find_marked(parent, record->number) : NULL;
	process->parent = parent->pid;
	copy(tables, marked ? &marked->table : &parent->table, &process->table);
	process->cwd = copy_text(marked ? marked->cwd : parent->cwd);
	if (marked)
		forget_marked(tables, parent, marked, record->start_ns);
	return process;
}

/* The child of vfork(2) has executed a program, and told nothing before. */
static void take_vforked(struct tables *tables, struct process *process, int64_t time_ns)
{
	struct process *parent = find_process(tables, process->parent);
	struct marked *marked = parent ? parent->marked : NULL;

	while (marked && !marked->vforked)
		marked = marked->next;
	if (!marked)
		return;
	process->former = marked->table;
	marked->table = (struct table){ 0 };
	forget_marked(tables, parent, marked, time_ns);
}

/* A program begins, and tells its descriptors: those that it does not tell have been closed. */
static struct process *begin_program(struct tables *tables, const struct wire_record *record)
{
	struct process *process = find_process(tables, record->pid);
	struct table former;

	if (!process || process->ended_ns) {
		process = new_process(tables, record->pid, record->start_ns);
		if (process) {
			process->parent = (int32_t)record->length;
			take_vforked(tables, process, record->start_ns);
		}
		return process;
	}
	former = process->table;
	process->table = (struct table){ 0 };
	clear(tables, &process->former, process->pid, record->start_ns);
	unmap_all(tables, process, record->start_ns);
	forget_marked(tables, process, NULL, record->start_ns);
	process->former = former;
	for (size_t i = FDS_TOLD; i < former.n; i++)
		if (!former.entries[i].ends_at_exec)
			set_fd(tables, &process->table, (int32_t)i, former.entries[i].file, false, 0, 0);
	return process;
}

static void begin_caller(struct tables *tables, const struct wire_record *record)
{
	struct process *process = NULL;
	struct caller *caller;

	if (record->pid <= 0 || record->tid <= 0) /* of another namespace */
		return;
	if (record->offset == WIRE_PROGRAM)
		process = begin_program(tables, record);
	else if (record->offset != WIRE_CHILD)
		process = find_process(tables, record->pid);
	if (!process)
		process = begin_child(tables, record);
	caller = process ? calloc(1, sizeof(*caller)) : NULL;
	if (!caller)
		return;
	*caller = (struct caller){ .id = record->caller, .serial = process->serial, .pid = record->pid, .tid = record->tid };
	HASH_ADD(hh, tables->callers, id, sizeof(caller->id), caller);
	if (!caller->hh.tbl)
		free(caller);
}

void tables_end(struct tables *tables, int64_t until_ns, bool all)
{
	struct process *process, *next;

	HASH_ITER(hh, tables->processes, process, next)
		if (all || (process->ended_ns && process->ended_ns < until_ns))
			end_process(tables, process, process->ended_ns ? process->ended_ns : until_ns);
}

void tables_destroy(struct tables *tables)
{
	struct process *process, *next;
	struct caller *caller, *after;

	if (!tables)
		return;
	tables->ring = NULL; /* it may have ended before */
	HASH_ITER(hh, tables->processes, process, next)
		end_process(tables, process, process->ended_ns);
	HASH_ITER(hh, tables->callers, caller, after) {
		HASH_DEL(tables->callers, caller);
		free(caller);
	}
	nodes_destroy(tables->nodes);
	free(tables);
}

/* ---- what a program begins with ---- */

/* The open file of a descriptor that a program has told, where one is known that it may be. */
static struct open_file *match(const struct table *table, uint64_t node, uint32_t flags)
{
	for (size_t i = 0; i < table->n; i++) {
		struct open_file *file = table->entries[i].file;

		if (file && file->node == node && (file->flags & O_ACCMODE) == (flags & O_ACCMODE))
			return file;
	}
	return NULL;
}

static struct open_file *find_told(const struct taking *t, uint64_t node)
{
	struct open_file *file = file_of(&t->process->former, t->record->fd);
	const struct process *parent;

	if (file && file->node == node)
		return file;
	file = match(&t->process->table, node, t->more.flags);
	parent = file ? NULL : find_process(t->tables, t->process->parent);
	return parent ? match(&parent->table, node, t->more.flags) : file;
}

static void open_aside(struct taking *t, struct open_file *file, uint32_t flags)
{
	struct event ev = { .kind = EVENT_OP, .op = S_ISDIR(t->seen.mode) ? OP_OPENDIR : OP_OPEN, .aside = 1, .form = FORM_CALL,
		.fidelity = FIDELITY_CALL, .tid = t->caller->tid, .time_ns = t->record->start_ns, .u.op = { .handle = file->handle,
		.other = file->node, .node = file->node, .flags = flags, .length = t->seen.nlink } };
	bool has_path = t->text[0] == '/';

	if (has_path)
		ev.u.op.node = 0;
	push(t->tables, &ev, has_path ? t->text : NULL, has_path ? strlen(t->text) : 0);
}

static void take_fd(struct taking *t)
{
	uint64_t node = t->has_seen ? nodes_find(t->tables->nodes, &t->seen, t->record->start_ns) : 0;
	struct open_file *file;

	if (!node)
		return;
	file = find_told(t, node);
	if (!file) {
		file = new_file(t->tables, node, t->more.flags);
		if (!file)
			return;
		open_aside(t, file, t->more.flags);
	}
	file->references++; /* ours: the number may be none */
	set_fd(t->tables, &t->process->table, t->record->fd, file, false, t->caller->tid, t->record->start_ns);
	release(t->tables, file, t->caller->tid, t->record->start_ns);
}

/* The program has told all its descriptors. */
static void forget_former(struct taking *t)
{
	clear(t->tables, &t->process->former, t->caller->tid, t->record->start_ns);
}

static void take_cwd(struct taking *t)
{
	free(t->process->cwd);
	t->process->cwd = t->text[0] == '/' ? strdup(t->text) : NULL;
}

static void take_fork(struct taking *t)
{
	struct marked *marked = calloc(1, sizeof(*marked)), *last = t->process->marked;

	if (last && last->vforked == t->record->caller) {
		forget_marked(t->tables, t->process, last, t->record->start_ns);
		last = t->process->marked;
	}
	if (!marked) {
		fail(t->tables);
		return;
	}
	marked->mark = t->record->number;
	marked->vforked = t->more.flags ? t->record->caller : 0;
	copy(t->tables, &t->process->table, &marked->table);
	marked->cwd = copy_text(t->process->cwd);
	marked->next = last;
	t->process->marked = marked;
	for (int i = 0; last && i < MARKS_MOST; i++)
		last = last->next;
	if (last)
		forget_marked(t->tables, t->process, last, t->record->start_ns);
}

/* A file that the kernel or the loader has read for the program. */
static void take_read(struct taking *t, bool executed)
{
	uint64_t node = t->has_seen ? nodes_find(t->tables->nodes, &t->seen, t->record->start_ns) : 0;
	struct open_file *file = node ? new_file(t->tables, node, O_RDONLY | O_CLOEXEC) : NULL;

	forget_former(t);
	if (!file)
		return;
	file->references = 1;
	open_aside(t, file, executed ? FMODE_EXEC : file->flags);
	if (!executed)
		push(t->tables, &(struct event){ .kind = EVENT_OP, .op = OP_MMAP, .form = FORM_CALL, .tid = t->caller->tid,
			.time_ns = t->record->start_ns, .u.op = { .handle = file->handle, .node = node,
			.length = t->seen.size > 0 ? (uint64_t)t->seen.size : 0,
			.flags = PROT_READ | PROT_EXEC | MAP_PRIVATE << 8 } }, NULL, 0);
	release(t->tables, file, t->caller->tid, t->record->start_ns);
}

/* ---- operations ---- */

static struct event event_of(const struct taking *t)
{
	const struct wire_record *record = t->record;
	struct event ev = { .kind = EVENT_OP, .op = (uint8_t)record->code, .form = FORM_CALL, .tid = t->caller->tid,
		.time_ns = record->start_ns < 0 ? 0 : record->start_ns };

	ev.u.op = (struct event_op){ .latency_ns = record->latency_ns < 0 ? 0 : record->latency_ns, .result = record->result, .flags = t->more.flags,
		.mode = t->more.mode, .offset = record->known & WIRE_HAS_OFFSET ? record->offset : -1,
		.length = record->known & WIRE_HAS_LENGTH ? (uint64_t)record->length : 0 };
	return ev;
}

static void push_op(struct taking *t, struct event *ev, const char *text, size_t len)
{
	atomic_fetch_add(&t->tables->taken, 1);
	push(t->tables, ev, text, len);
}

/* A path as the event has it: absolute if it began at the working directory; else *ret_base is the node where it begins.  The length,
 * 0: no room. */
static size_t path_of(const struct taking *t, const char *path, int32_t dir, char *ret_path, size_t size, uint64_t *ret_base)
{
	const struct open_file *file = dir == AT_FDCWD ? NULL : file_of(&t->process->table, dir);
	bool from_cwd = path[0] != '/' && dir == AT_FDCWD && t->process->cwd;
	int n = from_cwd ? snprintf(ret_path, size, "%s/%s", t->process->cwd, path) : snprintf(ret_path, size, "%s", path);

	*ret_base = file ? file->node : 0;
	return n > 0 && (size_t)n < size ? (size_t)n : 0;
}

static struct open_file *opened(struct taking *t, struct event *ev)
{
	struct open_file *file;

	if (t->record->result < 0 || !(t->record->known & WIRE_HAS_FD))
		return NULL;
	file = new_file(t->tables, ev->u.op.other, ev->u.op.flags);
	if (file)
		ev->u.op.handle = file->handle;
	return file;
}

static bool opens(int op)
{
	return op == OP_OPEN || op == OP_OPENDIR || op == OP_CREATE || op == OP_TMPFILE;
}

/* By path. */
static void take_path(struct taking *t)
{
	char text[2 * PATH_MAX + 2];
	struct event ev = event_of(t);
	struct open_file *file = NULL;
	size_t len = path_of(t, t->text, t->more.dir, text, PATH_MAX + 1, &ev.u.op.node);
	int op = ev.op;

	ev.u.op.offset = 0;
	if (t->has_seen) {
		ev.u.op.other = nodes_find(t->tables->nodes, &t->seen, t->record->start_ns);
		ev.u.op.length = t->seen.nlink;
	}
	if (opens(op)) {
		ev.fidelity = FIDELITY_CALL;
		file = opened(t, &ev);
	}
	if (op == OP_RENAME || op == OP_LINK) {
		size_t len2 = path_of(t, t->text2, t->more.dir2, text + len + 1, PATH_MAX + 1, &ev.u.op.other);

		if (op == OP_LINK && t->record->known & WIRE_HAS_FD && file_of(&t->process->table, t->record->fd))
			ev.u.op.handle = file_of(&t->process->table, t->record->fd)->handle;
		len = len && len2 ? len + 1 + len2 : 0;
	} else if (op == OP_SYMLINK && len) {
		size_t len2 = (size_t)snprintf(text + len + 1, PATH_MAX + 1, "%s", t->text2);

		len = len2 <= PATH_MAX ? len + 1 + len2 : 0;
	}
	push_op(t, &ev, text, len < sizeof(text) ? len : 0);
	if (!file)
		return;
	file->references++;
	set_fd(t->tables, &t->process->table, t->record->fd, file, t->more.flags & O_CLOEXEC, t->caller->tid, t->end_ns);
	release(t->tables, file, t->caller->tid, t->end_ns);
}

static void close_fd(struct taking *t, struct event *ev, int32_t fd)
{
	const struct open_file *file = file_of(&t->process->table, fd);

	if (!file)
		return;
	ev->u.op.handle = file->handle;
	ev->u.op.node = file->node;
	ev->u.op.length = 0;
	push_op(t, ev, NULL, 0);
	if (ev->u.op.result >= 0 || ev->u.op.result == -EINTR)
		set_fd(t->tables, &t->process->table, fd, NULL, false, t->caller->tid, t->end_ns);
}

static void take_close(struct taking *t, struct event *ev)
{
	int64_t last = t->record->known & WIRE_HAS_LENGTH ? t->record->length : t->record->fd;
	int64_t most = (int64_t)t->process->table.n - 1;

	for (int64_t fd = t->record->fd; fd <= last && fd <= most; fd++)
		close_fd(t, ev, (int32_t)fd);
}

static void duplicate(struct taking *t, struct event *ev, struct open_file *file, bool ends_at_exec)
{
	int64_t to = ev->u.op.result;

	ev->op = OP_DUP;
	ev->u.op.flags = 0;
	ev->u.op.offset = 0;
	ev->u.op.length = to > 0 ? (uint64_t)to : 0;
	if (file)
		push_op(t, ev, NULL, 0);
	if (to >= 0 && to < FDS_MOST && to != t->record->fd)
		set_fd(t->tables, &t->process->table, (int32_t)to, file, ends_at_exec, t->caller->tid, t->end_ns);
}

static void take_fcntl(struct taking *t, struct event *ev, struct open_file *file)
{
	switch (t->more.flags) {
	case F_DUPFD:
	case F_DUPFD_CLOEXEC:
		duplicate(t, ev, file, t->more.flags == F_DUPFD_CLOEXEC);
		return;
	case F_GETLK:
	case F_SETLK:
	case F_SETLKW:
	case F_OFD_GETLK:
	case F_OFD_SETLK:
	case F_OFD_SETLKW:
		return;
	}
	if (file)
		push_op(t, ev, NULL, 0);
}

/* Stores into the mapping count until it ends, which is not seen. */
static void keep_mapped(struct taking *t, struct open_file *file)
{
	struct process *process = t->process;
	unsigned protection = t->more.flags & 0xff, how = t->more.flags >> 8;

	if (!(protection & PROT_WRITE) || (how & MAP_TYPE) == MAP_PRIVATE || t->record->result < 0)
		return;
	if (vector_push(process->mapped, process->n_mapped, file) < 0)
		fail(t->tables);
	else
		file->references++;
}

/* Through descriptors. */
static void take_descriptor(struct taking *t)
{
	struct event ev = event_of(t);
	struct open_file *file = file_of(&t->process->table, t->record->fd), *other;

	if (file) {
		ev.u.op.handle = file->handle;
		ev.u.op.node = file->node;
	}
	switch (ev.op) {
	case OP_CLOSE:
		take_close(t, &ev);
		return;
	case OP_DUP:
		duplicate(t, &ev, file, t->more.flags & O_CLOEXEC);
		return;
	case OP_FCNTL:
		take_fcntl(t, &ev, file);
		return;
	case OP_SENDFILE:
	case OP_SPLICE:
	case OP_COPY:
		other = file_of(&t->process->table, t->more.other);
		ev.u.op.other = other ? other->handle : 0;
		ev.via = ev.op == OP_COPY ? VIA_COPY : VIA_DIRECT;
		if (file || other)
			push_op(t, &ev, NULL, 0);
		return;
	case OP_MMAP:
		if (file)
			keep_mapped(t, file);
		break;
	}
	if (file)
		push_op(t, &ev, NULL, 0);
}

static bool is_by_path(const struct taking *t)
{
	return t->text[0] && t->record->code != OP_CLOSE;
}

static void take_op(struct taking *t)
{
	if (t->record->code == 0 || t->record->code >= OP_MAX)
		fail(t->tables);
	else if (is_by_path(t))
		take_path(t);
	else if (t->record->known & WIRE_HAS_FD)
		take_descriptor(t);
}

/* ---- records ---- */

/* Takes the parts in front of the text.  False: it is too short. */
static bool take_parts(struct taking *t, char *text)
{
	const char *end = text + t->record->text_len;

	if ((size_t)(end - text) < sizeof(t->more))
		return false;
	memcpy(&t->more, text, sizeof(t->more));
	text += sizeof(t->more);
	t->has_seen = t->record->known & WIRE_HAS_SEEN;
	if (t->has_seen && (size_t)(end - text) < sizeof(t->seen))
		return false;
	if (t->has_seen) {
		memcpy(&t->seen, text, sizeof(t->seen));
		text += sizeof(t->seen);
	}
	t->text = text;
	t->text2 = text + strlen(text) < end ? text + strlen(text) + 1 : "";
	return true;
}

static bool find_caller(struct taking *t)
{
	uint32_t id = t->record->caller;

	HASH_FIND(hh, t->tables->callers, &id, sizeof(id), t->caller);
	t->process = t->caller ? find_process(t->tables, t->caller->pid) : NULL;
	return t->process && t->process->serial == t->caller->serial;
}

static void dispatch(struct taking *t)
{
	switch (t->record->kind) {
	case WIRE_OP:
		take_op(t);
		break;
	case WIRE_FD:
		take_fd(t);
		break;
	case WIRE_CWD:
		take_cwd(t);
		break;
	case WIRE_FORK:
		take_fork(t);
		break;
	case WIRE_EXECUTED:
	case WIRE_LOADED:
		take_read(t, t->record->kind == WIRE_EXECUTED);
		break;
	case WIRE_END:
		t->process->ended_ns = t->record->start_ns;
		break;
	}
}

void tables_take(struct tables *tables, const struct wire_record *record, char *text)
{
	struct taking t = { .tables = tables, .record = record,
		.end_ns = (int64_t)((uint64_t)record->start_ns + (uint64_t)record->latency_ns) };

	if (record->kind == WIRE_CALLER)
		begin_caller(tables, record);
	else if (!find_caller(&t) || !take_parts(&t, text))
		fail(tables);
	else
		dispatch(&t);
}
