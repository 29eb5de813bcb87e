/* SPDX-License-Identifier: MIT */

/* In the place of serve.c where there is no libmicrohttpd. */

#include "serve/serve.h"

#include <errno.h>
#include <stddef.h>

#include "base/failure.h"

int serve_open(const char *address, struct serve **ret_serve, struct failure *failure)
{
	*ret_serve = NULL;
	return failure_set(failure, -ENOSYS, "cannot listen at '%s': this program was built without libmicrohttpd; use --metrics FILE", address);
}

int serve_start(struct serve *serve, struct totals *totals, struct failure *failure)
{
	(void)serve;
	(void)totals;
	return failure_set(failure, -ENOSYS, "this program was built without libmicrohttpd");
}

const char *serve_chosen(const struct serve *serve)
{
	(void)serve;
	return NULL;
}

void serve_close(struct serve *serve)
{
	(void)serve;
}
