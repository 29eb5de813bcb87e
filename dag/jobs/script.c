/* SPDX-License-Identifier: MIT */

/* How a job is started: its commands, with pipes, redirections, directories and variables, for a shell. */

#include "base/cleanup.h"
#include "base/output.h"
#include "dag/jobs/jobs_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"

struct script {
	const struct jobs *jobs;
	const struct job_command **commands; /* of one job */
	int32_t n;
	FILE *out;
	const char *shell; /* of which all is the text; NULL */
};

/* The text of a shell that was called for nothing else. */
static const char *shell_text(const struct job_command *command)
{
	char **argv = command->argv;
	const char *base = argv && argv[0] ? strrchr(argv[0], '/') : NULL;

	base = base ? base + 1 : argv ? argv[0] : NULL;
	return base && strcmp(base, "sh") == 0 && argv[1] && strcmp(argv[1], "-c") == 0 &&
			       argv[2] && !argv[3]
		       ? argv[2]
		       : NULL;
}

/* The kernel appends " (deleted)" to the name of a file that is gone; a file may also have such a name. */
static bool is_gone(const struct script *s, const char *path)
{
	static const char mark[] = " (deleted)";
	size_t len = strlen(path), behind = sizeof(mark) - 1;

	if (len < behind || strcmp(path + len - behind, mark) != 0)
		return false;
	path = jobs_short_path(s->jobs, path);
	for (int32_t i = 0; i < s->jobs->n_files; i++)
		if (strcmp(s->jobs->files[i].path, path) == 0)
			return false;
	return true;
}

static bool can_redirect(const struct script *s, const struct job_command *command, int fd)
{
	const char *to = command->to[fd];

	return jobs_redirected(command, fd) && command->lead[fd] != LEAD_NOWHERE && to[0] == '/' &&
	       (command->led[fd] != JOBS_NONE || !is_gone(s, to));
}

/* As it is seen from the directory of the command, if it is below. */
static void put_path(const struct script *s, const struct job_command *command, const char *path)
{
	size_t len = command->cwd ? strlen(command->cwd) : 0;
	bool below = len > 1 && strncmp(path, command->cwd, len) == 0 && path[len] == '/';

	cli_put_quoted(below ? path + len + 1 : path, s->out);
}

/* Was it written by another command of the job before?  Then it has been emptied. */
static bool goes_on(const struct script *s, const struct job_command *command, const char *path)
{
	for (int32_t i = 0; i < s->n && s->commands[i] != command; i++)
		for (int fd = 1; fd < 3; fd++)
			if (jobs_redirected(s->commands[i], fd) &&
				strcmp(s->commands[i]->to[fd], path) == 0)
				return true;
	return false;
}

static const char *sign_of(const struct script *s, const struct job_command *command, int fd)
{
	switch (command->lead[fd]) {
	case LEAD_OUT:
		return ">";
	case LEAD_APPEND:
		return ">>";
	case LEAD_INTO:
		return fd == 1 ? "1<>" : "<>";
	default:
		return command->append[fd] || goes_on(s, command, command->to[fd]) ? ">>" : ">";
	}
}

static void put_output(const struct script *s, const struct job_command *command, int fd)
{
	fprintf(s->out, " %s%s", fd == 2 ? "2" : "", sign_of(s, command, fd));
	put_path(s, command, command->to[fd]);
}

/* Do stdout and stderr go through the same open? */
static bool err_goes_to_out(const struct job_command *command)
{
	if (command->led[1] != JOBS_NONE && command->led[2] != JOBS_NONE)
		return command->led[1] == command->led[2];
	return command->to[1] && command->to[2] && strcmp(command->to[1], command->to[2]) == 0;
}

static void put_redirections(const struct script *s, const struct job_command *command)
{
	bool err_is_out = err_goes_to_out(command);

	if (can_redirect(s, command, 0)) {
		fputs(" <", s->out);
		put_path(s, command, command->to[0]);
	}
	if (can_redirect(s, command, 1))
		put_output(s, command, 1);
	if (jobs_redirected(command, 2) && err_is_out && jobs_redirected(command, 1) &&
		(can_redirect(s, command, 1) || command->to[1][0] != '/'))
		fputs(" 2>&1", s->out);
	else if (can_redirect(s, command, 2))
		put_output(s, command, 2);
}

