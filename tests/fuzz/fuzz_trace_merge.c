/* SPDX-License-Identifier: MIT */

/* Two traces that are taken for one, or compared, both changed: a byte for the command that reads them, then for
 * each change in which of them it is, whether of values or of tables and views, and what trace_values and
 * trace_schema have. */

#include "tests/fuzz/damage.h"

static const char *const commands[][TRACE_WORDS] = {
	{ "wfstat" },
	{ "wfstat", "io" },
	{ "wfstat", "sys", "--by", "phase" },
	{ "wfstat", "handle", "--raw" },
	{ "wfstat", "time", "--files" },
	{ "wfstat", "list" },
	{ "wfdag", "--dot", "--all" },
	{ "wfdag", "--tree", "--json" },
	{ "wfdag", "critical-path" },
	{ "wfdag", "generate", "--wfformat" },
	{ "wfdag", "check" },
	{ "wfdag", "diff", "--all" },
	{ "wfdag", "diff", "--data", "--format=json" },
	{ "wfreport", "-o", "-" },
};

int LLVMFuzzerInitialize(FUZZ_UNUSED int *argc, FUZZ_UNUSED char ***argv)
{
	damage_prepare();
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_bytes bytes = { data, size };
	unsigned command = fuzz_byte(&bytes) % (sizeof(commands) / sizeof(commands[0]));
	sqlite3 *db[2];

	fuzz_write("trace.db", trace_bytes, trace_size);
	fuzz_write("other.db", trace_bytes, trace_size);
	db[0] = damage_open("trace.db");
	db[1] = damage_open("other.db");
	for (int i = 0; i < 8 && bytes.left; i++) {
		unsigned which = fuzz_byte(&bytes);

		(which & 2 ? damage_schema : damage_value)(db[which & 1], &bytes);
	}
	sqlite3_close(db[0]);
	sqlite3_close(db[1]);
	trace_run(commands[command], "trace.db", "other.db");
	return 0;
}
