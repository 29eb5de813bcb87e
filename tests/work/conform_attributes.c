/* SPDX-License-Identifier: MIT */

/* Modes, owners, sizes, times; what stat, statx, statfs and access say. */

#include <errno.h>
#include <fcntl.h>
#include <linux/stat.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "conform.h"

#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif

enum { AS_IT_IS = -1 };

/* ---- modes and owners ---- */

static void run_chmod(const struct op *op, const char *path)
{
	said(chmod(path, op->a));
}

static void run_fchmod(const struct op *op, const char *path)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK);

	said(fd < 0 ? -1 : fchmod(fd, op->a));
	close(fd);
}

static void run_fchmodat2(const struct op *op, const char *path)
{
	said(syscall(SYS_fchmodat2, AT_FDCWD, path, op->a, op->b));
}

static void run_chown(const struct op *op, const char *path)
{
	said(fchownat(AT_FDCWD, path, op->a, op->b, op->c));
}

static void run_fchown(const struct op *op, const char *path)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK);

	said(fd < 0 ? -1 : fchown(fd, op->a, op->b));
	close(fd);
}

/* By descriptors of paths. */
static void run_chown_path(const struct op *op, const char *path)
{
	int fd = open(path, O_PATH | O_NOFOLLOW);

	said(fd < 0 ? -1 : fchownat(fd, "", op->a, op->b, AT_EMPTY_PATH));
	close(fd);
}

static const struct op owners[] = {
	{ "chmod 0600", run_chmod, IS_EACH, SOME, .a = 0600 },
	{ "chmod 7777", run_chmod, IS_EACH, ALL, .a = 07777 },
	{ "chmod 2755", run_chmod, IS_EACH, ALL, .a = 02755 },
	{ "chmod 2666", run_chmod, IS_SORT | IS_MODE | IS_ACL, ALL, .a = 02666 },
	{ "chmod 0000", run_chmod, IS_SORT | IS_ACL, FEW, .a = 0 },
	{ "chmod 0640", run_chmod, IS_SORT | IS_ACL, FEW, .a = 0640 },
	{ "chmod of more bits", run_chmod, IS_SORT, OWNER, .a = 0170644 },
	{ "fchmod 2777", run_fchmod, IS_SORT | IS_ACL | IS_FLAGGED, FEW, .a = 02777 },
	{ "fchmodat2 of links", run_fchmodat2, IS_SORT, FEW, .a = 0600, .b = AT_SYMLINK_NOFOLLOW },
	{ "chown of nothing", run_chown, IS_EACH, SOME, .a = AS_IT_IS, .b = AS_IT_IS },
	{ "chown to the same", run_chown, IS_EACH, SOME, .a = OWNER_ID, .b = AS_IT_IS },
	{ "chown to other", run_chown, IS_EACH, FEW, .a = OTHER_ID, .b = OTHER_ID },
	{ "chgrp to the same", run_chown, IS_EACH, ALL, .a = AS_IT_IS, .b = GROUP_ID },
	{ "chgrp to one's own", run_chown, IS_EACH, SOME, .a = AS_IT_IS, .b = OWNER_ID },
	{ "chgrp to a foreign one", run_chown, IS_EACH, FEW, .a = AS_IT_IS, .b = FOREIGN_ID },
	{ "chown to root", run_chown, IS_SORT, FEW, .a = 0, .b = 0 },
	{ "lchown to one's own group", run_chown, IS_SORT | IS_MODE, FEW, .a = AS_IT_IS,
		.b = OWNER_ID, .c = AT_SYMLINK_NOFOLLOW },
	{ "lchown to other", run_chown, IS_SORT, FEW, .a = OTHER_ID, .b = AS_IT_IS,
		.c = AT_SYMLINK_NOFOLLOW },
	{ "fchown to one's own group", run_fchown, IS_SORT | IS_MODE, FEW, .a = AS_IT_IS,
		.b = OWNER_ID },
	{ "fchown of nothing", run_fchown, IS_SORT | IS_MODE, OWNER | OTHER, .a = AS_IT_IS,
		.b = AS_IT_IS },
	{ "chown by O_PATH", run_chown_path, IS_SORT, FEW, .a = AS_IT_IS, .b = OWNER_ID },
};

