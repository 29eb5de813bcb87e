/* SPDX-License-Identifier: MIT */

/* Scenes with directories: listing, positions, changes while listing, directories that are gone,
 * paths longer than any path may be, '..', inotify(7). */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "conform.h"
#include "conform_box.h"

/* ---- listing ---- */

enum { FILES = 300 };

static bool prepare_kinds(void)
{
	return put_dir("d", 0777, OWNER_ID, GROUP_ID) &&
		put_file("d/file", 0666, "", OWNER_ID, GROUP_ID) &&
		put_dir("d/dir", 0777, OWNER_ID, GROUP_ID) && symlink("file", "d/link") == 0 &&
		mkfifo("d/fifo", 0600) == 0 && mknod("d/socket", S_IFSOCK | 0600, 0) == 0 &&
		(mknod("d/null", S_IFCHR | 0600, 0x103) == 0 || !many_users()) &&
		put_file("d/\xff\xfe \n\x01", 0666, "", OWNER_ID, GROUP_ID) &&
		put_file("d/.hidden", 0666, "", OWNER_ID, GROUP_ID);
}

static bool prepare_many(void)
{
	char name[40];

	if (!put_dir("d", 0777, OWNER_ID, GROUP_ID))
		return false;
	for (int i = 0; i < FILES; i++) {
		snprintf(name, sizeof(name), "d/a file that is number %d", i);
		if (!put_file(name, 0666, "", OWNER_ID, GROUP_ID))
			return false;
	}
	return true;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp((*(struct dirent *const *)a)->d_name, (*(struct dirent *const *)b)->d_name);
}

static void kinds(void)
{
	struct dirent *d, *all[20];
	DIR *dir = opendir("d");
	struct stat st;
	char name[300], shown[200];
	size_t n = 0;

	while (n < 20 && (d = readdir(dir))) {
		all[n] = malloc(sizeof(*d));
		memcpy(all[n++], d, d->d_reclen);
	}
	closedir(dir);
	qsort(all, n, sizeof(*all), compare_names);
	for (size_t i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "d/%s", all[i]->d_name);
		lstat(name, &st);
		step_text(data_text(name, strlen(name), shown, sizeof(shown)),
			"type %d is %s number is %s", all[i]->d_type,
			(mode_t)DTTOIF(all[i]->d_type) == (st.st_mode & S_IFMT) ? "right" : "wrong",
			all[i]->d_ino == st.st_ino ? "right" : "wrong");
	}
}

static unsigned mix(unsigned h, const char *text)
{
	while (*text)
		h = (h ^ (unsigned char)*text++) * 16777619u;
	return h;
}

/* How many, and in which order. */
static void step_list(const char *what, DIR *dir)
{
	unsigned n = 0, order = 2166136261u, h = 0;
	struct dirent *d;

	errno = 0;
	while ((d = readdir(dir))) {
		order = mix(order, d->d_name);
		h += mix(0, d->d_name);
		n++;
	}
	step_text(what, "%u entries %08x in order %08x errno %d", n, h, order, errno);
}

static void positions(void)
{
	DIR *dir = opendir("d");
	long at[FILES + 2];
	char names[FILES + 2][256];
	struct dirent *d;
	unsigned n = 0, wrong = 0;

	while (n < FILES + 2) {
		at[n] = telldir(dir);
		d = readdir(dir);
		if (!d)
			break;
		snprintf(names[n++], sizeof(names[0]), "%s", d->d_name);
	}
	step("entries", n);
	for (unsigned i = 0; i < n; i += 7) {
		unsigned k = (i * 31) % n;

		seekdir(dir, at[k]);
		d = readdir(dir);
		wrong += !d || strcmp(d->d_name, names[k]) != 0;
	}
	step("wrong after seekdir", wrong);
	seekdir(dir, at[n / 2]);
	step_list("from the middle", dir);
	rewinddir(dir);
	step_list("from the start", dir);
	step("one more", result_of(close(open("d/one more", O_CREAT | O_WRONLY, 0644))));
	rewinddir(dir);
	step_list("with one more", dir);
	closedir(dir);
}

