/* SPDX-License-Identifier: MIT */

/* Command lines of ftrac and of ftrac run, mount options among them: a line is a word. */

#include <getopt.h>

#include "base/cli.h"
#include "ftrac/options.h"
#include "tests/fuzz/fuzz.h"

typedef int parse_fn(int argc, char **argv, struct options *options, int *ret_status);

static void parse(parse_fn *function, const char *name, struct fuzz_bytes bytes)
{
	struct fuzz_words words;
	struct options options;
	int status = -1;

	fuzz_words_read(&words, name, &bytes);
	optind = 0;
	if (function(words.n, words.word, &options, &status) != 0)
		FUZZ_ASSERT(status >= 0 && status < 128);
	options_finish(&options);
	fuzz_words_free(&words);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_bytes bytes = { data, size };
	char *text = strndup((const char *)data, size);
	int wait_ms;

	parse(options_parse, "ftrac", bytes);
	parse(options_parse_run, "run", bytes);
	cli_parse_wait(text, &wait_ms);
	free(text);
	return 0;
}