/* ---- sizes ---- */

static void run_truncate(const struct op *op, const char *path)
{
	struct stat st;

	/* Opening a FIFO or a device is not the point. */
	if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode) && op->b)
		return;
	said(truncate(path, op->a));
}

static void run_ftruncate(const struct op *op, const char *path)
{
	int fd = open(path, op->b | O_NONBLOCK);

	if (fd < 0)
		note(" open");
	said(fd < 0 ? -1 : ftruncate(fd, op->a));
	if (fd >= 0)
		note("%s", stat_text(fd, NULL));
	close(fd);
}

static const struct op sizes[] = {
	{ "truncate to 0", run_truncate, IS_EACH, SOME, .a = 0 },
	{ "truncate to less", run_truncate, IS_EACH, FEW, .a = 10 },
	{ "truncate to the same", run_truncate, IS_SORT | IS_MODE, SOME, .a = sizeof(CONTENT) - 1 },
	{ "truncate to more", run_truncate, IS_SORT | IS_MODE, FEW, .a = 5000 },
	{ "truncate to much", run_truncate, IS_SORT, OWNER, .a = 1L << 40 },
	{ "truncate to too much", run_truncate, IS_SORT, OWNER, .a = 1L << 50 },
	{ "truncate to the most", run_truncate, IS_SORT, OWNER, .a = INT64_MAX },
	{ "truncate to -1", run_truncate, IS_SORT, FEW, .a = -1 },
	{ "ftruncate to 0", run_ftruncate, IS_EACH, SOME, .a = 0, .b = O_WRONLY },
	{ "ftruncate to more", run_ftruncate, IS_SORT | IS_MODE, FEW, .a = 5000, .b = O_RDWR },
	{ "ftruncate to the same", run_ftruncate, IS_SORT | IS_MODE, FEW,
		.a = sizeof(CONTENT) - 1, .b = O_RDWR },
	{ "ftruncate to too much", run_ftruncate, IS_SORT, OWNER, .a = 1L << 50, .b = O_RDWR },
	{ "ftruncate to -1", run_ftruncate, IS_SORT, OWNER, .a = -1, .b = O_RDWR },
	{ "ftruncate for reading", run_ftruncate, IS_SORT, FEW, .a = 3, .b = O_RDONLY },
	{ "ftruncate appending", run_ftruncate, IS_SORT | IS_FLAGGED, FEW, .a = 3,
		.b = O_RDWR | O_APPEND },
	{ "ftruncate by O_PATH", run_ftruncate, IS_SORT, OWNER, .a = 3, .b = O_PATH },
};

/* ---- times ---- */

static const struct timespec time_sets[][2] = {
	{ { .tv_nsec = UTIME_NOW }, { .tv_nsec = UTIME_NOW } },
	{ { .tv_nsec = UTIME_OMIT }, { .tv_nsec = UTIME_OMIT } },
	{ { .tv_nsec = UTIME_NOW }, { .tv_nsec = UTIME_OMIT } },
	{ { .tv_nsec = UTIME_OMIT }, { .tv_nsec = UTIME_NOW } },
	{ { 1234567890, 123456789 }, { 1234567891, 987654321 } },
	{ { .tv_nsec = UTIME_OMIT }, { 1234567891, 1 } },
	{ { 1234567890, 999999999 }, { .tv_nsec = UTIME_OMIT } },
	{ { 1234567890, 5 }, { .tv_nsec = UTIME_NOW } },
	{ { -1, 500000000 }, { -86400, 1 } },
	{ { 0, 0 }, { 0, 0 } },
	{ { 0x7fffffff, 1 }, { 0x80000000, 2 } },
	{ { 0x37fffffff, 1 }, { 0x380000000, 2 } },
	{ { 1000000000000, 1 }, { -1000000000000, 2 } },
	{ { -0x80000000L, 1 }, { -0x80000001L, 2 } },
	{ { 1, 1000000000 }, { 1, 0 } },
	{ { 1, -1 }, { 1, 0 } },
	{ { 7, UTIME_OMIT }, { 7, UTIME_NOW } },
};
static const char *const time_names[] = { "now", "of nothing", "now and nothing",
	"nothing and now", "of nanoseconds", "of modification", "of access", "access and now",
	"before 1970", "of 1970", "around 2038", "around 2446", "far away", "around 1901",
	"too many nanoseconds", "negative nanoseconds", "nothing and now, with seconds" };

