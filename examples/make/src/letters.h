/* SPDX-License-Identifier: MIT */
#ifndef LETTERS_H
#define LETTERS_H

#include <stddef.h>

struct letters {
	size_t count[26];
	size_t total; /* of these */
};

void letters_count(struct letters *letters, const char *text, size_t len);

#endif
