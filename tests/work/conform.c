/* SPDX-License-Identifier: MIT */

/*
 * conform DIR [SOURCE [PART/PARTS [SECTION...]]]: does everything that can be done to files in DIR,
 * as several users, and prints for each combination of operation, state of the file and user one
 * line: what the calls returned, and what is there afterwards: type, mode, owner, links, size,
 * which times have moved, content.
 *
 *	section operation; state; user: result -> name:type,mode,owner,links,size,times ...
 *
 * SOURCE is the same directory as the file system below shows it, if DIR is in a mirror of that:
 * states are made there, and what is there is looked at in both; where DIR differs, the line ends
 * with what it shows.  So the lines of a run in a directory and those of a run in a mirror of a
 * directory beside it must be equal.
 *
 * PART/PARTS, as 0/3, does a share of the tables: every combination is in one of the parts.
 *
 * Times are three letters, for access, modification and change: '.' has not moved, '+' is now, and
 * '=' is given exactly.
 *
 * As root it is six users, by turns; else the one that runs it.
 */

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "conform.h"
#include "conform_box.h"

#define PATIENCE_S 300 /* for one process, after which it hangs */

struct user {
	const char *name;
	unsigned bit;
	uid_t uid;
	gid_t gid, also; /* 'also' is supplementary, or 0 */
};

static const struct user many[] = {
	{ "root", ROOT, 0, 0, 0 },
	{ "owner", OWNER, OWNER_ID, OWNER_ID, GROUP_ID },
	{ "owner without group", ALONE, OWNER_ID, OWNER_ID, 0 },
	{ "member", MEMBER, 6002, GROUP_ID, 0 },
	{ "supplementary member", SUPPL, 6003, 6003, GROUP_ID },
	{ "other", OTHER, OTHER_ID, OTHER_ID, 0 },
};
static const struct user one[] = { { "user", ALL, 0, 0, 0 } };

/* Of a combination; shared with the processes that fill it. */
struct slot {
	size_t used;
	char text[1500];
};

enum { MAX_BATCH = 256 };

static unsigned part, parts = 1;

static struct slot *slots; /* MAX_BATCH */
static struct slot *slot;  /* what note() writes to */

bool many_users(void)
{
	return geteuid() == 0;
}

static const struct user *users(size_t *ret_n)
{
	*ret_n = many_users() ? COUNT(many) : COUNT(one);
	return many_users() ? many : one;
}

static void become(const struct user *user)
{
	if (user->bit == ALL)
		return;
	if (setgroups(user->also != 0, &user->also) < 0 ||
		setresgid(user->gid, user->gid, user->gid) < 0 ||
		setresuid(user->uid, user->uid, user->uid) < 0)
		err(1, "becoming %s", user->name);
}

/* ---- what goes into a line ---- */

const char *error_name(int error)
{
	const char *name = strerrorname_np(error);

	return name ? name : "EUNKNOWN";
}

long result_of(long returned)
{
	return returned < 0 ? -errno : returned;
}

void note(const char *format, ...)
{
	size_t room = sizeof(slot->text) - slot->used;
	va_list arguments;
	int n;

	va_start(arguments, format);
	n = vsnprintf(slot->text + slot->used, room, format, arguments);
	va_end(arguments);
	if (n > 0)
		slot->used += (size_t)n < room ? (size_t)n : room - 1;
}

void said(long returned)
{
	if (returned < 0)
		note(" %s", error_name(errno));
	else
		note(" %ld", returned);
}

void note_data(const void *data, ssize_t n)
{
	char text[100];

	if (n < 0)
		note(" %s", error_name(errno));
	else
		note(" %s", data_text(data, n, text, sizeof(text)));
}

void apart(void (*run)(void *), void *arg)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		signal(SIGXFSZ, SIG_DFL);
		run(arg);
		_exit(0);
	}
	if (child < 0 || waitpid(child, &status, 0) < 0)
		note(" no process");
	else if (WIFSIGNALED(status))
		note(" SIG%s", sigabbrev_np(WTERMSIG(status)));
	else if (WEXITSTATUS(status) != 0)
		note(" exit %d", WEXITSTATUS(status));
}