static void run_utimes(const struct op *op, const char *path)
{
	said(utimensat(AT_FDCWD, path, op->a < 0 ? NULL : time_sets[op->a], op->b));
}

static void run_futimens(const struct op *op, const char *path)
{
	int fd = open(path, op->b | O_NONBLOCK);

	if (fd < 0)
		note(" open");
	said(fd < 0 ? -1 : futimens(fd, op->a < 0 ? NULL : time_sets[op->a]));
	close(fd);
}

static void run_times(void)
{
	char name[60];

	for (size_t i = 0; i < COUNT(time_sets); i++) {
		struct op op = { name, run_utimes, i < 5 ? IS_EACH : IS_SORT,
			i == 0 ? SOME : i < 5 ? OWNER | OTHER : OWNER, .a = i };

		snprintf(name, sizeof(name), "utimensat %s", time_names[i]);
		run_ops("attributes", &op, 1, states, n_states);
		if (i > 4 && i != 8)
			continue;
		op.b = AT_SYMLINK_NOFOLLOW;
		op.groups = IS_SORT;
		snprintf(name, sizeof(name), "utimensat of links %s", time_names[i]);
		run_ops("attributes", &op, 1, states, n_states);
		op.run = run_futimens;
		op.b = O_RDONLY;
		snprintf(name, sizeof(name), "futimens %s", time_names[i]);
		run_ops("attributes", &op, 1, states, n_states);
	}
}

static const struct op null_times[] = {
	{ "utimensat NULL", run_utimes, IS_EACH, SOME, .a = -1 },
	{ "futimens NULL", run_futimens, IS_SORT, FEW, .a = -1, .b = O_RDONLY },
	{ "futimens by O_PATH", run_futimens, IS_SORT, OWNER, .a = 0, .b = O_PATH },
	{ "utimensat with a wrong flag", run_utimes, IS_SORT, OWNER, .a = 0, .b = AT_REMOVEDIR },
};

/* ---- looking ---- */

static void run_access(const struct op *op, const char *path)
{
	static const int modes[] = { F_OK, R_OK, W_OK, X_OK, R_OK | W_OK, R_OK | W_OK | X_OK, 8 };

	for (size_t i = 0; i < COUNT(modes); i++)
		said(op->b ? syscall(SYS_faccessat2, AT_FDCWD, path, modes[i], op->a)
			   : syscall(SYS_faccessat, AT_FDCWD, path, modes[i]));
}

/* With real ids that are others than the effective ones. */
static void run_access_real(const struct op *op, const char *path)
{
	if (many_users() && setreuid(OTHER_ID, OWNER_ID) < 0)
		note(" no change of ids");
	run_access(op, path);
	if (many_users() && setreuid(0, 0) < 0)
		note(" no way back");
}

