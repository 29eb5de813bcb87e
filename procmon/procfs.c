/* SPDX-License-Identifier: MIT */
#include "procmon/procfs.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/vector.h"
#include "db/event.h"
#include "procmon/environ.h"

/* Longer arguments are truncated: they pass through the ring, 100 bytes per slot. */
#define ARGV_MAX (256 << 10)
#define ENVIRON_MAX (4 << 20)
#define CGROUP_MAX (16 << 10)
#define STATUS_MAX (1 << 20) /* includes all supplementary groups; Linux allows 65536 */

/* ---- parsers ---- */

/* Fields behind the name, numbered as in proc(5). */
enum {
	STAT_STATE = 3,
	STAT_PPID = 4,
	STAT_SESSION = 6,
	STAT_FLAGS = 9,
	STAT_THREADS = 20,
	STAT_START = 22,
	STAT_START_CODE = 26,
	STAT_START_STACK = 28,
	STAT_START_DATA = 45,
	STAT_START_BRK = 47,
	STAT_MAX
};

/* The value that the kernel shows to readers without the right. */
#define START_CODE_HIDDEN 1

/* The flag of kernel threads, which have no program. */
#define FLAG_KTHREAD 0x00200000

/* The numbers from STAT_PPID on. Newer kernels have more fields. */
static int parse_numbers(const char *text, uint64_t fields[STAT_MAX])
{
	int i = STAT_PPID;
	char *end;

	for (; i < STAT_MAX; i++, text = end) {
		errno = 0;
		fields[i] = strtoull(text, &end, 10);
		if (end == text || errno)
			break;
	}
	return i;
}

/* FNV-1a, a word at a time; never 0. */
static uint64_t digest(uint64_t hash, const uint64_t *words, int n)
{
	for (int i = 0; i < n; i++)
		hash = (hash ^ words[i]) * 1099511628211u;
	return hash ? hash : 1;
}

/*
 * The start addresses of code, data, heap and stack. An exec changes them (unless address
 * randomisation is off and the same program gets arguments of the same length); a fork does not.
 * The address of the arguments is left out, because a process may move them to change its title.
 */
static uint64_t image_digest(const uint64_t fields[STAT_MAX])
{
	uint64_t hash = 14695981039346656037u;

	hash = digest(hash, &fields[STAT_START_CODE], STAT_START_STACK - STAT_START_CODE + 1);
	return digest(hash, &fields[STAT_START_DATA], STAT_START_BRK - STAT_START_DATA + 1);
}

int procfs_parse_stat(const char *text, size_t len, struct procfs_stat *ret_stat)
{
	char copy[1024];
	uint64_t fields[STAT_MAX] = { 0 };
	struct procfs_stat stat = { 0 };
	char *open, *close;

	if (len >= sizeof(copy))
		return -EBADMSG;
	memcpy(copy, text, len);
	copy[len] = '\0';
	open = strchr(copy, '(');
	close = strrchr(copy, ')'); /* the name itself may contain any of " ()" */
	if (!open || !close || close < open || close[1] != ' ' || !isalpha(close[2]))
		return -EBADMSG;
	*close = '\0';
	if (parse_numbers(close + 3, fields) <= STAT_START_STACK)
		return -EBADMSG;
	stat.pid = atoi(copy);
	stat.state = close[2];
	snprintf(stat.comm, sizeof(stat.comm), "%.*s", (int)sizeof(stat.comm) - 1, open + 1);
	stat.ppid = fields[STAT_PPID];
	stat.session = fields[STAT_SESSION];
	stat.threads = fields[STAT_THREADS];
	stat.start_ticks = fields[STAT_START];
	stat.image = fields[STAT_START_STACK] ? image_digest(fields) : 0;
	stat.of_kernel = fields[STAT_FLAGS] & FLAG_KTHREAD;
	stat.hidden = !stat.image && (fields[STAT_START_CODE] == START_CODE_HIDDEN || stat.of_kernel);
	*ret_stat = stat;
	return 0;
}

/* The skip-th number of the line that begins with name. */
static bool status_number(const char *text, const char *name, int skip, uint32_t *ret_number)
{
	const char *line = strstr(text, name);
	char *end;

	if (!line)
		return false;
	line += strlen(name);
	for (; skip >= 0; skip--, line = end) {
		*ret_number = strtoul(line, &end, 10);
		if (end == line)
			return false;
	}
	return true;
}

