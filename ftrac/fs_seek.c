/* SPDX-License-Identifier: MIT */

/* Where a file has data, and where holes. */

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ftrac/fs.h"

#define PATIENCE_NS 1000000000 /* of one */
#define LITTLE_NS 50000000     /* of those that come meanwhile, whose rings he may wait for */

/* Has the kernel write back what was stored in its pages of a file, which are requests to us. */
struct write_back {
	struct fuse_session *session;
	fuse_ino_t ino;
	sem_t done;
	_Atomic int refs; /* of the thread, and of who waits for it */
};

static void unref(struct write_back *w)
{
	if (atomic_fetch_sub(&w->refs, 1) > 1)
		return;
	sem_destroy(&w->done);
	free(w);
}

static void *write_back(void *arg)
{
	struct write_back *w = arg;

	fuse_lowlevel_notify_inval_inode(w->session, w->ino, 0, 0);
	sem_post(&w->done);
	unref(w);
	return NULL;
}

/* On another processor than this one, the ring of which is waiting for us; -errno if there is none. */
static int start_elsewhere(struct write_back *w)
{
	pthread_attr_t attr;
	cpu_set_t others;
	pthread_t thread;
	sigset_t all, old;
	int r;

	CPU_ZERO(&others);
	for (long cpu = 0; cpu < sysconf(_SC_NPROCESSORS_CONF) && cpu < CPU_SETSIZE; cpu++)
		if (cpu != sched_getcpu())
			CPU_SET(cpu, &others);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setaffinity_np(&attr, sizeof(others), &others);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	r = -pthread_create(&thread, &attr, write_back, w);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	return r;
}

/* Whether all is written back.  Two that do this at once may each wait for the ring of the other. */
static bool write_back_in_time(const struct call *c, fuse_ino_t ino)
{
	static _Atomic int waiting;
	struct write_back *w = calloc(1, sizeof(*w));
	struct timespec end;
	bool done;

	if (!w)
		return false;
	*w = (struct write_back){ .session = c->fs->session, .ino = ino, .refs = 2 };
	sem_init(&w->done, 0, 0);
	if (start_elsewhere(w) < 0) {
		free(w);
		return false;
	}
	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_nsec += atomic_fetch_add(&waiting, 1) ? LITTLE_NS : PATIENCE_NS;
	end.tv_sec += end.tv_nsec / 1000000000;
	end.tv_nsec %= 1000000000;
	done = sem_clockwait(&w->done, CLOCK_MONOTONIC, &end) == 0;
	atomic_fetch_sub(&waiting, 1);
	unref(w);
	return done;
}

/* Whether the kernel passes the file's data through now: stores through mappings are in the source then. */
static bool is_passed_through(const struct call *c, struct inode *inode)
{
	const struct opened *opened = inode_opens_lock(c->fs->inodes, inode);
	bool passed = opened && opened->backing_id;

	if (opened)
		inode_opens_unlock(c->fs->inodes, inode);
	return passed;
}

/* What was stored through a mapping is no hole, and has not been written yet.  Whether it is now. */
static bool see_stores(const struct call *c, struct inode *inode, fuse_ino_t ino)
{
	if (is_passed_through(c, inode) || !inode_has_writer(c->fs->inodes, inode))
		return true;
	if (c->fs->uring)
		return write_back_in_time(c, ino);
	fuse_lowlevel_notify_inval_inode(c->fs->session, ino, 0, 0);
	return true;
}

/* A file system may always say that a file has no holes. */
static off_t seek_in_data(int fd, off_t off, int whence)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (off < 0 || off >= st.st_size)
		return -ENXIO;
	return whence == SEEK_HOLE ? st.st_size : off;
}

static off_t seek(const struct call *c, struct inode *inode, fuse_ino_t ino, struct open_file *file,
	off_t off, int whence)
{
	if (whence != SEEK_HOLE)
		atomic_store(&file->all_data, false);
	if (atomic_load(&file->all_data) || !see_stores(c, inode, ino)) {
		atomic_store(&file->all_data, true);
		return seek_in_data(file->fd, off, whence);
	}
	return RESULT(lseek(file->fd, off, whence));
}

void fs_lseek(fuse_req_t req, fuse_ino_t ino, off_t off, int whence, struct fuse_file_info *fi)
{
	struct call c;
	off_t found;

	call_begin(&c, req, OP_LSEEK, TRACE_MEET);
	found = seek(&c, call_inode(&c, ino), ino, call_file(&c, fi), off, whence);
	trace_end(c.fs->trace, &c.ev, found);
	if (found < 0)
		fuse_reply_err(req, -found);
	else
		fuse_reply_lseek(req, found);
}
