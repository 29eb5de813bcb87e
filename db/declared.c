/* SPDX-License-Identifier: MIT */
#include "db/declared.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <uthash.h>

#include "base/cleanup.h"
#include "db/paths.h"
#include "db/store.h"

/* A target that is there, by its id. */
struct declared {
	int64_t target, directory;
	UT_hash_handle hh;
};

struct intake {
	struct store *store;
	struct paths *paths;
	char *line; /* the last one read */
	size_t room;
	int64_t target;
	struct declared *declared;
	const char *from; /* the directory of prerequisites if the target is already there, from another one; else NULL */
	int64_t lost; /* files that are not notes or cannot be read */
};

static int intern(struct intake *in, const char *text, size_t len, int64_t *ret_id)
{
	struct path path;
	int r = paths_intern(in->paths, text, len, &path);

	if (r == 0)
		*ret_id = path.id;
	return r;
}

/* 1: in->line has the next line, without its end; 0: there is none; or -errno. */
static int read_line(struct intake *in, FILE *f)
{
	ssize_t len = getline(&in->line, &in->room, f);

	if (len < 0)
		return feof(f) ? 0 : -errno;
	if (len > 0 && in->line[len - 1] == '\n')
		in->line[len - 1] = '\0';
	return 1;
}

/* Where the stem is in the target; make does not say it: at the begin of a name or, else, at the end.  NULL: nowhere. */
static const char *find_stem(const char *target, const char *stem)
{
	const char *last = NULL;

	for (const char *at = target; *stem && (at = strstr(at, stem)); at++) {
		if (at == target || at[-1] == '/')
			return at;
		last = at;
	}
	return last;
}

/* The target with % instead of the stem. */
static int put_rule(struct intake *in, const char *target, const char *stem, struct value *ret_rule)
{
	const char *at = find_stem(target, stem), *slash = strrchr(stem, '/');
	cleanup_free char *rule = NULL;
	int64_t id = 0;
	int r;

	*ret_rule = V_NULL;
	if (!at && slash) /* a pattern without a folder */
		at = find_stem(target, stem = slash + 1);
	if (!at)
		return 0;
	if (asprintf(&rule, "%.*s%%%s", (int)(at - target), target, at + strlen(stem)) < 0) {
		rule = NULL;
		return -ENOMEM;
	}
	r = intern(in, rule, strlen(rule), &id);
	*ret_rule = V_INT(id);
	return r;
}

/* 1: the target is new; 0: it is not; or -ENOMEM. */
static int add_declared(struct intake *in, int64_t directory_id, const char *directory)
{
	struct declared *declared;

	HASH_FIND(hh, in->declared, &in->target, sizeof(in->target), declared);
	in->from = declared && declared->directory != directory_id ? directory : NULL;
	if (declared)
		return !in->from;
	declared = malloc(sizeof(*declared));
	if (!declared)
		return -ENOMEM;
	*declared = (struct declared){ .target = in->target, .directory = directory_id };
	HASH_ADD(hh, in->declared, target, sizeof(declared->target), declared);
	return declared->hh.tbl ? 1 : -ENOMEM;
}

static void forget_declared(struct intake *in)
{
	struct declared *declared, *next;

	HASH_ITER(hh, in->declared, declared, next) {
		HASH_DEL(in->declared, declared);
		free(declared);
	}
}

static int put_target(struct intake *in, const char *directory, const char *name, const char *stem)
{
	struct value rule;
	size_t len = strlen(directory) + 1 + strlen(name);
	cleanup_free char *key = malloc(len + 1);
	int64_t directory_id = 0, name_id = 0;
	int r;

	if (!key)
		return -ENOMEM;
	snprintf(key, len + 1, "%s/%s", directory, name);
	r = intern(in, key, len, &in->target);
	if (r == 0)
		r = intern(in, directory, strlen(directory), &directory_id);
	if (r == 0)
		r = add_declared(in, directory_id, directory);
	if (r <= 0)
		return r;
	r = intern(in, name, strlen(name), &name_id);
	if (r == 0)
		r = put_rule(in, name, stem, &rule);
	return r < 0 ? r
		     : store_put(in->store, PUT_TARGET,
			       (struct value[]){
				       V_INT(in->target), V_INT(directory_id), V_INT(name_id), rule });
}

/* Names are relative to the directory of the target. */
static int intern_prerequisite(struct intake *in, const char *name, size_t len, int64_t *ret_id)
{
	cleanup_free char *path = NULL;

	if (!in->from || *name == '/')
		return intern(in, name, len, ret_id);
	if (asprintf(&path, "%s/%.*s", in->from, (int)len, name) < 0) {
		path = NULL;
		return -ENOMEM;
	}
	return intern(in, path, strlen(path), ret_id);
}

static int put_prerequisites(struct intake *in)
{
	bool order_only = in->line[0] == '|';
	const char *at = in->line + order_only;
	int64_t id;
	int r = 0;

	while (r == 0 && *(at += strspn(at, " \t"))) {
		size_t len = strcspn(at, " \t");

		r = intern_prerequisite(in, at, len, &id);
		if (r == 0)
			r = store_put(in->store, PUT_PREREQUISITE,
				(struct value[]){
					V_INT(in->target), V_INT(id), V_INT(order_only) });
		at += len;
	}
	return r;
}

static int take_note(struct intake *in, FILE *f)
{
	cleanup_free char *directory = strdup(in->line + strlen(DECLARED_MARK)), *target = NULL;
	int r = directory ? 0 : -ENOMEM;

	if (r == 0)
		r = read_line(in, f);
	if (r <= 0 || !in->line[0])
		return r < 0 ? r : 0;
	target = strdup(in->line);
	r = target ? read_line(in, f) : -ENOMEM;
	if (r <= 0)
		return r;
	r = put_target(in, directory, target, in->line);
	for (int i = 0; i < 2 && r == 0; i++)
		if ((r = read_line(in, f)) > 0)
			r = put_prerequisites(in);
	return r;
}

/* The traced programs may put anything into the directory.  So this reads regular files only, never blocks, and limits the
 * size of a file. */
static int take_file(struct intake *in, int directory, const char *name)
{
	cleanup_fd int fd = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	cleanup_file FILE *f = NULL;
	struct stat st;
	int r;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > DECLARED_BYTES_MAX) {
		in->lost++;
		return 0;
	}
	f = fdopen(fd, "r");
	if (!f)
		return -errno;
	steal_fd(&fd);
	while ((r = read_line(in, f)) > 0)
		if (strncmp(in->line, DECLARED_MARK, strlen(DECLARED_MARK)) == 0 &&
			(r = take_note(in, f)) < 0)
			break;
	return r;
}

static int is_note(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* Names are ids of processes: those that began last come first. */
static int take_files(struct intake *in, const char *directory)
{
	cleanup_fd int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct dirent **entries = NULL;
	int n = fd < 0 ? 0 : scandirat(fd, ".", &entries, is_note, versionsort), r = n < 0 ? -errno : 0;

	if (fd < 0)
		in->lost++; /* the build may have removed it */
	for (; n > 0; n--) {
		if (r == 0)
			r = take_file(in, fd, entries[n - 1]->d_name);
		free(entries[n - 1]);
	}
	free(entries);
	return r;
}

int declared_store(struct store *store, struct paths *paths, const char *directory)
{
	struct intake in = { .store = store, .paths = paths };
	int r = take_files(&in, directory);

	free(in.line);
	forget_declared(&in);
	if (r == 0 && in.lost)
		r = store_put_meta(store, "notes_lost", V_INT(in.lost));
	return r;
}
