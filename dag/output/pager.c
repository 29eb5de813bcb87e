/* SPDX-License-Identifier: MIT */
#include "dag/output/pager.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/helper.h"

static bool is_able(FILE *out)
{
	const char *term = secure_getenv("TERM");

	return isatty(fileno(out)) && term && *term && strcmp(term, "dumb") != 0;
}

bool pager_has_colours(FILE *out)
{
	const char *none = secure_getenv("NO_COLOR");

	return is_able(out) && !(none && *none);
}

#define WORDS_MAX 16

/* $PAGER, at its blanks: no shell reads it. */
static bool split(char *text, char *argv[WORDS_MAX + 1])
{
	int n = 0;

	for (char *save = NULL, *word = strtok_r(text, " \t", &save); word && n < WORDS_MAX; word = strtok_r(NULL, " \t", &save))
		argv[n++] = word;
	argv[n] = NULL;
	return n > 0;
}

/* What is written to *ret_input is shown.  false: it cannot be started. */
static bool start(pid_t *ret_pid, int *ret_input)
{
	const char *program = secure_getenv("PAGER");
	char text[256], *argv[WORDS_MAX + 1];
	int ends[2];
	bool started;

	snprintf(text, sizeof(text), "%s", program ? program : "less -FRX");
	if (!split(text, argv) || pipe2(ends, O_CLOEXEC) < 0)
		return false;
	started = helper_spawn(argv, ends[0], -1, ret_pid) == 0;
	close(ends[0]);
	if (started)
		*ret_input = ends[1];
	else
		close(ends[1]);
	return started;
}

struct pager pager_open(FILE *out)
{
	struct pager pager = { out, 0 };
	int input;

	if (!is_able(out) || fflush(out) != 0 || !start(&pager.pid, &input))
		return pager;
	signal(SIGPIPE, SIG_IGN);
	pager.out = fdopen(input, "w");
	if (pager.out)
		return pager;
	close(input);
	waitpid(pager.pid, NULL, 0);
	return (struct pager){ out, 0 };
}

void pager_close(struct pager *pager)
{
	if (pager->pid == 0)
		return;
	fclose(pager->out);
	waitpid(pager->pid, NULL, 0);
}
