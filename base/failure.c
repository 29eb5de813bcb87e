/* SPDX-License-Identifier: MIT */
#include "base/failure.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/err.h"

int failure_set(struct failure *failure, int code, const char *format, ...)
{
	va_list args;

	failure->code = code;
	va_start(args, format);
	vsnprintf(failure->text, sizeof(failure->text), format, args);
	va_end(args);
	return code;
}

int failure_memory(struct failure *failure)
{
	return failure_set(failure, -ENOMEM, "out of memory");
}

int failure_of_memory(struct failure *failure, int r)
{
	return r < 0 ? failure_memory(failure) : 0;
}

int failure_status(const struct failure *failure)
{
	int status = failure->code == FAILURE_USAGE ? EXIT_USAGE : EXIT_OWN;

	if (failure->code == 0)
		return 0;
	return err_status(status, "%s", failure->text);
}
