/* SPDX-License-Identifier: MIT */
#ifndef DAG_REPORT_ASSETS_H
#define DAG_REPORT_ASSETS_H

/* Made of report/ when ftrac is built: the page with its style, its program and their hashes, in which
 * TITLE, NAV, CHOICE, SECTIONS and VERSION, each between two bytes 1, are to be replaced. */
extern const char report_frame[];

#endif
