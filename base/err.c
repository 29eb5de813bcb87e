/* SPDX-License-Identifier: MIT */
#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

static void print(const char *format, va_list args)
{
	flockfile(stderr);
	fprintf(stderr, "%s: ", program_invocation_short_name);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	funlockfile(stderr);
}

void err_print(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print(format, args);
	va_end(args);
}

int err_status(int status, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print(format, args);
	va_end(args);
	return status;
}
