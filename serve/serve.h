/* SPDX-License-Identifier: MIT */
#ifndef SERVE_SERVE_H
#define SERVE_SERVE_H

/*
 * --metrics-listen: an HTTP server that says what a run has done so far (db/totals.h), for Prometheus and others that scrape.
 *
 *   open    makes the socket: before the program gives up its rights, and before a mount hides the place of a socket file
 *   start   answers, in a thread of its own, which has no capability
 *   close   ends that, and removes the socket file
 *
 * GET /metrics is all there is.  The text is OpenMetrics if the request accepts that, else the text format of Prometheus; it is made
 * when it is asked for, and kept until the totals change.  At most SERVE_CONNECTIONS are answered at once, and one that does nothing
 * for SERVE_SECONDS is closed; further ones wait.
 *
 * An address is ADDRESS:PORT with numbers, "localhost" or nothing for ADDRESS ([] around one with colons); or unix:PATH.  Without
 * ADDRESS it is 127.0.0.1.  Port 0 is a free one.
 */

#define SERVE_CONNECTIONS 16
#define SERVE_SECONDS 10
#define SERVE_FILES (SERVE_CONNECTIONS + 8) /* descriptors that it may have open */

struct failure;
struct serve;
struct totals;

/* 0 or -errno. */
int serve_open(const char *address, struct serve **ret_serve, struct failure *failure);
/* The caller keeps the totals until it has closed the server.  0 or -errno. */
int serve_start(struct serve *serve, struct totals *totals, struct failure *failure);
/* ADDRESS:PORT of a port that was not chosen by the caller; else NULL.  The server's. */
const char *serve_chosen(const struct serve *serve);
void serve_close(struct serve *serve); /* NULL is fine */

#endif
