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

static void tell_stat(const char *path)
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
	TELL(mkdir("d", 0755));
	TELL(mkdir("f", 0755));
	TELL(mkdir("f/x", 0755));
	TELL(mkdir("nothing/x", 0755));
	TELL(mkdir(".", 0755));
	TELL(mkdir("new/", 0755));
	TELL(mkdir("link/new", 0755));
	TELL(mkdir("", 0755));
	TELL(rmdir("."));
	TELL(rmdir("d/.."));
	TELL(rmdir("full/"));
	TELL(rmdir("full"));
	TELL(rmdir("f"));
	TELL(rmdir("link"));
	TELL(rmdir("link/"));
	TELL(rmdir("nothing"));
	TELL(unlink("d"));
	TELL(unlink("f/"));
	TELL(unlink("link/"));
	TELL(unlink("nothing"));
	TELL(unlink("."));
	TELL(unlink(""));
	TELL(link("d", "dd"));
	TELL(link("f", "f"));
	TELL(link("f", "f/x"));
	TELL(link("f", "new file/"));
	TELL(link("nothing", "x"));
	TELL(link("link", "link2"));
	tell_stat("link2");
	TELL(linkat(AT_FDCWD, "link", AT_FDCWD, "link3", AT_SYMLINK_FOLLOW));
	TELL(symlink("", "empty"));
	TELL(symlink("x", "f"));
	TELL(symlink("x", "d/"));
	TELL(symlink("x", "nothing/x"));
	TELL(mknod("dir", S_IFDIR | 0755, 0));
	TELL(mknod("odd", 0170000, 0));
	TELL(mknod("f", S_IFREG | 0644, 0));
	TELL(mknod("d", S_IFIFO | 0644, 0));
	TELL(mknod("plain", 0644, 0));
	tell_stat("plain");
	TELL(readlink("f", (char[9]){ 0 }, 9));
	TELL(readlink("link", (char[1]){ 0 }, 1));
	TELL(access("f/x", F_OK));
	TELL(access("f/", F_OK));
	TELL(access("link/", F_OK));
	TELL(chdir("f"));
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
	TELL(rename("d", "d/sub/x"));
	TELL(rename("d", "d"));
	TELL(rename("d/sub", "d"));
	TELL(rename("f", "d"));
	TELL(rename("d", "f"));
	TELL(rename("e", "d"));
	TELL(rename("f", "same"));
	tell_stat("f");
	tell_stat("same");
	TELL(rename(".", "x"));
	TELL(rename("d/.", "x"));
	TELL(rename("d/..", "x"));
	TELL(rename("e", "."));
	TELL(rename("e", ".."));
	TELL(rename("f/", "x"));
	TELL(rename("f", "x/"));
	TELL(rename("f/x", "x"));
	TELL(rename("f", "g/x"));
	TELL(rename("nothing", "x"));
	TELL(rename("f", "nothing/x"));
	TELL(rename("", "x"));
	TELL(rename("f", ""));
	TELL(rename("e/", "ee/"));
	TELL(rename("link/", "x"));
	TELL(rename("f", "link/f"));
	tell_stat("d/f");
	TELL(rename("ee", "d/sub"));
	tell_stat("d/sub");
}

