/* SPDX-License-Identifier: MIT */

/* Commands of actor about mappings, and those that do very much. */

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "actor.h"

/* ---- mappings: each has a slot, too ---- */

static struct {
	char *at;
	size_t size;
} maps[SLOTS];

static _Thread_local sigjmp_buf bus;

static void on_bus(int signal)
{
	(void)signal;
	siglongjmp(bus, 1);
}

/* map MAPPING SLOT BYTES: shared, to be written */
static void do_map(char **w, char *answer)
{
	size_t size = number(w[2]), i = number(w[0]) % SLOTS;
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, slot_fd(w[1]), 0);

	answer_result(answer, at == MAP_FAILED ? -1 : 0);
	maps[i].at = at == MAP_FAILED ? NULL : at;
	maps[i].size = size;
}

/* store MAPPING OFFSET TEXT */
static void do_store(char **w, char *answer)
{
	char *at = maps[number(w[0]) % SLOTS].at;

	signal(SIGBUS, on_bus);
	if (!at)
		answer_text(answer, "EBADF");
	else if (sigsetjmp(bus, 1))
		answer_text(answer, "SIGBUS");
	else {
		memcpy(at + number(w[1]), w[2], strlen(w[2]));
		answer_text(answer, "ok");
	}
}

static void do_msync(char **w, char *answer)
{
	size_t i = number(w[0]) % SLOTS;

	if (!maps[i].at)
		answer_text(answer, "EBADF");
	else
		answer_result(answer, msync(maps[i].at, maps[i].size, MS_SYNC));
}

static void do_unmap(char **w, char *answer)
{
	size_t i = number(w[0]) % SLOTS;

	if (!maps[i].at)
		answer_text(answer, "EBADF");
	else
		answer_result(answer, munmap(maps[i].at, maps[i].size));
	maps[i].at = NULL;
}

const struct command map_commands[] = {
	{ "map", 3, do_map },
	{ "store", 3, do_store },
	{ "msync", 1, do_msync },
	{ "unmap", 1, do_unmap },
	{ 0 },
};

/* ---- very much ---- */

/* opens SLOT N FLAGS PATH: N times, into this slot and those that follow; how many succeeded */
static void do_opens(char **w, char *answer)
{
	long from = number(w[0]), n = number(w[1]), done = 0;
	char slot[24];
	int fd = 0;

	for (; done < n; done++) {
		fd = open(place(w[3]).text, (int)number(w[2]) | O_CLOEXEC, 0644);
		if (fd < 0)
			break;
		snprintf(slot, sizeof(slot), "%ld", from + done);
		slot_set(slot, fd);
	}
	answer_text(answer, "%s %ld", fd < 0 ? strerrorname_np(errno) : "ok", done);
}

/* missing FROM N BYTES DIR: looks for N names of that length that are not there; how many were not */
static void do_missing(char **w, char *answer)
{
	long from = number(w[0]), n = number(w[1]), missed = 0;
	int bytes = (int)number(w[2]);
	struct place dir = place(w[3]);
	char path[4600];
	struct stat st;

	for (long i = from; i < from + n; i++) {
		snprintf(path, sizeof(path), "%s/%0*ld", dir.text, bytes, i);
		missed += stat(path, &st) < 0 && errno == ENOENT;
	}
	answer_text(answer, "ok %ld", missed);
}

const struct command many_commands[] = {
	{ "opens", 4, do_opens },
	{ "missing", 4, do_missing },
	{ 0 },
};
