/* SPDX-License-Identifier: MIT */
#include "dag/check/main.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/output.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/failure.h"
#include "dag/check/annotate.h"
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
	struct failure failure;
	char *root;
	const char *cwd; /* of db */
};

/* ---- what is declared ---- */

static int find_root(struct session *s)
{
	const struct check_cli *o = &s->options;

	s->cwd = query_fact_text(s->db, "cwd");
	if (o->root) {
		s->root = realpath(o->root, NULL);
		if (!s->root)
			return failure_set(&s->failure, -errno, "cannot find '%s': %s", o->root,
				strerror(errno));
	} else if (!o->all) {
		if (!s->cwd)
			return failure_set(&s->failure, -ENODATA,
				"the trace has no directory of the traced command: name the directory of the "
				"project with --root");
		s->root = strdup(s->cwd);
		if (!s->root)
			return failure_memory(&s->failure);
	}
	s->trace.root = s->root;
	return 0;
}

static int set_undeclared(struct session *s)
{
	const char *options = query_fact_text(s->db, "options");

	if (options && (strncmp(options, "--make ", 7) == 0 || strstr(options, " --make ")))
		return failure_set(&s->failure, -ENODATA,
			"make ran no recipe in '%s': trace a build from scratch",
			s->options.traces.word[0]);
	return failure_set(&s->failure, -ENODATA,
		"'%s' has no declared dependencies: record it with 'ftrac run --make -- make', or give "
		"them with --ninja or --declared",
		s->options.traces.word[0]);
}

static int load_declared(struct session *s)
{
	const struct check_cli *o = &s->options;
	struct build *build = s->trace.build;
	int r = check_trace_notes(&s->trace, s->db, &s->failure);

	if (r == 0 && o->declared)
		r = edges_load(o->declared, s->cwd ? s->cwd : "/", build, &s->failure);
	if (r == 0 && o->ninja)
		r = ninja_load(o->ninja, build, &s->ninja, &s->failure);
	s->trace.ninja = s->ninja;
	if (r == 0 && !s->trace.has_notes && !o->declared && !o->ninja)
		r = set_undeclared(s);
	/* Only make keeps something back. */
	if (!s->trace.has_notes)
		build->is_complete = true;
	return r;
}

static int load(struct session *s)
{
	int r;

	s->trace.build = build_create();
	if (!s->trace.build)
		return failure_memory(&s->failure);
	s->trace.begin_ns = query_fact(s->db, "start_ns", 0);
	r = find_root(s);
	if (r == 0)
		r = load_declared(s);
	if (r == 0)
		r = check_trace_load(&s->trace, s->db, &s->failure);
	if (r == 0 && s->trace.build->n_recipes == 0)
		r = failure_set(&s->failure, -ENODATA,
			"no process of the trace belongs to a declared target: %s",
			s->ninja ? "give --ninja the directory in which ninja ran"
				 : "their paths must be relative to the directory of the traced command");
	return r;
}

/* ---- what is found ---- */

/* What is named is below the root; with --all, below the directory of the command. */
static int annotate(const struct session *s, enum check_mend mend)
{
	const struct check_cli *o = &s->options;
	const char *root = s->root ? s->root : s->cwd ? s->cwd : "/";
	cleanup_free char *declared = o->declared ? realpath(o->declared, NULL) : NULL;
	const struct annotate_options options = { root, declared && path_names_is_below(root, declared) ? declared : NULL, mend,
		o->format == CHECK_SARIF ? ANNOTATE_SARIF : ANNOTATE_GITHUB };

	return check_annotate(&s->check, &options, stdout);
}

static int print(struct session *s, bool whole)
{
	const struct check_cli *o = &s->options;
	const struct table_style style = { .format = o->format < CHECK_SARIF ? (enum table_format)o->format : TABLE_TEXT,
		.begin_ns = s->trace.begin_ns,
		.program = "ftrac.dag",
		.name = "check",
		.complete = whole };
	enum check_mend mend = s->ninja             ? CHECK_MEND_NINJA
			       : s->trace.has_notes ? CHECK_MEND_MAKE
						    : CHECK_MEND_CSV;
	int r = o->format < CHECK_SARIF ? check_print(&s->check, &s->trace, mend, &style, stdout) : annotate(s, mend);

	return r < 0 ? failure_set(&s->failure, r, "cannot write the output: %s", strerror(-r)) : 0;
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
	int r = failure_of_memory(&s->failure, check_run(s->trace.build, &options, &s->check));

	return r < 0 ? r : print(s, whole);
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
	int status, r;

	if (!check_options_parse(argc, argv, &s.options, &status)) {
		check_options_finish(&s.options);
		return status;
	}
	if (output_replace_stdout(s.options.output)) {
		check_options_finish(&s.options);
		return EXIT_TROUBLE;
	}
	r = traces_open(&s.options.traces, s.options.foreign ? QUERY_FOREIGN : 0, err_print, &s.db,
		&s.failure);
	if (r == 0) {
		whole = traces_are_whole(s.db, err_print);
		r = load(&s);
	}
	if (r == 0)
		r = find(&s, whole);
	/* Every failure is EXIT_TROUBLE: EXIT_OWN would say that something was found. */
	status = failure_status(&s.failure) ? EXIT_TROUBLE : judge(&s, whole);
	finish(&s);
	return output_finish_stdout(status, status == EXIT_TROUBLE) == status ? status : EXIT_TROUBLE;
}
