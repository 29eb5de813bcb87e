/* SPDX-License-Identifier: MIT */
#include "dag/output/table_internal.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/failure.h"
#include "base/saturate.h"
#include "base/units.h"
#include "base/vector.h"

const char *const table_formats[] = { "table", "csv", "tsv", "json", NULL };
_Static_assert(sizeof(table_formats) / sizeof(table_formats[0]) == TABLE_FORMAT_MAX + 1,
	"a name for each format");

struct table *table_create(void)
{
	return calloc(1, sizeof(struct table));
}

void table_destroy(struct table *table)
{
	if (!table)
		return;
	arena_free(&table->names);
	arena_free(&table->texts);
	lines_destroy(table->lines);
	free(table->columns);
	free(table->notes);
	free(table->cells);
	free(table);
}

/* ---- columns ---- */

void table_column(struct table *table, const char *name, size_t len)
{
	const struct column column = { arena_text(&table->names, name, len), unit_of(name, len) };

	table->failed |= !column.name || vector_push(table->columns, table->n_columns, column) < 0;
}

void table_columns(struct table *table, const char *names)
{
	while (*names) {
		size_t len = strcspn(names, " ");

		table_column(table, names, len);
		names += len + strspn(names + len, " ");
	}
}

void table_narrow(struct table *table, const char *names)
{
	table->narrow = names;
}

int table_find(const struct table *table, const char *name)
{
	for (int i = 0; i < table->n_columns; i++) {
		const char *column = table->columns[i].name;
		size_t stem = unit_stem(column);

		if (strcmp(column, name) == 0 ||
			(strlen(name) == stem && strncmp(column, name, stem) == 0))
			return i;
	}
	return -1;
}

/* ---- cells ---- */

#define TEXT_ROWS 10000 /* of a stream of text: by these the columns get their widths */

static int print_text_rows(struct table *table)
{
	if (!table->lines)
		table->lines = lines_create(table, table->stream_style, table->stream);
	return table->lines ? lines_put(table->lines, table, table->stream_style) : -ENOMEM;
}

static void flush_rows(struct table *table)
{
	if (table->error == 0 && !table->failed)
		table->error = table->stream_style->format == TABLE_TEXT ? print_text_rows(table)
			: print_row(table, table->stream_style, 0, table->stream);
	table->streamed += table_rows(table);
	table->n_cells = 0;
	arena_clear(&table->texts);
}

void table_stream(struct table *table, const struct table_style *style, FILE *out)
{
	bool is_text = style->format == TABLE_TEXT;

	table->stream_style = style;
	table->stream = out;
	table->held = is_text ? TEXT_ROWS : 1;
	table->cells = calloc((size_t)table->n_columns * table->held + 1, sizeof(*table->cells));
	if (!is_text)
		print_begin(table, style, out);
}

void table_flush(struct table *table)
{
	if (table->stream && table->n_cells)
		flush_rows(table);
}

static struct cell *add_cell(struct table *table)
{
	static struct cell none;
	struct cell *cell;

	if (table->stream && table->n_cells == (size_t)table->n_columns * table->held)
		flush_rows(table);
	if (table->n_columns == 0 ||
		(table->stream ? !table->cells
			       : vector_reserve(table->cells, table->n_cells) < 0)) {
		table->failed = true;
		return &none;
	}
	cell = &table->cells[table->n_cells];
	*cell = (struct cell){ .unit = table->columns[table->n_cells % table->n_columns].unit };
	table->n_cells++;
	return cell;
}

void table_row(struct table *table)
{
	while (table->n_columns && table->n_cells % table->n_columns && !table->failed)
		add_cell(table);
}

void table_null(struct table *table)
{
	add_cell(table);
}

void table_int(struct table *table, int64_t number)
{
	struct cell *cell = add_cell(table);

	cell->type = CELL_INT;
	cell->number = number;
}

void table_real(struct table *table, double number)
{
	struct cell *cell = add_cell(table);

	if (!isnan(number)) {
		cell->type = CELL_REAL;
		cell->real = number;
	}
}

void table_sum(struct table *table, __int128 sum)
{
	if (sum >= INT64_MIN && sum <= INT64_MAX)
		table_int(table, (int64_t)sum);
	else
		table_real(table, (double)sum);
}

static void set_text(struct table *table, struct cell *cell, const char *bytes, size_t len)
{
	const char *copy = arena_text(&table->texts, bytes, len);

	table->failed |= !copy;
	cell->text = copy ? copy : "";
	cell->len = copy ? (uint32_t)len : 0;
	cell->type = CELL_TEXT;
}

