/* SPDX-License-Identifier: MIT */

/* Lines of mountinfo. */

#include "base/mountinfo.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_bytes bytes = { data, size };
	struct mountinfo mount;

	while (bytes.left) {
		char *line = fuzz_line(&bytes);

		if (mountinfo_parse(line, &mount)) {
			FUZZ_ASSERT(mount.path[0] == '/' && mount.fstype[0]);
			mountinfo_has(&mount, "ro");
			mountinfo_has(&mount, "noatime");
		}
		free(line);
	}
	return 0;
}
