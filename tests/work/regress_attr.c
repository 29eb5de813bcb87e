/* SPDX-License-Identifier: MIT */

/* Attributes, extended ones, flags and times: see regress.h. */

#include "regress.h"

#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/xattr.h>

#define NEAREST AT_SYMLINK_NOFOLLOW

static void *volatile nowhere = (void *)8; /* what no compiler is to see through */

/* ---- statx ---- */

static void emit_statx(const char *path, int flags, unsigned int mask)
{
	struct statx sx;
	int fd = *path ? AT_FDCWD : (int)must(open("f", O_RDONLY));

	memset(&sx, 0, sizeof(sx));
	if (statx(fd, path, flags, mask, &sx) < 0) {
		say(path, "%s", strerrorname_np(errno));
		return;
	}
	say(path, "mask %x, mode %o, %u links, size %ld, block size %u", sx.stx_mask & mask,
		sx.stx_mode, sx.stx_nlink, (long)sx.stx_size, sx.stx_blksize);
	if (mask & STATX_BTIME)
		say(path, "born %s",
			sx.stx_btime.tv_sec == 0                    ? "never"
			: sx.stx_btime.tv_sec > sx.stx_ctime.tv_sec ? "after its change"
								    : "before its change");
}

static void statxes(void)
{
	struct statx sx, again;

	close(make("f", 5000));
	mkdir("d", 0750);
	symlink("f", "l");
	mkfifo("p", 0600);
	emit_statx("f", 0, STATX_BASIC_STATS);
	emit_statx("f", 0, STATX_BASIC_STATS | STATX_BTIME);
	emit_statx("f", AT_STATX_FORCE_SYNC, STATX_BASIC_STATS | STATX_BTIME);
	emit_statx("f", AT_STATX_DONT_SYNC, STATX_BASIC_STATS);
	emit_statx("f", AT_STATX_DONT_SYNC | AT_STATX_FORCE_SYNC, STATX_BASIC_STATS);
	emit_statx("f", 0x800000, STATX_BASIC_STATS);
	emit_statx("f", 0, 0x80000000);
	emit_statx("d", 0, STATX_BASIC_STATS | STATX_BTIME);
	emit_statx("l", 0, STATX_BASIC_STATS | STATX_BTIME);
	emit_statx("l", NEAREST, STATX_BASIC_STATS | STATX_BTIME);
	emit_statx("p", 0, STATX_BASIC_STATS | STATX_BTIME);
	emit_statx("", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_BTIME);
	emit_statx("", 0, STATX_BASIC_STATS);
	emit_statx("nothing", 0, STATX_BASIC_STATS);
	must(statx(AT_FDCWD, "f", 0, STATX_BTIME, &sx));
	tick();
	must(chmod("f", 0600));
	must(rename("f", "g"));
	must(statx(AT_FDCWD, "g", 0, STATX_BTIME, &again));
	say("born once", "%d", memcmp(&sx.stx_btime, &again.stx_btime, sizeof(sx.stx_btime)));
}

/* ---- flags of files ---- */

static int flags_of(const char *path)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK), flags = -1;

	if (fd < 0 || ioctl(fd, FS_IOC_GETFLAGS, &flags) < 0)
		return -1;
	close(fd);
	return flags & ~FS_EXTENT_FL;
}

static int set_flags(const char *path, int flags)
{
	int fd = open(path, O_RDONLY), old, r;

	if (fd < 0 || ioctl(fd, FS_IOC_GETFLAGS, &old) < 0)
		return -1;
	old = (old & FS_EXTENT_FL) | flags;
	r = ioctl(fd, FS_IOC_SETFLAGS, &old);
	close(fd);
	return r;
}

