/* SPDX-License-Identifier: MIT */

/* What writing does to the content, the bits and the times of a file, by every way of writing. */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/falloc.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <unistd.h>

#include "conform.h"

static char data[200000];

/* ---- writing: the path is opened with the flags in a ---- */

static int opened(const struct op *op, const char *path)
{
	int fd = open(path, op->a | O_NONBLOCK, 0644);

	if (fd < 0) {
		note(" open");
		said(fd);
	}
	return fd;
}

static void done(int fd)
{
	note("%s", stat_text(fd, NULL));
	close(fd);
}

/* b bytes at c, which may be -1 for where it is */
static void run_write(const struct op *op, const char *path)
{
	int fd = opened(op, path);

	if (fd < 0)
		return;
	memset(data, 'w', sizeof(data));
	said(op->c < 0 ? write(fd, data, op->b) : pwrite(fd, data, op->b, op->c));
	done(fd);
}

static void run_writev(const struct op *op, const char *path)
{
	struct iovec parts[] = { { (char *)"one", 3 }, { NULL, 0 }, { (char *)"three", 5 } };
	int fd = opened(op, path);

	if (fd < 0)
		return;
	said(writev(fd, parts, COUNT(parts)));
	said(pwritev(fd, parts, COUNT(parts), 100));
	said(pwritev2(fd, parts, COUNT(parts), op->b, op->c));
	said(writev(fd, parts, 0));
	said(lseek(fd, 0, SEEK_CUR));
	done(fd);
}

static void run_read(const struct op *op, const char *path)
{
	struct iovec parts[] = { { data, 5 }, { data + 5, 0 }, { data + 5, 10 } };
	int fd = opened(op, path);

	if (fd < 0)
		return;
	note_data(data, read(fd, data, 5));
	note_data(data, read(fd, data, 0));
	note_data(data, pread(fd, data, 1000, 70));
	note_data(data, pread(fd, data, 1000, 77));
	note_data(data, pread(fd, data, 1000, 1L << 40));
	said(pread(fd, data, 10, -1));
	said(pread(fd, data, 10, INT64_MAX));
	note_data(data, readv(fd, parts, COUNT(parts)));
	said(lseek(fd, 0, SEEK_CUR));
	done(fd);
}

static void run_map(const struct op *op, const char *path)
{
	int fd = opened(op, path);
	char *map;

	if (fd < 0)
		return;
	map = mmap(NULL, 4096, op->b, op->c, fd, 0);
	said(map == MAP_FAILED ? -1 : 0);
	if (map != MAP_FAILED && lseek(fd, 0, SEEK_END) > 0) {
		if (op->b & PROT_READ)
			note_data(map, 5);
		if (op->b & PROT_WRITE)
			map[0] = 'M';
		said(msync(map, 4096, MS_SYNC));
		munmap(map, 4096);
	}
	done(fd);
}

static void run_fallocate(const struct op *op, const char *path)
{
	int fd = opened(op, path);

	if (fd < 0)
		return;
	/* Of 0 bytes it is invalid, in every mode. */
	said(fallocate(fd, op->b, op->c, op->s ? 0 : 5000));
	done(fd);
}

static void run_copy_within(const struct op *op, const char *path)
{
	off_t from = op->b, to = op->c;
	int fd = opened(op, path);

	if (fd < 0)
		return;
	said(copy_file_range(fd, &from, fd, &to, 20, 0));
	note(" %ld %ld", (long)from, (long)to);
	said(lseek(fd, 0, SEEK_CUR));
	done(fd);
}

static int scratch(void)
{
	int fd = open("scratch", O_RDWR | O_CREAT | O_EXCL, 0644);

	said(pwrite(fd, "from scratch", 12, 0));
	return fd;
}

static void run_copy_from(const struct op *op, const char *path)
{
	int fd = opened(op, path), to = scratch();

	if (fd >= 0) {
		said(copy_file_range(fd, NULL, to, NULL, 1000, op->b));
		said(lseek(fd, 0, SEEK_CUR));
		done(fd);
	}
	close(to);
}

static void run_copy_to(const struct op *op, const char *path)
{
	int fd = opened(op, path), from = scratch();

	if (fd >= 0) {
		said(copy_file_range(from, NULL, fd, NULL, op->b, 0));
		said(lseek(fd, 0, SEEK_CUR));
		done(fd);
	}
	close(from);
}

