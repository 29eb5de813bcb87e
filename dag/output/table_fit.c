/* SPDX-License-Identifier: MIT */

/* Which columns of a table fit into a terminal, and how wide they are. */

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "dag/output/table_internal.h"

#define WIDTH_USUAL 80
#define LONG_LEAST 20 /* of a column of paths or commands: less says nothing */
#define SEPARATOR 2

/* What is left out first: numbers by which a row is found elsewhere, and what follows from other columns. */
static const char *const minor[] = { "host", "job", "pid", "trace_id", "process", "program", "phase", "sd", "sum", "end_ns", "mostly", "xform",
	"min", "max", "fstype", "mount", "slack_ns", "file", "via", NULL };

/* Columns that are cut if the terminal is too narrow. */
bool is_long(const char *column)
{
	static const char *const names[] = { "path", "from", "file", "command", "exe", "detail", "bar", "flags", NULL };

	for (int i = 0; names[i]; i++)
		if (strcmp(names[i], column) == 0)
			return true;
	return false;
}

int terminal_width(int fd)
{
	struct winsize size;

	return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : WIDTH_USUAL;
}

static int width_of(const struct table *table, const int *widths, int column)
{
	return is_long(table->columns[column].name) && widths[column] > LONG_LEAST ? LONG_LEAST : widths[column];
}

static int sum_up(const struct table *table, const int *widths, const bool *hidden)
{
	int sum = -SEPARATOR;

	for (int i = 0; i < table->n_columns; i++)
		sum += hidden[i] ? 0 : width_of(table, widths, i) + SEPARATOR;
	return sum;
}

static bool is_empty(const struct table *table, int column)
{
	for (size_t i = (size_t)column; i < table->n_cells; i += (size_t)table->n_columns)
		if (table->cells[i].type != CELL_NULL)
			return false;
	return true;
}

static void share_rest(const struct table *table, int *widths, const bool *hidden, int rest)
{
	int n = 0;

	for (int i = 0; i < table->n_columns; i++)
		n += !hidden[i] && widths[i] > width_of(table, widths, i);
	for (int i = 0; i < table->n_columns; i++) {
		int least = width_of(table, widths, i), more = n ? rest / n : 0;

		if (hidden[i] || widths[i] <= least)
			continue;
		widths[i] = widths[i] < least + more ? widths[i] : least + more;
		rest -= widths[i] - least;
		n--;
	}
}

void fit_columns(const struct table *table, int width, int *widths, bool *ret_hidden)
{
	for (int i = 0; i < table->n_columns && sum_up(table, widths, ret_hidden) > width; i++)
		ret_hidden[i] = i > 0 && is_empty(table, i);
	for (int k = 0; minor[k] && sum_up(table, widths, ret_hidden) > width; k++) {
		int column = table_find(table, minor[k]);

		if (column > 0)
			ret_hidden[column] = true;
	}
	for (int i = table->n_columns - 1; i > 0 && sum_up(table, widths, ret_hidden) > width; i--)
		ret_hidden[i] |= !is_long(table->columns[i].name);
	for (int i = table->n_columns - 1; i > 0 && sum_up(table, widths, ret_hidden) > width; i--)
		ret_hidden[i] = true;
	share_rest(table, widths, ret_hidden, width - sum_up(table, widths, ret_hidden));
}
