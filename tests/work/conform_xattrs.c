/* SPDX-License-Identifier: MIT */

/* Extended attributes, and ACLs, which are some of them. */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "conform.h"

static char value[70000];

/* ---- one call ---- */

static void run_set(const struct op *op, const char *path)
{
	said(setxattr(path, op->s, "value", op->a, op->b));
}

static void run_lset(const struct op *op, const char *path)
{
	said(lsetxattr(path, op->s, "value", op->a, op->b));
}

static void run_fset(const struct op *op, const char *path)
{
	int fd = open(path, op->b | O_NONBLOCK);

	said(fd < 0 ? -1 : fsetxattr(fd, op->s, "value", op->a, 0));
	close(fd);
}

static void run_set_large(const struct op *op, const char *path)
{
	memset(value, 'v', sizeof(value));
	said(setxattr(path, op->s, value, op->a, op->b));
}

static void run_get(const struct op *op, const char *path)
{
	ssize_t n = lgetxattr(path, op->s, value, op->a);

	if (op->a == 0 || n < 0)
		said(n);
	else
		note_data(value, n);
}

static void run_remove(const struct op *op, const char *path)
{
	said(removexattr(path, op->s));
}

static void run_list(const struct op *op, const char *path)
{
	ssize_t n = llistxattr(path, value, op->a);

	if (op->a == 0 || n < 0)
		said(n);
	else
		note_data(value, n);
}

/* A name of this many bytes. */
static void run_long_name(const struct op *op, const char *path)
{
	char name[300] = "user.";

	memset(name + 5, 'n', op->a - 5);
	name[op->a] = '\0';
	said(setxattr(path, name, "v", 1, 0));
	said(getxattr(path, name, value, sizeof(value)));
}

/* ---- a life ---- */

static void say_names(const char *path)
{
	ssize_t n = llistxattr(path, value, sizeof(value));
	ssize_t at = 0;

	/* The order is the file system's. */
	note(" lists");
	if (n < 0)
		said(n);
	for (; at < n; at += strlen(value + at) + 1)
		note(" %s", value + at);
}

static void run_life(const struct op *op, const char *path)
{
	char name[40] = "";

	strcat(strcpy(name, op->s), "life");
	note(" create");
	said(lsetxattr(path, name, "first", 5, XATTR_CREATE));
	note(" create again");
	said(lsetxattr(path, name, "second", 6, XATTR_CREATE));
	note(" replace");
	said(lsetxattr(path, name, "a longer one", 12, XATTR_REPLACE));
	note(" with both flags");
	said(lsetxattr(path, name, "third", 5, XATTR_CREATE | XATTR_REPLACE));
	note(" get");
	note_data(value, lgetxattr(path, name, value, sizeof(value)));
	note(" length");
	said(lgetxattr(path, name, NULL, 0));
	note(" too short");
	said(lgetxattr(path, name, value, 3));
	say_names(path);
	note(" length");
	said(llistxattr(path, NULL, 0));
	note(" too short");
	said(llistxattr(path, value, 2));
	note(" empty");
	said(lsetxattr(path, name, "", 0, 0));
	note_data(value, lgetxattr(path, name, value, sizeof(value)));
	note(" remove");
	said(lremovexattr(path, name));
	said(lremovexattr(path, name));
	note(" replace");
	said(lsetxattr(path, name, "fourth", 6, XATTR_REPLACE));
}

/* What root has put there: which user sees it? */
static bool make_with_xattrs(const struct state *s, const char *at)
{
	return s->first->make(s->first, at) &&
		(!many_users() || setxattr(at, "trusted.t", "of root", 7, 0) == 0) &&
		(!many_users() || setxattr(at, "security.s", "label", 5, 0) == 0) &&
		setxattr(at, "user.u", "of all", 6, 0) == 0;
}

