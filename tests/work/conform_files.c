/* SPDX-License-Identifier: MIT */

/* Scenes with one file: holes, mappings, files without a name, descriptors and their flags,
 * attributes of ioctl(2), asynchronous I/O, FIFOs and sockets. */

#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "conform.h"
#include "conform_box.h"

static char data[1 << 20];

static bool put_f(void)
{
	return put_file("f", 0666, CONTENT, OWNER_ID, GROUP_ID);
}

static void step_data(const char *what, const void *bytes, ssize_t n)
{
	char text[100];

	if (n < 0)
		step(what, -errno);
	else
		step_text(what, "%zd %s", n, data_text(bytes, n, text, sizeof(text)));
}

static void step_read(const char *what, int fd, size_t size, off_t at)
{
	step_data(what, data, pread(fd, data, size, at));
}

static void step_stat(const char *what, int fd)
{
	step_text(what, "%s", stat_text(fd, NULL));
}

static char *map_of(int fd, size_t size, int protection, int flags)
{
	char *map = mmap(NULL, size, protection, flags, fd, 0);

	step("mmap", map == MAP_FAILED ? -errno : 0);
	return map == MAP_FAILED ? NULL : map;
}

/* ---- holes ---- */

static void step_blocks(const char *what, int fd)
{
	struct stat st;

	fsync(fd); /* before that it is the file system's guess */
	fstat(fd, &st);
	step_text(what, "%lld bytes in %lld blocks", (long long)st.st_size,
		(long long)st.st_blocks);
}

static void holes(void)
{
	int fd = open("holes", O_RDWR | O_CREAT, 0644);
	static const off_t places[] = { 0, 1, 65535, 65536, 131072, 262143, 262144, 300000, 327679,
		327680, 327681, 1 << 30 };
	char what[60];

	memset(data, 'd', sizeof(data));
	step("data at the start", pwrite(fd, data, 65536, 0));
	step("data after a hole", pwrite(fd, data, 65536, 262144));
	for (size_t i = 0; i < COUNT(places); i++) {
		snprintf(what, sizeof(what), "data from %ld", (long)places[i]);
		step(what, result_of(lseek(fd, places[i], SEEK_DATA)));
		snprintf(what, sizeof(what), "hole from %ld", (long)places[i]);
		step(what, result_of(lseek(fd, places[i], SEEK_HOLE)));
	}
	step_blocks("with a hole", fd);
	step("punch", result_of(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 4096,
		8192)));
	step("hole", result_of(lseek(fd, 0, SEEK_HOLE)));
	step("data", result_of(lseek(fd, 4096, SEEK_DATA)));
	step_blocks("punched", fd);
	step_read("into the hole", fd, 20000, 2000);
	step("zeros", result_of(fallocate(fd, FALLOC_FL_ZERO_RANGE, 20480, 4096)));
	step_read("into the zeros", fd, 10, 20475);
	step("reserve", result_of(fallocate(fd, FALLOC_FL_KEEP_SIZE, 327680, 65536)));
	step_blocks("reserved", fd);
	step("grow", result_of(ftruncate(fd, 1 << 20)));
	step("hole at the end", result_of(lseek(fd, 262144, SEEK_HOLE)));
	step("data at the end", result_of(lseek(fd, 400000, SEEK_DATA)));
	step_blocks("grown", fd);
	step("shrink", result_of(ftruncate(fd, 100)));
	step("grow again", result_of(ftruncate(fd, 200)));
	step_read("what it had", fd, 1000, 0);
	close(fd);
}

/* ---- mappings ---- */

static void shared_map(void)
{
	int fd = open("f", O_RDWR), other;
	char *map, *second;

	step("grow", result_of(ftruncate(fd, 10000)));
	map = map_of(fd, 10000, PROT_READ | PROT_WRITE, MAP_SHARED);
	other = open("f", O_RDWR);
	second = map_of(other, 10000, PROT_READ, MAP_SHARED);
	if (!map || !second)
		return;
	memcpy(map + 10, "stored", 6);
	step_read("store is read", fd, 30, 0);
	step_read("store is read by another", other, 30, 0);
	step_data("store is seen by another", second, 30);
	step("write", pwrite(other, "written", 7, 12));
	step_data("write is seen", map, 30);
	step_data("write is seen by another", second, 30);
	memcpy(map + 9000, "far", 3);
	step("msync", result_of(msync(map, 10000, MS_SYNC)));
	step_read("far store is read", other, 100, 8990);
	step("O_TRUNC", result_of(ftruncate(other, 5000)));
	step("grow again", result_of(ftruncate(other, 10000)));
	step_data("zeros are seen", map + 8990, 100);
	step("punch", result_of(fallocate(other, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
		4096)));
	step_data("hole is seen", map, 30);
	step("madvise", result_of(madvise(map, 4096, MADV_DONTNEED)));
	step("append", result_of(pwrite(other, "end", 3, 10000)));
	step_data("and what is behind", map + 9990, 13);
	close(fd);
	memcpy(map + 100, "after close", 11);
	step_read("store after close is read", other, 20, 95);
	munmap(map, 10000);
	munmap(second, 10000);
	step_read("and after unmapping", other, 20, 95);
	step_stat("in the end", other);
	close(other);
}

