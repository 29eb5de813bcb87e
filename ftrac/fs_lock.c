/* SPDX-License-Identifier: MIT */

/* Locks of --locks native; see locks.h. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>

#include "ftrac/fs.h"
#include "ftrac/locks.h"
#include "ftrac/shares.h"
#include "ftrac/waking.h"

/* A request that waits for its lock, after its handler has returned. */
struct waiting {
	struct call call;
	struct fuse_ctx ctx; /* call.ctx points into the request, which may be freed */
	struct waking waking;
};

static struct lock_request request_of(struct call *c, fuse_ino_t ino,
	const struct fuse_file_info *fi)
{
	struct open_file *file = call_file(c, fi);

	call_become(c, &ON(file->fd));
	return (struct lock_request){ .inode = call_inode(c, ino), .file = file, .fd = file->fd,
		.owner = fi->lock_owner, .pid = c->ctx->pid };
}

void fs_getlk(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi, struct flock *lock)
{
	struct call c;
	struct lock_request request;
	int r;

	call_begin(&c, req, OP_LOCK, TRACE_DISCOVER);
	request = request_of(&c, ino, fi);
	request.range = *lock;
	r = locks_get(c.fs->locks, &request);
	trace_end(c.fs->trace, &c.ev, r);
	if (r < 0)
		fuse_reply_err(req, -r);
	else
		fuse_reply_lock(req, &request.range);
}

static void on_interrupt(fuse_req_t req, void *data)
{
	struct waiting *w = data;

	(void)req;
	waking_stop(&w->waking);
}

static void on_done(void *arg, int result)
{
	struct waiting *w = arg;

	fuse_req_interrupt_func(w->call.req, NULL, NULL); /* from here on no other thread uses w */
	shares_give(w->call.fs->shares, SHARE_LOCKS, w->ctx.uid);
	call_reply(&w->call, result);
	free(w);
}

static void wait_for(struct call *c, const struct lock_request *request)
{
	struct waiting *w;
	int r = -ENOMEM;

	if (!shares_take(c->fs->shares, SHARE_LOCKS, c->ctx->uid)) {
		call_reply(c, -ENOLCK);
		return;
	}
	w = calloc(1, sizeof(*w));
	if (w) {
		waking_init(&w->waking);
		w->call = *c;
		w->ctx = *c->ctx;
		w->call.ctx = &w->ctx;
		fuse_req_interrupt_func(c->req, on_interrupt, w);
		r = locks_wait(c->fs->locks, request, &w->waking, on_done, w);
	}
	if (r == 0)
		return;
	fuse_req_interrupt_func(c->req, NULL, NULL);
	shares_give(c->fs->shares, SHARE_LOCKS, c->ctx->uid);
	free(w);
	call_reply(c, r);
}

static void set_lock(struct call *c, const struct lock_request *request, bool wait)
{
	int r = locks_try(c->fs->locks, request);

	if (r == -EAGAIN && wait)
		wait_for(c, request);
	else
		call_reply(c, r);
}

void fs_setlk(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi, struct flock *lock,
	int sleep)
{
	struct call c;
	struct lock_request request;

	call_begin(&c, req, OP_LOCK, TRACE_DISCOVER);
	request = request_of(&c, ino, fi);
	request.range = *lock;
	set_lock(&c, &request, sleep);
}

void fs_flock(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi, int op)
{
	struct call c;
	struct lock_request request;

	call_begin(&c, req, OP_LOCK, TRACE_DISCOVER);
	request = request_of(&c, ino, fi);
	request.flock = op & ~LOCK_NB;
	set_lock(&c, &request, !(op & LOCK_NB));
}
