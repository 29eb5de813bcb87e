/* SPDX-License-Identifier: MIT */

/* Names and directories: see regress.h. */

#include "regress.h"

#include <dirent.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>

static void touch(const char *path)
{
	close(make(path, 10));
}

static void emit_stat(const char *path)
{
	struct stat st;

	if (lstat(path, &st) < 0)
		say(path, "%s", strerrorname_np(errno));
	else
		say(path, "mode %o, %lu links, device %x", st.st_mode, (long)st.st_nlink,
			(unsigned int)st.st_rdev);
}

static bool is_same(const char *a, const char *b)
{
	struct stat st_a, st_b;

	must(lstat(a, &st_a));
	must(lstat(b, &st_b));
	return st_a.st_ino == st_b.st_ino && st_a.st_dev == st_b.st_dev;
}

/* ---- what must not be ---- */

static void refusals(void)
{
	touch("f");
	mkdir("d", 0755);
	mkdir("d/sub", 0755);
	mkdir("full", 0755);
	touch("full/f");
	symlink("d", "link");
	EMIT(mkdir("d", 0755));
	EMIT(mkdir("f", 0755));
	EMIT(mkdir("f/x", 0755));
	EMIT(mkdir("nothing/x", 0755));
	EMIT(mkdir(".", 0755));
	EMIT(mkdir("new/", 0755));
	EMIT(mkdir("link/new", 0755));
	EMIT(mkdir("", 0755));
	EMIT(rmdir("."));
	EMIT(rmdir("d/.."));
	EMIT(rmdir("full/"));
	EMIT(rmdir("full"));
	EMIT(rmdir("f"));
	EMIT(rmdir("link"));
	EMIT(rmdir("link/"));
	EMIT(rmdir("nothing"));
	EMIT(unlink("d"));
	EMIT(unlink("f/"));
	EMIT(unlink("link/"));
	EMIT(unlink("nothing"));
	EMIT(unlink("."));
	EMIT(unlink(""));
	EMIT(link("d", "dd"));
	EMIT(link("f", "f"));
	EMIT(link("f", "f/x"));
	EMIT(link("f", "new file/"));
	EMIT(link("nothing", "x"));
	EMIT(link("link", "link2"));
	emit_stat("link2");
	EMIT(linkat(AT_FDCWD, "link", AT_FDCWD, "link3", AT_SYMLINK_FOLLOW));
	EMIT(symlink("", "empty"));
	EMIT(symlink("x", "f"));
	EMIT(symlink("x", "d/"));
	EMIT(symlink("x", "nothing/x"));
	EMIT(mknod("dir", S_IFDIR | 0755, 0));
	EMIT(mknod("odd", 0170000, 0));
	EMIT(mknod("f", S_IFREG | 0644, 0));
	EMIT(mknod("d", S_IFIFO | 0644, 0));
	EMIT(mknod("plain", 0644, 0));
	emit_stat("plain");
	EMIT(readlink("f", (char[9]){ 0 }, 9));
	EMIT(readlink("link", (char[1]){ 0 }, 1));
	EMIT(access("f/x", F_OK));
	EMIT(access("f/", F_OK));
	EMIT(access("link/", F_OK));
	EMIT(chdir("f"));
}

static void renames_refused(void)
{
	touch("f");
	touch("g");
	link("f", "same");
	mkdir("d", 0755);
	mkdir("d/sub", 0755);
	mkdir("e", 0755);
	symlink("d", "link");
	EMIT(rename("d", "d/sub/x"));
	EMIT(rename("d", "d"));
	EMIT(rename("d/sub", "d"));
	EMIT(rename("f", "d"));
	EMIT(rename("d", "f"));
	EMIT(rename("e", "d"));
	EMIT(rename("f", "same"));
	emit_stat("f");
	emit_stat("same");
	EMIT(rename(".", "x"));
	EMIT(rename("d/.", "x"));
	EMIT(rename("d/..", "x"));
	EMIT(rename("e", "."));
	EMIT(rename("e", ".."));
	EMIT(rename("f/", "x"));
	EMIT(rename("f", "x/"));
	EMIT(rename("f/x", "x"));
	EMIT(rename("f", "g/x"));
	EMIT(rename("nothing", "x"));
	EMIT(rename("f", "nothing/x"));
	EMIT(rename("", "x"));
	EMIT(rename("f", ""));
	EMIT(rename("e/", "ee/"));
	EMIT(rename("link/", "x"));
	EMIT(rename("f", "link/f"));
	emit_stat("d/f");
	EMIT(rename("ee", "d/sub"));
	emit_stat("d/sub");
}

