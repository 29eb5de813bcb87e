/* SPDX-License-Identifier: MIT */

/*
 * Which command does again what was done in the run.
 *
 * A command does what its process and all below it did since it was started.  What a shell did itself, between the
 * commands that it started, is done again by none of them, but for two things: it opened files for them, which
 * their redirections say; and it made directories for them, and removed files that they had made, as make does with what is
 * only on the way: that becomes a job of its own.  All else is a gap.
 */

#include "dag/jobs/jobs_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/vector.h"
#include "dag/container/path_names.h"

/* By which command the doings of a process are done again, and since when. */
struct cover {
	int32_t command; /* JOBS_NONE */
	int64_t from_ns;
	bool known;
};

struct again {
	struct load *load;
	struct jobs *jobs;
	struct cover *covers;
	int32_t *bare;	  /* opens that no command does again, by path and time */
	int32_t n_bare;
	bool *used;	  /* of each path: by a command */
	int32_t redoing;  /* the command in the place of what a driver did last; JOBS_NONE: other things happened since */
	uint8_t redoing_did;
};

/* ---- which command ---- */

static void set_cover(struct again *a, const int32_t *command_of, int32_t process)
{
	const struct graph *g = a->jobs->workflow->graph;
	int32_t parent = graph_parent(g, process), own = command_of[process];
	struct cover *cover = &a->covers[process];
	const struct cover *above = parent == GRAPH_NONE ? NULL : &a->covers[parent];

	cover->known = true;
	if (above && above->command != JOBS_NONE && above->from_ns <= g->processes[process].start_ns) {
		cover->command = above->command;
		cover->from_ns = INT64_MIN;
	} else if (own != JOBS_NONE) {
		cover->command = own;
		cover->from_ns = a->jobs->commands[own].start_ns;
	}
}

/* From the top down, without recursion: there may be a million of them above each other. */
static void cover_processes(struct again *a, const int32_t *command_of, int32_t *stack)
{
	const struct graph *g = a->jobs->workflow->graph;

	for (int32_t i = 0; i < g->n_processes; i++) {
		int32_t n = 0;

		for (int32_t at = i; at != GRAPH_NONE && !a->covers[at].known; at = graph_parent(g, at))
			stack[n++] = at;
		while (n)
			set_cover(a, command_of, stack[--n]);
	}
}

static int find_covers(struct again *a)
{
	size_t n = (size_t)a->jobs->workflow->graph->n_processes + 1;
	cleanup_free int32_t *command_of = malloc(n * sizeof(*command_of)),
			     *stack = malloc(n * sizeof(*stack));

	a->covers = malloc(n * sizeof(*a->covers));
	if (command_of && stack && a->covers) {
		for (size_t i = 0; i < n; i++) {
			command_of[i] = JOBS_NONE;
			a->covers[i] = (struct cover){ JOBS_NONE, GRAPH_NEVER, false };
		}
		for (int32_t i = 0; i < a->jobs->n_commands; i++)
			command_of[a->jobs->commands[i].process] = i;
		cover_processes(a, command_of, stack);
	}
	return stack && command_of && a->covers ? 0 : -ENOMEM;
}

static int32_t command_at(const struct again *a, int32_t process, int64_t time_ns)
{
	const struct cover *cover = &a->covers[process];

	return cover->from_ns <= time_ns ? cover->command : JOBS_NONE;
}

/* ---- where commands lead their input and output ---- */

static int compare_bare(const void *x, const void *y, void *opened)
{
	const struct opened *a = (const struct opened *)opened + *(const int32_t *)x,
			    *b = (const struct opened *)opened + *(const int32_t *)y;

	if (a->path != b->path)
		return a->path < b->path ? -1 : 1;
	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return (a->id > b->id) - (a->id < b->id);
}

static int find_bare(struct again *a)
{
	const struct load *load = a->load;

	a->bare = malloc(((size_t)load->n_opened + 1) * sizeof(*a->bare));
	if (!a->bare)
		return -ENOMEM;
	for (int32_t i = 0; i < load->n_opened; i++)
		if (command_at(a, load->opened[i].process, load->opened[i].time_ns) == JOBS_NONE)
			a->bare[a->n_bare++] = i;
	if (a->n_bare)
		qsort_r(a->bare, (size_t)a->n_bare, sizeof(*a->bare), compare_bare, load->opened);
	return 0;
}

