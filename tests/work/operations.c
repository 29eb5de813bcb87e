/* SPDX-License-Identifier: MIT */

/*
 * operations DIR: does each kind of operation in DIR (which is in a mount) and prints the record
 * that each must leave, with paths relative to DIR:
 *
 *	name path path2 result offset length bytes
 *
 * '-' is NULL.  What the kernel does on its own account around them (lookups, attributes) is not
 * printed.
 */

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <unistd.h>

static char data[1 << 20];

static void record(const char *name, const char *path, const char *path2, long result)
{
	printf("%s %s %s %ld - - -\n", name, path, path2, result);
}

static void moved(const char *name, const char *path, long offset, long length, long bytes)
{
	printf("%s %s - %ld %ld %ld %ld\n", name, path, bytes, offset, length, bytes);
}

/* What a call returned, as the trace has it. */
static long result_of(long returned)
{
	return returned < 0 ? -errno : returned;
}

static int opened(const char *path, int flags, mode_t mode)
{
	int fd = open(path, flags, mode);

	if (fd < 0)
		err(1, "%s", path);
	record(flags & O_CREAT ? "create" : "open", path, "-", 0);
	return fd;
}

static void closed(int fd, const char *path)
{
	close(fd);
	record("flush", path, "-", 0);
}

static void reads_and_writes(void)
{
	int fd = opened("data", O_RDWR | O_CREAT | O_TRUNC, 0644);
	struct iovec parts[2] = { { data, 300 }, { data, 200 } };

	moved("write", "data", 0, 1000, write(fd, data, 1000));
	moved("write", "data", 1000, 1, write(fd, data, 1));
	moved("write", "data", 5000, 3, pwrite(fd, data, 3, 5000));
	moved("write", "data", 1001, 500, writev(fd, parts, 2));
	moved("write", "data", 10000, 200000, pwrite(fd, data, 200000, 10000));
	moved("read", "data", 0, 100, pread(fd, data, 100, 0));
	moved("read", "data", 0, 100, pread(fd, data, 100, 0));
	moved("read", "data", 200000, 65536, pread(fd, data, 65536, 200000));
	moved("read", "data", 300000, 10, pread(fd, data, 10, 300000));
	closed(fd, "data");
}

static void appends(void)
{
	int fd = opened("log", O_WRONLY | O_CREAT | O_APPEND, 0600);

	moved("write", "log", 0, 10, write(fd, data, 10));
	moved("write", "log", 10, 20, write(fd, data, 20));
	closed(fd, "log");
	fd = opened("log", O_WRONLY | O_APPEND, 0);
	moved("write", "log", 30, 5, write(fd, data, 5));
	closed(fd, "log");
}

static void names(void)
{
	char target[64];

	record("mkdir", "dir", "-", result_of(mkdir("dir", 0755)));
	record("link", "data", "dir/hard", result_of(link("data", "dir/hard")));
	record("symlink", "soft", "some/where", result_of(symlink("some/where", "soft")));
	record("readlink", "soft", "-", result_of(readlink("soft", target, sizeof(target))));
	record("mknod", "fifo", "-", result_of(mkfifo("fifo", 0600)));
	record("rename", "log", "dir/log", result_of(rename("log", "dir/log")));
	record("rename", "dir/log", "log", result_of(rename("dir/log", "log")));
	record("unlink", "soft", "-", result_of(unlink("soft")));
	record("unlink", "fifo", "-", result_of(unlink("fifo")));
	record("rmdir", "dir", "-", result_of(rmdir("dir")));
	record("unlink", "dir/hard", "-", result_of(unlink("dir/hard")));
	record("rename", "dir", "moved", result_of(rename("dir", "moved")));
	record("rmdir", "moved", "-", result_of(rmdir("moved")));
}

static void attributes(void)
{
	const struct timespec times[2] = { { .tv_sec = 1000 }, { .tv_sec = 2000, .tv_nsec = 5 } };
	char value[64];

	record("chmod", "data", "-", result_of(chmod("data", 0640)));
	record("chown", "data", "-", result_of(chown("data", geteuid(), getegid())));
	record("truncate", "data", "-", result_of(truncate("data", 5000)));
	record("utimens", "data", "-", result_of(utimensat(AT_FDCWD, "data", times, 0)));
	record("setxattr", "data", "-", result_of(setxattr("data", "user.a", "value", 5, 0)));
	record("getxattr", "data", "-", result_of(getxattr("data", "user.a", value, 64)));
	record("listxattr", "data", "-", result_of(listxattr("data", value, 64)));
	record("removexattr", "data", "-", result_of(removexattr("data", "user.a")));
	record("removexattr", "data", "-", result_of(removexattr("data", "user.a")));
}

static void on_descriptors(void)
{
	int fd = opened("data", O_RDWR, 0), copy;

	record("fallocate", "data", "-", result_of(fallocate(fd, 0, 0, 8192)));
	record("lseek", "data", "-", result_of(lseek(fd, 0, SEEK_DATA)));
	record("truncate", "data", "-", result_of(ftruncate(fd, 4096)));
	record("fsync", "data", "-", result_of(fsync(fd)));
	record("fsync", "data", "-", result_of(fdatasync(fd)));
	copy = opened("copy", O_WRONLY | O_CREAT | O_EXCL, 0600);
	moved("copy", "copy", 0, 4096, copy_file_range(fd, NULL, copy, NULL, 4096, 0));
	closed(copy, "copy");
	closed(fd, "data");
}

static void failures(void)
{
	record("rmdir", "full", "-", (mkdir("full", 0700), mkdir("full/sub", 0700),
		puts("mkdir full - 0 - - -\nmkdir full/sub - 0 - - -"), result_of(rmdir("full"))));
	record("rmdir", "full/sub", "-", result_of(rmdir("full/sub")));
	record("rmdir", "full", "-", result_of(rmdir("full")));
}

int main(int argc, char **argv)
{
	if (argc != 2 || chdir(argv[1]) < 0)
		errx(2, "usage: operations DIR");
	reads_and_writes();
	appends();
	names();
	attributes();
	on_descriptors();
	failures();
	return 0;
}
