/* SPDX-License-Identifier: MIT */

/* Scenes with locks between processes: of flock(2), of fcntl(2) for processes and for open files,
 * leases; waiting for them. */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conform.h"

static bool put_f(void)
{
	return put_file("f", 0666, CONTENT, OWNER_ID, GROUP_ID);
}

/* try() in another process; what it returns must fit into a byte: 0, or an errno. */
static long in_child(long (*try)(int fd), int fd)
{
	int status;
	pid_t child = fork();

	if (child == 0)
		_exit(-try(fd));
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -ECHILD;
}

static long own(void)
{
	return open("f", O_RDWR);
}

/* ---- flock(2) ---- */

static long flock_shared(int fd)
{
	return result_of(flock(fd >= 0 ? fd : own(), LOCK_SH | LOCK_NB));
}

static long flock_exclusive(int fd)
{
	return result_of(flock(fd >= 0 ? fd : own(), LOCK_EX | LOCK_NB));
}

static void flocks(void)
{
	int fd = own(), second = own();

	step("shared", flock_shared(fd));
	step("shared too", flock_shared(second));
	step("shared by a child", in_child(flock_shared, -1));
	step("exclusive by a child", in_child(flock_exclusive, -1));
	step("exclusive", flock_exclusive(fd));
	step("unlock the second", result_of(flock(second, LOCK_UN)));
	step("exclusive then", flock_exclusive(fd));
	step("shared by the second", flock_shared(second));
	step("by a child that has it", in_child(flock_exclusive, fd));
	step("by a child that has not", in_child(flock_shared, -1));
	step("for reading only", result_of(flock(open("f", O_RDONLY), LOCK_EX | LOCK_NB)));
	step("a copy closed", result_of(close(dup(fd))));
	step("still there", in_child(flock_shared, -1));
	step("closed", result_of(close(fd)));
	step("gone", in_child(flock_exclusive, -1));
	step("of nothing", result_of(flock(second, 0)));
	step("of a directory", result_of(flock(open(".", O_RDONLY), LOCK_EX | LOCK_NB)));
	step("of a path", result_of(flock(open("f", O_PATH), LOCK_EX | LOCK_NB)));
}

/* ---- of processes, and of open files ---- */

static int locking;		/* F_SETLK or F_OFD_SETLK */
static struct flock wanted;	/* by a child */

static long lock(int fd, short type, off_t from, off_t length)
{
	struct flock l = { .l_type = type, .l_whence = SEEK_SET, .l_start = from, .l_len = length };

	return result_of(fcntl(fd, locking, &l));
}

static long lock_wanted(int fd)
{
	struct flock l = wanted;

	return result_of(fcntl(fd >= 0 ? fd : own(), locking, &l));
}

static long try_lock(short type, off_t from, off_t length, int fd)
{
	wanted = (struct flock){ .l_type = type, .l_whence = SEEK_SET, .l_start = from,
		.l_len = length };
	return in_child(lock_wanted, fd);
}

/* The process in the way of a lock for writing there, as a child sees it. */
static void step_holder(const char *what, off_t from, off_t length)
{
	pid_t parent = getpid(), child = fork();
	int status;

	if (child == 0) {
		struct flock l = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = from,
			.l_len = length };
		long r = result_of(fcntl(own(), locking == F_SETLK ? F_GETLK : F_OFD_GETLK, &l));

		step_text(what, "%ld type %d from %ld length %ld by %s", r, l.l_type,
			(long)l.l_start, (long)l.l_len, l.l_pid == parent ? "the parent"
				: l.l_pid == -1 ? "an open file" : "?");
		_exit(0);
	}
	waitpid(child, &status, 0);
}

static void ranges(void)
{
	int fd = own(), second = own();

	step("write 10 to 20", lock(fd, F_WRLCK, 10, 10));
	step("read 30 to the end", lock(fd, F_RDLCK, 30, 0));
	step("by another descriptor", lock(second, F_WRLCK, 10, 10));
	step("child reads 0 to 10", try_lock(F_RDLCK, 0, 10, -1));
	step("child reads 19", try_lock(F_RDLCK, 19, 1, -1));
	step("child reads 40", try_lock(F_RDLCK, 40, 1, -1));
	step("child writes 40", try_lock(F_WRLCK, 40, 1, -1));
	step("child with the descriptor", try_lock(F_WRLCK, 40, 1, fd));
	step_holder("holder of all", 0, 0);
	step_holder("holder of 35", 35, 1);
	step_holder("holder of 25", 25, 1);
	step("unlock 12 to 15", lock(fd, F_UNLCK, 12, 3));
	step("child writes 12", try_lock(F_WRLCK, 12, 1, -1));
	step("child writes 15", try_lock(F_WRLCK, 15, 1, -1));
	step("closing the other", result_of(close(second)));
	step("child writes 15 then", try_lock(F_WRLCK, 15, 1, -1));
	step("for reading only", lock(open("f", O_RDONLY), F_WRLCK, 100, 1));
	step("for writing only", lock(open("f", O_WRONLY), F_RDLCK, 100, 1));
	step("before the start", lock(fd, F_WRLCK, -5, 1));
	step("of a directory", lock(open(".", O_RDONLY), F_RDLCK, 0, 1));
	close(fd);
	step("child writes all", try_lock(F_WRLCK, 0, 0, -1));
}

static void of_processes(void)
{
	locking = F_SETLK;
	ranges();
}

static void of_open_files(void)
{
	locking = F_OFD_SETLK;
	ranges();
}

/* ---- waiting ---- */

