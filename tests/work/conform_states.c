/* SPDX-License-Identifier: MIT */

/* The states in which operations find a file. */

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "conform.h"
#include "conform_box.h"

/* ---- making ---- */

/* An ordinary user cannot give a file away, and need not: all belongs to that user. */
bool put_owner(const char *at, mode_t mode, uid_t uid, gid_t gid)
{
	if (many_users() && lchown(at, uid, gid) < 0)
		return false;
	return S_ISLNK(mode) || chmod(at, mode & 07777) == 0;
}

bool put_file(const char *at, mode_t mode, const char *content, uid_t uid, gid_t gid)
{
	int fd = open(at, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	size_t n = strlen(content);

	if (fd < 0 || write(fd, content, n) != (ssize_t)n)
		err(1, "%s", at);
	close(fd);
	return put_owner(at, mode, uid, gid);
}

bool put_dir(const char *at, mode_t mode, uid_t uid, gid_t gid)
{
	return mkdir(at, 0700) == 0 && put_owner(at, mode, uid, gid);
}

size_t pack_acl(const struct acl_entry *entries, void *ret_packed)
{
	const uint32_t version = 2;
	size_t n = 0;

	while (entries[n].tag)
		n++;
	memcpy(ret_packed, &version, sizeof(version));
	memcpy((char *)ret_packed + sizeof(version), entries, n * sizeof(*entries));
	return sizeof(version) + n * sizeof(*entries);
}

static bool put_acl(const char *at, const char *name, const struct acl_entry *acl)
{
	char packed[200];

	return !acl || setxattr(at, name, packed, pack_acl(acl, packed), 0) == 0;
}

static bool put_acls(const struct state *s, const char *at)
{
	return put_acl(at, ACCESS_ACL, s->acl) && put_acl(at, DEFAULT_ACL, s->default_acl);
}

static bool put_flags(const char *at, int added)
{
	int fd = open(at, O_RDONLY | O_CLOEXEC), flags;
	bool done = false;

	if (!added)
		return true;
	put_age(at); /* impossible once the flags are set */
	if (fd >= 0 && ioctl(fd, FS_IOC_GETFLAGS, &flags) == 0) {
		flags |= added;
		done = ioctl(fd, FS_IOC_SETFLAGS, &flags) == 0;
	}
	if (fd >= 0)
		close(fd);
	return done;
}

static bool make_nothing(const struct state *s, const char *at)
{
	(void)s;
	(void)at;
	return true;
}

/* What belongs to root, or to one of several users, is not to be had by one user. */
static bool is_possible(const struct state *s)
{
	return many_users() || (s->uid == OWNER_ID && !s->number);
}

static bool make_file(const struct state *s, const char *at)
{
	/* The mode once more: an ACL changes it. */
	return is_possible(s) && put_file(at, s->mode, CONTENT, s->uid, s->gid) &&
		put_acls(s, at) && (!(s->mode & S_ISGID) || !s->acl || chmod(at, s->mode) == 0) &&
		put_flags(at, s->number);
}

static bool make_named(const struct state *s, const char *at)
{
	(void)at;
	return make_file(s, s->path);
}

static bool make_empty(const struct state *s, const char *at)
{
	return put_file(at, s->mode, "", s->uid, s->gid);
}

static bool make_hard(const struct state *s, const char *at)
{
	return make_file(s, at) && link(at, "h") == 0;
}

static bool make_dir(const struct state *s, const char *at)
{
	return is_possible(s) && put_dir(at, s->mode, s->uid, s->gid) && put_acls(s, at) &&
		put_flags(at, s->number);
}

static bool make_full(const struct state *s, const char *at)
{
	char path[20] = "";

	if (!is_possible(s) || !put_dir(at, 0777, s->uid, s->gid))
		return false;
	strcat(strcpy(path, at), "/x");
	return put_file(path, 0666, CONTENT, OWNER_ID, GROUP_ID) &&
		put_owner(at, s->mode, s->uid, s->gid) && put_flags(at, s->number);
}

/* Makes the target of the link, too; of a pair the first one may have made it. */
static bool make_link(const struct state *s, const char *at)
{
	if (strcmp(s->target, "target") == 0 && access("target", F_OK) < 0 &&
		!put_file("target", 0666, CONTENT, OWNER_ID, GROUP_ID))
		return false;
	if (strcmp(s->target, "dir") == 0 && access("dir", F_OK) < 0 &&
		!put_dir("dir", 0777, OWNER_ID, GROUP_ID))
		return false;
	return symlink(s->target, at) == 0 && put_owner(at, S_IFLNK, s->uid, s->gid);
}

static bool make_special(const struct state *s, const char *at)
{
	if (!many_users() && (S_ISCHR(s->mode) || S_ISBLK(s->mode)))
		return false;
	return mknod(at, s->mode, s->number) == 0 && put_owner(at, s->mode, s->uid, s->gid);
}

/* A directory p of this state with a file f, an empty directory d and a file of root, r. */
static bool make_parent(const struct state *s, const char *at)
{
	(void)at;
	if (!is_possible(s) && !(s->uid == 0 && s->number))
		return false;
	return put_dir("p", 0777, OWNER_ID, GROUP_ID) &&
		put_file("p/f", 0664, CONTENT, OWNER_ID, GROUP_ID) &&
		put_dir("p/d", 0775, OWNER_ID, GROUP_ID) && put_file("p/r", 0644, CONTENT, 0, 0) &&
		put_owner("p", s->mode, s->uid, s->gid) && put_acls(s, "p") &&
		(!(s->mode & S_ISGID) || chmod("p", s->mode) == 0) && put_flags("p", s->number);
}

/* ---- the list ---- */

#define OWNED .uid = OWNER_ID, .gid = GROUP_ID
#define ACL(...) ((const struct acl_entry[]){ __VA_ARGS__, { 0, 0, 0 } })
#define REGULAR(n, m, g) { .name = n, .path = "f", .groups = g, .make = make_file, .mode = m, \
	OWNED }
