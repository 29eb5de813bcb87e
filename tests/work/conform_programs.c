/* SPDX-License-Identifier: MIT */

/* Executing: which user may, with which ids it then runs, and what becomes of a file that runs. */

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conform.h"

/* ---- what this program does when it is executed ---- */

static int say_ids(void)
{
	printf("ids %u %u %u %u secure %lu", getuid(), geteuid(), getgid(), getegid(),
		getauxval(AT_SECURE));
	return 7;
}

/* Until standard input ends. */
static int stay(void)
{
	char c;

	if (write(1, "b", 1) != 1)
		return 1;
	while (read(0, &c, 1) > 0)
		;
	return 0;
}

int run_as_program(int argc, char **argv)
{
	if (argc >= 2 && strcmp(argv[1], "--ids") == 0) /* there may be a script's name, too */
		return say_ids();
	if (argc == 2 && strcmp(argv[1], "--stay") == 0)
		return stay();
	errx(2, "unknown: %s", argv[1]);
}

/* ---- executing ---- */

static bool put_program(const char *at, mode_t mode)
{
	int from = open("/proc/self/exe", O_RDONLY), to = open(at, O_WRONLY | O_CREAT, 0700);
	bool copied = from >= 0 && to >= 0 && sendfile(to, from, NULL, 1 << 30) > 0;

	close(from);
	close(to);
	return copied && put_owner(at, mode, OWNER_ID, GROUP_ID);
}

struct run {
	const char *path;
	const char *argument;
	int fd;	   /* >= 0: of this, by execveat(2) */
	int flags;
};

/* In the child: what it prints goes to the pipe; so does the errno if there is nothing to run. */
static void execute(const struct run *r, int out)
{
	char *const arguments[] = { (char *)"program", (char *)r->argument, NULL };
	char *const none[] = { NULL };

	dup2(out, 1);
	dup2(out, 2);
	signal(SIGPIPE, SIG_DFL);
	syscall(SYS_execveat, r->fd, r->path, arguments, none, r->flags);
	dprintf(1, "%s", error_name(errno));
	_exit(126);
}

/* What came of it, as text. */
static const char *outcome(const struct run *r)
{
	static char text[300];
	int ends[2], status;
	size_t used = 0;
	ssize_t n;
	pid_t child;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return "no pipe";
	child = fork();
	if (child == 0)
		execute(r, ends[1]);
	close(ends[1]);
	while ((n = read(ends[0], text + used, 200 - used)) > 0)
		used += n;
	close(ends[0]);
	waitpid(child, &status, 0);
	snprintf(text + used, sizeof(text) - used, " status %x", status);
	for (size_t i = 0; i < used; i++)
		if (text[i] == '\n')
			text[i] = '|';
	return text;
}

static void run_exec(const struct op *op, const char *path)
{
	struct run r = { path, op->s, AT_FDCWD, op->a };

	note(" %s", outcome(&r));
}

/* By a descriptor, which has the flags in a. */
static void run_fexec(const struct op *op, const char *path)
{
	struct run r = { "", op->s, open(path, op->a | O_CLOEXEC), AT_EMPTY_PATH };

	if (r.fd < 0)
		note(" open %s", error_name(errno));
	else
		note(" %s", outcome(&r));
	close(r.fd);
}

/* ---- states: programs of all modes ---- */

static bool make_program(const struct state *s, const char *at)
{
	return (many_users() || s->uid == OWNER_ID) && put_program(at, 0700) &&
		put_owner(at, s->mode, s->uid, s->gid);
}

static bool make_text(const struct state *s, const char *at)
{
	return put_file(at, s->mode, s->target, OWNER_ID, GROUP_ID);
}

/* A script whose interpreter lies beside it. */
static bool make_interpreted(const struct state *s, const char *at)
{
	return put_program("interpreter", s->number) && make_text(s, at);
}

static bool make_link(const struct state *s, const char *at)
{
	return put_program("program", s->mode) && symlink("program", at) == 0;
}

