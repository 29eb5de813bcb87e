/* SPDX-License-Identifier: MIT */
#ifndef DAG_REPORT_PAGE_H
#define DAG_REPORT_PAGE_H

/* Joins the sections of a report to one page, with the style and the program of report/. */

#include <stdio.h>

struct report;

/* 0 or -errno; report->failure is not set. */
int report_page_put(const struct report *report, FILE *out);

#endif
