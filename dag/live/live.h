/* SPDX-License-Identifier: MIT */
#ifndef DAG_LIVE_LIVE_H
#define DAG_LIVE_LIVE_H

/*
 * ftrac top: shows a run while it goes on, on a terminal or as plain lines.  The only header of this folder for others.
 *
 *   watcher.h: threads that look at the trace now and then ─► state.h: what was found ─► panels.h: lines ─► screen.h, batch.h
 */

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* What a thread waits for; those that matter more come first. */
enum live_wait_kind { LIVE_WAIT_FILE, LIVE_WAIT_PIPE, LIVE_WAIT_SOCKET, LIVE_WAIT_CHILD };

struct live_thread_wait {
	int tid;
	uint64_t call[3]; /* the same in two looks: it is still the same call */
	enum live_wait_kind kind;
	const char *name;
	char path[256]; /* "": not known */
};

/* What the threads of a process of this machine wait for, at most so many; start_ns: monotonic.  Their number, or -errno: -EACCES: it may
 * not be looked at. */
typedef int live_waits(int64_t pid, int64_t start_ns, struct live_thread_wait *ret_waits, int most);

/* argv[0] is "top".  Returns the exit status. */
int live_main(int argc, char **argv, live_waits *waits);

/* Whether there is a full screen in this program. */
bool live_has_screen(void);

struct failure;
struct estimate;

/* What an earlier run tells.  0, and the caller frees it; or -errno, with the failure. */
int live_like(const char *path, struct estimate **ret_like, struct failure *failure);
void live_like_free(struct estimate *like); /* NULL is fine */

struct live_show {
	const char *path; /* of a trace that can be read */
	struct estimate *like; /* by which the end is estimated; NULL: none */
	live_waits *waits;
	bool (*is_over)(void *arg); /* when the screen is to be left */
	void *arg;
	/* NULL, or called in the handler of a signal that ends the screen: SIGINT, SIGTERM, SIGHUP or SIGQUIT. */
	void (*on_signal)(int number, siginfo_t *info, void *context);
};

/* The screen, on stdin and stdout.  0: it was left, by the user or because is_over; more: the signal that ended it; or -errno.  Afterwards
 * the handlers of these signals are those from before. */
int live_show(const struct live_show *show, struct failure *failure);

#endif
