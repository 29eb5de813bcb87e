/* SPDX-License-Identifier: MIT */
#ifndef DAG_CONTAINER_CLASSES_H
#define DAG_CONTAINER_CLASSES_H

/* Classes of values: 0 alone, and then from each power of two, or of ten, to below the next. */

#include <stdbool.h>
#include <stdint.h>

#define CLASSES_MAX 64 /* all classes are below it */

/* That of a value; values below 0 are of the class of 0. */
int classes_find(int64_t value, bool tens);
/* The smallest value of a class; INT64_MAX behind the last one. */
int64_t classes_begin(int class, bool tens);

#endif
