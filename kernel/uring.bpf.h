/* SPDX-License-Identifier: MIT */
#ifndef KERNEL_URING_BPF_H
#define KERNEL_URING_BPF_H

/*
 * Requests of io_uring.  At the submission: what is asked for, and the paths, which the kernel frees before the end; the
 * file is not known yet.  At the completion: the file and the result, perhaps in another thread of the kernel.  A thread
 * that polls a ring for its owner has no fork that would make it ours: the ring's owner is known from its creation.
 */

#include "data.bpf.h"
#include "paths.bpf.h"
#include "process.bpf.h"

enum {
	URING_READV = 1,
	URING_WRITEV,
	URING_FSYNC,
	URING_READ_FIXED,
	URING_WRITE_FIXED,
	URING_SYNC_RANGE = 8,
	URING_SENDMSG,
	URING_RECVMSG,
	URING_ACCEPT = 13,
	URING_CONNECT = 16,
	URING_FALLOCATE,
	URING_OPENAT,
	URING_CLOSE,
	URING_STATX = 21,
	URING_READ,
	URING_WRITE,
	URING_SEND = 26,
	URING_RECV,
	URING_OPENAT2,
	URING_SPLICE = 30,
	URING_TEE = 33,
	URING_RENAMEAT = 35,
	URING_UNLINKAT,
	URING_MKDIRAT,
	URING_SYMLINKAT,
	URING_LINKAT,
	URING_SOCKET = 45,
	URING_SEND_ZC = 47,
	URING_SENDMSG_ZC,
	URING_READ_MULTISHOT,
	URING_FTRUNCATE = 55,
	URING_READV_FIXED = 60,
	URING_WRITEV_FIXED,
};

struct owner {
	int32_t tid, pid;
};

struct uring_request {
	struct owner owner;
	int64_t start_ns;
	int64_t offset;
	uint64_t length;
	uint64_t handle; /* CLOSE: what it closes; SPLICE: what it reads */
	int64_t from;	 /* SPLICE: the offset that it reads at */
	uint32_t slot;	 /* where the new file goes, instead of a descriptor: the number of the slot + 1; 0: nowhere */
	uint32_t flags;
	uint16_t call;
	uint8_t opcode;
	uint8_t last;
	bool silent; /* there is a completion only if it fails */
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, uint64_t);
	__type(value, struct uring_request);
} kernel_requests SEC(".maps");

/* Requests that may have several results, of which all but the last one come without the request. */
struct shot {
	uint64_t ring, user_data;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, struct shot);
	__type(value, uint64_t);
} kernel_shots SEC(".maps");

const volatile bool kernel_has_cqe = false; /* the tracepoint of a completion has a pointer to the result */

/* Rings, by the address of their context. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, uint64_t);
	__type(value, struct owner);
} kernel_rings SEC(".maps");

inlined uint32_t call_of_request(uint8_t opcode)
{
	switch (opcode) {
	case URING_READV:
	case URING_READV_FIXED:
		return CALL_preadv;
	case URING_WRITEV:
	case URING_WRITEV_FIXED:
		return CALL_pwritev;
	case URING_FSYNC:
		return CALL_fsync;
	case URING_READ_FIXED:
	case URING_READ_MULTISHOT:
	case URING_READ:
		return CALL_pread64;
	case URING_WRITE_FIXED:
	case URING_WRITE:
		return CALL_pwrite64;
	case URING_SYNC_RANGE:
		return CALL_sync_file_range;
	case URING_SENDMSG:
	case URING_SENDMSG_ZC:
		return CALL_sendmsg;
	case URING_RECVMSG:
		return CALL_recvmsg;
	case URING_ACCEPT:
		return CALL_accept4;
	case URING_CONNECT:
		return CALL_connect;
	case URING_FALLOCATE:
		return CALL_fallocate;
	case URING_OPENAT:
		return CALL_openat;
	case URING_CLOSE:
		return CALL_close;
	case URING_STATX:
		return CALL_statx;
	case URING_SEND:
	case URING_SEND_ZC:
		return CALL_sendto;
	case URING_RECV:
		return CALL_recvfrom;
	case URING_OPENAT2:
		return CALL_openat2;
	case URING_RENAMEAT:
		return CALL_renameat2;
	case URING_UNLINKAT:
		return CALL_unlinkat;
	case URING_MKDIRAT:
		return CALL_mkdirat;
	case URING_LINKAT:
		return CALL_linkat;
	case URING_SYMLINKAT:
		return CALL_symlinkat;
	case URING_SOCKET:
		return CALL_socket;
	case URING_SPLICE:
		return CALL_splice;
	case URING_TEE:
		return CALL_tee;
	case URING_FTRUNCATE:
		return CALL_ftruncate;
	}
	return CALL_none;
}

SEC("tp_btf/io_uring_create")
int BPF_PROG(kernel_uring_create, int fd, void *context)
{
	struct task_state *state = state_of(bpf_get_current_task_btf());
	uint64_t ring = number(context);
	struct owner owner;

	if (!state)
		return 0;
	owner = (struct owner){ state->tid, state->pid };
	bpf_map_update_elem(&kernel_rings, &ring, &owner, BPF_ANY);
	return 0;
}

/* ---- files in slots ---- */

