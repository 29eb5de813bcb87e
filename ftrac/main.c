/* SPDX-License-Identifier: MIT */

/*
 * ftrac: options, the mount, the loop, the end.
 *
 *   parent                     daemon
 *   options, fork ───────────► store, mount, loop
 *   waits for a byte                     │ the kernel's first request (fs ready)
 *   exits with 0    ◄─── byte ───────────┤ writer and monitor start
 *   or, at end of file,                  │ ...
 *   with the daemon's status             ▼ unmounted or signalled: monitor, writer, store end
 */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/complete.h"
#include "base/err.h"
#include "dag/load/load.h"
#include "dag/merge/merge.h"
#include "dag/redact/redact.h"
#include "ftrac/daemon.h"
#include "ftrac/doctor.h"
#include "ftrac/record_running.h"
#include "ftrac/run.h"
#include "ftrac/top.h"
#include "ftrac/umount.h"
#include "ftrac/wait.h"
#include "import/import.h"

/* From here on the daemon has no terminal. */
static void detach_from_terminal(struct daemon *d)
{
	cleanup_fd int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	char byte = 0;

	if (d->ready_fd < 0)
		return;
	for (int fd = 0; fd <= 2; fd++)
		if (null >= 0)
			dup2(null, fd);
	if (write(d->ready_fd, &byte, 1) < 0)
		d->status = EXIT_OWN; /* the parent was killed; the mount goes on */
	close(d->ready_fd);
	d->ready_fd = -1;
}

/* In the parent: waits until the daemon reports that the mount works, or ends. */
static int wait_until_ready(pid_t daemon, int fd)
{
	char byte;
	int status;

	if (read(fd, &byte, 1) == 1)
		return 0;
	if (waitpid(daemon, &status, 0) < 0)
		return err_status(EXIT_OWN, "cannot wait for the daemon: %s", strerror(errno));
	return WIFEXITED(status) ? WEXITSTATUS(status)
				 : err_status(EXIT_OWN, "the daemon died of signal %d",
					   WTERMSIG(status));
}

/* Forks, unless -f is set. Returns true in the process that serves the mount. */
static bool go_to_background(struct daemon *d, int *ret_status)
{
	int fds[2];
	pid_t pid;

	d->ready_fd = -1;
	if (d->options.foreground)
		return true;
	if (pipe2(fds, O_CLOEXEC) < 0 || (pid = fork()) < 0) {
		*ret_status = err_status(EXIT_OWN, "cannot go to the background: %s",
			strerror(errno));
		return false;
	}
	if (pid > 0) {
		close(fds[1]);
		*ret_status = wait_until_ready(pid, fds[0]);
		return false;
	}
	close(fds[0]);
	d->ready_fd = fds[1];
	setsid();
	return true;
}

/* No other file must get the descriptors 0 to 2, which detach_from_terminal() replaces. */
static void fill_standard_streams(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDWR);
	} while (fd >= 0 && fd <= 2);
	if (fd > 2)
		close(fd);
}

static void on_ready(struct daemon *d, int error)
{
	if (error == 0)
		detach_from_terminal(d);
}

/* Handles signals, so that they end the mount in order, and leaves the directory, so that it is not
 * busy. */
static int detach_from_caller(struct daemon *d)
{
	d->handles_signals = fuse_set_signal_handlers(d->session) == 0;
	if (!d->handles_signals)
		return err_status(EXIT_OWN, "cannot catch signals, so the mount could not be ended in order");
	return chdir("/") == 0 ? 0 : err_status(EXIT_OWN, "cannot leave the directory: %s", strerror(errno));
}

static int serve(struct daemon *d)
{
	int status = daemon_open(d);

	if (status == 0)
		status = daemon_mount(d, -1);
	if (status == 0)
		status = detach_from_caller(d);
	if (status == 0)
		status = daemon_loop(d);
	if (status)
		d->status = status;
	return daemon_finish(d);
}

static int mount_and_serve(int argc, char **argv)
{
	struct daemon d = { .ready_fd = -1, .ready = on_ready };
	int status;

	if (options_parse(argc, argv, &d.options, &status) == 0 && go_to_background(&d, &status)) {
		d.cwd = getcwd(NULL, 0);
		status = serve(&d);
		free(d.cwd);
	}
	options_finish(&d.options);
	return status;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*main)(int argc, char **argv);
	} verbs[] = { { "run", run_command }, { "record", record_running_command }, { "doctor", doctor_main },
		{ "umount", umount_main }, { "merge", merge_main }, { "redact", redact_main }, { "replay", load_main }, { "import", import_main }, { "top", top_main }, { "wait", wait_main } };
	const char *word;

	fill_standard_streams();
	word = complete_verb(argc, argv);
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]) && word; i++)
		if (strcmp(word, verbs[i].name) == 0) {
			complete_enter_verb(argv);
			return verbs[i].main(argc - 1, argv + 1);
		}
	return mount_and_serve(argc, argv);
}
