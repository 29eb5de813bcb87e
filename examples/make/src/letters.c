/* SPDX-License-Identifier: MIT */
#include "letters.h"

#include <ctype.h>

void letters_count(struct letters *letters, const char *text, size_t len)
{
	*letters = (struct letters){ 0 };
	for (size_t i = 0; i < len; i++) {
		int c = tolower((unsigned char)text[i]);

		if (c < 'a' || c > 'z')
			continue;
		letters->count[c - 'a']++;
		letters->total++;
	}
}
