/* SPDX-License-Identifier: MIT */
#include "procmon/signals.h"

#include <errno.h>
#include <stddef.h>

static const int passed_on[SIGNALS_PASSED_ON] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1 };

_Atomic bool signals_stop;
static _Atomic pid_t command_pid; /* 0: the command has ended */
static bool (*belongs)(pid_t pid);

static void pass_on(int signal, siginfo_t *info, void *context)
{
	pid_t pid = atomic_load(&command_pid);
	int saved = errno;

	(void)context;
	if (pid == 0)
		atomic_store(&signals_stop, true);
	else if (info->si_code <= 0 && !belongs(info->si_pid))
		kill(pid, signal);
	errno = saved;
}

void signals_pass_on(struct signals *signals, pid_t pid, bool (*is_ours)(pid_t pid))
{
	struct sigaction action = { .sa_sigaction = pass_on, .sa_flags = SA_SIGINFO };

	belongs = is_ours;
	atomic_store(&signals_stop, false);
	atomic_store(&command_pid, pid);
	/* A signal that is ignored (nohup) is ignored by the command, too. */
	for (size_t i = 0; i < SIGNALS_PASSED_ON; i++)
		if (sigaction(passed_on[i], NULL, &signals->old[i]) == 0 && signals->old[i].sa_handler != SIG_IGN)
			sigaction(passed_on[i], &action, NULL);
}

void signals_command_ended(void)
{
	atomic_store(&command_pid, 0);
}

void signals_restore(const struct signals *signals)
{
	for (size_t i = 0; i < SIGNALS_PASSED_ON; i++)
		sigaction(passed_on[i], &signals->old[i], NULL);
}