static void run_stat(const struct op *op, const char *path)
{
	struct stat st;

	if (fstatat(AT_FDCWD, path, &st, op->a) < 0) {
		said(-1);
		return;
	}
	note(" %o %u:%u %lu", st.st_mode, st.st_uid, st.st_gid, (unsigned long)st.st_nlink);
	if (!S_ISDIR(st.st_mode))
		note(" size %lld", (long long)st.st_size);
	note(" blocks %lld of %ld device %lx", (long long)st.st_blocks, (long)st.st_blksize,
		(unsigned long)st.st_rdev);
	note(" times %ld.%09ld %ld.%09ld", st.st_atim.tv_sec, st.st_atim.tv_nsec,
		st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
}

static void run_statx(const struct op *op, const char *path)
{
	struct statx sx = { 0 };

	if (statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW | op->a, op->b, &sx) < 0) {
		said(-1);
		return;
	}
	/* Of what is not asked for the kernel says what it happens to have. */
	note(" mask %x mode %o size %llu", sx.stx_mask & (unsigned)op->b, sx.stx_mode,
		S_ISDIR(sx.stx_mode) ? 0ULL : (unsigned long long)sx.stx_size);
	if (op->b & STATX_BTIME)
		note(" birth %s", !(sx.stx_mask & STATX_BTIME) ? "unknown"
			: sx.stx_btime.tv_sec < 1700000000 ? "long ago" : "of late");
	if (op->c)
		note(" attributes %llx of %llx", sx.stx_attributes & ~STATX_ATTR_MOUNT_ROOT,
			sx.stx_attributes_mask & ~STATX_ATTR_MOUNT_ROOT);
}

static void run_statfs(const struct op *op, const char *path)
{
	struct statvfs st;

	(void)op;
	if (statvfs(path, &st) < 0) {
		said(-1);
		return;
	}
	note(" block %lu fragment %lu blocks %lu names %lu", st.f_bsize, st.f_frsize,
		(unsigned long)st.f_blocks, st.f_namemax);
	note(" free %d for users %d flags %lx", st.f_bfree > 0 && st.f_bfree < st.f_blocks,
		st.f_bavail > 0 && st.f_bavail <= st.f_bfree, st.f_flag);
}

static const struct op looks[] = {
	{ "access", run_access, IS_EACH, ALL, .a = 0 },
	{ "access of links", run_access, IS_SORT, FEW, .a = AT_SYMLINK_NOFOLLOW, .b = 1 },
	{ "access with effective ids", run_access, IS_EACH, FEW, .a = AT_EACCESS, .b = 1 },
	{ "access with real ids", run_access_real, IS_EACH, ROOT, .a = 0, .b = 1 },
	{ "access with both ids", run_access_real, IS_EACH, ROOT, .a = AT_EACCESS, .b = 1 },
	{ "access with a wrong flag", run_access, IS_SORT, OWNER, .a = AT_REMOVEDIR, .b = 1 },
	{ "stat", run_stat, IS_EACH, FEW, .a = 0 },
	{ "lstat", run_stat, IS_EACH, FEW, .a = AT_SYMLINK_NOFOLLOW },
	{ "stat without automounts", run_stat, IS_SORT, OWNER, .a = AT_NO_AUTOMOUNT },
	{ "statx of all", run_statx, IS_EACH, FEW, .a = 0, .b = STATX_BASIC_STATS | STATX_BTIME },
	{ "statx of the birth", run_statx, IS_EACH, OWNER, .a = AT_STATX_FORCE_SYNC,
		.b = STATX_BTIME },
	{ "statx without asking", run_statx, IS_SORT, OWNER, .a = AT_STATX_DONT_SYNC,
		.b = STATX_BASIC_STATS },
	{ "statx of mode", run_statx, IS_SORT, OWNER, .a = 0, .b = STATX_MODE },
	{ "statx of nothing", run_statx, IS_SORT, OWNER, .a = 0, .b = 0 },
	{ "statx of attributes", run_statx, IS_EACH, OWNER, .a = 0, .b = STATX_BASIC_STATS,
		.c = 1 },
	{ "statvfs", run_statfs, IS_EACH, OWNER, .a = 0 },
};

void run_attributes(void)
{
	run_ops("attributes", owners, COUNT(owners), states, n_states);
	run_ops("attributes", sizes, COUNT(sizes), states, n_states);
	run_times();
	run_ops("attributes", null_times, COUNT(null_times), states, n_states);
	run_ops("attributes", looks, COUNT(looks), states, n_states);
}
