/* SPDX-License-Identifier: MIT */

/* Ways to write a path: what they lead to, and with which error they lead nowhere. */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "conform.h"

/* Whether the path of s begins so, and what it leads through must be there. */
static bool begins(const struct state *s, const char *name)
{
	return strncmp(s->path, name, strlen(name)) == 0;
}

static bool make_chain(int links)
{
	bool made = true;

	for (int i = 1; i <= links && made; i++) {
		char to[20] = "f", name[20];

		if (i > 1)
			snprintf(to, sizeof(to), "c%d", i - 1);
		snprintf(name, sizeof(name), "c%d", i);
		made = symlink(to, name) == 0;
	}
	return made;
}

/*
 * Around all of them there are: f, a file; d, a directory with a file x; empty, one without.  When
 * the path needs them: locked, a directory that only root enters, with a file x; links lf, ld,
 * lnowhere and loop; a chain of links, c1 and so on.
 */
static bool make_place(const struct state *s, const char *at)
{
	bool made = put_file(at, 0666, CONTENT, OWNER_ID, GROUP_ID) &&
		put_dir("d", 0777, OWNER_ID, GROUP_ID) &&
		put_file("d/x", 0666, CONTENT, OWNER_ID, GROUP_ID) &&
		put_dir("empty", 0777, OWNER_ID, GROUP_ID);

	if (made && begins(s, "locked"))
		made = put_dir("locked", 0700, 0, 0) && put_file("locked/x", 0666, CONTENT, 0, 0) &&
			put_owner("locked", many_users() ? 0700 : 0, 0, 0);
	if (made && begins(s, "lf"))
		made = symlink("f", "lf") == 0;
	if (made && begins(s, "ld"))
		made = symlink("d", "ld") == 0;
	if (made && begins(s, "lnowhere"))
		made = symlink("nowhere", "lnowhere") == 0;
	if (made && begins(s, "loop"))
		made = symlink("loop", "loop") == 0;
	if (made && begins(s, "c"))
		made = make_chain(atoi(s->path + 1));
	return made;
}

#define N16 "abcdefghijklmnop"
#define N240 N16 N16 N16 N16 N16 N16 N16 N16 N16 N16 N16 N16 N16 N16 N16
#define N255 N240 "abcdefghijklmno"

static char path_max[PATH_MAX + 2], path_max_less[PATH_MAX + 2], path_slashes[PATH_MAX + 2];

static const struct {
	const char *name, *path;
} forms[] = {
	{ "empty", "" },
	{ "f", "f" },
	{ "./f", "./f" },
	{ "f/", "f/" },
	{ "f/.", "f/." },
	{ "f/..", "f/.." },
	{ "f/x", "f/x" },
	{ "d/", "d/" },
	{ "d/.", "d/." },
	{ "d//x", "d//x" },
	{ "d/x/", "d/x/" },
	{ "empty/", "empty/" },
	{ "empty/.", "empty/." },
	{ "empty/..", "empty/.." },
	{ "d/../f", "d/../f" },
	{ "empty/../d/x", "empty/../d/x" },
	{ "new", "new" },
	{ "new/", "new/" },
	{ "new/.", "new/." },
	{ "new/x", "new/x" },
	{ "d/new", "d/new" },
	{ "lf", "lf" },
	{ "lf/", "lf/" },
	{ "ld", "ld" },
	{ "ld/", "ld/" },
	{ "ld/x", "ld/x" },
	{ "ld/../f", "ld/../f" },
	{ "lnowhere", "lnowhere" },
	{ "lnowhere/", "lnowhere/" },
	{ "loop", "loop" },
	{ "loop/x", "loop/x" },
	{ "40 links", "c40" },
	{ "41 links", "c41" },
	{ "locked/x", "locked/x" },
	{ "locked/new", "locked/new" },
	{ "locked/../f", "locked/../f" },
	{ "255 bytes", N255 },
	{ "256 bytes", N255 "p" },
	{ "256 bytes of a directory", N255 "p/x" },
	{ "4095 bytes", path_max_less },
	{ "4096 bytes", path_max },
	{ "slashes", path_slashes },
	{ "\\n", "new\nline" },
	{ "-", "-" },
	{ "a byte that is no character", "\x80" },
	{ "a control character", "\x01" },
	{ "..f", "..f" },
	{ "...", "..." },
};

