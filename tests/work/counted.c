/* SPDX-License-Identifier: MIT */

/*
 * counted [--whole] DIR ROUNDS SEED: does operations of all kinds in DIR, which is its own, chosen
 * at random, and prints what it did:
 *
 *	name done failed bytes
 *
 * with the names that a trace has for them, and the bytes of those that move data.  What the kernel
 * asks on its own account (lookups, attributes, ACLs) is not among them.
 *
 *	--whole  reads only whole files that have just been opened, so that also the page cache must
 *		 ask for each byte once
 */

#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "rng.h"

#define OPERATIONS(X)                                                                          \
	X(chmod) X(chown) X(truncate) X(utimens) X(create) X(open) X(read) X(write) X(flush)    \
	X(release) X(fsync) X(opendir) X(readdir) X(releasedir) X(mkdir) X(mknod) X(rmdir)      \
	X(unlink) X(rename) X(link) X(symlink) X(readlink) X(getxattr) X(setxattr)              \
	X(listxattr) X(removexattr) X(statfs) X(fallocate) X(copy) X(lseek) X(ioctl) X(tmpfile)

enum operation {
#define X(name) DID_##name,
	OPERATIONS(X)
#undef X
	DID_MAX
};

static const char *const names[] = {
#define X(name) #name,
	OPERATIONS(X)
#undef X
};

#define FILES 8
#define LARGEST 300000

static struct {
	long done, failed, bytes;
} counts[DID_MAX];

static bool whole;
static char data[LARGEST];

static long size(void)
{
	static const long limits[] = { 10, 4096, 5000, 70000, LARGEST };

	return 1 + below(limits[below(5)]);
}

/* ---- each call, counted */

static long did(enum operation operation, long result)
{
	if (result < 0)
		counts[operation].failed++;
	else
		counts[operation].done++;
	return result;
}

static long moved(enum operation operation, long result)
{
	if (did(operation, result) > 0)
		counts[operation].bytes += result;
	return result;
}

/* What must succeed, for all that follows to be what is counted. */
static long surely(const char *what, long result)
{
	if (result < 0)
		err(1, "%s", what);
	return result;
}

static int opened(const char *path, int flags)
{
	return surely(path, did(DID_open, open(path, flags | O_CLOEXEC)));
}

