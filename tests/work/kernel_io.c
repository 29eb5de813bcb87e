/* SPDX-License-Identifier: MIT */
/*
 * kernel_io: one of each form of I/O, in the working directory, for kernel_strace.  Prints nothing; errors are wanted
 * where they happen.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#pragma GCC diagnostic ignored "-Wunused-result"
#pragma GCC diagnostic ignored "-Wnonnull"

static char buffer[65536];
static void *volatile nowhere = (void *)8;

static void data(void)
{
	int a = open("a.dat", O_RDWR | O_CREAT | O_TRUNC, 0644), b = creat("b.dat", 0600);
	struct iovec parts[2] = { { buffer, 10 }, { buffer + 10, 20 } };

	write(a, buffer, 65536);
	write(a, buffer, 0);
	pwrite(a, buffer, 100, 5000);
	writev(b, parts, 2);
	lseek(a, 0, SEEK_SET);
	read(a, buffer, 1000);
	readv(a, parts, 2);
	pread(a, buffer, 777, 60000);
	preadv(a, parts, 2, 100);
	pwritev(a, parts, 2, 70000);
	preadv2(a, parts, 2, 50, 0);
	preadv2(a, parts, 2, -1, 0);
	pwritev2(a, parts, 2, -1, 0);
	lseek(a, 65500, SEEK_SET);
	read(a, buffer, 60000);
	read(a, buffer, 60000);
	read(a, buffer, 0);
	lseek(a, 10, SEEK_END);
	lseek(a, -1, SEEK_SET);
	read(b, buffer, 10);
	write(999, buffer, 10);
	write(a, nowhere, 10);
	close(a);
	close(b);
	close(b);
}

static void appends(void)
{
	int a = open("log", O_WRONLY | O_CREAT | O_APPEND, 0644), b = open("log", O_WRONLY | O_APPEND);

	write(a, buffer, 100);
	write(b, buffer, 50);
	write(a, buffer, 7);
	pwrite(a, buffer, 9, 3);
	close(b);
	close(a);
}

static void descriptors(void)
{
	int a = open("a.dat", O_RDWR), b = dup(a), c = dup2(a, 50), d = fcntl(a, F_DUPFD_CLOEXEC, 60), e;
	struct flock lock = { .l_type = F_WRLCK, .l_start = 5, .l_len = 10 };

	lseek(b, 7, SEEK_SET);
	read(c, buffer, 3);
	read(d, buffer, 4);
	dup3(a, 51, O_CLOEXEC);
	dup2(a, a);
	e = open("log", O_RDONLY);
	dup2(a, e);
	fcntl(a, F_GETFL);
	fcntl(a, F_SETFD, FD_CLOEXEC);
	fcntl(a, F_SETLK, &lock);
	flock(a, LOCK_EX | LOCK_NB);
	syscall(SYS_close_range, 50, 51, 0);
	ftruncate(a, 66000);
	fallocate(a, 0, 1000, 100000);
	fallocate(a, FALLOC_FL_KEEP_SIZE, 0, 4096);
	fsync(a);
	fdatasync(a);
	sync_file_range(a, 0, 4096, SYNC_FILE_RANGE_WRITE);
	ioctl(a, FIONREAD, buffer);
	fchmod(a, 0640);
	fchown(a, -1, -1);
	futimens(a, NULL);
	close(e);
	close(d);
	close(b);
	close(a);
}

static void locks(void)
{
	int a = open("locked", O_RDWR | O_CREAT, 0644), b = open("locked", O_RDONLY);
	struct flock lock = { .l_type = F_WRLCK, .l_start = 100, .l_len = 20 };

	ftruncate(a, 1000);
	fcntl(a, F_SETLK, &lock);
	fcntl(a, F_OFD_GETLK, &lock);
	lock = (struct flock){ .l_type = F_RDLCK, .l_whence = SEEK_END, .l_start = -30 };
	fcntl(a, F_SETLKW, &lock);
	fcntl(b, F_OFD_SETLK, &lock);
	lseek(a, 50, SEEK_SET);
	lock = (struct flock){ .l_type = F_UNLCK, .l_whence = SEEK_CUR, .l_start = 50, .l_len = 10 };
	fcntl(a, F_SETLK, &lock);
	fcntl(b, F_SETLK, nowhere);
	flock(a, LOCK_SH);
	flock(b, LOCK_EX | LOCK_NB);
	flock(a, LOCK_UN);
	close(b);
	close(a);
}

static void paths(void)
{
	struct stat st;
	struct statx sx;
	struct statfs fs;
	struct statvfs vfs;
	struct open_how how = { .flags = O_RDONLY, .resolve = RESOLVE_BENEATH };
	int dir, fd;

	mkdir("dd", 0755);
	mkdir("dd", 0755);
	dir = open("dd", O_RDONLY | O_DIRECTORY);
	fd = openat(dir, "inner", O_RDWR | O_CREAT | O_EXCL, 0600);
	write(fd, "inner", 5);
	close(fd);
	openat(dir, "inner", O_RDWR | O_CREAT | O_EXCL, 0600);
	mkdirat(dir, "deep", 0700);
	mknodat(dir, "fifo", S_IFIFO | 0600, 0);
	close(syscall(SYS_openat2, dir, "inner", &how, sizeof(how)));
	syscall(SYS_openat2, dir, "/etc/hostname", &how, sizeof(how));
	close(open(".", O_TMPFILE | O_RDWR, 0600));
	fstatat(dir, "inner", &st, 0);
	fstatat(dir, "", &st, AT_EMPTY_PATH);
	statx(AT_FDCWD, "dd/inner", 0, STATX_BASIC_STATS, &sx);
	statx(dir, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &sx);
	stat("nonexistent", &st);
	stat("dd/inner/beyond", &st);
	stat(nowhere, &st);
	access("a.dat", R_OK);
	faccessat(dir, "inner", W_OK, AT_EACCESS);
	rename("b.dat", "c.dat");
	renameat(AT_FDCWD, "c.dat", dir, "d.dat");
	renameat2(dir, "d.dat", dir, "inner", RENAME_NOREPLACE);
	renameat2(dir, "d.dat", dir, "inner", RENAME_EXCHANGE);
	link("a.dat", "a2.dat");
	linkat(dir, "inner", AT_FDCWD, "linked", 0);
	symlink("a.dat", "sl");
	symlinkat("nowhere", dir, "dangling");
	readlink("sl", buffer, 100);
	readlinkat(dir, "dangling", buffer, 100);
	close(open("sl", O_RDONLY));
	open("sl", O_RDONLY | O_NOFOLLOW);
	lstat("sl", &st);
	truncate("a.dat", 70000);
	chmod("a.dat", 0600);
	fchmodat(dir, "inner", 0644, 0);
	chown("a.dat", -1, -1);
	lchown("sl", -1, -1);
	fchownat(dir, "inner", -1, -1, AT_SYMLINK_NOFOLLOW);
	utimes("a.dat", NULL);
	utimensat(dir, "inner", NULL, AT_SYMLINK_NOFOLLOW);
	setxattr("a.dat", "user.x", "1", 1, 0);
	getxattr("a.dat", "user.x", buffer, 10);
	listxattr("a.dat", buffer, 100);
	removexattr("a.dat", "user.x");
	statfs(".", &fs);
	fstatvfs(dir, &vfs);
	unlinkat(dir, "fifo", 0);
	unlinkat(dir, "deep", AT_REMOVEDIR);
	unlink("linked");
	unlink("absent");
	rmdir("dd");
	open("dd/../dd/./d.dat", O_RDONLY);
	open("/proc/self/status", O_RDONLY);
	fchdir(dir);
	close(open("inner", O_RDONLY));
	chdir("..");
	close(dir);
}

static void listing(void)
{
	DIR *dir = opendir(".");

	while (readdir(dir))
		;
	closedir(dir);
}

static void attributes_of_descriptors(void)
{
	int a = open("a.dat", O_RDWR);

	fsetxattr(a, "user.y", "22", 2, 0);
	fgetxattr(a, "user.y", buffer, 10);
	flistxattr(a, buffer, 100);
	fremovexattr(a, "user.y");
	close(a);
}

static void transfers(void)
{
	int a = open("a.dat", O_RDONLY), b = open("copy", O_RDWR | O_CREAT | O_TRUNC, 0644), p[2];
	off_t from = 100, to = 2000;

	pipe2(p, O_CLOEXEC);
	sendfile(b, a, &from, 5000);
	sendfile(b, a, NULL, 300);
	from = 40;
	copy_file_range(a, &from, b, &to, 3000, 0);
	copy_file_range(a, NULL, b, NULL, 30, 0);
	write(p[1], buffer, 200);
	to = 7000;
	splice(p[0], NULL, b, &to, 150, 0);
	read(p[0], buffer, 100);
	from = 12;
	splice(a, &from, p[1], NULL, 99, 0);
	read(p[0], buffer, 1000);
	close(p[0]);
	signal(SIGPIPE, SIG_IGN);
	write(p[1], buffer, 1);
	close(p[1]);
	close(b);
	close(a);
}

static void send_descriptor(int to, int fd)
{
	char control[CMSG_SPACE(sizeof(int))] = { 0 };
	char byte = 0;
	struct iovec part = { &byte, 1 };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = control,
		.msg_controllen = sizeof(control) };
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(header), &fd, sizeof(fd));
	sendmsg(to, &message, 0);
}

static int receive_descriptor(int from)
{
	char control[CMSG_SPACE(sizeof(int))] = { 0 }, byte;
	struct iovec part = { &byte, 1 };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = control,
		.msg_controllen = sizeof(control) };
	int fd = -1;

	recvmsg(from, &message, 0);
	if (CMSG_FIRSTHDR(&message))
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fd));
	return fd;
}

/* Several parts, several messages; fewer than there is room for, none, and some that cannot be read. */
static void messages(void)
{
	struct iovec parts[3] = { { buffer, 5 }, { buffer, 0 }, { buffer, 70 } }, rooms[2] = { { buffer, 10 }, { buffer, 1000 } };
	struct mmsghdr many[3] = { { .msg_hdr = { .msg_iov = parts, .msg_iovlen = 3 } }, { .msg_hdr = { .msg_iov = parts, .msg_iovlen = 1 } },
		{ .msg_hdr = { .msg_iov = parts + 2, .msg_iovlen = 1 } } };
	struct mmsghdr room[5] = { { .msg_hdr = { .msg_iov = rooms, .msg_iovlen = 2 } } };
	int pair[2];

	for (int i = 1; i < 5; i++)
		room[i] = room[0];
	socketpair(AF_UNIX, SOCK_DGRAM, 0, pair);
	sendmsg(pair[0], &many[0].msg_hdr, 0);
	recvmsg(pair[1], &room[0].msg_hdr, 0);
	recvmsg(pair[1], &room[0].msg_hdr, MSG_DONTWAIT);
	sendmmsg(pair[0], many, 3, 0);
	sendmmsg(pair[0], many, 0, 0);
	recvmmsg(pair[1], room, 2, 0, NULL);
	recvmmsg(pair[1], room, 5, MSG_DONTWAIT, NULL);
	recvmmsg(pair[1], room, 5, MSG_DONTWAIT, NULL);
	sendmsg(pair[0], nowhere, 0);
	sendmsg(999, &many[0].msg_hdr, 0);
	close(pair[0]);
	sendmmsg(pair[1], many, 3, MSG_NOSIGNAL);
	close(pair[1]);
}

