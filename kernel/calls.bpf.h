/* SPDX-License-Identifier: MIT */
#ifndef KERNEL_CALLS_BPF_H
#define KERNEL_CALLS_BPF_H

/*
 * System calls, at their entry and at their end.
 *
 * At the entry: the arguments, and what the call itself may change: which file the descriptor leads to, and its position.
 * At the end: the result, and what the program has in its memory.  The kernel has read it by then, so it can be read
 * without a page fault, which a program here must not take.
 */

#include "state.bpf.h"

#define EINTR 4
#define ERESTARTSYS 512
#define ERESTART_RESTARTBLOCK 516
#define O_APPEND 02000
#define RWF_APPEND 0x10
#define FMODE_LSEEK 4
#define MAP_ANONYMOUS 0x20
#define AT_FDCWD (-100)
#define TS_COMPAT 2
#define PATH_MOST 4096

/* Numbers of other architectures fill the place behind the last number. */
#define AT_NUMBER(number) ((number) == CALL_NO ? CALL_NUMBERS : (number))
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Winitializer-overrides"

const volatile uint8_t kernel_native[CALL_NUMBERS + 1] = {
#define X(name, x86_64, ...) [AT_NUMBER(x86_64)] = CALL_##name,
	CALLS(X, CALL_NO)
#undef X
};

const volatile uint8_t kernel_compat[CALL_NUMBERS + 1] = {
#define X(name, x86_64, i386, ...) [AT_NUMBER(i386)] = CALL_##name,
	CALLS(X, CALL_NO)
#undef X
};

#pragma clang diagnostic pop

const volatile struct call_row kernel_rows[256] = {
#define X(name, x86_64, i386, kind, how, op, fd, path, dir, offset, length, flags)                  \
	[CALL_##name] = { CLASS_##kind, how, fd, path, dir, offset, length, flags },
	CALLS(X, CALL_NO)
#undef X
};

_Static_assert(CALL_MAX <= 256, "a call fits into a byte");

struct scratch {
	struct wire_path path;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct scratch);
} kernel_scratch SEC(".maps");

inlined const volatile struct call_row *row_of(const struct task_state *state)
{
	return &kernel_rows[state->call & 255];
}

inlined uint64_t arg(const struct task_state *state, uint32_t i)
{
	return state->args[i & 7];
}

/* An argument that 32-bit calls pass as two. */
inlined uint64_t wide_arg(const struct task_state *state, uint32_t i, bool is_wide)
{
	uint64_t low = arg(state, i);

	return is_wide && (state->flags & WIRE_COMPAT) ? low | arg(state, i + 1) << 32 : low;
}

inlined uint64_t offset_arg(const struct task_state *state, const volatile struct call_row *row)
{
	uint64_t offset = wide_arg(state, row->offset, row->how & HOW_WIDE);

	return row->how & HOW_PAGES ? offset * 4096 : offset;
}

inlined uint64_t length_arg(const struct task_state *state, const volatile struct call_row *row)
{
	return wide_arg(state, row->length, row->how & HOW_WIDER);
}

/* ---- entry ---- */

#if defined(__TARGET_ARCH_x86)
inlined bool is_compat(struct task_struct *task)
{
	return task->thread_info.status & TS_COMPAT;
}

inlined void take_args(struct task_state *state, struct pt_regs *regs, bool compat)
{
	state->args[1] = compat ? regs->bx : regs->di;
	state->args[2] = compat ? regs->cx : regs->si;
	state->args[3] = regs->dx;
	state->args[4] = compat ? regs->si : regs->r10;
	state->args[5] = compat ? regs->di : regs->r8;
	state->args[6] = compat ? regs->bp : regs->r9;
	if (compat)
		for (int i = 1; i <= 6; i++)
			state->args[i] &= 0xffffffff;
}
#endif

inlined void take_file(struct task_state *state, uint64_t file)
{
	uint64_t inode = file ? POINTER(file, file, f_inode) : 0;

	state->file = file;
	state->handle = 0;
	if (!file)
		return;
	if (state->cached_file != file || state->cached_inode != inode || state->cached_epoch != kernel_epoch) {
		state->cached_handle = handle_of(file, inode, state->tid);
		state->cached_file = file;
		state->cached_inode = inode;
		state->cached_epoch = kernel_epoch;
	}
	state->handle = state->cached_handle;
}

