/* SPDX-License-Identifier: MIT */
#include "db/event.h"

#include <errno.h>
#include <string.h>

const char *const event_op_names[] = {
#define X(op, name, by_name, by_handle) #name,
	EVENT_OPS(X)
#undef X
};

const char *const event_via_names[] = { "direct", "pagecache", "writeback", "copy" };
_Static_assert(sizeof(event_via_names) / sizeof(event_via_names[0]) == VIA_MAX, "a name for each");

const char *const event_fidelity_names[] = { "exact", "cached", "open", "call" };
_Static_assert(sizeof(event_fidelity_names) / sizeof(event_fidelity_names[0]) == FIDELITY_MAX,
	"a name for each");

int event_parse_fidelity(const char *text)
{
	for (int i = 0; i < FIDELITY_MAX; i++)
		if (strcmp(text, event_fidelity_names[i]) == 0)
			return i;
	return -EINVAL;
}
