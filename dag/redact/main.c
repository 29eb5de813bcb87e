/* SPDX-License-Identifier: MIT */
#include "dag/redact/redact.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/cleanup.h"
#include "base/complete.h"
#include "base/err.h"
#include "base/failure.h"
#include "base/output.h"
#include "base/place.h"
#include "dag/redact/dictionary.h"
#include "dag/redact/names.h"
#include "dag/trace/traces.h"
#include "db/about.h"
#include "db/query.h"

#define KEY_BYTES 4096 /* of a file: at most */

struct redact_options {
	const char *output, *map, *key;
	struct words traces, keep;
	bool keep_system, keep_extensions, shift_times, foreign, force;
};

struct redaction {
	const struct redact_options *options;
	struct dictionary *dictionary;
	unsigned char key[KEY_BYTES];
	size_t key_len;
	int map_dir; /* where its file is made */
	char *map_name;
};

/* ---- the command line ---- */

enum long_option { LONG_KEEP = 256, LONG_KEEP_SYSTEM, LONG_KEEP_EXTENSIONS, LONG_MAP, LONG_KEY, LONG_SHIFT_TIMES };

static const struct option long_options[] = {
	{ "output", required_argument, NULL, 'o' },
	{ "keep", required_argument, NULL, LONG_KEEP },
	{ "keep-system", no_argument, NULL, LONG_KEEP_SYSTEM },
	{ "keep-extensions", no_argument, NULL, LONG_KEEP_EXTENSIONS },
	{ "map", required_argument, NULL, LONG_MAP },
	{ "key", required_argument, NULL, LONG_KEY },
	{ "shift-times", no_argument, NULL, LONG_SHIFT_TIMES },
	{ "foreign", no_argument, NULL, TRACES_FOREIGN },
	TRACES_OUTPUT_OPTIONS,
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ NULL, 0, NULL, 0 },
};

static const char help[] =
"Usage: ftrac redact -o FILE [options] TRACE\n"
"\n"
"Makes a trace without names of another one, to be given away: in paths,\n"
"arguments, variables, hosts and users each name becomes a word that says\n"
"nothing, the same everywhere. What processes did to which file, when, and what\n"
"led to what stays.\n"
"\n"
"Examples:\n"
"  ftrac redact -o public.db trace.db\n"
"  ftrac redact -o public.db --keep-system --map names.txt trace.db\n"
"\n"
"Options:\n"
"  -o, --output FILE      the new trace; it is there when it is complete\n"
"      --keep GLOB        leave names, and all names of paths and arguments, that\n"
"                         GLOB matches (repeatable)\n"
"      --keep-system      leave the names in paths of the system, like /usr\n"
"      --keep-extensions  leave extensions of files, like .fits\n"
"      --shift-times      move the run to another time, years ago\n"
"      --key FILE         make words by this key: other traces get the same words\n"
"                         by it (default: a new key each time, which is not kept)\n"
"      --map FILE         write which word stands for which name; only you may\n"
"                         read FILE\n"
"      --force            replace files that are there\n"
"      --foreign          read a trace that belongs to another user, too\n"
CLI_COMPLETE_HELP
"  -h, --help             print this\n"
"  -V, --version          print the version\n"
"\n"
"Exit status: 0, 1 (an error), 2 (wrong usage).  See ftrac(1), REDACT.\n";

static int apply(void *options, int option, const char *value)
{
	struct redact_options *o = options;

	switch (option) {
	case 'o': o->output = value; return 0;
	case LONG_KEEP: return words_add(&o->keep, value);
	case LONG_KEEP_SYSTEM: o->keep_system = true; return 0;
	case LONG_KEEP_EXTENSIONS: o->keep_extensions = true; return 0;
	case LONG_MAP: o->map = value; return 0;
	case LONG_KEY: o->key = value; return 0;
	case LONG_SHIFT_TIMES: o->shift_times = true; return 0;
	case TRACES_FOREIGN: o->foreign = true; return 0;
	case TRACES_FORCE:
		o->force = true;
		output_force();
		return 0;
	default: return -1;
	}
}

static int finish(void *options, char **words)
{
	struct redact_options *o = options;
	int status = words_add_all(&o->traces, words);

	if (status)
		return status;
	if (!o->output)
		return err_status(EXIT_USAGE, "-o is missing: name the file for the new trace");
	if (o->traces.n > 1)
		return err_status(EXIT_USAGE, "several traces are given: redact one, or make one of them by 'ftrac merge'");
	return o->traces.n ? 0 : err_status(EXIT_USAGE, "no trace is given: name the one to be redacted");
}

