/* SPDX-License-Identifier: MIT */
#include "procmon/usage.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "db/figures.h"

#define PAGE_MOST (1 << 20) /* upper bound of the page size */

/* A small file of /proc as a text; false if it cannot be read. */
static bool read_text(int proc, char *out, size_t size, const char *format, ...)
{
	cleanup_fd int fd = -1;
	char path[64];
	va_list args;
	ssize_t n;

	va_start(args, format);
	vsnprintf(path, sizeof(path), format, args);
	va_end(args);
	fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, out, size - 1);
	out[n < 0 ? 0 : n] = '\0';
	return n > 0;
}

/* The number in the line "name:\tnumber". */
static bool find_number(const char *text, const char *name, int64_t *ret_number)
{
	const char *at = strstr(text, name);

	return at && sscanf(at + strlen(name), " %" SCNd64, ret_number) == 1;
}

static void set_from(struct figures *figures, enum figure figure, const char *text,
	const char *name, int64_t unit)
{
	int64_t number;

	if (find_number(text, name, &number) && number >= 0 && number <= INT64_MAX / unit)
		figures_set(figures, figure, number * unit);
}

int64_t usage_cpu_ns(pid_t pid)
{
	clockid_t clock;
	struct timespec ts;

	if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &ts) < 0)
		return -1;
	return ts.tv_sec * INT64_C(1000000000) + ts.tv_nsec;
}

/* Of the process of a thread; 0 if the thread has ended. */
static int64_t rss_of_thread(int proc, pid_t pid, pid_t tid)
{
	char text[256];
	int64_t pages;

	if (!read_text(proc, text, sizeof(text), "%d/task/%d/statm", pid, tid) ||
		sscanf(text, "%*d %" SCNd64, &pages) != 1 || pages < 0 || pages > INT64_MAX / PAGE_MOST)
		return -1;
	return pages * sysconf(_SC_PAGESIZE);
}

static DIR *open_threads(int proc, pid_t pid)
{
	char path[24];
	DIR *threads;
	int fd;

	snprintf(path, sizeof(path), "%d/task", pid);
	fd = openat(proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	threads = fd < 0 ? NULL : fdopendir(fd);
	if (!threads && fd >= 0)
		close(fd);
	return threads;
}

/* The first thread has ended, and /proc/PID shows what it has: no memory. */
static int64_t rss_of_others(int proc, pid_t pid)
{
	DIR *threads = open_threads(proc, pid);
	const struct dirent *entry;
	int64_t rss = -1;

	while (threads && rss <= 0 && (entry = readdir(threads)))
		if (entry->d_name[0] != '.')
			rss = rss_of_thread(proc, pid, atoi(entry->d_name));
	if (threads)
		closedir(threads);
	return rss > 0 ? rss : -1;
}

int64_t usage_rss_bytes(int proc, pid_t pid)
{
	int64_t rss = rss_of_thread(proc, pid, pid);

	return rss ? rss : rss_of_others(proc, pid);
}

/* Fields of stat behind the name, which may hold anything but ends with the last ')'. */
static bool parse_stat(const char *text, int64_t *ret_minflt, int64_t *ret_majflt,
	int64_t *ret_utime, int64_t *ret_stime)
{
	const char *rest = strrchr(text, ')');

	return rest && sscanf(rest + 1, " %*c %*d %*d %*d %*d %*d %*u %" SCNd64 " %*u %" SCNd64
			" %*u %" SCNd64 " %" SCNd64, ret_minflt, ret_majflt, ret_utime, ret_stime) == 4;
}

static void set_cpu(struct figures *figures, int64_t cpu_ns, int64_t utime, int64_t stime)
{
	int64_t user_ns = cpu_ns;

	if (cpu_ns < 0)
		return;
	if (utime >= 0 && stime >= 0 && (utime || stime))
		user_ns = (int64_t)((__int128)cpu_ns * utime / ((__int128)utime + stime));
	figures_set(figures, FIGURE_CPU, cpu_ns);
	figures_set(figures, FIGURE_UTIME, user_ns);
	figures_set(figures, FIGURE_STIME, cpu_ns - user_ns);
}

static bool parse_io(struct figures *figures, const char *text)
{
	set_from(figures, FIGURE_READ_CHAR, text, "rchar:", 1);
	set_from(figures, FIGURE_WRITE_CHAR, text, "wchar:", 1);
	set_from(figures, FIGURE_READ_BYTES, text, "\nread_bytes:", 1);
	set_from(figures, FIGURE_WRITE_BYTES, text, "\nwrite_bytes:", 1);
	return figures_has(figures, FIGURE_READ_CHAR);
}

int usage_open_io(int proc, pid_t pid, pid_t tid)
{
	char path[40];
	int fd;

	snprintf(path, sizeof(path), "%d/task/%d/io", pid, tid);
	fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

bool usage_io_of_file(int fd, struct figures *figures)
{
	char text[512];
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

	text[n < 0 ? 0 : n] = '\0';
	return parse_io(figures, text);
}

bool usage_io_of_thread(int proc, pid_t pid, pid_t tid, struct figures *figures)
{
	char text[512];

	read_text(proc, text, sizeof(text), "%d/task/%d/io", pid, tid);
	return parse_io(figures, text);
}

bool usage_io_of_all(int proc, pid_t tid, struct figures *figures)
{
	char text[512];

	read_text(proc, text, sizeof(text), "%d/io", tid);
	return parse_io(figures, text);
}

void usage_of_process(int proc, pid_t pid, struct figures *figures)
{
	int64_t minflt, majflt, utime = 0, stime = 0;
	char text[4096];

	if (read_text(proc, text, sizeof(text), "%d/stat", pid) &&
		parse_stat(text, &minflt, &majflt, &utime, &stime)) {
		figures_set(figures, FIGURE_MINFLT, minflt);
		figures_set(figures, FIGURE_MAJFLT, majflt);
	}
	set_cpu(figures, usage_cpu_ns(pid), utime, stime);
}

static void set_memory(struct figures *figures, const char *status)
{
	set_from(figures, FIGURE_VMPEAK, status, "\nVmPeak:", 1024);
	set_from(figures, FIGURE_RSSPEAK, status, "\nVmHWM:", 1024);
}

void usage_of_memory(int proc, pid_t pid, pid_t tid, struct figures *figures)
{
	char text[4096];

	read_text(proc, text, sizeof(text), "%d/task/%d/status", pid, tid);
	set_memory(figures, text);
}

void usage_of_thread(int proc, pid_t pid, pid_t tid, struct figures *figures)
{
	char text[4096];
	int64_t delay;

	read_text(proc, text, sizeof(text), "%d/task/%d/status", pid, tid);
	set_memory(figures, text);
	set_from(figures, FIGURE_NVCSW, text, "\nvoluntary_ctxt_switches:", 1);
	set_from(figures, FIGURE_NIVCSW, text, "\nnonvoluntary_ctxt_switches:", 1);
	if (read_text(proc, text, sizeof(text), "%d/task/%d/schedstat", pid, tid) &&
		sscanf(text, "%*u %" SCNd64, &delay) == 1)
		figures_set(figures, FIGURE_CPU_DELAY, delay);
}
