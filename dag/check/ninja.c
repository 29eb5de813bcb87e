/* SPDX-License-Identifier: MIT */
#include "dag/check/ninja.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/cli.h"
#include "base/failure.h"
#include "base/helper.h"
#include "base/vector.h"
#include "dag/check/build.h"
#include "dag/output/json.h"

#define TARGETS_AT_ONCE 500 /* of a command line */

struct ninja {
	char *directory; /* absolute */
	struct build *build;
	struct failure *failure; /* of ninja_load() */
	struct path_names *commands;
	int32_t *of_command; /* their nodes */
	char **targets;
	size_t n_targets;
	int32_t node; /* that is being read of */
	enum build_declared kind;
	bool skips; /* what follows is about something else */
};

/* compdb writes names that are not UTF-8 as they are. */
static int set_no_json(const struct ninja *n)
{
	if (json_memory_failed())
		return failure_memory(n->failure);
	return failure_set(n->failure, -EPROTO,
		"cannot read the output of 'ninja -t compdb' in '%s': names that are not UTF-8 make it no "
		"JSON; rename these files, or give the dependencies with --declared instead",
		n->directory);
}

static int32_t node_of(struct ninja *n, const char *name)
{
	cleanup_free char *path = path_names_join(n->directory, name, strlen(name));

	return path ? build_node(n->build, path) : -ENOMEM;
}

/* ---- what ninja says, line by line ---- */

static int set_failed(const struct ninja *n, const char *tool, int error)
{
	if (error == -ENOENT)
		return failure_set(n->failure, error, "cannot run ninja: it is not installed; install it (Debian: ninja-build), or give the "
			"dependencies with --declared");
	if (error != -EPROTO)
		return failure_set(n->failure, error, "cannot run ninja: %s", strerror(-error));
	return failure_set(n->failure, error,
		"'ninja -t %s' failed in '%s': see that a build.ninja is there", tool,
		n->directory);
}

static int spawn(char *const *argv, pid_t *ret_pid, FILE **ret_f)
{
	int ends[2], r;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	r = helper_spawn(argv, -1, ends[1], ret_pid);
	close(ends[1]);
	if (r == 0 && (*ret_f = fdopen(ends[0], "r")))
		return 0;
	close(ends[0]);
	return r < 0 ? r : -ENOMEM;
}

/* words: what follows "-t TOOL", ended by NULL; at most TARGETS_AT_ONCE.  0 or -errno, with the failure set. */
static int ask(const struct ninja *n, const char *tool, char *const *words, pid_t *ret_pid, FILE **ret_f)
{
	const char *const head[] = { "ninja", "-C", n->directory, "-t", tool };
	char *argv[sizeof(head) / sizeof(head[0]) + TARGETS_AT_ONCE + 1];
	size_t n_words = sizeof(head) / sizeof(head[0]);
	int r;

	memcpy(argv, head, sizeof(head));
	for (; words && *words; words++)
		argv[n_words++] = *words;
	argv[n_words] = NULL;
	r = spawn(argv, ret_pid, ret_f);
	return r < 0 ? set_failed(n, tool, r) : 0;
}

static int take_lines(struct ninja *n, FILE *f, int (*take)(struct ninja *n, char *line))
{
	cleanup_free char *line = NULL;
	size_t room = 0;
	ssize_t len;
	int r = 0;

	while (r == 0 && (len = getline(&line, &room, f)) >= 0) {
		if (len > 0 && line[len - 1] == '\n')
			line[len - 1] = '\0';
		if (strncmp(line, "ninja: Entering directory", 25) != 0)
			r = take(n, line);
	}
	return r;
}

static int each_line(struct ninja *n, const char *tool, char *const *words,
	int (*take)(struct ninja *n, char *line))
{
	int status = 0, r;
	pid_t pid;
	FILE *f;

	r = ask(n, tool, words, &pid, &f);
	if (r < 0)
		return r;
	r = take_lines(n, f, take);
	fclose(f);
	waitpid(pid, &status, 0);
	if (r < 0)
		return failure_memory(n->failure);
	return status ? set_failed(n, tool, -EPROTO) : 0;
}

/* ---- targets ---- */

/* "NAME: RULE" */
static int take_target(struct ninja *n, char *line)
{
	char *colon = strrchr(line, ':');
	int32_t node;

	if (!colon)
		return 0;
	*colon = '\0';
	if (vector_reserve(n->targets, n->n_targets) < 0)
		return -ENOMEM;
	n->targets[n->n_targets] = strdup(line);
	if (!n->targets[n->n_targets])
		return -ENOMEM;
	n->n_targets++;
	node = node_of(n, line);
	return node < 0 ? -ENOMEM : build_call(n->build, node, n->directory, line);
}

/*
 *     NAME:
 *       input: RULE
 *         INPUT
 *         | IMPLICIT
 *         || FOR ORDER ONLY
 *       outputs:
 *         TARGET THAT NEEDS IT
 */
