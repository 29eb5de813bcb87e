/* SPDX-License-Identifier: MIT */

/*
 * stress [options] DIR: many processes at once do random operations on names and data in one tree
 * below DIR, which they all share.  Whatever fails is counted; errors are to be expected, some.
 *
 *	--seed N --clients N --operations N (of each client)
 *	--kill N     N times one of the clients is killed, wherever it is, and another begins
 *	--users      two of three clients are ordinary users
 *	--beside DIR every other client works in DIR (the same directory, by another way)
 *
 * Prints "operation ERRNO count" for each, "done" for ERRNO if it was none.  Ends with 1 if a
 * client ended otherwise than it should have.
 */

#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <grp.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "rng.h"

#define CLIENTS 256
#define ERRNOS 140
#define FAULT (ERRNOS - 1) /* a mapping led to where the file has no page any more */
#define LENGTH 600	   /* of paths below DIR */

/* Calls, by the names they are counted under. */
#define CALLS(X)                                                                               \
	X(open) X(create) X(close) X(read) X(write) X(truncate) X(ftruncate) X(fallocate)       \
	X(mmap) X(store) X(fsync) X(copy) X(lseek) X(fchmod) X(fchown) X(fstat) X(fsetxattr)    \
	X(mkdir) X(rmdir) X(unlink) X(rename) X(exchange) X(noreplace) X(link) X(symlink)       \
	X(readlink) X(mknod) X(mkfifo) X(chmod) X(chown) X(utimens) X(setxattr) X(getxattr)     \
	X(listxattr) X(removexattr) X(setacl) X(stat) X(access) X(statfs) X(opendir) X(readdir) \
	X(tmpfile) X(linkat) X(chdir)

enum call {
#define X(name) CALL_##name,
	CALLS(X)
#undef X
	CALL_MAX
};

static const char *const names[] = {
#define X(name) #name,
	CALLS(X)
#undef X
};

static struct {
	uint64_t seed;
	int clients, kill;
	long operations;
	int users;
	const char *top, *beside;
} options = { .seed = 1, .clients = 6, .operations = 1000 };

/* Shared by all clients: a killed client has counted all the same. */
static _Atomic uint64_t (*counts)[ERRNOS];

static int top; /* the tree */
static char data[70000];

static long count(enum call call, long result)
{
	int number = result < 0 ? errno : 0;

	counts[call][number < FAULT ? number : FAULT]++;
	return result;
}

/* ---- names */

static const char *some_name(void)
{
	static const char *const of_files[] = { "a", "b", "c", "d", "e with spaces", "f\xff.g" };

	if (one_in(400)) { /* longer than any file system takes */
		static char is_long[LENGTH / 2];

		memset(is_long, 'l', sizeof(is_long) - 1);
		return is_long;
	}
	return of_files[below(6)];
}

static const char *some_directory(void)
{
	static const char *const of_directories[] = { "D", "E", "F" };

	return of_directories[below(3)];
}

/* Mostly of files where files are, and so on; it is not known what is there. */
static const char *some_path(bool directory)
{
	static char paths[4][LENGTH];
	static int turn;
	char *path = paths[turn++ % 4];
	int depth = below(4), n = 0;

	for (int i = 0; i < depth; i++)
		n += snprintf(path + n, LENGTH - n, "%s/", some_directory());
	snprintf(path + n, LENGTH - n, "%s", one_in(10) != directory ? some_directory()
								     : some_name());
	return path;
}

static const char *some_file(void)
{
	return some_path(false);
}

static mode_t some_mode(void)
{
	static const mode_t modes[] = { 0644, 0666, 0600, 0777, 0755, 0400, 0, 02775, 04755, 06777,
		01777, 02640 };

	return modes[below(sizeof(modes) / sizeof(modes[0]))];
}

static long some_size(void)
{
	static const long sizes[] = { 1, 100, 4096, 5000, 70000, 200000 };

	return below(sizes[below(6)]);
}

static const char *some_attribute(void)
{
	static const char *const attributes[] = { "user.a", "user.a", "user.b", "trusted.a" };

	return attributes[below(4)];
}

