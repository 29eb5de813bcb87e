/* SPDX-License-Identifier: MIT */
#ifndef PRELOAD_FUNCTION_H
#define PRELOAD_FUNCTION_H

/*
 * Functions that stand in front of those of the same symbol.
 *
 *   FUNCTION(type, symbol, CODE, (parameters), (arguments), before, after)
 *
 * before, after: statements for the fields of 'call'; after has 'result', too.  In C the functions have names of their own, because
 * the headers of libc rename some of theirs.
 */

#include "preload/object.h"
#include "preload/operations.h"

/* enter: whether this call is recorded. */
#define IN_FRONT(type, symbol, enter, parameters, arguments, before, after)                 \
	OBJECT_EXPORT type front_##symbol parameters __asm__(#symbol);                     \
	type front_##symbol parameters                                                     \
	{                                                                                  \
		static void *_Atomic real;                                                 \
		type(*next) parameters = (type(*) parameters)object_find(&real, #symbol);  \
		struct call call;                                                          \
		type result;                                                               \
                                                                                           \
		if (!(enter))                                                              \
			return next arguments;                                             \
		before;                                                                    \
		result = next arguments;                                                   \
		object_end(&call);                                                         \
		after;                                                                     \
		object_put(&call);                                                         \
		return result;                                                             \
	}

#define FUNCTION(type, symbol, code, parameters, arguments, before, after) \
	IN_FRONT(type, symbol, object_enter(&call, CALL_##code), parameters, arguments, before, after)

/* The same for two symbols: those of 64-bit offsets have names of their own, and are the same here. */
#define FUNCTION64(type, symbol, code, parameters, arguments, before, after)               \
	FUNCTION(type, symbol, code, parameters, arguments, before, after)                 \
	FUNCTION(type, symbol##64, code, parameters, arguments, before, after)

/* The same for an operation (enum op) that is no call of a layer.  after: FOUND() and the like. */
#define OPERATION(type, symbol, code, parameters, arguments, before, after) \
	IN_FRONT(type, symbol, object_enter_op(&call, OP_##code), parameters, arguments, before, after)

#define OPERATION64(type, symbol, code, parameters, arguments, before, after)              \
	OPERATION(type, symbol, code, parameters, arguments, before, after)                \
	OPERATION(type, symbol##64, code, parameters, arguments, before, after)

#define FD(fd) object_fd(&call, fd)
#define LENGTH(n) object_length(&call, n)
#define OFFSET(n) object_offset(&call, n)
#define TEXT(s) (call.text = (s))
/* -1, or a negative number, is a failure. */
#define RESULT() object_outcome(&call, result < 0, result)
/* What an operation has beside the fields of a call. */
#define MORE(field, value) (call.more.field = (__typeof__(call.more.field))(value))

#endif