static void print_line(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* By one write: several processes may have something to say. */
static void print_line(const char *format, ...)
{
	static char line[8000];
	va_list arguments;
	int n;

	va_start(arguments, format);
	n = vsnprintf(line, sizeof(line) - 1, format, arguments);
	va_end(arguments);
	if (n < 0 || n >= (int)sizeof(line) - 1)
		n = sizeof(line) - 2;
	line[n] = '\n';
	if (write(1, line, n + 1) != n + 1)
		err(1, "standard output");
}

/* ---- tables ---- */

static void print_combination(const char *what, struct box *box, const struct slot *s)
{
	struct picture *source = picture_take(box);
	struct picture *mount = box_is_mirrored() ? picture_take_mount(box, source) : NULL;
	char there[3000], shown[3000] = "";

	if (mount)
		picture_add_content(mount, box, VIEW_MOUNT);
	picture_add_content(source, box, VIEW_SOURCE);
	picture_text(source, box, there, sizeof(there));
	if (mount)
		picture_text_if_other(mount, source, box, shown, sizeof(shown));
	print_line("%s:%s -> %s%s%s", what, s->used ? s->text : " nothing said", there,
		*shown ? " BUT THE MOUNT SHOWS " : "", shown);
	if (mount)
		free(source);
	box->after = mount ? mount : source;
}

/* Combinations of one user, which one process does. */
struct batch {
	const char *section;
	const struct user *user;
	size_t n;
	struct combination {
		const struct op *op;
		const struct state *state;
		struct box box;
	} all[MAX_BATCH];
};

static void do_all(const struct batch *batch)
{
	become(batch->user);
	signal(SIGXFSZ, SIG_IGN);
	alarm(PATIENCE_S);
	for (size_t i = 0; i < batch->n; i++) {
		const struct combination *c = &batch->all[i];

		slot = &slots[i];
		umask(022);
		box_enter(&c->box, VIEW_MOUNT);
		c->op->run(c->op, c->state->path);
	}
	_exit(0);
}

static void run_batch(struct batch *batch)
{
	char what[300];
	int status;
	pid_t child;

	for (size_t i = 0; i < batch->n; i++) {
		slots[i].used = 0;
		box_remember(&batch->all[i].box);
	}
	box_tick();
	child = fork();
	if (child == 0)
		do_all(batch);
	if (child < 0 || waitpid(child, &status, 0) < 0)
		err(1, "fork");
	for (size_t i = 0; i < batch->n; i++) {
		struct combination *c = &batch->all[i];

		snprintf(what, sizeof(what), "%s %s; %s; %s", batch->section, c->op->name,
			c->state->name, batch->user->name);
		print_combination(what, &c->box, &slots[i]);
		box_remove(&c->box);
	}
	if (WIFSIGNALED(status))
		print_line("%s; %s: SIG%s", what, batch->user->name,
			sigabbrev_np(WTERMSIG(status)));
	batch->n = 0;
}

/* Whether the combination is in our part; what belongs to it is as good as random. */
static bool is_ours(const struct batch *batch, const struct op *op, const struct state *state)
{
	const char *const words[] = { batch->section, op->name, batch->user->name, state->name };
	unsigned h = 2166136261u;

	for (size_t i = 0; i < COUNT(words); i++)
		for (const char *c = words[i]; *c; c++)
			h = (h ^ (unsigned char)*c) * 16777619u;
	return (h >> 8) % parts == part;
}

static bool make_state(const void *arg)
{
	const struct state *state = arg;

	return state->make(state, "f");
}

static void add_to_batch(struct batch *batch, const struct op *op, const struct state *state)
{
	struct combination *c = &batch->all[batch->n];

	if (!(state->groups & op->groups) || !is_ours(batch, op, state))
		return;
	*c = (struct combination){ .op = op, .state = state };
	if (!box_make(make_state, state, &c->box))
		box_remove(&c->box);
	else if (++batch->n == MAX_BATCH)
		run_batch(batch);
}

void run_ops(const char *section, const struct op *ops, size_t n_ops, const struct state *list,
	size_t n_list)
{
	static struct batch batch;
	size_t n_users;
	const struct user *user = users(&n_users);

	for (size_t u = 0; u < n_users; u++) {
		batch = (struct batch){ .section = section, .user = &user[u] };
		for (size_t i = 0; i < n_ops; i++)
			for (size_t k = 0; k < n_list; k++)
				if (ops[i].users & user[u].bit)
					add_to_batch(&batch, &ops[i], &list[k]);
		if (batch.n > 0)
			run_batch(&batch);
	}
}

/* ---- scenes ---- */

static const char *scene_section, *scene_name, *scene_user;
static unsigned steps; /* a scene may say the same more than once */

void step(const char *what, long result)
{
	if (result < 0)
		step_text(what, "%s", error_name(-result));
	else
		step_text(what, "%ld", result);
}

void step_text(const char *what, const char *format, ...)
{
	char text[2000];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	print_line("%s %s; %s; %u %s: %s", scene_section, scene_name, scene_user, ++steps, what,
		text);
}

static bool make_scene(const void *arg)
{
	const struct scene *scene = arg;

	return !scene->prepare || scene->prepare();
}

static void do_scene(const struct scene *scene, const struct user *user, const struct box *box)
{
	slot = &slots[0];
	umask(022);
	signal(SIGXFSZ, SIG_IGN);
	alarm(PATIENCE_S);
	box_enter(box, VIEW_MOUNT);
	become(user);
	steps = 0;
	scene->run();
	_exit(0);
}

static void run_scene(const struct scene *scene, const struct user *user)
{
	struct box box;
	char what[300];
	int status;
	pid_t child;

	scene_name = scene->name;
	scene_user = user->name;
	if (!box_make(make_scene, scene, &box)) {
		box_remove(&box);
		return;
	}
	box_remember(&box);
	box_tick();
	slots[0].used = 0;
	child = fork();
	if (child == 0)
		do_scene(scene, user, &box);
	if (child < 0 || waitpid(child, &status, 0) < 0)
		err(1, "fork");
	slot = &slots[0];
	if (WIFSIGNALED(status))
		note(" SIG%s", sigabbrev_np(WTERMSIG(status)));
	note(" status %d", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
	snprintf(what, sizeof(what), "%s %s; %s; afterwards", scene_section, scene->name,
		user->name);
	print_combination(what, &box, slot);
	box_remove(&box);
}

void run_scenes(const char *section, const struct scene *scenes, size_t n)
{
	size_t n_users;
	const struct user *user = users(&n_users);

	scene_section = section;
	for (size_t i = 0; i < n; i++)
		for (size_t u = 0; u < n_users; u++)
			if (scenes[i].users & user[u].bit)
				run_scene(&scenes[i], &user[u]);
}

/* ---- main ---- */

static const struct {
	const char *name;
	void (*run)(void);
} sections[] = {
	{ "open", run_open },
	{ "names", run_names },
	{ "paths", run_paths },
	{ "attributes", run_attributes },
	{ "xattrs", run_xattrs },
	{ "data", run_data },
	{ "files", run_files },
	{ "dirs", run_dirs },
	{ "locks", run_locks },
	{ "programs", run_programs },
};

static bool is_wanted(const char *name, int argc, char **argv)
{
	for (int i = 4; i < argc; i++)
		if (strcmp(argv[i], name) == 0)
			return true;
	return argc <= 4;
}

int main(int argc, char **argv)
{
	if (argc > 1 && argv[1][0] == '-')
		return run_as_program(argc, argv);
	if (argc < 2 || (argc > 3 && sscanf(argv[3], "%u/%u", &part, &parts) != 2))
		errx(2, "usage: conform DIR [SOURCE [PART/PARTS [SECTION...]]]");
	slots = mmap(NULL, MAX_BATCH * sizeof(*slots), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (slots == MAP_FAILED)
		err(1, "mmap");
	umask(0);
	box_init(argv[1], argc > 2 ? argv[2] : argv[1]);
	for (size_t i = 0; i < COUNT(sections); i++)
		if (is_wanted(sections[i].name, argc, argv))
			sections[i].run();
	box_end();
	return 0;
}
