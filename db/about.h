/* SPDX-License-Identifier: MIT */
#ifndef DB_ABOUT_H
#define DB_ABOUT_H

/* What a program was built from, and what of the kernel it can use here: the output of --version.  Needs no privilege, and no
 * more than a few files of /proc and /sys. */

/* Prints "PROGRAM VERSION", then lines "NAME: TEXT"; "-" where something is not known. */
void about_print(const char *program);

#endif
