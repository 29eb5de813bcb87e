/* SPDX-License-Identifier: MIT */
#include "dag/check/print.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/output.h"
#include "dag/check/check.h"
#include "dag/check/mend.h"
#include "dag/check/trace.h"

#define COMMAND_SHOWN 60 /* bytes, in a table */

struct printing {
	const struct check *check;
	const struct check_trace *trace;
	struct mending mending;
	struct table *table;
	bool text; /* as text: evidence is a sentence */
	bool failed;
};

/* ---- which process did it ---- */

struct evidence {
	const struct actor *actor; /* NULL: there is none */
	const char *operation;
	int64_t time_ns;
};

static const char *name_write(unsigned kinds)
{
	return kinds & USE_RENAME   ? "rename"
	       : kinds & USE_CREATE ? "create"
	       : kinds & USE_WRITES ? "write"
				    : "unlink";
}

static struct evidence evidence_of(const struct printing *p, const struct check_finding *f)
{
	const struct build_use *use = f->use;
	struct evidence e = { 0 };

	if (f->missing_name)
		return (struct evidence){ check_trace_actor(p->trace, f->missing_name->process), "lookup",
			f->missing_name->time_ns };
	if (!use)
		return e;
	if ((use->kinds & USE_READS) && (f->kind == CHECK_MISSING || !(use->kinds & USE_WRITES))) {
		e.operation = use->kinds & USE_EXECUTE ? "execute"
			      : use->kinds & USE_READ  ? "read"
						       : "map";
		e.time_ns = use->in_ns;
		e.actor = check_trace_actor(p->trace, use->reader);
	} else {
		e.operation = name_write(use->kinds);
		e.time_ns = use->out_ns;
		e.actor = check_trace_actor(p->trace, use->writer);
	}
	return e;
}

static struct evidence cause_of(const struct printing *p, const struct check_finding *f)
{
	if (!f->cause)
		return (struct evidence){ 0 };
	return (struct evidence){ check_trace_actor(p->trace, f->cause->writer),
		name_write(f->cause->kinds), f->cause->out_ns };
}

/* The program without its directory, and as much of its arguments as helps. */
static void say_command(FILE *out, const char *command)
{
	size_t len = strcspn(command, " ");
	const char *slash = memrchr(command, '/', len);

	command = slash && command[0] != '\'' ? slash + 1 : command;
	fprintf(out, "%.*s%s", COMMAND_SHOWN, command,
		strlen(command) > COMMAND_SHOWN ? "..." : "");
}

/* "read at 0.123 s by 71 (cc1 foo.c)" */
static void say(FILE *out, const struct printing *p, const struct evidence *e)
{
	fprintf(out, "%s at %.3f s by %lld (", e->operation,
		(double)(e->time_ns - p->trace->begin_ns) / 1e9,
		e->actor ? (long long)e->actor->pid : 0LL);
	say_command(out, e->actor && e->actor->command ? e->actor->command : "-");
	fputc(')', out);
}

static char *sentence(const struct printing *p, const struct check_finding *f)
{
	struct evidence did = evidence_of(p, f), cause = cause_of(p, f);
	const struct build_recipe *recipes = p->check->build->recipes;
	cleanup_free char *other = f->other == BUILD_NONE ? NULL
							  : mend_name(&p->mending, recipes[f->recipe].node,
								    recipes[f->other].node);
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	if (did.operation)
		say(out, p, &did);
	if (cause.operation) {
		fprintf(out, "%sfor %s: ", did.operation ? "; " : "", other ? other : "?");
		say(out, p, &cause);
	}
	if (f->kind == CHECK_REDUNDANT)
		fputs("not used", out);
	return output_close_text(out, &text);
}

/* ---- rows ---- */

/* Owned by the table from here on. */
static void put_own(struct printing *p, char *text)
{
	p->failed |= !text;
	table_string(p->table, text);
	free(text);
}

static void put_evidence(struct printing *p, const struct evidence *e)
{
	if (!e->operation || !e->actor) {
		for (int i = 0; i < 5; i++)
			table_null(p->table);
		return;
	}
	table_string(p->table, e->operation);
	table_int(p->table, e->actor->id);
	table_int(p->table, e->actor->pid);
	table_string(p->table, e->actor->command);
	table_int(p->table, e->time_ns);
}

static void put_row(struct printing *p, const struct check_finding *f)
{
	const struct build *build = p->check->build;
	int32_t node = build->recipes[f->recipe].node;
	struct evidence did = evidence_of(p, f), cause = cause_of(p, f);

	table_row(p->table);
	table_string(p->table, check_kinds[f->kind]);
	put_own(p, mend_name(&p->mending, node, node));
	put_own(p, mend_name(&p->mending, node, f->file));
	put_own(p, mend_line(&p->mending, f));
	if (p->text)
		put_own(p, p->trace->root
				   ? path_names_relative(p->trace->root, mend_directory(&p->mending, node))
				   : strdup(mend_directory(&p->mending, node)));
	else
		table_string(p->table, mend_directory(&p->mending, node));
	if (p->text) {
		put_own(p, sentence(p, f));
		return;
	}
	put_evidence(p, &did);
	if (f->other == BUILD_NONE)
		table_null(p->table);
	else
		put_own(p, mend_name(&p->mending, node, build->recipes[f->other].node));
	put_evidence(p, &cause);
}

static void put_notes(struct printing *p, const int64_t counts[CHECK_MAX])
{
	const struct check *c = p->check;

	table_note(p->table, "%d recipes: %lld missing, %lld redundant, %lld unordered",
		c->build->n_recipes, (long long)counts[CHECK_MISSING],
		(long long)counts[CHECK_REDUNDANT], (long long)counts[CHECK_UNORDERED]);
	if (c->unsure)
		table_note(p->table,
			"%lld uses are not reported: a target without a recipe may declare them, and make records "
			"nothing for such a target",
			(long long)c->unsure);
}

int check_print(const struct check *check, const struct check_trace *trace,
	enum check_mend mend_how, const struct table_style *style, FILE *out)
{
	struct printing p = { .check = check,
		.trace = trace,
		.mending = { check, mend_how, false },
		.table = table_create(),
		.text = style->format == TABLE_TEXT || style->format == TABLE_MARKDOWN };
	int64_t counts[CHECK_MAX] = { 0 };
	int r = p.table ? 0 : -ENOMEM;

	if (r == 0)
		table_columns(p.table,
			p.text ? "kind target file mend directory evidence"
			       : "kind target file mend directory operation process pid command "
				 "first_ns other "
				 "other_operation other_process other_pid other_command last_ns");
	if (r == 0)
		table_narrow(p.table, "target mend file evidence directory");
	for (int32_t i = 0; i < check->n && r == 0; i++) {
		put_row(&p, &check->findings[i]);
		counts[check->findings[i].kind]++;
	}
	if (r == 0) {
		put_notes(&p, counts);
		r = p.failed ? -ENOMEM : table_print(p.table, style, out);
	}
	table_destroy(p.table);
	return r;
}
