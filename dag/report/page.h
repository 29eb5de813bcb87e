/* SPDX-License-Identifier: MIT */
#ifndef DAG_REPORT_PAGE_H
#define DAG_REPORT_PAGE_H

/* The sections of a report put together as one page, with style and program of report/ in it. */

#include <stdio.h>

struct report;

/* 0 or -errno. */
int report_page_put(const struct report *report, FILE *out);

#endif
