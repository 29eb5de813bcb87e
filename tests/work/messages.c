/* SPDX-License-Identifier: MIT */
/* Messages that libc writes by itself; 1 and 2: the last of them ends the program. */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <error.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int n, char **words)
{
	static const struct option options[] = { { "long", 1, NULL, 'l' }, { 0 } };
	char *wrong[] = { words[0], "-x", "--what", "--long", NULL };
	int way = n > 1 ? atoi(words[1]) : 0;
	printf("in the buffer\n");
	while (getopt_long(4, wrong, "a:", options, NULL) != -1)
		;
	errno = ENOENT;
	perror("first");
	fprintf(stderr, "an orientation\n");
	errno = EPERM;
	perror("second");
	errno = EIO;
	warn("a %s of %d", "warning", 17);
	warnx("%s", "without");
	error(0, ENOENT, "an %s %d", "error", 3);
	if (way == 1)
		err(3, "the end");
	if (way == 2)
		error(4, 0, "another end %m");
	return 0;
}