static void run_sendfile_from(const struct op *op, const char *path)
{
	int fd = opened(op, path), to = scratch();
	off_t at = 4;

	if (fd >= 0) {
		said(sendfile(to, fd, NULL, 10));
		said(sendfile(to, fd, &at, 1000));
		said(lseek(fd, 0, SEEK_CUR));
		done(fd);
	}
	close(to);
}

static void run_sendfile_to(const struct op *op, const char *path)
{
	int fd = opened(op, path), from = scratch();
	off_t at = 2;

	if (fd >= 0) {
		said(sendfile(fd, from, &at, 6));
		said(lseek(fd, 0, SEEK_CUR));
		done(fd);
	}
	close(from);
}

static void run_splice(const struct op *op, const char *path)
{
	int fd = opened(op, path), ends[2];
	off_t at = 4;

	if (fd < 0 || pipe2(ends, O_NONBLOCK) < 0)
		return;
	note(" from");
	said(splice(fd, &at, ends[1], NULL, 10, SPLICE_F_NONBLOCK));
	said(splice(fd, NULL, ends[1], NULL, 10, SPLICE_F_NONBLOCK));
	said(write(ends[1], "by a pipe", 9));
	note(" to");
	at = 30;
	said(splice(ends[0], NULL, fd, &at, 12, 0));
	said(splice(ends[0], NULL, fd, NULL, 5, 0));
	note_data(data, read(ends[0], data, 100));
	close(ends[0]);
	close(ends[1]);
	done(fd);
}

static void run_seek(const struct op *op, const char *path)
{
	static const struct {
		off_t at;
		int whence;
	} seeks[] = { { 10, SEEK_SET }, { 5, SEEK_CUR }, { -100, SEEK_CUR }, { 3, SEEK_END },
		{ -3, SEEK_END }, { 0, SEEK_DATA }, { 0, SEEK_HOLE }, { 77, SEEK_DATA },
		{ 76, SEEK_HOLE }, { 1L << 40, SEEK_SET },
		{ INT64_MAX, SEEK_SET }, { 1, SEEK_END }, { 0, 9 } };
	int fd = opened(op, path);
	struct stat st;

	if (fd < 0)
		return;
	fstat(fd, &st);
	/* In directories positions are cookies, and their ends the file system's affair. */
	for (size_t i = 0; i < COUNT(seeks) && !S_ISDIR(st.st_mode); i++)
		said(lseek(fd, seeks[i].at, seeks[i].whence));
	done(fd);
}

static void run_sync(const struct op *op, const char *path)
{
	int fd = opened(op, path);

	if (fd < 0)
		return;
	said(fsync(fd));
	said(fdatasync(fd));
	said(sync_file_range(fd, 0, 100, SYNC_FILE_RANGE_WRITE));
	said(posix_fadvise(fd, 0, 100, POSIX_FADV_DONTNEED));
	said(readahead(fd, 0, 100));
	done(fd);
}

/* ---- limits ---- */

static int limited_fd;

static void write_over_limit(void *arg)
{
	const struct rlimit limit = { 100, 100 };
	const struct op *op = arg;

	memset(data, 'l', sizeof(data));
	setrlimit(RLIMIT_FSIZE, &limit);
	signal(SIGXFSZ, op->b ? SIG_IGN : SIG_DFL);
	note(" up to");
	said(pwrite(limited_fd, data, 50, 90));
	note(" at");
	said(pwrite(limited_fd, data, 50, 100));
	note(" truncate");
	said(ftruncate(limited_fd, 101));
	note(" fallocate");
	said(fallocate(limited_fd, 0, 0, 200));
	note(" end");
	said(lseek(limited_fd, 0, SEEK_END));
	said(write(limited_fd, data, 5));
}

static void run_limit(const struct op *op, const char *path)
{
	limited_fd = opened(op, path);
	if (limited_fd < 0)
		return;
	apart(write_over_limit, (void *)op);
	done(limited_fd);
}

