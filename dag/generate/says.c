/* SPDX-License-Identifier: MIT */
#include "dag/generate/generate.h"

#include <errno.h>

#include "base/failure.h"
#include "base/utf8.h"
#include "dag/output/printable.h"

#define SHOWN 200 /* bytes of a text */

bool generate_says_utf8(const char *text)
{
	return utf8_is_text(text, UTF8_CONTROLS);
}

struct check {
	const struct jobs *jobs;
	bool (*says)(const char *text);
	const char *file; /* the first one that says() refuses; NULL: none */
};

static const char *const *find_argument(const struct check *check, const struct job *job)
{
	char **argv = job->command == JOBS_NONE ? NULL : check->jobs->commands[job->command].argv;

	for (; argv && *argv; argv++)
		if (!check->says(*argv))
			return (const char *const *)argv;
	return NULL;
}

bool generate_says_command(const struct jobs *jobs, const struct job *job,
	bool (*says)(const char *text))
{
	const struct check check = { .jobs = jobs, .says = says };

	return !find_argument(&check, job);
}

static void check_use(void *arg, int32_t index, bool input, bool output)
{
	struct check *check = arg;
	const struct job_file *file = &check->jobs->files[index];

	(void)input;
	(void)output;
	if (!check->file && !file->directory && !check->says(file->path))
		check->file = file->path;
}

static int refuse(const char *format, const char *what, const char *text, const struct job *job,
	struct failure *failure)
{
	struct printable clean = { 0 };
	const char *shown = printable_text(&clean, text);
	int r = clean.failed ? -ENOMEM
			     : failure_set(failure, -EILSEQ, "%s cannot express %s '%.*s' of %s",
				       format, what, SHOWN, shown, job->name);

	printable_finish(&clean);
	return r;
}

int generate_check(const struct jobs *jobs, const char *format, bool (*says)(const char *text),
	struct failure *failure)
{
	struct check check = { .jobs = jobs, .says = says };

	for (int32_t i = 0; i < jobs->n_jobs; i++) {
		const struct job *job = &jobs->jobs[i];
		const char *const *argument = find_argument(&check, job);

		if (argument)
			return refuse(format, "the word", *argument, job, failure);
		job_each_use(job, check_use, &check);
		if (check.file)
			return refuse(format, "the file name", check.file, job, failure);
	}
	return 0;
}