static void rename_flags(void)
{
	touch("f");
	mkdir("d", 0755);
	touch("d/g");
	symlink("x", "link");
	EMIT(renameat2(AT_FDCWD, "f", AT_FDCWD, "d/g", RENAME_NOREPLACE));
	EMIT(renameat2(AT_FDCWD, "f", AT_FDCWD, "new", RENAME_NOREPLACE));
	EMIT(renameat2(AT_FDCWD, "nothing", AT_FDCWD, "new", RENAME_NOREPLACE));
	EMIT(renameat2(AT_FDCWD, "new", AT_FDCWD, "link", RENAME_NOREPLACE));
	EMIT(renameat2(AT_FDCWD, "new", AT_FDCWD, "d", RENAME_EXCHANGE));
	emit_stat("new");
	emit_stat("d");
	emit_stat("new/g");
	EMIT(renameat2(AT_FDCWD, "new/g", AT_FDCWD, "link", RENAME_EXCHANGE));
	emit_stat("new/g");
	EMIT(renameat2(AT_FDCWD, "d", AT_FDCWD, "nothing", RENAME_EXCHANGE));
	EMIT(renameat2(AT_FDCWD, "new", AT_FDCWD, "new/g", RENAME_EXCHANGE));
	EMIT(renameat2(AT_FDCWD, "new/g", AT_FDCWD, "new", RENAME_EXCHANGE));
	EMIT(renameat2(AT_FDCWD, "d", AT_FDCWD, "d", RENAME_EXCHANGE));
	EMIT(renameat2(AT_FDCWD, "d", AT_FDCWD, "x", RENAME_EXCHANGE | RENAME_NOREPLACE));
	EMIT(renameat2(AT_FDCWD, "d", AT_FDCWD, "x", RENAME_EXCHANGE | RENAME_WHITEOUT));
	EMIT(renameat2(AT_FDCWD, "d", AT_FDCWD, "x", 64));
	EMIT(renameat2(AT_FDCWD, "d", AT_FDCWD, "x", RENAME_WHITEOUT));
	emit_stat("d");
	EMIT(renameat2(AT_FDCWD, "x", AT_FDCWD, "y", RENAME_WHITEOUT | RENAME_NOREPLACE));
	emit_stat("x");
	emit_stat("y");
	EMIT_IF(open("x", O_RDONLY));
	EMIT(unlink("x"));
	EMIT(unlink("d"));
}

/* ---- where one is ---- */

static void dot_dot(void)
{
	int dir, inner;
	char cwd[PATH_MAX];

	mkdir("a", 0755);
	mkdir("b", 0755);
	mkdir("a/d", 0755);
	mkdir("a/d/e", 0755);
	dir = (int)must(open("a/d", O_RDONLY));
	inner = (int)must(open("a/d/e", O_PATH));
	must(symlinkat("x", dir, "../in a"));
	EMIT(rename("a/d", "b/d2"));
	must(symlinkat("x", dir, "../in b"));
	emit_stat("a/in a");
	emit_stat("b/in b");
	must(symlinkat("x", inner, "../../also in b"));
	emit_stat("b/also in b");
	EMIT(is_same("b/d2/..", "b"));
	EMIT(is_same("b/d2/e/../..", "b"));
	must(fchdir(inner));
	must((long)getcwd(cwd, sizeof(cwd)));
	say("cwd ends with", "%s", strstr(cwd, "/b/d2/"));
	EMIT(renameat(AT_FDCWD, "../../../b", AT_FDCWD, "../../../c"));
	must((long)getcwd(cwd, sizeof(cwd)));
	say("cwd ends with", "%s", strstr(cwd, "/c/d2/"));
	EMIT(rmdir("../../d2/e"));
	EMIT_IF(getcwd(cwd, sizeof(cwd)) ? 0 : -1);
	EMIT_IF(open("..", O_RDONLY));
	EMIT_IF(open(".", O_RDONLY));
	EMIT_IF(open("new", O_CREAT | O_RDWR, 0644));
	EMIT(mkdir("new", 0755));
	EMIT(symlink("x", "new"));
	EMIT(fchdir(dir));
	EMIT_IF(open("new", O_CREAT | O_RDWR, 0644));
	EMIT(unlinkat(dir, "new", 0));
}

