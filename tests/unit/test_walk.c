/* SPDX-License-Identifier: MIT */

/*
 * walk.h, through record.h: paths of system calls in random trees of directories, symbolic links, hard links and
 * renames.  The kernel itself is the model: each call is made in a directory of the test, and the path and the inode
 * number that the record finds must be those that the kernel finds.
 */

#include <sys/syscall.h>

#include "feed.h"

enum { P = 10, NAMES = 4, STEPS = 150, SEEDS = 12 };

/* A component that was sent. */
struct sent {
	uint64_t dir, node;
	char name[64];
};

struct world {
	struct feed *f;
	struct temp temp;
	char top[PATH_MAX]; /* as the kernel names it */
	unsigned seed;
	struct {
		uint64_t ino, node;
		uint32_t generation;
	} nodes[8192];
	size_t n_nodes;
	struct sent sent[8192];
	size_t n_sent;
	char expected[65536];
	size_t len, checks, probes;
	bool hides; /* some files are made unseen: the probe finds them */
};

static unsigned pick(struct world *w, unsigned n)
{
	w->seed = w->seed * 1103515245 + 12345;
	return (w->seed >> 16) % n;
}

/* ---- what the kernel sends ---- */

/* File systems use inode numbers again.  The time of birth stands for the generation. */
static uint64_t node_of(struct world *w, const struct statx *st)
{
	uint32_t generation = (st->stx_btime.tv_nsec ^ (uint32_t)(st->stx_btime.tv_sec << 20)) | 1;
	struct event ev = { .kind = EVENT_NODE,
		.u.node = { .dev = 8,
			.ino = st->stx_ino,
			.mode = st->stx_mode,
			.nlink = st->stx_nlink,
			.size = (int64_t)st->stx_size,
			.mount = 1,
			.generation = generation } };

	for (size_t i = 0; i < w->n_nodes; i++)
		if (w->nodes[i].ino == st->stx_ino && w->nodes[i].generation == generation)
			return w->nodes[i].node;
	ev.u.node.id = ++w->f->last_node;
	feed(w->f, &ev, NULL, 0);
	w->nodes[w->n_nodes].ino = st->stx_ino;
	w->nodes[w->n_nodes].generation = generation;
	w->nodes[w->n_nodes].node = ev.u.node.id;
	return w->nodes[w->n_nodes++].node;
}

static bool is_sent(struct world *w, uint64_t dir, const char *name, uint64_t node)
{
	struct sent *s = w->sent;

	for (size_t i = 0; i < w->n_sent; i++, s++)
		if (s->dir == dir && strcmp(s->name, name) == 0) {
			bool same = s->node == node;

			s->node = node;
			return same;
		}
	s->dir = dir;
	s->node = node;
	snprintf(s->name, sizeof(s->name), "%s", name);
	w->n_sent++;
	return false;
}

/* Sends the components of a path that the kernel found, as it does when it opens the file; returns the node. */
static uint64_t send_path(struct world *w, const char *path)
{
	char prefix[PATH_MAX], text[PATH_MAX], *name, *rest;
	uint64_t dir = NODE_ROOT, node = NODE_ROOT;
	struct statx st;
	size_t len = 0;

	snprintf(text, sizeof(text), "%s", path);
	for (name = strtok_r(text, "/", &rest); name; name = strtok_r(NULL, "/", &rest)) {
		len += snprintf(prefix + len, sizeof(prefix) - len, "/%s", name);
		assert_int_equal(statx(AT_FDCWD, prefix, AT_SYMLINK_NOFOLLOW,
					 STATX_BASIC_STATS | STATX_BTIME, &st),
			0);
		node = node_of(w, &st);
		if (!is_sent(w, dir, name, node))
			feed_name(w->f, dir, name, node);
		dir = node;
	}
	return node;
}

/* ---- random calls ---- */

static const char *pick_name(struct world *w)
{
	static const char *const names[] = { "a", "b", "c", "d" };

	return names[pick(w, NAMES)];
}

/* A path from a directory, or an absolute one: names, "..", ".", empty components. */
static void pick_path(struct world *w, char *out, size_t size)
{
	size_t len = pick(w, 4) ? 0 : (size_t)snprintf(out, size, "%s/", w->top);

	for (unsigned i = 1 + pick(w, 4); i > 0; i--) {
		unsigned what = pick(w, 12);
		const char *name = what == 0 ? "." : what < 3 ? ".." : pick_name(w);

		len += snprintf(out + len, size - len, "%s%s", name,
			i > 1       ? what == 5 ? "//" : "/"
			: what == 6 ? "/"
				    : "");
	}
}

