/* SPDX-License-Identifier: MIT */
/* Calls -> operations. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/saturate.h"
#include "import/path.h"
#include "import/world_internal.h"

/* One call while it is taken. */
struct taking {
	struct world *world;
	struct thread *thread;
	const struct world_call *call;
	struct event ev;
	int64_t end_ns;
	bool ok;
};

struct world_call world_no_call(void)
{
	const struct world_fd none = { .number = WORLD_NO_FD };

	return (struct world_call){ .op = OP_MAX, .fd = none, .other = none, .dir = none, .dir2 = none, .offset = -1, .from = -1 };
}

/* A thread makes one call after the other, whatever the rounding of times says. */
static struct taking begin(struct world *world, struct thread *thread, const struct world_call *call)
{
	int64_t start_ns = call->start_ns > thread->free_ns ? call->start_ns : thread->free_ns;
	int64_t latency_ns = call->latency_ns > 0 ? call->latency_ns : 0, end_ns = saturate_add(call->start_ns, latency_ns);
	struct taking t = { .world = world, .thread = thread, .call = call, .ok = call->result >= 0,
		.end_ns = end_ns > start_ns ? end_ns : start_ns };

	t.ev = (struct event){ .kind = EVENT_OP, .op = call->op, .form = FORM_CALL, .tid = call->tid, .time_ns = start_ns };
	t.ev.u.op = (struct event_op){ .latency_ns = t.end_ns - start_ns, .result = call->result, .flags = call->flags, .mode = call->mode,
		.length = call->length };
	thread->free_ns = t.end_ns;
	return t;
}

static void push(const struct taking *t, const char *text, size_t len)
{
	if (t->ev.op < OP_MAX)
		world_push(t->world, &t->ev, text, len);
}

static struct open_file *file_of(const struct taking *t, const struct world_fd *fd)
{
	return world_file(t->world, t->thread, fd, t->ev.time_ns);
}

static void use(struct taking *t, const struct open_file *file)
{
	t->ev.u.op.handle = file ? file->handle : 0;
	t->ev.u.op.node = file ? file->node : 0;
}

static int set(const struct taking *t, int64_t fd, struct open_file *file, bool expires)
{
	return fd >= 0 && fd < FDS_MOST ? world_set(t->world, t->thread, (int32_t)fd, file, expires, t->end_ns) : 0;
}

static bool is_stream(const struct open_file *file)
{
	return S_ISFIFO(file->type) || S_ISSOCK(file->type) || S_ISCHR(file->type);
}

/* ---- paths ---- */

/* What the source shows of the directory of the process corrects what is known. */
static const char *cwd_of(const struct taking *t, const struct world_fd *dir)
{
	struct directory *cwd = t->thread->process->cwd;

	if (dir->path && dir->path[0] == '/' && (!cwd->path || strcmp(cwd->path, dir->path) != 0)) {
		char *said = strdup(dir->path);

		free(cwd->path);
		cwd->path = said;
	}
	return cwd->path;
}

static const char *base_of(const struct taking *t, const struct world_fd *dir)
{
	const struct open_file *file;

	if (dir->number == AT_FDCWD || dir->number == WORLD_NO_FD)
		return cwd_of(t, dir);
	if (dir->path && dir->path[0] == '/')
		return dir->path;
	file = world_table_file(t->thread->process->table, dir->number);
	return file && file->path && file->path[0] == '/' ? file->path : NULL;
}

/* Allocates the absolute path, or the path as it is if its directory is not known. */
static char *place(const struct taking *t, const struct world_fd *dir, const char *path)
{
	const char *base = path[0] == '/' ? "" : base_of(t, dir);

	if (dir->number == AT_FDCWD)
		cwd_of(t, dir);
	if (base)
		return path_join(base, path);
	t->world->unplaced++;
	return strdup(path);
}

char *world_place(struct world *world, struct thread *thread, const struct world_fd *dir, const char *path)
{
	const struct taking t = { .world = world, .thread = thread };

	return place(&t, dir, path);
}

