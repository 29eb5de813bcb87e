/* SPDX-License-Identifier: MIT */
#include "db/metrics_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd_path.h"
#include "base/output.h"
#include "base/place.h"
#include "db/totals.h"

struct metrics_file {
	struct totals *totals;
	int dir;
	char *path; /* through dir */
	enum totals_form form;
};

static enum totals_form form_of(const char *name)
{
	static const char end[] = ".prom";
	size_t len = strlen(name), n = sizeof(end) - 1;

	return len >= n && strcmp(name + len - n, end) == 0 ? TOTALS_PROMETHEUS : TOTALS_OPENMETRICS;
}

static int write_all(int fd, const char *text, size_t len)
{
	for (ssize_t n; len > 0; text += n, len -= (size_t)n) {
		n = write(fd, text, len);
		if (n < 0)
			return -errno;
	}
	return 0;
}

/* A pipe would have us wait for its reader. */
static bool may_be_written(const struct metrics_file *file)
{
	struct stat st;

	return fstatat(file->dir, strrchr(file->path, '/') + 1, &st, AT_SYMLINK_NOFOLLOW) < 0 ? errno == ENOENT : S_ISREG(st.st_mode);
}

static int put(const struct metrics_file *file)
{
	size_t len;
	cleanup_free char *text = totals_text(file->totals, file->form, &len);
	struct output output;
	int r = !may_be_written(file) ? -EINVAL : text ? output_open(file->path, &output) : -ENOMEM;

	if (r < 0)
		return r;
	r = write_all(output.fd, text, len);
	if (r == 0 && output.temporary && fchmod(output.fd, 0644) < 0)
		r = -errno;
	return output_close(&output, r);
}

void metrics_file_write(void *arg)
{
	put(arg);
}

static int open_place(struct metrics_file *file, const char *path)
{
	cleanup_free char *name = NULL;

	file->dir = place_open(path, true, &name);
	if (file->dir < 0)
		return file->dir;
	file->form = form_of(name);
	if (asprintf(&file->path, "%s/%s", fd_path(file->dir).text, name) < 0) {
		file->path = NULL;
		return -ENOMEM;
	}
	return 0;
}

int metrics_file_open(const char *path, struct totals *totals, struct metrics_file **ret_file)
{
	struct metrics_file *file = calloc(1, sizeof(*file));
	int r = -ENOMEM;

	if (file) {
		file->dir = -1;
		file->totals = totals;
		r = open_place(file, path);
	}
	if (r == 0)
		r = put(file);
	if (r < 0) {
		metrics_file_close(file);
		file = NULL;
	}
	*ret_file = file;
	return r;
}

void metrics_file_close(struct metrics_file *file)
{
	if (!file)
		return;
	if (file->dir >= 0)
		close(file->dir);
	free(file->path);
	free(file);
}