/* Whether the path would leave the directory of the test. */
static bool leaves(struct world *w, int dir, const char *path)
{
	char copy[PATH_MAX], link[64], real[PATH_MAX];
	char *slash;
	int fd;
	ssize_t n;

	snprintf(copy, sizeof(copy), "%s", path);
	for (size_t len = strlen(copy); len > 1 && copy[len - 1] == '/';)
		copy[--len] = '\0';
	slash = strrchr(copy, '/');
	if (slash)
		slash[1] = '\0';
	fd = openat(dir, slash ? copy : ".", O_PATH);
	if (fd < 0)
		return false;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, real, sizeof(real) - 1);
	close(fd);
	real[n > 0 ? n : 0] = '\0';
	return strncmp(real, w->top, strlen(w->top)) != 0;
}

/* A directory to begin at, and its node. */
static int pick_base(struct world *w, uint64_t *ret_node)
{
	char path[PATH_MAX], link[64], real[PATH_MAX];
	int fd = -1;
	ssize_t n;

	while (fd < 0) {
		pick_path(w, path, sizeof(path));
		fd = chdir(w->top) == 0 ? open(path, O_PATH | O_DIRECTORY) : -1;
		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		n = fd >= 0 ? readlink(link, real, sizeof(real) - 1) : 0;
		real[n > 0 ? n : 0] = '\0';
		if (fd >= 0 && strncmp(real, w->top, strlen(w->top)) != 0) {
			close(fd);
			fd = -1;
		}
		if (fd < 0 && pick(w, 2))
			fd = open(w->top, O_PATH | O_DIRECTORY),
			snprintf(real, sizeof(real), "%s", w->top);
	}
	*ret_node = send_path(w, real);
	return fd;
}

static void target_of_link(struct world *w, char *out, size_t size)
{
	pick_path(w, out, size);
}

static int64_t outcome(int r)
{
	return r < 0 ? -errno : r;
}

/* Some calls are of programs that are not traced. */
static void made(struct world *w, struct event ev, const char *path, const char *more)
{
	if (!w->hides || pick(w, 3))
		feed_call(w->f, ev, path, more);
}

/* Makes a call with one path, and sends it.  more: what a symbolic link is to contain. */
static void change_one(struct world *w, unsigned what, int dir, uint64_t base, const char *path, const char *more)
{
	int64_t r;

	switch (what) {
	case 0:
	case 1:
	case 2:
		r = outcome(mkdirat(dir, path, 0700));
		made(w, OP_EVENT(w->f, P, OP_MKDIR, .node = base, .result = r, .mode = 0700), path, NULL);
		break;
	case 3:
		r = outcome(symlinkat(more, dir, path));
		made(w, OP_EVENT(w->f, P, OP_SYMLINK, .node = base, .result = r), path, more);
		break;
	case 4:
		r = outcome(mknodat(dir, path, S_IFREG | 0600, 0));
		made(w, OP_EVENT(w->f, P, OP_MKNOD, .node = base, .result = r, .mode = S_IFREG | 0600), path, NULL);
		break;
	case 5:
		r = outcome(unlinkat(dir, path, 0));
		feed_call(w->f, OP_EVENT(w->f, P, OP_UNLINK, .node = base, .result = r), path, NULL);
		break;
	default:
		r = outcome(unlinkat(dir, path, AT_REMOVEDIR));
		feed_call(w->f, OP_EVENT(w->f, P, OP_RMDIR, .node = base, .result = r), path, NULL);
	}
}

/* Of the same kind with two paths: a link, or a rename. */
static void change_two(struct world *w, bool link, int dir, uint64_t base, const char *path, const char *more)
{
	uint64_t other = 0;
	int dir2 = pick_base(w, &other);
	int64_t r;

	if (leaves(w, dir2, more)) {
		close(dir2);
		return;
	}
	r = link ? outcome(linkat(dir, path, dir2, more, pick(w, 2) ? AT_SYMLINK_FOLLOW : 0))
		 : outcome((int)syscall(SYS_renameat2, dir, path, dir2, more, 0));
	if (link && r == 0) {
		unlinkat(dir2, more, 0); /* the event does not say AT_SYMLINK_FOLLOW: made again without it */
		r = outcome(linkat(dir, path, dir2, more, 0));
	}
	if (!link || r >= 0)
		feed_call(w->f, OP_EVENT(w->f, P, link ? OP_LINK : OP_RENAME, .node = base, .other = other,
					.result = r), path, more);
	close(dir2);
}

/* Makes a call and sends it. */
static void change(struct world *w)
{
	char path[PATH_MAX], more[PATH_MAX];
	uint64_t base;
	int dir = pick_base(w, &base);
	unsigned what = pick(w, 9);

	pick_path(w, path, sizeof(path));
	pick_path(w, more, sizeof(more));
	if (!leaves(w, dir, path)) {
		if (what == 3)
			target_of_link(w, more, sizeof(more));
		if (what < 7)
			change_one(w, what, dir, base, path, more);
		else
			change_two(w, what == 7, dir, base, path, more);
	}
	close(dir);
}