inlined void take_other(struct task_state *state, uint64_t file)
{
	state->other_file = file;
	state->other_handle = file ? handle_of(file, POINTER(file, file, f_inode), state->tid) : 0;
}

/* dup2(2) closes the descriptor that it replaces. */
inlined void enter_dup(struct task_state *state, struct task_struct *task, uint32_t to)
{
	uint64_t replaced = to && arg(state, to) != arg(state, 1) ? file_at(task, arg(state, to)) : 0;

	if (!replaced)
		return;
	take_other(state, replaced);
	if (handle_last(replaced))
		state->flags |= WIRE_LAST;
}

struct mapping {
	uint64_t file;
	uint64_t start;
	uint64_t page; /* of the file, at the start */
};

static long look_at_mapping(struct task_struct *task, struct vm_area_struct *area, struct mapping *mapping)
{
	mapping->file = number(area->vm_file);
	mapping->start = area->vm_start;
	mapping->page = area->vm_pgoff;
	return 0;
}

/* Of the calls about memory those about files are recorded: by the place in the file. */
inlined void enter_unmap(struct task_state *state, struct task_struct *task)
{
	struct mapping mapping = { 0 };

	bpf_find_vma(task, arg(state, 1), look_at_mapping, &mapping, 0);
	if (!mapping.file) {
		state->call = CALL_none;
		return;
	}
	take_file(state, mapping.file);
	state->position = mapping.page * 4096 + (arg(state, 1) - mapping.start);
}

inlined void enter_class(struct task_state *state, struct task_struct *task, const volatile struct call_row *row)
{
	switch (row->class) {
	case CLASS_DATA:
		if (state->file)
			state->position = FIELD(file, state->file, f_pos);
		break;
	case CLASS_CLOSE:
		if (state->file && handle_last(state->file))
			state->flags |= WIRE_LAST;
		break;
	case CLASS_CLOSE_RANGE:
		if (!(arg(state, 3) & 4)) /* CLOSE_RANGE_CLOEXEC */
			walk_descriptors(WALK_CLOSE, arg(state, 1), arg(state, 2), state->tid, state->call);
		state->call = CALL_none;
		break;
	case CLASS_DUP:
		enter_dup(state, task, row->offset);
		break;
	case CLASS_MAP:
		if (arg(state, 4) & MAP_ANONYMOUS)
			state->call = CALL_none;
		break;
	case CLASS_UNMAP:
		enter_unmap(state, task);
		break;
	case CLASS_TRANSFER:
		take_other(state, file_at(task, arg(state, row->path)));
		break;
	case CLASS_EXEC:
		walk_descriptors(WALK_EXEC, 0, UINT32_MAX, state->tid, 0);
		break;
	}
}

SEC("tp_btf/sys_enter")
int BPF_PROG(kernel_enter, struct pt_regs *regs, long nr)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_state *state = state_of(task);
	const volatile struct call_row *row;
	bool compat;

	if (!state)
		return 0;
	compat = is_compat(task);
	state->call = CALL_none;
	if ((uint64_t)nr >= CALL_NUMBERS)
		return 0;
	state->call = compat ? kernel_compat[nr & (CALL_NUMBERS - 1)] : kernel_native[nr & (CALL_NUMBERS - 1)];
	if (state->call == CALL_none)
		return 0;
	row = row_of(state);
	take_args(state, regs, compat);
	state->flags = compat ? WIRE_COMPAT : 0;
	state->file = state->handle = state->other_handle = 0;
	state->position = -1;
	if (row->fd && row->class != CLASS_PIPE && !(row->class == CLASS_MAP && arg(state, 4) & MAP_ANONYMOUS))
		take_file(state, file_at(task, arg(state, row->fd)));
	enter_class(state, task, row);
	state->start_ns = bpf_ktime_get_ns();
	return 0;
}

/* ---- end ---- */