/* A descriptor of ours, by the number that it has in another process; and received with several messages. */
static void others_descriptors(void)
{
	char control[2][CMSG_SPACE(sizeof(int))] = { 0 }, byte;
	struct iovec part = { &byte, 1 };
	struct mmsghdr room[2];
	int fd = open("a.dat", O_RDWR), pidfd = syscall(SYS_pidfd_open, getpid(), 0), got, pair[2];

	lseek(fd, 5, SEEK_SET);
	got = syscall(SYS_pidfd_getfd, pidfd, fd, 0);
	read(got, buffer, 7);
	close(fd);
	read(got, buffer, 8);
	socketpair(AF_UNIX, SOCK_DGRAM, 0, pair);
	send_descriptor(pair[0], got);
	send_descriptor(pair[0], pair[0]);
	close(got);
	for (int i = 0; i < 2; i++)
		room[i] = (struct mmsghdr){ .msg_hdr = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = control[i],
			.msg_controllen = sizeof(control[i]) } };
	recvmmsg(pair[1], room, 2, MSG_DONTWAIT, NULL);
	if (CMSG_FIRSTHDR(&room[0].msg_hdr))
		memcpy(&got, CMSG_DATA(CMSG_FIRSTHDR(&room[0].msg_hdr)), sizeof(got));
	read(got, buffer, 9);
	close(got);
	close(pidfd);
	dup2(998, pair[1]);
	write(pair[1], buffer, 4);
	close(pair[0]);
	close(pair[1]);
}

