/* SPDX-License-Identifier: MIT */

/* open(2): ways to open, flags, rights; and what is created by it. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conform.h"

/* What the descriptor is good for; from a state of the file that blocks no process. */
static void use(int fd)
{
	static _Alignas(4096) char page[4096];
	struct stat st;

	note(" flags %o", fcntl(fd, F_GETFL));
	if (fstat(fd, &st) < 0)
		note(" fstat %s", error_name(errno));
	else
		note(" mode %o size %lld", st.st_mode, S_ISDIR(st.st_mode) ? 0LL
			: (long long)st.st_size);
	note(" read");
	note_data(page, read(fd, page, sizeof(page)));
	note(" write");
	memset(page, 'W', sizeof(page));
	said(write(fd, page, 3));
	note(" ends at");
	said(lseek(fd, 0, SEEK_CUR));
}

static void run_open_op(const struct op *op, const char *path)
{
	int fd = open(path, op->a | O_NONBLOCK | O_NOCTTY, 0750);

	if (fd < 0) {
		said(fd);
		return;
	}
	note(" opened");
	use(fd);
	close(fd);
}

/* Aligned, as O_DIRECT demands; then not. */
static void run_direct(const struct op *op, const char *path)
{
	static _Alignas(4096) char pages[8192];
	int fd = open(path, op->a | O_NONBLOCK, 0644);

	if (fd < 0) {
		said(fd);
		return;
	}
	note(" flags %o read", fcntl(fd, F_GETFL));
	note_data(pages, pread(fd, pages, 4096, 0));
	if (op->b) { /* the memory alone is odd */
		said(pread(fd, pages + 1, 4096, 0));
		said(pwrite(fd, pages + 1, 4096, 0));
		close(fd);
		return;
	}
	note(" of half a sector");
	note_data(pages, pread(fd, pages, 100, 0));
	note(" at an odd place");
	said(pread(fd, pages, 4096, 7));
	memset(pages, 'D', sizeof(pages));
	note(" write");
	said(pwrite(fd, pages, 4096, 0));
	note(" of few bytes");
	said(pwrite(fd, pages, 10, 4096));
	close(fd);
}

static void run_tmpfile(const struct op *op, const char *path)
{
	char from[40];
	struct stat st;
	int fd = open(path, O_TMPFILE | op->a, op->b);

	if (fd < 0) {
		said(fd);
		return;
	}
	note(" opened");
	use(fd);
	if (fstat(fd, &st) == 0)
		note(" links %lu", (unsigned long)st.st_nlink);
	note(" ftruncate");
	said(ftruncate(fd, 100));
	snprintf(from, sizeof(from), "/proc/self/fd/%d", fd);
	note(" link");
	said(linkat(AT_FDCWD, from, AT_FDCWD, "linked", AT_SYMLINK_FOLLOW));
	note(" again");
	said(linkat(AT_FDCWD, from, AT_FDCWD, "linked too", AT_SYMLINK_FOLLOW));
	note(" by its descriptor");
	said(linkat(fd, "", AT_FDCWD, "by fd", AT_EMPTY_PATH));
	close(fd);
}

/* Only descriptors of paths: what they refuse and what not. */
static void run_path(const struct op *op, const char *path)
{
	char data[10];
	struct stat st;
	int fd = open(path, O_PATH | op->a, 0), below;

	if (fd < 0) {
		said(fd);
		return;
	}
	note(" flags %o", fcntl(fd, F_GETFL));
	if (fstat(fd, &st) == 0)
		note(" mode %o", st.st_mode);
	note(" read");
	said(read(fd, data, 1));
	note(" fchmod");
	said(fchmod(fd, 0600));
	note(" fchown");
	said(fchown(fd, -1, -1));
	note(" fchdir");
	said(fchdir(fd));
	note(" below");
	below = openat(fd, "x", O_RDONLY | O_NONBLOCK);
	said(below < 0 ? -1 : 0);
	close(below);
	close(fd);
}