inlined void fill_call(struct wire_call *record, enum wire_type type, const struct task_state *state, int64_t result)
{
	const volatile struct call_row *row = row_of(state);

	record->head.type = type;
	record->head.flags = state->flags;
	record->head.call = state->call;
	record->head.tid = state->tid;
	record->head.time_ns = state->start_ns;
	record->latency_ns = bpf_ktime_get_ns() - state->start_ns;
	record->result = result;
	record->handle = state->handle;
	record->other = state->other_handle;
	record->offset = offset_arg(state, row);
	record->length = length_arg(state, row);
	record->flags = arg(state, row->flags);
	record->mode = 0;
}

__noinline int leave_plain(struct task_state *state, int64_t result)
{
	struct wire_call *record;

	if (!state)
		return 0;
	record = reserve(wire_call);
	if (!record)
		return 0;
	fill_call(record, WIRE_CALL, state, result);
	if (row_of(state)->class == CLASS_UNMAP)
		record->offset = state->position;
	if (row_of(state)->class == CLASS_MAP)
		record->flags = arg(state, 3) | arg(state, 4) << 8;
	send_reserved(record);
	return 0;
}

/* ---- data ---- */

struct vector {
	uint64_t at;
	uint64_t n;
	uint64_t bytes;
	bool compat;
};

static long add_part(uint32_t i, struct vector *vector)
{
	uint64_t len = 0;

	if (vector->compat)
		bpf_probe_read_user(&len, 4, (const void *)(vector->at + i * 8 + 4));
	else
		bpf_probe_read_user(&len, 8, (const void *)(vector->at + i * 16 + 8));
	vector->bytes += len;
	return 0;
}

inlined uint64_t vector_bytes(const struct task_state *state, const volatile struct call_row *row)
{
	struct vector vector = { .at = arg(state, row->length), .n = arg(state, row->length + 1),
		.compat = state->flags & WIRE_COMPAT };

	bpf_loop(vector.n > 1024 ? 0 : vector.n, add_part, &vector, 0);
	return vector.bytes;
}

/* Where a write of a descriptor with O_APPEND landed: before the end. */
inlined int64_t before_end(const struct task_state *state, int64_t result)
{
	return FIELD(inode, POINTER(file, state->file, f_inode), i_size) - result;
}

/*
 * Where the data of a call without an offset lay.  The position at the end says it: at the entry another thread may have
 * been at work with the same descriptor.  A device may leave its position as it is.
 */
inlined int64_t at_position(const struct task_state *state, int64_t result)
{
	int64_t after;

	if (!state->file || !(FIELD(file, state->file, f_mode) & FMODE_LSEEK))
		return -1;
	after = FIELD(file, state->file, f_pos);
	return result <= 0 || after == state->position ? state->position : after - result;
}

inlined bool appends(const struct task_state *state, const volatile struct call_row *row)
{
	if (!(row->how & HOW_WRITE) || !state->file)
		return false;
	return FIELD(file, state->file, f_flags) & O_APPEND || arg(state, row->flags) & RWF_APPEND;
}

inlined int64_t data_offset(const struct task_state *state, const volatile struct call_row *row, int64_t result)
{
	int64_t offset = offset_arg(state, row);

	if (row->how & HOW_STREAM)
		return -1;
	if (!row->offset || (row->how & HOW_CURRENT && offset == -1))
		return at_position(state, result);
	return result > 0 && appends(state, row) ? before_end(state, result) : offset;
}

__noinline int leave_data(struct task_state *state, int64_t result)
{
	const volatile struct call_row *row;
	struct wire_call *record;
	uint64_t length;

	if (!state)
		return 0;
	row = row_of(state);
	length = row->how & HOW_VECTOR ? vector_bytes(state, row) : arg(state, row->length);
	record = reserve(wire_call);
	if (!record)
		return 0;
	fill_call(record, WIRE_CALL, state, result);
	record->length = length;
	record->offset = data_offset(state, row, result);
	send_reserved(record);
	return 0;
}

/* Where the data of one side of a transfer lay: at the offset that the program passed, which the kernel has advanced. */
inlined int64_t transfer_offset(const struct task_state *state, uint64_t pointer, uint64_t file, int64_t result)
{
	int64_t offset = 0;
	uint32_t size = state->flags & WIRE_COMPAT && state->call == CALL_sendfile ? 4 : 8;

	if (result < 0)
		result = 0;
	if (pointer && bpf_probe_read_user(&offset, size, (const void *)pointer) == 0)
		return offset - result;
	if (!file || !(FIELD(file, file, f_mode) & FMODE_LSEEK))
		return -1;
	return FIELD(file, file, f_pos) - result;
}

