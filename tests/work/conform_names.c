/* SPDX-License-Identifier: MIT */

/* Operations on names: making, removing, linking and renaming, in all sorts of directories; and
 * renaming of every sort of file over every other. */

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "conform.h"

/* ---- making what is not there, or is ---- */

static void run_creat(const struct op *op, const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, op->a);

	said(fd < 0 ? -1 : 0);
	if (fd >= 0)
		close(fd);
}

static void run_mkdir(const struct op *op, const char *path)
{
	said(mkdir(path, op->a));
}

static void run_mknod(const struct op *op, const char *path)
{
	said(mknod(path, op->a, op->b));
}

static void run_symlink(const struct op *op, const char *path)
{
	said(symlink(op->s, path));
}

static void run_bind(const struct op *op, const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	(void)op;
	if (strlen(path) >= sizeof(address.sun_path)) {
		note(" too long");
	} else {
		strcpy(address.sun_path, path);
		said(bind(fd, (struct sockaddr *)&address, sizeof(address)));
	}
	close(fd);
}

static void run_link_from(const struct op *op, const char *path)
{
	said(linkat(AT_FDCWD, path, AT_FDCWD, "new", op->a));
}

static void run_unlink(const struct op *op, const char *path)
{
	(void)op;
	said(unlink(path));
}

static void run_rmdir(const struct op *op, const char *path)
{
	(void)op;
	said(rmdir(path));
}

static void run_remove_open(const struct op *op, const char *path)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK);
	struct stat st;

	(void)op;
	note(" open");
	said(fd < 0 ? -1 : 0);
	note(" unlink");
	said(unlink(path));
	note(" rmdir");
	said(rmdir(path));
	if (fd >= 0 && fstat(fd, &st) == 0)
		note(" links %lu", (unsigned long)st.st_nlink);
	close(fd);
}

static void run_rename_to(const struct op *op, const char *path)
{
	said(renameat2(AT_FDCWD, path, AT_FDCWD, op->s, op->a));
}

static const struct op single[] = {
	{ "creating with 0666", run_creat, IS_SORT | IS_FLAGGED, FEW, .a = 0666 },
	{ "creating with 6777", run_creat, IS_NOTHING, ALL, .a = 06777 },
	{ "mkdir 0777", run_mkdir, IS_SORT | IS_FLAGGED, FEW, .a = 0777 },
	{ "mkdir 7777", run_mkdir, IS_NOTHING, ALL, .a = 07777 },
	{ "mknod regular", run_mknod, IS_SORT, FEW, .a = S_IFREG | 0666 },
	{ "mknod regular 7777", run_mknod, IS_NOTHING, FEW, .a = S_IFREG | 07777 },
	{ "mknod without a type", run_mknod, IS_NOTHING, FEW, .a = 0644 },
	{ "mknod fifo", run_mknod, IS_SORT, FEW, .a = S_IFIFO | 0666 },
	{ "mknod fifo 7777", run_mknod, IS_NOTHING, FEW, .a = S_IFIFO | 07777 },
	{ "mknod socket", run_mknod, IS_NOTHING, FEW, .a = S_IFSOCK | 0666 },
	{ "mknod character device", run_mknod, IS_NOTHING, FEW, .a = S_IFCHR | 0666,
		.b = DEVICE(1, 3) },
	{ "mknod block device", run_mknod, IS_NOTHING, FEW, .a = S_IFBLK | 0666,
		.b = DEVICE(240, 77) },
	{ "mknod whiteout", run_mknod, IS_NOTHING, FEW, .a = S_IFCHR | 0666, .b = 0 },
	{ "mknod directory", run_mknod, IS_NOTHING, FEW, .a = S_IFDIR | 0755 },
	{ "mknod symlink", run_mknod, IS_NOTHING, FEW, .a = S_IFLNK | 0755 },
	{ "mknod nonsense", run_mknod, IS_NOTHING, FEW, .a = 0030644 },
	{ "symlink", run_symlink, IS_SORT, FEW, .s = "some/where" },
	{ "symlink to nothing", run_symlink, IS_NOTHING, FEW, .s = "" },
	{ "bind", run_bind, IS_SORT, FEW, .a = 0 },
	{ "link", run_link_from, IS_EACH, SOME, .a = 0 },
	{ "link following", run_link_from, IS_EACH, FEW, .a = AT_SYMLINK_FOLLOW },
	{ "link by a descriptor's flag", run_link_from, IS_SORT, FEW, .a = AT_EMPTY_PATH },
	{ "link with a wrong flag", run_link_from, IS_SORT, OWNER, .a = AT_REMOVEDIR },
	{ "unlink", run_unlink, IS_EACH, FEW, .a = 0 },
	{ "rmdir", run_rmdir, IS_EACH, FEW, .a = 0 },
	{ "removing while open", run_remove_open, IS_EACH, FEW, .a = 0 },
	{ "rename", run_rename_to, IS_EACH, FEW, .s = "new" },
	{ "rename to itself", run_rename_to, IS_SORT, OWNER, .s = "f" },
	{ "rename into itself", run_rename_to, IS_SORT | IS_FLAGGED, FEW, .s = "f/new" },
	{ "rename to its directory", run_rename_to, IS_SORT, OWNER, .s = "." },
	{ "rename over the directory above", run_rename_to, IS_SORT, OWNER, .s = ".." },
	{ "rename into what is no directory", run_rename_to, IS_SORT, OWNER, .s = "f/x/y" },
};

