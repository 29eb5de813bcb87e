/* SPDX-License-Identifier: MIT */
#include "dag/wfdag/columns.h"

#include <string.h>

#include "base/complete.h"
#include "base/failure.h"
#include "dag/analyse/analyse.h"
#include "dag/graph/critical.h"
#include "dag/graph/workflow.h"
#include "dag/output/table.h"
#include "dag/shape/shape.h"
#include "dag/trace/choice.h"
#include "dag/trace/trace_words.h"
#include "db/query.h"

/* They are the same without any row. */
void dag_add_columns(const struct analysis *analysis)
{
	struct choice choice = { .step_ns = 1 };
	const struct workflow_options options = { .choice = &choice };
	struct failure failure = { 0 };
	struct query_db *db = trace_words_empty();
	struct table *table = table_create();
	struct workflow *workflow = NULL;
	struct critical *critical = NULL;
	struct shape *shape = NULL;
	const char *name;

	if (db && table && workflow_load(db, &options, &workflow, &failure) == 0 && critical_create(workflow, false, &critical) == 0 &&
		shape_create(workflow, &(struct shape_options){ .critical = critical }, &shape) == 0 &&
		analysis->fill(table, workflow, shape, &(struct analyse_options){ 0 }) == 0)
		for (int i = 0; (name = table_column_name(table, i)); i++)
			complete_add(name, strlen(name), NULL);
	table_destroy(table);
	shape_destroy(shape);
	critical_destroy(critical);
	workflow_destroy(workflow);
	query_close(db);
}