static void deep(void)
{
	enum { DEPTH = 600 };
	char name[] = "a name of some length", cwd[PATH_MAX];
	struct stat top, st;
	int depth, fd;

	must(stat(".", &top));
	for (depth = 0; depth < DEPTH; depth++) {
		must(mkdir(name, 0755));
		must(chdir(name));
	}
	EMIT_IF(getcwd(cwd, sizeof(cwd)) ? 0 : -1);
	fd = make("at the bottom", 100);
	emit_content("there", fd);
	close(fd);
	EMIT(unlink("at the bottom"));
	for (depth = 0; depth < DEPTH; depth++) {
		must(chdir(".."));
		must(rmdir(name));
	}
	must(stat(".", &st));
	say("back at the top", "%d", st.st_ino == top.st_ino);
}

/* ---- links ---- */

static void long_links(void)
{
	static const size_t lengths[] = { 1, 59, 60, 100, 255, 1000, 4000, 4094, 4095, 4096 };
	char target[5000], back[5000], name[20];

	for (size_t i = 0; i < COUNT(lengths); i++) {
		memset(target, 'a' + (int)i, sizeof(target));
		target[lengths[i]] = '\0';
		snprintf(name, sizeof(name), "link%zu", lengths[i]);
		say("length", "%zu", lengths[i]);
		if (EMIT(symlink(target, name)) < 0)
			continue;
		EMIT(readlink(name, back, sizeof(back)));
		EMIT(memcmp(target, back, lengths[i]));
		EMIT(readlink(name, back, 10));
		EMIT(access(name, F_OK));
	}
}

static void chained_links(void)
{
	char name[20] = "end", next[20];

	touch("end");
	for (int i = 0; i < 42; i++) {
		snprintf(next, sizeof(next), "l%d", i);
		must(symlink(name, next));
		strcpy(name, next);
	}
	EMIT(access("l10", R_OK));
	EMIT(access("l39", R_OK));
	EMIT(access("l40", R_OK));
	EMIT(access("l41", R_OK));
	EMIT(unlink("l20"));
	EMIT(access("l39", R_OK));
	EMIT(symlink("/", "root"));
	EMIT(access("root/../../proc/self", F_OK));
}

static void many_links(void)
{
	enum { LINKS = 1500 };
	char name[20];
	struct stat st;
	int fd = make("f", 10);

	for (int i = 0; i < LINKS; i++) {
		snprintf(name, sizeof(name), "link %d", i);
		must(link("f", name));
	}
	emit_stat("f");
	emit_stat("link 700");
	EMIT(is_same("f", "link 1499"));
	for (int i = 0; i < LINKS; i++) {
		snprintf(name, sizeof(name), "link %d", i);
		must(i % 2 ? unlink(name) : rename(name, "f"));
		if (i % 2 == 0)
			must(unlink(name)); /* names of one inode: the rename did nothing */
	}
	must(fstat(fd, &st));
	say("links", "%lu", (long)st.st_nlink);
	EMIT(unlink("f"));
	must(fstat(fd, &st));
	say("links", "%lu", (long)st.st_nlink);
}

static void links_of_directories(void)
{
	char name[20];

	for (int i = 0; i < 50; i++) {
		snprintf(name, sizeof(name), "d%d", i);
		must(mkdir(name, 0755));
	}
	emit_stat(".");
	must(rename("d1", "d2/x"));
	must(rename("d3", "d4"));
	must(rmdir("d5"));
	emit_stat(".");
	emit_stat("d2");
	emit_stat("d4");
}

