/* SPDX-License-Identifier: MIT */
#ifndef SERVE_LISTENER_H
#define SERVE_LISTENER_H

/*
 * A socket that waits for connections, at an address of serve.h.
 *
 * A socket file gets mode 0660: its owner and group may connect.  It takes the place of one that a program of this user has left,
 * and of nothing else; links are not followed at its end (base/place.h).  To be opened before there are threads, because the umask is
 * the program's.
 */

#include <stdbool.h>
#include <sys/stat.h>

#define LISTENER_TEXT 64

struct failure;

struct listener {
	int fd;
	int dir;    /* of a socket file; -1: none */
	char *name; /* in dir */
	struct stat file;
	char text[LISTENER_TEXT]; /* ADDRESS:PORT, if the kernel chose the port; else "" */
};

/* 0 or -errno: then there is nothing to close. */
int listener_open(const char *address, struct listener *ret_listener, struct failure *failure);
/* Removes the file, if it is still ours. */
void listener_close(struct listener *listener);

#endif
