/* SPDX-License-Identifier: MIT */
/*
 * System calls that name a file by path, rewritten as the request that a mount would have got: a node, or a directory and
 * a name in it.  The handlers of the other files then record both.
 */
#include <errno.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/stat.h>

#include "db/missing_names.h"
#include "db/procs.h"
#include "db/record_internal.h"
#include "db/store.h"
#include "db/walk.h"

/* The node that stands for a node of the kernel, which may know one file by several nodes, some without a name. */
static struct node *known_node(struct record *record, uint64_t id)
{
	struct node *node = files_node(record->files, id), *other;

	if (!node || id == NODE_ROOT || node_is_named(node))
		return node;
	other = file_node(node_file(node));
	return other && node_is_named(other) ? other : node;
}

/* Whether a file that was there at that time is another one than that of the node. */
static bool is_replaced(const struct node *node, int64_t time_ns)
{
	return node_file(node)->deleted && time_ns >= node_file(node)->removed_ns;
}

/*
 * The node to which the path led.  The kernel may know a file that has been removed by the node of the new file with that
 * inode number.  A file that has links is not one that was removed before the call began.
 */
static int find_shown(struct record *record, const struct work *w, struct node **ret_node)
{
	struct node *node = files_node(record->files, w->op->other);
	int r = 0;

	if (node && w->ok && w->op->length && is_replaced(node, w->ev->time_ns))
		r = files_renew(record->files, node, w->ev->op == OP_CREATE ? 0 : -1, w->op->length, &node);
	*ret_node = known_node(record, w->op->other);
	return r < 0 ? store_fail(record->store, r) : 0;
}

/* The first path, or the second one, which begins at 'other'. */
static int walk_to(struct record *record, const struct work *w, bool second, enum walk_end end,
	struct place *ret_place)
{
	struct walk_path path = { .path = second ? w->name2 : w->name,
		.len = second ? w->name2_len : w->name_len,
		.base = known_node(record, second ? w->op->other : w->op->node),
		.end = end,
		.exists = w->ok,
		.is_known = !second && (w->places->other || w->ev->op == OP_CREATE),
		.time_ns = w->ev->time_ns };

	if (second && !w->name2)
		path.path = "";
	return walk(record->walkers[second], &path, ret_place);
}

/* The directory and the name of a place are those of the request. */
static void put_name(struct work *w, const struct place *place)
{
	w->places->node = place->dir;
	w->name = place->name;
	w->name_len = place->len;
}

/* ---- names that are made, removed and moved ---- */

static uint32_t made_type(const struct work *w)
{
	switch (w->ev->op) {
	case OP_MKDIR:
		return S_IFDIR;
	case OP_SYMLINK:
		return S_IFLNK;
	default:
		return w->op->mode & S_IFMT ? w->op->mode & S_IFMT : S_IFREG;
	}
}

/* What has been made, and the inode of which is not known. */
static int make_node(struct record *record, struct work *w)
{
	const struct event_node made = { .mode = made_type(w), .nlink = 1, .size = w->ev->op == OP_CREATE ? 0 : -1 };
	int r = files_make_node(record->files, &made, &w->places->other);

	if (r < 0)
		return store_fail(record->store, r);
	files_set_moved(w->places->other, w->ev->time_ns + w->op->latency_ns);
	return 0;
}

/* MKDIR, MKNOD, SYMLINK: the kernel has not told the inode. */
static int resolve_made(struct record *record, struct work *w, struct place *place)
{
	int r = walk_to(record, w, false, WALK_PARENT, place);

	put_name(w, place);
	if (r < 0 || !w->ok || !place->dir)
		return r;
	r = make_node(record, w);
	if (r == 0 && w->ev->op == OP_SYMLINK && w->name2)
		r = file_set_target(node_file(w->places->other), w->name2, w->name2_len);
	return r;
}

/* What was removed tells whether it was a directory, which a probe may have seen wrongly. */
static void correct_type(struct record *record, struct file *file, enum op op)
{
	if (op == OP_UNLINK && S_ISDIR(file->mode))
		files_drop_type(record->files, file);
	if (op == OP_RMDIR)
		files_set_type(record->files, file, S_IFDIR);
}

