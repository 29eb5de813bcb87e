/* SPDX-License-Identifier: MIT */
#include "dag/graph/pieces.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/saturate.h"
#include "dag/graph/critical.h"

/* Where a process is cut; at the same time in this order.  LATE: the exit of a child that began then, too. */
enum cut_kind { CUT_EXIT, CUT_IN, CUT_OUT, CUT_FORK, CUT_LATE };

static bool is_exit(enum cut_kind kind)
{
	return kind == CUT_EXIT || kind == CUT_LATE;
}

struct cut {
	int32_t process;
	enum cut_kind kind;
	int64_t time_ns;
	int32_t index; /* the child; the arrival */
};

struct piece {
	int32_t process;
	int64_t begin_ns, end_ns;
	int64_t work_ns; /* 0: it waited */
};

/* from has to end before to begins. */
struct link {
	int32_t from, to;
};

struct pieces {
	const struct workflow *workflow;
	struct piece *pieces; /* process by process */
	struct link *links;   /* by .from */
	int32_t *first_link;  /* of each piece, and one more */
	int32_t *first;       /* of each process, and one more */
	int32_t *order;       /* pieces; each link leads to a later one */
	int64_t *ends;        /* scratch */
	int32_t n_pieces, n_links;
};

static const struct graph_process *process_of(const struct workflow *w, int32_t i)
{
	return &w->graph->processes[i];
}

/* ---- cuts ---- */

static int compare_cuts(const void *x, const void *y)
{
	const struct cut *a = x, *b = y;

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	return (a->index > b->index) - (a->index < b->index);
}

/* Do both have to be cut, since they lived at the same time? */
static bool cuts_writer(const struct workflow *w, const struct arrival *a)
{
	return critical_end(w, a->writer) > critical_begin(w, a->reader);
}

static bool cuts_reader(const struct workflow *w, const struct arrival *a)
{
	return a->out_ns > critical_begin(w, a->reader);
}

static int32_t list_cuts(const struct workflow *w, const struct arrival *arrivals,
	int32_t n_arrivals, struct cut *cuts)
{
	const struct graph *g = w->graph;
	int32_t n = 0;

	for (int32_t i = 0; i < g->n_processes; i++) {
		const struct graph_process *p = process_of(w, i);
		int32_t parent = graph_parent(g, i);
		int64_t end = critical_end(w, i);

		if (parent == GRAPH_NONE)
			continue;
		if (p->start_ns <= critical_end(w, parent) && !critical_is_outside(w, i))
			cuts[n++] = (struct cut){ parent, CUT_FORK, p->start_ns, i };
		if (end < critical_end(w, parent) && p->end_ns != GRAPH_NEVER)
			cuts[n++] = (struct cut){ parent, end > p->start_ns ? CUT_EXIT : CUT_LATE,
				end, i };
	}
	for (int32_t i = 0; i < n_arrivals; i++) {
		if (cuts_writer(w, &arrivals[i]))
			cuts[n++] =
				(struct cut){ arrivals[i].writer, CUT_OUT, arrivals[i].out_ns, i };
		if (cuts_reader(w, &arrivals[i]))
			cuts[n++] =
				(struct cut){ arrivals[i].reader, CUT_IN, arrivals[i].in_ns, i };
	}
	qsort(cuts, n, sizeof(*cuts), compare_cuts);
	return n;
}

/* ---- pieces and links ---- */

/* A cut outside of a life, by the grain of a clock, is at its end. */
static int64_t inside(int64_t t, int64_t begin, int64_t end)
{
	return t < begin ? begin : t > end ? end : t;
}

/* What is done in the piece before a cut. */
static int64_t work_before(const struct cut *cut, int64_t length_ns, const struct arrival *arrivals)
{
	int64_t wait_ns = cut->kind == CUT_IN ? arrivals[cut->index].wait_ns : 0;

	return is_exit(cut->kind) || wait_ns > length_ns ? 0 : length_ns - wait_ns;
}

/* Of what a writer had done until it ended to write to a pipe, that is no work for which the pipe was full. */
static void take_pressure(struct pieces *all, int32_t first, int64_t press_ns)
{
	for (int32_t i = all->n_pieces - 1; i >= first && press_ns > 0; i--) {
		int64_t part_ns = all->pieces[i].work_ns < press_ns ? all->pieces[i].work_ns : press_ns;

		all->pieces[i].work_ns -= part_ns;
		press_ns -= part_ns;
	}
}

