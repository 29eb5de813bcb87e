/* SPDX-License-Identifier: MIT */

/* What a process shows of itself in /proc: each file is what stands between two lines "%%". */

#include <fcntl.h>
#include <sys/stat.h>

#include "db/figures.h"
#include "procmon/environ.h"
#include "procmon/procfs.h"
#include "procmon/usage.h"
#include "tests/fuzz/fuzz.h"

#define PID 7

static const char *const names[] = { "7/stat", "7/status", "7/io", "7/cmdline", "7/environ",
	"7/cgroup", "7/task/7/status", "7/task/7/schedstat", "7/statm" };
enum { NAMES = sizeof(names) / sizeof(names[0]) };

static int proc;

int LLVMFuzzerInitialize(FUZZ_UNUSED int *argc, FUZZ_UNUSED char ***argv)
{
	static const char *const directories[] = { "7", "7/task", "7/task/7" };

	fuzz_make_directory();
	for (size_t i = 0; i < sizeof(directories) / sizeof(directories[0]); i++)
		FUZZ_ASSERT(mkdir(fuzz_path(directories[i]), 0700) == 0);
	proc = open(fuzz_directory, O_PATH | O_DIRECTORY);
	return 0;
}

static void parse(const char *text, size_t len)
{
	struct procfs_stat stat;
	struct procfs_status status;
	struct procfs_credentials credentials;
	gid_t groups[4];
	size_t n;

	procfs_parse_stat(text, len, &stat);
	procfs_parse_status(text, len, &status);
	procfs_parse_credentials(text, len, groups, 4, &credentials);
	procfs_parse_cgroup(text, len, &n);
	FUZZ_ASSERT(n <= len);
}

static void filter(const char *text, size_t len)
{
	static const char *const more[] = { "HOME", "*[A", NULL };
	char *copy = malloc(len + 1);

	memcpy(copy, text, len);
	FUZZ_ASSERT(environ_filter(copy, len, more) <= len);
	free(copy);
}

static void look_at_it(void)
{
	struct procfs_text text = { 0 };
	struct procfs_stat stat;
	struct figures figures;

	if (procfs_read_stat(proc, PID, &stat) == 0) {
		stat.pid = PID;
		procfs_read_text(proc, &stat, NULL, &text);
	}
	procfs_text_finish(&text);
	usage_of_process(proc, PID, &figures);
	usage_of_memory(proc, PID, PID, &figures);
	usage_io_of_thread(proc, PID, PID, &figures);
	usage_io_of_all(proc, PID, &figures);
	usage_of_thread(proc, PID, PID, &figures);
	usage_rss_bytes(proc, PID);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *at = (const char *)data, *end = at + size;

	for (int i = 0; i < NAMES && at < end; i++) {
		const char *mark = memmem(at, end - at, "\n%%\n", 4);
		const char *stop = mark ? mark + 1 : end;

		parse(at, stop - at);
		filter(at, stop - at);
		fuzz_write(names[i], at, stop - at);
		at = mark ? mark + 4 : end;
	}
	look_at_it();
	return 0;
}
