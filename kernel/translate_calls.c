/* SPDX-License-Identifier: MIT */
/* System calls -> operations. */

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "kernel/calls.h"
#include "kernel/names.h"
#include "kernel/translate_internal.h"

/* The kernel sets it in f_mode if the open has made the file. */
#define FMODE_CREATED 0x100000

/* Of 32-bit programs. */
#define COMPAT_F_GETLK64 12
#define COMPAT_F_SETLKW64 14

#define OP_NONE OP_MAX

/* Ids of opens whose description was not there when we looked: larger than the kernel's. */
#define HANDLES_UNSEEN (UINT64_C(1) << 48)

static const uint8_t ops[CALL_MAX] = {
#define X(name, x86_64, i386, kind, how, op, ...) [CALL_##name] = OP_##op,
	CALLS(X, CALL_NO)
#undef X
};

static const uint8_t classes[CALL_MAX] = {
#define X(name, x86_64, i386, kind, ...) [CALL_##name] = CLASS_##kind,
	CALLS(X, CALL_NO)
#undef X
};

static enum op op_of_fcntl(uint32_t command)
{
	switch (command) {
	case F_DUPFD:
	case F_DUPFD_CLOEXEC:
		return OP_DUP;
	case F_GETLK:
	case F_SETLK:
	case F_SETLKW:
	case F_OFD_GETLK:
	case F_OFD_SETLK:
	case F_OFD_SETLKW:
		return OP_LOCK;
	}
	return command >= COMPAT_F_GETLK64 && command <= COMPAT_F_SETLKW64 ? OP_LOCK : OP_FCNTL;
}

/* OP_NONE: it is not recorded. */
static enum op op_of(const struct wire_call *record)
{
	if (record->head.call >= CALL_MAX)
		return OP_NONE;
	if (classes[record->head.call] == CLASS_FCNTL)
		return op_of_fcntl(record->flags);
	return record->head.call == CALL_vmsplice && record->mode ? OP_READ : ops[record->head.call];
}

/* The time after a and until b, whatever the numbers are. */
static int64_t between(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)b - (uint64_t)a);
}

static uint64_t node_of(const struct translate *translate, uint64_t id)
{
	const struct handle *handle = id ? translate_handle(translate, id) : NULL;

	return handle ? handle->node : 0;
}

static struct event event_of(const struct translate *translate, const struct wire_call *record, enum op op)
{
	struct event ev = translate_event(&record->head, op);

	ev.u.op = (struct event_op){ .latency_ns = record->latency_ns, .result = record->result,
		.node = node_of(translate, record->handle), .other = record->other, .handle = record->handle,
		.offset = record->offset, .length = record->length, .flags = record->flags };
	return ev;
}

static uint32_t flags_of_flock(uint32_t operation)
{
	uint32_t type = operation & LOCK_UN ? F_UNLCK : operation & LOCK_EX ? F_WRLCK : F_RDLCK;

	return type | LOCK_FILE | (operation & LOCK_NB ? 0 : LOCK_WAITS);
}

/* Of fcntl(2): the three commands of each kind follow each other. */
static uint32_t flags_of_lock(uint32_t command, uint32_t type)
{
	uint32_t kind = command >= F_OFD_GETLK ? LOCK_DESCRIPTION : LOCK_PROCESS;
	uint32_t first = command >= F_OFD_GETLK ? F_OFD_GETLK : command >= COMPAT_F_GETLK64 ? COMPAT_F_GETLK64 : F_GETLK;

	return (type & LOCK_TYPE) | kind | (command == first ? LOCK_ASKS : command == first + 2 ? LOCK_WAITS : 0);
}

