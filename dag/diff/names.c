/* SPDX-License-Identifier: MIT */
#include "dag/diff/names_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "dag/diff/generated_name.h"
#include "dag/container/hash.h"

#define SECOND 1000000000
#define TIME_SLACK_S 60 /* clocks of programs that make names of the time */
#define ANCESTORS_MAX 64
#define WORD_ENDS "/=,:;@'\"()[]{}<>|& \t\n"

/* ---- sets ---- */

static int labels_add(struct labels *labels, uint64_t label)
{
	return vector_push(labels->label, labels->n, label);
}

static int compare_labels(const void *x, const void *y)
{
	uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;

	return (a > b) - (a < b);
}

static void labels_finish(struct labels *labels)
{
	if (labels->n)
		qsort(labels->label, labels->n, sizeof(*labels->label), compare_labels);
}

static bool labels_have(const struct labels *labels, uint64_t label)
{
	return vector_find(&label, labels->label, labels->n, sizeof(label), compare_labels) != NULL;
}

uint64_t names_label_of(const char *bytes, size_t len)
{
	return hash_mix(hash_bytes(HASH_BEGIN, bytes, len));
}

/* ---- where the run is ---- */

static bool begins(const char *text, size_t len, const char *prefix)
{
	size_t n = prefix ? strlen(prefix) : 0;

	if (n == 0 || len < n || strncmp(text, prefix, n) != 0)
		return false;
	return len == n || strchr(WORD_ENDS, text[n]);
}

size_t names_root_length(const struct one *one, const char *text, size_t len)
{
	for (int i = 0; i < 2; i++)
		if (begins(text, len, one->prefix[i]))
			return strlen(one->prefix[i]);
	return 0;
}

const char *names_path(const struct names *names, int run, int32_t file)
{
	const char *path = workflow_data(names->one[run].workflow, file)->path;
	size_t root;

	if (!path)
		return NULL;
	root = names_root_length(&names->one[run], path, strlen(path));
	return root == 0 ? path : path[root] == '/' ? path + root + 1 : ".";
}

/* ---- generated names ---- */

static bool is_own_pid(const struct one *one, int32_t process, int64_t number)
{
	for (int i = 0; process != GRAPH_NONE && i < ANCESTORS_MAX; i++) {
		if (workflow_task(one->workflow, process)->pid == number)
			return true;
		process = graph_parent(one->workflow->graph, process);
	}
	return false;
}

/* Digits are generated if they are the pid of the process or of an ancestor, or a time of the run.  If the other
 * run has the name, too, digits alone are not generated: they are probably an argument. */
static bool is_generated_number(const struct part *part, const char *digits, size_t len,
	bool argument)
{
	const struct one *one = &part->names->one[part->run];
	int64_t number = 0;

	if (len < 2 || len > 18 || digits[0] == '0' || argument || !part->numbers)
		return false;
	for (size_t i = 0; i < len; i++)
		number = 10 * number + digits[i] - '0';
	return is_own_pid(one, part->process, number) ||
	       (number >= one->begin_s - TIME_SLACK_S && number <= one->end_s + TIME_SLACK_S &&
		       one->begin_s > TIME_SLACK_S);
}

/* Letters and digits of a name, and what they become: at most as long. */
static size_t put_run(struct part *part, const char *run, size_t len, size_t before,
	enum generated least, bool known, bool alone, char *out)
{
	bool digits = strspn(run, "0123456789") >= len;
	bool wild = (digits && is_generated_number(part, run, len, known && alone)) ||
		    (!known && generated_name_of(run, len, before) >= least);

	part->wild |= wild;
	if (wild)
		*out = '*';
	else
		memcpy(out, run, len);
	return wild ? 1 : len;
}

static size_t put_part(struct part *part, const char *name, size_t len, char *out)
{
	const struct one *one = &part->names->one[part->run],
			 *other = &part->names->one[!part->run];
	uint64_t label = names_label_of(name, len);
	bool known = labels_have(&other->all, label) || labels_have(&one->inputs, label);
	bool lenient = part->loosely || part->tmp || labels_have(&one->gone, label);
	size_t at = 0, used = 0;

	if (!known && generated_name_is_uuid(name, len)) {
		part->wild = true;
		*out = '*';
		return 1;
	}
	while (at < len) {
		size_t n = generated_name_run(name + at, len - at);

		if (n == 0)
			out[used++] = name[at++];
		else
			used += put_run(part, name + at, n, at,
				lenient ? GENERATED_MAYBE : GENERATED_SURE, known, n == len,
				out + used);
		at += n;
	}
	part->tmp |= (len == 3 && memcmp(name, "tmp", 3) == 0) ||
		     (len == 4 && memcmp(name, "temp", 4) == 0);
	return used;
}

static size_t part_length(const char *text, size_t len)
{
	size_t n = 0;

	while (n < len && !(text[n] && strchr(WORD_ENDS, text[n])))
		n++;
	return n;
}

size_t names_put_text(struct part *part, const char *text, size_t len, char *out)
{
	const struct one *one = &part->names->one[part->run];
	size_t at = 0, used = 0;

	while (at < len) {
		size_t n = text[at] == '/' ? names_root_length(one, text + at, len - at) : 0;

		if (n) {
			out[used++] = '.';
		} else if (text[at] == '/' && begins(text + at, len - at, one->mount)) {
			n = strlen(one->mount);
		} else if ((n = part_length(text + at, len - at)) == 0) {
			out[used++] = text[at];
			n = 1;
		} else {
			used += put_part(part, text + at, n, out + used);
		}
		at += n;
	}
	return used;
}

