/* SPDX-License-Identifier: MIT */
#ifndef DAG_LIVE_PAGE_H
#define DAG_LIVE_PAGE_H

/*
 * Lines of text for a terminal of so many columns and lines.  What does not fit is cut; what is no printable text in the
 * locale becomes visible in another way, so that no text can move the cursor.
 *
 * A function that has no memory sets .failed, and the text is missing.
 */

#include <stdbool.h>
#include <stddef.h>

#include "dag/output/printable.h"

enum page_attribute { PAGE_PLAIN, PAGE_TITLE, PAGE_HEAD, PAGE_GOOD, PAGE_BAD, PAGE_DIM, PAGE_CHOSEN, PAGE_ATTRIBUTES };

struct page_line {
	char *text;	     /* ends with NUL */
	unsigned char *looks; /* enum page_attribute of each byte */
	size_t len, room;
	int columns;
};

struct page {
	int width, height;
	struct page_line *lines; /* height of them */
	int n;			 /* lines so far; the last one may still grow */
	bool failed;
	struct printable printable;
};

/* Starts anew, without lines.  A page begins as zeroes. */
void page_begin(struct page *page, int width, int height);
void page_finish(struct page *page);

/* A new line; false: there is no room for one. */
bool page_line(struct page *page);
/* Appends to the last line. */
void page_put(struct page *page, enum page_attribute attribute, const char *text);
__attribute__((format(printf, 3, 4))) void page_printf(struct page *page, enum page_attribute attribute, const char *format, ...);
/* The same, with so many columns: cut, or filled with blanks, in front of the text if right. */
void page_column(struct page *page, enum page_attribute attribute, int columns, bool right, const char *text);
/* The same of the end of a text, which is what differs among paths.  columns < 0: what the line has left, without blanks. */
void page_end(struct page *page, enum page_attribute attribute, int columns, const char *text);
/* Blanks up to this column, so that what follows ends at the right. */
void page_fill(struct page *page, enum page_attribute attribute, int column);
/* Gives a whole line the attribute. */
void page_mark(struct page *page, int line, enum page_attribute attribute);
/* How many columns a text takes. */
int page_columns_of(struct page *page, const char *text);

#endif
