/* SPDX-License-Identifier: MIT */
#include "kernel/names.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <uthash.h>

#include "db/event.h"
#include "db/ring.h"
#include "kernel/wire.h"

/* The type is part of it, for file systems whose inodes have no generation. */
struct identity {
	uint64_t dev, ino;
	uint32_t generation, type;
};

struct node {
	struct identity identity;
	uint64_t id;
	UT_hash_handle hh;
};

/* The newest node of a device and inode number, whatever its generation. */
struct place {
	struct {
		uint64_t dev, ino;
	} key;
	uint64_t node;
	uint32_t type;
	UT_hash_handle hh;
};

struct name {
	uint64_t id;
	uint64_t parent;
	uint64_t node;
	uint32_t mode;
	uint8_t flags;
	UT_hash_handle hh;
	uint32_t len;
	char text[];
};

struct names {
	struct ring *ring;
	struct mounts *mounts;
	uint64_t nodes_made;
	bool has_root;
	struct node *nodes;
	struct place *places;
	struct name *names;
};

int names_create(struct ring *ring, mounts_each *each_mount, struct names **ret_names)
{
	struct names *names = calloc(1, sizeof(*names));

	if (!names)
		return -ENOMEM;
	names->ring = ring;
	names->nodes_made = NODE_ROOT;
	if (mounts_create(ring, each_mount, &names->mounts) < 0) {
		free(names);
		return -ENOMEM;
	}
	*ret_names = names;
	return 0;
}

#define FREE_ALL(table, type)                            \
	do {                                             \
		struct type *one_, *next_;               \
		HASH_ITER(hh, table, one_, next_) {      \
			HASH_DEL(table, one_);           \
			free(one_);                      \
		}                                        \
	} while (0)

void names_destroy(struct names *names)
{
	if (!names)
		return;
	mounts_destroy(names->mounts);
	FREE_ALL(names->nodes, node);
	FREE_ALL(names->places, place);
	FREE_ALL(names->names, name);
	free(names);
}

/* ---- nodes ---- */

static struct place *place_of(const struct names *names, uint64_t dev, uint64_t ino)
{
	struct place *place, key = { .key = { dev, ino } };

	HASH_FIND(hh, names->places, &key.key, sizeof(key.key), place);
	return place;
}

static int set_place(struct names *names, const struct identity *identity, uint64_t node)
{
	struct place *place = place_of(names, identity->dev, identity->ino);

	if (!place) {
		place = calloc(1, sizeof(*place));
		if (!place)
			return -ENOMEM;
		place->key.dev = identity->dev;
		place->key.ino = identity->ino;
		HASH_ADD(hh, names->places, key, sizeof(place->key), place);
		if (!place->hh.tbl) {
			free(place);
			return -ENOMEM;
		}
	}
	place->node = node;
	place->type = identity->type;
	return 0;
}

static struct node *find_node(const struct names *names, const struct identity *identity)
{
	struct node *node;

	HASH_FIND(hh, names->nodes, identity, sizeof(*identity), node);
	return node;
}

static void forget_node(struct names *names, const struct identity *identity)
{
	struct node *node = find_node(names, identity);

	if (!node)
		return;
	HASH_DEL(names->nodes, node);
	free(node);
}

static struct node *add_node(struct names *names, const struct identity *identity, uint64_t id)
{
	struct node *node = calloc(1, sizeof(*node));

	if (!node)
		return NULL;
	node->identity = *identity;
	node->id = id;
	HASH_ADD(hh, names->nodes, identity, sizeof(node->identity), node);
	if (node->hh.tbl && set_place(names, identity, id) == 0)
		return node;
	if (node->hh.tbl)
		HASH_DEL(names->nodes, node);
	free(node);
	return NULL;
}