static void flags(void)
{
	static const int each[] = { FS_NODUMP_FL, FS_NOATIME_FL, FS_SYNC_FL, FS_IMMUTABLE_FL,
		FS_APPEND_FL, FS_SECRM_FL, FS_COMPR_FL, FS_JOURNAL_DATA_FL, FS_NOTAIL_FL,
		FS_DIRSYNC_FL, FS_TOPDIR_FL, FS_NOCOW_FL, FS_CASEFOLD_FL, FS_VERITY_FL };
	unsigned int generation = 0;
	int fd, f;

	close(make("f", 10));
	mkdir("d", 0755);
	mkfifo("p", 0600);
	for (size_t i = 0; i < COUNT(each); i++) {
		say("flag", "%x", each[i]);
		EMIT(set_flags("f", each[i]));
		EMIT(flags_of("f"));
		EMIT(set_flags("d", each[i]));
		EMIT(flags_of("d"));
		set_flags("f", 0);
		set_flags("d", 0);
	}
	EMIT(flags_of("p"));
	EMIT_TIMES("f", set_flags("f", FS_NODUMP_FL));
	EMIT_TIMES("f", set_flags("f", FS_NODUMP_FL));
	EMIT_TIMES("f", set_flags("f", 0));
	EMIT_TIMES("d", set_flags("d", FS_NOATIME_FL));
	fd = (int)must(open("f", O_RDONLY));
	EMIT(ioctl(fd, FS_IOC_GETVERSION, &generation));
	EMIT_IF(f = open("f", O_PATH));
	EMIT(ioctl(f, FS_IOC_GETFLAGS, &generation));
	EMIT(ioctl(fd, FS_IOC_SETFLAGS, (void *)8));
}

static void projects(void)
{
	struct fsxattr x = { 0 };
	int fd = make("f", 10);

	EMIT(ioctl(fd, FS_IOC_FSGETXATTR, &x));
	say("project and flags", "%u %x", x.fsx_projid, x.fsx_xflags);
	x.fsx_projid = 7;
	EMIT(ioctl(fd, FS_IOC_FSSETXATTR, &x));
	x.fsx_projid = 0;
	x.fsx_xflags |= FS_XFLAG_NODUMP;
	EMIT(ioctl(fd, FS_IOC_FSSETXATTR, &x));
	EMIT(ioctl(fd, FS_IOC_FSGETXATTR, &x));
	say("project and flags", "%u %x", x.fsx_projid, x.fsx_xflags);
	x.fsx_extsize = 100000;
	x.fsx_xflags |= FS_XFLAG_EXTSIZE;
	EMIT(ioctl(fd, FS_IOC_FSSETXATTR, &x));
}

/* The calls of Linux 6.17 for the same. */
static void flags_by_path(void)
{
	enum { FILE_GETATTR = 468, FILE_SETATTR = 469 };
	struct {
		uint64_t xflags;
		uint32_t extsize, nextents, projid, cowextsize;
	} attr = { 0 };

	close(make("f", 10));
	symlink("f", "l");
	EMIT(syscall(FILE_GETATTR, AT_FDCWD, "f", &attr, sizeof(attr), 0));
	attr.xflags |= FS_XFLAG_NODUMP;
	EMIT(syscall(FILE_SETATTR, AT_FDCWD, "f", &attr, sizeof(attr), 0));
	EMIT(flags_of("f"));
	EMIT(syscall(FILE_GETATTR, AT_FDCWD, "l", &attr, sizeof(attr), AT_SYMLINK_NOFOLLOW));
	EMIT(syscall(FILE_GETATTR, AT_FDCWD, "nothing", &attr, sizeof(attr), 0));
}

/* ---- files that must not be changed ---- */

static void try_all(const char *path)
{
	char data[10];
	int fd;

	EMIT(access(path, R_OK));
	fd = (int)EMIT_IF(open(path, O_RDONLY));
	EMIT(read(fd, data, 10));
	EMIT(fchmod(fd, 0600));
	close(fd);
	EMIT_IF(open(path, O_WRONLY));
	EMIT_IF(open(path, O_RDWR | O_CREAT, 0600));
	EMIT_IF(open(path, O_RDONLY | O_TRUNC));
	fd = (int)EMIT_IF(open(path, O_WRONLY | O_APPEND));
	EMIT(write(fd, "more", 4));
	EMIT(pwrite(fd, "x", 1, 0));
	EMIT(ftruncate(fd, 0));
	EMIT(fallocate(fd, 0, 0, 100));
	EMIT(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 5));
	if (fd >= 0)
		close(fd);
	EMIT_IF(open(path, O_WRONLY | O_APPEND | O_TRUNC));
	EMIT(truncate(path, 3));
	EMIT(chmod(path, 0644));
	EMIT(chown(path, getuid(), getgid()));
	EMIT(utimensat(AT_FDCWD, path, NULL, 0));
	EMIT(utimensat(AT_FDCWD, path, (struct timespec[2]){ { 5, 5 }, { 6, 6 } }, 0));
	EMIT(setxattr(path, "user.x", "y", 1, 0));
	EMIT(removexattr(path, "user.before"));
	EMIT(getxattr(path, "user.before", data, 10));
	EMIT(link(path, "other name"));
	EMIT(rename(path, "other name"));
	EMIT(rename("another", path));
	EMIT(unlink(path));
	emit_file(path);
}