__noinline int leave_transfer(struct task_state *state, int64_t result)
{
	const volatile struct call_row *row;
	struct wire_call *record;
	int64_t from, to;

	if (!state)
		return 0;
	row = row_of(state);
	from = transfer_offset(state, row->offset ? arg(state, row->offset) : 0, state->file, result);
	to = transfer_offset(state, row->dir ? arg(state, row->dir) : 0, state->other_file, result);
	record = reserve(wire_call);
	if (!record)
		return 0;
	fill_call(record, WIRE_CALL, state, result);
	record->handle = state->other_handle;
	record->other = state->handle;
	record->offset = to;
	record->from = from;
	send_reserved(record);
	return 0;
}

/* ---- new descriptors ---- */

inlined uint64_t report_descriptor(struct task_struct *task, struct task_state *state, int fd)
{
	uint64_t file = file_at(task, fd);

	return file ? handle_report(file, state->tid) : 0;
}

__noinline int leave_new(struct task_state *state, int64_t result)
{
	struct task_struct *task = bpf_get_current_task_btf();

	if (!state)
		return 0;
	state->other_handle = state->handle;
	state->handle = result >= 0 ? report_descriptor(task, state, result) : 0;
	return leave_plain(state, result);
}

__noinline int leave_pipe(struct task_state *state, int64_t result)
{
	struct task_struct *task = bpf_get_current_task_btf();
	int fds[2] = { -1, -1 };

	if (!state)
		return 0;
	if (result >= 0)
		bpf_probe_read_user(fds, sizeof(fds), (const void *)arg(state, row_of(state)->fd));
	state->handle = report_descriptor(task, state, fds[0]);
	state->other_handle = report_descriptor(task, state, fds[1]);
	return leave_plain(state, result);
}

/* ---- paths ---- */

inlined uint64_t cwd_name(struct task_state *state, struct task_struct *task)
{
	uint64_t dentry = number(task->fs->pwd.dentry), mnt = number(task->fs->pwd.mnt);

	if (state->cwd_dentry != dentry || state->cwd_mnt != mnt || !state->cwd_name) {
		state->cwd_name = name_of(dentry, mnt);
		state->cwd_dentry = dentry;
		state->cwd_mnt = mnt;
	}
	return state->cwd_name;
}

inlined uint64_t root_name(struct task_state *state, struct task_struct *task)
{
	uint64_t dentry = number(task->fs->root.dentry), mnt = number(task->fs->root.mnt);

	if (state->root_dentry != dentry || state->root_mnt != mnt || !state->root_name) {
		state->root_name = name_of(dentry, mnt);
		state->root_dentry = dentry;
		state->root_mnt = mnt;
	}
	return state->root_name;
}

/* The name of the directory where a path begins. */
__noinline uint64_t base_of(struct task_state *state, int dir, uint32_t is_absolute)
{
	struct task_struct *task = bpf_get_current_task_btf();
	uint64_t file;

	if (!state || !task->fs)
		return 0;
	if (is_absolute)
		return root_name(state, task);
	if (dir == AT_FDCWD)
		return cwd_name(state, task);
	file = file_at(task, dir);
	return file ? name_of(POINTER(file, file, f_path.dentry), POINTER(file, file, f_path.mnt)) : 0;
}

inlined int dir_of(const struct task_state *state, uint32_t i)
{
	return i ? (int)arg(state, i) : AT_FDCWD;
}

/* Copies a string of the program to text + at.  Its length with NUL; 0: it cannot be read. */
inlined uint32_t read_text(struct wire_path *record, uint32_t at, uint64_t from)
{
	long n;

	if (at > PATH_MOST)
		return 0;
	n = bpf_probe_read_user_str(record->text + at, PATH_MOST, (const void *)from);
	if (n <= 0 || n > PATH_MOST) {
		record->call.head.flags |= WIRE_FAULT;
		return 0;
	}
	return n;
}

