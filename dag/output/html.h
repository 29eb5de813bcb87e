/* SPDX-License-Identifier: MIT */
#ifndef DAG_OUTPUT_HTML_H
#define DAG_OUTPUT_HTML_H

/*
 * Text that becomes part of a page.  Names of files and command lines are not trusted: nothing of them is
 * ever markup.  What is no UTF-8, and control characters, are \xNN.
 */

#include <stddef.h>
#include <stdio.h>

/* In text and between the quotes of an attribute. */
void html_put(const char *text, size_t len, FILE *out);
void html_put_string(const char *text, FILE *out);

/* JSON inside of <script type="application/json">: no '<' of it can end that. */
void html_put_json(const char *json, size_t len, FILE *out);

#endif
