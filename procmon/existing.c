/* SPDX-License-Identifier: MIT */
#include "procmon/existing.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/failure.h"
#include "base/mountinfo.h"
#include "base/vector.h"
#include "db/event.h"
#include "db/ring.h"
#include "kernel/kernel.h"
#include "procmon/monitor.h"
#include "procmon/proc_snapshot.h"

struct found {
	pid_t pid, ppid;
	int64_t start_ticks;
	bool wanted;
};

struct search {
	int proc;
	const struct monitor_attach *wanted;
	char cgroup[4096]; /* as /proc/PID/cgroup has it; "": none is wanted */
	struct found *all;
	size_t n;
};

/* ---- groups ---- */

static bool take_group_mount(void *arg, const struct mountinfo *mount)
{
	struct search *search = arg;
	size_t n = strlen(mount->path);
	const char *dir = search->wanted->cgroup;

	if (strcmp(mount->fstype, "cgroup2") != 0 || strncmp(dir, mount->path, n) != 0 || (dir[n] && dir[n] != '/'))
		return true;
	snprintf(search->cgroup, sizeof(search->cgroup), "%s", dir[n] ? dir + n : "/");
	return false;
}

static bool is_in_group(const struct search *search, pid_t pid)
{
	char path[64], line[4200];
	size_t n = strlen(search->cgroup);
	cleanup_file FILE *f = NULL;

	snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		if (strncmp(line, "0::", 3) == 0)
			return strcmp(search->cgroup, "/") == 0 ||
				(strncmp(line + 3, search->cgroup, n) == 0 && (!line[3 + n] || line[3 + n] == '/'));
	}
	return false;
}

/* ---- which processes there are ---- */

static int compare(const void *x, const void *y)
{
	const struct found *a = x, *b = y;

	if (a->start_ticks != b->start_ticks)
		return a->start_ticks < b->start_ticks ? -1 : 1;
	return (a->pid > b->pid) - (a->pid < b->pid);
}

static int list(struct search *search)
{
	int fd = openat(search->proc, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), r = 0;
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	struct procfs_stat stat;
	struct dirent *entry;

	while (dir && r == 0 && (entry = readdir(dir))) {
		pid_t pid = isdigit(entry->d_name[0]) ? atoi(entry->d_name) : 0;

		if (pid > 0 && pid != getpid() && procfs_read_stat(search->proc, pid, &stat) == 0 && !stat.of_kernel)
			r = vector_push(search->all, search->n,
				((struct found){ .pid = pid, .ppid = stat.ppid, .start_ticks = stat.start_ticks }));
	}
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
	if (search->n)
		qsort(search->all, search->n, sizeof(*search->all), compare);
	return r;
}

static bool is_there(const struct search *search, pid_t pid)
{
	for (size_t i = 0; i < search->n; i++)
		if (search->all[i].pid == pid)
			return true;
	return false;
}

static bool is_named(const struct monitor_attach *wanted, pid_t pid)
{
	for (size_t i = 0; i < wanted->n_pids; i++)
		if (wanted->pids[i] == pid)
			return true;
	return false;
}

static bool has_wanted_parent(const struct search *search, const struct found *child)
{
	for (size_t i = 0; i < search->n; i++)
		if (search->all[i].pid == child->ppid)
			return search->all[i].wanted;
	return false;
}

/* In a clock tick, the order of the list need not be that of the forks: numbers begin anew. */
static void mark_descendants(struct search *search)
{
	bool any = true;

	while (any) {
		any = false;
		for (size_t i = 0; i < search->n; i++)
			if (!search->all[i].wanted && has_wanted_parent(search, &search->all[i]))
				any = search->all[i].wanted = true;
	}
}

