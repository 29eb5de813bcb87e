/* SPDX-License-Identifier: MIT */
#include "dag/digest/keyed.h"

#include <nettle/hmac.h>
#include <nettle/version.h>

uint64_t keyed_number(const void *key, size_t key_len, const char *text, size_t len, uint32_t n)
{
	const uint8_t count[4] = { n >> 24, n >> 16, n >> 8, n };
	struct hmac_sha256_ctx context;
	uint8_t digest[SHA256_DIGEST_SIZE];
	uint64_t number = 0;

	hmac_sha256_set_key(&context, key_len, key);
	hmac_sha256_update(&context, sizeof(count), count);
	hmac_sha256_update(&context, len, (const uint8_t *)text);
#if NETTLE_VERSION_MAJOR < 4
	hmac_sha256_digest(&context, sizeof(digest), digest);
#else
	hmac_sha256_digest(&context, digest);
#endif
	for (int i = 0; i < 8; i++)
		number = number << 8 | digest[i];
	return number;
}