static void try_directory(void)
{
	EMIT_IF(open("d/new", O_CREAT | O_RDWR, 0600));
	EMIT(mkdir("d/newdir", 0700));
	EMIT(symlink("x", "d/newlink"));
	EMIT(mkfifo("d/newfifo", 0700));
	EMIT(link("another", "d/linked"));
	EMIT(rename("another", "d/moved"));
	EMIT(rename("d/f", "d/g"));
	EMIT(rename("d/f", "out"));
	EMIT(unlink("d/f"));
	EMIT(rmdir("d/sub"));
	EMIT(rename("d", "dd"));
	EMIT(chmod("d", 0700));
	EMIT_IF(open("d/f", O_RDWR));
	EMIT_IF(open("d", O_TMPFILE | O_RDWR, 0600));
	EMIT(rmdir("d"));
}

static void set_up(int flag, bool of_directory)
{
	close(make("f", 10));
	close(make("another", 10));
	must(setxattr("f", "user.before", "z", 1, 0));
	mkdir("d", 0755);
	mkdir("d/sub", 0755);
	close(make("d/f", 10));
	EMIT(set_flags(of_directory ? "d" : "f", flag));
}

static void immutable(void)
{
	set_up(FS_IMMUTABLE_FL, false);
	try_all("f");
	EMIT(set_flags("f", FS_IMMUTABLE_FL | FS_NODUMP_FL));
	EMIT(set_flags("f", 0));
	EMIT(chmod("f", 0644));
	EMIT(unlink("f"));
}

static void append_only(void)
{
	set_up(FS_APPEND_FL, false);
	try_all("f");
	EMIT(set_flags("f", 0));
}

static void immutable_directory(void)
{
	set_up(FS_IMMUTABLE_FL, true);
	try_directory();
	EMIT(set_flags("d", 0));
	EMIT(unlink("d/f"));
}

static void append_only_directory(void)
{
	set_up(FS_APPEND_FL, true);
	try_directory();
	EMIT(set_flags("d", 0));
}

/* A descriptor from before does not help. */
static void immutable_later(void)
{
	int fd = make("f", 10), from = make("from", 10);

	EMIT(set_flags("f", FS_IMMUTABLE_FL));
	EMIT(pwrite(fd, "x", 1, 0));
	EMIT(ftruncate(fd, 3));
	EMIT(fallocate(fd, 0, 0, 100));
	EMIT(copy_file_range(from, &(off_t){ 0 }, fd, &(off_t){ 0 }, 5, 0));
	EMIT(fchmod(fd, 0600));
	EMIT(futimens(fd, NULL));
	EMIT(fsetxattr(fd, "user.x", "y", 1, 0));
	EMIT(set_flags("f", 0));
	emit_content("f", fd);
}

/* Nothing that is read changes the time of the last access. */
static void no_atime(void)
{
	char data[10];
	int fd = make("f", 10);

	mkdir("d", 0755);
	EMIT(set_flags("f", FS_NOATIME_FL));
	EMIT_TIMES("f", pwrite(fd, "x", 1, 0));
	EMIT_TIMES("f", pread(fd, data, 10, 0));
	EMIT(set_flags("f", 0));
	EMIT_TIMES("f", pread(fd, data, 10, 0));
	fd = (int)must(open("f", O_RDWR | O_NOATIME));
	EMIT_TIMES("f", pwrite(fd, "x", 1, 0));
	EMIT_TIMES("f", pread(fd, data, 10, 0));
}

/* The flag of the file that is open is set and taken away. */
static void no_atime_later(void)
{
	char data[10];
	int fd = make("f", 10);

	EMIT(fcntl(fd, F_SETFL, O_NOATIME));
	EMIT_TIMES("f", pwrite(fd, "x", 1, 0));
	EMIT_TIMES("f", pread(fd, data, 10, 0));
	EMIT(fcntl(fd, F_SETFL, 0));
	EMIT_TIMES("f", pread(fd, data, 10, 0));
}