static void push_node(struct names *names, uint64_t id, const struct identity *identity, int64_t time_ns,
	const struct names_seen *seen, uint64_t mount)
{
	struct event ev = { .kind = EVENT_NODE, .time_ns = time_ns, .u.node = { .id = id, .dev = identity->dev,
		.ino = identity->ino, .generation = identity->generation, .size = seen->size, .mode = seen->mode,
		.nlink = seen->nlink, .mount = mount } };

	ring_push(names->ring, &ev, NULL, 0);
}

static uint64_t new_id(struct names *names, bool is_root)
{
	if (!is_root || names->has_root)
		return ++names->nodes_made;
	names->has_root = true;
	return NODE_ROOT;
}

/* Objects of the kernel with a descriptor, such as that of epoll(7), share one inode. Their text tells them apart. */
static uint32_t generation_of(const struct wire_name *record, size_t text_len)
{
	uint32_t hash = 0;

	if (record->magic != ANON_MAGIC)
		return record->generation;
	HASH_FUNCTION(record->text, text_len, hash);
	return hash;
}

static uint64_t node_of(struct names *names, const struct wire_name *record, size_t text_len)
{
	struct identity identity = { makedev(record->dev >> 20, record->dev & 0xfffff), record->ino,
		generation_of(record, text_len), record->mode & S_IFMT };
	struct names_seen seen = { .size = record->size, .mode = record->mode, .nlink = record->nlink };
	const struct node *node = find_node(names, &identity);

	if (node)
		return node->id;
	node = add_node(names, &identity, new_id(names, record->head.flags & WIRE_TOP));
	if (!node)
		return 0;
	push_node(names, node->id, &identity, record->head.time_ns, &seen,
		mounts_find(names->mounts, record->mount, identity.dev, record->magic));
	return node->id;
}

uint64_t names_identify(struct names *names, const struct names_seen *seen)
{
	struct identity identity = { seen->dev, seen->ino, 0, seen->mode & S_IFMT };
	const struct place *place = place_of(names, seen->dev, seen->ino);
	const struct node *node;

	if (place && place->type == identity.type)
		return place->node;
	forget_node(names, &identity); /* of one that was here before the one of another type */
	node = add_node(names, &identity, new_id(names, false));
	if (!node)
		return 0;
	push_node(names, node->id, &identity, 0, seen, mounts_find(names->mounts, 0, identity.dev, 0));
	return node->id;
}

uint64_t names_find_node(const struct names *names, uint64_t dev, uint64_t ino)
{
	const struct place *place = place_of(names, dev, ino);

	return place ? place->node : 0;
}

uint64_t names_find_file(const struct names *names, uint64_t dev, uint64_t ino, uint32_t generation)
{
	const struct identity identity = { makedev(dev >> 20, dev & 0xfffff), ino, generation, S_IFREG };
	const struct node *node = find_node(names, &identity);

	return node ? node->id : 0;
}

/* ---- names ---- */

static struct name *find_name(const struct names *names, uint64_t id)
{
	struct name *name;

	HASH_FIND(hh, names->names, &id, sizeof(id), name);
	return name;
}

uint64_t names_node(const struct names *names, uint64_t id)
{
	const struct name *name = find_name(names, id);

	return name ? name->node : 0;
}

uint32_t names_mode(const struct names *names, uint64_t id)
{
	const struct name *name = find_name(names, id);

	return name ? name->mode : 0;
}

/* What /proc/PID/fd shows of a thing without a path. */
static void describe(const struct wire_name *record, const char *text, int len, char *ret_text, size_t size)
{
	unsigned long long ino = record->ino;

	switch (record->magic) {
	case PIPE_MAGIC:
		snprintf(ret_text, size, "pipe:[%llu]", ino);
		break;
	case SOCKET_MAGIC:
		snprintf(ret_text, size, "socket:[%llu]", ino);
		break;
	case ANON_MAGIC:
		snprintf(ret_text, size, "anon_inode:%.*s", len, text);
		break;
	case PIDFD_MAGIC:
		snprintf(ret_text, size, "anon_inode:[pidfd]");
		break;
	case NAMESPACE_MAGIC:
		snprintf(ret_text, size, "namespace:[%llu]", ino);
		break;
	default:
		snprintf(ret_text, size, "%.*s", len, text);
	}
}