static void rename_flags(void)
{
	touch("f");
	mkdir("d", 0755);
	touch("d/g");
	symlink("x", "link");
	TELL(renameat2(AT_FDCWD, "f", AT_FDCWD, "d/g", RENAME_NOREPLACE));
	TELL(renameat2(AT_FDCWD, "f", AT_FDCWD, "new", RENAME_NOREPLACE));
	TELL(renameat2(AT_FDCWD, "nothing", AT_FDCWD, "new", RENAME_NOREPLACE));
	TELL(renameat2(AT_FDCWD, "new", AT_FDCWD, "link", RENAME_NOREPLACE));
	TELL(renameat2(AT_FDCWD, "new", AT_FDCWD, "d", RENAME_EXCHANGE));
	tell_stat("new");
	tell_stat("d");
	tell_stat("new/g");
	TELL(renameat2(AT_FDCWD, "new/g", AT_FDCWD, "link", RENAME_EXCHANGE));
	tell_stat("new/g");
	TELL(renameat2(AT_FDCWD, "d", AT_FDCWD, "nothing", RENAME_EXCHANGE));
	TELL(renameat2(AT_FDCWD, "new", AT_FDCWD, "new/g", RENAME_EXCHANGE));
	TELL(renameat2(AT_FDCWD, "new/g", AT_FDCWD, "new", RENAME_EXCHANGE));
	TELL(renameat2(AT_FDCWD, "d", AT_FDCWD, "d", RENAME_EXCHANGE));
	TELL(renameat2(AT_FDCWD, "d", AT_FDCWD, "x", RENAME_EXCHANGE | RENAME_NOREPLACE));
	TELL(renameat2(AT_FDCWD, "d", AT_FDCWD, "x", RENAME_EXCHANGE | RENAME_WHITEOUT));
	TELL(renameat2(AT_FDCWD, "d", AT_FDCWD, "x", 64));
	TELL(renameat2(AT_FDCWD, "d", AT_FDCWD, "x", RENAME_WHITEOUT));
	tell_stat("d");
	TELL(renameat2(AT_FDCWD, "x", AT_FDCWD, "y", RENAME_WHITEOUT | RENAME_NOREPLACE));
	tell_stat("x");
	tell_stat("y");
	TELL_IF(open("x", O_RDONLY));
	TELL(unlink("x"));
	TELL(unlink("d"));
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
	TELL(rename("a/d", "b/d2"));
	must(symlinkat("x", dir, "../in b"));
	tell_stat("a/in a");
	tell_stat("b/in b");
	must(symlinkat("x", inner, "../../also in b"));
	tell_stat("b/also in b");
	TELL(is_same("b/d2/..", "b"));
	TELL(is_same("b/d2/e/../..", "b"));
	must(fchdir(inner));
	must((long)getcwd(cwd, sizeof(cwd)));
	say("cwd ends with", "%s", strstr(cwd, "/b/d2/"));
	TELL(renameat(AT_FDCWD, "../../../b", AT_FDCWD, "../../../c"));
	must((long)getcwd(cwd, sizeof(cwd)));
	say("cwd ends with", "%s", strstr(cwd, "/c/d2/"));
	TELL(rmdir("../../d2/e"));
	TELL_IF(getcwd(cwd, sizeof(cwd)) ? 0 : -1);
	TELL_IF(open("..", O_RDONLY));
	TELL_IF(open(".", O_RDONLY));
	TELL_IF(open("new", O_CREAT | O_RDWR, 0644));
	TELL(mkdir("new", 0755));
	TELL(symlink("x", "new"));
	TELL(fchdir(dir));
	TELL_IF(open("new", O_CREAT | O_RDWR, 0644));
	TELL(unlinkat(dir, "new", 0));
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
	TELL_IF(getcwd(cwd, sizeof(cwd)) ? 0 : -1);
	fd = make("at the bottom", 100);
	tell_content("there", fd);
	close(fd);
	TELL(unlink("at the bottom"));
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
		if (TELL(symlink(target, name)) < 0)
			continue;
		TELL(readlink(name, back, sizeof(back)));
		TELL(memcmp(target, back, lengths[i]));
		TELL(readlink(name, back, 10));
		TELL(access(name, F_OK));
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
	TELL(access("l10", R_OK));
	TELL(access("l39", R_OK));
	TELL(access("l40", R_OK));
	TELL(access("l41", R_OK));
	TELL(unlink("l20"));
	TELL(access("l39", R_OK));
	TELL(symlink("/", "root"));
	TELL(access("root/../../proc/self", F_OK));
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
	tell_stat("f");
	tell_stat("link 700");
	TELL(is_same("f", "link 1499"));
	for (int i = 0; i < LINKS; i++) {
		snprintf(name, sizeof(name), "link %d", i);
		must(i % 2 ? unlink(name) : rename(name, "f"));
		if (i % 2 == 0)
			must(unlink(name)); /* names of one inode: the rename did nothing */
	}
	must(fstat(fd, &st));
	say("links", "%lu", (long)st.st_nlink);
	TELL(unlink("f"));
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
	tell_stat(".");
	must(rename("d1", "d2/x"));
	must(rename("d3", "d4"));
	must(rmdir("d5"));
	tell_stat(".");
	tell_stat("d2");
	tell_stat("d4");
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
	TELL_TIMES("f", was_read("f", 0));
	TELL_TIMES("f", was_read("f", 0));
	TELL_TIMES("f", written("f", 5, 0));
	TELL_TIMES("f", was_read("f", 0));
	TELL_TIMES("f", written("f", 5, O_APPEND));
	TELL_TIMES("f", was_read("f", O_NOATIME));
	TELL_TIMES("f", written("f", 0, 0));
	TELL_TIMES("f", written("f", 0, O_TRUNC));
	TELL_TIMES("f", written("f", 0, O_TRUNC));
	TELL_TIMES("f", chmod("f", 0644));
	TELL_TIMES("f", chmod("f", 0600));
	TELL_TIMES("f", fchmod(fd, 0644));
	TELL_TIMES("f", chown("f", getuid(), getgid()));
	TELL_TIMES("f", link("f", "g"));
	TELL_TIMES("f", unlink("g"));
	TELL_TIMES("f", (int)must(rename("f", "g")) + rename("g", "f"));
	TELL_TIMES("f", (int)must(link("f", "d/g")) + unlink("d/g"));
	TELL_TIMES("f", truncate("f", 100));
	TELL_TIMES("f", truncate("f", 100));
	TELL_TIMES("f", ftruncate(fd, 100));
	TELL_TIMES("f", ftruncate(fd, 10));
	TELL_TIMES("f", fallocate(fd, 0, 0, 100));
	TELL_TIMES("f", fallocate(fd, 0, 0, 100));
	TELL_TIMES("f", fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, 9000));
	TELL_TIMES("f", fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 50));
	TELL_TIMES("f", fallocate(fd, FALLOC_FL_ZERO_RANGE, 0, 50));
	TELL_TIMES("f", pwrite(fd, "x", 1, 0));
	TELL_TIMES("f", fsync(fd));
	TELL_TIMES("f", futimens(fd, NULL));
	TELL_TIMES("f", close(fd));
	TELL_TIMES("f", copy_file_range((int)must(open("f", O_RDONLY)), NULL,
				(int)must(open("f", O_WRONLY)), &(off_t){ 200 }, 50, 0));
	TELL_TIMES("f", copy_file_range((int)must(open("f", O_RDONLY)), &(off_t){ 9999 },
				(int)must(open("f", O_WRONLY)), NULL, 50, 0));
	TELL_TIMES("f", access("f", R_OK));
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
	tell_moved("replaced", &was, &is);
	say("links", "%lu", (long)is.st_nlink);
	fd = (int)must(open("old", O_RDONLY));
	must(fstat(fd, &was));
	tick();
	must(unlink("old"));
	must(fstat(fd, &is));
	tell_moved("unlinked", &was, &is);
	was = is;
	tick();
	must(fchmod(fd, 0600));
	must(fstat(fd, &is));
	tell_moved("changed after that", &was, &is);
}