void table_text(struct table *table, const char *bytes, size_t len)
{
	set_text(table, add_cell(table), bytes, len);
}

void table_string(struct table *table, const char *string)
{
	if (string)
		table_text(table, string, strlen(string));
	else
		table_null(table);
}

void table_name(struct table *table, const char *name)
{
	table_string(table, name);
	if (table->n_cells)
		table->cells[table->n_cells - 1].unit = UNIT_NAME;
}

void table_unit(struct table *table, const char *name)
{
	if (table->n_cells)
		table->cells[table->n_cells - 1].unit = unit_of(name, strlen(name));
}

void table_total(struct table *table)
{
	table->total = table_rows(table) > 0;
}

size_t table_rows(const struct table *table)
{
	return table->n_columns ? table->n_cells / table->n_columns : 0;
}

const char *table_string_at(const struct table *table, size_t row, int column)
{
	const struct cell *cell = &table->cells[row * (size_t)table->n_columns + (size_t)column];

	return cell->type == CELL_TEXT ? cell->text : NULL;
}

double table_number(const struct table *table, size_t row, int column, double unknown)
{
	const struct cell *cell = &table->cells[row * (size_t)table->n_columns + (size_t)column];

	return cell->type == CELL_INT ? (double)cell->number : cell->type == CELL_REAL ? cell->real : unknown;
}

void table_set_real(struct table *table, size_t row, int column, double number)
{
	struct cell *cell = &table->cells[row * table->n_columns + column];

	cell->type = isnan(number) ? CELL_NULL : CELL_REAL;
	cell->real = number;
}

void table_set_string(struct table *table, size_t row, int column, const char *string)
{
	set_text(table, &table->cells[row * table->n_columns + column], string, strlen(string));
}

void table_set_null(struct table *table, size_t row, int column)
{
	table->cells[row * table->n_columns + column].type = CELL_NULL;
}

bool table_get_int(const struct table *table, size_t row, int column, int64_t *ret)
{
	const struct cell *cell = &table->cells[row * table->n_columns + column];

	*ret = cell->type == CELL_INT ? cell->number : 0;
	return cell->type == CELL_INT;
}

bool table_get_real(const struct table *table, size_t row, int column, double *ret)
{
	const struct cell *cell = &table->cells[row * table->n_columns + column];

	*ret = cell->type == CELL_INT ? (double)cell->number : cell->real;
	return cell->type == CELL_INT || cell->type == CELL_REAL;
}

bool table_failed(const struct table *table)
{
	return table->failed;
}

void table_note(struct table *table, const char *format, ...)
{
	cleanup_free char *text = NULL;
	const char *note = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&text, format, args) >= 0)
		note = arena_text(&table->names, text, strlen(text));
	va_end(args);
	table->failed |= !note || vector_push(table->notes, table->n_notes, note) < 0;
}

/* ---- order ---- */

struct order {
	const struct table *table;
	int column;
	int sign; /* of numbers; texts are in the opposite order */
};

static int compare_cells(const struct cell *a, const struct cell *b, int sign)
{
	int r;

	if (a->type == CELL_NULL || b->type == CELL_NULL)
		return (a->type == CELL_NULL) - (b->type == CELL_NULL);
	if (a->type == CELL_TEXT && b->type == CELL_TEXT) {
		r = memcmp(a->text, b->text, a->len < b->len ? a->len : b->len);
		return -sign * (r ? r : (a->len > b->len) - (a->len < b->len));
	}
	if (a->type == CELL_TEXT || b->type == CELL_TEXT)
		return (a->type == CELL_TEXT) - (b->type == CELL_TEXT);
	if (a->type == CELL_INT && b->type == CELL_INT)
		return sign * ((a->number > b->number) - (a->number < b->number));
	return sign * (((a->type == CELL_INT ? (double)a->number : a->real) >
			       (b->type == CELL_INT ? (double)b->number : b->real)) -
			      ((a->type == CELL_INT ? (double)a->number : a->real) <
				      (b->type == CELL_INT ? (double)b->number : b->real)));
}

/* Rows that are equal keep their order. */
static int compare_rows(const void *a, const void *b, void *arg)
{
	const struct order *order = arg;
	size_t x = *(const size_t *)a, y = *(const size_t *)b;
	int n = order->table->n_columns;
	int r = compare_cells(&order->table->cells[x * n + order->column],
		&order->table->cells[y * n + order->column], order->sign);

	return r ? r : (x > y) - (x < y);
}