static int created(const char *path, int flags)
{
	int fd = open(path, flags | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

	return surely(path, did(DID_create, fd));
}

/* Each descriptor is flushed, the last one released. */
static void closed(int fd)
{
	if (one_in(4))
		did(DID_flush, surely("close", close(surely("dup", dup(fd)))));
	did(DID_flush, surely("close", close(fd)));
	did(DID_release, 0);
}

static void written(int fd, long n)
{
	moved(DID_write, surely("write", write(fd, data, n)));
}

/* A file of some kilobytes, and its name. */
static const char *made(void)
{
	static char names_made[FILES][32];
	static int turn;
	static long number;
	char *name = names_made[turn++ % FILES];
	int fd;

	snprintf(name, sizeof(names_made[0]), "file.%ld", number++);
	fd = created(name, O_WRONLY | (one_in(3) ? O_APPEND : 0));
	for (int i = below(4); i >= 0; i--)
		written(fd, size());
	closed(fd);
	return name;
}

static void removed(const char *name)
{
	did(DID_unlink, surely(name, unlink(name)));
}

/* ---- what is done in a round */

static void read_whole(const char *name, long piece)
{
	int fd = opened(name, O_RDONLY);

	while (moved(DID_read, surely("read", read(fd, data, piece))) > 0)
		;
	closed(fd);
}

static void do_reading(void)
{
	const char *name = made();
	int fd;

	read_whole(name, 1 + below(LARGEST));
	if (!whole) {
		fd = opened(name, O_RDWR);
		for (int i = below(9); i >= 0; i--)
			moved(DID_read, surely("pread", pread(fd, data, size(), size())));
		written(fd, size());
		closed(fd);
	}
	removed(name);
}

static void do_writing(void)
{
	const char *name = made();
	int fd = opened(name, O_WRONLY | (one_in(2) ? O_TRUNC : 0));

	for (int i = below(9); i >= 0; i--)
		moved(DID_write, surely("pwrite", pwrite(fd, data, size(), size())));
	did(DID_truncate, ftruncate(fd, size()));
	did(DID_fallocate, fallocate(fd, 0, size(), size()));
	did(DID_fsync, one_in(2) ? fsync(fd) : fdatasync(fd));
	closed(fd);
	did(DID_truncate, surely("truncate", truncate(name, size())));
	removed(name);
}

static void do_names(void)
{
	const char *name = made(), *other = made();
	char target[64];

	did(DID_mkdir, surely("mkdir", mkdir("dir", 0755)));
	did(DID_link, surely("link", link(name, "dir/hard")));
	did(DID_rename, renameat2(AT_FDCWD, name, AT_FDCWD, other, RENAME_EXCHANGE));
	did(DID_rename, surely("rename", rename(name, other)));
	did(DID_symlink, surely("symlink", symlink("some/where", "soft")));
	for (int i = below(3); i >= 0; i--)
		did(DID_readlink, surely("readlink", readlink("soft", target, sizeof(target))));
	did(DID_mknod, surely("mkfifo", mkfifo("dir/fifo", 0600)));
	did(DID_rmdir, rmdir("dir"));
	removed("dir/fifo");
	removed("dir/hard");
	removed("soft");
	removed(other);
	did(DID_rmdir, surely("rmdir", rmdir("dir")));
}

static void do_attributes(void)
{
	const struct timespec times[2] = { { .tv_sec = 1000 }, { .tv_sec = 2000, .tv_nsec = 5 } };
	const char *name = made();
	char value[64];
	struct statvfs vfs;

	did(DID_chmod, surely("chmod", chmod(name, 0600 | below(0100))));
	did(DID_chown, surely("chown", chown(name, geteuid(), getegid())));
	did(DID_utimens, surely("utimensat", utimensat(AT_FDCWD, name, times, 0)));
	did(DID_setxattr, setxattr(name, "user.a", "value", 5, 0));
	for (int i = below(3); i >= 0; i--)
		did(DID_getxattr, getxattr(name, "user.a", value, sizeof(value)));
	did(DID_listxattr, listxattr(name, value, sizeof(value)));
	did(DID_removexattr, removexattr(name, "user.a"));
	did(DID_removexattr, removexattr(name, "user.a"));
	did(DID_statfs, statvfs(name, &vfs));
	removed(name);
}

static void do_descriptors(void)
{
	const char *name = made(), *other = made();
	int in = opened(name, O_RDONLY), out = opened(other, O_WRONLY);
	loff_t at = 0;
	long version;

	did(DID_lseek, lseek(in, 0, SEEK_DATA));
	did(DID_lseek, lseek(in, 0, SEEK_HOLE));
	did(DID_lseek, lseek(in, 10 * LARGEST, SEEK_DATA));
	did(DID_ioctl, ioctl(in, FS_IOC_GETVERSION, &version));
	for (long n; (n = surely("copy", copy_file_range(in, &at, out, NULL, 50000, 0))) > 0;)
		moved(DID_copy, n); /* at the end the kernel does not ask */
	did(DID_chmod, surely("fchmod", fchmod(out, 0640)));
	closed(in);
	closed(out);
	removed(name);
	removed(other);
}

static void do_tmpfile(void)
{
	int fd = did(DID_tmpfile, open(".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
	char path[64];

	if (fd < 0)
		return;
	written(fd, size());
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	did(DID_link, surely("linkat", linkat(AT_FDCWD, path, AT_FDCWD, "tmp", AT_SYMLINK_FOLLOW)));
	closed(fd);
	read_whole("tmp", 5000);
	removed("tmp");
}

static void do_directory(void)
{
	const char *name = made();
	int fd = surely("opendir", did(DID_opendir, open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)));

	for (int i = below(2); i >= 0; i--) {
		while (did(DID_readdir, syscall(SYS_getdents64, fd, data, 32768)) > 0)
			;
		surely("rewind", lseek(fd, 0, SEEK_SET));
	}
	if (one_in(2))
		did(DID_fsync, surely("fsync", fsync(fd)));
	surely("close", close(fd));
	did(DID_releasedir, 0);
	removed(name);
}

static void (*const rounds[])(void) = { do_reading, do_reading, do_writing, do_writing, do_names,
	do_attributes, do_descriptors, do_tmpfile, do_directory };

int main(int argc, char **argv)
{
	whole = argc == 5 && strcmp(argv[1], "--whole") == 0;
	argv += whole;
	if (argc - whole != 4 || chdir(argv[1]) < 0)
		errx(2, "usage: counted [--whole] DIR ROUNDS SEED");
	rng_state = strtoul(argv[3], NULL, 0);
	for (long i = strtol(argv[2], NULL, 0); i > 0; i--)
		rounds[below(sizeof(rounds) / sizeof(rounds[0]))]();
	for (int i = 0; i < DID_MAX; i++)
		printf("%s %ld %ld %ld\n", names[i], counts[i].done, counts[i].failed,
			counts[i].bytes);
	return 0;
}
