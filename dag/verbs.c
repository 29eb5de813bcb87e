/* SPDX-License-Identifier: MIT */
#include "dag/verbs.h"

#include <stddef.h>

#include "dag/diff.h"

const struct verb verbs[] = {
	{ "diff", diff_main, "two runs side by side" },
	{ NULL, NULL, NULL },
};