struct bare_key {
	const struct opened *opened;
	int32_t path;
	int64_t time_ns;
};

static int compare_after(const void *key, const void *element)
{
	const struct bare_key *k = key;
	const struct opened *o = &k->opened[*(const int32_t *)element];

	return o->path < k->path || (o->path == k->path && o->time_ns <= k->time_ns) ? 1 : -1;
}

/* The first of these that is of a later path, or later. */
static int32_t bare_after(const struct again *a, int32_t path, int64_t time_ns)
{
	const struct bare_key key = { a->load->opened, path, time_ns };

	return (int32_t)vector_lower_bound(&key, a->bare, (size_t)a->n_bare, sizeof(*a->bare),
		compare_after);
}

static bool is_at_or_above(const struct again *a, int32_t above, int32_t process)
{
	while (process != GRAPH_NONE && process != above)
		process = graph_parent(a->jobs->workflow->graph, process);
	return process == above;
}

/* What a command got as stdin, stdout or stderr: the last open of that path by its parent, or by its process
 * before; JOBS_NONE: not known. */
static int32_t find_led(const struct again *a, const struct job_command *command, int fd)
{
	const char *to = command->to[fd];
	int32_t path = to ? path_names_find(a->jobs->names->names, to, strlen(to)) : PATH_NAMES_NONE;

	if (path == PATH_NAMES_NONE)
		return JOBS_NONE;
	for (int32_t i = bare_after(a, path, command->start_ns); i > 0; i--) {
		const struct opened *o = &a->load->opened[a->bare[i - 1]];

		if (o->path != path)
			break;
		if ((fd ? o->writes : o->reads) && is_at_or_above(a, o->process, command->process))
			return a->bare[i - 1];
	}
	return JOBS_NONE;
}

static void lead(struct again *a, int32_t index)
{
	struct job_command *command = &a->jobs->commands[index];

	for (int fd = 0; fd < 3; fd++) {
		struct opened *o;

		command->led[fd] = find_led(a, command, fd);
		if (command->led[fd] == JOBS_NONE)
			continue;
		o = &a->load->opened[command->led[fd]];
		if (o->first == JOBS_NONE || command->start_ns < a->jobs->commands[o->first].start_ns)
			o->first = index;
	}
}

/* A process that opened a file for several commands emptied it once; each command went on where the one before had
 * stopped. */
static void set_leads(struct again *a)
{
	for (int32_t i = 0; i < a->jobs->n_commands; i++)
		lead(a, i);
	for (int32_t i = 0; i < a->jobs->n_commands; i++) {
		struct job_command *command = &a->jobs->commands[i];

		for (int fd = 0; fd < 3; fd++) {
			const struct opened *o = command->led[fd] == JOBS_NONE
							 ? NULL
							 : &a->load->opened[command->led[fd]];

			if (o)
				command->lead[fd] = fd == 0				 ? LEAD_IN
						    : o->first != i			 ? LEAD_NOWHERE
						    : o->appends			 ? LEAD_APPEND
						    : o->empties || o->created		 ? LEAD_OUT
											 : LEAD_INTO;
		}
	}
}

/* ---- gaps ---- */

static bool has_part(const char *path, const char *part)
{
	size_t len = strlen(part);

	for (const char *at = strchr(path, '/'); at; at = strchr(at + 1, '/'))
		if (strncmp(at + 1, part, len) == 0 && (at[1 + len] == '/' || !at[1 + len]))
			return true;
	return false;
}

/* What drivers keep for themselves. */
static bool is_bookkeeping(const char *path)
{
	static const char *const parts[] = { ".ninja_log", ".ninja_deps", ".ninja_lock", ".snakemake",
		".nextflow", ".nextflow.log" };

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (has_part(path, parts[i]))
			return true;
	return false;
}

/* Something that no command does again; what is neither of the workflow nor used by it does not matter. */
static void add_gap(struct again *a, enum gap_kind kind, int32_t process, int32_t path)
{
	const char *text = path_names_text(a->jobs->names->names, path);

	if ((!path_names_is_below(a->jobs->root, text) && !a->used[path]) ||
		is_bookkeeping(text))
		return;
	if (a->jobs->n_gaps++ == 0)
		a->jobs->gap = (struct gap){ kind, process, text };
}

