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

#include "base/rights.h"
#include "procmon/monitor.h"

static struct {
	bool privileged;
	uid_t uid;
	gid_t gid;
	cap_t usual, fsetid, no_fowner, none; /* effective sets */
} own;

static _Thread_local bool thread_is_ready;
static _Thread_local mode_t thread_umask;

static bool has(cap_t caps, int capability)
{
	cap_flag_value_t have;

	return cap_get_flag(caps, capability, CAP_EFFECTIVE, &have) == 0 && have == CAP_SET;
}

static int split_fsetid(void)
{
	const cap_value_t fsetid = CAP_FSETID, fowner = CAP_FOWNER, resource = CAP_SYS_RESOURCE;
	bool have;

	own.fsetid = cap_get_proc();
	if (own.fsetid)
		cap_set_flag(own.fsetid, CAP_EFFECTIVE, 1, &resource, CAP_CLEAR);
	own.usual = cap_dup(own.fsetid);
	own.none = cap_dup(own.fsetid);
	if (!own.fsetid || !own.usual || !own.none)
		return -ENOMEM;
	cap_clear_flag(own.none, CAP_EFFECTIVE);
	have = has(own.fsetid, CAP_FSETID);
	cap_set_flag(own.usual, CAP_EFFECTIVE, 1, &fsetid, CAP_CLEAR);
	own.no_fowner = cap_dup(own.usual);
	if (!own.no_fowner)
		return -ENOMEM;
	cap_set_flag(own.no_fowner, CAP_EFFECTIVE, 1, &fowner, CAP_CLEAR);
	return have && cap_set_proc(own.usual) < 0 ? -errno : 0;
}

int creds_init(uint64_t keep, bool alone)
{
	int bits = prctl(PR_GET_SECUREBITS), r;

	own.uid = geteuid();
	own.gid = getegid();
	own.privileged = own.uid == 0;
	if (!own.privileged)
		return rights_keep(keep, alone);
	/* Without it every change of the fsuid takes the file capabilities away. */
	if (prctl(PR_SET_SECUREBITS, bits | SECBIT_NO_SETUID_FIXUP) < 0)
		return -errno;
	setgroups(0, NULL); /* where that is forbidden, a container's root has none that matter */
	r = rights_keep(keep, true);
	return r < 0 ? r : split_fsetid();
}

bool creds_privileged(void)
{
	return own.privileged;
}

/* To be freed; NULL: not known, or of another user namespace, where they mean nothing here. */
static cap_t caps_of(const struct requester *who)
{
	cap_t caps = who->tid > 0 ? cap_get_pid(who->tid) : NULL;

	if (caps && !monitor_shares_users(who->tid))
		cap_clear_flag(caps, CAP_EFFECTIVE);
	return caps;
}

bool creds_has(const struct requester *who, int capability)
{
	cap_t caps = caps_of(who);
	bool yes = caps ? has(caps, capability) : who->uid == 0;

	cap_free(caps);
	return yes;
}

bool creds_equals(const struct requester *who)
{
	cap_t caps = who->uid == 0 ? caps_of(who) : NULL;
	bool all = caps;

	for (int i = 0; all && i <= CAP_LAST_CAP; i++)
		all = has(caps, i) || !has(own.usual, i);
	cap_free(caps);
	return all;
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

void creds_drop_fowner(void)
{
	if (own.no_fowner)
		cap_set_proc(own.no_fowner);
}

void creds_raise_fowner(void)
{
	if (own.no_fowner)
		cap_set_proc(own.usual);
}

void creds_enter_user(uid_t uid)
{
	if (own.privileged && uid != own.uid)
		syscall(SYS_setfsuid, uid);
}

void creds_leave_user(uid_t uid)
{
	if (own.privileged && uid != own.uid)
		syscall(SYS_setfsuid, own.uid);
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

/* Those of ours that he has. */
static void take_caps(const struct requester *who)
{
	cap_t his = caps_of(who), both = his ? cap_dup(own.usual) : NULL;

	for (cap_value_t i = 0; both && i <= CAP_LAST_CAP; i++)
		if (!has(his, i))
			cap_set_flag(both, CAP_EFFECTIVE, 1, &i, CAP_CLEAR);
	cap_set_proc(both ? both : own.none);
	cap_free(both);
	cap_free(his);
}

void creds_become(const struct requester *who, gid_t group)
{
	if (group != (gid_t)-1)
		syscall(SYS_setgroups, 1, &group);
	set_fsids(who->uid, who->gid);
	take_caps(who);
}

void creds_return(void)
{
	cap_set_proc(own.usual);
	set_fsids(own.uid, own.gid);
	syscall(SYS_setgroups, 0, NULL);
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