#define SLOT_FLAGS 7 /* bits of the pointer */
#define SLOT_ANY UINT32_MAX /* the result says which one */

/* The file in a slot of a ring, which counts from 0; 0: there is none. */
__noinline uint64_t file_in_slot(uint64_t ring, uint32_t slot)
{
	uint64_t table = ring + bpf_core_field_offset(struct io_ring_ctx, file_table), at = 0, file = 0;

	if (bpf_core_field_exists(struct io_file_table, data)) {
		if (slot >= FIELD(io_file_table, table, data.nr))
			return 0;
		at = POINTER(io_file_table, table, data.nodes) + slot * sizeof(uint64_t);
		bpf_probe_read_kernel(&file, sizeof(file), (const void *)at);
		file = file ? FIELD(io_rsrc_node, file, file_ptr) : 0;
	} else if (bpf_core_field_exists(struct io_file_table___old, files)) {
		at = POINTER(io_file_table___old, table, files);
		/* struct io_fixed_file has a pointer, and is not named here: for a type that the kernel does not have, libbpf looks
		 * into its modules, which takes CAP_SYS_ADMIN */
		if (at)
			bpf_probe_read_kernel(&file, sizeof(file), (const void *)(at + slot * sizeof(uint64_t)));
	}
	return file & ~(uint64_t)SLOT_FLAGS;
}

/* The file that a request has opened. */
inlined uint64_t file_made(const struct uring_request *request, uint64_t ring, int64_t result)
{
	if (result < 0)
		return 0;
	if (!request->slot)
		return file_at(bpf_get_current_task_btf(), result);
	return file_in_slot(ring, request->slot == SLOT_ANY ? (uint32_t)result : request->slot - 1);
}

/* ---- submission ---- */

inlined uint64_t parts_bytes(uint64_t at, uint64_t n)
{
	struct vector vector = { .at = at, .n = n };

	bpf_loop(n > 1024 ? 0 : n, add_part, &vector, 0);
	return vector.bytes;
}

inlined void take_data(struct uring_request *request, uint64_t data)
{
	request->offset = FIELD(io_rw, data, kiocb.ki_pos);
	request->length = FIELD(io_rw, data, len);
	if (request->call == CALL_preadv || request->call == CALL_pwritev)
		request->length = parts_bytes(FIELD(io_rw, data, addr), request->length);
}

inlined void take_range(struct uring_request *request, uint64_t data)
{
	request->offset = FIELD(io_sync, data, off);
	request->length = FIELD(io_sync, data, len);
	request->flags = request->call == CALL_fallocate ? FIELD(io_sync, data, mode) : FIELD(io_sync, data, flags);
}

inlined void take_close(struct uring_request *request, uint64_t data)
{
	uint32_t slot = FIELD(io_close, data, file_slot);
	uint64_t file = slot ? file_in_slot(POINTER(io_kiocb, data, ctx), slot - 1) :
			       file_at(bpf_get_current_task_btf(), FIELD(io_close, data, fd));

	if (!file)
		return;
	if (kernel_is_of_mount) {
		request->handle = handle_in_mount(file);
		return;
	}
	request->handle = handle_of(file, POINTER(file, file, f_inode), request->owner.tid);
	request->last = handle_last(file);
}

#define SPLICE_F_FD_IN_FIXED (1u << 31)
#define REQUEST_FIXED_FILE 1 /* as the program has them in the flags of the request */
#define REQUEST_SILENT 0x40
#define ECANCELED 125

