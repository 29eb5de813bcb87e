/* SPDX-License-Identifier: MIT */

/* Commands of actor that take paths. */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "actor.h"

/* open SLOT FLAGS PATH [MODE] */
static void do_open(char **w, char *answer)
{
	int fd = open(place(w[2]).text, (int)number(w[1]) | O_CLOEXEC, w[3] ? number(w[3]) : 0644);

	if (fd >= 0)
		slot_set(w[0], fd);
	answer_result(answer, fd);
}

static void do_chmod(char **w, char *answer)
{
	answer_result(answer, chmod(place(w[0]).text, number(w[1])));
}

/* chown PATH UID GID */
static void do_chown(char **w, char *answer)
{
	answer_result(answer, lchown(place(w[0]).text, number(w[1]), number(w[2])));
}

/* utimens PATH now|SECONDS */
static void do_utimens(char **w, char *answer)
{
	struct timespec at = { .tv_sec = number(w[1]) }, times[2] = { at, at };

	answer_result(answer,
		utimensat(AT_FDCWD, place(w[0]).text, strcmp(w[1], "now") == 0 ? NULL : times, 0));
}

static void do_truncate(char **w, char *answer)
{
	answer_result(answer, truncate(place(w[0]).text, number(w[1])));
}

/* setxattr PATH NAME HEX */
static void do_setxattr(char **w, char *answer)
{
	uint8_t value[256];
	size_t n = bytes_of(w[2], value, sizeof(value));

	answer_result(answer, setxattr(place(w[0]).text, w[1], value, n, 0));
}

static void do_getxattr(char **w, char *answer)
{
	char value[256];
	ssize_t n = getxattr(place(w[0]).text, w[1], value, sizeof(value));

	answer_result(answer, n);
	if (n >= 0)
		answer_text(answer, "ok %zd", n);
}

static void do_removexattr(char **w, char *answer)
{
	answer_result(answer, removexattr(place(w[0]).text, w[1]));
}

/* link OLD NEW; what @ leads to, not the link in /proc */
static void do_link(char **w, char *answer)
{
	answer_result(answer, linkat(AT_FDCWD, place(w[0]).text, AT_FDCWD, place(w[1]).text,
				      *w[0] == '@' && !strchr(w[0], '/') ? AT_SYMLINK_FOLLOW : 0));
}

static void do_symlink(char **w, char *answer)
{
	answer_result(answer, symlink(w[0], place(w[1]).text));
}

static void do_unlink(char **w, char *answer)
{
	answer_result(answer, unlink(place(w[0]).text));
}

static void do_rmdir(char **w, char *answer)
{
	answer_result(answer, rmdir(place(w[0]).text));
}

static void do_mkdir(char **w, char *answer)
{
	answer_result(answer, mkdir(place(w[0]).text, number(w[1])));
}

/* mknod PATH MODE, with the type */
static void do_mknod(char **w, char *answer)
{
	answer_result(answer, mknod(place(w[0]).text, number(w[1]), 0));
}

/* rename OLD NEW FLAGS */
static void do_rename(char **w, char *answer)
{
	answer_result(answer,
		renameat2(AT_FDCWD, place(w[0]).text, AT_FDCWD, place(w[1]).text, number(w[2])));
}

static void emit_stat(char *answer, int r, const struct stat *st)
{
	answer_result(answer, r);
	if (r == 0)
		answer_text(answer, "ok %o %u %u %lld", st->st_mode, st->st_uid, st->st_gid,
			S_ISDIR(st->st_mode) ? 0LL : (long long)st->st_size);
}

static void do_stat(char **w, char *answer)
{
	struct stat st;

	emit_stat(answer, stat(place(w[0]).text, &st), &st);
}

static void do_lstat(char **w, char *answer)
{
	struct stat st;

	emit_stat(answer, lstat(place(w[0]).text, &st), &st);
}

static void do_fstat(char **w, char *answer)
{
	struct stat st;

	emit_stat(answer, fstat(slot_fd(w[0]), &st), &st);
}

static void do_access(char **w, char *answer)
{
	answer_result(answer, access(place(w[0]).text, number(w[1])));
}

