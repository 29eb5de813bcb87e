/* SPDX-License-Identifier: MIT */
#include "db/about.h"

#include <inttypes.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/version.h"
#include "db/commit.h"

#define BTF "/sys/kernel/btf/vmlinux"
#define CAPABILITIES ((uint64_t)1 << 38 | (uint64_t)1 << 39) /* CAP_PERFMON, CAP_BPF */

/* The first line of FILE that begins with START, without START; "" if there is none. */
static const char *find_line(const char *path, const char *start, char line[64])
{
	cleanup_file FILE *f = fopen(path, "re");
	size_t n = strlen(start);

	while (f && fgets(line, 64, f))
		if (strncmp(line, start, n) == 0) {
			line[strcspn(line, "\n")] = '\0';
			return line + n;
		}
	return "";
}

static bool has_capabilities(void)
{
	char line[64];
	uint64_t effective = 0;

	return sscanf(find_line("/proc/self/status", "CapEff:", line), "%" SCNx64, &effective) == 1 &&
	       (effective & CAPABILITIES) == CAPABILITIES;
}

static void print_kernel(void)
{
	struct utsname un;

	printf("kernel: %s\n", uname(&un) == 0 ? un.release : "-");
	if (!FTRAC_KERNEL) {
		printf("record in the kernel: not built in\n");
		return;
	}
	printf("record in the kernel: built in, %s, %s\n",
		access(BTF, R_OK) == 0 ? "types (BTF) are there" : "types (BTF) are missing: " BTF,
		has_capabilities() ? "allowed" : "needs root, or CAP_BPF and CAP_PERFMON");
}

static void print_fuse(void)
{
	char line[64];
	const char *on = find_line("/sys/module/fuse/parameters/enable_uring", "", line);

	printf("FUSE: %s, io_uring %s\n", access("/dev/fuse", F_OK) == 0 ? "/dev/fuse is there" : "no /dev/fuse",
		*on == '\0' ? "not in this kernel" : *on == 'Y' || *on == '1' ? "enabled" : "not enabled");
}

void about_print(const char *program)
{
	printf("%s " FTRAC_VERSION "\n", program);
	printf("commit: %s\n", *FTRAC_COMMIT ? FTRAC_COMMIT : "-");
	printf("libfuse: " FTRAC_LIBFUSE "\n");
	printf("SQLite: %s, compiled with " SQLITE_VERSION "\n", sqlite3_libversion());
	print_kernel();
	print_fuse();
}