/* All files are there once, whatever is removed on the way. */
static void removing(void)
{
	DIR *dir = opendir("d");
	static char seen[FILES];
	struct dirent *d;
	char path[400];
	int number, once = 0, removed = 0;

	while ((d = readdir(dir))) {
		if (sscanf(d->d_name, "a file that is number %d", &number) != 1)
			continue;
		seen[number]++;
		snprintf(path, sizeof(path), "d/%s", d->d_name);
		removed += unlink(path) == 0;
	}
	for (int i = 0; i < FILES; i++)
		once += seen[i] == 1;
	step("seen once", once);
	step("removed", removed);
	rewinddir(dir);
	step_list("then", dir);
	closedir(dir);
	step("rmdir", result_of(rmdir("d")));
}

struct raw_dirent {
	unsigned long ino, off;
	unsigned short length;
	char name[];
};

static void raw(void)
{
	_Alignas(8) char buffer[4096];
	int fd = open("d", O_RDONLY | O_DIRECTORY), again;
	long n, all = 0, calls = 0;

	step("too small", result_of(syscall(SYS_getdents64, fd, buffer, 10)));
	step("of no size", result_of(syscall(SYS_getdents64, fd, buffer, 0)));
	while ((n = syscall(SYS_getdents64, fd, buffer, 100)) > 0)
		for (long at = 0; at < n; at += *(unsigned short *)(buffer + at + 16))
			all++;
	step("entries by small pieces", all);
	step("at the end", n);
	step("again", result_of(syscall(SYS_getdents64, fd, buffer, sizeof(buffer))));
	step("rewound", lseek(fd, 0, SEEK_SET));
	for (all = 0; (n = syscall(SYS_getdents64, fd, buffer, sizeof(buffer))) > 0; calls++)
		for (long at = 0; at < n; at += *(unsigned short *)(buffer + at + 16))
			all++;
	step("entries", all);
	step("more than one call", calls > 1);
	again = dup(fd);
	step("by a copy", result_of(syscall(SYS_getdents64, again, buffer, sizeof(buffer))));
	step("of a file", result_of(syscall(SYS_getdents64,
		open("d/a file that is number 3", O_RDONLY), buffer, sizeof(buffer))));
	close(fd);
	fd = open("d", O_PATH);
	step("of a path", result_of(syscall(SYS_getdents64, fd, buffer, sizeof(buffer))));
	close(fd);
}

/* ---- directories that are gone ---- */

static bool prepare_dir(void)
{
	return put_dir("d", 0777, OWNER_ID, GROUP_ID);
}

static void gone(void)
{
	DIR *dir = opendir("d");
	int fd = dirfd(dir);

	step("chdir", result_of(chdir("d")));
	step("rmdir", result_of(rmdir("../d")));
	step_list("list", dir);
	step_text("fstat", "%s", stat_text(fd, NULL));
	step_text("stat of .", "%s", stat_text(-1, "."));
	step("stat of ..", access("..", F_OK) < 0 ? -errno : 0);
	step("create", result_of(open("new", O_CREAT | O_WRONLY, 0644)));
	step("mkdir", result_of(mkdir("new", 0755)));
	step("symlink", result_of(symlink("a", "new")));
	step("link", result_of(link("../f", "new")));
	step("rename into", result_of(rename("../g", "new")));
	step("open of .", result_of(open(".", O_RDONLY)));
	step("O_TMPFILE", result_of(open(".", O_TMPFILE | O_RDWR, 0600)));
	step("lookup", access("nothing", F_OK) < 0 ? -errno : 0);
	step("fchmod", result_of(fchmod(fd, 0700)));
	step("futimens", result_of(futimens(fd, NULL)));
	step("getcwd", getcwd((char[PATH_MAX]){ 0 }, PATH_MAX) ? 0 : -errno);
	step("fsync", result_of(fsync(fd)));
	step("fchdir", result_of(fchdir(fd)));
	step("a new one", result_of(mkdir("../d", 0755)));
	step("is another", access("../d/new", F_OK) < 0 ? -errno : 0);
	closedir(dir);
}

