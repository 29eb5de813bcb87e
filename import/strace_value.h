/* SPDX-License-Identifier: MIT */
#ifndef IMPORT_STRACE_VALUE_H
#define IMPORT_STRACE_VALUE_H

/*
 * Arguments as strace writes them -> values.
 *
 * Pure; texts that have to be changed are in the arena.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "import/strace_line.h"
#include "import/world.h"

/* "text", with its escapes; *ret_is_cut: strace has left out the rest (-s).  The caller sees a NUL behind it.  False: it is no string
 * (an address, NULL), or there is no memory. */
bool strace_string(struct arena *arena, struct text text, const char **ret_string, size_t *ret_len, bool *ret_is_cut);

/* A string that is a path.  NULL: it is none. */
const char *strace_path(struct arena *arena, struct text text);

/* "3</path>", "AT_FDCWD".  Without a number: WORLD_NO_FD. */
struct world_fd strace_fd(struct arena *arena, struct text text);

/* What stands between the brackets behind a descriptor. */
struct world_fd strace_shown(struct arena *arena, int32_t number, struct text shown);

/* Decimal, octal, hexadecimal.  False: it begins with something else. */
bool strace_number(struct text text, int64_t *ret_number);
int64_t strace_number_or(struct text text, int64_t otherwise);

/* Flags joined by "|", of which names are in one of these lists. */
uint32_t strace_open_flags(struct text text);
uint32_t strace_map_flags(struct text protection, struct text flags); /* protection | flags << 8 */
uint32_t strace_rename_flags(struct text text);
bool strace_has_flag(struct text text, const char *flag);

/* The type in what stat(2) has shown: "{st_mode=S_IFREG|0644, ..."; 0: it has none. */
uint32_t strace_type(struct text text);

/* The sum of all iov_len. */
uint64_t strace_vector(struct text text);

/* The elements of "[3, 4]", or of ["a", "b"...]. */
int strace_elements(struct text text, struct text *ret_elements, int most);

/* ["sh", "-c", "true"] as NUL-ended words; *ret_is_cut: some are not whole.  False: it is no such list, or there is no memory. */
bool strace_words(struct arena *arena, struct text text, const char **ret_words, size_t *ret_len, bool *ret_is_cut);

#endif
