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