/* A child waits until we unlock; what it then reads shows which was first. */
static void wait_for(const char *what, long (*take)(int fd), long (*give)(int fd),
	long (*wait_)(int fd))
{
	int fd = own(), ends[2], status;
	char seen = '?';
	pid_t child;

	if (pipe(ends) < 0)
		return;
	step(what, take(fd));
	child = fork();
	if (child == 0) {
		int mine = own();
		long r;

		close(fd);
		write(ends[1], "b", 1); /* about to wait */
		r = wait_(mine);
		pread(mine, &seen, 1, 0);
		step_text("the one that waits", "%ld and reads %c", r, seen);
		_exit(0);
	}
	read(ends[0], &seen, 1);
	pwrite(fd, "!", 1, 0);
	step("unlock", give(fd));
	waitpid(child, &status, 0);
	pwrite(fd, "?", 1, 0);
	close(fd);
	close(ends[0]);
	close(ends[1]);
}

static long unlock_flock(int fd)
{
	return result_of(flock(fd, LOCK_UN));
}

static long wait_flock(int fd)
{
	return result_of(flock(fd, LOCK_EX));
}

static long take_range(int fd)
{
	return lock(fd, F_WRLCK, 0, 10);
}

static long give_range(int fd)
{
	return lock(fd, F_UNLCK, 0, 10);
}

static long wait_range(int fd)
{
	struct flock l = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 5, .l_len = 1 };

	return result_of(fcntl(fd, locking == F_SETLK ? F_SETLKW : F_OFD_SETLKW, &l));
}

static void nothing(int signal)
{
	(void)signal;
}

/* A wait that a signal ends. */
static void interrupted(void)
{
	int fd = own(), status;
	pid_t child;

	flock_exclusive(fd);
	child = fork();
	if (child == 0) {
		struct sigaction action = { .sa_handler = nothing };

		sigaction(SIGALRM, &action, NULL);
		ualarm(20000, 20000);
		step("flock", wait_flock(own()));
		_exit(0);
	}
	waitpid(child, &status, 0);
	locking = F_SETLK;
	take_range(fd);
	child = fork();
	if (child == 0) {
		struct sigaction action = { .sa_handler = nothing };

		sigaction(SIGALRM, &action, NULL);
		ualarm(20000, 20000);
		step("fcntl", wait_range(own()));
		_exit(0);
	}
	waitpid(child, &status, 0);
	close(fd);
}

/* Each waits for what the other has. */
static void deadlock(void)
{
	int fd = own(), there[2], back[2], status;
	char c;
	pid_t child;

	locking = F_SETLK;
	if (pipe(there) < 0 || pipe(back) < 0)
		return;
	child = fork();
	if (child == 0) {
		int mine = own();

		lock(mine, F_WRLCK, 20, 1);
		write(there[1], "b", 1);
		read(back[0], &c, 1);
		take_range(mine); /* at once, or when the parent has gone */
		_exit(wait_range(mine) == -EDEADLK);
	}
	step("first", lock(fd, F_WRLCK, 5, 1));
	read(there[0], &c, 1);
	step("second, of the child", lock(fd, F_WRLCK, 20, 1));
	close(fd);
	write(back[1], "b", 1);
	waitpid(child, &status, 0);
	step("child", WEXITSTATUS(status));
}

static void waiting(void)
{
	wait_for("flock", flock_exclusive, unlock_flock, wait_flock);
	locking = F_SETLK;
	wait_for("of processes", take_range, give_range, wait_range);
	locking = F_OFD_SETLK;
	wait_for("of open files", take_range, give_range, wait_range);
}

/* ---- leases ---- */

static long open_to_write(int fd)
{
	(void)fd;
	return open("f", O_WRONLY | O_NONBLOCK) < 0 ? -errno : 0;
}

static long open_to_read(int fd)
{
	(void)fd;
	return open("f", O_RDONLY | O_NONBLOCK) < 0 ? -errno : 0;
}

static void leases(void)
{
	int fd = open("f", O_RDONLY), both;

	signal(SIGIO, SIG_IGN);
	step("none", fcntl(fd, F_GETLEASE));
	step("of a writer by a reader", result_of(fcntl(fd, F_SETLEASE, F_WRLCK)));
	step("of a reader", result_of(fcntl(fd, F_SETLEASE, F_RDLCK)));
	step("is", fcntl(fd, F_GETLEASE));
	step("child reads", in_child(open_to_read, -1));
	step("child writes", in_child(open_to_write, -1));
	step("is", fcntl(fd, F_GETLEASE));
	step("given up", result_of(fcntl(fd, F_SETLEASE, F_UNLCK)));
	step("child writes", in_child(open_to_write, -1));
	close(fd);
	both = own();
	step("of a reader that writes", result_of(fcntl(both, F_SETLEASE, F_RDLCK)));
	step("of a writer", result_of(fcntl(both, F_SETLEASE, F_WRLCK)));
	step("child reads", in_child(open_to_read, -1));
	step("given up", result_of(fcntl(both, F_SETLEASE, F_UNLCK)));
	step("of a directory", result_of(fcntl(open(".", O_RDONLY), F_SETLEASE, F_RDLCK)));
	close(both);
}

static const struct scene scenes[] = {
	{ "flock", flocks, FEW, put_f },
	{ "of processes", of_processes, FEW, put_f },
	{ "of open files", of_open_files, FEW, put_f },
	{ "waiting", waiting, OWNER, put_f },
	{ "interrupted", interrupted, OWNER, put_f },
	{ "deadlock", deadlock, OWNER, put_f },
	{ "leases", leases, FEW, put_f },
};

void run_locks(void)
{
	run_scenes("locks", scenes, COUNT(scenes));
}
