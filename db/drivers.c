/* SPDX-License-Identifier: MIT */
#include "db/drivers.h"

#include <string.h>

/* embed.py takes the names from here: one entry a line. */
static const struct driver drivers[] = {
	{ "make", true, false, "jl", { "--jobs", "--load-average", "--max-load" } },
	{ "gmake", true, false, "jl", { "--jobs", "--load-average", "--max-load" } },
	{ "ninja", false, false, "jl", { NULL } },
	{ "ninja-build", false, false, "jl", { NULL } },
	{ "samu", false, false, "jl", { NULL } },
	{ "snakemake", false, false, "jc", { "--jobs", "--cores" } },
	{ "xargs", false, true, "P", { "--max-procs" } },
	{ "parallel", false, true, "jP", { "--jobs", "--max-procs" } },
	{ "nextflow", false, false, "", { NULL } },
	{ "makeflow", false, false, "", { NULL } },
	{ "condor_dagman", false, false, "", { NULL } },
	{ "scons", false, false, "j", { "--jobs" } },
};

const struct driver *driver_find(const char *name, size_t len)
{
	for (size_t i = 0; i < sizeof(drivers) / sizeof(drivers[0]); i++)
		if (strlen(drivers[i].name) == len && memcmp(drivers[i].name, name, len) == 0)
			return &drivers[i];
	return NULL;
}