/* Opened for both, then once more by way of /proc. */
static void run_reopen(const struct op *op, const char *path)
{
	char from[40];
	int fd = open(path, op->a | O_NONBLOCK), again;

	if (fd < 0) {
		said(fd);
		return;
	}
	snprintf(from, sizeof(from), "/proc/self/fd/%d", fd);
	again = open(from, op->b | O_NONBLOCK);
	said(again < 0 ? -1 : 0);
	if (again >= 0)
		use(again);
	close(again);
	close(fd);
}

/* The flags that fcntl(2) can change, on and off again. */
static void run_setfl(const struct op *op, const char *path)
{
	int fd = open(path, O_RDWR | O_NONBLOCK | op->a);

	if (fd < 0) {
		said(fd);
		return;
	}
	note(" set");
	said(fcntl(fd, F_SETFL, op->b));
	note(" flags %o", fcntl(fd, F_GETFL));
	note(" write");
	said(write(fd, "first", 5));
	said(pwrite(fd, "second", 6, 2));
	note(" set");
	said(fcntl(fd, F_SETFL, op->c));
	note(" flags %o", fcntl(fd, F_GETFL));
	note(" write");
	said(write(fd, "third", 5));
	said(pwrite(fd, "fourth", 6, 20));
	note(" at");
	said(lseek(fd, 0, SEEK_CUR));
	close(fd);
}

/* Does a flag that was set later count for reads? */
static void run_setfl_read(const struct op *op, const char *path)
{
	char data[10];
	int fd = open(path, O_RDONLY | O_NONBLOCK | op->a);

	if (fd < 0) {
		said(fd);
		return;
	}
	note(" set");
	said(fcntl(fd, F_SETFL, op->b));
	note(" read");
	said(read(fd, data, sizeof(data)));
	close(fd);
}

static const struct op rights[] = {
	{ "for reading", run_open_op, IS_EACH, ALL, .a = O_RDONLY },
	{ "for writing", run_open_op, IS_EACH, ALL, .a = O_WRONLY },
	{ "for both", run_open_op, IS_EACH, SOME, .a = O_RDWR },
	{ "for neither", run_open_op, IS_EACH, FEW, .a = 3 },
	{ "truncating", run_open_op, IS_EACH, SOME, .a = O_WRONLY | O_TRUNC },
	{ "creating", run_open_op, IS_EACH, FEW, .a = O_WRONLY | O_CREAT },
	{ "appending", run_open_op, IS_EACH, FEW, .a = O_RDWR | O_APPEND },
	{ "without access time", run_open_op, IS_EACH, SOME, .a = O_RDONLY | O_NOATIME },
	{ "O_PATH", run_path, IS_EACH, FEW, .a = 0 },
	{ "O_PATH O_NOFOLLOW", run_path, IS_LINK | IS_FILE, FEW, .a = O_NOFOLLOW },
	{ "O_PATH O_DIRECTORY", run_path, IS_SORT, FEW, .a = O_DIRECTORY },
	{ "O_DIRECT", run_direct, IS_SORT, FEW, .a = O_RDWR | O_DIRECT },
	{ "O_DIRECT and odd memory", run_direct, IS_FILE, OWNER, .a = O_RDWR | O_DIRECT, .b = 1 },
	{ "O_DIRECT O_CREAT", run_direct, IS_SORT, FEW, .a = O_RDWR | O_DIRECT | O_CREAT },
	{ "again for reading", run_reopen, IS_SORT | IS_MODE, FEW, .a = O_RDONLY, .b = O_RDONLY },
	{ "again for writing", run_reopen, IS_SORT | IS_MODE, FEW, .a = O_RDONLY, .b = O_WRONLY },
	{ "again from O_PATH", run_reopen, IS_SORT | IS_MODE, FEW, .a = O_PATH, .b = O_RDWR },
	{ "F_SETFL O_APPEND", run_setfl, IS_SORT, FEW, .a = 0, .b = O_APPEND, .c = 0 },
	{ "F_SETFL not O_APPEND", run_setfl, IS_SORT, FEW, .a = O_APPEND, .b = 0, .c = O_APPEND },
	{ "F_SETFL O_NOATIME", run_setfl, IS_SORT, FEW, .a = 0, .b = O_NOATIME, .c = 0 },
	{ "F_SETFL O_NOATIME and read", run_setfl_read, IS_SORT, FEW, .a = 0, .b = O_NOATIME },
	{ "F_SETFL not O_NOATIME and read", run_setfl_read, IS_SORT, FEW, .a = O_NOATIME, .b = 0 },
	{ "F_SETFL O_DIRECT", run_setfl, IS_SORT, OWNER, .a = 0, .b = O_DIRECT, .c = 0 },
	{ "F_SETFL not O_DIRECT", run_setfl, IS_SORT, OWNER, .a = O_DIRECT, .b = 0, .c = 0 },
	{ "F_SETFL O_ASYNC", run_setfl, IS_SORT, OWNER, .a = 0, .b = O_ASYNC, .c = 0 },
};