static void sockets(void)
{
	struct sockaddr_un name = { AF_UNIX, "sock" };
	int pair[2], listener, fd;

	socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
	send(pair[0], buffer, 33, 0);
	recv(pair[1], buffer, 100, 0);
	write(pair[1], buffer, 44);
	read(pair[0], buffer, 100);
	listener = socket(AF_UNIX, SOCK_STREAM, 0);
	bind(listener, (void *)&name, sizeof(name));
	listen(listener, 1);
	if (fork() == 0) {
		int s = socket(AF_UNIX, SOCK_STREAM, 0);

		connect(s, (void *)&name, sizeof(name));
		fd = open("a.dat", O_RDONLY);
		lseek(fd, 11, SEEK_SET);
		send_descriptor(s, fd);
		_exit(3);
	}
	fd = accept(listener, NULL, NULL);
	pair[0] = receive_descriptor(fd);
	read(pair[0], buffer, 64);
	close(pair[0]);
	close(fd);
	close(listener);
	wait(NULL);
	socket(AF_INET, 77, 0);
}

static void mappings(void)
{
	int a = open("a.dat", O_RDWR);
	char *m = mmap(NULL, 66000, PROT_READ | PROT_WRITE, MAP_SHARED, a, 0), *n;

	m[10] = 1;
	msync(m, 66000, MS_SYNC);
	n = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, a, 8192);
	close(a);
	munmap(n, 4096);
	munmap(m, 66000);
	m = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	msync(m, 4096, MS_ASYNC);
	munmap(m, 8192);
	mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, 99, 0);
	close(eventfd(0, 0));
	close(memfd_create("memory", 0));
}