static void private_map(void)
{
	int fd = open("f", O_RDONLY);
	char *map = map_of(fd, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE);

	if (!map)
		return;
	memcpy(map, "private", 7);
	step_read("store is not read", fd, 20, 0);
	step_data("but seen", map, 20);
	step("mprotect", result_of(mprotect(map, 4096, PROT_READ | PROT_EXEC)));
	munmap(map, 4096);
	close(fd);
}

/* Two processes write to one page, by turns. */
static void map_of_two(void)
{
	int fd = open("f", O_RDWR), status;
	char *map = map_of(fd, 4096, PROT_READ | PROT_WRITE, MAP_SHARED);
	pid_t child;

	if (!map)
		return;
	memcpy(map, "parent", 6);
	child = fork();
	if (child == 0) {
		int own = open("f", O_RDWR);
		char *mine = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, own, 0);

		step_data("child reads", data, pread(own, data, 10, 0));
		memcpy(mine + 3, "child", 5);
		step("child writes", pwrite(own, "!", 1, 9));
		_exit(0);
	}
	waitpid(child, &status, 0);
	step_data("parent sees", map, 12);
	step_read("parent reads", fd, 12, 0);
	munmap(map, 4096);
	close(fd);
}

static void touch_beyond(void *arg)
{
	*(volatile char *)arg = 'x';
}

static void read_beyond(void *arg)
{
	(void)*(volatile char *)arg;
}

static void faults(void)
{
	int fd = open("f", O_RDWR);
	char *map = map_of(fd, 8192, PROT_READ | PROT_WRITE, MAP_SHARED);

	if (!map)
		return;
	apart(touch_beyond, map + 100);
	note(" beyond the end of the file");
	apart(touch_beyond, map + 4096);
	ftruncate(fd, 8192);
	note(" grown");
	apart(touch_beyond, map + 4096);
	ftruncate(fd, 0);
	note(" truncated");
	apart(read_beyond, map);
	munmap(map, 8192);
	note(" read only");
	map = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	apart(touch_beyond, map);
	close(fd);
}

/* sendfile(2) after a store, and a store after sendfile(2). */
static void map_and_send(void)
{
	int fd = open("f", O_RDWR), to = open("to", O_RDWR | O_CREAT, 0600);
	char *map = map_of(fd, 4096, PROT_READ | PROT_WRITE, MAP_SHARED);
	off_t at = 0;

	if (!map)
		return;
	step("send", result_of(sendfile(to, fd, &at, 20)));
	memcpy(map, "stored", 6);
	at = 0;
	step("send again", result_of(sendfile(to, fd, &at, 20)));
	step_read("what was sent", to, 100, 0);
	step("write", pwrite(fd, "written", 7, 3));
	at = 0;
	step("send again", result_of(sendfile(to, fd, &at, 20)));
	step_read("what was sent then", to, 100, 0);
	step_data("seen", map, 20);
	munmap(map, 4096);
	close(fd);
	close(to);
}

/* ---- a file without a name ---- */