static void path_open(const struct op *op, const char *path)
{
	int fd = open(path, op->a | O_NONBLOCK, 0644);

	said(fd < 0 ? -1 : 0);
	if (fd >= 0)
		note("%s", stat_text(fd, NULL));
	close(fd);
}

/* The kernel asks the caller to try again if anything was renamed or mounted meanwhile, wherever. */
static int try_openat2(const char *path, struct open_how *how)
{
	int fd;

	do
		fd = syscall(SYS_openat2, AT_FDCWD, path, how, sizeof(*how));
	while (fd < 0 && errno == EAGAIN);
	return fd;
}

static void path_openat2(const struct op *op, const char *path)
{
	struct open_how how = { .flags = O_RDONLY | O_NONBLOCK, .resolve = op->a };
	int fd = try_openat2(path, &how);

	said(fd < 0 ? -1 : 0);
	if (fd >= 0)
		note("%s", stat_text(fd, NULL));
	close(fd);
}

static void path_stat(const struct op *op, const char *path)
{
	struct stat st;

	said(fstatat(AT_FDCWD, path, &st, op->a));
	note("%s", stat_text(-1, path));
}

static void path_mkdir(const struct op *op, const char *path)
{
	(void)op;
	said(mkdir(path, 0755));
}

static void path_mkfifo(const struct op *op, const char *path)
{
	(void)op;
	said(mkfifo(path, 0644));
}

static void path_rmdir(const struct op *op, const char *path)
{
	(void)op;
	said(rmdir(path));
}

static void path_unlink(const struct op *op, const char *path)
{
	(void)op;
	said(unlink(path));
}

static void path_symlink(const struct op *op, const char *path)
{
	(void)op;
	said(symlink("f", path));
}

static void path_link_from(const struct op *op, const char *path)
{
	said(linkat(AT_FDCWD, path, AT_FDCWD, "linked", op->a));
}

static void path_link_to(const struct op *op, const char *path)
{
	(void)op;
	said(link("f", path));
}

static void path_rename_from(const struct op *op, const char *path)
{
	(void)op;
	said(rename(path, "renamed"));
}

static void path_rename_to(const struct op *op, const char *path)
{
	said(rename(op->s, path));
}

static void path_chmod(const struct op *op, const char *path)
{
	said(fchmodat(AT_FDCWD, path, op->a, 0));
}

static void path_chown(const struct op *op, const char *path)
{
	said(fchownat(AT_FDCWD, path, -1, OWNER_ID, op->a));
}

static void path_truncate(const struct op *op, const char *path)
{
	(void)op;
	said(truncate(path, 3));
}

static void path_utimes(const struct op *op, const char *path)
{
	const struct timespec times[2] = { { 1000, 1 }, { 2000, 2 } };

	said(utimensat(AT_FDCWD, path, times, op->a));
}

static void path_readlink(const struct op *op, const char *path)
{
	char target[PATH_MAX];
	ssize_t n = readlink(path, target, op->a);

	if (n < 0)
		said(n);
	else
		note_data(target, n);
}

static void path_chdir(const struct op *op, const char *path)
{
	(void)op;
	said(chdir(path));
	said(access("x", F_OK));
	said(access("../f", F_OK));
}

static void path_access(const struct op *op, const char *path)
{
	said(faccessat(AT_FDCWD, path, R_OK, op->a));
	said(faccessat(AT_FDCWD, path, W_OK, op->a));
	said(faccessat(AT_FDCWD, path, X_OK, op->a));
}

static void path_xattr(const struct op *op, const char *path)
{
	(void)op;
	said(setxattr(path, "user.a", "b", 1, 0));
	said(lsetxattr(path, "user.c", "d", 1, 0));
}

static void path_exec(const struct op *op, const char *path)
{
	char *const arguments[] = { (char *)"x", NULL };

	(void)op;
	said(execve(path, arguments, arguments + 1));
}