static void *thread_writes(void *arg)
{
	int fd = (intptr_t)arg;

	for (int i = 0; i < 20; i++)
		pwrite(fd, buffer, 10 + i, i * 100);
	close(open("a.dat", O_RDONLY));
	return NULL;
}

static void threads(void)
{
	int fd = open("threads", O_RDWR | O_CREAT, 0644);
	pthread_t thread[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&thread[i], NULL, thread_writes, (void *)(intptr_t)fd);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	close(fd);
}

static void *thread_executes(void *arg)
{
	char *argv[] = { (char []){ "true" }, (char []){ "from a thread" }, NULL };

	(void)arg;
	execv("/bin/true", argv);
	return NULL;
}

static void programs(void)
{
	char *argv[] = { (char []){ "sh" }, (char []){ "-c" }, (char []){ "exec 3<a.dat; read x <&3; exit 5" }, NULL };
	pthread_t thread;
	pid_t pid = fork();
	extern char **environ;

	if (pid == 0) {
		pthread_create(&thread, NULL, thread_executes, NULL);
		pause();
	}
	waitpid(pid, NULL, 0);
	pid = vfork();
	if (pid == 0) {
		execv("/nonexistent/sh", argv);
		execv("/bin/sh", argv);
		_exit(1);
	}
	waitpid(pid, NULL, 0);
	posix_spawn(&pid, "./script", NULL, NULL, argv, environ);
	waitpid(pid, NULL, 0);
}

static void script(void)
{
	int fd = open("script", O_WRONLY | O_CREAT, 0755);

	write(fd, "#!/bin/sh\nread line <a.dat\n", 27);
	close(fd);
}

#ifdef __x86_64__
static long call32(long number, long a, long b, long c)
{
	long result;

	__asm__ volatile("int $0x80" : "=a"(result) : "a"(number), "b"(a), "c"(b), "d"(c) : "memory", "r8", "r9", "r10",
			 "r11");
	return result;
}

static long call32_of_5(long number, long a, long b, long c, long d, long e)
{
	long result;

	__asm__ volatile("int $0x80" : "=a"(result) : "a"(number), "b"(a), "c"(b), "d"(c), "S"(d), "D"(e) : "memory", "r8", "r9",
			 "r10", "r11");
	return result;
}