/* ---- times ---- */

static int made(const char *path)
{
	return close(open(path, O_CREAT | O_EXCL | O_WRONLY, 0644));
}

static int written(const char *path, size_t n, int flags)
{
	int fd = open(path, O_WRONLY | flags);
	char data[PAGE] = { 1 };

	if (fd < 0 || write(fd, data, n) != (ssize_t)n)
		return -1;
	return close(fd);
}

static int was_read(const char *path, int flags)
{
	int fd = open(path, O_RDONLY | flags);
	char data[10];

	if (fd < 0 || read(fd, data, sizeof(data)) < 0)
		return -1;
	return close(fd);
}

static int listed(const char *path)
{
	DIR *dir = opendir(path);

	while (readdir(dir))
		;
	return closedir(dir);
}

static void times_of_files(void)
{
	int fd;

	touch("f");
	mkdir("d", 0755);
	fd = (int)must(open("f", O_RDWR));
	EMIT_TIMES("f", was_read("f", 0));
	EMIT_TIMES("f", was_read("f", 0));
	EMIT_TIMES("f", written("f", 5, 0));
	EMIT_TIMES("f", was_read("f", 0));
	EMIT_TIMES("f", written("f", 5, O_APPEND));
	EMIT_TIMES("f", was_read("f", O_NOATIME));
	EMIT_TIMES("f", written("f", 0, 0));
	EMIT_TIMES("f", written("f", 0, O_TRUNC));
	EMIT_TIMES("f", written("f", 0, O_TRUNC));
	EMIT_TIMES("f", chmod("f", 0644));
	EMIT_TIMES("f", chmod("f", 0600));
	EMIT_TIMES("f", fchmod(fd, 0644));
	EMIT_TIMES("f", chown("f", getuid(), getgid()));
	EMIT_TIMES("f", link("f", "g"));
	EMIT_TIMES("f", unlink("g"));
	EMIT_TIMES("f", (int)must(rename("f", "g")) + rename("g", "f"));
	EMIT_TIMES("f", (int)must(link("f", "d/g")) + unlink("d/g"));
	EMIT_TIMES("f", truncate("f", 100));
	EMIT_TIMES("f", truncate("f", 100));
	EMIT_TIMES("f", ftruncate(fd, 100));
	EMIT_TIMES("f", ftruncate(fd, 10));
	EMIT_TIMES("f", fallocate(fd, 0, 0, 100));
	EMIT_TIMES("f", fallocate(fd, 0, 0, 100));
	EMIT_TIMES("f", fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, 9000));
	EMIT_TIMES("f", fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 50));
	EMIT_TIMES("f", fallocate(fd, FALLOC_FL_ZERO_RANGE, 0, 50));
	EMIT_TIMES("f", pwrite(fd, "x", 1, 0));
	EMIT_TIMES("f", fsync(fd));
	EMIT_TIMES("f", futimens(fd, NULL));
	EMIT_TIMES("f", close(fd));
	EMIT_TIMES("f", copy_file_range((int)must(open("f", O_RDONLY)), NULL,
				(int)must(open("f", O_WRONLY)), &(off_t){ 200 }, 50, 0));
	EMIT_TIMES("f", copy_file_range((int)must(open("f", O_RDONLY)), &(off_t){ 9999 },
				(int)must(open("f", O_WRONLY)), NULL, 50, 0));
	EMIT_TIMES("f", access("f", R_OK));
}

/* Of the file that a rename puts away, which is still open. */
static void times_of_the_replaced(void)
{
	struct stat was, is;
	int fd = make("old", 10);

	touch("new");
	must(fstat(fd, &was));
	tick();
	must(rename("new", "old"));
	must(fstat(fd, &is));
	emit_moved("replaced", &was, &is);
	say("links", "%lu", (long)is.st_nlink);
	fd = (int)must(open("old", O_RDONLY));
	must(fstat(fd, &was));
	tick();
	must(unlink("old"));
	must(fstat(fd, &is));
	emit_moved("unlinked", &was, &is);
	was = is;
	tick();
	must(fchmod(fd, 0600));
	must(fstat(fd, &is));
	emit_moved("changed after that", &was, &is);
}

