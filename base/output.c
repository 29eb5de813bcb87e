/* SPDX-License-Identifier: MIT */
#include "base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fd_path.h"
#include "base/place.h"
#include "base/trace_file.h"
#include "base/units.h"

static bool is_forced;

void output_force(void)
{
	is_forced = true;
}

/* link: 0, or O_NOFOLLOW. */
static bool is_a_trace(int dir, const char *name, int link)
{
	cleanup_fd int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | link);

	return fd >= 0 && trace_file_is(fd);
}

/* A trace, or a file that SQLite keeps beside it. */
static int check_trace(int dir, const char *name)
{
	size_t len = strlen(name), n;
	bool found = is_a_trace(dir, name, O_NOFOLLOW);

	for (int i = TRACE_FILE_LOG; i < TRACE_FILE_MAX && !found; i++) {
		cleanup_free char *trace = NULL;

		n = strlen(trace_file_suffix[i]);
		if (len <= n || strcmp(name + len - n, trace_file_suffix[i]) != 0)
			continue;
		trace = strndup(name, len - n);
		if (!trace)
			return -ENOMEM;
		found = is_a_trace(dir, trace, O_NOFOLLOW);
	}
	return found ? OUTPUT_IS_TRACE : 0;
}

/* A log that is left there would become a part of the new trace. */
static bool has_files_beside(int dir, const char *name)
{
	bool found = false;

	for (int i = TRACE_FILE_LOG; i < TRACE_FILE_MAX && !found; i++) {
		cleanup_free char *beside = NULL;
		struct stat st;

		if (asprintf(&beside, "%s%s", name, trace_file_suffix[i]) < 0) {
			beside = NULL;
			return true;
		}
		found = fstatat(dir, beside, &st, AT_SYMLINK_NOFOLLOW) == 0;
	}
	return found;
}

/* Whether a trace may take that name.  is_there: a regular file has it. */
static int check_for_trace(const struct output *o, bool is_there)
{
	int r = check_trace(o->dir, o->name);

	if (is_there && r == 0)
		return OUTPUT_IS_NO_TRACE;
	if (r < 0 && r != OUTPUT_IS_TRACE)
		return r;
	if (!is_there && r == OUTPUT_IS_TRACE)
		return r; /* the name of a file beside a trace */
	if (has_files_beside(o->dir, o->name))
		return OUTPUT_IS_UNFINISHED;
	return is_there && !is_forced ? OUTPUT_IS_THERE : 0;
}

/* Devices and pipes are written in place.  A link at this point is one of /proc, like /dev/stdout.  Only links may be
 * truncated: another user may have replaced the device by a file of this user. */
static int open_special(struct output *o, const struct stat *st)
{
	int flags = S_ISLNK(st->st_mode) ? O_TRUNC : O_NOFOLLOW, fd;
	struct stat now;

	if (place_is_foreign(o->dir, st))
		return -EPERM;
	if (S_ISLNK(st->st_mode) && fstatat(o->dir, o->name, &now, 0) == 0 && S_ISREG(now.st_mode) &&
		is_a_trace(o->dir, o->name, 0))
		return OUTPUT_IS_TRACE;
	fd = openat(o->dir, o->name, O_WRONLY | O_CLOEXEC | flags);
	if (fd < 0)
		return -errno;
	if (!S_ISLNK(st->st_mode) && (fstat(fd, &now) < 0 || S_ISREG(now.st_mode))) {
		close(fd);
		return -EPERM;
	}
	return fd;
}

/* A temporary file that this user left behind is replaced; any other is an error.  old: the file that will be replaced;
 * NULL: there is none. */
