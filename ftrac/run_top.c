/* SPDX-License-Identifier: MIT */
#include "ftrac/run_top.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/failure.h"
#include "procmon/monitor.h"

#define TURN_MS 100
#define PIECE 65536

static volatile sig_atomic_t recorder; /* the process that records; 0: it has ended */

/* SIGINT and SIGQUIT of the terminal reach it anyway, and so do signals of the command's processes to their process group. */
static void pass_on(int number, siginfo_t *info, void *context)
{
	bool is_sent = info->si_code <= 0; /* by a process */
	int saved = errno;

	(void)context;
	if (recorder && (is_sent ? !monitor_has_descendant(info->si_pid) : number == SIGTERM || number == SIGHUP))
		kill(recorder, number);
	errno = saved;
}

static void catch_signals(void)
{
	static const int numbers[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP };

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		sigaction(numbers[i], &(struct sigaction){ .sa_sigaction = pass_on, .sa_flags = SA_SIGINFO | SA_RESTART }, NULL);
}

/* ---- the file with the output ---- */

/* Several descriptions of it append, whatever programs do with theirs. */
static int open_file(void)
{
	const char *directory = secure_getenv("TMPDIR");
	FILE *file;
	int fd = open(directory && *directory ? directory : "/tmp", O_TMPFILE | O_RDWR | O_APPEND | O_CLOEXEC, 0600);

	if (fd >= 0)
		return fd;
	file = tmpfile(); /* a file system without O_TMPFILE */
	if (!file)
		return -errno;
	fd = fcntl(fileno(file), F_DUPFD_CLOEXEC, 3);
	fclose(file);
	if (fd >= 0)
		fcntl(fd, F_SETFL, O_APPEND);
	return fd < 0 ? -errno : fd;
}

/* In the process that records. */
static int redirect(int fd)
{
	cleanup_fd int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	if (isatty(STDIN_FILENO) && (null < 0 || dup2(null, STDIN_FILENO) < 0))
		return -errno;
	for (int to = STDOUT_FILENO; to <= STDERR_FILENO; to++)
		if (isatty(to) && dup2(fd, to) < 0)
			return -errno;
	return 0;
}

static bool write_all(const char *bytes, ssize_t n)
{
	for (ssize_t done; n > 0; bytes += done, n -= done) {
		done = write(STDOUT_FILENO, bytes, (size_t)n);
		if (done < 0)
			return false;
	}
	return true;
}

/* From *at on; false: the terminal is gone. */
static bool show_more(int fd, off_t *at)
{
	static char piece[PIECE];
	ssize_t n;

	while ((n = pread(fd, piece, sizeof(piece), *at)) > 0) {
		if (!write_all(piece, n))
			return false;
		*at += n;
	}
	return true;
}

/* ---- the screen ---- */

struct shown {
	int pidfd;
};

static bool has_ended_within(const struct shown *shown, int ms)
{
	struct pollfd one = { .fd = shown->pidfd, .events = POLLIN };

	return poll(&one, 1, ms) > 0;
}

static bool is_over(void *arg)
{
	return has_ended_within(arg, 0);
}

/* Whether the command was started; without it there is nothing to show. */
static bool wait_for_trace(int fd)
{
	char byte;
	ssize_t n;

	do {
		n = read(fd, &byte, 1);
	} while (n < 0 && errno == EINTR);
	return n == 1;
}

/* Another process may get its number as soon as it was waited for: then no signal goes there. */
static int wait_status(void)
{
	pid_t pid = recorder;
	siginfo_t info;
	int status;

	while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) < 0)
		if (errno != EINTR)
			return EXIT_RUNNER;
	recorder = 0;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return EXIT_RUNNER;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int show(const struct options *o, struct estimate *like, live_waits *waits, int ready, int file)
{
	struct shown shown = { .pidfd = (int)syscall(SYS_pidfd_open, (pid_t)recorder, 0) };
	struct failure failure = { 0 };
	off_t at = 0;
	int status;

	if (wait_for_trace(ready) && shown.pidfd >= 0)
		live_show(&(struct live_show){ .path = o->db, .like = like, .waits = waits, .is_over = is_over, .arg = &shown,
			.on_signal = pass_on }, &failure);
	while (show_more(file, &at) && shown.pidfd >= 0 && !has_ended_within(&shown, TURN_MS))
		;
	status = wait_status();
	show_more(file, &at);
	if (failure.code)
		err_print("%s", failure.text);
	if (shown.pidfd >= 0)
		close(shown.pidfd);
	return status;
}

/* ---- start ---- */

static bool fail(const char *what, int error, int *ret_status)
{
	*ret_status = err_status(EXIT_RUNNER, "%s: %s", what, strerror(error));
	return false;
}

/* True in the process that records. */
static bool fork_recorder(const struct options *o, struct estimate *like, live_waits *waits, int *ret_fd, int *ret_status)
{
	cleanup_fd int file = open_file();
	int fds[2], r;

	if (file < 0)
		return fail("cannot make a file for the output", -file, ret_status);
	if (pipe2(fds, O_CLOEXEC) < 0 || (recorder = fork()) < 0)
		return fail("cannot start a process", errno, ret_status);
	if (recorder == 0) {
		close(fds[0]);
		*ret_fd = fds[1];
		r = redirect(file);
		return r < 0 ? fail("cannot redirect the output", -r, ret_status) : true;
	}
	close(fds[1]);
	catch_signals();
	*ret_status = show(o, like, waits, fds[0], file);
	close(fds[0]);
	return false;
}

bool run_top_fork(const struct options *o, live_waits *waits, int *ret_fd, int *ret_status)
{
	struct failure failure = { 0 };
	struct estimate *like = NULL;
	bool records;

	if (!live_has_screen() || !isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		*ret_status = err_status(EXIT_RUNNER, live_has_screen() ? "--top needs a terminal as stdin and stdout; leave it out, or run 'ftrac top' "
			"on another terminal" : "--top needs ncurses, without which this program was built; run 'ftrac top' on another terminal");
		return false;
	}
	if (o->like && live_like(o->like, &like, &failure) < 0) {
		*ret_status = err_status(EXIT_RUNNER, "%s", failure.text);
		return false;
	}
	records = fork_recorder(o, like, waits, ret_fd, ret_status);
	live_like_free(like);
	return records;
}

void run_top_ready(int fd)
{
	if (fd >= 0 && write(fd, "", 1) < 0)
		return; /* the screen is gone; the run goes on */
	if (fd >= 0)
		close(fd);
}