static const struct op tmpfiles[] = {
	{ "O_TMPFILE for both", run_tmpfile, IS_DIR | IS_ACL | IS_FLAGGED | IS_SORT, FEW,
		.a = O_RDWR, .b = 0666 },
	{ "O_TMPFILE for writing", run_tmpfile, IS_DIR, FEW, .a = O_WRONLY, .b = 06755 },
	{ "O_TMPFILE for reading", run_tmpfile, IS_DIR, OWNER, .a = O_RDONLY, .b = 0600 },
	{ "O_TMPFILE O_EXCL", run_tmpfile, IS_DIR, FEW, .a = O_RDWR | O_EXCL, .b = 0600 },
	{ "O_TMPFILE O_CREAT", run_tmpfile, IS_DIR, OWNER, .a = O_RDWR | O_CREAT, .b = 0600 },
	{ "O_TMPFILE O_APPEND", run_tmpfile, IS_DIR, OWNER, .a = O_RDWR | O_APPEND, .b = 0000 },
};

/* Every way with every set of flags. */
static const struct {
	const char *name;
	int flags;
} flag_sets[] = {
	{ "O_CREAT", O_CREAT },
	{ "O_EXCL", O_EXCL },
	{ "O_CREAT O_EXCL", O_CREAT | O_EXCL },
	{ "O_TRUNC", O_TRUNC },
	{ "O_CREAT O_TRUNC", O_CREAT | O_TRUNC },
	{ "O_CREAT O_EXCL O_TRUNC", O_CREAT | O_EXCL | O_TRUNC },
	{ "O_APPEND", O_APPEND },
	{ "O_APPEND O_TRUNC", O_APPEND | O_TRUNC },
	{ "O_CREAT O_APPEND", O_CREAT | O_APPEND },
	{ "O_NOFOLLOW", O_NOFOLLOW },
	{ "O_NOFOLLOW O_CREAT", O_NOFOLLOW | O_CREAT },
	{ "O_DIRECTORY", O_DIRECTORY },
	{ "O_DIRECTORY O_CREAT", O_DIRECTORY | O_CREAT },
	{ "O_DIRECTORY O_NOFOLLOW", O_DIRECTORY | O_NOFOLLOW },
	{ "O_SYNC", O_SYNC },
	{ "O_DSYNC O_CREAT", O_DSYNC | O_CREAT },
	{ "O_NOATIME O_TRUNC", O_NOATIME | O_TRUNC },
	{ "O_NOATIME O_CREAT", O_NOATIME | O_CREAT },
};
static const char *const ways[] = { "O_RDONLY", "O_WRONLY", "O_RDWR", "3" };

static void run_flag_sets(void)
{
	char name[100];

	for (size_t i = 0; i < COUNT(flag_sets); i++)
		for (int way = 0; way < 4; way++) {
			/* What waits for the disk is not done for each sort of file. */
			struct op op = { name, run_open_op,
				flag_sets[i].flags & O_DSYNC ? IS_FILE : IS_SORT, OWNER | OTHER,
				.a = flag_sets[i].flags | way };

			snprintf(name, sizeof(name), "%s %s", ways[way], flag_sets[i].name);
			run_ops("open", &op, 1, states, n_states);
		}
}

void run_open(void)
{
	run_ops("open", rights, COUNT(rights), states, n_states);
	run_ops("open", tmpfiles, COUNT(tmpfiles), states, n_states);
	run_flag_sets();
}