static void run_visible(const struct op *op, const char *path)
{
	static const char *const names[] = { "trusted.t", "security.s", "user.u", "user.none" };

	(void)op;
	say_names(path);
	note(" length");
	said(listxattr(path, NULL, 0));
	for (size_t i = 0; i < COUNT(names); i++)
		note_data(value, getxattr(path, names[i], value, sizeof(value)));
	for (size_t i = 0; i < COUNT(names); i++)
		said(setxattr(path, names[i], "new", 3, XATTR_REPLACE));
	for (size_t i = 0; i < COUNT(names); i++)
		said(removexattr(path, names[i]));
	say_names(path);
}

/* A capability, which a write takes away again. */
static void run_capability(const struct op *op, const char *path)
{
	static const uint32_t capability[5] = { 0x02000000, 1 << 10, 0, 0, 0 };
	int fd;

	(void)op;
	said(setxattr(path, "security.capability", capability, sizeof(capability), 0));
	note_data(value, getxattr(path, "security.capability", value, sizeof(value)));
	fd = open(path, O_WRONLY | O_NONBLOCK);
	note(" write");
	said(fd < 0 ? -1 : write(fd, "x", 1));
	close(fd);
	note_data(value, getxattr(path, "security.capability", value, sizeof(value)));
}

static const struct op ops[] = {
	{ "life of user", run_life, IS_EACH, SOME, .s = "user." },
	{ "life of trusted", run_life, IS_SORT | IS_FLAGGED, FEW, .s = "trusted." },
	{ "life of security", run_life, IS_SORT | IS_FLAGGED, FEW, .s = "security." },
	{ "life of system", run_life, IS_SORT, ROOT | OWNER, .s = "system." },
	{ "life of nothing known", run_life, IS_SORT, ROOT | OWNER, .s = "unknown." },
	{ "life of no name space", run_life, IS_SORT, ROOT | OWNER, .s = "" },
	{ "set", run_set, IS_EACH, FEW, .s = "user.a", .a = 5 },
	{ "set of no name", run_set, IS_SORT, OWNER, .s = "", .a = 5 },
	{ "set of user.", run_set, IS_SORT, OWNER, .s = "user.", .a = 5 },
	{ "set with a wrong flag", run_set, IS_SORT, OWNER, .s = "user.a", .a = 5, .b = 4 },
	{ "set of links", run_lset, IS_LINK, FEW, .s = "trusted.a", .a = 5 },
	{ "fset for reading", run_fset, IS_EACH, FEW, .s = "user.a", .a = 5, .b = O_RDONLY },
	{ "fset for writing", run_fset, IS_SORT, FEW, .s = "user.a", .a = 5, .b = O_WRONLY },
	{ "fset by O_PATH", run_fset, IS_SORT, OWNER, .s = "user.a", .a = 5, .b = O_PATH },
	{ "set 3000 bytes", run_set_large, IS_SORT, OWNER, .s = "user.a", .a = 3000 },
	{ "set 20000 bytes", run_set_large, IS_SORT, OWNER, .s = "user.a", .a = 20000 },
	{ "set 65536 bytes", run_set_large, IS_SORT, OWNER, .s = "user.a", .a = 65536 },
	{ "set 65537 bytes", run_set_large, IS_SORT, OWNER, .s = "user.a", .a = 65537 },
	{ "set a longish name", run_long_name, IS_SORT, OWNER, .a = 255 },
	{ "set too long a name", run_long_name, IS_SORT, OWNER, .a = 256 },
	{ "get of nothing", run_get, IS_EACH, FEW, .s = "user.none", .a = 100 },
	{ "get of no name", run_get, IS_SORT, OWNER, .s = "", .a = 100 },
	{ "get of a capability", run_get, IS_SORT, FEW, .s = "security.capability", .a = 100 },
	{ "remove of nothing", run_remove, IS_EACH, FEW, .s = "user.none" },
	{ "list", run_list, IS_EACH, FEW, .a = 1000 },
	{ "capability", run_capability, IS_FILE | IS_DIR, FEW, .a = 0 },
};

static const struct op visible[] = {
	{ "what is visible", run_visible, IS_SORT, SOME, .a = 0 },
};

/* ---- ACLs ---- */