static void times_of_directories(void)
{
	mkdir("d", 0755);
	mkdir("e", 0755);
	EMIT_TIMES("d", listed("d"));
	EMIT_TIMES("d", listed("d"));
	EMIT_TIMES("d", made("d/f"));
	EMIT_TIMES("d", close(open("d/f", O_CREAT | O_RDWR, 0644)));
	EMIT_TIMES("d", written("d/f", 10, 0));
	EMIT_TIMES("d", chmod("d/f", 0600));
	EMIT_TIMES("d", rename("d/f", "d/g"));
	EMIT_TIMES("d", link("d/g", "d/h"));
	EMIT_TIMES("d", rename("d/g", "d/h"));
	EMIT_TIMES("d", unlink("d/h"));
	EMIT_TIMES("d", symlink("x", "d/s"));
	EMIT_TIMES("d", mkfifo("d/p", 0600));
	EMIT_TIMES("d", mkdir("d/sub", 0755));
	EMIT_TIMES("d", made("d/sub/f"));
	EMIT_TIMES("d", rename("d/sub", "e/sub"));
	EMIT_TIMES("d", rename("e/sub", "d/sub"));
	EMIT_TIMES("e", rename("d/g", "e/g"));
	EMIT_TIMES("e", rename("e/g", "e/i"));
	EMIT_TIMES("d", unlink("d/sub/f"));
	EMIT_TIMES("d", rmdir("d/sub"));
	EMIT_TIMES("d", access("d/nothing", F_OK) < 0 ? 0 : -1);
	EMIT_TIMES("d", chmod("d", 0700));
	EMIT_TIMES("d", close(open("d", O_TMPFILE | O_RDWR, 0600)));
	EMIT_TIMES("d", renameat2(AT_FDCWD, "d/s", AT_FDCWD, "d/p", RENAME_EXCHANGE));
	EMIT_TIMES("d", listed("d"));
	EMIT_TIMES("e", listed("e"));
}

static void times_of_links(void)
{
	struct stat was, is;
	char target[10];

	symlink("x", "s");
	must(lstat("s", &was));
	tick();
	must(readlink("s", target, sizeof(target)));
	must(lstat("s", &is));
	emit_moved("read", &was, &is);
	was = is;
	tick();
	must(rename("s", "t"));
	must(lstat("t", &is));
	emit_moved("renamed", &was, &is);
	was = is;
	tick();
	must(lchown("t", getuid(), getgid()));
	must(lstat("t", &is));
	emit_moved("given away", &was, &is);
}

/* ---- files without names ---- */

static void nameless(void)
{
	int fd = (int)EMIT_IF(open(".", O_TMPFILE | O_RDWR, 0640)), again;
	char path[64];
	struct stat st;

	EMIT(write(fd, "content", 7));
	must(fstat(fd, &st));
	say("links and mode", "%lu %o", (long)st.st_nlink, st.st_mode);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	again = (int)EMIT_IF(open(path, O_RDONLY));
	emit_content("again", again);
	EMIT(linkat(AT_FDCWD, path, AT_FDCWD, "named", AT_SYMLINK_FOLLOW));
	emit_stat("named");
	emit_file("named");
	EMIT(linkat(AT_FDCWD, path, AT_FDCWD, "twice", AT_SYMLINK_FOLLOW));
	EMIT(linkat(AT_FDCWD, path, AT_FDCWD, "named", AT_SYMLINK_FOLLOW));
	emit_stat("twice");
	fd = (int)EMIT_IF(open(".", O_TMPFILE | O_RDWR | O_EXCL, 0640));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	EMIT(linkat(AT_FDCWD, path, AT_FDCWD, "never", AT_SYMLINK_FOLLOW));
	fd = make("f", 10);
	must(unlink("f"));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	EMIT(linkat(AT_FDCWD, path, AT_FDCWD, "again", AT_SYMLINK_FOLLOW));
	EMIT(fchmod(fd, 0600));
	EMIT(ftruncate(fd, 1000));
	EMIT(futimens(fd, NULL));
	EMIT(write(fd, "more", 4));
	emit_content("f", fd);
	EMIT(chmod(path, 0400));
	EMIT(truncate(path, 5));
	must(fstat(fd, &st));
	say("links, mode and size", "%lu %o %ld", (long)st.st_nlink, st.st_mode, (long)st.st_size);
	EMIT_IF(open(path, O_RDWR | O_TRUNC));
	emit_content("f, truncated", fd);
}

