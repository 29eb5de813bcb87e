/* SPDX-License-Identifier: MIT */
#ifndef DAG_OUTPUT_JSON_H
#define DAG_OUTPUT_JSON_H

/*
 * What several writers and readers of JSON need beside Jansson.
 *
 * A value is put together by hundreds of calls, each of which may find no memory and then leaves out what it was to
 * add.  json_memory_failed() tells of all of them at once, when the value is complete.
 *
 * Threads: any.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct json_t;

/* Before the first value is made, by main(). */
void json_memory_watch(void);
bool json_memory_failed(void);

/* A string, with U+FFFD for what is not UTF-8; a new reference.  NULL: out of memory. */
struct json_t *json_text(const char *bytes, size_t len);

/*
 * Reads an array of objects from in.  For each object, take() gets the texts of two members; NULL: there is no such
 * text.  A negative result of take() ends it.  0, the result of take(), or -EPROTO: the input is no JSON.
 */
int json_read_pairs(FILE *in, const char *const names[2], int (*take)(void *arg, const char *const texts[2]), void *arg);

#endif
