/* SPDX-License-Identifier: MIT */
#ifndef PROCMON_ENVIRON_H
#define PROCMON_ENVIRON_H

/*
 * Which environment variables of a traced process are stored. Environments hold passwords and
 * tokens. So this is a list of allowed names, not of forbidden ones: the names by which workflow
 * managers and batch systems identify a job, and the names that the user adds.
 *
 * Pure; any thread.
 */

#include <stdbool.h>
#include <stddef.h>

/* more: further allowed names, as shell patterns; NULL-terminated; may be NULL. */
bool environ_allowed(const char *name, const char *const *more);

/*
 * vars has the format of /proc/PID/environ: NAME=VALUE, each terminated by NUL. Keeps the allowed
 * variables, compacts them in place, and returns the new length. An entry without '=' or without
 * its NUL is dropped.
 */
size_t environ_filter(char *vars, size_t len, const char *const *more);

#endif