/* ---- in all sorts of directories, p, in which there are f, d and r ---- */

/* The path of something in the directory. */
static const char *in(const char *path, const char *name)
{
	static char paths[4][300];
	static unsigned turn;
	char *text = paths[turn++ % 4];

	snprintf(text, sizeof(paths[0]), "%s/%s", path, name);
	return text;
}

static void in_creat(const struct op *op, const char *path)
{
	umask(op->b);
	run_creat(op, in(path, "new"));
	umask(022);
}

static void in_mkdir(const struct op *op, const char *path)
{
	umask(op->b);
	run_mkdir(op, in(path, "new"));
	umask(022);
}

static void in_mknod(const struct op *op, const char *path)
{
	struct op plain = *op;

	plain.b = 0;
	umask(op->b);
	run_mknod(&plain, in(path, "new"));
	umask(022);
}

static void in_symlink(const struct op *op, const char *path)
{
	run_symlink(op, in(path, "new"));
}

static void in_bind(const struct op *op, const char *path)
{
	umask(op->b);
	run_bind(op, in(path, "new"));
	umask(022);
}

static void in_tmpfile(const struct op *op, const char *path)
{
	char from[40];
	int fd;

	umask(op->b);
	fd = open(path, O_TMPFILE | O_RDWR, op->a);
	said(fd < 0 ? -1 : 0);
	if (fd >= 0) {
		snprintf(from, sizeof(from), "/proc/self/fd/%d", fd);
		said(linkat(AT_FDCWD, from, AT_FDCWD, in(path, "new"), AT_SYMLINK_FOLLOW));
		close(fd);
	}
	umask(022);
}

static void in_link(const struct op *op, const char *path)
{
	said(link(in(path, op->s), in(path, "new")));
}

static void in_unlink(const struct op *op, const char *path)
{
	said(unlink(in(path, op->s)));
}

static void in_rmdir(const struct op *op, const char *path)
{
	said(rmdir(in(path, op->s)));
}

static void in_rename(const struct op *op, const char *path)
{
	said(renameat2(AT_FDCWD, in(path, op->s), AT_FDCWD, in(path, "new"), op->a));
}

static void in_rename_over(const struct op *op, const char *path)
{
	said(renameat2(AT_FDCWD, in(path, "f"), AT_FDCWD, in(path, "r"), op->a));
}

static void in_rename_away(const struct op *op, const char *path)
{
	said(rename(in(path, op->s), "out"));
}

static void in_rename_here(const struct op *op, const char *path)
{
	(void)op;
	said(mkdir("mine", 0755));
	said(rename("mine", in(path, "mine")));
}

static void in_stat(const struct op *op, const char *path)
{
	(void)op;
	note("%s", stat_text(-1, in(path, "f")));
	note("%s", stat_text(-1, in(path, "missing")));
	note("%s", stat_text(-1, in(path, ".")));
	note("%s", stat_text(-1, in(path, "d/..")));
}