#define PROGRAM(m, u, g) { .name = "program " #m " of " #u ":" #g, .path = "./f", \
	.groups = IS_FILE, .make = make_program, .mode = m, .uid = u, .gid = g }
#define TEXT(n, m, text) { .name = n, .path = "./f", .groups = IS_FILE, .make = make_text, \
	.mode = m, .target = text }
static const struct state programs[] = {
	PROGRAM(0755, OWNER_ID, GROUP_ID),
	PROGRAM(0711, OWNER_ID, GROUP_ID),
	PROGRAM(0700, OWNER_ID, GROUP_ID),
	PROGRAM(0644, OWNER_ID, GROUP_ID),
	PROGRAM(0001, OWNER_ID, GROUP_ID),
	PROGRAM(0070, OWNER_ID, GROUP_ID),
	PROGRAM(04755, OWNER_ID, GROUP_ID),
	PROGRAM(04755, 0, 0),
	PROGRAM(04711, 0, 0),
	PROGRAM(02755, OWNER_ID, GROUP_ID),
	PROGRAM(02755, 0, FOREIGN_ID),
	PROGRAM(02745, OWNER_ID, FOREIGN_ID),
	PROGRAM(06755, OWNER_ID, FOREIGN_ID),
	PROGRAM(06755, 0, 0),
	PROGRAM(04644, 0, 0),
	PROGRAM(01755, OWNER_ID, GROUP_ID),
	TEXT("script", 0755, "#!/bin/sh\necho script of $#: $1; exit 3\n"),
	TEXT("suid script", 06755, "#!/bin/sh\nid -u\n"),
	TEXT("script that cannot be read", 0711, "#!/bin/sh\necho read\n"),
	TEXT("script without an interpreter", 0755, "#!/no/such/thing\n"),
	TEXT("script with a directory for it", 0755, "#!/\n"),
	TEXT("text", 0755, "nothing that could be executed\n"),
	TEXT("nothing", 0755, ""),
	{ .name = "script with a program beside it", .path = "./f", .groups = IS_FILE,
		.make = make_interpreted, .mode = 0755, .target = "#!./interpreter --ids\n",
		.number = 0755 },
	{ .name = "script with a program that is none", .path = "./f", .groups = IS_FILE,
		.make = make_interpreted, .mode = 0755, .target = "#!./interpreter --ids\n",
		.number = 0644 },
	{ .name = "script with a suid program", .path = "./f", .groups = IS_FILE,
		.make = make_interpreted, .mode = 0755, .target = "#!./interpreter --ids\n",
		.number = 04755 },
	{ .name = "link to a program", .path = "./f", .groups = IS_FILE | IS_LINK,
		.make = make_link, .mode = 0755 },
};

static const struct op ops[] = {
	{ "execute", run_exec, IS_FILE, ALL, .s = "--ids" },
	{ "execute without following", run_exec, IS_FILE, OWNER, .a = AT_SYMLINK_NOFOLLOW,
		.s = "--ids" },
	{ "execute a descriptor", run_fexec, IS_FILE, FEW, .a = O_RDONLY, .s = "--ids" },
	{ "execute a path's descriptor", run_fexec, IS_FILE, FEW, .a = O_PATH, .s = "--ids" },
};
static const struct op for_others[] = {
	{ "execute", run_exec, IS_EACH, FEW, .s = "x" },
};

/* ---- what runs cannot be written, what is written cannot run ---- */

static bool prepare_busy(void)
{
	return put_program("f", 0777) && put_file("script", 0777, "#!/bin/sh\nread a\n", OWNER_ID,
		GROUP_ID);
}

struct running {
	pid_t pid;
	int to;
};

static struct running started(const char *path)
{
	struct running running;
	int in[2], out[2];
	char c;

	if (pipe(in) < 0 || pipe(out) < 0)
		err(1, "pipe");
	running.pid = fork();
	if (running.pid == 0) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		close(in[1]);
		execl(path, "program", "--stay", NULL);
		_exit(1);
	}
	close(in[0]);
	close(out[1]);
	running.to = in[1];
	step("it runs", read(out[0], &c, 1));
	close(out[0]);
	return running;
}

