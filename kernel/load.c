/* SPDX-License-Identifier: MIT */
#include "kernel/load.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/membarrier.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/failure.h"
#include "kernel/calls.h"
#include "kernel/explain.h"
#include "kernel/programs.skel.h"
#include "kernel/wire.h"

struct programs {
	struct kernel_bpf *object;
};

/* As the programs have it: only the beginning is set from here. */
struct first_state {
	uint16_t call;
	uint8_t flags;
	int32_t tid;
	int32_t pid;
};

/* ---- loading ---- */

static int explain_error(int error, bool is_of_mount, struct failure *failure)
{
	struct explain_facts facts;

	explain_probe(&facts);
	facts.is_of_mount = is_of_mount;
	return explain(&facts, error, failure);
}

static int keep_quiet(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level;
	(void)format;
	(void)args;
	return 0;
}

static bool has_function(const struct btf *btf, const char *name)
{
	return btf && btf__find_by_name_kind(btf, name, BTF_KIND_FUNC) > 0;
}

static bool has_tracepoint(const struct btf *btf, const char *name)
{
	char type[64];

	snprintf(type, sizeof(type), "btf_trace_%s", name);
	return btf && btf__find_by_name_kind(btf, type, BTF_KIND_TYPEDEF) > 0;
}

/* The number of arguments of a tracepoint; 0: there is none. */
static unsigned arguments_of(const struct btf *btf, const char *type)
{
	int id = btf ? btf__find_by_name_kind(btf, type, BTF_KIND_TYPEDEF) : 0;
	const struct btf_type *proto = id > 0 ? btf__type_by_id(btf, btf__type_by_id(btf, id)->type) : NULL;

	if (proto && btf_is_ptr(proto))
		proto = btf__type_by_id(btf, proto->type);
	return proto && btf_is_func_proto(proto) && btf_vlen(proto) ? btf_vlen(proto) - 1 : 0;
}

/* The offset of a member in bytes, or -1. */
static int offset_of(const struct btf *btf, const char *type, const char *name)
{
	int id = btf__find_by_name_kind(btf, type, BTF_KIND_STRUCT);
	const struct btf_type *found = id > 0 ? btf__type_by_id(btf, id) : NULL;
	const struct btf_member *members = found ? btf_members(found) : NULL;

	for (unsigned i = 0; found && i < btf_vlen(found); i++)
		if (strcmp(btf__name_by_offset(btf, members[i].name_off), name) == 0)
			return btf_member_bit_offset(found, i) / 8;
	return -1;
}

/* If btrfs is not there, or not loaded, there are none of its files. */
static void adapt_to_btrfs(struct kernel_bpf *object, struct btf *kernel)
{
	struct btf *module = offset_of(kernel, "btrfs_inode", "root") < 0 ? btf__load_module_btf("btrfs", kernel) : NULL;
	const struct btf *btf = module ? module : kernel;
	int inode = offset_of(btf, "btrfs_inode", "vfs_inode"), root = offset_of(btf, "btrfs_inode", "root"),
	    dev = offset_of(btf, "btrfs_root", "anon_dev");

	if (inode >= 0 && root >= 0 && dev >= 0) {
		object->rodata->kernel_btrfs.is_known = 1;
		object->rodata->kernel_btrfs.inode = inode;
		object->rodata->kernel_btrfs.root = root;
		object->rodata->kernel_btrfs.dev = dev;
	}
	btf__free(module);
}

/* What this kernel has, which the programs ask for by constants. */
static void adapt(struct kernel_bpf *object)
{
	struct btf *btf = btf__load_vmlinux_btf();
	bool submits_req = has_tracepoint(btf, "io_uring_submit_req");

	object->rodata->kernel_clock_offset = clock_namespace_offset_ns();
	object->rodata->kernel_has_casts = has_function(btf, "bpf_rdonly_cast");
	object->rodata->kernel_spares_others = !explain_may_trace_others();
	object->rodata->kernel_has_mappings = has_function(btf, "bpf_iter_task_vma_new");
	object->rodata->kernel_has_cqe = arguments_of(btf, "btf_trace_io_uring_complete") == 3;
	if (btf)
		adapt_to_btrfs(object, btf);
	bpf_program__set_autoload(object->progs.kernel_uring_submit, submits_req);
	bpf_program__set_autoload(object->progs.kernel_uring_submit_old,
		!submits_req && has_tracepoint(btf, "io_uring_submit_sqe"));
	object->rodata->kernel_has_devices = has_tracepoint(btf, "block_bio_queue") && has_tracepoint(btf, "block_bio_complete") &&
		has_tracepoint(btf, "block_rq_complete");
	if (!has_tracepoint(btf, "io_uring_create")) { /* built without it */
		bpf_program__set_autoload(object->progs.kernel_uring_create, false);
		bpf_program__set_autoload(object->progs.kernel_uring_complete, false);
		bpf_program__set_autoload(object->progs.kernel_uring_fail_link, false);
	}
	btf__free(btf);
}

