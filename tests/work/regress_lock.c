/* SPDX-License-Identifier: MIT */

/* Locks and leases: see regress.h. */

#include "regress.h"

#include <sys/file.h>

/* ---- POSIX locks ---- */

static struct flock range(short type, off_t start, off_t length)
{
	return (struct flock){
		.l_type = type, .l_whence = SEEK_SET, .l_start = start, .l_len = length
	};
}

static int locked(int fd, int cmd, short type, off_t start, off_t length)
{
	struct flock lock = range(type, start, length);

	return fcntl(fd, cmd, &lock);
}

#define LOCK(type, start, length) EMIT(locked(fd, F_SETLK, type, start, length))

static char kind(short type)
{
	return type == F_RDLCK ? 'r' : type == F_WRLCK ? 'w' : '-';
}

/* The locks in the way of another process that wants to write: "r 10+5" for each lock up to byte 200. */
static void emit_locks(const char *what)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = (pid_t)must(fork());
	if (pid == 0) {
		int fd = (int)must(open("f", O_RDWR));

		printf("%s: %s:", section_name, what);
		for (off_t at = 0; at < 200;) {
			struct flock lock = range(F_WRLCK, at, 200 - at);

			must(fcntl(fd, F_GETLK, &lock));
			if (lock.l_type == F_UNLCK)
				break;
			printf(" %c %ld+%ld%s", kind(lock.l_type), (long)lock.l_start,
				(long)lock.l_len, lock.l_pid == getppid() ? "" : " of another");
			at = lock.l_len ? lock.l_start + lock.l_len : 200;
		}
		putchar('\n');
		fflush(stdout);
		_exit(0);
	}
	waitpid(pid, &status, 0);
}

static void ranges(void)
{
	int fd = make("f", 300);

	LOCK(F_WRLCK, 0, 100);
	emit_locks("whole");
	LOCK(F_UNLCK, 40, 20);
	emit_locks("split");
	LOCK(F_WRLCK, 40, 20);
	emit_locks("merged");
	LOCK(F_RDLCK, 20, 10);
	emit_locks("downgraded in the middle");
	LOCK(F_RDLCK, 25, 20);
	emit_locks("overlapping");
	LOCK(F_WRLCK, 0, 100);
	emit_locks("upgraded");
	LOCK(F_UNLCK, 0, 10);
	LOCK(F_UNLCK, 90, 50);
	emit_locks("cut at both ends");
	LOCK(F_RDLCK, 120, 0);
	emit_locks("up to the end of all");
	LOCK(F_UNLCK, 150, 10);
	emit_locks("with a gap");
	LOCK(F_UNLCK, 0, 0);
	emit_locks("none");
	for (int i = 0; i < 20; i++)
		must(locked(fd, F_SETLK, i % 2 ? F_RDLCK : F_WRLCK, i * 5, 5));
	emit_locks("many");
	must(locked(fd, F_SETLK, F_RDLCK, 2, 93));
	emit_locks("many in one");
}

static void odd_ranges(void)
{
	int fd = make("f", 100);
	struct flock lock;

	LOCK(F_WRLCK, 50, -10);
	emit_locks("backwards");
	LOCK(F_UNLCK, 0, 0);
	LOCK(F_WRLCK, 5, -10);
	LOCK(F_WRLCK, -5, 10);
	LOCK(F_WRLCK, LONG_MAX, 10);
	LOCK(F_WRLCK, LONG_MAX, 1);
	LOCK(77, 0, 1);
	must(lseek(fd, 30, SEEK_SET));
	lock = (struct flock){
		.l_type = F_WRLCK, .l_whence = SEEK_CUR, .l_start = -5, .l_len = 10
	};
	EMIT(fcntl(fd, F_SETLK, &lock));
	lock = (struct flock){
		.l_type = F_WRLCK, .l_whence = SEEK_END, .l_start = -5, .l_len = 10
	};
	EMIT(fcntl(fd, F_SETLK, &lock));
	emit_locks("from where the file stands and ends");
	lock = (struct flock){ .l_type = F_WRLCK, .l_whence = 9 };
	EMIT(fcntl(fd, F_SETLK, &lock));
	EMIT(lockf(fd, F_TEST, 10));
	EMIT(lockf(fd, F_TLOCK, 10));
	EMIT(lockf(fd, F_ULOCK, 0));
	emit_locks("by lockf");
}

