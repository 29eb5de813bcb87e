/* SPDX-License-Identifier: MIT */
#include "ftrac/umount_child.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "db/query.h"
#include "ftrac/fs.h"

#define ANSWER_TIMEOUT_MS 5000 /* for a reply of the daemon */

/* The first message of the child; the second one is a bool: the trace is complete. */
struct answer {
	enum daemon_state state;
	char trace[PATH_MAX];
};

/* ---- in the child ---- */

/* Of root, which would otherwise have all rights where a daemon of any user leads. */
static bool become(int64_t user, int64_t group)
{
	if (geteuid() != 0 || user == 0)
		return true;
	return setgroups(0, NULL) == 0 && setresgid(group, group, group) == 0 && setresuid(user, user, user) == 0;
}

/* Sends a request to the daemon: the kernel may have the root's attributes cached. */
static bool is_without_daemon(const char *path)
{
	struct statx sx;

	return statx(AT_FDCWD, path, AT_STATX_FORCE_SYNC, STATX_MODE, &sx) < 0 && errno == ENOTCONN;
}

/* The trace, open; -1: the mount records nothing, or the trace is of no use here. */
static int open_trace(const char *mountpoint, char trace[PATH_MAX])
{
	ssize_t n = getxattr(mountpoint, FS_TRACE_XATTR, trace, PATH_MAX - 1);
	struct stat st;
	int fd;

	trace[n > 0 ? n : 0] = '\0';
	fd = n > 0 ? open(trace, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW) : -1;
	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && trace_file_is(fd))
		return fd;
	if (fd >= 0)
		close(fd);
	trace[0] = '\0';
	return -1;
}

static bool is_complete(const char *trace)
{
	struct query_db *db = NULL;
	bool complete = query_open(&trace, 1, QUERY_FOREIGN, &db) == 0 && query_fact(db, "complete", 0);

	query_close(db);
	return complete;
}

/* The writer holds a lock on the trace until its end. */
static void watch(const char *mountpoint, int parent)
{
	struct answer answer = { .state = is_without_daemon(mountpoint) ? DAEMON_GONE : DAEMON_ALIVE };
	int trace = open_trace(mountpoint, answer.trace);
	char go;
	bool complete;

	if (send(parent, &answer, sizeof(answer), MSG_NOSIGNAL) < 0 || trace < 0 || recv(parent, &go, 1, 0) != 1)
		return;
	while (flock(trace, LOCK_SH) < 0 && errno == EINTR)
		;
	complete = is_complete(answer.trace);
	send(parent, &complete, sizeof(complete), MSG_NOSIGNAL);
}

/* ---- in the parent ---- */

void umount_child_start(const char *mountpoint, int64_t user, int64_t group, struct umount_child *ret_child)
{
	int fds[2];

	*ret_child = (struct umount_child){ .pid = -1, .fd = -1 };
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
		return;
	ret_child->pid = fork();
	if (ret_child->pid == 0) {
		close(fds[0]);
		if (become(user, group) && prctl(PR_SET_PDEATHSIG, SIGKILL) == 0)
			watch(mountpoint, fds[1]);
		_exit(0);
	}
	close(fds[1]);
	ret_child->fd = fds[0];
}

static bool has_message(const struct umount_child *child, int timeout_ms)
{
	struct pollfd message = { .fd = child->fd, .events = POLLIN };

	return poll(&message, 1, timeout_ms) == 1;
}

enum daemon_state umount_child_ask(struct umount_child *child)
{
	struct answer answer;

	child->answered = has_message(child, ANSWER_TIMEOUT_MS) &&
			  recv(child->fd, &answer, sizeof(answer), 0) == sizeof(answer);
	if (!child->answered)
		return DAEMON_SILENT;
	answer.trace[PATH_MAX - 1] = '\0';
	memcpy(child->trace, answer.trace, PATH_MAX);
	return answer.state;
}

bool umount_child_await(struct umount_child *child, int timeout_ms)
{
	bool complete;

	if (!child->was_sent_on)
		send(child->fd, "", 1, MSG_NOSIGNAL);
	child->was_sent_on = true;
	if (!has_message(child, timeout_ms))
		return false;
	child->is_complete = recv(child->fd, &complete, sizeof(complete), 0) == sizeof(complete) && complete;
	return true;
}

/* A child without an answer may be unable to end. */
void umount_child_stop(struct umount_child *child)
{
	if (child->fd >= 0)
		close(child->fd);
	if (child->pid <= 0)
		return;
	kill(child->pid, SIGKILL);
	waitpid(child->pid, NULL, child->answered ? 0 : WNOHANG);
}
