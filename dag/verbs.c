/* SPDX-License-Identifier: MIT */
#include "dag/verbs.h"

#include <stddef.h>

const struct verb verbs[] = {
	{ "generate", generate_main,
		"the workflow for Make, Ninja, Snakemake, WfCommons, Pegasus ..." },
	{ NULL, NULL, NULL },
};
