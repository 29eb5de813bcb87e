/* SPDX-License-Identifier: MIT */
#ifndef KERNEL_EXPLAIN_H
#define KERNEL_EXPLAIN_H

/* Why the kernel does not load the programs, and what to do: from an errno, and what a probe found out about the machine. */

#include <stdbool.h>

struct failure;

/* The releases of Linux that are needed: major << 8 | minor.  A mount takes the kernel's passthrough. */
#define EXPLAIN_OLDEST (6 << 8 | 1)
#define EXPLAIN_OLDEST_MOUNT (6 << 8 | 9)

struct explain_facts {
	bool has_admin, has_bpf, has_perfmon; /* effective capabilities */
	bool in_user_namespace; /* capabilities there do not count */
	bool has_btf;		/* /sys/kernel/btf/vmlinux */
	bool is_confidential;	/* lockdown=confidentiality */
	bool is_of_mount;	/* the programs are those for the files of a mount; the probe leaves it false */
	unsigned release;	/* of Linux, as above; 0: not known */
	char release_text[65]; /* as in struct utsname */
};

/* Whether the user may trace processes that have rights which the user does not have. */
bool explain_may_trace_others(void);

void explain_probe(struct explain_facts *ret_facts);

/* error: the negative errno of the kernel.  Sets the failure, one line, and returns its code: -EPERM (a right is missing),
 * -EOPNOTSUPP (this kernel cannot), or error. */
int explain(const struct explain_facts *facts, int error, struct failure *failure);

#endif