#define DIRECTORY(n, m, g) { .name = n, .path = "f", .groups = IS_DIR | (g), .make = make_dir, \
	.mode = m, OWNED }
#define LINK(n, to, g) { .name = n, .path = "f", .groups = IS_LINK | (g), .make = make_link, \
	.target = to, OWNED }
#define SPECIAL(n, m, d, g) { .name = n, .path = "f", .groups = IS_SPECIAL | (g), \
	.make = make_special, .mode = m, .number = d, OWNED }
#define PARENT(n, m, u, g) { .name = n, .path = "p", .groups = IS_PARENT, .make = make_parent, \
	.mode = m, .uid = u, .gid = g }

/* 255 bytes of which none is in a valid sequence of UTF-8. */
#define FF16 "\xff\xfe\xff\xfe\xff\xfe\xff\xfe\xff\xfe\xff\xfe\xff\xfe\xff\xfe"
#define FF240 FF16 FF16 FF16 FF16 FF16 FF16 FF16 FF16 FF16 FF16 FF16 FF16 FF16 FF16 FF16
#define LONG_NAME FF240 "\xff\xfe\xff\xfe\xff\xfe\xff\xfe\xff\xfe\xff\xfe\xff\xfe\xff"

#define FOR_OTHER ACL({ ACL_OWNER, 7, NO_ID }, { ACL_UID, 7, OTHER_ID }, \
	{ ACL_OWNING, 4, NO_ID }, { ACL_MASK, 7, NO_ID }, { ACL_REST, 0, NO_ID })
#define AGAINST_MEMBER ACL({ ACL_OWNER, 6, NO_ID }, { ACL_UID, 0, 6002 }, \
	{ ACL_OWNING, 6, NO_ID }, { ACL_MASK, 6, NO_ID }, { ACL_REST, 6, NO_ID })
#define BY_GROUP ACL({ ACL_OWNER, 6, NO_ID }, { ACL_OWNING, 0, NO_ID }, \
	{ ACL_GID, 7, OTHER_ID }, { ACL_GID, 4, 6003 }, { ACL_MASK, 7, NO_ID }, \
	{ ACL_REST, 0, NO_ID })