static bool is_redirected(const struct script *s, const struct job_command *command)
{
	return can_redirect(s, command, 0) || can_redirect(s, command, 1) ||
	       can_redirect(s, command, 2);
}

/* An empty word in front keeps sh -c from reading the text as an option, and make from reading a flag. */
static void put_text(const struct script *s, const char *text)
{
	text += strspn(text, " \t");
	fputs(*text && strchr("-+@", *text) ? "''" : "", s->out);
	fputs(text, s->out);
}

/* alone: the job is nothing else. */
static void put_command(struct script *s, const struct job_command *command, bool alone)
{
	const char *text = shell_text(command), *cwd = s->commands[0]->cwd;
	bool moves = command->cwd && cwd && strcmp(command->cwd, cwd) != 0;

	if (moves) {
		fputs("(cd ", s->out);
		cli_put_quoted(command->cwd, s->out);
		fputs(" && ", s->out);
	}
	if (text && alone && !is_redirected(s, command) && !moves) {
		put_text(s, text);
		s->shell = command->argv[0];
		return;
	}
	for (int i = 0; command->argv[i]; i++) {
		fputs(i ? " " : "", s->out);
		(i ? cli_put_quoted : cli_put_program)(command->argv[i], s->out);
	}
	put_redirections(s, command);
	if (moves)
		fputc(')', s->out);
}

/* A pipeline, from its first command on; a circle of pipes ends where it began.  How the last one ended, as a shell says
 * it. */
static int put_pipeline(struct script *s, const struct job_command *first)
{
	const struct job_command *at = first;
	int status;

	do {
		if (at != first)
			fputs(" | ", s->out);
		put_command(s, at, s->n == 1);
		status = at->status;
		at = at->reader == JOBS_NONE ? first : &s->jobs->commands[at->reader];
	} while (at != first);
	return status;
}

/* Commands of a part run one after the other; what failed then stops nothing. */
static int32_t put_part(struct script *s, int32_t from)
{
	const char *between = "";
	int32_t i;

	for (i = from; i < s->n && s->commands[i]->part == s->commands[from]->part; i++) {
		if (s->commands[i]->piped)
			continue;
		fputs(between, s->out);
		between = put_pipeline(s, s->commands[i]) > 0 ? "; " : " && ";
	}
	return i;
}

static char *write_script(struct script *s)
{
	bool parallel = s->commands[0]->part != s->commands[s->n - 1]->part;
	char *text = NULL;
	size_t size;

	s->out = open_memstream(&text, &size);
	if (!s->out)
		return NULL;
	if (s->commands[0]->env)
		fprintf(s->out, "export %s\n", s->commands[0]->env);
	for (int32_t i = 0; i < s->n;) {
		fputs(parallel ? "{ " : "", s->out);
		i = put_part(s, i);
		fputs(parallel ? "\n} &\n" : "", s->out);
	}
	fputs(parallel ? "wait" : "", s->out);
	return output_close_text(s->out, &text);
}

static int compare_commands(const void *x, const void *y)
{
	const struct job_command *a = *(const struct job_command *const *)x,
				 *b = *(const struct job_command *const *)y;

	if (a->job != b->job)
		return a->job < b->job ? -1 : 1;
	if (a->part != b->part)
		return a->part < b->part ? -1 : 1;
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return (a->process > b->process) - (a->process < b->process);
}

static int write_job(struct jobs *jobs, const struct job_command **commands, int32_t n)
{
	struct script script = { jobs, commands, n, NULL, NULL };
	struct job *job = &jobs->jobs[commands[0]->job];

	for (int32_t i = 0; i < n; i++)
		if (!commands[i]->argv || !commands[i]->argv[0])
			return 0;
	job->script = write_script(&script);
	job->shell = script.shell;
	return job->script ? 0 : -ENOMEM;
}

int jobs_scripts(struct jobs *jobs)
{
	size_t n = (size_t)jobs->n_commands;
	cleanup_free const struct job_command **all = malloc((n + 1) * sizeof(*all));
	int r = all ? 0 : -ENOMEM;

	for (size_t i = 0; i < n && r == 0; i++)
		all[i] = &jobs->commands[i];
	if (r == 0)
		qsort(all, n, sizeof(struct job_command *), compare_commands);
	for (size_t i = 0, end; i < n && r == 0; i = end) {
		for (end = i; end < n && all[end]->job == all[i]->job; end++)
			;
		r = write_job(jobs, all + i, (int32_t)(end - i));
	}
	return r;
}
