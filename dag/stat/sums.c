/* SPDX-License-Identifier: MIT */
#include "dag/stat/sums.h"

#include <errno.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/failure.h"
#include "dag/stat/stat.h"
#include "dag/trace/compose.h"
#include "dag/trace/traces.h"
#include "db/query.h"

enum column { OPERATIONS, RECORDED, LEAST, MOST, IS_SHIFTED, FIRST };

/* Traces of older versions have no such view: 1, 0 or -errno. */
static int has_view(struct stat_run *run)
{
	struct query *query = NULL;
	int r = query_start(run->db, "SELECT 1 FROM sqlite_master WHERE name = 'process_metric'", &query);

	if (r == 0)
		r = query_next(query);
	if (r < 0)
		traces_fail(run->db, r, run->failure);
	query_end(query);
	return r;
}

/* Whether the query can have these keys. */
static bool has_keys(const struct choice *choice, const char *name)
{
	struct failure ignored = { 0 };
	cleanup_free char *sql = NULL;

	return compose(name, choice, &sql, NULL, &ignored) == 0;
}

static bool fits_times(const struct choice *c, const struct query *query)
{
	int64_t interval = query_int(query, LEAST);

	if (interval <= 0 || interval != query_int(query, MOST) || query_int(query, IS_SHIFTED))
		return false;
	if ((c->from_ns || c->to_ns) && query_int(query, FIRST) < 0) /* the first interval has them, too */
		return false;
	return c->step_ns % interval == 0 && c->from_ns % interval == 0 && c->to_ns % interval == 0;
}

static bool fits(const struct stat_run *run, const struct query *query)
{
	if (query_type(query, OPERATIONS) == QUERY_NULL)
		return false;
	if (run->has_ops && query_int(query, OPERATIONS) != query_int(query, RECORDED))
		return false;
	return fits_times(&run->options->choice, query);
}

int stat_sums_fit(struct stat_run *run, const char *name, bool *ret_fit)
{
	const struct choice *choice = &run->options->choice;
	struct query *query = NULL;
	int r;

	*ret_fit = false;
	if (!compose_fits_sums(choice) || !has_keys(choice, name))
		return 0;
	r = has_view(run);
	if (r <= 0)
		return r;
	r = traces_query(run->db, "sums.fit", "operations recorded least_ns most_ns is_shifted first_ns", choice, &query, NULL, run->failure);
	if (r == 0 && (r = traces_next(run->db, query, run->failure)) > 0)
		*ret_fit = fits(run, query);
	query_end(query);
	return r < 0 ? r : 0;
}
