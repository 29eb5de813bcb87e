/* SPDX-License-Identifier: MIT */

/*
 * A long table as text: rows are printed in parts, as they come.  The widths of columns follow from the rows of the first part, and
 * grow with later ones.  On a terminal they are those of any table; elsewhere texts may be wider than their column and move what
 * follows them, for otherwise a single long path would widen each of a million lines.
 */

#include "dag/output/table_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "dag/output/pager.h"
#include "dag/output/printable.h"

#define WIDTH_MOST 256 /* of a column */
#define WIDER 20       /* one of so many texts may be wider than its column */

struct lines {
	struct pager pager;
	struct printable printable;
	FILE *terminal;
	struct fit *fits; /* of the rows so far */
	bool *texts;	  /* columns with a text; the others are of numbers */
	int width; /* of the terminal; 0: there is none */
	bool begun;
};

struct lines *lines_create(const struct table *table, const struct table_style *style, FILE *out)
{
	size_t n = (size_t)table->n_columns + 1;
	struct lines *lines = calloc(1, sizeof(*lines));

	if (!lines)
		return NULL;
	lines->terminal = out;
	lines->pager = (struct pager){ .out = out };
	lines->fits = calloc(n, sizeof(*lines->fits));
	lines->texts = calloc(n, sizeof(*lines->texts));
	lines->width = style->wide ? 0 : isatty(fileno(out)) ? terminal_width(fileno(out)) : 0;
	if (lines->fits && lines->texts)
		return lines;
	lines_destroy(lines);
	return NULL;
}

void lines_destroy(struct lines *lines)
{
	if (!lines)
		return;
	printable_finish(&lines->printable);
	free(lines->fits);
	free(lines->texts);
	free(lines);
}

/* ---- widths ---- */

/* Of the heading and of most texts in a column. */
static int usual_width(const struct table *table, const struct table_style *style, int column)
{
	size_t count[WIDTH_MOST + 1] = { 0 }, wider = 0, rows = table_rows(table);
	char room[TEXT_MAX];
	int width = WIDTH_MOST, least;

	put_heading(table->columns[column].name, style->raw, room, sizeof(room));
	least = characters(room);
	for (size_t row = 0; row < rows; row++) {
		int n = characters(text_of(&table->cells[row * (size_t)table->n_columns + (size_t)column], style, room));

		count[n < WIDTH_MOST ? n : WIDTH_MOST]++;
	}
	while (width > least && (wider += count[width]) <= rows / WIDER)
		width--;
	return width;
}

/* Joins what is known of a column with what a part of the rows needs. */
static void join(struct fit *fit, const struct fit *part, bool first)
{
	fit->full = part->full > fit->full ? part->full : fit->full;
	fit->is_text |= part->is_text;
	fit->is_empty = part->is_empty && (first || fit->is_empty);
}

/* The columns that the first part shows stay; their widths follow from all parts. */
static void share(struct lines *lines, const struct table *table, struct fit *room)
{
	for (int i = 0; i < table->n_columns; i++) {
		const struct fit *fit = &lines->fits[i];

		room[i] = (struct fit){ .width = fit->full, .full = fit->full, .is_text = fit->is_text, .is_empty = fit->is_empty };
	}
	if (lines->width)
		fit_columns(table, lines->width, room);
	for (int i = 0; i < table->n_columns; i++) {
		if (!lines->begun)
			lines->fits[i].is_hidden = room[i].is_hidden;
		if (!room[i].is_hidden)
			lines->fits[i].width = room[i].width;
	}
}

/* 0 or -ENOMEM */
static int widen(struct lines *lines, const struct table *table, const struct table_style *style)
{
	cleanup_free struct fit *part = calloc((size_t)table->n_columns + 1, sizeof(*part));

	if (!part)
		return -ENOMEM;
	measure(table, style, part);
	for (int i = 0; i < table->n_columns; i++) {
		if (!lines->width && part[i].is_text)
			part[i].full = usual_width(table, style, i);
		join(&lines->fits[i], &part[i], !lines->begun);
	}
	share(lines, table, part);
	return 0;
}

/* ---- rows ---- */

static void put_blanks(int n, FILE *out)
{
	if (n > 0)
		fprintf(out, "%*s", n, "");
}

/* last: nothing follows in the line. */
static void put_text(struct lines *lines, const char *text, int column, bool last)
{
	const char *shown = printable_text(&lines->printable, text);
	int blanks = lines->fits[column].width - characters(shown);

	put_blanks(lines->texts[column] ? 0 : blanks, lines->pager.out);
	fputs(shown, lines->pager.out);
	put_blanks(lines->texts[column] && !last ? blanks : 0, lines->pager.out);
}

static int last_shown(const struct lines *lines, const struct table *table)
{
	int last = table->n_columns - 1;

	while (last > 0 && lines->fits[last].is_hidden)
		last--;
	return last;
}

static int put_row(struct lines *lines, const struct table *table, const struct table_style *style, size_t row)
{
	int last = last_shown(lines, table);

	for (int i = 0; i <= last; i++) {
		cleanup_free char *cut = NULL;
		char room[TEXT_MAX];
		const char *text = text_of(&table->cells[row * (size_t)table->n_columns + (size_t)i], style, room);

		if (lines->fits[i].is_hidden)
			continue;
		if (lines->width && shorten(&table->columns[i], &lines->fits[i], text, &cut) < 0)
			return -ENOMEM;
		put_text(lines, cut ? cut : text, i, i == last);
		fputs(i == last ? "\n" : "  ", lines->pager.out);
	}
	return 0;
}

static void put_headings(struct lines *lines, const struct table *table, const struct table_style *style)
{
	int last = last_shown(lines, table);
	bool bold = pager_has_colours(lines->terminal);
	char name[TEXT_MAX];

	for (int i = 0; i <= last; i++) {
		if (lines->fits[i].is_hidden)
			continue;
		put_heading(table->columns[i].name, style->raw, name, sizeof(name));
		fputs(bold ? "\033[1m" : "", lines->pager.out);
		put_text(lines, name, i, i == last);
		fputs(bold ? "\033[0m" : "", lines->pager.out);
		fputs(i == last ? "\n" : "  ", lines->pager.out);
	}
}

int lines_put(struct lines *lines, const struct table *table, const struct table_style *style)
{
	int r = widen(lines, table, style);

	for (int i = 0; i < table->n_columns; i++)
		lines->texts[i] |= !is_number(table, i);
	if (r == 0 && !lines->begun) {
		lines->pager = pager_open(lines->terminal);
		put_headings(lines, table, style);
		lines->begun = true;
	}
	errno = 0;
	for (size_t row = 0; row < table_rows(table) && r == 0; row++)
		r = put_row(lines, table, style, row);
	if (r == 0 && ferror(lines->pager.out))
		r = errno ? -errno : -EIO;
	return r < 0 ? r : lines->printable.failed ? -ENOMEM : 0;
}

int lines_end(struct lines *lines, const struct table *table, int r)
{
	if (r == 0)
		put_notes(table, lines->fits, lines->width, lines->pager.out);
	pager_close(&lines->pager);
	return r == -EPIPE && lines->pager.pid ? 0 : r;
}