/* UNLINK, RMDIR */
static int resolve_removed(struct record *record, struct work *w, struct place *place)
{
	uint32_t type = w->ev->op == OP_RMDIR ? S_IFDIR : 0;
	int r = walk_to(record, w, false, WALK_PARENT, place);

	if (r == 0 && w->ok)
		r = walk_fill(record->walkers[0], place, type, w->ev->time_ns);
	if (r == 0 && w->ok && place->node)
		correct_type(record, node_file(place->node), w->ev->op);
	put_name(w, place);
	return r;
}

/* The event of a lookup of the new name may have come before that of the rename. */
static bool is_moved_already(struct record *record, const struct work *w, const struct place *from,
	const struct place *to)
{
	if (!w->ok || !to->node || (from->node && from->node != to->node) || !to->dir)
		return false;
	if (from->node && node_file(to->node)->nlink > 1)
		return false;
	return files_bound_since(record->files, to->dir, to->name, to->len, w->ev->time_ns);
}

static int fill_moved(struct record *record, const struct work *w, int walker, struct place *from, const struct place *to)
{
	return walk_fill_moved(record->walkers[walker], from, to, w->ev->time_ns, w->ev->time_ns + w->op->latency_ns);
}

static int resolve_renamed(struct record *record, struct work *w, struct place *place)
{
	struct place to;
	int r = walk_to(record, w, false, WALK_PARENT, place);

	if (r == 0)
		r = walk_to(record, w, true, WALK_PARENT, &to);
	if (r < 0)
		return r;
	if (is_moved_already(record, w, place, &to)) {
		if (place->dir)
			files_unbind(record->files, place->dir, place->name, place->len, false,
				w->ev->time_ns);
		w->places->moved = to.node;
	} else if (w->ok) {
		r = fill_moved(record, w, 0, place, &to);
		if (r == 0 && (w->op->flags & RENAME_EXCHANGE))
			r = fill_moved(record, w, 1, &to, place);
	}
	put_name(w, place);
	w->places->other = to.dir;
	w->name2 = to.name;
	w->name2_len = to.len;
	return r;
}

static int resolve_linked(struct record *record, struct work *w, struct place *place)
{
	struct handle *h = w->op->handle ? handles_find(record->handles, w->op->handle) : NULL;
	struct place to;
	int r = 0;

	if (!h)
		r = walk_to(record, w, false,
			w->op->flags & AT_SYMLINK_FOLLOW ? WALK_FOLLOW : WALK_LINK, place);
	if (r == 0)
		r = walk_to(record, w, true, WALK_PARENT, &to);
	if (r < 0)
		return r;
	w->places->node = h ? file_node(h->file) : place->node;
	w->places->other = to.dir;
	w->name = to.name;
	w->name_len = to.len;
	return 0;
}

/* ---- files that are opened ---- */

/* Of a path that led to a file of which nothing but its type is known. */
static void take_type(struct record *record, const struct work *w, const struct place *place)
{
	if (w->ok && place->node && w->op->mode & S_IFMT)
		files_set_type(record->files, node_file(place->node), w->op->mode & S_IFMT);
}

/* The kernel names what it opens.  Only of a file with several links the path tells which one was meant. */
static int resolve_opened(struct record *record, struct work *w, struct place *place)
{
	enum walk_end end = w->op->flags & O_NOFOLLOW ? WALK_LINK : WALK_FOLLOW;
	struct node *node;
	int r = find_shown(record, w, &node);

	w->places->node = node;
	if (r < 0)
		return r;
	if (node && node_is_named(node) && node_file(node)->nlink <= 1)
		return 0;
	w->places->other = node;
	r = walk_to(record, w, false, end, place);
	w->places->other = NULL;
	if (!node) {
		w->places->node = place->node;
		take_type(record, w, place);
	}
	if (r < 0 || !node || !w->ok || !place->dir || place->partial || !place->len)
		return r;
	if (node_is_named(node) && !(place->node && node_file(place->node) == node_file(node)))
		return 0;
	if (place->node && node_file(place->node) == node_file(node))
		w->places->node = node = place->node;
	return files_bind(record->files, place->dir, place->name, place->len, node, w->ev->time_ns);
}