uint64_t names_path_label(const struct names *names, int run, int32_t file)
{
	const char *path = names_path(names, run, file);

	return path ? names_label_of(path, strlen(path)) : 0;
}

uint64_t names_role(struct names *names, int run, int32_t file, int32_t creator, bool loosely,
	bool *ret_wild)
{
	const struct workflow *w = names->one[run].workflow;
	const char *path = names_path(names, run, file);
	struct part part = { names, run, creator, loosely, false, false, true };
	size_t len;

	*ret_wild = false;
	if (!path)
		return hash_pair('?', (uint64_t)w->graph->files[file].id);
	len = strlen(path);
	if (!workflow_data(w, file)->created)
		return names_label_of(path, len);
	len = names_put_text(&part, path, len, names->text);
	*ret_wild = part.wild;
	return names_label_of(names->text, len);
}

/* ---- what there is ---- */

static int add_parts(struct labels *labels, const char *text)
{
	while (*text) {
		size_t n = part_length(text, strlen(text));

		if (n && labels_add(labels, names_label_of(text, n)) < 0)
			return -ENOMEM;
		text += n ? n : 1;
	}
	return 0;
}

/* From the root on, since what leads there is no name of the workflow. */
static int add_file(struct names *names, int run, int32_t file)
{
	struct one *one = &names->one[run];
	const struct data *data = workflow_data(one->workflow, file);
	const char *path = names_path(names, run, file);
	int r = path ? add_parts(&one->all, path) : 0;

	if (path && r == 0 && !data->created)
		r = add_parts(&one->inputs, path);
	if (path && r == 0 && data->created && data->deleted) {
		const char *slash = strrchr(path, '/');

		r = add_parts(&one->gone, slash ? slash + 1 : path);
	}
	return r;
}

static int make_room(struct names *names, const char *text)
{
	size_t need = text ? strlen(text) + 2 : 2;

	if (vector_fit(names->word, names->word_room, need) < 0 ||
		vector_fit(names->text, names->text_room, need) < 0)
		return -ENOMEM;
	return 0;
}

static int add_process(struct names *names, int run, int32_t process)
{
	struct one *one = &names->one[run];
	const struct task *task = workflow_task(one->workflow, process);
	const char *command = task->command ? task->command : task->program;
	int r = command ? add_parts(&one->all, command) : 0;

	return r < 0 ? r : make_room(names, command);
}

static int read_run(struct names *names, int run)
{
	struct one *one = &names->one[run];
	const struct graph *g = one->workflow->graph;
	int r = make_room(names, NULL);

	for (int32_t i = 0; i < g->n_files && r == 0; i++)
		if ((r = make_room(names, workflow_data(one->workflow, i)->path)) == 0)
			r = add_file(names, run, i);
	for (int32_t i = 0; i < g->n_processes && r == 0; i++)
		r = add_process(names, run, i);
	labels_finish(&one->all);
	labels_finish(&one->inputs);
	labels_finish(&one->gone);
	return r;
}

static char *without_slash(const char *path, const char *behind)
{
	size_t len = strlen(path), more = strlen(behind);
	char *copy;

	while (len && path[len - 1] == '/')
		len--;
	copy = malloc(len + more + 1);
	if (copy) {
		memcpy(copy, path, len);
		memcpy(copy + len, behind, more + 1);
	}
	return copy;
}

/* What is at its own place below the source is below the mount point, too. */
static int set_place(struct one *one, const struct names_run *run)
{
	bool mounted = run->mountpoint && *run->mountpoint;
	const char *behind = run->root ? run->root : "";
	size_t source = run->source && strcmp(run->source, "/") != 0 ? strlen(run->source) : 0;

	one->workflow = run->workflow;
	one->begin_s = run->workflow->begin_ns / SECOND;
	one->end_s = run->workflow->end_ns / SECOND;
	one->mount = mounted && source == 0 ? run->mountpoint : NULL;
	if (run->root && !(one->prefix[0] = without_slash(run->root, "")))
		return -ENOMEM;
	if (!run->root || !mounted || strncmp(behind, run->source ? run->source : "", source) != 0)
		return 0;
	one->prefix[1] = without_slash(run->mountpoint, one->prefix[0] + source);
	return one->prefix[1] ? 0 : -ENOMEM;
}

int names_create(const struct names_run runs[2], struct names **ret_names)
{
	struct names *names = calloc(1, sizeof(*names));
	int r = names ? 0 : -ENOMEM;

	for (int run = 0; run < 2 && r == 0; run++)
		if ((r = set_place(&names->one[run], &runs[run])) == 0)
			r = read_run(names, run);
	if (r < 0) {
		names_destroy(names);
		return r;
	}
	*ret_names = names;
	return 0;
}

void names_destroy(struct names *names)
{
	if (!names)
		return;
	for (int run = 0; run < 2; run++) {
		struct one *one = &names->one[run];

		free(one->prefix[0]);
		free(one->prefix[1]);
		free(one->all.label);
		free(one->inputs.label);
		free(one->gone.label);
	}
	free(names->word);
	free(names->text);
	free(names);
}