static void of_modes(void)
{
	int fd;

	close(make("f", 100));
	fd = (int)must(open("f", O_RDONLY));
	LOCK(F_RDLCK, 0, 0);
	LOCK(F_WRLCK, 0, 0);
	fd = (int)must(open("f", O_WRONLY));
	LOCK(F_RDLCK, 0, 0);
	LOCK(F_WRLCK, 0, 0);
	fd = (int)must(open("f", O_PATH));
	LOCK(F_RDLCK, 0, 0);
	fd = (int)must(open(".", O_RDONLY));
	LOCK(F_RDLCK, 0, 0);
	EMIT(flock(fd, LOCK_EX));
	EMIT(flock(fd, LOCK_UN));
	EMIT(flock(fd, 64));
	EMIT(flock((int)must(open(".", O_PATH)), LOCK_SH));
}

/* Any descriptor that is closed takes the locks of the process away. */
static void ends(void)
{
	int fd = make("f", 100), other = (int)must(open("f", O_RDONLY)), status;

	LOCK(F_WRLCK, 0, 50);
	close(other);
	emit_locks("another descriptor closed");
	LOCK(F_WRLCK, 0, 50);
	close(dup(fd));
	emit_locks("a copy closed");
	LOCK(F_WRLCK, 0, 50);
	if (must(fork()) == 0)
		_exit(locked(fd, F_SETLK, F_WRLCK, 10, 1) < 0 ? errno : 0);
	wait(&status);
	say("a child has no part in it", "%s", strerrorname_np(WEXITSTATUS(status)));
	emit_locks("a child's end");
	if (must(fork()) == 0)
		_exit(locked(fd, F_SETLK, F_WRLCK, 60, 10) < 0 ? errno : 0);
	wait(&status);
	emit_locks("gone with the child");
	EMIT(unlink("f"));
	LOCK(F_WRLCK, 70, 10);
	close(fd);
}

/* One waits until the other lets go. */
static void waiting(void)
{
	int fd = make("f", 100), status;

	LOCK(F_WRLCK, 0, 10);
	if (must(fork()) == 0)
		_exit(locked(fd, F_SETLKW, F_WRLCK, 5, 10) < 0 ? errno : 0);
	tick();
	LOCK(F_UNLCK, 0, 10);
	wait(&status);
	say("the one that waited", "%d", WEXITSTATUS(status));
	LOCK(F_WRLCK, 0, 100);
}

/* Of two that wait for each other one, no matter which, is told so. */
static void waiting_for_each_other(void)
{
	int fd = make("f", 100), go[2], status, parent;
	char c;

	must(pipe(go));
	LOCK(F_WRLCK, 0, 10);
	if (must(fork()) == 0) {
		must(locked(fd, F_SETLK, F_WRLCK, 20, 10));
		must(write(go[1], "x", 1));
		_exit(locked(fd, F_SETLKW, F_WRLCK, 0, 10) < 0 ? errno : 0);
	}
	must(read(go[0], &c, 1));
	parent = locked(fd, F_SETLKW, F_WRLCK, 20, 10) < 0 ? errno : 0;
	LOCK(F_UNLCK, 0, 0);
	wait(&status);
	say("both", "%s", strerrorname_np(parent + WEXITSTATUS(status)));
}

/* ---- locks of open files ---- */

static void of_open_files(void)
{
	int fd = make("f", 100), other = (int)must(open("f", O_RDWR)), copy = dup(fd);
	struct flock lock = range(F_WRLCK, 0, 10);

	EMIT(fcntl(fd, F_OFD_SETLK, &lock));
	EMIT(fcntl(other, F_OFD_SETLK, &lock));
	EMIT(fcntl(other, F_SETLK, &lock));
	EMIT(fcntl(copy, F_OFD_SETLK, &lock));
	EMIT(fcntl(other, F_OFD_GETLK, &lock));
	say("the holder", "%c %d", kind(lock.l_type), lock.l_pid);
	lock.l_pid = 5;
	EMIT(fcntl(fd, F_OFD_SETLK, &lock));
	close(fd);
	lock = range(F_WRLCK, 0, 10);
	EMIT(fcntl(other, F_OFD_SETLK, &lock));
	close(copy);
	EMIT(fcntl(other, F_OFD_SETLK, &lock));
}