int table_sort(struct table *table, const char *column)
{
	bool reverse = *column == '-';
	struct order order = { table, table_find(table, column + reverse), reverse ? 1 : -1 };
	size_t rows = table_rows(table), width = table->n_columns;
	cleanup_free size_t *index = malloc((rows + 1) * sizeof(*index));
	cleanup_free struct cell *cells = malloc((table->n_cells + 1) * sizeof(*cells));

	if (order.column < 0)
		return -EINVAL;
	if (!index || !cells)
		return -ENOMEM;
	for (size_t i = 0; i < rows; i++)
		index[i] = i;
	qsort_r(index, rows - table->total, sizeof(*index), compare_rows, &order);
	if (rows)
		memcpy(cells, table->cells, table->n_cells * sizeof(*cells));
	for (size_t i = 0; i < rows; i++)
		memcpy(table->cells + i * width, cells + index[i] * width, width * sizeof(*cells));
	return 0;
}

/* name: not ended by NUL. */
static int find_column(const struct table *table, const char *name, size_t len)
{
	char text[64];

	if (len >= sizeof(text))
		return -1;
	memcpy(text, name, len);
	text[len] = '\0';
	return table_find(table, text);
}

int table_select(struct table *table, const char *names, const char **ret_unknown, int *ret_len)
{
	size_t rows = table_rows(table), n = 1, at = 0;
	cleanup_free struct column *columns = NULL;
	cleanup_free int *chosen = NULL;
	struct cell *cells;

	for (const char *c = names; *c; c++)
		n += *c == ',';
	columns = malloc(n * sizeof(*columns));
	chosen = malloc(n * sizeof(*chosen));
	cells = malloc((rows * n + 1) * sizeof(*cells));
	for (const char *name = names; columns && chosen && cells && at < n; name += strcspn(name, ","), name += *name == ',', at++) {
		size_t len = strcspn(name, ",");

		chosen[at] = find_column(table, name, len);
		if (chosen[at] < 0) {
			*ret_unknown = name;
			*ret_len = (int)len;
			free(cells);
			return -EINVAL;
		}
		columns[at] = table->columns[chosen[at]];
	}
	if (at < n) {
		free(cells);
		return -ENOMEM;
	}
	for (size_t row = 0; row < rows; row++)
		for (size_t i = 0; i < n; i++)
			cells[row * n + i] = table->cells[row * (size_t)table->n_columns + (size_t)chosen[i]];
	free(table->cells);
	free(table->columns);
	table->cells = cells;
	table->n_cells = rows * n;
	table->columns = columns;
	columns = NULL;
	table->n_columns = (int)n;
	table->narrow = NULL;
	return 0;
}

void table_top(struct table *table, size_t rows)
{
	size_t all = table_rows(table) - table->total, width = table->n_columns;

	if (rows >= all)
		return;
	if (table->total)
		memmove(table->cells + rows * width, table->cells + all * width,
			width * sizeof(*table->cells));
	table->n_cells = (rows + table->total) * width;
	table_note(table, "%zu of %zu rows", rows, all);
}

const char *table_column_name(const struct table *table, int column)
{
	return column < table->n_columns ? table->columns[column].name : NULL;
}

static int fail_column(const struct table *table, const char *name, int len, struct failure *failure)
{
	cleanup_free char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	for (int i = 0; out && i < table->n_columns; i++)
		fprintf(out, "%s%s", i ? ", " : "", table->columns[i].name);
	if (!out || fclose(out) != 0)
		return failure_memory(failure);
	return failure_set(failure, FAILURE_USAGE, "there is no column '%.*s'; the columns are %s", len, name, text);
}

int table_arrange(struct table *table, const char *sort, int64_t top, const char *columns, struct failure *failure)
{
	const char *unknown = sort && *sort == '-' ? sort + 1 : sort;
	int len = unknown ? (int)strlen(unknown) : 0, r = sort ? table_sort(table, sort) : 0;

	if (r == 0 && top >= 0)
		table_top(table, (size_t)top);
	if (r == 0 && columns)
		r = table_select(table, columns, &unknown, &len);
	return r == -EINVAL ? fail_column(table, unknown, len, failure) : failure_of_memory(failure, r);
}

/* ---- units ---- */

