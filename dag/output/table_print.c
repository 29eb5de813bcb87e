/* SPDX-License-Identifier: MIT */
#include "dag/output/table_internal.h"

#include <errno.h>
#include <jansson.h>
#include <libsmartcols.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "dag/output/json.h"
#include "dag/output/markdown.h"
#include "dag/output/pager.h"

/* Most cells of large tables are integers, and printf() takes longer to write one than SQLite to find it. */
static void put_integer(int64_t number, char text[TEXT_MAX])
{
	uint64_t left = number < 0 ? -(uint64_t)number : (uint64_t)number;
	char *at = text + TEXT_MAX - 1;

	*at = '\0';
	do
		*--at = (char)('0' + left % 10);
	while (left /= 10);
	if (number < 0)
		*--at = '-';
	memmove(text, at, text + TEXT_MAX - at);
}

/* 15 digits: equal values are equal texts, in whichever order they were computed. */
static void raw_number(const struct cell *cell, char text[TEXT_MAX])
{
	if (cell->type == CELL_INT)
		put_integer(cell->number, text);
	else
		snprintf(text, TEXT_MAX, "%.15g", cell->real);
}

/* ---- csv, tsv ---- */

static void put_csv(const char *text, size_t len, FILE *out)
{
	bool quote = len == 0;

	for (size_t i = 0; i < len && !quote; i++)
		quote = text[i] == '"' || text[i] == ',' || text[i] == '\r' || text[i] == '\n';
	if (!quote) {
		fwrite(text, 1, len, out);
		return;
	}
	fputc('"', out);
	for (size_t i = 0; i < len; i++) {
		if (text[i] == '"')
			fputc('"', out);
		fputc(text[i], out);
	}
	fputc('"', out);
}

static void put_tsv(const char *text, size_t len, FILE *out)
{
	for (size_t i = 0; i < len; i++)
		switch (text[i]) {
		case '\t':
			fputs("\\t", out);
			break;
		case '\n':
			fputs("\\n", out);
			break;
		case '\r':
			fputs("\\r", out);
			break;
		case '\\':
			fputs("\\\\", out);
			break;
		default:
			fputc(text[i], out);
		}
}

static void put_names(const struct table *table, bool csv, FILE *out)
{
	for (int i = 0; i < table->n_columns; i++) {
		if (i)
			fputc(csv ? ',' : '\t', out);
		(csv ? put_csv : put_tsv)(table->columns[i].name, strlen(table->columns[i].name),
			out);
	}
	fputs(csv ? "\r\n" : "\n", out);
}

static void put_separated(const struct table *table, size_t row, bool csv, FILE *out)
{
	const struct cell *cell = &table->cells[row * table->n_columns];
	char text[TEXT_MAX];

	for (int i = 0; i < table->n_columns; i++, cell++) {
		if (i)
			fputc(csv ? ',' : '\t', out);
		if (cell->type == CELL_TEXT) {
			(csv ? put_csv : put_tsv)(cell->text, cell->len, out);
		} else if (cell->type != CELL_NULL) {
			raw_number(cell, text);
			fputs(text, out);
		}
	}
	fputs(csv ? "\r\n" : "\n", out);
}

/* ---- json ---- */

static json_t *json_cell(const struct cell *cell)
{
	switch ((enum cell_type)cell->type) {
	case CELL_INT:
		return json_integer(cell->number);
	case CELL_REAL:
		return json_real(cell->real);
	case CELL_TEXT:
		return json_text(cell->text, cell->len);
	default:
		return json_null();
	}
}

/* 0 or -ENOMEM.  Errors of out are found by ferror() later. */
static int dump_json(const json_t *json, FILE *out, size_t flags)
{
	return json_dumpf(json, out, flags) == 0 || ferror(out) ? 0 : -ENOMEM;
}

