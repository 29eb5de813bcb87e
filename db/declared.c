/* SPDX-License-Identifier: MIT */
#include "db/declared.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "db/paths.h"
#include "db/store.h"

struct intake {
	struct store *store;
	struct paths *paths;
	char *line; /* the one that was read last */
	size_t room;
	int64_t target;
};

static int intern(struct intake *in, const char *text, size_t len, int64_t *ret_id)
{
	struct path path;
	int r = paths_intern(in->paths, text, len, &path);

	if (r == 0)
		*ret_id = path.id;
	return r;
}

/* 1: a line without its end is in in->line; 0: there is none. */
static int read_line(struct intake *in, FILE *f)
{
	ssize_t len = getline(&in->line, &in->room, f);

	if (len < 0)
		return 0;
	if (len > 0 && in->line[len - 1] == '\n')
		in->line[len - 1] = '\0';
	return 1;
}

static int put_target(struct intake *in, const char *directory, const char *name)
{
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
	return r < 0 ? r
		     : store_put(in->store, PUT_TARGET,
			       (struct value[]){
				       V_INT(in->target), V_INT(directory_id), V_INT(name_id) });
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
	cleanup_free char *directory = strdup(in->line + strlen(DECLARED_MARK));
	int r = directory ? 0 : -ENOMEM;

	if (r < 0 || !read_line(in, f) || !in->line[0])
		return r;
	r = put_target(in, directory, in->line);
	for (int i = 0; i < 2 && r == 0 && read_line(in, f); i++)
		r = put_prerequisites(in);
	return r;
}

static int take_file(struct intake *in, int directory, const char *name)
{
	int fd = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW), r = 0;
	FILE *f = fd >= 0 ? fdopen(fd, "r") : NULL;

	if (!f) {
		if (fd >= 0)
			close(fd);
		return -errno;
	}
	while (r == 0 && read_line(in, f))
		if (strncmp(in->line, DECLARED_MARK, strlen(DECLARED_MARK)) == 0)
			r = take_note(in, f);
	fclose(f);
	return r;
}

int declared_store(struct store *store, struct paths *paths, const char *directory)
{
	struct intake in = { .store = store, .paths = paths };
	DIR *dir = opendir(directory);
	struct dirent *entry;
	int r = dir ? 0 : -errno;

	while (r == 0 && (entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			r = take_file(&in, dirfd(dir), entry->d_name);
	free(in.line);
	if (dir)
		closedir(dir);
	return r;
}
