/* SPDX-License-Identifier: MIT */

/* Commands of GitHub's workflows: ::error file=NAME,line=N,title=TEXT::TEXT */

#include "dag/output/annotations.h"

#include <errno.h>
#include <string.h>

#include "dag/output/printable.h"

/* Characters that end a value have codes; a value of a property also ends at ':' and ','. */
static void put(struct printable *p, const char *text, const char *ends, FILE *out)
{
	for (text = printable_text(p, text); *text; text++)
		if (strchr(ends, *text))
			fprintf(out, "%%%02X", (unsigned char)*text);
		else
			fputc(*text, out);
}

static void put_one(struct printable *p, const struct annotations *all, const struct annotation *a, FILE *out)
{
	const struct annotation_rule *rule = &all->rules[a->rule];

	fprintf(out, "::%s ", strcmp(rule->level, "note") == 0 ? "notice" : rule->level);
	if (a->file) {
		fputs("file=", out);
		put(p, a->file, "%:,", out);
		fputc(',', out);
	}
	if (a->file && a->line)
		fprintf(out, "line=%d,", a->line);
	fputs("title=", out);
	put(p, rule->text, "%:,", out);
	fputs("::", out);
	put(p, a->text, "%", out);
	fputc('\n', out);
}

int annotations_github(const struct annotations *all, FILE *out)
{
	struct printable printable = { 0 };

	for (int32_t i = 0; i < all->n; i++)
		put_one(&printable, all, &all->all[i], out);
	fprintf(out, "%s: %s\n", all->program, all->note);
	printable_finish(&printable);
	return printable.failed ? -ENOMEM : ferror(out) || fflush(out) != 0 ? -EIO : 0;
}
