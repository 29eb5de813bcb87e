/* SPDX-License-Identifier: MIT */

/* show_creds: prints its effective user, group and capabilities. */

#include <linux/capability.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { 0 };

	syscall(SYS_capget, &header, data);
	printf("uid %u gid %u capabilities %x%08x\n", geteuid(), getegid(), data[1].effective,
		data[0].effective);
	return 0;
}
