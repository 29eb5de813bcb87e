/* SPDX-License-Identifier: MIT */
#ifndef DAG_REPORT_ASSETS_H
#define DAG_REPORT_ASSETS_H

/* The build makes it from report/: the page with its style, its program and their hashes.  page.c replaces TITLE, NAV,
 * CHOICE, SECTIONS and VERSION, each of which stands between two bytes 1. */
extern const char report_frame[];

#endif
