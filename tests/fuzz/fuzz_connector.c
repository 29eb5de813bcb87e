/* SPDX-License-Identifier: MIT */

/* Datagrams of the process connector. */

#include "procmon/connector.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *at = (const char *)data;
	struct connector_event event;
	size_t left = size;

	while (connector_parse(&at, &left, &event) > 0)
		FUZZ_ASSERT(event.kind <= CONNECTOR_ACK);
	FUZZ_ASSERT(at >= (const char *)data && at + left == (const char *)data + size);
	return 0;
}