/* ---- reading directories ---- */

struct entry {
	uint64_t ino;
	int64_t off;
	unsigned short reclen;
	unsigned char type;
	char name[];
};

enum { ENTRIES = 700 };

static char buffer[1 << 16] __attribute__((aligned(8)));

static void fill_directory(void)
{
	char name[300];

	for (int i = 0; i < ENTRIES; i++) {
		snprintf(name, sizeof(name), "%d %.*s", i, i % 240, /* of all lengths */
			"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
			"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
			"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
			"xxxxxxxxxxxxxxxxxxxxxxxx");
		touch(name);
	}
}

/* The number of entries from where fd stands, and a sum of their names that knows no order. */
static int rest(int fd, size_t size, uint64_t *ret_sum)
{
	long n;
	int found = 0;

	*ret_sum = 0;
	while ((n = syscall(SYS_getdents64, fd, buffer, size)) > 0)
		for (long at = 0; at < n; found++) {
			struct entry *e = (struct entry *)(buffer + at);

			*ret_sum += hash(1, e->name, strlen(e->name));
			at += e->reclen;
		}
	return n < 0 ? -1 : found;
}

static void emit_rest(const char *what, int fd, size_t size)
{
	uint64_t sum;
	int n = rest(fd, size, &sum);

	if (n < 0)
		say(what, "%s", strerrorname_np(errno));
	else
		say(what, "%d entries, names %016lx", n, (long)sum);
}

static void listing(void)
{
	int fd;

	mkdir("d", 0755);
	must(chdir("d"));
	fill_directory();
	fd = (int)must(open(".", O_RDONLY));
	emit_rest("all", fd, sizeof(buffer));
	emit_rest("at the end", fd, sizeof(buffer));
	EMIT(lseek(fd, 0, SEEK_SET));
	emit_rest("in small pieces", fd, 300);
	EMIT(lseek(fd, 0, SEEK_SET));
	emit_rest("with too little room", fd, 10);
	emit_rest("with no room", fd, 0);
	touch("a new one");
	EMIT(lseek(fd, 0, SEEK_SET));
	emit_rest("with a new one", fd, sizeof(buffer));
	EMIT(lseek(fd, -5, SEEK_SET));
	EMIT(lseek(fd, 0, 9));
	EMIT(syscall(SYS_getdents64, (int)must(open("a new one", O_RDONLY)), buffer, 100));
	EMIT(syscall(SYS_getdents64, (int)must(open(".", O_PATH)), buffer, 100));
	EMIT(syscall(SYS_getdents64, fd, 8, 1000));
	EMIT(lseek(fd, 0, SEEK_SET));
	EMIT(syscall(SYS_getdents64, fd, 8, 1000));
	EMIT(read(fd, buffer, 100));
	EMIT(pread(fd, buffer, 100, 0));
	EMIT(write(fd, buffer, 100));
}

/* From each position that an entry gives there is as much left as there was the first time. */
static void resumed(void)
{
	static int64_t offs[ENTRIES + 10];
	int fd, n = 0, wrong = 0, read_again = 0;
	long size;

	mkdir("d", 0755);
	must(chdir("d"));
	fill_directory();
	fd = (int)must(open(".", O_RDONLY));
	while ((size = syscall(SYS_getdents64, fd, buffer, 4000)) > 0)
		for (long at = 0; at < size; n++) {
			struct entry *e = (struct entry *)(buffer + at);

			offs[n] = e->off;
			at += e->reclen;
		}
	for (int i = n - 1; i >= 0; i -= 7) {
		uint64_t sum;

		must(lseek(fd, offs[i], SEEK_SET));
		read_again++;
		wrong += rest(fd, 2000, &sum) != n - 1 - i;
	}
	say("positions, wrong ones", "%d %d", read_again, wrong);
	for (int i = 0; i < n; i++)
		for (int j = i + 1; j < n; j++)
			wrong += offs[i] == offs[j];
	say("the same twice", "%d", wrong);
}

