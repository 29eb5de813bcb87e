/* SPDX-License-Identifier: MIT */
#include "dag/live/page.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "base/utf8.h"
#include "base/vector.h"

void page_finish(struct page *page)
{
	for (int i = 0; i < page->height && page->lines; i++) {
		free(page->lines[i].text);
		free(page->lines[i].looks);
	}
	free(page->lines);
	printable_finish(&page->printable);
	*page = (struct page){ 0 };
}

void page_begin(struct page *page, int width, int height)
{
	if (height != page->height) {
		page_finish(page);
		page->lines = calloc((size_t)height + 1, sizeof(*page->lines));
		page->height = page->lines ? height : 0;
	}
	page->width = width;
	page->n = 0;
	page->failed = !page->lines;
}

bool page_line(struct page *page)
{
	struct page_line *line;

	if (page->n >= page->height)
		return false;
	line = &page->lines[page->n++];
	line->len = 0;
	line->columns = 0;
	if (line->text)
		line->text[0] = '\0';
	return true;
}

/* ---- characters ---- */

static wchar_t decode(const char *at, size_t n)
{
	static const unsigned char first[] = { 0, 0x7f, 0x1f, 0x0f, 0x07 };
	wchar_t code = (unsigned char)at[0] & first[n];

	for (size_t i = 1; i < n; i++)
		code = code << 6 | ((unsigned char)at[i] & 0x3f);
	return code;
}

/* The columns of a character; -1: it cannot be shown.  Of characters without a width only accents are. */
static int width_of(const char *at, size_t n)
{
	wchar_t code = decode(at, n);
	int width = n == 1 ? 1 : wcwidth(code);

	return width > 0 || (width == 0 && code >= 0x300 && code < 0x370) ? width : -1;
}

static bool append(struct page *page, enum page_attribute attribute, const char *bytes, size_t n, int columns)
{
	struct page_line *line = &page->lines[page->n - 1];
	size_t room = line->room, room_looks = line->room;

	if (vector_fit(line->text, room, line->len + n + 1) < 0 || vector_fit(line->looks, room_looks, line->len + n + 1) < 0) {
		page->failed = true;
		return false;
	}
	line->room = room;
	memcpy(line->text + line->len, bytes, n);
	memset(line->looks + line->len, (int)attribute, n);
	line->len += n;
	line->text[line->len] = '\0';
	line->columns += columns;
	return true;
}

/* Appends what fits into so many columns of a text that is printable; how many it took. */
static int append_text(struct page *page, enum page_attribute attribute, const char *text, int columns)
{
	int used = 0;

	for (size_t left = strlen(text), n; left; text += n, left -= n) {
		int width;

		n = utf8_char(text, left);
		n = n ? n : 1;
		width = width_of(text, n);
		if (used + (width < 0 ? 1 : width) > columns || !append(page, attribute, width < 0 ? "?" : text, width < 0 ? 1 : n, width < 0 ? 1 : width))
			break;
		used += width < 0 ? 1 : width;
	}
	return used;
}

static int columns_of(const char *text)
{
	int columns = 0;

	for (size_t left = strlen(text), n; left; text += n, left -= n) {
		int width;

		n = utf8_char(text, left);
		n = n ? n : 1;
		width = width_of(text, n);
		columns += width < 0 ? 1 : width;
	}
	return columns;
}

static const char *clean(struct page *page, const char *text)
{
	const char *printable = printable_text(&page->printable, text ? text : "-");

	page->failed |= page->printable.failed;
	return printable;
}

int page_columns_of(struct page *page, const char *text)
{
	return columns_of(clean(page, text));
}

/* ---- texts ---- */

static int columns_left(const struct page *page)
{
	return page->n ? page->width - page->lines[page->n - 1].columns : 0;
}

void page_put(struct page *page, enum page_attribute attribute, const char *text)
{
	append_text(page, attribute, clean(page, text), columns_left(page));
}

void page_printf(struct page *page, enum page_attribute attribute, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	page_put(page, attribute, text);
}

static void blanks(struct page *page, enum page_attribute attribute, int columns)
{
	columns = columns < columns_left(page) ? columns : columns_left(page);
	for (int i = 0; i < columns; i++)
		append(page, attribute, " ", 1, 1);
}

void page_column(struct page *page, enum page_attribute attribute, int columns, bool right, const char *text)
{
	const char *printable = clean(page, text);
	int wide = columns_of(printable);

	columns = columns < columns_left(page) ? columns : columns_left(page);
	if (right && wide < columns)
		blanks(page, attribute, columns - wide);
	append_text(page, attribute, printable, columns);
	if (!right && wide < columns)
		blanks(page, attribute, columns - wide);
}

/* Where the last columns of a text begin. */
static const char *tail_of(const char *text, int wide, int columns)
{
	while (wide > columns && *text) {
		size_t n = utf8_char(text, strlen(text));
		int width = width_of(text, n ? n : 1);

		wide -= width < 0 ? 1 : width;
		text += n ? n : 1;
	}
	return text;
}

void page_end(struct page *page, enum page_attribute attribute, int columns, const char *text)
{
	const char *printable = clean(page, text);
	int left = columns_left(page), room = columns < 0 || columns > left ? left : columns, used;

	if (columns_of(printable) <= room || room < 4) {
		used = append_text(page, attribute, printable, room);
	} else {
		append(page, attribute, "..", 2, 2);
		used = 2 + append_text(page, attribute, tail_of(printable, columns_of(printable), room - 2), room - 2);
	}
	if (columns >= 0)
		blanks(page, attribute, room - used);
}

void page_fill(struct page *page, enum page_attribute attribute, int column)
{
	blanks(page, attribute, page->n ? column - page->lines[page->n - 1].columns : 0);
}

void page_mark(struct page *page, int line, enum page_attribute attribute)
{
	if (line < page->n && page->lines[line].len)
		memset(page->lines[line].looks, (int)attribute, page->lines[line].len);
}
