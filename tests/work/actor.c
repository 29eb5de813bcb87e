/* SPDX-License-Identifier: MIT */

/*
 * actor UID GID[,GROUP...]: becomes that user, and does what it reads, one command per line, such as
 *
 *	open 3 2 dir/file	opens dir/file with the flags 2, into slot 3
 *	chmod @3 4755		of the file in slot 3, by its name in /proc/self/fd
 *	later 1 open 4 2 f	begins that in a thread
 *	wait 1 500		its answer, or "waiting" after 500 ms
 *	times 10 stat f; unlink f	ten times: how often there was which answer; each '#' in it is
 *				a number from 10 on that grows from round to round, to 509
 *
 * It answers each with one line: "ok", perhaps with more, or the name of an errno.
 */

#include "actor.h"

#include <err.h>
#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LATER 4096
#define MOST_FILES 20000

static int slots[SLOTS]; /* descriptors, plus 1 */

void answer_text(char *answer, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(answer, ANSWER, format, args);
	va_end(args);
}

void answer_result(char *answer, long result)
{
	answer_text(answer, "%s", result < 0 ? strerrorname_np(errno) : "ok");
}

long number(const char *word)
{
	return strtol(word, NULL, 0);
}

int slot_fd(const char *word)
{
	return slots[number(word) % SLOTS] - 1;
}

void slot_set(const char *word, int fd)
{
	slots[number(word) % SLOTS] = fd + 1;
}

struct place place(const char *word)
{
	struct place place;
	const char *rest = strchr(word, '/');

	if (*word == '@')
		snprintf(place.text, sizeof(place.text), "/proc/self/fd/%d%s", slot_fd(word + 1),
			rest ? rest : "");
	else
		snprintf(place.text, sizeof(place.text), "%s", word);
	return place;
}

size_t bytes_of(const char *word, uint8_t *ret_bytes, size_t room)
{
	size_t n = 0;
	unsigned byte;

	while (n < room && sscanf(word + 2 * n, "%2x", &byte) == 1)
		ret_bytes[n++] = (uint8_t)byte;
	return n;
}

static const struct command *find(const char *name)
{
	static const struct command *const lists[] = { path_commands, fd_commands, map_commands,
		many_commands };

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		for (const struct command *c = lists[i]; c->name; c++)
			if (strcmp(c->name, name) == 0)
				return c;
	return NULL;
}

/* ---- what waits ---- */

static struct later {
	pthread_mutex_t lock;
	pthread_cond_t ended;
	char line[4200], answer[ANSWER];
	bool has_ended;
} laters[LATER];

static void *run_later(void *arg)
{
	struct later *later = arg;
	char answer[ANSWER];

	act(later->line, answer);
	pthread_mutex_lock(&later->lock);
	strcpy(later->answer, answer);
	later->has_ended = true;
	pthread_cond_broadcast(&later->ended);
	pthread_mutex_unlock(&later->lock);
	return NULL;
}

static void begin(char *rest, char *answer)
{
	struct later *later = &laters[strtoul(rest, &rest, 0) % LATER];
	pthread_attr_t small;
	pthread_t thread;

	*later = (struct later){ .lock = PTHREAD_MUTEX_INITIALIZER,
		.ended = PTHREAD_COND_INITIALIZER };
	snprintf(later->line, sizeof(later->line), "%s", rest + strspn(rest, " "));
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 256 << 10);
	pthread_attr_setdetachstate(&small, PTHREAD_CREATE_DETACHED);
	errno = pthread_create(&thread, &small, run_later, later);
	answer_result(answer, errno ? -1 : 0);
}

static void wait_for(char *rest, char *answer)
{
	struct later *later = &laters[strtoul(rest, &rest, 0) % LATER];
	struct timespec until;
	long ms = strtol(rest, NULL, 0);
	int r = 0;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += ms / 1000 + (until.tv_nsec + ms % 1000 * 1000000) / 1000000000;
	until.tv_nsec = (until.tv_nsec + ms % 1000 * 1000000) % 1000000000;
	pthread_mutex_lock(&later->lock);
	while (!later->has_ended && r == 0)
		r = pthread_cond_timedwait(&later->ended, &later->lock, &until);
	strcpy(answer, later->has_ended ? later->answer : "waiting");
	pthread_mutex_unlock(&later->lock);
}