static void nameless(void)
{
	char path[40];
	int fd = open("f", O_RDWR), again;
	char *map;

	step("unlink", result_of(unlink("f")));
	step_stat("fstat", fd);
	step("write", pwrite(fd, "still there", 11, 5));
	step("fchmod", result_of(fchmod(fd, 0600)));
	step("fchown", result_of(fchown(fd, -1, getegid())));
	step("ftruncate", result_of(ftruncate(fd, 50)));
	step("futimens", result_of(futimens(fd, NULL)));
	step("fsetxattr", result_of(fsetxattr(fd, "user.a", "b", 1, 0)));
	step_data("fgetxattr", data, fgetxattr(fd, "user.a", data, 10));
	step("fallocate", result_of(fallocate(fd, 0, 0, 60)));
	step("fsync", result_of(fsync(fd)));
	step_stat("fstat then", fd);
	map = map_of(fd, 60, PROT_READ | PROT_WRITE, MAP_SHARED);
	if (map) {
		memcpy(map, "map", 3);
		munmap(map, 60);
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	again = open(path, O_RDWR);
	step("opened again", again < 0 ? -errno : 0);
	step_read("read by the second", again, 100, 0);
	step("written by the second", result_of(pwrite(again, "second", 6, 20)));
	close(again);
	step("truncated by its path", result_of(truncate(path, 40)));
	step("chmod by its path", result_of(chmod(path, 0640)));
	again = open(path, O_RDONLY | O_TRUNC);
	step("opened truncating", again < 0 ? -errno : 0);
	close(again);
	step("linkat", result_of(linkat(AT_FDCWD, path, AT_FDCWD, "back", AT_SYMLINK_FOLLOW)));
	step("linkat by descriptor", result_of(linkat(fd, "", AT_FDCWD, "back", AT_EMPTY_PATH)));
	step("flock", result_of(flock(fd, LOCK_EX | LOCK_NB)));
	step_stat("fstat in the end", fd);
	step("a new one", result_of(close(open("f", O_WRONLY | O_CREAT | O_EXCL, 0600))));
	step_stat("is another", fd);
	close(fd);
}

/* Replaced by a rename while it is open. */
static void replaced(void)
{
	int fd = open("f", O_RDWR), other = open("other", O_RDWR | O_CREAT, 0644);

	step("write", result_of(write(other, "new content", 11)));
	step("rename", result_of(rename("other", "f")));
	step_stat("old", fd);
	step_read("old content", fd, 10, 0);
	step_text("by name", "%s", stat_text(-1, "f"));
	step("write to the old", result_of(write(fd, "old", 3)));
	step_read("new content", other, 20, 0);
	step("fchmod the old", result_of(fchmod(fd, 0600)));
	step_text("by name then", "%s", stat_text(-1, "f"));
	close(fd);
	close(other);
}

/* ---- several descriptors ---- */

static void descriptors(void)
{
	int a = open("f", O_RDWR), b = dup(a), c = open("f", O_RDWR | O_APPEND), status;

	step("write", write(a, "one", 3));
	step("of the copy", lseek(b, 0, SEEK_CUR));
	step("append", write(c, "two", 3));
	step("where", lseek(c, 0, SEEK_CUR));
	step("append at the start", result_of(pwrite(c, "three", 5, 0)));
	step("read by the appender", lseek(c, 0, SEEK_SET));
	step_data("what", data, read(c, data, 100));
	if (fork() == 0) {
		lseek(a, 40, SEEK_SET);
		_exit(write(c, "child", 5) != 5);
	}
	wait(&status);
	step("moved by a child", lseek(a, 0, SEEK_CUR));
	step("close", result_of(close(a)));
	step("write by the copy", write(b, "four", 4));
	step_read("all", b, 1000, 0);
	step("F_GETFL", fcntl(c, F_GETFL));
	step("F_SETFD", fcntl(c, F_SETFD, FD_CLOEXEC));
	step("F_GETFD", fcntl(c, F_GETFD));
	step("poll", poll(&(struct pollfd){ .fd = b, .events = POLLIN | POLLOUT }, 1, 0));
	close(b);
	close(c);
}

/* ---- ioctl(2) ---- */

static void step_flags(const char *what, int fd)
{
	int flags = 0;
	long r = ioctl(fd, FS_IOC_GETFLAGS, &flags);

	step_text(what, "%ld %x", result_of(r), flags);
}

static long set_flags(int fd, int flags)
{
	return result_of(ioctl(fd, FS_IOC_SETFLAGS, &flags));
}

static void flags_of(const char *path, bool is_directory)
{
	int fd = open(path, O_RDONLY), flags = 0;

	step(path, fd < 0 ? -errno : 0);
	step_flags("flags", fd);
	ioctl(fd, FS_IOC_GETFLAGS, &flags);
	step("set nodump", set_flags(fd, flags | FS_NODUMP_FL));
	step_flags("with nodump", fd);
	step("set noatime", set_flags(fd, flags | FS_NOATIME_FL));
	step_flags("with noatime", fd);
	step("set append-only", set_flags(fd, flags | FS_APPEND_FL));
	step("truncate", result_of(truncate(path, 0)));
	step("open for writing", result_of(open(path, O_WRONLY)));
	step("set immutable", set_flags(fd, flags | FS_IMMUTABLE_FL));
	step_flags("with immutable", fd);
	step("chmod", result_of(chmod(path, 0600)));
	step("rename", result_of(rename(path, "renamed")));
	step("remove", result_of(unlinkat(AT_FDCWD, path, is_directory ? AT_REMOVEDIR : 0)));
	step("link", result_of(link(path, "linked")));
	step("setxattr", result_of(setxattr(path, "user.a", "b", 1, 0)));
	step("clear", set_flags(fd, flags));
	step_flags("cleared", fd);
	step_stat("in the end", fd);
	close(fd);
}

static bool prepare_flags(void)
{
	return put_f() && put_dir("d", 0777, OWNER_ID, GROUP_ID);
}

static void ioctl_flags(void)
{
	flags_of("f", false);
	flags_of("d", true);
}

static void ioctls(void)
{
	int fd = open("f", O_RDWR), n = -1;
	struct fsxattr extended = { 0 };
	char termios[100];
	long long size = -1;

	step("unknown", result_of(ioctl(fd, _IOWR('z', 2, int), &n)));
	step("unknown, small", result_of(ioctl(fd, _IO('z', 1))));
	step("TCGETS", result_of(ioctl(fd, TCGETS, termios)));
	step("isatty", isatty(fd));
	step("FS_IOC_FSGETXATTR", result_of(ioctl(fd, FS_IOC_FSGETXATTR, &extended)));
	step_text("is", "%x project %u", extended.fsx_xflags, extended.fsx_projid);
	step("FS_IOC_FSSETXATTR", result_of(ioctl(fd, FS_IOC_FSSETXATTR, &extended)));
	n = 0;
	step("FIONREAD", result_of(ioctl(fd, FIONREAD, &n)));
	step("bytes", n);
	lseek(fd, 10, SEEK_SET);
	ioctl(fd, FIONREAD, &n);
	step("bytes from 10", n);
	step("FIOQSIZE", result_of(ioctl(fd, FIOQSIZE, &size)));
	n = 1;
	step("FIONBIO", result_of(ioctl(fd, FIONBIO, &n)));
	step("F_GETFL", fcntl(fd, F_GETFL));
	step("FIOCLEX", result_of(ioctl(fd, FIOCLEX)));
	step("F_GETFD", fcntl(fd, F_GETFD));
	step("FIOASYNC", result_of(ioctl(fd, FIOASYNC, &n)));
	close(fd);
	fd = open(".", O_RDONLY);
	step("unknown of a directory", result_of(ioctl(fd, _IOWR('z', 2, int), &n)));
	step("FIONREAD of a directory", result_of(ioctl(fd, FIONREAD, &n)));
	close(fd);
}

/* ---- asynchronous I/O of the kernel ---- */

static void submit(aio_context_t context, int fd, int what, char *buffer, size_t n, off_t at)
{
	struct iocb call = { .aio_fildes = fd, .aio_lio_opcode = what, .aio_buf = (uintptr_t)buffer,
		.aio_nbytes = n, .aio_offset = at };
	struct iocb *calls[] = { &call };
	struct io_event event = { 0 };

	step("io_submit", result_of(syscall(SYS_io_submit, context, 1, calls)));
	step("io_getevents", result_of(syscall(SYS_io_getevents, context, 1, 1, &event, NULL)));
	step("gave", event.res);
}

static void aio(void)
{
	int fd = open("f", O_RDWR);
	aio_context_t context = 0;

	step("io_setup", result_of(syscall(SYS_io_setup, 4, &context)));
	if (!context)
		return;
	submit(context, fd, IOCB_CMD_PREAD, data, 100, 10);
	step_data("read", data, 30);
	submit(context, fd, IOCB_CMD_PWRITE, (char *)"asynchronous", 12, 60);
	submit(context, fd, IOCB_CMD_FSYNC, NULL, 0, 0);
	syscall(SYS_io_destroy, context);
	step_read("all", fd, 200, 0);
	close(fd);
}

/* ---- sizes of requests ---- */

static void large_io(void)
{
	static char big[5 << 20], back[5 << 20];
	int fd = open("large", O_RDWR | O_CREAT, 0644);
	struct iovec parts[64];

	for (size_t i = 0; i < sizeof(big); i++)
		big[i] = i * 2654435761u >> 13;
	step("write", result_of(write(fd, big, sizeof(big))));
	step("read", result_of(pread(fd, back, sizeof(back), 0)));
	step("equal", memcmp(big, back, sizeof(big)) == 0);
	step("odd write", result_of(pwrite(fd, big, (3 << 20) + 1, 12345)));
	step("odd read", result_of(pread(fd, back, (3 << 20) + 1, 12345)));
	step("equal", memcmp(big, back, (3 << 20) + 1) == 0);
	for (int i = 0; i < 64; i++)
		parts[i] = (struct iovec){ back + i * 1000, 1000 };
	step("vector", result_of(preadv(fd, parts, 64, 100)));
	step_data("is", back, 64000);
	step("past the end", result_of(pread(fd, back, sizeof(back), sizeof(big) - 10)));
	step("by one syscall", result_of(sendfile(open("copy", O_WRONLY | O_CREAT, 0600), fd,
		&(off_t){ 0 }, sizeof(big))));
	step_stat("size", fd);
	close(fd);
	unlink("large");
	unlink("copy");
}

/* ---- FIFOs and sockets among processes ---- */

static bool prepare_fifo(void)
{
	return mkfifo("fifo", 0666) == 0 && put_owner("fifo", 0666, OWNER_ID, GROUP_ID);
}

static void fifo(void)
{
	int reader, writer = open("fifo", O_WRONLY | O_NONBLOCK), status;

	step("writer without a reader", writer < 0 ? -errno : 0);
	reader = open("fifo", O_RDONLY | O_NONBLOCK);
	step("reader", reader < 0 ? -errno : 0);
	writer = open("fifo", O_WRONLY | O_NONBLOCK);
	step("writer", writer < 0 ? -errno : 0);
	step("read", result_of(read(reader, data, 10)));
	step("write", result_of(write(writer, "through", 7)));
	step("FIONREAD", ioctl(reader, FIONREAD, data) == 0 ? *(int *)data : -errno);
	step_data("read", data, read(reader, data, 100));
	if (fork() == 0) {
		int own = open("fifo", O_WRONLY);

		_exit(write(own, "of a child", 10) != 10);
	}
	wait(&status);
	step_data("read", data, read(reader, data, 100));
	close(writer);
	step("end", result_of(read(reader, data, 100)));
	close(reader);
	step_text("stat", "%s", stat_text(-1, "fifo"));
	step("unlink", result_of(unlink("fifo")));
}

static void sockets(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = "socket" };
	int server = socket(AF_UNIX, SOCK_STREAM, 0), client = socket(AF_UNIX, SOCK_STREAM, 0), fd;

	step("bind", result_of(bind(server, (void *)&address, sizeof(address))));
	step("bind again", result_of(bind(client, (void *)&address, sizeof(address))));
	step("connect", result_of(connect(client, (void *)&address, sizeof(address))));
	step("listen", result_of(listen(server, 1)));
	step("connect", result_of(connect(client, (void *)&address, sizeof(address))));
	fd = accept(server, NULL, NULL);
	step("write", result_of(write(client, "hello", 5)));
	step_data("read", data, read(fd, data, 100));
	step_text("stat", "%s", stat_text(-1, "socket"));
	step("open", result_of(open("socket", O_RDWR)));
	step("chmod", result_of(chmod("socket", 0)));
	close(client);
	client = socket(AF_UNIX, SOCK_STREAM, 0);
	step("connect without rights", result_of(connect(client, (void *)&address,
		sizeof(address))));
	step("rename", result_of(rename("socket", "moved")));
	step("connect to the old name", result_of(connect(client, (void *)&address,
		sizeof(address))));
	close(server);
	step("unlink", result_of(unlink("moved")));
}

/* ---- */

static const struct scene scenes[] = {
	{ "holes", holes, FEW, NULL },
	{ "shared mapping", shared_map, FEW, put_f },
	{ "private mapping", private_map, FEW, put_f },
	{ "mapping of two", map_of_two, FEW, put_f },
	{ "faults", faults, FEW, put_f },
	{ "mapping and sendfile", map_and_send, FEW, put_f },
	{ "without a name", nameless, ALL, put_f },
	{ "replaced", replaced, FEW, put_f },
	{ "descriptors", descriptors, FEW, put_f },
	{ "flags", ioctl_flags, ALL, prepare_flags },
	{ "ioctl", ioctls, FEW, put_f },
	{ "aio", aio, FEW, put_f },
	{ "large", large_io, OWNER, NULL },
	{ "fifo", fifo, FEW, prepare_fifo },
	{ "socket", sockets, FEW, NULL },
};

void run_files(void)
{
	run_scenes("files", scenes, COUNT(scenes));
}
