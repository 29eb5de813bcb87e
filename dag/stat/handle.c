/* SPDX-License-Identifier: MIT */

/*
 * The table of open files: how much each program read and wrote through which.
 *
 * Open files and their uses come in the order of their ids, and are put together on the way: there may be
 * millions of them.  An unused open file belongs to the program that opened it.
 */

#include "dag/stat/stat.h"

#include <stdlib.h>

#include "base/saturate.h"
#include "dag/container/groups.h"
#include "db/query.h"

/* Columns of the queries, as they are named where these start. */
enum { PROGRAM_PROCESS = 3, PROGRAM_IMAGE, PROGRAM_KEYS };
enum { USE_HANDLE = 6, USE_CHOSEN }; /* first the same as HANDLE_IMAGE and what follows */
enum { HANDLE_IMAGE, HANDLE_SUMS, HANDLE_SUMS_END = HANDLE_SUMS + 5, HANDLE_ID = 6, HANDLE_CHOSEN,
	HANDLE_FILE, HANDLE_MODE, HANDLE_FLAGS, HANDLE_FIDELITY, HANDLE_OPEN, HANDLE_CLOSE };
#define SUMS (HANDLE_SUMS_END - HANDLE_SUMS)
#define SUM_COLUMNS "bread nread bwrite nwrite nseek"

struct use {
	int64_t image; /* 0: not known */
	int64_t sums[SUMS];
	unsigned known; /* which of them */
};

struct handles {
	struct groups *programs; /* in the order of the images; of each its id */
	struct query *handle, *use;
	bool has_use; /* use stands at a row */
	struct use *uses; /* of one open file */
	size_t n_uses, room;
};

/* ---- programs ---- */

static int read_programs(struct stat_run *run, struct groups **ret_programs)
{
	struct query *query;
	int status = stat_query(run, "handle.programs", "xform pid exe process image",
		    &run->options->choice, &query, NULL),
	    r = 1;
	int64_t *image;

	if (status == 0 && groups_create(PROGRAM_KEYS, sizeof(*image), ret_programs) < 0)
		status = stat_out_of_memory();
	while (status == 0 && (r = stat_next(run, query)) > 0) {
		image = groups_find(*ret_programs, query);
		if (image)
			*image = query_int(query, PROGRAM_IMAGE);
		else
			status = stat_out_of_memory();
	}
	query_end(query);
	return r < 0 ? EXIT_FAILURE : status;
}

/* False if there is none. */
static bool find_program(const struct groups *programs, int64_t image, size_t *ret)
{
	size_t from = 0, to = groups_count(programs);

	while (from < to) {
		size_t middle = from + (to - from) / 2;
		int64_t other = *(const int64_t *)groups_data(programs, middle);

		if (other == image) {
			*ret = middle;
			return true;
		}
		if (other < image)
			from = middle + 1;
		else
			to = middle;
	}
	return false;
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
	if (all->n_uses == all->room) {
		size_t room = all->room ? 2 * all->room : 16;
		struct use *uses = reallocarray(all->uses, room, sizeof(*uses));

		if (!uses)
			return stat_out_of_memory();
		all->uses = uses;
		all->room = room;
	}
	all->uses[all->n_uses++] = *use;
	return 0;
}

static int compare_uses(const void *a, const void *b)
{
	const struct use *x = a, *y = b;

	return (x->image > y->image) - (x->image < y->image);
}

/* One for each program. */
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
	int r = stat_next(run, all->use);

	all->has_use = r > 0;
	return r < 0 ? EXIT_FAILURE : 0;
}

/* Those of the open file that the query stands at; whether it had any, asked for or not. */
static int take_uses(struct stat_run *run, struct handles *all, bool *ret_any)
{
	int64_t id = query_int(all->handle, HANDLE_ID);
	int status = 0;

	*ret_any = false;
	all->n_uses = 0;
	while (status == 0 && all->has_use && query_int(all->use, USE_HANDLE) <= id) {
		struct use use = get_use(all->use);

		if (query_int(all->use, USE_HANDLE) == id) {
			*ret_any = true;
			if (query_int(all->use, USE_CHOSEN))
				status = keep_use(all, &use);
		}
		if (status == 0)
			status = next_use(run, all);
	}
	merge_uses(all);
	return status;
}

/* ---- rows ---- */

static void put_row(struct stat_run *run, const struct handles *all, const struct use *use)
{
	struct table *table = run->table;
	size_t program;
	bool found = find_program(all->programs, use->image, &program);

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
	int status = take_uses(run, all, &used);

	for (size_t i = 0; i < all->n_uses && status == 0; i++)
		put_row(run, all, &all->uses[i]);
	if (status == 0 && !used && query_int(all->handle, HANDLE_CHOSEN)) {
		struct use own = get_use(all->handle);

		put_row(run, all, &own);
	}
	return status;
}

static int put_handles(struct stat_run *run, struct handles *all)
{
	int status = next_use(run, all), r = 1;

	table_columns(run->table, "xform pid exe file bread nread bwrite nwrite nseek mode flags handle process "
				  "fidelity open_ns close_ns");
	stat_stream(run);
	while (status == 0 && (r = stat_next(run, all->handle)) > 0)
		status = put_handle(run, all);
	return r < 0 ? EXIT_FAILURE : status;
}

static int fill(struct stat_run *run)
{
	const struct choice *choice = &run->options->choice;
	struct handles all = { 0 };
	int status = read_programs(run, &all.programs);

	if (status == 0)
		status = stat_query(run, "handle.uses", "image " SUM_COLUMNS " handle chosen", choice, &all.use, NULL);
	if (status == 0)
		status = stat_query(run, "handle.opens",
			"image " SUM_COLUMNS " handle chosen file mode flags fidelity open_ns close_ns", choice,
			&all.handle, NULL);
	if (status == 0)
		status = put_handles(run, &all);
	query_end(all.handle);
	query_end(all.use);
	groups_destroy(all.programs);
	free(all.uses);
	stat_note_fidelity(run);
	return status;
}

const struct stat_table stat_handle_table = {
	.name = "handle",
	.fill = fill,
	.needs_ops = false,
	.options = STAT_CHOICE,
	.queries = "handle",
	.help = "open files, as ioprof of wfprof lists them, and more",
};
