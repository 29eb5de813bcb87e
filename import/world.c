/* SPDX-License-Identifier: MIT */
/* Processes. */
#include "import/world.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/vector.h"
#include "db/ring.h"
#include "import/path.h"
#include "import/world_internal.h"

int world_create(const struct world_options *options, struct world **ret_world)
{
	struct world *world = calloc(1, sizeof(*world));

	if (!world)
		return -ENOMEM;
	world->options = *options;
	world->nodes = NODE_ROOT;
	if (presence_create(&world->presence) < 0) {
		free(world);
		return -ENOMEM;
	}
	world_push(world, &(struct event){ .kind = EVENT_NODE, .u.node = { .id = NODE_ROOT, .size = -1, .mode = S_IFDIR, .nlink = 1 } },
		NULL, 0);
	*ret_world = world;
	return 0;
}

void world_push(struct world *world, const struct event *event, const void *text, size_t len)
{
	if (world->options.ring)
		ring_push(world->options.ring, event, text, len);
}

uint64_t world_unplaced(const struct world *world)
{
	return world->unplaced;
}

struct thread *world_thread(const struct world *world, int32_t tid)
{
	struct thread *thread;

	HASH_FIND_INT(world->threads, &tid, thread);
	return thread;
}

bool world_has(const struct world *world, int32_t tid)
{
	return world_thread(world, tid);
}

/* ---- what a process has ---- */

static struct directory *directory_create(const char *path)
{
	struct directory *directory = calloc(1, sizeof(*directory));

	if (!directory)
		return NULL;
	directory->references = 1;
	directory->path = path ? strdup(path) : NULL;
	if (!path || directory->path)
		return directory;
	free(directory);
	return NULL;
}

static void directory_drop(struct directory *directory)
{
	if (!directory || --directory->references > 0)
		return;
	free(directory->path);
	free(directory);
}

static void process_drop(struct world *world, struct process *process, int32_t tid, int64_t time_ns)
{
	if (--process->threads > 0)
		return;
	world_unmap(world, &(struct thread){ .tid = tid, .process = process }, 0, UINT64_MAX, time_ns);
	world_drop_table(world, process->table, tid, time_ns);
	directory_drop(process->cwd);
	free(process->mapped);
	free(process);
}

static int add_thread(struct world *world, int32_t tid, struct process *process, int64_t time_ns)
{
	struct thread *thread = calloc(1, sizeof(*thread));

	if (!thread)
		return -ENOMEM;
	thread->tid = tid;
	thread->process = process;
	thread->free_ns = time_ns;
	HASH_ADD_INT(world->threads, tid, thread);
	if (!thread->hh.tbl) {
		free(thread);
		return -ENOMEM;
	}
	process->threads++;
	return 0;
}

static void forget_thread(struct world *world, struct thread *thread, int64_t time_ns)
{
	HASH_DEL(world->threads, thread);
	process_drop(world, thread->process, thread->tid, time_ns);
	free(thread);
}

/* Takes over table and directory, also if it fails. */
static int add_process(struct world *world, int32_t pid, struct table *table, struct directory *cwd, int64_t time_ns)
{
	struct process *process = calloc(1, sizeof(*process));
	int r;

	if (!process || !table || !cwd) {
		world_drop_table(world, table, pid, time_ns);
		directory_drop(cwd);
		free(process);
		return -ENOMEM;
	}
	*process = (struct process){ .pid = pid, .table = table, .cwd = cwd, .threads = 1 };
	r = add_thread(world, pid, process, time_ns);
	process_drop(world, process, pid, time_ns);
	return r;
}

static void push_process(struct world *world, enum event_kind kind, int64_t time_ns, struct event_process process, const void *text,
	size_t len)
{
	process.tier = world->options.tier;
	world_push(world, &(struct event){ .kind = kind, .time_ns = time_ns, .u.process = process }, text, len);
}

/* ---- begins and ends ---- */

int world_introduce(struct world *world, int32_t pid, int32_t ppid, int64_t time_ns)
{
	if (pid <= 0 || world_has(world, pid))
		return 0;
	push_process(world, EVENT_PROCESS, time_ns, (struct event_process){ .pid = pid, .tid = pid, .ppid = ppid, .start_ns = time_ns,
		.uid = UINT32_MAX }, NULL, 0);
	return add_process(world, pid, world_new_table(), directory_create(world->options.cwd), time_ns);
}

static int fork_process(struct world *world, struct process *process, int32_t child, unsigned shares, int64_t time_ns)
{
	struct table *table = process->table;
	struct directory *cwd = process->cwd;

	push_process(world, EVENT_FORK, time_ns, (struct event_process){ .pid = child, .tid = child, .ppid = process->pid }, NULL, 0);
	if (shares & WORLD_SHARES_FILES)
		table->references++;
	else
		table = world_copy_table(table);
	if (shares & WORLD_SHARES_CWD)
		cwd->references++;
	else
		cwd = directory_create(cwd->path);
	return add_process(world, child, table, cwd, time_ns);
}

int world_fork(struct world *world, int32_t by, int32_t child, unsigned shares, int64_t time_ns)
{
	struct thread *thread = world_thread(world, by);

	if (!thread || child <= 0)
		return 0;
	world_exit(world, child, -1, time_ns); /* its end was not seen; it may be that of 'by', too */
	thread = world_thread(world, by);
	if (!thread)
		return 0;
	if (!(shares & WORLD_IS_THREAD))
		return fork_process(world, thread->process, child, shares, time_ns);
	push_process(world, EVENT_THREAD, time_ns, (struct event_process){ .pid = thread->process->pid, .tid = child }, NULL, 0);
	return add_thread(world, child, thread->process, time_ns);
}