int procfs_parse_status(const char *text, size_t len, struct procfs_status *ret_status)
{
	char copy[4096];
	uint32_t tgid, ppid, uid, gid, tracer = 0;

	/* The fields needed are in the first lines; the length of the rest has no bound. */
	if (len >= sizeof(copy))
		len = sizeof(copy) - 1;
	memcpy(copy, text, len);
	copy[len] = '\0';
	/* The kernel escapes newlines in the name, so that a name cannot look like a line. */
	if (!status_number(copy, "\nTgid:", 0, &tgid) || !status_number(copy, "\nPPid:", 0, &ppid)
		|| !status_number(copy, "\nUid:", 1, &uid)
		|| !status_number(copy, "\nGid:", 1, &gid))
		return -EBADMSG;
	status_number(copy, "\nTracerPid:", 0, &tracer);
	*ret_status = (struct procfs_status){ .tgid = tgid, .ppid = ppid, .tracer = tracer, .uid = uid,
		.gid = gid };
	return 0;
}

int procfs_parse_syscall(const char *text, size_t len, struct procfs_syscall *ret_syscall)
{
	char copy[256], *end;
	size_t n = len < sizeof(copy) ? len : sizeof(copy) - 1;

	memcpy(copy, text, n);
	copy[n] = '\0';
	ret_syscall->number = strtol(copy, &end, 10);
	if (end == copy || ret_syscall->number < 0)
		return -EAGAIN;
	for (int i = 0; i < 6; i++) {
		const char *at = end;

		ret_syscall->arguments[i] = strtoull(at, &end, 16);
		if (end == at)
			return -EBADMSG;
	}
	return 0;
}

/* Parses a line of ids and stores the first room of them. Returns how many there are. */
static size_t parse_groups(const char *line, gid_t *ret_groups, size_t room)
{
	size_t n = 0;
	char *end;

	for (; *line == ' ' || *line == '\t'; line = end) {
		unsigned long gid;

		while (*line == ' ' || *line == '\t')
			line++;
		gid = strtoul(line, &end, 10);
		if (end == line)
			break;
		if (n < room)
			ret_groups[n] = gid;
		n++;
	}
	return n;
}

int procfs_parse_credentials(const char *text, size_t len, gid_t *ret_groups, size_t room,
	struct procfs_credentials *ret_credentials)
{
	cleanup_free char *copy = strndup(text, len);
	const char *groups, *caps;
	uint32_t uid, gid;

	if (!copy)
		return -ENOMEM;
	groups = strstr(copy, "\nGroups:");
	caps = strstr(copy, "\nCapEff:");
	/* Real, effective, saved, file system. */
	if (!status_number(copy, "\nUid:", 3, &uid) || !status_number(copy, "\nGid:", 3, &gid) ||
		!groups || !caps)
		return -EBADMSG;
	*ret_credentials = (struct procfs_credentials){ .fsuid = uid, .fsgid = gid,
		.effective = strtoull(caps + strlen("\nCapEff:"), NULL, 16),
		.n_groups = parse_groups(groups + strlen("\nGroups:"), ret_groups, room) };
	return 0;
}

/* The path in a line "ID:CONTROLLERS:PATH"; NULL if line has another format. */
static const char *cgroup_path(const char *line, const char *end)
{
	for (int colons = 0; line && colons < 2; colons++) {
		line = memchr(line, ':', end - line);
		if (line)
			line++;
	}
	return line;
}

const char *procfs_parse_cgroup(const char *text, size_t len, size_t *ret_len)
{
	const char *end = text + len, *best = NULL;

	*ret_len = 0;
	for (const char *line = text, *next; line < end; line = next + 1) {
		const char *path;

		next = memchr(line, '\n', end - line);
		if (!next)
			next = end;
		path = cgroup_path(line, next);
		if (path && (size_t)(next - path) > *ret_len) {
			best = path;
			*ret_len = next - path;
		}
	}
	return best;
}

int64_t procfs_ticks_ns(int64_t ticks)
{
	static _Atomic int64_t tick_ns; /* every thread would store the same value */

	if (!tick_ns)
		tick_ns = 1000000000 / sysconf(_SC_CLK_TCK);
	return ticks * tick_ns;
}

/* ---- readers ---- */

static int buffer_reserve(struct procfs_buffer *buffer, size_t more)
{
	return vector_fit(buffer->bytes, buffer->size, buffer->len + more);
}

static int gone(int error)
{
	return error == ENOENT ? -ESRCH : -error;
}

static int open_file(int proc, pid_t pid, const char *name)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "%d/%s", pid, name);
	fd = openat(proc, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY);
	return fd < 0 ? gone(errno) : fd;
}

/*
 * Appends a file, at most max bytes. Returns how many. by_line: a read may return less than
 * requested before the end of the file.
 */
static ssize_t append_file(int proc, pid_t pid, const char *name, bool by_line, size_t max,
	struct procfs_buffer *buffer)
{
	cleanup_fd int fd = open_file(proc, pid, name);
	size_t start = buffer->len;

