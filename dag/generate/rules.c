/* SPDX-License-Identifier: MIT */
#include "dag/generate/rules.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/cli.h"
#include "base/output.h"
#include "base/utf8.h"
#include "base/vector.h"

struct build {
	const struct jobs *jobs;
	bool (*says)(const char *name);
	struct rules *rules;
	int32_t *rule_of; /* of each job; JOBS_NONE: it is left out */
};

/* ---- texts ---- */

/* Takes a text of malloc(), and frees it with the rules. */
static const char *own(struct rules *rules, char *text)
{
	if (!text || vector_push(rules->texts, rules->n_texts, text) < 0) {
		free(text);
		return NULL;
	}
	return text;
}

/* ---- commands ---- */

/* What stands between a command and another one behind it, which must not become part of a comment, or of
 * nothing. */
static const char *separator(const char *script)
{
	size_t len = strlen(script);

	for (size_t i = 0; i < len; i++)
		if (script[i] == '\n' ||
			(script[i] == '#' && (i == 0 || strchr(" \t;&|()", script[i - 1]))))
			return "\n";
	while (len && strchr(" \t", script[len - 1]))
		len--;
	return len && strchr("&\\;", script[len - 1]) ? "\n" : "; ";
}

/* The text of a shell runs by one of its own where something stands behind it, which it could leave, or hide by a
 * comment. */
static void put_script(const struct job *job, bool more, FILE *out)
{
	if (!job->shell || !more) {
		fputs(job->script, out);
		return;
	}
	cli_put_quoted(job->shell, out);
	fputs(" -c ", out);
	cli_put_quoted(job->script, out);
}

void rules_put_move(const char *cwd, FILE *out)
{
	fputs(cwd[0] == '-' ? "cd ./" : "cd ", out);
	cli_put_quoted(cwd, out);
	fputs(" || exit; ", out);
}

/* A job that failed need not fail the workflow, if it did not then. */
char *rules_command(const struct job *job, const char *stamp)
{
	char *text = NULL;
	bool moves = job->cwd && strcmp(job->cwd, ".") != 0, more = stamp || job->status > 0;
	const char *between = job->shell ? "; " : separator(job->script);
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	if (moves) {
		fputs(stamp ? "(" : "", out);
		rules_put_move(job->cwd, out);
	}
	put_script(job, more, out);
	if (moves && stamp)
		fprintf(out, "%s)", between[0] == '\n' ? "\n" : "");
	if (job->status > 0)
		fprintf(out, "%strue", between);
	if (stamp)
		fprintf(out, "%s[ $? -eq 0 ] && : >%s", between, stamp);
	return output_close_text(out, &text);
}

/* Where a backslash takes the end of a line away, it is left out. */
static void join_lines(const char *command, FILE *out)
{
	char quote = '\0';

	for (const char *at = command; *at; at++) {
		if (*at == '\\' && at[1] == '\n' && quote != '\'') {
			at++;
			continue;
		}
		if (*at == '\\' && quote != '\'' && at[1])
			fputc(*at++, out);
		else if (quote ? *at == quote : *at == '\'' || *at == '"')
			quote = quote ? '\0' : *at;
		fputc(*at, out);
	}
}

/* Writes a character of n bytes, or a byte that is part of none (n is 0), for printf's %b inside of single quotes. */
static void put_printed(const char *at, size_t n, FILE *out)
{
	if (n > 1)
		fwrite(at, 1, n, out);
	else if (*at == '\n')
		fputs("\\n", out);
	else if (*at == '\\')
		fputs("\\\\", out);
	else if (*at == '\'')
		fputs("'\\''", out);
	else if (n == 0 || ((unsigned char)*at < ' ' && *at != '\t') || *at == 0x7f)
		fprintf(out, "\\0%03o", (unsigned char)*at);
	else
		fputc(*at, out);
}

/* The command as text for printf(1), which makes the bytes that a line of text cannot have. */
static char *print_command(const char *command)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	fputs("eval \"$(printf %b '", out);
	for (size_t left = strlen(command), n; left; left -= n ? n : 1, command += n ? n : 1) {
		n = utf8_char(command, left);
		put_printed(command, n, out);
	}
	fputs("')\"", out);
	return output_close_text(out, &text);
}

char *rules_one_line(const char *command)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	join_lines(command, out);
	text = output_close_text(out, &text);
	if (!text || utf8_is_text(text, "\t"))
		return text;
	free(text);
	return print_command(command);
}

static bool is_of_name(char byte)
{
	return isalnum((unsigned char)byte) || (byte && strchr("_.-+~", byte)) ||
	       (unsigned char)byte >= 0x80;
}

