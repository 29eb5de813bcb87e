/* SPDX-License-Identifier: MIT */
#include "ftrac/creds.h"

#include <errno.h>
#include <grp.h>
#include <linux/securebits.h>
#include <sched.h>
#include <sys/capability.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "procmon/monitor.h"

static struct {
	bool privileged;
	uid_t uid;
	gid_t gid;
	cap_t usual, fsetid, none; /* effective sets */
} own;

static _Thread_local bool thread_is_ready;
static _Thread_local mode_t thread_umask;

static int split_fsetid(void)
{
	const cap_value_t fsetid = CAP_FSETID, resource = CAP_SYS_RESOURCE;
	cap_flag_value_t have;

	own.fsetid = cap_get_proc();
	if (own.fsetid)
		cap_set_flag(own.fsetid, CAP_EFFECTIVE, 1, &resource, CAP_CLEAR);
	own.usual = cap_dup(own.fsetid);
	own.none = cap_dup(own.fsetid);
	if (!own.fsetid || !own.usual || !own.none)
		return -ENOMEM;
	cap_clear_flag(own.none, CAP_EFFECTIVE);
	if (cap_get_flag(own.fsetid, CAP_FSETID, CAP_EFFECTIVE, &have) < 0 || have != CAP_SET)
		return 0;
	cap_set_flag(own.usual, CAP_EFFECTIVE, 1, &fsetid, CAP_CLEAR);
	return cap_set_proc(own.usual) < 0 ? -errno : 0;
}

int creds_init(void)
{
	int bits = prctl(PR_GET_SECUREBITS);

	own.uid = geteuid();
	own.gid = getegid();
	own.privileged = own.uid == 0;
	if (!own.privileged)
		return 0;
	/* Without it every change of the fsuid takes the file capabilities away. */
	if (prctl(PR_SET_SECUREBITS, bits | SECBIT_NO_SETUID_FIXUP) < 0)
		return -errno;
	setgroups(0, NULL); /* where that is forbidden, a container's root has none that matter */
	return split_fsetid();
}

bool creds_privileged(void)
{
	return own.privileged;
}

bool creds_keep_bits(pid_t tid, uid_t uid)
{
	cap_t caps = tid > 0 ? cap_get_pid(tid) : NULL;
	cap_flag_value_t have = CAP_CLEAR;

	if (!caps)
		return uid == 0; /* of another pid namespace, or gone */
	if (cap_get_flag(caps, CAP_FSETID, CAP_EFFECTIVE, &have) < 0)
		have = CAP_CLEAR;
	cap_free(caps);
	return have == CAP_SET && monitor_shares_users(tid);
}

/* glibc's functions would change all threads, or are not per thread by themselves. */
static void set_fsids(uid_t uid, gid_t gid)
{
	syscall(SYS_setfsgid, gid);
	syscall(SYS_setfsuid, uid);
}

static void set_umask(mode_t mask)
{
	if (!thread_is_ready) {
		unshare(CLONE_FS); /* from now on the umask is this thread's own */
		umask(mask);
		thread_is_ready = true;
	} else if (mask != thread_umask) {
		umask(mask);
	}
	thread_umask = mask;
}

void creds_raise_fsetid(mode_t mode)
{
	if (own.fsetid && (mode & (S_ISUID | S_ISGID)))
		cap_set_proc(own.fsetid);
}

void creds_drop_fsetid(mode_t mode)
{
	if (own.fsetid && (mode & (S_ISUID | S_ISGID)))
		cap_set_proc(own.usual);
}

/* The system calls: of this thread alone. */
void creds_enter_groups(gid_t own_gid, const gid_t *groups, int n)
{
	syscall(SYS_setfsgid, own_gid);
	syscall(SYS_setgroups, n, groups);
}

void creds_leave_groups(void)
{
	syscall(SYS_setgroups, 0, NULL);
	syscall(SYS_setfsgid, own.gid);
}

void creds_become(uid_t uid, gid_t gid)
{
	set_fsids(uid, gid);
	cap_set_proc(own.none);
}

void creds_return(void)
{
	cap_set_proc(own.usual);
	set_fsids(own.uid, own.gid);
}

void creds_enter(const struct creds *creds)
{
	set_umask(creds->umask);
	if (!own.privileged)
		return;
	if (creds->uid != own.uid || creds->gid != own.gid)
		set_fsids(creds->uid, creds->gid);
	creds_raise_fsetid(creds->mode);
}

void creds_leave(const struct creds *creds)
{
	if (!own.privileged)
		return;
	creds_drop_fsetid(creds->mode);
	if (creds->uid != own.uid || creds->gid != own.gid)
		set_fsids(own.uid, own.gid);
}
