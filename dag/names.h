/* SPDX-License-Identifier: MIT */
#ifndef DAG_NAMES_H
#define DAG_NAMES_H

/* Paths as numbers, from 0 on, and what can be done with paths without looking at files. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NAMES_NONE (-1)

struct names;

struct names *names_create(void); /* NULL: out of memory */
void names_destroy(struct names *names);

/* The number of a text, a new one if it was not there; -ENOMEM. */
int32_t names_add(struct names *names, const char *text, size_t len);
/* NAMES_NONE: it is not there. */
int32_t names_find(const struct names *names, const char *text, size_t len);
const char *names_text(const struct names *names, int32_t name);
int32_t names_count(const struct names *names);

/* A name that is meant in a directory, as an absolute path without ".", ".." and "//"; to be freed.  ".."
 * takes away what is before it, also where that is a link.  NULL: out of memory. */
char *names_join(const char *directory, const char *name, size_t len);
/* An absolute path as somebody in the directory would write it: relative, unless they have nothing but
 * the root in common; to be freed. */
char *names_relative(const char *directory, const char *path);
/* Is it the directory, or below it? */
bool names_is_below(const char *directory, const char *path);
/* Behind the last '/'. */
const char *names_base(const char *path);

#endif