static void times_of_directories(void)
{
	mkdir("d", 0755);
	mkdir("e", 0755);
	TELL_TIMES("d", listed("d"));
	TELL_TIMES("d", listed("d"));
	TELL_TIMES("d", made("d/f"));
	TELL_TIMES("d", close(open("d/f", O_CREAT | O_RDWR, 0644)));
	TELL_TIMES("d", written("d/f", 10, 0));
	TELL_TIMES("d", chmod("d/f", 0600));
	TELL_TIMES("d", rename("d/f", "d/g"));
	TELL_TIMES("d", link("d/g", "d/h"));
	TELL_TIMES("d", rename("d/g", "d/h"));
	TELL_TIMES("d", unlink("d/h"));
	TELL_TIMES("d", symlink("x", "d/s"));
	TELL_TIMES("d", mkfifo("d/p", 0600));
	TELL_TIMES("d", mkdir("d/sub", 0755));
	TELL_TIMES("d", made("d/sub/f"));
	TELL_TIMES("d", rename("d/sub", "e/sub"));
	TELL_TIMES("d", rename("e/sub", "d/sub"));
	TELL_TIMES("e", rename("d/g", "e/g"));
	TELL_TIMES("e", rename("e/g", "e/i"));
	TELL_TIMES("d", unlink("d/sub/f"));
	TELL_TIMES("d", rmdir("d/sub"));
	TELL_TIMES("d", access("d/nothing", F_OK) < 0 ? 0 : -1);
	TELL_TIMES("d", chmod("d", 0700));
	TELL_TIMES("d", close(open("d", O_TMPFILE | O_RDWR, 0600)));
	TELL_TIMES("d", renameat2(AT_FDCWD, "d/s", AT_FDCWD, "d/p", RENAME_EXCHANGE));
	TELL_TIMES("d", listed("d"));
	TELL_TIMES("e", listed("e"));
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
	tell_moved("read", &was, &is);
	was = is;
	tick();
	must(rename("s", "t"));
	must(lstat("t", &is));
	tell_moved("renamed", &was, &is);
	was = is;
	tick();
	must(lchown("t", getuid(), getgid()));
	must(lstat("t", &is));
	tell_moved("given away", &was, &is);
}

