/* SPDX-License-Identifier: MIT */
#ifndef TESTS_UNIT_FEED_H
#define TESTS_UNIT_FEED_H

/*
 * Events as the handlers and the process monitor send them, in one line each, fed to a record;
 * and its database, to be asked what became of them.
 *
 * Each event is STEP later than the one before.  A process is known by its pid; what feed_discover()
 * starts runs "/bin/pN" with that one argument.
 */

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/stat.h>

#include "db/event.h"
#include "db/record.h"
#include "db/store.h"
#include "test.h"

#define STEP 1000
#define START_NS 1000000	/* of the run, monotonic */
#define EPOCH_NS 5000000000	/* the same, since the epoch */
#define LATENCY 7

struct feed {
	struct temp temp;
	char db[64 + 16];
	struct store *store;
	struct record *record;
	int64_t now;
	uint64_t last_node, last_ino, last_handle;
};

/* ---- life ---- */

static inline void feed_node_as(struct feed *f, uint64_t id, uint64_t ino, int64_t birth_ns,
	uint32_t mode, int64_t size);

static inline struct feed *feed_begin(const struct record_options *options)
{
	struct record_options o = options ? *options : (struct record_options){ .ops = true };
	struct feed *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	o.start_ns = START_NS;
	if (!o.paths.source)
		o.paths.source = "/";
	temp_make(&f->temp);
	snprintf(f->db, sizeof(f->db), "%s/trace.db", f->temp.dir);
	assert_int_equal(store_create(f->db, false, &f->store), 0);
	assert_int_equal(store_begin(f->store), 0);
	assert_int_equal(store_put_meta(f->store, "start_ns", V_INT(EPOCH_NS)), 0);
	assert_int_equal(record_create(f->store, &o, &f->record), 0);
	f->now = START_NS;
	f->last_ino = 100;
	feed_node_as(f, NODE_ROOT, 2, 2, S_IFDIR | 0755, 4096);
	f->last_node = NODE_ROOT;
	return f;
}

static inline void feed_end(struct feed *f)
{
	record_destroy(f->record);
	store_destroy(f->store);
	temp_take_away(&f->temp);
	free(f);
}

/* Everything fed so far is in the database. */
static inline void feed_flush(struct feed *f)
{
	assert_int_equal(record_flush(f->record, INT64_MAX), 0);
	assert_int_equal(record_sum(f->record), 0);
	assert_int_equal(store_commit(f->store), 0);
	assert_int_equal(store_begin(f->store), 0);
}

/* What the database says of all that was fed. */
static inline const char *ask(struct feed *f, const char *format, ...)
{
	const char *answer;
	va_list args;

	feed_flush(f);
	va_start(args, format);
	answer = sql_vask(f->db, format, args);
	va_end(args);
	return answer;
}

static inline void feed(struct feed *f, struct event *ev, const char *text, size_t len)
{
	if (!ev->time_ns)
		ev->time_ns = f->now += STEP;
	ev->text_len = len;
	assert_int_equal(record_event(f->record, ev, text ? text : "", len), 0);
}

/* ---- nodes ---- */

static inline void feed_node_as(struct feed *f, uint64_t id, uint64_t ino, int64_t birth_ns,
	uint32_t mode, int64_t size)
{
	struct event ev = { .kind = EVENT_NODE, .u.node = { .id = id, .dev = 8, .ino = ino,
		.birth_ns = birth_ns, .size = size, .mount = 1, .mode = mode, .nlink = 1 } };

	feed(f, &ev, NULL, 0);
}

static inline uint64_t feed_node(struct feed *f, uint32_t mode, int64_t size)
{
	uint64_t ino = ++f->last_ino;

	feed_node_as(f, ++f->last_node, ino, (int64_t)ino * 1000, mode, size);
	return f->last_node;
}

static inline void feed_forget(struct feed *f, uint64_t node)
{
	struct event ev = { .kind = EVENT_FORGET, .u.node.id = node };

	feed(f, &ev, NULL, 0);
}

/* ---- operations ---- */

#define OP_EVENT(f, t, o, ...)                                                                  \
	((struct event){ .kind = EVENT_OP, .op = (o), .tid = (t), .time_ns = ((f)->now += STEP), \
		.u.op = { .latency_ns = LATENCY, __VA_ARGS__ } })

static inline void feed_op(struct feed *f, struct event ev, const char *name)
{
	feed(f, &ev, name, name ? strlen(name) : 0);
}

/* name NUL other */
static inline void feed_op_names(struct feed *f, struct event ev, const char *name,
	const char *other)
{
	char text[1024];
	int n = snprintf(text, sizeof(text), "%s%c%s", name, '\0', other);

	feed(f, &ev, text, n);
}

static inline void feed_lookup(struct feed *f, pid_t tid, uint64_t dir, const char *name,
	uint64_t node)
{
	feed_op(f, OP_EVENT(f, tid, OP_LOOKUP, .node = dir, .other = node), name);
}

static inline void feed_lookup_fails(struct feed *f, pid_t tid, uint64_t dir, const char *name)
{
	feed_op(f, OP_EVENT(f, tid, OP_LOOKUP, .node = dir, .result = -ENOENT), name);
}