/* ---- times ---- */

static void emit_times(const char *path, int64_t sec, long nsec)
{
	struct timespec times[2] = { { sec, nsec }, { sec, nsec } };
	struct stat st;

	say("time", "%ld.%ld", (long)sec, nsec);
	if (EMIT(utimensat(AT_FDCWD, path, times, 0)) < 0)
		return;
	must(stat(path, &st));
	say("is", "%ld.%ld, %ld.%ld", (long)st.st_atim.tv_sec, (long)st.st_atim.tv_nsec,
		(long)st.st_mtim.tv_sec, (long)st.st_mtim.tv_nsec);
}

static void range_of_times(void)
{
	static const int64_t secs[] = { 0, 1, -1, 1700000000, INT32_MAX, (int64_t)INT32_MAX + 1,
		INT32_MIN, (int64_t)INT32_MIN - 1, (int64_t)1 << 32, ((int64_t)1 << 32) - 1,
		(int64_t)1 << 33, (int64_t)1 << 34, 15032385535, 15032385536, (int64_t)1 << 40,
		-((int64_t)1 << 40), INT64_MAX, INT64_MIN };

	close(make("f", 10));
	for (size_t i = 0; i < COUNT(secs); i++)
		emit_times("f", secs[i], 0);
	emit_times("f", 1000, 1);
	emit_times("f", 1000, 999999999);
	emit_times("f", -1000, 999999999);
	emit_times("f", 1000, 1000000000);
	emit_times("f", 1000, -1);
}

static void setting_times(void)
{
	const struct timespec omit = { 9, UTIME_OMIT }, now = { 9, UTIME_NOW }, then = { 5, 7 };
	int fd = make("f", 10);
	struct stat st;

	symlink("f", "l");
	mkdir("d", 0755);
	mkfifo("p", 0600);
	EMIT_TIMES("f", utimensat(AT_FDCWD, "f", (struct timespec[2]){ omit, omit }, 0));
	EMIT_TIMES("f", utimensat(AT_FDCWD, "f", (struct timespec[2]){ then, omit }, 0));
	EMIT_TIMES("f", utimensat(AT_FDCWD, "f", (struct timespec[2]){ omit, then }, 0));
	EMIT_TIMES("f", utimensat(AT_FDCWD, "f", (struct timespec[2]){ then, then }, 0));
	EMIT_TIMES("f", utimensat(AT_FDCWD, "f", (struct timespec[2]){ now, omit }, 0));
	EMIT_TIMES("f", utimensat(AT_FDCWD, "f", (struct timespec[2]){ omit, now }, 0));
	EMIT_TIMES("f", utimensat(AT_FDCWD, "f", (struct timespec[2]){ now, then }, 0));
	EMIT_TIMES("f", utimensat(AT_FDCWD, "f", NULL, 0));
	EMIT_TIMES("f", futimens(fd, (struct timespec[2]){ then, then }));
	EMIT_TIMES("d", utimensat(AT_FDCWD, "d", (struct timespec[2]){ then, then }, 0));
	EMIT_TIMES("p", utimensat(AT_FDCWD, "p", (struct timespec[2]){ then, then }, 0));
	EMIT_TIMES("f", utimensat(AT_FDCWD, "l", (struct timespec[2]){ then, then }, NEAREST));
	must(lstat("l", &st));
	say("of the link", "%ld.%ld", (long)st.st_mtim.tv_sec, (long)st.st_mtim.tv_nsec);
	EMIT_TIMES("f", utimensat(AT_FDCWD, "l", (struct timespec[2]){ now, then }, 0));
	EMIT(utimensat(AT_FDCWD, "nothing", (struct timespec[2]){ omit, omit }, 0));
	EMIT(utimensat(AT_FDCWD, "f", NULL, 64));
	EMIT(utimensat(AT_FDCWD, "", NULL, 0));
	EMIT(futimens((int)must(open("f", O_PATH)), NULL));
	EMIT(futimens((int)must(open("f", O_RDONLY)), (struct timespec[2]){ then, then }));
}

/* ---- modes and owners ---- */