inlined int64_t position_at(uint64_t file, int64_t offset)
{
	if (offset != -1)
		return offset;
	return file && FIELD(file, file, f_mode) & FMODE_LSEEK ? FIELD(file, file, f_pos) : -1;
}

inlined void take_splice(struct uring_request *request, uint64_t data)
{
	int in = FIELD(io_splice, data, splice_fd_in);
	uint64_t file = FIELD(io_splice, data, flags) & SPLICE_F_FD_IN_FIXED ? file_in_slot(POINTER(io_kiocb, data, ctx), in) :
									      file_at(bpf_get_current_task_btf(), in);

	request->length = FIELD(io_splice, data, len);
	request->offset = FIELD(io_splice, data, off_out);
	request->from = request->call == CALL_splice ? position_at(file, FIELD(io_splice, data, off_in)) : -1;
	if (file)
		request->handle = handle_of(file, POINTER(file, file, f_inode), request->owner.tid);
}

inlined void take_request(struct uring_request *request, uint64_t data)
{
	switch (request->call) {
	case CALL_preadv:
	case CALL_pwritev:
	case CALL_pread64:
	case CALL_pwrite64:
		take_data(request, data);
		break;
	case CALL_fsync:
	case CALL_sync_file_range:
	case CALL_fallocate:
		take_range(request, data);
		break;
	case CALL_ftruncate:
		/* behind the pointer to the file */
		bpf_probe_read_kernel(&request->length, sizeof(request->length), (const void *)(data + sizeof(uint64_t)));
		break;
	case CALL_sendto:
	case CALL_recvfrom:
		request->offset = -1;
		request->length = FIELD(io_sr_msg, data, len);
		request->flags = FIELD(io_sr_msg, data, msg_flags);
		break;
	case CALL_sendmsg:
	case CALL_recvmsg:
		request->offset = -1;
		request->length = message_bytes(POINTER(io_sr_msg, data, umsg), false);
		request->flags = FIELD(io_sr_msg, data, msg_flags);
		break;
	case CALL_close:
		take_close(request, data);
		break;
	case CALL_accept4:
		request->slot = FIELD(io_accept, data, file_slot);
		break;
	case CALL_socket:
		request->slot = FIELD(io_socket, data, file_slot);
		break;
	case CALL_splice:
	case CALL_tee:
		take_splice(request, data);
		break;
	}
}

/* ---- paths ---- */

struct asked {
	int dir, dir2;
	uint64_t path, path2;	/* struct filename */
	uint32_t flags, mode;
	uint64_t length;
};

/* Whether the request is about a path. */
inlined bool take_paths(uint32_t call, uint64_t data, struct asked *asked)
{
	switch (call) {
	case CALL_openat:
	case CALL_openat2:
		*asked = (struct asked){ .dir = FIELD(io_open, data, dfd), .path = POINTER(io_open, data, filename),
			.flags = FIELD(io_open, data, how.flags), .mode = FIELD(io_open, data, how.mode) };
		return true;
	case CALL_statx:
		*asked = (struct asked){ .dir = FIELD(io_statx, data, dfd), .path = POINTER(io_statx, data, filename),
			.flags = FIELD(io_statx, data, flags) };
		return true;
	case CALL_unlinkat:
		*asked = (struct asked){ .dir = FIELD(io_unlink, data, dfd), .path = POINTER(io_unlink, data, filename),
			.flags = FIELD(io_unlink, data, flags) };
		return true;
	case CALL_mkdirat:
		*asked = (struct asked){ .dir = FIELD(io_mkdir, data, dfd), .path = POINTER(io_mkdir, data, filename),
			.length = FIELD(io_mkdir, data, mode) };
		return true;
	case CALL_renameat2:
		*asked = (struct asked){ .dir = FIELD(io_rename, data, old_dfd), .dir2 = FIELD(io_rename, data, new_dfd),
			.path = POINTER(io_rename, data, oldpath), .path2 = POINTER(io_rename, data, newpath),
			.flags = FIELD(io_rename, data, flags) };
		return true;
	case CALL_symlinkat: /* the path first, then the target */
		*asked = (struct asked){ .dir = FIELD(io_link, data, new_dfd), .dir2 = AT_FDCWD,
			.path = POINTER(io_link, data, newpath), .path2 = POINTER(io_link, data, oldpath) };
		return true;
	case CALL_linkat:
		*asked = (struct asked){ .dir = FIELD(io_link, data, old_dfd), .dir2 = FIELD(io_link, data, new_dfd),
			.path = POINTER(io_link, data, oldpath), .path2 = POINTER(io_link, data, newpath),
			.flags = FIELD(io_link, data, flags) };
		return true;
	}
	return false;
}

