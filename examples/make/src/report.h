/* SPDX-License-Identifier: MIT */
#ifndef REPORT_H
#define REPORT_H

#include <stdio.h>

#include "letters.h"
#include "lines.h"
#include "prose.h"
#include "words.h"

struct counts {
	struct words words;
	struct letters letters;
	struct lines lines;
	struct prose prose;
};

void report_print(FILE *out, const char *name, const struct counts *counts, size_t top);

#endif