/* ---- events ---- */

/* What a driver did itself, and can be said, becomes a job: of all that it did so while nothing else happened. */
static int32_t start_redoing(struct again *a, const struct name_event *event)
{
	struct jobs *jobs = a->jobs;

	if (vector_reserve(jobs->commands, jobs->n_commands) < 0)
		return -ENOMEM;
	jobs->commands[jobs->n_commands] = (struct job_command){ .process = event->process,
		.job = jobs->n_jobs,
		.part = jobs->n_jobs,
		.start_ns = event->time_ns,
		.by_driver = true,
		.cwd = jobs->root,
		.led = { JOBS_NONE, JOBS_NONE, JOBS_NONE },
		.reader = JOBS_NONE };
	jobs->n_jobs++;
	return jobs->n_commands++;
}

static int redo(struct again *a, struct name_event *event)
{
	struct jobs_names *names = a->jobs->names;

	if (a->redoing == JOBS_NONE || a->redoing_did != event->did ||
		a->jobs->commands[a->redoing].process != event->process)
		a->redoing = start_redoing(a, event);
	if (a->redoing < 0)
		return -ENOMEM;
	a->redoing_did = event->did;
	event->command = a->redoing;
	return vector_push(names->redone, names->n_redone,
		(struct redone){ event->command, event->path });
}

/* A directory that was made, or something that commands had used and that was removed. */
static bool can_be_redone(const struct again *a, const struct name_event *event)
{
	const char *text = path_names_text(a->jobs->names->names, event->path);
	const struct data *data =
		event->file == GRAPH_NONE ? NULL : workflow_data(a->jobs->workflow, event->file);

	if (is_bookkeeping(text) || !path_names_is_below(a->jobs->root, text))
		return false;
	return event->did == NAME_REMOVED ? a->used[event->path]
					  : event->did == NAME_MADE && data && data->kind &&
						    strcmp(data->kind, "dir") == 0;
}

static int find_command(struct again *a, struct name_event *event)
{
	const struct opened *o = event->opened == JOBS_NONE ? NULL : &a->load->opened[event->opened];

	event->command = command_at(a, event->process, event->time_ns);
	if (event->command == JOBS_NONE && o)
		event->command = o->first;
	if (event->command != JOBS_NONE) {
		a->used[event->path] = true;
		a->redoing = JOBS_NONE;
		return 0;
	}
	if (can_be_redone(a, event))
		return redo(a, event);
	if (event->did >= NAME_CHANGED || (o && o->writes && o->empties))
		add_gap(a, GAP_SHELL, event->process, event->path);
	return 0;
}

static int find_commands(struct again *a)
{
	int32_t n = path_names_count(a->jobs->names->names);
	int r = 0;

	a->used = calloc((size_t)n + 1, sizeof(*a->used));
	if (!a->used)
		return -ENOMEM;
	for (int32_t i = 0; i < a->jobs->names->n_events && r == 0; i++)
		r = find_command(a, &a->jobs->names->events[i]);
	return r;
}

/* ---- what went through opens ---- */

static bool is_bare(const struct again *a, const struct opened *o)
{
	return command_at(a, o->process, o->time_ns) == JOBS_NONE;
}

/* A command that goes on behind others in what they were all given opens it to append; it uses its name by that. */
static int go_on(struct again *a, const struct through *use)
{
	const struct opened *o = &a->load->opened[use->opened];
	int32_t index = command_at(a, use->process, use->write_ns);
	struct job_command *command;

	if (index == JOBS_NONE || !is_bare(a, o))
		return 0;
	command = &a->jobs->commands[index];
	for (int fd = 1; fd < 3; fd++)
		if (command->led[fd] == use->opened && command->lead[fd] == LEAD_NOWHERE)
			command->lead[fd] = LEAD_APPEND;
	return jobs_add_event(a->jobs->names,
		&(struct name_event){ .process = use->process,
			.path = o->path,
			.file = o->file,
			.version = JOBS_NONE,
			.time_ns = use->write_ns,
			.command = JOBS_NONE,
			.opened = JOBS_NONE,
			.did = NAME_OPENED });
}