/* What the call shows of names.  0 or -ENOMEM. */
static int learn_one(const struct taking *t, const char *path)
{
	struct presence *presence = t->world->presence;

	if (t->call->result == -ENOENT && t->ev.op != OP_MKDIR && t->ev.op != OP_MKNOD && t->ev.op != OP_SYMLINK)
		return presence_missing(presence, path);
	if (!t->ok)
		return 0;
	switch (t->ev.op) {
	case OP_MKDIR:
		return presence_fresh(presence, path);
	case OP_MKNOD:
		return presence_there(presence, path, t->call->mode & S_IFMT ? t->call->mode & S_IFMT : S_IFREG);
	case OP_SYMLINK:
		return presence_there(presence, path, S_IFLNK);
	case OP_RMDIR:
	case OP_UNLINK:
		return presence_missing(presence, path);
	default:
		return presence_there(presence, path, t->call->type);
	}
}

static int learn_two(const struct taking *t, const char *path, const char *path2)
{
	struct presence *presence = t->world->presence;
	uint32_t type = 0;
	int r = 0;

	if (!t->ok)
		return 0;
	if (t->ev.op == OP_LINK || t->ev.u.op.flags & RENAME_EXCHANGE) {
		presence_look(presence, path, &type);
		r = presence_there(presence, path2, t->ev.op == OP_LINK ? type : 0);
		return r < 0 ? r : presence_there(presence, path, 0);
	}
	return presence_moved(presence, path, path2);
}

/* Both paths with a NUL between them. */
static int push_two(struct taking *t, const char *path, const char *path2)
{
	size_t len = strlen(path), len2 = strlen(path2);
	cleanup_free char *text = malloc(len + len2 + 2);

	if (!text)
		return -ENOMEM;
	memcpy(text, path, len + 1);
	memcpy(text + len + 1, path2, len2 + 1);
	push(t, text, len + 1 + len2);
	return 0;
}

static bool has_two(int op)
{
	return op == OP_RENAME || op == OP_LINK || op == OP_SYMLINK;
}

static int take_two(struct taking *t, const char *path)
{
	bool is_target = t->ev.op == OP_SYMLINK;
	cleanup_free char *path2 = is_target ? strdup(t->call->path2) : place(t, &t->call->dir2, t->call->path2);
	int r = path2 ? push_two(t, path, path2) : -ENOMEM;

	if (r < 0)
		return r;
	return is_target ? learn_one(t, path) : learn_two(t, path, path2);
}

static int take_path(struct taking *t)
{
	cleanup_free char *path = place(t, &t->call->dir, t->call->path);

	if (!path)
		return -ENOMEM;
	if (has_two(t->ev.op))
		return t->call->path2 ? take_two(t, path) : 0;
	if (t->ev.op == OP_GETATTR && t->ok)
		t->ev.u.op.mode = t->call->type;
	if (t->ev.op == OP_READLINK && t->ok && t->call->path2) {
		if (push_two(t, path, t->call->path2) < 0)
			return -ENOMEM;
	} else {
		push(t, path, strlen(path));
	}
	return learn_one(t, path);
}

/* ---- opens ---- */

static uint32_t type_of_known(const char *path)
{
	static const char *const characters[] = { "/dev/null", "/dev/zero", "/dev/full", "/dev/tty", "/dev/random", "/dev/urandom", "/dev/ptmx" };

	for (size_t i = 0; i < sizeof(characters) / sizeof(characters[0]); i++)
		if (strcmp(path, characters[i]) == 0)
			return S_IFCHR;
	return strncmp(path, "/dev/pts/", 9) == 0 ? S_IFCHR : 0;
}

/* What is at the path; else what opens mostly open. */
static uint32_t type_of_opened(const struct taking *t, const char *path, enum presence_state *ret_state)
{
	uint32_t known;

	*ret_state = presence_look(t->world->presence, path, &known);
	if (t->call->fd.type)
		return t->call->fd.type;
	if (t->call->flags & O_DIRECTORY)
		return S_IFDIR;
	if (known && known != S_IFLNK)
		return known;
	known = type_of_known(path);
	return known || t->call->flags & O_PATH ? known : S_IFREG;
}

static bool creates(uint32_t flags, enum presence_state state)
{
	return flags & O_CREAT && (flags & O_EXCL || state == PRESENCE_MISSING);
}

