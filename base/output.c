/* SPDX-License-Identifier: MIT */
#include "base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int output_open(const char *file, struct output *ret_output)
{
	int flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC;
	struct output o = { .file = file };
	struct stat st;

	if (strcmp(file, "-") == 0) {
		o.fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
	} else if (lstat(file, &st) == 0 && !S_ISREG(st.st_mode)) {
		o.fd = open(file, flags, 0666);
	} else if (!*file) {
		return -ENOENT;
	} else {
		if (asprintf(&o.temporary, "%s.part", file) < 0)
			return -ENOMEM;
		o.fd = open(o.temporary, flags, 0666);
	}
	if (o.fd < 0) {
		int error = errno;

		free(o.temporary);
		return -error;
	}
	*ret_output = o;
	return 0;
}

int output_close(struct output *output, int r)
{
	if (close(output->fd) < 0 && r >= 0)
		r = -errno;
	if (r >= 0 && output->temporary && rename(output->temporary, output->file) < 0)
		r = -errno;
	if (r < 0 && output->temporary)
		unlink(output->temporary);
	free(output->temporary);
	return r;
}

char *output_close_text(FILE *out, char **text)
{
	bool failed = ferror(out);

	if (fclose(out) == 0 && !failed)
		return *text;
	free(*text);
	return NULL;
}
