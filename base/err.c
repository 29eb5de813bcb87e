/* SPDX-License-Identifier: MIT */
#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "base/wrap.h"

static void print(const char *format, va_list args)
{
	char line[8192], head[64];

	vsnprintf(line, sizeof(line), format, args);
	/* The name of a file may have any bytes. */
	for (char *at = line; *at; at++)
		if ((unsigned char)*at < ' ' || *at == 0x7f)
			*at = '?';
	snprintf(head, sizeof(head), "%s: ", program_invocation_short_name);
	if (isatty(STDERR_FILENO))
		wrap_print(stderr, head, "  ", line);
	else /* in one piece, among those of other programs */
		fprintf(stderr, "%s%s\n", head, line);
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
