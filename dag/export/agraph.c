/* SPDX-License-Identifier: MIT */
#include "dag/export/agraph.h"

#include <errno.h>
#include <fcntl.h>
#include <graphviz/cgraph.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/vector.h"

#define AT_ONCE (64 << 10)
#define END '\0' /* the child writes it behind a complete graph; DOT has no such byte */

/* The names of nodes or frames in the order of their ids, which count from 1; NULL: the object has no name. */
struct names {
	char **of;
	size_t n;
};

struct agraph {
	Agdisc_t disc; /* first: ids_open() gets its address */
	Agiddisc_t ids;
	Agraph_t *graph;
	Agraph_t *frames;      /* NULL: there are none */
	struct names names[3]; /* by AGRAPH, AGNODE and AGEDGE */
	size_t longest;        /* text */
};

static const int kinds[] = {
	[AGRAPH_GRAPH] = AGRAPH, [AGRAPH_NODE] = AGNODE, [AGRAPH_EDGE] = AGEDGE
};

/* ---- ids ---- */

/*
 * libcgraph's own ids are addresses, and it writes frames in the order of their ids.  Numbers give the same order each
 * time.  The type of the result differs between versions of libcgraph.
 */
typedef __typeof__(AgIdDisc.map(NULL, 0, NULL, NULL, 0)) map_result;

static void *ids_open(Agraph_t *graph, Agdisc_t *disc)
{
	struct agraph *g = (struct agraph *)disc;

	g->graph = graph;
	return g;
}

/* A new object gets the next id; no object is looked for by its name. */
static map_result ids_map(void *state, int kind, char *name, IDTYPE *ret_id, int is_new)
{
	struct agraph *g = state;
	struct names *names = &g->names[kind];

	if (!is_new || vector_push(names->of, names->n, agstrdup(g->graph, name)) < 0)
		return 0;
	*ret_id = names->n;
	return 1;
}

static char *ids_print(void *state, int kind, IDTYPE id)
{
	const struct agraph *g = state;

	return kind <= AGEDGE ? g->names[kind].of[id - 1] : NULL;
}

/* ---- objects ---- */

void *agraph_whole(struct agraph *g)
{
	return g->graph;
}

void *agraph_node(struct agraph *g, const char *name)
{
	return agnode(g->graph, (char *)name, 1);
}

void *agraph_edge(struct agraph *g, void *from, void *to)
{
	return agedge(g->graph, from, to, NULL, 1);
}

/*
 * For each edge agwrite() looks into all frames of the graph, but not into those of a graph within it that has neither
 * name nor attributes.
 */
void *agraph_frame(struct agraph *g, const char *name)
{
	if (!g->frames)
		g->frames = agsubg(g->graph, NULL, 1);
	return agsubg(g->frames, (char *)name, 1);
}

void agraph_put_into(void *frame, void *node)
{
	agsubnode(frame, node, 1);
}

/* ---- attributes ---- */

void agraph_default(struct agraph *g, enum agraph_kind kind, const char *name, const char *value)
{
	agattr(g->graph, kinds[kind], (char *)name, (char *)value);
}

void agraph_set(struct agraph *g, void *object, const char *name, const char *value)
{
	size_t len = strlen(value);

	g->longest = len > g->longest ? len : g->longest;
	agsafeset(object, (char *)name, (char *)value, (char *)"");
}

void agraph_set_html(struct agraph *g, void *object, const char *name, const char *markup)
{
	agraph_set(g, object, name, agstrdup_html(g->graph, (char *)markup));
}

/* ---- the child process ---- */

/*
 * agwrite() quotes texts in a buffer that agcanon() makes, of twice their length and 2 bytes.  A text of quotation marks
 * alone needs a byte more.
 */
static bool enlarge_buffer(const struct agraph *g)
{
	size_t len = g->longest + 2;
	cleanup_free char *text = malloc(len + 1);

	if (!text)
		return false;
	memset(text, 'x', len);
	text[len] = '\0';
	agcanon(text, 0);
	return true;
}

static int write_graph(const char *name, int (*make)(struct agraph *, void *), void *arg, FILE *out)
{
	struct agraph g = { .disc = AgDefaultDisc, .ids = AgIdDisc };
	int r;

	g.ids.open = ids_open;
	g.ids.map = ids_map;
	g.ids.print = ids_print;
	g.disc.id = &g.ids;
	if (!agopen((char *)name, Agdirected, &g.disc))
		return -ENOMEM;
	/* Else agwrite() breaks long texts, which not all readers put together again. */
	agraph_default(&g, AGRAPH_GRAPH, "linelength", "0");
	r = make(&g, arg);
	if (r == 0 && !enlarge_buffer(&g))
		r = -ENOMEM;
	return r < 0 ? r : agwrite(g.graph, out) == 0 && fputc(END, out) == END && fclose(out) == 0 ? 0 : -EIO;
}

/* What libraries print is not for the user, and a crash leaves no core. */
static void be_quiet(void)
{
	cleanup_fd int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (null >= 0)
		dup2(null, STDERR_FILENO);
	prctl(PR_SET_DUMPABLE, 0);
	signal(SIGPIPE, SIG_DFL);
}

static int copy(int from, FILE *out, bool *ret_complete)
{
	cleanup_free char *buffer = malloc(AT_ONCE);
	ssize_t n;

	if (!buffer)
		return -ENOMEM;
	while ((n = TEMP_FAILURE_RETRY(read(from, buffer, AT_ONCE))) > 0) {
		*ret_complete = buffer[n - 1] == END;
		n -= *ret_complete;
		if (fwrite(buffer, 1, (size_t)n, out) != (size_t)n)
			return -EIO;
	}
	return n < 0 ? -errno : fflush(out) == 0 ? 0 : -EIO;
}

int agraph_write(const char *name, int (*make)(struct agraph *, void *), void *arg, FILE *out)
{
	int ends[2], r;
	bool complete = false;
	FILE *in_child;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	/* A child that calls exit() would write what is in buffers a second time. */
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		close(ends[0]); /* if we stop reading, it has to notice */
		be_quiet();
		in_child = fdopen(ends[1], "w");
		_exit(in_child && write_graph(name, make, arg, in_child) == 0 ? EXIT_SUCCESS : EXIT_FAILURE);
	}
	r = pid < 0 ? -errno : 0;
	close(ends[1]);
	if (r == 0)
		r = copy(ends[0], out, &complete);
	close(ends[0]);
	if (pid > 0 && TEMP_FAILURE_RETRY(waitpid(pid, NULL, 0)) < 0)
		return -errno;
	return r < 0 || complete ? r : -ENOMEM;
}