/* Arguments that the event has elsewhere, or not at all. */
static void arrange(struct event *ev, const struct wire_call *record)
{
	struct event_op *op = &ev->u.op;

	switch (classes[record->head.call]) {
	case CLASS_DUP:
		op->length = op->result > 0 ? op->result : 0;
		op->offset = 0;
		op->other = 0;
		break;
	case CLASS_FCNTL:
		if (ev->op == OP_DUP)
			op->length = op->result > 0 ? op->result : 0;
		if (ev->op == OP_LOCK)
			op->flags = flags_of_lock(record->flags, record->mode);
		break;
	case CLASS_TRANSFER:
		op->flags = record->head.call == CALL_tee ? EVENT_KEEPS : 0;
		ev->via = ev->op == OP_COPY ? VIA_COPY : VIA_DIRECT;
		if (op->offset < 0)
			op->offset = record->from;
		break;
	case CLASS_STAT:
		op->length = 0;
		op->flags = 0;
		break;
	}
	if (record->head.call == CALL_flock)
		op->flags = flags_of_flock(record->flags);
	if (ev->op == OP_RECV)
		op->flags = (record->flags & MSG_PEEK ? EVENT_KEEPS : 0) | (record->flags & MSG_TRUNC ? EVENT_CUTS : 0);
	if (ev->op == OP_SEND)
		op->flags = 0;
	if (record->head.call == CALL_vmsplice)
		op->mode = op->flags = 0;
	if (ev->op == OP_FALLOCATE) {
		op->mode = op->flags;
		op->flags = 0;
	}
	if (ev->op == OP_CHMOD || ev->op == OP_ACCESS || ev->op == OP_MKDIR || ev->op == OP_MKNOD) {
		op->mode = op->length;
		op->length = 0;
	}
}

/* The handle of a mapping may have ended: the node tells the file. */
static void arrange_in_mount(struct event *ev, const struct wire_call *record)
{
	if (classes[record->head.call] == CLASS_UNMAP) {
		ev->u.op.node = record->other;
		ev->u.op.other = 0;
	}
	if (classes[record->head.call] == CLASS_TRANSFER && !record->handle)
		ev->u.op.offset = record->from;
}

/* A mount that passes locks on has recorded them. */
static bool is_recorded(const struct translate *translate, enum op op)
{
	return op != OP_NONE && !(op == OP_LOCK && translate->options.is_of_mount);
}

int translate_call(struct translate *translate, const struct wire_call *record)
{
	enum op op = op_of(record);
	struct event ev;
	uint64_t ended;

	if (record->head.call >= CALL_MAX)
		return -EBADMSG;
	if (is_recorded(translate, op)) {
		ev = event_of(translate, record, op);
		arrange(&ev, record);
		if (translate->options.is_of_mount)
			arrange_in_mount(&ev, record);
		translate_push(translate, &ev, NULL, 0);
	}
	ended = classes[record->head.call] == CLASS_DUP ? record->other : record->handle;
	if (record->head.flags & WIRE_LAST)
		translate_release(translate, ended, record->head.tid, 
			(int64_t)((uint64_t)record->head.time_ns + (uint64_t)record->latency_ns));
	return 0;
}

/* ---- paths ---- */

static bool is_nofollow(const struct wire_call *record)
{
	switch (record->head.call) {
	case CALL_lstat:
	case CALL_lstat64:
	case CALL_lstat32:
	case CALL_lchown:
	case CALL_lchown16:
	case CALL_lgetxattr:
	case CALL_lsetxattr:
	case CALL_llistxattr:
	case CALL_lremovexattr:
		return true;
	case CALL_newfstatat:
	case CALL_fstatat64:
	case CALL_statx:
	case CALL_faccessat2:
	case CALL_fchmodat2:
	case CALL_fchownat:
	case CALL_utimensat:
	case CALL_utimensat_time64:
	case CALL_setxattrat:
	case CALL_getxattrat:
	case CALL_listxattrat:
	case CALL_removexattrat:
		return record->flags & AT_SYMLINK_NOFOLLOW;
	}
	return false;
}

