/* SPDX-License-Identifier: MIT */
#ifndef SERVE_ACCEPT_H
#define SERVE_ACCEPT_H

#include <stdbool.h>

/* Whether a header Accept (NULL: there is none) prefers OpenMetrics to plain text: it names its type, and gives it a weight that is
 * not less than that of text/plain. */
bool accept_openmetrics(const char *header);

#endif