/* The piece that ends at each cut; that behind it is the next. */
static void make_pieces(struct pieces *all, const struct arrival *arrivals, const struct cut *cuts, int32_t n_cuts,
	int32_t *piece_of)
{
	const struct workflow *w = all->workflow;
	int32_t cut = 0;

	for (int32_t i = 0; i < w->graph->n_processes; i++) {
		int64_t begin = critical_begin(w, i), end = critical_end(w, i);

		all->first[i] = all->n_pieces;
		for (; cut < n_cuts && cuts[cut].process == i; cut++) {
			int64_t at = inside(cuts[cut].time_ns, begin, end);

			piece_of[cut] = all->n_pieces;
			all->pieces[all->n_pieces++] = (struct piece){ i, begin, at,
				work_before(&cuts[cut], at - begin, arrivals) };
			if (cuts[cut].kind == CUT_OUT)
				take_pressure(all, all->first[i], arrivals[cuts[cut].index].press_ns);
			begin = at;
		}
		/* No process waits for the end of one that began before the run. */
		all->pieces[all->n_pieces++] = (struct piece){ i, begin, end,
			critical_is_outside(w, i) ? 0 : end - begin };
	}
	all->first[w->graph->n_processes] = all->n_pieces;
}

static void add_link(struct pieces *all, int32_t from, int32_t to)
{
	all->links[all->n_links++] = (struct link){ from, to };
}

static int32_t last_piece(const struct pieces *all, int32_t process)
{
	return all->first[process + 1] - 1;
}

/* Within a process, and to and from its children. */
static void link_family(struct pieces *all, const struct cut *cuts, int32_t n_cuts,
	const int32_t *piece_of)
{
	for (int32_t i = 0; i + 1 < all->n_pieces; i++)
		if (all->pieces[i].process == all->pieces[i + 1].process)
			add_link(all, i, i + 1);
	for (int32_t i = 0; i < n_cuts; i++) {
		if (cuts[i].kind == CUT_FORK)
			add_link(all, piece_of[i], all->first[cuts[i].index]);
		else if (is_exit(cuts[i].kind))
			add_link(all, last_piece(all, cuts[i].index), piece_of[i] + 1);
	}
}

/* from[], to[]: the pieces at the cuts of an arrival, or GRAPH_NONE. */
static void link_data(struct pieces *all, const struct arrival *arrivals, int32_t n_arrivals,
	const struct cut *cuts, int32_t n_cuts, const int32_t *piece_of, int32_t *from, int32_t *to)
{
	for (int32_t i = 0; i < n_arrivals; i++) {
		from[i] = last_piece(all, arrivals[i].writer);
		to[i] = all->first[arrivals[i].reader];
	}
	for (int32_t i = 0; i < n_cuts; i++) {
		if (cuts[i].kind == CUT_OUT)
			from[cuts[i].index] = piece_of[i];
		else if (cuts[i].kind == CUT_IN)
			to[cuts[i].index] = piece_of[i] + 1;
	}
	for (int32_t i = 0; i < n_arrivals; i++)
		if (all->pieces[from[i]].end_ns <= all->pieces[to[i]].begin_ns)
			add_link(all, from[i], to[i]);
}

static int compare_links(const void *x, const void *y)
{
	const struct link *a = x, *b = y;

	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return (a->to > b->to) - (a->to < b->to);
}

/* Kahn's algorithm.  What is left over stands in a circle of pieces that took no time: those come last. */
static int make_order(struct pieces *all)
{
	cleanup_free int32_t *count = calloc((size_t)all->n_pieces + 1, sizeof(*count));
	int32_t n = 0;

	if (!count)
		return -ENOMEM;
	qsort(all->links, all->n_links, sizeof(*all->links), compare_links);
	for (int32_t i = 0, link = 0; i <= all->n_pieces; i++) {
		while (link < all->n_links && all->links[link].from < i)
			link++;
		all->first_link[i] = link;
	}
	for (int32_t i = 0; i < all->n_links; i++)
		count[all->links[i].to]++;
	for (int32_t i = 0; i < all->n_pieces; i++)
		if (count[i] == 0)
			all->order[n++] = i;
	for (int32_t at = 0; at < n; at++)
		for (int32_t l = all->first_link[all->order[at]];
			l < all->first_link[all->order[at] + 1]; l++)
			if (--count[all->links[l].to] == 0)
				all->order[n++] = all->links[l].to;
	for (int32_t i = 0; i < all->n_pieces; i++)
		if (count[i] > 0)
			all->order[n++] = i;
	return 0;
}