/* 0 or -errno */
static int put_json(const struct table *table, size_t row, FILE *out)
{
	json_t *object = json_object();
	bool failed = !object;

	for (int i = 0; i < table->n_columns && !failed; i++) {
		json_t *name = json_text(table->columns[i].name, strlen(table->columns[i].name));

		failed = !name || json_object_set_new(object, json_string_value(name),
					  json_cell(&table->cells[row * table->n_columns + i]));
		json_decref(name);
	}
	fputs(row || table->streamed ? ",\n" : "\n", out);
	failed = failed || dump_json(object, out, JSON_COMPACT | JSON_REAL_PRECISION(15)) < 0;
	json_decref(object);
	return failed ? -ENOMEM : 0;
}

static int print_json_string(const char *text, FILE *out)
{
	json_t *json = json_text(text, strlen(text));
	int r = json ? dump_json(json, out, JSON_ENCODE_ANY) : -ENOMEM;

	json_decref(json);
	return r;
}

/* 0 or -errno */
static int end_json(const struct table *table, FILE *out)
{
	int r = 0;

	fputs("],\n\"notes\":[", out);
	for (int i = 0; i < table->n_notes && r == 0; i++) {
		fputs(i ? ",\n" : "\n", out);
		r = print_json_string(table->notes[i], out);
	}
	if (r == 0)
		fputs("]}\n", out);
	return r;
}

/* ---- text ---- */

/* Headings of names that would say too little by themselves. */
static const struct {
	const char *name, *heading;
} headings[] = {
	{ "files_ro", "only read" },
	{ "files_wo", "only written" },
	{ "files_rw", "both" },
	{ "files_none", "neither" },
	{ "processes_ro", "only reading" },
	{ "processes_wo", "only writing" },
	{ "processes_rw", "reading and writing" },
	{ "processes_none", "neither of them" },
	{ "processes_without_cpu", "CPU time unknown for" },
	{ "processes_without_io", "reads and writes unknown for" },
	{ "wall_ns", "length of the run" },
	{ "tracer_cpu_ns", "CPU time of tracing" },
	{ "largest_rss_bytes", "most memory" },
	{ "all_io_bytes", "moved by all processes" },
	{ "process_tier", "processes seen by" },
};

/* The name of a column without the unit, which its numbers show; only " %" stands in the heading. */
void put_heading(const char *name, bool raw, char *out, size_t size)
{
	bool share = !raw && unit_of(name, strlen(name)) == UNIT_SHARE;

	for (size_t i = 0; i < sizeof(headings) / sizeof(headings[0]) && !raw; i++)
		if (strcmp(name, headings[i].name) == 0) {
			snprintf(out, size, "%s", headings[i].heading);
			return;
		}
	snprintf(out, size, "%.*s%s", (int)(raw ? strlen(name) : unit_stem(name)), name,
		share ? " %" : "");
	for (char *at = out; *at && !raw; at++)
		*at = *at == '_' ? ' ' : *at;
}

bool is_number(const struct table *table, int column)
{
	for (size_t i = column; i < table->n_cells; i += table->n_columns)
		if (table->cells[i].type == CELL_TEXT)
			return false;
	return true;
}

const char *text_of(const struct cell *cell, const struct table_style *style, char room[TEXT_MAX])
{
	if (cell->type == CELL_TEXT && cell->unit != UNIT_NAME)
		return cell->text;
	if (cell->type == CELL_NULL)
		return "-";
	if (cell->type == CELL_TEXT)
		put_heading(cell->text, style->raw, room, TEXT_MAX);
	else if (style->raw)
		raw_number(cell, room);
	else
		unit_print(cell, style->begin_ns, room, TEXT_MAX);
	return room;
}