	if (fd < 0)
		return fd;
	while (buffer->len - start < max) {
		size_t left = max - (buffer->len - start), room;
		ssize_t n;
		int r = buffer_reserve(buffer, left < 4096 ? left : 4096);

		if (r < 0)
			return r;
		room = buffer->size - buffer->len < left ? buffer->size - buffer->len : left;
		n = read(fd, buffer->bytes + buffer->len, room);
		if (n < 0 && buffer->len == start)
			return gone(errno);
		buffer->len += n > 0 ? n : 0;
		if (n < (by_line ? 1 : (ssize_t)room))
			break;
	}
	return buffer->len - start;
}

/* A file that fits in one read. */
static ssize_t read_file(int proc, pid_t pid, const char *name, char *out, size_t size)
{
	cleanup_fd int fd = open_file(proc, pid, name);
	ssize_t n;

	if (fd < 0)
		return fd;
	n = read(fd, out, size);
	return n < 0 ? gone(errno) : n;
}

int procfs_read_stat(int proc, pid_t pid, struct procfs_stat *ret_stat)
{
	char text[1024];
	ssize_t n = read_file(proc, pid, "stat", text, sizeof(text) - 1);

	return n < 0 ? (int)n : procfs_parse_stat(text, n, ret_stat);
}

int procfs_read_status(int proc, pid_t pid, struct procfs_status *ret_status)
{
	char text[4096];
	ssize_t n = read_file(proc, pid, "status", text, sizeof(text));

	return n < 0 ? (int)n : procfs_parse_status(text, n, ret_status);
}

int procfs_read_syscall(int proc, pid_t tid, struct procfs_syscall *ret_syscall)
{
	char text[256];
	ssize_t n = read_file(proc, tid, "syscall", text, sizeof(text));

	return n < 0 ? (int)n : procfs_parse_syscall(text, n, ret_syscall);
}

bool procfs_all_ended(int proc, pid_t pid)
{
	struct procfs_stat stat;
	struct dirent *entry;
	bool lives = false;
	char path[24];
	DIR *dir;
	int fd;

	snprintf(path, sizeof(path), "%d/task", pid);
	fd = openat(proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		if (fd >= 0)
			close(fd);
		return fd < 0 && gone(errno) == -ESRCH;
	}
	while (!lives && (entry = readdir(dir)))
		lives = entry->d_name[0] != '.' && procfs_read_stat(proc, atoi(entry->d_name), &stat) == 0 &&
			stat.state != 'Z' && stat.state != 'X';
	closedir(dir);
	return !lives;
}

int procfs_read_credentials(int proc, pid_t tid, gid_t *ret_groups, size_t room,
	struct procfs_credentials *ret_credentials)
{
	struct procfs_buffer status = { 0 };
	ssize_t n = append_file(proc, tid, "status", false, STATUS_MAX, &status);
	int r = n < 0 ? (int)n
		      : procfs_parse_credentials(status.bytes, n, ret_groups, room, ret_credentials);

	free(status.bytes);
	return r;
}

/* The effective ids of the process own the directory /proc/PID, whether the process is dumpable or
 * not. */