inlined uint32_t copy_name(struct wire_path *record, uint32_t at, uint64_t filename)
{
	uint64_t name = filename ? POINTER(filename, filename, name) : 0;
	long n;

	if (at > PATH_MOST || !name)
		return 0;
	n = bpf_probe_read_kernel_str(record->text + at, PATH_MOST, (const void *)name);
	return n <= 0 || n > PATH_MOST ? 0 : n;
}

inlined uint64_t base_of_request(int dir, bool is_absolute)
{
	struct task_struct *task = bpf_get_current_task_btf();

	if (is_absolute)
		return name_of_root(task);
	if (dir == AT_FDCWD)
		return name_of_pwd(task);
	return name_of_file(file_at(task, dir));
}

/* The paths, which the kernel frees when it has used them. */
__noinline int send_paths(struct uring_request *request, uint64_t key, uint64_t data)
{
	uint32_t zero = 0;
	struct scratch *scratch = bpf_map_lookup_elem(&kernel_scratch, &zero);
	struct wire_path *record = &scratch->path;
	struct asked asked;

	if (!scratch || !request || !take_paths(request->call, data, &asked))
		return 0;
	record->call = (struct wire_call){ .result = key, .other = request->owner.pid, .flags = asked.flags,
		.mode = asked.mode, .length = asked.length };
	record->call.head = (struct wire_head){ .type = WIRE_PATH, .flags = WIRE_URING | (request->silent ? WIRE_SILENT : 0), .call = request->call,
		.tid = request->owner.tid, .time_ns = request->start_ns };
	record->base2 = record->name = record->ino = 0;
	record->size = 0;
	record->dev = record->file_mode = record->nlink = record->len2 = 0;
	record->len = copy_name(record, 0, asked.path);
	record->base = base_of_request(asked.dir, record->len && record->text[0] == '/');
	if (asked.path2) {
		record->len2 = copy_name(record, record->len, asked.path2);
		record->base2 = base_of_request(asked.dir2, record->len <= PATH_MOST && record->text[record->len] == '/');
	}
	send_path(record);
	return 1;
}

#define PF_IO_WORKER 0x10
#define PF_USER_WORKER 0x4000

/* Of a mount: the process that a worker of io_uring works for, else the thread. */
inlined struct owner owner_of_any(void)
{
	struct task_struct *task = bpf_get_current_task_btf();
	int32_t pid = id_of(number(task->group_leader));

	return (struct owner){ task->flags & (PF_IO_WORKER | PF_USER_WORKER) ? pid : id_of(number(task)), pid };
}

inlined bool owner_of(uint64_t key, struct owner *ret_owner)
{
	struct task_state *state = state_of(bpf_get_current_task_btf());
	uint64_t ring = POINTER(io_kiocb, key, ctx);
	struct owner *owner;

	if (kernel_is_of_mount) {
		*ret_owner = owner_of_any();
		return true;
	}
	if (state) {
		*ret_owner = (struct owner){ state->tid, state->pid };
		return true;
	}
	owner = bpf_map_lookup_elem(&kernel_rings, &ring);
	if (owner)
		*ret_owner = *owner;
	return owner;
}

inlined uint64_t file_asked(uint64_t key)
{
	int fd = FIELD(io_kiocb, key, cqe.fd);

	return FIELD(io_kiocb, key, flags) & REQUEST_FIXED_FILE ? file_in_slot(POINTER(io_kiocb, key, ctx), fd) :
								  file_at(bpf_get_current_task_btf(), fd);
}

inlined uint64_t handle_of_request(const struct uring_request *request, uint64_t file)
{
	if (!file)
		return request->handle;
	return kernel_is_of_mount ? handle_in_mount(file) :
		handle_of(file, POINTER(file, file, f_inode), request->owner.tid);
}

