/* SPDX-License-Identifier: MIT */
#include "dag/digest/sha256.h"

#include <errno.h>
#include <nettle/sha2.h>
#include <nettle/version.h>
#include <stdio.h>
#include <unistd.h>

#define BLOCK (64 << 10)

static void finish(struct sha256_ctx *context, char text[SHA256_TEXT])
{
	unsigned char digest[SHA256_DIGEST_SIZE];

#if NETTLE_VERSION_MAJOR < 4
	sha256_digest(context, sizeof(digest), digest);
#else
	sha256_digest(context, digest);
#endif
	for (int i = 0; i < SHA256_DIGEST_SIZE; i++)
		snprintf(text + 2 * i, 3, "%02x", digest[i]);
}

int sha256_of(int fd, char ret_text[SHA256_TEXT])
{
	struct sha256_ctx context;
	unsigned char block[BLOCK];
	ssize_t n;

	sha256_init(&context);
	while ((n = read(fd, block, sizeof(block))) != 0) {
		if (n > 0)
			sha256_update(&context, (size_t)n, block);
		else if (errno != EINTR)
			return -errno;
	}
	finish(&context, ret_text);
	return 0;
}
