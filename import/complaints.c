/* SPDX-License-Identifier: MIT */
#include "import/complaints.h"

#include <inttypes.h>

#include "base/err.h"

void complain(struct complaints *complaints, const char *file, uint64_t line, const char *reason)
{
	if (complaints->n++ < COMPLAINTS_SAID)
		err_print("%s:%" PRIu64 ": %s", file, line, reason);
}

void complaints_end(const struct complaints *complaints)
{
	if (complaints->n > COMPLAINTS_SAID)
		err_print("%" PRIu64 " more lines were not understood", complaints->n - COMPLAINTS_SAID);
}