/* ---- on an open file */

static sigjmp_buf fault;

static void on_fault(int number)
{
	(void)number;
	siglongjmp(fault, 1);
}

/* Another client may cut the file off below the mapping. */
static void store(unsigned char *at, long len)
{
	if (sigsetjmp(fault, 1)) {
		counts[CALL_store][FAULT]++;
		return;
	}
	memset(at + below(len), below(256), 1);
	memset(at, below(256), below(len));
	if (one_in(2))
		msync(at, len, one_in(2) ? MS_SYNC : MS_ASYNC);
	count(CALL_store, 0);
}

static void do_mapping(int fd)
{
	struct stat st;
	unsigned char *at;

	if (count(CALL_fstat, fstat(fd, &st)) < 0 || st.st_size == 0)
		return;
	at = mmap(NULL, st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (count(CALL_mmap, at == MAP_FAILED ? -1 : 0) < 0)
		return;
	store(at, st.st_size);
	munmap(at, st.st_size);
}

static void do_copy(int fd)
{
	int other = openat(top, some_file(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
	loff_t from = some_size(), to = some_size();

	if (count(CALL_open, other) < 0)
		return;
	count(CALL_copy, copy_file_range(fd, &from, other, &to, some_size(), 0));
	count(CALL_close, close(other));
}

static void do_reading(int fd)
{
	switch (below(4)) {
	case 0: count(CALL_read, read(fd, data, some_size() % sizeof(data))); break;
	case 1: count(CALL_read, pread(fd, data, 5000, some_size())); break;
	case 2: do_copy(fd); break;
	default: count(CALL_lseek, lseek(fd, some_size(), one_in(2) ? SEEK_DATA : SEEK_HOLE));
	}
}

static void do_writing(int fd)
{
	static const int modes[] = { 0, FALLOC_FL_KEEP_SIZE,
		FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, FALLOC_FL_ZERO_RANGE };

	memset(data, below(256), 100);
	switch (below(4)) {
	case 0: count(CALL_write, write(fd, data, some_size() % sizeof(data))); break;
	case 1: count(CALL_write, pwrite(fd, data, some_size() % sizeof(data), some_size())); break;
	case 2: count(CALL_ftruncate, ftruncate(fd, some_size())); break;
	default: count(CALL_fallocate, fallocate(fd, modes[below(4)], some_size(),
		1 + some_size()));
	}
}

static void do_attribute(int fd)
{
	const char *name = some_attribute();
	struct stat st;

	switch (below(5)) {
	case 0: count(CALL_fsync, one_in(2) ? fsync(fd) : fdatasync(fd)); break;
	case 1: count(CALL_fchmod, fchmod(fd, some_mode())); break;
	case 2: count(CALL_fchown, fchown(fd, 1000 + below(3), 1000 + below(3))); break;
	case 3: count(CALL_fstat, fstat(fd, &st)); break;
	default:
		count(CALL_fsetxattr, fsetxattr(fd, name, data, below(100), 0));
		count(CALL_getxattr, fgetxattr(fd, name, data, 100));
		if (one_in(4))
			count(CALL_removexattr, fremovexattr(fd, name));
	}
}

/* What the descriptor allows: an EBADF would be one. */
static void do_something(int fd)
{
	int access = fcntl(fd, F_GETFL) & O_ACCMODE;

	switch (below(7)) {
	case 0: case 1: access == O_WRONLY ? do_attribute(fd) : do_reading(fd); break;
	case 2: case 3: case 4: access == O_RDONLY ? do_attribute(fd) : do_writing(fd); break;
	case 5: access == O_RDWR ? do_mapping(fd) : do_attribute(fd); break;
	default: do_attribute(fd);
	}
}

static int kept[4] = { -1, -1, -1, -1 }; /* open while their files are renamed and unlinked */

/* What is no plain file is closed at once: it would block, and its times are the kernel's own. */
static void use(int fd)
{
	struct stat st;
	int turn = below(4);

	if (count(CALL_fstat, fstat(fd, &st)) == 0 && S_ISREG(st.st_mode)) {
		for (int i = below(6); i >= 0; i--)
			do_something(fd);
		if (one_in(4)) {
			int other = kept[turn];

			kept[turn] = fd;
			fd = other;
		}
	}
	if (fd >= 0)
		count(CALL_close, close(fd));
}

static void do_kept(void)
{
	int fd = kept[below(4)];

	for (int i = below(6); fd >= 0 && i >= 0; i--)
		do_something(fd);
}

/* ---- by name */

static void do_open(void)
{
	static const int access[] = { O_RDONLY, O_WRONLY, O_RDWR, O_RDWR };
	int flags = access[below(4)] | O_NONBLOCK | O_CLOEXEC;
	int fd;

	flags |= one_in(6) ? O_TRUNC : 0;
	flags |= one_in(4) ? O_APPEND : 0;
	flags |= one_in(6) ? O_NOFOLLOW : 0;
	fd = openat(top, some_file(), flags);
	if (count(CALL_open, fd) >= 0)
		use(fd);
}

static void do_create(void)
{
	int flags = O_CREAT | O_RDWR | O_NONBLOCK | O_CLOEXEC;
	int fd;

	flags |= one_in(3) ? O_EXCL : 0;
	flags |= one_in(4) ? O_TRUNC : 0;
	flags |= one_in(4) ? O_APPEND : 0;
	fd = openat(top, some_file(), flags, some_mode());
	if (count(CALL_create, fd) >= 0)
		use(fd);
}

static void do_tmpfile(void)
{
	int fd = openat(top, some_path(true), O_TMPFILE | O_RDWR | O_CLOEXEC, some_mode());
	char path[64];

	if (count(CALL_tmpfile, fd) < 0)
		return;
	do_something(fd);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (one_in(2))
		count(CALL_linkat, linkat(AT_FDCWD, path, top, some_file(), AT_SYMLINK_FOLLOW));
	use(fd);
}

static void do_truncate(void)
{
	struct stat st;
	const char *path = some_file();

	count(CALL_stat, fstatat(top, path, &st, 0));
	if (fchdir(top) == 0)
		count(CALL_truncate, truncate(path, some_size()));
}

static void do_rename(void)
{
	unsigned flags = one_in(3) ? RENAME_EXCHANGE : one_in(2) ? RENAME_NOREPLACE : 0;
	enum call call = flags == RENAME_EXCHANGE ? CALL_exchange
		: flags ? CALL_noreplace : CALL_rename;
	bool directory = one_in(3);

	count(call, renameat2(top, some_path(directory), top, some_path(directory), flags));
}

static void do_link(void)
{
	count(CALL_link, linkat(top, some_file(), top, some_file(), 0));
}

static void do_symlink(void)
{
	count(CALL_symlink, symlinkat(one_in(4) ? "D" : one_in(2) ? "D/a" : some_name(), top,
		some_file()));
}

static void do_mkdir(void)
{
	count(CALL_mkdir, mkdirat(top, some_path(true), some_mode() | (one_in(4) ? 0 : 0700)));
}

static void do_rmdir(void)
{
	count(CALL_rmdir, unlinkat(top, some_path(true), AT_REMOVEDIR));
}

static void do_unlink(void)
{
	count(CALL_unlink, unlinkat(top, some_file(), 0));
}

static void do_mknod(void)
{
	if (one_in(2))
		count(CALL_mkfifo, mkfifoat(top, some_file(), some_mode() & 0777));
	else /* a whiteout needs no privilege */
		count(CALL_mknod, mknodat(top, some_file(), one_in(2) ? S_IFCHR | 0600
			: S_IFREG | some_mode(), 0));
}

static void do_chmod(void)
{
	count(CALL_chmod, fchmodat(top, some_path(one_in(3)), some_mode(), 0));
}

static void do_chown(void)
{
	count(CALL_chown, fchownat(top, some_path(one_in(3)), 1000 + below(3),
		one_in(2) ? 1000 + below(3) : -1, one_in(2) ? AT_SYMLINK_NOFOLLOW : 0));
}

static void do_utimens(void)
{
	struct timespec times[2];

	for (int i = 0; i < 2; i++)
		times[i] = (struct timespec){ .tv_sec = 1000000000 + below(100000000),
			.tv_nsec = one_in(4) ? UTIME_NOW : one_in(4) ? UTIME_OMIT
				: below(1000000000) };
	count(CALL_utimens, utimensat(top, some_path(one_in(3)), times,
		one_in(2) ? AT_SYMLINK_NOFOLLOW : 0));
}

/* Access or default ACL with a named user, in the form the kernel has them. */
static void do_setacl(void)
{
	struct {
		uint32_t version;
		struct { uint16_t tag, permissions; uint32_t id; } entries[5];
	} acl = { 2, { { 1, 7, -1 }, { 2, below(8), 1001 }, { 4, below(8), -1 },
		{ 16, below(8), -1 }, { 32, below(8), -1 } } };

	count(CALL_setacl, setxattr(some_path(one_in(2)), one_in(2) ? "system.posix_acl_access"
		: "system.posix_acl_default", &acl, sizeof(acl), 0));
}

static void do_xattr(void)
{
	const char *path, *name = some_attribute();
	char value[1000] = "";

	if (fchdir(top) < 0)
		return;
	path = some_path(one_in(3));
	switch (below(6)) {
	case 0: count(CALL_getxattr, lgetxattr(path, name, value, below(200))); break;
	case 1: count(CALL_listxattr, llistxattr(path, value, below(200))); break;
	case 2: count(CALL_removexattr, lremovexattr(path, name)); break;
	case 3: do_setacl(); break;
	default:
		memset(value, 'x', sizeof(value));
		count(CALL_setxattr, lsetxattr(path, name, value, below(300),
			one_in(4) ? XATTR_CREATE : one_in(4) ? XATTR_REPLACE : 0));
	}
}

static void do_look(void)
{
	struct stat st;
	struct statvfs vfs;
	char target[300];

	switch (below(5)) {
	case 0: count(CALL_readlink, readlinkat(top, some_file(), target, sizeof(target))); break;
	case 1: count(CALL_access, faccessat(top, some_file(), R_OK | W_OK, 0)); break;
	case 2:
		if (fchdir(top) == 0)
			count(CALL_statfs, statvfs(some_path(true), &vfs));
		break;
	default: count(CALL_stat, fstatat(top, some_path(one_in(3)), &st,
		one_in(2) ? AT_SYMLINK_NOFOLLOW : 0)); break;
	}
}

static void do_readdir(void)
{
	int fd = openat(top, some_path(true), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat st;
	struct dirent *d;
	DIR *dir;

	if (count(CALL_opendir, fd) < 0)
		return;
	dir = fdopendir(fd);
	if (!dir)
		err(1, "fdopendir");
	errno = 0;
	while ((d = readdir(dir))) {
		if (one_in(2))
			count(CALL_stat, fstatat(fd, d->d_name, &st, AT_SYMLINK_NOFOLLOW));
		errno = 0;
	}
	count(CALL_readdir, errno ? -1 : 0);
	if (one_in(3))
		count(CALL_fsync, fsync(fd));
	closedir(dir);
}

/* From a working directory that may be gone before. */
static void do_from_within(void)
{
	int fd;

	if (fchdir(top) < 0 || count(CALL_chdir, chdir(some_path(true))) < 0)
		return;
	for (int i = below(3); i >= 0; i--) {
		fd = open(some_name(), O_CREAT | O_RDWR | O_NONBLOCK | O_CLOEXEC, some_mode());
		if (count(CALL_create, fd) >= 0)
			use(fd);
		count(CALL_mkdir, mkdir(some_directory(), 0777));
		count(CALL_rename, rename(some_name(), "../b"));
		count(CALL_unlink, unlink(some_name()));
	}
}

static void (*const operations[])(void) = { do_open, do_open, do_open, do_create, do_create,
	do_create, do_create, do_tmpfile, do_truncate, do_rename, do_rename, do_rename, do_link,
	do_link, do_symlink, do_kept, do_mkdir, do_mkdir, do_mkdir, do_rmdir, do_unlink, do_unlink,
	do_mknod, do_chmod, do_chown, do_utimens, do_xattr, do_xattr, do_look, do_look, do_readdir,
	do_from_within };

/* ---- clients */

static void become_user(int number)
{
	uid_t id = 1000 + number % 3;

	if (id == 1000) /* one of three stays what it is */
		return;
	if (setgroups(1, &(gid_t){ 1000 }) < 0 || setresgid(id, id, id) < 0 ||
		setresuid(id, id, id) < 0)
		err(1, "cannot become user %u", id);
}

static void work(int number, uint64_t seed)
{
	const struct sigaction action = { .sa_handler = on_fault };
	const char *path = options.beside && number % 2 ? options.beside : options.top;
	static const mode_t masks[] = { 0, 022, 077, 002 };

	prctl(PR_SET_PDEATHSIG, SIGKILL); /* no client goes on alone */
	rng_state = seed;
	sigaction(SIGBUS, &action, NULL);
	top = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (top < 0)
		err(1, "%s", path);
	if (options.users)
		become_user(number);
	for (long i = 0; i < options.operations; i++) {
		if (one_in(50))
			umask(masks[below(4)]);
		operations[below(sizeof(operations) / sizeof(operations[0]))]();
	}
	_exit(0);
}

static pid_t start(int number, uint64_t seed)
{
	pid_t pid = fork();

	if (pid < 0)
		err(1, "fork");
	if (pid == 0)
		work(number, seed);
	return pid;
}

/* Ends with what went wrong. */
static int wait_for(pid_t pid, bool killed)
{
	int status;

	if (waitpid(pid, &status, 0) != pid)
		err(1, "waitpid");
	if (status == 0 || (killed && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL))
		return 0;
	printf("client %d ended with %#x\n", (int)pid, status);
	return 1;
}

static int run(void)
{
	pid_t clients[CLIENTS];
	uint64_t seed = options.seed * 1000003;
	int wrong = 0;

	for (int i = 0; i < options.clients; i++)
		clients[i] = start(i, seed++);
	rng_state = seed;
	for (int i = 0; i < options.kill; i++) {
		int victim = below(options.clients);

		usleep(below(20000));
		kill(clients[victim], SIGKILL);
		wrong |= wait_for(clients[victim], true);
		clients[victim] = start(victim, seed++);
	}
	for (int i = 0; i < options.clients; i++)
		wrong |= wait_for(clients[i], false);
	return wrong;
}

static void parse(int argc, char **argv)
{
	static const struct option known[] = {
		{ "seed", required_argument, NULL, 's' },
		{ "clients", required_argument, NULL, 'c' },
		{ "operations", required_argument, NULL, 'n' },
		{ "kill", required_argument, NULL, 'k' },
		{ "beside", required_argument, NULL, 'b' },
		{ "users", no_argument, &options.users, 1 },
		{ 0 },
	};
	int option;

	while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
		switch (option) {
		case 's': options.seed = strtoul(optarg, NULL, 0); break;
		case 'c': options.clients = strtol(optarg, NULL, 0); break;
		case 'n': options.operations = strtol(optarg, NULL, 0); break;
		case 'k': options.kill = strtol(optarg, NULL, 0); break;
		case 'b': options.beside = optarg; break;
		case 0: break;
		default: exit(2);
		}
	}
	options.top = argv[optind];
	if (!options.top || options.clients < 1 || options.clients > CLIENTS)
		errx(2, "usage: stress [options] DIR");
}

static void print_counts(void)
{
	for (int i = 0; i < CALL_MAX; i++)
		for (int number = 0; number < ERRNOS; number++)
			if (counts[i][number])
				printf("%s %s %lu\n", names[i], number == FAULT ? "SIGBUS"
					: number ? strerrorname_np(number) : "done",
					(unsigned long)counts[i][number]);
}

int main(int argc, char **argv)
{
	int wrong;

	parse(argc, argv);
	counts = mmap(NULL, sizeof(*counts) * CALL_MAX, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (counts == MAP_FAILED)
		err(1, "mmap");
	setvbuf(stdout, NULL, _IOLBF, 0);
	wrong = run();
	print_counts();
	return wrong;
}
