/* SPDX-License-Identifier: MIT */
#include "dag/load/prepare.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/failure.h"

#define BLOCK ((size_t)1 << 20)

struct preparation {
	const struct plan *plan;
	char *noise; /* BLOCK bytes; NULL: files are sparse */
	int32_t *first_name; /* of each file */
	struct prepare_counts *counts;
};

static int fill(int fd, char *noise, int64_t size)
{
	while (size > 0) {
		size_t part = size < (int64_t)BLOCK ? (size_t)size : BLOCK;
		ssize_t n;

		/* No two blocks are the same. */
		for (size_t at = 0; at < part; at += 256)
			if (getrandom(noise + at, part - at < 256 ? part - at : 256, 0) < 0)
				return -errno;
		n = write(fd, noise, part);
		if (n <= 0)
			return n < 0 ? -errno : -ENOSPC;
		size -= n;
	}
	return 0;
}

static int make_file(struct preparation *p, const char *name, int64_t size)
{
	cleanup_fd int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0755);
	int r = fd < 0 ? -errno : 0;

	if (r < 0 || size <= 0)
		return r;
	if (ftruncate(fd, size) < 0)
		return -errno;
	p->counts->bytes += (uint64_t)size;
	return p->noise ? fill(fd, p->noise, size) : 0;
}

static int make_link(const char *name, int64_t size)
{
	char target[4096];
	size_t n = size <= 0 ? 1 : size < (int64_t)sizeof(target) ? (size_t)size : sizeof(target) - 1;

	memset(target, 'x', n);
	target[n] = '\0';
	return symlink(target, name) < 0 ? -errno : 0;
}

static int make_directory(struct preparation *p, const char *name)
{
	p->counts->directories++;
	return mkdir(name, 0755) < 0 ? -errno : 0;
}

static int make(struct preparation *p, int32_t path)
{
	const struct plan_path *name = &p->plan->paths[path];
	const struct plan_file *file = name->file >= 0 ? &p->plan->files[name->file] : NULL;

	if (name->is_directory || (file && file->kind == KIND_DIRECTORY))
		return make_directory(p, name->text);
	if (file && file->kind == KIND_LINK) {
		p->counts->links++;
		return make_link(name->text, file->size);
	}
	p->counts->files++;
	if (file && file->kind == KIND_FILE) {
		int32_t *first = &p->first_name[name->file];

		if (*first > 0)
			return linkat(AT_FDCWD, p->plan->paths[*first].text, AT_FDCWD, name->text, 0) < 0 ? -errno : 0;
		*first = path;
		return make_file(p, name->text, file->size);
	}
	return make_file(p, name->text, 0);
}

/* Whether there is room for all bytes. */
static int check_room(const struct plan *plan, bool fill_files, struct failure *failure)
{
	struct statvfs fs;
	double need = 0;

	if (!fill_files || statvfs(".", &fs) < 0)
		return 0;
	for (int32_t path = 0; path < plan->n_paths; path++) {
		const struct plan_path *name = &plan->paths[path];

		if (name->is_there && !name->is_directory && name->file >= 0 && plan->files[name->file].size > 0)
			need += (double)plan->files[name->file].size;
	}
	if (need <= (double)fs.f_bavail * (double)fs.f_frsize)
		return 0;
	return failure_set(failure, -ENOSPC, "the files need %.0f bytes, and the directory has room for %.0f: leave out --fill, or name another one", need,
		(double)fs.f_bavail * (double)fs.f_frsize);
}

static bool is_of_machine(int error)
{
	return error == -ENOSPC || error == -EDQUOT || error == -EIO || error == -ENOMEM || error == -EROFS;
}

int load_prepare(const struct plan *plan, bool fill_files, struct prepare_counts *counts, struct failure *failure)
{
	cleanup_free char *noise = fill_files ? calloc(1, BLOCK) : NULL;
	cleanup_free int32_t *first_name = calloc((size_t)plan->n_files + 1, sizeof(*first_name));
	struct preparation p = { .plan = plan, .noise = noise, .first_name = first_name, .counts = counts };
	int r = check_room(plan, fill_files, failure);

	if (!first_name || (fill_files && !noise))
		return failure_memory(failure);
	for (int32_t path = 1; r == 0 && path < plan->n_paths; path++) {
		int made = plan->paths[path].is_there ? make(&p, path) : 0;

		if (is_of_machine(made))
			r = failure_set(failure, made, "cannot prepare '%s': %s", plan->paths[path].text, strerror(-made));
		else if (made < 0)
			counts->failed++;
	}
	return r;
}
