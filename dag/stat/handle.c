/* SPDX-License-Identifier: MIT */

/*
 * The table of open files: how much each program read and wrote through each of them.
 *
 * There may be millions of them, so they are not kept: one query gives open files, another their uses, both in the order
 * of the open files' ids, and rows are made while both are read.  An unused open file belongs to the program that opened
 * it.
 */

#include "dag/stat/stat.h"

#include <errno.h>
#include <stdlib.h>

#include "base/failure.h"
#include "base/saturate.h"
#include "base/vector.h"
#include "dag/container/groups.h"
#include "dag/trace/traces.h"
#include "db/query.h"

/* Columns of the queries, in the order of the names that traces_query() gets. */
enum { PROGRAM_PROCESS = 3, PROGRAM_IMAGE, PROGRAM_KEYS };
enum { USE_HANDLE = 6, USE_CHOSEN }; /* HANDLE_IMAGE and the sums come first in both queries */
enum { HANDLE_IMAGE, HANDLE_SUMS, HANDLE_SUMS_END = HANDLE_SUMS + 5, HANDLE_ID = 6, HANDLE_CHOSEN,
	HANDLE_FILE, HANDLE_MODE, HANDLE_FLAGS, HANDLE_FIDELITY, HANDLE_OPEN, HANDLE_CLOSE };
#define SUMS (HANDLE_SUMS_END - HANDLE_SUMS)
#define SUM_COLUMNS "bread nread bwrite nwrite nseek"

struct use {
	int64_t image; /* 0: unknown */
	int64_t sums[SUMS];
	unsigned known; /* a bit for each known sum */
};

struct handles {
	struct groups *programs; /* of images, in the order of their ids */
	int64_t *images;         /* the ids */
	size_t n_images;
	struct query *handle, *use;
	bool has_use;     /* .use has a current row */
	struct use *uses; /* of the current open file */
	size_t n_uses;
};

/* ---- programs ---- */

static int add_program(struct handles *all, const struct query *query)
{
	if (!groups_find(all->programs, query))
		return -ENOMEM;
	/* A trace may be made up: an image that comes twice is one program. */
	return groups_count(all->programs) > all->n_images
		       ? vector_push(all->images, all->n_images, query_int(query, PROGRAM_IMAGE))
		       : 0;
}

static int read_programs(struct stat_run *run, struct handles *all)
{
	struct query *query;
	int r = traces_query(run->db, "handle.programs", "xform pid exe process image",
		&run->options->choice, &query, NULL, run->failure);

	if (r == 0)
		r = failure_of_memory(run->failure, groups_create(PROGRAM_KEYS, 0, &all->programs));
	while (r == 0 && (r = traces_next(run->db, query, run->failure)) > 0)
		r = failure_of_memory(run->failure, add_program(all, query));
	query_end(query);
	return r;
}

static int compare_images(const void *key, const void *element)
{
	int64_t x = *(const int64_t *)key, y = *(const int64_t *)element;

	return (x > y) - (x < y);
}

/* ---- uses ---- */

static void add_up(struct use *use, const struct use *more)
{
	for (int i = 0; i < SUMS; i++)
		use->sums[i] = saturate_add(use->sums[i], more->sums[i]);
	use->known |= more->known;
}

static struct use get_use(const struct query *query)
{
	struct use use = { .image = query_int(query, HANDLE_IMAGE) };

	for (int i = 0; i < SUMS; i++) {
		use.known |= (unsigned)(query_type(query, HANDLE_SUMS + i) != QUERY_NULL) << i;
		use.sums[i] = query_int(query, HANDLE_SUMS + i);
	}
	return use;
}

static int keep_use(struct handles *all, const struct use *use)
{
	if (all->n_uses && all->uses[all->n_uses - 1].image == use->image) {
		add_up(&all->uses[all->n_uses - 1], use);
		return 0;
	}
	return vector_push(all->uses, all->n_uses, *use);
}

static int compare_uses(const void *a, const void *b)
{
	const struct use *x = a, *y = b;

	return (x->image > y->image) - (x->image < y->image);
}

/* Joins the uses of each program. */
static void merge_uses(struct handles *all)
{
	size_t n = 0;

	if (all->n_uses < 2)
		return;
	qsort(all->uses, all->n_uses, sizeof(*all->uses), compare_uses);
	for (size_t i = 1; i < all->n_uses; i++)
		if (all->uses[i].image == all->uses[n].image)
			add_up(&all->uses[n], &all->uses[i]);
		else
			all->uses[++n] = all->uses[i];
	all->n_uses = n + 1;
}

