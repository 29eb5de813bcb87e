/* SPDX-License-Identifier: MIT */
#include "db/walk.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/vector.h"
#include "db/event.h"
#include "db/files.h"

#define LINKS_MOST 40 /* as in the kernel */

/* Text that grows. */
struct buffer {
	char *text;
	size_t len, room;
};

struct walker {
	struct files *files;
	walk_probe *probe;
	void *arg;
	struct buffer rest, spare; /* of paths with links; the rest of a partial result */
	char target[PATH_MAX];
};

/* A walk on its way. */
struct state {
	struct walker *walker;
	const struct walk_path *path;
	struct node *at;  /* the directory reached */
	const char *rest; /* to go */
	size_t left;
	int links;
	bool done, guessed;
};

int walker_create(struct files *files, walk_probe *probe, void *arg, struct walker **ret_walker)
{
	struct walker *walker = calloc(1, sizeof(*walker));

	if (!walker)
		return -ENOMEM;
	walker->files = files;
	walker->probe = probe;
	walker->arg = arg;
	*ret_walker = walker;
	return 0;
}

void walker_destroy(struct walker *walker)
{
	if (!walker)
		return;
	free(walker->rest.text);
	free(walker->spare.text);
	free(walker);
}

static int append(struct buffer *buffer, const char *text, size_t len)
{
	if (vector_fit(buffer->text, buffer->room, buffer->len + len) < 0)
		return -ENOMEM;
	if (len)
		memcpy(buffer->text + buffer->len, text, len);
	buffer->len += len;
	return 0;
}

static bool holds(const struct buffer *buffer, const char *text)
{
	return buffer->text && text >= buffer->text && text < buffer->text + buffer->room;
}

/* ---- components ---- */

static void skip_slashes(const char **text, size_t *left)
{
	while (*left && **text == '/') {
		++*text;
		--*left;
	}
}

/* Takes the next component and the slashes around it off the text; its length, 0: there is none. */
static size_t take_name(const char **text, size_t *left, const char **ret_name)
{
	const char *slash;
	size_t len;

	skip_slashes(text, left);
	slash = *left ? memchr(*text, '/', *left) : NULL;
	len = slash ? (size_t)(slash - *text) : *left;
	*ret_name = *text;
	*text += len;
	*left -= len;
	return len;
}

static bool is_last(const struct state *s)
{
	const char *text = s->rest;
	size_t left = s->left;

	skip_slashes(&text, &left);
	return left == 0;
}

static bool is_dot(const char *name, size_t len)
{
	return len == 1 && name[0] == '.';
}

static bool is_up(const char *name, size_t len)
{
	return len == 2 && name[0] == '.' && name[1] == '.';
}

static struct node *parent_of(struct node *node)
{
	struct node *dir;
	const char *name;
	size_t len;

	return node_name(node, &dir, &name, &len) ? dir : node;
}

static bool is_type(const struct node *node, uint32_t type)
{
	return (node_file(node)->mode & S_IFMT) == type;
}

/* Whether the directory is /proc or below it. */
static bool is_in_proc(struct node *dir)
{
	struct node *above;
	const char *name = "";
	size_t len = 0;

	while (node_name(dir, &above, &name, &len))
		dir = above;
	return len == 4 && memcmp(name, "proc", 4) == 0;
}

/* ---- what is at a name ---- */

/* Of the clock that stamps inodes, which is behind by up to a tick. */
#define TICK_NS 10000000

/* What has changed since the call may be another file, that was made or moved there: only the type is taken, of a link not even
 * that.  A directory changes with each of its entries; mostly the kernel tells later which it is. */
static void drop_later(struct walker *walker, int64_t changed_ns, int64_t time_ns, struct event_node *node)
{
	if (changed_ns <= time_ns - TICK_NS)
		return;
	node->ino = 0;
	node->size = -1;
	node->nlink = 1;
	if (S_ISLNK(node->mode))
		node->mode = 0;
	walker->target[0] = '\0';
}