static void modes(void)
{
	static const mode_t each[] = { 0, 0777, 0644, 01777, 02755, 02644, 04755, 07777, 0107000 };
	int path;
	struct stat st;

	close(make("f", 10));
	mkdir("d", 0755);
	symlink("f", "l");
	path = (int)must(open("f", O_PATH));
	for (size_t i = 0; i < COUNT(each); i++) {
		EMIT(chmod("f", each[i]));
		EMIT(chmod("d", each[i]));
		must(stat("f", &st));
		say("file", "%o", st.st_mode);
		must(stat("d", &st));
		say("directory", "%o", st.st_mode);
	}
	EMIT(fchmod(path, 0600));
	EMIT(fchmodat(AT_FDCWD, "l", 0600, AT_SYMLINK_NOFOLLOW));
	EMIT(syscall(452, AT_FDCWD, "l", 0600, AT_SYMLINK_NOFOLLOW)); /* fchmodat2 */
	EMIT(syscall(452, path, "", 0640, AT_EMPTY_PATH));
	EMIT(chmod("l", 0660));
	must(stat("f", &st));
	say("file", "%o", st.st_mode);
	EMIT(fchown(path, 0, 0));
	EMIT(fchownat(path, "", getuid(), getgid(), AT_EMPTY_PATH));
	EMIT(lchown("l", getuid(), getgid()));
	EMIT(chmod("nothing", 0600));
	EMIT(faccessat(AT_FDCWD, "l", R_OK, AT_SYMLINK_NOFOLLOW));
	EMIT(faccessat(AT_FDCWD, "f", X_OK, AT_EACCESS));
	EMIT(access("f", 64));
	EMIT(chmod("d", 0755)); /* so that it can be removed */
}

/* ---- extended attributes ---- */

/* Of no space of names, of one that is not for all, too long, of any bytes. */
static void extended_names(void)
{
	char value[100] = "", names[300], long_name[300] = "user.";

	memset(long_name + 5, 'n', 251);
	EMIT(setxattr("f", "user.", "x", 1, 0));
	EMIT(setxattr("f", "user", "x", 1, 0));
	EMIT(setxattr("f", "", "x", 1, 0));
	EMIT(setxattr("f", "other.x", "x", 1, 0));
	EMIT(getxattr("f", "other.x", value, 100));
	EMIT(removexattr("f", "other.x"));
	EMIT(setxattr("f", "system.x", "x", 1, 0));
	EMIT(getxattr("f", "system.x", value, 100));
	EMIT(setxattr("f", long_name, "x", 1, 0));
	long_name[255] = '\0';
	EMIT(setxattr("f", long_name, "x", 1, 0));
	EMIT(getxattr("f", long_name, value, 100));
	EMIT(setxattr("f", "user.odd\xff\x01 name", "x", 1, 0));
	EMIT(listxattr("f", names, sizeof(names)) < 0 ? -1 : 0);
}

static void extended(void)
{
	char value[100] = "", names[300];
	int fd = make("f", 10);

	mkdir("d", 0755);
	symlink("f", "l");
	mkfifo("p", 0600);
	EMIT(setxattr("f", "user.a", "value", 5, 0));
	EMIT(setxattr("f", "user.a", "again", 5, XATTR_CREATE));
	EMIT(setxattr("f", "user.b", "again", 5, XATTR_REPLACE));
	EMIT(setxattr("f", "user.a", "again", 5, XATTR_CREATE | XATTR_REPLACE));
	EMIT(setxattr("f", "user.a", "again", 5, 4));
	EMIT(setxattr("f", "user.empty", "", 0, 0));
	EMIT(getxattr("f", "user.empty", value, 100));
	EMIT(getxattr("f", "user.a", value, 100));
	EMIT(getxattr("f", "user.a", value, 4));
	EMIT(getxattr("f", "user.a", NULL, 0));
	EMIT(getxattr("f", "user.none", value, 100));
	EMIT(listxattr("f", names, sizeof(names)));
	EMIT(listxattr("f", names, 5));
	EMIT(listxattr("f", NULL, 0));
	EMIT(removexattr("f", "user.none"));
	EMIT(removexattr("f", "user.empty"));
	extended_names();
	EMIT(setxattr("f", "user.x", nowhere, 5, 0));
	EMIT(setxattr("d", "user.x", "x", 1, 0));
	EMIT(setxattr("l", "user.through", "x", 1, 0));
	EMIT(lsetxattr("l", "user.x", "x", 1, 0));
	EMIT(lgetxattr("l", "user.x", value, 100));
	EMIT(setxattr("p", "user.x", "x", 1, 0));
	EMIT(lsetxattr("l", "trusted.x", "x", 1, 0));
	EMIT(llistxattr("l", names, sizeof(names)));
	EMIT(setxattr("p", "trusted.x", "xy", 2, 0));
	EMIT(getxattr("p", "trusted.x", value, 100));
	EMIT(setxattr("f", "security.any", "x", 1, 0));
	EMIT(getxattr("f", "security.any", value, 100));
	EMIT(fgetxattr(fd, "user.through", value, 100));
	EMIT(fgetxattr((int)must(open("f", O_PATH)), "user.through", value, 100));
	EMIT_TIMES("f", fsetxattr(fd, "user.a", "timed", 5, 0));
	EMIT_TIMES("f", fgetxattr(fd, "user.a", value, 100));
	EMIT_TIMES("f", fremovexattr(fd, "user.a"));
}