/* A request of which the end may not be seen. */
__noinline int send_silent(struct uring_request *request, uint64_t key)
{
	uint64_t file = request && request->call != CALL_close ? file_asked(key) : 0;
	struct wire_call *record;

	if (!request)
		return 0;
	request->handle = handle_of_request(request, file);
	if (kernel_is_of_mount && !request->handle)
		return 0;
	record = reserve(wire_call);
	if (!record)
		return 0;
	*record = (struct wire_call){ .result = key, .other = request->owner.pid, .handle = request->handle,
		.offset = request->offset, .length = request->length, .flags = request->flags };
	record->head = (struct wire_head){ .type = WIRE_PENDING, .flags = WIRE_SILENT | (request->last ? WIRE_LAST : 0),
		.call = request->call, .tid = request->owner.tid, .time_ns = request->start_ns };
	send_reserved(record);
	return 0;
}

inlined bool may_have_several_results(uint8_t opcode)
{
	return opcode == URING_ACCEPT || opcode == URING_RECV || opcode == URING_RECVMSG || opcode == URING_READ_MULTISHOT;
}

inlined void remember_shot(uint64_t key)
{
	struct shot shot = { POINTER(io_kiocb, key, ctx), FIELD(io_kiocb, key, cqe.user_data) };

	bpf_map_update_elem(&kernel_shots, &shot, &key, BPF_ANY);
}

/* As in is_of_mount(): the file is known at the completion. */
inlined bool is_of_mount_request(uint32_t call)
{
	return kernel_mount_device && (call == CALL_pread64 || call == CALL_pwrite64 || call == CALL_preadv ||
		call == CALL_pwritev || call == CALL_close);
}

__noinline int submitted(uint64_t key)
{
	struct uring_request request = { 0 };

	request.opcode = FIELD(io_kiocb, key, opcode);
	request.call = call_of_request(request.opcode);
	if (request.call == CALL_none || (kernel_is_of_mount && !is_of_mount_request(request.call))) {
		/* the memory was of another request, of which no end was seen */
		bpf_map_delete_elem(&kernel_requests, &key);
		return 0;
	}
	if (!owner_of(key, &request.owner))
		return 0;
	request.start_ns = clock_ns();
	if (request.call == CALL_openat || request.call == CALL_openat2)
		request.slot = FIELD(io_open, key, file_slot);
	request.silent = FIELD(io_kiocb, key, flags) & REQUEST_SILENT;
	if (!send_paths(&request, key, key)) { /* what is of the operation alone stands at the beginning */
		take_request(&request, key);
		if (request.silent)
			send_silent(&request, key);
	}
	if (may_have_several_results(request.opcode))
		remember_shot(key);
	bpf_map_update_elem(&kernel_requests, &key, &request, BPF_ANY);
	return 0;
}

SEC("tp_btf/io_uring_submit_req")
int BPF_PROG(kernel_uring_submit, struct io_kiocb *request)
{
	return submitted(number(request));
}

/* Until 6.3 it had this name. */
SEC("tp_btf/io_uring_submit_sqe")
int BPF_PROG(kernel_uring_submit_old, struct io_kiocb *request)
{
	return submitted(number(request));
}

/* ---- completion ---- */

/* An offset of -1 means the position of the descriptor, which the kernel has put into the request. */
inlined int64_t offset_of(const struct uring_request *request, uint64_t key, uint64_t file, int64_t result)
{
	bool is_data = request->call == CALL_preadv || request->call == CALL_pwritev || request->call == CALL_pread64 ||
		request->call == CALL_pwrite64;

	if (request->call == CALL_splice && request->offset == -1)
		return file && FIELD(file, file, f_mode) & FMODE_LSEEK ? FIELD(file, file, f_pos) - (result > 0 ? result : 0) : -1;
	if (!is_data)
		return request->offset;
	if (!file || !(FIELD(file, file, f_mode) & FMODE_LSEEK))
		return -1;
	if ((request->call == CALL_pwritev || request->call == CALL_pwrite64) && result > 0 &&
		FIELD(file, file, f_flags) & O_APPEND)
		return FIELD(inode, POINTER(file, file, f_inode), i_size) - result;
	if (request->offset != -1)
		return request->offset;
	return FIELD(io_rw, key, kiocb.ki_pos) - (result > 0 ? result : 0);
}

