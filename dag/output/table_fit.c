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

/* What is left out first, of tables that do not say it: numbers by which a row is found elsewhere, and what follows from other columns. */
static const char *const minor[] = { "host", "job", "pid", "trace_id", "process", "program", "phase", "sd", "sum", "end_ns", "mostly", "xform", "sequential_share", "strided_share",
	"min", "max", "fstype", "mount", "slack_ns", "file", "via", NULL };

int terminal_width(int fd)
{
	struct winsize size;

	return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : WIDTH_USUAL;
}

/* Texts are cut, numbers are not. */
static int least_width(const struct fit *fit)
{
	return fit->is_text && fit->width > LONG_LEAST ? LONG_LEAST : fit->width;
}

static bool is_too_wide(const struct fit *fits, int n, int width)
{
	int sum = -SEPARATOR;

	for (int i = 0; i < n; i++)
		sum += fits[i].is_hidden ? 0 : least_width(&fits[i]) + SEPARATOR;
	return sum > width;
}

static void share_rest(struct fit *fits, int n_columns, int rest)
{
	int n = 0;

	for (int i = 0; i < n_columns; i++) {
		n += !fits[i].is_hidden && fits[i].width > least_width(&fits[i]);
		rest -= fits[i].is_hidden ? 0 : least_width(&fits[i]) + SEPARATOR;
	}
	for (int i = 0; i < n_columns; i++) {
		int least = least_width(&fits[i]), more = n && rest > 0 ? rest / n : 0;

		if (fits[i].is_hidden || fits[i].width <= least)
			continue;
		fits[i].width = fits[i].width < least + more ? fits[i].width : least + more;
		rest -= fits[i].width - least;
		n--;
	}
}

/* The place of a column among those of a narrow terminal, the first one is 1; 0: it is none of them. */
static int place_of(const struct table *table, int column)
{
	const char *name = table->columns[column].name, *at = table->narrow;
	int place = 1;

	for (size_t len; *at; at += len + (at[len] == ' '), place++) {
		len = strcspn(at, " ");
		if (strlen(name) == len && strncmp(name, at, len) == 0)
			return place;
	}
	return 0;
}

/* Leaves out what the table does not name, then what it names last. */
static void hide_by_place(const struct table *table, struct fit *fits, int width)
{
	int n = table->n_columns;

	for (int i = 1; i < n; i++)
		fits[i].is_hidden |= place_of(table, i) == 0;
	while (is_too_wide(fits, n, width)) {
		int last = 0;

		for (int i = 1; i < n; i++)
			if (!fits[i].is_hidden && (last == 0 || place_of(table, i) > place_of(table, last)))
				last = i;
		if (last == 0)
			return;
		fits[last].is_hidden = true;
	}
}

static void hide_minor(const struct table *table, struct fit *fits, int width)
{
	int n = table->n_columns;

	for (int k = 0; minor[k] && is_too_wide(fits, n, width); k++) {
		int column = table_find(table, minor[k]);

		if (column > 0)
			fits[column].is_hidden = true;
	}
	for (int i = n - 1; i > 0 && is_too_wide(fits, n, width); i--)
		fits[i].is_hidden |= !fits[i].is_text;
	for (int i = n - 1; i > 0 && is_too_wide(fits, n, width); i--)
		fits[i].is_hidden = true;
}

void fit_columns(const struct table *table, int width, struct fit *fits)
{
	int n = table->n_columns;

	for (int i = n - 1; i > 0 && is_too_wide(fits, n, width); i--)
		fits[i].is_hidden = fits[i].is_empty;
	if (is_too_wide(fits, n, width))
		(table->narrow ? hide_by_place : hide_minor)(table, fits, width);
	share_rest(fits, n, width + SEPARATOR);
}
