/* SPDX-License-Identifier: MIT */

/* Tables in the Markdown of GitHub and GitLab. */

#include <errno.h>
#include <string.h>

#include "dag/output/markdown.h"
#include "dag/output/table_internal.h"

#define TEXT_MAX 64

void markdown_put(struct printable *p, const char *text, FILE *out)
{
	for (text = printable_text(p, text); *text; text++) {
		if (*text == '@') { /* not the name of a user */
			fputs("&#64;", out);
			continue;
		}
		if (strchr("\\`*_{}[]<>#!|~&$", *text))
			fputc('\\', out);
		fputc(*text, out);
	}
}

static void put_cell(struct printable *p, const struct cell *cell, const struct table_style *style, FILE *out)
{
	char text[TEXT_MAX];

	if (cell->type == CELL_TEXT && cell->unit != UNIT_NAME) {
		markdown_put(p, cell->text, out);
		return;
	}
	if (cell->type == CELL_NULL)
		snprintf(text, sizeof(text), "-");
	else if (cell->type == CELL_TEXT)
		put_heading(cell->text, style->raw, text, sizeof(text));
	else
		unit_print(cell, style->begin_ns, text, sizeof(text));
	markdown_put(p, text, out);
}

int table_put_markdown(const struct table *table, const struct table_style *style, FILE *out)
{
	struct printable printable = { 0 };
	char name[TEXT_MAX];

	for (int i = 0; i < table->n_columns; i++) {
		put_heading(table->columns[i].name, style->raw, name, sizeof(name));
		fputs("| ", out);
		markdown_put(&printable, name, out);
		fputc(' ', out);
	}
	fputs("|\n", out);
	for (int i = 0; i < table->n_columns; i++)
		fputs(is_number(table, i) ? "|---:" : "|---", out);
	fputs("|\n", out);
	for (size_t row = 0; row < table_rows(table); row++) {
		for (int i = 0; i < table->n_columns; i++) {
			fputs("| ", out);
			put_cell(&printable, &table->cells[row * (size_t)table->n_columns + (size_t)i], style, out);
			fputc(' ', out);
		}
		fputs("|\n", out);
	}
	for (int i = 0; i < table->n_notes; i++) {
		fputc('\n', out);
		markdown_put(&printable, table->notes[i], out);
		fputc('\n', out);
	}
	printable_finish(&printable);
	return printable.failed ? -ENOMEM : ferror(out) ? -EIO : 0;
}