static int stopped(struct running running)
{
	int status;

	close(running.to);
	waitpid(running.pid, &status, 0);
	return status;
}

static void step_open(const char *what, const char *path, int flags)
{
	int fd = open(path, flags, 0644);

	step(what, fd < 0 ? -errno : 0);
	if (fd >= 0)
		close(fd);
}

static void busy(void)
{
	const struct run ids = { "./f", "--ids", AT_FDCWD, 0 };
	struct running running = started("./f");
	struct stat st;
	int fd;

	step_open("for writing", "f", O_WRONLY);
	step_open("for both", "f", O_RDWR);
	step_open("truncating", "f", O_RDONLY | O_TRUNC);
	step_open("for reading", "f", O_RDONLY);
	step_open("with O_CREAT", "f", O_WRONLY | O_CREAT);
	step("truncate", result_of(truncate("f", 0)));
	step("chmod", result_of(chmod("f", 0755)));
	step("link", result_of(link("f", "g")));
	step_open("by the link", "g", O_WRONLY);
	step("rename", result_of(rename("f", "h")));
	step_open("by its new name", "h", O_WRONLY);
	step("unlink", unlink("h"));
	step_open("by what is left", "g", O_WRONLY);
	step("back", result_of(rename("g", "f")));
	step("ended", stopped(running));
	fd = open("f", O_RDWR);
	step("for writing then", fd < 0 ? -errno : 0);
	step_text("executing what is open for writing", "%s", outcome(&ids));
	close(fd);
	step_text("executing then", "%s", outcome(&ids));
	step("size", stat("f", &st) < 0 ? -errno : st.st_size > 10000);
	step("ended again", stopped(started("./f")));
	step_open("truncating what has run", "f", O_RDONLY | O_TRUNC);
	step("size", stat("f", &st) < 0 ? -errno : st.st_size);
}

/* Rights that come and go while it runs, and a new file in its place. */
static void changed(void)
{
	struct run ids = { "./f", "--ids", AT_FDCWD, 0 };
	struct running running = started("./f");
	int fd;

	step("chmod", result_of(chmod("f", 0666)));
	step_text("not any more", "%s", outcome(&ids));
	step("chmod", result_of(chmod("f", 0777)));
	step_text("again", "%s", outcome(&ids));
	step("unlink", result_of(unlink("f")));
	step_text("without it", "%s", outcome(&ids));
	step("ended", stopped(running));
	fd = open("f", O_WRONLY | O_CREAT | O_EXCL, 0755);
	step("new", fd < 0 ? -errno : 0);
	step("write", result_of(write(fd, "#!/bin/sh\necho new one\n", 23)));
	step_text("while it is written", "%s", outcome(&ids));
	close(fd);
	step_text("the new one", "%s", outcome(&ids));
	fd = open("f", O_WRONLY | O_TRUNC);
	step("write", result_of(write(fd, "#!/bin/sh\necho newer\n", 21)));
	close(fd);
	step_text("the newer one", "%s", outcome(&ids));
}

/* A script is no program to the kernel once its interpreter has begun. */
static void script(void)
{
	int ends[2], status;
	pid_t child;

	if (pipe(ends) < 0)
		return;
	child = fork();
	if (child == 0) {
		dup2(ends[0], 0);
		close(ends[1]);
		execl("./script", "script", NULL);
		_exit(1);
	}
	close(ends[0]);
	step("write", result_of(write(ends[1], "x\n", 2)));
	waitpid(child, &status, 0);
	step("ended", status);
	step_open("for writing", "script", O_RDWR);
	close(ends[1]);
}

static const struct scene scenes[] = {
	{ "busy", busy, FEW, prepare_busy },
	{ "changed", changed, OWNER, prepare_busy },
	{ "script", script, FEW, prepare_busy },
};

void run_programs(void)
{
	run_ops("programs", ops, COUNT(ops), programs, COUNT(programs));
	run_ops("programs", for_others, COUNT(for_others), states, n_states);
	run_scenes("programs", scenes, COUNT(scenes));
}
