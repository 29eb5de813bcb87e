/* SPDX-License-Identifier: MIT */
#ifndef PROCMON_ENVIRON_H
#define PROCMON_ENVIRON_H

/*
 * Which environment variables of a traced process may be stored.  Environments hold passwords
 * and tokens, so this is a list of what is let through, never of what is held back: the names by
 * which workflow managers and batch systems tell a job who it is, and what the user adds.
 *
 * Pure; any thread.
 */

#include <stdbool.h>
#include <stddef.h>

/* more: shell patterns of names, ended by NULL, that are let through too; may be NULL. */
bool environ_allowed(const char *name, const char *const *more);

/*
 * Keeps of vars - NAME=VALUE, each with its NUL, as /proc/PID/environ shows them - what is
 * allowed, moved together in place; its length.  What has no '=' or no NUL at its end is left out.
 */
size_t environ_filter(char *vars, size_t len, const char *const *more);

#endif
