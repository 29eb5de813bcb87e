/* SPDX-License-Identifier: MIT */
#ifndef INPUT_H
#define INPUT_H

#include <stddef.h>

/*
 * Reads all of a file ("-": of the standard input). The text ends with a NUL that does not count;
 * the caller frees it. NULL: errno says why.
 */
char *input_read(const char *path, size_t *ret_len);

#endif