/* 0, or -errno: -ENOSYS if there is no probe. */
static int probe_now(struct walker *walker, struct node *dir, const char *name, size_t len,
	struct event_node *ret_node, int64_t *ret_changed_ns)
{
	cleanup_free char *path = NULL;

	walker->target[0] = '\0';
	if (!walker->probe || is_in_proc(dir))
		return -ENOSYS;
	path = files_text(dir, name, len);
	if (!path)
		return -ENOSYS;
	return walker->probe(walker->arg, path, ret_node, walker->target, sizeof(walker->target), ret_changed_ns);
}

/* As probe_now(), without what may be of a later file. */
static int probe_name(struct walker *walker, struct node *dir, const char *name, size_t len,
	int64_t time_ns, struct event_node *ret_node)
{
	int64_t changed_ns = 0;
	int r = probe_now(walker, dir, name, len, ret_node, &changed_ns);

	if (r == 0)
		drop_later(walker, changed_ns, time_ns, ret_node);
	/* On another device than its directory: an overlay shows some that the kernel does not use. */
	if (r == 0 && !S_ISDIR(ret_node->mode) && ret_node->dev != node_file(dir)->key.dev)
		ret_node->ino = 0;
	return r;
}

static int bind_made(struct walker *walker, struct node *dir, const char *name, size_t len,
	const struct event_node *event, int64_t time_ns, struct node **ret_node)
{
	int r = files_make_node(walker->files, event, ret_node);

	if (r == 0 && S_ISLNK(event->mode) && walker->target[0])
		r = file_set_target(node_file(*ret_node), walker->target, strlen(walker->target));
	return r < 0 ? r : files_bind(walker->files, dir, name, len, *ret_node, time_ns);
}

/* A file of which the inode is not known. */
static int bind_unknown(struct walker *walker, struct node *dir, const char *name, size_t len,
	uint32_t type, int64_t time_ns, struct node **ret_node)
{
	const struct event_node unknown = { .mode = type, .nlink = 1, .size = -1 };

	return bind_made(walker, dir, name, len, &unknown, time_ns, ret_node);
}

/* A directory or link on the way that no event has named; NULL: it is not there.  *ret_missing: that is known. */
static int discover(struct state *s, const char *name, size_t len, struct node **ret_node,
	bool *ret_missing)
{
	struct event_node found = { 0 };
	int r = probe_name(s->walker, s->at, name, len, s->path->time_ns, &found);

	*ret_missing = r == -ENOENT;
	*ret_node = NULL;
	if (r == 0 && (S_ISDIR(found.mode) || S_ISLNK(found.mode)))
		return bind_made(s->walker, s->at, name, len, &found, s->path->time_ns, ret_node);
	if (s->path->exists)
		return bind_unknown(s->walker, s->at, name, len, S_IFDIR, s->path->time_ns,
			ret_node);
	return 0;
}

/* The target of a symbolic link in s->at, or NULL. */
static const char *target_of(struct state *s, const char *name, size_t len, struct node *node)
{
	struct event_node found = { 0 };

	if (is_in_proc(s->at))
		return NULL;
	if (!node_file(node)->target && probe_name(s->walker, s->at, name, len, s->path->time_ns, &found) == 0 &&
		S_ISLNK(found.mode))
		file_set_target(node_file(node), s->walker->target, strlen(s->walker->target));
	return node_file(node)->target;
}

/* ---- steps ---- */

/* The rest begins with the target of a link.  -ELOOP: too many links. */
static int follow(struct state *s, const char *target)
{
	struct buffer *to = holds(&s->walker->rest, s->rest) ? &s->walker->spare : &s->walker->rest;
	int r;

	if (++s->links > LINKS_MOST)
		return -ELOOP;
	to->len = 0;
	r = append(to, target, strlen(target));
	if (r == 0)
		r = append(to, s->rest, s->left);
	if (r < 0)
		return r;
	if (target[0] == '/')
		s->at = files_node(s->walker->files, NODE_ROOT);
	s->rest = to->text;
	s->left = to->len;
	return 0;
}