static void in_open(const struct op *op, const char *path)
{
	int fd = open(in(path, op->s), op->a, 0644);

	said(fd < 0 ? -1 : 0);
	if (fd >= 0 && (op->a & O_ACCMODE) != O_RDONLY)
		said(write(fd, "W", 1));
	if (fd >= 0)
		close(fd);
}

static void in_chdir(const struct op *op, const char *path)
{
	int fd;

	(void)op;
	said(chdir(path));
	said(access("f", F_OK));
	said(access("../p", F_OK));
	fd = open(".", O_RDONLY | O_DIRECTORY);
	said(fd < 0 ? -1 : 0);
	said(fchdir(fd));
	if (fd >= 0)
		close(fd);
}

static const struct op inside[] = {
	{ "creating 0666", in_creat, IS_PARENT, SOME, .a = 0666, .b = 022 },
	{ "creating 0666 umask 0", in_creat, IS_PARENT, FEW, .a = 0666, .b = 0 },
	{ "creating 0600", in_creat, IS_PARENT, FEW, .a = 0600, .b = 022 },
	{ "creating 6777 umask 077", in_creat, IS_PARENT, ALL, .a = 06777, .b = 077 },
	{ "creating 2767 umask 0", in_creat, IS_PARENT, SOME, .a = 02767, .b = 0 },
	{ "creating 0777 umask 0777", in_creat, IS_PARENT, FEW, .a = 0777, .b = 0777 },
	{ "mkdir 0777", in_mkdir, IS_PARENT, ALL, .a = 0777, .b = 022 },
	{ "mkdir 0777 umask 077", in_mkdir, IS_PARENT, FEW, .a = 0777, .b = 077 },
	{ "mkdir 7777 umask 0", in_mkdir, IS_PARENT, ALL, .a = 07777, .b = 0 },
	{ "mkdir 0700", in_mkdir, IS_PARENT, FEW, .a = 0700, .b = 022 },
	{ "mknod fifo 0666", in_mknod, IS_PARENT, FEW, .a = S_IFIFO | 0666, .b = 002 },
	{ "mknod fifo 7777", in_mknod, IS_PARENT, FEW, .a = S_IFIFO | 07777, .b = 002 },
	{ "mknod regular 0666", in_mknod, IS_PARENT, FEW, .a = S_IFREG | 0666, .b = 022 },
	{ "mknod regular 2755", in_mknod, IS_PARENT, FEW, .a = S_IFREG | 02755, .b = 027 },
	{ "mknod whiteout", in_mknod, IS_PARENT, FEW, .a = S_IFCHR | 0666, .b = 022 },
	{ "bind", in_bind, IS_PARENT, FEW, .b = 022 },
	{ "symlink", in_symlink, IS_PARENT, SOME, .s = "f" },
	{ "O_TMPFILE 0666", in_tmpfile, IS_PARENT, SOME, .a = 0666, .b = 022 },
	{ "O_TMPFILE 6777 umask 0", in_tmpfile, IS_PARENT, FEW, .a = 06777, .b = 0 },
	{ "link", in_link, IS_PARENT, FEW, .s = "f" },
	{ "link to a file of root", in_link, IS_PARENT, FEW, .s = "r" },
	{ "unlink", in_unlink, IS_PARENT, SOME, .s = "f" },
	{ "unlink a file of root", in_unlink, IS_PARENT, SOME, .s = "r" },
	{ "unlink nothing", in_unlink, IS_PARENT, FEW, .s = "missing" },
	{ "unlink a directory", in_unlink, IS_PARENT, FEW, .s = "d" },
	{ "rmdir", in_rmdir, IS_PARENT, SOME, .s = "d" },
	{ "rmdir of a file", in_rmdir, IS_PARENT, FEW, .s = "f" },
	{ "rmdir of itself", in_rmdir, IS_PARENT, FEW, .s = "." },
	{ "rmdir of the one above", in_rmdir, IS_PARENT, FEW, .s = ".." },
	{ "rename", in_rename, IS_PARENT, FEW, .s = "f" },
	{ "rename a directory", in_rename, IS_PARENT, FEW, .s = "d" },
	{ "rename a file of root", in_rename, IS_PARENT, FEW, .s = "r" },
	{ "rename leaving a whiteout", in_rename, IS_PARENT, FEW, .s = "f", .a = RENAME_WHITEOUT },
	{ "rename over a file of root", in_rename_over, IS_PARENT, SOME, .a = 0 },
	{ "exchange with a file of root", in_rename_over, IS_PARENT, FEW, .a = RENAME_EXCHANGE },
	{ "rename away", in_rename_away, IS_PARENT, FEW, .s = "f" },
	{ "rename a directory away", in_rename_away, IS_PARENT, SOME, .s = "d" },
	{ "rename a directory into it", in_rename_here, IS_PARENT, FEW, .a = 0 },
	{ "stat", in_stat, IS_PARENT, SOME, .a = 0 },
	{ "open for reading", in_open, IS_PARENT, SOME, .a = O_RDONLY, .s = "f" },
	{ "open with O_CREAT", in_open, IS_PARENT, SOME, .a = O_RDWR | O_CREAT, .s = "f" },
	{ "open another's with O_CREAT", in_open, IS_PARENT, SOME, .a = O_RDONLY | O_CREAT,
		.s = "r" },
	{ "open with O_TRUNC", in_open, IS_PARENT, FEW, .a = O_WRONLY | O_TRUNC, .s = "f" },
	{ "list", in_open, IS_PARENT, SOME, .a = O_RDONLY | O_DIRECTORY, .s = "." },
	{ "chdir", in_chdir, IS_PARENT, SOME, .a = 0 },
};