/* Of a mount: the daemon sees names, and the monitor processes. */
static void choose(struct kernel_bpf *object, bool is_of_mount)
{
	struct bpf_program *const natively[] = { object->progs.kernel_enter, object->progs.kernel_fork,
		object->progs.kernel_executed, object->progs.kernel_exit, object->progs.kernel_switch, object->progs.kernel_wakeup,
		object->progs.kernel_uring_create, object->progs.kernel_sampler };

	object->rodata->kernel_is_of_mount = is_of_mount;
	object->rodata->kernel_has_devices &= !is_of_mount;
	bpf_program__set_autoload(object->progs.kernel_bio_queued, object->rodata->kernel_has_devices);
	bpf_program__set_autoload(object->progs.kernel_rq_completed, object->rodata->kernel_has_devices);
	bpf_program__set_autoload(object->progs.kernel_bio_completed, object->rodata->kernel_has_devices);
	bpf_map__set_autocreate(object->maps.kernel_living, !is_of_mount);
	if (!is_of_mount)
		bpf_program__set_autoload(object->progs.kernel_enter_mount, false);
	for (size_t i = 0; is_of_mount && i < sizeof(natively) / sizeof(natively[0]); i++)
		bpf_program__set_autoload(natively[i], false);
}

/* Our process's pid namespace: numbers of processes are those that it shows. */
static int look_at_us(struct kernel_bpf *object)
{
	LIBBPF_OPTS(bpf_test_run_opts, options);
	int r = bpf_prog_test_run_opts(bpf_program__fd(object->progs.kernel_look_at_us), &options);

	bpf_program__set_autoattach(object->progs.kernel_look_at_us, false);
	return r;
}

int programs_load(size_t buffer_bytes, size_t most_files, struct programs **ret_programs, struct failure *failure)
{
	struct programs *programs = calloc(1, sizeof(*programs));
	int r;

	if (!programs)
		return failure_memory(failure);
	libbpf_set_print(keep_quiet);
	programs->object = kernel_bpf__open();
	if (!programs->object) {
		r = explain_error(-errno, most_files != 0, failure);
		free(programs);
		return r;
	}
	adapt(programs->object);
	choose(programs->object, most_files != 0);
	if (most_files)
		bpf_map__set_max_entries(programs->object->maps.kernel_opened, most_files);
	bpf_map__set_max_entries(programs->object->maps.kernel_ring, buffer_bytes);
	r = kernel_bpf__load(programs->object);
	if (r == 0)
		r = look_at_us(programs->object);
	if (r < 0) {
		programs_destroy(programs);
		return explain_error(r, most_files != 0, failure);
	}
	*ret_programs = programs;
	return 0;
}

int programs_add(struct programs *programs, pid_t pid, struct failure *failure)
{
	struct bpf_map *tasks = programs->object->maps.kernel_tasks;
	struct first_state first = { .tid = pid, .pid = pid };
	cleanup_fd int pidfd = syscall(SYS_pidfd_open, pid, 0);
	cleanup_free char *state = calloc(1, bpf_map__value_size(tasks));

	if (!state)
		return failure_memory(failure);
	memcpy(state, &first, sizeof(first));
	if (pidfd < 0 || bpf_map_update_elem(bpf_map__fd(tasks), &pidfd, state, BPF_ANY) < 0)
		return failure_set(failure, -errno, "cannot record process %d in the kernel: %s", (int)pid,
			strerror(errno));
	return 0;
}

static void set_attach(struct programs *programs, enum wire_attach attach)
{
	__atomic_store_n(&programs->object->bss->kernel_attach, attach, __ATOMIC_SEQ_CST);
}

