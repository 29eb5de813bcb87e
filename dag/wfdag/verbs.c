/* SPDX-License-Identifier: MIT */
#include "dag/wfdag/verbs.h"

#include <stddef.h>

#include "dag/answer/main.h"
#include "dag/change/change.h"
#include "dag/check/main.h"
#include "dag/diff/diff.h"
#include "dag/generate/generate.h"

const struct verb verbs[] = {
	{ "summary", answer_main, "what the run did, in a screen" },
	{ "generate", generate_main,
		"the workflow for Make, Ninja, Snakemake, WfCommons, Pegasus" },
	{ "changes", change_main, "what the run created, changed, renamed and removed" },
	{ "check", check_main, "missing and unused dependencies of a build" },
	{ "diff", diff_main, "two runs side by side" },
	{ NULL, NULL, NULL },
};