static void whole_files(void)
{
	int fd = make("f", 100), other = (int)must(open("f", O_RDONLY)), copy = dup(fd), status;

	EMIT(flock(fd, LOCK_SH));
	EMIT(flock(other, LOCK_SH | LOCK_NB));
	EMIT(flock(fd, LOCK_EX | LOCK_NB));
	EMIT(flock(other, LOCK_UN));
	EMIT(flock(fd, LOCK_EX | LOCK_NB));
	EMIT(flock(other, LOCK_SH | LOCK_NB));
	EMIT(flock(copy, LOCK_EX | LOCK_NB));
	EMIT(locked(other, F_SETLK, F_RDLCK, 0, 0)); /* these do not know each other */
	close(fd);
	EMIT(flock(other, LOCK_SH | LOCK_NB));
	if (must(fork()) == 0) {
		flock(copy, LOCK_UN);
		_exit(0);
	}
	wait(&status);
	EMIT(flock(other, LOCK_EX | LOCK_NB));
	fd = (int)must(open("f", O_RDONLY));
	if (must(fork()) == 0) {
		close(other);
		_exit(flock(fd, LOCK_SH) < 0 ? 1 : 0); /* waits for the parent */
	}
	tick();
	EMIT(flock(other, LOCK_UN));
	wait(&status);
	say("the waiting process", "%d", WEXITSTATUS(status));
}

/* ---- leases ---- */

static volatile int broken;

static void on_break(int sig)
{
	(void)sig;
	broken = 1;
}

static void leases(void)
{
	int fd = make("f", 10), rd;

	EMIT(fcntl(fd, F_GETLEASE));
	EMIT(fcntl(fd, F_SETLEASE, F_WRLCK));
	EMIT(fcntl(fd, F_GETLEASE));
	EMIT(fcntl(fd, F_SETLEASE, F_UNLCK));
	EMIT(fcntl(fd, F_SETLEASE, F_RDLCK));
	rd = (int)must(open("f", O_RDONLY));
	EMIT(fcntl(fd, F_SETLEASE, F_WRLCK));
	EMIT(fcntl(rd, F_SETLEASE, F_RDLCK));
	close(fd);
	EMIT(fcntl(rd, F_SETLEASE, F_RDLCK));
	EMIT(fcntl(rd, F_GETLEASE));
	EMIT(fcntl(rd, F_SETLEASE, F_WRLCK));
	EMIT(fcntl(rd, F_SETLEASE, 99));
	EMIT(fcntl((int)must(open(".", O_RDONLY)), F_SETLEASE, F_RDLCK));
}

/* A process that opens the file to write waits until the lease is given back. */
static void broken_lease(void)
{
	int rd, status;

	close(make("f", 10));
	signal(SIGIO, on_break);
	rd = (int)must(open("f", O_RDONLY));
	EMIT(fcntl(rd, F_SETLEASE, F_RDLCK));
	EMIT_IF(open("f", O_WRONLY | O_NONBLOCK));
	if (must(fork()) == 0)
		_exit(open("f", O_WRONLY) < 0 ? 1 : 0);
	while (!broken)
		tick();
	EMIT(fcntl(rd, F_GETLEASE));
	EMIT(fcntl(rd, F_SETLEASE, F_UNLCK));
	wait(&status);
	say("the waiting process", "%d", WEXITSTATUS(status));
	broken = 0;
	EMIT(fcntl(rd, F_SETLEASE, F_RDLCK));
	if (must(fork()) == 0)
		_exit(truncate("f", 3) < 0 ? 1 : 0);
	while (!broken)
		tick();
	EMIT(fcntl(rd, F_SETLEASE, F_UNLCK));
	wait(&status);
	say("the truncating process", "%d", WEXITSTATUS(status));
	emit_file("f");
}

static const struct section sections[] = {
	{ "ranges", ranges },
	{ "odd_ranges", odd_ranges },
	{ "of_modes", of_modes },
	{ "ends", ends },
	{ "waiting", waiting },
	{ "waiting_for_each_other", waiting_for_each_other },
	{ "of_open_files", of_open_files },
	{ "whole_files", whole_files },
	{ "leases", leases },
	{ "broken_lease", broken_lease },
};

int main(int argc, char **argv)
{
	(void)argc;
	return run_sections(sections, COUNT(sections), argv);
}
