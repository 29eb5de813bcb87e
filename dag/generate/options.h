/* SPDX-License-Identifier: MIT */
#ifndef DAG_GENERATE_OPTIONS_H
#define DAG_GENERATE_OPTIONS_H

/* The command line of wfdag generate. */

#include <stdbool.h>

#include "base/cli.h"
#include "base/formats.h"
#include "dag/jobs/jobs.h"
#include "dag/trace/compose.h"

enum generate_output {
	GENERATE_MAKE,
	GENERATE_NINJA,
	GENERATE_SNAKEMAKE,
	GENERATE_DASK,
	GENERATE_CWL,
	GENERATE_DAGMAN,
	GENERATE_PEGASUS,
	GENERATE_DAX,
	GENERATE_WFFORMAT,
	GENERATE_MAX
};

struct generate_options {
	struct words traces;
	struct choice choice; /* without the files of the system */
	const char *outputs[GENERATE_MAX];
	struct formats formats; /* of outputs[] */
	enum jobs_level level;
	const char *root; /* NULL: as jobs.h has it */
	int wfformat;     /* 5: version 1.5; 6 */
	bool simulated; /* DAX 2.1 */
	bool strict, foreign;
};

/* false: there is nothing more to do, and *ret_status is the exit status. */
bool generate_options_parse(int argc, char **argv, struct generate_options *options, int *ret_status);
void generate_options_finish(struct generate_options *options);

#endif
