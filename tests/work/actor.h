/* SPDX-License-Identifier: MIT */
#ifndef WORK_ACTOR_H
#define WORK_ACTOR_H

/*
 * What the files of the program actor share: its commands, and what they act on.
 *
 * A command gets its words and answers with a text: "ok", "ok DETAIL", or the name of an errno.  Several
 * threads may run commands at the same time; each thread uses its own slots.
 */

#include <stddef.h>
#include <stdint.h>

#define SLOTS 65536
#define WORDS 12
#define ANSWER 2000   /* bytes */
#define SLOTS_BUSY 10 /* the first that '#' stands for */

struct command {
	const char *name;
	int words; /* that it needs, without its name */
	void (*run)(char **words, char *answer);
};

/* A list ends with a name that is NULL. */
extern const struct command path_commands[], fd_commands[], map_commands[], many_commands[];

/* Runs one line, which it cuts into words. */
void act(char *line, char *answer);

/* "ok" for 0 and more, else the name of errno. */
void answer_result(char *answer, long result);

__attribute__((format(printf, 2, 3))) void answer_text(char *answer, const char *format, ...);

/* The descriptor of a slot; -1 where nothing is open. */
int slot_fd(const char *word);

void slot_set(const char *word, int fd);

long number(const char *word);

/* "@N" and "@N/REST" are the descriptor of slot N in /proc/self/fd. */
struct place {
	char text[4200];
};
struct place place(const char *word);

/* Bytes from hexadecimal digits; "-" is nothing. */
size_t bytes_of(const char *word, uint8_t *ret_bytes, size_t room);

#endif