#define MASKED ACL({ ACL_OWNER, 7, NO_ID }, { ACL_UID, 7, OTHER_ID }, { ACL_OWNING, 7, NO_ID }, \
	{ ACL_MASK, 4, NO_ID }, { ACL_REST, 7, NO_ID })
#define INHERITED ACL({ ACL_OWNER, 7, NO_ID }, { ACL_UID, 7, OTHER_ID }, \
	{ ACL_OWNING, 5, NO_ID }, { ACL_MASK, 7, NO_ID }, { ACL_REST, 1, NO_ID })

const struct state states[] = {
	REGULAR("file", 0640, IS_FILE | IS_SORT),
	REGULAR("file for all", 0666, IS_FILE | IS_SORT),
	{ .name = "empty file", .path = "f", .groups = IS_FILE | IS_SORT, .make = make_empty,
		.mode = 0666, OWNED },
	{ .name = "file of root", .path = "f", .groups = IS_FILE, .make = make_file, .mode = 0644 },
	{ .name = "hard link", .path = "f", .groups = IS_FILE | IS_SORT, .make = make_hard,
		.mode = 0664, OWNED },
	{ .name = "long name", .path = LONG_NAME, .groups = IS_FILE | IS_SORT, .make = make_named,
		.mode = 0666, OWNED },
	{ .name = "nothing", .path = "f", .groups = IS_NOTHING | IS_SORT, .make = make_nothing },
	REGULAR("mode 0000", 0000, IS_MODE),
	REGULAR("mode 0400", 0400, IS_MODE),
	REGULAR("mode 0200", 0200, IS_MODE),
	REGULAR("mode 0044", 0044, IS_MODE),
	REGULAR("mode 0060", 0060, IS_MODE),
	REGULAR("mode 0006", 0006, IS_MODE),
	REGULAR("mode 0755", 0755, IS_MODE),
	REGULAR("mode 4777", 04777, IS_MODE),
	REGULAR("mode 4766", 04766, IS_MODE),
	REGULAR("mode 2777", 02777, IS_MODE),
	REGULAR("mode 2767", 02767, IS_MODE),
	REGULAR("mode 6777", 06777, IS_MODE | IS_SORT),
	REGULAR("mode 6666", 06666, IS_MODE),
	REGULAR("mode 1777", 01777, IS_MODE),
	DIRECTORY("directory", 0755, IS_SORT),
	DIRECTORY("directory for all", 0777, IS_SORT),
	DIRECTORY("directory 0700", 0700, 0),
	DIRECTORY("directory 0000", 0000, 0),
	DIRECTORY("directory 0333", 0333, 0),
	DIRECTORY("directory 0444", 0444, 0),
	DIRECTORY("setgid directory", 02777, IS_SORT),
	DIRECTORY("sticky directory", 01777, 0),
	{ .name = "full directory", .path = "f", .groups = IS_DIR | IS_SORT, .make = make_full,
		.mode = 0777, OWNED },
	LINK("symlink", "target", IS_SORT),
	LINK("dangling symlink", "nowhere", IS_SORT),
	LINK("symlink to a directory", "dir", IS_SORT),
	LINK("symlink to itself", "f", 0),
	SPECIAL("fifo", S_IFIFO | 0666, 0, IS_SORT),
	SPECIAL("fifo 0600", S_IFIFO | 0600, 0, 0),
	SPECIAL("socket", S_IFSOCK | 0666, 0, IS_SORT),
	SPECIAL("null device", S_IFCHR | 0666, DEVICE(1, 3), IS_SORT),
	SPECIAL("full device", S_IFCHR | 0660, DEVICE(1, 7), 0),
	SPECIAL("device without a driver", S_IFCHR | 0666, DEVICE(240, 77), 0),
	SPECIAL("block device without a driver", S_IFBLK | 0666, DEVICE(240, 77), 0),
	{ .name = "ACL for other", .path = "f", .groups = IS_ACL, .make = make_file, .mode = 0600,
		OWNED, .acl = FOR_OTHER },
	{ .name = "ACL against member", .path = "f", .groups = IS_ACL, .make = make_file,
		.mode = 0600, OWNED, .acl = AGAINST_MEMBER },
	{ .name = "ACL for groups", .path = "f", .groups = IS_ACL, .make = make_file, .mode = 0600,
		OWNED, .acl = BY_GROUP },
	{ .name = "ACL masked", .path = "f", .groups = IS_ACL, .make = make_file, .mode = 0600,
		OWNED, .acl = MASKED },
	{ .name = "ACL and sgid", .path = "f", .groups = IS_ACL, .make = make_file, .mode = 02775,
		OWNED, .acl = FOR_OTHER },
	{ .name = "directory with ACL", .path = "f", .groups = IS_ACL, .make = make_dir,
		.mode = 0700, OWNED, .acl = FOR_OTHER },
	{ .name = "directory with default ACL", .path = "f", .groups = IS_ACL, .make = make_dir,
		.mode = 0777, OWNED, .default_acl = INHERITED },
	{ .name = "immutable file", .path = "f", .groups = IS_FLAGGED, .make = make_file,
		.mode = 0666, OWNED, .number = FS_IMMUTABLE_FL },
	{ .name = "append-only file", .path = "f", .groups = IS_FLAGGED, .make = make_file,
		.mode = 0666, OWNED, .number = FS_APPEND_FL },
	{ .name = "immutable directory", .path = "f", .groups = IS_FLAGGED, .make = make_full,
		.mode = 0777, OWNED, .number = FS_IMMUTABLE_FL },
	{ .name = "append-only directory", .path = "f", .groups = IS_FLAGGED, .make = make_full,
		.mode = 0777, OWNED, .number = FS_APPEND_FL },
	PARENT("in 0777", 0777, OWNER_ID, GROUP_ID),
	PARENT("in 0755", 0755, OWNER_ID, GROUP_ID),
	PARENT("in 0755 of root", 0755, 0, 0),
	PARENT("in 0700", 0700, OWNER_ID, GROUP_ID),
	PARENT("in 0070", 0070, OWNER_ID, GROUP_ID),
	PARENT("in 0333", 0333, OWNER_ID, GROUP_ID),
	PARENT("in 0444", 0444, OWNER_ID, GROUP_ID),
	PARENT("in 0555", 0555, OWNER_ID, GROUP_ID),
	PARENT("in 0666", 0666, OWNER_ID, GROUP_ID),
	PARENT("in 0711", 0711, OWNER_ID, GROUP_ID),
	PARENT("in 0770 of root", 0770, 0, GROUP_ID),
	PARENT("in 1777 of root", 01777, 0, 0),
	PARENT("in 1777 of owner", 01777, OWNER_ID, GROUP_ID),
	PARENT("in 1777 of other", 01777, OTHER_ID, OTHER_ID),
	PARENT("in 2777", 02777, OWNER_ID, GROUP_ID),
	PARENT("in 2777 of a foreign group", 02777, 0, FOREIGN_ID),
	PARENT("in 3777 of root", 03777, 0, GROUP_ID),
	{ .name = "in ACL for other", .path = "p", .groups = IS_PARENT, .make = make_parent,
		.mode = 0700, OWNED, .acl = FOR_OTHER },
	{ .name = "in default ACL", .path = "p", .groups = IS_PARENT, .make = make_parent,
		.mode = 0777, OWNED, .default_acl = INHERITED },
	{ .name = "in 2777 with default ACL", .path = "p", .groups = IS_PARENT,
		.make = make_parent, .mode = 02777, OWNED, .default_acl = INHERITED },
	{ .name = "in immutable", .path = "p", .groups = IS_PARENT, .make = make_parent,
		.mode = 0777, OWNED, .number = FS_IMMUTABLE_FL },
	{ .name = "in append-only", .path = "p", .groups = IS_PARENT, .make = make_parent,
		.mode = 0777, OWNED, .number = FS_APPEND_FL },
};
const size_t n_states = COUNT(states);

const struct state *state_named(const char *name)
{
	for (size_t i = 0; i < n_states; i++)
		if (strcmp(states[i].name, name) == 0)
			return &states[i];
	errx(1, "no state '%s'", name);
}
