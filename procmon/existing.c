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
#include "base/mountinfo.h"
#include "base/vector.h"
#include "db/event.h"
#include "db/ring.h"
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

/* A thread of the kernel: it has no program. */
static bool is_of_kernel(const struct procfs_stat *stat)
{
	const pid_t kthreadd = 2;

	return !stat->image && !stat->hidden && (stat->pid == kthreadd || stat->ppid == kthreadd);
}

static int list(struct search *search)
{
	int fd = openat(search->proc, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), r = 0;
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	struct procfs_stat stat;
	struct dirent *entry;

	while (dir && r == 0 && (entry = readdir(dir))) {
		pid_t pid = isdigit(entry->d_name[0]) ? atoi(entry->d_name) : 0;

		if (pid > 0 && pid != getpid() && procfs_read_stat(search->proc, pid, &stat) == 0 && !is_of_kernel(&stat))
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

static bool is_named(const struct monitor_attach *wanted, pid_t pid)
{
	for (size_t i = 0; i < wanted->n_pids; i++)
		if (wanted->pids[i] == pid)
			return true;
	return false;
}

/* A parent stands before its children, or it was given a number again. */
static bool has_wanted_parent(const struct search *search, size_t child)
{
	for (size_t i = 0; i < child; i++)
		if (search->all[i].pid == search->all[child].ppid)
			return search->all[i].wanted;
	return false;
}

static int choose(struct search *search)
{
	const struct monitor_attach *wanted = search->wanted;
	size_t named = 0;

	for (size_t i = 0; i < search->n; i++) {
		struct found *one = &search->all[i];
		bool is = wanted->n_pids && is_named(wanted, one->pid);

		named += is;
		one->wanted = wanted->all || is || (wanted->n_pids && has_wanted_parent(search, i)) ||
			(search->cgroup[0] && is_in_group(search, one->pid));
	}
	return named < wanted->n_pids ? -ESRCH : 0;
}

/* ---- events ---- */

static void push(struct ring *ring, int proc, pid_t pid, const char *const *env)
{
	struct proc_snapshot snapshot = { 0 };
	const struct procfs_buffer *text = &snapshot.text.text;
	struct event ev = { .kind = EVENT_PROCESS };

	if (proc_snapshot_take(&snapshot, proc, pid) < 0)
		return;
	proc_snapshot_read_text(&snapshot, proc, env);
	ev.time_ns = snapshot.time_ns;
	ev.u.process = (struct event_process){ .pid = pid, .tid = pid, .ppid = snapshot.stat.ppid, .tier = TIER_KERNEL,
		.start_ns = procfs_ticks_ns(snapshot.stat.start_ticks) - clock_suspended_ns(),
		.known = snapshot.text_known && snapshot.owner_known, .uid = snapshot.uid, .gid = snapshot.gid };
	ring_push(ring, &ev, text->bytes, snapshot.text_known ? text->len : 0);
	proc_snapshot_finish(&snapshot);
}

static int push_wanted(const struct search *search, struct ring *ring, const char *const *env, pid_t **ret_pids, size_t *ret_n)
{
	pid_t *pids = calloc(search->n + 1, sizeof(*pids));
	size_t n = 0;

	if (!pids)
		return -ENOMEM;
	for (size_t i = 0; i < search->n; i++)
		if (search->all[i].wanted) {
			push(ring, search->proc, search->all[i].pid, env);
			pids[n++] = search->all[i].pid;
		}
	*ret_pids = pids;
	*ret_n = n;
	return 0;
}

int existing_push(struct ring *ring, const char *const *env, const struct monitor_attach *wanted, pid_t **ret_pids,
	size_t *ret_n)
{
	struct search search = { .wanted = wanted };
	cleanup_fd int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int r = proc < 0 ? -errno : 0;

	search.proc = proc;
	if (wanted->cgroup)
		mountinfo_each(take_group_mount, &search);
	if (r == 0)
		r = list(&search);
	if (r == 0)
		r = choose(&search);
	if (r == 0)
		r = push_wanted(&search, ring, env, ret_pids, ret_n);
	free(search.all);
	return r;
}