static int fill(struct pieces *all, const struct arrival *arrivals, int32_t n_arrivals)
{
	const struct graph *g = all->workflow->graph;
	size_t most = 2 * (size_t)g->n_processes + 2 * (size_t)n_arrivals;
	cleanup_free struct cut *cuts = malloc((most + 1) * sizeof(*cuts));
	cleanup_free int32_t *piece_of = malloc((most + 1) * sizeof(*piece_of)),
			     *ends = malloc((2 * (size_t)n_arrivals + 1) * sizeof(*ends));
	int32_t n_cuts = cuts ? list_cuts(all->workflow, arrivals, n_arrivals, cuts) : 0;
	size_t n = (size_t)g->n_processes + n_cuts;
	int r = -ENOMEM;

	all->pieces = malloc((n + 1) * sizeof(*all->pieces));
	all->links = malloc((n + n_cuts + n_arrivals + 1) * sizeof(*all->links));
	all->first_link = malloc((n + 1) * sizeof(*all->first_link));
	all->order = malloc((n + 1) * sizeof(*all->order));
	all->ends = malloc((n + 1) * sizeof(*all->ends));
	all->first = malloc(((size_t)g->n_processes + 1) * sizeof(*all->first));
	if (cuts && piece_of && ends && all->pieces && all->links && all->first_link &&
		all->order && all->ends && all->first) {
		make_pieces(all, arrivals, cuts, n_cuts, piece_of);
		link_family(all, cuts, n_cuts, piece_of);
		link_data(all, arrivals, n_arrivals, cuts, n_cuts, piece_of, ends,
			ends + n_arrivals);
		r = make_order(all);
	}
	return r;
}

int pieces_create(const struct workflow *workflow, const struct arrival *arrivals,
	int32_t n_arrivals, struct pieces **ret_pieces)
{
	struct pieces *all = calloc(1, sizeof(*all));
	int r;

	if (!all)
		return -ENOMEM;
	all->workflow = workflow;
	r = fill(all, arrivals, n_arrivals);
	if (r < 0)
		pieces_destroy(all);
	else
		*ret_pieces = all;
	return r;
}

void pieces_destroy(struct pieces *all)
{
	if (!all)
		return;
	free(all->pieces);
	free(all->links);
	free(all->first_link);
	free(all->order);
	free(all->ends);
	free(all->first);
	free(all);
}

int32_t pieces_count(const struct pieces *all)
{
	return all->n_pieces;
}

/* ---- there and back ---- */

void pieces_slack(const struct pieces *all, int64_t *slack_ns)
{
	int64_t *latest = all->ends, end = INT64_MIN;

	for (int32_t i = 0; i < all->n_pieces; i++)
		if (all->pieces[i].end_ns > end &&
			!critical_is_outside(all->workflow, all->pieces[i].process))
			end = all->pieces[i].end_ns;
	for (int32_t i = all->n_pieces - 1; i >= 0; i--) {
		int32_t piece = all->order[i];

		latest[piece] = end;
		for (int32_t l = all->first_link[piece]; l < all->first_link[piece + 1]; l++) {
			int32_t to = all->links[l].to;
			int64_t begin = saturate_subtract(latest[to], all->pieces[to].work_ns);

			latest[piece] = begin < latest[piece] ? begin : latest[piece];
		}
	}
	for (int32_t i = 0; i < all->workflow->graph->n_processes; i++) {
		int32_t last = last_piece(all, i);

		slack_ns[i] = critical_is_outside(all->workflow, i)
				      ? 0
				      : saturate_subtract(latest[last], all->pieces[last].end_ns);
	}
}

/* When the run ends if these processes take no time.  NULL: all take it. */
static int64_t run_without(struct pieces *all, const bool *without)
{
	int64_t *begin = all->ends, end = INT64_MIN;

	for (int32_t i = 0; i < all->n_pieces; i++)
		begin[i] = INT64_MIN;
	for (int32_t i = 0; i < all->n_pieces; i++) {
		int32_t piece = all->order[i];
		const struct piece *p = &all->pieces[piece];

		if (begin[piece] == INT64_MIN) /* nothing leads to it */
			begin[piece] = p->begin_ns;
		begin[piece] = saturate_add(begin[piece], without && without[p->process] ? 0 : p->work_ns);
		end = begin[piece] > end ? begin[piece] : end;
		for (int32_t l = all->first_link[piece]; l < all->first_link[piece + 1]; l++)
			if (begin[all->links[l].to] < begin[piece])
				begin[all->links[l].to] = begin[piece];
	}
	return end;
}

int64_t pieces_gain(struct pieces *all, const bool *without)
{
	return saturate_subtract(run_without(all, NULL), run_without(all, without));
}