/* ---- many times the same ---- */

#define KINDS 32
#define CYCLE 500

/* Copies a command, with the number of the round for each '#'. */
static void put_round(char *line, size_t room, const char *command, size_t length, long round)
{
	size_t used = 0;

	for (size_t i = 0; i < length && used + 20 < room; i++)
		if (command[i] == '#')
			used += snprintf(line + used, room - used, "%ld",
				SLOTS_BUSY + round % CYCLE);
		else
			line[used++] = command[i];
	line[used] = '\0';
}

struct tally {
	char seen[KINDS][60];
	long counts[KINDS];
	int kinds;
};

static void count(struct tally *tally, const char *command, const char *answer)
{
	char said[60];
	int k = 0;

	snprintf(said, sizeof(said), "%.*s %.40s", (int)strcspn(command, " "), command, answer);
	while (k < tally->kinds && strcmp(tally->seen[k], said) != 0)
		k++;
	if (k == KINDS)
		return;
	if (k == tally->kinds)
		strcpy(tally->seen[tally->kinds++], said);
	tally->counts[k]++;
}

/* N COMMAND [; COMMAND]...: how often there was which answer */
static void do_times(char *rest, char *answer)
{
	long n = strtol(rest, &rest, 0);
	struct tally tally = { 0 };
	size_t used = 0, length;
	char line[4200], one[ANSWER];

	for (long i = 0; i < n; i++)
		for (const char *at = rest; *at; at += length + strspn(at + length, "; ")) {
			at += strspn(at, " ");
			length = strcspn(at, ";");
			put_round(line, sizeof(line), at, length, i);
			act(line, one);
			count(&tally, at, one);
		}
	answer[0] = '\0';
	for (int k = 0; k < tally.kinds && used + 90 < ANSWER; k++)
		used += snprintf(answer + used, ANSWER - used, "%s%s=%ld", k ? ", " : "",
			tally.seen[k], tally.counts[k]);
}

static bool is_verb(char **line, const char *verb)
{
	size_t n = strlen(verb);
	bool is = strncmp(*line, verb, n) == 0 && (*line)[n] == ' ';

	*line += is ? n + 1 : 0;
	return is;
}

void act(char *line, char *answer)
{
	char *words[WORDS + 1] = { NULL }, *rest = line;
	const struct command *command;
	int n = 0;

	if (is_verb(&rest, "later")) {
		begin(rest, answer);
		return;
	}
	if (is_verb(&rest, "wait")) {
		wait_for(rest, answer);
		return;
	}
	if (is_verb(&rest, "times")) {
		do_times(rest, answer);
		return;
	}
	for (char *word = strtok_r(line, " ", &rest); word && n < WORDS;
		word = strtok_r(NULL, " ", &rest))
		words[n++] = word;
	command = n ? find(words[0]) : NULL;
	if (!command || n - 1 < command->words)
		answer_text(answer, "no such command");
	else
		command->run(words + 1, answer);
}

/* ---- ids ---- */

static void raise_files(void)
{
	struct rlimit files = { MOST_FILES, MOST_FILES };

	if (setrlimit(RLIMIT_NOFILE, &files) == 0 || getrlimit(RLIMIT_NOFILE, &files) < 0)
		return;
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
}

static void become(const char *user, char *groups)
{
	uid_t uid = (uid_t)strtoul(user, NULL, 10);
	gid_t all[64];
	size_t n = 0;

	for (char *at = strtok(groups, ","); at && n < 64; at = strtok(NULL, ","))
		all[n++] = (gid_t)strtoul(at, NULL, 10);
	if (n == 0 || setgroups(n - 1, all + 1) < 0 || setresgid(all[0], all[0], all[0]) < 0 ||
		setresuid(uid, uid, uid) < 0)
		err(1, "user %s", user);
	prctl(PR_SET_DUMPABLE, 1); /* what is ours in /proc is ours: as after an exec */
}

int main(int argc, char **argv)
{
	static char line[1 << 16];
	char answer[ANSWER];

	if (argc != 3)
		errx(2, "usage: actor UID GID[,GROUP...]");
	raise_files();
	become(argv[1], argv[2]);
	umask(022);
	signal(SIGPIPE, SIG_IGN);
	setlinebuf(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		act(line, answer);
		puts(answer);
	}
	return 0;
}
