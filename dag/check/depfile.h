/* SPDX-License-Identifier: MIT */
#ifndef DAG_CHECK_DEPFILE_H
#define DAG_CHECK_DEPFILE_H

/*
 * Dependency files, as compilers write them for make (gcc -MD): rules without recipes.  A blank in a name
 * is "\ ", '#' is "\#", '$' is "$$"; a line is continued by a backslash at its end.  Variables, comments
 * and recipes are passed over, as is what follows '=' or ';'.
 */

#include <stddef.h>

/* target and prerequisite live until the call returns; prerequisite "" says that there is none.  What it
 * returns, if not 0, ends the parsing. */
typedef int depfile_edge(void *arg, const char *target, const char *prerequisite);

/* 0, -ENOMEM, or what edge() returned. */
int depfile_parse(const char *text, size_t len, depfile_edge *edge, void *arg);

/* Does it look like one by its name? */
int depfile_is_name(const char *path);

#endif