int characters(const char *text)
{
	int n = 0;

	for (; *text; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}

/* The place of the n-th character. */
static const char *character(const char *text, int n)
{
	for (; *text && n > 0; n--)
		do
			text++;
		while (((unsigned char)*text & 0xc0) == 0x80);
	return text;
}

int shorten(const struct column *column, const struct fit *fit, const char *text, char **ret_less)
{
	int head = (fit->width - 3) / 2, n = characters(text), r;

	if (fit->width == fit->full)
		return 0;
	if (strcmp(column->name, "bar") == 0) /* is drawn to another scale */
		r = asprintf(ret_less, "%.*s", (n * fit->width + fit->full - 1) / fit->full, text);
	else if (n > fit->width) /* the middle is left out */
		r = asprintf(ret_less, "%.*s...%s", (int)(character(text, head) - text), text, character(text, n - (fit->width - 3 - head)));
	else
		return 0;
	return r < 0 ? -ENOMEM : 0;
}

/* libsmartcols takes the text up to the first NUL, which only a BLOB of a made-up trace has. */
static int set_cell(struct libscols_line *line, const struct cell *cell, size_t at, const struct column *column, const struct fit *fit,
	const struct table_style *style)
{
	char room[TEXT_MAX];
	const char *text = text_of(cell, style, room);
	cleanup_free char *less = NULL;
	int r = shorten(column, fit, text, &less);

	return r < 0 ? r : scols_line_set_data(line, at, less ? less : text);
}

void measure(const struct table *table, const struct table_style *style, struct fit *fits)
{
	char room[TEXT_MAX];

	for (int i = 0; i < table->n_columns; i++) {
		put_heading(table->columns[i].name, style->raw, room, sizeof(room));
		fits[i] = (struct fit){ .full = characters(room), .is_empty = true };
	}
	for (size_t i = 0; i < table->n_cells; i++) {
		struct fit *fit = &fits[i % (size_t)table->n_columns];
		int n = characters(text_of(&table->cells[i], style, room));

		fit->full = n > fit->full ? n : fit->full;
		fit->is_text |= table->cells[i].type == CELL_TEXT;
		fit->is_empty &= table->cells[i].type == CELL_NULL;
	}
	for (int i = 0; i < table->n_columns; i++)
		fits[i].width = fits[i].full;
}

static int fill(struct libscols_table *scols, const struct table *table, const struct table_style *style, const struct fit *fits)
{
	char name[TEXT_MAX];
	int r = 0;

	for (int i = 0; i < table->n_columns && r == 0; i++) {
		put_heading(table->columns[i].name, style->raw, name, sizeof(name));
		if (!fits[i].is_hidden)
			r = scols_table_new_column(scols, name, 0, is_number(table, i) ? SCOLS_FL_RIGHT : 0) ? 0 : -ENOMEM;
	}
	for (size_t row = 0; row < table_rows(table) && r == 0; row++) {
		struct libscols_line *line = scols_table_new_line(scols, NULL);
		const struct cell *cells = &table->cells[row * (size_t)table->n_columns];
		size_t at = 0;

		r = line ? 0 : -ENOMEM;
		for (int i = 0; i < table->n_columns && r == 0; i++)
			if (!fits[i].is_hidden)
				r = set_cell(line, &cells[i], at++, &table->columns[i], &fits[i], style);
	}
	return r;
}

/* The headings. */
static int embolden(struct libscols_table *scols)
{
	struct libscols_iter *each = scols_new_iter(SCOLS_ITER_FORWARD);
	struct libscols_column *column;
	int r = each && scols_table_enable_colors(scols, 1) == 0 ? 0 : -ENOMEM;

	while (r == 0 && scols_table_next_column(scols, each, &column) == 0)
		r = scols_cell_set_color(scols_column_get_header(column), "bold") == 0 ? 0 : -ENOMEM;
	scols_free_iter(each);
	return r;
}

/* A note in lines of that width; 0: in one. */
static void print_note(const char *text, int width, FILE *out)
{
	while (width && characters(text) > width) {
		const char *end = character(text, width);

		while (end > text && *end != ' ')
			end--;
		if (end == text) /* a word that is longer */
			break;
		fprintf(out, "%.*s\n", (int)(end - text), text);
		text = end + strspn(end, " ");
	}
	fprintf(out, "%s\n", text);
}

static void say_hidden(const struct table *table, const struct fit *fits, int width, FILE *out)
{
	cleanup_free char *text = NULL;
	size_t len = 0;
	FILE *list = open_memstream(&text, &len);
	char name[TEXT_MAX];
	int n = 0;

	for (int i = 0; list && i < table->n_columns; i++) {
		if (!fits[i].is_hidden)
			continue;
		put_heading(table->columns[i].name, false, name, sizeof(name));
		fprintf(list, "%s%s", n++ ? ", " : "Not shown, for want of width (--wide): ", name);
	}
	if (list && fclose(list) == 0 && n) {
		fputc('\n', out);
		print_note(text, width, out);
	}
}

void put_notes(const struct table *table, const struct fit *fits, int width, FILE *out)
{
	if (table_rows(table))
		say_hidden(table, fits, width, out);
	for (int i = 0; i < table->n_notes; i++) {
		fputs(i ? "" : "\n", out);
		print_note(table->notes[i], width, out);
	}
}

/* Without memory for a cell, libsmartcols leaves it empty and reports no error; errno is set. */
static int print_lines(struct libscols_table *scols, FILE *out)
{
	cleanup_free char *text = NULL;
	int r;

	errno = 0;
	if (scols_table_set_column_separator(scols, "  ") != 0 || scols_table_enable_maxout(scols, 0) != 0)
		return -ENOMEM;
	r = scols_print_table_to_string(scols, &text);
	if (r == 0 && errno == ENOMEM)
		r = -ENOMEM;
	if (r == 0 && text && *text && fprintf(out, "%s\n", text) < 0)
		r = errno ? -errno : -EIO;
	return r;
}

static int print_text(const struct table *table, const struct table_style *style, FILE *terminal)
{
	size_t n = (size_t)table->n_columns + 1;
	struct libscols_table *scols = scols_new_table();
	cleanup_free struct fit *fits = calloc(n, sizeof(*fits));
	int r = scols && fits ? 0 : -ENOMEM, width = style->width;
	struct pager pager = { .out = terminal };
	FILE *out;

	if (!width && isatty(fileno(terminal)))
		width = terminal_width(fileno(terminal));
	if (r == 0 && table->n_columns && !style->wide && width) {
		measure(table, style, fits);
		fit_columns(table, width, fits);
	}
	if (r == 0)
		r = fill(scols, table, style, fits);
	if (r == 0 && pager_has_colours(terminal))
		r = embolden(scols);
	if (!style->width)
		pager = pager_open(terminal);
	out = pager.out;
	if (r == 0 && table->n_columns)
		r = print_lines(scols, out);
	scols_unref_table(scols);
	if (table_rows(table) == 0 && r == 0)
		fputs("(nothing)\n", out);
	if (r == 0)
		put_notes(table, fits, width, out);
	pager_close(&pager);
	return r == -EPIPE && pager.pid ? 0 : r;
}

void print_begin(const struct table *table, const struct table_style *style, FILE *out)
{
	__fsetlocking(out, FSETLOCKING_BYCALLER); /* one thread writes millions of cells */
	if (style->format == TABLE_JSON)
		fprintf(out,
			"{\"schema\":\"%s/1\",\"table\":\"%s\",\"complete\":%s,\"begin_ns\":%lld,\n"
			"\"rows\":[",
			style->program, style->name, style->complete ? "true" : "false",
			(long long)style->begin_ns);
	else
		put_names(table, style->format == TABLE_CSV, out);
}

int print_row(const struct table *table, const struct table_style *style, size_t row, FILE *out)
{
	int r = 0;

	errno = 0;
	if (style->format == TABLE_JSON)
		r = put_json(table, row, out);
	else
		put_separated(table, row, style->format == TABLE_CSV, out);
	return r < 0 ? r : !ferror(out) ? 0 : errno ? -errno : -EIO;
}

int table_print(struct table *table, const struct table_style *style, FILE *out)
{
	int r = 0;

	if (table->failed)
		return -ENOMEM;
	if (table->lines) {
		table_flush(table);
		r = lines_end(table->lines, table, table->error);
	} else if (style->format == TABLE_TEXT) {
		r = print_text(table, style, out);
	} else if (style->format == TABLE_MARKDOWN) {
		r = table_put_markdown(table, style, out);
	} else if (table->stream) {
		table_flush(table);
		r = table->error;
	} else {
		print_begin(table, style, out);
		for (size_t row = 0; row < table_rows(table) && r == 0; row++)
			r = print_row(table, style, row, out);
	}
	if (style->format == TABLE_JSON && r == 0)
		r = end_json(table, out);
	if (fflush(out) != 0 && r == 0)
		r = -errno;
	return table->failed ? -ENOMEM : r < 0 ? r : ferror(out) ? -EIO : 0;
}