/* Does a path begin at this place of the text?  An option may stand before it, as in -I/usr, or \n of printf. */
static bool begins_path(const char *text, const char *at)
{
	const char *from = at;

	while (from > text && is_of_name(from[-1]))
		from--;
	if (from < at && *from == 'n' && from > text && from[-1] == '\\')
		return from + 1 == at;
	return (from == at || *from == '-') && (from == text || !strchr("/)}", from[-1]));
}

/* Does the path of the root stand at this place of the text, and not as a part of another name? */
static bool is_root(const struct rules *rules, const char *text, const char *at, size_t len)
{
	return len > 1 && strncmp(at, rules->root, len) == 0 && !is_of_name(at[len]) &&
	       begins_path(text, at);
}

void rules_write(const struct rules *rules, const char *text, const char *here,
	const char *(*escape)(const char *at), FILE *out)
{
	size_t len = strlen(rules->root);

	for (const char *at = text; *at;) {
		const char *instead = escape ? escape(at) : NULL;

		if (here && is_root(rules, text, at, len)) {
			fputs(here, out);
			at += len;
			continue;
		}
		if (instead)
			fputs(instead, out);
		else
			fputc(*at, out);
		at++;
	}
}

/* ---- what is needed and made ---- */

static int add_name(const char ***names, int32_t *n, const char *name)
{
	return vector_push(*names, *n, name);
}

bool rules_has_effect(const struct job *job)
{
	return job->script && (job->changes || job->n_deps + job->n_inputs + job->n_outputs > 0);
}

static int add_stamp(struct rule *rule)
{
	if (asprintf(&rule->stamp, RULES_STAMPS "/%s", rule->job->name) < 0) {
		rule->stamp = NULL;
		return -ENOMEM;
	}
	return add_name(&rule->makes, &rule->n_makes, rule->stamp);
}

static int add_rule(struct build *b, int32_t index)
{
	const struct job *job = &b->jobs->jobs[index];
	struct rule *rule = &b->rules->rules[b->rules->n_rules];
	int r = 0;

	b->rule_of[index] = JOBS_NONE;
	if (!rules_has_effect(job)) {
		b->rules->left_out++;
		return 0;
	}
	*rule = (struct rule){ .job = job };
	b->rule_of[index] = b->rules->n_rules++;
	for (int32_t i = 0; i < job->n_targets && r == 0; i++)
		if (b->says(b->jobs->files[job->targets[i]].path))
			r = add_name(&rule->makes, &rule->n_makes,
				b->jobs->files[job->targets[i]].path);
	if (rule->n_makes == 0 && r == 0)
		r = add_stamp(rule);
	rule->command = rules_command(job, rule->stamp);
	return rule->command ? r : -ENOMEM;
}

static int compare_numbers(const void *x, const void *y)
{
	int32_t a = *(const int32_t *)x, b = *(const int32_t *)y;

	return (a > b) - (a < b);
}

/* In ascending order. */
static bool contains(const int32_t *numbers, int32_t n, int32_t number)
{
	return vector_find(&number, numbers, (size_t)n, sizeof(number), compare_numbers) != NULL;
}

/* Does a job make a file that another one reads after it? */
static bool makes_for(const struct build *b, int32_t producer, const struct job *job, int32_t file)
{
	const struct job *maker = &b->jobs->jobs[producer];

	return b->rule_of[producer] != JOBS_NONE && contains(job->deps, job->n_deps, producer) &&
	       contains(maker->targets, maker->n_targets, file);
}

/* Files that were there, or that one job makes; needed_by[]: of each job, the rule that already
 * needs something of it. */
static int add_inputs(struct build *b, int32_t index, struct rule *rule, int32_t *needed_by)
{
	const struct job *job = &b->jobs->jobs[index];
	int r = 0;

	for (int32_t i = 0; i < job->n_inputs && r == 0; i++) {
		const struct job_file *file = &b->jobs->files[job->inputs[i]];
		int32_t producer = file->producer;

		if (!b->says(file->path))
			continue;
		if (producer != JOBS_NONE && makes_for(b, producer, job, job->inputs[i])) {
			needed_by[producer] = index;
			r = add_name(&rule->needs, &rule->n_needs, file->path);
		} else if (file->source && !file->written && file->kept && file->plain && file->fits) {
			r = add_name(&rule->needs, &rule->n_needs, file->path);
		}
	}
	return r;
}

/* Does another one that must have ended before wait for it already? */
static bool is_implied(const struct build *b, const struct job *job, int32_t other)
{
	for (int32_t i = 0; i < job->n_deps; i++) {
		const struct job *between = &b->jobs->jobs[job->deps[i]];

		if (b->rule_of[job->deps[i]] != JOBS_NONE &&
			contains(between->deps, between->n_deps, other))
			return true;
	}
	return false;
}