#define FILES (IS_FILE | IS_MODE | IS_ACL | IS_FLAGGED)
#define R O_RDONLY
#define W O_WRONLY
#define B O_RDWR
static const struct op ops[] = {
	{ "write", run_write, FILES | IS_SORT, ALL, .a = W, .b = 3, .c = -1 },
	{ "write nothing", run_write, FILES | IS_SORT, FEW, .a = W, .b = 0, .c = -1 },
	{ "append", run_write, FILES | IS_SORT, SOME, .a = W | O_APPEND, .b = 3, .c = -1 },
	{ "append at a place", run_write, IS_SORT, FEW, .a = W | O_APPEND, .b = 3, .c = 5 },
	{ "write after O_TRUNC", run_write, FILES, SOME, .a = W | O_TRUNC, .b = 3, .c = -1 },
	{ "open with O_TRUNC", run_write, FILES, FEW, .a = B | O_TRUNC, .b = 0, .c = -1 },
	{ "write synchronously", run_write, IS_FILE, OWNER, .a = W | O_SYNC, .b = 100, .c = -1 },
	{ "pwrite", run_write, FILES | IS_SORT, FEW, .a = B, .b = 10, .c = 70 },
	{ "pwrite beyond the end", run_write, IS_SORT, FEW, .a = B, .b = 10, .c = 5000 },
	{ "pwrite far beyond the end", run_write, IS_SORT, OWNER, .a = B, .b = 10, .c = 1L << 40 },
	{ "pwrite much", run_write, IS_SORT, OWNER, .a = B, .b = sizeof(data), .c = 4095 },
	{ "pwrite beyond all", run_write, IS_FILE, OWNER, .a = B, .b = 10, .c = 1L << 50 },
	{ "pwrite at the last place", run_write, IS_SORT, OWNER, .a = B, .b = 10, .c = INT64_MAX },
	{ "pwrite at the last place but ten", run_write, IS_FILE, OWNER, .a = B, .b = 10,
		.c = INT64_MAX - 10 },
	{ "writev", run_writev, IS_SORT | IS_MODE, FEW, .a = B, .b = 50, .c = 0 },
	{ "pwritev2 RWF_APPEND", run_writev, IS_SORT, FEW, .a = B, .b = 0, .c = RWF_APPEND },
	{ "pwritev2 RWF_DSYNC", run_writev, IS_FILE, OWNER, .a = B, .b = 50, .c = RWF_DSYNC },
	{ "pwritev2 with a wrong flag", run_writev, IS_SORT, OWNER, .a = B, .b = 50, .c = 1 << 30 },
	{ "read", run_read, IS_SORT | IS_FLAGGED, FEW, .a = R },
	{ "read both", run_read, IS_SORT, OWNER, .a = B },
	{ "read without access time", run_read, IS_SORT, OWNER | ROOT, .a = R | O_NOATIME },
	{ "map shared", run_map, FILES | IS_SORT, SOME, .a = B, .b = PROT_READ | PROT_WRITE,
		.c = MAP_SHARED },
	{ "map shared of a writer", run_map, IS_SORT, OWNER, .a = W, .b = PROT_WRITE,
		.c = MAP_SHARED },
	{ "map shared of a reader", run_map, IS_SORT, FEW, .a = R, .b = PROT_READ,
		.c = MAP_SHARED },
	{ "map shared to be written by a reader", run_map, IS_SORT, OWNER, .a = R,
		.b = PROT_READ | PROT_WRITE, .c = MAP_SHARED },
	{ "map shared appending", run_map, IS_SORT, OWNER, .a = B | O_APPEND,
		.b = PROT_READ | PROT_WRITE, .c = MAP_SHARED },
	{ "map private", run_map, FILES, FEW, .a = R, .b = PROT_READ | PROT_WRITE,
		.c = MAP_PRIVATE },
	{ "map executable", run_map, FILES, FEW, .a = R, .b = PROT_READ | PROT_EXEC,
		.c = MAP_PRIVATE },
	{ "map with validation", run_map, IS_SORT, OWNER, .a = B, .b = PROT_READ | PROT_WRITE,
		.c = MAP_SHARED_VALIDATE },
	{ "map synchronously", run_map, IS_SORT, OWNER, .a = B, .b = PROT_READ | PROT_WRITE,
		.c = MAP_SHARED_VALIDATE | 0x80000 },
	{ "fallocate", run_fallocate, FILES | IS_SORT, FEW, .a = B, .b = 0, .c = 0 },
	{ "fallocate beyond the end", run_fallocate, IS_SORT, FEW, .a = W, .b = 0, .c = 10000 },
	{ "fallocate keeping the size", run_fallocate, FILES | IS_SORT, FEW, .a = W,
		.b = FALLOC_FL_KEEP_SIZE, .c = 0 },
	{ "fallocate punching", run_fallocate, FILES | IS_SORT, FEW, .a = B,
		.b = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, .c = 10 },
	{ "fallocate punching only", run_fallocate, IS_SORT, FEW, .a = B, .b = FALLOC_FL_PUNCH_HOLE,
		.c = 10 },
	{ "fallocate of zeros", run_fallocate, FILES | IS_SORT, FEW, .a = B,
		.b = FALLOC_FL_ZERO_RANGE, .c = 10 },
	{ "fallocate of zeros keeping the size", run_fallocate, IS_SORT, FEW, .a = B,
		.b = FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE, .c = 10 },
	{ "fallocate collapsing", run_fallocate, IS_SORT, OWNER, .a = B,
		.b = FALLOC_FL_COLLAPSE_RANGE, .c = 0 },
	{ "fallocate inserting", run_fallocate, IS_SORT, OWNER, .a = B, .b = FALLOC_FL_INSERT_RANGE,
		.c = 0 },
	{ "fallocate unsharing", run_fallocate, IS_SORT, OWNER, .a = B,
		.b = FALLOC_FL_UNSHARE_RANGE, .c = 0 },
	{ "fallocate in an unknown mode", run_fallocate, IS_SORT, OWNER, .a = B, .b = 0x800,
		.c = 0 },
	{ "fallocate of nothing", run_fallocate, IS_SORT, OWNER, .a = B, .b = 0, .c = 0, .s = "" },
	{ "fallocate at a negative place", run_fallocate, IS_SORT, OWNER, .a = B, .b = 0, .c = -5 },
	{ "fallocate too far", run_fallocate, IS_FILE, OWNER, .a = B, .b = 0, .c = 1L << 50 },
	{ "fallocate at the last place", run_fallocate, IS_FILE, OWNER, .a = B, .b = 0,
		.c = INT64_MAX - 10 },
	{ "fallocate by a reader", run_fallocate, IS_SORT, OWNER, .a = R, .b = 0, .c = 0 },
	{ "fallocate appending", run_fallocate, IS_SORT | IS_FLAGGED, FEW, .a = B | O_APPEND,
		.b = 0, .c = 0 },
	{ "punching appending", run_fallocate, IS_SORT | IS_FLAGGED, OWNER, .a = B | O_APPEND,
		.b = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, .c = 0 },
	{ "copy within", run_copy_within, FILES | IS_SORT, FEW, .a = B, .b = 0, .c = 50 },
	{ "copy within overlapping", run_copy_within, IS_SORT, OWNER, .a = B, .b = 0, .c = 10 },
	{ "copy within to beyond the end", run_copy_within, IS_SORT, OWNER, .a = B, .b = 70,
		.c = 1000 },
	{ "copy within from beyond the end", run_copy_within, IS_SORT, OWNER, .a = B, .b = 100,
		.c = 0 },
	{ "copy within by a reader", run_copy_within, IS_SORT, OWNER, .a = R, .b = 0, .c = 50 },
	{ "copy within appending", run_copy_within, IS_SORT, OWNER, .a = B | O_APPEND, .b = 0,
		.c = 50 },
	{ "copy within from a negative place", run_copy_within, IS_SORT, OWNER, .a = B, .b = -1,
		.c = 50 },
	{ "copy from", run_copy_from, FILES | IS_SORT, FEW, .a = R, .b = 0 },
	{ "copy from with a wrong flag", run_copy_from, IS_SORT, OWNER, .a = R, .b = 1 },
	{ "copy to", run_copy_to, FILES | IS_SORT, FEW, .a = W, .b = 1000 },
	{ "copy of nothing to", run_copy_to, IS_SORT | IS_MODE, FEW, .a = W, .b = 0 },
	{ "sendfile from", run_sendfile_from, FILES | IS_LINK | IS_SPECIAL, FEW, .a = R },
	{ "sendfile to", run_sendfile_to, FILES | IS_SORT, FEW, .a = W },
	{ "sendfile to an appending one", run_sendfile_to, IS_SORT, OWNER, .a = W | O_APPEND },
	{ "splice", run_splice, FILES | IS_SORT, FEW, .a = B },
	{ "splice appending", run_splice, IS_SORT, OWNER, .a = B | O_APPEND },
	{ "lseek", run_seek, IS_SORT, FEW, .a = R },
	{ "sync", run_sync, IS_SORT, OTHER, .a = R },
	{ "sync of a writer", run_sync, IS_FILE, OWNER, .a = W },
	{ "limited, with the signal", run_limit, IS_SORT, OWNER, .a = B, .b = 0 },
	{ "limited, without the signal", run_limit, IS_SORT, OWNER, .a = B, .b = 1 },
};

void run_data(void)
{
	run_ops("data", ops, COUNT(ops), states, n_states);
}
