/* SPDX-License-Identifier: MIT */
#include "dag/check/main.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "dag/check/check.h"
#include "dag/check/edges.h"
#include "dag/check/ninja.h"
#include "dag/check/options.h"
#include "dag/check/print.h"
#include "dag/check/trace.h"
#include "dag/trace/traces.h"
#include "db/query.h"

#define EXIT_FOUND 1
#define EXIT_TROUBLE 2

struct session {
	struct check_cli options;
	struct query_db *db;
	struct check_trace trace;
	struct ninja *ninja;
	struct check check;
	char *root;
	const char *cwd; /* of db */
};

static int out_of_memory(void)
{
	return err_status(EXIT_TROUBLE, "out of memory");
}

/* ---- what is declared ---- */

static int find_root(struct session *s)
{
	const struct check_cli *o = &s->options;

	s->cwd = query_fact_text(s->db, "cwd");
	if (o->root) {
		s->root = realpath(o->root, NULL);
		if (!s->root)
			return err_status(EXIT_TROUBLE, "cannot find '%s': %s", o->root,
				strerror(errno));
	} else if (!o->all) {
		if (!s->cwd)
			return err_status(EXIT_TROUBLE,
				"the trace does not say where the build began: name "
				"the project with --root");
		s->root = strdup(s->cwd);
		if (!s->root)
			return err_status(EXIT_TROUBLE, "out of memory");
	}
	s->trace.root = s->root;
	return 0;
}

static int complain_undeclared(const struct session *s)
{
	const char *options = query_fact_text(s->db, "options");

	if (options && (strncmp(options, "--make ", 7) == 0 || strstr(options, " --make ")))
		return err_status(EXIT_TROUBLE,
			"make ran no recipe in '%s': trace a build from scratch",
			s->options.traces.word[0]);
	return err_status(EXIT_TROUBLE,
		"nothing is declared in '%s': record with 'ftrac run --make -- make', "
		"or say with --ninja or --declared what is",
		s->options.traces.word[0]);
}

static int load_declared(struct session *s)
{
	const struct check_cli *o = &s->options;
	struct build *build = s->trace.build;
	int status = check_trace_notes(&s->trace, s->db);

	if (status == 0 && o->declared)
		status = edges_load(o->declared, s->cwd ? s->cwd : "/", build);
	if (status == 0 && o->ninja)
		status = ninja_load(o->ninja, build, &s->ninja);
	s->trace.ninja = s->ninja;
	if (status == 0 && !s->trace.has_notes && !o->declared && !o->ninja)
		status = complain_undeclared(s);
	/* Only make keeps something back. */
	if (!s->trace.has_notes)
		build->is_complete = true;
	return status;
}

static int load(struct session *s)
{
	int status;

	s->trace.build = build_create();
	if (!s->trace.build)
		return out_of_memory();
	s->trace.begin_ns = query_fact(s->db, "start_ns", 0);
	status = find_root(s);
	if (status == 0)
		status = load_declared(s);
	if (status == 0)
		status = check_trace_load(&s->trace, s->db);
	if (status == 0 && s->trace.build->n_recipes == 0)
		status = err_status(EXIT_TROUBLE,
			"no process of the trace belongs to a declared target: %s",
			s->ninja ? "was it this folder that ninja worked in?"
				 : "are the paths the same?");
	return status;
}

/* ---- what is found ---- */

static int print(const struct session *s, bool whole)
{
	const struct check_cli *o = &s->options;
	const struct table_style style = { .format = o->format,
		.begin_ns = s->trace.begin_ns,
		.program = "ftrac.dag",
		.name = "check",
		.complete = whole };
	enum check_mend mend = s->ninja             ? CHECK_MEND_NINJA
			       : s->trace.has_notes ? CHECK_MEND_MAKE
						    : CHECK_MEND_CSV;
	int r = check_print(&s->check, &s->trace, mend, &style, stdout);

	return r < 0 ? err_status(EXIT_TROUBLE, "cannot write the output: %s", strerror(-r)) : 0;
}

static int judge(const struct session *s, bool whole)
{
	const struct check_cli *o = &s->options;

	if (o->strict && !whole)
		return TRACES_EXIT_STRICT;
	for (int32_t i = 0; i < s->check.n; i++)
		if (o->fail_on & (1u << s->check.findings[i].kind))
			return EXIT_FOUND;
	return 0;
}

static int find(struct session *s, bool whole)
{
	const struct check_options options = { s->root, s->options.kinds };
	int status;

	if (check_run(s->trace.build, &options, &s->check) < 0)
		return out_of_memory();
	status = print(s, whole);
	return status ? status : judge(s, whole);
}

static void finish(struct session *s)
{
	check_finish(&s->check);
	ninja_destroy(s->ninja);
	check_trace_finish(&s->trace);
	build_destroy(s->trace.build);
	query_close(s->db);
	free(s->root);
	check_options_finish(&s->options);
}

int check_main(int argc, char **argv)
{
	struct session s = { 0 };
	bool whole = false;
	int status;

	if (!check_options_parse(argc, argv, &s.options, &status)) {
		check_options_finish(&s.options);
		return status;
	}
	status = traces_open(&s.options.traces, s.options.foreign ? QUERY_FOREIGN : 0, &s.db);
	if (status == 0) {
		whole = traces_are_whole(s.db);
		status = load(&s);
	}
	/* What goes wrong has been said; that something was found it does not mean. */
	status = status ? EXIT_TROUBLE : find(&s, whole);
	finish(&s);
	return status;
}
