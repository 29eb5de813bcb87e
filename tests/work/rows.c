/* SPDX-License-Identifier: MIT */

/* rows SQL TRACE...: the rows of a query of these traces as one, as wfstat and wfdag see them; columns of numbers, separated by tabs. */

#include <stdio.h>

#include "db/query.h"

int main(int argc, char **argv)
{
	struct query_db *db = NULL;
	struct query *query = NULL;
	int r = argc > 2 ? query_open((const char *const *)argv + 2, argc - 2, QUERY_OPS, &db) : -1;

	if (r == 0)
		r = query_start(db, argv[1], &query);
	while (r == 0 && (r = query_next(query)) > 0) {
		for (int i = 0; i < query_columns(query); i++)
			printf("%s%lld", i ? "\t" : "", (long long)query_int(query, i));
		printf("\n");
		r = 0;
	}
	if (r < 0)
		fprintf(stderr, "rows: %s\n", db ? query_error(db) : "usage: rows SQL TRACE...");
	query_end(query);
	query_close(db);
	return r < 0;
}
