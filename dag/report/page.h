/* SPDX-License-Identifier: MIT */
#ifndef DAG_REPORT_PAGE_H
#define DAG_REPORT_PAGE_H

/* Joins sections to one page, with the style and the program of report/. */

struct page_section {
	const char *id, *title;
	const char *text; /* HTML */
};

struct page {
	const char *title;
	const struct page_section *sections;
	int n;
	const char *skip; /* id of what a link at the begin leads to, and its text */
	const char *skip_text;
	const char *note; /* HTML, or NULL */
};

struct failure;

/* 0, or -errno with the failure set. */
int report_write_page(const struct page *page, const char *file, struct failure *failure);

#endif