#define PACKED(...) ((const struct acl_entry[]){ __VA_ARGS__, { 0, 0, 0 } })
static const struct {
	const char *name;
	const struct acl_entry *acl;
} acls[] = {
	{ "of a mode", PACKED({ ACL_OWNER, 6, NO_ID }, { ACL_OWNING, 4, NO_ID },
		{ ACL_REST, 0, NO_ID }) },
	{ "with a user", PACKED({ ACL_OWNER, 7, NO_ID }, { ACL_UID, 5, OTHER_ID },
		{ ACL_OWNING, 5, NO_ID }, { ACL_MASK, 7, NO_ID }, { ACL_REST, 1, NO_ID }) },
	{ "without a mask", PACKED({ ACL_OWNER, 7, NO_ID }, { ACL_UID, 5, OTHER_ID },
		{ ACL_OWNING, 5, NO_ID }, { ACL_REST, 1, NO_ID }) },
	{ "out of order", PACKED({ ACL_REST, 7, NO_ID }, { ACL_OWNER, 5, NO_ID },
		{ ACL_OWNING, 5, NO_ID }) },
	{ "of no entry", PACKED({ 0, 0, 0 }) },
};

/* a: which; b: whether the default one */
static void run_set_acl(const struct op *op, const char *path)
{
	char packed[200];
	const char *name = op->b ? DEFAULT_ACL : ACCESS_ACL;

	said(setxattr(path, name, packed, pack_acl(acls[op->a].acl, packed), 0));
	note_data(packed, getxattr(path, name, packed, sizeof(packed)));
	note("%s access", stat_text(-1, path));
	for (int mode = 1; mode < 8; mode++)
		said(access(path, mode));
}

static void run_bad_acl(const struct op *op, const char *path)
{
	said(setxattr(path, op->s, "\1\0\0\0", op->a, 0));
}

static void run_acls(void)
{
	char name[80];

	for (size_t i = 0; i < COUNT(acls); i++)
		for (int is_default = 0; is_default < 2; is_default++) {
			struct op op = { name, run_set_acl,
				is_default ? IS_DIR | IS_FILE | IS_SORT : i < 2 ? IS_EACH : IS_SORT,
				i == 1 && !is_default ? ALL : FEW, .a = i, .b = is_default };

			strcpy(name, is_default ? "set default ACL " : "set ACL ");
			strcat(name, acls[i].name);
			run_ops("xattrs", &op, 1, states, n_states);
		}
}

static const struct op acl_ops[] = {
	{ "get ACL", run_get, IS_EACH, FEW, .s = ACCESS_ACL, .a = 200 },
	{ "get default ACL", run_get, IS_EACH, FEW, .s = DEFAULT_ACL, .a = 200 },
	{ "length of ACL", run_get, IS_ACL, OTHER, .s = ACCESS_ACL, .a = 0 },
	{ "ACL too short", run_get, IS_ACL, OTHER, .s = ACCESS_ACL, .a = 10 },
	{ "remove ACL", run_remove, IS_EACH, FEW, .s = ACCESS_ACL },
	{ "remove default ACL", run_remove, IS_EACH, FEW, .s = DEFAULT_ACL },
	{ "set a wrong ACL", run_bad_acl, IS_SORT, FEW, .s = ACCESS_ACL, .a = 4 },
	{ "set an empty ACL", run_bad_acl, IS_SORT | IS_ACL, FEW, .s = ACCESS_ACL, .a = 0 },
};

static void run_visibles(void)
{
	static const char *const names[] = { "file for all", "mode 0000", "mode 6777",
		"directory for all", "sticky directory", "ACL for other",
		"directory with default ACL", "hard link" };
	static struct state list[COUNT(names)];

	for (size_t i = 0; i < COUNT(names); i++) {
		list[i] = (struct state){ .name = names[i], .path = "f", .groups = IS_SORT,
			.make = make_with_xattrs, .first = state_named(names[i]) };
	}
	run_ops("xattrs", visible, COUNT(visible), list, COUNT(list));
}

void run_xattrs(void)
{
	run_ops("xattrs", ops, COUNT(ops), states, n_states);
	run_visibles();
	run_acls();
	run_ops("xattrs", acl_ops, COUNT(acl_ops), states, n_states);
}