/* Moved while we are in it. */
static void moved(void)
{
	struct stat before, after;

	step("mkdir", result_of(mkdir("d/in", 0755) | mkdir("e", 0755)));
	step("chdir", result_of(chdir("d/in")));
	stat("..", &before);
	step("rename", result_of(rename("../../d", "../../e/d")));
	stat("..", &after);
	step("the same above", before.st_ino == after.st_ino);
	step("create", result_of(close(open("new", O_CREAT | O_WRONLY, 0644))));
	step_text("by its path", "%s", stat_text(-1, "../../../e/d/in/new"));
	step("rename above", result_of(rename("../../../e/d/in", "../../../in")));
	stat("..", &after);
	step("another above", before.st_ino != after.st_ino);
	step("listed there", access("../in/new", F_OK) < 0 ? -errno : 0);
	step("into itself", result_of(rename("../e", "../e/d/e")));
	step("exchange with the one above", result_of(renameat2(AT_FDCWD, "../e", AT_FDCWD,
		"../e/d", 2)));
}

/* '..' leads to where '.' is listed from. */
static void above(void)
{
	struct stat a, b;
	struct dirent *d;
	DIR *dir;

	mkdir("d/in", 0755);
	stat("d", &a);
	stat("d/in/..", &b);
	step("the same", a.st_ino == b.st_ino);
	dir = opendir("d/in");
	while ((d = readdir(dir)))
		if (strcmp(d->d_name, "..") == 0)
			step("its number", d->d_ino == a.st_ino);
		else if (strcmp(d->d_name, ".") == 0 && stat("d/in", &b) == 0)
			step("own number", d->d_ino == b.st_ino);
	closedir(dir);
	step("links", a.st_nlink);
	step("beyond", access("d/in/../../d/in/../..", F_OK));
	step("openat", result_of(openat(open("d/in", O_PATH), "../../d", O_RDONLY)) >= 0);
}

/* ---- rights ---- */

static bool prepare_rights(void)
{
	return put_dir("x only", 0711, OWNER_ID, GROUP_ID) &&
		put_file("x only/f", 0666, "", OWNER_ID, GROUP_ID) &&
		put_dir("r only", 0744, OWNER_ID, GROUP_ID) &&
		put_file("r only/f", 0666, "", OWNER_ID, GROUP_ID) &&
		put_dir("none", 0700, OWNER_ID, GROUP_ID) &&
		put_dir("none/in", 0777, OWNER_ID, GROUP_ID) &&
		put_owner("none", many_users() ? 0700 : 0, OWNER_ID, GROUP_ID);
}

static void rights(void)
{
	static const char *const names[] = { "x only", "r only", "none" };
	char path[40];

	for (size_t i = 0; i < COUNT(names); i++) {
		int fd = open(names[i], O_RDONLY | O_DIRECTORY), by_path;
		DIR *dir = fd < 0 ? NULL : fdopendir(dup(fd));

		step(names[i], fd < 0 ? -errno : 0);
		if (dir)
			step_list("list", dir);
		snprintf(path, sizeof(path), "%s/f", names[i]);
		step("stat", access(path, F_OK) < 0 ? -errno : 0);
		step("fchdir", result_of(fchdir(fd)));
		step("back", result_of(chdir("..")) == 0 || access("x only", F_OK) == 0);
		if (access("x only", F_OK) < 0)
			return;
		by_path = open(names[i], O_PATH);
		step("O_PATH", by_path < 0 ? -errno : 0);
		step("fchdir by O_PATH", result_of(fchdir(by_path)));
		if (access("x only", F_OK) < 0)
			step("back", result_of(chdir("..")));
		step("openat", result_of(openat(by_path, "f", O_RDONLY)) >= 0 ? 0 : -errno);
	}
	step("into none", result_of(chdir("none/in")));
}

