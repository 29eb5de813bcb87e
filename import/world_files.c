/* SPDX-License-Identifier: MIT */
/* Open files, and tables of descriptors. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/vector.h"
#include "import/world_internal.h"

/* ---- open files ---- */

struct open_file *world_new_file(struct world *world, const char *path, uint32_t flags, uint32_t type)
{
	struct open_file *file = calloc(1, sizeof(*file));

	if (!file)
		return NULL;
	file->path = path ? strdup(path) : NULL;
	if (path && !file->path) {
		free(file);
		return NULL;
	}
	file->handle = ++world->handles;
	file->flags = flags;
	file->type = type;
	file->references = 1;
	return file;
}

void world_release(struct world *world, struct open_file *file, int32_t tid, int64_t time_ns)
{
	if (!file || --file->references > 0)
		return;
	world_push(world, &(struct event){ .kind = EVENT_OP, .op = OP_RELEASE, .aside = 1, .form = FORM_CALL, .tid = tid,
		.time_ns = time_ns, .u.op = { .handle = file->handle, .node = file->node } }, NULL, 0);
	free(file->path);
	free(file);
}

void world_open_aside(struct world *world, struct open_file *file, int32_t tid, int64_t time_ns)
{
	struct event ev = { .kind = EVENT_OP, .op = S_ISDIR(file->type) ? OP_OPENDIR : OP_OPEN, .aside = 1, .form = FORM_CALL,
		.fidelity = FIDELITY_CALL, .tid = tid, .time_ns = time_ns, .u.op = { .handle = file->handle, .node = file->node,
		.other = file->node, .flags = file->flags, .mode = file->node ? 0 : file->type } };
	bool has_path = !file->node && file->path;

	world_push(world, &ev, has_path ? file->path : NULL, has_path ? strlen(file->path) : 0);
}

static uint64_t number_in(const char *text)
{
	const char *bracket = text ? strchr(text, '[') : NULL;

	return bracket ? strtoull(bracket + 1, NULL, 10) : 0;
}

static void push_apart(struct world *world, const struct apart *apart, bool is_made, int64_t time_ns)
{
	world_push(world, &(struct event){ .kind = EVENT_NODE, .time_ns = time_ns, .u.node = { .id = apart->node,
		.ino = is_made ? 0 : number_in(apart->text), .size = -1, .mode = apart->type, .nlink = 1 } }, NULL, 0);
	world_push(world, &(struct event){ .kind = EVENT_OP, .op = OP_LOOKUP, .aside = 1, .form = FORM_CALL, .time_ns = time_ns,
		.u.op.other = apart->node }, apart->text, strlen(apart->text));
}

static struct apart *find_apart(struct world *world, const char *text, uint32_t type, bool is_made, int64_t time_ns)
{
	struct apart *apart;

	HASH_FIND_STR(world->aparts, text, apart);
	if (apart)
		return apart;
	apart = calloc(1, sizeof(*apart) + strlen(text) + 1);
	if (!apart)
		return NULL;
	memcpy(apart->text, text, strlen(text));
	apart->node = world->nodes + 1;
	apart->type = type;
	HASH_ADD_STR(world->aparts, text, apart);
	if (!apart->hh.tbl) {
		free(apart);
		return NULL;
	}
	world->nodes++;
	push_apart(world, apart, is_made, time_ns);
	return apart;
}

int world_name_apart(struct world *world, struct open_file *file, const char *text, uint32_t type, int64_t time_ns)
{
	const char *kind = S_ISFIFO(type) ? "pipe" : S_ISSOCK(type) ? "socket" : "anon_inode";
	const struct apart *apart;
	char made[64];

	snprintf(made, sizeof(made), "%s:[import %llu]", kind, (unsigned long long)world->made + 1);
	world->made += !text;
	apart = find_apart(world, text ? text : made, type, !text, time_ns);
	if (apart && !file->path)
		file->path = strdup(apart->text);
	if (!apart || !file->path)
		return -ENOMEM;
	file->node = apart->node;
	file->type = apart->type;
	file->at = -1;
	return 0;
}

/* ---- tables ---- */

struct table *world_new_table(void)
{
	struct table *table = calloc(1, sizeof(*table));

	if (table)
		table->references = 1;
	return table;
}

struct table *world_copy_table(const struct table *table)
{
	struct table *copy = world_new_table();

