/* SPDX-License-Identifier: MIT */
#include "base/formats.h"

#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"

static const char *ending_of(const struct format *format)
{
	return format->ending ? format->ending : format->option;
}

static bool ends_with(const char *file, const char *ending)
{
	size_t n = strlen(file), len = strlen(ending);

	return n > len && file[n - len - 1] == '.' && strcmp(file + n - len, ending) == 0;
}

int formats_find(const struct format *formats, const char *file)
{
	for (int i = 0; formats[i].option; i++)
		if (ends_with(file, ending_of(&formats[i])))
			return i;
	return -1;
}

static int refuse_value(const struct formats *f, int format, const char *value)
{
	const char *option = f->formats[format].option;

	return err_status(EXIT_USAGE, "--%s is a format and takes no file; give --%s -o %s", option, option, value);
}

static int set(struct formats *f, int format, const char *file)
{
	if (f->files[format] && strcmp(f->files[format], file) != 0)
		return err_status(EXIT_USAGE, "--%s has two files, '%s' and '%s'; give one", f->formats[format].option, f->files[format], file);
	f->files[format] = file;
	return 0;
}

static int close_pending(struct formats *f)
{
	int format = f->pending;

	f->pending = -1;
	return format < 0 ? 0 : set(f, format, "-");
}

int formats_option(struct formats *f, int format, const char *value)
{
	int status = value ? refuse_value(f, format, value) : close_pending(f);

	if (status == 0 && !f->files[format]) /* -o x.svg --svg */
		f->pending = format;
	return status;
}

int formats_file(struct formats *f, const char *file)
{
	int format = f->pending >= 0 ? f->pending : formats_find(f->formats, file);

	f->pending = -1;
	if (format < 0)
		return err_status(EXIT_USAGE, "the name '%s' does not tell its format; give one before -o, as --%s", file, f->formats[0].option);
	return set(f, format, file);
}

/* --svg x.svg, as it was once. */
static bool looks_like_output(const struct formats *f, const char *word)
{
	return ends_with(word, ending_of(&f->formats[f->pending])) || (access(word, F_OK) < 0 && !ends_with(word, "db"));
}

/* --make - TRACE: stdout, as without it. */
static void drop_dash(char **words)
{
	if (*words && strcmp(*words, "-") == 0)
		for (char **word = words; *word; word++)
			word[0] = word[1];
}

int formats_finish(struct formats *f, char **words)
{
	if (f->pending >= 0)
		drop_dash(words);
	if (f->pending >= 0 && *words && looks_like_output(f, *words))
		return refuse_value(f, f->pending, *words);
	if (f->pending >= 0 && f->formats[f->pending].is_binary && isatty(STDOUT_FILENO))
		return err_status(EXIT_USAGE, "--%s is nothing for a terminal; give -o FILE", f->formats[f->pending].option);
	return close_pending(f);
}