static enum op op_of_open(const struct translate *translate, const struct wire_path *record)
{
	if (record->call.result < 0)
		return record->call.flags & O_DIRECTORY ? OP_OPENDIR : OP_OPEN;
	if ((record->call.flags & O_TMPFILE) == O_TMPFILE)
		return OP_TMPFILE;
	if (record->file_mode & FMODE_CREATED)
		return OP_CREATE;
	return S_ISDIR(names_mode(translate->names, record->name)) ? OP_OPENDIR : OP_OPEN;
}

static int fill_open(struct translate *translate, struct event *ev, const struct wire_path *record)
{
	ev->op = op_of_open(translate, record);
	ev->fidelity = FIDELITY_CALL;
	ev->u.op.mode = record->call.mode & 07777;
	ev->u.op.offset = 0;
	ev->u.op.length = record->nlink;
	if (record->call.head.call == CALL_creat)
		ev->u.op.flags = O_WRONLY | O_CREAT | O_TRUNC;
	if (record->call.result < 0)
		return 0;
	ev->u.op.other = names_node(translate->names, record->name);
	if (!record->call.handle) /* closed again, or not found */
		ev->u.op.handle = HANDLES_UNSEEN + ++translate->handles_unseen;
	return translate_add_handle(translate, ev->u.op.handle, ev->u.op.other);
}

/* What stat(2) showed. */
static void fill_seen(struct translate *translate, struct event *ev, const struct wire_path *record)
{
	struct names_seen seen = { .dev = record->dev, .ino = record->ino, .size = record->size,
		.mode = record->call.mode, .nlink = record->nlink };

	if (!(record->call.head.flags & WIRE_KNOWN))
		return;
	ev->u.op.other = names_identify(translate->names, &seen);
	ev->u.op.length = record->nlink;
}

/* An exec that failed: an open that did. */
static void fill_exec(struct translate *translate, struct event *ev, const struct wire_path *record)
{
	translate_keep_open(translate, record->call.head.tid);
	ev->u.op.flags = FMODE_EXEC;
	ev->fidelity = FIDELITY_CALL;
}

static int fill_path(struct translate *translate, struct event *ev, const struct wire_path *record)
{
	ev->u.op.handle = 0;
	switch (classes[record->call.head.call]) {
	case CLASS_OPEN:
	case CLASS_OPENAT2:
		ev->u.op.handle = record->call.handle;
		return fill_open(translate, ev, record);
	case CLASS_STAT:
		fill_seen(translate, ev, record);
		break;
	case CLASS_EXEC:
		fill_exec(translate, ev, record);
		return 0;
	case CLASS_PATHS:
		ev->u.op.handle = record->call.handle;
		ev->u.op.other = names_node(translate->names, record->base2);
		ev->u.op.offset = 0;
		ev->u.op.length = 0;
		return 0;
	}
	if (ev->op == OP_UNLINK && record->call.flags & AT_REMOVEDIR)
		ev->op = OP_RMDIR;
	ev->u.op.flags = is_nofollow(&record->call) ? EVENT_NOFOLLOW : 0;
	return 0;
}

/* The text without its last NUL; two paths have one between them. */
static size_t text_len(const struct wire_path *record)
{
	size_t len = record->len + record->len2;

	return len ? len - 1 : 0;
}

static int push_path(struct translate *translate, const struct wire_path *record)
{
	struct event ev = event_of(translate, &record->call, ops[record->call.head.call]);
	int r;

	ev.u.op.other = 0;
	arrange(&ev, &record->call);
	if (classes[record->call.head.call] != CLASS_FD) { /* else: the name of an attribute of a descriptor */
		ev.u.op.node = names_node(translate->names, record->base);
		r = fill_path(translate, &ev, record);
		if (r < 0)
			return r;
	}
	translate_push(translate, &ev, record->text, text_len(record));
	if (ev.u.op.handle >= HANDLES_UNSEEN)
		translate_release(translate, ev.u.op.handle, ev.tid, ev.time_ns + ev.u.op.latency_ns);
	return 0;
}

/* ---- asynchronous I/O ---- */