/* The kernel shows such a file as "#INODE". */
static int push_unnamed(struct taking *t, struct open_file *file, const char *path)
{
	const char *name = t->call->fd.path ? strstr(t->call->fd.path, "/#") : NULL;

	t->ev.op = OP_TMPFILE;
	t->ev.u.op.other = file->node = ++t->world->nodes;
	world_push(t->world, &(struct event){ .kind = EVENT_NODE, .time_ns = t->ev.time_ns, .u.node = { .id = file->node, .mode = S_IFREG,
		.ino = name ? strtoull(name + 2, NULL, 10) : 0 } }, NULL, 0);
	push(t, path, strlen(path));
	return 0;
}

static int push_opened(struct taking *t, struct open_file *file, const char *path, enum presence_state state)
{
	bool is_made = creates(t->call->flags, state);

	t->ev.u.op.handle = file->handle;
	if ((t->call->flags & O_TMPFILE) == O_TMPFILE)
		return push_unnamed(t, file, path);
	t->ev.op = is_made ? OP_CREATE : S_ISDIR(file->type) ? OP_OPENDIR : OP_OPEN;
	t->ev.u.op.mode = is_made ? t->call->mode & 07777 : file->type;
	push(t, path, strlen(path));
	return presence_there(t->world->presence, path, file->type);
}

static int take_opened(struct taking *t, const char *placed)
{
	const char *real = t->call->fd.path, *path = real && real[0] == '/' ? real : placed;
	bool is_unnamed = (t->call->flags & O_TMPFILE) == O_TMPFILE;
	enum presence_state state;
	struct open_file *file;
	uint32_t type;
	int r;

	if (is_unnamed)
		path = placed;
	type = is_unnamed ? S_IFREG : type_of_opened(t, path, &state);
	file = world_new_file(t->world, path, t->call->flags, type);
	if (!file)
		return -ENOMEM;
	r = push_opened(t, file, path, is_unnamed ? PRESENCE_UNKNOWN : state);
	if (r == 0)
		r = set(t, t->call->result, file, t->call->flags & O_CLOEXEC);
	world_release(t->world, file, t->thread->tid, t->end_ns); /* ours */
	return r;
}

static int take_open(struct taking *t)
{
	cleanup_free char *path = t->call->path ? place(t, &t->call->dir, t->call->path) : NULL;

	t->ev.fidelity = FIDELITY_CALL;
	t->ev.u.op.length = 0;
	if (!path)
		return t->call->path ? -ENOMEM : 0;
	if (t->ok)
		return take_opened(t, path);
	if (t->call->flags & O_DIRECTORY)
		t->ev.op = OP_OPENDIR;
	push(t, path, strlen(path));
	return t->call->result == -ENOENT && !(t->call->flags & O_CREAT) ? presence_missing(t->world->presence, path) : 0;
}

/* An exec that failed. */
static int take_program(struct taking *t)
{
	cleanup_free char *path = t->call->path ? place(t, &t->call->dir, t->call->path) : NULL;

	t->ev.fidelity = FIDELITY_CALL;
	t->ev.u.op.flags = FMODE_EXEC;
	if (path)
		push(t, path, strlen(path));
	return path || !t->call->path ? 0 : -ENOMEM;
}

/* ---- what has no path ---- */

/* A new descriptor of it; *ret_file: the caller gives its reference back. */
static int open_apart(struct taking *t, const struct world_fd *fd, uint32_t flags, uint32_t type, struct open_file **ret_file)
{
	struct open_file *file = world_new_file(t->world, NULL, flags, type);
	const char *text = fd->path && fd->path[0] != '/' ? fd->path : NULL;
	int r = file ? world_name_apart(t->world, file, text, type, t->ev.time_ns) : -ENOMEM;

	if (r == 0) {
		world_open_aside(t->world, file, t->thread->tid, t->ev.time_ns);
		r = set(t, fd->number, file, t->call->expires);
	}
	*ret_file = file;
	return r;
}

static int take_new(struct taking *t)
{
	bool is_socket = t->ev.op == OP_SOCKET || t->ev.op == OP_ACCEPT;
	struct world_fd fd = t->call->other;
	struct open_file *file = NULL;
	int r = 0;

	if (t->ok) {
		fd.number = t->call->result < FDS_MOST ? (int32_t)t->call->result : WORLD_NO_FD;
		r = open_apart(t, &fd, O_RDWR, is_socket ? S_IFSOCK : 0, &file);
	}
	use(t, file ? file : file_of(t, &t->call->fd));
	if (r == 0)
		push(t, NULL, 0);
	if (file)
		world_release(t->world, file, t->thread->tid, t->end_ns);
	return r;
}