static int next_use(struct stat_run *run, struct handles *all)
{
	int r = traces_next(run->db, all->use, run->failure);

	all->has_use = r > 0;
	return r < 0 ? r : 0;
}

/* Reads the uses of the current open file.  *ret_any: it has uses, chosen ones or others. */
static int take_uses(struct stat_run *run, struct handles *all, bool *ret_any)
{
	int64_t id = query_int(all->handle, HANDLE_ID);
	int r = 0;

	*ret_any = false;
	all->n_uses = 0;
	while (r == 0 && all->has_use && query_int(all->use, USE_HANDLE) <= id) {
		struct use use = get_use(all->use);

		if (query_int(all->use, USE_HANDLE) == id) {
			*ret_any = true;
			if (query_int(all->use, USE_CHOSEN))
				r = failure_of_memory(run->failure, keep_use(all, &use));
		}
		if (r == 0)
			r = next_use(run, all);
	}
	merge_uses(all);
	return r;
}

/* ---- rows ---- */

static void put_row(struct stat_run *run, const struct handles *all, const struct use *use)
{
	struct table *table = run->table;
	const int64_t *found = vector_find(&use->image, all->images, all->n_images, sizeof(*found),
		compare_images);
	size_t program = found ? (size_t)(found - all->images) : 0;

	if (found)
		groups_put(all->programs, program, 0, PROGRAM_PROCESS - 1, table);
	for (int i = 0; i < PROGRAM_PROCESS && !found; i++)
		table_null(table);
	stat_put(table, all->handle, HANDLE_FILE, HANDLE_FILE);
	for (int i = 0; i < SUMS; i++)
		if (use->known & 1U << i)
			table_int(table, use->sums[i]);
		else
			table_null(table);
	stat_put(table, all->handle, HANDLE_MODE, HANDLE_FLAGS);
	stat_put(table, all->handle, HANDLE_ID, HANDLE_ID);
	if (found)
		groups_put(all->programs, program, PROGRAM_PROCESS, PROGRAM_PROCESS, table);
	else
		table_null(table);
	stat_put(table, all->handle, HANDLE_FIDELITY, HANDLE_CLOSE);
}

static int put_handle(struct stat_run *run, struct handles *all)
{
	bool used;
	int r = take_uses(run, all, &used);

	for (size_t i = 0; i < all->n_uses && r == 0; i++)
		put_row(run, all, &all->uses[i]);
	if (r == 0 && !used && query_int(all->handle, HANDLE_CHOSEN)) {
		struct use own = get_use(all->handle);

		put_row(run, all, &own);
	}
	return r;
}

static int put_handles(struct stat_run *run, struct handles *all)
{
	int r = next_use(run, all);

	table_columns(run->table, "xform pid exe file bread nread bwrite nwrite nseek mode flags handle process "
				  "fidelity open_ns close_ns");
	stat_stream(run);
	while (r == 0 && (r = traces_next(run->db, all->handle, run->failure)) > 0)
		r = put_handle(run, all);
	return r;
}

static int fill(struct stat_run *run)
{
	const struct choice *choice = &run->options->choice;
	struct handles all = { 0 };
	int r = read_programs(run, &all);

	if (r == 0)
		r = traces_query(run->db, "handle.uses", "image " SUM_COLUMNS " handle chosen",
			choice, &all.use, NULL, run->failure);
	if (r == 0)
		r = traces_query(run->db, "handle.opens",
			"image " SUM_COLUMNS
			" handle chosen file mode flags fidelity open_ns close_ns",
			choice, &all.handle, NULL, run->failure);
	if (r == 0)
		r = put_handles(run, &all);
	query_end(all.handle);
	query_end(all.use);
	groups_destroy(all.programs);
	free(all.images);
	free(all.uses);
	stat_note_fidelity(run);
	return r;
}

const struct stat_table stat_handle_table = {
	.name = "handle",
	.fill = fill,
	.needs_ops = false,
	.options = STAT_CHOICE,
	.queries = "handle",
	.narrow = "file bread bwrite exe nread nwrite mode process",
	.help = "open files, as ioprof of wfprof lists them, and more",
};
