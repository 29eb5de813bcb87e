/* SPDX-License-Identifier: MIT */
/*
 * kernel_events [-o FILE] [-b BYTES] [-m BYTES] [-q] COMMAND ARGUMENT...: runs the command, recorded in the kernel, and
 * writes one line for each event, with fields between tabs; texts are escaped as in C.  -b, -m: sizes of the kernel's
 * ring buffer, and of records in memory.  -q: only the counts.  Ends with the command's status; 77 if nothing can be
 * recorded here.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/failure.h"
#include "db/event.h"
#include "db/figures.h"
#include "db/ring.h"
#include "kernel/kernel.h"

static FILE *out;
static int quiet;
static struct ring *ring;
static atomic_bool over;
static unsigned long events;
static char *text;
static size_t text_room;

static void put_text(const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		unsigned char c = bytes[i];

		if (isprint(c) && c != '\\')
			putc(c, out);
		else
			fprintf(out, "\\x%02x", c);
	}
}

static void put_op(const struct event *ev)
{
	const struct event_op *op = &ev->u.op;

	fprintf(out, "op\t%s\t%d\t%d\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRId64 "\t%" PRIu64
		"\t%u\t%u\t", event_op_names[ev->op], ev->aside, ev->tid, ev->time_ns, op->latency_ns, op->result, op->node,
		op->other, op->handle, op->offset, op->length, op->flags, op->mode);
}

static void put_node(const struct event *ev)
{
	const struct event_node *node = &ev->u.node;

	fprintf(out, "node\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%u\t%o\t%u\t%" PRId64, node->id, node->dev, node->ino,
		node->generation, node->mode, node->nlink, node->size);
}

static void put_process(const struct event *ev, const char *kind)
{
	const struct event_process *process = &ev->u.process;

	fprintf(out, "%s\t%d\t%d\t%d\t%d\t%" PRId64 "\t%u\t%u\t%u\t", kind, process->pid, process->tid, process->ppid,
		process->status, ev->time_ns, process->tier, process->uid, process->gid);
}

static void put_parts(const char *bytes, size_t len)
{
	for (size_t at = 0; at + 4 <= len;) {
		uint32_t part;

		memcpy(&part, bytes + at, 4);
		at += 4;
		if (part == PROCESS_PART_UNKNOWN)
			fputs("?", out);
		else
			put_text(bytes + at, part);
		at += part == PROCESS_PART_UNKNOWN ? 0 : part;
		putc('\t', out);
	}
}

static void put_figures(const char *bytes)
{
	struct figures figures;

	memcpy(&figures, bytes, sizeof(figures));
#define X(name, column, how)                     \
	if (figures_has(&figures, FIGURE_##name)) \
		fprintf(out, "%s=%" PRId64 " ", #column, figures.value[FIGURE_##name]);
	FIGURES(X)
#undef X
}

static void put(const struct event *ev, const char *bytes)
{
	switch (ev->kind) {
	case EVENT_NODE: put_node(ev); break;
	case EVENT_OP: put_op(ev); put_text(bytes, ev->text_len); break;
	case EVENT_FORK: put_process(ev, "fork"); break;
	case EVENT_THREAD: put_process(ev, "thread"); break;
	case EVENT_EXIT: put_process(ev, "exit"); break;
	case EVENT_EXEC: put_process(ev, "exec"); put_parts(bytes, ev->text_len); break;
	case EVENT_FIGURES: put_process(ev, "figures"); put_figures(bytes); break;
	case EVENT_BEFORE: put_process(ev, "before"); put_figures(bytes); break;
	default: fprintf(out, "event %d", ev->kind);
	}
	putc('\n', out);
}

static void take(const struct event *ev)
{
	size_t need = ev->kind == EVENT_TEXT ? ev->u.text.offset + ev->text_len : ev->text_len;

	if (need > text_room) {
		text = realloc(text, need);
		text_room = need;
	}
	if (ev->kind == EVENT_TEXT) {
		memcpy(text + ev->u.text.offset, event_piece((struct event *)ev), ev->text_len);
		return;
	}
	events++;
	if (!quiet)
		put(ev, ev->text_len <= EVENT_TEXT_INLINE ? ev->text : text);
}

static void *drain(void *arg)
{
	static struct event batch[1024];
	size_t n;

	(void)arg;
	for (;;) {
		bool last = atomic_load(&over);

		while ((n = ring_drain(ring, batch, 1024)))
			for (size_t i = 0; i < n; i++)
				take(&batch[i]);
		if (last)
			return NULL;
		usleep(500);
	}
}

static pid_t start(char **argv, int *ret_go)
{
	int go[2];
	pid_t pid;
	char c;

	if (pipe2(go, O_CLOEXEC) < 0)
		exit(125);
	pid = fork();
	if (pid == 0) {
		close(go[1]);
		if (read(go[0], &c, 1) != 1)
			_exit(126);
		execvp(argv[0], argv);
		_exit(127);
	}
	close(go[0]);
	*ret_go = go[1];
	return pid;
}

static size_t keep_all(char *vars, size_t len, void *arg)
{
	(void)vars;
	(void)arg;
	return len;
}

/* Records that kernel_sync() has left behind: there should be none. */
static uint64_t behind(struct kernel *kernel)
{
	struct kernel_totals before, after;

	kernel_count(kernel, &before, NULL, 0);
	kernel_sync(kernel);
	kernel_count(kernel, &after, NULL, 0);
	return before.all.submitted > after.received + after.all.dropped ?
		before.all.submitted - after.received - after.all.dropped : 0;
}

