/* SPDX-License-Identifier: MIT */
#include "base/place.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/rights.h"

#define LINKS_MAX 40 /* the kernel's limit */

/* The directory reached, and the rest of the path.  A link puts its text in front of the rest. */
struct walk {
	int dir;
	char rest[2 * PATH_MAX];
	int links;
	bool to_end; /* follow also a link at the end */
};

bool place_is_foreign(int dir, const struct stat *st)
{
	struct stat top;

	if (rights_trusts(st->st_uid))
		return false;
	return fstat(dir, &top) < 0 || !rights_trusts(top.st_uid) ||
	       (top.st_mode & (S_IWGRP | S_IWOTH));
}

/* Links of /proc lead where the kernel says, whatever their text is. */
static bool is_of_proc(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC;
}

static int enter(struct walk *walk, const char *name, int flags)
{
	int fd = openat(walk->dir, name, O_PATH | O_CLOEXEC | O_DIRECTORY | flags);

	if (fd < 0)
		return -errno;
	close(walk->dir);
	walk->dir = fd;
	return 0;
}

/* Puts the text of a link in front of the rest.  One descriptor serves for the check and for reading, because the name
 * may lead to another file in between. */
static int follow(struct walk *walk, const char *name)
{
	cleanup_fd int fd = openat(walk->dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	char text[PATH_MAX], joined[sizeof(walk->rest)];
	struct stat st;
	ssize_t n;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (place_is_foreign(walk->dir, &st) || ++walk->links > LINKS_MAX)
		return -ELOOP;
	n = readlinkat(fd, "", text, sizeof(text));
	if (n < 0)
		return -errno; /* ENOENT: it is not a link any more */
	if (snprintf(joined, sizeof(joined), "%.*s%s%s", (int)n, text, *walk->rest ? "/" : "", walk->rest) >=
		(int)sizeof(joined))
		return -ENAMETOOLONG;
	memcpy(walk->rest, joined, sizeof(joined));
	return joined[0] == '/' ? enter(walk, "/", 0) : 0;
}

/* Takes the first name off the rest; false: it was the last. */
static bool take_name(struct walk *walk, char name[NAME_MAX + 1], int *ret_error)
{
	char *start = walk->rest + strspn(walk->rest, "/");
	size_t len = strcspn(start, "/");
	bool more = start[len] != '\0';

	*ret_error = len > NAME_MAX ? -ENAMETOOLONG : len == 0 ? -EISDIR : 0;
	if (*ret_error)
		return false;
	memcpy(name, start, len);
	name[len] = '\0';
	memmove(walk->rest, start + len, strlen(start + len) + 1);
	return more;
}

/* Walks one name: 1 there are more, 0 this was the last, or -errno. */
static int step(struct walk *walk, char name[NAME_MAX + 1])
{
	int r;
	bool more = take_name(walk, name, &r);
	struct stat st;

	if (r < 0)
		return r;
	if (fstatat(walk->dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT && !more ? 0 : -errno;
	if (S_ISLNK(st.st_mode) && (more || walk->to_end) && !is_of_proc(walk->dir))
		r = follow(walk, name);
	else if (!more)
		return 0;
	else
		r = enter(walk, name, S_ISLNK(st.st_mode) ? 0 : O_NOFOLLOW);
	return r < 0 ? r : 1;
}

int place_open(const char *path, bool follow, char **ret_name)
{
	struct walk walk = { .to_end = follow, .dir = open(*path == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC) };
	char name[NAME_MAX + 1];
	int r = walk.dir < 0 ? -errno : 1;

	if (r > 0 && (size_t)snprintf(walk.rest, sizeof(walk.rest), "%s", path) >= PATH_MAX)
		r = -ENAMETOOLONG;
	else if (r > 0 && !*path)
		r = -ENOENT;
	while (r > 0)
		r = step(&walk, name);
	if (r == 0 && (*ret_name = strdup(name)))
		return walk.dir;
	if (walk.dir >= 0)
		close(walk.dir);
	return r < 0 ? r : -ENOMEM;
}

int place_create(int dir, const char *name, mode_t mode)
{
	int fd = openat(dir, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);

	return fd < 0 ? -errno : fd;
}

int place_clear(int dir, const char *name)
{
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISREG(st.st_mode) || place_is_foreign(dir, &st))
		return -EPERM;
	return unlinkat(dir, name, 0) < 0 ? -errno : 0;
}

const char *place_explain(int error)
{
	switch (error) {
	case -ELOOP:
		return "a symbolic link of another user is on the way, in a directory that other users may write to";
	case -EPERM:
		return "the file there belongs to another user, in a directory that other users may write to";
	case -ENOTUNIQ: /* output.h */
		return "it is a trace, and traces are never overwritten; take another name";
	case -EEXIST: /* output.h */
		return "there is another file that does not look like an earlier result; take another name, or use --force";
	case -ENOTEMPTY: /* output.h */
		return "there is a trace already; take another name, or replace it with --force";
	case -EBADF: /* output.h */
		return "there is something that is no trace; take another name";
	case -EUCLEAN: /* output.h */
		return "beside it are files of a trace that is being written, or was never completed; take another name";
	case -ENOENT:
		return "there is no such directory";
	case -EISDIR:
		return "it is a directory";
	default:
		return strerror(-error);
	}
}
