/* SPDX-License-Identifier: MIT */

/*
 * dot.h, dot_legend.h: names in labels, ids, colours of others, and which signs a legend has; agraph.h: order, long
 * texts, libcgraph that ends early, and an output that fails.
 */

#include "workflows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dag/export/agraph.h"
#include "dag/export/dot.h"
#include "dag/export/dot_legend.h"
#include "dag/shape/shape.h"

enum { MAKER, READER };

/* One writes a file, one that it has started reads it. */
static struct workflow *two(const char *maker)
{
	struct workflow *w = begin(2);

	process(w, GRAPH_NONE, maker, 0, 100);
	process(w, MAKER, "cat", 20, 30);
	writes(w, MAKER, file(w), 10);
	reads(w, READER, 0, 25);
	tasks[READER].step = "show";
	w->chosen = malloc(4);
	memset(w->chosen, true, 4);
	assert_int_equal(graph_build(w->graph, false), 0);
	return w;
}

/* To be freed. */
static char *dot_of(struct workflow *w, const struct dot_options *options)
{
	const struct shape_options dag = { 0 };
	struct shape *shape;
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_int_equal(shape_create(w, &dag, &shape), 0);
	assert_int_equal(dot_write(shape, options, out), 0);
	fclose(out);
	shape_destroy(shape);
	return text;
}

static void finish(struct workflow *w, char *text)
{
	free(text);
	free(w->chosen);
	end(w);
}

static void names_stay_what_they_are(void **state)
{
	const struct dot_options options = { .no_legend = true };
	struct workflow *w = two("a&lt;b && c&d;\\n \"e\"");
	char *text = dot_of(w, &options);

	(void)state;
	/* "&d;" looks like a character, "&&" does not; what others read has no such signs. */
	assert_non_null(strstr(text, "label=\"a&amp;lt;b && c&amp;d;\\\\n \\\"e\\\""));
	assert_non_null(strstr(text, "command=\"a&lt;b && c&d;\\\\n \\\"e\\\""));
	finish(w, text);
}

static void ids_begin_as_asked_for(void **state)
{
	const struct dot_options plain = { 0 }, options = { .ids = "x-" };
	struct workflow *w = two("make");
	char *text = dot_of(w, &plain);

	(void)state;
	assert_non_null(strstr(text, "\tid=p1,"));
	assert_null(strstr(text, "x-"));
	free(text);
	text = dot_of(w, &options);
	assert_non_null(strstr(text, "\tid=\"x-graph\""));
	assert_non_null(strstr(text, "\tid=\"x-p1\","));
	assert_non_null(strstr(text, "id=\"x-e0\""));
	finish(w, text);
}

static const char *green(const void *colours, const char *step)
{
	if (!step)
		return "#999999";
	assert_string_equal(step, "show");
	return colours;
}

static void steps_have_the_colours_of_others(void **state)
{
	const struct dot_options options = { .colour = green, .colours = "#00ff00" };
	struct workflow *w = two("make");
	char *text = dot_of(w, &options);

	(void)state;
	assert_non_null(strstr(text, "fillcolor=\"#00ff00" DOT_PALE "\""));
	assert_non_null(strstr(text, "BGCOLOR=\"#00ff00" DOT_PALE "\""));
	finish(w, text);
}

static void a_legend_has_what_is_there(void **state)
{
	static const enum dot_sign wanted[] = { DOT_SIGN_PROCESS, DOT_SIGN_FILE, DOT_SIGN_STARTED,
		DOT_SIGN_DATA, DOT_SIGN_READ, DOT_SIGN_WRITE };
	const struct shape_options dag = { 0 };
	bool there[DOT_SIGN_MAX], expected[DOT_SIGN_MAX] = { false };
	struct workflow *w = two("make");
	struct shape *shape;

	(void)state;
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		expected[wanted[i]] = true;
	assert_int_equal(shape_create(w, &dag, &shape), 0);
	dot_signs(shape, there);
	there[DOT_SIGN_SLOW] = false; /* that is of shape.c */
	for (int i = 0; i < DOT_SIGN_MAX; i++)
		if (there[i] != expected[i])
			fail_msg("%s", dot_sign_words[i].sign);
	shape_destroy(shape);
	finish(w, NULL);
}

/* To be freed. */
static char *written_by(int (*make)(struct agraph *graph, void *arg), int expected)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_int_equal(agraph_write("g", make, NULL, out), expected);
	fclose(out);
	return text;
}

static int put_frames(struct agraph *graph, void *arg)
{
	char name[32];

	(void)arg;
	for (int i = 0; i < 20; i++) {
		snprintf(name, sizeof(name), "n%d", 19 - i);
		void *node = agraph_node(graph, name);

		snprintf(name, sizeof(name), "cluster_%d", i);
		agraph_put_into(agraph_frame(graph, name), node);
	}
	return 0;
}

static void frames_are_in_the_order_they_are_made(void **state)
{
	char *text = written_by(put_frames, 0), wanted[64];
	const char *at = text;

	(void)state;
	for (int i = 0; i < 20; i++) {
		snprintf(wanted, sizeof(wanted), "subgraph cluster_%d {\n\t\tn%d;", i, 19 - i);
		at = strstr(at, wanted);
		assert_non_null(at);
	}
	free(text);
}

#define QUOTES 100000

static int put_quotes(struct agraph *graph, void *arg)
{
	static char quotes[QUOTES + 1];

	(void)arg;
	memset(quotes, '"', QUOTES);
	agraph_set(graph, agraph_node(graph, "n"), "label", quotes);
	return 0;
}

static void long_texts_are_written_in_one_line(void **state)
{
	char *text = written_by(put_quotes, 0);
	const char *at = strstr(text, "label=\"");
	size_t len = 0;

	(void)state;
	assert_non_null(at);
	for (at += strlen("label=\""); at[0] == '\\' && at[1] == '"'; at += 2)
		len++;
	assert_int_equal(len, QUOTES);
	assert_memory_equal(at, "\"]", 2);
	free(text);
}

static int crash(struct agraph *graph, void *arg)
{
	(void)graph;
	(void)arg;
	abort();
}

static int give_up(struct agraph *graph, void *arg)
{
	(void)graph;
	(void)arg;
	exit(EXIT_FAILURE);
}

static int have_no_memory(struct agraph *graph, void *arg)
{
	(void)graph;
	(void)arg;
	return -ENOMEM;
}

static void an_early_end_is_an_error(void **state)
{
	int (*const ends[])(struct agraph *, void *) = { crash, give_up, have_no_memory };

	(void)state;
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		char *text = written_by(ends[i], -ENOMEM);

		assert_string_equal(text, "");
		free(text);
	}
}

/* The child process fills the pipe meanwhile. */
static void an_output_that_fails_is_an_error(void **state)
{
	FILE *full = fopen("/dev/full", "w");

	(void)state;
	assert_non_null(full);
	alarm(60);
	assert_int_equal(agraph_write("g", put_quotes, NULL, full), -EIO);
	alarm(0);
	fclose(full);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_are_in_the_order_they_are_made),
		cmocka_unit_test(long_texts_are_written_in_one_line),
		cmocka_unit_test(an_early_end_is_an_error),
		cmocka_unit_test(an_output_that_fails_is_an_error),
		cmocka_unit_test(names_stay_what_they_are),
		cmocka_unit_test(ids_begin_as_asked_for),
		cmocka_unit_test(steps_have_the_colours_of_others),
		cmocka_unit_test(a_legend_has_what_is_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
