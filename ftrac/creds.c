/* SPDX-License-Identifier: MIT */
#include "ftrac/creds.h"

#include <errno.h>
#include <grp.h>
#include <linux/securebits.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/rights.h"
#include "procmon/monitor.h"

#define FRESH_NS 100000000
#define GROUPS 32 /* if a requester has more groups, each thread reads them itself */
#define SLOTS 256

/*
 * Capabilities that apply to objects of one's own user namespace (capable_wrt_inode_uidgid() of the
 * kernel, and what an owner of all ids may do there).
 */
#define NAMESPACE_RIGHTS                                                                        \
	(RIGHT(CAP_CHOWN) | RIGHT(CAP_DAC_OVERRIDE) | RIGHT(CAP_DAC_READ_SEARCH) | RIGHT(CAP_FOWNER) | \
		RIGHT(CAP_FSETID) | RIGHT(CAP_SETFCAP))

static struct {
	bool privileged;
	uid_t uid;
	gid_t gid;
	uint64_t kept;	 /* permitted */
	uint64_t usable; /* the part of them that may be in effect while a handler runs */
} own;

/* The credentials of a requester. */
struct identity {
	struct requester requester;
	int64_t read_ns;
	uint64_t effective; /* as capget(2) has it */
	uint64_t rights;    /* of these, those that the daemon has, too; they apply to all objects */
	uint64_t namespace_rights; /* they apply to objects of its namespace */
	struct monitor_ids uids, gids;
	bool is_guessed; /* derived from the ids only */
	size_t n_groups;
	gid_t groups[GROUPS]; /* if n_groups is not larger */
};

/* Identities shared by all threads, by the requester's thread id. */
static struct slot {
	pthread_mutex_t lock;
	struct identity identity;
} slots[SLOTS];

/* The credentials of this thread. */
static _Thread_local struct {
	bool has_effective, has_ids, has_umask;
	uint64_t effective;
	uid_t uid;
	gid_t gid;
	mode_t umask;
	size_t n_groups;
	gid_t groups[GROUPS];
	struct identity identity; /* of the last requester */
	bool read_now;		  /* the last creds_become() read it from /proc */
} thread;

/* ---- system calls; glibc's wrappers would change all threads ---- */

static uint64_t get_effective(pid_t tid)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3, .pid = tid };
	struct __user_cap_data_struct caps[2] = { 0 };

	if (capget(&head, caps) < 0)
		return 0;
	return caps[0].effective | (uint64_t)caps[1].effective << 32;
}

static int call_capset(uint64_t effective)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct caps[2] = {
		{ .effective = (uint32_t)effective, .permitted = (uint32_t)own.kept },
		{ .effective = effective >> 32, .permitted = own.kept >> 32 },
	};

	return capset(&head, caps) < 0 ? -errno : 0;
}

/*
 * Setting permitted capabilities cannot fail, as creds_init() has tested. If it does, abort:
 * otherwise the thread would act with more rights than the requester has.
 */
static void set_effective(uint64_t effective)
{
	if (thread.has_effective && thread.effective == effective)
		return;
	if (call_capset(effective) < 0)
		abort();
	thread.effective = effective;
	thread.has_effective = true;
}

/*
 * Returns whether the thread has these ids now: setfsuid(2) reports no error for an id that the
 * daemon's namespace does not map.
 */
static bool set_fsids(uid_t uid, gid_t gid)
{
	syscall(SYS_setfsgid, gid);
	syscall(SYS_setfsuid, uid);
	return (gid_t)syscall(SYS_setfsgid, -1) == gid && (uid_t)syscall(SYS_setfsuid, -1) == uid;
}

static bool has_groups(const gid_t *groups, size_t n)
{
	return n <= GROUPS && n == thread.n_groups &&
	       (n == 0 || memcmp(groups, thread.groups, n * sizeof(*groups)) == 0);
}

static int set_ids(uid_t uid, gid_t gid, const gid_t *groups, size_t n)
{
	bool in_place = thread.has_ids && uid == thread.uid && gid == thread.gid;

	if (in_place && has_groups(groups, n))
		return 0;
	set_effective(own.usable);
	thread.has_ids = false;
	/* If the namespace forbids setgroups(2), the daemon has no groups that matter. */
	if (syscall(SYS_setgroups, n, groups) < 0 && errno != EPERM)
		return -errno;
	if (!in_place && !set_fsids(uid, gid))
		return -EOVERFLOW;
	thread.has_ids = true;
	thread.uid = uid;
	thread.gid = gid;
	thread.n_groups = n;
	if (n && n <= GROUPS)
		memcpy(thread.groups, groups, n * sizeof(*groups));
	return 0;
}