/* ---- renaming each sort over each other ---- */

static const char *const froms[] = { "file for all", "full directory", "directory for all",
	"symlink", "symlink to a directory", "fifo", "socket", "null device", "nothing" };
static const char *const tos[] = { "nothing", "file for all", "directory for all",
	"full directory", "symlink", "dangling symlink", "fifo", "null device" };
enum { PAIRS = COUNT(froms) * COUNT(tos) };

static const struct {
	const char *name;
	unsigned flags, users;
} renames[] = {
	{ "rename", 0, FEW },
	{ "rename NOREPLACE", RENAME_NOREPLACE, OWNER | OTHER },
	{ "rename EXCHANGE", RENAME_EXCHANGE, FEW },
	{ "rename WHITEOUT", RENAME_WHITEOUT, FEW },
	{ "rename NOREPLACE WHITEOUT", RENAME_NOREPLACE | RENAME_WHITEOUT, OWNER },
	{ "rename NOREPLACE EXCHANGE", RENAME_NOREPLACE | RENAME_EXCHANGE, OWNER },
	{ "rename EXCHANGE WHITEOUT", RENAME_EXCHANGE | RENAME_WHITEOUT, OWNER },
	{ "rename with an unknown flag", 8, OWNER },
};

static bool make_pair(const struct state *s, const char *at)
{
	return s->first->make(s->first, at) && s->second->make(s->second, "g");
}

static bool make_same(const struct state *s, const char *at)
{
	(void)s;
	return put_file(at, 0666, CONTENT, OWNER_ID, GROUP_ID) && link(at, "g") == 0;
}

static void run_pairs(void)
{
	static struct state pairs[PAIRS + 1];
	static char names[PAIRS][80];
	size_t n = 0;

	for (size_t i = 0; i < COUNT(froms); i++)
		for (size_t k = 0; k < COUNT(tos); k++, n++) {
			pairs[n] = (struct state){ .name = names[n], .path = "f",
				.groups = strcmp(tos[k], "full directory") ? IS_FILE : IS_DIR,
				.make = make_pair,
				.first = state_named(froms[i]), .second = state_named(tos[k]) };
			snprintf(names[n], sizeof(names[n]), "%s over %s", froms[i], tos[k]);
		}
	pairs[n++] = (struct state){ .name = "file over itself", .path = "f", .groups = IS_FILE,
		.make = make_same };
	for (size_t i = 0; i < COUNT(renames); i++) {
		/* A whiteout of a rename that failed leaves its trace in the directory's times, as
		 * the file system below pleases. */
		struct op op = { renames[i].name, run_rename_to,
			renames[i].flags & RENAME_WHITEOUT ? IS_FILE : IS_FILE | IS_DIR,
			renames[i].users, .a = renames[i].flags, .s = "g" };

		run_ops("names", &op, 1, pairs, n);
	}
}

void run_names(void)
{
	run_ops("names", single, COUNT(single), states, n_states);
	run_ops("names", inside, COUNT(inside), states, n_states);
	run_pairs();
}
