/* SPDX-License-Identifier: MIT */
#ifndef DAG_CONTAINER_PATH_NAMES_H
#define DAG_CONTAINER_PATH_NAMES_H

/* Paths as numbers, from 0 on, and what can be done with paths without looking at files. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PATH_NAMES_NONE (-1)

struct path_names;

struct path_names *path_names_create(void); /* NULL: out of memory */
void path_names_destroy(struct path_names *names);

/* The number of a text, a new one if it was not there; -ENOMEM. */
int32_t path_names_add(struct path_names *names, const char *text, size_t len);
/* PATH_NAMES_NONE: it is not there. */
int32_t path_names_find(const struct path_names *names, const char *text, size_t len);
const char *path_names_text(const struct path_names *names, int32_t name);
int32_t path_names_count(const struct path_names *names);

/* A name that is meant in a directory, as an absolute path without ".", ".." and "//"; to be freed.  ".."
 * takes away what is before it, also where that is a link.  NULL: out of memory. */
char *path_names_join(const char *directory, const char *name, size_t len);
/* An absolute path as it is written in that directory: relative, unless both have nothing but
 * the root in common; to be freed. */
char *path_names_relative(const char *directory, const char *path);
/* Is it the directory, or below it? */
bool path_names_is_below(const char *directory, const char *path);
/* Behind the last '/'. */
const char *path_names_base(const char *path);

#endif