static void do_readlink(char **w, char *answer)
{
	char text[400];
	ssize_t n = readlink(place(w[0]).text, text, sizeof(text));

	answer_result(answer, n);
	if (n >= 0)
		answer_text(answer, "ok %.*s", (int)n, text);
}

static void do_statfs(char **w, char *answer)
{
	struct statvfs st;
	int r = statvfs(place(w[0]).text, &st);

	answer_result(answer, r);
	if (r == 0)
		answer_text(answer, "ok %lu", st.f_namemax);
}

static void do_chdir(char **w, char *answer)
{
	answer_result(answer, chdir(place(w[0]).text));
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void emit_names(char *answer, DIR *dir)
{
	char *names[100];
	size_t n = 0, used = 2;

	strcpy(answer, "ok");
	for (struct dirent *e; n < 100 && (e = readdir(dir));)
		names[n++] = strdup(e->d_name);
	qsort(names, n, sizeof(names[0]), by_name);
	for (size_t i = 0; i < n; i++) {
		if (used < ANSWER)
			used += snprintf(answer + used, ANSWER - used, " %s", names[i]);
		free(names[i]);
	}
}

static void do_list(char **w, char *answer)
{
	DIR *dir = opendir(place(w[0]).text);

	answer_result(answer, dir ? 0 : -1);
	if (dir) {
		emit_names(answer, dir);
		closedir(dir);
	}
}

/* The names in the directory of a slot. */
static void do_flist(char **w, char *answer)
{
	int fd = dup(slot_fd(w[0]));
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	answer_result(answer, dir ? 0 : -1);
	if (dir) {
		rewinddir(dir);
		emit_names(answer, dir);
		closedir(dir);
	} else if (fd >= 0) {
		close(fd);
	}
}

/* ---- programs ---- */

static void execute(int fd, const char *path, int out)
{
	char *const arguments[] = { (char *)"program", NULL };
	char *const none[] = { NULL };

	dup2(out, 1);
	syscall(SYS_execveat, fd, path, arguments, none, fd >= 0 ? AT_EMPTY_PATH : 0);
	dprintf(1, "%s", strerrorname_np(errno));
	_exit(126);
}

/* What the program prints. */
static void emit_run(char *answer, int fd, const char *path)
{
	char text[200] = "";
	size_t used = 0;
	int ends[2], status;
	pid_t child;

	if (pipe2(ends, O_CLOEXEC) < 0) {
		answer_result(answer, -1);
		return;
	}
	child = fork();
	if (child == 0)
		execute(fd, path, ends[1]);
	close(ends[1]);
	for (ssize_t n; (n = read(ends[0], text + used, sizeof(text) - 1 - used)) > 0;)
		used += n;
	close(ends[0]);
	waitpid(child, &status, 0);
	text[strcspn(text, "\n")] = '\0';
	answer_text(answer, "%s%s", status ? "" : "ok ", text[0] ? text : "killed");
}

static void do_exec(char **w, char *answer)
{
	emit_run(answer, AT_FDCWD, place(w[0]).text);
}

static void do_fexec(char **w, char *answer)
{
	emit_run(answer, slot_fd(w[0]), "");
}

const struct command path_commands[] = {
	{ "open", 3, do_open },
	{ "chmod", 2, do_chmod },
	{ "chown", 3, do_chown },
	{ "utimens", 2, do_utimens },
	{ "truncate", 2, do_truncate },
	{ "setxattr", 3, do_setxattr },
	{ "getxattr", 2, do_getxattr },
	{ "removexattr", 2, do_removexattr },
	{ "link", 2, do_link },
	{ "symlink", 2, do_symlink },
	{ "unlink", 1, do_unlink },
	{ "rmdir", 1, do_rmdir },
	{ "mkdir", 2, do_mkdir },
	{ "mknod", 2, do_mknod },
	{ "rename", 3, do_rename },
	{ "stat", 1, do_stat },
	{ "lstat", 1, do_lstat },
	{ "fstat", 1, do_fstat },
	{ "access", 2, do_access },
	{ "readlink", 1, do_readlink },
	{ "statfs", 1, do_statfs },
	{ "chdir", 1, do_chdir },
	{ "list", 1, do_list },
	{ "flist", 1, do_flist },
	{ "exec", 1, do_exec },
	{ "fexec", 1, do_fexec },
	{ 0 },
};
