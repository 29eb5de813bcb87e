/* SPDX-License-Identifier: MIT */
#ifndef DAG_OUTPUT_JSON_H
#define DAG_OUTPUT_JSON_H

/*
 * What several writers and readers of JSON share, on top of Jansson.
 *
 * A value is built by hundreds of calls.  A call that finds no memory leaves out its part; json_memory_failed() reports
 * whether any call did, so that callers check once, when the value is complete.
 *
 * Threads: any.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct json_t;

/* main() calls it before the first value is made. */
void json_memory_watch(void);
bool json_memory_failed(void);

/* A string, with U+FFFD in place of bytes that are not UTF-8; a new reference.  NULL: out of memory. */
struct json_t *json_text(const char *bytes, size_t len);

/* A time since the epoch as a date of ISO 8601 in UTC, with nanoseconds or in whole seconds: a new reference.  NULL: there is no such
 * date, or out of memory. */
struct json_t *json_time(int64_t ns, bool fraction);

/* A path as a relative reference of RFC 3986, in which ':' would end a scheme: a new reference.  NULL: out of memory. */
struct json_t *json_uri(const char *path);
char *json_uri_text(const char *path); /* the same, to be freed */

/*
 * Reads an array of objects from in.  For each object, take() gets the texts of two members; NULL: the object has no such
 * text.  A negative result of take() ends the calls and is returned.  0, or -EPROTO: the input is no array in JSON.
 */
int json_read_pairs(FILE *in, const char *const names[2], int (*take)(void *arg, const char *const texts[2]), void *arg);

#endif