/* Entries are removed while they are read, as rm -r does: none is left over. */
static void emptied(void)
{
	int fd, gone = 0;
	long size;

	mkdir("d", 0755);
	must(chdir("d"));
	fill_directory();
	fd = (int)must(open(".", O_RDONLY));
	while ((size = syscall(SYS_getdents64, fd, buffer, 2000)) > 0)
		for (long at = 0; at < size;) {
			struct entry *e = (struct entry *)(buffer + at);

			if (e->name[0] != '.' && unlink(e->name) == 0)
				gone++;
			at += e->reclen;
		}
	say("gone", "%d", gone);
	EMIT(rmdir("../d"));
	EMIT(lseek(fd, 0, SEEK_SET));
	emit_rest("of a directory that is no more", fd, sizeof(buffer));
}

static void types(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = "s" };
	struct dirent *e;
	DIR *dir;
	char line[13][40];
	int n = 0;

	touch("f");
	mkdir("d", 0755);
	symlink("d", "l");
	mkfifo("p", 0600);
	must(bind(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&address, sizeof(address)));
	EMIT(mknod("c", S_IFCHR | 0600, makedev(1, 3)));
	EMIT(mknod("b", S_IFBLK | 0600, makedev(7, 99)));
	EMIT(mknod("w", S_IFCHR | 0600, 0));
	dir = opendir(".");
	while ((e = readdir(dir)) && n < 13) {
		struct stat st;

		must(lstat(e->d_name, &st));
		snprintf(line[n++], sizeof(line[0]), "%.10s: type %d, %s inode", e->d_name,
			e->d_type, st.st_ino == e->d_ino ? "its" : "another");
	}
	qsort(line, n, sizeof(line[0]), (int (*)(const void *, const void *))strcmp);
	for (int i = 0; i < n; i++)
		say("entry", "%s", line[i]);
	emit_stat("c");
	emit_stat("b");
	emit_stat("w");
}

/* telldir(3) and seekdir(3) of two streams of one directory, which do not disturb each other. */
static void two_streams(void)
{
	DIR *a, *b;
	long at;
	char name[300];
	int n = 0;

	mkdir("d", 0755);
	must(chdir("d"));
	fill_directory();
	a = opendir(".");
	b = opendir(".");
	for (int i = 0; i < 300; i++)
		readdir(a);
	at = telldir(a);
	strcpy(name, readdir(a)->d_name);
	while (readdir(b))
		n++;
	say("the other's entries", "%d", n);
	seekdir(a, at);
	EMIT(strcmp(name, readdir(a)->d_name));
	rewinddir(b);
	seekdir(b, at);
	EMIT(strcmp(name, readdir(b)->d_name));
	for (n = 0; readdir(a); n++)
		;
	say("left", "%d", n);
}

static const struct section sections[] = {
	{ "refusals", refusals },
	{ "renames_refused", renames_refused },
	{ "rename_flags", rename_flags },
	{ "dot_dot", dot_dot },
	{ "deep", deep },
	{ "long_links", long_links },
	{ "chained_links", chained_links },
	{ "many_links", many_links },
	{ "links_of_directories", links_of_directories },
	{ "times_of_files", times_of_files },
	{ "times_of_the_replaced", times_of_the_replaced },
	{ "times_of_directories", times_of_directories },
	{ "times_of_links", times_of_links },
	{ "nameless", nameless },
	{ "listing", listing },
	{ "resumed", resumed },
	{ "emptied", emptied },
	{ "types", types },
	{ "two_streams", two_streams },
};

int main(int argc, char **argv)
{
	(void)argc;
	return run_sections(sections, COUNT(sections), argv);
}
