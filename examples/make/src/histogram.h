/* SPDX-License-Identifier: MIT */
#ifndef HISTOGRAM_H
#define HISTOGRAM_H

#include <stddef.h>
#include <stdio.h>

/* Prints a line with a bar whose length is the share of count in largest. */
void histogram_bar(FILE *out, const char *label, int label_len, size_t count, size_t largest);

#endif
