/* SPDX-License-Identifier: MIT */
#include "procmon/family.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "procmon/monitor.h"

#define DEEPEST 4096 /* generations: the tree changes while it is read */

int family_begin(void)
{
	return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0 ? -errno : 0;
}

/* "/proc/PID/stat", without functions that a signal handler must not call. */
static void name_stat(char path[40], pid_t pid)
{
	char digits[12];
	size_t n = 0;

	do
		digits[n++] = (char)('0' + pid % 10);
	while (pid /= 10);
	memcpy(path, "/proc/", 6);
	path += 6;
	while (n)
		*path++ = digits[--n];
	memcpy(path, "/stat", 6);
}

/* "PID (NAME) STATE PARENT ...", where NAME may have any characters.  0: not known. */
static pid_t parent_in(char *stat, ssize_t len)
{
	pid_t parent = 0;

	while (len > 0 && stat[len - 1] != ')')
		len--;
	if (len == 0 || memchr(stat, '\0', len + 3))
		return 0;
	for (stat += len + 3; *stat >= '0' && *stat <= '9'; stat++)
		parent = parent * 10 + (*stat - '0');
	return parent;
}

static pid_t parent_of(pid_t pid)
{
	char path[40], stat[512];
	ssize_t n;
	int fd;

	name_stat(path, pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, stat, sizeof(stat) - 1);
	close(fd);
	if (n <= 0)
		return 0;
	stat[n] = '\0';
	return parent_in(stat, n);
}

bool family_has(pid_t pid)
{
	pid_t us = getpid();

	for (int i = 0; i < DEEPEST && pid > 1; i++) {
		pid = parent_of(pid);
		if (pid == us)
			return true;
	}
	return false;
}

bool monitor_has_descendant(pid_t pid)
{
	return family_has(pid);
}

bool family_is_alive(void)
{
	pid_t pid;

	while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
		;
	return pid == 0;
}

void family_kill(int signal)
{
	DIR *proc = opendir("/proc");
	const struct dirent *entry;

	while (proc && (entry = readdir(proc))) {
		pid_t pid = isdigit((unsigned char)entry->d_name[0]) ? atoi(entry->d_name) : 0;

		if (pid > 1 && family_has(pid))
			kill(pid, signal);
	}
	if (proc)
		closedir(proc);
}