/* ---- files without names ---- */

static void nameless(void)
{
	int fd = (int)TELL_IF(open(".", O_TMPFILE | O_RDWR, 0640)), again;
	char path[64];
	struct stat st;

	TELL(write(fd, "content", 7));
	must(fstat(fd, &st));
	say("links and mode", "%lu %o", (long)st.st_nlink, st.st_mode);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	again = (int)TELL_IF(open(path, O_RDONLY));
	tell_content("again", again);
	TELL(linkat(AT_FDCWD, path, AT_FDCWD, "named", AT_SYMLINK_FOLLOW));
	tell_stat("named");
	tell_file("named");
	TELL(linkat(AT_FDCWD, path, AT_FDCWD, "twice", AT_SYMLINK_FOLLOW));
	TELL(linkat(AT_FDCWD, path, AT_FDCWD, "named", AT_SYMLINK_FOLLOW));
	tell_stat("twice");
	fd = (int)TELL_IF(open(".", O_TMPFILE | O_RDWR | O_EXCL, 0640));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	TELL(linkat(AT_FDCWD, path, AT_FDCWD, "never", AT_SYMLINK_FOLLOW));
	fd = make("f", 10);
	must(unlink("f"));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	TELL(linkat(AT_FDCWD, path, AT_FDCWD, "again", AT_SYMLINK_FOLLOW));
	TELL(fchmod(fd, 0600));
	TELL(ftruncate(fd, 1000));
	TELL(futimens(fd, NULL));
	TELL(write(fd, "more", 4));
	tell_content("f", fd);
	TELL(chmod(path, 0400));
	TELL(truncate(path, 5));
	must(fstat(fd, &st));
	say("links, mode and size", "%lu %o %ld", (long)st.st_nlink, st.st_mode, (long)st.st_size);
	TELL_IF(open(path, O_RDWR | O_TRUNC));
	tell_content("f, truncated", fd);
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

static void tell_rest(const char *what, int fd, size_t size)
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
	tell_rest("all", fd, sizeof(buffer));
	tell_rest("at the end", fd, sizeof(buffer));
	TELL(lseek(fd, 0, SEEK_SET));
	tell_rest("in small pieces", fd, 300);
	TELL(lseek(fd, 0, SEEK_SET));
	tell_rest("with too little room", fd, 10);
	tell_rest("with no room", fd, 0);
	touch("a new one");
	TELL(lseek(fd, 0, SEEK_SET));
	tell_rest("with a new one", fd, sizeof(buffer));
	TELL(lseek(fd, -5, SEEK_SET));
	TELL(lseek(fd, 0, 9));
	TELL(syscall(SYS_getdents64, (int)must(open("a new one", O_RDONLY)), buffer, 100));
	TELL(syscall(SYS_getdents64, (int)must(open(".", O_PATH)), buffer, 100));
	TELL(syscall(SYS_getdents64, fd, 8, 1000));
	TELL(lseek(fd, 0, SEEK_SET));
	TELL(syscall(SYS_getdents64, fd, 8, 1000));
	TELL(read(fd, buffer, 100));
	TELL(pread(fd, buffer, 100, 0));
	TELL(write(fd, buffer, 100));
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
	TELL(rmdir("../d"));
	TELL(lseek(fd, 0, SEEK_SET));
	tell_rest("of a directory that is no more", fd, sizeof(buffer));
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
	TELL(mknod("c", S_IFCHR | 0600, makedev(1, 3)));
	TELL(mknod("b", S_IFBLK | 0600, makedev(7, 99)));
	TELL(mknod("w", S_IFCHR | 0600, 0));
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
	tell_stat("c");
	tell_stat("b");
	tell_stat("w");
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
	TELL(strcmp(name, readdir(a)->d_name));
	rewinddir(b);
	seekdir(b, at);
	TELL(strcmp(name, readdir(b)->d_name));
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