static void push_peer(const struct taking *t, const struct open_file *file, const struct open_file *peer)
{
	world_push(t->world, &(struct event){ .kind = EVENT_SOCKET, .time_ns = t->ev.time_ns, .u.socket = { .node = file->node,
		.peer = peer->node, .family = AF_UNIX, .kind = (uint16_t)(t->call->mode ? t->call->mode : SOCK_STREAM) } }, NULL, 0);
}

/* Both ends of a pipe are one file; those of a pair of sockets are two. */
static int take_pair(struct taking *t)
{
	bool is_pipe = t->ev.op == OP_PIPE;
	struct world_fd second = t->call->other;
	struct open_file *a = NULL, *b = NULL;
	int r = t->ok ? open_apart(t, &t->call->fd, is_pipe ? O_RDONLY : O_RDWR, is_pipe ? S_IFIFO : S_IFSOCK, &a) : 0;

	if (r == 0 && a) {
		if (is_pipe)
			second.path = a->path;
		r = open_apart(t, &second, is_pipe ? O_WRONLY : O_RDWR, is_pipe ? S_IFIFO : S_IFSOCK, &b);
	}
	if (r == 0 && b && !is_pipe) {
		push_peer(t, a, b);
		push_peer(t, b, a);
	}
	use(t, a);
	if (r == 0)
		push(t, NULL, 0);
	world_release(t->world, a, t->thread->tid, t->end_ns);
	world_release(t->world, b, t->thread->tid, t->end_ns);
	return r;
}

/* ---- descriptors ---- */

static int close_one(struct taking *t, int32_t fd)
{
	struct world_fd one = t->call->fd;
	const struct open_file *file;

	if (fd != one.number)
		one = (struct world_fd){ .number = fd };
	file = file_of(t, &one);
	use(t, file);
	t->ev.u.op.length = 0;
	if (file || fd == t->call->fd.number)
		push(t, NULL, 0);
	return t->ok || t->call->result == -EINTR ? set(t, fd, NULL, false) : 0;
}

static int take_range(struct taking *t)
{
	struct table *table = t->thread->process->table;
	int64_t last = (int64_t)table->n - 1;
	int r = 0;

	if (t->call->other.number >= 0 && t->call->other.number < last)
		last = t->call->other.number;
	for (int64_t fd = t->call->fd.number; t->ok && fd >= 0 && fd <= last && r == 0; fd++) {
		if (t->call->flags & CLOSE_RANGE_CLOEXEC)
			table->entries[fd].expires = true;
		else if (table->entries[fd].file)
			r = close_one(t, (int32_t)fd);
	}
	return r;
}

static int take_dup(struct taking *t)
{
	struct open_file *file = file_of(t, &t->call->fd);

	use(t, file);
	t->ev.u.op.flags = 0;
	t->ev.u.op.length = t->ok ? (uint64_t)t->call->result : 0;
	push(t, NULL, 0);
	if (!t->ok || t->call->result == t->call->fd.number)
		return 0;
	return set(t, t->call->result, file, t->call->expires);
}

static int take_expiry(struct taking *t)
{
	struct table *table = t->thread->process->table;
	int32_t fd = t->call->fd.number;

	use(t, file_of(t, &t->call->fd));
	push(t, NULL, 0);
	if (t->ok && fd >= 0 && (size_t)fd < table->n)
		table->entries[fd].expires = t->call->expires;
	return 0;
}

/* Where the call reads or writes, and where the descriptor is then. */
static int64_t advance(const struct taking *t, struct open_file *file, int64_t asked, bool is_write)
{
	int64_t at = asked >= 0 ? asked : file ? file->at : -1;

	if (!file || is_stream(file))
		return -1;
	if (is_write && file->flags & O_APPEND) {
		if (asked < 0 && t->ok)
			file->at = -1;
		return -1;
	}
	if (asked < 0 && t->ok && file->at >= 0)
		file->at = saturate_add(file->at, t->call->result);
	return at;
}

