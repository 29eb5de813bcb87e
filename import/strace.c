/* SPDX-License-Identifier: MIT */

/*
 * The output of strace, read twice.  The first time finds which thread has forked which: a child may have lines before the fork of its parent has
 * returned, and then belongs to it already.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/cli.h"
#include "base/failure.h"
#include "base/vector.h"
#include "import/source.h"
#include "import/strace_calls.h"
#include "import/strace_files.h"
#include "import/strace_value.h"

struct fork {
	int32_t child, by;
	unsigned shares;
	int64_t start_ns;
	size_t order; /* of the forks */
	bool is_done;
};

struct source {
	const char *const *files;
	int n_files;
	struct fork *forks; /* by child, then by order */
	size_t n_forks;
	struct source_facts *facts;
	struct world *world;
	struct complaints *complaints;
	struct arena arena;
	int32_t first; /* process */
	bool has_latency, has_shown, is_cut;
	bool has_time;
};

/* ---- the first time ---- */

static int add_fork(struct source *source, const struct strace_item *item, int32_t child, unsigned shares)
{
	return vector_push(source->forks, source->n_forks,
		(struct fork){ .child = child, .by = item->tid, .shares = shares, .start_ns = item->start_ns, .order = source->n_forks });
}

/* Words ended by NUL -> one line for a shell. */
static char *join_words(const char *words, size_t len)
{
	char *joined = NULL, **argv = calloc(len + 1, sizeof(*argv));
	int n = 0;

	for (size_t i = 0; argv && i < len; i += strlen(words + i) + 1)
		argv[n++] = (char *)(uintptr_t)(words + i);
	if (argv && n)
		joined = cli_join(argv);
	free(argv);
	return joined;
}

/* The first program is the command. */
static void learn_command(struct source *source, const struct strace_item *item)
{
	struct world_program program;
	bool is_cut;

	if (!source->facts->command && item->line.has_result && item->line.result == 0 &&
		strace_exec(&source->arena, &item->line, &program, &is_cut) && program.argv)
		source->facts->command = join_words(program.argv, program.argv_len);
}

/* "x" was opened as "/a/x": then the directory is "/a". */
static char *directory_by(const char *path, const char *real)
{
	size_t len = strlen(path), whole = strlen(real);

	if (path[0] == '/' || !len || real[0] != '/' || whole <= len + 1 || real[whole - len - 1] != '/' ||
		strcmp(real + whole - len, path) != 0)
		return NULL;
	return strndup(real, whole - len - 1);
}

/* Of the first process, before it changes its directory. */
static void learn_directory(struct source *source, const struct strace_item *item)
{
	struct world_call call;

	if (source->facts->cwd || item->tid != source->first)
		return;
	if (text_is(item->line.name, "getcwd") && item->line.has_result && item->line.result > 0 && item->line.n_arguments) {
		const char *path = strace_path(&source->arena, item->line.arguments[0]);

		source->facts->cwd = path && path[0] == '/' ? strdup(path) : NULL;
		return;
	}
	if (strace_call(&source->arena, item, &call) != STRACE_TAKEN)
		return;
	if (call.dir.number == AT_FDCWD && call.dir.path && call.dir.path[0] == '/')
		source->facts->cwd = strdup(call.dir.path);
	else if (call.act == WORLD_OPEN && call.result >= 0 && call.dir.number == AT_FDCWD && call.path && call.fd.path)
		source->facts->cwd = directory_by(call.path, call.fd.path);
}

static int look(void *arg, const struct strace_item *item)
{
	struct source *source = arg;
	int32_t child;
	unsigned shares;

	if (item->line.kind == STRACE_BAD)
		return 0;
	if (!source->has_time || item->start_ns < source->facts->start_ns)
		source->facts->start_ns = item->start_ns;
	source->has_time = true;
	if (!source->first)
		source->first = item->tid;
	if (item->line.kind != STRACE_CALL)
		return 0;
	arena_clear(&source->arena);
	learn_command(source, item);
	learn_directory(source, item);
	return strace_fork(&item->line, &child, &shares) ? add_fork(source, item, child, shares) : 0;
}