static const struct op ops[] = {
	{ "open", path_open, IS_PATH, ROOT | OWNER, .a = O_RDONLY },
	{ "open O_PATH O_NOFOLLOW", path_open, IS_PATH, OWNER, .a = O_PATH | O_NOFOLLOW },
	{ "open O_DIRECTORY", path_open, IS_PATH, OWNER, .a = O_DIRECTORY },
	{ "open O_CREAT", path_open, IS_PATH, OWNER, .a = O_RDWR | O_CREAT },
	{ "open O_CREAT O_EXCL", path_open, IS_PATH, OWNER, .a = O_RDWR | O_CREAT | O_EXCL },
	{ "open O_TRUNC", path_open, IS_PATH, OWNER, .a = O_RDWR | O_TRUNC },
	{ "openat2 BENEATH", path_openat2, IS_PATH, OWNER, .a = RESOLVE_BENEATH },
	{ "openat2 IN_ROOT", path_openat2, IS_PATH, OWNER, .a = RESOLVE_IN_ROOT },
	{ "openat2 NO_SYMLINKS", path_openat2, IS_PATH, OWNER, .a = RESOLVE_NO_SYMLINKS },
	{ "openat2 NO_XDEV", path_openat2, IS_PATH, OWNER, .a = RESOLVE_NO_XDEV },
	{ "stat", path_stat, IS_PATH, ROOT | OWNER, .a = 0 },
	{ "lstat", path_stat, IS_PATH, OWNER, .a = AT_SYMLINK_NOFOLLOW },
	{ "mkdir", path_mkdir, IS_PATH, ROOT | OWNER, .a = 0 },
	{ "mkfifo", path_mkfifo, IS_PATH, OWNER, .a = 0 },
	{ "rmdir", path_rmdir, IS_PATH, OWNER, .a = 0 },
	{ "unlink", path_unlink, IS_PATH, ROOT | OWNER, .a = 0 },
	{ "symlink", path_symlink, IS_PATH, OWNER, .a = 0 },
	{ "link from", path_link_from, IS_PATH, OWNER, .a = 0 },
	{ "link from, following", path_link_from, IS_PATH, OWNER, .a = AT_SYMLINK_FOLLOW },
	{ "link to", path_link_to, IS_PATH, OWNER, .a = 0 },
	{ "rename from", path_rename_from, IS_PATH, ROOT | OWNER, .a = 0 },
	{ "rename a file to", path_rename_to, IS_PATH, OWNER, .s = "f" },
	{ "rename a directory to", path_rename_to, IS_PATH, OWNER, .s = "empty" },
	{ "chmod", path_chmod, IS_PATH, OWNER, .a = 0750 },
	{ "chown", path_chown, IS_PATH, OWNER, .a = 0 },
	{ "lchown", path_chown, IS_PATH, OWNER, .a = AT_SYMLINK_NOFOLLOW },
	{ "truncate", path_truncate, IS_PATH, OWNER, .a = 0 },
	{ "utimensat", path_utimes, IS_PATH, OWNER, .a = 0 },
	{ "utimensat of links", path_utimes, IS_PATH, OWNER, .a = AT_SYMLINK_NOFOLLOW },
	{ "readlink", path_readlink, IS_PATH, OWNER, .a = PATH_MAX },
	{ "readlink of 2 bytes", path_readlink, IS_PATH, OWNER, .a = 2 },
	{ "chdir", path_chdir, IS_PATH, OWNER, .a = 0 },
	{ "access", path_access, IS_PATH, OWNER, .a = 0 },
	{ "access of links", path_access, IS_PATH, OWNER, .a = AT_SYMLINK_NOFOLLOW },
	{ "setxattr", path_xattr, IS_PATH, OWNER, .a = 0 },
	{ "execve", path_exec, IS_PATH, ROOT | OWNER, .a = 0 },
};

static void run_forms(void)
{
	static struct state places[COUNT(forms)];

	for (size_t i = 0; i < COUNT(forms); i++)
		places[i] = (struct state){ .name = forms[i].name, .path = forms[i].path,
			.groups = IS_PATH, .make = make_place };
	for (int i = 0; i < PATH_MAX - 2; i++)
		path_max[i] = path_max_less[i] = i % 2 ? '/' : '.';
	strcat(path_max, "/f");
	strcat(path_max_less, "f");
	memset(path_slashes, '/', PATH_MAX - 2);
	path_slashes[0] = 'd';
	path_slashes[PATH_MAX - 3] = 'x';
	run_ops("paths", ops, COUNT(ops), places, COUNT(places));
}

void run_paths(void)
{
	run_forms();
}