static void print_help(void)
{
	fputs(help, stdout);
}

static bool parse(int argc, char **argv, struct redact_options *options, int *ret_status)
{
	static const struct complete_value values[] = { { "output", COMPLETE_FILE, false, NULL, NULL },
		{ "map", COMPLETE_FILE, false, NULL, NULL }, { "key", COMPLETE_FILE, false, NULL, NULL }, { NULL, 0, false, NULL, NULL } };
	static const struct completions completions = { values, NULL, COMPLETE_FILES };
	static const struct cli cli = { "ftrac redact", about_print, long_options, print_help, apply, finish, &completions };

	return cli_parse(&cli, argc, argv, options, ret_status);
}

/* ---- what stays ---- */

static bool is_of_system(const char *path)
{
	static const char *const directories[] = { "bin", "etc", "lib", "lib32", "lib64", "libx32", "proc", "sbin", "sys", "usr" };
	size_t len = path[0] == '/' ? strcspn(path + 1, "/") : 0;

	for (size_t i = 0; len && i < sizeof(directories) / sizeof(directories[0]); i++)
		if (strlen(directories[i]) == len && strncmp(path + 1, directories[i], len) == 0)
			return strncmp(path, "/usr/local/", 11) != 0;
	return false;
}

static bool is_chosen(const struct words *globs, const char *text)
{
	for (int i = 0; i < globs->n; i++)
		if (fnmatch(globs->word[i], text, 0) == 0)
			return true;
	return false;
}

static int keep_names(struct redaction *r, const char *text, size_t len)
{
	struct name name;
	int status = 0;

	for (size_t at = 0; at < len && status == 0; at += name.len) {
		char word[256];

		name = name_at(text, len, at);
		if (name.kind == NAME_NONE || name.len >= sizeof(word))
			continue;
		snprintf(word, sizeof(word), "%.*s", (int)name.len, text + at);
		if (is_chosen(&r->options->keep, word))
			status = dictionary_keep(r->dictionary, text + at, name.len, false);
	}
	return status;
}

static int keep(struct redaction *r, enum query_text_kind kind, const char *text, size_t len)
{
	cleanup_free char *copy = strndup(text, len);
	int status = copy ? 0 : -ENOMEM;

	if (status == 0 && is_chosen(&r->options->keep, copy))
		status = dictionary_keep(r->dictionary, text, len, false);
	if (status == 0 && kind == QUERY_TEXT_PATH && r->options->keep_system && is_of_system(copy))
		status = dictionary_keep(r->dictionary, text, len, true);
	if (status == 0 && kind == QUERY_TEXT_PATH && r->options->keep_extensions)
		status = dictionary_keep_extension(r->dictionary, text, len);
	return status == 0 && r->options->keep.n ? keep_names(r, text, len) : status;
}

static int see(void *arg, enum query_text_kind kind, const char *text, size_t len)
{
	static const enum dictionary_how hows[] = { [QUERY_TEXT_PATH] = DICTIONARY_PATH, [QUERY_TEXT_OWNER] = DICTIONARY_OWNER,
		[QUERY_TEXT_NUMBER] = DICTIONARY_STAYS, [QUERY_TEXT_OTHER] = DICTIONARY_OTHER };
	struct redaction *r = arg;
	int status = dictionary_see(r->dictionary, hows[kind], text, len);

	return status == 0 && len ? keep(r, kind, text, len) : status;
}

static int put(void *arg, const char *text, size_t len, const char **ret_text, size_t *ret_len)
{
	return dictionary_put(((struct redaction *)arg)->dictionary, text, len, ret_text, ret_len);
}

/* ---- the key ---- */

static int read_key(struct redaction *r, struct failure *failure)
{
	const char *file = r->options->key;
	cleanup_file FILE *in = fopen(file, "re");

	if (in)
		r->key_len = fread(r->key, 1, sizeof(r->key), in);
	if (!in || ferror(in))
		return failure_set(failure, -errno, "cannot read the key '%s': %s; name a file with random bytes", file, strerror(errno));
	if (r->key_len < DICTIONARY_KEY_LEAST)
		return failure_set(failure, FAILURE_USAGE, "the key '%s' is too short: make one of %d bytes or more, by 'head -c 32 /dev/urandom >%s'", file,
			DICTIONARY_KEY_LEAST, file);
	return 0;
}