/* Copies components without "." and empty ones; up: ".." removes the one before it. */
static int clean(struct buffer *to, const char *text, size_t left, bool up)
{
	const char *name;
	size_t len;
	int r = 0;

	while (r == 0 && (len = take_name(&text, &left, &name))) {
		if (is_dot(name, len))
			continue;
		if (up && is_up(name, len)) {
			while (to->len && to->text[--to->len] != '/')
				;
			continue;
		}
		if (to->len)
			r = append(to, "/", 1);
		if (r == 0)
			r = append(to, name, len);
	}
	return r;
}

/* The walk ends at the component 'name', behind which is s->rest. */
static int stop(struct state *s, const char *name, bool missing, struct place *ret)
{
	struct buffer *to = holds(&s->walker->rest, name) ? &s->walker->spare : &s->walker->rest;
	int r;

	to->len = 0;
	r = clean(to, name, s->rest + s->left - name, !missing);
	if (r < 0)
		return r;
	*ret = (struct place){ .dir = s->at, .name = to->text, .len = to->len, .partial = true };
	s->done = true;
	return 0;
}

/* Behind an unknown name: goes on where ".." has led back to s->at.  False: nowhere. */
static bool come_back(struct state *s)
{
	const char *text = s->rest, *name;
	size_t left = s->left, len;

	for (int depth = 1; (len = take_name(&text, &left, &name));) {
		if (is_dot(name, len))
			continue;
		depth += is_up(name, len) ? -1 : 1;
		if (depth > 0)
			continue;
		s->rest = text;
		s->left = left;
		s->guessed = true;
		return !is_last(s);
	}
	return false;
}

static int enter(struct state *s, const char *name, struct node *node, struct place *ret)
{
	if (!(node_file(node)->mode & S_IFMT) && s->path->exists)
		files_set_type(s->walker->files, node_file(node), S_IFDIR);
	if (!is_type(node, S_IFDIR))
		return stop(s, name, true, ret);
	s->at = node;
	return 0;
}

/* A component that is not the last one. */
static int step(struct state *s, const char *name, size_t len, struct place *ret)
{
	struct node *node = files_resolve(s->walker->files, s->at, name, len);
	const char *target;
	bool missing;
	int r = node ? 0 : discover(s, name, len, &node, &missing);

	if (r < 0)
		return r;
	if (!node)
		return !missing && come_back(s) ? 0 : stop(s, name, missing, ret);
	if (!is_type(node, S_IFLNK))
		return enter(s, name, node, ret);
	target = target_of(s, name, len, node);
	r = target ? follow(s, target) : -ELOOP;
	return r == -ELOOP ? stop(s, name, true, ret) : r;
}

/* A name at the end that leads to nothing known, of a call that succeeded. */
static int find_end(struct state *s, const char *name, size_t len, bool follows,
	struct node **ret_node)
{
	const struct walk_path *path = s->path;
	struct event_node found = { 0 };
	int r = follows || !path->is_known ? probe_name(s->walker, s->at, name, len, s->path->time_ns, &found)
					   : -ENOSYS;

	if (r == 0 && (!path->is_known || (follows && S_ISLNK(found.mode))))
		return bind_made(s->walker, s->at, name, len, &found, path->time_ns, ret_node);
	if (path->is_known)
		return 0;
	return bind_unknown(s->walker, s->at, name, len, 0, path->time_ns, ret_node);
}

/* A file with several names is now known by this one. */
static int reach(struct state *s, const char *name, size_t len, struct node *node)
{
	struct node *dir;
	const char *last;
	size_t last_len;

	if (node_name(node, &dir, &last, &last_len) && dir == s->at && last_len == len &&
		memcmp(last, name, len) == 0)
		return 0;
	return files_bind(s->walker->files, s->at, name, len, node, s->path->time_ns);
}

