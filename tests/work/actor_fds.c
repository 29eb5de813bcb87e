/* SPDX-License-Identifier: MIT */

/* Commands of actor that take the slots of open files. */

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "actor.h"

static void do_close(char **w, char *answer)
{
	answer_result(answer, close(slot_fd(w[0])));
	slot_set(w[0], -1);
}

/* read SLOT BYTES, from the beginning */
static void do_read(char **w, char *answer)
{
	char text[200];
	size_t wanted = number(w[1]);
	ssize_t n = pread(slot_fd(w[0]), text, wanted < sizeof(text) ? wanted : sizeof(text), 0);

	answer_result(answer, n);
	for (ssize_t i = 0; i < n; i++)
		text[i] = isgraph(text[i]) ? text[i] : '.';
	if (n >= 0)
		answer_text(answer, "ok %.*s", (int)n, text);
}

/* write SLOT OFFSET TEXT */
static void do_write(char **w, char *answer)
{
	answer_result(answer, pwrite(slot_fd(w[0]), w[2], strlen(w[2]), number(w[1])));
}

/* put SLOT TEXT, where the descriptor is */
static void do_put(char **w, char *answer)
{
	answer_result(answer, write(slot_fd(w[0]), w[1], strlen(w[1])));
}

static void do_fchmod(char **w, char *answer)
{
	answer_result(answer, fchmod(slot_fd(w[0]), number(w[1])));
}

/* fchown SLOT UID GID */
static void do_fchown(char **w, char *answer)
{
	answer_result(answer, fchown(slot_fd(w[0]), number(w[1]), number(w[2])));
}

/* futimens SLOT now|SECONDS */
static void do_futimens(char **w, char *answer)
{
	struct timespec at = { .tv_sec = number(w[1]) }, times[2] = { at, at };

	answer_result(answer, futimens(slot_fd(w[0]), strcmp(w[1], "now") == 0 ? NULL : times));
}

static void do_ftruncate(char **w, char *answer)
{
	answer_result(answer, ftruncate(slot_fd(w[0]), number(w[1])));
}

/* fallocate SLOT MODE OFFSET LENGTH */
static void do_fallocate(char **w, char *answer)
{
	answer_result(answer, fallocate(slot_fd(w[0]), number(w[1]), number(w[2]), number(w[3])));
}

/* fsetxattr SLOT NAME HEX */
static void do_fsetxattr(char **w, char *answer)
{
	uint8_t value[256];
	size_t n = bytes_of(w[2], value, sizeof(value));

	answer_result(answer, fsetxattr(slot_fd(w[0]), w[1], value, n, 0));
}

static void do_fgetxattr(char **w, char *answer)
{
	char value[256];
	ssize_t n = fgetxattr(slot_fd(w[0]), w[1], value, sizeof(value));

	answer_result(answer, n);
	if (n >= 0)
		answer_text(answer, "ok %zd", n);
}

static void do_fremovexattr(char **w, char *answer)
{
	answer_result(answer, fremovexattr(slot_fd(w[0]), w[1]));
}

static void do_fgetflags(char **w, char *answer)
{
	int flags = 0, r = ioctl(slot_fd(w[0]), FS_IOC_GETFLAGS, &flags);

	answer_result(answer, r);
	if (r == 0)
		answer_text(answer, "ok %x",
			(unsigned)flags & (FS_NODUMP_FL | FS_APPEND_FL | FS_IMMUTABLE_FL));
}

/* fsetflags SLOT ADDED TAKEN-AWAY */
static void do_fsetflags(char **w, char *answer)
{
	int flags = 0;

	if (ioctl(slot_fd(w[0]), FS_IOC_GETFLAGS, &flags) < 0) {
		answer_result(answer, -1);
		return;
	}
	flags = (int)((flags | number(w[1])) & ~number(w[2]));
	answer_result(answer, ioctl(slot_fd(w[0]), FS_IOC_SETFLAGS, &flags));
}

/* fsetx SLOT ADDED TAKEN-AWAY: the same by the newer call */
static void do_fsetx(char **w, char *answer)
{
	struct fsxattr attr;

	if (ioctl(slot_fd(w[0]), FS_IOC_FSGETXATTR, &attr) < 0) {
		answer_result(answer, -1);
		return;
	}
	attr.fsx_xflags = (attr.fsx_xflags | (unsigned)number(w[1])) & ~(unsigned)number(w[2]);
	answer_result(answer, ioctl(slot_fd(w[0]), FS_IOC_FSSETXATTR, &attr));
}

static void do_setfl(char **w, char *answer)
{
	answer_result(answer, fcntl(slot_fd(w[0]), F_SETFL, (int)number(w[1])));
}

/* copy FROM TO BYTES: slots; from and to the beginning */
static void do_copy(char **w, char *answer)
{
	loff_t from = 0, to = 0;

	answer_result(answer,
		copy_file_range(slot_fd(w[0]), &from, slot_fd(w[1]), &to, number(w[2]), 0));
}

/* ---- leases and locks ---- */

static void give_up(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)context;
	fcntl(info->si_fd, F_SETLEASE, F_UNLCK);
}

/* lease SLOT read|write|give|none; give: a lease to write that is given up when it is asked for */
static void do_lease(char **w, char *answer)
{
	struct sigaction action = { .sa_sigaction = give_up, .sa_flags = SA_SIGINFO | SA_RESTART };
	int fd = slot_fd(w[0]);

	sigaction(SIGRTMIN, &action, NULL);
	signal(SIGIO, SIG_IGN);
	if (*w[1] == 'g')
		fcntl(fd, F_SETSIG, SIGRTMIN);
	answer_result(answer, fcntl(fd, F_SETLEASE,
				      *w[1] == 'r'   ? F_RDLCK
				      : *w[1] == 'n' ? F_UNLCK
						     : F_WRLCK));
}

/* lock SLOT wait|try|free: of this descriptor, all of the file */
static void do_lock(char **w, char *answer)
{
	struct flock lock = { .l_type = *w[1] == 'f' ? F_UNLCK : F_WRLCK };

	answer_result(answer,
		fcntl(slot_fd(w[0]), *w[1] == 'w' ? F_OFD_SETLKW : F_OFD_SETLK, &lock));
}

const struct command fd_commands[] = {
	{ "close", 1, do_close },
	{ "read", 2, do_read },
	{ "write", 3, do_write },
	{ "put", 2, do_put },
	{ "fchmod", 2, do_fchmod },
	{ "fchown", 3, do_fchown },
	{ "futimens", 2, do_futimens },
	{ "ftruncate", 2, do_ftruncate },
	{ "fallocate", 4, do_fallocate },
	{ "fsetxattr", 3, do_fsetxattr },
	{ "fgetxattr", 2, do_fgetxattr },
	{ "fremovexattr", 2, do_fremovexattr },
	{ "fgetflags", 1, do_fgetflags },
	{ "fsetflags", 3, do_fsetflags },
	{ "fsetx", 3, do_fsetx },
	{ "setfl", 2, do_setfl },
	{ "copy", 3, do_copy },
	{ "lease", 2, do_lease },
	{ "lock", 2, do_lock },
	{ 0 },
};