/* ---- start ---- */

static uint64_t permitted(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct caps[2] = { 0 };

	capget(&head, caps);
	return caps[0].permitted | (uint64_t)caps[1].permitted << 32;
}

int creds_init(uint64_t keep, bool alone)
{
	int bits = prctl(PR_GET_SECUREBITS), r;

	own.uid = geteuid();
	own.gid = getegid();
	own.privileged = own.uid == 0;
	if (!own.privileged)
		return rights_keep(keep, alone);
	for (int i = 0; i < SLOTS; i++)
		pthread_mutex_init(&slots[i].lock, NULL);
	/* Without this bit every change of the fsuid drops the file capabilities. */
	if (prctl(PR_SET_SECUREBITS, bits | SECBIT_NO_SETUID_FIXUP) < 0)
		return -errno;
	setgroups(0, NULL); /* if this is forbidden, root of the container has no groups that matter */
	r = rights_keep(keep, true);
	if (r < 0)
		return r;
	own.kept = permitted();
	own.usable = own.kept & ~RIGHT(CAP_SYS_RESOURCE);
	return call_capset(own.usable & ~RIGHT(CAP_FSETID));
}

bool creds_privileged(void)
{
	return own.privileged;
}

/* ---- requesters ---- */

static int64_t coarse_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static bool is_of(const struct identity *identity, const struct requester *requester, int64_t now_ns)
{
	return identity->read_ns && identity->requester.tid == requester->tid &&
	       identity->requester.uid == requester->uid &&
	       identity->requester.gid == requester->gid && now_ns - identity->read_ns < FRESH_NS;
}

/* A process may drop capabilities at any time, so they are compared for each request. */
static bool has_kept_rights(const struct identity *identity)
{
	return !identity->effective || identity->is_guessed ||
	       get_effective(identity->requester.tid) == identity->effective;
}

/* Fallback if /proc cannot be read: derives the capabilities from the ids. */
static void guess(struct identity *identity)
{
	identity->is_guessed = true;
	identity->effective = identity->rights = identity->requester.uid == 0 ? own.usable : 0;
}

/* Reads the requester's credentials from /proc. Stores at most room groups; identity->n_groups may
 * be larger. */
static void read_identity(const struct requester *requester, int64_t now_ns, struct identity *identity,
	gid_t *groups, size_t room)
{
	uint64_t before = creds_raise(RIGHT(CAP_SYS_PTRACE) | RIGHT(CAP_DAC_READ_SEARCH));
	struct monitor_credentials read;
	int r;

	*identity = (struct identity){ .requester = *requester, .read_ns = now_ns };
	r = requester->tid > 0 ? monitor_read_credentials(requester->tid, groups, room, &read) : -ESRCH;
	creds_drop(before);
	if (r < 0) {
		guess(identity);
		return;
	}
	identity->n_groups = read.n_groups;
	/*
	 * The request has other ids than the thread, as with access(2) and overlayfs. Whether it
	 * has the thread's capabilities is unknown.
	 */
	if (read.fsuid != requester->uid) {
		guess(identity);
		return;
	}
	identity->effective = read.effective;
	if (read.shares_users) {
		identity->rights = read.effective & own.usable;
	} else {
		identity->namespace_rights = read.effective & own.usable & NAMESPACE_RIGHTS;
		identity->uids = read.uids;
		identity->gids = read.gids;
	}
}

static struct slot *slot_of(pid_t tid)
{
	return &slots[(unsigned)tid % SLOTS];
}

static bool find_identity(const struct requester *requester, int64_t now_ns, struct identity *ret_identity)
{
	struct slot *slot = slot_of(requester->tid);
	bool found;

	pthread_mutex_lock(&slot->lock);
	found = is_of(&slot->identity, requester, now_ns);
	if (found)
		*ret_identity = slot->identity;
	pthread_mutex_unlock(&slot->lock);
	return found && has_kept_rights(ret_identity);
}