static int resolve_created(struct record *record, struct work *w, struct place *place)
{
	struct places *places = w->places;
	struct node *node;
	int r = find_shown(record, w, &node);

	places->other = node;
	if (r < 0)
		return r;
	if (node && w->ok && node_name(node, &places->node, &w->name, &w->name_len))
		return 0;
	r = walk_to(record, w, false,
		w->op->flags & (O_EXCL | O_NOFOLLOW) ? WALK_LINK : WALK_FOLLOW, place);
	put_name(w, place);
	return r < 0 || node || !w->ok || !place->dir ? r : make_node(record, w);
}

static int resolve_unnamed(struct record *record, struct work *w, struct place *place)
{
	int r = walk_to(record, w, false, WALK_FOLLOW, place);

	w->places->node = place->node;
	w->places->other = known_node(record, w->op->other);
	return r;
}

/* ---- files that are looked at or changed ---- */

/* Of an overlay of several file systems, stat(2) shows devices that the kernel does not use: what is not a directory seems
 * to be on another device than its directory. */
static bool is_shown_elsewhere(const struct node *node, const struct place *place)
{
	const struct file *file = node_file(node), *dir = place->dir ? node_file(place->dir) : NULL;

	return dir && !place->partial && place->len && !dir->unidentified && !S_ISDIR(file->mode) &&
	       file->key.dev != dir->key.dev && !node_is_named(node);
}

static int name_result(struct record *record, struct work *w, struct place *place)
{
	struct node *node = w->places->other, *known = place->node;
	int r;

	w->places->other = NULL;
	if (is_shown_elsewhere(node, place)) {
		r = walk_fill(record->walkers[0], place, node_file(node)->mode & S_IFMT, w->ev->time_ns);
		w->places->node = place->node;
		return r;
	}
	if (place->dir && !place->partial && place->len && !files_is_late(node, w->ev->time_ns))
		node = files_adopt(record->files, place->dir, place->name, place->len, node);
	w->places->node = node;
	if (known && node_file(known) == node_file(node))
		w->places->node = node = known;
	else if (node_is_named(node) && !(w->op->flags & EVENT_NOFOLLOW))
		return 0;
	if (!place->dir || place->partial || !place->len || files_is_late(node, w->ev->time_ns))
		return 0;
	return files_bind(record->files, place->dir, place->name, place->len, node, w->ev->time_ns);
}

static int resolve_file(struct record *record, struct work *w, struct place *place)
{
	enum walk_end end =
		w->op->flags & EVENT_NOFOLLOW || w->ev->op == OP_READLINK ? WALK_LINK : WALK_FOLLOW;
	int r = w->ev->op == OP_GETATTR && w->ok ? find_shown(record, w, &w->places->other) : 0;

	if (r == 0)
		r = walk_to(record, w, false, end, place);
	if (r == 0 && w->places->other)
		return name_result(record, w, place);
	w->places->node = place->node;
	if (r == 0 && w->ev->op == OP_GETATTR)
		take_type(record, w, place);
	if (r == 0 && w->ok && w->ev->op == OP_READLINK && place->node) {
		files_set_type(record->files, node_file(place->node), S_IFLNK);
		if (w->name2)
			r = file_set_target(node_file(place->node), w->name2, w->name2_len);
	}
	return r;
}

typedef int resolve(struct record *record, struct work *w, struct place *place);

static resolve *const resolvers[OP_MAX] = {
	[OP_MKDIR] = resolve_made,
	[OP_MKNOD] = resolve_made,
	[OP_SYMLINK] = resolve_made,
	[OP_UNLINK] = resolve_removed,
	[OP_RMDIR] = resolve_removed,
	[OP_RENAME] = resolve_renamed,
	[OP_LINK] = resolve_linked,
	[OP_OPEN] = resolve_opened,
	[OP_OPENDIR] = resolve_opened,
	[OP_CREATE] = resolve_created,
	[OP_TMPFILE] = resolve_unnamed,
	[OP_GETATTR] = resolve_file,
	[OP_CHMOD] = resolve_file,
	[OP_CHOWN] = resolve_file,
	[OP_TRUNCATE] = resolve_file,
	[OP_UTIMENS] = resolve_file,
	[OP_READLINK] = resolve_file,
	[OP_GETXATTR] = resolve_file,
	[OP_SETXATTR] = resolve_file,
	[OP_LISTXATTR] = resolve_file,
	[OP_REMOVEXATTR] = resolve_file,
	[OP_STATFS] = resolve_file,
	[OP_ACCESS] = resolve_file,
};