static int finish(struct state *s, const char *name, size_t len, struct place *ret)
{
	struct node *node = files_resolve(s->walker->files, s->at, name, len);
	bool follows = s->path->end == WALK_FOLLOW || (s->path->end == WALK_LINK && s->left);
	const char *target;
	int r = 0;

	if (!node && s->path->exists && s->path->end != WALK_PARENT)
		r = find_end(s, name, len, follows, &node);
	if (r < 0)
		return r;
	*ret = (struct place){ .dir = s->at, .name = name, .len = len, .node = node };
	s->done = true;
	if (!node || !follows || !is_type(node, S_IFLNK))
		return node && s->path->end != WALK_PARENT ? reach(s, name, len, node) : 0;
	target = target_of(s, name, len, node);
	r = target ? follow(s, target) : -ELOOP;
	s->done = r < 0;
	if (r < 0)
		ret->node = NULL;
	return r == -ELOOP ? 0 : r;
}

static int take_step(struct state *s, const char *name, size_t len, struct place *ret)
{
	if (is_dot(name, len))
		return 0;
	if (is_up(name, len)) {
		s->at = parent_of(s->at);
		return 0;
	}
	return is_last(s) ? finish(s, name, len, ret) : step(s, name, len, ret);
}

/* The path ends in a directory itself: "/", ".", "..". */
static void place_at(struct node *node, struct place *ret)
{
	*ret = (struct place){ .dir = node, .name = "", .node = node };
	if (!node_name(node, &ret->dir, &ret->name, &ret->len))
		ret->dir = node;
}

int walk(struct walker *walker, const struct walk_path *path, struct place *ret)
{
	struct state s = { .walker = walker, .path = path, .rest = path->path, .left = path->len };
	const char *name;
	size_t len;
	int r = 0;

	*ret = (struct place){ .name = "" };
	s.at = path->len && path->path[0] == '/' ? files_node(walker->files, NODE_ROOT)
						 : path->base;
	if (!s.at || (path->len == 0 && !path->exists))
		return 0;
	while (r == 0 && !s.done) {
		len = take_name(&s.rest, &s.left, &name);
		if (len == 0)
			break;
		r = take_step(&s, name, len, ret);
	}
	if (r == 0 && !s.done)
		place_at(s.at, ret);
	ret->guessed = s.guessed;
	return r;
}

int walk_fill(struct walker *walker, struct place *place, uint32_t type, int64_t time_ns)
{
	if (place->node || !place->dir || place->partial || place->len == 0)
		return 0;
	return bind_unknown(walker, place->dir, place->name, place->len, type, time_ns,
		&place->node);
}

/* The type of what came to that place until end_ns; 0: not known.  A rename changes the inode: what has changed later may be
 * another file that was made or moved there. */
static uint32_t type_at(struct walker *walker, const struct place *place, int64_t end_ns)
{
	struct event_node found = { 0 };
	int64_t changed_ns = 0;

	if (!place->dir || place->partial || place->len == 0)
		return 0;
	if (probe_now(walker, place->dir, place->name, place->len, &found, &changed_ns) < 0)
		return 0;
	return changed_ns <= end_ns + TICK_NS ? found.mode & S_IFMT : 0;
}

int walk_fill_moved(struct walker *walker, struct place *place, const struct place *to, int64_t start_ns, int64_t end_ns)
{
	struct file *file;
	int r = walk_fill(walker, place, 0, start_ns);

	if (r < 0 || !place->node)
		return r;
	file = node_file(place->node);
	if (file->mode & S_IFMT)
		return 0;
	files_set_type(walker->files, file, type_at(walker, to, end_ns));
	return is_type(place->node, S_IFLNK) && walker->target[0] ? file_set_target(file, walker->target, strlen(walker->target))
								  : 0;
}