/* Looks a path up, and notes what the kernel finds. */
static void look(struct world *w)
{
	char path[PATH_MAX], link[64], real[PATH_MAX];
	bool follow = pick(w, 2);
	uint64_t base;
	int dir = pick_base(w, &base), fd;
	struct stat st;
	ssize_t n;

	pick_path(w, path, sizeof(path));
	fd = openat(dir, path, O_PATH | (follow ? 0 : O_NOFOLLOW));
	close(dir);
	if (fd < 0)
		return;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, real, sizeof(real) - 1);
	assert_true(n > 0);
	real[n] = '\0';
	fstat(fd, &st);
	close(fd);
	if (pick(w, 3) == 0)
		send_path(w, real);
	feed_call(w->f,
		OP_EVENT(w->f, P, OP_CHMOD, .node = base, .flags = follow ? 0 : EVENT_NOFOLLOW),
		path, NULL);
	w->len += snprintf(w->expected + w->len, sizeof(w->expected) - w->len, "%s%s|%llu",
		w->checks++ ? "\n" : "", real, (unsigned long long)st.st_ino);
}

/* The inode number of a file need not be known. */
static void compare(struct world *w)
{
	const char *got = ask(w->f,
			   "SELECT o.path, f.ino FROM op o LEFT JOIN file f ON f.id = o.file "
			   "WHERE name = 'chmod' ORDER BY o.id"),
		   *want = w->expected;

	while (*want && *got) {
		size_t n = strcspn(want, "|"), end = strcspn(want, "\n"),
		       got_end = strcspn(got, "\n");

		if (strncmp(want, got, n + 1) != 0 ||
			(got_end - n - 1 != 4 && (got_end != end || strncmp(want, got, end))) ||
			(got_end - n - 1 == 4 && strncmp(got + n + 1, "NULL", 4) != 0 &&
				strncmp(want, got, end)))
			fail_msg("the kernel finds %.*s, the record %.*s", (int)end, want,
				(int)got_end, got);
		want += end + (want[end] == '\n');
		got += got_end + (got[got_end] == '\n');
	}
	assert_string_equal(want, got);
}

static int look_now(void *arg, const char *path, struct event_node *ret_node, char *target,
	size_t size, int64_t *ret_changed_ns)
{
	struct world *w = arg;
	struct stat st;
	ssize_t n;

	w->probes++;
	*ret_changed_ns = INT64_MIN; /* long ago */
	if (lstat(path, &st) < 0)
		return -errno;
	*ret_node = (struct event_node){ .dev = 8,
		.ino = st.st_ino,
		.mode = st.st_mode,
		.size = st.st_size,
		.nlink = st.st_nlink,
		.mount = 1 };
	n = S_ISLNK(st.st_mode) ? readlink(path, target, size - 1) : 0;
	target[n > 0 ? n : 0] = '\0';
	return 0;
}

/* In a root that is a directory of another file system, its number is not 2. */
static void feed_root(struct feed *f)
{
	struct stat st;

	assert_int_equal(stat("/", &st), 0);
	feed_node_as(f, NODE_ROOT, st.st_ino, 2, st.st_mode, st.st_size);
}

static void run(struct world *w, unsigned seed, bool probe)
{
	const struct record_options options = {
		.ops = true, .probe = probe ? look_now : NULL, .probe_arg = w
	};
	const char *top = realpath(w->temp.dir, w->top);

	assert_non_null(top);
	w->seed = seed;
	w->hides = probe;
	w->f = feed_begin(&options);
	feed_root(w->f);
	feed_discover(w->f, P, 1);
	send_path(w, w->top);
	for (int i = 0; i < STEPS; i++) {
		change(w);
		look(w);
	}
	compare(w);
	feed_end(w->f);
}

static void worlds(bool probe)
{
	size_t checks = 0, probes = 0;

	for (unsigned seed = 1; seed <= SEEDS; seed++) {
		struct world *w = calloc(1, sizeof(*w));

		assert_non_null(w);
		temp_make(&w->temp);
		run(w, seed, probe);
		checks += w->checks;
		probes += w->probes;
		assert_int_equal(chdir("/"), 0);
		temp_take_away(&w->temp);
		free(w);
	}
	printf("# %zu paths, %zu probes\n", checks, probes);
	assert_true(checks > SEEDS * 20);
	assert_true(probe == (probes > 0));
}

static void paths_lead_where_the_kernel_says(void **state)
{
	(void)state;
	worlds(false);
}

static void paths_lead_where_the_kernel_says_with_a_probe(void **state)
{
	(void)state;
	worlds(true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths_lead_where_the_kernel_says),
		cmocka_unit_test(paths_lead_where_the_kernel_says_with_a_probe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
