/* SPDX-License-Identifier: MIT */
#ifndef PROCMON_PROCFS_H
#define PROCMON_PROCFS_H

/*
 * Parsers and readers of /proc/PID. Parsers are pure: text in, fields out. Readers take a
 * descriptor of /proc that was opened before anything was mounted, and never follow a link out of
 * it.
 *
 * Reading can block without limit: cmdline and environ wait for the memory map of the process, and
 * most files of /proc/PID wait while the process is inside an exec. monitor.c explains which
 * threads may call the readers, and when.
 *
 * Functions return 0 or -errno; -ESRCH if the process is gone, whatever the kernel returns then.
 * Any thread; one thread at a time may use a struct procfs_text.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* From /proc/PID/stat. With the id of a thread all fields but image are the thread's. */
struct procfs_stat {
	pid_t pid;
	pid_t ppid;
	pid_t session;
	char state; /* 'Z': ended, not yet waited for */
	char comm[64];
	int threads;	      /* of the process; 1 when it has ended and all of its threads are gone */
	int64_t start_ticks;  /* since boot, suspended time included */
	uint64_t image;	      /* digest of the addresses of the program in memory; 0: unknown */
	/*
	 * image is 0 because we may not read it, or because it is a kernel thread; if false, image
	 * 0 means that the process has ended or is inside an exec
	 */
	bool hidden;
	bool of_kernel; /* a thread of the kernel */
};

/* From /proc/PID/status: effective ids. */
struct procfs_status {
	pid_t tgid;
	pid_t ppid;
	pid_t tracer; /* the thread that traces it by ptrace; 0: none or unknown */
	uid_t uid;
	gid_t gid;
};

/* From /proc/PID/status: the credentials by which the kernel checks a thread's access to files. */
struct procfs_credentials {
	uid_t fsuid;
	gid_t fsgid;
	uint64_t effective; /* capabilities, one bit each */
	size_t n_groups;    /* supplementary groups; may exceed room */
};

int procfs_parse_stat(const char *text, size_t len, struct procfs_stat *ret_stat);
int procfs_parse_status(const char *text, size_t len, struct procfs_status *ret_status);

/* At most room groups are stored. */
int procfs_parse_credentials(const char *text, size_t len, gid_t *ret_groups, size_t room,
	struct procfs_credentials *ret_credentials);

/* The longest path in /proc/PID/cgroup: that is where batch systems put a job. NULL if there is
 * none. */
const char *procfs_parse_cgroup(const char *text, size_t len, size_t *ret_len);

int procfs_read_stat(int proc, pid_t pid, struct procfs_stat *ret_stat);
int procfs_read_status(int proc, pid_t pid, struct procfs_status *ret_status);

/* Whether all threads of the process have ended, waited for or not. True if the process is gone. */
bool procfs_all_ended(int proc, pid_t pid);

int procfs_read_credentials(int proc, pid_t tid, gid_t *ret_groups, size_t room,
	struct procfs_credentials *ret_credentials);

/* Only the effective ids, which is much cheaper. */
int procfs_read_owner(int proc, pid_t pid, uid_t *ret_uid, gid_t *ret_gid);

/*
 * From /proc/PID/syscall: the system call that a sleeping thread is inside of. -EAGAIN: the thread
 * runs, or is inside of none.
 */
struct procfs_syscall {
	long number;
	uint64_t arguments[6];
};
int procfs_parse_syscall(const char *text, size_t len, struct procfs_syscall *ret_syscall);
int procfs_read_syscall(int proc, pid_t tid, struct procfs_syscall *ret_syscall);

/* Converts a start in ticks into nanoseconds since boot, suspended time included. */
int64_t procfs_ticks_ns(int64_t ticks);

struct procfs_buffer {
	char *bytes;
	size_t len, size;
};

/* The text of a process in the format of db/event.h. The caller zeroes it before the first use. */
struct procfs_text {
	struct procfs_buffer text;
	struct procfs_buffer parts; /* in the order of reading */
};

/*
 * Fills text->text with all parts that can be read of the process of stat; the others are marked as
 * unknown. env: see environ.h. 0 or -ENOMEM.
 */
int procfs_read_text(int proc, const struct procfs_stat *stat, const char *const *env,
	struct procfs_text *text);

/* Appends a text in which only the name is known. The caller frees it. 0 or -ENOMEM. */
int procfs_put_comm(const char *comm, struct procfs_buffer *text);

void procfs_text_finish(struct procfs_text *text);

#endif
