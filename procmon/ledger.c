/* SPDX-License-Identifier: MIT */
#include "procmon/ledger.h"

#include <stdlib.h>
#include <unistd.h>
#include <uthash.h>

#include "db/figures.h"
#include "procmon/usage.h"

#define IO_FIGURES (1U << FIGURE_READ_CHAR | 1U << FIGURE_WRITE_CHAR | 1U << FIGURE_READ_BYTES | \
	1U << FIGURE_WRITE_BYTES)
#define MEMORY_FIGURES (1U << FIGURE_VMPEAK | 1U << FIGURE_RSSPEAK)

#define KEEP_OPEN_MAX 64

/* An open /proc/PID/task/TID/io: the thread may have ended before the ledger reads it. */
struct open_io {
	pid_t tid;
	int fd;
	UT_hash_handle hh;
};

struct account {
	pid_t pid;
	bool has_forked;
	bool missed;	/* a thread could not be read */
	unsigned unread; /* known threads that have not been read yet */
	struct figures threads; /* I/O of the threads that were read */
	/* memory of this program; I/O as read at the last thread, if the process never forked */
	struct figures whole;
	struct open_io *open;
	UT_hash_handle hh;
};

static struct account *find(const struct ledger *ledger, pid_t pid)
{
	struct account *account;

	HASH_FIND_INT(ledger->accounts, &pid, account);
	return account;
}

void ledger_begin(struct ledger *ledger, pid_t pid, pid_t parent)
{
	struct account *account = find(ledger, parent);

	if (account)
		account->has_forked = true;
	ledger_forget(ledger, pid);
	account = calloc(1, sizeof(*account));
	if (!account)
		return;
	*account = (struct account){ .pid = pid, .unread = 1, .threads.known = IO_FIGURES };
	HASH_ADD_INT(ledger->accounts, pid, account);
	if (!account->hh.tbl)
		free(account);
}

/* ---- descriptors ---- */

static void close_io(struct ledger *ledger, struct open_io *io)
{
	ledger->n_open--;
	if (io->fd >= 0)
		close(io->fd);
	free(io);
}

static void keep_open(struct ledger *ledger, struct account *account, pid_t tid)
{
	struct open_io *io;

	HASH_FIND_INT(account->open, &tid, io);
	io = io || ledger->n_open == KEEP_OPEN_MAX ? NULL : calloc(1, sizeof(*io));
	if (!io)
		return;
	ledger->n_open++;
	*io = (struct open_io){ .tid = tid, .fd = usage_open_io(ledger->proc, account->pid, tid) };
	if (io->fd >= 0)
		HASH_ADD_INT(account->open, tid, io);
	if (!io->hh.tbl)
		close_io(ledger, io);
}

static void close_one(struct ledger *ledger, struct account *account, struct open_io *io)
{
	HASH_DEL(account->open, io);
	close_io(ledger, io);
}

static void close_all(struct ledger *ledger, struct account *account)
{
	while (account->open)
		close_one(ledger, account, account->open);
}

/* ---- threads ---- */

void ledger_thread(struct ledger *ledger, pid_t pid, pid_t tid)
{
	struct account *account = find(ledger, pid);

	if (!account)
		return;
	account->unread++;
	if (!ledger->keep_open)
		return;
	keep_open(ledger, account, tid);
	keep_open(ledger, account, pid); /* the first thread is not the only one any more */
}

static void add_thread(struct ledger *ledger, struct account *account, pid_t tid)
{
	struct figures figures = { 0 };
	struct open_io *io;

	HASH_FIND_INT(account->open, &tid, io);
	account->missed |= io ? !usage_io_of_file(io->fd, &figures)
			      : !usage_io_of_thread(ledger->proc, account->pid, tid, &figures);
	figures_add(&account->threads, &figures);
	if (io)
		close_one(ledger, account, io);
}

static void put(struct figures *figures, const struct figures *more, uint32_t which)
{
	for (int i = 0; i < FIGURE_MAX; i++)
		if (figures_has(more, i) && which >> i & 1)
			figures_set(figures, i, more->value[i]);
}

static void read_last(const struct ledger *ledger, struct account *account, pid_t tid)
{
	usage_of_memory(ledger->proc, account->pid, tid, &account->whole);
	if (!account->has_forked)
		usage_io_of_all(ledger->proc, tid, &account->whole);
}

void ledger_read(struct ledger *ledger, pid_t pid, pid_t tid, bool has_memory, bool last,
	struct figures *ret_thread)
{
	struct account *account = find(ledger, pid);

	if (ret_thread) {
		*ret_thread = (struct figures){ 0 };
		usage_of_thread(ledger->proc, pid, tid, ret_thread);
	}
	if (!account)
		return;
	if (ret_thread)
		put(&account->whole, ret_thread, MEMORY_FIGURES);
	if (account->unread)
		account->unread--;
	if (has_memory && last)
		read_last(ledger, account, tid);
	add_thread(ledger, account, tid);
}

bool ledger_exec(struct ledger *ledger, pid_t pid, bool *ret_missed, struct figures *ret_figures)
{
	struct account *account = find(ledger, pid);

	*ret_figures = (struct figures){ 0 };
	if (!account)
		return false;
	/* A thread has ended and was not read. */
	*ret_missed = account->unread > 1;
	account->missed |= *ret_missed;
	account->unread = 1;
	account->whole.known = 0;
	close_all(ledger, account); /* after exec the thread ids are other ones */
	usage_of_process(ledger->proc, pid, ret_figures);
	if (!account->has_forked) {
		usage_io_of_all(ledger->proc, pid, ret_figures);
	} else if (!account->missed && usage_io_of_thread(ledger->proc, pid, pid, ret_figures)) {
		struct figures own = *ret_figures;

		figures_add(&own, &account->threads);
		put(ret_figures, &own, IO_FIGURES);
	}
	return true;
}

bool ledger_end(struct ledger *ledger, pid_t pid, bool *ret_missed, struct figures *ret_figures)
{
	struct account *account = find(ledger, pid);

	*ret_figures = (struct figures){ 0 };
	if (!account)
		return false;
	*ret_missed = account->unread > 0;
	usage_of_process(ledger->proc, pid, ret_figures);
	if (!account->has_forked && !figures_has(&account->whole, FIGURE_READ_CHAR))
		usage_io_of_all(ledger->proc, pid, &account->whole);
	if (account->has_forked)
		account->whole.known &= ~IO_FIGURES;
	if (!account->missed && account->unread == 0)
		put(ret_figures, &account->threads, IO_FIGURES);
	put(ret_figures, &account->whole, IO_FIGURES | MEMORY_FIGURES);
	ledger_forget(ledger, pid);
	return true;
}

void ledger_forget(struct ledger *ledger, pid_t pid)
{
	struct account *account = find(ledger, pid);

	if (!account)
		return;
	close_all(ledger, account);
	HASH_DEL(ledger->accounts, account);
	free(account);
}

void ledger_finish(struct ledger *ledger)
{
	while (ledger->accounts)
		ledger_forget(ledger, ledger->accounts->pid);
}
