/* SPDX-License-Identifier: MIT */
#ifndef PRELOAD_OBJECT_H
#define PRELOAD_OBJECT_H

/*
 * Inside the preloaded object: what each function that stands in front of another one does.
 *
 *   struct call call;
 *   if (!object_enter(&call, CALL_READ)) ... only calls the real function
 *   ... fields that are gone afterwards ...
 *   result = the real function;
 *   object_end(&call);            the time and errno of its end
 *   ... the other fields ...
 *   object_put(&call);            hands it over; errno is that of the real function
 *
 * All of it may run in a signal handler, in a child of vfork(2), before constructors and after destructors: it takes no
 * lock, allocates nothing, uses no stdio, and makes system calls only when a thread begins, after a fork and when a chunk is
 * full.  A call that is left by longjmp(3) or by the end of its thread is not recorded.
 */

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db/layers.h"
#include "preload/wire.h"

#define OBJECT_EXPORT __attribute__((visibility("default")))

struct thread;

/* What the buffer of a stream had before a call. */
struct stream_state {
	int64_t unread, unwritten; /* bytes */
	const char *at, *end;	   /* of what is to be read */
	int64_t offset;
};

struct call {
	struct wire_record record;
	bool is_layer;	    /* it is recorded as a call of a layer */
	uint8_t op;	    /* enum op: it is recorded as an operation; 0: it is not.  The rest is used by operations.h only then */
	bool has_seen;
	struct wire_more more;
	struct wire_seen seen;
	struct stream_state before;
	const char *text2; /* a second path */
	const char *text;
	const struct layer_mpi *mpi; /* NULL: not known */
	struct thread *thread;
	const void *stream; /* the call has only copied to or from its buffer; NULL: it may have done more */
	int error;	    /* errno before the call, then after it */
};

/* False: the call is recorded neither as a call of a layer nor as an operation.  Of MPI, calls inside of another one of MPI are not. */
bool object_enter(struct call *call, enum layer_call code);
/* An operation (enum op) that is no call of a layer.  False: operations are not recorded. */
bool object_enter_op(struct call *call, int op);
/* The call begins here, and not where it was entered. */
void object_begin(struct call *call);
void object_end(struct call *call);
void object_put(struct call *call);
/* It has been handed over in another way. */
void object_leave(struct call *call);

/* What has that name in the objects behind ours, or among those that the caller, an address, can see: a library that was loaded
 * later is not behind ours.  NULL: nothing. */
void *object_look_for(const char *name, const void *caller);
/* That function; *real keeps it.  If there is none, one that aborts. */
void *object_find_for(void *_Atomic *real, const char *name, const void *caller);

/* A function of libc, which is always behind ours. */
static inline void *object_find(void *_Atomic *real, const char *name)
{
	void *found = atomic_load_explicit(real, memory_order_acquire);

	return found ? found : object_find_for(real, name, NULL);
}

static inline void object_fd(struct call *call, int fd)
{
	call->record.fd = fd;
	call->record.known |= fd >= 0 ? WIRE_HAS_FD : 0;
}

static inline void object_length(struct call *call, uint64_t n)
{
	call->record.length = n > INT64_MAX ? INT64_MAX : (int64_t)n;
	call->record.known |= WIRE_HAS_LENGTH;
}

static inline void object_offset(struct call *call, int64_t offset)
{
	call->record.offset = offset;
	call->record.known |= WIRE_HAS_OFFSET;
}

static inline void object_result(struct call *call, int64_t result)
{
	call->record.result = result;
	call->record.known |= WIRE_HAS_RESULT;
}

/* Of a call that failed: that it did, and why. */
static inline void object_outcome(struct call *call, bool failed, int64_t result)
{
	object_result(call, failed ? -(int64_t)(call->error ? call->error : EIO) : result);
}

#endif
