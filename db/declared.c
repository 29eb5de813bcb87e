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

#include "base/cleanup.h"
#include "db/paths.h"
#include "db/store.h"

struct intake {
	struct store *store;
	struct paths *paths;
	char *line; /* the last one read */
	size_t room;
	int64_t target;
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
	int64_t id;
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
		r = intern(in, name, strlen(name), &name_id);
	if (r == 0)
		r = put_rule(in, name, stem, &rule);
	return r < 0 ? r
		     : store_put(in->store, PUT_TARGET,
			       (struct value[]){
				       V_INT(in->target), V_INT(directory_id), V_INT(name_id), rule });
}

static int put_prerequisites(struct intake *in)
{
	bool order_only = in->line[0] == '|';
	const char *at = in->line + order_only;
	int64_t id;
	int r = 0;

	while (r == 0 && *(at += strspn(at, " \t"))) {
		size_t len = strcspn(at, " \t");

		r = intern(in, at, len, &id);
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

static int take_files(struct intake *in, DIR *dir)
{
	struct dirent *entry;
	int r = 0;

	while (r == 0 && (errno = 0, entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			r = take_file(in, dirfd(dir), entry->d_name);
	return r < 0 ? r : -errno;
}

int declared_store(struct store *store, struct paths *paths, const char *directory)
{
	struct intake in = { .store = store, .paths = paths };
	DIR *dir = opendir(directory);
	int r = dir ? take_files(&in, dir) : 0;

	free(in.line);
	if (dir)
		closedir(dir);
	else
		in.lost++; /* the build may have removed it */
	if (r == 0 && in.lost)
		r = store_put_meta(store, "notes_lost", V_INT(in.lost));
	return r;
}