static void put_counts(const struct kernel *kernel, uint64_t unsynced)
{
	struct kernel_totals totals;
	struct kernel_counts counts[256];
	int n = kernel_count(kernel, &totals, counts, 256);

	fprintf(out, "counts\tsubmitted=%" PRIu64 " dropped=%" PRIu64 " received=%" PRIu64 " failed=%" PRIu64 " missed=%" PRIu64
		" spooled=%" PRIu64 " events=%lu unsynced=%" PRIu64, totals.all.submitted, totals.all.dropped, totals.received, totals.failed,
		totals.missed, totals.spooled, events, unsynced);
	for (int i = 0; i < n && i < 256; i++)
		fprintf(out, " %d=%" PRIu64 "-%" PRIu64, i, counts[i].submitted, counts[i].dropped);
	putc('\n', out);
}

static int usage(void)
{
	fputs("usage: kernel_events [-o FILE] [-b BYTES] [-m BYTES] [-q] COMMAND ARGUMENT...\n", stderr);
	return 125;
}

int main(int argc, char **argv)
{
	struct kernel_options options = { .keep_environ = keep_all };
	struct kernel *kernel;
	struct failure failure = { 0 };
	pthread_t thread;
	uint64_t unsynced;
	int go, status, c;

	out = stdout;
	while ((c = getopt(argc, argv, "+o:b:m:q")) > 0)
		switch (c) {
		case 'o': out = fopen(optarg, "we"); break;
		case 'b': options.buffer_bytes = strtoul(optarg, NULL, 0); break;
		case 'm': options.memory_bytes = strtoul(optarg, NULL, 0); break;
		case 'q': quiet = 1; break;
		default: return usage();
		}
	if (optind == argc || !out)
		return usage();
	if (ring_create(1 << 16, false, &ring) < 0)
		return 125;
	options.ring = ring;
	options.pid = start(argv + optind, &go);
	options.parent = getpid();
	pthread_create(&thread, NULL, drain, NULL);
	if (kernel_start(&options, &kernel, &failure) < 0) {
		fprintf(stderr, "%s\n", failure.text);
		return 77;
	}
	if (write(go, "x", 1) != 1)
		return 125;
	waitpid(options.pid, &status, 0);
	unsynced = behind(kernel);
	kernel_finish(kernel);
	atomic_store(&over, true);
	pthread_join(thread, NULL);
	put_counts(kernel, unsynced);
	kernel_destroy(kernel);
	ring_destroy(ring);
	fclose(out);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
