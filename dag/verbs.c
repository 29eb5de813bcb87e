/* SPDX-License-Identifier: MIT */
#include "dag/verbs.h"

#include <stddef.h>

#include "dag/check_main.h"

const struct verb verbs[] = {
	{ "check", check_main, "dependencies that a build does not declare, or declares in vain" },
	{ NULL, NULL, NULL },
};
