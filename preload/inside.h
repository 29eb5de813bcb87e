/* SPDX-License-Identifier: MIT */
#ifndef PRELOAD_INSIDE_H
#define PRELOAD_INSIDE_H

/*
 * What the files of the preloaded object share: the process, the thread, and calls that are added up (sums.c).
 *
 * A call that takes no longer than the header says, that succeeds, and inside of which no other one was made, is added to a sum in the
 * memory.  Most calls on streams only copy to or from a buffer.  They are not even measured: a look at the stream says before
 * that they will do no more, if no other thread can use it.
 */

#include "preload/object.h"

#define OBJECT_HIDDEN __attribute__((visibility("hidden")))
#define NEST 8	      /* calls inside of each other that have a parent */
#define INTERRUPTED 4 /* signal handlers that interrupt each other while they hand a call over */
#define BUFFERED (WIRE_SUMS - WIRE_BUFFERED)

/* A chunk of a thread; those after the first are for signal handlers that interrupt the use of the one before. */
struct slot {
	struct wire_chunk *chunk;
	uint64_t claim;
	uintptr_t user; /* where on the stack the one is that writes */
};

/* Whose calls a sum has that only copy. */
struct copies {
	const void *stream; /* NULL: none */
	uint32_t code, epoch;
	uint32_t most; /* that one printed */
};

struct thread {
	uint64_t generation; /* of the process; 0: not begun */
	int32_t pid; /* 0: those of another namespace */
	int32_t tid;
	int32_t vforked; /* it has called vfork(2): its own id, for its child has the same memory */
	uint32_t mark; /* of the fork that is going on; 0: none */
	uint32_t caller, number;
	unsigned depth, writing;
	struct wire_block *block; /* of its sums; NULL: none */
	uintptr_t adding;	  /* where on the stack the one is that changes a sum; 0: none */
	unsigned next_copies;	  /* which are replaced */
	uint32_t epoch[WIRE_BUFFERED];
	struct copies copies[BUFFERED];
	int64_t measured_ns; /* the end of the last call that was measured */
	int64_t close_ns; /* sums end then, so that they say when calls were made */
	int64_t full_until_ns, no_block_until_ns;
	struct {
		uintptr_t address; /* of its struct call: frames of callers have higher ones */
		uint32_t number;
		uint32_t code;
		bool has_inner;
	} outer[NEST];
	struct slot slots[INTERRUPTED];
};

/* In a page that the kernel empties in the child of a fork. */
struct generation {
	_Atomic uint64_t number;
	_Atomic uint32_t epoch; /* changes when a descriptor is closed: its number and stream may be those of another file then */
};

struct process {
	_Atomic int begun; /* 1: another call is at it; 2: done */
	struct wire_header *header; /* NULL: nothing is recorded */
	struct generation *current;
	_Atomic uint32_t marks;
	bool has_begun;
	bool sees_reader; /* the numbers of processes are those of the reader */
	int32_t pid; /* 0: not known */
};

extern OBJECT_HIDDEN _Thread_local struct thread self __attribute__((tls_model("initial-exec")));
extern OBJECT_HIDDEN struct process process;

/* Of glibc 2.32 and newer. */
extern char __libc_single_threaded __attribute__((weak));

int64_t object_now_ns(void);
/* What is handed over.  record->bytes and text_len are filled in. */
struct message {
	struct wire_record *record;
	const struct layer_mpi *mpi; /* NULL: none */
	const struct layer_sum *sum; /* NULL: none */
	const struct wire_more *more; /* NULL: none */
	const struct wire_seen *seen; /* NULL: none */
	const char *text, *text2;
	size_t len, len2; /* with the NUL in front of the second text */
};

void object_hand_over(struct message *message);
/* Before operations are recorded elsewhere than in a call: the thread is known.  False: none are. */
bool object_enter_files(void);
/* In the child of a fork, before it does anything else. */
void object_forked(void);

/* ---- sums.c ---- */

/* A new thread, or this one in another process. */
void sums_begin(struct thread *thread, bool same_process);
/* Before the call that ends a descriptor. */
void sums_forget(enum layer_call code);
/* The calls inside of this one are complete. */
void sums_end_inner(struct thread *thread, uint32_t number);
/* False: the call is to be handed over by itself. */
bool sums_take(struct thread *thread, const struct call *call);
/* A call that only copied, of which a signal handler has taken the sum away meanwhile. */
void sums_copied(enum layer_call code, const void *stream, int fd, uint64_t asked, uint64_t moved);
/* A call that was not measured, because it was expected to copy, and has done more or failed. */
void sums_not_measured(enum layer_call code, int fd, uint64_t asked, int64_t result);

static inline uint32_t sums_epoch(void)
{
	return atomic_load_explicit(&process.current->epoch, memory_order_relaxed);
}

/* The sum for a call that only copies, if there is one already; NULL: take the long way. */
static inline struct copies *sums_find(enum layer_call code, const void *stream)
{
	if (!self.block)
		return NULL;
	for (struct copies *copies = self.copies; copies < self.copies + BUFFERED; copies++)
		if (copies->stream == stream && copies->code == code) {
			/* The epoch of a child is another one. */
			bool usable = stream && copies->epoch == sums_epoch() && !self.depth && !self.vforked && &__libc_single_threaded &&
				__libc_single_threaded;

			return usable ? copies : NULL;
		}
	return NULL;
}

/* False: a signal handler has replaced it. */
static inline bool sums_add(const struct copies *copies, enum layer_call code, const void *stream, uint64_t asked, uint64_t moved)
{
	bool ours;

	self.adding = (uintptr_t)__builtin_frame_address(0);
	atomic_signal_fence(memory_order_seq_cst);
	ours = copies->stream == stream && copies->code == code;
	if (ours) {
		struct wire_sum *sum = &self.block->sums[WIRE_BUFFERED + (copies - self.copies)];

		sum->calls++;
		sum->length += (int64_t)asked;
		sum->bytes += (int64_t)moved;
	}
	atomic_signal_fence(memory_order_seq_cst);
	self.adding = 0;
	return ours;
}

#endif
