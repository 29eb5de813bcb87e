/* SPDX-License-Identifier: MIT */
#ifndef DAG_WFDAG_OPTIONS_H
#define DAG_WFDAG_OPTIONS_H

/* The command line of wfdag. */

#include <stdbool.h>

#include "base/cli.h"
#include "dag/analyse/analyse.h"
#include "dag/export/dot.h"
#include "dag/export/export.h"
#include "dag/output/table.h"
#include "dag/shape/fold.h"
#include "dag/shape/reach.h"
#include "dag/shape/shape.h"
#include "base/formats.h"
#include "dag/trace/compose.h"

/* Unless --max-nodes is given: in a picture, for which dot takes a few seconds then, and in DOT. */
#define DAG_MAX_NODES 300
#define DAG_MAX_NODES_DOT 2000

struct dag_options {
	struct words traces;
	struct choice choice; /* .by: --group-by */
	struct shape_options shape;
	struct reach_options reach;
	struct fold_options fold;
	struct dot_options dot;
	const struct analysis *analysis; /* NULL: none */
	struct analyse_options analyse;
	enum table_format format;
	const char *sort, *columns; /* NULL: as they are */
	int64_t top; /* -1: all */
	int stacks; /* of --collapsed: index in stacks_kinds[] */
	bool stacks_given;
	const char *outputs[EXPORTS_MAX]; /* files, by the index in exports[]; "-": stdout; NULL: none */
	struct formats formats;		  /* of outputs[] */
	const char *table_file;		  /* of an analysis; NULL: stdout */
	int64_t max_nodes; /* 0: no limit */
	bool max_given;
	const char *own_option, *own_analysis; /* an option that only this analysis has; NULL: none is given */
	bool all; /* also files of the system */
	bool missing_names, reduce, raw, wide, strict, foreign;
	struct words globs, group_words; /* texts that dag_options_finish() frees */
	struct replay_faster *faster;    /* .analyse.replay refers to it */
};

/* false: the program ends with the exit status *ret_status. */
bool dag_options_parse(int argc, char **argv, struct dag_options *options, int *ret_status);
void dag_options_finish(struct dag_options *options);

#endif