static int compare_forks(const void *a, const void *b)
{
	const struct fork *x = a, *y = b;

	if (x->child != y->child)
		return x->child < y->child ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

static int compare_child(const void *key, const void *element)
{
	int32_t child = *(const int32_t *)key;
	const struct fork *fork = element;

	return child <= fork->child ? -1 : 1; /* the first one with that number */
}

static void destroy(struct source *source)
{
	if (!source)
		return;
	arena_free(&source->arena);
	free(source->forks);
	free(source);
}

static int prepare(const char *const *files, int n_files, struct source_facts *facts, struct source **ret_source, struct failure *failure)
{
	struct source *source = calloc(1, sizeof(*source));
	int r;

	if (!source)
		return failure_memory(failure);
	source->files = files;
	source->n_files = n_files;
	source->facts = facts;
	*ret_source = source;
	r = strace_read(files, n_files, look, source, failure);
	if (r == 0 && !source->has_time)
		r = failure_set(failure, -EINVAL, "'%s' has no line of strace with a time; record with 'strace -f -ttt -T -yy -s 4096 -o FILE'", files[0]);
	if (source->n_forks)
		qsort(source->forks, source->n_forks, sizeof(*source->forks), compare_forks);
	return r;
}

/* ---- the second time ---- */

/* The fork that made a thread which has no lines yet. */
static struct fork *fork_of(const struct source *source, int32_t child)
{
	size_t i = vector_lower_bound(&child, source->forks, source->n_forks, sizeof(*source->forks), compare_child);

	while (i < source->n_forks && source->forks[i].child == child && source->forks[i].is_done)
		i++;
	return i < source->n_forks && source->forks[i].child == child ? &source->forks[i] : NULL;
}

/* A fork takes place while the call lasts; its child begins after that. */
static int make(struct source *source, struct fork *fork, int64_t until_ns)
{
	fork->is_done = true;
	return world_fork(source->world, fork->by, fork->child, fork->shares, fork->start_ns < until_ns ? fork->start_ns + 1 : until_ns);
}

/* The thread of the item lives: it was forked, or was there before. */
static int bring_in(struct source *source, const struct strace_item *item)
{
	struct fork *fork = world_has(source->world, item->tid) ? NULL : fork_of(source, item->tid);

	if (fork && fork->start_ns <= item->end_ns && world_has(source->world, fork->by))
		return make(source, fork, item->start_ns);
	return world_introduce(source->world, item->tid, 0, item->start_ns);
}

static int take_fork(struct source *source, const struct strace_item *item, int32_t child)
{
	struct fork *fork = fork_of(source, child);

	/* Else it was made when the child had its first line. */
	return fork && fork->by == item->tid && fork->start_ns == item->start_ns ? make(source, fork, item->end_ns) : 0;
}

static int wrong(struct source *source, const struct strace_item *item, const char *reason)
{
	complain(source->complaints, item->file, item->number, reason);
	return 0;
}

static int take_exec(struct source *source, const struct strace_item *item)
{
	struct world_program program;
	bool is_cut;

	if (!strace_exec(&source->arena, &item->line, &program, &is_cut))
		return wrong(source, item, "this call has no program");
	source->is_cut |= is_cut || !program.argv;
	source->facts->calls++;
	return world_exec(source->world, item->tid, &program, item->end_ns);
}

static int take_call(struct source *source, const struct strace_item *item)
{
	bool is_exec = text_begins(item->line.name, "execve");
	struct world_call call;
	int32_t child;
	unsigned shares;

	if (strace_fork(&item->line, &child, &shares))
		return take_fork(source, item, child);
	if (is_exec && item->line.has_result && item->line.result == 0)
		return take_exec(source, item);
	switch (strace_call(&source->arena, item, &call)) {
	case STRACE_WRONG:
		return wrong(source, item, "the arguments of this call are not understood");
	case STRACE_TAKEN:
		source->facts->calls++;
		source->has_shown |= call.fd.path || call.dir.path;
		return world_take(source->world, &call);
	case STRACE_IGNORED:
		break;
	}
	return 0;
}

static int take(void *arg, const struct strace_item *item)
{
	struct source *source = arg;
	int r;

	if (item->line.kind == STRACE_BAD)
		return wrong(source, item, item->reason);
	r = bring_in(source, item);
	if (r < 0)
		return r;
	arena_clear(&source->arena);
	source->has_latency |= item->is_timed;
	if (item->line.kind == STRACE_CALL)
		return take_call(source, item);
	if (item->line.kind == STRACE_EXITED) {
		if (item->tid == source->first)
			source->facts->exit_status = item->line.status;
		world_exit(source->world, item->tid, item->line.status, item->end_ns);
	}
	return 0;
}

static void say_what_lacks(const struct source *source, struct source_facts *facts)
{
	snprintf(facts->lacks, sizeof(facts->lacks), "%s%s%s", source->has_latency ? "" : ", how long calls took (-T)",
		source->has_shown ? "" : ", what descriptors are that were open before (-yy)", source->is_cut ? ", whole arguments of programs (-s 4096)" : "");
}

static int feed(struct source *source, struct world *world, struct source_facts *facts, struct complaints *complaints, struct failure *failure)
{
	int r;

	source->world = world;
	source->complaints = complaints;
	source->facts = facts;
	facts->exit_status = -1;
	r = strace_read(source->files, source->n_files, take, source, failure);
	facts->has_latencies = source->has_latency;
	say_what_lacks(source, facts);
	return r;
}

const struct source_format source_strace = { "strace", TIER_PTRACE, prepare, feed, destroy };
