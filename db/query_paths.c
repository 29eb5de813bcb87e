/* SPDX-License-Identifier: MIT */
#include "db/query_paths.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/trace_file.h"
#include "base/vector.h"

struct search {
	struct query_db *db;
	struct query_paths *paths;
	struct stat *seen; /* what was named, and what was found */
	int n_seen;
	bool has_except, has_trace; /* has_trace: there is one in the directory, be it known already */
};

static bool is_directory(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* The file that is none of them is the first one. */
static bool is_seen(struct search *search, const struct stat *st)
{
	for (int i = 0; i < search->n_seen; i++)
		if (search->seen[i].st_ino == st->st_ino && search->seen[i].st_dev == st->st_dev) {
			search->has_trace |= i || !search->has_except;
			return true;
		}
	return false;
}

static int add(struct search *search, const char *path)
{
	return vector_push(search->paths->path, search->paths->n, path);
}

static int fail(struct search *search, int error, const char *path)
{
	return query_fail(search->db, error, "cannot read '%s': %s; it may be a trace, or a directory with traces", path,
		strerror(-error));
}

static int add_found(struct search *search, const char *path, const struct stat *st)
{
	char *copy = strdup(path);

	if (!copy || vector_push(search->paths->found, search->paths->n_found, copy) < 0) {
		free(copy);
		return fail(search, -ENOMEM, path);
	}
	return vector_push(search->seen, search->n_seen, *st) < 0 || add(search, copy) < 0 ? fail(search, -ENOMEM, path) : 0;
}

/* A file, or a link to one. */
static int on_file(struct search *search, const char *path)
{
	cleanup_fd int fd = -1;
	struct stat st;

	if (stat(path, &st) < 0 || !S_ISREG(st.st_mode) || is_seen(search, &st))
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return errno == ENOENT ? 0 : fail(search, -errno, path);
	if (!trace_file_is(fd))
		return 0;
	search->has_trace = true;
	return add_found(search, path, &st);
}

static int on_entry(struct search *search, const FTSENT *entry)
{
	switch (entry->fts_info) {
	case FTS_F:
	case FTS_SL:
		return on_file(search, entry->fts_path);
	case FTS_DNR:
	case FTS_ERR:
	case FTS_NS:
		return entry->fts_errno == ENOENT ? 0 : fail(search, -entry->fts_errno, entry->fts_path);
	default:
		return 0;
	}
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

static int search_directory(struct search *search, const char *path)
{
	char *const roots[] = { (char *)path, NULL };
	FTS *fts = fts_open(roots, FTS_COMFOLLOW | FTS_PHYSICAL | FTS_NOCHDIR, by_name);
	int r = fts ? 0 : fail(search, -errno, path);
	FTSENT *entry;

	search->has_trace = false;
	errno = 0;
	while (r == 0 && (entry = fts_read(fts)))
		r = on_entry(search, entry);
	if (fts)
		fts_close(fts);
	return r < 0 || search->has_trace
		       ? r
		       : query_fail(search->db, -ENOENT,
				 "there is no trace in the directory '%s'%s; make one with 'ftrac run -- COMMAND'", path, "");
}

/* What is named itself is not found once more. */
static int see_named(struct search *search, const char *const *given, int n)
{
	struct stat st;

	for (int i = 0; i < n; i++)
		if (stat(given[i], &st) == 0 && S_ISREG(st.st_mode) && vector_push(search->seen, search->n_seen, st) < 0)
			return -ENOMEM;
	return 0;
}

int query_paths_find(struct query_db *db, const char *const *given, int n, const struct stat *except, struct query_paths *ret_paths)
{
	struct search search = { .db = db, .paths = ret_paths, .has_except = except };
	int r = 0;

	*ret_paths = (struct query_paths){ 0 };
	if (except)
		r = vector_push(search.seen, search.n_seen, *except);
	if (r >= 0)
		r = see_named(&search, given, n);
	for (int i = 0; i < n && r >= 0; i++)
		r = is_directory(given[i]) ? search_directory(&search, given[i]) : add(&search, given[i]);
	free(search.seen);
	return r == -ENOMEM ? fail(&search, r, given[0]) : r < 0 ? r : 0;
}

void query_paths_finish(struct query_paths *paths)
{
	for (int i = 0; i < paths->n_found; i++)
		free(paths->found[i]);
	free(paths->found);
	free(paths->path);
}