static int add_needs(struct build *b, int32_t *needed_by)
{
	int r = 0;

	for (int32_t i = 0; i < b->jobs->n_jobs && r == 0; i++) {
		const struct job *job = &b->jobs->jobs[i];
		struct rule *rule = &b->rules->rules[b->rule_of[i]];

		if (b->rule_of[i] == JOBS_NONE)
			continue;
		r = add_inputs(b, i, rule, needed_by);
		for (int32_t j = 0; j < job->n_deps && r == 0; j++) {
			int32_t other = b->rule_of[job->deps[j]];

			if (other != JOBS_NONE && needed_by[job->deps[j]] != i &&
				!is_implied(b, job, job->deps[j]))
				r = add_name(&rule->needs, &rule->n_needs,
					b->rules->rules[other].makes[0]);
		}
	}
	return r;
}

/* ---- directories ---- */

static bool is_made(const struct jobs *jobs, const char *directory)
{
	for (int32_t i = 0; i < jobs->n_files; i++)
		if (jobs->files[i].directory && strcmp(jobs->files[i].path, directory) == 0 &&
			!jobs->files[i].source)
			return true;
	return false;
}

static int compare_names(const void *x, const void *y)
{
	return strcmp(*(const char *const *)x, *(const char *const *)y);
}

static int add_directory(struct rules *rules, const char *path)
{
	const char *slash = strrchr(path, '/'), *directory;

	if (!slash || slash == path)
		return 0;
	directory = own(rules, strndup(path, (size_t)(slash - path)));
	return directory ? add_name(&rules->directories, &rules->n_directories, directory)
			 : -ENOMEM;
}

static int find_directories(struct build *b)
{
	struct rules *rules = b->rules;
	const char **all;
	int32_t n = 0;
	int r = 0;

	for (int32_t i = 0; i < b->jobs->n_jobs && r == 0; i++)
		for (int32_t j = 0; j < b->jobs->jobs[i].n_outputs && r == 0; j++)
			r = add_directory(rules, b->jobs->files[b->jobs->jobs[i].outputs[j]].path);
	for (int32_t i = 0; i < rules->n_rules && r == 0; i++)
		if (rules->rules[i].stamp)
			r = add_directory(rules, rules->rules[i].stamp);
	all = rules->directories;
	if (rules->n_directories)
		qsort(all, (size_t)rules->n_directories, sizeof(char *), compare_names);
	for (int32_t i = 0; i < rules->n_directories; i++)
		if ((i + 1 == rules->n_directories || strcmp(all[i], all[i + 1]) != 0) &&
			!is_made(b->jobs, all[i]))
			all[n++] = all[i];
	rules->n_directories = n;
	return r;
}

/* ---- the whole ---- */

static int build(struct build *b)
{
	size_t n = (size_t)b->jobs->n_jobs + 1;
	cleanup_free int32_t *needed_by = malloc(n * sizeof(*needed_by));
	int r = 0;

	b->rule_of = malloc(n * sizeof(*b->rule_of));
	b->rules->rules = calloc(n, sizeof(*b->rules->rules));
	if (!needed_by || !b->rule_of || !b->rules->rules)
		r = -ENOMEM;
	for (int32_t i = 0; i < b->jobs->n_jobs && r == 0; i++) {
		needed_by[i] = JOBS_NONE;
		r = add_rule(b, i);
	}
	if (r == 0)
		r = add_needs(b, needed_by);
	if (r == 0)
		r = find_directories(b);
	free(b->rule_of);
	return r;
}

int rules_create(const struct jobs *jobs, bool (*says)(const char *name), struct rules **ret_rules)
{
	struct build b = { .jobs = jobs, .says = says, .rules = calloc(1, sizeof(*b.rules)) };
	int r = b.rules ? 0 : -ENOMEM;

	if (r == 0) {
		b.rules->root = jobs->root;
		r = build(&b);
	}
	if (r < 0) {
		rules_destroy(b.rules);
		return r;
	}
	*ret_rules = b.rules;
	return 0;
}

void rules_destroy(struct rules *rules)
{
	if (!rules)
		return;
	for (int32_t i = 0; i < rules->n_rules; i++) {
		free(rules->rules[i].stamp);
		free(rules->rules[i].command);
		free(rules->rules[i].needs);
		free(rules->rules[i].makes);
	}
	for (int32_t i = 0; i < rules->n_texts; i++)
		free(rules->texts[i]);
	free(rules->texts);
	free(rules->directories);
	free(rules->rules);
	free(rules);
}
