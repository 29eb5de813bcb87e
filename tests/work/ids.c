/* SPDX-License-Identifier: MIT */

/* ids: prints in whose name it runs: real and effective user, real and effective group. */

#include <stdio.h>
#include <unistd.h>

int main(void)
{
	printf("%u %u %u %u\n", getuid(), geteuid(), getgid(), getegid());
	return 0;
}