static int open_temporary(struct output *o, const struct stat *old)
{
	bool keeps = old && old->st_uid == geteuid();
	mode_t mode = keeps ? old->st_mode & 0777 : o->is_trace ? 0600 : 0666;
	int r, fd;

	if (asprintf(&o->temporary, "%s.part", o->name) < 0) {
		o->temporary = NULL;
		return -ENOMEM;
	}
	r = check_trace(o->dir, o->temporary);
	if (r == 0)
		r = place_clear(o->dir, o->temporary);
	if (r < 0)
		return r;
	fd = openat(o->dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
	o->is_unnamed = fd >= 0;
	if (fd < 0) /* not each file system has such files */
		fd = place_create(o->dir, o->temporary, mode);
	if (fd >= 0 && keeps)
		fchmod(fd, mode); /* the umask does not apply; if it fails, the mode is narrower */
	return fd;
}

static int open_named(struct output *o)
{
	struct stat st;
	bool is_there;
	int r;

	o->dir = place_open(o->file, true, &o->name);
	if (o->dir < 0)
		return o->dir;
	is_there = fstatat(o->dir, o->name, &st, AT_SYMLINK_NOFOLLOW) == 0;
	if (is_there && !S_ISREG(st.st_mode))
		return o->is_trace ? OUTPUT_IS_NO_TRACE : open_special(o, &st);
	if (is_there)
		o->old = st;
	r = o->is_trace ? check_for_trace(o, is_there) : is_there ? check_trace(o->dir, o->name) : 0;
	return r < 0 ? r : open_temporary(o, is_there ? &st : NULL);
}

static void forget(struct output *o)
{
	if (o->dir >= 0)
		close(o->dir);
	free(o->name);
	free(o->temporary);
}

static int open_output(const char *file, bool is_trace, struct output *ret_output)
{
	struct output o = { .file = file, .dir = -1, .is_trace = is_trace };

	if (strcmp(file, "-") == 0 && !is_trace) {
		o.fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
		o.fd = o.fd < 0 ? -errno : o.fd;
	} else {
		o.fd = open_named(&o);
	}
	if (o.fd < 0) {
		forget(&o);
		return o.fd;
	}
	*ret_output = o;
	return 0;
}

int output_open(const char *file, struct output *ret_output)
{
	return open_output(file, false, ret_output);
}

int output_open_trace(const char *file, struct output *ret_output)
{
	return open_output(file, true, ret_output);
}

/* ---- whether a file may be replaced ---- */

#define HEAD_BYTES 4096
#define SAME_BYTES 8 /* PNG and other formats have no longer signature */

/* What writers of results say of themselves, and how near the begin: farther on it may be a word of the data.  bKGD: of pictures
 * that Cairo draws, and no camera. */
static const struct {
	const char *text;
	size_t within;
} marks[] = { { "ftrac", 100 }, { "content=\"wfreport", HEAD_BYTES }, { "Generated by graphviz", HEAD_BYTES }, { "gnuplot", HEAD_BYTES },
	{ "bKGD", HEAD_BYTES } };

struct head {
	char bytes[HEAD_BYTES];
	size_t len;
};

static int read_head(int fd, struct head *ret_head)
{
	ssize_t n = fd < 0 ? -1 : pread(fd, ret_head->bytes, HEAD_BYTES, 0);

	ret_head->len = n < 0 ? 0 : (size_t)n;
	return n < 0 ? -errno : 0;
}

static bool has_mark(const struct head *head, size_t mark)
{
	size_t len = head->len < marks[mark].within ? head->len : marks[mark].within;

	return memmem(head->bytes, len, marks[mark].text, strlen(marks[mark].text));
}

static bool is_same_kind(const struct head *old, const struct head *new)
{
	size_t n = old->len < new->len ? old->len : new->len;

	if (memcmp(old->bytes, new->bytes, n < SAME_BYTES ? n : SAME_BYTES) != 0)
		return false;
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
		if (has_mark(new, i) && !has_mark(old, i))
			return false;
	return true;
}

/* 0: it may, or there is none. */
static int check_old(const struct output *o)
{
	cleanup_fd int fd = openat(o->dir, o->name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	struct head old, new;
	int r;

	if (is_forced || (fd < 0 && errno == ENOENT))
		return 0;
	r = read_head(fd, &old);
	if (r == 0 && old.len == 0)
		return 0;
	if (r == 0)
		r = read_head(o->fd, &new);
	return r < 0 ? r : is_same_kind(&old, &new) ? 0 : OUTPUT_IS_OTHER;
}

/* While the result was written, another program may have made the same, or a log. */
static int check_trace_again(const struct output *o)
{
	struct stat st;

	return check_for_trace(o, fstatat(o->dir, o->name, &st, AT_SYMLINK_NOFOLLOW) == 0);
}

static int give_name(struct output *o)
{
	if (o->is_unnamed && linkat(AT_FDCWD, fd_path(o->fd).text, o->dir, o->temporary, AT_SYMLINK_FOLLOW) < 0)
		return -errno;
	o->is_unnamed = false;
	return 0;
}

/* Without a terminal, silence is success. */
static void say_written(const char *file, off_t bytes)
{
	char size[32];

	if (!isatty(STDERR_FILENO))
		return;
	units_bytes((double)bytes, size, sizeof(size));
	err_print("%s: %s written", file, size);
}

int output_close(struct output *output, int r)
{
	bool replaces = output->temporary;
	struct stat st;

	if (r >= 0 && replaces)
		r = output->is_trace ? check_trace_again(output) : check_old(output);
	if (r >= 0 && replaces)
		r = give_name(output);
	if (r >= 0 && replaces && fstat(output->fd, &st) < 0)
		r = -errno;
	if (close(output->fd) < 0 && r >= 0)
		r = -errno;
	if (r >= 0 && replaces && renameat(output->dir, output->temporary, output->dir, output->name) < 0)
		r = -errno;
	if (r >= 0 && replaces)
		say_written(output->file, st.st_size);
	if (r < 0 && replaces && !output->is_unnamed)
		unlinkat(output->dir, output->temporary, 0);
	forget(output);
	return r;
}

FILE *output_stream(int fd)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	FILE *out = copy < 0 ? NULL : fdopen(copy, "w");
	int error = errno;

	if (!out && copy >= 0)
		close(copy);
	errno = error;
	return out;
}

char *output_close_text(FILE *out, char **text)
{
	bool failed = ferror(out);

	if (fclose(out) == 0 && !failed)
		return *text;
	free(*text);
	return NULL;
}

/* ---- stdout ---- */

static struct output replaced;
static bool is_replaced;

int output_replace_stdout(const char *file)
{
	int r;

	if (!file || strcmp(file, "-") == 0)
		return 0;
	r = output_open(file, &replaced);
	if (r == 0 && (fflush(stdout) != 0 || dup2(replaced.fd, STDOUT_FILENO) < 0))
		r = output_close(&replaced, -errno);
	if (r < 0)
		return err_status(EXIT_OWN, "cannot write '%s': %s", file, place_explain(r));
	is_replaced = true;
	return 0;
}

int output_finish_stdout(int status, bool failed)
{
	const char *file = replaced.file;
	int r = 0;

	if (!is_replaced)
		return status;
	is_replaced = false;
	if (fflush(stdout) != 0)
		r = -errno;
	r = output_close(&replaced, r == 0 && failed ? -ECANCELED : r);
	return failed || r == 0 ? status : err_status(EXIT_OWN, "cannot write '%s': %s", file, place_explain(r));
}
