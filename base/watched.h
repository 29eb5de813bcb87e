/* SPDX-License-Identifier: MIT */
#ifndef BASE_WATCHED_H
#define BASE_WATCHED_H

/*
 * A mark on a file: a program reads it again and again and shows what is new.  A program that writes the file had better not wait
 * with that.  The mark is a shared lock (F_OFD_SETLK) of one byte far behind the content, and behind the bytes that SQLite locks; so it needs no right
 * but that to read, and goes away with its program.
 */

#include <stdbool.h>

/* A descriptor, until whose end the mark is there; or -errno. */
int watched_mark(const char *path);

/* Whether others have marked the file of the descriptor. */
bool watched_is(int fd);

#endif