static void mark_wanted(struct search *search)
{
	const struct monitor_attach *wanted = search->wanted;

	for (size_t i = 0; i < search->n; i++) {
		struct found *one = &search->all[i];

		one->wanted = wanted->all || is_named(wanted, one->pid) || (search->cgroup[0] && is_in_group(search, one->pid));
	}
	if (wanted->n_pids)
		mark_descendants(search);
}

/* Before the list is made: so what they start meanwhile is chosen, if not found. */
static int choose_named(const struct monitor_attach *wanted, struct kernel *kernel)
{
	int r = 0;

	for (size_t i = 0; i < wanted->n_pids && r == 0; i++)
		r = kernel_choose(kernel, wanted->pids[i]);
	return r;
}

static int check_named(const struct search *search, pid_t *ret_missing)
{
	for (size_t i = 0; i < search->wanted->n_pids; i++)
		if (!is_there(search, search->wanted->pids[i])) {
			*ret_missing = search->wanted->pids[i];
			return -ESRCH;
		}
	return 0;
}

/* ---- events ---- */

/* False: the number is no longer that process's. */
static bool push(struct ring *ring, int proc, const struct found *found, const char *const *env)
{
	struct proc_snapshot snapshot = { 0 };
	const struct procfs_buffer *text = &snapshot.text.text;
	struct event ev = { .kind = EVENT_PROCESS };
	bool is_same;

	if (proc_snapshot_take(&snapshot, proc, found->pid) < 0)
		return false;
	is_same = snapshot.stat.start_ticks == found->start_ticks;
	if (is_same) {
		proc_snapshot_read_text(&snapshot, proc, env);
		ev.time_ns = snapshot.time_ns;
		ev.u.process = (struct event_process){ .pid = found->pid, .tid = found->pid, .ppid = snapshot.stat.ppid,
			.tier = TIER_KERNEL, .start_ns = procfs_ticks_ns(snapshot.stat.start_ticks) - clock_suspended_ns(),
			.known = snapshot.text_known && snapshot.owner_known, .uid = snapshot.uid, .gid = snapshot.gid };
		ring_push(ring, &ev, text->bytes, snapshot.text_known ? text->len : 0);
	}
	proc_snapshot_finish(&snapshot);
	return is_same;
}

/* It is chosen before it is looked at again: if it ends after that look, the kernel takes it back. */
static int push_wanted(const struct search *search, struct ring *ring, const char *const *env, struct kernel *kernel)
{
	bool by_number = search->wanted->n_pids;
	int r = 0;

	for (size_t i = 0; i < search->n && r == 0; i++) {
		const struct found *found = &search->all[i];

		if (!found->wanted)
			continue;
		if (by_number)
			r = kernel_choose(kernel, found->pid);
		if (r == 0 && !push(ring, search->proc, found, env) && by_number)
			kernel_reject(kernel, found->pid);
	}
	return r;
}

int existing_push(struct ring *ring, const char *const *env, const struct monitor_attach *wanted, struct kernel *kernel,
	pid_t *ret_missing)
{
	struct search search = { .wanted = wanted };
	cleanup_fd int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int r = proc < 0 ? -errno : choose_named(wanted, kernel);

	search.proc = proc;
	if (wanted->cgroup)
		mountinfo_each(take_group_mount, &search);
	if (r == 0)
		r = list(&search);
	if (r == 0)
		r = check_named(&search, ret_missing);
	mark_wanted(&search);
	if (r == 0)
		r = push_wanted(&search, ring, env, kernel);
	free(search.all);
	return r;
}

int monitor_check_process(pid_t pid, struct failure *failure)
{
	cleanup_fd int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct procfs_status status = { 0 };

	if (proc < 0 || procfs_read_status(proc, pid, &status) < 0)
		return failure_set(failure, -ESRCH, "cannot record process %d: there is no such process", (int)pid);
	if (status.tgid != pid)
		return failure_set(failure, -ESRCH, "cannot record %d: it is a thread of process %d, which can be recorded", (int)pid,
			(int)status.tgid);
	return 0;
}
