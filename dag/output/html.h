/* SPDX-License-Identifier: MIT */
#ifndef DAG_OUTPUT_HTML_H
#define DAG_OUTPUT_HTML_H

/*
 * Text as part of an HTML page.  Names of files and command lines are not trusted: they never become markup.  Control
 * characters and bytes that are not UTF-8 become \xNN.
 */

#include <stddef.h>
#include <stdio.h>

/* For text, and for the quoted value of an attribute. */
void html_put(const char *text, size_t len, FILE *out);
void html_put_string(const char *text, FILE *out);

/* JSON inside <script type="application/json">.  Each '<' is escaped, so that none ends the element. */
void html_put_json(const char *json, size_t len, FILE *out);

#endif