void world_exit(struct world *world, int32_t tid, int status, int64_t time_ns)
{
	struct thread *thread = world_thread(world, tid), *next;
	struct process *process = thread ? thread->process : NULL;
	bool is_first = thread && process->pid == tid;

	if (!thread)
		return;
	if (is_first)
		HASH_ITER(hh, world->threads, thread, next)
			if (thread->process == process && thread->tid != tid)
				forget_thread(world, thread, time_ns);
	forget_thread(world, world_thread(world, tid), time_ns);
	push_process(world, EVENT_EXIT, time_ns, (struct event_process){ .pid = is_first ? tid : 0, .tid = tid, .status = status }, NULL, 0);
}

void world_end(struct world *world, int64_t time_ns)
{
	struct thread *thread, *next;

	HASH_ITER(hh, world->threads, thread, next)
		forget_thread(world, thread, time_ns);
}

static void forget_aparts(struct world *world)
{
	struct apart *apart, *next;

	HASH_ITER(hh, world->aparts, apart, next) {
		HASH_DEL(world->aparts, apart);
		free(apart);
	}
}

void world_destroy(struct world *world)
{
	if (!world)
		return;
	world->options.ring = NULL;
	world_end(world, 0);
	forget_aparts(world);
	presence_destroy(world->presence);
	free(world);
}

/* ---- exec ---- */

struct parts {
	char *bytes;
	size_t len, room;
	int error;
};

static void put_part(struct parts *parts, const char *bytes, size_t len)
{
	uint32_t head = bytes ? (uint32_t)len : PROCESS_PART_UNKNOWN;

	if (!bytes)
		len = 0;
	if (parts->error || vector_fit(parts->bytes, parts->room, parts->len + sizeof(head) + len) < 0) {
		parts->error = -ENOMEM;
		return;
	}
	memcpy(parts->bytes + parts->len, &head, sizeof(head));
	if (len)
		memcpy(parts->bytes + parts->len + sizeof(head), bytes, len);
	parts->len += sizeof(head) + len;
}

static void put_text(struct parts *parts, const char *text)
{
	put_part(parts, text, text ? strlen(text) : 0);
}

/* What the kernel makes of the name of a program. */
static void put_comm(struct parts *parts, const char *exe)
{
	const char *slash = strrchr(exe, '/'), *name = slash ? slash + 1 : exe;

	put_part(parts, name, strnlen(name, 15));
}

static void put_parts(struct parts *parts, const struct process *process, const struct world_program *program, const char *exe)
{
	put_text(parts, exe);
	put_text(parts, process->cwd->path);
	put_comm(parts, program->exe);
	put_part(parts, program->argv, program->argv_len);
	put_text(parts, NULL); /* the environment */
	for (int fd = 0; fd < 3; fd++) {
		const struct open_file *file = world_table_file(process->table, fd);

		put_text(parts, file ? file->path : NULL);
	}
	put_text(parts, NULL); /* the cgroup */
}

/* The kernel reads the program to execute it. */
static int push_program(struct world *world, const struct thread *thread, const char *exe, int64_t time_ns)
{
	struct open_file *file = world_new_file(world, exe, FMODE_EXEC, S_IFREG);

	if (!file)
		return -ENOMEM;
	world_open_aside(world, file, thread->tid, time_ns);
	world_release(world, file, thread->tid, time_ns);
	return presence_there(world->presence, exe, S_IFREG);
}

/* The thread that executes a program gets the number of its process. */
static struct thread *become_first(struct world *world, struct thread *thread, int64_t time_ns)
{
	struct process *process = thread->process;
	struct thread *other, *next;

	process->threads++; /* ours */
	HASH_ITER(hh, world->threads, other, next)
		if (other->process == process && other->tid != process->pid) {
			push_process(world, EVENT_EXIT, time_ns, (struct event_process){ .tid = other->tid, .status = -1 }, NULL, 0);
			forget_thread(world, other, time_ns);
		}
	other = world_thread(world, process->pid);
	if (!other && add_thread(world, process->pid, process, time_ns) == 0)
		other = world_thread(world, process->pid);
	process_drop(world, process, process->pid, time_ns);
	return other;
}

/* Descriptors are not shared any more. */
static int own_table(struct world *world, struct process *process, int64_t time_ns)
{
	struct table *copy = process->table->references > 1 ? world_copy_table(process->table) : process->table;

	if (!copy)
		return -ENOMEM;
	if (copy != process->table)
		world_drop_table(world, process->table, process->pid, time_ns);
	process->table = copy;
	return 0;
}

int world_exec(struct world *world, int32_t tid, const struct world_program *program, int64_t time_ns)
{
	struct thread *thread = world_thread(world, tid);
	cleanup_free char *placed = thread ? world_place(world, thread, &program->dir, program->exe) : NULL;
	cleanup_free char *exe = placed && placed[0] == '/' ? path_clean(placed) : placed ? strdup(placed) : NULL;
	struct parts parts = { 0 };
	int r;

	if (thread && !exe)
		return -ENOMEM;
	thread = thread ? become_first(world, thread, time_ns) : NULL;
	if (!thread)
		return 0;
	r = own_table(world, thread->process, time_ns);
	if (r < 0)
		return r;
	thread->free_ns = time_ns;
	world_expire(world, thread, time_ns);
	world_unmap(world, thread, 0, UINT64_MAX, time_ns);
	r = push_program(world, thread, exe, time_ns);
	put_parts(&parts, thread->process, program, exe);
	if (r == 0 && parts.error == 0)
		push_process(world, EVENT_EXEC, time_ns, (struct event_process){ .pid = thread->tid, .tid = thread->tid, .known = 1,
			.uid = UINT32_MAX }, parts.bytes, parts.len);
	free(parts.bytes);
	return r < 0 ? r : parts.error;
}
