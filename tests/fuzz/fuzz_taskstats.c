/* SPDX-License-Identifier: MIT */

/* Datagrams of taskstats, of any version.  The first byte is what is known of the kernel: its lowest bits
 * what it counts. */

#include <errno.h>

#include "procmon/taskstats.h"
#include "tests/fuzz/fuzz.h"

#define FAMILY 23 /* that of the corpus */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_bytes bytes = { data, size };
	unsigned kernel = fuzz_byte(&bytes);
	struct taskstats_input input = {
		.family = FAMILY, .delays = kernel & 1, .storage = kernel & 2
	};
	struct taskstats_record record;
	void *messages = malloc(bytes.left); /* aligned, and nothing behind it */
	int r = 1;

	memcpy(messages, bytes.at, bytes.left);
	input.messages = messages;
	input.messages_left = (int)bytes.left;
	while (r > 0 || r == -EBADMSG) {
		r = taskstats_parse(&input, &record);
		if (r > 0)
			FUZZ_ASSERT(strnlen(record.comm, sizeof(record.comm)) <
				    sizeof(record.comm));
	}
	free(messages);
	return 0;
}