inlined struct wire_path *begin_path(struct task_state *state, int64_t result)
{
	uint32_t zero = 0;
	struct scratch *scratch = bpf_map_lookup_elem(&kernel_scratch, &zero);
	struct wire_path *record = &scratch->path;

	if (!scratch)
		return NULL;
	fill_call(&record->call, WIRE_PATH, state, result);
	record->base = record->base2 = record->name = record->ino = 0;
	record->size = 0;
	record->dev = record->file_mode = record->nlink = 0;
	record->len = record->len2 = 0;
	return record;
}

inlined void put_path(struct wire_path *record, struct task_state *state, const volatile struct call_row *row)
{
	record->len = read_text(record, 0, arg(state, row->path));
	record->base = base_of(state, dir_of(state, row->dir), record->len && record->text[0] == '/');
}

inlined void send_path(struct wire_path *record)
{
	send_copy(record, at_most(offsetof(struct wire_path, text) + record->len + record->len2, sizeof(*record)));
}

/* Whether the call is about the descriptor: *at(2) calls with an empty path. */
inlined bool is_about_descriptor(const struct wire_path *record, const struct task_state *state,
	const volatile struct call_row *row)
{
	return record->len <= 1 && row->dir && (int)arg(state, row->dir) != AT_FDCWD && record->call.result >= 0;
}

__noinline int leave_path(struct task_state *state, int64_t result)
{
	const volatile struct call_row *row;
	struct wire_path *record;

	if (!state)
		return 0;
	row = row_of(state);
	record = begin_path(state, result);
	if (!record)
		return 0;
	put_path(record, state, row);
	if (is_about_descriptor(record, state, row)) {
		take_file(state, file_at(bpf_get_current_task_btf(), arg(state, row->dir)));
		state->flags |= WIRE_EMPTY;
		return leave_plain(state, result);
	}
	send_path(record);
	return 0;
}

__noinline int leave_name(struct task_state *state, int64_t result)
{
	struct wire_path *record;

	if (!state)
		return 0;
	record = begin_path(state, result);
	if (!record)
		return 0;
	record->len = read_text(record, 0, arg(state, row_of(state)->path));
	send_path(record);
	return 0;
}

__noinline int leave_paths(struct task_state *state, int64_t result)
{
	const volatile struct call_row *row;
	struct wire_path *record;

	if (!state)
		return 0;
	row = row_of(state);
	record = begin_path(state, result);
	if (!record)
		return 0;
	put_path(record, state, row);
	record->len2 = read_text(record, record->len, arg(state, row->length));
	record->base2 = base_of(state, dir_of(state, row->offset),
		record->len <= PATH_MOST && record->text[record->len] == '/');
	send_path(record);
	return 0;
}

/* ---- opens ---- */

struct how_of_openat2 {
	uint64_t flags, mode;
};

inlined void put_opened(struct wire_path *record, int fd)
{
	uint64_t file = file_at(bpf_get_current_task_btf(), fd);

	if (!file)
		return;
	record->call.handle = handle_make(file);
	record->name = file_name(file);
	record->file_mode = FIELD(file, file, f_mode);
}

__noinline int leave_open(struct task_state *state, int64_t result)
{
	const volatile struct call_row *row;
	struct wire_path *record;
	struct how_of_openat2 how = { 0 };

	if (!state)
		return 0;
	row = row_of(state);
	record = begin_path(state, result);
	if (!record)
		return 0;
	record->call.length = 0;
	record->call.mode = arg(state, row->length);
	if (row->class == CLASS_OPENAT2) {
		bpf_probe_read_user(&how, sizeof(how), (const void *)arg(state, row->flags));
		record->call.flags = how.flags;
		record->call.mode = how.mode;
	}
	put_path(record, state, row);
	if (result >= 0)
		put_opened(record, result);
	send_path(record);
	return 0;
}

/* ---- attributes ---- */

/* What stat(2) of 64-bit and stat64(2) of 32-bit programs put where. */
struct stat_native {
	uint64_t dev, ino, nlink;
	uint32_t mode, uid, gid, pad;
	uint64_t rdev;
	int64_t size;
};

struct stat_compat {
	uint64_t dev;
	uint32_t pad, short_ino, mode, nlink;
	uint32_t uid, gid;
	uint32_t rdev[2], pad2;
	uint32_t size[2];
};

#define COMPAT_INO 88

