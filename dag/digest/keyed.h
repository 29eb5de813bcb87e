/* SPDX-License-Identifier: MIT */
#ifndef DAG_DIGEST_KEYED_H
#define DAG_DIGEST_KEYED_H

/* Numbers that stand for texts: the same for the same key and text, and without the key nothing is known of the text.  By Nettle. */

#include <stddef.h>
#include <stdint.h>

/* The first 64 bits of HMAC-SHA-256 of the n-th number for the text. */
uint64_t keyed_number(const void *key, size_t key_len, const char *text, size_t len, uint32_t n);

#endif