/* A call of sockets, of which the arguments are in memory. */
static long socketcall(uint32_t *low, long number, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
	low[0] = a;
	low[1] = b;
	low[2] = c;
	low[3] = d;
	return call32(102, number, (long)low, 0);
}

static void sockets32(char *low)
{
	uint32_t *args = (uint32_t *)(low + 1024), *pair = (uint32_t *)(low + 1200), *message = (uint32_t *)(low + 1300),
		*part = (uint32_t *)(low + 1400), data = (uintptr_t)low + 2000;

	socketcall(args, 8, AF_UNIX, SOCK_STREAM, 0, (uintptr_t)pair);
	socketcall(args, 9, pair[0], data, 40, 0);
	socketcall(args, 10, pair[1], data, 30, 0);
	part[0] = part[2] = data;
	part[1] = 6;
	part[3] = 50;
	message[2] = (uintptr_t)part;
	message[3] = 2;
	socketcall(args, 16, pair[0], (uintptr_t)message, 0, 0);
	socketcall(args, 17, pair[1], (uintptr_t)message, MSG_DONTWAIT, 0);
	socketcall(args, 1, AF_INET, 77, 0, 0);
	call32(6, socketcall(args, 1, AF_UNIX, SOCK_DGRAM, 0, 0), 0, 0);
	call32(6, pair[0], 0, 0);
	call32(6, pair[1], 0, 0);
}

static void positions32(char *low, int fd)
{
	uint32_t *mapping = (uint32_t *)(low + 1024);

	call32_of_5(140, fd, 1, 7, (long)low + 1500, SEEK_SET);
	call32_of_5(140, fd, -1, -9, (long)low + 1500, SEEK_CUR);
	call32_of_5(140, fd, -1, -9, (long)low + 1500, SEEK_SET);
	call32_of_5(180, fd, (long)low + 2000, 50, 5, 0);
	call32_of_5(181, fd, (long)low + 2000, 60, 6, 1);
	call32(106, (long)low, (long)low + 2000, 0);
	call32(107, (long)low, (long)low + 2000, 0);
	call32(108, fd, (long)low + 2000, 0);
	call32_of_5(383, AT_FDCWD, (long)low, 0, STATX_BASIC_STATS, (long)low + 2000);
	memcpy(mapping, (uint32_t []){ 0, 8192, PROT_READ, MAP_SHARED, fd, 4096 }, 24);
	call32(91, call32(90, (long)mapping, 0, 0), 8192, 0);
}

static void calls32(void)
{
	char *low = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	long fd;

	strcpy(low, "a.dat");
	fd = call32(5, (long)low, O_RDWR, 0);
	call32(3, fd, (long)low + 100, 50);
	call32(4, fd, (long)low + 100, 60);
	call32(19, fd, 5, SEEK_SET);
	call32(33, (long)low, R_OK, 0);
	call32(195, (long)low, (long)low + 200, 0);
	positions32(low, fd);
	sockets32(low);
	call32(6, fd, 0, 0);
}
#else
static void calls32(void)
{
}
#endif

/* Nothing of a signal is lost: the read is interrupted. */
static void on_alarm(int number)
{
	(void)number;
}

static void interrupted(void)
{
	struct sigaction action = { .sa_handler = on_alarm };
	struct itimerval soon = { .it_value = { .tv_usec = 20000 }, .it_interval = { .tv_usec = 20000 } }, never = { 0 };
	int p[2];

	pipe(p);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &soon, NULL);
	read(p[0], buffer, 10);
	setitimer(ITIMER_REAL, &never, NULL);
	close(p[0]);
	close(p[1]);
}

/* An end without closing anything, some of it doubled. */
static void left_open(void)
{
	int a = open("a.dat", O_RDONLY);

	dup(a);
	open("log", O_RDONLY | O_CLOEXEC);
	mmap(NULL, 4096, PROT_READ, MAP_SHARED, a, 0);
	close(open("sl", O_RDONLY));
}

int main(void)
{
	buffer[20] = '\n'; /* shells read lines byte by byte */
	script();
	data();
	appends();
	descriptors();
	locks();
	listing();
	attributes_of_descriptors();
	transfers();
	paths();
	sockets();
	messages();
	others_descriptors();
	mappings();
	threads();
	programs();
	calls32();
	interrupted();
	left_open();
	return 0;
}