/* ---- names that are missing ---- */

/* A name that was bound before the call began has been removed unseen.  One that was made meanwhile stays.  If a call that
 * makes names fails so, its directory is missing. */
static void forget_name(struct record *record, const struct work *w, struct place *place)
{
	if (place->guessed || resolvers[w->ev->op] == resolve_made ||
		files_bound_since(record->files, place->dir, place->name, place->len,
			w->ev->time_ns) ||
		files_is_late(place->node, w->ev->time_ns))
		return;
	files_unbind(record->files, place->dir, place->name, place->len, false, w->ev->time_ns);
}

static int add_missing(struct record *record, struct work *w, struct place *place)
{
	struct path path;
	int r;

	if (!place->dir || !place->len)
		return 0;
	if (place->node)
		forget_name(record, w, place);
	if (place->node && w->places->node == place->node)
		w->places->node = NULL;
	r = files_path(record->files, place->dir, place->name, place->len, &path);
	if (r < 0 || !path.recorded || !path.id)
		return r;
	return missing_names_add(record->missing_names, w->process ? w->process->id : 0, path.id,
		w->ev->time_ns);
}

/* Of two names, that which is not known to be there. */
static struct place *missing_place(struct work *w, struct place *place)
{
	bool two = w->ev->op == OP_RENAME || w->ev->op == OP_LINK;

	return two && place->node ? NULL : place;
}

/* ---- the name of a component ---- */

/* The last name of a file that was open before it was recorded, if no other one is known. */
static int learn_removed(struct record *record, const struct work *w, struct node *dir, struct node *node)
{
	int r;

	if (node_is_named(node) || node_file(node)->path)
		return 0;
	r = files_bind_unnamed(record->files, dir, w->name, w->name_len, node, w->ev->time_ns);
	node_file(node)->deleted = true;
	files_dirty(record->files, node_file(node));
	return r;
}

int record_learn(struct record *record, const struct work *w)
{
	struct node *dir = known_node(record, w->op->node), *node = record_other_of(record, w),
		    *there;
	bool moves;
	int r;

	if (!node || !w->ok)
		return 0;
	if (w->op->node == 0)
		return files_bind_bare(record->files, node, w->name, w->name_len);
	if (!dir)
		return 0;
	if (w->op->flags & LOOKUP_REMOVED)
		return learn_removed(record, w, dir, node);
	if (is_replaced(node, w->ev->time_ns) &&
		files_renew(record->files, node, -1, 1, &node) < 0)
		return store_fail(record->store, -ENOMEM);
	node = files_adopt(record->files, dir, w->name, w->name_len, node);
	there = files_resolve(record->files, dir, w->name, w->name_len);
	if (there && there != node && node_file(there) == node_file(node) &&
		!S_ISDIR(node_file(node)->mode))
		node = there;
	if (files_is_late(node, w->ev->time_ns))
		return 0;
	/* A directory that was moved unseen takes along what is below it. */
	moves = there != node && node_is_named(node) && S_ISDIR(node_file(node)->mode);
	r = files_bind(record->files, dir, w->name, w->name_len, node, w->ev->time_ns);
	return r < 0 || !moves ? r : files_moved(record->files, w->ev->time_ns);
}

/* ---- all ---- */

/* The handle of these is new, or that of the file to link. */
static bool is_of_new_handle(int op)
{
	return op == OP_OPEN || op == OP_OPENDIR || op == OP_CREATE || op == OP_TMPFILE ||
	       op == OP_LINK;
}

int record_resolve(struct record *record, struct work *w, struct places *places)
{
	resolve *resolver = resolvers[w->ev->op];
	struct place *place = &places->asked, *missing;
	int r;

	if (!resolver || (w->op->handle && !is_of_new_handle(w->ev->op)))
		return 0;
	w->places = places;
	r = resolver(record, w, place);
	if (r < 0)
		return store_fail(record->store, r);
	missing = w->op->result == -ENOENT ? missing_place(w, place) : NULL;
	return missing ? add_missing(record, w, missing) : 0;
}
