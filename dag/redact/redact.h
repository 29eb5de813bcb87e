/* SPDX-License-Identifier: MIT */
#ifndef DAG_REDACT_REDACT_H
#define DAG_REDACT_REDACT_H

/* ftrac redact: a trace without its names.  argv[0] is "redact".  Prints errors; returns the exit status. */
int redact_main(int argc, char **argv);

#endif