static const struct {
	const char *end;
	enum unit unit;
	bool shown; /* the formatted number has the unit */
} ends[] = {
	{ "_rate", UNIT_RATE, false },
	{ "_bytes", UNIT_BYTES, true },
	{ "_share", UNIT_SHARE, true },
	{ "_ns", UNIT_NS, true },
	{ "_s", UNIT_SECONDS, true },
	{ "_without_cpu", UNIT_PROCESSES, false },
	{ "_without_io", UNIT_PROCESSES, false },
};
#define END_MAX (sizeof(ends) / sizeof(ends[0]))

/* Whole names that have a unit. */
static const struct {
	const char *name;
	enum unit unit;
} named[] = {
	{ "begin_ns", UNIT_DATE },
	{ "complete", UNIT_YES },
	{ "errno", UNIT_ERROR },
	{ "result", UNIT_RESULT },
	{ "exit_signal", UNIT_SIGNAL },
};
#define NAMED_MAX (sizeof(named) / sizeof(named[0]))

static const char *const points[] = { "start_ns", "end_ns", "first_ns", "last_ns", "open_ns",
	"close_ns", "t_ns", "first_write_ns", "last_write_ns", "first_read_ns", "last_use_ns",
	"deleted_ns", "delete_after_ns", NULL };

enum unit unit_of(const char *name, size_t len)
{
	for (int i = 0; points[i]; i++)
		if (strlen(points[i]) == len && strncmp(points[i], name, len) == 0)
			return UNIT_POINT;
	for (size_t i = 0; i < NAMED_MAX; i++)
		if (strlen(named[i].name) == len && strncmp(named[i].name, name, len) == 0)
			return named[i].unit;
	for (size_t i = 0; i < END_MAX; i++) {
		size_t n = strlen(ends[i].end);

		if (len > n && strncmp(name + len - n, ends[i].end, n) == 0)
			return ends[i].unit;
	}
	return UNIT_NONE;
}

size_t unit_stem(const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < END_MAX; i++) {
		size_t n = strlen(ends[i].end);

		if (len > n && strcmp(name + len - n, ends[i].end) == 0)
			return len - (ends[i].shown ? n : 0);
	}
	return len;
}

/* A number that has a name, or may have one. */
static void print_named(double number, const char *before, const char *name, char *out, size_t size)
{
	if (name)
		snprintf(out, size, "%s%s", before, name);
	else
		snprintf(out, size, "%.0f", number);
}

static const char *error_name(double number)
{
	return number > 0 && number < 4096 ? strerrorname_np((int)number) : NULL;
}

static const char *signal_name(double number)
{
	return number > 0 && number < NSIG ? sigabbrev_np((int)number) : NULL;
}

static void print_date(double ns, char *out, size_t size)
{
	time_t seconds = fabs(ns) < (double)INT64_MAX ? (time_t)(ns / 1e9) : 0;
	struct tm tm;

	strftime(out, size, "%Y-%m-%d %H:%M:%S", localtime_r(&seconds, &tm));
}

void unit_print(const struct cell *cell, int64_t begin_ns, char *out, size_t size)
{
	double number = cell->type == CELL_INT ? (double)cell->number : cell->real;

	switch ((enum unit)cell->unit) {
	case UNIT_DATE:
		print_date(number, out, size);
		break;
	case UNIT_NS:
		units_time(number, out, size);
		break;
	case UNIT_POINT:
		snprintf(out, size, "%.6f s",
			(cell->type == CELL_INT ? (double)saturate_subtract(cell->number, begin_ns)
						: number - (double)begin_ns) /
				1e9);
		break;
	case UNIT_SECONDS:
		snprintf(out, size, "%.3f s", number);
		break;
	case UNIT_BYTES:
		units_bytes(number, out, size);
		break;
	case UNIT_RATE:
		units_rate(number, out, size);
		break;
	case UNIT_SHARE:
		snprintf(out, size, "%.1f", number * 100);
		break;
	case UNIT_PROCESSES:
		snprintf(out, size, "%.0f %s", number, number == 1 ? "process" : "processes");
		break;
	case UNIT_ERROR:
		print_named(number, "", error_name(number), out, size);
		break;
	case UNIT_RESULT:
		print_named(number, "", error_name(-number), out, size);
		break;
	case UNIT_SIGNAL:
		print_named(number, "SIG", signal_name(number), out, size);
		break;
	case UNIT_YES:
		snprintf(out, size, "%s", number != 0 ? "yes" : "no");
		break;
	default:
		if (cell->type == CELL_INT)
			snprintf(out, size, "%lld", (long long)cell->number);
		else
			snprintf(out, size, fabs(number) >= 1000 ? "%.0f" : "%.4g", number);
	}
}
