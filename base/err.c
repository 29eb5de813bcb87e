/* SPDX-License-Identifier: MIT */
#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

static void print(const char *format, va_list args)
{
	char line[8192];

	vsnprintf(line, sizeof(line), format, args);
	/* The name of a file may have any bytes. */
	for (char *at = line; *at; at++)
		if ((unsigned char)*at < ' ' || *at == 0x7f)
			*at = '?';
	fprintf(stderr, "%s: %s\n", program_invocation_short_name, line);
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
