/* SPDX-License-Identifier: MIT */
#include "ftrac/transport.h"

#include <errno.h>
#include <fuse_lowlevel.h>
#include <linux/io_uring.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "ftrac/mounts.h"

#define SWITCH "/sys/module/fuse/parameters/enable_uring"

int transport_parse(const char *text, enum transport_wish *ret_wish)
{
	static const char *const names[] = { "auto", "on", "off" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(text, names[i]) == 0) {
			*ret_wish = (enum transport_wish)i;
			return 0;
		}
	return -EINVAL;
}

/* A container or kernel.io_uring_disabled may forbid it. */
static bool may_have_ring(void)
{
	struct io_uring_params params = { .flags = IORING_SETUP_SQE128 };
	cleanup_fd int fd = (int)syscall(SYS_io_uring_setup, 1, &params);

	return fd >= 0;
}

struct transport_conditions transport_probe(const char *source, bool waits)
{
	cleanup_file FILE *f = fopen(SWITCH, "re");
	struct transport_conditions conditions = { .kernel = f, .enabled = f && fgetc(f) == 'Y',
		.waits = waits };

#if FUSE_VERSION >= FUSE_MAKE_VERSION(3, 18)
	conditions.library = true;
#endif
	if (!conditions.enabled)
		return conditions;
	conditions.allowed = may_have_ring();
	mounts_of_others(source, &conditions.mirror, &conditions.late);
	return conditions;
}

/* Why io_uring cannot be used, and what to do; NULL if it can. */
static const char *obstacle(const struct transport_conditions *conditions)
{
	if (!conditions->library)
		return "this ftrac was built without it; build it with libfuse 3.18";
	if (!conditions->kernel)
		return "this kernel does not support it; Linux 6.14 does";
	if (!conditions->enabled)
		return "it is disabled; enable it with 'echo Y >" SWITCH "' (root)";
	if (!conditions->allowed)
		return "io_uring is forbidden here; allow it with 'sysctl kernel.io_uring_disabled=0' "
		       "(root), or in the profile of the container";
	if (conditions->waits)
		return "a request that waits for a lock would block the others; leave out --locks native";
	if (conditions->mirror)
		return "another ftrac is mounted, and the two could deadlock; unmount that one first";
	return NULL;
}

bool transport_choose(const struct transport_conditions *conditions, enum transport_wish wish,
	const char **ret_why)
{
	const char *why = obstacle(conditions);

	*ret_why = wish == TRANSPORT_URING ? why : NULL;
	return !why && wish != TRANSPORT_DEVICE && (wish == TRANSPORT_URING || !conditions->late);
}

const char *transport_name(bool uring)
{
	return uring ? "io_uring" : "device";
}
