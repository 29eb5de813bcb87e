/* SPDX-License-Identifier: MIT */
#ifndef PROCMON_SIGNALS_H
#define PROCMON_SIGNALS_H

/*
 * Signals that arrive while a command runs.  SIGHUP, SIGINT, SIGQUIT, SIGTERM and SIGUSR1 that another process sent us go
 * on to the command.  A signal of the terminal reaches the command itself, and so does a signal that the command's own
 * processes send to their process group.  When the command has ended, such a signal ends the wait for processes that
 * outlive it.
 *
 * The state belongs to the process: one command at a time.
 */

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

enum { SIGNALS_PASSED_ON = 5 };

struct signals {
	struct sigaction old[SIGNALS_PASSED_ON];
};

/* Do not wait any longer for processes that outlive the command. */
extern _Atomic bool signals_stop;

/* pid: the command.  is_ours: whether a process belongs to the command; called in a signal handler. */
void signals_pass_on(struct signals *signals, pid_t pid, bool (*is_ours)(pid_t pid));
/* The command has ended: another process may get its number. */
void signals_command_ended(void);
void signals_restore(const struct signals *signals);

#endif
