/* SPDX-License-Identifier: MIT */
/* Versions of files. */
#include "db/files.h"

#include <sys/stat.h>

#include "db/event.h"
#include "db/files_internal.h"
#include "db/procs.h"
#include "db/store.h"

/* Adds a process to a set of which only none (0), one (its id) and several or unknown (-1) are distinguished. */
static void add_user(int64_t *user, int64_t id)
{
	if (*user == 0)
		*user = id;
	else if (*user != id)
		*user = -1;
}

static void next_version(struct file *file)
{
	file->version++;
	file->writer = file->reader = 0;
	file->foreign_read = file->used = false;
}

bool file_is_stream(const struct file *file)
{
	return S_ISFIFO(file->mode) || S_ISSOCK(file->mode) || S_ISCHR(file->mode);
}

int64_t file_read(struct file *file, const struct process *process)
{
	int64_t id = process ? process->id : -1;

	add_user(&file->reader, id);
	if (id < 0 || file->writer != id)
		file->foreign_read = true;
	file->used = true;
	return file->version;
}

/*
 * A process that reads back a version of which it is the only writer continues that version; linkers do that.  A version
 * ends if another process has read it, or if this process has read in it what others wrote.
 */
int64_t file_write(struct file *file, const struct process *process)
{
	int64_t id = process ? process->id : -1;

	if ((file->foreign_read || (file->reader && (id < 0 || file->reader != id))) && !file_is_stream(file))
		next_version(file);
	add_user(&file->writer, id);
	file->used = true;
	return file->version + S_ISCHR(file->mode);
}

int64_t file_truncate(struct file *file)
{
	if (file->used && !file_is_stream(file))
		next_version(file);
	file->size_last = 0;
	return file->version;
}

/*
 * What was left in a FIFO is gone with its last end.  An open that began before that is an end, too: it waits for the other
 * end, and may return after the other end is closed again.
 */
void file_open(struct file *file, int64_t time_ns)
{
	if (S_ISFIFO(file->mode) && !file->open_handles && file->closed_ns && time_ns > file->closed_ns)
		next_version(file);
	file->open_handles++;
}

void file_close(struct file *file, int64_t time_ns)
{
	if (--file->open_handles == 0)
		file->closed_ns = time_ns;
}

void files_dirty(struct files *files, struct file *file)
{
	if (file->dirty)
		return;
	file->dirty = true;
	STAILQ_INSERT_TAIL(&files->dirty, file, next_dirty);
}

int files_flush(struct files *files)
{
	int r = 0;

	while (r == 0 && !STAILQ_EMPTY(&files->dirty)) {
		struct file *f = STAILQ_FIRST(&files->dirty);

		STAILQ_REMOVE_HEAD(&files->dirty, next_dirty);
		f->dirty = false;
		r = file_put(files, f);
	}
	return r;
}