static int add_pending(struct translate *translate, struct pending *pending)
{
	struct pending *former;

	HASH_FIND(hh, translate->pendings, &pending->of, sizeof(pending->of), former);
	if (former) /* its result was not fetched by a system call */
		translate_give_up(translate, former);
	HASH_ADD(hh, translate->pendings, of, sizeof(pending->of), pending);
	if (pending->hh.tbl)
		return 0;
	free(pending->path);
	free(pending);
	return -ENOMEM;
}

int translate_pending(struct translate *translate, const struct wire_call *record)
{
	struct pending *pending;

	if (record->head.call >= CALL_MAX || op_of(record) == OP_NONE)
		return -EBADMSG;
	pending = calloc(1, sizeof(*pending));
	if (!pending)
		return -ENOMEM;
	pending->of.pid = record->other;
	pending->of.key = record->result;
	pending->event = event_of(translate, record, op_of(record));
	pending->event.u.op.other = 0;
	pending->silent = record->head.flags & WIRE_SILENT;
	pending->last = record->head.flags & WIRE_LAST;
	return add_pending(translate, pending);
}

static int path_pending(struct translate *translate, const struct wire_path *record)
{
	size_t size = offsetof(struct wire_path, text) + record->len + record->len2;
	struct pending *pending = calloc(1, sizeof(*pending));

	if (!pending)
		return -ENOMEM;
	pending->of.pid = record->call.other;
	pending->of.key = record->call.result;
	pending->event.time_ns = record->call.head.time_ns;
	pending->silent = record->call.head.flags & WIRE_SILENT;
	pending->path = malloc(size);
	if (!pending->path) {
		free(pending);
		return -ENOMEM;
	}
	memcpy(pending->path, record, size);
	return add_pending(translate, pending);
}

static int path_result(struct translate *translate, struct wire_path *path, const struct wire_reaped *reaped)
{
	path->call.result = reaped->result;
	path->call.latency_ns = between(path->call.head.time_ns, reaped->head.time_ns);
	path->call.handle = reaped->handle;
	path->call.other = 0;
	path->name = reaped->name;
	path->file_mode = reaped->file_mode;
	path->nlink = reaped->nlink;
	return push_path(translate, path);
}

int translate_result(struct translate *translate, struct pending *pending, const struct wire_reaped *reaped)
{
	struct event *ev = &pending->event;
	int r = 0;

	HASH_DEL(translate->pendings, pending);
	if (pending->path) {
		r = path_result(translate, pending->path, reaped);
	} else {
		ev->u.op.result = reaped->result;
		ev->u.op.latency_ns = between(ev->time_ns, reaped->head.time_ns);
		translate_push(translate, ev, NULL, 0);
	}
	if (pending->last)
		translate_release(translate, ev->u.op.handle, ev->tid, reaped->head.time_ns);
	free(pending->path);
	free(pending);
	return r;
}

int translate_give_up(struct translate *translate, struct pending *pending)
{
	const struct event *ev = &pending->event;
	bool moves = !pending->path && (ev->op == OP_READ || ev->op == OP_WRITE || ev->op == OP_SEND || ev->op == OP_RECV);
	struct wire_reaped result = { .head.time_ns = ev->time_ns, .result = -EINPROGRESS };

	if (pending->silent)
		result.result = moves ? (int64_t)ev->u.op.length : 0;
	return translate_result(translate, pending, &result);
}

int translate_reaped(struct translate *translate, const struct wire_reaped *record)
{
	struct pending *pending, key = { .of = { record->pid, record->key } };

	HASH_FIND(hh, translate->pendings, &key.of, sizeof(key.of), pending);
	return pending ? translate_result(translate, pending, record) : 0;
}

int translate_path(struct translate *translate, const struct wire_path *record)
{
	if (record->call.head.call >= CALL_MAX)
		return -EBADMSG;
	return record->call.head.flags & WIRE_URING ? path_pending(translate, record) : push_path(translate, record);
}