struct statx_some {
	uint32_t mask, blksize;
	uint64_t attributes;
	uint32_t nlink, uid, gid;
	uint16_t mode, pad;
	uint64_t ino;
	int64_t size;
};

#define STATX_DEV 136

inlined void put_statx(struct wire_path *record, uint64_t at)
{
	struct statx_some seen = { 0 };
	uint32_t dev[2] = { 0 };

	if (bpf_probe_read_user(&seen, sizeof(seen), (const void *)at) != 0)
		return;
	bpf_probe_read_user(dev, sizeof(dev), (const void *)(at + STATX_DEV));
	record->ino = seen.ino;
	record->size = seen.size;
	record->call.mode = seen.mode;
	record->nlink = seen.nlink;
	record->dev = (dev[1] & 0xff) | dev[0] << 8 | (dev[1] & ~0xffu) << 12;
	record->call.head.flags |= WIRE_KNOWN;
}

inlined void put_compat(struct wire_path *record, uint64_t at)
{
	struct stat_compat seen = { 0 };

	if (bpf_probe_read_user(&seen, sizeof(seen), (const void *)at) != 0)
		return;
	bpf_probe_read_user(&record->ino, sizeof(record->ino), (const void *)(at + COMPAT_INO));
	record->dev = seen.dev;
	record->call.mode = seen.mode;
	record->nlink = seen.nlink;
	record->size = seen.size[0] | (uint64_t)seen.size[1] << 32;
	record->call.head.flags |= WIRE_KNOWN;
}

inlined void put_stat(struct wire_path *record, uint64_t at)
{
	struct stat_native seen = { 0 };

	if (bpf_probe_read_user(&seen, sizeof(seen), (const void *)at) != 0)
		return;
	record->ino = seen.ino;
	record->dev = seen.dev;
	record->call.mode = seen.mode;
	record->nlink = seen.nlink;
	record->size = seen.size;
	record->call.head.flags |= WIRE_KNOWN;
}

inlined void put_identity(struct wire_path *record, const struct task_state *state, uint64_t at)
{
	if (state->call == CALL_statx)
		put_statx(record, at);
	else if (state->flags & WIRE_COMPAT)
		put_compat(record, at);
	else
		put_stat(record, at);
}

__noinline int leave_stat(struct task_state *state, int64_t result)
{
	const volatile struct call_row *row;
	struct wire_path *record;

	if (!state)
		return 0;
	row = row_of(state);
	record = begin_path(state, result);
	if (!record)
		return 0;
	record->call.length = 0;
	put_path(record, state, row);
	if (is_about_descriptor(record, state, row)) {
		take_file(state, file_at(bpf_get_current_task_btf(), arg(state, row->dir)));
		state->flags |= WIRE_EMPTY;
		return leave_plain(state, result);
	}
	if (result == 0)
		put_identity(record, state, arg(state, row->length));
	send_path(record);
	return 0;
}

/* ---- asynchronous I/O ---- */

struct iocb {
	uint64_t data;
	uint32_t key, rw_flags;
	uint16_t opcode, priority;
	uint32_t fd;
	uint64_t buffer, bytes;
	int64_t offset;
};

struct io_event {
	uint64_t data, object;
	int64_t result, result2;
};

enum { IOCB_PREAD, IOCB_PWRITE, IOCB_FSYNC, IOCB_FDSYNC, IOCB_PREADV = 7, IOCB_PWRITEV };

inlined uint32_t call_of_iocb(uint32_t opcode)
{
	switch (opcode) {
	case IOCB_PREAD:
		return CALL_pread64;
	case IOCB_PWRITE:
		return CALL_pwrite64;
	case IOCB_FSYNC:
		return CALL_fsync;
	case IOCB_FDSYNC:
		return CALL_fdatasync;
	case IOCB_PREADV:
		return CALL_preadv;
	case IOCB_PWRITEV:
		return CALL_pwritev;
	}
	return CALL_none;
}

struct submission {
	uint64_t at; /* array of pointers to struct iocb */
	struct task_state *state;
};

inlined uint64_t iocb_length(const struct task_state *state, const struct iocb *iocb)
{
	struct vector vector = { .at = iocb->buffer, .n = iocb->bytes, .compat = state->flags & WIRE_COMPAT };

	if (iocb->opcode < IOCB_PREADV)
		return iocb->bytes;
	bpf_loop(vector.n > 1024 ? 0 : vector.n, add_part, &vector, 0);
	return vector.bytes;
}

