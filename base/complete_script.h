/* SPDX-License-Identifier: MIT */
#ifndef BASE_COMPLETE_SCRIPT_H
#define BASE_COMPLETE_SCRIPT_H

/* The scripts by which shells ask for completions (complete.h). */

#include <stdbool.h>

/* Prints the script of a program for a shell; false: there is no such shell. */
bool complete_script(const char *shell, const char *program);

#endif