static void keep_identity(const struct identity *identity)
{
	struct slot *slot = slot_of(identity->requester.tid);

	if (identity->n_groups > GROUPS)
		return;
	pthread_mutex_lock(&slot->lock);
	slot->identity = *identity;
	pthread_mutex_unlock(&slot->lock);
}

/* ---- acting as a requester ---- */

static bool is_in_namespace(const struct identity *identity, int fd)
{
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 && monitor_has_id(&identity->uids, st.st_uid) &&
	       monitor_has_id(&identity->gids, st.st_gid);
}

static uint64_t rights_on(const struct identity *identity, const struct creds_object *object)
{
	uint64_t rights = identity->namespace_rights;

	if (!rights || !is_in_namespace(identity, object->fd) ||
		(object->other >= 0 && !is_in_namespace(identity, object->other)))
		return identity->rights;
	if (object->names)
		rights &= ~RIGHT(CAP_FOWNER);
	if (object->content)
		rights &= ~RIGHT(CAP_FSETID);
	return identity->rights | rights;
}

static int take(const struct identity *identity, const gid_t *groups, const struct creds_object *object)
{
	int r = set_ids(identity->requester.uid, identity->requester.gid, groups, identity->n_groups);

	set_effective(r == 0 ? rights_on(identity, object) : 0);
	return r;
}

/* Reads the requester's credentials and takes them on. */
static int read_and_take(const struct requester *requester, int64_t now_ns,
	const struct creds_object *object)
{
	struct identity *identity = &thread.identity;
	cleanup_free gid_t *many = NULL;
	gid_t *groups = identity->groups;

	thread.read_now = true;
	read_identity(requester, now_ns, identity, groups, GROUPS);
	if (identity->n_groups > GROUPS) {
		size_t room = identity->n_groups;

		groups = many = calloc(room, sizeof(*many));
		if (!many)
			return -ENOMEM;
		read_identity(requester, now_ns, identity, groups, room);
		if (identity->n_groups > room)
			identity->n_groups = room;
	}
	keep_identity(identity);
	return take(identity, groups, object);
}

int creds_become(const struct requester *requester, const struct creds_object *object)
{
	struct identity *identity = &thread.identity;
	int64_t now_ns;

	if (!own.privileged)
		return 0;
	now_ns = coarse_now_ns();
	thread.read_now = false;
	if (thread.has_ids && is_of(identity, requester, now_ns) && has_kept_rights(identity)) {
		set_effective(rights_on(identity, object));
		return 0;
	}
	if (find_identity(requester, now_ns, identity))
		return take(identity, identity->groups, object);
	return read_and_take(requester, now_ns, object);
}

bool creds_again(const struct requester *requester, const struct creds_object *object)
{
	struct identity before = thread.identity;
	uint64_t effective = thread.effective;

	if (!own.privileged || thread.read_now || read_and_take(requester, coarse_now_ns(), object) < 0)
		return false;
	return thread.effective != effective || thread.identity.n_groups != before.n_groups ||
	       before.n_groups > GROUPS ||
	       memcmp(thread.identity.groups, before.groups, before.n_groups * sizeof(gid_t)) != 0;
}

void creds_become_daemon(void)
{
	if (!own.privileged)
		return;
	thread.identity.read_ns = 0;
	set_ids(own.uid, own.gid, NULL, 0);
	set_effective(own.usable);
}

uint64_t creds_raise(uint64_t capabilities)
{
	uint64_t before;

	if (!own.privileged)
		return 0;
	before = thread.has_effective ? thread.effective : get_effective(0);
	set_effective(capabilities & own.usable);
	return before;
}

void creds_drop(uint64_t before)
{
	if (own.privileged)
		set_effective(before);
}

bool creds_has(uint64_t capabilities)
{
	return !own.privileged || (get_effective(0) & capabilities) == capabilities;
}

bool creds_equals(const struct requester *requester)
{
	const struct creds_object none = { .fd = -1, .other = -1 };

	return creds_become(requester, &none) == 0 && (thread.effective & own.usable) == own.usable;
}

void creds_umask(mode_t mask)
{
	if (!thread.has_umask)
		unshare(CLONE_FS); /* from now on the umask is this thread's own */
	if (!thread.has_umask || mask != thread.umask)
		umask(mask);
	thread.umask = mask;
	thread.has_umask = true;
}