static int make_key(struct redaction *r, struct failure *failure)
{
	if (r->options->key)
		return read_key(r, failure);
	r->key_len = 32;
	if (getrandom(r->key, r->key_len, 0) != (ssize_t)r->key_len)
		return failure_set(failure, -EIO, "cannot make a key: %s; give one by --key", strerror(errno));
	return 0;
}

/* ---- the list of words ---- */

/* An empty file that is ours alone. */
static int open_map(struct redaction *r, int *ret_fd, struct failure *failure)
{
	const char *file = r->options->map;
	int status = r->map_dir = place_open(file, false, &r->map_name);

	if (status >= 0 && r->options->force)
		status = place_clear(r->map_dir, r->map_name);
	if (status >= 0)
		status = *ret_fd = place_create(r->map_dir, r->map_name, 0600);
	if (status == -EEXIST)
		return failure_set(failure, status, "'%s' is there already: name another file with --map, or replace it with --force", file);
	return status < 0 ? failure_set(failure, status, "cannot write '%s': %s; name another file with --map", file, place_explain(status)) : 0;
}

static int write_map(const struct redaction *r, int fd, struct failure *failure)
{
	FILE *out = fdopen(fd, "w");
	bool failed;

	if (!out) {
		close(fd);
		return failure_memory(failure);
	}
	dictionary_print(r->dictionary, out);
	failed = ferror(out);
	if (fclose(out) == 0 && !failed)
		return 0;
	return failure_set(failure, -errno, "cannot write '%s': %s; name another file with --map", r->options->map, strerror(errno));
}

/* ---- the trace ---- */

/* Waits while its writer completes it. */
static int check(const struct redact_options *o, struct failure *failure)
{
	struct query_db *db = NULL;
	int r = traces_open(&o->traces, o->foreign ? QUERY_FOREIGN : 0, err_print, &db, failure);

	if (r == 0 && !query_path(db))
		r = failure_set(failure, FAILURE_USAGE, "'%s' has several traces, or none: make one of them by 'ftrac merge'", o->traces.word[0]);
	if (r == 0 && query_fact(db, "complete", 0) != 1 && query_fact(db, "merged", 0) < 1)
		r = failure_set(failure, -EINVAL, "'%s' is not complete: make a trace of what it has by 'ftrac merge -o FILE %s', and redact that",
			o->traces.word[0], o->traces.word[0]);
	query_close(db);
	return r;
}

static int copy(struct redaction *r, int fd, struct failure *failure)
{
	const struct query_texts texts = { r, see, put, r->options->shift_times ? dictionary_shift_ns(r->dictionary) : 0 };
	struct query_db *db = NULL;
	int status = query_redact(r->options->traces.word[0], r->options->foreign ? QUERY_FOREIGN : 0, &texts, fd, &db);

	if (status < 0)
		failure_set(failure, status, "%s", query_error(db));
	query_close(db);
	return status;
}

static int write_trace(struct redaction *r, struct failure *failure)
{
	const char *file = r->options->output;
	struct output out;
	int status = output_open_trace(file, &out);

	if (status == 0)
		status = output_close(&out, copy(r, out.fd, failure));
	return status < 0 && !failure->code ? failure_set(failure, status, "cannot write '%s': %s", file, place_explain(status)) : status;
}

static int write_both(struct redaction *r, struct failure *failure)
{
	int fd = -1, status = r->options->map ? open_map(r, &fd, failure) : 0;

	if (status == 0)
		status = write_trace(r, failure);
	if (fd < 0)
		return status;
	if (status == 0)
		status = write_map(r, fd, failure);
	else
		close(fd);
	if (status < 0)
		place_clear(r->map_dir, r->map_name);
	return status;
}

static int redact(const struct redact_options *o)
{
	struct redaction r = { .options = o, .map_dir = -1 };
	struct failure failure = { 0 };
	int status = check(o, &failure);

	if (status == 0)
		status = make_key(&r, &failure);
	if (status == 0 && !(r.dictionary = dictionary_create(r.key, r.key_len)))
		status = failure_memory(&failure);
	if (status == 0)
		write_both(&r, &failure);
	dictionary_destroy(r.dictionary);
	explicit_bzero(r.key, sizeof(r.key));
	if (r.map_dir >= 0)
		close(r.map_dir);
	free(r.map_name);
	return failure_status(&failure);
}

int redact_main(int argc, char **argv)
{
	struct redact_options options = { 0 };
	int status;

	cli_begin();
	if (parse(argc, argv, &options, &status))
		status = redact(&options);
	words_free(&options.traces);
	words_free(&options.keep);
	return status;
}