static long submit_one(uint32_t i, struct submission *submission)
{
	struct task_state *state = submission->state;
	uint32_t size = state->flags & WIRE_COMPAT ? 4 : 8;
	struct wire_call *record;
	struct iocb iocb = { 0 };
	uint64_t object = 0, length, file;

	bpf_probe_read_user(&object, size, (const void *)(submission->at + i * size));
	if (bpf_probe_read_user(&iocb, sizeof(iocb), (const void *)object) != 0 || !call_of_iocb(iocb.opcode))
		return 0;
	length = iocb_length(state, &iocb);
	file = file_at(bpf_get_current_task_btf(), iocb.fd);
	take_file(state, file);
	record = reserve(wire_call);
	if (!record)
		return 0;
	fill_call(record, WIRE_PENDING, state, object);
	record->head.call = call_of_iocb(iocb.opcode);
	record->offset = iocb.offset;
	record->length = length;
	record->flags = iocb.rw_flags;
	record->other = state->pid;
	send_reserved(record);
	return 0;
}

__noinline int leave_submit(struct task_state *state, int64_t result)
{
	struct submission submission = { .state = state };

	if (!state || result <= 0)
		return 0;
	submission.at = arg(state, 3);
	bpf_loop(result > 4096 ? 4096 : result, submit_one, &submission, 0);
	return 0;
}

static long reap_one(uint32_t i, struct submission *submission)
{
	struct wire_reaped *record;
	struct io_event event = { 0 };

	if (bpf_probe_read_user(&event, sizeof(event), (const void *)(submission->at + i * sizeof(event))) != 0)
		return 0;
	record = reserve(wire_reaped);
	if (!record)
		return 0;
	*record = (struct wire_reaped){ 0 };
	head_now(&record->head, WIRE_REAPED, submission->state->tid);
	record->pid = submission->state->pid;
	record->key = event.object;
	record->result = event.result;
	send_reserved(record);
	return 0;
}

__noinline int leave_reap(struct task_state *state, int64_t result)
{
	struct submission reaped = { .state = state };

	if (!state || result <= 0)
		return 0;
	reaped.at = arg(state, 4);
	bpf_loop(result > 4096 ? 4096 : result, reap_one, &reaped, 0);
	return 0;
}

/* ---- which of them ---- */

/* The kernel makes EINTR of these, or starts the call again. */
inlined int64_t final_result(int64_t result)
{
	return result <= -ERESTARTSYS && result >= -ERESTART_RESTARTBLOCK ? -EINTR : result;
}

inlined int leave_class(struct task_state *state, const volatile struct call_row *row, int64_t result)
{
	switch (row->class) {
	case CLASS_DATA:
		return leave_data(state, result);
	case CLASS_FD:
		return row->how & HOW_NAME ? leave_name(state, result) : leave_plain(state, result);
	case CLASS_MAP:
		return leave_plain(state, result < 0 && result > -4096 ? result : 0);
	case CLASS_CLOSE:
	case CLASS_DUP:
	case CLASS_FCNTL:
	case CLASS_UNMAP:
		return leave_plain(state, result);
	case CLASS_OPEN:
	case CLASS_OPENAT2:
		return leave_open(state, result);
	case CLASS_STAT:
		return row->path ? leave_stat(state, result) : leave_plain(state, result);
	case CLASS_PATH:
	case CLASS_EXEC:
		return leave_path(state, result);
	case CLASS_PATHS:
		return leave_paths(state, result);
	case CLASS_TRANSFER:
		return leave_transfer(state, result);
	case CLASS_NEW:
		return leave_new(state, result);
	case CLASS_PIPE:
		return leave_pipe(state, result);
	case CLASS_SUBMIT:
		return leave_submit(state, result);
	case CLASS_REAP:
		return leave_reap(state, result);
	}
	return 0;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(kernel_leave, struct pt_regs *regs, long result)
{
	struct task_state *state = state_of(bpf_get_current_task_btf());

	if (!state || state->call == CALL_none)
		return 0;
	leave_class(state, row_of(state), final_result(result));
	state->call = CALL_none;
	return 0;
}

#endif
