/* SPDX-License-Identifier: MIT */
#include "preload/nodes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uthash.h>

#include "db/event.h"
#include "db/ring.h"
#include "preload/wire.h"

struct node {
	struct {
		uint64_t dev, ino;
	} key;
	int64_t birth_ns; /* 0: not known */
	uint32_t type;
	uint64_t id;
	UT_hash_handle hh;
};

struct nodes {
	struct ring *ring;
	struct node *all;
	uint64_t made;
	uint64_t pipes; /* the device of all pipes; 0: not known */
};

/* A file that is looked at later by its path (walk_probe of db/walk.h) has no time of birth, so the key of all is the inode number; the time
 * tells the owners of one number apart, as the kernel's generation of a number does. */
static uint32_t generation_of(const struct wire_seen *seen)
{
	uint64_t birth = (uint64_t)seen->birth_ns;

	return birth ? (uint32_t)(birth ^ birth >> 32) | 1 : 0;
}

static void push_node(struct nodes *nodes, uint64_t id, const struct wire_seen *seen, int64_t time_ns)
{
	ring_push(nodes->ring, &(struct event){ .kind = EVENT_NODE, .time_ns = time_ns, .u.node = { .id = id, .dev = seen->dev,
		.ino = seen->ino, .generation = generation_of(seen), .size = seen->size, .mode = seen->mode, .nlink = seen->nlink } }, NULL, 0);
}

static struct node *find(const struct nodes *nodes, const struct wire_seen *seen)
{
	struct node *node, key = { .key = { seen->dev, seen->ino } };

	HASH_FIND(hh, nodes->all, &key.key, sizeof(key.key), node);
	return node;
}

static struct node *add(struct nodes *nodes, const struct wire_seen *seen)
{
	struct node *node = calloc(1, sizeof(*node));

	if (!node)
		return NULL;
	node->key.dev = seen->dev;
	node->key.ino = seen->ino;
	HASH_ADD(hh, nodes->all, key, sizeof(node->key), node);
	if (node->hh.tbl)
		return node;
	free(node);
	return NULL;
}

/* The directory from which paths begin; if it cannot be seen, paths have no base. */
static int add_root(struct nodes *nodes)
{
	struct stat st;
	struct wire_seen seen;
	struct node *root;

	if (stat("/", &st) < 0)
		return 0;
	seen = (struct wire_seen){ .dev = st.st_dev, .ino = st.st_ino, .size = st.st_size, .mode = st.st_mode,
		.nlink = (uint32_t)st.st_nlink };
	root = add(nodes, &seen);
	if (!root)
		return -ENOMEM;
	root->id = NODE_ROOT;
	root->type = S_IFDIR;
	push_node(nodes, NODE_ROOT, &seen, 0);
	return 0;
}

static uint64_t device_of_pipes(void)
{
	struct stat st = { 0 };
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return 0;
	fstat(ends[0], &st);
	close(ends[0]);
	close(ends[1]);
	return st.st_dev;
}

int nodes_create(struct ring *ring, struct nodes **ret_nodes)
{
	struct nodes *nodes = calloc(1, sizeof(*nodes));

	if (!nodes)
		return -ENOMEM;
	nodes->ring = ring;
	nodes->made = NODE_ROOT;
	nodes->pipes = device_of_pipes();
	if (add_root(nodes) < 0) {
		nodes_destroy(nodes);
		return -ENOMEM;
	}
	*ret_nodes = nodes;
	return 0;
}

void nodes_destroy(struct nodes *nodes)
{
	struct node *node, *next;

	if (!nodes)
		return;
	HASH_ITER(hh, nodes->all, node, next) {
		HASH_DEL(nodes->all, node);
		free(node);
	}
	free(nodes);
}

/* What /proc/PID/fd shows. */
static void push_name(struct nodes *nodes, uint64_t id, const struct wire_seen *seen, int64_t time_ns)
{
	char text[40];
	int len = snprintf(text, sizeof(text), "%s:[%llu]", S_ISSOCK(seen->mode) ? "socket" : "pipe", (unsigned long long)seen->ino);

	ring_push(nodes->ring, &(struct event){ .kind = EVENT_OP, .op = OP_LOOKUP, .aside = 1, .form = FORM_CALL, .time_ns = time_ns,
		.u.op.other = id }, text, (size_t)len);
}

/* Of a file that stat(2) has shown the birth is not known; the newest one with that number is meant then. */
static bool is_same(const struct node *node, const struct wire_seen *seen)
{
	return node->type == (seen->mode & S_IFMT) && (!node->birth_ns || !seen->birth_ns || node->birth_ns == seen->birth_ns);
}

uint64_t nodes_find(struct nodes *nodes, const struct wire_seen *seen, int64_t time_ns)
{
	struct node *node = find(nodes, seen);

	if (node && is_same(node, seen)) {
		node->birth_ns = node->birth_ns ? node->birth_ns : seen->birth_ns;
		return node->id;
	}
	if (!node)
		node = add(nodes, seen);
	if (!node)
		return 0;
	node->id = ++nodes->made;
	node->type = seen->mode & S_IFMT;
	node->birth_ns = seen->birth_ns;
	push_node(nodes, node->id, seen, time_ns);
	if (S_ISSOCK(seen->mode) || (S_ISFIFO(seen->mode) && seen->dev == nodes->pipes))
		push_name(nodes, node->id, seen, time_ns);
	return node->id;
}
