/* SPDX-License-Identifier: MIT */
#include "dag/output/table_page.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "dag/output/html.h"
#include "dag/output/table_internal.h"

#define TEXT_MAX 64
#define WORD_LONG 20 /* characters that a narrow page can keep in one line */

static void put_cell(const struct cell *cell, const struct table_style *style, FILE *out)
{
	char text[TEXT_MAX];

	if (cell->type == CELL_TEXT && cell->unit != UNIT_NAME) {
		html_put(cell->text, cell->len, out);
		return;
	}
	if (cell->type == CELL_NULL)
		snprintf(text, sizeof(text), "-");
	else if (cell->type == CELL_TEXT)
		put_heading(cell->text, style->raw, text, sizeof(text));
	else
		unit_print(cell, style->begin_ns, text, sizeof(text));
	html_put_string(text, out);
}

void table_put_cell(const struct table *table, const struct table_style *style, size_t row, int column,
	FILE *out)
{
	put_cell(&table->cells[row * table->n_columns + column], style, out);
}

static void put_head(const struct table *table, FILE *out)
{
	char name[TEXT_MAX];

	fputs("<thead><tr>", out);
	for (int i = 0; i < table->n_columns; i++) {
		put_heading(table->columns[i].name, false, name, sizeof(name));
		fprintf(out, "<th scope=\"col\"%s>", is_number(table, i) ? " class=\"n\"" : "");
		html_put_string(name, out);
		fputs("</th>", out);
	}
	fputs("</tr></thead>\n", out);
}

static bool has_long_word(const struct cell *cell)
{
	size_t len = 0;

	for (size_t i = 0; i < cell->len && len <= WORD_LONG; i++)
		len = cell->text[i] == ' ' ? 0 : len + 1;
	return len > WORD_LONG;
}

static const char *cell_tag(const struct cell *cell)
{
	if (cell->type != CELL_TEXT)
		return "<td class=\"n\">";
	return has_long_word(cell) ? "<td class=\"long\">" : "<td>";
}

static void put_rows(const struct table *table, const struct table_style *style, FILE *out)
{
	fputs("<tbody>\n", out);
	for (size_t row = 0; row < table_rows(table); row++) {
		fputs(table->total && row + 1 == table_rows(table) ? "<tr class=\"total\">" : "<tr>", out);
		for (int i = 0; i < table->n_columns; i++) {
			const struct cell *cell = &table->cells[row * table->n_columns + i];

			fputs(cell_tag(cell), out);
			put_cell(cell, style, out);
			fputs("</td>", out);
		}
		fputs("</tr>\n", out);
	}
	fputs("</tbody>", out);
}

void table_put_html(const struct table *table, const struct table_style *style, FILE *out)
{
	fputs("<div class=\"scroll\"><table data-columns=\"", out);
	for (int i = 0; i < table->n_columns; i++) {
		fputs(i ? "," : "", out);
		html_put_string(table->columns[i].name, out);
	}
	fputs("\">\n", out);
	put_head(table, out);
	put_rows(table, style, out);
	fputs("</table></div>\n", out);
	if (table_rows(table) == 0)
		fputs("<p>(nothing)</p>\n", out);
	for (int i = 0; i < table->n_notes; i++) {
		fputs("<p class=\"note\">", out);
		html_put_string(table->notes[i], out);
		fputs("</p>\n", out);
	}
}

void table_put_facts(const struct table *table, const struct table_style *style, FILE *out)
{
	fputs("<dl class=\"facts\">\n", out);
	for (size_t row = 0; row < table_rows(table); row++) {
		fputs("<div><dt>", out);
		put_cell(&table->cells[row * table->n_columns], style, out);
		fputs("</dt><dd>", out);
		put_cell(&table->cells[row * table->n_columns + 1], style, out);
		fputs("</dd></div>\n", out);
	}
	fputs("</dl>\n", out);
}

int table_put_data(struct table *table, const struct table_style *style, FILE *out)
{
	struct table_style json = *style;
	cleanup_free char *text = NULL;
	size_t len = 0;
	FILE *memory = open_memstream(&text, &len);
	int r;

	if (!memory)
		return -errno;
	json.format = TABLE_JSON;
	r = table_print(table, &json, memory);
	if (fclose(memory) != 0 && r == 0)
		r = -errno;
	if (r == 0)
		html_put_json(text, len, out);
	return r;
}