static int take_query(struct ninja *n, char *line)
{
	size_t indent = strspn(line, " "), len = strlen(line);
	int32_t to;

	if (indent == 0) {
		if (len > 0)
			line[len - 1] = '\0';
		n->node = node_of(n, line);
		return n->node < 0 ? -ENOMEM : 0;
	}
	if (indent == 2) {
		n->skips = strncmp(line + indent, "input:", 6) != 0;
		return 0;
	}
	if (n->skips || n->node < 0)
		return 0;
	line += indent;
	n->kind = strncmp(line, "|| ", 3) == 0 ? BUILD_ORDER : BUILD_NORMAL;
	to = node_of(n, line + (n->kind == BUILD_ORDER ? 3 : strncmp(line, "| ", 2) == 0 ? 2 : 0));
	return to < 0 ? -ENOMEM : build_declare(n->build, n->node, to, n->kind);
}

/* "NAME: #deps 2, deps mtime 1 (VALID)", then a dependency in each line. */
static int take_deps(struct ninja *n, char *line)
{
	char *head = strstr(line, ": #deps ");
	int32_t to;

	if (line[0] == '\0')
		return 0;
	if (line[0] != ' ' && head) {
		*head = '\0';
		n->node = node_of(n, line);
		return n->node < 0 ? -ENOMEM : 0;
	}
	if (line[0] != ' ' || n->node < 0)
		return 0;
	to = node_of(n, line + strspn(line, " "));
	return to < 0 ? -ENOMEM : build_declare(n->build, n->node, to, BUILD_DEPFILE);
}

static int ask_queries(struct ninja *n)
{
	char *words[TARGETS_AT_ONCE + 1];
	int r = 0;

	for (size_t at = 0; at < n->n_targets && r == 0; at += TARGETS_AT_ONCE) {
		size_t count =
			n->n_targets - at < TARGETS_AT_ONCE ? n->n_targets - at : TARGETS_AT_ONCE;

		memcpy(words, n->targets + at, count * sizeof(*words));
		words[count] = NULL;
		r = each_line(n, "query", words, take_query);
	}
	return r;
}

/* ---- commands ---- */

static int take_command(void *arg, const char *const texts[2])
{
	struct ninja *n = arg;
	const char *command = texts[0], *output = texts[1];
	int32_t before = path_names_count(n->commands), number;

	if (!command || !output)
		return 0;
	number = path_names_add(n->commands, command, strlen(command));
	if (number < before) /* the same for several: the first, or -ENOMEM */
		return number < 0 ? -ENOMEM : 0;
	if (vector_reserve(n->of_command, number) < 0)
		return -ENOMEM;
	n->of_command[number] = node_of(n, output);
	return n->of_command[number] < 0 ? -ENOMEM : 0;
}

static int ask_commands(struct ninja *n)
{
	static const char *const members[] = { "command", "output" };
	pid_t pid;
	FILE *f;
	int status = 0, r = ask(n, "compdb", NULL, &pid, &f);

	if (r < 0)
		return r;
	r = json_read_pairs(f, members, take_command, n);
	fclose(f);
	waitpid(pid, &status, 0);
	if (status)
		return set_failed(n, "compdb", -EPROTO);
	if (r == -EPROTO)
		return set_no_json(n);
	return r < 0 ? failure_memory(n->failure) : 0;
}

/* The only line that 'commands -s' has. */
static int take_command_line(struct ninja *n, char *line)
{
	const char *const texts[] = { line, build_path(n->build, n->node) };

	return take_command(n, texts);
}

/* compdb leaves out what has no inputs. */
static int ask_rest(struct ninja *n)
{
	int r = 0;

	for (size_t i = 0; i < n->n_targets && r == 0; i++) {
		char *words[] = { (char *)"-s", n->targets[i], NULL };

		n->node = node_of(n, n->targets[i]);
		if (n->node < 0)
			return failure_memory(n->failure);
		if (n->build->nodes[n->node].n_edges == 0)
			r = each_line(n, "commands", words, take_command_line);
	}
	return r;
}

/* ---- the whole ---- */

int ninja_load(const char *directory, struct build *build, struct ninja **ret_ninja,
	struct failure *failure)
{
	char *all[] = { (char *)"all", NULL };
	struct ninja *n = calloc(1, sizeof(*n));
	int r;

	*ret_ninja = n;
	if (!n)
		return failure_memory(failure);
	n->build = build;
	n->failure = failure;
	n->node = BUILD_NONE;
	n->directory = realpath(directory, NULL);
	n->commands = path_names_create();
	if (!n->directory)
		return failure_set(failure, -errno, "cannot find '%s': %s", directory,
			strerror(errno));
	if (!n->commands)
		return failure_memory(n->failure);
	build->is_complete = true;
	r = each_line(n, "targets", all, take_target);
	if (r == 0)
		r = ask_queries(n);
	if (r == 0)
		r = ask_rest(n);
	n->node = BUILD_NONE;
	if (r == 0)
		r = each_line(n, "deps", NULL, take_deps);
	return r < 0 ? r : ask_commands(n);
}

void ninja_destroy(struct ninja *ninja)
{
	if (!ninja)
		return;
	for (size_t i = 0; i < ninja->n_targets; i++)
		free(ninja->targets[i]);
	free(ninja->targets);
	free(ninja->of_command);
	path_names_destroy(ninja->commands);
	free(ninja->directory);
	free(ninja);
}

int32_t ninja_find(const struct ninja *ninja, const char *command)
{
	int32_t number = path_names_find(ninja->commands, command, strlen(command));

	return number == PATH_NAMES_NONE ? BUILD_NONE : ninja->of_command[number];
}