inlined void complete_path(const struct uring_request *request, uint64_t key, int64_t result)
{
	bool is_open = request->call == CALL_openat || request->call == CALL_openat2;
	uint64_t file = is_open ? file_made(request, POINTER(io_kiocb, key, ctx), result) : 0;
	uint64_t name = name_of_file(file);
	uint64_t handle = file ? handle_make(file) : 0;
	struct wire_reaped *record = reserve(wire_reaped);

	if (!record)
		return;
	head_now(&record->head, WIRE_REAPED, request->owner.tid);
	record->pid = request->owner.pid;
	record->key = key;
	record->result = result;
	record->handle = handle;
	record->name = name;
	record->file_mode = file ? FIELD(file, file, f_mode) : 0;
	record->nlink = file ? FIELD(inode, POINTER(file, file, f_inode), i_nlink) : 0;
	send_reserved(record);
}

/* A request that was cancelled in a chain has none yet. */
inlined uint64_t file_of_request(uint64_t key, int64_t result)
{
	uint64_t file = POINTER(io_kiocb, key, file);

	return !file && result == -ECANCELED ? file_asked(key) : file;
}

inlined void complete_call(const struct uring_request *request, uint64_t key, int64_t result)
{
	bool is_new = request->call == CALL_accept4 || request->call == CALL_socket;
	bool is_transfer = request->call == CALL_splice || request->call == CALL_tee;
	uint64_t file = request->call == CALL_close || request->call == CALL_socket ? 0 : file_of_request(key, result);
	uint64_t handle = handle_of_request(request, file), made;
	struct wire_call *record;

	if (kernel_is_of_mount && !handle)
		return;
	made = is_new ? file_made(request, POINTER(io_kiocb, key, ctx), result) : 0;
	made = made ? handle_report(made, request->owner.tid) : 0;
	if (request->call == CALL_connect && result == 0 && !kernel_is_of_mount && is_socket(file))
		send_socket(file, handle, 0, 0, CALL_none);
	record = reserve(wire_call);
	if (!record)
		return;
	record->head = (struct wire_head){ .type = WIRE_CALL, .flags = WIRE_URING | (request->last ? WIRE_LAST : 0),
		.call = request->call, .tid = request->owner.tid, .time_ns = request->start_ns };
	record->latency_ns = clock_ns() - request->start_ns;
	record->result = result;
	record->handle = made ? made : handle;
	record->other = made ? handle : is_transfer ? request->handle : 0;
	record->offset = offset_of(request, key, file, result);
	record->length = request->length;
	record->flags = request->flags;
	record->mode = 0;
	if (is_transfer)
		record->from = request->from;
	send_reserved(record);
}

inlined bool is_path(uint32_t call)
{
	return call == CALL_openat || call == CALL_openat2 || call == CALL_statx || call == CALL_unlinkat ||
		call == CALL_mkdirat || call == CALL_renameat2 || call == CALL_linkat || call == CALL_symlinkat;
}

__noinline int completed(uint64_t key, int64_t result)
{
	struct uring_request *known = bpf_map_lookup_elem(&kernel_requests, &key), request;

	if (!known)
		return 0;
	request = *known;
	bpf_map_delete_elem(&kernel_requests, &key);
	if (is_path(request.call) || request.silent)
		complete_path(&request, key, result);
	else
		complete_call(&request, key, result);
	return 0;
}

/* The request before it in a chain has failed.  Its own end may be silent. */
SEC("tp_btf/io_uring_fail_link")
int kernel_uring_fail_link(uint64_t *args)
{
	return completed(number((const void *)args[1]), -ECANCELED);
}

/* One of several results: the request goes on. */
__noinline int completed_one(uint64_t ring, uint64_t user_data, int64_t result)
{
	struct shot shot = { ring, user_data };
	uint64_t *key = bpf_map_lookup_elem(&kernel_shots, &shot);
	struct uring_request *request = key ? bpf_map_lookup_elem(&kernel_requests, key) : NULL;

	if (!request)
		return 0;
	complete_call(request, *key, result);
	request->start_ns = clock_ns();
	return 0;
}

SEC("tp_btf/io_uring_complete")
int kernel_uring_complete(uint64_t *args)
{
	uint64_t ring = number((const void *)args[0]), request = number((const void *)args[1]), cqe;

	if (request)
		return completed(request, FIELD(io_kiocb, request, cqe.res));
	if (!kernel_has_cqe)
		return completed_one(ring, args[2], (int)args[3]);
	cqe = number((const void *)args[2]);
	return completed_one(ring, FIELD(io_uring_cqe, cqe, user_data), FIELD(io_uring_cqe, cqe, res));
}

#endif