/* A file that was there before the run, and its name. */
static inline uint64_t feed_file(struct feed *f, pid_t tid, uint64_t dir, const char *name,
	int64_t size)
{
	uint64_t node = feed_node(f, S_IFREG | 0644, size);

	feed_lookup(f, tid, dir, name, node);
	return node;
}

static inline uint64_t feed_dir(struct feed *f, pid_t tid, uint64_t dir, const char *name)
{
	uint64_t node = feed_node(f, S_IFDIR | 0755, 4096);

	feed_lookup(f, tid, dir, name, node);
	return node;
}

static inline uint64_t feed_open_as(struct feed *f, pid_t tid, uint64_t node, uint32_t flags,
	enum fidelity fidelity)
{
	struct event ev = OP_EVENT(f, tid, OP_OPEN, .node = node, .handle = ++f->last_handle,
		.flags = flags);

	ev.fidelity = fidelity;
	feed_op(f, ev, NULL);
	return f->last_handle;
}

static inline uint64_t feed_open(struct feed *f, pid_t tid, uint64_t node, uint32_t flags)
{
	return feed_open_as(f, tid, node, flags, FIDELITY_EXACT);
}

/* The handle; the new node is *ret_node. */
static inline uint64_t feed_create(struct feed *f, pid_t tid, uint64_t dir, const char *name,
	uint64_t *ret_node)
{
	uint64_t node = feed_node(f, S_IFREG | 0644, 0);

	if (ret_node)
		*ret_node = node;
	feed_op(f, OP_EVENT(f, tid, OP_CREATE, .node = dir, .other = node,
		.handle = ++f->last_handle, .flags = O_WRONLY | O_CREAT | O_TRUNC, .mode = 0666),
		name);
	return f->last_handle;
}

static inline void feed_data(struct feed *f, pid_t tid, enum op op, uint64_t handle, int64_t offset,
	int64_t bytes, enum via via)
{
	struct event ev = OP_EVENT(f, tid, op, .handle = handle, .offset = offset,
		.length = bytes < 0 ? 4096 : bytes, .result = bytes);

	ev.via = via;
	feed_op(f, ev, NULL);
}

static inline void feed_read(struct feed *f, pid_t tid, uint64_t handle, int64_t offset,
	int64_t bytes)
{
	feed_data(f, tid, OP_READ, handle, offset, bytes, VIA_DIRECT);
}

static inline void feed_write(struct feed *f, pid_t tid, uint64_t handle, int64_t offset,
	int64_t bytes)
{
	feed_data(f, tid, OP_WRITE, handle, offset, bytes, VIA_DIRECT);
}

static inline void feed_release(struct feed *f, pid_t tid, uint64_t handle)
{
	feed_op(f, OP_EVENT(f, tid, OP_RELEASE, .handle = handle), NULL);
}

/* Opens, reads or writes one byte at 0, closes. */
static inline void feed_reads(struct feed *f, pid_t tid, uint64_t node)
{
	uint64_t h = feed_open(f, tid, node, O_RDONLY);

	feed_read(f, tid, h, 0, 1);
	feed_release(f, 0, h);
}

static inline void feed_writes(struct feed *f, pid_t tid, uint64_t node)
{
	uint64_t h = feed_open(f, tid, node, O_WRONLY);

	feed_write(f, tid, h, 0, 1);
	feed_release(f, 0, h);
}

static inline void feed_rename(struct feed *f, pid_t tid, uint64_t dir, const char *name,
	uint64_t dir2, const char *name2, uint32_t flags)
{
	feed_op_names(f, OP_EVENT(f, tid, OP_RENAME, .node = dir, .other = dir2, .flags = flags),
		name, name2);
}

static inline void feed_link(struct feed *f, pid_t tid, uint64_t node, uint64_t dir,
	const char *name)
{
	feed_op(f, OP_EVENT(f, tid, OP_LINK, .node = node, .other = dir), name);
}

static inline void feed_unlink(struct feed *f, pid_t tid, uint64_t dir, const char *name)
{
	feed_op(f, OP_EVENT(f, tid, OP_UNLINK, .node = dir), name);
}

static inline void feed_truncate(struct feed *f, pid_t tid, uint64_t node, int64_t size)
{
	feed_op(f, OP_EVENT(f, tid, OP_TRUNCATE, .node = node, .length = size), NULL);
}

/* ---- system calls ---- */

/* By path: text is the path as the program gave it; more: the second one, or NULL. */
static inline void feed_call(struct feed *f, struct event ev, const char *text, const char *more)
{
	ev.form = FORM_CALL;
	ev.fidelity = FIDELITY_CALL;
	if (more)
		feed_op_names(f, ev, text, more);
	else
		feed_op(f, ev, text);
}

/* The kernel names a component. */
static inline void feed_name(struct feed *f, uint64_t dir, const char *name, uint64_t node)
{
	struct event ev = OP_EVENT(f, 0, OP_LOOKUP, .node = dir, .other = node);

	ev.aside = 1;
	feed_call(f, ev, name, NULL);
}