/* ---- a path longer than PATH_MAX ---- */

static const char *deep_name(void)
{
	static char name[251];

	memset(name, 'p', 250);
	return name;
}

static void deep(void)
{
	char cwd[PATH_MAX], *absolute = NULL;
	int levels = 0, fd, up;

	while (levels < 30 && mkdir(deep_name(), 0755) == 0 && chdir(deep_name()) == 0)
		levels++;
	step("levels", levels);
	step("create", result_of(close(open("f", O_CREAT | O_WRONLY, 0644))));
	step_text("stat", "%s", stat_text(-1, "f"));
	step("getcwd", syscall(SYS_getcwd, cwd, sizeof(cwd)) < 0 ? -errno : 0);
	step("rename", result_of(rename("f", "g")));
	step("link", result_of(link("g", "h")));
	step("symlink", result_of(symlink("g", "s")));
	step("mkdir", result_of(mkdir("d", 0755)));
	up = open("../..", O_RDONLY | O_DIRECTORY);
	step("two above", up < 0 ? -errno : 0);
	fd = open("g", O_RDWR);
	step("write", result_of(write(fd, "deep", 4)));
	step_text("fstat", "%s", stat_text(fd, NULL));
	close(fd);
	step("rename to above", result_of(renameat(AT_FDCWD, "g", up, "g")));
	step("and back", result_of(renameat(up, "g", AT_FDCWD, "g")));
	step("chmod", result_of(chmod("d", 0700)));
	absolute = realpath(".", NULL);
	step("realpath", absolute ? 0 : -errno);
	step("unlink", unlink("g") | unlink("h") | unlink("s") | rmdir("d"));
	while (levels > 0 && chdir("..") == 0 && rmdir(deep_name()) == 0)
		levels--;
	step("levels left", levels);
}

/* ---- what is told of changes ---- */

static void step_events(int fd)
{
	_Alignas(struct inotify_event) char buffer[4096];
	ssize_t n = read(fd, buffer, sizeof(buffer));
	const struct inotify_event *e;

	for (ssize_t at = 0; at < n; at += sizeof(*e) + e->len) {
		e = (const void *)(buffer + at);
		step_text("event", "%x %s", e->mask, e->len ? e->name : "");
	}
	step("events", n < 0 ? -errno : 0);
}

static void events(void)
{
	int fd = inotify_init1(IN_NONBLOCK), file;

	step("watch", inotify_add_watch(fd, "d", IN_ALL_EVENTS));
	file = open("d/f", O_CREAT | O_RDWR, 0644);
	write(file, "x", 1);
	pread(file, (char[1]){ 0 }, 1, 0);
	ftruncate(file, 0);
	fchmod(file, 0600);
	close(file);
	step_events(fd);
	rename("d/f", "d/g");
	link("d/g", "d/h");
	unlink("d/g");
	mkdir("d/in", 0755);
	rmdir("d/in");
	closedir(opendir("d"));
	step_events(fd);
	step("watch a missing one", result_of(inotify_add_watch(fd, "missing", IN_ALL_EVENTS)));
	unlink("d/h");
	rmdir("d");
	step_events(fd);
	close(fd);
}

static const struct scene scenes[] = {
	{ "kinds", kinds, FEW, prepare_kinds },
	{ "positions", positions, OWNER, prepare_many },
	{ "removing while listing", removing, OWNER, prepare_many },
	{ "raw", raw, OWNER, prepare_many },
	{ "gone", gone, FEW, prepare_dir },
	{ "moved", moved, FEW, prepare_dir },
	{ "above", above, FEW, prepare_dir },
	{ "rights", rights, ALL, prepare_rights },
	{ "deep", deep, FEW, NULL },
	{ "events", events, FEW, prepare_dir },
};

void run_dirs(void)
{
	run_scenes("dirs", scenes, COUNT(scenes));
}
