/* SPDX-License-Identifier: MIT */
#include "ftrac/rights.h"

#include <stdbool.h>
#include <string.h>

#include "base/rights.h"
#include "ftrac/options.h"

enum need {
	/* requests are carried out with the requester's credentials, and new files belong to the
	 * requester */
	ALWAYS,
	RECORDING,    /* requesters are read from /proc */
	LISTENING,    /* the kernel reports processes */
	COMMAND,      /* a command runs, possibly as another user */
	/* /proc and /sys are in the mount; files there check the process that opens them */
	KERNEL_FILES,
};

static const struct {
	uint64_t right;
	enum need need;
} rights[] = {
	{ RIGHT(CAP_CHOWN), ALWAYS },
	/* the kernel has checked access; the trace may lie anywhere */
	{ RIGHT(CAP_DAC_OVERRIDE), ALWAYS },
	{ RIGHT(CAP_DAC_READ_SEARCH), ALWAYS }, /* files by handle */
	{ RIGHT(CAP_FOWNER), ALWAYS },
	{ RIGHT(CAP_FSETID), ALWAYS },
	{ RIGHT(CAP_LINUX_IMMUTABLE), ALWAYS }, /* chattr */
	{ RIGHT(CAP_MAC_ADMIN), ALWAYS },	/* security labels, which are extended attributes */
	{ RIGHT(CAP_MAC_OVERRIDE), ALWAYS },
	{ RIGHT(CAP_MKNOD), ALWAYS },
	{ RIGHT(CAP_SETFCAP), ALWAYS },
	{ RIGHT(CAP_SETGID), ALWAYS }, /* fsgid, groups */
	{ RIGHT(CAP_SETUID), ALWAYS }, /* fsuid */
	{ RIGHT(CAP_SYS_ADMIN), ALWAYS }, /* mounting, passthrough, trusted.* */
	{ RIGHT(CAP_SYS_NICE), RECORDING },
	{ RIGHT(CAP_SYS_PTRACE), RECORDING }, /* to read /proc of requesters */
	{ RIGHT(CAP_NET_ADMIN), LISTENING },
	{ RIGHT(CAP_KILL), COMMAND },
	{ RIGHT(CAP_BLOCK_SUSPEND), KERNEL_FILES },
	{ RIGHT(CAP_NET_ADMIN), KERNEL_FILES },
	{ RIGHT(CAP_SYSLOG), KERNEL_FILES },
	{ RIGHT(CAP_SYS_MODULE), KERNEL_FILES },
	{ RIGHT(CAP_SYS_NICE), KERNEL_FILES },
	{ RIGHT(CAP_SYS_PTRACE), KERNEL_FILES },
	{ RIGHT(CAP_SYS_RAWIO), KERNEL_FILES },
};

/* ftrac run never covers /proc and /sys. */
static bool shows_kernel_files(const struct options *o)
{
	static const char *const names[] = { "proc", "sys" };
	bool shows = strcmp(o->source, "/") == 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t len = strlen(names[i]);

		shows |= strncmp(o->source + 1, names[i], len) == 0 && strchr("/", o->source[1 + len]);
	}
	return shows && !o->command;
}

static bool is_so(const struct options *o, enum need need)
{
	switch (need) {
	case ALWAYS: return true;
	case RECORDING: return !o->no_record;
	case LISTENING: return !o->no_record && o->processes != MONITOR_INBAND;
	case COMMAND: return o->command;
	default: return shows_kernel_files(o);
	}
}

uint64_t rights_needed(const struct options *options)
{
	uint64_t needed = 0;

	for (size_t i = 0; i < sizeof(rights) / sizeof(rights[0]); i++)
		if (is_so(options, rights[i].need))
			needed |= rights[i].right;
	return needed;
}
