/* SPDX-License-Identifier: MIT */
#ifndef KERNEL_PATHS_BPF_H
#define KERNEL_PATHS_BPF_H

/* System calls by path: the paths as the program gave them, and where they begin. */

#include "call.bpf.h"

struct scratch {
	struct wire_path path;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct scratch);
} kernel_scratch SEC(".maps");

inlined uint64_t cwd_name(struct task_state *state, struct task_struct *task)
{
	uint64_t dentry = FOLLOW(task_struct, task, fs, fs_struct, pwd.dentry),
		 mnt = FOLLOW(task_struct, task, fs, fs_struct, pwd.mnt);

	if (state->cwd_dentry != dentry || state->cwd_mnt != mnt || !state->cwd_name) {
		state->cwd_name = name_of(dentry, mnt);
		state->cwd_dentry = dentry;
		state->cwd_mnt = mnt;
	}
	return state->cwd_name;
}

inlined uint64_t root_name(struct task_state *state, struct task_struct *task)
{
	uint64_t dentry = FOLLOW(task_struct, task, fs, fs_struct, root.dentry),
		 mnt = FOLLOW(task_struct, task, fs, fs_struct, root.mnt);

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

	if (!state)
		return 0;
	if (is_absolute)
		return root_name(state, task);
	if (dir == AT_FDCWD)
		return cwd_name(state, task);
	file = file_at(task, dir);
	return name_of_file(file);
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

/* The same, where a flag allows it, as in fstat(3) of glibc: the first byte of the path is enough. */
inlined bool has_empty_path(const struct task_state *state, const volatile struct call_row *row, int64_t result)
{
	char first = -1;

	if (!(arg(state, row->flags) & AT_EMPTY_PATH) || !row->dir || (int)arg(state, row->dir) == AT_FDCWD || result < 0)
		return false;
	bpf_probe_read_user(&first, sizeof(first), (const void *)arg(state, row->path));
	return !first;
}

inlined int leave_descriptor(struct task_state *state, const volatile struct call_row *row, int64_t result)
{
	take_file(state, file_at(bpf_get_current_task_btf(), arg(state, row->dir)));
	state->flags |= WIRE_EMPTY;
	return leave_plain(state, result);
}

__noinline int leave_path(struct task_state *state, int64_t result)
{
	const volatile struct call_row *row;
	struct wire_path *record;

	if (!state)
		return 0;
	row = row_of(state);
	if (has_empty_path(state, row, result))
		return leave_descriptor(state, row, result);
	record = begin_path(state, result);
	if (!record)
		return 0;
	put_path(record, state, row);
	if (is_about_descriptor(record, state, row))
		return leave_descriptor(state, row, result);
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

/* The descriptor that a link of /proc names; -1: it is none. */
inlined int descriptor_named(const char *text)
{
	static const char prefix[] = "/proc/self/fd/";
	int fd = 0;

	for (uint32_t i = 0; i < sizeof(prefix) - 1; i++)
		if (text[i] != prefix[i])
			return -1;
	for (uint32_t i = sizeof(prefix) - 1; i < sizeof(prefix) + 6; i++) {
		if (!text[i])
			return fd;
		if (text[i] < '0' || text[i] > '9')
			return -1;
		fd = fd * 10 + (text[i] - '0');
	}
	return -1;
}

/* linkat(2) of what is open: a file that may have no name. */
inlined void take_linked(struct wire_path *record, struct task_state *state)
{
	int fd = -1;

	if (state->call != CALL_linkat || record->call.result < 0)
		return;
	if (record->len <= 1 && arg(state, 5) & AT_EMPTY_PATH)
		fd = arg(state, 1);
	else if (arg(state, 5) & AT_SYMLINK_FOLLOW)
		fd = descriptor_named(record->text);
	take_file(state, file_at(bpf_get_current_task_btf(), fd));
	record->call.handle = state->handle;
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
	take_linked(record, state);
	send_path(record);
	return 0;
}

/* ---- opens ---- */

struct how_of_openat2 {
	uint64_t flags, mode;
};

inlined void put_opened(struct wire_path *record, struct task_state *state, int fd)
{
	uint64_t file = file_at(bpf_get_current_task_btf(), fd);

	if (!file)
		return;
	record->name = name_of_file(file);
	record->call.handle = handle_make(file);
	record->file_mode = FIELD(file, file, f_mode);
	record->nlink = FIELD(inode, POINTER(file, file, f_inode), i_nlink);
	remember_file(state, file, POINTER(file, file, f_inode), record->call.handle);
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
		put_opened(record, state, result);
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
	if (has_empty_path(state, row, result))
		return leave_descriptor(state, row, result);
	record = begin_path(state, result);
	if (!record)
		return 0;
	record->call.length = 0;
	put_path(record, state, row);
	if (is_about_descriptor(record, state, row))
		return leave_descriptor(state, row, result);
	if (result == 0)
		put_identity(record, state, arg(state, row->length));
	send_path(record);
	return 0;
}

#endif