static int text_of(const struct wire_name *record, size_t text_len, char *ret_text, size_t size)
{
	if (record->head.flags & WIRE_TOP)
		return snprintf(ret_text, size, "/");
	if (record->head.flags & WIRE_APART) {
		describe(record, record->text, text_len, ret_text, size);
		return strlen(ret_text);
	}
	memcpy(ret_text, record->text, text_len);
	return text_len;
}

static void push_lookup(struct names *names, const struct name *name, int64_t time_ns)
{
	struct event ev = { .kind = EVENT_OP, .op = OP_LOOKUP, .aside = 1, .form = FORM_CALL, .time_ns = time_ns,
		.u.op = { .node = names_node(names, name->parent), .other = name->node } };

	if (name->node != NODE_ROOT && !(name->flags & WIRE_UNLINKED))
		ring_push(names->ring, &ev, name->text, name->len);
}

void names_push_removed(struct names *names, uint64_t id, int64_t time_ns)
{
	const struct name *name = find_name(names, id);
	struct event ev = { .kind = EVENT_OP, .op = OP_LOOKUP, .aside = 1, .form = FORM_CALL, .time_ns = time_ns };

	if (!name || (name->flags & (WIRE_UNLINKED | WIRE_APART)) != WIRE_UNLINKED)
		return;
	ev.u.op.node = names_node(names, name->parent);
	ev.u.op.other = name->node;
	ev.u.op.flags = LOOKUP_REMOVED;
	ring_push(names->ring, &ev, name->text, name->len);
}

static struct name *new_name(const struct wire_name *record, const char *text, size_t len)
{
	struct name *name = calloc(1, sizeof(*name) + len);

	if (!name)
		return NULL;
	name->id = record->id;
	name->parent = record->parent;
	name->mode = record->mode;
	name->flags = record->head.flags;
	name->len = len;
	memcpy(name->text, text, len);
	return name;
}

int names_add(struct names *names, const struct wire_name *record, size_t text_len)
{
	char text[sizeof(record->text) + 32];
	int len = text_of(record, text_len, text, sizeof(text));
	struct name *name;

	if (record->parent >= record->id) /* so that no name is above itself */
		return -EBADMSG;
	name = new_name(record, text, len);
	if (!name)
		return -ENOMEM;
	name->node = node_of(names, record, text_len);
	if (name->node)
		HASH_ADD(hh, names->names, id, sizeof(name->id), name);
	if (!name->hh.tbl) {
		free(name);
		return -ENOMEM;
	}
	push_lookup(names, name, record->head.time_ns);
	return 0;
}

/* Writes the component and what is above it in front of end. The new end, or NULL. */
static char *prepend(const struct names *names, const struct name *name, char *start, char *end)
{
	for (; name && !(name->flags & WIRE_TOP); name = find_name(names, name->parent)) {
		if (end - start < (ptrdiff_t)name->len + 1)
			return NULL;
		end -= name->len;
		memcpy(end, name->text, name->len);
		if (name->flags & WIRE_APART)
			return end;
		*--end = '/';
	}
	return end;
}

int names_path(const struct names *names, uint64_t id, char *ret_path, size_t size)
{
	static const char deleted[] = " (deleted)";
	const struct name *name = find_name(names, id);
	char *end = ret_path + size, *start;
	int len;

	if (!name)
		return -ENOENT;
	if (name->flags & WIRE_UNLINKED) {
		end -= sizeof(deleted) - 1;
		memcpy(end, deleted, sizeof(deleted) - 1);
	} else if (name->flags & WIRE_TOP) {
		*--end = '/';
	}
	start = prepend(names, name, ret_path, end);
	if (!start)
		return -ENAMETOOLONG;
	len = ret_path + size - start;
	memmove(ret_path, start, len);
	return len;
}