int procfs_read_owner(int proc, pid_t pid, uid_t *ret_uid, gid_t *ret_gid)
{
	struct stat st;
	char path[16];

	snprintf(path, sizeof(path), "%d", pid);
	if (fstatat(proc, path, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return gone(errno);
	*ret_uid = st.st_uid;
	*ret_gid = st.st_gid;
	return 0;
}

/* ---- the text of a process ---- */

static ssize_t append_link(int proc, pid_t pid, const char *name, struct procfs_buffer *buffer)
{
	char path[64];
	ssize_t n;
	int r = buffer_reserve(buffer, PATH_MAX);

	if (r < 0)
		return r;
	snprintf(path, sizeof(path), "%d/%s", pid, name);
	n = readlinkat(proc, path, buffer->bytes + buffer->len, PATH_MAX);
	if (n < 0)
		return gone(errno);
	buffer->len += n;
	return n;
}

/* Drops " (deleted)": the executable keeps its name in the trace after the file was removed. */
static ssize_t append_exe(int proc, pid_t pid, struct procfs_buffer *buffer)
{
	static const char deleted[] = " (deleted)";
	const ssize_t suffix = sizeof(deleted) - 1;
	ssize_t n = append_link(proc, pid, "exe", buffer);

	if (n > suffix && memcmp(buffer->bytes + buffer->len - suffix, deleted, suffix) == 0) {
		n -= suffix;
		buffer->len -= suffix;
	}
	return n;
}

/* cmdline is empty if the process has no memory any more. */
static ssize_t append_argv(int proc, pid_t pid, struct procfs_buffer *buffer)
{
	ssize_t n = append_file(proc, pid, "cmdline", false, ARGV_MAX, buffer);

	return n == 0 ? -ENODATA : n;
}

static ssize_t append_bytes(const char *bytes, size_t len, struct procfs_buffer *buffer)
{
	int r = buffer_reserve(buffer, len);

	if (r < 0)
		return r;
	memcpy(buffer->bytes + buffer->len, bytes, len);
	buffer->len += len;
	return len;
}

static ssize_t append_environ(int proc, pid_t pid, const char *const *env,
	struct procfs_buffer *buffer)
{
	size_t start = buffer->len, kept;
	ssize_t n = append_file(proc, pid, "environ", false, ENVIRON_MAX, buffer);

	if (n <= 0)
		return n < 0 ? n : -ENODATA;
	kept = environ_filter(buffer->bytes + start, n, env);
	buffer->len = start + kept;
	return kept;
}

static ssize_t append_cgroup(int proc, pid_t pid, struct procfs_buffer *buffer)
{
	size_t start = buffer->len, len;
	ssize_t n = append_file(proc, pid, "cgroup", true, CGROUP_MAX, buffer);
	const char *path;

	if (n < 0)
		return n;
	path = procfs_parse_cgroup(buffer->bytes + start, n, &len);
	if (path)
		memmove(buffer->bytes + start, path, len);
	buffer->len = start + len;
	return path ? (ssize_t)len : -ENODATA;
}

static ssize_t append_part(int proc, const struct procfs_stat *stat, enum process_part part,
	const char *const *env, struct procfs_buffer *buffer)
{
	switch (part) {
	case PROCESS_EXE: return append_exe(proc, stat->pid, buffer);
	case PROCESS_CWD: return append_link(proc, stat->pid, "cwd", buffer);
	case PROCESS_COMM: return append_bytes(stat->comm, strlen(stat->comm), buffer);
	case PROCESS_ARGV: return append_argv(proc, stat->pid, buffer);
	case PROCESS_ENVIRON: return append_environ(proc, stat->pid, env, buffer);
	case PROCESS_STDIN: return append_link(proc, stat->pid, "fd/0", buffer);
	case PROCESS_STDOUT: return append_link(proc, stat->pid, "fd/1", buffer);
	case PROCESS_STDERR: return append_link(proc, stat->pid, "fd/2", buffer);
	case PROCESS_CGROUP: return append_cgroup(proc, stat->pid, buffer);
	default: return -EINVAL;
	}
}

static int put_part(struct procfs_buffer *text, const char *bytes, ssize_t len)
{
	uint32_t head = len < 0 ? PROCESS_PART_UNKNOWN : (uint32_t)len;
	size_t body = len < 0 ? 0 : len;
	int r = buffer_reserve(text, sizeof(head) + body);

	if (r < 0)
		return r;
	memcpy(text->bytes + text->len, &head, sizeof(head));
	if (body)
		memcpy(text->bytes + text->len + sizeof(head), bytes, body);
	text->len += sizeof(head) + body;
	return 0;
}

int procfs_read_text(int proc, const struct procfs_stat *stat, const char *const *env,
	struct procfs_text *text)
{
	/* The most valuable parts first: the process may end at any moment. */
	static const enum process_part order[] = { PROCESS_ARGV, PROCESS_EXE, PROCESS_COMM,
		PROCESS_CWD, PROCESS_ENVIRON, PROCESS_STDIN, PROCESS_STDOUT, PROCESS_STDERR,
		PROCESS_CGROUP };
	struct { size_t at; ssize_t len; } parts[PROCESS_PART_MAX];
	int r = 0;

	_Static_assert(sizeof(order) / sizeof(order[0]) == PROCESS_PART_MAX, "each part once");
	text->parts.len = 0;
	text->text.len = 0;
	for (int i = 0; i < PROCESS_PART_MAX; i++) {
		enum process_part part = order[i];

		parts[part].at = text->parts.len;
		parts[part].len = append_part(proc, stat, part, env, &text->parts);
	}
	for (int i = 0; r == 0 && i < PROCESS_PART_MAX; i++)
		r = parts[i].len == -ENOMEM
			? -ENOMEM
			: put_part(&text->text, text->parts.bytes + parts[i].at, parts[i].len);
	return r;
}

int procfs_put_comm(const char *comm, struct procfs_buffer *text)
{
	int r = 0;

	for (int i = 0; r == 0 && i < PROCESS_PART_MAX; i++)
		r = put_part(text, comm, i == PROCESS_COMM ? (ssize_t)strlen(comm) : -1);
	return r;
}

void procfs_text_finish(struct procfs_text *text)
{
	free(text->text.bytes);
	free(text->parts.bytes);
	memset(text, 0, sizeof(*text));
}