/* Many, and large ones, up to what the file system holds. */
static void many_extended(void)
{
	static char value[70000], back[70000], names[70000];
	static const size_t sizes[] = { 100, 1000, 4000, 5000, 30000, 65535, 65536, 65537 };
	char name[40];
	ssize_t n;
	int set;

	close(make("large", 10));
	close(make("many", 10));
	fill(value, sizeof(value), 5);
	for (size_t i = 0; i < COUNT(sizes); i++) {
		say("size", "%zu", sizes[i]);
		EMIT(setxattr("large", "user.large", value, sizes[i], 0));
		EMIT(n = getxattr("large", "user.large", back, sizeof(back)));
		EMIT(n > 0 ? memcmp(value, back, n) : 0);
		EMIT(getxattr("large", "user.large", NULL, 0));
		EMIT(getxattr("large", "user.large", back, 99));
	}
	errno = 0;
	for (set = 0; set < 3000; set++) {
		snprintf(name, sizeof(name), "user.%04d of very very many", set);
		if (setxattr("many", name, value, set % 50, 0) < 0)
			break;
	}
	say("set", "%d, then %s", set, errno ? strerrorname_np(errno) : "no more");
	EMIT(n = listxattr("many", names, 65536));
	say("names", "%016lx", n > 0 ? (long)hash(1, names, n) : 0);
	for (int i = 0; i < set; i += 50) {
		snprintf(name, sizeof(name), "user.%04d of very very many", i);
		EMIT(getxattr("many", name, back, sizeof(back)));
		must(removexattr("many", name));
	}
	EMIT(listxattr("many", names, 65536));
}

/* ---- the file system ---- */

static void file_system(void)
{
	struct statvfs of_dir, of_file;

	close(make("f", 10));
	must(statvfs(".", &of_dir));
	must(statvfs("f", &of_file));
	say("sizes", "%lu %lu %lu %lu", of_dir.f_bsize, of_dir.f_frsize, of_dir.f_blocks,
		of_dir.f_namemax);
	say("files", "%lu", of_dir.f_files);
	say("of a file", "%d", of_file.f_blocks == of_dir.f_blocks);
	EMIT(pathconf(".", _PC_NAME_MAX));
	EMIT(pathconf(".", _PC_LINK_MAX) > 0);
	EMIT(pathconf(".", _PC_FILESIZEBITS) > 0);
	EMIT(statvfs("nothing", &of_dir));
}

static const struct section sections[] = {
	{ "statxes", statxes },
	{ "flags", flags },
	{ "projects", projects },
	{ "flags_by_path", flags_by_path },
	{ "immutable", immutable },
	{ "append_only", append_only },
	{ "immutable_directory", immutable_directory },
	{ "append_only_directory", append_only_directory },
	{ "immutable_later", immutable_later },
	{ "no_atime", no_atime },
	{ "no_atime_later", no_atime_later },
	{ "range_of_times", range_of_times },
	{ "setting_times", setting_times },
	{ "modes", modes },
	{ "extended", extended },
	{ "many_extended", many_extended },
	{ "file_system", file_system },
};

int main(int argc, char **argv)
{
	(void)argc;
	return run_sections(sections, COUNT(sections), argv);
}
