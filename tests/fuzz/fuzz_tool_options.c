/* SPDX-License-Identifier: MIT */

/* Command lines of wfstat, wfreport and of all that wfdag does: a line is a word. */

#include <getopt.h>

#include "dag/check/options.h"
#include "dag/diff/options.h"
#include "dag/generate/options.h"
#include "dag/report/options.h"
#include "dag/stat/options.h"
#include "dag/wfdag/options.h"
#include "tests/fuzz/fuzz.h"

#define TRY(what, type, bytes)                                             \
	do {                                                               \
		struct fuzz_words words;                                   \
		type options;                                              \
		int status = -1;                                           \
		fuzz_words_read(&words, #what, &(bytes));                  \
		optind = 0;                                                \
		if (!what##_parse(words.n, words.word, &options, &status)) \
			FUZZ_ASSERT(status >= 0 && status <= 2);           \
		what##_finish(&options);                                   \
		fuzz_words_free(&words);                                   \
	} while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_bytes bytes = { data, size };

	switch (fuzz_byte(&bytes) % 6) {
	case 0:
		TRY(stat_options, struct stat_options, bytes);
		break;
	case 1:
		TRY(dag_options, struct dag_options, bytes);
		break;
	case 2:
		TRY(check_options, struct check_cli, bytes);
		break;
	case 3:
		TRY(diff_options, struct diff_options, bytes);
		break;
	case 4:
		TRY(report_options, struct report_options, bytes);
		break;
	default:
		TRY(generate_options, struct generate_options, bytes);
	}
	return 0;
}
