/* SPDX-License-Identifier: MIT */
#ifndef PROCMON_PROCFS_H
#define PROCMON_PROCFS_H

/*
 * What /proc says of a process.  Parsers are pure: text in, fields out.  Readers take a
 * descriptor of /proc that was opened before anything was mounted, and never follow a link out
 * of it.
 *
 * Reading can block, and for as long as somebody else pleases: cmdline and environ wait for the
 * process' memory map, and much of /proc/PID waits while the process is inside an exec.  Who may
 * call this, and when, is the subject of monitor.c.
 *
 * Functions return 0 or -errno; a process that is gone is -ESRCH, whatever the kernel calls it.
 * Any thread; a struct procfs_text is used by one at a time.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Of /proc/PID/stat.  For the id of a thread it is the thread's, but for image. */
struct procfs_stat {
	pid_t pid;
	pid_t ppid;
	pid_t session;
	char state; /* 'Z': ended, not yet waited for */
	char comm[64];
	int threads;	      /* of the process; 1 when it has ended and all of its threads are gone */
	int64_t start_ticks;  /* since boot, suspended time included */
	uint64_t image;	      /* digest of where the program lies in memory; 0 not known */
	bool hidden;	      /* image is 0 because we may not see it, or it is the kernel's own;
				 else 0 means that the process has ended or is inside an exec */
};

/* Of /proc/PID/status: effective ids. */
struct procfs_status {
	pid_t tgid;
	pid_t ppid;
	pid_t tracer; /* the thread that traces it by ptrace; 0: none, or not known */
	uid_t uid;
	gid_t gid;
};

/* Of /proc/PID/status: what the kernel judges a thread's access to files by. */
struct procfs_credentials {
	uid_t fsuid;
	gid_t fsgid;
	uint64_t effective; /* capabilities, a bit each */
	size_t n_groups;    /* supplementary groups; may be more than there was room for */
};

int procfs_parse_stat(const char *text, size_t len, struct procfs_stat *ret_stat);
int procfs_parse_status(const char *text, size_t len, struct procfs_status *ret_status);

/* At most room groups are stored. */
int procfs_parse_credentials(const char *text, size_t len, gid_t *ret_groups, size_t room,
	struct procfs_credentials *ret_credentials);

/* The deepest path in a /proc/PID/cgroup: where batch systems put the job.  NULL if none. */
const char *procfs_parse_cgroup(const char *text, size_t len, size_t *ret_len);

int procfs_read_stat(int proc, pid_t pid, struct procfs_stat *ret_stat);
int procfs_read_status(int proc, pid_t pid, struct procfs_status *ret_status);

/* Whether none of its threads lives, though some may not have been waited for.  True if it is gone. */
bool procfs_all_ended(int proc, pid_t pid);

int procfs_read_credentials(int proc, pid_t tid, gid_t *ret_groups, size_t room,
	struct procfs_credentials *ret_credentials);

/* The effective ids alone: much cheaper. */
int procfs_read_owner(int proc, pid_t pid, uid_t *ret_uid, gid_t *ret_gid);

/* Of /proc/PID/syscall: the system call that a thread which waits is inside of.  -EAGAIN: it runs, or is inside of none. */
struct procfs_syscall {
	long number;
	uint64_t arguments[6];
};
int procfs_parse_syscall(const char *text, size_t len, struct procfs_syscall *ret_syscall);
int procfs_read_syscall(int proc, pid_t tid, struct procfs_syscall *ret_syscall);

/* Nanoseconds since boot, suspended time included, of a start in ticks. */
int64_t procfs_ticks_ns(int64_t ticks);

struct procfs_buffer {
	char *bytes;
	size_t len, size;
};

/* The text of a process as db/event.h wants it; zeroed before its first use. */
struct procfs_text {
	struct procfs_buffer text;
	struct procfs_buffer parts; /* as they were read, before they were put in order */
};

/*
 * Fills text->text with everything that can be had of the process that stat is of; parts that
 * cannot be read are marked so.  env: see environ.h.  0 or -ENOMEM.
 */
int procfs_read_text(int proc, const struct procfs_stat *stat, const char *const *env,
	struct procfs_text *text);

/* Appends such a text of which nothing is known but the name; it is the caller's to free.  0 or
 * -ENOMEM. */
int procfs_put_comm(const char *comm, struct procfs_buffer *text);

void procfs_text_finish(struct procfs_text *text);

#endif
