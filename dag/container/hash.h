/* SPDX-License-Identifier: MIT */
#ifndef DAG_CONTAINER_HASH_H
#define DAG_CONTAINER_HASH_H

/* Labels of 64 bits that are the same in each run of the program, and for all traces.  Labels of things
 * without an order are added up. */

#include <stddef.h>
#include <stdint.h>

#define HASH_BEGIN UINT64_C(0xcbf29ce484222325)

/* All bits of the result depend on all of the number (the end of MurmurHash3). */
static inline uint64_t hash_mix(uint64_t x)
{
	x ^= x >> 33;
	x *= UINT64_C(0xff51afd7ed558ccd);
	x ^= x >> 33;
	x *= UINT64_C(0xc4ceb9fe1a85ec53);
	return x ^ x >> 33;
}

static inline uint64_t hash_pair(uint64_t a, uint64_t b)
{
	return hash_mix(hash_mix(a) * 31 + b);
}

/* FNV-1a, to be continued. */
static inline uint64_t hash_bytes(uint64_t hash, const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (unsigned char)bytes[i]) * UINT64_C(0x100000001b3);
	return hash;
}

#endif