	if (!copy || table->n == 0)
		return copy;
	copy->entries = calloc(table->n, sizeof(*copy->entries));
	if (!copy->entries) {
		free(copy);
		return NULL;
	}
	copy->n = copy->room = table->n;
	for (size_t i = 0; i < table->n; i++) {
		copy->entries[i] = table->entries[i];
		if (copy->entries[i].file)
			copy->entries[i].file->references++;
	}
	return copy;
}

void world_drop_table(struct world *world, struct table *table, int32_t tid, int64_t time_ns)
{
	if (!table || --table->references > 0)
		return;
	for (size_t i = 0; i < table->n; i++)
		world_release(world, table->entries[i].file, tid, time_ns);
	free(table->entries);
	free(table);
}

struct open_file *world_table_file(const struct table *table, int32_t fd)
{
	return fd >= 0 && (size_t)fd < table->n ? table->entries[fd].file : NULL;
}

int world_set(struct world *world, const struct thread *thread, int32_t fd, struct open_file *file, bool expires, int64_t time_ns)
{
	struct table *table = thread->process->table;
	struct open_file *former = world_table_file(table, fd);

	if (fd < 0 || fd >= FDS_MOST || (!file && (size_t)fd >= table->n))
		return 0;
	if (vector_fit(table->entries, table->room, (size_t)fd + 1) < 0)
		return -ENOMEM;
	while (table->n <= (size_t)fd)
		table->entries[table->n++] = (struct entry){ 0 };
	if (file)
		file->references++;
	table->entries[fd] = (struct entry){ file, expires };
	world_release(world, former, thread->tid, time_ns);
	return 0;
}

void world_expire(struct world *world, const struct thread *thread, int64_t time_ns)
{
	const struct table *table = thread->process->table;

	for (size_t i = 0; i < table->n; i++)
		if (table->entries[i].expires)
			world_set(world, thread, (int32_t)i, NULL, false, time_ns);
}

/* ---- descriptors of which the source shows something ---- */

static uint32_t type_apart(const char *path)
{
	if (strncmp(path, "pipe:", 5) == 0)
		return S_IFIFO;
	return strncmp(path, "anon_inode", 10) == 0 ? 0 : S_IFSOCK;
}

/* A descriptor that was open before, or was handed over. */
static struct open_file *learn(struct world *world, const struct thread *thread, const struct world_fd *fd, int64_t time_ns)
{
	bool apart = fd->path[0] != '/';
	uint32_t type = apart ? type_apart(fd->path) : fd->type;
	struct open_file *file;

	if (!apart && !type)
		presence_look(world->presence, fd->path, &type);
	file = world_new_file(world, fd->path, O_RDWR, type || apart ? type : S_IFREG);
	if (!file)
		return NULL;
	file->at = -1;
	if (apart && world_name_apart(world, file, fd->path, type, time_ns) < 0) {
		world_release(world, file, thread->tid, time_ns);
		return NULL;
	}
	world_open_aside(world, file, thread->tid, time_ns);
	world_set(world, thread, fd->number, file, false, time_ns);
	world_release(world, file, thread->tid, time_ns); /* ours */
	return world_table_file(thread->process->table, fd->number);
}

struct open_file *world_file(struct world *world, const struct thread *thread, const struct world_fd *fd, int64_t time_ns)
{
	struct open_file *file = world_table_file(thread->process->table, fd->number);

	if (file || fd->number < 0 || fd->number >= FDS_MOST || !fd->path)
		return file;
	return learn(world, thread, fd, time_ns);
}

/* ---- mappings ---- */

int world_map(struct world *world, const struct thread *thread, const struct world_call *call, struct open_file *file)
{
	struct process *process = thread->process;
	unsigned protection = call->flags & 0xff, how = call->flags >> 8;

	(void)world;
	if (!file || call->result < 0 || !(protection & PROT_WRITE) || (how & MAP_TYPE) == MAP_PRIVATE)
		return 0;
	if (vector_push(process->mapped, process->n_mapped,
		(struct mapping){ (uint64_t)call->result, call->length, file }) < 0)
		return -ENOMEM;
	file->references++;
	return 0;
}

void world_unmap(struct world *world, const struct thread *thread, uint64_t start, uint64_t length, int64_t time_ns)
{
	struct process *process = thread->process;
	size_t n = 0;

	for (size_t i = 0; i < process->n_mapped; i++) {
		struct mapping *m = &process->mapped[i];

		if (m->start >= start && m->start - start < length && m->length <= length - (m->start - start))
			world_release(world, m->file, thread->tid, time_ns);
		else
			process->mapped[n++] = *m;
	}
	process->n_mapped = n;
}