int programs_choose(struct programs *programs, pid_t pid)
{
	int32_t key = pid;
	uint8_t one = 1;

	if (bpf_map_update_elem(bpf_map__fd(programs->object->maps.kernel_chosen), &key, &one, BPF_ANY) < 0)
		return -errno;
	set_attach(programs, ATTACH_CHOOSING);
	return 0;
}

void programs_reject(struct programs *programs, pid_t pid)
{
	int32_t key = pid;

	bpf_map_delete_elem(bpf_map__fd(programs->object->maps.kernel_chosen), &key);
}

int programs_attach_to(struct programs *programs, bool all, int cgroup)
{
	uint32_t zero = 0, group = (uint32_t)cgroup;

	if (cgroup >= 0 && bpf_map_update_elem(bpf_map__fd(programs->object->maps.kernel_cgroup), &zero, &group, BPF_ANY) < 0)
		return -errno;
	set_attach(programs, all ? ATTACH_ALL : cgroup >= 0 ? ATTACH_CGROUP : ATTACH_CHOSEN);
	return 0;
}

/* As the kernel has device numbers. */
void programs_set_device(struct programs *programs, uint32_t major, uint32_t minor)
{
	__atomic_store_n(&programs->object->bss->kernel_mount_device, major << 20 | minor, __ATOMIC_RELAXED);
}

int programs_add_file(struct programs *programs, uint64_t number, const struct wire_opened *opened)
{
	int r = bpf_map_update_elem(bpf_map__fd(programs->object->maps.kernel_opened), &number, opened, BPF_ANY);

	return r < 0 ? -errno : 0;
}

void programs_remove_file(struct programs *programs, uint64_t number)
{
	bpf_map_delete_elem(bpf_map__fd(programs->object->maps.kernel_opened), &number);
}

int programs_attach(struct programs *programs, struct failure *failure)
{
	int r = kernel_bpf__attach(programs->object);

	return r < 0 ? explain_error(r, programs->object->rodata->kernel_is_of_mount, failure) : 0;
}

void programs_detach(struct programs *programs)
{
	kernel_bpf__detach(programs->object);
	/* waits until no processor is inside of a program any more */
	syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
}

void programs_destroy(struct programs *programs)
{
	if (!programs)
		return;
	kernel_bpf__destroy(programs->object);
	free(programs);
}

int programs_sample(const struct programs *programs)
{
	LIBBPF_OPTS(bpf_test_run_opts, options);

	return bpf_prog_test_run_opts(bpf_program__fd(programs->object->progs.kernel_sampler), &options);
}

bool programs_have_devices(const struct programs *programs)
{
	return programs->object->rodata->kernel_has_devices;
}

int programs_each_device(const struct programs *programs, int (*each)(void *arg, const struct wire_device_record *record), void *arg)
{
	int fd = bpf_map__fd(programs->object->maps.kernel_devices), r = 0;
	struct wire_device_record record = { .head.type = WIRE_DEVICE };
	const void *before = NULL;

	while (r == 0 && bpf_map_get_next_key(fd, before, &record.of) == 0) {
		before = &record.of;
		if (bpf_map_lookup_elem(fd, &record.of, &record.io) == 0) {
			record.head.time_ns = (int64_t)record.io.last_ns;
			r = each(arg, &record);
		}
	}
	return r;
}

int programs_ring(const struct programs *programs)
{
	return bpf_map__fd(programs->object->maps.kernel_ring);
}

size_t programs_ring_bytes(const struct programs *programs)
{
	return bpf_map__max_entries(programs->object->maps.kernel_ring);
}

/* ---- counters ---- */

int programs_count(const struct programs *programs, struct wire_counters **ret_counters)
{
	int n = libbpf_num_possible_cpus();
	uint32_t zero = 0;

	if (n < 0)
		return n;
	*ret_counters = calloc(n, sizeof(**ret_counters));
	if (!*ret_counters)
		return -ENOMEM;
	if (bpf_map_lookup_elem(bpf_map__fd(programs->object->maps.kernel_counters), &zero, *ret_counters) == 0)
		return n;
	free(steal_ptr(ret_counters));
	return -errno;
}

uint64_t programs_missed(const struct programs *programs)
{
	struct bpf_program *program;
	uint64_t missed = 0;

	bpf_object__for_each_program(program, programs->object->obj) {
		struct bpf_prog_info info = { 0 };
		uint32_t size = sizeof(info);

		if (bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size) == 0)
			missed += info.recursion_misses;
	}
	return missed;
}