/* An open by path; node: what it led to. */
static inline uint64_t feed_call_open(struct feed *f, pid_t tid, uint64_t base, const char *path,
	uint64_t node, uint32_t flags)
{
	feed_call(f, OP_EVENT(f, tid, OP_OPEN, .node = base, .other = node,
		.handle = ++f->last_handle, .flags = flags), path, NULL);
	return f->last_handle;
}

/* Through a handle. */
static inline void feed_call_at(struct feed *f, struct event ev)
{
	feed_call(f, ev, NULL, NULL);
}

/* The end of a handle, which has no row. */
static inline void feed_end_of(struct feed *f, uint64_t handle)
{
	struct event ev = OP_EVENT(f, 0, OP_RELEASE, .handle = handle);

	ev.aside = 1;
	feed_call(f, ev, NULL, NULL);
}

/* ---- processes ---- */

/* What /proc shows of a process. */
struct facts_of_process {
	const char *exe, *cwd, *comm;
	const char *argv, *environ; /* each word with its NUL */
	size_t argv_len, environ_len;
	const char *stdin_path, *cgroup;
};

static inline size_t add_part(char *text, size_t at, const char *bytes, size_t len)
{
	uint32_t n = bytes ? len : PROCESS_PART_UNKNOWN;

	memcpy(text + at, &n, sizeof(n));
	if (bytes)
		memcpy(text + at + sizeof(n), bytes, len);
	return at + sizeof(n) + (bytes ? len : 0);
}

static inline size_t process_text(const struct facts_of_process *p, char text[4096])
{
	size_t at = 0;

	at = add_part(text, at, p->exe, p->exe ? strlen(p->exe) : 0);
	at = add_part(text, at, p->cwd, p->cwd ? strlen(p->cwd) : 0);
	at = add_part(text, at, p->comm, p->comm ? strlen(p->comm) : 0);
	at = add_part(text, at, p->argv, p->argv_len);
	at = add_part(text, at, p->environ, p->environ_len);
	at = add_part(text, at, p->stdin_path, p->stdin_path ? strlen(p->stdin_path) : 0);
	at = add_part(text, at, NULL, 0);
	at = add_part(text, at, NULL, 0);
	return add_part(text, at, p->cgroup, p->cgroup ? strlen(p->cgroup) : 0);
}

static inline void feed_process(struct feed *f, enum event_kind kind, struct event_process e,
	int64_t time_ns, const struct facts_of_process *facts)
{
	struct event ev = { .kind = kind, .time_ns = time_ns, .u.process = e };
	char text[4096];

	ev.u.process.known = facts != NULL;
	feed(f, &ev, text, facts ? process_text(facts, text) : 0);
}

static inline void feed_discover(struct feed *f, pid_t pid, pid_t ppid)
{
	char exe[32];
	struct facts_of_process facts = { .exe = exe, .cwd = "/", .comm = exe + 5, .argv = exe };

	facts.argv_len = snprintf(exe, sizeof(exe), "/bin/p%d", pid) + 1;
	feed_process(f, EVENT_PROCESS, (struct event_process){ .pid = pid, .ppid = ppid, .tid = pid,
		.start_ns = f->now, .uid = 1000, .gid = 100, .tier = TIER_INBAND }, 0, &facts);
}

static inline void feed_fork(struct feed *f, pid_t pid, pid_t ppid)
{
	feed_process(f, EVENT_FORK, (struct event_process){ .pid = pid, .ppid = ppid, .tid = pid,
		.tier = TIER_CONNECTOR }, 0, NULL);
}

static inline void feed_exec_at(struct feed *f, pid_t pid, const char *exe, int64_t time_ns)
{
	struct facts_of_process facts = { .exe = exe, .cwd = "/", .comm = "x", .argv = exe,
		.argv_len = strlen(exe) + 1 };

	feed_process(f, EVENT_EXEC, (struct event_process){ .pid = pid, .tid = pid,
		.tier = TIER_CONNECTOR }, time_ns, &facts);
}

static inline void feed_exec(struct feed *f, pid_t pid, const char *exe)
{
	feed_exec_at(f, pid, exe, 0);
}

static inline void feed_exit(struct feed *f, pid_t pid, int status)
{
	feed_process(f, EVENT_EXIT, (struct event_process){ .pid = pid, .tid = pid,
		.status = status, .tier = TIER_CONNECTOR }, 0, NULL);
}

/* ---- cmocka fixtures ---- */

TEST_UNUSED static int feed_setup(void **state)
{
	*state = feed_begin(NULL);
	return 0;
}

TEST_UNUSED static int feed_teardown(void **state)
{
	if (*state)
		feed_end(*state);
	return 0;
}

/* With processes 10, 20 and 30 already known. */
TEST_UNUSED static int feed_setup_processes(void **state)
{
	struct feed *f = feed_begin(NULL);

	feed_discover(f, 10, 1);
	feed_discover(f, 20, 1);
	feed_discover(f, 30, 1);
	*state = f;
	return 0;
}

#endif