static int take_data(struct taking *t)
{
	struct open_file *file = file_of(t, &t->call->fd);

	use(t, file);
	t->ev.u.op.offset = advance(t, file, t->call->offset, t->ev.op == OP_WRITE);
	push(t, NULL, 0);
	return 0;
}

static int take_transfer(struct taking *t)
{
	struct open_file *to = file_of(t, &t->call->fd), *from = file_of(t, &t->call->other);
	int64_t written = advance(t, to, t->call->offset, true), read = advance(t, from, t->call->from, false);

	t->ev.u.op.handle = to ? to->handle : 0;
	t->ev.u.op.other = from ? from->handle : 0;
	t->ev.u.op.offset = to ? written : read;
	t->ev.via = t->ev.op == OP_COPY ? VIA_COPY : VIA_DIRECT;
	push(t, NULL, 0);
	return 0;
}

static int take_seek(struct taking *t)
{
	struct open_file *file = file_of(t, &t->call->fd);

	use(t, file);
	t->ev.u.op.offset = t->call->offset;
	push(t, NULL, 0);
	if (file && t->ok)
		file->at = t->call->result;
	return 0;
}

static int take_map(struct taking *t)
{
	struct open_file *file = file_of(t, &t->call->fd);

	use(t, file);
	t->ev.u.op.offset = t->call->offset;
	t->ev.u.op.result = t->ok ? 0 : t->call->result;
	if (file)
		push(t, NULL, 0);
	return world_map(t->world, t->thread, t->call, file);
}

static int take_unmap(struct taking *t)
{
	if (t->ok)
		world_unmap(t->world, t->thread, (uint64_t)t->call->offset, t->call->length, t->end_ns);
	return 0;
}

static int take_chdir(struct taking *t)
{
	struct directory *cwd = t->thread->process->cwd;
	const char *at = t->call->path ? NULL : base_of(t, &t->call->fd);
	cleanup_free char *path = NULL, *clean = NULL;

	if (!t->ok || (!at && !t->call->path))
		return 0;
	path = at ? strdup(at) : place(t, &t->call->dir, t->call->path);
	clean = path && path[0] == '/' ? path_clean(path) : NULL;
	if (!path || (path[0] == '/' && !clean))
		return -ENOMEM;
	free(cwd->path);
	cwd->path = clean ? strdup(clean[0] ? clean : "/") : NULL;
	return clean ? presence_there(t->world->presence, path, S_IFDIR) : 0;
}

/* About a descriptor, or a path.  An empty path with a descriptor means that. */
static int take_plain(struct taking *t)
{
	const struct world_call *call = t->call;
	bool is_empty = call->path && !call->path[0] && call->dir.number >= 0;
	const struct open_file *file;

	if (call->path && !is_empty)
		return take_path(t);
	file = file_of(t, is_empty ? &call->dir : &call->fd);
	use(t, file);
	t->ev.u.op.offset = call->offset;
	if (is_empty && t->ev.op == OP_LINK && call->path2)
		return take_two(t, "");
	if (t->ev.op == OP_GETATTR && file && file->path && !file->node && t->ok && call->type)
		presence_there(t->world->presence, file->path, call->type);
	push(t, NULL, 0);
	return 0;
}

int world_take(struct world *world, const struct world_call *call)
{
	static int (*const takes[])(struct taking *t) = { [WORLD_PLAIN] = take_plain, [WORLD_OPEN] = take_open, [WORLD_NEW] = take_new,
		[WORLD_PAIR] = take_pair, [WORLD_CLOSE_RANGE] = take_range, [WORLD_DUP] = take_dup,
		[WORLD_SET_EXPIRY] = take_expiry, [WORLD_DATA] = take_data, [WORLD_TRANSFER] = take_transfer, [WORLD_SEEK] = take_seek,
		[WORLD_MAP] = take_map, [WORLD_UNMAP] = take_unmap, [WORLD_CHDIR] = take_chdir, [WORLD_PROGRAM] = take_program };
	struct thread *thread = world_thread(world, call->tid);
	struct taking t;

	if (!thread)
		return 0;
	t = begin(world, thread, call);
	return call->act == WORLD_CLOSE ? close_one(&t, call->fd.number) : takes[call->act](&t);
}
