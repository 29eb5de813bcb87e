/* SPDX-License-Identifier: MIT */
#ifndef KERNEL_TRANSLATE_INTERNAL_H
#define KERNEL_TRANSLATE_INTERNAL_H

/* What the files translate*.c share.  Functions return 0, -EBADMSG or -ENOMEM. */

#include <stdbool.h>
#include <stdint.h>
#include <uthash.h>

#include "db/event.h"
#include "db/figures.h"
#include "kernel/translate.h"
#include "kernel/wire.h"

/* Handles that have not ended. */
struct handle {
	uint64_t id;
	uint64_t node;
	uint64_t ends; /* of a socket: what was pushed last, as a hash; 0: nothing */
	UT_hash_handle hh;
};

/* Asynchronous I/O without a result so far. */
struct pending {
	struct {
		uint64_t pid, key;
	} of;
	struct event event;
	struct wire_path *path; /* if not NULL, the event is made of it */
	bool silent;		/* no result is that of success */
	bool last;		/* the handle ends with it */
	UT_hash_handle hh;
};

/* The texts of an exec, by the thread that is inside of it. */
struct exec_text {
	int32_t tid;
	char *bytes[2]; /* enum wire_text_part */
	uint32_t len[2];
	UT_hash_handle hh;
};

/* Handles that end if the exec of a thread succeeds. */
struct expiring {
	int32_t tid;
	uint64_t *handles;
	uint32_t n;
	UT_hash_handle hh;
};

/* A thread that has ended, and of which the last figures are to come. */
struct ending {
	int32_t tid;
	struct wire_exit record;
	UT_hash_handle hh;
};

struct process {
	int32_t pid;
	int32_t ppid;
	struct figures ended; /* of its threads that have ended */
	UT_hash_handle hh;
};

struct translate {
	struct translate_options options;
	struct names *names;
	struct handle *handles;
	struct pending *pendings;
	struct exec_text *texts;
	struct expiring *expirings;
	struct process *processes;
	struct ending *endings;
	uint64_t handles_unseen;
	uint64_t failed;
};

/* translate.c */
struct handle *translate_handle(const struct translate *translate, uint64_t id);
int translate_add_handle(struct translate *translate, uint64_t id, uint64_t node);
/* The handle ends: RELEASE. */
void translate_release(struct translate *translate, uint64_t id, int32_t tid, int64_t time_ns);
/* The start of an event of a thread. */
struct event translate_event(const struct wire_head *head, enum op op);
void translate_push(struct translate *translate, const struct event *event, const void *text, size_t len);

/* translate_calls.c */
int translate_call(struct translate *translate, const struct wire_call *record);
int translate_path(struct translate *translate, const struct wire_path *record);
int translate_pending(struct translate *translate, const struct wire_call *record);
int translate_reaped(struct translate *translate, const struct wire_reaped *record);
/* No result of it will come; frees it. */
int translate_give_up(struct translate *translate, struct pending *pending);
/* As if this asynchronous I/O had the result; frees it. */
int translate_result(struct translate *translate, struct pending *pending, const struct wire_reaped *reaped);

/* translate_sockets.c */
int translate_socket(struct translate *translate, const struct wire_socket *record);

/* translate_processes.c */
int translate_fork(struct translate *translate, const struct wire_fork *record);
int translate_text(struct translate *translate, const struct wire_text *record);
int translate_expire(struct translate *translate, const struct wire_handle *record);
/* The exec failed. */
void translate_keep_open(struct translate *translate, int32_t tid);
int translate_exec(struct translate *translate, const struct wire_exec *record);
int translate_exit(struct translate *translate, const struct wire_exit *record);
int translate_dead(struct translate *translate, const struct wire_exit *record);
int translate_sample(struct translate *translate, const struct wire_sample *record);
/* Last figures will not come any more. */
void translate_end_processes(struct translate *translate);
void translate_forget_processes(struct translate *translate);

#endif
