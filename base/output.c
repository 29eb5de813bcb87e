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
#include "base/place.h"
#include "base/trace_file.h"

/* link: 0, or O_NOFOLLOW. */
static bool is_trace(int dir, const char *name, int link)
{
	cleanup_fd int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | link);

	return fd >= 0 && trace_file_is(fd);
}

/* A trace, or a file that SQLite keeps beside it. */
static int check_trace(int dir, const char *name)
{
	size_t len = strlen(name), n;
	bool found = is_trace(dir, name, O_NOFOLLOW);

	for (int i = TRACE_FILE_LOG; i < TRACE_FILE_MAX && !found; i++) {
		cleanup_free char *trace = NULL;

		n = strlen(trace_file_suffix[i]);
		if (len <= n || strcmp(name + len - n, trace_file_suffix[i]) != 0)
			continue;
		trace = strndup(name, len - n);
		if (!trace)
			return -ENOMEM;
		found = is_trace(dir, trace, O_NOFOLLOW);
	}
	return found ? OUTPUT_IS_TRACE : 0;
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
		is_trace(o->dir, o->name, 0))
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
	mode_t mode = keeps ? old->st_mode & 0777 : 0666;
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
		return open_special(o, &st);
	r = is_there ? check_trace(o->dir, o->name) : 0;
	return r < 0 ? r : open_temporary(o, is_there ? &st : NULL);
}

static void forget(struct output *o)
{
	if (o->dir >= 0)
		close(o->dir);
	free(o->name);
	free(o->temporary);
}

int output_open(const char *file, struct output *ret_output)
{
	struct output o = { .file = file, .dir = -1 };

	if (strcmp(file, "-") == 0) {
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

int output_close(struct output *output, int r)
{
	if (close(output->fd) < 0 && r >= 0)
		r = -errno;
	if (r >= 0 && output->temporary &&
		renameat(output->dir, output->temporary, output->dir, output->name) < 0)
		r = -errno;
	if (r < 0 && output->temporary)
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