static int go_on_all(struct again *a)
{
	int r = 0;

	for (int32_t i = 0; i < a->load->n_uses && r == 0; i++)
		if (a->load->uses[i].write_ns != GRAPH_NEVER)
			r = go_on(a, &a->load->uses[i]);
	if (r == 0)
		jobs_sort_events(a->jobs->names);
	return r;
}

/* Was it written by a command that will be given it again? */
static void check_write(struct again *a, const struct through *use)
{
	const struct opened *o = &a->load->opened[use->opened];
	int32_t index = command_at(a, use->process, use->write_ns);
	const struct job_command *command = index == JOBS_NONE ? NULL : &a->jobs->commands[index];
	bool led = command && (command->led[1] == use->opened || command->led[2] == use->opened);

	if (command && !is_bare(a, o))
		return;
	if (!led || (o->first != index && !o->appends && !o->empties && !o->created))
		add_gap(a, GAP_SHELL, use->process, o->path);
}

/* Several that read through one open got a part of the file each. */
static void check_reads(struct again *a, const struct through *uses, int32_t n)
{
	const struct opened *o = &a->load->opened[uses->opened];
	int32_t commands = 0, others = 0, last = JOBS_NONE, reader = 0;

	for (int32_t i = 0; i < n; i++) {
		int32_t index = uses[i].read_ns == GRAPH_NEVER
					? JOBS_NONE
					: command_at(a, uses[i].process, uses[i].read_ns);

		others += index == JOBS_NONE && uses[i].read_ns != GRAPH_NEVER;
		commands += index != JOBS_NONE && index != last;
		last = index == JOBS_NONE ? last : index;
		reader = index == JOBS_NONE ? reader : i;
	}
	if (commands && is_bare(a, o) &&
		(others || commands > 1 || a->jobs->commands[last].led[0] != uses->opened))
		add_gap(a, GAP_SHARED, uses[reader].process, o->path);
}

static void check_uses(struct again *a)
{
	const struct load *load = a->load;

	for (int32_t i = 0, end; i < load->n_uses; i = end) {
		for (end = i; end < load->n_uses && load->uses[end].opened == load->uses[i].opened; end++)
			if (load->uses[end].write_ns != GRAPH_NEVER)
				check_write(a, &load->uses[end]);
		check_reads(a, load->uses + i, end - i);
	}
}

/* ---- the whole ---- */

/* mkdir -p -- PATH ..., rm -df -- PATH ... */
static int write_redoing(struct again *a, int32_t command, bool removes)
{
	const char *const begin[] = { removes ? "rm" : "mkdir", removes ? "-df" : "-p", "--" };
	const struct jobs_names *names = a->jobs->names;
	char **argv = jobs_keep(a->jobs, ((size_t)names->n_redone + 4) * sizeof(*argv));
	int n = 3;

	if (!argv)
		return -ENOMEM;
	memcpy(argv, begin, sizeof(begin));
	for (int32_t i = 0; i < names->n_redone; i++)
		if (names->redone[i].command == command)
			argv[n++] = (char *)jobs_short_path(a->jobs,
				path_names_text(names->names, names->redone[i].path));
	argv[n] = NULL;
	a->jobs->commands[command].argv = argv;
	return 0;
}

static int write_all_redoing(struct again *a)
{
	const struct jobs_names *names = a->jobs->names;
	int r = 0;

	for (int32_t i = 0; i < names->n_events && r == 0; i++) {
		const struct name_event *event = &names->events[i];

		if (event->command != JOBS_NONE && a->jobs->commands[event->command].by_driver &&
			!a->jobs->commands[event->command].argv)
			r = write_redoing(a, event->command, event->did == NAME_REMOVED);
	}
	return r;
}

int jobs_again(struct load *load)
{
	struct again a = { .load = load, .jobs = load->jobs, .redoing = JOBS_NONE };
	int r = find_covers(&a);

	if (r == 0)
		r = find_bare(&a);
	if (r == 0) {
		set_leads(&a);
		r = go_on_all(&a);
	}
	if (r == 0)
		r = find_commands(&a);
	if (r == 0)
		r = write_all_redoing(&a);
	if (r == 0)
		check_uses(&a);
	free(a.covers);
	free(a.bare);
	free(a.used);
	return r;
}
