/* SPDX-License-Identifier: MIT */

/* In the place of kernel.c, where there is no clang, bpftool or libbpf: nothing is recorded in the kernel. */

#include "kernel/kernel.h"

#include <errno.h>

#include "base/failure.h"

int kernel_explain(struct failure *failure)
{
	return failure_set(failure, -EOPNOTSUPP,
		"cannot record in the kernel: ftrac was built without it (it takes clang, bpftool and libbpf)");
}

int kernel_start(const struct kernel_options *options, struct kernel **ret_kernel, struct failure *failure)
{
	(void)options;
	(void)ret_kernel;
	return kernel_explain(failure);
}

int kernel_choose(struct kernel *kernel, pid_t pid)
{
	(void)kernel;
	(void)pid;
	return -EOPNOTSUPP;
}

void kernel_reject(struct kernel *kernel, pid_t pid)
{
	(void)kernel;
	(void)pid;
}

int kernel_attach(struct kernel *kernel, bool all, int cgroup)
{
	(void)kernel;
	(void)all;
	(void)cgroup;
	return -EOPNOTSUPP;
}

int kernel_load_for_mount(size_t most_files, struct kernel **ret_kernel, struct failure *failure)
{
	(void)most_files;
	(void)ret_kernel;
	return kernel_explain(failure);
}

int kernel_run_for_mount(struct kernel *kernel, struct ring *ring)
{
	(void)kernel;
	(void)ring;
	return -EOPNOTSUPP;
}

void kernel_watch_mount(struct kernel *kernel, dev_t device)
{
	(void)kernel;
	(void)device;
}

int kernel_add_file(struct kernel *kernel, uint64_t fh, uint64_t handle, uint64_t node)
{
	(void)kernel;
	(void)fh;
	(void)handle;
	(void)node;
	return -EOPNOTSUPP;
}

void kernel_remove_file(struct kernel *kernel, uint64_t fh)
{
	(void)kernel;
	(void)fh;
}

int64_t kernel_seen_until_ns(struct kernel *kernel)
{
	(void)kernel;
	return INT64_MAX;
}

int kernel_sample(const struct kernel *kernel)
{
	(void)kernel;
	return -EOPNOTSUPP;
}

uint64_t kernel_lost(struct kernel *kernel)
{
	(void)kernel;
	return 0;
}

uint64_t kernel_left(const struct kernel *kernel)
{
	(void)kernel;
	return 0;
}

void kernel_sync(struct kernel *kernel)
{
	(void)kernel;
}

void kernel_finish(struct kernel *kernel)
{
	(void)kernel;
}

void kernel_destroy(struct kernel *kernel)
{
	(void)kernel;
}

int kernel_count(const struct kernel *kernel, struct kernel_totals *ret_totals, struct kernel_counts *ret_counts, int n)
{
	(void)kernel;
	(void)ret_counts;
	(void)n;
	*ret_totals = (struct kernel_totals){ 0 };
	return 0;
}

void kernel_set_watched(struct kernel *kernel, bool is_watched)
{
	(void)kernel;
	(void)is_watched;
}

bool kernel_may_wait(const struct kernel *kernel)
{
	(void)kernel;
	return false;
}
