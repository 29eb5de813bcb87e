/* SPDX-License-Identifier: MIT */
#include "base/rights.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Without CAP_SETPCAP the bounding set stays as it is. */
static void bound(uint64_t keep)
{
	for (unsigned i = 0; i < 64 && prctl(PR_CAPBSET_READ, i, 0, 0, 0) >= 0; i++)
		if (!(keep & RIGHT(i)))
			prctl(PR_CAPBSET_DROP, i, 0, 0, 0);
}

int rights_keep(uint64_t keep, bool alone)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct caps[2];

	if (alone && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -errno;
	if (keep == RIGHTS_ALL)
		return 0;
	if (alone)
		bound(keep);
	if (syscall(SYS_capget, &head, caps) < 0)
		return -errno;
	for (int i = 0; i < 2; i++) {
		uint32_t half = (uint32_t)(keep >> (32 * i));

		caps[i].effective &= half;
		caps[i].permitted &= half;
		caps[i].inheritable = 0;
	}
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	return syscall(SYS_capset, &head, caps) < 0 ? -errno : 0;
}

void rights_use_all(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct caps[2];

	if (syscall(SYS_capget, &head, caps) < 0)
		return;
	caps[0].effective = caps[0].permitted;
	caps[1].effective = caps[1].permitted;
	syscall(SYS_capset, &head, caps);
}

bool rights_is_us(uid_t user)
{
	const char *behind = geteuid() == 0 ? secure_getenv("SUDO_UID") : NULL;
	char *end = NULL;
	unsigned long uid = behind ? strtoul(behind, &end, 10) : 0;

	return user == geteuid() || (behind && end != behind && *end == '\0' && uid == user);
}

bool rights_trusts(uid_t user)
{
	return user == 0 || rights_is_us(user);
}
