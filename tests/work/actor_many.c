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

/* ---- open and use at once ---- */

static ssize_t read_all(const char *word, char *text, size_t size)
{
	int fd = open(place(word).text, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : pread(fd, text, size - 1, 0);
	int e = errno;

	text[n < 0 ? 0 : n] = '\0';
	text[strcspn(text, " \n")] = '\0';
	if (fd >= 0)
		close(fd);
	errno = e;
	return n;
}

/* grab PATH: the first word that is in it */
static void do_grab(char **w, char *answer)
{
	char text[40];
	ssize_t n = read_all(w[0], text, sizeof(text));

	answer_result(answer, n);
	if (n >= 0)
		answer_text(answer, "ok %s", text);
}

/* same PATH WORD: whether that is the first word in it */
static void do_same(char **w, char *answer)
{
	char text[40];
	ssize_t n = read_all(w[0], text, sizeof(text));

	answer_result(answer, n);
	if (n >= 0 && strcmp(text, w[1]) != 0)
		answer_text(answer, "ok not the same");
}

static void write_into(char *answer, int fd, const char *text)
{
	ssize_t n = fd < 0 ? -1 : write(fd, text, strlen(text));

	answer_result(answer, n);
	if (fd >= 0)
		close(fd);
}

/* spoil PATH: writes into what is there */
static void do_spoil(char **w, char *answer)
{
	write_into(answer, open(place(w[0]).text, O_WRONLY | O_NONBLOCK | O_CLOEXEC), "spoiled");
}

/* make PATH: creates it */
static void do_make(char **w, char *answer)
{
	write_into(answer, open(place(w[0]).text, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644),
		"made");
}

const struct command many_commands[] = {
	{ "opens", 4, do_opens },
	{ "missing", 4, do_missing },
	{ "grab", 1, do_grab },
	{ "same", 2, do_same },
	{ "spoil", 1, do_spoil },
	{ "make", 1, do_make },
	{ 0 },
};
